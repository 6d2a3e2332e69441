//! Who speaks with whom: links between Driver Stations and robots, RLOG streams, and their connections.

use std::net::IpAddr;

use logpose_core::{Channel, Problem, Problems, ReadOptions, Severity, Sink, SinkError, Time};
use logpose_driverstation::Mapper;

use super::blocks::Packet;
use super::framer::{Framer, Message, Protocol};
use super::frames::{Datagram, RLOG, SIDE, STATUS, Segment};
use super::names::{Ids, Names, Output, Renumber};
use super::reassembly::{Event, Mark, Piece, Reassembly};
use super::rlog::{Rlogs, Stream};

/// All conversations of a capture.
pub(crate) struct Flows<'a> {
    read: &'a ReadOptions<'a>,
    output: Output<'a>,
    links: Vec<Link>,
    rlogs: Rlogs,
    connections: Vec<Connection>,
    /// Counts segments, to know which connection was silent longest.
    turn: u64,
    latest: Time,
    /// Segments on RLOG's port that are something else.
    foreign: u64,
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

/// A TCP connection. The server is the robot.
struct Connection {
    client: (IpAddr, u16),
    server: (IpAddr, u16),
    owner: Owner,
    to_server: Half,
    to_client: Half,
    /// When it was last heard.
    turn: u64,
    segments: u64,
    /// Whether the robot's stream was captured from its middle on, and where.
    began: (bool, Mark),
    /// Whether it ever was RLOG.
    was_rlog: bool,
}

/// Whose connection it is.
enum Owner {
    Link(usize),
    /// If it is RLOG, there is a stream; it may also be a camera or a web page.
    Rlog(Option<Box<Stream>>),
}

/// The error of a link that is not in the list into which it was just put.
#[cold]
fn no_mapper() -> SinkError {
    std::io::Error::other("a link of the capture has no mapper").into()
}

/// One direction of a connection.
struct Half {
    reassembly: Reassembly,
    framer: Framer,
}

impl<'a> Flows<'a> {
    pub(crate) fn new(read: &'a ReadOptions<'a>, sink: &'a mut dyn Sink) -> Self {
        Self {
            read,
            output: Output::new(sink, read.limits.channels as usize),
            links: Vec::new(),
            rlogs: Rlogs::default(),
            connections: Vec::new(),
            turn: 0,
            latest: Time::MIN,
            foreign: 0,
        }
    }

    /// What an earlier reading found about the clocks of RLOG streams.
    pub(crate) fn set_clocks(&mut self, clocks: Vec<i64>) {
        self.rlogs.set_clocks(clocks);
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
        let (mapper, mut sink) = self.mapper(link, usize::from(to_station)).ok_or_else(no_mapper)?;
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
        connection.segments += 1;
        if connection.to_client.framer.is_foreign() && !segment.syn {
            return Ok(());
        }
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
            self.half(number, true, |half, out| half.reset(out))?;
            self.half(number, false, |half, out| half.reset(out))?;
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
        let pairs: Vec<_> = self.links.iter().map(|link| (link.station, link.robot)).collect();
        for (link, prefix) in self.links.iter().zip(prefixes(&pairs)) {
            link.names.rename(&prefix, &mut self.output.channels);
        }
        self.rlogs.rename(&prefixes(&self.rlogs.pairs()), &mut self.output.channels);
        Ok(Found {
            links: self.links.iter().map(|link| format!("{} with {}", link.station, link.robot)).collect(),
            rlogs: self.rlogs.summary(),
            clocks: self.rlogs.clocks(),
            foreign: self.foreign,
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
            let message = format!("more than {MOST_LINKS} links; skipped {station} with {robot}");
            self.output.problems.push(Problem::new(Severity::Damage, "too-many-links", at, 0, message));
            return None;
        }
        let (mapper, names, ids) = (Mapper::new(), Names::default(), Ids::default());
        self.links.push(Link { station, robot, mapper, names, ids, counts: [0; 4] });
        Some(self.links.len() - 1)
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
        let owner = match server.1 {
            SIDE => self.link(client.0, server.0, at).map(Owner::Link),
            _ => Some(Owner::Rlog(None)),
        };
        let Some(owner) = owner else { return Ok(None) };
        // Each kind makes room for itself, so that RLOG streams are counted alike whatever else there is.
        let rivals = self.connections.iter().enumerate().filter(|(_, c)| (c.server.1 == SIDE) == (server.1 == SIDE));
        if rivals.clone().count() >= MOST_CONNECTIONS
            && let Some((oldest, _)) = rivals.min_by_key(|(_, c)| c.turn)
        {
            self.close(oldest)?;
            self.connections.swap_remove(oldest);
        }
        let record_len = self.read.limits.record_len;
        let half = |protocol| Half { reassembly: Reassembly::default(), framer: Framer::new(protocol, record_len) };
        let (to_server, to_client) = match owner {
            Owner::Link(_) => (half(Protocol::ToRobot), half(Protocol::ToStation)),
            Owner::Rlog(_) => (half(Protocol::Rlog), half(Protocol::Rlog)),
        };
        let (turn, began) = (self.turn, (false, Mark { at, time: Time::ZERO }));
        let connection =
            Connection { client, server, owner, to_server, to_client, turn, segments: 0, began, was_rlog: false };
        self.connections.push(connection);
        Ok(Some(self.connections.len() - 1))
    }

    /// Ends a connection of which nothing will come.
    fn close(&mut self, number: usize) -> Result<(), SinkError> {
        for to_server in [true, false] {
            self.half(number, to_server, |half, out| half.finish(out))?;
        }
        let foreign = |c: &&Connection| c.server.1 == RLOG && !c.was_rlog;
        self.foreign += self.connections.get(number).filter(foreign).map_or(0, |connection| connection.segments);
        Ok(())
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
            Owner::Rlog(_) if to_server => Ok(()),
            Owner::Rlog(_) => self.rlog_event(number, event),
        }
    }

