//! Samples of the model to a recording.

use logpose_core::{Channel, ChannelId, Encode, EncodeError, Problem, Sample, Severity, Time, Type, Value};
use serde_json::{Map, Value as Json};

use super::base64;
use super::model::{Source, State, item_channels, meant};
use crate::float16;
use crate::items::{self, FOLDER};
use crate::rfrec::{Block, Clock, Kind, TICK_RATE, TimeRef, Writer};
use crate::wire::{Adjustment, Flags, Footpad, Header, Info, Sample as Recorded};

/// Samples of the model to a recording.
///
/// The i-th samples of all channels are one sample of the recording. They are held until all are there: the HEADER in
/// front says how many there are.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// What the channels are, by their numbers.
    targets: Vec<Option<Target>>,
    /// When the samples are.
    times: Vec<Time>,
    /// The bits of flags, as far as they are known.
    flags: Vec<u8>,
    parts: Vec<(Kind, Vec<u8>)>,
    /// The file, once it was made.
    made: Option<Vec<u8>>,
    problems: Vec<Problem>,
}

#[derive(Debug)]
struct Target {
    name: String,
    /// How many samples it had.
    count: usize,
    what: What,
}

#[derive(Debug)]
enum What {
    /// The codes of a value.
    Item(Vec<u16>),
    State(State),
    Block(Kind),
}

/// The names and codes of the values of samples, in their order.
type Items<'a> = Vec<(&'a str, &'a [u16])>;

const DIALECT: &str = "refloat";

fn refused(channel: &str, message: impl Into<String>) -> EncodeError {
    EncodeError::new(DIALECT, channel, message)
}

/// The refusal of a channel that boards send live but do not record.
fn live(channel: &str) -> EncodeError {
    let message = "a recording only holds recorded values, and this is a live value; use `logpose refloat fetch` \
                   to download the recording, and -y to select the channels to write";
    refused(channel, message)
}

impl Encoder {
    fn sample(&mut self, sample: &Sample<'_>) -> Result<(), EncodeError> {
        let Some(target) = self.targets.get_mut(sample.channel as usize).and_then(Option::as_mut) else {
            return Ok(());
        };
        let at = |message: String| refused(&target.name, format!("at {} s: {message}", sample.time));
        if let What::Block(kind) = target.what {
            self.parts.push((kind, part(kind, &sample.value).map_err(at)?));
            return Ok(());
        }
        // What may be refused comes first, so that nothing is kept of a sample that is.
        let mut bits = 0;
        let mut item = None;
        match target.what {
            What::Item(_) => item = Some(code(&sample.value).map_err(at)?),
            What::State(state) => bits = flags(state, &sample.value).map_err(at)?.0,
            What::Block(_) => {}
        }
        let place = target.count;
        match self.times.get(place) {
            Some(time) if *time != sample.time => {
                let message = format!(
                    "sample {place} is at {} s, but at {time} s in other channels; all channels of a recording \
                     need samples at the same times",
                    sample.time
                );
                return Err(refused(&target.name, message));
            }
            Some(_) => {}
            None => {
                self.times.push(sample.time);
                self.flags.push(0);
            }
        }
        if let What::Item(codes) = &mut target.what {
            codes.extend(item);
        }
        self.flags.get_mut(place).into_iter().for_each(|flags| *flags |= bits);
        target.count += 1;
        Ok(())
    }

