use std::path::Path;

use logpose::frc::Facts;
use logpose::{ConvertOptions, Error, Format, Log, OpenOptions, Output, Quiet, convert};
use tempfile::TempDir;

use crate::support::{AKIT, DATALOG, R1, R2, demo_dir};

fn error(path: &Path) -> Error {
    Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap_err()
}

#[test]
fn each_kind_of_bad_input_has_its_own_sentence() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let cases = [
        (dir.path().join("absent.wpilog"), "not-found", "no such file"),
        (dir.path().to_owned(), "directory", "directory"),
        (file("empty.wpilog", b""), "empty", "empty"),
        (file("text.txt", b"hello, world"), "unknown-format", "68 65 6c 6c 6f 2c 20 77"),
        (file("text.wpilog", b"hello, world"), "unknown-format", "68 65 6c 6c 6f 2c 20 77"),
        (file("one", b"\x07"), "unknown-format", "07"),
        ("rlog://10.2.54.2:5800".into(), "live", "rlog://"),
        (file("short.wpilog", b"WPILOG\0\x01\xff\0\0\0ab"), "decode", "byte"),
    ];
    for (path, code, words) in cases {
        let error = error(&path);
        assert_eq!(error.code(), code, "{error}");
        let text = error.to_string();
        assert!(text.contains(words), "{text}");
        assert!(text.starts_with(&path.display().to_string()), "{text}");
        assert!(!text.contains('\n'));
    }
}

#[test]
fn a_name_that_promises_more_than_the_bytes_leads_to_recover() {
    let error = Log::from_bytes("x.wpilog", b"hello, world".to_vec(), &OpenOptions::default()).unwrap_err();
    assert!(error.help.unwrap().contains("recover --from wpilog"));
    let error = Log::from_bytes("x", b"hello, world".to_vec(), &OpenOptions::default()).unwrap_err();
    assert!(error.help.unwrap().contains("--from"));
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("secret.wpilog");
    std::fs::copy(demo_dir().join(DATALOG), &path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        println!("not tested: this user may read everything");
        return;
    }
    assert_eq!(error(&path).code(), "no-permission");
}

#[test]
fn every_prefix_of_a_log_opens_or_is_refused() {
    let bytes = std::fs::read(demo_dir().join(DATALOG)).unwrap();
    let mut before = 0;
    for len in (0..200).chain((200..bytes.len().min(60_000)).step_by(997)) {
        match Log::from_bytes("cut.wpilog", bytes[..len].to_vec(), &OpenOptions::default()) {
            Ok(log) => {
                assert!(log.index.samples() >= before, "at {len}");
                before = log.index.samples();
            }
            Err(error) => assert!(before == 0, "at {len}: {error}"),
        }
    }
    assert!(before > 100);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_like_a_file() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("not tested: no mkfifo here");
        return;
    }
    let from = demo_dir().join(DATALOG);
    let to = path.clone();
    let writer = std::thread::spawn(move || std::fs::write(to, std::fs::read(from).unwrap()).unwrap());
    let log = crate::support::open(&path);
    writer.join().unwrap();
    assert!(log.index.samples() > 1000);
}

#[test]
fn no_flipped_byte_makes_anything_panic() {
    let mut x = 7_u64;
    let mut random = move |below: usize| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) as usize % below
    };
    let mut opened = 0;
    for name in [DATALOG, AKIT, R2, R1] {
        let whole = std::fs::read(demo_dir().join(name)).unwrap();
        for round in 0..60 {
            let mut bytes = whole[..6000].to_vec();
            for _ in 0..=round % 7 {
                let at = random(bytes.len());
                bytes[at] = random(256) as u8;
            }
            let salvage = round % 2 == 0;
            let options = OpenOptions { salvage, ..OpenOptions::default() };
            let Ok(log) = Log::from_bytes(name, bytes, &options) else { continue };
            opened += 1;
            let _ = (Facts::of(&log), log.robust_range(), log.schemas().problems());
            for format in [Format::CSV, Format::NDJSON, Format::from_name("wpilog").unwrap()] {
                let to = Output::Stream(&mut Vec::new());
                let logs = std::slice::from_ref(&log);
                convert(logs, Vec::new(), &format, to, &ConvertOptions::default(), &Quiet).unwrap();
            }
        }
    }
    assert!(opened > 100, "{opened}");
}
