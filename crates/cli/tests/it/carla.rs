//! `logpose carla`, on the fixtures and on the real recordings of the shared corpus, which is not part of this repository.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::fixtures::fixtures;
use crate::run::{SHARED, code, folder, logpose, stderr, stdout, typed};

fn parsed(line: &str) -> Value {
    let output = typed(&SHARED, line);
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| panic!("{line}: {error}: {}", stdout(&output)))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The real recordings.
fn corpus() -> Vec<PathBuf> {
    let is_recording = |path: &PathBuf| path.extension().is_some_and(|e| e == "log" || e == "rec");
    logpose_testkit::corpus_files("carla").into_iter().filter(is_recording).collect()
}

/// The recordings among the fixtures.
fn recordings(kind: &str) -> Vec<PathBuf> {
    let of_carla = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "carla");
    fixtures(kind).into_iter().filter(of_carla).collect()
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn the_texts_of_the_corpus_come_out_byte_for_byte() {
    let mut compared = 0;
    for file in corpus() {
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let beside = fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        for text in beside.filter(|path| path.extension().is_some_and(|extension| extension == "txt")) {
            let name = text.file_stem().unwrap().to_str().unwrap();
            let Some(query) = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('.')) else { continue };
            let words: Vec<&str> = query.split('_').collect();
            let args = match words.as_slice() {
                ["info"] => vec!["info"],
                ["info", "all"] => vec!["info", "--all"],
                ["collisions", "aa"] => vec!["collisions", "--types", "a", "a"],
                ["blocked", time, distance] => vec!["blocked", "--min-time", time, "--min-distance", distance],
                other => panic!("{other:?}"),
            };
            let output = logpose(&SHARED).arg("carla").args(&args).arg(&file).output().unwrap();
            assert_eq!((code(&output), &*stderr(&output)), (0, ""), "{name}");
            assert!(output.stdout == fs::read(&text).unwrap(), "{name} differs");
            compared += 1;
        }
    }
    assert!(compared >= 20, "{compared}");
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn replays_of_the_corpus_place_actors_as_carla_does() {
    for file in corpus() {
        let Ok(trace) = fs::read(file.with_extension("replay_1.5_0.2_1_0.05.json")) else { continue };
        let trace: Value = serde_json::from_slice(&trace).unwrap();
        let mut command = logpose(&SHARED);
        command.args(["carla", "replay", "--start", "1.5", "--duration", "0.2", "--json"]).arg(&file);
        let output = command.output().unwrap();
        let steps: Value = serde_json::from_slice(&output.stdout).unwrap();
        let (steps, ticks) = (steps.as_array().unwrap(), trace["ticks"].as_array().unwrap());
        assert_eq!(steps.len(), ticks.len());
        for (step, tick) in steps.iter().zip(ticks) {
            assert_eq!(
                (&step["time"], &step["frame"], &step["found"]),
                (&tick["time"], &tick["frame"], &tick["found"])
            );
            assert_eq!(step["events"].as_array().unwrap().len(), tick["events"].as_array().unwrap().len());
            for placed in step["poses"].as_array().unwrap() {
                let pose = &tick["poses"][placed["actor"].to_string()];
                let yaw = (placed["yaw"].as_f64().unwrap() - pose[5].as_f64().unwrap()).abs();
                let x = (placed["x"].as_f64().unwrap() * 100.0 - pose[0].as_f64().unwrap()).abs();
                assert!(yaw < 1e-3 && x < 1e-2, "{placed} {pose}");
            }
        }
    }
}

#[test]
fn every_command_ends_well_on_every_recording() {
    let commands: [&[&str]; 12] = [
        &["info"],
        &["info", "--all"],
        &["info", "--json"],
        &["info", "--format", "table"],
        &["collisions"],
        &["collisions", "--format", "csv"],
        &["blocked", "--min-time", "0"],
        &["blocked", "--min-time", "0", "--format", "ndjson"],
        &["state", "--time", "+0.1s", "--json"],
        &["state", "--time", "-0.01s", "--mode", "carla"],
        &["replay"],
        &["replay", "--factor", "2.5", "--start", "-0.2", "--format", "csv"],
    ];
    for (kind, fine) in [("valid", &[0][..]), ("corrupt", &[0, 1, 3])] {
        for file in recordings(kind) {
            let empty = file.ends_with("valid/no-frames.log");
            for command in commands {
                let output = logpose(&SHARED).arg("carla").args(command).arg(&file).output().unwrap();
                let fine = if empty && command[0] == "state" { &[1] } else { fine };
                assert!(
                    fine.contains(&code(&output)) && !stderr(&output).contains("panicked"),
                    "{command:?} {}: exit {}\n{}",
                    file.display(),
                    code(&output),
                    stderr(&output)
                );
            }
        }
    }
}