    /// Puts the file together.
    fn make(&mut self) -> Result<Vec<u8>, EncodeError> {
        let series = || self.targets.iter().flatten().filter(|target| !matches!(target.what, What::Block(_)));
        if let Some(short) = series().find(|target| target.count != self.times.len()) {
            let message = format!(
                "it has {} samples, other channels have {}; all channels of a recording need the same number",
                short.count,
                self.times.len()
            );
            return Err(refused(&short.name, message));
        }
        let (items, header) = self.header()?;
        let mut problems = Vec::new();
        let states = series().filter(|target| matches!(target.what, What::State(_))).count();
        if states < 4 && !self.times.is_empty() {
            let message = "some of running, wheelslip, footpad and adjustment are missing and are written as \
                           false and none";
            problems.push(Problem::general(Severity::Warning, "flags-made", message));
        }
        let declared =
            self.one(Kind::Header)?.and_then(|payload| Header::parse(payload).ok()).map(|header| header.size);
        let size = u32::try_from(self.times.len())
            .map_err(|_| refused("/refloat/file/header", "more than 4294967295 samples"))?;
        if let Some(declared) = declared.filter(|declared| *declared != size) {
            let message = format!(
                "the HEADER declares {declared} samples, found {size}; writing them as a recording of their own, \
                 counted from 0"
            );
            problems.push(Problem::general(Severity::Warning, "other-size", message));
        }
        let ticks = self.ticks(items.first().map_or("/refloat/running", |(name, _)| name))?;
        let mut out = Vec::new();
        let mut writer = Writer::begin(&mut out);
        for kind in [Kind::Meta, Kind::Info, Kind::Status] {
            let parts = self.parts.iter().filter(|(other, _)| *other == kind);
            parts.for_each(|(kind, payload)| Block { kind: *kind, payload }.emit(&mut out));
        }
        let about = |error: crate::rfrec::WriteError| refused("/refloat/file/header", error.to_string());
        writer.header(&header, &mut out).map_err(about)?;
        let chunk = Header::parse(&header).map_or(1, |header| header.chunk()).max(1);
        let mut samples = Vec::new();
        let mut index: u32 = 0;
        let all: Vec<(u32, u8)> = ticks.into_iter().zip(self.flags.iter().copied()).collect();
        for (group, part) in all.chunks(chunk).enumerate() {
            samples.clear();
            for (place, (tick, flags)) in (group * chunk..).zip(part) {
                let codes = items.iter().map(|(_, codes)| codes.get(place).copied().unwrap_or(0));
                Recorded::put(*tick, Flags(*flags), codes, &mut samples);
            }
            writer.samples(index, &samples, &mut out).map_err(about)?;
            index = index.saturating_add(u32::try_from(part.len()).unwrap_or(u32::MAX));
        }
        let timerefs = self.parts.iter().filter(|(kind, _)| *kind == Kind::TimeRef);
        timerefs.for_each(|(kind, payload)| Block { kind: *kind, payload }.emit(&mut out));
        writer.end(&mut out).map_err(about)?;
        self.problems = problems;
        Ok(out)
    }

    /// The payload of a kind of which there is one.
    fn one(&self, kind: Kind) -> Result<Option<&[u8]>, EncodeError> {
        let mut found = self.parts.iter().filter(|(other, _)| *other == kind).map(|(_, payload)| &**payload);
        let first = found.next();
        if found.any(|other| Some(other) != first) {
            let message = "two different values, as in a merge of two recordings; write one at a time";
            return Err(refused("/refloat/file/header", message));
        }
        Ok(first)
    }

