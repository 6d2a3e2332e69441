//! What the fuzz target calls. The ordinary tests run it over the questions in `fixtures/fuzz/questions_sql`.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use logpose::core::{Channel, EncodeOptions, Sample, Time, Value};
use logpose::{Format, Log, OpenOptions};

use crate::{Engine, Options};

/// A text as statements: each is parsed, planned, and asked for its first rows. Every error is an answer.
pub fn questions(data: &[u8]) {
    static ENGINE: LazyLock<Option<Engine>> = LazyLock::new(engine);
    let (Some(engine), Ok(sql)) = (&*ENGINE, str::from_utf8(data)) else { return };
    for statement in engine.parse(sql).unwrap_or_default() {
        let Ok(mut answer) = engine.ask(statement) else { continue };
        let (columns, mut text, mut left) = (answer.columns().len(), String::new(), ROWS);
        while left > 0
            && let Ok(Some(rows)) = answer.next_rows()
        {
            for row in 0..rows.len().min(left) {
                text.clear();
                (0..columns).for_each(|column| rows.text(row, column, &mut text));
            }
            left = left.saturating_sub(rows.len().max(1));
        }
    }
}

/// An engine over a log with a few samples of several types.
fn engine() -> Option<Engine> {
    let mut encoder = Format::from_name("wpilog")?.encoder(&EncodeOptions::default()).ok()?;
    let mut bytes = Vec::new();
    encoder.begin(&mut bytes);
    let values = [
        ("/volts", "double", [Value::Double(12.5), Value::Double(f64::NAN)]),
        ("/count", "int64", [Value::Int64(i64::MAX), Value::Int64(-1)]),
        ("/on", "boolean", [Value::Boolean(true), Value::Boolean(false)]),
        ("messages", "string", [Value::String(b"one"), Value::String("zw\u{f6}lf".as_bytes())]),
    ];
    for (id, (name, type_name, values)) in (0..).zip(values) {
        encoder.channel(id, &Channel::new(name, type_name), &mut bytes).ok()?;
        for (ms, value) in (0..).step_by(20).zip(values) {
            encoder.samples(&[Sample { channel: id, time: Time::from_millis(ms), value }], &mut bytes).ok()?;
        }
    }
    encoder.finish(&mut bytes);
    let log = Log::from_bytes("fuzz.wpilog", bytes, &OpenOptions::default()).ok()?;
    let time = Some(Duration::from_secs(2));
    Engine::new(vec![Arc::new(log)], &Options { threads: 1, memory: Some(64 << 20), time, ..Options::default() }).ok()
}

/// Rows of an answer that are read.
const ROWS: usize = 1000;
