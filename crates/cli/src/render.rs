//! The JSON that `logpose` prints. These shapes are stable: see docs/cli.md.

pub(crate) mod carla;
pub(crate) mod ds;
pub(crate) mod explain;
pub(crate) mod live;
pub(crate) mod refloat;

use logpose::core::{Problem, Severity};
use serde::{Serialize, Serializer};

/// An integer as a JSON number, or as a string beyond 2^53, where JavaScript and jq would round it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Int(i128);

impl From<u64> for Int {
    fn from(n: u64) -> Self {
        Self(n.into())
    }
}

impl From<i64> for Int {
    fn from(n: i64) -> Self {
        Self(n.into())
    }
}

impl From<i128> for Int {
    fn from(n: i128) -> Self {
        Self(n)
    }
}

impl Serialize for Int {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(n) if n.unsigned_abs() <= 1 << 53 => serializer.serialize_i64(n),
            _ => serializer.collect_str(&self.0),
        }
    }
}

/// `info --json`.
#[derive(Serialize)]
pub(crate) struct Info<'a> {
    pub file: String,
    pub dialect: &'a str,
    pub version: Option<String>,
    pub bytes: Int,
    pub records: Int,
    pub samples: Int,
    pub channels: usize,
    pub first_ns: Option<Int>,
    pub last_ns: Option<Int>,
    pub epoch_ns: Option<Int>,
    pub problems: Vec<InfoProblem<'a>>,
    pub details: serde_json::Value,
}

/// A problem in `info --json`.
#[derive(Serialize)]
pub(crate) struct InfoProblem<'a> {
    pub at: Option<Int>,
    pub kind: &'a str,
    pub severity: &'a str,
    pub message: &'a str,
}

impl<'a> From<&'a Problem> for InfoProblem<'a> {
    fn from(problem: &'a Problem) -> Self {
        Self {
            at: problem.at.map(Int::from),
            kind: problem.code,
            severity: problem.severity.name(),
            message: &problem.message,
        }
    }
}

/// A channel in `list --json`. `file` is present only if several files were listed.
#[derive(Serialize)]
pub(crate) struct Channel<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub name: &'a str,
    #[serde(rename = "type")]
    pub type_name: &'a str,
    pub unit: Option<String>,
    pub samples: Int,
    pub bytes: Int,
    pub first_ns: Option<Int>,
    pub last_ns: Option<Int>,
    pub rate_hz: Option<f64>,
    pub metadata: &'a str,
}

/// A schema in `list --schemas --json`.
#[derive(Serialize)]
pub(crate) struct Schema<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub name: &'a str,
    #[serde(rename = "type")]
    pub type_name: &'a str,
    pub text: serde_json::Value,
}

/// A record in `dump --json`.
#[derive(Serialize)]
pub(crate) struct Record<'a> {
    pub at: Int,
    pub length: Int,
    pub text: &'a str,
}

/// A match in `grep --json`.
#[derive(Serialize)]
pub(crate) struct Hit<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub time_ns: Int,
    pub channel: &'a str,
    pub value: &'a str,
}

/// A node in `du --json`.
#[derive(Serialize)]
pub(crate) struct Usage<'a> {
    pub path: &'a str,
    pub bytes: Int,
    pub samples: Int,
    pub channels: u64,
    pub share: f64,
}

/// `du --json`.
#[derive(Serialize)]
pub(crate) struct Disk<'a> {
    pub file: String,
    pub bytes: Int,
    pub data: Int,
    pub header: Int,
    pub control: Int,
    pub damage: Int,
    pub tree: Vec<Usage<'a>>,
}

/// `doctor --json`, and the map that `recover --map` writes.
#[derive(Serialize)]
pub(crate) struct Checkup<'a> {
    pub file: String,
    pub ok: bool,
    pub findings: Vec<Finding<'a>>,
}

/// A finding in [`Checkup`].
#[derive(Serialize)]
pub(crate) struct Finding<'a> {
    pub severity: &'a str,
    pub code: &'a str,
    pub at: Option<Int>,
    pub length: Int,
    pub message: &'a str,
}

impl<'a> Finding<'a> {
    pub(crate) fn new(severity: Severity, code: &'a str, at: Option<u64>, length: u64, message: &'a str) -> Self {
        Self { severity: severity.name(), code, at: at.map(Int::from), length: length.into(), message }
    }
}

