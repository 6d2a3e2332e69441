//! PhotonVision's photonstruct: like WPILib's structs, but with optional and variable parts, so a
//! payload is read from front to back.
//!
//! ```text
//! optional type name;   one byte 0 or 1, then the value if 1
//! type name[?];         one signed byte count, then the elements
//! type name;            the value
//! ```

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::budget::Budget;
use crate::tree_shape::FieldBudget;
use crate::wpistruct::{self, Layout, MAX_DEPTH, Scalar};
use crate::{ParseError, ParseErrorKind, SchemaError, Tree, TreeShape};

/// A parsed photonstruct schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Schema {
    fields: Vec<Declaration>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Declaration {
    name: String,
    type_name: String,
    optional: bool,
    many: bool,
}

impl Schema {
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        let mut names = HashSet::new();
        let mut fields = Vec::new();
        let mut at = 0;
        for part in text.split(';') {
            if !part.trim_ascii().is_empty() {
                let field = declaration(part).map_err(|kind| ParseError { at, kind })?;
                if !names.insert(field.name.clone()) {
                    return Err(ParseError { at, kind: ParseErrorKind::Duplicate { name: field.name } });
                }
                fields.push(field);
            }
            at += part.len() + 1;
        }
        Ok(Self { fields })
    }
}

fn declaration(text: &str) -> Result<Declaration, ParseErrorKind> {
    let words: Vec<&str> = text.split_ascii_whitespace().take(4).collect();
    let (optional, type_name, name) = match *words.as_slice() {
        ["optional", type_name, name] => (true, type_name, name),
        [type_name, name] if type_name != "optional" => (false, type_name, name),
        _ => return Err(unexpected("`type name` or `optional type name`", text)),
    };
    let (name, many) = match name.strip_suffix("[?]") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    if name.is_empty() || !name.bytes().all(word) {
        return Err(unexpected("a field name", name));
    }
    if !type_name.bytes().all(|byte| word(byte) || byte == b':' || byte == b'.') {
        return Err(unexpected("a type", type_name));
    }
    Ok(Declaration { name: name.to_owned(), type_name: type_name.to_owned(), optional, many })
}

fn unexpected(wanted: &'static str, found: &str) -> ParseErrorKind {
    let found: String = found.trim_ascii().chars().take(40).collect();
    ParseErrorKind::Unexpected { wanted, found: format!("`{found}`") }
}

/// A photonstruct with all its parts known.
#[derive(Debug)]
pub(crate) struct Photon {
    name: String,
    fields: Vec<Field>,
    /// Levels of structs of both kinds, this one included.
    height: usize,
}

#[derive(Debug)]
struct Field {
    name: String,
    optional: bool,
    many: bool,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Scalar(Scalar),
    Struct(Arc<Layout>),
    Photon(Arc<Photon>),
}

/// Finds the parts of a photonstruct.
pub(crate) struct Resolver<'a> {
    /// The photonstruct schema of a name with its hash.
    pub(crate) photon: &'a dyn Fn(&str) -> Option<Result<&'a Schema, SchemaError>>,
    /// The layout of a WPILib struct.
    pub(crate) layout: &'a dyn Fn(&str) -> Result<Arc<Layout>, SchemaError>,
}

impl Resolver<'_> {
    /// The photonstruct of that name, which includes the hash.
    pub(crate) fn resolve(&self, name: &str) -> Result<Arc<Photon>, SchemaError> {
        self.photon(name, &mut Vec::new(), &mut HashMap::new())
    }

    fn photon(
        &self,
        name: &str,
        open: &mut Vec<String>,
        done: &mut HashMap<String, Arc<Photon>>,
    ) -> Result<Arc<Photon>, SchemaError> {
        if open.iter().any(|open| open == name) {
            return Err(SchemaError::Recursive { name: type_string(name) });
        }
        let known = done.get(name);
        check_depth(open, known.map_or(1, |known| known.height), name)?;
        if let Some(known) = known {
            return Ok(Arc::clone(known));
        }
        let needed_by = || open.last().map(|name| type_string(name));
        let schema = (self.photon)(name)
            .ok_or_else(|| SchemaError::Missing { what: type_string(name), needed_by: needed_by() })??;
        open.push(name.to_owned());
        let mut fields = Vec::with_capacity(schema.fields.len());
        let mut height = 1;
        for field in &schema.fields {
            let kind = self.kind(&field.type_name, open, done)?;
            height = height.max(1 + kind.height());
            let (name, optional, many) = (field.name.clone(), field.optional, field.many);
            fields.push(Field { name, optional, many, kind });
        }
        open.pop();
        let photon = Arc::new(Photon { name: name.to_owned(), fields, height });
        done.insert(name.to_owned(), Arc::clone(&photon));
        Ok(photon)
    }

    fn kind(
        &self,
        name: &str,
        open: &mut Vec<String>,
        done: &mut HashMap<String, Arc<Photon>>,
    ) -> Result<Kind, SchemaError> {
        if let Some(scalar) = Scalar::from_name(name) {
            return Ok(Kind::Scalar(scalar));
        }
        // Photon types are always written with their hash, WPILib's never have one.
        if name.contains(':') {
            return self.photon(name, open, done).map(Kind::Photon);
        }
        let layout = (self.layout)(name).map_err(|error| match error {
            SchemaError::Missing { what, needed_by: None } => {
                SchemaError::Missing { what, needed_by: open.last().map(|name| type_string(name)) }
            }
            other => other,
        })?;
        check_depth(open, layout.height(), name)?;
        Ok(Kind::Struct(layout))
    }
}

