//! WPILib structs described as ROS messages: packed little-endian fields are the serialization of a message of ROS 1
//! with the same fields, so payloads are copied and every viewer of ROS data reads them. For ROS 2 there is `cdr.rs`.

use std::collections::HashSet;
use std::fmt::Write as _;

use logpose_schema::wpistruct::{Field, Kind, Layout, Scalar};

/// How values are described to viewers: as messages of which ROS.
///
/// Both have the same fields. ROS 1 lets them have any name; ROS 2 wants `small_letters`, and its messages have gaps
/// where numbers would stand at odd places.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Language {
    /// `ros1msg` and `ros1`.
    #[default]
    Ros1,
    /// `ros2msg` and `cdr`, for viewers that know nothing else.
    Ros2,
}

impl Language {
    /// The name of a field.
    fn field(self, name: &str) -> String {
        match self {
            Self::Ros1 => identifier(name),
            Self::Ros2 => {
                let name = snake(&identifier(name));
                if name.is_empty() { "f".to_owned() } else { name }
            }
        }
    }

    /// The name of a constant.
    fn constant(self, name: &str) -> String {
        match self {
            Self::Ros1 => identifier(name),
            Self::Ros2 => self.field(name).to_ascii_uppercase(),
        }
    }

    /// The name, or one like it that is not taken, which is then taken.
    fn unique(self, names: &mut HashSet<String>, mut name: String) -> String {
        while !names.insert(name.clone()) {
            name.push(if self == Self::Ros1 { '_' } else { '2' });
        }
        name
    }
}

/// The name in small letters, with `_` between its words and nowhere else.
fn snake(name: &str) -> String {
    let mut words = String::new();
    let mut before = '_';
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !before.is_ascii_uppercase() {
            words.push('_');
        }
        words.push(letter.to_ascii_lowercase());
        before = letter;
    }
    words.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// The text of the message for a struct, and of all structs in it behind it.
pub(crate) fn one(layout: &Layout, language: Language) -> String {
    let mut text = String::new();
    let mut nested = Vec::new();
    fields(layout, language, &mut text, &mut nested);
    sections(nested, language, &mut text);
    text
}

/// The text of a message that holds many structs as `data`; with a count, exactly so many.
pub(crate) fn many(layout: &Layout, count: Option<usize>, language: Language) -> String {
    let mut text = format!("{}[{}] data\n", name(&layout.name), count.map(|n| n.to_string()).unwrap_or_default());
    sections(vec![layout], language, &mut text);
    text
}

/// The name of the message for a struct.
pub(crate) fn name(layout: &str) -> String {
    format!("wpilib/{}", identifier(layout))
}

/// The text with what may not stand in a name of ROS replaced.
pub(crate) fn identifier(text: &str) -> String {
    let name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("f{name}") }
}

fn sections(mut open: Vec<&Layout>, language: Language, text: &mut String) {
    let mut done = HashSet::new();
    while let Some(layout) = open.pop() {
        if done.insert(layout.name.as_str()) {
            let _ = write!(text, "{LINE}\nMSG: {}\n", name(&layout.name));
            fields(layout, language, text, &mut open);
        }
    }
}

fn fields<'a>(layout: &'a Layout, language: Language, text: &mut String, nested: &mut Vec<&'a Layout>) {
    let mut names = HashSet::new();
    let own = |field: &Field| language.unique(&mut names, language.field(&field.name));
    let own: Vec<String> = layout.fields.iter().map(own).collect();
    let mut unit = None;
    let mut units = 0;
    for (place, (field, own)) in layout.fields.iter().zip(&own).enumerate() {
        if let Some(bits) = field.bits {
            if unit != Some(field.offset) {
                unit = Some(field.offset);
                let name = language.unique(&mut names, format!("bits{units}"));
                units += 1;
                let _ = writeln!(text, "uint{} {name} # {}", bits.unit * 8, shared(layout.fields.iter().skip(place)));
            }
            continue;
        }
        let ty = match &field.kind {
            Kind::Scalar(scalar) => scalar_name(*scalar).to_owned(),
            Kind::Struct(inner) => {
                nested.push(inner);
                name(&inner.name)
            }
        };
        constants(field, language, &mut names, text);
        let count = field.count.map(|n| format!("[{n}]")).unwrap_or_default();
        let _ = writeln!(text, "{ty}{count} {own}");
    }
}

/// The names of an enum stand right in front of their field: that is where viewers look for them.
fn constants(field: &Field, language: Language, names: &mut HashSet<String>, text: &mut String) {
    let Kind::Scalar(scalar) = &field.kind else { return };
    if !scalar.is_integer() {
        return;
    }
    for (number, constant) in field.names.iter() {
        let constant = language.constant(constant);
        let free =
            if names.contains(&constant) { format!("{}_{constant}", language.constant(&field.name)) } else { constant };
        let free = language.unique(names, free);
        let _ = writeln!(text, "{} {free}={number}", scalar_name(*scalar));
    }
}

/// Which bit-fields share a unit with the first, lowest bit first.
fn shared<'a>(fields: impl Iterator<Item = &'a Field>) -> String {
    let mut fields = fields.peekable();
    let unit = fields.peek().map(|field| field.offset);
    let together = fields.take_while(|field| Some(field.offset) == unit);
    let parts = together.filter_map(|field| Some(format!("{}:{}", field.name, field.bits?.width)));
    parts.collect::<Vec<_>>().join(" ")
}

fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        // In ROS 1 `char` is another word for `uint8`, long advised against.
        Scalar::Char => "uint8",
        Scalar::Float => "float32",
        Scalar::Double => "float64",
        other => other.name(),
    }
}

pub(crate) const LINE: &str = "================================================================================";

#[cfg(test)]
mod tests {
    use super::{Language, snake};

    #[test]
    fn names_are_such_that_ros_2_takes_them() {
        let cases = [
            ("x", "x"),
            ("rotationSpeed", "rotation_speed"),
            ("RPM", "rpm"),
            ("poseX2", "pose_x2"),
            ("a__b_", "a_b"),
            ("motorID", "motor_id"),
        ];
        for (name, expected) in cases {
            assert_eq!(snake(name), expected);
        }
        assert_eq!(Language::Ros2.field("2nd"), "f2nd");
        assert_eq!(Language::Ros2.field("__"), "f");
        assert_eq!(Language::Ros2.constant("fullSpeed"), "FULL_SPEED");
        assert_eq!(Language::Ros1.field("rotationSpeed"), "rotationSpeed");
    }
}
