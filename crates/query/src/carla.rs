//! Tables of CARLA recordings: what happened in them, and how everything moved.

use std::fmt;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::PartitionStream;
use logpose::Log;
use logpose::carla::{self, Blocking, Frames, Life, Mode, PoseSource, State, is_recording};
use logpose_core::Time;
use serde_json::{Value, json};

use crate::logs::Logs;
use crate::read::external;
use crate::table::with_fields;
use crate::views::{moments, table};

/// The tables that logs with recordings have besides those of their channels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum View {
    Frames,
    Actors,
    Collisions,
    Blocked,
    Motion,
    Ttc,
}

impl View {
    pub(crate) const ALL: [(&'static str, Self); 6] = [
        ("frames", Self::Frames),
        ("actors", Self::Actors),
        ("collisions", Self::Collisions),
        ("blocked", Self::Blocked),
        ("carla_motion", Self::Motion),
        ("ttc", Self::Ttc),
    ];

    pub(crate) fn provider(self, logs: &Arc<Logs>) -> Result<Arc<dyn TableProvider>> {
        Ok(match self {
            Self::Frames => Arc::new(frames(logs)?),
            Self::Actors => Arc::new(actors(logs)?),
            Self::Collisions => Arc::new(collisions(logs)?),
            Self::Blocked => Arc::new(blocked(logs)?),
            Self::Motion => Arc::new(streaming(logs, Moving::Motion)?),
            Self::Ttc => Arc::new(streaming(logs, Moving::Approaches)?),
        })
    }
}

/// What the key of a family's channels is called.
pub(crate) fn key_column(family: &str) -> &'static str {
    match family {
        "carla_scene_light" => "light",
        "carla_bone" => "bone",
        family if family.starts_with("carla_") => "actor",
        _ => "key",
    }
}

