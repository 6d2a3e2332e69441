//! Finished logs, played at their own timing.

mod ahead;
mod status;
#[cfg(test)]
mod tests;
mod timer;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use logpose::{Align, Error, Log, Names, Timeline};
use logpose_core::{Channel, Lookup, Time};

use crate::{Batch, Clock};
use ahead::{Ahead, Item, JUMP_NS, What};
use timer::{Timer, Wake, WallTimer};

pub use crate::histogram::Spread;
pub use status::{PlayStatus, Snapshot};

/// How logs are played.
#[derive(Clone, Debug)]
pub struct PlayOptions {
    /// Seconds of the log for each second. Infinity and zero are as fast as possible.
    pub rate: f64,
    /// Whether it begins again at the end.
    pub looped: bool,
    /// From when on, on the clock of the first log; the values of that moment come first.
    pub start: Option<Time>,
    /// Until when, this moment included.
    pub end: Option<Time>,
    /// Whether it stands still at first.
    pub paused: bool,
    /// How the clocks of several logs become one.
    pub align: Align,
    /// What becomes of channels that several logs have.
    pub names: Names,
}

impl Default for PlayOptions {
    fn default() -> Self {
        let (align, names) = (Align::default(), Names::default());
        Self { rate: 1.0, looped: false, start: None, end: None, paused: false, align, names }
    }
}

/// Commands for a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// To stand still.
    Pause,
    /// To go on.
    Resume,
    /// To stand still if it plays, to go on if it stands.
    Toggle,
    /// To go to a moment, on the clock of the first log.
    Seek(Time),
    /// To go so many nanoseconds on, or back.
    SeekBy(i64),
    /// To stand still and give the next groups of samples, or go back to those before.
    Step(i32),
    /// To play at another rate; one that is negative or NaN is not heeded.
    Rate(f64),
    /// To end.
    Quit,
}

/// How playing ended.
#[derive(Debug)]
pub enum End {
    /// Everything was given.
    Finished,
    /// It was commanded to, or nobody was left to resume it.
    Quit,
    /// Nobody takes any more.
    Refused,
    /// The rest of the logs cannot be read.
    Unreadable(Error),
}

/// What was played.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub end: End,
    /// Where it was and what it had done.
    pub last: Snapshot,
}

/// Plays finished logs, with the samples of each time given at their moment.
///
/// The first batch declares all channels and brings the schemas and the values of the start. Then every group of
/// samples of one time is a batch, handed over at `anchor + (time - start) / rate`: all moments are reckoned from one
/// anchor, so that nothing drifts. What cannot keep up is given as fast as possible until it has caught up; groups that
/// are overdue come in one batch, and beyond 2000 batches a second those of a millisecond do.
///
/// Times given out are those of the first log's clock and never step back, because live viewers take that for a fault.
/// After going back, by a seek, a step or a loop, a constant is added from then on: the first time after the jump is a
/// microsecond behind the last one before it. Going to a moment gives the values of that moment, with its time;
/// channels that have none there any more end.
pub struct Player<'a> {
    timeline: Timeline<'a>,
    options: PlayOptions,
    range: Option<(Time, Time)>,
    clock: Clock,
    status: Arc<PlayStatus>,
}

impl<'a> Player<'a> {
    /// A player of the wanted parts of logs; see [`Timeline::new`] for what a lookup says.
    pub fn new(logs: &'a [Log], lookups: Vec<Lookup>, options: PlayOptions) -> Result<Self, Error> {
        if !is_rate(options.rate) {
            let error = Error::usage(format!("invalid playback speed {}", options.rate));
            return Err(error.with_help("a rate is a number such as 0.5 or 2; 0 is as fast as possible"));
        }
        let timeline = Timeline::new(logs, lookups, options.align, &options.names)?;
        let range = timeline.range().map(|(first, last)| {
            let start = options.start.map_or(first, |start| start.clamp(first, last));
            (start, options.end.map_or(last, |end| end.clamp(start, last)))
        });
        let clock = Clock::new();
        let status = Arc::new(PlayStatus::new(clock, range));
        {
            let mut state = status.lock();
            (state.rate, state.paused) = (pace(options.rate).unwrap_or(f64::INFINITY), options.paused);
        }
        Ok(Self { timeline, options, range, clock, status })
    }

