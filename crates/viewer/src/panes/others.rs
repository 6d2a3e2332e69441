use std::cmp::Reverse;

use super::evidence::{Evidence, Known};
use super::frc::battery;
use super::{Choice, Picked, listed};
use crate::api::ValueKind;
use crate::store::Fact;

/// The views of a traffic recording: the whole, and one actor more closely.
pub(super) fn carla(evidence: &Evidence<'_>, facts: &[Fact], choice: &mut Choice) {
    let hero = facts.iter().find(|fact| fact.name == "Hero").and_then(|fact| fact.text.split(' ').next());
    let of = |actor: &str, what: &str| evidence.named(&format!("/carla/actors/{actor}/{what}"));
    // Without a hero it is the vehicle that was steered most.
    let steered = evidence.channels.iter().filter(|known| known.leaf() == "vehicle");
    let steered = steered.max_by_key(|known| (known.samples, Reverse(known.id))).map(Known::parent);
    let hero = hero.filter(|hero| of(hero, "transform").is_some());
    let actor = hero.or(steered).unwrap_or_default();
    let about = if hero.is_some() { "hero".to_owned() } else { format!("actor {actor}") };
    let place = of(actor, "transform").or_else(|| evidence.channels.iter().find(|known| known.leaf() == "transform"));
    let place: Vec<Picked<'_>> = place.into_iter().map(Picked::whole).collect();
    choice.show("traffic", "carla", String::new(), &place);
    let parts = |what: &str, wanted: &[&str]| {
        let known = of(actor, what)?;
        let fields = evidence.fields(known);
        let fields = fields.iter().filter(|name| wanted.contains(&&***name));
        Some(fields.map(|name| Picked { known, path: format!(".{name}") }).collect::<Vec<_>>())
    };
    choice.graph("velocity", format!("Velocity of {about}"), &parts("velocity", &["vx", "vy"]).unwrap_or_default());
    let controls = parts("vehicle", &["steering", "throttle", "brake"]).unwrap_or_default();
    choice.graph("controls", format!("Controls of {about}"), &controls);
    choice.show("scene", "scene", String::new(), &place);
}

/// The views of a ride.
pub(super) fn refloat(evidence: &Evidence<'_>, choice: &mut Choice) {
    let some = |leaves: &[&str], most: usize| {
        let fits = |leaf: &&str| evidence.numbers().find(|known| known.leaf() == *leaf && known.samples > 1);
        leaves.iter().filter_map(fits).take(most).map(Picked::whole).collect::<Vec<_>>()
    };
    let balance = some(&["pitch", "balance_pitch", "setpoint", "roll"], 4);
    choice.graph("balance", "Balance".to_owned(), &balance);
    let mut duty = some(&["duty_cycle"], 1);
    duty.extend(some(&["erpm", "speed"], 1));
    choice.graph("duty", titled(&duty), &duty);
    let mut current = some(&["dir_current", "balance_current", "motor_current", "current"], 3);
    current.extend(some(&["batt_voltage"], 1));
    let battery = current.iter().any(|one| one.known.leaf() == "batt_voltage");
    let titles: &[&str] = if battery { &["Currents", "battery"] } else { &["Currents"] };
    choice.graph("current", listed(titles), &current);
    choice.show("board", "board", String::new(), &some(&["pitch"], 1));
}

/// The numbers that say most: many samples that vary, at most so many that two axes are enough, and none that would be a
/// flat line beside another one on its axis.
pub(super) fn numbers(evidence: &Evidence<'_>, choice: &mut Choice) {
    let shown = |known: &Known| choice.panes.iter().flat_map(|pane| &pane.series).any(|one| one.channel == known.id);
    // The same voltage, measured elsewhere, is shown already.
    let powered = choice.panes.iter().any(|pane| pane.name == "power");
    let again = |known: &Known| powered && battery(evidence, known).is_some();
    let unseen = evidence.numbers().filter(|known| !shown(known) && !is_clerical(known) && !again(known));
    let mut scored: Vec<(i64, &Known)> = unseen.map(|known| (interest(known), known)).collect();
    scored.sort_by_key(|(score, known)| (Reverse(*score), known.id));
    let mut chosen: Vec<&Known> = Vec::new();
    // Whether a channel varies costs a look at its samples.
    let mut least = i64::MIN;
    for (score, known) in scored.into_iter().take(LOOKED_AT) {
        if score < least {
            break;
        }
        let mut units: Vec<&Option<String>> = chosen.iter().copied().chain([known]).map(|known| &known.unit).collect();
        units.sort_unstable();
        units.dedup();
        let beside = chosen.iter().filter(|other| other.unit == known.unit).copied().chain([known]);
        if chosen.len() < SHOWN && units.len() <= AXES && evidence.varies(known, "") && fits(evidence, beside) {
            least = least.max(score - SPREAD);
            chosen.push(known);
        }
    }
    let series: Vec<Picked<'_>> = chosen.into_iter().map(Picked::whole).collect();
    choice.graph("numbers", titled(&series), &series);
}

