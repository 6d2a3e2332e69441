//! What the columns of a program are in the model, and their cells as samples.

use std::collections::HashSet;

use logpose_core::{Channel, ChannelId, DecodeError, Problems, Severity, Sink, StreamError, Value};
use logpose_refloat::wire::{Adjustment, Footpad};
use serde_json::{Value as Json, json};

use super::table::{TakeCell, shown};
use crate::decimal::{number, power_of_ten};
use crate::inferred::{Guess, Rows};

/// How a number of a program becomes one of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum How {
    /// Moved by so many decimal places, which costs nothing.
    Places(i32),
    /// Times a number.
    Times(f64),
    /// Radians as degrees.
    Degrees,
    /// Without the sign, which the model does not have; moved by so many decimal places. Where there are signs the
    /// column is kept beside it.
    Magnitude(i32),
    /// A whole number.
    Whole,
    /// True if it is not zero.
    Truth,
    /// The word for which halves of the footpad are pressed.
    Footpad,
    /// The word for why the setpoint changes.
    Adjustment,
}

/// A value of the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) id: &'static str,
    pub(super) unit: &'static str,
    pub(super) how: How,
}

impl Known {
    pub(super) const fn same(id: &'static str, unit: &'static str) -> Self {
        Self { id, unit, how: How::Places(0) }
    }

    pub(super) const fn new(id: &'static str, unit: &'static str, how: How) -> Self {
        Self { id, unit, how }
    }

    /// What a text is as a value of the model; the sentence says what is wrong. `word` is memory for words.
    fn value<'w>(self, cell: &[u8], word: &'w mut String) -> Result<Value<'w>, &'static str> {
        let double = |places| number(cell, places).ok_or("is not a number");
        let code = |most: u8| {
            let code = whole(cell).and_then(|code| u8::try_from(code).ok()).filter(|code| *code <= most);
            code.ok_or("is not a known code")
        };
        Ok(Value::Double(match self.how {
            How::Places(places) => double(places)?,
            How::Magnitude(places) => double(places)?.abs(),
            How::Times(factor) => double(0)? * factor,
            How::Degrees => double(0)?.to_degrees(),
            How::Whole => return whole(cell).map(Value::Int64).ok_or("is not an integer"),
            How::Truth => return Ok(Value::Boolean(code(1)? != 0)),
            How::Footpad => return Ok(Value::String(Footpad::from_bits(code(3)?).name().as_bytes())),
            How::Adjustment => {
                word.clear();
                word.push_str(&Adjustment(code(15)?).name());
                return Ok(Value::String(word.as_bytes()));
            }
        }))
    }

    /// The same of a number that is one already.
    pub(super) fn of(self, value: f64) -> f64 {
        match self.how {
            How::Places(places) => value * power_of_ten(places),
            How::Magnitude(places) => value.abs() * power_of_ten(places),
            How::Times(factor) => value * factor,
            How::Degrees => value.to_degrees(),
            How::Whole | How::Truth | How::Footpad | How::Adjustment => value,
        }
    }

    /// Its channel.
    pub(super) fn channel(self, metadata: &Json) -> Channel {
        let type_name = match self.how {
            How::Whole => "int64",
            How::Truth => "boolean",
            How::Footpad | How::Adjustment => "string",
            How::Places(_) | How::Times(_) | How::Degrees | How::Magnitude(_) => "double",
        };
        let mut channel = Channel::new(format!("/refloat/{}", self.id), type_name);
        channel.unit = Some(self.unit.to_owned()).filter(|unit| !unit.is_empty());
        channel.metadata = metadata.to_string();
        channel
    }
}

/// A whole number, also one written with zeros behind a point.
fn whole(cell: &[u8]) -> Option<i64> {
    let text = str::from_utf8(cell).ok()?;
    if let Ok(whole) = text.parse() {
        return Some(whole);
    }
    let value = number(cell, 0).filter(|value| value.fract() == 0.0 && value.abs() < 9e15)?;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and below 2^53")]
    Some(value as i64)
}

/// The columns of a table.
pub(super) struct Columns {
    program: &'static str,
    columns: Vec<Column>,
    /// The channels that there are already.
    names: HashSet<String>,
}

struct Column {
    name: String,
    /// What it is in the model.
    known: Option<Known>,
    metadata: Json,
    /// Its channel as it is written, and what its cells can be read as.
    own: Channel,
    guess: Guess,
    /// Whether a sign is lost in the model.
    signed: bool,
    /// The numbers of its channels.
    model_id: Option<ChannelId>,
    own_id: Option<ChannelId>,
}