/// Calls `each` with the frames of every recording.
fn each(logs: &Logs, mut each: impl FnMut(usize, &Frames<'_>)) -> Result<()> {
    logs.logs.iter().enumerate().try_for_each(|(place, log)| with_recording(log, |frames| each(place, frames)))
}

/// Calls `with` with the frames of a log, if it is a recording.
fn with_recording(log: &Log, with: impl FnOnce(&Frames<'_>)) -> Result<()> {
    if let Some(recorded) = carla::recorded(log).map_err(external)? {
        with(&recorded.frames().map_err(external)?);
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn at(seconds: f64) -> Time {
    Time::from_seconds(seconds).unwrap_or(Time::ZERO)
}

/// The rows of a table, column by column.
#[derive(Default)]
struct Rows {
    logs: Vec<usize>,
    times: Vec<Option<Time>>,
}

impl Rows {
    fn push(&mut self, log: usize, time: f64) {
        self.logs.push(log);
        self.times.push(Some(at(time)));
    }

    fn times(&self, logs: &Logs) -> Result<ArrayRef> {
        moments(logs, self.logs.iter().copied().zip(self.times.iter().copied()))
    }
}

fn array<A: arrow_array::Array + FromIterator<T> + 'static, T>(values: Vec<T>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<A>())
}

fn texts(values: Vec<Option<String>>) -> ArrayRef {
    Arc::new(StringArray::from(values))
}

fn numbers(values: Vec<Option<f64>>) -> ArrayRef {
    Arc::new(Float64Array::from(values))
}

fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

/// Every frame and how long it lasts; the last one is open.
fn frames(logs: &Logs) -> Result<datafusion::datasource::MemTable> {
    let (mut rows, mut number, mut duration, mut bytes) = (Rows::default(), Vec::new(), Vec::new(), Vec::new());
    each(logs, |log, frames| {
        for frame in frames.frames() {
            rows.push(log, frame.start.elapsed);
            number.push(Some(frame.start.frame));
            duration.push((frame.start.duration >= 0.0).then_some(frame.start.duration));
            bytes.push(i64::try_from(frame.end - frame.at).ok());
        }
    })?;
    let columns = vec![
        (Field::new("time", logs.time_type(), false), rows.times(logs)?),
        (field("frame", DataType::UInt64), array::<UInt64Array, _>(number)),
        (field("duration", DataType::Float64), numbers(duration)),
        (field("bytes", DataType::Int64), array::<Int64Array, _>(bytes)),
    ];
    table(logs, rows.logs, columns)
}

/// Every actor: what it is, when it came and went, and where it first was.
fn actors(logs: &Logs) -> Result<datafusion::datasource::MemTable> {
    let mut rows = Rows::default();
    let (mut ids, mut classes, mut blueprints, mut roles) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut heroes, mut until, mut parents, mut attributes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut place: [Vec<Option<f64>>; 3] = Default::default();
    each(logs, |log, frames| {
        let begins = |frame: u32| frames.frames().get(frame as usize).map(|frame| frame.start.elapsed);
        for life in frames.lives() {
            let Some(birth) = frames.birth(life) else { continue };
            rows.push(log, begins(life.born).unwrap_or(0.0));
            until.push((log, life.died.and_then(begins).map(at)));
            ids.push(Some(life.actor));
            classes.push(Some(birth.class().name().to_owned()));
            blueprints.push(Some(text(birth.blueprint)));
            roles.push(birth.attribute("role_name").map(text));
            heroes.push(Some(birth.is_hero()));
            parents.push(parent(frames, life));
            let all = birth.attributes.0.iter().map(|one| (text(one.id), Value::from(text(one.value))));
            attributes.push(Some(json!(all.collect::<serde_json::Map<_, _>>()).to_string()));
            let location = birth.location.array().map(|x| Some(x / 100.0).filter(|x| x.is_finite()));
            place.iter_mut().zip(location).for_each(|(column, x)| column.push(x));
        }
    })?;
    let [x, y, z] = place;
    let columns = vec![
        (field("actor", DataType::UInt32), array::<UInt32Array, _>(ids)),
        (field("class", DataType::Utf8), texts(classes)),
        (field("blueprint", DataType::Utf8), texts(blueprints)),
        (field("role_name", DataType::Utf8), texts(roles)),
        (field("hero", DataType::Boolean), array::<BooleanArray, _>(heroes)),
        (field("parent", DataType::UInt32), array::<UInt32Array, _>(parents)),
        (Field::new("first", logs.time_type(), false), rows.times(logs)?),
        (field("last", logs.time_type()), moments(logs, until.into_iter())?),
        (field("x", DataType::Float64), numbers(x)),
        (field("y", DataType::Float64), numbers(y)),
        (field("z", DataType::Float64), numbers(z)),
        (field("attributes", DataType::Utf8), texts(attributes)),
    ];
    table(logs, rows.logs, columns)
}

/// What an actor was attached to in its life.
fn parent(frames: &Frames<'_>, life: &Life) -> Option<u32> {
    let own = |made: &&carla::Attachment| made.actor == life.actor && life.covers(made.frame);
    frames.parents().iter().rev().find(own).map(|made| made.parent)
}

/// One side of all contacts.
#[derive(Default)]
struct Side {
    ids: Vec<Option<u32>>,
    classes: Vec<Option<String>>,
    blueprints: Vec<Option<String>>,
    heroes: Vec<Option<bool>>,
}

/// Every contact, from its first frame to its last.
fn collisions(logs: &Logs) -> Result<datafusion::datasource::MemTable> {
    let mut rows = Rows::default();
    let (mut frame, mut duration) = (Vec::new(), Vec::new());
    let mut sides: [Side; 2] = Default::default();
    each(logs, |log, frames| {
        for contact in carla::collisions(frames) {
            rows.push(log, contact.time);
            frame.push(Some(contact.frame));
            duration.push(Some(contact.until - contact.time));
            for (side, party) in sides.iter_mut().zip([&contact.actor1, &contact.actor2]) {
                side.ids.push(party.actor);
                side.classes.push(Some(party.class.name().to_owned()));
                side.blueprints.push(party.actor.map(|_| text(party.blueprint)));
                side.heroes.push(Some(party.hero));
            }
        }
    })?;
    let mut columns = vec![
        (Field::new("time", logs.time_type(), false), rows.times(logs)?),
        (field("frame", DataType::UInt64), array::<UInt64Array, _>(frame)),
        (field("duration", DataType::Float64), numbers(duration)),
    ];
    for (number, Side { ids, classes, blueprints, heroes }) in (1..).zip(sides) {
        columns.push((field(&format!("actor{number}"), DataType::UInt32), array::<UInt32Array, _>(ids)));
        columns.push((field(&format!("class{number}"), DataType::Utf8), texts(classes)));
        columns.push((field(&format!("blueprint{number}"), DataType::Utf8), texts(blueprints)));
        columns.push((field(&format!("hero{number}"), DataType::Boolean), array::<BooleanArray, _>(heroes)));
    }
    table(logs, rows.logs, columns)
}

/// Who stood still for a second or more, within ten centimetres; conditions on `duration` choose.
fn blocked(logs: &Logs) -> Result<datafusion::datasource::MemTable> {
    let mut rows = Rows::default();
    let (mut ids, mut classes, mut blueprints, mut heroes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut duration, mut to_the_end) = (Vec::new(), Vec::new());
    let mut place: [Vec<Option<f64>>; 3] = Default::default();
    each(logs, |log, frames| {
        for found in carla::blocked(frames, Blocking { min_time: 1.0, min_distance_cm: 10.0 }) {
            rows.push(log, found.from);
            ids.push(Some(found.actor));
            classes.push(Some(found.class.name().to_owned()));
            blueprints.push(Some(text(found.blueprint)));
            heroes.push(Some(found.hero));
            duration.push(Some(found.duration));
            to_the_end.push(Some(found.to_the_end));
            place.iter_mut().zip(found.place.array()).for_each(|(column, x)| column.push(Some(x)));
        }
    })?;
    let [x, y, z] = place;
    let columns = vec![
        (Field::new("time", logs.time_type(), false), rows.times(logs)?),
        (field("duration", DataType::Float64), numbers(duration)),
        (field("actor", DataType::UInt32), array::<UInt32Array, _>(ids)),
        (field("class", DataType::Utf8), texts(classes)),
        (field("blueprint", DataType::Utf8), texts(blueprints)),
        (field("hero", DataType::Boolean), array::<BooleanArray, _>(heroes)),
        (field("to_the_end", DataType::Boolean), array::<BooleanArray, _>(to_the_end)),
        (field("x", DataType::Float64), numbers(x)),
        (field("y", DataType::Float64), numbers(y)),
        (field("z", DataType::Float64), numbers(z)),
    ];
    table(logs, rows.logs, columns)
}

/// What is reckoned frame by frame, while the rows are read.
#[derive(Clone, Copy, Debug)]
enum Moving {
    Motion,
    Approaches,
}

fn streaming(logs: &Arc<Logs>, what: Moving) -> Result<StreamingTable> {
    let number = |name: &str| field(name, DataType::Float64);
    let actor = |name: &str| Field::new(name, DataType::UInt32, false);
    let fields = match what {
        Moving::Motion => vec![
            actor("actor"),
            Field::new("class", DataType::Utf8, false),
            number("x"),
            number("y"),
            number("z"),
            number("yaw"),
            number("vx"),
            number("vy"),
            number("vz"),
            number("speed"),
            field("derived", DataType::Boolean),
        ],
        Moving::Approaches => {
            vec![actor("actor1"), actor("actor2"), number("distance"), number("closing_speed"), number("ttc")]
        }
    };
    let schema = with_fields(logs, fields.into());
    let recordings = logs.logs.iter().enumerate().filter(|(_, log)| is_recording(log));
    let partitions = recordings.map(|(log, _)| {
        let stream = Stream { logs: logs.clone(), log, what, schema: schema.clone() };
        Arc::new(stream) as Arc<dyn PartitionStream>
    });
    StreamingTable::try_new(schema.clone(), partitions.collect())
}

/// The rows of one recording.
struct Stream {
    logs: Arc<Logs>,
    log: usize,
    what: Moving,
    schema: SchemaRef,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("log", &self.log).field("what", &self.what).finish_non_exhaustive()
    }
}

impl PartitionStream for Stream {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStream::builder(self.schema.clone(), 2);
        let sender = stream.tx();
        let (logs, log, what, schema) = (self.logs.clone(), self.log, self.what, self.schema.clone());
        stream.spawn_blocking(move || {
            let Some(opened) = logs.log(log) else { return Ok(()) };
            with_recording(opened, |frames| {
                let mut batch = Batch::new(&logs, log, what, schema);
                for frame in frames.frames() {
                    batch.add(frames, frame.start.elapsed);
                    // Who has enough rows does not listen any more.
                    if batch.times.len() >= ROWS && sender.blocking_send(batch.finish()).is_err() {
                        return;
                    }
                }
                let _ = sender.blocking_send(batch.finish());
            })
        });
        stream.build()
    }
}

/// About as many rows as DataFusion likes.
const ROWS: usize = 8192;
/// How far ahead collisions are looked for, in seconds.
const HORIZON: f64 = 10.0;

/// Rows until they are enough.
struct Batch<'a> {
    logs: &'a Logs,
    log: usize,
    what: Moving,
    schema: SchemaRef,
    times: Vec<i64>,
    actors: [Vec<u32>; 2],
    classes: Vec<&'static str>,
    numbers: Vec<Vec<Option<f64>>>,
    derived: Vec<Option<bool>>,
}

