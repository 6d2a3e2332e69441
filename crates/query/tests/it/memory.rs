use crate::support::{ask, large, line, with};
use logpose_query::Options;

fn limited(bytes: u64) -> logpose_query::Engine {
    with(vec![large(40, 5000)], &Options { threads: 2, memory: Some(bytes), ..Options::default() })
}

#[test]
fn what_does_not_fit_goes_to_the_disk() {
    let engine = limited(24 << 20);
    let sql = "SELECT count(*) FROM (SELECT number, channel, row_number() OVER (ORDER BY number, time_ns, channel) AS n FROM samples) WHERE n > 0";
    assert_eq!(line(&engine, sql), "200000");
}

#[test]
fn too_little_memory_is_said_in_one_sentence() {
    let engine = limited(1 << 20);
    let mut answer =
        engine.run("SELECT time_ns, channel, array_agg(number) FROM samples GROUP BY time_ns, channel").unwrap();
    let error = answer.find_map(Result::err).unwrap();
    assert_eq!(error.code, "memory");
    assert!(!error.message.contains('\n') && error.help.unwrap().contains("--limit-memory"));
    // The engine is still there.
    assert_eq!(ask(&engine, "SELECT 1").len(), 1);
}

#[test]
fn a_join_that_does_not_fit_goes_to_the_disk() {
    let join = "SELECT count(*), max(a.number) FROM samples a JOIN samples b ON a.time_ns = b.time_ns AND a.channel = b.channel";
    assert_eq!(line(&limited(12 << 20), join), line(&limited(1 << 30), join));
    // Every kind of join, and what is selected behind it.
    for kind in ["LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"] {
        let sql = format!(
            "SELECT count(*) FROM samples a {kind} JOIN (SELECT * FROM samples WHERE number > 20) b \
             ON a.time_ns = b.time_ns AND a.channel = b.channel"
        );
        assert_eq!(line(&limited(12 << 20), &sql), line(&limited(1 << 30), &sql), "{kind}");
    }
}

#[test]
fn large_results_of_functions_are_refused_before_they_take_memory() {
    let engine = limited(64 << 20);
    for (sql, function) in [
        ("SELECT length(repeat('x', 2000000000))", "repeat"),
        ("SELECT repeat(repeat('x', 60000), 60000)", "repeat"),
        ("SELECT repeat(channel, 1000000) FROM samples", "repeat"),
        ("SELECT lpad('x', 2000000000, 'y')", "lpad"),
        ("SELECT rpad('x', 2000000000)", "rpad"),
        ("SELECT array_repeat(array_repeat(1, 60000), 60000)", "array_repeat"),
        ("SELECT array_resize([1], 2000000000, 0)", "array_resize"),
        ("SELECT range(0, 2000000000)", "range"),
        ("SELECT range(2000000000)", "range"),
        ("SELECT generate_series(DATE '1900-01-01', DATE '2026-01-01', INTERVAL '1 second')", "generate_series"),
        ("SELECT replace(repeat('a', 100000), 'a', repeat('b', 10000))", "replace"),
        ("SELECT regexp_replace(repeat('a', 100000), 'a', repeat('b', 10000), 'g')", "regexp_replace"),
        ("SELECT array_to_string(range(0, 100000), repeat('x', 10000))", "array_to_string"),
        ("SELECT concat(s, s) FROM (SELECT repeat('x', 10000000) AS s)", "concat"),
        ("SELECT array_concat(s, s, s) FROM (SELECT range(0, 1000000) AS s)", "array_concat"),
        ("SELECT s || s FROM (SELECT repeat('x', 10000000) AS s)", "||"),
        ("SELECT length(repeat('x', 100000) || channel) FROM samples", "||"),
        ("SELECT s || s FROM (SELECT range(0, 1500000) AS s)", "array_concat"),
        ("SELECT [s, s] FROM (SELECT repeat('x', 10000000) AS s)", "make_array"),
    ] {
        assert_eq!(refusal(&engine, sql), format!("the result of {function} has more than 16 MB"), "{sql}");
    }
}

