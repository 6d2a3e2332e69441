//! Byte layout of what the package and its client say to each other: the data behind VESC's command 36, both ways. Pure
//! functions of bytes: parsing borrows where it can, `emit` appends, and every message has a one-line text.

mod alerts;
mod compact;
mod error;
mod flags;
mod info;
mod live;
mod print;
mod recording;
mod reply;
mod request;
mod show;
mod status;
mod strings;
mod version;

pub use alerts::{AlertRecord, AlertRecords, Alerts};
pub(crate) use compact::tenths;
pub use compact::{Compact, CompactCharging, CompactRide, CompactTotals, CompactValues};
pub use error::{WireError, WireErrorKind};
pub use flags::{Adjustment, Flags, Footpad, StateFlags};
pub use info::{Info, InfoV1, InfoV2, capability};
pub use live::{ActiveAlerts, Charging, FieldValue, Live, LiveIds, LiveMask, put_float32};
pub use print::{PackageError, Print};
pub use recording::{Data, Header, Sample, Samples};
pub use reply::Reply;
pub use request::{Control, Request};
pub use status::Status;
pub use strings::{Ids, put_ids};
pub use version::{BadVersion, Version};

/// The package: the first byte of every message, both ways.
pub const PACKAGE: u8 = 0x65;
/// The longest message that the package sends: with VESC's command in front the longest payload.
pub const MAX_APP: usize = 511;
/// Ticks a second, where the board does not say otherwise.
pub const TICK_RATE: u32 = 10_000;

/// What the second byte of a message says.
pub mod id {
    /// Name, version and abilities.
    pub const INFO: u8 = 0;
    /// Live values in the form that every version has.
    pub const REALTIME: u8 = 10;
    /// Live values in the order of the ids.
    pub const LIVE: u8 = 31;
    /// The ids of the live values.
    pub const LIVE_IDS: u8 = 32;
    /// Live values chosen by bits.
    pub const LIVE_MASK: u8 = 33;
    /// Alerts.
    pub const ALERTS: u8 = 35;
    /// Clears the fatal error; has no reply.
    pub const CLEAR_FATAL: u8 = 36;
    /// The recorder: all requests, and the reply with its status.
    pub const DATA_RECORD: u8 = 41;
    /// The reply with the header of the recording.
    pub const HEADER: u8 = 42;
    /// The reply with samples of the recording.
    pub const DATA: u8 = 43;
}
