//! What the tests share: a sink that writes down, and a world with one client and one server.

use std::collections::VecDeque;

use logpose_core::{Channel, ChannelId, Limits, Link, Sample, Serve, Session, Time, To, Transmit, Value};
use logpose_nt4::{Nt4Client, Nt4Server, Options, ServerOptions, Updates};
pub(crate) use logpose_testkit::{doubles, ms};

/// What came, a line each, with values as literals.
pub(crate) type Lines = logpose_testkit::Lines<logpose_testkit::Literal>;

/// What a session wants to send, as lines: texts as they are, binary messages one by one.
pub(crate) fn sent(session: &mut dyn Session) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(transmit) = session.poll_transmit() {
        if transmit.text {
            lines.push(String::from_utf8(transmit.bytes.to_vec()).unwrap());
        } else {
            lines.extend(Updates::new(&transmit.bytes).map(|update| update.unwrap().to_string()));
        }
    }
    lines
}

pub(crate) fn due(session: &mut dyn Session, now: Time) {
    if session.poll_timeout().is_some_and(|at| at <= now) {
        session.handle_timeout(now);
    }
}

/// A server with a few channels.
pub(crate) fn server(channels: &[(&str, &str)]) -> Nt4Server {
    let mut server = Nt4Server::new(ServerOptions::default());
    for (id, (name, type_name)) in (0..).zip(channels) {
        server.sink(ms(0)).channel(id, &Channel::new(*name, *type_name)).unwrap();
    }
    server
}

pub(crate) fn put(server: &mut Nt4Server, now: Time, channel: ChannelId, value: Value<'_>) {
    server.sink(now).samples(&[Sample { channel, time: now, value }]).unwrap();
}

pub(crate) fn receive(server: &mut Nt4Server, now: Time, link: Link, text: &str, sink: &mut Lines) {
    server.handle_input(now, link, text.as_bytes(), sink).unwrap();
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Way {
    Up,
    Down,
}

/// A client and a server with a link between them that takes its time, in steps of a millisecond. The client's clock is
/// `ahead` of the server's. When a link is closed, another one is opened 100 ms later.
pub(crate) struct World {
    pub(crate) client: Nt4Client,
    pub(crate) server: Nt4Server,
    /// What the client heard, and what the server heard.
    pub(crate) heard: Lines,
    pub(crate) server_sink: Lines,
    pub(crate) ahead: i64,
    pub(crate) latency: i64,
    pub(crate) at: i64,
    link: Option<Link>,
    next: u32,
    open_at: i64,
    flying: VecDeque<(i64, Way, Link, Vec<u8>)>,
}

impl World {
    pub(crate) fn new(server: Nt4Server, options: Options) -> Self {
        Self {
            client: Nt4Client::new(options, Limits::default()),
            server,
            heard: Lines::default(),
            server_sink: Lines::default(),
            ahead: 0,
            latency: 1,
            at: 0,
            link: None,
            next: 1,
            open_at: 0,
            flying: VecDeque::new(),
        }
    }

    /// Lets time pass. `each` is called every millisecond; `mangle` changes or drops what is sent.
    pub(crate) fn run(
        &mut self,
        until: i64,
        mut each: impl FnMut(&mut Nt4Server, i64),
        mut mangle: impl FnMut(i64, Way, Vec<u8>) -> Option<Vec<u8>>,
    ) {
        while self.at < until {
            let (here, there) = (ms(self.at).plus(self.ahead), ms(self.at));
            if self.link.is_none() && self.at >= self.open_at {
                let link = Link(self.next);
                self.next += 1;
                self.link = Some(link);
                self.server.handle_open(there, link);
                self.client.handle_open(here, link);
            }
            each(&mut self.server, self.at);
            while let Some((_, way, link, bytes)) = self.flying.pop_front_if(|flying| flying.0 <= self.at) {
                match way {
                    Way::Up => self.server.handle_input(there, link, &bytes, &mut self.server_sink).unwrap(),
                    Way::Down => self.client.handle_input(here, link, &bytes, &mut self.heard).unwrap(),
                }
            }
            due(&mut self.client, here);
            due(&mut self.server, there);
            while let Some(Transmit { to, bytes, .. }) = self.client.poll_transmit() {
                let To::One(link) = to else { panic!("a client has one link") };
                if let Some(bytes) = mangle(self.at, Way::Up, bytes.to_vec()) {
                    self.flying.push_back((self.at + self.latency, Way::Up, link, bytes));
                }
            }
            while let Some(Transmit { to, bytes, .. }) = self.server.poll_transmit() {
                let To::One(link) = to else { panic!("every client has its own messages") };
                if let Some(bytes) = mangle(self.at, Way::Down, bytes.to_vec()) {
                    self.flying.push_back((self.at + self.latency, Way::Down, link, bytes));
                }
            }
            if self.client.poll_close().or_else(|| self.server.poll_close()).is_some() {
                self.cut();
            }
            self.at += 1;
        }
    }

    /// Both sides lose the link, with all that is under way.
    pub(crate) fn cut(&mut self) {
        let (here, there) = (ms(self.at).plus(self.ahead), ms(self.at));
        if let Some(link) = self.link.take() {
            self.client.handle_close(here, link);
            self.server.handle_close(there, link);
        }
        self.flying.clear();
        self.open_at = self.at + 100;
    }
}

pub(crate) fn whole(_: i64, _: Way, bytes: Vec<u8>) -> Option<Vec<u8>> {
    Some(bytes)
}
