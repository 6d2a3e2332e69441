/// An axis of numbers with marks at round values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Where marks stand, and what is written there.
    pub(crate) marks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis from `low` to `high` with at most about `most` marks.
    pub(crate) fn exact(low: f64, high: f64, most: usize) -> Self {
        let step = step(high - low, most);
        let first = (low / step - 1e-6).ceil();
        #[expect(clippy::cast_precision_loss, reason = "a few dozen marks")]
        let values = (0..=most + 1).map(|n| (first + n as f64) * step);
        let values: Vec<f64> = values.take_while(|value| *value <= high + step * 1e-6).collect();
        let largest = low.abs().max(high.abs());
        let marks = values.into_iter().map(|value| (value, tick(value, step, largest))).collect();
        Self { low, high, marks }
    }

    /// An axis that leaves some air above and below the values.
    pub(crate) fn around(low: f64, high: f64, most: usize) -> Self {
        let air = if high > low { (high - low) * 0.05 } else { (low.abs() * 0.1).max(1.0) };
        Self::exact(low - air, high + air, most)
    }

    /// Where a value stands between the ends, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// 1, 2 or 5 times a power of ten, such that there are at most `most` of them.
fn step(span: f64, most: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few dozen marks")]
    let rough = (span / most.max(1) as f64).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0].into_iter().find(|digit| digit * power >= rough * (1.0 - 1e-9));
    digit.unwrap_or(10.0) * power
}

/// A value beside its mark, with the decimals that the step needs.
fn tick(value: f64, step: f64, largest: f64) -> String {
    // Zero, not what is left of it.
    let value = if value.abs() < step * 1e-6 { 0.0 } else { value };
    let decimals = |step: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most some hundred")]
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        decimals
    };
    if (1e-4..1e7).contains(&largest) || (largest < 1e10 && step >= 1.0) {
        let decimals = decimals(step).min(9);
        return format!("{value:.decimals$}");
    }
    let power = largest.log10().floor();
    let decimals = decimals(step / 10_f64.powf(power)).min(9);
    if value == 0.0 { "0".to_owned() } else { format!("{:.decimals$}e{power}", value / 10_f64.powf(power)) }
}

#[cfg(test)]
mod tests {
    use super::Axis;

    fn labels(low: f64, high: f64, most: usize) -> Vec<String> {
        Axis::exact(low, high, most).marks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn marks_are_round() {
        let cases: [(f64, f64, usize, &[&str]); 7] = [
            (0.0, 10.0, 5, &["0", "2", "4", "6", "8", "10"]),
            (1.2, 71.2, 8, &["10", "20", "30", "40", "50", "60", "70"]),
            (-0.3, 0.3, 4, &["-0.2", "0.0", "0.2"]),
            (1234.5001, 1234.5006, 4, &["1234.5002", "1234.5004", "1234.5006"]),
            (0.0, 2e-9, 2, &["0", "1e-9", "2e-9"]),
            (0.0, 3e12, 3, &["0", "1e12", "2e12", "3e12"]),
            (1.7e9, 1.7e9 + 20.0, 2, &["1700000000", "1700000010", "1700000020"]),
        ];
        for (low, high, most, expected) in cases {
            assert_eq!(labels(low, high, most), expected, "{low} to {high}");
        }
    }

    #[test]
    fn one_value_and_huge_ones_have_an_axis_too() {
        for (low, high) in [(5.0, 5.0), (0.0, 0.0), (-1e300, 1e300), (1e-300, 2e-300), (1e15, 1e15 + 1.0)] {
            let axis = Axis::around(low, high, 5);
            assert!(axis.low < axis.high && axis.marks.len() < 9, "{axis:?}");
            assert!((0.0..=1.0).contains(&axis.share(low)));
        }
    }
}
