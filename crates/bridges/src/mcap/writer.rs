use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use logpose_core::{Problem, SinkError, Time};
use logpose_schema::Registry;

use super::Compression;
use super::piece::{McapPiece, Sealed};
use super::plan::{NAME, Plan};
use super::wire::{self, MAGIC, op};
use crate::{Header, Writer};

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
pub struct McapWriter<W> {
    out: Mutex<W>,
    /// Bytes written.
    at: u64,
    /// Of all bytes written.
    crc: crc32fast::Hasher,
    plan: Arc<Plan>,
    compression: Compression,
    /// By place in the plan: what is written already, and how many messages there are.
    schemas: Vec<bool>,
    topics: Vec<Option<u64>>,
    /// Where the metadata record is, and how long.
    metadata: (u64, u64),
    /// Records of the chunks for the summary.
    chunks: Vec<u8>,
    chunk_count: u32,
    range: Option<(u64, u64)>,
}

impl<W: Write + Send> McapWriter<W> {
    /// Starts a file of a log with these channels; its schemas are looked up in `registry`.
    pub fn new(out: W, header: &Header, registry: &Registry, options: &McapOptions) -> Result<Self, SinkError> {
        let plan = Plan::new(header, registry, options.earliest, options.poses)?;
        let mut bytes = MAGIC.to_vec();
        wire::record(&mut bytes, op::HEADER, |out| {
            wire::text(out, "");
            wire::text(out, concat!("logpose ", env!("CARGO_PKG_VERSION")));
        });
        let at = bytes.len() as u64;
        plan.metadata(header).emit(&mut bytes);
        let metadata = (at, bytes.len() as u64 - at);
        let mut writer = Self {
            out: Mutex::new(out),
            at: 0,
            crc: crc32fast::Hasher::new(),
            schemas: vec![false; plan.schemas.len()],
            topics: vec![None; plan.topics.len()],
            plan: Arc::new(plan),
            compression: options.compression,
            metadata,
            chunks: Vec::new(),
            chunk_count: 0,
            range: None,
        };
        for id in 1..writer.plan.at_front {
            writer.declare(id, &mut bytes);
        }
        writer.write(&bytes)?;
        Ok(writer)
    }

    /// Appends the records of an MCAP channel, if they are not written yet.
    fn declare(&mut self, id: usize, out: &mut Vec<u8>) {
        let (Some(topic), Some(count)) = (self.plan.topics.get(id), self.topics.get_mut(id)) else { return };
        if count.is_some() {
            return;
        }
        *count = Some(0);
        let schema = usize::from(topic.schema);
        if let (1.., Some(schema), Some(written)) =
            (schema, self.plan.schemas.get(schema), self.schemas.get_mut(schema))
            && !std::mem::replace(written, true)
        {
            schema.emit(out);
        }
        topic.emit(out);
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        self.crc.update(bytes);
        self.write_hashed(bytes)
    }

    fn write_hashed(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        self.at += bytes.len() as u64;
        self.out.get_mut().unwrap_or_else(PoisonError::into_inner).write_all(bytes)?;
        Ok(())
    }

    /// Keeps what the summary says about the chunks of a piece that starts at `base`.
    fn remember(&mut self, sealed: &Sealed, base: u64) {
        for chunk in &sealed.chunks {
            let (first, last) = self.range.unwrap_or((chunk.first, chunk.last));
            self.range = Some((first.min(chunk.first), last.max(chunk.last)));
            self.chunk_count += 1;
            for (topic, _, count) in &chunk.indexes {
                if let Some(Some(sum)) = self.topics.get_mut(usize::from(*topic)) {
                    *sum += count;
                }
            }
            let name = self.compression.name();
            wire::record(&mut self.chunks, op::CHUNK_INDEX, |out| {
                let number = |out: &mut Vec<u8>, number: u64| out.extend_from_slice(&number.to_le_bytes());
                number(out, chunk.first);
                number(out, chunk.last);
                number(out, base + chunk.at as u64);
                number(out, chunk.length as u64);
                wire::sized(out, |out| {
                    for (topic, at, _) in &chunk.indexes {
                        out.extend_from_slice(&topic.to_le_bytes());
                        number(out, base + *at as u64);
                    }
                });
                number(out, chunk.indexes_length as u64);
                wire::text(out, name);
                number(out, chunk.compressed as u64);
                number(out, chunk.uncompressed as u64);
            });
        }
    }

