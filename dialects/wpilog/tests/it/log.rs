use logpose_core::Time;
use logpose_wpilog::{Log, LookupError, Opaque, Writer, boolean, double, double_array, int64, string, string_array};

#[test]
fn samples_are_read_by_name_and_type() {
    let mut writer = Writer::new(Vec::new(), "").unwrap();
    let speed = writer.start("/Speed", double, "", 0).unwrap();
    let count = writer.start("/Count", int64, "", 0).unwrap();
    let on = writer.start("/On", boolean, "", 0).unwrap();
    let words = writer.start("/Words", string, "", 0).unwrap();
    let list = writer.start("/List", double_array, "", 0).unwrap();
    let texts = writer.start("/Texts", string_array, "", 0).unwrap();
    let pose = writer.start("/Pose", Opaque("struct:Pose2d".into()), "", 0).unwrap();
    writer.append(speed, 1_000_000, 3.5).unwrap();
    writer.append(count, 1_000_001, i64::MAX).unwrap();
    writer.append(speed, -20, f64::INFINITY).unwrap();
    writer.append(on, 5, true).unwrap();
    writer.append(words, 6, "héllo").unwrap();
    writer.append(list, 7, &[1.0, -0.0]).unwrap();
    writer.append(texts, 8, &["a", ""]).unwrap();
    writer.append(pose, 9, &[7; 24]).unwrap();
    let bytes = writer.into_inner().unwrap();
    let log = Log::parse(&bytes).unwrap();

    let speeds: Vec<_> = log.doubles("/Speed").unwrap().collect();
    assert_eq!(speeds, [(Time::from_millis(1000), 3.5), (Time::from_micros(-20), f64::INFINITY)]);
    assert_eq!(log.integers("/Count").unwrap().next(), Some((Time::from_micros(1_000_001), i64::MAX)));
    assert_eq!(log.booleans("/On").unwrap().next(), Some((Time::from_micros(5), true)));
    assert_eq!(log.strings("/Words").unwrap().next(), Some((Time::from_micros(6), "héllo")));
    assert_eq!(log.double_arrays("/List").unwrap().next(), Some((Time::from_micros(7), vec![1.0, -0.0])));
    assert_eq!(log.string_arrays("/Texts").unwrap().next(), Some((Time::from_micros(8), vec!["a", ""])));
    assert_eq!(log.raws("/Pose").unwrap().next(), Some((Time::from_micros(9), &[7; 24][..])));
    assert_eq!(log.samples("/Count").unwrap().count(), 1);
    assert_eq!(log.channels().len(), 7);
    assert!(log.problems().is_empty());
}

#[test]
fn a_wrong_name_or_type_is_an_error() {
    let mut writer = Writer::new(Vec::new(), "").unwrap();
    let speed = writer.start("/Speed", double, "", 0).unwrap();
    writer.append(speed, 1, 3.5).unwrap();
    let bytes = writer.into_inner().unwrap();
    let log = Log::parse(&bytes).unwrap();
    let missing = log.doubles("/speed").err();
    assert_eq!(missing, Some(LookupError::NotFound { name: "/speed".into() }));
    let wrong = log.integers("/Speed").err().unwrap();
    assert_eq!(wrong.to_string(), "channel \"/Speed\" has type double, not int64");
}

#[test]
fn a_truncated_log_gives_what_is_before_the_damage() {
    let mut writer = Writer::new(Vec::new(), "").unwrap();
    let speed = writer.start("/Speed", double, "", 0).unwrap();
    (0..3).for_each(|i| writer.append(speed, i, 0.5).unwrap());
    let bytes = writer.into_inner().unwrap();
    let log = Log::parse(&bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(log.doubles("/Speed").unwrap().count(), 2);
    assert!(log.problems().list().iter().any(|problem| problem.code == "truncated"));
}
