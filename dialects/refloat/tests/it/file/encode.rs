//! What a recording can say, and what it refuses by name.

use logpose_core::{EncodeError, EncodeOptions, FileDialect, Sample, Severity, Time, Value};
use logpose_refloat::Refloat;
use logpose_refloat::rfrec::{Recording, TimeRef};

use super::kit::{again, channel, ride};

type Row<'a> = (u32, i64, Value<'a>);
/// Channels, samples, and a part of the refusal.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a [Row<'a>], &'a str);

/// A file of channels and samples; times in ticks.
fn write(channels: &[(&str, &str)], rows: &[Row<'_>]) -> Result<(Vec<u8>, Vec<&'static str>), EncodeError> {
    let mut encoder = Refloat.encoder(&EncodeOptions::default()).unwrap();
    let mut out = Vec::new();
    encoder.begin(&mut out);
    for (id, (name, type_name)) in (0..).zip(channels) {
        encoder.channel(id, &channel(name, type_name), &mut out)?;
    }
    for (id, tick, value) in rows {
        let time = Time::from_nanos(tick * 100_000);
        encoder.samples(&[Sample { channel: *id, time, value: *value }], &mut out)?;
    }
    encoder.close()?;
    let problems = encoder.finish(&mut out);
    Ok((out, problems.into_iter().map(|problem| problem.code).collect()))
}

fn refusal(channels: &[(&str, &str)], rows: &[Row<'_>]) -> String {
    write(channels, rows).unwrap_err().to_string()
}

const ALL: [(&str, &str); 5] = [
    ("/refloat/erpm", "float"),
    ("/refloat/running", "boolean"),
    ("/refloat/wheelslip", "boolean"),
    ("/refloat/footpad", "string"),
    ("/refloat/adjustment", "string"),
];

#[test]
fn a_header_is_made_where_there_is_none() {
    let rows = [
        (0, 1, Value::Float(1.0)),
        (1, 1, Value::Boolean(true)),
        (2, 1, Value::Boolean(false)),
        (3, 1, Value::String(b"both")),
        (4, 1, Value::String(b"none")),
    ];
    let (file, problems) = write(&ALL, &rows).unwrap();
    assert_eq!(file, super::kit::hex(super::kit::EXAMPLE));
    assert!(problems.is_empty());
}

#[test]
fn missing_states_are_written_as_none_and_reported() {
    let (file, problems) = write(&ALL[..1], &[(0, 5, Value::Float(-0.0)), (0, 6, Value::Float(131_008.0))]).unwrap();
    assert_eq!(problems, ["flags-made"]);
    let recording = Recording::read(&file).unwrap();
    let samples: Vec<_> = recording.samples().map(|(_, bytes)| bytes.to_vec()).collect();
    assert_eq!(samples, [[0, 0, 0, 5, 0, 0x80, 0], [0, 0, 0, 6, 0, 0x7f, 0xff]]);
}

#[test]
fn numbers_of_formats_without_types_are_taken_where_they_are_exact() {
    // The text of a binary32 may end in one digit or another: this value lies in the middle of the two.
    for x in [1.894_531_2, 1.894_531_3, 1.894_531_25] {
        let (file, _) = write(&[("/refloat/x", "double")], &[(0, 1, Value::Double(x))]).unwrap();
        assert_eq!(Recording::read(&file).unwrap().samples().next().unwrap().1[5..], [0x3f, 0x94], "{x}");
    }
    let (file, _) = write(&[("/refloat/erpm", "int64")], &[(0, 1, Value::Int64(-4320))]).unwrap();
    assert_eq!(Recording::read(&file).unwrap().samples().next().unwrap().1[5..], [0xec, 0x38]);
    for n in [4321, 1 << 20, i64::MIN] {
        let found = refusal(&[("/refloat/erpm", "int64")], &[(0, 1, Value::Int64(n))]);
        assert!(found.contains(&format!("{n} cannot be stored in 16 bits")), "{found}");
    }
}

#[test]
fn every_flag_comes_back() {
    for flags in 0..=255_u8 {
        let mut parts = ride(2, 1);
        parts.samples[0][4] = flags;
        let file = parts.file();
        assert_eq!(again(&file).unwrap().0, file, "{flags:#x}");
    }
}

#[test]
fn what_no_recording_holds_is_refused_by_name() {
    let cases: [Case<'_>; 13] = [
        (
            &[("/drive/speed", "double")],
            &[],
            "refloat: channel \"/drive/speed\": a Refloat recording can only hold Refloat channels",
        ),
        (&[("/refloat/state", "string")], &[], "\"/refloat/state\": a recording only holds recorded values"),
        (&[("/refloat/fault_code", "int64")], &[], "this is a live value; use `logpose refloat fetch`"),
        (
            &ALL[..1],
            &[(0, 1, Value::Float(0.1))],
            "\"/refloat/erpm\": at 0.000100 s: 0.1 cannot be stored in 16 bits; the nearest value is 0.099975586",
        ),
        (
            &[("/refloat/x", "double")],
            &[(0, 1, Value::Double(1.000_000_001))],
            "1.000000001 cannot be stored in 16 bits",
        ),
        (&ALL[..1], &[(0, 1, Value::Float(f32::NAN))], "NaN cannot be stored in 16 bits"),
        (
            &ALL,
            &[(0, 1, Value::Float(1.0)), (1, 2, Value::Boolean(true))],
            "\"/refloat/running\": sample 0 is at 0.000200 s, but at 0.000100 s in other channels",
        ),
        (&ALL, &[(0, 1, Value::Float(1.0))], "\"/refloat/running\": it has 0 samples, other channels have 1"),
        (
            &[ALL[0], ALL[3]],
            &[(0, 1, Value::Float(1.0)), (1, 1, Value::String(b"some"))],
            "\"some\" is not a footpad state",
        ),
        (
            &[ALL[0], ALL[4]],
            &[(0, 1, Value::Float(1.0)), (1, 1, Value::String(b"some"))],
            "\"some\" is not a setpoint adjustment",
        ),
        (&[("/refloat/file/meta", "json")], &[(0, 0, Value::String(b"[]"))], "not a JSON object"),
        (
            &[("/refloat/file/meta", "json")],
            &[(0, 0, Value::String(b"{}"))],
            "missing header, and no channel with values",
        ),
        (&ALL[..1], &[(0, -1, Value::Float(1.0))], "count from the start of the board"),
    ];
    for (channels, rows, expected) in cases {
        let found = refusal(channels, rows);
        assert!(found.contains(expected), "{found}\nnot {expected}");
    }
}

#[test]
fn the_header_and_the_channels_must_fit() {
    let header = ("/refloat/file/header", "raw");
    let payload = super::kit::hex("65 2A 00 00 00 01 01 04 65 72 70 6D");
    let header_sample = |id| (id, 1, Value::Bytes(&payload));
    let missing = refusal(&[header, ALL[1]], &[header_sample(0), (1, 1, Value::Boolean(true))]);
    assert!(missing.contains("\"/refloat/erpm\": the HEADER in /refloat/file/header lists it"), "{missing}");
    let more = refusal(
        &[header, ALL[0], ("/refloat/pitch", "float")],
        &[header_sample(0), (1, 1, Value::Float(1.0)), (2, 1, Value::Float(1.0))],
    );
    assert!(more.contains("\"/refloat/pitch\": it is not in the HEADER in /refloat/file/header"), "{more}");
    let other = super::kit::hex("65 2A 00 00 00 02 01 04 65 72 70 6D");
    let two = refusal(&[header, ALL[0]], &[header_sample(0), (0, 1, Value::Bytes(&other))]);
    assert!(two.contains("two different values"), "{two}");
}

#[test]
fn a_part_of_a_recording_is_a_recording_of_its_own() {
    let header = ("/refloat/file/header", "raw");
    let payload = super::kit::hex("65 2A 00 00 00 09 01 04 65 72 70 6D");
    let rows = [(0, 1, Value::Bytes(&payload)), (1, 3, Value::Float(1.0)), (1, 3, Value::Float(2.0))];
    let (file, problems) = write(&[header, ALL[0]], &rows).unwrap();
    assert_eq!(problems, ["flags-made", "other-size"]);
    let recording = Recording::read(&file).unwrap();
    assert!(recording.complete);
    assert_eq!((recording.size(), recording.held()), (2, 2));
}

#[test]
fn channels_may_come_one_after_the_other_and_times_may_wrap_or_step_back() {
    let ticks = [4_294_967_295, 4_294_967_296, 4_294_967_290];
    let rows: Vec<Row<'_>> = (0..2)
        .flat_map(|id| ticks.map(|tick| (id, tick, if id == 0 { Value::Float(1.0) } else { Value::Boolean(true) })))
        .collect();
    let (file, _) = write(&ALL[..2], &rows).unwrap();
    let recording = Recording::read(&file).unwrap();
    let found: Vec<_> = recording.timed().map(|sample| sample.time.nanos() / 100_000).collect();
    assert_eq!(found, ticks);
    assert_eq!(recording.problems.worst(), Some(Severity::Warning));
}

#[test]
fn what_was_not_closed_says_that_nothing_was_written() {
    let mut encoder = Refloat.encoder(&EncodeOptions::default()).unwrap();
    let mut out = Vec::new();
    let problems = encoder.finish(&mut out);
    assert!(out.is_empty());
    assert_eq!((problems[0].code, problems[0].severity), ("not-written", Severity::Damage));
}

#[test]
fn a_time_reference_is_read_whatever_the_order_of_its_keys() {
    let timeref = TimeRef { tick: 1, host_us: u64::MAX, uncertainty_us: 3 };
    assert_eq!(TimeRef::from_json(timeref.to_json().as_bytes()), Some(timeref));
    let other = br#"{ "uncertainty_us": 3, "host_us": 18446744073709551615, "tick": 1 }"#;
    assert_eq!(TimeRef::from_json(other), Some(timeref));
    for bad in [&b"{}"[..], b"7", br#"{"tick":4294967296,"host_us":0,"uncertainty_us":0}"#] {
        assert_eq!(TimeRef::from_json(bad), None);
    }
}

#[test]
fn a_refused_sample_is_named_and_leaves_no_trace() {
    let row = |(channel, tick, value): Row<'static>| Sample { channel, time: Time::from_nanos(tick * 100_000), value };
    let good: Vec<Sample<'_>> = [
        (0, 1, Value::Float(1.0)),
        (1, 1, Value::Boolean(true)),
        (2, 1, Value::Boolean(false)),
        (3, 1, Value::String(b"both")),
        (4, 1, Value::String(b"none")),
    ]
    .map(row)
    .to_vec();
    let bad = [(0, 1, Value::Float(1e9)), (0, 1, Value::String(b"fast")), (3, 1, Value::String(b"hands"))].map(row);
    for place in 0..=good.len() {
        for bad in bad {
            let mut batch = good.clone();
            batch.insert(place, bad);
            let mut encoder = Refloat.encoder(&EncodeOptions::default()).unwrap();
            let mut out = Vec::new();
            for (id, (name, type_name)) in (0..).zip(ALL) {
                encoder.channel(id, &channel(name, type_name), &mut out).unwrap();
            }
            assert_eq!(encoder.samples(&batch, &mut out).unwrap_err().sample, Some(place), "{bad:?}");
            encoder.samples(&batch[place + 1..], &mut out).unwrap();
            assert!(encoder.finish(&mut out).is_empty());
            assert_eq!(out, super::kit::hex(super::kit::EXAMPLE));
        }
    }
}
