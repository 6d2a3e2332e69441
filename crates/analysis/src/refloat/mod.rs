//! Why a board stopped: a plain account of the last seconds of a ride.
//!
//! It works on every log that has the channels of a Refloat board, whatever it was made by. The rules and their
//! thresholds are documented in docs/refloat-explain.md. They are careful: what a recording does not show is left out.

mod charts;
mod explanation;
mod limits;
mod read;
mod ride;
mod rules;
mod series;
mod thresholds;
mod verdict;
mod watch;
mod words;

use logpose_files::{Error, Log};
use ride::Ride;

pub use explanation::{
    Cause, Certainty, Chart, Evidence, Explanation, KnownLimits, Limit, LimitBy, Line, Origin, RanOut, Resource, Seen,
    Stop, StopKind, Tone, Verdict,
};
pub use limits::Limits;
pub use logpose_refloat::wire::{Adjustment, Footpad};
pub use rules::Rule;
pub use series::{Series, Values};
pub use thresholds::Thresholds;
pub use watch::{Sign, SignKind, Teller};

/// How a ride is explained.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How many seconds before the stop are reported.
    pub seconds: f64,
    /// What is known of the board and not in the recording.
    pub limits: Limits,
    /// The numbers that the rules compare with.
    pub thresholds: Thresholds,
}

impl Default for Options {
    fn default() -> Self {
        Self { seconds: 10.0, limits: Limits::default(), thresholds: Thresholds::default() }
    }
}

/// Tells why a board stopped.
///
/// # Errors
///
/// If the log cannot be read, or has not the channels of a board.
pub fn explain(log: &Log, options: &Options) -> Result<Explanation, Error> {
    Ok(explain_series(&Series::of(log)?, options))
}

/// Tells why a board stopped, from what it did.
#[must_use]
pub fn explain_series(series: &Series, options: &Options) -> Explanation {
    let ride = Ride::new(series, options);
    let limits = limits::of(&ride, &options.limits);
    let findings = rules::Findings::of(&ride, &limits);
    let mut lines = rules::lines(&ride, &findings, &limits);
    // Earlier findings are kept if they still went on.
    let reported = ride::nanos(options.seconds);
    lines.retain(|line| line.before_ns.saturating_sub(line.lasted_ns.unwrap_or(0)) <= reported);
    Explanation {
        stop: ride.stop,
        seen: ride.seen(),
        limits,
        lines,
        ran_out: findings.ran_out(&ride),
        verdict: verdict::of(&ride, &findings, &limits),
        charts: charts::of(&ride, ride.stop.time.plus(-reported)),
    }
}

/// Whether a log has what an explanation needs.
#[must_use]
pub fn is_explainable(log: &Log) -> bool {
    read::missing(log).is_none()
}
