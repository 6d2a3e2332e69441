use std::io::Write;

use logpose_core::{
    Channel, ChannelId, EncodeError, Problem, Problems, Sample, Severity, Sink, SinkError, Time, Type, Value,
};
use logpose_refloat::wire::Footpad;

use super::refloat::adjustment_code;
use super::table::DAY;
use crate::decimal;

/// Writes the CSV of VESC Tool's log analysis: a row for each time, in the order of time.
///
/// Values that VESC Tool has a key for are written under that, in its unit; all others under their own id. A cell is
/// empty where there is no new value. Texts are refused with the names of their channels, except those of a recording's
/// flags, which are numbers.
#[derive(Debug)]
pub struct VescRows<W> {
    columns: Vec<Option<Column>>,
    /// The rows of the present time: the n-th samples of each channel are in the n-th.
    rows: Vec<Vec<Option<Text>>>,
    /// How many samples each channel has at the present time.
    counts: Vec<usize>,
    now: Option<Time>,
    /// What to add to a time to get that of the first day.
    offset: i64,
    epoch_ns: Option<i64>,
    not_finite: u64,
    buffer: Vec<u8>,
    out: W,
    /// What was left out.
    pub problems: Problems,
    /// Samples that were taken.
    pub samples: u64,
}

/// The digits of a cell.
type Text = Vec<u8>;

#[derive(Clone, Copy, Debug)]
enum Column {
    /// A number times another.
    Number(f64),
    Radians,
    Footpad,
    Adjustment,
}

impl<W: Write> VescRows<W> {
    /// Begins the table of these channels. `epoch_ns` is what to add to a time to get Unix nanoseconds: with it times are
    /// those of the day, else those of the log.
    pub fn new(channels: &[Channel], epoch_ns: Option<i64>, out: W) -> Result<Self, SinkError> {
        let mut buffer = b"t_day:Time:s:4:0:1".to_vec();
        let mut columns = Vec::with_capacity(channels.len());
        let (mut keys, mut beside, mut texts) = (vec!["t_day".to_owned()], Vec::new(), Vec::new());
        for channel in channels {
            let Some((heading, column)) = heading(channel) else {
                let is_beside = channel.name.starts_with("/refloat/file/");
                if is_beside { &mut beside } else { &mut texts }.push(channel.name.as_str());
                columns.push(None);
                continue;
            };
            let Heading { key, name, unit, precision } = heading;
            if [key, name, &unit].iter().any(|part| part.contains([':', ';', '\n', '\r'])) || key.is_empty() {
                return Err(refused(&channel.name, "has a name or unit with characters that separate headings"));
            }
            let mut free = key.to_owned();
            let mut count = 1;
            while keys.contains(&free) {
                count += 1;
                free = format!("{key}_{count}");
            }
            write!(buffer, ";{free}:{name}:{unit}:{precision}:0:0")?;
            keys.push(free);
            columns.push(Some(column));
        }
        if let Some(first) = texts.first() {
            let message =
                format!("is not a number, and this format holds only numbers; exclude it with -n, and also {texts:?}");
            let message = if texts.len() == 1 {
                "is not a number, and this format holds only numbers".to_owned()
            } else {
                message
            };
            return Err(refused(first, &message));
        }
        buffer.push(b'\n');
        let mut problems = Problems::default();
        if !beside.is_empty() {
            let message = format!("skipped, because this format cannot represent it: {}", beside.join(", "));
            problems.push(Problem::general(Severity::Warning, "left-out", message));
        }
        let counts = vec![0; columns.len()];
        Ok(Self {
            columns,
            rows: Vec::new(),
            counts,
            now: None,
            offset: 0,
            epoch_ns,
            not_finite: 0,
            buffer,
            out,
            problems,
            samples: 0,
        })
    }

    /// Writes the last rows.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        self.write_rows()?;
        if self.not_finite > 0 {
            let message = format!("skipped {} values that are not finite", self.not_finite);
            self.problems.push(Problem::general(Severity::Damage, "not-finite", message));
        }
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// What the table was written to.
    pub fn into_out(self) -> W {
        self.out
    }

    /// Goes on to a time.
    fn go_to(&mut self, time: Time) -> Result<(), SinkError> {
        if self.now == Some(time) {
            return Ok(());
        }
        if let (None, Some(epoch)) = (self.now, self.epoch_ns) {
            let midnight = time.plus(epoch).nanos().div_euclid(DAY).saturating_mul(DAY);
            self.offset = epoch.saturating_sub(midnight);
        }
        self.write_rows()?;
        self.now = Some(time);
        Ok(())
    }

