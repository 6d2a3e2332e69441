//! Who is there: the firmware, the package, and through which CAN node it is reached.

use std::collections::VecDeque;

use super::ask::{Ask, Step};
use super::client::{Client, Next, Work};
use super::event::{Change, Event};
use super::failure::Failure;
use super::timing::nanos;
use crate::vesc::{FirmwareVersion, HardwareType};
use crate::wire::{Info, InfoV1, Version};

/// A board that was not found is looked for again after this time, where live values are wanted.
const AGAIN_AFTER: i64 = 2_000_000_000;
/// The version of Refloat that has the short form of INFO alone. Later ones have it too, so that it may be the reply to
/// somebody else.
const SHORT_ONLY: u8 = 10;

/// What is known of whoever answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// That of the controller that Refloat runs on, as far as it is known.
    pub(super) firmware: Option<FirmwareVersion>,
    /// That of the module at this end of the link, if it is another one.
    pub(super) gateway: Option<FirmwareVersion>,
    pub(super) info: Option<Info>,
    pub(super) version: Option<Version>,
    /// The app payload of INFO, as received.
    pub(super) payload: Vec<u8>,
    /// The CAN node it was found at.
    pub(super) can: Option<u8>,
}

/// How far the search is.
#[derive(Clone, Debug)]
pub(super) enum Discovery {
    /// Which firmware answers here.
    Firmware,
    /// Which package answers there.
    Info {
        version: u8,
        node: Option<u8>,
        /// A reply of the short form, which is taken if there is no other.
        short: Option<(Vec<u8>, Info)>,
    },
    /// Which nodes are on the CAN bus.
    Ping,
    /// Which packages they have.
    Nodes(Nodes),
    /// Which firmware the node has that was found.
    Node,
    Done,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    all: Vec<u8>,
    left: VecDeque<u8>,
    version: u8,
    short: Option<(Vec<u8>, Info)>,
    found: Vec<(u8, Vec<u8>, Info)>,
}

impl Discovery {
    pub(super) fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }

    /// Whether there is something to be content with if nothing better comes.
    pub(super) fn has_substitute(&self) -> bool {
        matches!(self, Self::Info { short: Some(_), .. } | Self::Nodes(Nodes { short: Some(_), .. }))
    }
}

impl Known {
    /// What is missing to record.
    pub(super) fn missing(&self) -> Option<Failure> {
        let info = self.info.as_ref()?;
        let package = match info {
            // Who has the short form alone is older than the recorder: the package before Refloat has such numbers.
            Info::V1(InfoV1 { version, .. }) if *version > SHORT_ONLY => {
                format!("Float {}.{}", version / 10, version % 10)
            }
            _ => info.to_string(),
        };
        match info.can_record() {
            None => Some(Failure::TooOld { package }),
            Some(_) if !info.version().has_recorder() => Some(Failure::TooOld { package }),
            Some(false) => {
                let firmware = self.firmware.as_ref();
                let firmware = firmware.map_or_else(|| "of the controller".to_owned(), FirmwareVersion::to_string);
                Some(Failure::NoBuffer { package, firmware })
            }
            Some(true) => None,
        }
    }

    /// Whether it has no more than the short form of INFO.
    pub(super) fn is_short(&self) -> bool {
        matches!(self.info, Some(Info::V1(_)))
    }

    /// Whether this is the same package on the same board. What a board has seen of satellites may change.
    fn is_same(&self, board: &Self) -> bool {
        let key = |known: &Self| match &known.info {
            Some(Info::V2(info)) => Some((info.name.clone(), info.commit, known.version.clone())),
            _ => None,
        };
        let chip = |known: &Self| known.firmware.as_ref().and_then(|firmware| firmware.unique_id);
        let same_chip = chip(self).zip(chip(board)).is_none_or(|(a, b)| a == b);
        same_chip && key(self) == key(board) && self.can == board.can
    }
}

