//! Boards and those who talk to them as programs of their own, over loopback and over pseudo-terminals.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::live::Running;
use crate::run::{code, stderr, stdout, typed};

/// A board that runs, and its address.
fn board(dir: &Path, flags: &str) -> (Running, String) {
    let listen = if flags.contains("--pty") { "" } else { " --listen 127.0.0.1:0" };
    let mut board = Running::start(dir, format!("refloat board{listen} {flags} --json").trim());
    let address = board.line("started")["address"].as_str().unwrap().to_owned();
    (board, address)
}

fn refloat(dir: &Path, line: &str) -> Output {
    typed(dir, &format!("logpose refloat {line}"))
}

/// What a command that succeeds prints as JSON.
fn json(dir: &Path, line: &str) -> Value {
    let output = refloat(dir, &format!("{line} --json"));
    assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| panic!("{line}: {error}: {}", stdout(&output)))
}

/// What a command says that fails with this code.
fn refused(dir: &Path, line: &str, with: i32) -> String {
    let output = refloat(dir, line);
    assert_eq!(code(&output), with, "{line}: {}{}", stdout(&output), stderr(&output));
    stderr(&output)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn info_shows_the_board_and_what_it_lacks() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for (flags, version, records) in [
        ("--version 1.3", "1.3.0-beta2", true),
        ("--version 1.2", "1.2.3", true),
        ("--version 1.1", "1.1.2", true),
        ("--version 1.3 --no-recorder", "1.3.0-beta2", false),
        ("--version 1.0", "1.0", false),
    ] {
        let (_board, address) = board(dir, flags);
        let info = json(dir, &format!("info {address}"));
        let promised = ["address", "can", "firmware", "package", "can_record", "missing", "recorder", "round_trip_ms"];
        assert_eq!(keys(&info), promised);
        assert_eq!(info["package"]["version"], version, "{flags}: {info}");
        assert_eq!(info["can_record"], records, "{flags}: {info}");
        assert_eq!(info["missing"].is_null(), records, "{flags}: {info}");
        assert_eq!(info["recorder"].is_null(), !records, "{flags}: {info}");
        let text = stdout(&refloat(dir, &format!("info {address}")));
        assert!(text.starts_with(&format!("Refloat {version}")), "{text}");
        if !records {
            for command in ["status", "fetch", "stop", "start --yes"] {
                let said = refused(dir, &format!("{command} {address}"), 1);
                let reason = if flags.contains("1.0") { "recording needs Refloat 1.1" } else { "recorder firmware" };
                assert!(said.contains(reason), "{command}: {said}");
            }
        }
    }
}

#[test]
fn the_recorder_is_controlled_and_what_erases_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for version in ["1.1", "1.2", "1.3"] {
        let (mut board, address) = board(dir, &format!("--version {version} --scenario empty"));
        let recorder = |line: &str| json(dir, line)["recorder"].clone();
        let status = recorder(&format!("status {address}"));
        assert_eq!((&status["recording"], &status["autostart"]), (&false.into(), &true.into()), "{version}: {status}");
        let said = refused(dir, &format!("start {address}"), 2);
        assert!(said.contains("erases the recording") && said.contains("--yes"), "{version}: {said}");
        assert_eq!(recorder(&format!("status {address}"))["recording"], false, "{version}");
        assert_eq!(recorder(&format!("start {address} --yes"))["recording"], true, "{version}");
        while board.line("news")["what"] != "recording" {}
        assert_eq!(recorder(&format!("stop {address}"))["recording"], false, "{version}");
        assert_eq!(recorder(&format!("autostart off {address}"))["autostart"], false, "{version}");
        let on = refloat(dir, &format!("autostart on {address}"));
        assert_eq!(code(&on), 0, "{}", stderr(&on));
        assert!(stderr(&on).contains("warning: stepping on the board erases"), "{version}: {}", stderr(&on));
        assert_eq!(recorder(&format!("status {address}"))["autostart"], true, "{version}");
        assert_eq!(recorder(&format!("autostop off {address}"))["autostop"], false, "{version}");
        assert_eq!(recorder(&format!("autostop on {address}"))["autostop"], true, "{version}");
        if version == "1.3" {
            let longer = recorder(&format!("decimation 8 {address}"));
            assert_eq!(longer["decimation"], 8);
            assert!(longer["duration_s"].as_f64().unwrap() > 10.0, "{longer}");
        } else {
            let said = refused(dir, &format!("decimation 8 {address}"), 1);
            assert!(said.contains("needs Refloat 1.3"), "{said}");
        }
    }
}

