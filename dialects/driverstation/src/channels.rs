//! The channels of a Driver Station: the same in live links, captures and `.dslog` files.

use logpose_core::Channel;

use crate::wire::{ControlTag, Cores, StatusTag};

/// A channel by what it holds. [`Name::channel`] has its name, type and unit.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the table in `row`")]
pub enum Name {
    ControlEnabled,
    ControlAutonomous,
    ControlTest,
    ControlEstop,
    ControlFms,
    ControlBits,
    ControlRequest,
    ControlStation,
    Countdown,
    Date,
    Timezone,
    StatusEnabled,
    StatusAutonomous,
    StatusTest,
    StatusEstop,
    StatusBrownout,
    StatusCodeStart,
    StatusBits,
    StatusTrace,
    StatusCode,
    StatusRoborio,
    RobotDisabled,
    RobotTeleop,
    RobotAutonomous,
    RobotTest,
    Watchdog,
    Connected,
    Battery,
    TripTime,
    Lost,
    PacketLoss,
    PacketLossRaw,
    Cpu,
    Core { core: u8, class: u8 },
    DiskFree,
    RamFree,
    CanUtilization,
    CanBusOff,
    CanTxFull,
    CanReceiveErrors,
    CanTransmitErrors,
    PdType,
    PdId,
    PdFaults,
    PdCurrent(u8),
    PdTotalCurrent,
    PdVoltage,
    PdTemperature,
    PdResistance,
    PdEnergy,
    Axes(u8),
    Buttons(u8),
    Povs(u8),
    Outputs(u8),
    Rumble(u8),
    Descriptor(u8),
    Match,
    GameData,
    Console,
    ConsoleTime,
    ConsoleSequence,
    Errors,
    Events,
    Versions,
    FaultsComms,
    FaultsBrownout12V,
    FaultsRail6V,
    FaultsRail5V,
    FaultsRail3V3,
    Usage,
    Unknown { from: Origin, id: u8 },
}

/// Where bytes come from that nobody knows.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Origin {
    /// Tags of control packets.
    Control,
    /// Tags of status packets.
    Status,
    /// TCP messages from the station.
    ToRobot,
    /// TCP messages from the robot.
    ToStation,
}

impl Origin {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Status => "status",
            Self::ToRobot => "to_robot",
            Self::ToStation => "to_station",
        }
    }

    /// The tag of which there is one for each stick.
    pub(crate) const fn stick_tag(self) -> Option<u8> {
        match self {
            Self::Control => Some(ControlTag::JOYSTICK),
            Self::Status => Some(StatusTag::JOYSTICK_OUTPUT),
            Self::ToRobot | Self::ToStation => None,
        }
    }
}

impl Name {
    /// Name, type and unit.
    #[must_use]
    pub fn channel(self) -> Channel {
        self.row().channel
    }

