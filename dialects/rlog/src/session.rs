//! Live RLOG: a client that listens to a robot, and a server that is one. Both without sockets and clocks.
//!
//! Every frame is a 32-bit length and that many bytes. A newcomer gets one frame with the revision byte and
//! everything there is; then comes one frame for each cycle, and an empty one every 20 ms.

use std::collections::{BTreeMap, VecDeque};

use logpose_core::{
    Channel, ChannelId, EncodeError, Limits, Link, Problem, ReadOptions, Sample, Serve, Session, Severity, Sink,
    SinkError, StreamError, Time, Transmit,
};

use crate::model::seconds_of;
use crate::reader::Decoder;
use crate::walk::too_long_error;
use crate::wire::{HEARTBEAT, KEEP_ALIVE, Message};
use crate::writer::{Emitter, Options, timestamp};

/// Silence that ends a conversation, on both sides, in nanoseconds.
const SILENCE: i64 = 3_000_000_000;
/// A client shows this often that it is there, as AdvantageScope does.
const HEARTBEAT_EVERY: i64 = 500_000_000;
/// A server shows this often that it is there: in front of a cycle, or alone if none came.
const KEEP_ALIVE_EVERY: i64 = 20_000_000;
/// So much later than expected may a cycle come before a keep-alive goes out alone.
const KEEP_ALIVE_GRACE: i64 = 5_000_000;
/// Bytes in front of a frame.
const LENGTH: usize = 4;

/// The side that listens. It has one link; opening another one forgets the stream, but channels that come again
/// keep their numbers.
///
/// What cannot be decoded closes the link: a fresh connection brings everything anew.
#[derive(Debug)]
pub struct RlogClient {
    limits: Limits,
    decoder: Decoder,
    link: Option<Link>,
    /// Bytes of frames that are not whole.
    buffer: Vec<u8>,
    heard: Time,
    next_heartbeat: Time,
    transmit: VecDeque<Transmit>,
    close: VecDeque<Link>,
    stats: ClientStats,
    last: Option<Time>,
    stepped_back: bool,
}

/// What a client has received over all its connections.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ClientStats {
    /// Frames of all kinds.
    pub frames: u64,
    /// Empty frames.
    pub keep_alives: u64,
    /// Timestamp messages.
    pub cycles: u64,
    /// Connections made.
    pub connections: u64,
    /// Connections given up because of silence or bytes that make no sense.
    pub failures: u64,
}

impl RlogClient {
    /// A client that takes frames of at most `limits.record_len` bytes.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let read = ReadOptions { limits, ..ReadOptions::default() };
        Self {
            limits,
            decoder: Decoder::new(&read),
            link: None,
            buffer: Vec::new(),
            heard: Time::ZERO,
            next_heartbeat: Time::ZERO,
            transmit: VecDeque::new(),
            close: VecDeque::new(),
            stats: ClientStats::default(),
            last: None,
            stepped_back: false,
        }
    }

    /// What came so far.
    #[must_use]
    pub fn stats(&self) -> ClientStats {
        self.stats
    }

    /// Whether it listens to a server.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.link.is_some()
    }

    fn fail(&mut self) {
        if let Some(link) = self.link.take() {
            self.close.push_back(link);
            self.stats.failures += 1;
        }
        self.buffer.clear();
    }

    /// Takes whole frames off the front of the buffer; returns how many bytes they were.
    fn frames(&mut self, buffer: &[u8], sink: &mut dyn Sink) -> Result<usize, SinkError> {
        let mut used = 0;
        while self.link.is_some()
            && let Some((length, rest)) = buffer.get(used..).and_then(|rest| rest.split_first_chunk::<LENGTH>())
        {
            let length = u32::from_be_bytes(*length);
            if u64::from(length) > self.limits.record_len {
                let error = too_long_error(0, length.into(), self.limits.record_len);
                sink.problem(Problem::general(
                    Severity::Damage,
                    "too-long",
                    format!("{}; closed the connection", error.kind),
                ));
                self.fail();
                break;
            }
            let Some(frame) = rest.get(..length as usize) else { break };
            used += LENGTH + frame.len();
            self.stats.frames += 1;
            if frame.is_empty() {
                self.stats.keep_alives += 1;
                continue;
            }
            let before = self.decoder.cycles();
            let result = self.decoder.frame(frame, sink);
            self.stats.cycles += self.decoder.cycles() - before;
            match result {
                Ok(()) => self.watch_time(sink),
                Err(StreamError::Sink(error)) => return Err(error),
                Err(StreamError::Decode(error)) => {
                    let message = format!(
                        "invalid frame of {length} bytes, byte {:#x} of the messages: {}; closed the connection",
                        error.at, error.message
                    );
                    sink.problem(Problem::general(Severity::Damage, "bad-frame", message));
                    self.fail();
                }
            }
        }
        Ok(used)
    }

    /// Section 7 of the specification: cycles that were queued before the newcomer's snapshot may come after it,
    /// so the first step back on a connection means nothing.
    fn watch_time(&mut self, sink: &mut dyn Sink) {
        let Some(now) = self.decoder.time() else { return };
        if self.last.is_some_and(|last| now < last) {
            if self.stepped_back {
                let message = format!("the robot's clock jumped back to {now} s");
                sink.problem(Problem::general(Severity::Note, "time-step-back", message));
            }
            self.stepped_back = true;
        }
        self.last = Some(now);
    }
}

