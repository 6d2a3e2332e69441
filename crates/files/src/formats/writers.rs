//! How the files of each format are written, checked and recorded.

use std::path::Path;

use logpose_bridges::mcap::{self, McapEncoder, McapOptions, McapWriter, Scene};
use logpose_bridges::{ArrowWriter, ParquetWriter, RefloatRows, VescRows, is_recording};
use logpose_core::{ChannelId, Encode, SinkError, Time};

use super::Format;
use crate::convert::{Encoding, Job, sink_error};
use crate::feed::Wanted;
use crate::output::Opened;
use crate::table::{RowEncoder, Rows, Shape};
use crate::wide::WideRows;
use crate::{ConvertOptions, Error, Feed, Log, Report, verify};

/// What a format's files are and how they come about. A field that [`FileWriter::new`] leaves as it is suits most.
pub(crate) struct FileWriter {
    pub(super) media_type: &'static str,
    /// The extensions that ask for it, where they are fewer than those it is read from.
    pub(super) extensions: Option<&'static [&'static str]>,
    pub(super) is_text: bool,
    pub(super) options: &'static [WriteOption],
    pub(super) begins_with_epoch: bool,
    pub(super) unfinished_end: (&'static [u8], &'static [u8]),
    /// The logs that it is for where another format has the same extension.
    pub(super) suits: Option<Suits>,
    /// Whether samples must come in the order of time.
    pub(crate) needs_time_order: fn(Format, &ConvertOptions) -> Result<bool, Error>,
    pub(crate) write: WriteFile,
    /// Compares a file, all of it, with what it was made from.
    pub(crate) verify: fn(&Job<'_>, &Path) -> Result<(), Error>,
    /// Makes an encoder for samples that still come, or says why that cannot be.
    pub(super) record: Record,
}

/// Begins a recording. Adding the last argument to times gives Unix nanoseconds.
type Record = fn(Format, &ConvertOptions, Option<i64>) -> Result<Box<dyn Encode>, Error>;

/// Writes everything.
type WriteFile = fn(&Job<'_>, &mut Opened<'_>) -> Result<Written, Error>;

/// What was written, and how the output ended: a closed pipe is for the caller to judge.
pub(crate) type Written = (Report, Result<(), SinkError>);

/// The logs that a format is for.
pub(super) struct Suits {
    pub(super) logs: fn(&Feed<'_>) -> bool,
    /// What to say when it was chosen for them.
    pub(super) note: &'static str,
}

/// Something about a file that only some formats let the caller choose.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WriteOption {
    /// [`ConvertOptions::wide`].
    Wide,
    /// [`FolderLayout`](crate::FolderLayout).
    Layout,
    /// [`McapOptions::compression`].
    Compression,
    /// [`McapOptions::poses`].
    Poses,
}

/// The media type of files that nobody has given one.
pub(super) const BYTES: &str = "application/octet-stream";

pub(super) static DIALECT: FileWriter = FileWriter {
    needs_time_order: |format, options| Ok(format.encoder(&options.encode)?.needs_time_order()),
    record: |format, options, _| {
        let info = format.info();
        match info.holds_only {
            // What is spoken live brings the channels that its own files hold.
            Some(what) if !info.live.read => {
                Err(Error::usage(format!("{}s contain {what}, not robot channels", info.title)))
            }
            _ => format.encoder(&options.encode),
        }
    },
    ..FileWriter::new(BYTES, |job, out| {
        let mut options = job.options.encode.clone();
        options.extra_header = options.extra_header.or_else(|| extra_header(job.feed.logs()));
        let mut sink = Encoding::new(job.format.encoder(&options)?, out);
        let end = job.rows(&mut sink, Encoding::finish);
        Ok(job.written(sink.samples, sink.problems, end))
    })
};

pub(super) static PARQUET: FileWriter = FileWriter {
    extensions: Some(&["parquet"]),
    options: &[WriteOption::Layout],
    ..FileWriter::new("application/vnd.apache.parquet", |job, out| {
        Ok(job.pieces(ParquetWriter::new(out, job.feed.header())))
    })
};

pub(super) static ARROW: FileWriter = FileWriter {
    extensions: Some(&["arrow", "feather"]),
    ..FileWriter::new("application/vnd.apache.arrow.file", |job, out| {
        Ok(job.pieces(ArrowWriter::new(out, job.feed.header())))
    })
};

pub(super) static MCAP: FileWriter = FileWriter {
    options: &[WriteOption::Compression, WriteOption::Poses],
    begins_with_epoch: true,
    unfinished_end: (&mcap::DATA_END, &mcap::FOOTER),
    record: |_, options, epoch_ns| {
        let encoder = McapEncoder::new(epoch_ns, &options.mcap).map_err(|error| sink_error(error, None))?;
        Ok(Box::new(encoder))
    },
    ..FileWriter::new(BYTES, |job, out| {
        let feed = job.feed;
        let earliest = feed.range().map_or(Time::ZERO, |(first, _)| first.min(Time::ZERO));
        let how = McapOptions { earliest, ..job.options.mcap };
        let scene = if how.poses { scene(feed)? } else { None };
        Ok(job.pieces(McapWriter::with_scene(out, &feed.header(), feed.schemas().registry(), &how, scene)))
    })
};

