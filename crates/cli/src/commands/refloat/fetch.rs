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
use crate::args::Form;
use crate::commands::shown;
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, counted, duration, typed};
use crate::interrupt;
use crate::render::refloat as render;
use crate::screen::{Notes, Screen};

/// Save the recording of a board, whole or as far as the link allows
///
/// Asks for the samples in pieces, several at once where the link allows, again where one is lost, and keeps every one that
/// came: when the link breaks, the same command with the same -o goes on where it ended, unless the board has recorded
/// anew meanwhile. While it fetches, the board does not begin a new recording when somebody steps on it.
///
/// Asking a board that is recording for its recording ends that. It is asked first on a terminal, and elsewhere needs --stop.
///
/// It exits with 3 if a part is missing.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat fetch /dev/ttyACM0                    into refloat_ with the date and the time
  logpose refloat fetch 192.168.4.1 -o ride.rfrec
  logpose refloat fetch refloat+tcp://192.168.4.1 -o ride.rfrec --stop --json")]
pub(super) struct Fetch {
    #[command(flatten)]
    reach: Reach,
    /// The file; one that is not whole is gone on with
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// End the recording if the board is recording, without a question
    #[arg(long, visible_alias = "yes")]
    stop: bool,
    /// Leave autostart as it is: stepping on the board meanwhile erases what is being fetched
    #[arg(long)]
    no_protect: bool,
    /// What is to be noted in the file
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    form: Form,
}

impl Fetch {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let link = self.reach.link()?;
        let path = self.output.clone().unwrap_or_else(named);
        let mut options =
            FetchOptions { force: self.force, may_stop: self.stop, protect: !self.no_protect, note: self.note.clone() };
        interrupt::await_it();
        let mut show = Show::new(screen.notes, self.form.json());
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
            Ok(fetched) => self.tell(&fetched, screen),
            Err(FetchError::Link { error, path, held: Some((held, size)), autostart_left_off: left }) if held > 0 => {
                warn(left, screen);
                let part = Part { path, held, size, elapsed: last.elapsed, progress: last.progress };
                self.tell_part(&error, &part, screen)
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

    /// Asks whether the board may be stopped.
    fn permit(&self) -> Result<()> {
        match ask("The board is recording, and fetching ends that. Stop it?", self.form.json())? {
            Some(true) => Ok(()),
            Some(false) => Err(declined().into()),
            None => {
                let message = "the board is recording, and fetching ends that";
                let help = "--stop ends it and fetches; a recording that was ended cannot be gone on with";
                Err(Complaint::failed("recording", message).help(help).into())
            }
        }
    }

    /// Tells that all is there.
    fn tell(&self, fetched: &Fetched, screen: &mut Screen) -> Result<Outcome> {
        let progress = fetched.view.fetch.clone().unwrap_or_default();
        let path = shown(&fetched.path);
        if self.form.json() {
            let counts = (fetched.samples, fetched.samples, fetched.before);
            screen.out.json(&as_json(path, counts, &progress, fetched.elapsed, None))?;
        } else {
            writeln!(screen.out, "{path}")?;
            screen.out.flush()?;
            let mut text = format!("{} in {}", counted(fetched.samples.into(), "sample"), time(fetched.elapsed));
            if fetched.before > 0 {
                text += &format!(", {} of them before", fetched.before);
            }
            text += &figures(&progress);
            screen.notes.note("fetched", text);
            if fetched.samples == 0 {
                screen.notes.note("note", "nothing was recorded: ride, and step off, or use `logpose refloat start`");
            } else {
                screen.notes.note("next", format!("logpose refloat explain {}", typed(&fetched.path)));
            }
        }
        warn(fetched.autostart_left_off, screen);
        Ok(Outcome::Done)
    }

    /// Tells that a part is there, why not all, and how it goes on.
    fn tell_part(&self, error: &LinkError, part: &Part, screen: &mut Screen) -> Result<Outcome> {
        let path = shown(&part.path);
        if self.form.json() {
            let counts = (part.size, part.held, part.progress.before);
            screen.out.json(&as_json(path.clone(), counts, &part.progress, part.elapsed, Some(error.to_string())))?;
        } else {
            writeln!(screen.out, "{path}")?;
        }
        screen.out.flush()?;
        let message = format!("{error}; {path} has {} of {} samples", part.held, part.size);
        let address = self.reach.address.as_deref().map(|address| format!("{} ", typed(address.as_ref())));
        let help = format!(
            "`logpose refloat fetch {}-o {}` goes on where it ended",
            address.unwrap_or_default(),
            typed(&part.path)
        );
        screen.notes.error("partial", &message, None, Some(&help));
        if matches!(error, LinkError::Stopped) {
            interrupt::unwind();
        }
        Ok(Outcome::Damage)
    }
}

/// Says that the board was left other than it was found.
fn warn(autostart_left_off: bool, screen: &Screen) {
    if autostart_left_off {
        screen.notes.note("warning", Event::NotRestored);
    }
}

/// What is there of a recording.
struct Part {
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

/// How fast it was, and what had to be asked again.
fn figures(progress: &Progress) -> String {
    let mut text = format!(", {}", bytes(progress.bytes));
    if progress.retries > 0 {
        text += &format!(", {} of {} requests were sent again", progress.retries, progress.requests);
    }
    if progress.interruptions > 0 {
        text += &format!(", the link was lost {}", counted(progress.interruptions.into(), "time"));
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

/// How it goes: a bar on a terminal.
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

    /// Looks how it goes.
    fn take(&mut self, view: &LinkView) -> ControlFlow<()> {
        self.last.elapsed = view.elapsed;
        if let Some(progress) = &view.client.fetch {
            self.last.progress = progress.clone();
            self.draw(progress);
        }
        for event in &view.news {
            match event {
                Event::Interrupted | Event::Changed(_) => self.tell("note", event),
                Event::Print(_) if self.notes.verbose => self.tell("note", event),
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

    fn tell(&self, word: &str, event: &Event) {
        match &self.bar {
            Some(bar) => bar.suspend(|| self.notes.note(word, event)),
            None => self.notes.note(word, event),
        }
    }

    /// Takes the bar off the screen. How it was at last.
    fn finish(self) -> Last {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.last
    }
}
