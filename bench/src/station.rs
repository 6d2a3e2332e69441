//! Captures of a Driver Station's link and a season of its logs: made for the bench, and opened.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;

use logpose::{Log, OpenOptions, Quiet};
use logpose_core::Time;
use logpose_demo::{Pcap, Route};
use logpose_driverstation::pd::{Pdh, Pdp, PowerDistribution};
use logpose_driverstation::wire::{
    AllianceStation, CanMetrics, Console, Control, ControlBits, Joystick, Mode, RequestBits, Status, StatusBits,
    StatusTag, Tags, ToStation, TraceBits, volts_to_raw,
};
use logpose_dslog::{Event, Header, Record, Stamp, Status as DslogStatus, Version};

use crate::read::{Line, Work, no_damage};

/// Writes a capture of at least so many bytes: a link with a reply to 99 of 100 packets and a console, and with `busy`
/// also what else goes over a robot's network, a camera and NetworkTables, most of the bytes. Returns how many
/// datagrams and lines of the console the link has, and its bytes.
pub fn capture(out: &mut dyn Write, bytes: u64, busy: bool) -> Result<(u64, u64, u64), Box<dyn Error>> {
    let mut capture = Pcap::new(out)?;
    let (mut datagrams, mut lines, mut stream, mut payload, mut tags) = (0, 0, 1, Vec::new(), Vec::new());
    let picture = vec![0x5a; 1400];
    capture.syn(Time::from_micros(START_S * 1_000_000), to_station(1740, 53_000), 0)?;
    for cycle in 0_u32.. {
        if capture.bytes() >= bytes {
            break;
        }
        let time = Time::from_micros(START_S * 1_000_000 + i64::from(cycle) * 20_000);
        tags.clear();
        let axis = |turn: u32| i8::try_from((cycle / turn) % 127).unwrap_or(0);
        Joystick::emit_tag(&[axis(3), axis(7), 0, 0, 6, 2], &[cycle.is_multiple_of(64); 16], &[-1], &mut tags);
        let sequence = u16::try_from((cycle + 1) % 65_536)?;
        let control = Control {
            sequence,
            version: 1,
            control: ControlBits::default().with_mode(Mode::Teleop).with_enabled(cycle > 100),
            request: RequestBits::default().with_connected(cycle > 0),
            station: AllianceStation(4),
            tags: Tags::new(&tags, 6),
        };
        payload.clear();
        control.emit(&mut payload);
        capture.udp(time, to_robot(51_000, 1110), &payload)?;
        datagrams += 1;
        if cycle % 100 != 99 {
            tags.clear();
            status_tags(cycle, &mut tags);
            let status = Status {
                sequence,
                version: 1,
                status: StatusBits::default().with_mode(Mode::Teleop).with_enabled(cycle > 100),
                trace: TraceBits::default().with_code(true).with_roborio(true).with_teleop(true),
                battery: volts_to_raw(12.5 - f64::from(cycle % 512) / 256.0),
                request_date: 0,
                tags: Tags::new(&tags, 8),
            };
            payload.clear();
            status.emit(&mut payload);
            capture.udp(time.plus(1_600_000), to_station(52_000, 1150), &payload)?;
            datagrams += 1;
        }
        if cycle.is_multiple_of(25) {
            payload.clear();
            let stamp = f32::from(sequence) / 50.0;
            let line = ToStation::Console(Console { time: stamp, sequence, text: b"drive: at the goal, holding" });
            line.emit(&mut payload);
            capture.tcp(time.plus(2_000_000), to_station(1740, 53_000), stream, &payload)?;
            lines += 1;
            stream += u32::try_from(payload.len())?;
        }
        if busy {
            for part in 0..7 {
                capture.udp(time.plus(2_500_000 + part * 100_000), to_station(1181, 1181), &picture)?;
            }
            for part in 0..5 {
                let values = picture.get(..200).unwrap_or_default();
                capture.tcp(time.plus(4_000_000 + part * 3_000_000), to_station(5810, 54_000), cycle, values)?;
            }
        }
    }
    Ok((datagrams, lines, capture.bytes()))
}

fn status_tags(cycle: u32, tags: &mut Vec<u8>) {
    if cycle.is_multiple_of(10) {
        let can = CanMetrics { utilization: 0.5, bus_off: 0, tx_full: 0, receive_errors: 0, transmit_errors: 0 };
        StatusTag::Can { can, rest: &[] }.emit(tags);
    }
    if cycle.is_multiple_of(5) {
        StatusTag::PowerDistribution { pd: panel(cycle, Version::V4), rest: &[] }.emit(tags);
    }
    if cycle % 50 == 5 {
        StatusTag::Ram { free: 250 << 20, rest: &[] }.emit(tags);
    }
}

