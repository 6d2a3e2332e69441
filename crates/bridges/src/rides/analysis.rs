//! The CSV of VESC Tool's log analysis, which VESC Express writes to its SD card.
//!
//! Each heading is `key:name:unit:precision:relative:timestamp`; `;` stands between cells and not behind the last; an
//! empty cell has the value above it.

use logpose_core::{Confidence, DecodeError, Problem, Problems, ReadOptions, Severity, Sink, StreamError, Time};
use logpose_refloat::items;
use serde_json::json;

use super::columns::{Columns, How, Known};
use super::table::{DayClock, Table, TakeCell, shown};
use crate::Header;
use crate::decimal::moment;

/// Whether bytes from the front of a file look like headings of six parts.
pub(crate) fn sniff(head: &[u8]) -> Confidence {
    let Some(names) = Table::new(head, b';', false).names() else { return Confidence::No };
    match names.first().map(|name| Heading::of(name)) {
        Some(Heading { whole: true, .. }) => Confidence::Yes,
        _ if names.len() > 1 && names.iter().all(|name| name.contains(':')) => Confidence::Perhaps,
        _ => Confidence::No,
    }
}

/// Pushes the samples of a log.
pub(crate) fn read(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    let table = Table::new(file, b';', false);
    let names = table.names().filter(|names| names.first().is_some_and(|name| name.contains(':')));
    let Some(names) = names else {
        let message = "line 1: expected headings `key:name:unit:precision:relative:timestamp` separated by `;`";
        return Err(error("no-headings", message.to_owned()).into());
    };
    if names.len() > read.limits.channels as usize {
        let message = format!("line 1: {} columns, the limit is {}", names.len(), read.limits.channels);
        return Err(error("too-many-channels", message).into());
    }
    let headings: Vec<Heading<'_>> = names.iter().map(|name| Heading::of(name)).collect();
    let time = headings.iter().position(|heading| heading.key == TIME);
    if time.is_none() {
        let message = "no column t_day; using one second per row".to_owned();
        problems.push(Problem::general(Severity::Warning, "no-time-column", message));
    }
    let mut columns = Columns::new("vesc");
    for heading in &headings {
        columns.add(heading.key, known(heading.key, heading.unit), heading.unit, Some(heading.metadata()));
    }
    let walk = |problems: &mut Problems, take: &mut TakeCell<'_>| {
        let mut above: Vec<Vec<u8>> = vec![Vec::new(); headings.len()];
        let mut clock = DayClock::default();
        let mut rows = 0_u64;
        table.body(headings.len(), problems, |row, problems| {
            let now = match time {
                None => Some(Time::from_nanos(i64::try_from(rows).unwrap_or(i64::MAX).saturating_mul(1_000_000_000))),
                Some(place) => {
                    let cell = Some(row.cell(place)).filter(|cell| !cell.is_empty());
                    let cell = cell.or_else(|| above.get(place).map(Vec::as_slice)).unwrap_or_default();
                    let now = moment(cell, 9);
                    if now.is_none() {
                        row.skip(&format!("t_day: {} is not a timestamp", shown(cell)), problems);
                    }
                    now
                }
            };
            let Some(now) = now.map(|now| if time.is_some() { clock.at(now) } else { now }) else { return Ok(()) };
            rows += 1;
            for ((place, above), cell) in above.iter_mut().enumerate().zip(row.cells()) {
                if !cell.is_empty() {
                    above.clear();
                    above.extend_from_slice(cell);
                }
                if Some(place) != time && !above.is_empty() {
                    take(row, place, now, above)?;
                }
            }
            Ok(())
        })?;
        Ok(rows)
    };
    let channels = columns.read("vesc-csv", walk, sink, problems)?;
    Ok(Header { origin: "vesc-csv".to_owned(), channels, ..Header::default() })
}

/// The name of a column and what stands with it.
#[derive(Debug)]
struct Heading<'a> {
    key: &'a str,
    name: &'a str,
    unit: &'a str,
    /// Decimals to show.
    precision: u32,
    /// Whether values count from the first.
    relative: bool,
    /// Whether values are times.
    timestamp: bool,
    /// Whether all six parts are there.
    whole: bool,
}

