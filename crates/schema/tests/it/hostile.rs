//! Whatever the bytes: no panic, no huge allocation, an answer in time.

use logpose_schema::fuzzing;
use logpose_schema::wpistruct::Schema;
use proptest::collection::vec;
use proptest::prelude::*;
use prost_reflect::prost::Message as _;

use crate::support::structs;

/// Text that is often nearly a schema.
fn schema_text() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "int8",
        "uint8",
        "int16",
        "uint64",
        "bool",
        "char",
        "float",
        "double",
        "A",
        "B",
        "C",
        "enum",
        "{",
        "}",
        "=",
        ",",
        ";",
        ";",
        ";",
        ":",
        "[",
        "]",
        " ",
        " ",
        " ",
        "a",
        "b",
        "c",
        "x",
        "é",
        "1",
        "2",
        "7",
        "64",
        "-1",
        "1000",
        "optional",
        "[?]",
        ":0",
        "99999999999999999999",
        "9223372036854775807",
        "\n",
        "$",
    ]);
    vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

/// Text that is a schema, if perhaps one that cannot be resolved.
fn good_schema() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(vec!["int8", "uint16", "bool", "char", "double", "A", "B", "C", "D"]);
    let count = prop_oneof![Just(String::new()), (1..3000_u32).prop_map(|count| format!("[{count}]"))];
    vec((scalar, count), 0..6).prop_map(|fields| {
        let field = |(at, (scalar, count))| format!("{scalar} f{at}{count}");
        fields.into_iter().enumerate().map(field).collect::<Vec<_>>().join(";")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_parses_or_is_an_error(text in any::<String>()) {
        _ = Schema::parse(&text);
    }

    #[test]
    fn nearly_schemas_do_no_harm(texts in vec(schema_text(), 1..4), payload in vec(any::<u8>(), 0..64), kind in 0..2_u8) {
        let mut data = vec![kind];
        data.extend(texts.join("\0").into_bytes());
        data.push(0xff);
        data.extend(payload);
        fuzzing::schema(&data);
    }

    #[test]
    fn any_bytes_do_no_harm(kind in 0..5_u8, data in vec(any::<u8>(), 0..256)) {
        fuzzing::schema(&[vec![kind], data].concat());
    }

    #[test]
    fn resolved_structs_decode_payloads_of_their_size(texts in vec(good_schema(), 4)) {
        let names = ["A", "B", "C", "D"];
        let pairs: Vec<_> = names.iter().zip(&texts).map(|(name, text)| (*name, text.as_str())).collect();
        let registry = structs(&pairs);
        for name in names {
            let Ok(layout) = registry.layout(name) else { continue };
            let type_name = format!("struct:{name}");
            match registry.decode(&type_name, &vec![0xa5; layout.size]) {
                Ok(decoded) => prop_assert_eq!(decoded.note, None),
                Err(error) => prop_assert_eq!(error.key(), "too-large"),
            }
            if layout.size > 0 {
                prop_assert!(registry.decode(&type_name, &vec![0; layout.size - 1]).is_err());
            }
            if let Ok(columns) = layout.columns(10_000) {
                for column in columns {
                    let unit = column.bits.map_or(column.scalar.size() * column.count.unwrap_or(1), |bits| bits.unit);
                    prop_assert!(column.offset + unit <= layout.size);
                }
            }
        }
    }

    #[test]
    fn a_descriptor_with_flipped_bytes_does_no_harm(
        flips in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        payload in vec(any::<u8>(), 0..48),
    ) {
        let mut file = crate::proto::everything().encode_to_vec();
        for (at, byte) in flips {
            let at = at.index(file.len());
            file[at] = byte;
        }
        let len = u16::try_from(file.len()).unwrap().to_le_bytes();
        fuzzing::schema(&[&[2], len.as_slice(), &file, &payload].concat());
    }
}
