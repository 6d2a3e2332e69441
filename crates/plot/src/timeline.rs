//! Draws values over time.

use logpose_core::format_number;
use plotters_backend::DrawingBackend;

use crate::axis::Axis;
use crate::chart::{Panel, Timeline};
use crate::frame::{
    Area, Edge, Name, across, bottom_axis, bottom_height, flow, frame, header, label_width, letter, names, too_small,
    upward, value_axis,
};
use crate::pen::{Pen, Side, along};
use crate::{Color, Error, Legend, Row, Series};

/// Draws a timeline.
pub(crate) fn draw<B: DrawingBackend>(chart: &Timeline, pen: &mut Pen<'_, B>) -> Result<(), Error> {
    let top = header(chart.title.as_deref(), chart.subtitle.as_deref(), pen)?;
    let plan = Plan::new(chart, top, pen)?;
    let mut last = Area::default();
    for (place, panel) in plan.panels.iter().enumerate() {
        names(&panel.names, (panel.area.left + pen.metrics.indent, panel.names_at), pen)?;
        if place == 0 {
            strip(chart, &panel.area, &plan.time, panel.area.top - plan.strip, pen)?;
        }
        shades(chart, &panel.area, &plan.time, pen)?;
        frame(&panel.area, &plan.time, Some(&panel.left), pen)?;
        let axes = [
            (&panel.lines.left, Some(&panel.left), Edge::Left),
            (&panel.lines.right, panel.right.as_ref(), Edge::Right),
        ];
        for (lines, axis, edge) in axes {
            let Some(axis) = axis else { continue };
            let unit = unit(lines, pen);
            // An axis of one line has its colour where there are two axes.
            let alone = lines.first().filter(|_| lines.len() == 1 && panel.right.is_some());
            let color = alone.map_or(Color::TEXT, |(mark, _)| Color::of(*mark));
            value_axis(axis, (&unit, panel.unit_at), &panel.area, edge, color, pen)?;
            for (mark, series) in lines {
                line(chart, series, *mark, &panel.area, &plan.time, axis, pen)?;
            }
        }
        last = panel.area;
    }
    let mut y = plan.rows_at;
    if plan.panels.is_empty() {
        last = Area { left: plan.left, right: plan.right, top: y, bottom: y };
        strip(chart, &last, &plan.time, y, pen)?;
        y += plan.strip;
    }
    for row in &chart.rows {
        y = stretches(row, &last, &plan.time, y, pen)?;
    }
    let bottom = if chart.rows.is_empty() { last.bottom } else { y };
    bottom_axis(&plan.time, &chart.time_label, &Area { top: bottom, bottom, ..last }, pen)
}

/// Where everything goes.
struct Plan<'a> {
    time: Axis,
    panels: Vec<Placed<'a>>,
    /// The height of the bands' names.
    strip: i32,
    rows_at: i32,
    left: i32,
    right: i32,
}

struct Placed<'a> {
    lines: Panel<'a>,
    left: Axis,
    right: Option<Axis>,
    names: Vec<Vec<(i32, Name)>>,
    names_at: i32,
    /// The middle of the line with the unit.
    unit_at: i32,
    area: Area,
}

