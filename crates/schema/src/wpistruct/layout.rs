use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use super::{Bits, Declaration, Scalar, Schema, TypeName};
use crate::SchemaError;
use crate::budget::{self, NODE_BYTES};

/// A struct with all its parts known: where each field lies.
pub struct Layout {
    /// The name without `struct:`.
    pub name: String,
    /// Bytes of one packed struct; 0 for a struct without fields.
    pub size: usize,
    /// The fields in declaration order.
    pub fields: Vec<Field>,
    /// Levels of structs, this one included.
    height: usize,
    /// What a `Tree` of it costs, in bytes.
    weight: u64,
}

/// One field of a struct.
#[derive(Debug)]
pub struct Field {
    /// As declared.
    pub name: String,
    /// Bytes from the start of the struct; for a bit-field, of its unit.
    pub offset: usize,
    /// What one element is.
    pub kind: Kind,
    /// The declared number of elements; `None` if the field is no array.
    pub count: Option<usize>,
    /// Set for bit-fields. A field as wide as its type is an ordinary field.
    pub bits: Option<Bits>,
    /// The enum, empty if there is none.
    pub names: Arc<EnumNames>,
}

/// What an element of a field is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A fixed type.
    Scalar(Scalar),
    /// A struct, inlined.
    Struct(Arc<Layout>),
}

/// One scalar, or array of scalars, at a fixed place in every payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Field names joined by `/`; elements of struct arrays by number: `modules/0/angle/value`.
    pub path: String,
    /// Bytes from the start of the outermost struct; for a bit-field, of its unit.
    pub offset: usize,
    /// What one element is.
    pub scalar: Scalar,
    /// Set for arrays. `char` with a count is one text.
    pub count: Option<usize>,
    /// Set for bit-fields.
    pub bits: Option<Bits>,
    /// The enum, empty if there is none.
    pub names: Arc<EnumNames>,
}

/// The names of an enum, found by number.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct EnumNames {
    /// Sorted by number, one name each.
    pairs: Vec<(i64, String)>,
}

impl Layout {
    /// Every scalar of the struct, nested structs flattened, in the order of the bytes.
    ///
    /// Fails if there are more than `limit`: a few nested arrays of structs can stand for millions.
    pub fn columns(&self, limit: usize) -> Result<Vec<Column>, SchemaError> {
        let mut columns = Columns { limit, path_bytes: 0, done: Vec::new() };
        columns.add(self, "", 0)?;
        Ok(columns.done)
    }

    /// What a `Tree` of it costs, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    /// Levels of structs, this one included.
    pub(crate) fn height(&self) -> usize {
        self.height
    }
}

impl Debug for Layout {
    /// The parts are left out: a struct used twice on each of many levels would print without end.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layout").field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

impl EnumNames {
    /// The name of `number`; the first one if the schema lists two.
    pub fn name(&self, number: i64) -> Option<&str> {
        let at = self.pairs.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        self.pairs.get(at).map(|(_, name)| name.as_str())
    }

    /// Numbers with their names, lowest number first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (i64, &str)> {
        self.pairs.iter().map(|(number, name)| (*number, name.as_str()))
    }

    /// True if no number has a name.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn new(names: &[(String, i64)]) -> Self {
        Self::from_pairs(names.iter().map(|(name, number)| (*number, name.clone())).collect())
    }

    pub(crate) fn from_pairs(mut pairs: Vec<(i64, String)>) -> Self {
        // Both steps keep the first of equals, and the first name wins.
        pairs.sort_by_key(|&(number, _)| number);
        pairs.dedup_by_key(|&mut (number, _)| number);
        Self { pairs }
    }

    fn longest(&self) -> usize {
        self.pairs.iter().map(|(_, name)| name.len()).max().unwrap_or(0)
    }
}

/// Where the schema of a struct is to be found, by name.
pub(crate) type Lookup<'a> = dyn Fn(&str) -> Option<Result<Cow<'a, Schema>, SchemaError>> + 'a;

/// Computes the layout of `name` and of all structs in it.
pub(crate) fn resolve<'a>(name: &str, lookup: &Lookup<'a>) -> Result<Arc<Layout>, SchemaError> {
    Resolver { lookup, done: HashMap::new(), open: Vec::new() }.layout(name)
}

struct Resolver<'l, 'a> {
    lookup: &'l Lookup<'a>,
    done: HashMap<String, Arc<Layout>>,
    /// The structs around the one at work, outermost first.
    open: Vec<String>,
}

impl Resolver<'_, '_> {
    fn layout(&mut self, name: &str) -> Result<Arc<Layout>, SchemaError> {
        if self.open.iter().any(|open| open == name) {
            return Err(SchemaError::Recursive { name: type_string(name) });
        }
        let known = self.done.get(name);
        if self.open.len() + known.map_or(1, |known| known.height) > MAX_DEPTH {
            let name = self.open.first().map_or(name, String::as_str);
            return Err(SchemaError::TooDeep { name: type_string(name), limit: MAX_DEPTH });
        }
        if let Some(known) = known {
            return Ok(Arc::clone(known));
        }
        let schema = (self.lookup)(name).ok_or_else(|| SchemaError::Missing {
            what: type_string(name),
            needed_by: self.open.last().map(|name| type_string(name)),
        })??;
        self.open.push(name.to_owned());
        let layout = Arc::new(self.place(name, &schema)?);
        self.open.pop();
        self.done.insert(name.to_owned(), Arc::clone(&layout));
        Ok(layout)
    }