    /// The records of the summary, in groups: opcode and records.
    fn summary(&mut self) -> [(u8, Vec<u8>); 5] {
        let mut schemas = Vec::new();
        let written = self.plan.schemas.iter().zip(&self.schemas).filter(|(_, written)| **written);
        written.for_each(|(schema, _)| schema.emit(&mut schemas));
        let mut topics = Vec::new();
        let written =
            || self.plan.topics.iter().zip(&self.topics).filter_map(|(topic, count)| Some((topic, (*count)?)));
        written().for_each(|(topic, _)| topic.emit(&mut topics));
        let mut statistics = Vec::new();
        let (first, last) = self.range.unwrap_or_default();
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes();
        wire::record(&mut statistics, op::STATISTICS, |out| {
            out.extend_from_slice(&written().map(|(_, count)| count).sum::<u64>().to_le_bytes());
            let schemas = self.schemas.iter().filter(|written| **written).count();
            out.extend_from_slice(&u16::try_from(schemas).unwrap_or(u16::MAX).to_le_bytes());
            out.extend_from_slice(&small(written().count()));
            out.extend_from_slice(&small(0));
            out.extend_from_slice(&small(1));
            out.extend_from_slice(&self.chunk_count.to_le_bytes());
            out.extend_from_slice(&first.to_le_bytes());
            out.extend_from_slice(&last.to_le_bytes());
            wire::sized(out, |out| {
                for (topic, count) in written().filter(|(_, count)| *count > 0) {
                    out.extend_from_slice(&topic.id.to_le_bytes());
                    out.extend_from_slice(&count.to_le_bytes());
                }
            });
        });
        let mut metadata = Vec::new();
        wire::record(&mut metadata, op::METADATA_INDEX, |out| {
            out.extend_from_slice(&self.metadata.0.to_le_bytes());
            out.extend_from_slice(&self.metadata.1.to_le_bytes());
            wire::text(out, NAME);
        });
        [
            (op::SCHEMA, schemas),
            (op::CHANNEL, topics),
            (op::STATISTICS, statistics),
            (op::CHUNK_INDEX, std::mem::take(&mut self.chunks)),
            (op::METADATA_INDEX, metadata),
        ]
    }
}

impl<W: Write + Send> Writer for McapWriter<W> {
    type Piece = McapPiece;

    fn piece(&self) -> McapPiece {
        McapPiece::new(Arc::clone(&self.plan), self.compression)
    }

    fn append(&mut self, piece: McapPiece) -> Result<(), SinkError> {
        let sealed = piece.into_sealed()?;
        let mut front = Vec::new();
        for (topic, ..) in sealed.chunks.iter().flat_map(|chunk| &chunk.indexes) {
            self.declare(usize::from(*topic), &mut front);
        }
        self.write(&front)?;
        self.remember(&sealed, self.at);
        self.crc.combine(&sealed.crc);
        self.write_hashed(&sealed.bytes)
    }

    fn finish(mut self) -> Result<Vec<Problem>, SinkError> {
        let crc = self.crc.clone().finalize();
        let mut bytes = Vec::new();
        wire::record(&mut bytes, op::DATA_END, |out| out.extend_from_slice(&crc.to_le_bytes()));
        self.write(&bytes)?;
        let summary_start = self.at;
        let mut bytes = Vec::new();
        let mut offsets = Vec::new();
        for (opcode, group) in self.summary() {
            if group.is_empty() {
                continue;
            }
            wire::record(&mut offsets, op::SUMMARY_OFFSET, |out| {
                out.push(opcode);
                out.extend_from_slice(&(summary_start + bytes.len() as u64).to_le_bytes());
                out.extend_from_slice(&(group.len() as u64).to_le_bytes());
            });
            bytes.extend_from_slice(&group);
        }
        let offset_start = summary_start + bytes.len() as u64;
        bytes.extend_from_slice(&offsets);
        wire::record(&mut bytes, op::FOOTER, |out| {
            out.extend_from_slice(&summary_start.to_le_bytes());
            out.extend_from_slice(&offset_start.to_le_bytes());
            out.extend_from_slice(&[0; 4]);
        });
        // The sum covers the summary and the footer in front of it, whose length stands there by now.
        let crc_at = bytes.len() - 4;
        let crc = crc32fast::hash(bytes.get(..crc_at).unwrap_or_default());
        bytes.truncate(crc_at);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes.extend_from_slice(&MAGIC);
        self.write(&bytes)?;
        self.out.get_mut().unwrap_or_else(PoisonError::into_inner).flush()?;
        Ok(Vec::new())
    }
}
