use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use logpose_core::{
    Channel, ChannelId, EncodeError, Limits, Link, Problem, Sample, Serve, Session, Sink, SinkError, Time, Transmit,
    Value,
};
use serde_json::{Map, Value as Json};

use super::interests::Interests;
use super::topics::{Client, Mode, Publisher, Topic, Topics};
use crate::messages;
use crate::model::{self, put_value, topic_name, topic_type};
use crate::wire::{Kind, is_text, put_head};

/// The longest text message of a client.
const TEXT_LEN: u64 = 2 << 20;
/// So far, in microseconds, may a sample be older than the newest one of its batch and keep its place in time.
const SPREAD: i64 = 1_000_000;
/// Topics catch up with changed subscriptions at most at one in so many nanoseconds on average, so that clients who
/// subscribe without end take a small part of a processor.
const CATCH_UP: i64 = 1_000;
/// So far, in nanoseconds, they may be ahead of that: clients that come at once need not wait.
const AHEAD: i64 = 100_000_000;

/// What a server allows its clients.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// The longest message, the number of topics, and the bytes of one client's subscriptions (`held_back`).
    pub limits: Limits,
    /// How many bytes of topics and their last values there may be before clients can add no more.
    pub kept: usize,
    /// How many publishers one client may have.
    pub publishers: usize,
    /// How many bytes of properties a topic may have that a client publishes or changes.
    pub properties: usize,
    /// How many subscriptions one client may have.
    pub subscriptions: usize,
    /// How many names and prefixes the subscriptions of one client may have.
    pub names: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        // ntcore takes messages of 2 MiB.
        let limits = Limits { record_len: 2 << 20, channels: 1 << 17, held_back: 4 << 20 };
        Self {
            limits,
            kept: 256 << 20,
            publishers: 1 << 12,
            properties: 64 << 10,
            subscriptions: 1 << 12,
            names: 1 << 14,
        }
    }
}

/// The side that a robot is. Channels and samples put into its sink are topics and values for its clients; what clients
/// publish goes to the other clients, and into the sink that [`Session::handle_input`] is given.
///
/// ```
/// use logpose_core::{Channel, Link, Sample, Serve, Session, Sink, Time, Value};
/// use logpose_nt4::{Nt4Server, ServerOptions, Updates};
///
/// struct Nothing;
/// impl Sink for Nothing {
///     fn channel(&mut self, _: u32, _: &Channel) -> Result<(), logpose_core::SinkError> { Ok(()) }
///     fn samples(&mut self, _: &[Sample<'_>]) -> Result<(), logpose_core::SinkError> { Ok(()) }
///     fn problem(&mut self, problem: logpose_core::Problem) { eprintln!("{problem:?}"); }
/// }
///
/// let mut server = Nt4Server::new(ServerOptions::default());
/// let now = Time::from_millis(20);
/// server.sink(now).channel(0, &Channel::new("NT:/A", "int64"))?;
/// server.sink(now).samples(&[Sample { channel: 0, time: now, value: Value::Int64(7) }])?;
/// server.handle_open(now, Link(1));
/// let ask = br#"[{"method":"subscribe","params":{"topics":[""],"subuid":1,"options":{"prefix":true}}}]"#;
/// server.handle_input(now, Link(1), ask, &mut Nothing)?;
/// server.handle_timeout(now);
/// let announced = server.poll_transmit().unwrap();
/// let begin = br#"[{"method":"announce","params":{"name":"/A","id":0,"type":"int""#;
/// assert!(announced.text && announced.bytes.starts_with(begin));
/// let value = server.poll_transmit().unwrap();
/// assert_eq!(Updates::new(&value.bytes).next().unwrap()?.to_string(), "#0 0.000001 int 7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The server's clock starts at zero when it first hears of a time, and values have the time on it at which they were
/// put in: clients compare it with the time that they have asked for. A value is encoded once, whoever gets it. What a
/// slow client has not taken yet is held by the one who drives the server, and it is for that one to close the link
/// when it is too much.
#[derive(Debug)]
pub struct Nt4Server {
    pub(super) options: ServerOptions,
    pub(super) start: Option<Time>,
    pub(super) now: Time,
    pub(super) topics: Topics,
    pub(super) clients: Vec<Option<Client>>,
    slots: BTreeMap<Link, usize>,
    /// How many clients there ever were.
    serials: u64,
    /// What was declared to the sink, by number.
    pub(super) own: Vec<Option<Own>>,
    /// What was declared to the sink of `handle_input`, by topic and type, and the metadata.
    pub(super) numbers: HashMap<(String, String), ChannelId>,
    pub(super) metadata: Vec<String>,
    /// Bytes of both.
    pub(super) declared: usize,
    /// Topics whose metadata the sink of `handle_input` may not know yet.
    pub(super) changed: BTreeSet<i32>,
    /// Channels that ended and of which the sink does not know yet.
    pub(super) ended: Vec<ChannelId>,
    /// The values of the topics about the server itself.
    pub(super) meta: BTreeMap<String, Vec<u8>>,
    /// What clients ask for of them, by slot and subscription.
    pub(super) meta_interests: Interests<(usize, i32)>,
    pub(super) meta_due: Option<Time>,
    /// They are not made anew before.
    pub(super) meta_next: Time,
    /// Clients whose changed subscriptions the topics have not caught up with, in the order in which they asked.
    waiting: VecDeque<usize>,
    /// When the next of them has its turn.
    next_turn: Time,
    pub(super) transmit: VecDeque<Transmit>,
    close: VecDeque<Link>,
    /// The message that is being made.
    message: Vec<u8>,
}

