//! The JSON of `logpose refloat explain`.

use logpose::refloat::{self, Limit, Origin};
use serde::Serialize;

use super::{Double, Int};

/// `refloat explain --json`.
#[derive(Serialize)]
pub(crate) struct Explained<'a> {
    pub file: String,
    pub verdict: Verdict<'a>,
    pub stop: Stop,
    pub seen: Seen,
    pub ran_out: Vec<RanOut>,
    pub lines: Vec<Line<'a>>,
    pub limits: Limits,
    pub charts: Vec<Chart<'a>>,
}

/// The conclusion: why the board stopped.
#[derive(Serialize)]
pub(crate) struct Verdict<'a> {
    pub cause: &'static str,
    pub bad: bool,
    pub certainty: &'static str,
    pub summary: &'a str,
    #[serde(rename = "for")]
    pub pro: &'a [String],
    pub against: &'a [String],
}

/// The moment of the stop.
#[derive(Serialize)]
pub(crate) struct Stop {
    pub time_ns: Int,
    pub kind: &'static str,
}

/// The extent of the data.
#[derive(Serialize)]
pub(crate) struct Seen {
    pub samples: usize,
    pub span_ns: Int,
    pub rate_hz: Option<Double>,
}

/// A resource that reached its limit.
#[derive(Serialize)]
pub(crate) struct RanOut {
    pub what: &'static str,
    pub time_ns: Int,
    pub before_ns: Int,
}

/// An observation.
#[derive(Serialize)]
pub(crate) struct Line<'a> {
    pub rule: &'static str,
    pub time_ns: Int,
    pub before_ns: Int,
    pub lasted_ns: Option<Int>,
    pub tone: &'static str,
    pub text: &'a str,
    pub evidence: Vec<Evidence<'a>>,
}

/// A number behind a [`Line`].
#[derive(Serialize)]
pub(crate) struct Evidence<'a> {
    pub name: &'static str,
    pub value: Double,
    pub unit: Option<&'static str>,
    pub origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<Int>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<&'static str>,
}

/// The limits used in the comparison.
#[derive(Serialize)]
pub(crate) struct Limits {
    pub max_duty: LimitOf,
    pub pushback_duty: LimitOf,
    pub max_current: Option<LimitOf>,
    pub low_voltage: Option<LimitOf>,
}

/// A limit and its source.
#[derive(Serialize)]
pub(crate) struct LimitOf {
    pub value: Double,
    pub by: &'static str,
}

/// A series sampled at equal time steps.
#[derive(Serialize)]
pub(crate) struct Chart<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    pub from_ns: Int,
    pub values: Vec<Option<Double>>,
}

impl<'a> Explained<'a> {
    pub(crate) fn new(file: String, of: &'a refloat::Explanation) -> Self {
        let verdict = &of.verdict;
        let limits = &of.limits;
        Self {
            file,
            verdict: Verdict {
                cause: verdict.cause.name(),
                bad: verdict.cause.is_bad(),
                certainty: verdict.certainty.name(),
                summary: &verdict.summary,
                pro: &verdict.pro,
                against: &verdict.contra,
            },
            stop: Stop { time_ns: of.stop.time.nanos().into(), kind: of.stop.kind.name() },
            seen: Seen {
                samples: of.seen.samples,
                span_ns: of.seen.span_ns.into(),
                rate_hz: of.seen.rate_hz.map(Double),
            },
            ran_out: of.ran_out.iter().map(RanOut::from).collect(),
            lines: of.lines.iter().map(Line::from).collect(),
            limits: Limits {
                max_duty: limits.max_duty.into(),
                pushback_duty: limits.pushback_duty.into(),
                max_current: limits.max_current.map(LimitOf::from),
                low_voltage: limits.low_voltage.map(LimitOf::from),
            },
            charts: of.charts.iter().map(Chart::from).collect(),
        }
    }
}

impl From<&refloat::RanOut> for RanOut {
    fn from(out: &refloat::RanOut) -> Self {
        Self { what: out.what.name(), time_ns: out.time.nanos().into(), before_ns: out.before_ns.into() }
    }
}

impl<'a> From<&'a refloat::Line> for Line<'a> {
    fn from(line: &'a refloat::Line) -> Self {
        Self {
            rule: line.rule.id(),
            time_ns: line.time.nanos().into(),
            before_ns: line.before_ns.into(),
            lasted_ns: line.lasted_ns.map(Int::from),
            tone: line.tone.name(),
            text: &line.text,
            evidence: line.evidence.iter().map(Evidence::from).collect(),
        }
    }
}

impl<'a> From<&'a refloat::Evidence> for Evidence<'a> {
    fn from(of: &'a refloat::Evidence) -> Self {
        let (origin, channel, time, how) = match &of.origin {
            Origin::Sample { channel, time } => ("sample", Some(&**channel), Some(*time), None),
            Origin::Derived(how) => ("derived", None, None, Some(*how)),
            Origin::Limit(by) => ("limit", None, None, Some(by.name())),
            Origin::Threshold(name) => ("threshold", None, None, Some(*name)),
        };
        Self {
            name: of.name,
            value: Double(of.value),
            unit: of.unit,
            origin,
            channel,
            time_ns: time.map(|time| time.nanos().into()),
            how,
        }
    }
}

impl From<Limit> for LimitOf {
    fn from(limit: Limit) -> Self {
        Self { value: Double(limit.value), by: limit.by.name() }
    }
}

impl<'a> From<&'a refloat::Chart> for Chart<'a> {
    fn from(chart: &'a refloat::Chart) -> Self {
        let values = chart.values.iter().map(|value| value.map(Double)).collect();
        Self { name: chart.name, unit: chart.unit, from_ns: chart.from.nanos().into(), values }
    }
}
