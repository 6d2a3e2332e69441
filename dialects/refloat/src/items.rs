//! What the values of a board are: ids, units and meanings, which version has which, and the bits that choose them.

use logpose_core::Channel;

use crate::wire::Version;

/// One value of a board.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Item {
    /// Its id in 1.1 and 1.2, if they have it.
    pub old: Option<&'static str>,
    /// Its id since 1.3, if that has it.
    pub new: Option<&'static str>,
    /// Whether it is recorded.
    pub recorded: bool,
    /// Whether a live reply has it only while the board is engaged.
    pub running: bool,
    /// Its unit.
    pub unit: Option<&'static str>,
    /// What it is.
    pub about: &'static str,
}

/// Every item, in the order in which the board has them.
pub static ITEMS: &[Item] = &[
    new("control.dt", Some("ms"), "time step of the control callback").recorded(),
    new("control.freq", Some("Hz"), "control frequency, filtered").recorded(),
    renamed("motor.speed", "speed", Some("km/h"), "speed, signed"),
    renamed("motor.erpm", "erpm", Some("rpm"), "electrical revolutions a minute, signed").recorded(),
    renamed("motor.current", "current", Some("A"), "motor current, positive accelerating, negative braking"),
    renamed("motor.dir_current", "dir_current", Some("A"), "motor current, signed by the torque's direction")
        .recorded(),
    renamed("motor.filt_current", "filt_current", Some("A"), "directional motor current, low-passed"),
    renamed("motor.duty_cycle", "duty_cycle", None, "duty cycle, 0 to 1, absolute, low-passed").recorded(),
    renamed("motor.batt_voltage", "batt_voltage", Some("V"), "battery voltage").recorded(),
    renamed("motor.batt_current", "batt_current", Some("A"), "battery current, low-passed"),
    renamed("motor.mosfet_temp", "mosfet_temp", Some("degC"), "temperature of the MOSFETs"),
    renamed("motor.motor_temp", "motor_temp", Some("degC"), "temperature of the motor"),
    renamed("imu.pitch", "pitch", Some("deg"), "pitch").recorded(),
    renamed("imu.balance_pitch", "balance_pitch", Some("deg"), "pitch out of the balance filter").recorded(),
    renamed("imu.roll", "roll", Some("deg"), "roll"),
    renamed("footpad.adc1", "adc_left", Some("V"), "left half of the footpad"),
    renamed("footpad.adc2", "adc_right", Some("V"), "right half of the footpad"),
    same("remote.input", None, "input of the remote, -1 to 1"),
    same("setpoint", Some("deg"), "setpoint of the pitch").recorded().running(),
    same("atr.setpoint", Some("deg"), "part of the setpoint: adaptive torque response").recorded().running(),
    same("brake_tilt.setpoint", Some("deg"), "part of the setpoint: brake tilt").running(),
    same("torque_tilt.setpoint", Some("deg"), "part of the setpoint: torque tilt").recorded().running(),
    same("turn_tilt.setpoint", Some("deg"), "part of the setpoint: turn tilt").running(),
    same("remote.setpoint", Some("deg"), "part of the setpoint: remote").running(),
    same("balance_current", Some("A"), "motor current that the controller asks for").recorded().running(),
    same("atr.accel_diff", None, "expected minus measured acceleration, ERPM per loop").running(),
    same("atr.speed_boost", None, "factor of adaptive torque response by speed").running(),
    new("atr.transition_boost", None, "factor of adaptive torque response in transitions, 1 is none")
        .recorded()
        .running(),
    // Two items and not one renamed: 1.3 counts in another unit.
    old("booster.current", Some("A"), "current of the booster").running(),
    new("booster.torque", Some("Nm"), "torque of the booster").running(),
];

/// The item with this id, be it the old one or the new one.
#[must_use]
pub fn item(id: &str) -> Option<&'static Item> {
    ITEMS.iter().find(|item| item.old == Some(id) || item.new == Some(id))
}

/// The id since 1.3 of what has this id; the same where there is no other.
#[must_use]
pub fn newest(id: &str) -> &str {
    item(id).and_then(|item| item.new).unwrap_or(id)
}

/// The ids that a version records. Testing builds may have others: a client takes them from the header.
#[must_use]
pub fn recorded(version: &Version) -> Vec<&'static str> {
    ids(version, |item| item.recorded)
}

/// The ids of the live values of a version: those always sent, and those sent while the board is engaged.
#[must_use]
pub fn live_ids(version: &Version) -> (Vec<&'static str>, Vec<&'static str>) {
    (ids(version, |item| !item.running), ids(version, |item| item.running))
}

