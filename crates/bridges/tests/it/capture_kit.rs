//! Captures, made byte by byte.

use std::net::{IpAddr, Ipv4Addr};

use logpose_core::{FileDialect, Layout, Lookup, Numbers, Problems, ReadOptions, Type};

use crate::{Call, Recording, bridge};

pub(crate) const STATION: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 2, 54, 5));
pub(crate) const ROBOT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 2, 54, 2));
pub(crate) const OTHER_ROBOT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 3, 16, 2));
/// When captures begin, in Unix nanoseconds.
pub(crate) const START: i64 = 1_700_000_000_000_000_000;
const MS: i64 = 1_000_000;

/// Packets with their times, from the IP header on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traffic(pub(crate) Vec<(i64, Vec<u8>)>);

impl Traffic {
    pub(crate) fn udp(&mut self, ms: i64, from: (IpAddr, u16), to: (IpAddr, u16), payload: &[u8]) -> &mut Self {
        self.0.push((START + ms * MS, ip(from.0, to.0, 17, &udp(from.1, to.1, payload))));
        self
    }

    pub(crate) fn control(&mut self, ms: i64, datagram: &[u8]) -> &mut Self {
        self.udp(ms, (STATION, 50_000), (ROBOT, 1110), datagram)
    }

    pub(crate) fn status(&mut self, ms: i64, datagram: &[u8]) -> &mut Self {
        self.udp(ms, (ROBOT, 40_123), (STATION, 1150), datagram)
    }

    pub(crate) fn tcp(&mut self, ms: i64, segment: &Tcp<'_>) -> &mut Self {
        self.0.push((START + ms * MS, segment.packet()));
        self
    }

    /// A link of a second: a control packet every 20 ms, enabled from the tenth on, and its reply 2 ms later.
    pub(crate) fn link(station: IpAddr, robot: IpAddr) -> Self {
        let mut traffic = Self::default();
        for n in 0..50_u8 {
            let at = i64::from(n) * 20;
            let bits = if n < 10 { 0 } else { 4 };
            traffic.udp(at, (station, 50_000), (robot, 1110), &[0, n + 1, 1, bits, 0x10, 4]);
            let status = [0, n + 1, 1, bits, 0x31 + bits / 4, 12, n, 0];
            traffic.udp(at + 2, (robot, 40_123), (station, 1150), &status);
        }
        traffic
    }

    /// Both in the order of their times.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self.0.sort_by_key(|(time, _)| *time);
        self
    }

    /// The packets as frames of a link type.
    pub(crate) fn frames(&self, wrap: Wrap) -> Vec<(i64, Vec<u8>)> {
        self.0.iter().map(|(time, packet)| (*time, wrap(packet))).collect()
    }

    /// A plain capture of it.
    pub(crate) fn capture(&self) -> Vec<u8> {
        pcap(&Classic::default(), &self.frames(ethernet))
    }
}

/// A TCP segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tcp<'a> {
    pub(crate) from: (IpAddr, u16),
    pub(crate) to: (IpAddr, u16),
    pub(crate) sequence: u32,
    pub(crate) acknowledged: u32,
    /// FIN 1, SYN 2, RST 4, ACK 16.
    pub(crate) flags: u8,
    pub(crate) payload: &'a [u8],
}

impl Tcp<'_> {
    pub(crate) fn packet(&self) -> Vec<u8> {
        let mut segment = [self.from.1.to_be_bytes(), self.to.1.to_be_bytes()].concat();
        segment.extend(self.sequence.to_be_bytes());
        segment.extend(self.acknowledged.to_be_bytes());
        segment.extend([0x60, self.flags, 0xff, 0xff, 0, 0, 0, 0, 1, 1, 1, 1]);
        segment.extend(self.payload);
        ip(self.from.0, self.to.0, 6, &segment)
    }
}

pub(crate) fn udp(from: u16, to: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = [from.to_be_bytes(), to.to_be_bytes()].concat();
    out.extend((payload.len() as u16 + 8).to_be_bytes());
    out.extend([0, 0]);
    out.extend(payload);
    out
}

pub(crate) fn ip(from: IpAddr, to: IpAddr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let mut out = vec![0x45, 0];
            out.extend((payload.len() as u16 + 20).to_be_bytes());
            out.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
            out.extend(from.octets().into_iter().chain(to.octets()));
            out.extend(payload);
            out
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let mut out = vec![0x60, 0, 0, 0];
            out.extend((payload.len() as u16).to_be_bytes());
            out.extend([protocol, 64]);
            out.extend(from.octets().into_iter().chain(to.octets()));
            out.extend(payload);
            out
        }
        _ => panic!("one family"),
    }
}

