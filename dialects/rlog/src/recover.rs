//! Finding cycles where the way to them is lost: behind damage, in logs without a head, in the middle of a log.
//!
//! RLOG has no sync marks and no checksums. What helps is that a cycle begins with `00` and a time shortly after
//! the last one, and that whole messages follow.

use std::cell::Cell;
use std::collections::HashMap;

use logpose_core::{Cursor, DecodeError, Layout, Problem, Problems, Severity, Type, Value, leading_zeros};

use crate::error::{Error, ErrorKind};
use crate::wire::{FIELD, KEY, Kind, Message, Revision, TIMESTAMP, TIMESTAMP_LEN};

/// How many whole messages must follow a timestamp to believe it.
const RUN: usize = 6;
/// Messages of the longest cycle, and of the longest one once a search has read too much.
const LONGEST_CYCLE: usize = 20_000;
const SHORT_CYCLE: usize = 64;
/// AdvantageScope's bound for the time between two cycles, in seconds.
const GAP: f64 = 60.0;
/// No robot runs longer, in seconds: 115 days. Beyond that a double is no timestamp.
const LONGEST: f64 = 1e7;
/// How far the search for a likely cycle goes before it also takes a less likely one.
const WINDOW: usize = 64 << 10;
/// How far to search for a place to split a log.
const SPLIT_WINDOW: usize = 4 << 20;

/// Whether `head` begins with a cycle where a revision byte should be.
pub(crate) fn is_headless(head: &[u8]) -> bool {
    let in_range = |s: f64| (0.0..=1e6).contains(&s) && !s.is_subnormal();
    // A block of zeros would pass too.
    timestamp_at(head, 0).is_some_and(in_range)
        && head.get(TIMESTAMP_LEN).is_some_and(|b| *b <= FIELD)
        && head.iter().take(64).any(|b| *b != 0)
}

/// The revision under which more of the messages from `at` on make sense.
pub(crate) fn guess_revision(log: &[u8], at: usize) -> Revision {
    const ENOUGH: usize = 2000;
    let whole = |revision| Scan::new(log, revision).plausible(at, ENOUGH);
    if whole(Revision::R2) > whole(Revision::R1) { Revision::R2 } else { Revision::R1 }
}

/// Whether at `at` a revision byte stands between two cycles: AdvantageKit 2.2.0 to 3.1.1 send it again with the
/// first cycle, to clients that were there before it.
pub(crate) fn is_repeated_revision(bytes: &[u8], at: usize, revision: Revision) -> bool {
    if bytes.get(at) != Some(&revision.byte()) {
        return false;
    }
    let Some(seconds) = timestamp_at(bytes, at + 1).filter(|s| is_time(*s)) else { return false };
    let mut scan = Scan::new(bytes, revision);
    scan.last = Some(seconds);
    // The same bytes are also a key message of R1 or a field message of R2: take what fits better.
    scan.run(at + 1 + TIMESTAMP_LEN, RUN, Some(seconds)) && !scan.run(at, RUN, None)
}

/// A timestamp message with whole messages behind it, from byte `from` on.
pub(crate) fn find_cycle(log: &[u8], from: usize, until: usize, revision: Revision) -> Option<usize> {
    let scan = Scan::new(log, revision);
    let end = until.min(from.saturating_add(SPLIT_WINDOW));
    (from..end).find(|at| {
        let time = timestamp_at(log, *at).filter(|s| *s > 1e-6 && is_time(*s));
        time.is_some_and(|time| scan.is_followed(at + TIMESTAMP_LEN, time))
    })
}

/// The stretches of a damaged log that hold whole messages.
#[derive(Debug)]
pub(crate) struct Salvage {
    pub(crate) revision: Revision,
    pub(crate) spans: Vec<(usize, usize)>,
}

