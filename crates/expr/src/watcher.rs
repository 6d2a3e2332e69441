use std::collections::{HashMap, VecDeque};

use logpose_core::{Channel, ChannelId, Problem, Sample, Sink, SinkError, Time, Type, Value};
use logpose_schema::Registry;

use super::bind::{Bound, Catalog, Meaning, Source, bind, lacks_schema};
use super::walk::{Reader, mode_parts, readers};
use super::watch::{Watch, WatchEvent};
use super::{Query, QueryError};
use logpose_files::{Mode, ModeWatch, Role};
use logpose_files::{ScalarValue, Schemas};

/// Tells the moments at which an expression begins to hold in something that still arrives.
///
/// It is a [`Sink`] to be given everything that arrives. The moments are those at which [`Query::find`] says that
/// intervals begin, each reported as soon as it is known: when a later sample shows that a moment is over, and for
/// driver station modes some milliseconds later, because their flags come one by one.
///
/// Names are looked up among the channels that are there. One that no channel has yet is unknown, as a channel without
/// a sample is. What a name was found to mean it means from then on, unless a channel fits it better: a whole name is
/// better than the end of one. If an expression turns out to make no sense for the channels that are there it does not
/// hold, and [`Watcher::fault`] says why.
///
/// ```
/// use logpose::Order;
/// use logpose::find::{Query, Watcher};
/// # let dir = tempfile::tempdir()?;
/// # let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 25, force: false })?;
/// # let log = logpose::Log::open_with(&files[2], &logpose::OpenOptions::default(), &logpose::Quiet)?;
/// let mut watcher = Watcher::new(&Query::parse("BatteryVoltage < 8 and mode = 'teleop'")?)?;
/// log.rows(Order::Time, &logpose::core::Lookup::default(), &mut watcher)?;
/// assert!(watcher.take().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Watcher {
    query: Query,
    watch: Watch,
    channels: Vec<Option<Known>>,
    schemas: Schemas,
    names: HashMap<String, Meaning>,
    /// By channel.
    readers: Vec<Vec<Reader>>,
    /// Whether there is something that names or values may depend on and that was not heeded yet.
    stale: bool,
    fault: Option<QueryError>,
    /// If the expression asks for them.
    modes: Option<ModeWatch>,
    mode: Option<Mode>,
    /// What waits until the mode of its moment is known.
    waiting: VecDeque<Change>,
    /// The latest time of any sample.
    seen: Option<Time>,
    /// Since when all samples lie far behind that: the clock may have begun anew.
    behind: Option<Time>,
    edges: Edges,
}

/// What was found and nobody has taken.
#[derive(Default)]
struct Edges {
    begins: VecDeque<Time>,
    /// The stretches that are over, if anybody wants them.
    held: Option<VecDeque<(Time, Time)>>,
}

/// A channel that is there.
struct Known {
    channel: Channel,
    samples: u64,
    is_schema: bool,
    role: Option<Role>,
    /// Whether the schema that explains its values has not come, and then the last payload.
    lacks_schema: bool,
    raw: Option<(Time, Vec<u8>)>,
}

/// A slot gets a value.
struct Change {
    slot: usize,
    time: Time,
    part: Option<ScalarValue<'static>>,
}

impl Watcher {
    /// Watches for an expression. An expression that is invalid for any channels is refused here.
    pub fn new(query: &Query) -> Result<Self, QueryError> {
        let (schemas, names) = (Schemas::default(), HashMap::new());
        let catalog =
            Catalog { channels: Vec::new(), registry: schemas.registry(), has_modes: true, before: Some(&names) };
        let bound = bind(&query.expr, &catalog)?;
        let uses_modes = bound.slots.iter().any(|slot| matches!(slot.source, Source::Mode | Source::Enabled));
        Ok(Self {
            query: query.clone(),
            watch: Watch::new(bound, None),
            channels: Vec::new(),
            schemas,
            names,
            readers: Vec::new(),
            stale: false,
            fault: None,
            modes: uses_modes.then(ModeWatch::default),
            mode: None,
            waiting: VecDeque::new(),
            seen: None,
            behind: None,
            edges: Edges::default(),
        })
    }

    /// The next moment at which the expression began to hold; call until there is none.
    pub fn take(&mut self) -> Option<Time> {
        self.edges.begins.pop_front()
    }

    /// The same, which also keeps the stretches in which the expression held for [`Watcher::take_held`].
    #[must_use]
    pub fn with_ends(mut self) -> Self {
        self.edges.held = Some(VecDeque::new());
        self
    }

    /// The next stretch in which the expression held and which is over; call until there is none. Its end is not
    /// included.
    pub fn take_held(&mut self) -> Option<(Time, Time)> {
        self.edges.held.as_mut()?.pop_front()
    }

    /// Up to which moment it is known whether the expression holds.
    pub(super) fn reached(&self) -> Option<Time> {
        self.watch.at()
    }

