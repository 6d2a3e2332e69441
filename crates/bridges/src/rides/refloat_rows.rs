use std::collections::VecDeque;
use std::io::Write;

use logpose_core::{
    Channel, ChannelId, EncodeError, Problem, Problems, Sample, Severity, Sink, SinkError, Time, Type, Value,
};
use logpose_refloat::rfrec::{Clock, TICK_RATE};
use logpose_refloat::wire::Footpad;

use super::refloat::{DIALECT, FLAGS, HEAD, adjustment_code};
use crate::decimal;

/// Whether channels, each with its number of samples, are a recording of a board: flags and values, all of them in every
/// sample, and what a file of it keeps besides.
pub fn is_recording<'a>(channels: impl IntoIterator<Item = (&'a Channel, u64)>) -> bool {
    let mut samples = None;
    let mut flags = [false; FLAGS.len()];
    for (channel, count) in channels {
        match Column::of(channel) {
            Some(Column::Beside) => continue,
            Some(Column::Flag(place)) => flags.iter_mut().skip(place).take(1).for_each(|flag| *flag = true),
            Some(Column::Value(_)) if channel.ty() == Type::Float => {}
            _ => return false,
        }
        if *samples.get_or_insert(count) != count {
            return false;
        }
    }
    flags.iter().all(|flag| *flag)
}

/// Writes the CSV of a recording.
///
/// The n-th samples of all channels are one line, however they come. What is no recording is refused with the name of
/// the channel at fault; what a file of the board's own keeps besides samples is left out and reported.
#[derive(Debug)]
pub struct RefloatRows<W> {
    /// The column of each channel.
    columns: Vec<Option<usize>>,
    /// The name of each column and the cells that wait for the other columns, in the order of the file.
    waiting: Vec<(String, VecDeque<(Time, Cell)>)>,
    /// Ticks that were written: the first and the last.
    range: Option<(i64, i64)>,
    index: u64,
    buffer: Vec<u8>,
    out: W,
    /// What was left out.
    pub problems: Problems,
    /// Samples that were taken.
    pub samples: u64,
}

#[derive(Clone, Copy, Debug)]
enum Cell {
    Code(u8),
    Number(f64),
}

/// What a channel is in a recording.
enum Column<'a> {
    /// One of the flags.
    Flag(usize),
    /// A value, by its id.
    Value(&'a str),
    /// Nothing of the samples.
    Beside,
}

impl<'a> Column<'a> {
    fn of(channel: &'a Channel) -> Option<Self> {
        let flag = FLAGS.iter().position(|(name, _)| *name == channel.name);
        if let Some(place) = flag {
            let right = FLAGS.get(place).is_some_and(|(_, type_name)| Type::of(type_name) == channel.ty());
            return right.then_some(Self::Flag(place));
        }
        match channel.name.strip_prefix("/refloat/")? {
            id if id.starts_with("file/") => Some(Self::Beside),
            id if matches!(channel.ty(), Type::Float | Type::Double) && !id.contains('/') => Some(Self::Value(id)),
            _ => None,
        }
    }
}

impl<W: Write> RefloatRows<W> {
    /// Begins the CSV of these channels.
    pub fn new(channels: &[Channel], out: W) -> Result<Self, SinkError> {
        let mut buffer = HEAD.join(",").into_bytes();
        let mut columns = Vec::with_capacity(channels.len());
        let mut waiting: Vec<_> = FLAGS.iter().map(|(name, _)| ((*name).to_owned(), VecDeque::new())).collect();
        let mut beside: Vec<&str> = Vec::new();
        for channel in channels {
            let column = match Column::of(channel) {
                Some(Column::Flag(place)) => Some(place),
                Some(Column::Value(id)) if id.is_empty() || id.contains([',', '"', '\n', '\r']) => {
                    return Err(refused(
                        &channel.name,
                        "has a name that needs quotes, which this format does not support",
                    ));
                }
                Some(Column::Value(_)) if waiting.iter().any(|(name, _)| *name == channel.name) => {
                    return Err(refused(&channel.name, "occurs twice with different types"));
                }
                Some(Column::Value(id)) => {
                    buffer.push(b',');
                    buffer.extend_from_slice(id.as_bytes());
                    waiting.push((channel.name.clone(), VecDeque::new()));
                    Some(waiting.len() - 1)
                }
                Some(Column::Beside) => {
                    beside.push(&channel.name);
                    None
                }
                None => {
                    return Err(refused(
                        &channel.name,
                        "is not part of a recording; exclude it with -n, or use --to csv",
                    ));
                }
            };
            columns.push(column);
        }
        for (place, (name, _)) in FLAGS.iter().enumerate() {
            if !columns.contains(&Some(place)) {
                return Err(refused(name, "is missing, but every sample of a recording needs it"));
            }
        }
        buffer.push(b'\n');
        let mut problems = Problems::default();
        if !beside.is_empty() {
            let message = format!("skipped, because this format cannot represent it: {}", beside.join(", "));
            problems.push(Problem::general(Severity::Warning, "left-out", message));
        }
        Ok(Self { columns, waiting, range: None, index: 0, buffer, out, problems, samples: 0 })
    }