/// Searches a log for whole messages. What lies between them is reported.
pub(crate) fn salvage(log: &[u8], revision: Option<u8>, problems: &mut Problems) -> Result<Salvage, DecodeError> {
    let given = revision.and_then(Revision::of);
    let first = *log.first().ok_or(Error { at: 0, kind: ErrorKind::Empty })?;
    let named = Revision::of(first);
    let lost = |at: usize, end: usize, what: &str| {
        Problem::new(Severity::Damage, "lost-bytes", at as u64, (end - at) as u64, format!("{} bytes {what}", end - at))
    };
    let headless = is_headless(log);
    // RLOG 7: the revision byte of AdvantageKit 2.2.0 to 3.1.1 that comes twice.
    let again = 1 + TIMESTAMP_LEN;
    let begins = |r: &Revision| Scan::new(log, *r).begins(1) || is_repeated_revision(log, again, *r);
    let (revision, start) = if let Some(revision) = named.filter(begins) {
        (revision, 1)
    } else if headless {
        let revision = given.unwrap_or_else(|| guess_revision(log, 0));
        let message = format!("missing revision byte; reading as {revision}");
        problems.push(Problem::new(Severity::Warning, "missing-revision", 0, 0, message));
        (revision, 0)
    } else {
        // The start is damaged. A revision byte that is there is believed first.
        let both = [named.or(given), Some(Revision::R2), Some(Revision::R1)];
        let found = both.into_iter().flatten().find_map(|r| Some((r, Scan::new(log, r).search(0, Tier::Any)?)));
        let Some((_, at)) = found else {
            let help = "the start of the file is damaged, and no complete cycle follows".to_owned();
            return Err(DecodeError {
                help: Some(help),
                ..Error { at: 0, kind: ErrorKind::BadRevision { found: first } }.into()
            });
        };
        let revision = named
            .or(given)
            .filter(|r| Scan::new(log, *r).plausible(at, RUN) >= RUN)
            .unwrap_or_else(|| guess_revision(log, at));
        problems.push(lost(0, at, &format!("before the first complete cycle, which is read as {revision}")));
        (revision, at)
    };
    let mut scan = Scan::new(log, revision);
    scan.keys_lost = start != 1;
    let mut spans = Vec::new();
    let mut from = start;
    if start == 1 && is_repeated_revision(log, again, revision) {
        spans.push((from, again));
        from = again + 1;
    }
    loop {
        let (end, previous, error) = scan.walk(from);
        let Some(error) = error else {
            spans.push((from, end));
            break;
        };
        // A wrong length in the last message that looked whole may have swallowed good ones.
        let inside =
            previous.filter(|at| *at > from).and_then(|at| Some((at, scan.search_within(at + 1, end, Tier::Near)?)));
        let (end, next) = match inside {
            Some((at, next)) => (at, Some(next)),
            None => (end, scan.next_cycle(end + 1)),
        };
        if end > from {
            spans.push((from, end));
        }
        let Some(next) = next else {
            if error.is_truncation() {
                let message = format!("{}; lost the {} bytes of the last message", error.kind, log.len() - end);
                problems.push(Problem::new(
                    Severity::Damage,
                    "truncated",
                    end as u64,
                    (log.len() - end) as u64,
                    message,
                ));
            } else {
                problems.push(lost(end, log.len(), &format!("at the end cannot be read: {}", error.kind)));
            }
            break;
        };
        problems.push(lost(
            end,
            next,
            &format!("cannot be read ({}); the next complete cycle starts at byte {next:#x}", error.kind),
        ));
        scan.keys_lost = true;
        from = next;
    }
    Ok(Salvage { revision, spans })
}

/// How much to ask of the time of a cycle, the most first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Tier {
    /// Within a minute of the last good one.
    Near,
    /// Later than the last good one.
    Later,
    /// Any that a robot could have.
    Any,
}

/// How a message looks in the light of those before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Look {
    Good,
    /// Possible, but rather a sign of damage.
    Odd,
    Bad,
}

