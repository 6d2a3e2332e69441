use std::convert::Infallible;
use std::fmt::Write as _;

use plotters_backend::text_anchor::HPos;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::Color;

/// A screen of cells, each of eight braille dots or one letter.
pub(crate) struct Cells {
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    dots: u8,
    content: Content,
    color: Option<Color>,
    fill: Option<Color>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Content {
    #[default]
    Dots,
    Letter(char),
    /// The right half of a wide letter.
    Covered,
}

impl Cells {
    pub(crate) fn new(columns: u32, rows: u32) -> Self {
        let (columns, rows) = (columns as usize, rows as usize);
        Self { columns, rows, cells: vec![Cell::default(); columns * rows] }
    }

    /// The screen as lines of text.
    pub(crate) fn show(&self, color: bool) -> String {
        let mut out = String::new();
        for row in self.cells.chunks(self.columns.max(1)) {
            let used = row.iter().rposition(|cell| !cell.is_blank()).map_or(0, |last| last + 1);
            let mut style = (None, None);
            for cell in row.iter().take(used) {
                if color && cell.style() != style {
                    style = cell.style();
                    escape(style, &mut out);
                }
                match cell.content {
                    Content::Letter(letter) => out.push(letter),
                    Content::Covered => {}
                    Content::Dots => out.push(cell.symbol(color)),
                }
            }
            if style != (None, None) {
                out.push_str("\x1b[0m");
            }
            out.push('\n');
        }
        out
    }

    fn cell(&mut self, column: i32, row: i32) -> Option<&mut Cell> {
        let (column, row) = (usize::try_from(column).ok()?, usize::try_from(row).ok()?);
        if column >= self.columns || row >= self.rows {
            return None;
        }
        self.cells.get_mut(row * self.columns + column)
    }
}

impl Cell {
    fn is_blank(&self) -> bool {
        self.fill.is_none() && matches!(self.content, Content::Dots | Content::Letter(' ')) && self.dots == 0
    }

    fn style(&self) -> (Option<Color>, Option<Color>) {
        match (self.fill, self.content) {
            // Fills are light, whatever the terminal's own colours are.
            (Some(fill), _) => (Some(Color::BLACK), Some(fill)),
            (None, Content::Dots) if self.dots == 0 => (None, None),
            (None, _) => (self.color, None),
        }
    }

    fn symbol(&self, color: bool) -> char {
        match self.fill {
            // Without colours the brightness must do.
            Some(fill) if !color => match fill.brightness() {
                0.85.. => '░',
                0.7..0.85 => '▒',
                0.5..0.7 => '▓',
                _ => '█',
            },
            Some(_) => ' ',
            None if self.dots == 0 => ' ',
            None => char::from_u32(0x2800 + u32::from(self.dots)).unwrap_or(' '),
        }
    }
}

/// Sets colours by number: more terminals know 256 of them than know all.
fn escape((text, fill): (Option<Color>, Option<Color>), out: &mut String) {
    // Writing to a String cannot fail.
    let _ = match (text, fill) {
        (None, None) => write!(out, "\x1b[0m"),
        (Some(text), None) => write!(out, "\x1b[0;38;5;{}m", number(text)),
        (None, Some(fill)) => write!(out, "\x1b[0;48;5;{}m", number(fill)),
        (Some(text), Some(fill)) => write!(out, "\x1b[0;38;5;{};48;5;{}m", number(text), number(fill)),
    };
}

/// The nearest of the 256 colours: a cube of six steps each way, and 24 greys.
fn number(Color(r, g, b): Color) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let nearest = |x: u8| (0_u8..).zip(STEPS).min_by_key(|(_, step)| step.abs_diff(x)).unwrap_or_default();
    let ((nr, sr), (ng, sg), (nb, sb)) = (nearest(r), nearest(g), nearest(b));
    let distance = |a: [u8; 3]| a.iter().zip([r, g, b]).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum::<u32>();
    let greys = (0_u8..24).map(|n| (232 + n, distance([8 + 10 * n; 3])));
    let cube = (16 + 36 * nr + 6 * ng + nb, distance([sr, sg, sb]));
    std::iter::once(cube).chain(greys).min_by_key(|(_, distance)| *distance).map_or(0, |(number, _)| number)
}

