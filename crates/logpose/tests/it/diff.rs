//! Differences: by hand on small logs, and against a naive comparison over rows.

use std::collections::BTreeMap;

use logpose::core::{Layout, Type, Value};
use logpose::diff::{self, Align, ChannelDiff, Diff, DiffOptions, Verdict};
use logpose::{Filter, Log, Order, ScalarValue};
use logpose_testkit::ms;

use crate::support::{self, AKIT, DATALOG, R2, encode, log_of, open_demo};

fn compared(a: &Log, b: &Log, options: &DiffOptions) -> Diff {
    diff::of(a, b, &Filter::default(), (None, None), options).unwrap_or_else(|error| panic!("{error}"))
}

fn exact() -> DiffOptions {
    DiffOptions { abs: 0.0, rel: 0.0, time_tolerance_ns: 0, ..DiffOptions::default() }
}

fn channel<'d>(diff: &'d Diff, name: &str) -> &'d ChannelDiff {
    diff.channels.iter().find(|channel| channel.name == name).unwrap_or_else(|| panic!("no {name}"))
}

/// Doubles at milliseconds, by channel.
fn doubles(channels: &[(&str, &[(i64, f64)])]) -> Log {
    let names: Vec<_> = channels.iter().map(|(name, _)| (*name, "double")).collect();
    let mut samples = Vec::new();
    for (id, (_, values)) in (0..).zip(channels) {
        samples.extend(values.iter().map(|(t, x)| (id, ms(*t), Value::Double(*x))));
    }
    samples.sort_by_key(|(_, time, _)| *time);
    log_of(encode("wpilog", &names, &samples))
}

#[test]
fn samples_at_the_same_times_are_compared_one_by_one() {
    let a = doubles(&[("/x", &[(0, 1.0), (10, 2.0), (20, 3.0), (30, f64::NAN)]), ("/y", &[(0, 1.0), (30, 1.0)])]);
    let b =
        doubles(&[("/x", &[(0, 1.0), (10, 2.5), (20, 7.0), (30, f64::NAN)]), ("/y", &[(0, 1.0), (30, 1.0 + 1e-8)])]);
    let diff = compared(&a, &b, &DiffOptions::default());
    let x = channel(&diff, "/x");
    assert_eq!((x.verdict, x.differing, x.missing, x.samples), (Verdict::Differs, (2, 2), (0, 0), (4, 4)));
    let first = x.first.as_ref().unwrap();
    assert_eq!((first.time, &first.a, &first.b), (ms(10), &ScalarValue::Double(2.0), &ScalarValue::Double(2.5)));
    let largest = x.largest.as_ref().unwrap();
    assert_eq!((largest.time, largest.amount), (ms(20), Some(4.0)));
    assert_eq!(channel(&diff, "/y").verdict, Verdict::Within);
    assert!(diff.differs(true));
    assert_eq!(diff.first().map(|(channel, first)| (&*channel.name, first.time)), Some(("/x", ms(10))));
    assert_eq!(channel(&compared(&a, &b, &exact()), "/y").verdict, Verdict::Differs);
    assert_eq!(channel(&compared(&a, &b, &DiffOptions { abs: 0.5, ..exact() }), "/x").differing, (1, 1));
    let wide = vec![(Filter::new(&["/x".into()], &[]).unwrap(), 4.0)];
    let diff = compared(&a, &b, &DiffOptions { tolerances: wide, ..DiffOptions::default() });
    assert_eq!(channel(&diff, "/x").verdict, Verdict::Within);
    assert!(!diff.differs(false));
}

#[test]
fn only_changes_and_every_cycle_are_the_same_values() {
    let every = doubles(&[("/x", &[(0, 1.0), (10, 1.0), (20, 1.0), (30, 2.0), (40, 2.0)])]);
    let changes = doubles(&[("/x", &[(0, 1.0), (30, 2.0)]), ("/end", &[(40, 0.0)])]);
    let diff = compared(&every, &changes, &exact());
    assert_eq!(channel(&diff, "/x").verdict, Verdict::Equal);
    assert_eq!(channel(&diff, "/end").verdict, Verdict::OnlyB);
    assert!(diff.differs(false) && !diff.differs(true));
    // One that comes 3 ms late is late by more than the tolerance, or not.
    let late = doubles(&[("/x", &[(0, 1.0), (33, 2.0)]), ("/end", &[(40, 0.0)])]);
    let strict = compared(&every, &late, &exact());
    let x = channel(&strict, "/x");
    assert_eq!((x.verdict, x.differing), (Verdict::Differs, (1, 0)));
    let lenient = compared(&every, &late, &DiffOptions { time_tolerance_ns: 3_000_000, ..exact() });
    assert_eq!(channel(&lenient, "/x").verdict, Verdict::Equal);
}

