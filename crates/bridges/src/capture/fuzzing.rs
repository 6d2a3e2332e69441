//! What the fuzz targets call. They have this module alone: the whole crate brings Parquet and Arrow along, which take long
//! to build.

use logpose_core::{Channel, ChannelId, Limits, Problem, Problems, ReadOptions, Sample, Sink, SinkError, Time, Type};

use super::reassembly::{Event, Mark, Piece, Reassembly};

/// A whole capture: what comes out must make sense, and every problem is in the file.
pub(crate) fn decode(data: &[u8]) {
    for salvage in [false, true] {
        let limits = Limits { record_len: 1 << 16, channels: 1000, ..Limits::default() };
        let read = ReadOptions { limits, salvage, ..ReadOptions::default() };
        let (mut sink, mut problems) = (Checked::default(), Problems::default());
        let Ok(header) = super::read(data, &read, &mut sink, &mut problems) else { continue };
        assert_eq!(header.channels.len(), sink.types.len(), "channels in the header and channels that were announced");
        for problem in problems.list().iter().chain(&sink.problems) {
            assert!(problem.at.unwrap_or(0) <= data.len() as u64, "{problem}: not in the file");
        }
    }
}

/// A sink that looks at what it is given.
#[derive(Default)]
struct Checked {
    types: Vec<Type>,
    problems: Vec<Problem>,
}

impl Sink for Checked {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        assert_eq!(id as usize, self.types.len(), "numbers follow each other");
        self.types.push(channel.ty());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            assert_eq!(self.types.get(sample.channel as usize), Some(&sample.value.ty()), "a sample of another type");
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// A stream in segments, any of which may be missing, come twice, overlap or be in the wrong place.
///
/// Every byte that comes out must be the stream's own, in its place, and only what no segment held may be missing.
pub(crate) fn reassembly(data: &[u8]) {
    let Some(([first, rest @ ..], orders)) = data.split_first_chunk::<5>() else { return };
    let begin = u32::from_be_bytes(*rest);
    let length = usize::from(*first) * 16;
    let byte = |place: usize| (place % 251).to_le_bytes().first().copied().unwrap_or(0);
    let stream: Vec<u8> = (0..length).map(byte).collect();
    let mut seen = vec![false; length];
    let mut given = Given::default();
    let mut reassembly = Reassembly::default();
    let number = |place: usize| begin.wrapping_add(1).wrapping_add(u32::try_from(place).unwrap_or(0));
    let mark = |at: usize| Mark { at: at as u64, time: Time::ZERO };
    let syn = Piece { sequence: begin, syn: true, mark: mark(0), payload: &[] };
    let mut out = |event: Event<'_>| given.take(event, &stream);
    let result: Result<(), Never> = (|| {
        reassembly.segment(&syn, &mut out)?;
        for order in orders.chunks_exact(4) {
            let [a, b, c, d] = *order else { return Ok(()) };
            let place = usize::from(u16::from_be_bytes([a, b])) % (length + 1);
            if d == 0xff {
                reassembly.acknowledged(number(place), &mut out)?;
                continue;
            }
            let payload = stream.get(place..length.min(place + usize::from(c))).unwrap_or_default();
            if let Some(seen) = seen.get_mut(place..place + payload.len()) {
                seen.fill(true);
            }
            // Its mark is its place, so that the marks that come out can be checked.
            let piece = Piece { sequence: number(place), syn: false, mark: mark(place), payload };
            reassembly.segment(&piece, &mut out)?;
        }
        reassembly.finish(&mut out)
    })();
    let Ok(()) = result;
    // Without acknowledgements nothing is given up early: what came is what was sent.
    if orders.chunks_exact(4).all(|order| order.last() != Some(&0xff)) {
        let all = seen.iter().filter(|seen| **seen).count() as u64;
        assert_eq!(given.bytes, all, "bytes that came and bytes that were given");
    }
}

/// What cannot happen.
type Never = std::convert::Infallible;

/// How much of a stream came out.
#[derive(Default)]
struct Given {
    place: u64,
    bytes: u64,
}

impl Given {
    fn take(&mut self, event: Event<'_>, stream: &[u8]) -> Result<(), Never> {
        match event {
            Event::Begin { middle, .. } => assert!(!middle && self.place == 0, "a second beginning"),
            Event::Hole { length, .. } => self.place += length,
            Event::End => {}
            Event::Data { mark, bytes } => {
                assert_eq!(mark.at, self.place, "the mark is not that of the bytes");
                let place = usize::try_from(self.place).unwrap_or(usize::MAX);
                assert_eq!(stream.get(place..).and_then(|rest| rest.get(..bytes.len())), Some(bytes), "other bytes");
                self.place += bytes.len() as u64;
                self.bytes += bytes.len() as u64;
            }
        }
        Ok(())
    }
}
