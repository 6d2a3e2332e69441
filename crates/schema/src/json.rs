//! JSON scalars, appended to a byte buffer without allocating.
//!
//! The functions named `*_text` write the bare characters, for CSV and terminals; the others write
//! one JSON token. What JSON has no token for becomes a string: `"NaN"`, `"Infinity"`,
//! `"-Infinity"`, integers beyond 2^53 (a reader that has only doubles would round them), and bytes
//! as base64 with the standard alphabet and padding.
//!
//! ```
//! use logpose_schema::json;
//!
//! let mut out = Vec::new();
//! json::f64(&mut out, 0.1);
//! out.push(b',');
//! json::f64(&mut out, f64::NAN);
//! out.push(b',');
//! json::i64(&mut out, 1 << 60);
//! out.push(b',');
//! json::string(&mut out, "a\n");
//! assert_eq!(out, br#"0.1,"NaN","1152921504606846976","a\n""#);
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::budget::{self, Budget};
use crate::{SchemaError, Tree};

/// `null`.
pub fn null(out: &mut Vec<u8>) {
    out.extend_from_slice(b"null");
}

/// `true` or `false`.
pub fn bool(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// A number, or a string of digits where doubles have gaps.
pub fn i64(out: &mut Vec<u8>, value: i64) {
    quoted_if(out, value.unsigned_abs() > EXACT, |out| i64_text(out, value));
}

/// A number, or a string of digits where doubles have gaps.
pub fn u64(out: &mut Vec<u8>, value: u64) {
    quoted_if(out, value > EXACT, |out| u64_text(out, value));
}

/// The shortest number that reads back as the same double; keeps the sign of -0.
pub fn f64(out: &mut Vec<u8>, value: f64) {
    quoted_if(out, !value.is_finite(), |out| f64_text(out, value));
}

/// The shortest number that reads back as the same `f32`: 0.1, not 0.10000000149011612.
pub fn f32(out: &mut Vec<u8>, value: f32) {
    quoted_if(out, !value.is_finite(), |out| f32_text(out, value));
}

/// A quoted string; only what JSON demands is escaped.
pub fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = first_special(rest) {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((&byte, tail)) = tail.split_first() else {
            break;
        };
        escape(out, byte);
        rest = tail;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// A quoted string of base64.
pub fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    quoted_if(out, true, |out| base64_text(out, bytes));
}

/// Decimal digits.
pub fn i64_text(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Decimal digits.
pub fn u64_text(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// The shortest decimal, `NaN`, `Infinity` or `-Infinity`.
pub fn f64_text(out: &mut Vec<u8>, value: f64) {
    if value.is_finite() {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    } else {
        out.extend_from_slice(not_finite(value.is_nan(), value.is_sign_negative()));
    }
}

/// The shortest decimal, `NaN`, `Infinity` or `-Infinity`.
pub fn f32_text(out: &mut Vec<u8>, value: f32) {
    if value.is_finite() {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    } else {
        out.extend_from_slice(not_finite(value.is_nan(), value.is_sign_negative()));
    }
}

/// Base64 characters.
pub fn base64_text(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, b'=');
    // The room is exact, so the encoder has no reason to refuse.
    let room = out.get_mut(start..).unwrap_or_default();
    let written = STANDARD.encode_slice(bytes, room).unwrap_or(0);
    out.truncate(start + written);
}

/// A whole JSON document as a tree, for display.
pub(crate) fn decode(payload: &[u8]) -> Result<Tree, SchemaError> {
    budget::check_payload(payload)?;
    // serde_json refuses more than 128 levels by itself.
    let value = serde_json::from_slice(payload)
        .map_err(|error| SchemaError::Payload { format: "json", reason: error.to_string() })?;
    tree(value, &mut Budget::new())
}

fn tree(value: Value, budget: &mut Budget) -> Result<Tree, SchemaError> {
    budget.node(0)?;
    Ok(match value {
        Value::Null => Tree::Null,
        Value::Bool(value) => Tree::Bool(value),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(value), _, _) => Tree::Int(value),
            (_, Some(value), _) => Tree::UInt(value),
            (_, _, value) => Tree::Double(value.unwrap_or(f64::NAN)),
        },
        Value::String(text) => Tree::Text(text),
        Value::Array(items) => Tree::List(items.into_iter().map(|item| tree(item, budget)).collect::<Result<_, _>>()?),
        Value::Object(items) => {
            Tree::Map(items.into_iter().map(|(name, item)| Ok((name, tree(item, budget)?))).collect::<Result<_, _>>()?)
        }
    })
}

fn quoted_if(out: &mut Vec<u8>, quoted: bool, write: impl FnOnce(&mut Vec<u8>)) {
    if quoted {
        out.push(b'"');
        write(out);
        out.push(b'"');
    } else {
        write(out);
    }
}

/// Where the first byte is that cannot stand in a string as it is.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let mut start = 0;
    for chunk in bytes.chunks(32) {
        // Without an early exit the compiler tests many bytes at once; most strings have none to find.
        if chunk.iter().fold(false, |found, &byte| found | special(byte)) {
            return chunk.iter().position(|&byte| special(byte)).map(|at| start + at);
        }
        start += chunk.len();
    }
    None
}

#[cold]
fn escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.push(hex_digit(byte >> 4));
            out.push(hex_digit(byte & 0xf));
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

pub(crate) fn hex_digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

fn not_finite(nan: bool, negative: bool) -> &'static [u8] {
    match (nan, negative) {
        (true, _) => b"NaN",
        (false, false) => b"Infinity",
        (false, true) => b"-Infinity",
    }
}

/// The last integer up to which every integer is a double.
const EXACT: u64 = 1 << 53;
