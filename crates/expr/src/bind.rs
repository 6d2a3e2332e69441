//! An expression and the channels of a log: names become channels, and invalid expressions are refused.

use std::collections::HashMap;
use std::ops::Range;

use logpose_core::{Channel, ChannelId};
use logpose_schema::Registry;

use super::QueryError;
use super::parse::{Compare, Expr, Function, Math, What};
use logpose_files::Mode;
use logpose_files::ValueKind;
use logpose_files::internal::closest;
use logpose_files::{FieldReader, Log, Step};

/// What names can mean.
pub(super) struct Catalog<'a> {
    /// The channels with their numbers and how many samples they have.
    pub(super) channels: Vec<(ChannelId, &'a Channel, u64)>,
    pub(super) registry: &'a Registry,
    /// Whether any channel has the driver station's modes.
    pub(super) has_modes: bool,
    /// If more channels and schemas may come: what names were found to mean before. Then an unknown name is no error.
    pub(super) before: Option<&'a HashMap<String, Meaning>>,
}

impl<'a> Catalog<'a> {
    /// That of a log.
    pub(super) fn of(log: &'a Log) -> Self {
        let channels = (0..).zip(&log.index.channels).map(|(id, found)| (id, &found.channel, found.samples));
        let has_modes = !log.modes().is_empty();
        Self { channels: channels.collect(), registry: log.schemas().registry(), has_modes, before: None }
    }

    fn channel(&self, id: ChannelId) -> Option<&'a Channel> {
        let place = self.channels.binary_search_by_key(&id, |(id, ..)| *id).ok()?;
        self.channels.get(place).map(|(_, channel, _)| *channel)
    }

    /// Whether the values of a channel will be known once their schema has come.
    fn lacks_schema(&self, channel: &Channel) -> bool {
        self.before.is_some() && lacks_schema(channel, self.registry)
    }
}

/// Whether a channel's values only make sense with a schema that is not there.
pub(super) fn lacks_schema(channel: &Channel, registry: &Registry) -> bool {
    Registry::decodes(&channel.type_name) && registry.decoder(&channel.type_name).is_err()
}

/// What a name was found to mean.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Meaning {
    pub(super) channel: ChannelId,
    /// How it was found: by the whole name, by its end behind a border, by its end.
    way: usize,
}

/// An expression whose names are slots.
#[derive(Debug)]
pub(super) enum Node {
    Number(f64),
    Text(Vec<u8>),
    Boolean(bool),
    /// The last value of a slot.
    Slot(usize),
    Not(Box<Self>),
    Negative(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Math(Math, Box<Self>, Box<Self>),
    /// Whether it may change without a sample, because an age is in it.
    Compare(Compare, Box<Self>, Box<Self>, bool),
    /// Of the last value of a slot, and the one before.
    History(Function, usize),
    /// Of numbers.
    Call(Function, Vec<Self>),
    Contains(Box<Self>, Box<Self>),
}

/// Something whose last value is kept.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Slot {
    pub(super) source: Source,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Source {
    Channel(ChannelId),
    /// A name that no channel has so far.
    Missing(String),
    /// The driver station's mode.
    Mode,
    /// Whether the robot was enabled.
    Enabled,
}

/// An expression that can be evaluated.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) root: Node,
    pub(super) slots: Vec<Slot>,
    pub(super) uses_changed: bool,
    /// What the names in it were found to mean.
    pub(super) names: HashMap<String, Meaning>,
}

impl Bound {
    /// One that never holds.
    pub(super) fn never() -> Self {
        Self { root: Node::Boolean(false), slots: Vec::new(), uses_changed: false, names: HashMap::new() }
    }
}

pub(super) fn bind(expr: &Expr, catalog: &Catalog<'_>) -> Result<Bound, QueryError> {
    let mut binder = Binder { catalog, slots: Vec::new(), uses_changed: false, names: HashMap::new() };
    let root = binder.condition(expr)?;
    Ok(Bound { root, slots: binder.slots, uses_changed: binder.uses_changed, names: binder.names })
}

