//! Logs of random walks: WPILOG 1.0, RLOG R2 and MCAP.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use mcap::records::MessageHeader;
use mcap::{McapResult, WriteOptions};

/// What a reader must find.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Data records; control records and schema records are not counted.
    pub(crate) records: u64,
    /// Start records (WPILOG) or key definitions (RLOG).
    pub(crate) control: u64,
    /// Records of type `structschema`.
    pub(crate) schema: u64,
    /// Doubles and floats, scalars and elements of arrays.
    pub(crate) doubles: u64,
    /// Their sum, in the order of the file.
    pub(crate) double_sum: f64,
    /// The wrapping sum of integers, scalars and elements.
    pub(crate) int_sum: i64,
    /// Booleans that are true, scalars and elements.
    pub(crate) trues: u64,
    /// Bytes of strings, of JSON and of the elements of string arrays.
    pub(crate) string_bytes: u64,
    /// Bytes of struct payloads.
    pub(crate) struct_bytes: u64,
    /// Turns of the robot's loop.
    pub(crate) cycles: u64,
}

/// splitmix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    fn word(&mut self, words: &[&'static str]) -> &'static str {
        let at = self.below(words.len() as u64);
        usize::try_from(at).ok().and_then(|at| words.get(at)).copied().unwrap_or_default()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Ty {
    Double,
    Float,
    Int,
    Bool,
    Str,
    Json,
    Doubles(usize),
    Floats(usize),
    Ints(usize),
    Bools(usize),
    Strs,
    Pose2d,
    States,
    Pose3d,
}

impl Ty {
    fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Float => "float",
            Self::Int => "int64",
            Self::Bool => "boolean",
            Self::Str => "string",
            Self::Json => "json",
            Self::Doubles(_) => "double[]",
            Self::Floats(_) => "float[]",
            Self::Ints(_) => "int64[]",
            Self::Bools(_) => "boolean[]",
            Self::Strs => "string[]",
            Self::Pose2d => "struct:Pose2d",
            Self::Pose3d => "struct:Pose3d",
            Self::States => "struct:SwerveModuleState[]",
        }
    }
}

/// A signal: a random walk for numbers, a counter for integers.
pub(crate) struct Entry {
    name: String,
    ty: Ty,
    /// How often it is written: the share of cycles in which it changes.
    change: f64,
    walks: [f64; 8],
    counter: i64,
    /// Whether numbers are multiples of 1/4096, as sensors give them.
    coarse: bool,
}

impl Entry {
    fn new(name: String, ty: Ty, change: f64, coarse: bool) -> Self {
        Self { name, ty, change, walks: [0.0; 8], counter: 0, coarse }
    }

    /// The next `n` numbers of its walks.
    fn step<'a>(&'a mut self, n: usize, rng: &'a mut Rng) -> impl Iterator<Item = f64> + 'a {
        let coarse = self.coarse;
        self.walks.iter_mut().take(n).map(move |walk| {
            *walk = *walk * 0.9995 + (rng.unit() - 0.5) * 0.25;
            if coarse { (*walk * 4096.0).floor() / 4096.0 } else { *walk }
        })
    }
}

const SCHEMAS: &[(&str, &str)] = &[
    ("/.schema/struct:Rotation2d", "double value"),
    ("/.schema/struct:Translation2d", "double x;double y"),
    ("/.schema/struct:Pose2d", "Translation2d translation;Rotation2d rotation"),
    ("/.schema/struct:SwerveModuleState", "double speed;Rotation2d angle"),
    ("/.schema/struct:Quaternion", "double w;double x;double y;double z"),
    ("/.schema/struct:Rotation3d", "Quaternion q"),
    ("/.schema/struct:Translation3d", "double x;double y;double z"),
    ("/.schema/struct:Pose3d", "Translation3d translation;Rotation3d rotation"),
];

