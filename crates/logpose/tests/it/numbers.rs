//! Numbers for people look the same here and in the viewer's page.

use logpose::core::format_number;
use logpose_testkit::workspace;
use serde_json::Value;

#[test]
fn numbers_follow_the_shared_cases() {
    let text = std::fs::read_to_string(workspace().join("fixtures/numbers.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() > 50);
    for case in cases {
        let value = match &case["value"] {
            Value::String(special) => special.parse().unwrap(),
            number => number.as_f64().unwrap(),
        };
        assert_eq!(format_number(value), case["text"], "{value:?}");
    }
}
