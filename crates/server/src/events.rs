use axum::Json;
use axum::extract::State;

use crate::api;
use crate::clock::Clock;
use crate::error::Refusal;
use crate::findings::{Band, Finding};
use crate::router::{App, LogNumber};

/// `GET /api/logs/{log}/events`
pub(crate) async fn events(State(app): State<App>, LogNumber(log): LogNumber) -> Result<Json<api::Events>, Refusal> {
    let session = app.session.clone();
    let found = app.jobs.slow(move |_| {
        let member = session.log(log)?;
        let (clock, found) = (session.clock(member), member.store.findings()?);
        Ok(api::Events {
            bands: found.bands.iter().map(|band| api::Band::of(band, &clock)).collect(),
            events: found.events.iter().map(|event| api::Event::of(event, &clock)).collect(),
            truncated: found.cut,
        })
    });
    Ok(Json(found.await?))
}

impl api::Band {
    fn of(band: &Band, clock: &Clock) -> Self {
        let Band { start, end, kind, text } = band;
        Self { start: clock.seconds(*start), end: clock.seconds(*end), kind, text }
    }
}

impl api::Event {
    fn of(event: &Finding, clock: &Clock) -> Self {
        Self {
            start: clock.seconds(event.time),
            end: event.end.map(|end| clock.seconds(end)),
            kind: event.kind,
            level: event.level.name(),
            text: event.text.clone(),
            channel: event.channel.clone(),
        }
    }
}
