//! Emulated boards over real links, and what is fetched from them.

mod faults;
mod fetch;
mod killed;
mod live;

use std::net::Ipv4Addr;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use logpose_live::refloat::rfrec::Recording;
use logpose_live::refloat::session::ClientOptions;
use logpose_live::refloat::{
    BoardHandle, BoardLink, BoardPlace, BoardRunner, FetchError, FetchOptions, Fetched, LinkOptions, LinkView,
};
use logpose_live::{Address, Join, Live};
use logpose_sim::board::{BoardOptions, BoardSession, BoardVersion, LineOptions, Recorded, Scenario, simulate};

/// A board that runs until it is dropped.
struct Board {
    handle: BoardHandle<BoardSession>,
    /// What it has recorded.
    recorded: Recorded,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn tcp() -> BoardPlace {
    BoardPlace::Tcp((Ipv4Addr::LOCALHOST, 0).into())
}

fn udp() -> BoardPlace {
    BoardPlace::Udp((Ipv4Addr::LOCALHOST, 0).into())
}

fn terminal() -> BoardPlace {
    BoardPlace::Terminal { link: None }
}

/// All ways to reach a board on this system.
fn places() -> Vec<BoardPlace> {
    if cfg!(unix) { vec![tcp(), udp(), terminal()] } else { vec![tcp(), udp()] }
}

impl Board {
    fn start(place: BoardPlace, version: BoardVersion, seed: u64, line: LineOptions) -> Self {
        let recorded = simulate(Scenario::Ride, version, seed);
        Self::with(place, version, recorded, line)
    }

    fn with(place: BoardPlace, version: BoardVersion, recorded: Recorded, line: LineOptions) -> Self {
        let live = Live::new().unwrap();
        let options = BoardOptions { version, recording: Some(recorded.clone()), ..BoardOptions::default() };
        let runner = BoardRunner::new(&live, place, BoardSession::new(options, line)).unwrap();
        let handle = runner.handle();
        let stop: Arc<AtomicBool> = Arc::default();
        let theirs = Arc::clone(&stop);
        let thread =
            thread::spawn(move || {
                live.listen(vec![runner.into_source()], Join::single(), &[], &mut |_| match theirs
                    .load(Ordering::Relaxed)
                {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                });
            });
        Self { handle, recorded, stop, thread: Some(thread) }
    }

    fn address(&self) -> Address {
        Address::parse(&self.handle.address()).unwrap()
    }

    fn link(&self) -> BoardLink {
        link(&self.address())
    }

    fn fetch(&self, path: &Path) -> Result<Fetched, FetchError> {
        self.link().fetch(path, &FetchOptions::default(), &mut on)
    }

    /// The file is whole, and has what the board has.
    fn check(&self, path: &Path) {
        let bytes = std::fs::read(path).unwrap();
        let recording = Recording::read(&bytes).unwrap();
        assert!(recording.complete, "{:?}", recording.missing());
        assert_eq!(recording.held(), recording.size());
        let samples: Vec<u8> = recording.samples().flat_map(|(_, sample)| sample.iter().copied()).collect();
        assert!(samples == self.recorded.samples, "the samples are others");
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One that is asked patiently, for machines that do much else.
fn link(address: &Address) -> BoardLink {
    let client = ClientOptions { tries: 20, ..ClientOptions::default() };
    let options = LinkOptions { client, patience: Duration::from_secs(30), ..LinkOptions::default() };
    BoardLink::new(address, options).unwrap()
}

fn on(_: &LinkView) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
