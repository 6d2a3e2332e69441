use crate::support::{ask, engine, large, line, small};

/// Groups of channels have what the same groups have when every row is hashed.
#[test]
fn grouping_by_channel_gives_what_hashing_every_row_gives() {
    let aggregates = "count(*), count(number), avg(number), sum(number), min(number), max(number), min(time), max(time_ns),
        stddev(number), median(integer), count(DISTINCT number), bool_or(boolean), min(text), sum(number + time),
        count(*) FILTER (WHERE number > 11), max(number) FILTER (WHERE time < 1), approx_percentile_cont(number, 0.5)";
    for logs in [vec![small("a.wpilog")], vec![small("a.wpilog"), small("b.wpilog")], vec![large(7, 3000)]] {
        let several = logs.len() > 1;
        let engine = engine(logs);
        let mut keys = vec!["channel", "split_part(channel, '/', 2)", "channel LIKE '/D%'"];
        if several {
            keys.extend(["log, channel", "channel, log", "log"]);
        }
        for key in keys {
            for rest in ["", "WHERE time BETWEEN 3 AND 9", "WHERE channel LIKE '%e%'"] {
                let fast = format!("SELECT {key}, {aggregates} FROM samples {rest} GROUP BY {key}");
                // A key that rows decide, though it is always the same.
                let slow = format!("SELECT {key}, {aggregates} FROM samples {rest} GROUP BY {key}, time_ns * 0");
                assert!(engine.explain(&fast).unwrap().contains("ByChannel"), "{fast}");
                assert!(!engine.explain(&slow).unwrap().contains("ByChannel"), "{slow}");
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
        "SELECT count(number) FROM samples",
    ] {
        assert!(!engine.explain(sql).unwrap().contains("ByChannel"), "{sql}");
        assert!(!ask(&engine, sql).is_empty());
    }
    let distinct = "SELECT count(*) FROM (SELECT DISTINCT channel FROM samples)";
    assert_eq!(line(&engine, distinct), "9");
}
