//! The log that VESC Tool writes while it is connected: a row for each reply with values.
//!
//! Columns are known by their places. `;` stands between cells and behind the last one; where that gives too few cells,
//! `,` does.

use logpose_core::{Confidence, Problem, Problems, ReadOptions, Severity, Sink, StreamError, Time};

use super::columns::{Columns, How, Known};
use super::table::{DayClock, Row, Table, TakeCell, shown};
use crate::Header;

/// Whether bytes from the front of a file look like the columns of this log.
pub(crate) fn sniff(head: &[u8]) -> Confidence {
    let is_ours = |delimiter: u8| {
        let names = Table::new(head, delimiter, false).names().unwrap_or_default();
        names.first() == Some(&"ms_today") && names.len() >= FIRST
    };
    if is_ours(b';') || is_ours(b',') { Confidence::Yes } else { Confidence::No }
}

/// Pushes the samples of a log.
pub(crate) fn read(
    file: &[u8],
    _: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    let table = Table::new(file, b';', false);
    let comma = |names: &Vec<&str>| names.len() < FIRST;
    let names = table.names().filter(|names| !comma(names)).or_else(|| Table::new(file, b',', false).names());
    let has_names = names.as_ref().is_some_and(|names| names.first().is_some_and(|name| !is_number(name.as_bytes())));
    if has_names {
        warn_of_others(names.as_deref().unwrap_or_default(), problems);
    }
    let mut columns = Columns::new("vesc");
    for (name, unit, known) in COLUMNS {
        columns.add(name, *known, unit, None);
    }
    let walk = |problems: &mut Problems, take: &mut TakeCell<'_>| {
        let mut clock = DayClock::default();
        let (mut rows, mut first) = (0, has_names);
        table.rows(|row| {
            if std::mem::take(&mut first) {
                return Ok(());
            }
            if row.len() >= FIRST {
                rows += u64::from(cells(row, row, &mut clock, problems, take)?);
                return Ok(());
            }
            // What has too few cells may have commas between them; a cell of the one is a line of the other.
            let line = row.cell(0);
            let mut taken = false;
            Table::new(if row.len() == 1 { line } else { b"" }, b',', false).rows(|inner| {
                if inner.len() >= FIRST {
                    taken = true;
                    rows += u64::from(cells(row, inner, &mut clock, problems, take)?);
                }
                Ok(())
            })?;
            if !taken {
                row.skip(&format!("found {} cells, expected at least {FIRST}", row.len()), problems);
            }
            Ok(())
        })?;
        Ok(rows)
    };
    let channels = columns.read("vesc-tool", walk, sink, problems)?;
    Ok(Header { origin: "vesc-tool".to_owned(), channels, ..Header::default() })
}

/// Takes the cells of a line; returns whether it has a time. `row` is where it stands in the file.
fn cells(
    row: &Row<'_>,
    cut: &Row<'_>,
    clock: &mut DayClock,
    problems: &mut Problems,
    take: &mut TakeCell<'_>,
) -> Result<bool, StreamError> {
    let Some(now) = milliseconds(cut.cell(0)) else {
        row.skip(&format!("ms_today: {} is not a timestamp", shown(cut.cell(0))), problems);
        return Ok(false);
    };
    let now = clock.at(now);
    // Only a whole row has the later columns in their places.
    let count = if cut.len() >= COLUMNS.len() { COLUMNS.len() } else { FIRST };
    // The values of a group count from the moment at which its time is known.
    let known = |place: usize| !cut.cell(place).starts_with(b"-");
    let groups = [known(SETUP.start), known(IMU.start), known(GNSS.start)];
    for (place, cell) in cut.cells().enumerate().take(count).skip(1).filter(|(_, cell)| !cell.is_empty()) {
        let [setup, imu, gnss] = groups;
        let unseen = SETUP.contains(&place) && !setup || IMU.contains(&place) && !imu || GNSS.contains(&place) && !gnss;
        if !unseen {
            take(row, place, now, cell)?;
        }
    }
    Ok(true)
}

fn milliseconds(cell: &[u8]) -> Option<Time> {
    crate::decimal::moment(cell, 6).filter(|time| *time >= Time::ZERO)
}

fn is_number(cell: &[u8]) -> bool {
    crate::decimal::number(cell, 0).is_some()
}

