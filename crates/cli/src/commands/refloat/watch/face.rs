//! Renders the state of a board as terminal lines.

use std::collections::{BTreeMap, VecDeque};

use super::bars;
use super::line::{LABEL, Line};
use crate::human::{clean, clip};
use crate::screen::{BAD, GOOD, HEAD, NAME, STRONG, WARNING};

/// Everything shown about a board.
#[derive(Clone, Debug, Default)]
pub(super) struct Face {
    /// Name and address of the board.
    pub(super) title: String,
    /// Answers per second.
    pub(super) rate: f64,
    /// Why no data arrives, if so.
    pub(super) trouble: Option<String>,
    /// The latest values by their Refloat 1.3 ids.
    pub(super) values: BTreeMap<String, f64>,
    /// The largest current seen, which scales the bars.
    pub(super) largest_current: f64,
    /// State texts by channel name.
    pub(super) words: BTreeMap<String, String>,
    /// Boolean states by channel name.
    pub(super) flags: BTreeMap<String, bool>,
    /// A short status of the recorder.
    pub(super) recorder: Vec<String>,
    /// Alerts and printed messages, newest last.
    pub(super) news: VecDeque<String>,
    /// Whether the view is frozen.
    pub(super) frozen: bool,
    /// A question waiting for a key.
    pub(super) question: Option<String>,
}

/// Number of messages kept.
const NEWS: usize = 50;

impl Face {
    pub(super) fn value(&self, id: &str) -> Option<f64> {
        self.values.get(id).copied()
    }

    pub(super) fn word(&self, name: &str) -> Option<&str> {
        self.words.get(name).map(String::as_str).filter(|word| *word != "none")
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.flags.get(name).copied().unwrap_or(false)
    }

    /// Adds an alert or a printed message.
    pub(super) fn message(&mut self, text: String) {
        if self.news.len() == NEWS {
            self.news.pop_front();
        }
        self.news.push_back(text);
    }

    /// The lines for a terminal of this size; never more or longer.
    pub(super) fn lines(&self, columns: usize, rows: usize, color: bool) -> Vec<String> {
        let mut lines = vec![(0, self.head(columns)), (0, self.state())];
        lines.extend(self.numbers(columns));
        let recorder = if self.recorder.is_empty() { vec!["unknown".to_owned()] } else { self.recorder.clone() };
        let mut line = Line::label("recorder");
        for (place, word) in recorder.iter().enumerate() {
            let style = if word == "recording" { Some(BAD) } else { None };
            line.add(None, if place > 0 { " · " } else { "" });
            line.add(style, word);
        }
        lines.push((1, line));
        let room = rows.saturating_sub(1);
        // If the space is too small, the least important lines are dropped first.
        while lines.len() > room
            && let Some((place, _)) = lines.iter().enumerate().max_by_key(|(_, (rank, _))| *rank)
        {
            lines.remove(place);
        }
        // Messages fill the space between the values and the keys.
        let left = room - lines.len();
        let news = self.news.iter().skip(self.news.len().saturating_sub(left));
        lines.extend(news.map(|text| (0, Line::of(Some(HEAD), clean(text).into_owned()))));
        lines.push((0, self.foot(columns)));
        lines.iter().take(rows).map(|(_, line)| line.painted(columns, color)).collect()
    }

    fn head(&self, columns: usize) -> Line {
        let rate = if self.frozen { "frozen".to_owned() } else { format!("{:.1}/s", self.rate) };
        let room = columns.saturating_sub(rate.chars().count() + 1);
        let mut line = Line::of(Some(STRONG), clip(&clean(&self.title), room).into_owned());
        let gap = columns.saturating_sub(line.width() + rate.chars().count());
        line.add(None, &" ".repeat(gap.max(1)));
        line.add(Some(if self.frozen { WARNING } else { HEAD }), &rate);
        line
    }

