use std::borrow::Borrow;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use logpose_core::{
    Channel, ChannelId, Encode, EncodeOptions, FileDialect, Lookup, Problem, Problems, Sample, Sink, SinkError, Time,
};

use logpose_bridges::mcap::{McapOptions, McapWriter, Scene};
use logpose_bridges::{ArrowWriter, ParquetWriter, RefloatRows, VescRows, Writer, is_recording};
use logpose_schema::Registry;

use crate::feed::Wanted;
use crate::folder::{self, NewFolder};
use crate::output::Opened;
use crate::table::{FLUSH, Rows, Shape};
use crate::wide::WideRows;
use crate::{
    ClockMap, Error, ErrorKind, Feed, FolderLayout, Log, Order, Output, Progress, Wide, Wrapper, dialects, pieces,
    verify,
};

/// What logs are converted to.
#[derive(Clone, Copy)]
pub enum Format {
    /// Another log.
    Dialect(&'static dyn FileDialect),
    /// Rows `time,channel,value`, or a table with [`ConvertOptions::wide`].
    Csv,
    /// A JSON object on each line.
    Ndjson,
    /// Apache Parquet, a row for each sample.
    Parquet,
    /// An Apache Arrow file, a row for each sample.
    Arrow,
    /// MCAP, for Foxglove and other viewers.
    Mcap,
    /// A recording of a Refloat board as a table, a row for each sample.
    RefloatCsv,
    /// Numbers as the table that VESC Tool's log analysis opens.
    VescCsv,
}

impl Format {
    /// The format of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            "parquet" => Some(Self::Parquet),
            "arrow" | "feather" => Some(Self::Arrow),
            "mcap" => Some(Self::Mcap),
            "refloat-csv" => Some(Self::RefloatCsv),
            "vesc-csv" => Some(Self::VescCsv),
            name => dialects::file_dialect(name).map(Self::Dialect),
        }
    }

    /// The format and the wrapper that a file's name promises: `a.csv`, `a.rlog.gz`, `a.wpilogxz`.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<(Self, Option<Wrapper>)> {
        let (extension, wrapper) = dialects::split_extension(path);
        let extension = extension?;
        let format = dialects::by_extension(&extension).map(Self::Dialect).or_else(|| Self::from_name(&extension))?;
        Some((format, wrapper))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dialect(dialect) => dialect.info().name,
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Mcap => "mcap",
            Self::RefloatCsv => "refloat-csv",
            Self::VescCsv => "vesc-csv",
        }
    }

    /// What a file of this format is for these logs where nobody says more than `.csv`: a recording of a Refloat board
    /// has a table of its own.
    #[must_use]
    pub fn suited<L: Borrow<Log>>(self, logs: &[L], lookups: &[Lookup]) -> Self {
        let (Self::Csv, [_]) = (self, logs) else { return self };
        let feed = Feed::new(logs, lookups.to_vec());
        let channels = feed.wanted().filter_map(|wanted| wanted.index().map(|found| (&found.channel, found.samples)));
        if is_recording(channels) { Self::RefloatCsv } else { self }
    }

    /// Whether logpose writes whole logs as files of this format, with all channels and their types.
    #[must_use]
    pub fn is_log(&self) -> bool {
        match self {
            Self::Dialect(dialect) => dialect.info().files.write,
            _ => !self.is_text(),
        }
    }

    /// Whether its files are text.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Csv | Self::Ndjson | Self::RefloatCsv | Self::VescCsv)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name()).finish()
    }
}

/// How to convert.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// What the writer of a dialect is told. Without an extra header, that of the input is kept.
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
    /// For each log the clock on which its times are put, as [`Alignment`](crate::Alignment) finds them; their own if
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
    if options.wide.is_some() && !matches!(format, Format::Csv) {
        return Err(Error::usage(format!("--wide needs CSV output, found {}", format.name())));
    }
    let order = order_for(&feed, format, options)?;
    let path = match &to {
        Output::File { path, .. } => Some(*path),
        Output::Stream(_) => None,
    };
    let mut out = to.open()?;
    progress.begin("converting", feed.logs().iter().map(|log| log.bytes().len() as u64).sum());
    let written = write(&feed, order, format, options, &mut out, progress);
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
        let verified = verify::verify(&feed, order, format, temporary, options);
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
        let verified = verify::verify(&feed, Order::Time, &Format::Parquet, new.content(), options);
        progress.end();
        verified.map_err(|error| Error { path: Some(path.to_owned()), ..error })?;
        report.verified = true;
    }
    new.keep()?;
    Ok(report)
}

pub(crate) fn order_for(feed: &Feed<'_>, format: &Format, options: &ConvertOptions) -> Result<Order, Error> {
    let needed = match format {
        Format::Dialect(dialect) => encoder(*dialect, &options.encode)?.needs_time_order(),
        Format::Csv => options.wide.is_some(),
        Format::VescCsv => true,
        Format::Ndjson | Format::Parquet | Format::Arrow | Format::Mcap | Format::RefloatCsv => false,
    };
    match options.order {
        Some(Order::File) if needed => Err(Error::usage(format!("{} needs time order", format.name()))),
        Some(order) => Ok(order),
        None if needed || feed.logs().len() > 1 => Ok(Order::Time),
        None => Ok(Order::File),
    }
}

