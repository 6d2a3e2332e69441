//! One job of a Rust crate that users have today, timed: `theirs mcap-sum FILE`, `theirs mcap-write FILE OUT
//! none|lz4|zstd`. It prints one line as the other peers do.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the benchmark")]

use std::path::Path;
use std::process::ExitCode;

use logpose_bench::mcap;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let line = match *args {
        ["mcap-sum", file] => mcap::sum(Path::new(file)),
        ["mcap-write", file, out, compression] => mcap::write(Path::new(file), Path::new(out), compression),
        _ => {
            eprintln!("usage: theirs mcap-sum FILE\n       theirs mcap-write FILE OUT none|lz4|zstd");
            return ExitCode::from(2);
        }
    };
    match line {
        Ok(line) => {
            println!("@{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("theirs: {error}");
            ExitCode::FAILURE
        }
    }
}
