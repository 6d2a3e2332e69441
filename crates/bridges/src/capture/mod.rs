//! Network captures: what passed between a Driver Station and a robot, and RLOG, out of pcap and pcapng files.
//!
//! ```text
//! file ──blocks──▶ packets ──frames──▶ datagrams, segments ──flows──▶ samples
//!                                          reassembly, framer ──┘
//! ```
//!
//! Checksums are not looked at: network cards fill them in behind the capture. Fragments are not put together: no
//! packet of a Driver Station is so large that it is fragmented.

mod blocks;
mod flows;
mod framer;
mod frames;
pub(crate) mod fuzzing;
mod names;
mod reassembly;
mod rlog;

use std::hint::black_box;

use logpose_core::{
    Channel, ChannelId, Problem, Problems, ReadOptions, Sample, Severity, Sink, SinkError, StreamError, Time,
};

pub(crate) use blocks::sniff;

use crate::Header;
use blocks::Packets;
use flows::{Flows, Found};
use frames::{Frame, RLOG, Unused, is_known, link_name, look};

/// Pushes the samples of a capture into a sink.
pub(crate) fn read(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    let mut packets = Packets::new(file, read.salvage)?;
    let mut flows = Flows::new(read, sink);
    let mut tally = Tally { start: start(file, read)?, ..Tally::default() };
    let mut clocks_known = false;
    let (mut passed, mut warm) = (0, 0);
    loop {
        if packets.offset() >= warm {
            warm = warm_up(file, packets.offset());
        }
        let Some(packet) = packets.next(flows.problems()) else { break };
        if let Some(stretch) = file.get(passed..packets.offset()).filter(|stretch| stretch.len() >= PASSED) {
            (read.passed)(stretch);
            passed = packets.offset();
        }
        tally.link(packet.link);
        match look(packet.link, packet.bytes) {
            Frame::Unused(unused) => tally.unused(unused),
            Frame::Datagram(datagram) if datagram.missing > 0 => {
                let (port, missing) = (datagram.port, datagram.missing);
                let message = format!("{missing} bytes of a datagram to port {port} were not captured; skipped");
                flows.problems().push(Problem::new(Severity::Damage, "cut-packet", packet.at, 0, message));
            }
            Frame::Datagram(datagram) => {
                let time = tally.time(packet.time());
                flows.datagram(&packet, time, &datagram)?;
            }
            Frame::Segment(segment) => {
                if !clocks_known && (segment.source.1 == RLOG || segment.target.1 == RLOG) {
                    // An RLOG stream has the robot's time. How far that is from the time of the capture is only known
                    // when the whole stream has been seen.
                    flows.set_clocks(clocks(file, read)?);
                    clocks_known = true;
                }
                if segment.cut {
                    let message = "bytes of a TCP segment were not captured";
                    flows.problems().push(Problem::new(Severity::Damage, "cut-packet", packet.at, 0, message));
                }
                let time = tally.time(packet.time());
                flows.segment(&packet, time, &segment)?;
            }
            Frame::Fragment => {
                tally.unused(Unused::Fragment);
                let message = "skipped an IP fragment; fragments are not reassembled";
                flows.problems().push(Problem::new(Severity::Damage, "fragment", packet.at, 0, message));
            }
            Frame::Headless => {
                let message = "packet headers are truncated; skipped";
                flows.problems().push(Problem::new(Severity::Damage, "cut-packet", packet.at, 0, message));
            }
        }
    }
    let found = flows.finish()?;
    Ok(tally.header(&packets, found, problems))
}

/// Touches the next stretch of a file and returns where it ends. The heads of packets are a chain, of which each link
/// must come from memory before the next is known; a stretch that is read from end to end comes much faster.
fn warm_up(file: &[u8], from: usize) -> usize {
    let stretch = file.get(from..).unwrap_or_default();
    let stretch = stretch.get(..STRETCH).unwrap_or(stretch);
    black_box(stretch.iter().step_by(CACHE_LINE).fold(0, |all, byte| all ^ byte));
    from + STRETCH
}

/// The time of the first packet that has one, from which all times are counted.
fn start(file: &[u8], read: &ReadOptions<'_>) -> Result<Time, StreamError> {
    let (mut packets, mut problems) = (Packets::new(file, read.salvage)?, Problems::default());
    while let Some(packet) = packets.next(&mut problems) {
        if let Some(time) = packet.time().filter(|time| !is_beyond(*time)) {
            return Ok(time);
        }
    }
    Ok(Time::ZERO)
}

/// Whether a time is one that cannot be said.
fn is_beyond(time: Time) -> bool {
    time == Time::MIN || time == Time::MAX
}

