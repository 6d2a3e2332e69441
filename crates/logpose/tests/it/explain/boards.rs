//! Emulated boards, of which the cause is known.

use std::ops::Range;
use std::sync::OnceLock;

use logpose::core::Time;
use logpose::refloat::{
    Adjustment, Cause, Explanation, Footpad, Limits, Options, Rule, Series, Thresholds, Values, explain, explain_series,
};
use logpose::{ConvertOptions, Format, Log, OpenOptions, Output, Quiet, convert};
use logpose_refloat::rfrec::Writer;
use logpose_sim::board::{BoardVersion, Cause as Known, Recorded, Scenario, What, simulate};
use tempfile::TempDir;

use super::any::check;
use super::{cause, explained};
use crate::support::open;

struct Board {
    scenario: Scenario,
    version: BoardVersion,
    recorded: Recorded,
    series: Series,
}

/// Every scenario on these versions, with these seeds.
fn simulated(versions: &[BoardVersion], seeds: Range<u64>) -> Vec<Board> {
    let mut boards = Vec::new();
    for scenario in Scenario::ALL {
        for version in versions.iter().copied() {
            for seed in seeds.clone() {
                let recorded = simulate(scenario, version, seed);
                let series = Series::of(&log(&recorded)).unwrap();
                boards.push(Board { scenario, version, recorded, series });
            }
        }
    }
    boards
}

/// Every scenario with old and with new names.
fn boards() -> &'static [Board] {
    static BOARDS: OnceLock<Vec<Board>> = OnceLock::new();
    BOARDS.get_or_init(|| simulated(&[BoardVersion::V1_2, BoardVersion::V1_3], 1..2))
}

/// What an explanation says, in short.
fn texts(explanation: &Explanation) -> Vec<&str> {
    explanation.lines.iter().map(|line| &*line.text).collect()
}

fn file(recorded: &Recorded) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::begin(&mut out);
    writer.info(&recorded.info, &mut out);
    writer.header(&recorded.header, &mut out).unwrap();
    recorded.status.iter().for_each(|status| writer.status(status, &mut out));
    writer.samples(0, &recorded.samples, &mut out).unwrap();
    writer.end(&mut out).unwrap();
    out
}

fn log(recorded: &Recorded) -> Log {
    Log::from_bytes("ride.rfrec", file(recorded), &OpenOptions::default()).unwrap()
}

/// What an explanation has to find.
fn expected(board: &Board) -> Cause {
    match board.recorded.truth.as_ref().unwrap().cause {
        Known::Nothing if board.recorded.is_empty() => Cause::Unknown,
        Known::Nothing => Cause::SteppedOff,
        Known::Duty => Cause::DutyLimit,
        Known::LowVoltage => Cause::VoltageSag,
        Known::Footpad => Cause::FootpadOpened,
        Known::Wheelslip => Cause::Wheelslip,
        Known::Current => Cause::CurrentLimit,
        Known::HighVoltage | Known::Error | Known::Temperature | Known::Speed => Cause::PushbackHeeded,
    }
}

fn named(board: &Board) -> String {
    format!("{} {}", board.scenario, board.version)
}

#[test]
fn every_known_cause_is_found() {
    for board in &simulated(&[BoardVersion::V1_1, BoardVersion::V1_2, BoardVersion::V1_3], 0..5) {
        let explanation = explained(&board.series);
        assert_eq!(explanation.verdict.cause, expected(board), "{}: {:#?}", named(board), texts(&explanation));
        check(&board.series, &explanation);
    }
}

#[test]
fn a_heeded_pushback_is_named() {
    let words = [
        (Known::HighVoltage, "high voltage"),
        (Known::Error, "BMS error"),
        (Known::Temperature, "temperature"),
        (Known::Speed, "speed"),
    ];
    for board in boards() {
        let known = board.recorded.truth.as_ref().unwrap().cause;
        if let Some((_, word)) = words.iter().find(|(cause, _)| *cause == known) {
            let summary = explained(&board.series).verdict.summary;
            assert!(summary.contains(word), "{}: {summary}", named(board));
        }
    }
}