/// Columns that have other names than they should have are read all the same, as VESC Tool does it.
fn warn_of_others(names: &[&str], problems: &mut Problems) {
    let other = names.iter().zip(COLUMNS).find(|(name, (known, ..))| !name.is_empty() && *name != known);
    if let Some((name, (known, ..))) = other {
        let message = format!("line 1: reading the column {name:?} as {known} because of its position");
        problems.push(Problem::new(Severity::Warning, "other-columns", 0, 0, message));
    }
}

/// The columns that every row has.
const FIRST: usize = 22;
/// The groups of columns that come later; each begins with its time, which is -1 until it is known.
const SETUP: std::ops::Range<usize> = 24..37;
const IMU: std::ops::Range<usize> = 37..47;
const GNSS: std::ops::Range<usize> = 47..55;

const fn own(name: &'static str, unit: &'static str) -> (&'static str, &'static str, Option<Known>) {
    (name, unit, None)
}

const fn model(name: &'static str, unit: &'static str, known: Known) -> (&'static str, &'static str, Option<Known>) {
    (name, unit, Some(known))
}

/// The name of each column, its unit, and what it is in the model.
#[rustfmt::skip]
const COLUMNS: &[(&str, &str, Option<Known>); 55] = &[
    own("ms_today", "ms"),
    model("input_voltage", "V", Known::same("batt_voltage", "V")),
    model("temp_mos_max", "degC", Known::same("mosfet_temp", "degC")),
    own("temp_mos_1", "degC"),
    own("temp_mos_2", "degC"),
    own("temp_mos_3", "degC"),
    model("temp_motor", "degC", Known::same("motor_temp", "degC")),
    model("current_motor", "A", Known::same("current", "A")),
    model("current_in", "A", Known::same("batt_current", "A")),
    model("d_axis_current", "A", Known::same("foc_d_current", "A")),
    own("q_axis_current", "A"),
    model("erpm", "rpm", Known::same("erpm", "rpm")),
    model("duty_cycle", "", Known::new("duty_cycle", "", How::Magnitude(0))),
    model("amp_hours_used", "Ah", Known::same("amp_hours.used", "Ah")),
    model("amp_hours_charged", "Ah", Known::same("amp_hours.charged", "Ah")),
    model("watt_hours_used", "Wh", Known::same("watt_hours.used", "Wh")),
    model("watt_hours_charged", "Wh", Known::same("watt_hours.charged", "Wh")),
    own("tachometer", ""),
    own("tachometer_abs", ""),
    own("encoder_position", "deg"),
    model("fault_code", "", Known::new("fault_code", "", How::Whole)),
    own("vesc_id", ""),
    own("d_axis_voltage", "V"),
    own("q_axis_voltage", "V"),
    own("ms_today_setup", "ms"),
    own("amp_hours_setup", "Ah"),
    own("amp_hours_charged_setup", "Ah"),
    own("watt_hours_setup", "Wh"),
    own("watt_hours_charged_setup", "Wh"),
    model("battery_level", "", Known::same("battery_level", "")),
    own("battery_wh_tot", "Wh"),
    own("current_in_setup", "A"),
    own("current_motor_setup", "A"),
    model("speed_meters_per_sec", "m/s", Known::new("speed", "km/h", How::Times(3.6))),
    own("tacho_meters", "m"),
    model("tacho_abs_meters", "m", Known::same("distance", "m")),
    own("num_vescs", ""),
    own("ms_today_imu", "ms"),
    model("roll", "rad", Known::new("roll", "deg", How::Degrees)),
    model("pitch", "rad", Known::new("pitch", "deg", How::Degrees)),
    own("yaw", "rad"),
    own("accX", "g"),
    own("accY", "g"),
    own("accZ", "g"),
    own("gyroX", "deg/s"),
    own("gyroY", "deg/s"),
    own("gyroZ", "deg/s"),
    own("gnss_posTime", "ms"),
    model("gnss_lat", "deg", Known::same("gnss.latitude", "deg")),
    model("gnss_lon", "deg", Known::same("gnss.longitude", "deg")),
    model("gnss_alt", "m", Known::same("gnss.altitude", "m")),
    model("gnss_gVel", "m/s", Known::new("gnss.speed", "km/h", How::Times(3.6))),
    own("gnss_vVel", "m/s"),
    own("gnss_hAcc", "m"),
    own("gnss_vAcc", "m"),
];
