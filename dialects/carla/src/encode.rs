//! Samples of the model to a recording.

use std::collections::{BTreeMap, HashSet, VecDeque};

use logpose_core::{Channel, ChannelId, Encode, EncodeError, Layout as Numbers, Problem, Sample, Time};

use crate::json::get_add;
use crate::model::{Key, Topic, record, recording};
use crate::walk::{Layout, Token};
use crate::wire::{FrameStart, Header, Kind, MAX_RECORDS, OPEN_DURATION, WireFormat, begin_packet, end_packet};
use crate::writer::ORDER;

/// Samples of the model to a recording.
///
/// A frame is held until the next one begins: its packets say how many records they have before these come, and the
/// last frame of a recording has no duration.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    channels: Vec<Option<Target>>,
    /// Version, date and map, once the channel of frames has named them.
    header: Option<(u16, i64, Vec<u8>)>,
    form: WireFormat,
    begun: bool,
    /// The number of the first frame, and of the one that is held.
    first: Option<u64>,
    frame: Option<[u8; 24]>,
    /// What the frame that is held has of each kind, and of packets that are kept as they are.
    kinds: BTreeMap<Kind, Bucket>,
    packets: BTreeMap<u8, Bucket>,
    layout: Option<Vec<Token>>,
    added: HashSet<u32>,
    payload: Vec<u8>,
}

/// A channel that samples come from.
#[derive(Debug)]
struct Target {
    name: String,
    /// What it is; `None` for schemas, which a recording does not hold.
    key: Option<Key>,
    /// Whether its actor is known to have appeared.
    known: bool,
}

/// Records or packets, one behind the other.
#[derive(Debug, Default)]
struct Bucket {
    bytes: Vec<u8>,
    /// Where each of them ends.
    ends: VecDeque<usize>,
    /// Up to where they were written.
    written: usize,
    /// The walker of the last record of bones.
    walker: Option<u32>,
}

impl Bucket {
    /// Adds something, and forgets what was added of it if that fails.
    fn or_undo<T>(&mut self, add: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        let (bytes, ends, walker) = (self.bytes.len(), self.ends.len(), self.walker);
        let added = add(self);
        if added.is_err() {
            self.bytes.truncate(bytes);
            self.ends.truncate(ends);
            self.walker = walker;
        }
        added
    }

    /// The bones of one walker are one record; its count stands behind the walker.
    fn bone(&mut self, key: &Key, payload: &[u8], form: WireFormat) -> Result<(), String> {
        if self.walker != Some(key.id) {
            self.walker = Some(key.id);
            self.bytes.extend_from_slice(&key.id.to_le_bytes());
            self.bytes.extend_from_slice(&[0, 0]);
            self.ends.push_back(self.bytes.len());
        }
        let mut ends = self.ends.iter().rev();
        let (last, before) = (ends.next().copied().unwrap_or(0), ends.next().copied().unwrap_or(self.written));
        debug_assert_eq!(last, self.bytes.len());
        record(key, payload, form, &mut self.bytes)?;
        if let Some(count) = self.bytes.get_mut(before + 4..).and_then(|rest| rest.first_chunk_mut()) {
            let more = u16::from_le_bytes(*count).checked_add(1).ok_or("a walker has more than 65535 bones")?;
            *count = more.to_le_bytes();
        }
        if let Some(end) = self.ends.back_mut() {
            *end = self.bytes.len();
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.written = 0;
        self.walker = None;
    }

    /// The bytes of the next `count` that were not written.
    fn take(&mut self, count: usize) -> (usize, &[u8]) {
        let count = count.min(self.ends.len());
        let end = self.ends.drain(..count).next_back().unwrap_or(self.written);
        let start = std::mem::replace(&mut self.written, end);
        (count, self.bytes.get(start..end).unwrap_or_default())
    }
}

/// Kinds that are written in every frame even when they have no records, for every build to replay it.
const ALWAYS: &[Kind] = &[
    Kind::EventAdd,
    Kind::EventDel,
    Kind::EventParent,
    Kind::Collision,
    Kind::Position,
    Kind::TrafficLightState,
    Kind::VehicleAnim,
    Kind::WalkerAnim,
];

impl Encoder {
    fn begin_file(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let default = (1, 0, Vec::new());
        let (version, date, map) = self.header.as_ref().unwrap_or(&default);
        Header { version: *version, date: *date, map }.emit(out);
    }

