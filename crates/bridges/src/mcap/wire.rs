//! The records of MCAP, version 0: an opcode, a length in eight bytes, a body. Numbers are little-endian.

use logpose_core::{Cursor, Truncated};

/// What stands at the front and at the end of a file.
pub(crate) const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";

/// Opcodes.
pub(crate) mod op {
    pub(crate) const HEADER: u8 = 0x01;
    pub(crate) const FOOTER: u8 = 0x02;
    pub(crate) const SCHEMA: u8 = 0x03;
    pub(crate) const CHANNEL: u8 = 0x04;
    pub(crate) const MESSAGE: u8 = 0x05;
    pub(crate) const CHUNK: u8 = 0x06;
    pub(crate) const MESSAGE_INDEX: u8 = 0x07;
    pub(crate) const CHUNK_INDEX: u8 = 0x08;
    pub(crate) const ATTACHMENT: u8 = 0x09;
    pub(crate) const STATISTICS: u8 = 0x0b;
    pub(crate) const METADATA: u8 = 0x0c;
    pub(crate) const METADATA_INDEX: u8 = 0x0d;
    pub(crate) const SUMMARY_OFFSET: u8 = 0x0e;
    pub(crate) const DATA_END: u8 = 0x0f;
}

/// Bytes in front of a record's body.
pub(crate) const FRAME: usize = 9;

/// Bytes of a message in front of its data, the frame included.
pub(crate) const MESSAGE_HEAD: usize = FRAME + 22;

/// Appends a record whose body is what `write` appends.
pub(crate) fn record(out: &mut Vec<u8>, opcode: u8, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(opcode);
    let start = out.len() + 8;
    out.extend_from_slice(&[0; 8]);
    write(out);
    let length = (out.len() - start) as u64;
    patch(out, start - 8, length);
}

/// Puts a length where room was left for it.
pub(crate) fn patch(out: &mut [u8], at: usize, length: u64) {
    if let Some(field) = out.get_mut(at..at + 8) {
        field.copy_from_slice(&length.to_le_bytes());
    }
}

/// Appends a text with its length in front. Texts of 4 GiB do not occur: they come from memory that is checked before.
pub(crate) fn text(out: &mut Vec<u8>, text: &str) {
    block(out, text.as_bytes());
}

/// Appends bytes with their length in four bytes in front.
pub(crate) fn block(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(bytes.get(..length as usize).unwrap_or_default());
}

/// Appends what `write` appends, with its length in four bytes in front.
pub(crate) fn sized(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    if let Some(field) = out.get_mut(start..start + 4) {
        field.copy_from_slice(&length.to_le_bytes());
    }
}

/// Appends a map of texts.
pub(crate) fn map(out: &mut Vec<u8>, pairs: &[(String, String)]) {
    sized(out, |out| {
        for (key, value) in pairs {
            text(out, key);
            text(out, value);
        }
    });
}

/// Where a record stands, and what it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) at: u64,
    pub(crate) opcode: u8,
    pub(crate) body: &'a [u8],
}

impl<'a> Record<'a> {
    pub(crate) fn parse(cur: &mut Cursor<'a>) -> Result<Self, Truncated> {
        let at = cur.offset();
        let opcode = cur.u8("opcode")?;
        let length = u64_le(cur, "record length")?;
        Ok(Self { at, opcode, body: cur.take(length, "record")? })
    }

    /// The body, to be taken apart.
    pub(crate) fn cursor(&self) -> Cursor<'a> {
        Cursor::new(self.body, self.at + FRAME as u64)
    }
}

/// What messages of a channel look like.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Schema {
    pub(crate) id: u16,
    pub(crate) name: String,
    pub(crate) encoding: String,
    pub(crate) data: Vec<u8>,
}

