//! Samples as rows of text: CSV and NDJSON, one row each.

use std::io::Write;

use logpose_core::{Channel, ChannelId, Encode, EncodeError, Problem, Problems, Sample, Sink, SinkError, Time, Value};
use logpose_schema::{Registry, json};

use crate::Schemas;
use crate::show::Painter;

/// How a row is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shape {
    /// `time,channel,value`, RFC 4180.
    Csv,
    /// `{"time_ns":…,"channel":…,"value":…}`
    Ndjson,
}

/// Writes one row for each sample.
pub(crate) struct Rows<'a, W> {
    shape: Shape,
    schemas: &'a Schemas,
    raw: bool,
    lanes: Vec<Option<ChannelRow>>,
    buffer: Vec<u8>,
    cell: Vec<u8>,
    out: W,
    pub(crate) problems: Problems,
    pub(crate) samples: u64,
}

struct ChannelRow {
    /// What stands between the time and the value.
    middle: Vec<u8>,
    painter: Painter,
}

impl Shape {
    /// What stands before all rows.
    fn head(self) -> &'static [u8] {
        match self {
            Self::Csv => b"time,channel,value\r\n",
            Self::Ndjson => b"",
        }
    }

    /// What stands between the time and the value.
    fn middle(self, name: &str) -> Vec<u8> {
        let mut middle = Vec::new();
        match self {
            Self::Csv => {
                middle.push(b',');
                quote(name.as_bytes(), &mut middle);
                middle.push(b',');
            }
            Self::Ndjson => {
                middle.extend_from_slice(b",\"channel\":");
                json::string(&mut middle, name);
                middle.extend_from_slice(b",\"value\":");
            }
        }
        middle
    }

    /// Appends a row; `cell` is memory that is used on the way.
    fn row(self, middle: &[u8], painter: &mut Painter, sample: &Sample<'_>, cell: &mut Vec<u8>, out: &mut Vec<u8>) {
        match self {
            Self::Csv => {
                seconds(sample.time, out);
                out.extend_from_slice(middle);
                let start = out.len();
                if !painter.cell(&sample.value, out) && needs_quotes(out.get(start..).unwrap_or_default()) {
                    cell.clear();
                    cell.extend(out.drain(start..));
                    quote(cell, out);
                }
                out.extend_from_slice(b"\r\n");
            }
            Self::Ndjson => {
                out.extend_from_slice(b"{\"time_ns\":");
                json::i64(out, sample.time.nanos());
                out.extend_from_slice(middle);
                painter.json(&sample.value, out);
                out.extend_from_slice(b"}\n");
            }
        }
    }
}

impl<'a, W: Write> Rows<'a, W> {
    pub(crate) fn new(shape: Shape, schemas: &'a Schemas, raw: bool, out: W) -> Self {
        let mut buffer = Vec::with_capacity(FLUSH + (FLUSH >> 2));
        buffer.extend_from_slice(shape.head());
        Self {
            shape,
            schemas,
            raw,
            lanes: Vec::new(),
            buffer,
            cell: Vec::new(),
            out,
            problems: Problems::default(),
            samples: 0,
        }
    }

