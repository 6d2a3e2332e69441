//! What the fuzz target calls. The ordinary tests run the same functions over all fixtures.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use logpose_core::{
    Channel, ChannelId, Columns, Decode as _, Dialect, Index, Lookup, Problem, Problems, Read, Sample, Sink, SinkError,
    StreamError, Time, Value,
};

use crate::decode::StreamDecoder;
use crate::{Dslog, Envelope, Half, summary};

/// Everything that reads a log; what they find must agree.
pub fn decode(data: &[u8]) {
    let _ = Dslog.sniff(data);
    read_all(data);
    decode_in_pieces(data);
    let half = Half::of(data);
    let (log, events) = if half == Half::Log { (Some(data), None) } else { (None, Some(data)) };
    let found = summary(log, events);
    if let Ok(index) = Dslog.index(data, &Read::default(), &mut Problems::default()) {
        assert_eq!(found.records + found.events, index.records, "summary and index");
    }
    // The same file as both halves: one of the two is read as what it is not.
    let mut pair = Vec::new();
    Envelope { named: half, companion: b"companion", log: data, events: data }.emit(&mut pair);
    read_all(&pair);
    decode_in_pieces(&pair);
}

fn read_all(data: &[u8]) {
    let read = Read::default();
    let mut problems = Problems::default();
    let index = Dslog.index(data, &read, &mut problems);
    let columns = Dslog.columns(data, &read, &mut Problems::default());
    let _ = Dslog.records(data, &read, 0, &mut |line| {
        assert!(!line.text.to_string().is_empty());
        ControlFlow::Continue(())
    });
    assert_eq!(index.is_ok(), columns.is_ok());
    let (Ok(index), Ok(columns)) = (index, columns) else { return };
    agree(data, &index, &columns);
    let light = Dslog.index(data, &Read { positions: false, ..read }, &mut Problems::default());
    let Ok(light) = light else { panic!("only an index with positions can be made") };
    assert!(!light.placed && light.samples() == index.samples(), "with positions and without");
    assert_eq!(rows(data, &index, &Lookup::default()), rows(data, &light, &Lookup::default()));
}

/// Rows, columns, what is gathered and what is found in windows must be the same.
fn agree(data: &[u8], index: &Index, columns: &Columns) {
    let rows = rows(data, index, &Lookup::default());
    assert_eq!(rows.values().map(Vec::len).sum::<usize>() as u64, index.samples(), "rows and index");
    assert_eq!(rows, lines(columns), "rows and columns");
    let names: Vec<_> = columns.columns.iter().map(|column| column.channel.name.clone()).collect();
    assert!(index.channels.iter().map(|c| &c.channel.name).eq(&names), "the order of channels");
    let ids: Vec<ChannelId> = (0..ChannelId::try_from(index.channels.len()).unwrap_or(0)).collect();
    if let Ok(gathered) = Dslog.gather(data, index, &ids, |_| {}) {
        assert_eq!(rows, lines(&gathered), "rows and what is gathered");
    }
    if let Ok(scanned) = Dslog.scan(data, index, &Lookup::default(), |_| {}) {
        assert_eq!(rows, lines(&scanned), "rows and what is scanned");
    }
    // Windows as small as they can be: at every change of the records' length, and at every text.
    let mut steps: Vec<u64> = index.marks.iter().map(|mark| mark.at).chain(index.steps.iter().copied()).collect();
    steps.sort_unstable();
    steps.dedup();
    let fine = Index { steps, ..index.clone() };
    let mut windows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut places = 0;
    for window in Dslog.windows(&fine, 1) {
        let lookup = Lookup { within: Some(window), ..Lookup::default() };
        let found = self::rows(data, &fine, &lookup);
        found.into_iter().for_each(|(name, rows)| windows.entry(name).or_default().extend(rows));
        let _ = Dslog.rows(data, &fine, &lookup, &mut |rows| {
            places += rows.len() as u64;
            Ok(())
        });
    }
    assert_eq!(rows, windows, "rows and those of windows");
    assert_eq!(places, index.samples(), "places and samples");
    if let Some((first, last)) = index.range() {
        let middle = Time::from_nanos(first.nanos() / 2 + last.nanos() / 2);
        let before = Lookup { end: Some(middle), ..Lookup::default() };
        let behind = Lookup { start: Some(middle.plus(1)), ..Lookup::default() };
        let both =
            [before, behind].map(|lookup| self::rows(data, index, &lookup).values().map(Vec::len).sum::<usize>());
        assert_eq!(both.iter().sum::<usize>() as u64, index.samples(), "before and behind the middle");
    }
}

fn rows(data: &[u8], index: &Index, lookup: &Lookup) -> BTreeMap<String, Vec<String>> {
    let mut found = Lines::default();
    let _ = Dslog.replay(data, index, lookup, &mut found);
    found.lines
}

fn lines(columns: &Columns) -> BTreeMap<String, Vec<String>> {
    let line = |(time, value): (Time, Value<'_>)| format!("{time} {}", shown(&value));
    let all = columns.columns.iter().filter(|column| column.samples() > 0);
    all.map(|column| (column.channel.name.clone(), columns.samples(column).map(line).collect())).collect()
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::String(bytes) | Value::Bytes(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
        Value::Double(x) => format!("{:016x}", x.to_bits()),
        value => format!("{value:?}"),
    }
}

fn decode_in_pieces(data: &[u8]) {
    let run = |step: usize| {
        let mut decoder = StreamDecoder::new(Read::default().limits);
        let mut sink = Lines::default();
        let (mut used, mut given) = (0, 0);
        while given < data.len() {
            given = (given + step).min(data.len());
            match decoder.decode(data.get(used..given).unwrap_or_default(), &mut sink) {
                Ok(n) => used += n,
                Err(error) => return (sink, Some(error)),
            }
        }
        let end = decoder.finish(data.get(used..).unwrap_or_default(), &mut sink).err();
        (sink, end)
    };
    let (whole, whole_error) = run(data.len().max(1));
    let (pieces, pieces_error) = run(7);
    let told = |error: Option<StreamError>| error.map(|error| error.to_string());
    assert_eq!(whole.lines, pieces.lines, "at once and in pieces");
    assert_eq!(whole.problems, pieces.problems, "at once and in pieces");
    let (whole_error, pieces_error) = (told(whole_error), told(pieces_error));
    assert_eq!(whole_error, pieces_error, "at once and in pieces");
    let mut problems = Problems::default();
    if let Ok(index) = Dslog.index(data, &Read::default(), &mut problems)
        && whole_error.is_none()
    {
        let (mut whole, mut file) = (whole.lines, rows(data, &index, &Lookup::default()));
        // A stream does not know yet how the event is called.
        assert_eq!(whole.remove("/ds/match").map(|rows| rows.len()), file.remove("/ds/match").map(|rows| rows.len()));
        assert_eq!(whole, file, "the stream and the file");
    }
}

/// Writes down what it is given, by channel.
#[derive(Debug, Default)]
struct Lines {
    names: BTreeMap<ChannelId, String>,
    lines: BTreeMap<String, Vec<String>>,
    problems: Vec<(&'static str, Option<u64>, u64)>,
}

impl Sink for Lines {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.names.insert(id, channel.name.clone());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let name = self.names.get(&sample.channel).map_or("not declared", |name| name);
            let line = format!("{} {}", sample.time, shown(&sample.value));
            self.lines.entry(name.to_owned()).or_default().push(line);
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push((problem.code, problem.at, problem.length));
    }
}
