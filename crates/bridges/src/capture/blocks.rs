//! Packets out of pcap and pcapng files, borrowed from the bytes of the file.

use logpose_core::{Confidence, DecodeError, Problem, Problems, Severity, Time, array_at};
use pcap_parser::nom::IResult;
use pcap_parser::{
    LegacyPcapBlock, OptionCode, PcapError, PcapHeader, PcapNGOption, parse_interfacedescriptionblock_be,
    parse_interfacedescriptionblock_le, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified,
    parse_pcap_header, parse_sectionheaderblock, parse_simplepacketblock_be, parse_simplepacketblock_le,
};

/// One packet as it was captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<'a> {
    /// Where its bytes begin in the file.
    pub(crate) at: u64,
    /// What its bytes begin with: the number of a link type.
    pub(crate) link: u16,
    /// As much of it as was captured.
    pub(crate) bytes: &'a [u8],
    /// When, if the file says it.
    ticks: Option<u64>,
    clock: Clock,
}

impl Packet<'_> {
    /// When it was captured, in Unix time; simple packet blocks do not say it. Beyond ±292 years it stops at the
    /// limit.
    pub(crate) fn time(&self) -> Option<Time> {
        self.ticks.map(|ticks| self.clock.time(ticks))
    }
}

/// The packets of a file, from front to back.
#[derive(Debug)]
pub(crate) struct Packets<'a> {
    file: &'a [u8],
    at: usize,
    format: Format,
    salvage: bool,
    about: About,
}

/// The facts of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// The format and its version.
    pub(crate) version: String,
    /// The program that wrote it.
    pub(crate) application: Option<String>,
    /// Packets met so far.
    pub(crate) packets: u64,
    /// Packets without a time.
    pub(crate) timeless: u64,
}

#[derive(Debug)]
enum Format {
    Pcap(Classic),
    Pcapng { big: bool, interfaces: Vec<Interface> },
}

/// Takes a packet off the front of the bytes.
type ParseFrame = for<'b> fn(&'b [u8]) -> IResult<&'b [u8], LegacyPcapBlock<'b>, PcapError<&'b [u8]>>;

/// What the head of a classic file says of all its packets.
#[derive(Clone, Copy, Debug)]
struct Classic {
    frame: ParseFrame,
    /// Bytes in front of a packet.
    head: usize,
    link: u16,
    longest: u32,
    ticks: u32,
    clock: Clock,
    /// The second of the packet before.
    last: u32,
}

/// What a pcapng file says of all packets of an interface.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u16,
    /// No packet has more bytes than this in the file; 0 means no bound.
    snaplen: u32,
    clock: Clock,
}

/// What the ticks of a clock mean.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Clock {
    unit: Unit,
    /// Seconds to add.
    offset: i64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Unit {
    /// So many nanoseconds.
    Nanos(u32),
    /// A nanosecond has so many of them.
    PerNano(u128),
    /// A second has two to this power of them.
    Binary(u8),
}

/// Whether these bytes are a capture.
pub(crate) fn sniff(head: &[u8]) -> Confidence {
    let section = head.starts_with(&SECTION.to_be_bytes())
        && array_at::<4>(head, 8).is_none_or(|order| *order == ORDER.to_le_bytes() || *order == ORDER.to_be_bytes());
    let classic = MAGICS.iter().any(|magic| head.starts_with(magic));
    if section || classic { Confidence::Yes } else { Confidence::No }
}

impl<'a> Packets<'a> {
    /// The packets of a file. Unless it is to be salvaged, reading stops where the lengths make no sense.
    pub(crate) fn new(file: &'a [u8], salvage: bool) -> Result<Self, DecodeError> {
        let error = |code, message: &str| {
            let help = Some("tcpdump, dumpcap and Wireshark write pcap and pcapng".to_owned());
            DecodeError { dialect: "pcap", code, at: 0, message: message.to_owned(), help }
        };
        if sniff(file) == Confidence::No {
            return Err(error("bad-magic", "not a capture: missing pcap or pcapng magic number"));
        }
        let mut about = About::default();
        let (format, at) = if file.starts_with(&SECTION.to_be_bytes()) {
            // Its first block is read like every other one.
            (Format::Pcapng { big: false, interfaces: Vec::new() }, 0)
        } else {
            let (rest, header) =
                parse_pcap_header(file).map_err(|_| error("truncated", "the file header is truncated"))?;
            let precision = if header.is_nanosecond_precision() { "nanoseconds" } else { "microseconds" };
            about.version = format!("{}.{}, {precision}", header.version_major, header.version_minor);
            (Format::Pcap(Classic::new(&header)), file.len() - rest.len())
        };
        Ok(Self { file, at, format, salvage, about })
    }

