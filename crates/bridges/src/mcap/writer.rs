use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use logpose_core::{Problem, SinkError, Time};
use logpose_schema::Registry;
use mcap::records::MessageHeader;
use mcap::write::NoSeek;
use mcap::{McapError, WriteOptions};

use super::piece::McapPiece;
use super::plan::{FIRST, Plan};
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
    /// A time that no sample comes before. It matters where it is negative, because MCAP has no sign.
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
    file: Mutex<Unfinished<W>>,
    plan: Arc<Plan>,
    /// By place in the plan: what is declared already.
    declared: Vec<bool>,
}

/// A file that stays without an end if it is dropped: what was given up must not look whole.
struct Unfinished<W: Write>(Option<mcap::Writer<NoSeek<W>>>);

impl<W: Write> Drop for Unfinished<W> {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            file.into_inner();
        }
    }
}

impl<W: Write> Unfinished<W> {
    fn file(&mut self) -> Result<&mut mcap::Writer<NoSeek<W>>, SinkError> {
        self.0.as_mut().ok_or_else(|| failed(McapError::AttemptedWriteAfterFailure))
    }
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
        let compression = match options.compression {
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
        let mut file = write.create(NoSeek::new(out)).map_err(failed)?;
        file.write_metadata(&plan.metadata(header)).map_err(failed)?;
        let file = Mutex::new(Unfinished(Some(file)));
        let mut writer = Self { file, declared: vec![false; plan.topics.len()], plan: Arc::new(plan) };
        for id in (FIRST..).take(writer.plan.at_front) {
            writer.declare(id)?;
        }
        Ok(writer)
    }

    /// Writes an MCAP channel and its schema, if that was not done.
    fn declare(&mut self, id: u16) -> Result<(), SinkError> {
        let place = usize::from(id - FIRST);
        let (Some(topic), Some(declared)) = (self.plan.topics.get(place), self.declared.get_mut(place)) else {
            return Ok(());
        };
        if std::mem::replace(declared, true) {
            return Ok(());
        }
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner).file()?;
        let schema = topic.schema_id.checked_sub(FIRST).and_then(|place| self.plan.schemas.get(usize::from(place)));
        if let Some(schema) = schema {
            file.add_schema_with_id(schema.id, &schema.name, &schema.encoding, &schema.data).map_err(failed)?;
        }
        let (encoding, metadata) = (&topic.message_encoding, &topic.metadata);
        file.add_channel_with_id(id, topic.schema_id, &topic.topic, encoding, metadata).map_err(failed)?;
        Ok(())
    }
}

impl<W: Write + Send> Writer for McapWriter<W> {
    type Piece = McapPiece;

    fn piece(&self) -> McapPiece {
        McapPiece::new(Arc::clone(&self.plan))
    }

    fn append(&mut self, mut piece: McapPiece) -> Result<(), SinkError> {
        piece.seal()?;
        for id in piece.topics() {
            self.declare(id)?;
        }
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner).file()?;
        for (channel_id, log_time, data) in piece.messages() {
            // There are no numbers to put in sequence.
            let header = MessageHeader { channel_id, sequence: 0, log_time, publish_time: log_time };
            file.write_to_known_channel(&header, data).map_err(failed)?;
        }
        // A piece that is written is safe, whatever happens to the next.
        file.flush().map_err(failed)
    }

    fn finish(mut self) -> Result<Vec<Problem>, SinkError> {
        self.file.get_mut().unwrap_or_else(PoisonError::into_inner).file()?.finish().map_err(failed)?;
        Ok(Vec::new())
    }
}

fn failed(error: McapError) -> SinkError {
    match error {
        McapError::Io(error) => error.into(),
        other => std::io::Error::other(other).into(),
    }
}

/// Bytes of records after which a chunk is full: small enough to jump, large enough to compress.
const CHUNK: u64 = 1 << 20;
