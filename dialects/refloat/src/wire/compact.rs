//! Live values in the form that every version has, also Float.

use std::borrow::Cow;
use std::fmt;

use logpose_core::Cursor;

use super::flags::beep_reason_name;
use super::{Adjustment, PACKAGE, WireError, WireErrorKind, id, put_float32, show};

/// The compact reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compact {
    /// The firmware has this fault, and sends nothing else.
    Fault(u8),
    /// The values.
    Values(CompactValues),
}

/// The values of the compact reply, as they are on the wire. The methods have them in their units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompactValues {
    /// Tenths of A.
    pub balance_current: i16,
    /// Tenths of a degree.
    pub balance_pitch: i16,
    /// Tenths of a degree.
    pub roll: i16,
    /// Low half: what the board does; high half: why the setpoint changes.
    pub state: u8,
    /// Bits 0 to 2: pressed pads; bit 3: handtest; high half: the reason of the beep.
    pub switches: u8,
    /// Fiftieths of V.
    pub adc_left: u8,
    /// Fiftieths of V.
    pub adc_right: u8,
    /// Fifths of a degree above 128: all, ATR, brake tilt, torque tilt, turn tilt, remote.
    pub setpoints: [u8; 6],
    /// Tenths of a degree.
    pub pitch: i16,
    /// A above 128, in 1.3 Nm.
    pub booster: u8,
    /// Tenths of V.
    pub batt_voltage: i16,
    /// Electrical revolutions a minute.
    pub erpm: i16,
    /// Tenths of m/s.
    pub speed: i16,
    /// Tenths of A.
    pub current: i16,
    /// Tenths of A.
    pub batt_current: i16,
    /// Hundredths above 128.
    pub duty_cycle: u8,
    /// Thirds of A; 222 is not known.
    pub d_current: u8,
    /// From mode 2 on.
    pub ride: Option<CompactRide>,
    /// From mode 3 on.
    pub totals: Option<CompactTotals>,
    /// In mode 4.
    pub charging: Option<CompactCharging>,
}

/// What mode 2 adds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompactRide {
    /// m.
    pub distance: f32,
    /// Halves of °C.
    pub mosfet_temp: u8,
    /// Halves of °C.
    pub motor_temp: u8,
    /// Always 0.
    pub zero: u8,
}

/// What mode 3 adds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompactTotals {
    /// m.
    pub odometer: u32,
    /// Tenths of Ah.
    pub amp_hours_used: i16,
    /// Tenths of Ah.
    pub amp_hours_charged: i16,
    /// Wh.
    pub watt_hours_used: i16,
    /// Wh.
    pub watt_hours_charged: i16,
    /// Halves of a percent.
    pub battery: u8,
}

/// What mode 4 adds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompactCharging {
    /// Tenths of A.
    pub current: i16,
    /// Tenths of V.
    pub voltage: i16,
}

/// The mode that says that the firmware has a fault.
const FAULT: u8 = 69;

impl Compact {
    /// Reads a message, which must have the length of its mode.
    pub fn parse(message: &[u8]) -> Result<Self, WireError> {
        let mut cur = show::expect(message, id::REALTIME)?;
        let reply = match cur.u8("mode")? {
            FAULT => Self::Fault(cur.u8("fault code")?),
            mode @ 1..=4 => Self::Values(CompactValues::parse(mode, &mut cur)?),
            found => return Err(WireError::new(2, WireErrorKind::Unknown { what: "mode", found })),
        };
        show::ends(&cur, "compact reply")?;
        Ok(reply)
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[PACKAGE, id::REALTIME]);
        match self {
            Self::Fault(code) => out.extend_from_slice(&[FAULT, *code]),
            Self::Values(values) => values.emit(out),
        }
    }
}

impl CompactValues {
    fn parse(mode: u8, cur: &mut Cursor<'_>) -> Result<Self, WireError> {
        let mut values = Self {
            balance_current: int(cur, "balance current")?,
            balance_pitch: int(cur, "balance pitch")?,
            roll: int(cur, "roll")?,
            state: cur.u8("state")?,
            switches: cur.u8("switches")?,
            adc_left: cur.u8("left pad")?,
            adc_right: cur.u8("right pad")?,
            setpoints: *cur.array("setpoints")?,
            pitch: int(cur, "pitch")?,
            booster: cur.u8("booster")?,
            batt_voltage: int(cur, "battery voltage")?,
            erpm: int(cur, "erpm")?,
            speed: int(cur, "speed")?,
            current: int(cur, "motor current")?,
            batt_current: int(cur, "battery current")?,
            duty_cycle: cur.u8("duty cycle")?,
            d_current: cur.u8("d-axis current")?,
            ..Self::default()
        };
        if mode >= 2 {
            values.ride = Some(CompactRide {
                distance: f32::from_bits(cur.u32_be("distance")?),
                mosfet_temp: cur.u8("MOSFET temperature")?,
                motor_temp: cur.u8("motor temperature")?,
                zero: cur.u8("zero")?,
            });
        }
        if mode >= 3 {
            values.totals = Some(CompactTotals {
                odometer: cur.u32_be("odometer")?,
                amp_hours_used: int(cur, "Ah used")?,
                amp_hours_charged: int(cur, "Ah charged")?,
                watt_hours_used: int(cur, "Wh used")?,
                watt_hours_charged: int(cur, "Wh charged")?,
                battery: cur.u8("battery level")?,
            });
        }
        if mode >= 4 {
            let (current, voltage) = (int(cur, "charging current")?, int(cur, "charging voltage")?);
            values.charging = Some(CompactCharging { current, voltage });
        }
        Ok(values)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.push(self.mode());
        put_ints([self.balance_current, self.balance_pitch, self.roll], out);
        out.extend_from_slice(&[self.state, self.switches, self.adc_left, self.adc_right]);
        out.extend_from_slice(&self.setpoints);
        put_ints([self.pitch], out);
        out.push(self.booster);
        put_ints([self.batt_voltage, self.erpm, self.speed, self.current, self.batt_current], out);
        out.extend_from_slice(&[self.duty_cycle, self.d_current]);
        let Some(ride) = self.ride else { return };
        put_float32(ride.distance, out);
        out.extend_from_slice(&[ride.mosfet_temp, ride.motor_temp, ride.zero]);
        let Some(totals) = self.totals else { return };
        out.extend_from_slice(&totals.odometer.to_be_bytes());
        put_ints([totals.amp_hours_used, totals.amp_hours_charged], out);
        put_ints([totals.watt_hours_used, totals.watt_hours_charged], out);
        out.push(totals.battery);
        if let Some(CompactCharging { current, voltage }) = self.charging {
            put_ints([current, voltage], out);
        }
    }