impl<'a> From<&'a Problem> for Finding<'a> {
    fn from(p: &'a Problem) -> Self {
        Self::new(p.severity, p.code, p.at, p.length, &p.message)
    }
}

/// `convert --json` and `recover --json`.
#[derive(Serialize)]
pub(crate) struct Written<'a> {
    pub output: String,
    pub samples: Int,
    pub channels: usize,
    pub bytes: Int,
    pub verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_bytes: Option<Int>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alignment: Option<Vec<Aligned<'a>>>,
    pub problems: Vec<Finding<'a>>,
}

/// A log in `convert --align --json`.
#[derive(Serialize)]
pub(crate) struct Aligned<'a> {
    pub file: String,
    pub to: String,
    pub offset_ns: Int,
    pub drift: f64,
    pub drift_seen: Option<f64>,
    pub matched: usize,
    pub edges: usize,
    pub to_edges: usize,
    pub residual_median_ns: Int,
    pub residual_max_ns: Int,
    pub runner_up: usize,
    pub confidence: f64,
    pub confidence_word: &'static str,
    pub warnings: &'a [String],
}

/// A line of `dialects --json`.
#[derive(Serialize)]
pub(crate) struct Dialect<'a> {
    pub name: &'a str,
    pub kind: &'a str,
    pub title: &'a str,
    pub extensions: Vec<String>,
    pub files: Support,
    pub live: Support,
    pub addresses: Vec<String>,
}

/// What logpose supports for a format.
#[derive(Serialize)]
pub(crate) struct Support {
    pub read: bool,
    pub write: bool,
}

/// A part of a value: numbers, texts and booleans as in JSON, NaN and infinities as strings.
pub(crate) struct Scalar<'a>(pub &'a logpose::ScalarValue<'a>);

impl Serialize for Scalar<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use logpose::ScalarValue;
        match self.0 {
            ScalarValue::Nothing => serializer.serialize_none(),
            ScalarValue::Boolean(b) => serializer.serialize_bool(*b),
            ScalarValue::Integer(x) | ScalarValue::Enum(x, None) => Int::from(*x).serialize(serializer),
            ScalarValue::Unsigned(x) => Int::from(*x).serialize(serializer),
            ScalarValue::Float(x) => Single(*x).serialize(serializer),
            ScalarValue::Double(x) => Double(*x).serialize(serializer),
            ScalarValue::Text(text) => serializer.serialize_str(&String::from_utf8_lossy(text)),
            ScalarValue::Enum(_, Some(name)) => serializer.serialize_str(name),
            ScalarValue::Bytes(_) => {
                let mut text = Vec::new();
                self.0.write_json(&mut text);
                let text = String::from_utf8_lossy(&text);
                serializer.serialize_str(text.trim_matches('"'))
            }
        }
    }
}

/// A number; NaN and infinities become strings, because JSON has no numbers for them.
#[derive(Clone, Copy)]
pub(crate) struct Double(pub f64);

impl Serialize for Double {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_nan() => serializer.serialize_str("NaN"),
            x if x.is_infinite() => serializer.serialize_str(if x > 0.0 { "Infinity" } else { "-Infinity" }),
            x => serializer.serialize_f64(x),
        }
    }
}

/// A 32-bit float, printed with only the digits it has.
#[derive(Clone, Copy)]
pub(crate) struct Single(pub f32);

impl Serialize for Single {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f32(self.0) } else { Double(self.0.into()).serialize(serializer) }
    }
}

/// A row of `stats --json`. `file` is present only with several files.
#[derive(Serialize)]
pub(crate) struct Stats<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub name: String,
    pub channel: &'a str,
    #[serde(rename = "type")]
    pub type_name: &'a str,
    pub kind: &'static str,
    pub count: Int,
    pub first_ns: Option<Int>,
    pub last_ns: Option<Int>,
    pub rate_hz: Option<f64>,
    pub median_interval_ns: Option<Int>,
    pub gaps: Int,
    pub longest_gap_ns: Option<Int>,
    pub longest_gap_at_ns: Option<Int>,
    pub first: Option<Scalar<'a>>,
    pub last: Option<Scalar<'a>>,
    #[serde(flatten)]
    pub values: Values<'a>,
}