impl<'a> Plan<'a> {
    fn new<B: DrawingBackend>(chart: &'a Timeline, top: i32, pen: &Pen<'_, B>) -> Result<Self, Error> {
        let m = pen.metrics;
        let (width, height) = pen.size();
        let gap = if m.rich { m.gap } else { 0 };
        let strip = if chart.bands.is_empty() { 0 } else { m.line };
        let rows = i32::try_from(chart.rows.len()).unwrap_or(i32::MAX).saturating_mul(row_height(pen));
        let mut panels: Vec<Placed<'_>> = chart.panels().into_iter().map(Placed::new).collect();
        let count = i32::try_from(panels.len()).unwrap_or(i32::MAX);
        let (mut left, mut right) = (m.margin + m.line, width - m.margin - m.blank);
        // Labels decide how wide names may be, names how high panels are, heights which labels there are.
        for _ in 0..3 {
            for panel in &mut panels {
                panel.names = flow(panel.named(chart.legend), right - left - m.indent, pen);
            }
            let lines = panels.iter().map(|panel| i32::try_from(panel.names.len()).unwrap_or(i32::MAX));
            let taken = lines.sum::<i32>().saturating_mul(m.line)
                + count * gap
                + count.saturating_sub(1) * m.between
                + strip
                + rows;
            let free = height - top - bottom_height(pen) - taken;
            let each = if count == 0 { 0 } else { free / count };
            // Cells are filled whole.
            let each = if m.rich { each } else { each / m.line * m.line };
            if count > 0 && each < m.min_panel.0 || count == 0 && free < 0 {
                let missing = if count == 0 { -free } else { (m.min_panel.0 - each).saturating_mul(count) };
                return Err(too_small((m.min_panel.1 - (right - left), missing), pen));
            }
            let (mut wide_left, mut wide_right) = (0, 0);
            let mut y = top;
            for (place, panel) in panels.iter_mut().enumerate() {
                panel.names_at = y;
                y += i32::try_from(panel.names.len()).unwrap_or(0) * m.line;
                panel.unit_at = y - m.line / 2;
                y += gap;
                y += if place == 0 { strip } else { 0 };
                panel.area = Area { left, right, top: y, bottom: y + each };
                y += each + m.between;
                panel.left = upward(extent(&panel.lines.left), each, m.line);
                panel.right = (!panel.lines.right.is_empty()).then(|| upward(extent(&panel.lines.right), each, m.line));
                wide_left = wide_left.max(label_width(&panel.left, &unit(&panel.lines.left, pen), pen));
                if let Some(axis) = &panel.right {
                    wide_right = wide_right.max(label_width(axis, &unit(&panel.lines.right, pen), pen) + m.gap);
                }
            }
            left = m.margin + wide_left + m.gap;
            right = width - m.margin - wide_right.max(m.blank);
        }
        if right - left < m.min_panel.1 {
            return Err(too_small((m.min_panel.1 - (right - left), 0), pen));
        }
        panels.iter_mut().for_each(|panel| panel.area = Area { left, right, ..panel.area });
        let rows_at = panels.last().map_or(top, |panel| panel.area.bottom + gap);
        let time = across(chart.range, right - left, pen);
        Ok(Self { time, panels, strip, rows_at, left, right })
    }
}

impl<'a> Placed<'a> {
    fn new(lines: Panel<'a>) -> Self {
        let empty = || Axis::exact(0.0, 1.0, 1);
        Self { lines, left: empty(), right: None, names: Vec::new(), names_at: 0, unit_at: 0, area: Area::default() }
    }

    fn named(&self, legend: Legend) -> Vec<Name> {
        let two = !self.lines.right.is_empty();
        let name = |(mark, series): &(usize, &Series), right: bool| {
            let side = if right { " (right)" } else { "" };
            Name { mark: Some(*mark), text: format!("{}{side}{}", series.name, legend_value(series, legend)) }
        };
        let left = self.lines.left.iter().map(|line| name(line, false));
        left.chain(self.lines.right.iter().map(|line| name(line, two))).collect()
    }
}

/// The value in the legend, behind the name of a line.
fn legend_value(series: &Series, legend: Legend) -> String {
    let value = match legend {
        Legend::Last => series.trace.last().map(|value| ("last", value)),
        Legend::Mean => series.trace.mean().map(|value| ("mean", value)),
        Legend::None => return String::new(),
    };
    match (value, &series.unit) {
        (Some((word, value)), Some(unit)) => format!(": {word} {} {unit}", format_number(value)),
        (Some((word, value)), None) => format!(": {word} {}", format_number(value)),
        (None, _) => ": no numbers".to_owned(),
    }
}

/// What is written above an axis.
fn unit<B: DrawingBackend>(lines: &[(usize, &Series)], pen: &Pen<'_, B>) -> String {
    let unit = lines.iter().find_map(|(_, series)| series.unit.as_deref()).unwrap_or_default();
    pen.head(unit, pen.width("00000000"))
}

fn extent(lines: &[(usize, &Series)]) -> (f64, f64) {
    let ranges = lines.iter().filter_map(|(_, series)| series.trace.range());
    ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0.0, 1.0))
}

fn row_height<B: DrawingBackend>(pen: &Pen<'_, B>) -> i32 {
    2 * pen.metrics.line + if pen.metrics.rich { pen.metrics.gap } else { 0 }
}

/// The bands' names, in a strip above the first panel.
fn strip<B: DrawingBackend>(
    chart: &Timeline,
    area: &Area,
    time: &Axis,
    top: i32,
    pen: &mut Pen<'_, B>,
) -> Result<(), Error> {
    let m = pen.metrics;
    for band in &chart.bands {
        let (from, to) = (area.x(time, band.start), area.x(time, band.end));
        if to <= from {
            continue;
        }
        pen.fill((from, top), (to, top + m.line), band.color.mix(Color::WHITE, 0.65), 1.0)?;
        // A name that does not fit says less than the colour.
        if pen.width(&band.name) + m.gap <= to - from {
            pen.text(&band.name, (from + m.gap / 2, top + m.line / 2), Side::Right, Color::TEXT)?;
        }
    }
    Ok(())
}

