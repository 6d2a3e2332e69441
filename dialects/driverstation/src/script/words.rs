//! The words of a line, and what they can be.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use super::{Every, ScriptError};

/// A shorter one is a mistake.
const SHORTEST_PERIOD: Duration = Duration::from_millis(1);

/// A word of a line.
struct Word {
    /// From 1, in characters.
    column: usize,
    text: String,
    /// Where it stands in the line, in bytes.
    start: usize,
    end: usize,
    quoted: bool,
}

/// The words of a line, one after the other.
pub(super) struct Words<'t> {
    line: usize,
    text: &'t str,
    words: Vec<Word>,
    next: usize,
    /// The command that is read.
    pub(super) usage: &'static str,
}

impl<'t> Words<'t> {
    pub(super) fn new(line: usize, text: &'t str) -> Result<Self, ScriptError> {
        let mut words = Self { line, text, words: Vec::new(), next: 0, usage: "TIME COMMAND …" };
        let mut chars = (1..).zip(text.char_indices()).peekable();
        while let Some((column, (start, first))) = chars.next() {
            if first.is_whitespace() {
                continue;
            }
            if first == '#' {
                break;
            }
            let quoted = first == '"';
            let mut word = Word { column, text: String::new(), start, end: text.len(), quoted };
            if !quoted {
                word.text.push(first);
                while let Some((_, (at, next))) = chars.peek().copied() {
                    if next.is_whitespace() {
                        word.end = at;
                        break;
                    }
                    word.text.push(next);
                    chars.next();
                }
                words.words.push(word);
                continue;
            }
            let mut closed = false;
            while let Some((column, (at, next))) = chars.next() {
                match next {
                    '"' => {
                        (closed, word.end) = (true, at + 1);
                        break;
                    }
                    '\\' => match chars.next() {
                        Some((_, (_, 'n'))) => word.text.push('\n'),
                        Some((_, (_, 't'))) => word.text.push('\t'),
                        Some((_, (_, same @ ('"' | '\\')))) => word.text.push(same),
                        _ => return Err(words.error(column, r#"expected n, t, \ or " after \"#.into())),
                    },
                    other => word.text.push(other),
                }
            }
            if !closed {
                return Err(words.error(word.column, "the quoted text has no closing \"".into()));
            }
            words.words.push(word);
        }
        Ok(words)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    fn error(&self, column: usize, message: String) -> ScriptError {
        ScriptError { line: self.line, column, message }
    }

    /// An error at the word that was just read.
    pub(super) fn unsuitable(&self, message: String) -> ScriptError {
        let word = self.next.checked_sub(1).and_then(|last| self.words.get(last));
        self.error(word.map_or(1, |word| word.column), message)
    }

    /// The word that was just read should be something else.
    pub(super) fn wrong(&self, wanted: &str) -> ScriptError {
        let word = self.next.checked_sub(1).and_then(|last| self.words.get(last));
        let text = word.map_or("", |word| &word.text);
        self.unsuitable(format!("expected {wanted}, found `{text}`; usage: `{}`", self.usage))
    }

    fn missing(&self, wanted: &str) -> ScriptError {
        let column = self.text.trim_end().chars().count() + 1;
        self.error(column, format!("missing {wanted}; usage: `{}`", self.usage))
    }

    pub(super) fn peek(&self) -> Option<&str> {
        self.words.get(self.next).map(|word| word.text.as_str())
    }

    pub(super) fn word(&mut self, wanted: &str) -> Result<String, ScriptError> {
        let word = self.peek().map(str::to_owned).ok_or_else(|| self.missing(wanted))?;
        self.next += 1;
        Ok(word)
    }

    /// The next word, or nothing.
    pub(super) fn optional(&mut self) -> String {
        let word = self.peek().unwrap_or_default().to_owned();
        self.next = self.words.len().min(self.next + 1);
        word
    }

    /// Takes the next word if it is this one.
    pub(super) fn keyword(&mut self, keyword: &str) -> bool {
        let found = self.words.get(self.next).is_some_and(|word| !word.quoted && word.text == keyword);
        self.next += usize::from(found);
        found
    }

    pub(super) fn finish(&self) -> Result<(), ScriptError> {
        match self.words.get(self.next) {
            None => Ok(()),
            Some(word) => Err(self.error(word.column, format!("unexpected `{}`; usage: `{}`", word.text, self.usage))),
        }
    }

    pub(super) fn time(&mut self, before: Duration) -> Result<Duration, ScriptError> {
        let wanted = "a time such as 1.5, 200ms or +1s";
        let word = self.word(wanted)?;
        let (from, time) = match word.strip_prefix('+') {
            Some(time) => (before, time),
            None => (Duration::ZERO, word.as_str()),
        };
        let time = duration(time).and_then(|time| from.checked_add(time));
        time.ok_or_else(|| self.wrong(wanted))
    }

    pub(super) fn duration(&mut self) -> Result<Duration, ScriptError> {
        let wanted = "a time such as 1.5 or 200ms";
        let word = self.word(wanted)?;
        duration(&word).ok_or_else(|| self.wrong(wanted))
    }

    pub(super) fn every(&mut self) -> Result<Option<Every>, ScriptError> {
        if !self.keyword("every") {
            return Ok(None);
        }
        self.usage = "TIME every PERIOD [until TIME] COMMAND …";
        let period = self.duration()?;
        if period < SHORTEST_PERIOD {
            return Err(self.wrong("a period of at least 1ms"));
        }
        let until = if self.keyword("until") { Some(self.duration()?) } else { None };
        Ok(Some(Every { period, until }))
    }

    pub(super) fn number<N: Copy + PartialOrd + FromStr>(
        &mut self,
        wanted: &str,
        range: RangeInclusive<N>,
    ) -> Result<N, ScriptError> {
        let word = self.word(wanted)?;
        let number = word.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| self.wrong(wanted))
    }

    pub(super) fn number_after<N: Copy + PartialOrd + FromStr>(
        &mut self,
        keyword: &str,
        wanted: &str,
        range: RangeInclusive<N>,
    ) -> Result<Option<N>, ScriptError> {
        if self.keyword(keyword) { self.number(wanted, range).map(Some) } else { Ok(None) }
    }

    pub(super) fn port(&mut self) -> Result<u8, ScriptError> {
        self.number("a stick from 0 to 5", 0..=5)
    }

    pub(super) fn share(&mut self) -> Result<f64, ScriptError> {
        self.number("a share from 0 to 1", 0.0..=1.0)
    }

    pub(super) fn switch(&mut self) -> Result<bool, ScriptError> {
        match self.word("on or off")?.as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(self.wrong("on or off")),
        }
    }

    /// One word if it is quoted; else the rest of the line as it stands.
    pub(super) fn rest(&mut self) -> Result<String, ScriptError> {
        let rest = self.words.get(self.next..).unwrap_or_default();
        let (Some(first), Some(last)) = (rest.first(), rest.last()) else { return Err(self.missing("a text")) };
        if first.quoted {
            return self.word("a text");
        }
        let text = self.text.get(first.start..last.end).unwrap_or_default().to_owned();
        self.next = self.words.len();
        Ok(text)
    }

    /// Numbers until something else comes.
    pub(super) fn numbers<N: Copy + PartialOrd + FromStr>(
        &mut self,
        wanted: &str,
        most: usize,
        range: &RangeInclusive<N>,
    ) -> Result<Vec<N>, ScriptError> {
        let mut numbers = Vec::new();
        while let Some(first) = self.peek().and_then(|word| word.chars().next())
            && !first.is_alphabetic()
        {
            self.next += 1;
            let word = self.words.get(self.next - 1).map(|word| word.text.clone()).unwrap_or_default();
            for piece in word.split(',').filter(|piece| !piece.is_empty()) {
                let number = piece.parse().ok().filter(|number| range.contains(number));
                numbers.push(number.ok_or_else(|| self.wrong(wanted))?);
            }
            if numbers.len() > most {
                return Err(self.wrong(&format!("at most {most} values")));
            }
        }
        if numbers.is_empty() { Err(self.missing_here(wanted)) } else { Ok(numbers) }
    }

    pub(super) fn missing_here(&self, wanted: &str) -> ScriptError {
        match self.words.get(self.next) {
            None => self.missing(wanted),
            Some(word) => {
                self.error(word.column, format!("missing {wanted} before `{}`; usage: `{}`", word.text, self.usage))
            }
        }
    }
}

/// Seconds, or a number with a unit.
fn duration(text: &str) -> Option<Duration> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("min", 60.0), ("s", 1.0)];
    let unit = units.into_iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, seconds) = unit.unwrap_or((text, 1.0));
    let plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number = number.parse::<f64>().ok().filter(|_| plain)?;
    // Rounded, because 0.3 s are 300 ms and not 299.999999 ms.
    Duration::try_from_secs_f64((number * seconds * 1e9).round() / 1e9).ok()
}
