//! What several tests need: logs made by hand, and everything that was read as plain data.

use logpose_core::{Index, Problems, ReadOptions, Time};
pub(crate) use logpose_testkit::{Event, Events, Series, hex, in_columns, places};
use logpose_wpilog::{Control, Header, Record, Start, VERSION, Wpilog};

/// A log, put together record by record. Nothing is checked: what no writer would write can be made too.
#[derive(Clone, Debug)]
pub(crate) struct Build(pub(crate) Vec<u8>);

impl Build {
    pub(crate) fn new() -> Self {
        Self::with_extra("")
    }

    pub(crate) fn with_extra(extra: &str) -> Self {
        let mut out = Vec::new();
        Header { version: VERSION, extra: extra.as_bytes() }.emit(&mut out);
        Self(out)
    }

    /// The byte at which the next record will stand.
    pub(crate) fn at(&self) -> u64 {
        self.0.len() as u64
    }

    pub(crate) fn start(self, entry: u32, name: &str, type_name: &str, metadata: &str, time: i64) -> Self {
        let (name, type_name, metadata) = (name.as_bytes(), type_name.as_bytes(), metadata.as_bytes());
        self.control(&Control::Start(Start { entry, name, type_name, metadata, exact: true }), time)
    }

    pub(crate) fn finish(self, entry: u32, time: i64) -> Self {
        self.control(&Control::Finish { entry }, time)
    }

    pub(crate) fn metadata(self, entry: u32, metadata: &str, time: i64) -> Self {
        self.control(&Control::SetMetadata { entry, metadata: metadata.as_bytes() }, time)
    }

    pub(crate) fn control(self, control: &Control<'_>, time: i64) -> Self {
        let mut payload = Vec::new();
        control.emit(&mut payload);
        self.data(0, time, &payload)
    }

    pub(crate) fn data(mut self, entry: u32, timestamp: i64, payload: &[u8]) -> Self {
        Record { entry, timestamp, payload }.emit(&mut self.0);
        self
    }

    pub(crate) fn double(self, entry: u32, timestamp: i64, value: f64) -> Self {
        self.data(entry, timestamp, &value.to_le_bytes())
    }

    pub(crate) fn int(self, entry: u32, timestamp: i64, value: i64) -> Self {
        self.data(entry, timestamp, &value.to_le_bytes())
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// The index of a log and what was odd about it.
pub(crate) fn index_with(log: &[u8], read: &ReadOptions<'_>) -> (Index, Problems) {
    logpose_testkit::index_with(&Wpilog, log, read)
}

/// The index of a log, and the codes and places of what was odd about it.
pub(crate) fn index(log: &[u8]) -> (Index, Vec<(&'static str, u64)>) {
    let (index, problems) = logpose_testkit::index(&Wpilog, log);
    (index, places(&problems))
}

/// The same with the search for records behind damage.
pub(crate) fn salvage(log: &[u8]) -> (Index, Vec<(&'static str, u64)>) {
    let (index, problems) = logpose_testkit::salvaged(&Wpilog, log);
    (index, places(&problems))
}

pub(crate) fn replay(log: &[u8], index: &Index) -> Events {
    logpose_testkit::replayed(&Wpilog, log, index)
}

/// All samples, by replaying the log.
pub(crate) fn replayed(log: &[u8]) -> Series {
    replay(log, &index(log).0).series()
}

/// All samples, through the stream decoder, which gets its bytes in pieces.
pub(crate) fn streamed(log: &[u8], piece: usize) -> Events {
    logpose_testkit::streamed(&Wpilog, log, piece).0
}

/// The log, read through the index and written again.
pub(crate) fn rewritten(log: &[u8]) -> Vec<u8> {
    logpose_testkit::rewritten(&Wpilog, log)
}

/// A time in the model, of microseconds on the wire.
pub(crate) fn us(micros: i64) -> i64 {
    Time::from_micros(micros).nanos()
}

/// Names and types of the channels, with their samples and metadata.
pub(crate) fn channels(index: &Index) -> Vec<(&str, &str, u64, &str)> {
    index.channels.iter().map(|c| (&*c.channel.name, &*c.channel.type_name, c.samples, &*c.channel.metadata)).collect()
}

/// The logs in a folder of fixtures, by name.
pub(crate) fn logs_in(folder: &str) -> Vec<(String, Vec<u8>)> {
    crate::fixtures::FIXTURES.logs(folder)
}
