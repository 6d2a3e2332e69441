//! The search for the one way in which the edges of two logs fit.

use logpose_core::Time;

use crate::frc::ModeSpan;

/// When a robot was enabled and disabled, in nanoseconds since the first moment that is known.
pub(super) struct Edges {
    zero: Time,
    /// Until when anything is known.
    end: f64,
    /// When it was enabled, and when disabled; in the order of time.
    kinds: [Vec<f64>; 2],
}

/// How two logs fit.
pub(super) struct Fit {
    /// The middle of what is in both, on the clock of the log, and that moment on the clock of the reference.
    pub(super) from: Time,
    pub(super) to: Time,
    /// Seconds of the reference in a second of the log.
    pub(super) rate: f64,
    /// The first moment that is in both, on the clock of the log.
    pub(super) first: Time,
    pub(super) matched: usize,
    pub(super) reference_edges: usize,
    pub(super) edges: usize,
    pub(super) residual_median_ns: i64,
    pub(super) residual_max_ns: i64,
    pub(super) runner_up: usize,
    pub(super) drift_seen: Option<f64>,
    pub(super) confidence: f64,
    /// Whether all that fits is one stretch with the length of a period of a match.
    pub(super) is_one_period: bool,
    /// The time after which what fits repeats itself, if it does: then nothing shows whether the logs have the same
    /// part.
    pub(super) beat_ns: Option<i64>,
}

/// Why two logs are not put on one clock.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Fewer than two edges fit.
    TooFew { reference_edges: usize, edges: usize, matched: usize },
    /// They fit only roughly.
    Loose { matched: usize, apart_ns: i64 },
    /// With another rate more would fit, and they are too few to decide.
    Drift { matched: usize },
    /// Most that should fit do not.
    Contradicted { matched: usize, expected: usize },
    /// Another way fits about as well.
    Ambiguous { matched: usize, runner_up: usize },
    /// Only one period of a match fits, and nothing else speaks for it.
    OnePeriod,
    /// As many fit by chance now and then.
    Chance { matched: usize },
}

impl Edges {
    pub(super) fn of(modes: &[ModeSpan]) -> Self {
        let zero = modes.first().map_or(Time::ZERO, |span| span.start);
        let end = modes.last().map_or(0.0, |span| float(span.end.since(zero)));
        let changes = modes.iter().zip(modes.iter().skip(1));
        let changes = changes.filter(|(a, b)| a.mode.is_enabled() != b.mode.is_enabled()).take(MOST);
        let mut kinds = [Vec::new(), Vec::new()];
        for (_, span) in changes {
            let [on, off] = &mut kinds;
            (if span.mode.is_enabled() { on } else { off }).push(float(span.start.since(zero)));
        }
        Self { zero, end, kinds }
    }

    pub(super) fn len(&self) -> usize {
        self.kinds.iter().map(Vec::len).sum()
    }

    fn time(&self, at: f64) -> Time {
        self.zero.plus(whole(at))
    }