/// What to add to the times of each RLOG stream to get the times of the capture, in the order in which they begin.
fn clocks(file: &[u8], read: &ReadOptions<'_>) -> Result<Vec<i64>, StreamError> {
    let mut packets = Packets::new(file, read.salvage)?;
    let mut nowhere = Nowhere;
    let mut flows = Flows::new(read, &mut nowhere);
    let mut tally = Tally { start: start(file, read)?, ..Tally::default() };
    while let Some(packet) = packets.next(flows.problems()) {
        if let Frame::Segment(segment) = look(packet.link, packet.bytes)
            && (segment.source.1 == RLOG || segment.target.1 == RLOG)
        {
            let time = tally.time(packet.time());
            flows.segment(&packet, time, &segment)?;
        }
    }
    Ok(flows.finish()?.clocks)
}

/// A sink that keeps nothing.
struct Nowhere;

impl Sink for Nowhere {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, _: &[Sample<'_>]) -> Result<(), SinkError> {
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // The second reading reports them.
    }
}

/// What was counted on the way.
#[derive(Debug, Default)]
struct Tally {
    /// The moment that is time zero.
    start: Time,
    /// Packets of each link type.
    links: Vec<(u16, u64)>,
    unused: [u64; Unused::COUNT],
    /// The time of the last packet of interest.
    last: Option<Time>,
    /// How often such a packet was earlier than the one before, and by how much at most, in nanoseconds.
    back: u64,
    farthest: i64,
    /// Packets whose time cannot be said.
    beyond: u64,
}

impl Tally {
    #[inline]
    fn link(&mut self, link: u16) {
        match self.links.iter_mut().find(|(known, _)| *known == link) {
            Some((_, count)) => *count += 1,
            None => self.links.push((link, 1)),
        }
    }

    fn unused(&mut self, unused: Unused) {
        if let Some(count) = self.unused.get_mut(unused as usize) {
            *count += 1;
        }
    }

    /// The time of a packet, counted from the first; one without a time has that of the packet before.
    fn time(&mut self, time: Option<Time>) -> Time {
        let last = self.last.unwrap_or(Time::ZERO);
        self.beyond += u64::from(time.is_some_and(is_beyond));
        let time = time.map_or(last, |time| Time::from_nanos(time.since(self.start)));
        if self.last.is_some() && time < last {
            self.back += 1;
            self.farthest = self.farthest.max(last.since(time));
        }
        self.last = Some(time);
        time
    }

    /// What the file has to say besides samples.
    fn header(self, packets: &Packets<'_>, found: Found, problems: &mut Problems) -> Header {
        let about = packets.about();
        problems.append(found.problems);
        for (link, count) in self.links.iter().filter(|(link, _)| !is_known(*link)) {
            let name = link_name(*link);
            let message = format!("skipped {count} packets of unknown link type {link} ({name})");
            problems.push(Problem::general(Severity::Warning, "link-type", message));
        }
        if found.links.is_empty() && found.rlogs.is_empty() {
            let message = format!("no Driver Station and no RLOG traffic in {} packets", about.packets);
            problems.push(Problem::general(Severity::Warning, "no-traffic", message));
        }
        if about.timeless > 0 {
            let message = format!("{} packets have no timestamp and got that of the packet before", about.timeless);
            problems.push(Problem::general(Severity::Warning, "no-time", message));
        }
        if self.beyond > 0 {
            let message = format!("{} packets have timestamps beyond ±292 years, which were clamped", self.beyond);
            problems.push(Problem::general(Severity::Warning, "bad-time", message));
        }
        if self.back > 0 {
            let (count, most) = (self.back, Time::from_nanos(self.farthest));
            let message = format!("{count} packets have earlier timestamps than the one before, by up to {most} s");
            problems.push(Problem::general(Severity::Note, "time-step-back", message));
        }
        let unused = Unused::ALL.iter().zip(self.unused).filter(|(_, count)| *count > 0);
        let foreign = Some(("TCP 5800 without RLOG", found.foreign)).filter(|(_, count)| *count > 0);
        let unused = unused.map(|((_, name), count)| (*name, count)).chain(foreign);
        let unused: Vec<String> = unused.map(|(name, count)| format!("{name} {count}")).collect();
        let links: Vec<String> = self.links.iter().map(|(link, _)| link_name(*link)).collect();
        let facts = [
            ("version", about.version.clone()),
            ("application", about.application.clone().unwrap_or_default()),
            ("link_types", links.join(", ")),
            ("packets", about.packets.to_string()),
            ("links", found.links.join(", ")),
            ("rlog_streams", found.rlogs.join(", ")),
            ("unused_packets", unused.join(", ")),
        ];
        let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
        Header {
            origin: "pcap".to_owned(),
            facts: facts.map(|(key, value)| (key.to_owned(), value)).collect(),
            epoch_ns: Some(self.start.nanos()),
            channels: found.channels,
        }
    }
}

/// What is touched at a time; it fits into the cache of a core.
const STRETCH: usize = 256 << 10;
const CACHE_LINE: usize = 64;
/// The bytes after which the system is advised to drop the pages that were read.
const PASSED: usize = 16 << 20;