impl<'a> Batch<'a> {
    fn new(logs: &'a Logs, log: usize, what: Moving, schema: SchemaRef) -> Self {
        let numbers = match what {
            Moving::Motion => 8,
            Moving::Approaches => 3,
        };
        Self {
            logs,
            log,
            what,
            schema,
            times: Vec::new(),
            actors: Default::default(),
            classes: Vec::new(),
            numbers: vec![Vec::new(); numbers],
            derived: Vec::new(),
        }
    }

    fn add(&mut self, frames: &Frames<'_>, time: f64) {
        let Some(state) = State::at(frames, time, Mode::True) else { return };
        let ns = at(time).nanos();
        match self.what {
            Moving::Motion => {
                for actor in state.actors.iter().filter(|actor| actor.pose_source == PoseSource::Recorded) {
                    let velocity = actor.velocity.map(|velocity| velocity.linear.array());
                    let [vx, vy, vz] = velocity.map_or([None; 3], |linear| linear.map(Some));
                    let speed = velocity.map(|v| v.iter().map(|x| x * x).sum::<f64>().sqrt());
                    let pose = &actor.pose;
                    let place = [pose.x, pose.y, pose.z, pose.yaw].map(Some);
                    self.row(ns, [actor.actor, 0], place.into_iter().chain([vx, vy, vz, speed]));
                    self.classes.push(actor.class.name());
                    self.derived.push(actor.velocity.map(|velocity| velocity.derived));
                }
            }
            Moving::Approaches => {
                for found in carla::approaches(&state, HORIZON) {
                    let numbers = [found.distance, found.closing_speed, found.time_to_collision].map(Some);
                    self.row(ns, [found.actor1, found.actor2], numbers.into_iter());
                }
            }
        }
    }

