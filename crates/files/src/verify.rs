//! Reads a result back and compares it with what it was made from.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use logpose_bridges::VescRows;
use logpose_core::{Channel, ChannelId, Columns, Problem, Sample, Severity, Sink, SinkError, Time, Type, Value};
use logpose_schema::json;

use crate::convert::Job;
use crate::feed::Wanted;
use crate::moment::nanos;
use crate::show::Painter;
use crate::wide::WideRows;
use crate::{Error, ErrorKind, Formats, Log, OpenOptions, Order, Quiet, Schemas, Wide, Wrapper};

/// A log against a log: channel by channel, so that no more than one is in memory. A channel that `left_out` names may
/// be missing.
pub(crate) fn log(job: &Job<'_>, path: &Path, left_out: fn(&Channel) -> bool) -> Result<(), Error> {
    let feed = job.feed;
    let result = read_back(job, path)?;
    // What was wrong with the inputs may be kept as it was.
    let known = |code: &str| feed.logs().iter().any(|log| log.problems.kinds().iter().any(|(kind, ..)| *kind == code));
    let new = |problem: &&Problem| problem.severity == Severity::Damage && !known(problem.code);
    if let Some(problem) = result.problems.list().iter().find(new) {
        return Err(differs(format!("the result is damaged: {problem}")));
    }
    let mut sources: HashMap<ChannelId, Vec<Wanted<'_>>> = HashMap::new();
    for wanted in feed.wanted() {
        let Some(channel) = feed.channels().get(wanted.id as usize) else { continue };
        match counterpart(&result, channel) {
            Some(target) => sources.entry(target).or_default().push(wanted),
            None if left_out(channel) => {}
            // Some formats name a channel only with its first value.
            None if gather(&[wanted])?.iter().all(|part| part.samples().is_empty()) => {}
            None => return Err(differs(format!("channel {:?} ({}) is missing", channel.name, channel.type_name))),
        }
    }
    for (id, found) in (0..).zip(&result.index.channels) {
        let parts = gather(sources.get(&id).map_or(&[][..], |parts| parts))?;
        let mut wanted: Vec<(Time, Value<'_>)> = parts.iter().flat_map(GatheredChannel::samples).collect();
        if job.order == Order::Time {
            wanted.sort_by_key(|(time, _)| *time);
        }
        let columns = result.columns(&[id])?;
        let mut got: Vec<_> = columns.columns.iter().flat_map(|column| columns.samples(column)).collect();
        // Times that a format cannot distinguish stay in the order in which they were written.
        wanted.sort_by_key(|(time, _)| time.micros());
        got.sort_by_key(|(time, _)| time.micros());
        compare(&found.channel, &wanted, &got)?;
    }
    Ok(())
}

fn compare(channel: &Channel, wanted: &[(Time, Value<'_>)], got: &[(Time, Value<'_>)]) -> Result<(), Error> {
    let schemas = Schemas::default();
    for ((time, value), (got_time, got_value)) in wanted.iter().zip(got) {
        if time.since(*got_time).unsigned_abs() >= 1000 {
            return Err(differs(format!("{:?} has a sample at {got_time} s instead of {time} s", channel.name)));
        }
        if !same(value, got_value) {
            let (value, got_value) = (schemas.show(channel, value), schemas.show(channel, got_value));
            return Err(differs(format!("{:?} at {time} s is {got_value} instead of {value}", channel.name)));
        }
    }
    if wanted.len() == got.len() {
        return Ok(());
    }
    Err(differs(format!("{:?} has {} samples instead of {}", channel.name, got.len(), wanted.len())))
}

/// Whether a value came through, also where RLOG R1 has only the wider type, and the table of a recording the narrower.
fn same(value: &Value<'_>, got: &Value<'_>) -> bool {
    let wider = |a: f32, b: f64| f64::from(a).to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    match (value, got) {
        (Value::Float(a), Value::Double(b)) | (Value::Double(b), Value::Float(a)) => wider(*a, *b),
        (Value::FloatArray(a), Value::DoubleArray(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| wider(a, b))
        }
        (Value::String(a), Value::Bytes(b)) => a == b,
        (Value::BooleanArray(a), Value::BooleanArray(b)) => a.iter().map(|b| *b != 0).eq(b.iter().map(|b| *b != 0)),
        _ => value.same(got),
    }
}

/// The result's channel for one of the input: the same name and type, or the same name and what the type becomes.
fn counterpart(result: &Log, channel: &Channel) -> Option<ChannelId> {
    let named = || (0..).zip(&result.index.channels).filter(|(_, c)| c.channel.name == channel.name);
    let exact = named().find(|(_, c)| c.channel.type_name == channel.type_name);
    let ty = match channel.ty() {
        Type::Float => Type::Double,
        Type::FloatArray => Type::DoubleArray,
        ty => ty,
    };
    let held = || named().find(|(_, c)| c.channel.ty() == ty);
    // The table of a recording has only numbers that 32 bits hold.
    let narrow = || named().find(|(_, c)| ty == Type::Double && c.channel.ty() == Type::Float);
    let bytes = || named().find(|(_, c)| ty == Type::String && c.channel.ty() == Type::Bytes);
    exact.or_else(held).or_else(narrow).or_else(bytes).map(|(id, _)| id)
}

/// The samples of one channel of one input.
struct GatheredChannel<'a> {
    columns: Columns,
    wanted: Wanted<'a>,
}

