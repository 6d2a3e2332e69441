//! All that the rest of logpose sees of a board.

use std::ops::ControlFlow;

use logpose_core::{
    Confidence, Decode, DecodeError, Dialect, Encode, EncodeOptions, FileDialect, Index, Info, Limits, LiveDialect,
    Lookup, Mend, Problems, Reach, ReadOptions, RecordLine, Row, Serve, Session, Sink, SinkError, Support, TakeSamples,
    Time, Transport,
};

use crate::file::{self, Encoder, StreamDecoder};
use crate::rfrec::{MAGIC, Recording};
use crate::session::{Client, ClientOptions, LiveOptions};

/// Refloat boards: their recordings as files, and the boards themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refloat;

/// The port of VESC Express and of VESC Tool's bridge.
pub const PORT: u16 = 65102;
/// The default baud rate of a VESC's serial port.
pub const BAUD: u32 = 115_200;

/// Its name in commands and in code.
pub const NAME: &str = "refloat";

static INFO: Info = Info {
    extensions: &["rfrec"],
    files: Support { read: true, write: true },
    live: Support { read: true, write: false },
    reached: &[
        Reach { scheme: "refloat+tcp", transport: Transport::Tcp { port: PORT } },
        Reach { scheme: "refloat+serial", transport: Transport::Serial { baud: BAUD } },
        Reach { scheme: "refloat+udp", transport: Transport::Udp { port: PORT } },
        #[cfg(feature = "ble")]
        Reach { scheme: "refloat+ble", transport: Transport::Bluetooth },
    ],
    holds_only: Some("what a board recorded"),
    ..Info::new(NAME, "Refloat recording")
};

impl Dialect for Refloat {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn files(&self) -> Option<&dyn FileDialect> {
        Some(self)
    }

    fn live(&self) -> Option<&dyn LiveDialect> {
        Some(self)
    }
}

impl LiveDialect for Refloat {
    fn client(&self, limits: Limits) -> Option<Box<dyn Session>> {
        let live = Some(LiveOptions::default());
        Some(Box::new(Client::new(ClientOptions { live, limits, ..ClientOptions::default() })))
    }

    /// None: a board is emulated by `logpose-sim`, which needs its motion.
    fn server(&self, _: &EncodeOptions) -> Option<Box<dyn Serve>> {
        None
    }
}

impl FileDialect for Refloat {
    fn sniff(&self, head: &[u8]) -> Confidence {
        match head {
            _ if head.starts_with(&MAGIC) => Confidence::Yes,
            // Perhaps its line end was changed, which is better said than that nobody knows it.
            _ if head.starts_with(b"RFLTREC") => Confidence::Perhaps,
            _ => Confidence::No,
        }
    }

    fn index(&self, log: &[u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Index, DecodeError> {
        let recording = Recording::read(log)?;
        let index = file::index(&recording, read);
        problems.append(recording.problems);
        Ok(index)
    }

    fn times(&self, _: &[u8], index: &Index, at: &[u64], out: &mut Vec<Time>) -> Result<(), DecodeError> {
        index.marked_times(NAME, file::places(index), at, out)
    }

    fn samples(&self, log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        file::samples(log, index, rows, take)
    }

    fn replay(&self, log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        file::replay(log, index, lookup, sink)
    }

    fn records(
        &self,
        log: &[u8],
        _: &ReadOptions<'_>,
        from: u64,
        line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), DecodeError> {
        file::records(log, from, line)
    }

    fn decoder(&self, read: &ReadOptions<'_>) -> Option<Box<dyn Decode>> {
        Some(Box::new(StreamDecoder::new(read.limits)))
    }

    fn encoder(&self, options: &EncodeOptions) -> Option<Box<dyn Encode>> {
        let known = options.revision.is_none();
        known.then(|| -> Box<dyn Encode> { Box::new(Encoder::default()) })
    }

    /// The blocks that are whole, as they are: their numbers are kept, so that a partial recording can still be gone on with.
    fn mend<'a>(&self, log: &'a [u8]) -> Option<Box<Mend<'a>>> {
        let recording = Recording::read(log).ok()?;
        Some(Box::new(move |out| {
            file::mend(log, &recording, out);
            false
        }))
    }
}
