//! Who speaks with whom: links between Driver Stations and robots, RLOG streams, and their connections.

use std::net::IpAddr;

use logpose_core::{Channel, Decode, Problem, Problems, Read, Severity, Sink, SinkError, StreamError, Time};
use logpose_driverstation::Mapper;
use logpose_rlog::Decoder;

use super::blocks::Packet;
use super::framer::{Framer, Message, Protocol};
use super::frames::{Datagram, RLOG, SIDE, STATUS, Segment};
use super::names::{Ids, Names, Output, Renumber};
use super::reassembly::{Event, Mark, Piece, Reassembly};

/// All conversations of a capture.
pub(crate) struct Flows<'a> {
    read: &'a Read<'a>,
    output: Output<'a>,
    links: Vec<Link>,
    rlogs: Vec<RlogSource>,
    connections: Vec<Connection>,
    /// What to add to the times of each RLOG stream, found by an earlier reading.
    clocks: Vec<i64>,
    /// The same, as found by this reading: the shortest way from the robot's clock to the capture.
    shortest: Vec<Option<i64>>,
    /// Counts segments, to know which connection was silent longest.
    turn: u64,
    latest: Time,
}

/// A Driver Station and a robot.
struct Link {
    station: IpAddr,
    robot: IpAddr,
    mapper: Mapper,
    names: Names,
    ids: Ids,
    /// Packets of both directions: datagrams to the robot and to the station, segments likewise.
    counts: [u64; 4],
}

/// A robot that sends RLOG, and who listens.
struct RlogSource {
    client: IpAddr,
    robot: IpAddr,
    names: Names,
    streams: u64,
    frames: u64,
}

/// A TCP connection. The server is the robot.
struct Connection {
    client: (IpAddr, u16),
    server: (IpAddr, u16),
    owner: Owner,
    to_server: Half,
    to_client: Half,
    turn: u64,
}

/// Whose connection it is.
enum Owner {
    Link(usize),
    Rlog { source: usize, stream: Option<Box<RlogStream>> },
}

/// An RLOG stream under way.
struct RlogStream {
    /// How many began before it.
    number: usize,
    decoder: Decoder,
    ids: Ids,
}

/// One direction of a connection.
struct Half {
    reassembly: Reassembly,
    framer: Framer,
}

impl<'a> Flows<'a> {
    pub(crate) fn new(read: &'a Read<'a>, sink: &'a mut dyn Sink) -> Self {
        Self {
            read,
            output: Output::new(sink, read.limits.channels as usize),
            links: Vec::new(),
            rlogs: Vec::new(),
            connections: Vec::new(),
            clocks: Vec::new(),
            shortest: Vec::new(),
            turn: 0,
            latest: Time::MIN,
        }
    }

    /// What an earlier reading found about the clocks of RLOG streams.
    pub(crate) fn set_clocks(&mut self, clocks: Vec<i64>) {
        self.clocks = clocks;
    }

    /// Problems that are not of a link's packets.
    pub(crate) fn problems(&mut self) -> &mut Problems {
        &mut self.output.problems
    }

    /// A datagram of a link.
    pub(crate) fn datagram(
        &mut self,
        packet: &Packet<'_>,
        time: Time,
        datagram: &Datagram<'_>,
    ) -> Result<(), SinkError> {
        let Datagram { source, target, port, payload, .. } = *datagram;
        let at = place(packet, payload);
        let to_station = port == STATUS;
        let (station, robot) = if to_station { (target, source) } else { (source, target) };
        self.latest = self.latest.max(time);
        let Some(link) = self.link(station, robot, packet.at) else { return Ok(()) };
        let (mapper, mut sink) = self.mapper(link, usize::from(to_station)).ok_or(SinkError::Stopped)?;
        if to_station {
            mapper.status(time, at, payload, &mut sink)
        } else {
            mapper.control(time, at, payload, &mut sink)
        }
    }

    /// A segment of a connection of a link or of an RLOG stream.
    pub(crate) fn segment(&mut self, packet: &Packet<'_>, time: Time, segment: &Segment<'_>) -> Result<(), SinkError> {
        let at = place(packet, segment.payload);
        self.latest = self.latest.max(time);
        self.turn += 1;
        let Some(number) = self.connection(segment, packet.at)? else { return Ok(()) };
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        connection.turn = self.turn;
        let to_server = segment.target == connection.server;
        if let Owner::Link(link) = connection.owner
            && let Some(link) = self.links.get_mut(link)
            && let Some(count) = link.counts.get_mut(if to_server { 2 } else { 3 })
        {
            *count += 1;
        }
        let mark = Mark { at, time };
        let piece = Piece { sequence: segment.sequence, syn: segment.syn, mark, payload: segment.payload };
        // What is acknowledged is of the other direction.
        if let Some(acknowledged) = segment.acknowledged {
            self.half(number, !to_server, |half, out| half.acknowledged(acknowledged, out))?;
        }
        self.half(number, to_server, |half, out| half.segment(&piece, out))?;
        if segment.rst {
            self.half(number, true, |half, out| half.finish(out))?;
            self.half(number, false, |half, out| half.finish(out))?;
        }
        Ok(())
    }

