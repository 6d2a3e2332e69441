//! From a captured packet to a datagram or a segment, or the reason why it is of no use.

use std::net::IpAddr;

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice, ip_number};
use logpose_core::array_at;
use logpose_driverstation::wire;

/// What a packet is to this reader.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Frame<'a> {
    Datagram(Datagram<'a>),
    Segment(Segment<'a>),
    /// The first fragment of something that would be wanted.
    Fragment,
    /// Something wanted whose headers are not whole.
    Headless,
    /// Nothing for us.
    Unused(Unused),
}

/// A datagram for one of the Driver Station's ports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Datagram<'a> {
    pub(crate) source: IpAddr,
    pub(crate) target: IpAddr,
    /// The port it was sent to.
    pub(crate) port: u16,
    /// Its bytes, without the padding of short frames.
    pub(crate) payload: &'a [u8],
    /// How many of its bytes were not captured.
    pub(crate) missing: usize,
}

/// A segment of a TCP connection of one of the ports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Segment<'a> {
    pub(crate) source: (IpAddr, u16),
    pub(crate) target: (IpAddr, u16),
    pub(crate) sequence: u32,
    /// What it says to have received.
    pub(crate) acknowledged: Option<u32>,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
    pub(crate) payload: &'a [u8],
    /// Whether bytes of it were not captured.
    pub(crate) cut: bool,
}

/// What kind of packet is of no use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unused {
    /// UDP to other ports.
    Udp,
    /// TCP of other ports.
    Tcp,
    /// Neither UDP nor TCP.
    OtherIp,
    /// Neither IPv4 nor IPv6, such as ARP.
    NotIp,
    /// A simulator that says it is there.
    Beacon,
    /// Between a Driver Station and a field.
    Field,
    /// A later fragment of anything.
    Fragment,
    /// Too short to say what it is.
    Short,
    /// Of a link type that is not understood.
    Link,
}

impl Unused {
    /// How many kinds there are.
    pub(crate) const COUNT: usize = 9;

    /// All kinds, in the order of their numbers, and a word for each.
    pub(crate) const ALL: [(Self, &'static str); Self::COUNT] = [
        (Self::Udp, "other UDP"),
        (Self::Tcp, "other TCP"),
        (Self::OtherIp, "other IP"),
        (Self::NotIp, "not IP"),
        (Self::Beacon, "simulator beacons (UDP 1135)"),
        (Self::Field, "field (FMS)"),
        (Self::Fragment, "fragments"),
        (Self::Short, "too short"),
        (Self::Link, "unknown link type"),
    ];
}

/// Port of control datagrams.
pub(crate) const CONTROL: u16 = wire::CONTROL_PORT;
/// Port of control datagrams while there is a field.
pub(crate) const CONTROL_FIELD: u16 = wire::FIELD_CONTROL_PORT;
/// Port of status datagrams.
pub(crate) const STATUS: u16 = wire::STATUS_PORT;
/// The robot's port for the Driver Station's TCP connection.
pub(crate) const SIDE: u16 = wire::TCP_PORT;
/// The robot's port for RLOG.
pub(crate) const RLOG: u16 = logpose_rlog::PORT;

/// Looks at a packet.
///
/// Most packets of a capture are of no use. A glance at fixed places says so; only what may be wanted is taken
/// apart with care.
#[inline]
pub(crate) fn look(link: u16, bytes: &[u8]) -> Frame<'_> {
    let network = match network(link, bytes) {
        Ok(network) => network,
        Err(unused) => return Frame::Unused(unused),
    };
    match glance(network) {
        Some(unused) => Frame::Unused(unused),
        None => parse(network),
    }
}

/// Whether packets of this link type can be understood.
pub(crate) fn is_known(link: u16) -> bool {
    matches!(link, NULL | ETHERNET | RAW_BSD | RAW_OPENBSD | RAW | LOOP | SLL | IPV4 | IPV6 | SLL2)
}

/// The name of a link type.
pub(crate) fn link_name(link: u16) -> String {
    let name = match link {
        NULL | LOOP => "BSD loopback",
        ETHERNET => "Ethernet",
        RAW_BSD | RAW_OPENBSD | RAW => "raw IP",
        IPV4 => "raw IPv4",
        IPV6 => "raw IPv6",
        SLL => "Linux cooked",
        SLL2 => "Linux cooked v2",
        105 | 119 | 127 | 163 => "802.11",
        _ => return format!("link type {link}"),
    };
    name.to_owned()
}

/// The bytes from the IP header on.
#[inline]
fn network(link: u16, bytes: &[u8]) -> Result<&[u8], Unused> {
    let (mut kind, mut rest) = match link {
        ETHERNET => split(bytes, 12, 14)?,
        SLL => split(bytes, 14, 16)?,
        SLL2 => split(bytes, 0, 20)?,
        // The family is in the byte order of the machine that captured.
        NULL | LOOP => match (array_at::<4>(bytes, 0), bytes.get(4..)) {
            (Some([2 | 24 | 28 | 30, 0, 0, 0] | [0, 0, 0, 2 | 24 | 28 | 30]), Some(rest)) => return Ok(rest),
            (None, _) => return Err(Unused::Short),
            _ => return Err(Unused::NotIp),
        },
        RAW_BSD | RAW_OPENBSD | RAW | IPV4 | IPV6 => return Ok(bytes),
        _ => return Err(Unused::Link),
    };
    for _ in 0..MOST_TAGS {
        match kind {
            0x0800 | 0x86dd => return Ok(rest),
            0x8100 | 0x88a8 | 0x9100 => (kind, rest) = split(rest, 2, 4)?,
            _ => break,
        }
    }
    Err(Unused::NotIp)
}

