//! What the recorder does.

use std::fmt;

use super::{PACKAGE, WireError, id, show};

/// The reply to a control request, since 1.3.
///
/// ```text
/// 65 29 | enabled | flags | decimation | duration
///   2   |    1    |   1   |     1      |    2
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Status {
    /// Always true: a board that would say otherwise stays silent.
    pub enabled: bool,
    /// Whether it records now.
    pub recording: bool,
    /// Whether it starts when the board is engaged.
    pub autostart: bool,
    /// Whether it stops when the board disengages.
    pub autostop: bool,
    /// Every how many passes of the loop a sample is kept.
    pub decimation: u8,
    /// Centiseconds that the buffer lasts at decimation 1.
    pub duration_cs: u16,
}

impl Status {
    /// Reads a message. What a later version may append is left alone.
    pub fn parse(message: &[u8]) -> Result<Self, WireError> {
        let mut cur = show::expect(message, id::DATA_RECORD)?;
        let (enabled, flags) = (cur.u8("enabled")?, cur.u8("flags")?);
        let (decimation, duration_cs) = (cur.u8("decimation")?, cur.u16_be("duration")?);
        let [recording, autostart, autostop] = [1, 2, 4].map(|bit| flags & bit != 0);
        Ok(Self { enabled: enabled != 0, recording, autostart, autostop, decimation, duration_cs })
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let flags = u8::from(self.recording) | u8::from(self.autostart) << 1 | u8::from(self.autostop) << 2;
        out.extend_from_slice(&[PACKAGE, id::DATA_RECORD, self.enabled.into(), flags, self.decimation]);
        out.extend_from_slice(&self.duration_cs.to_be_bytes());
    }

    /// How long a recording lasts with this decimation, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        f64::from(self.duration_cs) * f64::from(self.decimation) / 100.0
    }
}

/// `recorder: idle, autostart on, autostop on, decimation 5, 9.15 s`.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let doing = match (self.enabled, self.recording) {
            (false, _) => "disabled",
            (true, true) => "recording",
            (true, false) => "idle",
        };
        let (start, stop) = (show::switch(self.autostart), show::switch(self.autostop));
        let (decimation, seconds) = (self.decimation, self.seconds());
        write!(f, "recorder: {doing}, autostart {start}, autostop {stop}, decimation {decimation}, {seconds:.2} s")
    }
}
