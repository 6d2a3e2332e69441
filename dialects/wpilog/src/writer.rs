use std::collections::HashMap;
use std::io::{self, Write};
use std::marker::PhantomData;

use logpose_core::Layout;

use crate::wire::{Control, Header, Record, RecordHeader, Start, VERSION};

/// Writes a log, typed by entry: what a robot program or a tool needs, and nothing of the rest of logpose.
///
/// Times are microseconds. Records are gathered in 256 KiB and given to the sink in whole records, so that a
/// program that is killed leaves a log that ends on a record.
///
/// ```
/// use logpose_wpilog::{Writer, double, string};
///
/// let mut log = Writer::new(Vec::new(), "")?;
/// let speed = log.start("/Drive/Speed", double, "", 1_000_000)?;
/// log.append(speed, 1_000_000, 3.5)?;
/// log.append(speed, 1_020_000, 3.6)?;
/// let state = log.start("/Drive/State", string, "", 1_020_000)?;
/// log.append(state, 1_020_000, "driving")?;
/// let bytes = log.into_inner()?;
/// assert_eq!(logpose_wpilog::Reader::new(&bytes)?.count(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W: Write> {
    sink: Option<W>,
    buffer: Box<[u8]>,
    used: usize,
    entries: Vec<Named>,
    by_name: HashMap<String, u32>,
    scratch: Vec<u8>,
}

/// An entry that was started: its id, and what its values are.
#[derive(Debug)]
pub struct Entry<K> {
    id: u32,
    kind: PhantomData<fn(K)>,
}

impl<K> Clone for Entry<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Entry<K> {}

impl<K> Entry<K> {
    /// The id in the log.
    #[must_use]
    pub fn id(self) -> u32 {
        self.id
    }
}

#[derive(Debug)]
struct Named {
    type_name: String,
    live: bool,
}

const BUFFER: usize = 256 << 10;

impl<W: Write> Writer<W> {
    /// A log with an extra header, which is free text and mostly empty.
    pub fn new(sink: W, extra_header: &str) -> io::Result<Self> {
        let mut log = Self {
            sink: Some(sink),
            buffer: vec![0; BUFFER].into(),
            used: 0,
            entries: Vec::new(),
            by_name: HashMap::new(),
            scratch: Vec::new(),
        };
        check("extra header", extra_header.len())?;
        let mut header = Vec::new();
        Header { version: VERSION, extra: extra_header.as_bytes() }.emit(&mut header);
        log.write(&header)?;
        Ok(log)
    }

    /// Starts an entry. A name keeps its id for good: started again, finished or not, it gets the same one. A
    /// live name cannot be started with another type; finish it first.
    pub fn start<K: Kind>(&mut self, name: &str, kind: K, metadata: &str, time: i64) -> io::Result<Entry<K>> {
        let type_name = kind.type_name();
        for (what, text) in [("name", name), ("type", type_name), ("metadata text", metadata)] {
            check(what, text.len())?;
        }
        let next = u32::try_from(self.entries.len() + 1).map_err(|_| refused("no free entry id".into()))?;
        let id = *self.by_name.entry(name.into()).or_insert(next);
        if id == next {
            self.entries.push(Named { type_name: type_name.into(), live: false });
        }
        let Some(entry) = self.entries.get_mut(id as usize - 1) else { return Err(refused("no such entry".into())) };
        if entry.live {
            if entry.type_name != type_name {
                return Err(refused(format!(
                    "{name:?} is live with type {:?} and cannot be started as {type_name:?}",
                    entry.type_name
                )));
            }
        } else {
            entry.live = true;
            type_name.clone_into(&mut entry.type_name);
            let (name, type_name, metadata) = (name.as_bytes(), type_name.as_bytes(), metadata.as_bytes());
            self.control(Control::Start(Start { entry: id, name, type_name, metadata, exact: true }), time)?;
        }
        Ok(Entry { id, kind: PhantomData })
    }

