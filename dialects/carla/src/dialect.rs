//! All that the rest of logpose sees of CARLA's recordings.

use std::ops::ControlFlow;

use logpose_core::{
    Columns, Confidence, Cursor, Decode, DecodeError, Dialect, Encode, EncodeOptions, Fact, FileDialect, Index, Info,
    Life, LiveDialect, Lookup, Mend, Problems, ReadOptions, RecordLine, Row, Sink, SinkError, Span, Support,
    TakeSamples, Time,
};

use crate::decode::StreamDecoder;
use crate::encode::Encoder;
use crate::model::{Topic, ids_name, vectors_name};
use crate::recover::repair;
use crate::rows;
use crate::segments::{self, Collected, Indexer, MIN_SEGMENT, Plan, collect};
use crate::show::Line;
use crate::walk::place;
use crate::wire::{ActorType, MAGIC, Packet};

/// Recordings of the CARLA simulator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carla;

/// Its name in commands and in code.
pub const NAME: &str = "carla";

static INFO: Info = Info {
    extensions: &["log", "rec"],
    files: Support { read: true, write: true },
    holds_only: Some("traffic"),
    ..Info::new(NAME, "CARLA recording")
};

impl Dialect for Carla {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn files(&self) -> Option<&dyn FileDialect> {
        Some(self)
    }

    fn live(&self) -> Option<&dyn LiveDialect> {
        None
    }
}

impl FileDialect for Carla {
    fn sniff(&self, head: &[u8]) -> Confidence {
        if head.get(2..4) == Some(&[14, 0]) && head.get(4..).is_some_and(|rest| rest.starts_with(MAGIC)) {
            Confidence::Yes
        } else if segments::looks_headless(head) {
            Confidence::Perhaps
        } else {
            Confidence::No
        }
    }

