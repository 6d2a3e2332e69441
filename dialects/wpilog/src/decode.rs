use std::collections::HashMap;

use logpose_core::{
    Channel, ChannelId, Cursor, Decode, Layout, Limits, Problem, Sample, Severity, Sink, StreamError, Time, Type,
    Value, first_word,
};

use crate::error::Error;
use crate::reader::{header_in_stream, next_in_stream};
use crate::wire::{Control, MAGIC_1_0, Record, metadata_of_2022};

/// A log that arrives in pieces, to samples. Data whose Start has not come yet are held back for it.
#[derive(Debug)]
pub(crate) struct StreamDecoder {
    limits: Limits,
    offset: u64,
    header: bool,
    entries: HashMap<u32, Entry>,
    /// Channels by name and type.
    channels: HashMap<(String, String), ChannelId>,
    early: Vec<EarlyRecord>,
    early_bytes: usize,
    /// The run of zero bytes that is going on: where it began, where it ends so far.
    zeros: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    channel: ChannelId,
    ty: Type,
    live: bool,
}

/// A record that came before the Start of its entry.
#[derive(Debug)]
struct EarlyRecord {
    at: u64,
    entry: u32,
    timestamp: i64,
    payload: Vec<u8>,
}

impl StreamDecoder {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            offset: 0,
            header: false,
            entries: HashMap::new(),
            channels: HashMap::new(),
            early: Vec::new(),
            early_bytes: 0,
            zeros: None,
        }
    }

    /// Reads whole records from the front of `input`; returns how many bytes they took.
    fn read<'a>(
        &mut self,
        input: &'a [u8],
        sink: &mut dyn Sink,
        batch: &mut Vec<Sample<'a>>,
    ) -> Result<usize, StreamError> {
        let mut cur = Cursor::new(input, self.offset);
        let limit = self.limits.record_len;
        if !self.header {
            match header_in_stream(&mut cur, limit).map_err(decode)? {
                Some(_) => self.header = true,
                None => return Ok(0),
            }
        }
        loop {
            let at = cur.offset();
            if first_word(cur.rest()) == MAGIC_1_0 {
                let mut behind = cur;
                match header_in_stream(&mut behind, limit) {
                    Ok(Some(header)) => {
                        self.report_zeros(sink);
                        let message = "a second log starts here: two files were written into one; reading both";
                        let len = header.len() as u64;
                        sink.problem(Problem::new(Severity::Warning, "second-header", at, len, message));
                        cur = behind;
                        continue;
                    }
                    Ok(None) => break,
                    Err(error) => {
                        flush(batch, sink)?;
                        return Err(decode(error));
                    }
                }
            }
            if self.zero_fill(&mut cur, sink) {
                continue;
            }
            match next_in_stream(&mut cur, limit) {
                Ok(Some(record)) => self.record(at, record, sink, batch)?,
                Ok(None) => break,
                Err(error) => {
                    flush(batch, sink)?;
                    return Err(decode(error));
                }
            }
            if batch.len() >= 1024 {
                flush(batch, sink)?;
            }
        }
        flush(batch, sink)?;
        Ok(input.len() - cur.rest().len())
    }

    /// Skips zero bytes where records should be, four at a time. A run of them is one problem, not one for each.
    fn zero_fill(&mut self, cur: &mut Cursor<'_>, sink: &mut dyn Sink) -> bool {
        let at = cur.offset();
        let zeros = cur.rest().iter().take_while(|byte| **byte == 0).count() as u64;
        let run = zeros - zeros % 4;
        if run > 0 && cur.take(run, "zero bytes").is_ok() {
            let start = self.zeros.map_or(at, |(start, _)| start);
            self.zeros = Some((start, at + run));
            return true;
        }
        if !cur.is_empty() && zeros < cur.rest().len() as u64 {
            self.report_zeros(sink);
        }
        false
    }

    fn report_zeros(&mut self, sink: &mut dyn Sink) {
        if let Some((start, end)) = self.zeros.take() {
            sink.problem(zero_bytes(start, end - start));
        }
    }

    fn record<'a>(
        &mut self,
        at: u64,
        record: Record<'a>,
        sink: &mut dyn Sink,
        batch: &mut Vec<Sample<'a>>,
    ) -> Result<(), StreamError> {
        let time = Time::from_micros(record.timestamp);
        if let Some(control) = record.control() {
            flush(batch, sink)?;
            return self.control(at, control, record.payload.len(), time, sink);
        }
        let Some(entry) = self.entries.get(&record.entry).copied() else {
            self.hold(at, record, sink);
            return Ok(());
        };
        if !entry.live {
            sink.problem(Problem::new(
                Severity::Warning,
                "after-finish",
                at,
                0,
                format!("a record of entry {} after its Finish; kept", record.entry),
            ));
        }
        match Value::parse(entry.ty, record.payload, Layout::Little) {
            Ok(value) => batch.push(Sample { channel: entry.channel, time, value }),
            Err(misfit) => match metadata_of_2022(record.entry, record.payload) {
                Some(metadata) => {
                    flush(batch, sink)?;
                    sink.metadata(entry.channel, time, &String::from_utf8_lossy(metadata))?;
                }
                None => sink.problem(Problem::new(
                    Severity::Damage,
                    "bad-value",
                    at,
                    record.payload.len() as u64,
                    format!("invalid value of entry {}: {misfit}; skipped", record.entry),
                )),
            },
        }
        Ok(())
    }

    fn control(
        &mut self,
        at: u64,
        control: Control<'_>,
        size: usize,
        time: Time,
        sink: &mut dyn Sink,
    ) -> Result<(), StreamError> {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        match control {
            Control::Start(start) => {
                let channel =
                    Channel { metadata: text(start.metadata), ..Channel::new(text(start.name), text(start.type_name)) };
                let ty = channel.ty();
                let next = ChannelId::try_from(self.channels.len()).unwrap_or(ChannelId::MAX);
                let key = (channel.name.clone(), channel.type_name.clone());
                if next >= self.limits.channels && !self.channels.contains_key(&key) {
                    sink.problem(Problem::new(
                        Severity::Damage,
                        "too-many-entries",
                        at,
                        size as u64,
                        format!("too many entries; skipped {:?}", channel.name),
                    ));
                    return Ok(());
                }
                let id = *self.channels.entry(key).or_insert(next);
                if id == next {
                    sink.channel(id, &channel)?;
                } else {
                    sink.metadata(id, time, &channel.metadata)?;
                }
                self.entries.insert(start.entry, Entry { channel: id, ty, live: true });
                self.release(start.entry, sink)?;
            }
            Control::Finish { entry } => match self.entries.get_mut(&entry).filter(|entry| entry.live) {
                Some(entry) => {
                    entry.live = false;
                    sink.end(entry.channel, time)?;
                }
                None => {
                    let message = format!("Finish of entry {entry}, which is not live");
                    sink.problem(Problem::new(Severity::Note, "finish-unknown", at, size as u64, message));
                }
            },
            Control::SetMetadata { entry, metadata } => match self.entries.get(&entry).filter(|entry| entry.live) {
                Some(entry) => sink.metadata(entry.channel, time, &text(metadata))?,
                None => {
                    let message = format!("SetMetadata of entry {entry}, which is not live");
                    sink.problem(Problem::new(Severity::Note, "metadata-unknown", at, size as u64, message));
                }
            },
            Control::Unknown { .. } if size == 0 && time == Time::ZERO => {
                sink.problem(zero_bytes(at, 4)); // wider fields than four zero bytes, all of them zero
            }
            Control::Unknown { .. } => {
                sink.problem(Problem::new(
                    Severity::Warning,
                    "unknown-control",
                    at,
                    size as u64,
                    "a control record that is not Start, Finish or SetMetadata; skipped",
                ));
            }
        }
        Ok(())
    }

    fn hold(&mut self, at: u64, record: Record<'_>, sink: &mut dyn Sink) {
        let size = record.payload.len() + size_of::<EarlyRecord>();
        if self.early_bytes + size > self.limits.held_back {
            sink.problem(Problem::new(
                Severity::Damage,
                "unknown-entry",
                at,
                record.payload.len() as u64,
                format!("a record of entry {}, which was never started; skipped", record.entry),
            ));
            return;
        }
        self.early_bytes += size;
        self.early.push(EarlyRecord {
            at,
            entry: record.entry,
            timestamp: record.timestamp,
            payload: record.payload.to_vec(),
        });
    }

    /// Hands on the records that waited for this entry.
    fn release(&mut self, entry: u32, sink: &mut dyn Sink) -> Result<(), StreamError> {
        if self.early.is_empty() {
            return Ok(());
        }
        let (now, still): (Vec<EarlyRecord>, Vec<EarlyRecord>) =
            std::mem::take(&mut self.early).into_iter().partition(|early| early.entry == entry);
        self.early = still;
        let mut batch = Vec::with_capacity(now.len());
        for early in &now {
            self.early_bytes -= early.payload.len() + size_of::<EarlyRecord>();
            let record = Record { entry, timestamp: early.timestamp, payload: &early.payload };
            self.record(early.at, record, sink, &mut batch)?;
        }
        flush(&mut batch, sink)
    }
}

