//! Messages of ROS 1 that others wrote: their definitions, and their values.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::rc::Rc;

use logpose_schema::json;
use logpose_schema::wpistruct::Scalar;

use super::describe::identifier;

/// A message: its fields in the order of the bytes.
#[derive(Debug)]
pub(crate) struct Definition {
    name: String,
    fields: Vec<Field>,
    /// Bytes of every value, if all have the same.
    pub(crate) size: Option<usize>,
}

#[derive(Debug)]
struct Field {
    name: String,
    element: Element,
    array: Array,
}

#[derive(Clone, Debug)]
enum Element {
    Scalar(Scalar),
    Text,
    Message(Rc<Definition>),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Array {
    No,
    Fixed(usize),
    Counted,
}

/// What a message with a single field of a plain type is as a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Single {
    /// The type with this name, whose payload is the message, behind a count if so said.
    Plain(&'static str, bool),
    /// An integer that is to be widened.
    Integer(Scalar),
}

impl Definition {
    /// Reads the text of a definition with those of all messages in it behind it.
    pub(crate) fn parse(name: &str, text: &str) -> Option<Rc<Self>> {
        let mut sections: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut open = name;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.len() >= 3 && line.bytes().all(|byte| byte == b'=') {
                open = lines.next()?.trim().strip_prefix("MSG:")?.trim();
                sections.entry(open).or_default();
            } else {
                sections.entry(open).or_default().push(line);
            }
        }
        Parser { sections, done: HashMap::new() }.definition(name, 0)
    }

    /// What it is as a plain value.
    pub(crate) fn single(&self) -> Option<Single> {
        let [field] = self.fields.as_slice() else { return None };
        let counted = field.array == Array::Counted;
        Some(match (&field.element, field.array) {
            (Element::Text, Array::No) => Single::Plain("string", true),
            (Element::Text, Array::Counted) => Single::Plain("string[]", false),
            (Element::Scalar(scalar), Array::No) => match scalar {
                Scalar::Bool => Single::Plain("boolean", false),
                Scalar::Float => Single::Plain("float", false),
                Scalar::Double => Single::Plain("double", false),
                Scalar::Int64 => Single::Plain("int64", false),
                // What no signed number of 64 bits holds stays a struct.
                Scalar::UInt64 => return None,
                other => Single::Integer(*other),
            },
            (Element::Scalar(scalar), _) => match scalar {
                Scalar::Bool => Single::Plain("boolean[]", counted),
                Scalar::UInt8 => Single::Plain("raw", counted),
                Scalar::Float => Single::Plain("float[]", counted),
                Scalar::Double => Single::Plain("double[]", counted),
                Scalar::Int64 => Single::Plain("int64[]", counted),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The name of the struct with the same fields.
    pub(crate) fn struct_name(&self) -> String {
        identifier(&self.name)
    }

    /// The schemas of the struct with the same fields and of all structs in it; only where all values have one size.
    pub(crate) fn schemas(&self) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        let mut known = HashSet::new();
        let mut open = vec![self];
        while let Some(message) = open.pop() {
            let name = message.struct_name();
            if !known.insert(name.clone()) {
                continue;
            }
            let mut text = String::new();
            for field in &message.fields {
                let ty = match &field.element {
                    Element::Scalar(scalar) => scalar.name().to_owned(),
                    Element::Text => continue,
                    Element::Message(inner) => {
                        open.push(inner);
                        inner.struct_name()
                    }
                };
                let _ = match field.array {
                    Array::Fixed(count) => write!(text, "{ty} {}[{count}];", field.name),
                    _ => write!(text, "{ty} {};", field.name),
                };
            }
            found.push((name, text));
        }
        found
    }

    /// Appends the value in `bytes` as JSON; `None` if it is none.
    pub(crate) fn json(&self, mut bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let limit = out.len() + LONGEST;
        self.object(&mut bytes, out, limit)?;
        bytes.is_empty().then_some(())
    }

    fn object(&self, bytes: &mut &[u8], out: &mut Vec<u8>, limit: usize) -> Option<()> {
        out.push(b'{');
        for (place, field) in self.fields.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            json::string(out, &field.name);
            out.push(b':');
            let count = match field.array {
                Array::No => {
                    field.element.json(bytes, out, limit)?;
                    continue;
                }
                Array::Fixed(count) => count,
                Array::Counted => count(bytes)?,
            };
            // The count is a claim.
            if count > bytes.len() {
                return None;
            }
            if let Element::Scalar(Scalar::UInt8) = field.element {
                json::bytes(out, take(bytes, count)?);
                continue;
            }
            out.push(b'[');
            for place in 0..count {
                if place > 0 {
                    out.push(b',');
                }
                field.element.json(bytes, out, limit)?;
            }
            out.push(b']');
        }
        out.push(b'}');
        // Messages without bytes could be nested without end in a few of them.
        (out.len() < limit).then_some(())
    }
}

impl Element {
    fn json(&self, bytes: &mut &[u8], out: &mut Vec<u8>, limit: usize) -> Option<()> {
        match self {
            Self::Message(message) => message.object(bytes, out, limit)?,
            Self::Text => {
                let length = count(bytes)?;
                json::string(out, &String::from_utf8_lossy(take(bytes, length)?));
            }
            Self::Scalar(Scalar::Bool) => json::bool(out, take(bytes, 1)? != [0]),
            Self::Scalar(Scalar::Float) => json::f32(out, f32::from_le_bytes(*take(bytes, 4)?.first_chunk()?)),
            Self::Scalar(Scalar::Double) => json::f64(out, f64::from_le_bytes(*take(bytes, 8)?.first_chunk()?)),
            Self::Scalar(Scalar::UInt64) => json::u64(out, u64::from_le_bytes(*take(bytes, 8)?.first_chunk()?)),
            Self::Scalar(scalar) => json::i64(out, integer(*scalar, take(bytes, scalar.size())?)?),
        }
        Some(())
    }
}

/// An integer of up to 64 bits; those of `uint64` beyond the signed ones come out negative.
pub(crate) fn integer(scalar: Scalar, bytes: &[u8]) -> Option<i64> {
    if bytes.len() != scalar.size() {
        return None;
    }
    let word = logpose_core::first_word(bytes);
    let unused = 64_u32.checked_sub(u32::try_from(scalar.size()).ok()? * 8)?;
    Some(if scalar.is_signed() { (word << unused).cast_signed() >> unused } else { word.cast_signed() })
}

fn count(bytes: &mut &[u8]) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*take(bytes, 4)?.first_chunk()?)).ok()
}

fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(n)?;
    *bytes = rest;
    Some(taken)
}

struct Parser<'a> {
    sections: HashMap<&'a str, Vec<&'a str>>,
    done: HashMap<String, Rc<Definition>>,
}

impl Parser<'_> {
    fn definition(&mut self, name: &str, depth: usize) -> Option<Rc<Definition>> {
        if let Some(done) = self.done.get(name) {
            return Some(Rc::clone(done));
        }
        if depth > DEEPEST {
            return None;
        }
        let mut fields = Vec::new();
        for line in self.sections.get(name)?.clone() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (ty, rest) = line.split_once(char::is_whitespace)?;
            // A constant takes no bytes.
            if rest.contains('=') {
                continue;
            }
            let (base, array) = match ty.strip_suffix(']').and_then(|ty| ty.split_once('[')) {
                None => (ty, Array::No),
                Some((base, "")) => (base, Array::Counted),
                Some((base, count)) => (base, Array::Fixed(count.parse().ok()?)),
            };
            fields.push(Field { name: rest.trim().to_owned(), element: self.element(base, name, depth)?, array });
        }
        let size = fields.iter().try_fold(0_usize, |sum, field| {
            let one = match &field.element {
                Element::Scalar(scalar) => scalar.size(),
                Element::Text => return None,
                Element::Message(message) => message.size?,
            };
            match field.array {
                Array::No => sum.checked_add(one),
                Array::Fixed(count) => sum.checked_add(one.checked_mul(count)?),
                Array::Counted => None,
            }
        });
        let definition = Rc::new(Definition { name: name.to_owned(), fields, size });
        self.done.insert(name.to_owned(), Rc::clone(&definition));
        Some(definition)
    }

    fn element(&mut self, ty: &str, inside: &str, depth: usize) -> Option<Element> {
        let scalar = match ty {
            "string" => return Some(Element::Text),
            "time" => return Some(Element::Message(moment(ty, Scalar::UInt32))),
            "duration" => return Some(Element::Message(moment(ty, Scalar::Int32))),
            "byte" => Some(Scalar::Int8),
            "char" => Some(Scalar::UInt8),
            // The other words mean the same in both languages, except for these two.
            "float" | "double" => None,
            other => Scalar::from_name(other),
        };
        if let Some(scalar) = scalar {
            return Some(Element::Scalar(scalar));
        }
        let package = inside.split('/').next().unwrap_or_default();
        let names = [ty.to_owned(), format!("{package}/{ty}"), format!("std_msgs/{ty}")];
        let name = names.into_iter().find(|name| self.sections.contains_key(name.as_str()))?;
        self.definition(&name, depth + 1).map(Element::Message)
    }
}