    /// Appends a value. It does not allocate, and calls the sink only when 256 KiB are full.
    #[inline]
    pub fn append<K: Kind>(&mut self, entry: Entry<K>, time: i64, value: K::Value<'_>) -> io::Result<()> {
        match K::fixed(value) {
            Fixed::Eight(payload) => self.append_fixed(entry.id, time, payload),
            Fixed::Four(payload) => self.append_fixed(entry.id, time, payload),
            Fixed::One(payload) => self.append_fixed(entry.id, time, payload),
            Fixed::No => self.append_any::<K>(entry.id, time, value),
        }
    }

    /// Replaces an entry's metadata.
    pub fn set_metadata<K>(&mut self, entry: Entry<K>, metadata: &str, time: i64) -> io::Result<()> {
        check("metadata text", metadata.len())?;
        self.control(Control::SetMetadata { entry: entry.id, metadata: metadata.as_bytes() }, time)
    }

    /// Finishes an entry. Finishing it twice does nothing.
    pub fn finish<K>(&mut self, entry: Entry<K>, time: i64) -> io::Result<()> {
        match self.entries.get_mut(entry.id as usize - 1) {
            Some(named) if named.live => named.live = false,
            _ => return Ok(()),
        }
        self.control(Control::Finish { entry: entry.id }, time)
    }

    /// Gives all records so far to the sink and flushes it.
    pub fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.sink.as_mut().map_or(Ok(()), Write::flush)
    }

    /// Gives all records to the sink and hands it back.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.flush()?;
        self.sink.take().ok_or_else(|| refused("the log was closed".into()))
    }

    #[inline]
    fn append_fixed<const N: usize>(&mut self, entry: u32, timestamp: i64, payload: [u8; N]) -> io::Result<()> {
        #[expect(clippy::cast_possible_truncation, reason = "N is 1, 4 or 8")]
        let header = RecordHeader { entry, size: N as u32, timestamp };
        loop {
            if let Some(place) = self.buffer.get_mut(self.used..).and_then(|rest| rest.first_chunk_mut::<32>()) {
                let len = header.emit_to(place);
                if let Some(place) = place.get_mut(len..).and_then(|rest| rest.first_chunk_mut()) {
                    *place = payload;
                }
                self.used += len + N;
                return Ok(());
            }
            self.drain()?;
        }
    }

    fn append_any<K: Kind>(&mut self, entry: u32, timestamp: i64, value: K::Value<'_>) -> io::Result<()> {
        let mut payload = std::mem::take(&mut self.scratch);
        payload.clear();
        K::emit(value, &mut payload);
        let done = self.record(entry, timestamp, &payload);
        self.scratch = payload;
        done
    }

    fn control(&mut self, control: Control<'_>, time: i64) -> io::Result<()> {
        let mut payload = Vec::new();
        control.emit(&mut payload);
        self.record(0, time, &payload)
    }

    fn record(&mut self, entry: u32, timestamp: i64, payload: &[u8]) -> io::Result<()> {
        check("value", payload.len())?;
        let size = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let (header, len) = RecordHeader { entry, size, timestamp }.emit();
        if self.buffer.len() - self.used < len + payload.len() {
            self.drain()?;
        }
        match self.buffer.get_mut(self.used..self.used + len + payload.len()) {
            Some(place) => {
                let (head, body) = place.split_at_mut(len);
                head.copy_from_slice(header.get(..len).unwrap_or_default());
                body.copy_from_slice(payload);
                self.used += len + payload.len();
                Ok(())
            }
            None => {
                // Larger than the buffer.
                let mut whole = Vec::with_capacity(len + payload.len());
                Record { entry, timestamp, payload }.emit(&mut whole);
                self.sink.as_mut().map_or(Ok(()), |sink| sink.write_all(&whole))
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.drain()?;
        self.sink.as_mut().map_or(Ok(()), |sink| sink.write_all(bytes))
    }

    #[cold]
    #[inline(never)]
    fn drain(&mut self) -> io::Result<()> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let mut written = 0;
        let result = loop {
            match self.buffer.get(written..self.used) {
                None | Some([]) => break Ok(()),
                Some(rest) => match sink.write(rest) {
                    Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                    Ok(n) => written = self.used.min(written + n),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => break Err(error),
                },
            }
        };
        // What the sink took is not given again: when there is room again, the log goes on where it stopped.
        self.buffer.copy_within(written..self.used, 0);
        self.used -= written;
        result
    }
}