    /// The edges beside the longest stretches of being enabled or disabled: those are the same in both logs.
    fn salient(&self) -> [Vec<f64>; 2] {
        let mut all: Vec<(f64, usize)> =
            self.kinds.iter().enumerate().flat_map(|(kind, edges)| edges.iter().map(move |at| (*at, kind))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let gaps: Vec<f64> = all.windows(2).filter_map(|pair| Some(pair.last()?.0 - pair.first()?.0)).collect();
        let beside = |place: usize| {
            let before = place.checked_sub(1).and_then(|before| gaps.get(before)).copied().unwrap_or(0.0);
            gaps.get(place).copied().unwrap_or(0.0).max(before)
        };
        let mut ranked: Vec<(f64, (f64, usize))> =
            all.iter().enumerate().map(|(place, edge)| (beside(place), *edge)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.truncate(SALIENT);
        let of = |wanted: usize| {
            let mut edges: Vec<f64> =
                ranked.iter().filter(|(_, (_, kind))| *kind == wanted).map(|(_, (at, _))| *at).collect();
            edges.sort_by(f64::total_cmp);
            edges
        };
        [of(0), of(1)]
    }
}

/// A time of the log on the clock of the reference.
#[derive(Clone, Copy, Debug)]
struct Line {
    offset: f64,
    rate: f64,
}

impl Line {
    fn at(self, time: f64) -> f64 {
        self.offset + self.rate * time
    }

    /// Whether a clock may run like this.
    fn is_likely(&self) -> bool {
        (self.rate - 1.0).abs() <= MOST_DRIFT
    }

    /// The line through the middle of all pairs with a given rate, or with the rate that fits them best.
    fn through(pairs: &[Pair], fixed: Option<f64>) -> Option<Self> {
        if pairs.is_empty() {
            return None;
        }
        if let Some(rate) = fixed {
            let offset = median(pairs.iter().map(|pair| pair.reference - rate * pair.log).collect())?;
            return Some(Self { offset, rate });
        }
        let n = float_count(pairs.len());
        let (a, b) = (pairs.iter().map(|p| p.reference).sum::<f64>() / n, pairs.iter().map(|p| p.log).sum::<f64>() / n);
        let both: f64 = pairs.iter().map(|p| (p.reference - a) * (p.log - b)).sum();
        let spread = spread(pairs);
        let rate = if spread > 0.0 { both / spread } else { 1.0 };
        Some(Self { offset: a - rate * b, rate })
    }
}

/// The sum of the squares of the distances to the middle.
fn spread(pairs: &[Pair]) -> f64 {
    let middle = pairs.iter().map(|p| p.log).sum::<f64>() / float_count(pairs.len()).max(1.0);
    pairs.iter().map(|p| (p.log - middle).powi(2)).sum()
}

/// The same edge in both logs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    reference: f64,
    log: f64,
}

impl Pair {
    fn apart(&self, line: Line) -> f64 {
        (self.reference - line.at(self.log)).abs()
    }
}

/// Two logs side by side.
struct Search<'a> {
    reference: &'a Edges,
    log: &'a Edges,
}

/// A way to lay them so, and how much speaks for it: edges that fit, less one if the rate was chosen too, and how far
/// they are apart in all.
#[derive(Clone, Copy)]
struct Candidate {
    line: Line,
    score: usize,
    apart: f64,
}

/// The best of several ways, moved to the middle of what it matches.
struct Way {
    line: Line,
    pairs: Vec<Pair>,
    is_stretched: bool,
    /// How far the pairs are apart: in the middle, and at most.
    middle: f64,
    most: f64,
    /// How many such ways are to be expected if the logs have nothing to do with each other.
    chance: f64,
}

pub(super) fn fit(reference: &Edges, log: &Edges) -> Result<Fit, Refusal> {
    let search = Search { reference, log };
    let (shifts, stretches) = (search.shifts(), search.stretches());
    let shifted = search.way(best(&shifts), false, shifts.len());
    // A small drift is seen best in what fits without.
    let slow = search.way(Line::through(&shifted.pairs, None), true, stretches.len());
    let fast = search.way(best(&stretches), true, stretches.len());
    let way = choose(shifted, if slow.chance < fast.chance { slow } else { fast })?;
    let matched = way.pairs.len();
    if matched < 2 {
        return Err(search.too_few(matched));
    }
    if way.middle > LOOSE {
        return Err(Refusal::Loose { matched, apart_ns: whole(way.most) });
    }
    let expected = search.expected(way.line);
    let (fewer, more) = (expected.0.min(expected.1), expected.0.max(expected.1));
    // One log may miss what the other has; but of few nearly all must fit.
    let contradicted = match matched {
        2 => more > 2,
        3 => more > 4,
        _ => matched * 2 < fewer,
    };
    if contradicted {
        return Err(Refusal::Contradicted { matched, expected: more });
    }
    let score = matched - usize::from(way.is_stretched);
    let runner_up = search.runner_up(&shifts, 0, &way).max(search.runner_up(&stretches, 1, &way));
    if runner_up >= 2 && runner_up * 5 > score * 3 {
        return Err(Refusal::Ambiguous { matched, runner_up });
    }
    if way.chance > CHANCE {
        return Err(Refusal::Chance { matched });
    }
    let share = float_count(matched) / float_count(more.max(matched));
    let clear_of_others = 1.0 - float_count(runner_up.saturating_sub(1)) / float_count(score.max(1));
    let few = match matched {
        2 => 0.6,
        3 => 0.8,
        _ => 0.99,
    };
    let times = || way.pairs.iter().map(|pair| pair.log);
    let (first, last) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let from = (times().sum::<f64>() / float_count(matched)).round();
    let drift_seen = Slope::of(&way.pairs).filter(|slope| !way.is_stretched && slope.is_visible());
    Ok(Fit {
        from: log.time(from),
        to: reference.time(way.line.at(from)),
        rate: way.line.rate,
        first: log.time(first),
        matched,
        reference_edges: reference.len(),
        edges: log.len(),
        residual_median_ns: whole(way.middle),
        residual_max_ns: whole(way.most),
        runner_up,
        drift_seen: drift_seen.map(|slope| slope.drift),
        beat_ns: beat(&way.pairs, log).map(whole),
        is_one_period: matched == 2 && PERIODS.iter().any(|period| (last - first - period * 1e9).abs() < 2.0 * NEAR),
        confidence: few * (0.5 + 0.5 * share) * clear_of_others * (1.0 - 0.5 * way.chance / CHANCE),
    })
}