    fn place(&mut self, name: &str, schema: &Schema) -> Result<Layout, SchemaError> {
        let mut packer = Packer::default();
        let mut fields = Vec::with_capacity(schema.fields.len());
        let mut height = 1;
        let mut weight = NODE_BYTES;
        for declaration in &schema.fields {
            let kind = match &declaration.type_name {
                TypeName::Scalar(scalar) => Kind::Scalar(*scalar),
                TypeName::Struct(inner) => Kind::Struct(self.layout(inner)?),
            };
            let field = packer.place(declaration, kind)?;
            if let Kind::Struct(inner) = &field.kind {
                height = height.max(1 + inner.height);
            }
            weight = weight.saturating_add(cost(&field));
            fields.push(field);
        }
        Ok(Layout { name: name.to_owned(), size: packer.size, fields, height, weight })
    }
}

/// Hands out offsets in declaration order.
#[derive(Default)]
struct Packer {
    /// Bytes used so far, the open unit included.
    size: usize,
    /// The storage unit that further bit-fields may join.
    open: Option<Unit>,
}

struct Unit {
    offset: usize,
    size: usize,
    used: u32,
}

impl Packer {
    fn place(&mut self, declaration: &Declaration, kind: Kind) -> Result<Field, SchemaError> {
        let names = Arc::new(EnumNames::new(&declaration.names));
        let name = declaration.name.clone();
        if let (Kind::Scalar(scalar), Some(width)) = (&kind, declaration.bits)
            && width < unit_bits(scalar.size())
        {
            let (offset, bits) = self.bit_field(*scalar, width)?;
            return Ok(Field { name, offset, kind, count: None, bits: Some(bits), names });
        }
        self.open = None;
        let size = match &kind {
            Kind::Scalar(scalar) => scalar.size(),
            Kind::Struct(inner) => inner.size,
        };
        let count = declaration.array.map(usize::try_from).transpose().map_err(|_| too_large())?;
        let size = size.checked_mul(count.unwrap_or(1)).ok_or_else(too_large)?;
        let offset = self.grow(size)?;
        Ok(Field { name, offset, kind, count, bits: None, names })
    }

    fn bit_field(&mut self, scalar: Scalar, width: u32) -> Result<(usize, Bits), SchemaError> {
        let unit = match self.open.take() {
            // Units are shared by size, whatever the sign; a bool joins a unit of any size.
            Some(unit)
                if (scalar == Scalar::Bool || unit.size == scalar.size())
                    && unit.used + width <= unit_bits(unit.size) =>
            {
                unit
            }
            _ => Unit { offset: self.grow(scalar.size())?, size: scalar.size(), used: 0 },
        };
        let bits = Bits { unit: unit.size, shift: unit.used, width };
        let offset = unit.offset;
        self.open = Some(Unit { used: unit.used + width, ..unit });
        Ok((offset, bits))
    }

    /// Takes `size` more bytes; returns where they start.
    fn grow(&mut self, size: usize) -> Result<usize, SchemaError> {
        let offset = self.size;
        self.size = offset.checked_add(size).filter(|&size| size <= MAX_SIZE).ok_or_else(too_large)?;
        Ok(offset)
    }
}

struct Columns {
    limit: usize,
    path_bytes: usize,
    done: Vec<Column>,
}

impl Columns {
    fn add(&mut self, layout: &Layout, prefix: &str, start: usize) -> Result<(), SchemaError> {
        for field in &layout.fields {
            let offset = start + field.offset;
            match &field.kind {
                // Structs without bytes have no columns, but there can be any number of them.
                Kind::Struct(inner) if inner.size == 0 => {}
                Kind::Scalar(scalar) => {
                    let path = join(prefix, &field.name);
                    // Names can be long and prefixes repeat, so the limit counts their bytes too.
                    self.path_bytes = self.path_bytes.saturating_add(path.len());
                    let paths = self.limit.saturating_mul(MEAN_PATH_BYTES);
                    if self.done.len() >= self.limit || self.path_bytes > paths {
                        return Err(SchemaError::TooLarge { what: "columns", limit: budget::bytes(self.limit) });
                    }
                    let names = Arc::clone(&field.names);
                    let (scalar, count, bits) = (*scalar, field.count, field.bits);
                    self.done.push(Column { path, offset, scalar, count, bits, names });
                }
                Kind::Struct(inner) => {
                    let path = join(prefix, &field.name);
                    let Some(count) = field.count else {
                        self.add(inner, &path, offset)?;
                        continue;
                    };
                    for at in 0..count {
                        self.add(inner, &join(&path, &at.to_string()), offset + at * inner.size)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// What the `Tree` of one field costs.
fn cost(field: &Field) -> u64 {
    let count = field.count.map_or(1, budget::bytes);
    let elements = match &field.kind {
        Kind::Scalar(Scalar::Char) => count,
        Kind::Scalar(_) => (NODE_BYTES + budget::bytes(field.names.longest())).saturating_mul(count),
        Kind::Struct(inner) => inner.weight.saturating_mul(count),
    };
    NODE_BYTES.saturating_add(budget::bytes(field.name.len())).saturating_add(elements)
}

fn unit_bits(size: usize) -> u32 {
    match size {
        1 => 8,
        2 => 16,
        4 => 32,
        _ => 64,
    }
}

fn too_large() -> SchemaError {
    SchemaError::TooLarge { what: "bytes of struct", limit: budget::bytes(MAX_SIZE) }
}

fn type_string(name: &str) -> String {
    format!("struct:{name}")
}

/// How deep structs nest at most; real ones reach five. Everything recursive here relies on it.
pub(crate) const MAX_DEPTH: usize = 64;

/// The largest struct; real ones stay below a few kilobytes.
const MAX_SIZE: usize = 16 << 20;

/// How long paths may be on average before they count against the limit of columns.
const MEAN_PATH_BYTES: usize = 256;
