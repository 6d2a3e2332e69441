//! Lengths that a file claims and does not have, in a process that may not take the memory for them.
//!
//! The process is this test binary itself, run again with [`FORMAT`] set and little address space.

use std::process::Command;

use logpose::{ConvertOptions, Log, OpenOptions};
use logpose_testkit::fixture;
use tempfile::TempDir;

use crate::support::{convert_to, open};

/// Which files the process reads.
const FORMAT: &str = "LOGPOSE_TEST_FORMAT";
/// The file in which it keeps what it is at.
const AT: &str = "LOGPOSE_TEST_AT";

/// Lengths as the formats write them: in both byte orders, of four bytes and of eight.
const CLAIMS: [&[u8]; 4] =
    [&[0xff, 0xff, 0xff, 0xff], &[0xff, 0xff, 0xff, 0x7f], &[0x7f, 0xff, 0xff, 0xff], &[0, 0, 0, 0, 0x10, 0, 0, 0]];
/// The same in groups of seven bits, as Parquet has it.
const GROUPS: &[u8] = &[0xfe, 0xff, 0xff, 0xff, 0x0f];
/// Bytes at the front and at the end of a file that are changed.
const CHANGED: usize = 100;

/// Small files of a format.
fn files(format: &str) -> Vec<(String, Vec<u8>)> {
    let sound = |folder: &str, extension: &str| -> Vec<(String, Vec<u8>)> {
        let all = logpose_testkit::fixtures(folder).into_iter();
        all.filter(|(name, _)| name.ends_with(extension)).take(1).collect()
    };
    let made = |source: &str| {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join(format!("made.{format}"));
        convert_to(&[open(&fixture(source))], Vec::new(), &path, &ConvertOptions::default()).unwrap();
        (format!("made.{format}"), std::fs::read(path).unwrap())
    };
    match format {
        "pcap" | "pcapng" => sound("pcap/valid", format),
        "zip" => sound("rides/valid", format),
        _ => vec![made("wpilog/valid/all-types.wpilog")],
    }
}

/// Not a test of its own: the others run it, and it does nothing without files to read.
#[test]
fn a_process_that_reads_hostile_files() {
    let (Some(format), Some(at)) = (std::env::var_os(FORMAT), std::env::var_os(AT)) else { return };
    let format = format.to_str().unwrap();
    for (name, bytes) in files(format) {
        let places = (0..bytes.len()).filter(|place| *place < CHANGED || bytes.len() - place <= CHANGED);
        for place in places {
            std::fs::write(&at, format!("{name} byte {place}")).unwrap();
            let options = OpenOptions { salvage: place % 2 == 0, ..OpenOptions::default() };
            // An error or a problem: anything but the end of the process.
            let check = |bytes: Vec<u8>| drop(Log::from_bytes(&name, bytes, &options));
            for claim in CLAIMS {
                let mut over = bytes.clone();
                over.iter_mut().skip(place).zip(claim).for_each(|(byte, claim)| *byte = *claim);
                check(over);
            }
            if format == "parquet" {
                let mut longer = bytes.clone();
                longer.splice(place..=place, GROUPS.iter().copied());
                check(longer);
            }
        }
    }
    std::fs::write(&at, "done").unwrap();
}

/// Reads hostile files of a format with little memory.
fn check_hostile(format: &str) {
    let dir = TempDir::new().unwrap();
    let at = dir.path().join("at");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 4000000 && exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "memory::a_process_that_reads_hostile_files", "--nocapture"]);
    let output = command.env(FORMAT, format).env(AT, &at).output().unwrap();
    let last = std::fs::read_to_string(&at).unwrap_or_default();
    assert_eq!(last, "done", "{format}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn claimed_lengths_cost_no_memory_in_parquet() {
    check_hostile("parquet");
}

#[test]
fn claimed_lengths_cost_no_memory_in_arrow() {
    check_hostile("arrow");
}

#[test]
fn claimed_lengths_cost_no_memory_in_mcap() {
    check_hostile("mcap");
}

#[test]
fn claimed_lengths_cost_no_memory_in_captures() {
    check_hostile("pcap");
    check_hostile("pcapng");
}

#[test]
fn claimed_lengths_cost_no_memory_in_zip() {
    check_hostile("zip");
}

#[test]
fn claimed_lengths_cost_no_memory_in_wrappers() {
    for wrapper in ["gz", "zst", "xz", "lz4"] {
        check_hostile(&format!("wpilog.{wrapper}"));
    }
}

#[test]
fn nested_json_is_an_error_and_no_stack_overflow() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        let deep = open.repeat(1 << 18);
        for name in ["deep.ndjson", "deep.json"] {
            for front in ["", "{\"time\":1,\"channel\":\"/a\",\"value\":1}\n{\"time\":2,\"channel\":\"/a\",\"value\":"]
            {
                let text = format!("{front}{deep}");
                let _ = Log::from_bytes(name, text.into_bytes(), &OpenOptions::default());
            }
        }
    }
}
