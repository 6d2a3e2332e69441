//! The seam to the crates that read tables: what is in a batch, and what to do when they fail.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use logpose_core::{Channel, DecodeError, Problems, ReadOptions, Sink, SinkError, StreamError};

use crate::Header;
use crate::long::{Import, is_long};
use crate::stage::{PushError, Stage};
use crate::table::Table;

/// A table that is read batch by batch: one of ours, or what its columns say.
pub(crate) struct Source {
    dialect: &'static str,
    kind: Kind,
    header: Header,
}

enum Kind {
    Own(Box<Import>),
    Other(Box<Table>, Stage),
}

impl Source {
    /// Looks at the columns of a table, and at the header if it is one of ours. `name` is the channel that all rows
    /// belong to, where only the name of the file shows it.
    pub(crate) fn open(
        dialect: &'static str,
        schema: &Schema,
        header: Option<&str>,
        name: Option<&str>,
        read: &ReadOptions<'_>,
    ) -> Result<Self, DecodeError> {
        let most = read.limits.channels;
        let mut only = name.map(|name| Channel::new(name, ""));
        let mut own = Header { origin: dialect.to_owned(), ..Header::default() };
        if let Some(header) = header {
            let (header, events) = Header::from_json(header, most).map_err(|message| damaged(dialect, message))?;
            if is_long(schema, &header) {
                let kind = Kind::Own(Box::new(Import::new(header, events)));
                return Ok(Self { dialect, kind, header: Header::default() });
            }
            if let [channel] = header.channels.as_slice() {
                only = Some(channel.clone());
            }
            own = Header { channels: Vec::new(), ..header };
        }
        let columns = |message| DecodeError { dialect, code: "no-samples", at: 0, message, help: None };
        let table = Table::of(schema, only, most).map_err(columns)?;
        if table.is_wall(schema) {
            own.epoch_ns = Some(0);
        }
        Ok(Self { dialect, kind: Kind::Other(Box::new(table), Stage::default()), header: own })
    }

    /// Pushes the samples of a batch.
    pub(crate) fn push(&mut self, batch: Result<RecordBatch, String>, sink: &mut dyn Sink) -> Result<(), StreamError> {
        let batch = batch.map_err(|message| damaged(self.dialect, message))?;
        let pushed = match &mut self.kind {
            Kind::Own(import) => import.push(&batch, sink),
            Kind::Other(table, stage) => table.push(&batch, stage, sink),
        };
        pushed.map_err(|error| match error {
            PushError::Format(message) => damaged(self.dialect, message).into(),
            PushError::Sink(error) => error.into(),
        })
    }

    /// What stands behind the last batch, and what the file keeps besides samples.
    pub(crate) fn finish(self, problems: &mut Problems, sink: &mut dyn Sink) -> Result<Header, SinkError> {
        match self.kind {
            Kind::Own(import) => import.finish(problems, sink),
            Kind::Other(table, _) => Ok(Header { channels: table.finish(problems, sink)?, ..self.header }),
        }
    }
}

/// Pushes the samples of a table.
pub(crate) fn read(
    mut source: Source,
    batches: impl Iterator<Item = Result<RecordBatch, String>>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    for batch in batches {
        source.push(batch, sink)?;
    }
    Ok(source.finish(problems, sink)?)
}

/// Runs readers of crates that panic on damaged files, Arrow's above all, and makes an error of that.
pub(crate) fn guarded<T>(
    dialect: &'static str,
    run: impl FnOnce() -> Result<T, StreamError>,
) -> Result<T, StreamError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        // The error says what a user can do about it; the place in the source of a crate says nothing.
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    // What the closure borrows is given up when it fails.
    let result = catch_unwind(AssertUnwindSafe(run));
    GUARDED.set(outer);
    result.unwrap_or_else(|_| Err(damaged(dialect, "the contents are inconsistent".to_owned()).into()))
}

thread_local! {
    /// Whether a panic of this thread becomes an error.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn damaged(dialect: &'static str, message: String) -> DecodeError {
    let help = "the file is damaged; copy it again, or convert the original again".to_owned();
    DecodeError { dialect, code: "damaged", at: 0, message, help: Some(help) }
}