/// The terminal's own colour for what is black on paper, and brighter ones for the rest: backgrounds are often dark.
fn readable(color: Color) -> Option<Color> {
    let grey = color.0.abs_diff(color.1) < 16 && color.1.abs_diff(color.2) < 16;
    match grey {
        true if color.brightness() < 0.4 => None,
        true => Some(Color(138, 138, 138)),
        false => Some(color.mix(Color::WHITE, 0.2)),
    }
}

type Failed = DrawingErrorKind<Infallible>;

impl DrawingBackend for Cells {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let size = |cells: usize, dots: u32| u32::try_from(cells).unwrap_or(0).saturating_mul(dots);
        (size(self.columns, 2), size(self.rows, 4))
    }

    fn ensure_prepared(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Result<(), Failed> {
        // Smoothed edges are noise among dots.
        if color.alpha < 0.5 || x < 0 || y < 0 {
            return Ok(());
        }
        let dot = match (x % 2, y % 4) {
            (0, 0) => 0x01,
            (0, 1) => 0x02,
            (0, 2) => 0x04,
            (0, _) => 0x40,
            (_, 0) => 0x08,
            (_, 1) => 0x10,
            (_, 2) => 0x20,
            (_, _) => 0x80,
        };
        if let Some(cell) = self.cell(x / 2, y / 4) {
            cell.dots |= dot;
            cell.color = readable(color.into());
        }
        Ok(())
    }

    /// Straight lines by whole dots; plotters' own would smooth them.
    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Result<(), Failed> {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1);
        for step in 0..=steps {
            let share = f64::from(step) / f64::from(steps);
            let place = |a: i32, b: i32| crate::pen::along(a, b, share);
            self.draw_pixel((place(from.0, to.0), place(from.1, to.1)), style.color())?;
        }
        Ok(())
    }

    /// Fills the cells whose middle is inside. Shades behind lines are left out: dots would drown in them.
    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Result<(), Failed> {
        let color = style.color();
        if !fill || color.alpha < 1.0 {
            return Ok(());
        }
        for row in (from.1 + 2).div_euclid(4)..(to.1 + 2).div_euclid(4) {
            // Even the shortest stretch is seen.
            let first = from.0.div_euclid(2);
            let end = (to.0 + 1).div_euclid(2).max(first + 1);
            for column in first..end {
                if let Some(cell) = self.cell(column, row) {
                    cell.fill = Some(color.into());
                }
            }
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        _radius: u32,
        style: &S,
        _fill: bool,
    ) -> Result<(), Failed> {
        self.draw_pixel(center, style.color())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Result<(), Failed> {
        let width = i32::try_from(text.width()).unwrap_or(i32::MAX);
        let mut column = match style.anchor().h_pos {
            HPos::Left => at.0.div_euclid(2),
            HPos::Center => (at.0 - width).div_euclid(2),
            HPos::Right => at.0.div_euclid(2) - width,
        };
        let row = at.1.div_euclid(4);
        for letter in text.chars() {
            let width = i32::try_from(letter.width().unwrap_or(0)).unwrap_or(0);
            for part in 0..width {
                if let Some(cell) = self.cell(column + part, row) {
                    cell.content = if part == 0 { Content::Letter(letter) } else { Content::Covered };
                    cell.color = readable(style.color().into());
                }
            }
            column += width;
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(&self, text: &str, _: &S) -> Result<(u32, u32), Failed> {
        Ok((u32::try_from(text.width()).unwrap_or(u32::MAX / 2).saturating_mul(2), 4))
    }
}
