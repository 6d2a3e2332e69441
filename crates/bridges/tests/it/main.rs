//! Logs as files of other fields, and back.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

mod arrow;
mod capture;
mod capture_corpus;
mod capture_fixtures;
mod capture_kit;
mod capture_tcp;
mod crashes;
mod folder;
mod mcap;
mod parquet;
mod rides;
mod roundtrip;
mod store;
mod stream;
mod text;

use logpose_bridges::{Bridge, Header, Piece, Writer};
use logpose_core::{
    Channel, ChannelId, Dialect, FileDialect, Index, Layout, Lookup, Numbers, Problem, Problems, ReadOptions, Sample,
    Sink, SinkError, Time, Type, Value,
};
use logpose_files::Format;

/// What a sink received, call by call, samples one by one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    Channel(ChannelId, Channel),
    Sample(ChannelId, i64, Type, Vec<u8>),
    Metadata(ChannelId, i64, String),
    End(ChannelId, i64),
}

/// A sink that records its calls.
#[derive(Debug, Default)]
pub(crate) struct Recording(pub(crate) Vec<Call>);

impl Sink for Recording {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.0.push(Call::Channel(id, channel.clone()));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.0.extend(samples.iter().map(|sample| {
            let mut payload = Vec::new();
            sample.value.emit(Layout::Little, &mut payload);
            Call::Sample(sample.channel, sample.time.nanos(), sample.value.ty(), payload)
        }));
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.0.push(Call::Metadata(id, time.nanos(), metadata.to_owned()));
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.0.push(Call::End(id, time.nanos()));
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("unexpected: {problem}");
    }
}

/// Tells a sink what was written down, in batches of at most seven samples.
pub(crate) fn send(calls: &[Call], sink: &mut dyn Sink) -> Result<(), SinkError> {
    let is_sample = |call: &Call| matches!(call, Call::Sample(..));
    for run in calls.chunk_by(|a, b| is_sample(a) && is_sample(b)) {
        match run {
            [Call::Channel(id, channel)] => sink.channel(*id, channel)?,
            [Call::Metadata(id, ns, text)] => sink.metadata(*id, Time::from_nanos(*ns), text)?,
            [Call::End(id, ns)] => sink.end(*id, Time::from_nanos(*ns))?,
            samples => {
                let samples: Vec<Sample<'_>> = samples
                    .iter()
                    .map(|call| {
                        let Call::Sample(channel, ns, ty, payload) = call else { panic!("{call:?}") };
                        let value = Value::parse(*ty, payload, Layout::Little).unwrap();
                        Sample { channel: *channel, time: Time::from_nanos(*ns), value }
                    })
                    .collect();
                samples.chunks(7).try_for_each(|samples| sink.samples(samples))?;
            }
        }
    }
    Ok(())
}

/// A log with every type, odd values, changes of metadata, ends, and a channel without samples.
pub(crate) fn log_of_everything() -> (Header, Vec<Call>) {
    let strings = |texts: &[&[u8]]| {
        let mut payload = u32::try_from(texts.len()).unwrap().to_le_bytes().to_vec();
        for text in texts {
            payload.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
            payload.extend(*text);
        }
        payload
    };
    let nan = f32::from_bits(0x7f80_0001).to_le_bytes();
    let values: [(&str, Vec<Vec<u8>>); 15] = [
        ("boolean", vec![vec![0], vec![1]]),
        ("int64", [0, -1, i64::MIN, i64::MAX].map(|x: i64| x.to_le_bytes().to_vec()).to_vec()),
        (
            "float",
            [0.1_f32, -0.0, f32::NAN].map(|x| x.to_le_bytes().to_vec()).into_iter().chain([nan.to_vec()]).collect(),
        ),
        ("double", [0.1_f64, -0.0, f64::NAN, f64::MIN_POSITIVE].map(|x| x.to_le_bytes().to_vec()).to_vec()),
        ("string", vec![b"".to_vec(), "grüße".into(), b"\xff\xfe".to_vec()]),
        ("json", vec![b"{}".to_vec()]),
        ("raw", vec![vec![], vec![0, 255]]),
        ("struct:Pose2d", vec![vec![7; 24]]),
        ("boolean[]", vec![vec![], vec![0, 1, 1], vec![2]]),
        ("int64[]", vec![vec![], vec![9; 16]]),
        ("float[]", vec![vec![], [0.5_f32.to_le_bytes(), nan].concat(), vec![0; 12]]),
        ("double[]", vec![vec![], vec![1; 24]]),
        ("string[]", vec![strings(&[]), strings(&[b"a", b"", b"bc"]), strings(&[b"\xff"])]),
        ("silent", vec![]),
        ("double", vec![vec![0; 8]]),
    ];
    let mut calls = Vec::new();
    let mut header = Header {
        origin: "wpilog".into(),
        facts: vec![("version".into(), "1.0".into()), ("extra_header".into(), "\"é\"".into())],
        epoch_ns: Some(1_700_000_000_000_000_000),
        channels: Vec::new(),
    };
    for (id, (type_name, _)) in (0..).zip(&values) {
        // The last has the name of another, with another type.
        let mut channel = Channel::new(format!("/{}", if id == 14 { 0 } else { id }), *type_name);
        channel.metadata = if id % 3 == 0 { format!("{{\"source\":{id}}}") } else { String::new() };
        channel.unit = (id == 2).then(|| "m/s".to_owned());
        header.channels.push(channel.clone());
        calls.push(Call::Channel(id, channel));
    }
    let types: Vec<Type> = header.channels.iter().map(Channel::ty).collect();
    let mut time = -5_000_000;
    for round in 0..4 {
        for (id, (_, payloads)) in (0..).zip(&values) {
            if let Some(payload) = payloads.get(round % payloads.len().max(1)) {
                time += 1_000;
                calls.push(Call::Sample(id, time, types[id as usize], payload.clone()));
            }
        }
        match round {
            1 => calls.push(Call::Metadata(3, time, "{\"source\":\"other\"}".into())),
            2 => {
                calls.push(Call::End(1, time));
                calls.push(Call::End(2, time + 1));
            }
            _ => {}
        }
    }
    calls.push(Call::End(0, i64::MAX));
    header.channels[3].metadata = "{\"source\":\"other\"}".into();
    (header, calls)
}

