use plotters::backend::SVGBackend;

use crate::Error;
use crate::pen::Metrics;

/// Draws on plotters' own SVG backend.
pub(crate) fn render(
    (width, height): (u32, u32),
    draw: impl FnOnce(&mut SVGBackend<'_>, Metrics) -> Result<(), Error>,
) -> Result<String, Error> {
    let mut svg = String::new();
    // Backends count whole pixels. Tenths of pixels, which the view box scales back, keep slopes smooth.
    let fine = (width * SCALE, height * SCALE);
    let mut backend = SVGBackend::with_string(&mut svg, fine);
    let drawn = draw(&mut backend, Metrics::picture(SCALE.cast_signed()));
    drop(backend);
    drawn?;
    let head = format!("<svg width=\"{}\" height=\"{}\" viewBox=", fine.0, fine.1);
    let rest = svg.strip_prefix(&head).ok_or_else(|| Error::Drawing("unexpected start of the SVG".to_owned()))?;
    let (view, content) = rest.split_once('\n').unwrap_or((rest, ""));
    Ok(format!("<svg width=\"{width}\" height=\"{height}\" viewBox={view}\n{STYLE}\n{content}"))
}

/// Spikes would have long points without it.
const STYLE: &str = "<style>polyline{stroke-linejoin:round;stroke-linecap:round}</style>";
const SCALE: u32 = 10;
