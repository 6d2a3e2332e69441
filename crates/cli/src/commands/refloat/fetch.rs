use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Zoned;
use logpose_live::refloat::session::{Event, Failure, Progress};
use logpose_live::refloat::{FetchError, FetchOptions, Fetched, LinkError, LinkView};

use super::ask::{ask, declined};
use super::reach::{Reach, complain};
use crate::args::OutputFormat;
use crate::commands::shown;
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, counted, duration, typed};
use crate::interrupt;
use crate::render::refloat as render;
use crate::screen::{Notes, Screen};

/// Download the recording of a board
///
/// Requests the samples in pieces, repeats lost requests and keeps every sample received. If the link breaks, run the same
/// command with the same -o to continue, unless the board has made a new recording since. During the download, stepping on
/// the board does not start a new recording.
///
/// Downloading stops a running recording. logpose asks for confirmation on a terminal and needs --stop elsewhere.
///
/// Exits with 3 if the recording is incomplete.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat fetch /dev/ttyACM0                    to refloat_DATE_TIME.rfrec
  logpose refloat fetch 192.168.4.1 -o ride.rfrec
  logpose refloat fetch refloat+tcp://192.168.4.1 -o ride.rfrec --stop --json")]
pub(super) struct Fetch {
    #[command(flatten)]
    reach: Reach,
    /// Output file; a partial download is continued
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Stop a running recording without asking
    #[arg(long, visible_alias = "yes")]
    stop: bool,
    /// Leave autostart on: stepping on the board during the download erases the recording
    #[arg(long)]
    no_protect: bool,
    /// Note to store in the file
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    format: OutputFormat,
}

impl Fetch {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let link = self.reach.link()?;
        let path = self.output.clone().unwrap_or_else(named);
        let mut options =
            FetchOptions { force: self.force, may_stop: self.stop, protect: !self.no_protect, note: self.note.clone() };
        interrupt::await_it();
        let mut show = Show::new(screen.notes, self.format.json());
        let mut fetched = link.fetch(&path, &options, &mut |view| show.take(view));
        if let Err(FetchError::Link { error: LinkError::Failed(Failure::Recording), .. }) = &fetched {
            interrupt::await_no_more();
            self.permit()?;
            interrupt::await_it();
            options.may_stop = true;
            fetched = link.fetch(&path, &options, &mut |view| show.take(view));
        }
        let last = show.finish();
        match fetched {
            Ok(fetched) => self.report(&fetched, screen),
            Err(FetchError::Link { error, path, held: Some((held, size)), autostart_left_off: left }) if held > 0 => {
                warn(left, screen);
                let part = PartialDownload { path, held, size, elapsed: last.elapsed, progress: last.progress };
                self.report_part(&error, &part, screen)
            }
            Err(FetchError::Link { error, autostart_left_off, .. }) => {
                warn(autostart_left_off, screen);
                if matches!(error, LinkError::Stopped) {
                    interrupt::unwind();
                }
                Err(complain(error).into())
            }
            Err(error) => Err(Complaint::failed("fetch", error.to_string()).help_if(error.help()).into()),
        }
    }

    /// Asks whether to stop the recording.
    fn permit(&self) -> Result<()> {
        match ask("The board is recording. Stop the recording and download it?", self.format.json())? {
            Some(true) => Ok(()),
            Some(false) => Err(declined().into()),
            None => {
                let message = "the board is recording, and downloading would stop the recording";
                let help = "add --stop to stop and download it; a stopped recording cannot be resumed";
                Err(Complaint::failed("recording", message).help(help).into())
            }
        }
    }

    /// Reports a complete download.
    fn report(&self, fetched: &Fetched, screen: &mut Screen) -> Result<Outcome> {
        let progress = fetched.view.fetch.clone().unwrap_or_default();
        let path = shown(&fetched.path);
        if self.format.json() {
            let counts = (fetched.samples, fetched.samples, fetched.before);
            screen.out.json(&as_json(path, counts, &progress, fetched.elapsed, None))?;
        } else {
            writeln!(screen.out, "{path}")?;
            screen.out.flush()?;
            let mut text = format!("{} in {}", counted(fetched.samples.into(), "sample"), time(fetched.elapsed));
            if fetched.before > 0 {
                text += &format!(", {} of them from before", fetched.before);
            }
            text += &figures(&progress);
            screen.notes.note("fetched", text);
            if fetched.samples == 0 {
                screen.notes.note("note", "the recording is empty: ride and step off, or run `logpose refloat start`");
            } else {
                screen.notes.note("next", format!("logpose refloat explain {}", typed(&fetched.path)));
            }
        }
        warn(fetched.autostart_left_off, screen);
        Ok(Outcome::Done)
    }

    /// Reports a partial download, its cause and how to continue.
    fn report_part(&self, error: &LinkError, part: &PartialDownload, screen: &mut Screen) -> Result<Outcome> {
        let path = shown(&part.path);
        if self.format.json() {
            let counts = (part.size, part.held, part.progress.before);
            screen.out.json(&as_json(path.clone(), counts, &part.progress, part.elapsed, Some(error.to_string())))?;
        } else {
            writeln!(screen.out, "{path}")?;
        }
        screen.out.flush()?;
        let message = format!("{error}; {path} has {} of {} samples", part.held, part.size);
        let address = self.reach.address.as_deref().map(|address| format!("{} ", typed(address.as_ref())));
        let help =
            format!("run `logpose refloat fetch {}-o {}` to continue", address.unwrap_or_default(), typed(&part.path));
        screen.notes.error("partial", &message, None, Some(&help));
        if matches!(error, LinkError::Stopped) {
            interrupt::unwind();
        }
        Ok(Outcome::Damage)
    }
}

