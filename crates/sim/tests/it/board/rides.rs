//! The simulated rides: what is true of them, and whether they could have happened.

use logpose_refloat::float16;
use logpose_refloat::wire::{Adjustment, Flags, Footpad};
use logpose_sim::board::{BoardVersion, Cause, Recorded, Scenario, Truth, What, simulate};

use super::{VERSIONS, ticks};

/// The values with this id, old or new.
fn column(recorded: &Recorded, id: &str) -> Vec<f32> {
    let at = recorded.ids().position(|other| other.trim_start_matches("motor.").trim_start_matches("imu.") == id);
    let at = 5 + 2 * at.unwrap_or_else(|| panic!("no {id}"));
    let samples = recorded.samples.chunks(recorded.sample_len());
    samples.map(|sample| float16::decode(u16::from_be_bytes([sample[at], sample[at + 1]]))).collect()
}

fn flags(recorded: &Recorded) -> Vec<Flags> {
    recorded.samples.chunks(recorded.sample_len()).map(|sample| Flags(sample[4])).collect()
}

fn truth(recorded: &Recorded) -> &Truth {
    recorded.truth.as_ref().unwrap()
}

/// That this happened, in this order, each at or after the one before.
fn check_order(recorded: &Recorded, order: &[What]) {
    let truth = truth(recorded);
    let mut rest = truth.moments.iter();
    for what in order {
        assert!(rest.any(|moment| moment.what == *what), "{what:?} is missing in {:#?}", truth.moments);
    }
}

fn pushed(kind: Adjustment) -> What {
    What::Adjustment(kind)
}

/// Rides of each kind. More were looked at once: all of 200 seeds go as they should.
const SEEDS: u64 = 2;
const PITCH: u8 = 1;
const SWITCH_HALF: u8 = 3;
const SWITCH_FULL: u8 = 4;

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for scenario in Scenario::ALL {
        let first = simulate(scenario, BoardVersion::V1_3, 7);
        assert!(first == simulate(scenario, BoardVersion::V1_3, 7), "{scenario}");
        if scenario != Scenario::Empty {
            assert!(first.samples != simulate(scenario, BoardVersion::V1_3, 8).samples, "{scenario}");
        }
    }
}

#[test]
fn names_are_read_back() {
    for scenario in Scenario::ALL {
        assert_eq!(scenario.name().parse(), Ok(scenario));
    }
    for version in BoardVersion::ALL {
        assert_eq!(version.name().parse(), Ok(version));
    }
    let error = "crash".parse::<Scenario>().unwrap_err().to_string();
    assert!(error.starts_with("unknown scenario \"crash\", expected one of ride, nosedive, empty, "), "{error}");
    assert!("1.4".parse::<BoardVersion>().is_err());
}

#[test]
fn every_scenario_goes_as_it_says_for_many_seeds() {
    for seed in 0..SEEDS {
        for version in VERSIONS {
            for scenario in Scenario::ALL {
                check(scenario, version, seed);
            }
        }
    }
}

fn check(scenario: Scenario, version: BoardVersion, seed: u64) {
    let recorded = simulate(scenario, version, seed);
    let old = version == BoardVersion::V1_1;
    let falls = [What::NoseDown, What::Stopped(PITCH)];
    let (cause, stop, order): (Cause, u8, Vec<What>) = match scenario {
        Scenario::Empty => {
            assert!(recorded.is_empty() && truth(&recorded).moments.is_empty());
            return;
        }
        Scenario::Ride => (Cause::Nothing, SWITCH_HALF, vec![What::Engaged, pushed(Adjustment::NONE)]),
        Scenario::Nosedive => {
            let order = [pushed(Adjustment::DUTY), What::DutyLimit].into_iter().chain(falls);
            (Cause::Duty, PITCH, order.collect())
        }
        Scenario::LowVoltage => {
            let order = [pushed(Adjustment::LOW_VOLTAGE), What::DutyLimit].into_iter().chain(falls);
            (Cause::LowVoltage, PITCH, order.collect())
        }
        Scenario::HighVoltage => (Cause::HighVoltage, SWITCH_HALF, vec![pushed(Adjustment::HIGH_VOLTAGE)]),
        Scenario::Footpad => (Cause::Footpad, SWITCH_FULL, vec![What::Pads(Footpad::None)]),
        Scenario::Wheelslip => {
            let order = [What::Wheelslip(true), What::DutyLimit].into_iter().chain(falls);
            (Cause::Wheelslip, PITCH, order.collect())
        }
        Scenario::BmsError if old => (Cause::Nothing, SWITCH_HALF, vec![]),
        Scenario::BmsError => (Cause::Error, SWITCH_HALF, vec![pushed(Adjustment::ERROR)]),
        Scenario::Temperature => (Cause::Temperature, SWITCH_HALF, vec![pushed(Adjustment::TEMPERATURE)]),
        Scenario::Overcurrent => (Cause::Current, PITCH, [What::CurrentLimit].into_iter().chain(falls).collect()),
        Scenario::Speed if old => (Cause::Nothing, SWITCH_HALF, vec![]),
        Scenario::Speed => (Cause::Speed, SWITCH_HALF, vec![pushed(Adjustment::SPEED)]),
    };
    let name = format!("{scenario} {version} seed {seed}");
    let ride = truth(&recorded);
    assert_eq!((ride.cause, ride.stop), (cause, stop), "{name}");
    check_order(&recorded, &order);
    check_order(&recorded, &[What::Engaged, What::Stopped(stop)]);
    if cause == Cause::Nothing {
        let pushbacks =
            ride.moments.iter().filter(|moment| matches!(moment.what, What::Adjustment(kind) if kind.0 > 1));
        assert_eq!(pushbacks.count(), 0, "{name}");
    }
    if stop != PITCH {
        assert_eq!(ride.first(What::NoseDown), None, "{name}");
    }
    check_plausible(&recorded, &name);
}

