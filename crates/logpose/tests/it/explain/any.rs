//! What is true of every explanation, whatever the series.

use logpose::core::Time;
use logpose::refloat::{
    Adjustment, Explanation, Footpad, Limits, Options, Origin, Series, Thresholds, Values, explain_series,
};
use proptest::prelude::*;

/// Every number that is said to be in the series is there, and the lines are in the order of time.
pub(super) fn check(series: &Series, explanation: &Explanation) {
    let times: Vec<_> = explanation.lines.iter().map(|line| line.time).collect();
    assert!(times.is_sorted(), "{times:?}");
    for line in &explanation.lines {
        assert!(line.before_ns >= 0, "{line:?}");
        assert_eq!(line.before_ns, explanation.stop.time.since(line.time));
        assert!(line.lasted_ns.is_none_or(|ns| ns >= 0), "{line:?}");
        assert!(!line.text.contains("NaN") && !line.text.contains("inf "), "{line:?}");
        for evidence in &line.evidence {
            let Origin::Sample { channel, time } = &evidence.origin else { continue };
            let values = series.values.values().find(|values| values.channel == *channel).unwrap();
            let said = series.times.iter().zip(&values.values);
            let found =
                said.filter(|(at, _)| *at == time).any(|(_, value)| value.to_bits() == evidence.value.to_bits());
            assert!(found, "{evidence:?}");
        }
    }
    assert!(!explanation.verdict.summary.is_empty());
    let out: Vec<_> = explanation.ran_out.iter().map(|out| out.time).collect();
    assert!(out.is_sorted());
}

fn wild() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -200.0..200.0f64,
        2 => -1.0..1.0f64,
        1 => -20_000.0..20_000.0f64,
        1 => proptest::sample::select(vec![
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 131_008.0, -131_008.0, 0.0, -0.0, f64::MAX, f64::MIN_POSITIVE,
        ]),
    ]
}

fn pad() -> impl Strategy<Value = Option<Footpad>> {
    proptest::option::of((0..4u8).prop_map(Footpad::from_bits))
}

prop_compose! {
    fn any_series()(
        count in 0..80usize,
        step in proptest::sample::select(vec![0i64, 1, 1_388_889, 20_000_000, 100_000_000, i64::MAX / 50]),
        start in proptest::sample::select(vec![0i64, -5_000_000_000, i64::MIN, i64::MAX - 10]),
    )(
        times in proptest::collection::vec((0..4i64).prop_map(move |n| n.saturating_mul(step)), count),
        start in Just(start),
        shuffled in proptest::bool::weighted(0.1),
        running in proptest::collection::vec(proptest::bool::weighted(0.9), 0..=count),
        wheelslip in proptest::collection::vec(proptest::bool::weighted(0.2), 0..=count),
        footpad in proptest::collection::vec(pad(), 0..=count),
        adjustment in proptest::collection::vec((0..16u8).prop_map(Adjustment), 0..=count),
        values in proptest::collection::btree_map(
            proptest::sample::select(IDS.to_vec()),
            proptest::collection::vec(wild(), 0..=count),
            0..IDS.len(),
        ),
        is_recording in any::<bool>(),
        is_cut in any::<bool>(),
    ) -> Series {
        let mut time = Time::from_nanos(start);
        let mut times: Vec<Time> = times.into_iter().map(|step| {
            time = time.plus(step);
            time
        }).collect();
        if shuffled {
            times.reverse();
        }
        let values = values.into_iter().map(|(id, values)| {
            (id.to_owned(), Values { channel: format!("/refloat/{id}"), values })
        });
        Series { times, running, wheelslip, footpad, adjustment, values: values.collect(), is_recording, is_cut }
    }
}

prop_compose! {
    fn any_options()(
        seconds in proptest::sample::select(vec![10.0, 0.0, 1.0, 1e300, -1.0, f64::NAN]),
        max_duty in proptest::option::of(wild()),
        pushback_duty in proptest::option::of(wild()),
        max_current in proptest::option::of(wild()),
        low_voltage in proptest::option::of(wild()),
        changed in proptest::option::of((0..Thresholds::default().named().len(), wild())),
    ) -> Options {
        let mut thresholds = Thresholds::default();
        if let Some((place, value)) = changed {
            let (name, _) = Thresholds::default().named()[place];
            *thresholds.named_mut(name).unwrap() = value;
        }
        Options { seconds, limits: Limits { max_duty, pushback_duty, max_current, low_voltage }, thresholds }
    }
}

const IDS: [&str; 10] = [
    "erpm",
    "speed",
    "duty_cycle",
    "batt_voltage",
    "batt_current",
    "balance_current",
    "dir_current",
    "pitch",
    "balance_pitch",
    "setpoint",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_series_is_explained(series in any_series()) {
        check(&series, &explain_series(&series, &Options::default()));
    }

    #[test]
    fn no_options_break_it(series in any_series(), options in any_options()) {
        prop_assert!(!explain_series(&series, &options).verdict.summary.is_empty());
    }
}
