use logpose_core::Channel;

/// What a file keeps besides samples, to give back the same log.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Header {
    /// The name of the dialect that the log had.
    pub origin: String,
    /// What that dialect had to say about the log as a whole, such as `extra_header` and `version`.
    pub facts: Vec<(String, String)>,
    /// What to add to a time to get Unix nanoseconds, if it is known.
    pub epoch_ns: Option<i64>,
    /// The channels; a channel's number is its place.
    pub channels: Vec<Channel>,
}