    fn sample(&mut self, place: usize, key: &Key, payload: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        match key.topic {
            Topic::Frame => return self.next_frame(payload, out),
            Topic::Layout => {
                let text = str::from_utf8(payload).ok();
                let tokens = text.and_then(Layout::parse).ok_or("the text contains no packets")?;
                self.layout = Some(tokens);
                return Ok(());
            }
            Topic::Add => {
                let bucket = self.kinds.entry(Kind::EventAdd).or_default();
                let actor = bucket.or_undo(|bucket| {
                    let actor = get_add(payload, self.form, &mut bucket.bytes)?;
                    bucket.ends.push_back(bucket.bytes.len());
                    Ok(actor)
                })?;
                self.added.insert(actor);
                return Ok(());
            }
            Topic::Packet => {
                let id = u8::try_from(key.id).map_err(|_| "packet ids are 8-bit")?;
                let bucket = self.packets.entry(id).or_default();
                bucket.bytes.extend_from_slice(payload);
                bucket.ends.push_back(bucket.bytes.len());
                return Ok(());
            }
            _ => {}
        }
        if key.topic.is_of_actor() {
            self.check_actor(place, key.id)?;
        }
        let Some(kind) = key.topic.kind() else { return Ok(()) };
        let form = self.form;
        self.kinds.entry(kind).or_default().or_undo(|bucket| {
            if key.topic == Topic::Bone {
                return bucket.bone(key, payload, form);
            }
            record(key, payload, form, &mut bucket.bytes)?;
            bucket.ends.push_back(bucket.bytes.len());
            Ok(())
        })
    }

    /// Refuses values of actors that were never added: the recording was cropped, and CARLA would not know them.
    fn check_actor(&mut self, place: usize, actor: u32) -> Result<(), String> {
        let Some(Some(target)) = self.channels.get_mut(place) else { return Ok(()) };
        if target.known {
            return Ok(());
        }
        if self.added.contains(&actor) {
            target.known = true;
            return Ok(());
        }
        // A recording that begins with its first frame is taken as it is.
        match self.first {
            Some(1) => Ok(()),
            _ => Err(format!(
                "actor {actor} was never added, so CARLA would not know it; `logpose carla crop` crops a recording \
                 and adds the actors at its start"
            )),
        }
    }

    fn next_frame(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let body: [u8; 24] =
            payload.try_into().map_err(|_| format!("{} bytes is not a valid struct:CarlaFrame", payload.len()))?;
        let number = |body: &[u8; 24]| body.first_chunk().map_or(0, |frame| u64::from_le_bytes(*frame));
        if let Some(held) = &self.frame
            && number(held) == number(&body)
        {
            return Err(format!(
                "frame {} occurs twice, as in a merge of two recordings; use `logpose carla concat` to join recordings",
                number(&body)
            ));
        }
        let strange = self.first == Some(1) && self.added.is_empty();
        let lost = self
            .kinds
            .iter()
            .find(|(kind, bucket)| Topic::of(**kind).is_some_and(Topic::is_of_actor) && !bucket.ends.is_empty());
        if strange && let Some((kind, _)) = lost {
            return Err(format!(
                "{} records belong to actors that were never added; include /carla/events/add",
                kind.name()
            ));
        }
        self.write_frame(false, out)?;
        self.first.get_or_insert(number(&body));
        self.frame = Some(body);
        Ok(())
    }

    /// Writes the frame that is held, or what stands before the first one.
    fn write_frame(&mut self, last: bool, out: &mut Vec<u8>) -> Result<(), String> {
        let nothing = self.kinds.values().chain(self.packets.values()).all(|bucket| bucket.ends.is_empty());
        let layout = self.layout.take();
        if self.frame.is_none() {
            if nothing {
                self.begin_file(out);
                self.layout = layout;
                return Ok(());
            }
            if layout.as_ref().is_none_or(|tokens| tokens.iter().any(|token| token.id == 0)) {
                self.layout = layout;
                return Err("values before the first frame; include /carla/frame".to_owned());
            }
        }
        let tokens = layout.as_deref().map_or_else(|| self.usual(), <[Token]>::to_vec);
        if let Err(message) = self.check_sizes(&tokens) {
            self.layout = layout;
            return Err(message);
        }
        self.begin_file(out);
        if let Some(body) = self.frame.take() {
            let mut start = FrameStart { frame: 0, duration: 0.0, elapsed: 0.0 };
            if let Ok(parsed) = FrameStart::parse(&mut logpose_core::Cursor::new(&body, 0)) {
                start = parsed;
            }
            if last {
                start.duration = OPEN_DURATION;
            }
            start.emit(out);
        }
        let end = tokens.iter().position(|token| token.id == 1 && !token.raw).unwrap_or(tokens.len());
        let numbered = || tokens.iter().enumerate().filter(|(_, token)| !token.raw);
        let last_of: BTreeMap<u8, usize> = numbered().map(|(place, token)| (token.id, place)).collect();
        for (place, token) in tokens.iter().enumerate() {
            if place == end {
                self.write_rest(tokens.get(end..).unwrap_or_default(), out)?;
            }
            let later = last_of.get(&token.id).is_some_and(|last| *last > place);
            self.write_packet(token, later, out)?;
        }
        self.write_rest(&[], out)?;
        if end == tokens.len() {
            // CARLA's replayer hangs on a frame without an end.
            if tokens.iter().any(|token| token.id == 0) {
                end_packet(begin_packet(1, out), out);
            }
        }
        self.kinds.values_mut().chain(self.packets.values_mut()).for_each(Bucket::clear);
        // A preamble has a layout of its own.
        self.layout = layout.filter(|tokens| tokens.iter().any(|token| token.id == 0));
        Ok(())
    }

