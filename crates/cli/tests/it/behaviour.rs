//! What no transcript can show: pipes, signals, permissions, colours, files on the disk.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::logs::Wpilog;
use crate::run::{SHARED, code, folder, logpose, stderr, stdout, typed};

#[test]
fn a_closed_pipe_is_success_and_silent() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Wpilog::new("");
    let entry = log.start("/x", "double", "");
    (0..200_000).for_each(|ms| log.double(entry, ms, 1.0));
    fs::write(dir.path().join("long.wpilog"), log.bytes()).unwrap();
    for args in [
        &["cat", "long.wpilog"][..],
        &["cat", "long.wpilog", "--json"],
        &["cat", "long.wpilog", "--format", "csv"],
        &["dump", "long.wpilog"],
        &["convert", "long.wpilog", "-o", "-", "--to", "wpilog"],
    ] {
        let mut child = logpose(dir.path()).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.fill_buf().unwrap();
        drop(reader);
        let output = child.wait_with_output().unwrap();
        assert_eq!((code(&output), &*stderr(&output)), (0, ""), "{args:?}");
    }
}

#[test]
fn colour_only_where_it_is_wanted() {
    let dir = &SHARED;
    let escapes = |output: std::process::Output| stdout(&output).contains('\x1b');
    assert!(!escapes(typed(dir, "logpose match.wpilog")), "not into a pipe");
    assert!(escapes(typed(dir, "logpose match.wpilog --color always")));
    assert!(!escapes(typed(dir, "logpose match.wpilog --color never")));
    assert!(
        !escapes(logpose(dir).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").args(["match.wpilog"]).output().unwrap()),
        "NO_COLOR"
    );
    assert!(escapes(logpose(dir).env("CLICOLOR_FORCE", "1").args(["match.wpilog"]).output().unwrap()));
    let error = logpose(dir).args(["nowhere.wpilog", "--color", "always"]).output().unwrap();
    assert!(stderr(&error).starts_with("\x1b["));
}

#[test]
fn a_failure_never_destroys_an_existing_output() {
    let dir = folder();
    let old = b"precious";
    let cases = [
        "logpose convert match.wpilog -o out.wpilog",
        "logpose convert nowhere.wpilog -o out.wpilog --force",
        "logpose convert match.wpilog -o out.wpilog --force -y nothing",
        "logpose convert match.wpilog -o out.wpilog --force -S soon",
        "logpose recover notes.txt -o out.wpilog --force",
        "logpose recover garbage.wpilog -o out.wpilog",
        "logpose recover garbage.wpilog -o saved.wpilog --map out.wpilog",
    ];
    for line in cases {
        fs::write(dir.path().join("out.wpilog"), old).unwrap();
        let output = typed(dir.path(), line);
        assert!(matches!(code(&output), 1 | 2), "{line}: {}", stderr(&output));
        assert_eq!(fs::read(dir.path().join("out.wpilog")).unwrap(), old, "{line}");
    }
    assert!(!dir.path().join("saved.wpilog").exists(), "the map is checked before anything is written");
    let left: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with('.'))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn inputs_are_never_changed() {
    let dir = folder();
    let before = fs::read(dir.path().join("garbage.wpilog")).unwrap();
    typed(dir.path(), "logpose recover garbage.wpilog");
    assert_eq!(fs::read(dir.path().join("garbage.wpilog")).unwrap(), before);
    assert!(dir.path().join("garbage.recovered.wpilog").exists());
}

#[test]
fn a_recovered_log_is_sound_and_keeps_what_is_behind_the_damage() {
    let dir = folder();
    assert_eq!(code(&typed(dir.path(), "logpose recover garbage.wpilog")), 3);
    assert_eq!(code(&typed(dir.path(), "logpose doctor garbage.recovered.wpilog")), 0);
    let last = stdout(&typed(dir.path(), "logpose cat garbage.recovered.wpilog -y '*Voltage' -S -1s"));
    assert!(last.contains("30.000000"), "{last}");
}

#[test]
fn wrapped_logs_go_round() {
    let dir = folder();
    let plain = stdout(&typed(dir.path(), "logpose cat match.wpilog --json"));
    for name in ["m.wpilog.gz", "m.wpilog.zst", "m.wpilog.xz", "m.wpilog.lz4", "m.wpilogxz"] {
        let output = typed(dir.path(), &format!("logpose convert match.wpilog -o {name} --verify"));
        assert_eq!(code(&output), 0, "{name}: {}", stderr(&output));
        assert_eq!(stdout(&typed(dir.path(), &format!("logpose cat {name} --json"))), plain, "{name}");
    }
    typed(dir.path(), "logpose recover m.wpilog.gz");
    assert!(dir.path().join("m.recovered.wpilog").exists());
}

#[test]
fn a_file_named_like_a_command_is_reached_with_a_path() {
    let dir = folder();
    fs::copy(dir.path().join("pit.wpilog"), dir.path().join("list")).unwrap();
    assert_eq!(code(&typed(dir.path(), "logpose list")), 2);
    assert_eq!(code(&typed(dir.path(), "logpose ./list")), 0);
    fs::copy(dir.path().join("pit.wpilog"), dir.path().join("plainname")).unwrap();
    assert_eq!(code(&typed(dir.path(), "logpose plainname")), 0);
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let dir = folder();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&typed(dir.path(), &format!("logpose completion {shell}")));
        assert!(crate::docs::commands().iter().all(|command| script.contains(command)), "{shell}");
        let last = |command: &String| script.contains(command.rsplit(' ').next().unwrap());
        assert!(crate::docs::grouped().iter().all(last), "{shell}");
    }
    assert!(stdout(&typed(dir.path(), "logpose man")).contains("logpose"));
    assert_eq!(code(&typed(dir.path(), "logpose man pages")), 0);
    for command in crate::docs::commands() {
        assert!(dir.path().join(format!("pages/logpose-{command}.1")).exists(), "{command}");
    }
    for command in crate::docs::grouped() {
        let page = format!("pages/logpose-{}.1", command.replace(' ', "-"));
        assert!(dir.path().join(page).exists(), "{command}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_gets_its_own_sentence() {
    use std::os::unix::fs::PermissionsExt;

    let dir = folder();
    let file = dir.path().join("match.wpilog");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&file).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    let output = typed(dir.path(), "logpose match.wpilog");
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).starts_with("error: match.wpilog: permission denied\nhelp: "));
}

