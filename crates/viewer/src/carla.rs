//! Recordings of CARLA seen from above: the actors and their places, frame after frame.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field};
use logpose::carla::{
    ActorType, Body, BoundingBox, EventAdd, Frames, Kept, Kind, Life, Mark, Tracks, Vector, collisions, narrow,
};
use logpose_core::Time;

use crate::api::{ActorKind, CarlaActor, CarlaActors, CarlaCollision, MotionQuery};
use crate::cancel::CancelToken;
use crate::clock::Clock;
use crate::error::RequestError;
use crate::ipc;
use crate::{Session, Viewer};

/// The recording of a log: none if it is no recording, a refusal if it cannot be read.
pub(crate) type Recording = Result<Option<Kept>, RequestError>;

/// The most actors of an answer.
const ACTORS: usize = 100_000;
/// The most collisions of an answer.
const COLLISIONS: usize = 10_000;
/// The most rows of an answer: about 18 MB.
const ROWS: usize = 400_000;

impl Viewer {
    /// The actors of a CARLA recording and their collisions.
    pub fn carla_actors(&self, log: usize) -> Result<CarlaActors, RequestError> {
        with(&self.session(), log, |frames, clock| Ok(all_actors(frames, clock)))
    }

    /// Where the actors are in a stretch of time, frame after frame, as an Arrow stream.
    pub fn carla_motion(&self, log: usize, query: &MotionQuery, stop: &CancelToken) -> Result<Vec<u8>, RequestError> {
        if query.start.is_nan() || query.end.is_nan() || query.end < query.start {
            return Err(RequestError::invalid("invalid-range", "the range ends before it starts"));
        }
        if !(0.0..f64::INFINITY).contains(&query.step) {
            return Err(RequestError::invalid("invalid-step", "invalid step"));
        }
        with(&self.session(), log, |frames, clock| rows(frames, clock, query, ROWS, stop).and_then(Rows::arrow))
    }
}

impl Default for MotionQuery {
    fn default() -> Self {
        Self { start: f64::NEG_INFINITY, end: f64::INFINITY, step: 0.0 }
    }
}