    /// The facts of the file so far.
    pub(crate) fn about(&self) -> &About {
        &self.about
    }

    /// How far the file has been read.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// The next packet.
    #[inline]
    pub(crate) fn next(&mut self, problems: &mut Problems) -> Option<Packet<'a>> {
        let packet = match self.format {
            Format::Pcap(classic) => self.next_classic(classic, problems),
            Format::Pcapng { .. } => self.next_block(problems),
        }?;
        self.about.packets += 1;
        self.about.timeless += u64::from(packet.ticks.is_none());
        Some(packet)
    }

    fn next_classic(&mut self, classic: Classic, problems: &mut Problems) -> Option<Packet<'a>> {
        loop {
            let rest = self.file.get(self.at..).filter(|rest| !rest.is_empty())?;
            let trouble = match (classic.frame)(rest) {
                Ok((_, frame)) if frame.caplen <= classic.longest => {
                    let at = self.at + classic.head;
                    self.at = at + frame.data.len();
                    if let Format::Pcap(Classic { last, .. }) = &mut self.format {
                        *last = frame.ts_sec;
                    }
                    let ticks = u64::from(frame.ts_sec) * u64::from(classic.ticks) + u64::from(frame.ts_usec);
                    let (link, clock) = (classic.link, classic.clock);
                    return Some(Packet { at: at as u64, link, bytes: frame.data, ticks: Some(ticks), clock });
                }
                Ok((_, frame)) => Trouble::Length(frame.caplen),
                Err(_) if rest.len() < classic.head => Trouble::Cut(classic.head - rest.len()),
                Err(error) => match error {
                    pcap_parser::nom::Err::Incomplete(pcap_parser::nom::Needed::Size(missing)) => {
                        Trouble::Cut(missing.get())
                    }
                    _ => Trouble::Cut(1),
                },
            };
            let next = |at| classic.plausible(self.file, at);
            self.at = self.damage(trouble, next, problems);
        }
    }

    #[inline]
    fn next_block(&mut self, problems: &mut Problems) -> Option<Packet<'a>> {
        loop {
            let rest = self.file.get(self.at..).filter(|rest| !rest.is_empty())?;
            match Block::parse(rest, self.big()) {
                Ok(block) => {
                    let at = self.at;
                    self.at += block.length;
                    if let Some(packet) = self.block(&block, at, problems) {
                        return Some(packet);
                    }
                }
                Err(trouble) => {
                    let big = self.big();
                    let next = |at| {
                        let rest = self.file.get(at..).unwrap_or_default();
                        Block::parse(rest, big).is_ok_and(|block| KNOWN.contains(&block.kind))
                    };
                    self.at = self.damage(trouble, next, problems);
                }
            }
        }
    }

    fn big(&self) -> bool {
        matches!(self.format, Format::Pcapng { big: true, .. })
    }

    /// Takes what a block says; the packet, if it is one.
    #[inline]
    fn block(&mut self, block: &Block<'a>, at: usize, problems: &mut Problems) -> Option<Packet<'a>> {
        let Format::Pcapng { big, interfaces } = &mut self.format else { return None };
        let skipped = |message: String| {
            Problem::new(Severity::Damage, "bad-block", at as u64, block.length as u64, message + "; skipped")
        };
        match block.kind {
            ENHANCED | OBSOLETE => match block.packet(*big, interfaces, at) {
                Ok(packet) => return Some(packet),
                Err(message) => problems.push(skipped(message)),
            },
            SIMPLE => {
                let parse = if *big { parse_simplepacketblock_be } else { parse_simplepacketblock_le };
                let (Ok((_, simple)), Some(interface)) = (parse(block.bytes), interfaces.first()) else {
                    problems.push(skipped("a simple packet block has no interface or length".to_owned()));
                    return None;
                };
                // The data end with padding, which only these two lengths show.
                let bound = if interface.snaplen == 0 { u32::MAX } else { interface.snaplen };
                let length = simple.origlen.min(bound) as usize;
                let bytes = simple.data.get(..length).unwrap_or(simple.data);
                let at = (at + SIMPLE_HEAD) as u64;
                return Some(Packet { at, link: interface.link, bytes, ticks: None, clock: interface.clock });
            }
            INTERFACE => match Interface::parse(block, *big) {
                // The number of an interface is its place, so an invalid one takes a place too.
                Some(interface) => interfaces.push(interface),
                None => {
                    interfaces.push(Interface { link: u16::MAX, snaplen: 0, clock: Clock::micros() });
                    problems.push(skipped("invalid interface description".to_owned()));
                }
            },
            SECTION => {
                interfaces.clear();
                *big = block.big;
                match parse_sectionheaderblock(block.bytes) {
                    Ok((_, section)) if block.length <= LONGEST_OPTIONS => {
                        let (major, minor) = (section.major_version, section.minor_version);
                        self.about.version = format!("pcapng {major}.{minor}");
                        if let Some(Ok(application)) = section.shb_userappl() {
                            self.about.application = Some(application.to_owned());
                        }
                    }
                    _ => problems.push(skipped("invalid section header".to_owned())),
                }
            }
            _ => {}
        }
        None
    }

    /// Reports damage at the current place; returns where to go on.
    #[cold]
    fn damage(&self, trouble: Trouble, plausible: impl Fn(usize) -> bool, problems: &mut Problems) -> usize {
        let end = self.file.len();
        let next = if self.salvage { (self.at + 1..end).find(|at| plausible(*at)).unwrap_or(end) } else { end };
        let lost = next - self.at;
        let (code, what) = match trouble {
            Trouble::Cut(missing) if next == end => {
                ("truncated", format!("the file is truncated: the last packet needs {missing} more bytes"))
            }
            Trouble::Cut(missing) => ("bad-length", format!("a packet is {missing} bytes longer than the file")),
            Trouble::Length(length) => ("bad-length", format!("invalid length of {length} bytes")),
            Trouble::Lengths(front, back) => {
                ("bad-length", format!("a block has the length {front} at its start and {back} at its end"))
            }
        };
        let cost = if lost == 0 { String::new() } else { format!("; skipped {lost} bytes") };
        problems.push(Problem::new(Severity::Damage, code, self.at as u64, lost as u64, what + &cost));
        next
    }
}