/// Gives all records to the sink; an error is lost, so call [`Writer::into_inner`] or [`Writer::flush`] first.
impl<W: Write> Drop for Writer<W> {
    fn drop(&mut self) {
        let _ = self.drain();
    }
}

fn check(what: &str, len: usize) -> io::Result<()> {
    if u32::try_from(len).is_ok() {
        Ok(())
    } else {
        Err(refused(format!("the {what} has {len} bytes, the limit of WPILOG is {} bytes", u32::MAX)))
    }
}

fn refused(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// What the values of an entry are.
pub trait Kind {
    /// A value, as it is given to [`Writer::append`].
    type Value<'a>: Copy;
    /// The type string in the log.
    fn type_name(&self) -> &str;
    /// Appends a value's payload.
    fn emit(value: Self::Value<'_>, out: &mut Vec<u8>);
    /// The payload, for kinds whose values all have one size.
    #[doc(hidden)]
    fn fixed(value: Self::Value<'_>) -> Fixed {
        let _ = value;
        Fixed::No
    }
}

/// A payload of a size that is known at compile time.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Fixed {
    Eight([u8; 8]),
    Four([u8; 4]),
    One([u8; 1]),
    No,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:ident = $text:literal, $value:ty, |$v:ident, $out:ident| $emit:expr $(, $fixed:expr)?;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $kind;

        $(#[$doc])*
        #[expect(non_upper_case_globals, reason = "it is written as the type string of the log is")]
        pub const $name: $kind = $kind;

        impl Kind for $kind {
            type Value<'a> = $value;
            fn type_name(&self) -> &str {
                $text
            }
            fn emit($v: Self::Value<'_>, $out: &mut Vec<u8>) {
                $emit
            }
            $(#[inline(always)]
            fn fixed($v: Self::Value<'_>) -> Fixed {
                $fixed
            })?
        }
    )*};
}

kinds! {
    /// True or false.
    Boolean boolean = "boolean", bool, |v, out| out.push(v.into()), Fixed::One([v.into()]);
    /// Signed 64-bit integers.
    Int64 int64 = "int64", i64, |v, out| out.extend_from_slice(&v.to_le_bytes()), Fixed::Eight(v.to_le_bytes());
    /// Binary32 numbers.
    Float float = "float", f32, |v, out| out.extend_from_slice(&v.to_le_bytes()), Fixed::Four(v.to_le_bytes());
    /// Binary64 numbers.
    Double double = "double", f64, |v, out| out.extend_from_slice(&v.to_le_bytes()), Fixed::Eight(v.to_le_bytes());
    /// Text.
    Text string = "string", &'a str, |v, out| out.extend_from_slice(v.as_bytes());
    /// Bytes.
    Raw raw = "raw", &'a [u8], |v, out| out.extend_from_slice(v);
    /// Arrays of booleans.
    BooleanArray boolean_array = "boolean[]", &'a [bool], |v, out| out.extend(v.iter().map(|b| u8::from(*b)));
    /// Arrays of signed 64-bit integers.
    Int64Array int64_array = "int64[]", &'a [i64], |v, out| numbers(v, out);
    /// Arrays of binary32 numbers.
    FloatArray float_array = "float[]", &'a [f32], |v, out| numbers(v, out);
    /// Arrays of binary64 numbers.
    DoubleArray double_array = "double[]", &'a [f64], |v, out| numbers(v, out);
    /// Arrays of texts.
    TextArray string_array = "string[]", &'a [&'a str], |v, out| texts(v, out);
}

/// Bytes of any other type, such as `struct:Pose2d` or `json`.
#[derive(Clone, Debug)]
pub struct Opaque(pub String);

impl Kind for Opaque {
    type Value<'a> = &'a [u8];

    fn type_name(&self) -> &str {
        &self.0
    }

    fn emit(value: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(value);
    }
}

fn numbers<T: logpose_core::Number>(values: &[T], out: &mut Vec<u8>) {
    values.iter().for_each(|value| value.put(Layout::Little, out));
}

fn texts(values: &[&str], out: &mut Vec<u8>) {
    let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    out.extend_from_slice(&length(values.len()));
    for text in values {
        out.extend_from_slice(&length(text.len()));
        out.extend_from_slice(text.as_bytes());
    }
}
