//! Values that are decoded one by one, as columns.

use std::str::FromStr;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, PrimitiveBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, FixedSizeListArray, StructArray};
use arrow_buffer::{ArrowNativeType, OffsetBuffer};
use arrow_schema::{DataType, FieldRef, Fields};
use logpose_schema::wpistruct::Scalar;
use logpose_schema::{Decoder, Tree, TreeShape};

use crate::enums::Names;
use crate::memory::Payloads;
use crate::plain::{Texts, list_of, some};

/// The values of all payloads; one that does not decode is null. `data_type` was made of `form`.
pub(crate) fn array(decoder: &Decoder, form: &TreeShape, data_type: &DataType, payloads: &Payloads) -> ArrayRef {
    let mut column = column(form, data_type);
    // A short payload can stand for a large tree; all of them together get what some megabytes of payload need.
    let mut left = payloads.bytes.len().saturating_add(SPARE_NODES);
    for payload in payloads.iter() {
        let tree = payload.and_then(|payload| decoder.decode(payload).ok()).map(|decoded| decoded.tree);
        let paid = tree.as_ref().and_then(|tree| left.checked_sub(nodes(tree)));
        left = paid.unwrap_or(left);
        column.push(tree.as_ref().filter(|_| paid.is_some()));
    }
    column.finish()
}

fn nodes(tree: &Tree) -> usize {
    match tree {
        Tree::List(items) => 1 + items.iter().map(nodes).sum::<usize>(),
        Tree::Map(fields) => 1 + fields.iter().map(|(_, value)| nodes(value)).sum::<usize>(),
        _ => 1,
    }
}

/// A column while it grows.
trait Column {
    /// Adds a value. What is not of the column's form is null.
    fn push(&mut self, tree: Option<&Tree>);
    fn finish(self: Box<Self>) -> ArrayRef;
}

fn column(form: &TreeShape, data_type: &DataType) -> Box<dyn Column> {
    match (form, data_type) {
        (TreeShape::Scalar(scalar), _) => scalar_column(*scalar),
        (TreeShape::Text, _) => Box::new(Text::default()),
        (TreeShape::Bytes, _) => Box::new(BinaryBuilder::new()),
        (TreeShape::Enum(names), _) => Box::new(Enum { names: Names::new(names), valid: Vec::new() }),
        (TreeShape::List(item) | TreeShape::Array(item, _), DataType::List(field)) => {
            Box::new(List { item: column(item, field.data_type()), ends: Ends::default() })
        }
        (TreeShape::List(item) | TreeShape::Array(item, _), DataType::FixedSizeList(field, count)) => Box::new(Fixed {
            item: column(item, field.data_type()),
            field: Arc::clone(field),
            count: *count,
            valid: Vec::new(),
        }),
        (TreeShape::Struct(forms), DataType::Struct(fields)) => Box::new(Struct::new(forms, fields)),
        (TreeShape::Map(key, value), DataType::List(pair)) if let DataType::Struct(fields) = pair.data_type() => {
            let item =
                |form, at: usize| column(form, fields.get(at).map_or(&DataType::Utf8, |field| field.data_type()));
            Box::new(Map { key: item(key, 0), value: item(value, 1), fields: fields.clone(), ends: Ends::default() })
        }
        _ => Box::new(Json::default()),
    }
}

fn scalar_column(scalar: Scalar) -> Box<dyn Column> {
    match scalar {
        Scalar::Bool => Box::new(BooleanBuilder::new()),
        Scalar::Char => Box::new(Text::default()),
        Scalar::Int8 => integers::<Int8Type>(),
        Scalar::UInt8 => integers::<UInt8Type>(),
        Scalar::Int16 => integers::<Int16Type>(),
        Scalar::UInt16 => integers::<UInt16Type>(),
        Scalar::Int32 => integers::<Int32Type>(),
        Scalar::UInt32 => integers::<UInt32Type>(),
        Scalar::Int64 => integers::<Int64Type>(),
        Scalar::UInt64 => integers::<UInt64Type>(),
        Scalar::Float => Box::new(Numbers::<Float32Type> {
            values: PrimitiveBuilder::new(),
            read: |tree| if let Tree::Float(x) = tree { Some(*x) } else { None },
        }),
        Scalar::Double => Box::new(Numbers::<Float64Type> {
            values: PrimitiveBuilder::new(),
            read: |tree| if let Tree::Double(x) = tree { Some(*x) } else { None },
        }),
    }
}

