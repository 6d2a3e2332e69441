use std::path::Path;

use logpose::core::{Time, Value};
use logpose::{FORMATS, Format, Formats, Log, OpenOptions, Wrapper};

use crate::support::{DATALOG, R1, R2, encode, open_demo};

#[test]
fn the_bytes_decide_and_not_the_name() {
    for (file, dialect) in [(DATALOG, "wpilog"), (R1, "rlog"), (R2, "rlog")] {
        let bytes = open_demo(file).bytes().to_vec();
        for name in ["x.wpilog", "x.rlog", "x.csv", "no extension", "-"] {
            let log = Log::from_bytes(name, bytes.clone(), &OpenOptions::default()).unwrap();
            assert_eq!(log.dialect().info().name, dialect, "{file} as {name}");
        }
    }
}

#[test]
fn what_the_user_says_overrules() {
    let bytes = encode("wpilog", &[("a", "double")], &[(0, Time::ZERO, Value::Double(1.0))]);
    let from = |name: &str| OpenOptions { from: Some(name.into()), ..OpenOptions::default() };
    assert!(Log::from_bytes("x", bytes.clone(), &from("WPILOG")).is_ok());
    let error = Log::from_bytes("x", bytes.clone(), &from("rlog")).unwrap_err();
    assert_eq!(error.code(), "decode");
    let error = Log::from_bytes("x", bytes, &from("mp3")).unwrap_err();
    assert_eq!(error.code(), "usage");
    assert!(error.help.unwrap().contains("wpilog, rlog"));
}

#[test]
fn every_dialect_knows_what_it_writes() {
    let dialects = FORMATS.iter().filter(|format| format.unpacker().is_none() && format.info().files.write);
    for name in dialects.map(Format::name) {
        // A recording holds its own channels alone.
        let frames = [1, 2].map(|frame| [[frame, 0, 0, 0, 0, 0, 0, 0], 0.5_f64.to_le_bytes(), 0.0_f64.to_le_bytes()]);
        let [first, second] = match name {
            "carla" => [0, 1].map(|i| Value::Bytes(frames[i].as_flattened())),
            "refloat" => [Value::Float(1.0), Value::Float(2.0)],
            _ => [Value::Double(1.0), Value::Double(2.0)],
        };
        let channel = match name {
            "carla" => ("/carla/frame", "struct:CarlaFrame"),
            "refloat" => ("/refloat/erpm", "float"),
            _ => ("/a", "double"),
        };
        let samples = [(0, Time::from_millis(20), first), (0, Time::from_millis(40), second)];
        let log = Log::from_bytes("-", encode(name, &[channel], &samples), &OpenOptions::default()).unwrap();
        assert_eq!(log.dialect().info().name, name);
        let found = log.index.channels.iter().find(|c| c.channel.name == channel.0).unwrap();
        assert_eq!(found.samples, 2);
    }
}

#[test]
fn what_is_only_spoken_live_is_no_format_of_files() {
    let live = FORMATS.iter().map(Format::info).filter(|info| !info.files.read && !info.files.write);
    for info in live {
        assert!(!Formats::default().readable().any(|name| name == info.name));
        assert!(Format::from_name(info.name).is_none());
        // Asking for it by name gets a hint what to do instead.
        let options = OpenOptions { from: Some(info.name.into()), ..OpenOptions::default() };
        let error = Log::from_bytes("x", b"[]".to_vec(), &options).unwrap_err();
        assert!(error.to_string().contains("is spoken live and has no files"), "{error}");
        assert!(error.help.unwrap().contains("logpose record"));
    }
}

#[test]
fn names_show_format_and_wrapper() {
    let cases = [
        ("a.wpilog", Some(("wpilog", None))),
        ("a.WPILOG", Some(("wpilog", None))),
        ("a.wpilogxz", Some(("wpilog", Some(Wrapper::Xz)))),
        ("a.rlog.gz", Some(("rlog", Some(Wrapper::Gz)))),
        ("dir.d/a.b.csv.zst", Some(("csv", Some(Wrapper::Zst)))),
        ("a.ndjson.lz4", Some(("ndjson", Some(Wrapper::Lz4)))),
        ("a.jsonl", Some(("ndjson", None))),
        ("a.gz", None),
        ("wpilog", None),
        ("a.txt", None),
    ];
    for (name, expected) in cases {
        let found = Format::from_path(Path::new(name)).map(|(format, wrapper)| (format.name(), wrapper));
        assert_eq!(found, expected, "{name}");
    }
}
