//! What is kept of an index, so that a large log opens at once the next time.
//!
//! Read in place are the positions of each channel, one after the other: how many runs, base and length of each, distances.
//! The description has all else of the index, then the problems. Where the positions of a channel are wrong, the log is
//! indexed again.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use logpose_core::{
    Channel, ChannelIndex, Cursor, Fact, Fate, FileDialect, Index, Life, Mark, Positions, Problem, Problems,
    ReadOptions, Severity, Span,
};
use memmap2::Mmap;
use twox_hash::XxHash3_64;

use super::frame::{
    self, HEAD, bytes, flag, list, number, place, put, put_bytes, put_place, put_text, put_time, text, time,
};
use super::{Kind, Sidecar, used};
use crate::source::Bytes;

impl Sidecar {
    /// What was kept, if it is there, whole, and about this very file.
    pub(crate) fn read(
        &self,
        log: &Arc<Bytes>,
        dialect: &'static dyn FileDialect,
        read: &ReadOptions<'static>,
    ) -> Option<(Index, Problems)> {
        let (file, map) = self.open(Kind::Index)?;
        let (log, sidecar) = (Arc::clone(log), self.file(Kind::Index));
        let kept = Arc::new(Kept { map, sidecar, log, dialect, read: *read, again: OnceLock::new() });
        let found = decode(&kept, self.key()).filter(|(index, _)| index.placed || !read.positions)?;
        used(&file);
        Some(found)
    }

    /// Keeps an index.
    pub(crate) fn write(&self, index: &Index, problems: &Problems) {
        let places: u64 = index.channels.iter().map(|c| c.positions.len() as u64).sum();
        let bytes = if index.placed { places.saturating_mul(4) } else { 0 };
        // With very many channels, reading what was kept takes as long as reading the log.
        let channels = index.channels.len() as u64;
        if channels > MANY_CHANNELS && channels.saturating_mul(ONE_CHANNEL) > self.stamp.len / 4 {
            return;
        }
        self.keep(Kind::Index, bytes, |file| encode(self.key(), index, problems, file));
    }
}

/// A sidecar in use, and what is needed to do without it.
struct Kept {
    map: Arc<Mmap>,
    sidecar: PathBuf,
    log: Arc<Bytes>,
    dialect: &'static dyn FileDialect,
    read: ReadOptions<'static>,
    /// The log, indexed again.
    again: OnceLock<Option<Index>>,
}

impl Kept {
    /// The positions of a channel, from the sidecar if they are what was written there.
    fn positions(&self, channel: usize, section: &Section) -> Positions {
        if let Some(found) = self.checked(section) {
            return found;
        }
        let again = self.again.get_or_init(|| {
            let _ = fs::remove_file(&self.sidecar);
            let read = ReadOptions { positions: true, ..self.read };
            self.dialect.index(&self.log, &read, &mut Problems::default()).ok()
        });
        let found = again.as_ref().and_then(|index| index.channels.get(channel));
        found.map(|channel| channel.positions.clone()).unwrap_or_default()
    }

    fn checked(&self, section: &Section) -> Option<Positions> {
        let bytes = self.map.get(section.range.clone())?;
        if XxHash3_64::oneshot(bytes) != section.hash {
            return None;
        }
        let mut cur = Cursor::new(bytes, 0);
        let count = number(&mut cur)?;
        let mut directory = Cursor::new(cur.take(count.checked_mul(16)?, "runs").ok()?, 0);
        let mut start = section.range.end - cur.rest().len();
        let (mut runs, mut places) = (Vec::new(), 0);
        while !directory.rest().is_empty() {
            let (base, len) = (number(&mut directory)?, number(&mut directory)?);
            let lows = cur.take(len, "distances").ok()?.as_chunks().0;
            let highest = lows.iter().map(|low| u32::from_le_bytes(*low)).max().unwrap_or(0);
            if len % 4 != 0 || base.checked_add(highest.into())? >= self.log.len() as u64 {
                return None;
            }
            places += lows.len();
            let end = start + usize::try_from(len).ok()?;
            runs.push((base, start..end));
            start = end;
        }
        let whole = cur.rest().is_empty() && places == section.places;
        whole.then(|| Positions::lent(Arc::clone(&self.map) as _, places, runs))
    }
}

/// Where the positions of a channel are.
struct Section {
    range: Range<usize>,
    hash: u64,
    places: usize,
}

fn encode(key: &[u8], index: &Index, problems: &Problems, file: &mut File) -> io::Result<()> {
    frame::write(file, MAGIC, |out| {
        let mut sections = Vec::with_capacity(index.channels.len());
        let mut bytes = 0;
        for channel in &index.channels {
            let (len, hash) = if index.placed { write_positions(&channel.positions, out)? } else { (0, 0) };
            sections.push((len, hash));
            bytes += len;
        }
        Ok((bytes, describe(key, index, problems, &sections)))
    })
}

