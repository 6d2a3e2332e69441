//! What a board did, moment by moment.

use std::collections::BTreeMap;

use logpose_core::Time;
use logpose_refloat::wire::{Adjustment, Footpad};

/// What a board did, moment by moment: all that the rules look at.
///
/// The i-th entries of all lists belong together; a list that is shorter has nothing to say about the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// When.
    pub times: Vec<Time>,
    /// Whether the board was engaged.
    pub running: Vec<bool>,
    /// Whether the wheel slipped.
    pub wheelslip: Vec<bool>,
    /// Which footpads were pressed.
    pub footpad: Vec<Option<Footpad>>,
    /// Why the board leaned otherwise than the rider wanted.
    pub adjustment: Vec<Adjustment>,
    /// Numbers by their newest name; anything else is `NaN`.
    pub values: BTreeMap<String, Values>,
    /// Whether the recorder of a board made it.
    pub is_recording: bool,
    /// Whether a part of the recording is not in the log.
    pub is_cut: bool,
}

/// A number over time, and where it comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// The channel in the log.
    pub channel: String,
    /// One for each time.
    pub values: Vec<f64>,
}

impl Series {
    /// The number of that name at a place, if there is one.
    pub(super) fn value(&self, id: &str, place: usize) -> Option<f64> {
        self.values.get(id)?.values.get(place).copied()
    }

    /// The places in the order of time, stably.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.times.len()).collect();
        if !self.times.is_sorted() {
            places.sort_by_key(|place| self.times.get(*place).copied().unwrap_or(Time::ZERO));
        }
        places
    }
}