    /// The schemas that have come.
    pub(super) fn registry(&self) -> &Registry {
        self.schemas.registry()
    }

    /// Whether the expression makes sense for the channels that are there, as [`Query::find`] asks it of a log.
    pub fn check(&self) -> Result<(), QueryError> {
        let has_modes = self.modes.as_ref().is_none_or(ModeWatch::is_told);
        let catalog = Catalog { channels: self.known().collect(), registry: self.registry(), has_modes, before: None };
        bind(&self.query.expr, &catalog).map(drop)
    }

    fn known(&self) -> impl Iterator<Item = (ChannelId, &Channel, u64)> {
        (0..).zip(&self.channels).filter_map(|(id, known)| {
            let known = known.as_ref()?;
            Some((id, &known.channel, known.samples))
        })
    }

    /// No more will come: what came last is looked at too.
    pub fn finish(&mut self) {
        if let Some(modes) = &mut self.modes {
            modes.finish();
        }
        self.release();
        if let Some(seen) = self.seen {
            self.advance(seen.plus(1));
        }
    }

    /// Since when the expression holds, as far as is known.
    #[must_use]
    pub fn since(&self) -> Option<Time> {
        self.watch.open()
    }

    /// The names in the expression that nothing has so far.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        let known = self.modes.as_ref().is_none_or(ModeWatch::is_told);
        self.watch.bound.slots.iter().filter_map(move |slot| match &slot.source {
            Source::Missing(name) => Some(&**name),
            Source::Mode if !known => Some("mode"),
            Source::Enabled if !known => Some("enabled"),
            Source::Channel(_) | Source::Mode | Source::Enabled => None,
        })
    }

    /// Why the expression is invalid for the channels of this log.
    #[must_use]
    pub fn fault(&self) -> Option<&QueryError> {
        self.fault.as_ref()
    }

    /// Looks up all names again.
    fn renew(&mut self) {
        self.stale = false;
        let registry = self.schemas.registry();
        let catalog =
            Catalog { channels: self.known().collect(), registry, has_modes: true, before: Some(&self.names) };
        let bound = match bind(&self.query.expr, &catalog) {
            Ok(bound) => bound,
            Err(error) => {
                self.fault = Some(error);
                self.readers.clear();
                self.waiting.clear();
                return self.watch.rebound(Bound::never());
            }
        };
        let channels = self.channels.iter().map(|known| known.as_ref().map(|known| &known.channel));
        self.readers = readers(&bound, channels, registry);
        self.fault = None;
        self.names.clone_from(&bound.names);
        // What waits is for slots whose numbers may change.
        let waiting = std::mem::take(&mut self.waiting);
        let moved = waiting
            .into_iter()
            .filter_map(|change| Some(Change { slot: moved(&self.watch.bound, &bound, change.slot)?, ..change }));
        self.waiting = moved.collect();
        self.watch.rebound(bound);
        self.explain();
    }

    /// Looks which schemas are there; values whose schema has come at last are read.
    fn explain(&mut self) {
        let Self { channels, readers, schemas, watch, .. } = self;
        for (known, readers) in channels.iter_mut().zip(&*readers).filter(|(_, readers)| !readers.is_empty()) {
            let Some(known) = known else { continue };
            known.lacks_schema = lacks_schema(&known.channel, schemas.registry());
            let Some((time, payload)) = known.raw.take_if(|_| !known.lacks_schema) else { continue };
            let value = match known.channel.ty() {
                Type::String => Value::String(&payload),
                _ => Value::Bytes(&payload),
            };
            for Reader { slot, parts } in readers {
                let steps = watch.bound.slots.get(*slot).map(|slot| &*slot.steps).filter(|steps| !steps.is_empty());
                if let Some(part) = steps.and_then(|steps| parts.at(&value, steps)) {
                    watch.push(*slot, time, Some(part.into_owned()));
                }
            }
        }
    }

    fn sample(&mut self, sample: &Sample<'_>) {
        let first = self.seen.is_none();
        self.heed(sample.time);
        if first {
            // What needs no sample holds from here on.
            self.advance(sample.time);
        }
        let Some(known) = self.channels.get_mut(sample.channel as usize).and_then(Option::as_mut) else { return };
        known.samples += 1;
        if known.is_schema
            && let Value::String(payload) | Value::Bytes(payload) = sample.value
        {
            self.schemas.add(&known.channel, payload);
            self.stale = true;
            return;
        }
        if let Some(modes) = &mut self.modes {
            modes.reach(sample.time);
            if let Some(role) = known.role {
                modes.sample(role, sample.time, &sample.value, self.schemas.registry());
            }
            self.release();
        }
        if self.stale {
            self.renew();
        }
        self.read(sample);
    }

    /// Gives a sample's value to the slots that want it.
    fn read(&mut self, sample: &Sample<'_>) {
        let place = sample.channel as usize;
        let (Some(Some(known)), Some(readers)) = (self.channels.get_mut(place), self.readers.get(place)) else {
            return;
        };
        if readers.is_empty() {
            return;
        }
        let lacks = known.lacks_schema;
        if lacks && let Value::String(payload) | Value::Bytes(payload) = sample.value {
            known.raw = Some((sample.time, payload.to_vec()));
        }
        let held = self.modes.as_ref().is_some_and(|modes| modes.open_since().is_some()) || !self.waiting.is_empty();
        let Self { watch, waiting, edges, .. } = self;
        for Reader { slot, parts } in readers {
            let Some(steps) = watch.bound.slots.get(*slot).map(|slot| &*slot.steps) else { continue };
            if lacks && !steps.is_empty() {
                continue;
            }
            let part = parts.at(&sample.value, steps).map(ScalarValue::into_owned);
            let change = Change { slot: *slot, time: sample.time, part };
            if held { waiting.push_back(change) } else { apply(watch, edges, change) }
        }
        if self.waiting.len() > MOST_WAITING {
            // So many of one moment: whatever the mode is.
            self.modes.iter_mut().for_each(ModeWatch::finish);
            self.release();
        }
    }

    /// Lets go on what need not wait for a mode any more.
    fn release(&mut self) {
        let Some(modes) = &mut self.modes else { return };
        while let Some((time, mode)) = modes.take() {
            while let Some(change) = self.waiting.pop_front_if(|change| change.time < time) {
                apply(&mut self.watch, &mut self.edges, change);
            }
            if self.mode.replace(mode) == Some(mode) {
                continue;
            }
            for (slot, part) in mode_parts(&self.watch.bound, mode) {
                apply(&mut self.watch, &mut self.edges, Change { slot, time, part: Some(part) });
            }
        }
        let limit = modes.open_since().unwrap_or(Time::MAX);
        while let Some(change) = self.waiting.pop_front_if(|change| change.time < limit) {
            apply(&mut self.watch, &mut self.edges, change);
        }
    }

    /// Evaluates up to a moment.
    fn advance(&mut self, until: Time) {
        let edges = &mut self.edges;
        self.watch.reach(until, &mut |event| report(edges, event));
    }

    /// A sample has this time. Single ones may be old, but if all are the clock has begun anew.
    fn heed(&mut self, time: Time) {
        match self.seen {
            Some(seen) if seen.since(time) > FAR_NS => {
                let since = *self.behind.get_or_insert(time);
                if time.since(since) > ANEW_NS {
                    (self.seen, self.behind) = (Some(time), None);
                    self.modes.iter_mut().for_each(ModeWatch::finish);
                    self.release();
                    self.watch.step_back(time);
                }
            }
            seen => {
                self.behind = None;
                self.seen = Some(seen.map_or(time, |seen| seen.max(time)));
            }
        }
    }
}