/// Writes the positions of a channel; returns how many bytes, and their hash.
fn write_positions(positions: &Positions, out: &mut impl Write) -> io::Result<(u64, u64)> {
    // Blocks that follow each other from one base are one run here.
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for (base, lows) in positions.runs() {
        match runs.last_mut() {
            Some((last, len)) if *last == base && *len < LONGEST_RUN => *len += lows.len() as u64,
            _ => runs.push((base, lows.len() as u64)),
        }
    }
    let mut hash = XxHash3_64::new();
    let mut written = 0;
    let mut write = |bytes: &[u8]| {
        hash.write(bytes);
        written += bytes.len() as u64;
        out.write_all(bytes)
    };
    let mut directory = Vec::new();
    put(&mut directory, runs.len() as u64);
    for (base, len) in runs {
        put(&mut directory, base);
        put(&mut directory, len);
    }
    write(&directory)?;
    positions.runs().try_for_each(|(_, lows)| write(lows))?;
    Ok((written, hash.finish()))
}

/// All but the positions.
fn describe(key: &[u8], index: &Index, problems: &Problems, sections: &[(u64, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, key);
    out.extend([u8::from(index.placed), u8::from(index.sorted)]);
    put(&mut out, index.records);
    put(&mut out, index.spans.len() as u64);
    for span in &index.spans {
        put(&mut out, span.start);
        put(&mut out, span.end);
    }
    put(&mut out, index.steps.len() as u64);
    index.steps.iter().for_each(|step| put(&mut out, *step));
    put(&mut out, index.marks.len() as u64);
    for mark in &index.marks {
        put(&mut out, mark.at);
        put_time(&mut out, mark.time);
    }
    put(&mut out, index.lives.len() as u64);
    for life in &index.lives {
        put(&mut out, life.id.into());
        put(&mut out, life.start);
        put_place(&mut out, life.end);
    }
    put(&mut out, index.facts.len() as u64);
    for fact in &index.facts {
        put_text(&mut out, fact.key);
        put_text(&mut out, &fact.value);
    }
    put(&mut out, index.channels.len() as u64);
    for (found, (len, hash)) in index.channels.iter().zip(sections) {
        let Channel { name, type_name, unit, metadata, family } = &found.channel;
        [name, type_name, metadata].into_iter().for_each(|text| put_text(&mut out, text));
        out.push(u8::from(unit.is_some()) | u8::from(family.is_some()) << 1 | u8::from(found.sorted) << 2);
        unit.iter().for_each(|unit| put_text(&mut out, unit));
        family.as_deref().into_iter().flat_map(|(table, key)| [table, key]).for_each(|text| put_text(&mut out, text));
        put(&mut out, found.samples);
        put(&mut out, found.bytes);
        put_time(&mut out, found.first);
        put_time(&mut out, found.last);
        put(&mut out, *len);
        put(&mut out, *hash);
    }
    put(&mut out, index.slots.len() as u64);
    for fate in &index.slots {
        let kind = match fate {
            Fate::Started(_) => 0,
            Fate::Late(_) => 1,
            Fate::Ended(_) => 2,
            Fate::Unknown => 3,
        };
        out.push(kind);
        put(&mut out, fate.channel().unwrap_or(0).into());
    }
    put(&mut out, problems.lost_bytes());
    put(&mut out, problems.kinds().len() as u64);
    for (code, severity, count) in problems.kinds() {
        put_text(&mut out, code);
        out.push(*severity as u8);
        put(&mut out, *count);
    }
    put(&mut out, problems.list().len() as u64);
    for problem in problems.list() {
        out.push(problem.severity as u8);
        put_text(&mut out, problem.code);
        put_place(&mut out, problem.at);
        put(&mut out, problem.length);
        put_text(&mut out, &problem.message);
    }
    out
}

/// What a sidecar says, if it is whole and has this key.
fn decode(kept: &Arc<Kept>, key: &[u8]) -> Option<(Index, Problems)> {
    let (mut cur, start) = frame::description(&kept.map, MAGIC, key)?;
    let size = kept.log.len() as u64;
    let within = |at: u64| (at <= size).then_some(at);
    let (placed, sorted) = (flag(&mut cur)?, flag(&mut cur)?);
    let records = within(number(&mut cur)?)?;
    let mut last = 0;
    let mut ascending = |at: u64| (at >= std::mem::replace(&mut last, at)).then_some(at).and_then(within);
    let spans =
        list(&mut cur, 16, |cur| Some(Span { start: ascending(number(cur)?)?, end: ascending(number(cur)?)? }))?;
    let end = spans.last().map_or(0, |span| span.end);
    let mut last = 0;
    let mut ascending = |at: u64| (at >= std::mem::replace(&mut last, at) && at <= end).then_some(at);
    let steps = list(&mut cur, 8, |cur| ascending(number(cur)?))?;
    let marks = list(&mut cur, 16, |cur| Some(Mark { at: within(number(cur)?)?, time: time(cur)? }))?;
    let lives = list(&mut cur, 24, |cur| {
        Some(Life { id: u32::try_from(number(cur)?).ok()?, start: within(number(cur)?)?, end: place(cur)? })
    })?;
    let facts = list(&mut cur, 16, |cur| Some(Fact { key: word(cur)?, value: text(cur)? }))?;
    let (mut at, mut taken, mut id) = (HEAD, 0_u64, 0);
    let channels = list(&mut cur, 73, |cur| {
        let (name, type_name, metadata) = (text(cur)?, text(cur)?, text(cur)?);
        let flags = cur.u8("flags").ok().filter(|flags| *flags < 8)?;
        let unit = if flags & 1 == 0 { None } else { Some(text(cur)?) };
        let family = if flags & 2 == 0 { None } else { Some(Box::new((text(cur)?, text(cur)?))) };
        let samples = within(number(cur)?)?;
        let bytes = number(cur)?;
        // Records do not share bytes.
        taken = taken.checked_add(bytes).and_then(within)?;
        let (first, last) = (time(cur)?, time(cur)?);
        let (len, hash) = (number(cur)?, number(cur)?);
        let end = at.checked_add(usize::try_from(len).ok()?).filter(|end| *end <= start)?;
        let section = Section { range: at..end, hash, places: usize::try_from(samples).ok()? };
        let (places, own, kept) = (section.places, id, Arc::clone(kept));
        let positions = match placed {
            true => Positions::later(places, move || kept.positions(own, &section)),
            false => Positions::default(),
        };
        (at, id) = (end, id + 1);
        let channel = Channel { name, type_name, unit, metadata, family };
        Some(ChannelIndex { channel, samples, bytes, first, last, sorted: flags & 4 != 0, positions })
    })?;
    let known = |id: u64| u32::try_from(id).ok().filter(|id| (*id as usize) < channels.len());
    let slots = list(&mut cur, 9, |cur| {
        let (kind, id) = (cur.u8("fate").ok()?, number(cur)?);
        match kind {
            0 => known(id).map(Fate::Started),
            1 => known(id).map(Fate::Late),
            2 => known(id).map(Fate::Ended),
            3 => Some(Fate::Unknown),
            _ => None,
        }
    })?;
    let lost_bytes = number(&mut cur)?;
    let kinds = list(&mut cur, 17, |cur| Some((word(cur)?, severity(cur)?, number(cur)?)))?;
    let all = list(&mut cur, 33, |cur| {
        let (severity, code, at) = (severity(cur)?, word(cur)?, place(cur)?);
        Some(Problem { severity, code, at, length: number(cur)?, message: text(cur)? })
    })?;
    let whole = cur.rest().is_empty() && at == start;
    let index = Index { channels, slots, lives, steps, placed, marks, spans, records, sorted, facts };
    whole.then(|| (index, Problems::from_parts(all, kinds, lost_bytes)))
}

fn severity(cur: &mut Cursor<'_>) -> Option<Severity> {
    let number = cur.u8("severity").ok()?;
    [Severity::Note, Severity::Warning, Severity::Damage].into_iter().find(|severity| *severity as u8 == number)
}

/// A code or a key: a word of the program, one of a few, and the same in all logs. So each is held once and for ever.
fn word(cur: &mut Cursor<'_>) -> Option<&'static str> {
    static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let word = str::from_utf8(bytes(cur)?).ok().filter(|word| word.len() <= LONGEST_WORD)?;
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = words.get(word) {
        return Some(known);
    }
    if words.len() == MOST_WORDS {
        return None;
    }
    let new: &'static str = Box::leak(word.into());
    words.insert(new);
    Some(new)
}

/// The last byte is the number of the format. It must grow with every change of it, and whenever the same bytes are
/// indexed in another way.
const MAGIC: [u8; 8] = *b"LPX\0\0\0\0\x01";
const LONGEST_RUN: u64 = 1 << 30;
/// About what a channel takes in a file, its positions aside.
const ONE_CHANNEL: u64 = 128;
const MANY_CHANNELS: u64 = 1 << 16;
const LONGEST_WORD: usize = 64;
const MOST_WORDS: usize = 1000;

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek, SeekFrom};

    use logpose_core::{ChannelId, DecodeError, EncodeOptions, Lookup, Sample, Sink, SinkError, Time, Value};
    use logpose_wpilog::Wpilog;

    use super::*;
    use crate::source;

    fn log() -> Vec<u8> {
        let mut encoder = Wpilog.encoder(&EncodeOptions::default()).unwrap();
        let mut out = Vec::new();
        encoder.begin(&mut out);
        for (id, name) in (0..).zip(["a", "b"]) {
            encoder.channel(id, &Channel::new(name, "int64"), &mut out).unwrap();
        }
        for i in 0..40 {
            let sample = Sample { channel: i % 2, time: Time::from_millis(50 - i64::from(i)), value: Value::Int64(1) };
            encoder.samples(&[sample], &mut out).unwrap();
        }
        encoder.finish(&mut out);
        out.extend([0x30, 1, 8]);
        out
    }

    struct Nobody;

    impl Sink for Nobody {
        fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
            Ok(())
        }
        fn samples(&mut self, _: &[Sample<'_>]) -> Result<(), SinkError> {
            Ok(())
        }

        fn problem(&mut self, _: Problem) {
            // The index, which lies here, is what is tested.
        }
    }

    /// Everything that an index is used for. It works, or says that the index is not that of the log.
    fn use_it(index: &Index, log: &[u8]) {
        let _ = (index.samples(), index.range(), index.marked_time(7));
        let check = |what: &str, end: Result<(), DecodeError>| {
            let code = end.err().map(|error| error.code);
            assert!(matches!(code, None | Some("bad-index" | "no-positions")), "{what}: {code:?}");
        };
        for bytes in [1, 100, u64::MAX] {
            for window in Wpilog.windows(index, bytes) {
                let lookup = Lookup { within: Some(window), ..Lookup::default() };
                check("scan", Wpilog.scan(log, index, &lookup, |_| {}).map(drop));
                check("sums", Wpilog.sums(log, index, &lookup, |_| {}).map(drop));
                let replayed = Wpilog.replay(log, index, &lookup, &mut Nobody);
                check("replay", replayed.map_err(|error| error.into_source("wpilog")));
                let rows = Wpilog.rows(log, index, &lookup, &mut |_| Ok(()));
                check("rows", rows.map_err(|error| error.into_source("wpilog")));
            }
        }
        let all: Vec<ChannelId> = (0..).zip(&index.channels).map(|(id, _)| id).collect();
        check("gather", Wpilog.gather(log, index, &all, |_| {}).map(drop));
    }

    #[test]
    fn a_sidecar_that_lies_with_the_right_hash_breaks_nothing() {
        let bytes = log();
        let mut problems = Problems::default();
        let index = Wpilog.index(&bytes, &ReadOptions::default(), &mut problems).unwrap();
        assert!(!problems.is_empty());
        let mut file = tempfile::tempfile().unwrap();
        encode(b"key", &index, &problems, &mut file).unwrap();
        let mut whole = Vec::new();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_end(&mut whole).unwrap();
        let start = usize::try_from(u64::from_le_bytes(*whole[8..].first_chunk().unwrap())).unwrap();
        let bytes = Arc::new(Bytes::Owned(bytes));
        let lie = |sidecar: &[u8]| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(sidecar).unwrap();
            let (map, log) = (Arc::new(source::map(&file).unwrap()), Arc::clone(&bytes));
            let (read, sidecar) = (ReadOptions::default(), PathBuf::new());
            let kept = Kept { map, sidecar, log, dialect: &Wpilog, read, again: OnceLock::new() };
            decode(&Arc::new(kept), b"key").inspect(|(index, _)| use_it(index, &bytes)).is_some()
        };
        assert!(lie(&whole));
        let mut believed = 0;
        for at in 8..whole.len() {
            for change in [1, 0x80, 0xff] {
                let mut sidecar = whole.clone();
                sidecar[at] ^= change;
                // The first section begins behind the head; its hash is made right as well where it was changed.
                let section: usize = 8 + 16 + 20 * 4;
                if (HEAD..HEAD + section).contains(&at) {
                    let before = XxHash3_64::oneshot(&whole[HEAD..HEAD + section]).to_le_bytes();
                    let place = sidecar.windows(8).position(|window| window == before).unwrap();
                    let after = XxHash3_64::oneshot(&sidecar[HEAD..HEAD + section]);
                    sidecar[place..place + 8].copy_from_slice(&after.to_le_bytes());
                }
                let hash = XxHash3_64::oneshot(&sidecar[start..]);
                sidecar[24..32].copy_from_slice(&hash.to_le_bytes());
                believed += usize::from(lie(&sidecar));
            }
        }
        assert!(believed > 100, "{believed}");
    }
}