#[test]
fn channels_of_one_log_alone_are_distinguished() {
    let long = doubles(&[("/x", &[(0, 1.0), (10, 1.0), (20, 1.0), (30, 1.0)])]);
    let short = doubles(&[("/x", &[(10, 1.0), (20, 1.0)])]);
    let diff = compared(&long, &short, &exact());
    let x = channel(&diff, "/x");
    assert_eq!((x.verdict, x.missing, x.differing), (Verdict::Missing, (2, 0), (0, 0)));
    assert!(diff.differs(false) && !diff.differs(true));
    assert_eq!(diff.common, Some((ms(10), ms(20))));
    let other = log_of(encode("wpilog", &[("/x", "int64")], &[(0, ms(10), Value::Int64(1))]));
    let diff = compared(&short, &other, &exact());
    assert_eq!(channel(&diff, "/x").verdict, Verdict::Types);
    assert!(diff.differs(true));
}

#[test]
fn structs_lists_texts_and_integers_differ_by_their_parts() {
    let point = |x: f64, y: f64| -> &'static [u8] { [x, y].map(f64::to_le_bytes).concat().leak() };
    let list = |numbers: &[f64]| -> Value<'static> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        Value::parse(Type::DoubleArray, bytes.leak(), Layout::Little).unwrap()
    };
    let channels = [
        ("/.schema/struct:Point", "structschema"),
        ("/p", "struct:Point"),
        ("/l", "double[]"),
        ("/s", "string"),
        ("/i", "int64"),
        ("/b", "mystery"),
    ];
    let make = |p: &'static [u8], l: Value<'static>, s: &'static [u8], i: i64, b: &'static [u8]| {
        let samples = [
            (0, ms(0), Value::String(b"double x;double y")),
            (1, ms(1), Value::Bytes(p)),
            (2, ms(2), l),
            (3, ms(3), Value::String(s)),
            (4, ms(4), Value::Int64(i)),
            (5, ms(5), Value::Bytes(b)),
        ];
        log_of(encode("wpilog", &channels, &samples))
    };
    let a = make(point(1.0, 2.0), list(&[1.0, 2.0]), b"IDLE", i64::MAX, b"\x01");
    let b = make(point(1.5, 9.0), list(&[1.0, 2.0, 3.0]), b"RUN", i64::MAX - 1, b"\x02");
    let diff = compared(&a, &b, &exact());
    let first = |name: &str| {
        let first = channel(&diff, name).first.clone().unwrap();
        (first.path, first.a, first.b, first.amount)
    };
    assert_eq!(first("/p"), (".y".into(), ScalarValue::Double(2.0), ScalarValue::Double(9.0), Some(7.0)));
    assert_eq!(first("/l"), (".length".into(), ScalarValue::Integer(2), ScalarValue::Integer(3), Some(1.0)));
    assert_eq!(
        first("/s"),
        (String::new(), ScalarValue::Text(b"IDLE"[..].into()), ScalarValue::Text(b"RUN"[..].into()), None)
    );
    assert_eq!(first("/i").3, Some(1.0));
    assert_eq!(first("/b").1, ScalarValue::Bytes(b"\x01"[..].into()));
    let order: Vec<_> = diff.channels.iter().map(|channel| &*channel.name).collect();
    assert_eq!(order, ["/p", "/l", "/s", "/i", "/b", "/.schema/struct:Point"]);
    // A list that is longer differs whatever the tolerance.
    let loose = compared(&a, &b, &DiffOptions { abs: 100.0, ..exact() });
    assert_eq!(channel(&loose, "/l").verdict, Verdict::Differs);
    assert_eq!(channel(&loose, "/p").verdict, Verdict::Within);
}

