//! A program that fetches is killed, and the next one goes on with its file.
//!
//! The program is this test binary itself, run again with [`FETCH_TO`] set.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};

use logpose_live::Address;
use logpose_live::refloat::FetchOptions;
use logpose_sim::board::{BoardVersion, LineOptions};
use logpose_testkit::until_so;

use super::{Board, link, places};

/// Where the program to be killed fetches to.
const FETCH_TO: &str = "LOGPOSE_TEST_FETCH_TO";
/// Where its board is.
const FROM: &str = "LOGPOSE_TEST_FETCH_FROM";

/// Not a test of its own: it is what the other kills, and does nothing without a path to fetch to.
#[test]
fn a_program_that_is_killed() {
    let (Some(path), Ok(from)) = (std::env::var_os(FETCH_TO), std::env::var(FROM)) else { return };
    let link = link(&Address::parse(&from).unwrap());
    let _ = link.fetch(Path::new(&path), &FetchOptions::default(), &mut |_| ControlFlow::Continue(()));
}

#[test]
fn the_next_one_goes_on_where_one_was_killed() {
    let dir = tempfile::tempdir().unwrap();
    for (seed, place) in (50..).zip(places()) {
        let path = dir.path().join(format!("{seed}.rfrec"));
        let board = Board::start(
            place,
            BoardVersion::V1_2,
            seed,
            LineOptions { baud: Some(460_800), ..LineOptions::default() },
        );
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "refloat::killed::a_program_that_is_killed", "--nocapture"])
            .envs([(FETCH_TO, path.as_os_str()), (FROM, board.handle.address().as_ref())])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        until_so("something is fetched", || std::fs::metadata(&path).map_or(0, |file| file.len()) >= 10_000);
        child.kill().unwrap();
        child.wait().unwrap();
        let fetched = board.fetch(&path).unwrap();
        assert!(fetched.before >= 300 && fetched.before < fetched.samples, "{fetched:?}");
        board.check(&path);
    }
}