impl Client {
    pub(super) fn next_of_discovery(&mut self) -> Next {
        match &self.discovery {
            Discovery::Firmware => Next::Ask(Step::Firmware),
            Discovery::Info { version, node, .. } => Next::Ask(Step::Info { version: *version, node: *node }),
            Discovery::Ping => Next::Ask(Step::Ping),
            Discovery::Nodes(nodes) => match nodes.left.front() {
                Some(node) => Next::Ask(Step::Info { version: nodes.version, node: Some(*node) }),
                None => {
                    self.all_nodes_asked();
                    Next::Again
                }
            },
            Discovery::Node => match self.known.can {
                Some(node) => Next::Ask(Step::Node { node }),
                None => {
                    self.identified();
                    Next::Again
                }
            },
            Discovery::Done => Next::Wait,
        }
    }

    /// The firmware of the node that was found. What the module before it says again is not that.
    pub(super) fn node_is(&mut self, firmware: FirmwareVersion) {
        if self.known.gateway.as_ref() == Some(&firmware) {
            return;
        }
        if self.answered(|step| matches!(step, Step::Node { .. })).is_some() {
            self.known.firmware = Some(firmware);
            self.identified();
        }
    }

    /// The firmware answers, or does not although somebody is there.
    pub(super) fn firmware_is(&mut self, firmware: Option<FirmwareVersion>) {
        let kind = firmware.as_ref().and_then(|firmware| firmware.hardware_type);
        let before = std::mem::take(&mut self.known);
        self.known.firmware = firmware;
        // What was found before is asked first when the link comes again.
        let node = self.options.can.or(before.can);
        self.discovery = match kind {
            None | Some(HardwareType::Controller) => Discovery::Info { version: 2, node, short: None },
            Some(_) if node.is_some() => Discovery::Info { version: 2, node, short: None },
            Some(_) => Discovery::Ping,
        };
    }

    pub(super) fn nodes_are(&mut self, nodes: &[u8]) {
        let left: VecDeque<u8> = nodes.iter().copied().collect();
        self.discovery = Discovery::Nodes(Nodes { all: nodes.to_vec(), left, version: 2, ..Nodes::default() });
    }

    pub(super) fn info_is(&mut self, payload: &[u8], info: &Info) {
        if !matches!(self.ask, Some(Ask { step: Step::Info { .. }, .. })) {
            return;
        }
        let doubtful = |version: u8| match info {
            Info::V1(short) => version == 2 && short.version > SHORT_ONLY,
            Info::V2(_) => false,
        };
        match &mut self.discovery {
            Discovery::Info { version, short, .. } if doubtful(*version) => {
                *short = Some((payload.to_vec(), info.clone()));
            }
            Discovery::Nodes(Nodes { version, short, .. }) if doubtful(*version) => {
                *short = Some((payload.to_vec(), info.clone()));
            }
            _ => {
                let asked = self.answered(|step| matches!(step, Step::Info { .. }));
                self.info_taken(asked.as_ref(), payload.to_vec(), info.clone());
            }
        }
    }

    fn info_taken(&mut self, asked: Option<&Ask>, payload: Vec<u8>, info: Info) {
        match &mut self.discovery {
            Discovery::Info { node, .. } => {
                let node = *node;
                self.found(node, payload, info);
            }
            Discovery::Nodes(nodes) => {
                if let Some(node) = nodes.left.pop_front() {
                    nodes.found.push((node, payload, info));
                }
                nodes.version = 2;
                nodes.short = None;
                // Replies do not name their node: a second one of this node must not count for the next.
                let took = asked.map_or(0, |ask| self.now.since(ask.first));
                let settle = took.saturating_mul(2).max(nanos(self.options.least_timeout).saturating_mul(3));
                self.pause = (!nodes.left.is_empty()).then(|| self.now.plus(settle));
            }
            _ => {}
        }
    }

