use std::borrow::Borrow;
use std::io::{self, Write};
use std::path::Path;

use logpose_bridges::Writer;
use logpose_bridges::mcap::McapOptions;
use logpose_core::{
    Channel, ChannelId, Encode, EncodeOptions, Lookup, Problem, Problems, Sample, Sink, SinkError, Time,
};
use logpose_schema::Registry;

use crate::folder::{self, NewFolder};
use crate::formats::{FileWriter, WriteOption, Written};
use crate::output::Opened;
use crate::table::FLUSH;
use crate::{
    ClockMap, Error, ErrorKind, Feed, FolderLayout, Format, Log, Order, Output, Progress, Wide, pieces, verify,
};

/// How to convert.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// Settings for the writer of a dialect. Without an extra header, that of the input is kept.
    pub encode: EncodeOptions,
    /// CSV as a table with a column for each channel.
    pub wide: Option<Wide>,
    /// Whether an existing file may be replaced; as [`Output::File`] has it.
    pub force: bool,
    /// Whether to read the result back and compare it with the input before it gets its name.
    pub verify: bool,
    /// The order of the samples. Without it: that of time where the format needs it and where several logs are
    /// merged, else that of the file.
    pub order: Option<Order>,
    /// How MCAP is written.
    pub mcap: McapOptions,
    /// Whether structs and the like stay bytes (base64) in CSV and NDJSON.
    pub raw_values: bool,
    /// For each log the clock on which its times are put, as `Alignment` in `logpose-analysis` finds them; their own if
    /// there are none. Not for folders.
    pub clocks: Vec<ClockMap>,
}

/// What a conversion did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Samples written.
    pub samples: u64,
    /// Channels written.
    pub channels: usize,
    /// Bytes written, before compression.
    pub bytes: u64,
    /// What could not be kept or was doubtful. What was wrong with the inputs is in their own `problems`.
    pub problems: Problems,
    /// Whether the result was read back and found equal.
    pub verified: bool,
}

/// The same lookups with the schemas that wanted values need: a part of a log must be as readable as the whole.
fn with_schemas<L: Borrow<Log>>(logs: &[L], mut lookups: Vec<Lookup>) -> Vec<Lookup> {
    lookups.resize_with(logs.len(), Lookup::default);
    for (log, lookup) in logs.iter().map(Borrow::borrow).zip(&mut lookups) {
        let log: &Log = log;
        let channels = || (0..).zip(&log.index.channels).map(|(id, found): (ChannelId, _)| (id, &found.channel));
        let schemas: Vec<bool> = channels().map(|(_, c)| Registry::is_schema(&c.name, &c.type_name)).collect();
        let has_schema = |type_name: &str| Registry::decodes(type_name) && !matches!(type_name, "json" | "msgpack");
        if !channels().any(|(id, channel)| lookup.wants(id) && has_schema(&channel.type_name)) {
            continue;
        }
        for (wanted, schema) in lookup.channels.iter_mut().zip(&schemas) {
            *wanted |= schema;
        }
        lookup.always = schemas;
    }
    lookups
}

