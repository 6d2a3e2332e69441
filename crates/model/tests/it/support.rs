use logpose_core::{Channel, Column, Columns, Layout, Time, Type, Value};
use logpose_model::Memory;

/// One column of payloads at the given times, and its memory.
pub(crate) fn column(type_name: &str, samples: &[(i64, Vec<u8>)]) -> (Column, Memory) {
    let channel = Channel::new("/c", type_name);
    let ty = channel.ty();
    let columns = Columns::gather(
        vec![channel],
        |_| {},
        |put| {
            for (time, payload) in samples {
                put(0, Time::from_nanos(*time), &Value::parse(ty, payload, Layout::Little).unwrap());
            }
            Ok(())
        },
    );
    let (mut columns, memory) = columns.unwrap().into_parts();
    (columns.remove(0), memory.into())
}

/// One type name for each way in which values are held.
pub(crate) const TYPES: [&str; 11] =
    ["boolean", "int64", "float", "double", "string", "raw", "boolean[]", "int64[]", "float[]", "double[]", "string[]"];

/// A payload of the type, made of any bytes.
pub(crate) fn payload(ty: Type, bytes: &[u8]) -> Vec<u8> {
    match (ty.fixed_size(), ty.element_size()) {
        (Some(1), _) => vec![bytes.first().map_or(0, |byte| byte & 1)],
        (Some(size), _) => bytes.iter().copied().chain(std::iter::repeat(0)).take(size).collect(),
        (_, Some(size)) => bytes[..bytes.len() / size * size].to_vec(),
        _ if ty == Type::StringArray => {
            let texts: Vec<&[u8]> = bytes.chunks(5).collect();
            let mut payload = u32::try_from(texts.len()).unwrap().to_le_bytes().to_vec();
            for text in texts {
                payload.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
                payload.extend(text);
            }
            payload
        }
        _ => bytes.to_vec(),
    }
}
