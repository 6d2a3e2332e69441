use logpose_bridges::mcap::{Compression, McapOptions, McapWriter, read};
use logpose_bridges::{Header, Piece, Writer};
use logpose_core::{
    Channel, ChannelId, Layout, Problems, Read, Sample, Severity, Sink, SinkError, Time, Value, serially,
};
use logpose_schema::Registry;
use mcap::records::Record;

/// Writes down all calls, values as their bytes.
#[derive(Default)]
struct Diary(Vec<String>);

impl Sink for Diary {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.0.push(format!("channel {id} {channel:?}"));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let mut bytes = Vec::new();
            sample.value.emit(Layout::Little, &mut bytes);
            self.0.push(format!("{} {} {:?} {bytes:02x?}", sample.channel, sample.time.nanos(), sample.value.ty()));
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.0.push(format!("metadata {id} {} {metadata}", time.nanos()));
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.0.push(format!("end {id} {}", time.nanos()));
        Ok(())
    }
}

const POSE: [(&str, &str); 3] = [
    ("Pose2d", "Translation2d translation;Rotation2d rotation"),
    ("Translation2d", "double x;double y"),
    ("Rotation2d", "double value"),
];

const MIXED: &str = "enum{off=0,on=1} uint8 state;char name[4];bool flags[2];uint8 low:3;uint8 high:5;\
                     Translation2d corners[2];float x;";

fn registry() -> Registry {
    let mut registry = Registry::new();
    for (name, text) in POSE.into_iter().chain([("Mixed", MIXED)]) {
        registry.add(&format!("/.schema/struct:{name}"), "structschema", text.as_bytes()).unwrap();
    }
    let descriptor = descriptor("point.proto", "Point");
    registry.add("/.schema/proto:point.proto", "proto:FileDescriptorProto", &descriptor).unwrap();
    registry
}

