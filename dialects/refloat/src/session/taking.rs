//! What comes over the link, and what follows from it.

use logpose_core::{Sink, SinkError};

use super::ask::Step;
use super::client::Client;
use super::event::Event;
use crate::vesc::{FirmwareVersion, command};
use crate::wire::Reply;

/// While bytes of a frame came this short a time ago, the rest of it may still come, in nanoseconds.
const STALLED: i64 = 30_000_000;

impl Client {
    /// Drops the beginning of a frame whose end never came, and takes what lies behind it.
    pub(super) fn expire(&mut self) {
        if self.now.since(self.heard) < STALLED {
            return;
        }
        let mut found = std::mem::take(&mut self.found);
        found.received = self.now;
        while self.deframer.is_pending() {
            self.deframer.expire();
            // A batch takes everything.
            let _ = self.take_all(&mut found);
        }
        self.found = found;
    }

    pub(super) fn take_all(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let mut result = Ok(());
        let mut payload = Vec::new();
        while let Some(next) = self.deframer.next_payload() {
            payload.clear();
            payload.extend_from_slice(next);
            let taken = self.take(&payload, sink);
            result = result.and(taken);
            self.pump();
        }
        result
    }

    fn take(&mut self, payload: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.frames += 1;
        self.all_frames += 1;
        match payload {
            [command::FW_VERSION, ..] => {
                let Some(firmware) = FirmwareVersion::parse(payload) else { return Ok(()) };
                if self.answered(|step| *step == Step::Firmware).is_some() {
                    self.firmware_is(Some(firmware));
                } else {
                    self.node_is(firmware);
                }
                Ok(())
            }
            [command::PING_CAN, nodes @ ..] => {
                if self.answered(|step| *step == Step::Ping).is_some() {
                    self.nodes_are(nodes);
                }
                Ok(())
            }
            [command::PRINT, text @ ..] => {
                // It is shown to people, on terminals that would obey.
                let line = String::from_utf8_lossy(text).trim_end().replace(char::is_control, " ");
                self.event(Event::Print(line));
                self.tell_print(text, sink)
            }
            [command::APP_DATA, app @ ..] => match Reply::parse(app) {
                Ok(reply) if self.take_reply(app, &reply) => self.emit(&reply, sink),
                Ok(_) => Ok(()),
                // Another package, or none.
                Err(_) => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Does what follows from a reply. Returns whether it is something new of a board that is known.
    fn take_reply(&mut self, app: &[u8], reply: &Reply<'_>) -> bool {
        let known = self.discovery.is_done();
        match reply {
            Reply::Info(info) => {
                self.info_is(app, info);
                return false;
            }
            // Before discovery has finished, replies may belong to another client.
            _ if !known => {}
            Reply::Status(status) => self.status_is(app, status),
            Reply::Live(live) => return self.live_is(live),
            Reply::LiveMask(live) => return self.live_mask_is(live),
            Reply::Compact(_) => {
                self.live_replies += 1;
                self.answered(|step| matches!(step, Step::Live { .. }));
            }
            Reply::LiveIds(ids) => return self.ids_are(ids),
            Reply::Alerts(_) => {
                self.answered(|step| matches!(step, Step::Alerts { .. }));
            }
            Reply::Header(header) => self.header_is(app, header),
            Reply::Data(data) => self.data_are(data),
            Reply::Other(_) => {}
        }
        known
    }
}
