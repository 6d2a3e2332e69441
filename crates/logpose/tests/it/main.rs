//! What the library promises, on logs made here, on the demo, and on the corpus where there is one.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

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
