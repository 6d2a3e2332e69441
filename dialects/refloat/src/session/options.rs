use std::time::Duration;

use logpose_core::Limits;

/// The settings of a client.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The CAN node that Refloat runs on; without it the client finds out.
    pub can: Option<u8>,
    /// How many requests for samples may be on their way at once; 8 if it is not said, and 1 through CAN.
    pub window: Option<usize>,
    /// The longest time to wait for a reply before it is asked for again.
    pub timeout: Duration,
    /// The shortest one: in between it follows the round trips that were measured.
    pub least_timeout: Duration,
    /// How often a request is sent at least before it is given up.
    pub tries: u32,
    /// How long a board that has answered before may be silent at least before it is given up.
    pub patience: Duration,
    /// Live values to be polled from the beginning.
    pub live: Option<LiveOptions>,
    /// What to add to the session's times to get nanoseconds since 1970.
    pub epoch_ns: i64,
    /// What a board may cost: no recording may be longer than `held_back` bytes.
    pub limits: Limits,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            can: None,
            window: None,
            timeout: Duration::from_secs(1),
            least_timeout: Duration::from_millis(100),
            tries: 5,
            patience: Duration::from_secs(10),
            live: None,
            epoch_ns: 0,
            limits: Limits::default(),
        }
    }
}

/// How live values are polled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LiveOptions {
    /// How often, if the link can answer that often.
    pub period: Duration,
}

/// Ten times a second, as Refloat's own page does.
impl Default for LiveOptions {
    fn default() -> Self {
        Self { period: Duration::from_millis(100) }
    }
}

/// How a recording is fetched.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FetchOptions {
    /// Whether a board that is recording may be stopped. Without it such a board is left alone and the job fails.
    pub may_stop: bool,
    /// Whether autostart is switched off meanwhile, and restored afterwards.
    pub protect: bool,
    /// What there is already of this recording.
    pub held: Option<PartialRecording>,
}

/// A part of a recording, as a partial file has it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PartialRecording {
    /// The app payload of its header, as received.
    pub header: Vec<u8>,
    /// Whole samples as received, each piece with the index of its first one.
    pub samples: Vec<(u32, Vec<u8>)>,
}
