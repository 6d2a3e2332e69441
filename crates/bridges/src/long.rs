//! What Parquet and Arrow files share: a row for each sample, and the header that gives back the same log.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, new_null_array};
use arrow_schema::Schema;
use logpose_core::{
    Channel, ChannelId, EncodeError, Layout, Problem, Problems, Sample, Severity, Sink, SinkError, Time, Type,
};
use logpose_model::long::{self, Reader};

use crate::cast::cast;
use crate::header::{Event, What};
use crate::stage::{PushError, Stage};
use crate::{Header, Piece};

/// The rows and events of one piece of a file.
pub(crate) struct Rows {
    rows: long::Rows,
    events: Vec<Event>,
    /// The channels that the file has.
    known: usize,
    dialect: &'static str,
}

impl Rows {
    pub(crate) fn new(channels: &[Channel], dialect: &'static str) -> Self {
        Self { rows: long::Rows::new(channels), events: Vec::new(), known: channels.len(), dialect }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes()
    }

    /// What was collected: the rows, and the events with their rows counted from the first of these.
    pub(crate) fn finish(&mut self) -> (RecordBatch, Vec<Event>) {
        (self.rows.finish(), std::mem::take(&mut self.events))
    }

    fn event(&mut self, channel: ChannelId, what: What) -> Result<(), SinkError> {
        self.events.push(Event { row: self.rows.len() as u64, channel, what });
        Ok(())
    }
}

impl Sink for Rows {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        if id as usize >= self.known {
            let message = "is missing from the file header".to_owned();
            return Err(EncodeError::new(self.dialect, &channel.name, message).into());
        }
        self.event(id, What::Start(channel.metadata.clone()))
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.rows.samples(samples)
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.event(id, What::Metadata(time, metadata.to_owned()))
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.event(id, What::End(time))
    }

    fn problem(&mut self, problem: Problem) {
        self.rows.problem(problem);
    }
}

/// How a format encodes the rows of a piece.
pub trait RowEncoder: Send {
    /// What becomes of them.
    type Encoded: Send;

    /// Encodes rows; says how many bytes they take now.
    fn encode(&self, rows: &RecordBatch) -> Result<(Self::Encoded, usize), SinkError>;
}

/// A piece of a file that has a row for each sample: collected first, and encoded when it is sealed.
pub struct RowsPiece<E: RowEncoder> {
    rows: Rows,
    encoder: E,
    sealed: Option<Sealed<E::Encoded>>,
}

struct Sealed<T> {
    encoded: T,
    events: Vec<Event>,
    rows: usize,
    bytes: usize,
}

impl<E: RowEncoder> RowsPiece<E> {
    pub(crate) fn new(rows: Rows, encoder: E) -> Self {
        Self { rows, encoder, sealed: None }
    }

    /// What was encoded, once its events stand in the ledger.
    pub(crate) fn hand_over(mut self, ledger: &mut Ledger) -> Result<Option<E::Encoded>, SinkError> {
        self.seal()?;
        let Some(sealed) = self.sealed else { return Ok(None) };
        ledger.append(sealed.events, sealed.rows);
        Ok(Some(sealed.encoded))
    }
}

impl<E: RowEncoder> Piece for RowsPiece<E> {
    fn size(&self) -> usize {
        self.sealed.as_ref().map_or_else(|| self.rows.bytes(), |sealed| sealed.bytes)
    }

    fn rows(&self) -> usize {
        self.sealed.as_ref().map_or_else(|| self.rows.len(), |sealed| sealed.rows)
    }

    fn seal(&mut self) -> Result<(), SinkError> {
        if self.sealed.is_none() {
            let (batch, events) = self.rows.finish();
            let (encoded, bytes) = self.encoder.encode(&batch)?;
            self.sealed = Some(Sealed { encoded, events, rows: batch.num_rows(), bytes });
        }
        Ok(())
    }
}

impl<E: RowEncoder> Sink for RowsPiece<E> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.rows.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.rows.samples(samples)
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.rows.metadata(id, time, metadata)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.rows.end(id, time)
    }

    fn problem(&mut self, problem: Problem) {
        self.rows.problem(problem);
    }
}

/// The header of a file while its pieces are appended.
pub(crate) struct Ledger {
    pub(crate) header: Arc<Header>,
    events: Vec<Event>,
    started: Vec<bool>,
    rows: u64,
}

impl Ledger {
    pub(crate) fn new(header: Header) -> Self {
        let started = vec![false; header.channels.len()];
        Self { header: Arc::new(header), events: Vec::new(), started, rows: 0 }
    }

    /// Notes the events of the next piece. Each piece hears of every channel anew; only the first time counts.
    pub(crate) fn append(&mut self, events: Vec<Event>, rows: usize) {
        for mut event in events {
            let started = self.started.get_mut(event.channel as usize);
            let again = started.is_some_and(|started| std::mem::replace(started, true));
            if again && matches!(event.what, What::Start(_)) {
                continue;
            }
            event.row += self.rows;
            self.events.push(event);
        }
        self.rows += rows as u64;
    }

    pub(crate) fn to_json(&self) -> String {
        self.header.to_json(&self.events)
    }
}