    /// The values in their order, with the header that says it and the number of samples.
    fn header(&self) -> Result<(Items<'_>, Vec<u8>), EncodeError> {
        let items = self.targets.iter().flatten().filter_map(|target| match &target.what {
            What::Item(codes) => Some((&*target.name, &**codes)),
            _ => None,
        });
        let items: Items<'_> = items.collect();
        let size = u32::try_from(self.times.len()).unwrap_or(u32::MAX);
        let mut made = Vec::new();
        let Some(payload) = self.one(Kind::Header)? else {
            if self.targets.iter().flatten().all(|target| matches!(target.what, What::Block(_))) {
                return Err(refused("/refloat/file/header", "missing header, and no channel with values"));
            }
            let id = |name| items::id_of(name).unwrap_or(name);
            if let Some((name, _)) = items.iter().find(|(name, _)| !name.is_ascii() || id(name).len() > 255) {
                return Err(refused(name, "the id is not ASCII or longer than 255 bytes"));
            }
            if let Some((name, _)) = items.get(255) {
                return Err(refused(name, "more than 255 values; exclude some channels with -n"));
            }
            Header::put(size, items.iter().map(|(name, _)| id(name)), &mut made);
            return Ok((items, made));
        };
        let header = Header::parse(payload).map_err(|error| refused("/refloat/file/header", error.to_string()))?;
        let names = item_channels(header.ids.iter());
        let listed = |name: &str| names.iter().any(|channel| channel.name == name);
        if let Some((name, _)) = items.iter().find(|(name, _)| !listed(name)) {
            let message = "it is not in the HEADER in /refloat/file/header; exclude one of the two with -n";
            return Err(refused(name, message));
        }
        let find = |channel: &Channel| {
            let found = items.iter().find(|(name, _)| *name == channel.name).copied();
            let message = "the HEADER in /refloat/file/header lists it, but the channel is missing; exclude \
                           /refloat/file/header to write the existing channels";
            // Not every format keeps channels without samples.
            let found = found.or_else(|| self.times.is_empty().then_some(("", &[])));
            found.ok_or_else(|| refused(&channel.name, message))
        };
        let ordered = names.iter().map(find).collect::<Result<_, _>>()?;
        Header { size, ..header }.emit(&mut made);
        Ok((ordered, made))
    }

    /// The times as ticks of the board.
    fn ticks(&self, channel: &str) -> Result<Vec<u32>, EncodeError> {
        let info = self.parts.iter().filter(|(kind, _)| *kind == Kind::Info);
        let info = info.filter_map(|(_, payload)| Info::parse(payload).ok()).next();
        let clock = Clock::new(info.map_or(TICK_RATE, |info| info.tick_rate()));
        let mut last: Option<i64> = None;
        let mut ticks = Vec::with_capacity(self.times.len());
        for time in &self.times {
            let no_tick = || refused(channel, format!("at {time} s: not a tick of the board's clock"));
            let line = clock.line(*time).ok_or_else(no_tick)?;
            let far = match last {
                None => u32::try_from(line).is_err(),
                Some(last) => i32::try_from(line - last).is_err(),
            };
            if far {
                let message = format!(
                    "at {time} s: timestamps of a recording count from the start of the board and reach \
                     a few days at most"
                );
                return Err(refused(channel, message));
            }
            last = Some(line);
            ticks.push(u32::try_from(line & i64::from(u32::MAX)).unwrap_or(0));
        }
        Ok(ticks)
    }
}

/// The code of a value that a float16 holds.
fn code(value: &Value<'_>) -> Result<u16, String> {
    let number = match *value {
        Value::Float(x) => x,
        Value::Double(x) => {
            #[expect(clippy::cast_possible_truncation, reason = "what does not come back is refused")]
            let near = x as f32;
            // Formats of text have a binary32 in at most nine digits, and not always the same ones.
            let digits =
                || format!("{x:e}").bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
            if f64::from(near).to_bits() != x.to_bits() && digits() > 9 {
                return Err(inexact(&x, float16::decode(float16::encode(near))));
            }
            near
        }
        Value::Int64(n) => {
            // Beyond these no 16 bits hold a number.
            let whole = i32::try_from(n).ok().filter(|n| n.abs() < 1 << 17).map(f64::from);
            #[expect(clippy::cast_possible_truncation, reason = "a number of 17 bits is exact in 24")]
            let exact = whole.map(|n| n as f32);
            exact.ok_or_else(|| inexact(&n, if n < 0 { -131_008.0 } else { 131_008.0 }))?
        }
        _ => return Err("the value is not a number".to_owned()),
    };
    let code = float16::encode(number);
    let back = float16::decode(code);
    if back.to_bits() == number.to_bits() { Ok(code) } else { Err(inexact(&number, back)) }
}

fn inexact(value: &dyn std::fmt::Display, near: f32) -> String {
    format!("{value} cannot be stored in 16 bits; the nearest value is {near}")
}

