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
            "table-not-found: no table \"/Power/Vlts\" -> did you mean \"/Power/Volts\"?",
        ),
        ("SELECT * FROM Volts", "table-not-found: no table volts -> did you mean \"/Power/Volts\"?"),
        ("SELECT * FROM sample", "table-not-found: no table sample -> did you mean samples?"),
        (
            "SELECT * FROM xyzzy",
            "table-not-found: no table xyzzy -> run SHOW TABLES to list all tables; the table of a channel is its name in double quotes",
        ),
        ("SELECT chanel FROM samples", "column-not-found: no column \"chanel\" -> did you mean channel?"),
        (
            "SELECT * FROM samples WHERE channel = \"/Power/Volts\"",
            "column-not-found: no column \"/Power/Volts\" -> it is a channel name: put text in single quotes, '/Power/Volts'",
        ),
        (
            "SELECT foo FROM \"/Power/Volts\"",
            "column-not-found: no column \"foo\" -> expected one of time, time_ns, value",
        ),
        ("SELECT agv(value) FROM \"/late\"", "function-not-found: no function agv -> did you mean avg?"),
    ];
    cases.iter().for_each(|(sql, expected)| assert_eq!(said(sql), *expected, "{sql}"));
}

#[test]
fn syntax_errors_show_the_place() {
    let quotes = "put channel names in double quotes and the query in single quotes: 'SELECT * FROM \"/Drive/Speed\"'";
    let cases = [
        ("SELECT * FORM samples", "syntax: ".to_owned()),
        ("SELECT *\nFROM /Power/Volts", format!(" -> {quotes}")),
        ("SELECT 'open", "syntax: ".to_owned()),
        ("", "syntax: the query is empty".to_owned()),
        ("SELECT 1; SELECT 2", "syntax: expected a single statement, found several".to_owned()),
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
        ("SELECT * FROM wide()", "wide needs an interval"),
        ("SELECT * FROM wide('fast', '*')", "invalid duration"),
        ("SELECT * FROM wide('0s', '*')", "must be greater than 0"),
        ("SELECT * FROM wide('1s', 'zebra*')", "no channel matches zebra*"),
        ("SELECT * FROM wide('1s', 5)", "is not text"),
        ("SELECT * FROM wide('1ns', '*')", "too many rows: 29"),
        ("SELECT * FROM asof('/late')", "asof needs channel names"),
        ("SELECT * FROM asof('/late', '/Power/Vots')", "did you mean \"/Power/Volts\"?"),
        ("SELECT time_bucket('x', time) FROM samples", "invalid duration"),
        ("SELECT time_bucket(1) FROM samples", "time_bucket needs"),
        ("SELECT time_bucket('1s', text) FROM samples", "is not a time"),
    ];
    for (sql, expected) in cases {
        let said = said(sql);
        assert!(said.contains(expected), "{sql}: {said}");
    }
}
