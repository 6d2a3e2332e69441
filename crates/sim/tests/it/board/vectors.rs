//! Every vector of the specification that a board has a part in.

use logpose_core::{Batch, Link, Session, Time};
use logpose_refloat::items;
use logpose_refloat::vesc::{FirmwareVersion, HardwareType};
use logpose_refloat::wire::{Header, Info};
use logpose_sim::board::{Board, BoardOptions, BoardSession, BoardVersion, LineOptions, Recorded, Scenario};

use super::{ask, board, hex, ms, numbered, replies, serving};

/// What comes out on the wire for these bytes, frame by frame.
fn frames(options: BoardOptions, request: &str) -> Vec<Vec<u8>> {
    let mut session = BoardSession::new(options, LineOptions::default());
    session.handle_open(Time::ZERO, Link(0));
    session.handle_input(Time::ZERO, Link(0), &hex(request), &mut Batch::default()).unwrap();
    std::iter::from_fn(|| session.poll_transmit()).map(|transmit| transmit.bytes.to_vec()).collect()
}

fn check(options: BoardOptions, request: &str, frame: &str) {
    assert_eq!(frames(options, request), [hex(frame)], "{request}");
}

/// The frame of a reply begins and ends so.
fn check_ends(options: BoardOptions, request: &str, begin: &str, end: &str) {
    let frames = frames(options, request);
    let [frame] = &frames[..] else { panic!("{frames:02X?}") };
    assert!(frame.starts_with(&hex(begin)) && frame.ends_with(&hex(end)), "{request}: {frame:02X?}");
}

fn empty(version: BoardVersion) -> BoardOptions {
    BoardOptions { scenario: Scenario::Empty, ..board(version) }
}

fn recording(version: BoardVersion, size: u32) -> BoardOptions {
    BoardOptions { recording: Some(numbered(version, size)), ..board(version) }
}

const INFO_V1: &str = "02 03 24 65 00 AE D9 03";
const INFO_V2: &str = "02 04 24 65 00 02 AD 66 03";
const HEADER: &str = "02 05 24 65 29 02 01 0A 31 03";
const DATA: &str = "02 09 24 65 29 02 02 00 00 00 00 74 EC 03";
const INFO_1_3: &str = "65 00 02 00 52 65 66 6C 6F 61 74 00*13 01 03 00 62 65 74 61 32 00*15 9A 16 B5 C5 00 00 27 10 80 \
     00 00 00 00";

#[test]
fn info_is_that_of_the_specification() {
    check(board(BoardVersion::V1_3), INFO_V2, &format!("02 3D 24 {INFO_1_3} 24 8A 03"));
    check(board(BoardVersion::V1_3), "02 05 24 65 00 02 00 02 47 03", &format!("02 3D 24 {INFO_1_3} 24 8A 03"));
}

#[test]
fn info_knows_two_versions_and_echoes_flags_only_for_the_second() {
    let mut board = Board::new(board(BoardVersion::V1_2));
    assert_eq!(ask(&mut board, Time::ZERO, "65 00"), hex("65 00 0C 01 00"));
    assert_eq!(ask(&mut board, Time::ZERO, "65 00 01"), hex("65 00 0C 01 00"));
    assert_eq!(ask(&mut board, Time::ZERO, "65 00 01 55"), hex("65 00 0C 01 00"));
    for (version, flags) in [(0, 0), (2, 0x55), (3, 0), (255, 0)] {
        let reply = ask(&mut board, Time::ZERO, &format!("65 00 {version:02X} 55"));
        assert_eq!((reply.len(), reply[2], reply[3]), (60, 2, flags), "version {version}");
        assert_eq!(Info::parse(&reply).unwrap().to_string(), "Refloat 1.2.3");
        assert_eq!(reply[27..29], *b"3\0", "the suffix of a release is its patch number");
    }
}

#[test]
fn a_board_of_1_0_has_the_short_info_and_compact_values_alone() {
    let mut board = Board::new(board(BoardVersion::V1_0));
    for request in ["65 00", "65 00 01", "65 00 02"] {
        assert_eq!(ask(&mut board, Time::ZERO, request), hex("65 00 0A 01 00"));
    }
    assert_eq!(ask(&mut board, Time::ZERO, "65 0A 01").len(), 34);
    for request in ["24 65 1F", "24 65 20", "24 65 21 00 00 00 00 00", "24 65 23", "24 65 29 02 01"] {
        let replies = replies(&mut board, Time::ZERO, request);
        assert!(replies.iter().all(|reply| reply[0] == 135), "{request}: {replies:02X?}");
    }
}

