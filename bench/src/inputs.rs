//! The inputs of the benchmark. Their bytes depend on the name and the size alone, and `checksums.txt` pins them.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::read::Line;
use crate::signals::{self, Totals};
use crate::{carla, meter, station};

/// The pinned checksums: one line per input, with the first 16 hex digits of the SHA-256 for each of its sizes.
const CHECKSUMS: &str = include_str!("../checksums.txt");
/// Where `generate --pin` writes them.
const CHECKSUMS_PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/checksums.txt");

/// A log, or a folder of logs, that can be generated.
pub struct Input {
    /// What the benchmarks and `checksums.txt` call it.
    pub name: &'static str,
    /// What is in it, for people.
    pub about: &'static str,
    /// What a size counts.
    pub unit: &'static str,
    /// The sizes whose checksums are pinned. The first is small, and the tests generate it; the last is the default.
    sizes: &'static [u64],
    write: fn(&Path, u64) -> Written,
}

/// What a correct reader must find, and how many bytes were written.
type Written = Result<(Totals, u64), Box<dyn Error>>;

/// Every input there is.
pub const INPUTS: &[Input] = &[
    Input {
        name: "wpilog-tiny",
        about: "100 booleans",
        unit: "records",
        sizes: &[10_000, 1_000_000],
        write: |out, records| Ok(signals::wpilog(out, signals::tiny_entries(), u64::MAX, records, 3)?),
    },
    Input {
        name: "wpilog-match",
        about: "400 entries at 50 Hz, every common type",
        unit: "bytes",
        sizes: &[1_000_000, 50_000_000],
        write: |out, bytes| Ok(signals::wpilog(out, signals::match_entries(), bytes, u64::MAX, 1)?),
    },
    Input {
        name: "wpilog-big",
        about: "320 entries, 94 % doubles",
        unit: "bytes",
        sizes: &[1_000_000, 1_000_000_000],
        write: |out, bytes| Ok(signals::wpilog(out, signals::big_entries(), bytes, u64::MAX, 2)?),
    },
    Input {
        name: "wpilog-ten",
        about: "10 entries of doubles",
        unit: "samples per entry",
        sizes: &[1_000, 100_000],
        write: |out, samples| {
            Ok(signals::wpilog(out, signals::ten_entries(), u64::MAX, samples.saturating_mul(10), 7)?)
        },
    },
    Input {
        name: "rlog-match",
        about: "the signals of wpilog-match, RLOG R2",
        unit: "bytes",
        sizes: &[1_000_000, 50_000_000],
        write: |out, bytes| Ok(signals::rlog(out, signals::match_entries(), bytes, 4)?),
    },
    Input {
        name: "rlog-big",
        about: "the signals of wpilog-big, RLOG R2",
        unit: "bytes",
        sizes: &[1_000_000, 500_000_000],
        write: |out, bytes| Ok(signals::rlog(out, signals::big_entries(), bytes, 5)?),
    },
    Input {
        name: "carla-big",
        about: "100 vehicles and 50 traffic lights at 20 Hz",
        unit: "bytes",
        sizes: &[1_000_000, 1_000_000_000],
        write: |out, bytes| recording(out, bytes, 100),
    },
    Input {
        name: "carla-crowd",
        about: "2,000 vehicles and 1,000 traffic lights at 20 Hz",
        unit: "bytes",
        sizes: &[1_000_000, 100_000_000],
        write: |out, bytes| recording(out, bytes, 2000),
    },
    Input {
        name: "pcap-link",
        about: "a Driver Station's link alone",
        unit: "bytes",
        sizes: &[1_000_000, 256_000_000],
        write: |out, bytes| capture(out, bytes, false),
    },
    Input {
        name: "pcap-big",
        about: "the same link amid a camera and NetworkTables",
        unit: "bytes",
        sizes: &[2_000_000, 1_000_000_000],
        write: |out, bytes| capture(out, bytes, true),
    },
    Input {
        name: "dslog-season",
        about: "a new folder of Driver Station logs",
        unit: "pairs of logs",
        sizes: &[8, 1_000, 10_000],
        write: |out, pairs| {
            fs::create_dir(out)?;
            let (records, bytes) = station::season(out, pairs)?;
            Ok((Totals { records, ..Totals::default() }, bytes))
        },
    },
    Input {
        name: "mcap-doubles",
        about: "320 topics of doubles, uncompressed, written by the mcap crate",
        unit: "messages",
        sizes: &[10_000, 500_000, 5_000_000],
        write: |out, messages| Ok(signals::mcap(out, messages, 6)?),
    },
];

