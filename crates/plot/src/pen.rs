use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, ShapeStyle, TextStyle};
use plotters_backend::{DrawingBackend, DrawingErrorKind};

use crate::text::clean;
use crate::{Color, Error};

/// How large things are, in the backend's own pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metrics {
    /// Height of a line of text.
    pub(crate) line: i32,
    /// Size of the font, and of the title's.
    pub(crate) font: f64,
    pub(crate) title: f64,
    /// What stays free at the edges, and between parts.
    pub(crate) margin: i32,
    pub(crate) gap: i32,
    /// Between texts side by side.
    pub(crate) blank: i32,
    /// Between panels, from top to bottom.
    pub(crate) between: i32,
    /// Widths of lines, and of frames.
    pub(crate) stroke: u32,
    pub(crate) thin: u32,
    /// Radius of a point.
    pub(crate) point: u32,
    /// Length of the line before a name.
    pub(crate) swatch: i32,
    /// Lines of text that the names above a panel may have.
    pub(crate) names: usize,
    /// The min height and width of a panel.
    pub(crate) min_panel: (i32, i32),
    /// Length of the marks at an axis.
    pub(crate) mark: i32,
    /// How many pixels there are for each one that was asked for, to the right and down.
    pub(crate) unit: (i32, i32),
    /// How far names stand to the right of the axis.
    pub(crate) indent: i32,
    /// Whether letters distinguish lines, because there are no colours.
    pub(crate) letters: bool,
    /// Whether there is room for a grid, shades and frames.
    pub(crate) rich: bool,
}

impl Metrics {
    /// Of a picture whose pixels are divided into `scale` parts.
    pub(crate) fn picture(scale: i32) -> Self {
        let font = f64::from(scale);
        let width = scale.unsigned_abs();
        Self {
            line: 18 * scale,
            font: 15.0 * font,
            title: 20.0 * font,
            margin: 14 * scale,
            gap: 6 * scale,
            blank: 18 * scale,
            between: 14 * scale,
            stroke: (width * 3).div_ceil(2),
            thin: width,
            point: width * 2,
            swatch: 20 * scale,
            names: 8,
            min_panel: (48 * scale, 120 * scale),
            mark: 5 * scale,
            unit: (scale, scale),
            indent: 8 * scale,
            letters: false,
            rich: true,
        }
    }

    /// Of a terminal, whose cells have two dots side by side and four from top to bottom.
    pub(crate) fn cells(color: bool) -> Self {
        Self {
            line: 4,
            font: 1.0,
            title: 1.0,
            margin: 0,
            gap: 2,
            blank: 4,
            between: 0,
            stroke: 1,
            thin: 1,
            point: 0,
            swatch: 4,
            names: 4,
            min_panel: (12, 32),
            mark: 4,
            unit: (2, 4),
            indent: 0,
            letters: !color,
            rich: false,
        }
    }
}

/// Where text lies beside the place that is named; it is always centred from top to bottom.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Side {
    Right,
    Left,
    Middle,
}

/// Draws on a backend.
pub(crate) struct Pen<'a, B> {
    backend: &'a mut B,
    pub(crate) metrics: Metrics,
}

impl<'a, B: DrawingBackend> Pen<'a, B> {
    pub(crate) fn new(backend: &'a mut B, metrics: Metrics) -> Self {
        Self { backend, metrics }
    }

    pub(crate) fn size(&self) -> (i32, i32) {
        let (width, height) = self.backend.get_size();
        (i32::try_from(width).unwrap_or(i32::MAX), i32::try_from(height).unwrap_or(i32::MAX))
    }

    /// Writes a text; the place is its left end, its right end or its middle.
    pub(crate) fn text(&mut self, text: &str, at: (i32, i32), side: Side, color: Color) -> Result<(), Error> {
        let style = self.style(side, color, self.metrics.font, FontStyle::Normal);
        self.backend.draw_text(&clean(text), &style, at).map_err(failed)
    }

