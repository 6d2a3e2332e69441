//! What the fuzz targets call. The ordinary tests run the same functions over recordings and what is left of them.

use std::ops::ControlFlow;

use logpose_core::{
    Channel, ChannelId, Columns, DecodeError, Dialect, EncodeOptions, Encoding, Index, Limits, Lookup, Problems, Read,
    Row, Sample, Sink, SinkError,
};

use crate::Carla;

/// Index with another bound for splitting, for tests with small recordings.
pub fn index_split(log: &[u8], read: &Read<'_>, problems: &mut Problems, split: usize) -> Result<Index, DecodeError> {
    crate::dialect::index(log, read, problems, split)
}

/// Columns with another bound for splitting, for tests with small recordings.
pub fn columns_split(
    log: &[u8],
    read: &Read<'_>,
    problems: &mut Problems,
    split: usize,
) -> Result<Columns, DecodeError> {
    crate::dialect::columns(log, read, problems, split)
}

/// Everything that reads a recording into the model and writes it again; what the ways find must agree.
pub fn model(data: &[u8]) {
    let _ = Carla.sniff(data);
    let limits = Limits { record_len: 1 << 16, channels: 64, held_back: 1 << 16 };
    for salvage in [false, true] {
        let read = Read { limits, salvage, ..Read::default() };
        let _ = Carla.records(data, &read, 0, &mut |line| {
            let _ = line.text.to_string();
            ControlFlow::Continue(())
        });
        let Ok(index) = Carla.index(data, &read, &mut Problems::default()) else { continue };
        let columns = Carla.columns(data, &read, &mut Problems::default());
        let counted = columns.map(|columns| columns.columns.iter().map(|c| c.samples() as u64).sum::<u64>());
        assert_eq!(counted.ok(), Some(index.samples()), "columns and index count the same");
        let mut sink = Count::default();
        let _ = Carla.replay(data, &index, &Lookup::default(), &mut sink);
        assert_eq!(sink.samples, index.samples(), "rows and index count the same");
        let mut found = 0;
        for (id, channel) in (0..).zip(&index.channels) {
            let at: Vec<u64> = channel.positions.iter().collect();
            let mut times = Vec::new();
            Carla.times(data, &index, &at, &mut times);
            let rows: Vec<Row> =
                at.iter().zip(&times).map(|(at, time)| Row { time: *time, at: *at, channel: id }).collect();
            let _ = Carla.samples(data, &index, &rows, &mut |samples| {
                found += samples.len() as u64;
                Ok(())
            });
        }
        assert_eq!(found, index.samples(), "places and index count the same");
        let Some(mut encoder) = Carla.encoder(&EncodeOptions::default()) else { continue };
        let mut out = Vec::new();
        encoder.begin(&mut out);
        let written =
            Carla.replay(data, &index, &Lookup::default(), &mut Encoding { encoder: &mut *encoder, out: &mut out });
        if written.is_ok() {
            encoder.finish(&mut out);
            assert!(Carla.index(&out, &read, &mut Problems::default()).is_ok(), "what is written can be read");
        }
    }
    let mut decoder = Carla.decoder(&Read { limits, ..Read::default() });
    let mut sink = Count::default();
    let mut used = 0;
    for given in [data.len() / 3, data.len() / 2, data.len()] {
        match decoder.decode(data.get(used..given).unwrap_or_default(), &mut sink) {
            Ok(more) => used += more,
            Err(_) => return,
        }
    }
    let _ = decoder.finish(data.get(used..).unwrap_or_default(), &mut sink);
}

/// Counts samples.
#[derive(Default)]
struct Count {
    samples: u64,
}

impl Sink for Count {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.samples += samples.len() as u64;
        Ok(())
    }
}
