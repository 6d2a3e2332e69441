//! How the messages of MCAP channels become samples.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use logpose_core::{Channel, ChannelId, Type};
use mcap::Schema;
use mcap::records::Channel as Topic;

use super::plan::{key, role};
use super::ros::{Definition, Single};

/// The MCAP channels met so far and the channels that they are.
#[derive(Default)]
pub(crate) struct TopicMap {
    schemas: HashMap<u16, Schema<'static>>,
    /// What messages with a schema are, by its id and their encoding: read once, however many channels have it.
    explained: HashMap<(u16, String), Explained>,
    topics: HashMap<u16, Topic>,
    mapped: Vec<Option<MappedTopic>>,
    /// Whether a file is ours: then its metadata hold.
    pub(crate) ours: bool,
    pub(crate) channels: Vec<Channel>,
    /// By the number of the channel in the log that was written.
    numbers: HashMap<u64, ChannelId>,
    by_name: HashMap<(String, String), ChannelId>,
    /// Channels of a stream: their metadata are those they started with, until events change them.
    growing: HashSet<ChannelId>,
    /// Schemas that were given out.
    given: HashSet<(ChannelId, Vec<u8>)>,
}

/// The channel that the messages of one MCAP channel belong to, and how to read them.
#[derive(Clone)]
pub(crate) struct MappedTopic {
    pub(crate) channel: ChannelId,
    pub(crate) ty: Type,
    pub(crate) kind: Kind,
    /// Schemas that come before the first sample of any channel that has them.
    pub(crate) needs: Needs,
}

/// Schemas that samples need before them: the channels they are values of, and themselves. Empty once they were given.
pub(crate) type Needs = Rc<RefCell<Vec<(ChannelId, Vec<u8>)>>>;

/// What the messages of a schema are.
#[derive(Clone)]
struct Explained {
    type_name: String,
    kind: Kind,
    needs: Needs,
}

#[derive(Clone)]
pub(crate) enum Kind {
    /// The payload itself.
    Plain,
    /// The payload behind four bytes of count.
    Counted,
    /// An integer that is to be widened.
    Integer(logpose_schema::wpistruct::Scalar),
    /// To be written as JSON.
    Json(Rc<Definition>),
    /// Starts, metadata, ends.
    Events,
    /// What only viewers need.
    Skip,
}

impl TopicMap {
    pub(crate) fn schema(&mut self, schema: Schema<'static>) {
        if self.schemas.get(&schema.id) != Some(&schema) {
            self.explained.retain(|(id, _), _| *id != schema.id);
            self.schemas.insert(schema.id, schema);
        }
    }

    /// Takes a channel; says whether it is another than the one with the same id before.
    pub(crate) fn topic(&mut self, topic: Topic) -> bool {
        let known = self.topics.get(&topic.id);
        if known == Some(&topic) {
            return false;
        }
        let replaced = known.is_some();
        let place = usize::from(topic.id);
        if self.mapped.len() <= place {
            self.mapped.resize_with(place + 1, || None);
        }
        let mapped =
            if self.ours && topic.metadata.contains_key(key::ROLE) { self.own(&topic) } else { self.foreign(&topic) };
        if let Some(slot) = self.mapped.get_mut(place) {
            *slot = mapped;
        }
        self.topics.insert(topic.id, topic);
        replaced
    }

    #[inline]
    pub(crate) fn mapped(&mut self, topic: u16) -> Option<&mut MappedTopic> {
        self.mapped.get_mut(usize::from(topic))?.as_mut()
    }

    pub(crate) fn number(&self, number: u64) -> Option<ChannelId> {
        self.numbers.get(&number).copied()
    }

    /// Takes a channel that was announced before it has messages, as streams do.
    pub(crate) fn announce(&mut self, number: u64, channel: Channel) -> Option<ChannelId> {
        let id = self.channel(channel)?;
        self.numbers.insert(number, id);
        self.growing.insert(id);
        Some(id)
    }

    /// Takes the new metadata of a channel of a stream. The channels of whole logs have their last ones from the front.
    pub(crate) fn metadata(&mut self, id: ChannelId, metadata: &str) {
        if self.growing.contains(&id)
            && let Some(channel) = self.channels.get_mut(id as usize)
        {
            metadata.clone_into(&mut channel.metadata);
        }
    }

    /// Whether this schema comes for the first time.
    pub(crate) fn gives(&mut self, need: &(ChannelId, Vec<u8>)) -> bool {
        !self.given.contains(need) && self.given.insert(need.clone())
    }

    /// A topic as our own writer described it.
    fn own(&mut self, topic: &Topic) -> Option<MappedTopic> {
        let mapped = |channel, ty, kind| Some(MappedTopic { channel, ty, kind, needs: Needs::default() });
        let about = |key: &str| topic.metadata.get(key).map(String::as_str);
        match about(key::ROLE)? {
            role::EVENTS => return mapped(0, Type::String, Kind::Events),
            role::DERIVED => return mapped(0, Type::Bytes, Kind::Skip),
            _ => {}
        }
        let number = about(key::ID)?.parse().ok()?;
        let kind = if about(key::FORM) == Some("counted") { Kind::Counted } else { Kind::Plain };
        if about(key::ROLE) == Some(role::REST) {
            let channel = *self.numbers.get(&number)?;
            return mapped(channel, self.channels.get(channel as usize)?.ty(), kind);
        }
        let channel = Channel {
            name: about(key::NAME).unwrap_or(&topic.topic).to_owned(),
            type_name: about(key::TYPE)?.to_owned(),
            unit: about(key::UNIT).map(str::to_owned),
            metadata: about(key::METADATA).unwrap_or_default().to_owned(),
            family: about(key::TABLE).zip(about(key::KEY)).map(|(a, b)| Box::new((a.to_owned(), b.to_owned()))),
        };
        let ty = channel.ty();
        let id = self.channel(channel)?;
        self.numbers.insert(number, id);
        mapped(id, ty, kind)
    }

