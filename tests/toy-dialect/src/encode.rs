//! Samples to records.

use logpose_core::{Channel, ChannelId, Encode, EncodeError, Problem, Sample, Time, Type, Value};

use super::dialect::INFO;
use super::wire::{MAGIC, Record};

/// Writes a file. What the format cannot say is refused, with the name of the channel.
#[derive(Default)]
pub(super) struct Encoder {
    /// The name of each channel, by its number.
    names: Vec<String>,
}

impl Encode for Encoder {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend(MAGIC);
    }

    fn channel(&mut self, id: ChannelId, channel: &Channel, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let refused = |why: &str| EncodeError::new(INFO.name, &*channel.name, why);
        let number = u8::try_from(id).map_err(|_| refused("a toy log has at most 256 channels"))?;
        if channel.ty() != Type::Double {
            return Err(refused("a toy log holds only numbers of the type double"));
        }
        if channel.name.len() > 255 {
            return Err(refused("a toy log has names of at most 255 bytes"));
        }
        let place = usize::from(number);
        self.names.resize(self.names.len().max(place + 1), String::new());
        if let Some(name) = self.names.get_mut(place) {
            *name = channel.name.to_string();
        }
        Record::Start { id: number, name: &channel.name }.emit(out);
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        for (place, sample) in samples.iter().enumerate() {
            match (u8::try_from(sample.channel), sample.value) {
                (Ok(id), Value::Double(value)) => Record::Sample { id, micros: sample.time.micros(), value }.emit(out),
                _ => {
                    let name = self.names.get(sample.channel as usize).cloned().unwrap_or_default();
                    return Err(EncodeError::new(INFO.name, name, "expected a double").of_sample(place));
                }
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
        Vec::new()
    }
}
