//! Fields to samples, in batches: what replay and the stream decoder share.

use std::collections::HashMap;
use std::ops::ControlFlow;

use logpose_core::{
    Bindings, Channel, ChannelId, Lookup, Problem, Sample, Severity, Sink, SinkError, SlotId, Time, Type,
};

use crate::model::{key_of, value};
use crate::walk::{Field, Visit};
use crate::wire::Revision;

/// Samples are handed over in batches of this many.
const BATCH: usize = 1024;

/// Which channel each slot is, and what the sink knows of the channels.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    by_slot: Vec<Meaning>,
    by_name: HashMap<(String, String), ChannelId>,
    channels: Vec<State>,
    /// Whether channels that are not there yet may be added: a stream decoder does not know them before.
    open: bool,
}

#[derive(Debug)]
struct State {
    channel: Channel,
    declared: bool,
    /// It has had a sample since it last ended.
    live: bool,
}

#[derive(Clone, Copy, Debug)]
enum Meaning {
    NotAsked,
    Unknown,
    Channel(ChannelId, Type),
}

impl Bound {
    /// The channels of an index, and no others.
    pub(crate) fn to<'c>(channels: impl Iterator<Item = &'c Channel>) -> Self {
        let mut bound = Self { open: true, ..Self::default() };
        channels.for_each(|channel| {
            bound.id(channel);
        });
        bound.open = false;
        bound
    }

    /// Channels as they come.
    pub(crate) fn open() -> Self {
        Self { open: true, ..Self::default() }
    }

    /// Forgets what slots mean, for another walk; the channels and their numbers stay.
    pub(crate) fn forget_slots(&mut self) {
        self.by_slot.clear();
    }

    fn id(&mut self, channel: &Channel) -> Option<ChannelId> {
        let key = (channel.name.clone(), channel.type_name.clone());
        if let Some(id) = self.by_name.get(&key) {
            return Some(*id);
        }
        let id = ChannelId::try_from(self.channels.len()).ok().filter(|_| self.open)?;
        self.by_name.insert(key, id);
        self.channels.push(State { channel: channel.clone(), declared: false, live: false });
        Some(id)
    }

    #[cold]
    fn resolve(&mut self, bindings: &Bindings, slot: SlotId) -> Meaning {
        let mut origin = bindings.slots().get(slot as usize);
        while let Some(found) = origin
            && !found.is_declared()
        {
            origin = found.after().and_then(|after| bindings.slots().get(after as usize));
        }
        let declared = origin.and_then(|slot| bindings.declared(slot));
        let channel = declared.map(|(name, type_name)| Channel::new(name, type_name));
        let meaning = match channel.and_then(|channel| Some((self.id(&channel)?, channel.ty()))) {
            Some((id, ty)) => Meaning::Channel(id, ty),
            None => Meaning::Unknown,
        };
        if self.by_slot.len() <= slot as usize {
            self.by_slot.resize(slot as usize + 1, Meaning::NotAsked);
        }
        if let Some(place) = self.by_slot.get_mut(slot as usize) {
            *place = meaning;
        }
        meaning
    }
}

/// Hands samples to a sink.
pub(crate) struct Output<'s, 'a> {
    pub(crate) revision: Revision,
    pub(crate) bound: &'s mut Bound,
    pub(crate) lookup: &'s Lookup,
    pub(crate) sink: &'s mut dyn Sink,
    /// Whether to report what cannot be read: replay need not, because the index has.
    pub(crate) report: bool,
    pub(crate) batch: Vec<Sample<'a>>,
    pub(crate) error: Option<SinkError>,
}