impl Sink for Watcher {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = id as usize;
        if self.channels.len() <= place {
            self.channels.resize_with(place + 1, || None);
        }
        let role = self.modes.as_mut().and_then(|modes| modes.channel(&channel.name));
        let is_schema = Registry::is_schema(&channel.name, &channel.type_name);
        if let Some(known) = self.channels.get_mut(place) {
            *known =
                Some(Known { channel: channel.clone(), samples: 0, is_schema, role, lacks_schema: false, raw: None });
        }
        self.stale = true;
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        samples.iter().for_each(|sample| self.sample(sample));
        // Time goes on also if nothing came that the expression asks for.
        let open = self.modes.as_ref().and_then(ModeWatch::open_since);
        let waiting = self.waiting.front().map(|change| change.time);
        if let Some(until) = self.seen.into_iter().chain(open).chain(waiting).min() {
            self.advance(until);
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // Conditions ask for values. Whoever feeds the watcher has the problems.
    }
}

fn apply(watch: &mut Watch, edges: &mut Edges, change: Change) {
    watch.reach(change.time, &mut |event| report(edges, event));
    watch.push(change.slot, change.time, change.part);
}

fn report(edges: &mut Edges, event: WatchEvent) {
    match (event, &mut edges.held) {
        (WatchEvent::Held(start, end), Some(held)) => held.push_back((start, end)),
        (WatchEvent::Held(..), None) => {}
        // Who takes stretches does not take their beginnings.
        (WatchEvent::Begins(_), Some(_)) => {}
        (WatchEvent::Begins(time), None) => edges.begins.push_back(time),
    }
}

/// The number of a slot in an expression that was bound anew.
fn moved(old: &Bound, new: &Bound, slot: usize) -> Option<usize> {
    let slot = old.slots.get(slot)?;
    new.slots.iter().position(|known| known == slot)
}

/// Samples further back than this are old, and if they go on for that long a robot was restarted.
const FAR_NS: i64 = 5_000_000_000;
const ANEW_NS: i64 = 1_000_000_000;
/// More changes do not wait for a mode.
const MOST_WAITING: usize = 1 << 16;
