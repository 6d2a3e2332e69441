//! Downloads over lines on which something is wrong. Whatever it is, the samples come byte for byte.

use std::fmt::Write;
use std::time::Duration;

use logpose_refloat::session::{ClientOptions, Event, Job, Progress};
use logpose_sim::board::{BoardOptions, BoardVersion, LineOptions};

use crate::client_world::{MS, VERSIONS, World, fetch, is_download_of, patient, recorded, serving};

/// What is wrong with a line.
#[derive(Clone)]
struct Fault {
    name: &'static str,
    line: LineOptions,
    /// Pieces overtake each other.
    reorder: i64,
}

fn fault(name: &'static str, line: LineOptions) -> Fault {
    Fault { name, line, reorder: 0 }
}

fn faults() -> Vec<Fault> {
    let good = LineOptions::default;
    let ms = Duration::from_millis;
    vec![
        fault("drop 30 % of replies", LineOptions { drop: 0.3, ..good() }),
        fault("lose 30 % of requests", LineOptions { lose: 0.3, ..good() }),
        fault("corrupt 30 %", LineOptions { corrupt: 0.3, ..good() }),
        fault("truncate 30 %", LineOptions { truncate: 0.3, ..good() }),
        fault("duplicate 50 %", LineOptions { duplicate: 0.5, ..good() }),
        fault("noise and bogus headers 50 %", LineOptions { noise: 0.5, ..good() }),
        fault("foreign packets 80 %", LineOptions { foreign: 0.8, ..good() }),
        fault("delay 1.5 s, beyond the time-out", LineOptions { delay: ms(1500), ..good() }),
        fault("jitter 300 ms", LineOptions { jitter: ms(300), ..good() }),
        Fault { reorder: 100 * MS, ..fault("reorder within 100 ms", good()) },
        fault("one byte at a time", LineOptions { split: Some(1), ..good() }),
        fault("closed every 5000 bytes", LineOptions { close_after: Some(5000), ..good() }),
        fault("115200 baud", LineOptions { baud: Some(115_200), ..good() }),
    ]
}

/// Both faults at once.
fn both(a: &Fault, b: &Fault) -> LineOptions {
    let (a, b) = (&a.line, &b.line);
    LineOptions {
        drop: a.drop.max(b.drop),
        corrupt: a.corrupt.max(b.corrupt),
        duplicate: a.duplicate.max(b.duplicate),
        truncate: a.truncate.max(b.truncate),
        noise: a.noise.max(b.noise),
        foreign: a.foreign.max(b.foreign),
        lose: a.lose.max(b.lose),
        delay: a.delay.max(b.delay),
        jitter: a.jitter.max(b.jitter),
        split: a.split.or(b.split),
        baud: a.baud.or(b.baud),
        close_after: a.close_after.or(b.close_after),
        seed: 11,
    }
}

/// Downloads so many samples; returns how long it took and what it was like.
fn download(
    client: ClientOptions,
    board: BoardOptions,
    size: usize,
    line: LineOptions,
    reorder: i64,
) -> (f64, Progress) {
    let version = board.version;
    let mut world = World::new(client, board, line);
    world.reorder = reorder;
    let events = world.run(Job::Fetch(fetch()));
    is_download_of(&events, &recorded(version, size));
    assert!(!events.contains(&Event::NotRestored));
    assert!(world.board.board().view().autostart, "it is as it was before");
    (world.at_ms() as f64 / 1000.0, world.client.view().fetch.unwrap())
}

fn full(version: BoardVersion) -> usize {
    if version == BoardVersion::V1_3 { 1528 } else { 2000 }
}

#[test]
fn a_full_buffer_comes_byte_for_byte_under_every_fault() {
    let mut table = String::from(
        "\n| fault | version | time s | requests | retries | duplicates | foreign | rejected | closed | round trip ms |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    let good = fault("none", LineOptions::default());
    for Fault { name, line, reorder } in std::iter::once(good).chain(faults()) {
        for version in VERSIONS {
            let size = full(version);
            let (seconds, progress) = download(patient(), serving(version, size), size, line.clone(), reorder);
            let Progress { requests, retries, duplicates, foreign, rejected, interruptions, .. } = progress;
            // No round trip is measured where every request was sent again before it was answered.
            let trip = progress.round_trip.map_or("-".into(), |trip| format!("{:.1}", trip.as_secs_f64() * 1e3));
            writeln!(
                table,
                "| {name} | {version} | {seconds:.1} | {requests} | {retries} | {duplicates} | {foreign} | {rejected} | {interruptions} | {trip} |"
            )
            .unwrap();
        }
    }
    println!("{table}");
}

#[test]
fn every_pair_of_faults_still_gives_the_samples() {
    let faults = faults();
    let mut pairs = 0;
    for (i, a) in faults.iter().enumerate() {
        for b in &faults[i + 1..] {
            // Single bytes that overtake each other are no stream any more.
            if a.reorder + b.reorder > 0 && (a.line.split.is_some() || b.line.split.is_some()) {
                continue;
            }
            for version in VERSIONS {
                let (seconds, progress) =
                    download(patient(), serving(version, 168), 168, both(a, b), a.reorder + b.reorder);
                println!("{} + {}, {version}: {seconds:.1} s, {} retries", a.name, b.name, progress.retries);
                pairs += 1;
            }
        }
    }
    assert_eq!(pairs, 3 * (13 * 12 / 2 - 1));
}

#[test]
fn faults_behind_a_can_bus_are_the_same() {
    for Fault { name, line, reorder } in faults() {
        for version in VERSIONS {
            let board = BoardOptions { can: Some(21), ..serving(version, 168) };
            let (seconds, progress) = download(patient(), board, 168, line.clone(), reorder);
            assert_eq!(progress.window, 1);
            println!("{name}, {version}: {seconds:.1} s, {} retries", progress.retries);
        }
    }
}
