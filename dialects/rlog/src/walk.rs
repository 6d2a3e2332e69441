//! The one loop over a log's messages, shared by index, columns, replay and the stream decoder.
//!
//! It is generic over what to do with a field, so that each use is its own machine code: no call through a
//! pointer and no allocation for each field.

use std::ops::ControlFlow;

use logpose_core::{Bindings, Cursor, Declaration, Limits, Mark, ReadOptions, SlotId};

use crate::error::{Error, ErrorKind};
use crate::model::{r1_id, time_of};
use crate::recover;
use crate::wire::{FIELD, Kind, Message, Revision};

/// One field message.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    /// What its key and type mean here.
    pub(crate) slot: SlotId,
    /// Its first byte.
    pub(crate) at: u64,
    /// The time of its cycle, in nanoseconds.
    pub(crate) time: i64,
    /// R1's type byte; 0 in R2.
    pub(crate) kind: u8,
    /// The value's bytes, in R1 with inner lengths.
    pub(crate) value: &'a [u8],
    /// The length of the whole message.
    pub(crate) len: usize,
}

/// What to do with the messages.
pub(crate) trait Visit<'a> {
    /// A field.
    fn field(&mut self, bindings: &Bindings, field: Field<'a>) -> ControlFlow<()>;
    /// A cycle begins.
    fn cycle(&mut self, mark: Mark) {
        let _ = mark;
    }
    /// A key was defined; R2 only, because an R1 key has no type yet.
    fn key(&mut self, bindings: &Bindings, slot: SlotId) -> ControlFlow<()> {
        let _ = (bindings, slot);
        ControlFlow::Continue(())
    }
    /// R1: a key has no value any more. `slots` are what its kinds of values meant.
    fn null(&mut self, bindings: &Bindings, slots: &[SlotId], time: i64) -> ControlFlow<()> {
        let _ = (bindings, slots, time);
        ControlFlow::Continue(())
    }
}

/// A visitor that can walk one segment of a log and be joined with the visitor of the next.
pub(crate) trait Collect<'a>: Visit<'a> + Send {
    /// A visitor that has seen nothing.
    fn fresh(read: &ReadOptions<'_>) -> Self;
    /// Appends what a walk over the next part found.
    fn join(&mut self, later: Self, map: &[Option<SlotId>]);
}

/// A place and how often: the first of many.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    pub(crate) first: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, at: u64) {
        if self.count == 0 {
            self.first = at;
        }
        self.count += 1;
    }

    fn join(&mut self, later: Self) {
        if self.count == 0 {
            self.first = later.first;
        }
        self.count += later.count;
    }
}

/// What a walk counts beside the fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stats {
    pub(crate) cycles: u64,
    pub(crate) keys: u64,
    pub(crate) nulls: u64,
    /// Timestamps that are no time.
    pub(crate) bad_times: Tally,
    /// Timestamps that AdvantageScope takes for corruption: less than 0.1 ms or at least 60 s behind the last.
    pub(crate) refused_times: Tally,
    /// Lengths that AdvantageScope reads as negative.
    pub(crate) long: Tally,
    /// Names and type strings that are not UTF-8.
    pub(crate) bad_names: Tally,
    /// Keys and fields beyond the limit of channels.
    pub(crate) overflow: Tally,
    first_seconds: Option<f64>,
    last_seconds: Option<f64>,
}

impl Stats {
    fn timestamp(&mut self, at: u64, seconds: f64) {
        self.cycles += 1;
        self.rise(at, seconds);
        self.first_seconds.get_or_insert(seconds);
        self.last_seconds = Some(seconds);
    }

    fn rise(&mut self, at: u64, seconds: f64) {
        if let Some(last) = self.last_seconds
            && !(last + 0.0001..last + 60.0).contains(&seconds)
        {
            self.refused_times.add(at);
        }
    }

    fn join(&mut self, later: Self, at: u64) {
        if let Some(first) = later.first_seconds {
            self.rise(at, first);
        }
        self.cycles += later.cycles;
        self.keys += later.keys;
        self.nulls += later.nulls;
        self.bad_times.join(later.bad_times);
        self.refused_times.join(later.refused_times);
        self.long.join(later.long);
        self.bad_names.join(later.bad_names);
        self.overflow.join(later.overflow);
        self.first_seconds = self.first_seconds.or(later.first_seconds);
        self.last_seconds = later.last_seconds.or(self.last_seconds);
    }
}

