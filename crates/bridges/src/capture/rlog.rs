//! RLOG out of TCP streams: the robots that send it, and their clocks.

use std::net::IpAddr;

use logpose_core::{Channel, Decode, Problem, ReadOptions, Severity, Sink, SinkError, StreamError};
use logpose_rlog::Decoder;

use super::framer::Message;
use super::names::{Ids, Names, Output, Renumber};
use super::reassembly::Mark;

/// All RLOG of a capture.
#[derive(Debug, Default)]
pub(crate) struct Rlogs {
    sources: Vec<Source>,
    /// What to add to the times of each stream, found by an earlier reading.
    clocks: Vec<i64>,
    /// The same, as found by this reading: the shortest way from the robot's clock to the capture.
    shortest: Vec<Option<i64>>,
}

/// A robot that sends, and who listens.
#[derive(Debug)]
struct Source {
    client: IpAddr,
    robot: IpAddr,
    names: Names,
    streams: u64,
    frames: u64,
}

/// A stream under way.
#[derive(Debug)]
pub(crate) struct Stream {
    source: usize,
    /// How many began before it.
    number: usize,
    decoder: Decoder,
    ids: Ids,
}

impl Rlogs {
    /// What an earlier reading found about the clocks.
    pub(crate) fn set_clocks(&mut self, clocks: Vec<i64>) {
        self.clocks = clocks;
    }

    /// What this reading found about the clocks, stream by stream.
    pub(crate) fn clocks(&self) -> Vec<i64> {
        self.shortest.iter().map(|shortest| shortest.unwrap_or(0)).collect()
    }

    /// A stream begins; `middle` if its first frame was not captured.
    pub(crate) fn begin(
        &mut self,
        (client, robot): (IpAddr, IpAddr),
        (middle, mark): (bool, Mark),
        read: &ReadOptions<'_>,
        output: &mut Output<'_>,
    ) -> Option<Stream> {
        let found = self.sources.iter().position(|source| (source.client, source.robot) == (client, robot));
        let place = match found {
            Some(place) => place,
            None if self.sources.len() >= MOST_SOURCES => {
                let message = format!("more than {MOST_SOURCES} RLOG streams; skipped {robot} to {client}");
                output.problems.push(Problem::new(Severity::Damage, "too-many-links", mark.at, 0, message));
                return None;
            }
            None => {
                self.sources.push(Source { client, robot, names: Names::default(), streams: 0, frames: 0 });
                self.sources.len() - 1
            }
        };
        if middle {
            let message = "the capture starts in the middle of an RLOG stream; without its first frame the field names \
                           are unknown, and only new fields can be read";
            output.problems.push(Problem::new(Severity::Damage, "unknown-fields", mark.at, 0, message));
        }
        self.sources.get_mut(place)?.streams += 1;
        // Without the first frame the revision is not known either; everyone sends R2 today.
        let read = ReadOptions { revision: read.revision.or(Some(2)), ..*read };
        self.shortest.push(None);
        let number = self.shortest.len() - 1;
        Some(Stream { source: place, number, decoder: Decoder::new(&read), ids: Ids::default() })
    }

    /// A frame of a stream.
    pub(crate) fn frame(
        &mut self,
        stream: &mut Stream,
        message: Message<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), SinkError> {
        let Message { mark, body } = message;
        let Some(source) = self.sources.get_mut(stream.source) else { return Ok(()) };
        source.frames += 1;
        if body.is_empty() {
            return Ok(());
        }
        let shift = self.clocks.get(stream.number).copied().unwrap_or(0);
        let mut sink = Renumber::new(output, &mut source.names, &mut stream.ids, shift);
        sink.within(mark.at, body.len());
        match stream.decoder.frame(body, &mut sink) {
            Ok(()) => {}
            Err(StreamError::Sink(error)) => return Err(error),
            Err(StreamError::Decode(error)) => {
                let message = format!("an RLOG frame of {} bytes: {}", body.len(), error.message);
                sink.problem(Problem::general(Severity::Damage, "bad-frame", message));
            }
        }
        if let (Some(time), Some(shortest)) = (stream.decoder.time(), self.shortest.get_mut(stream.number)) {
            let way = mark.time.since(time);
            *shortest = Some(shortest.map_or(way, |shortest| shortest.min(way)));
        }
        Ok(())
    }

    /// A stream is over: emits the rest and reports its problems.
    pub(crate) fn end(&mut self, mut stream: Stream, output: &mut Output<'_>) -> Result<(), SinkError> {
        let Some(source) = self.sources.get_mut(stream.source) else { return Ok(()) };
        let mut sink = Renumber::new(output, &mut source.names, &mut stream.ids, 0);
        match stream.decoder.finish(&[], &mut sink) {
            // The only error is that nothing came.
            Ok(()) | Err(StreamError::Decode(_)) => Ok(()),
            Err(StreamError::Sink(error)) => Err(error),
        }
    }

    /// Client and robot of each source.
    pub(crate) fn pairs(&self) -> Vec<(IpAddr, IpAddr)> {
        self.sources.iter().map(|source| (source.client, source.robot)).collect()
    }

    /// Puts a prefix for each source in front of its channels.
    pub(crate) fn rename(&self, prefixes: &[String], channels: &mut [Channel]) {
        for (source, prefix) in self.sources.iter().zip(prefixes) {
            source.names.rename(prefix, channels);
        }
    }

    /// The sources in words.
    pub(crate) fn summary(&self) -> Vec<String> {
        let sources = self.sources.iter().map(|Source { client, robot, streams, frames, .. }| {
            format!("{robot} to {client}: {frames} frames in {streams} connections")
        });
        sources.collect()
    }
}

/// Sources that one capture may have.
const MOST_SOURCES: usize = 64;
