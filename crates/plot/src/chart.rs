use crate::{Color, Path, Row, Trace};

/// Something to draw.
#[derive(Clone, Debug)]
pub enum Chart {
    /// Values over time.
    Timeline(Timeline),
    /// Paths in a plane.
    Track(Track),
}

/// Values over time: lines in panels, stretches of colour below them.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What stands above.
    pub title: Option<String>,
    /// What stands below the title.
    pub subtitle: Option<String>,
    /// What the time is.
    pub time_label: String,
    /// From when to when, in seconds.
    pub range: (f64, f64),
    /// Lines.
    pub series: Vec<Series>,
    /// Stretches of colour.
    pub rows: Vec<Row>,
    /// Shades behind the lines, with names.
    pub bands: Vec<Band>,
    /// Whether every channel gets a panel of its own.
    pub separate: bool,
    /// Whether to draw points and not lines.
    pub points: bool,
    /// Which value stands beside a name.
    pub legend: Legend,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it is called.
    pub name: String,
    /// The channel that it belongs to: equal ones share a panel.
    pub channel: String,
    /// What the values are measured in.
    pub unit: Option<String>,
    /// Whether a value holds until the next one.
    pub step: bool,
    /// The values.
    pub trace: Trace,
}

impl Series {
    /// A line of slopes, alone in its channel.
    #[must_use]
    pub fn new(name: &str, unit: Option<&str>, trace: Trace) -> Self {
        Self { name: name.to_owned(), channel: name.to_owned(), unit: unit.map(str::to_owned), step: false, trace }
    }
}

/// A stretch of time with a name.
#[derive(Clone, Debug)]
pub struct Band {
    /// From when.
    pub start: f64,
    /// Until when.
    pub end: f64,
    /// What was then.
    pub name: String,
    /// Its colour, of which a shade is drawn.
    pub color: Color,
}

/// Which value stands beside a name.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Legend {
    /// The last one.
    #[default]
    Last,
    /// The mean.
    Mean,
    /// None.
    None,
}

/// Paths in a plane, with the same scale in both directions.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// What stands above.
    pub title: Option<String>,
    /// What stands below the title.
    pub subtitle: Option<String>,
    /// What runs to the right.
    pub x_label: String,
    /// What runs up.
    pub y_label: String,
    /// The paths.
    pub paths: Vec<Path>,
    /// Whether to draw points and not lines.
    pub points: bool,
}

/// Lines that share a place in the picture.
#[derive(Debug, Default)]
pub(crate) struct Panel<'a> {
    pub(crate) left: Lines<'a>,
    pub(crate) right: Lines<'a>,
}

impl Timeline {
    /// A timeline without content.
    #[must_use]
    pub fn new(range: (f64, f64)) -> Self {
        let (start, end) = range;
        let end = if end > start { end } else { start + 1.0 };
        Self {
            title: None,
            subtitle: None,
            time_label: "time, s".to_owned(),
            range: (start, end),
            series: Vec::new(),
            rows: Vec::new(),
            bands: Vec::new(),
            separate: false,
            points: false,
            legend: Legend::Last,
        }
    }

    /// A height in pixels at which everything can be read.
    #[must_use]
    pub fn height(&self) -> u32 {
        let panels = u32::try_from(self.panels().len()).unwrap_or(u32::MAX);
        let rows = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let panels = if panels == 1 { 480 } else { panels.saturating_mul(220) };
        panels
            .saturating_add(rows.saturating_mul(44))
            .saturating_add(120)
            .clamp(if panels == 0 { 0 } else { 600 }, 6000)
    }

