#![expect(missing_docs, reason = "the message above each variant says what its fields are")]

/// Why a schema was not taken, or a payload not decoded.
///
/// The same defect usually repeats with every sample of a channel; [`SchemaError::key`] together
/// with the type string is what a caller needs to report it once.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// `Registry::add` was called for a channel that holds no schema.
    #[error("channel {channel:?} of type {type_name:?} is not a schema")]
    NotSchema { channel: String, type_name: String },
    /// The type string is of no kind this crate decodes.
    #[error("type {type_name:?} has no decoder")]
    Unsupported { type_name: String },
    /// A schema has not arrived, or not yet.
    #[error("no schema for {what}{}", needed(.needed_by.as_deref()))]
    Missing { what: String, needed_by: Option<String> },
    /// The schema text breaks the grammar.
    #[error("schema of {name}: {error}")]
    Parse { name: String, error: ParseError },
    /// The schema text is not UTF-8.
    #[error("schema of {name}: byte {at}: not UTF-8")]
    NotUtf8 { name: String, at: usize },
    /// A struct contains itself, directly or through others.
    #[error("{name} contains itself")]
    Recursive { name: String },
    /// Structs are nested deeper than the limit.
    #[error("{name} is nested more than {limit} levels deep")]
    TooDeep { name: String, limit: usize },
    /// A limit that keeps hostile input from exhausting memory was reached.
    #[error("more than {limit} {what}")]
    TooLarge { what: &'static str, limit: u64 },
    /// A name got a second, different schema; the new one is in force.
    #[error("schema of {name} changed; using the last one")]
    Replaced { name: String },
    /// A protobuf file descriptor is broken.
    #[error("descriptor of {file}: {reason}")]
    Descriptor { file: String, reason: String },
    /// The payload ends before the value does.
    #[error("{name} needs {needed} bytes, payload has {len}")]
    Short { name: String, needed: usize, len: usize },
    /// A photonstruct flag or count has a value that cannot be.
    #[error("{name}: {what} at byte {at} is {value}")]
    Photon { name: String, what: &'static str, at: usize, value: i8 },
    /// A protobuf, msgpack or JSON payload is broken.
    #[error("{format}: {reason}")]
    Payload { format: &'static str, reason: String },
}

impl SchemaError {
    /// A word for the kind of error that stays the same from sample to sample and release to release.
    pub fn key(&self) -> &'static str {
        match self {
            Self::NotSchema { .. } => "not-schema",
            Self::Unsupported { .. } => "unsupported",
            Self::Missing { .. } => "missing",
            Self::Parse { .. } => "parse",
            Self::NotUtf8 { .. } => "not-utf8",
            Self::Recursive { .. } => "recursive",
            Self::TooDeep { .. } => "too-deep",
            Self::TooLarge { .. } => "too-large",
            Self::Replaced { .. } => "replaced",
            Self::Descriptor { .. } => "descriptor",
            Self::Short { .. } => "short",
            Self::Photon { .. } => "photon",
            Self::Payload { .. } => "payload",
        }
    }
}

/// Where a schema text breaks the grammar, and how.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("byte {at}: {kind}")]
pub struct ParseError {
    /// Offset into the text of the token at fault.
    pub at: usize,
    /// What is wrong with it.
    pub kind: ParseErrorKind,
}

/// The ways a schema text can break the grammar.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Another token was needed here.
    #[error("expected {wanted}, found {found}")]
    Unexpected { wanted: &'static str, found: String },
    /// A number does not fit 64 bits.
    #[error("{number} is out of range")]
    OutOfRange { number: String },
    /// An array size or bit width is less than one.
    #[error("{what} must be at least 1, is {number}")]
    NotPositive { what: &'static str, number: String },
    /// Only integers and `bool` can be bit-fields.
    #[error("{type_name} cannot be a bit-field")]
    BitFieldType { type_name: String },
    /// The bit-field is wider than its type; `bool` is 1 wide.
    #[error("bit-field is {width} wide, {type_name} has {limit}")]
    BitFieldWidth { type_name: String, width: u64, limit: u64 },
    /// Two fields of one struct have the same name.
    #[error("field {name} is declared twice")]
    Duplicate { name: String },
}

/// Something doubtful about a value that was decoded all the same.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// The payload goes on after the value.
    #[error("{left} bytes left over after the {used} used")]
    Longer { used: usize, left: usize },
    /// The payload of an array does not end on an element.
    #[error("{left} bytes left over after {count} elements of {size} bytes")]
    Remainder { count: usize, size: usize, left: usize },
    /// The log holds no schema, the built-in table does, and the size agrees.
    #[error("missing schema; assuming WPILib's usual layout")]
    Guessed,
    /// Protobuf fields the descriptor does not know were left out.
    #[error("skipped {count} unknown protobuf fields")]
    UnknownFields { count: usize },
}

impl Note {
    /// A stable word for the kind of note, as [`SchemaError::key`].
    pub fn key(&self) -> &'static str {
        match self {
            Self::Longer { .. } => "longer",
            Self::Remainder { .. } => "remainder",
            Self::Guessed => "guessed",
            Self::UnknownFields { .. } => "unknown-fields",
        }
    }
}

fn needed(by: Option<&str>) -> String {
    by.map(|by| format!(", needed by {by}")).unwrap_or_default()
}
