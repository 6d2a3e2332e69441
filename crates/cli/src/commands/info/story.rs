//! FRC facts in `info`: match, modes, battery, link and disables.

use anyhow::Result;
use logpose::core::Time;
use logpose::frc::{Disable, Facts, LinkFacts, Mode, ModeSpan, Peak, Percentiles};
use serde_json::{Map, Value, json};

use super::{LABEL, row};
use crate::human::{about_time, clean, clip, count, counted, duration, share};
use crate::render::{Double, Int};
use crate::screen::{BAD, GOOD, HEAD, Out, WARNING};

/// The part of `details` about the match.
pub(super) fn as_json(facts: &Facts) -> Map<String, Value> {
    let modes: Vec<_> = facts
        .modes
        .iter()
        .map(|span| json!({"mode": span.mode.name(), "start_ns": ns(span.start), "end_ns": ns(span.end)}))
        .collect();
    let mut details = Map::new();
    details.insert("match".into(), match_json(facts));
    details.insert("modes".into(), modes.into());
    details.insert("brownouts".into(), spans_json(&facts.brownouts));
    details.insert("battery".into(), battery_json(facts));
    details.extend(facts.link.as_ref().map(|link| ("link".into(), link_json(link))));
    details
}

pub(super) fn print(facts: &Facts, out: &mut Out) -> Result<()> {
    print_match(facts, out)?;
    print_modes(&facts.modes, out)?;
    print_battery(facts, out)?;
    facts.link.as_ref().map_or(Ok(()), |link| print_link(link, out))
}

fn ns(time: Time) -> Int {
    Int::from(time.nanos())
}

fn spans_json(spans: &[(Time, Time)]) -> Value {
    spans.iter().map(|(start, end)| json!({"start_ns": ns(*start), "end_ns": ns(*end)})).collect()
}

fn match_json(facts: &Facts) -> Value {
    facts.match_.as_ref().map_or(
        Value::Null,
        |m| json!({"event": m.event, "kind": m.kind.name(), "number": m.number, "station": m.station, "game_data": m.game_data}),
    )
}

fn battery_json(facts: &Facts) -> Value {
    let low = spans_json(&facts.low_battery);
    facts
        .battery
        .as_ref()
        .map_or(Value::Null, |b| json!({"channel": b.channel, "lowest_volts": b.lowest, "at_ns": ns(b.at), "low": low}))
}

fn link_json(link: &LinkFacts) -> Value {
    let percentiles = |of: &Option<Percentiles>| {
        of.map(|p| json!({"p50": Double(p.p50), "p95": Double(p.p95), "p99": Double(p.p99), "max": Double(p.max)}))
    };
    let peak = |of: &Option<Peak>| of.map(|peak| json!({"value": Double(peak.value), "at_ns": ns(peak.at)}));
    let disables = link.disables.iter().map(|disable| {
        let Disable { at, mode, reason, evidence } = disable;
        json!({"at_ns": ns(*at), "mode": mode.name(), "reason": reason.name(), "evidence": evidence})
    });
    let frequent = link.frequent.iter().map(|group| {
        let severity = if group.is_error { "error" } else { "warning" };
        json!({"severity": severity, "code": Int::from(group.code), "text": group.text, "count": Int::from(group.count), "first_ns": ns(group.first)})
    });
    let faults = link.faults.iter();
    let faults =
        faults.map(|rise| json!({"channel": rise.channel, "by": Int::from(rise.by), "first_ns": ns(rise.first)}));
    json!({
        "drops": spans_json(&link.drops),
        "gone_ns": link.gone.map(ns),
        "trip_time": percentiles(&link.trip_time),
        "packets": link.packets.map(|(lost, sent)| json!({"lost": Int::from(lost), "sent": Int::from(sent)})),
        "loss": percentiles(&link.loss),
        "worst": link.worst.map(|worst| json!({"start_ns": ns(worst.start), "end_ns": ns(worst.end), "loss": Double(worst.loss)})),
        "disables": disables.collect::<Vec<_>>(),
        "errors": Int::from(link.errors),
        "warnings": Int::from(link.warnings),
        "frequent": frequent.collect::<Vec<_>>(),
        "faults": faults.collect::<Vec<_>>(),
        "cpu": peak(&link.cpu),
        "can": peak(&link.can),
    })
}

fn print_match(facts: &Facts, out: &mut Out) -> Result<()> {
    let Some(played) = &facts.match_ else { return Ok(()) };
    let number = played.number.map_or(String::new(), |number| format!(" {number}"));
    let event = played
        .event
        .as_deref()
        .filter(|event| !event.is_empty())
        .map_or(String::new(), |event| format!(" at {}", clean(event)));
    let station = played.station.as_deref().map_or(String::new(), |station| format!(", {}", clean(station)));
    let data = played.game_data.as_deref().map_or(String::new(), |data| format!(", game data {:?}", clean(data)));
    row(out, "match", &format!("{}{number}{event}{station}{data}", played.kind.name()))
}

