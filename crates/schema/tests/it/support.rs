use logpose_schema::{Registry, SchemaError, Tree};

/// A registry with struct schemas, each `(name, text)`.
pub(crate) fn structs(schemas: &[(&str, &str)]) -> Registry {
    let mut registry = Registry::new();
    for (name, text) in schemas {
        add_struct(&mut registry, name, text).unwrap();
    }
    registry
}

pub(crate) fn add_struct(registry: &mut Registry, name: &str, text: &str) -> Result<(), SchemaError> {
    registry.add(&format!("/.schema/struct:{name}"), "structschema", text.as_bytes())
}

/// Bytes from hex digits with blanks anywhere.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

pub(crate) fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The value without a note, as the line people see.
pub(crate) fn shown(registry: &Registry, type_name: &str, payload: &[u8]) -> String {
    let decoded = registry.decode(type_name, payload).unwrap();
    assert_eq!(decoded.note, None, "{type_name}");
    decoded.tree.to_string()
}

pub(crate) fn map(fields: &[(&str, Tree)]) -> Tree {
    Tree::Map(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}