#[test]
fn a_quiet_ride_has_no_bad_line_and_no_limit() {
    for board in boards().iter().filter(|board| board.scenario == Scenario::Ride) {
        let explanation = explained(&board.series);
        assert!(explanation.verdict.summary.starts_with("Nothing went wrong"));
        assert!(explanation.ran_out.is_empty());
        for line in &explanation.lines {
            let calm = [Rule::Adjustment, Rule::Footpad, Rule::Stop, Rule::VoltageSag];
            assert!(calm.contains(&line.rule), "{}: {line:?}", named(board));
        }
    }
}

/// The time of a tick, as the file has it.
fn time(tick: u32) -> Time {
    Time::from_micros(i64::from(tick) * 100)
}

#[test]
fn events_are_reported_at_their_time() {
    let near = |line_time: Time, tick: u32, ms: i64| line_time.since(time(tick)).abs() <= ms * 1_000_000;
    let mut seen = [0; 4];
    for board in boards() {
        let explanation = explained(&board.series);
        let first = *board.series.times.first().unwrap_or(&Time::ZERO);
        let has = |rule: Rule, tick: u32, ms: i64| {
            explanation.lines.iter().any(|line| line.rule == rule && near(line.time, tick, ms))
        };
        for happened in &board.recorded.truth.as_ref().unwrap().moments {
            // What is older than the recording, at its very edge, or after the stop, is not in it.
            let after = time(happened.tick).since(explanation.stop.time) > 20_000_000;
            if time(happened.tick).since(first) < 20_000_000 || after || happened.tick == 0 {
                continue;
            }
            let expected = match happened.what {
                What::Wheelslip(true) => (0, has(Rule::Wheelslip, happened.tick, 20)),
                What::Pads(Footpad::None) => (1, has(Rule::Footpad, happened.tick, 20)),
                What::Stopped(_) => (2, near(explanation.stop.time, happened.tick, 20)),
                What::CurrentLimit => (3, has(Rule::CurrentLimit, happened.tick, 200)),
                _ => continue,
            };
            assert!(expected.1, "{}: {happened:?} {:#?}", named(board), texts(&explanation));
            seen[expected.0] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

/// Every n-th sample, and the last one.
fn thinned(series: &Series, every: usize) -> Series {
    let last = series.times.len().saturating_sub(1);
    picked(series, |place| (last - place).is_multiple_of(every))
}

/// The samples from a place on.
fn cut(series: &Series, from: usize) -> Series {
    picked(series, |place| place >= from)
}

fn picked(series: &Series, such: impl Fn(usize) -> bool) -> Series {
    fn some<T: Copy>(of: &[T], such: impl Fn(usize) -> bool) -> Vec<T> {
        of.iter().enumerate().filter(|(place, _)| such(*place)).map(|(_, value)| *value).collect()
    }
    let values = series.values.iter().map(|(id, values)| {
        (id.clone(), Values { channel: values.channel.clone(), values: some(&values.values, &such) })
    });
    Series {
        times: some(&series.times, &such),
        running: some(&series.running, &such),
        wheelslip: some(&series.wheelslip, &such),
        footpad: some(&series.footpad, &such),
        adjustment: some(&series.adjustment, &such),
        values: values.collect(),
        is_recording: series.is_recording,
        is_cut: series.is_cut,
    }
}

#[test]
fn ten_samples_a_second_are_enough() {
    let mut wrong = Vec::new();
    for board in boards().iter().filter(|board| !board.recorded.is_empty()) {
        for hz in [50.0, 20.0, 10.0] {
            let rate = explained(&board.series).seen.rate_hz.unwrap();
            let thin = thinned(&board.series, (rate / hz).round() as usize);
            let explanation = explained(&thin);
            check(&thin, &explanation);
            if explanation.verdict.cause != expected(board) {
                wrong.push(format!("{} at {hz} Hz: {}", named(board), explanation.verdict.cause));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn fewer_seconds_say_less_and_conclude_the_same() {
    for board in boards().iter().filter(|board| !board.recorded.is_empty()) {
        for seconds in [5.0, 2.0, 1.0, 0.5] {
            let explanation = explain_series(&board.series, &Options { seconds, ..Options::default() });
            check(&board.series, &explanation);
            let window = (seconds * 1e9) as i64;
            assert!(explanation.lines.iter().all(|line| line.before_ns - line.lasted_ns.unwrap_or(0) <= window));
            assert_eq!(explanation.verdict, explained(&board.series).verdict, "{} {seconds}", named(board));
        }
    }
}

/// What may be said where less is there: the cause, a weaker word for it, or nothing.
fn is_honest(said: Cause, expected: Cause) -> bool {
    let dives = [Cause::DutyLimit, Cause::CurrentLimit, Cause::VoltageSag, Cause::NoseDive, Cause::Wheelslip];
    said == expected
        || matches!(said, Cause::Unknown)
        || dives.contains(&said) && dives.contains(&expected)
        || said == Cause::SteppedOff && expected == Cause::PushbackHeeded
        // Of a footpad that opened, and of a rider who has stepped off, the last moments show the same.
        || said == Cause::FootpadOpened && dives.contains(&expected)
}

#[test]
fn a_recording_that_begins_later_is_not_misread() {
    for board in boards().iter().filter(|board| !board.recorded.is_empty()) {
        let count = board.series.times.len();
        for share in [0.25, 0.5, 0.75, 0.9, 0.95, 0.99] {
            let part = cut(&board.series, (count as f64 * share) as usize);
            let explanation = explained(&part);
            check(&part, &explanation);
            let said = explanation.verdict.cause;
            assert!(is_honest(said, expected(board)), "{} from {share}: {said}", named(board));
        }
    }
}

#[test]
fn a_recording_that_ends_before_the_trouble_has_none() {
    for board in boards().iter().filter(|board| !board.recorded.is_empty()) {
        let truth = board.recorded.truth.as_ref().unwrap();
        let trouble = |what: What| {
            matches!(
                what,
                What::DutyLimit
                    | What::CurrentLimit
                    | What::Pads(Footpad::None | Footpad::Left | Footpad::Right)
                    | What::Wheelslip(true)
            )
        };
        let engaged = truth.first(What::Engaged).unwrap();
        let begins = truth.moments.iter().find(|at| at.tick > engaged && trouble(at.what)).unwrap();
        let before = time(begins.tick).plus(-300_000_000);
        let part = picked(&board.series, |place| board.series.times[place] < before);
        let explanation = explained(&part);
        assert!(!explanation.verdict.cause.is_bad(), "{}: {:#?}", named(board), explanation.verdict);
    }
}

#[test]
fn a_recording_that_was_not_fetched_to_its_end_gives_no_verdict() {
    let recorded = simulate(Scenario::Nosedive, BoardVersion::V1_3, 1);
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes);
    writer.header(&recorded.header, &mut bytes).unwrap();
    writer.samples(0, &recorded.samples[..recorded.sample_len() * 500], &mut bytes).unwrap();
    let log = Log::from_bytes("cut.rfrec", bytes, &OpenOptions::default()).unwrap();
    let explanation = explain(&log, &Options::default()).unwrap();
    assert_eq!(explanation.verdict.cause, Cause::Unknown);
    assert!(explanation.verdict.summary.contains("the download is incomplete"), "{}", explanation.verdict.summary);
}

#[test]
fn converted_recordings_say_the_same() {
    let dir = TempDir::new().unwrap();
    for board in boards().iter().filter(|board| !board.recorded.is_empty()) {
        let logs = [log(&board.recorded)];
        let direct = explain(&logs[0], &Options::default()).unwrap();
        for extension in ["mcap", "parquet", "wpilog", "rlog", "refloat-csv"] {
            let mut out = Vec::new();
            let format = Format::from_name(extension).unwrap();
            let path = dir.path().join(format!("{}-{}.{extension}", board.scenario, board.version));
            let output = if format.is_text() {
                Output::Stream(&mut out)
            } else {
                Output::File { path: &path, force: false, wrapper: None }
            };
            convert(&logs, Vec::new(), &format, output, &ConvertOptions::default(), &Quiet).unwrap();
            let log = if format.is_text() {
                Log::from_bytes("ride.csv", out, &OpenOptions::default()).unwrap()
            } else {
                open(&path)
            };
            let converted = explain(&log, &Options::default()).unwrap();
            assert_eq!(converted.verdict, direct.verdict, "{} {extension}", named(board));
            assert_eq!(texts(&converted), texts(&direct), "{} {extension}", named(board));
        }
    }
}

#[test]
fn values_that_are_no_numbers_do_not_change_the_cause() {
    for board in boards().iter().filter(|board| !board.recorded.is_empty()) {
        for id in ["pitch", "duty_cycle", "batt_voltage", "balance_current", "erpm", "setpoint", "dir_current"] {
            let mut series = board.series.clone();
            let values = &mut series.values.get_mut(id).unwrap().values;
            values.iter_mut().skip(3).step_by(97).for_each(|value| *value = 131_008.0);
            let explanation = explained(&series);
            check(&series, &explanation);
            assert_eq!(explanation.verdict.cause, expected(board), "{} {id}", named(board));
            assert!(explanation.lines.iter().any(|line| line.rule == Rule::NoNumber), "{} {id}", named(board));
        }
    }
}

#[test]
fn old_and_new_names_mean_the_same() {
    let ids = |version| {
        let board = boards().iter().find(|board| board.version == version).unwrap();
        let channels = board.series.values.iter().map(|(id, values)| (id.clone(), values.channel.clone()));
        channels.collect::<Vec<_>>()
    };
    let (old, new) = (ids(BoardVersion::V1_2), ids(BoardVersion::V1_3));
    assert_eq!(old.iter().map(|(id, _)| id).collect::<Vec<_>>(), new.iter().map(|(id, _)| id).collect::<Vec<_>>());
    assert!(old.contains(&("erpm".to_owned(), "/refloat/motor.erpm".to_owned())), "{old:?}");
    assert!(new.contains(&("erpm".to_owned(), "/refloat/erpm".to_owned())), "{new:?}");
}

#[test]
fn every_threshold_decides_something() {
    let some = boards().iter().filter(|board| board.version == BoardVersion::V1_2);
    let mut all: Vec<Series> = some.map(|board| thinned(&board.series, 6)).collect();
    all.extend(super::made::all());
    let given = Limits { max_current: Some(55.0), ..Limits::default() };
    let options = [Limits::default(), given].map(|limits| Options { limits, ..Options::default() });
    let before: Vec<_> =
        options.iter().map(|with| all.iter().map(|of| explain_series(of, with)).collect::<Vec<_>>()).collect();
    let differs = |name: &str, value: f64| {
        options.iter().zip(&before).any(|(options, explanations)| {
            let mut options = options.clone();
            *options.thresholds.named_mut(name).unwrap() = value;
            all.iter().zip(explanations).any(|(series, then)| {
                let now = explain_series(series, &options);
                texts(&now) != texts(then) || now.verdict != then.verdict
            })
        })
    };
    for (name, value) in Thresholds::default().named() {
        let changes = [0.0, 30.0, 0.7, 1.5, 0.3, 3.0, 0.9, 1.1].iter().any(|factor| differs(name, value * factor));
        assert!(changes, "{name} does nothing");
    }
}

#[test]
fn a_shifted_threshold_moves_its_line() {
    let board = boards().iter().find(|board| board.scenario == Scenario::Nosedive).unwrap();
    let began = |name: &str, value: f64, rule: Rule| {
        let mut options = Options::default();
        *options.thresholds.named_mut(name).unwrap() = value;
        let lines = explain_series(&board.series, &options).lines;
        lines.iter().find(|line| line.rule == rule).map(|line| line.before_ns)
    };
    assert!(began("max_duty", 0.9, Rule::DutyLimit) > began("max_duty", 0.95, Rule::DutyLimit));
    assert_eq!(began("max_duty", 1.2, Rule::DutyLimit), None);
    assert!(began("error_onset_deg", 1.0, Rule::PitchError) > began("error_onset_deg", 6.0, Rule::PitchError));
    assert_eq!(began("error_lost_deg", 90.0, Rule::PitchError), None);
    assert_eq!(began("short_a", 50.0, Rule::CurrentShort), None);
    assert!(began("short_a", 5.0, Rule::CurrentShort).is_some());
    assert_eq!(began("sag_share", 0.5, Rule::VoltageSag), None);
}

#[test]
fn duty_pushback_shows_its_threshold() {
    for board in boards().iter().filter(|board| board.scenario == Scenario::Nosedive) {
        let limit = explained(&board.series).limits.pushback_duty;
        assert!((limit.value - 0.8).abs() < 0.01, "{}: {limit:?}", named(board));
        assert!(board.series.adjustment.contains(&Adjustment::DUTY));
    }
    assert_eq!(cause(&Series::default()), Cause::Unknown);
}