#[test]
fn an_empty_header_is_that_of_the_specification() {
    let header = "65 2A 00 00 00 00 0A 0A 6D 6F 74 6F 72 2E 65 72 70 6D 11 6D 6F 74 6F 72 2E 64 69 72 5F 63 75 72 72 \
         65 6E 74 10 6D 6F 74 6F 72 2E 64 75 74 79 5F 63 79 63 6C 65 12 6D 6F 74 6F 72 2E 62 61 74 74 5F 76 \
         6F 6C 74 61 67 65 09 69 6D 75 2E 70 69 74 63 68 11 69 6D 75 2E 62 61 6C 61 6E 63 65 5F 70 69 74 63 \
         68 08 73 65 74 70 6F 69 6E 74 0C 61 74 72 2E 73 65 74 70 6F 69 6E 74 14 74 6F 72 71 75 65 5F 74 69 \
         6C 74 2E 73 65 74 70 6F 69 6E 74 0F 62 61 6C 61 6E 63 65 5F 63 75 72 72 65 6E 74";
    for version in [BoardVersion::V1_1, BoardVersion::V1_2] {
        check(empty(version), HEADER, &format!("02 A0 24 {header} C0 F3 03"));
    }
    check_ends(empty(BoardVersion::V1_3), HEADER, "02 AD 24 65 2A 00 00 00 00 0D", "89 F6 03");
}

#[test]
fn a_header_of_1500_samples_is_that_of_the_specification() {
    check_ends(recording(BoardVersion::V1_2, 1_500), HEADER, "02 A0 24 65 2A 00 00 05 DC 0A", "FC 49 03");
    check_ends(recording(BoardVersion::V1_3, 1_500), HEADER, "02 AD 24 65 2A 00 00 05 DC 0D", "52 CE 03");
}

#[test]
fn requests_through_can_are_answered_through_can() {
    let options = BoardOptions { can: Some(21), ..recording(BoardVersion::V1_2, 1_500) };
    let header = "02 07 22 15 24 65 29 02 01 5D A1 03";
    check_ends(options.clone(), header, "02 A0 24 65 2A 00 00 05 DC 0A", "FC 49 03");
    let data = "02 0B 22 15 24 65 29 02 02 00 00 00 00 28 C3 03";
    assert_eq!(frames(options.clone(), data)[0].len(), 513);
    for silent in [INFO_V1, INFO_V2, HEADER, DATA] {
        assert!(frames(options.clone(), silent).is_empty(), "{silent}");
    }
}

#[test]
fn samples_of_1_2_are_those_of_the_specification() {
    let samples = "00 01 E2 40 0D 6C 38 CA 40 35 9A 54 B8 BA 00 38 00 34 00 BC 00 00 00 49 00";
    let mut recording = Recorded { samples: hex(samples), ..Recorded::default() };
    Header::put(1, items::recorded(&"1.2.3".parse().unwrap()), &mut recording.header);
    let options = BoardOptions { recording: Some(recording), ..board(BoardVersion::V1_2) };
    check(options.clone(), DATA, &format!("02 20 24 65 2B 00 00 00 00 {samples} 2E 64 03"));
    let past = "02 09 24 65 29 02 02 00 00 00 07";
    let past = format!("{past} {}", crc(past));
    check(options, &past, "02 07 24 65 2B 00 00 00 07 27 85 03");
}

#[test]
fn samples_of_1_3_are_those_of_the_specification() {
    let samples = "00 01 E2 40 0D 3D 00 62 80 6C 38 CA 40 35 9A 54 B8 BA 00 38 00 34 00 BC 00 00 00 49 00 00 00 \
         00 01 E2 4C 6F 3C CD 62 80 6C 39 CA 00 35 C3 54 B7 B9 9A 37 33 34 00 BC 00 00 00 48 C0 00 00";
    let mut recording = Recorded { samples: hex(samples), ..Recorded::default() };
    Header::put(2, items::recorded(&"1.3.0".parse().unwrap()), &mut recording.header);
    let options = BoardOptions { recording: Some(recording), ..board(BoardVersion::V1_3) };
    check(options, DATA, &format!("02 45 24 65 2B 00 00 00 00 {samples} 56 2E 03"));
}

