//! Walks through a log and reports when an expression holds.

use logpose_core::{Channel, ChannelId, Lookup, Problem, Sample, Sink, SinkError, Time};

use super::bind::{Bound, Source};
use super::watch::{Watch, WatchEvent};
use logpose_files::internal::sink_error;
use logpose_files::{Error, FieldReader, Log, ScalarValue};
use logpose_files::{Mode, ModeSpan};

/// Tells every stretch of time in which the expression holds: start, end, and whether it was cut off by the end.
pub(super) fn run(
    bound: Bound,
    log: &Log,
    lookup: &Lookup,
    each: &mut dyn FnMut(Time, Time, bool),
) -> Result<(), Error> {
    let mut wanted = Lookup { channels: vec![false; log.index.channels.len()], ..Lookup::default() };
    for slot in &bound.slots {
        if let Source::Channel(id) = slot.source
            && let Some(want) = wanted.channels.get_mut(id as usize)
        {
            *want = true;
        }
    }
    let uses_modes = bound.slots.iter().any(|slot| matches!(slot.source, Source::Mode | Source::Enabled));
    let readers =
        readers(&bound, log.index.channels.iter().map(|found| Some(&found.channel)), log.schemas().registry());
    let range = log.robust_range();
    let last = range.map_or(Time::ZERO, |(_, last)| last);
    let bounds = (lookup.start.unwrap_or(Time::MIN), lookup.end.unwrap_or(Time::MAX));
    let mut walk = Walk {
        // What needs no sample holds from the start; samples of a wildly earlier clock count as if they stood there.
        watch: Watch::new(bound, range.map(|(first, _)| first)),
        readers,
        modes: if uses_modes { log.modes() } else { &[] },
        cut: Cut { bounds, each },
    };
    match log.rows_by_index(&wanted, &mut walk) {
        Ok(()) | Err(SinkError::Stopped) => {}
        Err(error) => return Err(sink_error(error, Some(&log.path))),
    }
    walk.finish(last);
    Ok(())
}

/// What reads a slot's value out of a channel's.
pub(super) struct Reader {
    pub(super) slot: usize,
    pub(super) parts: FieldReader,
}

/// For each channel what reads it.
pub(super) fn readers<'c>(
    bound: &Bound,
    channels: impl Iterator<Item = Option<&'c Channel>>,
    registry: &logpose_schema::Registry,
) -> Vec<Vec<Reader>> {
    let of = |id: ChannelId, channel: &Channel| {
        let slots = bound.slots.iter().enumerate().filter(|(_, slot)| slot.source == Source::Channel(id));
        slots.map(|(slot, _)| Reader { slot, parts: FieldReader::of(channel, registry) }).collect()
    };
    (0..).zip(channels).map(|(id, channel)| channel.map_or_else(Vec::new, |channel| of(id, channel))).collect()
}

/// The slots that a mode gives values to, with those values.
pub(super) fn mode_parts(bound: &Bound, mode: Mode) -> Vec<(usize, ScalarValue<'static>)> {
    let slots = bound.slots.iter().enumerate();
    slots
        .filter_map(|(place, slot)| match slot.source {
            Source::Mode => Some((place, ScalarValue::Text(mode.name().as_bytes().into()))),
            Source::Enabled => Some((place, ScalarValue::Boolean(mode.is_enabled()))),
            Source::Channel(_) | Source::Missing(_) => None,
        })
        .collect()
}

struct Walk<'w> {
    watch: Watch,
    /// By channel.
    readers: Vec<Vec<Reader>>,
    /// The modes that have not begun yet.
    modes: &'w [ModeSpan],
    cut: Cut<'w>,
}

impl Walk<'_> {
    /// Moves on to a moment, with the modes that begin on the way.
    fn reach(&mut self, time: Time) {
        let Self { watch, cut, .. } = self;
        let mut report = |event| cut.take(event);
        while let Some((span, rest)) = self.modes.split_first().filter(|(span, _)| span.start <= time) {
            self.modes = rest;
            watch.reach(span.start, &mut report);
            for (slot, part) in mode_parts(&watch.bound, span.mode) {
                watch.push(slot, span.start, Some(part));
            }
        }
        watch.reach(time, &mut report);
    }

    fn finish(&mut self, last: Time) {
        let at = self.watch.at();
        let end = at.map_or(last, |at| at.max(last)).min(self.cut.bounds.1.max(at.unwrap_or(last)));
        self.reach(end);
        if let Some(start) = self.watch.finish(end, &mut |event| self.cut.take(event)) {
            self.cut.report(start, end, true);
        }
    }
}

/// Cuts stretches to the wanted times.
struct Cut<'w> {
    bounds: (Time, Time),
    each: &'w mut dyn FnMut(Time, Time, bool),
}

impl Cut<'_> {
    fn take(&mut self, event: WatchEvent) {
        if let WatchEvent::Held(start, end) = event {
            self.report(start, end, false);
        }
    }

    fn report(&mut self, start: Time, end: Time, open: bool) {
        let (first, last) = self.bounds;
        let inside = (start.max(first), end.min(last));
        // A stretch that only touches the wanted times is not in them; a moment may lie on their edge.
        let touches = inside.0 > inside.1 || (inside.0 == inside.1 && start < end);
        if !touches {
            (self.each)(inside.0, inside.1, open || end > last);
        }
    }
}

impl Sink for Walk<'_> {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            if self.watch.at().is_none_or(|at| at < sample.time) {
                if sample.time > self.cut.bounds.1 {
                    return Err(SinkError::Stopped);
                }
                self.reach(sample.time);
            }
            let Some(readers) = self.readers.get(sample.channel as usize) else { continue };
            for Reader { slot, parts } in readers {
                let steps = self.watch.bound.slots.get(*slot).map(|slot| &*slot.steps);
                let part = steps.and_then(|steps| parts.at(&sample.value, steps)).map(ScalarValue::into_owned);
                self.watch.push(*slot, sample.time, part);
            }
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `FileDialect::index` has reported the problems of the log.
    }
}
