//! CSV: rows `time,channel,value` as logpose writes them, and tables whose first column is a time.

use std::collections::HashMap;

use csv::{ByteRecord, ReaderBuilder};
use logpose_core::{
    Channel, ChannelId, Confidence, DecodeError, Problem, Problems, ReadOptions, Severity, Sink, StreamError, Time,
};

use crate::Header;
use crate::decimal::moment;
use crate::inferred::{Guess, Rows};

/// Whether bytes from the front of a file look like a table with a time in front.
#[must_use]
pub fn sniff(head: &[u8]) -> Confidence {
    match Table::of(head) {
        Some(_) => Confidence::Perhaps,
        None => Confidence::No,
    }
}

/// Reads a table. Types are those that all values of a channel can be read as; cells without text are no values,
/// except in rows of `time,channel,value`.
pub fn read(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    if let Some(at) = long_line(file) {
        let message = format!("a line has more than {} MiB; a table has a row on each line", LONGEST_LINE >> 20);
        return Err(error("long-line", at, message).into());
    }
    let Some(table) = Table::of(file) else {
        let message = "expected a header row whose first column is a timestamp such as `time` or `t_ms`";
        return Err(error("no-time-column", 0, message.to_owned()).into());
    };
    let mut channels = table.channels()?;
    let mut bad = Problems::default();
    let mut guesses: Vec<Guess> = vec![Guess::Nothing; channels.len()];
    let most = read.limits.channels as usize;
    let mut full = false;
    let mut by_name: HashMap<Vec<u8>, ChannelId> = HashMap::new();
    let rows = table.rows(&mut bad, |_, name, cell, column| {
        let place = match name {
            None => column,
            Some(name) => match by_name.get(name) {
                Some(id) => *id as usize,
                None if channels.len() >= most => {
                    full = true;
                    return Ok(());
                }
                None => {
                    let id = ChannelId::try_from(channels.len()).unwrap_or(ChannelId::MAX);
                    by_name.insert(name.to_vec(), id);
                    channels.push(Channel::new(String::from_utf8_lossy(name), ""));
                    guesses.push(Guess::Nothing);
                    id as usize
                }
            },
        };
        if let Some(guess) = guesses.get_mut(place).filter(|guess| **guess != Guess::Text) {
            *guess = guess.and(Guess::of_cell(cell), Guess::Text);
        }
        Ok(())
    })?;
    if full {
        let message = format!("more than {most} channels; skipped the others");
        problems.push(Problem::general(Severity::Damage, "too-many-channels", message));
    }
    if let (0, Some(first)) = (rows, bad.list().first()) {
        return Err(error("no-rows", first.at.unwrap_or(0), first.message.clone()).into());
    }
    problems.append(bad);
    for (channel, guess) in channels.iter_mut().zip(&guesses) {
        channel.type_name = guess.type_name().to_owned();
    }
    let mut out = Rows::new(sink, &channels)?;
    table.rows(&mut Problems::default(), |time, name, cell, column| {
        let id = match name {
            None => ChannelId::try_from(column).ok(),
            Some(name) => by_name.get(name).copied(),
        };
        id.map_or(Ok(()), |id| out.cell(id, time, cell)).map_err(StreamError::from)
    })?;
    out.flush()?;
    Ok(Header { origin: "csv".to_owned(), channels, ..Header::default() })
}

/// What the first line says about a file.
struct Table<'a> {
    body: &'a [u8],
    /// Bytes in front of the body.
    start: u64,
    delimiter: u8,
    /// Decimal places from the unit of the times to nanoseconds.
    places: u32,
    /// Whether rows are `time,channel,value`.
    long: bool,
}

impl<'a> Table<'a> {
    fn of(file: &'a [u8]) -> Option<Self> {
        let body = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        let start = (file.len() - body.len()) as u64;
        let line = body.get(..LONGEST_HEADER).unwrap_or(body).split(|byte| *byte == b'\n').next()?;
        if str::from_utf8(line).is_err() || line.iter().any(|byte| byte.is_ascii_control() && !b"\t\r".contains(byte)) {
            return None;
        }
        let count = |delimiter: &u8| line.iter().filter(|byte| *byte == delimiter).count();
        let delimiter = *b";\t,".iter().max_by_key(|delimiter| count(delimiter))?;
        let mut names = ByteRecord::new();
        let mut reader = ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(line);
        reader.read_byte_record(&mut names).ok().filter(|found| *found)?;
        let is =
            |place: usize, word: &str| names.get(place).is_some_and(|name| name.eq_ignore_ascii_case(word.as_bytes()));
        let places = unit(str::from_utf8(names.get(0)?).ok()?)?;
        let long = names.len() == 3 && is(1, "channel") && is(2, "value");
        (names.len() >= 2).then_some(Self { body, start, delimiter, places, long })
    }

