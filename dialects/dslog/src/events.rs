//! What the texts of events say.

use std::fmt;
use std::str::FromStr;

/// One entry of a text, which may hold several run together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry<'a> {
    /// A line that the robot's program printed.
    Console(Console<'a>),
    /// An error or a warning.
    Error(ErrorEntry<'a>),
    /// Anything else, as it is: what stands before the first tag, and tagged entries that are not as they should be.
    Other(&'a [u8]),
}

/// A line that the robot's program printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Console<'a> {
    /// The robot's own time, in seconds.
    pub time: f64,
    /// The line.
    pub text: &'a [u8],
}

/// An error or a warning, of the robot's program or of the station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorEntry<'a> {
    /// The robot's own time, in seconds; 0 if the station speaks.
    pub time: f64,
    /// How often; always 1 so far.
    pub count: u16,
    /// 0 and 2 warn, 1 and 3 are errors.
    pub flags: u8,
    /// The code.
    pub code: i32,
    /// What happened.
    pub details: &'a [u8],
    /// Where.
    pub location: &'a [u8],
    /// The way there.
    pub stack: &'a [u8],
}

impl ErrorEntry<'_> {
    /// Whether it is an error, and not a warning.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.flags & 1 != 0
    }
}

/// The entries of a text with their offsets: it is split before every `<TagVersion>`.
pub fn entries(text: &[u8]) -> impl Iterator<Item = (usize, Entry<'_>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        let entry = whole_entry(rest);
        at += entry.len();
        Some((start, Entry::parse(entry)))
    })
}

/// The entries of a text from the last one to the first, with their offsets and their bytes: the newest comes first in a
/// text, so that this is the order in which things happened.
pub(crate) fn entries_back(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut end = text.len();
    std::iter::from_fn(move || {
        let before = text.get(..end).filter(|before| !before.is_empty())?;
        let start = find_last(before, TAG).unwrap_or(0);
        end = start;
        Some((start, before.get(start..)?))
    })
}

/// The bytes up to the next tag.
pub(crate) fn whole_entry(rest: &[u8]) -> &[u8] {
    let next = rest.get(1..).and_then(|behind| find(behind, TAG));
    next.and_then(|next| rest.get(..next + 1)).unwrap_or(rest)
}

const TAG: &[u8] = b"<TagVersion>";

impl<'a> Entry<'a> {
    /// What one entry says.
    #[must_use]
    pub fn parse(entry: &'a [u8]) -> Self {
        match entry.strip_prefix(TAG) {
            Some(tagged) => Self::tagged(tagged).unwrap_or(Self::Other(entry)),
            None => Self::Other(entry),
        }
    }

    fn tagged(entry: &'a [u8]) -> Option<Self> {
        let (version, rest) = split_once(entry, b"<time>")?;
        integer::<u32>(version.trim_ascii())?;
        let end = rest.iter().position(|byte| *byte == b'<')?;
        let (time, rest) = rest.split_at_checked(end)?;
        let time = robot_time(time.trim_ascii())?;
        if let Some(text) = rest.strip_prefix(b"<message>") {
            return Some(Self::Console(Console { time, text: unspaced(text) }));
        }
        let (count, rest) = split_once(rest.strip_prefix(b"<count>")?, b"<flags>")?;
        let (flags, rest) = split_once(rest, b"<Code>")?;
        let (code, rest) = split_once(rest, b"<details>")?;
        let (details, rest) = split_once(rest, b"<location>")?;
        let (location, stack) = split_once(rest, b"<stack>")?;
        Some(Self::Error(ErrorEntry {
            time,
            count: integer(count.trim_ascii())?,
            flags: integer(flags.trim_ascii())?,
            code: integer(code.trim_ascii())?,
            details: unspaced(details),
            location: unspaced(location),
            stack: unspaced(stack),
        }))
    }
}

/// Without the one space on each side that belongs to the tags.
fn unspaced(text: &[u8]) -> &[u8] {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    text.strip_suffix(b" ").unwrap_or(text)
}

/// The robot's time stamp in seconds: `[-][[HH:]MM:]SS.mmm`.
fn robot_time(text: &[u8]) -> Option<f64> {
    let (negative, text) = text.strip_prefix(b"-").map_or((false, text), |text| (true, text));
    let (whole, millis) = split_once(text, b".")?;
    if millis.len() != 3 {
        return None;
    }
    let mut parts = 0;
    let mut seconds: i64 = 0;
    for part in whole.split(|byte| *byte == b':') {
        parts += 1;
        let part = digits(part)?;
        seconds = seconds.checked_mul(60)?.checked_add(part)?;
    }
    let millis = seconds.checked_mul(1000)?.checked_add(digits(millis)?).filter(|_| parts <= 3)?;
    // Read as decimal, so that 4.803 is the number nearest to it.
    let seconds = logpose_core::Time::from_millis(millis).seconds();
    Some(if negative { -seconds } else { seconds })
}

