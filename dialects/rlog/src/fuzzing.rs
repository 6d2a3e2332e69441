//! What the fuzz targets call. The ordinary tests run the same functions over all fixtures.

use std::ops::ControlFlow;

use logpose_core::fuzzing::{check_readings, feed};
use logpose_core::{
    Channel, ChannelId, DecodeError, Encode, Encoding, FileDialect, Index, Limits, Link, Lookup, Problem, Problems,
    ReadOptions, Sample, Session, Sink, SinkError, Time,
};

use crate::{Decoder, Encoder, Options, Revision, Rlog, RlogClient};

/// Index with another bound for splitting, for tests with small logs.
pub fn index_split(
    log: &[u8],
    read: &ReadOptions<'_>,
    problems: &mut Problems,
    split: usize,
) -> Result<Index, DecodeError> {
    crate::dialect::index(log, read, problems, split)
}

/// Everything that reads a log; what they find must agree.
pub fn decode(data: &[u8]) {
    read_all(data, &small());
    let _ = Rlog.sniff(data);
    if data.first() == Some(&0) {
        for revision in [1, 2] {
            read_all(data, &ReadOptions { revision: Some(revision), ..small() });
        }
    }
    decode_in_pieces(data);
}

/// The same in a damaged log.
pub fn recover(data: &[u8]) {
    read_all(data, &ReadOptions { salvage: true, ..small() });
}

/// What was read and written must be the same when it is read again.
pub fn roundtrip(data: &[u8]) {
    let read = small();
    let Ok(index) = Rlog.index(data, &read, &mut Problems::default()) else { return };
    let mut before = Record::default();
    let _ = Rlog.replay(data, &index, &Lookup::default(), &mut before);
    for revision in [Revision::R1, Revision::R2] {
        let mut encoder = Encoder::new(Options { revision, long_values: true });
        let mut log = Vec::new();
        encoder.begin(&mut log);
        let mut copy = Encoding { encoder: &mut encoder, out: &mut log, problems: &mut Problems::default() };
        if Rlog.replay(data, &index, &Lookup::default(), &mut copy).is_err() {
            continue; // 64-bit integers in R1
        }
        encoder.finish(&mut log);
        let mut problems = Problems::default();
        let Ok(again) = Rlog.index(&log, &read, &mut problems) else { panic!("cannot read what was written") };
        let mut after = Record::default();
        let _ = Rlog.replay(&log, &again, &Lookup::default(), &mut after);
        assert_eq!(before.samples, after.samples, "samples in {revision}");
        if index.fact("revision") == Some("2") && revision == Revision::R2 {
            assert_eq!(before.lines, after.lines, "values in {revision}");
        }
    }
}

/// A client that is given anything.
pub fn session(data: &[u8]) {
    let mut client = RlogClient::new(Limits { record_len: 1 << 16, channels: 1000, held_back: 1 << 16 });
    let mut sink = Record::default();
    let mut now = Time::ZERO;
    client.handle_open(now, Link(1));
    let mut rest = data;
    while let Some((first, after)) = rest.split_first() {
        // The first byte of each piece says how long it is and how much time passes.
        let (piece, after) = after.split_at_checked(usize::from(*first)).unwrap_or((after, &[]));
        now = now.plus(i64::from(*first) * 5_000_000);
        client.handle_timeout(now);
        if !client.is_connected() {
            client.handle_open(now, Link(1));
        }
        let _ = client.handle_input(now, Link(1), piece, &mut sink);
        while client.poll_transmit().is_some() {}
        while client.poll_close().is_some() {}
        rest = after;
    }
}

fn small() -> ReadOptions<'static> {
    ReadOptions { limits: Limits { channels: 10_000, ..Limits::default() }, ..ReadOptions::default() }
}

fn read_all(data: &[u8], read: &ReadOptions<'_>) {
    let mut problems = Problems::default();
    let index = Rlog.index(data, read, &mut problems);
    let mut lines = 0_u64;
    let _ = Rlog.records(data, read, 0, &mut |line| {
        lines += u64::from(!line.text.to_string().is_empty());
        ControlFlow::Continue(())
    });
    if let Ok(index) = index {
        check_readings(&Rlog, data, &index);
    }
}

fn decode_in_pieces(data: &[u8]) {
    let run = |step: usize| {
        let mut sink = Record::default();
        let end = feed(&mut Decoder::new(&small()), data, step, &mut sink);
        (sink, end)
    };
    let (whole, whole_error) = run(data.len().max(1));
    let (pieces, pieces_error) = run(7);
    assert_eq!(whole.lines, pieces.lines);
    if data.first().is_some_and(|byte| *byte != 0) {
        assert_eq!(whole_error, pieces_error);
    }
}

/// Writes down what it is given.
#[derive(Debug, Default)]
struct Record {
    channels: std::collections::BTreeMap<ChannelId, String>,
    samples: u64,
    lines: Vec<String>,
}

impl Record {
    fn name(&self, id: ChannelId) -> &str {
        self.channels.get(&id).map_or("not declared", |name| name)
    }
}

impl Sink for Record {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.channels.insert(id, format!("{} {}", channel.name, channel.type_name));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.samples += samples.len() as u64;
        for s in samples {
            let line = format!("{} {} {}", s.time, self.name(s.channel), crate::model::Show(s.value));
            self.lines.push(line);
        }
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        let line = format!("{time} {} ends", self.name(id));
        self.lines.push(line);
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // A file and a stream word their problems differently; what is compared is their samples.
    }
}
