//! What `ds robot`, `ds station` and `ds proxy` share.

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

use crate::args::Form;
use crate::commands::live::{Recorded, Ticker};
use crate::failure::{Complaint, Outcome};
use crate::interrupt;
use crate::render::ds as render;
use crate::screen::Screen;

/// How long it runs, and where what goes on is kept.
#[derive(Args, Clone, Debug)]
pub(super) struct Running {
    /// Record what both sides say; .wpilog, .rlog, .mcap, .csv or .ndjson
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// End recording when less than this is free on the disk
    #[arg(long, value_name = "SIZE", default_value = "200MB", hide_default_value = true)]
    keep_free: String,
    /// End after so long
    #[arg(long, value_name = "DURATION")]
    duration: Option<String>,
    #[command(flatten)]
    form: Form,
}

/// The recording and the status line of something that runs.
pub(super) struct Show {
    pub(super) ticker: Ticker,
    file: Option<Recorded>,
    limit: Option<i64>,
}

impl Running {
    /// Begins the recording, if one is wanted.
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
        Ok(Show { ticker: Ticker::new(screen, self.form.json()), file, limit })
    }
}

impl Show {
    pub(super) fn outputs(&self) -> Vec<&OutputThread> {
        self.file.iter().map(|file| &file.thread).collect()
    }

    /// Says where it runs.
    pub(super) fn started(&self, word: &str, address: &str, text: &str, screen: &mut Screen) {
        self.ticker.tell(word, text);
        self.line(&render::Started { event: "started", address }, screen);
    }

    /// Tells something that happened.
    pub(super) fn news(&self, word: &str, text: &str, screen: &mut Screen) {
        self.ticker.tell(word, text);
        self.line(&render::News { event: "news", text }, screen);
    }

    /// Prints a line of JSON, where that is wanted.
    pub(super) fn line<T: serde::Serialize>(&self, line: &T, screen: &mut Screen) {
        if self.ticker.json {
            // If nobody reads it, it goes on all the same.
            let _ = screen.out.json_line(line).and_then(|()| screen.out.flush());
        }
    }

    /// How the recording stands.
    pub(super) fn recording(&self) -> Option<render::Recording> {
        self.file.as_ref().map(|file| render::Recording::of(&file.watch.stats(), file.thread.dropped()))
    }

    /// Whether it is to end: Ctrl-C was pressed, the time is over, or the recording takes no more.
    pub(super) fn is_over(&self, elapsed: Duration) -> bool {
        let late = self.limit.is_some_and(|limit| elapsed.as_nanos() >= u128::from(limit.unsigned_abs()));
        late || interrupt::is_raised() || self.file.as_ref().is_some_and(|file| file.thread.is_done())
    }

    /// Closes the recording and prints the last line of JSON. How the command ends.
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

/// Where a robot is: a team's number, an address or a name, perhaps with a port behind a colon.
pub(super) fn robot(text: &str) -> Result<(Host, Ports)> {
    let address = Address::parse(&format!("ds://{text}")).map_err(|error| Complaint::usage(error.to_string()))?;
    let (host, datagrams) = address.network().map_or((Host::Unsaid, 0), |(host, port)| (host.clone(), port));
    Ok((host, Ports { datagrams, ..Ports::default() }))
}

/// Three ports: of control packets, of their answers, and of TCP.
pub(super) fn ports(text: &str) -> Result<Ports, String> {
    let numbers: Result<Vec<u16>, _> = text.split(',').map(|port| port.trim().parse::<u16>()).collect();
    match numbers.as_deref() {
        Ok([datagrams, answers, stream]) => Ok(Ports { datagrams: *datagrams, answers: *answers, stream: *stream }),
        _ => Err("three ports are wanted: control packets, their answers, TCP; usually 1110,1150,1740".to_owned()),
    }
}

/// Reads a script.
pub(super) fn script(path: &Path, role: Role) -> Result<Script> {
    let text = fs::read(path).with_context(|| path.display().to_string())?;
    let text =
        String::from_utf8(text).map_err(|_| Complaint::usage(format!("{}: a script is a text", path.display())))?;
    let script = Script::parse(&text, role);
    Ok(script.map_err(|error| Complaint::usage(format!("{}: {error}", path.display())))?)
}

pub(super) fn complain(error: DsError) -> Complaint {
    match error {
        DsError::Field(_) | DsError::Itself(_) => Complaint::usage(error.to_string()),
        DsError::Taken { .. } => {
            Complaint::failed("bind", error.to_string()).help("end it, or use another address of this machine")
        }
        error => Complaint::failed("bind", error.to_string()),
    }
}
