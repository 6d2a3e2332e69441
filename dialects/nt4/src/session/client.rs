use std::collections::{BTreeSet, HashMap, VecDeque};

use logpose_core::{
    Channel, ChannelId, Limits, Link, Problem, Session, Severity, Sink, SinkError, Time, Transmit, Type,
};
use serde_json::{Map, Value as Json};

use crate::error::Error;
use crate::messages::{Message, Messages, Notice, Request, SubscribeOptions};
use crate::model::{self, Values, channel_name, channel_type};
use crate::msgpack::{Item, put_int};
use crate::wire::{Kind, TIME_SYNC, Update, Updates, is_text, put_head};

/// A client asks for the server's time this often, in nanoseconds, as ntcore does.
const SYNC_EVERY: i64 = 3_000_000_000;
/// Silence that ends a conversation: two questions for the time without an answer.
const SILENCE: i64 = 2 * SYNC_EVERY;
/// A server that does not send its time for this long is subscribed to all the same.
const PATIENCE: i64 = 1_000_000_000;
/// Topics that a server does not announce again for so long after a new connection are gone.
const SETTLED: i64 = 3_000_000_000;
/// How many answers the best round trip is taken from: clocks drift, so old ones are forgotten.
const SYNCS: usize = 10;
/// So far, in microseconds, two connections' clocks may be apart before it is another clock.
const SAME_CLOCK: u64 = 1_000_000;
/// The longest text message: some ten thousand announcements in one.
const TEXT_LEN: u64 = 16 << 20;

/// What a client listens to. As it comes, it is everything that the server does not hide, and every value.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Names of topics, or beginnings of names. Topics that begin with `$` are the server's own and must be asked for
    /// by at least that letter.
    pub topics: Vec<String>,
    /// Whether the names are beginnings of names.
    pub prefix: bool,
    /// Seconds between two messages of the server.
    pub periodic: f64,
    /// Whether every value is wanted, or only the last one in each period.
    pub all: bool,
    /// Whether no values are wanted, only the topics.
    pub topics_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { topics: vec![String::new()], prefix: true, periodic: 0.02, all: true, topics_only: false }
    }
}

/// The side that listens. It has one link; opening another one forgets the topics' ids, but channels that come again
/// keep their numbers.
///
/// Channels are named and typed as in WPILib's own logs of NetworkTables, and samples have the server's time. What
/// cannot be decoded closes the link: a fresh connection brings everything anew.
#[derive(Debug)]
pub struct Nt4Client {
    limits: Limits,
    options: Options,
    link: Option<Link>,
    heard: Time,
    next_sync: Time,
    subscribed: bool,
    /// When it subscribes without the server's time, and from when on topics of the last connection are gone.
    patience: Time,
    clock: ServerClock,
    /// The topics of this connection, by their ids.
    topics: HashMap<i64, Topic>,
    ids: HashMap<String, i64>,
    /// The channels of all connections, by topic and type.
    numbers: HashMap<(String, String), ChannelId>,
    channels: Vec<Known>,
    /// Channels of the last connection that this one has not announced yet.
    stale: BTreeSet<ChannelId>,
    latest: Time,
    unknown_told: bool,
    transmit: VecDeque<Transmit>,
    close: VecDeque<Link>,
    stats: ClientStats,
}

/// What a client has received over all its connections.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ClientStats {
    /// WebSocket messages of both kinds.
    pub messages: u64,
    /// Values.
    pub values: u64,
    /// Values that the server sent again after a new connection.
    pub repeats: u64,
    /// Answers with the server's time.
    pub syncs: u64,
    /// Connections made.
    pub connections: u64,
    /// Connections given up because of silence or bytes that make no sense.
    pub failures: u64,
}

#[derive(Debug)]
struct Topic {
    name: String,
    channel: ChannelId,
    kind: Kind,
    ty: Type,
    properties: Map<String, Json>,
    /// No value of it has come on this connection, and the last connection had it, too.
    fresh: bool,
    /// The unexpected type of its values was reported.
    reported: bool,
}

#[derive(Debug)]
struct Known {
    metadata: String,
    /// The time of the last value, as the server said it.
    last: Option<i64>,
    live: bool,
}

impl Nt4Client {
    /// A client that takes messages of at most `limits.record_len` bytes.
    #[must_use]
    pub fn new(options: Options, limits: Limits) -> Self {
        Self {
            limits,
            options,
            link: None,
            heard: Time::ZERO,
            next_sync: Time::ZERO,
            subscribed: false,
            patience: Time::ZERO,
            clock: ServerClock::default(),
            topics: HashMap::new(),
            ids: HashMap::new(),
            numbers: HashMap::new(),
            channels: Vec::new(),
            stale: BTreeSet::new(),
            latest: Time::ZERO,
            unknown_told: false,
            transmit: VecDeque::new(),
            close: VecDeque::new(),
            stats: ClientStats::default(),
        }
    }

