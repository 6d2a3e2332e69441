//! The doors that fuzz targets knock on.

use crate::Registry;
use crate::wpistruct::Schema;

/// Reads `data` as a kind (one byte), schemas separated by zero bytes, a byte `0xff`, and a payload.
///
/// The schemas get the names `A`, `B`, `C` and so on (photonstructs `A:0`), so that they can refer to
/// each other; all are decoded. Nothing may panic, and nothing may take long.
pub fn schema(data: &[u8]) {
    let Some((&kind, data)) = data.split_first() else {
        return;
    };
    let mut parts = data.splitn(2, |&byte| byte == 0xff);
    let (schemas, payload) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let (prefix, suffix, schema_type) = match kind % 5 {
        0 => ("struct", "", "structschema"),
        1 => ("photonstruct", ":0", "photonstructschema"),
        2 => return descriptor(data),
        3 => return any("msgpack", data),
        _ => return any("json", data),
    };
    let mut registry = Registry::new();
    let names: Vec<char> = ('A'..='Z').collect();
    for (name, text) in names.iter().zip(schemas.split(|&byte| byte == 0)) {
        _ = registry.add(&format!("/.schema/{prefix}:{name}{suffix}"), schema_type, text);
        // A photonstruct may hold plain structs; let the same text serve as both.
        _ = registry.add(&format!("/.schema/struct:{name}"), "structschema", text);
        _ = str::from_utf8(text).map(Schema::parse);
    }
    for name in names {
        show(&registry, &format!("{prefix}:{name}{suffix}"), payload);
        show(&registry, &format!("struct:{name}[]"), payload);
        if let Ok(layout) = registry.layout(&name.to_string()) {
            _ = layout.columns(1000);
        }
    }
}

/// Reads `data` as a length (two bytes), a file descriptor of that length, and a message.
fn descriptor(data: &[u8]) {
    let Some((len, data)) = data.split_first_chunk::<2>() else {
        return;
    };
    let len = usize::from(u16::from_le_bytes(*len)).min(data.len());
    let (file, payload) = data.split_at(len);
    let mut registry = Registry::new();
    _ = registry.add("/.schema/proto:a.proto", "proto:FileDescriptorProto", file);
    for name in registry.message_names() {
        show(&registry, &format!("proto:{name}"), payload);
    }
}

fn any(type_name: &str, payload: &[u8]) {
    show(&Registry::new(), type_name, payload);
}

fn show(registry: &Registry, type_name: &str, payload: &[u8]) {
    if let Ok(decoded) = registry.decode(type_name, payload) {
        _ = decoded.tree.to_string();
        _ = decoded.tree.to_json();
    }
}
