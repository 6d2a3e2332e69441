use std::fmt::Write as _;
use std::ops::ControlFlow;

use logpose_core::{
    Channel, ChannelId, Columns, Encode, EncodeOptions, Encoding, FileDialect, Index, Lookup, Problems, ReadOptions,
    Sample, Sink, StreamError, Time, Value,
};

use crate::{Lines, Show, bits};

/// The index of a log that has one, and what was odd about it.
#[must_use]
pub fn index(dialect: &dyn FileDialect, log: &[u8]) -> (Index, Problems) {
    index_with(dialect, log, &ReadOptions::default())
}

/// The same with the search for records behind damage.
#[must_use]
pub fn salvaged(dialect: &dyn FileDialect, log: &[u8]) -> (Index, Problems) {
    index_with(dialect, log, &ReadOptions { salvage: true, ..ReadOptions::default() })
}

/// The same as asked for.
#[must_use]
pub fn index_with(dialect: &dyn FileDialect, log: &[u8], read: &ReadOptions<'_>) -> (Index, Problems) {
    let mut problems = Problems::default();
    let index = dialect.index(log, read, &mut problems).expect("an index");
    (index, problems)
}

/// The codes and places of problems.
#[must_use]
pub fn places(problems: &Problems) -> Vec<(&'static str, u64)> {
    problems.list().iter().map(|problem| (problem.code, problem.at.unwrap_or(u64::MAX))).collect()
}

/// The codes of problems, each once.
#[must_use]
pub fn codes(problems: &Problems) -> Vec<&'static str> {
    problems.kinds().iter().map(|(code, ..)| *code).collect()
}

/// All channels of a log, as a scan finds them.
#[must_use]
pub fn columns(dialect: &dyn FileDialect, log: &[u8]) -> Columns {
    columns_with(dialect, log, &ReadOptions::default())
}

/// The same of a log that is indexed as asked for.
#[must_use]
pub fn columns_with(dialect: &dyn FileDialect, log: &[u8], read: &ReadOptions<'_>) -> Columns {
    let (index, _) = index_with(dialect, log, read);
    dialect.scan(log, &index, &Lookup::default(), read.prepare).expect("the columns of a log that was just indexed")
}

/// All that is replayed, into a sink.
pub fn replayed<S: Sink + Default>(dialect: &dyn FileDialect, log: &[u8], index: &Index) -> S {
    let mut sink = S::default();
    dialect.replay(log, index, &Lookup::default(), &mut sink).expect("a sink that takes everything");
    sink
}

/// All that a stream gives whose bytes come in pieces, into a sink.
pub fn streamed<S: Sink + Default>(
    dialect: &dyn FileDialect,
    log: &[u8],
    piece: usize,
) -> (S, Result<(), StreamError>) {
    let mut decoder = dialect.decoder(&ReadOptions::default()).expect("a dialect that can be read in pieces");
    let mut sink = S::default();
    let (mut used, mut given) = (0, 0);
    while given < log.len() {
        given = (given + piece).min(log.len());
        match decoder.decode(&log[used..given], &mut sink) {
            Ok(more) => used += more,
            Err(error) => return (sink, Err(error)),
        }
    }
    let end = decoder.finish(&log[used..], &mut sink);
    (sink, end)
}

/// A log with these channels (name and type) and samples.
#[must_use]
pub fn encoded(
    mut encoder: Box<dyn Encode>,
    channels: &[(&str, &str)],
    samples: &[(ChannelId, Time, Value<'_>)],
) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.begin(&mut out);
    for (id, (name, type_name)) in (0..).zip(channels) {
        encoder.channel(id, &Channel::new(*name, *type_name), &mut out).unwrap();
    }
    for (channel, time, value) in samples {
        encoder.samples(&[Sample { channel: *channel, time: *time, value: *value }], &mut out).unwrap();
    }
    encoder.finish(&mut out);
    out
}

/// The log as its own dialect writes it, and what that could not keep.
#[must_use]
pub fn rewritten(dialect: &dyn FileDialect, log: &[u8]) -> Vec<u8> {
    let (index, _) = index(dialect, log);
    let mut out = Vec::new();
    let mut encoder = dialect.encoder(&EncodeOptions::default()).expect("a dialect that can be written");
    encoder.begin(&mut out);
    let sink = &mut Encoding { encoder: &mut *encoder, out: &mut out, problems: &mut Problems::default() };
    dialect.replay(log, &index, &Lookup::default(), sink).expect("a dialect holds what it held");
    encoder.finish(&mut out);
    out
}

/// The records of a log, one a line: where, how long, and what. An error is the last line.
#[must_use]
pub fn dump(dialect: &dyn FileDialect, log: &[u8]) -> String {
    let mut text = String::new();
    let end = dialect.records(log, &ReadOptions::default(), 0, &mut |line| {
        writeln!(text, "{:#06x} {:4} {}", line.at, line.length, line.text).unwrap();
        ControlFlow::Continue(())
    });
    if let Err(error) = end {
        writeln!(text, "{error}").unwrap();
    }
    text
}

/// Asserts that a dump can begin at every record, and end a little later.
pub fn check_dump_from_anywhere(dialect: &dyn FileDialect, log: &[u8]) {
    let some = |from: u64, most: usize| {
        let mut lines = Vec::new();
        let end = dialect.records(log, &ReadOptions::default(), from, &mut |line| {
            lines.push((line.at, line.length, line.text.to_string()));
            if lines.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        end.expect("whole records");
        lines
    };
    let all = some(0, usize::MAX);
    for (i, (at, ..)) in all.iter().enumerate() {
        assert_eq!(some(*at, 3), all[i..all.len().min(i + 3)], "from byte {at}");
    }
}

/// The columns as lines, channel by channel.
#[must_use]
pub fn column_lines(columns: &Columns) -> Vec<String> {
    let mut lines = Vec::new();
    for column in &columns.columns {
        lines.push(format!("{} {} sorted {}", column.channel.name, column.channel.type_name, column.sorted));
        lines.extend(columns.samples(column).map(|(time, value)| format!("{time} {}", bits(&value))));
    }
    lines
}

/// All that an index says, as lines.
#[must_use]
pub fn index_lines(index: &Index) -> Vec<String> {
    let channels = index.channels.iter().map(|c| {
        let at: Vec<u64> = c.positions.iter().collect();
        format!("{:?} {} {} {} {} {} {at:?}", c.channel, c.samples, c.bytes, c.first, c.last, c.sorted)
    });
    let whole = [format!(
        "{:?} {:?} {} {} {:?} {:?} {:?}",
        index.spans, index.marks, index.records, index.sorted, index.facts, index.slots, index.lives
    )];
    channels.chain(whole).collect()
}

/// Lines without those of schemas: these come with the first value that needs them, which in a stream is later.
#[must_use]
pub fn without_schemas<S: Show>(lines: &Lines<S>) -> Vec<&str> {
    lines.lines.iter().map(String::as_str).filter(|line| !line.contains("/.schema/")).collect()
}