/// What a part of an expression is.
struct Typed {
    node: Node,
    kind: ValueKind,
    /// How much it grows each second without a sample, because ages are in it; NaN if that depends on values.
    slope: f64,
    /// Whether an age is in it, so that it is in seconds.
    age: bool,
    /// A number that stands there as such: its unit.
    unit: Option<String>,
}

impl Typed {
    fn still(node: Node, kind: ValueKind) -> Self {
        Self { node, kind, slope: 0.0, age: false, unit: None }
    }

    fn moves(&self) -> bool {
        self.slope != 0.0
    }

    /// The number that it always is.
    fn constant(&self) -> f64 {
        match self.node {
            Node::Number(x) => x,
            _ => f64::NAN,
        }
    }
}

struct Binder<'a> {
    catalog: &'a Catalog<'a>,
    slots: Vec<Slot>,
    uses_changed: bool,
    names: HashMap<String, Meaning>,
}

impl Binder<'_> {
    /// Something that is true or false.
    fn condition(&mut self, expr: &Expr) -> Result<Node, QueryError> {
        let typed = self.typed(expr)?;
        match typed.kind {
            ValueKind::Boolean | ValueKind::Any => Ok(typed.node),
            kind => {
                let error = QueryError::new(format!("expected a condition, found {}", word(kind)), expr.at.clone());
                Err(error.with_help("compare it with something, as in: BatteryVoltage < 10"))
            }
        }
    }

    fn number(&mut self, expr: &Expr) -> Result<Typed, QueryError> {
        let typed = self.typed(expr)?;
        match typed.kind {
            ValueKind::Number | ValueKind::Enum | ValueKind::Any => Ok(typed),
            kind => Err(QueryError::new(format!("expected a number, found {}", word(kind)), expr.at.clone())),
        }
    }

    fn still_number(&mut self, expr: &Expr, function: &str) -> Result<Node, QueryError> {
        let typed = self.number(expr)?;
        if typed.moves() {
            let message = format!("age() cannot be used inside {function}, because its crossings must be computable");
            let error = QueryError::new(message, expr.at.clone());
            return Err(error.with_help("ages can be added, subtracted, multiplied by values and compared"));
        }
        Ok(typed.node)
    }

    fn typed(&mut self, expr: &Expr) -> Result<Typed, QueryError> {
        let both = |a: Node, b: Node| (Box::new(a), Box::new(b));
        Ok(match &expr.what {
            What::Number(x, unit) => {
                Typed { unit: Some(unit.clone()), ..Typed::still(Node::Number(*x), ValueKind::Number) }
            }
            What::Text(text) => Typed::still(Node::Text(text.clone().into_bytes()), ValueKind::Text),
            What::Boolean(b) => Typed::still(Node::Boolean(*b), ValueKind::Boolean),
            What::Signal { .. } => {
                let (slot, kind) = self.signal(expr)?;
                let kind = self.scalar(expr, slot, kind)?;
                Typed::still(Node::Slot(slot), kind)
            }
            What::Not(inner) => Typed::still(Node::Not(Box::new(self.condition(inner)?)), ValueKind::Boolean),
            What::And(a, b) => {
                let (a, b) = both(self.condition(a)?, self.condition(b)?);
                Typed::still(Node::And(a, b), ValueKind::Boolean)
            }
            What::Or(a, b) => {
                let (a, b) = both(self.condition(a)?, self.condition(b)?);
                Typed::still(Node::Or(a, b), ValueKind::Boolean)
            }
            What::Negative(inner) => {
                let inner = self.number(inner)?;
                let slope = -inner.slope;
                Typed { node: Node::Negative(Box::new(inner.node)), kind: ValueKind::Number, slope, ..inner }
            }
            What::Math(math, a, b) => self.math(*math, a, b)?,
            What::Compare(compare, a, b) => Typed::still(self.compare(*compare, a, b)?, ValueKind::Boolean),
            What::Between(x, low, high) => {
                let low = self.compare(Compare::GreaterOrEqual, x, low)?;
                let high = self.compare(Compare::LessOrEqual, x, high)?;
                Typed::still(Node::And(Box::new(low), Box::new(high)), ValueKind::Boolean)
            }
            What::In(x, list) => {
                let mut any = Node::Boolean(false);
                for item in list {
                    let equal = self.compare(Compare::Equal, x, item)?;
                    any = Node::Or(Box::new(any), Box::new(equal));
                }
                Typed::still(any, ValueKind::Boolean)
            }
            What::Call(function, arguments) => self.call(*function, arguments)?,
        })
    }

    fn math(&mut self, math: Math, a: &Expr, b: &Expr) -> Result<Typed, QueryError> {
        let still = |node| Typed::still(node, ValueKind::Number);
        let (left, right) = match math {
            Math::Remainder => (still(self.still_number(a, "%")?), still(self.still_number(b, "%")?)),
            Math::Divide => (self.number(a)?, still(self.still_number(b, "a divisor")?)),
            Math::Multiply => {
                let left = self.number(a)?;
                let right = match left.moves() {
                    true => still(self.still_number(b, "a product with another age")?),
                    false => self.number(b)?,
                };
                (left, right)
            }
            Math::Add | Math::Subtract => (self.number(a)?, self.number(b)?),
        };
        let scaled = |slope: f64, by: f64| if slope == 0.0 { 0.0 } else { slope * by };
        let slope = match math {
            Math::Add => left.slope + right.slope,
            Math::Subtract => left.slope - right.slope,
            Math::Multiply => scaled(left.slope, right.constant()) + scaled(right.slope, left.constant()),
            Math::Divide => scaled(left.slope, 1.0 / right.constant()),
            Math::Remainder => 0.0,
        };
        let age = left.age || right.age;
        let node = Node::Math(math, Box::new(left.node), Box::new(right.node));
        Ok(Typed { slope, age, ..Typed::still(node, ValueKind::Number) })
    }

    fn compare(&mut self, compare: Compare, a: &Expr, b: &Expr) -> Result<Node, QueryError> {
        let (mut left, mut right) = (self.typed(a)?, self.typed(b)?);
        let at = a.at.start..b.at.end;
        let fit = match (left.kind, right.kind) {
            (ValueKind::Any, _) | (_, ValueKind::Any) => true,
            (ValueKind::Enum, ValueKind::Enum | ValueKind::Number | ValueKind::Text)
            | (ValueKind::Number | ValueKind::Text, ValueKind::Enum) => true,
            (a, b) => a == b,
        };
        if !fit {
            let message = format!("cannot compare {} with {}", word(left.kind), word(right.kind));
            let error = QueryError::new(message, at);
            return Err(match (left.kind, right.kind) {
                (ValueKind::Boolean, _) | (_, ValueKind::Boolean) => {
                    error.with_help("use a boolean on its own: x, or: not x")
                }
                (ValueKind::Text, _) | (_, ValueKind::Text) => error.with_help("put text in single quotes: x = 'IDLE'"),
                _ => error,
            });
        }
        let ordered = !matches!(compare, Compare::Equal | Compare::Unequal);
        if ordered && (left.kind == ValueKind::Boolean || right.kind == ValueKind::Boolean) {
            return Err(QueryError::new("booleans have no order", at).with_help("use =, !=, or the value alone"));
        }
        self.check_mode(&left, b)?;
        self.check_mode(&right, a)?;
        // Units are not looked at, but an age is in seconds, and 200ms must not be 200 of them.
        in_seconds(&mut left, right.age);
        in_seconds(&mut right, left.age);
        // Two ages grow alike, and what is between them stays.
        let moving = left.slope - right.slope != 0.0;
        Ok(Node::Compare(compare, Box::new(left.node), Box::new(right.node), moving))
    }

    /// A mode can only be one of a few words.
    fn check_mode(&self, of: &Typed, other: &Expr) -> Result<(), QueryError> {
        let is_mode = |slot: usize| self.slots.get(slot).is_some_and(|slot| slot.source == Source::Mode);
        match (&of.node, &other.what) {
            (Node::Slot(slot), What::Text(text)) if is_mode(*slot) && !MODES.iter().any(|mode| mode.name() == text) => {
                let names = MODES.map(|mode| format!("'{}'", mode.name()));
                let error = QueryError::new(format!("unknown mode '{text}'"), other.at.clone());
                Err(error.with_help(format!("expected one of {}", names.join(", "))))
            }
            _ => Ok(()),
        }
    }

    fn call(&mut self, function: Function, arguments: &[Expr]) -> Result<Typed, QueryError> {
        match (function, arguments) {
            (Function::Contains, [text, part]) => {
                let mut nodes = Vec::new();
                for expr in [text, part] {
                    let typed = self.typed(expr)?;
                    if !matches!(typed.kind, ValueKind::Text | ValueKind::Enum | ValueKind::Any) {
                        let message = format!("contains() needs text, found {}", word(typed.kind));
                        return Err(QueryError::new(message, expr.at.clone()));
                    }
                    nodes.push(typed.node);
                }
                let part = nodes.pop().unwrap_or(Node::Boolean(false));
                let text = nodes.pop().unwrap_or(Node::Boolean(false));
                Ok(Typed::still(Node::Contains(Box::new(text), Box::new(part)), ValueKind::Boolean))
            }
            (Function::Rate | Function::Delta | Function::Changed | Function::Age, [expr]) => {
                let What::Signal { .. } = expr.what else {
                    let message = format!("{}() needs a channel, not an expression", function.name());
                    return Err(QueryError::new(message, expr.at.clone()));
                };
                let (slot, kind) = self.signal(expr)?;
                let numeric = matches!(function, Function::Rate | Function::Delta);
                if function != Function::Age {
                    let kind = self.scalar(expr, slot, kind)?;
                    if numeric && !matches!(kind, ValueKind::Number | ValueKind::Enum | ValueKind::Any) {
                        let message = format!("{}() needs a number, found {}", function.name(), word(kind));
                        return Err(
                            QueryError::new(message, expr.at.clone()).with_help("changed() works with any value")
                        );
                    }
                }
                self.uses_changed |= function == Function::Changed;
                let kind = if function == Function::Changed { ValueKind::Boolean } else { ValueKind::Number };
                let age = function == Function::Age;
                let slope = if age { 1.0 } else { 0.0 };
                Ok(Typed { slope, age, ..Typed::still(Node::History(function, slot), kind) })
            }
            _ => {
                let nodes = arguments.iter().map(|expr| self.still_number(expr, &format!("{}()", function.name())));
                Ok(Typed::still(Node::Call(function, nodes.collect::<Result<_, _>>()?), ValueKind::Number))
            }
        }
    }

    /// Lists and structs have no value of their own.
    fn scalar(&self, expr: &Expr, slot: usize, kind: ValueKind) -> Result<ValueKind, QueryError> {
        let What::Signal { name, .. } = &expr.what else { return Ok(kind) };
        let error = |message: String| QueryError::new(message, expr.at.clone());
        match kind {
            ValueKind::List => Err(error("expected a single value, found a list".to_owned())
                .with_help(format!("use one of its elements: {name}[0]"))),
            ValueKind::Struct => {
                let fields = self.slots.get(slot).map(|slot| self.fields(slot)).unwrap_or_default();
                Err(error("expected a single value, found a struct".to_owned())
                    .with_help(format!("use one of its fields: {}", fields.join(" "))))
            }
            ValueKind::Bytes => Err(error("expected a value, found bytes without a schema".to_owned())),
            _ => Ok(kind),
        }
    }

    /// What could come behind the steps of a slot.
    fn fields(&self, slot: &Slot) -> Vec<String> {
        let Source::Channel(id) = slot.source else { return Vec::new() };
        let Some(channel) = self.catalog.channel(id) else { return Vec::new() };
        let parts = FieldReader::of(channel, self.catalog.registry);
        let beyond: Vec<Step> = slot.steps.iter().cloned().chain([Step::Field(String::new())]).collect();
        parts.kind(channel.ty(), &beyond).err().map(|(_, names)| names).unwrap_or_default()
    }

    /// The slot of a name, and what its values are.
    fn signal(&mut self, expr: &Expr) -> Result<(usize, ValueKind), QueryError> {
        let What::Signal { name, quoted, steps } = &expr.what else {
            return Err(QueryError::new("expected a channel", expr.at.clone()));
        };
        if !quoted && steps.is_empty() {
            let source = match name.as_str() {
                "mode" => Some((Source::Mode, ValueKind::Text)),
                "enabled" => Some((Source::Enabled, ValueKind::Boolean)),
                _ => None,
            };
            if let Some((source, kind)) = source {
                if !self.catalog.has_modes {
                    let error = QueryError::new("the log has no Driver Station modes", expr.at.clone());
                    return Err(
                        error.with_help(format!("to use a channel of this name, put it in double quotes: \"{name}\""))
                    );
                }
                return Ok((self.slot(source, Vec::new()), kind));
            }
        }
        let Some((id, more)) = self.channel(name, *quoted, &expr.at)? else {
            return Ok((self.slot(Source::Missing(name.clone()), steps.clone()), ValueKind::Any));
        };
        let steps: Vec<Step> = more.into_iter().chain(steps.iter().cloned()).collect();
        let Some(channel) = self.catalog.channel(id) else {
            return Err(QueryError::new("no such channel", expr.at.clone()));
        };
        if self.catalog.lacks_schema(channel) {
            return Ok((self.slot(Source::Channel(id), steps), ValueKind::Any));
        }
        let parts = FieldReader::of(channel, self.catalog.registry);
        let kind = parts.kind(channel.ty(), &steps).map_err(|(known, instead)| {
            let wrong = steps.get(known).map(ToString::to_string).unwrap_or_default();
            let path: String = steps.iter().take(known).map(ToString::to_string).collect();
            let about = format!("{}{path}", channel.name);
            let error = QueryError::new(format!("{about} ({}) has no {wrong}", channel.type_name), expr.at.clone());
            match instead.is_empty() {
                true => error,
                false => error.with_help(format!("it has {}", instead.join(" "))),
            }
        })?;
        Ok((self.slot(Source::Channel(id), steps), kind))
    }

    fn slot(&mut self, source: Source, steps: Vec<Step>) -> usize {
        let known = self.slots.iter().position(|slot| slot.source == source && slot.steps == steps);
        known.unwrap_or_else(|| {
            self.slots.push(Slot { source, steps });
            self.slots.len() - 1
        })
    }

    /// The channel of a name that may be abbreviated, and may have fields behind it; none if it may still come.
    fn channel(
        &mut self,
        name: &str,
        quoted: bool,
        at: &Range<usize>,
    ) -> Result<Option<(ChannelId, Vec<Step>)>, QueryError> {
        let mut end = name.len();
        loop {
            let (head, tail) = name.split_at_checked(end).unwrap_or((name, ""));
            match self.resolve(head) {
                Resolved::One(meaning) => {
                    self.names.insert(head.to_owned(), meaning);
                    let fields = tail.split('.').filter(|field| !field.is_empty());
                    let steps = fields.map(|field| Step::Field(field.to_owned())).collect();
                    return Ok(Some((meaning.channel, steps)));
                }
                Resolved::Many(names) => {
                    let some = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("  ");
                    let more =
                        if names.len() > SHOWN { format!("  … {} in all", names.len()) } else { String::new() };
                    let error = QueryError::new(format!("{head:?} matches several channels"), at.clone());
                    return Err(error.with_help(format!("use a longer name: {some}{more}")));
                }
                Resolved::None => {}
            }
            match head.rfind('.').filter(|_| !quoted) {
                Some(dot) if dot > 0 => end = dot,
                _ => break,
            }
        }
        if self.catalog.before.is_some() {
            return Ok(None);
        }
        let error = QueryError::new(format!("no channel {name:?}"), at.clone());
        let names = self.catalog.channels.iter().map(|(_, channel, _)| &*channel.name);
        let close = closest(name, names);
        Err(match name {
            _ if !close.is_empty() => error.with_help(format!("did you mean {}?", close.join(" or "))),
            _ if name.contains(['-', '/']) && !name.starts_with('/') => {
                error.with_help("if `-` or `/` is an operator here, put spaces around it")
            }
            _ => error.with_help("run `logpose list FILE` to see the names"),
        })
    }

    fn resolve(&self, name: &str) -> Resolved {
        let is_schema = |c: &Channel| Registry::is_schema(&c.name, &c.type_name);
        let whole = |full: &str| full == name;
        let at_border = |full: &str| {
            let before = full.strip_suffix(name).and_then(|before| before.chars().next_back());
            before.is_some_and(|c| name.starts_with('/') || !c.is_alphanumeric())
        };
        let anywhere = |full: &str| full.ends_with(name);
        let ways: [&dyn Fn(&str) -> bool; 3] = [&whole, &at_border, &anywhere];
        // What a name meant stays so, unless there is something that fits better now.
        let before = self.catalog.before.and_then(|before| before.get(name).copied());
        for (way, fits) in ways.into_iter().enumerate() {
            if let Some(before) = before.filter(|before| before.way <= way) {
                return Resolved::One(before);
            }
            let mut found: Vec<_> = self.catalog.channels.iter().filter(|(_, c, _)| fits(&c.name)).collect();
            // A struct's schema ends with its name, and is hardly ever meant.
            found.retain(|(_, c, _)| c.name == name || !is_schema(c));
            // Of two channels with one name and different types, the one with more samples is meant.
            found.sort_by(|a, b| (&a.1.name, b.2).cmp(&(&b.1.name, a.2)));
            found.dedup_by(|later, earlier| later.1.name == earlier.1.name);
            match &*found {
                [] => {}
                [(channel, ..)] => return Resolved::One(Meaning { channel: *channel, way }),
                many => return Resolved::Many(many.iter().map(|(_, c, _)| c.name.clone()).collect()),
            }
        }
        Resolved::None
    }
}

enum Resolved {
    None,
    One(Meaning),
    Many(Vec<String>),
}

/// Makes seconds of a number with a unit of time.
fn in_seconds(typed: &mut Typed, beside_an_age: bool) {
    if !beside_an_age {
        return;
    }
    let factor = match typed.unit.as_deref() {
        Some("min") => 60.0,
        Some("ms") => 1e-3,
        Some("us" | "µs") => 1e-6,
        Some("ns") => 1e-9,
        _ => return,
    };
    let mut node = &mut typed.node;
    while let Node::Negative(inner) = node {
        node = inner;
    }
    if let Node::Number(x) = node {
        *x *= factor;
    }
}

fn word(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Boolean => "a boolean",
        ValueKind::Number => "a number",
        ValueKind::Text => "a text",
        ValueKind::Bytes => "bytes",
        ValueKind::Enum => "an enum",
        ValueKind::List => "a list",
        ValueKind::Struct => "a struct",
        ValueKind::Any => "a value",
    }
}

const MODES: [Mode; 5] = [Mode::Disabled, Mode::Auto, Mode::Teleop, Mode::Test, Mode::EStop];
/// So many candidates are named.
const SHOWN: usize = 6;
