use std::sync::Arc;

use logpose_core::{Channel, ChannelId, EncodeError, Layout, Problem, Sample, Sink, SinkError, Time, Value};
use serde_json::json;

use super::cdr::Writing;
use super::plan::{Cdr, Derived, FIRST, Framing, Plan, Route};
use super::scene::Moment;
use crate::Piece;

/// Messages of an MCAP file, ready to be written.
pub struct McapPiece {
    plan: Arc<Plan>,
    buffer: Buffer,
    rows: usize,
}

impl McapPiece {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        Self { plan, buffer: Buffer::default(), rows: 0 }
    }

    /// The MCAP channels that have messages, by id.
    pub(crate) fn topics(&self) -> impl Iterator<Item = u16> {
        let mut used = vec![false; self.plan.catalog.topics.len()];
        for message in &self.buffer.messages {
            if let Some(used) = used.get_mut(usize::from(message.topic - FIRST)) {
                *used = true;
            }
        }
        used.into_iter().zip(FIRST..).filter(|(used, _)| *used).map(|(_, id)| id)
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

impl Sink for McapPiece {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let Some(known) = self.plan.channels.get(id as usize) else {
            return Err(refuse(&self.plan, id, format!("{:?} is not in the header", channel.name)));
        };
        let mut event = json!({"event": "start", "channel": id, "name": channel.name});
        if known.metadata != channel.metadata
            && let Some(object) = event.as_object_mut()
        {
            object.insert("metadata".into(), channel.metadata.as_str().into());
        }
        self.buffer.start(&event);
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.rows += samples.len();
        self.buffer.samples(&self.plan, samples)
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.buffer.metadata(&self.plan, id, time, metadata);
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.buffer.end(&self.plan, id, time);
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // A piece is messages. Whoever fills it reads the log, and has its problems from the index.
    }
}

impl Piece for McapPiece {
    fn size(&self) -> usize {
        self.buffer.size()
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn seal(&mut self) -> Result<(), SinkError> {
        self.buffer.seal(&self.plan);
        Ok(())
    }
}

/// Messages that were made of samples by a plan.
#[derive(Default)]
pub(crate) struct Buffer {
    messages: Vec<Message>,
    /// What the messages hold, one after the other.
    data: Vec<u8>,
    /// Starts that wait for a time: they have none, and a message needs one.
    starts: Vec<String>,
    /// The time of the last message.
    last: u64,
    /// The scene of the last time.
    pub(crate) moment: Moment,
    /// Samples at times that MCAP does not have.
    pub(crate) early: u64,
}

struct Message {
    topic: u16,
    time: u64,
    /// Where its data ends; it starts where that of the message before ends.
    end: usize,
}

impl Buffer {
    /// The MCAP channel, the time and the data of all messages.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (u16, u64, &[u8])> {
        let mut start = 0;
        self.messages.iter().map(move |message| {
            let data = self.data.get(start..message.end).unwrap_or_default();
            start = message.end;
            (message.topic, message.time, data)
        })
    }

    /// The time of the last message, on the clock of the log.
    pub(crate) fn last(&self, plan: &Plan) -> Time {
        let ns = i128::from(self.last) - i128::from(plan.offset);
        i64::try_from(ns).map_or(Time::MAX, Time::from_nanos)
    }

