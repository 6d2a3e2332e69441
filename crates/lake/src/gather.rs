//! A log of a lake as a log again: its rows, or those of a few channels, as the samples they were.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, Int32Array, RecordBatch, StringArray};
use arrow_select::filter::filter_record_batch;
use logpose::bridges::{Header, read_lake_file};
use logpose::{Log, OpenOptions};
use logpose_core::{Channel, Sample, Sink, SinkError};
use logpose_model::long;

use crate::delta::Table;
use crate::lake::is_live;
use crate::manage::keyed;
use crate::{Error, Lake, LogRow, rows};

/// A channel of a log of a lake.
#[derive(Clone, Debug)]
pub struct ChannelRow {
    /// The log, as the column `log` calls it.
    pub log: String,
    /// Its place among the channels of its log.
    pub id: i32,
    /// What it is.
    pub channel: Channel,
    /// How many samples it has.
    pub samples: u64,
    /// The first and the last time, if it has any.
    pub range_ns: Option<(i64, i64)>,
}

impl Lake {
    /// The channels of all logs, log by log and in the order that they have there.
    pub fn channels(&self) -> Result<Vec<ChannelRow>, Error> {
        let live = self.live();
        let mut all = Vec::new();
        for (path, _) in Table::open(&self.store, "channels")?.files().filter(|(_, file)| is_live(file, &live)) {
            let shown = self.store.shown(&path);
            let bytes = self.store.get(&path)?.ok_or_else(|| Error::damaged(&shown, "the file is missing"))?;
            let (_, batches) = read_lake_file(&bytes).map_err(|error| Error::damaged(&shown, error))?;
            for batch in batches {
                let batch = batch.map_err(|message| Error::damaged(&shown, message))?;
                rows::read_channel_rows(&batch, &mut all).map_err(|message| Error::damaged(&shown, message))?;
            }
        }
        all.sort_by(|a: &ChannelRow, b| a.log.cmp(&b.log).then(a.id.cmp(&b.id)));
        Ok(all)
    }
}

/// Makes a log of rows of `samples`, which may have rows of other logs and channels among them. The channels of the log are
/// those that are wanted, in that order; `path` is what it is called.
pub fn gather(
    row: &LogRow,
    path: &Path,
    channels: &[(i32, Channel)],
    options: &OpenOptions,
    batches: &mut dyn Iterator<Item = Result<RecordBatch, Error>>,
) -> Result<Log, Error> {
    let header = Header {
        origin: row.dialect.clone().unwrap_or_default(),
        facts: serde_json::from_str(&row.facts).unwrap_or_default(),
        epoch_ns: row.epoch_ns,
        channels: channels.iter().map(|(_, channel)| channel.clone()).collect(),
    };
    let wanted = Wanted {
        log: &row.log,
        channels,
        places: (0..).zip(channels).map(|(place, (id, _))| (*id, place)).collect(),
        names: Arc::new(StringArray::from_iter_values(channels.iter().map(|(_, channel)| &channel.name))),
    };
    let mut failed = None;
    let log = Log::unpacked(path, options, |sink| {
        for (place, (_, channel)) in (0..).zip(channels) {
            sink.channel(place, channel)?;
        }
        for batch in batches {
            let damaged = |message: &str| Error::damaged(&row.log, message);
            let added = batch.and_then(|batch| wanted.add(&batch, sink, &damaged));
            if let Err(error) = added {
                failed = Some(error);
                return Err(SinkError::Stopped);
            }
        }
        Ok(header)
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(log?),
    }
}

/// What is wanted of rows.
struct Wanted<'a> {
    log: &'a str,
    channels: &'a [(i32, Channel)],
    places: HashMap<i32, i32>,
    names: ArrayRef,
}

impl Wanted<'_> {
    fn add(&self, batch: &RecordBatch, sink: &mut dyn Sink, damaged: &dyn Fn(&str) -> Error) -> Result<(), Error> {
        let logs = batch.column_by_name("log").and_then(|logs| logs.as_string_opt::<i32>());
        let ids = batch.column_by_name("id").and_then(|ids| ids.as_primitive_opt::<Int32Type>());
        let (logs, ids) = logs.zip(ids).ok_or_else(|| damaged("no columns `log` and `id`"))?;
        let is_own = |(log, id): (Option<&str>, Option<i32>)| {
            Some(log == Some(self.log) && id.is_some_and(|id| self.places.contains_key(&id)))
        };
        let own: BooleanArray = logs.iter().zip(ids).map(is_own).collect();
        let failed = |error: arrow_schema::ArrowError| damaged(&error.to_string());
        let batch = filter_record_batch(batch, &own).map_err(failed)?;
        let ids = batch.column_by_name("id").and_then(|ids| ids.as_primitive_opt::<Int32Type>());
        let place = |id: Option<i32>| self.places.get(&id?).copied();
        let places: Int32Array = ids.into_iter().flatten().map(place).collect();
        let batch = keyed(&batch, places, &self.names).map_err(failed)?;
        let reader = long::Reader::new(&batch).map_err(|error| damaged(&error.to_string()))?;
        let mut scratch = Vec::new();
        for row in 0..reader.len() {
            let place = reader.channel(row).unwrap_or(usize::MAX);
            let Some((channel, (_, about))) = u32::try_from(place).ok().zip(self.channels.get(place)) else { continue };
            let value = reader.value(row, about.ty(), &mut scratch);
            let value = value.ok_or_else(|| damaged(&format!("a row of {:?} has no value of its type", about.name)))?;
            sink.samples(&[Sample { channel, time: reader.time(row), value }])?;
        }
        Ok(())
    }
}
