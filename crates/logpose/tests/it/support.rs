use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use logpose::core::{ChannelId, EncodeOptions, Lookup, Time, Value};
use logpose::{ConvertOptions, Error, Feed, Format, Log, OpenOptions, Order, Output, Quiet, Report, convert};
use logpose_demo::{DemoOptions, demo};
use logpose_testkit::{Events, encoded, kept};

/// One sample, owned: name, type, nanoseconds, payload.
pub(crate) type Row = (String, String, i64, Vec<u8>);

/// The demo logs, made once for all tests.
pub(crate) fn demo_dir() -> &'static Path {
    static DEMO: LazyLock<PathBuf> = LazyLock::new(|| {
        kept(env!("CARGO_TARGET_TMPDIR"), "library-demo", |dir| {
            demo(dir, &DemoOptions { teleop_s: 25, force: false }).unwrap();
        })
    });
    &DEMO
}

pub(crate) const DATALOG: &str = "FRC_20260321_142233_DEMO_Q12.wpilog";
pub(crate) const AKIT: &str = "akit_26-03-21_14-22-33_demo_q12.wpilog";
pub(crate) const R2: &str = "demo_q12.rlog";
pub(crate) const R1: &str = "demo_q12_r1.rlog";
pub(crate) const DAMAGED: &str = "damaged.wpilog";

pub(crate) fn open(path: &Path) -> Log {
    Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn open_demo(name: &str) -> Log {
    open(&demo_dir().join(name))
}

/// A log of one dialect, from channels and samples.
pub(crate) fn encode(dialect: &str, channels: &[(&str, &str)], samples: &[(ChannelId, Time, Value<'_>)]) -> Vec<u8> {
    encoded(Format::from_name(dialect).unwrap().encoder(&EncodeOptions::default()).unwrap(), channels, samples)
}

pub(crate) fn log_of(bytes: Vec<u8>) -> Log {
    Log::from_bytes("made.wpilog", bytes, &OpenOptions::default()).unwrap()
}

/// All samples of logs, in an order.
pub(crate) fn rows(logs: &[Log], lookups: Vec<Lookup>, order: Order) -> Vec<Row> {
    let feed = Feed::new(logs, lookups);
    let mut sink = Events::default();
    feed.run(order, &mut sink).unwrap();
    assert_eq!(sink.problems(), []);
    sink.rows()
}

/// All samples of a log, by channel and time, as other formats keep them: to the microsecond.
pub(crate) fn by_channel(log: Log) -> Vec<Row> {
    let mut rows = rows(&[log], Vec::new(), Order::Time);
    rows.iter_mut().for_each(|row| row.2 = row.2.div_euclid(1000));
    rows.sort_by(|a, b| (&a.0, &a.1, a.2).cmp(&(&b.0, &b.1, b.2)));
    rows
}

/// Converts to a file whose name says the format.
pub(crate) fn convert_to(
    logs: &[Log],
    lookups: Vec<Lookup>,
    path: &Path,
    options: &ConvertOptions,
) -> Result<Report, Error> {
    let (format, wrapper) = Format::from_path(path).expect("a name that shows its format");
    convert(logs, lookups, &format, Output::File { path, force: false, wrapper }, options, &Quiet)
}
