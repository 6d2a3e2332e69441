use axum::Json;
use axum::extract::{Path, State};
use logpose::Log;
use logpose::frc::Mode;
use logpose_core::Time;

use crate::api;
use crate::channels::number;
use crate::clock::Clock;
use crate::error::Refusal;
use crate::router::App;

/// `GET /api/logs/{log}/events`
pub(crate) async fn events(State(app): State<App>, Path(log): Path<String>) -> Result<Json<api::Events>, Refusal> {
    let session = app.session.clone();
    let found = app.jobs.slow(move |_| {
        let member = session.log(number(&log)?)?;
        let clock = session.clock(member);
        let mut found = api::Events { bands: Vec::new(), events: Vec::new(), cut: false };
        if let Some(log) = member.store.log() {
            found.bands = bands(log, &clock);
            found.events = happenings(log, &clock);
        }
        Ok(found)
    });
    Ok(Json(found.await?))
}

fn bands(log: &Log, clock: &Clock) -> Vec<api::Band> {
    let spans = log.frc().modes.iter();
    let band = |span: &logpose::frc::ModeSpan| api::Band {
        start: clock.seconds(span.start),
        end: clock.seconds(span.end),
        kind: span.mode.name().to_owned(),
        text: words(span.mode).to_owned(),
    };
    spans.map(band).collect()
}

fn words(mode: Mode) -> &'static str {
    match mode {
        Mode::Disabled => "Disabled",
        Mode::Auto => "Autonomous",
        Mode::Teleop => "Teleoperated",
        Mode::Test => "Test",
        Mode::EStop => "Emergency stop",
    }
}

fn happenings(log: &Log, clock: &Clock) -> Vec<api::Event> {
    let facts = log.frc();
    let event = |time: Time, end: Option<Time>, kind, level, text: &str| api::Event {
        t: clock.seconds(time),
        end: end.map(|end| clock.seconds(end)),
        kind,
        level,
        text: text.to_owned(),
        path: None,
    };
    let mut events: Vec<api::Event> =
        facts.modes.iter().map(|span| event(span.start, Some(span.end), "mode", "info", words(span.mode))).collect();
    events
        .extend(facts.brownouts.iter().map(|(start, end)| event(*start, Some(*end), "brownout", "error", "Brownout")));
    events.sort_by(|a, b| a.t.total_cmp(&b.t));
    events
}
