//! What the fuzz target calls. The ordinary tests run the same functions over all fixtures.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use logpose_core::fuzzing::{self, check_times, in_pieces, lines};
use logpose_core::{ChannelId, Columns, FileDialect, Index, Lookup, Problems, ReadOptions};

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
    let columns = Dslog.columns(data, &read, &mut Problems::default());
    let _ = Dslog.records(data, &read, 0, &mut |line| {
        assert!(!line.text.to_string().is_empty());
        ControlFlow::Continue(())
    });
    assert_eq!(index.is_ok(), columns.is_ok());
    let (Ok(index), Ok(columns)) = (index, columns) else { return };
    agree(data, &index, &columns);
    let light = Dslog.index(data, &ReadOptions { positions: false, ..read }, &mut Problems::default());
    let Ok(light) = light else { panic!("only an index with positions can be made") };
    assert!(!light.placed && light.samples() == index.samples(), "with positions and without");
    assert_eq!(
        fuzzing::rows(&Dslog, data, &index, &Lookup::default()),
        fuzzing::rows(&Dslog, data, &light, &Lookup::default())
    );
}

/// Rows, columns, what is gathered and what is found in windows must be the same.
fn agree(data: &[u8], index: &Index, columns: &Columns) {
    let rows = fuzzing::rows(&Dslog, data, index, &Lookup::default());
    assert_eq!(rows.values().map(Vec::len).sum::<usize>() as u64, index.samples(), "rows and index");
    assert_eq!(rows, lines(columns), "rows and columns");
    let names: Vec<_> = columns.columns.iter().map(|column| column.channel.name.clone()).collect();
    assert!(index.channels.iter().map(|c| &c.channel.name).eq(&names), "the order of channels");
    let ids: Vec<ChannelId> = (0..ChannelId::try_from(index.channels.len()).unwrap_or(0)).collect();
    if let Ok(gathered) = Dslog.gather(data, index, &ids, |_| {}) {
        assert_eq!(rows, lines(&gathered), "rows and what is gathered");
    }
    if let Ok(scanned) = Dslog.scan(data, index, &Lookup::default(), |_| {}) {
        assert_eq!(rows, lines(&scanned), "rows and what is scanned");
    }
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
