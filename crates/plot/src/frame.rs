use plotters_backend::DrawingBackend;

use crate::axis::Axis;
use crate::pen::{Pen, Side, along};
use crate::{Color, Error};

/// A part of the picture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Area {
    pub(crate) left: i32,
    pub(crate) top: i32,
    pub(crate) right: i32,
    pub(crate) bottom: i32,
}

impl Area {
    pub(crate) fn x(&self, axis: &Axis, value: f64) -> i32 {
        along(self.left, self.right, axis.share(value))
    }

    pub(crate) fn y(&self, axis: &Axis, value: f64) -> i32 {
        along(self.bottom, self.top, axis.share(value))
    }

    pub(crate) fn width(&self) -> i32 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> i32 {
        self.bottom - self.top
    }
}

/// A name with the number of its line, which decides its colour.
pub(crate) struct Name {
    pub(crate) mark: Option<usize>,
    pub(crate) text: String,
}

/// Fills the background and writes title and subtitle; returns where the rest begins.
pub(crate) fn header<B: DrawingBackend>(
    title: Option<&str>,
    subtitle: Option<&str>,
    pen: &mut Pen<'_, B>,
) -> Result<i32, Error> {
    let m = pen.metrics;
    let (width, height) = pen.size();
    if m.rich {
        pen.fill((0, 0), (width, height), Color::WHITE, 1.0)?;
    }
    let mut y = m.margin;
    // The title's letters are larger than those that are measured.
    let larger = m.title / m.font;
    if let Some(title) = title {
        let room = along(0, width - 2 * m.margin, 0.95 / larger);
        let tall = along(0, m.line, larger);
        pen.title(&pen.head(title, room), (m.margin, y + tall / 2))?;
        y += tall;
    }
    if let Some(subtitle) = subtitle {
        let text = pen.head(subtitle, width - 2 * m.margin);
        pen.text(&text, (m.margin, y + m.line / 2), Side::Right, Color::FAINT)?;
        y += m.line;
    }
    Ok(if y > m.margin { y + m.between / 2 } else { y })
}

/// Names in lines that are at most `width` wide. What does not fit is counted.
pub(crate) fn flow<B: DrawingBackend>(names: Vec<Name>, width: i32, pen: &Pen<'_, B>) -> Vec<Vec<(i32, Name)>> {
    let m = pen.metrics;
    let mut lines: Vec<Vec<(i32, Name)>> = vec![Vec::new()];
    let mut x = 0;
    let mut left = names.len();
    for name in names {
        let text = pen.tail(&name.text, width - m.swatch - m.gap);
        let wide = m.swatch + m.gap + pen.width(&text);
        if x > 0 && x + wide > width {
            if lines.len() == m.names {
                let more = Name { mark: None, text: format!("… and {left} more") };
                lines.push(vec![(0, more)]);
                return lines;
            }
            lines.push(Vec::new());
            x = 0;
        }
        if let Some(line) = lines.last_mut() {
            line.push((x, Name { text, ..name }));
        }
        left -= 1;
        x += wide + m.blank;
    }
    lines
}

/// Draws names; `(x, y)` is the upper left corner.
pub(crate) fn names<B: DrawingBackend>(
    lines: &[Vec<(i32, Name)>],
    (x, mut y): (i32, i32),
    pen: &mut Pen<'_, B>,
) -> Result<(), Error> {
    let m = pen.metrics;
    for line in lines {
        let middle = y + m.line / 2;
        for (offset, name) in line {
            let x = x + offset;
            match name.mark {
                Some(mark) if m.letters => pen.text(&letter(mark), (x, middle), Side::Right, Color::of(mark))?,
                Some(mark) => {
                    let ends = vec![(x, middle), (x + m.swatch - m.unit.0, middle)];
                    pen.line(ends, Color::of(mark), m.stroke * 2 - 1)?;
                }
                None => {}
            }
            pen.text(&name.text, (x + m.swatch + m.gap, middle), Side::Right, Color::TEXT)?;
        }
        y += m.line;
    }
    Ok(())
}

/// The letter of a line, where there are no colours.
pub(crate) fn letter(mark: usize) -> String {
    ('a'..='z').cycle().nth(mark).map(String::from).unwrap_or_default()
}

/// How wide the labels of an axis are.
pub(crate) fn label_width<B: DrawingBackend>(axis: &Axis, unit: &str, pen: &Pen<'_, B>) -> i32 {
    let labels = axis.marks.iter().map(|(_, label)| pen.width(label));
    labels.chain([pen.width(unit)]).max().unwrap_or(0)
}

