use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use logpose::bridges::mcap::{McapOptions, McapStream};
use logpose::{Format, RowEncoder};
use logpose_core::{Channel, ChannelId, Encode, EncodeError, EncodeOptions, Problem, Sample, Sink, SinkError, Time};

use super::RecordError;

/// How samples become the bytes of a file. What is given becomes bytes at the latest when it is sealed.
pub(super) enum Form {
    /// That of a dialect, or of rows of text.
    Encoder(Box<dyn Encode>),
    /// MCAP, whose bytes come in chunks.
    Mcap(Box<McapStream<Chunks>>, Chunks),
}

/// What an MCAP writer has written and nobody has taken away.
#[derive(Clone, Default)]
pub(super) struct Chunks(Arc<Mutex<Vec<u8>>>);

impl Chunks {
    fn take(&self, out: &mut Vec<u8>) {
        out.append(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Form {
    /// Whether samples must come in the order of their times.
    pub(super) fn needs_time_order(&self) -> bool {
        match self {
            Self::Encoder(encoder) => encoder.needs_time_order(),
            Self::Mcap(..) => false,
        }
    }

    pub(super) fn begin(&mut self, out: &mut Vec<u8>) {
        match self {
            Self::Encoder(encoder) => encoder.begin(out),
            Self::Mcap(_, chunks) => chunks.take(out),
        }
    }

    pub(super) fn channel(&mut self, id: ChannelId, channel: &Channel, out: &mut Vec<u8>) -> Result<(), SinkError> {
        match self {
            Self::Encoder(encoder) => Ok(encoder.channel(id, channel, out)?),
            Self::Mcap(stream, _) => stream.channel(id, channel),
        }
    }

    /// Takes samples. Those that the format cannot represent are left out and given to `refused`.
    pub(super) fn samples(
        &mut self,
        samples: &[Sample<'_>],
        out: &mut Vec<u8>,
        refused: &mut dyn FnMut(EncodeError),
    ) -> Result<(), SinkError> {
        match self {
            Self::Encoder(encoder) => {
                let mut rest = samples;
                while let Err(error) = encoder.samples(rest, out) {
                    let Some(place) = error.sample else { return Err(error.into()) };
                    refused(error);
                    rest = rest.get(place + 1..).unwrap_or_default();
                }
            }
            // One at a time: samples may wait here for their schema, so an error does not tell which one it is about.
            Self::Mcap(stream, _) => {
                for sample in samples {
                    match stream.samples(&[*sample]) {
                        Err(SinkError::Refused(error)) => refused(error),
                        done => done?,
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn metadata(
        &mut self,
        id: ChannelId,
        time: Time,
        metadata: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), SinkError> {
        match self {
            Self::Encoder(encoder) => Ok(encoder.metadata(id, time, metadata, out)?),
            Self::Mcap(stream, _) => stream.metadata(id, time, metadata),
        }
    }

    pub(super) fn end(&mut self, id: ChannelId, time: Time, out: &mut Vec<u8>) -> Result<(), SinkError> {
        match self {
            Self::Encoder(encoder) => Ok(encoder.end(id, time, out)?),
            Self::Mcap(stream, _) => stream.end(id, time),
        }
    }

    /// Makes bytes of all that was given: whole records, with which a file may end.
    pub(super) fn seal(&mut self, out: &mut Vec<u8>) -> Result<(), SinkError> {
        match self {
            Self::Encoder(_) => Ok(()),
            Self::Mcap(stream, chunks) => {
                stream.flush()?;
                chunks.take(out);
                Ok(())
            }
        }
    }

    /// What stands at the end of a file. What the format could not keep is reported.
    pub(super) fn finish(self, out: &mut Vec<u8>) -> Result<Vec<Problem>, SinkError> {
        match self {
            Self::Encoder(mut encoder) => Ok(encoder.finish(out)),
            Self::Mcap(stream, chunks) => {
                let problems = stream.finish()?;
                chunks.take(out);
                Ok(problems)
            }
        }
    }
}

/// What makes the form of each of a recording's files.
pub(super) struct Forms {
    format: Format,
    encode: EncodeOptions,
    mcap: McapOptions,
}

impl Forms {
    /// The forms of files with this name.
    pub(super) fn of(path: &Path, encode: EncodeOptions, mcap: McapOptions) -> Result<Self, RecordError> {
        let no = |reason: String| RecordError::Format { path: path.to_owned(), reason };
        let Some((format, wrapper)) = Format::from_path(path) else {
            return Err(no("unknown output format".to_owned()));
        };
        if let Some(wrapper) = wrapper {
            return Err(no(format!(
                "a compressed file ({wrapper}) is incomplete until it is closed, so it cannot be recorded"
            )));
        }
        match format {
            Format::Dialect(dialect) => {
                if dialect.info().name == "carla" {
                    return Err(no("CARLA recordings contain traffic, not robot channels".to_owned()));
                }
                if dialect.encoder(&encode).is_none() {
                    let title = dialect.info().title;
                    let reason = match encode.revision {
                        Some(revision) if dialect.info().files.write => format!("{title} has no revision {revision}"),
                        _ => format!("writing {title} is not supported"),
                    };
                    return Err(no(reason));
                }
            }
            Format::Parquet | Format::Arrow => {
                return Err(no(format!(
                    "{} files are incomplete until they are closed, so they cannot be recorded",
                    format.name()
                )));
            }
            Format::RefloatCsv | Format::VescCsv => {
                return Err(no(format!(
                    "{} is a table of all channels; record to .wpilog and use `logpose convert`",
                    format.name()
                )));
            }
            Format::Csv | Format::Ndjson | Format::Mcap => {}
        }
        Ok(Self { format, encode, mcap })
    }

    /// A form for one more file. `epoch_ns` is what to add to its times to get Unix nanoseconds.
    pub(super) fn make(&self, epoch_ns: Option<i64>) -> Result<Form, SinkError> {
        match &self.format {
            Format::Dialect(dialect) => {
                let encoder = dialect.encoder(&self.encode).ok_or_else(|| not_in_place(self.format.name()))?;
                Ok(Form::Encoder(encoder))
            }
            Format::Csv | Format::Ndjson => {
                let encoder = RowEncoder::new(&self.format).ok_or_else(|| not_in_place(self.format.name()))?;
                Ok(Form::Encoder(Box::new(encoder)))
            }
            Format::Mcap => {
                let chunks = Chunks::default();
                let stream = McapStream::new(chunks.clone(), epoch_ns, &self.mcap)?;
                Ok(Form::Mcap(Box::new(stream), chunks))
            }
            // Nobody gets forms of these.
            Format::Parquet | Format::Arrow | Format::RefloatCsv | Format::VescCsv => {
                Err(not_in_place(self.format.name()))
            }
        }
    }

    /// Whether the wall-clock time is told by a channel, as DataLogManager does it.
    pub(super) fn has_system_time(&self) -> bool {
        matches!(self.format, Format::Dialect(dialect) if dialect.info().name == "wpilog")
    }

    /// Whether the epoch stands in front of everything else.
    pub(super) fn begins_with_epoch(&self) -> bool {
        matches!(self.format, Format::Mcap)
    }
}

/// The error of a format that is not written as its samples come. [`Forms::new`] refuses them with better reasons.
#[cold]
fn not_in_place(name: &str) -> SinkError {
    io::Error::other(format!("{name} is not written as its samples come")).into()
}