    fn index(&self, log: &[u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Index, DecodeError> {
        index(log, read, problems, MIN_SEGMENT)
    }

    fn windows(&self, index: &Index, bytes: u64) -> Vec<Span> {
        index.windows(bytes)
    }

    fn scan(&self, log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
        rows::scan(log, index, lookup, prepare)
    }

    fn rows(
        &self,
        log: &[u8],
        index: &Index,
        lookup: &Lookup,
        take: &mut dyn FnMut(&[Row]) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        rows::rows(log, index, lookup, take)
    }

    fn times(&self, log: &[u8], index: &Index, at: &[u64], out: &mut Vec<Time>) -> Result<(), DecodeError> {
        index.marked_times(NAME, log.len() as u64, at, out)
    }

    fn samples(&self, log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        rows::samples(log, index, rows, take)
    }

    fn replay(&self, log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        rows::replay(log, index, lookup, sink)
    }

    fn records(
        &self,
        log: &[u8],
        read: &ReadOptions<'_>,
        from: u64,
        line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), DecodeError> {
        let plan = Plan::new(log, read, &mut Problems::default())?;
        let length = plan.spans.first().map_or(0, |span| span.start);
        if from == 0 && length > 0 && line(RecordLine { at: 0, length, text: &plan.header }).is_break() {
            return Ok(());
        }
        for span in &plan.spans {
            let bytes = log.get(place(span.start)..place(span.end)).unwrap_or_default();
            let mut cur = Cursor::new(bytes, span.start);
            while !cur.is_empty() {
                let packet = Packet::parse(&mut cur)?;
                let text = Line { packet, form: plan.form };
                let length = packet.end() - packet.at;
                if packet.at >= from && line(RecordLine { at: packet.at, length, text: &text }).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn decoder(&self, read: &ReadOptions<'_>) -> Option<Box<dyn Decode>> {
        Some(Box::new(StreamDecoder::new(read.limits)))
    }

    fn mend<'a>(&self, log: &'a [u8]) -> Option<Box<Mend<'a>>> {
        let mut repair = repair(log, &mut Problems::default()).ok()?;
        let mut begun = false;
        Some(Box::new(move |out| {
            if std::mem::replace(&mut begun, true) {
                return repair.next_frame(out);
            }
            repair.begin(out);
            true
        }))
    }

    fn encoder(&self, _: &EncodeOptions) -> Option<Box<dyn Encode>> {
        Some(Box::new(Encoder::default()))
    }
}

pub(crate) fn index(
    log: &[u8],
    read: &ReadOptions<'_>,
    problems: &mut Problems,
    split: usize,
) -> Result<Index, DecodeError> {
    let plan = Plan::new(log, read, problems)?;
    let mut found: Collected<Indexer> = collect(log, &plan, read, split, problems);
    let (channels, slots) = found.channels(&plan);
    let sorted = found.product.builder.sorted();
    let (front, time) = found.front();
    for (slot, text) in found.schema_slots() {
        found.product.builder.place(slot);
        let size = u32::try_from(text.len()).unwrap_or(u32::MAX);
        found.product.builder.record(slot, front, time, size, 0);
    }
    let lives = found.product.builder.slots().zip(0..).map(|(slot, id)| Life {
        id,
        start: slot.first_at().unwrap_or(front),
        end: None,
    });
    let lives = lives.collect();
    let facts = facts(&plan, &found, log);
    let Collected { walk, product, steps, spans, .. } = found;
    Ok(Index {
        channels: product.builder.channels(channels, &slots),
        slots,
        lives,
        steps,
        placed: read.positions,
        marks: product.marks,
        spans,
        records: walk.packets,
        sorted,
        facts,
    })
}

/// What the recording is as a whole.
fn facts(plan: &Plan<'_>, found: &Collected<Indexer>, log: &[u8]) -> Vec<Fact> {
    let (header, walk, product) = (&plan.header, &found.walk, &found.product);
    let slot_bytes: u64 = product.builder.slots().map(logpose_core::SlotIndex::bytes).sum();
    let read: u64 = found.spans.iter().map(|span| span.end - span.start).sum();
    let front = found.spans.first().map_or(0, |span| span.start).min(log.len() as u64);
    let samples = |topic: Topic| {
        let slot = walk.slots.find(topic, 0).and_then(|slot| product.builder.slot(slot as usize));
        slot.map_or(0, |slot| slot.len() as u64)
    };
    let mut facts = vec![
        Fact { key: "version", value: header.version.to_string() },
        Fact { key: "map", value: String::from_utf8_lossy(header.map).into_owned() },
        Fact { key: "date", value: header.date.to_string() },
        Fact { key: "frames", value: walk.frames.to_string() },
        Fact { key: "duration", value: walk.last.map_or(0.0, |last| last.elapsed).to_string() },
        Fact { key: "vectors", value: vectors_name(plan.form.vectors).to_owned() },
        Fact { key: "ids", value: ids_name(plan.form.ids).to_owned() },
        Fact { key: "actors", value: product.actors.iter().sum::<u64>().to_string() },
    ];
    let classes = [
        ("vehicles", ActorType::Vehicle),
        ("walkers", ActorType::Walker),
        ("traffic_lights", ActorType::TrafficLight),
        ("traffic_signs", ActorType::TrafficSign),
        ("sensors", ActorType::Sensor),
        ("others", ActorType::Other),
    ];
    facts.extend(classes.map(|(key, class)| Fact { key, value: product.count(class).to_string() }));
    facts.extend(product.hero.map(|hero| Fact { key: "hero", value: hero.to_string() }));
    facts.push(Fact { key: "collisions", value: samples(Topic::Collision).to_string() });
    // The date of 1970 is none.
    let epoch = Some(header.date).filter(|date| *date > 0).and_then(|date| date.checked_mul(1_000_000_000));
    facts.extend(epoch.map(|ns| Fact { key: "epoch_ns", value: ns.to_string() }));
    facts.push(Fact { key: "control_bytes", value: (front + read - slot_bytes.min(read)).to_string() });
    facts
}