/// Fields that only some kinds of [`Stats`] rows have.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Values<'a> {
    Numbers {
        nan: Int,
        min: Option<Scalar<'a>>,
        min_at_ns: Option<Int>,
        max: Option<Scalar<'a>>,
        max_at_ns: Option<Int>,
        mean: Option<Double>,
        stddev: Option<Double>,
        median: Option<Double>,
        percentiles: std::collections::BTreeMap<String, Double>,
    },
    Booleans {
        #[serde(rename = "true")]
        yes: Int,
        share_true: f64,
        changes: Int,
    },
    Texts {
        distinct: Int,
        distinct_is_exact: bool,
        most_frequent: &'a str,
        most_frequent_count: Int,
    },
    Nothing {},
}

/// `find --json`.
#[derive(Serialize)]
pub(crate) struct Find<'a> {
    pub file: String,
    pub expression: &'a str,
    pub count: Int,
    pub total_ns: Int,
    pub intervals: Vec<Interval<'a>>,
}

/// An interval in [`Find`].
#[derive(Serialize)]
pub(crate) struct Interval<'a> {
    pub start_ns: Int,
    pub end_ns: Int,
    pub duration_ns: Int,
    pub mode: Option<&'a str>,
    pub open: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub show: Option<Vec<Shown<'a>>>,
}

/// Values of a channel in an [`Interval`].
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    pub name: &'a str,
    pub min: Option<Double>,
    pub mean: Option<Double>,
    pub max: Option<Double>,
    pub first: Option<Scalar<'a>>,
    pub last: Option<Scalar<'a>>,
}

/// `diff --json`.
#[derive(Serialize)]
pub(crate) struct Diff<'a> {
    pub a: String,
    pub b: String,
    pub differs: bool,
    pub align: &'static str,
    pub offset_ns: Int,
    pub common_start_ns: Option<Int>,
    pub common_end_ns: Option<Int>,
    pub first_divergence: Option<First<'a>>,
    pub channels: Vec<ChannelDiff<'a>>,
}

/// The first difference in [`Diff`].
#[derive(Serialize)]
pub(crate) struct First<'a> {
    pub channel: &'a str,
    #[serde(flatten)]
    pub divergence: Divergence<'a>,
}

/// A time at which values differ.
#[derive(Serialize)]
pub(crate) struct Divergence<'a> {
    pub time_ns: Int,
    pub path: &'a str,
    pub a: Scalar<'a>,
    pub b: Scalar<'a>,
    pub difference: Option<Double>,
}

/// A channel in [`Diff`].
#[derive(Serialize)]
pub(crate) struct ChannelDiff<'a> {
    pub name: &'a str,
    pub verdict: &'static str,
    pub type_a: Option<&'a str>,
    pub type_b: Option<&'a str>,
    pub samples_a: Int,
    pub samples_b: Int,
    pub differing_a: Int,
    pub differing_b: Int,
    pub missing_a: Int,
    pub missing_b: Int,
    pub first: Option<Divergence<'a>>,
    pub largest: Option<Divergence<'a>>,
}

/// A problem on stderr, with `--json`.
#[derive(Serialize)]
pub(crate) struct Problematic<'a> {
    pub problem: Finding<'a>,
}

/// An error on stderr, with `--json`.
#[derive(Serialize)]
pub(crate) struct Failed<'a> {
    pub error: Failure<'a>,
}

/// See [`Failed`].
#[derive(Serialize)]
pub(crate) struct Failure<'a> {
    pub code: &'a str,
    pub message: &'a str,
    pub at: Option<Int>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::Int;

    #[test]
    fn integers_beyond_2_53_are_strings() {
        let json = |n: Int| serde_json::to_string(&n).unwrap();
        assert_eq!(json(Int::from(1u64 << 53)), "9007199254740992");
        assert_eq!(json(Int::from((1i64 << 53) + 1)), "\"9007199254740993\"");
        assert_eq!(json(Int::from(i64::MIN)), "\"-9223372036854775808\"");
        assert_eq!(json(Int::from(u64::MAX)), "\"18446744073709551615\"");
        assert_eq!(json(Int::from(-5i64)), "-5");
    }
}
