//! What a board says.

use std::fmt;

use logpose_core::Hex;

use super::{Alerts, Compact, Data, Header, Info, Live, LiveIds, LiveMask, Status, WireError, id, show};

/// A message of a board.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply<'a> {
    /// Who it is.
    Info(Info),
    /// What its recorder does.
    Status(Status),
    /// What its recording holds.
    Header(Header<'a>),
    /// Samples of its recording.
    Data(Data<'a>),
    /// The ids of its live values.
    LiveIds(LiveIds<'a>),
    /// Live values in the order of the ids.
    Live(Live<'a>),
    /// Live values chosen by bits.
    LiveMask(LiveMask<'a>),
    /// Live values in the compact form.
    Compact(Compact),
    /// Alerts.
    Alerts(Alerts<'a>),
    /// A message of the package that is none of these, whole.
    Other(&'a [u8]),
}

impl<'a> Reply<'a> {
    /// Reads a message; an error if another package sent it or it is damaged.
    pub fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let (kind, _) = show::begin(message)?;
        Ok(match kind {
            id::INFO => Self::Info(Info::parse(message)?),
            id::DATA_RECORD => Self::Status(Status::parse(message)?),
            id::HEADER => Self::Header(Header::parse(message)?),
            id::DATA => Self::Data(Data::parse(message)?),
            id::LIVE_IDS => Self::LiveIds(LiveIds::parse(message)?),
            id::LIVE => Self::Live(Live::parse(message)?),
            id::LIVE_MASK => Self::LiveMask(LiveMask::parse(message)?),
            id::REALTIME => Self::Compact(Compact::parse(message)?),
            id::ALERTS => Self::Alerts(Alerts::parse(message)?),
            _ => Self::Other(message),
        })
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Info(reply) => reply.emit(out),
            Self::Status(reply) => reply.emit(out),
            Self::Header(reply) => reply.emit(out),
            Self::Data(reply) => reply.emit(out),
            Self::LiveIds(reply) => reply.emit(out),
            Self::Live(reply) => reply.emit(out),
            Self::LiveMask(reply) => reply.emit(out),
            Self::Compact(reply) => reply.emit(out),
            Self::Alerts(reply) => reply.emit(out),
            Self::Other(message) => out.extend_from_slice(message),
        }
    }
}

impl fmt::Display for Reply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Info(reply) => reply.fmt(f),
            Self::Status(reply) => reply.fmt(f),
            Self::Header(reply) => reply.fmt(f),
            Self::Data(reply) => reply.fmt(f),
            Self::LiveIds(reply) => reply.fmt(f),
            Self::Live(reply) => reply.fmt(f),
            Self::LiveMask(reply) => reply.fmt(f),
            Self::Compact(reply) => reply.fmt(f),
            Self::Alerts(reply) => reply.fmt(f),
            Self::Other(message) => write!(f, "other message: {}", Hex(message)),
        }
    }
}
