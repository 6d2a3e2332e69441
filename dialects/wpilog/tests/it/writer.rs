//! What the writer promises beyond the bytes of single records, which `vectors.rs` has.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use logpose_wpilog::{Reader, Writer, double, int64, raw, string};

/// A sink that can be looked into, and that notes how it was called.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    writes: Vec<usize>,
    flushes: usize,
    full: bool,
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.borrow_mut();
        if state.full {
            return Err(io::Error::other("the disk is full"));
        }
        state.bytes.extend_from_slice(bytes);
        state.writes.push(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flushes += 1;
        Ok(())
    }
}

fn records(log: &[u8]) -> usize {
    let records: Result<Vec<_>, _> = Reader::new(log).unwrap().collect();
    records.unwrap().len()
}

#[test]
fn whatever_is_in_the_sink_ends_on_a_record() {
    let sink = Shared::default();
    let mut log = Writer::new(sink.clone(), "").unwrap();
    let (number, bytes) = (log.start("number", double, "", 1).unwrap(), log.start("bytes", raw, "", 1).unwrap());
    let mut seen = 0;
    for i in 0..60_000_i64 {
        log.append(number, i * 20_000, 0.5).unwrap();
        if i % 100 == 0 {
            log.append(bytes, i, &vec![7; usize::try_from(i).unwrap() % 3000]).unwrap();
        }
        let state = sink.0.borrow();
        if state.writes.len() > seen {
            seen = state.writes.len();
            records(&state.bytes);
        }
    }
    assert!(seen > 3, "the buffer was full a few times");
    let writes = sink.0.borrow().writes.clone();
    assert!(writes.iter().skip(1).all(|n| *n > 200 << 10), "the sink is called when 256 KiB are full: {writes:?}");
    let sink = log.into_inner().unwrap();
    assert_eq!(records(&sink.0.borrow().bytes), 2 + 60_000 + 600);
}

#[test]
fn a_value_larger_than_the_buffer_stays_in_its_place() {
    let mut log = Writer::new(Vec::new(), "").unwrap();
    let (before, big) = (log.start("before", int64, "", 1).unwrap(), log.start("big", raw, "", 1).unwrap());
    log.append(before, 2, 1).unwrap();
    log.append(big, 3, &vec![9; 1 << 20]).unwrap();
    log.append(before, 4, 2).unwrap();
    let log = log.into_inner().unwrap();
    let times: Vec<i64> = Reader::new(&log).unwrap().map(|record| record.unwrap().timestamp).collect();
    assert_eq!(times, [1, 1, 2, 3, 4]);
}

#[test]
fn flush_reaches_the_sink() {
    let sink = Shared::default();
    let mut log = Writer::new(sink.clone(), "").unwrap();
    let entry = log.start("a", int64, "", 1).unwrap();
    log.append(entry, 2, 3).unwrap();
    assert_eq!(records(&sink.0.borrow().bytes), 0, "still in the buffer");
    log.flush().unwrap();
    assert_eq!((records(&sink.0.borrow().bytes), sink.0.borrow().flushes), (2, 1));
}

#[test]
fn a_dropped_writer_leaves_all_its_records() {
    let sink = Shared::default();
    let mut log = Writer::new(sink.clone(), "").unwrap();
    let entry = log.start("a", int64, "", 1).unwrap();
    log.append(entry, 2, 3).unwrap();
    drop(log);
    assert_eq!(records(&sink.0.borrow().bytes), 2);
}

#[test]
fn a_full_disk_is_an_error_and_no_panic() {
    let sink = Shared::default();
    let mut log = Writer::new(sink.clone(), "").unwrap();
    let entry = log.start("a", int64, "", 1).unwrap();
    sink.0.borrow_mut().full = true;
    let failed = (0..100_000).find_map(|i| log.append(entry, i, i).err());
    assert_eq!(failed.unwrap().to_string(), "the disk is full");
    assert!(log.flush().is_err());
    drop(log);
}

#[test]
fn a_live_name_has_one_type() {
    let mut log = Writer::new(Vec::new(), "").unwrap();
    let a = log.start("a", double, "", 1).unwrap();
    let refused = log.start("a", string, "", 2).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(refused.to_string(), r#""a" is live with type "double" and cannot be started as "string""#);
    log.finish(a, 3).unwrap();
    assert_eq!(log.start("a", string, "", 4).unwrap().id(), 1);
    let log = log.into_inner().unwrap();
    assert_eq!(records(&log), 3, "the refused Start wrote nothing");
}

#[test]
fn starting_a_live_name_again_writes_nothing() {
    let mut log = Writer::new(Vec::new(), "").unwrap();
    let first = log.start("a", double, "", 1).unwrap();
    let again = log.start("a", double, "other metadata", 2).unwrap();
    assert_eq!(first.id(), again.id());
    assert_eq!(records(&log.into_inner().unwrap()), 1);
}

#[test]
fn finishing_twice_writes_once() {
    let mut log = Writer::new(Vec::new(), "").unwrap();
    let entry = log.start("a", double, "", 1).unwrap();
    log.finish(entry, 2).unwrap();
    log.finish(entry, 3).unwrap();
    assert_eq!(records(&log.into_inner().unwrap()), 2);
}
