//! A recording in pieces gives the same samples as one at once.

use logpose_carla::Carla;
use logpose_core::StreamError;
use logpose_testkit::without_schemas;

use crate::model_kit::{Lines, drive, f32_form, f64_form, index};

fn decoded(log: &[u8], step: usize) -> Result<Lines, StreamError> {
    let (lines, end) = logpose_testkit::streamed(&Carla, log, step);
    end.map(|()| lines)
}

fn check(log: &[u8], step: usize) {
    let (index, problems) = index(log);
    let whole: Lines = logpose_testkit::replayed(&Carla, log, &index);
    match decoded(log, step) {
        Ok(pieces) => {
            assert!(without_schemas(&pieces) == without_schemas(&whole));
            assert_eq!(pieces.lines.len(), whole.lines.len());
            let mut names: Vec<_> = pieces.channels.values().cloned().collect();
            let mut known: Vec<_> = index.channels.iter().map(|c| c.channel.clone()).collect();
            names.sort_by(|a, b| a.name.cmp(&b.name));
            known.sort_by(|a, b| a.name.cmp(&b.name));
            assert_eq!(names, known);
        }
        Err(error) => assert!(!problems.is_empty(), "{error}"),
    }
}

#[test]
fn pieces_give_what_the_whole_gives() {
    for form in [f32_form(), f64_form()] {
        let log = drive(30, 5, form, 1);
        for step in [1, 7, 1000, log.len()] {
            check(&log, step);
        }
    }
}

on_recordings!(check_pieces: pieces_of_ours_give_what_the_whole_gives, real_pieces_give_what_the_whole_gives);

fn check_pieces(_: &str, log: &[u8]) {
    check(log, 4096);
}

#[test]
fn a_packet_that_claims_too_much_ends_the_stream() {
    let mut log = drive(3, 2, f32_form(), 1);
    log.extend([200, 0xff, 0xff, 0xff, 0x7f]);
    let error = decoded(&log, 100).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("packet 200 has 2147483647 bytes, the limit for streams is "), "{error}");
    let other = decoded(b"no recording at all, but some text that is long enough", 10).map(|_| ()).unwrap_err();
    assert!(other.to_string().contains("magic"), "{other}");
}