const SUBSYSTEMS: &[&str] = &[
    "Drive/Module0",
    "Drive/Module1",
    "Drive/Module2",
    "Drive/Module3",
    "Shooter",
    "Arm",
    "Elevator",
    "Intake",
    "Climber",
    "Vision",
];

const SIGNALS: &[&str] = &[
    "PositionRad",
    "VelocityRadPerSec",
    "AppliedVolts",
    "CurrentAmps",
    "TempCelsius",
    "SetpointRad",
    "ErrorRad",
    "FeedforwardVolts",
    "TurnPositionRad",
    "TurnVelocityRadPerSec",
    "TurnAppliedVolts",
    "TurnCurrentAmps",
    "SupplyCurrentAmps",
    "TorqueCurrentAmps",
    "BusVolts",
    "DutyCycle",
    "OdometryLatencySec",
    "SampleAgeSec",
    "AbsPositionRad",
    "LoopSec",
];

const WORDS: &[&str] = &[
    "Idle",
    "Tracking",
    "Aiming at speaker",
    "Intaking from ground",
    "Auto: four piece centre",
    "Climb stage 2",
    "Fault: CAN timeout on device 14",
    "Manual",
];
/// The modes in the JSON texts.
const MODES: &[&str] = &["Idle", "Tracking", "Aiming at speaker", "Intaking from ground"];

pub(crate) fn match_entries() -> Vec<Entry> {
    let mut list: Vec<(String, Ty, f64)> = Vec::new();
    for subsystem in SUBSYSTEMS {
        list.extend(SIGNALS.iter().map(|signal| (format!("/RealOutputs/{subsystem}/{signal}"), Ty::Double, 0.9)));
    }
    list.extend((0..40).map(|i| (format!("/DriverStation/Counters/Counter{i}"), Ty::Int, 0.5)));
    list.extend((0..60).map(|i| (format!("/Flags/Subsystem{}/Condition{}", i / 6, i % 6), Ty::Bool, 0.02)));
    list.extend((0..24).map(|i| (format!("/Drive/ModuleStates/Array{i}"), Ty::Doubles(8), 0.95)));
    list.extend((0..12).map(|i| (format!("/Odometry/Pose{i}"), Ty::Doubles(3), 0.95)));
    list.extend((0..4).map(|i| (format!("/Sensors/Floats{i}"), Ty::Floats(6), 0.9)));
    list.extend((0..4).map(|i| (format!("/Sensors/Float{i}"), Ty::Float, 0.9)));
    list.extend((0..3).map(|i| (format!("/PowerDistribution/Faults{i}"), Ty::Bools(24), 0.05)));
    list.extend((0..3).map(|i| (format!("/Vision/TagIds{i}"), Ty::Ints(4), 0.3)));
    list.extend((0..18).map(|i| (format!("/Commands/State{i}"), Ty::Str, 0.02)));
    list.extend((0..2).map(|i| (format!("/Config/Tuning{i}"), Ty::Json, 0.01)));
    list.extend((0..2).map(|i| (format!("/Alerts/Active{i}"), Ty::Strs, 0.02)));
    list.extend((0..12).map(|i| (format!("/RealOutputs/Pose/Robot{i}"), Ty::Pose2d, 0.95)));
    list.extend((0..10).map(|i| (format!("/RealOutputs/Swerve/States{i}"), Ty::States, 0.95)));
    list.extend((0..6).map(|i| (format!("/RealOutputs/Vision/Camera{i}Pose"), Ty::Pose3d, 0.5)));
    list.into_iter().enumerate().map(|(i, (name, ty, change))| Entry::new(name, ty, change, i % 3 == 0)).collect()
}

pub(crate) fn big_entries() -> Vec<Entry> {
    let ty = |i| match i % 64 {
        60 => Ty::Bool,
        61 => Ty::Int,
        62 => Ty::Doubles(3),
        63 => Ty::Str,
        _ => Ty::Double,
    };
    (0..320).map(|i| Entry::new(format!("/Big/Group{}/Signal{}", i / 16, i % 16), ty(i), 1.0, i % 3 == 0)).collect()
}

