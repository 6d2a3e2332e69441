//! Each rule and each conclusion, on rides made by hand.

use logpose::refloat::{
    Adjustment, Cause, Certainty, Footpad, LimitBy, Limits, Options, Resource, Rule, StopKind, Tone, explain_series,
};

use super::made::Made;
use super::{cause, explained, rules};

const LOOP: f64 = 720.0;

#[test]
fn a_quiet_ride_gives_nothing_but_its_end() {
    for hz in [LOOP, 100.0, 10.0] {
        let explanation = explained(&Made::quiet(hz, 3.0).series());
        assert_eq!(explanation.verdict.cause, Cause::Nothing, "{hz}: {explanation:#?}");
        assert_eq!(rules(&explanation), [Rule::Stop], "{hz}");
    }
}

#[test]
fn the_loop_rate_distinguishes_a_recording_from_a_log() {
    let kind = |hz| explained(&Made::quiet(hz, 3.0).series()).stop.kind;
    assert_eq!((kind(LOOP), kind(10.0)), (StopKind::RecordingEnds, StopKind::StillRunning));
    let mut series = Made::quiet(10.0, 3.0).series();
    series.is_recording = true;
    assert_eq!(explained(&series).stop.kind, StopKind::RecordingEnds);
}

#[test]
fn a_dive_at_the_duty_limit_is_one() {
    let made = Made::quiet(LOOP, 3.0)
        .from(2.0, |point, gone| {
            point.duty = (0.6 + 0.4 * gone).min(0.95);
            point.adjustment = if point.duty > 0.8 { Adjustment::DUTY } else { Adjustment::NONE };
        })
        .dive(0.5);
    let explanation = explained(&made.series());
    assert_eq!((explanation.verdict.cause, explanation.verdict.certainty), (Cause::DutyLimit, Certainty::Sure));
    assert_eq!(explanation.limits.pushback_duty.by, LimitBy::Seen);
    assert!((explanation.limits.pushback_duty.value - 0.8).abs() < 0.01);
    assert_eq!(
        rules(&explanation),
        [Rule::Adjustment, Rule::DutyLimit, Rule::PitchError, Rule::Footpad, Rule::Stop],
        "{explanation:#?}"
    );
}

#[test]
fn a_dive_at_a_cut_off_request_is_one_of_the_current() {
    let made = Made::quiet(LOOP, 3.0)
        .from(0.8, |point, gone| {
            point.request = (20.0 + 200.0 * gone).min(70.0);
            point.current = point.request;
        })
        .dive(0.5);
    let explanation = explained(&made.series());
    assert_eq!(explanation.verdict.cause, Cause::CurrentLimit, "{explanation:#?}");
    let limit = explanation.limits.max_current.unwrap();
    assert_eq!((limit.value, limit.by), (70.0, LimitBy::Seen));
}

#[test]
fn a_motor_that_gives_less_than_asked_is_one_of_the_current() {
    let made = Made::quiet(LOOP, 3.0)
        .from(0.8, |point, gone| {
            point.request = 20.0 + 100.0 * gone;
            point.current = point.request.min(40.0);
        })
        .dive(0.5);
    let explanation = explained(&made.series());
    assert_eq!(explanation.verdict.cause, Cause::CurrentLimit);
    assert!(rules(&explanation).contains(&Rule::CurrentShort));
}

#[test]
fn a_given_max_current_counts() {
    let made = Made::quiet(LOOP, 3.0)
        .from(0.8, |point, gone| {
            point.request = 20.0 + 100.0 * gone;
            point.current = point.request * 0.9;
        })
        .dive(0.5);
    assert_eq!(cause(&made.series()), Cause::NoseDive);
    let limits = Limits { max_current: Some(40.0), ..Limits::default() };
    let explanation = explain_series(&made.series(), &Options { limits, ..Options::default() });
    assert_eq!(explanation.verdict.cause, Cause::CurrentLimit);
    assert_eq!(explanation.limits.max_current.unwrap().by, LimitBy::Given);
}

