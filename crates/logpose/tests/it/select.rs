use logpose::core::Time;
use logpose::{Filter, Moment};

use crate::support::{AKIT, DATALOG, R1, encode, log_of, open_demo};

fn filter(include: &[&str], exclude: &[&str]) -> Filter {
    let own = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    Filter::new(&own(include), &own(exclude)).unwrap()
}

#[test]
fn patterns_choose_channels() {
    let cases = [
        (filter(&[], &[]), "/a", true),
        (filter(&["/Drive/*"], &[]), "/Drive/Module0/Angle", true),
        (filter(&["/Drive/*"], &[]), "/Shooter/RPM", false),
        (filter(&["*"], &["*Voltage"]), "/Power/BatteryVoltage", false),
        (filter(&[], &["*Voltage"]), "/Power/Current", true),
        (filter(&["re:Module[0-2]/"], &[]), "/Drive/Module2/Angle", true),
        (filter(&["re:^Module"], &[]), "/Drive/Module2/Angle", false),
        (filter(&["/M{0,1}/x"], &[]), "/M1/x", true),
        (filter(&["/M[0]/x"], &[]), "/M[0]/x", true),
        (filter(&["/a", "/b"], &["/b"]), "/b", false),
        (filter(&["NT:/*"], &[]), "NT:/Drive/Pose", true),
    ];
    for (filter, name, expected) in cases {
        assert_eq!(filter.accepts(name), expected, "{filter:?} {name}");
    }
}

#[test]
fn broken_patterns_are_reported_by_name() {
    for pattern in ["a[", "re:("] {
        let error = Filter::new(&[pattern.to_owned()], &[]).unwrap_err();
        assert_eq!(error.code(), "usage");
        assert!(error.to_string().contains(pattern.trim_start_matches("re:")), "{error}");
    }
}

/// The start and the end that a range means in a log, in milliseconds.
fn range(log: &logpose::Log, text: &str) -> (Option<i64>, Option<i64>) {
    let (start, end) = Moment::parse_range(text).unwrap();
    let lookup = log.lookup(&Filter::default(), start.as_ref(), end.as_ref()).unwrap();
    let ms = |time: Time| (time.nanos() + 500_000).div_euclid(1_000_000);
    (lookup.start.map(ms), lookup.end.map(ms))
}

#[test]
fn moments_mean_the_same_in_every_format() {
    // The demo: boot at 1.2 s, auto 6.2–21.2 s, teleop 24.2–49.2 s.
    for name in [DATALOG, AKIT, R1] {
        let log = open_demo(name);
        let cases = [
            ("10..20", (Some(10_000), Some(20_000))),
            ("auto..auto", (Some(6_200), Some(21_200))),
            ("auto+3s..teleop", (Some(9_200), Some(49_200))),
            ("teleop..teleop-1s", (Some(24_200), Some(48_200))),
            ("enabled..enabled", (Some(6_200), Some(49_200))),
            ("auto..auto+500ms", (Some(6_200), Some(6_700))),
            ("auto..", (Some(6_200), None)),
        ];
        for (text, expected) in cases {
            assert_eq!(range(&log, text), expected, "{name}: {text}");
        }
        let (first, last) = log.robust_range().unwrap();
        let ms = |time: Time| (time.nanos() + 500_000) / 1_000_000;
        assert_eq!(range(&log, "+2s..-2s"), (Some(ms(first) + 2000), Some(ms(last) - 2000)));
    }
}

#[test]
fn wall_clock_times_need_a_log_that_has_them() {
    let log = open_demo(DATALOG);
    assert_eq!(range(&log, "2026-03-21T14:22:43Z..2026-03-21T09:22:53-05:00"), (Some(10_000), Some(20_000)));
    let silent = open_demo(R1);
    let moment: Moment = "2026-03-21T14:22:43Z".parse().unwrap();
    let error = silent.lookup(&Filter::default(), Some(&moment), None).unwrap_err();
    assert_eq!(error.code(), "usage");
    assert!(error.to_string().contains("wall-clock"));
}

#[test]
fn modes_need_a_log_that_has_them() {
    let log = log_of(encode("wpilog", &[("a", "double")], &[(0, Time::ZERO, logpose::core::Value::Double(0.0))]));
    let error = log.lookup(&Filter::default(), Some(&"auto".parse().unwrap()), None).unwrap_err();
    assert!(error.help.unwrap().contains("seconds"));
    let log = open_demo(AKIT);
    let error = log.lookup(&Filter::default(), Some(&"test".parse().unwrap()), None).unwrap_err();
    assert!(error.help.unwrap().contains("teleop 24.200"));
}
