use logpose_bridges::mcap::{Compression, McapOptions, McapWriter, read};
use logpose_bridges::{Header, Piece, Writer};
use logpose_core::{
    Channel, ChannelId, Layout, Problem, Problems, ReadOptions, Sample, Severity, Sink, SinkError, Time, Value,
    serially,
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

    fn problem(&mut self, problem: Problem) {
        panic!("unexpected: {problem}");
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
    channels[2].family = Some(Box::new(("motor".into(), "7".into())));
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
    let header =
        read(file, &ReadOptions { threads: 2, join: &serially, ..ReadOptions::default() }, sink, &mut problems)
            .unwrap();
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

#[test]
fn a_file_is_read_as_far_as_it_is_whole() {
    let whole = write(Compression::Zstd, false, 3);
    let mut all = Diary::default();
    read_back(&whole, &mut all);
    let mut most = 0;
    let tail = whole.len() - 60..whole.len();
    for end in (8..whole.len()).step_by(whole.len() / 300).chain(tail) {
        let mut found = Diary::default();
        let (_, problems) = read_back(&whole[..end], &mut found);
        assert!(!problems.is_empty(), "{end}");
        let samples =
            |diary: &Diary| diary.0.iter().filter(|line| !line.starts_with("channel")).cloned().collect::<Vec<_>>();
        let (part, all) = (samples(&found), samples(&all));
        assert_eq!(part, all[..part.len()]);
        most = most.max(part.len());
    }
    let end = whole.len() - 20;
    let (_, problems) = read_back(&whole[..end], &mut Diary::default());
    assert_eq!(problems.worst(), Some(Severity::Warning), "{:?}", problems.list());
    assert_eq!(most, all.0.iter().filter(|line| !line.starts_with("channel")).count());
    let error =
        read(b"\x89MCAP1", &ReadOptions::default(), &mut Diary::default(), &mut Problems::default()).unwrap_err();
    assert_eq!(error.to_string(), "mcap: byte 0x0: expected the MCAP magic bytes 89 4d 43 41 50 30 0d 0a");
}

#[test]
fn flipped_bytes_are_noticed_and_never_panic() {
    for compression in ALL {
        let whole = write(compression, true, 1);
        for (at, flip) in (8..whole.len()).step_by(whole.len() / 600).zip([0xff, 0x01, 0x80].into_iter().cycle()) {
            let mut file = whole.clone();
            file[at] ^= flip;
            read_back(&file, &mut Diary::default());
        }
        let mut file = whole.clone();
        let chunk = &mcap::Summary::read(&whole).unwrap().unwrap().chunk_indexes[0];
        file[(chunk.chunk_start_offset + chunk.chunk_length / 2) as usize] ^= 0x10;
        let (_, problems) = read_back(&file, &mut Diary::default());
        assert_eq!(problems.list()[0].code, "bad-chunk", "{:?}", problems.list());
    }
}

/// The front of a file with one record behind it.
fn with_record(opcode: u8, body: &[u8]) -> Vec<u8> {
    let length = u64::try_from(body.len()).unwrap();
    [mcap::MAGIC, &[opcode], &length.to_le_bytes(), body].concat()
}

#[test]
fn claims_are_not_believed() {
    let mut file = write(Compression::Zstd, true, 1);
    let chunk = mcap::Summary::read(&file).unwrap().unwrap().chunk_indexes[0].chunk_start_offset;
    // The size of the records stands behind the frame and two times.
    let size = usize::try_from(chunk).unwrap() + 9 + 16;
    for claim in [1_u64 << 30, 1 << 62, u64::MAX] {
        file[size..size + 8].copy_from_slice(&claim.to_le_bytes());
        let (_, problems) = read_back(&file, &mut Diary::default());
        let problem = &problems.list()[0];
        assert_eq!((problem.code, problem.at), ("bad-chunk", Some(chunk)));
        assert!(problem.message.contains("would decompress to"), "{}", problem.message);
        assert!(problem.message.ends_with("; lost its messages"), "{}", problem.message);
    }
    // A chunk of no compression with a record that reaches behind it, and records that end too early.
    let chunk = [&[0; 28][..], &[0; 4], &9_u64.to_le_bytes(), &[5, 4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]].concat();
    for (opcode, body, code) in [
        (mcap::records::op::CHUNK, chunk.as_slice(), "bad-chunk"),
        (mcap::records::op::CHUNK, &chunk[..30], "bad-chunk"),
        (mcap::records::op::ATTACHMENT, &[0; 32], "bad-record"),
        (mcap::records::op::CHANNEL, &[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, b'a'], "bad-record"),
    ] {
        let (_, problems) = read_back(&with_record(opcode, body), &mut Diary::default());
        let codes: Vec<_> = problems.list().iter().map(|problem| problem.code).collect();
        assert!(codes.contains(&code), "{opcode} {codes:?}");
    }
}

#[test]
fn a_damaged_message_outside_of_chunks_is_noticed() {
    let mut file = foreign(None, false);
    let at = file.windows(3).rposition(|window| window == b"[1]").unwrap();
    file[at + 1] = b'2';
    let (_, problems) = read_back(&file, &mut Diary::default());
    assert_eq!(problems.list()[0].code, "data-crc", "{:?}", problems.list());
}

#[test]
fn what_was_given_up_does_not_look_whole() {
    let mut out = Vec::new();
    let mut writer = McapWriter::new(
        &mut out,
        &header(),
        &registry(),
        &McapOptions { earliest: Time::from_nanos(-6_000), ..McapOptions::default() },
    )
    .unwrap();
    let mut piece = writer.piece();
    play(&header(), &mut piece).unwrap();
    writer.append(piece).unwrap();
    drop(writer);
    let mut found = Diary::default();
    let (_, problems) = read_back(&out, &mut found);
    assert_eq!(problems.list()[0].code, "truncated");
    let mut expected = Diary::default();
    play(&header(), &mut expected).unwrap();
    assert_eq!(found.0, expected.0);
}

/// A file of others, made with the mcap crate.
fn foreign(compression: Option<mcap::Compression>, chunks: bool) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    let options = mcap::WriteOptions::new().compression(compression).use_chunks(chunks).chunk_size(Some(200));
    let mut writer = options.create(&mut out).unwrap();
    let float = writer.add_schema("std_msgs/Float64", "ros1msg", b"float64 data").unwrap();
    let byte = writer.add_schema("std_msgs/Int8", "ros1msg", b"int8 data").unwrap();
    let twist = b"Vector3 linear\n===\nMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\n";
    let twist = writer.add_schema("geometry_msgs/Twist", "ros1msg", twist).unwrap();
    let named = writer.add_schema("a/Named", "ros1msg", b"string name\nuint8 n").unwrap();
    let set = [&[1 << 3 | 2, u8::try_from(descriptor("p.proto", "P").len()).unwrap()], &descriptor("p.proto", "P")[..]];
    let proto = writer.add_schema("P", "protobuf", &set.concat()).unwrap();
    let cdr = writer.add_schema("sensor_msgs/msg/Imu", "ros2msg", b"").unwrap();
    let empty = std::collections::BTreeMap::new();
    let point = [&[1 << 3 | 1][..], &1.5_f64.to_le_bytes()].concat();
    let messages: [(&str, u16, &str, Vec<u8>); 8] = [
        ("/float", float, "ros1", 0.5_f64.to_le_bytes().to_vec()),
        ("/byte", byte, "ros1", vec![0xfe]),
        ("/twist", twist, "ros1", vec![0; 16]),
        ("/named", named, "ros1", b"\x02\0\0\0ab\x07".to_vec()),
        ("/proto", proto, "protobuf", point),
        ("/json", 0, "json", b"[1]".to_vec()),
        ("/imu", cdr, "cdr", vec![0, 1, 2]),
        ("/none", 0, "", vec![9]),
    ];
    let channels = messages
        .each_ref()
        .map(|(topic, schema, encoding, _)| writer.add_channel(*schema, topic, encoding, &empty).unwrap());
    for sequence in 0..2 {
        for (channel, (.., data)) in channels.iter().zip(&messages) {
            let log_time = 1_700_000_000_000_000_000 + u64::from(sequence);
            let header =
                mcap::records::MessageHeader { channel_id: *channel, sequence, log_time, publish_time: log_time };
            writer.write_to_known_channel(&header, data).unwrap();
        }
    }
    writer.finish().unwrap();
    drop(writer);
    out.into_inner()
}

#[test]
fn files_of_others_become_values() {
    for (compression, chunks) in
        [(Some(mcap::Compression::Zstd), true), (Some(mcap::Compression::Lz4), true), (None, true), (None, false)]
    {
        let file = foreign(compression, chunks);
        let mut found = Diary::default();
        let (header, problems) = read_back(&file, &mut found);
        assert!(problems.is_empty(), "{:?}", problems.list());
        assert_eq!(header.epoch_ns, Some(0));
        let mut types: Vec<_> = header.channels.iter().map(|c| format!("{} {}", c.name, c.type_name)).collect();
        types.sort();
        let expected = [
            "/.schema/proto:p.proto proto:FileDescriptorProto",
            "/.schema/struct:geometry_msgs_Twist structschema",
            "/.schema/struct:geometry_msgs_Vector3 structschema",
            "/byte int64",
            "/float double",
            "/imu cdr:sensor_msgs/msg/Imu",
            "/json json",
            "/named json",
            "/none raw",
            "/proto proto:P",
            "/twist struct:geometry_msgs_Twist",
        ];
        assert_eq!(types, expected);
        let id = |name: &str| header.channels.iter().position(|channel| channel.name == name).unwrap();
        let text = br#"{"name":"ab","n":7}"#;
        for (name, value) in
            [("/byte", format!("Int64 {:02x?}", (-2_i64).to_le_bytes())), ("/named", format!("String {text:02x?}"))]
        {
            for ns in [1_700_000_000_000_000_000_i64, 1_700_000_000_000_000_001] {
                assert!(found.0.contains(&format!("{} {ns} {value}", id(name))), "{name} {:#?}", found.0);
            }
        }
    }
}

/// The schemas that a file of others brings along are such that its values are decoded.
#[test]
fn values_of_others_are_decoded() {
    struct Decoded(Registry, Vec<Channel>, Vec<String>);
    impl Sink for Decoded {
        fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
            self.1.resize(self.1.len().max(id as usize + 1), Channel::default());
            self.1[id as usize] = channel.clone();
            Ok(())
        }

        fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
            for sample in samples {
                let channel = &self.1[sample.channel as usize];
                let (Value::Bytes(payload) | Value::String(payload)) = sample.value else { continue };
                if Registry::is_schema(&channel.name, &channel.type_name) {
                    self.0.add(&channel.name, &channel.type_name, payload).unwrap();
                } else if let Ok(decoded) = self.0.decode(&channel.type_name, payload) {
                    let mut text = Vec::new();
                    decoded.tree.write_json(&mut text);
                    self.2.push(format!("{} {}", channel.name, String::from_utf8(text).unwrap()));
                }
            }
            Ok(())
        }

        fn problem(&mut self, problem: Problem) {
            panic!("unexpected: {problem}");
        }
    }
    let mut sink = Decoded(Registry::new(), Vec::new(), Vec::new());
    read_back(&foreign(None, true), &mut sink);
    let round = [
        "/twist {\"linear\":{\"x\":0.0,\"y\":0.0}}",
        "/named {\"name\":\"ab\",\"n\":7}",
        "/proto {\"x\":1.5}",
        "/json [1]",
    ];
    assert_eq!(sink.2, [round, round].concat());
    // Foxglove's own messages, read as a file of others would be.
    let mut sink = Decoded(Registry::new(), Vec::new(), Vec::new());
    let ours = write(Compression::None, true, 1);

    read_back(&renamed(&ours), &mut sink);
    let pose = sink.2.iter().find(|line| line.starts_with("/struct-Pose2d/foxglove")).unwrap();
    let expected = "/struct-Pose2d/foxglove {\"timestamp\":{\"seconds\":0,\"nanos\":31000},\"frame_id\":\"field\",\
         \"pose\":{\"position\":{\"x\":0.0,\"y\":1.0,\"z\":0.0},\"orientation\":{\"x\":0.0,\"y\":0.0,\"z\":0.8414709848078965,\"w\":0.5403023058681398}}}";
    assert_eq!(pose, expected);
    let poses = sink.2.iter().find(|line| line.starts_with("/struct-Pose2d[]/foxglove")).unwrap();
    assert!(poses.contains("\"poses\":[{\"position\""), "{poses}");
}