fn refusal(engine: &logpose_query::Engine, sql: &str) -> String {
    let asked = engine.run(sql).and_then(|mut rows| rows.find_map(Result::err).map_or(Ok(()), Err));
    asked.unwrap_err().message
}

#[test]
fn what_doubles_with_each_step_of_a_recursion_is_refused() {
    let engine = limited(64 << 20);
    for (first, next, function) in [
        ("repeat('x', 1000000)", "s || s", "||"),
        ("repeat('x', 1000000)", "encode(s, 'hex')", "encode"),
        ("repeat('x', 1000000)", "overlay(s PLACING s FROM length(s) + 1)", "overlay"),
        ("range(100000)", "s || s", "array_concat"),
    ] {
        let sql = format!(
            "WITH RECURSIVE t(s) AS (SELECT {first} UNION ALL SELECT {next} FROM t) SELECT count(*), max(s) FROM t"
        );
        assert_eq!(refusal(&engine, &sql), format!("the result of {function} has more than 16 MB"), "{sql}");
    }
}

#[test]
fn results_that_grow_with_each_row_and_constants_in_each_row_are_refused() {
    let engine = limited(64 << 20);
    for call in ["string_agg('x', ',')", "array_agg(number)"] {
        let sql = format!("SELECT max(a) FROM (SELECT {call} OVER (ORDER BY time_ns, channel) AS a FROM samples)");
        let (function, _) = call.split_once('(').unwrap();
        assert_eq!(refusal(&engine, &sql), format!("the results of {function} have more than 67 MB"), "{sql}");
    }
    let message = refusal(&engine, "SELECT repeat('x', 100000) AS s, channel FROM samples");
    assert!(message.starts_with("a constant of 100") && message.ends_with("is too large for a column"), "{message}");
    assert_eq!(line(&engine, "SELECT length(s) FROM (SELECT repeat('x', 100000) AS s)"), "100000");
}

#[test]
fn results_of_functions_within_bounds_are_what_they_were() {
    let engine = limited(64 << 20);
    for (sql, expected) in [
        (
            "SELECT repeat('ab', 3), repeat('x', -1), repeat(NULL, 2), lpad('x', 3, '-'), rpad('x', 2)",
            "ababab   --x x ",
        ),
        (
            "SELECT range(3), range(5, 0, -2), generate_series(1, 3), array_repeat('a', 2)",
            "[0,1,2] [5,3,1] [1,2,3] [\"a\",\"a\"]",
        ),
        ("SELECT replace('banana', 'a', 'oo'), concat('a', NULL, 1), concat_ws('-', 'a', 'b')", "boonoonoo a1 a-b"),
        ("SELECT array_to_string([1, 2], '+'), array_resize([1], 2, 0), array_concat([1], [2])", "1+2 [1,0] [1,2]"),
        ("SELECT 'a' || 'b', 'a' || NULL, 1 || 'a', [1] || [2], [1] || 2, 0 || [1]", "ab  1a [1,2] [1,2] [0,1]"),
        (
            "SELECT max(channel || '-' || text), max(arrow_typeof(channel || 'x')) FROM samples WHERE text IS NULL",
            " Utf8",
        ),
        ("SELECT encode('ab', 'hex'), overlay('abc' PLACING 'x' FROM 2), translate('abc', 'a', 'b')", "6162 axc bbc"),
        ("SELECT string_agg(a, '+') OVER (ORDER BY a) FROM (VALUES ('x'), ('y')) t(a) ORDER BY 1 DESC LIMIT 1", "x+y"),
        // More by the estimate than may be made at once.
        (
            "SELECT count(DISTINCT length(replace(channel || repeat('ab', 200), 'q', '0123456789'))) > 0, count(*) FROM samples",
            "true 200000",
        ),
    ] {
        assert_eq!(line(&engine, sql), expected, "{sql}");
    }
}