/// One thing that an untagged entry says; it may say several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EntryPart<'a> {
    /// The field has announced which match this is.
    Match(Match<'a>),
    /// The code of the event.
    EventName(&'a [u8]),
    /// What is plugged in.
    Joystick(Joystick<'a>),
    /// What the roboRIO has left, in MB.
    Free {
        /// On its disk.
        disk: i64,
        /// Of its memory.
        memory: i64,
    },
    /// How often the robot was disabled by faults.
    Faults {
        /// For want of packets.
        comms: i64,
        /// For want of voltage.
        brownouts: i64,
    },
    /// How often a rail of the roboRIO was at fault.
    Rails {
        /// 6 V, which the station calls 12 V.
        v6: i64,
        /// 5 V.
        v5: i64,
        /// 3.3 V.
        v3: i64,
    },
    /// The version of something.
    Version {
        /// The source; empty if the text does not name it.
        name: &'a [u8],
        /// The version; several may be run together.
        version: &'a [u8],
    },
    /// A warning or an error with a code, from before there were tags.
    Coded(Coded<'a>),
    /// Game data from the field for the robot.
    GameData(&'a [u8]),
    /// The robot's program has started.
    CodeStart,
    /// The station asked for another start of the program.
    CodeRestart,
    /// The station asked for another start of the roboRIO.
    Reboot,
    /// The station could not make sense of what the robot sent.
    TagIssue,
}

/// What the field announces about a match.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Match<'a> {
    /// `None`, `Practice`, `Qualification` or `Elimination`.
    pub kind: &'a [u8],
    /// Its number.
    pub number: i64,
    /// The how manyeth time it is played.
    pub replay: i64,
    /// The field's clock.
    pub field_time: Option<FieldTime>,
}

/// The field's clock, in its own time zone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FieldTime {
    /// The year, with its century.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
    /// Hours, minutes, seconds.
    pub clock: [i64; 3],
}

impl fmt::Display for FieldTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, clock: [hour, minute, second] } = self;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
    }
}

/// A joystick as the station describes it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Joystick<'a> {
    /// Its place, from 0.
    pub port: u8,
    /// Its name.
    pub name: &'a [u8],
    /// How many axes.
    pub axes: i64,
    /// How many buttons.
    pub buttons: i64,
    /// How many points of view.
    pub povs: i64,
}

/// A warning or an error with a code, without tags for its parts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Coded<'a> {
    /// Whether it is an error.
    pub is_error: bool,
    /// The code.
    pub code: i32,
    /// The rest of it.
    pub text: &'a [u8],
}

/// What an untagged entry says, with offsets: its parts have no separators. A tagged one has no parts.
pub fn parts(entry: &[u8]) -> impl Iterator<Item = (usize, EntryPart<'_>)> {
    let mut at = if entry.starts_with(TAG) { entry.len() } else { next_start(entry) };
    std::iter::from_fn(move || {
        loop {
            let rest = entry.get(at..).filter(|rest| !rest.is_empty())?;
            let (part, length) = EntryPart::parse(rest);
            let start = at;
            at += length.max(1);
            at += entry.get(at..).map_or(0, next_start);
            if let Some(part) = part {
                return Some((start, part));
            }
        }
    })
}

/// What parts begin with.
const STARTS: [&[u8]; 10] = [
    b"Info ",
    b"FMS Connected:",
    b"Warning <Code>",
    b"Error <Code>",
    b"ERROR <Code>",
    b"Game Specific Data",
    ROBORIO,
    b"Code Start Notification",
    b"DS requested ",
    b"Internal issue with",
];
/// The image of a roboRIO, behind the version of a library.
const ROBORIO: &[u8] = b"FRC_roboRIO";

/// Where the next part begins; the end if none does.
fn next_start(text: &[u8]) -> usize {
    let starts = |at: usize| text.get(at..).is_some_and(|rest| STARTS.iter().any(|start| rest.starts_with(start)));
    let may = |byte: u8| matches!(byte, b'I' | b'F' | b'W' | b'E' | b'G' | b'C' | b'D');
    text.iter().enumerate().find(|(at, byte)| may(**byte) && starts(*at)).map_or(text.len(), |(at, _)| at)
}

