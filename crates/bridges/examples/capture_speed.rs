//! How fast captures are read: `cargo run --release -p logpose-bridges --example capture_speed [MEGABYTES]`.
//!
//! Three captures are made in memory: a camera's stream with the traffic of a Driver Station beside it, the traffic of a
//! Driver Station alone, and a robot's console on TCP. Each is unpacked a few times; the best time counts.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "an example that measures"
)]

use std::time::Instant;

use logpose_bridges::PCAP;
use logpose_core::{FileDialect, Problems, ReadOptions};

fn main() {
    let megabytes: usize = std::env::args().nth(1).map_or(256, |text| text.parse().expect("a number of megabytes"));
    let bytes = megabytes << 20;
    measure("camera, pcapng", &pcapng(bytes, 71));
    measure("camera, pcap", &pcap(bytes, 71));
    measure("driver station, pcap", &pcap(bytes / 8, 0));
    measure("driver station, pcapng", &pcapng(bytes / 8, 0));
    measure("console", &console(bytes / 8));
}

fn measure(name: &str, file: &[u8]) {
    let mut best = f64::MAX;
    let (mut samples, mut packets) = (0, 0);
    for _ in 0..5 {
        let mut store = Vec::new();
        let mut problems = Problems::default();
        let start = Instant::now();
        PCAP.unpack(file, &ReadOptions::default(), &mut store, &mut problems).expect("a good capture");
        best = best.min(start.elapsed().as_secs_f64());
        let index = PCAP.index(&store, &ReadOptions::default(), &mut problems).expect("a good store");
        assert!(problems.is_empty(), "{problems:?}");
        samples = index.samples();
        packets = index.fact("packets").and_then(|text| text.parse().ok()).unwrap_or(0);
    }
    let (mb, rate) = (file.len() as f64 / 1e6, file.len() as f64 / 1e9 / best);
    let each = best * 1e9 / f64::from(packets);
    println!(
        "{name:24} {mb:6.0} MB {packets:9} packets {samples:9} samples  {best:.4} s  {rate:6.2} GB/s  {each:5.0} ns a packet"
    );
}

/// The `n`th packet: of `others + 1` packets one is of the Driver Station, the rest of a camera.
fn packet(n: usize, others: usize, out: &mut Vec<u8>) {
    let (turn, place) = (n / (others + 1), n % (others + 1));
    let [high, low] = (turn as u16).to_be_bytes();
    match (place, turn % 2) {
        (1.., _) => frame([10, 2, 54, 11], [10, 2, 54, 5], 17, 1181, 5000, &[0x5a; 1400], out),
        (_, 0) => {
            let axes = [high, low, 1, 4, 0x10, 4, 14, 0x0c, 6, low, 0, 0, 0, 6, 2, 16, 0, low, 1, 0xff, 0xff];
            frame([10, 2, 54, 5], [10, 2, 54, 2], 17, 50_000, 1110, &axes, out);
        }
        _ => {
            let [high, low] = ((turn - 1) as u16).to_be_bytes();
            frame([10, 2, 54, 2], [10, 2, 54, 5], 17, 40_000, 1150, &[high, low, 1, 4, 0x32, 12, low, 0], out);
        }
    }
}

fn frame(from: [u8; 4], to: [u8; 4], protocol: u8, source: u16, target: u16, payload: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    // What a TCP header has besides its ports is in the payload.
    let head = if protocol == 17 { 8 } else { 4 };
    out.extend([2; 12]);
    out.extend([8, 0, 0x45, 0]);
    out.extend(((20 + head + payload.len()) as u16).to_be_bytes());
    out.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    out.extend(from);
    out.extend(to);
    out.extend(source.to_be_bytes());
    out.extend(target.to_be_bytes());
    if protocol == 17 {
        out.extend(((8 + payload.len()) as u16).to_be_bytes());
        out.extend([0, 0]);
    }
    out.extend(payload);
    out.resize(out.len().max(begin + 60), 0);
}

/// Microseconds of a packet: the Driver Station's come every 10 ms.
fn time(n: usize, others: usize) -> u64 {
    1_700_000_000_000_000 + (n * 10_000 / (others + 1)) as u64
}

fn pcap(bytes: usize, others: usize) -> Vec<u8> {
    classic(bytes, others, |n, out| packet(n, others, out))
}

fn classic(bytes: usize, others: usize, mut frame: impl FnMut(usize, &mut Vec<u8>)) -> Vec<u8> {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];
    let mut one = Vec::new();
    for n in 0.. {
        if file.len() > bytes {
            break;
        }
        one.clear();
        frame(n, &mut one);
        let (us, length) = (time(n, others), one.len() as u32);
        for word in [(us / 1_000_000) as u32, (us % 1_000_000) as u32, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(&one);
    }
    file
}

fn pcapng(bytes: usize, others: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let block = |kind: u32, body: &[&[u8]], file: &mut Vec<u8>| {
        let length = body.iter().map(|part| part.len()).sum::<usize>().next_multiple_of(4) + 12;
        let begin = file.len();
        file.extend(kind.to_le_bytes());
        file.extend((length as u32).to_le_bytes());
        body.iter().for_each(|part| file.extend(*part));
        file.resize(begin + length - 4, 0);
        file.extend((length as u32).to_le_bytes());
    };
    block(0x0a0d_0d0a, &[&0x1a2b_3c4d_u32.to_le_bytes(), &[1, 0, 0, 0], &[0xff; 8]], &mut file);
    block(1, &[&[1, 0, 0, 0, 0, 0, 4, 0]], &mut file);
    let mut one = Vec::new();
    for n in 0.. {
        if file.len() > bytes {
            break;
        }
        one.clear();
        packet(n, others, &mut one);
        let (us, length) = (time(n, others), (one.len() as u32).to_le_bytes());
        let (high, low) = (((us >> 32) as u32).to_le_bytes(), (us as u32).to_le_bytes());
        block(6, &[&[0; 4], &high, &low, &length, &length, &one], &mut file);
    }
    file
}

/// A robot that prints 10 lines in each segment.
fn console(bytes: usize) -> Vec<u8> {
    let mut sequence = 1_u32;
    let mut payload = Vec::new();
    classic(bytes, 0, |n, out| {
        payload.clear();
        payload.extend(sequence.to_be_bytes());
        payload.extend([0, 0, 0, 0, 0x50, if n == 0 { 2 } else { 16 }, 255, 255, 0, 0, 0, 0]);
        if n > 0 {
            for line in 0..10_u16 {
                payload.extend([0, 67, 0x0c, 0x41, 0x20, 0, 0]);
                payload.extend(line.to_be_bytes());
                payload.extend([b'x'; 60]);
            }
        }
        // Both directions are there, so there is nothing to report.
        if n == 1 {
            let answer = [0, 0, 0, 0, 0, 0, 0, 0, 0x50, 16, 0, 0, 0, 0, 0, 0];
            frame([10, 2, 54, 5], [10, 2, 54, 2], 6, 51_000, 1740, &answer, out);
            return;
        }
        sequence = sequence.wrapping_add(if n == 0 { 1 } else { 690 });
        frame([10, 2, 54, 2], [10, 2, 54, 5], 6, 1740, 51_000, &payload, out);
    })
}