/// The shortest time after which at least half of the matched edges of a log come again.
fn beat(pairs: &[Pair], log: &Edges) -> Option<f64> {
    let matched = |of: &Vec<f64>| -> Vec<f64> {
        of.iter().copied().filter(|at| pairs.iter().any(|pair| pair.log.total_cmp(at).is_eq())).collect()
    };
    let kinds = log.kinds.each_ref().map(matched);
    let come_again = |after: f64| -> usize {
        let again = |of: &Vec<f64>, at: f64| of.iter().any(|other| (other - at - after).abs() < NEAR);
        kinds.iter().map(|of| of.iter().filter(|at| again(of, **at)).count()).sum()
    };
    let mut gaps: Vec<f64> = Vec::new();
    for of in &kinds {
        gaps.extend(of.iter().skip(1).zip(of).map(|(later, earlier)| later - earlier));
    }
    gaps.sort_by(f64::total_cmp);
    gaps.into_iter().find(|gap| come_again(*gap) * 2 >= pairs.len())
}

/// With a rate of its own more fits always; it must be worth it.
fn choose(shifted: Way, stretched: Way) -> Result<Way, Refusal> {
    let (without, with) = (shifted.pairs.len(), stretched.pairs.len());
    if stretched.chance < shifted.chance && Slope::of(&stretched.pairs).is_some_and(|slope| slope.is_clear()) {
        return Ok(stretched);
    }
    // Two fit always with a rate, and a few more may by chance; many more do not.
    let enough = if with == 3 { 3 } else { without + 1 + (without / 4).max(1) };
    if with > without && with > 2 && with >= enough {
        return Err(Refusal::Drift { matched: with });
    }
    Ok(shifted)
}

