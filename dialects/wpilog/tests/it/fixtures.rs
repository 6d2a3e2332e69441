//! The logs in `fixtures/wpilog`, as code. `make bless` writes them.

use logpose_testkit::{Fixtures, hex, noise};
use logpose_wpilog::{
    Opaque, Writer, boolean, boolean_array, double, double_array, float, float_array, int64, int64_array, raw, string,
    string_array,
};

use crate::support::Build;

pub(crate) const FIXTURES: Fixtures = Fixtures { folder: "wpilog", make: all };

#[test]
fn every_fixture_is_what_this_code_makes() {
    FIXTURES.check();
}

fn all() -> Vec<(String, Vec<u8>)> {
    let valid = valid().into_iter().map(|(name, log)| (format!("valid/{name}.wpilog"), log));
    let corrupt = corrupt().into_iter().map(|(name, log)| (format!("corrupt/{name}.wpilog"), log));
    valid.chain(corrupt).collect()
}

#[test]
fn the_origin_of_every_fixture_is_written_down() {
    FIXTURES.check_readme();
}

/// Logs without damage; some of them are odd, as real ones are.
pub(crate) fn valid() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("empty", Build::new().0),
        ("extra-header", Build::with_extra("AdvantageKit").0),
        ("all-types", all_types()),
        ("lifecycle", lifecycle()),
        ("widths", widths()),
        ("advantagekit", advantagekit()),
        ("structs", structs()),
        ("negative-times", negative_times()),
        ("late-start", late_start()),
        ("mixed-clocks", mixed_clocks()),
        ("duplicate-names", duplicate_names()),
        ("odd-names", odd_names()),
    ]
}

/// Logs with one kind of damage each; `corrupt.rs` says what is to be reported.
pub(crate) fn corrupt() -> Vec<(&'static str, Vec<u8>)> {
    let drive = drive();
    let cut = |n: usize| drive[..n].to_vec();
    // The record that begins in the middle of the drive, and where it begins.
    let middle = record_behind(&drive, drive.len() / 2);
    let mut garbage = drive.clone();
    garbage[middle + 3..middle + 99].copy_from_slice(&noise(96));
    let mut hole = drive.clone();
    hole[middle + 5..middle + 517].fill(0);
    let mut size = drive.clone();
    size[middle] |= 0b1100;
    let mut bad_magic = drive.clone();
    bad_magic[3] ^= 0x20;
    let mut version = drive.clone();
    version[7] = 0;
    let mut later_version = drive.clone();
    later_version[7] = 2;
    let mut extra = drive.clone();
    extra[8..12].fill(0xff);
    vec![
        ("cut-in-magic", cut(4)),
        ("cut-in-header", cut(10)),
        ("cut-in-record-header", cut(middle + 2)),
        ("cut-in-payload", cut(record_behind(&drive, middle + 1) - 2)),
        ("zero-tail", [&drive[..middle], &[0; 1023]].concat()),
        ("ff-tail", [&drive[..middle], &[0xff; 64]].concat()),
        ("zero-hole", hole),
        ("garbage", garbage),
        ("size-flipped", size),
        ("header-missing", drive[12..].to_vec()),
        ("bad-magic", bad_magic),
        ("version-0", version),
        ("version-2", later_version),
        ("extra-header-too-long", extra),
        ("two-logs", [&drive[..], &advantagekit()].concat()),
        ("wrong-sizes", wrong_sizes()),
        (
            "never-started",
            Build::new().start(1, "a", "double", "", 1).double(1, 2, 1.0).double(7, 3, 2.0).double(7, 4, 3.0).0,
        ),
        (
            "after-finish",
            Build::new()
                .start(1, "a", "double", "", 1)
                .finish(1, 2)
                .double(1, 3, 1.0)
                .metadata(1, "late", 4)
                .finish(1, 5)
                .0,
        ),
        ("bad-controls", bad_controls()),
        ("metadata-2022", metadata_2022()),
        ("bad-utf8", bad_utf8()),
        ("time-out-of-range", Build::new().start(1, "a", "int64", "", 1).int(1, i64::MAX, 1).int(1, i64::MIN, 2).0),
    ]
}

