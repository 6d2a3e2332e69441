//! Protobuf: a pool of file descriptors, filled in any order, and messages decoded with it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumOptions, FieldDescriptorProto, FieldOptions, FileDescriptorProto,
    FileDescriptorSet, MessageOptions,
};
use prost_reflect::{
    DescriptorPool, DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor,
    ReflectMessage as _, Value,
};

use crate::budget::{self, Budget};
use crate::tree_shape::FieldBudget;
use crate::wpistruct::{EnumNames, Scalar};
use crate::{SchemaError, Tree, TreeShape};

/// The descriptors of a log.
#[derive(Debug, Default)]
pub(crate) struct Proto {
    /// What arrived, by name of the schema channel; sorted, so that a new pool is filled in a fixed order.
    arrived: BTreeMap<String, Arrived>,
    pool: DescriptorPool,
    /// Files that wait, by the name of the first dependency they lack.
    waiting: HashMap<String, Vec<FileDescriptorProto>>,
}

#[derive(Debug)]
struct Arrived {
    payload: Vec<u8>,
    file: Result<FileDescriptorProto, SchemaError>,
}

impl Proto {
    /// The verdict on this very descriptor, if it came before.
    pub(crate) fn known(&self, name: &str, payload: &[u8]) -> Option<Result<(), SchemaError>> {
        let arrived = self.arrived.get(name).filter(|arrived| arrived.payload == payload)?;
        Some(arrived.file.as_ref().map(|_| ()).map_err(Clone::clone))
    }

    /// Takes a descriptor. Drop message descriptors first: the pool is copied while any is alive.
    pub(crate) fn add(&mut self, name: &str, payload: &[u8]) -> Result<(), SchemaError> {
        let file = read(name, payload);
        let before = self.arrived.get(name).and_then(|arrived| arrived.file.as_ref().ok());
        match (&file, before) {
            // What was whole stays in force.
            (Err(error), Some(_)) => return Err(error.clone()),
            (Ok(file), Some(before)) if file == before => return Ok(()),
            _ => {}
        }
        let replaced = before.is_some();
        self.arrived.insert(name.to_owned(), Arrived { payload: payload.to_vec(), file: file.clone() });
        if !replaced {
            return self.place(file?);
        }
        // A pool does not forget, so a changed file means a new pool.
        self.pool = DescriptorPool::new();
        self.waiting.clear();
        let files: Vec<_> = self.arrived.values().filter_map(|arrived| arrived.file.as_ref().ok()).cloned().collect();
        files.into_iter().try_for_each(|file| self.place(file))?;
        Err(SchemaError::Replaced { name: format!("proto:{name}") })
    }

    /// The message of that full name, once its file and all files under it are there.
    pub(crate) fn message(&self, full_name: &str) -> Result<MessageDescriptor, SchemaError> {
        self.pool.get_message_by_name(full_name).ok_or_else(|| {
            let mut waiting =
                self.waiting.iter().flat_map(|(missing, files)| files.iter().map(move |file| (missing, file)));
            match waiting.find(|(_, file)| defines(file, full_name)) {
                Some((missing, file)) => SchemaError::Missing {
                    what: format!("proto:{missing}"),
                    needed_by: Some(format!("proto:{}", file.name())),
                },
                None => SchemaError::Missing { what: format!("proto:{full_name}"), needed_by: None },
            }
        })
    }

    /// The file of a message and all files it needs, those first, as an encoded `FileDescriptorSet`.
    pub(crate) fn descriptor_set(&self, full_name: &str) -> Result<Vec<u8>, SchemaError> {
        let mut set = FileDescriptorSet::default();
        let mut done = HashSet::new();
        // A file is met twice: first its needs go on the stack, then it is written.
        let mut open = vec![(self.message(full_name)?.parent_file(), false)];
        while let Some((file, ready)) = open.pop() {
            if ready {
                set.file.push(file.file_descriptor_proto().clone());
            } else if done.insert(file.name().to_owned()) {
                let needs: Vec<_> = file.dependencies().map(|file| (file, false)).collect();
                open.push((file, true));
                open.extend(needs);
            }
        }
        Ok(set.encode_to_vec())
    }

