//! The value of an expression at a moment.

use std::cmp::Ordering;

use logpose_core::Time;

use super::bind::{Bound, Node};
use super::parse::{Compare, Function, Math};
use logpose_files::ScalarValue;

/// What a slot knows.
#[derive(Default)]
pub(super) struct State {
    pub(super) last: Option<ScalarValue<'static>>,
    pub(super) before: Option<ScalarValue<'static>>,
    pub(super) time: Option<Time>,
    pub(super) time_before: Option<Time>,
    /// Whether a sample of this very moment differs from the one before it.
    pub(super) changed: bool,
}

impl State {
    pub(super) fn push(&mut self, time: Time, part: Option<ScalarValue<'static>>) {
        self.before = std::mem::replace(&mut self.last, part);
        self.time_before = self.time.replace(time);
        self.changed |= self.time_before.is_some() && !same(self.before.as_ref(), self.last.as_ref());
    }
}

/// NaN that stays NaN has not changed.
fn same(a: Option<&ScalarValue<'_>>, b: Option<&ScalarValue<'_>>) -> bool {
    match (a, b) {
        (Some(ScalarValue::Double(a)), Some(ScalarValue::Double(b))) => a == b || (a.is_nan() && b.is_nan()),
        (Some(ScalarValue::Float(a)), Some(ScalarValue::Float(b))) => a == b || (a.is_nan() && b.is_nan()),
        _ => a == b,
    }
}

#[derive(Clone, Copy)]
enum Val<'v> {
    Unknown,
    Boolean(bool),
    /// An integer that is exact.
    Integer(i128),
    Number(f64),
    Text(&'v [u8]),
    Enum(i64, Option<&'v str>),
}

impl<'v> Val<'v> {
    fn text(self) -> Option<&'v [u8]> {
        match self {
            Val::Text(text) => Some(text),
            Val::Enum(_, name) => name.map(str::as_bytes),
            _ => None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "integers are compared as such where both are; else as doubles")]
    fn number(self) -> Option<f64> {
        match self {
            Val::Integer(x) => Some(x as f64),
            Val::Number(x) => Some(x),
            Val::Enum(x, _) => Some(x as f64),
            _ => None,
        }
    }

    fn integer(self) -> Option<i128> {
        match self {
            Val::Integer(x) => Some(x),
            Val::Enum(x, _) => Some(x.into()),
            // A whole number that stands in the expression.
            #[expect(clippy::cast_possible_truncation, reason = "whole and small enough to be exact")]
            Val::Number(x) if x.fract() == 0.0 && x.abs() < 9e15 => Some(x as i128),
            _ => None,
        }
    }
}

/// Evaluates over the stretch from `now` to `horizon`, in which no sample comes.
pub(super) struct Eval<'e> {
    pub(super) states: &'e [State],
    pub(super) horizon: Time,
    /// Until when the answer stands: the horizon, or the moment at which an age crosses a value.
    pub(super) until: Time,
}

impl<'e> Eval<'e> {
    /// Whether an expression holds.
    pub(super) fn holds(&mut self, bound: &'e Bound, now: Time) -> bool {
        matches!(self.value(&bound.root, now), Val::Boolean(true))
    }

    fn truth(&mut self, node: &'e Node, now: Time) -> Option<bool> {
        match self.value(node, now) {
            Val::Boolean(b) => Some(b),
            _ => None,
        }
    }