#[test]
fn a_recording_is_fetched_from_every_version_and_is_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for version in ["1.1", "1.2", "1.3"] {
        let (_board, address) = board(dir, &format!("--version {version} --scenario nosedive"));
        let file = format!("ride-{version}.rfrec");
        let fetched = json(dir, &format!("fetch {address} -o {file}"));
        let promised = [
            "output",
            "complete",
            "size",
            "samples",
            "resumed_from",
            "bytes",
            "requests",
            "retries",
            "interruptions",
            "elapsed_s",
            "bytes_per_s",
            "round_trip_ms",
            "error",
        ];
        assert_eq!(keys(&fetched), promised);
        assert_eq!((&fetched["complete"], &fetched["size"]), (&true.into(), &fetched["samples"]), "{fetched}");
        assert!(fetched["samples"].as_u64().unwrap() > 1000, "{fetched}");
        let about = typed(dir, &format!("logpose info {file} --json"));
        assert_eq!(code(&about), 0, "{}", stderr(&about));
        let about: Value = serde_json::from_str(&stdout(&about)).unwrap();
        assert_eq!(about["dialect"], "refloat");
        // Nothing is replaced unasked.
        let said = refused(dir, &format!("fetch {address} -o {file}"), 1);
        assert!(said.contains("already exists") && said.contains("--force"), "{said}");
        let again = json(dir, &format!("fetch {address} -o {file} --force"));
        assert_eq!(again["samples"], fetched["samples"]);
    }
}

#[test]
fn a_file_gets_a_default_name_and_the_next_step_is_suggested() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (_board, address) = board(dir, "--scenario nosedive");
    let output = refloat(dir, &format!("fetch {address}"));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let name = stdout(&output).trim().to_owned();
    let shape: String = name.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "refloat_0000-00-00_00-00-00.rfrec");
    assert!(dir.join(&name).is_file());
    assert!(stderr(&output).contains(&format!("logpose refloat explain {name}")), "{}", stderr(&output));
}

#[test]
fn a_board_that_records_is_not_stopped_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for version in ["1.2", "1.3"] {
        let (_board, address) = board(dir, &format!("--version {version} --scenario empty"));
        json(dir, &format!("start {address} --yes"));
        let said = refused(dir, &format!("fetch {address} -o now.rfrec"), 1);
        assert!(said.contains("is recording") && said.contains("--stop"), "{said}");
        assert!(!dir.join("now.rfrec").exists());
        assert_eq!(json(dir, &format!("status {address}"))["recorder"]["recording"], true);
        let fetched = json(dir, &format!("fetch {address} -o now-{version}.rfrec --stop"));
        assert_eq!(fetched["complete"], true, "{fetched}");
        assert_eq!(json(dir, &format!("status {address}"))["recorder"]["recording"], false);
    }
}

