//! The recorder: how it is, and what it is told.

use std::ops::ControlFlow;

use anyhow::Result;
use clap::{Args, ValueEnum};
use logpose_live::refloat::BoardLink;
use logpose_live::refloat::session::{ClientView, RecorderState};
use logpose_live::refloat::wire::Control;

use super::ask::{ask, declined};
use super::reach::{Reach, complain};
use crate::args::Form;
use crate::failure::{Complaint, Outcome};
use crate::render::refloat as render;
use crate::screen::Screen;
use crate::table::{Align, Table};

/// Tell how the recorder of a board is
///
/// Whether it records, whether stepping on and off starts and stops it, and from 1.3 on how long a recording lasts.
/// Nothing is changed at the board.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat status /dev/ttyACM0
  logpose refloat status 192.168.4.1 --json | jq .recorder.recording")]
pub(super) struct Status {
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    form: Form,
}

/// Start recording, which erases the recording that is there
///
/// A board has room for one recording. It is asked for on a terminal, and elsewhere needs --yes. The recording goes on until
/// `logpose refloat stop`, or until the board disengages if autostop is on; what is older than the buffer is long falls out of it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat start 192.168.4.1 --yes
  logpose refloat start /dev/ttyACM0 --yes --json")]
pub(super) struct Start {
    #[command(flatten)]
    reach: Reach,
    /// Do not ask: the recording that is there may be erased
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    form: Form,
}

/// Stop recording
///
/// What was recorded stays on the board until the next recording begins, or until it is switched off. A recording that is
/// stopped cannot be gone on with.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat stop 192.168.4.1")]
pub(super) struct Stop {
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    form: Form,
}

/// Say whether stepping on the board starts a recording
///
/// It does after the board was switched on. A recording that starts erases the one before: switch this off to keep one
/// until it is fetched. The board forgets it when it is switched off.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat autostart off 192.168.4.1
  logpose refloat autostart on /dev/ttyACM0")]
pub(super) struct Autostart {
    /// on or off
    #[arg(value_name = "on|off", hide_possible_values = true)]
    switch: Switch,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    form: Form,
}

/// Say whether the recording stops when the board disengages
///
/// It does after the board was switched on, so that a recording ends with the last moment before a fall. Without it a
/// recording goes on, and what came before falls out of the buffer after some seconds.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat autostop on 192.168.4.1
  logpose refloat autostop off /dev/ttyACM0")]
pub(super) struct Autostop {
    /// on or off
    #[arg(value_name = "on|off", hide_possible_values = true)]
    switch: Switch,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    form: Form,
}

/// Record only every so manyth step, so that a recording lasts longer (1.3)
///
/// A board chooses it such that a recording lasts a little under ten seconds. How long it lasts then is told.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat decimation 1 192.168.4.1              every step, for a moment
  logpose refloat decimation 10 /dev/ttyACM0")]
pub(super) struct Decimation {
    /// Every so manyth step, 1 to 255
    #[arg(value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    every: u8,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    form: Form,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Status {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let link = self.reach.link()?;
        let view = link.status(&mut |_| ControlFlow::Continue(())).map_err(complain)?;
        print(&link, &view, &self.form, screen)
    }
}

impl Start {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let link = self.reach.link()?;
        if !self.yes {
            match ask("Starting erases the recording that is on the board. Start?", self.form.json())? {
                Some(true) => {}
                Some(false) => return Err(declined().into()),
                None => {
                    let message = "starting erases the recording that is on the board, and nobody can be asked here";
                    let help = "`logpose refloat fetch` saves it; --yes starts without a question";
                    return Err(Complaint::usage(message).help(help).into());
                }
            }
        }
        tell(&link, Control::Record(true), &self.form, screen)
    }
}

impl Stop {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        tell(&self.reach.link()?, Control::Record(false), &self.form, screen)
    }
}

impl Autostart {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let on = self.switch == Switch::On;
        let link = self.reach.link()?;
        if on {
            screen.notes.note("warning", "stepping on the board erases the recording that is on it");
        }
        tell(&link, Control::Autostart(on), &self.form, screen)
    }
}

impl Autostop {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        tell(&self.reach.link()?, Control::Autostop(self.switch == Switch::On), &self.form, screen)
    }
}

impl Decimation {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        tell(&self.reach.link()?, Control::Decimation(self.every), &self.form, screen)
    }
}

/// Tells the recorder something, and prints how it is then.
fn tell(link: &BoardLink, control: Control, form: &Form, screen: &mut Screen) -> Result<Outcome> {
    let view = link.control(control, &mut |_| ControlFlow::Continue(())).map_err(complain)?;
    print(link, &view, form, screen)
}

fn print(link: &BoardLink, view: &ClientView, form: &Form, screen: &mut Screen) -> Result<Outcome> {
    if form.json() {
        let recorder = (&view.recorder).into();
        screen.out.json(&render::Status { address: link.address().to_string(), recorder })?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    for (name, text) in words(&view.recorder) {
        table.row(vec![name.to_owned(), text]);
    }
    table.print("", &mut screen.out)?;
    Ok(Outcome::Done)
}

/// What is known of a recorder, by name.
fn words(state: &RecorderState) -> Vec<(&'static str, String)> {
    let said =
        |word: Option<bool>, yes: &str, no: &str| word.map_or("unknown", |word| if word { yes } else { no }).to_owned();
    let mut words = vec![
        ("recording", said(state.recording, "yes", "no")),
        ("autostart", said(state.autostart, "on", "off")),
        ("autostop", said(state.autostop, "on", "off")),
    ];
    words.extend(state.decimation.map(|every| ("decimation", every.to_string())));
    words.extend(state.duration().map(|time| ("lasts", format!("{:.1} s", time.as_secs_f64()))));
    words
}
