//! What the fuzz targets call. The ordinary tests run the same functions over all fixtures.

use std::ops::ControlFlow;

use logpose_core::{
    Channel, ChannelId, Columns, DecodeError, EncodeOptions, Encoding, FileDialect, Index, Limits, Lookup, Problem,
    Problems, ReadOptions, Row, Sample, Severity, Sink, SinkError,
};

use crate::about::{About, Visit, visit};
use crate::wire::{Packet, Record, Records};
use crate::writer::Batch;
use crate::{
    ActorType, Carla, Edit, EditError, Edited, Frames, PacketDecoder, Reader, Who, concatenate, repair, salvage,
};

/// Everything that reads a recording; what they find must agree.
pub fn decode(data: &[u8]) {
    let mut problems = Problems::default();
    let _ = salvage(data, &mut problems);
    let (whole, whole_error) = read(data);
    for step in [3, 1000] {
        let (pieces, error) = in_pieces(data, step);
        // A stream also judges sizes, so it may stop before.
        assert!(whole.starts_with(&pieces), "packets in pieces of {step}");
        assert!(whole.len() == pieces.len() || error.is_some(), "packets are missing in pieces of {step}");
        assert!(whole_error.is_none() || error.is_some(), "no error in pieces of {step}");
    }
    let Ok(frames) = Frames::scan(data) else { return };
    for (at, frame) in frames.frames().iter().enumerate() {
        let bytes: u64 = frames.packets(at).map(|packet| packet.end() - packet.at).sum();
        assert_eq!(bytes, frame.end - frame.at, "the packets of a frame fill it");
        frames.packets(at).for_each(|packet| _ = packet.decode(frames.form()));
    }
    for life in frames.lives() {
        assert!(frames.birth(life).is_some_and(|birth| birth.actor == life.actor), "a life without its birth");
    }
}

/// What was read and written is the same byte for byte.
pub fn roundtrip(data: &[u8]) {
    let Ok(reader) = Reader::new(data) else { return };
    let (mut out, form) = (Vec::new(), reader.form());
    reader.header().emit(&mut out);
    for packet in reader {
        let Ok(packet) = packet else { return };
        match packet.decode(form) {
            Ok(body) => {
                let mut copy = Copy(Batch::default());
                let kind = packet.kind(form);
                if visit(&body, &mut copy)
                    && let Some(kind) = kind
                {
                    assert!(copy.0.emit(kind, form.ids, 0, &mut out).is_ok(), "as many records as there were");
                } else {
                    packet.emit(&mut out);
                }
            }
            Err(_) => packet.emit(&mut out),
        }
    }
    assert!(out == data, "written again, the recording is another");
}

/// A repaired recording is whole, whatever it was made of, and has nothing left to repair.
pub fn recover(data: &[u8]) {
    let Ok(repaired) = repair(data, &mut Problems::default()) else { return };
    let log = repaired.into_bytes();
    assert_clean(&log);
    let again = repair(&log, &mut Problems::default()).map(|again| again.into_bytes());
    assert!(again.is_ok_and(|again| again == log), "repaired twice, the recording is another");
}

/// An edit of a whole recording is whole.
pub fn edit(data: &[u8]) {
    let Ok(frames) = Frames::scan(data) else { return };
    let mut problems = Problems::default();
    let whole = salvage(data, &mut problems).is_ok() && problems.is_empty();
    let check = |edited: Result<Edited<'_>, EditError>| {
        if let Ok(Ok(log)) = edited.map(Edited::into_bytes)
            // How a recording is written shows in its packets, and those that told may be gone.
            && whole
            && Frames::scan(&log).is_ok_and(|edited| edited.form() == frames.form())
        {
            assert_clean(&log);
        }
    };
    let total = frames.total();
    check(Edit::default().apply(&frames));
    check(Edit { from: Some(total / 3.0), to: Some(total / 1.5), ..Edit::default() }.apply(&frames));
    let hero = frames.lives().first().map_or(0, |life| life.actor);
    for who in [Who::Id(hero), Who::Class(ActorType::Vehicle), Who::Blueprint("*a*".into()), Who::Role("hero".into())] {
        check(Edit { drop: vec![who.clone()], ..Edit::default() }.apply(&frames));
        check(Edit { from: Some(total / 2.0), drop: vec![who], map: Some("T".into()), to: None }.apply(&frames));
    }
    check(concatenate(&frames, &frames));
}

fn assert_clean(log: &[u8]) {
    let scanned = Frames::scan(log);
    assert!(scanned.is_ok_and(|s| s.stop().is_none() && s.open().is_none() && s.odd().is_empty()), "it is damaged");
    let mut problems = Problems::default();
    assert!(salvage(log, &mut problems).is_ok(), "it cannot be read");
    let bad = problems.list().iter().find(|p| p.severity > Severity::Note && p.code != "no-frames");
    assert!(bad.is_none(), "{bad:?}");
}

/// A packet, without its bytes: where, id, size.
type Seen = (u64, u8, usize);