#[test]
fn a_battery_that_gives_in_comes_before_the_duty_that_follows() {
    let made = Made::quiet(LOOP, 5.0)
        .from(1.5, |point, gone| {
            point.volts = 76.0 - 14.0 * (gone / 0.8).min(1.0);
            point.current = 50.0;
            point.request = 50.0 + point.pitch;
            point.duty = (0.6 + 0.4 * gone).min(0.95);
        })
        .dive(0.5);
    let explanation = explained(&made.series());
    assert_eq!(explanation.verdict.cause, Cause::VoltageSag, "{explanation:#?}");
    let order: Vec<_> = explanation.ran_out.iter().map(|out| out.what).collect();
    assert_eq!(order.first(), Some(&Resource::Voltage));
    let sag = explanation.lines.iter().find(|line| line.rule == Rule::VoltageSag).unwrap();
    let value = |name| sag.evidence.iter().find(|evidence| evidence.name == name).unwrap().value;
    assert!((0.2..0.5).contains(&value("resistance")), "{sag:#?}");
    assert!((value("drop") - 14.0).abs() < 0.5);
}

#[test]
fn a_given_low_voltage_counts() {
    let made = Made::quiet(LOOP, 3.0).from(1.0, |point, _| point.volts = 72.0).dive(0.5);
    assert_eq!(cause(&made.series()), Cause::NoseDive);
    let limits = Limits { low_voltage: Some(73.0), ..Limits::default() };
    let explanation = explain_series(&made.series(), &Options { limits, ..Options::default() });
    assert_eq!(explanation.verdict.cause, Cause::VoltageSag);
    assert!(rules(&explanation).contains(&Rule::VoltageLow));
}

#[test]
fn a_dive_without_a_visible_reason_says_so() {
    let explanation = explained(&Made::quiet(LOOP, 3.0).dive(0.5).series());
    assert_eq!((explanation.verdict.cause, explanation.verdict.certainty), (Cause::NoseDive, Certainty::Possible));
    assert!(!explanation.verdict.contra.is_empty());
}

#[test]
fn a_dive_after_an_overridden_pushback_names_it() {
    for kind in [Adjustment::ERROR, Adjustment::TEMPERATURE, Adjustment::HIGH_VOLTAGE, Adjustment::SPEED] {
        let made = Made::quiet(LOOP, 4.0).from(2.0, |point, _| point.adjustment = kind).dive(0.5);
        assert_eq!(cause(&made.series()), Cause::PushbackOverridden, "{kind:?}");
    }
    let brief = Made::quiet(LOOP, 4.0).between(0.7, 0.6, |point| point.adjustment = Adjustment::ERROR).dive(0.5);
    assert_eq!(cause(&brief.series()), Cause::NoseDive);
}

#[test]
fn backwards_the_other_end_is_the_nose() {
    let made = Made::quiet(LOOP, 3.0).from(9.0, |point, _| point.erpm = -point.erpm).from(0.5, |point, gone| {
        point.pitch = point.setpoint + 60.0 * gone;
        point.duty = 0.95;
    });
    assert_eq!(cause(&made.series()), Cause::DutyLimit);
}

#[test]
fn a_wheel_that_slipped_first_is_the_cause() {
    let slip = |made: Made, before: f64| made.from(before, |point, _| (point.wheelslip, point.duty) = (true, 0.95));
    assert_eq!(cause(&slip(Made::quiet(LOOP, 3.0), 0.6).dive(0.4).series()), Cause::Wheelslip);
    // A wheel that spins because the board has fallen is none.
    let fallen = slip(Made::quiet(LOOP, 3.0).from(1.0, |point, _| point.duty = 0.95).dive(0.5), 0.2);
    assert_eq!(cause(&fallen.series()), Cause::DutyLimit);
}

#[test]
fn a_slip_that_the_rider_rides_out_is_reported_and_no_cause() {
    let made = Made::quiet(LOOP, 3.0).between(2.0, 1.7, |point| point.wheelslip = true);
    let explanation = explained(&made.series());
    assert_eq!(explanation.verdict.cause, Cause::Nothing);
    assert_eq!(rules(&explanation), [Rule::Wheelslip, Rule::Stop]);
}