    /// No more packets will come.
    pub(crate) fn finish(mut self) -> Result<Found, SinkError> {
        for number in 0..self.connections.len() {
            self.close(number)?;
        }
        for number in 0..self.links.len() {
            let latest = self.latest;
            if let Some((mapper, mut sink)) = self.mapper(number, usize::MAX) {
                mapper.reach(latest, &mut sink)?;
                mapper.finish(&mut sink)?;
            }
        }
        self.links.iter().for_each(|link| link.one_sided(&mut self.output.problems));
        let pairs = |pairs: Vec<(IpAddr, IpAddr)>| -> Vec<String> {
            let alone = pairs.len() < 2;
            let prefix = |(other, robot): &(IpAddr, IpAddr)| {
                let unique = pairs.iter().filter(|(_, r)| r == robot).count() == 1;
                match (alone, unique) {
                    (true, _) => String::new(),
                    (false, true) => format!("/{robot}"),
                    (false, false) => format!("/{robot}/{other}"),
                }
            };
            pairs.iter().map(prefix).collect()
        };
        let prefixes = pairs(self.links.iter().map(|link| (link.station, link.robot)).collect());
        for (link, prefix) in self.links.iter().zip(&prefixes) {
            link.names.rename(prefix, &mut self.output.channels);
        }
        let prefixes = pairs(self.rlogs.iter().map(|rlog| (rlog.client, rlog.robot)).collect());
        for (rlog, prefix) in self.rlogs.iter().zip(&prefixes) {
            rlog.names.rename(prefix, &mut self.output.channels);
        }
        let links = self.links.iter().map(|link| format!("{} with {}", link.station, link.robot));
        let rlogs = self.rlogs.iter().map(|rlog| {
            let RlogSource { client, robot, streams, frames, .. } = rlog;
            format!("{robot} to {client}: {frames} frames in {streams} connections")
        });
        Ok(Found {
            links: links.collect(),
            rlogs: rlogs.collect(),
            clocks: self.shortest.iter().map(|shortest| shortest.unwrap_or(0)).collect(),
            channels: self.output.channels,
            problems: self.output.problems,
        })
    }

    /// The number of the link between two.
    fn link(&mut self, station: IpAddr, robot: IpAddr, at: u64) -> Option<usize> {
        let found = self.links.iter().position(|link| link.station == station && link.robot == robot);
        if found.is_some() {
            return found;
        }
        if self.links.len() >= MOST_LINKS {
            let message = format!("more than {MOST_LINKS} links; that of {station} with {robot} is left out");
            self.output.problems.push(Problem::new(Severity::Damage, "too-many-links", at, 0, message));
            return None;
        }
        let (mapper, names, ids) = (Mapper::new(), Names::default(), Ids::default());
        self.links.push(Link { station, robot, mapper, names, ids, counts: [0; 4] });
        Some(self.links.len() - 1)
    }

    fn rlog(&mut self, client: IpAddr, robot: IpAddr, at: u64) -> Option<usize> {
        let found = self.rlogs.iter().position(|rlog| rlog.client == client && rlog.robot == robot);
        if found.is_some() {
            return found;
        }
        if self.rlogs.len() >= MOST_LINKS {
            let message = format!("more than {MOST_LINKS} RLOG streams; that of {robot} to {client} is left out");
            self.output.problems.push(Problem::new(Severity::Damage, "too-many-links", at, 0, message));
            return None;
        }
        self.rlogs.push(RlogSource { client, robot, names: Names::default(), streams: 0, frames: 0 });
        Some(self.rlogs.len() - 1)
    }

    /// A link's mapper and the sink for its samples.
    fn mapper(&mut self, link: usize, count: usize) -> Option<(&mut Mapper, Renumber<'_, 'a>)> {
        let link = self.links.get_mut(link)?;
        if let Some(count) = link.counts.get_mut(count) {
            *count += 1;
        }
        let sink = Renumber::new(&mut self.output, &mut link.names, &mut link.ids, 0);
        Some((&mut link.mapper, sink))
    }