#[test]
fn a_fetch_that_was_cut_off_goes_on_in_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    // The whole recording, to compare.
    let (whole, address) = board(dir, "--scenario nosedive --seed 7");
    json(dir, &format!("fetch {address} -o whole.rfrec"));
    drop(whole);
    let (mut slow, address) = board(dir, "--scenario nosedive --seed 7 --baud 115200");
    let line = format!("refloat fetch {address} -o ride.rfrec --patience 1s --json");
    let fetching = std::process::Command::new(env!("CARGO_BIN_EXE_logpose"))
        .args(line.split(' '))
        .current_dir(dir)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while slow.line("status")["samples_sent"].as_u64().unwrap() < 100 {}
    drop(slow);
    let output = fetching.wait_with_output().unwrap();
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    let part: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(part["complete"], false, "{part}");
    let held = part["samples"].as_u64().unwrap();
    assert!(held > 0 && held < part["size"].as_u64().unwrap(), "{part}");
    // A part is a log, too.
    let about = typed(dir, "logpose info ride.rfrec");
    assert_eq!(code(&about), 3, "{}{}", stdout(&about), stderr(&about));
    // Another recording does not go into it.
    let (other, address) = board(dir, "--scenario nosedive --seed 8");
    let before = fs::read(dir.join("ride.rfrec")).unwrap();
    let said = refused(dir, &format!("fetch {address} -o ride.rfrec"), 1);
    assert!(said.contains("a different recording") && said.contains("--force"), "{said}");
    assert_eq!(fs::read(dir.join("ride.rfrec")).unwrap(), before);
    drop(other);
    // The same one does.
    let (_same, address) = board(dir, "--scenario nosedive --seed 7");
    let rest = json(dir, &format!("fetch {address} -o ride.rfrec"));
    assert_eq!((&rest["complete"], &rest["resumed_from"]), (&true.into(), &held.into()), "{rest}");
    let same = typed(dir, "logpose diff whole.rfrec ride.rfrec -n /refloat/file/*");
    assert_eq!(code(&same), 0, "{}", stdout(&same));
}

#[test]
fn a_line_full_of_faults_delivers_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (plain, address) = board(dir, "--scenario nosedive");
    json(dir, &format!("fetch {address} -o plain.rfrec"));
    drop(plain);
    let faults = "--drop 0.05 --corrupt 0.05 --duplicate 0.1 --noise 0.1 --foreign 0.2 --split 20 --jitter 5ms";
    let (_board, address) = board(dir, &format!("--scenario nosedive {faults}"));
    let fetched = json(dir, &format!("fetch {address} -o faulty.rfrec --timeout 200ms --tries 20"));
    assert_eq!(fetched["complete"], true, "{fetched}");
    assert!(fetched["retries"].as_u64().unwrap() > 0, "{fetched}");
    let same = typed(dir, "logpose diff plain.rfrec faulty.rfrec -n /refloat/file/*");
    assert_eq!(code(&same), 0, "{}", stdout(&same));
}

#[cfg(unix)]
#[test]
fn a_board_is_at_a_serial_port_too() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let link = dir.join("board");
    let (_board, address) = board(dir, &format!("--pty {} --scenario nosedive", link.display()));
    assert_eq!(address, format!("refloat+serial:{}", link.display()));
    for at in [address.as_str(), link.to_str().unwrap()] {
        assert_eq!(json(dir, &format!("info {at}"))["package"]["version"], "1.3.0-beta2");
    }
    let fetched = json(dir, &format!("fetch {address} -o ride.rfrec"));
    assert_eq!(fetched["complete"], true, "{fetched}");
}

#[test]
fn a_board_is_found_by_udp_and_behind_a_vesc_express() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (_board, address) = board(dir, "--udp --scenario nosedive");
    assert!(address.starts_with("refloat+udp://127.0.0.1:"), "{address}");
    assert_eq!(json(dir, &format!("fetch {address} -o udp.rfrec"))["complete"], true);
    let (_board, address) = board(dir, "--can 21 --scenario nosedive");
    assert_eq!(json(dir, &format!("info {address}"))["can"], 21);
    assert_eq!(json(dir, &format!("fetch {address} --can 21 -o can.rfrec"))["complete"], true);
    let said = refused(dir, &format!("status {address} --can 22 --timeout 100ms --tries 1"), 1);
    assert!(said.contains("Refloat"), "{said}");
}