/// A bar of modes over time and, below it, the intervals in which the robot was enabled.
fn print_modes(modes: &[ModeSpan], out: &mut Out) -> Result<()> {
    let (Some(first), Some(last)) = (modes.first(), modes.last()) else { return Ok(()) };
    let enabled: Vec<&ModeSpan> = modes.iter().filter(|span| span.mode.is_enabled()).collect();
    let bar = timeline(modes, first.start, last.end, out.width.saturating_sub(LABEL + 4).min(72));
    let cells: Vec<char> = bar.chars().collect();
    let runs = cells.chunk_by(|a, b| a == b);
    let painted: String = runs
        .filter_map(|run| Some(out.paint(mode_style(*run.first()?), run.iter().collect::<String>()).to_string()))
        .collect();
    row(out, "modes", &painted)?;
    if enabled.is_empty() {
        return row(out, "", "never enabled");
    }
    let lengths = |span: &ModeSpan| span.end.since(span.start);
    if enabled.len() <= 4 {
        let stretches = enabled.iter().map(|span| {
            format!("{} {} from {} s", span.mode.name(), duration(lengths(span)), about_time(span.start.nanos()))
        });
        return row(out, "", &stretches.collect::<Vec<_>>().join(", "));
    }
    let mut sums: Vec<(&str, u64, i64)> = Vec::new();
    for span in modes {
        let name = span.mode.name();
        match sums.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, times, sum)) => (*times, *sum) = (*times + 1, sum.saturating_add(lengths(span))),
            None => sums.push((name, 1, lengths(span))),
        }
    }
    let sums = sums.iter().map(|(name, times, sum)| format!("{name} {} ({times}×)", duration(*sum)));
    row(out, "", &sums.collect::<Vec<_>>().join(", "))
}

/// Each character shows the mode that took most of its time slice; a short enabled interval always shows.
fn timeline(modes: &[ModeSpan], start: Time, end: Time, width: usize) -> String {
    let total = i128::from(end.since(start)).max(1);
    let cell = |time: Time| usize::try_from(i128::from(time.since(start)) * width as i128 / total).unwrap_or(0);
    let mut cells = vec!['·'; width];
    for span in modes.iter().filter(|span| span.mode.is_enabled()) {
        let (from, to) = (cell(span.start), cell(span.end).min(width));
        let to = to.max(from + 1);
        cells.iter_mut().take(to).skip(from).for_each(|c| *c = mode_letter(span.mode));
    }
    cells.into_iter().collect()
}

fn mode_letter(mode: Mode) -> char {
    match mode {
        Mode::Disabled => '·',
        Mode::Auto => 'A',
        Mode::Teleop => 'T',
        Mode::Test => 't',
        Mode::EStop => '!',
    }
}

fn mode_style(letter: char) -> anstyle::Style {
    match letter {
        'A' => GOOD,
        'T' => anstyle::AnsiColor::Blue.on_default().bold(),
        't' => WARNING,
        '!' => BAD,
        _ => HEAD,
    }
}

fn print_battery(facts: &Facts, out: &mut Out) -> Result<()> {
    let mut words = Vec::new();
    if let Some(battery) = &facts.battery {
        words.push(format!("min {:.2} V at {} s", battery.lowest, about_time(battery.at.nanos())));
    }
    if !facts.low_battery.is_empty() {
        let total = facts.low_battery.iter().fold(0i64, |sum, (start, end)| sum.saturating_add(end.since(*start)));
        words.push(format!("low {}×, {} in total", facts.low_battery.len(), duration(total)));
    }
    if let Some((first, _)) = facts.brownouts.first() {
        let longest = facts.brownouts.iter().map(|(start, end)| end.since(*start)).max().unwrap_or(0);
        words.push(format!(
            "{}, first at {} s, longest {}",
            counted(facts.brownouts.len() as u64, "brownout"),
            about_time(first.nanos()),
            duration(longest)
        ));
    }
    if words.is_empty() { Ok(()) } else { row(out, "battery", &words.join("; ")) }
}

fn print_link(link: &LinkFacts, out: &mut Out) -> Result<()> {
    let mut lines = Vec::new();
    lines.extend(loss(link));
    if let Some(trip) = link.trip_time {
        let ms = |seconds: f64| format!("{:.1} ms", seconds * 1e3);
        let (p50, p95, p99, max) = (ms(trip.p50), ms(trip.p95), ms(trip.p99), ms(trip.max));
        lines.push(format!("trip time p50 {p50}, p95 {p95}, p99 {p99}, max {max}"));
    }
    let mut load = Vec::new();
    load.extend(link.cpu.map(|peak| format!("CPU max {:.0} % at {} s", peak.value * 100.0, at(peak.at))));
    // Some robots send percent.
    let percent = |value: f64| if value > 1.0 { value } else { value * 100.0 };
    load.extend(link.can.map(|peak| format!("CAN max {:.0} % at {} s", percent(peak.value), at(peak.at))));
    if !load.is_empty() {
        lines.push(load.join(", "));
    }
    rows(out, "link", &lines)?;
    let mut lost = Vec::new();
    if !link.drops.is_empty() {
        let drops = link.drops.iter().take(SHOWN);
        let drops = drops.map(|(from, to)| format!("{} s for {}", at(*from), duration(to.since(*from))));
        let (drops, more) = (drops.collect::<Vec<_>>().join(", "), and_more(link.drops.len()));
        lost.push(format!("{}×: at {drops}{more}", link.drops.len()));
    }
    lost.extend(link.gone.map(|gone| format!("for good at {} s", at(gone))));
    rows(out, "robot lost", &if lost.is_empty() { lost } else { vec![lost.join("; ")] })?;
    print_disables(&link.disables, out)?;
    let faults: Vec<String> = link
        .faults
        .iter()
        .map(|rise| format!("{} +{} from {} s", rise.channel.trim_start_matches("/ds/"), rise.by, at(rise.first)))
        .collect();
    rows(out, "faults", &if faults.is_empty() { faults } else { vec![faults.join(", ")] })?;
    print_errors(link, out)
}