enum Step<'a> {
    Message(Message<'a>, usize, Look),
    /// No more messages: whether what came before is whole.
    End(bool),
}

struct Scan<'a> {
    log: &'a [u8],
    revision: Revision,
    keys: HashMap<u16, Type>,
    last: Option<f64>,
    /// Whether keys may have been defined where we could not see it.
    keys_lost: bool,
    /// Searches to the end of the log that may still be made for a cycle of any time.
    far_searches: u32,
    /// Messages that searches may still read in vain behind a place that is no cycle. Then they read less at each.
    patience: Cell<usize>,
}

impl<'a> Scan<'a> {
    fn new(log: &'a [u8], revision: Revision) -> Self {
        let patience = Cell::new(log.len().max(1 << 20));
        Self { log, revision, keys: HashMap::new(), last: None, keys_lost: true, far_searches: 8, patience }
    }

    fn parse(&self, at: usize) -> Result<(Message<'a>, usize), Error> {
        #[cfg(test)]
        tests::PARSED.set(tests::PARSED.get() + 1);
        let rest = self.log.get(at..).unwrap_or_default();
        let mut cur = Cursor::new(rest, at as u64);
        let message = Message::parse(self.revision, &mut cur)?;
        Ok((message, at + rest.len() - cur.rest().len()))
    }

    /// How many messages from `at` on can be read and look like those of a log, up to `enough`.
    fn plausible(&self, at: usize, enough: usize) -> usize {
        let mut at = at;
        for n in 0..enough {
            if at >= self.log.len() {
                return enough; // nothing left to object to
            }
            match self.parse(at) {
                Ok((message, end)) if self.look(&message, None, None) != Look::Bad => at = end,
                _ => return n,
            }
        }
        enough
    }

    /// Whether a log begins at `at`: with a timestamp and messages behind it, as far as there are any.
    fn begins(&self, at: usize) -> bool {
        if at >= self.log.len() {
            return true;
        }
        let rest = self.log.get(at..).unwrap_or_default();
        rest.first() == Some(&TIMESTAMP)
            && (rest.len() < TIMESTAMP_LEN || timestamp_at(self.log, at).is_some_and(is_first_time))
            && (self.plausible(at, 3) >= 2 || rest.len() < 64)
    }

    /// Reads messages from `at` on until one that cannot be or that is no part of this log. Returns where, the
    /// place of the message before it, and what is wrong; no error at the end of the log.
    fn walk(&mut self, from: usize) -> (usize, Option<usize>, Option<Error>) {
        let mut at = from;
        let mut previous = None;
        while at < self.log.len() {
            let (message, end) = match self.parse(at) {
                Ok(parsed) => parsed,
                Err(error) => return (at, previous, Some(error)),
            };
            let look = self.look(&message, self.last, None);
            let damaged = match look {
                Look::Good => false,
                Look::Bad => true,
                // Real logs have odd messages too. What follows decides.
                Look::Odd => {
                    let last = if let Message::Timestamp { seconds } = message { Some(seconds) } else { self.last };
                    !self.run(end, RUN, last)
                }
            };
            if damaged {
                let found = self.log.get(at).copied().unwrap_or(0);
                return (at, previous, Some(Error { at: at as u64, kind: ErrorKind::UnknownMessage { found } }));
            }
            match message {
                Message::Timestamp { seconds } => self.last = Some(seconds),
                Message::Key { id, type_name, .. } => {
                    self.keys.insert(id, type_of(type_name));
                }
                Message::Field { .. } => {}
            }
            previous = Some(at);
            at = end;
        }
        (at, previous, None)
    }