/// Whether each of some series is more than a flat line on an axis of all of them.
fn fits<'k>(evidence: &Evidence<'_>, series: impl Iterator<Item = &'k Known>) -> bool {
    let extents: Vec<(f64, f64)> = series.filter_map(|known| evidence.extent(known, "")).collect();
    let low = extents.iter().fold(f64::INFINITY, |low, extent| low.min(extent.0));
    let high = extents.iter().fold(f64::NEG_INFINITY, |high, extent| high.max(extent.1));
    extents.iter().all(|extent| (extent.1 - extent.0) * FLAT >= high - low)
}

/// The first columns of a table of everything: those that change, numbers first, clocks last.
pub(super) fn table(evidence: &Evidence<'_>, choice: &mut Choice) {
    let mut useful: Vec<&Known> = evidence.channels.iter().filter(|known| known.samples > 1).collect();
    if useful.is_empty() {
        useful = evidence.channels.iter().collect();
    }
    useful.sort_by_key(|known| (is_clock(known), known.kind != ValueKind::Number, Reverse(interest(known)), known.id));
    let series: Vec<Picked<'_>> = useful.into_iter().take(COLUMNS).map(Picked::whole).collect();
    choice.show("table", "table", String::new(), &series);
}

fn interest(known: &Known) -> i64 {
    // How long the program took is of interest where there is nothing else.
    let overhead =
        known.has(&["periodic", "loop", "looptime", "logger", "logged", "gc", "cpu", "memory", "usage", "rail"]);
    let setting = known.has(&["k", "kp", "ki", "kd", "max", "min", "fault", "faults", "sticky", "length"]);
    let unit = if known.unit.is_some() { 4 } else { 0 };
    known.merit() + unit + if overhead { -SPREAD - 2 } else { 0 } + if setting { -15 } else { 0 }
}

/// Whether a number says when something was.
fn is_clock(known: &Known) -> bool {
    known.has(&["timestamp", "timestamps", "epoch", "heartbeat"]) || known.says(&["system", "time"])
}

/// Whether a number is one for programs: times, counters and what describes the match.
fn is_clerical(known: &Known) -> bool {
    known.has(&["fms"])
        || is_clock(known)
        || matches!(known.words.last().map(|word| &**word), Some("time" | "id" | "version" | "count" | "counter"))
}

/// The names of what is shown.
fn titled(series: &[Picked<'_>]) -> String {
    let mut names: Vec<String> = Vec::new();
    for one in series {
        let leaf = one.known.leaf();
        // A number alone says nothing.
        let name = if leaf.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("{}/{leaf}", one.known.parent())
        } else {
            leaf.replace('_', " ")
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let short: Vec<&str> = names.iter().map(|name| &**name).take(3).collect();
    let list = if names.len() > short.len() { format!("{}, …", short.join(", ")) } else { short.join(", ") };
    // `tx`, `ty`, `ta` are known to those who know where they are from.
    let parent = series.first().map_or("", |first| first.known.parent());
    let cryptic = short.iter().all(|name| name.len() < 4) && series.iter().all(|one| one.known.parent() == parent);
    if cryptic && !parent.is_empty() { format!("{parent}: {list}") } else { list }
}

/// Lines of a graph of anything, and how many channels are tried for it.
const SHOWN: usize = 4;
const LOOKED_AT: usize = 64;
/// How much less another line may say than the first one.
const SPREAD: i64 = 14;
/// Units of such a graph, each of which has an axis.
const AXES: usize = 2;
/// The part of its axis that a line of such a graph takes at least, inverted.
const FLAT: f64 = 12.0;
/// Columns of a table of anything.
const COLUMNS: usize = 8;
