//! Requests one after the other: sent, answered, sent again, given up.

use logpose_core::Transmit;

use super::ask::{Ask, PING_TIMEOUT, Step};
use super::client::{Client, Work};
use super::failure::Failure;
use super::timing::nanos;
use crate::vesc;
use crate::wire::Request;

impl Client {
    /// Sends what is asked for, again if it was sent before.
    pub(super) fn send_ask(&mut self) {
        let Some(ask) = &mut self.ask else { return };
        ask.tries += 1;
        ask.sent = self.now;
        let wait = if ask.step == Step::Ping { PING_TIMEOUT } else { self.trips.timeout() };
        ask.deadline = self.now.plus(wait);
        let (step, again) = (ask.step, ask.tries > 1);
        for payload in step.payloads(self.known.version.as_ref(), self.known.can) {
            self.send(&payload, again);
        }
    }

    fn send(&mut self, payload: &[u8], again: bool) {
        let Some(link) = self.link else { return };
        self.requests += 1;
        self.retries += u64::from(again);
        self.transmit.push_back(Transmit::one(link, vesc::framed(payload)));
    }

    /// Sends a request of the package.
    pub(super) fn send_request(&mut self, request: Request, again: bool) {
        let (mut payload, mut out) = (Vec::new(), Vec::new());
        vesc::put_app(&mut payload, |out| request.emit(out));
        vesc::forward(self.known.can, &payload, &mut out);
        self.send(&out, again);
    }

    /// Takes the request that waits if it is such a one: it is answered.
    pub(super) fn answered(&mut self, is: impl FnOnce(&Step) -> bool) -> Option<Ask> {
        let ask = self.ask.take_if(|ask| is(&ask.step))?;
        // Which of several requests was answered is not to be seen (RFC 6298, section 3).
        if ask.tries == 1 && ask.step != Step::Ping {
            self.trips.measured(self.now.since(ask.sent));
        }
        Some(ask)
    }

    /// Nobody has answered in time.
    pub(super) fn overdue(&mut self) {
        let Some(ask) = &mut self.ask else { return };
        if ask.step != Step::Ping {
            self.trips.timed_out();
        }
        let hopeless = match &self.work {
            Some(Work::Fetch(fetch)) => fetch.has_failed(),
            _ => self.discovery.has_substitute(),
        };
        if !ask.is_exhausted(self.now, self.options.tries, nanos(self.options.patience), hopeless) {
            return self.send_ask();
        }
        let Some(ask) = self.ask.take() else { return };
        self.given_up(&ask);
    }

    fn given_up(&mut self, ask: &Ask) {
        match ask.step {
            Step::Firmware | Step::Info { .. } | Step::Ping | Step::Node { .. } => return self.discovery_silent(ask),
            Step::Live { .. } | Step::Alerts { .. } => return self.live_silent(),
            _ => {}
        }
        let failure = match ask.step {
            Step::Control(control) if ask.contradicted => Failure::NotTaken { control, tries: ask.tries },
            step => Failure::Silent { what: step.to_string(), tries: ask.tries, after: ask.after(self.now) },
        };
        match &mut self.work {
            Some(Work::Fetch(fetch)) if fetch.forgives() => self.fetch_without(),
            Some(_) => self.fail(failure),
            None => self.live_silent(),
        }
    }
}
