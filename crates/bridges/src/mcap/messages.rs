use std::collections::{BTreeMap, HashMap};

use logpose_core::{Channel, ChannelId, EncodeError, Sample, Sink, SinkError, Time, Value};
use logpose_schema::Registry;
use serde_json::json;

use super::piece::Buffer;
use super::plan::{Plan, key, role};
use super::scene::Scene;
use crate::header::channel_to_json;

/// A stream as messages for viewers: those that an MCAP file of it would have, made as its channels and samples come.
///
/// After each call of the [`Sink`], [`Messages::topics`] has what was declared so far and [`Messages::messages`] what was
/// made of the samples, until [`Messages::clear`].
///
/// Where the values of a channel go is chosen once. Plain types are known when they are declared. A struct or a protobuf
/// message needs its schema, which is often a sample behind the declaration, so its place is chosen with its first
/// sample; if the schema is not there by then, the channel is bytes. Schemas of the same call are learned first; those
/// of more calls are if they are shown to [`Messages::schemas`] before.
pub struct Messages {
    plan: Plan,
    buffer: Buffer,
    schemas: Schemas,
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
    /// Whether its values have their place.
    laid: bool,
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
    /// No messages so far. `offset_ns` is added to all times, which have no sign; with `poses`, poses and scenes are told
    /// once more in Foxglove's own messages.
    pub fn new(offset_ns: u64, poses: bool) -> Result<Self, SinkError> {
        Ok(Self {
            plan: Plan::growing(offset_ns, poses)?,
            buffer: Buffer::default(),
            schemas: Schemas::default(),
            states: Vec::new(),
            metadata: HashMap::new(),
            scene: Scene::default(),
            noted: false,
        })
    }

    /// What learns the schemas of samples that are still to come. A batch that is shown to it first has its schemas
    /// known when its first structs come, whatever the order in it.
    pub fn schemas(&mut self) -> &mut Schemas {
        &mut self.schemas
    }

    /// Makes messages of what waits for more: starts, and the scene of the last time.
    pub fn seal(&mut self) {
        self.buffer.seal(&self.plan);
    }

    /// Chooses places for the channels that had no sample: no more will come.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        for id in (0..).take(self.states.len()) {
            if self.states.get(id as usize).is_some_and(|state| state.declared && !state.laid) {
                self.lay(id)?;
            }
        }
        self.seal();
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

    /// Whether a channel was declared that has no place yet, because only a schema tells how its values look.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.states.iter().any(|state| state.declared && !state.laid)
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    fn lay(&mut self, id: ChannelId) -> Result<(), EncodeError> {
        self.plan.lay(id as usize, &self.schemas.registry)?;
        if let Some(state) = self.states.get_mut(id as usize) {
            state.laid = true;
        }
        Ok(())
    }

    /// Takes what samples tell about the scene, before it is drawn with them.
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
                let message = format!("it is declared again, as {:?} of the type {}", channel.name, channel.type_name);
                return Err(EncodeError { dialect: "mcap", channel: known.name.clone(), message }.into());
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
            *state = State { declared: true, laid: false, drawn: self.plan.poses && Scene::needs(channel) };
        }
        self.schemas.channel(id, channel)?;
        // All of it, because the topic may come much later.
        let mut event = json!({"event": "start", "channel": id});
        if let (Some(event), serde_json::Value::Object(about)) = (event.as_object_mut(), channel_to_json(channel)) {
            event.extend(about);
        }
        self.buffer.start(&event);
        if !Plan::needs_schema(&channel.type_name) {
            self.lay(id)?;
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.schemas.samples(samples)?;
        for sample in samples {
            if self.states.get(sample.channel as usize).is_some_and(|state| state.declared && !state.laid) {
                self.lay(sample.channel)?;
            }
        }
        self.note(samples);
        self.buffer.samples(&self.plan, samples)
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.metadata.insert(id, metadata.to_owned());
        self.buffer.metadata(&self.plan, id, time, metadata);
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.buffer.end(&self.plan, id, time);
        Ok(())
    }
}

/// A sink that learns the schemas among the samples and nothing else.
#[derive(Debug, Default)]
pub struct Schemas {
    registry: Registry,
    /// By channel: those whose samples are schemas.
    channels: Vec<Option<Box<Channel>>>,
}

impl Sink for Schemas {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = id as usize;
        // Beyond that no plan has a place for it.
        if Registry::is_schema(&channel.name, &channel.type_name) && place < usize::from(u16::MAX) {
            if self.channels.len() <= place {
                self.channels.resize(place + 1, None);
            }
            if let Some(known) = self.channels.get_mut(place) {
                *known = Some(Box::new(channel.clone()));
            }
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let Some(Some(channel)) = self.channels.get(sample.channel as usize) else { continue };
            if let Value::String(payload) | Value::Bytes(payload) = sample.value {
                // A schema that cannot be read explains nothing, and its channels are bytes. It is a sample itself, so
                // whoever reads the log is told.
                let _ = self.registry.add(&channel.name, &channel.type_name, payload);
            }
        }
        Ok(())
    }
}
