//! What an index of a file is.

use logpose_core::{Channel, ChannelIndex, Fact, Fate, Index, IndexBuilder, Life, Mark, ReadOptions, SlotId, Span};

use super::model::{BLOCK_KINDS, STATES, Source, block_channel, item_channels, named, state_channel};
use crate::rfrec::Recording;
use crate::wire::Info;

/// The index of a recording.
///
/// Places are numbers: first those of blocks, in the order of the file, then those of samples in the order of theirs. The
/// lives give the offsets of both in the file, and the marks the times of samples.
pub(crate) fn index(recording: &Recording<'_>, read: &ReadOptions<'_>) -> Index {
    let mut builder = IndexBuilder::new(read.prepare);
    let slot_of =
        |kind| BLOCK_KINDS.iter().position(|other| *other == kind).and_then(|place| SlotId::try_from(place).ok());
    let samples_slot = SlotId::try_from(BLOCK_KINDS.len()).unwrap_or(SlotId::MAX);
    let first = recording.timed().next().map(|sample| sample.time).unwrap_or_default();
    let (mut lives, mut marks) = (Vec::new(), Vec::new());
    if !recording.parts().is_empty() {
        marks.push(Mark { at: 0, time: first });
    }
    for (place, part) in (0..).zip(recording.parts()) {
        let length = part.payload.len() as u64;
        lives.push(Life { id: place, start: part.at, end: Some(part.at + length) });
        if let Some(slot) = slot_of(part.kind) {
            builder.record(slot, place.into(), first.nanos(), 0, length);
        }
    }
    let mut place = u32::try_from(recording.parts().len()).unwrap_or(u32::MAX);
    let length = recording.sample_len() as u64;
    for run in recording.runs() {
        lives.push(Life { id: place, start: run.at, end: Some(run.at + u64::from(run.count) * length) });
        place = place.saturating_add(run.count);
    }
    for (at, sample) in (recording.parts().len() as u64..).zip(recording.timed()) {
        marks.push(Mark { at, time: sample.time });
        builder.record(samples_slot, at, sample.time.nanos(), 0, 1);
    }
    let sorted = builder.sorted();
    let slots = BLOCK_KINDS.len() + 1;
    let fates: Vec<Fate> = (0..).take(slots).map(Fate::Started).collect();
    let found = builder.channels(vec![Channel::default(); slots], &fates);
    let channels = channels(recording, &found);
    let in_channels: u64 = channels.iter().map(|channel| channel.bytes).sum();
    let end = recording.file_len();
    let mut facts = facts(recording);
    facts.push(Fact { key: "control_bytes", value: end.saturating_sub(in_channels).to_string() });
    Index {
        channels,
        lives,
        placed: true,
        marks,
        spans: vec![Span { start: 0, end }],
        records: recording.blocks(),
        sorted,
        facts,
        ..Index::default()
    }
}

/// The channels, with the positions of samples held once.
fn channels(recording: &Recording<'_>, found: &[ChannelIndex]) -> Vec<ChannelIndex> {
    let Some((samples, parts)) = found.split_last() else { return Vec::new() };
    let of = |channel: Channel, bytes: u64| ChannelIndex { channel, bytes: samples.samples * bytes, ..samples.clone() };
    let mut channels = Vec::new();
    if let Some(header) = &recording.header {
        channels.extend(item_channels(header.ids.iter()).into_iter().map(|channel| of(channel, 2)));
        channels.extend(STATES.map(|state| {
            let channel = state_channel(state);
            let first = matches!(named(&channel), Some(Source::State(super::model::State::Running)));
            of(channel, first.into())
        }));
    }
    let parts = BLOCK_KINDS.into_iter().zip(parts).filter(|(_, part)| part.samples > 0);
    channels.extend(parts.filter_map(|(kind, part)| {
        let channel = block_channel(kind)?;
        Some(ChannelIndex { channel, ..part.clone() })
    }));
    channels
}

/// What there is to say about the recording as a whole.
fn facts(recording: &Recording<'_>) -> Vec<Fact> {
    let head = recording.head;
    let mut facts = vec![Fact { key: "version", value: format!("{}.{}", head.major, head.minor) }];
    let mut fact = |key, value: Option<String>| facts.extend(value.map(|value| Fact { key, value }));
    fact("epoch_ns", recording.epoch_ns().map(|ns| ns.to_string()));
    fact("board", recording.info.as_ref().map(ToString::to_string));
    let commit = recording.info.as_ref().and_then(|info| match info {
        Info::V2(about) if about.commit != 0 => Some(format!("{:08x}", about.commit)),
        _ => None,
    });
    fact("commit", commit);
    let meta = |key: &str| recording.meta.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    fact("firmware", meta("firmware"));
    fact("hardware", meta("hardware"));
    fact("captured_at", meta("captured_at"));
    fact("address", meta("address"));
    fact("tool", meta("tool"));
    fact("note", meta("note"));
    fact("tick_rate", Some(recording.tick_rate().to_string()));
    fact("decimation", recording.status.as_ref().map(|status| status.decimation.to_string()));
    fact("recorded_samples", recording.header.as_ref().map(|header| header.size.to_string()));
    fact("held_samples", recording.header.as_ref().map(|_| recording.held().to_string()));
    fact("complete", Some(recording.complete.to_string()));
    facts
}
