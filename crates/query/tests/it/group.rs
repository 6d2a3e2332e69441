use crate::support::{ask, engine, large, line, small};

/// Groups of channels have what the same groups have when every row is hashed.
#[test]
fn grouping_by_channel_gives_what_hashing_every_row_gives() {
    let aggregates = "count(*), count(number), avg(number), sum(number), min(number), max(number), min(time), max(time_ns),
        count(DISTINCT number), bool_or(boolean), bool_and(boolean), min(text), max(text), sum(number + time), sum(integer % 7),
        count(*) FILTER (WHERE number > 11), max(number) FILTER (WHERE time < 1),
        min(channel), avg(integer % 7)";
    let names = ["channel", "split_part(channel, '/', 2)", "channel LIKE '/D%'"];
    for (logs, keys) in [
        (vec![small("a.wpilog")], names),
        (vec![small("a.wpilog"), small("b.wpilog")], ["log, channel", "channel", "log"]),
        (vec![large(7, 300)], names),
    ] {
        let engine = engine(logs);
        for key in keys {
            for rest in ["", "WHERE time BETWEEN 3 AND 9", "WHERE channel LIKE '%e%'"] {
                let fast = format!("SELECT {key}, {aggregates} FROM samples {rest} GROUP BY {key}");
                // A key that rows decide, though it is always the same.
                let slow = format!("SELECT {key}, {aggregates} FROM samples {rest} GROUP BY {key}, abs(time_ns) < 0");
                if rest.is_empty() {
                    assert!(engine.explain(&fast).unwrap().contains("ByChannel"), "{fast}");
                    assert!(!engine.explain(&slow).unwrap().contains("ByChannel"), "{slow}");
                }
                let sorted = |sql: &str| {
                    let mut rows = ask(&engine, sql);
                    rows.sort();
                    rows
                };
                let (fast, slow) = (sorted(&fast), sorted(&slow));
                assert_eq!(fast.len(), slow.len(), "{key} {rest}");
                for (fast, slow) in fast.iter().zip(&slow) {
                    for (fast, slow) in fast.iter().zip(slow) {
                        assert!(same(fast, slow), "{fast} and {slow} by {key} {rest}");
                    }
                }
            }
        }
    }
}

/// The order of additions may differ, the last digits with it.
fn same(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) || a.is_nan() && b.is_nan(),
        _ => a == b,
    }
}

#[test]
fn other_groups_are_left_alone() {
    let engine = engine(vec![small("a.wpilog")]);
    for sql in [
        "SELECT number, count(*) FROM samples GROUP BY number",
        "SELECT channel, count(*) FROM samples WHERE number > 1 GROUP BY channel",
        "SELECT channel, array_agg(number ORDER BY time) FROM samples GROUP BY channel",
        "SELECT channel, count(*) FROM samples GROUP BY ROLLUP(channel)",
        "SELECT channel, stddev(number) FROM samples GROUP BY channel",
        "SELECT count(number) FROM samples",
    ] {
        assert!(!engine.explain(sql).unwrap().contains("ByChannel"), "{sql}");
        assert!(!ask(&engine, sql).is_empty());
    }
    let distinct = "SELECT count(*) FROM (SELECT DISTINCT channel FROM samples)";
    assert_eq!(line(&engine, distinct), "9");
}

#[test]
fn sums_are_added_up_on_the_way_and_are_the_same() {
    let both = |logs: fn() -> Vec<logpose::Log>| {
        let engine = engine(logs());
        let key = if logs().len() > 1 { "log, channel" } else { "channel" };
        let ask_for = |number: &str| {
            format!(
                "SELECT {key}, avg({number}), sum({number}), count({number}) FROM samples GROUP BY {key} ORDER BY {key}"
            )
        };
        let plan = engine.explain(&ask_for("number")).unwrap();
        assert!(plan.contains("ByChannel: sums: "), "{plan}");
        let plain = ask_for("number + 0.0");
        assert!(!engine.explain(&plain).unwrap().contains("sums: "));
        let (sums, plain) = (ask(&engine, &ask_for("number")), ask(&engine, &plain));
        assert_eq!(sums.len(), plain.len());
        let mut cells = sums.iter().flatten().zip(plain.iter().flatten());
        assert!(cells.all(|(a, b)| same(a, b)), "{sums:?} and {plain:?}");
    };
    both(|| vec![small("a.wpilog")]);
    both(|| vec![small("a.wpilog"), small("b.wpilog")]);
    both(|| vec![large(40, 500)]);
    // Of a part of the time the sums are not those of whole channels.
    let engine = engine(vec![small("a.wpilog")]);
    let part = "SELECT channel, avg(number) FROM samples WHERE time > 2 GROUP BY channel";
    assert!(!engine.explain(part).unwrap().contains("sums: "));
}