/// An Ethernet frame, padded to the 60 bytes that it must have.
pub(crate) fn ethernet(packet: &[u8]) -> Vec<u8> {
    let mut out = [&[2; 12][..], &ether_type(packet), packet].concat();
    out.resize(out.len().max(60), 0xee);
    out
}

pub(crate) fn vlan(packet: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &[0x81, 0, 0, 7], &ether_type(packet), packet].concat()
}

pub(crate) fn double_vlan(packet: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 8], &ether_type(packet), packet].concat()
}

pub(crate) fn cooked(packet: &[u8]) -> Vec<u8> {
    [&[0, 4, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0][..], &ether_type(packet), packet].concat()
}

pub(crate) fn cooked2(packet: &[u8]) -> Vec<u8> {
    [&ether_type(packet)[..], &[0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 2, 2, 2, 2, 2, 2, 0, 0], packet].concat()
}

pub(crate) fn raw(packet: &[u8]) -> Vec<u8> {
    packet.to_vec()
}

pub(crate) fn null_little(packet: &[u8]) -> Vec<u8> {
    [&[if is_v4(packet) { 2 } else { 30 }, 0, 0, 0][..], packet].concat()
}

pub(crate) fn null_big(packet: &[u8]) -> Vec<u8> {
    [&[0, 0, 0, if is_v4(packet) { 2 } else { 24 }][..], packet].concat()
}

/// Makes a frame of a packet.
pub(crate) type Wrap = fn(&[u8]) -> Vec<u8>;

/// Every link type that is understood, and what its frames look like.
pub(crate) const LINK_TYPES: [(u16, Wrap); 13] = [
    (1, ethernet),
    (1, vlan),
    (1, double_vlan),
    (113, cooked),
    (276, cooked2),
    (101, raw),
    (12, raw),
    (14, raw),
    (228, raw),
    (229, raw),
    (0, null_little),
    (0, null_big),
    (108, null_big),
];

fn is_v4(packet: &[u8]) -> bool {
    packet[0] >> 4 == 4
}

fn ether_type(packet: &[u8]) -> [u8; 2] {
    if is_v4(packet) { [8, 0] } else { [0x86, 0xdd] }
}

/// A classic file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classic {
    pub(crate) big: bool,
    pub(crate) nanos: bool,
    pub(crate) modified: bool,
    pub(crate) link: u16,
    /// Frames are cut to this length.
    pub(crate) snaplen: usize,
}

impl Default for Classic {
    fn default() -> Self {
        Self { big: false, nanos: false, modified: false, link: 1, snaplen: 262_144 }
    }
}

fn word(big: bool, n: usize) -> [u8; 4] {
    let n = n as u32;
    if big { n.to_be_bytes() } else { n.to_le_bytes() }
}

fn half(big: bool, n: u16) -> [u8; 2] {
    if big { n.to_be_bytes() } else { n.to_le_bytes() }
}

pub(crate) fn pcap(how: &Classic, frames: &[(i64, Vec<u8>)]) -> Vec<u8> {
    let Classic { big, nanos, modified, link, snaplen } = *how;
    let magic = if modified {
        0xa1b2_cd34
    } else if nanos {
        0xa1b2_3c4d
    } else {
        0xa1b2_c3d4
    };
    let mut out = word(big, magic).to_vec();
    out.extend([half(big, 2), half(big, 4)].concat());
    for n in [0, 0, snaplen, usize::from(link)] {
        out.extend(word(big, n));
    }
    for (time, frame) in frames {
        let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
        let rest = if nanos { rest } else { rest / 1000 };
        let kept = &frame[..frame.len().min(snaplen)];
        for n in [seconds as usize, rest as usize, kept.len(), frame.len()] {
            out.extend(word(big, n));
        }
        if modified {
            out.extend([0; 8]);
        }
        out.extend(kept);
    }
    out
}