/// Up to where the next part begins.
fn until_next(text: &[u8]) -> &[u8] {
    text.get(..next_start(text)).unwrap_or(text)
}

impl<'a> EntryPart<'a> {
    /// What `rest` begins with, if that is known, and how many bytes it takes.
    #[must_use]
    pub fn parse(rest: &'a [u8]) -> (Option<Self>, usize) {
        let mut scan = Scan { rest };
        let part = Self::scan(&mut scan);
        let length = if part.is_some() { rest.len() - scan.rest.len() } else { 1 };
        (part, length)
    }

    fn scan(scan: &mut Scan<'a>) -> Option<Self> {
        if scan.is("FMS Connected:") {
            return Match::scan(scan).map(Self::Match);
        }
        if scan.is("Game Specific Data") {
            scan.skip(|byte| byte == b':' || byte == b' ');
            return Some(Self::GameData(scan.until_next().trim_ascii_end()));
        }
        if scan.is("Code Start Notification") {
            return Some(Self::CodeStart);
        }
        if scan.is("DS requested code restart") {
            return Some(Self::CodeRestart);
        }
        if scan.is("DS requested reboot") {
            return Some(Self::Reboot);
        }
        if scan.is("Internal issue with print and error tags") {
            return Some(Self::TagIssue);
        }
        let is_error = scan.is("Error <Code>") || scan.is("ERROR <Code>");
        if is_error || scan.is("Warning <Code>") {
            scan.skip(|byte| byte == b' ');
            let code = i32::try_from(scan.integer()?).ok()?;
            return Some(Self::Coded(Coded { is_error, code, text: scan.until_next().trim_ascii() }));
        }
        if let Some(behind) = scan.rest.strip_prefix(ROBORIO) {
            scan.rest = behind;
            let version = scan.until_next().trim_ascii_end();
            return Some(Self::Version { name: ROBORIO, version: version.strip_prefix(b"_").unwrap_or(version) });
        }
        if !scan.is("Info ") {
            return None;
        }
        if scan.is("FMS Event Name:") {
            return Some(Self::EventName(scan.until_next().trim_ascii()));
        }
        if scan.is("Joystick ") {
            return Joystick::scan(scan).map(Self::Joystick);
        }
        if scan.is("roboRIO: Disk Free ") {
            let disk = scan.integer()?;
            let memory = scan.is(" MB, Memory Free ").then(|| scan.integer())??;
            return scan.is(" MB").then_some(Self::Free { disk, memory });
        }
        if scan.is("Communications Timeout: ") {
            let comms = scan.integer()?;
            let brownouts = scan.is(" Input Voltage Brownouts: ").then(|| scan.integer())??;
            return Some(Self::Faults { comms, brownouts });
        }
        if scan.is("Rail Faults: ") {
            let v6 = (scan.is("12V - ") || scan.is("6V - ")).then(|| scan.integer())??;
            let v5 = scan.is(", 5V - ").then(|| scan.integer())??;
            let v3 = scan.is(", 3.3V - ").then(|| scan.integer())??;
            return Some(Self::Rails { v6, v5, v3 });
        }
        Self::version(scan)
    }

    /// `Info Java 2022.4.1` or `Info 22.0`, with more run together behind it.
    fn version(scan: &mut Scan<'a>) -> Option<Self> {
        let name = ["Java", "C++", "LabVIEW", "Python"].into_iter().find(|name| scan.is(name));
        scan.skip(|byte| byte == b' ');
        let number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        let length = scan.rest.iter().take_while(|byte| number(byte)).count();
        let version = scan.take(length).filter(|version| !version.is_empty())?;
        Some(Self::Version { name: name.unwrap_or_default().as_bytes(), version })
    }
}

impl<'a> Match<'a> {
    fn scan(scan: &mut Scan<'a>) -> Option<Self> {
        scan.skip(|byte| byte == b' ');
        let length = scan.rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let kind = scan.take(length).filter(|kind| !kind.is_empty())?;
        let number = scan.is(" - ").then(|| scan.integer())??;
        let replay = scan.is(":").then(|| scan.integer())??;
        let mut clock = *scan;
        let field_time = FieldTime::scan(&mut clock);
        if field_time.is_some() {
            *scan = clock;
        }
        Some(Self { kind, number, replay, field_time })
    }
}

