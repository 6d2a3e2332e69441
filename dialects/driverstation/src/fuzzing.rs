//! What the fuzz targets call. The ordinary tests run the same functions over generated inputs.

mod session;

use logpose_core::{Channel, ChannelId, Problem, Sample, Sink, SinkError, Time};

pub use session::{script, session};

use crate::Mapper;
use crate::usage::Entries;
use crate::wire::{
    Control, ControlTag, Messages, RawTag, Status, StatusTag, TagProblem, Tags, ToRobot, ToStation, plausible,
};

/// What can be read is written as it came: packets, tags and messages of both directions, and streams in pieces.
pub fn roundtrip(data: &[u8]) {
    let mut out = Vec::new();
    if let Ok(packet) = Control::parse(data) {
        packet.emit(&mut out);
        assert_eq!(out, data, "{packet}");
        tags(packet.tags, data, |tag, out| ControlTag::parse(tag).map(|tag| tag.emit(out)));
        // What is forgiven comes at the end, and nothing but that is different.
        let (strict, lenient) = (packet.tags.count(), packet.tags.lenient().count());
        assert_eq!(strict, lenient);
    }
    if let Ok(packet) = Status::parse(data) {
        out.clear();
        packet.emit(&mut out);
        assert_eq!(out, data, "{packet}");
        tags(packet.tags, data, |tag, out| StatusTag::parse(tag).map(|tag| tag.emit(out)));
    }
    framing(data);
}

fn tags(tags: Tags<'_>, datagram: &[u8], again: fn(RawTag<'_>, &mut Vec<u8>) -> Result<(), TagProblem>) {
    let mut out = Vec::new();
    let mut next = datagram.len() - tags.bytes().len();
    for tag in tags {
        match tag {
            Ok(tag) => {
                assert_eq!(tag.at, next, "no byte is left over");
                out.clear();
                tag.emit(&mut out);
                assert!(datagram.get(next..).is_some_and(|rest| rest.starts_with(&out)), "{tag}");
                next += out.len();
                let whole = std::mem::take(&mut out);
                match again(tag, &mut out) {
                    Ok(()) => assert_eq!(out, whole, "{tag}"),
                    Err(problem) => {
                        assert_eq!((problem.at(), problem.length()), (tag.at, whole.len()));
                    }
                }
            }
            Err(problem) => {
                assert_eq!(problem.at(), next);
                next += problem.length();
            }
        }
    }
    assert_eq!(next, datagram.len());
}

/// A stream that comes in pieces has the messages of one that comes at once.
fn framing(data: &[u8]) {
    let mut whole = Messages::default();
    whole.push(data);
    let mut pieces = Messages::default();
    // The bytes themselves say how they are cut.
    let mut rest = data;
    while let Some(first) = rest.first() {
        let (piece, after) = rest.split_at_checked(1 + usize::from(*first) % 7).unwrap_or((rest, &[]));
        rest = after;
        pieces.push(piece);
        while let Some((at, body)) = pieces.next() {
            assert_eq!(whole.next(), Some((at, body)));
            let message = usize::try_from(at).ok().and_then(|at| data.get(at..at + 2 + body.len()));
            messages(body, message.unwrap_or_default());
        }
    }
    assert_eq!(whole.next(), None);
    assert_eq!(whole.rest_len(), pieces.rest_len());
    assert_eq!(whole.offset() + whole.rest_len() as u64, data.len() as u64);
    let _ = (plausible(data, true), plausible(data, false));
}

fn messages(body: &[u8], message: &[u8]) {
    let mut out = Vec::new();
    if let Ok(parsed) = ToRobot::parse(body) {
        parsed.emit(&mut out);
        assert_eq!(out, message, "{parsed}");
    }
    if let Ok(parsed) = ToStation::parse(body) {
        out.clear();
        parsed.emit(&mut out);
        assert_eq!(out, message, "{parsed}");
        if let ToStation::Usage(report) = parsed {
            assert!(Entries::new(report.entries).count() <= body.len());
        }
    }
}

/// A link on which anything happens at any time.
pub fn mapper(data: &[u8]) {
    let (mut mapper, mut sink) = (Mapper::new(), Checked::default());
    let (mut now, mut at) = (Time::ZERO, 0);
    let mut rest = data;
    while let [what, wait, length, after @ ..] = rest {
        let (packet, after) = after.split_at_checked(usize::from(*length)).unwrap_or((after, &[]));
        rest = after;
        // Clocks of captures sometimes step back.
        now = now.plus(i64::from(*wait) * 5_000_000 - i64::from(*what >> 7) * 200_000_000);
        sink.span = at..at + packet.len() as u64 + 2;
        sink.calls = 0;
        let done = match what & 7 {
            0..2 => mapper.control(now, at, packet, &mut sink),
            2..4 => mapper.status(now, at, packet, &mut sink),
            4 => mapper.to_robot(now, at, packet, &mut sink),
            5 => mapper.to_station(now, at, packet, &mut sink),
            6 => mapper.reach(now, &mut sink),
            // A packet and its reply.
            _ => mapper.control(now, at, packet, &mut sink).and_then(|()| {
                sink.calls = 0;
                mapper.status(now.plus(1_500_000), at, packet, &mut sink)
            }),
        };
        assert!(done.is_ok());
        at += packet.len() as u64;
    }
    sink.calls = 0;
    assert!(mapper.finish(&mut sink).is_ok());
}

/// Asserts what every sink may rely on.
#[derive(Debug, Default)]
struct Checked {
    channels: Vec<Channel>,
    /// The range of the packet that problems may refer to.
    span: std::ops::Range<u64>,
    calls: usize,
}

impl Sink for Checked {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        assert_eq!(id as usize, self.channels.len(), "numbers in the order of declaration");
        assert!(!self.channels.iter().any(|known| known.name == channel.name), "{channel:?} twice");
        self.channels.push(channel.clone());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.calls += 1;
        assert!(self.calls <= 1, "the samples of one packet come in one call");
        for sample in samples {
            let Some(channel) = self.channels.get(sample.channel as usize) else {
                panic!("channel {} was not declared", sample.channel)
            };
            assert_eq!(channel.ty(), sample.value.ty(), "{}", channel.name);
            if channel.type_name == "json" {
                let mut text = Vec::new();
                sample.value.emit(logpose_core::Layout::Little, &mut text);
                assert!(serde_json::from_slice::<serde_json::Value>(&text).is_ok(), "{}", channel.name);
            }
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        let at = problem.at.unwrap_or(u64::MAX);
        assert!(self.span.start <= at && at + problem.length <= self.span.end, "{problem:?} in {:?}", self.span);
    }
}