    /// Forgets the messages and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.messages.clear();
        self.data.clear();
    }

    fn size(&self) -> usize {
        self.data.len() + self.messages.len() * size_of::<Message>()
    }

    /// Takes the start of a channel.
    pub(crate) fn start(&mut self, event: &serde_json::Value) {
        self.starts.push(event.to_string());
    }

    pub(crate) fn samples(&mut self, plan: &Plan, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let Some(route) = plan.routes.get(sample.channel as usize).filter(|route| route.topic >= FIRST) else {
                let message = "sample of an undeclared channel".to_owned();
                return Err(refuse(plan, sample.channel, message));
            };
            let Some(time) = plan.log_time(sample.time) else {
                self.early(plan, sample);
                continue;
            };
            if self.moment.is_before(time) {
                self.finish_moment(plan);
            }
            if !self.starts.is_empty() {
                self.flush_starts(plan, time);
            }
            if let (Some(role), Value::Bytes(payload)) = (route.scene_role, &sample.value) {
                self.moment.note(role, sample.time, time, payload);
            }
            let made = match route.cdr {
                None => self.sample(route, time, &sample.value),
                Some(cdr) => self.sample_of_ros_2(plan, route, cdr, time, &sample.value),
            };
            if let Err(message) = made {
                return Err(refuse(plan, sample.channel, message.to_owned()));
            }
            self.last = time;
        }
        Ok(())
    }

    pub(crate) fn metadata(&mut self, plan: &Plan, id: ChannelId, time: Time, metadata: &str) {
        let event = json!({"event": "metadata", "channel": id, "time_ns": time.nanos(), "metadata": metadata});
        self.event(plan, time, &event);
    }

    pub(crate) fn end(&mut self, plan: &Plan, id: ChannelId, time: Time) {
        self.event(plan, time, &json!({"event": "end", "channel": id, "time_ns": time.nanos()}));
    }

    /// Writes what waits for more: starts, and the scene of the last time.
    pub(crate) fn seal(&mut self, plan: &Plan) {
        self.finish_moment(plan);
        self.flush_starts(plan, self.last);
    }

    #[inline]
    fn message(&mut self, topic: u16, time: u64, data: &[u8]) {
        self.message_with(topic, time, |out| out.extend_from_slice(data));
    }

    /// Appends a message whose data is what `write` appends.
    #[inline]
    fn message_with(&mut self, topic: u16, time: u64, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.data);
        self.messages.push(Message { topic, time, end: self.data.len() });
    }

    /// Appends a message with a number of elements in front.
    fn counted(&mut self, topic: u16, time: u64, size: usize, bytes: &[u8]) -> Result<(), &'static str> {
        let count = u32::try_from(bytes.len() / size.max(1)).map_err(|_| TOO_LONG)?;
        self.message_with(topic, time, |out| {
            out.extend_from_slice(&count.to_le_bytes());
            out.extend_from_slice(bytes);
        });
        Ok(())
    }

    fn payload(&mut self, route: &Route, time: u64, bytes: &[u8]) -> Result<(), &'static str> {
        match route.framing {
            framing if !framing.fits(bytes.len()) => return self.counted(route.rest, time, 1, bytes),
            Framing::Plain | Framing::Exact(_) => self.message(route.topic, time, bytes),
            Framing::Counted(size) => self.counted(route.topic, time, size, bytes)?,
        }
        if let Some(derived) = route.derived {
            self.derive(derived, time, bytes);
        }
        Ok(())
    }

    fn derive(&mut self, derived: Derived, time: u64, bytes: &[u8]) {
        let Derived { pose, message, topic, robot } = derived;
        self.message_with(topic, time, |out| message.emit(pose, time, bytes, out));
        if let Some(topic) = robot {
            self.message_with(topic, time, |out| super::foxglove::Message::Robot.emit(pose, time, bytes, out));
        }
    }

    fn sample(&mut self, route: &Route, time: u64, value: &Value<'_>) -> Result<(), &'static str> {
        if value.ty() != route.ty {
            return Err(ANOTHER_TYPE);
        }
        match *value {
            Value::Boolean(b) => self.message(route.topic, time, &[b.into()]),
            Value::Int64(x) => self.message(route.topic, time, &x.to_le_bytes()),
            Value::Float(x) => self.message(route.topic, time, &x.to_le_bytes()),
            Value::Double(x) => self.message(route.topic, time, &x.to_le_bytes()),
            Value::String(bytes) | Value::Bytes(bytes) | Value::BooleanArray(bytes) => {
                self.payload(route, time, bytes)?;
            }
            Value::Int64Array(numbers) => self.array(route.topic, time, numbers.len(), value)?,
            Value::FloatArray(numbers) => self.array(route.topic, time, numbers.len(), value)?,
            Value::DoubleArray(numbers) => self.array(route.topic, time, numbers.len(), value)?,
            Value::StringArray(_) => self.message_with(route.topic, time, |out| value.emit(Layout::Little, out)),
        }
        Ok(())
    }

    fn sample_of_ros_2(
        &mut self,
        plan: &Plan,
        route: &Route,
        cdr: Cdr,
        time: u64,
        value: &Value<'_>,
    ) -> Result<(), &'static str> {
        if value.ty() != route.ty {
            return Err(ANOTHER_TYPE);
        }
        let fits = match *value {
            Value::Bytes(bytes) => route.framing.fits(bytes.len()),
            _ => true,
        };
        let topic = if fits { route.topic } else { route.rest };
        let mut done = Some(());
        self.message_with(topic, time, |out| {
            let mut writing = Writing::new(out);
            done = match (cdr, value) {
                (Cdr::Structs(runs, size), Value::Bytes(bytes)) if fits => {
                    let count = if matches!(route.framing, Framing::Counted(_)) {
                        Some(bytes.len() / size.max(1))
                    } else {
                        None
                    };
                    let counted = count.map_or(Some(()), |count| writing.count(count));
                    writing.structs(plan.catalog.runs.get(runs).map_or(&[], Vec::as_slice), size, bytes);
                    counted
                }
                _ => writing.value(value),
            };
        });
        if let (true, Some(derived), Value::Bytes(bytes)) = (fits, route.derived, value) {
            self.derive(derived, time, bytes);
        }
        done.ok_or(TOO_LONG)
    }

    fn array(&mut self, topic: u16, time: u64, count: usize, value: &Value<'_>) -> Result<(), &'static str> {
        let count = u32::try_from(count).map_err(|_| TOO_LONG)?;
        self.message_with(topic, time, |out| {
            out.extend_from_slice(&count.to_le_bytes());
            value.emit(Layout::Little, out);
        });
        Ok(())
    }

    /// Writes the starts that wait, at the time of what follows them.
    fn flush_starts(&mut self, plan: &Plan, time: u64) {
        for start in std::mem::take(&mut self.starts) {
            self.message(plan.events, time, start.as_bytes());
        }
    }

    /// Writes the scene of the time whose samples have all come.
    fn finish_moment(&mut self, plan: &Plan) {
        let Some(stage) = &plan.stage else { return };
        let mut moment = std::mem::take(&mut self.moment);
        moment.finish(&stage.drawn, |time, transforms, scene| {
            transforms.into_iter().for_each(|message| self.message(stage.transforms, time, message));
            scene.into_iter().for_each(|message| self.message(stage.scene, time, message));
        });
        self.moment = moment;
    }

    /// Keeps a sample whose time MCAP cannot say among the events, where the time is text. Viewers do not see it.
    #[cold]
    fn early(&mut self, plan: &Plan, sample: &Sample<'_>) {
        let mut payload = Vec::new();
        sample.value.emit(Layout::Little, &mut payload);
        let event = json!({
            "event": "sample",
            "channel": sample.channel,
            "time_ns": sample.time.nanos(),
            "payload": payload,
        });
        self.flush_starts(plan, self.last);
        self.message(plan.events, self.last, event.to_string().as_bytes());
        self.early += 1;
    }

    fn event(&mut self, plan: &Plan, time: Time, event: &serde_json::Value) {
        // Events are not among the times that were promised; theirs is in the text.
        let at = plan.log_time(time).unwrap_or(0);
        self.flush_starts(plan, at);
        self.message(plan.events, at, event.to_string().as_bytes());
        self.last = at;
    }
}

fn refuse(plan: &Plan, id: ChannelId, message: String) -> SinkError {
    let channel = plan.channels.get(id as usize).map_or(String::new(), |channel| channel.name.clone());
    EncodeError::new("mcap", channel, message).into()
}

const ANOTHER_TYPE: &str = "the value has another type than the channel";
const TOO_LONG: &str = "the value is longer than 4 GiB, the limit of a message";
