use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use prost_reflect::MessageDescriptor;

use crate::cache::Cache;
use crate::common::{self, Edition};
use crate::photon::{self, Photon};
use crate::proto::{self, Proto};
use crate::tree_shape::FieldBudget;
use crate::type_string::{SchemaOf, Shape, TypeString};
use crate::wpistruct::{self, Layout, Schema};
use crate::{Note, ParseError, SchemaError, Tree, TreeShape, json, msgpack};

/// The schemas of a log and the decoders made from them.
///
/// Schemas may be added in any order and after values of their types were seen; a type is resolved
/// when it is first asked for, and again only if a schema that concerns it arrives.
#[derive(Debug, Default)]
pub struct Registry {
    structs: HashMap<String, Entry<Schema>>,
    photons: HashMap<String, Entry<photon::Schema>>,
    proto: Proto,
    /// By struct name.
    layouts: Cache<Arc<Layout>>,
    /// By type string.
    decoders: Cache<Decoder>,
}

/// A value, and what is doubtful about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The value.
    pub tree: Tree,
    /// To be reported once per channel, if set.
    pub note: Option<Note>,
}

/// Everything needed to decode payloads of one type, as known when it was made.
///
/// Cheap to clone, and independent of the registry: a thread can keep its own.
#[derive(Clone, Debug)]
pub struct Decoder(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Struct {
        layout: Arc<Layout>,
        shape: Shape,
    },
    /// The layouts WPILib used under this name; the payload's size decides.
    Guess {
        layouts: Vec<Arc<Layout>>,
        shape: Shape,
        missing: Box<SchemaError>,
    },
    Photon(Arc<Photon>),
    Proto(MessageDescriptor),
    Msgpack,
    Json,
}

impl Registry {
    /// A registry without schemas; `msgpack` and `json` need none.
    pub fn new() -> Self {
        Self::default()
    }

    /// True if payloads of the channel are schemas, to be given to [`Registry::add`].
    ///
    /// Schema channels are `/.schema/struct:Name` and the like, behind any prefix: a capture of
    /// NetworkTables has `NT:` there, AdvantageKit a path.
    pub fn is_schema(channel_name: &str, type_name: &str) -> bool {
        SchemaOf::parse(channel_name, type_name).is_some()
    }

    /// True if the type is of a kind that can be decoded, given its schema.
    pub fn decodes(type_name: &str) -> bool {
        TypeString::parse(type_name).is_some()
    }