    fn look(&self, message: &Message<'_>, last: Option<f64>, defined: Option<&HashMap<u16, Type>>) -> Look {
        match *message {
            Message::Timestamp { seconds }
                if !seconds.is_finite() || seconds.abs() > LONGEST || (seconds != 0.0 && seconds.abs() < 1e-9) =>
            {
                Look::Bad
            }
            Message::Timestamp { seconds } => match last {
                Some(last) if !(last..last + GAP).contains(&seconds) => Look::Odd,
                _ => Look::Good,
            },
            Message::Key { id, name, type_name } => {
                let ty = type_of(type_name);
                if !is_text(name) || !type_name.is_none_or(is_text) {
                    Look::Bad
                } else if self.keys.get(&id).is_some_and(|known| *known != ty) || name.is_empty() {
                    Look::Odd
                } else {
                    Look::Good
                }
            }
            Message::Field { key, kind, value } => {
                let fits = match kind {
                    Some(Kind::Boolean) => |_: Type, value: &[u8]| value.first().is_some_and(|b| *b <= 1),
                    Some(_) => |_: Type, _: &[u8]| true,
                    None => |ty: Type, value: &[u8]| Value::parse(ty, value, Layout::Big).is_ok(),
                };
                match defined.and_then(|defined| defined.get(&key)).or_else(|| self.keys.get(&key)).copied() {
                    Some(ty) if fits(ty, value) => Look::Good,
                    // A headless log knows none of its keys.
                    None if self.keys_lost && self.keys.is_empty() => Look::Good,
                    _ => Look::Odd,
                }
            }
        }
    }

    /// Whether `n` whole messages begin at `at`, of which at most half are odd, or as many as there are before the
    /// log ends.
    fn run(&self, at: usize, n: usize, last: Option<f64>) -> bool {
        let (mut at, mut last, mut odd) = (at, last, 0);
        let mut defined = HashMap::new();
        for seen in 0..n {
            let (message, end, look) = match self.step(at, seen, last, Some(&defined)) {
                Step::Message(message, end, look) => (message, end, look),
                Step::End(whole) => return whole,
            };
            odd += usize::from(look == Look::Odd);
            if look == Look::Bad || odd > n / 2 {
                return false;
            }
            match message {
                Message::Timestamp { seconds } => last = Some(seconds),
                Message::Key { id, type_name, .. } => {
                    defined.entry(id).or_insert_with(|| type_of(type_name));
                }
                Message::Field { .. } => {}
            }
            at = end;
        }
        true
    }

    /// Whether a cycle of time `seconds` whose messages begin at `at` is one: whole messages up to the next
    /// timestamp, which is not earlier, and at least so many that chance does not make them.
    ///
    /// An element of an array of doubles looks like a timestamp, and good messages follow the last one. But then
    /// the time of the next cycle does not fit.
    fn is_followed(&self, at: usize, seconds: f64) -> bool {
        let patience = self.patience.get();
        let (followed, seen) = self.follow(at, seconds, if patience > 0 { LONGEST_CYCLE } else { SHORT_CYCLE });
        if !followed {
            self.patience.set(patience.saturating_sub(seen));
        }
        followed
    }

    /// The same, for a cycle of at most so many messages; with how many were read.
    fn follow(&self, at: usize, seconds: f64, longest: usize) -> (bool, usize) {
        let (mut at, mut odd, mut timed) = (at, 0, false);
        let mut last = seconds;
        let mut defined = HashMap::new();
        for seen in 0..longest {
            if timed && seen >= RUN {
                return (true, seen);
            }
            let (message, end, look) = match self.step(at, seen, Some(last), Some(&defined)) {
                Step::Message(message, end, look) => (message, end, look),
                Step::End(whole) => return (whole, seen),
            };
            odd += usize::from(look == Look::Odd);
            if look == Look::Bad || odd > RUN / 2 + seen / 2 {
                return (false, seen);
            }
            match message {
                Message::Timestamp { .. } if look == Look::Odd => return (false, seen),
                Message::Timestamp { seconds } => {
                    timed = true;
                    last = seconds;
                }
                Message::Key { id, type_name, .. } => {
                    defined.entry(id).or_insert_with(|| type_of(type_name));
                }
                Message::Field { .. } => {}
            }
            at = end;
        }
        (false, longest)
    }

