//! What the bytes of a file mean as channels and values.

use std::sync::LazyLock;

use logpose_core::{Channel, ChannelIndex, Type, Value, array_at};

use crate::float16;
use crate::items::{self, FOLDER};
use crate::rfrec::Kind;
use crate::wire::{Adjustment, Flags};

/// Where a channel's values come from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Source {
    /// The n-th value of each sample.
    Item(usize),
    /// Some bits of each sample's flags.
    State(State),
    /// The blocks of a kind, one sample each.
    Block(Kind),
}

/// What the flags of a sample say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    Running,
    Wheelslip,
    Footpad,
    Adjustment,
}

pub(crate) const STATES: [State; 4] = [State::Running, State::Wheelslip, State::Footpad, State::Adjustment];
/// Kinds of blocks that are channels, in the order in which they are written.
pub(crate) const BLOCK_KINDS: [Kind; 5] = [Kind::Meta, Kind::Info, Kind::Status, Kind::Header, Kind::TimeRef];

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Wheelslip => "wheelslip",
            Self::Footpad => "footpad",
            Self::Adjustment => "adjustment",
        }
    }

    fn type_name(self) -> &'static str {
        match self {
            Self::Running | Self::Wheelslip => "boolean",
            Self::Footpad | Self::Adjustment => "string",
        }
    }

    fn value(self, flags: Flags) -> Value<'static> {
        match self {
            Self::Running => Value::Boolean(flags.running()),
            Self::Wheelslip => Value::Boolean(flags.wheelslip()),
            Self::Footpad => Value::String(flags.footpad().name().as_bytes()),
            Self::Adjustment => Value::String(adjustment_name(flags.adjustment()).as_bytes()),
        }
    }
}

/// The word of an adjustment, which lasts.
fn adjustment_name(kind: Adjustment) -> &'static str {
    static NAMES: LazyLock<Vec<String>> =
        LazyLock::new(|| (0..16).map(|code| Adjustment(code).name().into()).collect());
    NAMES.get(usize::from(kind.0)).map_or("", |name| name)
}

/// The channel of a piece of flags.
pub(crate) fn state_channel(state: State) -> Channel {
    Channel::new(format!("{FOLDER}{}", state.name()), state.type_name())
}

/// The channel of blocks of a kind, if they have one.
pub(crate) fn block_channel(kind: Kind) -> Option<Channel> {
    let (name, type_name) = match kind {
        Kind::Meta => ("meta", "json"),
        Kind::Info => ("info", "raw"),
        Kind::Header => ("header", "raw"),
        Kind::Status => ("status", "raw"),
        Kind::TimeRef => ("timeref", "json"),
        Kind::Samples | Kind::End | Kind::Unknown(_) => return None,
    };
    Some(Channel::new(format!("{FOLDER}file/{name}"), type_name))
}

/// The channels of the values of a sample. An id that a header has twice is two channels.
pub(crate) fn item_channels<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<Channel> {
    let mut channels: Vec<Channel> = Vec::new();
    for id in ids {
        let mut channel = items::channel(id);
        let plain = channel.name.clone();
        let mut turn = 1;
        while channels.iter().any(|before| before.name == channel.name) {
            turn += 1;
            channel.name = format!("{plain}#{turn}");
        }
        channels.push(channel);
    }
    channels
}

/// What the channels of an index are made of.
pub(crate) fn sources(channels: &[ChannelIndex]) -> Vec<Option<Source>> {
    let mut items = 0..;
    let source = |found: &ChannelIndex| match &*found.channel.type_name {
        "float" => items.next().map(Source::Item),
        _ => named(&found.channel),
    };
    channels.iter().map(source).collect()
}

/// What a channel is that is not of values.
pub(crate) fn named(channel: &Channel) -> Option<Source> {
    let same = |other: &Channel| other.name == channel.name && other.type_name == channel.type_name;
    let state = STATES.into_iter().find(|state| same(&state_channel(*state))).map(Source::State);
    state.or_else(|| {
        let part = BLOCK_KINDS.into_iter().find(|kind| block_channel(*kind).is_some_and(|other| same(&other)));
        part.map(Source::Block)
    })
}

/// What a channel is that is not of values, also where its format has no bytes and no JSON but texts.
pub(crate) fn meant(channel: &Channel) -> Option<Source> {
    named(channel).or_else(|| {
        let part = BLOCK_KINDS
            .into_iter()
            .find(|kind| block_channel(*kind).is_some_and(|other| other.name == channel.name))?;
        matches!(channel.ty(), Type::String | Type::Bytes).then_some(Source::Block(part))
    })
}

/// The value of a sample on a channel; `None` for blocks.
#[inline]
pub(crate) fn value(source: Source, sample: &[u8]) -> Option<Value<'static>> {
    match source {
        Source::Item(place) => {
            let code = array_at(sample, 5 + 2 * place).map(|code| u16::from_be_bytes(*code))?;
            Some(Value::Float(float16::decode(code)))
        }
        Source::State(state) => Some(state.value(Flags(*sample.get(4)?))),
        Source::Block(_) => None,
    }
}