impl GatheredChannel<'_> {
    fn samples(&self) -> Vec<(Time, Value<'_>)> {
        let all = self.columns.columns.iter().flat_map(|column| self.columns.samples(column));
        let Wanted { own, lookup, clock, .. } = self.wanted;
        all.filter_map(|(time, value)| Some((clock.at(lookup.admits(own, time)?), value))).collect()
    }
}

fn gather<'a>(sources: &[Wanted<'a>]) -> Result<Vec<GatheredChannel<'a>>, Error> {
    sources
        .iter()
        .map(|wanted| Ok(GatheredChannel { columns: wanted.log.columns(&[wanted.own])?, wanted: *wanted }))
        .collect()
}

/// A source of rows that were written.
trait WrittenRows {
    /// Checks the next row; an error says how it differs.
    fn check(&mut self, name: &str, painter: &mut Painter, sample: &Sample<'_>) -> io::Result<()>;
    /// Whether there are more.
    fn more(&mut self) -> io::Result<bool>;
}

/// The result as a log.
fn read_back(job: &Job<'_>, path: &Path) -> Result<Log, Error> {
    let from = Some(job.format.name().to_owned());
    let options = OpenOptions { from, formats: Formats::only(job.format), ..OpenOptions::default() };
    Log::open_with(path, &options, &Quiet)
}

/// Rows of CSV against the values that they should have.
pub(crate) fn csv(job: &Job<'_>, path: &Path) -> Result<(), Error> {
    match job.options.wide {
        Some(wide_options) => wide(job, path, wide_options),
        None => rows(job, CsvRows::open(path)?),
    }
}

/// Lines of NDJSON against the values that they should have.
pub(crate) fn ndjson(job: &Job<'_>, path: &Path) -> Result<(), Error> {
    rows(job, NdjsonRows::open(path)?)
}

fn rows(job: &Job<'_>, rows: impl WrittenRows) -> Result<(), Error> {
    let mut check = CheckRows { schemas: job.feed.schemas(), raw: job.options.raw_values, lanes: Vec::new(), rows };
    job.feed.run(job.order, &mut check).map_err(|error| differs(error.to_string()))?;
    match check.rows.more() {
        Ok(false) => Ok(()),
        Ok(true) => Err(differs("more rows than samples".to_owned())),
        Err(error) => Err(differs(error.to_string())),
    }
}

struct CheckRows<'a, R> {
    schemas: &'a Schemas,
    raw: bool,
    lanes: Vec<Option<(String, Painter)>>,
    rows: R,
}

impl<R: WrittenRows> Sink for CheckRows<'_, R> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        if self.lanes.len() <= id as usize {
            self.lanes.resize_with(id as usize + 1, || None);
        }
        if let Some(lane) = self.lanes.get_mut(id as usize) {
            *lane = Some((channel.name.clone(), self.schemas.painter(channel, self.raw)));
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            if let Some(Some((name, painter))) = self.lanes.get_mut(sample.channel as usize) {
                self.rows.check(name, painter, sample)?;
            }
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `FileDialect::index` has reported the problems of the log.
    }
}

struct CsvRows {
    reader: csv::Reader<Box<dyn Read>>,
    record: csv::ByteRecord,
    wanted: Vec<u8>,
}

impl CsvRows {
    fn open(path: &Path) -> Result<Self, Error> {
        let reader = csv::Reader::from_reader(unwrapped(path)?);
        Ok(Self { reader, record: csv::ByteRecord::new(), wanted: Vec::new() })
    }
}

impl WrittenRows for CsvRows {
    fn check(&mut self, name: &str, painter: &mut Painter, sample: &Sample<'_>) -> io::Result<()> {
        let at = |what: &str| format!("{name:?} at {} s: {what}", sample.time);
        if !self.reader.read_byte_record(&mut self.record).map_err(io::Error::other)? {
            return Err(io::Error::other(at("its row is missing")));
        }
        let mut cells = self.record.iter();
        let (Some(time), Some(channel), Some(value), None) = (cells.next(), cells.next(), cells.next(), cells.next())
        else {
            return Err(io::Error::other(at("its row does not have three cells")));
        };
        if parse_seconds(time) != Some(sample.time.nanos()) || channel != name.as_bytes() {
            return Err(io::Error::other(at("another row is in its place")));
        }
        self.wanted.clear();
        painter.cell(&sample.value, &mut self.wanted);
        if value != self.wanted || !reads_back(&sample.value, value) {
            return Err(io::Error::other(at(&format!("it reads {:?}", String::from_utf8_lossy(value)))));
        }
        Ok(())
    }