impl Session for RlogClient {
    fn handle_open(&mut self, now: Time, link: Link) {
        if let Some(old) = self.link.replace(link).filter(|old| *old != link) {
            self.close.push_back(old);
        }
        self.stats.connections += 1;
        self.decoder.restart();
        self.buffer.clear();
        self.transmit.clear();
        (self.last, self.stepped_back) = (None, false);
        self.heard = now;
        self.next_heartbeat = now;
        self.handle_timeout(now);
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        if self.link != Some(link) {
            return Ok(());
        }
        self.heard = now;
        if self.buffer.is_empty() {
            let used = self.frames(bytes, sink)?;
            if self.link.is_some() {
                self.buffer.extend_from_slice(bytes.get(used..).unwrap_or_default());
            }
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.extend_from_slice(bytes);
        let used = self.frames(&buffer, sink)?;
        if self.link.is_some() {
            buffer.drain(..used);
            self.buffer = buffer;
        }
        Ok(())
    }

    fn handle_close(&mut self, _: Time, link: Link) {
        if self.link == Some(link) {
            self.link = None;
            self.buffer.clear();
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        let Some(link) = self.link else { return };
        if now.since(self.heard) >= SILENCE {
            self.fail();
        } else if now >= self.next_heartbeat {
            self.transmit.push_back(Transmit::one(link, HEARTBEAT));
            self.next_heartbeat = now.plus(HEARTBEAT_EVERY);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.link.map(|_| self.next_heartbeat.min(self.heard.plus(SILENCE)))
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmit.pop_front()
    }

    fn poll_close(&mut self) -> Option<Link> {
        self.close.pop_front()
    }
}

/// The side that a robot is. Channels and cycles are published to it; what has not changed is not sent.
///
/// ```
/// use logpose_core::{Channel, Link, Sample, Session, Time, To, Value};
/// use logpose_rlog::{Options, RlogServer};
///
/// let mut server = RlogServer::new(Options::default());
/// server.declare(0, &Channel::new("/A", "boolean"));
/// let now = Time::from_millis(20);
/// server.publish(now, &[Sample { channel: 0, time: now, value: Value::Boolean(true) }])?;
/// server.handle_open(now, Link(1));
/// let newcomer = server.poll_transmit().unwrap();
/// assert_eq!((newcomer.to, &newcomer.bytes[..6]), (To::One(Link(1)), &[0, 0, 0, 32, 2, 0][..]));
/// # Ok::<(), logpose_core::EncodeError>(())
/// ```
///
/// A cycle is encoded once, for all clients. What a slow client has not taken yet is held by the one who drives the
/// server, and it is for that one to close the link when it is too much.
#[derive(Debug)]
pub struct RlogServer {
    options: Options,
    emitter: Emitter,
    by_channel: Vec<Option<usize>>,
    /// The last field message of each entry; empty if it has no value.
    latest: Vec<Vec<u8>>,
    /// The key messages of all keys.
    keys: Vec<u8>,
    time: Option<Time>,
    /// When each client was last heard.
    clients: BTreeMap<Link, Time>,
    transmit: VecDeque<Transmit>,
    close: VecDeque<Link>,
    now: Time,
    next_keep_alive: Time,
    /// The frame that is being made.
    frame: Vec<u8>,
    field: Vec<u8>,
}

impl RlogServer {
    /// A server without clients and without a cycle.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            emitter: Emitter::new(options),
            by_channel: Vec::new(),
            latest: Vec::new(),
            keys: Vec::new(),
            time: None,
            clients: BTreeMap::new(),
            transmit: VecDeque::new(),
            close: VecDeque::new(),
            now: Time::MIN,
            next_keep_alive: Time::ZERO,
            frame: Vec::new(),
            field: Vec::new(),
        }
    }

    /// Names a channel. A second time with another name or type it is another channel from then on.
    pub fn declare(&mut self, id: ChannelId, channel: &Channel) {
        let at = id as usize;
        if self.by_channel.len() <= at {
            self.by_channel.resize(at + 1, None);
        }
        let entry = self.emitter.entry(&channel.name, &channel.type_name);
        if self.latest.len() <= entry {
            self.latest.resize_with(entry + 1, Vec::new);
        }
        if let Some(place) = self.by_channel.get_mut(at) {
            *place = Some(entry);
        }
    }

    /// Sends one cycle to all clients: the values of `samples` that have changed, at `time`. The samples' own times
    /// are not looked at. Values that RLOG cannot say are left out; the first of them is the error.
    pub fn publish(&mut self, time: Time, samples: &[Sample<'_>]) -> Result<(), EncodeError> {
        self.begin(time);
        let mut refused = Ok(());
        for (place, sample) in samples.iter().enumerate() {
            let entry = self.by_channel.get(sample.channel as usize).copied().flatten().unwrap_or(usize::MAX);
            if let Err(error) = self.change(entry, sample)
                && refused.is_ok()
            {
                refused = Err(error.of_sample(place));
            }
        }
        self.send();
        refused
    }

    /// Says that a channel has no value any more, which only R1 can.
    pub fn remove(&mut self, id: ChannelId, time: Time) {
        let Some(entry) = self.by_channel.get(id as usize).copied().flatten() else { return };
        if self.emitter.live(entry).is_none() {
            return;
        }
        self.begin(time);
        let mut frame = std::mem::take(&mut self.frame);
        self.emitter.null(entry, &mut frame);
        self.frame = frame;
        if let Some(latest) = self.latest.get_mut(entry) {
            latest.clear();
        }
        self.send();
    }

    /// How many clients there are.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    fn begin(&mut self, time: Time) {
        self.time = Some(time);
        self.frame.clear();
        self.frame.extend_from_slice(&KEEP_ALIVE);
        self.frame.extend_from_slice(&[0; LENGTH]);
        timestamp(time, &mut self.frame);
    }

    fn change(&mut self, entry: usize, sample: &Sample<'_>) -> Result<(), EncodeError> {
        let keys = self.keys.len();
        let defined = self.emitter.define(entry, &mut self.keys);
        let key = self.keys.get(keys..).unwrap_or_default();
        self.frame.extend_from_slice(key);
        defined?;
        self.field.clear();
        self.emitter.field(entry, &sample.value, &mut self.field)?;
        if let Some(latest) = self.latest.get_mut(entry)
            && *latest != self.field
        {
            self.frame.extend_from_slice(&self.field);
            std::mem::swap(latest, &mut self.field);
        }
        Ok(())
    }

    /// The same bytes for all.
    fn send(&mut self) {
        if self.clients.is_empty() {
            return;
        }
        set_length(self.frame.get_mut(KEEP_ALIVE.len()..).unwrap_or_default());
        self.transmit.push_back(Transmit::all(&*self.frame));
        self.next_keep_alive = self.now.plus(KEEP_ALIVE_EVERY + KEEP_ALIVE_GRACE);
    }

    /// Everything there is: revision, time, all keys, all values.
    fn newcomer(&self) -> Vec<u8> {
        let mut frame = vec![0; LENGTH];
        frame.push(self.options.revision.byte());
        Message::Timestamp { seconds: self.time.map_or(0.0, seconds_of) }.emit(&mut frame);
        frame.extend_from_slice(&self.keys);
        self.latest.iter().for_each(|field| frame.extend_from_slice(field));
        set_length(&mut frame);
        frame
    }
}

fn set_length(frame: &mut [u8]) {
    let length = u32::try_from(frame.len() - LENGTH).unwrap_or(u32::MAX);
    if let Some(place) = frame.first_chunk_mut::<LENGTH>() {
        *place = length.to_be_bytes();
    }
}

impl Session for RlogServer {
    fn handle_open(&mut self, now: Time, link: Link) {
        if self.clients.is_empty() {
            self.next_keep_alive = now.plus(KEEP_ALIVE_EVERY);
        }
        // Snapshot and registration are one step, so that no cycle is missing or comes twice.
        self.transmit.push_back(Transmit::one(link, self.newcomer()));
        self.clients.insert(link, now);
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], _: &mut dyn Sink) -> Result<(), SinkError> {
        if let Some(heard) = self.clients.get_mut(&link).filter(|_| !bytes.is_empty()) {
            *heard = now;
        }
        Ok(())
    }