#[test]
fn what_edits_make_is_read_without_a_problem() {
    check_edits(recordings("valid"));
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn what_edits_make_of_real_recordings_is_read_without_a_problem() {
    check_edits(corpus());
}

fn check_edits(files: Vec<PathBuf>) {
    let dir = folder();
    for file in files {
        let made = dir.path().join("made.log");
        let edits: [&[&str]; 3] =
            [&["crop", "-S", "+0.05s..-0.05s"], &["drop", "-a", "*"], &["rename", "--map", "Town99"]];
        for edit in edits {
            let mut command = logpose(dir.path());
            command.arg("carla").args(edit).arg(&file).args(["--force", "-o"]).arg(&made);
            let output = command.output().unwrap();
            // Nothing lies in the stretch, nobody is there, or the recording is cut off.
            if code(&output) == 1 {
                continue;
            }
            assert_eq!(code(&output), 0, "{edit:?} {}: {}", file.display(), stderr(&output));
            let output = logpose(dir.path()).args(["carla", "replay", "made.log"]).output().unwrap();
            assert_eq!(code(&output), 0, "{edit:?} {}: {}", file.display(), stderr(&output));
        }
        let info = stdout(&logpose(dir.path()).args(["carla", "info", "made.log"]).output().unwrap());
        assert!(info.contains("Map: Town99") || file.ends_with("sample_custom_truncated.log"), "{}", file.display());
    }
}

#[test]
fn a_recording_that_is_edited_and_not_changed_is_the_same() {
    let dir = folder();
    for file in recordings("valid") {
        let header = fs::read(&file).unwrap();
        // The magic and the version, then the date, then the map.
        let length = usize::from(u16::from_le_bytes([header[26], header[27]]));
        let map = String::from_utf8(header[28..28 + length].to_vec()).unwrap();
        let made = dir.path().join("same.log");
        let mut command = logpose(dir.path());
        command.args(["carla", "rename", "--map", &map, "--force", "-o"]).arg(&made).arg(&file);
        assert_eq!(code(&command.output().unwrap()), 0, "{}", file.display());
        assert_eq!(fs::read(&made).unwrap(), header, "{}", file.display());
    }
}

#[test]
fn an_edit_never_destroys_an_existing_output() {
    let dir = folder();
    let old = b"precious";
    let cases = [
        "logpose carla crop traffic.log -o out.log -S 0..0.1",
        "logpose carla crop traffic.log -o out.log -S 7..8 --force",
        "logpose carla crop cut-in-packet.log -o out.log -S 0..0.1 --force",
        "logpose carla crop nowhere.log -o out.log -S 0..0.1 --force",
        "logpose carla drop traffic.log -o out.log --actor 99 --force",
        "logpose carla rename traffic.log -o out.log --map Town01",
        "logpose carla concat traffic.log ue5-weather.log -o out.log --force",
        "logpose carla concat traffic.log traffic.log cut-in-packet.log -o out.log --force",
        "logpose carla concat traffic.log traffic.log -o out.log",
    ];
    for line in cases {
        fs::write(dir.path().join("out.log"), old).unwrap();
        let output = typed(dir.path(), line);
        assert_eq!(code(&output), 1, "{line}: {}", stderr(&output));
        assert_eq!(fs::read(dir.path().join("out.log")).unwrap(), old, "{line}");
    }
    let left = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
    let output = typed(dir.path(), "logpose carla rename traffic.log -o out.log --map Town01 --force");
    assert_eq!((code(&output), &*stderr(&output)), (0, "wrote out.log: 8 frames, 1.99 kB\n"));
    // Also the recording itself, because it is replaced only when the new one is whole.
    let output = typed(dir.path(), "logpose carla rename out.log -o out.log --map Town02 --force");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&typed(dir.path(), "logpose carla info out.log")).contains("Map: Town02"));
}

#[test]
fn compressed_recordings_go_round() {
    let dir = folder();
    let plain = stdout(&typed(dir.path(), "logpose carla info traffic.log --all"));
    for name in ["t.log.gz", "t.log.zst", "t.log.xz", "t.log.lz4"] {
        let output = typed(dir.path(), &format!("logpose carla rename traffic.log -o {name} --map Town03"));
        assert_eq!(code(&output), 0, "{name}: {}", stderr(&output));
        assert_ne!(&fs::read(dir.path().join(name)).unwrap()[2..6], b"CARL");
        assert_eq!(stdout(&typed(dir.path(), &format!("logpose carla info {name} --all"))), plain, "{name}");
    }
    let whole = fs::read(dir.path().join("t.log.gz")).unwrap();
    fs::write(dir.path().join("cut.log.gz"), &whole[..whole.len() - 20]).unwrap();
    let output = typed(dir.path(), "logpose carla info cut.log.gz");
    assert_eq!(code(&output), 3);
    assert!(stderr(&output).contains("the gz file is truncated"), "{}", stderr(&output));
    let output = typed(dir.path(), "logpose carla crop traffic.log -o - -S 0..9");
    assert_eq!(output.stdout, fs::read(dir.path().join("traffic.log")).unwrap());
    assert_eq!(stderr(&output), "wrote -: 8 frames, 1.99 kB\n");
}