    /// Writes what is held back.
    pub(crate) fn finish(&mut self) -> std::io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

impl<W: Write> Sink for Rows<'_, W> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let middle = self.shape.middle(&channel.name);
        if self.lanes.len() <= id as usize {
            self.lanes.resize_with(id as usize + 1, || None);
        }
        if let Some(lane) = self.lanes.get_mut(id as usize) {
            *lane = Some(ChannelRow { middle, painter: self.schemas.painter(channel, self.raw) });
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let out = &mut self.buffer;
        for sample in samples {
            let Some(Some(lane)) = self.lanes.get_mut(sample.channel as usize) else { continue };
            self.shape.row(&lane.middle, &mut lane.painter, sample, &mut self.cell, out);
        }
        self.samples += samples.len() as u64;
        if self.buffer.len() >= FLUSH {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// Samples to rows of CSV or NDJSON while they still come: unlike a finished log, a stream brings its schemas on the
/// way.
///
/// Values that come before their schema are bytes.
pub struct RowEncoder {
    shape: Shape,
    schemas: Schemas,
    lanes: Vec<Option<StreamLane>>,
    cell: Vec<u8>,
}

struct StreamLane {
    channel: Channel,
    is_schema: bool,
    middle: Vec<u8>,
    /// Made with the first sample, and again when a schema has come.
    painter: Option<Painter>,
}

impl RowEncoder {
    /// An encoder of rows `time,channel,value`.
    #[must_use]
    pub fn csv() -> Self {
        Self::new(Shape::Csv)
    }

    /// An encoder of JSON lines.
    #[must_use]
    pub fn ndjson() -> Self {
        Self::new(Shape::Ndjson)
    }

    fn new(shape: Shape) -> Self {
        Self { shape, schemas: Schemas::default(), lanes: Vec::new(), cell: Vec::new() }
    }

    /// Takes a schema that is not to be written.
    pub fn explain(&mut self, channel: &Channel, payload: &[u8]) {
        self.schemas.add(channel, payload);
        self.lanes.iter_mut().flatten().for_each(|lane| lane.painter = None);
    }
}

impl Encode for RowEncoder {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.shape.head());
    }

    fn channel(&mut self, id: ChannelId, channel: &Channel, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.lanes.len() <= id as usize {
            self.lanes.resize_with(id as usize + 1, || None);
        }
        if let Some(lane) = self.lanes.get_mut(id as usize) {
            let is_schema = Registry::is_schema(&channel.name, &channel.type_name);
            let middle = self.shape.middle(&channel.name);
            *lane = Some(StreamLane { channel: channel.clone(), is_schema, middle, painter: None });
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        for sample in samples {
            let Some(Some(lane)) = self.lanes.get_mut(sample.channel as usize) else { continue };
            let painter = lane.painter.get_or_insert_with(|| self.schemas.painter(&lane.channel, false));
            self.shape.row(&lane.middle, painter, sample, &mut self.cell, out);
            if let (true, Value::String(payload) | Value::Bytes(payload)) = (lane.is_schema, sample.value) {
                self.schemas.add(&lane.channel, payload);
                self.lanes.iter_mut().flatten().for_each(|lane| lane.painter = None);
            }
        }
        Ok(())
    }

    fn metadata(&mut self, _: ChannelId, _: Time, _: &str, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn end(&mut self, _: ChannelId, _: Time, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn finish(&mut self, _: &mut Vec<u8>) -> Vec<Problem> {
        self.schemas.problems()
    }
}

/// Appends a CSV cell, in quotes if it needs them.
pub(crate) fn quote(cell: &[u8], out: &mut Vec<u8>) {
    if !needs_quotes(cell) {
        out.extend_from_slice(cell);
        return;
    }
    out.push(b'"');
    for part in cell.split_inclusive(|byte| *byte == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

fn needs_quotes(cell: &[u8]) -> bool {
    cell.iter().any(|byte| matches!(byte, b'"' | b',' | b'\r' | b'\n'))
}

/// Appends seconds, exactly, with three, six or nine decimals.
pub(crate) fn seconds(time: Time, out: &mut Vec<u8>) {
    if time.nanos() < 0 {
        out.push(b'-');
    }
    let ns = time.nanos().unsigned_abs();
    json::u64_text(out, ns / 1_000_000_000);
    let rest = ns % 1_000_000_000;
    let (mut rest, places) = match rest {
        _ if rest.is_multiple_of(1_000_000) => (rest / 1_000_000, 3),
        _ if rest.is_multiple_of(1_000) => (rest / 1_000, 6),
        _ => (rest, 9),
    };
    let mut digits = [b'0'; 10];
    for digit in digits.iter_mut().skip(1).take(places).rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    digits[0] = b'.';
    out.extend_from_slice(digits.get(..=places).unwrap_or_default());
}

/// Bytes are handed on in pieces of about this size.
pub(crate) const FLUSH: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::{quote, seconds};
    use logpose_core::Time;

    #[test]
    fn seconds_are_those_of_time() {
        for ns in [0, 1, -1, 999, 1_000, 1_500_000_000, -1_500_001_000, 12_345_678_901_234, i64::MIN, i64::MAX] {
            let mut out = Vec::new();
            seconds(Time::from_nanos(ns), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), Time::from_nanos(ns).to_string());
        }
    }

    #[test]
    fn cells_are_quoted_only_when_they_must_be() {
        for (cell, quoted) in [
            ("plain text", "plain text"),
            ("", ""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
        ] {
            let mut out = Vec::new();
            quote(cell.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), quoted);
        }
    }
}