    /// The number of the connection of a segment.
    fn connection(&mut self, segment: &Segment<'_>, at: u64) -> Result<Option<usize>, SinkError> {
        let Segment { source, target, .. } = *segment;
        let same =
            |c: &Connection| (c.client, c.server) == (source, target) || (c.server, c.client) == (source, target);
        if let Some(found) = self.connections.iter().position(same) {
            return Ok(Some(found));
        }
        // The robot is the one with the known port; if both have one, the one who was called.
        let known = |port| port == SIDE || port == RLOG;
        let called = segment.syn && segment.acknowledged.is_some();
        let from_robot = known(source.1) && (!known(target.1) || called);
        let (client, server) = if from_robot { (target, source) } else { (source, target) };
        let owner = if server.1 == SIDE {
            self.link(client.0, server.0, at).map(Owner::Link)
        } else {
            self.rlog(client.0, server.0, at).map(|rlog| Owner::Rlog { source: rlog, stream: None })
        };
        let Some(owner) = owner else { return Ok(None) };
        if self.connections.len() >= MOST_CONNECTIONS
            && let Some((oldest, _)) = self.connections.iter().enumerate().min_by_key(|(_, c)| c.turn)
        {
            self.close(oldest)?;
            self.connections.swap_remove(oldest);
        }
        let record_len = self.read.limits.record_len;
        let half = |protocol| Half { reassembly: Reassembly::default(), framer: Framer::new(protocol, record_len) };
        let (to_server, to_client) = match owner {
            Owner::Link(_) => (half(Protocol::ToRobot), half(Protocol::ToStation)),
            Owner::Rlog { .. } => (half(Protocol::Rlog), half(Protocol::Rlog)),
        };
        self.connections.push(Connection { client, server, owner, to_server, to_client, turn: self.turn });
        Ok(Some(self.connections.len() - 1))
    }

    /// Ends a connection of which nothing will come.
    fn close(&mut self, number: usize) -> Result<(), SinkError> {
        for to_server in [true, false] {
            self.half(number, to_server, |half, out| half.finish(out))?;
            if let Some(connection) = self.connections.get_mut(number) {
                connection.half(to_server).framer.finish(Severity::Warning, &mut self.output.problems);
            }
        }
        self.end_rlog(number)
    }

    /// Does something with one direction of a connection and takes what comes out of it.
    fn half(
        &mut self,
        number: usize,
        to_server: bool,
        act: impl FnOnce(&mut Reassembly, &mut dyn FnMut(Event<'_>) -> Result<(), SinkError>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        let mut reassembly = std::mem::take(&mut connection.half(to_server).reassembly);
        let result = act(&mut reassembly, &mut |event| self.event(number, to_server, event));
        if let Some(connection) = self.connections.get_mut(number) {
            connection.half(to_server).reassembly = reassembly;
        }
        result
    }

    fn event(&mut self, number: usize, to_server: bool, event: Event<'_>) -> Result<(), SinkError> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        match connection.owner {
            Owner::Link(link) => {
                let Some(link) = self.links.get_mut(link) else { return Ok(()) };
                let mut found = Problems::default();
                let mut sink = Renumber::new(&mut self.output, &mut link.names, &mut link.ids, 0);
                let mapper = &mut link.mapper;
                let framer = &mut connection.half(to_server).framer;
                let result = framer.handle(event, &mut found, &mut |Message { mark, body }| {
                    if to_server {
                        mapper.to_robot(mark.time, mark.at, body, &mut sink)
                    } else {
                        mapper.to_station(mark.time, mark.at, body, &mut sink)
                    }
                });
                self.output.problems.append(found);
                result
            }
            // What a client sends says nothing but that it is there.
            Owner::Rlog { .. } if to_server => Ok(()),
            Owner::Rlog { source, .. } => {
                if let Event::Begin { middle, mark } = event {
                    self.begin_rlog(number, source, middle, mark)?;
                }
                self.rlog_event(number, event)
            }
        }
    }

    fn begin_rlog(&mut self, number: usize, source: usize, middle: bool, mark: Mark) -> Result<(), SinkError> {
        self.end_rlog(number)?;
        if middle {
            let message = "without the first frame of an RLOG stream, the names of its fields are not known; only \
                           fields that are new can be read";
            self.output.problems.push(Problem::new(Severity::Damage, "unknown-fields", mark.at, 0, message));
        }
        // Then the revision is not known either; everyone sends R2 today.
        let read = Read { revision: self.read.revision.or(Some(2)), ..*self.read };
        let stream = RlogStream { number: self.shortest.len(), decoder: Decoder::new(&read), ids: Ids::default() };
        self.shortest.push(None);
        if let Some(source) = self.rlogs.get_mut(source) {
            source.streams += 1;
        }
        if let Some(connection) = self.connections.get_mut(number) {
            connection.owner = Owner::Rlog { source, stream: Some(Box::new(stream)) };
        }
        Ok(())
    }

    fn rlog_event(&mut self, number: usize, event: Event<'_>) -> Result<(), SinkError> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        let Connection { owner: Owner::Rlog { source, stream: Some(stream) }, to_client, .. } = connection else {
            return Ok(());
        };
        let Some(source) = self.rlogs.get_mut(*source) else { return Ok(()) };
        let RlogStream { number, decoder, ids } = &mut **stream;
        let mut found = Problems::default();
        let shift = self.clocks.get(*number).copied().unwrap_or(0);
        let mut sink = Renumber::new(&mut self.output, &mut source.names, ids, shift);
        let mut shortest = self.shortest.get(*number).copied().flatten();
        let result = to_client.framer.handle(event, &mut found, &mut |Message { mark, body }| {
            source.frames += 1;
            if body.is_empty() {
                return Ok(());
            }
            sink.within(mark.at, body.len());
            match decoder.frame(body, &mut sink) {
                Ok(()) => {}
                Err(StreamError::Sink(error)) => return Err(error),
                Err(StreamError::Decode(error)) => {
                    let message = format!("an RLOG frame of {} bytes: {}", body.len(), error.message);
                    sink.problem(Problem::general(Severity::Damage, "bad-frame", message));
                }
            }
            if let Some(time) = decoder.time() {
                let way = mark.time.since(time);
                shortest = Some(shortest.map_or(way, |shortest| shortest.min(way)));
            }
            Ok(())
        });
        if let Some(place) = self.shortest.get_mut(*number) {
            *place = shortest;
        }
        self.output.problems.append(found);
        result
    }