/// The encoder of a dialect, or why there is none.
pub fn encoder(dialect: &dyn FileDialect, options: &EncodeOptions) -> Result<Box<dyn Encode>, Error> {
    dialect.encoder(options).ok_or_else(|| match options.revision {
        Some(revision) if dialect.info().files.write => {
            Error::usage(format!("{} has no revision {revision}", dialect.info().title))
        }
        _ => Error::usage(format!("writing {} is not supported", dialect.info().title)),
    })
}

/// Writes everything. The inner result is how the sink ended: a closed pipe is for the caller to judge.
pub(crate) fn write(
    feed: &Feed<'_>,
    order: Order,
    format: &Format,
    options: &ConvertOptions,
    out: &mut Opened<'_>,
    progress: &dyn Progress,
) -> Result<(Report, Result<(), SinkError>), Error> {
    let mut report = Report { channels: feed.channels().len(), ..Report::default() };
    let end = match format {
        Format::Dialect(dialect) => {
            let mut options = options.encode.clone();
            if options.extra_header.is_none() {
                options.extra_header = extra_header(feed.logs());
            }
            let mut sink = Encoding::new(encoder(*dialect, &options)?, out);
            let end = run(feed, order, &mut sink, progress).and_then(|()| sink.finish());
            (report.samples, report.problems) = (sink.samples, sink.problems);
            end
        }
        Format::Parquet => {
            let writer = ParquetWriter::new(out, feed.header());
            in_pieces(feed, order, writer, progress, &mut report)
        }
        Format::Arrow => {
            let writer = ArrowWriter::new(out, feed.header());
            in_pieces(feed, order, writer, progress, &mut report)
        }
        Format::Mcap => {
            let earliest = feed.range().map_or(Time::ZERO, |(first, _)| first.min(Time::ZERO));
            let how = McapOptions { earliest, ..options.mcap };
            let scene = if how.poses { scene(feed)? } else { None };
            let writer = McapWriter::with_scene(out, &feed.header(), feed.schemas().registry(), &how, scene);
            in_pieces(feed, order, writer, progress, &mut report)
        }
        Format::Csv if options.wide.is_some() => {
            let mut sink = WideRows::new(options.wide.unwrap_or_default(), feed, options.raw_values, out)?;
            let end = run(feed, order, &mut sink, progress).and_then(|()| sink.finish().map_err(SinkError::Io));
            (report.samples, report.problems) = (sink.samples, sink.problems);
            end
        }
        Format::RefloatCsv => {
            let mut sink = RefloatRows::new(feed.channels(), out).map_err(|error| sink_error(error, None))?;
            let end = run(feed, order, &mut sink, progress).and_then(|()| sink.finish());
            (report.samples, report.problems) = (sink.samples, sink.problems);
            end
        }
        Format::VescCsv => {
            let epoch_ns = feed.header().epoch_ns;
            let mut sink = VescRows::new(feed.channels(), epoch_ns, out).map_err(|error| sink_error(error, None))?;
            let end = run(feed, order, &mut sink, progress).and_then(|()| sink.finish());
            (report.samples, report.problems) = (sink.samples, sink.problems);
            end
        }
        Format::Csv | Format::Ndjson => {
            let shape = if matches!(format, Format::Csv) { Shape::Csv } else { Shape::Ndjson };
            let mut sink = Rows::new(shape, feed.schemas(), options.raw_values, out);
            let end = run(feed, order, &mut sink, progress).and_then(|()| sink.finish().map_err(SinkError::Io));
            (report.samples, report.problems) = (sink.samples, sink.problems);
            end
        }
    };
    if format.is_text() && !options.raw_values {
        feed.schemas().problems().into_iter().for_each(|problem| report.problems.push(problem));
    }
    Ok((report, end))
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

fn in_pieces<W: Writer + Send>(
    feed: &Feed<'_>,
    order: Order,
    writer: Result<W, SinkError>,
    progress: &dyn Progress,
    report: &mut Report,
) -> Result<(), SinkError> {
    let written = pieces::write(feed, order, writer?, progress)?;
    (report.samples, report.problems) = (written.samples, written.problems);
    Ok(())
}

fn run(feed: &Feed<'_>, order: Order, sink: &mut dyn Sink, progress: &dyn Progress) -> Result<(), SinkError> {
    let bytes: u64 = feed.logs().iter().map(|log| log.bytes().len() as u64).sum();
    let mut watched = Watched { sink, progress, done: 0, samples: feed.samples().max(1), bytes };
    match feed.run(order, &mut watched) {
        Err(SinkError::Stopped) => Ok(()),
        end => end,
    }
}

/// The extra header that all inputs share, for the outputs that have one.
fn extra_header(logs: &[&Log]) -> Option<String> {
    let mut headers = logs.iter().map(|log| log.index.fact("extra_header"));
    let first = headers.next()??;
    headers.all(|header| header == Some(first)).then(|| first.to_owned())
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
        SinkError::Source(error) => return Error::unreadable(error),
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

/// A sink that tells how far it has come, in bytes of the input.
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
