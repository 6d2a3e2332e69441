use std::io::Read;
use std::sync::OnceLock;

use liblzma::read::XzDecoder;
use plotters::style::{FontStyle, register_font};
use plotters_backend::DrawingBackend;

use crate::pen::{Metrics, Pen};
use crate::terminal::Cells;
use crate::{Chart, Error, png as raster, svg as vector, timeline, track};

/// The chart as SVG.
pub fn svg(chart: &Chart, size: (u32, u32)) -> Result<String, Error> {
    check(size)?;
    vector::render(size, |backend, metrics| draw(chart, backend, metrics))
}

/// The chart as PNG.
pub fn png(chart: &Chart, size: (u32, u32)) -> Result<Vec<u8>, Error> {
    check(size)?;
    raster::render(size, |backend, metrics| draw(chart, backend, metrics))
}

/// The chart as lines of text: braille dots, blocks and letters; with `color`, also escape sequences.
pub fn terminal(chart: &Chart, columns: u32, rows: u32, color: bool) -> Result<String, Error> {
    check((columns, rows))?;
    let mut cells = Cells::new(columns, rows);
    draw(chart, &mut cells, Metrics::cells(color))?;
    Ok(cells.show(color))
}

fn check((width, height): (u32, u32)) -> Result<(), Error> {
    if u64::from(width) * u64::from(height) > MOST_PIXELS || width.max(height) > LONGEST_SIDE {
        return Err(Error::TooLarge { width, height });
    }
    Ok(())
}

fn draw<B: DrawingBackend>(chart: &Chart, backend: &mut B, metrics: Metrics) -> Result<(), Error> {
    fonts();
    let mut pen = Pen::new(backend, metrics);
    match chart {
        Chart::Timeline(chart) => timeline::draw(chart, &mut pen)?,
        Chart::Track(track) => track::draw(track, &mut pen)?,
    }
    pen.present()
}

/// The fonts of PNG, with which the other pictures are measured too.
fn fonts() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        // A font that is no font would fail in the first test; there is nothing to report at run time.
        let [regular, bold] = unpacked();
        let _ = register_font("sans-serif", FontStyle::Normal, regular);
        let _ = register_font("sans-serif", FontStyle::Bold, bold);
    });
}

/// The regular and the bold font as plotters wants them: for as long as the process lives.
fn unpacked() -> [&'static [u8]; 2] {
    let mut fonts = Vec::new();
    // As above: what `build.rs` packed can be unpacked.
    let _ = XzDecoder::new(FONTS).read_to_end(&mut fonts);
    let fonts: &'static [u8] = fonts.leak();
    let split = fonts.split_first_chunk().and_then(|(length, fonts)| {
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        fonts.split_at_checked(length)
    });
    split.unwrap_or_default().into()
}

/// Pixels that a picture may have.
pub const MOST_PIXELS: u64 = 32_000_000;
const LONGEST_SIDE: u32 = 20_000;
/// DejaVu Sans, regular and bold, compressed by `build.rs`.
const FONTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fonts"));

#[cfg(test)]
mod tests {
    use super::unpacked;

    #[test]
    fn fonts_are_those_of_dejavu() {
        assert!(unpacked() == [dejavu::sans::regular(), dejavu::sans::bold()]);
    }
}
