//! Several logs on one clock, by the moments at which the robot was enabled and disabled.

mod edges;

use logpose_core::Time;

use crate::frc::Match;
use edges::{Edges, Fit, Refusal};
use logpose_files::{ClockMap, Error, ErrorKind, Log};

/// How several logs are put on the clock of the first.
#[derive(Clone, Debug)]
pub struct Alignment {
    /// For each log behind the first how it fits.
    pub others: Vec<Aligned>,
}

/// How a log was put on the clock of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Aligned {
    /// From its own clock to that of the other.
    pub clock: ClockMap,
    /// What is added to its times, at the first moment that is in both.
    pub offset_ns: i64,
    /// How many moments of being enabled or disabled are in both.
    pub matched: usize,
    /// How many the other has in all.
    pub reference_edges: usize,
    /// How many this log has in all.
    pub edges: usize,
    /// How far apart those in both still are: in the middle, and at most.
    pub residual_median_ns: i64,
    /// See `residual_median_ns`.
    pub residual_max_ns: i64,
    /// How many moments the next best way to lay the logs beside each other would match.
    pub runner_up: usize,
    /// The drift that those in both suggest, where that is too little or too few to apply it.
    pub drift_seen: Option<f64>,
    /// 0 to 1.
    pub confidence: f64,
    /// What speaks against it.
    pub warnings: Vec<String>,
}

impl Alignment {
    /// Lays logs beside each other so that the robot is enabled and disabled at the same moments; the first log's clock
    /// stays as it is.
    ///
    /// Refused, with the log and the reason, where fewer than two moments fit, where another way fits about as well (as
    /// of enables in regular intervals), and where the fit may be chance.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 25, force: false })?;
    /// # let open = |i: usize| logpose::Log::open_with(&files[i], &logpose::OpenOptions::default(), &logpose::Quiet);
    /// let logs = [open(0)?, open(2)?];
    /// let alignment = logpose::Alignment::by_enabled(&logs)?;
    /// assert_eq!(alignment.others[0].matched, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn by_enabled(logs: &[Log]) -> Result<Self, Error> {
        let Some((reference, others)) = logs.split_first() else { return Ok(Self { others: Vec::new() }) };
        let edges = edges_of(reference)?;
        let others = others.iter().map(|log| {
            let fit = edges::fit(&edges, &edges_of(log)?).map_err(|refusal| refused(reference, log, &refusal))?;
            Aligned::new(reference, log, &fit).map_err(|refusal| refused(reference, log, &refusal))
        });
        Ok(Self { others: others.collect::<Result<_, Error>>()? })
    }

    /// The clock of each log, the first included.
    #[must_use]
    pub fn clocks(&self) -> Vec<ClockMap> {
        [ClockMap::default()].into_iter().chain(self.others.iter().map(|other| other.clock)).collect()
    }
}

impl Aligned {
    fn new(reference: &Log, log: &Log, fit: &Fit) -> Result<Self, Refusal> {
        #[expect(clippy::cast_possible_truncation, reason = "a drift is a few parts in a hundred")]
        let drift = ((fit.rate - 1.0) * 1e12).round() as i64;
        let pivot = if drift == 0 { Time::ZERO } else { fit.from };
        let clock = ClockMap::drifting(fit.to.since(fit.from), drift, pivot);
        let walls = reference.epoch_ns().zip(log.epoch_ns());
        let apart = walls.map(|(a, b)| fit.to.plus(a).since(fit.from.plus(b)));
        let agree = |apart: i64| apart.unsigned_abs() <= WALL_CLOCKS_APART;
        if fit.is_one_period && !apart.is_some_and(agree) {
            return Err(Refusal::OnePeriod);
        }
        let mut warnings = Vec::new();
        if let Some(apart) = apart.filter(|apart| !agree(*apart)) {
            warnings.push(format!(
                "the wall-clock times of matching edges differ by {:.0} s: a clock was wrong, or the logs are from different sessions",
                Time::from_nanos(apart).seconds().abs()
            ));
        }
        if let (Some(a), Some(b)) = (Match::of(reference), Match::of(log))
            && let (Some(first), Some(second)) = (a.number, b.number)
            && a.differs(&b)
        {
            warnings.push(format!(
                "the logs name different matches: {} {first} and {} {second}",
                a.kind.name(),
                b.kind.name()
            ));
        }
        if let Some(beat) = fit.beat_ns.filter(|_| !apart.is_some_and(agree)) {
            warnings.push(format!(
                "ambiguous: the same pattern of enables repeats after {:.1} s, so logs that each miss a part could also be aligned there",
                Time::from_nanos(beat).seconds()
            ));
        }
        let confidence = if warnings.is_empty() { fit.confidence } else { fit.confidence / 2.0 };
        Ok(Self {
            clock,
            offset_ns: clock.at(fit.first).since(fit.first),
            matched: fit.matched,
            reference_edges: fit.reference_edges,
            edges: fit.edges,
            residual_median_ns: fit.residual_median_ns,
            residual_max_ns: fit.residual_max_ns,
            runner_up: fit.runner_up,
            drift_seen: fit.drift_seen,
            confidence,
            warnings,
        })
    }

