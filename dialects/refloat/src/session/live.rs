//! Live values: polled as often as was asked for, and never more often than the link answers.

use std::collections::BTreeMap;

use logpose_core::{Problem, Severity, Sink, SinkError, Time};

use super::ask::{Step, Way};
use super::client::{Client, Next};
use super::discovery::Discovery;
use super::failure::Failure;
use super::options::LiveOptions;
use super::timing::nanos;
use super::view::LiveValue;
use crate::items;
use crate::wire::Reply;

/// How often alerts and the state of the recorder are asked for.
const SLOWLY: i64 = 500_000_000;
/// The shortest period.
const LEAST_PERIOD: i64 = 1_000_000;

/// Live values that are wanted.
pub(super) struct Live {
    pub(super) options: LiveOptions,
    /// The ids of the values by ids are known.
    pub(super) has_ids: bool,
    /// The latest values by the names of their channels.
    pub(super) latest: BTreeMap<String, LiveValue>,
    /// What is to be told to the sink.
    pub(super) notes: Vec<Problem>,
    due: Time,
    /// When alerts or the recorder are due, and which of them it was last.
    slow_due: Time,
    alerts_next: bool,
    heard: Time,
    silent: bool,
}

impl Live {
    pub(super) fn new(options: LiveOptions) -> Self {
        Self {
            options,
            has_ids: false,
            latest: BTreeMap::new(),
            notes: Vec::new(),
            due: Time::MIN,
            slow_due: Time::MIN,
            alerts_next: false,
            heard: Time::MIN,
            silent: false,
        }
    }

    pub(super) fn interrupted(&mut self) {
        self.has_ids = false;
    }

    pub(super) fn due(&self) -> Option<Time> {
        Some(self.due.min(self.slow_due))
    }

    pub(super) fn clock_offset(&self, _: Time) -> Option<i64> {
        None
    }
}

impl Client {
    pub(super) fn next_of_live(&mut self) -> Next {
        let now = self.now;
        let (Some(live), Some(version)) = (&mut self.live, &self.known.version) else { return Next::Wait };
        let way = match items::masks(version) {
            // Its number may be one of the older package.
            _ if self.known.is_short() => Way::Compact,
            Some((mask1, mask2)) => Way::Mask { mask1, mask2 },
            None if version.has_live_ids() => Way::Ids,
            None => Way::Compact,
        };
        if way == Way::Ids && !live.has_ids {
            return Next::Ask(Step::Ids);
        }
        if live.slow_due <= now {
            live.slow_due = now.plus(SLOWLY / 2);
            live.alerts_next = !live.alerts_next;
            let recorder = version.has_status() && self.known.missing().is_none();
            if live.alerts_next && version.has_alerts() {
                return Next::Ask(Step::Alerts { since: None });
            } else if !live.alerts_next && recorder {
                return Next::Ask(Step::Status);
            }
        }
        if live.due <= now {
            live.due = now.plus(nanos(live.options.period).max(LEAST_PERIOD));
            return Next::Ask(Step::Live { way });
        }
        Next::Wait
    }

    /// The board is known: values are asked for from here on.
    pub(super) fn live_begins(&mut self) {
        let now = self.now;
        if let Some(live) = &mut self.live {
            (live.due, live.slow_due, live.heard, live.silent) = (now, now, now, false);
        }
    }

    /// Nobody has answered. After a while it is looked who is there.
    pub(super) fn live_silent(&mut self) {
        let Some(live) = &mut self.live else { return };
        if self.now.since(live.heard) < nanos(self.options.patience) {
            return;
        }
        live.interrupted();
        self.discovery = Discovery::Firmware;
    }

    /// Nobody is there: that is told once.
    pub(super) fn live_not_found(&mut self, failure: &Failure) {
        let Some(live) = &mut self.live else { return };
        if !std::mem::replace(&mut live.silent, true) {
            live.notes.push(Problem::general(Severity::Warning, "refloat-absent", failure.to_string()));
        }
    }

    pub(super) fn tell(&mut self, _: &Reply<'_>, _: &mut dyn Sink) -> Result<(), SinkError> {
        Ok(())
    }

    pub(super) fn tell_print(&mut self, _: &str, _: &mut dyn Sink) -> Result<(), SinkError> {
        Ok(())
    }
}
