use std::ops::ControlFlow;
use std::sync::mpsc;

use logpose::core::{Lookup, Time};
use logpose::find::{FindOptions, Query};
use logpose::{Log, OpenOptions, Quiet};
use logpose_demo::DemoOptions;
use logpose_live::ExpressionTrigger;
use logpose_live::Trigger;
use logpose_live::player::{PlayOptions, Player};

/// A log that is played strikes where `find` finds the start of an interval.
#[test]
fn a_played_log_strikes_where_intervals_begin() {
    let dir = tempfile::tempdir().unwrap();
    let files = logpose_demo::demo(dir.path(), &DemoOptions { teleop_s: 20, force: false }).unwrap();
    let logs = [Log::open_with(&files[0], &OpenOptions::default(), &Quiet).unwrap()];
    for text in ["BatteryVoltage < 11.5", "mode = 'teleop'", "changed(Shooter/State) and enabled"] {
        let mut starts: Vec<Time> = Vec::new();
        let query = Query::parse(text).unwrap();
        query.find(&logs[0], &Lookup::default(), &FindOptions::default(), &mut |i| starts.push(i.start)).unwrap();
        let mut trigger = ExpressionTrigger::parse(text).unwrap();
        let mut struck = Vec::new();
        let mut player = Player::new(&logs, Vec::new(), PlayOptions { rate: 0.0, ..PlayOptions::default() }).unwrap();
        player.run(mpsc::channel().1, &mut |batch| {
            struck.extend(trigger.take(&batch));
            ControlFlow::Continue(())
        });
        assert!(!starts.is_empty() && struck == starts, "{text}: {struck:?} {starts:?}");
        assert_eq!(trigger.doubt(), None, "{text}");
    }
}

#[test]
fn an_expression_that_makes_no_sense_is_refused_at_once() {
    assert!(ExpressionTrigger::parse("BatteryVoltage <").is_err());
    assert!(ExpressionTrigger::parse("mode = 'flying'").is_err());
    let trigger = ExpressionTrigger::parse("BatteryVoltage < 8 and enabled").unwrap();
    assert_eq!(trigger.doubt().unwrap(), r#"no channel matched "BatteryVoltage" or "enabled""#);
}
