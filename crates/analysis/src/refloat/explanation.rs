//! What an explanation says.

use std::fmt;

use logpose_core::Time;

use super::rules::Rule;

/// A plain account of the last seconds of a ride, and why it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Where the account ends.
    pub stop: Stop,
    /// How much there was to look at.
    pub seen: Seen,
    /// The limits that things were compared with.
    pub limits: KnownLimits,
    /// What happened, in the order of time.
    pub lines: Vec<Line>,
    /// What had nothing left to give, the first one first.
    pub ran_out: Vec<RanOut>,
    /// Why it stopped.
    pub verdict: Verdict,
    /// What the last seconds looked like.
    pub charts: Vec<Chart>,
}

/// Where the account ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The last moment at which the board was engaged, or the last one of all if it never was.
    pub time: Time,
    /// How that is known.
    pub kind: StopKind,
}

/// How the end of a ride is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StopKind {
    /// The board was engaged, and then it was not.
    Disengaged,
    /// The recording of the board ends while it is engaged, as it does when the recorder stops with the board.
    RecordingEnds,
    /// The log ends while the board is engaged.
    StillRunning,
    /// The board was never engaged.
    NeverRunning,
}

impl StopKind {
    /// The word for it in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Disengaged => "disengaged",
            Self::RecordingEnds => "recording ends",
            Self::StillRunning => "still running",
            Self::NeverRunning => "never running",
        }
    }
}

/// How much there was to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Moments of the ride up to the stop.
    pub samples: usize,
    /// From the first of them to the stop.
    pub span_ns: i64,
    /// How many came a second.
    pub rate_hz: Option<f64>,
}

/// The limits that things were compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownLimits {
    /// The duty that the motor controller goes up to.
    pub max_duty: Limit,
    /// The duty from which the board pushes back.
    pub pushback_duty: Limit,
    /// The max current, in amperes.
    pub max_current: Option<Limit>,
    /// The voltage from which the board pushes back.
    pub low_voltage: Option<Limit>,
}

/// A limit, and who says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The number.
    pub value: f64,
    /// Who says so.
    pub by: LimitBy,
}

/// Who says what a limit is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LimitBy {
    /// It was given.
    Given,
    /// The recording shows it.
    Seen,
    /// Most boards are set so.
    Usual,
}

impl LimitBy {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Seen => "seen",
            Self::Usual => "usual",
        }
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The rule that saw it.
    pub rule: Rule,
    /// When it began.
    pub time: Time,
    /// How long before the stop that was.
    pub before_ns: i64,
    /// How long it lasted, where it did.
    pub lasted_ns: Option<i64>,
    /// How bad it is.
    pub tone: Tone,
    /// What, in a few words.
    pub text: String,
    /// The numbers behind it.
    pub evidence: Vec<Evidence>,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Tone {
    /// It belongs to riding.
    Calm,
    /// It is worth a look.
    Notable,
    /// It is a reason to fall.
    Bad,
}

impl Tone {
    /// The word for it in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Notable => "notable",
            Self::Bad => "bad",
        }
    }
}

/// A number behind a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// What it is.
    pub name: &'static str,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: Option<&'static str>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a number comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// The log: what a channel said last at this time.
    Sample {
        /// The channel.
        channel: String,
        /// The time.
        time: Time,
    },
    /// Numbers of the log, computed like this.
    Derived(&'static str),
    /// A limit of the board.
    Limit(LimitBy),
    /// The threshold of that name.
    Threshold(&'static str),
}

/// Something that had nothing left to give.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RanOut {
    /// What.
    pub what: Resource,
    /// Since when.
    pub time: Time,
    /// How long before the stop that was.
    pub before_ns: i64,
}

/// What a board needs to hold its rider.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Resource {
    /// The motor is as fast as the voltage lets it be.
    Duty,
    /// The motor gives less torque than the board asks for.
    Current,
    /// The battery gives in.
    Voltage,
    /// The tyre slips, or is in the air.
    Grip,
}

impl Resource {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Duty => "duty",
            Self::Current => "current",
            Self::Voltage => "voltage",
            Self::Grip => "grip",
        }
    }
}

/// Why it stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The cause.
    pub cause: Cause,
    /// How sure that is.
    pub certainty: Certainty,
    /// One sentence for the rider.
    pub summary: String,
    /// What speaks for it.
    pub pro: Vec<String>,
    /// What speaks against it, or leaves room for doubt.
    pub contra: Vec<String>,
}

/// Why a ride ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// Nose-dive: the motor could not turn faster.
    DutyLimit,
    /// Nose-dive: the motor gave less torque than needed.
    CurrentLimit,
    /// Nose-dive: the battery gave in.
    VoltageSag,
    /// Nose-dive, and nothing ran out that the recording shows.
    NoseDive,
    /// The wheel lost its grip or the ground, and the board came down out of balance.
    Wheelslip,
    /// The footpad opened while riding.
    FootpadOpened,
    /// The board went on with open footpads.
    Ghosting,
    /// The board stopped itself as it rolled backwards.
    ReverseStop,
    /// The board pushed back, for a reason other than the duty, and was ridden on until it could not hold.
    PushbackOverridden,
    /// The board pushed back, for a reason other than the duty, and the rider stopped.
    PushbackHeeded,
    /// The board lay down on nose or tail at a standstill.
    TippedOver,
    /// The rider stepped off.
    SteppedOff,
    /// Nothing went wrong.
    Nothing,
    /// The recording does not show it.
    Unknown,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::DutyLimit,
        Self::CurrentLimit,
        Self::VoltageSag,
        Self::NoseDive,
        Self::Wheelslip,
        Self::FootpadOpened,
        Self::Ghosting,
        Self::ReverseStop,
        Self::PushbackOverridden,
        Self::PushbackHeeded,
        Self::TippedOver,
        Self::SteppedOff,
        Self::Nothing,
        Self::Unknown,
    ];

    /// The word for it in JSON, the same in every release.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DutyLimit => "duty-limit",
            Self::CurrentLimit => "current-limit",
            Self::VoltageSag => "voltage-sag",
            Self::NoseDive => "nose-dive",
            Self::Wheelslip => "wheelslip",
            Self::FootpadOpened => "footpad-opened",
            Self::Ghosting => "ghosting",
            Self::ReverseStop => "reverse-stop",
            Self::PushbackOverridden => "pushback-overridden",
            Self::PushbackHeeded => "pushback-heeded",
            Self::TippedOver => "tipped-over",
            Self::SteppedOff => "stepped-off",
            Self::Nothing => "nothing-wrong",
            Self::Unknown => "unknown",
        }
    }

    /// Whether somebody may have fallen.
    #[must_use]
    pub fn is_bad(self) -> bool {
        !matches!(
            self,
            Self::ReverseStop
                | Self::PushbackHeeded
                | Self::TippedOver
                | Self::SteppedOff
                | Self::Nothing
                | Self::Unknown
        )
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How sure a cause is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Certainty {
    /// It may be so.
    Possible,
    /// Most speaks for it.
    Likely,
    /// All speaks for it.
    Sure,
}

impl Certainty {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Sure => "sure",
        }
    }
}

/// How a number went over the last seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it is.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Equal steps of time up to the stop; the most critical value in each, `None` where there is none.
    pub values: Vec<Option<f64>>,
    /// From when on.
    pub from: Time,
}
