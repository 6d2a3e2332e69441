use std::fmt;
use std::ops::ControlFlow;

use crate::{
    Channel, ChannelId, ChannelIndex, Columns, Decode, DecodeError, Encode, EncodeOptions, Index, Limits, Problems,
    ReadOptions, Row, Sample, Serve, Session, Sink, SinkError, Span, Time, Value,
};

/// One format or protocol, as the rest of logpose sees it: what it is called, and what it offers.
///
/// This is the one seam. A dialect with files is also a [`FileDialect`], one that is spoken live a [`LiveDialect`], and
/// each side is asked for here, so that nobody can ask a protocol without files for the samples of one.
///
/// Dynamic calls are per log, per selection or per batch, never per record: inside, each dialect's loop is
/// monomorphic and allocates nothing.
pub trait Dialect: Sync {
    /// Its name, its files, how it is reached.
    fn info(&self) -> &'static Info;

    /// Its files, if it has any.
    fn files(&self) -> Option<&dyn FileDialect>;

    /// Its live conversation, if it has one.
    fn live(&self) -> Option<&dyn LiveDialect>;
}

/// A dialect that is spoken live.
pub trait LiveDialect: Dialect {
    /// The side that listens to a robot, if logpose can take it.
    fn client(&self, limits: Limits) -> Option<Box<dyn Session>>;

    /// The side that a robot is, if logpose can take it with these options.
    fn server(&self, options: &EncodeOptions) -> Option<Box<dyn Serve>>;
}

/// A dialect with files.
///
/// Everything a reader can lose samples by is required and returns errors: a log that cannot be read is never one
/// without samples, and a record that the index names and the log lacks is [`DecodeError::stale_index`]. The provided
/// methods are right for every dialect, because they are made of the required ones and lose nothing; a dialect
/// overrides them to be faster.
pub trait FileDialect: Dialect {
    /// Whether bytes from the front of a file look like this dialect.
    fn sniff(&self, head: &[u8]) -> Confidence;

