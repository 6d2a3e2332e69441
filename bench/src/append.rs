//! Writing a WPILOG record by record, as a robot program does.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use logpose_core::Cursor;
use logpose_wpilog::{Entry, Header, Kind, Walk, Writer, boolean, double, double_array, string};

use crate::meter;
use crate::read::Line;
use crate::sums::Walked;

/// A robot appends in bursts: a few hundred records, then it waits.
const BURST: u32 = 400;
const ENTRIES: usize = 100;
const ARRAY: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
const TEXT: &str = "Auto: four piece centre";

/// Appends `n` records of each kind: doubles, booleans, arrays of eight doubles, texts. Without a path the bytes are
/// counted and dropped.
pub fn wpilog_append(path: Option<&Path>, n: u32) -> Line {
    match path {
        None => {
            let bytes = Rc::new(Cell::new(0));
            let line = run(Discard { bytes: Rc::clone(&bytes) }, n)?;
            Ok(format!("records={} bytes={} {line}", 4 * n, bytes.get()))
        }
        Some(path) => {
            let line = run(File::create(path)?, n)?;
            let log = meter::map(path)?;
            let mut cur = Cursor::new(&log, 0);
            Header::parse(&mut cur)?;
            let mut walked = Walked::default();
            Walk::new(1 << 20).run(&log, usize::try_from(cur.offset())?, log.len(), &mut walked);
            Ok(format!("{} bytes={} {line}", walked.sums()?, log.len()))
        }
    }
}

struct Discard {
    bytes: Rc<Cell<u64>>,
}

impl Write for Discard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.set(self.bytes.get() + bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn run<W: Write>(sink: W, n: u32) -> Line {
    let mut log = Writer::new(sink, "")?;
    let doubles = start(&mut log, "d", double)?;
    let arrays = start(&mut log, "da", double_array)?;
    let booleans = start(&mut log, "b", boolean)?;
    let texts = start(&mut log, "s", string)?;
    let time = |i: u32| 1_000_000 + i64::from(i) * 10;
    let line = [
        bursts("double", &mut log, n, |log, i, k| log.append(nth(&doubles, k), time(i), f64::from(i) * 0.5))?,
        bursts("bool", &mut log, n, |log, i, k| log.append(nth(&booleans, k), time(i), i & 1 == 1))?,
        bursts("double8", &mut log, n, |log, i, k| log.append(nth(&arrays, k), time(i), &ARRAY))?,
        bursts("string", &mut log, n, |log, i, k| log.append(nth(&texts, k), time(i), TEXT))?,
    ]
    .join(" ");
    log.flush()?;
    Ok(line)
}

fn start<W: Write, K: Kind + Copy>(log: &mut Writer<W>, name: &str, kind: K) -> io::Result<[Entry<K>; ENTRIES]> {
    let first = log.start(&format!("/{name}0"), kind, "", 1)?;
    let mut entries = [first; ENTRIES];
    for (i, entry) in entries.iter_mut().enumerate() {
        *entry = log.start(&format!("/{name}{i}"), kind, "", 1)?;
    }
    Ok(entries)
}

#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "k counts from 0 to 99, and a check would be part of the time")]
fn nth<K>(entries: &[Entry<K>; ENTRIES], k: usize) -> Entry<K> {
    entries[k]
}

/// Times bursts: the best (the first percentile), the median, and the mean of all of them, which has the writes to the
/// sink in it. One flush at the end counts for the mean too.
fn bursts<W: Write>(
    name: &str,
    log: &mut Writer<W>,
    n: u32,
    mut append: impl FnMut(&mut Writer<W>, u32, usize) -> io::Result<()>,
) -> Line {
    // The scratch memory of the writer grows with the first value that needs it.
    let mut times = Vec::with_capacity(n.div_ceil(BURST) as usize);
    let allocations = meter::allocations();
    let mut whole = Duration::ZERO;
    let mut i = 0;
    while i < n {
        let begun = Instant::now();
        let end = n.min(i + BURST);
        let mut k = 0;
        for i in i..end {
            append(log, i, k)?;
            k = if k + 1 == ENTRIES { 0 } else { k + 1 };
        }
        let elapsed = begun.elapsed();
        whole += elapsed;
        times.push(elapsed.as_secs_f64() * 1e9 / f64::from(end - i));
        i = end;
    }
    let begun = Instant::now();
    log.flush()?;
    whole += begun.elapsed();
    let allocations = meter::allocations() - allocations;
    times.sort_by(f64::total_cmp);
    let at = |i: usize| times.get(i).copied().unwrap_or(f64::NAN);
    let (best, median) = (at(times.len() / 100), at(times.len() / 2));
    let mean = whole.as_secs_f64() * 1e9 / f64::from(n);
    Ok(format!(
        "{name}_p1_ns={best:.2} {name}_median_ns={median:.2} {name}_mean_ns={mean:.2} {name}_allocations={allocations}"
    ))
}
