//! What this machine can do: memory, page cache, disk. `limits SCRATCH_DIR FILE`, where FILE is a large file that is in
//! the page cache. Every figure is the best of several runs, in GB/s.
//!
//! `limits touch BYTES` only touches as much memory.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the benchmark")]

use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use logpose::OpenOptions;
use logpose_bench::meter;

/// Bytes of the buffers.
const GIB: usize = 1 << 30;
const MIB: usize = 1 << 20;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [dir, file] = args.as_slice() else {
        eprintln!("usage: limits SCRATCH_DIR FILE, or limits touch BYTES");
        return ExitCode::from(2);
    };
    let done = match (&**dir, file.parse()) {
        ("touch", Ok(bytes)) => {
            touch(bytes, OpenOptions::default().read().prepare);
            Ok(())
        }
        _ => run(Path::new(dir), Path::new(file)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("limits: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(dir: &Path, file: &Path) -> Result<(), Box<dyn Error>> {
    memory()?;
    page_cache(file)?;
    disk(dir)
}

/// The best of `n` runs. The result of the work is used, so that the compiler cannot leave the work away.
fn best(
    n: usize,
    bytes: usize,
    key: &str,
    mut work: impl FnMut() -> Result<u64, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut seconds = f64::MAX;
    for _ in 0..n {
        let begun = Instant::now();
        std::hint::black_box(work()?);
        seconds = seconds.min(begun.elapsed().as_secs_f64());
    }
    println!("@{key}={:.3}", bytes as f64 / seconds / 1e9);
    Ok(())
}

/// Eight sums at once: the loop waits for memory, not for the additions.
fn sum(bytes: &[u8]) -> u64 {
    let mut sums = [0u64; 8];
    for line in bytes.as_chunks::<64>().0 {
        for (sum, word) in sums.iter_mut().zip(line.as_chunks().0) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*word));
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

fn memory() -> Result<(), Box<dyn Error>> {
    let buffer = vec![1u8; GIB];
    best(7, GIB, "memory_read_1", || Ok(sum(&buffer)))?;
    best(7, GIB, "memory_read_2", || {
        let (left, right) = buffer.split_at(GIB / 2);
        Ok(thread::scope(|scope| {
            let other = scope.spawn(|| sum(left));
            sum(right).wrapping_add(other.join().unwrap_or(0))
        }))
    })?;
    drop(buffer);
    best(3, GIB, "first_touch", || Ok(touch(GIB, |_| {})))?;
    best(3, GIB, "first_touch_huge", || Ok(touch(GIB, OpenOptions::default().read().prepare)))
}

/// Touches every line of fresh memory.
fn touch(bytes: usize, prepare: fn(&mut [u8])) -> u64 {
    let mut fresh = vec![0u8; bytes];
    prepare(&mut fresh);
    fresh.iter_mut().step_by(64).for_each(|byte| *byte = 5);
    sum(fresh.get(..64).unwrap_or_default())
}

fn page_cache(path: &Path) -> Result<(), Box<dyn Error>> {
    let len = usize::try_from(std::fs::metadata(path)?.len())?;
    let mut buffer = vec![0; MIB];
    best(5, len, "cache_read", || {
        let mut file = File::open(path)?;
        let mut total = 0u64;
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(total),
                n => total = total.wrapping_add(sum(buffer.get(..n).unwrap_or_default())),
            }
        }
    })?;
    best(5, len, "cache_map", || Ok(sum(&meter::map(path)?)))
}

fn disk(dir: &Path) -> Result<(), Box<dyn Error>> {
    let path = dir.join("limits.tmp");
    let block = vec![0xa5; MIB];
    for (key, sync) in [("write", false), ("write_fdatasync", true)] {
        best(3, 512 * MIB, key, || {
            let mut file = File::create(&path)?;
            for _ in 0..512 {
                file.write_all(&block)?;
            }
            if sync {
                file.sync_data()?;
            }
            Ok(1)
        })?;
    }
    std::fs::remove_file(&path)?;
    Ok(())
}
