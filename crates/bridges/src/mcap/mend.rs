use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use mcap::records::{Record, op};
use mcap::write::NoSeek;
use mcap::{Attachment, MAGIC, McapError, WriteOptions};

use super::unpack::{Frames, chunk_records};
use super::writer::CHUNK;

/// Writes the schemas, channels, messages, metadata and attachments that can be read of a file, as they are, as a file
/// with a summary.
///
/// What cannot be read is left out without a word: reading the file reports it.
pub(crate) fn mend(file: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let frames = || Frames::new(file, MAGIC.len());
    let mut write = WriteOptions::new()
        .compression(Some(mcap::Compression::Zstd))
        .compression_threads(0)
        .chunk_size(Some(CHUNK))
        .disable_seeking(true);
    let header = frames().find(|frame| frame.opcode == op::HEADER).and_then(|frame| frame.parse().ok());
    if let Some(Record::Header(header)) = header {
        write = write.profile(header.profile).library(header.library);
    }
    let writer = write.create(NoSeek::new(out)).map_err(failed)?;
    let mut copy = Copy { writer, schemas: HashMap::new(), channels: HashMap::new() };
    // The summary repeats what a damaged chunk may have lost.
    for frame in frames().filter(|frame| [op::SCHEMA, op::CHANNEL].contains(&frame.opcode)) {
        if let Ok(record) = frame.parse() {
            copy.record(record)?;
        }
    }
    for frame in frames().take_while(|frame| frame.opcode != op::DATA_END) {
        let Ok(record) = frame.parse() else { continue };
        let Record::Chunk { header, .. } = record else {
            copy.record(record)?;
            continue;
        };
        let start = frame.at;
        let bytes = file.get(start..).and_then(|rest| rest.get(..usize::try_from(frame.length()).ok()?));
        let mut end = Ok(());
        // A chunk whose checksum is wrong gives no record at all.
        let _ = chunk_records(bytes.unwrap_or_default(), header.uncompressed_size, |_, record| {
            if let (Ok(record), Ok(())) = (record, &end) {
                end = copy.record(record);
            }
        });
        end?;
    }
    copy.writer.finish().map_err(failed)?;
    Ok(())
}

/// A file that is being written, and the numbers that schemas and channels have in it.
struct Copy<W: Write> {
    writer: mcap::Writer<NoSeek<W>>,
    schemas: HashMap<u16, u16>,
    channels: HashMap<u16, u16>,
}

impl<W: Write> Copy<W> {
    fn record(&mut self, record: Record<'_>) -> io::Result<()> {
        match record {
            Record::Schema { header, data } => {
                let (name, encoding) = (&header.name, &header.encoding);
                // A number that was given away is taken by its first schema; the later one gets another.
                let kept = self.writer.add_schema_with_id(header.id, name, encoding, &data);
                if let Ok(id) = kept.or_else(|_| self.writer.add_schema(name, encoding, &data)) {
                    self.schemas.insert(header.id, id);
                }
            }
            Record::Channel(channel) => {
                let schema = match channel.schema_id {
                    0 => Some(0),
                    id => self.schemas.get(&id).copied(),
                };
                // Without its schema nobody can read it.
                let Some(schema) = schema else { return Ok(()) };
                let (topic, encoding) = (&channel.topic, &channel.message_encoding);
                let metadata: &BTreeMap<String, String> = &channel.metadata;
                let kept = self.writer.add_channel_with_id(channel.id, schema, topic, encoding, metadata);
                if let Ok(id) = kept.or_else(|_| self.writer.add_channel(schema, topic, encoding, metadata)) {
                    self.channels.insert(channel.id, id);
                }
            }
            Record::Message { mut header, data } => {
                let Some(id) = self.channels.get(&header.channel_id) else { return Ok(()) };
                header.channel_id = *id;
                self.writer.write_to_known_channel(&header, &data).map_err(failed)?;
            }
            Record::Metadata(metadata) => self.writer.write_metadata(&metadata).map_err(failed)?,
            Record::Attachment { header, data, .. } => {
                let (log_time, create_time) = (header.log_time, header.create_time);
                let (name, media_type) = (header.name, header.media_type);
                let attachment = Attachment { log_time, create_time, name, media_type, data };
                self.writer.attach(&attachment).map_err(failed)?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn failed(error: McapError) -> io::Error {
    match error {
        McapError::Io(error) => error,
        other => io::Error::other(other),
    }
}