#[test]
fn json_shapes_keep_their_promise() {
    let info = parsed("logpose carla info traffic.log --json");
    let promised = [
        "file",
        "bytes",
        "map",
        "date",
        "epoch_ns",
        "version",
        "vectors",
        "ids",
        "frames",
        "duration",
        "duration_ns",
        "mean_fps",
        "actors",
        "heroes",
        "collisions",
        "carla",
        "problems",
    ];
    assert_eq!(keys(&info), promised);
    assert_eq!((&info["map"], info["frames"].as_u64()), (&"Town03".into(), Some(8)));
    assert_eq!((info["actors"]["walker"].as_u64(), info["actors"]["sensor"].as_u64()), (Some(1), Some(0)));
    assert_eq!(info["heroes"][0]["actor"], 24);
    let several = parsed("logpose carla info traffic.log attached.log --json");
    assert_eq!(several.as_array().unwrap().len(), 2);

    let contacts = parsed("logpose carla collisions traffic.log --json");
    assert_eq!((&contacts[0]["actor1"], &contacts[0]["class2"]), (&24.into(), &"walker".into()));
    assert_eq!(contacts[0]["time_ns"].as_i64(), Some(250_000_004));
    assert_eq!(parsed("logpose carla collisions no-frames.log --json"), Value::Array(Vec::new()));
    let several = parsed("logpose carla collisions traffic.log all-packets.log --json");
    assert_eq!((keys(&several[0])[0], &several[0]["file"]), ("file", &"traffic.log".into()));

    let state = parsed("logpose carla state nan-boxes.log --time 0 --json");
    let sensor = state["actors"].as_array().unwrap().iter().find(|actor| !actor["box"].is_null()).unwrap();
    assert_eq!(sensor["box"]["origin"]["x"], "NaN");
    assert_eq!(sensor["box"]["extent"]["z"], "Infinity");
    let state = parsed("logpose carla state ue5-weather.log --time -0s --json");
    assert!(state["weather"]["cloudiness"].is_number(), "{state}");

    let error = typed(&SHARED, "logpose carla state nowhere.log --time 1 --json");
    let error: Value = serde_json::from_str(&stderr(&error)).unwrap();
    assert_eq!(error["error"]["code"], "not-found");
    let cut = typed(&SHARED, "logpose carla blocked cut-in-packet.log --json");
    let problem: Value = serde_json::from_str(stderr(&cut).lines().next().unwrap()).unwrap();
    assert_eq!((&problem["problem"]["code"], problem["problem"]["at"].as_u64()), (&"truncated".into(), Some(0x410)));
    assert_eq!(code(&cut), 3);
}

#[test]
fn a_frame_is_found_by_each_way_to_write_its_time() {
    let elapsed = "0.15000000223517418";
    for time in [elapsed, "0.150000002", "150000002ns", "+0.150000002s"] {
        let state = parsed(&format!("logpose carla state traffic.log --time {time} --json"));
        assert_eq!((state["frame"]["id"].as_u64(), state["per"].as_f64()), (Some(4), Some(0.0)), "{time}");
        assert_eq!(state["time"].to_string(), elapsed, "{time}");
    }
    assert_eq!(parsed("logpose carla state traffic.log --time 0.15 --json")["frame"]["id"], 3);
}

#[test]
fn the_date_is_that_of_the_zone() {
    let date = |zone: &str, setting: &str| {
        let args = ["carla", "info", "traffic.log", "--time-zone", zone];
        let output = logpose(&SHARED).env("TZ", setting).args(args).output().unwrap();
        stdout(&output).lines().nth(2).unwrap().to_owned()
    };
    assert_eq!(date("UTC", "UTC-9"), "Date: 09/13/20 12:26:40");
    assert_eq!(date("+05:45", "UTC"), "Date: 09/13/20 18:11:40");
    assert_eq!(date("-13:00", "UTC"), "Date: 09/12/20 23:26:40");
    // In POSIX's notation west is positive.
    assert_eq!(date("local", "ABC-9"), "Date: 09/13/20 21:26:40");
}

#[test]
fn a_closed_pipe_ends_a_replay() {
    let args = ["carla", "replay", "traffic.log", "--delta", "0.000001"];
    let mut child =
        logpose(&SHARED).args(args).arg("-q").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.fill_buf().unwrap();
    drop(reader);
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), &*stderr(&output)), (0, ""));
}
