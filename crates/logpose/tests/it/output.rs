use std::path::Path;

use logpose::core::EncodeOptions;
use logpose::{ConvertOptions, Error, Format, Output, Quiet, convert};
use logpose_demo::{DemoOptions, demo};
use tempfile::TempDir;

use crate::support::{AKIT, R2, open_demo};

fn write(path: &Path, force: bool, revision: Option<u8>) -> Result<(), Error> {
    let format = Format::from_name("rlog").unwrap();
    let options =
        ConvertOptions { encode: EncodeOptions { revision, ..EncodeOptions::default() }, ..ConvertOptions::default() };
    convert(&[open_demo(AKIT)], Vec::new(), &format, Output::File { path, force, wrapper: None }, &options, &Quiet)
        .map(drop)
}

fn files(dir: &Path) -> Vec<String> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.rlog");
    std::fs::write(&path, "precious").unwrap();
    let error = write(&path, false, None).unwrap_err();
    assert_eq!(error.code(), "exists");
    assert!(error.help.unwrap().contains("--force"));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    write(&path, true, None).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 1000);
    assert_eq!(files(dir.path()), ["x.rlog"]);
}

#[test]
fn a_result_made_in_memory_is_written_in_the_same_way() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.svg");
    let file = |force| Output::File { path: &path, force, wrapper: None };
    file(false).write_all(b"first").unwrap();
    assert_eq!(file(false).write_all(b"second").unwrap_err().code(), "exists");
    assert_eq!(std::fs::read(&path).unwrap(), b"first");
    file(true).write_all(b"third").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"third");
    assert_eq!(files(dir.path()), ["x.svg"]);
}

#[test]
fn a_failure_leaves_the_old_file_as_it_was() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.rlog");
    std::fs::write(&path, "precious").unwrap();
    // Revision 1 refuses this log, in its first cycle.
    let error = write(&path, true, Some(1)).unwrap_err();
    assert_eq!(error.code(), "refused");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(files(dir.path()), ["x.rlog"]);
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let dir = TempDir::new().unwrap();
    let error = write(&dir.path().join("absent/x.rlog"), false, None).unwrap_err();
    assert_eq!(error.code(), "not-found");
    assert!(error.help.unwrap().contains("folder"));
    let error = write(dir.path(), true, None).unwrap_err();
    assert_eq!(error.code(), "directory");
}

#[cfg(unix)]
#[test]
fn others_may_read_the_result() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    let (path, like) = (dir.path().join("x.rlog"), dir.path().join("like"));
    write(&path, false, None).unwrap();
    std::fs::write(&like, "").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&like));
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    write(Path::new("/dev/null"), false, None).unwrap();
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[cfg(windows)]
#[test]
fn names_of_devices_are_refused() {
    let dir = TempDir::new().unwrap();
    for name in ["aux.rlog", "NUL", "com3.rlog"] {
        assert_eq!(write(&dir.path().join(name), true, None).unwrap_err().code(), "reserved", "{name}");
    }
    assert!(files(dir.path()).is_empty());
}

/// Other programs than ours let nobody replace what they have open.
#[cfg(windows)]
#[test]
fn a_file_that_another_program_has_open_stays_as_it_was() {
    use std::os::windows::fs::OpenOptionsExt;
    const SHARE_READ: u32 = 1;
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.rlog");
    std::fs::write(&path, "precious").unwrap();
    let reader = std::fs::File::options().read(true).share_mode(SHARE_READ).open(&path).unwrap();
    let error = write(&path, true, None).unwrap_err();
    assert_eq!(error.code(), "in-use");
    drop(reader);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(files(dir.path()), ["x.rlog"]);
    let alone = std::fs::File::options().write(true).share_mode(0).open(&path).unwrap();
    let error = logpose::Log::open_with(&path, &logpose::OpenOptions::default(), &Quiet).err().unwrap();
    assert_eq!(error.code(), "in-use");
    drop(alone);
}

#[test]
fn a_log_can_replace_itself() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.rlog");
    std::fs::copy(crate::support::demo_dir().join(R2), &path).unwrap();
    let logs = [crate::support::open(&path)];
    let before = logs[0].index.samples();
    let format = Format::from_name("rlog").unwrap();
    let options = ConvertOptions { verify: true, ..ConvertOptions::default() };
    let to = Output::File { path: &path, force: true, wrapper: None };
    let done = convert(&logs, Vec::new(), &format, to, &options, &Quiet);
    // Windows need not replace a file that is mapped; then it must still be there.
    assert!(done.is_ok() || cfg!(windows) && done.is_err_and(|error| error.code() == "in-use"));
    assert_eq!(crate::support::open(&path).index.samples(), before);
}

#[test]
fn the_demo_is_the_same_every_time() {
    let (a, b) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let options = DemoOptions { teleop_s: 2, force: false };
    let first = demo(a.path(), &options).unwrap();
    let second = demo(b.path(), &options).unwrap();
    assert_eq!(first.len(), 10);
    for (first, second) in first.iter().zip(&second) {
        assert!(std::fs::read(first).unwrap() == std::fs::read(second).unwrap());
    }
    assert_eq!(demo(a.path(), &options).unwrap_err().code(), "exists");
    demo(a.path(), &DemoOptions { force: true, ..options }).unwrap();
}
