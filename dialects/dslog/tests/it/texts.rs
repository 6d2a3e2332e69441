//! What the texts of events say.

use logpose_dslog::{Entry, EntryPart, entries, parts};

use crate::kit::{TEXTS, events, lines};
use logpose_dslog::Version;

#[test]
fn values_of_texts_are_on_channels() {
    let found = lines(&events(Version::V4, TEXTS));
    let check = |channel: &str, expected: &[&str]| {
        assert_eq!(
            found.get(channel).map(|lines| lines.iter().map(|line| &**line).collect()),
            Some(expected.to_vec()),
            "{channel}"
        );
    };
    check(
        "/ds/match",
        &[
            r#"0.020 {"event":"TXPAS","type":"qualification","number":35,"replay":1,"field_time":"2022-03-06T01:33:48"}"#,
        ],
    );
    check(
        "/ds/joystick/0/descriptor",
        &[
            r#"0.000 {"name":"Controller (XBOX 360 For Windows)","xbox":null,"type":null,"axes":[null,null,null,null,null,null],"buttons":10,"povs":1}"#,
        ],
    );
    check(
        "/ds/joystick/1/descriptor",
        &[
            r#"0.000 {"name":"Info Joystick 2: (x)","xbox":null,"type":null,"axes":[null,null,null],"buttons":12,"povs":0}"#,
        ],
    );
    assert!(!found.contains_key("/ds/joystick/2/descriptor"));
    check("/ds/console", &["0.060 ********** Robot program starting **********", "0.100 <init> of <available> "]);
    check("/ds/console/time", &["0.060 4.803", "0.100 -77.686"]);
    check(
        "/ds/errors",
        &[
            r#"0.080 {"severity":"warning","code":44003,"details":"FRC:  No robot code is currently running.","location":"Driver Station","stack":"","flags":2,"count":1,"time":0,"sequence":null}"#,
            r#"0.100 {"severity":"error","code":-200,"details":"CTR: \"no\" response","location":"Talon SRX 20","stack":"\tat a\n\tat b\n","flags":1,"count":1,"time":3610.386,"sequence":null}"#,
            r#"0.160 {"severity":"warning","code":44008,"details":"<radioLostEvents>  95.040 <radioSeenEvents>  93.539\r<Description>FRC:  Robot radio detection times.","location":"","stack":"","flags":null,"count":null,"time":null,"sequence":null}"#,
        ],
    );
    check("/ds/disk_free", &["0.080 141000000"]);
    check("/ds/ram_free", &["0.080 83000000"]);
    check("/ds/faults/comms", &["0.120 2"]);
    check("/ds/faults/brownout_12v", &["0.120 1"]);
    check("/ds/faults/rail_6v", &["0.140 3"]);
    check("/ds/faults/rail_5v", &["0.140 4"]);
    check("/ds/faults/rail_3v3", &["0.140 5"]);
    check("/ds/game_data", &["0.180 LRL"]);
    check(
        "/ds/versions",
        &[
            r#"0.000 {"type":null,"id":null,"name":"","version":"22.0"}"#,
            r#"0.040 {"type":null,"id":null,"name":"FRC_roboRIO","version":"2022_v4.022.022.0.0.0"}"#,
            r#"0.040 {"type":null,"id":null,"name":"Java","version":"2022.4.1"}"#,
        ],
    );
}

#[test]
fn what_is_neither_console_nor_error_is_an_event_as_it_is() {
    let found = lines(&events(Version::V4, TEXTS));
    let others = found["/ds/events"].clone();
    let expected = TEXTS.iter().filter(|(ms, _)| ![60, 100].contains(ms)).map(|(ms, text)| {
        let text = String::from_utf8_lossy(text);
        let untagged = text.find("<TagVersion>").filter(|at| *at > 0).map_or(&*text, |at| &text[..at]).to_owned();
        format!("{}.{:03} {untagged}", ms / 1000, ms % 1000)
    });
    assert_eq!(others, expected.collect::<Vec<_>>());
}

#[test]
fn entries_and_their_places_are_the_whole_text() {
    for (_, text) in TEXTS {
        let starts: Vec<usize> = entries(text).map(|(at, _)| at).collect();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        let all: Vec<u8> = starts.iter().zip(ends).flat_map(|(start, end)| text[*start..end].to_vec()).collect();
        assert_eq!(all, *text);
    }
    assert_eq!(entries(b"").count(), 0);
}

#[test]
fn parts_are_distinguished() {
    let check = |text: &'static str, expected: Option<EntryPart<'_>>| {
        assert_eq!(parts(text.as_bytes()).next().map(|(_, part)| part), expected, "{text}");
    };
    check("Code Start Notification. ", Some(EntryPart::CodeStart));
    check("DS requested code restart.", Some(EntryPart::CodeRestart));
    check("DS requested reboot.", Some(EntryPart::Reboot));
    check("Internal issue with print and error tags\n", Some(EntryPart::TagIssue));
    check("Info FMS Event Name: TXPAS", Some(EntryPart::EventName(b"TXPAS")));
    check("Game Specific Data: ", Some(EntryPart::GameData(b"")));
    check(
        "FMS Connected:   None - 0:0, Field Time: soon",
        Some(EntryPart::Match(logpose_dslog::Match { kind: b"None", number: 0, replay: 0, field_time: None })),
    );
    for nothing in
        ["", "Info", "Info ", "Info Joystick 9: (x)1 axes, 1 buttons, 0 POVs. ", "FMS Connected:", "Warning <Code> x"]
    {
        check(nothing, None);
    }
}

#[test]
fn tags_that_are_not_as_they_should_be_stay_texts() {
    for text in [
        "<TagVersion>",
        "<TagVersion>1 <time> 00.000",
        "<TagVersion>1 <time> 00.000 <shout> x",
        "<TagVersion>1 <time> 00.000 <count> 1 <flags> 1 <Code> 1 <details> no end",
        "<TagVersion>x <time> 00.000 <message> x",
        "<TagVersion>1 <time> 00.000 <count> 1 <flags> 1 <Code> many <details> a <location> b <stack> c",
    ] {
        assert_eq!(entries(text.as_bytes()).collect::<Vec<_>>(), [(0, Entry::Other(text.as_bytes()))]);
    }
}

#[test]
fn the_lines_of_a_text_come_in_the_order_in_which_they_were_printed() {
    let text = b"<TagVersion>1 <time> 00.003 <message> c <TagVersion>1 <time> 00.002 <message> b <TagVersion>1 <time> 00.001 <message> a ";
    let found = lines(&events(Version::V4, &[(0, text), (20, b"<TagVersion>1 <time> 00.004 <message> d ")]));
    assert_eq!(found["/ds/console"], ["0.000 a", "0.000 b", "0.000 c", "0.020 d"]);
    assert_eq!(found["/ds/console/time"], ["0.000 0.001", "0.000 0.002", "0.000 0.003", "0.020 0.004"]);
}
