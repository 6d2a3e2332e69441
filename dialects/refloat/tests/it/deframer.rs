//! Frames out of streams that are cut, noisy and hostile.

use logpose_refloat::fuzzing;
use logpose_refloat::vesc::{self, Deframer, LARGEST, MAX_PAYLOAD};

use crate::kit::{app_frame, bytes, messages};

fn payloads(deframer: &mut Deframer) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some(payload) = deframer.next_payload() {
        found.push(payload.to_vec());
    }
    found
}

/// All that a stream holds, and how many bytes belonged to no frame.
fn deframe(stream: &[u8], limit: usize) -> (Vec<Vec<u8>>, u64) {
    let mut deframer = Deframer::new(limit);
    deframer.push(stream);
    (payloads(&mut deframer), deframer.skipped())
}

#[test]
fn frames_in_pieces_are_the_same_as_at_once() {
    let stream: Vec<u8> = messages().iter().flat_map(|message| app_frame(message)).collect();
    let (whole, skipped) = deframe(&stream, MAX_PAYLOAD);
    assert_eq!((whole.len(), skipped), (messages().len(), 0));
    for size in 1..40 {
        let mut deframer = Deframer::new(MAX_PAYLOAD);
        let mut found = Vec::new();
        for piece in stream.chunks(size) {
            deframer.push(piece);
            found.extend(payloads(&mut deframer));
        }
        assert_eq!(found, whole, "pieces of {size}");
    }
}

#[test]
fn a_length_that_fits_a_shorter_form_is_refused_but_for_255() {
    let framed = |head: &[u8], n: usize| {
        let payload = vec![7; n];
        let mut frame = head.to_vec();
        frame.extend_from_slice(&payload);
        frame.extend_from_slice(&vesc::crc16(&payload).to_be_bytes());
        frame.push(3);
        deframe(&frame, 70_000).0.contains(&payload)
    };
    assert!(framed(&[2, 255], 255) && framed(&[3, 0, 255], 255));
    assert!(!framed(&[3, 0, 254], 254) && framed(&[2, 254], 254));
    assert!(framed(&[3, 255, 255], 65_535) && framed(&[4, 0, 255, 255], 65_535));
    assert!(!framed(&[4, 0, 255, 254], 65_534) && framed(&[3, 255, 254], 65_534));
    assert_eq!(
        deframe(&bytes("02 00 00 00 03"), 512),
        (vec![], 4),
        "nothing has no frame; the last byte may begin one"
    );
}

#[test]
fn what_is_longer_than_the_limit_is_noise() {
    let frame = vesc::framed(&[9; 513]);
    assert_eq!(deframe(&frame, MAX_PAYLOAD).0, Vec::<Vec<u8>>::new());
    assert_eq!(deframe(&frame, LARGEST).0, [vec![9; 513]]);
    assert_eq!(deframe(&vesc::framed(&[9; 512]), MAX_PAYLOAD).0, [vec![9; 512]]);
}

#[test]
fn every_prefix_of_a_frame_waits_and_the_next_frame_is_found_when_it_is_given_up() {
    let next = vesc::framed(&bytes("24 65 29 02 01"));
    for message in messages() {
        let frame = app_frame(&message);
        for length in 0..frame.len() {
            let mut deframer = Deframer::new(MAX_PAYLOAD);
            deframer.push(&frame[..length]);
            assert_eq!(deframer.next_payload(), None);
            assert_eq!(deframer.is_pending(), length > 0);
            deframer.push(&next);
            let mut found = payloads(&mut deframer);
            while deframer.is_pending() {
                deframer.expire();
                found.extend(payloads(&mut deframer));
            }
            assert_eq!(found.last(), Some(&bytes("24 65 29 02 01")), "{length} bytes of {message:02X?}");
        }
    }
}

#[test]
fn every_damaged_byte_costs_one_frame_and_no_more() {
    let (before, next) = (vesc::framed(&bytes("00")), vesc::framed(&bytes("24 65 29 02 02 00 00 00 10")));
    for message in messages() {
        let frame = app_frame(&message);
        for place in 0..frame.len() {
            for damage in [0x01, 0x02, 0x03, 0x07, 0x80, 0xFF] {
                let mut damaged = frame.clone();
                damaged[place] ^= damage;
                let mut deframer = Deframer::new(MAX_PAYLOAD);
                deframer.push(&before);
                deframer.push(&damaged);
                deframer.push(&next);
                let mut found = payloads(&mut deframer);
                while deframer.is_pending() {
                    deframer.expire();
                    found.extend(payloads(&mut deframer));
                }
                assert_eq!(found.first(), Some(&bytes("00")));
                assert_eq!(found.last(), Some(&bytes("24 65 29 02 02 00 00 00 10")), "byte {place} ^ {damage:02X}");
                // What the damaged frame holds may look like a frame itself, but it is never taken for what it was.
                assert!(found.iter().all(|payload| payload.get(1..) != Some(&message[..])));
            }
        }
    }
}

#[test]
fn a_frame_inside_of_a_refused_one_is_found() {
    let inner = vesc::framed(&bytes("24 65 1F"));
    let mut stream = bytes("02 20");
    stream.extend_from_slice(&inner);
    stream.extend_from_slice(&[0; 40]);
    assert_eq!(deframe(&stream, MAX_PAYLOAD), (vec![bytes("24 65 1F")], 42));
}

#[test]
fn a_header_of_noise_delays_a_frame_until_it_is_given_up() {
    let mut deframer = Deframer::new(MAX_PAYLOAD);
    deframer.push(&bytes("03 02 00"));
    deframer.push(&vesc::framed(&bytes("24 65 1F")));
    assert_eq!(deframer.next_payload(), None);
    assert!(deframer.is_pending());
    deframer.expire();
    assert_eq!(payloads(&mut deframer), [bytes("24 65 1F")]);
    assert_eq!((deframer.is_pending(), deframer.skipped()), (false, 3));
}

#[test]
fn what_waits_is_forgotten_with_the_stream() {
    let frame = vesc::framed(&bytes("24 65 1F"));
    let mut deframer = Deframer::new(MAX_PAYLOAD);
    deframer.push(&frame[..5]);
    assert_eq!(deframer.next_payload(), None);
    deframer.clear();
    deframer.push(&frame);
    assert_eq!(payloads(&mut deframer), [bytes("24 65 1F")]);
    assert_eq!((deframer.skipped(), deframer.waiting()), (5, 0));
    deframer.expire();
    assert_eq!(deframer.skipped(), 5, "there is nothing to give up");
}

#[test]
fn hostile_streams_take_bounded_memory_and_are_not_summed_up_again_and_again() {
    // Every second byte begins a candidate that is as long as can be and ends as it should: summing each one up anew
    // would read every byte thousands of times, and nobody would wait for the end of this test.
    let stream: Vec<u8> = [3, 39].repeat(150_000);
    let mut deframer = Deframer::new(LARGEST);
    for piece in stream.chunks(100) {
        deframer.push(piece);
        assert_eq!(deframer.next_payload(), None);
        assert!(deframer.waiting() <= LARGEST + 7);
    }
    assert!(deframer.skipped() > 280_000);
}

#[test]
fn streams_of_start_bytes_and_lengths_are_read_as_the_rule_says() {
    for pattern in ["02", "03", "04", "02 03", "03 01", "03 00 FF", "04 01", "02 02 03", "02 01 00 00 00 03 02"] {
        fuzzing::deframe(&bytes(pattern).repeat(400));
    }
}
