mod leaves;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use logpose::core::{Channel, Lookup, Time};
use logpose::frc::Mode;
use logpose::{Filter, Log, Output};
use logpose_plot::{Band, Chart, Color, Legend, Path as Route, Row, Series, Timeline, Trace, Track};

use self::leaves::{Leaf, Taker, Wanted, gather};
use super::{info, recover, report_problems, report_stragglers, shown};
use crate::args::{Channels, Reading, Selection};
use crate::failure::{Complaint, Outcome};
use crate::human::{about_time, bytes, counted};
use crate::interrupt;
use crate::screen::Screen;

/// Plot channels over time as SVG, PNG or text in the terminal
///
/// Draws numbers as lines with one axis per unit, booleans, text and states as colored rows below them, and Driver
/// Station modes as background shading. -y also selects struct fields by name (`/Drive/Pose.translation.x`) and array
/// elements by index (`/Arm/Currents[0]`). The picture stays small and keeps every spike, regardless of the number of
/// samples.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose plot demo/demo_q12.rlog -y '*BatteryVoltage' --terminal
  logpose plot demo/demo_q12.rlog -y '/SystemStats/Battery*' -y '*Shooter/*' -o match.svg
  logpose plot demo/demo_q12.rlog -y '*ChassisSpeeds.v*' -S auto..auto -o auto.png
  logpose plot demo/demo_q12.rlog --xy '*/Pose.translation.x' '*/Pose.translation.y' -o field.svg
  logpose plot demo/demo_q12.rlog demo/demo_q12_r1.rlog -y '*RPM' --align auto -o both.png")]
pub(super) struct Plot {
    /// Logs, drawn on top of each other; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Output file: OUT.svg or OUT.png; `-` is standard output and needs --to
    #[arg(short, long, value_name = "OUT", conflicts_with = "terminal")]
    output: Option<PathBuf>,
    /// Picture format, overriding the extension
    #[arg(long, value_name = "FORMAT", requires = "output")]
    to: Option<Format>,
    /// Draw in the terminal with text; the default in a terminal without -o
    #[arg(long)]
    terminal: bool,
    /// Size in pixels, such as 1200x600; columns and lines in the terminal
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Title of the plot [default: the file names]
    #[arg(long)]
    title: Option<String>,
    /// Give each channel its own panel
    #[arg(long)]
    separate: bool,
    /// Draw points instead of lines
    #[arg(long)]
    points: bool,
    /// Draw a path with the first channel as x and the second as y, at the same scale
    #[arg(long, num_args = 2, value_names = ["X", "Y"], conflicts_with_all = ["include", "separate", "legend", "align"])]
    xy: Vec<String>,
    /// What time zero is: that of each log's clock (time), the start of the log, or the start of a mode
    #[arg(long, value_enum, value_name = "WHEN", default_value = "time")]
    align: Align,
    /// Value to show next to each name
    #[arg(long, value_enum, value_name = "VALUE", default_value = "last")]
    legend: LegendValue,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    Svg,
    Png,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Align {
    Time,
    Start,
    Auto,
    Teleop,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LegendValue {
    Last,
    Mean,
    None,
}

/// Where to write the picture.
enum Target<'a> {
    File(&'a Path, Format),
    Stdout(Format),
    Terminal,
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once(['x', 'X', '×']);
    let side = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n > 0);
    parts
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .ok_or_else(|| "expected WIDTHxHEIGHT, such as 1200x600".to_owned())
}

impl Plot {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        if self.xy.is_empty() && self.selection.channels.include.is_empty() {
            return Err(Complaint::usage("no channels selected")
                .help("select channels with -y, such as -y '*Voltage'; run `logpose list FILE` to see the names")
                .into());
        }
        let target = self.target()?;
        let logs = self.reading.open_all(&self.files, &screen.notes)?;
        let width = match (&target, self.size) {
            // A braille cell is two dots wide.
            (Target::Terminal, size) => size.map_or(screen_width(screen), |(columns, _)| columns).saturating_mul(2),
            (_, size) => size.map_or(WIDTH, |(width, _)| width),
        };
        let views = self.views(&logs)?;
        if self.selection.moments.parse()? == (None, None) {
            report_stragglers(&logs, "excludes", screen);
        }
        let (chart, lines) = if self.xy.is_empty() { self.timeline(&views, width)? } else { self.track(&views)? };
        match target {
            Target::File(path, format) => {
                let picture = self.picture(&chart, format)?;
                interrupt::while_writing(path, || {
                    Output::File { path, force: self.force, wrapper: None }.write_all(&picture)
                })?;
                let size = bytes(picture.len() as u64);
                screen.notes.line(format_args!("wrote {}: {}, {size}", shown(path), counted(lines, "line")));
            }
            Target::Stdout(format) => screen.out.write_all(&self.picture(&chart, format)?)?,
            Target::Terminal => {
                let text = self.in_terminal(&chart, screen)?;
                screen.out.write_all(text.as_bytes())?;
            }
        }
        Ok(report_problems(&logs, screen))
    }

