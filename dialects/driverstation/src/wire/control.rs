//! Control packets, from the station to the robot.

use std::fmt;
use std::str::FromStr;

use logpose_core::{Cursor, Time, civil};

use super::WireError;
use super::bits::{ControlBits, RequestBits};
use super::joystick::{self, Joystick};
use super::show::{Quoted, extra};
use super::tags::{RawTag, TagProblem, Tags, put_tag};

const COUNTDOWN: u8 = 0x07;
const DATE: u8 = 0x0f;
const TIMEZONE: u8 = 0x10;

/// A control packet, one every 20 ms, borrowed from its datagram.
///
/// ```text
/// sequence u16 | version u8 | control u8 | request u8 | station u8 | tags
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Control<'a> {
    /// Counts the packets; behind 65535 comes 0. The robot sends it back.
    pub sequence: u16,
    /// 1 since 2015.
    pub version: u8,
    /// What the station asks for.
    pub control: ControlBits,
    /// What it wants besides.
    pub request: RequestBits,
    /// Where it stands.
    pub station: AllianceStation,
    /// The rest of the datagram.
    pub tags: Tags<'a>,
}

impl<'a> Control<'a> {
    /// Bytes in front of the tags.
    pub const HEADER: usize = 6;

    /// Reads a datagram. Tags are looked at when they are walked.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = Cursor::new(datagram, 0);
        let [high, low, version, control, request, station] = *cur.array("a control packet")?;
        Ok(Self {
            sequence: u16::from_be_bytes([high, low]),
            version,
            control: ControlBits(control),
            request: RequestBits(request),
            station: AllianceStation(station),
            tags: Tags::new(cur.rest(), Self::HEADER),
        })
    }

    /// Appends the datagram, the tags as they came.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&[self.version, self.control.0, self.request.0, self.station.0]);
        out.extend_from_slice(self.tags.bytes());
    }
}

/// `#7275 teleop, enabled; connected; blue 2; joystick axes …`.
impl fmt::Display for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {}; {}; {}", self.sequence, self.control, self.request, self.station)?;
        for tag in self.tags {
            match tag.and_then(ControlTag::parse) {
                Ok(tag) => write!(f, "; {tag}")?,
                Err(problem) => write!(f, "; {problem}")?,
            }
        }
        Ok(())
    }
}

/// Which of the six places of a field.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct AllianceStation(pub u8);

impl AllianceStation {
    /// All six, in the order of their bytes.
    pub const ALL: [Self; 6] = [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5)];

    /// Whether it is one of the six.
    #[must_use]
    pub const fn is_known(self) -> bool {
        self.0 < 6
    }
}

impl fmt::Display for AllianceStation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            red @ 0..3 => write!(f, "red {}", red + 1),
            blue @ 3..6 => write!(f, "blue {}", blue - 2),
            other => write!(f, "station {other}"),
        }
    }
}

/// A text that names none of the six places.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid alliance station {0:?}, expected red 1 to red 3 or blue 1 to blue 3")]
pub struct UnknownStation(pub String);

/// Reads `red 1` and `red1`, in any case.
impl FromStr for AllianceStation {
    type Err = UnknownStation;

    fn from_str(text: &str) -> Result<Self, UnknownStation> {
        let plain = |text: &str| text.replace([' ', '-', '_'], "").to_ascii_lowercase();
        let given = plain(text);
        let found = Self::ALL.into_iter().find(|station| plain(&station.to_string()) == given);
        found.ok_or_else(|| UnknownStation(text.to_owned()))
    }
}

