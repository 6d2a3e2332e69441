//! The names of channels and types, taken apart.

/// Which schema a channel holds.
pub(crate) enum SchemaOf<'a> {
    Struct(&'a str),
    Photon(&'a str),
    Proto(&'a str),
}

impl<'a> SchemaOf<'a> {
    pub(crate) fn parse(channel_name: &'a str, type_name: &str) -> Option<Self> {
        // The type first: almost all channels fail here, at the cost of a comparison.
        let (prefix, make): (&str, fn(&'a str) -> Self) = match type_name {
            "structschema" => ("struct:", Self::Struct),
            "photonstructschema" => ("photonstruct:", Self::Photon),
            "proto:FileDescriptorProto" => ("proto:", Self::Proto),
            _ => return None,
        };
        let (_, rest) = channel_name.split_once("/.schema/")?;
        rest.strip_prefix(prefix).filter(|name| !name.is_empty()).map(make)
    }
}

/// A type string taken apart.
pub(crate) enum TypeString<'a> {
    Struct { name: &'a str, shape: Shape },
    Photon(&'a str),
    Proto(&'a str),
    Msgpack,
    Json,
}

/// How many structs a payload holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    One,
    Many,
    Exactly(usize),
}

impl<'a> TypeString<'a> {
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        match text {
            "msgpack" => return Some(Self::Msgpack),
            "json" => return Some(Self::Json),
            "proto:FileDescriptorProto" => return None,
            _ => {}
        }
        if let Some(name) = text.strip_prefix("struct:") {
            let (name, shape) = Shape::split(name);
            return Some(Self::Struct { name, shape });
        }
        let photon = || text.strip_prefix("photonstruct:").map(Self::Photon);
        text.strip_prefix("proto:").map(Self::Proto).or_else(photon)
    }
}

impl Shape {
    /// The shape at the end of a name. Brackets around anything else belong to the name.
    fn split(text: &str) -> (&str, Self) {
        let Some((name, count)) = text.strip_suffix(']').and_then(|text| text.rsplit_once('[')) else {
            return (text, Self::One);
        };
        match count.parse() {
            Ok(count) => (name, Self::Exactly(count)),
            Err(_) if count.is_empty() => (name, Self::Many),
            Err(_) => (text, Self::One),
        }
    }

    /// True if a payload of `len` bytes decodes with structs of `size`, whatever is left over.
    pub(crate) fn has_room(self, size: usize, len: usize) -> bool {
        match self {
            Self::One => size <= len,
            Self::Many => true,
            Self::Exactly(count) => size.checked_mul(count).is_some_and(|needed| needed <= len),
        }
    }

    /// True if a payload of `len` bytes holds whole structs of `size` and nothing else.
    pub(crate) fn fits(self, size: usize, len: usize) -> bool {
        match self {
            Self::One => size == len,
            Self::Many => len.checked_rem(size) == Some(0),
            Self::Exactly(count) => size.checked_mul(count) == Some(len),
        }
    }
}
