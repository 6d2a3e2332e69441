//! Draws paths in a plane.

use plotters_backend::DrawingBackend;

use crate::axis::Axis;
use crate::chart::Track;
use crate::frame::{
    Area, Edge, Name, across, bottom_axis, bottom_height, flow, frame, header, label_width, names, too_small, upward,
    value_axis,
};
use crate::pen::{Pen, Side};
use crate::{Color, Error};

/// Draws paths, with the same scale in both directions.
pub(crate) fn draw<B: DrawingBackend>(track: &Track, pen: &mut Pen<'_, B>) -> Result<(), Error> {
    let m = pen.metrics;
    let (width, height) = pen.size();
    let top = header(track.title.as_deref(), track.subtitle.as_deref(), pen)?;
    let named = || {
        let paths = track.paths.iter().enumerate();
        paths.map(|(n, path)| Name { mark: Some(n), text: path.name.clone() }).collect::<Vec<_>>()
    };
    let lines = if track.paths.len() > 1 { flow(named(), width - 2 * m.margin, pen) } else { Vec::new() };
    let names_height = i32::try_from(lines.len()).unwrap_or(0) * m.line;
    names(&lines, (m.margin, top), pen)?;
    let mut area = Area {
        left: m.margin + 4 * m.line,
        right: width - m.margin - m.blank,
        top: top + names_height + m.line + if m.rich { m.gap } else { 0 },
        bottom: height - bottom_height(pen),
    };
    if !m.rich {
        area.bottom = area.bottom / m.line * m.line;
    }
    let min = m.min_panel;
    if area.width() < min.1 || area.height() < min.0 {
        return Err(too_small((min.1 - area.width(), min.0 - area.height()), pen));
    }
    let (x, y) = loop {
        let (x, y) = axes(track, &area, pen);
        let left = m.margin + label_width(&y, "", pen) + m.gap;
        if left == area.left {
            break (x, y);
        }
        // A wider picture can only need shorter labels, so this ends.
        let settled = left > area.left;
        area.left = left;
        if settled {
            break axes(track, &area, pen);
        }
    };
    frame(&area, &x, Some(&y), pen)?;
    value_axis(&y, ("", area.top), &area, Edge::Left, Color::TEXT, pen)?;
    let label = pen.tail(&format!("↑ {}", track.y_label), area.width());
    pen.text(
        &label,
        (area.left, area.top - m.line / 2 - if m.rich { m.gap / 2 } else { 0 }),
        Side::Right,
        Color::FAINT,
    )?;
    let inside = if m.rich { area } else { Area { right: area.right - 1, bottom: area.bottom - 1, ..area } };
    let place = |(px, py): (f64, f64)| (inside.x(&x, px), inside.y(&y, py));
    for (n, path) in track.paths.iter().enumerate() {
        let color = Color::of(n);
        for line in path.lines() {
            let mut points: Vec<(i32, i32)> = line.into_iter().map(place).collect();
            points.dedup();
            if track.points {
                points.into_iter().try_for_each(|at| pen.point(at, m.point, color))?;
            } else {
                pen.line(points, color, m.stroke)?;
            }
        }
    }
    for (n, path) in track.paths.iter().enumerate() {
        let color = Color::of(n);
        for (at, symbol) in [(path.first(), "○"), (path.last(), "●")] {
            let Some(at) = at.map(place) else { continue };
            if m.rich {
                pen.point(at, 3 * m.point, color)?;
                if symbol == "○" {
                    pen.point(at, 2 * m.point, Color::WHITE)?;
                }
            } else {
                pen.text(symbol, at, Side::Right, color)?;
            }
        }
    }
    bottom_axis(&x, &format!("{} →   (○ start, ● end)", track.x_label), &area, pen)
}

/// Axes with the same scale, around all places.
fn axes<B: DrawingBackend>(track: &Track, area: &Area, pen: &Pen<'_, B>) -> (Axis, Axis) {
    let extent = |of: fn((f64, f64)) -> f64| {
        let values = track.paths.iter().flat_map(|path| path.points()).map(of);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        if low <= high { (low, high) } else { (0.0, 1.0) }
    };
    let ((x0, x1), (y0, y1)) = (extent(|p| p.0), extent(|p| p.1));
    let (width, height) = (f64::from(area.width().max(1)), f64::from(area.height().max(1)));
    let per_pixel = ((x1 - x0) / width).max((y1 - y0) / height) * 1.1;
    // All places in one need some room around them.
    let per_pixel = if per_pixel > 0.0 { per_pixel } else { 2.0 / height };
    let around = |low: f64, high: f64, pixels: f64| {
        let middle = f64::midpoint(low, high);
        (middle - per_pixel * pixels / 2.0, middle + per_pixel * pixels / 2.0)
    };
    let x = across(around(x0, x1, width), area.width(), pen);
    let (low, high) = around(y0, y1, height);
    let marks = upward((low, high), area.height(), pen.metrics.line).marks.len();
    (x, Axis::exact(low, high, marks))
}
