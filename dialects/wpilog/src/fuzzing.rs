//! What the fuzz targets call. The ordinary tests run the same functions over all fixtures.

use logpose_core::fuzzing::check_readings;
use logpose_core::{
    Channel, ChannelId, EncodeOptions, Encoding, FileDialect, Lookup, Problem, Problems, ReadOptions, Sample, Sink,
    SinkError, serially,
};

use crate::{Reader, Wpilog};

/// Everything that can be done with bytes from outside: none of it may panic.
pub fn decode(data: &[u8]) {
    if let Ok(reader) = Reader::new(data) {
        reader.for_each(|record| drop(record.map(|record| record.to_string())));
    }
    everything(data, false);
    let Some(mut stream) = Wpilog.decoder(&ReadOptions::default()) else { return };
    let mut count = Count(0);
    if let Ok(used) = stream.decode(data, &mut count)
        && stream.finish(data.get(used..).unwrap_or_default(), &mut count).is_ok()
        && let Ok(index) = Wpilog.index(data, &ReadOptions::default(), &mut Problems::default())
    {
        // A log may use the letters of a second header as an id; only the walk then takes them for one.
        let second = data.windows(4).filter(|bytes| bytes == b"PILO").count() > 1;
        assert!(second || count.0 == index.samples(), "the samples of the stream are not those of the index");
    }
}

/// The same with the search for records behind damage.
pub fn recover(data: &[u8]) {
    everything(data, true);
}

/// What was read and written again reads the same.
pub fn roundtrip(data: &[u8]) {
    let Some(first) = rewritten(data) else { return };
    let Some(second) = rewritten(&first) else { unreachable!("a log that we wrote cannot be read") };
    assert!(first == second, "a log that we wrote reads as another");
}

fn everything(data: &[u8], salvage: bool) {
    let read = ReadOptions { salvage, ..ReadOptions::default() };
    let mut problems = Problems::default();
    let Ok(index) = Wpilog.index(data, &read, &mut problems) else { return };
    let twice = Wpilog.index(data, &ReadOptions { threads: 2, join: &serially, ..read }, &mut Problems::default());
    assert!(twice.is_ok_and(|twice| twice.samples() == index.samples()), "two parts give another index than one");
    check_readings(&Wpilog, data, &index);
}

fn rewritten(data: &[u8]) -> Option<Vec<u8>> {
    let index = Wpilog.index(data, &ReadOptions::default(), &mut Problems::default()).ok()?;
    let mut out = Vec::new();
    let mut encoder = Wpilog.encoder(&EncodeOptions::default())?;
    encoder.begin(&mut out);
    let mut sink = Encoding { encoder: &mut *encoder, out: &mut out, problems: &mut Problems::default() };
    Wpilog.replay(data, &index, &Lookup::default(), &mut sink).ok()?;
    encoder.finish(&mut out);
    Some(out)
}

struct Count(u64);

impl Sink for Count {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.0 += samples.len() as u64;
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // Only samples are counted; streams are read here to see that nothing panics.
    }
}
