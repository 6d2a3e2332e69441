use logpose_core::{
    Channel, ChannelIndex, DecodeError, FileDialect, Index, Layout, Problems, ReadOptions, Time, Type, Value,
};

use crate::Wpilog;
use crate::walk::record_at;

/// A finished log, indexed, for reading the samples of a channel by its name.
///
/// ```
/// # let mut writer = logpose_wpilog::Writer::new(Vec::new(), "")?;
/// # let speed = writer.start("/Drive/Speed", logpose_wpilog::double, "", 0)?;
/// # writer.append(speed, 1_000_000, 3.5)?;
/// # writer.append(speed, 1_020_000, 3.6)?;
/// # let bytes = writer.into_inner()?;
/// let log = logpose_wpilog::Log::parse(&bytes)?;
/// let fastest = log.doubles("/Drive/Speed")?.map(|(_, speed)| speed).fold(0.0, f64::max);
/// assert_eq!(fastest, 3.6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Log<'a> {
    bytes: &'a [u8],
    index: Index,
    problems: Problems,
}

/// Why the samples of a channel cannot be read as asked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No channel has this name.
    #[error("no channel is named {name:?}")]
    NotFound {
        /// The name that was asked for.
        name: String,
    },
    /// The channel has values of another type.
    #[error("channel {name:?} has type {found}, not {wanted}")]
    WrongType {
        /// The name that was asked for.
        name: String,
        /// The type it has, as the log spells it.
        found: String,
        /// The type that was asked for.
        wanted: &'static str,
    },
}

impl<'a> Log<'a> {
    /// Indexes the bytes of a log. A damaged log is read up to the damage; see [`Log::problems`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut problems = Problems::default();
        let index = Wpilog.index(bytes, &ReadOptions::default(), &mut problems)?;
        Ok(Self { bytes, index, problems })
    }

    /// What was lost or doubtful.
    #[must_use]
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// The channels, in the order of their first declaration.
    pub fn channels(&self) -> impl ExactSizeIterator<Item = &Channel> {
        self.index.channels.iter().map(|found| &found.channel)
    }

    /// The samples of a channel in the order of the file, whatever its type is.
    pub fn samples(&self, name: &str) -> Result<impl Iterator<Item = (Time, Value<'a>)> + use<'_, 'a>, LookupError> {
        let found = self.named(name).next().ok_or_else(|| LookupError::NotFound { name: name.to_owned() })?;
        Ok(self.values(found))
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &ChannelIndex> {
        self.index.channels.iter().filter(move |found| found.channel.name == name)
    }

    fn values<'l>(&'l self, found: &'l ChannelIndex) -> impl Iterator<Item = (Time, Value<'a>)> + use<'l, 'a> {
        let (bytes, ty) = (self.bytes, found.channel.ty());
        found.positions.iter().filter_map(move |at| {
            let (record, _) = record_at(bytes, at)?;
            let value = Value::parse(ty, record.payload, Layout::Little).ok()?;
            Some((Time::from_micros(record.timestamp), value))
        })
    }

    /// The channel of that name and type. A name that was used with two types is two channels.
    fn typed(&self, name: &str, ty: Type, wanted: &'static str) -> Result<&ChannelIndex, LookupError> {
        if let Some(found) = self.named(name).find(|found| found.channel.ty() == ty) {
            return Ok(found);
        }
        let other = self.named(name).next().map(|found| found.channel.type_name.clone());
        let name = name.to_owned();
        Err(match other {
            Some(found) => LookupError::WrongType { name, found, wanted },
            None => LookupError::NotFound { name },
        })
    }
}

/// One method for each type of value: `doubles` gives the samples of a `double` channel, and so on.
macro_rules! typed {
    ($($(#[$doc:meta])* $method:ident: $ty:ident $wanted:literal => $value:ty, $take:expr;)*) => {
        impl<'a> Log<'a> {
            $($(#[$doc])*
            pub fn $method(&self, name: &str) -> Result<impl Iterator<Item = (Time, $value)> + use<'_, 'a>, LookupError> {
                let found = self.typed(name, Type::$ty, $wanted)?;
                let take: fn(Value<'a>) -> Option<$value> = $take;
                Ok(self.values(found).filter_map(move |(time, value)| Some((time, take(value)?))))
            })*
        }
    };
}

typed! {
    /// The samples of a `boolean` channel.
    booleans: Boolean "boolean" => bool, |value| value.as_bool();
    /// The samples of an `int64` channel.
    integers: Int64 "int64" => i64, |value| value.as_i64();
    /// The samples of a `float` channel.
    floats: Float "float" => f32, |value| match value { Value::Float(x) => Some(x), _ => None };
    /// The samples of a `double` channel.
    doubles: Double "double" => f64, |value| value.as_f64();
    /// The samples of a `string` or `json` channel; texts that are not UTF-8 are left out.
    strings: String "string" => &'a str, |value| value.as_str();
    /// The samples of any channel that holds bytes: `raw`, `struct:…`, `proto:…`.
    raws: Bytes "raw" => &'a [u8], |value| value.as_bytes();
    /// The samples of a `boolean[]` channel.
    boolean_arrays: BooleanArray "boolean[]" => Vec<bool>, |value| match value {
        Value::BooleanArray(bytes) => Some(bytes.iter().map(|byte| *byte != 0).collect()),
        _ => None,
    };
    /// The samples of an `int64[]` channel.
    integer_arrays: Int64Array "int64[]" => Vec<i64>, |value| match value {
        Value::Int64Array(numbers) => Some(numbers.iter().collect()),
        _ => None,
    };
    /// The samples of a `float[]` channel.
    float_arrays: FloatArray "float[]" => Vec<f32>, |value| match value {
        Value::FloatArray(numbers) => Some(numbers.iter().collect()),
        _ => None,
    };
    /// The samples of a `double[]` channel.
    double_arrays: DoubleArray "double[]" => Vec<f64>, |value| match value {
        Value::DoubleArray(numbers) => Some(numbers.iter().collect()),
        _ => None,
    };
    /// The samples of a `string[]` channel; arrays with a text that is not UTF-8 are left out.
    string_arrays: StringArray "string[]" => Vec<&'a str>, |value| match value {
        Value::StringArray(texts) => texts.iter().map(|text| std::str::from_utf8(text).ok()).collect(),
        _ => None,
    };
}
