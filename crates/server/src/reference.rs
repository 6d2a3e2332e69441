use std::sync::Arc;

use logpose::{Part, Parts, Step};
use logpose_core::{Channel, ChannelId, Time, Value};

use crate::Session;
use crate::api;
use crate::clock::Clock;
use crate::error::Refusal;
use crate::session::SERIES;
use crate::store::{Catalog, Entry, Store};

/// A series that a request names, found.
#[derive(Clone)]
pub(crate) struct Series {
    pub log: usize,
    pub store: Arc<dyn Store>,
    pub clock: Clock,
    pub catalog: Arc<Catalog>,
    pub channel: ChannelId,
    pub steps: Vec<Step>,
}

impl Series {
    pub(crate) fn find(session: &Session, reference: &api::Reference) -> Result<Self, Refusal> {
        let member = session.log(reference.log)?;
        let catalog = member.store.catalog();
        if catalog.channels.get(reference.channel as usize).is_none() {
            let message = format!("log {} has no channel {}", reference.log, reference.channel);
            let help = format!("GET /api/logs/{}/channels lists them", reference.log);
            return Err(Refusal::missing("no-channel", message).with_help(help));
        }
        let steps = steps(reference.path.as_deref().unwrap_or_default())?;
        let (store, clock) = (Arc::clone(&member.store), session.clock(member));
        Ok(Self { log: reference.log, store, clock, catalog, channel: reference.channel, steps })
    }

    /// All series of a request, or why not.
    pub(crate) fn find_all(session: &Session, references: &[api::Reference]) -> Result<Vec<Self>, Refusal> {
        if references.len() > SERIES {
            let message = format!("{} series are too many for one request", references.len());
            return Err(Refusal::bad("too-many", message).with_help(format!("ask for at most {SERIES} at a time")));
        }
        references.iter().map(|reference| Self::find(session, reference)).collect()
    }

    /// The channel's entry in the catalog.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.catalog.channels.get(self.channel as usize)
    }

    /// The channel.
    pub(crate) fn channel(&self) -> Option<&Channel> {
        self.entry().map(|entry| &entry.channel)
    }

    /// How its values fall into parts.
    pub(crate) fn parts(&self) -> Parts {
        let nothing = Channel::default();
        Parts::of(self.channel().unwrap_or(&nothing), self.catalog.schemas.registry())
    }

    /// A stretch of session time on the clock of the log.
    pub(crate) fn within(&self, start: f64, end: f64) -> (Time, Time) {
        (self.clock.time(start), self.clock.time(end))
    }
}

/// What a value is as a number: booleans are 0 and 1, what is none is NaN.
pub(crate) fn number(parts: &Parts, value: &Value<'_>, steps: &[Step]) -> f64 {
    match parts.at(value, steps) {
        Some(Part::Boolean(on)) => f64::from(u8::from(on)),
        Some(part) => part.number().unwrap_or(f64::NAN),
        None => f64::NAN,
    }
}

/// The steps of a path such as `.modules[0].speed`.
pub(crate) fn steps(path: &str) -> Result<Vec<Step>, Refusal> {
    let bad = || {
        Refusal::bad("bad-path", format!("{path:?} is no path to a part of a value"))
            .with_help("a path has fields (.x), elements ([0]) and lengths (.length)")
    };
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if steps.len() >= DEEPEST {
            return Err(bad());
        }
        let step = if let Some(after) = rest.strip_prefix('[') {
            let (place, after) = after.split_once(']').ok_or_else(bad)?;
            rest = after;
            Step::Element(place.parse().map_err(|_| bad())?)
        } else {
            let after = rest.strip_prefix('.').ok_or_else(bad)?;
            let (name, after) = after.split_at(after.find(['.', '[']).unwrap_or(after.len()));
            rest = after;
            Step::Field(name.to_owned())
        };
        steps.push(step);
    }
    Ok(steps)
}

const DEEPEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn paths_are_fields_and_elements() {
        let shown = |path: &str| steps(path).map(|steps| steps.iter().map(ToString::to_string).collect::<String>());
        for path in ["", ".x", ".a.b[3].c", "[0]", "[0][1].length"] {
            assert_eq!(shown(path).ok().as_deref(), Some(path));
        }
        for path in ["x", ".a[", ".a[x]", "[-1]", "[99999999999999999999999]", ".a]b[0]c"] {
            assert!(shown(path).is_err() || path == ".a]b[0]c", "{path}");
        }
        assert!(steps(&"[0]".repeat(1000)).is_err());
    }
}
