//! The recorder: its state, and changes of it that are seen to be taken.

use super::ask::{Step, TIME_MASK};
use super::client::{Client, Next, Work};
use super::event::Event;
use super::failure::Failure;
use super::view::RecorderState;
use crate::wire::{Control, FieldValue, Live, LiveIds, LiveMask, Status};

/// Bits of the extra flags in live replies.
const RECORDING: u8 = 1;
const AUTOSTART: u8 = 2;
const AUTOSTOP: u8 = 4;

impl RecorderState {
    /// Whether it is as it was wanted.
    pub(super) fn obeys(&self, control: Control) -> bool {
        match control {
            Control::Record(on) => self.recording == Some(on),
            Control::Autostart(on) => self.autostart == Some(on),
            Control::Autostop(on) => self.autostop == Some(on),
            // A board takes 0 for 1.
            Control::Decimation(by) => self.decimation == Some(by.max(1)),
            Control::Status | Control::Other { .. } => true,
        }
    }
}

impl Client {
    pub(super) fn next_of_control(&mut self, control: Control) -> Next {
        let new = self.known.version.as_ref().is_some_and(|version| version.has_status());
        if matches!(control, Control::Decimation(_)) && !new && self.known.missing().is_none() {
            let package = self.known.info.as_ref().map(ToString::to_string).unwrap_or_default();
            self.fail(Failure::Unsupported { what: "decimation".to_owned(), since: "1.3", package });
            return Next::Again;
        }
        self.if_recorder(if control == Control::Status { Step::Status } else { Step::Control(control) })
    }

    pub(super) fn next_of_ids(&mut self) -> Next {
        if self.known.version.as_ref().is_some_and(|version| version.has_live_ids()) {
            return Next::Ask(Step::Ids);
        }
        let package = self.known.info.as_ref().map(ToString::to_string).unwrap_or_default();
        self.fail(Failure::Unsupported { what: "live values by ids".to_owned(), since: "1.1", package });
        Next::Again
    }

    pub(super) fn status_is(&mut self, payload: &[u8], status: &Status) {
        self.recorder = RecorderState {
            recording: Some(status.recording),
            autostart: Some(status.autostart),
            autostop: Some(status.autostop),
            decimation: Some(status.decimation),
            duration_cs: Some(status.duration_cs),
        };
        self.recorder_is(Some(payload));
    }

    /// Live values came; returns whether they are new.
    pub(super) fn live_is(&mut self, live: &Live<'_>) -> bool {
        self.live_replies += 1;
        self.recorder.recording = Some(live.extra & RECORDING != 0);
        if self.known.version.as_ref().is_some_and(|version| !version.has_status()) {
            self.recorder.autostart = Some(live.extra & AUTOSTART != 0);
            self.recorder.autostop = Some(live.extra & AUTOSTOP != 0);
            self.recorder_is(None);
        }
        let new = self.marks_time(live.tick, |step| *step == Step::Time);
        self.answered(|step| matches!(step, Step::Live { .. }));
        new
    }

    /// The same of those by mask.
    pub(super) fn live_mask_is(&mut self, live: &LiveMask<'_>) -> bool {
        self.live_replies += 1;
        if let Some((_, FieldValue::Extra(flags))) = live.fields().next() {
            self.recorder.recording = Some(flags & RECORDING != 0);
        }
        let own = (live.mask1, live.mask2) == (TIME_MASK, 0);
        let new = self.marks_time(live.tick, |step| own && *step == Step::Time);
        self.answered(|step| matches!(step, Step::Live { .. }));
        new
    }

    /// The state of the recorder is known: what has waited for that goes on.
    fn recorder_is(&mut self, payload: Option<&[u8]>) {
        let state = self.recorder;
        if let Some(ask) = &mut self.ask
            && let Step::Control(control) = ask.step
            && !state.obeys(control)
        {
            // It may be older than the request: only when it stays so it was not taken.
            ask.contradicted = true;
            return;
        }
        let Some(ask) = self.answered(|step| matches!(step, Step::Status | Step::Control(_))) else { return };
        let status = Event::Status { state, payload: payload.map(<[u8]>::to_vec) };
        match (&self.work, ask.step) {
            (Some(Work::Status | Work::Control(_)), _) => {
                self.event(status);
                self.done();
            }
            (Some(Work::Fetch(_)), step) => {
                if step == Step::Status {
                    self.event(status);
                }
                self.fetch_recorder_is(step);
            }
            _ => {}
        }
    }

    /// The ids of live values came; returns whether they were asked for.
    pub(super) fn ids_are(&mut self, ids: &LiveIds<'_>) -> bool {
        let asked = self.answered(|step| *step == Step::Ids).is_some();
        if let (Some(live), true) = (&mut self.live, asked) {
            live.has_ids = true;
        }
        if asked && matches!(self.work, Some(Work::Ids)) {
            let [always, running] = [ids.always, ids.running].map(|ids| ids.iter().map(str::to_owned).collect());
            self.event(Event::Ids { always, running });
            self.done();
        }
        asked
    }
}
