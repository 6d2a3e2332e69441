use std::collections::{BTreeMap, HashMap};

use logpose_core::{Batch, Channel, ChannelId, EncodeError, Problem, Sample, Sink, SinkError, Time, Value};
use logpose_schema::Registry;
use serde_json::json;

use super::describe::Language;
use super::piece::Buffer;
use super::plan::{Plan, key, role};
use super::scene::Scene;
use crate::header::channel_to_json;

/// A stream as messages for viewers: those that an MCAP file of it would have, made as its channels and samples come.
/// Instead of the messages of ROS 1 there can be those of ROS 2.
///
/// After each call of the [`Sink`], [`Messages::topics`] has what was declared so far and [`Messages::messages`] what
/// was made of the samples, until [`Messages::clear`].
///
/// Where the values of a channel go is chosen once. Plain types are known when they are declared. A struct or a
/// protobuf message needs its schema, which may come behind it: a robot sends the changes of one cycle in any order. So
/// from its first sample on everything waits, until the schema has come, a megabyte waits or [`Messages::seal`] is
/// called. If the schema is not there by then, the channel is bytes.
pub struct Messages {
    plan: Plan,
    buffer: Buffer,
    schemas: Schemas,
    /// What waits for schemas, in its order.
    held: Batch,
    /// The channels whose schemas are missing.
    missing: Vec<ChannelId>,
    /// By channel.
    states: Vec<State>,
    /// The metadata of channels that have others than they were declared with.
    metadata: HashMap<ChannelId, String>,
    scene: Scene,
    /// Whether the scene is another than the one on the stage.
    noted: bool,
}

#[derive(Clone, Copy, Default)]
struct State {
    declared: bool,
    /// Whether its values have no place yet, because only a schema describes them.
    open: bool,
    /// Whether its values are noted for the scene.
    drawn: bool,
}

/// Where messages of one kind go: a channel of MCAP or of a viewer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Topic<'a> {
    /// Its number; they are given from 1 on.
    pub id: u16,
    /// The name of the channel, or made from it.
    pub name: &'a str,
    /// How messages are encoded, such as `ros1` or `protobuf`.
    pub encoding: &'a str,
    /// What explains them; JSON and msgpack need nothing.
    pub schema: Option<TopicSchema<'a>>,
    /// What is known of the channel besides: its type as it was written, its unit and so on, under `logpose.…`.
    pub metadata: &'a BTreeMap<String, String>,
    /// What it is there for.
    pub role: Role,
}

/// What explains the messages of a topic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TopicSchema<'a> {
    /// The name of the message.
    pub name: &'a str,
    /// The language that it is described in, such as `ros1msg` or `protobuf`.
    pub encoding: &'a str,
    /// The description.
    pub data: &'a [u8],
}

/// What a topic is there for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// The values of a channel.
    Values,
    /// Payloads of a channel that do not fit its schema. Mostly there is none.
    Rest,
    /// The same values once more in Foxglove's own messages.
    Derived,
    /// What only logpose reads: starts, changes of metadata, ends.
    Events,
}

/// One message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Message<'a> {
    /// The number of its topic.
    pub topic: u16,
    /// Nanoseconds: the time of the sample and the offset.
    pub time: u64,
    /// What the topic's encoding and schema explain.
    pub data: &'a [u8],
}

impl Messages {
    /// No messages so far. `offset_ns` is added to all times, which have no sign; with `poses`, poses and scenes are
    /// repeated in Foxglove's own messages.
    pub fn new(offset_ns: u64, poses: bool, language: Language) -> Result<Self, SinkError> {
        Ok(Self {
            plan: Plan::growing(offset_ns, poses, language)?,
            buffer: Buffer::default(),
            schemas: Schemas::default(),
            held: Batch::default(),
            missing: Vec::new(),
            states: Vec::new(),
            metadata: HashMap::new(),
            scene: Scene::default(),
            noted: false,
        })
    }

    /// Makes messages of all that waits for more: for schemas, for a time, for the rest of a scene.
    pub fn seal(&mut self) -> Result<(), SinkError> {
        self.release()?;
        self.buffer.seal(&self.plan);
        Ok(())
    }

