//! Small logs, made byte by byte, so that transcripts show the command line and not a simulation.

use std::fs;
use std::path::Path;

/// A WPILOG under construction.
pub(crate) struct Wpilog {
    bytes: Vec<u8>,
    entries: u32,
    /// Whether headers use all the bytes they may, as no known program does and the specification allows.
    over_wide: bool,
}

impl Wpilog {
    pub(crate) fn new(extra: &str) -> Self {
        let mut bytes = b"WPILOG\x00\x01".to_vec();
        bytes.extend((extra.len() as u32).to_le_bytes());
        bytes.extend(extra.as_bytes());
        Self { bytes, entries: 0, over_wide: false }
    }

    pub(crate) fn over_wide(self) -> Self {
        Self { over_wide: true, ..self }
    }

    pub(crate) fn start(&mut self, name: &str, type_name: &str, metadata: &str) -> u32 {
        self.entries += 1;
        let mut payload = vec![0];
        payload.extend(self.entries.to_le_bytes());
        for text in [name, type_name, metadata] {
            payload.extend((text.len() as u32).to_le_bytes());
            payload.extend(text.as_bytes());
        }
        self.record(0, 0, &payload);
        self.entries
    }

    pub(crate) fn record(&mut self, entry: u32, ms: i64, payload: &[u8]) {
        let fields = [u64::from(entry), payload.len() as u64, (ms * 1000) as u64];
        let needed = fields.map(|field| (64 - field.leading_zeros() as usize).div_ceil(8).max(1));
        let [id, size, time] = if self.over_wide { [4, 4, 8] } else { needed };
        self.bytes.push(((id - 1) | ((size - 1) << 2) | ((time - 1) << 4)) as u8);
        for (field, width) in fields.iter().zip([id, size, time]) {
            self.bytes.extend(&field.to_le_bytes()[..width]);
        }
        self.bytes.extend(payload);
    }