/// What a tag of a control packet says. `rest` is what stands behind the known layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ControlTag<'a> {
    /// `07`: how long the mode still lasts.
    Countdown {
        /// Seconds.
        seconds: f32,
        #[expect(missing_docs, reason = "said above")]
        rest: &'a [u8],
    },
    /// `0c`: a stick. Its place among the joystick tags is its number; `None` is a tag without data, a slot without a
    /// stick.
    Joystick(Option<Joystick<'a>>),
    /// `0f`: what time it is.
    Date {
        /// The time, in UTC.
        date: Date,
        #[expect(missing_docs, reason = "said above")]
        rest: &'a [u8],
    },
    /// `10`: a POSIX name such as `PST8PDT`.
    Timezone(&'a [u8]),
    /// What nobody knows.
    Unknown(RawTag<'a>),
}

impl<'a> ControlTag<'a> {
    /// The id of the tags of sticks.
    pub const JOYSTICK: u8 = joystick::TAG;

    /// Looks into a tag.
    pub fn parse(tag: RawTag<'a>) -> Result<Self, TagProblem> {
        Self::parse_data(tag).map_err(|error| tag.too_short(error))
    }

    fn parse_data(tag: RawTag<'a>) -> Result<Self, WireError> {
        let mut cur = tag.cursor();
        Ok(match tag.id {
            COUNTDOWN => {
                let seconds = f32::from_bits(cur.u32_be("countdown")?);
                Self::Countdown { seconds, rest: cur.rest() }
            }
            joystick::TAG if cur.is_empty() => Self::Joystick(None),
            joystick::TAG => Self::Joystick(Some(Joystick::parse(&mut cur)?)),
            DATE => {
                let date = Date::parse(&mut cur)?;
                Self::Date { date, rest: cur.rest() }
            }
            TIMEZONE => Self::Timezone(tag.data),
            _ => Self::Unknown(tag),
        })
    }

    /// What stands behind the known layout.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        match self {
            Self::Countdown { rest, .. } | Self::Date { rest, .. } => rest,
            Self::Joystick(Some(stick)) => stick.rest,
            Self::Joystick(None) | Self::Timezone(_) | Self::Unknown(_) => &[],
        }
    }

    /// Appends the tag. What one size byte cannot say is cut.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Countdown { seconds, rest } => put_tag(COUNTDOWN, out, |out| {
                out.extend_from_slice(&seconds.to_bits().to_be_bytes());
                out.extend_from_slice(rest);
            }),
            Self::Joystick(stick) => put_tag(joystick::TAG, out, |out| {
                if let Some(stick) = stick {
                    stick.emit(out);
                }
            }),
            Self::Date { date, rest } => put_tag(DATE, out, |out| {
                date.emit(out);
                out.extend_from_slice(rest);
            }),
            Self::Timezone(name) => put_tag(TIMEZONE, out, |out| out.extend_from_slice(name)),
            Self::Unknown(tag) => tag.emit(out),
        }
    }
}

impl fmt::Display for ControlTag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Countdown { seconds, .. } => write!(f, "countdown {seconds} s"),
            Self::Joystick(None) => f.write_str("no joystick"),
            Self::Joystick(Some(stick)) => write!(f, "joystick {stick}"),
            Self::Date { date, .. } => write!(f, "date {date}"),
            Self::Timezone(name) => write!(f, "timezone {}", Quoted(name)),
            Self::Unknown(tag) => write!(f, "{tag}"),
        }?;
        extra(f, self.rest())
    }
}

/// A time in UTC, field by field as it came. LibDS sends days and fractions that are none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Date {
    /// Microseconds of the second.
    pub micros: u32,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 23.
    pub hour: u8,
    /// Day of the month from 1 on.
    pub day: u8,
    /// 0 is January.
    pub month: u8,
    /// 0 is 1900.
    pub year: u8,
}

impl Date {
    const DAY: i64 = 86_400_000_000;

    fn parse(cur: &mut Cursor<'_>) -> Result<Self, WireError> {
        let [m0, m1, m2, m3, second, minute, hour, day, month, year] = *cur.array("date")?;
        Ok(Self { micros: u32::from_be_bytes([m0, m1, m2, m3]), second, minute, hour, day, month, year })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.micros.to_be_bytes());
        out.extend_from_slice(&[self.second, self.minute, self.hour, self.day, self.month, self.year]);
    }

    /// The date of a time in Unix nanoseconds; `None` before 1900 and behind 2155.
    #[must_use]
    pub fn of(time: Time) -> Option<Self> {
        let micros = time.nanos().div_euclid(1_000);
        let (days, of_day) = (micros.div_euclid(Self::DAY), micros.rem_euclid(Self::DAY));
        let (year, month, day) = civil(days);
        let small = |n: i64| u8::try_from(n).ok();
        Some(Self {
            micros: u32::try_from(of_day % 1_000_000).ok()?,
            second: small(of_day / 1_000_000 % 60)?,
            minute: small(of_day / 60_000_000 % 60)?,
            hour: small(of_day / 3_600_000_000)?,
            day: small(day)?,
            month: small(month - 1)?,
            year: small(year - 1900)?,
        })
    }

    /// The time in Unix nanoseconds; `None` if the fields are no date.
    #[must_use]
    pub fn time(&self) -> Option<Time> {
        let (year, month) = (1900 + i64::from(self.year), i64::from(self.month));
        // What `civil` does the other way round, with years that begin in March.
        let year = year - i64::from(month < 2);
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * ((month + 10) % 12) + 2) / 5 + i64::from(self.day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = era * 146_097 + day_of_era - 719_468;
        let seconds = i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        let time = Time::from_micros(days * Self::DAY + seconds * 1_000_000 + i64::from(self.micros));
        (Self::of(time).as_ref() == Some(self)).then_some(time)
    }
}

/// RFC 3339, also where the fields are no date.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { micros, second, minute, hour, day, month, year } = *self;
        let (year, month) = (1900 + u16::from(year), u16::from(month) + 1);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}