impl Kind {
    fn height(&self) -> usize {
        match self {
            Self::Scalar(_) => 0,
            Self::Struct(layout) => layout.height(),
            Self::Photon(photon) => photon.height,
        }
    }
}

fn check_depth(open: &[String], height: usize, name: &str) -> Result<(), SchemaError> {
    if open.len() + height > MAX_DEPTH {
        let name = open.first().map_or(name, String::as_str);
        return Err(SchemaError::TooDeep { name: type_string(name), limit: MAX_DEPTH });
    }
    Ok(())
}

/// What its values look like.
pub(crate) fn shape(photon: &Photon, budget: &mut FieldBudget) -> Result<TreeShape, SchemaError> {
    let mut fields = Vec::new();
    for field in &photon.fields {
        budget.add(&field.name)?;
        let form = match &field.kind {
            Kind::Scalar(Scalar::Char) if field.many => TreeShape::Text,
            Kind::Scalar(scalar) => TreeShape::Scalar(*scalar),
            Kind::Struct(layout) => TreeShape::of_layout(layout, budget)?.or_any(),
            Kind::Photon(inner) => self::shape(inner, budget)?.or_any(),
        };
        let form = if field.many && form != TreeShape::Text { TreeShape::List(Box::new(form)) } else { form };
        fields.push((field.name.clone(), form));
    }
    Ok(TreeShape::Struct(fields))
}

/// The value at the start of `payload`, and how many bytes are left after it.
pub(crate) fn decode(photon: &Photon, payload: &[u8]) -> Result<(Tree, usize), SchemaError> {
    let mut walk = Walk { name: &photon.name, payload, at: 0, budget: Budget::new() };
    let tree = walk.photon(photon)?;
    Ok((tree, payload.len() - walk.at))
}

struct Walk<'a> {
    name: &'a str,
    payload: &'a [u8],
    at: usize,
    budget: Budget,
}

impl Walk<'_> {
    fn photon(&mut self, photon: &Photon) -> Result<Tree, SchemaError> {
        let mut fields = Vec::with_capacity(photon.fields.len().min(64));
        for field in &photon.fields {
            self.budget.node(field.name.len())?;
            fields.push((field.name.clone(), self.field(field)?));
        }
        Ok(Tree::Map(fields))
    }

    fn field(&mut self, field: &Field) -> Result<Tree, SchemaError> {
        if field.optional {
            match self.byte()? {
                0 => return Ok(Tree::Null),
                1 => {}
                value => return Err(self.broken("optional flag", value)),
            }
        }
        if !field.many {
            return self.value(&field.kind);
        }
        let byte = self.byte()?;
        let count = usize::try_from(byte).map_err(|_| self.broken("array count", byte))?;
        if let Kind::Scalar(Scalar::Char) = field.kind {
            return Ok(Tree::Text(wpistruct::text(self.take(count)?).into_owned()));
        }
        (0..count).map(|_| self.value(&field.kind)).collect::<Result<_, _>>().map(Tree::List)
    }

    fn value(&mut self, kind: &Kind) -> Result<Tree, SchemaError> {
        self.budget.node(0)?;
        match kind {
            Kind::Photon(photon) => self.photon(photon),
            Kind::Scalar(scalar) => {
                let bytes = self.take(scalar.size())?;
                Ok(scalar.read(bytes).unwrap_or(Tree::Null))
            }
            Kind::Struct(layout) => {
                self.budget.weight(layout.weight())?;
                wpistruct::tree(layout, self.take(layout.size)?)
            }
        }
    }

    fn byte(&mut self) -> Result<i8, SchemaError> {
        let bytes = self.take(1)?;
        Ok(bytes.first().map_or(0, |byte| byte.cast_signed()))
    }

    fn take(&mut self, size: usize) -> Result<&[u8], SchemaError> {
        let end = self.at.saturating_add(size);
        let bytes = self.payload.get(self.at..end).ok_or_else(|| SchemaError::Short {
            name: type_string(self.name),
            needed: end,
            len: self.payload.len(),
        })?;
        self.at = end;
        Ok(bytes)
    }

    /// An error about the byte just taken.
    fn broken(&self, what: &'static str, value: i8) -> SchemaError {
        SchemaError::Photon { name: type_string(self.name), what, at: self.at.saturating_sub(1), value }
    }
}

fn type_string(name: &str) -> String {
    format!("photonstruct:{name}")
}