impl Search<'_> {
    /// Every way to lay one edge on another of its kind.
    fn shifts(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (reference, log) in self.reference.kinds.iter().zip(&self.log.kinds) {
            for a in reference {
                let lines = log.iter().map(|b| Line { offset: a - b, rate: 1.0 });
                found.extend(lines.map(|line| self.candidate(line, 0)));
            }
        }
        found
    }

    /// Every way to lay two edges on two others, with a rate that a clock may have.
    fn stretches(&self) -> Vec<Candidate> {
        let (reference, log) = (self.reference.salient(), self.log.salient());
        let pairs: Vec<Pair> = reference
            .iter()
            .zip(&log)
            .flat_map(|(a, b)| a.iter().flat_map(|a| b.iter().map(|b| Pair { reference: *a, log: *b })))
            .collect();
        let mut found = Vec::new();
        for (place, first) in pairs.iter().enumerate() {
            for second in pairs.iter().skip(place + 1) {
                let (long, by) = (second.reference - first.reference, second.log - first.log);
                let rate = long / by;
                let line = Line { offset: first.reference - rate * first.log, rate };
                if by.abs() > 0.0 && line.is_likely() {
                    found.push(self.candidate(line, 1));
                }
            }
        }
        found
    }

    fn candidate(&self, line: Line, chosen: usize) -> Candidate {
        let (mut score, mut apart) = (0, 0.0);
        self.walk(line, NEAR, |pair| (score, apart) = (score + 1, apart + pair.apart(line)));
        Candidate { line, score: usize::saturating_sub(score, chosen), apart }
    }

    /// Moves a line to the middle of what it matches.
    fn way(&self, line: Option<Line>, is_stretched: bool, tried: usize) -> Way {
        let line = line.filter(|line| line.is_likely());
        let mut way = Way {
            line: line.unwrap_or(Line { offset: 0.0, rate: 1.0 }),
            pairs: line.map_or_else(Vec::new, |line| self.pairs(line, NEAR)),
            is_stretched,
            middle: 0.0,
            most: 0.0,
            chance: f64::INFINITY,
        };
        for _ in 0..ROUNDS {
            let fixed = (!is_stretched).then_some(1.0);
            let Some(better) = Line::through(&way.pairs, fixed).filter(Line::is_likely) else { break };
            let pairs = self.pairs(better, NEAR);
            if pairs.len() < way.pairs.len() {
                break;
            }
            (way.line, way.pairs) = (better, pairs);
        }
        let apart: Vec<f64> = way.pairs.iter().map(|pair| pair.apart(way.line)).collect();
        way.most = apart.iter().copied().fold(0.0, f64::max);
        if let Some(middle) = median(apart) {
            way.middle = middle;
            way.chance = self.chance(&way, tried);
        }
        way
    }

    fn pairs(&self, line: Line, near: f64) -> Vec<Pair> {
        let mut pairs = Vec::new();
        self.walk(line, near, |pair| pairs.push(pair));
        pairs
    }

    /// Every edge has at most one partner, of its kind, and partners come in the same order.
    fn walk(&self, line: Line, near: f64, mut each: impl FnMut(Pair)) {
        for (reference, log) in self.reference.kinds.iter().zip(&self.log.kinds) {
            let (mut a, mut b) = (reference.iter().peekable(), log.iter().peekable());
            while let (Some(reference), Some(log)) = (a.peek(), b.peek()) {
                let apart = **reference - line.at(**log);
                if apart.abs() <= near {
                    each(Pair { reference: **reference, log: **log });
                    a.next();
                    b.next();
                } else if apart > 0.0 {
                    b.next();
                } else {
                    a.next();
                }
            }
        }
    }

    /// How many edges of each lie where the other goes on.
    fn expected(&self, line: Line) -> (usize, usize) {
        let (start, end) = (line.at(0.0), line.at(self.log.end));
        let edges = |of: &Edges| of.kinds.iter().flatten().copied().collect::<Vec<_>>();
        let of_reference = edges(self.reference).into_iter().filter(|at| (start..=end).contains(at)).count();
        let there = |at: &f64| (0.0..=self.reference.end).contains(&line.at(*at));
        (of_reference, edges(self.log).iter().filter(|at| there(at)).count())
    }

    /// The best score of all ways that match other edges than the chosen one, about as well as that does.
    fn runner_up(&self, candidates: &[Candidate], chosen: usize, way: &Way) -> usize {
        let near = (3.0 * way.most).clamp(2.0 * BLUR, NEAR);
        let mut best = 0;
        for candidate in candidates {
            if candidate.score > best {
                let pairs = self.pairs(candidate.line, near);
                let score = pairs.len().saturating_sub(chosen);
                if score > best && !same(&pairs, &way.pairs) {
                    best = score;
                }
            }
        }
        best
    }

    /// How many ways that match so many edges so well are to be expected if the logs have nothing to do with each other.
    fn chance(&self, way: &Way, tried: usize) -> f64 {
        let (few, many) =
            if self.reference.len() < self.log.len() { (self.reference, self.log) } else { (self.log, self.reference) };
        let one = (float_count(many.len()) * way.most.max(BLUR) / many.end.max(1e9)).min(1.0);
        // What is laid on each other fits; every way was tried once for each edge, or two edges, that it matches.
        let matched = way.pairs.len();
        let (given, times) = if way.is_stretched { (2, matched * matched.saturating_sub(1) / 2) } else { (1, matched) };
        let ways = float_count(tried) / float_count(times.max(1));
        let (left, fitting) = (few.len().saturating_sub(given), matched.saturating_sub(given));
        let chance = ways.max(1.0) * combinations(left, fitting) * one.powi(i32::try_from(fitting).unwrap_or(i32::MAX));
        match &*way.pairs {
            // All that speaks for it is one length, and short ones are more frequent than long ones.
            [a, b] => chance.max(TWO_ALONE * way.most.max(BLUR / 2.0) / (a.log - b.log).abs()) * ways.max(1.0),
            _ => chance,
        }
    }

    fn too_few(&self, matched: usize) -> Refusal {
        let loose = self.shifts().into_iter().map(|way| way.line).max_by_key(|line| self.pairs(*line, FAR).len());
        if let Some(line) = loose
            && let pairs = self.pairs(line, FAR)
            && pairs.len() >= 2
        {
            let apart = pairs.iter().map(|pair| pair.apart(line)).fold(0.0, f64::max);
            return Refusal::Loose { matched: pairs.len(), apart_ns: whole(apart) };
        }
        Refusal::TooFew { reference_edges: self.reference.len(), edges: self.log.len(), matched }
    }
}