#[test]
fn logs_can_be_laid_beside_each_other_in_many_ways() {
    let early = doubles(&[("/x", &[(0, 1.0), (10, 2.0)])]);
    let late = doubles(&[("/x", &[(5_000, 1.0), (5_010, 2.0)])]);
    let with = |align| diff::of(&early, &late, &Filter::default(), (None, None), &DiffOptions { align, ..exact() });
    let error = with(Align::Time).unwrap_err();
    assert!(error.to_string().contains("do not overlap") && error.help.unwrap().contains("--align"));
    for align in [Align::Start, Align::Best, Align::Offset(-5_000_000_000)] {
        let diff = with(align).unwrap();
        assert_eq!((diff.offset_ns, diff.differs(false)), (-5_000_000_000, false), "{align:?}");
        assert_ne!(diff.align, Align::Best);
    }
    assert!(with(Align::Wall).is_err());
    assert!(with("auto".parse().unwrap()).is_err());
    for (text, align) in [("offset:1.5", Align::Offset(1_500_000_000)), ("offset:-20ms", Align::Offset(-20_000_000))] {
        assert_eq!(text.parse::<Align>().unwrap(), align);
    }
    for bad in ["", "offset", "offset:", "offset:x", "noon"] {
        assert!(bad.parse::<Align>().unwrap_err().help.is_some(), "{bad}");
    }
}

#[test]
fn two_logs_of_one_match_are_equal_and_aligned_by_modes_too() {
    let (a, b) = (open_demo(R2), open_demo(AKIT));
    for align in ["time", "start", "auto", "teleop", "enabled", "wall", "best"] {
        let options = DiffOptions { align: align.parse().unwrap(), ..DiffOptions::default() };
        let diff = compared(&a, &b, &options);
        assert_eq!(diff.offset_ns.abs() / 1000, 0, "{align}");
        assert!(!diff.differs(true), "{align}");
        assert_eq!(channel(&diff, "/Timestamp").verdict, Verdict::OnlyB);
        assert!(diff.channels.iter().filter(|channel| channel.verdict == Verdict::Equal).count() > 30);
    }
}

#[test]
fn a_log_is_equal_to_itself_also_out_of_order() {
    for name in [DATALOG, R2] {
        assert!(!compared(&open_demo(name), &open_demo(name), &exact()).differs(false), "{name}");
    }
    let mixed = doubles(&[("/x", &[(0, 1.0), (10, 2.0)])]);
    let samples = [(10, 2.0), (0, 1.0)].map(|(t, x)| (0, ms(t), Value::Double(x)));
    let unsorted = log_of(encode("wpilog", &[("/x", "double")], &samples));
    assert!(!compared(&mixed, &unsorted, &exact()).differs(false));
}

/// Every sample looked up in the other log, the slow way.
#[test]
fn moved_demo_logs_agree_with_a_naive_comparison_over_rows() {
    let offset = 7_000_000;
    let (a, b) = ([open_demo(R2)], [open_demo(R2)]);
    let options = DiffOptions { align: Align::Offset(offset), ..exact() };
    let diff = compared(&a[0], &b[0], &options);
    let (first, last) = diff.common.unwrap();
    let collect = |logs: &[Log], offset: i64| {
        let mut all: BTreeMap<String, Vec<(i64, Vec<u8>)>> = BTreeMap::new();
        for (name, _, ns, payload) in support::rows(logs, Vec::new(), Order::Time) {
            all.entry(name).or_default().push((ns + offset, payload));
        }
        all
    };
    let (rows_a, rows_b) = (collect(&a, 0), collect(&b, offset));
    let naive = |rows: &[(i64, Vec<u8>)], other: &[(i64, Vec<u8>)]| {
        let (mut differing, mut missing) = (0, 0);
        for (ns, payload) in rows {
            let held = other.iter().rev().find(|(at, _)| at <= ns);
            match held.filter(|_| (first.nanos()..=last.nanos()).contains(ns)) {
                None => missing += 1,
                Some((_, held)) if held != payload => differing += 1,
                Some(_) => {}
            }
        }
        (differing, missing)
    };
    let mut differ = 0;
    for (name, rows) in &rows_a {
        let (of_a, of_b) = (naive(rows, &rows_b[name]), naive(&rows_b[name], rows));
        let found = channel(&diff, name);
        assert_eq!((found.differing, found.missing), ((of_a.0, of_b.0), (of_a.1, of_b.1)), "{name}");
        differ += u64::from(found.verdict == Verdict::Differs);
    }
    assert!(differ > 10);
}
