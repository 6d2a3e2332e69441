//! The form of a sidecar.
//!
//! | bytes | what |
//! | --- | --- |
//! | 32 | three letters and the number of the format; where the description begins, how long it is, its hash |
//! | … | what is read in place, of which the description has the hashes |
//! | rest | the description, with the key in front |
//!
//! Numbers are little-endian. The key says which program read which file in which way, and must be the same to the byte.
//! The description is hashed when a log is opened, the rest when it is first asked for.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use logpose_core::{Cursor, Time};
use twox_hash::XxHash3_64;

/// Writes a sidecar. `body` writes what lies before the description, and returns how many bytes that were, and the
/// description.
pub fn write(
    file: &mut File,
    magic: [u8; 8],
    body: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<(u64, Vec<u8>)>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, &mut *file);
    out.write_all(&[0; HEAD])?;
    let (bytes, description) = body(&mut out)?;
    out.write_all(&description)?;
    out.flush()?;
    drop(out);
    let mut head = Vec::from(magic);
    put(&mut head, HEAD as u64 + bytes);
    put(&mut head, description.len() as u64);
    put(&mut head, XxHash3_64::oneshot(&description));
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&head)
}

/// The description of a sidecar behind its key, and where it begins, if it is whole and has this key.
pub fn description<'m>(file: &'m [u8], magic: [u8; 8], key: &[u8]) -> Option<(Cursor<'m>, usize)> {
    let mut cur = Cursor::new(file, 0);
    if cur.take(8, "magic").ok()? != magic {
        return None;
    }
    let (start, len, hash) = (number(&mut cur)?, number(&mut cur)?, number(&mut cur)?);
    let start = usize::try_from(start).ok().filter(|start| *start >= HEAD)?;
    let description = file.get(start..)?;
    if description.len() as u64 != len || XxHash3_64::oneshot(description) != hash {
        return None;
    }
    let mut cur = Cursor::new(description, 0);
    (bytes(&mut cur)? == key).then_some((cur, start))
}

/// Appends a number.
pub fn put(out: &mut Vec<u8>, number: u64) {
    out.extend(number.to_le_bytes());
}

pub(crate) fn put_time(out: &mut Vec<u8>, time: Time) {
    out.extend(time.nanos().to_le_bytes());
}

/// No log is so long that its last place is the largest number.
pub(crate) fn put_place(out: &mut Vec<u8>, at: Option<u64>) {
    put(out, at.unwrap_or(u64::MAX));
}

/// Appends bytes with their length.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend(bytes);
}

/// Appends a text with its length.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// The next number.
pub fn number(cur: &mut Cursor<'_>) -> Option<u64> {
    cur.array("number").ok().map(|bytes| u64::from_le_bytes(*bytes))
}

pub(crate) fn time(cur: &mut Cursor<'_>) -> Option<Time> {
    number(cur).map(|ns| Time::from_nanos(ns.cast_signed()))
}

pub(crate) fn place(cur: &mut Cursor<'_>) -> Option<Option<u64>> {
    number(cur).map(|at| (at != u64::MAX).then_some(at))
}

pub(crate) fn flag(cur: &mut Cursor<'_>) -> Option<bool> {
    match cur.u8("flag").ok()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

pub(crate) fn bytes<'a>(cur: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let len = number(cur)?;
    cur.take(len, "bytes").ok()
}

/// The next text.
pub fn text(cur: &mut Cursor<'_>) -> Option<String> {
    str::from_utf8(bytes(cur)?).ok().map(str::to_owned)
}

/// A list whose items take at least `min` bytes each, so that its length cannot be more than a claim.
pub fn list<T>(cur: &mut Cursor<'_>, min: u64, mut item: impl FnMut(&mut Cursor<'_>) -> Option<T>) -> Option<Vec<T>> {
    let count = number(cur)?;
    if count.checked_mul(min)? > cur.rest().len() as u64 {
        return None;
    }
    (0..count).map(|_| item(cur)).collect()
}

/// Bytes in front of all else.
pub const HEAD: usize = 32;
const BUFFER: usize = 256 << 10;
