//! Logs streamed sample by sample into an MCAP file that does not know what follows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use logpose::bridges::mcap::{McapOptions, McapStream};
use logpose::core::{Sink, Time};
use logpose::{ConvertOptions, Feed, Log, Order};
use logpose_carla::WireFormat;
use tempfile::TempDir;

use crate::carla::recording;
use crate::support::{AKIT, DATALOG, R1, R2, convert_to, demo_dir, open, open_demo, rows};

/// A file from a stream of the log.
fn stream(log: &[Log], path: &Path) {
    let feed = Feed::new(log, Vec::new());
    let earliest = feed.range().map_or(Time::ZERO, |(first, _)| first);
    let file = fs::File::create(path).unwrap();
    let mut stream =
        McapStream::new(file, log[0].epoch_ns(), &McapOptions { earliest, ..McapOptions::default() }).unwrap();
    feed.run(Order::File, &mut stream as &mut dyn Sink).unwrap();
    stream.flush().unwrap();
    assert_eq!(stream.finish().unwrap(), []);
}

/// The messages of a file by topic and schema, without the events.
fn messages(path: &Path) -> BTreeMap<String, Vec<(u64, Vec<u8>)>> {
    let file = fs::read(path).unwrap();
    let mut found: BTreeMap<String, Vec<(u64, Vec<u8>)>> = BTreeMap::new();
    for message in mcap::MessageStream::new(&file).unwrap() {
        let message = message.unwrap();
        let schema = message.channel.schema.as_ref().map_or(String::new(), |schema| schema.name.clone());
        let topic = format!("{} {schema}", message.channel.topic);
        found.entry(topic).or_default().push((message.log_time, message.data.into_owned()));
    }
    found.retain(|topic, _| !topic.starts_with("logpose/events"));
    found
}

#[test]
fn a_streamed_log_is_the_log() {
    let dir = TempDir::new().unwrap();
    for name in [DATALOG, AKIT, R1, R2] {
        let log = [open_demo(name)];
        let path = dir.path().join(format!("{name}.mcap"));
        stream(&log, &path);
        let back = [open(&path)];
        assert_eq!(rows(&back, Vec::new(), Order::File), rows(&log, Vec::new(), Order::File), "{name}");
        assert_eq!(back[0].epoch_ns(), log[0].epoch_ns());
        let channels = |log: &Log| log.index.channels.iter().map(|c| c.channel.clone()).collect::<Vec<_>>();
        assert_eq!(channels(&back[0]), channels(&log[0]), "{name}");
        assert!(back[0].problems.is_empty());
        // Without its end it has the same samples, and says that it is cut.
        let whole = fs::read(&path).unwrap();
        let summary = mcap::Summary::read(&whole).unwrap().unwrap();
        let ends = summary.chunk_indexes.iter().map(|c| c.chunk_start_offset + c.chunk_length + c.message_index_length);
        let end = ends.max().unwrap();
        fs::write(&path, &whole[..usize::try_from(end).unwrap()]).unwrap();
        let cut = [open(&path)];
        assert_eq!(rows(&cut, Vec::new(), Order::File), rows(&log, Vec::new(), Order::File), "{name}");
        assert_eq!(cut[0].problems.list().iter().map(|problem| problem.code).collect::<Vec<_>>(), ["truncated"]);
    }
}

#[test]
fn viewers_see_a_stream_as_they_see_the_converted_log() {
    let dir = TempDir::new().unwrap();
    let recorded = dir.path().join("a.log");
    fs::write(&recorded, recording(WireFormat::default(), 40, 5)).unwrap();
    for (number, path) in [demo_dir().join(AKIT), demo_dir().join(R2), recorded].into_iter().enumerate() {
        let log = [open(&path)];
        let streamed = dir.path().join(format!("streamed{number}.mcap"));
        let converted = dir.path().join(format!("converted{number}.mcap"));
        stream(&log, &streamed);
        convert_to(&log, Vec::new(), &converted, &ConvertOptions::default()).unwrap();
        let (streamed, converted) = (messages(&streamed), messages(&converted));
        assert_eq!(streamed.keys().collect::<Vec<_>>(), converted.keys().collect::<Vec<_>>());
        for (topic, mut messages) in streamed {
            // A scene is drawn whole each time, and once more where a stream hears of someone who comes later.
            if topic.starts_with("/carla/scene") {
                messages.retain(|message| converted[&topic].contains(message));
            }
            assert!(messages == converted[&topic], "{topic} of {}", path.display());
        }
    }
}