    pub(crate) fn double(&mut self, entry: u32, ms: i64, value: f64) {
        self.record(entry, ms, &value.to_le_bytes());
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A match of 30 seconds: disabled, auto from 5 to 15, teleop from 17.
pub(crate) fn a_match() -> Vec<u8> {
    let mut log = Wpilog::new("");
    let enabled = log.start("DS:enabled", "boolean", "");
    let autonomous = log.start("DS:autonomous", "boolean", "");
    let system = log.start("systemTime", "int64", r#"{"source":"DataLogManager"}"#);
    let event = log.start("NT:/FMSInfo/EventName", "string", "");
    let kind = log.start("NT:/FMSInfo/MatchType", "int64", "");
    let number = log.start("NT:/FMSInfo/MatchNumber", "int64", "");
    let volts = log.start("/Power/BatteryVoltage", "double", r#"{"unit":"volts"}"#);
    let schema = log.start("/.schema/struct:Point", "structschema", "");
    let pose = log.start("/Drive/Pose", "struct:Point", "");
    let speeds = log.start("/Drive/Speeds", "double[]", "");
    let count = log.start("/Drive/Count", "int64", "");
    let messages = log.start("messages", "string", "");
    log.record(enabled, 0, &[0]);
    log.record(autonomous, 0, &[0]);
    log.record(event, 10, b"DEMO");
    log.record(kind, 10, &2i64.to_le_bytes());
    log.record(number, 10, &12i64.to_le_bytes());
    log.record(schema, 10, b"double x;double y;");
    log.record(system, 1000, &1_773_000_000_000_000i64.to_le_bytes());
    log.record(messages, 1000, b"Robot program starting");
    for second in 0..=30i64 {
        let ms = second * 1000;
        let moving = (5..15).contains(&second) || second >= 17;
        log.double(volts, ms, if moving { 11.5 - second as f64 / 100.0 } else { 12.5 });
        match second {
            5 => {
                log.record(enabled, ms, &[1]);
                log.record(autonomous, ms, &[1]);
                log.record(messages, ms, b"auto: three pieces");
            }
            15 => {
                log.record(enabled, ms, &[0]);
                log.record(autonomous, ms, &[0]);
            }
            17 => log.record(enabled, ms, &[1]),
            20 => log.record(messages, ms, b"Warning at drive: wheel slip\nWarning at arm: too hot"),
            _ => {}
        }
        if moving && second % 5 == 0 {
            let (x, y) = (second as f64 / 4.0, -1.5f64);
            log.record(pose, ms, &[x.to_le_bytes(), y.to_le_bytes()].concat());
            log.record(speeds, ms, &[1.0f64.to_le_bytes(), f64::NAN.to_le_bytes()].concat());
            log.record(count, ms, &(i64::MAX - second).to_le_bytes());
        }
    }
    log.bytes()
}

/// The same match as the driver station saw it, three seconds later on its own clock, and how it lost the robot.
fn a_station() -> Vec<u8> {
    let mut log = Wpilog::new("");
    let flags = ["control/enabled", "control/autonomous", "connected", "status/brownout"];
    let flags = flags.map(|name| log.start(&format!("/ds/{name}"), "boolean", ""));
    let numbers = ["battery", "trip_time", "packet_loss", "cpu", "can/utilization"];
    let numbers = numbers.map(|name| log.start(&format!("/ds/{name}"), "double", ""));
    let (errors, played) = (log.start("/ds/errors", "json", ""), log.start("/ds/match", "json", ""));
    let station = log.start("/ds/control/station", "string", "");
    let data = log.start("/ds/game_data", "string", "");
    log.record(played, 0, br#"{"event":"DEMO","type":"qualification","number":12,"replay":1}"#);
    log.record(station, 0, b"red 2");
    log.record(data, 0, b"LRL");
    let changes: [(usize, &[i64]); 4] = [
        (0, &[8_010, 18_005, 20_000, 34_200]),
        (1, &[8_010, 20_000]),
        (2, &[1_000, 33_600, 36_100]),
        (3, &[30_000, 30_240]),
    ];
    for (flag, times) in changes {
        log.record(flags[flag], 0, &[0]);
        for (i, ms) in times.iter().enumerate() {
            log.record(flags[flag], *ms, &[u8::from(i % 2 == 0)]);
        }
    }
    for i in 10..=400i64 {
        let ms = i * 100;
        if (33_600..36_100).contains(&ms) {
            continue;
        }
        let loss = if (32_000..33_600).contains(&ms) { 0.6 } else { (i % 25 / 24) as f64 * 0.04 };
        for (number, value) in numbers.iter().zip([11.8, 0.005 + (i % 7) as f64 / 1e3, loss, 0.5, 0.31]) {
            log.double(*number, ms, value);
        }
    }
    let overrun = br#"{"severity":"warning","code":1,"details":"Loop time of 0.02s overrun\nat Robot"}"#;
    (0..3).for_each(|i| log.record(errors, 9_000 + i * 700, overrun));
    log.record(errors, 34_700, br#"{"severity":"error","code":44004,"details":"lost communication"}"#);
    log.bytes()
}

/// A short log from the pit.
fn pit(log: Wpilog) -> Vec<u8> {
    let mut pit = log;
    let volts = pit.start("/Power/BatteryVoltage", "double", "");
    let tilt = pit.start("/Arm/Tilt", "float", "");
    for i in 0..3 {
        pit.double(volts, 500 + i * 1000, 12.0);
        pit.record(tilt, 500 + i * 1000, &1.5f32.to_le_bytes());
    }
    pit.bytes()
}

/// RLOG R2 without the byte that says so: three cycles with one number each.
fn headless_rlog() -> Vec<u8> {
    let mut bytes = Vec::new();
    for cycle in 0..3u8 {
        bytes.push(0);
        bytes.extend((0.02 * f64::from(cycle)).to_be_bytes());
        if cycle == 0 {
            bytes.extend([1, 0, 0]);
            for text in ["/Speed", "double"] {
                bytes.extend((text.len() as u16).to_be_bytes());
                bytes.extend(text.as_bytes());
            }
        }
        bytes.extend([2, 0, 0, 0, 8]);
        bytes.extend(f64::from(cycle).to_be_bytes());
    }
    bytes
}

/// Writes every log that the cases use.
pub(crate) fn write_all(dir: &Path) {
    RECORDINGS.iter().for_each(|name| copy_recording(name, dir));
    let whole = a_match();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.join(name), bytes).unwrap();
    write("match.wpilog", &whole);
    write("station.wpilog", &a_station());
    write("truncated.wpilog", &whole[..whole.len() - 5]);
    let mut garbage = whole.clone();
    let middle = garbage.len() / 2;
    garbage[middle..middle + 100].fill(0xa5);
    write("garbage.wpilog", &garbage);
    write("empty.wpilog", b"");
    write("notes.txt", b"remember the battery\n");
    write("query.sql", b"-- The lowest voltage.\nSELECT min(value) AS volts\nFROM \"/Power/BatteryVoltage\";\n");
    fs::create_dir(dir.join("folder")).unwrap();
    write("pit.wpilog", &pit(Wpilog::new("")));
    write("over-wide.wpilog", &pit(Wpilog::new("").over_wide()));
    let short = pit(Wpilog::new(""));
    write("tail.wpilog", &short[..short.len() - 3]);
    write("headless.rlog", &headless_rlog());
    let mut evil = Wpilog::new("");
    let entry = evil.start("/evil\x1b[2J", "string", "");
    evil.record(entry, 1, b"bell\x07 and \x1b[31mred");
    write("evil.wpilog", &evil.bytes());
    let mut unsorted = Wpilog::new("");
    let entry = unsorted.start("/late", "int64", "");
    for ms in [30, 10, 20i64] {
        unsorted.record(entry, ms, &ms.to_le_bytes());
    }
    write("unsorted.wpilog", &unsorted.bytes());
    // Many problems of one kind.
    let mut many = Wpilog::new("");
    let entry = many.start("/short", "double", "");
    for i in 0..15 {
        many.record(entry, i, &[1, 2, 3]);
    }
    many.double(entry, 20, 1.0);
    write("many.wpilog", &many.bytes());
    write("ride.csv", include_bytes!("../../../../fixtures/rides/valid/refloat.csv"));
    write("phone.zip", include_bytes!("../../../../fixtures/rides/valid/float-control.zip"));
}

/// Recordings of CARLA, from the fixtures.
const RECORDINGS: [&str; 10] = [
    "valid/traffic",
    "valid/attached",
    "valid/all-packets",
    "valid/nan-boxes",
    "valid/no-frames",
    "valid/ue5-weather",
    "corrupt/cut-in-packet",
    "corrupt/elapsed-flipped",
    "corrupt/version-3",
    "corrupt/wrong-magic",
];

fn copy_recording(name: &str, dir: &Path) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/carla").join(name).with_extension("log");
    fs::copy(&fixture, dir.join(fixture.file_name().unwrap())).unwrap();
}
