use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::path::Path;

use crate::formats::split_extension;

/// A compression around a whole file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wrapper {
    /// gzip.
    Gz,
    /// Zstandard.
    Zst,
    /// XZ, also under the name `.wpilogxz`.
    Xz,
    /// LZ4 frames.
    Lz4,
}

impl Wrapper {
    /// Every wrapper.
    pub const ALL: [Self; 4] = [Self::Gz, Self::Zst, Self::Xz, Self::Lz4];

    /// Its name, which is also the extension of its files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gz => "gz",
            Self::Zst => "zst",
            Self::Xz => "xz",
            Self::Lz4 => "lz4",
        }
    }

    /// The wrapper of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wrapper| wrapper.name().eq_ignore_ascii_case(name))
    }

    /// The wrapper that the name of a file promises.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        split_extension(path).1
    }

    /// The wrapper whose files begin like this.
    #[must_use]
    pub fn sniff(head: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|wrapper| head.starts_with(wrapper.magic()))
    }

    fn magic(self) -> &'static [u8] {
        match self {
            Self::Gz => &[0x1f, 0x8b, 8],
            Self::Zst => &[0x28, 0xb5, 0x2f, 0xfd],
            Self::Xz => &[0xfd, b'7', b'z', b'X', b'Z', 0],
            Self::Lz4 => &[0x04, 0x22, 0x4d, 0x18],
        }
    }

    /// What `inner` holds, unwrapped as it is read. Several compressed streams in a row are one.
    pub(crate) fn reader<'a>(self, inner: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Self::Gz => Box::new(flate2::bufread::MultiGzDecoder::new(inner)),
            Self::Zst => Box::new(zstd::stream::read::Decoder::with_buffer(inner)?),
            Self::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(inner, stream))
            }
            Self::Lz4 => Box::new(Lz4Frames(lz4_flex::frame::FrameDecoder::new(inner))),
        })
    }

    /// A writer that wraps what it is given.
    pub(crate) fn writer<'a>(self, inner: Box<dyn Write + Send + 'a>) -> io::Result<Wrapping<'a>> {
        Ok(match self {
            Self::Gz => Wrapping::Gz(flate2::write::GzEncoder::new(inner, flate2::Compression::default())),
            Self::Zst => Wrapping::Zst(zstd::stream::write::Encoder::new(inner, zstd::DEFAULT_COMPRESSION_LEVEL)?),
            Self::Xz => Wrapping::Xz(liblzma::write::XzEncoder::new(inner, 6)),
            Self::Lz4 => {
                // Small blocks: of a file that was cut, only whole ones come out again.
                let info = lz4_flex::frame::FrameInfo::new().block_size(lz4_flex::frame::BlockSize::Max256KB);
                Wrapping::Lz4(Box::new(lz4_flex::frame::FrameEncoder::with_frame_info(info, inner)))
            }
        })
    }
}

impl fmt::Display for Wrapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One LZ4 frame after the other; the decoder itself stops after each.
struct Lz4Frames<R: Read>(lz4_flex::frame::FrameDecoder<R>);

impl<R: BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.0.read(out)?;
            if n > 0 || out.is_empty() || self.0.get_mut().fill_buf()?.is_empty() {
                return Ok(n);
            }
        }
    }
}

/// A compressor, or none, in front of a writer.
pub(crate) enum Wrapping<'a> {
    Plain(Box<dyn Write + Send + 'a>),
    Gz(flate2::write::GzEncoder<Box<dyn Write + Send + 'a>>),
    Zst(zstd::stream::write::Encoder<'static, Box<dyn Write + Send + 'a>>),
    Xz(liblzma::write::XzEncoder<Box<dyn Write + Send + 'a>>),
    Lz4(Box<lz4_flex::frame::FrameEncoder<Box<dyn Write + Send + 'a>>>),
}

impl Wrapping<'_> {
    /// Writes what the compressor holds back and its trailer.
    pub(crate) fn finish(self) -> io::Result<()> {
        let mut inner = match self {
            Self::Plain(inner) => inner,
            Self::Gz(encoder) => encoder.finish()?,
            Self::Zst(encoder) => encoder.finish()?,
            Self::Xz(encoder) => encoder.finish()?,
            Self::Lz4(encoder) => encoder.finish().map_err(io::Error::from)?,
        };
        inner.flush()
    }
}

impl Write for Wrapping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(inner) => inner.write(bytes),
            Self::Gz(encoder) => encoder.write(bytes),
            Self::Zst(encoder) => encoder.write(bytes),
            Self::Xz(encoder) => encoder.write(bytes),
            Self::Lz4(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(inner) => inner.flush(),
            Self::Gz(encoder) => encoder.flush(),
            Self::Zst(encoder) => encoder.flush(),
            Self::Xz(encoder) => encoder.flush(),
            Self::Lz4(encoder) => encoder.flush(),
        }
    }
}

/// What a decoder may use: a file claims its dictionary's size, and 4 GiB are possible.
const XZ_MEMORY: u64 = 1 << 30;
