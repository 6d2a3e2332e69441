//! Requests that have no reply.

use logpose_core::Time;
use logpose_sim::board::{Board, BoardOptions, BoardVersion, Scenario};

use super::{VERSIONS, ask, board, replies, serving};

/// The request has no reply of the package, and the text, if one is printed, ends so.
fn check(board: &mut Board, request: &str, text: Option<&str>) {
    let replies = replies(board, Time::ZERO, request);
    match text {
        None => assert!(replies.is_empty(), "{request}: {replies:02X?}"),
        Some(text) => {
            let [reply] = &replies[..] else { panic!("{request}: {replies:02X?}") };
            assert_eq!(reply[0], 135, "{request}");
            let printed = str::from_utf8(&reply[1..]).unwrap();
            assert!(printed.ends_with(&format!(" [refloat] Error: {text}")), "{request}: {printed}");
        }
    }
}

#[test]
fn what_is_no_request_has_no_reply() {
    for version in VERSIONS {
        let mut board = serving(version, 3);
        check(&mut board, "24", Some("Received command data too short: 0 bytes."));
        check(&mut board, "24 65", Some("Received command data too short: 1 bytes."));
        check(&mut board, "24 64 00", Some("Invalid Package ID: 100"));
        check(&mut board, "24 65 63", Some("Unknown command received: 99"));
        check(&mut board, "24 65 2A", Some("Unknown command received: 42"));
        check(&mut board, "04", None);
        check(&mut board, "22 15 24 65 00", None);
        for dangerous in [2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 20, 22, 24, 25, 26, 27, 28, 29] {
            check(&mut board, &format!("24 65 {dangerous:02X} 01 02 03 04 05 06"), None);
        }
        check(&mut board, "24 65 0A", None);
        check(&mut board, "24 65 0A 01 00", None);
    }
}

#[test]
fn short_requests_to_the_recorder_have_no_reply() {
    for version in VERSIONS {
        let mut board = serving(version, 3);
        check(&mut board, "24 65 29", Some("Data Record request missing data."));
        check(&mut board, "24 65 29 01", Some("Data Record request missing data."));
        for sub in 1..=5 {
            let text = "Data Record request missing value, length: 2";
            check(&mut board, &format!("24 65 29 01 {sub:02X}"), Some(text));
        }
        let text = "Data Record request missing offset, length: 5";
        check(&mut board, "24 65 29 02 02 00 00 00", Some(text));
        check(&mut board, "24 65 29 02 02", Some("Data Record request missing offset, length: 2"));
        check(&mut board, "24 65 29 02 03", None);
        check(&mut board, "24 65 29 02 00 00 00 00 00", None);
        check(&mut board, "24 65 29 03 01 00", None);
        check(&mut board, "24 65 29 00 00", None);
    }
}

#[test]
fn controls_have_no_reply_before_1_3() {
    for version in [BoardVersion::V1_1, BoardVersion::V1_2] {
        let mut board = serving(version, 3);
        check(&mut board, "24 65 29 01 00", Some("Data Record request missing value, length: 2"));
        for sub in 0..=9 {
            check(&mut board, &format!("24 65 29 01 {sub:02X} 00"), None);
        }
        assert_eq!(board.view().size, 3);
        assert!(!board.view().autostart && !board.view().autostop);
        assert_eq!(board.view().decimation, 1, "decimation came with 1.3");
    }
}

#[test]
fn nothing_recorded_has_no_data() {
    for version in VERSIONS {
        let mut board = Board::new(BoardOptions { scenario: Scenario::Empty, ..board(version) });
        for offset in ["00 00 00 00", "00 00 00 01", "FF FF FF FF"] {
            check(&mut board, &format!("24 65 29 02 02 {offset}"), None);
        }
        assert_eq!(ask(&mut board, Time::ZERO, "65 29 02 01")[2..6], [0; 4]);
        assert!(board.recorded().is_empty());
    }
}

#[test]
fn messages_that_a_version_does_not_have_are_unknown() {
    let mut old = serving(BoardVersion::V1_1, 1);
    check(&mut old, "24 65 21 00 00 00 00 00", Some("Unknown command received: 33"));
    check(&mut old, "24 65 23", Some("Unknown command received: 35"));
    check(&mut old, "24 65 24 01", Some("Unknown command received: 36"));
    check(&mut serving(BoardVersion::V1_2, 1), "24 65 21 00 00 00 00 00", Some("Unknown command received: 33"));
    check(&mut serving(BoardVersion::V1_3, 1), "24 65 21 00 00 00 00", None);
}