    /// One pass over a whole log, usually a mapped file: channels, counts, where the records are.
    fn index(&self, log: &[u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Index, DecodeError>;

    /// The times of some of a channel's records, by their places: one for each.
    fn times(&self, log: &[u8], index: &Index, at: &[u64], out: &mut Vec<Time>) -> Result<(), DecodeError>;

    /// Gives the samples of some records to `take`, by their places: all in one call, in the order of `rows`. They last
    /// no longer than the call, because a dialect may have to make their values. A channel or a record that does not
    /// exist is an error; a record whose payload does not fit its channel's type has no sample.
    fn samples(&self, log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError>;

    /// All wanted samples, in the order of the file. A log that ends before its index says so is an error.
    fn replay(&self, log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError>;

    /// The dialect's own records from byte `from` on, each as one line. Damage ends it with an error.
    fn records(
        &self,
        log: &[u8],
        read: &ReadOptions<'_>,
        from: u64,
        line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), DecodeError>;

    /// Bytes in pieces, for streams and for files that still grow. `None` where only a whole file can be read.
    fn decoder(&self, read: &ReadOptions<'_>) -> Option<Box<dyn Decode>>;

    /// Samples to bytes. `None` if the dialect cannot be written, or not with these options.
    fn encoder(&self, options: &EncodeOptions) -> Option<Box<dyn Encode>>;

    /// The undamaged parts of a damaged log as a log of their own, part by part.
    ///
    /// By default `None`: then `recover` writes every sample that can be read anew, which keeps the same samples.
    fn mend<'a>(&self, log: &'a [u8]) -> Option<Box<Mend<'a>>> {
        let _ = log;
        None
    }

    /// Stretches of about `bytes` bytes that can be read on their own, in the order of the file. Together they are
    /// the whole log.
    ///
    /// By default one stretch with everything, which any log can be read by.
    fn windows(&self, index: &Index, bytes: u64) -> Vec<Span> {
        let _ = (index, bytes);
        vec![Span { start: 0, end: u64::MAX }]
    }

    /// What is wanted as flat buffers, in one pass over the wanted bytes: one column for each channel of the index,
    /// empty where it is not wanted.
    ///
    /// By default the samples of [`replay`](Self::replay), which are all of them.
    fn scan(&self, log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
        Columns::of_rows(self.info().name, index, prepare, |sink| self.replay(log, index, lookup, sink))
    }

    /// How many binary numbers each channel has in what is wanted, and their sums, in one pass over the wanted bytes.
    ///
    /// By default the sums of what [`scan`](Self::scan) gives.
    fn sums(
        &self,
        log: &[u8],
        index: &Index,
        lookup: &Lookup,
        prepare: fn(&mut [u8]),
    ) -> Result<Vec<Sum>, DecodeError> {
        Ok(self.scan(log, index, lookup, prepare)?.sums())
    }

    /// The places of all wanted samples with the times at which they come, in any order, some at a time. A dialect whose
    /// index may lack positions finds them by a walk.
    ///
    /// By default the positions of the index; an index without them is an error.
    fn rows(
        &self,
        log: &[u8],
        index: &Index,
        lookup: &Lookup,
        take: &mut dyn FnMut(&[Row]) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let within = lookup.within.map_or(0..u64::MAX, |within| within.start..within.end);
        check_placed(self.info(), index)?;
        let mut wanted = Vec::new();
        for (id, channel) in (0..).zip(&index.channels).filter(|(id, _)| lookup.wants(*id)) {
            let at = channel.positions.iter().filter(|at| within.contains(at));
            blocks(|at, times| self.times(log, index, at, times), id, at, &mut |rows| {
                wanted.clear();
                wanted.extend(rows.iter().filter_map(|row| Some(Row { time: lookup.admits(id, row.time)?, ..*row })));
                take(&wanted)
            })?;
        }
        Ok(())
    }

    /// Some channels as flat buffers, found through the index, in the order of `channels`.
    ///
    /// By default [`times`](Self::times) and [`samples`](Self::samples) of all positions; an index without positions
    /// is an error, and so is a channel that the log does not have.
    fn gather(
        &self,
        log: &[u8],
        index: &Index,
        channels: &[ChannelId],
        prepare: fn(&mut [u8]),
    ) -> Result<Columns, DecodeError> {
        let found = |id: &ChannelId| index.channel(self.info().name, *id);
        let selected: Vec<&ChannelIndex> = channels.iter().map(found).collect::<Result<_, _>>()?;
        let names: Vec<Channel> = selected.iter().map(|found| found.channel.clone()).collect();
        check_placed(self.info(), index)?;
        Columns::gather(names, prepare, |push| {
            for (place, (id, channel)) in channels.iter().zip(selected).enumerate() {
                let at = channel.positions.iter();
                blocks(|at, times| self.times(log, index, at, times), *id, at, &mut |rows| {
                    self.samples(log, index, rows, &mut |samples| {
                        samples.iter().for_each(|sample| push(place, sample.time, &sample.value));
                        Ok(())
                    })
                })
                .map_err(|error| error.into_source(self.info().name))?;
            }
            Ok(())
        })
    }
}

/// Refuses an index without positions, whose channels would seem to have no samples.
fn check_placed(info: &'static Info, index: &Index) -> Result<(), DecodeError> {
    if index.placed || index.channels.iter().all(|found| found.samples == 0) {
        return Ok(());
    }
    let message = "the index was made without positions".to_owned();
    Err(DecodeError { dialect: info.name, code: "no-positions", at: 0, message, help: None })
}

/// Gives the rows of one channel to `take`, some at a time.
fn blocks(
    times_of: impl Fn(&[u64], &mut Vec<Time>) -> Result<(), DecodeError>,
    channel: ChannelId,
    positions: impl Iterator<Item = u64>,
    take: &mut dyn FnMut(&[Row]) -> Result<(), SinkError>,
) -> Result<(), SinkError> {
    let (mut at, mut times, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut positions = positions.peekable();
    while positions.peek().is_some() {
        at.clear();
        times.clear();
        rows.clear();
        at.extend(positions.by_ref().take(4096));
        times_of(&at, &mut times)?;
        rows.extend(at.iter().zip(&times).map(|(at, time)| Row { time: *time, at: *at, channel }));
        take(&rows)?;
    }
    Ok(())
}

/// Takes some samples.
pub type TakeSamples<'t> = dyn FnMut(&[Sample<'_>]) -> Result<(), SinkError> + 't;

/// How many numbers there are, and what they add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// How many.
    pub count: u64,
    /// What they add up to.
    pub sum: f64,
}

impl Sum {
    /// The same with another value, if that is a binary32 or binary64 number.
    #[must_use]
    pub fn with(self, value: &Value<'_>) -> Self {
        match *value {
            Value::Double(x) => Self { count: self.count + 1, sum: self.sum + x },
            Value::Float(x) => Self { count: self.count + 1, sum: self.sum + f64::from(x) },
            _ => self,
        }
    }
}

/// Appends the next undamaged part of a log, and returns whether more follow.
pub type Mend<'a> = dyn FnMut(&mut Vec<u8>) -> bool + 'a;

/// What a dialect is.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name in commands and in code.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// Extensions of its files, without the dot.
    pub extensions: &'static [&'static str],
    /// What can be done with its files.
    pub files: Support,
    /// What can be done live.
    pub live: Support,
    /// How it is reached live, the usual way first.
    pub reached: &'static [Reach],
    /// The revisions that a caller can choose from, where the format has several.
    pub revisions: &'static [u8],
    /// What its files contain, where they cannot hold any channel whatever: "traffic".
    pub holds_only: Option<&'static str>,
    /// Whether its files state the wall-clock time in a channel `systemTime`, as those of WPILib's DataLogManager do.
    pub system_time: bool,
}