/// Why a walk ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stop {
    /// It arrived at the end that it was given.
    End,
    /// The message at this place cannot be read.
    Bad(Error),
    /// The visitor wants no more.
    Halted,
}

/// The state of a walk.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) revision: Revision,
    pub(crate) bindings: Bindings,
    /// The time of the current cycle, in nanoseconds.
    pub(crate) time: i64,
    pub(crate) stats: Stats,
}

/// The length of a field of eight bytes.
const HEAD: usize = 13;

/// Whether these are the first bytes of a field of eight bytes, `02 id id 00 08`, as most are: one load, one
/// comparison.
#[inline(always)]
fn is_common(head: &[u8; 8]) -> bool {
    const COMMON: u64 = 0x0000_0008_0000_0002;
    const MASK: u64 = 0x0000_00ff_ff00_00ff;
    u64::from_le_bytes(*head) & MASK == COMMON
}

impl Walk {
    pub(crate) fn new(revision: Revision, limits: &Limits) -> Self {
        Self { revision, bindings: Bindings::new(limits.channels), time: 0, stats: Stats::default() }
    }

    /// Walks the messages from `from` on that begin before `until`. `base` is where `log` begins in the stream.
    /// Returns where it stands: behind the last whole message.
    pub(crate) fn run<'a, V: Visit<'a>>(
        &mut self,
        log: &'a [u8],
        base: u64,
        from: usize,
        until: usize,
        visitor: &mut V,
    ) -> (usize, Stop) {
        match self.revision {
            Revision::R1 => self.run_r1(log, base, from, until, visitor),
            Revision::R2 => self.run_r2(log, base, from, until, visitor),
        }
    }

    fn run_r2<'a, V: Visit<'a>>(
        &mut self,
        log: &'a [u8],
        base: u64,
        from: usize,
        until: usize,
        visitor: &mut V,
    ) -> (usize, Stop) {
        let mut pos = from;
        // A field that begins before `until` finds its first bytes in here, unless the log ends: so one comparison
        // says both that the walk goes on and that the bytes are there.
        let window = log.get(..until.saturating_add(HEAD - 1).min(log.len())).unwrap_or_default();
        loop {
            let mut rest = window.get(pos..).unwrap_or_default();
            while let Some(head) = rest.first_chunk::<HEAD>() {
                let here = window.len() - rest.len();
                let at = base + here as u64;
                let [tag, i1, i0, n1, n0, value @ ..] = head;
                let id = u32::from(u16::from_be_bytes([*i1, *i0]));
                let field = Field { slot: 0, at, time: self.time, kind: 0, value, len: HEAD };
                let flow = if head.first_chunk().is_some_and(is_common) {
                    // The constant length lets the compiler drop every other case from the visitor.
                    rest = rest.get(HEAD..).unwrap_or_default();
                    self.put(visitor, id, field)
                } else if *tag == FIELD
                    && let len = 5 + usize::from(u16::from_be_bytes([*n1, *n0]))
                    && let Some(value) = rest.get(5..len)
                {
                    if *n1 >= 0x80 {
                        self.stats.long.add(at);
                    }
                    rest = rest.get(len..).unwrap_or_default();
                    self.put(visitor, id, Field { value, len, ..field })
                } else {
                    break;
                };
                if flow.is_break() {
                    return (here, Stop::Halted);
                }
            }
            pos = pos.max(window.len() - rest.len());
            if pos >= until {
                return (pos, Stop::End);
            }
            let Some(rest) = log.get(pos..) else { return (pos, Stop::End) };
            match self.other(rest, base + pos as u64, visitor) {
                Ok(len) => pos += len,
                Err(stop) => return (pos, stop),
            }
        }
    }

    fn run_r1<'a, V: Visit<'a>>(
        &mut self,
        log: &'a [u8],
        base: u64,
        from: usize,
        until: usize,
        visitor: &mut V,
    ) -> (usize, Stop) {
        let mut pos = from;
        while pos < until {
            let Some(rest) = log.get(pos..) else { break };
            let at = base + pos as u64;
            if let Some(head) = rest.first_chunk::<12>()
                && let [FIELD, i1, i0, 5, value @ ..] = head
            {
                let id = r1_id(u16::from_be_bytes([*i1, *i0]), 5);
                if self.put(visitor, id, Field { slot: 0, at, time: self.time, kind: 5, value, len: 12 }).is_break() {
                    return (pos, Stop::Halted);
                }
                pos += 12;
                continue;
            }
            match self.other(rest, at, visitor) {
                Ok(len) => pos += len,
                Err(stop) => return (pos, stop),
            }
        }
        (pos, Stop::End)
    }