    /// The state in words, or why it is unknown.
    fn state(&self) -> Line {
        if let Some(trouble) = &self.trouble {
            return Line::of(Some(BAD), clean(trouble).into_owned());
        }
        let state = self.word("state").unwrap_or("unknown");
        let style = match state {
            "running" => GOOD,
            "disabled" => BAD,
            _ => NAME,
        };
        let mut line = Line::of(Some(style), state.to_uppercase());
        line.add(None, &self.word("mode").map(|mode| format!(" {mode}")).unwrap_or_default());
        let mut part = |style, text: &str| {
            line.add(None, " · ");
            line.add(style, text);
        };
        if let Some(kind) = self.word("adjustment") {
            let calm = ["centering", "reverse stop"].contains(&kind);
            part(Some(if calm { NAME } else { WARNING }), kind);
        }
        if let Some(code) = self.value("fault_code").filter(|code| *code != 0.0) {
            part(Some(BAD), &format!("FAULT {code}"));
        }
        for (name, text) in [("wheelslip", "wheelslip"), ("fatal_error", "FATAL ERROR")] {
            if self.flag(name) {
                part(Some(BAD), text);
            }
        }
        for name in ["charging", "darkride"] {
            if self.flag(name) {
                part(Some(NAME), name);
            }
        }
        for (name, before) in [("stop_condition", "stopped by "), ("beep_reason", "beeps for ")] {
            if let Some(word) = self.word(name) {
                part(None, &format!("{before}{word}"));
            }
        }
        line
    }

    /// Values and bars with their rank: those with a higher rank are dropped first.
    fn numbers(&self, columns: usize) -> Vec<(u8, Line)> {
        let bar = columns.saturating_sub(LABEL + FIGURE + 2 + MARGIN).min(60);
        let mut lines = Vec::new();
        let mut speed = self.row("speed", "speed", 1, "km/h");
        speed.add(None, &self.also(&[("erpm", "erpm", 0, "")]));
        lines.push((1, speed));
        let mut duty = self.row("duty", "duty_cycle", 0, "%");
        if let Some(value) = self.value("duty_cycle") {
            let share = value.abs();
            let style = match share {
                x if x >= 0.85 => BAD,
                x if x >= 0.7 => WARNING,
                _ => GOOD,
            };
            if bar >= SHORTEST {
                duty.add(None, "  ");
                duty.add(Some(style), &bars::filled(share, bar));
            }
            duty.add(None, &format!(" {:.0} % left", (1.0 - share).max(0.0) * 100.0));
        }
        lines.push((1, duty));
        let scale = bars::scale(self.largest_current);
        let currents = [(2, "motor", "current"), (5, "balance", "balance_current"), (4, "battery", "batt_current")];
        for (rank, label, id) in currents {
            let Some(value) = self.value(id) else { continue };
            let mut line = self.row(label, id, 1, "A");
            if bar >= SHORTEST {
                line.add(None, "  ");
                line.add(Some(NAME), &bars::centred(value / scale, bar));
                line.add(Some(HEAD), &format!(" ±{scale:.0} A"));
            }
            lines.push((rank, line));
        }
        let mut voltage = self.row("voltage", "batt_voltage", 1, "V");
        let level = self.value("battery_level").map(|level| format!("  {:.0} %", level * 100.0));
        voltage.add(None, &level.unwrap_or_default());
        if self.flag("charging") {
            voltage.add(None, &self.also(&[("charging", "charging.voltage", 1, " V")]));
        }
        lines.push((1, voltage));
        let mut pitch = self.row("pitch", "pitch", 1, "°");
        pitch.add(None, &self.also(&[("setpoint", "setpoint", 1, "°"), ("roll", "roll", 1, "°")]));
        lines.push((2, pitch));
        let tilts = self.also(&[
            ("ATR", "atr.setpoint", 1, "°"),
            ("torque", "torque_tilt.setpoint", 1, "°"),
            ("brake", "brake_tilt.setpoint", 1, "°"),
            ("turn", "turn_tilt.setpoint", 1, "°"),
            ("remote", "remote.setpoint", 1, "°"),
        ]);
        if !tilts.is_empty() {
            let mut line = Line::label("tilts");
            line.add(None, tilts.trim_start());
            lines.push((6, line));
        }
        let mut warm = self.row("MOSFET", "mosfet_temp", 0, "°C");
        warm.add(None, &self.also(&[("motor", "motor_temp", 0, " °C")]));
        lines.push((3, warm));
        lines.push((2, self.footpad()));
        lines
    }

