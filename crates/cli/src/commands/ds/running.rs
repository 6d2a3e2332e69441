//! Shared by `ds robot`, `ds station` and `ds proxy`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use logpose::{parse_bytes, parse_duration};
use logpose_live::ds::script::{Role, Script};
use logpose_live::ds::{DsError, Ports};
use logpose_live::recorder::{Epoch, RecordOptions};
use logpose_live::{Address, Clock, Host, OutputThread};

use crate::args::OutputFormat;
use crate::commands::live::{Recorded, Ticker};
use crate::failure::{Complaint, Outcome};
use crate::interrupt;
use crate::render::ds as render;
use crate::screen::Screen;

/// Duration and recording options.
#[derive(Args, Clone, Debug)]
pub(super) struct Running {
    /// Record both directions to a file: .wpilog, .rlog, .mcap, .csv or .ndjson
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    force: bool,
    /// Stop recording when less disk space than this is free
    #[arg(long, value_name = "SIZE", default_value = "200MB", hide_default_value = true)]
    keep_free: String,
    /// Stop after this time
    #[arg(long, value_name = "DURATION")]
    duration: Option<String>,
    #[command(flatten)]
    format: OutputFormat,
}

/// The recording and status line of a running command.
pub(super) struct Show {
    pub(super) ticker: Ticker,
    file: Option<Recorded>,
    limit: Option<i64>,
}

impl Running {
    /// Starts the recording, if requested.
    pub(super) fn start(&self, clock: Clock, screen: &Screen) -> Result<Show> {
        let limit = self.duration.as_deref().map(parse_duration).transpose()?;
        let file = match &self.output {
            None => None,
            Some(path) => {
                let options = RecordOptions {
                    force: self.force,
                    keep_free: parse_bytes(&self.keep_free)?,
                    // All times are nanoseconds since 1970.
                    epoch: Epoch::Received,
                    ..RecordOptions::default()
                };
                Some(Recorded::start(path, options, clock)?)
            }
        };
        interrupt::await_it();
        Ok(Show { ticker: Ticker::new(screen, self.format.json()), file, limit })
    }
}

impl Show {
    pub(super) fn outputs(&self) -> Vec<&OutputThread> {
        self.file.iter().map(|file| &file.thread).collect()
    }

    /// Reports the address.
    pub(super) fn started(&self, word: &str, address: &str, text: &str, screen: &mut Screen) {
        self.ticker.event(word, text);
        self.line(&render::Started { event: "started", address }, screen);
    }

    /// Reports an event.
    pub(super) fn news(&self, word: &str, text: &str, screen: &mut Screen) {
        self.ticker.event(word, text);
        self.line(&render::News { event: "news", text }, screen);
    }

    /// Prints a line of JSON, if requested.
    pub(super) fn line<T: serde::Serialize>(&self, line: &T, screen: &mut Screen) {
        if self.ticker.json {
            // A closed pipe does not stop the command.
            let _ = screen.out.json_line(line).and_then(|()| screen.out.flush());
        }
    }

    /// The state of the recording.
    pub(super) fn recording(&self) -> Option<render::Recording> {
        self.file.as_ref().map(|file| render::Recording::of(&file.watch.stats(), file.thread.dropped()))
    }

    /// Whether to stop: Ctrl-C was pressed, the time is over, or the recording failed.
    pub(super) fn is_over(&self, elapsed: Duration) -> bool {
        let late = self.limit.is_some_and(|limit| elapsed.as_nanos() >= u128::from(limit.unsigned_abs()));
        late || interrupt::is_raised() || self.file.as_ref().is_some_and(|file| file.thread.is_done())
    }

    /// Closes the recording, prints the last line of JSON and returns the outcome.
    pub(super) fn finish<T: serde::Serialize>(
        self,
        elapsed: Duration,
        last: impl FnOnce(Option<render::Recording>) -> T,
        screen: &mut Screen,
    ) -> Result<Outcome> {
        let Self { ticker, file, .. } = self;
        let json = ticker.json;
        drop(ticker);
        let file = file.map(Recorded::finish);
        if json {
            let recording = file.as_ref().map(|file| render::Recording::of(&file.stats, file.dropped));
            screen.out.json_line(&last(recording))?;
        } else if let Some(file) = &file {
            file.conclude(elapsed, screen);
        }
        file.map_or(Ok(Outcome::Done), |file| file.outcome(screen))
    }
}

/// A robot: team number, address or host name, optionally with a port.
pub(super) fn robot(text: &str) -> Result<(Host, Ports)> {
    let address = Address::parse(&format!("ds://{text}")).map_err(|error| Complaint::usage(error.to_string()))?;
    let (host, datagrams) = address.network().map_or((Host::Unsaid, 0), |(host, port)| (host.clone(), port));
    Ok((host, Ports { datagrams, ..Ports::default() }))
}

/// Three ports: control packets, answers and TCP.
pub(super) fn ports(text: &str) -> Result<Ports, String> {
    let numbers: Result<Vec<u16>, _> = text.split(',').map(|port| port.trim().parse::<u16>()).collect();
    match numbers.as_deref() {
        Ok([datagrams, answers, stream]) => Ok(Ports { datagrams: *datagrams, answers: *answers, stream: *stream }),
        _ => Err("expected three ports (control packets, answers, TCP), such as 1110,1150,1740".to_owned()),
    }
}

/// Reads a script.
pub(super) fn script(path: &Path, role: Role) -> Result<Script> {
    let text = fs::read(path).with_context(|| path.display().to_string())?;
    let text = String::from_utf8(text)
        .map_err(|_| Complaint::usage(format!("{}: the script is not UTF-8 text", path.display())))?;
    let script = Script::parse(&text, role);
    Ok(script.map_err(|error| Complaint::usage(format!("{}: {error}", path.display())))?)
}

pub(super) fn complain(error: DsError) -> Complaint {
    match error {
        DsError::Field(_) | DsError::Itself(_) => Complaint::usage(error.to_string()),
        DsError::Taken { .. } => Complaint::failed("bind", error.to_string())
            .help("stop the other program, or use another address of this computer"),
        error => Complaint::failed("bind", error.to_string()),
    }
}