/// The bits of a state.
fn flags(state: State, value: &Value<'_>) -> Result<Flags, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let none = (false, false, Footpad::None, Adjustment::NONE);
    let (running, wheelslip, footpad, adjustment) = match (state, *value) {
        (State::Running, Value::Boolean(on)) => (on, false, none.2, none.3),
        (State::Wheelslip, Value::Boolean(on)) => (false, on, none.2, none.3),
        (State::Footpad, Value::String(name)) => {
            let found = Footpad::from_name(&text(name));
            (false, false, found.ok_or_else(|| format!("{:?} is not a footpad state", text(name)))?, none.3)
        }
        (State::Adjustment, Value::String(name)) => {
            let found = Adjustment::from_name(&text(name));
            (false, false, none.2, found.ok_or_else(|| format!("{:?} is not a setpoint adjustment", text(name)))?)
        }
        _ => return Err("the value has the wrong type".to_owned()),
    };
    Ok(Flags::new(running, wheelslip, footpad, adjustment))
}

/// The payload of a block.
fn part(kind: Kind, value: &Value<'_>) -> Result<Vec<u8>, String> {
    let (Value::String(bytes) | Value::Bytes(bytes)) = *value else { return Err("the value is not text".to_owned()) };
    match kind {
        Kind::Meta => match serde_json::from_slice::<Map<String, Json>>(bytes) {
            Ok(_) => Ok(bytes.to_vec()),
            Err(error) => Err(format!("not a JSON object: {error}")),
        },
        Kind::TimeRef => {
            let timeref = TimeRef::from_json(bytes).ok_or("expected tick, host_us and uncertainty_us")?;
            let mut payload = Vec::new();
            timeref.emit(&mut payload);
            Ok(payload)
        }
        // A format without bytes has them as text.
        _ if matches!(value, Value::String(_)) => base64::decode(bytes).ok_or_else(|| "not base64".to_owned()),
        _ => Ok(bytes.to_vec()),
    }
}

impl Encode for Encoder {
    fn begin(&mut self, _: &mut Vec<u8>) {}

    fn channel(&mut self, id: ChannelId, channel: &Channel, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        let name = &*channel.name;
        let what = match (meant(channel), channel.ty()) {
            (Some(Source::State(state)), _) => What::State(state),
            (Some(Source::Block(kind)), _) => What::Block(kind),
            // Formats without types write integral values as integers.
            (_, Type::Float | Type::Double | Type::Int64) if items::id_of(name).is_some() => What::Item(Vec::new()),
            _ if name.starts_with(FOLDER) => return Err(live(name)),
            _ => {
                let message = "a Refloat recording can only hold Refloat channels (/refloat/…); \
                               select the channels to write with -y";
                return Err(refused(name, message));
            }
        };
        let is_item = |what: &What| matches!(what, What::Item(_));
        let known = self.targets.iter().flatten().any(|target| target.name == name && is_item(&target.what));
        if known && is_item(&what) {
            return Err(refused(name, "another channel has this name; exclude one of the two with -n"));
        }
        if self.targets.len() <= id as usize {
            self.targets.resize_with(id as usize + 1, || None);
        }
        if let Some(place) = self.targets.get_mut(id as usize) {
            *place = Some(Target { name: name.to_owned(), count: 0, what });
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>], _: &mut Vec<u8>) -> Result<(), EncodeError> {
        let mut samples = samples.iter().enumerate();
        samples.try_for_each(|(place, sample)| self.sample(sample).map_err(|error| error.of_sample(place)))
    }

    fn metadata(&mut self, _: ChannelId, _: Time, _: &str, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn end(&mut self, _: ChannelId, _: Time, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn close(&mut self) -> Result<(), EncodeError> {
        self.made = Some(self.make()?);
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Vec<Problem> {
        if self.made.is_none()
            && let Err(error) = self.close()
        {
            let message = format!("nothing was written: {error}");
            return vec![Problem::general(Severity::Damage, "not-written", message)];
        }
        out.append(self.made.get_or_insert_default());
        std::mem::take(&mut self.problems)
    }
}