    /// A label, a right-aligned number and its unit.
    fn row(&self, label: &str, id: &str, decimals: usize, unit: &str) -> Line {
        let mut line = Line::label(label);
        let factor = if unit == "%" { 100.0 } else { 1.0 };
        let number = self.value(id).map_or_else(|| "–".to_owned(), |value| fixed(value * factor, decimals));
        line.add(Some(STRONG), &format!("{number:>7}"));
        line.add(None, &format!(" {unit:<4}"));
        line
    }

    /// Further known values, each after its name.
    fn also(&self, numbers: &[(&str, &str, usize, &str)]) -> String {
        let known = numbers.iter().filter_map(|(name, id, decimals, unit)| {
            self.value(id).map(|value| format!("  {name} {}{unit}", fixed(value, *decimals)))
        });
        known.collect()
    }

    fn footpad(&self) -> Line {
        let mut line = Line::label("footpad");
        let pressed = self.words.get("footpad").map_or("unknown", String::as_str);
        for (side, id) in [("left", "adc_left"), ("right", "adc_right")] {
            let on = pressed == side || pressed == "both";
            line.add(Some(if on { GOOD } else { HEAD }), if on { "●" } else { "○" });
            line.add(None, &format!(" {side}"));
            line.add(None, &self.value(id).map(|volts| format!(" {volts:.2} V")).unwrap_or_default());
            line.add(None, "   ");
        }
        line
    }

    fn foot(&self, columns: usize) -> Line {
        let fits = |text: &&str| text.chars().count() <= columns;
        match &self.question {
            Some(question) => {
                let whole = format!("{question} y / n");
                let short = Some(&*whole).filter(fits).unwrap_or("Erase and record? y / n");
                Line::of(Some(WARNING), short.to_owned())
            }
            None => Line::of(Some(HEAD), Some(KEYS).filter(fits).unwrap_or("q quit  r record  s stop").to_owned()),
        }
    }

    /// The state in one line, without a terminal.
    pub(super) fn line(&self) -> String {
        let mut parts = vec![self.word("state").unwrap_or("unknown").to_owned()];
        let numbers = [
            ("speed", 1.0, 1, " km/h", ""),
            ("duty_cycle", 100.0, 0, " %", "duty "),
            ("current", 1.0, 1, " A", ""),
            ("batt_voltage", 1.0, 1, " V", ""),
            ("pitch", 1.0, 1, "°", "pitch "),
            ("setpoint", 1.0, 1, "°", "setpoint "),
            ("mosfet_temp", 1.0, 0, " °C", ""),
        ];
        parts.extend(numbers.iter().filter_map(|(id, factor, decimals, unit, before)| {
            self.value(id).map(|value| format!("{before}{}{unit}", fixed(value * factor, *decimals)))
        }));
        parts.extend(self.word("footpad").map(|pads| format!("footpad {pads}")));
        parts.extend(self.word("adjustment").map(str::to_owned));
        parts.extend(self.recorder.first().cloned());
        parts.join(" · ")
    }
}

/// A number with a fixed number of decimals, without the sign of a negative zero.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    }
}