fn ids(version: &Version, choose: impl Fn(&Item) -> bool) -> Vec<&'static str> {
    let new = version.has_mask();
    ITEMS.iter().filter(|item| choose(item)).filter_map(|item| if new { item.new } else { item.old }).collect()
}

/// The channel of the values with this id.
///
/// An id that a board gives to an item and that is the name of another channel here stands in a folder of its own. No
/// version has one.
#[must_use]
pub fn channel(id: &str) -> Channel {
    let item = item(id);
    let metadata = match item {
        Some(item) if item.new == Some("erpm") => r#"{"about":"electrical revolutions a minute"}"#,
        _ => "",
    };
    let folder = if is_reserved(id) { ITEMS_FOLDER } else { FOLDER };
    Channel {
        unit: item.and_then(|item| item.unit).map(str::to_owned),
        metadata: metadata.to_owned(),
        ..Channel::new(format!("{folder}{id}"), "float")
    }
}

/// The id of the item whose values are on the channel with this name, if it is one of an item.
#[must_use]
pub fn id_of(channel: &str) -> Option<&str> {
    match channel.strip_prefix(ITEMS_FOLDER) {
        Some(id) if is_reserved(id) => Some(id),
        _ => channel.strip_prefix(FOLDER).filter(|id| !is_reserved(id)),
    }
}

/// Where the channels of a board are.
pub(crate) const FOLDER: &str = "/refloat/";
/// Where those items are whose ids are taken.
const ITEMS_FOLDER: &str = "/refloat/items/";

/// Names of channels that are not numbers of items.
static RESERVED: &[&str] = &[
    "running",
    "wheelslip",
    "footpad",
    "adjustment",
    "state",
    "mode",
    "stop_condition",
    "beep_reason",
    "charging",
    "darkride",
    "fatal_error",
    "recording",
    "autostart",
    "autostop",
    "fault_code",
    "alerts",
    "prints",
    "odometer",
    "gnss.latitude",
    "gnss.longitude",
    "gnss.tick",
];

fn is_reserved(id: &str) -> bool {
    RESERVED.contains(&id) || ["file/", "items/"].iter().any(|folder| id.starts_with(folder))
}

const fn renamed(old: &'static str, new: &'static str, unit: Option<&'static str>, about: &'static str) -> Item {
    Item { old: Some(old), new: Some(new), recorded: false, running: false, unit, about }
}

const fn same(id: &'static str, unit: Option<&'static str>, about: &'static str) -> Item {
    renamed(id, id, unit, about)
}

const fn old(id: &'static str, unit: Option<&'static str>, about: &'static str) -> Item {
    Item { new: None, ..same(id, unit, about) }
}

const fn new(id: &'static str, unit: Option<&'static str>, about: &'static str) -> Item {
    Item { old: None, ..same(id, unit, about) }
}

impl Item {
    const fn recorded(self) -> Self {
        Self { recorded: true, ..self }
    }

    const fn running(self) -> Self {
        Self { running: true, ..self }
    }
}

/// Since when a bit of the masks has a field. All of them are versions 1.3.0.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Since {
    /// 1.3.0-preview1, the first with masks.
    Preview1,
    /// 1.3.0-preview3.
    Preview3,
    /// 1.3.0-beta1.
    Beta1,
}

impl Since {
    /// All of them, in their order.
    pub const ALL: [Self; 3] = [Self::Preview1, Self::Preview3, Self::Beta1];

    /// The latest of them that a version has reached; `None` if it has no masks.
    #[must_use]
    pub fn of(version: &Version) -> Option<Self> {
        Some(match version {
            version if version.has_gnss() => Self::Beta1,
            version if version.has_control_frequency() => Self::Preview3,
            version if version.has_mask() => Self::Preview1,
            _ => return None,
        })
    }
}

/// How a field lies in the reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FieldKind {
    /// One byte of bits.
    Extra,
    /// The four bytes of state flags.
    State,
    /// A number: float16, or binary32 if that was asked for.
    Number,
    /// A whole number of four bytes.
    Whole,
    /// A binary64 number.
    Double,
}

impl FieldKind {
    /// Bytes of the field.
    #[must_use]
    pub const fn size(self, float32: bool) -> usize {
        match self {
            Self::Extra => 1,
            Self::Number if !float32 => 2,
            Self::State | Self::Number | Self::Whole => 4,
            Self::Double => 8,
        }
    }
}

/// One bit of the masks of live values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MaskField {
    /// Its place, 0 being the lowest.
    pub bit: u8,
    /// The id of its channel.
    pub id: &'static str,
    /// Its unit.
    pub unit: Option<&'static str>,
    /// How it lies in the reply.
    pub kind: FieldKind,
    /// Since when it is there.
    pub since: Since,
}

