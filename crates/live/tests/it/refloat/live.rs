use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use logpose_live::recorder::{RecordOptions, Recorder};
use logpose_live::refloat::session::{Job, LiveOptions};
use logpose_live::refloat::wire::Control;
use logpose_live::{Join, Live, OutputThread, Source};
use logpose_sim::board::{BoardVersion, LineOptions};

use super::{Board, places};
use crate::source::open;

/// Records until there is enough.
fn record(board: &Board, path: &Path) {
    let live = Live::new().unwrap();
    let options = RecordOptions { keep_free: 0, ..RecordOptions::default() };
    let recorder = Recorder::create(path, options).unwrap();
    let file = OutputThread::start("recorder", Box::new(recorder), live.clock()).unwrap();
    let source = Source::new(&board.address(), "test").unwrap();
    let start = Instant::now();
    live.listen(vec![source], Join::single(), &[&file], &mut |progress| {
        assert!(start.elapsed() < Duration::from_secs(30), "{progress:?}");
        if progress.sources[0].samples >= 200 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    file.finish().unwrap();
}

#[test]
fn live_values_are_recorded_as_those_of_any_other_source() {
    let dir = tempfile::tempdir().unwrap();
    for (place, version, name) in places()
        .into_iter()
        .zip([BoardVersion::V1_3, BoardVersion::V1_1, BoardVersion::V1_2])
        .flat_map(|(place, version)| [(place.clone(), version, "a.wpilog"), (place, version, "a.mcap")])
    {
        let board = Board::start(place, version, 60, LineOptions::default());
        let path = dir.path().join(name);
        record(&board, &path);
        let log = open(&path);
        let names: Vec<&str> = log.index.channels.iter().map(|one| &*one.channel.name).collect();
        for wanted in ["pitch", "footpad", "state"] {
            let is_there = names.iter().any(|name| name.starts_with("/refloat/") && name.ends_with(wanted));
            assert!(is_there, "{wanted} is missing in {name}: {names:?}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_board_is_controlled_while_it_is_watched() {
    for place in places() {
        let board = Board::start(place, BoardVersion::V1_3, 61, LineOptions::default());
        let live = Live::new().unwrap();
        let (source, handle) = board.link().into_source(live.clock(), LiveOptions::default());
        let start = Instant::now();
        let mut commanded = false;
        live.listen(vec![source], Join::single(), &[], &mut |_| {
            let view = handle.view();
            assert!(start.elapsed() < Duration::from_secs(30), "{view:?}");
            while handle.poll_event().is_some() {}
            if !commanded && view.live_replies > 3 {
                handle.command(Job::Control(Control::Autostop(false))).unwrap();
                commanded = true;
            }
            match commanded && view.recorder.autostop == Some(false) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        assert_eq!(board.link().status(&mut super::on).unwrap().recorder.autostop, Some(false));
    }
}
