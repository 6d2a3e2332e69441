//! The fuzzing functions of the sessions over generated inputs.

use logpose_driverstation::fuzzing;
use logpose_driverstation::script::Role;
use proptest::prelude::*;

/// Packets and messages as they are on the wire, with something that is not, in the envelope of the fuzzing function.
fn events() -> impl Strategy<Value = Vec<u8>> {
    let control =
        (0..40u8, any::<u8>(), any::<u8>()).prop_map(|(n, control, request)| vec![0, n, 1, control, request, 0]);
    let status = (0..40u8, any::<u8>(), any::<u8>(), 0..2u8)
        .prop_map(|(n, status, trace, date)| vec![0, n, 1, status, trace, 12, 0, date]);
    let message = (proptest::collection::vec(any::<u8>(), 0..20))
        .prop_map(|body| [&[0, u8::try_from(body.len()).unwrap()], body.as_slice()].concat());
    let bytes = prop_oneof![control, status, message, proptest::collection::vec(any::<u8>(), 0..30)];
    let event = (any::<u8>(), any::<u8>(), bytes)
        .prop_map(|(what, wait, bytes)| [&[what, wait, u8::try_from(bytes.len()).unwrap()], bytes.as_slice()].concat());
    proptest::collection::vec(event, 0..80).prop_map(|events| events.concat())
}

/// Lines that are nearly right.
fn lines() -> impl Strategy<Value = String> {
    let names: Vec<&str> =
        [Role::Station, Role::Robot].iter().flat_map(|role| role.commands()).map(|(n, _)| *n).collect();
    let more = ["every", "until", "over", "axes", "buttons", "of", "pov", "off", "on", "pdp", "xbox", "replay", "id"];
    let values =
        ["0", "1", "-1", "0.5", "1,3", "100ms", "+2s", "1e9", "nan", "\"a b\"", "\"", "#", "red", "ü", "1/2/3/4"];
    let words: Vec<&str> = names.into_iter().chain(more).chain(values).collect();
    let line = proptest::collection::vec(proptest::sample::select(words), 0..7);
    let line = ("[0-9]{1,2}", line).prop_map(|(time, words)| format!("{time} {}", words.join(" ")));
    proptest::collection::vec(line, 0..5).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sessions_take_anything(data in proptest::collection::vec(any::<u8>(), 0..400)) {
        fuzzing::session(&data);
    }

    #[test]
    fn sessions_take_what_looks_right(data in events()) {
        fuzzing::session(&data);
    }

    #[test]
    fn scripts_are_read_or_named_wrong(text in lines()) {
        fuzzing::script(text.as_bytes());
    }

    #[test]
    fn any_text_is_a_script_or_none(text in "\\PC{0,200}") {
        fuzzing::script(text.as_bytes());
    }
}
