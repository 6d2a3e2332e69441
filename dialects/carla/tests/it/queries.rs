//! CARLA's texts byte for byte, and the same facts as data.

use std::path::{Path, PathBuf};

#[allow(unused_imports, reason = "x")]
use logpose_carla::{
    ActorType, Blocking, Body, Filter, Form, Frames, Packet, Queries, Reader, Record, Records, Summary, blocked,
    collisions, emit_records,
};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// The files of the shared corpus, which is not part of this repository: name without extension, and bytes.
pub(crate) fn corpus() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = corpus_folder() else { return Vec::new() };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log" || extension == "rec"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// One file of the corpus.
pub(crate) fn sample(name: &str) -> Option<Vec<u8>> {
    corpus().into_iter().find(|(found, _)| found == name).map(|(_, log)| log)
}

pub(crate) fn corpus_folder() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("LOGPOSE_CORPUS")
        .map_or_else(|| workspace.join("../shared/corpus"), PathBuf::from)
        .join("carla");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no corpus at {}", folder.display());
    None
}

/// The expected texts of a file: the part of their names between the file's and `.txt`, and what they say.
fn texts(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = corpus_folder().unwrap();
    let mut texts: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let file = path.file_name()?.to_str()?;
            let kind = file.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".txt")?;
            Some((kind.to_owned(), std::fs::read(&path).unwrap()))
        })
        .collect();
    texts.sort();
    texts
}

fn text(log: &[u8], kind: &str) -> Vec<u8> {
    let queries = Queries::new(log).unwrap();
    let mut out = Vec::new();
    let mut words = kind.split('_');
    match words.next().unwrap() {
        "info" => queries.info(words.next() == Some("all"), &mut out),
        "collisions" => {
            let mut filters = words.next().unwrap().chars().map(|letter| Filter::of(letter).unwrap());
            queries.collisions(filters.next().unwrap(), filters.next().unwrap(), &mut out)
        }
        "blocked" => {
            let mut number = || words.next().unwrap().parse().unwrap();
            queries.blocked(Blocking { min_time: number(), min_distance_cm: number() }, &mut out)
        }
        other => panic!("no query {other}"),
    }
    .unwrap();
    out
}

#[test]
fn texts_are_carlas_byte_for_byte() {
    let mut compared = 0;
    for (name, log) in corpus() {
        for (kind, expected) in texts(&name) {
            let ours = text(&log, &kind);
            if ours != expected {
                let (ours, expected) = (String::from_utf8_lossy(&ours), String::from_utf8_lossy(&expected));
                let line = ours.lines().zip(expected.lines()).position(|(a, b)| a != b);
                let at = line.unwrap_or(ours.lines().count().min(expected.lines().count()));
                panic!(
                    "{name}.{kind}, line {}:\nours     {:?}\nexpected {:?}",
                    at + 1,
                    ours.lines().nth(at),
                    expected.lines().nth(at)
                );
            }
            compared += 1;
        }
    }
    println!("{compared} texts are the same");
}

/// The texts that are too large to store: the README of the corpus has their hashes.
#[test]
fn long_texts_have_the_hashes_of_the_corpus() {
    let Some(folder) = corpus_folder() else { return };
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut compared = 0;
    for line in readme.lines() {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let [_, file, _, log_hash, text_hash, size, _] = cells[..] else { continue };
        let Ok(size) = size.parse::<usize>() else { continue };
        let log = std::fs::read(folder.join(file)).unwrap();
        assert_eq!(hex(&log), log_hash, "{file}");
        let text = text(&log, "info_all");
        assert_eq!((text.len(), hex(&text)), (size, text_hash.to_owned()), "{file}");
        compared += 1;
    }
    assert_eq!(compared, 5);
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
