//! Updates the display from the state of a session.

use std::time::Duration;

use logpose_live::LinkFigures;
use logpose_live::refloat::items::newest;
use logpose_live::refloat::session::{ClientView, LiveValue, RecorderState};
use serde_json::Value;

use super::face::Face;
use crate::render::refloat as render;

/// The known state of a watched board.
pub(super) struct Look {
    pub(super) face: Face,
    /// Why no data arrives although the link is up.
    pub(super) failure: Option<String>,
    address: String,
    /// The last alert.
    alerts: Option<String>,
    /// Number of answers and when it was taken.
    counted: (u64, Duration),
}

impl Look {
    pub(super) fn new(address: &str) -> Self {
        let face = Face { title: address.to_owned(), ..Face::default() };
        let address = address.to_owned();
        Self { face, failure: None, address, alerts: None, counted: (0, Duration::ZERO) }
    }

    /// Whether any data has arrived.
    pub(super) fn is_known(&self) -> bool {
        !self.face.values.is_empty()
    }

    /// Takes the new state and reports new alerts.
    pub(super) fn take(&mut self, view: &ClientView, figures: &LinkFigures, elapsed: Duration) -> Option<String> {
        let face = &mut self.face;
        face.trouble = if view.connected { None } else { figures.trouble.clone() };
        let since = elapsed.saturating_sub(self.counted.1);
        if since >= Duration::from_secs(1) {
            let replies = u32::try_from(view.live_replies.saturating_sub(self.counted.0)).unwrap_or(u32::MAX);
            face.rate = f64::from(replies) / since.as_secs_f64();
            self.counted = (view.live_replies, elapsed);
        }
        if let Some(info) = &view.info {
            face.title = format!("{info} at {}", self.address);
        }
        if face.frozen {
            return None;
        }
        let mut alerts = None;
        for (channel, value) in &view.live {
            let name = name(channel);
            match value {
                LiveValue::Number(x, _) => drop(face.values.insert(name.to_owned(), *x)),
                LiveValue::Boolean(it) => drop(face.flags.insert(name.to_owned(), *it)),
                LiveValue::Text(text) if name == "alerts" => alerts = Some(text.clone()),
                LiveValue::Text(_) if name == "prints" => {}
                LiveValue::Text(text) => drop(face.words.insert(name.to_owned(), text.clone())),
            }
        }
        for id in ["current", "balance_current", "batt_current"] {
            face.largest_current = face.largest_current.max(face.value(id).unwrap_or(0.0).abs());
        }
        face.recorder = match &view.missing {
            Some(_) => vec!["cannot record".to_owned()],
            None => recorder(&view.recorder),
        };
        if alerts == self.alerts {
            return None;
        }
        self.alerts.clone_from(&alerts);
        alerts.map(|alert| described(&alert))
    }

    pub(super) fn as_json(&self, event: &'static str, view: &ClientView, elapsed: Duration) -> render::WatchLine {
        render::WatchLine {
            event,
            elapsed_s: elapsed.as_secs_f64(),
            connected: view.connected,
            problem: self.face.trouble.clone(),
            replies: view.live_replies.into(),
            tick: view.tick,
            values: view.live.iter().map(|(name_, value)| (name(name_).to_owned(), render::value(value))).collect(),
            recorder: (&view.recorder).into(),
        }
    }
}

/// The Refloat 1.3 name of a value, without the common prefix.
fn name(channel: &str) -> &str {
    newest(channel.strip_prefix("/refloat/").unwrap_or(channel))
}

/// An alert as text: `OVER_TEMP_FET (5) active`.
fn described(alert: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(alert) else { return alert.to_owned() };
    let code = fields.get("code").and_then(Value::as_u64).unwrap_or(0);
    let name = fields.get("name").and_then(Value::as_str).unwrap_or("fault");
    match (fields.get("active").and_then(Value::as_bool), code) {
        (Some(true), code) => format!("{name} ({code}) active"),
        (_, 0) => "fault cleared".to_owned(),
        (_, code) => format!("{name} ({code}) cleared"),
    }
}

/// A short status of the recorder.
fn recorder(state: &RecorderState) -> Vec<String> {
    let switch = |name: &str, on: Option<bool>| on.map(|on| format!("{name} {}", if on { "on" } else { "off" }));
    let recording = state.recording.map(|on| if on { "recording" } else { "not recording" }.to_owned());
    let lasts = state.duration().map(|time| format!("lasts {:.1} s", time.as_secs_f64()));
    let words = [recording, switch("autostart", state.autostart), switch("autostop", state.autostop), lasts];
    words.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use logpose_live::LinkFigures;
    use logpose_live::refloat::session::{ClientView, LiveValue, RecorderState};

    use super::Look;

    #[test]
    fn old_names_are_shown_as_the_new_ones_and_alerts_are_told_once() {
        let number = |x| LiveValue::Number(x, None);
        let alert = r#"{"id":1,"active":true,"code":5,"name":"OVER_TEMP_FET"}"#;
        let recorder = RecorderState { recording: Some(true), autostart: Some(false), ..RecorderState::default() };
        let view = ClientView {
            connected: true,
            live: [
                ("/refloat/motor.speed".to_owned(), number(12.5)),
                ("/refloat/motor.current".to_owned(), number(-70.0)),
                ("/refloat/state".to_owned(), LiveValue::Text("running".to_owned())),
                ("/refloat/wheelslip".to_owned(), LiveValue::Boolean(true)),
                ("/refloat/alerts".to_owned(), LiveValue::Text(alert.to_owned())),
            ]
            .into(),
            live_replies: 20,
            recorder,
            ..ClientView::default()
        };
        let mut look = Look::new("refloat+tcp://127.0.0.1:65102");
        let alert = look.take(&view, &LinkFigures::default(), Duration::from_secs(2));
        assert_eq!(alert.as_deref(), Some("OVER_TEMP_FET (5) active"));
        assert_eq!(look.take(&view, &LinkFigures::default(), Duration::from_millis(2100)), None);
        let face = &look.face;
        assert_eq!((face.value("speed"), face.largest_current, face.rate), (Some(12.5), 70.0, 10.0));
        assert_eq!((face.word("state"), face.flag("wheelslip")), (Some("running"), true));
        assert_eq!(face.recorder, ["recording", "autostart off"]);
    }

    #[test]
    fn what_is_frozen_stays() {
        let mut look = Look::new("COM3");
        let view = |x| ClientView {
            live: [("/refloat/speed".to_owned(), LiveValue::Number(x, None))].into(),
            ..ClientView::default()
        };
        let _ = look.take(&view(1.0), &LinkFigures::default(), Duration::ZERO);
        look.face.frozen = true;
        let _ = look.take(&view(2.0), &LinkFigures::default(), Duration::ZERO);
        assert_eq!(look.face.value("speed"), Some(1.0));
    }
}