/// What the power distribution of a season says.
fn panel(turn: u32, version: Version) -> PowerDistribution {
    let current = |channel: u32| u16::try_from((turn + channel * 17) % 240).unwrap_or(0);
    match version {
        Version::V3 => {
            let mut pdp = Pdp { resistance: 255, voltage: 160, temperature: 90, ..Pdp::default() };
            (0..).zip(&mut pdp.currents).for_each(|(channel, raw)| *raw = current(channel));
            PowerDistribution::Pdp(pdp)
        }
        Version::V4 => {
            let mut pdh = Pdh { id: 1, ..Pdh::default() };
            (0..).zip(&mut pdh.currents).for_each(|(channel, raw)| *raw = current(channel));
            PowerDistribution::Pdh(pdh)
        }
    }
}

/// Opens a capture: every packet of the link decoded, the channels and their samples there to be read.
pub fn open(path: &Path, threads: usize) -> Line {
    let work = Work::begin();
    let log = Log::open_with(path, &OpenOptions { threads, ..OpenOptions::default() }, &Quiet)?;
    let end = work.end();
    no_damage(&log.problems)?;
    let samples = |name: &str| {
        let found = log.index.channels.iter().find(|found| found.channel.name == name);
        found.map_or(0, |found| found.samples)
    };
    // One of each for every packet that was sent, and for every reply.
    Ok(format!("records={} {end}", samples("/ds/lost") + samples("/ds/battery")))
}

/// Writes a season of logs into a folder: pairs of files, one a few minutes after the other, a hundred in each folder
/// of its own. Returns how many records they have, and their bytes.
pub fn season(folder: &Path, pairs: u64) -> Result<(u64, u64), Box<dyn Error>> {
    let (mut records, mut bytes) = (0, 0);
    let (mut log, mut events, mut block) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..pairs {
        let days = folder.join(format!("{:03}", pair / 100));
        fs::create_dir_all(&days)?;
        let start = (START_S + i64::try_from(pair)? * 300) * 1_000_000_000;
        let version = if pair.is_multiple_of(2) { Version::V3 } else { Version::V4 };
        let header = Header { version, start: Stamp::from_unix_ns(start) };
        log.clear();
        events.clear();
        header.emit(&mut log);
        header.emit(&mut events);
        let count = 4000 + u32::try_from(pair % 7)? * 500;
        for number in 0..count {
            block.clear();
            // Two seconds without a robot, then disabled, autonomous, teleop.
            let (status, battery) = match number {
                0..100 => (0xf7, u16::MAX),
                100..500 => (0xf6, volts_to_raw(12.6)),
                500..1250 => (0xed, volts_to_raw(12.0)),
                _ => (0xdb, volts_to_raw(11.5 - f64::from(number % 256) / 64.0)),
            };
            if number >= 100 {
                panel(number, version).emit(&mut block);
            }
            let reply = if number < 100 { u8::MAX } else { 14 };
            let status = DslogStatus(status);
            let record =
                Record { trip: reply, loss: 0, battery, cpu: 90, status, can: 80, wifi: 0, bandwidth: 0, pd: &block };
            record.emit(version, &mut log);
        }
        for second in 0..i64::from(count / 50) {
            let time = Stamp::from_unix_ns(start + second * 1_000_000_000);
            let text = match second {
                0 => format!("FMS Connected:   Qualification - {}:1, Field Time: 22/3/6 1:33:48\n", pair % 90 + 1),
                1 => "Info FMS Event Name: DEMO".to_owned(),
                _ => format!("<TagVersion>1 <time> {:06.3} <message> drive: at the goal, holding ", second as f64),
            };
            Event { time, text: text.as_bytes() }.emit(&mut events);
        }
        let name = days.join(format!("2022_03_06 {:02}_{:02}_{pair:05} Sun", pair / 60 % 24, pair % 60));
        fs::write(name.with_extension("dslog"), &log)?;
        fs::write(name.with_extension("dsevents"), &events)?;
        records += u64::from(count);
        bytes += (log.len() + events.len()) as u64;
    }
    Ok((records, bytes))
}

fn to_robot(from_port: u16, to_port: u16) -> Route {
    Route { from: STATION, from_port, to: ROBOT, to_port }
}

fn to_station(from_port: u16, to_port: u16) -> Route {
    Route { from: ROBOT, from_port, to: STATION, to_port }
}

const START_S: i64 = 1_646_500_000;
const STATION: [u8; 4] = [10, 2, 54, 5];
const ROBOT: [u8; 4] = [10, 2, 54, 2];