    fn picture(&self, chart: &Chart, format: Format) -> Result<Vec<u8>> {
        let size = self.size.unwrap_or_else(|| (WIDTH, default_height(chart)));
        let drawn = match format {
            Format::Svg => logpose_plot::svg(chart, size).map(String::into_bytes),
            Format::Png => logpose_plot::png(chart, size),
        };
        Ok(drawn.map_err(complaint)?)
    }

    fn target(&self) -> Result<Target<'_>> {
        let Some(output) = self.output.as_deref() else {
            if self.terminal || io::stdout().is_terminal() {
                return Ok(Target::Terminal);
            }
            return Err(Complaint::usage("missing -o: standard output is not a terminal")
                .help("add -o plot.svg or -o plot.png, or --terminal for text")
                .into());
        };
        let extension = output.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let format = self.to.or_else(|| match extension.to_ascii_lowercase().as_str() {
            "svg" => Some(Format::Svg),
            "png" => Some(Format::Png),
            _ => None,
        });
        let format = format.ok_or_else(|| {
            Complaint::usage(format!("{}: unknown picture format", shown(output)))
                .help("use the extension .svg or .png, or add --to")
        })?;
        if output.as_os_str() != "-" {
            // Fail before reading the log, not after.
            if output.is_file() && !self.force {
                return Err(recover::exists(output).into());
            }
            return Ok(Target::File(output, format));
        }
        if format == Format::Png && io::stdout().is_terminal() {
            return Err(Complaint::usage("refusing to write binary data to a terminal")
                .help("write to a file with -o, or use --terminal")
                .into());
        }
        Ok(Target::Stdout(format))
    }

    /// Draws text, with as many lines as needed if no size was given.
    fn in_terminal(&self, chart: &Chart, screen: &Screen) -> Result<String> {
        let lines = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal());
        let lines = lines.map_or(LINES, |(_, height)| u32::from(height.0).saturating_sub(2).clamp(10, 60));
        let (columns, lines) = self.size.unwrap_or((screen_width(screen), lines));
        let color = screen.out.color;
        let drawn = match logpose_plot::terminal(chart, columns, lines, color) {
            Err(logpose_plot::Error::TooSmall { least_width, least_height, .. }) if self.size.is_none() => {
                logpose_plot::terminal(chart, columns.max(least_width), least_height, color)
            }
            drawn => drawn,
        };
        Ok(drawn.map_err(complaint)?)
    }

    /// The visible part of each log.
    fn views<'a>(&self, logs: &'a [Log]) -> Result<Vec<View<'a>>> {
        let (start, end) = self.selection.moments.parse()?;
        let mut views = Vec::with_capacity(logs.len());
        for log in logs {
            let Lookup { start, end, .. } = log.lookup(&Filter::default(), start.as_ref(), end.as_ref())?;
            let Some((first, last)) = log.robust_range() else { continue };
            let zero = self.zero(log, first)?;
            // Samples far from all others are drawn if they are asked for.
            let (earliest, latest) = log.index.range().unwrap_or((first, last));
            let first = start.map_or(first, |start| start.max(earliest));
            let last = end.map_or(last, |end| end.min(latest));
            if first <= last {
                views.push(View { log, zero, first, last });
            }
        }
        if views.is_empty() {
            return Err(Complaint::failed("no-samples", "no samples in the selected time range")
                .help("run `logpose info FILE` to see the time range, then adjust -S and -E")
                .into());
        }
        Ok(views)
    }

    /// The log time drawn as zero.
    fn zero(&self, log: &Log, first: Time) -> Result<Time> {
        let mode = match self.align {
            Align::Time => return Ok(Time::ZERO),
            Align::Start => return Ok(first),
            Align::Auto => Mode::Auto,
            Align::Teleop => Mode::Teleop,
        };
        let span = log.modes().iter().find(|span| span.mode == mode);
        span.map(|span| span.start).ok_or_else(|| {
            let message = format!("{}: the robot was never in the mode {:?}", shown(&log.path), mode.name());
            Complaint::failed("no-mode", message).help("use --align start or --align time").into()
        })
    }

    fn timeline(&self, views: &[View<'_>], width: u32) -> Result<(Chart, u64)> {
        let first = views.iter().map(|view| view.seconds(view.first)).fold(f64::INFINITY, f64::min);
        let last = views.iter().map(|view| view.seconds(view.last)).fold(f64::NEG_INFINITY, f64::max);
        let mut timeline = Timeline::new((first, last));
        let wanted = Wanted::new(&self.selection.channels)?;
        let (mut matched, mut met) = (0, 0);
        for view in views {
            let prefix = if views.len() > 1 { format!("{}: ", view.name(views)) } else { String::new() };
            let mut lines = Lines { view, prefix, range: timeline.range, width, before: met, lines: Vec::new() };
            matched += gather(view.log, &wanted, &mut lines)?;
            met += lines.lines.len();
            for line in lines.lines {
                line.finish(view.seconds(view.last), &mut timeline);
            }
        }
        if matched == 0 {
            return Err(self.selection.channels.nothing().into());
        }
        if timeline.series.is_empty() && timeline.rows.is_empty() {
            return Err(nothing_to_draw(met).into());
        }
        if let Some(view) = views.first() {
            timeline.bands = view.bands();
        }
        timeline.time_label = match self.align {
            Align::Time => "log time, s".to_owned(),
            Align::Start => "time since start of log, s".to_owned(),
            Align::Auto => "time since start of autonomous, s".to_owned(),
            Align::Teleop => "time since start of teleop, s".to_owned(),
        };
        timeline.title = Some(self.title(views));
        timeline.subtitle = subtitle(views);
        timeline.separate = self.separate;
        timeline.points = self.points;
        timeline.legend = match self.legend {
            LegendValue::Last => Legend::Last,
            LegendValue::Mean => Legend::Mean,
            LegendValue::None => Legend::None,
        };
        let lines = timeline.series.len() + timeline.rows.len();
        Ok((Chart::Timeline(timeline), lines as u64))
    }

    fn track(&self, views: &[View<'_>]) -> Result<(Chart, u64)> {
        let mut track = Track { title: Some(self.title(views)), subtitle: subtitle(views), ..Track::default() };
        track.points = self.points;
        for view in views {
            let mut found = Vec::with_capacity(2);
            for pattern in &self.xy {
                let channels =
                    Channels { include: vec![pattern.clone()], exclude: self.selection.channels.exclude.clone() };
                let mut places = Places { view, names: Vec::new(), unit: None, values: Vec::new() };
                let matched = gather(view.log, &Wanted::new(&channels)?, &mut places)?;
                match places.names.as_slice() {
                    [] if matched == 0 => return Err(channels.nothing().into()),
                    [] => return Err(nothing_to_draw(0).into()),
                    [_] => found.push(places),
                    [first, second, ..] => {
                        let message = format!(
                            "--xy needs one channel per axis, but `{pattern}` matches several: {first}, {second}"
                        );
                        return Err(Complaint::usage(message)
                            .help("use the full name, or exclude the others with -n")
                            .into());
                    }
                }
            }
            let [x, y] = found.as_slice() else { continue };
            track.x_label = x.label();
            track.y_label = y.label();
            let mut path = Route::new(if views.len() > 1 { view.name(views) } else { String::new() });
            join(&x.values, &y.values, &mut path);
            if !path.is_empty() {
                track.paths.push(path);
            }
        }
        if track.paths.is_empty() {
            return Err(nothing_to_draw(2).into());
        }
        let lines = track.paths.len() as u64;
        Ok((Chart::Track(track), lines))
    }

    fn title(&self, views: &[View<'_>]) -> String {
        let names = || views.iter().map(|view| view.name(views)).collect::<Vec<_>>().join(", ");
        self.title.clone().unwrap_or_else(names)
    }
}

/// The visible part of one log.
struct View<'a> {
    log: &'a Log,
    /// The log time drawn as zero.
    zero: Time,
    first: Time,
    last: Time,
}

impl View<'_> {
    fn seconds(&self, time: Time) -> f64 {
        Time::from_nanos(time.since(self.zero)).seconds()
    }

    /// The file name, with its folder if two logs share the name.
    fn name(&self, views: &[Self]) -> String {
        let path = &self.log.path;
        let bare = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let twins = views.iter().filter(|view| view.log.path.file_name() == path.file_name()).count();
        if twins > 1 { shown(path) } else { bare }
    }

    /// The Driver Station modes.
    fn bands(&self) -> Vec<Band> {
        let seen = self.log.modes().iter().filter(|span| span.start < self.last && span.end > self.first);
        let band = |span: &logpose::frc::ModeSpan| Band {
            start: self.seconds(span.start.max(self.first)),
            end: self.seconds(span.end.min(self.last)),
            name: span.mode.name().to_owned(),
            color: match span.mode {
                Mode::Disabled => Color(140, 140, 140),
                Mode::Auto => Color(86, 180, 233),
                Mode::Teleop => Color(0, 158, 115),
                Mode::Test => Color(230, 159, 0),
                Mode::EStop => Color(213, 94, 0),
            },
        };
        seen.map(band).collect()
    }
}

