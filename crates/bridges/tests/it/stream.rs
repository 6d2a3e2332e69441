//! MCAP files of streams, whose channels and schemas come as they go on.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use logpose_bridges::Header;
use logpose_bridges::mcap::{Compression, Language, McapOptions, McapStream, Messages, Role};
use logpose_core::{Channel, FileDialect, Lookup, ReadOptions, Sample, Severity, Sink, Time, Type, Value};

use super::{Call, Recording, bridge, log_of_everything, long_log, open, replay, send};

/// A file that can be looked at while it is written.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn options(earliest_ns: i64) -> McapOptions {
    McapOptions { earliest: Time::from_nanos(earliest_ns), ..McapOptions::default() }
}

/// The file of a stream that is flushed after every so many calls, and how long it was after so many calls.
fn streamed(calls: &[Call], options: &McapOptions, every: usize) -> (Vec<u8>, Vec<(usize, usize)>, usize) {
    let file = Shared::default();
    let mut stream = McapStream::new(file.clone(), Some(1_700_000_000_000_000_000), options).unwrap();
    let mut flushed = vec![(file.0.borrow().len(), 0)];
    for (place, calls) in calls.chunks(every).enumerate() {
        send(calls, &mut stream).unwrap();
        stream.flush().unwrap();
        flushed.push((file.0.borrow().len(), place * every + calls.len()));
    }
    let problems = stream.finish().unwrap();
    (file.0.take(), flushed, problems.len())
}

#[test]
fn a_stream_comes_back_as_it_was() {
    let (mut header, calls) = log_of_everything();
    (header.origin, header.facts) = (String::new(), Vec::new());
    for (every, earliest) in [(1, -5_000_000), (7, -5_000_000), (10_000, -5_000_000), (7, 0)] {
        for compression in [Compression::Zstd, Compression::Lz4, Compression::None] {
            let options = McapOptions { compression, ..options(earliest) };
            let (file, _, problems) = streamed(&calls, &options, every);
            assert_eq!(replay("mcap", &file), (header.clone(), calls.clone()), "{every} {earliest}");
            assert_eq!(problems, usize::from(earliest == 0), "samples below zero are reported");
        }
    }
}

#[test]
fn what_is_known_of_a_log_is_kept() {
    let (header, calls) = log_of_everything();
    let file = Shared::default();
    let mut stream = McapStream::with_header(file.clone(), &header, &options(-5_000_000)).unwrap();
    send(&calls, &mut stream).unwrap();
    assert_eq!(stream.finish().unwrap(), []);
    let file = file.0.take();
    assert_eq!(replay("mcap", &file), (header.clone(), calls));
    // Whoever reads MCAP finds what the summary promises.
    let summary = mcap::Summary::read(&file).unwrap().unwrap();
    let stats = summary.stats.unwrap();
    assert_eq!(stats.message_count, mcap::MessageStream::new(&file).unwrap().count() as u64);
    header.channels.iter().for_each(|channel| {
        let found = summary.channels.values().filter(|topic| topic.topic.starts_with(channel.name.as_str()));
        assert!(found.count() > 0, "{}", channel.name);
    });
}

/// The calls that a file without an end gives.
fn cut(file: &[u8]) -> Vec<Call> {
    let (store, index, problems) = open("mcap", file);
    let [problem] = problems.list() else { panic!("{problems:?}") };
    let severity = if problem.length == 0 { Severity::Warning } else { Severity::Damage };
    assert_eq!((problem.code, problem.severity), ("truncated", severity), "{problem}");
    let mut calls = Recording::default();
    bridge("mcap").replay(&store, &index, &Lookup::default(), &mut calls).unwrap();
    calls.0
}

#[test]
fn a_cut_stream_has_all_that_was_flushed() {
    for (_, calls) in [log_of_everything(), long_log(200)] {
        let (file, flushed, _) = streamed(&calls, &options(-5_000_000), 9);
        for ((end, sent), (next, _)) in flushed.iter().zip(flushed.iter().skip(1)) {
            assert_eq!(cut(&file[..*end]), calls[..*sent]);
            // What follows is torn: in its header, in its middle, right before its end, and filled up with zeros, as
            // some file systems do when the power goes.
            for torn in [end + 1, end + 12, (end + next) / 2, next - 1] {
                let found = cut(&file[..torn]);
                assert!(found.len() >= *sent, "{torn}");
                assert_eq!(found, calls[..found.len()], "{torn}");
            }
            let zeros = [&file[..*end], &[0; 100]].concat();
            assert_eq!(cut(&zeros), calls[..*sent]);
        }
    }
}

