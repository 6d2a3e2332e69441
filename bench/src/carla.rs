//! CARLA recordings: one made for the bench, its index, and the state at a time.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use logpose_carla::{
    ActorType, Carla, Controls, Frames, Header, Kind, Mode, Packet, Recording, RecordingOptions, Rotation, Signal,
    Spawn, State, Target, Vector, WireFormat,
};
use logpose_core::{Cursor, FileDialect, Problems, ReadOptions};

use crate::meter;
use crate::read::{Line, Work, how, no_damage};

/// In the large recording: a hundred vehicles, and half as many lights.
const ACTORS: usize = 150;
/// How many moments are looked at.
const STATES: u32 = 2000;

/// Writes a recording of at least so many bytes: vehicles that drive around and half as many lights, as 0.9.15 records
/// them. Returns how many samples it has, its frames among them, and its bytes.
pub fn generate(out: &mut dyn Write, bytes: u64, vehicles: u32) -> Result<(u64, u64), Box<dyn Error>> {
    let options =
        RecordingOptions { target: Target::V0_9_15, map: "Town03", date: 1_700_000_000, additional_data: false };
    let mut recording = Recording::new(&options)?;
    recording.tick(0.05)?;
    let vehicle = |_| {
        let class = Some(ActorType::Vehicle);
        recording.spawn(&Spawn { class, blueprint: "vehicle.tesla.model3", ..Spawn::default() })
    };
    let moving = (0..vehicles).map(vehicle).collect::<Result<Vec<_>, _>>()?;
    let light = |number: u32| {
        // At the corners of blocks.
        let corner = |number: u32| 60.0 * f64::from(number) - 900.0;
        let (class, location) = (Some(ActorType::TrafficLight), (corner(number % 32), corner(number / 32)));
        let location = Vector::new(location.0, location.1, 5.0);
        recording.spawn(&Spawn { class, blueprint: "traffic.traffic_light", location, ..Spawn::default() })
    };
    let lights = (0..vehicles / 2).map(light).collect::<Result<Vec<_>, _>>()?;
    let (mut frames, mut records, mut written) = (1_u64, 0, 0);
    while written < bytes {
        let turn = frames as f64 * 0.05;
        for (number, vehicle) in (0..).zip(&moving) {
            let angle = turn * 10.0 + 7.0 * f64::from(number);
            // Not quite a circle, but the same on every machine.
            let side = |angle: f64| (angle % 360.0 - 180.0).abs() / 90.0 - 1.0;
            let radius = 20.0 + f64::from(number);
            let place = Vector::new(radius * side(angle), radius * side(angle + 90.0), 0.1);
            recording.place(*vehicle, place, Rotation::new(0.0, 0.0, angle % 360.0))?;
            let throttle = f64::from(number % 10) / 10.0;
            #[expect(clippy::cast_possible_truncation, reason = "a control is a number from 0 to 1")]
            recording.control(*vehicle, Controls { throttle: throttle as f32, gear: 3, ..Controls::default() })?;
        }
        for (number, light) in (0_u64..).zip(&lights) {
            let signal = if (frames / 200 + number).is_multiple_of(2) { Signal::Green } else { Signal::Red };
            #[expect(clippy::cast_possible_truncation, reason = "seconds of one state")]
            recording.signal(*light, signal, (turn % 10.0) as f32, false)?;
        }
        let part = recording.take();
        out.write_all(&part)?;
        records += samples(&part);
        written += part.len() as u64;
        recording.tick(0.05)?;
        frames += 1;
    }
    let rest = recording.finish()?;
    out.write_all(&rest)?;
    Ok((records + samples(&rest), written + rest.len() as u64))
}

/// How many samples the packets of a part of a recording are.
fn samples(part: &[u8]) -> u64 {
    let header = Header::parse(&mut Cursor::new(part, 0)).map_or(0, |header| header.size());
    let mut cur = Cursor::new(part.get(header..).unwrap_or_default(), 0);
    let packets = std::iter::from_fn(|| Packet::parse(&mut cur).ok());
    let each = packets.map(|packet| match packet.kind(WireFormat::default()) {
        Some(Kind::FrameEnd) => 0,
        Some(kind) if kind.fixed_size().is_some() => 1,
        _ => packet.total().into(),
    });
    each.sum()
}

/// Goes over the headers of all packets: what queries and states need.
pub fn frames(path: &Path) -> Line {
    let work = Work::begin();
    let log = meter::map(path)?;
    let frames = Frames::scan(&log)?;
    let end = work.end();
    Ok(format!("records={} frames={} {end}", samples(&log), frames.frames().len()))
}

/// Makes the index of all channels, as a large log is opened: without the place of every record.
pub fn index(path: &Path, threads: usize) -> Line {
    let mut problems = Problems::default();
    let work = Work::begin();
    let log = meter::map(path)?;
    let index = Carla.index(&log, &ReadOptions { positions: false, ..how(threads) }, &mut problems)?;
    let end = work.end();
    no_damage(&problems)?;
    let made = |name: &str| name.starts_with("/.schema/") || name == "/carla/layout";
    let records = index.channels.iter().filter(|c| !made(&c.channel.name)).map(|c| c.samples).sum::<u64>();
    Ok(format!("records={records} {end}"))
}

/// The state at many times, in no order: the median and the 99th percentile in microseconds.
pub fn states(path: &Path) -> Line {
    let log = meter::map(path)?;
    let frames = Frames::scan(&log)?;
    let mut taken = Vec::new();
    for number in 0..STATES {
        // Golden steps go everywhere, and nowhere twice.
        let time = frames.total() * (f64::from(number) * 0.618_033_988_749_895).fract();
        let begun = Instant::now();
        let state = State::at(&frames, time, Mode::True).ok_or("no state")?;
        taken.push(begun.elapsed().as_nanos());
        if state.actors.len() != ACTORS {
            return Err("actors are missing".into());
        }
    }
    taken.sort_unstable();
    let part = |of: usize| taken.get(taken.len() * of / 100).copied().unwrap_or(0) as f64 / 1e3;
    Ok(format!("records={} state_median_us={} state_p99_us={}", samples(&log), part(50), part(99)))
}
