use std::collections::HashMap;

use logpose::schema::wpistruct::Scalar;
use logpose::schema::{Registry, Tree, TreeShape};
use logpose::{Stragglers, shown_unit, unit_of};
use logpose_core::{Channel, ChannelId, Time, Type};

use crate::Viewer;
use crate::api::{self, LogState, Preset, ValueKind};
use crate::clock::Clock;
use crate::error::RequestError;
use crate::session::{Member, OpenLog, POINTS, ROWS, RUNS, SERIES, Session, WIDTH};
use crate::store::Catalog;

impl Viewer {
    /// The open logs, and the limits of requests.
    #[must_use]
    pub fn describe(&self) -> api::Session {
        about(&self.session())
    }

    /// The channels of a log, with the fields of their values.
    pub fn channels(&self, log: usize) -> Result<api::Channels, RequestError> {
        let session = self.session();
        let member = session.log(log)?;
        list(member, session.clock(member))
    }
}

fn about(session: &Session) -> api::Session {
    let range = session.seconds();
    let logs = session.members().iter().enumerate();
    api::Session {
        version: env!("CARGO_PKG_VERSION"),
        title: session.title(),
        origin_ns: session.origin_ns().to_string(),
        start: range.map(|range| range.0),
        end: range.map(|range| range.1),
        sql: session.sql().is_some(),
        limits: api::Limits { series: SERIES, width: WIDTH, points: POINTS, rows: ROWS, runs: RUNS },
        revision: session.revision(),
        adding: session.library().map(|library| library.offers()),
        logs: logs.map(|(id, member)| api::LogInfo::of(id, member, session)).collect(),
    }
}

impl api::LogInfo {
    fn of(id: usize, member: &Member, session: &Session) -> Self {
        match member {
            Member::Open(log) => of_log(id, log, session.clock(log)),
            Member::Closed { name, path } => closed(id, name, path),
        }
    }
}

/// What is still said of a log that was closed.
fn closed(id: usize, name: &str, path: &str) -> api::LogInfo {
    api::LogInfo {
        id,
        name: name.to_owned(),
        path: path.to_owned(),
        uploaded: false,
        dialect: String::new(),
        format: String::new(),
        start: None,
        end: None,
        offset_ns: "0".to_owned(),
        unix_offset: None,
        channels: 0,
        samples: 0,
        bytes: 0,
        revision: 0,
        state: LogState::Closed,
        preset: Preset::General,
        facts: Vec::new(),
        problems: Vec::new(),
        problem_count: 0,
        damage: None,
        stragglers: Vec::new(),
        alignment: None,
    }
}

fn of_log(id: usize, member: &OpenLog, clock: Clock) -> api::LogInfo {
    let (about, catalog, range) = (member.store.about(), member.store.catalog(), member.store.range());
    let shift_ns = clock.shift_at(range.map_or(Time::ZERO, |range| range.0));
    let unix =
        |epoch_ns: i64| Time::from_nanos(epoch_ns).plus(clock.origin_ns).plus(shift_ns.saturating_neg()).seconds();
    api::LogInfo {
        id,
        name: about.name,
        path: member.path(),
        uploaded: member.upload.is_some(),
        dialect: about.dialect,
        format: about.format,
        start: range.map(|range| clock.seconds(range.0)),
        end: range.map(|range| clock.seconds(range.1)),
        offset_ns: shift_ns.to_string(),
        unix_offset: about.epoch_ns.map(unix),
        channels: catalog.channels.len(),
        samples: about.samples,
        bytes: about.bytes,
        revision: catalog.revision,
        state: member.store.state(),
        preset: about.preset,
        facts: about.facts.into_iter().map(|fact| fact.shown(&clock)).collect(),
        problems: about.problems.iter().map(api::Problem::of).collect(),
        problem_count: about.problem_count,
        damage: about.damage,
        stragglers: about.stragglers.iter().map(|found| api::Stragglers::of(found, &clock)).collect(),
        alignment: member.alignment.clone(),
    }
}

impl api::Problem {
    fn of(problem: &logpose_core::Problem) -> Self {
        let logpose_core::Problem { severity, at, length, message, .. } = problem;
        Self { severity: severity.name(), at: *at, length: *length, message: message.clone() }
    }
}

