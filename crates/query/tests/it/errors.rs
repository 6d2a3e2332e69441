use crate::support::{engine, small};

/// What is said about a bad query, with the advice behind an arrow.
fn said(sql: &str) -> String {
    let engine = engine(vec![small("a.wpilog")]);
    let error = match engine.run(sql) {
        Err(error) => error,
        Ok(mut answer) => answer.find_map(Result::err).unwrap_or_else(|| panic!("{sql} is answered")),
    };
    format!("{}: {}{}", error.code, error.message, error.help.map_or(String::new(), |help| format!(" -> {help}")))
}

#[test]
fn unknown_names_are_met_with_near_ones() {
    let cases = [
        (
            "SELECT * FROM \"/Power/Vlts\"",
            "table-not-found: there is no table \"/Power/Vlts\" -> did you mean \"/Power/Volts\"?",
        ),
        ("SELECT * FROM Volts", "table-not-found: there is no table volts -> did you mean \"/Power/Volts\"?"),
        ("SELECT * FROM sample", "table-not-found: there is no table sample -> did you mean samples?"),
        (
            "SELECT * FROM xyzzy",
            "table-not-found: there is no table xyzzy -> SHOW TABLES lists all; a channel's table is its name in double quotes",
        ),
        ("SELECT chanel FROM samples", "column-not-found: there is no column \"chanel\" -> did you mean channel?"),
        (
            "SELECT * FROM samples WHERE channel = \"/Power/Volts\"",
            "column-not-found: there is no column \"/Power/Volts\" -> it is a channel: as text it stands in single quotes, '/Power/Volts'",
        ),
        (
            "SELECT foo FROM \"/Power/Volts\"",
            "column-not-found: there is no column \"foo\" -> there are time, time_ns, value",
        ),
        ("SELECT agv(value) FROM \"/late\"", "function-not-found: there is no function agv -> did you mean avg?"),
    ];
    cases.iter().for_each(|(sql, expected)| assert_eq!(said(sql), *expected, "{sql}"));
}

#[test]
fn syntax_errors_show_the_place() {
    let quotes = "the table of a channel is its name in double quotes, the query as a whole in single ones: 'SELECT * FROM \"/Drive/Speed\"'";
    let cases = [
        ("SELECT * FORM samples", "syntax: ".to_owned()),
        ("SELECT *\nFROM /Power/Volts", format!(" -> {quotes}")),
        ("SELECT 'open", "syntax: ".to_owned()),
        ("", "syntax: there is no statement".to_owned()),
        ("SELECT 1; SELECT 2", "syntax: there are several statements".to_owned()),
    ];
    for (sql, expected) in cases {
        let said = said(sql);
        assert!(said.contains(&expected), "{sql}: {said}");
    }
    assert!(
        said("SELECT *\nFROM /Power/Volts").contains("line 2, column 6"),
        "{}",
        said("SELECT *\nFROM /Power/Volts")
    );
}

#[test]
fn logs_are_asked_and_not_changed() {
    for sql in [
        "CREATE TABLE x AS SELECT 1",
        "CREATE VIEW x AS SELECT 1",
        "DROP TABLE samples",
        "INSERT INTO samples SELECT * FROM samples",
        "COPY (SELECT 1) TO '/tmp/nowhere.csv'",
        "EXPLAIN COPY (SELECT 1) TO '/tmp/nowhere.csv'",
        "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
        "SET datafusion.execution.batch_size = 1",
        "EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1",
        "DELETE FROM samples",
        "UPDATE samples SET number = 1",
    ] {
        let said = said(sql);
        assert!(said.starts_with("refused: "), "{sql}: {said}");
        assert!(!said.contains("DataFusion"), "{sql}: {said}");
    }
    for sql in ["SELECT * FROM '/etc/passwd'", "SELECT * FROM \"/etc/passwd\""] {
        assert!(said(sql).starts_with("table-not-found") || said(sql).starts_with("syntax"), "{}", said(sql));
    }
}

#[test]
fn functions_say_what_they_want() {
    let cases = [
        ("SELECT * FROM wide()", "wide wants a length of time"),
        ("SELECT * FROM wide('fast', '*')", "is no length of time"),
        ("SELECT * FROM wide('0s', '*')", "must be longer than nothing"),
        ("SELECT * FROM wide('1s', 'zebra*')", "no channel matches zebra*"),
        ("SELECT * FROM wide('1s', 5)", "is no text"),
        ("SELECT * FROM wide('1ns', '*')", "that is 29"),
        ("SELECT * FROM asof('/late')", "asof wants names"),
        ("SELECT * FROM asof('/late', '/Power/Vots')", "did you mean \"/Power/Volts\"?"),
        ("SELECT time_bucket('x', time) FROM samples", "is no length of time"),
        ("SELECT time_bucket(1) FROM samples", "time_bucket wants"),
        ("SELECT time_bucket('1s', text) FROM samples", "is no time"),
    ];
    for (sql, expected) in cases {
        let said = said(sql);
        assert!(said.contains(expected), "{sql}: {said}");
    }
}
