use super::machine::{Board, BoardOptions};
use super::scenario::{Scenario, Truth};
use super::version::BoardVersion;
use logpose_refloat::wire::{Header, Info};

/// A finished recording, in the bytes of the wire: what a download gives, and what a board can serve again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// The reply to INFO, without the byte of the VESC layer.
    pub info: Vec<u8>,
    /// The reply with the header.
    pub header: Vec<u8>,
    /// The reply to a status request, where the version has one.
    pub status: Option<Vec<u8>>,
    /// All samples, oldest first.
    pub samples: Vec<u8>,
    /// What happened, if it was simulated.
    pub truth: Option<Truth>,
}

impl Recorded {
    /// The ids of the values; none if the header cannot be read.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        Header::parse(&self.header).ok().into_iter().flat_map(|header| header.ids.iter())
    }

    /// Bytes of one sample.
    #[must_use]
    pub fn sample_len(&self) -> usize {
        5 + 2 * self.ids().count()
    }

    /// How many whole samples there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.samples.len() / self.sample_len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The emulated version that behaves like the board this came from; the newest one if it does not say.
    #[must_use]
    pub fn version(&self) -> BoardVersion {
        let Ok(info) = Info::parse(&self.info) else { return BoardVersion::V1_3 };
        match info.version() {
            version if version.has_status() => BoardVersion::V1_3,
            version if version.has_alerts() => BoardVersion::V1_2,
            version if version.has_recorder() => BoardVersion::V1_1,
            _ => BoardVersion::V1_0,
        }
    }
}

/// The recording of a scenario, as a board has it afterwards. The same seed gives the same bytes.
///
/// ```
/// use logpose_sim::board::{BoardVersion, Cause, Scenario, simulate};
///
/// let recorded = simulate(Scenario::Nosedive, BoardVersion::V1_3, 1);
/// assert_eq!(recorded.len(), 1528);
/// assert_eq!(recorded.truth.unwrap().cause, Cause::Duty);
/// ```
#[must_use]
pub fn simulate(scenario: Scenario, version: BoardVersion, seed: u64) -> Recorded {
    Board::new(BoardOptions { version, scenario, seed, ..BoardOptions::default() }).recorded()
}
