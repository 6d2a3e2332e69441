use crate::{Channel, ChannelId, DecodeError, Problem, Problems, Time, Value};

/// One value of one channel at one time.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Which channel.
    pub channel: ChannelId,
    /// When.
    pub time: Time,
    /// What.
    pub value: Value<'a>,
}

/// Where samples go: columns, another format, a socket, the terminal.
///
/// Calls come per batch, never per sample. A channel is declared before its first sample.
pub trait Sink {
    /// A channel exists from here on.
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError>;
    /// Samples, in the order of the source.
    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError>;
    /// A channel's metadata are another text from here on.
    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        let _ = (id, time, metadata);
        Ok(())
    }
    /// A channel has no value from here on, until its next sample.
    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        let _ = (id, time);
        Ok(())
    }
    /// Something was lost or is doubtful. There is no default: a sink that ignores problems says why.
    ///
    /// The problems of a file are reported once, by the index; reading through the index does not repeat them. Streams
    /// and live sessions report here and nowhere else.
    fn problem(&mut self, problem: Problem);
}

/// Why reading into a sink ended early.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// Writing failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The format cannot say this.
    #[error(transparent)]
    Refused(#[from] EncodeError),
    /// The log that feeds the sink cannot be read, so it would lack samples.
    #[error(transparent)]
    Source(#[from] DecodeError),
    /// The sink failed for a reason of its own.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
    /// It has what it wanted; this is success.
    #[error("stopped")]
    Stopped,
}

impl SinkError {
    /// The same as an error of the log, for sinks that only collect and never fail by themselves.
    #[must_use]
    pub fn into_source(self, dialect: &'static str) -> DecodeError {
        match self {
            Self::Source(error) => error,
            error => DecodeError { dialect, code: "refused", at: 0, message: error.to_string(), help: None },
        }
    }
}

/// A format cannot represent what it was given. Nothing of that was written.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{dialect}: channel {channel:?}: {message}")]
pub struct EncodeError {
    /// The format.
    pub dialect: &'static str,
    /// The channel at fault.
    pub channel: String,
    /// Why it cannot be said, and what would help.
    pub message: String,
    /// The sample at fault, by its place in the batch. [`Encode::samples`] always names it.
    pub sample: Option<usize>,
}

impl EncodeError {
    /// An error that names no sample.
    pub fn new(dialect: &'static str, channel: impl Into<String>, message: impl Into<String>) -> Self {
        Self { dialect, channel: channel.into(), message: message.into(), sample: None }
    }

    /// The same error about one sample of a batch.
    #[must_use]
    pub fn of_sample(self, place: usize) -> Self {
        Self { sample: Some(place), ..self }
    }
}

/// Bytes in pieces, turned into samples: for streams and for files that still grow.
pub trait Decode: Send {
    /// Pushes what `input` holds into `sink`, in batches; returns how many bytes were used. The rest is
    /// to be given again with more behind it.
    fn decode(&mut self, input: &[u8], sink: &mut dyn Sink) -> Result<usize, StreamError>;
    /// No more bytes will come. `rest` is what the last call left.
    fn finish(&mut self, rest: &[u8], sink: &mut dyn Sink) -> Result<(), StreamError>;
}

/// Why a stream ended early.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The bytes are invalid.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The sink takes no more.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

/// Samples, turned into the bytes of a dialect. The calls are those of [`Sink`], with the bytes appended to `out`.
pub trait Encode: Send {
    /// Whether samples must come in the order of their times.
    fn needs_time_order(&self) -> bool {
        false
    }
    /// The bytes that stand before everything else.
    fn begin(&mut self, out: &mut Vec<u8>);
    /// See [`Sink::channel`].
    fn channel(&mut self, id: ChannelId, channel: &Channel, out: &mut Vec<u8>) -> Result<(), EncodeError>;
    /// See [`Sink::samples`].
    ///
    /// An error names the first sample that the format cannot represent ([`EncodeError::sample`]). The samples before
    /// it are encoded as if there were no error, the encoder kept nothing of the sample itself, and it has not looked
    /// at those behind it. So a caller that can do without the sample goes on with the ones behind it, and gets the same
    /// bytes as if the sample had never been there.
    fn samples(&mut self, samples: &[Sample<'_>], out: &mut Vec<u8>) -> Result<(), EncodeError>;
    /// See [`Sink::metadata`].
    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str, out: &mut Vec<u8>) -> Result<(), EncodeError>;
    /// See [`Sink::end`].
    fn end(&mut self, id: ChannelId, time: Time, out: &mut Vec<u8>) -> Result<(), EncodeError>;
    /// Makes bytes of everything that was given so far: whole records, with which a file may end. For formats that
    /// collect samples.
    fn seal(&mut self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let _ = out;
        Ok(())
    }
    /// No more samples will come: the last chance to refuse, for formats that say in front what is known only now.
    fn close(&mut self) -> Result<(), EncodeError> {
        Ok(())
    }
    /// No more samples will come. What the format could not keep is reported, once per kind.
    fn finish(&mut self, out: &mut Vec<u8>) -> Vec<Problem>;
}

/// An encoder as a sink: converting a log is decoding it into one of these.
pub struct Encoding<'a> {
    /// The encoder.
    pub encoder: &'a mut dyn Encode,
    /// Where its bytes go.
    pub out: &'a mut Vec<u8>,
    /// Where the problems of the source go.
    pub problems: &'a mut Problems,
}

impl Sink for Encoding<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        Ok(self.encoder.channel(id, channel, self.out)?)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        Ok(self.encoder.samples(samples, self.out)?)
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        Ok(self.encoder.metadata(id, time, metadata, self.out)?)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        Ok(self.encoder.end(id, time, self.out)?)
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// Options of a writer.
#[derive(Clone, Debug, Default)]
pub struct EncodeOptions {
    /// The revision of the format to write, where it has several.
    pub revision: Option<u8>,
    /// Free text for the header, where the format has room for it.
    pub extra_header: Option<String>,
    /// Whether values may be longer than every known reader of the format can take.
    pub long_values: bool,
}