impl Columns {
    pub(super) fn new(program: &'static str) -> Self {
        Self { program, columns: Vec::new(), names: HashSet::new() }
    }

    /// Adds the next column. `unit` is that of the program; `more` is further metadata.
    pub(super) fn add(&mut self, name: &str, known: Option<Known>, unit: &str, more: Option<Json>) {
        let place = self.columns.len() + 1;
        let name = if name.is_empty() { format!("column {place}") } else { name.to_owned() };
        let known = known.filter(|known| self.names.insert(format!("/refloat/{}", known.id)));
        let own = self.free(format!("/refloat/{}/{name}", self.program));
        let mut own = Channel::new(own, "");
        own.unit = Some(unit.to_owned()).filter(|unit| !unit.is_empty());
        let metadata = more.unwrap_or_else(|| json!({ "program": self.program, "column": name }));
        own.metadata = metadata.to_string();
        let (guess, signed, model_id, own_id) = (Guess::Nothing, false, None, None);
        self.columns.push(Column { name, known, metadata, own, guess, signed, model_id, own_id });
    }

    /// A name that no channel has.
    fn free(&mut self, name: String) -> String {
        let mut free = name.clone();
        let mut count = 1_u64;
        while !self.names.insert(free.clone()) {
            count += 1;
            free = format!("{name} ({count})");
        }
        free
    }

    /// Pushes the cells that `walk` finds, which is asked twice: types are seen when all cells were looked at. Columns
    /// without a cell are no channels.
    pub(super) fn read(
        mut self,
        dialect: &'static str,
        walk: impl Fn(&mut Problems, &mut TakeCell<'_>) -> Result<u64, StreamError>,
        sink: &mut dyn Sink,
        problems: &mut Problems,
    ) -> Result<Vec<Channel>, StreamError> {
        let mut bad = Problems::default();
        let rows = walk(&mut bad, &mut |_, place, _, cell| {
            self.columns.get_mut(place).into_iter().for_each(|column| column.look(cell));
            Ok(())
        })?;
        if let (0, Some(first)) = (rows, bad.list().iter().find(|problem| problem.severity == Severity::Damage)) {
            let (at, message) = (first.at.unwrap_or(0), first.message.clone());
            return Err(DecodeError { dialect, code: "no-rows", at, message, help: None }.into());
        }
        problems.append(bad);
        let channels = self.channels();
        let mut out = Rows::new(sink, &channels)?;
        let mut word = String::new();
        walk(&mut Problems::default(), &mut |row, place, time, cell| {
            let Some(column) = self.columns.get(place) else { return Ok(()) };
            if let Some(id) = column.own_id {
                out.cell(id, time, cell)?;
            }
            let (Some(id), Some(known)) = (column.model_id, column.known) else { return Ok(()) };
            match known.value(cell, &mut word) {
                Ok(value) => out.value(id, time, &value)?,
                Err(wrong) => {
                    let message = format!("{}: {} {wrong}; skipped", column.name, shown(cell));
                    row.note(Severity::Damage, "bad-cell", &message, problems);
                }
            }
            Ok(())
        })?;
        out.flush()?;
        Ok(channels)
    }

    /// The channels of columns that have cells.
    fn channels(&mut self) -> Vec<Channel> {
        let mut channels = Vec::new();
        let mut add = |channel: Channel| {
            channels.push(channel);
            ChannelId::try_from(channels.len() - 1).ok()
        };
        for column in self.columns.iter_mut().filter(|column| column.guess != Guess::Nothing) {
            column.model_id = column.known.and_then(|known| add(known.channel(&column.metadata)));
            if column.known.is_none() || column.signed {
                column.own.type_name = column.guess.type_name().to_owned();
                column.own_id = add(column.own.clone());
            }
        }
        channels
    }
}

impl Column {
    fn look(&mut self, cell: &[u8]) {
        if self.guess != Guess::Text {
            self.guess = self.guess.and(Guess::of_cell(cell), Guess::Text);
        }
        self.signed |= matches!(self.known, Some(Known { how: How::Magnitude(_), .. })) && cell.starts_with(b"-");
    }
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn whole_numbers_may_have_a_point() {
        for (text, value) in
            [("7", Some(7)), ("-3.000", Some(-3)), ("1e3", Some(1000)), ("0.5", None), ("x", None), ("1e300", None)]
        {
            assert_eq!(whole(text.as_bytes()), value, "{text}");
        }
    }
}