/// The wall-clock time at which the first log starts.
fn subtitle(views: &[View<'_>]) -> Option<String> {
    let view = views.first()?;
    let wall = info::wall(view.first.plus(view.log.epoch_ns()?))?;
    let of = if views.len() > 1 { format!("{}: ", view.name(views)) } else { String::new() };
    Some(format!("{of}{} UTC at {} s", wall.strftime("%Y-%m-%d %H:%M:%S"), about_time(view.first.since(view.zero))))
}

/// Collects the lines and state rows of one log.
struct Lines<'a, 'l> {
    view: &'a View<'l>,
    prefix: String,
    range: (f64, f64),
    width: u32,
    /// Number of lines of the logs before this one.
    before: usize,
    lines: Vec<Line>,
}

enum Line {
    Series(Series),
    Row(Row),
}

impl Taker for Lines<'_, '_> {
    fn meet(&mut self, channel: &Channel, name: &str, value: &Leaf<'_>) -> Result<Option<usize>> {
        if self.before + self.lines.len() >= MOST_LINES {
            return Err(Complaint::failed("too-many", format!("too many lines for one plot (max {MOST_LINES})"))
                .help("select fewer channels with -y, or exclude some with -n")
                .into());
        }
        let shown = format!("{}{name}", self.prefix);
        let trace = || Trace::new(self.range, self.width);
        let series = |step: bool| Series {
            name: shown.clone(),
            channel: name.to_owned(),
            unit: logpose::unit_of(channel, name.get(channel.name.len()..).unwrap_or_default()),
            step,
            trace: trace(),
        };
        self.lines.push(match value {
            Leaf::Number(_) => Line::Series(series(false)),
            Leaf::Integer(_) => Line::Series(series(true)),
            Leaf::Text(_) => Line::Row(Row::new(shown, self.range, self.width)),
        });
        Ok(Some(self.lines.len() - 1))
    }

    fn take(&mut self, place: usize, time: Time, value: Leaf<'_>) {
        let time = self.view.seconds(time);
        match (self.lines.get_mut(place), value) {
            (Some(Line::Series(series)), Leaf::Number(value) | Leaf::Integer(value)) => series.trace.push(time, value),
            (Some(Line::Row(row)), Leaf::Text(text)) => row.push(time, text),
            // A JSON value that changed its type fits neither a line nor a row.
            _ => {}
        }
    }
}

impl Line {
    /// Adds the line to the timeline if any of it is visible.
    fn finish(self, last: f64, timeline: &mut Timeline) {
        match self {
            Self::Series(mut series) => {
                series.trace.hold_until(last);
                if series.trace.range().is_some() {
                    timeline.series.push(series);
                }
            }
            Self::Row(mut row) => {
                row.finish(last);
                if !row.is_empty() {
                    timeline.rows.push(row);
                }
            }
        }
    }
}

/// Collects the values of one leaf.
struct Places<'a, 'l> {
    view: &'a View<'l>,
    names: Vec<String>,
    unit: Option<String>,
    values: Vec<(Time, f64)>,
}

impl Places<'_, '_> {
    fn label(&self) -> String {
        let name = self.names.first().map_or("", String::as_str);
        self.unit.as_ref().map_or_else(|| name.to_owned(), |unit| format!("{name}, {unit}"))
    }
}

impl Taker for Places<'_, '_> {
    fn meet(&mut self, channel: &Channel, name: &str, value: &Leaf<'_>) -> Result<Option<usize>> {
        if matches!(value, Leaf::Text(_)) {
            return Ok(None);
        }
        self.names.push(name.to_owned());
        self.unit = logpose::unit_of(channel, name.get(channel.name.len()..).unwrap_or_default());
        Ok((self.names.len() == 1).then_some(0))
    }

    fn take(&mut self, _: usize, time: Time, value: Leaf<'_>) {
        if let Leaf::Number(value) | Leaf::Integer(value) = value
            && time >= self.view.first
            && time <= self.view.last
        {
            self.values.push((time, value));
        }
    }
}

/// Joins two series into positions: each value holds until the next of its series.
fn join(xs: &[(Time, f64)], ys: &[(Time, f64)], path: &mut Route) {
    let (mut xs, mut ys) = (xs.iter().peekable(), ys.iter().peekable());
    let (mut x, mut y) = (None, None);
    while let Some(now) = [xs.peek(), ys.peek()].into_iter().flatten().map(|(time, _)| *time).min() {
        // x and y of one sample come together, and so do those of one timestamp.
        let next = |series: &mut std::iter::Peekable<std::slice::Iter<'_, (Time, f64)>>, held: &mut Option<f64>| {
            if let Some((_, value)) = series.next_if(|(time, _)| *time == now) {
                *held = Some(*value);
            }
        };
        next(&mut xs, &mut x);
        next(&mut ys, &mut y);
        if let (Some(x), Some(y)) = (x, y) {
            path.push(x, y);
        }
    }
}

