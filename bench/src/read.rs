//! Reading: the walk, the index, the columns. Opening and mapping the file is part of the time, as it is for the
//! peers; checking what came out is not.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use logpose::{Log, OpenOptions, Quiet};
use logpose_core::{FileDialect, Problems, ReadOptions, Row, Severity, Value, Widths};
use logpose_wpilog::collect;

use crate::meter::{self, Memory};
use crate::sums::{Sums, Walked};

/// What a job prints: a line of `key=value`.
pub type Line = Result<String, Box<dyn Error>>;

/// Time, allocations and memory from a start to now.
pub(crate) struct Work {
    begun: Instant,
    allocations: u64,
}

impl Work {
    pub(crate) fn begin() -> Self {
        Self { allocations: meter::allocations(), begun: Instant::now() }
    }

    /// Ends the time. The records of most jobs are counted only later, so the runner makes the allocations per
    /// million records of this.
    pub(crate) fn end(&self) -> String {
        let elapsed: Duration = self.begun.elapsed();
        let allocations = meter::allocations() - self.allocations;
        let Memory { peak, anonymous } = Memory::now();
        format!(
            "work_ns={} allocations={allocations} peak_bytes={peak} anonymous_bytes={anonymous}",
            elapsed.as_nanos()
        )
    }
}

pub(crate) fn how(threads: usize) -> ReadOptions<'static> {
    OpenOptions { threads, ..OpenOptions::default() }.read()
}

/// Visits every record of a WPILOG and adds up its values.
pub fn wpilog_sum(path: &Path, threads: usize) -> Line {
    let mut problems = Problems::default();
    let work = Work::begin();
    let log = meter::map(path)?;
    let found = collect::<Walked>(&log, &how(threads), &mut problems)?;
    let sums = found.product.sums()?;
    let end = work.end();
    no_damage(&problems)?;
    Ok(format!("{sums} control={} {end}", found.product.control))
}

/// Makes the index of a log.
pub fn index(dialect: &dyn FileDialect, path: &Path, threads: usize) -> Line {
    let mut problems = Problems::default();
    let work = Work::begin();
    let log = meter::map(path)?;
    let index = dialect.index(&log, &how(threads), &mut problems)?;
    let end = work.end();
    no_damage(&problems)?;
    let bytes: usize =
        index.channels.iter().map(|c| c.positions.memory()).sum::<usize>() + size_of_val(index.marks.as_slice());
    // Whether every record is where the index says.
    let mut sums = Sums::default();
    let (mut at, mut times, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (id, channel) in (0..).zip(&index.channels) {
        let mut places = channel.positions.iter().peekable();
        while places.peek().is_some() {
            at.clear();
            times.clear();
            rows.clear();
            at.extend(places.by_ref().take(4096));
            dialect.times(&log, &index, &at, &mut times)?;
            rows.extend(at.iter().zip(&times).map(|(at, time)| Row { time: *time, at: *at, channel: id }));
            dialect.samples(&log, &index, &rows, &mut |samples| {
                samples.iter().for_each(|sample| sums.add(&channel.channel.type_name, sample.time, &sample.value));
                Ok(())
            })?;
        }
    }
    if index.samples() != sums.records + sums.schema {
        return Err(
            format!("the index counts {} samples, {} are there", index.samples(), sums.records + sums.schema).into()
        );
    }
    Ok(format!("{sums} index_bytes={bytes} {end}"))
}

/// Makes the columns of all channels, as commands do: it opens the log and scans it.
pub fn columns(path: &Path, threads: usize) -> Line {
    let work = Work::begin();
    let log = open(path, threads)?;
    let columns = log.all_columns()?;
    let end = work.end();
    no_damage(&log.problems)?;
    let decoded: usize = columns
        .columns
        .iter()
        .flat_map(|column| &column.chunks)
        .map(|chunk| {
            let offsets = if matches!(chunk.widths(), Widths::Offsets(_)) { 4 * (chunk.rows as usize + 1) } else { 0 };
            chunk.times_range().len() + offsets + columns.payloads(chunk).map(<[u8]>::len).sum::<usize>()
        })
        .sum();
    Ok(format!("{} decoded_bytes={decoded} held_bytes={} {end}", Sums::of(&columns), columns.held()))
}

/// Opens a file of any format as a user of the library does, and adds up all its values.
pub fn open_and_sum(path: &Path, threads: usize) -> Line {
    let work = Work::begin();
    let log = open(path, threads)?;
    let sums = Sums::of(&log.all_columns()?);
    let end = work.end();
    no_damage(&log.problems)?;
    Ok(format!("{sums} {end}"))
}

/// Writes the mean of every channel of numbers as CSV, the others with nothing: what SQL must find.
pub fn means(path: &Path, out: &Path) -> Line {
    let columns = open(path, 0)?.all_columns()?;
    let mut rows = String::from("channel,mean\n");
    for column in &columns.columns {
        let (mut sum, mut count) = (0.0, 0.0);
        for (_, value) in columns.samples(column) {
            sum += match value {
                Value::Double(x) => x,
                Value::Float(x) => x.into(),
                _ => continue,
            };
            count += 1.0;
        }
        let mean = if count > 0.0 { format!("{:?}", sum / count) } else { String::new() };
        writeln!(rows, "{},{mean}", column.channel.name)?;
    }
    std::fs::write(out, rows)?;
    Ok(format!("channels={}", columns.columns.len()))
}

fn open(path: &Path, threads: usize) -> Result<Log, logpose::Error> {
    Log::open_with(path, &OpenOptions { threads, ..OpenOptions::default() }, &Quiet)
}

/// The inputs are whole. A note is no matter: an RLOG made from a WPILOG has times that AdvantageScope dislikes.
pub(crate) fn no_damage(problems: &Problems) -> Result<(), Box<dyn Error>> {
    match problems.list().iter().find(|problem| problem.severity == Severity::Damage) {
        Some(problem) => Err(format!("the input is whole, but: {problem}").into()),
        None => Ok(()),
    }
}