#[test]
fn a_stream_that_is_given_up_does_not_look_whole() {
    let (_, calls) = long_log(50_000);
    let file = Shared::default();
    let mut stream = McapStream::new(file.clone(), None, &McapOptions::default()).unwrap();
    send(&calls, &mut stream).unwrap();
    // Chunks that are full are in the file without a flush.
    assert!(file.0.borrow().len() > 100_000);
    drop(stream);
    let found = cut(&file.0.take());
    assert!(found.len() > 20_000 && found[..] == calls[..found.len()]);
}

const SCHEMAS: [(&str, &str); 3] = [
    ("Pose2d", "Translation2d translation;Rotation2d rotation"),
    ("Translation2d", "double x;double y"),
    ("Rotation2d", "double value"),
];

fn pose() -> Vec<u8> {
    [1.0_f64, 2.0, 0.0].into_iter().flat_map(f64::to_le_bytes).collect()
}

/// A pose and its schemas, which are declared and sent before or after it.
fn pose_and_schemas(schemas_first: bool, at_once: bool) -> Vec<Call> {
    let pose = (
        Call::Channel(0, Channel::new("/RealOutputs/Odometry/Robot", "struct:Pose2d")),
        Call::Sample(0, 5, Type::Bytes, pose()),
    );
    let schema = |(id, (name, text)): (u32, (&str, &str))| {
        let channel = Channel::new(format!("/.schema/struct:{name}"), "structschema");
        (Call::Channel(id, channel), Call::Sample(id, 5, Type::String, text.into()))
    };
    let schemas: Vec<_> = (1..).zip(SCHEMAS).map(schema).collect();
    let all = if schemas_first { [schemas, vec![pose]].concat() } else { [vec![pose], schemas].concat() };
    if at_once {
        let (channels, samples): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        [channels, samples].concat()
    } else {
        all.into_iter().flat_map(|(channel, sample)| [channel, sample]).collect()
    }
}

/// The topics of messages and their schemas.
fn topics(messages: &Messages) -> Vec<(String, String)> {
    let schema = |topic: &logpose_bridges::mcap::Topic<'_>| topic.schema.map_or("", |schema| schema.name).to_owned();
    let used: Vec<u16> = messages.messages().map(|message| message.topic).collect();
    let shown = |topic: &logpose_bridges::mcap::Topic<'_>| topic.role != Role::Events && used.contains(&topic.id);
    messages.topics().filter(shown).map(|topic| (topic.name.to_owned(), schema(&topic))).collect()
}

#[test]
fn a_struct_is_understood_if_its_schema_comes_in_time() {
    let understood = [
        ("/RealOutputs/Odometry/Robot", "wpilib/Pose2d"),
        ("/RealOutputs/Odometry/Robot/foxglove", "foxglove.PoseInFrame"),
        ("/tf", "foxglove.FrameTransform"),
    ];
    let bytes = [("/RealOutputs/Odometry/Robot", "logpose/Bytes")];
    let check = |calls: &[Call], seal_after: usize, expected: &[(&str, &str)]| {
        let mut messages = Messages::new(0, true, Language::Ros1).unwrap();
        send(&calls[..seal_after], &mut messages).unwrap();
        messages.seal().unwrap();
        send(&calls[seal_after..], &mut messages).unwrap();
        messages.finish().unwrap();
        let found = topics(&messages);
        let found: Vec<_> = found.iter().filter(|(name, _)| !name.starts_with("/.schema")).collect();
        let found: Vec<_> = found.iter().map(|(name, schema)| (name.as_str(), schema.as_str())).collect();
        assert_eq!(found, expected);
    };
    for (first, at_once) in [(true, true), (true, false), (false, true), (false, false)] {
        check(&pose_and_schemas(first, at_once), 0, &understood);
    }
    // Behind the pose and behind the seal is too late.
    check(&pose_and_schemas(false, false), 2, &bytes);
    check(&pose_and_schemas(false, false), 6, &bytes);
    check(&pose_and_schemas(true, false), 6, &understood);
}

