//! Aggregates of NaN, infinities and nothing: the same with groups and without, however rows are ordered.

use crate::support::{Making, ask, engine, line, small};
use logpose::core::Value;

const INF: f64 = f64::INFINITY;

/// Groups that are hard for somebody, with their minimum and maximum.
fn groups() -> Vec<(&'static str, Vec<f64>, [f64; 2])> {
    let (nan, minus_nan) = (f64::NAN.copysign(1.0), f64::NAN.copysign(-1.0));
    vec![
        ("inf", vec![INF, INF], [INF, INF]),
        ("minus-inf", vec![-INF, -INF], [-INF, -INF]),
        ("both", vec![INF, -INF], [-INF, INF]),
        ("nan", vec![nan, nan], [nan, nan]),
        ("nan-first", vec![nan, 1.0, 2.0], [1.0, nan]),
        ("nan-last", vec![1.0, 2.0, nan], [1.0, nan]),
        ("nan-between", vec![1.0, nan, 2.0], [1.0, nan]),
        ("minus-nan", vec![3.0, minus_nan, 2.0], [2.0, nan]),
        ("nan-inf", vec![nan, -INF, INF], [-INF, nan]),
        ("zeros", vec![0.0, -0.0], [-0.0, 0.0]),
        ("plain", vec![5.0, -7.0], [-7.0, 5.0]),
    ]
}

#[test]
fn the_ends_of_groups_are_right_for_nan_and_infinities() {
    let mut log = Making::new();
    for (name, values, _) in groups() {
        let (double, float) = (log.channel(name, "double"), log.channel(&format!("{name}/float"), "float"));
        for (i, value) in values.into_iter().enumerate() {
            log.add(double, i as i64, Value::Double(value));
            log.add(float, i as i64, Value::Float(value as f32));
        }
    }
    let engine = engine(vec![log.log("numbers.wpilog")]);
    let shown = |x: f64| line(&engine, &format!("SELECT CAST('{x}' AS DOUBLE)"));
    for (name, values, ends) in groups() {
        let expected: Vec<String> = ends.into_iter().map(shown).collect();
        for (name, column) in [(name.to_owned(), "number"), (format!("{name}/float"), "number")] {
            let of = |rest: &str| {
                let sql = format!("SELECT min({column}), max({column}) FROM samples WHERE channel = '{name}' {rest}");
                ask(&engine, &sql).pop().unwrap()
            };
            for rest in ["", "GROUP BY channel", "GROUP BY channel, abs(time_ns) < 0"] {
                assert_eq!(of(rest), expected, "{name}: {values:?} {rest}");
            }
            let table = format!("SELECT min(value), max(value) FROM \"{name}\"");
            assert_eq!(ask(&engine, &table).pop().unwrap(), expected, "{table}");
            assert_eq!(ask(&engine, &format!("{table} GROUP BY time < -1")).pop().unwrap(), expected, "{table}");
            let window = format!("SELECT min(value) OVER (ORDER BY time ROWS BETWEEN 5 PRECEDING AND CURRENT ROW),
                max(value) OVER (ORDER BY time ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) FROM \"{name}\" ORDER BY time DESC LIMIT 1");
            assert_eq!(ask(&engine, &window).pop().unwrap(), expected, "{window}");
        }
    }
}

#[test]
fn groups_without_values_have_no_ends() {
    let engine = engine(vec![small("a.wpilog")]);
    let filtered = "SELECT min(number) FILTER (WHERE number > 1e9), max(number) FILTER (WHERE number > 1e9),
        min(number) FILTER (WHERE text = 'x'), count(*) FROM samples WHERE channel = '/Power/Volts' GROUP BY time < -1";
    assert_eq!(line(&engine, filtered), "   300");
    assert_eq!(
        line(&engine, "SELECT min(number), max(number) FROM samples WHERE channel = 'messages' GROUP BY time < -1"),
        " "
    );
}

#[test]
fn correlations_by_group_keep_their_digits() {
    let engine = engine(vec![small("a.wpilog")]);
    let of = |rest: &str| -> f64 {
        let sql =
            format!("SELECT corr(1e6 + value * 1e-3, 1e6 + value * value * 1e-6) FROM generate_series(1, 1000) {rest}");
        line(&engine, &sql).parse().unwrap()
    };
    let (whole, group) = (of(""), of("GROUP BY value < 0"));
    // Computed from the definition with 60 digits.
    assert!((whole - 0.968_306_387_733_061).abs() < 1e-10, "{whole}");
    assert!((whole - group).abs() < 1e-12, "{whole} and {group}");
}
