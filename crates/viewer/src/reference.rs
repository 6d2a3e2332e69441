use std::sync::Arc;

use logpose::{FieldReader, ScalarValue, Step, parse_path};
use logpose_core::{Channel, ChannelId, Time, Value};

use crate::Session;
use crate::api;
use crate::clock::Clock;
use crate::error::RequestError;
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
    pub(crate) fn find(session: &Session, reference: &api::Reference) -> Result<Self, RequestError> {
        let member = session.log(reference.log)?;
        let catalog = member.store.catalog();
        if catalog.channels.get(reference.channel as usize).is_none() {
            let message = format!("log {} has no channel {}", reference.log, reference.channel);
            let help = format!("GET /api/logs/{}/channels lists the channels", reference.log);
            return Err(RequestError::not_found("channel-not-found", message).with_help(help));
        }
        let steps = parse_path(reference.path.as_deref().unwrap_or_default()).map_err(|error| RequestError {
            help: error.help,
            ..RequestError::invalid("invalid-path", error.kind.to_string())
        })?;
        let (store, clock) = (Arc::clone(&member.store), session.clock(member));
        Ok(Self { log: reference.log, store, clock, catalog, channel: reference.channel, steps })
    }

    /// All series of a request, or why not.
    pub(crate) fn find_all(session: &Session, references: &[api::Reference]) -> Result<Vec<Self>, RequestError> {
        if references.len() > SERIES {
            let message = format!("too many series: {}", references.len());
            return Err(RequestError::invalid("too-many-series", message)
                .with_help(format!("request at most {SERIES} at a time")));
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
    pub(crate) fn parts(&self) -> FieldReader {
        let nothing = Channel::default();
        FieldReader::of(self.channel().unwrap_or(&nothing), self.catalog.schemas.registry())
    }

    /// A stretch of session time on the clock of the log.
    pub(crate) fn within(&self, start: f64, end: f64) -> (Time, Time) {
        (self.clock.time(start), self.clock.time(end))
    }
}

/// What a value is as a number: booleans are 0 and 1, what is none is NaN.
pub(crate) fn number(parts: &FieldReader, value: &Value<'_>, steps: &[Step]) -> f64 {
    parts.at(value, steps).as_ref().and_then(ScalarValue::drawn).unwrap_or(f64::NAN)
}
