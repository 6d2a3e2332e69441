use logpose_core::{ChannelId, Sample, Sink, SinkError, Time, Type};

use crate::store::value;

/// Samples on their way to a sink: their payloads lie in one buffer, because values borrow.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    payloads: Vec<u8>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    channel: ChannelId,
    time: Time,
    ty: Type,
    /// Where its payload ends; it begins where the one before ends.
    end: usize,
}

/// Why rows could not be pushed.
#[derive(Debug)]
pub(crate) enum PushError {
    /// The table is not as it should be, in a sentence.
    Format(String),
    /// The sink takes no more.
    Sink(SinkError),
}

impl PushError {
    pub(crate) fn of(error: impl std::fmt::Display) -> Self {
        Self::Format(error.to_string())
    }
}

impl From<SinkError> for PushError {
    fn from(error: SinkError) -> Self {
        Self::Sink(error)
    }
}

impl Stage {
    /// Adds a sample with the payload that `emit` appends; false, and no sample, if it says so or it is not a value.
    pub(crate) fn push(
        &mut self,
        channel: ChannelId,
        time: Time,
        ty: Type,
        emit: impl FnOnce(&mut Vec<u8>) -> bool,
    ) -> bool {
        let start = self.payloads.len();
        let whole =
            emit(&mut self.payloads) && self.payloads.get(start..).is_some_and(|payload| value(ty, payload).is_some());
        if whole {
            self.rows.push(Row { channel, time, ty, end: self.payloads.len() });
        } else {
            self.payloads.truncate(start);
        }
        whole
    }

    /// Gives the samples to a sink if there are many.
    pub(crate) fn flush_full(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if self.rows.len() < BATCH && self.payloads.len() < BYTES { Ok(()) } else { self.flush(sink) }
    }

    /// Gives the samples to a sink.
    pub(crate) fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut start = 0;
        let samples = self.rows.iter().filter_map(|row| {
            let payload = self.payloads.get(start..row.end)?;
            start = row.end;
            Some(Sample { channel: row.channel, time: row.time, value: value(row.ty, payload)? })
        });
        let result = sink.samples(&samples.collect::<Vec<_>>());
        self.payloads.clear();
        self.rows.clear();
        result
    }
}

const BATCH: usize = 4096;
const BYTES: usize = 1 << 20;