fn nothing_to_draw(met: usize) -> Complaint {
    let (message, help) = if met == 0 {
        (
            "the matching channels have no numbers, booleans or text",
            "run `logpose list FILE` to see the types; raw bytes need a schema",
        )
    } else {
        (
            "the matching channels have no samples in the selected time range",
            "run `logpose list FILE` to see the first and last timestamp of each channel",
        )
    };
    Complaint::failed("nothing-to-draw", message).help(help)
}

fn complaint(error: logpose_plot::Error) -> Complaint {
    match error {
        error @ (logpose_plot::Error::TooSmall { .. } | logpose_plot::Error::TooLarge { .. }) => {
            Complaint::usage(error.to_string()).help("choose another --size, or select fewer channels with -y")
        }
        error => Complaint::failed("drawing", error.to_string()),
    }
}

fn default_height(chart: &Chart) -> u32 {
    match chart {
        Chart::Timeline(timeline) => timeline.height(),
        Chart::Track(_) => 800,
    }
}

fn screen_width(screen: &Screen) -> u32 {
    u32::try_from(screen.out.width).unwrap_or(WIDTH)
}

/// Default size in pixels.
const WIDTH: u32 = 1200;
/// Default height in lines if the terminal size is unknown.
const LINES: u32 = 30;
/// More lines than this cannot be distinguished.
const MOST_LINES: usize = 48;