/// A channel that is published by the server itself.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) name: String,
    type_name: String,
    properties: Map<String, Json>,
    /// The topic, while it is published.
    pub(super) topic: Option<i32>,
}

impl Nt4Server {
    /// A server without clients and without topics.
    #[must_use]
    pub fn new(options: ServerOptions) -> Self {
        Self {
            options,
            start: None,
            now: Time::MIN,
            topics: Topics::default(),
            clients: Vec::new(),
            slots: BTreeMap::new(),
            serials: 0,
            own: Vec::new(),
            numbers: HashMap::new(),
            metadata: Vec::new(),
            declared: 0,
            changed: BTreeSet::new(),
            ended: Vec::new(),
            meta: BTreeMap::new(),
            meta_interests: Interests::default(),
            meta_due: None,
            meta_next: Time::MIN,
            waiting: VecDeque::new(),
            next_turn: Time::MIN,
            transmit: VecDeque::new(),
            close: VecDeque::new(),
            message: Vec::new(),
        }
    }

    /// Says what the client behind an open link calls itself, which stands in the path of its request, and where it is.
    /// Only the meta topics pass it on.
    pub fn introduce(&mut self, link: Link, name: &str, address: &str) {
        let Some(slot) = self.slots.get(&link).copied() else { return };
        if let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) {
            let name = if name.is_empty() { "NT4" } else { name };
            client.name = format!("{name}@{slot}");
            address.clone_into(&mut client.address);
        }
        self.mark_meta();
    }

    /// How many clients there are, without links that only ask for the time.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients.iter().flatten().filter(|client| client.speaks).count()
    }

    /// How many topics there are, without those about the server itself.
    #[must_use]
    pub fn topics(&self) -> usize {
        self.topics.len() - self.meta.len()
    }

    /// Notes what time it is. The first time is the server's zero.
    fn tick(&mut self, now: Time) {
        self.start.get_or_insert(now);
        self.now = self.now.max(now);
    }

    /// Microseconds on the server's clock; never 0, which means no time at all.
    pub(super) fn server_time(&self) -> i64 {
        let start = self.start.unwrap_or(self.now);
        (self.now.since(start) / 1000).saturating_add(1)
    }

    /// Names a channel of the server's own.
    fn declare(&mut self, id: ChannelId, channel: &Channel) {
        let at = id as usize;
        if self.own.len() <= at {
            self.own.resize_with(at + 1, || None);
        }
        let own = Own {
            name: topic_name(&channel.name),
            type_name: topic_type(&channel.type_name).to_owned(),
            properties: model::properties_of(&channel.metadata),
            topic: None,
        };
        let before = self.own.get(at).and_then(Option::as_ref);
        if before.is_some_and(|before| before.name == own.name && before.type_name == own.type_name) {
            self.set_own_properties(id, own.properties);
            return;
        }
        self.unpublish_own(id);
        if let Some(place) = self.own.get_mut(at) {
            *place = Some(own);
        }
        self.publish_own(id);
    }

    /// The topic of one of the server's own channels, which is made if there is none.
    fn publish_own(&mut self, id: ChannelId) -> Option<i32> {
        let own = self.own.get_mut(id as usize)?.as_mut()?;
        if let Some(topic) = own.topic {
            return Some(topic);
        }
        let (name, type_name, properties) = (own.name.clone(), own.type_name.clone(), own.properties.clone());
        let topic = self.topics.id(&name);
        let topic = topic.or_else(|| self.create(Topic::new(&name, &type_name, properties), None))?;
        self.topics.get_mut(topic)?.publishers.insert(own_publisher(id));
        self.own.get_mut(id as usize)?.as_mut()?.topic = Some(topic);
        self.mark_meta();
        Some(topic)
    }

    fn unpublish_own(&mut self, id: ChannelId) {
        let topic = self.own.get_mut(id as usize).and_then(Option::as_mut).and_then(|own| own.topic.take());
        if let Some(topic) = topic {
            if let Some(topic) = self.topics.get_mut(topic).filter(|topic| topic.owner == Some(id)) {
                topic.owner = None;
            }
            self.unpublish(topic, own_publisher(id));
        }
    }

    fn set_own_properties(&mut self, id: ChannelId, properties: Map<String, Json>) {
        let Some(own) = self.own.get_mut(id as usize).and_then(Option::as_mut) else { return };
        own.properties.clone_from(&properties);
        let Some(topic) = own.topic else { return };
        let update = self.topics.get(topic).map(|topic| model::difference(&topic.properties, &properties));
        self.set_properties(topic, &update.unwrap_or_default(), None);
    }

    /// Publishes a value of one of the server's own channels.
    fn put_own(&mut self, id: ChannelId, time: i64, value: &Value<'_>) -> Result<(), EncodeError> {
        let Some(Some(_)) = self.own.get(id as usize) else { return Ok(()) };
        let Some(at) = self.publish_own(id) else {
            return Err(self.refused(id, "too many topics".to_owned()));
        };
        let Some(topic) = self.topics.get(at) else { return Ok(()) };
        let time = if topic.from.is_none() { time.max(topic.time) } else { time };
        if topic.owner != Some(id) {
            self.own_type(at, id);
        }
        if self.put(at, None, time, value) {
            return Ok(());
        }
        let kind = self.topics.get(at).map(|topic| topic.kind);
        Err(self.refused(id, format!("a {:?} is not {}", value.ty(), kind.unwrap_or(Kind::Raw))))
    }

    fn refused(&self, id: ChannelId, message: String) -> EncodeError {
        let own = self.own.get(id as usize).and_then(Option::as_ref);
        EncodeError::new("nt4", own.map(|own| own.name.clone()).unwrap_or_default(), message)
    }

    /// NetworkTables has one type for each name. A channel of the server's own that has another one changes it, for
    /// a client's publisher must not hold up the robot's own values.
    fn own_type(&mut self, at: i32, id: ChannelId) {
        let Some(Some(own)) = self.own.get(id as usize) else { return };
        let Some(topic) = self.topics.get_mut(at) else { return };
        topic.owner = Some(id);
        if topic.type_name == own.type_name {
            return;
        }
        let new = Topic::new(&own.name, &own.type_name, own.properties.clone());
        let slots: Vec<usize> = topic.listeners.iter().map(|listener| listener.slot).collect();
        let message = messages::unannounce(&topic.name, at).to_string();
        for slot in &slots {
            self.tell_gone(at, *slot, &message);
        }
        let update = self.topics.get(at).map(|topic| model::difference(&topic.properties, &new.properties));
        self.topics.update_properties(at, &update.unwrap_or_default());
        self.topics.change(at, |topic| {
            (topic.type_name, topic.kind) = (new.type_name, new.kind);
            topic.last.clear();
            (topic.time, topic.from) = (0, None);
            self.ended.extend(topic.channel.take());
        });
        for slot in slots {
            self.announce(at, slot, None);
            if let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) {
                client.topics.insert(at);
            }
        }
    }

    /// Makes a topic, and announces it to all who want to hear of it but `except`. `None` if there are too many.
    pub(super) fn create(&mut self, topic: Topic, except: Option<usize>) -> Option<i32> {
        if !topic.meta && self.topics() >= self.options.limits.channels as usize {
            return None;
        }
        let name = topic.name.clone();
        let id = self.topics.insert(topic);
        let mut message = None;
        for slot in 0..self.clients.len() {
            if except == Some(slot) || !self.listen(id, slot, &name) {
                continue;
            }
            let client = self.clients.get_mut(slot).and_then(Option::as_mut);
            if let (Some(client), Some(topic)) = (client, self.topics.get(id)) {
                client.say(message.get_or_insert_with(|| announcement(topic, id, None)), &mut self.transmit);
            }
        }
        Some(id)
    }

    /// Sets how a client listens to a topic; `false` if it does not.
    pub(super) fn listen(&mut self, id: i32, slot: usize, name: &str) -> bool {
        let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) else { return false };
        let Some(topic) = self.topics.get_mut(id) else { return false };
        let Some((mode, period)) = client.interests.serves(name) else {
            if let Some(listener) = topic.listener(slot) {
                listener.mode = Mode::None;
            }
            return false;
        };
        let queue = client.queue(period);
        topic.set_listener(slot, mode, queue);
        client.topics.insert(id);
        true
    }

    /// Announces a topic.
    pub(super) fn announce(&mut self, id: i32, slot: usize, pubuid: Option<i32>) {
        let client = self.clients.get_mut(slot).and_then(Option::as_mut);
        if let (Some(client), Some(topic)) = (client, self.topics.get(id)) {
            client.say(&announcement(topic, id, pubuid), &mut self.transmit);
        }
    }

    /// Has the topics catch up with a client's changed subscriptions: now if there is time, or when it is its turn.
    pub(super) fn catch_up_soon(&mut self, slot: usize) {
        let client = self.clients.get_mut(slot).and_then(Option::as_mut);
        let Some(client) = client.filter(|client| !client.waits && !client.changes.is_empty()) else { return };
        if self.waiting.is_empty() && self.next_turn <= self.now.plus(AHEAD) {
            self.catch_up(slot);
        } else {
            client.waits = true;
            self.waiting.push_back(slot);
        }
    }

    /// Brings the listeners of all topics up to date that a client's changed subscriptions concern.
    fn catch_up(&mut self, slot: usize) {
        let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) else { return };
        client.waits = false;
        let changes = std::mem::take(&mut client.changes);
        // What waits goes out now, so that nothing waits in a queue that the topic is no longer in.
        client.send(slot, None, self.now, &mut self.topics, &mut self.transmit);
        let concerned = self.topics.concerned(&changes);
        let work = i64::try_from(concerned.len() + changes.len()).unwrap_or(i64::MAX);
        self.next_turn = self.next_turn.max(self.now).plus(work.saturating_mul(CATCH_UP));
        for id in concerned {
            self.catch_up_topic(slot, id);
        }
    }

    /// Brings one topic up to date with a client's subscriptions.
    pub(super) fn catch_up_topic(&mut self, slot: usize, id: i32) {
        let Some(topic) = self.topics.get_mut(id) else { return };
        let before = topic.listener(slot).map(|listener| listener.mode);
        let name = std::mem::take(&mut topic.name);
        let listens = self.listen(id, slot, &name);
        if let Some(topic) = self.topics.get_mut(id) {
            topic.name = name;
        }
        if listens && before.is_none() {
            self.announce(id, slot, None);
        }
        let Some(topic) = self.topics.get_mut(id) else { return };
        let Some(listener) = topic.listener(slot).copied() else { return };
        let client = self.clients.get_mut(slot).and_then(Option::as_mut);
        if let Some(client) = client
            && listener.mode > Mode::None
            && before.is_none_or(|before| before == Mode::None)
            && topic.cached
            && !topic.last.is_empty()
        {
            client.add(listener.queue, &topic.last, self.now, &mut self.transmit);
        }
    }

    /// Says that a topic is gone, behind the last of its values.
    fn tell_gone(&mut self, id: i32, slot: usize, message: &str) {
        let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) else { return };
        client.send(slot, None, self.now, &mut self.topics, &mut self.transmit);
        client.topics.remove(&id);
        client.say(message, &mut self.transmit);
    }

    pub(super) fn delete(&mut self, id: i32) {
        let Some(topic) = self.topics.get(id) else { return };
        let slots: Vec<usize> = topic.listeners.iter().map(|listener| listener.slot).collect();
        let message = messages::unannounce(&topic.name, id).to_string();
        for slot in slots {
            self.tell_gone(id, slot, &message);
        }
        if let Some(topic) = self.topics.remove(id) {
            self.ended.extend(topic.channel);
        }
        self.mark_meta();
    }

    pub(super) fn unpublish(&mut self, id: i32, publisher: Publisher) {
        let Some(topic) = self.topics.get_mut(id) else { return };
        topic.publishers.remove(&publisher);
        if !topic.lives() {
            self.delete(id);
        }
        self.mark_meta();
    }

    /// Changes properties and informs all clients that know the topic.
    pub(super) fn set_properties(&mut self, id: i32, update: &Map<String, Json>, asked: Option<usize>) {
        if update.is_empty() {
            return;
        }
        self.topics.update_properties(id, update);
        let Some(topic) = self.topics.get(id) else { return };
        if !topic.lives() {
            self.delete(id);
            return;
        }
        let message = |asked| messages::properties(&topic.name, asked, update).to_string();
        let others = message(false);
        for listener in &topic.listeners {
            if let Some(client) = self.clients.get_mut(listener.slot).and_then(Option::as_mut) {
                let message = if asked == Some(listener.slot) { &message(true) } else { &others };
                client.say(message, &mut self.transmit);
            }
        }
    }

    /// Sends a value to all who listen, except to the client that it came from. `false` if it is none of the topic's
    /// type, or if there is no room to keep it.
    pub(super) fn put(&mut self, id: i32, from: Option<usize>, time: i64, value: &Value<'_>) -> bool {
        let bytes = self.topics.bytes();
        let Some(topic) = self.topics.get_mut(id) else { return true };
        self.message.clear();
        put_head(id.into(), time, topic.kind, &mut self.message);
        if !put_value(topic.kind, value, &mut self.message) {
            return false;
        }
        if from.is_some() && (bytes + self.message.len()).saturating_sub(topic.last.len()) > self.options.kept {
            return false;
        }
        let origin = from.and_then(|slot| self.clients.get(slot)?.as_ref()).map(|client| client.serial);
        // "Caching": the value with the latest timestamp is kept. Whoever sent it may go back in time.
        let latest = topic.last.is_empty() || topic.from == origin || time >= topic.time || !topic.cached;
        for listener in &mut topic.listeners {
            let Some(client) = self.clients.get_mut(listener.slot).and_then(Option::as_mut) else { continue };
            match listener.mode {
                _ if from == Some(listener.slot) => {}
                Mode::All => client.add(listener.queue, &self.message, self.now, &mut self.transmit),
                Mode::Last if latest && !listener.pending => {
                    listener.pending = true;
                    client.remember(listener.queue, id, self.now);
                }
                Mode::None | Mode::Last => {}
            }
        }
        if latest {
            self.topics.change(id, |topic| {
                std::mem::swap(&mut topic.last, &mut self.message);
                (topic.time, topic.from) = (time, origin);
            });
        }
        true
    }

    fn forget(&mut self, link: Link) {
        let Some(slot) = self.slots.remove(&link) else { return };
        let Some(client) = self.clients.get_mut(slot).and_then(Option::take) else { return };
        self.waiting.retain(|waiting| *waiting != slot);
        for (subuid, subscription) in &client.subscriptions {
            self.meta_interests.remove((slot, *subuid), subscription);
        }
        for id in client.topics {
            if let Some(topic) = self.topics.get_mut(id) {
                topic.remove_listener(slot);
            }
        }
        for (uid, topic) in client.publishers {
            self.unpublish(topic, Publisher { slot: Some(slot), uid });
        }
        self.mark_meta();
    }

    fn refuse(&mut self, link: Link, code: &'static str, message: &str, sink: &mut dyn Sink) {
        if let Some(slot) = self.slots.get(&link) {
            self.warn(*slot, code, &format!("{message}; closed the connection"), sink);
        }
        self.forget(link);
        self.close.push_back(link);
    }
}