    /// The full names of all messages in the pool.
    pub(crate) fn message_names(&self) -> Vec<String> {
        self.pool.all_messages().map(|message| message.full_name().to_owned()).collect()
    }

    /// Adds a file and those that waited for it to the pool, or lets it wait.
    fn place(&mut self, file: FileDescriptorProto) -> Result<(), SchemaError> {
        let mut result = Ok(());
        let mut ready = vec![file];
        while let Some(file) = ready.pop() {
            if let Some(missing) = self.missing(&file) {
                self.waiting.entry(missing).or_default().push(file);
                continue;
            }
            let name = file.name().to_owned();
            match self.pool.add_file_descriptor_proto(file) {
                Ok(()) => ready.extend(self.waiting.remove(&name).unwrap_or_default()),
                Err(error) => result = Err(SchemaError::Descriptor { file: name, reason: error.to_string() }),
            }
        }
        result
    }

    /// The first dependency that is not in the pool.
    fn missing(&mut self, file: &FileDescriptorProto) -> Option<String> {
        file.dependency.iter().find(|name| !self.has(name)).cloned()
    }

    fn has(&mut self, name: &str) -> bool {
        if self.pool.get_file_by_name(name).is_some() {
            return true;
        }
        // Logs carry the files of the robot program; those that come with protobuf itself may be absent.
        if !name.starts_with("google/protobuf/") {
            return false;
        }
        let Some(file) = DescriptorPool::global().get_file_by_name(name) else {
            return false;
        };
        let file = file.file_descriptor_proto().clone();
        file.dependency.iter().all(|name| self.has(name)) && self.pool.add_file_descriptor_proto(file).is_ok()
    }
}

fn read(name: &str, payload: &[u8]) -> Result<FileDescriptorProto, SchemaError> {
    budget::check_payload(payload)?;
    let broken = |reason: String| SchemaError::Descriptor { file: name.to_owned(), reason };
    let mut file = FileDescriptorProto::decode(payload).map_err(|error| broken(error.to_string()))?;
    strip(&mut file).map_err(|reason| broken(reason.to_owned()))?;
    Ok(file)
}

/// The message in `payload`, and how many fields its descriptor does not know.
pub(crate) fn decode(message: &MessageDescriptor, payload: &[u8]) -> Result<(Tree, usize), SchemaError> {
    budget::check_payload(payload)?;
    let message = DynamicMessage::decode(message.clone(), payload)
        .map_err(|error| SchemaError::Payload { format: "protobuf", reason: error.to_string() })?;
    let mut walk = Walk { budget: Budget::new(), unknown: 0 };
    Ok((walk.message(message)?, walk.unknown))
}

/// What messages look like. A message inside itself, or deeper than structs may be, is of any shape.
pub(crate) fn shape(message: &MessageDescriptor, budget: &mut FieldBudget) -> Result<TreeShape, SchemaError> {
    message_shape(message, budget, &mut Vec::new())
}

fn message_shape(
    message: &MessageDescriptor,
    budget: &mut FieldBudget,
    open: &mut Vec<MessageDescriptor>,
) -> Result<TreeShape, SchemaError> {
    if open.contains(message) || open.len() >= MAX_DEPTH {
        return Ok(TreeShape::Any);
    }
    open.push(message.clone());
    let mut fields = Vec::new();
    for field in fields_of(message) {
        budget.add(field.name())?;
        let form = match field.kind() {
            Kind::Message(entry) if field.is_map() => {
                let key = kind_shape(&entry.map_entry_key_field().kind(), budget, open)?;
                let value = kind_shape(&entry.map_entry_value_field().kind(), budget, open)?;
                TreeShape::Map(Box::new(key), Box::new(value))
            }
            kind if field.is_list() => TreeShape::List(Box::new(kind_shape(&kind, budget, open)?)),
            kind => kind_shape(&kind, budget, open)?,
        };
        fields.push((field.name().to_owned(), form));
    }
    open.pop();
    Ok(TreeShape::Struct(fields))
}

