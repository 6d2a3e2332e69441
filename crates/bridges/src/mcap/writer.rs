use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use logpose_core::{Problem, Severity, SinkError, Time};
use logpose_schema::Registry;
use mcap::records::{MessageHeader, Metadata};
use mcap::write::NoSeek;
use mcap::{McapError, WriteOptions};

use super::piece::McapPiece;
use super::plan::{Catalog, FIRST, Plan};
use super::scene::Scene;
use crate::{Header, Piece as _, Writer};

/// How the chunks of an MCAP file are compressed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Compression {
    /// Zstandard: the smallest files.
    #[default]
    Zstd,
    /// LZ4: faster to write and to read.
    Lz4,
    /// Not at all.
    None,
}

/// How an MCAP file is written.
#[derive(Clone, Copy, Debug)]
pub struct McapOptions {
    /// How chunks are compressed.
    pub compression: Compression,
    /// Whether poses are written once more as Foxglove's own messages, which its 3D panel shows.
    pub poses: bool,
    /// A time that no sample comes before. It matters where it is negative, because MCAP has no sign: samples before it
    /// and below zero are kept where only logpose finds them, and a problem says so.
    pub earliest: Time,
}

impl Default for McapOptions {
    fn default() -> Self {
        Self { compression: Compression::default(), poses: true, earliest: Time::ZERO }
    }
}

/// Writes an MCAP file: chunks with indexes, and a summary with statistics.
///
/// Payloads of WPILib structs and plain values are the messages of ROS 1 with the same fields, so they are copied;
/// protobuf, JSON and msgpack stay what they are. What only logpose reads back stands in metadata.
pub struct McapWriter<W: Write> {
    file: Mutex<File<W>>,
    plan: Arc<Plan>,
    early: u64,
}

impl<W: Write + Send> McapWriter<W> {
    /// Starts a file of a log with these channels; its schemas are looked up in `registry`.
    pub fn new(out: W, header: &Header, registry: &Registry, options: &McapOptions) -> Result<Self, SinkError> {
        Self::with_scene(out, header, registry, options, None)
    }

    /// The same, for a log that shows a scene: it is written once more in Foxglove's own messages, as poses are.
    pub fn with_scene(
        out: W,
        header: &Header,
        registry: &Registry,
        options: &McapOptions,
        scene: Option<Scene>,
    ) -> Result<Self, SinkError> {
        let plan = Plan::new(header, registry, options.earliest, options.poses, scene)?;
        let mut file = File::create(out, &plan.metadata(header), options.compression)?;
        for id in (FIRST..).take(plan.at_front) {
            file.declare(&plan.catalog, id)?;
        }
        Ok(Self { file: Mutex::new(file), plan: Arc::new(plan), early: 0 })
    }
}

impl<W: Write + Send> Writer for McapWriter<W> {
    type Piece = McapPiece;

    fn piece(&self) -> McapPiece {
        McapPiece::new(Arc::clone(&self.plan))
    }

    fn append(&mut self, mut piece: McapPiece) -> Result<(), SinkError> {
        piece.seal()?;
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        for id in piece.topics() {
            file.declare(&self.plan.catalog, id)?;
        }
        for (topic, time, data) in piece.buffer().messages() {
            file.message(topic, time, data)?;
        }
        self.early += piece.buffer().early;
        // A piece that is written is safe, whatever happens to the next.
        file.flush()
    }

    fn finish(mut self) -> Result<Vec<Problem>, SinkError> {
        self.file.get_mut().unwrap_or_else(PoisonError::into_inner).finish()?;
        Ok(early_samples(self.early).into_iter().collect())
    }
}

/// A file that stays without an end if it is dropped: what was given up must not look whole.
pub(crate) struct File<W: Write> {
    writer: Option<mcap::Writer<NoSeek<W>>>,
    /// By place in the catalog: what is declared already.
    declared: Vec<bool>,
}

impl<W: Write> Drop for File<W> {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.into_inner();
        }
    }
}

impl<W: Write> File<W> {
    pub(crate) fn create(out: W, metadata: &Metadata, compression: Compression) -> Result<Self, SinkError> {
        let compression = match compression {
            Compression::Zstd => Some(mcap::Compression::Zstd),
            Compression::Lz4 => Some(mcap::Compression::Lz4),
            Compression::None => None,
        };
        // Threads of zstd share the work on one frame from 8 MiB on; a chunk is smaller, so they would only wait.
        let write = WriteOptions::new()
            .compression(compression)
            .compression_threads(0)
            .chunk_size(Some(CHUNK))
            .library(concat!("logpose ", env!("CARGO_PKG_VERSION")))
            .disable_seeking(true);
        let mut writer = write.create(NoSeek::new(out)).map_err(failed)?;
        writer.write_metadata(metadata).map_err(failed)?;
        Ok(Self { writer: Some(writer), declared: Vec::new() })
    }

    /// Writes an MCAP channel and its schema, if that was not done.
    pub(crate) fn declare(&mut self, catalog: &Catalog, id: u16) -> Result<(), SinkError> {
        let place = usize::from(id - FIRST);
        if self.declared.get(place) == Some(&true) {
            return Ok(());
        }
        let Some(topic) = catalog.topics.get(place) else { return Ok(()) };
        let writer = self.writer()?;
        if let Some(schema) = catalog.schema_of(topic) {
            writer.add_schema_with_id(schema.id, &schema.name, &schema.encoding, &schema.data).map_err(failed)?;
        }
        let (encoding, metadata) = (&topic.message_encoding, &topic.metadata);
        writer.add_channel_with_id(id, topic.schema_id, &topic.topic, encoding, metadata).map_err(failed)?;
        if self.declared.len() <= place {
            self.declared.resize(place + 1, false);
        }
        if let Some(declared) = self.declared.get_mut(place) {
            *declared = true;
        }
        Ok(())
    }

    /// Writes a message of an MCAP channel that is declared.
    #[inline]
    pub(crate) fn message(&mut self, channel_id: u16, log_time: u64, data: &[u8]) -> Result<(), SinkError> {
        // There are no numbers to put in sequence.
        let header = MessageHeader { channel_id, sequence: 0, log_time, publish_time: log_time };
        self.writer()?.write_to_known_channel(&header, data).map_err(failed)
    }

    /// Ends the chunk.
    pub(crate) fn flush(&mut self) -> Result<(), SinkError> {
        self.writer()?.flush().map_err(failed)
    }

    /// Writes the summary.
    pub(crate) fn finish(&mut self) -> Result<(), SinkError> {
        self.writer()?.finish().map_err(failed)?;
        Ok(())
    }

    fn writer(&mut self) -> Result<&mut mcap::Writer<NoSeek<W>>, SinkError> {
        self.writer.as_mut().ok_or_else(|| failed(McapError::AttemptedWriteAfterFailure))
    }
}

/// What is to be said about samples whose times MCAP does not have.
pub(crate) fn early_samples(count: u64) -> Option<Problem> {
    let message = format!("{count} samples have timestamps that MCAP cannot represent; only logpose can read them");
    (count > 0).then(|| Problem::general(Severity::Warning, "early-samples", message))
}

fn failed(error: McapError) -> SinkError {
    match error {
        McapError::Io(error) => error.into(),
        other => std::io::Error::other(other).into(),
    }
}

/// Bytes of records after which a chunk is full: small enough to jump, large enough to compress.
pub(crate) const CHUNK: u64 = 1 << 20;