    #[inline(always)]
    fn put<'a, V: Visit<'a>>(&mut self, visitor: &mut V, id: u32, field: Field<'a>) -> ControlFlow<()> {
        let slot = match self.bindings.slot(id) {
            Some(slot) => slot,
            None => match self.stray(id, field.at) {
                Some(slot) => slot,
                None => return ControlFlow::Continue(()),
            },
        };
        visitor.field(&self.bindings, Field { slot, ..field })
    }

    #[cold]
    fn stray(&mut self, id: u32, at: u64) -> Option<SlotId> {
        let slot = self.bindings.stray(id, at);
        if slot.is_none() {
            self.stats.overflow.add(at);
        }
        slot
    }

    /// All that is not common. Returns the message's length.
    #[inline(never)]
    fn other<'a, V: Visit<'a>>(&mut self, rest: &'a [u8], at: u64, visitor: &mut V) -> Result<usize, Stop> {
        let mut cur = Cursor::new(rest, at);
        let message = Message::parse(self.revision, &mut cur).map_err(Stop::Bad)?;
        let len = rest.len() - cur.rest().len();
        let flow = match message {
            Message::Timestamp { seconds } => {
                self.stats.timestamp(at, seconds);
                match time_of(seconds) {
                    Some(time) => self.time = time.nanos(),
                    None => self.stats.bad_times.add(at),
                }
                visitor.cycle(Mark { at, time: logpose_core::Time::from_nanos(self.time) });
                ControlFlow::Continue(())
            }
            Message::Key { id, name, type_name } => self.define(id, at, name, type_name, visitor),
            Message::Field { key, kind: Some(Kind::Null), .. } => self.null(key, at, visitor),
            Message::Field { key, kind, value } => {
                if too_long(kind, value) {
                    self.stats.long.add(at);
                }
                let byte = kind.map_or(0, Kind::byte);
                let id = if kind.is_some() { r1_id(key, byte) } else { key.into() };
                self.put(visitor, id, Field { slot: 0, at, time: self.time, kind: byte, value, len })
            }
        };
        if flow.is_break() { Err(Stop::Halted) } else { Ok(len) }
    }

    #[cold]
    fn define<'a, V: Visit<'a>>(
        &mut self,
        id: u16,
        at: u64,
        name: &[u8],
        type_name: Option<&[u8]>,
        visitor: &mut V,
    ) -> ControlFlow<()> {
        self.stats.keys += 1;
        let utf8 = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
        if !utf8(name) || !type_name.is_none_or(utf8) {
            self.stats.bad_names.add(at);
        }
        if name.len().max(type_name.map_or(0, <[u8]>::len)) > 0x7fff {
            self.stats.long.add(at);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let declared = |type_name| Declaration { name: text(name), type_name, metadata: String::new() };
        match type_name {
            Some(type_name) => match self.bindings.start(id.into(), at, &declared(text(type_name))) {
                Some((slot, _)) => visitor.key(&self.bindings, slot),
                None => {
                    self.stats.overflow.add(at);
                    ControlFlow::Continue(())
                }
            },
            None => {
                // Nothing binds an R1 key to one type, so it stands for a channel of every type. Those that get
                // no sample are dropped at the end. This way a walk over a later part of the log need not know
                // which types came before.
                for kind in Kind::ALL.iter().filter(|kind| **kind != Kind::Null) {
                    let id = r1_id(id, kind.byte());
                    if self.bindings.start(id, at, &declared(kind.type_name().into())).is_none() {
                        self.stats.overflow.add(at);
                    }
                }
                ControlFlow::Continue(())
            }
        }
    }

    #[cold]
    fn null<'a, V: Visit<'a>>(&mut self, key: u16, at: u64, visitor: &mut V) -> ControlFlow<()> {
        self.stats.nulls += 1;
        let mut slots = Vec::new();
        for kind in 1..=10 {
            slots.extend(self.bindings.end(r1_id(key, kind), at));
        }
        visitor.null(&self.bindings, &slots, self.time)
    }
}

/// Whether AdvantageScope, which reads lengths as signed, would take one of these for a negative number.
fn too_long(kind: Option<Kind>, value: &[u8]) -> bool {
    let negative = |bytes: &[u8]| bytes.first().is_some_and(|high| *high >= 0x80);
    match kind {
        None => value.len() > 0x7fff,
        Some(Kind::Null | Kind::Boolean | Kind::Integer | Kind::Double | Kind::Byte) => false,
        Some(kind @ Kind::StringArray) => {
            let long = |value| matches!(value, logpose_core::Value::StringArray(texts) if texts.iter().any(|text| text.len() > 0x7fff));
            negative(value) || kind.value(value).is_some_and(long)
        }
        Some(_) => negative(value),
    }
}

/// What a walk over a stretch of a log found.
#[derive(Debug)]
pub(crate) struct Found<V> {
    pub(crate) walk: Walk,
    pub(crate) visitor: V,
    /// Behind the last whole message.
    pub(crate) end: usize,
    pub(crate) stop: Stop,
}

/// Logs shorter than this are not worth a second thread.
pub(crate) const SPLIT: usize = 4 << 20;

impl<V> Found<V> {
    pub(crate) fn new<'a>(revision: Revision, read: &ReadOptions<'_>) -> Self
    where
        V: Collect<'a>,
    {
        Self { walk: Walk::new(revision, &read.limits), visitor: V::fresh(read), end: 0, stop: Stop::End }
    }