    fn value(&mut self, node: &'e Node, now: Time) -> Val<'e> {
        let of = |truth: Option<bool>| truth.map_or(Val::Unknown, Val::Boolean);
        match node {
            Node::Number(x) => Val::Number(*x),
            Node::Text(text) => Val::Text(text),
            Node::Boolean(b) => Val::Boolean(*b),
            Node::Slot(slot) => self.states.get(*slot).map_or(Val::Unknown, |state| val(state.last.as_ref())),
            Node::Not(inner) => of(self.truth(inner, now).map(|b| !b)),
            // Both sides are always evaluated: each may have a crossing to report.
            Node::And(a, b) => match (self.truth(a, now), self.truth(b, now)) {
                (Some(false), _) | (_, Some(false)) => Val::Boolean(false),
                (Some(true), Some(true)) => Val::Boolean(true),
                _ => Val::Unknown,
            },
            Node::Or(a, b) => match (self.truth(a, now), self.truth(b, now)) {
                (Some(true), _) | (_, Some(true)) => Val::Boolean(true),
                (Some(false), Some(false)) => Val::Boolean(false),
                _ => Val::Unknown,
            },
            Node::Negative(inner) => match self.value(inner, now) {
                Val::Integer(x) => Val::Integer(-x),
                other => other.number().map_or(Val::Unknown, |x| Val::Number(-x)),
            },
            Node::Math(math, a, b) => {
                let (a, b) = (self.value(a, now), self.value(b, now));
                arithmetic(*math, a, b)
            }
            Node::Compare(compare, a, b, moving) => {
                let order = |eval: &mut Self, time| order(eval.value(a, time), eval.value(b, time));
                let first = order(self, now);
                if *moving {
                    self.crossing(now, first, order);
                }
                of(first.map(|first| holds(*compare, first)))
            }
            Node::History(function, slot) => {
                let state = self.states.get(*slot);
                state.map_or(Val::Unknown, |state| history(*function, state, now))
            }
            Node::Call(function, arguments) => {
                let numbers: Option<Vec<f64>> =
                    arguments.iter().map(|argument| self.value(argument, now).number()).collect();
                numbers.and_then(|numbers| call(*function, &numbers)).map_or(Val::Unknown, Val::Number)
            }
            Node::Contains(text, part) => match (self.value(text, now).text(), self.value(part, now).text()) {
                (Some(text), Some(part)) => {
                    Val::Boolean(part.is_empty() || text.windows(part.len()).any(|window| window == part))
                }
                _ => Val::Unknown,
            },
        }
    }

    /// Finds the first nanosecond behind `now` at which two sides compare differently. One side grows evenly, so
    /// the order of both changes in one direction only.
    fn crossing(&mut self, now: Time, first: Option<Order>, order: impl Fn(&mut Self, Time) -> Option<Order>) {
        let last = self.horizon.plus(-1);
        if first.is_none() || last <= now || order(self, last) == first {
            return;
        }
        let (mut before, mut behind) = (now.nanos(), last.nanos());
        while behind.saturating_sub(before) > 1 {
            let middle = i64::midpoint(before, behind);
            if order(self, Time::from_nanos(middle)) == first { before = middle } else { behind = middle }
        }
        self.until = self.until.min(Time::from_nanos(behind));
    }
}

/// How two values compare; none if one of them is NaN or has no name.
type Order = Option<Ordering>;

fn val<'a>(part: Option<&'a ScalarValue<'static>>) -> Val<'a> {
    match part {
        None | Some(ScalarValue::Nothing | ScalarValue::Bytes(_)) => Val::Unknown,
        Some(ScalarValue::Boolean(b)) => Val::Boolean(*b),
        Some(ScalarValue::Integer(x)) => Val::Integer((*x).into()),
        Some(ScalarValue::Unsigned(x)) => Val::Integer((*x).into()),
        Some(ScalarValue::Float(x)) => Val::Number((*x).into()),
        Some(ScalarValue::Double(x)) => Val::Number(*x),
        Some(ScalarValue::Text(text)) => Val::Text(text),
        Some(ScalarValue::Enum(number, name)) => Val::Enum(*number, name.as_deref()),
    }
}

/// How two values compare; none if one of them is not known, or of a kind that cannot be compared.
fn order(a: Val<'_>, b: Val<'_>) -> Option<Order> {
    match (a, b) {
        (Val::Boolean(a), Val::Boolean(b)) => Some(Some(a.cmp(&b))),
        (Val::Text(_), Val::Text(_) | Val::Enum(..)) | (Val::Enum(..), Val::Text(_)) => {
            Some(a.text().zip(b.text()).map(|(a, b)| a.cmp(b)))
        }
        _ => match (a.integer(), b.integer()) {
            (Some(a), Some(b)) => Some(Some(a.cmp(&b))),
            _ => Some(a.number()?.partial_cmp(&b.number()?)),
        },
    }
}

fn holds(compare: Compare, order: Order) -> bool {
    match compare {
        Compare::Equal => order == Some(Ordering::Equal),
        Compare::Unequal => order != Some(Ordering::Equal),
        Compare::Less => order == Some(Ordering::Less),
        Compare::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Compare::Greater => order == Some(Ordering::Greater),
        Compare::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

fn arithmetic(math: Math, a: Val<'_>, b: Val<'_>) -> Val<'static> {
    if matches!(a, Val::Integer(_)) || matches!(b, Val::Integer(_)) {
        let exact = a.integer().zip(b.integer()).and_then(|(a, b)| match math {
            Math::Add => a.checked_add(b),
            Math::Subtract => a.checked_sub(b),
            Math::Multiply => a.checked_mul(b),
            Math::Divide => None,
            Math::Remainder => a.checked_rem(b),
        });
        if let Some(exact) = exact {
            return Val::Integer(exact);
        }
    }
    let (Some(a), Some(b)) = (a.number(), b.number()) else { return Val::Unknown };
    match math {
        Math::Add => Val::Number(a + b),
        Math::Subtract => Val::Number(a - b),
        Math::Multiply => Val::Number(a * b),
        Math::Divide | Math::Remainder if b == 0.0 => Val::Unknown,
        Math::Divide => Val::Number(a / b),
        Math::Remainder => Val::Number(a % b),
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds as doubles: exact to the nanosecond for 104 days")]
fn history(function: Function, state: &State, now: Time) -> Val<'static> {
    let seconds = |from: Option<Time>, to: Option<Time>| Some(to?.since(from?) as f64 / 1e9);
    let delta = || match arithmetic(Math::Subtract, val(state.last.as_ref()), val(state.before.as_ref())) {
        Val::Unknown => None,
        delta => Some(delta),
    };
    let found = match function {
        Function::Changed => Some(Val::Boolean(state.changed)),
        Function::Age => seconds(state.time, Some(now)).map(Val::Number),
        Function::Delta => delta(),
        Function::Rate => {
            let per = seconds(state.time_before, state.time).filter(|seconds| *seconds > 0.0);
            delta().and_then(Val::number).zip(per).map(|(delta, per)| Val::Number(delta / per))
        }
        _ => None,
    };
    found.unwrap_or(Val::Unknown)
}

fn call(function: Function, numbers: &[f64]) -> Option<f64> {
    let first = *numbers.first()?;
    match function {
        Function::Abs => Some(first.abs()),
        Function::Floor => Some(first.floor()),
        // No real number: as unknown as a division by zero.
        Function::Sqrt => (first >= 0.0).then(|| first.sqrt()),
        Function::Min => numbers.iter().copied().reduce(f64::min),
        Function::Max => numbers.iter().copied().reduce(f64::max),
        _ => None,
    }
}
