//! What the fuzz target calls. It has this module alone: the whole crate brings Parquet and Arrow along, which take long to
//! build.

use logpose_core::{
    Channel, ChannelId, Limits, Problem, Problems, ReadOptions, Sample, Sink, SinkError, StreamError, Time, Value,
};

use super::{RefloatRows, VescRows};
use crate::Header;

/// A whole file, read by each of the readers: what comes out must make sense, every problem is in the file, and what the
/// writers make of it reads back to the same.
pub(crate) fn decode(data: &[u8]) {
    for reader in [super::read_refloat, super::read_analysis, super::read_live_log, super::read_float_control] {
        check(data, reader);
    }
    check(data, super::read_floaty);
    for sniff in [super::sniff_refloat, super::sniff_analysis, super::sniff_live_log, super::sniff_float_control] {
        sniff(data);
    }
    super::sniff_floaty(data);
}

type Reader = fn(&[u8], &ReadOptions<'_>, &mut dyn Sink, &mut Problems) -> Result<Header, StreamError>;

fn check(data: &[u8], reader: Reader) {
    let limits = Limits { channels: 1000, ..Limits::default() };
    let read = ReadOptions { limits, ..ReadOptions::default() };
    let (mut ride, mut problems) = (Ride::default(), Problems::default());
    let Ok(header) = reader(data, &read, &mut ride, &mut problems) else { return };
    assert_eq!(header.channels, ride.channels, "channels in the header and channels that were announced");
    for problem in problems.list() {
        assert!(problem.at.unwrap_or(0) <= data.len() as u64, "{problem}: not in the file");
    }
    let mut text = Vec::new();
    if ride.write_recording(&mut text).is_ok() {
        let mut again = Ride::default();
        let read_again = super::read_refloat(&text, &read, &mut again, &mut Problems::default());
        assert!(read_again.is_ok(), "the CSV that was written is not read");
        assert_eq!(ride.sorted(), again.sorted(), "a recording changes on its way");
    }
    let mut text = Vec::new();
    if ride.write_vesc(&mut text).is_ok() && ride.channels.len() < 900 {
        let mut problems = Problems::default();
        let read_again = super::read_analysis(&text, &read, &mut Ride::default(), &mut problems);
        assert!(read_again.is_ok(), "the table that was written is not read");
    }
}

/// What a sink received.
#[derive(Default)]
struct Ride {
    channels: Vec<Channel>,
    samples: Vec<(ChannelId, Time, Owned)>,
}

/// A value without its text.
#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Number(u64),
    Whole(i64),
    Text(Vec<u8>),
    Other,
}

impl Ride {
    /// The samples by the names of their channels, if they are those of a recording.
    fn sorted(&self) -> Vec<(&str, Vec<(Time, Owned)>)> {
        let of = |id: usize| {
            let mine = self.samples.iter().filter(|(channel, ..)| *channel as usize == id);
            mine.map(|(_, time, value)| (*time, value.clone())).collect()
        };
        let mut all: Vec<_> = self.channels.iter().enumerate().map(|(id, c)| (c.name.as_str(), of(id))).collect();
        all.sort_by_key(|(name, _)| *name);
        all
    }

    fn write_recording(&self, out: &mut Vec<u8>) -> Result<(), SinkError> {
        let mut rows = RefloatRows::new(&self.channels, out)?;
        self.emit(&mut rows)?;
        rows.finish()
    }

    fn write_vesc(&self, out: &mut Vec<u8>) -> Result<(), SinkError> {
        let mut rows = VescRows::new(&self.channels, None, out)?;
        self.emit(&mut rows)?;
        rows.finish()
    }

    fn emit(&self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        for (channel, time, value) in &self.samples {
            let ty = self.channels.get(*channel as usize).map(|channel| channel.type_name.as_str());
            #[expect(clippy::cast_possible_truncation, reason = "it was a number of 32 bits")]
            let value = match (value, ty) {
                (Owned::Number(bits), Some("float")) => Value::Float(f64::from_bits(*bits) as f32),
                (Owned::Number(bits), _) => Value::Double(f64::from_bits(*bits)),
                (Owned::Whole(whole), Some("boolean")) => Value::Boolean(*whole != 0),
                (Owned::Whole(whole), _) => Value::Int64(*whole),
                (Owned::Text(text), _) => Value::String(text),
                (Owned::Other, _) => continue,
            };
            sink.samples(&[Sample { channel: *channel, time: *time, value }])?;
        }
        Ok(())
    }
}

impl Sink for Ride {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        assert_eq!(id as usize, self.channels.len(), "numbers follow each other");
        self.channels.push(channel.clone());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let ty = self.channels.get(sample.channel as usize).map(Channel::ty);
            assert_eq!(ty, Some(sample.value.ty()), "a sample of another type");
            let value = match sample.value {
                Value::Float(number) => Owned::Number(f64::from(number).to_bits()),
                Value::Double(number) => Owned::Number(number.to_bits()),
                Value::Boolean(flag) => Owned::Whole(flag.into()),
                Value::Int64(whole) => Owned::Whole(whole),
                Value::String(text) => Owned::Text(text.to_vec()),
                _ => Owned::Other,
            };
            self.samples.push((sample.channel, sample.time, value));
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // Readers of rides report to `Problems`; what is read twice is compared by its samples.
    }
}