    /// The same, and chooses places for the channels that had no sample: no more will come.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        self.seal()?;
        for id in (0..).take(self.states.len()) {
            if self.is_open(id) {
                self.lay(id)?;
            }
        }
        Ok(())
    }

    /// Forgets the messages; topics stay.
    pub fn clear(&mut self) {
        self.buffer.clear();
    }

    /// All topics, in the order of their numbers. What was given out once does not change.
    pub fn topics(&self) -> impl ExactSizeIterator<Item = Topic<'_>> {
        let catalog = &self.plan.catalog;
        catalog.topics.iter().map(|topic| Topic {
            id: topic.id,
            name: &topic.topic,
            encoding: &topic.message_encoding,
            schema: catalog.schema_of(topic).map(|schema| TopicSchema {
                name: &schema.name,
                encoding: &schema.encoding,
                data: &schema.data,
            }),
            metadata: &topic.metadata,
            role: match topic.metadata.get(key::ROLE).map(String::as_str) {
                Some(role::REST) => Role::Rest,
                Some(role::DERIVED) => Role::Derived,
                Some(role::EVENTS) => Role::Events,
                _ => Role::Values,
            },
        })
    }

    /// The messages since the last [`Messages::clear`], in the order of the samples.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        self.buffer.messages().map(|(topic, time, data)| Message { topic, time, data })
    }

    /// How many samples had times below zero with the offset. They are among the events alone.
    #[must_use]
    pub fn early(&self) -> u64 {
        self.buffer.early
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    #[inline]
    fn is_open(&self, id: ChannelId) -> bool {
        self.states.get(id as usize).is_some_and(|state| state.open)
    }

    fn lay(&mut self, id: ChannelId) -> Result<(), EncodeError> {
        self.plan.lay(id as usize, &self.schemas.registry)?;
        if let Some(state) = self.states.get_mut(id as usize) {
            state.open = false;
        }
        Ok(())
    }

    /// Makes messages of samples.
    fn make(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            if self.is_open(sample.channel) {
                self.lay(sample.channel)?;
            }
        }
        self.note(samples);
        self.buffer.samples(&self.plan, samples)
    }

    /// Whether a sample has to wait for the schema of its channel.
    #[inline]
    fn is_early(&self, sample: &Sample<'_>) -> bool {
        self.is_open(sample.channel) && !self.is_explained(sample.channel)
    }

    fn is_explained(&self, id: ChannelId) -> bool {
        let type_name = self.plan.channels.get(id as usize).map_or("", |channel| &channel.type_name);
        self.schemas.explain(type_name)
    }

    /// Lets samples wait, and all that waits go if nothing is missing any more or it is too much.
    fn hold(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            if self.is_early(sample) && !self.missing.contains(&sample.channel) {
                self.missing.push(sample.channel);
            }
        }
        Sink::samples(&mut self.held, samples)?;
        let mut missing = std::mem::take(&mut self.missing);
        missing.retain(|id| !self.is_explained(*id));
        self.missing = missing;
        if self.missing.is_empty() || self.held.size() > HELD { self.release() } else { Ok(()) }
    }

    /// Makes messages of what waits for schemas, with those that are there.
    fn release(&mut self) -> Result<(), SinkError> {
        self.missing.clear();
        std::mem::take(&mut self.held).play(&mut Released(self))
    }

    /// Takes what samples say about the scene, before it is drawn with them.
    fn note(&mut self, samples: &[Sample<'_>]) {
        for sample in samples {
            let place = sample.channel as usize;
            if self.states.get(place).is_some_and(|state| state.drawn)
                && let Some(channel) = self.plan.channels.get(place)
            {
                self.scene.note(channel, sample.time, &sample.value);
                self.noted = true;
            }
        }
        // There is a stage only when the first of them moves.
        if self.noted
            && let Some(stage) = &mut self.plan.stage
        {
            stage.drawn = self.scene.drawn_so_far();
            self.buffer.moment.redraw();
            self.noted = false;
        }
    }
}