impl Input {
    /// The input of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        INPUTS.iter().find(|input| input.name == name)
    }

    /// The size that is generated unless another is asked for.
    pub fn default_size(&self) -> u64 {
        self.sizes.last().copied().unwrap_or_default()
    }

    /// Writes the input and returns one line of JSON: what a correct reader must count. Fails if the size has a pinned
    /// checksum and the bytes have another.
    pub fn generate(&self, out: &Path, size: u64) -> Line {
        let (t, bytes) = (self.write)(out, size)?;
        let mut sha256 = String::new();
        if self.sizes.contains(&size) {
            sha256 = checksum(out)?;
            // A file with other bytes must not be taken for the input by the next benchmark.
            self.verify(size, &sha256).inspect_err(|_| drop(fs::remove_file(out)))?;
        }
        Ok(format!(
            r#"{{"kind":"{}","bytes":{bytes},"sha256":"{sha256}","cycles":{},"control":{},"schema":{},"records":{},"doubles":{},"double_sum":{:?},"int_sum":{},"true":{},"string_bytes":{},"struct_bytes":{}}}"#,
            self.name,
            t.cycles,
            t.control,
            t.schema,
            t.records,
            t.doubles,
            t.double_sum,
            t.int_sum,
            t.trues,
            t.string_bytes,
            t.struct_bytes
        ))
    }

    /// The message leaves out the checksum that was found, so that `--pin` is the easy way to update the line, and
    /// updates all of it.
    fn verify(&self, size: u64, found: &str) -> Result<(), String> {
        if self.pinned(size) == Some(found) {
            return Ok(());
        }
        let line = match CHECKSUMS.lines().position(|line| named(line, self.name)) {
            Some(at) => format!("does not match line {} of bench/checksums.txt", at + 1),
            None => "has no line in bench/checksums.txt".to_owned(),
        };
        Err(format!(
            "the generated {} of {size} {} {line}. If its generator was changed on purpose, {}",
            self.name,
            self.unit,
            self.how_to_pin()
        ))
    }

    fn how_to_pin(&self) -> String {
        let name = self.name;
        format!("update all checksums of {name}: cargo run --release -p logpose-bench --bin generate -- --pin {name}")
    }

    fn pinned(&self, size: u64) -> Option<&'static str> {
        let line = CHECKSUMS.lines().find(|line| named(line, self.name))?;
        let mut pairs = line.split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.find_map(|(pinned, checksum)| (pinned.parse() == Ok(size)).then_some(checksum))
    }

    /// Its line in `checksums.txt`, by generating every size in a temporary folder.
    fn line(&self) -> Line {
        let mut line = format!("{:<14}", self.name);
        for &size in self.sizes {
            let folder = tempfile::tempdir()?;
            let out = folder.path().join(self.name);
            (self.write)(&out, size)?;
            line += &format!(" {size}={}", checksum(&out)?);
        }
        Ok(line)
    }
}

/// Generates the chosen inputs in every pinned size and replaces their lines in `checksums.txt`.
pub fn pin(chosen: &[&Input]) -> Result<(), Box<dyn Error>> {
    let (comments, lines): (Vec<&str>, Vec<&str>) = CHECKSUMS.lines().partition(|line| line.starts_with('#'));
    let mut text = comments.iter().map(|line| format!("{line}\n")).collect::<String>();
    for input in INPUTS {
        if chosen.iter().any(|chosen| chosen.name == input.name) {
            text += &input.line()?;
        } else {
            text += lines.iter().find(|line| named(line, input.name)).copied().unwrap_or(input.name);
        }
        text += "\n";
    }
    Ok(fs::write(CHECKSUMS_PATH, text)?)
}

fn named(line: &str, name: &str) -> bool {
    line.split_whitespace().next() == Some(name)
}

/// The first 16 hex digits of the SHA-256 of a file, or of the names and contents of everything in a folder.
fn checksum(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    add(path, &mut hasher)?;
    Ok(hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

fn add(path: &Path, hasher: &mut Sha256) -> io::Result<()> {
    if !path.is_dir() {
        hasher.update(&meter::map(path)?);
        return Ok(());
    }
    let mut names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    for name in names {
        hasher.update(name.as_encoded_bytes());
        add(&path.join(name), hasher)?;
    }
    Ok(())
}

fn recording(path: &Path, bytes: u64, vehicles: u32) -> Written {
    let mut out = BufWriter::new(File::create(path)?);
    let (records, bytes) = carla::generate(&mut out, bytes, vehicles)?;
    out.flush()?;
    Ok((Totals { records, ..Totals::default() }, bytes))
}

fn capture(path: &Path, bytes: u64, busy: bool) -> Written {
    let mut out = BufWriter::new(File::create(path)?);
    let (records, lines, bytes) = station::capture(&mut out, bytes, busy)?;
    out.flush()?;
    Ok((Totals { records, control: lines, ..Totals::default() }, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The large sizes are checked whenever they are generated. This shows within a second or two that a change reaches
    /// them.
    #[test]
    fn small_inputs_have_their_pinned_checksums() {
        let folder = tempfile::tempdir().unwrap();
        let small = |input: &Input| input.generate(&folder.path().join(input.name), input.sizes[0]).err();
        let changed = INPUTS.iter().filter_map(small).map(|error| error.to_string()).collect::<Vec<_>>();
        assert!(changed.is_empty(), "{}", changed.join("\n"));
    }

    #[test]
    fn every_size_of_every_input_is_pinned() {
        for input in INPUTS {
            let missing = input.sizes.iter().filter(|&&size| input.pinned(size).is_none()).collect::<Vec<_>>();
            assert!(missing.is_empty(), "no checksum for {missing:?}; {}", input.how_to_pin());
        }
        let lines = CHECKSUMS.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(lines, INPUTS.len(), "lines in bench/checksums.txt");
    }
}
