use crate::support::{engine, line, small};
use logpose::{Log, OpenOptions};
use logpose_query::AnswerFormat;

fn written(sql: &str, form: AnswerFormat) -> Vec<u8> {
    let engine = engine(vec![small("a.wpilog")]);
    let mut out = Vec::new();
    engine.run(sql).unwrap().write(form, &mut out, &|| ()).unwrap();
    out
}

fn text(sql: &str, form: AnswerFormat) -> String {
    String::from_utf8(written(sql, form)).unwrap()
}

#[test]
fn json_has_no_numbers_that_readers_would_round() {
    let sql = "SELECT time_ns, channel, number, integer, text, numbers FROM samples
               WHERE channel IN ('/Drive/Count', '/Drive/Speeds', 'messages') AND time BETWEEN 6 AND 8 ORDER BY time_ns, channel LIMIT 3";
    assert_eq!(
        text(sql, AnswerFormat::Ndjson),
        concat!(
            r#"{"time_ns":6000000000,"channel":"/Drive/Count","number":null,"integer":"9223372036854775747","text":null,"numbers":null}"#,
            "\n",
            r#"{"time_ns":6000000000,"channel":"/Drive/Speeds","number":null,"integer":null,"text":null,"numbers":[1.0,"NaN"]}"#,
            "\n",
            r#"{"time_ns":7000000000,"channel":"/Drive/Count","number":null,"integer":"9223372036854775737","text":null,"numbers":null}"#,
            "\n",
        )
    );
    assert_eq!(text("SELECT 1 AS a", AnswerFormat::Json), "[\n{\"a\":1}\n]\n");
    assert_eq!(text("SELECT 1 AS a WHERE false", AnswerFormat::Json), "[\n\n]\n");
    assert_eq!(text("SELECT 1 AS a WHERE false", AnswerFormat::Ndjson), "");
    let nested = "SELECT value, arrow_cast(1.5, 'Float32') AS f, 'Infinity'::double AS i FROM \"/Drive/Pose\" LIMIT 1";
    assert_eq!(
        text(nested, AnswerFormat::Ndjson),
        "{\"value\":{\"x\":60.0,\"y\":-1.5},\"f\":1.5,\"i\":\"Infinity\"}\n"
    );
}

#[test]
fn csv_quotes_what_needs_it() {
    assert_eq!(
        text("SELECT time, value, NULL AS n FROM messages LIMIT 1", AnswerFormat::Csv),
        "time,value,n\r\n8.0,\"grün, \"\"gut\"\"\",\r\n"
    );
}

/// Parquet and Arrow files can be asked themselves.
#[test]
fn files_of_columns_are_whole() {
    let sql = "SELECT time_ns, channel, value_x FROM (SELECT time_ns, 'x' AS channel, value.x AS value_x FROM \"/Drive/Pose\")";
    for (form, magic) in [(AnswerFormat::Parquet, &b"PAR1"[..]), (AnswerFormat::Arrow, &b"ARROW1"[..])] {
        let bytes = written(sql, form);
        assert!(bytes.starts_with(magic) && bytes.ends_with(magic), "{form:?}");
        let all = written("SELECT * FROM samples", form);
        let name = if form == AnswerFormat::Parquet { "a.parquet" } else { "a.arrow" };
        let log = Log::from_bytes(name, all, &OpenOptions::default());
        // A table of samples is a log again where the bridges can read it as one.
        if let Ok(log) = log {
            assert_eq!(line(&engine(vec![log]), "SELECT count(*) > 0 FROM samples"), "true");
        }
    }
}
