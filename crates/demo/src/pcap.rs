//! Captures in the classic form of pcap, made packet by packet.

use std::io::{self, Write};

use logpose_core::Time;

/// A capture that is being made: Ethernet frames with IPv4.
#[derive(Debug)]
pub struct Pcap<W> {
    out: W,
    bytes: u64,
    frame: Vec<u8>,
}

/// Where a packet comes from and goes to.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The sender.
    pub from: [u8; 4],
    /// Its port.
    pub from_port: u16,
    /// The receiver.
    pub to: [u8; 4],
    /// Its port.
    pub to_port: u16,
}

impl<W: Write> Pcap<W> {
    /// Begins a capture.
    pub fn new(mut out: W) -> io::Result<Self> {
        let mut head = Vec::with_capacity(24);
        head.extend(0xa1b2_c3d4_u32.to_le_bytes());
        head.extend([2, 0, 4, 0]);
        head.extend([0; 8]);
        head.extend(LONGEST.to_le_bytes());
        head.extend(ETHERNET.to_le_bytes());
        out.write_all(&head)?;
        Ok(Self { out, bytes: head.len() as u64, frame: Vec::new() })
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What it was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// A datagram.
    pub fn udp(&mut self, time: Time, route: Route, payload: &[u8]) -> io::Result<()> {
        let length = u16::try_from(payload.len() + 8).map_err(io::Error::other)?;
        let Route { from_port, to_port, .. } = route;
        let head = [from_port.to_be_bytes(), to_port.to_be_bytes(), length.to_be_bytes(), [0; 2]];
        self.packet(time, route, UDP, head.as_flattened(), payload)
    }

    /// The beginning of a stream, whose first byte has the number behind `sequence`.
    pub fn syn(&mut self, time: Time, route: Route, sequence: u32) -> io::Result<()> {
        self.segment(time, route, sequence, SYN, &[])
    }

    /// A segment of a stream that has gone on to `sequence`.
    pub fn tcp(&mut self, time: Time, route: Route, sequence: u32, payload: &[u8]) -> io::Result<()> {
        self.segment(time, route, sequence, PUSH_AND_ACK, payload)
    }

    fn segment(&mut self, time: Time, route: Route, sequence: u32, flags: u8, payload: &[u8]) -> io::Result<()> {
        let Route { from_port, to_port, .. } = route;
        let [s0, s1, s2, s3] = sequence.to_be_bytes();
        let head = [from_port.to_be_bytes(), to_port.to_be_bytes(), [s0, s1], [s2, s3], [0, 0], [0, 1], [0x50, flags]];
        let rest = [[0xff, 0xff], [0, 0], [0, 0]];
        self.packet(time, route, TCP, [head.as_flattened(), rest.as_flattened()].concat().as_slice(), payload)
    }

    fn packet(&mut self, time: Time, route: Route, protocol: u8, head: &[u8], payload: &[u8]) -> io::Result<()> {
        let length = u16::try_from(20 + head.len() + payload.len()).map_err(io::Error::other)?;
        let frame = &mut self.frame;
        frame.clear();
        frame.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0]);
        frame.extend(length.to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
        frame.extend(route.from.into_iter().chain(route.to));
        frame.extend_from_slice(head);
        frame.extend_from_slice(payload);
        // Ethernet has no shorter ones.
        frame.resize(frame.len().max(60), 0);
        let number = |n: i64| u32::try_from(n).map(u32::to_le_bytes).map_err(io::Error::other);
        let micros = time.micros();
        let size = number(i64::try_from(frame.len()).unwrap_or(i64::MAX))?;
        let record = [number(micros.div_euclid(1_000_000))?, number(micros.rem_euclid(1_000_000))?, size, size];
        self.out.write_all(record.as_flattened())?;
        self.out.write_all(frame)?;
        self.bytes += 16 + frame.len() as u64;
        Ok(())
    }
}

const LONGEST: u32 = 65_535;
const ETHERNET: u32 = 1;
const SYN: u8 = 0x02;
const PUSH_AND_ACK: u8 = 0x18;
const UDP: u8 = 17;
const TCP: u8 = 6;
