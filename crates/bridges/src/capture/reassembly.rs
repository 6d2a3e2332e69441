//! One direction of a TCP connection as a stream again: segments in any order, some twice, some never.
//!
//! No sockets and no clock. What waits for a missing segment is bounded.

use std::collections::BTreeMap;

use logpose_core::Time;

/// Where in a capture something was met, and when.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Mark {
    /// The byte of the file.
    pub(crate) at: u64,
    /// When it was captured.
    pub(crate) time: Time,
}

/// What a direction needs of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    /// Its sequence number.
    pub(crate) sequence: u32,
    /// It opens a connection.
    pub(crate) syn: bool,
    /// Where its payload was met.
    pub(crate) mark: Mark,
    /// Its payload.
    pub(crate) payload: &'a [u8],
}

/// What has become of segments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Event<'a> {
    /// A stream begins. What belongs to the one before is behind us.
    Begin {
        /// Its first bytes were not captured.
        middle: bool,
        /// Where its first segment is.
        mark: Mark,
    },
    /// The next bytes of the stream.
    Data {
        /// Where the first of them is.
        mark: Mark,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// Bytes of the stream are missing here.
    Hole {
        /// Where the segment behind them is, or the last one if there is none.
        mark: Mark,
        /// How many.
        length: u64,
    },
    /// No more will come of this stream.
    End,
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    stream: Option<Stream>,
    /// What came too early, by its place in the stream. Never two for one byte: the first copy stays.
    waiting: BTreeMap<u64, Waiting>,
    /// What waits costs so many bytes.
    cost: usize,
    /// How often something happened since the other side has received what is missing here.
    patience: u32,
}

/// The stream as far as it is known.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// The sequence number of its first byte.
    first: u32,
    /// How many bytes are behind us, missing ones too.
    place: u64,
    /// How many the other side has received.
    received: u64,
    /// Where the last segment was.
    last: Mark,
}

#[derive(Debug)]
struct Waiting {
    mark: Mark,
    bytes: Vec<u8>,
}

impl Reassembly {
    /// The most bytes that wait for a missing segment, with what it costs to keep them.
    pub(crate) const MOST_WAITING: usize = 1 << 20;
    /// So much may happen between a segment's acknowledgement and the segment itself. With several interfaces, or
    /// several queues of one, the order in a capture is not that on the wire.
    pub(crate) const PATIENCE: u32 = 8;