/// The first record that begins at `at` or behind it.
pub(crate) fn record_behind(log: &[u8], at: usize) -> usize {
    let mut reader = logpose_wpilog::Reader::new(log).expect("a log of ours");
    while usize::try_from(reader.offset()).expect("small") < at {
        reader.next().expect("more records").expect("whole records");
    }
    usize::try_from(reader.offset()).expect("small")
}

/// A few seconds of driving with a few kinds of values: what the damaged logs are made of.
pub(crate) fn drive() -> Vec<u8> {
    let mut log = Writer::new(Vec::new(), "").expect("memory");
    let speed = log.start("/Drive/Speed", double, "", 1_000_000).expect("memory");
    let angles = log.start("/Drive/Angles", float_array, "", 1_000_000).expect("memory");
    let enabled = log.start("DS:enabled", boolean, "", 1_000_000).expect("memory");
    let state = log.start("/Drive/State", string, "{\"source\":\"test\"}", 1_000_000).expect("memory");
    let count = log.start("NT:/count", int64, "{\"properties\":{},\"source\":\"NT\"}", 1_000_000).expect("memory");
    for i in 0_i32..60 {
        let time = 1_000_000 + 20_000 * i64::from(i);
        log.append(speed, time, f64::from(i) * 0.25).expect("memory");
        if i % 3 == 0 {
            log.append(angles, time, &[0.5, -0.5, 1.5, f32::from(i8::try_from(i).expect("small"))]).expect("memory");
        }
        if i % 10 == 0 {
            log.append(enabled, time, i % 20 == 0).expect("memory");
            log.append(state, time, if i % 20 == 0 { "driving" } else { "waiting" }).expect("memory");
        }
        log.append(count, time + 5, i.into()).expect("memory");
    }
    log.into_inner().expect("memory")
}

fn all_types() -> Vec<u8> {
    let mut log = Writer::new(Vec::new(), "every type").expect("memory");
    macro_rules! entry {
        ($name:literal, $kind:expr, $($value:expr),+) => {{
            let entry = log.start($name, $kind, "", 1000).expect("memory");
            $(log.append(entry, 1000, $value).expect("memory");)+
        }};
    }
    entry!("/Raw", raw, &[0, 1, 0xfe, 0xff], &[]);
    entry!("/Boolean", boolean, false, true);
    entry!("/Int64", int64, -2, i64::MAX, i64::MIN);
    entry!("/Float", float, 1.5, f32::NAN, f32::INFINITY);
    entry!("/Double", double, -0.1, f64::NAN, -0.0, f64::MAX);
    entry!("/String", string, "héllo", "", "two\nlines");
    entry!("/BooleanArray", boolean_array, &[true, false, true], &[]);
    entry!("/Int64Array", int64_array, &[1, -1], &[]);
    entry!("/FloatArray", float_array, &[1.5, -2.0], &[]);
    entry!("/DoubleArray", double_array, &[1.5, -2.0], &[]);
    entry!("/StringArray", string_array, &["a", "", "é"], &[]);
    entry!("/Json", Opaque("json".into()), b"{\"a\":[1,2,null]}");
    entry!("/Msgpack", Opaque("msgpack".into()), &[0x81, 0xa1, b'a', 0x93, 1, 2, 0xc0]);
    entry!("/Proto", Opaque("proto:wpi.proto.ProtobufTranslation2d".into()), &hex("09 00 00 00 00 00 00 f0 3f"));
    entry!("/Unheard", Opaque("what nobody knows".into()), b"kept as it is");
    log.into_inner().expect("memory")
}

fn lifecycle() -> Vec<u8> {
    let mut log = Writer::new(Vec::new(), "").expect("memory");
    let topic = log.start("NT:/topic", double, "{\"source\":\"NT\"}", 10).expect("memory");
    log.append(topic, 11, 1.5).expect("memory");
    log.set_metadata(topic, "{\"retained\":true}", 12).expect("memory");
    log.append(topic, 13, 2.5).expect("memory");
    log.finish(topic, 14).expect("memory");
    let topic = log.start("NT:/topic", string, "", 20).expect("memory");
    log.append(topic, 21, "now text").expect("memory");
    log.finish(topic, 22).expect("memory");
    let topic = log.start("NT:/topic", double, "{\"source\":\"NT\"}", 30).expect("memory");
    log.append(topic, 31, 3.5).expect("memory");
    log.start("NT:/never", int64, "", 32).expect("memory");
    log.into_inner().expect("memory")
}

