//! Several sources as one.

use logpose::core::{Channel, Sample, Sink, Time, Value};
use logpose_live::{Batch, Join};

use crate::kit::Heard;

fn batch(received_ms: i64, own_ms: i64, declare: &[(u32, &str, &str)], value: f64) -> Batch {
    let mut batch = Batch::new(Time::from_millis(received_ms));
    for (id, name, ty) in declare {
        batch.channel(*id, &Channel::new(*name, *ty)).unwrap();
    }
    let sample = Sample { channel: 0, time: Time::from_millis(own_ms), value: Value::Double(value) };
    batch.samples(&[sample]).unwrap();
    batch
}

#[test]
fn one_source_stays_as_it_is() {
    let mut join = Join::single();
    let mut heard = Heard::default();
    join.join(0, &batch(1_000_000, 20, &[(0, "/A", "double")], 1.0)).play(&mut heard).unwrap();
    // A reconnect may declare it again, under another number.
    join.join(0, &batch(1_000_040, 40, &[(0, "/B", "double"), (1, "/A", "double")], 2.0)).play(&mut heard).unwrap();
    assert_eq!(heard.channels, ["/A double", "/B double"]);
    assert_eq!(heard.lines, ["0.020 /A double Double(1.0)", "0.040 /B double Double(2.0)"]);
}

#[test]
fn several_sources_have_prefixes_and_one_clock_and_keep_both_times() {
    let mut join = Join::several(&["a".to_owned(), "b".to_owned()], Time::from_millis(1_000_000));
    let mut heard = Heard::default();
    let declare = [(0, "/X", "double"), (1, "/.schema/struct:P", "structschema")];
    join.join(0, &batch(1_000_100, 20, &declare, 1.0)).play(&mut heard).unwrap();
    join.join(1, &batch(1_000_150, 700_000, &declare, 2.0)).play(&mut heard).unwrap();
    // A message that took 30 ms longer than the one before is put where it belongs.
    join.join(0, &batch(1_000_150, 40, &[], 3.0)).play(&mut heard).unwrap();
    assert_eq!(
        heard.channels,
        [
            "/a/X double",
            "/.schema/struct:P structschema",
            "/logpose/a/source_time int64",
            "/logpose/a/receive_time int64",
            "/b/X double",
            "/logpose/b/source_time int64",
            "/logpose/b/receive_time int64",
        ]
    );
    assert_eq!(
        heard.lines,
        [
            "0.100 /logpose/a/source_time int64 Int64(20000000)",
            "0.100 /logpose/a/receive_time int64 Int64(1000100000000)",
            "0.100 /a/X double Double(1.0)",
            "0.150 /logpose/b/source_time int64 Int64(700000000000)",
            "0.150 /logpose/b/receive_time int64 Int64(1000150000000)",
            "0.150 /b/X double Double(2.0)",
            "0.120 /logpose/a/source_time int64 Int64(40000000)",
            "0.120 /logpose/a/receive_time int64 Int64(1000150000000)",
            "0.120 /a/X double Double(3.0)",
        ]
    );
}
