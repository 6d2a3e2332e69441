//! The package's version, and what came with it.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A version of the package, such as 1.3.0-beta2.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Version {
    /// 1 of 1.3.0-beta2.
    pub major: u8,
    /// 3 of 1.3.0-beta2.
    pub minor: u8,
    /// 0 of 1.3.0-beta2.
    pub patch: u8,
    /// `beta2` of 1.3.0-beta2; empty for a release.
    pub suffix: String,
}

impl Version {
    /// A version by its parts.
    #[must_use]
    pub fn new(major: u8, minor: u8, patch: u8, suffix: &str) -> Self {
        Self { major, minor, patch, suffix: suffix.to_owned() }
    }

    /// Whether it can record, if the firmware has room: 1.1 and later.
    #[must_use]
    pub fn has_recorder(&self) -> bool {
        self.is_from(1, 1)
    }

    /// Whether it lists the ids of its live values: 1.1 and later.
    #[must_use]
    pub fn has_live_ids(&self) -> bool {
        self.is_from(1, 1)
    }

    /// Whether it keeps alerts: 1.2 and later.
    #[must_use]
    pub fn has_alerts(&self) -> bool {
        self.is_from(1, 2)
    }

    /// Whether live values can be chosen by bits, and items have their new names: 1.3.0-preview1 and later.
    #[must_use]
    pub fn has_mask(&self) -> bool {
        self.is_from(1, 3)
    }

    /// Whether the recorder answers with its status and can thin out: 1.3.0-preview2 and later.
    #[must_use]
    pub fn has_status(&self) -> bool {
        self.is_from(1, 3) && !self.is_before((Stage::Preview, 2))
    }

    /// Whether the bits of live values have the frequency of the control loop: 1.3.0-preview3 and later.
    #[must_use]
    pub fn has_control_frequency(&self) -> bool {
        self.is_from(1, 3) && !self.is_before((Stage::Preview, 3))
    }

    /// Whether the bits of live values have those of satellite navigation: 1.3.0-beta1 and later.
    #[must_use]
    pub fn has_gnss(&self) -> bool {
        self.is_from(1, 3) && !self.is_before((Stage::Beta, 1))
    }

    /// Whether no two samples of a recording share a tick: 1.3.0-beta2 and later.
    #[must_use]
    pub fn has_distinct_ticks(&self) -> bool {
        self.is_from(1, 3) && !self.is_before((Stage::Beta, 2))
    }

    fn is_from(&self, major: u8, minor: u8) -> bool {
        (self.major, self.minor) >= (major, minor)
    }

    /// Whether it is 1.3.0 before this stage.
    fn is_before(&self, stage: (Stage, u32)) -> bool {
        (self.major, self.minor, self.patch) == (1, 3, 0) && self.stage() < stage
    }

    /// How far the way to the release is, and the number at the suffix's end.
    fn stage(&self) -> (Stage, u32) {
        let name = self.suffix.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = self.suffix.get(name.len()..).and_then(|digits| digits.parse().ok()).unwrap_or_default();
        match name {
            "preview" => (Stage::Preview, number),
            "beta" => (Stage::Beta, number),
            "rc" => (Stage::Candidate, number),
            _ => (Stage::Release, 0),
        }
    }
}

/// Stages before a release, in their order. A suffix that is not known counts as the release itself.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Stage {
    Preview,
    Beta,
    Candidate,
    Release,
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |version: &Self| (version.major, version.minor, version.patch, version.stage());
        key(self).cmp(&key(other)).then_with(|| self.suffix.cmp(&other.suffix))
    }
}

/// `1.3.0-beta2`.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if self.suffix.is_empty() { Ok(()) } else { write!(f, "-{}", self.suffix.escape_debug()) }
    }
}

/// A text that is no version.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid version {0:?}, expected one such as 1.2.3 or 1.3.0-beta2")]
pub struct BadVersion(pub String);

impl FromStr for Version {
    type Err = BadVersion;

    fn from_str(text: &str) -> Result<Self, BadVersion> {
        let (numbers, suffix) = text.split_once('-').unwrap_or((text, ""));
        let parts: Result<Vec<u8>, _> = numbers.split('.').map(str::parse).collect();
        match parts.as_deref() {
            Ok([major, minor]) => Ok(Self::new(*major, *minor, 0, suffix)),
            Ok([major, minor, patch]) => Ok(Self::new(*major, *minor, *patch, suffix)),
            _ => Err(BadVersion(text.to_owned())),
        }
    }
}