    /// Writes the last lines. What has more samples than others is refused.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        if let Some((name, cells)) = self.waiting.iter().find(|(_, cells)| !cells.is_empty()) {
            let message = format!("has {} more samples than other channels, so this is not a recording", cells.len());
            return Err(refused(name, &message));
        }
        Ok(self.flush()?)
    }

    /// What the lines were written to.
    pub fn into_out(self) -> W {
        self.out
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the lines that are whole.
    fn lines(&mut self) -> Result<(), SinkError> {
        while self.waiting.iter().all(|(_, cells)| !cells.is_empty()) {
            let time = self.waiting.first().and_then(|(_, cells)| cells.front()).map_or(Time::ZERO, |(time, _)| *time);
            let other = self.waiting.iter().find(|(_, cells)| cells.front().is_some_and(|(other, _)| *other != time));
            if let Some((name, cells)) = other {
                let other = cells.front().map_or(Time::ZERO, |(other, _)| *other);
                let message = format!("has sample {} at {other} s, other channels have it at {time} s", self.index);
                return Err(refused(name, &message));
            }
            self.head(time)?;
            for (_, cells) in &mut self.waiting {
                self.buffer.push(b',');
                match cells.pop_front() {
                    Some((_, Cell::Number(number))) => decimal::push(number, &mut self.buffer),
                    Some((_, Cell::Code(code))) => write!(self.buffer, "{code}")?,
                    None => {}
                }
            }
            self.buffer.push(b'\n');
            self.index += 1;
        }
        if self.buffer.len() >= FLUSH { Ok(self.flush()?) } else { Ok(()) }
    }

    /// Begins a line: what comes in front of the flags.
    fn head(&mut self, time: Time) -> Result<(), SinkError> {
        let at = |wrong: &str| Err(refused(FLAGS[0].0, &format!("sample {} at {time} s {wrong}", self.index)));
        let Some(tick) = Clock::new(TICK_RATE).line(time) else { return at("is not a multiple of the 100 µs tick") };
        let (first, last) = self.range.unwrap_or((tick, tick));
        if self.range.is_none() && u32::try_from(tick).is_err() {
            return at("is out of range for a first timestamp, which is a 32-bit tick");
        }
        if i32::try_from(tick - last).is_err() {
            return at("is days after the sample before it, which 32-bit ticks cannot represent");
        }
        self.range = Some((first, tick));
        let (since, rate) = (tick - first, i64::from(TICK_RATE));
        let sign = if since < 0 { "-" } else { "" };
        let (whole, rest) = (since.abs() / rate, since.abs() % rate);
        write!(self.buffer, "{},{},{sign}{whole}.{rest:04}", self.index, tick.rem_euclid(1 << 32))?;
        Ok(())
    }
}

impl<W: Write> Sink for RefloatRows<W> {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let Some(Some(place)) = self.columns.get(sample.channel as usize) else { continue };
            let Some((name, cells)) = self.waiting.get_mut(*place) else { continue };
            let Some(cell) = Cell::of(&sample.value, *place) else {
                let message = format!("has a value at {} s that a board cannot record", sample.time);
                return Err(refused(name, &message));
            };
            cells.push_back((sample.time, cell));
        }
        self.samples += samples.len() as u64;
        self.lines()
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

impl Cell {
    /// The cell of a value in the column at a place.
    fn of(value: &Value<'_>, place: usize) -> Option<Self> {
        Some(match (place, *value) {
            (0 | 1, Value::Boolean(flag)) => Self::Code(flag.into()),
            (2, Value::String(text)) => Self::Code(Footpad::from_name(str::from_utf8(text).ok()?)?.bits()),
            (3, Value::String(text)) => Self::Code(adjustment_code(text)?),
            (_, Value::Float(number)) if number.is_finite() => Self::Number(number.into()),
            // What reads it back has 32 bits, which hold every number of a board.
            #[expect(clippy::cast_possible_truncation, reason = "that nothing is lost is what is asked")]
            (_, Value::Double(number)) if number.is_finite() && f64::from(number as f32) == number => {
                Self::Number(number)
            }
            _ => return None,
        })
    }
}

fn refused(channel: &str, message: &str) -> SinkError {
    EncodeError::new(DIALECT, channel, message).into()
}

/// Bytes that are held back before they are written.
const FLUSH: usize = 256 << 10;