    /// An RLOG stream is over: what it has to tell at its end is told.
    fn end_rlog(&mut self, number: usize) -> Result<(), SinkError> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        let Owner::Rlog { source, stream } = &mut connection.owner else { return Ok(()) };
        let Some(mut stream) = stream.take().filter(|stream| stream.decoder.revision().is_some()) else {
            return Ok(());
        };
        let Some(source) = self.rlogs.get_mut(*source) else { return Ok(()) };
        let mut sink = Renumber::new(&mut self.output, &mut source.names, &mut stream.ids, 0);
        match stream.decoder.finish(&[], &mut sink) {
            Ok(()) | Err(StreamError::Decode(_)) => Ok(()),
            Err(StreamError::Sink(error)) => Err(error),
        }
    }
}

impl Connection {
    fn half(&mut self, to_server: bool) -> &mut Half {
        if to_server { &mut self.to_server } else { &mut self.to_client }
    }
}

/// What was found in a capture.
pub(crate) struct Found {
    /// The links, in words.
    pub(crate) links: Vec<String>,
    /// The RLOG streams, in words.
    pub(crate) rlogs: Vec<String>,
    /// What to add to the times of each RLOG stream.
    pub(crate) clocks: Vec<i64>,
    /// All channels, under the names that they are to have.
    pub(crate) channels: Vec<Channel>,
    pub(crate) problems: Problems,
}

impl Link {
    /// Tells if only one side of a conversation was captured.
    fn one_sided(&self, problems: &mut Problems) {
        let Self { station, robot, counts, .. } = self;
        let [control, status, to_robot, to_station] = *counts;
        let mut tell = |silent: IpAddr, what: &str| {
            let message =
                format!("only one side of the link of {station} with {robot} was captured: no {what} of {silent}");
            problems.push(Problem::general(Severity::Warning, "one-sided", message));
        };
        match (control, status) {
            (1.., 0) => tell(*robot, "status packets"),
            (0, 1..) => tell(*station, "control packets"),
            _ => {}
        }
        match (to_robot, to_station) {
            (1.., 0) => tell(*robot, "TCP segments"),
            (0, 1..) => tell(*station, "TCP segments"),
            _ => {}
        }
    }
}

/// Where the payload of a packet is in the file.
fn place(packet: &Packet<'_>, payload: &[u8]) -> u64 {
    let within = (payload.as_ptr() as usize).saturating_sub(packet.bytes.as_ptr() as usize);
    packet.at + within.min(packet.bytes.len()) as u64
}

/// Links, and RLOG streams, that one capture may have.
const MOST_LINKS: usize = 64;
/// Connections that are kept at a time; the one that was silent longest makes room.
const MOST_CONNECTIONS: usize = 64;