    /// Which line is drawn where: one unit and one scale for each axis, and stacked panels from the third unit on.
    pub(crate) fn panels(&self) -> Vec<Panel<'_>> {
        let numbered = self.series.iter().enumerate();
        if self.separate {
            let mut groups = group(numbered, |series| series.channel.clone());
            return groups.drain(..).map(|left| Panel { left, right: Vec::new() }).collect();
        }
        let mut groups = group(numbered, |series| series.unit.clone().unwrap_or_default());
        if groups.len() == 1
            && groups.iter().flatten().all(|(_, series)| series.unit.is_none())
            && let Some(only) = groups.pop()
        {
            groups = by_size(only);
        }
        if groups.len() > 2 {
            return groups.into_iter().map(|left| Panel { left, right: Vec::new() }).collect();
        }
        let mut groups = groups.into_iter();
        let Some(left) = groups.next() else { return Vec::new() };
        vec![Panel { left, right: groups.next().unwrap_or_default() }]
    }
}

/// Lines with their numbers, which decide their colours.
pub(crate) type Lines<'a> = Vec<(usize, &'a Series)>;

/// Lines with the same key together, in the order in which keys come first.
fn group<'a>(lines: impl Iterator<Item = (usize, &'a Series)>, key: impl Fn(&Series) -> String) -> Vec<Lines<'a>> {
    let mut groups: Vec<(String, Lines<'a>)> = Vec::new();
    for line in lines {
        let key = key(line.1);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, lines)) => lines.push(line),
            None => groups.push((key, vec![line])),
        }
    }
    groups.into_iter().map(|(_, lines)| lines).collect()
}

/// Splits lines in two where some would be flat beside the others.
fn by_size(lines: Lines<'_>) -> Vec<Lines<'_>> {
    let size = |series: &Series| {
        series.trace.range().map(|(low, high)| (high - low).max(low.abs().max(high.abs()))).filter(|size| *size > 0.0)
    };
    let mut sizes: Vec<f64> = lines.iter().filter_map(|(_, series)| size(series)).collect();
    sizes.sort_by(f64::total_cmp);
    let widest = sizes.iter().zip(sizes.iter().skip(1)).max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let Some((small, large)) = widest.filter(|(small, large)| *large / *small >= FLAT) else { return vec![lines] };
    let border = small.sqrt() * large.sqrt();
    let (left, right): (Lines<'_>, Lines<'_>) =
        lines.into_iter().partition(|(_, series)| size(series).is_some_and(|size| size > border));
    vec![left, right]
}

/// A line that is this many times smaller than its neighbour is flat.
const FLAT: f64 = 30.0;

#[cfg(test)]
mod tests {
    use super::{Series, Timeline};
    use crate::Trace;

    fn timeline(lines: &[(&str, Option<&str>, f64)]) -> Timeline {
        let mut timeline = Timeline::new((0.0, 1.0));
        for (name, unit, height) in lines {
            let mut trace = Trace::new((0.0, 1.0), 10);
            trace.push(0.0, 0.0);
            trace.push(1.0, *height);
            timeline.series.push(Series::new(name, *unit, trace));
        }
        timeline
    }

    fn shape(timeline: &Timeline) -> Vec<(usize, usize)> {
        timeline.panels().iter().map(|panel| (panel.left.len(), panel.right.len())).collect()
    }

    #[test]
    fn units_and_sizes_decide_where_a_line_is_drawn() {
        let (volts, amps, metres) = (Some("V"), Some("A"), Some("m"));
        assert_eq!(shape(&timeline(&[("a", volts, 1.0), ("b", volts, 1000.0)])), [(2, 0)]);
        assert_eq!(shape(&timeline(&[("a", volts, 1.0), ("b", amps, 1.0), ("c", volts, 1.0)])), [(2, 1)]);
        assert_eq!(
            shape(&timeline(&[("a", volts, 1.0), ("b", amps, 1.0), ("c", metres, 1.0)])),
            [(1, 0), (1, 0), (1, 0)]
        );
        assert_eq!(shape(&timeline(&[("a", None, 1.0), ("b", None, 2.0)])), [(2, 0)]);
        assert_eq!(shape(&timeline(&[("a", None, 1.0), ("b", None, 1000.0), ("c", None, 3.0)])), [(1, 2)]);
        let separate = Timeline { separate: true, ..timeline(&[("a", volts, 1.0), ("b", volts, 1.0)]) };
        assert_eq!(shape(&separate), [(1, 0), (1, 0)]);
    }
}