pub(super) static CSV: FileWriter = FileWriter {
    extensions: Some(&["csv"]),
    is_text: true,
    options: &[WriteOption::Wide],
    needs_time_order: |_, options| Ok(options.wide.is_some()),
    verify: verify::csv,
    record: |_, _, _| Ok(Box::new(RowEncoder::csv())),
    ..FileWriter::new("text/csv; charset=utf-8", |job, out| {
        let Some(wide) = job.options.wide else { return Ok(rows(Shape::Csv, job, out)) };
        let mut sink = WideRows::new(wide, job.feed, job.options.raw_values, out)?;
        let end = job.rows(&mut sink, |sink| Ok(sink.finish()?));
        Ok(job.written(sink.samples, sink.problems, end))
    })
};

pub(super) static NDJSON: FileWriter = FileWriter {
    is_text: true,
    verify: verify::ndjson,
    record: |_, _, _| Ok(Box::new(RowEncoder::ndjson())),
    ..FileWriter::new("application/x-ndjson", |job, out| Ok(rows(Shape::Ndjson, job, out)))
};

pub(super) static REFLOAT_CSV: FileWriter = FileWriter {
    is_text: true,
    suits: Some(Suits {
        logs: |feed| is_recording(feed.wanted().filter_map(|w| w.index().map(|found| (&found.channel, found.samples)))),
        note: "Refloat recording: writing one row per sample (--to csv writes one row per value, --to vesc-csv is for \
               VESC Tool)",
    }),
    // What it leaves out is in the report.
    verify: |job, path| verify::log(job, path, |channel| channel.name.starts_with("/refloat/file/")),
    record: one_table,
    ..FileWriter::new("text/csv; charset=utf-8", |job, out| {
        let mut sink = RefloatRows::new(job.feed.channels(), out).map_err(|error| sink_error(error, None))?;
        let end = job.rows(&mut sink, RefloatRows::finish);
        Ok(job.written(sink.samples, sink.problems, end))
    })
};

pub(super) static VESC_CSV: FileWriter = FileWriter {
    is_text: true,
    needs_time_order: |_, _| Ok(true),
    verify: verify::vesc,
    record: one_table,
    ..FileWriter::new("text/csv; charset=utf-8", |job, out| {
        let (feed, epoch_ns) = (job.feed, job.feed.header().epoch_ns);
        let mut sink = VescRows::new(feed.channels(), epoch_ns, out).map_err(|error| sink_error(error, None))?;
        let end = job.rows(&mut sink, VescRows::finish);
        Ok(job.written(sink.samples, sink.problems, end))
    })
};

impl FileWriter {
    const fn new(media_type: &'static str, write: WriteFile) -> Self {
        Self {
            media_type,
            extensions: None,
            is_text: false,
            options: &[],
            begins_with_epoch: false,
            unfinished_end: (&[], &[]),
            suits: None,
            needs_time_order: |_, _| Ok(false),
            write,
            verify: |job, path| verify::log(job, path, |_| false),
            record: |format, _, _| {
                let name = format.name();
                Err(Error::usage(format!(
                    "{name} files are incomplete until they are closed, so they cannot be recorded"
                )))
            },
        }
    }
}

fn one_table(format: Format, _: &ConvertOptions, _: Option<i64>) -> Result<Box<dyn Encode>, Error> {
    let name = format.name();
    Err(Error::usage(format!("{name} is a table of all channels; record to .wpilog and use `logpose convert`")))
}

fn rows(shape: Shape, job: &Job<'_>, out: &mut Opened<'_>) -> Written {
    let mut sink = Rows::new(shape, job.feed.schemas(), job.options.raw_values, out);
    let end = job.rows(&mut sink, |sink| Ok(sink.finish()?));
    job.written(sink.samples, sink.problems, end)
}

/// What a recording of traffic shows, if there is one.
fn scene(feed: &Feed<'_>) -> Result<Option<Scene>, Error> {
    let needed: Vec<_> = feed
        .wanted()
        .filter_map(|wanted| Some((feed.channels().get(wanted.id as usize)?, wanted)))
        .filter(|(channel, _)| Scene::needs(channel))
        .collect();
    let mut scene = Scene::default();
    // All channels of a log at once: where positions are not known, it is walked for them.
    for of_log in needed.chunk_by(|(_, a), (_, b)| std::ptr::eq(a.log, b.log)) {
        let Some((_, Wanted { log, clock, .. })) = of_log.first() else { continue };
        let ids: Vec<ChannelId> = of_log.iter().map(|(_, wanted)| wanted.own).collect();
        let columns = log.columns(&ids)?;
        for ((channel, _), column) in of_log.iter().zip(&columns.columns) {
            columns.samples(column).for_each(|(time, value)| scene.note(channel, clock.at(time), &value));
        }
    }
    Ok((!needed.is_empty()).then_some(scene))
}

/// The extra header that all inputs share, for the outputs that have one.
fn extra_header(logs: &[&Log]) -> Option<String> {
    let mut headers = logs.iter().map(|log| log.index.fact("extra_header"));
    let first = headers.next()??;
    headers.all(|header| header == Some(first)).then(|| first.to_owned())
}