/// Warns that the settings of the board could not be restored.
fn warn(autostart_left_off: bool, screen: &Screen) {
    if autostart_left_off {
        screen.notes.note("warning", Event::NotRestored);
    }
}

/// The extent of a partial download.
struct PartialDownload {
    path: PathBuf,
    held: u32,
    size: u32,
    elapsed: Duration,
    progress: Progress,
}

/// `refloat_2026-07-16_12-59-59.rfrec`, as VESC Tool names its logs.
fn named() -> PathBuf {
    format!("refloat_{}.rfrec", Zoned::now().strftime("%Y-%m-%d_%H-%M-%S")).into()
}

fn time(elapsed: Duration) -> String {
    duration(i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX))
}

/// Speed and repeated requests.
fn figures(progress: &Progress) -> String {
    let mut text = format!(", {}", bytes(progress.bytes));
    if progress.retries > 0 {
        text += &format!(", repeated {} of {} requests", progress.retries, progress.requests);
    }
    if progress.interruptions > 0 {
        text += &format!(", lost the link {}", counted(progress.interruptions.into(), "time"));
    }
    text
}

fn as_json(
    output: String,
    (size, samples, before): (u32, u32, u32),
    progress: &Progress,
    elapsed: Duration,
    error: Option<String>,
) -> render::Fetched {
    let seconds = elapsed.as_secs_f64();
    render::Fetched {
        output,
        complete: error.is_none(),
        size: u64::from(size).into(),
        samples: u64::from(samples).into(),
        resumed_from: u64::from(before).into(),
        bytes: progress.bytes.into(),
        requests: progress.requests.into(),
        retries: progress.retries.into(),
        interruptions: progress.interruptions,
        elapsed_s: seconds,
        bytes_per_s: if seconds > 0.0 { crate::human::lossy(progress.bytes) / seconds } else { 0.0 },
        round_trip_ms: progress.round_trip.map(|time| time.as_secs_f64() * 1e3),
        error,
    }
}

/// A progress bar on a terminal.
struct Show {
    bar: Option<ProgressBar>,
    notes: Notes,
    last: Last,
}

#[derive(Default)]
struct Last {
    elapsed: Duration,
    progress: Progress,
}

impl Show {
    fn new(notes: Notes, json: bool) -> Self {
        let wanted = !json && !notes.quiet && io::stderr().is_terminal();
        let bar = wanted.then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{bar:24} {percent:>3} %  {msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { bar, notes, last: Last::default() }
    }

    /// Updates the bar.
    fn take(&mut self, view: &LinkView) -> ControlFlow<()> {
        self.last.elapsed = view.elapsed;
        if let Some(progress) = &view.client.fetch {
            self.last.progress = progress.clone();
            self.draw(progress);
        }
        for event in &view.news {
            match event {
                Event::Interrupted | Event::Changed(_) => self.event("note", event),
                Event::Print(_) if self.notes.verbose => self.event("note", event),
                _ => {}
            }
        }
        if interrupt::is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn draw(&self, progress: &Progress) {
        let (Some(bar), Some(size)) = (&self.bar, progress.size) else { return };
        bar.set_length(size.into());
        bar.set_position(progress.received.into());
        let mut text = format!("{} of {} samples", progress.received, size);
        if progress.rate > 0.0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate for people")]
            let rate = progress.rate as u64;
            text += &format!("  {}/s", bytes(rate));
        }
        text += &progress.left.map(|left| format!("  {} left", time(left))).unwrap_or_default();
        bar.set_message(text);
    }

    fn event(&self, word: &str, event: &Event) {
        match &self.bar {
            Some(bar) => bar.suspend(|| self.notes.note(word, event)),
            None => self.notes.note(word, event),
        }
    }

    /// Clears the bar and returns the final progress.
    fn finish(self) -> Last {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.last
    }
}