    /// Refuses what [`put`] would refuse in the middle of a frame, before anything of the frame is written.
    fn check_sizes(&self, tokens: &[Token]) -> Result<(), String> {
        for (kind, bucket) in self.kinds.iter().filter(|(kind, _)| kind.fixed_size().is_none()) {
            let id = kind.id(self.form.ids);
            let packets = tokens.iter().filter(|token| token.id == id && !token.raw);
            let last = packets.clone().count().saturating_sub(1);
            let mut rest = bucket.ends.len();
            for (place, token) in packets.enumerate() {
                let count = token.records.filter(|_| place < last).map_or(rest, |count| rest.min(count.into()));
                few_enough(count, *kind)?;
                rest -= count;
            }
            few_enough(rest, *kind)?;
        }
        let too_long = |bucket: &Bucket| u32::try_from(bucket.bytes.len() + 2).is_err();
        if self.kinds.values().chain(self.packets.values()).any(too_long) {
            return Err("a frame has more than 4 GiB".to_owned());
        }
        Ok(())
    }

    /// The packets of a frame where nothing says how they are laid out.
    fn usual(&self) -> Vec<Token> {
        let has = |kind: &Kind| self.kinds.get(kind).is_some_and(|bucket| !bucket.ends.is_empty());
        let token = |id, raw| Token { id, raw, records: None };
        let kinds = ORDER.iter().filter(|kind| has(kind) || ALWAYS.contains(kind));
        let kinds = kinds.map(|kind| token(kind.id(self.form.ids), false));
        [token(0, false)].into_iter().chain(kinds).chain([token(1, false)]).collect()
    }

    /// Writes what the layout has no place for, here or among the packets that follow.
    fn write_rest(&mut self, following: &[Token], out: &mut Vec<u8>) -> Result<(), String> {
        let follows = |id: u8, raw: bool| following.iter().any(|token| (token.id, token.raw) == (id, raw));
        let ids = self.form.ids;
        for kind in ORDER.iter().filter(|kind| !follows(kind.id(ids), false)) {
            while self.kinds.get(kind).is_some_and(|bucket| !bucket.ends.is_empty()) {
                self.write_packet(&Token { id: kind.id(ids), raw: false, records: None }, false, out)?;
            }
        }
        let raw: Vec<u8> = self.packets.keys().copied().filter(|id| !follows(*id, true)).collect();
        for id in raw {
            while self.packets.get(&id).is_some_and(|bucket| !bucket.ends.is_empty()) {
                self.write_packet(&Token { id, raw: true, records: None }, false, out)?;
            }
        }
        Ok(())
    }