fn check_plausible(recorded: &Recorded, name: &str) {
    let duty = column(recorded, "duty_cycle");
    assert!(duty.iter().all(|duty| (0.0..=0.951).contains(duty)), "{name}");
    let volts = column(recorded, "batt_voltage");
    assert!(volts.iter().all(|volts| (48.0..87.0).contains(volts)), "{name}");
    let amps = column(recorded, "dir_current");
    assert!(amps.iter().all(|amps| amps.abs() < 62.0), "{name}");
    let asked = column(recorded, "balance_current");
    assert!(asked.iter().all(|amps| amps.abs() <= 60.1), "{name}");
    let pitch = column(recorded, "pitch");
    assert!(pitch.iter().all(|pitch| (-62.0..25.0).contains(pitch)), "{name}");
    // No faster than 55 km/h, and never much backwards.
    let erpm = column(recorded, "erpm");
    assert!(erpm.iter().all(|erpm| (-400.0..15_700.0).contains(erpm)), "{name}");
    let ticks = ticks(recorded);
    for window in erpm.windows(2).zip(ticks.windows(2)) {
        let (erpm, ticks) = window;
        let (step, time) = (erpm[1] - erpm[0], (ticks[1] - ticks[0]) as f32 / 10_000.0);
        // A free wheel gains 40 000 a second at most; the resolution is 8, and more than one sample may repeat.
        assert!(step.abs() < 45_000.0 * (time + 0.002) + 20.0, "{name}: {step} in {time} s");
    }
    assert!(flags(recorded).iter().all(|flags| flags.running()), "{name}");
}

#[test]
fn the_battery_sags_with_its_current() {
    for version in VERSIONS {
        let recorded = simulate(Scenario::Nosedive, version, 1);
        let (volts, duty) = (column(&recorded, "batt_voltage"), column(&recorded, "duty_cycle"));
        let amps = column(&recorded, "dir_current");
        // The current of the battery is that of the motor times the duty cycle, but for a constant.
        let drawn: Vec<f32> = amps.iter().zip(&duty).map(|(amps, duty)| 0.866 * amps * duty).collect();
        let (slope, offset) = fit(&drawn, &volts);
        assert!((-0.26..-0.14).contains(&slope), "{version}: {slope} Ohm");
        assert!((74.0..79.0).contains(&offset), "{version}: {offset} V");
        let worst = drawn.iter().zip(&volts).map(|(x, y)| (offset + slope * x - y).abs()).fold(0.0, f32::max);
        assert!(worst < 2.5, "{version}: {worst} V off the line");
    }
}

/// The straight line through points: slope and offset.
fn fit(x: &[f32], y: &[f32]) -> (f32, f32) {
    let n = x.len() as f32;
    let (mx, my) = (x.iter().sum::<f32>() / n, y.iter().sum::<f32>() / n);
    let covariance: f32 = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let slope = covariance / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f32>();
    (slope, my - slope * mx)
}

