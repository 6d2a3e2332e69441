//! Makes the inputs of the benchmark, the same bytes on every machine, and prints one line of JSON: what a correct
//! reader must count.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the benchmark")]

use std::path::Path;
use std::process::ExitCode;

use logpose_bench::inputs::{INPUTS, Input, pin};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match *args.as_slice() {
        ["--pin", ref names @ ..] => {
            let Some(chosen) = names.iter().map(|name| Input::find(name)).collect::<Option<Vec<_>>>() else {
                return usage();
            };
            pin(&if chosen.is_empty() { INPUTS.iter().collect() } else { chosen })
        }
        [name, out, ref size @ ..] => {
            let Some(input) = Input::find(name) else { return usage() };
            let size = match *size {
                [] => Ok(input.default_size()),
                [size] => size.parse(),
                _ => return usage(),
            };
            let Ok(size) = size else { return usage() };
            let made = input.generate(Path::new(out), size).map_err(|error| format!("{out}: {error}").into());
            made.map(|line| println!("{line}"))
        }
        _ => return usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: generate INPUT OUT [SIZE]\n       generate --pin [INPUT...]    update checksums.txt, for all inputs by default\n"
    );
    for input in INPUTS {
        eprintln!("  {:<13} {} ({} {})", input.name, input.about, input.default_size(), input.unit);
    }
    ExitCode::from(2)
}
