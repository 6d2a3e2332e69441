//! What a client does with a board on a good line.

use logpose_refloat::board::{BoardOptions, LineOptions};
use logpose_refloat::session::{ClientOptions, Event, Job};

use crate::client_world::{VERSIONS, World, fetch, is_download_of, recorded, serving};

#[test]
fn a_recording_comes_byte_for_byte_from_every_version() {
    for version in VERSIONS {
        let board = BoardOptions { version, ..BoardOptions::default() };
        let mut world = World::new(ClientOptions::default(), board, LineOptions::default());
        let recorded = world.board.board().recorded();
        assert!(recorded.len() > 1000);
        let events = world.run(Job::Fetch(fetch()));
        is_download_of(&events, &recorded);
        assert!(events.contains(&Event::Protected) && events.contains(&Event::Restored), "{version}");
        println!("{version}: {} ms, {:?}", world.at_ms(), world.client.view().fetch);
    }
}

#[test]
fn every_size_comes_whole() {
    for version in VERSIONS {
        for size in [0, 1, 2, 7, 8, 15, 16, 17, 19, 20, 21, 24, 39, 40, 41, 160, 168, 200, 321] {
            let mut world = World::new(ClientOptions::default(), serving(version, size), LineOptions::default());
            let events = world.run(Job::Fetch(fetch()));
            is_download_of(&events, &recorded(version, size));
        }
    }
}