pub(crate) fn tiny_entries() -> Vec<Entry> {
    (0..100).map(|i| Entry::new(format!("/Tiny/Flag{i}"), Ty::Bool, 1.0, false)).collect()
}

pub(crate) fn ten_entries() -> Vec<Entry> {
    (0..10).map(|i| Entry::new(format!("/Ten/Signal{i}"), Ty::Double, 1.0, i % 3 == 0)).collect()
}

/// A payload under construction: little endian, or big endian for RLOG.
struct Payload {
    bytes: Vec<u8>,
    big: bool,
}

impl Payload {
    fn put<const N: usize>(&mut self, little: [u8; N]) {
        let mut bytes = little;
        if self.big {
            bytes.reverse();
        }
        self.bytes.extend_from_slice(&bytes);
    }

    fn length(&mut self, n: usize) {
        self.put(u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn doubles(&mut self, values: impl Iterator<Item = f64>, totals: &mut Totals) {
        for x in values {
            totals.double_sum += x;
            totals.doubles += 1;
            self.put(x.to_le_bytes());
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "that is how a float is made of a double")]
    fn floats(&mut self, values: impl Iterator<Item = f64>, totals: &mut Totals) {
        for x in values {
            let x = x as f32;
            totals.double_sum += f64::from(x);
            totals.doubles += 1;
            self.put(x.to_le_bytes());
        }
    }

    fn int(&mut self, x: i64, totals: &mut Totals) {
        totals.int_sum = totals.int_sum.wrapping_add(x);
        self.put(x.to_le_bytes());
    }

    fn bool(&mut self, x: bool, totals: &mut Totals) {
        totals.trues += u64::from(x);
        self.bytes.push(x.into());
    }

    fn text(&mut self, text: &str, totals: &mut Totals) {
        totals.string_bytes += text.len() as u64;
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Structs are little endian in both formats.
    fn packed(&mut self, values: impl Iterator<Item = f64>, totals: &mut Totals) {
        values.for_each(|x| self.bytes.extend_from_slice(&x.to_le_bytes()));
        totals.struct_bytes += self.bytes.len() as u64;
    }

    /// Takes an entry's signal one step on and makes its next value.
    fn next(&mut self, entry: &mut Entry, rng: &mut Rng, totals: &mut Totals) {
        self.bytes.clear();
        match entry.ty {
            Ty::Double => self.doubles(entry.step(1, rng), totals),
            Ty::Float => self.floats(entry.step(1, rng), totals),
            Ty::Doubles(n) => self.doubles(entry.step(n, rng), totals),
            Ty::Floats(n) => self.floats(entry.step(n, rng), totals),
            Ty::Int => {
                entry.counter += rng.below(5).cast_signed() - 1;
                self.int(entry.counter, totals);
            }
            Ty::Ints(n) => (0..n).for_each(|_| self.int(rng.below(22).cast_signed(), totals)),
            Ty::Bool => self.bool(rng.next() & 1 == 1, totals),
            Ty::Bools(n) => (0..n).for_each(|_| self.bool(rng.below(8) == 0, totals)),
            Ty::Str => self.text(rng.word(WORDS), totals),
            Ty::Json => {
                let (p, i, mode) = (rng.below(1000), rng.below(10), rng.word(MODES));
                self.text(&format!("{{\"kP\":{p},\"kI\":{i},\"mode\":\"{mode}\"}}"), totals);
            }
            Ty::Strs => {
                let n = usize::try_from(rng.below(4)).unwrap_or(0);
                self.length(n);
                for _ in 0..n {
                    let word = rng.word(WORDS);
                    self.length(word.len());
                    self.text(word, totals);
                }
            }
            Ty::Pose2d => self.packed(entry.step(3, rng), totals),
            Ty::Pose3d => self.packed(entry.step(7, rng), totals),
            Ty::States => self.packed(entry.step(8, rng), totals),
        }
        totals.records += 1;
    }
}

/// A file that is written in large pieces and knows how long it will be.
struct Output {
    file: BufWriter<File>,
    pending: Vec<u8>,
    written: u64,
}

impl Output {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(File::create(path)?), pending: Vec::with_capacity(1 << 20), written: 0 })
    }

    fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    fn flush(&mut self, from: usize) -> io::Result<()> {
        if self.pending.len() > from {
            self.file.write_all(&self.pending)?;
            self.written += self.pending.len() as u64;
            self.pending.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<u64> {
        self.flush(0)?;
        self.file.flush()?;
        Ok(self.written)
    }
}

/// The fewest little-endian bytes that hold a number, at least one.
fn short(x: u64) -> impl Iterator<Item = u8> {
    x.to_le_bytes().into_iter().take(width(x))
}

fn width(x: u64) -> usize {
    (64 - x.leading_zeros() as usize).div_ceil(8).max(1)
}

fn wpilog_record(out: &mut Vec<u8>, id: u32, time: u64, payload: &[u8]) {
    let size = payload.len() as u64;
    let widths = (width(id.into()) - 1) | (width(size) - 1) << 2 | (width(time) - 1) << 4;
    out.push(u8::try_from(widths).unwrap_or(0));
    out.extend(short(id.into()));
    out.extend(short(size));
    out.extend(short(time));
    out.extend_from_slice(payload);
}

fn wpilog_start(out: &mut Vec<u8>, id: u32, time: u64, name: &str, ty: &str, metadata: &str) {
    let mut payload = vec![0];
    payload.extend_from_slice(&id.to_le_bytes());
    for text in [name, ty, metadata] {
        payload.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
        payload.extend_from_slice(text.as_bytes());
    }
    wpilog_record(out, 0, time, &payload);
}

fn has_structs(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| entry.ty == Ty::Pose2d)
}

pub(crate) fn wpilog(
    path: &Path,
    mut entries: Vec<Entry>,
    most_bytes: u64,
    most_records: u64,
    seed: u64,
) -> io::Result<(Totals, u64)> {
    let (mut out, mut rng, mut totals) = (Output::create(path)?, Rng(seed), Totals::default());
    let mut payload = Payload { bytes: Vec::new(), big: false };
    let extra = b"{\"generator\":\"genlogs\"}";
    out.pending.extend_from_slice(b"WPILOG\x00\x01");
    out.pending.extend_from_slice(&u32::try_from(extra.len()).unwrap_or(0).to_le_bytes());
    out.pending.extend_from_slice(extra);
    // A robot program starts to log 1.2 s after boot.
    let mut time = 1_200_000;
    let mut id = 1;
    if has_structs(&entries) {
        for (name, schema) in SCHEMAS {
            wpilog_start(&mut out.pending, id, time, name, "structschema", "");
            wpilog_record(&mut out.pending, id, time, schema.as_bytes());
            id += 1;
            totals.control += 1;
            totals.schema += 1;
        }
    }
    let first = id;
    for entry in &entries {
        wpilog_start(&mut out.pending, id, time, &entry.name, entry.ty.name(), "{\"source\":\"AdvantageKit\"}");
        id += 1;
        totals.control += 1;
    }
    'log: loop {
        let cycle = time;
        totals.cycles += 1;
        for (id, entry) in (first..).zip(&mut entries) {
            if totals.cycles > 1 && entry.change < 1.0 && rng.unit() >= entry.change {
                continue;
            }
            payload.next(entry, &mut rng, &mut totals);
            wpilog_record(&mut out.pending, id, time, &payload.bytes);
            time += rng.below(24);
            if out.len() >= most_bytes || totals.records >= most_records {
                break 'log;
            }
        }
        time = time.max(cycle + 20_000 + rng.below(200));
        out.flush(1 << 19)?;
    }
    Ok((totals, out.finish()?))
}