#[test]
fn the_duty_cycle_follows_speed_and_voltage() {
    let recorded = simulate(Scenario::Ride, BoardVersion::V1_3, 1);
    let (erpm, volts) = (column(&recorded, "erpm"), column(&recorded, "batt_voltage"));
    let duty = column(&recorded, "duty_cycle");
    for ((erpm, volts), duty) in erpm.iter().zip(volts).zip(duty).filter(|((erpm, _), _)| **erpm > 2_000.0) {
        let emf = 0.028 * erpm * std::f32::consts::TAU / 60.0;
        let without_load = emf * 3_f32.sqrt() / volts;
        assert!((duty - without_load).abs() < 0.09, "{duty} at {erpm}");
    }
}

#[test]
fn samples_come_at_the_rates_of_real_boards() {
    for (version, low, high) in
        [(BoardVersion::V1_1, 700.0, 750.0), (BoardVersion::V1_2, 700.0, 750.0), (BoardVersion::V1_3, 830.0, 833.0)]
    {
        let recorded = simulate(Scenario::Ride, version, 1);
        let ticks = ticks(&recorded);
        let seconds = f64::from(ticks[ticks.len() - 1] - ticks[0]) / 10_000.0;
        let decimation = if version == BoardVersion::V1_3 { 5.0 } else { 1.0 };
        let rate = (ticks.len() - 1) as f64 * decimation / seconds;
        assert!((low..high).contains(&rate), "{version}: {rate}");
        let steps: std::collections::BTreeSet<u32> = ticks.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.len() > 1, "{version}: the loop jitters");
    }
}

#[test]
fn in_1_3_motor_and_setpoint_repeat_between_their_cycles() {
    use logpose_core::Time;
    use logpose_sim::board::{Board, BoardOptions};

    let mut board = Board::new(BoardOptions { ridden: false, ..BoardOptions::default() });
    let mut replies = Vec::new();
    board.handle(Time::ZERO, &[0x24, 0x65, 0x29, 1, 4, 1], &mut replies);
    board.advance(Time::from_millis(4_000));
    let recorded = board.recorded();
    let amps = column(&recorded, "dir_current");
    let same = amps.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64 / amps.len() as f64;
    // 500 of 831 are new.
    assert!((0.35..0.45).contains(&same), "{same}");
    let pitch = column(&recorded, "pitch");
    let same = pitch.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64 / pitch.len() as f64;
    assert!(same < 0.2, "{same}");
}

#[test]
fn a_nosedive_is_in_its_recording() {
    for version in VERSIONS {
        let recorded = simulate(Scenario::Nosedive, version, 1);
        let flags = flags(&recorded);
        let ticks = ticks(&recorded);
        let first = |wanted: &dyn Fn(&Flags) -> bool| ticks[flags.iter().position(wanted).unwrap()];
        let truth = truth(&recorded);
        let duty = truth.first(What::Adjustment(Adjustment::DUTY)).unwrap();
        assert!(first(&|flags| flags.adjustment() == Adjustment::DUTY).abs_diff(duty) < 100);
        let open = truth.first(What::Pads(Footpad::None)).unwrap();
        assert!(first(&|flags| flags.footpad() == Footpad::None).abs_diff(open) < 100);
        let stopped = truth.first(What::Stopped(PITCH)).unwrap();
        assert!(stopped.abs_diff(ticks[ticks.len() - 1]) < 100);
        // The whole story is there, also in the shortest buffer.
        assert!(stopped - duty < 25_000 && duty > ticks[0]);
        let (asked, amps) = (column(&recorded, "balance_current"), column(&recorded, "dir_current"));
        let starved = asked.iter().zip(&amps).filter(|(asked, amps)| **asked - **amps > 10.0).count();
        assert!(starved > 20, "{starved}");
        let (pitch, setpoint) = (column(&recorded, "pitch"), column(&recorded, "setpoint"));
        assert!(setpoint.iter().copied().fold(0.0, f32::max) > 5.0);
        assert!(pitch[pitch.len() - 1] < -55.0);
    }
}

#[test]
fn pushbacks_begin_within_the_shortest_recording() {
    for (scenario, kind) in [
        (Scenario::Nosedive, Adjustment::DUTY),
        (Scenario::LowVoltage, Adjustment::LOW_VOLTAGE),
        (Scenario::BmsError, Adjustment::ERROR),
        (Scenario::Temperature, Adjustment::TEMPERATURE),
        (Scenario::Speed, Adjustment::SPEED),
    ] {
        for seed in 0..SEEDS {
            let recorded = simulate(scenario, BoardVersion::V1_2, seed);
            let flags = flags(&recorded);
            assert_ne!(flags[0].adjustment(), kind, "{scenario} {seed}");
            assert!(flags.iter().any(|flags| flags.adjustment() == kind), "{scenario} {seed}");
        }
    }
}
