//! Embeds the viewer's page from `dist`, where `make web` builds it, compressed with gzip. It never calls npm.
//!
//! In a checkout without it there is one page that says how to get it. Packages carry `dist`, so a crate from the registry
//! needs no Node.js; a package without it does not build, because nothing could put the page there later.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::GzEncoder;

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let dist = manifest.join("dist");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", dist.display());
    println!("cargo:rerun-if-env-changed=LOGPOSE_WEB");
    let mut files = Vec::new();
    if dist.join("index.html").is_file() {
        walk(&dist, &mut files)?;
    } else if !manifest.ends_with("crates/server") {
        return Err(io::Error::other("this package lacks dist, the viewer's page: run `make web` before packaging"));
    } else if env::var_os("LOGPOSE_WEB").is_some_and(|value| value == "require") {
        return Err(io::Error::other("dist is missing, and LOGPOSE_WEB=require asks for it: run `make web`"));
    }
    files.sort();
    let mut list = String::from(
        "/// The files of the page by their paths, each compressed with gzip.\npub(super) static FILES: &[(&str, &[u8])] = &[\n",
    );
    for (place, file) in files.iter().enumerate() {
        let name = file.strip_prefix(&dist).unwrap_or(file).to_string_lossy().replace('\\', "/");
        // Read once, so that a build of the page that is under way does not mix with what is compiled here.
        let bytes = fs::read(file)?;
        let mut packed = fs::File::create(out.join(format!("page{place}")))?;
        io::copy(&mut GzEncoder::new(&*bytes, Compression::best()), &mut packed)?;
        println!("cargo:rerun-if-changed={}", file.display());
        let _ = writeln!(list, "    (\"/{name}\", include_bytes!(\"page{place}\")),");
    }
    list.push_str("];\n");
    fs::write(out.join("pages.rs"), list)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { walk(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
