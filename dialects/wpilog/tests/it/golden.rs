use std::fmt::Write as _;
use std::ops::ControlFlow;

use logpose_core::{Dialect, ReadOptions};
use logpose_wpilog::Wpilog;

use crate::support::{bless, fixtures, logs_in};

#[test]
fn every_valid_log_equals_its_dump() {
    for (name, log) in logs_in("valid") {
        let mut dump = String::new();
        let mut line = |line: logpose_core::RecordLine<'_>| {
            writeln!(dump, "{} {} {}", line.at, line.length, line.text).expect("a string takes all");
            ControlFlow::Continue(())
        };
        Wpilog.records(&log, &ReadOptions::default(), 0, &mut line).expect(&name);
        let path = fixtures().join("valid").join(&name).with_extension("txt");
        if bless() {
            std::fs::write(&path, &dump).expect(&name);
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(dump == expected, "{name} reads as\n{dump}\nand its dump says\n{expected}\nLOGPOSE_BLESS=1 accepts");
    }
}

#[test]
fn a_dump_can_begin_and_end_anywhere() {
    for (name, log) in logs_in("valid") {
        let mut lines = Vec::new();
        let all = Wpilog.records(&log, &ReadOptions::default(), 0, &mut |line| {
            lines.push((line.at, line.length, line.text.to_string()));
            ControlFlow::Continue(())
        });
        all.expect(&name);
        for (i, (at, ..)) in lines.iter().enumerate() {
            let mut from_here = Vec::new();
            let some = Wpilog.records(&log, &ReadOptions::default(), *at, &mut |line| {
                from_here.push((line.at, line.length, line.text.to_string()));
                if from_here.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            some.expect(&name);
            let until = lines.len().min(i + 3);
            assert_eq!(from_here, lines[i..until], "{name} from byte {at}");
        }
    }
}
