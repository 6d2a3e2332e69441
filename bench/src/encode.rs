//! Writing RLOG cycle by cycle, as AdvantageKit does.

use std::time::Instant;

use logpose_core::{
    Channel, EncodeOptions, FileDialect, Layout, Lookup, Problems, ReadOptions, Sample, Time, Type, Value,
};
use logpose_rlog::{Options, Rlog, Writer};

use crate::meter;
use crate::read::Line;
use crate::sums::Sums;

/// What changes in a cycle of the match that `generate` makes: 279 fields. Count, type, bytes of a value.
const FIELDS: &[(usize, &str, usize)] = &[
    (180, "double", 8),
    (20, "int64", 8),
    (2, "boolean", 1),
    (23, "double[]", 64),
    (11, "double[]", 24),
    (4, "float[]", 24),
    (4, "float", 4),
    (1, "boolean[]", 24),
    (1, "int64[]", 32),
    (8, "string", 23),
    (1, "string[]", 31),
    (11, "struct:Pose2d", 24),
    (10, "struct:SwerveModuleState[]", 64),
    (3, "struct:Pose3d", 56),
];

/// Encodes `n` cycles, once through the seam into memory that is used again, once through the typed writer whose
/// bytes are taken after each cycle. Then it reads the first cycles back.
pub fn rlog_encode(n: u32) -> Line {
    let fields: Vec<(Channel, Vec<u8>)> = fields().collect();
    let values: Vec<Value<'_>> =
        fields.iter().map(|(channel, bytes)| value(channel.ty(), bytes)).collect::<Result<_, _>>()?;
    let mut expected = Sums::default();

    let mut encoder = Rlog.encoder(&EncodeOptions::default()).ok_or("RLOG has no encoder")?;
    let mut out = Vec::with_capacity(1 << 20);
    encoder.begin(&mut out);
    for (id, (channel, _)) in (0..).zip(&fields) {
        encoder.channel(id, channel, &mut out)?;
    }
    let mut batch: Vec<Sample<'_>> =
        (0..).zip(&values).map(|(channel, value)| Sample { channel, time: Time::ZERO, value: *value }).collect();
    let (mut kept, mut times, mut bytes) = (Vec::new(), Vec::with_capacity(n as usize), 0);
    let mut allocations = 0;
    for cycle in 1..=n {
        let time = Time::from_millis(i64::from(cycle) * 20);
        batch.iter_mut().for_each(|sample| turn(sample, time, cycle));
        let before = meter::allocations();
        let begun = Instant::now();
        encoder.samples(&batch, &mut out)?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
        allocations += meter::allocations() - before;
        if cycle <= KEPT {
            kept.extend_from_slice(&out);
            fields
                .iter()
                .zip(&batch)
                .for_each(|((channel, _), sample)| expected.add(&channel.type_name, sample.time, &sample.value));
        }
        bytes += out.len();
        out.clear();
    }
    let seam = spread(times);
    check(&kept, &expected)?;

    let mut log = Writer::new(Options::default());
    let keys: Vec<_> = fields.iter().map(|(channel, _)| log.key(&channel.name, &channel.type_name)).collect();
    let (mut kept, mut times) = (Vec::new(), Vec::with_capacity(n as usize));
    let mut writer_allocations = 0;
    for cycle in 1..=n {
        let time = Time::from_millis(i64::from(cycle) * 20);
        batch.iter_mut().for_each(|sample| turn(sample, time, cycle));
        let before = meter::allocations();
        let begun = Instant::now();
        log.cycle(time);
        for (key, sample) in keys.iter().zip(&batch) {
            log.put(*key, &sample.value)?;
        }
        times.push(begun.elapsed().as_secs_f64() * 1e6);
        writer_allocations += meter::allocations() - before;
        if cycle <= KEPT {
            kept.extend_from_slice(log.bytes());
        }
        log.clear();
    }
    let writer = spread(times);
    check(&kept, &expected)?;
    Ok(format!(
        "records={} fields={} bytes={bytes} cycle_p1_us={:.3} cycle_median_us={:.3} writer_p1_us={:.3} writer_median_us={:.3} allocations={allocations} writer_allocations={writer_allocations}",
        u64::from(n) * values.len() as u64,
        values.len(),
        seam.0,
        seam.1,
        writer.0,
        writer.1
    ))
}

/// Cycles that are read back.
const KEPT: u32 = 50;

/// Makes another value of a sample, where that needs no memory: the numbers.
fn turn(sample: &mut Sample<'_>, time: Time, cycle: u32) {
    sample.time = time;
    match &mut sample.value {
        Value::Double(x) => *x = f64::from(sample.channel) * 0.25 + f64::from(cycle),
        Value::Int64(x) => *x = i64::from(cycle),
        Value::Boolean(x) => *x = cycle % 2 == 1,
        Value::Float(x) => *x = 0.5,
        _ => {}
    }
}

fn fields() -> impl Iterator<Item = (Channel, Vec<u8>)> {
    let all = FIELDS.iter().flat_map(|(count, type_name, size)| (0..*count).map(move |i| (i, *type_name, *size)));
    all.map(|(i, type_name, size)| {
        let channel = Channel::new(format!("/RealOutputs/Subsystem/{type_name}{size}/{i}"), type_name);
        let bytes = match channel.ty() {
            Type::StringArray => b"\x02\0\0\0\x04\0\0\0Idle\x0f\0\0\0Climb stage two".to_vec(),
            Type::DoubleArray => 1.5f64.to_le_bytes().repeat(size / 8),
            Type::FloatArray => 1.5f32.to_le_bytes().repeat(size / 4),
            _ => vec![b'a'; size],
        };
        (channel, bytes)
    })
}

fn value(ty: Type, bytes: &[u8]) -> Result<Value<'_>, logpose_core::Misfit> {
    Value::parse(ty, bytes, Layout::Little)
}

/// The first percentile and the median.
fn spread(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let at = |i: usize| times.get(i).copied().unwrap_or(f64::NAN);
    (at(times.len() / 100), at(times.len() / 2))
}

fn check(log: &[u8], expected: &Sums) -> Result<(), Box<dyn std::error::Error>> {
    let index = Rlog.index(log, &ReadOptions::default(), &mut Problems::default())?;
    let columns = Rlog.scan(log, &index, &Lookup::default(), |_| {})?;
    let (found, expected) = (Sums::of(&columns).to_string(), expected.to_string());
    if found == expected { Ok(()) } else { Err(format!("encoded {expected}; read back {found}").into()) }
}
