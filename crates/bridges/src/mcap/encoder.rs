use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use logpose_core::{Channel, ChannelId, Encode, EncodeError, Problem, Sample, Severity, Sink, SinkError, Time};

use super::{McapOptions, McapStream};

/// An [`McapStream`] as an encoder: its bytes come in chunks, with [`Encode::seal`].
pub struct McapEncoder {
    /// `None` once it is finished.
    stream: Option<McapStream<Chunks>>,
    chunks: Chunks,
}

/// Bytes that were written and nobody has taken yet.
#[derive(Clone, Default)]
struct Chunks(Arc<Mutex<Vec<u8>>>);

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

impl McapEncoder {
    /// An encoder of one file. `epoch_ns` is what to add to a time to get Unix nanoseconds, if it is known.
    pub fn new(epoch_ns: Option<i64>, options: &McapOptions) -> Result<Self, SinkError> {
        let chunks = Chunks::default();
        Ok(Self { stream: Some(McapStream::new(chunks.clone(), epoch_ns, options)?), chunks })
    }

    fn call(&mut self, call: impl FnOnce(&mut McapStream<Chunks>) -> Result<(), SinkError>) -> Result<(), EncodeError> {
        self.stream.as_mut().map_or(Ok(()), call).map_err(refused)
    }
}

/// Writing to memory fails for no other reason than a refusal.
fn refused(error: SinkError) -> EncodeError {
    match error {
        SinkError::Refused(error) => error,
        error => EncodeError::new("mcap", "", error.to_string()),
    }
}

impl Encode for McapEncoder {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.chunks.take(out);
    }

    fn channel(&mut self, id: ChannelId, channel: &Channel, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.call(|stream| stream.channel(id, channel))
    }

    /// One at a time: samples may wait in the stream for their schema, so its errors do not identify the sample.
    fn samples(&mut self, samples: &[Sample<'_>], _: &mut Vec<u8>) -> Result<(), EncodeError> {
        samples.iter().enumerate().try_for_each(|(place, sample)| {
            self.call(|stream| stream.samples(&[*sample])).map_err(|error| error.of_sample(place))
        })
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.call(|stream| stream.metadata(id, time, metadata))
    }

    fn end(&mut self, id: ChannelId, time: Time, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.call(|stream| stream.end(id, time))
    }

    fn seal(&mut self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.call(McapStream::flush)?;
        self.chunks.take(out);
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Vec<Problem> {
        let finished = self.stream.take().map_or(Ok(Vec::new()), McapStream::finish);
        self.chunks.take(out);
        finished.unwrap_or_else(|error| vec![Problem::general(Severity::Damage, "refused", refused(error).to_string())])
    }
}