/// The sum and the end of a frame that is given without them.
fn crc(frame: &str) -> String {
    let frame = hex(frame);
    let [high, low] = logpose_refloat::vesc::crc16(&frame[2..]).to_be_bytes();
    format!("{high:02X} {low:02X} 03")
}

#[test]
fn replies_have_the_sizes_of_the_specification() {
    for (version, samples, payload, frame, start) in [
        (BoardVersion::V1_2, 20, 507, 513, 3),
        (BoardVersion::V1_2, 10, 257, 263, 3),
        (BoardVersion::V1_2, 9, 232, 237, 2),
        (BoardVersion::V1_3, 16, 503, 509, 3),
        (BoardVersion::V1_3, 8, 255, 260, 2),
    ] {
        let frames = frames(recording(version, samples), DATA);
        assert_eq!((frames[0].len(), frames[0][0]), (frame, start), "{version} {samples}");
        let head = if start == 2 { 2 } else { 3 };
        assert_eq!(frames[0].len() - head - 3, payload);
    }
    assert_eq!(frames(recording(BoardVersion::V1_2, 21), DATA)[0].len(), 513);
    assert_eq!(frames(recording(BoardVersion::V1_3, 17), DATA)[0].len(), 509);
    // A full buffer of 1.3 ends with a payload of 255 bytes.
    assert_eq!(BoardVersion::V1_3.capacity() % 16, 8);
}

#[test]
fn the_status_is_that_of_the_specification() {
    let mut idle = Board::new(board(BoardVersion::V1_3));
    assert_eq!(ask(&mut idle, Time::ZERO, "65 29 01 00"), hex("65 29 01 06 05 00 B7"));
    for (request, status) in [
        ("65 29 01 02 00", "65 29 01 04 05 00 B7"),
        ("65 29 01 03 00", "65 29 01 00 05 00 B7"),
        ("65 29 01 04 04", "65 29 01 00 04 00 B7"),
        ("65 29 01 04 00", "65 29 01 00 01 00 B7"),
        ("65 29 01 01 01", "65 29 01 01 01 00 B7"),
        ("65 29 01 03 FF", "65 29 01 05 01 00 B7"),
        ("65 29 01 09 01", "65 29 01 05 01 00 B7"),
        ("65 29 01 01 00", "65 29 01 04 01 00 B7"),
        ("65 29 01 00 AA BB", "65 29 01 04 01 00 B7"),
    ] {
        assert_eq!(ask(&mut idle, Time::ZERO, request), hex(status), "{request}");
    }
}

#[test]
fn the_default_decimation_wraps_for_absurd_buffers() {
    for (capacity, decimation, duration) in
        [(1, 8320_u32 as u8, 0), (100, 83, 12), (8_320, 1, 1_000), (9_000, 1, 1_081), (600_000, 1, u16::MAX)]
    {
        let options = BoardOptions { capacity: Some(capacity), ..empty(BoardVersion::V1_3) };
        let status = ask(&mut Board::new(options), Time::ZERO, "65 29 01 00");
        assert_eq!((status[4], u16::from_be_bytes([status[5], status[6]])), (decimation, duration), "{capacity}");
    }
}