impl<'a> Output<'_, 'a> {
    /// Hands over what is left, and says whether the sink took everything.
    pub(crate) fn finish(mut self) -> Result<(), SinkError> {
        let flow = self.flush();
        match self.error {
            Some(error) => Err(error),
            None => {
                debug_assert!(flow.is_continue());
                Ok(())
            }
        }
    }

    /// Declares the wanted channels that have no samples at all.
    pub(crate) fn declare_empty(&mut self, is_empty: impl Fn(ChannelId) -> bool) {
        for id in 0..ChannelId::try_from(self.bound.channels.len()).unwrap_or(ChannelId::MAX) {
            if self.error.is_none() && is_empty(id) && self.lookup.wants(id) {
                let _ = self.declare(id);
            }
        }
    }

    #[inline]
    fn flush(&mut self) -> ControlFlow<()> {
        if self.batch.is_empty() || self.error.is_some() {
            return ControlFlow::Continue(());
        }
        let taken = self.sink.samples(&self.batch);
        self.batch.clear();
        self.take(taken)
    }

    fn take(&mut self, result: Result<(), SinkError>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn declare(&mut self, id: ChannelId) -> ControlFlow<()> {
        match self.bound.channels.get_mut(id as usize) {
            Some(state) if !state.declared => {
                state.declared = true;
                let taken = self.sink.channel(id, &state.channel);
                self.take(taken)
            }
            _ => ControlFlow::Continue(()),
        }
    }

    #[cold]
    fn bind(&mut self, bindings: &Bindings, slot: SlotId, at: u64) -> (Meaning, ControlFlow<()>) {
        let meaning = self.bound.resolve(bindings, slot);
        let flow = match meaning {
            Meaning::Channel(id, _) if self.lookup.wants(id) => self.declare(id),
            Meaning::Unknown if self.report => {
                let id = bindings.slots().get(slot as usize).map_or(0, |slot| key_of(self.revision, slot.id));
                let message = format!("key {id} has fields before its definition; skipped the fields of this key");
                self.sink.problem(Problem::new(Severity::Damage, "unknown-key", at, 0, message));
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        };
        (meaning, flow)
    }
}

impl<'a> Visit<'a> for Output<'_, 'a> {
    #[inline]
    fn field(&mut self, bindings: &Bindings, field: Field<'a>) -> ControlFlow<()> {
        let mut meaning = self.bound.by_slot.get(field.slot as usize).copied().unwrap_or(Meaning::NotAsked);
        if let Meaning::NotAsked = meaning {
            let (found, flow) = self.bind(bindings, field.slot, field.at);
            flow?;
            meaning = found;
        }
        let Meaning::Channel(channel, ty) = meaning else { return ControlFlow::Continue(()) };
        if !self.lookup.wants(channel) {
            return ControlFlow::Continue(());
        }
        let Some(time) = self.lookup.admits(channel, Time::from_nanos(field.time)) else {
            return ControlFlow::Continue(());
        };
        match value(self.revision, field.kind, ty, field.value) {
            Ok(value) => {
                if self.revision == Revision::R1
                    && let Some(state) = self.bound.channels.get_mut(channel as usize)
                {
                    state.live = true;
                }
                self.batch.push(Sample { channel, time, value });
                if self.batch.len() >= BATCH { self.flush() } else { ControlFlow::Continue(()) }
            }
            Err(misfit) => {
                if self.report
                    && let Some(state) = self.bound.channels.get(channel as usize)
                {
                    self.sink.problem(bad_value(&state.channel, field.at, field.len, &misfit));
                }
                ControlFlow::Continue(())
            }
        }
    }

    fn key(&mut self, bindings: &Bindings, slot: SlotId) -> ControlFlow<()> {
        // A stream has no index to look the channels up in, so the sink learns of them when they are defined.
        if !self.bound.open {
            return ControlFlow::Continue(());
        }
        match self.bound.resolve(bindings, slot) {
            Meaning::Channel(id, _) => self.declare(id),
            _ => ControlFlow::Continue(()),
        }
    }

    fn null(&mut self, bindings: &Bindings, slots: &[SlotId], time: i64) -> ControlFlow<()> {
        let time = Time::from_nanos(time);
        for slot in slots {
            let Meaning::Channel(id, _) = self.bound.resolve_known(bindings, *slot) else { continue };
            let Some(state) = self.bound.channels.get_mut(id as usize) else { continue };
            if state.live {
                state.live = false;
                self.flush()?;
                let taken = self.sink.end(id, time);
                self.take(taken)?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl Bound {
    /// What a slot means, without making a channel of an R1 type that never had a value.
    fn resolve_known(&mut self, bindings: &Bindings, slot: SlotId) -> Meaning {
        match self.by_slot.get(slot as usize) {
            Some(meaning @ (Meaning::Channel(..) | Meaning::Unknown)) => *meaning,
            _ => {
                let open = std::mem::replace(&mut self.open, false);
                let meaning = self.resolve(bindings, slot);
                self.open = open;
                if let (Meaning::Unknown, Some(place)) = (meaning, self.by_slot.get_mut(slot as usize)) {
                    *place = Meaning::NotAsked;
                }
                meaning
            }
        }
    }
}

/// The problem of a value whose size does not fit its channel's type.
pub(crate) fn bad_value(channel: &Channel, at: u64, len: usize, misfit: &logpose_core::Misfit) -> Problem {
    let message = format!("{:?} ({}): {misfit}; skipped the value", channel.name, channel.type_name);
    Problem::new(Severity::Damage, "bad-value", at, len as u64, message)
}