#[cfg(target_os = "linux")]
/// The same as on a full disk, although the system would end the process by default.
#[cfg(unix)]
#[test]
fn a_file_size_limit_is_an_error_and_leaves_nothing_behind() {
    let dir = folder();
    let before = fs::read_dir(dir.path()).unwrap().count();
    for command in
        ["convert match.wpilog -o out.csv", "convert match.wpilog -o out.mcap", "recover match.wpilog -o out.wpilog"]
    {
        let program = env!("CARGO_BIN_EXE_logpose");
        let limited = format!("ulimit -f 2; exec {program} {command}");
        let output = std::process::Command::new("sh").args(["-c", &limited]).current_dir(dir.path()).output().unwrap();
        assert_eq!(code(&output), 1, "{command}: {:?} {}", output.status, stderr(&output));
        assert!(stderr(&output).contains("File too large"), "{}", stderr(&output));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before, "{command}");
    }
}

#[test]
fn a_full_disk_is_an_error_and_leaves_nothing_behind() {
    let output = typed(&SHARED, "logpose convert match.wpilog -o /dev/full --to wpilog");
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("error: /dev/full: "), "{}", stderr(&output));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = logpose(&SHARED).args(["cat", "match.wpilog"]).stdout(full).output().unwrap();
    assert_eq!(code(&output), 1);
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_file_behind() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Wpilog::new("");
    let entry = log.start("/x", "double", "");
    // Enough that compressing it takes far longer than a signal needs to arrive.
    (0..2_000_000i64).for_each(|i| log.double(entry, i, (i as f64).sin()));
    fs::write(dir.path().join("long.wpilog"), log.bytes()).unwrap();
    let child = logpose(dir.path())
        .args(["convert", "long.wpilog", "-o", "long.ndjson.xz"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let parts = || {
        fs::read_dir(dir.path())
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part"))
            .count()
    };
    let begun = std::time::Instant::now();
    while parts() == 0 {
        assert!(begun.elapsed().as_secs() < 20, "no temporary file appeared");
        std::thread::yield_now();
    }
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), &*stderr(&output)), (130, ""));
    assert_eq!(parts(), 0);
    assert!(!dir.path().join("long.ndjson.xz").exists());
}
