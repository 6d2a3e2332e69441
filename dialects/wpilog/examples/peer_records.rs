//! What the peer tests (`tests/peers`) need of the reader and of the writer, to compare them with WPILib's own.
//!
//! ```text
//! peer_records read LOG            every record as a line of JSON, damage as the last line
//! peer_records write LOG < CALLS   calls of the writer, one JSON object a line, to a log
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};

use logpose_wpilog::{
    Boolean, BooleanArray, Control, Double, DoubleArray, Entry, Float, FloatArray, Int64, Int64Array, Opaque, Raw,
    Reader, Text, TextArray, Writer, boolean, boolean_array, double, double_array, float, float_array, int64,
    int64_array, raw, string, string_array,
};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["read", path] => read(&std::fs::read(path)?, &mut io::stdout().lock()),
        ["write", path] => Ok(std::fs::write(path, write(io::stdin().lock())?)?),
        _ => Err("usage: peer_records read LOG, or peer_records write LOG < CALLS".into()),
    }
}

fn read(log: &[u8], out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut out = io::BufWriter::new(out);
    let reader = Reader::new(log)?;
    let header = reader.header();
    writeln!(out, "{}", json!({ "version": header.version, "extra": String::from_utf8_lossy(header.extra) }))?;
    for record in reader {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                writeln!(out, "{}", json!({ "error": error.to_string() }))?;
                break;
            }
        };
        let control = record.control().map(|control| match control {
            Control::Start(s) => {
                json!({ "start": s.entry, "name": hex(s.name), "type": hex(s.type_name), "metadata": hex(s.metadata) })
            }
            Control::Finish { entry } => json!({ "finish": entry }),
            Control::SetMetadata { entry, metadata } => json!({ "set": entry, "metadata": hex(metadata) }),
            Control::Unknown { .. } => json!({ "unknown": true }),
        });
        let line = json!({ "entry": record.entry, "time": record.timestamp, "payload": hex(record.payload), "control": control });
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// An entry of any type.
enum Any {
    Boolean(Entry<Boolean>),
    Int64(Entry<Int64>),
    Float(Entry<Float>),
    Double(Entry<Double>),
    Text(Entry<Text>),
    Raw(Entry<Raw>),
    BooleanArray(Entry<BooleanArray>),
    Int64Array(Entry<Int64Array>),
    FloatArray(Entry<FloatArray>),
    DoubleArray(Entry<DoubleArray>),
    TextArray(Entry<TextArray>),
    Opaque(Entry<Opaque>),
}

macro_rules! with {
    ($any:expr, $entry:ident => $do:expr) => {
        match *$any {
            Any::Boolean($entry) => $do,
            Any::Int64($entry) => $do,
            Any::Float($entry) => $do,
            Any::Double($entry) => $do,
            Any::Text($entry) => $do,
            Any::Raw($entry) => $do,
            Any::BooleanArray($entry) => $do,
            Any::Int64Array($entry) => $do,
            Any::FloatArray($entry) => $do,
            Any::DoubleArray($entry) => $do,
            Any::TextArray($entry) => $do,
            Any::Opaque($entry) => $do,
        }
    };
}

/// The first line is the extra header; then each line is one call: `[what, name, time, …]`.
fn write(calls: impl BufRead) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut lines = calls.lines();
    let extra: String = serde_json::from_str(&lines.next().ok_or("no extra header")??)?;
    let mut log = Writer::new(Vec::new(), &extra)?;
    let mut entries: HashMap<String, Any> = HashMap::new();
    for line in lines {
        let call: Value = serde_json::from_str(&line?)?;
        let text = |i: usize| call.get(i).and_then(Value::as_str).ok_or_else(|| format!("no text at {i} in {call}"));
        let time = call.get(2).and_then(Value::as_i64).ok_or("no time")?;
        let name = text(1)?;
        match text(0)? {
            "start" => {
                let entry = start(&mut log, name, text(3)?, text(4)?, time)?;
                entries.insert(name.into(), entry);
            }
            "finish" => with!(entries.get(name).ok_or("no entry")?, entry => log.finish(entry, time)?),
            "set" => with!(entries.get(name).ok_or("no entry")?, entry => log.set_metadata(entry, text(3)?, time)?),
            "append" => append(&mut log, entries.get(name).ok_or("no entry")?, time, call.get(3).ok_or("no value")?)?,
            other => return Err(format!("no call {other}").into()),
        }
    }
    Ok(log.into_inner()?)
}

fn start(log: &mut Writer<Vec<u8>>, name: &str, kind: &str, metadata: &str, time: i64) -> io::Result<Any> {
    Ok(match kind {
        "boolean" => Any::Boolean(log.start(name, boolean, metadata, time)?),
        "int64" => Any::Int64(log.start(name, int64, metadata, time)?),
        "float" => Any::Float(log.start(name, float, metadata, time)?),
        "double" => Any::Double(log.start(name, double, metadata, time)?),
        "string" => Any::Text(log.start(name, string, metadata, time)?),
        "raw" => Any::Raw(log.start(name, raw, metadata, time)?),
        "boolean[]" => Any::BooleanArray(log.start(name, boolean_array, metadata, time)?),
        "int64[]" => Any::Int64Array(log.start(name, int64_array, metadata, time)?),
        "float[]" => Any::FloatArray(log.start(name, float_array, metadata, time)?),
        "double[]" => Any::DoubleArray(log.start(name, double_array, metadata, time)?),
        "string[]" => Any::TextArray(log.start(name, string_array, metadata, time)?),
        other => Any::Opaque(log.start(name, Opaque(other.into()), metadata, time)?),
    })
}

fn append(log: &mut Writer<Vec<u8>>, entry: &Any, time: i64, value: &Value) -> Result<(), Box<dyn Error>> {
    let value = value.clone();
    match *entry {
        Any::Boolean(entry) => log.append(entry, time, serde_json::from_value(value)?)?,
        Any::Int64(entry) => log.append(entry, time, serde_json::from_value(value)?)?,
        Any::Float(entry) => log.append(entry, time, serde_json::from_value(value)?)?,
        Any::Double(entry) => log.append(entry, time, serde_json::from_value(value)?)?,
        Any::Text(entry) => log.append(entry, time, value.as_str().ok_or("no text")?)?,
        Any::Raw(entry) => log.append(entry, time, &serde_json::from_value::<Vec<u8>>(value)?)?,
        Any::BooleanArray(entry) => log.append(entry, time, &serde_json::from_value::<Vec<bool>>(value)?)?,
        Any::Int64Array(entry) => log.append(entry, time, &serde_json::from_value::<Vec<i64>>(value)?)?,
        Any::FloatArray(entry) => log.append(entry, time, &serde_json::from_value::<Vec<f32>>(value)?)?,
        Any::DoubleArray(entry) => log.append(entry, time, &serde_json::from_value::<Vec<f64>>(value)?)?,
        Any::TextArray(entry) => {
            let texts: Vec<String> = serde_json::from_value(value)?;
            log.append(entry, time, &texts.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        Any::Opaque(entry) => log.append(entry, time, &serde_json::from_value::<Vec<u8>>(value)?)?,
    }
    Ok(())
}