#[test]
fn alerts_are_those_of_the_specification() {
    let options = BoardOptions { boot_ticks: Some(100_000), ..empty(BoardVersion::V1_2) };
    let mut board = Board::new(options);
    assert_eq!(ask(&mut board, Time::ZERO, "65 23"), hex("65 23 00*9 00"));
    board.set_fault(Time::ZERO, 5);
    let during = "65 23 00 00 00 01 00 00 00 00 05 0D 4F 56 45 52 5F 54 45 4D 50 5F 46 45 54 01 00 01 86 A0 01 01 05 0D 4F \
         56 45 52 5F 54 45 4D 50 5F 46 45 54";
    assert_eq!(ask(&mut board, Time::ZERO, "65 23"), hex(during));
    assert_eq!(ask(&mut board, Time::ZERO, "65 0A 01"), hex("65 0A 45 05"));
    board.set_fault(ms(50), 0);
    let ended = "65 23 00 00 00 00 00 00 00 00 00 02 00 01 86 A0 01 01 05 0D 4F 56 45 52 5F 54 45 4D 50 5F 46 45 54 00 01 \
         88 94 01 00 00";
    assert_eq!(ask(&mut board, ms(60), "65 23"), hex(ended));
    assert_eq!(ask(&mut board, ms(60), "65 23 00 01 86 A0"), hex("65 23 00*9 01 00 01 88 94 01 00 00"));
    assert_eq!(ask(&mut board, ms(60), "65 23 00 01 88 94"), hex("65 23 00*9 00"));
}

#[test]
fn alerts_are_at_most_twenty_and_fit_a_message() {
    let mut board = Board::new(empty(BoardVersion::V1_3));
    for i in 0..40 {
        board.set_fault(ms(i), if i % 2 == 0 { 8 } else { 0 });
    }
    let reply = ask(&mut board, ms(100), "65 23");
    assert!(reply.len() <= 511);
    assert_eq!(reply[11], 20);
}

#[test]
fn a_fatal_error_stays_until_it_is_cleared() {
    let mut old = Board::new(empty(BoardVersion::V1_2));
    let mut new = Board::new(empty(BoardVersion::V1_3));
    for board in [&mut old, &mut new] {
        board.set_fault(Time::ZERO, 4);
        board.set_fault(ms(1), 0);
    }
    assert_eq!(ask(&mut old, ms(2), "65 1F")[3], 0b1110);
    assert_eq!(ask(&mut new, ms(2), "65 1F")[3], 0);
    assert_eq!(ask(&mut new, ms(2), "65 1F")[9] & 0x10, 0x10);
    for board in [&mut old, &mut new] {
        assert!(replies(board, ms(3), "24 65 24 02").is_empty());
        assert!(replies(board, ms(3), "24 65 24 01").is_empty());
    }
    assert_eq!(ask(&mut old, ms(4), "65 1F")[3], 0b0110);
    assert_eq!(ask(&mut new, ms(4), "65 1F")[9] & 0x10, 0);
}

#[test]
fn live_values_have_the_sizes_of_the_specification() {
    // Three seconds after the beginning somebody rides it.
    for (version, ids, running, resting) in
        [(BoardVersion::V1_1, 405, 64, 44), (BoardVersion::V1_2, 405, 73, 53), (BoardVersion::V1_3, 370, 79, 57)]
    {
        let mut board = Board::new(BoardOptions { ridden: false, ..board(version) });
        assert_eq!(ask(&mut board, Time::ZERO, "65 20").len(), ids, "{version}");
        assert_eq!(ask(&mut board, Time::ZERO, "65 1F").len(), resting, "{version}");
        let live = ask(&mut board, ms(4_000), "65 1F");
        assert_eq!(live.len(), running, "{version}");
        assert_eq!(u32::from_be_bytes(live[4..8].try_into().unwrap()), 6_040_000);
        assert_eq!(live[8] & 3, 3, "it runs");
        for (mode, length) in [(1, 34), (2, 41), (3, 54), (4, 58)] {
            let compact = ask(&mut board, ms(4_000), &format!("65 0A {mode:02X}"));
            assert_eq!((compact.len(), compact[2]), (length, mode), "{version}");
        }
    }
}

#[test]
fn live_values_by_mask_echo_the_masks_and_have_no_field_for_unknown_bits() {
    let mut board = Board::new(BoardOptions { boot_ticks: Some(1), ..empty(BoardVersion::V1_3) });
    let reply = ask(&mut board, Time::ZERO, "65 21 01 00 00 11 40 00 00 00 00");
    assert_eq!(reply[..15], hex("65 21 01 00 00 11 40 00 00 00 00 00 00 00 01"));
    assert_eq!(reply.len(), 15 + 3 * 4);
    let volts = f32::from_be_bytes(reply[23..27].try_into().unwrap());
    assert!((60.0..84.0).contains(&volts), "{volts}");
    assert_eq!(ask(&mut board, Time::ZERO, "65 21 00 00 00 11 40").len(), 15 + 3 * 2);
    assert_eq!(ask(&mut board, Time::ZERO, "65 21 00 00 00 11 40 FF FF FF").len(), 15 + 3 * 2);
    let all = ask(&mut board, Time::ZERO, "65 21 00 FF FF FF FF FF FF FF FF");
    assert_eq!(all[2..11], hex("00 FF FF FF FF FF FF FF FF"));
    assert_eq!(all.len(), 15 + 1 + 4 + 25 * 2 + 4 + 8 * 2 + 2 * 8 + 3 * 2 + 4);
}

