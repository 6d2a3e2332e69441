use std::fmt;
use std::ops::ControlFlow;

use crate::{
    Channel, ChannelId, Columns, Decode, DecodeError, Encode, EncodeOptions, Index, Limits, Problems, ReadOptions, Row,
    Sample, Serve, Session, Sink, SinkError, Span, Time, Value,
};

/// What the rest of logpose may ask of a dialect. This is the one seam.
///
/// Dynamic calls are per log, per selection or per batch, never per record: inside, each dialect's loop is
/// monomorphic and allocates nothing.
///
/// A dialect without files has nothing but [`Dialect::info`] and its live sides; what is asked of files then says so.
pub trait Dialect: Sync {
    /// Its name, its files, what it can do.
    fn info(&self) -> &'static Info;

    /// Whether bytes from the front of a file look like this dialect.
    fn sniff(&self, head: &[u8]) -> Confidence {
        let _ = head;
        Confidence::No
    }

    /// One pass over a whole log, usually a mapped file: channels, counts, where the records are.
    fn index(&self, log: &[u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Index, DecodeError> {
        let _ = (log, read, problems);
        Err(no_files(self.info()))
    }

    /// All channels as flat buffers, in one pass without an index.
    fn columns(&self, log: &[u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Columns, DecodeError> {
        let _ = (log, read, problems);
        Err(no_files(self.info()))
    }

    /// The times of some of a channel's records, by their places: one for each.
    fn times(&self, log: &[u8], index: &Index, at: &[u64], out: &mut Vec<Time>) -> Result<(), DecodeError> {
        let _ = (log, index, at, out);
        Err(no_files(self.info()))
    }

    /// Gives the samples of some records to `take`, by their places: all in one call, in the order of `rows`. They last
    /// no longer than the call, because a dialect may have to make their values. A record that is not there is an
    /// error; a record whose payload is no value of its channel's type has no sample.
    fn samples(&self, log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        let _ = (log, index, rows, take);
        Err(no_files(self.info()).into())
    }

    /// All wanted samples, in the order of the file. A log that cannot be read is an error, never one without samples.
    fn replay(&self, log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let _ = (log, index, lookup, sink);
        Err(no_files(self.info()).into())
    }

    /// The dialect's own records from byte `from` on, each as one line. Damage ends it with an error.
    fn records(
        &self,
        log: &[u8],
        read: &ReadOptions<'_>,
        from: u64,
        line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), DecodeError> {
        let _ = (log, read, from, line);
        Err(no_files(self.info()))
    }

    /// Bytes in pieces, for streams and for files that still grow. `None` where only a whole file can be read.
    fn decoder(&self, read: &ReadOptions<'_>) -> Option<Box<dyn Decode>> {
        let _ = read;
        None
    }

    /// Samples to bytes, if the dialect can be written.
    fn encoder(&self, options: &EncodeOptions) -> Option<Box<dyn Encode>> {
        let _ = options;
        None
    }

    /// The side of its live conversation that listens to a robot, if it has one.
    fn client(&self, limits: Limits) -> Option<Box<dyn Session>> {
        let _ = limits;
        None
    }

    /// The side of its live conversation that a robot is, if it has one.
    fn server(&self, options: &EncodeOptions) -> Option<Box<dyn Serve>> {
        let _ = options;
        None
    }

    /// What is whole in a damaged log, as a log that is whole again, part by part. `None` where writing the samples anew
    /// is all that can be done.
    fn mend<'a>(&self, log: &'a [u8]) -> Option<Box<Mend<'a>>> {
        let _ = log;
        None
    }

    /// Stretches of about `bytes` bytes that can be read on their own, in the order of the file. Together they are
    /// the whole log.
    fn windows(&self, index: &Index, bytes: u64) -> Vec<Span> {
        let _ = (index, bytes);
        vec![Span { start: 0, end: u64::MAX }]
    }

    /// What is wanted as flat buffers, in one pass over the wanted bytes: one column for each channel of the index,
    /// empty where it is not wanted.
    fn scan(&self, log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
        Columns::of_rows(index, prepare, |sink| self.replay(log, index, lookup, sink))
    }

    /// How many binary numbers each channel has in what is wanted, and their sums, in one pass over the wanted bytes.
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
    fn rows(
        &self,
        log: &[u8],
        index: &Index,
        lookup: &Lookup,
        take: &mut dyn FnMut(&[Row]) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let within = lookup.within.map_or(0..u64::MAX, |within| within.start..within.end);
        let (mut at, mut times, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (id, channel) in (0..).zip(&index.channels).filter(|(id, _)| lookup.wants(*id)) {
            let mut positions = channel.positions.iter().filter(|at| within.contains(at)).peekable();
            while positions.peek().is_some() {
                at.clear();
                times.clear();
                rows.clear();
                at.extend(positions.by_ref().take(4096));
                self.times(log, index, &at, &mut times)?;
                let found = at.iter().zip(&times);
                let wanted =
                    found.filter_map(|(at, time)| Some(Row { time: lookup.admits(id, *time)?, at: *at, channel: id }));
                rows.extend(wanted);
                take(&rows)?;
            }
        }
        Ok(())
    }

    /// Some channels as flat buffers, found through the index.
    fn gather(
        &self,
        log: &[u8],
        index: &Index,
        channels: &[ChannelId],
        prepare: fn(&mut [u8]),
    ) -> Result<Columns, DecodeError> {
        let selected: Vec<_> =
            channels.iter().filter_map(|id| Some((*id, index.channels.get(*id as usize)?))).collect();
        let names: Vec<Channel> = selected.iter().map(|(_, c)| c.channel.clone()).collect();
        Columns::gather(names, prepare, |push| {
            let (mut at, mut times, mut rows) = (Vec::new(), Vec::new(), Vec::new());
            for (place, (id, channel)) in selected.iter().enumerate() {
                let mut positions = channel.positions.iter().peekable();
                while positions.peek().is_some() {
                    at.clear();
                    times.clear();
                    rows.clear();
                    at.extend(positions.by_ref().take(4096));
                    self.times(log, index, &at, &mut times)?;
                    rows.extend(at.iter().zip(&times).map(|(at, time)| Row { time: *time, at: *at, channel: *id }));
                    let end = self.samples(log, index, &rows, &mut |samples| {
                        samples.iter().for_each(|sample| push(place, sample.time, &sample.value));
                        Ok(())
                    });
                    // What only pushes fails for no other reason.
                    if let Err(SinkError::Source(error)) = end {
                        return Err(error);
                    }
                }
            }
            Ok(())
        })
    }
}

/// Why a dialect that is only spoken live reads no file.
fn no_files(info: &'static Info) -> DecodeError {
    let help =
        info.reached.first().map(|reach| format!("`logpose record {}HOST -o FILE` makes a file of it", reach.prefix()));
    DecodeError {
        dialect: info.name,
        code: "no-files",
        at: 0,
        message: format!("{} is spoken live and has no files", info.title),
        help,
    }
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

/// Appends the next part of a log that is whole again, and tells whether more follow.
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
    /// UDP datagrams that are answered at a fixed port of whoever sends them, and a TCP stream beside them. To a session
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
    /// Only records that begin in this stretch, one of [`Dialect::windows`].
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
