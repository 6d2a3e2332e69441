//! `logpose`, the command line.

mod args;
mod commands;
mod failure;
mod human;
mod interrupt;
mod progress;
mod render;
mod rows;
mod screen;
mod table;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::commands::Cli;
use crate::screen::Screen;

fn main() -> ExitCode {
    let args = with_info(std::env::args_os().collect());
    interrupt::listen();
    #[cfg(unix)]
    interrupt::survive_file_size_limit();
    interrupt::catch(|| run(args)).unwrap_or(interrupt::CODE).into()
}

fn run(args: Vec<OsString>) -> u8 {
    let json = wants_json(&args);
    let parsed = Cli::command()
        .color(color(&args))
        .try_get_matches_from(args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let mut cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage(&error, json),
    };
    cli.expand_patterns();
    let common = &cli.common;
    let mut screen = Screen::new(common.color, common.quiet, common.verbose, json);
    let done = cli.run(&mut screen).and_then(|outcome| Ok(screen.out.flush().map(|()| outcome)?));
    match done {
        Ok(outcome) => outcome.code(),
        Err(error) => {
            // Output printed before the failure is still valid.
            let flushed = screen.out.flush().map_err(anyhow::Error::from);
            match flushed {
                Err(flush) if failure::is_closed_pipe(&flush) => 0,
                _ => failure::report(&error, &screen.notes),
            }
        }
    }
}

/// Prints an error about the command line; `--help` and `--version` come this way too.
fn usage(error: &clap::Error, json: bool) -> u8 {
    if json && error.use_stderr() {
        let text = error.render().to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Screen::new(clap::ColorChoice::Never, false, false, true).notes.error("usage", message, None, None);
    } else {
        // If stderr is closed there is nowhere to report that.
        let _ = error.print();
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// `logpose FILE` means `logpose info FILE`, also with flags around it.
///
/// A first word that is neither a command nor a plausible file is left to clap, which suggests the closest command.
fn with_info(mut args: Vec<OsString>) -> Vec<OsString> {
    let mut skip = false;
    let first = args.iter().skip(1).find(|arg| {
        if std::mem::take(&mut skip) {
            return false;
        }
        let text = arg.to_string_lossy();
        skip = ["--color", "--from", "--format", "-j", "--threads"].contains(&&*text);
        text == "-" || !text.starts_with('-')
    });
    let Some(first) = first else { return args };
    let command = Cli::command();
    let is_command = first == "help" || command.get_subcommands().any(|c| OsStr::new(c.get_name()) == first);
    let text = first.to_string_lossy();
    let could_be_file = text.contains(['.', '/', '\\', ':']) || text == "-" || Path::new(first).exists();
    if !is_command && could_be_file {
        args.insert(1, "info".into());
    }
    args
}

/// Whether to print errors as JSON. Must work even if the arguments are invalid.
fn wants_json(args: &[OsString]) -> bool {
    let mut words = args.iter().map_while(|arg| arg.to_str().filter(|text| *text != "--"));
    let mut before = "";
    words.any(|word| {
        let format = word.strip_prefix("--format=").or((before == "--format").then_some(word));
        before = word;
        word == "--json" || matches!(format, Some("json" | "ndjson"))
    })
}

/// The color choice for clap's own messages.
fn color(args: &[OsString]) -> clap::ColorChoice {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [flag, value] if flag == "--color" => Some(&**value),
        _ => None,
    });
    let joined = words.iter().filter_map(|word| word.strip_prefix("--color="));
    match pairs.chain(joined).last() {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::{wants_json, with_info};

    fn words(line: &str) -> Vec<std::ffi::OsString> {
        line.split(' ').map(Into::into).collect()
    }

    #[test]
    fn a_file_alone_means_info() {
        let cases = [
            ("logpose a.wpilog", "logpose info a.wpilog"),
            ("logpose a.wpilog --json", "logpose info a.wpilog --json"),
            ("logpose --json a.wpilog", "logpose info --json a.wpilog"),
            ("logpose --color never a.wpilog b.rlog", "logpose info --color never a.wpilog b.rlog"),
            ("logpose -", "logpose info -"),
            ("logpose ./list", "logpose info ./list"),
            ("logpose list", "logpose list"),
            ("logpose inof", "logpose inof"),
            ("logpose --help", "logpose --help"),
            ("logpose", "logpose"),
        ];
        cases.iter().for_each(|(typed, meant)| assert_eq!(with_info(words(typed)), words(meant)));
    }

    #[test]
    fn json_is_seen_in_every_spelling() {
        let cases = [
            ("logpose x --json", true),
            ("logpose x --format json", true),
            ("logpose x --format=ndjson", true),
            ("logpose x --format csv", false),
            ("logpose grep -- --json", false),
        ];
        cases.iter().for_each(|(line, json)| assert_eq!(wants_json(&words(line)), *json));
    }
}
