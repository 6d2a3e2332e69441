//! A recording played as CARLA's replayer plays it, step by step, without a simulator.

use std::collections::HashSet;
use std::io::{self, Write};

use crate::frames::Frames;
use crate::pose::Pose;
use crate::reader::Reader;
use crate::text::{Fixed, General};
use crate::wire::{Body, EventAdd, EventParent, FrameStart, Kind, Position, Weather};

/// What to replay and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayOptions {
    /// Where to begin, in seconds; negative ones count from the end.
    pub start: f64,
    /// How long, in seconds; to the end if not above 0.
    pub duration: f64,
    /// The actor that the camera follows.
    pub follow: Option<u32>,
    /// Where the camera is, relative to that actor.
    pub offset: Pose,
    /// How much faster than recorded. From 2 on, poses are not interpolated.
    pub factor: f64,
    /// Whether the ego vehicle is left out.
    pub ignore_hero: bool,
    /// Whether the spectator is left out.
    pub ignore_spectator: bool,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            start: 0.0,
            duration: 0.0,
            follow: None,
            offset: Pose { x: -10.0, z: 5.0, pitch: -25.0, ..Pose::default() },
            factor: 1.0,
            ignore_hero: false,
            ignore_spectator: true,
        }
    }
}

/// Options that make no sense.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// The start is no finite number.
    #[error("invalid replay start {0} s")]
    Start(f64),
    /// The duration is no finite number.
    #[error("invalid replay duration {0} s")]
    Duration(f64),
    /// The factor is no finite number, or negative.
    #[error("invalid replay speed {0}")]
    Factor(f64),
}

/// Something that happens in a replay.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// An actor appears.
    Add(EventAdd<'a>),
    /// An actor disappears.
    Delete(u32),
    /// An actor is attached to another.
    Parent(EventParent),
}

/// One step of a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tick<'a> {
    /// Where the replay is now, in seconds.
    pub time: f64,
    /// The number of the frame that is current, 0 before the first.
    pub frame: u64,
    /// The place among the frames of the one that is shown, if one is. What it holds beside positions (lights,
    /// controls, lamps) applies from here on.
    pub shown: Option<usize>,
    /// Whether a frame was found that covers the time.
    pub found: bool,
    /// How much of that frame has passed, from 0 to 1; 0 if none was found.
    pub per: f64,
    /// What happened in this step, also in frames that were skipped, in the order of the recording.
    pub events: Vec<Event<'a>>,
    /// The last clock of visual effects in this step.
    pub visual_time: Option<f64>,
    /// The last change of weather in this step.
    pub weather: Option<Weather>,
    /// Where actors are placed, in the order of the recording.
    pub poses: Vec<(u32, Pose)>,
    /// Where the camera is, if it follows an actor that was placed.
    pub camera: Option<Pose>,
    /// Whether the replay has come to its end.
    pub stopped: bool,
    /// Whether the recording has nothing more to show, however long the replay goes on.
    pub exhausted: bool,
}

/// A replay. Frames that are not whole are not played.
#[derive(Clone, Debug)]
pub struct Replay<'f, 'a> {
    frames: &'f Frames<'a>,
    options: ReplayOptions,
    start: f64,
    stop: f64,
    /// The packets that were not read yet.
    reader: Reader<'a>,
    /// The current frame, and where it begins.
    frame: FrameStart,
    frame_at: Option<u64>,
    time: f64,
    /// The positions of the frame that is shown.
    current: Vec<Position>,
    /// The positions of the frame that was shown before, by actor.
    previous: Vec<Position>,
    ignored: HashSet<u32>,
    stopped: bool,
}