    fn more(&mut self) -> io::Result<bool> {
        self.reader.read_byte_record(&mut self.record).map_err(io::Error::other)
    }
}

struct NdjsonRows {
    reader: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    wanted: Vec<u8>,
}

impl NdjsonRows {
    fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self { reader: BufReader::new(unwrapped(path)?), line: Vec::new(), wanted: Vec::new() })
    }
}

impl WrittenRows for NdjsonRows {
    fn check(&mut self, name: &str, painter: &mut Painter, sample: &Sample<'_>) -> io::Result<()> {
        let at = |what: &str| io::Error::other(format!("{name:?} at {} s: {what}", sample.time));
        self.line.clear();
        if self.reader.read_until(b'\n', &mut self.line)? == 0 {
            return Err(at("its line is missing"));
        }
        let line: serde_json::Value = serde_json::from_slice(&self.line).map_err(|error| at(&error.to_string()))?;
        let time = line.get("time_ns").and_then(|time| time.as_i64().or_else(|| time.as_str()?.parse().ok()));
        if time != Some(sample.time.nanos()) || line.get("channel").and_then(|c| c.as_str()) != Some(name) {
            return Err(at("another line is in its place"));
        }
        self.wanted.clear();
        self.wanted.extend_from_slice(b"{\"time_ns\":");
        json::i64(&mut self.wanted, sample.time.nanos());
        self.wanted.extend_from_slice(b",\"channel\":");
        json::string(&mut self.wanted, name);
        self.wanted.extend_from_slice(b",\"value\":");
        let start = self.wanted.len();
        painter.json(&sample.value, &mut self.wanted);
        let proved = reads_back(&sample.value, self.wanted.get(start..).unwrap_or_default());
        self.wanted.extend_from_slice(b"}\n");
        // To the letter: a parser of JSON may round.
        if self.line != self.wanted || !proved {
            return Err(at(&format!("it reads {}", line.get("value").unwrap_or(&serde_json::Value::Null))));
        }
        Ok(())
    }

    fn more(&mut self) -> io::Result<bool> {
        Ok(!self.reader.fill_buf()?.is_empty())
    }
}

/// Whether the text of a number reads back as exactly that number.
fn reads_back(value: &Value<'_>, text: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(text) else { return false };
    match value {
        Value::Double(x) if x.is_finite() => text.parse::<f64>().is_ok_and(|y| y.to_bits() == x.to_bits()),
        Value::Float(x) if x.is_finite() => text.parse::<f32>().is_ok_and(|y| y.to_bits() == x.to_bits()),
        Value::Int64(x) => text.trim_matches('"').parse() == Ok(*x),
        _ => true,
    }
}

fn parse_seconds(text: &[u8]) -> Option<i64> {
    let text = str::from_utf8(text).ok()?;
    match text.strip_prefix('-') {
        // The lowest time has no positive counterpart.
        Some("9223372036.854775808") => Some(i64::MIN),
        Some(text) => nanos(text).map(i64::wrapping_neg),
        None => nanos(text),
    }
}

/// A table against the same table, made again.
fn wide(job: &Job<'_>, path: &Path, wide: Wide) -> Result<(), Error> {
    let mut reader = csv::Reader::from_reader(unwrapped(path)?);
    let mut record = csv::ByteRecord::new();
    // The reader refuses rows of different lengths.
    while reader.read_byte_record(&mut record).map_err(|error| differs(error.to_string()))? {}
    let against = Against { reader: unwrapped(path)?, at: 0, buffer: Vec::new() };
    let mut sink = WideRows::new(wide, job.feed, job.options.raw_values, against)?;
    let made = job.feed.run(job.order, &mut sink).and_then(|()| sink.finish().map_err(SinkError::Io));
    made.map_err(|error| differs(error.to_string()))?;
    sink.into_out().end()
}

/// The table of VESC Tool against the same, made again; and it can be read.
pub(crate) fn vesc(job: &Job<'_>, path: &Path) -> Result<(), Error> {
    let result = read_back(job, path)?;
    if let Some(problem) = result.problems.list().iter().find(|problem| problem.severity == Severity::Damage) {
        return Err(differs(format!("the result is damaged: {problem}")));
    }
    let against = Against { reader: unwrapped(path)?, at: 0, buffer: Vec::new() };
    let made = VescRows::new(job.feed.channels(), job.feed.header().epoch_ns, against).and_then(|mut sink| {
        job.feed.run(job.order, &mut sink)?;
        sink.finish()?;
        Ok(sink)
    });
    made.map_err(|error| differs(error.to_string()))?.into_out().end()
}