impl api::Stragglers {
    fn of(found: &Stragglers, clock: &Clock) -> Self {
        let session = |time: Time| clock.map.at(time).plus(clock.origin_ns.saturating_neg());
        // The sentence has the times that the page shows.
        let shown = Stragglers { first: session(found.first), last: session(found.last), ..found.clone() };
        Self {
            start: clock.seconds(found.first),
            end: clock.seconds(found.last),
            samples: found.samples,
            text: shown.to_string(),
        }
    }
}

fn list(member: &OpenLog, clock: Clock) -> Result<api::Channels, RequestError> {
    let catalog = member.store.catalog();
    let lasts = lasts(member, &catalog)?;
    let channels = (0..).zip(&catalog.channels).map(|(id, entry)| {
        let channel = &entry.channel;
        let form = tree_shape(channel, catalog.schemas.registry());
        let mut fields = Fields { channel, left: MOST_FIELDS };
        let max = || member.store.drawn(id, &[], (Time::MIN, Time::MAX), 1, &mut Vec::new()).ok()??.max;
        api::Channel {
            id,
            name: channel.name.clone(),
            type_name: channel.type_name.clone(),
            metadata: channel.metadata.clone(),
            unit: unit_of(channel, ""),
            shown_unit: shown_unit(channel, max),
            samples: entry.samples,
            start: entry.range.map(|range| clock.seconds(range.0)),
            end: entry.range.map(|range| clock.seconds(range.1)),
            kind: kind(&form),
            fields: fields.of(&form, lasts.get(&id), ""),
        }
    });
    Ok(api::Channels { revision: catalog.revision, channels: channels.collect() })
}

/// The last values of channels whose fields only values show: lists have a length, JSON has any shape.
fn lasts(member: &OpenLog, catalog: &Catalog) -> Result<HashMap<ChannelId, Tree>, RequestError> {
    let full = (0..).zip(&catalog.channels).filter(|(_, entry)| entry.samples > 0);
    let open = full.filter(|(_, entry)| is_open(&tree_shape(&entry.channel, catalog.schemas.registry())));
    let ids: Vec<ChannelId> = open.map(|(id, _)| id).collect();
    let mut lasts = HashMap::new();
    member.store.held(&ids, Time::MAX, &mut |place, _, value| {
        let Some(id) = ids.get(place) else { return };
        let Some(entry) = catalog.channels.get(*id as usize) else { return };
        lasts.insert(*id, catalog.schemas.tree(&entry.channel, value));
    })?;
    Ok(lasts)
}

/// What the values of a channel look like.
pub(crate) fn tree_shape(channel: &Channel, registry: &Registry) -> TreeShape {
    let decoded = Registry::decodes(&channel.type_name).then(|| registry.decoder(&channel.type_name).ok()).flatten();
    if let Some(form) = decoded.and_then(|decoder| decoder.shape(MOST_FIELDS).ok()) {
        return form;
    }
    let list = |scalar: Scalar| TreeShape::List(Box::new(TreeShape::Scalar(scalar)));
    match channel.ty() {
        Type::Boolean => TreeShape::Scalar(Scalar::Bool),
        Type::Int64 => TreeShape::Scalar(Scalar::Int64),
        Type::Float => TreeShape::Scalar(Scalar::Float),
        Type::Double => TreeShape::Scalar(Scalar::Double),
        Type::String => TreeShape::Text,
        Type::Bytes => TreeShape::Bytes,
        Type::BooleanArray => list(Scalar::Bool),
        Type::Int64Array => list(Scalar::Int64),
        Type::FloatArray => list(Scalar::Float),
        Type::DoubleArray => list(Scalar::Double),
        Type::StringArray => TreeShape::List(Box::new(TreeShape::Text)),
    }
}

/// Whether only a value shows all of it.
fn is_open(form: &TreeShape) -> bool {
    match form {
        TreeShape::List(_) | TreeShape::Map(..) | TreeShape::Any => true,
        TreeShape::Array(inner, _) => is_open(inner),
        TreeShape::Struct(fields) => fields.iter().any(|(_, form)| is_open(form)),
        TreeShape::Scalar(_) | TreeShape::Text | TreeShape::Bytes | TreeShape::Enum(_) => false,
    }
}

