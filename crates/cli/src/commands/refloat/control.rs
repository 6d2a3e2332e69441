//! Recorder status and settings.

use std::ops::ControlFlow;

use anyhow::Result;
use clap::{Args, ValueEnum};
use logpose_live::refloat::BoardLink;
use logpose_live::refloat::session::{ClientView, RecorderState};
use logpose_live::refloat::wire::Control;

use super::ask::{ask, declined};
use super::reach::{Reach, complain};
use crate::args::OutputFormat;
use crate::failure::{Complaint, Outcome};
use crate::render::refloat as render;
use crate::screen::Screen;
use crate::table::{Align, Table};

/// Show the status of a board's recorder
///
/// Shows whether it is recording, whether autostart and autostop are on, and from Refloat 1.3 on the length of a full
/// recording. Changes nothing on the board.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat status /dev/ttyACM0
  logpose refloat status 192.168.4.1 --json | jq .recorder.recording")]
pub(super) struct Status {
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    format: OutputFormat,
}

/// Start recording, erasing the recording on the board
///
/// A board stores one recording. logpose asks for confirmation on a terminal and needs --yes elsewhere. The recording runs
/// until `logpose refloat stop`, or until the board disengages if autostop is on; when the buffer is full, new samples
/// replace the oldest.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat start 192.168.4.1 --yes
  logpose refloat start /dev/ttyACM0 --yes --json")]
pub(super) struct Start {
    #[command(flatten)]
    reach: Reach,
    /// Erase the recording on the board without asking
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// Stop recording
///
/// The recording stays on the board until the next one starts or the board is switched off. A stopped recording cannot be
/// resumed.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat stop 192.168.4.1")]
pub(super) struct Stop {
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    format: OutputFormat,
}

/// Set whether stepping on the board starts a recording
///
/// On by default. A new recording erases the one before: turn autostart off to keep a recording until you have fetched it.
/// The setting is lost when the board is switched off.
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
    format: OutputFormat,
}

/// Set whether the recording stops when the board disengages
///
/// On by default, so that a recording ends with the last moment before a fall. With autostop off the recording continues,
/// and after some seconds new samples replace those from before the fall.
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
    format: OutputFormat,
}

/// Record only every Nth step, for a longer recording (Refloat 1.3)
///
/// By default the board chooses N so that a recording lasts a little under ten seconds. Prints the new length.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat decimation 1 192.168.4.1              every step, for a short time
  logpose refloat decimation 10 /dev/ttyACM0")]
pub(super) struct Decimation {
    /// Record every Nth step, 1 to 255
    #[arg(value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    every: u8,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    format: OutputFormat,
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
        print(&link, &view, &self.format, screen)
    }
}

impl Start {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let link = self.reach.link()?;
        if !self.yes {
            match ask("Starting erases the recording on the board. Start?", self.format.json())? {
                Some(true) => {}
                Some(false) => return Err(declined().into()),
                None => {
                    let message = "starting erases the recording on the board, and there is no terminal to confirm it";
                    let help = "run `logpose refloat fetch` to save the recording, or add --yes to erase it";
                    return Err(Complaint::usage(message).help(help).into());
                }
            }
        }
        apply(&link, Control::Record(true), &self.format, screen)
    }
}

impl Stop {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        apply(&self.reach.link()?, Control::Record(false), &self.format, screen)
    }
}

impl Autostart {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let on = self.switch == Switch::On;
        let link = self.reach.link()?;
        if on {
            screen.notes.note("warning", "stepping on the board erases the recording on it");
        }
        apply(&link, Control::Autostart(on), &self.format, screen)
    }
}

impl Autostop {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        apply(&self.reach.link()?, Control::Autostop(self.switch == Switch::On), &self.format, screen)
    }
}

impl Decimation {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        apply(&self.reach.link()?, Control::Decimation(self.every), &self.format, screen)
    }
}

/// Changes a setting of the recorder and prints its status.
fn apply(link: &BoardLink, control: Control, format: &OutputFormat, screen: &mut Screen) -> Result<Outcome> {
    let view = link.control(control, &mut |_| ControlFlow::Continue(())).map_err(complain)?;
    print(link, &view, format, screen)
}

fn print(link: &BoardLink, view: &ClientView, format: &OutputFormat, screen: &mut Screen) -> Result<Outcome> {
    if format.json() {
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

/// Known settings of a recorder, by name.
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