    fn rlog_event(&mut self, number: usize, event: Event<'_>) -> Result<(), SinkError> {
        let Self { connections, rlogs, output, read, .. } = self;
        let Some(connection) = connections.get_mut(number) else { return Ok(()) };
        if let Event::Begin { middle, mark } = event {
            connection.began = (middle, mark);
        }
        let Connection { owner: Owner::Rlog(stream), to_client, .. } = connection else { return Ok(()) };
        let ends = (connection.client.0, connection.server.0);
        let mut found = Problems::default();
        let result = to_client.framer.handle(event, &mut found, &mut |message| {
            if stream.is_none() {
                *stream = rlogs.begin(ends, connection.began, read, output).map(Box::new);
                connection.was_rlog = true;
            }
            stream.as_mut().map_or(Ok(()), |stream| rlogs.frame(stream, message, output))
        });
        // Nothing is reported about bytes that may not be RLOG at all.
        if stream.is_some() {
            output.problems.append(found);
        }
        result?;
        match stream.take_if(|_| event == Event::End) {
            Some(stream) => rlogs.end(*stream, output),
            None => Ok(()),
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
    /// Segments on RLOG's port that are something else.
    pub(crate) foreign: u64,
    /// All channels, under the names that they are to have.
    pub(crate) channels: Vec<Channel>,
    pub(crate) problems: Problems,
}

impl Link {
    /// Tells if only one side of a conversation was captured.
    fn one_sided(&self, problems: &mut Problems) {
        let Self { station, robot, counts, .. } = self;
        let [control, status, to_robot, to_station] = *counts;
        let mut report = |silent: IpAddr, what: &str| {
            let message = format!(
                "only one direction of the link between {station} and {robot} was captured: no {what} from {silent}"
            );
            problems.push(Problem::general(Severity::Warning, "one-sided", message));
        };
        match (control, status) {
            (1.., 0) => report(*robot, "status packets"),
            (0, 1..) => report(*station, "control packets"),
            _ => {}
        }
        match (to_robot, to_station) {
            (1.., 0) => report(*robot, "TCP segments"),
            (0, 1..) => report(*station, "TCP segments"),
            _ => {}
        }
    }
}

/// What stands in front of the names of channels, for each pair of a robot's peer and a robot.
fn prefixes(pairs: &[(IpAddr, IpAddr)]) -> Vec<String> {
    let prefix = |(peer, robot): &(IpAddr, IpAddr)| {
        let alone = pairs.iter().filter(|(_, other)| other == robot).count() == 1;
        match pairs.len() {
            1 => String::new(),
            _ if alone => format!("/{robot}"),
            _ => format!("/{robot}/{peer}"),
        }
    };
    pairs.iter().map(prefix).collect()
}

/// Where the payload of a packet is in the file.
fn place(packet: &Packet<'_>, payload: &[u8]) -> u64 {
    let within = (payload.as_ptr() as usize).saturating_sub(packet.bytes.as_ptr() as usize);
    packet.at + within.min(packet.bytes.len()) as u64
}

/// Links that one capture may have.
const MOST_LINKS: usize = 64;
/// Connections of each kind that are kept at a time; the one that was silent longest makes room.
const MOST_CONNECTIONS: usize = 64;
