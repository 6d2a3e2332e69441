//! The CSV of a Refloat recording, as section 14.2 of the specification has it.
//!
//! `index,time_ticks,time_s,running,wheelslip,footpad,sat,` and the ids of the values, then a line for each sample. The
//! flags are numbers, as the board has them; words are read too.

use std::borrow::Cow;
use std::sync::LazyLock;

use logpose_core::{
    Channel, ChannelId, Confidence, DecodeError, Problems, ReadOptions, Severity, Sink, StreamError, Time, Value,
};
use logpose_refloat::rfrec::{Clock, TICK_RATE};
use logpose_refloat::wire::{Adjustment, Flags, Footpad};
use logpose_refloat::{float16, items};

use super::table::{Row, Table, shown};
use crate::Header;
use crate::decimal::{moment, number};
use crate::inferred::Rows;

/// The columns in front of the values.
pub(super) const HEAD: [&str; 7] = ["index", "time_ticks", "time_s", "running", "wheelslip", "footpad", "sat"];
/// The channels that every recording has besides its values.
pub(super) const FLAGS: [(&str, &str); 4] = [
    ("/refloat/running", "boolean"),
    ("/refloat/wheelslip", "boolean"),
    ("/refloat/footpad", "string"),
    ("/refloat/adjustment", "string"),
];

/// Whether bytes from the front of a file look like a recording's columns.
pub(crate) fn sniff(head: &[u8]) -> Confidence {
    match Table::new(head, b',', false).names() {
        Some(names) if names.starts_with(&HEAD) => Confidence::Yes,
        _ => Confidence::No,
    }
}

/// Pushes the samples of a recording.
pub(crate) fn read(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    let table = Table::new(file, b',', false);
    let names = table.names().unwrap_or_default();
    let Some(ids) = names.strip_prefix(&HEAD) else {
        let message = format!("line 1: expected the columns to start with {}", HEAD.join(","));
        return Err(error("no-columns", 0, message).into());
    };
    if ids.len() > read.limits.channels as usize {
        let message = format!("line 1: {} values, the limit is {}", ids.len(), read.limits.channels);
        return Err(error("too-many-channels", 0, message).into());
    }
    let mut channels: Vec<Channel> = ids.iter().map(|id| items::channel(id)).collect();
    channels.extend(FLAGS.map(|(name, type_name)| Channel::new(name, type_name)));
    let mut names: Vec<&str> = channels.iter().map(|channel| channel.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair.first() == pair.last()).and_then(<[&str]>::first) {
        return Err(error("same-name", 0, format!("line 1: duplicate column {twice}")).into());
    }
    if ids.contains(&"") {
        return Err(error("no-name", 0, "line 1: a column has no name".to_owned()).into());
    }
    let mut out = Rows::new(sink, &channels)?;
    let mut reader = Reader { clock: Clock::new(TICK_RATE), last: None };
    let mut bad = Problems::default();
    let (mut rows, mut values) = (0_u64, Vec::with_capacity(ids.len()));
    table.body(HEAD.len() + ids.len(), &mut bad, |row, bad| {
        let record = match parse(row, ids, &mut values) {
            Ok(record) => record,
            Err(message) => {
                row.skip(&message, bad);
                return Ok(());
            }
        };
        rows += 1;
        let time = reader.at(row, &record, bad);
        for ((id, value), name) in (0..).zip(&values).zip(ids) {
            if f64::from(float16::decode(float16::encode(*value))).to_bits() != f64::from(*value).to_bits() {
                let message = format!("{name}: {value} is not a value that a board can record");
                row.note(Severity::Warning, "not-float16", &message, bad);
            }
            out.value(id, time, &Value::Float(*value))?;
        }
        let adjustment = record.flags.adjustment().name();
        let flags = [
            Value::Boolean(record.flags.running()),
            Value::Boolean(record.flags.wheelslip()),
            Value::String(record.flags.footpad().name().as_bytes()),
            Value::String(adjustment.as_bytes()),
        ];
        let flags_from = ChannelId::try_from(ids.len()).unwrap_or(ChannelId::MAX);
        (flags_from..).zip(&flags).try_for_each(|(id, value)| out.value(id, time, value))?;
        Ok(())
    })?;
    out.flush()?;
    if let (0, Some(first)) = (rows, bad.list().first()) {
        return Err(error("no-rows", first.at.unwrap_or(0), first.message.clone()).into());
    }
    problems.append(bad);
    Ok(Header { origin: DIALECT.to_owned(), channels, ..Header::default() })
}

