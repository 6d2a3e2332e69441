use std::io::{Read as _, Write as _};

use logpose_core::SinkError;
use lz4_flex::frame::{BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

use super::wire::Chunk;

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

impl Compression {
    /// The name, as chunks have it; empty for none.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Lz4 => "lz4",
            Self::None => "",
        }
    }

    /// What compresses chunks, made once for many.
    pub(crate) fn packer(self) -> Result<Packer, SinkError> {
        Ok(match self {
            Self::Zstd => Packer::Zstd(zstd::bulk::Compressor::new(zstd::DEFAULT_COMPRESSION_LEVEL)?),
            Self::Lz4 => Packer::Lz4,
            Self::None => Packer::None,
        })
    }
}

pub(crate) enum Packer {
    Zstd(zstd::bulk::Compressor<'static>),
    Lz4,
    None,
}

impl Packer {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Zstd(_) => Compression::Zstd.name(),
            Self::Lz4 => Compression::Lz4.name(),
            Self::None => Compression::None.name(),
        }
    }

    /// Appends `raw`, compressed.
    pub(crate) fn pack(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<(), SinkError> {
        match self {
            Self::Zstd(compressor) => out.extend_from_slice(&compressor.compress(raw)?),
            Self::Lz4 => {
                let info = FrameInfo::new().block_size(BlockSize::Max1MB).content_size(Some(raw.len() as u64));
                let mut encoder = FrameEncoder::with_frame_info(info, out);
                encoder.write_all(raw)?;
                encoder.finish().map_err(std::io::Error::from)?;
            }
            Self::None => out.extend_from_slice(raw),
        }
        Ok(())
    }
}

/// The records of a compressed chunk; the sentence says what is wrong with it.
pub(crate) fn unpack(chunk: &Chunk<'_>) -> Result<Vec<u8>, String> {
    let claimed = chunk.uncompressed_size;
    if claimed > LARGEST {
        return Err(format!("claims {claimed} bytes of records, at most {LARGEST} are read"));
    }
    // The size is a claim: memory is taken as bytes come, a byte more than claimed to notice too many.
    let mut out = Vec::with_capacity(usize::try_from(claimed.min(FIRST_ROOM)).unwrap_or(0));
    let result = match chunk.compression {
        b"zstd" => zstd::stream::read::Decoder::with_buffer(chunk.records)
            .and_then(|decoder| decoder.take(claimed + 1).read_to_end(&mut out)),
        b"lz4" => FrameDecoder::new(chunk.records).take(claimed + 1).read_to_end(&mut out),
        other => {
            return Err(format!("is compressed with {:?}, known are zstd and lz4", String::from_utf8_lossy(other)));
        }
    };
    if let Err(error) = result {
        return Err(format!("cannot be decompressed: {error}"));
    }
    if out.len() as u64 != claimed {
        return Err(format!("claims {claimed} bytes of records and does not hold as many"));
    }
    Ok(out)
}

/// The largest chunk that is read.
const LARGEST: u64 = 1 << 31;

/// How much memory a claim alone can take.
const FIRST_ROOM: u64 = 16 << 20;
