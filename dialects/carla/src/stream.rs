//! Packets out of bytes that arrive in pieces.

use logpose_core::{Cursor, Limits};

use crate::error::{Error, ErrorKind};
use crate::form::Detector;
use crate::wire::{Header, Ids, Kind, PACKET_HEADER, Packet, WireFormat};

/// The packets of a recording that arrives in pieces.
///
/// How a recording is written shows only in its packets. One that could be read in two ways is held back, with those
/// behind it, until that is known, until its frame ends, or until [`Limits::held_back`] bytes are held; in a recording
/// of CARLA's that is hardly ever more than one packet.
#[derive(Debug)]
pub struct PacketDecoder {
    limits: Limits,
    buffer: Vec<u8>,
    /// Where in the buffer the next packet to give out begins.
    given: usize,
    /// Up to where packets may be given out.
    ready: usize,
    /// Up to where packets were looked at.
    seen: usize,
    /// The offset in the stream of the buffer's first byte.
    offset: u64,
    head: Option<Head>,
    closed: bool,
    failed: bool,
}

#[derive(Debug)]
struct Head {
    version: u16,
    date: i64,
    map: Vec<u8>,
    detector: Detector,
}

impl PacketDecoder {
    /// A decoder that has no bytes yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            buffer: Vec::new(),
            given: 0,
            ready: 0,
            seen: 0,
            offset: 0,
            head: None,
            closed: false,
            failed: false,
        }
    }

    /// Adds bytes, as many as have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed {
            return;
        }
        // What was given out is dropped here and not packet by packet, so that each byte is moved once.
        self.buffer.drain(..self.given);
        self.offset += self.given as u64;
        self.ready -= self.given;
        self.seen -= self.given;
        self.given = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// No more bytes will come: what was held back can be given out.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// The next packet, or `None` until more bytes are pushed. After an error there is none any more.
    pub fn next_packet(&mut self) -> Result<Option<Packet<'_>>, Error> {
        if self.failed {
            return Ok(None);
        }
        match self.advance() {
            Ok(true) => {
                let place = self.given;
                let rest = self.buffer.get(place..self.ready).unwrap_or_default();
                let mut cur = Cursor::new(rest, self.offset + place as u64);
                let packet = Packet::parse(&mut cur)?;
                self.given = self.ready - cur.rest().len();
                Ok(Some(packet))
            }
            Ok(false) => Ok(None),
            Err(error) => {
                self.failed = true;
                Err(error)
            }
        }
    }

    /// The header, once it has arrived.
    #[must_use]
    pub fn header(&self) -> Option<Header<'_>> {
        self.head.as_ref().map(|head| Header { version: head.version, date: head.date, map: &head.map })
    }

    /// How the recording is written. It is right for all packets that were given out.
    #[must_use]
    pub fn form(&self) -> WireFormat {
        self.head.as_ref().map_or_else(WireFormat::default, |head| head.detector.form())
    }

    /// Whether the form can still change.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.head.as_ref().is_some_and(|head| head.detector.is_sure())
    }

    /// How many bytes wait: of packets that are not whole, and of those that are held back.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.buffer.len() - self.given
    }

    fn at(&self, place: usize) -> Cursor<'_> {
        Cursor::new(self.buffer.get(place..).unwrap_or_default(), self.offset + place as u64)
    }

    /// Looks at packets until one can be given out. `false` if more bytes are needed.
    fn advance(&mut self) -> Result<bool, Error> {
        if self.head.is_none() && !self.read_header()? {
            return Ok(false);
        }
        while self.given >= self.ready {
            let Some(len) = self.look()? else {
                // The stream is over: nothing will tell more of what is held back.
                if self.closed && self.seen > self.ready {
                    self.ready = self.seen;
                    continue;
                }
                return if self.closed { self.end() } else { Ok(false) };
            };
            self.seen += len;
        }
        Ok(true)
    }

    fn read_header(&mut self) -> Result<bool, Error> {
        let mut cur = self.at(0);
        let header = match Header::parse(&mut cur) {
            Ok(header) => header,
            Err(Error { kind: ErrorKind::Truncated(_), .. }) if !self.closed => return Ok(false),
            Err(error) => return Err(error),
        };
        if !matches!(header.version, 1 | 2) {
            return Err(Error { at: 0, kind: ErrorKind::Version(header.version) });
        }
        let (size, detector) = (header.size(), Detector::new(header.version));
        let Header { version, date, map } = header;
        self.head = Some(Head { version, date, map: map.to_vec(), detector });
        (self.given, self.ready, self.seen) = (size, size, size);
        Ok(true)
    }

    /// Looks at the next packet and says how long it is; `None` if it is not whole yet.
    fn look(&mut self) -> Result<Option<usize>, Error> {
        let place = self.seen;
        let at = self.offset + place as u64;
        let rest = self.buffer.get(place..).unwrap_or_default();
        let Some([id, size @ ..]) = rest.first_chunk::<PACKET_HEADER>() else { return Ok(None) };
        let (id, size) = (*id, u32::from_le_bytes(*size));
        let limit = self.limits.record_len;
        if u64::from(size) > limit {
            return Err(Error { at, kind: ErrorKind::TooLong { id, size: size.into(), limit } });
        }
        // The numberings of ids differ in no size that is checked here.
        Kind::of(id, Ids::A).map_or(Ok(()), |kind| kind.check_size(id, size.into(), at))?;
        let mut cur = Cursor::new(rest, at);
        let Ok(packet) = Packet::parse(&mut cur) else { return Ok(None) };
        let end = place + rest.len() - cur.rest().len();
        let held = end - self.ready;
        if let Some(head) = &mut self.head {
            head.detector.see(&packet);
            // Packets that wait go first, so one alone may overtake nothing.
            let alone = self.ready == place && head.detector.is_sure_of(&packet);
            if alone || head.detector.is_sure() || packet.id == 1 || held > self.limits.held_back {
                self.ready = end;
            }
        }
        Ok(Some(end - place))
    }

    /// The end of the stream, which must not be within a packet.
    fn end(&self) -> Result<bool, Error> {
        let mut cur = self.at(self.seen);
        if cur.is_empty() {
            return Ok(false);
        }
        Packet::parse(&mut cur).map(|_| false)
    }
}