    /// Takes a segment of this direction.
    pub(crate) fn segment<E>(
        &mut self,
        piece: &Piece<'_>,
        out: &mut (impl FnMut(Event<'_>) -> Result<(), E> + ?Sized),
    ) -> Result<(), E> {
        let Piece { sequence, syn, mark, payload } = *piece;
        // The number of a SYN is that of the byte in front of the first one.
        let sequence = if syn { sequence.wrapping_add(1) } else { sequence };
        let stream = match self.stream {
            Some(stream) if syn && stream.first != sequence => None,
            Some(stream) if !payload.is_empty() && stream.distance(sequence).abs() > FAR => None,
            Some(stream) => Some(stream),
            // A segment without a payload may be a probe with any number.
            None if !syn && payload.is_empty() => return Ok(()),
            None => None,
        };
        let stream = match stream {
            Some(stream) => stream,
            None => {
                self.finish(out)?;
                out(Event::Begin { middle: !syn, mark })?;
                Stream { first: sequence, place: 0, received: 0, last: mark }
            }
        };
        self.stream = Some(Stream { last: mark, ..stream });
        let ahead = stream.distance(sequence);
        let behind = usize::try_from(-ahead).unwrap_or(0);
        let Some(payload) = payload.get(behind..).filter(|payload| !payload.is_empty()) else { return self.wait(out) };
        let mark = Mark { at: mark.at + behind as u64, ..mark };
        let place = stream.place + u64::try_from(ahead).unwrap_or(0);
        if place == stream.place && self.waiting.is_empty() {
            out(Event::Data { mark, bytes: payload })?;
            self.pass(payload.len() as u64);
            return Ok(());
        }
        self.keep(place, mark, payload);
        self.deliver(out)?;
        self.wait(out)
    }

    /// The other side says which byte it expects next.
    pub(crate) fn acknowledged<E>(
        &mut self,
        number: u32,
        out: &mut (impl FnMut(Event<'_>) -> Result<(), E> + ?Sized),
    ) -> Result<(), E> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let ahead = stream.distance(number);
        if (0..=FAR).contains(&ahead) {
            let received = stream.place + u64::try_from(ahead).unwrap_or(0);
            stream.received = stream.received.max(received);
        }
        self.wait(out)
    }

    /// The connection was broken off: what waits goes out, with holes. Of what was under way, something may still come.
    pub(crate) fn reset<E>(&mut self, out: &mut (impl FnMut(Event<'_>) -> Result<(), E> + ?Sized)) -> Result<(), E> {
        while !self.waiting.is_empty() {
            self.give_up(out)?;
        }
        Ok(())
    }

    /// No more will come.
    pub(crate) fn finish<E>(&mut self, out: &mut (impl FnMut(Event<'_>) -> Result<(), E> + ?Sized)) -> Result<(), E> {
        self.reset(out)?;
        let Some(stream) = self.stream.take() else { return Ok(()) };
        // The end of a stream has a number of its own, so one byte that was received may be none.
        if stream.received > stream.place + 1 {
            out(Event::Hole { mark: stream.last, length: stream.received - stream.place })?;
        }
        out(Event::End)
    }

    /// Gives up a hole if nothing speaks for its being filled.
    fn wait<E>(&mut self, out: &mut (impl FnMut(Event<'_>) -> Result<(), E> + ?Sized)) -> Result<(), E> {
        let Some((first, _)) = self.waiting.first_key_value() else { return Ok(()) };
        if self.stream.is_some_and(|stream| stream.received >= *first) {
            self.patience += 1;
        }
        if self.patience > Self::PATIENCE {
            self.give_up(out)?;
        }
        while self.cost > Self::MOST_WAITING {
            self.give_up(out)?;
        }
        Ok(())
    }

    fn give_up<E>(&mut self, out: &mut (impl FnMut(Event<'_>) -> Result<(), E> + ?Sized)) -> Result<(), E> {
        let (Some((first, waiting)), Some(stream)) = (self.waiting.first_key_value(), &mut self.stream) else {
            return Ok(());
        };
        let length = first.saturating_sub(stream.place);
        stream.place = *first;
        out(Event::Hole { mark: waiting.mark, length })?;
        self.deliver(out)
    }

    /// Hands on what waits no longer.
    fn deliver<E>(&mut self, out: &mut (impl FnMut(Event<'_>) -> Result<(), E> + ?Sized)) -> Result<(), E> {
        while let Some(first) = self.waiting.first_entry()
            && self.stream.is_some_and(|stream| stream.place == *first.key())
        {
            let Waiting { mark, bytes } = first.remove();
            self.cost = self.cost.saturating_sub(bytes.len() + KEEPING);
            self.patience = 0;
            out(Event::Data { mark, bytes: &bytes })?;
            self.pass(bytes.len() as u64);
        }
        Ok(())
    }

    fn pass(&mut self, length: u64) {
        if let Some(stream) = &mut self.stream {
            stream.place += length;
        }
    }

    /// Keeps those bytes for which nothing waits yet.
    fn keep(&mut self, place: u64, mark: Mark, payload: &[u8]) {
        let before = self.waiting.range(..=place).next_back().map_or(0, |(at, w)| at + w.bytes.len() as u64);
        let end = place + payload.len() as u64;
        let mut from = place.max(before);
        while from < end {
            let next = self.waiting.range(from..).next().map(|(at, w)| (*at, at + w.bytes.len() as u64));
            let (until, then) = next.filter(|(at, _)| *at < end).unwrap_or((end, end));
            let skip = usize::try_from(from - place).unwrap_or(usize::MAX);
            let length = usize::try_from(until - from).unwrap_or(0);
            if let Some(bytes) = payload.get(skip..).and_then(|rest| rest.get(..length)).filter(|b| !b.is_empty()) {
                let mark = Mark { at: mark.at + skip as u64, ..mark };
                self.cost += bytes.len() + KEEPING;
                self.waiting.insert(from, Waiting { mark, bytes: bytes.to_vec() });
            }
            from = then;
        }
    }
}

impl Stream {
    /// How far a sequence number is ahead of the next byte; they wrap around.
    fn distance(&self, sequence: u32) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "sequence numbers are places modulo 2^32")]
        let next = self.first.wrapping_add(self.place as u32);
        sequence.wrapping_sub(next).cast_signed().into()
    }
}

/// A number that is farther away belongs to another connection, whose beginning was not captured.
const FAR: i64 = 1 << 24;
/// What it costs to keep a segment, besides its bytes.
const KEEPING: usize = 128;

#[cfg(test)]
mod tests {
    use super::{Event, Mark, Piece, Reassembly};
    use logpose_core::Time;

    /// What came out, one after the other: data as text with its mark.
    #[derive(Debug, Default)]
    struct Tester {
        reassembly: Reassembly,
        seen: Vec<String>,
        at: u64,
    }

    impl Tester {
        fn out(seen: &mut Vec<String>, event: Event<'_>) -> Result<(), ()> {
            seen.push(match event {
                Event::Begin { middle, .. } => if middle { "middle" } else { "begin" }.to_owned(),
                Event::Data { mark, bytes } => format!("{}@{}", String::from_utf8_lossy(bytes), mark.at),
                Event::Hole { mark, length } => format!("hole {length}@{}", mark.at),
                Event::End => "end".to_owned(),
            });
            Ok(())
        }

        fn send(mut self, sequence: u32, syn: bool, text: &str) -> Self {
            self.at += 100;
            let mark = Mark { at: self.at, time: Time::ZERO };
            let piece = Piece { sequence, syn, mark, payload: text.as_bytes() };
            self.reassembly.segment(&piece, &mut |event| Self::out(&mut self.seen, event)).unwrap();
            self
        }

        fn ack(mut self, number: u32) -> Self {
            self.reassembly.acknowledged(number, &mut |event| Self::out(&mut self.seen, event)).unwrap();
            self
        }

        fn end(mut self, expected: &[&str]) {
            self.reassembly.finish(&mut |event| Self::out(&mut self.seen, event)).unwrap();
            assert_eq!(self.seen.pop().as_deref(), Some("end"));
            assert_eq!(self.seen, expected);
        }
    }

    #[test]
    fn segments_in_order_go_through() {
        Tester::default()
            .send(9, true, "")
            .send(10, false, "ab")
            .send(12, false, "c")
            .end(&["begin", "ab@200", "c@300"]);
    }

    #[test]
    fn numbers_wrap_around() {
        let t = Tester::default().send(u32::MAX - 1, true, "").send(1, false, "cd").send(u32::MAX, false, "ab");
        t.end(&["begin", "ab@300", "cd@200"]);
    }

    #[test]
    fn the_first_copy_wins() {
        let t = Tester::default().send(0, true, "").send(3, false, "cd").send(1, false, "ABCDEF").send(5, false, "xyz");
        t.end(&["begin", "AB@300", "cd@200", "EF@304", "z@402"]);
    }

    #[test]
    fn what_came_already_is_dropped() {
        let t = Tester::default().send(0, true, "").send(0, true, "").send(1, false, "abc").send(1, false, "abc");
        t.send(3, false, "XYZ").end(&["begin", "abc@300", "YZ@501"]);
    }

    #[test]
    fn a_hole_is_given_up_after_its_acknowledgement_and_some_patience() {
        let mut t = Tester::default().send(0, true, "").send(1, false, "a").send(5, false, "b").ack(6);
        for _ in 0..Reassembly::PATIENCE {
            assert_eq!(t.seen.len(), 2);
            t = t.ack(6);
        }
        assert_eq!(t.seen[2..], ["hole 3@300", "b@300"]);
        t.send(2, false, "xyz").send(6, false, "c").end(&["begin", "a@200", "hole 3@300", "b@300", "c@500"]);
    }

    #[test]
    fn a_segment_that_comes_just_behind_its_acknowledgement_fills_the_hole() {
        let t = Tester::default().send(0, true, "").send(3, false, "c").ack(4).send(1, false, "ab");
        t.end(&["begin", "ab@300", "c@200"]);
    }

    #[test]
    fn a_hole_at_the_end_is_told() {
        Tester::default().send(0, true, "").send(1, false, "a").ack(12).end(&["begin", "a@200", "hole 10@200"]);
        // The end of the stream has a number of its own.
        Tester::default().send(0, true, "").send(1, false, "a").ack(3).end(&["begin", "a@200"]);
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut t = Tester::default().send(0, true, "");
        let mut number = 100;
        while t.seen.len() == 1 {
            t = t.send(number, false, "x");
            number += 2;
            assert!(number < 100_000 && t.reassembly.cost <= Reassembly::MOST_WAITING);
        }
        assert_eq!(t.seen[1..], ["hole 99@200", "x@200"]);
    }

    #[test]
    fn another_syn_or_a_far_number_is_another_stream() {
        let t = Tester::default().send(0, true, "").send(3, false, "b").send(500, true, "").send(501, false, "c");
        let t = t.send(0x4000_0000, false, "d").send(7, false, "").send(7, false, "e");
        t.end(&[
            "begin",
            "hole 2@200",
            "b@200",
            "end",
            "begin",
            "c@400",
            "end",
            "middle",
            "d@500",
            "end",
            "middle",
            "e@700",
        ]);
    }

    #[test]
    fn a_number_half_around_the_circle_is_no_trouble() {
        let t = Tester::default().send(0, true, "").send(0x8000_0001, false, "").ack(0x8000_0001).send(1, false, "a");
        t.end(&["begin", "a@300"]);
    }

    #[test]
    fn a_capture_may_begin_in_the_middle() {
        Tester::default()
            .send(77, false, "")
            .send(80, false, "a")
            .send(81, false, "b")
            .end(&["middle", "a@200", "b@300"]);
    }
}