fn seen(packet: &Packet<'_>) -> Seen {
    (packet.at, packet.id, packet.body.len())
}

fn read(data: &[u8]) -> (Vec<Seen>, Option<crate::Error>) {
    let mut packets = Vec::new();
    let reader = match Reader::new(data) {
        Ok(reader) => reader,
        Err(error) => return (packets, Some(error)),
    };
    for packet in reader {
        match packet {
            Ok(packet) => packets.push(seen(&packet)),
            Err(error) => return (packets, Some(error)),
        }
    }
    (packets, None)
}

fn in_pieces(data: &[u8], step: usize) -> (Vec<Seen>, Option<crate::Error>) {
    let limits = Limits { record_len: 1 << 16, channels: 1000, held_back: 1 << 12 };
    let (mut decoder, mut packets) = (PacketDecoder::new(limits), Vec::new());
    let mut drain = |decoder: &mut PacketDecoder| loop {
        match decoder.next_packet() {
            Ok(Some(packet)) => packets.push(seen(&packet)),
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
    };
    let mut failed = None;
    for piece in data.chunks(step) {
        decoder.push(piece);
        failed = failed.or(drain(&mut decoder));
    }
    decoder.close();
    let failed = failed.or(drain(&mut decoder));
    (packets, failed)
}

/// The records of a packet, written again.
struct Copy(Batch);

impl<'a> Visit<'a> for Copy {
    fn records<R: Record<'a> + About>(&mut self, records: &Records<'a, R>) {
        records.iter().for_each(|record| self.0.push(&record, records.form()));
    }
}

/// Index with another bound for splitting, for tests with small recordings.
pub fn index_split(
    log: &[u8],
    read: &ReadOptions<'_>,
    problems: &mut Problems,
    split: usize,
) -> Result<Index, DecodeError> {
    crate::dialect::index(log, read, problems, split)
}

/// Columns with another bound for splitting, for tests with small recordings.
pub fn columns_split(
    log: &[u8],
    read: &ReadOptions<'_>,
    problems: &mut Problems,
    split: usize,
) -> Result<Columns, DecodeError> {
    crate::dialect::columns(log, read, problems, split)
}

/// Everything that reads a recording into the model and writes it again; what the ways find must agree.
pub fn model(data: &[u8]) {
    let _ = Carla.sniff(data);
    let limits = Limits { record_len: 1 << 16, channels: 64, held_back: 1 << 16 };
    for salvage in [false, true] {
        let read = ReadOptions { limits, salvage, ..ReadOptions::default() };
        let _ = Carla.records(data, &read, 0, &mut |line| {
            let _ = line.text.to_string();
            ControlFlow::Continue(())
        });
        let Ok(index) = Carla.index(data, &read, &mut Problems::default()) else { continue };
        let columns = Carla.columns(data, &read, &mut Problems::default());
        let counted = columns.map(|columns| columns.columns.iter().map(|c| c.samples() as u64).sum::<u64>());
        assert_eq!(counted.ok(), Some(index.samples()), "columns and index count the same");
        let mut sink = Count::default();
        let _ = Carla.replay(data, &index, &Lookup::default(), &mut sink);
        assert_eq!(sink.samples, index.samples(), "rows and index count the same");
        let mut found = 0;
        for (id, channel) in (0..).zip(&index.channels) {
            let at: Vec<u64> = channel.positions.iter().collect();
            let mut times = Vec::new();
            let _ = Carla.times(data, &index, &at, &mut times);
            let rows: Vec<Row> =
                at.iter().zip(&times).map(|(at, time)| Row { time: *time, at: *at, channel: id }).collect();
            let _ = Carla.samples(data, &index, &rows, &mut |samples| {
                found += samples.len() as u64;
                Ok(())
            });
        }
        assert_eq!(found, index.samples(), "places and index count the same");
        let Some(mut encoder) = Carla.encoder(&EncodeOptions::default()) else { continue };
        let mut out = Vec::new();
        encoder.begin(&mut out);
        let written = Carla.replay(
            data,
            &index,
            &Lookup::default(),
            &mut Encoding { encoder: &mut *encoder, out: &mut out, problems: &mut Problems::default() },
        );
        if written.is_ok() {
            encoder.finish(&mut out);
            assert!(Carla.index(&out, &read, &mut Problems::default()).is_ok(), "what is written can be read");
        }
    }
    let Some(mut decoder) = Carla.decoder(&ReadOptions { limits, ..ReadOptions::default() }) else { return };
    let mut sink = Count::default();
    let mut used = 0;
    for given in [data.len() / 3, data.len() / 2, data.len()] {
        match decoder.decode(data.get(used..given).unwrap_or_default(), &mut sink) {
            Ok(more) => used += more,
            Err(_) => return,
        }
    }
    let _ = decoder.finish(data.get(used..).unwrap_or_default(), &mut sink);
}

/// Counts samples.
#[derive(Default)]
struct Count {
    samples: u64,
}

impl Sink for Count {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.samples += samples.len() as u64;
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // Streams are read here only to see that nothing panics.
    }
}