#[test]
fn a_recording_is_given_again_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (first, address) = board(dir, "--version 1.2 --scenario nosedive --seed 3");
    json(dir, &format!("fetch {address} -o a.rfrec"));
    drop(first);
    let (_again, address) = board(dir, "--version 1.2 --file a.rfrec");
    json(dir, &format!("fetch {address} -o b.rfrec"));
    let same = typed(dir, "logpose diff a.rfrec b.rfrec -n /refloat/file/*");
    assert_eq!(code(&same), 0, "{}", stdout(&same));
}

#[test]
fn a_board_is_watched() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for version in ["1.0", "1.1", "1.2", "1.3"] {
        let (_board, address) = board(dir, &format!("--version {version} --scenario ride"));
        let output = refloat(dir, &format!("watch {address} --duration 700ms --every 100ms --json"));
        assert_eq!(code(&output), 0, "{version}: {}", stderr(&output));
        let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let last = lines.last().unwrap();
        assert_eq!((&last["event"], &last["connected"]), (&"done".into(), &true.into()), "{version}: {last}");
        assert!(last["values"]["batt_voltage"].as_f64().unwrap() > 40.0, "{version}: {last}");
        assert!(last["replies"].as_u64().unwrap() >= 3, "{version}: {last}");
        let status = lines.iter().find(|line| line["event"] == "live").unwrap();
        let promised = ["event", "elapsed_s", "connected", "problem", "replies", "tick", "values", "recorder"];
        assert_eq!(keys(status), promised);
        let text = stdout(&refloat(dir, &format!("watch {address} --duration 500ms --every 100ms")));
        assert!(text.lines().count() >= 2 && text.contains(" V · "), "{version}: {text}");
    }
}

#[test]
fn a_fault_is_reported_while_a_board_is_watched() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (_board, address) = board(dir, "--version 1.2 --fault 5");
    let output = refloat(dir, &format!("watch {address} --duration 1500ms --json"));
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let alert = lines.iter().find(|line| line["what"] == "alert").unwrap_or_else(|| panic!("{lines:?}"));
    assert_eq!(alert["text"], "OVER_TEMP_FET (5) active");
    assert_eq!(lines.last().unwrap()["values"]["fault_code"], 5.0);
}

#[test]
fn a_connection_that_ends_again_and_again_delivers_all() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (_board, address) = board(dir, "--scenario nosedive --close-after 20000");
    let fetched = json(dir, &format!("fetch {address} -o ride.rfrec"));
    assert_eq!(fetched["complete"], true, "{fetched}");
    assert!(fetched["interruptions"].as_u64().unwrap() >= 2, "{fetched}");
}

