use std::convert::Infallible;

use plotters::backend::BitMapBackend;
use plotters_backend::text_anchor::HPos;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};

use crate::Error;
use crate::pen::Metrics;

/// Draws on plotters' bitmap backend, twice as large, and shrinks the result.
pub(crate) fn render(
    (width, height): (u32, u32),
    draw: impl FnOnce(&mut Smooth<'_>, Metrics) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let size = (width * SCALE, height * SCALE);
    let mut pixels = vec![255; size.0 as usize * size.1 as usize * 3];
    draw(&mut Smooth(BitMapBackend::with_buffer(&mut pixels, size)), Metrics::picture(SCALE.cast_signed()))?;
    let pixels = shrink(&pixels, size.0 as usize);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&pixels)?;
        writer.finish()
    });
    written.map_err(|error| Error::Drawing(error.to_string()))?;
    Ok(file)
}

/// The mean of every four pixels.
fn shrink(pixels: &[u8], width: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(pixels.len() / 4);
    for rows in pixels.chunks_exact(width * 6) {
        let (above, below) = rows.split_at(width * 3);
        for (above, below) in above.chunks_exact(6).zip(below.chunks_exact(6)) {
            let sum = |of: &[u8], channel: usize| {
                of.iter().skip(channel).step_by(3).map(|byte| u16::from(*byte)).sum::<u16>()
            };
            for channel in 0..3 {
                let mean = (sum(above, channel) + sum(below, channel) + 2) / 4;
                out.push(u8::try_from(mean).unwrap_or(u8::MAX));
            }
        }
    }
    out
}

const SCALE: u32 = 2;

/// The bitmap backend with round, smooth lines and text that is centred where it says.
pub(crate) struct Smooth<'a>(BitMapBackend<'a>);

impl Smooth<'_> {
    /// A line with round ends.
    fn stroke(&mut self, from: BackendCoord, to: BackendCoord, color: BackendColor, width: u32) {
        let half = f64::from(width) / 2.0;
        let ((x0, y0), (x1, y1)) = (real(from), real(to));
        let (dx, dy) = (x1 - x0, y1 - y0);
        let length = dx.hypot(dy);
        let reach = half + 1.0;
        let (columns, rows) = self.get_size();
        let (columns, rows) = (f64::from(columns), f64::from(rows));
        for y in pixels(y0.min(y1) - reach, y0.max(y1) + reach, rows) {
            // Of a slanted line only a part of each row is near.
            let (left, right) = if dy.abs() > 1e-9 {
                let middle = |y: f64| x0 + ((y - y0) / dy).clamp(0.0, 1.0) * dx;
                let (a, b) = (middle(f64::from(y) - reach), middle(f64::from(y) + reach));
                let spread = reach * length / dy.abs();
                ((a.min(b) - spread).max(x0.min(x1) - reach), (a.max(b) + spread).min(x0.max(x1) + reach))
            } else {
                (x0.min(x1) - reach, x0.max(x1) + reach)
            };
            for x in pixels(left, right, columns) {
                let (px, py) = (f64::from(x) - x0, f64::from(y) - y0);
                let share = if length > 0.0 { ((px * dx + py * dy) / (length * length)).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (px - share * dx).hypot(py - share * dy);
                let cover = (half + 0.5 - distance).clamp(0.0, 1.0);
                if cover > 0.0 {
                    // Only a place outside of the picture could fail, and there is none.
                    let _ = self.0.draw_pixel((x, y), color.mix(cover));
                }
            }
        }
    }
}

fn real((x, y): BackendCoord) -> (f64, f64) {
    (x.into(), y.into())
}

/// The pixels from `low` to `high` that are in a picture.
fn pixels(low: f64, high: f64, size: f64) -> std::ops::Range<i32> {
    #[expect(clippy::cast_possible_truncation, reason = "a place in a picture; it saturates")]
    let pixel = |x: f64| x.clamp(0.0, size) as i32;
    pixel(low.floor())..pixel(high.ceil() + 1.0)
}

type Failed = DrawingErrorKind<Infallible>;

impl DrawingBackend for Smooth<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }

    fn ensure_prepared(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Result<(), Failed> {
        // Places outside of the picture are no failure.
        let _ = self.0.draw_pixel(point, color);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Result<(), Failed> {
        // The last pixel belongs to the neighbour, as in SVG.
        let _ = self.0.draw_rect(from, (to.0 - 1, to.1 - 1), style, fill);
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Result<(), Failed> {
        let mut before = None;
        for point in path {
            self.stroke(before.unwrap_or(point), point, style.color(), style.stroke_width());
            before = Some(point);
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> Result<(), Failed> {
        self.stroke(center, center, style.color(), 2 * radius);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Result<(), Failed> {
        let failed = |error: S::FontError| DrawingErrorKind::FontError(Box::new(error));
        let ((left, _), (right, _)) = style.layout_box(text).map_err(failed)?;
        let width = right - left;
        let dx = match style.anchor().h_pos {
            HPos::Left => 0,
            HPos::Center => -width / 2,
            HPos::Right => -width,
        };
        // Plotters puts the baseline half a font size below; the middle of letters is that much above the baseline.
        #[expect(clippy::cast_possible_truncation, reason = "a fifth of a font size")]
        let dy = -(style.size() * 0.21).round() as i32;
        let drawn = style.draw(text, (0, 0), |x, y, color| self.draw_pixel((at.0 + dx + x, at.1 + dy + y), color));
        drawn.map_err(failed)?
    }
}
