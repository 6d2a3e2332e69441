use std::collections::HashMap;
use std::ops::ControlFlow;

use logpose::frc::{Level, has_messages, is_report, message, repeated};
use logpose_core::Time;
use regex::{Regex, RegexBuilder};

use crate::Viewer;
use crate::api;
use crate::cancel::CancelToken;
use crate::error::RequestError;
use crate::reference::Series;
use crate::session::Session;
use crate::table::checked;
use crate::values::line;

impl Viewer {
    /// Messages that programs and driver stations printed, by time.
    pub fn console(&self, query: &api::ConsoleQuery, stop: &CancelToken) -> Result<api::Console, RequestError> {
        let limit = checked(query.limit)?;
        let wanted = Wanted::of(query)?;
        let series = match &query.series {
            Some(series) => Series::find_all(&self.session(), series)?,
            None => known(&self.session()),
        };
        let (mut rows, mut more) = (Vec::new(), false);
        for one in &series {
            rows.extend(lines(one, query, &wanted, limit, stop)?);
            rows.sort_by_key(|(time, _)| *time);
            // Not more is kept than is asked for, however many series there are.
            let over = rows.len().saturating_sub(limit);
            more |= over > 0;
            if query.backward { drop(rows.drain(..over)) } else { rows.truncate(limit) }
        }
        // DataLogManager writes what it logs to two channels.
        rows.dedup_by(|(later, b), (earlier, a)| {
            a.log == b.log && a.text == b.text && a.source != b.source && later.since(*earlier) < TOGETHER_NS
        });
        let mut rows: Vec<api::ConsoleRow> = rows.into_iter().map(|(_, row)| row).collect();
        leave_out_repeated(&mut rows);
        Ok(api::Console { rows, more })
    }
}

/// Leaves out what a program printed of the errors that it sent to the station: their message and the lines of their stack.
fn leave_out_repeated(rows: &mut Vec<api::ConsoleRow>) {
    let mut sent: HashMap<(usize, String), Vec<f64>> = HashMap::new();
    for row in rows.iter().filter(|row| is_report(&row.source)) {
        for line in row.text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            sent.entry((row.log, line.to_owned())).or_default().push(row.time);
        }
    }
    if sent.is_empty() {
        return;
    }
    rows.retain(|row| {
        let line = row.text.trim();
        let line = repeated(line).unwrap_or_else(|| line.to_owned());
        let times = if is_report(&row.source) { None } else { sent.get(&(row.log, line)) };
        // Times are in order.
        times.is_none_or(|times| {
            let near = times.partition_point(|time| *time <= row.time - PRINTED_S);
            times.get(near).is_none_or(|time| *time >= row.time + PRINTED_S)
        })
    });
}

/// The channels of all logs that are known to hold messages.
fn known(session: &Session) -> Vec<Series> {
    let mut found = Vec::new();
    for (log, member) in session.open() {
        let catalog = member.store.catalog();
        for (channel, _) in (0..).zip(&catalog.channels).filter(|(_, entry)| has_messages(&entry.channel.name)) {
            let reference = api::Reference { log, channel, path: None };
            found.extend(Series::find(session, &reference));
        }
    }
    found
}

/// What of it all is wanted.
struct Wanted {
    levels: Option<Vec<String>>,
    include: Option<Regex>,
    exclude: Option<Regex>,
}

impl Wanted {
    fn of(query: &api::ConsoleQuery) -> Result<Self, RequestError> {
        const LEVELS: [Level; 3] = [Level::Info, Level::Warning, Level::Error];
        let odd = query.levels.iter().flatten().find(|level| !LEVELS.iter().any(|known| known.name() == **level));
        if let Some(odd) = odd {
            return Err(RequestError::invalid("invalid-level", format!("unknown level {odd:?}"))
                .with_help("expected info, warning or error"));
        }
        let pattern = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(pattern).transpose();
        let (include, exclude) = (pattern(&query.include)?, pattern(&query.exclude)?);
        Ok(Self { levels: query.levels.clone(), include, exclude })
    }

    fn admits(&self, level: Level, text: &str) -> bool {
        self.levels.as_ref().is_none_or(|levels| levels.iter().any(|wanted| wanted == level.name()))
            && self.include.as_ref().is_none_or(|include| include.is_match(text))
            && !self.exclude.as_ref().is_some_and(|exclude| exclude.is_match(text))
    }
}

/// A text that is sought, or a regular expression between slashes.
fn pattern(text: &str) -> Result<Regex, RequestError> {
    let expression = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|inner| !inner.is_empty());
    let escaped;
    let source = match expression {
        Some(expression) => expression,
        None => {
            escaped = regex::escape(text);
            &escaped
        }
    };
    RegexBuilder::new(source).case_insensitive(true).size_limit(1 << 20).dfa_size_limit(1 << 20).build().map_err(
        |error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            RequestError::invalid("invalid-pattern", format!("invalid regular expression {text:?}: {why}"))
                .with_help("omit the slashes to search for literal text")
        },
    )
}

/// The wanted messages of one series, at most one more than the limit: by their times on the clock of the session.
fn lines(
    one: &Series,
    query: &api::ConsoleQuery,
    wanted: &Wanted,
    limit: usize,
    stop: &CancelToken,
) -> Result<Vec<(Time, api::ConsoleRow)>, RequestError> {
    let Some(channel) = one.channel() else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    let mut take = |time: Time, value: &logpose_core::Value<'_>| {
        let told = if one.steps.is_empty() { message(&channel.name, value) } else { None };
        let told =
            told.or_else(|| Some((Level::Info, line(&one.catalog.schemas, channel, value, &one.steps, LONGEST)?)));
        if let Some((level, text)) = told.filter(|(level, text)| wanted.admits(*level, text)) {
            let row = api::ConsoleRow {
                time: one.clock.seconds(time),
                log: one.log,
                level: level.into(),
                text: text.trim_end().chars().take(LONGEST).collect(),
                source: channel.name.clone(),
            };
            rows.push((one.clock.map.at(time), row));
        }
        if rows.len() > limit || stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    if query.backward {
        let before = query.from.map_or(Time::MAX, |from| one.clock.time(from));
        one.store.read_back(one.channel, before, &mut take)?;
        rows.reverse();
    } else {
        let from = query.from.map_or(Time::MIN, |from| one.clock.time(from));
        let end = query.end.map_or(Time::MAX, |end| one.clock.time(end));
        if from <= end {
            one.store.read(one.channel, from, end, &mut take)?;
        }
    }
    if stop.is_cancelled() { Err(RequestError::cancelled()) } else { Ok(rows) }
}

/// The same text from two channels within this time is one message.
const TOGETHER_NS: i64 = 20_000_000;
/// What was sent to the station and what was printed of it are at most so far apart, in seconds.
const PRINTED_S: f64 = 1.0;
/// Characters of a message.
const LONGEST: usize = 10_000;
