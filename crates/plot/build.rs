//! Compresses the fonts of charts, which halves what they take of a binary.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use flate2::Compression;
use flate2::bufread::DeflateEncoder;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for (name, font) in [("regular", dejavu::sans::regular()), ("bold", dejavu::sans::bold())] {
        let mut packed = fs::File::create(out.join(name))?;
        io::copy(&mut DeflateEncoder::new(font, Compression::best()), &mut packed)?;
    }
    Ok(())
}
