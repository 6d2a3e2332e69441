//! Whatever a file holds.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use logpose_core::fuzzing::{self, LinesByChannel, check_readings, check_times, in_pieces};
use logpose_core::{EncodeOptions, Encoding, FileDialect, Index, Lookup, Problems, ReadOptions, Span};

use crate::Refloat;
use crate::file::StreamDecoder;
use crate::rfrec::{Recording, Writer};

/// Everything that reads a file; what they find must agree. A file that is written from it reads the same.
pub fn decode(data: &[u8]) {
    let _ = Refloat.sniff(data);
    let read = ReadOptions::default();
    let mut problems = Problems::default();
    let index = Refloat.index(data, &read, &mut problems);
    let _ = Refloat.records(data, &read, 0, &mut |line| {
        assert!(!line.text.to_string().is_empty());
        ControlFlow::Continue(())
    });
    let found = index.as_ref().ok().map(|index| fuzzing::rows(&Refloat, data, index, &Lookup::default()));
    decode_in_pieces(data, found.as_ref());
    let Ok(index) = index else { return };
    check_readings(&Refloat, data, &index);
    agree(data, &index);
    write_again(data, &index);
}

/// What can be saved of a file, and gone on with.
pub fn recover(data: &[u8]) {
    let Ok(recording) = Recording::read(data) else {
        assert!(Refloat.mend(data).is_none());
        return;
    };
    let missing: u64 = recording.missing().iter().map(|gap| u64::from(gap.end - gap.start)).sum();
    assert_eq!(missing + u64::from(recording.held()), u64::from(recording.size()), "missing and held");
    assert!(recording.samples().count() as u64 == u64::from(recording.held()));
    let (mut mended, mut mend) = (Vec::new(), Refloat.mend(data).unwrap_or_else(|| Box::new(|_| false)));
    while mend(&mut mended) {}
    let again = Recording::read(&mended).unwrap_or_else(|error| panic!("what was mended is no file: {error}"));
    assert!(recording.samples().eq(again.samples()), "samples that were mended");
    assert!(again.problems.list().iter().all(|problem| !["bad-crc", "truncated"].contains(&problem.code)));
    let (held, whole) = Recording::resumable(data).unwrap_or_else(|error| panic!("not resumable: {error}"));
    resume(data, &recording, &held, whole);
}

/// Goes on with the whole part of a file, out of what is held of all of it.
fn resume(data: &[u8], recording: &Recording<'_>, held: &Recording<'_>, whole: u64) {
    let mut file = usize::try_from(whole).ok().and_then(|whole| data.get(..whole)).unwrap_or_default().to_vec();
    let mut writer = Writer::resume(held);
    let missing = held.missing();
    if held.complete || held.header.is_none() || !recording.missing().is_empty() {
        return;
    }
    let known: BTreeMap<u32, &[u8]> = recording.samples().collect();
    for index in missing.into_iter().flatten() {
        let sample = known.get(&index).copied().unwrap_or_default();
        assert!(writer.samples(index, sample, &mut file).is_ok());
    }
    assert!(writer.end(&mut file).is_ok());
    let again = Recording::read(&file).unwrap_or_else(|error| panic!("what was gone on with is no file: {error}"));
    assert!(again.complete || !again.head.intact || again.problems.worst().is_some(), "{:?}", again.problems);
    assert!(again.samples().eq(recording.samples()));
}

/// Both halves together have what the whole has.
fn agree(data: &[u8], index: &Index) {
    let last = index.channels.iter().flat_map(|c| c.positions.iter()).max().unwrap_or(0);
    let cut = |start, end| Lookup { within: Some(Span { start, end }), ..Lookup::default() };
    let halves = [cut(0, last / 2), cut(last / 2, u64::MAX)];
    let within =
        halves.map(|lookup| fuzzing::rows(&Refloat, data, index, &lookup).values().map(Vec::len).sum::<usize>());
    assert_eq!(within.iter().sum::<usize>() as u64, index.samples(), "windows");
    check_times(&Refloat, data, index);
}

/// What is written from the samples of a file has the same samples.
fn write_again(data: &[u8], index: &Index) {
    let Some(mut encoder) = Refloat.encoder(&EncodeOptions::default()) else { return };
    let mut file = Vec::new();
    encoder.begin(&mut file);
    let replayed = Refloat.replay(
        data,
        index,
        &Lookup::default(),
        &mut Encoding { encoder: &mut *encoder, out: &mut file, problems: &mut Problems::default() },
    );
    if replayed.is_err() || encoder.close().is_err() {
        return;
    }
    encoder.finish(&mut file);
    let (Ok(one), Ok(two)) = (Recording::read(data), Recording::read(&file)) else {
        panic!("what was written is no file")
    };
    assert!(two.complete, "{:?}", two.problems);
    assert!(one.samples().map(|(_, bytes)| bytes).eq(two.samples().map(|(_, bytes)| bytes)), "samples written again");
}

fn decode_in_pieces(data: &[u8], file: Option<&LinesByChannel>) {
    let (whole, whole_error) = in_pieces(|| StreamDecoder::new(ReadOptions::default().limits), data);
    if let (Some(file), None) = (file, whole_error) {
        // Only in a whole file is there a way past what is not whole, and is known what comes later.
        if whole.problems.iter().all(|(code, ..)| !["truncated", "tick-rate"].contains(code)) {
            assert_eq!(&whole.lines, file, "the stream and the file");
        }
    }
}