/// Converts logs, merged into one, to a format.
///
/// Also crops and filters, by the lookups. If the format cannot say something the conversion is refused, and
/// no file is left behind. A stream that is closed at its other end is no error.
pub fn convert<L: Borrow<Log>>(
    logs: &[L],
    lookups: Vec<Lookup>,
    format: &Format,
    to: Output<'_>,
    options: &ConvertOptions,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    let lookups = if format.is_text() { lookups } else { with_schemas(logs, lookups) };
    let feed = Feed::new(logs, lookups).on_clocks(&options.clocks);
    let to = match to {
        Output::File { path, force, wrapper } => Output::File { path, force: force || options.force, wrapper },
        Output::Stream(_) if options.verify => {
            return Err(
                Error::usage("--verify needs a file as output").with_help("write to a file with -o, or omit --verify")
            );
        }
        stream => stream,
    };
    if options.wide.is_some() && !format.takes(WriteOption::Wide) {
        return Err(Error::usage(format!("--wide needs CSV output, found {}", format.name())));
    }
    let job = Job::new(&feed, *format, options, progress)?;
    let path = match &to {
        Output::File { path, .. } => Some(*path),
        Output::Stream(_) => None,
    };
    let mut out = to.open()?;
    progress.begin("converting", feed.logs().iter().map(|log| log.bytes().len() as u64).sum());
    let written = job.write(&mut out);
    progress.end();
    let (mut report, end) = written?;
    let whole = match end.and_then(|()| out.finish().map_err(SinkError::Io)) {
        Ok(whole) => whole,
        Err(SinkError::Io(error)) if path.is_none() && error.kind() == io::ErrorKind::BrokenPipe => return Ok(report),
        Err(error) => return Err(sink_error(error, path)),
    };
    report.bytes = whole.bytes;
    if let (true, Some(temporary)) = (options.verify, whole.path()) {
        progress.begin("verifying", whole.bytes);
        let verified = (job.writer.verify)(&job, temporary);
        progress.end();
        verified.map_err(|error| match path {
            Some(path) => Error { path: Some(path.to_owned()), ..error },
            None => error,
        })?;
        report.verified = true;
    }
    whole.keep()?;
    Ok(report)
}

/// Converts logs, merged into one, to a folder with a Parquet file for each channel.
///
/// Each file is in the order of time. Crops and filters like [`convert`]; the folder appears when it is whole.
pub fn convert_to_folder(
    logs: &[Log],
    lookups: Vec<Lookup>,
    layout: FolderLayout,
    path: &Path,
    options: &ConvertOptions,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    if !options.clocks.is_empty() {
        let help = "use a file as output, such as one that ends in .parquet";
        return Err(Error::usage("aligned logs cannot be written to a folder").with_help(help));
    }
    let feed = Feed::new(logs, with_schemas(logs, lookups));
    let new = NewFolder::new(path, options.force)?;
    progress.begin("converting", logs.iter().map(|log| log.bytes().len() as u64).sum());
    let written = folder::write(&feed, layout, new.content(), progress);
    progress.end();
    let mut report = written?;
    if options.verify {
        progress.begin("verifying", report.bytes);
        let job = Job { order: Order::Time, ..Job::new(&feed, Format::PARQUET, options, progress)? };
        let verified = verify::log(&job, new.content(), |_| false);
        progress.end();
        verified.map_err(|error| Error { path: Some(path.to_owned()), ..error })?;
        report.verified = true;
    }
    new.keep()?;
    Ok(report)
}

/// Everything that the writer of one file needs to know.
pub(crate) struct Job<'a> {
    pub(crate) feed: &'a Feed<'a>,
    pub(crate) format: Format,
    pub(crate) writer: &'static FileWriter,
    pub(crate) order: Order,
    pub(crate) options: &'a ConvertOptions,
    pub(crate) progress: &'a dyn Progress,
}

impl<'a> Job<'a> {
    pub(crate) fn new(
        feed: &'a Feed<'a>,
        format: Format,
        options: &'a ConvertOptions,
        progress: &'a dyn Progress,
    ) -> Result<Self, Error> {
        let writer = format.writer()?;
        let needed = (writer.needs_time_order)(format, options)?;
        let order = match options.order {
            Some(Order::File) if needed => return Err(Error::usage(format!("{} needs time order", format.name()))),
            Some(order) => order,
            None if needed || feed.logs().len() > 1 => Order::Time,
            None => Order::File,
        };
        Ok(Self { feed, format, writer, order, options, progress })
    }

    /// Writes everything.
    pub(crate) fn write(&self, out: &mut Opened<'_>) -> Result<Written, Error> {
        let (mut report, end) = (self.writer.write)(self, out)?;
        if self.format.is_text() && !self.options.raw_values {
            self.feed.schemas().problems().into_iter().for_each(|problem| report.problems.push(problem));
        }
        Ok((report, end))
    }