impl<'f, 'a> Replay<'f, 'a> {
    /// Begins a replay: goes to its start. The second result is that step; it has events, and places nothing.
    pub fn new(frames: &'f Frames<'a>, options: ReplayOptions) -> Result<(Self, Tick<'a>), ReplayError> {
        if !options.start.is_finite() {
            return Err(ReplayError::Start(options.start));
        }
        if !options.duration.is_finite() {
            return Err(ReplayError::Duration(options.duration));
        }
        checked_factor(options.factor)?;
        // NaN is never reached.
        let total = if frames.total().is_finite() { frames.total() } else { 0.0 };
        let start = if options.start < 0.0 { (total + options.start).max(0.0) } else { options.start };
        let stop = if options.duration > 0.0 { start + options.duration } else { total };
        let header = frames.header();
        let end = frames.frames().last().and_then(|frame| usize::try_from(frame.end).ok()).unwrap_or(0);
        let whole = frames.log().get(..end).unwrap_or_default();
        let mut replay = Self {
            frames,
            options,
            start,
            stop,
            reader: Reader::resume(whole, header, frames.wire_format(), header.size() as u64),
            frame: FrameStart { frame: 0, duration: 0.0, elapsed: -1.0 },
            frame_at: None,
            time: 0.0,
            current: Vec::new(),
            previous: Vec::new(),
            ignored: HashSet::new(),
            stopped: false,
        };
        let tick = replay.process(start, true);
        Ok((replay, tick))
    }

    /// Where it began, in seconds.
    #[must_use]
    pub fn start(&self) -> f64 {
        self.start
    }

    /// Where it stops, in seconds.
    #[must_use]
    pub fn stop(&self) -> f64 {
        self.stop
    }

    /// Changes how much faster than recorded it runs.
    pub fn set_factor(&mut self, factor: f64) -> Result<(), ReplayError> {
        checked_factor(factor)?;
        self.options.factor = factor;
        Ok(())
    }

