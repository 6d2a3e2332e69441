use std::io::Write;

use logpose_core::{Channel, ChannelId, Problem, Sample, Sink, SinkError, Time};

use super::describe::Language;
use super::messages::Messages;
use super::plan;
use super::writer::{File, McapOptions, early_samples};
use crate::Header;

/// Writes an MCAP file of a stream, whose channels and schemas come as it goes on.
///
/// The file is what [`McapWriter`](super::McapWriter) makes of a whole log. What was given up to a
/// [`McapStream::flush`] is in it, whatever happens to the program afterwards. With [`DATA_END`] and [`FOOTER`] behind
/// it, in whose place the next chunk comes, that is a whole file without a summary; [`McapStream::finish`] adds the
/// summary, with which viewers jump.
///
/// The summary has ten bytes for each channel in each chunk, and they are kept in memory up to then: 300 channels that
/// are flushed four times a second cost 43 MB an hour.
pub struct McapStream<W: Write> {
    file: File<W>,
    messages: Messages,
    problems: Vec<Problem>,
}

/// The record that ends the data section, without a checksum.
pub const DATA_END: [u8; 13] = *b"\x0f\x04\0\0\0\0\0\0\0\0\0\0\0";

/// The footer of a file that has no summary, and the magic bytes behind it.
pub const FOOTER: [u8; 37] = *b"\x02\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x89MCAP0\r\n";

impl<W: Write> McapStream<W> {
    /// Starts a file. `epoch_ns` is what to add to a time to get Unix nanoseconds, if it is known.
    pub fn new(out: W, epoch_ns: Option<i64>, options: &McapOptions) -> Result<Self, SinkError> {
        Self::with_header(out, &Header { epoch_ns, ..Header::default() }, options)
    }

    /// The same, with what else is known of the log. The channels of the header are not looked at.
    pub fn with_header(out: W, header: &Header, options: &McapOptions) -> Result<Self, SinkError> {
        let messages = Messages::new(plan::offset(options.earliest), options.poses, Language::Ros1)?;
        let mut file = File::create(out, &messages.plan().metadata(header), options.compression)?;
        // The magic identifies the file from the first moment on.
        file.flush()?;
        Ok(Self { file, messages, problems: Vec::new() })
    }

    /// Ends the chunk and flushes the writer: all that was given so far is in the file.
    pub fn flush(&mut self) -> Result<(), SinkError> {
        self.messages.seal()?;
        self.write()?;
        self.file.flush()
    }

    /// Writes the summary and the end. What the file cannot say is reported.
    pub fn finish(mut self) -> Result<Vec<Problem>, SinkError> {
        self.messages.finish()?;
        self.write()?;
        // Channels without samples are channels all the same.
        let plan = self.messages.plan();
        for topic in plan.routes.iter().map(|route| route.topic).filter(|topic| *topic != 0) {
            self.file.declare(&plan.catalog, topic)?;
        }
        self.file.finish()?;
        self.problems.extend(early_samples(self.messages.early()));
        Ok(self.problems)
    }

    fn write(&mut self) -> Result<(), SinkError> {
        let catalog = &self.messages.plan().catalog;
        for message in self.messages.messages() {
            // A topic comes behind the start of its channel, which numbers it in a file without a summary.
            self.file.declare(catalog, message.topic)?;
            self.file.message(message.topic, message.time, message.data)?;
        }
        self.messages.clear();
        Ok(())
    }
}

impl<W: Write> Sink for McapStream<W> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.messages.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.messages.samples(samples)?;
        self.write()
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.messages.metadata(id, time, metadata)?;
        self.write()
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.messages.end(id, time)?;
        self.write()
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}