fn kind_shape(
    kind: &Kind,
    budget: &mut FieldBudget,
    open: &mut Vec<MessageDescriptor>,
) -> Result<TreeShape, SchemaError> {
    Ok(match kind {
        Kind::Double => TreeShape::Scalar(Scalar::Double),
        Kind::Float => TreeShape::Scalar(Scalar::Float),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => TreeShape::Scalar(Scalar::Int32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => TreeShape::Scalar(Scalar::Int64),
        Kind::Uint32 | Kind::Fixed32 => TreeShape::Scalar(Scalar::UInt32),
        Kind::Uint64 | Kind::Fixed64 => TreeShape::Scalar(Scalar::UInt64),
        Kind::Bool => TreeShape::Scalar(Scalar::Bool),
        Kind::String => TreeShape::Text,
        Kind::Bytes => TreeShape::Bytes,
        Kind::Enum(names) => {
            let pairs = names.values().map(|value| (value.number().into(), value.name().to_owned()));
            TreeShape::Enum(Arc::new(EnumNames::from_pairs(pairs.collect())))
        }
        Kind::Message(message) => message_shape(message, budget, open)?.or_any(),
    })
}

/// The fields in the order of the file, which people expect; the pool sorts them by number.
fn fields_of(message: &MessageDescriptor) -> impl Iterator<Item = FieldDescriptor> {
    let declared = &message.descriptor_proto().field;
    declared.iter().filter_map(|field| message.get_field(field.number().cast_unsigned()))
}

/// How deep the form of a message goes; real ones reach five.
const MAX_DEPTH: usize = 32;

struct Walk {
    budget: Budget,
    unknown: usize,
}

impl Walk {
    /// Depth is bounded: prost refuses more than 100 levels.
    fn message(&mut self, mut message: DynamicMessage) -> Result<Tree, SchemaError> {
        self.unknown += message.unknown_fields().count();
        let descriptor = message.descriptor();
        let mut fields = Vec::with_capacity(descriptor.fields().len().min(64));
        for field in fields_of(&descriptor) {
            self.budget.node(field.name().len())?;
            let value = match message.take_field(&field) {
                Some(value) => self.field(&field, value)?,
                None if field.supports_presence() => Tree::Null,
                None => self.field(&field, field.default_value())?,
            };
            fields.push((field.name().to_owned(), value));
        }
        Ok(Tree::Map(fields))
    }

    fn field(&mut self, field: &FieldDescriptor, value: Value) -> Result<Tree, SchemaError> {
        let kind = field.kind();
        match (value, &kind) {
            (Value::Map(items), Kind::Message(entry)) => {
                let kind = entry.map_entry_value_field().kind();
                let mut items: Vec<_> = items.into_iter().collect();
                // The wire order is not kept; any fixed order beats the hash map's.
                items.sort_by(|(a, _), (b, _)| a.cmp(b));
                let pair = |(key, item)| {
                    let key = key_text(key);
                    self.budget.node(key.len())?;
                    Ok((key, self.value(&kind, item)?))
                };
                items.into_iter().map(pair).collect::<Result<_, _>>().map(Tree::Map)
            }
            (value, kind) => self.value(kind, value),
        }
    }

    fn value(&mut self, kind: &Kind, value: Value) -> Result<Tree, SchemaError> {
        self.budget.node(0)?;
        Ok(match value {
            Value::Bool(value) => Tree::Bool(value),
            Value::I32(value) => Tree::Int(value.into()),
            Value::I64(value) => Tree::Int(value),
            Value::U32(value) => Tree::UInt(value.into()),
            Value::U64(value) => Tree::UInt(value),
            Value::F32(value) => Tree::Float(value),
            Value::F64(value) => Tree::Double(value),
            Value::String(text) => Tree::Text(text),
            Value::Bytes(bytes) => Tree::Bytes(bytes.into()),
            Value::EnumNumber(number) => {
                let name = kind.as_enum().and_then(|names| enum_name(names, number));
                self.budget.node(name.as_ref().map_or(0, String::len))?;
                Tree::Enum { number: number.into(), name }
            }
            Value::Message(message) => self.message(message)?,
            Value::List(items) => {
                Tree::List(items.into_iter().map(|item| self.value(kind, item)).collect::<Result<_, _>>()?)
            }
            // `field` has taken the only place where maps occur.
            Value::Map(_) => Tree::Null,
        })
    }
}

fn enum_name(names: &EnumDescriptor, number: i32) -> Option<String> {
    names.get_value(number).map(|value| value.name().to_owned())
}

fn key_text(key: MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key,
    }
}