    /// The channels that columns are; none where rows name them.
    fn channels(&self) -> Result<Vec<Channel>, DecodeError> {
        if self.long {
            return Ok(Vec::new());
        }
        let mut names = ByteRecord::new();
        let read = self.reader().read_byte_record(&mut names);
        read.map_err(|problem| error("bad-header", 0, format!("line 1: {problem}")))?;
        let mut seen: HashMap<String, usize> = HashMap::new();
        let name = |(place, name): (usize, &[u8])| {
            let name = match String::from_utf8_lossy(name.trim_ascii()) {
                name if name.is_empty() => format!("column {}", place + 2),
                name => name.into_owned(),
            };
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            Channel::new(if *count > 1 { format!("{name} ({count})") } else { name }, "")
        };
        Ok(names.iter().skip(1).enumerate().map(name).collect())
    }

    /// Gives every value to `take`: its time, the name of its channel where rows name them, the cell and its column.
    /// Returns how many rows there were.
    fn rows(
        &self,
        problems: &mut Problems,
        mut take: impl FnMut(Time, Option<&[u8]>, &[u8], usize) -> Result<(), StreamError>,
    ) -> Result<u64, StreamError> {
        let mut reader = self.reader();
        let mut row = ByteRecord::new();
        let mut count = 0;
        let mut width = 0;
        // Reading from memory fails in no way.
        while let Ok(true) = reader.read_byte_record(&mut row) {
            if width == 0 {
                width = row.len();
                continue;
            }
            let (line, at) = row.position().map_or((0, 0), |position| (position.line(), position.byte()));
            let mut bad = |message: String| {
                let length = reader.position().byte() - at;
                let message = format!("line {line}: {message}; skipped the row");
                problems.push(Problem::new(Severity::Damage, "bad-row", self.start + at, length, message));
            };
            let text = row.get(0).unwrap_or_default().trim_ascii();
            let Some(time) = moment(text, self.places) else {
                let start = String::from_utf8_lossy(text.get(..SHOWN).unwrap_or(text));
                bad(format!("{start:?} is not a timestamp"));
                continue;
            };
            if row.len() > width || (self.long && row.len() < width) {
                bad(format!("expected {width} cells as in the first line, found {}", row.len()));
                continue;
            }
            count += 1;
            if self.long {
                take(time, row.get(1), row.get(2).unwrap_or_default(), 0)?;
                continue;
            }
            for (column, cell) in row.iter().skip(1).enumerate().filter(|(_, cell)| !cell.is_empty()) {
                take(time, None, cell, column)?;
            }
        }
        Ok(count)
    }

    fn reader(&self) -> csv::Reader<&'a [u8]> {
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(self.delimiter).from_reader(self.body)
    }
}

/// The decimal places from the unit in a column's name to nanoseconds; `None` if it is not called a time.
fn unit(name: &str) -> Option<u32> {
    let name = name.trim().to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let places = |word: &str| match word {
        "s" | "sec" | "secs" | "second" | "seconds" => Some(9),
        "ms" | "msec" | "millis" | "milliseconds" => Some(6),
        "us" | "µs" | "μs" | "usec" | "micros" | "microseconds" => Some(3),
        "ns" | "nsec" | "nanos" | "nanoseconds" => Some(0),
        _ => None,
    };
    match (words.next()?, words.next(), words.next()) {
        ("time" | "timestamp" | "t", None, None) => Some(9),
        ("time" | "timestamp" | "t", Some(unit), None) => places(unit),
        ("seconds" | "milliseconds" | "microseconds" | "nanoseconds", None, None) => places(&name),
        _ => None,
    }
}

fn error(code: &'static str, at: u64, message: String) -> DecodeError {
    DecodeError { dialect: "csv", code, at, message, help: None }
}

/// How long the first line may be.
const LONGEST_HEADER: usize = 1 << 20;

/// Where a line begins that is longer than any row: rows are held in memory, and files can be all zeros.
fn long_line(file: &[u8]) -> Option<u64> {
    // In front of the end of a line of twice the length there is a piece without one.
    let pieces = file.chunks_exact(LONGEST_LINE).zip(0_u64..);
    let mut long = pieces.filter(|(piece, _)| !piece.contains(&b'\n'));
    long.next().map(|(_, number)| number * LONGEST_LINE as u64)
}

const LONGEST_LINE: usize = 16 << 20;
/// Bytes of a cell that are shown in a message.
const SHOWN: usize = 60;

#[cfg(test)]
mod tests {
    use super::unit;

    #[test]
    fn only_times_are_called_times() {
        for (name, places) in [
            ("time", Some(9)),
            ("Timestamp", Some(9)),
            ("t", Some(9)),
            ("time_ns", Some(0)),
            ("Time (ms)", Some(6)),
            ("timestamp [us]", Some(3)),
            ("seconds", Some(9)),
            ("timezone", None),
            ("time of day", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(unit(name), places, "{name}");
        }
    }
}
