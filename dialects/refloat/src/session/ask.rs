//! Requests, one after the other: each is sent until it is answered or given up.

use std::fmt;
use std::time::Duration;

use logpose_core::Time;

use super::job::Wish;
use crate::vesc::{self, command};
use crate::wire::{Control, Request, Version};

/// A controller asks all its nodes one after the other.
pub(super) const PING_TIMEOUT: i64 = 5_000_000_000;
/// How often a bus is asked for its nodes.
const PINGS: u32 = 3;
/// What a clock is set by: the extra flags and the state, which nobody else asks for in this way.
pub(super) const TIME_MASK: u32 = 0b11;

/// A request that waits for its reply.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) step: Step,
    /// When it was sent for the first time, and for the last time.
    pub(super) first: Time,
    pub(super) sent: Time,
    pub(super) deadline: Time,
    pub(super) tries: u32,
    /// The board has said something to the matter, but not what was wanted.
    pub(super) contradicted: bool,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    Firmware,
    Info {
        version: u8,
        node: Option<u8>,
    },
    Ping,
    /// The firmware of a node.
    Node {
        node: u8,
    },
    Status,
    Control(Control),
    Header,
    /// Samples that are there already, to be compared.
    Check {
        offset: u32,
    },
    Ids,
    /// Live values in the way of the version.
    Live {
        way: Way,
    },
    Alerts {
        since: Option<u32>,
    },
    /// A live reply as a mark of time.
    Time,
}

/// How live values are asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Way {
    /// The compact reply of all versions.
    Compact,
    /// By ids, from 1.1 on.
    Ids,
    /// By mask, from 1.3 on.
    Mask { mask1: u32, mask2: u32 },
}

impl Step {
    /// Whether it comes again anyway, so that one that is lost is not asked for again.
    pub(super) fn is_poll(self) -> bool {
        matches!(self, Self::Live { .. } | Self::Alerts { .. })
    }

    /// Appends the payloads that ask for it, to be sent one after the other.
    pub(super) fn payloads(self, version: Option<&Version>, can: Option<u8>) -> Vec<Vec<u8>> {
        let by_reply = version.is_some_and(Version::has_status);
        let by_mask = version.is_some_and(Version::has_mask);
        let app = |node: Option<u8>, request: Request| {
            let (mut payload, mut out) = (Vec::new(), Vec::new());
            vesc::put_app(&mut payload, |out| request.emit(out));
            vesc::forward(node, &payload, &mut out);
            out
        };
        match self {
            Self::Firmware => vec![vec![command::FW_VERSION]],
            Self::Ping => vec![vec![command::PING_CAN]],
            Self::Node { node } => vec![vec![command::FORWARD_CAN, node, command::FW_VERSION]],
            Self::Info { version: 1, node } => vec![app(node, Request::Info { version: None, flags: None })],
            Self::Info { version, node } => vec![app(node, Request::Info { version: Some(version), flags: None })],
            Self::Status if by_reply => vec![app(can, Request::Control(Control::Status))],
            Self::Status => vec![app(can, Request::Live)],
            Self::Control(control) if by_reply => vec![app(can, Request::Control(control))],
            // Before 1.3 there is no reply: the live values show the result.
            Self::Control(control) => vec![app(can, Request::Control(control)), app(can, Request::Live)],
            Self::Header => vec![app(can, Request::Header)],
            Self::Check { offset } => vec![app(can, Request::Data { offset })],
            Self::Ids => vec![app(can, Request::LiveIds)],
            Self::Live { way: Way::Compact } => vec![app(can, Request::Compact { mode: 4 })],
            Self::Live { way: Way::Ids } => vec![app(can, Request::Live)],
            Self::Live { way: Way::Mask { mask1, mask2 } } => {
                vec![app(can, Request::LiveMask { control: 1, mask1, mask2: Some(mask2) })]
            }
            Self::Alerts { since } => vec![app(can, Request::Alerts { since })],
            Self::Time if by_mask => {
                vec![app(can, Request::LiveMask { control: 0, mask1: TIME_MASK, mask2: Some(0) })]
            }
            Self::Time => vec![app(can, Request::Live)],
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Firmware | Self::Node { .. } => f.write_str("the version of the firmware"),
            Self::Info { .. } => f.write_str("the version of Refloat"),
            Self::Ping => f.write_str("the nodes of the CAN bus"),
            Self::Status => f.write_str("the state of the recorder"),
            Self::Control(control) => write!(f, "`{}`", Wish(*control)),
            Self::Header => f.write_str("the header of the recording"),
            Self::Check { offset } => write!(f, "sample {offset}"),
            Self::Ids => f.write_str("the ids of live values"),
            Self::Live { .. } | Self::Time => f.write_str("live values"),
            Self::Alerts { .. } => f.write_str("alerts"),
        }
    }
}

impl Ask {
    pub(super) fn new(step: Step, now: Time) -> Self {
        Self { step, first: now, sent: now, deadline: now, tries: 0, contradicted: false }
    }

    /// Whether it was asked often and long enough. A board that never answered is given up earlier than one that did, and
    /// an old way to ask is tried only after a newer one failed.
    pub(super) fn is_exhausted(&self, now: Time, tries: u32, patience: i64, hopeless: bool) -> bool {
        let (tries, patience) = match self.step {
            Step::Live { .. } | Step::Alerts { .. } => (1, 0),
            Step::Firmware => (tries, patience / 2),
            Step::Node { .. } => (tries.min(3), patience / 10),
            Step::Info { version, .. } if version == 1 || hopeless => (tries.min(3), patience / 10),
            Step::Info { .. } => (tries, patience / 4),
            Step::Ping => (PINGS, patience),
            Step::Time => (tries, patience / 2),
            _ if hopeless => (tries, patience / 4),
            _ => (tries, patience),
        };
        self.tries >= tries && now.since(self.first) >= patience
    }

    pub(super) fn after(&self, now: Time) -> Duration {
        super::timing::duration(now.since(self.first))
    }
}
