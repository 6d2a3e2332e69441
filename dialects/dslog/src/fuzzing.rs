//! What the fuzz target calls. The ordinary tests run the same functions over all fixtures.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use logpose_core::fuzzing::{self, check_readings, check_times, in_pieces};
use logpose_core::{FileDialect, Index, Lookup, Problems, ReadOptions};

use crate::decode::StreamDecoder;
use crate::{Dslog, Envelope, Half, summary};

/// Everything that reads a log; what they find must agree.
pub fn decode(data: &[u8]) {
    let _ = Dslog.sniff(data);
    read_all(data);
    decode_in_pieces(data);
    let half = Half::of(data);
    let (log, events) = if half == Half::Log { (Some(data), None) } else { (None, Some(data)) };
    let found = summary(log, events);
    if let Ok(index) = Dslog.index(data, &ReadOptions::default(), &mut Problems::default()) {
        assert_eq!(found.records + found.events, index.records, "summary and index");
    }
    // The same file as both halves: one of the two is read as what it is not.
    let mut pair = Vec::new();
    Envelope { named: half, companion: b"companion", log: data, events: data }.emit(&mut pair);
    read_all(&pair);
    decode_in_pieces(&pair);
}

fn read_all(data: &[u8]) {
    let read = ReadOptions::default();
    let mut problems = Problems::default();
    let index = Dslog.index(data, &read, &mut problems);
    let _ = Dslog.records(data, &read, 0, &mut |line| {
        assert!(!line.text.to_string().is_empty());
        ControlFlow::Continue(())
    });
    let Ok(index) = index else { return };
    check_readings(&Dslog, data, &index);
    agree(data, &index);
    let light = Dslog.index(data, &ReadOptions { positions: false, ..read }, &mut Problems::default());
    let Ok(light) = light else { panic!("only an index with positions can be made") };
    assert!(!light.placed && light.samples() == index.samples(), "with positions and without");
    assert_eq!(
        fuzzing::rows(&Dslog, data, &index, &Lookup::default()),
        fuzzing::rows(&Dslog, data, &light, &Lookup::default())
    );
}

/// Rows and what is found in windows must be the same.
fn agree(data: &[u8], index: &Index) {
    let rows = fuzzing::rows(&Dslog, data, index, &Lookup::default());
    // Windows as small as they can be: at every change of the records' length, and at every text.
    let mut steps: Vec<u64> = index.marks.iter().map(|mark| mark.at).chain(index.steps.iter().copied()).collect();
    steps.sort_unstable();
    steps.dedup();
    let fine = Index { steps, ..index.clone() };
    let mut windows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut places = 0;
    for window in Dslog.windows(&fine, 1) {
        let lookup = Lookup { within: Some(window), ..Lookup::default() };
        let found = fuzzing::rows(&Dslog, data, &fine, &lookup);
        found.into_iter().for_each(|(name, rows)| windows.entry(name).or_default().extend(rows));
        let _ = Dslog.rows(data, &fine, &lookup, &mut |rows| {
            places += rows.len() as u64;
            Ok(())
        });
    }
    assert_eq!(rows, windows, "rows and those of windows");
    assert_eq!(places, index.samples(), "places and samples");
    check_times(&Dslog, data, index);
}

fn decode_in_pieces(data: &[u8]) {
    let (whole, whole_error) = in_pieces(|| StreamDecoder::new(ReadOptions::default().limits), data);
    let mut problems = Problems::default();
    if let Ok(index) = Dslog.index(data, &ReadOptions::default(), &mut problems)
        && whole_error.is_none()
    {
        let (mut whole, mut file) = (whole.lines, fuzzing::rows(&Dslog, data, &index, &Lookup::default()));
        // A stream does not know yet how the event is called.
        assert_eq!(
            whole.remove("/ds/match json").map(|rows| rows.len()),
            file.remove("/ds/match json").map(|rows| rows.len())
        );
        assert_eq!(whole, file, "the stream and the file");
    }
}