    fn all_nodes_asked(&mut self) {
        let Discovery::Nodes(nodes) = &mut self.discovery else { return };
        let Nodes { all, mut found, .. } = std::mem::take(nodes);
        match (found.pop(), found.is_empty()) {
            (Some((node, payload, info)), true) => self.found(Some(node), payload, info),
            (Some(last), false) => {
                found.push(last);
                let boards = found.into_iter().map(|(node, _, info)| (node, info.to_string())).collect();
                self.not_found(Failure::Several { boards });
            }
            (None, _) => self.not_found(Failure::NoRefloat { device: self.device(), nodes: Some(all) }),
        }
    }

    /// Nobody answered this question of the search.
    pub(super) fn discovery_silent(&mut self, ask: &Ask) {
        let device = self.device();
        match &mut self.discovery {
            // Somebody talks, so somebody is there.
            Discovery::Firmware if self.frames > 0 => self.firmware_is(None),
            Discovery::Firmware => {
                let skipped = Some(self.skipped_here()).filter(|skipped| *skipped > 0);
                self.not_found(Failure::Nobody { after: ask.after(self.now), skipped });
            }
            Discovery::Info { short, .. } if short.is_some() => {
                if let Some((payload, info)) = short.take() {
                    self.info_taken(Some(ask), payload, info);
                }
            }
            Discovery::Info { version, .. } if *version == 2 => *version = 1,
            Discovery::Info { .. } if self.options.can.is_none() => self.discovery = Discovery::Ping,
            Discovery::Info { node, .. } => {
                let nodes = Some(node.iter().copied().collect());
                self.not_found(Failure::NoRefloat { device, nodes });
            }
            Discovery::Ping => self.not_found(Failure::NoRefloat { device, nodes: None }),
            Discovery::Nodes(nodes) => match nodes.short.take() {
                Some((payload, info)) => self.info_taken(Some(ask), payload, info),
                None if nodes.version == 2 => nodes.version = 1,
                None => {
                    nodes.left.pop_front();
                    nodes.version = 2;
                }
            },
            // It is only for people.
            Discovery::Node => self.identified(),
            Discovery::Done => {}
        }
    }

    fn found(&mut self, can: Option<u8>, payload: Vec<u8>, info: Info) {
        self.known.can = can;
        self.known.version = Some(info.version());
        self.known.info = Some(info);
        self.known.payload = payload;
        self.discovery = Discovery::Node;
        if can.is_some() {
            self.known.gateway = self.known.firmware.take();
        }
    }

    /// All is known that there is to know.
    fn identified(&mut self) {
        self.discovery = Discovery::Done;
        self.live_begins();
        self.event(Event::Identified { info: self.known.payload.clone() });
        let another = match &mut self.work {
            Some(Work::Fetch(fetch)) => {
                let another = fetch.board.as_ref().is_some_and(|board| !board.is_same(&self.known));
                fetch.board = Some(self.known.clone());
                if another {
                    fetch.elsewhere();
                }
                another
            }
            _ => false,
        };
        if another {
            self.fail(Failure::Changed(Change::Board));
        }
    }

    /// The search is over for now. The job fails, and where live values are wanted it begins again later.
    fn not_found(&mut self, failure: Failure) {
        self.search_again();
        self.known.can = None;
        self.live_not_found(&failure);
        if self.work.is_some() {
            self.fail(failure);
        }
        self.pause = self.live.is_some().then(|| self.now.plus(AGAIN_AFTER));
    }

    /// Repeats discovery, whichever board was there.
    pub(super) fn search_again(&mut self) {
        self.discovery = Discovery::Firmware;
        self.frames = 0;
    }

    /// What answers, in words.
    fn device(&self) -> String {
        match &self.known.firmware {
            Some(firmware) => {
                let kind = match firmware.hardware_type {
                    Some(HardwareType::Other) => "another module, such as VESC Express",
                    Some(HardwareType::Bms) => "a BMS",
                    _ => "a controller",
                };
                format!("{kind} ({firmware})")
            }
            None => "something".to_owned(),
        }
    }
}