/// Packet loss: counted from the packets if available, otherwise as reported by the Driver Station.
fn loss(link: &LinkFacts) -> Option<String> {
    let percent = |part: f64| format!("{:.0} %", part * 100.0);
    let worst = link.worst.map_or(String::new(), |worst| {
        format!("; worst {} from {} s to {} s", percent(worst.loss), at(worst.start), at(worst.end))
    });
    let mean = match (link.packets, link.loss) {
        (Some((lost, sent)), _) => {
            format!("{} of packets lost ({} of {})", share(lost, sent), count(lost), count(sent))
        }
        (None, Some(loss)) if loss.max <= 0.0 => "no packets lost".to_owned(),
        (None, Some(loss)) => format!(
            "packet loss p50 {}, p95 {}, p99 {}, max {}",
            percent(loss.p50),
            percent(loss.p95),
            percent(loss.p99),
            percent(loss.max)
        ),
        (None, None) => return None,
    };
    Some(mean + &worst)
}

/// The first disables with their evidence, the rest summed by reason.
fn print_disables(disables: &[Disable], out: &mut Out) -> Result<()> {
    let shown = if disables.len() > SHOWN + 1 { SHOWN } else { disables.len() };
    let (first, others) = disables.split_at_checked(shown).unwrap_or((disables, &[]));
    let line = |disable: &Disable| {
        format!("{} s {}, {}: {}", at(disable.at), disable.mode.name(), disable.reason.name(), clean(&disable.evidence))
    };
    let mut lines: Vec<String> = first.iter().map(line).collect();
    let mut sums: Vec<(&str, u64)> = Vec::new();
    for name in others.iter().map(|disable| disable.reason.name()) {
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => *times += 1,
            None => sums.push((name, 1)),
        }
    }
    if !sums.is_empty() {
        let sums: Vec<_> = sums.iter().map(|(name, times)| format!("{name} {times}×")).collect();
        lines.push(format!("… and {} more: {}", others.len(), sums.join(", ")));
    }
    rows(out, "disabled", &lines)
}

fn print_errors(link: &LinkFacts, out: &mut Out) -> Result<()> {
    let counts: Vec<_> = [(link.errors, "error"), (link.warnings, "warning")]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, noun)| counted(n, noun))
        .collect();
    if counts.is_empty() {
        return Ok(());
    }
    let mut lines = vec![counts.join(", ")];
    lines.extend(link.frequent.iter().take(FREQUENT).map(|group| {
        let text = format!("{}× {} {}", count(group.count), group.code, clean(&group.text));
        clip(&text, out.width.saturating_sub(LABEL + 2)).into_owned()
    }));
    rows(out, "errors", &lines)
}

fn at(time: Time) -> String {
    about_time(time.nanos())
}

fn and_more(of: usize) -> String {
    of.checked_sub(SHOWN).filter(|more| *more > 0).map_or(String::new(), |more| format!(" and {more} more"))
}

/// Prints lines; only the first has the label.
fn rows(out: &mut Out, label: &str, lines: &[String]) -> Result<()> {
    lines.iter().enumerate().try_for_each(|(place, line)| row(out, if place == 0 { label } else { "" }, line))
}

/// Longer lists are cut after this many items.
const SHOWN: usize = 4;
const FREQUENT: usize = 2;

#[cfg(test)]
mod tests {
    use logpose::core::Time;
    use logpose::frc::{Mode, ModeSpan};

    use super::timeline;

    #[test]
    fn short_modes_are_not_lost_in_the_bar() {
        let span = |mode, start, end| ModeSpan { mode, start: Time::from_millis(start), end: Time::from_millis(end) };
        let modes = [
            span(Mode::Disabled, 0, 5000),
            span(Mode::Auto, 5000, 5001),
            span(Mode::Disabled, 5001, 8000),
            span(Mode::Teleop, 8000, 10_000),
        ];
        assert_eq!(timeline(&modes, Time::ZERO, Time::from_millis(10_000), 10), "·····A··TT");
        assert_eq!(timeline(&modes[..1], Time::ZERO, Time::ZERO, 4), "····");
    }
}
