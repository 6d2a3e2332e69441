//! What the fuzz targets call. The ordinary tests run the same functions over generated inputs.

use logpose_core::{
    Channel, ChannelId, Cursor, Layout, Limits, Link, Problem, Sample, Serve, Session, Sink, SinkError, Time, Type,
    Value,
};

use crate::{
    Message, Messages, Notice, Nt4Client, Nt4Server, Options, Request, ServerOptions, Update, Updates, is_text,
};

const TYPES: [&str; 14] = [
    "boolean",
    "int64",
    "float",
    "double",
    "string",
    "json",
    "raw",
    "boolean[]",
    "int64[]",
    "float[]",
    "double[]",
    "string[]",
    "struct:Pose2d",
    "structschema",
];

/// Both sides, given anything.
pub fn session(data: &[u8]) {
    client(data);
    server(data);
}

fn client(data: &[u8]) {
    let mut client = Nt4Client::new(Options::default(), limits());
    let mut sink = Checked::default();
    let (mut now, mut link) = (Time::ZERO, Link(0));
    for (first, piece) in pieces(data) {
        now = now.plus(i64::from(first) * 20_000_000);
        client.handle_timeout(now);
        if !client.is_connected() {
            link = Link(link.0 + 1);
            client.handle_open(now, link);
        }
        let _ = client.handle_input(now, link, piece, &mut sink);
        drain(&mut client);
    }
}

fn server(data: &[u8]) {
    let mut server = Nt4Server::new(ServerOptions {
        limits: limits(),
        kept: 1 << 14,
        publishers: 8,
        properties: 1 << 10,
        subscriptions: 8,
        names: 32,
    });
    let mut sink = Checked::default();
    let mut now = Time::ZERO;
    for (first, piece) in pieces(data) {
        now = now.plus(i64::from(first) * 1_000_000);
        let link = Link(u32::from(first) % 3);
        match first % 16 {
            0 => server.handle_open(now, link),
            1 => server.handle_close(now, link),
            2 => server.introduce(link, &String::from_utf8_lossy(piece), "here"),
            3 => feed(&mut server, now, piece),
            // Most of a conversation is messages, and a link that does not exist tests nothing.
            _ => {
                let _ = server.handle_input(now, link, piece, &mut sink);
                if server.poll_close().is_some() || first % 16 == 4 {
                    server.handle_open(now, link);
                }
            }
        }
        if server.poll_timeout().is_some_and(|due| due <= now) {
            server.handle_timeout(now);
        }
        drain(&mut server);
    }
}

/// Declares, ends and publishes channels of a server.
fn feed(server: &mut Nt4Server, now: Time, piece: &[u8]) {
    let [what, id, rest @ ..] = piece else { return };
    let (id, ty) = (ChannelId::from(*id % 4), usize::from(*what >> 2) % TYPES.len());
    let sink = server.sink(now);
    let name = TYPES.get(ty).copied().unwrap_or("raw");
    let _ = match what & 3 {
        0 => sink.channel(id, &Channel::new(format!("NT:/{}", id % 2), name)),
        1 => sink.end(id, now),
        2 => sink.metadata(id, now, &String::from_utf8_lossy(rest)),
        _ => match Value::parse(Type::of(name), rest, Layout::Little) {
            Ok(value) => sink.samples(&[Sample { channel: id, time: now, value }]),
            Err(_) => Ok(()),
        },
    };
}

/// Messages are the same when they are written and read again; values are the same on the other side.
pub fn roundtrip(data: &[u8]) {
    if is_text(data) {
        again::<Request>(data);
        again::<Notice>(data);
    }
    for update in Updates::new(data).map_while(Result::ok) {
        let mut bytes = Vec::new();
        update.emit(&mut bytes);
        let back = Update::parse(&mut Cursor::new(&bytes, 0));
        // NaN is not itself, so the bytes and the texts are compared.
        let same = back.as_ref().is_ok_and(|back| back.bytes == update.bytes && back.to_string() == update.to_string());
        assert!(same, "{update} came back as {back:?}");
    }
    values(data);
}

fn again<M: Message + PartialEq + std::fmt::Debug>(text: &[u8]) {
    for message in Messages::<M>::new(text).filter_map(Result::ok) {
        let written = format!("[{}]", message.to_json());
        let mut back = Messages::<M>::new(written.as_bytes());
        assert_eq!(back.next(), Some(Ok(message)), "{written}");
        assert_eq!(back.next(), None);
    }
}

