use logpose::Schemas;
use logpose::core::{Channel, Layout, Type, Value};

fn text(type_name: &str, value: &Value<'_>) -> String {
    let mut schemas = Schemas::default();
    schemas.add(&Channel::new("/.schema/struct:P", "structschema"), b"double x;int8 n");
    let mut out = String::new();
    schemas.write_text(&Channel::new("c", type_name), value, &mut out);
    out
}

fn parse(ty: Type, payload: &[u8]) -> Value<'_> {
    Value::parse(ty, payload, Layout::Little).unwrap()
}

#[test]
fn values_are_one_line_for_people() {
    let point = [&2.5_f64.to_le_bytes()[..], &[0xff]].concat();
    let points = [&point[..], &point].concat();
    let numbers = [1.5_f32.to_le_bytes(), f32::NAN.to_le_bytes()].concat();
    let cases = [
        ("boolean", Value::Boolean(false), "false"),
        ("int64", Value::Int64(i64::MIN), "-9223372036854775808"),
        ("float", Value::Float(0.1), "0.1"),
        ("double", Value::Double(f64::NEG_INFINITY), "-Infinity"),
        ("string", Value::String(b"two\nlines \xff"), "two\\nlines \u{fffd}"),
        ("raw", Value::Bytes(&[1, 0xab]), "0x01ab"),
        ("boolean[]", Value::BooleanArray(&[0, 1, 2]), "[false, true, true]"),
        ("float[]", parse(Type::FloatArray, &numbers), "[1.5, NaN]"),
        ("string[]", parse(Type::StringArray, b"\x02\0\0\0\x01\0\0\0a\x01\0\0\0,"), "[\"a\", \",\"]"),
        ("struct:P", Value::Bytes(&point), "{x: 2.5, n: -1}"),
        ("struct:P[]", Value::Bytes(&points), "[{x: 2.5, n: -1}, {x: 2.5, n: -1}]"),
        ("struct:Unheard", Value::Bytes(&[7]), "0x07"),
    ];
    for (type_name, value, expected) in cases {
        assert_eq!(text(type_name, &value), expected, "{type_name}");
    }
}

#[test]
fn a_value_that_breaks_its_schema_is_bytes_and_a_problem() {
    let mut schemas = Schemas::default();
    schemas.add(&Channel::new("/.schema/struct:P", "structschema"), b"double x");
    schemas.add(&Channel::new("/.schema/struct:Q", "structschema"), b"double double double");
    let channel = Channel::new("c", "struct:P");
    let mut out = Vec::new();
    for _ in 0..3 {
        schemas.write_json(&channel, &Value::Bytes(&[1, 2]), &mut out);
    }
    assert_eq!(out, b"\"AQI=\"\"AQI=\"\"AQI=\"");
    let mut codes: Vec<_> = schemas.problems().iter().map(|problem| problem.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["bad-payload", "bad-schema"]);
}