/// The file with another name on the record that makes it one of ours.
fn renamed(file: &[u8]) -> Vec<u8> {
    let at = file.windows(11).position(|window| window == b"\x07\0\0\0logpose").unwrap();
    let mut file = file.to_vec();
    file[at + 4] = b'x';
    file
}

#[test]
fn lengths_inside_a_record_are_bounded_by_it() {
    use logpose_core::{Problems, ReadOptions};
    let mcap = &logpose_bridges::MCAP;
    for (opcode, front) in [(0x01, 0), (0x03, 2), (0x04, 4), (0x06, 28), (0x09, 16), (0x0c, 0)] {
        let mut body = vec![0; front];
        body.extend_from_slice(b"\xf0\xff\xff\xffab");
        let mut file = b"\x89MCAP0\r\n".to_vec();
        file.push(opcode);
        file.extend_from_slice(&(body.len() as u64).to_le_bytes());
        file.extend_from_slice(&body);
        let (mut problems, mut out) = (Problems::default(), Vec::new());
        mcap.unpack(&file, &ReadOptions::default(), &mut out, &mut problems).unwrap();
        let said = problems.list().iter().any(|problem| problem.message.contains("truncated inside a record"));
        assert!(said, "{opcode:#04x}: {problems:?}");
    }
}