/// What stands in front of the values of a line.
struct Record {
    index: u64,
    tick: u32,
    /// Since the first sample.
    seconds: Time,
    flags: Flags,
}

/// A line; the sentence says what is wrong with it.
fn parse(row: &Row<'_>, ids: &[&str], values: &mut Vec<f32>) -> Result<Record, String> {
    let [index, tick, seconds, running, wheelslip, footpad, adjustment] =
        std::array::from_fn(|place| str::from_utf8(row.cell(place)).unwrap_or_default());
    let bad = |name: &str, cell: &str, what: &str| format!("{name}: {} is not a {what}", shown(cell.as_bytes()));
    let code = |name: &str, cell: &str, word: &dyn Fn(&str) -> Option<u8>, most: u8| {
        let number = cell.parse().ok().filter(|code| *code <= most);
        number.or_else(|| word(cell)).ok_or_else(|| bad(name, cell, &format!("number up to {most} or a known word")))
    };
    let truth = |cell: &str| match cell {
        "true" => Some(1),
        "false" => Some(0),
        _ => None,
    };
    let pad = |word: &str| Footpad::from_name(word).map(Footpad::bits);
    let flags = Flags::new(
        code("running", running, &truth, 1)? != 0,
        code("wheelslip", wheelslip, &truth, 1)? != 0,
        Footpad::from_bits(code("footpad", footpad, &pad, 3)?),
        Adjustment(code("sat", adjustment, &|word| adjustment_code(word.as_bytes()), 15)?),
    );
    values.clear();
    for (id, cell) in ids.iter().zip(row.cells().skip(HEAD.len())) {
        #[expect(clippy::cast_possible_truncation, reason = "the caller reports rounding")]
        let value = number(cell, 0).map(|value| value as f32).filter(|value| value.is_finite());
        values.push(value.ok_or_else(|| format!("{id}: {} is not a 32-bit number", shown(cell)))?);
    }
    Ok(Record {
        index: index.parse().map_err(|_| bad("index", index, "index"))?,
        tick: tick.parse().map_err(|_| bad("time_ticks", tick, "32-bit tick"))?,
        seconds: moment(seconds.as_bytes(), 9).ok_or_else(|| bad("time_s", seconds, "time"))?,
        flags,
    })
}

/// The times of the samples, from one to the next.
struct Reader {
    clock: Clock,
    /// The time of the first sample, and the index and the tick of the last.
    last: Option<(Time, u64, u32)>,
}

impl Reader {
    /// The time of a sample: ticks since boot, which go on where 32 bits end.
    fn at(&mut self, row: &Row<'_>, record: &Record, problems: &mut Problems) -> Time {
        let (time, back) = self.clock.next(record.tick);
        let Some((first, index, tick)) = self.last else {
            self.last = Some((time, record.index, record.tick));
            return time;
        };
        if back {
            let message = format!("time_ticks goes backwards from {tick} to {}", record.tick);
            row.note(Severity::Warning, "time-step-back", &message, problems);
        }
        if record.index != index.wrapping_add(1) {
            let message = format!("index {} follows {index}", record.index);
            row.note(Severity::Warning, "index-gap", &message, problems);
        }
        let since = Time::from_nanos(time.since(first));
        if record.seconds.since(since).unsigned_abs() >= TICK {
            let message = format!("time_s is {} but the ticks give {since}; using the ticks", record.seconds);
            row.note(Severity::Warning, "time-differs", &message, problems);
        }
        self.last = Some((first, record.index, record.tick));
        time
    }
}

/// The number of an adjustment that has this word.
pub(super) fn adjustment_code(word: &[u8]) -> Option<u8> {
    static WORDS: LazyLock<Vec<(u8, Cow<'static, str>)>> =
        LazyLock::new(|| (0..16).map(|code| (code, Adjustment(code).name())).collect());
    WORDS.iter().find(|(_, known)| known.as_bytes() == word).map(|(code, _)| *code)
}

fn error(code: &'static str, at: u64, message: String) -> DecodeError {
    DecodeError { dialect: DIALECT, code, at, message, help: None }
}

pub(super) const DIALECT: &str = "refloat-csv";
/// Nanoseconds of a tick.
const TICK: u64 = 100_000;