#[test]
fn footpads_that_open_at_speed_are_the_cause() {
    let open = |made: Made| made.from(0.25, |point, _| point.footpad = Some(Footpad::None));
    let explanation = explained(&open(Made::quiet(LOOP, 3.0)).series());
    assert_eq!((explanation.verdict.cause, explanation.verdict.certainty), (Cause::FootpadOpened, Certainty::Likely));
    let flickering = Made::quiet(LOOP, 3.0).between(2.0, 1.9, |point| point.footpad = Some(Footpad::None));
    let explanation = explained(&open(flickering).series());
    assert_eq!((explanation.verdict.cause, explanation.verdict.certainty), (Cause::FootpadOpened, Certainty::Sure));
    assert!(rules(&explanation).contains(&Rule::FootpadFlicker));
}

#[test]
fn footpads_that_open_at_a_standstill_are_stepping_off() {
    for pad in [Footpad::None, Footpad::Left, Footpad::Right] {
        let slow = Made::quiet(LOOP, 3.0).from(1.0, |point, gone| {
            (point.erpm, point.duty) = (7000.0 * (1.0 - gone), 0.5 * (1.0 - gone));
            if gone > 0.9 {
                point.footpad = Some(pad);
            }
        });
        let explanation = explained(&slow.series());
        assert_eq!(explanation.verdict.cause, Cause::SteppedOff, "{pad:?}");
        assert!(!explanation.verdict.cause.is_bad());
    }
}

#[test]
fn stepping_off_after_a_pushback_names_it() {
    let made = Made::quiet(LOOP, 4.0)
        .between(3.0, 1.0, |point| (point.adjustment, point.setpoint, point.pitch) = (Adjustment::ERROR, 4.0, 4.2))
        .from(1.0, |point, gone| point.erpm = 7000.0 * (1.0 - gone))
        .from(0.1, |point, _| point.footpad = Some(Footpad::None));
    let explanation = explained(&made.series());
    assert_eq!(explanation.verdict.cause, Cause::PushbackHeeded);
    assert!(explanation.verdict.summary.contains("BMS error"), "{}", explanation.verdict.summary);
}

#[test]
fn a_close_call_is_reported_although_nothing_happened() {
    let made = Made::quiet(LOOP, 4.0).between(2.0, 1.8, |point| point.duty = 0.95);
    let explanation = explained(&made.series());
    assert_eq!(explanation.verdict.cause, Cause::Nothing);
    assert!(explanation.verdict.contra.iter().any(|reason| reason.contains("close")));
}

#[test]
fn a_board_that_runs_on_with_open_footpads_is_reported() {
    let made = Made::quiet(LOOP, 3.0).from(1.0, |point, _| point.footpad = Some(Footpad::None));
    assert_eq!(cause(&made.series()), Cause::Ghosting);
}

#[test]
fn reverse_stop_is_no_accident() {
    let made = Made::quiet(LOOP, 3.0).from(0.6, |point, _| {
        (point.erpm, point.adjustment) = (-400.0, Adjustment::REVERSE_STOP);
    });
    let explanation = explained(&made.series());
    assert_eq!(explanation.verdict.cause, Cause::ReverseStop);
    assert!(explanation.lines.iter().all(|line| line.tone == Tone::Calm), "{explanation:#?}");
}

#[test]
fn a_board_laid_down_is_no_accident() {
    let made = Made::quiet(LOOP, 3.0).from(1.0, |point, gone| {
        point.erpm = 100.0;
        point.pitch = 15.0 * gone;
    });
    assert_eq!(cause(&made.series()), Cause::TippedOver);
}

#[test]
fn a_stop_that_shows_no_reason_is_unknown() {
    let made = Made::quiet(LOOP, 3.0).from(0.1, |point, _| point.running = false);
    let explanation = explained(&made.series());
    assert_eq!((explanation.verdict.cause, explanation.stop.kind), (Cause::Unknown, StopKind::Disengaged));
}

#[test]
fn a_nose_that_rises_is_no_dive() {
    let made = Made::quiet(LOOP, 3.0).from(0.4, |point, gone| point.pitch = 60.0 * gone);
    let explanation = explained(&made.series());
    assert_eq!(explanation.verdict.cause, Cause::Unknown);
    assert!(explanation.verdict.summary.contains("The nose rose"));
}

#[test]
fn a_short_recording_shows_nothing() {
    assert_eq!(cause(&Made::quiet(LOOP, 0.2).dive(0.1).series()), Cause::Unknown);
    assert_eq!(cause(&Made::quiet(10.0, 0.2).series()), Cause::Unknown);
}