/// Values of all types through a server and a client.
fn values(data: &[u8]) {
    let (mut server, mut client) =
        (Nt4Server::new(ServerOptions::default()), Nt4Client::new(Options::default(), Limits::default()));
    let (link, now) = (Link(1), Time::from_millis(5));
    let mut given = Checked::default();
    let mut found = Checked::default();
    for (id, name) in (0..).zip(TYPES) {
        let _ = server.sink(now).channel(id, &Channel::new(format!("/{id}"), name));
    }
    client.handle_open(now, link);
    server.handle_open(now, link);
    exchange(&mut server, &mut client, now, link, &mut found);
    for (first, piece) in pieces(data) {
        let at = usize::from(first) % TYPES.len();
        let ty = Type::of(TYPES.get(at).copied().unwrap_or("raw"));
        // MessagePack has no other truth than true.
        let truths: Vec<u8> = piece.iter().map(|byte| byte & 1).collect();
        let bytes = if ty == Type::BooleanArray { &truths } else { piece };
        let Ok(value) = Value::parse(ty, bytes, Layout::Little) else { continue };
        let channel = ChannelId::try_from(at).unwrap_or(0);
        let sample = Sample { channel, time: now, value };
        assert!(server.sink(now).samples(&[sample]).is_ok(), "{value:?}");
        given.values.push((format!("NT:/{channel}"), emitted(&value)));
    }
    exchange(&mut server, &mut client, now.plus(100_000_000), link, &mut found);
    assert_eq!(given.values, found.values);
    assert_eq!(found.problems, 0);
}

fn exchange(server: &mut Nt4Server, client: &mut Nt4Client, now: Time, link: Link, found: &mut Checked) {
    for _ in 0..3 {
        while let Some(transmit) = client.poll_transmit() {
            let _ = server.handle_input(now, link, &transmit.bytes, &mut Checked::default());
        }
        server.handle_timeout(now);
        while let Some(transmit) = server.poll_transmit() {
            assert_eq!(transmit.text, is_text(&transmit.bytes));
            let _ = client.handle_input(now, link, &transmit.bytes, found);
        }
    }
}

/// The first byte of each piece says how long it is, and more.
fn pieces(data: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let (first, after) = rest.split_first()?;
        // Text is long, and nothing else in a piece begins with it.
        let length = match after.first() {
            Some(b'[') => after.iter().position(|byte| *byte == b'\n').map_or(after.len(), |end| end + 1),
            _ => usize::from(*first),
        };
        let (piece, after) = after.split_at_checked(length).unwrap_or((after, &[]));
        rest = after;
        Some((*first, piece))
    })
}

fn limits() -> Limits {
    Limits { record_len: 1 << 16, channels: 20, held_back: 1 << 12 }
}

fn drain(session: &mut dyn Session) {
    while let Some(transmit) = session.poll_transmit() {
        assert_eq!(transmit.text, is_text(&transmit.bytes), "the first byte distinguishes text from values");
        if transmit.text {
            let messages = std::str::from_utf8(&transmit.bytes).map(serde_json::from_str::<serde_json::Value>);
            assert!(matches!(messages, Ok(Ok(_))));
        } else {
            assert!(Updates::new(&transmit.bytes).all(|update| update.is_ok()));
        }
    }
    while session.poll_close().is_some() {}
}

fn emitted(value: &Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    value.emit(Layout::Little, &mut out);
    out
}

/// Asserts what every sink may rely on.
#[derive(Debug, Default)]
struct Checked {
    channels: Vec<Channel>,
    values: Vec<(String, Vec<u8>)>,
    problems: usize,
}

impl Checked {
    fn known(&self, id: ChannelId) -> &Channel {
        let Some(channel) = self.channels.get(id as usize) else { panic!("channel {id} was not declared") };
        channel
    }
}

impl Sink for Checked {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        assert_eq!(id as usize, self.channels.len(), "numbers in the order of declaration");
        let declared = self.channels.iter().any(|c| c.name == channel.name && c.type_name == channel.type_name);
        assert!(!declared, "{channel:?} twice");
        self.channels.push(channel.clone());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let channel = self.known(sample.channel);
            assert_eq!(channel.ty(), sample.value.ty());
            let name = channel.name.clone();
            self.values.push((name, emitted(&sample.value)));
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, _: Time, _: &str) -> Result<(), SinkError> {
        self.known(id);
        Ok(())
    }

    fn end(&mut self, id: ChannelId, _: Time) -> Result<(), SinkError> {
        self.known(id);
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        self.problems += 1;
    }
}