    /// Writes one packet; `later` says whether another of its kind follows.
    fn write_packet(&mut self, token: &Token, later: bool, out: &mut Vec<u8>) -> Result<(), String> {
        if token.raw {
            let Some(bucket) = self.packets.get_mut(&token.id).filter(|bucket| !bucket.ends.is_empty()) else {
                return Ok(());
            };
            return put(token.id, None, bucket.take(1).1, out);
        }
        let Some(kind) = Kind::of(token.id, self.form.ids) else { return Ok(()) };
        match kind {
            Kind::FrameStart => Ok(()),
            Kind::FrameEnd => put(token.id, None, &[], out),
            _ if kind.fixed_size().is_some() => match self.kinds.get_mut(&kind) {
                Some(bucket) if !bucket.ends.is_empty() => put(token.id, None, bucket.take(1).1, out),
                _ => Ok(()),
            },
            _ => {
                let bucket = self.kinds.entry(kind).or_default();
                let count = match token.records {
                    // What the layout does not know of goes to the last.
                    Some(count) if later => count.into(),
                    _ => bucket.ends.len(),
                };
                let (count, bytes) = bucket.take(count);
                put(token.id, Some(few_enough(count, kind)?), bytes, out)
            }
        }
    }
}

/// The number of records of a packet, as it stands in front of them.
fn few_enough(count: usize, kind: Kind) -> Result<u16, String> {
    let message = |_| format!("a frame has {count} {} records, the limit is {MAX_RECORDS}", kind.name());
    u16::try_from(count).map_err(message)
}

fn put(id: u8, total: Option<u16>, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    if u32::try_from(bytes.len() + 2).is_err() {
        return Err(format!("packet {id} has more than 4 GiB"));
    }
    let start = begin_packet(id, out);
    total.iter().for_each(|total| out.extend_from_slice(&total.to_le_bytes()));
    out.extend_from_slice(bytes);
    end_packet(start, out);
    Ok(())
}

fn refused(channel: &str, message: impl Into<String>) -> EncodeError {
    EncodeError::new("carla", channel, message)
}

impl Encode for Encoder {
    fn begin(&mut self, _: &mut Vec<u8>) {}

    fn channel(&mut self, id: ChannelId, channel: &Channel, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        let target = if channel.type_name == "structschema" {
            Target { name: channel.name.clone(), key: None, known: true }
        } else {
            let Some(key) = Key::parse(&channel.name) else {
                let message = "a CARLA recording can only hold CARLA channels (/carla/…); \
                               exclude this one with -n";
                return Err(refused(&channel.name, message));
            };
            if key.topic == Topic::Frame {
                let metadata = if channel.metadata.is_empty() { "{}" } else { &*channel.metadata };
                let about = recording(metadata);
                let (version, date, map, form) = about.ok_or_else(|| {
                    refused(
                        &channel.name,
                        "the metadata lacks the properties of the recording: version, date, map, vectors, ids",
                    )
                })?;
                self.header = Some((version, date, map));
                self.form = form;
            }
            let fits = [crate::wire::Vectors::F32, crate::wire::Vectors::F64]
                .into_iter()
                .any(|vectors| key.topic.type_name(vectors) == channel.type_name);
            if !fits {
                let expected = key.topic.type_name(self.form.vectors);
                return Err(refused(&channel.name, format!("its type is {}, expected {expected}", channel.type_name)));
            }
            Target { name: channel.name.clone(), key: Some(key), known: false }
        };
        if self.channels.len() <= id as usize {
            self.channels.resize_with(id as usize + 1, || None);
        }
        if let Some(place) = self.channels.get_mut(id as usize) {
            *place = Some(target);
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        for (nth, sample) in samples.iter().enumerate() {
            let place = sample.channel as usize;
            let key = self.channels.get_mut(place).and_then(Option::as_mut).and_then(|target| target.key.take());
            let Some(key) = key else { continue };
            let mut payload = std::mem::take(&mut self.payload);
            payload.clear();
            sample.value.emit(Numbers::Little, &mut payload);
            let taken = if self.header.is_none() && key.topic != Topic::Frame {
                Err("missing channel /carla/frame, which has the properties of the recording".to_owned())
            } else {
                self.sample(place, &key, &payload, out)
            };
            self.payload = payload;
            let Some(target) = self.channels.get_mut(place).and_then(Option::as_mut) else { continue };
            target.key = Some(key);
            taken
                .map_err(|message| refused(&target.name, format!("at {} s: {message}", sample.time)).of_sample(nth))?;
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, _: Time, metadata: &str, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        let target = self.channels.get(id as usize).and_then(Option::as_ref);
        let is_frame = target.and_then(|target| target.key.as_ref()).is_some_and(|key| key.topic == Topic::Frame);
        if is_frame && let Some((version, date, map, form)) = recording(metadata) {
            self.header = Some((version, date, map));
            self.form = form;
        }
        Ok(())
    }

    fn end(&mut self, _: ChannelId, _: Time, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Vec<Problem> {
        match self.write_frame(true, out) {
            Ok(()) => Vec::new(),
            Err(message) => {
                let message = format!("the last frame was not written: {message}");
                vec![Problem::general(logpose_core::Severity::Damage, "last-frame", message)]
            }
        }
    }
}