fn announcement(topic: &Topic, id: i32, pubuid: Option<i32>) -> String {
    messages::announce(&topic.name, id, &topic.type_name, pubuid, &topic.properties).to_string()
}

fn own_publisher(id: ChannelId) -> Publisher {
    Publisher { slot: None, uid: i32::try_from(id).unwrap_or(i32::MAX) }
}

impl Session for Nt4Server {
    fn handle_open(&mut self, now: Time, link: Link) {
        self.tick(now);
        self.forget(link);
        let slot = self.clients.iter().position(Option::is_none).unwrap_or_else(|| {
            self.clients.push(None);
            self.clients.len() - 1
        });
        if let Some(place) = self.clients.get_mut(slot) {
            self.serials += 1;
            *place = Some(Client::new(link, slot, self.serials));
        }
        self.slots.insert(link, slot);
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.tick(now);
        self.tell_ends(sink)?;
        let Some(slot) = self.slots.get(&link).copied().filter(|_| !bytes.is_empty()) else { return Ok(()) };
        let text = is_text(bytes);
        let limit = if text { self.options.limits.record_len.min(TEXT_LEN) } else { self.options.limits.record_len };
        if bytes.len() as u64 > limit {
            self.refuse(link, "too-long", &format!("a message has {} bytes, the limit is {limit}", bytes.len()), sink);
            return self.tell_ends(sink);
        }
        let result = if text { self.text(slot, bytes, sink)? } else { self.binary(slot, bytes, sink)? };
        if let Err(error) = result {
            let what = if text { "text" } else { "binary" };
            let message = format!("invalid {what} message, byte {:#x}: {}", error.at, error.kind);
            self.refuse(link, "bad-message", &message, sink);
            return self.tell_ends(sink);
        }
        Ok(())
    }