    /// Writes the rows of the present time.
    fn write_rows(&mut self) -> Result<(), SinkError> {
        let Some(now) = self.now else { return Ok(()) };
        for row in self.rows.drain(..) {
            seconds(now.plus(self.offset), &mut self.buffer);
            for (cell, column) in row.iter().zip(&self.columns) {
                if column.is_some() {
                    self.buffer.push(b';');
                    self.buffer.extend_from_slice(cell.as_deref().unwrap_or_default());
                }
            }
            self.buffer.push(b'\n');
        }
        self.counts.fill(0);
        if self.buffer.len() >= FLUSH {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl<W: Write> Sink for VescRows<W> {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let place = sample.channel as usize;
            let Some(Some(column)) = self.columns.get(place).copied() else { continue };
            let Some(text) = column.text(&sample.value) else {
                self.not_finite += 1;
                continue;
            };
            self.go_to(sample.time)?;
            let Some(count) = self.counts.get_mut(place) else { continue };
            if self.rows.len() <= *count {
                self.rows.push(vec![None; self.columns.len()]);
            }
            if let Some(cell) = self.rows.get_mut(*count).and_then(|row| row.get_mut(place)) {
                *cell = Some(text);
            }
            *count += 1;
        }
        self.samples += samples.len() as u64;
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

impl Column {
    /// The digits of a value; none if it is no finite number.
    fn text(self, value: &Value<'_>) -> Option<Text> {
        let word = |text| str::from_utf8(text).ok();
        let number = match (self, *value) {
            (Self::Footpad, Value::String(text)) => Footpad::from_name(word(text)?)?.bits().into(),
            (Self::Adjustment, Value::String(text)) => adjustment_code(text)?.into(),
            (_, Value::Boolean(flag)) => f64::from(u8::from(flag)),
            (_, Value::Int64(whole)) => return Some(whole.to_string().into_bytes()),
            (Self::Number(factor), Value::Float(number)) => f64::from(number) * factor,
            (Self::Number(factor), Value::Double(number)) => number * factor,
            (Self::Radians, Value::Float(number)) => f64::from(number).to_radians(),
            (Self::Radians, Value::Double(number)) => number.to_radians(),
            _ => return None,
        };
        let mut text = Vec::new();
        decimal::push(number, &mut text);
        number.is_finite().then_some(text)
    }
}

struct Heading<'a> {
    key: &'a str,
    name: &'a str,
    unit: String,
    precision: u8,
}

/// The heading of a channel; none if its values are no numbers.
fn heading(channel: &Channel) -> Option<(Heading<'_>, Column)> {
    let numbers = matches!(channel.ty(), Type::Boolean | Type::Int64 | Type::Float | Type::Double);
    let id = channel.name.strip_prefix("/refloat/").unwrap_or(&channel.name);
    let column = match id {
        "footpad" if channel.ty() == Type::String => Column::Footpad,
        "adjustment" if channel.ty() == Type::String => Column::Adjustment,
        _ if numbers => Column::Number(1.0),
        _ => return None,
    };
    let fractions = matches!(channel.ty(), Type::Float | Type::Double);
    if let Some((_, key, name, unit, precision, factor)) = KEYS.iter().find(|known| known.0 == id).filter(|_| numbers) {
        let column = match factor {
            _ if !fractions => column,
            Some(factor) => Column::Number(*factor),
            None => Column::Radians,
        };
        return Some((Heading { key, name, unit: (*unit).to_owned(), precision: *precision }, column));
    }
    let key = id.strip_prefix("vesc/").unwrap_or(id);
    let unit = channel.unit.clone().unwrap_or_default();
    Some((Heading { key, name: key, unit, precision: if fractions { 3 } else { 0 } }, column))
}

/// An id that VESC Tool has a key for: the key, its name there, its unit, decimals to show, and what to multiply by;
/// nothing where degrees become radians.
type Key = (&'static str, &'static str, &'static str, &'static str, u8, Option<f64>);

#[rustfmt::skip]
const KEYS: &[Key] = &[
    ("speed", "kmh_vesc", "Speed VESC", "km/h", 2, Some(1.0)),
    ("erpm", "erpm", "ERPM", "", 0, Some(1.0)),
    ("motor.erpm", "erpm", "ERPM", "", 0, Some(1.0)),
    ("batt_voltage", "v_in", "Input Voltage", "V", 2, Some(1.0)),
    ("motor.batt_voltage", "v_in", "Input Voltage", "V", 2, Some(1.0)),
    ("duty_cycle", "duty", "Duty", "%", 1, Some(100.0)),
    ("motor.duty_cycle", "duty", "Duty", "%", 1, Some(100.0)),
    ("roll", "roll", "Roll", "rad", 4, None),
    ("imu.roll", "roll", "Roll", "rad", 4, None),
    ("pitch", "pitch", "Pitch", "rad", 4, None),
    ("imu.pitch", "pitch", "Pitch", "rad", 4, None),
    ("mosfet_temp", "t_mosfet", "Temp MOSFET", "degC", 1, Some(1.0)),
    ("motor_temp", "t_motor", "Temp Motor", "degC", 1, Some(1.0)),
    ("fault_code", "fault", "Fault Code", "", 0, Some(1.0)),
    ("battery_level", "soc", "Battery Level", "%", 1, Some(100.0)),
    ("distance", "trip_vesc_abs", "Trip VESC ABS", "m", 3, Some(1.0)),
    ("amp_hours.used", "cnt_ah", "Ah Used", "Ah", 3, Some(1.0)),
    ("amp_hours.charged", "cnt_ah_chg", "Ah Charged", "Ah", 3, Some(1.0)),
    ("watt_hours.used", "cnt_wh", "Wh Used", "Wh", 3, Some(1.0)),
    ("watt_hours.charged", "cnt_wh_chg", "Wh Charged", "Wh", 3, Some(1.0)),
    ("foc_d_current", "id", "Id", "A", 2, Some(1.0)),
    ("gnss.latitude", "gnss_lat", "Latitude", "deg", 7, Some(1.0)),
    ("gnss.longitude", "gnss_lon", "Longitude", "deg", 7, Some(1.0)),
    ("gnss.altitude", "gnss_alt", "Altitude", "m", 2, Some(1.0)),
    ("gnss.speed", "kmh_gnss", "Speed GNSS", "km/h", 2, Some(1.0)),
];

/// Appends seconds with as many decimals as they have.
fn seconds(time: Time, out: &mut Vec<u8>) {
    let text = time.to_string();
    out.extend_from_slice(text.trim_end_matches('0').trim_end_matches('.').as_bytes());
}

fn refused(channel: &str, message: &str) -> SinkError {
    EncodeError::new("vesc-csv", channel, message).into()
}

/// Bytes that are held back before they are written.
const FLUSH: usize = 256 << 10;
