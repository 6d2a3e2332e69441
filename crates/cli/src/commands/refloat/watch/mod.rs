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
use crate::args::Form;
use crate::commands::live::Keys;
use crate::failure::{Complaint, Outcome};
use crate::human::duration;
use crate::interrupt;
use crate::render::refloat as render;
use crate::screen::Screen;

/// Watch a board: speed, duty, currents, angles, footpads, temperatures, its recorder
///
/// On a terminal it is drawn, and keys do something: q ends, r starts recording (after a question, for that erases), s stops
/// recording, space freezes what is shown. Elsewhere there is a line each second. Nothing but questions is sent to the
/// board unless a key asks for it. `logpose record refloat+tcp://HOST` records the same values.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat watch /dev/ttyACM0
  logpose refloat watch 192.168.4.1 --period 50ms
  logpose refloat watch 192.168.4.1 --json --every 200ms --duration 10s")]
pub(super) struct Watch {
    #[command(flatten)]
    reach: Reach,
    /// How often the board is asked
    #[arg(long, value_name = "DURATION", default_value = "100ms")]
    period: String,
    /// How often a line is printed where there is no terminal
    #[arg(long, value_name = "DURATION", default_value = "1s")]
    every: String,
    /// End after so long
    #[arg(long, value_name = "DURATION")]
    duration: Option<String>,
    #[command(flatten)]
    form: Form,
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
        let drawn = !self.form.json() && io::stdout().is_terminal();
        let canvas = if drawn { Some(Canvas::new(screen.out.color)?) } else { None };
        let keys = Keys::new(drawn && io::stdin().is_terminal());
        let mut state = State {
            handle,
            look: Look::new(&address),
            canvas,
            json: self.form.json(),
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

/// A board that is watched.
struct State {
    handle: LinkHandle,
    look: Look,
    canvas: Option<Canvas>,
    json: bool,
    every: Duration,
    /// When a line is due.
    next: Instant,
    /// What waits for an answer to a question.
    asked: Option<Control>,
    quit: bool,
    elapsed: Duration,
}

impl State {
    /// Does what a key means.
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
            self.look.face.tell(format!("refused: {refused}"));
        }
    }

    /// Takes what is new, and shows it.
    fn step(&mut self, figures: &LinkFigures, screen: &mut Screen) -> io::Result<()> {
        let view = self.handle.view();
        while let Some(event) = self.handle.poll_event() {
            if let Event::Failed { failure, .. } = &event {
                self.look.failure = Some(failure.to_string());
            }
            if let Some((what, text)) = told(&event) {
                self.tell(what, &text, screen)?;
            }
        }
        let before = self.look.face.trouble.clone();
        if let Some(alert) = self.look.take(&view, figures, self.elapsed) {
            self.tell("alert", &alert, screen)?;
        }
        if let Some(trouble) = self.look.face.trouble.clone().filter(|_| self.look.face.trouble != before) {
            self.tell("waiting", &format!("{trouble}; trying again"), screen)?;
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

    fn tell(&mut self, what: &str, text: &str, screen: &mut Screen) -> io::Result<()> {
        if self.json {
            screen.out.json_line(&render::News { event: "news", what, text })?;
            return screen.out.flush();
        }
        match &self.canvas {
            Some(_) => self.look.face.tell(format!("{what}: {text}")),
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

    /// Says the last of it. One that never answered was not watched, unless somebody saw that and had enough.
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
        Err(Complaint::failed("no-board", format!("no live values came from {address}{why}")).into())
    }
}

const QUESTION: &str = "Recording anew erases the recording that is on the board. Record?";

/// What of all that happens is told.
fn told(event: &Event) -> Option<(&'static str, String)> {
    match event {
        Event::Print(text) => Some(("print", text.clone())),
        Event::Done(task) => Some(("done", task.to_string())),
        Event::Failed { .. } => Some(("failed", event.to_string())),
        _ => None,
    }
}