    /// Walks on over a stretch, in parts side by side if it is longer than `split`.
    pub(crate) fn stretch<'a>(&mut self, log: &'a [u8], from: usize, until: usize, read: &ReadOptions<'_>, split: usize)
    where
        V: Collect<'a>,
    {
        if read.threads < 2 || until.saturating_sub(from) < split {
            self.run(log, from, until);
        } else {
            let found = parallel(log, from, until, self.walk.revision, read, read.threads, split);
            match self.walk.bindings.joins(&found.walk.bindings) {
                true => self.join(found, from),
                false => self.run(log, from, until),
            }
        }
    }

    fn run<'a>(&mut self, log: &'a [u8], from: usize, until: usize)
    where
        V: Collect<'a>,
    {
        (self.end, self.stop) = self.walk.run(log, 0, from, until, &mut self.visitor);
    }

    fn join<'a>(&mut self, later: Self, at: usize)
    where
        V: Collect<'a>,
    {
        let map = self.walk.bindings.join(later.walk.bindings);
        self.visitor.join(later.visitor, &map);
        self.walk.stats.join(later.walk.stats, at as u64);
        self.walk.time = later.walk.time;
        self.end = later.end;
        self.stop = later.stop;
    }
}

/// Splits a stretch at a timestamp message near the middle, walks both halves side by side and joins them.
///
/// Where a message begins cannot be known in the middle of a log, only guessed. So the guess is checked: if the
/// walk over the first half does not arrive exactly there, the second half is walked again from where it did. So it
/// is where keys of the first half are defined again in the second, which is rare.
fn parallel<'a, V: Collect<'a>>(
    log: &'a [u8],
    from: usize,
    until: usize,
    revision: Revision,
    read: &ReadOptions<'_>,
    threads: usize,
    split: usize,
) -> Found<V> {
    let mut first = Found::new(revision, read);
    let (before, behind) = (threads.div_ceil(2), threads / 2);
    let len = until.saturating_sub(from);
    let share = len / threads.max(1) * before;
    let middle =
        if behind == 0 || len < split { None } else { recover::find_cycle(log, from + share, until, revision) };
    let Some(middle) = middle else {
        first.run(log, from, until);
        return first;
    };
    let mut second: Option<Found<V>> = None;
    (read.join)(&mut || first = parallel(log, from, middle, revision, read, before, split), &mut || {
        second = Some(parallel(log, middle, until, revision, read, behind, split))
    });
    if first.stop == Stop::End {
        match second {
            Some(second) if first.end == middle && first.walk.bindings.joins(&second.walk.bindings) => {
                first.join(second, middle);
            }
            _ => first.run(log, first.end, until),
        }
    }
    first
}

/// The error of a message that is longer than a stream may claim.
pub(crate) fn too_long_error(at: u64, claimed: u64, limit: u64) -> Error {
    Error { at, kind: ErrorKind::TooLong { claimed, limit } }
}
