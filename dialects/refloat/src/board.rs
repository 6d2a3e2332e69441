//! An emulated board.

mod control;
mod plan;
mod random;
mod ride;
mod scenario;
mod snapshot;
mod version;
mod world;

pub use scenario::{Cause, Moment, Scenario, Truth, UnknownScenario, What};
pub use version::{BoardVersion, UnknownVersion};

#[cfg(test)]
mod scratch {
    use super::*;
    #[test]
    fn dump() {
        let only = std::env::var("SC").ok();
        for scenario in Scenario::ALL {
            if only.as_deref().is_some_and(|o| o != scenario.name()) { continue; }
            for version in [BoardVersion::V1_2] {
                let mut ride = ride::Ride::new(scenario, version, 1);
                let mut n = 0;
                println!("== {scenario} {version}");
                while !ride.is_over() && n < 40000 {
                    ride.step(1.0 / 720.0);
                    n += 1;
                    let t = n as f32 / 720.0;
                    let s = *ride.snapshot();
                    for what in ride.happened() { println!("{t:.3} {what:?}  v {:.1} duty {:.2} V {:.1} pitch {:.1} sp {:.1} i {:.1} ask {:.1}", s.speed, s.duty, s.batt_voltage, s.pitch, s.setpoint, s.dir_current, s.balance_current); }
                    if only.is_some() && n % 72 == 0 { println!("{t:.3}  v {:.1} duty {:.2} V {:.1} ib {:.1} pitch {:.1} sp {:.1} i {:.1} ask {:.1} atr {:.1} tt {:.1} diff {:.2} fet {:.2}", s.speed, s.duty, s.batt_voltage, s.batt_current, s.pitch, s.setpoint, s.dir_current, s.balance_current, s.atr, s.torque_tilt, s.accel_diff, s.mosfet_temp); }
                }
            }
        }
    }
}