    /// How much of it there is: each part needs the one before.
    #[must_use]
    pub fn mode(&self) -> u8 {
        match (self.ride, self.totals, self.charging) {
            (None, _, _) => 1,
            (_, None, _) => 2,
            (_, _, None) => 3,
            _ => 4,
        }
    }

    /// The low half of `state`.
    #[must_use]
    pub fn state_code(&self) -> u8 {
        self.state & 15
    }

    /// The word of what the board does.
    #[must_use]
    pub fn state_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self.state_code() {
            0 => "startup",
            1 => "running",
            2 => "tiltback",
            3 => "wheelslip",
            4 => "upside down",
            5 => "flywheel",
            6 => "pitch",
            7 => "roll",
            8 => "switch half",
            9 => "switch full",
            11 => "ready",
            12 => "reverse stop",
            13 => "quickstop",
            14 => "charging",
            15 => "disabled",
            n => return Cow::Owned(format!("state {n}")),
        })
    }

    /// Why the setpoint changes, in the numbers of the recording. The reply has others; what it does not say is none.
    #[must_use]
    pub fn adjustment(&self) -> Adjustment {
        match self.state >> 4 {
            0 => Adjustment::CENTERING,
            1 => Adjustment::REVERSE_STOP,
            3 => Adjustment::DUTY,
            4 => Adjustment::HIGH_VOLTAGE,
            5 => Adjustment::LOW_VOLTAGE,
            6 => Adjustment::TEMPERATURE,
            7 => Adjustment::SPEED,
            8 => Adjustment::ERROR,
            _ => Adjustment::NONE,
        }
    }

    /// How many halves of the footpad are pressed.
    #[must_use]
    pub fn pads(&self) -> u8 {
        self.switches & 7
    }

    /// Whether the board is held for a test.
    #[must_use]
    pub fn handtest(&self) -> bool {
        self.switches & 8 != 0
    }

    /// Why it beeped last.
    #[must_use]
    pub fn beep_reason(&self) -> u8 {
        self.switches >> 4
    }

    /// The word of the beep reason.
    #[must_use]
    pub fn beep_reason_name(&self) -> Cow<'static, str> {
        beep_reason_name(self.beep_reason())
    }

    /// The setpoints in degrees.
    #[must_use]
    pub fn setpoint_degrees(&self) -> [f32; 6] {
        self.setpoints.map(|code| (f32::from(code) - 128.0) / 5.0)
    }

    /// The duty cycle, 1 being all.
    #[must_use]
    pub fn duty(&self) -> f32 {
        (f32::from(self.duty_cycle) - 128.0) / 100.0
    }

    /// The speed in km/h.
    #[must_use]
    pub fn speed_kmh(&self) -> f32 {
        f32::from(self.speed) * 0.36
    }

    /// The current of the d axis in A, if it is known.
    #[must_use]
    pub fn d_axis_current(&self) -> Option<f32> {
        (self.d_current != 222).then(|| f32::from(self.d_current) / 3.0)
    }
}

/// `compact: running, 12.6 km/h, erpm 4321, 75.5 V, duty 0.35, pitch -0.7`.
impl fmt::Display for Compact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(code) => write!(f, "compact: fault {code}"),
            Self::Values(values) => {
                let (state, speed, erpm) = (values.state_name(), values.speed_kmh(), values.erpm);
                let (volts, duty, pitch) = (tenths(values.batt_voltage), values.duty(), tenths(values.pitch));
                write!(f, "compact: {state}, {speed:.1} km/h, erpm {erpm}, {volts} V, duty {duty:.2}, pitch {pitch}")
            }
        }
    }
}

/// A number that is sent as tenths.
pub(crate) fn tenths(number: i16) -> f32 {
    f32::from(number) / 10.0
}

fn int(cur: &mut Cursor<'_>, what: &'static str) -> Result<i16, WireError> {
    Ok(cur.u16_be(what)?.cast_signed())
}

fn put_ints<const N: usize>(numbers: [i16; N], out: &mut Vec<u8>) {
    out.extend(numbers.into_iter().flat_map(i16::to_be_bytes));
}