/// All widths of all fields, and some that are wider than they need to be.
fn widths() -> Vec<u8> {
    let times = [
        0,
        1,
        255,
        256,
        65_535,
        65_536,
        (1 << 24) - 1,
        1 << 24,
        (1 << 32) - 1,
        1 << 32,
        1 << 40,
        1 << 48,
        -1,
        -1_000_000,
    ];
    let mut log = Build::new().start(1, "/Time", "boolean", "", 0);
    for time in times {
        log = log.data(1, time, &[1]);
    }
    for (entry, name) in [(255, "/Id/255"), (256, "/Id/256"), (65_536, "/Id/65536"), (1 << 24, "/Id/2^24")] {
        log = log.start(entry, name, "boolean", "", 1).data(entry, 1, &[1]);
    }
    log = log.start(2, "/Size", "raw", "", 1);
    for size in [0, 255, 256] {
        log = log.data(2, 1, &vec![0xaa; size]);
    }
    log = log.start(3, "/Wide", "int64", "", 1);
    let wide = "03 00 00 00 08 00 00 00 40 42 0f 00 00 00 00 00 2a 00 00 00 00 00 00 00";
    log.raw(&hex(&format!("7f {wide}"))).raw(&hex(&format!("ff {wide}"))).0
}

/// Cycles as AdvantageKit writes them: `/Timestamp` first, then what has changed, all at one time.
fn advantagekit() -> Vec<u8> {
    let mut log = Writer::new(Vec::new(), "AdvantageKit").expect("memory");
    let metadata = "{\"source\":\"AdvantageKit\"}";
    let clock = log.start("/Timestamp", int64, metadata, 5_000_000).expect("memory");
    let mut position = None;
    for cycle in 0_i32..20 {
        let time = 5_000_000 + 20_001 * i64::from(cycle);
        log.append(clock, time, time).expect("memory");
        if cycle == 0 {
            position = Some(log.start("/RealOutputs/Arm/Position", double, metadata, time).expect("memory"));
        }
        if let Some(position) = position
            && cycle % 4 == 0
        {
            log.append(position, time, f64::from(cycle) / 8.0).expect("memory");
        }
    }
    log.into_inner().expect("memory")
}