    fn handle_close(&mut self, _: Time, link: Link) {
        self.clients.remove(&link);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.clients.is_empty() || now < self.next_keep_alive {
            return;
        }
        self.next_keep_alive = now.plus(KEEP_ALIVE_EVERY);
        let close = &mut self.close;
        self.clients.retain(|link, heard| {
            let silent = now.since(*heard) > SILENCE;
            if silent {
                close.push_back(*link);
            }
            !silent
        });
        self.transmit.push_back(Transmit::all(KEEP_ALIVE));
    }

    fn poll_timeout(&self) -> Option<Time> {
        (!self.clients.is_empty()).then_some(self.next_keep_alive)
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmit.pop_front()
    }

    fn poll_close(&mut self) -> Option<Link> {
        self.close.pop_front()
    }
}

impl Serve for RlogServer {
    fn sink(&mut self, now: Time) -> &mut dyn Sink {
        self.now = now;
        self
    }
}

/// Samples of one time are one cycle, so that a replayed log is published as it was.
impl Sink for RlogServer {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.declare(id, channel);
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let mut refused = Ok(());
        for cycle in samples.chunk_by(|a, b| a.time == b.time) {
            if let Some(first) = cycle.first() {
                refused = refused.and(self.publish(first.time, cycle));
            }
        }
        Ok(refused?)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.remove(id, time);
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // A cycle has values and nothing else. Whoever publishes keeps the problems of its sources.
    }
}
