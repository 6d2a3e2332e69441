//! What the library promises, on logs made here, on the demo, and on the corpus where there is one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "the helpers of tests may panic like the tests themselves"
)]

mod align;
mod bad_input;
mod carla;
mod convert;
mod corpus;
mod detection;
mod dialects;
mod diff;
mod doctor;
mod dslog;
mod errors;
mod explain;
mod find;
mod follow;
mod frc;
mod link;
#[cfg(target_os = "linux")]
mod memory;
mod numbers;
mod order;
mod output;
mod refloat;
mod rides;
mod seam;
mod select;
mod show;
mod sidecar;
mod stats;
mod stream;
mod support;
mod timeline;
// The dialect of docs/adding-a-dialect.md. `make package` builds it as its users would, outside the workspace.
#[path = "../../../../tests/toy-dialect/src/lib.rs"]
#[expect(unreachable_pub, reason = "its users see it where it is a crate")]
mod toy_dialect;
mod verify;
mod watcher;
mod wrappers;
