//! `play` and `record` together, over loopback.

#[cfg(unix)]
use logpose_testkit::until;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

#[cfg(unix)]
use crate::run::stdout;
use crate::run::{code, folder, stderr, typed};

/// A program that runs, and is killed when it is no longer needed.
pub(crate) struct Running {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Running {
    pub(crate) fn start(dir: &std::path::Path, line: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_logpose"))
            .args(line.split(' '))
            .current_dir(dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next line of JSON of that event.
    pub(crate) fn line(&mut self, event: &str) -> serde_json::Value {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended without {event:?}");
            let value: serde_json::Value = serde_json::from_str(&line).unwrap();
            if value["event"] == event {
                return value;
            }
        }
    }

    /// Where it serves.
    #[cfg(unix)]
    fn address(&mut self) -> String {
        self.line("serving")["address"].as_str().unwrap().to_owned()
    }

    /// Ends it as Ctrl-C does.
    #[cfg(unix)]
    pub(crate) fn interrupt(self) -> (serde_json::Value, Option<i32>) {
        self.end("-INT")
    }

    /// Ends it by a signal.
    #[cfg(unix)]
    pub(crate) fn end(mut self, signal: &str) -> (serde_json::Value, Option<i32>) {
        let done = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(done.success());
        self.wait()
    }

    /// Waits for its end.
    #[cfg(unix)]
    pub(crate) fn wait(&mut self) -> (serde_json::Value, Option<i32>) {
        let last = self.line("done");
        let status = until("it ends", || self.child.try_wait().unwrap());
        (last, status.code())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
#[test]
fn what_is_played_is_recorded_and_ctrl_c_closes_the_file_whole() {
    let dir = folder();
    for name in ["a.wpilog", "a.rlog", "a.mcap"] {
        let mut playing = Running::start(dir.path(), "play match.wpilog --to rlog://:0 --json --wait --stay --rate 20");
        let address = playing.address();
        let mut recording = Running::start(dir.path(), &format!("record {address} -o {name} --json --keep-free 0MB"));
        // Everything has come when the last second of the log has.
        let last = |line: &serde_json::Value| line["samples"].as_u64().unwrap();
        let mut before = 0;
        loop {
            let now = last(&recording.line("status"));
            if now > 0 && now == before {
                break;
            }
            before = now;
        }
        let (line, code_of) = recording.interrupt();
        assert_eq!((code_of, line["dropped"].as_u64()), (Some(0), Some(0)), "{name}: {line}");
        let doctor = typed(dir.path(), &format!("logpose doctor {name}"));
        assert_eq!(code(&doctor), 0, "{name}: {}", stdout(&doctor));
        let values = |file: &str| {
            let output = typed(dir.path(), &format!("logpose cat {file} -y *BatteryVoltage --format csv"));
            let mut values: Vec<String> =
                stdout(&output).lines().map(|line| line.split(',').skip(2).collect()).collect();
            // A server sends only changes.
            values.dedup();
            values
        };
        assert_eq!(values(name), values("match.wpilog"), "{name}");
        drop(playing.interrupt());
    }
}

#[test]
fn a_server_for_everyone_says_what_it_exposes() {
    let dir = folder();
    let alone = typed(dir.path(), "logpose play match.wpilog --to rlog://:0 --rate 0");
    assert_eq!(code(&alone), 0, "{}", stderr(&alone));
    assert!(stderr(&alone).contains("serving: rlog://127.0.0.1:") && !stderr(&alone).contains("exposed"));
    let all = typed(dir.path(), "logpose play match.wpilog --to rlog://:0 --bind 0.0.0.0 --rate 0");
    assert!(stderr(&all).contains("exposed: everyone on all networks of this computer"), "{}", stderr(&all));
}
