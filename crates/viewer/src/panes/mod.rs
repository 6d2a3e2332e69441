//! Which channels each view shows first, chosen by what the log has of them.

mod evidence;
mod frc;
mod others;
#[cfg(test)]
mod tests;
mod words;

use logpose::frc::has_messages;

use self::evidence::{Evidence, Known};
use crate::Viewer;
use crate::api::{self, LogState, Preset, Reference};
use crate::error::RequestError;
use crate::session::OpenLog;

impl Viewer {
    /// The views that suit a log and the channels each of them shows first; `preset` instead of the one of the log.
    ///
    /// Channels are chosen by their samples, whether they vary, type, unit and name. What would be empty is left out.
    pub fn panes(&self, log: usize, query: &api::PanesQuery) -> Result<api::Panes, RequestError> {
        let session = self.session();
        let member = session.log(log)?;
        let preset = query.preset.unwrap_or_else(|| member.store.about().preset);
        choose(log, member, preset)
    }
}

fn choose(log: usize, member: &OpenLog, preset: Preset) -> Result<api::Panes, RequestError> {
    let evidence = Evidence::of(&*member.store);
    let mut choice = Choice { log, panes: Vec::new() };
    match preset {
        Preset::Frc => frc::robot(&evidence, &mut choice),
        Preset::Ds => frc::station(&evidence, &mut choice),
        Preset::Carla => others::carla(&evidence, &member.store.about().facts, &mut choice),
        Preset::Refloat => others::refloat(&evidence, &mut choice),
        Preset::General => {}
    }
    // A log that has nothing of what is usual is shown for what it has.
    if !choice.panes.iter().any(|pane| matches!(pane.view, "graph" | "carla")) {
        others::numbers(&evidence, &mut choice);
        others::table(&evidence, &mut choice);
    }
    let grows = member.store.state() != LogState::Finished;
    if grows || !member.store.findings()?.events.is_empty() {
        choice.view("events", "events");
    }
    let speaks = preset != Preset::Carla && preset != Preset::Refloat;
    if speaks && (grows || evidence.channels.iter().any(|known| has_messages(&known.name))) {
        choice.view("console", "console");
    }
    Ok(api::Panes { preset, panes: choice.panes })
}

/// The panes that are chosen so far.
struct Choice {
    log: usize,
    panes: Vec<api::Pane>,
}

/// A series in a pane.
struct Picked<'k> {
    known: &'k Known,
    path: String,
}

impl<'k> Picked<'k> {
    fn whole(known: &'k Known) -> Self {
        Self { known, path: String::new() }
    }
}

impl Choice {
    /// A view that needs no series.
    fn view(&mut self, name: &'static str, view: &'static str) {
        self.panes.push(api::Pane { name, view, title: String::new(), series: Vec::new() });
    }

    /// A view of some series, left out if there are none.
    fn show(&mut self, name: &'static str, view: &'static str, title: String, series: &[Picked<'_>]) {
        if series.is_empty() {
            return;
        }
        let reference = |one: &Picked<'_>| Reference {
            log: self.log,
            channel: one.known.id,
            path: (!one.path.is_empty()).then(|| one.path.clone()),
        };
        let series = series.iter().map(reference).collect();
        self.panes.push(api::Pane { name, view, title, series });
    }

    /// A graph, left out if it would have no line: states alone, or single samples, are none.
    fn graph(&mut self, name: &'static str, title: String, series: &[Picked<'_>]) {
        let line = |one: &Picked<'_>| one.known.kind != api::ValueKind::Boolean && one.known.samples > 1;
        if series.iter().any(line) {
            self.show(name, "graph", title, series);
        }
    }
}

/// The channel with the highest score, and of equals the first; none where no score is high enough.
fn best<'k>(channels: impl Iterator<Item = &'k Known>, score: impl Fn(&Known) -> Option<i64>) -> Option<&'k Known> {
    let scored = channels.filter_map(|known| Some((score(known)?, known)));
    let good = scored.filter(|(score, _)| *score >= ENOUGH);
    good.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, known)| known)
}

/// Names in a sentence: `Battery voltage, current and load`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// The lowest score that a channel is shown with.
const ENOUGH: i64 = 20;