    /// Gives all samples to a sink, which then writes what it still holds.
    pub(crate) fn rows<S: Sink>(
        &self,
        sink: &mut S,
        finish: impl FnOnce(&mut S) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let bytes: u64 = self.feed.logs().iter().map(|log| log.bytes().len() as u64).sum();
        let samples = self.feed.samples().max(1);
        let mut watched = Watched { sink, progress: self.progress, done: 0, samples, bytes };
        match self.feed.run(self.order, &mut watched) {
            Ok(()) | Err(SinkError::Stopped) => finish(sink),
            Err(error) => Err(error),
        }
    }

    /// Writes all samples in pieces.
    pub(crate) fn pieces<W: Writer + Send>(&self, writer: Result<W, SinkError>) -> Written {
        let written = writer.and_then(|writer| pieces::write(self.feed, self.order, writer, self.progress));
        match written {
            Ok(written) => self.written(written.samples, written.problems, Ok(())),
            Err(error) => self.written(0, Problems::default(), Err(error)),
        }
    }

    pub(crate) fn written(&self, samples: u64, problems: Problems, end: Result<(), SinkError>) -> Written {
        (Report { channels: self.feed.channels().len(), samples, problems, ..Report::default() }, end)
    }
}

/// The error of an output, with its path.
pub fn sink_error(error: SinkError, path: Option<&Path>) -> Error {
    let error = match error {
        SinkError::Io(error) => match path {
            Some(path) => return Error::writing(path, error),
            None => Error::new(ErrorKind::Io(error)),
        },
        SinkError::Refused(error) => Error::from(error),
        // The path is that of the output, and the error is of an input.
        SinkError::Source(error) => return Error::from(error),
        SinkError::Failed(error) => Error::new(ErrorKind::Io(io::Error::other(error))),
        SinkError::Stopped => Error::new(ErrorKind::Io(io::Error::other("the output ended before the log did"))),
    };
    match path {
        Some(path) => error.in_file(path),
        None => error,
    }
}

/// Another dialect's encoder as a sink.
pub(crate) struct Encoding<W> {
    encoder: Box<dyn Encode>,
    buffer: Vec<u8>,
    out: W,
    pub(crate) problems: Problems,
    pub(crate) samples: u64,
}

impl<W: Write> Encoding<W> {
    pub(crate) fn new(mut encoder: Box<dyn Encode>, out: W) -> Self {
        let mut buffer = Vec::with_capacity(FLUSH + (FLUSH >> 2));
        encoder.begin(&mut buffer);
        Self { encoder, buffer, out, problems: Problems::default(), samples: 0 }
    }

    /// Writes the last bytes and notes what the format could not keep.
    pub(crate) fn finish(&mut self) -> Result<(), SinkError> {
        self.encoder.close()?;
        let lost = self.encoder.finish(&mut self.buffer);
        lost.into_iter().for_each(|problem| self.problems.push(problem));
        self.flush(0)
    }

    fn flush(&mut self, from: usize) -> Result<(), SinkError> {
        if self.buffer.len() > from {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl<W: Write> Sink for Encoding<W> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        Ok(self.encoder.channel(id, channel, &mut self.buffer)?)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.encoder.samples(samples, &mut self.buffer)?;
        self.samples += samples.len() as u64;
        self.flush(FLUSH)
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        Ok(self.encoder.metadata(id, time, metadata, &mut self.buffer)?)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        Ok(self.encoder.end(id, time, &mut self.buffer)?)
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// A sink that reports its progress, in bytes of the input.
struct Watched<'a> {
    sink: &'a mut dyn Sink,
    progress: &'a dyn Progress,
    done: u64,
    samples: u64,
    bytes: u64,
}

impl Sink for Watched<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.sink.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.sink.samples(samples)?;
        self.done += samples.len() as u64;
        let bytes = u128::from(self.bytes) * u128::from(self.done) / u128::from(self.samples);
        self.progress.at(u64::try_from(bytes).unwrap_or(self.bytes));
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.sink.metadata(id, time, metadata)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.sink.end(id, time)
    }

    fn problem(&mut self, problem: Problem) {
        self.sink.problem(problem);
    }
}