    /// The schema WPILib itself writes for the struct, if a payload of `size` bytes can be one.
    pub fn guess(type_name: &str, size: usize) -> Option<Cow<'static, str>> {
        let TypeString::Struct { name, shape } = TypeString::parse(type_name)? else {
            return None;
        };
        Edition::ALL.into_iter().find_map(|edition| {
            let layout = wpistruct::resolve(name, &|name| built_in(name, edition)).ok()?;
            common::schema(name, edition).filter(|_| shape.fits(layout.size, size))
        })
    }

    /// Takes the payload of a schema channel.
    ///
    /// The same schema again costs one comparison. Another one under the same name replaces the
    /// first, and the error says so; a broken one does not.
    pub fn add(&mut self, channel_name: &str, type_name: &str, payload: &[u8]) -> Result<(), SchemaError> {
        let change = match SchemaOf::parse(channel_name, type_name) {
            Some(SchemaOf::Struct(name)) => put(&mut self.structs, "struct", name, payload, Schema::parse)?,
            Some(SchemaOf::Photon(name)) => {
                put(&mut self.photons, "photonstruct", name, payload, photon::Schema::parse)?
            }
            Some(SchemaOf::Proto(name)) => {
                if let Some(verdict) = self.proto.known(name, payload) {
                    return verdict;
                }
                self.decoders.clear();
                return self.proto.add(name, payload);
            }
            None => {
                let (channel, type_name) = (channel_name.to_owned(), type_name.to_owned());
                return Err(SchemaError::NotSchema { channel, type_name });
            }
        };
        match change {
            Change::None => Ok(()),
            Change::New(result) => {
                // What is resolved stays so; what was missing may not be any more.
                self.layouts.retain(|_| true);
                self.decoders.retain(|decoder| !matches!(decoder.0, Kind::Guess { .. }));
                result
            }
            Change::Replaced(name) => {
                self.layouts.clear();
                self.decoders.clear();
                Err(SchemaError::Replaced { name })
            }
        }
    }

    /// Decodes one payload.
    pub fn decode(&self, type_name: &str, payload: &[u8]) -> Result<Decoded, SchemaError> {
        self.decoder(type_name)?.decode(payload)
    }

    /// The decoder of a type, for callers with many payloads of it.
    pub fn decoder(&self, type_name: &str) -> Result<Decoder, SchemaError> {
        self.decoders.find_or(type_name, || self.make_decoder(type_name))
    }

    /// The layout of a struct, by name without `struct:`; for readers of columns.
    pub fn layout(&self, name: &str) -> Result<Arc<Layout>, SchemaError> {
        self.layouts.find_or(name, || wpistruct::resolve(name, &|name| self.schema(name)))
    }

    /// The layout of a struct whose schema the log lacks, if WPILib has one of that size.
    ///
    /// `size` is the length of a payload of the type. Values read with it deserve
    /// [`Note::Guessed`].
    pub fn guess_layout(&self, type_name: &str, size: usize) -> Option<Arc<Layout>> {
        match self.decoder(type_name).ok()?.0 {
            Kind::Guess { layouts, shape, .. } => layouts.into_iter().find(|layout| shape.fits(layout.size, size)),
            _ => None,
        }
    }

    /// The descriptors that explain a protobuf message, by its full name: an encoded `FileDescriptorSet` with the
    /// files it needs before its own.
    pub fn descriptor_set(&self, full_name: &str) -> Result<Vec<u8>, SchemaError> {
        self.proto.descriptor_set(full_name)
    }

    /// The full names of all protobuf messages that can be decoded.
    pub(crate) fn message_names(&self) -> Vec<String> {
        self.proto.message_names()
    }

    fn make_decoder(&self, type_name: &str) -> Result<Decoder, SchemaError> {
        let kind = match TypeString::parse(type_name) {
            Some(TypeString::Struct { name, shape }) => match self.layout(name) {
                Ok(layout) => Kind::Struct { layout, shape },
                Err(missing @ SchemaError::Missing { .. }) => match self.guesses(name) {
                    layouts if layouts.is_empty() => return Err(missing),
                    layouts => Kind::Guess { layouts, shape, missing: Box::new(missing) },
                },
                Err(error) => return Err(error),
            },
            Some(TypeString::Photon(name)) => {
                let find = |name: &str| Some(self.photons.get(name)?.schema.as_ref().map_err(Clone::clone));
                let layout = |name: &str| self.layout(name);
                Kind::Photon(photon::Resolver { photon: &find, layout: &layout }.resolve(name)?)
            }
            Some(TypeString::Proto(name)) => Kind::Proto(self.proto.message(name)?),
            Some(TypeString::Msgpack) => Kind::Msgpack,
            Some(TypeString::Json) => Kind::Json,
            None => {
                return Err(SchemaError::Unsupported { type_name: type_name.to_owned() });
            }
        };
        Ok(Decoder(kind))
    }

    /// The layouts of a struct when WPILib's schemas stand in for those the log lacks.
    fn guesses(&self, name: &str) -> Vec<Arc<Layout>> {
        let mut layouts: Vec<Arc<Layout>> = Vec::new();
        for edition in Edition::ALL {
            let lookup = |name: &str| self.schema(name).or_else(|| built_in(name, edition));
            if let Ok(layout) = wpistruct::resolve(name, &lookup)
                && layouts.iter().all(|known| known.size != layout.size)
            {
                layouts.push(layout);
            }
        }
        layouts
    }

    fn schema(&self, name: &str) -> Option<Result<Cow<'_, Schema>, SchemaError>> {
        Some(self.structs.get(name)?.schema.as_ref().map(Cow::Borrowed).map_err(Clone::clone))
    }
}

impl Decoder {
    /// Decodes one payload.
    pub fn decode(&self, payload: &[u8]) -> Result<Decoded, SchemaError> {
        match &self.0 {
            Kind::Struct { layout, shape } => decode_struct(layout, *shape, payload),
            Kind::Guess { shape, missing, .. } => {
                let layout = self.layout_for(payload.len()).ok_or_else(|| SchemaError::clone(missing))?;
                let decoded = decode_struct(layout, *shape, payload)?;
                Ok(Decoded { note: Some(Note::Guessed), ..decoded })
            }
            Kind::Photon(photon) => photon::decode(photon, payload).map(|found| with_rest(found, payload)),
            Kind::Msgpack => msgpack::decode(payload).map(|found| with_rest(found, payload)),
            Kind::Json => json::decode(payload).map(|tree| Decoded { tree, note: None }),
            Kind::Proto(message) => {
                let (tree, count) = proto::decode(message, payload)?;
                let note = (count > 0).then_some(Note::UnknownFields { count });
                Ok(Decoded { tree, note })
            }
        }
    }