/// A pcapng file under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pcapng {
    pub(crate) big: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Pcapng {
    /// A file with a section in this byte order.
    pub(crate) fn new(big: bool) -> Self {
        let mut new = Self { big, bytes: Vec::new() };
        new.section(big);
        new
    }

    pub(crate) fn block(&mut self, kind: u32, body: &[u8]) -> &mut Self {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = word(self.big, body.len() + 12);
        self.bytes.extend(word(self.big, kind as usize));
        self.bytes.extend([&length[..], &body, &length].concat());
        self
    }

    pub(crate) fn section(&mut self, big: bool) -> &mut Self {
        self.big = big;
        let mut body = word(big, 0x1a2b_3c4d).to_vec();
        body.extend([half(big, 1), half(big, 0)].concat());
        body.extend([0xff; 8]);
        body.extend(self.option(4, b"testpcap 1.0"));
        self.block(0x0a0d_0d0a, &body)
    }

    pub(crate) fn option(&self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut out = [half(self.big, code), half(self.big, value.len() as u16)].concat();
        out.extend(value);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    pub(crate) fn interface(&mut self, link: u16, snaplen: usize, options: &[(u16, &[u8])]) -> &mut Self {
        let mut body = [half(self.big, link), half(self.big, 0)].concat();
        body.extend(word(self.big, snaplen));
        for (code, value) in options {
            body.extend(self.option(*code, value));
        }
        self.block(1, &body)
    }

    pub(crate) fn enhanced(&mut self, interface: usize, ticks: u64, frame: &[u8]) -> &mut Self {
        let mut body = Vec::new();
        for n in [interface, (ticks >> 32) as usize, ticks as u32 as usize, frame.len(), frame.len()] {
            body.extend(word(self.big, n));
        }
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        // Flags, as Wireshark writes them.
        body.extend(self.option(2, &[0, 0, 0, 1]));
        body.extend(self.option(0, &[]));
        self.block(6, &body)
    }

    /// Frames of the first interface, which counts microseconds.
    pub(crate) fn all(&mut self, frames: &[(i64, Vec<u8>)]) {
        for (time, frame) in frames {
            self.enhanced(0, (time / 1000) as u64, frame);
        }
    }

    pub(crate) fn obsolete(&mut self, interface: u16, ticks: u64, frame: &[u8]) -> &mut Self {
        let mut body = [half(self.big, interface), half(self.big, 9)].concat();
        for n in [(ticks >> 32) as usize, ticks as u32 as usize, frame.len(), frame.len()] {
            body.extend(word(self.big, n));
        }
        body.extend(frame);
        self.block(2, &body)
    }

    pub(crate) fn simple(&mut self, frame: &[u8], snaplen: usize) -> &mut Self {
        let mut body = word(self.big, frame.len()).to_vec();
        body.extend(&frame[..frame.len().min(snaplen)]);
        self.block(3, &body)
    }
}

/// All of a capture: what a sink receives of it, and its problems as `code byte`.
pub(crate) struct Seen {
    pub(crate) calls: Vec<Call>,
    pub(crate) problems: Problems,
    pub(crate) facts: Vec<(String, String)>,
}

pub(crate) fn see(file: &[u8]) -> Seen {
    see_with(file, &ReadOptions::default())
}

pub(crate) fn see_with(file: &[u8], read: &ReadOptions<'_>) -> Seen {
    let pcap = bridge("pcap");
    let (mut store, mut problems) = (Vec::new(), Problems::default());
    pcap.unpack(file, read, &mut store, &mut problems).unwrap();
    let index = pcap.index(&store, read, &mut problems).unwrap();
    let mut calls = Recording::default();
    pcap.replay(&store, &index, &Lookup::default(), &mut calls).unwrap();
    let facts = index.facts.iter().map(|fact| (fact.key.to_owned(), fact.value.clone())).collect();
    Seen { calls: calls.0, problems, facts }
}

/// Times and payloads.
pub(crate) type Samples = Vec<(i64, Vec<u8>)>;

impl Seen {
    pub(crate) fn names(&self) -> Vec<&str> {
        let channels = self.calls.iter().filter_map(|call| match call {
            Call::Channel(_, channel) => Some(channel.name.as_str()),
            _ => None,
        });
        channels.collect()
    }

    /// Times since the start of the capture, in microseconds, and payloads of a channel.
    pub(crate) fn samples(&self, name: &str) -> Samples {
        let id = self.calls.iter().find_map(|call| match call {
            Call::Channel(id, channel) if channel.name == name => Some(*id),
            _ => None,
        });
        let Some(id) = id else { return Vec::new() };
        let sample = |call: &Call| match call {
            Call::Sample(channel, ns, _, payload) if *channel == id => Some((ns / 1000, payload.clone())),
            _ => None,
        };
        self.calls.iter().filter_map(sample).collect()
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        self.samples(name).into_iter().map(|(_, payload)| String::from_utf8(payload).unwrap()).collect()
    }

    pub(crate) fn doubles(&self, name: &str) -> Vec<f64> {
        let double =
            |(_, payload): (i64, Vec<u8>)| Numbers::<f64>::new(&payload, Layout::Little).unwrap().iter().next();
        self.samples(name).into_iter().filter_map(double).collect()
    }

    /// Times in milliseconds and values of a boolean channel.
    pub(crate) fn flags(&self, name: &str) -> Vec<(i64, bool)> {
        self.samples(name).into_iter().map(|(us, payload)| (us / 1000, payload == [1])).collect()
    }

    pub(crate) fn problem_codes(&self) -> Vec<&'static str> {
        self.problems.list().iter().map(|problem| problem.code).collect()
    }

    pub(crate) fn fact(&self, key: &str) -> &str {
        self.facts.iter().find(|(known, _)| known == key).map_or("", |(_, value)| value)
    }

    /// Channels and samples with their names instead of numbers, each channel on its own.
    pub(crate) fn by_name(&self) -> Vec<(String, Type, Samples)> {
        let mut all: Vec<_> = self
            .calls
            .iter()
            .filter_map(|call| match call {
                Call::Channel(_, channel) => Some((channel.name.clone(), channel.ty(), self.samples(&channel.name))),
                _ => None,
            })
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }
}