fn shades<B: DrawingBackend>(chart: &Timeline, area: &Area, time: &Axis, pen: &mut Pen<'_, B>) -> Result<(), Error> {
    for band in &chart.bands {
        let (from, to) = (area.x(time, band.start), area.x(time, band.end));
        pen.fill((from, area.top), (to, area.bottom), band.color, 0.09)?;
    }
    Ok(())
}

fn line<B: DrawingBackend>(
    chart: &Timeline,
    series: &Series,
    mark: usize,
    area: &Area,
    time: &Axis,
    axis: &Axis,
    pen: &mut Pen<'_, B>,
) -> Result<(), Error> {
    let m = pen.metrics;
    let color = Color::of(mark);
    // The last dot of a cell belongs to the neighbour.
    let inside = if m.rich { *area } else { Area { right: area.right - 1, bottom: area.bottom - 1, ..*area } };
    let place = |(at, value): (f64, f64)| (inside.x(time, at), inside.y(axis, value));
    if chart.points {
        for at in series.trace.lines().into_iter().flatten() {
            pen.point(place(at), m.point, color)?;
        }
        return Ok(());
    }
    let lines = if series.step { series.trace.steps() } else { series.trace.slopes() };
    for line in lines {
        let mut points: Vec<(i32, i32)> = line.into_iter().map(place).collect();
        points.dedup();
        match points.as_slice() {
            [only] => pen.point(*only, m.point, color)?,
            _ => {
                let places =
                    if m.letters && chart.series.len() > 1 { letter_places(&points, mark) } else { Vec::new() };
                pen.line(points, color, m.stroke)?;
                places.into_iter().try_for_each(|at| pen.text(&letter(mark), at, Side::Right, color))?;
            }
        }
    }
    Ok(())
}

/// Where the letter of a line stands on it, where colours do not distinguish lines; not where those of others stand.
fn letter_places(points: &[(i32, i32)], mark: usize) -> Vec<(i32, i32)> {
    let shift = i32::try_from(mark % 8).unwrap_or(0) * 6;
    let ends = points.iter().zip(points.iter().skip(1));
    let crossing = |from: &(i32, i32), to: &(i32, i32)| {
        let next = from.0 + 1 + (shift - from.0 - 1).rem_euclid(48);
        (next <= to.0).then(|| {
            let share = f64::from(next - from.0) / f64::from(to.0 - from.0);
            (next, along(from.1, to.1, share))
        })
    };
    ends.filter_map(|(from, to)| crossing(from, to)).collect()
}

/// A row: its name, and below it a stretch for each value. Returns where the next begins.
fn stretches<B: DrawingBackend>(
    row: &Row,
    area: &Area,
    time: &Axis,
    top: i32,
    pen: &mut Pen<'_, B>,
) -> Result<i32, Error> {
    let m = pen.metrics;
    let name = pen.tail(&row.name, area.width());
    pen.text(&name, (area.left, top + m.line / 2), Side::Right, Color::TEXT)?;
    let (top, bottom) = (top + m.line, top + 2 * m.line);
    let mut values: Vec<&str> = Vec::new();
    let mut placed = Vec::with_capacity(row.spans().len());
    for span in row.spans() {
        let number = values.iter().position(|value| *value == span.label).unwrap_or_else(|| {
            // Beyond so many values colours say nothing any more.
            if values.len() < 64 {
                values.push(&span.label);
            }
            values.len() - 1
        });
        let from = area.x(time, span.start);
        let to = area.x(time, span.end);
        placed.push((from, to, number, &*span.label));
    }
    // Short stretches come last, so that none is hidden.
    placed.sort_by_key(|(from, to, ..)| *to - *from <= m.unit.0);
    for (from, to, number, label) in placed {
        pen.fill((from, top), (to.max(from + m.unit.0), bottom), value_color(label, number), 1.0)?;
        if from < to && number > 0 && m.rich {
            pen.line(vec![(from, top), (from, bottom)], Color::WHITE, m.thin)?;
        }
        let text = pen.head(label, to - from - m.gap);
        // A single letter and dots are noise.
        if text.chars().count() > 2 || text == label {
            pen.text(&text, (from + m.gap / 2, i32::midpoint(top, bottom)), Side::Right, Color::TEXT)?;
        }
    }
    Ok(bottom + if m.rich { m.gap } else { 0 })
}

/// Light, because the value is written on it.
fn value_color(label: &str, number: usize) -> Color {
    match label {
        "true" => Color::of(2).mix(Color::WHITE, 0.35),
        "false" => Color(232, 232, 232),
        _ => Color::of([5, 4, 3, 2, 7, 0, 1].get(number % 7).copied().unwrap_or(0)).mix(Color::WHITE, 0.4),
    }
}