    /// The confidence in a word.
    #[must_use]
    pub fn confidence_name(&self) -> &'static str {
        match self.confidence {
            x if x >= 0.85 => "high",
            x if x >= 0.5 => "fair",
            _ => "low",
        }
    }
}

fn edges_of(log: &Log) -> Result<Edges, Error> {
    let modes = log.modes();
    let unaligned = |message: &str| Error::new(ErrorKind::Unaligned(message.to_owned())).in_file(&log.path);
    if modes.is_empty() {
        let help =
            "use a log with enable data, such as a DataLogManager or AdvantageKit log, a .dslog or a network capture";
        return Err(unaligned("the log does not contain when the robot was enabled").with_help(help));
    }
    let edges = Edges::of(modes);
    if edges.len() == 0 {
        let help = "alignment needs logs in which the robot is enabled or disabled";
        return Err(unaligned("the robot is never enabled or disabled in this log").with_help(help));
    }
    Ok(edges)
}

fn refused(reference: &Log, log: &Log, refusal: &Refusal) -> Error {
    let other = reference.path.display();
    let (message, help) = match refusal {
        Refusal::TooFew { reference_edges, edges, matched } => (
            format!("only {matched} of {edges} enable and disable edges match the {reference_edges} of {other}"),
            "at least two edges must be in both logs; check that they are from the same session",
        ),
        Refusal::Loose { matched, apart_ns } => (
            format!(
                "{matched} enable and disable edges match those of {other} only within {:.2} s",
                Time::from_nanos(*apart_ns).seconds()
            ),
            "the logs are from different sessions, or a clock is unstable",
        ),
        Refusal::Drift { matched } => (
            format!(
                "the clocks of this log and {other} seem to run at different rates, but {matched} edges are too few to measure it"
            ),
            "four edges must be in both logs: use logs of a full match",
        ),
        Refusal::Contradicted { matched, expected } => (
            format!(
                "only {matched} of {expected} enable and disable edges of this log and {other} match where the logs overlap"
            ),
            "the logs are from different sessions",
        ),
        Refusal::Ambiguous { matched, runner_up } => (
            format!("the alignment with {other} is ambiguous: one matches {matched} edges, another {runner_up}"),
            "enables at regular intervals look alike: use longer logs",
        ),
        Refusal::OnePeriod => (
            format!("this log and {other} share only one period of a match, and all periods look alike"),
            "use logs with more than one enable, or with wall-clock time",
        ),
        Refusal::Chance { matched } => (
            format!("the {matched} matching edges of this log and {other} may be a coincidence"),
            "use longer logs with more enables in both",
        ),
    };
    Error::new(ErrorKind::Unaligned(message)).in_file(&log.path).with_help(help)
}

/// Laptops and robots that know the time agree better than this.
const WALL_CLOCKS_APART: u64 = 120 * 1_000_000_000;