    /// Writes the title.
    pub(crate) fn title(&mut self, text: &str, at: (i32, i32)) -> Result<(), Error> {
        let style = self.style(Side::Right, Color::TEXT, self.metrics.title, FontStyle::Bold);
        self.backend.draw_text(&clean(text), &style, at).map_err(failed)
    }

    fn style(&self, side: Side, color: Color, size: f64, weight: FontStyle) -> TextStyle<'static> {
        let h_pos = match side {
            Side::Right => HPos::Left,
            Side::Left => HPos::Right,
            Side::Middle => HPos::Center,
        };
        let font = FontDesc::new(FontFamily::SansSerif, size, weight);
        TextStyle { font, color: color.with_alpha(1.0), pos: Pos::new(h_pos, VPos::Center) }
    }

    /// How wide a text is.
    pub(crate) fn width(&self, text: &str) -> i32 {
        let style = self.style(Side::Right, Color::TEXT, self.metrics.font, FontStyle::Normal);
        let size = self.backend.estimate_text_size(&clean(text), &style);
        size.map_or(0, |(width, _)| i32::try_from(width).unwrap_or(i32::MAX))
    }

    /// The text, or its end behind an ellipsis if it is wider than `width`: names differ at their ends.
    pub(crate) fn tail(&self, text: &str, width: i32) -> String {
        self.cut(text, width, |text, n| {
            let skip = text.chars().count() - n;
            format!("…{}", text.chars().skip(skip).collect::<String>())
        })
    }

    /// The text, or its beginning before an ellipsis if it is wider than `width`.
    pub(crate) fn head(&self, text: &str, width: i32) -> String {
        self.cut(text, width, |text, n| format!("{}…", text.chars().take(n).collect::<String>()))
    }

    fn cut(&self, text: &str, width: i32, short: impl Fn(&str, usize) -> String) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let (mut fits, mut too_long) = (0, text.chars().count());
        while too_long - fits > 1 {
            let middle = usize::midpoint(fits, too_long);
            if self.width(&short(text, middle)) <= width { fits = middle } else { too_long = middle }
        }
        if fits == 0 { String::new() } else { short(text, fits) }
    }

    /// Fills a rectangle.
    pub(crate) fn fill(&mut self, from: (i32, i32), to: (i32, i32), color: Color, alpha: f64) -> Result<(), Error> {
        if to.0 <= from.0 || to.1 <= from.1 {
            return Ok(());
        }
        self.backend.draw_rect(from, to, &shape(color, alpha, 1), true).map_err(failed)
    }

    /// Draws a line through points.
    pub(crate) fn line(&mut self, points: Vec<(i32, i32)>, color: Color, width: u32) -> Result<(), Error> {
        self.backend.draw_path(points, &shape(color, 1.0, width)).map_err(failed)
    }

    /// Draws a point.
    pub(crate) fn point(&mut self, at: (i32, i32), radius: u32, color: Color) -> Result<(), Error> {
        self.backend.draw_circle(at, radius, &shape(color, 1.0, 1), true).map_err(failed)
    }

    pub(crate) fn present(&mut self) -> Result<(), Error> {
        self.backend.present().map_err(failed)
    }
}

fn shape(color: Color, alpha: f64, width: u32) -> ShapeStyle {
    let Color(r, g, b) = color;
    ShapeStyle { color: plotters::style::RGBAColor(r, g, b, alpha), filled: false, stroke_width: width }
}

fn failed<E: std::error::Error + Send + Sync>(error: DrawingErrorKind<E>) -> Error {
    Error::Drawing(error.to_string())
}

/// The pixel at a share of the way from `from` to `to`.
pub(crate) fn along(from: i32, to: i32, share: f64) -> i32 {
    let place = f64::from(from) + (f64::from(to) - f64::from(from)) * share;
    #[expect(clippy::cast_possible_truncation, reason = "between two pixels lies a pixel")]
    let place = place.round() as i32;
    place
}