/// Why the next packet cannot be found.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    /// The file ends so many bytes early.
    Cut(usize),
    /// No packet is that long.
    Length(u32),
    /// The length in front of a block and the one behind it.
    Lengths(u32, u32),
}

impl Classic {
    fn new(header: &PcapHeader) -> Self {
        let nanos = header.is_nanosecond_precision();
        let (frame, head): (ParseFrame, _) = if header.is_modified_format() {
            (parse_pcap_frame_modified, CLASSIC_HEAD + 8)
        } else if header.is_bigendian() {
            (parse_pcap_frame_be, CLASSIC_HEAD)
        } else {
            (parse_pcap_frame, CLASSIC_HEAD)
        };
        let [_, _, high, low] = header.network.0.to_be_bytes();
        Self {
            frame,
            head,
            // The upper bits say whether there are checksums behind frames.
            link: u16::from_be_bytes([high, low]),
            longest: header.snaplen.clamp(LONGEST, LONGEST << 9),
            ticks: if nanos { 1_000_000_000 } else { 1_000_000 },
            clock: Clock { unit: Unit::Nanos(if nanos { 1 } else { 1000 }), offset: 0 },
            last: 0,
        }
    }

    /// Whether two packets may begin here, one behind the other, not long after or before the last good one.
    fn plausible(&self, file: &[u8], at: usize) -> bool {
        let follows = |rest| match (self.frame)(rest) {
            Ok((rest, frame)) => {
                let likely = frame.caplen <= self.longest
                    && frame.caplen <= frame.origlen
                    && frame.ts_usec < self.ticks
                    && frame.ts_sec.abs_diff(self.last) < 86_400;
                likely.then_some(rest)
            }
            Err(_) => None,
        };
        let rest = file.get(at..).and_then(follows);
        rest.is_some_and(|rest| rest.is_empty() || follows(rest).is_some())
    }
}