    /// The channels that will be declared; a channel's number is its place.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        self.timeline.channels()
    }

    /// The logs on their common clock.
    #[must_use]
    pub fn timeline(&self) -> &Timeline<'a> {
        &self.timeline
    }

    /// The part that is played; none if there is nothing to play.
    #[must_use]
    pub fn range(&self) -> Option<(Time, Time)> {
        self.range
    }

    /// How far it is, for others to look at.
    #[must_use]
    pub fn status(&self) -> Arc<PlayStatus> {
        Arc::clone(&self.status)
    }

    /// Makes `run` begin paused, as [`PlayOptions::paused`] does.
    pub fn pause(&mut self) {
        self.options.paused = true;
        self.status.lock().paused = true;
    }

    /// Plays on this thread, until the end or until `give` breaks off. Controls are heeded at once, also during a wait.
    pub fn run(&mut self, controls: Receiver<Control>, give: &mut dyn FnMut(Batch) -> ControlFlow<()>) -> Report {
        let clock = self.clock;
        self.drive(&mut WallTimer::new(clock, controls), give)
    }

    fn drive(&mut self, timer: &mut dyn Timer, give: &mut dyn FnMut(Batch) -> ControlFlow<()>) -> Report {
        let status = Arc::clone(&self.status);
        // Without any sample the channels are declared all the same.
        let range = self.range.unwrap_or((Time::ZERO, Time::ZERO));
        let mut deck = Deck {
            ahead: Ahead::new(&mut self.timeline, range, self.options.looped),
            status: &status,
            pace: pace(self.options.rate),
            paused: self.options.paused,
            steps: 0,
            anchor: timer.now(),
            anchor_given: range.0,
            shift: 0,
            last: range.0,
            last_given: range.0,
            taken: timer.now(),
            credit: BURST_NS,
        };
        let end = deck.play(timer, give);
        Report { end, last: status.at(timer.now()) }
    }
}

/// The state of playing. "Given" times are those that the receivers see.
struct Deck<'t, 'a> {
    ahead: Ahead<'t, 'a>,
    status: &'t PlayStatus,
    /// Seconds of the log for each second; none for as fast as possible.
    pace: Option<f64>,
    paused: bool,
    /// How many groups are to come although it stands still.
    steps: u32,
    /// At this moment the given time is, or was, that.
    anchor: Time,
    anchor_given: Time,
    /// What is added to times of the log.
    shift: i64,
    /// Where it was when anything was given last.
    last: Time,
    last_given: Time,
    /// When anything was given last, and how much time for more is left over since.
    taken: Time,
    credit: i64,
}

/// When the next thing is to be given.
enum When {
    Now,
    At(Time),
    /// Not before it is resumed.
    Later,
    Never,
}

impl Deck<'_, '_> {
    fn play(&mut self, timer: &mut dyn Timer, give: &mut dyn FnMut(Batch) -> ControlFlow<()>) -> End {
        loop {
            let when = self.when();
            self.publish();
            let until = match when {
                When::Never => {
                    let failed = self.ahead.failed();
                    return failed.map_or(End::Finished, |error| End::Unreadable(error.into_source("log").into()));
                }
                When::Now => Some(timer.now()),
                When::At(due) => Some(due),
                When::Later => None,
            };
            // Nothing is late if it is decoded while there is time.
            let spare = until.map_or(i64::MAX, |until| until.since(timer.now()));
            if spare > SPARE_NS && self.ahead.is_short() {
                self.ahead.fill();
                continue;
            }
            match timer.wait(until) {
                Wake::Due => {
                    let now = timer.now();
                    let begins = self.ahead.next().is_some_and(|item| item.what == What::State);
                    let mut batch = self.take(now);
                    batch.received = now;
                    if !batch.is_empty() && give(batch).is_break() {
                        return End::Refused;
                    }
                    if begins {
                        // However long it took to hear of all channels and their values: time runs from here on.
                        self.anchor = timer.now();
                    }
                }
                Wake::Control(Control::Quit) | Wake::Alone => return End::Quit,
                Wake::Control(control) => self.control(control, timer.now()),
            }
        }
    }

    fn when(&mut self) -> When {
        match self.due() {
            // Each batch costs its receivers something, however small it is: very many come together. What was due
            // before is not held back.
            When::At(due) if self.credit < 0 && due > self.taken => When::At(due.max(self.taken.plus(TOGETHER_NS))),
            when => when,
        }
    }

    /// When the next thing should be given.
    fn due(&mut self) -> When {
        let (anchor, anchor_given) = (self.anchor, self.anchor_given);
        let Some(item) = self.ahead.next() else { return if self.paused { When::Later } else { When::Never } };
        match self.pace {
            // What belongs to the moment at which it stands, or was commanded to go to.
            _ if item.what == What::State || item.given <= anchor_given => When::Now,
            _ if self.paused && self.steps == 0 => When::Later,
            _ if self.paused => When::Now,
            None => When::Now,
            Some(pace) => When::At(anchor.plus(scaled(item.given.since(anchor_given), 1.0 / pace))),
        }
    }

    /// Takes what is to be given now: the next thing, and further groups if they should have been given already.
    fn take(&mut self, now: Time) -> Batch {
        let mut batch = Batch::default();
        let mut samples = 0;
        loop {
            let when = self.due();
            let is_due = match when {
                When::Now => true,
                When::At(due) => due <= now,
                When::Later | When::Never => false,
            };
            if !is_due {
                break;
            }
            let Some(item) = self.ahead.pop() else { break };
            self.note(&item, now, &when);
            samples += item.samples;
            batch = match batch.is_empty() {
                true => item.batch,
                false => {
                    batch.append(item.batch);
                    batch
                }
            };
            let more = self.ahead.next().is_some_and(|next| next.what == What::Group && samples + next.samples <= MOST);
            if self.paused || item.what != What::Group || !more {
                break;
            }
        }
        self.credit = self.credit.saturating_add(now.since(self.taken)).min(BURST_NS) - COST_NS;
        self.taken = now;
        batch
    }