fn rlog_key(out: &mut Vec<u8>, id: u16, name: &str, ty: &str) {
    out.push(1);
    out.extend_from_slice(&id.to_be_bytes());
    for text in [name, ty] {
        out.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend_from_slice(text.as_bytes());
    }
}

fn rlog_field(out: &mut Vec<u8>, id: u16, payload: &[u8]) {
    out.push(2);
    out.extend_from_slice(&id.to_be_bytes());
    out.extend_from_slice(&u16::try_from(payload.len()).unwrap_or(u16::MAX).to_be_bytes());
    out.extend_from_slice(payload);
}

pub(crate) fn rlog(path: &Path, mut entries: Vec<Entry>, most_bytes: u64, seed: u64) -> io::Result<(Totals, u64)> {
    let (mut out, mut rng, mut totals) = (Output::create(path)?, Rng(seed), Totals::default());
    let mut payload = Payload { bytes: Vec::new(), big: true };
    out.pending.push(2);
    let mut time = 1.2f64;
    let schemas = if has_structs(&entries) { SCHEMAS } else { &[] };
    let first = u16::try_from(schemas.len()).unwrap_or(0);
    while totals.cycles == 0 || out.len() < most_bytes {
        totals.cycles += 1;
        out.pending.push(0);
        out.pending.extend_from_slice(&time.to_be_bytes());
        if totals.cycles == 1 {
            for (id, (name, schema)) in (0..).zip(schemas) {
                rlog_key(&mut out.pending, id, name, "structschema");
                rlog_field(&mut out.pending, id, schema.as_bytes());
                totals.control += 1;
                totals.schema += 1;
            }
        }
        for (id, entry) in (first..).zip(&mut entries) {
            if totals.cycles > 1 && entry.change < 1.0 && rng.unit() >= entry.change {
                continue;
            }
            if totals.cycles == 1 {
                rlog_key(&mut out.pending, id, &entry.name, entry.ty.name());
                totals.control += 1;
            }
            payload.next(entry, &mut rng, &mut totals);
            rlog_field(&mut out.pending, id, &payload.bytes);
        }
        time += 0.02 + rng.below(200) as f64 * 1e-6;
        out.flush(1 << 19)?;
    }
    Ok((totals, out.finish()?))
}

/// Doubles as messages of ROS, which every reader of MCAP files knows.
pub(crate) fn mcap(path: &Path, messages: u64, seed: u64) -> McapResult<(Totals, u64)> {
    let (mut rng, mut totals) = (Rng(seed), Totals::default());
    let mut payload = Payload { bytes: Vec::new(), big: false };
    let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let options = WriteOptions::new().compression(None).profile("ros1").library("logpose-bench");
    let mut writer = options.create(file)?;
    let schema = writer.add_schema("std_msgs/Float64", "ros1msg", b"float64 data\n")?;
    let mut topics = Vec::new();
    for i in 0..320 {
        let name = format!("/Big/Group{}/Signal{}", i / 16, i % 16);
        topics.push((
            writer.add_channel(schema, &name, "ros1", &BTreeMap::new())?,
            Entry::new(name, Ty::Double, 1.0, i % 3 == 0),
        ));
    }
    totals.control = topics.len() as u64;
    let mut time = 1_200_000_000;
    'log: loop {
        totals.cycles += 1;
        for (id, entry) in &mut topics {
            if totals.records >= messages {
                break 'log;
            }
            payload.next(entry, &mut rng, &mut totals);
            let header = MessageHeader { channel_id: *id, sequence: 0, log_time: time, publish_time: time };
            writer.write_to_known_channel(&header, &payload.bytes)?;
            time += 1_000 * rng.below(24);
        }
        time += 12_000_000;
    }
    writer.finish()?;
    drop(writer);
    Ok((totals, std::fs::metadata(path)?.len()))
}
