use crate::Viewer;
use crate::api;
use crate::clock::Clock;
use crate::error::RequestError;
use crate::findings::{Band, Finding};

impl Viewer {
    /// What happened in a log: modes, errors, brownouts, collisions and the like.
    pub fn events(&self, log: usize) -> Result<api::Events, RequestError> {
        let session = self.session();
        let member = session.log(log)?;
        let (clock, found) = (session.clock(member), member.store.findings()?);
        Ok(api::Events {
            bands: found.bands.iter().map(|band| api::Band::of(band, &clock)).collect(),
            events: found.events.iter().map(|event| api::LogEvent::of(event, &clock)).collect(),
            truncated: found.cut,
        })
    }
}

impl api::Band {
    fn of(band: &Band, clock: &Clock) -> Self {
        let Band { start, end, kind, text } = band;
        Self { start: clock.seconds(*start), end: clock.seconds(*end), kind, text }
    }
}

impl api::LogEvent {
    fn of(event: &Finding, clock: &Clock) -> Self {
        Self {
            start: clock.seconds(event.time),
            end: event.end.map(|end| clock.seconds(end)),
            kind: event.kind,
            level: event.level.into(),
            text: event.text.clone(),
            channel: event.channel.clone(),
        }
    }
}