    /// Goes on by one step of the simulator, in seconds; a step that is no finite number or negative counts as 0. Once
    /// stopped, nothing happens any more.
    pub fn tick(&mut self, dt: f32) -> Tick<'a> {
        if self.stopped {
            return Tick {
                time: self.time,
                frame: self.frame.frame,
                stopped: true,
                exhausted: true,
                ..Tick::default()
            };
        }
        let dt = if dt.is_finite() { dt.max(0.0) } else { 0.0 };
        let mut tick = self.process(f64::from(dt) * self.options.factor, false);
        if tick.found {
            self.place(&mut tick);
        }
        self.stopped = self.time >= self.stop;
        tick.stopped = self.stopped;
        tick
    }

    /// Ends the replay as one whose actors are not kept: what was still to happen happens.
    pub fn finish(&mut self) -> Tick<'a> {
        let tick = self.process(self.frames.total(), false);
        self.stopped = true;
        Tick { stopped: true, ..tick }
    }

    /// Moves the time on and reads what lies between.
    fn process(&mut self, dt: f64, first: bool) -> Tick<'a> {
        self.time += dt;
        let mut tick = Tick { time: self.time, ..Tick::default() };
        if self.frame.elapsed <= self.time && self.covers() {
            self.found(&mut tick);
        } else {
            self.read(first, &mut tick);
        }
        tick.frame = self.frame.frame;
        tick.exhausted = !tick.found && self.reader.clone().next().is_none();
        tick
    }

    /// Whether the current frame does not end before now.
    fn covers(&self) -> bool {
        self.time < self.frame.elapsed + self.frame.duration
    }

    fn found(&self, tick: &mut Tick<'a>) {
        let per = (self.time - self.frame.elapsed) / self.frame.duration;
        tick.found = true;
        tick.per = if per.is_finite() { per } else { 0.0 };
        tick.shown = self.frame_at.and_then(|at| self.frames.frames().binary_search_by_key(&at, |frame| frame.at).ok());
    }

    fn read(&mut self, first: bool, tick: &mut Tick<'a>) {
        let form = self.reader.wire_format();
        while let Some(Ok(packet)) = self.reader.next() {
            let matters = match packet.kind(form) {
                Some(Kind::FrameStart | Kind::FrameEnd | Kind::VisualTime | Kind::Weather) => true,
                Some(Kind::EventAdd | Kind::EventDel | Kind::EventParent) => packet.total() > 0,
                Some(Kind::Position) => tick.found,
                _ => false,
            };
            if !matters {
                continue;
            }
            match packet.decode(form) {
                Ok(Body::FrameStart(start)) => {
                    self.frame = start;
                    self.frame_at = Some(packet.at);
                    if self.covers() {
                        self.found(tick);
                    }
                }
                Ok(Body::FrameEnd) if tick.found => return,
                Ok(Body::VisualTime(time)) => tick.visual_time = Some(time),
                Ok(Body::Weather(records)) => tick.weather = records.iter().last().or(tick.weather),
                Ok(Body::EventAdd(records)) => records.iter().for_each(|record| {
                    let hero = self.options.ignore_hero && record.is_hero();
                    let spectator = self.options.ignore_spectator && record.blueprint == b"spectator";
                    if hero || spectator {
                        self.ignored.insert(record.actor);
                    } else {
                        self.ignored.remove(&record.actor);
                        tick.events.push(Event::Add(record));
                    }
                }),
                Ok(Body::EventDel(records)) => records.iter().for_each(|record| {
                    if !self.ignored.remove(&record.actor) {
                        tick.events.push(Event::Delete(record.actor));
                    }
                }),
                Ok(Body::EventParent(records)) => records.iter().for_each(|record| {
                    if !self.ignored.contains(&record.actor) {
                        tick.events.push(Event::Parent(record));
                    }
                }),
                Ok(Body::Position(records)) => {
                    std::mem::swap(&mut self.previous, &mut self.current);
                    self.current.clear();
                    self.current.extend(records.iter());
                    if first {
                        self.previous.clear();
                    }
                    // Stable: of two records of one actor the first is found.
                    self.previous.sort_by_key(|record| record.actor);
                }
                _ => {}
            }
        }
    }

    fn place(&self, tick: &mut Tick<'a>) {
        for record in &self.current {
            let spectator = self.options.ignore_spectator && record.actor == 1;
            if spectator || self.ignored.contains(&record.actor) {
                continue;
            }
            let at = self.previous.partition_point(|previous| previous.actor < record.actor);
            let previous = self.previous.get(at).filter(|previous| previous.actor == record.actor);
            let pose = match previous {
                None => Pose::of(record.location, record.rotation),
                Some(previous) if self.options.factor >= 2.0 => Pose::of(previous.location, previous.rotation),
                Some(previous) => Pose::between(previous, record, tick.per),
            };
            if self.options.follow == Some(record.actor) {
                tick.camera = Some(self.options.offset.on(&pose));
            }
            tick.poses.push((record.actor, pose));
        }
    }

    /// Writes what CARLA answers when a replay begins. `map` is the one that is loaded, if another than the recorded
    /// one may be.
    pub fn text(&self, path: &str, map: Option<&[u8]>, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Replaying File: {path}")?;
        let recorded = self.frames.header().map;
        if map.is_some_and(|map| map != recorded) {
            out.write_all(b"Loading map ")?;
            out.write_all(recorded)?;
            out.write_all(b"\nReplayer will start after map is loaded...\n")?;
        }
        let total = General(self.frames.total());
        writeln!(out, "Total time recorded: {total}")?;
        let (start, stop, factor) = (General(self.start), General(self.stop), Fixed(self.options.factor, 1));
        writeln!(out, "Replaying from {start} s - {stop} s ({total} s) at {factor}x")?;
        if self.options.ignore_hero {
            out.write_all(b"Ignoring Hero vehicle\n")?;
        }
        if self.options.ignore_spectator {
            out.write_all(b"Ignoring Spectator camera\n")?;
        }
        Ok(())
    }
}

fn checked_factor(factor: f64) -> Result<(), ReplayError> {
    if factor.is_finite() && factor >= 0.0 { Ok(()) } else { Err(ReplayError::Factor(factor)) }
}