/// True if the message of that full name, or one around it, is in the file.
fn defines(file: &FileDescriptorProto, full_name: &str) -> bool {
    let local = match file.package() {
        "" => Some(full_name),
        package => full_name.strip_prefix(package).and_then(|name| name.strip_prefix('.')),
    };
    let outer = local.and_then(|name| name.split('.').next());
    outer.is_some_and(|outer| file.message_type.iter().any(|message| message.name() == outer))
}

/// Leaves in a descriptor only what decoding needs.
///
/// Options, extensions and services are where descriptor pools do their most intricate work; none of
/// it changes a decoded value, and the pool has panics on paths a hostile descriptor might find.
fn strip(file: &mut FileDescriptorProto) -> Result<(), &'static str> {
    // The pool panics on a syntax it does not know.
    if !matches!(file.syntax(), "" | "proto2" | "proto3") {
        return Err("the syntax is neither proto2 nor proto3");
    }
    if file.syntax().is_empty() {
        file.syntax = None;
    }
    file.options = None;
    file.source_code_info = None;
    file.service.clear();
    file.extension.clear();
    file.enum_type.iter_mut().try_for_each(strip_enum)?;
    file.message_type.iter_mut().try_for_each(strip_message)
}

fn strip_message(message: &mut DescriptorProto) -> Result<(), &'static str> {
    let is_map_entry = message.options.as_ref().is_some_and(MessageOptions::map_entry);
    message.options = is_map_entry.then(|| MessageOptions { map_entry: Some(true), ..MessageOptions::default() });
    message.extension.clear();
    message.extension_range.clear();
    for oneof in &mut message.oneof_decl {
        oneof.options = None;
    }
    for field in &mut message.field {
        let packed = field.options.as_ref().and_then(|options| options.packed);
        field.options = packed.map(|packed| FieldOptions { packed: Some(packed), ..FieldOptions::default() });
    }
    if is_map_entry && !is_proper_map_entry(&message.field) {
        return Err("invalid map entry");
    }
    message.enum_type.iter_mut().try_for_each(strip_enum)?;
    message.nested_type.iter_mut().try_for_each(strip_message)
}

fn strip_enum(names: &mut EnumDescriptorProto) -> Result<(), &'static str> {
    let alias = names.options.as_ref().and_then(|options| options.allow_alias);
    names.options = alias.map(|alias| EnumOptions { allow_alias: Some(alias), ..EnumOptions::default() });
    for value in &mut names.value {
        value.options = None;
    }
    if names.value.is_empty() { Err("enum without values") } else { Ok(()) }
}

fn is_proper_map_entry(fields: &[FieldDescriptorProto]) -> bool {
    let [key, value] = fields else { return false };
    let is_plain = |field: &FieldDescriptorProto| field.oneof_index.is_none() && field.label() != Label::Repeated;
    let key_type_ok =
        !matches!(key.r#type(), Type::Double | Type::Float | Type::Bytes | Type::Message | Type::Group | Type::Enum);
    (key.name(), key.number()) == ("key", 1)
        && (value.name(), value.number()) == ("value", 2)
        && is_plain(key)
        && is_plain(value)
        && key.type_name.is_none()
        && key_type_ok
}