    /// What came so far.
    #[must_use]
    pub fn stats(&self) -> ClientStats {
        self.stats
    }

    /// Whether it listens to a server.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.link.is_some()
    }

    /// The server's time at `now`, if it is known.
    #[must_use]
    pub fn server_time(&self, now: Time) -> Option<Time> {
        self.clock.offset.map(|offset| Time::from_micros(now.micros().saturating_add(offset)))
    }

    /// The shortest of the last round trips, in nanoseconds.
    #[must_use]
    pub fn round_trip(&self) -> Option<i64> {
        self.clock.best().map(|(round_trip, _)| round_trip.saturating_mul(1000))
    }

    fn fail(&mut self, problem: Option<(&'static str, String)>, sink: Option<&mut dyn Sink>) {
        if let (Some((code, message)), Some(sink)) = (problem, sink) {
            let message = format!("{message}; closed the connection");
            sink.problem(Problem::general(Severity::Damage, code, message));
        }
        if let Some(link) = self.link.take() {
            self.close.push_back(link);
            self.stats.failures += 1;
        }
    }

    fn bad_message(&mut self, bytes: &[u8], error: &Error, sink: &mut dyn Sink) {
        let what = if is_text(bytes) { "text" } else { "binary" };
        let message = format!("invalid {what} message of {} bytes, byte {:#x}: {}", bytes.len(), error.at, error.kind);
        self.fail(Some(("bad-message", message)), Some(sink));
    }

    /// The server's time of something that came without one.
    fn event_time(&self, now: Time) -> Time {
        self.server_time(now).unwrap_or(self.latest)
    }

    fn subscribe(&mut self) {
        let Some(link) = self.link.filter(|_| !self.subscribed) else { return };
        self.subscribed = true;
        let Options { topics, prefix, periodic, all, topics_only } = self.options.clone();
        let options = SubscribeOptions { periodic, all, topics_only, prefix, ..SubscribeOptions::default() };
        let request = Request::Subscribe { topics, subuid: 1, options };
        self.transmit.push_back(Transmit::text(link, &format!("[{}]", request.to_json())));
    }

    fn text(&mut self, now: Time, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        for notice in Messages::<Notice>::new(bytes) {
            match notice {
                Ok(notice) => self.notice(now, notice, sink)?,
                Err(error) if error.is_recoverable() => {
                    let message = format!("ignored a message: {}", error.kind);
                    sink.problem(Problem::general(Severity::Warning, "odd-message", message));
                }
                Err(error) => {
                    self.bad_message(bytes, &error, sink);
                    break;
                }
            }
        }
        Ok(())
    }

    fn notice(&mut self, now: Time, notice: Notice, sink: &mut dyn Sink) -> Result<(), SinkError> {
        match notice {
            Notice::Announce { name, id, type_name, properties, .. } => {
                self.announce(now, name, id.into(), type_name, properties, sink)
            }
            Notice::Unannounce { id, .. } => {
                let Some(topic) = self.topics.remove(&id.into()) else { return Ok(()) };
                if self.ids.get(&topic.name) == Some(&id.into()) {
                    self.ids.remove(&topic.name);
                }
                self.end(now, topic.channel, sink)
            }
            Notice::Properties { name, update, .. } => {
                let Some(topic) = self.ids.get(&name).and_then(|id| self.topics.get_mut(id)) else { return Ok(()) };
                model::update(&mut topic.properties, &update);
                let (channel, metadata) = (topic.channel, model::metadata_of(&topic.properties));
                self.metadata(now, channel, metadata, sink)
            }
        }
    }

    fn announce(
        &mut self,
        now: Time,
        name: String,
        id: i64,
        type_name: String,
        properties: Map<String, Json>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let metadata = model::metadata_of(&properties);
        let kind = Kind::of_type(&type_name);
        let ty = Type::of(channel_type(&type_name));
        let key = (name, type_name);
        let known = self.numbers.get(&key).copied();
        let channel = match known {
            Some(channel) => channel,
            None if self.channels.len() >= self.limits.channels as usize => {
                let message = format!("more than {} channels; skipped {:?}", self.limits.channels, key.0);
                sink.problem(Problem::general(Severity::Damage, "too-many-channels", message));
                return Ok(());
            }
            None => {
                let channel = ChannelId::try_from(self.channels.len()).unwrap_or(ChannelId::MAX);
                let declared =
                    Channel { metadata: metadata.clone(), ..Channel::new(channel_name(&key.0), channel_type(&key.1)) };
                self.numbers.insert(key.clone(), channel);
                self.channels.push(Known { metadata: metadata.clone(), last: None, live: true });
                sink.channel(channel, &declared)?;
                channel
            }
        };
        let fresh = self.stale.remove(&channel);
        if let Some(known) = self.channels.get_mut(channel as usize) {
            known.live = true;
        }
        let (name, _) = key;
        self.ids.insert(name.clone(), id);
        self.topics.insert(id, Topic { name, channel, kind, ty, properties, fresh, reported: false });
        self.metadata(now, channel, metadata, sink)
    }

    fn metadata(
        &mut self,
        now: Time,
        channel: ChannelId,
        metadata: String,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let time = self.event_time(now);
        match self.channels.get_mut(channel as usize) {
            Some(known) if known.metadata != metadata => {
                known.metadata = metadata;
                sink.metadata(channel, time, &known.metadata)
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, now: Time, channel: ChannelId, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let time = self.event_time(now);
        match self.channels.get_mut(channel as usize) {
            Some(known) if known.live => {
                (known.live, known.last) = (false, None);
                sink.end(channel, time)
            }
            _ => Ok(()),
        }
    }

    fn binary(&mut self, now: Time, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let mut values = Values::default();
        let mut broken = None;
        for update in Updates::new(bytes) {
            match update {
                Ok(update) if update.id == TIME_SYNC => self.sync(now, &update, sink),
                Ok(update) => self.value(now, &update, &mut values, sink),
                Err(error) => broken = Some(error),
            }
        }
        if !values.is_empty() {
            sink.samples(&values.samples())?;
        }
        if let Some(error) = broken {
            self.bad_message(bytes, &error, sink);
        }
        Ok(())
    }

    #[inline]
    fn value<'a>(&mut self, now: Time, update: &Update<'a>, values: &mut Values<'a>, sink: &mut dyn Sink) {
        let time = if update.time == 0 { self.event_time(now) } else { Time::from_micros(update.time) };
        let Some(topic) = self.topics.get_mut(&update.id) else {
            if !self.unknown_told {
                self.unknown_told = true;
                let message = format!("skipped values of topic {}, which was not announced", update.id);
                sink.problem(Problem::general(Severity::Warning, "unknown-topic", message));
            }
            return;
        };
        let Some(known) = self.channels.get_mut(topic.channel as usize) else { return };
        let fresh = std::mem::take(&mut topic.fresh);
        if fresh && known.last == Some(update.time) && update.time != 0 {
            self.stats.repeats += 1;
            return;
        }
        match values.push(topic.channel, time, (topic.kind, topic.ty), (update.kind, &update.value)) {
            Ok(()) => {
                known.last = Some(update.time);
                self.latest = time;
                self.stats.values += 1;
            }
            Err(_) if topic.reported => {}
            Err(unfit) => {
                topic.reported = true;
                let message = format!("skipped a value of {:?} that is not {}: {unfit}", topic.name, topic.kind);
                sink.problem(Problem::general(Severity::Damage, "bad-value", message));
            }
        }
    }

    fn sync(&mut self, now: Time, update: &Update<'_>, sink: &mut dyn Sink) {
        let sent = if let Item::Int(sent) = update.value { Some(sent) } else { None };
        let first = self.clock.answers.is_empty();
        let before = self.clock.offset;
        if !sent.is_some_and(|sent| self.clock.answer(now.micros(), sent, update.time)) {
            let message = format!("invalid time answer from the server: {update}");
            sink.problem(Problem::general(Severity::Warning, "bad-sync", message));
            return;
        }
        self.stats.syncs += 1;
        if let (true, Some(before), Some(after)) = (first, before, self.clock.offset)
            && before.abs_diff(after) > SAME_CLOCK
        {
            #[expect(clippy::cast_precision_loss, reason = "it is rounded to milliseconds")]
            let seconds = after.saturating_sub(before) as f64 / 1e6;
            let message = format!("the server's clock stepped by {seconds:+.3} s since the last connection");
            sink.problem(Problem::general(Severity::Note, "server-clock", message));
        }
        self.subscribe();
    }

    /// Ends the channels that the server no longer has.
    fn settle(&mut self, now: Time, sink: &mut dyn Sink) -> Result<(), SinkError> {
        while let Some(channel) = self.stale.pop_first() {
            self.end(now, channel, sink)?;
        }
        Ok(())
    }
}

impl Session for Nt4Client {
    fn handle_open(&mut self, now: Time, link: Link) {
        if let Some(old) = self.link.replace(link).filter(|old| *old != link) {
            self.close.push_back(old);
        }
        self.stats.connections += 1;
        self.topics.clear();
        self.ids.clear();
        self.transmit.clear();
        self.clock.answers.clear();
        self.stale = (0..).zip(&self.channels).filter(|(_, known)| known.live).map(|(id, _)| id).collect();
        (self.subscribed, self.unknown_told) = (false, false);
        self.heard = now;
        self.next_sync = now;
        self.patience = now.plus(PATIENCE);
        // The first question comes before anything else, so that nothing delays the answer.
        self.handle_timeout(now);
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        if self.link != Some(link) || bytes.is_empty() {
            return Ok(());
        }
        self.heard = now;
        self.stats.messages += 1;
        let text = is_text(bytes);
        let limit = if text { self.limits.record_len.min(TEXT_LEN) } else { self.limits.record_len };
        if bytes.len() as u64 > limit {
            let message = format!("a message has {} bytes, the limit is {limit}", bytes.len());
            self.fail(Some(("too-long", message)), Some(sink));
            return Ok(());
        }
        if text {
            self.text(now, bytes, sink)?;
        } else {
            self.binary(now, bytes, sink)?;
        }
        if !self.stale.is_empty() && self.subscribed && now.since(self.patience) >= SETTLED - PATIENCE {
            self.settle(now, sink)?;
        }
        Ok(())
    }

    fn handle_close(&mut self, _: Time, link: Link) {
        if self.link == Some(link) {
            self.link = None;
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        let Some(link) = self.link else { return };
        if now.since(self.heard) >= SILENCE {
            self.fail(None, None);
            return;
        }
        if now >= self.next_sync {
            self.next_sync = now.plus(SYNC_EVERY);
            let mut message = Vec::new();
            put_head(TIME_SYNC, 0, Kind::Int, &mut message);
            put_int(now.micros(), &mut message);
            self.transmit.push_back(Transmit::one(link, message));
        }
        if now >= self.patience {
            self.subscribe();
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.link?;
        let next = self.next_sync.min(self.heard.plus(SILENCE));
        Some(if self.subscribed { next } else { next.min(self.patience) })
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmit.pop_front()
    }

    fn poll_close(&mut self) -> Option<Link> {
        self.close.pop_front()
    }

    fn clock_offset(&self) -> Option<i64> {
        self.clock.offset.map(|offset| offset.saturating_neg().saturating_mul(1000))
    }
}

/// Cristian's algorithm: the answer was made half a round trip ago, and the shortest round trip is the most exact.
#[derive(Debug, Default)]
struct ServerClock {
    /// Microseconds to add to our time, of the best of the last answers or of the last connection.
    offset: Option<i64>,
    /// Round trip and offset of the last answers.
    answers: VecDeque<(i64, i64)>,
}

impl ServerClock {
    /// Takes an answer; `false` if it cannot be one.
    fn answer(&mut self, now: i64, sent: i64, server: i64) -> bool {
        let Some(round_trip) = now.checked_sub(sent).filter(|round_trip| *round_trip >= 0) else { return false };
        let offset = server.checked_add(round_trip / 2).and_then(|server| server.checked_sub(now));
        let Some(offset) = offset else { return false };
        if self.answers.len() >= SYNCS {
            self.answers.pop_front();
        }
        self.answers.push_back((round_trip, offset));
        self.offset = self.best().map(|(_, offset)| offset);
        true
    }

    fn best(&self) -> Option<(i64, i64)> {
        self.answers.iter().copied().min_by_key(|(round_trip, _)| *round_trip)
    }
}

#[cfg(test)]
mod tests {
    use super::ServerClock;

    #[test]
    fn the_shortest_round_trip_tells_the_time() {
        let mut clock = ServerClock::default();
        assert!(clock.answer(1_000, 900, 5_000));
        assert_eq!(clock.offset, Some(4_050));
        assert!(clock.answer(2_000, 1_000, 6_500));
        assert_eq!(clock.offset, Some(4_050), "a longer one changes nothing");
        assert!(clock.answer(3_000, 2_990, 7_035));
        assert_eq!(clock.offset, Some(4_040));
        for at in 0..10 {
            assert!(clock.answer(4_000 + at, 3_980 + at, 8_000 + at));
        }
        assert_eq!(clock.offset, Some(4_010), "the best one is forgotten after a while");
        assert!(!clock.answer(10, 11, 0), "from the future");
        assert!(!clock.answer(i64::MIN, i64::MAX, 0));
        assert!(!clock.answer(0, 0, i64::MAX) || clock.offset.is_some());
    }
}