/// A TCP connection, written from both sides in segments of the test's choice.
pub(crate) struct Conversation {
    pub(crate) client: (IpAddr, u16),
    pub(crate) server: (IpAddr, u16),
    /// The first numbers of client and server.
    pub(crate) begins: (u32, u32),
}

impl Conversation {
    pub(crate) fn side(begins: (u32, u32)) -> Self {
        Self { client: (STATION, 51_000), server: (ROBOT, 1740), begins }
    }

    pub(crate) fn open(&self, ms: i64, traffic: &mut Traffic) {
        let (client, server) = self.begins;
        let Self { client: c, server: s, .. } = *self;
        traffic.tcp(ms, &Tcp { from: c, to: s, sequence: client, acknowledged: 0, flags: 2, payload: &[] });
        let acknowledged = client.wrapping_add(1);
        traffic.tcp(ms, &Tcp { from: s, to: c, sequence: server, acknowledged, flags: 18, payload: &[] });
        self.client(ms, 0, &[], traffic);
    }

    /// Bytes from a place of the client's stream on.
    pub(crate) fn client(&self, ms: i64, place: usize, payload: &[u8], traffic: &mut Traffic) {
        let (from, to) = (self.client, self.server);
        let sequence = self.begins.0.wrapping_add(1).wrapping_add(place as u32);
        let acknowledged = self.begins.1.wrapping_add(1);
        traffic.tcp(ms, &Tcp { from, to, sequence, acknowledged, flags: 24, payload });
    }

    /// The same of the server.
    pub(crate) fn server(&self, ms: i64, place: usize, payload: &[u8], traffic: &mut Traffic) {
        let (from, to) = (self.server, self.client);
        let sequence = self.begins.1.wrapping_add(1).wrapping_add(place as u32);
        let acknowledged = self.begins.0.wrapping_add(1);
        traffic.tcp(ms, &Tcp { from, to, sequence, acknowledged, flags: 24, payload });
    }

    /// The client says how much of the server's stream it has.
    pub(crate) fn client_has(&self, ms: i64, place: usize, traffic: &mut Traffic) {
        let (from, to) = (self.client, self.server);
        let acknowledged = self.begins.1.wrapping_add(1).wrapping_add(place as u32);
        let sequence = self.begins.0.wrapping_add(1);
        traffic.tcp(ms, &Tcp { from, to, sequence, acknowledged, flags: 16, payload: &[] });
    }
}

/// A console line as the robot sends it.
pub(crate) fn console(number: u16, text: &str) -> Vec<u8> {
    let mut out = (text.len() as u16 + 7).to_be_bytes().to_vec();
    out.push(0x0c);
    out.extend(f32::from(number).to_be_bytes());
    out.extend(number.to_be_bytes());
    out.extend(text.as_bytes());
    out
}