fn moment(name: &str, scalar: Scalar) -> Rc<Definition> {
    let field = |name: &str| Field { name: name.to_owned(), element: Element::Scalar(scalar), array: Array::No };
    Rc::new(Definition { name: format!("ros_{name}"), fields: vec![field("sec"), field("nsec")], size: Some(8) })
}

/// How deep messages nest at most.
const DEEPEST: usize = 16;

/// The longest JSON of one message.
const LONGEST: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::{Definition, Single};

    const ODOMETRY: &str = "Header header\nPose pose # where\nfloat64[3] drift\nuint8 OFF=0\nuint8 state\n\
        ================================================================================\nMSG: std_msgs/Header\n\
        uint32 seq\ntime stamp\nstring frame_id\n\
        ================================================================================\nMSG: nav/Pose\nfloat64 x\nfloat64 y\n";

    #[test]
    fn a_message_with_text_is_json() {
        let message = Definition::parse("nav/Odometry", ODOMETRY).unwrap();
        assert_eq!((message.size, message.single()), (None, None));
        let mut bytes = b"\x07\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0odo".to_vec();
        [1.5, -2.0, 0.0, 0.25, 1.0_f64].iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        bytes.push(3);
        let mut out = Vec::new();
        message.json(&bytes, &mut out).unwrap();
        let expected = r#"{"header":{"seq":7,"stamp":{"sec":1,"nsec":2},"frame_id":"odo"},"pose":{"x":1.5,"y":-2.0},"drift":[0.0,0.25,1.0],"state":3}"#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        for cut in 0..bytes.len() {
            assert_eq!(message.json(&bytes[..cut], &mut Vec::new()), None);
        }
    }

    #[test]
    fn a_message_of_one_size_is_a_struct() {
        let text = "time stamp\nnav/Pose[2] poses\n===\nMSG: nav/Pose\nfloat64 x\nfloat32 y\n";
        let message = Definition::parse("nav/Two", text).unwrap();
        assert_eq!(message.size, Some(8 + 2 * 12));
        let schemas = message.schemas();
        let expected = [
            ("nav_Two", "ros_time stamp;nav_Pose poses[2];"),
            ("nav_Pose", "double x;float y;"),
            ("ros_time", "uint32 sec;uint32 nsec;"),
        ];
        assert_eq!(schemas, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    }

    #[test]
    fn single_fields_are_plain_values() {
        let single = |text: &str| Definition::parse("std_msgs/X", text).and_then(|message| message.single());
        assert_eq!(single("float64 data"), Some(Single::Plain("double", false)));
        assert_eq!(single("string data\n# end"), Some(Single::Plain("string", true)));
        assert_eq!(single("uint8[] data"), Some(Single::Plain("raw", true)));
        assert_eq!(single("float32[4] data"), Some(Single::Plain("float[]", false)));
        assert_eq!(single("uint64 data"), None);
        assert_eq!(single("Missing data"), None);
    }

    #[test]
    fn messages_within_themselves_are_none() {
        assert!(Definition::parse("a/A", "A a\n===\nMSG: a/A\nA a\n").is_none());
    }
}
