use std::io::Write;
use std::ops::ControlFlow;

use anyhow::Result;
use clap::Args;
use logpose_live::refloat::LinkError;
use logpose_live::refloat::session::ClientView;
use logpose_live::refloat::wire::{self, capability};

use super::reach::{Reach, complain};
use crate::args::OutputFormat;
use crate::failure::Outcome;
use crate::human::clean;
use crate::render::refloat as render;
use crate::screen::{GOOD, STRONG, Screen, WARNING};
use crate::table::{Align, Table};

/// Identify a board and check whether it can record
///
/// Shows firmware, hardware, package, capabilities and the state of the recorder. Changes nothing on the board.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat info /dev/ttyACM0
  logpose refloat info refloat+tcp://192.168.4.1
  logpose refloat info 192.168.4.1 --json | jq .missing")]
pub(super) struct Info {
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    format: OutputFormat,
}

impl Info {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let link = self.reach.link()?;
        let mut patient = |_: &_| ControlFlow::Continue(());
        let mut view = link.identify(&mut patient).map_err(complain)?;
        if view.missing.is_none() {
            // The CAN id is already known here.
            match self.reach.link_by(view.can)?.status(&mut patient) {
                Ok(known) => view = known,
                // Show what was received before the link failed.
                Err(LinkError::Failed(failure)) => view.missing = Some(failure),
                Err(error) => return Err(complain(error).into()),
            }
        }
        let address = link.address().to_string();
        if self.format.json() {
            screen.out.json(&as_json(address, &view))?;
        } else {
            print(&address, &view, screen)?;
        }
        Ok(Outcome::Done)
    }
}

fn print(address: &str, view: &ClientView, screen: &mut Screen) -> Result<()> {
    let out = &mut screen.out;
    let name = view.info.as_ref().map_or_else(|| "a board".to_owned(), ToString::to_string);
    writeln!(out, "{} at {}", out.paint(STRONG, clean(&name)), clean(address))?;
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let mut row = |name: &str, text: String| table.row(vec![name.to_owned(), clean(&text).into_owned()]);
    if let Some(firmware) = &view.firmware {
        let kind = firmware.hardware_type.map(|kind| format!(" ({kind})")).unwrap_or_default();
        row("firmware", format!("{firmware}{kind}"));
        if let Some(id) = firmware.unique_id {
            row("unique id", hex(&id));
        }
    }
    if let Some(can) = view.can {
        row("reached", format!("over CAN, id {can}"));
    }
    if let Some(package) = view.info.as_ref().map(package) {
        if let Some(commit) = package.commit {
            row("commit", commit);
        }
        if let Some(can_do) = package.capabilities.filter(|list| !list.is_empty()) {
            row("has", can_do.join(", "));
        }
    }
    if view.missing.is_none() {
        row("recorder", view.recorder.to_string());
    }
    if let Some(time) = view.round_trip {
        row("answers", format!("in {:.1} ms", time.as_secs_f64() * 1e3));
    }
    table.print("  ", out)?;
    match &view.missing {
        None => writeln!(out, "{}", out.paint(GOOD, "ready to record"))?,
        Some(missing) => writeln!(out, "{} {missing}", out.paint(WARNING, "cannot record:"))?,
    }
    Ok(())
}

fn as_json(address: String, view: &ClientView) -> render::Board {
    let firmware = view.firmware.as_ref().map(|firmware| render::Firmware {
        version: format!("{}.{:02}", firmware.major, firmware.minor),
        name: firmware.firmware.clone().filter(|name| !name.is_empty()),
        hardware: firmware.hardware.clone(),
        kind: firmware.hardware_type.map(|kind| kind.to_string()),
        unique_id: firmware.unique_id.map(|id| hex(&id)),
    });
    render::Board {
        address,
        can: view.can,
        firmware,
        package: view.info.as_ref().map(package),
        can_record: view.missing.is_none(),
        missing: view.missing.as_ref().map(ToString::to_string),
        recorder: view.missing.is_none().then(|| (&view.recorder).into()),
        round_trip_ms: view.round_trip.map(|time| time.as_secs_f64() * 1e3),
    }
}

fn package(info: &wire::Info) -> render::Package {
    let version = info.version();
    let (name, version, commit, capabilities) = match info {
        wire::Info::V1(_) => ("Refloat".to_owned(), format!("{}.{}", version.major, version.minor), None, None),
        wire::Info::V2(long) => {
            let has = [
                (capability::RECORDER, "recording"),
                (capability::LEDS, "lights"),
                (capability::EXTERNAL_LEDS, "external lights"),
                (capability::GNSS, "satellite navigation"),
            ];
            let has = has.iter().filter(|(bit, _)| long.capabilities & bit != 0).map(|(_, name)| *name).collect();
            (long.name.clone(), version.to_string(), Some(format!("{:08x}", long.commit)), Some(has))
        }
    };
    render::Package { name, version, commit, tick_rate_hz: info.tick_rate(), capabilities }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
