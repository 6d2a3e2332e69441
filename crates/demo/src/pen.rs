//! Samples by channel name, to any dialect's encoder.

use std::collections::HashMap;

use logpose_core::{Channel, ChannelId, Encode, EncodeOptions, Layout, Sample, Time, Type, Value};

use logpose_files::{Error, Format};

/// Writes one log into memory.
pub(super) struct Pen {
    encoder: Box<dyn Encode>,
    out: Vec<u8>,
    channels: HashMap<String, (ChannelId, Type)>,
    /// The last payload of each channel, for logs that hold only changes.
    last: Vec<Vec<u8>>,
    only_changes: bool,
    pending: PendingSamples,
}

/// Samples of a cycle that is not yet complete.
type PendingSamples = Vec<(ChannelId, Type, Time, Vec<u8>)>;

impl Pen {
    pub(super) fn new(format: Format, options: &EncodeOptions, only_changes: bool) -> Result<Self, Error> {
        let mut encoder = format.encoder(options)?;
        let mut out = Vec::new();
        encoder.begin(&mut out);
        Ok(Self { encoder, out, channels: HashMap::new(), last: Vec::new(), only_changes, pending: Vec::new() })
    }

    /// Declares a channel with metadata; others are declared by their first value.
    pub(super) fn declare(&mut self, name: &str, type_name: &str, metadata: &str) -> Result<ChannelId, Error> {
        if let Some((id, _)) = self.channels.get(name) {
            return Ok(*id);
        }
        let id = ChannelId::try_from(self.channels.len()).unwrap_or(ChannelId::MAX);
        let mut channel = Channel::new(name, type_name);
        metadata.clone_into(&mut channel.metadata);
        self.encoder.channel(id, &channel, &mut self.out)?;
        self.channels.insert(name.to_owned(), (id, channel.ty()));
        self.last.push(Vec::new());
        Ok(id)
    }

    /// Writes a payload: little-endian, as WPILOG has it.
    pub(super) fn put(&mut self, time: Time, name: &str, type_name: &str, payload: &[u8]) -> Result<(), Error> {
        let id = self.declare(name, type_name, "")?;
        if let Some(last) = self.last.get_mut(id as usize).filter(|_| self.only_changes) {
            if last == payload && !payload.is_empty() {
                return Ok(());
            }
            payload.clone_into(last);
        }
        let ty = Type::of(type_name);
        self.pending.push((id, ty, time, payload.to_vec()));
        Ok(())
    }

    pub(super) fn double(&mut self, time: Time, name: &str, value: f64) -> Result<(), Error> {
        self.put(time, name, "double", &value.to_le_bytes())
    }

    pub(super) fn int(&mut self, time: Time, name: &str, value: i64) -> Result<(), Error> {
        self.put(time, name, "int64", &value.to_le_bytes())
    }

    pub(super) fn boolean(&mut self, time: Time, name: &str, value: bool) -> Result<(), Error> {
        self.put(time, name, "boolean", &[value.into()])
    }

    pub(super) fn text(&mut self, time: Time, name: &str, value: &str) -> Result<(), Error> {
        self.put(time, name, "string", value.as_bytes())
    }

    /// Numbers one after the other: arrays of doubles, and structs of doubles.
    pub(super) fn doubles(&mut self, time: Time, name: &str, type_name: &str, values: &[f64]) -> Result<(), Error> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.put(time, name, type_name, &bytes)
    }

    /// Hands the samples so far to the encoder.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        let samples = self.pending.iter().filter_map(|(channel, ty, time, payload)| {
            let value = Value::parse(*ty, payload, Layout::Little).ok()?;
            Some(Sample { channel: *channel, time: *time, value })
        });
        let samples: Vec<Sample<'_>> = samples.collect();
        self.encoder.samples(&samples, &mut self.out)?;
        self.pending.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<u8>, Error> {
        self.flush()?;
        self.encoder.finish(&mut self.out);
        Ok(self.out)
    }
}