    /// Takes down that something is given now.
    fn note(&mut self, item: &Item, now: Time, when: &When) {
        (self.last, self.last_given) = (item.at, item.given);
        self.shift = item.given.since(item.at);
        let mut state = self.status.lock();
        match item.what {
            What::State => {
                self.anchor_given = item.given;
                return;
            }
            What::Turn => {
                state.loops += 1;
                return;
            }
            What::Group => {}
        }
        state.groups += 1;
        state.samples += item.samples as u64;
        if let When::At(due) = when {
            let error = now.since(*due);
            state.errors.add(error.unsigned_abs());
            state.late += u64::from(error > LATE_NS);
            state.behind_ns = error.max(0);
        }
        if self.paused && item.given > self.anchor_given {
            self.steps = self.steps.saturating_sub(1);
            self.anchor_given = item.given;
        }
    }

    /// Tells the others where it is.
    fn publish(&mut self) {
        let next = self.ahead.next().map(|item| item.given.plus(-self.shift));
        let moving = !self.paused && self.pace.is_some();
        let mut state = self.status.lock();
        state.rate = self.pace.unwrap_or(f64::INFINITY);
        state.paused = self.paused;
        state.position = self.position();
        state.since = moving.then_some(self.anchor);
        // What was not given yet has not been reached.
        state.between = (self.last, next.map_or(self.last, |next| next.plus(-1)));
    }

    /// The given time of this moment: not before what was given, nor behind what comes next.
    fn given_at(&mut self, now: Time) -> Time {
        let reckoned = match self.pace {
            _ if self.paused => self.anchor_given,
            None => self.last_given,
            Some(pace) => self.anchor_given.plus(scaled(now.since(self.anchor), pace)),
        };
        let next = self.ahead.next().map_or(self.last_given, |item| item.given);
        reckoned.min(next).max(self.last_given)
    }

    /// From now on all moments are reckoned from this one.
    fn hold(&mut self, now: Time) {
        self.anchor_given = self.given_at(now);
        self.anchor = now;
    }

    fn control(&mut self, control: Control, now: Time) {
        self.hold(now);
        match control {
            Control::Pause => self.paused = true,
            Control::Resume => (self.paused, self.steps) = (false, 0),
            Control::Toggle => (self.paused, self.steps) = (!self.paused, 0),
            Control::Rate(rate) if is_rate(rate) => self.pace = pace(rate),
            Control::Rate(_) | Control::Quit => {}
            Control::Seek(to) => self.seek(to, now),
            Control::SeekBy(ns) => self.seek(self.position().plus(ns), now),
            Control::Step(steps) => {
                self.paused = true;
                match u32::try_from(steps) {
                    Ok(steps) => self.steps = self.steps.saturating_add(steps),
                    Err(_) => self.step_back(steps.unsigned_abs(), now),
                }
            }
        }
    }

    /// Where it is, on the clock of the log.
    fn position(&self) -> Time {
        if self.pace.is_none() && !self.paused {
            return self.last;
        }
        self.anchor_given.plus(-self.shift).min(self.ahead.range().1)
    }

    fn step_back(&mut self, steps: u32, now: Time) {
        self.steps = 0;
        let mut to = self.position();
        for _ in 0..steps.min(MOST_STEPS) {
            match self.ahead.before(to) {
                Some(before) => to = before,
                None => break,
            }
        }
        if to < self.position() {
            self.seek(to, now);
        }
    }

    fn seek(&mut self, to: Time, now: Time) {
        let (start, end) = self.ahead.range();
        let to = to.clamp(start, end);
        let back = to.plus(self.shift) < self.last_given;
        if back {
            self.shift = self.last_given.plus(JUMP_NS).since(to);
        }
        self.ahead.seek(to, self.shift, back.then_some(self.last));
        (self.anchor, self.anchor_given) = (now, to.plus(self.shift));
    }
}

fn is_rate(rate: f64) -> bool {
    rate >= 0.0
}

/// None for as fast as possible.
fn pace(rate: f64) -> Option<f64> {
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

/// Nanoseconds by a factor, stopping at the ends of the range.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "exact for 104 days; beyond, it saturates"
)]
fn scaled(ns: i64, by: f64) -> i64 {
    (ns as f64 * by).round() as i64
}

/// From 2000 batches a second on, over some time, groups come together, a millisecond at a time.
const COST_NS: i64 = 500_000;
const BURST_NS: i64 = 64 * COST_NS;
const TOGETHER_NS: i64 = 1_000_000;
/// More samples are no longer put into one batch.
const MOST: usize = 1024;
/// What comes later than this is late.
const LATE_NS: i64 = 10_000_000;
/// Decoding takes less than this.
const SPARE_NS: i64 = 3_000_000;
/// Further back one seeks.
const MOST_STEPS: u32 = 10_000;
