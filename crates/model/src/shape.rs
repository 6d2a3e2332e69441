use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Fields};
use logpose_core::{Channel, Chunk, Type};
use logpose_schema::wpistruct::Layout;
use logpose_schema::{Decoder, Registry, TreeShape};

use crate::memory::{Ends, Payloads};
use crate::plain::{list_of, some};
use crate::structs::{self, MISSING, Places};
use crate::{Memory, plain, tree_types, trees};

/// How the values of one channel become Arrow arrays. Made once for a channel; cheap to clone.
///
/// ```
/// use logpose_core::Channel;
/// use logpose_model::Shape;
/// use logpose_schema::Registry;
///
/// let mut registry = Registry::new();
/// registry.add("/.schema/struct:Point", "structschema", b"double x;int32 id[2]")?;
/// let shape = Shape::of(&Channel::new("/points", "struct:Point[]"), &registry);
/// assert_eq!(
///     shape.data_type().to_string(),
///     r#"List(Struct("x": Float64, "id": FixedSizeList(2 x Int32)))"#
/// );
/// # Ok::<(), logpose_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shape {
    data_type: DataType,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Plain(Type),
    /// Structs whose fields lie at fixed places.
    Structs {
        decoder: Arc<Decoder>,
        form: Arc<TreeShape>,
        layout: Arc<Layout>,
        fields: Fields,
        repeat: Repeat,
    },
    /// Values that are decoded one by one.
    Trees {
        decoder: Arc<Decoder>,
        form: Arc<TreeShape>,
    },
}

/// How many structs a payload holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Repeat {
    One,
    Many,
    Exactly(usize),
}

impl Shape {
    /// The shape of a channel's values, by its type and the schemas of its log. What no schema explains is binary.
    #[must_use]
    pub fn of(channel: &Channel, registry: &Registry) -> Self {
        let ty = channel.ty();
        let decoded = if ty == Type::Bytes { Self::decoded(&channel.type_name, registry) } else { None };
        decoded.unwrap_or_else(|| Self { data_type: plain::data_type(ty), kind: Kind::Plain(ty) })
    }

    fn decoded(type_name: &str, registry: &Registry) -> Option<Self> {
        let decoder = Arc::new(registry.decoder(type_name).ok()?);
        let form = Arc::new(decoder.shape(tree_types::MOST_FIELDS).ok()?);
        let data_type = tree_types::data_type(&form)?;
        let Some(layout) = decoder.layouts().iter().max_by_key(|layout| layout.size).cloned() else {
            return Some(Self { data_type, kind: Kind::Trees { decoder, form } });
        };
        let (fields, repeat) = match (&data_type, &*form) {
            (DataType::Struct(fields), _) => (fields.clone(), Repeat::One),
            (DataType::List(item), TreeShape::Array(_, count)) => {
                (struct_fields(item.data_type())?, Repeat::Exactly(*count))
            }
            (DataType::List(item), _) => (struct_fields(item.data_type())?, Repeat::Many),
            _ => return None,
        };
        Some(Self { data_type, kind: Kind::Structs { decoder, form, layout, fields, repeat } })
    }

    /// The type of the arrays.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Whether values are decoded with a schema, so that the payload itself says more than the array.
    #[must_use]
    pub fn is_decoded(&self) -> bool {
        !matches!(self.kind, Kind::Plain(_))
    }

    /// The values of a chunk; a payload that does not decode is null.
    #[must_use]
    pub fn array(&self, memory: &Memory, chunk: &Chunk) -> ArrayRef {
        let payloads = Payloads::new(memory, chunk);
        match &self.kind {
            Kind::Plain(ty) => plain::array(*ty, payloads),
            Kind::Trees { decoder, form } => trees::array(decoder, form, &self.data_type, &payloads),
            Kind::Structs { decoder, form, layout, fields, repeat } => {
                let array = match repeat {
                    Repeat::One => single(decoder, layout, fields, &payloads),
                    Repeat::Many => several(decoder, layout, fields, &payloads, |len| len / layout.size.max(1)),
                    Repeat::Exactly(count) => several(decoder, layout, fields, &payloads, |_| *count),
                };
                array.unwrap_or_else(|| trees::array(decoder, form, &self.data_type, &payloads))
            }
        }
    }
}

/// One struct a payload. `None` if payloads have other layouts too.
fn single(decoder: &Decoder, layout: &Arc<Layout>, fields: &Fields, payloads: &Payloads) -> Option<ArrayRef> {
    let places = match payloads.ends {
        Ends::Every(width) if fits(decoder, layout, width)? => Places::even(&payloads.bytes, width, payloads.rows),
        _ => {
            let starts = payloads.iter().enumerate().map(|(row, payload)| {
                let good = payload.map_or(Some(false), |payload| fits(decoder, layout, payload.len()))?;
                Some(if good { payloads.start(row) } else { MISSING })
            });
            Places::each(&payloads.bytes, starts.collect::<Option<_>>()?)
        }
    };
    Some(structs::array(layout, fields, &places))
}

/// A list of structs a payload, of as many as `count` says of its length. `None` if payloads have other layouts too.
fn several(
    decoder: &Decoder,
    layout: &Arc<Layout>,
    fields: &Fields,
    payloads: &Payloads,
    count: impl Fn(usize) -> usize,
) -> Option<ArrayRef> {
    let mut valid = Vec::with_capacity(payloads.rows);
    let mut lengths = Vec::with_capacity(payloads.rows);
    for payload in payloads.iter() {
        let len = payload.map(<[u8]>::len);
        let good = len.map_or(Some(false), |len| fits(decoder, layout, len))?;
        valid.push(good);
        lengths.push(len.filter(|_| good).map_or(0, &count));
    }
    let total: usize = lengths.iter().sum();
    let places = if total * layout.size == payloads.bytes.len() {
        // No payload has bytes left over, so the structs of all of them lie side by side.
        Places::even(&payloads.bytes, layout.size, total)
    } else {
        let starts = lengths.iter().enumerate().flat_map(|(row, count)| {
            let start = payloads.start(row);
            (0..*count).map(move |at| start + at * layout.size)
        });
        Places::each(&payloads.bytes, starts.collect())
    };
    let values = structs::array(layout, fields, &places);
    Some(list_of(OffsetBuffer::from_lengths(lengths), values, some(NullBuffer::from(valid))))
}

/// Whether a payload of `len` bytes decodes, with this layout. `None` if it does with another.
fn fits(decoder: &Decoder, layout: &Arc<Layout>, len: usize) -> Option<bool> {
    match decoder.layout_for(len) {
        None => Some(false),
        Some(other) => Arc::ptr_eq(other, layout).then_some(true),
    }
}

fn struct_fields(data_type: &DataType) -> Option<Fields> {
    if let DataType::Struct(fields) = data_type { Some(fields.clone()) } else { None }
}