/// A block of a pcapng file, whole.
#[derive(Clone, Copy, Debug)]
struct Block<'a> {
    kind: u32,
    length: usize,
    /// Everything from its type to the length at its end.
    bytes: &'a [u8],
    /// The byte order, which a section header brings along.
    big: bool,
}

impl<'a> Block<'a> {
    /// The block at the front.
    #[inline]
    fn parse(rest: &'a [u8], big: bool) -> Result<Self, Trouble> {
        let cut = |needed: usize| Trouble::Cut(needed.saturating_sub(rest.len()).max(1));
        let Some([kind, claim]) = array_at::<8>(rest, 0).map(|head| words(head, big)) else {
            return Err(cut(LEAST_BLOCK));
        };
        // A section header reads the same in both orders, and shows which one is right.
        let (big, claim) = match (kind, array_at::<4>(rest, 8)) {
            (SECTION, None) => return Err(cut(LEAST_BLOCK)),
            (SECTION, Some(order)) => {
                let is_big = *order == ORDER.to_be_bytes();
                (is_big, if is_big == big { claim } else { claim.swap_bytes() })
            }
            _ => (big, claim),
        };
        let length = claim as usize;
        if length < LEAST_BLOCK {
            return Err(Trouble::Length(claim));
        }
        let bytes = rest.get(..length).ok_or_else(|| cut(length))?;
        let back = word(bytes, length - 4, big);
        if back != claim {
            return Err(Trouble::Lengths(claim, back));
        }
        Ok(Self { kind, length, bytes, big })
    }

    /// The packet in an enhanced or obsolete packet block. `pcap_parser` would collect the options of every packet,
    /// of which nothing is wanted, in memory of their own.
    #[inline]
    fn packet(&self, big: bool, interfaces: &[Interface], at: usize) -> Result<Packet<'a>, String> {
        let room = self.bytes.len().checked_sub(ENHANCED_HEAD + 4);
        let (Some(room), Some(head)) = (room, array_at::<20>(self.bytes, 8)) else {
            return Err("a packet block is too short for its header".to_owned());
        };
        let [interface, high, low, caplen, _] = words(head, big);
        let number = match self.kind {
            // Here the second half counts dropped packets.
            OBSOLETE if big => interface >> 16,
            OBSOLETE => interface & 0xffff,
            _ => interface,
        };
        let place = usize::try_from(number).ok();
        let interface = place.and_then(|place| interfaces.get(place));
        let interface =
            interface.ok_or_else(|| format!("a packet belongs to interface {number}, which has no description"))?;
        let bytes = self.bytes.get(ENHANCED_HEAD..ENHANCED_HEAD + room.min(caplen as usize)).unwrap_or_default();
        if bytes.len() != caplen as usize {
            return Err(format!("a packet of {caplen} bytes is in a block of {room} bytes"));
        }
        let ticks = u64::from(high) << 32 | u64::from(low);
        let at = (at + ENHANCED_HEAD) as u64;
        Ok(Packet { at, link: interface.link, bytes, ticks: Some(ticks), clock: interface.clock })
    }
}