impl Schema {
    pub(crate) fn parse(mut cur: Cursor<'_>) -> Result<Self, Truncated> {
        let id = u16_le(&mut cur, "schema id")?;
        let name = string(&mut cur, "schema name")?;
        let encoding = string(&mut cur, "schema encoding")?;
        let data = counted(&mut cur, "schema data")?.to_vec();
        Ok(Self { id, name, encoding, data })
    }

    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        record(out, op::SCHEMA, |out| {
            out.extend_from_slice(&self.id.to_le_bytes());
            text(out, &self.name);
            text(out, &self.encoding);
            block(out, &self.data);
        });
    }
}

/// A series of messages.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Topic {
    pub(crate) id: u16,
    /// 0 for none.
    pub(crate) schema: u16,
    pub(crate) name: String,
    pub(crate) encoding: String,
    pub(crate) metadata: Vec<(String, String)>,
}

impl Topic {
    pub(crate) fn parse(mut cur: Cursor<'_>) -> Result<Self, Truncated> {
        Ok(Self {
            id: u16_le(&mut cur, "channel id")?,
            schema: u16_le(&mut cur, "schema id")?,
            name: string(&mut cur, "topic")?,
            encoding: string(&mut cur, "message encoding")?,
            metadata: pairs(&mut cur)?,
        })
    }

    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        record(out, op::CHANNEL, |out| {
            out.extend_from_slice(&self.id.to_le_bytes());
            out.extend_from_slice(&self.schema.to_le_bytes());
            text(out, &self.name);
            text(out, &self.encoding);
            map(out, &self.metadata);
        });
    }

    pub(crate) fn about(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(found, _)| found == key).map(|(_, value)| value.as_str())
    }
}

/// Compressed records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    pub(crate) at: u64,
    pub(crate) uncompressed_size: u64,
    /// 0 if it was not computed.
    pub(crate) uncompressed_crc: u32,
    pub(crate) compression: &'a [u8],
    pub(crate) records: &'a [u8],
}

impl<'a> Chunk<'a> {
    pub(crate) fn parse(record: &Record<'a>) -> Result<Self, Truncated> {
        let mut cur = record.cursor();
        cur.take(16, "chunk times")?;
        let uncompressed_size = u64_le(&mut cur, "uncompressed size")?;
        let uncompressed_crc = cur.u32_le("uncompressed crc")?;
        let compression = counted(&mut cur, "compression")?;
        let length = u64_le(&mut cur, "length of the records")?;
        let records = cur.take(length, "records of the chunk")?;
        Ok(Self { at: record.at, uncompressed_size, uncompressed_crc, compression, records })
    }
}

/// A name with pairs of texts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Metadata {
    pub(crate) name: String,
    pub(crate) pairs: Vec<(String, String)>,
}

impl Metadata {
    pub(crate) fn parse(mut cur: Cursor<'_>) -> Result<Self, Truncated> {
        Ok(Self { name: string(&mut cur, "metadata name")?, pairs: pairs(&mut cur)? })
    }

    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        record(out, op::METADATA, |out| {
            text(out, &self.name);
            map(out, &self.pairs);
        });
    }
}

pub(crate) fn u16_le(cur: &mut Cursor<'_>, what: &'static str) -> Result<u16, Truncated> {
    cur.array(what).map(|b| u16::from_le_bytes(*b))
}

pub(crate) fn u64_le(cur: &mut Cursor<'_>, what: &'static str) -> Result<u64, Truncated> {
    cur.array(what).map(|b| u64::from_le_bytes(*b))
}

fn counted<'a>(cur: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], Truncated> {
    let length = cur.u32_le(what)?;
    cur.take(length.into(), what)
}

pub(crate) fn string(cur: &mut Cursor<'_>, what: &'static str) -> Result<String, Truncated> {
    counted(cur, what).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn pairs(cur: &mut Cursor<'_>) -> Result<Vec<(String, String)>, Truncated> {
    let at = cur.offset() + 4;
    let mut inner = Cursor::new(counted(cur, "map")?, at);
    let mut pairs = Vec::new();
    while !inner.is_empty() {
        pairs.push((string(&mut inner, "key")?, string(&mut inner, "value")?));
    }
    Ok(pairs)
}
