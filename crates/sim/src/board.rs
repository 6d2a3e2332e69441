//! An emulated board: what a real one answers, byte for byte, while somebody rides it. Sans-IO, and the same for the same
//! seed.

mod control;
mod line;
mod machine;
mod passes;
mod plan;
mod random;
mod recorded;
mod recorder;
mod requests;
mod ride;
mod scenario;
mod session;
mod snapshot;
mod values;
mod version;
mod world;

pub use line::{Line, LineOptions, LineTally};
pub use machine::{Board, BoardOptions, BoardView};
pub use recorded::{Recorded, simulate};
pub use scenario::{Cause, Moment, Scenario, Truth, UnknownScenario, What};
pub use session::BoardSession;
pub use version::{BoardVersion, UnknownVersion};