    fn row(&mut self, ns: i64, actors: [u32; 2], numbers: impl Iterator<Item = Option<f64>>) {
        self.times.push(ns);
        self.actors.iter_mut().zip(actors).for_each(|(column, actor)| column.push(actor));
        self.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
    }

    fn finish(&mut self) -> Result<RecordBatch> {
        let ns = Int64Array::from(std::mem::take(&mut self.times));
        let mut columns: Vec<ArrayRef> = Vec::new();
        if self.logs.named {
            columns.push(self.logs.label(self.log, ns.len())?);
        }
        columns.push(self.logs.times(self.log, &ns));
        columns.push(Arc::new(ns));
        let [first, second] = &mut self.actors;
        let (first, second) = (std::mem::take(first), std::mem::take(second));
        columns.push(Arc::new(UInt32Array::from(first)));
        match self.what {
            Moving::Motion => columns.push(Arc::new(StringArray::from(std::mem::take(&mut self.classes)))),
            Moving::Approaches => columns.push(Arc::new(UInt32Array::from(second))),
        }
        columns.extend(self.numbers.iter_mut().map(|column| numbers(std::mem::take(column))));
        if matches!(self.what, Moving::Motion) {
            columns.push(array::<BooleanArray, _>(std::mem::take(&mut self.derived)));
        }
        Ok(RecordBatch::try_new(self.schema.clone(), columns)?)
    }
}