    fn handle_close(&mut self, now: Time, link: Link) {
        self.tick(now);
        self.forget(link);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.tick(now);
        if self.meta_due.is_some_and(|due| due <= now) {
            self.refresh_meta();
        }
        while self.next_turn <= now.plus(AHEAD)
            && let Some(slot) = self.waiting.pop_front()
        {
            self.catch_up(slot);
        }
        for (slot, client) in self.clients.iter_mut().enumerate() {
            if let Some(client) = client.as_mut().filter(|client| client.due().is_some_and(|due| due <= now)) {
                client.send(slot, Some(now), now, &mut self.topics, &mut self.transmit);
            }
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        let turn = (!self.waiting.is_empty()).then_some(self.next_turn.plus(-AHEAD));
        self.clients.iter().flatten().filter_map(Client::due).chain(self.meta_due).chain(turn).min()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        if self.transmit.is_empty() {
            self.clients.iter_mut().flatten().for_each(|client| client.send_text(&mut self.transmit));
        }
        self.transmit.pop_front()
    }

    fn poll_close(&mut self) -> Option<Link> {
        self.close.pop_front()
    }
}

impl Serve for Nt4Server {
    fn sink(&mut self, now: Time) -> &mut dyn Sink {
        self.tick(now);
        self
    }
}

/// Samples of one call keep their distances in time; the newest is now.
impl Sink for Nt4Server {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.declare(id, channel);
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let now = self.server_time();
        let newest = samples.iter().map(|sample| sample.time).max().unwrap_or_default();
        let mut refused = Ok(());
        for sample in samples {
            let age = newest.since(sample.time) / 1000;
            let time = if age <= SPREAD { now.saturating_sub(age).max(1) } else { now };
            refused = refused.and(self.put_own(sample.channel, time, &sample.value));
        }
        Ok(refused?)
    }

    fn metadata(&mut self, id: ChannelId, _: Time, metadata: &str) -> Result<(), SinkError> {
        self.set_own_properties(id, model::properties_of(metadata));
        Ok(())
    }

    fn end(&mut self, id: ChannelId, _: Time) -> Result<(), SinkError> {
        self.unpublish_own(id);
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // Topics have values and nothing else. Whoever publishes keeps the problems of its sources.
    }
}