impl Info {
    /// A dialect of these names that offers nothing yet: the start of every description.
    ///
    /// ```
    /// use logpose_core::{Info, Support};
    ///
    /// static INFO: Info = Info {
    ///     extensions: &["toy"],
    ///     files: Support { read: true, write: true },
    ///     ..Info::new("toy", "Toy log")
    /// };
    /// ```
    #[must_use]
    pub const fn new(name: &'static str, title: &'static str) -> Self {
        const NO: Support = Support { read: false, write: false };
        Self {
            name,
            title,
            extensions: &[],
            files: NO,
            live: NO,
            reached: &[],
            revisions: &[],
            holds_only: None,
            system_time: false,
        }
    }

    /// Why a dialect that is only spoken live reads no file.
    #[must_use]
    pub fn no_files(&self) -> DecodeError {
        let usual = self.reached.first();
        DecodeError {
            dialect: self.name,
            code: "no-files",
            at: 0,
            message: format!("{} is spoken live and has no files", self.title),
            help: usual.map(|reach| format!("`logpose record {}HOST -o FILE` makes a file of it", reach.prefix())),
        }
    }
}

/// A way to reach a live dialect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reach {
    /// The scheme of its addresses.
    pub scheme: &'static str,
    /// What carries it.
    pub transport: Transport,
}

impl Reach {
    /// What stands in front of its addresses: `rlog://`, `refloat+serial:`.
    #[must_use]
    pub fn prefix(&self) -> String {
        let behind = if matches!(self.transport, Transport::Serial { .. }) { ":" } else { "://" };
        format!("{}{behind}", self.scheme)
    }
}

/// What carries a live dialect, and at which port it is found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transport {
    /// A TCP stream.
    Tcp {
        /// The usual port.
        port: u16,
    },
    /// UDP datagrams.
    Udp {
        /// The usual port.
        port: u16,
    },
    /// Bytes of a serial port, which is found by its path or name.
    Serial {
        /// The usual bits a second.
        baud: u32,
    },
    /// Bytes of the UART service of Nordic Semiconductor over Bluetooth Low Energy. A device is found by its name or address.
    Bluetooth,
    /// Messages of a WebSocket.
    WebSocket {
        /// The usual port.
        port: u16,
        /// The path that a client asks for; its own name is put behind it.
        path: &'static str,
        /// The subprotocols, the best first.
        protocols: &'static [&'static str],
        /// Subprotocols that only a server answers to.
        also: &'static [&'static str],
    },
    /// UDP datagrams that are answered at a fixed port of the sender, and a TCP stream beside them. To a session
    /// the first link that is open is the one of the datagrams, and any other is the stream.
    Paired {
        /// The port to which datagrams go.
        port: u16,
        /// The port of our own to which the answers come.
        answers: u16,
        /// The port of the stream.
        stream: u16,
        /// A datagram that asks whether somebody is there, and changes nothing.
        hello: &'static [u8],
    },
}

/// What can be done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Support {
    /// It can be read.
    pub read: bool,
    /// It can be written.
    pub write: bool,
}

/// How sure a dialect is that bytes are its own.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Confidence {
    /// They are not.
    No,
    /// They could be, damaged or headless.
    Perhaps,
    /// They are.
    Yes,
}

/// One thing a dialect has to say about a log as a whole.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fact {
    /// What, as a word for scripts.
    pub key: &'static str,
    /// The value.
    pub value: String,
}

/// Which channels and times are wanted.
#[derive(Clone, Debug, Default)]
pub struct Lookup {
    /// For each channel whether it is wanted; empty for all.
    pub channels: Vec<bool>,
    /// From when on, this moment included.
    pub start: Option<Time>,
    /// Until when, this moment included.
    pub end: Option<Time>,
    /// For each channel whether its samples are wanted at any time, as those of schemas are: what lies before the
    /// start comes at the start, and what lies behind the end at the end. Empty for none.
    pub always: Vec<bool>,
    /// Only records that begin in this stretch, one of [`FileDialect::windows`].
    pub within: Option<Span>,
    /// Whether the times of columns will not be asked for: then a scan may leave them out.
    pub untimed: bool,
}

impl Lookup {
    /// Whether a channel is wanted.
    #[inline]
    #[must_use]
    pub fn wants(&self, channel: ChannelId) -> bool {
        self.channels.is_empty() || self.channels.get(channel as usize).copied().unwrap_or(false)
    }

    /// When a sample of a channel comes: at its own time if that is wanted, never if it is not.
    #[inline]
    #[must_use]
    pub fn admits(&self, channel: ChannelId, time: Time) -> Option<Time> {
        let late = self.start.map_or(time, |start| time.max(start));
        let within = self.end.map_or(late, |end| late.min(end));
        let always = || self.always.get(channel as usize).copied().unwrap_or(false);
        (within == time || always()).then_some(within)
    }
}

/// One record of a dialect, for `dump`.
#[derive(Clone, Copy)]
pub struct RecordLine<'a> {
    /// Its first byte.
    pub at: u64,
    /// Its length in bytes.
    pub length: u64,
    /// The record in one line.
    pub text: &'a dyn fmt::Display,
}