    /// A topic that encoding and schema describe.
    fn foreign(&mut self, topic: &Topic) -> Option<MappedTopic> {
        let key = (topic.schema_id, topic.message_encoding.clone());
        let explained = match self.explained.get(&key) {
            Some(explained) => explained.clone(),
            None => {
                let schema = self.schemas.remove(&topic.schema_id).filter(|_| topic.schema_id != 0);
                let explained = self.explain(&topic.message_encoding, schema.as_ref());
                self.schemas.extend(schema.map(|schema| (schema.id, schema)));
                self.explained.insert(key, explained.clone());
                explained
            }
        };
        let mut channel = Channel::new(topic.topic.as_str(), explained.type_name);
        if !topic.metadata.is_empty() {
            let pairs = topic.metadata.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
            channel.metadata = serde_json::Value::Object(pairs.collect()).to_string();
        }
        let ty = channel.ty();
        Some(MappedTopic { channel: self.channel(channel)?, ty, kind: explained.kind, needs: explained.needs })
    }

    fn explain(&mut self, encoding: &str, schema: Option<&Schema<'_>>) -> Explained {
        let mut needs = Vec::new();
        let plain = |type_name: String| (type_name, Kind::Plain);
        let (type_name, kind) = match (encoding, schema) {
            ("ros1", Some(schema)) if schema.encoding == "ros1msg" => {
                self.ros(schema, &mut needs).unwrap_or_else(|| plain(format!("ros1:{}", schema.name)))
            }
            ("protobuf", Some(schema)) if schema.encoding == "protobuf" => {
                for (path, file) in files(&schema.data) {
                    let channel = Channel::new(format!("/.schema/proto:{path}"), "proto:FileDescriptorProto");
                    needs.extend(self.channel(channel).map(|id| (id, file.to_vec())));
                }
                plain(format!("proto:{}", schema.name))
            }
            ("json" | "msgpack", _) => plain(encoding.to_owned()),
            (encoding, Some(schema)) => plain(format!("{encoding}:{}", schema.name)),
            (encoding, None) if !encoding.is_empty() && Type::of(encoding) == Type::Bytes => plain(encoding.to_owned()),
            _ => plain("raw".to_owned()),
        };
        Explained { type_name, kind, needs: Rc::new(RefCell::new(needs)) }
    }

    fn ros(&mut self, schema: &Schema<'_>, needs: &mut Vec<(ChannelId, Vec<u8>)>) -> Option<(String, Kind)> {
        let message = Definition::parse(&schema.name, str::from_utf8(&schema.data).ok()?)?;
        Some(match message.single() {
            Some(Single::Plain(name, counted)) => (name.to_owned(), if counted { Kind::Counted } else { Kind::Plain }),
            Some(Single::Integer(scalar)) => ("int64".to_owned(), Kind::Integer(scalar)),
            None if message.size.is_some() => {
                for (name, text) in message.schemas() {
                    let channel = Channel::new(format!("/.schema/struct:{name}"), "structschema");
                    needs.push((self.channel(channel)?, text.into_bytes()));
                }
                (format!("struct:{}", message.struct_name()), Kind::Plain)
            }
            None => ("json".to_owned(), Kind::Json(message)),
        })
    }

    /// One channel for each name and type.
    fn channel(&mut self, channel: Channel) -> Option<ChannelId> {
        let key = (channel.name.clone(), channel.type_name.clone());
        if let Some(id) = self.by_name.get(&key) {
            return Some(*id);
        }
        let id = ChannelId::try_from(self.channels.len()).ok()?;
        self.channels.push(channel);
        self.by_name.insert(key, id);
        Some(id)
    }
}

/// The files in a `FileDescriptorSet`: the path and the encoded `FileDescriptorProto` of each.
fn files(set: &[u8]) -> Vec<(String, &[u8])> {
    let path = |file| fields(file).find(|(number, _)| *number == 1).map(|(_, path)| path);
    let files = fields(set).filter(|(number, _)| *number == 1).map(|(_, file)| file);
    files.filter_map(|file| Some((String::from_utf8_lossy(path(file)?).into_owned(), file))).collect()
}

/// The fields of a protobuf message whose values are bytes, until something else comes.
fn fields(mut bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    std::iter::from_fn(move || {
        let tag = varint(&mut bytes)?;
        let length = usize::try_from(varint(&mut bytes)?).ok()?;
        let (value, rest) = bytes.split_at_checked(length).filter(|_| tag & 7 == 2)?;
        bytes = rest;
        Some((tag >> 3, value))
    })
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