/// What a program says on a terminal on which these keys are pressed, and how it ends; nothing without `script`.
#[cfg(target_os = "linux")]
fn on_a_terminal(dir: &Path, line: &str, typed: &str) -> Option<(String, i32)> {
    let program = env!("CARGO_BIN_EXE_logpose");
    let mut child = std::process::Command::new("script")
        .args(["-qec", &format!("{program} refloat {line}"), "/dev/null"])
        .current_dir(dir)
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .ok()?;
    let mut keys = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut keys, typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(keys);
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), code(&output)))
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_what_erases_or_stops_is_asked_first() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (_board, address) = board(dir, "--scenario empty");
    let is_recording = || json(dir, &format!("status {address}"))["recorder"]["recording"].as_bool().unwrap();
    let Some((said, end)) = on_a_terminal(dir, &format!("start {address}"), "n\n") else { return };
    assert!(said.contains("erases the recording on the board. Start? [y/N]"), "{said}");
    assert_eq!((end, is_recording()), (1, false), "{said}");
    let (said, end) = on_a_terminal(dir, &format!("start {address}"), "y\n").unwrap();
    assert_eq!((end, is_recording()), (0, true), "{said}");
    let (said, end) = on_a_terminal(dir, &format!("fetch {address} -o no.rfrec"), "\n").unwrap();
    assert!(said.contains("The board is recording. Stop the recording and download it? [y/N]"), "{said}");
    assert_eq!((end, is_recording(), dir.join("no.rfrec").exists()), (1, true, false), "{said}");
    let (said, end) = on_a_terminal(dir, &format!("fetch {address} -o yes.rfrec"), "yes\n").unwrap();
    assert_eq!((end, is_recording(), dir.join("yes.rfrec").exists()), (0, false, true), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_a_board_is_drawn_and_what_was_there_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (_board, address) = board(dir, "--scenario ride");
    let Some((said, end)) = on_a_terminal(dir, &format!("watch {address} --duration 1500ms"), "") else { return };
    assert_eq!(end, 0, "{said}");
    assert!(said.contains("\u{1b}[?1049h") && said.trim_end().ends_with("\u{1b}[?1049l"), "{said:?}");
    assert!(said.contains("Refloat 1.3.0-beta2 at") && said.contains("READY") && said.contains("q quit"), "{said:?}");
    // Only y after r starts a recording; q ends it before its time.
    let (said, end) = on_a_terminal(dir, &format!("watch {address} --duration 60s"), "rnq").unwrap();
    assert_eq!(end, 0, "{said}");
    assert_eq!(json(dir, &format!("status {address}"))["recorder"]["recording"], false);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_came_and_restores_the_board() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (mut slow, address) = board(dir, "--scenario nosedive --baud 57600");
    let line = format!("refloat fetch {address} -o ride.rfrec");
    let fetching = std::process::Command::new(env!("CARGO_BIN_EXE_logpose"))
        .args(line.split(' '))
        .current_dir(dir)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while slow.line("status")["samples_sent"].as_u64().unwrap() < 100 {}
    let sent = std::process::Command::new("kill").args(["-INT", &fetching.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = fetching.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert!(stderr(&output).contains("-o ride.rfrec` to continue"), "{}", stderr(&output));
    assert!(slow.line("status")["recorder"]["autostart"].as_bool().unwrap());
    let rest = json(dir, &format!("fetch {address} -o ride.rfrec"));
    assert!(rest["complete"].as_bool().unwrap() && rest["resumed_from"].as_u64().unwrap() > 0, "{rest}");
}

#[test]
fn a_board_is_recorded_like_any_source() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (_board, address) = board(dir, "--scenario ride");
    let recorded = typed(dir, &format!("logpose record {address} -o ride.wpilog --duration 1s --keep-free 0MB"));
    assert_eq!(code(&recorded), 0, "{}", stderr(&recorded));
    let list = stdout(&typed(dir, "logpose list ride.wpilog"));
    for channel in ["/refloat/batt_voltage", "/refloat/pitch", "/refloat/state", "/refloat/footpad"] {
        assert!(list.contains(channel), "{channel}: {list}");
    }
}

#[test]
fn a_missing_board_is_reported_quickly() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let said = refused(dir, "info 127.0.0.1:9", 1);
    assert!(said.contains("127.0.0.1:9"), "{said}");
    let said = refused(dir, "fetch /dev/ttyNOWHERE -o x.rfrec", 1);
    assert!(said.contains("/dev/ttyNOWHERE does not exist"), "{said}");
    assert!(!dir.join("x.rfrec").exists());
    // Somebody is there who says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let said = refused(dir, &format!("info {} --timeout 100ms --tries 2", silent.local_addr().unwrap()), 1);
    assert!(said.contains("no answer from a VESC"), "{said}");
}

#[test]
fn an_address_in_use_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let said = refused(dir, &format!("board --listen {} --duration 1s", taken.local_addr().unwrap()), 1);
    assert!(said.contains("is in use"), "{said}");
}
