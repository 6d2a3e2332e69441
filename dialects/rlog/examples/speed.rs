//! Nanoseconds a field for index and columns, with one thread and with two:
//! `cargo run --release -p logpose-rlog --example speed -- match.rlog`
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "an example measures and prints"
)]

use std::hint::black_box;
use std::time::Instant;

use logpose_core::{Encode, EncodeError, FileDialect, Lookup, Problems, ReadOptions, Sample, Time, Value};
use logpose_rlog::{Encoder, Options, Rlog};

fn main() {
    for path in std::env::args().skip(1) {
        let log = std::fs::read(&path).expect("a readable file");
        println!("{path}: {} bytes", log.len());
        for threads in [1, 2] {
            let join = |a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)| {
                std::thread::scope(|scope| {
                    scope.spawn(b);
                    a();
                });
            };
            let read = ReadOptions { threads, join: &join, ..ReadOptions::default() };
            let mut fields = 0;
            let (index, index_cpu) = best(|| {
                let index = Rlog.index(&log, &read, &mut Problems::default()).expect("an index");
                fields = index.samples();
                index
            });
            let found = Rlog.index(&log, &read, &mut Problems::default()).expect("an index");
            let all = Lookup::default();
            let (columns, columns_cpu) = best(|| Rlog.scan(&log, &found, &all, |_| {}).expect("columns"));
            let per_field = |ns: f64| ns / fields as f64;
            println!(
                "  {threads} threads: {fields} fields, index {:.2} ns/field, columns {:.2} ns/field",
                per_field(index),
                per_field(columns)
            );
            println!(
                "    of this thread's own time: index {:.2}, columns {:.2}",
                per_field(index_cpu),
                per_field(columns_cpu)
            );
        }
    }
    encode().expect("doubles are never refused");
}

fn encode() -> Result<(), EncodeError> {
    const FIELDS: u32 = 279;
    let mut encoder = Encoder::new(Options::default());
    let mut out = Vec::with_capacity(1 << 20);
    for id in 0..FIELDS {
        encoder.channel(id, &logpose_core::Channel::new(format!("/Key{id}"), "double"), &mut out)?;
    }
    let mut samples: Vec<Sample<'_>> =
        (0..FIELDS).map(|channel| Sample { channel, time: Time::ZERO, value: Value::Double(0.5) }).collect();
    let mut cycle = 0;
    let (ns, _) = best(|| {
        for _ in 0..1000 {
            cycle += 1;
            samples.iter_mut().for_each(|sample| sample.time = Time::from_millis(20 * cycle));
            out.clear();
            encoder.samples(&samples, &mut out).expect("doubles");
        }
        out.len()
    });
    println!("encode: {:.2} µs a cycle of {FIELDS} fields", ns / 1e6);
    Ok(())
}

/// The shortest of several runs, in nanoseconds: on the wall's clock, and as the kernel counts it for this thread, which
/// says more when the machine is busy.
fn best<T>(mut run: impl FnMut() -> T) -> (f64, f64) {
    let cpu = || {
        std::fs::read_to_string("/proc/thread-self/schedstat")
            .ok()
            .and_then(|s| s.split(' ').next()?.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let mut shortest = (f64::INFINITY, f64::INFINITY);
    for _ in 0..7 {
        let (start, busy) = (Instant::now(), cpu());
        let result = black_box(run());
        shortest.0 = shortest.0.min(start.elapsed().as_nanos() as f64);
        shortest.1 = shortest.1.min((cpu() - busy) as f64);
        drop(result);
    }
    shortest
}