impl Interface {
    fn parse(block: &Block<'_>, big: bool) -> Option<Self> {
        // Options are collected; nobody needs a megabyte of them.
        let bytes = Some(block.bytes).filter(|bytes| bytes.len() <= LONGEST_OPTIONS)?;
        let parse = if big { parse_interfacedescriptionblock_be } else { parse_interfacedescriptionblock_le };
        let (_, found) = parse(bytes).ok()?;
        let option = |code| found.options.iter().find(|option: &&PcapNGOption<'_>| option.code == code);
        // `pcap_parser` reads the offset as little-endian in every file, and knows no powers of two.
        let offset = option(OptionCode::IfTsoffset).and_then(|option| array_at::<8>(option.value(), 0));
        let offset = offset.map_or(0, |b| if big { i64::from_be_bytes(*b) } else { i64::from_le_bytes(*b) });
        let unit = match found.if_tsresol {
            power @ 0..=9 => Unit::Nanos(10_u32.pow(9 - u32::from(power))),
            power @ 10..0x80 => Unit::PerNano(10_u128.checked_pow(u32::from(power) - 9).unwrap_or(u128::MAX)),
            power => Unit::Binary(power & 0x7f),
        };
        let link = u16::try_from(found.linktype.0).ok()?;
        Some(Self { link, snaplen: found.snaplen, clock: Clock { unit, offset } })
    }
}

impl Clock {
    fn micros() -> Self {
        Self { unit: Unit::Nanos(1000), offset: 0 }
    }

    fn time(self, ticks: u64) -> Time {
        let ticks = i128::from(ticks);
        let ns = match self.unit {
            Unit::Nanos(ns) => ticks * i128::from(ns),
            Unit::PerNano(count) => i128::try_from(count).map_or(0, |count| ticks / count),
            Unit::Binary(power) => (ticks * 1_000_000_000) >> power,
        };
        let ns = ns + i128::from(self.offset) * 1_000_000_000;
        match i64::try_from(ns) {
            Ok(ns) => Time::from_nanos(ns),
            Err(_) if ns < 0 => Time::MIN,
            Err(_) => Time::MAX,
        }
    }
}

/// The words of some bytes.
#[inline]
fn words<const BYTES: usize, const WORDS: usize>(bytes: &[u8; BYTES], big: bool) -> [u32; WORDS] {
    std::array::from_fn(|place| word(bytes, place * 4, big))
}

/// The word at a place, 0 if it is not all there.
#[inline]
fn word(bytes: &[u8], at: usize, big: bool) -> u32 {
    array_at(bytes, at).map_or(0, |b| if big { u32::from_be_bytes(*b) } else { u32::from_le_bytes(*b) })
}

/// The first bytes of classic files: both orders, microseconds and nanoseconds, and the "modified" one.
const MAGICS: [[u8; 4]; 5] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x34, 0xcd, 0xb2, 0xa1],
];
/// Bytes in front of a packet in a classic file.
const CLASSIC_HEAD: usize = 16;
/// No packet of a network is longer; tcpdump's own bound.
const LONGEST: u32 = 256 << 10;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE: u32 = 2;
const SIMPLE: u32 = 3;
const ENHANCED: u32 = 6;
/// Blocks at which reading can go on behind damage; 4 and 5 are names and statistics.
const KNOWN: [u32; 7] = [SECTION, INTERFACE, OBSOLETE, SIMPLE, 4, 5, ENHANCED];
/// The word by which a section shows its byte order.
const ORDER: u32 = 0x1a2b_3c4d;
const LEAST_BLOCK: usize = 12;
/// Bytes of a block in front of its packet.
const ENHANCED_HEAD: usize = 28;
const SIMPLE_HEAD: usize = 12;
const LONGEST_OPTIONS: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::{Clock, Unit};
    use logpose_core::Time;

    #[test]
    fn ticks_of_every_unit_are_nanoseconds() {
        let check = |unit, offset, ticks, ns| {
            assert_eq!(Clock { unit, offset }.time(ticks), Time::from_nanos(ns), "{unit:?} {offset} {ticks}");
        };
        check(Unit::Nanos(1000), 0, 1_700_000_000_123_456, 1_700_000_000_123_456_000);
        check(Unit::Nanos(1_000_000_000), -5, 7, 2_000_000_000);
        check(Unit::PerNano(1000), 0, 1_999, 1);
        check(Unit::PerNano(u128::MAX), 1, u64::MAX, 1_000_000_000);
        check(Unit::Binary(32), 0, 3 << 31, 1_500_000_000);
        check(Unit::Binary(127), 0, u64::MAX, 0);
        check(Unit::Nanos(1), i64::MAX, u64::MAX, i64::MAX);
        check(Unit::Nanos(1), i64::MIN, 0, i64::MIN);
    }
}