/// The way back: rows to samples, with the events in their places.
pub(crate) struct Import {
    header: Header,
    events: std::iter::Peekable<std::vec::IntoIter<Event>>,
    names: HashMap<String, ChannelId>,
    types: Vec<Type>,
    started: Vec<bool>,
    row: u64,
    stage: Stage,
    scratch: Vec<u8>,
    lost: u64,
}

impl Import {
    pub(crate) fn new(header: Header, mut events: Vec<Event>) -> Self {
        events.retain(|event| (event.channel as usize) < header.channels.len());
        events.sort_by_key(|event| event.row);
        Self {
            events: events.into_iter().peekable(),
            names: logpose_model::names(&header.channels).into_iter().zip(0..).collect(),
            types: header.channels.iter().map(Channel::ty).collect(),
            started: vec![false; header.channels.len()],
            row: 0,
            stage: Stage::default(),
            scratch: Vec::new(),
            lost: 0,
            header,
        }
    }

    /// Pushes the samples of some rows.
    pub(crate) fn push(&mut self, batch: &RecordBatch, sink: &mut dyn Sink) -> Result<(), PushError> {
        let batch = normal(batch, &self.header)?;
        let reader = Reader::new(&batch).map_err(PushError::of)?;
        let ids: Vec<Option<ChannelId>> = reader.names().iter().map(|name| self.names.get(name?).copied()).collect();
        for row in 0..reader.len() {
            while let Some(event) = self.events.next_if(|event| event.row <= self.row) {
                self.event(event, sink)?;
            }
            self.row += 1;
            let Some(id) = reader.channel(row).and_then(|key| ids.get(key).copied().flatten()) else {
                self.lost += 1;
                continue;
            };
            if !self.started.get(id as usize).copied().unwrap_or(false) {
                self.start(id, None, sink)?;
            }
            let Some(ty) = self.types.get(id as usize).copied() else { continue };
            match reader.value(row, ty, &mut self.scratch) {
                Some(value) => {
                    self.stage.push(id, reader.time(row), ty, |out| {
                        value.emit(Layout::Little, out);
                        true
                    });
                }
                None => self.lost += 1,
            }
            self.stage.flush_full(sink)?;
        }
        Ok(self.stage.flush(sink)?)
    }

    /// The events behind the last row, and the channels that had nothing.
    pub(crate) fn finish(mut self, problems: &mut Problems, sink: &mut dyn Sink) -> Result<Header, SinkError> {
        self.stage.flush(sink)?;
        while let Some(event) = self.events.next() {
            self.event(event, sink)?;
        }
        for (id, channel) in (0..).zip(&self.header.channels) {
            if !self.started.get(id as usize).copied().unwrap_or(true) {
                sink.channel(id, channel)?;
            }
        }
        if self.lost > 0 {
            let message =
                format!("skipped {} rows without a channel of the header or with a value of another type", self.lost);
            problems.push(Problem::general(Severity::Damage, "bad-row", message));
        }
        Ok(self.header)
    }

    #[cold]
    fn event(&mut self, event: Event, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let id = event.channel;
        let known = self.started.get(id as usize).copied().unwrap_or(false);
        self.stage.flush(sink)?;
        match event.what {
            What::Start(_) if known => Ok(()),
            What::Start(metadata) => self.start(id, Some(metadata), sink),
            What::Metadata(time, metadata) => {
                if !known {
                    self.start(id, None, sink)?;
                }
                sink.metadata(id, time, &metadata)
            }
            What::End(time) if known => sink.end(id, time),
            What::End(_) => Ok(()),
        }
    }

    #[cold]
    fn start(&mut self, id: ChannelId, metadata: Option<String>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.stage.flush(sink)?;
        if let Some(started) = self.started.get_mut(id as usize) {
            *started = true;
        }
        let Some(channel) = self.header.channels.get(id as usize) else { return Ok(()) };
        let mut channel = channel.clone();
        if let Some(metadata) = metadata {
            channel.metadata = metadata;
        }
        sink.channel(id, &channel)
    }
}

/// Whether a table has what the rows of a log need. A log of one channel does not need its name in every row.
pub(crate) fn is_long(schema: &Schema, header: &Header) -> bool {
    let has = |name| schema.column_with_name(name).is_some();
    has("time_ns") && (has("channel") || header.channels.len() == 1 && !has("value"))
}

/// The batch with the columns that we write, in our types: others may have copied it with types of their own.
fn normal(batch: &RecordBatch, header: &Header) -> Result<RecordBatch, PushError> {
    let schema = long::schema();
    let rows = batch.num_rows();
    let columns = schema.fields().iter().map(|field| match batch.column_by_name(field.name()) {
        Some(column) if column.data_type() == field.data_type() => Ok(Arc::clone(column)),
        Some(column) => cast(column, field.data_type()).map_err(PushError::of),
        None if field.name() == "channel" => {
            let keys = Int32Array::from_value(0, rows);
            let channels = DictionaryArray::try_new(keys, long::dictionary(&header.channels)).map_err(PushError::of);
            channels.map(|channels| Arc::new(channels) as ArrayRef)
        }
        None => Ok(new_null_array(field.data_type(), rows)),
    });
    let columns: Vec<ArrayRef> = columns.collect::<Result<_, _>>()?;
    RecordBatch::try_new(schema, columns).map_err(PushError::of)
}