#[test]
fn nobody_riding_is_nothing_wrong_and_nothing_recorded_is_unknown() {
    let made = Made::quiet(LOOP, 3.0).from(9.0, |point, _| point.running = false);
    let explanation = explained(&made.series());
    assert_eq!((explanation.verdict.cause, explanation.stop.kind), (Cause::Nothing, StopKind::NeverRunning));
    assert_eq!(cause(&logpose::refloat::Series::default()), Cause::Unknown);
}

#[test]
fn of_several_rides_the_last_one_counts() {
    let dive =
        Made::quiet(100.0, 5.0).from(3.0, |point, _| point.duty = 0.95).between(3.0, 2.5, |point| point.pitch = -20.0);
    let made = dive
        .between(2.4, 1.5, |point| point.running = false)
        .from(1.5, |point, _| (point.duty, point.pitch) = (0.3, 0.5));
    let explanation = explained(&made.series());
    assert_eq!(explanation.verdict.cause, Cause::Nothing, "{explanation:#?}");
    assert!(explanation.seen.span_ns < 1_600_000_000);
}

#[test]
fn values_that_are_not_numbers_are_left_out_and_reported() {
    let made = Made::quiet(LOOP, 3.0).between(1.0, 0.9, |point| {
        (point.pitch, point.volts, point.duty, point.request) = (131_008.0, -131_008.0, f64::NAN, f64::INFINITY);
    });
    let explanation = explained(&made.series());
    assert_eq!(explanation.verdict.cause, Cause::Nothing, "{explanation:#?}");
    assert_eq!(rules(&explanation), [Rule::NoNumber, Rule::Stop]);
}

#[test]
fn a_gap_is_reported() {
    let mut made = Made::quiet(LOOP, 3.0);
    made.points.retain(|point| !(1.0..1.2).contains(&point.before));
    let explanation = explained(&made.series());
    assert_eq!(rules(&explanation), [Rule::Gap, Rule::Stop]);
    assert!(explanation.lines.first().unwrap().text.contains("0.20 s"), "{explanation:#?}");
}

#[test]
fn a_high_duty_without_pushback_is_reported_with_its_headroom() {
    let made = Made::quiet(LOOP, 3.0).between(2.0, 1.0, |point| point.duty = 0.85);
    let explanation = explained(&made.series());
    assert_eq!(rules(&explanation), [Rule::DutyHigh, Rule::Stop]);
    let headroom = explanation.lines.first().unwrap().evidence.iter().find(|e| e.name == "headroom").unwrap();
    assert!((headroom.value - 0.1).abs() < 1e-9);
}

#[test]
fn given_limits_move_the_lines() {
    let made = Made::quiet(LOOP, 3.0).between(2.0, 1.0, |point| point.duty = 0.85);
    let with = |limits: Limits| explain_series(&made.series(), &Options { limits, ..Options::default() });
    let lower = with(Limits { max_duty: Some(0.86), ..Limits::default() });
    assert_eq!(rules(&lower), [Rule::DutyLimit, Rule::Stop]);
    let higher = with(Limits { pushback_duty: Some(0.9), ..Limits::default() });
    assert_eq!(rules(&higher), [Rule::Stop]);
}

#[test]
fn only_the_seconds_asked_for_are_reported() {
    let made = Made::quiet(LOOP, 5.0).between(4.0, 3.8, |point| point.wheelslip = true);
    assert_eq!(rules(&explained(&made.series())), [Rule::Wheelslip, Rule::Stop]);
    let options = Options { seconds: 2.0, ..Options::default() };
    assert_eq!(rules(&explain_series(&made.series(), &options)), [Rule::Stop]);
}

#[test]
fn footpads_that_never_rest_do_not_fill_the_screen() {
    let mut made = Made::quiet(LOOP, 3.0);
    for (place, point) in made.points.iter_mut().enumerate() {
        point.footpad = Some(if place % 2 == 0 { Footpad::Both } else { Footpad::None });
    }
    let explanation = explained(&made.series());
    assert!(explanation.lines.len() < 12, "{}", explanation.lines.len());
}