/// The type at a place, and what begins at another.
#[inline]
fn split(bytes: &[u8], kind: usize, rest: usize) -> Result<(u16, &[u8]), Unused> {
    match (array_at(bytes, kind), bytes.get(rest..)) {
        (Some(kind), Some(rest)) => Ok((u16::from_be_bytes(*kind), rest)),
        _ => Err(Unused::Short),
    }
}

/// Why a packet is surely of no use, if it is.
#[inline]
fn glance(network: &[u8]) -> Option<Unused> {
    let (protocol, ports) = match network.first()? >> 4 {
        4 => {
            let head = array_at::<20>(network, 0)?;
            let [first, .., flags, offset, _, protocol, _, _, _, _, _, _, _, _, _, _] = *head;
            if flags & 0x1f != 0 || offset != 0 {
                return Some(Unused::Fragment);
            }
            (protocol, usize::from(first & 0xf) * 4)
        }
        6 => (*network.get(6)?, 40),
        _ => return Some(Unused::NotIp),
    };
    let [a, b, c, d] = *array_at(network, ports)?;
    let ports = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    match protocol {
        17 => of_no_use(ports, true),
        6 => of_no_use(ports, false),
        // Extension headers of IPv6, and the authentication header of both.
        0 | 43 | 44 | 51 | 60 | 135 | 139 | 140 | 253 | 254 => None,
        _ => Some(Unused::OtherIp),
    }
}

/// What UDP or TCP between these ports is, if it is of no use.
#[inline]
fn of_no_use((source, target): (u16, u16), udp: bool) -> Option<Unused> {
    match (udp, source, target) {
        (true, _, CONTROL | CONTROL_FIELD | STATUS) | (false, SIDE | RLOG, _) | (false, _, SIDE | RLOG) => None,
        (true, _, wire::SIMULATOR_PORT) => Some(Unused::Beacon),
        (true, _, 1120 | 1121 | 1160) | (false, 1750, _) | (false, _, 1750) => Some(Unused::Field),
        (true, ..) => Some(Unused::Udp),
        (false, ..) => Some(Unused::Tcp),
    }
}

/// Takes an IP packet apart.
fn parse(network: &[u8]) -> Frame<'_> {
    let Ok(packet) = LaxSlicedPacket::from_ip(network) else { return Frame::Unused(Unused::Short) };
    let (source, target, payload, later) = match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let (header, payload) = (ip.header(), ip.payload());
            let later = header.fragments_offset().value() != 0;
            (IpAddr::V4(header.source_addr()), IpAddr::V4(header.destination_addr()), payload, later)
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let (header, payload) = (ip.header(), ip.payload());
            let later = is_later_fragment(header.next_header().0, ip.extensions().slice());
            (IpAddr::V6(header.source_addr()), IpAddr::V6(header.destination_addr()), payload, later)
        }
        _ => return Frame::Unused(Unused::OtherIp),
    };
    let udp = match payload.ip_number {
        ip_number::UDP => true,
        ip_number::TCP => false,
        _ => return Frame::Unused(Unused::OtherIp),
    };
    if later {
        return Frame::Unused(Unused::Fragment);
    }
    // Behind extension headers the ports are seen here for the first time.
    let Some([a, b, c, d]) = array_at(payload.payload, 0).copied() else { return Frame::Unused(Unused::Short) };
    let ports = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    if let Some(unused) = of_no_use(ports, udp) {
        return Frame::Unused(unused);
    }
    if payload.fragmented {
        return Frame::Fragment;
    }
    match &packet.transport {
        Some(TransportSlice::Udp(udp)) => {
            let port = udp.destination_port();
            // A length of 0 is that of a packet whose length the network card was to fill in.
            let said = usize::from(udp.length()).saturating_sub(UDP_HEAD);
            let missing = said.saturating_sub(udp.payload().len());
            Frame::Datagram(Datagram { source, target, port, payload: udp.payload(), missing })
        }
        Some(TransportSlice::Tcp(tcp)) => Frame::Segment(Segment {
            source: (source, tcp.source_port()),
            target: (target, tcp.destination_port()),
            sequence: tcp.sequence_number(),
            acknowledged: tcp.ack().then(|| tcp.acknowledgment_number()),
            syn: tcp.syn(),
            fin: tcp.fin(),
            rst: tcp.rst(),
            payload: tcp.payload(),
            cut: payload.incomplete,
        }),
        _ => Frame::Headless,
    }
}

/// Whether a fragment header among these extension headers says that it is not the first fragment.
///
/// `etherparse` has an iterator over extension headers, but of headers that end too early it reads what is not there
/// (0.21.0; `fixtures/pcap/corrupt/extensions.pcap`).
fn is_later_fragment(mut kind: u8, mut bytes: &[u8]) -> bool {
    while let [next, length, high, low, ..] = *bytes {
        let length = match kind {
            44 => return u16::from_be_bytes([high, low]) >> 3 != 0,
            51 => (usize::from(length) + 2) * 4,
            _ => (usize::from(length) + 1) * 8,
        };
        (kind, bytes) = (next, bytes.get(length..).unwrap_or_default());
    }
    false
}

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const RAW_BSD: u16 = 12;
const RAW_OPENBSD: u16 = 14;
const RAW: u16 = 101;
const LOOP: u16 = 108;
const SLL: u16 = 113;
const IPV4: u16 = 228;
const IPV6: u16 = 229;
const SLL2: u16 = 276;
/// VLAN tags that are looked through.
const MOST_TAGS: usize = 4;
const UDP_HEAD: usize = 8;
