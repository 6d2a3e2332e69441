//! Compresses the fonts of charts. Both are in one stream, since the bold one repeats much of the other: together they take
//! a third of their size.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use liblzma::stream::{Check, Filters, LzmaOptions, PRESET_EXTREME, Stream};
use liblzma::write::XzEncoder;

/// Enough for both fonts to be seen at once. It is also the memory that unpacking takes.
const WINDOW: u32 = 2 << 20;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut options = LzmaOptions::new_preset(9 | PRESET_EXTREME)?;
    options.dict_size(WINDOW);
    let stream = Stream::new_stream_encoder(Filters::new().lzma2(&options), Check::Crc32)?;
    let mut packed = XzEncoder::new_stream(fs::File::create(out.join("fonts"))?, stream);
    let (regular, bold) = (dejavu::sans::regular(), dejavu::sans::bold());
    let length = u32::try_from(regular.len()).map_err(io::Error::other)?;
    packed.write_all(&length.to_le_bytes())?;
    packed.write_all(regular)?;
    packed.write_all(bold)?;
    packed.finish()?.flush()
}