fn structs() -> Vec<u8> {
    let mut log = Writer::new(Vec::new(), "").expect("memory");
    let schema = |name: &str| (format!("/.schema/struct:{name}"), Opaque("structschema".into()));
    for (name, text) in [
        ("Translation2d", "double x;double y"),
        ("Rotation2d", "double value"),
        ("Pose2d", "Translation2d translation;Rotation2d rotation"),
    ] {
        let (name, kind) = schema(name);
        let entry = log.start(&name, kind, "", 5).expect("memory");
        log.append(entry, 5, text.as_bytes()).expect("memory");
    }
    let numbers = |numbers: &[f64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let pose = log.start("/Pose", Opaque("struct:Pose2d".into()), "", 6).expect("memory");
    log.append(pose, 6, &numbers(&[1.0, 2.0, 0.5])).expect("memory");
    let poses = log.start("/Poses", Opaque("struct:Pose2d[]".into()), "", 6).expect("memory");
    log.append(poses, 6, &numbers(&[1.0, 2.0, 0.5, -1.0, -2.0, -0.5])).expect("memory");
    log.append(poses, 7, &[]).expect("memory");
    log.into_inner().expect("memory")
}

/// Values that a coprocessor set before the robot program began, after its own Start, and steps back in time.
fn negative_times() -> Vec<u8> {
    let log = Build::new().start(1, "NT:/vision/x", "double", "{\"source\":\"NT\"}", 3_000_000);
    log.double(1, -33_226_000_000, 0.5)
        .double(1, -1, 0.75)
        .double(1, 0, 1.0)
        .double(1, 2_999_999, 1.25)
        .double(1, 2_000_000, 1.5)
        .0
}

/// A segment of WPILib 2024: pending data first, then the Start records.
fn late_start() -> Vec<u8> {
    let log = Build::new().double(4, 100, 1.0).data(5, 101, b"early").double(4, 102, 2.0);
    log.start(4, "/A", "double", "", 110).start(5, "/B", "string", "", 110).double(4, 111, 3.0).0
}

/// Start records in Unix time, data in robot time, as CTRE's converter and early Start records have it.
fn mixed_clocks() -> Vec<u8> {
    let log = Build::with_extra("roboRIO Native CAN Bus");
    let log = log.start(
        1,
        "Phoenix6/TalonFX-14/Velocity",
        "double",
        "Velocity of the rotor\nUnits: rotations per second",
        1_739_210_000_000_000,
    );
    log.double(1, 10_000_000, 1.0).double(1, 10_004_000, 1.5).0
}

/// Two live ids with one name, as no known writer makes them, and an id that is taken over without a Finish.
fn duplicate_names() -> Vec<u8> {
    let log = Build::new().start(1, "/Twice", "double", "", 1).start(2, "/Twice", "double", "", 2);
    let log = log.double(1, 3, 1.0).double(2, 4, 2.0).double(1, 5, 3.0);
    log.start(1, "/Stolen", "double", "", 6).double(1, 7, 4.0).double(2, 8, 5.0).0
}

fn odd_names() -> Vec<u8> {
    let log = Build::new()
        .start(1, "", "", "", 1)
        .data(1, 2, b"x")
        .start(2, "/With spaces/ünïcode:😀\t", "int", "plain text", 3)
        .int(2, 4, 5);
    log.start(u32::MAX, "/Huge id", "boolean", "", 5)
        .data(u32::MAX, 6, &[1])
        .start(3, "/Ints", "int[]", "", 7)
        .data(3, 8, &[1; 16])
        .0
}

fn wrong_sizes() -> Vec<u8> {
    let log =
        Build::new().start(1, "/Double", "double", "", 1).data(1, 2, &[0; 4]).double(1, 3, 1.0).data(1, 4, &[0; 9]);
    let log = log.start(2, "/Strings", "string[]", "", 5).data(2, 6, &hex("02 00 00 00 01 00 00 00 61")).data(
        2,
        7,
        &hex("01 00 00 00 01 00 00 00 61"),
    );
    log.data(2, 8, &hex("01 00 00 00 01 00 00 00 61 00"))
        .start(3, "/Floats", "float[]", "", 9)
        .data(3, 10, &[0; 6])
        .data(3, 11, &[0; 8])
        .0
}

fn bad_controls() -> Vec<u8> {
    let log = Build::new().start(1, "/A", "double", "", 1).double(1, 2, 1.0);
    let log = log.data(0, 3, &hex("01 01 00 00 00 00")); // a Finish of six bytes is none
    let log = log.data(0, 4, &hex("00 02 00 00 00 ff ff ff ff 61 00 00 00 00 00 00 00")); // a name of 4 GiB
    let log = log.data(0, 5, &hex("02 01 00 00 00 41 42 43 44 00 00 00 00")); // metadata without their length
    let log = log.data(0, 6, &hex("09 01 00 00 00")); // a control type from the future
    let log = log.data(0, 7, &[]); // empty, but with a time
    let log = log.data(0, 8, &hex("00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00")); // a Start of entry 0
    log.double(1, 9, 2.0).0
}

/// WPILib up to 2022.4.1 wrote SetMetadata under the id of its target.
fn metadata_2022() -> Vec<u8> {
    let log = Build::new().start(1, "/Old", "double", "", 1).double(1, 2, 1.0);
    log.data(1, 3, &hex("02 01 00 00 00 04 00 00 00 6d 65 74 61")).double(1, 4, 2.0).0
}

fn bad_utf8() -> Vec<u8> {
    use logpose_wpilog::{Control, Start};
    let start =
        |entry, name, metadata| Control::Start(Start { entry, name, type_name: b"string", metadata, exact: true });
    let log = Build::new().control(&start(1, b"/Name\xff", b""), 1).data(1, 2, b"ok\xff\xfebad");
    log.control(&start(2, b"/Meta", b"\xc3("), 3).data(2, 4, b"fine").0
}
