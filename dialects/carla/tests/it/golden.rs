//! Every file in `fixtures/carla/valid` equals its dump.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use logpose_carla::Carla;
use logpose_core::{Confidence, Dialect, Problems, ReadOptions, Severity};

use crate::fixtures::{bless, folder, logs_in};

fn dump(log: &[u8]) -> String {
    let mut text = String::new();
    let end = Carla.records(log, &ReadOptions::default(), 0, &mut |line| {
        writeln!(text, "{:#06x} {:4} {}", line.at, line.length, line.text).unwrap();
        ControlFlow::Continue(())
    });
    if let Err(error) = end {
        writeln!(text, "{error}").unwrap();
    }
    text
}

#[test]
fn every_valid_file_equals_its_dump() {
    for (name, log) in logs_in("valid") {
        let path = folder().join("valid").join(&name).with_extension("txt");
        let found = dump(&log);
        if bless() {
            std::fs::write(&path, &found).unwrap();
        }
        assert_eq!(found, std::fs::read_to_string(&path).unwrap(), "{name}");
        assert_eq!(Carla.sniff(&log), Confidence::Yes, "{name}");
        let mut problems = Problems::default();
        Carla.index(&log, &ReadOptions::default(), &mut problems).unwrap();
        assert_ne!(problems.worst(), Some(Severity::Damage), "{name}: {problems:?}");
    }
}
