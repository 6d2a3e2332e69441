//! One job of logpose, timed: `ours JOB FILE [THREADS]`, and `ours wpilog-append OUT|- [RECORDS]`, `ours rlog-encode
//! [CYCLES]`. It prints one line as the peers do: `@records=… work_ns=… key=value…`. `ours means FILE OUT` is not timed.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the benchmark")]

use std::path::Path;
use std::process::ExitCode;

use logpose_bench::append::wpilog_append;
use logpose_bench::carla;
use logpose_bench::encode::rlog_encode;
use logpose_bench::meter::Counting;
use logpose_bench::read::{Line, columns, index, means, open_and_sum, wpilog_sum};
use logpose_bench::station;
use logpose_rlog::Rlog;
use logpose_wpilog::Wpilog;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const USAGE: &str = "\
usage: ours wpilog-sum|wpilog-index|wpilog-columns|rlog-index|rlog-columns|open-sum FILE [THREADS]
       ours wpilog-append OUT|- [RECORDS]    `-` drops the bytes
       ours rlog-encode [CYCLES]
       ours carla-index|capture-open FILE [THREADS]
       ours carla-frames|carla-states FILE
       ours means FILE OUT";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match job(&args) {
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
        Some(Ok(line)) => {
            println!("@{line}");
            ExitCode::SUCCESS
        }
        Some(Err(error)) => {
            eprintln!("ours: {error}");
            ExitCode::FAILURE
        }
    }
}

fn job(args: &[&str]) -> Option<Line> {
    Some(match *args {
        ["rlog-encode"] => rlog_encode(20_000),
        ["rlog-encode", cycles] => rlog_encode(cycles.parse().ok()?),
        ["wpilog-append", out] => wpilog_append(sink(out), 2_000_000),
        ["wpilog-append", out, records] => wpilog_append(sink(out), records.parse().ok()?),
        ["carla-frames", file] => carla::frames(Path::new(file)),
        ["carla-states", file] => carla::states(Path::new(file)),
        ["means", file, out] => means(Path::new(file), Path::new(out)),
        [job, file] => read(job, Path::new(file), 1)?,
        [job, file, threads] => read(job, Path::new(file), threads.parse().ok()?)?,
        _ => return None,
    })
}

fn read(job: &str, file: &Path, threads: usize) -> Option<Line> {
    Some(match job {
        "wpilog-sum" => wpilog_sum(file, threads),
        "carla-index" => carla::index(file, threads),
        "capture-open" => station::open(file, threads),
        "wpilog-index" => index(&Wpilog, file, threads),
        "wpilog-columns" | "rlog-columns" => columns(file, threads),
        "rlog-index" => index(&Rlog, file, threads),
        "open-sum" => open_and_sum(file, threads),
        _ => return None,
    })
}

fn sink(out: &str) -> Option<&Path> {
    (out != "-").then(|| Path::new(out))
}
