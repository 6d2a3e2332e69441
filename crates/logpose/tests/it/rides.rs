//! Recordings of boards as tables, and back.

use logpose::core::{Channel, EncodeOptions, Sample, Time, Value};
use logpose::{ConvertOptions, FORMATS, Filter, Format, Log, OpenOptions, Output, Quiet, convert};
use logpose_refloat::float16;
use logpose_testkit::fixture;
use tempfile::TempDir;

use crate::support::{DATALOG, encode, open, open_demo};

/// The smallest whole recording of the specification: `erpm` is 1.0 at tick 1, flags 0D.
const SMALLEST: &str = "52464c545245430a0100000044a08f67\
    030000000000000c652a00000001010465 72706d311e023a\
    050000000000000b00000000000000010d3c0056876d12\
    7f0000000000002400000001 1ad67a818b99177cfa52cd7cb2bf015782ec77a81f4d94e3301bba7b866abfd6ae8e7fbb";

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len() / 2).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn log(name: &str, bytes: Vec<u8>) -> Log {
    Log::from_bytes(name, bytes, &OpenOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn written(log: &Log, format: &str) -> Vec<u8> {
    try_written(log, format).unwrap_or_else(|error| panic!("{error}"))
}

fn try_written(log: &Log, format: &str) -> Result<Vec<u8>, logpose::Error> {
    let format = Format::from_name(format).unwrap();
    let mut out = Vec::new();
    let logs = std::slice::from_ref(log);
    convert(logs, Vec::new(), &format, Output::Stream(&mut out), &ConvertOptions::default(), &Quiet)?;
    Ok(out)
}

#[test]
fn the_smallest_recording_is_two_lines_and_comes_back_byte_for_byte() {
    let file = hex(SMALLEST);
    let table = written(&log("x.rfrec", file.clone()), "refloat-csv");
    assert_eq!(
        String::from_utf8(table.clone()).unwrap(),
        "index,time_ticks,time_s,running,wheelslip,footpad,sat,erpm\n0,1,0.0000,1,0,3,0,1\n"
    );
    assert_eq!(written(&log("x.csv", table), "refloat"), file);
}

#[test]
fn every_code_and_every_flag_comes_back_through_a_table() {
    let names = [("/refloat/erpm", "float"), ("/refloat/pitch", "float")];
    let flags = [
        ("/refloat/running", "boolean"),
        ("/refloat/wheelslip", "boolean"),
        ("/refloat/footpad", "string"),
        ("/refloat/adjustment", "string"),
    ];
    let mut encoder = logpose::Format::from_name("refloat").unwrap().encoder(&EncodeOptions::default()).unwrap();
    let mut file = Vec::new();
    encoder.begin(&mut file);
    for (id, (name, type_name)) in (0..).zip(names.iter().chain(&flags)) {
        encoder.channel(id, &Channel::new(*name, *type_name), &mut file).unwrap();
    }
    let kinds: Vec<String> = (0..16).map(|code| logpose_refloat::wire::Adjustment(code).name().into_owned()).collect();
    for code in 0..=u16::MAX {
        // The ticks begin anew on the way.
        let ticks = i64::from(u32::MAX) - 30_000 + i64::from(code);
        let values = [
            Value::Float(float16::decode(code)),
            Value::Float(float16::decode(code.reverse_bits())),
            Value::Boolean(code & 1 != 0),
            Value::Boolean(code & 2 != 0),
            Value::String([&b"none"[..], b"left", b"right", b"both"][usize::from(code >> 2 & 3)]),
            Value::String(kinds[usize::from(code >> 4 & 15)].as_bytes()),
        ];
        for (channel, value) in (0..).zip(values) {
            encoder.samples(&[Sample { channel, time: Time::from_micros(ticks * 100), value }], &mut file).unwrap();
        }
    }
    encoder.close().unwrap();
    assert!(encoder.finish(&mut file).is_empty());
    let recording = log("x.rfrec", file.clone());
    let table = written(&recording, "refloat-csv");
    assert_eq!(table.iter().filter(|byte| **byte == b'\n').count(), 65_537);
    assert!(written(&log("x.csv", table.clone()), "refloat") == file, "other bytes than before");
}

#[test]
fn a_table_is_the_same_by_way_of_other_formats() {
    let file = std::fs::read(fixture("rides/valid/refloat.csv")).unwrap();
    let recording = log("x.csv", file.clone());
    // Plain rows have no types, so numbers of 32 bits do not come back from them as what they were.
    for format in ["wpilog", "rlog", "mcap", "parquet", "arrow", "refloat"] {
        let other = log(&format!("x.{format}"), written(&recording, format));
        assert_eq!(written(&other, "refloat-csv"), file, "{format}");
    }
}

#[test]
fn whole_recordings_of_the_fixtures_come_back_with_their_samples() {
    let mut count = 0;
    for entry in std::fs::read_dir(fixture("refloat/valid")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rfrec") {
            continue;
        }
        let before = open(&path);
        let samples = before.index.channels.iter().map(|c| (&c.channel, c.samples));
        if !logpose::bridges::is_recording(samples) {
            continue;
        }
        let table = match try_written(&before, "refloat-csv") {
            Ok(table) => table,
            // A board with another clock, which the table cannot show.
            Err(error) => {
                assert!(error.to_string().contains("no whole tick of 100 µs"), "{}: {error}", path.display());
                continue;
            }
        };
        let after = written(&log("x.csv", table), "refloat");
        let before = std::fs::read(&path).unwrap();
        let samples = |file: &[u8]| -> Vec<Vec<u8>> {
            let recording = logpose_refloat::rfrec::Recording::read(file).unwrap();
            recording.samples().map(|(_, bytes)| bytes.to_vec()).collect()
        };
        assert_eq!(samples(&after), samples(&before), "{}", path.display());
        count += 1;
    }
    assert!(count >= 1, "{count} recordings");
}

#[test]
fn a_file_that_is_only_called_csv_is_the_table_of_a_recording() {
    let suited = |log: &Log, filter: &[&str]| {
        let filter: Vec<String> = filter.iter().map(|name| (*name).to_owned()).collect();
        let lookup = log.lookup(&Filter::new(&filter, &[]).unwrap(), None, None).unwrap();
        Format::CSV.suited(std::slice::from_ref(log), &[lookup]).map_or("csv", |(table, _)| table.name())
    };
    let recording = log("x.rfrec", hex(SMALLEST));
    assert_eq!(suited(&recording, &[]), "refloat-csv");
    // A part of it is no recording any more.
    assert_eq!(suited(&recording, &["/refloat/erpm"]), "csv");
    assert_eq!(suited(&open_demo(DATALOG), &[]), "csv");
    let ride = open(&fixture("rides/valid/float-control.csv"));
    assert_eq!(suited(&ride, &[]), "csv");
    let two = [log("x.rfrec", hex(SMALLEST)), log("y.rfrec", hex(SMALLEST))];
    assert!(Format::CSV.suited(&two, &[]).is_none());
    for other in FORMATS.iter().filter(|other| other.name() != "csv") {
        assert!(other.suited(std::slice::from_ref(&recording), &[]).is_none(), "{other:?}");
    }
}

#[test]
fn tables_are_read_back_and_proved_equal() {
    let folder = TempDir::new().unwrap();
    let options = ConvertOptions { verify: true, ..ConvertOptions::default() };
    let logs = [open(&fixture("rides/valid/refloat.csv"))];
    for name in ["refloat-csv", "vesc-csv"] {
        let path = folder.path().join(name);
        let to = Output::File { path: &path, force: false, wrapper: None };
        let report = convert(&logs, Vec::new(), &Format::from_name(name).unwrap(), to, &options, &Quiet).unwrap();
        assert!(report.verified, "{name}");
        assert_eq!((report.samples, report.channels), (40, 10));
    }
    let same = std::fs::read(folder.path().join("refloat-csv")).unwrap();
    assert_eq!(same, std::fs::read(fixture("rides/valid/refloat.csv")).unwrap());
}

#[test]
fn what_the_tables_cannot_say_is_refused_with_its_name() {
    let other = log("x.wpilog", encode("wpilog", &[("/a", "double")], &[(0, Time::ZERO, Value::Double(1.0))]));
    let error = try_written(&other, "refloat-csv").unwrap_err().to_string();
    assert!(error.contains("\"/a\""), "{error}");
    let ride = open(&fixture("rides/valid/float-control.csv"));
    let error = try_written(&ride, "vesc-csv").unwrap_err().to_string();
    assert!(error.contains("/refloat/float-control/State"), "{error}");
    // A ride of another program is no recording: the values have more digits than a board records.
    let error = try_written(&ride, "refloat").unwrap_err().to_string();
    assert!(error.contains("/refloat/"), "{error}");
}

#[test]
fn rides_of_all_programs_are_known_by_their_content() {
    for (file, dialect, channel) in [
        ("refloat.csv", "refloat-csv", "/refloat/erpm"),
        ("vesc-analysis.csv", "vesc-csv", "/refloat/erpm"),
        ("vesc-express.csv", "vesc-csv", "/refloat/duty_cycle"),
        ("vesc-tool-live.csv", "vesc-tool", "/refloat/gnss.latitude"),
        ("vesc-tool-comma.csv", "vesc-tool", "/refloat/erpm"),
        ("float-control.csv", "float-control", "/refloat/pitch"),
        ("float-control-miles.csv", "float-control", "/refloat/speed"),
        ("float-control.zip", "float-control", "/refloat/balance_current"),
        ("floaty.json", "floaty", "/refloat/batt_voltage"),
    ] {
        let bytes = std::fs::read(fixture("rides/valid").join(file)).unwrap();
        for name in [file, "x.csv", "x.wpilog", "no extension"] {
            let log = log(name, bytes.clone());
            assert_eq!(log.dialect().info().name, dialect, "{file} as {name}");
            assert!(log.channel(channel).is_some(), "{file}: {channel}");
        }
    }
    let floaty = open(&fixture("rides/valid/floaty.json"));
    assert_eq!(floaty.epoch_ns(), Some(1_717_243_200_000_000_000));
}
