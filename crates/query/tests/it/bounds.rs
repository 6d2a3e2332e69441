//! Questions that are too large, too deep or take too long: refused with a sentence, and the engine goes on.

use crate::support::{engine, large, line, small, with};
use std::time::{Duration, Instant};

use logpose_query::{Engine, Options};

/// The word for what came of a question; none of its sentences is long.
fn outcome(engine: &Engine, sql: &str) -> &'static str {
    let asked = engine.run(sql).and_then(|mut answer| answer.find_map(Result::err).map_or(Ok(()), Err));
    let Err(error) = asked else { return "answered" };
    assert!(!error.message.contains('\n') && error.message.len() < 300, "{sql:.60}: {error}");
    error.code
}

/// Runs as a thread of the viewer's server does.
fn on_a_small_stack(work: impl FnOnce(&Engine) + Send + 'static) {
    let engine = engine(vec![small("small.wpilog")]);
    std::thread::Builder::new().stack_size(2 << 20).spawn(move || work(&engine)).unwrap().join().unwrap();
}

#[test]
fn chains_of_any_length_are_refused_or_answered() {
    on_a_small_stack(|engine| {
        for n in [40, 2000, 20_000] {
            for sql in [
                format!("SELECT 1{}", "+1".repeat(n)),
                format!("SELECT 'a'{}", "||'a'".repeat(n)),
                format!("SELECT 1{}", "::int".repeat(n)),
                format!("SELECT 1{}", " IS NULL".repeat(n)),
                format!("SELECT count(*) FROM samples WHERE channel='c0'{}", " OR channel='c0'".repeat(n)),
                format!("SELECT count(*) FROM samples WHERE channel='c0'{}", " AND number BETWEEN 0 AND 1".repeat(n)),
                format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(n)),
                format!("SELECT 1{}", " EXCEPT SELECT 1".repeat(n)),
                format!("SELECT count(*) FROM modes{}", " CROSS JOIN modes".repeat(n)),
                format!("SELECT count(*) FROM modes{}", ", modes".repeat(n)),
                format!("WITH c AS (SELECT 1 AS x){} SELECT 1", ", c AS (SELECT * FROM c)".repeat(n)),
                format!("SELECT CASE {} 1 END", "WHEN true THEN CASE ".repeat(n)),
                format!("SELECT {}1", "-".repeat(n)),
                format!("SELECT {}true", "NOT ".repeat(n)),
                format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n)),
                format!("SELECT {}1{}", "abs(".repeat(n), ")".repeat(n)),
                format!("SELECT {}1{}", "[".repeat(n), "]".repeat(n)),
                format!("SELECT * FROM {}modes{}", "(".repeat(n), ")".repeat(n)),
                format!("SELECT {}1{}", "(SELECT ".repeat(n), ")".repeat(n)),
                format!("SELECT CAST(1 AS {}INT{})", "ARRAY<".repeat(n), ">".repeat(n)),
                format!("SELECT CAST(1 AS INT{})", "[]".repeat(n)),
                format!("SELECT x{} FROM (SELECT 1 AS x)", ".a".repeat(n)),
                format!("SELECT x{} FROM (SELECT 1 AS x)", "[1]".repeat(n)),
                format!("{}SELECT 1", "EXPLAIN ".repeat(n)),
            ] {
                let code = outcome(engine, &sql);
                let expected =
                    if n == 40 { code != "internal-error" } else { matches!(code, "too-complex" | "syntax") };
                assert!(expected, "{code}: {sql:.60}");
            }
        }
        let long = format!("SELECT '{}'", "x".repeat(2 << 20));
        assert_eq!(outcome(engine, &long), "too-complex");
        assert_eq!(line(engine, "SELECT 1"), "1");
    });
}

#[test]
fn questions_within_the_bounds_have_the_stack_they_need() {
    on_a_small_stack(|engine| {
        let sums = format!("SELECT number{} FROM samples WHERE channel = '/Power/Volts' LIMIT 1", "+1".repeat(600));
        assert_eq!(line(engine, &sums), "612.0");
        let or = format!("SELECT count(*) FROM samples WHERE text = 'a'{}", " OR text = 'a'".repeat(600));
        assert_eq!(line(engine, &or), "0");
        let list = format!("SELECT count(*) FROM samples WHERE channel IN ('a'{})", ", 'a'".repeat(5000));
        assert_eq!(line(engine, &list), "0");
        let case = format!("SELECT CASE number {} END FROM samples LIMIT 1", "WHEN -1 THEN 2 ".repeat(500));
        assert_eq!(line(engine, &case), "");
        let unions = format!("SELECT count(*) FROM (SELECT 1{})", " UNION ALL SELECT 1".repeat(200));
        assert_eq!(line(engine, &unions), "201");
    });
}

#[test]
fn named_queries_count_as_often_as_they_are_used() {
    on_a_small_stack(|engine| {
        let doubled = |n: usize| {
            let more: String = (1..n).map(|i| format!(", c{i} AS (SELECT a.x FROM c{0} a, c{0} b)", i - 1)).collect();
            format!("WITH c0 AS (SELECT 1 AS x){more} SELECT count(*) FROM c{}", n - 1)
        };
        assert_eq!(line(engine, &doubled(5)), "1");
        assert_eq!(outcome(engine, &doubled(30)), "too-complex");
    });
}

#[test]
fn questions_without_end_are_given_up() {
    const ENDLESS: &str = "SELECT sum(value) FROM generate_series(1, 9000000000000)";
    let options = Options { threads: 1, time: Some(Duration::from_millis(100)), ..Options::default() };
    let limited = with(vec![small("small.wpilog")], &options);
    let begun = Instant::now();
    assert_eq!(outcome(&limited, ENDLESS), "time-limit");
    // One thread is enough for the next question: nothing is left of the last.
    assert_eq!(line(&limited, "SELECT 1"), "1");
    // Joins without an equality make rows without waiting for any.
    let limited = with(vec![large(40, 5000)], &options);
    let join = "SELECT a.channel, count(*) FROM samples a JOIN samples b ON a.number < b.number GROUP BY 1";
    assert_eq!(outcome(&limited, join), "time-limit");
    assert_eq!(line(&limited, "SELECT 1"), "1");
    let engine = engine(vec![small("small.wpilog")]);
    let statement = engine.parse(ENDLESS).unwrap().pop().unwrap();
    let stop = || true;
    let error = engine.ask_unless(statement, &stop).and_then(|mut answer| answer.next_rows().map(drop));
    assert_eq!(error.unwrap_err().code, "cancelled");
    assert!(begun.elapsed() < Duration::from_secs(20));
}
