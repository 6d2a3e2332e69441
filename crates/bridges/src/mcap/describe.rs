//! WPILib structs described as ROS 1 messages: packed little-endian fields are the serialization of a message with
//! the same fields, so payloads are copied and every viewer of ROS data reads them.

use std::collections::HashSet;
use std::fmt::Write as _;

use logpose_schema::wpistruct::{Field, Kind, Layout, Scalar};

/// The text of the message for a struct, and of all structs in it behind it.
pub(crate) fn one(layout: &Layout) -> String {
    let mut text = String::new();
    let mut nested = Vec::new();
    fields(layout, &mut text, &mut nested);
    sections(nested, &mut text);
    text
}

/// The text of a message that holds many structs as `data`; with a count, exactly so many.
pub(crate) fn many(layout: &Layout, count: Option<usize>) -> String {
    let mut text = format!("{}[{}] data\n", name(&layout.name), count.map(|n| n.to_string()).unwrap_or_default());
    sections(vec![layout], &mut text);
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

fn sections(mut open: Vec<&Layout>, text: &mut String) {
    let mut done = HashSet::new();
    while let Some(layout) = open.pop() {
        if done.insert(layout.name.as_str()) {
            let _ = write!(text, "{LINE}\nMSG: {}\n", name(&layout.name));
            fields(layout, text, &mut open);
        }
    }
}

fn fields<'a>(layout: &'a Layout, text: &mut String, nested: &mut Vec<&'a Layout>) {
    let mut names = HashSet::new();
    let own: Vec<String> = layout.fields.iter().map(|field| unique(&mut names, identifier(&field.name))).collect();
    let mut unit = None;
    let mut units = 0;
    for (place, (field, own)) in layout.fields.iter().zip(&own).enumerate() {
        if let Some(bits) = field.bits {
            if unit != Some(field.offset) {
                unit = Some(field.offset);
                let name = unique(&mut names, format!("bits{units}"));
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
        constants(field, &mut names, text);
        let count = field.count.map(|n| format!("[{n}]")).unwrap_or_default();
        let _ = writeln!(text, "{ty}{count} {own}");
    }
}

/// The names of an enum stand right in front of their field: that is where viewers look for them.
fn constants(field: &Field, names: &mut HashSet<String>, text: &mut String) {
    let Kind::Scalar(scalar) = &field.kind else { return };
    if !scalar.is_integer() {
        return;
    }
    for (number, constant) in field.names.iter() {
        let constant = identifier(constant);
        let free = if names.contains(&constant) { format!("{}_{constant}", identifier(&field.name)) } else { constant };
        let free = unique(names, free);
        let _ = writeln!(text, "{} {free}={number}", scalar_name(*scalar));
    }
}

fn unique(names: &mut HashSet<String>, mut name: String) -> String {
    while !names.insert(name.clone()) {
        name.push('_');
    }
    name
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