/// Key help.
const KEYS: &str = "q quit · r record · s stop recording · space freeze";
/// Width of a number with its unit.
const FIGURE: usize = 12;
/// Width reserved after a bar.
const MARGIN: usize = 12;
/// Minimum useful width of a bar.
const SHORTEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::Face;

    fn riding() -> Face {
        let values = [
            ("speed", 23.44),
            ("erpm", 8124.0),
            ("duty_cycle", 0.76),
            ("current", 31.25),
            ("balance_current", 30.0),
            ("batt_current", -4.5),
            ("batt_voltage", 75.5),
            ("pitch", -0.04),
            ("setpoint", 1.5),
            ("roll", 2.0),
            ("mosfet_temp", 41.2),
            ("motor_temp", 55.0),
            ("adc_left", 3.1),
            ("adc_right", 0.02),
        ];
        let words = [
            ("state", "running"),
            ("mode", "normal"),
            ("footpad", "left"),
            ("adjustment", "duty pushback"),
            ("stop_condition", "none"),
            ("beep_reason", "duty"),
        ];
        Face {
            title: "Refloat 1.3.0-beta2 at 127.0.0.1:65102".to_owned(),
            rate: 9.96,
            values: values.map(|(id, value)| (id.to_owned(), value)).into(),
            largest_current: 31.25,
            words: words.map(|(name, word)| (name.to_owned(), word.to_owned())).into(),
            flags: [("wheelslip".to_owned(), true)].into(),
            recorder: ["recording", "autostart on", "9.2 s"].map(str::to_owned).into(),
            news: ["alert: OVER_TEMP_FET active".to_owned()].into(),
            ..Face::default()
        }
    }

    #[test]
    fn a_ride_looks_like_this() {
        let lines = riding().lines(78, 24, false);
        let expected = "\
Refloat 1.3.0-beta2 at 127.0.0.1:65102                                  10.0/s
RUNNING normal · duty pushback · wheelslip · beeps for duty
speed        23.4 km/h  erpm 8124
duty           76 %     ███████████████████████████████▉░░░░░░░░░░ 24 % left
motor        31.2 A                         │████████████▌        ±50 A
balance      30.0 A                         │████████████         ±50 A
battery      -4.5 A                       ██│                     ±50 A
voltage      75.5 V
pitch         0.0 °     setpoint 1.5°  roll 2.0°
MOSFET         41 °C    motor 55 °C
footpad   ● left 3.10 V   ○ right 0.02 V
recorder  recording · autostart on · 9.2 s
alert: OVER_TEMP_FET active
q quit · r record · s stop recording · space freeze";
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn no_line_is_longer_than_the_terminal_and_none_is_below_it() {
        for (columns, rows) in [(200, 60), (80, 24), (40, 10), (20, 4), (1, 1), (0, 0), (80, 1)] {
            for face in [riding(), Face::default()] {
                let lines = face.lines(columns, rows, false);
                assert!(lines.len() <= rows, "{columns}x{rows}");
                assert!(lines.iter().all(|line| line.chars().count() <= columns), "{columns}x{rows}: {lines:#?}");
            }
        }
        let low = riding().lines(80, 8, false);
        for word in ["RUNNING", "speed", "duty", "voltage", "recorder", "q quit"] {
            assert!(low.iter().any(|line| line.starts_with(word)), "{word}: {low:#?}");
        }
        let narrow = riding().lines(30, 20, false);
        assert!(narrow.iter().all(|line| !line.contains('█')), "{narrow:#?}");
        assert!(narrow.contains(&"duty           76 %    24 % le".to_owned()), "{narrow:#?}");
    }

    #[test]
    fn colour_is_there_only_where_it_is_wanted() {
        assert!(riding().lines(80, 24, true).concat().contains('\u{1b}'));
        assert!(!riding().lines(80, 24, false).concat().contains('\u{1b}'));
    }

    #[test]
    fn texts_of_a_board_cannot_move_the_cursor() {
        let mut face = riding();
        face.title = "evil\u{1b}[2J".to_owned();
        face.message("\u{1b}]0;title\u{7}".to_owned());
        face.trouble = Some("no\r\nanswer".to_owned());
        assert!(!face.lines(80, 24, false).concat().contains(|c: char| c.is_control()));
    }

    #[test]
    fn a_question_takes_the_place_of_the_keys() {
        let face = Face { question: Some("Erase it?".to_owned()), frozen: true, ..riding() };
        let lines = face.lines(80, 24, false);
        assert_eq!(lines.last().map(String::as_str), Some("Erase it? y / n"));
        assert!(lines.first().is_some_and(|line| line.ends_with("frozen")));
    }

    #[test]
    fn the_newest_of_what_was_told_stays() {
        let mut face = riding();
        (0..100).for_each(|n| face.message(format!("print {n}")));
        let lines = face.lines(80, 16, false);
        assert_eq!(lines.get(14).map(String::as_str), Some("print 99"));
        assert_eq!(face.news.len(), 50);
    }

    #[test]
    fn one_line_tells_the_same() {
        let expected = "running · 23.4 km/h · duty 76 % · 31.2 A · 75.5 V · pitch 0.0° · setpoint 1.5° · 41 °C · \
                        footpad left · duty pushback · recording";
        assert_eq!(riding().line(), expected);
        assert_eq!(Face::default().line(), "unknown");
    }
}