impl<'a> Heading<'a> {
    fn of(text: &'a str) -> Self {
        let mut parts = text.split(':');
        let key = parts.next().unwrap_or_default();
        let (name, unit) = (parts.next().unwrap_or(key), parts.next().unwrap_or_default());
        let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
        let (precision, relative, timestamp) = (number(), number(), number());
        Self {
            key,
            name,
            unit,
            // What VESC Tool takes if nothing is said.
            precision: precision.unwrap_or(2),
            relative: relative.is_some_and(|flag| flag != 0),
            timestamp: timestamp.is_some_and(|flag| flag != 0),
            whole: precision.is_some() && relative.is_some() && timestamp.is_some() && parts.next().is_none(),
        }
    }

    fn metadata(&self) -> serde_json::Value {
        let Self { key, name, unit, precision, relative, timestamp, .. } = self;
        json!({
            "program": "vesc", "key": key, "name": name, "unit": unit,
            "precision": precision, "relative": relative, "timestamp": timestamp,
        })
    }
}

/// What a key is in the model: those of VESC Tool's own table, and those of VESC Express's logger.
fn known(key: &str, unit: &str) -> Option<Known> {
    let percent = if unit == "%" { -2 } else { 0 };
    // Angles are radians, unless the heading says otherwise.
    let angle = if matches!(unit, "deg" | "°") { How::Places(0) } else { How::Degrees };
    Some(match key {
        "kmh_vesc" => Known::same("speed", "km/h"),
        "erpm" | "RPM" => Known::same("erpm", "rpm"),
        "v_in" | "Input Voltage" => Known::same("batt_voltage", "V"),
        "duty" | "Duty" => Known::new("duty_cycle", "", How::Magnitude(percent)),
        "roll" => Known::new("roll", "deg", angle),
        "pitch" => Known::new("pitch", "deg", angle),
        "t_mosfet" | "Temp Fet" => Known::same("mosfet_temp", "degC"),
        "t_motor" | "Temp Motor" => Known::same("motor_temp", "degC"),
        "Current" => Known::same("current", "A"),
        "Current In" => Known::same("batt_current", "A"),
        "id" => Known::same("foc_d_current", "A"),
        "fault" => Known::new("fault_code", "", How::Whole),
        "soc" | "Batt" => Known::new("battery_level", "", How::Places(percent)),
        "trip_vesc_abs" => Known::same("distance", "m"),
        "cnt_ah" => Known::same("amp_hours.used", "Ah"),
        "cnt_ah_chg" => Known::same("amp_hours.charged", "Ah"),
        "cnt_wh" => Known::same("watt_hours.used", "Wh"),
        "cnt_wh_chg" => Known::same("watt_hours.charged", "Wh"),
        "ADC1" => Known::same("adc_left", "V"),
        "ADC2" => Known::same("adc_right", "V"),
        "running" => Known::new("running", "", How::Truth),
        "wheelslip" => Known::new("wheelslip", "", How::Truth),
        "footpad" => Known::new("footpad", "", How::Footpad),
        "adjustment" => Known::new("adjustment", "", How::Adjustment),
        "gnss_lat" => Known::same("gnss.latitude", "deg"),
        "gnss_lon" => Known::same("gnss.longitude", "deg"),
        "gnss_alt" => Known::same("gnss.altitude", "m"),
        "kmh_gnss" => Known::same("gnss.speed", "km/h"),
        // What has no key of its own is written under the id that the board has for it.
        id => {
            let item = items::item(id).map(|item| ([item.new, item.old], item.unit));
            let field = || items::fields(u32::MAX, u32::MAX).find(|field| field.id == id);
            let (ids, of) = item.or_else(|| field().map(|field| ([Some(field.id), None], field.unit)))?;
            let id = ids.into_iter().flatten().find(|known| *known == id)?;
            return Some(Known::same(id, of.unwrap_or_default())).filter(|known| known.unit == unit);
        }
    })
}

fn error(code: &'static str, message: String) -> DecodeError {
    DecodeError { dialect: "vesc-csv", code, at: 0, message, help: None }
}

/// The key of the time axis.
const TIME: &str = "t_day";
