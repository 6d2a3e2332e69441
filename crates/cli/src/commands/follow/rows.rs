//! Samples as `cat` prints them, as they arrive.

use std::io::{self, Write};

use logpose::core::{Channel, ChannelId, Encode, Problem, Sample, Sink, SinkError, Value};
use logpose::schema::Registry;
use logpose::{RowEncoder, Schemas};

use super::{Print, Wanted};
use crate::human::{clean, push_time};
use crate::screen::{NAME, Out, TIME};

/// Lines for people. Columns get wider as longer names and times come.
pub(in crate::commands) struct TextRows<'a> {
    pub(in crate::commands) wanted: Wanted,
    left: u64,
    schemas: Schemas,
    /// By the number of the channel, with its width.
    names: Vec<(String, usize)>,
    widest_name: usize,
    widest_time: usize,
    time: String,
    line: String,
    out: &'a mut Out,
}

impl<'a> TextRows<'a> {
    pub(in crate::commands) fn new(wanted: Wanted, limit: Option<u64>, out: &'a mut Out) -> Self {
        Self {
            wanted,
            left: limit.unwrap_or(u64::MAX),
            schemas: Schemas::default(),
            names: Vec::new(),
            widest_name: 0,
            widest_time: 0,
            time: String::new(),
            line: String::new(),
            out,
        }
    }

    /// What the schemas did not explain.
    pub(in crate::commands) fn problems(&self) -> Vec<Problem> {
        self.schemas.problems()
    }
}

impl Sink for TextRows<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let wanted = self.wanted.channel(id, channel);
        let name = clean(&channel.name).into_owned();
        let width = name.chars().count();
        if wanted && width <= super::super::cat::WIDEST {
            self.widest_name = self.widest_name.max(width);
        }
        let place = id as usize;
        if self.names.len() <= place {
            self.names.resize_with(place + 1, Default::default);
        }
        if let Some(known) = self.names.get_mut(place) {
            *known = (name, width);
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let Some((channel, wanted)) = self.wanted.sample(sample) else { continue };
            if wanted {
                if self.left == 0 {
                    return Err(SinkError::Stopped);
                }
                self.left -= 1;
                self.time.clear();
                push_time(sample.time.nanos(), &mut self.time);
                self.widest_time = self.widest_time.max(self.time.len());
                self.line.clear();
                self.schemas.write_text(channel, &sample.value, &mut self.line);
                if self.line.contains(char::is_control) {
                    self.line = clean(&self.line).into_owned();
                }
                let (name, width) = self.names.get(sample.channel as usize).map_or(("", 0), |(name, n)| (name, *n));
                let padding = self.widest_name.saturating_sub(width);
                let time = self.out.paint(TIME, format_args!("{:>1$}", self.time, self.widest_time)).to_string();
                let name = self.out.paint(NAME, name).to_string();
                writeln!(self.out, "{time}  {name}{:padding$}  {}", "", self.line)?;
            }
            learn(channel, sample, |channel, payload| self.schemas.add(channel, payload));
        }
        // No further sample will be printed, so nobody waits for one.
        if self.left == 0 { Err(SinkError::Stopped) } else { Ok(()) }
    }

    fn problem(&mut self, _: Problem) {}
}

impl Print for TextRows<'_> {
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Lines for programs.
pub(in crate::commands) struct DataRows<'a> {
    pub(in crate::commands) wanted: Wanted,
    left: u64,
    encoder: RowEncoder,
    bytes: Vec<u8>,
    out: &'a mut Out,
}

impl<'a> DataRows<'a> {
    pub(in crate::commands) fn new(
        wanted: Wanted,
        limit: Option<u64>,
        mut encoder: RowEncoder,
        out: &'a mut Out,
    ) -> Self {
        let mut bytes = Vec::new();
        encoder.begin(&mut bytes);
        Self { wanted, left: limit.unwrap_or(u64::MAX), encoder, bytes, out }
    }

    /// What the schemas did not explain.
    pub(in crate::commands) fn problems(&mut self) -> Vec<Problem> {
        self.encoder.finish(&mut Vec::new())
    }
}

impl Sink for DataRows<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.wanted.channel(id, channel);
        Ok(self.encoder.channel(id, channel, &mut self.bytes)?)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let Some((channel, wanted)) = self.wanted.sample(sample) else { continue };
            if !wanted {
                learn(channel, sample, |channel, payload| self.encoder.explain(channel, payload));
                continue;
            }
            if self.left == 0 {
                return Err(SinkError::Stopped);
            }
            self.left -= 1;
            self.encoder.samples(std::slice::from_ref(sample), &mut self.bytes)?;
        }
        if self.bytes.len() >= FULL {
            self.write()?;
        }
        if self.left == 0 { Err(SinkError::Stopped) } else { Ok(()) }
    }

    fn problem(&mut self, _: Problem) {}
}

impl DataRows<'_> {
    fn write(&mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

impl Print for DataRows<'_> {
    fn flush(&mut self) -> io::Result<()> {
        self.write()?;
        self.out.flush()
    }
}

/// Takes a schema in.
fn learn(channel: &Channel, sample: &Sample<'_>, add: impl FnOnce(&Channel, &[u8])) {
    if let Value::String(payload) | Value::Bytes(payload) = sample.value
        && Registry::is_schema(&channel.name, &channel.type_name)
    {
        add(channel, payload);
    }
}

const FULL: usize = 256 << 10;