/// A writer that compares what it is given with what a reader has.
struct Against<R> {
    reader: R,
    at: u64,
    buffer: Vec<u8>,
}

impl<R: Read> Against<R> {
    /// Nothing more was written.
    fn end(mut self) -> Result<(), Error> {
        match self.reader.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(differs("more rows than samples".to_owned())),
            Err(error) => Err(differs(error.to_string())),
        }
    }
}

impl<R: Read> Write for Against<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.resize(bytes.len(), 0);
        self.reader.read_exact(&mut self.buffer)?;
        if self.buffer != bytes {
            return Err(io::Error::other(format!("the table differs near byte {}", self.at)));
        }
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unwrapped(path: &Path) -> Result<Box<dyn Read>, Error> {
    let failed = |error| Error::reading(path, error);
    let mut file = BufReader::with_capacity(256 << 10, File::open(path).map_err(failed)?);
    match Wrapper::sniff(file.fill_buf().map_err(failed)?) {
        Some(wrapper) => wrapper.reader(file).map_err(failed),
        None => Ok(Box::new(file)),
    }
}

fn differs(message: String) -> Error {
    Error::new(ErrorKind::Verify(message))
}

#[cfg(test)]
mod tests {
    use logpose_core::{Channel, EncodeOptions, Sample, Time, Value};

    use crate::convert::Job;
    use crate::{ConvertOptions, Feed, Format, Log, OpenOptions, Output, Quiet, Wide, convert};

    fn log(values: &[(i64, f64)]) -> Log {
        let mut encoder = Format::from_name("wpilog").unwrap().encoder(&EncodeOptions::default()).unwrap();
        let mut out = Vec::new();
        encoder.begin(&mut out);
        encoder.channel(0, &Channel::new("/a", "double"), &mut out).unwrap();
        for (us, value) in values {
            let sample = Sample { channel: 0, time: Time::from_micros(*us), value: Value::Double(*value) };
            encoder.samples(&[sample], &mut out).unwrap();
        }
        encoder.finish(&mut out);
        Log::from_bytes("made", out, &OpenOptions::default()).unwrap()
    }

    /// What is found to differ when a result is compared with another log than its own.
    fn found(wrong: &[(i64, f64)], format: &Format, wide: Option<Wide>) -> Option<String> {
        let right = [log(&[(0, 1.0), (20_000, f64::NAN), (40_000, 0.1)])];
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("result");
        let options = ConvertOptions { wide, ..ConvertOptions::default() };
        let to = Output::File { path: &file, force: true, wrapper: None };
        convert(&[log(wrong)], Vec::new(), format, to, &options, &Quiet).unwrap();
        let feed = Feed::new(&right, Vec::new());
        let job = Job::new(&feed, *format, &options, &Quiet).unwrap();
        let error = (job.writer.verify)(&job, &file).err()?;
        assert_eq!(error.code(), "verify");
        Some(error.to_string())
    }

    #[test]
    fn every_difference_is_found_in_every_format() {
        let right = [(0, 1.0), (20_000, f64::NAN), (40_000, 0.1)];
        let wrong: [&[(i64, f64)]; 5] = [
            &right[..2],
            &[(0, 1.0), (20_000, f64::NAN), (40_000, 0.1), (60_000, 0.1)],
            &[(0, 1.0), (20_001, f64::NAN), (40_000, 0.1)],
            &[(0, 1.0), (20_000, f64::NAN), (40_000, 0.100_000_000_000_000_02)],
            &[(0, -1.0), (20_000, f64::NAN), (40_000, 0.1)],
        ];
        for name in ["wpilog", "rlog", "csv", "ndjson"] {
            let format = Format::from_name(name).unwrap();
            assert_eq!(found(&right, &format, None), None, "{name}");
            for wrong in wrong {
                let message = found(wrong, &format, None).unwrap_or_else(|| panic!("{name}: {wrong:?}"));
                assert!(!message.is_empty());
            }
        }
        for every in [None, Some(20_000_000)] {
            let wide = Some(Wide { every });
            assert_eq!(found(&right, &Format::CSV, wide), None);
            assert!(found(wrong[3], &Format::CSV, wide).is_some());
            assert!(found(wrong[4], &Format::CSV, wide).is_some());
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let wpilog = Format::from_name("wpilog").unwrap();
        let message = found(&[(0, 1.0), (20_000, 5.0), (40_000, 0.1)], &wpilog, None).unwrap();
        assert!(message.contains("\"/a\" at 0.020 s is 5.0 instead of NaN"), "{message}");
    }
}