    /// What decoded values look like, in at most `limit` fields.
    ///
    /// Where a struct without schema had several layouts in the course of time, this is the longest of them.
    pub fn shape(&self, limit: usize) -> Result<TreeShape, SchemaError> {
        let budget = &mut FieldBudget::new(limit);
        match &self.0 {
            Kind::Photon(photon) => photon::shape(photon, budget),
            Kind::Proto(message) => proto::shape(message, budget),
            Kind::Msgpack | Kind::Json => Ok(TreeShape::Any),
            Kind::Struct { shape, .. } | Kind::Guess { shape, .. } => {
                let longest = self.layouts().iter().max_by_key(|layout| layout.size);
                let form = longest.map_or(Ok(TreeShape::Any), |layout| TreeShape::of_layout(layout, budget))?;
                Ok(match shape {
                    Shape::One => form,
                    Shape::Many => TreeShape::List(Box::new(form)),
                    Shape::Exactly(count) => TreeShape::Array(Box::new(form), *count),
                })
            }
        }
    }

    /// The layouts of one element, if the type is a struct or struct array: several where WPILib's stand in for a
    /// missing schema.
    pub fn layouts(&self) -> &[Arc<Layout>] {
        match &self.0 {
            Kind::Struct { layout, .. } => std::slice::from_ref(layout),
            Kind::Guess { layouts, .. } => layouts,
            _ => &[],
        }
    }

    /// The one of [`Decoder::layouts`] that a payload of `len` bytes decodes with.
    pub fn layout_for(&self, len: usize) -> Option<&Arc<Layout>> {
        match &self.0 {
            Kind::Struct { layout, shape } => Some(layout).filter(|layout| shape.has_room(layout.size, len)),
            Kind::Guess { layouts, shape, .. } => layouts.iter().find(|layout| shape.fits(layout.size, len)),
            _ => None,
        }
    }

    /// The layout of one element, if the type is a struct or struct array with a schema.
    pub fn layout(&self) -> Option<&Arc<Layout>> {
        match &self.0 {
            Kind::Struct { layout, .. } => Some(layout),
            _ => None,
        }
    }
}

fn decode_struct(layout: &Layout, shape: Shape, payload: &[u8]) -> Result<Decoded, SchemaError> {
    let (len, size) = (payload.len(), layout.size);
    match shape {
        Shape::One => {
            let tree = wpistruct::tree(layout, payload)?;
            Ok(with_rest((tree, len - size), payload))
        }
        Shape::Exactly(count) => {
            let tree = wpistruct::many(layout, count, payload)?;
            Ok(with_rest((tree, len.saturating_sub(size.saturating_mul(count))), payload))
        }
        Shape::Many => {
            let count = len.checked_div(size).unwrap_or(0);
            let tree = wpistruct::many(layout, count, payload)?;
            let left = len - count * size;
            Ok(Decoded { tree, note: (left > 0).then_some(Note::Remainder { count, size, left }) })
        }
    }
}

fn with_rest((tree, left): (Tree, usize), payload: &[u8]) -> Decoded {
    let used = payload.len().saturating_sub(left);
    Decoded { tree, note: (left > 0).then_some(Note::Longer { used, left }) }
}

fn built_in(name: &str, edition: Edition) -> Option<Result<Cow<'static, Schema>, SchemaError>> {
    let text = common::schema(name, edition)?;
    Schema::parse(&text).ok().map(|schema| Ok(Cow::Owned(schema)))
}

/// A schema text as it came, and what it means.
#[derive(Debug)]
struct Entry<S> {
    text: Vec<u8>,
    schema: Result<S, SchemaError>,
}

enum Change {
    None,
    /// The name had no good schema before; the new one may be broken too.
    New(Result<(), SchemaError>),
    Replaced(String),
}

fn put<S: PartialEq>(
    entries: &mut HashMap<String, Entry<S>>,
    prefix: &str,
    name: &str,
    text: &[u8],
    parse: fn(&str) -> Result<S, ParseError>,
) -> Result<Change, SchemaError> {
    let known = entries.get_mut(name);
    if let Some(known) = &known
        && known.text == text
    {
        return known.schema.as_ref().map(|_| Change::None).map_err(Clone::clone);
    }
    let full_name = format!("{prefix}:{name}");
    let schema = match str::from_utf8(text) {
        Ok(text) => parse(text).map_err(|error| SchemaError::Parse { name: full_name.clone(), error }),
        Err(error) => Err(SchemaError::NotUtf8 { name: full_name.clone(), at: error.valid_up_to() }),
    };
    if let Some(known) = known
        && let Ok(before) = &known.schema
    {
        let schema = schema?;
        // Java and C++ set blanks differently; that is no change.
        let same = schema == *before;
        *known = Entry { text: text.to_vec(), schema: Ok(schema) };
        return Ok(if same { Change::None } else { Change::Replaced(full_name) });
    }
    let result = schema.as_ref().map(|_| ()).map_err(Clone::clone);
    entries.insert(name.to_owned(), Entry { text: text.to_vec(), schema });
    Ok(Change::New(result))
}