#[test]
fn what_waits_for_a_schema_does_not_wait_for_ever() {
    let mut messages = Messages::new(0, true, Language::Ros1).unwrap();
    messages.channel(0, &Channel::new("/pose", "struct:Pose2d")).unwrap();
    messages.channel(1, &Channel::new("/text", "string")).unwrap();
    let sample = |channel, value| Sample { channel, time: Time::from_nanos(5), value };
    let (pose, text) = (pose(), [b'x'; 1000]);
    messages.samples(&[sample(1, Value::String(b"before"))]).unwrap();
    let before = messages.messages().count();
    messages.samples(&[sample(0, Value::Bytes(&pose))]).unwrap();
    for _ in 0..900 {
        messages.samples(&[sample(1, Value::String(&text))]).unwrap();
        assert_eq!(messages.messages().count(), before);
    }
    // A megabyte is enough.
    for _ in 0..200 {
        messages.samples(&[sample(1, Value::String(&text))]).unwrap();
    }
    assert_eq!(messages.messages().count(), before + 1101);
    assert_eq!(topics(&messages)[0], ("/text".to_owned(), "std_msgs/String".to_owned()));
    assert_eq!(topics(&messages)[1], ("/pose".to_owned(), "logpose/Bytes".to_owned()));
}

#[test]
fn structs_come_back_whether_they_were_understood_or_not() {
    for (first, at_once) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut calls = pose_and_schemas(first, at_once);
        calls.push(Call::Sample(0, 6, Type::Bytes, vec![1, 2, 3])); // no pose
        calls.push(Call::Channel(4, Channel::new("/never", "struct:Pose2d[]")));
        let (file, flushed, _) = streamed(&calls, &McapOptions::default(), 2);
        // A log that starts a channel late has it with a later number than one that is declared before.
        let renumbered = |calls: &[Call]| -> Vec<String> {
            let mut names = std::collections::HashMap::new();
            let mut line = |call: &Call| match call {
                Call::Channel(id, channel) => {
                    names.insert(*id, channel.name.clone());
                    format!("{channel:?}")
                }
                Call::Sample(id, time, ty, payload) => format!("{} {time} {ty:?} {payload:?}", names[id]),
                other => format!("{other:?}"),
            };
            calls.iter().map(&mut line).collect()
        };
        assert_eq!(renumbered(&replay("mcap", &file).1), renumbered(&calls));
        for (end, sent) in flushed {
            assert_eq!(renumbered(&cut(&file[..end])), renumbered(&calls[..sent]));
        }
    }
}

#[test]
fn topics_are_there_when_channels_are_declared_and_stay() {
    let mut messages = Messages::new(1_000, true, Language::Ros1).unwrap();
    messages.channel(0, &Channel::new("/a", "double")).unwrap();
    messages.channel(1, &Channel::new("/pose", "struct:Pose2d")).unwrap();
    let names = |messages: &Messages| -> Vec<String> { messages.topics().map(|topic| topic.name.to_owned()).collect() };
    assert_eq!(names(&messages), ["logpose/events", "/a"]);
    // The same name once more is distinguished by its type.
    messages.channel(2, &Channel::new("/a", "string")).unwrap();
    assert_eq!(names(&messages), ["logpose/events", "/a", "/a (string)"]);
    messages.samples(&[Sample { channel: 0, time: Time::from_nanos(5), value: Value::Double(0.5) }]).unwrap();
    let found: Vec<_> = messages.messages().map(|message| (message.topic, message.time)).collect();
    assert_eq!(found, [(1, 1_005), (1, 1_005), (1, 1_005), (2, 1_005)]);
    let last = messages.messages().last().unwrap();
    assert_eq!(last.data, 0.5_f64.to_le_bytes());
    messages.clear();
    assert_eq!(messages.messages().count(), 0);
    let topic = messages.topics().find(|topic| topic.name == "/a").unwrap();
    let schema = topic.schema.unwrap();
    assert_eq!((topic.id, topic.encoding, topic.role), (2, "ros1", Role::Values));
    assert_eq!((schema.name, schema.encoding, schema.data), ("std_msgs/Float64", "ros1msg", &b"float64 data\n"[..]));
}

