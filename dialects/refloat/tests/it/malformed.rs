//! Messages that are cut or damaged: an error with its place, or another message, never a panic.

use logpose_core::Time;
use logpose_refloat::wire::{Info, Reply, Request};
use logpose_refloat::{LiveMapper, fuzzing};

use crate::kit::{Lines, bytes, info_v2, messages};

#[test]
fn every_prefix_of_every_message_is_an_error_inside_of_it_or_a_shorter_message() {
    for message in messages() {
        for length in 0..message.len() {
            let cut = &message[..length];
            fuzzing::roundtrip(cut);
            if let Err(error) = Reply::parse(cut) {
                assert!(error.at <= length as u64, "{error}");
                assert!(error.to_string().starts_with("byte "), "{error}");
            }
        }
    }
}

#[test]
fn every_damaged_byte_of_every_message_is_survived() {
    let mut sink = Lines::default();
    let mut mapper = LiveMapper::new();
    for message in messages() {
        for place in 0..message.len() {
            for byte in [0x00, 0xFF, message[place].wrapping_add(1)] {
                let mut payload = vec![0x24];
                payload.extend_from_slice(&message);
                payload[1 + place] = byte;
                fuzzing::roundtrip(&payload[1..]);
                mapper.payload(Time::ZERO, &payload, &mut sink).unwrap();
            }
        }
    }
}

#[test]
fn errors_name_what_is_wrong_and_where() {
    let check = |text: &str, error: &str| {
        assert_eq!(Reply::parse(&bytes(text)).unwrap_err().to_string(), error);
    };
    check("65 2A 00 00", "byte 2: size needs 4 bytes, 2 left");
    check("65 2A 00 00 00 01 02 01 61", "byte 9: id needs 1 bytes, 0 left");
    check("65 2A 00 00 00 01 01 04 61 62", "byte 8: id needs 4 bytes, 2 left");
    check("65 2A 00 00 00 01 01 02 61 E4", "byte 9: id has the byte 0xe4, which is not ASCII");
    check("65 2A 00 00 00 01 01 01 61 00", "byte 9: header has 10 bytes, expected 9");
    check("65 2B 00 00 00", "byte 2: offset needs 4 bytes, 3 left");
    check("65 29 01 06 05 00", "byte 5: duration needs 2 bytes, 1 left");
    check("65 00 0C 01", "byte 4: LED type needs 1 bytes, 0 left");
    check("65 00 02 00 52 65", "byte 4: package name needs 20 bytes, 2 left");
    check("65 0A 45", "byte 3: fault code needs 1 bytes, 0 left");
    check("65 23 00 00 00 00 00 00 00 00 05 02 61", "byte 12: fault name needs 2 bytes, 1 left");
    check("65 23 00 00 00 00 00 00 00 00 00 01 00 00 00 01 01 01", "byte 18: code of an alert needs 1 bytes, 0 left");
    let error = logpose_refloat::wire::Header::parse(&bytes("65 2B 00")).unwrap_err();
    assert_eq!(error.to_string(), "byte 1: command id is 43, expected 42");
    assert!(Request::parse(&bytes("65 2A")).is_err(), "a reply is no request");
}

/// Found by fuzzing: what stood for such bytes did not fit the field any more.
#[test]
fn a_name_that_is_no_text_is_the_same_when_it_is_written_and_read_again() {
    let mut reply = Vec::new();
    info_v2().emit(&mut reply);
    reply[4..24].fill(0xA8);
    reply[27..47].copy_from_slice(b"\xA8{\"captured_at\":\"202");
    let read = Info::parse(&reply).unwrap();
    let mut again = Vec::new();
    read.emit(&mut again);
    assert_eq!(Info::parse(&again), Ok(read));
}
