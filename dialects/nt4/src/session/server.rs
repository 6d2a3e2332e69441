use std::collections::{BTreeMap, HashMap, VecDeque};

use logpose_core::{
    Channel, ChannelId, EncodeError, Limits, Link, Problem, Sample, Serve, Session, Severity, Sink, SinkError, Time,
    Transmit, Type, Value,
};
use serde_json::{Map, Value as Json};

use super::topics::{Client, Listener, Mode, Publisher, Subscription, Topic, Topics};
use crate::error::Error;
use crate::messages::{self, Messages, Request};
use crate::model::{self, Values, channel_name, channel_type, put_value, topic_name, topic_type};
use crate::wire::{Kind, TIME_SYNC, Update, Updates, is_text, put_head};

/// The longest text message of a client.
const TEXT_LEN: u64 = 2 << 20;
/// So far, in microseconds, may a sample be older than the newest one of its batch and keep its place in time.
const SPREAD: i64 = 1_000_000;

/// What a server allows its clients.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// The longest message, the number of topics, and the bytes of one client's subscriptions (`held_back`).
    pub limits: Limits,
    /// How many bytes of topics and their last values there may be before clients can add no more.
    pub kept: usize,
    /// How many publishers one client may have.
    pub publishers: usize,
    /// How many subscriptions one client may have.
    pub subscriptions: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        // ntcore takes messages of 2 MiB.
        let limits = Limits { record_len: 2 << 20, channels: 1 << 17, held_back: 4 << 20 };
        Self { limits, kept: 256 << 20, publishers: 1 << 14, subscriptions: 1 << 12 }
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
/// assert!(announced.text && announced.bytes.starts_with(br#"[{"method":"announce","params":{"name":"/A","id":0,"type":"int""#));
/// let value = server.poll_transmit().unwrap();
/// assert_eq!(Updates::new(&value.bytes).next().unwrap()?.to_string(), "#0 0.000001 int 7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The server's clock starts at zero when it first hears of a time, and values have the time on it at which they were put
/// in: clients compare it with the time that they have asked for. A value is encoded once, whoever gets it. What a slow
/// client has not taken yet is held by the one who drives the server, and it is for that one to close the link when it is
/// too much.
#[derive(Debug)]
pub struct Nt4Server {
    options: ServerOptions,
    pub(super) start: Option<Time>,
    pub(super) now: Time,
    pub(super) topics: Topics,
    pub(super) clients: Vec<Option<Client>>,
    slots: BTreeMap<Link, usize>,
    /// What was declared to the sink, by number.
    pub(super) own: Vec<Option<Own>>,
    /// What was declared to the sink of `handle_input`, by topic and type, and the metadata.
    numbers: HashMap<(String, String), ChannelId>,
    metadata: Vec<String>,
    /// Channels that ended and of which the sink does not know yet.
    ended: Vec<ChannelId>,
    /// The values of the topics about the server itself.
    pub(super) meta: BTreeMap<String, Vec<u8>>,
    pub(super) meta_wanted: bool,
    pub(super) meta_due: Option<Time>,
    pub(super) meta_sent: Time,
    transmit: VecDeque<Transmit>,
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
            own: Vec::new(),
            numbers: HashMap::new(),
            metadata: Vec::new(),
            ended: Vec::new(),
            meta: BTreeMap::new(),
            meta_wanted: false,
            meta_due: None,
            meta_sent: Time::MIN,
            transmit: VecDeque::new(),
            close: VecDeque::new(),
            message: Vec::new(),
        }
    }

    /// Says what the client behind an open link calls itself, which stands in the path of its request, and where it is.
    /// Only the topics about the server itself tell it on.
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
        self.topics.get_mut(topic)?.publishers.push(own_publisher(id));
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
            return Err(self.refused(id, "there are too many topics".to_owned()));
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
        Err(self.refused(id, format!("a {:?} is no {}", value.ty(), kind.unwrap_or(Kind::Raw))))
    }

    fn refused(&self, id: ChannelId, message: String) -> EncodeError {
        let own = self.own.get(id as usize).and_then(Option::as_ref);
        EncodeError { dialect: "nt4", channel: own.map(|own| own.name.clone()).unwrap_or_default(), message }
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
        for slot in &slots {
            self.tell_gone(at, *slot);
        }
        self.topics.set_properties(at, new.properties);
        self.topics.change(at, |topic| {
            (topic.type_name, topic.kind) = (new.type_name, new.kind);
            topic.last.clear();
            (topic.time, topic.from) = (0, None);
            self.ended.extend(topic.channel.take());
        });
        for slot in slots {
            self.tell(at, slot, None);
        }
    }

    /// Makes a topic, and announces it to all who want to hear of it but `except`. `None` if there are too many.
    pub(super) fn create(&mut self, topic: Topic, except: Option<usize>) -> Option<i32> {
        if !topic.meta && self.topics() >= self.options.limits.channels as usize {
            return None;
        }
        let name = topic.name.clone();
        let id = self.topics.insert(topic);
        for slot in 0..self.clients.len() {
            if except != Some(slot) && self.listen(id, slot, &name) {
                self.tell(id, slot, None);
            }
        }
        Some(id)
    }

    /// Sets how a client listens to a topic; `false` if it does not.
    fn listen(&mut self, id: i32, slot: usize, name: &str) -> bool {
        let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) else { return false };
        let Some(topic) = self.topics.get_mut(id) else { return false };
        let Some((mode, period)) = client.serves(name) else {
            if let Some(listener) = topic.listener(slot) {
                listener.mode = Mode::None;
            }
            return false;
        };
        let queue = client.queue(period);
        match topic.listener(slot) {
            Some(listener) => (listener.mode, listener.queue) = (mode, queue),
            None => topic.listeners.push(Listener { slot, mode, queue, pending: false }),
        }
        true
    }

    /// Announces a topic.
    fn tell(&mut self, id: i32, slot: usize, pubuid: Option<i32>) {
        let client = self.clients.get_mut(slot).and_then(Option::as_mut);
        if let (Some(client), Some(topic)) = (client, self.topics.get(id)) {
            let message = messages::announce(&topic.name, id, &topic.type_name, pubuid, &topic.properties);
            client.say(&message, &mut self.transmit);
        }
    }

    /// Says that a topic is gone, behind the last of its values.
    fn tell_gone(&mut self, id: i32, slot: usize) {
        let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) else { return };
        client.send(slot, None, self.now, &mut self.topics, &mut self.transmit);
        if let Some(topic) = self.topics.get(id) {
            client.say(&messages::unannounce(&topic.name, id), &mut self.transmit);
        }
    }

    pub(super) fn delete(&mut self, id: i32) {
        let slots: Vec<usize> = match self.topics.get(id) {
            Some(topic) => topic.listeners.iter().map(|listener| listener.slot).collect(),
            None => return,
        };
        for slot in slots {
            self.tell_gone(id, slot);
        }
        if let Some(topic) = self.topics.remove(id) {
            self.ended.extend(topic.channel);
        }
        self.mark_meta();
    }

    fn unpublish(&mut self, id: i32, publisher: Publisher) {
        let Some(topic) = self.topics.get_mut(id) else { return };
        topic.publishers.retain(|other| *other != publisher);
        if !topic.lives() {
            self.delete(id);
        }
        self.mark_meta();
    }

    /// Changes properties and tells all who know the topic.
    fn set_properties(&mut self, id: i32, update: &Map<String, Json>, asked: Option<usize>) {
        let Some(topic) = self.topics.get(id).filter(|_| !update.is_empty()) else { return };
        let mut properties = topic.properties.clone();
        model::update(&mut properties, update);
        self.topics.set_properties(id, properties);
        let Some(topic) = self.topics.get(id) else { return };
        if !topic.lives() {
            self.delete(id);
            return;
        }
        for listener in &topic.listeners {
            if let Some(client) = self.clients.get_mut(listener.slot).and_then(Option::as_mut) {
                let message = messages::properties(&topic.name, asked == Some(listener.slot), update);
                client.say(&message, &mut self.transmit);
            }
        }
    }

    /// Sends a value to all who listen, except to the client that it came from. `false` if it is none of the topic's type,
    /// or if there is no room to keep it.
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
        // "Caching": the value with the latest timestamp is kept. Whoever sent it may go back in time.
        let latest = topic.last.is_empty() || topic.from == from || time >= topic.time || !topic.cached;
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
                (topic.time, topic.from) = (time, from);
            });
        }
        true
    }

    fn text(&mut self, slot: usize, bytes: &[u8], sink: &mut dyn Sink) -> Result<Result<(), Error>, SinkError> {
        if let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut).filter(|client| !client.speaks) {
            client.speaks = true;
            self.mark_meta();
        }
        for request in Messages::<Request>::new(bytes) {
            match request {
                Ok(request) => self.request(slot, request, sink)?,
                Err(error) if error.is_recoverable() => {
                    self.warn(slot, "odd-message", &format!("a message was ignored: {}", error.kind), sink);
                }
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    fn request(&mut self, slot: usize, request: Request, sink: &mut dyn Sink) -> Result<(), SinkError> {
        match request {
            Request::Publish { name, pubuid, type_name, properties } => {
                self.client_publish(slot, &name, pubuid, &type_name, properties, sink)?;
            }
            Request::Unpublish { pubuid } => {
                let client = self.clients.get_mut(slot).and_then(Option::as_mut);
                if let Some(topic) = client.and_then(|client| client.publishers.remove(&pubuid)) {
                    self.unpublish(topic, Publisher { slot: Some(slot), uid: pubuid });
                }
            }
            Request::SetProperties { name, update } => match self.topics.id(&name) {
                Some(id) if !name.starts_with('$') => {
                    let new = Topic::new("", "", update);
                    if self.has_room(new.size()) {
                        self.set_properties(id, &new.properties, Some(slot));
                        self.tell_sink(id, sink)?;
                    } else {
                        self.warn(
                            slot,
                            "too-many",
                            &format!("too many properties, some of {name:?} are left out"),
                            sink,
                        );
                    }
                }
                _ => self.warn(slot, "no-topic", &format!("properties of {name:?}, which is no topic"), sink),
            },
            Request::Subscribe { topics, subuid, options } => {
                self.client_subscribe(slot, subuid, Some(Subscription { topics, options }), sink);
            }
            Request::Unsubscribe { subuid } => self.client_subscribe(slot, subuid, None, sink),
        }
        self.tell_ends(sink)
    }

    /// Whether clients may add so many bytes to the topics.
    fn has_room(&self, bytes: usize) -> bool {
        self.topics.bytes() + bytes <= self.options.kept
    }

    fn client_publish(
        &mut self,
        slot: usize,
        name: &str,
        pubuid: i32,
        type_name: &str,
        properties: Map<String, Json>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Some(client) = self.clients.get(slot).and_then(Option::as_ref) else { return Ok(()) };
        let new = Topic::new(name, type_name, properties);
        let room = client.publishers.len() < self.options.publishers && self.has_room(new.size());
        let before = client.publishers.get(&pubuid).copied();
        let id = self.topics.id(name);
        if name.starts_with('$') {
            self.warn(slot, "reserved-name", &format!("{name:?} is a name for the server's own topics"), sink);
            return Ok(());
        }
        if before.is_some() && before != id {
            self.warn(slot, "publisher-in-use", &format!("publisher {pubuid} is in use, not for {name:?}"), sink);
            return Ok(());
        }
        let id = if room || before.is_some() { id.or_else(|| self.create(new, Some(slot))) } else { None };
        let Some(id) = id else {
            self.warn(slot, "too-many", &format!("too many topics or publishers, {name:?} is left out"), sink);
            return Ok(());
        };
        if let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) {
            client.publishers.insert(pubuid, id);
        }
        if !self.listen(id, slot, name)
            && let Some(topic) = self.topics.get_mut(id)
            && topic.listener(slot).is_none()
        {
            topic.listeners.push(Listener { slot, mode: Mode::None, queue: 0, pending: false });
        }
        let Some(topic) = self.topics.get_mut(id) else { return Ok(()) };
        let publisher = Publisher { slot: Some(slot), uid: pubuid };
        if !topic.publishers.contains(&publisher) {
            topic.publishers.push(publisher);
        }
        if topic.type_name != type_name {
            let message =
                format!("{name:?} is published as {type_name}, and is {}: its values will not fit", topic.type_name);
            self.warn(slot, "type-conflict", &message, sink);
        }
        // "The server shall respond with an announce, even if the topic was previously announced."
        self.tell(id, slot, Some(pubuid));
        self.mark_meta();
        self.tell_sink(id, sink)
    }

    /// Adds, replaces or takes away a subscription.
    fn client_subscribe(&mut self, slot: usize, subuid: i32, new: Option<Subscription>, sink: &mut dyn Sink) {
        let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) else { return };
        if let Some(new) = &new {
            let others = client.subscriptions.iter().filter(|(uid, _)| **uid != subuid);
            let (count, held) = others.fold((0, 0), |(count, held), (_, other)| (count + 1, held + other.size()));
            if count >= self.options.subscriptions || held + new.size() > self.options.limits.held_back {
                self.warn(slot, "too-many", "too many subscriptions, one is left out", sink);
                return;
            }
        }
        // What waits goes out now, so that nothing waits in a queue that the topic is no longer in.
        client.send(slot, None, self.now, &mut self.topics, &mut self.transmit);
        let mut concerned = new.as_ref().map(|new| self.topics.matching(new)).unwrap_or_default();
        let old = match new {
            Some(new) => client.subscriptions.insert(subuid, new),
            None => client.subscriptions.remove(&subuid),
        };
        concerned.extend(old.as_ref().map(|old| self.topics.matching(old)).unwrap_or_default());
        concerned.sort_unstable();
        concerned.dedup();
        for id in concerned {
            let Some(topic) = self.topics.get_mut(id) else { continue };
            let before = topic.listener(slot).map(|listener| listener.mode);
            let name = topic.name.clone();
            let listens = self.listen(id, slot, &name);
            if listens && before.is_none() {
                self.tell(id, slot, None);
            }
            let Some(topic) = self.topics.get_mut(id) else { continue };
            let Some(listener) = topic.listener(slot).copied() else { continue };
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
        self.weigh_meta();
        self.mark_meta();
    }

    /// Declares the channel of a topic that a client publishes, or its metadata if they have changed.
    fn tell_sink(&mut self, id: i32, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let time = Time::from_micros(self.server_time());
        let Some(topic) = self.topics.get_mut(id) else { return Ok(()) };
        if !topic.publishers.iter().any(|publisher| publisher.slot.is_some()) {
            return Ok(());
        }
        let metadata = model::metadata_of(&topic.properties);
        let key = (topic.name.clone(), topic.type_name.clone());
        if let Some(number) = self.numbers.get(&key).copied() {
            topic.channel = Some(number);
            return match self.metadata.get_mut(number as usize) {
                Some(before) if *before != metadata => {
                    *before = metadata;
                    sink.metadata(number, time, before)
                }
                _ => Ok(()),
            };
        }
        if self.metadata.len() >= self.options.limits.channels as usize {
            return Ok(());
        }
        let number = ChannelId::try_from(self.metadata.len()).unwrap_or(ChannelId::MAX);
        let channel =
            Channel { metadata: metadata.clone(), ..Channel::new(channel_name(&key.0), channel_type(&key.1)) };
        topic.channel = Some(number);
        self.numbers.insert(key, number);
        self.metadata.push(metadata);
        sink.channel(number, &channel)
    }

    fn tell_ends(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let time = Time::from_micros(self.server_time());
        for channel in std::mem::take(&mut self.ended) {
            sink.end(channel, time)?;
        }
        Ok(())
    }

    fn binary(&mut self, slot: usize, bytes: &[u8], sink: &mut dyn Sink) -> Result<Result<(), Error>, SinkError> {
        let mut values = Values::default();
        let mut places = Vec::new();
        let mut result = Ok(());
        for update in Updates::new(bytes) {
            match update {
                Ok(update) if update.id == TIME_SYNC => self.sync(slot, &update),
                Ok(update) => {
                    if let Some(id) = self.value(slot, &update, &mut values, sink) {
                        places.push((id, update.time));
                    }
                }
                Err(error) => result = Err(error),
            }
        }
        if !values.is_empty() {
            let samples = values.samples();
            for (sample, (id, time)) in samples.iter().zip(places) {
                if !self.put(id, Some(slot), time, &sample.value) {
                    self.warn_once(slot, "too-many", "there is no room for more values, some are not passed on", sink);
                }
            }
            sink.samples(&samples)?;
        }
        Ok(result)
    }

    /// The topic of a client's value, if it is one.
    fn value<'a>(
        &mut self,
        slot: usize,
        update: &Update<'a>,
        values: &mut Values<'a>,
        sink: &mut dyn Sink,
    ) -> Option<i32> {
        let client = self.clients.get(slot)?.as_ref()?;
        let publisher = i32::try_from(update.id).ok().and_then(|id| client.publishers.get(&id).copied());
        let server_time = self.server_time();
        let topic = publisher.and_then(|id| self.topics.get(id));
        let problem = match topic.and_then(|topic| Some((topic, topic.channel?))) {
            None => format!("values of publisher {} are left out: it does not exist", update.id),
            Some((topic, channel)) => {
                let time = if update.time == 0 { server_time } else { update.time };
                let ty = Type::of(channel_type(&topic.type_name));
                let found = (update.kind, &update.value);
                match values.push(channel, Time::from_micros(time), (topic.kind, ty), found) {
                    Ok(()) => return publisher,
                    Err(unfit) => format!("a value of {:?} is no {} and is left out: {unfit}", topic.name, topic.kind),
                }
            }
        };
        self.warn_once(slot, "bad-value", &problem, sink);
        None
    }

    /// What comes with every value is told once for each client.
    fn warn_once(&mut self, slot: usize, code: &'static str, message: &str, sink: &mut dyn Sink) {
        let client = self.clients.get_mut(slot).and_then(Option::as_mut);
        if client.is_some_and(|client| !std::mem::replace(&mut client.told, true)) {
            self.warn(slot, code, message, sink);
        }
    }

    /// Tells the time, at once and with what the client gave.
    fn sync(&mut self, slot: usize, update: &Update<'_>) {
        let time = self.server_time();
        if let Some(client) = self.clients.get(slot).and_then(Option::as_ref) {
            let mut message = Vec::new();
            Update { time, ..*update }.emit(&mut message);
            self.transmit.push_back(Transmit::one(client.link, message));
        }
    }

    fn warn(&self, slot: usize, code: &'static str, message: &str, sink: &mut dyn Sink) {
        let name = self.clients.get(slot).and_then(Option::as_ref).map_or("", |client| &client.name);
        sink.problem(Problem::general(Severity::Warning, code, format!("client {name}: {message}")));
    }

    fn forget(&mut self, link: Link) {
        let Some(slot) = self.slots.remove(&link) else { return };
        if let Some(place) = self.clients.get_mut(slot) {
            *place = None;
        }
        for id in self.topics.ids() {
            let Some(topic) = self.topics.get_mut(id) else { continue };
            topic.listeners.retain(|listener| listener.slot != slot);
            if topic.from == Some(slot) {
                // Another client may get the slot, and is not the same.
                topic.from = Some(usize::MAX);
            }
            let before = topic.publishers.len();
            topic.publishers.retain(|publisher| publisher.slot != Some(slot));
            if topic.publishers.len() < before && !topic.lives() {
                self.delete(id);
            }
        }
        self.weigh_meta();
        self.mark_meta();
    }

    fn refuse(&mut self, link: Link, code: &'static str, message: &str, sink: &mut dyn Sink) {
        if let Some(slot) = self.slots.get(&link) {
            self.warn(*slot, code, &format!("{message}; the connection is closed"), sink);
        }
        self.forget(link);
        self.close.push_back(link);
    }
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
            *place = Some(Client::new(link, slot));
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
            self.refuse(link, "too-long", &format!("a message of {} bytes, {limit} are allowed", bytes.len()), sink);
            return self.tell_ends(sink);
        }
        let result = if text { self.text(slot, bytes, sink)? } else { self.binary(slot, bytes, sink)? };
        if let Err(error) = result {
            let what = if text { "text" } else { "binary" };
            let message = format!("a {what} message makes no sense, byte {:#x}: {}", error.at, error.kind);
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
        for (slot, client) in self.clients.iter_mut().enumerate() {
            if let Some(client) = client.as_mut().filter(|client| client.due().is_some_and(|due| due <= now)) {
                client.send(slot, Some(now), now, &mut self.topics, &mut self.transmit);
            }
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.clients.iter().flatten().filter_map(Client::due).chain(self.meta_due).min()
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
}