    fn step(&self, at: usize, seen: usize, last: Option<f64>, defined: Option<&HashMap<u16, Type>>) -> Step<'a> {
        if at >= self.log.len() {
            return Step::End(true);
        }
        match self.parse(at) {
            Ok((message, end)) => Step::Message(message, end, self.look(&message, last, defined)),
            Err(error) => Step::End(error.is_truncation() && seen >= RUN / 2),
        }
    }

    /// The next cycle from `from` on: a likely one if there is one soon, else a less likely one.
    fn next_cycle(&mut self, from: usize) -> Option<usize> {
        let mut window = from;
        while window < self.log.len() {
            let end = window.saturating_add(WINDOW);
            if let Some(at) = self.search_within(window, end, Tier::Later) {
                return Some(at);
            }
            window = end;
        }
        // Time may start again, in two logs that became one file. Each such search costs a walk over the rest.
        self.far_searches = self.far_searches.checked_sub(1)?;
        self.search(from, Tier::Any)
    }

    fn search(&self, from: usize, tier: Tier) -> Option<usize> {
        self.search_within(from, self.log.len(), tier)
    }

    /// The first cycle in a stretch with a time of this tier or a better one. If later ones will do, one that is near
    /// the last good one is taken first.
    fn search_within(&self, from: usize, end: usize, tier: Tier) -> Option<usize> {
        let end = end.min(self.log.len());
        let mut later = None;
        let mut at = self.behind_zeros(from);
        while at < end {
            let found = timestamp_at(self.log, at).and_then(|seconds| Some((self.tier(seconds)?, seconds)));
            let found = found.filter(|(found, _)| *found <= tier && (later.is_none() || *found == Tier::Near));
            if let Some((found, seconds)) = found
                && self.log.get(at + TIMESTAMP_LEN).is_none_or(|next| *next <= FIELD)
                && self.is_followed(at + TIMESTAMP_LEN, seconds)
            {
                match found {
                    Tier::Later if tier == Tier::Later => later = Some(at),
                    _ => return Some(at),
                }
            }
            at = self.behind_zeros(at + 1);
        }
        later
    }

    /// The best tier that a time is of.
    fn tier(&self, seconds: f64) -> Option<Tier> {
        match self.last {
            Some(last) if (last..last + GAP).contains(&seconds) => Some(Tier::Near),
            Some(last) if seconds > last && is_time(seconds) => Some(Tier::Later),
            // Zero is what most wrong places give.
            last if seconds > 1e-6 && is_time(seconds) => Some(if last.is_none() { Tier::Near } else { Tier::Any }),
            _ => None,
        }
    }

    /// The first place from `at` on whose time is not zero, where that can be no time of a cycle.
    fn behind_zeros(&self, at: usize) -> usize {
        if self.last.is_some_and(|last| last <= 0.0) {
            return at;
        }
        let run = leading_zeros(self.log.get(at..).unwrap_or_default());
        at + if at + run == self.log.len() { run } else { run.saturating_sub(TIMESTAMP_LEN - 1) }
    }
}

fn timestamp_at(bytes: &[u8], at: usize) -> Option<f64> {
    match bytes.get(at..)?.first_chunk::<TIMESTAMP_LEN>()? {
        [TIMESTAMP, seconds @ ..] => Some(f64::from_be_bytes(*seconds)),
        _ => None,
    }
}

fn is_time(seconds: f64) -> bool {
    (0.0..=LONGEST).contains(&seconds) && !seconds.is_subnormal() && (seconds == 0.0 || seconds > 1e-9)
}

/// A log's first times may be negative: values from before the clock's zero, converted from WPILOG.
fn is_first_time(seconds: f64) -> bool {
    is_time(seconds.abs())
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(char::is_control))
}