#[test]
fn a_board_without_a_buffer_prints_that_it_has_none() {
    for version in super::VERSIONS {
        let options = BoardOptions { recorder: false, boot_ticks: Some(5_447), ..empty(version) };
        let mut board = Board::new(options);
        let info = ask(&mut board, Time::ZERO, "65 00 02");
        assert_eq!(Info::parse(&info).unwrap().can_record(), Some(false));
        for request in ["24 65 29 02 01", "24 65 29 01 00", "24 65 29", "24 65 29 02 02 00 00 00 00"] {
            let text = &replies(&mut board, Time::ZERO, request)[0];
            assert_eq!(text[0], 135);
            assert_eq!(text[1..], *b"0.544700 [refloat] Error: Data Record not supported.");
        }
    }
}

#[test]
fn the_controller_reports_its_firmware_and_an_express_its_own() {
    let mut direct = Board::new(board(BoardVersion::V1_3));
    let reply = &replies(&mut direct, Time::ZERO, "00")[0];
    let version = FirmwareVersion::parse(reply).unwrap();
    assert_eq!((version.major, version.minor), (6, 5));
    assert_eq!(version.hardware_type, Some(HardwareType::Controller));
    assert!(version.is_recorder());
    assert_eq!(replies(&mut direct, Time::ZERO, "3E"), [hex("3E")]);
    assert!(replies(&mut direct, Time::ZERO, "1E").is_empty());

    let mut express = Board::new(BoardOptions { can: Some(21), ..board(BoardVersion::V1_3) });
    let version = FirmwareVersion::parse(&replies(&mut express, Time::ZERO, "00")[0]).unwrap();
    assert_eq!(version.hardware_type, Some(HardwareType::Other));
    let behind = FirmwareVersion::parse(&replies(&mut express, Time::ZERO, "22 15 00")[0]).unwrap();
    assert_eq!(behind.hardware_type, Some(HardwareType::Controller));
    assert_eq!(replies(&mut express, Time::ZERO, "3E"), [hex("3E 15")]);
    assert!(replies(&mut express, Time::ZERO, "22 16 24 65 00").is_empty());
    assert_eq!(replies(&mut express, Time::ZERO, "22 15 24 65 00"), [hex("24 65 00 0D 01 00")]);
}

#[test]
fn a_recording_is_served_again_byte_for_byte() {
    for version in super::VERSIONS {
        let recorded = logpose_sim::board::simulate(Scenario::Nosedive, version, 3);
        let recording = Some(recorded.clone());
        let mut again = Board::new(BoardOptions { recording, ..board(recorded.version()) });
        assert_eq!(recorded.version(), version);
        let served = again.recorded();
        assert_eq!((&served.info, &served.header), (&recorded.info, &recorded.header));
        assert_eq!((&served.status, &served.samples), (&recorded.status, &recorded.samples));
        assert_eq!(ask(&mut again, Time::ZERO, "65 29 02 01"), recorded.header);
        assert_eq!(ask(&mut again, ms(100_000), "65 00 02"), recorded.info);
        let mut samples = Vec::new();
        while samples.len() < recorded.samples.len() {
            let offset = samples.len() / recorded.sample_len();
            samples.extend(super::data(&mut again, ms(100_000), offset as u32).into_iter().flatten());
        }
        assert!(samples == recorded.samples, "{version}");
        let last = *super::ticks(&recorded).last().unwrap();
        assert!(again.view().tick.wrapping_sub(last) >= 50_000, "the board is later than its recording");
    }
    assert_eq!(serving(BoardVersion::V1_2, 7).recorded().len(), 7);
}
