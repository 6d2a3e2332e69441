//! Events of a live board, besides its values.

use logpose_core::{Channel, Type, Value};
use logpose_refloat::wire::Adjustment;
use serde_json::Value as Json;

use super::explanation::Tone;
use super::rules::adjustment;

/// A live channel of a board that reports events.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Teller {
    /// Why the setpoint is adjusted.
    Adjustment,
    /// Whether the board is engaged.
    Running,
    /// Why it stopped.
    Stop,
    /// The wheel spins freely.
    Wheelslip,
    /// The board gave up.
    Fatal,
    /// The motor controller's fault.
    Fault,
    /// What the board warns of.
    Alerts,
}

/// An event of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Sign {
    /// Which kind of thing.
    pub kind: SignKind,
    /// How bad it is.
    pub tone: Tone,
    /// A sentence for people.
    pub text: String,
}

/// Kinds of events of a board.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SignKind {
    /// It leans otherwise than the rider wants.
    Pushback,
    /// Something is wrong.
    Fault,
    /// It is engaged, or was stopped.
    State,
}

impl Teller {
    /// The kind of event of a channel, by its name and type.
    #[must_use]
    pub fn of(channel: &Channel) -> Option<Self> {
        let below = channel.name.rsplit_once("/refloat/").map(|(_, name)| name);
        let name = below.or_else(|| channel.name.strip_prefix("refloat/"))?;
        Some(match (name, channel.ty()) {
            ("adjustment", Type::String) => Self::Adjustment,
            ("running", Type::Boolean) => Self::Running,
            ("stop_condition", Type::String) => Self::Stop,
            ("wheelslip", Type::Boolean) => Self::Wheelslip,
            ("fatal_error", Type::Boolean) => Self::Fatal,
            ("fault_code", Type::Int64) => Self::Fault,
            ("alerts", Type::String) => Self::Alerts,
            _ => return None,
        })
    }

    /// Whether its state lasts until the next one.
    #[must_use]
    pub fn lasts(self) -> bool {
        !matches!(self, Self::Stop | Self::Alerts)
    }

    /// What a value says; nothing where all is as it should be.
    #[must_use]
    pub fn says(self, value: &Value<'_>) -> Option<Sign> {
        let sign = |kind, tone, text: &str| Some(Sign { kind, tone, text: text.to_owned() });
        match (self, value) {
            (Self::Adjustment, Value::String(name)) => {
                let name = std::str::from_utf8(name).ok()?;
                let kind = Adjustment::from_name(name).filter(|kind| *kind != Adjustment::NONE)?;
                let tone = if adjustment::is_pushback(kind) { Tone::Notable } else { Tone::Calm };
                sign(SignKind::Pushback, tone, &adjustment::words(kind))
            }
            (Self::Running, Value::Boolean(true)) => sign(SignKind::State, Tone::Calm, "the board is engaged"),
            (Self::Stop, Value::String(why)) => {
                let why = std::str::from_utf8(why).ok().filter(|why| *why != "none")?;
                match why {
                    "pitch" | "roll" => {
                        sign(SignKind::Fault, Tone::Notable, &format!("the board stopped: {why} too far"))
                    }
                    _ => sign(SignKind::State, Tone::Calm, &format!("the board stopped: {why}")),
                }
            }
            (Self::Wheelslip, Value::Boolean(true)) => sign(SignKind::Fault, Tone::Notable, "the wheel slips"),
            (Self::Fatal, Value::Boolean(true)) => {
                sign(SignKind::Fault, Tone::Bad, "the board reports a fatal error and will not engage")
            }
            (Self::Fault, Value::Int64(code)) if *code != 0 => {
                sign(SignKind::Fault, Tone::Bad, &format!("the motor controller reports fault {code}"))
            }
            (Self::Alerts, Value::String(json)) => {
                let alert = serde_json::from_slice::<Json>(json).ok()?;
                if alert.get("active").and_then(Json::as_bool) != Some(true) {
                    return None;
                }
                let text = match alert.get("name").and_then(Json::as_str) {
                    Some(name) => format!("the board alerts: {name}"),
                    None => {
                        let code = alert.get("code").and_then(Json::as_i64).unwrap_or(0);
                        format!("the board alerts: code {code}")
                    }
                };
                sign(SignKind::Fault, Tone::Bad, &text)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use logpose_core::{Channel, Value};

    use super::{Sign, SignKind, Teller, Tone};

    #[test]
    fn channels_of_live_boards_are_known() {
        let teller = |name: &str, ty: &str| Teller::of(&Channel::new(name, ty));
        assert_eq!(teller("/refloat/adjustment", "string"), Some(Teller::Adjustment));
        assert_eq!(teller("refloat/fault_code", "int64"), Some(Teller::Fault));
        assert_eq!(teller("/left/refloat/alerts", "json"), Some(Teller::Alerts));
        assert_eq!(teller("/refloat/adjustment", "double"), None);
        assert_eq!(teller("/adjustment", "string"), None);
        assert_eq!(teller("/my_refloat/adjustment", "string"), None);
        assert_eq!(teller("/refloat/pitch", "float"), None);
    }

    #[test]
    fn only_what_is_not_as_it_should_be_is_said() {
        let says = |teller: Teller, text: &str| teller.says(&Value::String(text.as_bytes()));
        let sign = |kind, tone, text: &str| Some(Sign { kind, tone, text: text.to_owned() });
        assert_eq!(says(Teller::Adjustment, "none"), None);
        assert_eq!(says(Teller::Adjustment, "nonsense"), None);
        let duty = "duty pushback: the motor is close to its top speed";
        assert_eq!(says(Teller::Adjustment, "duty pushback"), sign(SignKind::Pushback, Tone::Notable, duty));
        let centring = "the board centers itself after engaging";
        assert_eq!(says(Teller::Adjustment, "centering"), sign(SignKind::Pushback, Tone::Calm, centring));
        assert_eq!(says(Teller::Stop, "none"), None);
        let stopped = says(Teller::Stop, "pitch").unwrap();
        assert_eq!((stopped.kind, stopped.tone), (SignKind::Fault, Tone::Notable));
        assert_eq!(says(Teller::Stop, "switch full").unwrap().kind, SignKind::State);
        assert_eq!(Teller::Fault.says(&Value::Int64(0)), None);
        assert_eq!(Teller::Fault.says(&Value::Int64(4)).unwrap().tone, Tone::Bad);
        assert_eq!(Teller::Wheelslip.says(&Value::Boolean(false)), None);
        let alert = r#"{"id":1,"active":true,"code":4,"name":"OVER_TEMP"}"#;
        assert_eq!(says(Teller::Alerts, alert), sign(SignKind::Fault, Tone::Bad, "the board alerts: OVER_TEMP"));
        assert_eq!(says(Teller::Alerts, &alert.replace("true", "false")), None);
        assert_eq!(says(Teller::Alerts, "{"), None);
    }
}
