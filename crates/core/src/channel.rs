/// A channel's number within one log: its place in the list of channels.
pub type ChannelId = u32;

/// A named, typed series of samples.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Channel {
    /// The path as the dialect wrote it.
    pub name: String,
    /// The type as the dialect wrote it, such as `double[]` or `struct:Pose2d`. It is kept even where
    /// logpose does not understand it, so that rewriting loses nothing.
    pub type_name: String,
    /// The unit of the values, SI or other, if the log states it.
    pub unit: Option<String>,
    /// Free text of the dialect, mostly JSON; empty if there is none.
    pub metadata: String,
    /// Where a channel is one of many alike: the family's table and this channel's key in it.
    pub family: Option<Box<(String, String)>>,
}

impl Channel {
    /// A channel with a name and a type, and nothing else.
    #[must_use]
    pub fn new(name: impl Into<String>, type_name: impl Into<String>) -> Self {
        Self { name: name.into(), type_name: type_name.into(), ..Self::default() }
    }

    /// How its values are held.
    #[must_use]
    pub fn ty(&self) -> Type {
        Type::of(&self.type_name)
    }
}

/// How a channel's values are held. The type string says more: a `struct:Pose2d` is held as bytes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Type {
    /// True or false.
    Boolean,
    /// Signed 64-bit integer.
    Int64,
    /// IEEE-754 binary32.
    Float,
    /// IEEE-754 binary64.
    Double,
    /// Text; UTF-8 by convention, kept as the bytes that were written.
    String,
    /// Bytes that only the type string explains.
    Bytes,
    /// Array of booleans.
    BooleanArray,
    /// Array of signed 64-bit integers.
    Int64Array,
    /// Array of binary32 numbers.
    FloatArray,
    /// Array of binary64 numbers.
    DoubleArray,
    /// Array of texts.
    StringArray,
}

impl Type {
    /// The way values of the type string `name` are held; what is not known is [`Type::Bytes`].
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name {
            "boolean" => Self::Boolean,
            // `int` is NetworkTables' spelling, found in logs of 2023.
            "int64" | "int" => Self::Int64,
            "float" => Self::Float,
            "double" => Self::Double,
            "string" | "json" | "structschema" | "photonstructschema" => Self::String,
            "boolean[]" => Self::BooleanArray,
            "int64[]" | "int[]" => Self::Int64Array,
            "float[]" => Self::FloatArray,
            "double[]" => Self::DoubleArray,
            "string[]" => Self::StringArray,
            _ => Self::Bytes,
        }
    }

    /// Bytes of one value, where every value has the same.
    #[must_use]
    pub fn fixed_size(self) -> Option<usize> {
        match self {
            Self::Boolean => Some(1),
            Self::Float => Some(4),
            Self::Int64 | Self::Double => Some(8),
            _ => None,
        }
    }

    /// Bytes of one element of an array of numbers or booleans.
    #[must_use]
    pub fn element_size(self) -> Option<usize> {
        match self {
            Self::BooleanArray => Some(1),
            Self::FloatArray => Some(4),
            Self::Int64Array | Self::DoubleArray => Some(8),
            _ => None,
        }
    }
}