#[test]
fn a_channel_may_be_declared_again_but_not_as_another() {
    let channel = Channel::new("/a", "double");
    let other = Channel { metadata: "{\"new\":1}".into(), ..channel.clone() };
    let file = Shared::default();
    let mut stream = McapStream::new(file.clone(), None, &McapOptions::default()).unwrap();
    stream.channel(0, &channel).unwrap();
    stream.channel(0, &channel).unwrap();
    stream.samples(&[Sample { channel: 0, time: Time::from_nanos(7), value: Value::Double(1.0) }]).unwrap();
    stream.channel(0, &other).unwrap();
    stream.channel(0, &other).unwrap();
    let error = stream.channel(0, &Channel::new("/b", "double")).unwrap_err().to_string();
    assert_eq!(error, "mcap: channel \"/a\": declared again as \"/b\" with type double");
    let error = stream.channel(u32::MAX, &Channel::new("/z", "double")).unwrap_err().to_string();
    assert_eq!(error, "mcap: channel \"/z\": MCAP is limited to 65535 channels; select fewer");
    let error = stream.samples(&[Sample { channel: 9, time: Time::ZERO, value: Value::Double(1.0) }]);
    assert!(error.unwrap_err().to_string().contains("sample of an undeclared channel"));
    stream.finish().unwrap();
    let (header, calls) = replay("mcap", &file.0.take());
    let sample = Call::Sample(0, 7, Type::Double, 1.0_f64.to_le_bytes().to_vec());
    let changed = Call::Metadata(0, 7, other.metadata.clone());
    assert_eq!(calls, [Call::Channel(0, channel), sample, changed]);
    assert_eq!(header, Header { channels: vec![other], ..Header::default() });
}

#[test]
fn an_empty_stream_is_a_file() {
    let file = Shared::default();
    let stream = McapStream::new(file.clone(), None, &McapOptions::default()).unwrap();
    assert_eq!(cut(&file.0.borrow()), []);
    stream.finish().unwrap();
    assert_eq!(replay("mcap", &file.0.take()), (Header::default(), Vec::new()));
    assert!(bridge("mcap").unpack(b"", &ReadOptions::default(), &mut Vec::new(), &mut Default::default()).is_err());
}

/// The names that Foxglove and Lichtblick show for the numbers of each field of a message: those of the constants that
/// stand right in front of it and have its type.
fn shown_names(text: &str) -> Vec<(String, String)> {
    let (mut shown, mut constants, mut last) = (Vec::new(), Vec::new(), "");
    for line in text.lines() {
        let (ty, rest) = line.split_once(' ').unwrap();
        if std::mem::replace(&mut last, ty) != ty {
            constants.clear();
        }
        if rest.contains('=') {
            constants.push(rest.to_owned());
        } else if !constants.is_empty() {
            shown.push((rest.to_owned(), std::mem::take(&mut constants).join(" ")));
        }
    }
    shown
}

#[test]
fn viewers_find_the_names_of_every_enum_and_no_others() {
    let text = "uint8 before;enum{off=0,on=1} uint8 state;uint8 behind;enum{off=-1,state=2} int16 Mode;\
                enum{a=0} int32 low:4;int16 last;enum{x=7} uint8 other;uint8 off_;";
    let cases = [
        (Language::Ros1, ["state: off=0 on=1", "Mode: Mode_off=-1 Mode_state=2", "other: x=7"]),
        (Language::Ros2, ["state: OFF=0 ON=1", "mode: MODE_OFF=-1 STATE=2", "other: X=7"]),
    ];
    for (language, expected) in cases {
        let mut messages = Messages::new(0, true, language).unwrap();
        messages.channel(0, &Channel::new("/.schema/struct:Outer", "structschema")).unwrap();
        messages.channel(1, &Channel::new("/outer", "struct:Outer")).unwrap();
        let at = |channel, value| Sample { channel, time: Time::from_nanos(1), value };
        messages.samples(&[at(0, Value::String(text.as_bytes())), at(1, Value::Bytes(&[0; 15]))]).unwrap();
        messages.seal().unwrap();
        let topic = messages.topics().find(|topic| topic.name == "/outer").unwrap();
        let shown = shown_names(str::from_utf8(topic.schema.unwrap().data).unwrap());
        let shown: Vec<String> = shown.iter().map(|(field, names)| format!("{field}: {names}")).collect();
        assert_eq!(shown, expected);
    }
}

