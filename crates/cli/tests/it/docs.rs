//! What the help and the documentation say is true.

use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

use logpose_testkit::workspace;

#[cfg(unix)]
use crate::live::Running;
use crate::run::{SHARED, code, stderr, stdout, typed};

/// Every command, as `logpose --help` lists them.
pub(crate) fn commands() -> Vec<String> {
    let names = listed("logpose --help");
    assert!(names.len() >= 13, "{names:?}");
    names
}

/// Every command of a group of commands.
pub(crate) fn grouped() -> Vec<String> {
    let of = |group: &str| -> Vec<String> {
        listed(&format!("logpose {group} --help")).iter().map(|name| format!("{group} {name}")).collect()
    };
    ["carla", "ds", "refloat"].into_iter().flat_map(of).collect()
}

/// The commands that a help lists.
fn listed(line: &str) -> Vec<String> {
    let help = stdout(&typed(&SHARED, line));
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    list.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The commands in the `console` blocks of all pages in docs/.
#[cfg(unix)]
fn console_lines() -> Vec<String> {
    let pages = fs::read_dir(workspace().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages: Vec<_> = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    assert!(pages.len() > 10, "{pages:?}");
    let mut lines = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let mut console = false;
        for line in text.lines() {
            if line.starts_with("```") {
                console = line == "```console";
            } else if let Some(command) = line.strip_prefix("$ ").filter(|_| console) {
                lines.push(command.to_owned());
            }
        }
    }
    lines
}

/// The lines under `Examples:` of a command's help, without their comments.
#[cfg(unix)]
fn examples(command: &str) -> Vec<String> {
    let help = stdout(&typed(&SHARED, &format!("logpose {command} --help")));
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    lines
        .take_while(|line| line.starts_with("  logpose"))
        .map(|line| line.trim().split("  ").next().unwrap_or_default().to_owned())
        .collect()
}

#[cfg(unix)]
#[test]
fn the_examples_in_the_help_work_on_the_demo_logs() {
    let dir = tempfile::tempdir().unwrap();
    let demo = typed(dir.path(), "logpose demo");
    assert_eq!(code(&demo), 0, "{}", stderr(&demo));
    let binary = Path::new(env!("CARGO_BIN_EXE_logpose")).parent().unwrap().to_owned();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let has = |tool: &str| {
        Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    let (jq, man) = (has("jq"), has("man"));
    let mut run = 0;
    let mut shown: Vec<String> = console_lines();
    shown.sort();
    shown.dedup();
    let helps = commands().into_iter().chain(grouped()).chain([String::new()]).map(|command| {
        let examples = examples(&command);
        assert!(!examples.is_empty(), "`logpose {command} --help` has no examples");
        examples
    });
    for examples in helps.chain([shown]) {
        for example in examples {
            if example.contains("| jq") && !jq || example.contains("| man") && !man || example == "logpose demo" {
                continue;
            }
            if example.starts_with("logpose sql") && !cfg!(feature = "sql") {
                continue;
            }
            if example.starts_with("logpose open") && !cfg!(feature = "viewer") {
                continue;
            }
            let of_lake = example.starts_with("logpose ingest") || example.contains(" season");
            if of_lake && !cfg!(feature = "lake") {
                continue;
            }
            let Some(example) = on_loopback(&example) else { continue };
            let (example, _board) = with_board(&example);
            let scratch = tempfile::tempdir_in(dir.path()).unwrap();
            std::os::unix::fs::symlink(dir.path().join("demo"), scratch.path().join("demo")).unwrap();
            // Output beside the input stays in the shared folder; nothing may depend on the order of examples.
            let _ = fs::remove_file(dir.path().join("demo/damaged.recovered.wpilog"));
            let home = scratch.path().join("home");
            for folder in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"] {
                fs::create_dir_all(home.join(folder)).unwrap();
            }
            let example = example.replace("/tmp/logs", "logs");
            fs::write(scratch.path().join("match.txt"), "0 mode auto\n1 enable\n2 end\n").unwrap();
            fs::write(scratch.path().join("trouble.txt"), "0 battery 12\n1 silence 2s\n").unwrap();
            if of_lake && !example.starts_with("logpose ingest") {
                let made = typed(scratch.path(), "logpose ingest season demo/demo_q12.rlog demo/demo_q12_r1.rlog");
                assert_eq!(code(&made), 0, "{}", stderr(&made));
            }
            let output = Command::new("bash")
                .args(["-o", "pipefail", "-c", &example])
                .current_dir(scratch.path())
                .env("PATH", &path)
                .env("HOME", &home)
                .output()
                .unwrap();
            if example.starts_with("logpose record") {
                assert_eq!(code(&output), 1, "{example}: nobody is there\n{}", stderr(&output));
                assert!(stderr(&output).contains("no data received"), "{example}\n{}", stderr(&output));
                run += 1;
                continue;
            }
            if example.starts_with("logpose ds station") {
                assert_eq!(code(&output), 1, "{example}: nobody is there\n{}", stderr(&output));
                assert!(stderr(&output).contains("no robot answered"), "{example}\n{}", stderr(&output));
                run += 1;
                continue;
            }
            assert!(matches!(code(&output), 0 | 3), "{example}: exit {}\n{}", code(&output), stderr(&output));
            assert_eq!(
                code(&output) == 3,
                example.contains("damaged") || example.contains("*.wpilog"),
                "{example}: exit {}",
                code(&output)
            );
            run += 1;
        }
    }
    assert!(run > 20, "only {run} examples");
}

/// What touches a network, on loopback and for a moment: robots are where nobody listens, servers have a free port, and
/// logs are played as fast as possible. `None` for what cannot be tried so.
#[cfg(unix)]
fn on_loopback(example: &str) -> Option<String> {
    // What never ends, and buckets: tests of their own try both.
    if example.contains("--watch") || example.contains("s3://") {
        return None;
    }
    if example.starts_with("logpose record") {
        let hosts = ["://10.2.54.2", "://10.2.54.11", "://254", "://192.168.4.1"];
        let example = hosts.iter().fold(example.to_owned(), |text, host| text.replace(host, "://127.0.0.1:9"));
        let example = example.replace("--to foxglove://", "--to foxglove://:0");
        let strangers =
            example.split("://").skip(1).filter(|rest| !rest.starts_with("127.0.0.1:9") && !rest.starts_with(":0"));
        assert_eq!(strangers.count(), 0, "a test talks to this machine alone: {example}");
        return Some(format!("{example} --duration 300ms --keep-free 1MB"));
    }
    if example.starts_with("logpose open") {
        let hosts = ["://10.2.54.2", "://254", "://192.168.4.1"];
        let example = hosts.iter().fold(example.to_owned(), |text, host| text.replace(host, "://127.0.0.1:9"));
        let example = example.replace("--port 8080", "--port 0").replace("--bind 0.0.0.0", "--bind 127.0.0.2");
        let example = example.replace(" --no-browser", "");
        return Some(format!("{example} --no-browser --duration 300ms --keep-free 1MB"));
    }
    if example.starts_with("logpose ds ") && !example.starts_with("logpose ds list") {
        return Some(ds_on_loopback(example));
    }
    if example.starts_with("logpose refloat board") {
        let example = example.replace(" --duration 1m", "").replace("/tmp/board", "board");
        let listen = if example.contains("--pty") { "" } else { " --listen 127.0.0.1:0" };
        return Some(format!("{example}{listen} --duration 300ms"));
    }
    if example.starts_with("logpose refloat watch") {
        return Some(format!("{} --duration 300ms", example.replace(" --duration 10s", "")));
    }
    if !example.starts_with("logpose play") {
        return Some(example.to_owned());
    }
    if !example.contains("demo/") {
        return None;
    }
    let dull = ["--loop", "--wait", "--rate 2"];
    let example = dull.iter().fold(example.to_owned(), |text, flag| text.replace(flag, ""));
    let example = ["rlog", "nt4", "foxglove"]
        .iter()
        .fold(example, |text, scheme| text.replace(&format!("--to {scheme}://"), &format!("--to {scheme}://:0")));
    Some(format!("{example} --rate 0"))
}

/// What talks to a board talks to an emulated one, which lives as long as the example.
#[cfg(unix)]
fn with_board(example: &str) -> (String, Option<Running>) {
    let places = ["refloat+tcp://192.168.4.1", "192.168.4.1", "/dev/ttyACM0"];
    if !example.starts_with("logpose refloat") || !places.iter().any(|place| example.contains(place)) {
        return (example.to_owned(), None);
    }
    let mut board = Running::start(&SHARED, "refloat board --listen 127.0.0.1:0 --scenario nosedive --json");
    let address = board.line("started")["address"].as_str().unwrap().to_owned();
    (places.iter().fold(example.to_owned(), |text, place| text.replace(place, &address)), Some(board))
}

/// A robot, a station or a proxy at addresses that nobody else has, for a moment.
#[cfg(unix)]
fn ds_on_loopback(example: &str) -> String {
    let robots = ["--robot 254", "--robot 10.2.54.2", "--robot 127.0.0.2"];
    let example = robots.iter().fold(example.to_owned(), |text, robot| text.replace(robot, "--robot 127.0.77.1"));
    let binds = ["--bind 0.0.0.0", "--bind 127.0.0.2"];
    let mut example = binds.iter().fold(example, |text, bind| text.replace(bind, "--bind 127.0.77.2"));
    for length in [" --duration 1m", " --duration 16s"] {
        example = example.replace(length, "");
    }
    if example.contains("ds station") && !example.contains("--robot") {
        example += " --robot 127.0.77.1";
    } else if !example.contains("ds station") && !example.contains("--bind") {
        example += " --bind 127.0.77.2";
    }
    let strangers =
        example.split(' ').filter(|word| word.parse::<std::net::IpAddr>().is_ok_and(|ip| !ip.is_loopback()));
    assert_eq!(strangers.count(), 0, "a test talks to this machine alone: {example}");
    format!("{example} --duration 300ms --keep-free 1MB")
}

#[test]
fn demo_prints_commands_that_exist() {
    let dir = tempfile::tempdir().unwrap();
    let output = typed(dir.path(), "logpose demo logs");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let files: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
    assert!(!files.is_empty() && files.iter().all(|file| dir.path().join(file).is_file()), "{files:?}");
    let tries: Vec<_> = stderr(&output).lines().filter_map(|line| line.strip_prefix("  ")).map(str::to_owned).collect();
    assert!(tries.len() >= 5, "{tries:?}");
    for line in tries {
        let output = typed(dir.path(), &line);
        assert!(matches!(code(&output), 0 | 3), "{line}: {}", stderr(&output));
    }
    let again = typed(dir.path(), "logpose demo logs");
    assert_eq!(code(&again), 1, "it does not replace files unasked");
    assert_eq!(code(&typed(dir.path(), "logpose demo logs --force --json")), 0);
}

#[test]
fn the_page_about_the_command_line_names_every_command() {
    let page = fs::read_to_string(workspace().join("docs/cli.md")).unwrap();
    for command in commands() {
        assert!(page.contains(&format!("### `{command}`")), "docs/cli.md lacks `{command}`");
        assert!(page.contains(&format!("$ logpose {command}")), "docs/cli.md has no example of `{command}`");
    }
    for command in grouped() {
        assert!(page.contains(&format!("$ logpose {command}")), "docs/cli.md has no example of `{command}`");
    }
}

#[test]
fn the_table_in_the_readme_is_the_table_of_the_program() {
    let path = workspace().join("README.md");
    let Ok(readme) = fs::read_to_string(&path) else { return };
    let (begin, end) = ("<!-- dialects -->", "<!-- /dialects -->");
    let Some((before, rest)) = readme.split_once(begin) else { return };
    let (table, after) = rest.split_once(end).unwrap_or_else(|| panic!("README.md lacks {end}"));
    let now = stdout(&typed(&SHARED, "logpose dialects --markdown"));
    if logpose_testkit::bless() {
        return fs::write(path, format!("{before}{begin}\n{now}{end}{after}")).unwrap();
    }
    assert_eq!(table.trim(), now.trim(), "`make bless` puts it right");
}
