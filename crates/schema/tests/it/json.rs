//! JSON out, and the line for people.

use logpose_schema::{Tree, json};

use crate::support::map;

fn check(tree: &Tree, expected: &str) {
    assert_eq!(tree.to_json(), expected);
    serde_json::from_str::<serde_json::Value>(expected).unwrap();
}

#[test]
fn numbers_are_shortest_and_keep_their_sign() {
    check(&Tree::Double(1.0), "1.0");
    check(&Tree::Double(-0.0), "-0.0");
    check(&Tree::Double(0.1), "0.1");
    check(&Tree::Float(0.1), "0.1");
    check(&Tree::Double(f64::from(0.1_f32)), "0.10000000149011612");
    check(&Tree::Double(f64::MAX), "1.7976931348623157e+308");
    check(&Tree::Double(5e-324), "5e-324");
    check(&Tree::Double(1e300), "1e+300");
}

#[test]
fn every_double_reads_back() {
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..2000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = f64::from_bits(bits);
        if value.is_finite() {
            let text = Tree::Double(value).to_json();
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits, "{text}");
            serde_json::from_str::<serde_json::Value>(&text).unwrap();
        }
    }
}

#[test]
fn what_json_lacks_is_a_string() {
    check(&Tree::Double(f64::NAN), r#""NaN""#);
    check(&Tree::Double(f64::INFINITY), r#""Infinity""#);
    check(&Tree::Float(f32::NEG_INFINITY), r#""-Infinity""#);
    check(&Tree::Bytes(vec![0, 1]), r#""AAE=""#);
    check(&Tree::Bytes(vec![0xfb, 0xff, 0xfe, 0xff]), r#""+//+/w==""#);
    check(&Tree::Bytes(vec![]), r#""""#);
}

#[test]
fn integers_beyond_2_to_53_are_strings() {
    check(&Tree::Int(1 << 53), "9007199254740992");
    check(&Tree::Int((1 << 53) + 1), r#""9007199254740993""#);
    check(&Tree::Int(-(1 << 53) - 1), r#""-9007199254740993""#);
    check(&Tree::Int(i64::MIN), r#""-9223372036854775808""#);
    check(&Tree::UInt(u64::MAX), r#""18446744073709551615""#);
    check(&Tree::UInt(7), "7");
}

#[test]
fn strings_are_escaped_as_json_demands() {
    check(&Tree::Text("a\"b\\c\n\r\t\u{8}\u{c}\0\u{1f}é😀".into()), r#""a\"b\\c\n\r\t\b\f\u0000\u001fé😀""#);
    let mut all = String::new();
    all.extend((0..0x250_u32).filter_map(char::from_u32));
    let read: String = serde_json::from_str(&Tree::Text(all.clone()).to_json()).unwrap();
    assert_eq!(read, all);
}

#[test]
fn structures_nest() {
    let tree = map(&[
        ("a", Tree::List(vec![Tree::Null, Tree::Bool(true), Tree::Bool(false)])),
        ("", Tree::Map(vec![])),
        ("e", Tree::Enum { number: 2, name: Some("x".into()) }),
    ]);
    check(&tree, r#"{"a":[null,true,false],"":{},"e":2}"#);
    assert_eq!(tree.field("e"), Some(&Tree::Enum { number: 2, name: Some("x".into()) }));
    assert_eq!(tree.field("a").and_then(Tree::items).map(<[Tree]>::len), Some(3));
    assert_eq!(tree.field("b"), None);
}

#[test]
fn writers_append() {
    let mut out = b"x,".to_vec();
    json::base64_text(&mut out, b"abc");
    json::f64_text(&mut out, f64::NAN);
    json::f32_text(&mut out, -2.5);
    json::u64_text(&mut out, u64::MAX);
    json::i64_text(&mut out, -1);
    assert_eq!(out, b"x,YWJjNaN-2.518446744073709551615-1");
}

#[test]
fn the_line_for_people_is_short() {
    let check = |tree: Tree, expected: &str| assert_eq!(tree.to_string(), expected);
    check(Tree::Double(1.0), "1");
    check(Tree::Double(-0.0), "-0");
    check(Tree::Double(1e300), "1e+300");
    check(Tree::Float(0.1), "0.1");
    check(Tree::Double(f64::NAN), "NaN");
    check(Tree::Double(f64::NEG_INFINITY), "-Infinity");
    check(Tree::Bytes(vec![0, 0xab]), "0x00ab");
    check(Tree::Bytes(vec![1; 40]), &format!("0x{}… (40 bytes)", "01".repeat(32)));
    check(Tree::Enum { number: 2, name: None }, "2");
    check(map(&[("a\nb", Tree::Text("c\n".into()))]), r#"{a\nb: "c\n"}"#);
    check(Tree::List(vec![Tree::Null, Tree::Int(1)]), "[null, 1]");
}