/// A file with the message `name`, which has a double `x`.
fn descriptor(path: &str, name: &str) -> Vec<u8> {
    let nested = |tag: u8, bytes: &[u8]| [&[tag << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat();
    let field = [nested(1, b"x"), vec![3 << 3, 1, 4 << 3, 1, 5 << 3, 1]].concat();
    let message = [nested(1, name.as_bytes()), nested(2, &field)].concat();
    [nested(1, path.as_bytes()), nested(4, &message), nested(12, b"proto3")].concat()
}

fn header() -> Header {
    let types = [
        "boolean",
        "int64",
        "float",
        "double",
        "string",
        "raw",
        "boolean[]",
        "int64[]",
        "float[]",
        "double[]",
        "string[]",
        "json",
        "msgpack",
        "proto:Point",
        "proto:Unknown",
        "struct:Pose2d",
        "struct:Pose2d[]",
        "struct:Pose2d[2]",
        "struct:Unknown",
        "struct:Mixed",
        "photonstruct:Target:1234",
        "structschema",
    ];
    let mut channels: Vec<_> =
        types.iter().map(|ty| Channel::new(format!("/{}", ty.replacen(':', "-", 1)), *ty)).collect();
    channels.push(Channel::new("/silent", "double"));
    channels.push(Channel::new("/two", "double"));
    channels.push(Channel::new("/two", "string"));
    channels[0].unit = Some("m".into());
    channels[1].metadata = "{\"last\":true}".into();
    channels[2].family = Some(("motor".into(), "7".into()));
    let facts = vec![("extra_header".into(), "é\"".into()), ("version".into(), "1.0".into())];
    Header { origin: "wpilog".into(), facts, epoch_ns: Some(-7), channels }
}

/// A payload for a type, and what does not fit its schema.
fn payloads(type_name: &str) -> Vec<Vec<u8>> {
    let doubles = |n: u32| (0..n).flat_map(|x| f64::from(x).to_le_bytes()).collect::<Vec<u8>>();
    match type_name {
        "boolean" => vec![vec![1], vec![0]],
        "float" => vec![f32::NAN.to_le_bytes().to_vec()],
        "int64" | "double" => vec![vec![1, 2, 3, 4, 5, 6, 7, 0xff]],
        "int64[]" | "double[]" => vec![vec![], doubles(3)],
        "float[]" => vec![vec![], vec![0, 0, 0x80, 0x7f]],
        "string[]" => vec![vec![0; 4], b"\x02\0\0\0\0\0\0\0\x01\0\0\0\xff".to_vec()],
        "json" => vec![b"{\"a\":1}".to_vec()],
        "msgpack" => vec![vec![0x81, 0xa1, b'a', 1]],
        "proto:Point" => vec![[&[1 << 3 | 1][..], &1.5_f64.to_le_bytes()].concat(), vec![]],
        "struct:Pose2d" | "struct:Pose2d[]" | "struct:Pose2d[2]" => {
            vec![doubles(3), doubles(6), doubles(2), vec![9], vec![]]
        }
        "struct:Mixed" => vec![vec![7; 44], vec![7; 43]],
        _ => vec![b"any bytes \xff".to_vec(), vec![]],
    }
}

/// Gives a log to a sink: all types, events in between, times below zero and out of order.
fn play(header: &Header, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut ns = -5_000_i64;
    for round in 0..3 {
        for (id, channel) in (0..).zip(&header.channels) {
            if channel.name == "/silent" {
                continue;
            }
            if round == 0 {
                let metadata = if id == 1 { String::new() } else { channel.metadata.clone() };
                sink.channel(id, &Channel { metadata, ..channel.clone() })?;
            }
            for payload in payloads(&channel.type_name) {
                ns += if id % 2 == 0 { 3_000 } else { -1_000 };
                let value = Value::parse(channel.ty(), &payload, Layout::Little).unwrap();
                sink.samples(&[Sample { channel: id, time: Time::from_nanos(ns), value }])?;
            }
            if round == 1 && id == 1 {
                sink.metadata(id, Time::from_nanos(-9_000), &channel.metadata)?;
            }
            if round == 1 && id % 5 == 0 {
                sink.end(id, Time::from_nanos(ns))?;
            }
        }
    }
    let silent = header.channels.iter().position(|channel| channel.name == "/silent").unwrap();
    sink.channel(u32::try_from(silent).unwrap(), &header.channels[silent])
}

fn write(compression: Compression, poses: bool, pieces: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let options = McapOptions { compression, poses, earliest: Time::from_nanos(-6_000) };
    let mut writer = McapWriter::new(&mut out, &header(), &registry(), &options).unwrap();
    let mut all = Vec::new();
    for _ in 0..pieces {
        all.push(writer.piece());
    }
    for piece in &mut all {
        play(&header(), piece).unwrap();
        assert!(piece.rows() > 50 && piece.size() > 0);
        piece.seal().unwrap();
    }
    all.into_iter().for_each(|piece| writer.append(piece).unwrap());
    assert_eq!(writer.finish().unwrap(), []);
    out
}

fn read_back(file: &[u8], sink: &mut dyn Sink) -> (Header, Problems) {
    let mut problems = Problems::default();
    let header = read(file, &Read { threads: 2, join: &serially, ..Read::default() }, sink, &mut problems).unwrap();
    (header, problems)
}

const ALL: [Compression; 3] = [Compression::Zstd, Compression::Lz4, Compression::None];

#[test]
fn every_type_and_event_comes_back_in_its_place() {
    let mut expected = Diary::default();
    play(&header(), &mut expected).unwrap();
    for compression in ALL {
        for poses in [true, false] {
            let file = write(compression, poses, 1);
            let mut found = Diary::default();
            let (back, problems) = read_back(&file, &mut found);
            assert!(problems.is_empty(), "{:?}", problems.list());
            assert_eq!(back, header());
            assert_eq!(found.0, expected.0);
        }
    }
}

#[test]
fn the_file_is_what_the_mcap_crate_expects() {
    for compression in ALL {
        let file = write(compression, true, 3);
        let summary = mcap::Summary::read(&file).unwrap().unwrap();
        let stats = summary.stats.as_ref().unwrap();
        assert_eq!((stats.chunk_count, summary.chunk_indexes.len(), stats.metadata_count), (3, 3, 1));
        let mut count = 0;
        for message in mcap::MessageStream::new(&file).unwrap() {
            let message = message.unwrap();
            assert!(message.log_time >= stats.message_start_time && message.log_time <= stats.message_end_time);
            count += 1;
        }
        assert_eq!(count, stats.message_count);
        let mut indexed = 0;
        for chunk in &summary.chunk_indexes {
            for (channel, entries) in summary.read_message_indexes(&file, chunk).unwrap() {
                for entry in entries {
                    let message = summary.seek_message(&file, chunk, &entry).unwrap();
                    assert_eq!((message.channel.id, message.log_time), (channel.id, entry.log_time));
                    indexed += 1;
                }
            }
        }
        assert_eq!(indexed, count);
        let mut ends = 0;
        for record in mcap::read::LinearReader::new(&file).unwrap() {
            if let Record::DataEnd(end) = record.unwrap() {
                assert_ne!(end.data_section_crc, 0);
                ends += 1;
            }
        }
        assert_eq!(ends, 1);
    }
}

#[test]
fn viewers_find_schemas_that_fit_the_bytes() {
    let file = write(Compression::None, true, 1);
    let summary = mcap::Summary::read(&file).unwrap().unwrap();
    let schema = |topic: &str| {
        let channel = summary.channels.values().find(|channel| channel.topic == topic).unwrap();
        let text = |schema: &mcap::Schema<'_>| String::from_utf8_lossy(&schema.data).into_owned();
        let name = channel.schema.as_ref().map(|schema| schema.name.clone()).unwrap_or_default();
        (channel.message_encoding.clone(), name, channel.schema.as_ref().map(|s| text(s)).unwrap_or_default())
    };
    let line = "=".repeat(80);
    let pose = format!(
        "wpilib/Translation2d translation\nwpilib/Rotation2d rotation\n{line}\nMSG: wpilib/Rotation2d\nfloat64 value\n\
         {line}\nMSG: wpilib/Translation2d\nfloat64 x\nfloat64 y\n"
    );
    assert_eq!(schema("/struct-Pose2d"), ("ros1".into(), "wpilib/Pose2d".into(), pose));
    let mixed = format!(
        "uint8 off=0\nuint8 on=1\nuint8 state\nuint8[4] name\nbool[2] flags\nuint8 bits0 # low:3 high:5\n\
         wpilib/Translation2d[2] corners\nfloat32 x\n{line}\nMSG: wpilib/Translation2d\nfloat64 x\nfloat64 y\n"
    );
    assert_eq!(schema("/struct-Mixed"), ("ros1".into(), "wpilib/Mixed".into(), mixed));
    assert_eq!(schema("/double").1, "std_msgs/Float64");
    assert_eq!(schema("/two (string)").1, "std_msgs/String");
    assert_eq!(schema("/struct-Unknown").1, "logpose/Bytes");
    assert_eq!(schema("/photonstruct-Target:1234").1, "photonstruct/Target");
    assert_eq!(schema("/proto-Point").0, "protobuf");
    assert_eq!(schema("/struct-Pose2d/foxglove").1, "foxglove.PoseInFrame");
}
