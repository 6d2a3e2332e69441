//! Converts logs, merged by time, to whatever the last name says: `.csv`, `.ndjson`, `.wpilog`, `.rlog`, also
//! with `.gz` and others behind it. With `VERIFY=1` the result is read back and compared with the input.
//!
//! ```text
//! cargo run --release --example convert -- match.wpilog match.csv
//! ```
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::path::Path;

use logpose::{ConvertOptions, Format, Log, OpenOptions, Output, Quiet, convert};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [inputs @ .., to] = &*arguments else { return Err("expected logs and the name of a file to write".into()) };
    let path = Path::new(to);
    let (format, wrapper) = Format::from_path(path).ok_or("expected a file name with the extension of a format")?;
    let open = |input: &String| Log::open_with(Path::new(input), &OpenOptions::default(), &Quiet);
    let logs: Vec<Log> = inputs.iter().map(open).collect::<Result<_, _>>()?;
    let options = ConvertOptions { verify: std::env::var_os("VERIFY").is_some(), ..ConvertOptions::default() };
    let report = convert(&logs, Vec::new(), &format, Output::File { path, force: true, wrapper }, &options, &Quiet)?;
    println!("{} samples of {} channels, {} bytes", report.samples, report.channels, report.bytes);
    for problem in report.problems.list() {
        println!("{problem}");
    }
    Ok(())
}