impl FieldTime {
    fn scan(scan: &mut Scan<'_>) -> Option<Self> {
        let mut numbers = [0; 6];
        let between = [", Field Time: ", "/", "/", " ", ":", ":"];
        for (number, before) in numbers.iter_mut().zip(between) {
            *number = scan.is(before).then(|| scan.integer())??;
        }
        let [year, month, day, hour, minute, second] = numbers;
        let fits = (0..100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        let fits = fits && (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
        fits.then_some(Self { year: 2000 + year, month, day, clock: [hour, minute, second] })
    }
}

impl<'a> Joystick<'a> {
    /// How long a name may be; the link has one byte for its length.
    const LONGEST: usize = 256;

    fn scan(scan: &mut Scan<'a>) -> Option<Self> {
        let port = u8::try_from(scan.integer()?).ok().filter(|port| *port < PORTS)?;
        if !scan.is(": (") {
            return None;
        }
        let within = scan.rest.get(..Self::LONGEST).unwrap_or(scan.rest);
        // A name has brackets of its own: it ends where the counts begin.
        let ends = within.iter().enumerate().filter(|(_, byte)| **byte == b')').map(|(at, _)| at);
        for end in ends {
            let mut behind = Scan { rest: scan.rest.get(end + 1..)? };
            let mut counts = || {
                let axes = behind.integer()?;
                let buttons = behind.is(" axes, ").then(|| behind.integer())??;
                let povs = behind.is(" buttons, ").then(|| behind.integer())??;
                behind.is(" POVs").then_some((axes, buttons, povs))
            };
            if let Some((axes, buttons, povs)) = counts() {
                let name = scan.take(end)?;
                *scan = behind;
                return Some(Self { port, name, axes, buttons, povs });
            }
        }
        None
    }
}

/// How many joysticks a station has.
pub(crate) const PORTS: u8 = 6;

/// A place in a text.
#[derive(Clone, Copy)]
struct Scan<'a> {
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    /// Whether this comes next; then it is behind us.
    fn is(&mut self, what: &str) -> bool {
        let behind = self.rest.strip_prefix(what.as_bytes());
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    fn skip(&mut self, over: impl Fn(u8) -> bool) {
        let length = self.rest.iter().take_while(|byte| over(**byte)).count();
        self.take(length);
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn until_next(&mut self) -> &'a [u8] {
        self.take(until_next(self.rest).len()).unwrap_or_default()
    }

    fn integer(&mut self) -> Option<i64> {
        let sign = usize::from(self.rest.first() == Some(&b'-'));
        let length = self.rest.iter().skip(sign).take_while(|byte| byte.is_ascii_digit()).count();
        integer(self.take(sign + length)?)
    }
}

fn integer<N: FromStr>(text: &[u8]) -> Option<N> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn digits(text: &[u8]) -> Option<i64> {
    integer(text).filter(|_| text.first().is_some_and(u8::is_ascii_digit))
}

fn split_once<'a>(text: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let found = find(text, at)?;
    Some((text.get(..found)?, text.get(found + at.len()..)?))
}

/// Where `what` first stands.
pub(crate) fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    let first = what.first()?;
    let mut from = 0;
    loop {
        let rest = text.get(from..)?;
        let at = from + rest.iter().position(|byte| byte == first)?;
        if text.get(at..)?.starts_with(what) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Where `what` last stands.
fn find_last(text: &[u8], what: &[u8]) -> Option<usize> {
    let first = what.first()?;
    let mut before = text;
    loop {
        let at = before.iter().rposition(|byte| byte == first)?;
        if text.get(at..)?.starts_with(what) {
            return Some(at);
        }
        before = text.get(..at)?;
    }
}

#[cfg(test)]
mod tests {
    use super::{entries, entries_back, robot_time};

    #[test]
    fn entries_are_the_same_from_both_sides() {
        let texts: [&[u8]; 6] = [
            b"",
            b"x",
            b"<TagVersion>",
            b"a<TagVersion>b<TagVersion>",
            b"<<TagVersion>c<TagVersio",
            b"<TagVersion>a<b>",
        ];
        for text in texts {
            let mut back: Vec<usize> = entries_back(text).map(|(at, _)| at).collect();
            back.reverse();
            assert!(entries(text).map(|(at, _)| at).eq(back), "{text:?}");
        }
    }

    #[test]
    fn robot_times_have_up_to_three_parts() {
        let check = |text: &str, expected| assert_eq!(robot_time(text.as_bytes()), expected, "{text}");
        check("04.803", Some(4.803));
        check("-01:17.686", Some(-77.686));
        check("01:00:10.386", Some(3610.386));
        check("00.000", Some(0.0));
        for wrong in ["", "4", "4.8", "1:2:3:4.000", "a.000", "1.-20", "99999999999999999999.000"] {
            check(wrong, None);
        }
    }
}