impl Sink for Messages {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = id as usize;
        if let (Some(known), true) =
            (self.plan.channels.get(place), self.states.get(place).is_some_and(|state| state.declared))
        {
            if (&known.name, &known.type_name) != (&channel.name, &channel.type_name) {
                let message = format!("declared again as {:?} with type {}", channel.name, channel.type_name);
                return Err(EncodeError::new("mcap", &known.name, message).into());
            }
            // Nothing but its metadata can be new, and they are so from here on.
            if self.metadata.get(&id).unwrap_or(&known.metadata) != &channel.metadata {
                let now = self.buffer.last(&self.plan);
                self.metadata(id, now, &channel.metadata)?;
            }
            return Ok(());
        }
        self.plan.declare(place, channel)?;
        self.states.resize(self.plan.channels.len(), State::default());
        if let Some(state) = self.states.get_mut(place) {
            *state = State { declared: true, open: true, drawn: self.plan.poses && Scene::needs(channel) };
        }
        self.schemas.channel(id, channel);
        if !Plan::needs_schema(&channel.type_name) {
            self.lay(id)?;
        }
        if self.held.is_empty() { Released(self).channel(id, channel) } else { self.held.channel(id, channel) }
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.schemas.learn(samples);
        if !self.held.is_empty() {
            return self.hold(samples);
        }
        let early = samples.iter().position(|sample| self.is_early(sample)).unwrap_or(samples.len());
        let (now, later) = samples.split_at(early);
        self.make(now)?;
        if later.is_empty() { Ok(()) } else { self.hold(later) }
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.metadata.insert(id, metadata.to_owned());
        if self.held.is_empty() {
            Released(self).metadata(id, time, metadata)
        } else {
            self.held.metadata(id, time, metadata)
        }
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        if self.held.is_empty() { Released(self).end(id, time) } else { self.held.end(id, time) }
    }

    fn problem(&mut self, _: Problem) {
        // A message cannot say it. `McapStream` reports it at the end, and `Live` collects those of live sources.
    }
}

/// Where things go that wait for nothing.
struct Released<'m>(&'m mut Messages);

impl Sink for Released<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        // All of it, because the topic may come much later.
        let mut event = json!({"event": "start", "channel": id});
        if let (Some(event), serde_json::Value::Object(about)) = (event.as_object_mut(), channel_to_json(channel)) {
            event.extend(about);
        }
        self.0.buffer.start(&event);
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.0.make(samples)
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.0.buffer.metadata(&self.0.plan, id, time, metadata);
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.0.buffer.end(&self.0.plan, id, time);
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.0.problem(problem);
    }
}

/// The schemas of a stream.
#[derive(Default)]
struct Schemas {
    registry: Registry,
    /// By channel: those whose samples are schemas.
    channels: Vec<Option<Box<Channel>>>,
}

impl Schemas {
    /// Takes a channel, whose number a plan has a place for.
    fn channel(&mut self, id: ChannelId, channel: &Channel) {
        let place = id as usize;
        if Registry::is_schema(&channel.name, &channel.type_name) {
            if self.channels.len() <= place {
                self.channels.resize(place + 1, None);
            }
            if let Some(known) = self.channels.get_mut(place) {
                *known = Some(Box::new(channel.clone()));
            }
        }
    }

    fn learn(&mut self, samples: &[Sample<'_>]) {
        for sample in samples {
            let Some(Some(channel)) = self.channels.get(sample.channel as usize) else { continue };
            if let Value::String(payload) | Value::Bytes(payload) = sample.value {
                // A schema that cannot be read explains nothing, and its channels are bytes. It is a sample itself, so
                // readers of the log are informed.
                let _ = self.registry.add(&channel.name, &channel.type_name, payload);
            }
        }
    }

    /// Whether values of the type are explained, with all that they hold.
    fn explain(&self, type_name: &str) -> bool {
        match type_name.strip_prefix("proto:") {
            Some(message) => self.registry.descriptor_set(message).is_ok(),
            None => self.registry.decoder(type_name).is_ok_and(|decoder| decoder.layout().is_some()),
        }
    }
}

/// Bytes that wait for schemas at most.
const HELD: usize = 1 << 20;
