use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use logpose::schema::TreeShape;
use logpose::{parse_path, unit_of};
use logpose_core::{Channel, ChannelId, Time};

use super::words::{segments, words};
use crate::api::ValueKind;
use crate::channels::{kind, tree_shape};
use crate::store::{Catalog, Store};

/// The channels of a log that a pane may show, and what is known of them.
pub(super) struct Evidence<'s> {
    store: &'s dyn Store,
    catalog: Arc<Catalog>,
    pub(super) channels: Vec<Known>,
    /// The min and max of series that were asked for.
    extents: RefCell<HashMap<(ChannelId, String), Extent>>,
}

/// The min and the max of a series; none if it has no numbers.
type Extent = Option<(f64, f64)>;

/// A channel, and what its name says.
pub(super) struct Known {
    pub(super) id: ChannelId,
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) words: Vec<String>,
    pub(super) unit: Option<String>,
    pub(super) samples: u64,
    pub(super) kind: ValueKind,
}

impl Known {
    pub(super) fn has(&self, any: &[&str]) -> bool {
        self.words.iter().any(|word| any.contains(&&**word))
    }

    /// Whether it has words that begin so, one behind the other.
    pub(super) fn says(&self, phrase: &[&str]) -> bool {
        self.words.windows(phrase.len()).any(|part| part.iter().zip(phrase).all(|(word, wanted)| word == wanted))
    }

    /// The last part of its name.
    pub(super) fn leaf(&self) -> &str {
        segments(&self.name).next_back().unwrap_or(&self.name)
    }

    /// The part of its name before the last one.
    pub(super) fn parent(&self) -> &str {
        segments(&self.name).rev().nth(1).unwrap_or_default()
    }

    /// Whether it says what something should be, not what it is.
    pub(super) fn is_wanted(&self) -> bool {
        self.has(&[
            "setpoint",
            "setpoints",
            "target",
            "desired",
            "goal",
            "wanted",
            "command",
            "commanded",
            "reference",
            "optimized",
            "optimised",
            "demand",
        ])
    }

    fn is_vision(&self) -> bool {
        self.has(&[
            "vision",
            "camera",
            "cameras",
            "cam",
            "photon",
            "photonvision",
            "limelight",
            "tag",
            "tags",
            "apriltag",
            "apriltags",
            "botpose",
            "mega",
            "questnav",
        ])
    }

    fn is_planned(&self) -> bool {
        self.has(&[
            "trajectory",
            "path",
            "choreo",
            "pathplanner",
            "ghost",
            "waypoint",
            "start",
            "starting",
            "initial",
            "sim",
            "simulated",
            "ideal",
            "visualizer",
            "mechanism",
        ])
    }

    /// How good its data is for any pane, without what the pane is for: many measured samples are better than few that
    /// were planned or seen by a camera.
    pub(super) fn merit(&self) -> i64 {
        let many = 2 * i64::from(self.samples.max(1).ilog2().min(12));
        let single = if self.samples < 2 { -20 } else { 0 };
        let wanted = if self.is_wanted() { -30 } else { 0 };
        let seen = if self.is_vision() { -30 } else { 0 };
        let planned = if self.is_planned() { -20 } else { 0 };
        many + single + wanted + seen + planned
    }
}

impl<'s> Evidence<'s> {
    pub(super) fn of(store: &'s dyn Store) -> Self {
        let catalog = store.catalog();
        let usable = (0..).zip(&catalog.channels).filter(|(_, entry)| entry.samples > 0 && !is_hidden(&entry.channel));
        let known = usable.map(|(id, entry)| Known {
            id,
            name: entry.channel.name.clone(),
            type_name: entry.channel.type_name.clone(),
            words: words(&entry.channel.name),
            unit: unit_of(&entry.channel, ""),
            samples: entry.samples,
            kind: kind(&tree_shape(&entry.channel, catalog.schemas.registry())),
        });
        let channels = known.collect();
        Self { store, catalog, channels, extents: RefCell::default() }
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = &Known> {
        self.channels.iter().filter(|known| known.kind == ValueKind::Number)
    }

    pub(super) fn booleans(&self) -> impl Iterator<Item = &Known> {
        self.channels.iter().filter(|known| known.kind == ValueKind::Boolean)
    }

    pub(super) fn named(&self, name: &str) -> Option<&Known> {
        self.channels.iter().find(|known| known.name == name)
    }

    pub(super) fn extent(&self, known: &Known, path: &str) -> Extent {
        let key = (known.id, path.to_owned());
        if let Some(found) = self.extents.borrow().get(&key) {
            return *found;
        }
        let found = parse_path(path).ok().and_then(|steps| {
            let drawn = self.store.drawn(known.id, &steps, (Time::MIN, Time::MAX), 1, &mut Vec::new());
            let drawn = drawn.ok().flatten()?;
            drawn.min.zip(drawn.max)
        });
        self.extents.borrow_mut().insert(key, found);
        found
    }

    /// Whether a series has more than one value.
    pub(super) fn varies(&self, known: &Known, path: &str) -> bool {
        known.samples > 1 && self.extent(known, path).is_some_and(|(low, high)| low < high)
    }

    /// The paths of the numbers directly within a struct, by their names.
    pub(super) fn fields(&self, known: &Known) -> Vec<String> {
        let Some(entry) = self.catalog.channels.get(known.id as usize) else { return Vec::new() };
        let TreeShape::Struct(fields) = tree_shape(&entry.channel, self.catalog.schemas.registry()) else {
            return Vec::new();
        };
        fields.iter().filter(|(_, form)| kind(form) == ValueKind::Number).map(|(name, _)| name.clone()).collect()
    }
}

/// Whether a channel is for programs: what describes other channels, and what the dashboard's test mode repeats.
fn is_hidden(channel: &Channel) -> bool {
    let hidden = |part: &str| part.starts_with(['.', '$']) || part.eq_ignore_ascii_case("LiveWindow");
    segments(&channel.name).any(hidden) || channel.name.is_empty()
}