impl MaskField {
    /// The field's channel.
    #[must_use]
    pub fn channel(&self) -> Channel {
        let type_name = match self.kind {
            FieldKind::Number => "float",
            FieldKind::Double => "double",
            FieldKind::Extra | FieldKind::State | FieldKind::Whole => "int64",
        };
        let name = format!("{FOLDER}{}", self.id);
        let unit = self.unit.map(str::to_owned);
        Channel { name, type_name: type_name.to_owned(), unit, ..channel(self.id) }
    }
}

/// The fields of the first mask. The bits that are not here have none.
pub static MASK1: &[MaskField] = &[
    field(0, "extra_flags", None, FieldKind::Extra, Since::Preview1),
    field(1, "state_flags", None, FieldKind::State, Since::Preview1),
    number(6, "speed", Some("km/h")),
    number(7, "erpm", Some("rpm")),
    number(8, "current", Some("A")),
    number(9, "dir_current", Some("A")),
    number(10, "filt_current", Some("A")),
    number(11, "duty_cycle", None),
    number(12, "batt_voltage", Some("V")),
    number(13, "batt_current", Some("A")),
    number(14, "battery_level", None),
    number(15, "mosfet_temp", Some("degC")),
    number(16, "motor_temp", Some("degC")),
    number(17, "pitch", Some("deg")),
    number(18, "balance_pitch", Some("deg")),
    number(19, "roll", Some("deg")),
    number(20, "adc_left", Some("V")),
    number(21, "adc_right", Some("V")),
    number(22, "remote.input", None),
    number(23, "setpoint", Some("deg")),
    number(24, "atr.setpoint", Some("deg")),
    number(25, "brake_tilt.setpoint", Some("deg")),
    number(26, "torque_tilt.setpoint", Some("deg")),
    number(27, "turn_tilt.setpoint", Some("deg")),
    number(28, "remote.setpoint", Some("deg")),
    number(29, "balance_current", Some("A")),
    field(30, "control.freq", Some("Hz"), FieldKind::Number, Since::Preview3),
];

/// The fields of the second mask.
pub static MASK2: &[MaskField] = &[
    field(0, "odometer", Some("m"), FieldKind::Whole, Since::Preview1),
    number(1, "distance", Some("m")),
    number(2, "charging.voltage", Some("V")),
    number(3, "charging.current", Some("A")),
    number(4, "amp_hours.used", Some("Ah")),
    number(5, "amp_hours.charged", Some("Ah")),
    number(6, "watt_hours.used", Some("Wh")),
    number(7, "watt_hours.charged", Some("Wh")),
    number(8, "foc_d_current", Some("A")),
    field(9, "gnss.latitude", Some("deg"), FieldKind::Double, Since::Beta1),
    field(10, "gnss.longitude", Some("deg"), FieldKind::Double, Since::Beta1),
    field(11, "gnss.altitude", Some("m"), FieldKind::Number, Since::Beta1),
    field(12, "gnss.speed", Some("km/h"), FieldKind::Number, Since::Beta1),
    field(13, "gnss.hdop", None, FieldKind::Number, Since::Beta1),
    field(14, "gnss.tick", None, FieldKind::Whole, Since::Beta1),
];

/// The fields of these masks, in the order of the reply.
pub fn fields(mask1: u32, mask2: u32) -> impl Iterator<Item = &'static MaskField> {
    let chosen = |mask: u32| move |field: &&MaskField| mask >> field.bit & 1 == 1;
    MASK1.iter().filter(chosen(mask1)).chain(MASK2.iter().filter(chosen(mask2)))
}

/// The field with this id, in either mask.
#[must_use]
pub fn mask_field(id: &str) -> Option<&'static MaskField> {
    MASK1.iter().chain(MASK2).find(|field| field.id == id)
}

/// All bits that a version has fields for; `None` if it has no masks.
#[must_use]
pub fn masks(version: &Version) -> Option<(u32, u32)> {
    let reached = Since::of(version)?;
    let all = |fields: &[MaskField]| {
        fields.iter().filter(|field| field.since <= reached).fold(0, |mask, field| mask | 1 << field.bit)
    };
    Some((all(MASK1), all(MASK2)))
}

const fn number(bit: u8, id: &'static str, unit: Option<&'static str>) -> MaskField {
    field(bit, id, unit, FieldKind::Number, Since::Preview1)
}

const fn field(bit: u8, id: &'static str, unit: Option<&'static str>, kind: FieldKind, since: Since) -> MaskField {
    MaskField { bit, id, unit, kind, since }
}