    /// The table of the channels.
    pub(crate) fn row(self) -> Row {
        match self {
            // What the station asks for.
            Self::ControlEnabled => changing("/ds/control/enabled", "boolean"),
            Self::ControlAutonomous => changing("/ds/control/autonomous", "boolean"),
            Self::ControlTest => changing("/ds/control/test", "boolean"),
            Self::ControlEstop => changing("/ds/control/estop", "boolean"),
            Self::ControlFms => changing("/ds/control/fms_attached", "boolean"),
            Self::ControlBits => changing("/ds/control/bits", "int64"),
            Self::ControlRequest => changing("/ds/control/request", "int64"),
            Self::ControlStation => changing("/ds/control/station", "string"),
            Self::Countdown => each("/ds/control/countdown", "float").unit("s"),
            Self::Date => changing("/ds/control/date", "string"),
            Self::Timezone => changing("/ds/control/timezone", "string"),
            // What the robot says.
            Self::StatusEnabled => changing("/ds/status/enabled", "boolean"),
            Self::StatusAutonomous => changing("/ds/status/autonomous", "boolean"),
            Self::StatusTest => changing("/ds/status/test", "boolean"),
            Self::StatusEstop => changing("/ds/status/estop", "boolean"),
            Self::StatusBrownout => changing("/ds/status/brownout", "boolean"),
            Self::StatusCodeStart => changing("/ds/status/code_start", "boolean"),
            Self::StatusBits => changing("/ds/status/bits", "int64"),
            Self::StatusTrace => changing("/ds/status/trace", "int64"),
            Self::StatusCode => changing("/ds/status/code", "boolean"),
            Self::StatusRoborio => changing("/ds/status/roborio", "boolean"),
            Self::RobotDisabled => changing("/ds/status/robot_disabled", "boolean"),
            Self::RobotTeleop => changing("/ds/status/robot_teleop", "boolean"),
            Self::RobotAutonomous => changing("/ds/status/robot_autonomous", "boolean"),
            Self::RobotTest => changing("/ds/status/robot_test", "boolean"),
            Self::Watchdog => changing("/ds/status/watchdog", "boolean"),
            // The link.
            Self::Connected => changing("/ds/connected", "boolean"),
            Self::TripTime => each("/ds/trip_time", "double").unit("s"),
            Self::Lost => each("/ds/lost", "boolean"),
            Self::PacketLoss => each("/ds/packet_loss", "double"),
            Self::PacketLossRaw => each("/ds/packet_loss_raw", "int64"),
            // The roboRIO.
            Self::Battery => each("/ds/battery", "double").unit("V"),
            Self::Cpu => each("/ds/cpu", "double"),
            Self::Core { core, class } => {
                let class = Cores::CLASSES.get(usize::from(class)).copied().unwrap_or("other");
                each(format!("/ds/cpu/{core}/{class}"), "double")
            }
            Self::DiskFree => each("/ds/disk_free", "int64").unit("B"),
            Self::RamFree => each("/ds/ram_free", "int64").unit("B"),
            Self::CanUtilization => each("/ds/can/utilization", "double"),
            Self::CanBusOff => each("/ds/can/bus_off", "int64"),
            Self::CanTxFull => each("/ds/can/tx_full", "int64"),
            Self::CanReceiveErrors => each("/ds/can/receive_errors", "int64"),
            Self::CanTransmitErrors => each("/ds/can/transmit_errors", "int64"),
            Self::FaultsComms => each("/ds/faults/comms", "int64"),
            Self::FaultsBrownout12V => each("/ds/faults/brownout_12v", "int64"),
            Self::FaultsRail6V => each("/ds/faults/rail_6v", "int64"),
            Self::FaultsRail5V => each("/ds/faults/rail_5v", "int64"),
            Self::FaultsRail3V3 => each("/ds/faults/rail_3v3", "int64"),
            // The power distribution.
            Self::PdType => changing("/ds/pd/type", "string"),
            Self::PdId => changing("/ds/pd/id", "int64"),
            Self::PdFaults => changing("/ds/pd/faults", "int64"),
            Self::PdCurrent(n) => each(format!("/ds/pd/current/{n}"), "double").unit("A").family("pd_current", n),
            Self::PdTotalCurrent => each("/ds/pd/total_current", "double").unit("A"),
            Self::PdVoltage => each("/ds/pd/voltage", "double").unit("V"),
            Self::PdTemperature => each("/ds/pd/temperature", "double").unit("degC"),
            Self::PdResistance => each("/ds/pd/resistance", "double").unit("ohm"),
            Self::PdEnergy => each("/ds/pd/energy", "raw"),
            // The sticks.
            Self::Axes(port) => changing(format!("/ds/joystick/{port}/axes"), "float[]"),
            Self::Buttons(port) => changing(format!("/ds/joystick/{port}/buttons"), "boolean[]"),
            Self::Povs(port) => changing(format!("/ds/joystick/{port}/povs"), "int64[]"),
            Self::Outputs(port) => changing(format!("/ds/joystick/{port}/outputs"), "int64"),
            Self::Rumble(port) => changing(format!("/ds/joystick/{port}/rumble"), "double[]"),
            Self::Descriptor(port) => each(format!("/ds/joystick/{port}/descriptor"), "json"),
            // The match.
            Self::Match => each("/ds/match", "json"),
            Self::GameData => each("/ds/game_data", "string"),
            // Reported by the user's program.
            Self::Console => each("/ds/console", "string"),
            Self::ConsoleTime => each("/ds/console/time", "double").unit("s"),
            Self::ConsoleSequence => each("/ds/console/sequence", "int64"),
            Self::Errors => each("/ds/errors", "json"),
            Self::Events => each("/ds/events", "string"),
            Self::Versions => each("/ds/versions", "json"),
            Self::Usage => each("/ds/usage", "string"),
            Self::Unknown { from, id } => each(format!("/ds/unknown/{}/{id:02x}", from.name()), "raw"),
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) channel: Channel,
    pub(crate) on_change: bool,
}

fn each(name: impl Into<String>, type_name: &str) -> Row {
    Row { channel: Channel::new(name, type_name), on_change: false }
}

fn changing(name: impl Into<String>, type_name: &str) -> Row {
    Row { on_change: true, ..each(name, type_name) }
}

impl Row {
    fn unit(mut self, unit: &str) -> Self {
        self.channel.unit = Some(unit.to_owned());
        self
    }

    fn family(mut self, table: &str, key: u8) -> Self {
        self.channel.family = Some(Box::new((table.to_owned(), key.to_string())));
        self
    }
}