fn type_of(type_name: Option<&[u8]>) -> Type {
    type_name.and_then(|name| std::str::from_utf8(name).ok()).map_or(Type::Bytes, Type::of)
}

/// Whether bytes that follow the first timestamp look like a log's: a key with a name, or a later timestamp.
pub(crate) fn follows(head: &[u8], at: usize, revision: Revision, first: f64) -> bool {
    match head.get(at) {
        None => true,
        Some(&KEY) => {
            let scan = Scan::new(head, revision);
            match scan.parse(at) {
                Ok((message, _)) => scan.look(&message, None, None) == Look::Good,
                Err(error) => error.is_truncation() && head.len() - at < (1 << 16) + 8,
            }
        }
        Some(&TIMESTAMP) => timestamp_at(head, at).map_or(first != 0.0, |next| next > first && is_first_time(next)),
        Some(byte) => *byte == revision.byte() && is_repeated_revision(head, at, revision),
    }
}

/// Whether `head` begins with a revision byte and a timestamp, and which time that is.
pub(crate) fn header(head: &[u8]) -> Option<(Revision, f64)> {
    let revision = Revision::of(*head.first()?)?;
    timestamp_at(head, 1).filter(|s| is_first_time(*s)).map(|seconds| (revision, seconds))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use logpose_core::Problems;

    use super::salvage;

    thread_local! {
        /// Messages parsed in searches.
        pub(super) static PARSED: Cell<usize> = const { Cell::new(0) };
    }

    fn timestamp(seconds: f64) -> Vec<u8> {
        [&[0][..], &seconds.to_be_bytes()].concat()
    }

    /// Cycles of R2 from `first` on, with two fields each.
    fn cycles(first: u32, count: u32) -> Vec<u8> {
        let field = |key: u8| [&[2, 0, key, 0, 8][..], &1.5_f64.to_be_bytes()].concat();
        (first..first + count).flat_map(|n| [timestamp(f64::from(n) * 0.02), field(1), field(2)].concat()).collect()
    }

    #[test]
    fn a_search_parses_few_messages_whatever_repeats() {
        const LENGTH: usize = 1 << 17;
        let key = |key: u8| [&[1, 0, key, 0, 2][..], b"/a", &[0, 6], b"double"].concat();
        let front = [vec![2], timestamp(0.01), key(1), key(2), cycles(1, 500)].concat();
        // A field whose value looks like the time of a cycle that all the other fields belong to.
        let inside = [&[2, 0, 1, 0, 9][..], &timestamp(20.0)].concat();
        let patterns: [(&str, &[u8], usize); 7] = [
            ("zeros", &[0], 0),
            ("ones", &[1], 0),
            ("0xff", &[0xff], 0),
            ("text", b"[INFO] the quick brown fox jumps over the lazy dog 0123456789\r\n", 0),
            ("heads of cycles", &timestamp(20.0)[..6], LENGTH / 2),
            ("heads of fields", &[2, 0, 1, 0, 8], LENGTH / 2),
            ("times in fields", &inside, 7 * LENGTH),
        ];
        for (name, pattern, most) in patterns {
            // What cannot be a message comes first.
            let middle = [&[0xff; 9][..], &pattern.repeat(LENGTH / pattern.len()), &[0xff; 70_000]].concat();
            let log = [front.clone(), middle, cycles(600, 500)].concat();
            PARSED.set(0);
            let found = salvage(&log, None, &mut Problems::default()).unwrap();
            let parsed = PARSED.get();
            println!("{name}: {parsed} messages, {:?}", found.spans);
            // The walk over whole messages is the same in every case.
            assert!(parsed <= most + 20_000, "{name}: {parsed} messages in {LENGTH} bytes");
            let last = *found.spans.last().unwrap();
            assert_eq!((found.spans[0], last.1), ((1, front.len()), log.len()), "{name}");
            assert!(last.0 <= log.len() - 500 * 35, "{name}");
        }
    }
}