pub(crate) fn kind(form: &TreeShape) -> ValueKind {
    match form {
        TreeShape::Scalar(Scalar::Bool) => ValueKind::Boolean,
        TreeShape::Scalar(Scalar::Char) | TreeShape::Text => ValueKind::Text,
        TreeShape::Scalar(_) => ValueKind::Number,
        TreeShape::Bytes => ValueKind::Bytes,
        TreeShape::Enum(_) => ValueKind::Enum,
        TreeShape::List(_) | TreeShape::Array(..) => ValueKind::List,
        TreeShape::Struct(_) | TreeShape::Map(..) => ValueKind::Struct,
        TreeShape::Any => ValueKind::Any,
    }
}

fn kind_of_tree(tree: &Tree) -> ValueKind {
    match tree {
        Tree::Null => ValueKind::Any,
        Tree::Bool(_) => ValueKind::Boolean,
        Tree::Int(_) | Tree::UInt(_) | Tree::Float(_) | Tree::Double(_) => ValueKind::Number,
        Tree::Text(_) => ValueKind::Text,
        Tree::Bytes(_) => ValueKind::Bytes,
        Tree::List(_) => ValueKind::List,
        Tree::Map(_) => ValueKind::Struct,
        Tree::Enum { .. } => ValueKind::Enum,
    }
}

/// Lists the parts of a channel's values, at most so many.
struct Fields<'c> {
    channel: &'c Channel,
    left: usize,
}

impl Fields<'_> {
    fn of(&mut self, form: &TreeShape, value: Option<&Tree>, path: &str) -> Vec<api::Field> {
        let mut found = Vec::new();
        match (form, value) {
            (TreeShape::Struct(fields), _) => {
                for (name, form) in fields {
                    let value = value.and_then(|value| value.field(name));
                    found.extend(self.field(format!("{path}.{name}"), name, form, value));
                }
            }
            (TreeShape::Array(inner, count), _) => {
                for place in 0..(*count).min(MOST_ELEMENTS) {
                    let value = value.and_then(|value| value.items()?.get(place));
                    found.extend(self.field(format!("{path}[{place}]"), &format!("[{place}]"), inner, value));
                }
            }
            (TreeShape::List(inner), Some(Tree::List(items))) => {
                for (place, item) in items.iter().take(MOST_ELEMENTS).enumerate() {
                    found.extend(self.field(format!("{path}[{place}]"), &format!("[{place}]"), inner, Some(item)));
                }
            }
            (TreeShape::Map(_, inner), Some(Tree::Map(items))) => {
                for (name, item) in items {
                    found.extend(self.field(format!("{path}.{name}"), name, inner, Some(item)));
                }
            }
            (TreeShape::Any, Some(Tree::List(items))) => {
                for (place, item) in items.iter().take(MOST_ELEMENTS).enumerate() {
                    found.extend(self.field(
                        format!("{path}[{place}]"),
                        &format!("[{place}]"),
                        &TreeShape::Any,
                        Some(item),
                    ));
                }
            }
            (TreeShape::Any, Some(Tree::Map(items))) => {
                for (name, item) in items {
                    found.extend(self.field(format!("{path}.{name}"), name, &TreeShape::Any, Some(item)));
                }
            }
            _ => {}
        }
        if matches!((form, value), (TreeShape::List(_), _) | (TreeShape::Any, Some(Tree::List(_)))) {
            let unit = None;
            let path = format!("{path}.length");
            found.push(api::Field {
                path,
                name: "length".to_owned(),
                kind: ValueKind::Number,
                unit,
                fields: Vec::new(),
            });
        }
        found
    }

    fn field(&mut self, path: String, name: &str, form: &TreeShape, value: Option<&Tree>) -> Option<api::Field> {
        self.left = self.left.checked_sub(1)?;
        let kind = match (form, value) {
            (TreeShape::Any, Some(value)) => kind_of_tree(value),
            _ => kind(form),
        };
        let fields = self.of(form, value, &path);
        let unit = if kind == ValueKind::Number { unit_of(self.channel, &path) } else { None };
        Some(api::Field { unit, name: name.to_owned(), kind, fields, path })
    }
}

/// The most parts of one channel that are listed.
const MOST_FIELDS: usize = 1000;
/// The most elements of one list.
const MOST_ELEMENTS: usize = 32;
