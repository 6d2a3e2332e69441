//! What clients ask of a server, and what they publish.

use logpose_core::{Channel, ChannelId, Problem, Severity, Sink, SinkError, Time, Transmit, Type};
use serde_json::{Map, Value as Json};

use super::server::Nt4Server;
use super::topics::{Mode, Publisher, Subscription, Topic, entry_size};
use crate::error::Error;
use crate::messages::{Messages, Request};
use crate::model::{self, Values, channel_name, channel_type};
use crate::wire::{TIME_SYNC, Update, Updates};

/// The longest name of a topic that a client may publish, in bytes.
const NAME_LEN: usize = 4096;
/// So many letters of a name that is refused are shown.
const NAME_SHOWN: usize = 100;

impl Nt4Server {
    pub(super) fn text(
        &mut self,
        slot: usize,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<Result<(), Error>, SinkError> {
        if let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut).filter(|client| !client.speaks) {
            client.speaks = true;
            self.mark_meta();
        }
        let mut result = Ok(());
        for request in Messages::<Request>::new(bytes) {
            match request {
                Ok(request) => self.request(slot, request, sink)?,
                Err(error) if error.is_recoverable() => {
                    self.warn(slot, "odd-message", &format!("ignored a message: {}", error.kind), sink);
                }
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        // However often a message changes a thing, the topics and the sink see what came of it, once.
        self.catch_up_soon(slot);
        for id in std::mem::take(&mut self.changed) {
            self.tell_sink(id, sink)?;
        }
        Ok(result)
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
                    let new: usize = update.iter().map(entry_size).sum();
                    let text = self.topics.get(id).map_or(0, |topic| topic.text);
                    if self.has_room(new) && text + new <= self.options.properties {
                        self.set_properties(id, &update, Some(slot));
                        self.changed.insert(id);
                    } else {
                        self.warn(slot, "too-many", &format!("too many properties; skipped some of {name:?}"), sink);
                    }
                }
                _ => self.warn(slot, "no-topic", &format!("properties of {name:?}, which is not a topic"), sink),
            },
            Request::Subscribe { topics, subuid, options } => {
                self.client_subscribe(slot, subuid, Some(&Subscription { topics, options }), sink);
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
        let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) else { return Ok(()) };
        let catches_up = !client.changes.is_empty();
        if catches_up {
            client.send(slot, None, self.now, &mut self.topics, &mut self.transmit);
        }
        let Some(client) = self.clients.get(slot).and_then(Option::as_ref) else { return Ok(()) };
        let new = Topic::new(name, type_name, properties);
        let room = client.publishers.len() < self.options.publishers
            && new.text <= self.options.properties
            && name.len() <= NAME_LEN
            && self.has_room(new.size());
        let before = client.publishers.get(&pubuid).copied();
        let id = self.topics.id(name);
        if name.starts_with('$') {
            self.warn(slot, "reserved-name", &format!("{name:?} is reserved for topics of the server"), sink);
            return Ok(());
        }
        if before.is_some() && before != id {
            self.warn(
                slot,
                "publisher-in-use",
                &format!("publisher {pubuid} is already in use for a topic other than {name:?}"),
                sink,
            );
            return Ok(());
        }
        let id = if room || before.is_some() { id.or_else(|| self.create(new, Some(slot))) } else { None };
        let Some(id) = id else {
            let name: String = name.chars().take(NAME_SHOWN).collect();
            self.warn(slot, "too-many", &format!("too many topics, publishers or properties; skipped {name:?}"), sink);
            return Ok(());
        };
        if catches_up {
            // The rest of the topics has its turn later; this one is announced again below.
            self.catch_up_topic(slot, id);
        }
        if let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) {
            client.publishers.insert(pubuid, id);
            client.topics.insert(id);
        }
        if !self.listen(id, slot, name)
            && let Some(topic) = self.topics.get_mut(id)
            && topic.listener(slot).is_none()
        {
            topic.set_listener(slot, Mode::None, 0);
        }
        let Some(topic) = self.topics.get_mut(id) else { return Ok(()) };
        topic.publishers.insert(Publisher { slot: Some(slot), uid: pubuid });
        if topic.type_name != type_name {
            let message = format!(
                "{name:?} is published as {type_name} but has the type {}: its values will be rejected",
                topic.type_name
            );
            self.warn(slot, "type-conflict", &message, sink);
        }
        // "The server shall respond with an announce, even if the topic was previously announced."
        self.announce(id, slot, Some(pubuid));
        self.mark_meta();
        self.tell_sink(id, sink)
    }

    /// Adds, replaces or takes away a subscription.
    fn client_subscribe(&mut self, slot: usize, subuid: i32, new: Option<&Subscription>, sink: &mut dyn Sink) {
        let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) else { return };
        let Ok(old) = client.subscribe(subuid, new, &self.options) else {
            self.warn(slot, "too-many", "too many subscriptions; skipped one", sink);
            return;
        };
        let is_meta = |name: &str| name.starts_with('$');
        if let Some(old) = old {
            self.meta_interests.remove((slot, subuid), &old);
        }
        if let Some(new) = new {
            self.meta_interests.add((slot, subuid), new, is_meta);
        }
        self.mark_meta();
    }

    /// Declares the channel of a topic that a client publishes, or its metadata if they have changed.
    fn tell_sink(&mut self, id: i32, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let time = Time::from_micros(self.server_time());
        let Some(topic) = self.topics.get_mut(id) else { return Ok(()) };
        // The server itself comes first.
        if topic.publishers.last().is_none_or(|publisher| publisher.slot.is_none()) {
            return Ok(());
        }
        let metadata = model::metadata_of(&topic.properties);
        let key = (topic.name.clone(), topic.type_name.clone());
        if let Some(number) = self.numbers.get(&key).copied() {
            topic.channel = Some(number);
            return match self.metadata.get_mut(number as usize) {
                Some(before) if *before != metadata => {
                    let declared = (self.declared + metadata.len()).saturating_sub(before.len());
                    if declared > self.options.kept {
                        return Ok(());
                    }
                    self.declared = declared;
                    *before = metadata;
                    sink.metadata(number, time, before)
                }
                _ => Ok(()),
            };
        }
        // Also of topics that are long gone, which clients could add to without end.
        let declared = self.declared + key.0.len() + key.1.len() + metadata.len();
        if self.metadata.len() >= self.options.limits.channels as usize || declared > self.options.kept {
            return Ok(());
        }
        self.declared = declared;
        let number = ChannelId::try_from(self.metadata.len()).unwrap_or(ChannelId::MAX);
        let channel =
            Channel { metadata: metadata.clone(), ..Channel::new(channel_name(&key.0), channel_type(&key.1)) };
        topic.channel = Some(number);
        self.numbers.insert(key, number);
        self.metadata.push(metadata);
        sink.channel(number, &channel)
    }

    pub(super) fn tell_ends(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let time = Time::from_micros(self.server_time());
        for channel in std::mem::take(&mut self.ended) {
            sink.end(channel, time)?;
        }
        Ok(())
    }

    pub(super) fn binary(
        &mut self,
        slot: usize,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<Result<(), Error>, SinkError> {
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
                    self.warn_once(slot, "too-many", "the queue is full; some values were not forwarded", sink);
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
            None => format!("skipped values of publisher {}, which does not exist", update.id),
            Some((topic, channel)) => {
                let time = if update.time == 0 { server_time } else { update.time };
                let ty = Type::of(channel_type(&topic.type_name));
                let found = (update.kind, &update.value);
                match values.push(channel, Time::from_micros(time), (topic.kind, ty), found) {
                    Ok(()) => return publisher,
                    Err(unfit) => format!("skipped a value of {:?} that is not {}: {unfit}", topic.name, topic.kind),
                }
            }
        };
        self.warn_once(slot, "bad-value", &problem, sink);
        None
    }

    /// A problem that comes with every value is reported once for each client.
    fn warn_once(&mut self, slot: usize, code: &'static str, message: &str, sink: &mut dyn Sink) {
        let client = self.clients.get_mut(slot).and_then(Option::as_mut);
        if client.is_some_and(|client| !std::mem::replace(&mut client.reported, true)) {
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

    pub(super) fn warn(&self, slot: usize, code: &'static str, message: &str, sink: &mut dyn Sink) {
        let name = self.clients.get(slot).and_then(Option::as_ref).map_or("", |client| &client.name);
        sink.problem(Problem::general(Severity::Warning, code, format!("client {name}: {message}")));
    }
}