/// An axis of times or places for this width.
pub(crate) fn across<B: DrawingBackend>((low, high): (f64, f64), width: i32, pen: &Pen<'_, B>) -> Axis {
    let fits = |axis: &Axis| {
        let widest = axis.marks.iter().map(|(_, label)| pen.width(label)).max().unwrap_or(0);
        let count = i32::try_from(axis.marks.len()).unwrap_or(i32::MAX);
        count.saturating_mul(widest + pen.metrics.blank) <= width
    };
    let axes = (2..=14).rev().map(|most| Axis::exact(low, high, most));
    axes.into_iter().find(fits).unwrap_or_else(|| Axis::exact(low, high, 1))
}

/// An axis of values for this height.
pub(crate) fn upward((low, high): (f64, f64), height: i32, line: i32) -> Axis {
    let most = usize::try_from(height * 2 / (line * 5)).unwrap_or(0).clamp(2, 10);
    Axis::around(low, high, most)
}

/// Which side of an area an axis stands on.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Edge {
    Left,
    Right,
}

/// Labels and marks of an upward axis, and its unit above them.
pub(crate) fn value_axis<B: DrawingBackend>(
    axis: &Axis,
    (unit, unit_at): (&str, i32),
    area: &Area,
    edge: Edge,
    color: Color,
    pen: &mut Pen<'_, B>,
) -> Result<(), Error> {
    let m = pen.metrics;
    let (x, side) = match edge {
        Edge::Left => (area.left - m.gap, Side::Left),
        Edge::Right => (area.right + m.gap, Side::Right),
    };
    let last = area.bottom - if m.rich { 0 } else { 1 };
    for (value, label) in &axis.marks {
        pen.text(label, (x, area.y(axis, *value).min(last)), side, color)?;
    }
    pen.text(unit, (x, unit_at), side, color)
}

/// Grid, frame and the axis line below.
pub(crate) fn frame<B: DrawingBackend>(
    area: &Area,
    across: &Axis,
    up: Option<&Axis>,
    pen: &mut Pen<'_, B>,
) -> Result<(), Error> {
    let m = pen.metrics;
    if !m.rich {
        return pen.line(vec![(area.left - 1, area.top), (area.left - 1, area.bottom - 1)], Color::FRAME, m.thin);
    }
    for (value, _) in &across.marks {
        let x = area.x(across, *value);
        pen.line(vec![(x, area.top), (x, area.bottom)], Color::GRID, m.thin)?;
    }
    for (value, _) in up.map(|axis| &*axis.marks).unwrap_or_default() {
        let y = area.y(up.unwrap_or(across), *value);
        pen.line(vec![(area.left, y), (area.right, y)], Color::GRID, m.thin)?;
    }
    let corners = [(area.left, area.top), (area.right, area.top), (area.right, area.bottom), (area.left, area.bottom)];
    pen.line(corners.into_iter().chain([(area.left, area.top)]).collect(), Color::FRAME, m.thin)
}

/// Marks, labels and the name of an axis to the right, below `area`.
pub(crate) fn bottom_axis<B: DrawingBackend>(
    axis: &Axis,
    name: &str,
    area: &Area,
    pen: &mut Pen<'_, B>,
) -> Result<(), Error> {
    let m = pen.metrics;
    if !m.rich {
        pen.line(vec![(area.left - 1, area.bottom), (area.right - 1, area.bottom)], Color::FRAME, m.thin)?;
    }
    for (value, label) in &axis.marks {
        let x = area.x(axis, *value).min(area.right - m.unit.0 / 2);
        let end = area.bottom + if m.rich { m.mark } else { 1 };
        pen.line(vec![(x, area.bottom), (x, end)], Color::FRAME, m.thin)?;
        pen.text(label, (x, area.bottom + m.mark + m.line / 2), Side::Middle, Color::TEXT)?;
    }
    let name = pen.tail(name, pen.size().0 - 2 * m.margin);
    let y = area.bottom + m.mark + m.line + m.line / 2;
    pen.text(&name, (i32::midpoint(area.left, area.right), y), Side::Middle, Color::FAINT)
}

/// What the axis below needs.
pub(crate) fn bottom_height<B: DrawingBackend>(pen: &Pen<'_, B>) -> i32 {
    pen.metrics.mark + 2 * pen.metrics.line + pen.metrics.margin / 2
}

/// The error of a picture in which `missing` pixels to the right and down are missing.
pub(crate) fn too_small<B: DrawingBackend>(missing: (i32, i32), pen: &Pen<'_, B>) -> Error {
    let (width, height) = pen.size();
    let cells = |pixels: i32, unit: i32| u32::try_from(pixels.saturating_add(unit - 1) / unit).unwrap_or(0);
    let unit = pen.metrics.unit;
    Error::TooSmall {
        width: cells(width, unit.0),
        height: cells(height, unit.1),
        least_width: cells(width.saturating_add(missing.0.max(0)), unit.0),
        least_height: cells(height.saturating_add(missing.1.max(0)), unit.1),
    }
}