#[test]
fn messages_of_ros_2_have_gaps_and_small_letters() {
    let mut messages = Messages::new(0, true, Language::Ros2).unwrap();
    let schema = |name: &str| Channel::new(format!("/.schema/struct:{name}"), "structschema");
    let inner = "uint8 a:3;uint8 b:5;double motorSpeed;";
    let outer = "enum{off=0,fullSpeed=1} uint8 State;Inner both[2];int16 last;";
    let types = ["struct:Outer", "struct:Outer[]", "string", "double[]", "struct:Unknown", "json"];
    let channels = [schema("Inner"), schema("Outer")].into_iter();
    let channels = channels.chain(types.map(|ty| Channel::new(format!("/{ty}"), ty)));
    for (id, channel) in (0..).zip(channels) {
        messages.channel(id, &channel).unwrap();
    }
    let mut payload = vec![1];
    for speed in [0.5_f64, 0.25] {
        payload.push(0xfe);
        payload.extend(speed.to_le_bytes());
    }
    payload.extend((-2_i16).to_le_bytes());
    let at = |channel, value| Sample { channel, time: Time::from_nanos(1), value };
    let doubles = Value::parse(Type::DoubleArray, &[1; 8], logpose_core::Layout::Little).unwrap();
    let samples = [
        at(0, Value::String(inner.as_bytes())),
        at(1, Value::String(outer.as_bytes())),
        at(2, Value::Bytes(&payload)),
        at(2, Value::Bytes(b"no struct")),
        at(3, Value::Bytes(&payload)),
        at(4, Value::String(b"text")),
        at(5, doubles),
        at(6, Value::Bytes(b"??")),
        at(7, Value::String(b"{}")),
    ];
    messages.samples(&samples).unwrap();
    messages.seal().unwrap();
    let topic = |name: &str| messages.topics().find(|topic| topic.name == name).unwrap();
    let data = |name: &str| -> Vec<u8> {
        let id = topic(name).id;
        messages.messages().find(|message| message.topic == id).unwrap().data.to_vec()
    };
    let about = topic("/struct:Outer");
    let schema = about.schema.unwrap();
    assert_eq!((about.encoding, schema.name, schema.encoding), ("cdr", "wpilib/msg/Outer", "ros2msg"));
    let line = "=".repeat(80);
    let text = format!(
        "uint8 OFF=0\nuint8 FULL_SPEED=1\nuint8 state\nwpilib/Inner[2] both\nint16 last\n{line}\nMSG: wpilib/Inner\n\
         uint8 bits0 # a:3 b:5\nfloat64 motor_speed\n"
    );
    assert_eq!(str::from_utf8(schema.data).unwrap(), text);
    let (head, half, quarter) = ([0, 1, 0, 0], 0.5_f64.to_le_bytes(), 0.25_f64.to_le_bytes());
    let body = [&[1, 0xfe, 0, 0, 0, 0, 0, 0][..], &half, &[0xfe], &[0; 7], &quarter, &[0xfe, 0xff]].concat();
    assert_eq!(data("/struct:Outer"), [&head[..], &body].concat());
    let many = [&[1, 0, 0, 0][..], &[1, 0xfe, 0, 0], &half, &[0xfe], &[0; 7], &quarter, &[0xfe, 0xff]].concat();
    assert_eq!(data("/struct:Outer[]"), [&head[..], &many].concat());
    assert_eq!(data("/struct:Outer (bytes)"), [&head[..], b"\x09\0\0\0no struct"].concat());
    assert_eq!(data("/string"), [&head[..], b"\x05\0\0\0text\0"].concat());
    assert_eq!(data("/double[]"), [&head[..], &[1, 0, 0, 0, 0, 0, 0, 0], &[1; 8]].concat());
    assert_eq!(data("/struct:Unknown"), [&head[..], b"\x02\0\0\0??"].concat());
    assert_eq!((topic("/json").encoding, data("/json")), ("json", b"{}".to_vec()));
}