/// Asks the recording of a log something. The first who asks goes over it, and whoever asks meanwhile waits.
fn with<T>(
    session: &Session,
    log: usize,
    ask: impl FnOnce(&Frames<'_>, &Clock) -> Result<T, RequestError>,
) -> Result<T, RequestError> {
    let member = session.log(log)?;
    let kept = member.recording.get_or_init(|| {
        let kept = member.store.log().map_or(Ok(None), |log| Kept::new(Arc::clone(log)));
        kept.map_err(RequestError::from)
    });
    let Some(kept) = kept.as_ref().map_err(RequestError::clone)? else {
        return Err(RequestError::not_found(
            "not-a-carla-recording",
            format!("log {log} is not a CARLA recording or a conversion of one"),
        ));
    };
    ask(&kept.frames()?, &session.clock(member))
}

/// Session time at which a frame begins.
fn begins(frames: &Frames<'_>, clock: &Clock, place: usize) -> Option<f64> {
    let elapsed = frames.frames().get(place)?.start.elapsed;
    Time::from_seconds(elapsed).map(|time| clock.seconds(time))
}

fn all_actors(frames: &Frames<'_>, clock: &Clock) -> CarlaActors {
    let mut attachments: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
    for made in frames.parents() {
        attachments.entry(made.actor).or_default().push((made.frame, made.parent));
    }
    let at = |frame: u32| begins(frames, clock, frame as usize);
    let actors = frames.lives().iter().take(ACTORS).filter_map(|life| {
        let birth = frames.birth(life)?;
        let mine = |frame: u32| life.born <= frame && life.died.is_none_or(|died| frame < died);
        let tied = attachments.get(&life.actor).and_then(|all| all.iter().rfind(|(frame, _)| mine(*frame)));
        Some(CarlaActor {
            id: life.actor,
            kind: kind(&birth),
            bounding_box: bounds(frames, life),
            color: birth.attribute("color").and_then(color),
            hero: birth.is_hero(),
            spawned: at(life.born)?,
            destroyed: life.died.and_then(at),
            parent: tied.map(|(_, parent)| *parent),
            blueprint: String::from_utf8_lossy(birth.blueprint).into_owned(),
        })
    });
    let actors = actors.collect();
    let contacts = collisions(frames);
    let hits = contacts.iter().take(COLLISIONS).filter_map(|contact| {
        Some(CarlaCollision {
            start: at(contact.first)?,
            end: at(contact.last)?,
            actor: contact.actor1.actor,
            other_actor: contact.actor2.actor,
            location: place(frames, contact.first, [contact.actor1.actor, contact.actor2.actor]),
        })
    });
    CarlaActors {
        map: String::from_utf8_lossy(frames.header().map).into_owned(),
        actors,
        collisions: hits.collect(),
        truncated: frames.lives().len() > ACTORS || contacts.len() > COLLISIONS,
    }
}

/// What an actor is, for people.
fn kind(birth: &EventAdd<'_>) -> ActorKind {
    match birth.class() {
        ActorType::Walker => ActorKind::Walker,
        ActorType::TrafficLight => ActorKind::TrafficLight,
        ActorType::TrafficSign => ActorKind::TrafficSign,
        ActorType::Sensor => ActorKind::Sensor,
        ActorType::Other if birth.blueprint == b"spectator" => ActorKind::Spectator,
        ActorType::Other => ActorKind::Other,
        ActorType::Vehicle => match birth.attribute("base_type") {
            Some(b"bicycle") => ActorKind::Bicycle,
            Some(b"motorcycle") => ActorKind::Motorcycle,
            // Builds before 0.9.14 say only how many wheels it has; all bicycles of CARLA are these.
            None if birth.attribute("number_of_wheels") == Some(b"2") => {
                let name = String::from_utf8_lossy(birth.blueprint);
                let bicycle = BICYCLES.iter().any(|known| name.ends_with(known));
                if bicycle { ActorKind::Bicycle } else { ActorKind::Motorcycle }
            }
            _ => ActorKind::Vehicle,
        },
    }
}

const BICYCLES: [&str; 3] = ["crossbike", "century", "omafiets"];

/// The box that an actor had when it appeared, or that it got later. Sensors have boxes that are none.
fn bounds(frames: &Frames<'_>, life: &Life) -> Option<[f64; 6]> {
    let end = life.died.map_or(u32::MAX, |died| died.saturating_sub(1));
    let change =
        |frame| frames.change(Kind::BoundingBox, life.actor.into(), frame).filter(|change| change.frame >= life.born);
    let record: BoundingBox = frames.record(change(life.born).or_else(|| change(end))?.at)?;
    let parts = [record.origin, record.extent].map(Vector::array).concat();
    let parts: Vec<f64> = parts.iter().map(|part| part / 100.0).filter(|part| part.is_finite()).collect();
    parts.try_into().ok()
}

/// CARLA writes `255,0,16`.
fn color(value: &[u8]) -> Option<String> {
    let parts: Vec<u8> =
        std::str::from_utf8(value).ok()?.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    let [red, green, blue] = parts.try_into().ok()?;
    Some(format!("#{red:02x}{green:02x}{blue:02x}"))
}

/// The middle between those of two actors whose positions a frame has.
fn place(frames: &Frames<'_>, frame: u32, who: [Option<u32>; 2]) -> Option<[f64; 3]> {
    let Body::Position(records) = frames.packet(frame as usize, Kind::Position)? else { return None };
    let found: Vec<[f64; 3]> = records
        .iter()
        .filter(|record| who.contains(&Some(record.actor)))
        .map(|record| record.location.array())
        .collect();
    let count = u32::try_from(found.len()).ok().filter(|count| *count > 0)?;
    let sum = found.iter().fold([0.0; 3], |[x, y, z], [a, b, c]| [x + a, y + b, z + c]);
    Some(sum.map(|part| part / 100.0 / f64::from(count))).filter(|at| at.iter().all(|part| part.is_finite()))
}

/// The rows of an answer, column by column.
#[derive(Default)]
struct Rows {
    t: Vec<f64>,
    actor: Vec<u32>,
    /// x, y, z, roll, pitch, yaw and the speed.
    numbers: [Vec<f32>; 7],
    lights: Vec<u32>,
    /// How far apart the frames are, in seconds, and how many there are.
    step: f64,
    frames: usize,
}

/// Where actors are in a stretch of time. Where there would be too many rows, frames are left out.
fn rows(
    frames: &Frames<'_>,
    clock: &Clock,
    stretch: &MotionQuery,
    most: usize,
    stop: &CancelToken,
) -> Result<Rows, RequestError> {
    let mut step = stretch.step;
    loop {
        let chosen = choose(frames, clock, stretch, step);
        let range = chosen.first().map_or(0, |first| first.0)..chosen.last().map_or(0, |last| last.0 + 1);
        let mut tracks = Tracks::over(frames, range);
        let (mut rows, mut marks) = (Rows { step, ..Rows::default() }, Vec::new());
        for (place, t) in &chosen {
            if stop.is_cancelled() {
                return Err(RequestError::cancelled());
            }
            marks.clear();
            tracks.marks_at(*place, &mut marks);
            rows.frames += 1;
            marks.iter().for_each(|mark| rows.push(*t, mark));
            // Two frames are given whatever they hold: a packet has no more than 65535 records.
            if rows.t.len() > most && chosen.len() > 2 {
                break;
            }
        }
        if rows.t.len() <= most || chosen.len() <= 2 {
            return Ok(rows);
        }
        let ends = chosen.first().zip(chosen.last());
        let span = ends.map_or(0.0, |(first, last)| last.1 - first.1);
        #[expect(clippy::cast_precision_loss, reason = "counts of frames are small")]
        let (count, done) = (chosen.len() as f64, rows.frames as f64);
        step = step.max(span / count) * (count / done) * 1.25;
    }
}

/// The frames of a stretch, at least `step` apart, with one before it and one behind it; and when they begin.
fn choose(frames: &Frames<'_>, clock: &Clock, stretch: &MotionQuery, step: f64) -> Vec<(usize, f64)> {
    let all = frames.frames();
    let time = |frame: &logpose::carla::Frame| {
        Time::from_seconds(frame.start.elapsed).map_or(f64::INFINITY, |time| clock.seconds(time))
    };
    let first = all.partition_point(|frame| time(frame) < stretch.start).saturating_sub(1);
    let last = all.partition_point(|frame| time(frame) <= stretch.end).min(all.len().saturating_sub(1));
    let mut chosen: Vec<(usize, f64)> = Vec::new();
    // A rate that is not exact must not cost every second frame.
    let apart = step * (1.0 - 1e-4);
    for (place, frame) in all.iter().enumerate().take(last + 1).skip(first) {
        let t = time(frame);
        let far = chosen.last().is_none_or(|(_, before)| t - before >= apart && t >= *before);
        if t.is_finite() && (far || place == last) {
            chosen.push((place, t));
        }
    }
    chosen
}

impl Rows {
    fn push(&mut self, t: f64, mark: &Mark) {
        let pose = &mark.pose;
        let speed = mark.speed.unwrap_or(f64::NAN);
        let parts = [pose.x, pose.y, pose.z, pose.roll, pose.pitch, pose.yaw, speed];
        self.t.push(t);
        self.actor.push(mark.actor);
        self.lights.push(mark.lights);
        self.numbers.iter_mut().zip(parts).for_each(|(column, part)| column.push(narrow(part)));
    }

    fn arrow(self) -> Result<Vec<u8>, RequestError> {
        let names = ["x", "y", "z", "roll", "pitch", "yaw", "speed"];
        let field = |name: &str, ty| Field::new(name, ty, false);
        let mut fields = vec![field("time", DataType::Float64), field("actor", DataType::UInt32)];
        fields.extend(names.map(|name| field(name, DataType::Float32)));
        fields.push(field("lights", DataType::UInt32));
        let about = serde_json::json!({ "step": self.step, "frames": self.frames }).to_string();
        let schema = ipc::schema(fields, "motion", about);
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(Float64Array::from(self.t)), Arc::new(UInt32Array::from(self.actor))];
        columns.extend(self.numbers.map(|column| Arc::new(Float32Array::from(column)) as ArrayRef));
        columns.push(Arc::new(UInt32Array::from(self.lights)));
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns)
            .map_err(|error| RequestError::internal(format!("cannot create the response: {error}")))?;
        ipc::stream(&schema, &[batch])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_rows_are_fewer_frames() {
        let log = logpose_sim::junction(1, 20.0).unwrap_or_default();
        let Ok(frames) = Frames::scan(&log) else { panic!("the demo is a recording") };
        let (clock, stop) = (Clock::default(), CancelToken::default());
        let whole = MotionQuery::default();
        let sampled =
            |most| rows(&frames, &clock, &whole, most, &stop).map(|rows| (rows.frames, rows.t.len(), rows.step));
        let Ok((all, count, step)) = sampled(ROWS) else { panic!("nobody stopped it") };
        assert_eq!((all, step), (400, 0.0));
        for most in [count - 1, count / 2, count / 10, 200] {
            let Ok((fewer, rows, step)) = sampled(most) else { panic!("nobody stopped it") };
            assert!(rows <= most && rows > most / 3 && fewer < all && step > 0.0, "{most}: {rows} rows, {step} s");
        }
        // The first and the last frame are there whatever they hold.
        assert!(sampled(1).is_ok_and(|(frames, _, _)| frames == 2));
    }

    #[test]
    fn colours_are_three_numbers() {
        assert_eq!(color(b"255, 0,16").as_deref(), Some("#ff0010"));
        for odd in ["", "1,2", "1,2,3,4", "256,0,0", "red"] {
            assert_eq!(color(odd.as_bytes()), None, "{odd}");
        }
    }
}