/// A log of many samples on a few channels, and the times of which step back now and then.
pub(crate) fn long_log(samples: i64) -> (Header, Vec<Call>) {
    let channels = vec![Channel::new("/a", "double"), Channel::new("/b", "int64"), Channel::new("/c", "string")];
    let header = Header { origin: "wpilog".into(), channels, ..Header::default() };
    let mut calls: Vec<Call> = (0..).zip(&header.channels).map(|(id, c)| Call::Channel(id, c.clone())).collect();
    calls.extend((0..samples).map(|i| {
        let time = if i % 1000 == 999 { i - 500 } else { i } * 20_000;
        let double = i as f64 / 3.0;
        match i % 3 {
            0 => Call::Sample(0, time, Type::Double, double.to_le_bytes().to_vec()),
            1 => Call::Sample(1, time, Type::Int64, (i * i).to_le_bytes().to_vec()),
            _ => Call::Sample(2, time, Type::String, format!("text {}", i % 10).into_bytes()),
        }
    }));
    (header, calls)
}

pub(crate) fn bridge(name: &str) -> &'static Bridge {
    bridges().find(|bridge| bridge.info().name == name).unwrap()
}

pub(crate) fn bridges() -> impl Iterator<Item = &'static Bridge> {
    logpose_files::FORMATS.iter().filter_map(Format::unpacker)
}

/// Writes calls in pieces of at most `rows` calls.
pub(crate) fn write<W: Writer>(mut writer: W, calls: &[Call], rows: usize) {
    for calls in calls.chunks(rows) {
        let mut piece = writer.piece();
        send(calls, &mut piece).unwrap();
        piece.seal().unwrap();
        writer.append(piece).unwrap();
    }
    assert!(writer.finish().unwrap().is_empty());
}

/// Unpacks a file and indexes what came out.
pub(crate) fn open(name: &str, file: &[u8]) -> (Vec<u8>, Index, Problems) {
    let mut problems = Problems::default();
    let mut store = Vec::new();
    bridge(name).unpack(file, &ReadOptions::default(), &mut store, &mut problems).unwrap();
    let index = bridge(name).index(&store, &ReadOptions::default(), &mut problems).unwrap();
    (store, index, problems)
}

/// What the samples of a file are, call by call.
pub(crate) fn replay(name: &str, file: &[u8]) -> (Header, Vec<Call>) {
    let (store, index, problems) = open(name, file);
    assert!(problems.is_empty(), "{problems:?}");
    let mut calls = Recording::default();
    bridge(name).replay(&store, &index, &Lookup::default(), &mut calls).unwrap();
    (bridge(name).header(&store, &ReadOptions::default()).unwrap(), calls.0)
}

/// The numbers of a payload.
pub(crate) fn doubles(payload: &[u8]) -> Vec<f64> {
    Numbers::<f64>::new(payload, Layout::Little).unwrap().iter().collect()
}