impl Decode for StreamDecoder {
    fn decode(&mut self, input: &[u8], sink: &mut dyn Sink) -> Result<usize, StreamError> {
        let used = self.read(input, sink, &mut Vec::with_capacity(1024))?;
        self.offset += used as u64;
        Ok(used)
    }

    fn finish(&mut self, rest: &[u8], sink: &mut dyn Sink) -> Result<(), StreamError> {
        if !self.header {
            crate::wire::Header::parse(&mut Cursor::new(rest, self.offset)).map_err(decode)?;
        }
        for early in std::mem::take(&mut self.early) {
            sink.problem(Problem::new(
                Severity::Damage,
                "unknown-entry",
                early.at,
                early.payload.len() as u64,
                format!("a record of entry {}, which is never started; skipped", early.entry),
            ));
        }
        self.early_bytes = 0;
        if rest.iter().all(|byte| *byte == 0) {
            if !rest.is_empty() {
                let start = self.zeros.map_or(self.offset, |(start, _)| start);
                self.zeros = Some((start, self.offset + rest.len() as u64));
            }
            self.report_zeros(sink);
        } else {
            let why = Record::parse(&mut Cursor::new(rest, self.offset))
                .err()
                .map_or_else(String::new, |error| format!("{}; ", error.kind));
            sink.problem(Problem::new(
                Severity::Damage,
                "truncated",
                self.offset,
                rest.len() as u64,
                format!("{why}skipped the last {} bytes", rest.len()),
            ));
        }
        Ok(())
    }
}

fn zero_bytes(at: u64, len: u64) -> Problem {
    let message = format!("{len} zero bytes instead of records, as after a power loss");
    Problem::new(Severity::Damage, "zero-fill", at, len, message)
}

fn flush(batch: &mut Vec<Sample<'_>>, sink: &mut dyn Sink) -> Result<(), StreamError> {
    if !batch.is_empty() {
        sink.samples(batch)?;
        batch.clear();
    }
    Ok(())
}

fn decode(error: Error) -> StreamError {
    StreamError::Decode(error.into())
}