fn best(candidates: &[Candidate]) -> Option<Line> {
    let better = |a: &&Candidate, b: &&Candidate| a.score.cmp(&b.score).then_with(|| b.apart.total_cmp(&a.apart));
    candidates.iter().max_by(better).map(|candidate| candidate.line)
}

/// Whether at least half of some pairs are among others.
fn same(pairs: &[Pair], among: &[Pair]) -> bool {
    pairs.iter().filter(|pair| among.contains(pair)).count() * 2 >= pairs.len()
}

/// How much faster one clock runs than the other, and how sure that is.
struct Slope {
    drift: f64,
    /// The drift in multiples of its own uncertainty.
    significance: f64,
    freedom: usize,
}

impl Slope {
    fn of(pairs: &[Pair]) -> Option<Self> {
        let freedom = pairs.len().checked_sub(2).filter(|freedom| *freedom > 0)?;
        let line = Line::through(pairs, None)?;
        let squares: f64 = pairs.iter().map(|pair| pair.apart(line).powi(2)).sum();
        let error = (squares / float_count(freedom)).sqrt().max(STEP) / spread(pairs).sqrt();
        let drift = line.rate - 1.0;
        Some(Self { drift, significance: drift.abs() / error, freedom })
    }

    /// Whether it is worth telling.
    fn is_visible(&self) -> bool {
        self.significance > 3.0
    }

    /// Whether at least four edges show it beyond doubt. With few of them chance reaches far.
    fn is_clear(&self) -> bool {
        self.freedom >= 2 && self.significance > 4.0 + 12.0 / float_count(self.freedom)
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle).copied()?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    middle.checked_sub(1).and_then(|lower| values.get(lower)).map(|lower| f64::midpoint(*lower, upper))
}

fn combinations(n: usize, k: usize) -> f64 {
    (0..k.min(n)).fold(1.0, |product, i| product * float_count(n - i) / float_count(i + 1))
}

#[expect(clippy::cast_precision_loss, reason = "nobody runs a robot for 2^53 ns, which are 104 days, in one log")]
fn float(ns: i64) -> f64 {
    ns as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts of edges are small")]
fn float_count(n: usize) -> f64 {
    n as f64
}

#[expect(clippy::cast_possible_truncation, reason = "a cast saturates, and times of logs do not come near")]
fn whole(ns: f64) -> i64 {
    ns.round() as i64
}

/// More edges than this are not looked at.
const MOST: usize = 400;
/// Edges of each log that are tried in pairs.
const SALIENT: usize = 32;
/// How far apart the same edge may be in two logs, in ns: the way to the robot, its loop, the 20 ms of the station.
const NEAR: f64 = 150e6;
/// In the middle they must be nearer.
const LOOSE: f64 = 80e6;
/// For the reason why nothing fits.
const FAR: f64 = 1.5e9;
/// How exact a moment is known at best, for what chance may do: two packets of the station; and its half.
const BLUR: f64 = 20e6;
const STEP: f64 = 5e6;
/// The timer of NI's Driver Station runs up to 3 % off.
const MOST_DRIFT: f64 = 0.04;
/// How many ways that fit by chance may be expected.
const CHANCE: f64 = 0.01;
/// How unlikely it must be that two lengths are the same by chance: a fifth of what all else must be.
const TWO_ALONE: f64 = 4.0;
const ROUNDS: usize = 3;
/// Lengths of what fields and practices of the station time, in s.
const PERIODS: [f64; 8] = [10.0, 15.0, 20.0, 30.0, 120.0, 130.0, 135.0, 140.0];
