//! `logpose refloat watch`.

mod bars;
mod canvas;
mod face;
mod line;
mod look;

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use crossterm::event::{KeyCode, KeyModifiers};
use logpose_live::refloat::LinkHandle;
use logpose_live::refloat::session::{ClientView, Event, Job, LiveOptions};
use logpose_live::refloat::wire::Control;
use logpose_live::{Join, LinkFigures, Live};

use self::canvas::Canvas;
use self::look::Look;
use super::reach::{Reach, span};
use crate::args::OutputFormat;
use crate::commands::live::Keys;
use crate::failure::{Complaint, Outcome};
use crate::human::duration;
use crate::interrupt;
use crate::render::refloat as render;
use crate::screen::Screen;

/// Watch live values of a board
///
/// Shows speed, duty cycle, currents, angles, footpads, temperatures and the recorder. Keys in a terminal: q quits, r starts
/// recording (asks first, because that erases the recording on the board), s stops recording, space freezes the display.
/// Without a terminal it prints a line each second. logpose only reads from the board unless you press r or s. To record the
/// same values, use `logpose record refloat+tcp://HOST`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat watch /dev/ttyACM0
  logpose refloat watch 192.168.4.1 --period 50ms
  logpose refloat watch 192.168.4.1 --json --every 200ms --duration 10s")]
pub(super) struct Watch {
    #[command(flatten)]
    reach: Reach,
    /// Polling interval
    #[arg(long, value_name = "DURATION", default_value = "100ms")]
    period: String,
    /// Interval between lines without a terminal
    #[arg(long, value_name = "DURATION", default_value = "1s")]
    every: String,
    /// Stop after this time
    #[arg(long, value_name = "DURATION")]
    duration: Option<String>,
    #[command(flatten)]
    format: OutputFormat,
}

impl Watch {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let link = self.reach.link()?;
        let (period, every) = (span(&self.period)?, span(&self.every)?);
        let limit = self.duration.as_deref().map(span).transpose()?;
        let address = link.address().to_string();
        let live = Live::new()?;
        let (source, handle) = link.into_source(live.clock(), LiveOptions { period });
        interrupt::await_it();
        let drawn = !self.format.json() && io::stdout().is_terminal();
        let canvas = if drawn { Some(Canvas::new(screen.out.color)?) } else { None };
        let keys = Keys::new(drawn && io::stdin().is_terminal());
        let mut state = State {
            handle,
            look: Look::new(&address),
            canvas,
            json: self.format.json(),
            every,
            next: Instant::now(),
            asked: None,
            quit: false,
            elapsed: Duration::ZERO,
        };
        let mut failed = Ok(());
        live.listen(vec![source], Join::single(), &[], &mut |mut progress| {
            state.elapsed = progress.elapsed;
            let figures = progress.sources.pop().unwrap_or_default().link;
            while let Some((code, modifiers)) = drawn.then(|| keys.press(Duration::ZERO)).flatten() {
                state.press(code, modifiers);
            }
            failed = state.step(&figures, screen);
            let late = limit.is_some_and(|limit| progress.elapsed >= limit);
            let over = late || state.quit || failed.is_err() || interrupt::is_raised();
            if over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        drop(keys);
        state.canvas = None;
        failed?;
        state.conclude(&address, screen)
    }
}

/// A watched board.
struct State {
    handle: LinkHandle,
    look: Look,
    canvas: Option<Canvas>,
    json: bool,
    every: Duration,
    /// When the next line is due.
    next: Instant,
    /// The action that waits for confirmation.
    asked: Option<Control>,
    quit: bool,
    elapsed: Duration,
}

impl State {
    /// Handles a key.
    fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        if let Some(control) = self.asked.take() {
            self.look.face.question = None;
            if matches!(code, KeyCode::Char('y' | 'Y')) {
                self.command(control);
            }
            return;
        }
        match code {
            KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => self.quit = true,
            KeyCode::Char('q') | KeyCode::Esc => self.quit = true,
            KeyCode::Char(' ') => self.look.face.frozen = !self.look.face.frozen,
            KeyCode::Char('r') => {
                self.asked = Some(Control::Record(true));
                self.look.face.question = Some(QUESTION.to_owned());
            }
            KeyCode::Char('s') => self.command(Control::Record(false)),
            _ => {}
        }
    }

    fn command(&mut self, control: Control) {
        if let Err(refused) = self.handle.command(Job::Control(control)) {
            self.look.face.message(format!("refused: {refused}"));
        }
    }

    /// Takes the new state and shows it.
    fn step(&mut self, figures: &LinkFigures, screen: &mut Screen) -> io::Result<()> {
        let view = self.handle.view();
        while let Some(event) = self.handle.poll_event() {
            if let Event::Failed { failure, .. } = &event {
                self.look.failure = Some(failure.to_string());
            }
            if let Some((what, text)) = described(&event) {
                self.event(what, &text, screen)?;
            }
        }
        let before = self.look.face.trouble.clone();
        if let Some(alert) = self.look.take(&view, figures, self.elapsed) {
            self.event("alert", &alert, screen)?;
        }
        if let Some(trouble) = self.look.face.trouble.clone().filter(|_| self.look.face.trouble != before) {
            self.event("waiting", &format!("{trouble}; retrying"), screen)?;
        }
        if let Some(canvas) = &mut self.canvas {
            return canvas.draw(&self.look.face);
        }
        if Instant::now() >= self.next && (self.look.is_known() || self.json && self.look.face.trouble.is_some()) {
            self.next = Instant::now() + self.every;
            self.line("live", &view, screen)?;
        }
        Ok(())
    }

    fn event(&mut self, what: &str, text: &str, screen: &mut Screen) -> io::Result<()> {
        if self.json {
            screen.out.json_line(&render::News { event: "news", what, text })?;
            return screen.out.flush();
        }
        match &self.canvas {
            Some(_) => self.look.face.message(format!("{what}: {text}")),
            None => screen.notes.note(what, text),
        }
        Ok(())
    }

    fn line(&self, event: &'static str, view: &ClientView, screen: &mut Screen) -> io::Result<()> {
        if self.json {
            screen.out.json_line(&self.look.as_json(event, view, self.elapsed))?;
        } else {
            let elapsed = duration(i64::try_from(self.elapsed.as_nanos()).unwrap_or(i64::MAX));
            writeln!(screen.out, "{elapsed:>8}  {}", self.look.face.line())?;
        }
        screen.out.flush()
    }

    /// Ends the display. A board that never answered is an error, unless the user quit.
    fn conclude(&self, address: &str, screen: &mut Screen) -> Result<Outcome> {
        let view = self.handle.view();
        if self.json {
            self.line("done", &view, screen)?;
        }
        if view.live_replies > 0 || self.quit {
            return Ok(Outcome::Done);
        }
        let why = match (&self.look.face.trouble, &self.look.failure) {
            (Some(trouble), _) | (None, Some(trouble)) => format!(": {trouble}"),
            (None, None) => String::new(),
        };
        Err(Complaint::failed("no-board", format!("no live values received from {address}{why}")).into())
    }
}

const QUESTION: &str = "A new recording erases the recording on the board. Record?";

/// Which events are shown.
fn described(event: &Event) -> Option<(&'static str, String)> {
    match event {
        Event::Print(text) => Some(("print", text.clone())),
        Event::Done(task) => Some(("done", task.to_string())),
        Event::Failed { .. } => Some(("failed", event.to_string())),
        _ => None,
    }
}