fn integers<T>() -> Box<dyn Column>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i64> + TryFrom<u64> + FromStr,
{
    let read = |tree: &Tree| match tree {
        Tree::Int(x) => T::Native::try_from(*x).ok(),
        Tree::UInt(x) => T::Native::try_from(*x).ok(),
        // Keys of maps.
        Tree::Text(text) => text.parse().ok(),
        _ => None,
    };
    Box::new(Numbers::<T> { values: PrimitiveBuilder::new(), read })
}

struct Numbers<T: ArrowPrimitiveType> {
    values: PrimitiveBuilder<T>,
    read: fn(&Tree) -> Option<T::Native>,
}

impl<T: ArrowPrimitiveType> Column for Numbers<T> {
    fn push(&mut self, tree: Option<&Tree>) {
        self.values.append_option(tree.and_then(self.read));
    }

    fn finish(mut self: Box<Self>) -> ArrayRef {
        Arc::new(self.values.finish())
    }
}

impl Column for BooleanBuilder {
    fn push(&mut self, tree: Option<&Tree>) {
        self.append_option(match tree {
            Some(Tree::Bool(x)) => Some(*x),
            // Keys of maps.
            Some(Tree::Text(text)) => text.parse().ok(),
            _ => None,
        });
    }

    fn finish(mut self: Box<Self>) -> ArrayRef {
        Arc::new(Self::finish(&mut self))
    }
}

impl Column for BinaryBuilder {
    fn push(&mut self, tree: Option<&Tree>) {
        self.append_option(if let Some(Tree::Bytes(bytes)) = tree { Some(bytes) } else { None });
    }

    fn finish(mut self: Box<Self>) -> ArrayRef {
        Arc::new(Self::finish(&mut self))
    }
}

#[derive(Default)]
struct Text {
    texts: Texts,
    valid: Vec<bool>,
}

impl Column for Text {
    fn push(&mut self, tree: Option<&Tree>) {
        let text = if let Some(Tree::Text(text)) = tree { Some(text.as_bytes()) } else { None };
        self.valid.push(self.texts.push_row(text));
    }

    fn finish(self: Box<Self>) -> ArrayRef {
        Arc::new(self.texts.finish(Some(self.valid.into())))
    }
}

/// Whatever it is, as JSON text.
#[derive(Default)]
struct Json {
    texts: Texts,
    valid: Vec<bool>,
    text: Vec<u8>,
}

impl Column for Json {
    fn push(&mut self, tree: Option<&Tree>) {
        self.text.clear();
        let tree = tree.filter(|tree| !matches!(tree, Tree::Null));
        if let Some(tree) = tree {
            tree.write_json(&mut self.text);
        }
        self.valid.push(self.texts.push_row(tree.map(|_| &*self.text)));
    }

    fn finish(self: Box<Self>) -> ArrayRef {
        Arc::new(self.texts.finish(Some(self.valid.into())))
    }
}

struct Enum {
    names: Names,
    valid: Vec<bool>,
}

impl Column for Enum {
    fn push(&mut self, tree: Option<&Tree>) {
        let number = match tree {
            Some(Tree::Enum { number, .. }) => Some(i128::from(*number)),
            // A number beyond those that can have a name.
            Some(Tree::UInt(number)) => Some(i128::from(*number)),
            _ => None,
        };
        self.valid.push(number.is_some());
        match number {
            Some(number) => self.names.push(number),
            None => self.names.push_nothing(),
        }
    }

    fn finish(self: Box<Self>) -> ArrayRef {
        self.names.finish(some(self.valid.into()))
    }
}

/// Where the lists of a column end.
struct Ends {
    offsets: Vec<i32>,
    valid: Vec<bool>,
}

