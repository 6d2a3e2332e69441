//! What the fuzz targets call. The ordinary tests run the same functions over all fixtures.

use std::ops::ControlFlow;

use logpose_core::fuzzing::check_readings;
use logpose_core::{
    Channel, ChannelId, DecodeError, EncodeOptions, Encoding, FileDialect, Index, Limits, Lookup, Problem, Problems,
    ReadOptions, Sample, Severity, Sink, SinkError,
};

use crate::about::{About, Visit, visit};
use crate::wire::{Record, Records};
use crate::writer::Batch;
use crate::{ActorType, Carla, Edit, EditError, Edited, Frames, Reader, Who, concatenate, repair, salvage};

/// Everything that reads a recording; what they find must agree.
pub fn decode(data: &[u8]) {
    let mut problems = Problems::default();
    let _ = salvage(data, &mut problems);
    let Ok(frames) = Frames::scan(data) else { return };
    for (at, frame) in frames.frames().iter().enumerate() {
        let bytes: u64 = frames.packets(at).map(|packet| packet.end() - packet.at).sum();
        assert_eq!(bytes, frame.end - frame.at, "the packets of a frame fill it");
        frames.packets(at).for_each(|packet| _ = packet.decode(frames.wire_format()));
    }
    for life in frames.lives() {
        assert!(frames.birth(life).is_some_and(|birth| birth.actor == life.actor), "a life without its birth");
    }
}

/// What was read and written is the same byte for byte.
pub fn roundtrip(data: &[u8]) {
    let Ok(reader) = Reader::new(data) else { return };
    let (mut out, form) = (Vec::new(), reader.wire_format());
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
            // How a recording is written shows in its packets, and those that showed it may be gone.
            && whole
            && Frames::scan(&log).is_ok_and(|edited| edited.wire_format() == frames.wire_format())
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

/// The records of a packet, written again.
struct Copy(Batch);

impl<'a> Visit<'a> for Copy {
    fn records<R: Record<'a> + About>(&mut self, records: &Records<'a, R>) {
        records.iter().for_each(|record| self.0.push(&record, records.wire_format()));
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
        check_readings(&Carla, data, &index);
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
