//! Converts a log to whatever the second name says: `.csv`, `.ndjson`, `.wpilog`, `.rlog`, also `.gz` and others.
//!
//! ```text
//! cargo run --release --example convert -- match.wpilog match.csv
//! ```
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::path::Path;

use logpose::{ConvertOptions, Format, Log, OpenOptions, Output, Quiet, convert};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("give a log and the name of a file to write".into());
    };
    let path = Path::new(&to);
    let (format, wrapper) = Format::from_path(path).ok_or("this name tells no format")?;
    let options =
        ConvertOptions { verify: arguments.next().as_deref() == Some("--verify"), ..ConvertOptions::default() };
    let logs = [Log::open(Path::new(&from), &OpenOptions::default(), &Quiet)?];
    let report = convert(&logs, Vec::new(), &format, Output::File { path, force: true, wrapper }, &options, &Quiet)?;
    println!("{} samples of {} channels, {} bytes", report.samples, report.channels, report.bytes);
    for problem in report.problems.list() {
        println!("{problem}");
    }
    Ok(())
}