impl Default for Ends {
    fn default() -> Self {
        Self { offsets: vec![0], valid: Vec::new() }
    }
}

impl Ends {
    fn push(&mut self, len: Option<usize>) {
        // There are far less elements than offsets can count: each is paid for.
        let last = self.offsets.last().map_or(0, |last| last.as_usize());
        self.offsets.push(i32::usize_as(last + len.unwrap_or(0)));
        self.valid.push(len.is_some());
    }

    fn finish(self, values: ArrayRef) -> ArrayRef {
        list_of(OffsetBuffer::new(self.offsets.into()), values, some(self.valid.into()))
    }
}

struct List {
    item: Box<dyn Column>,
    ends: Ends,
}

impl Column for List {
    fn push(&mut self, tree: Option<&Tree>) {
        let items = tree.and_then(Tree::items);
        items.unwrap_or_default().iter().for_each(|item| self.item.push(Some(item)));
        self.ends.push(items.map(<[Tree]>::len));
    }

    fn finish(self: Box<Self>) -> ArrayRef {
        self.ends.finish(self.item.finish())
    }
}

struct Fixed {
    item: Box<dyn Column>,
    field: FieldRef,
    count: i32,
    valid: Vec<bool>,
}

impl Column for Fixed {
    fn push(&mut self, tree: Option<&Tree>) {
        let items = tree.and_then(Tree::items).filter(|items| items.len() == self.count.as_usize());
        match items {
            Some(items) => items.iter().for_each(|item| self.item.push(Some(item))),
            None => (0..self.count).for_each(|_| self.item.push(None)),
        }
        self.valid.push(items.is_some());
    }

    fn finish(self: Box<Self>) -> ArrayRef {
        let nulls = some(self.valid.into());
        Arc::new(FixedSizeListArray::new(self.field, self.count, self.item.finish(), nulls))
    }
}

struct Struct {
    columns: Vec<(String, Box<dyn Column>)>,
    fields: Fields,
    valid: Vec<bool>,
}

impl Struct {
    fn new(forms: &[(String, TreeShape)], fields: &Fields) -> Self {
        let columns = forms.iter().zip(fields);
        let columns = columns.map(|((name, form), field)| (name.clone(), column(form, field.data_type())));
        Self { columns: columns.collect(), fields: fields.clone(), valid: Vec::new() }
    }
}

impl Column for Struct {
    fn push(&mut self, tree: Option<&Tree>) {
        let fields = if let Some(Tree::Map(fields)) = tree { Some(fields) } else { None };
        for (at, (name, column)) in self.columns.iter_mut().enumerate() {
            // Trees have the order of their form, with fields that say nothing in between.
            let same = |field: &&(String, Tree)| field.0 == *name;
            let field = fields.and_then(|fields| fields.get(at).filter(same).or_else(|| fields.iter().find(same)));
            column.push(field.map(|(_, value)| value));
        }
        self.valid.push(fields.is_some());
    }

    fn finish(self: Box<Self>) -> ArrayRef {
        let columns = self.columns.into_iter().map(|(_, column)| column.finish()).collect();
        Arc::new(StructArray::new(self.fields, columns, some(self.valid.into())))
    }
}

/// Pairs of a key and a value.
struct Map {
    key: Box<dyn Column>,
    value: Box<dyn Column>,
    fields: Fields,
    ends: Ends,
}

impl Column for Map {
    fn push(&mut self, tree: Option<&Tree>) {
        let pairs = if let Some(Tree::Map(pairs)) = tree { Some(pairs) } else { None };
        for (key, value) in pairs.into_iter().flatten() {
            self.key.push(Some(&Tree::Text(key.clone())));
            self.value.push(Some(value));
        }
        self.ends.push(pairs.map(Vec::len));
    }

    fn finish(self: Box<Self>) -> ArrayRef {
        let columns = vec![self.key.finish(), self.value.finish()];
        self.ends.finish(Arc::new(StructArray::new(self.fields, columns, None)))
    }
}

/// How many parts of values a chunk may have beyond the bytes of its payloads.
const SPARE_NODES: usize = 16 << 20;
