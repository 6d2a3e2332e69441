//! The CSV of Float Control, alone or in the zip file that the program shares.

use logpose_core::{Confidence, DecodeError, Problem, Problems, ReadOptions, Severity, Sink, StreamError};

use super::archive;
use super::columns::{Columns, How, Known};
use super::table::{Table, TakeCell, shown};
use crate::Header;
use crate::decimal::moment;

/// Whether bytes from the front of a file look like the columns of this program, or like a zip file with a table in it.
pub(crate) fn sniff(head: &[u8]) -> Confidence {
    if archive::is_zip(head) {
        return if archive::names_csv(head) { Confidence::Yes } else { Confidence::No };
    }
    let names = Table::new(head, b',', true).names().unwrap_or_default();
    if is_ours(&names) { Confidence::Yes } else { Confidence::No }
}

fn is_ours(names: &[&str]) -> bool {
    names.first() == Some(&TIME) && names.iter().any(|name| matches!(*name, "Duty%" | "I-Motor" | "SP-ATR"))
}

/// Pushes the samples of a log.
pub(crate) fn read(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    if !archive::is_zip(file) {
        return table(file, read, sink, problems);
    }
    let (name, content) = archive::csv(file).map_err(|message| {
        let help = "unzip it and open the .csv".to_owned();
        DecodeError { dialect: DIALECT, code: "zip", at: 0, message, help: Some(help) }
    })?;
    let mut inside = Problems::default();
    let header = table(&content, read, sink, &mut inside).map_err(|error| match error {
        StreamError::Decode(error) => {
            DecodeError { at: 0, message: format!("{name}: {}", error.message), ..error }.into()
        }
        error @ StreamError::Sink(_) => error,
    });
    for problem in inside.list() {
        // Its place is one in the table, not in the zip file.
        let message = format!("{name}: {}", problem.message);
        problems.push(Problem::general(problem.severity, problem.code, message));
    }
    header
}

fn table(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    let error = |code, message| DecodeError { dialect: DIALECT, code, at: 0, message, help: None };
    let table = Table::new(file, b',', true);
    let Some(names) = table.names().filter(|names| is_ours(names)) else {
        let message = "line 1: expected Float Control columns, starting with Time(s) and including Duty%";
        return Err(error("no-columns", message.to_owned()).into());
    };
    if names.len() > read.limits.channels as usize {
        let message = format!("line 1: {} columns, the limit is {}", names.len(), read.limits.channels);
        return Err(error("too-many-channels", message).into());
    }
    let mut columns = Columns::new("float-control");
    for name in &names {
        let (unit, known) = known(name);
        columns.add(name, known, unit, None);
    }
    let walk = |problems: &mut Problems, take: &mut TakeCell<'_>| {
        let mut rows = 0;
        table.body(names.len(), problems, |row, problems| {
            let Some(now) = moment(row.cell(0), 9) else {
                row.skip(&format!("{TIME}: {} is not a timestamp", shown(row.cell(0))), problems);
                return Ok(());
            };
            rows += 1;
            for ((place, cell), name) in row.cells().enumerate().zip(&names).skip(1) {
                let cell = if *name == DUTY { cell.strip_suffix(b"%").unwrap_or(cell).trim_ascii() } else { cell };
                if !cell.is_empty() {
                    take(row, place, now, cell)?;
                }
            }
            Ok(())
        })?;
        Ok(rows)
    };
    let channels = columns.read(DIALECT, walk, sink, problems)?;
    if let Some(unknown) = names.iter().find(|name| name.starts_with("Speed(") && known(name).1.is_none()) {
        let message = format!("unknown unit in {unknown:?}; keeping the values unchanged");
        problems.push(Problem::general(Severity::Warning, "unknown-unit", message));
    }
    Ok(Header { origin: DIALECT.to_owned(), channels, ..Header::default() })
}

/// The unit of a column, and what it is in the model.
fn known(name: &str) -> (&'static str, Option<Known>) {
    let same = |id, unit| (unit, Some(Known::same(id, unit)));
    match name {
        "Distance(km)" => ("km", Some(Known::new("distance", "m", How::Places(3)))),
        "Distance(mi)" => ("mi", Some(Known::new("distance", "m", How::Times(1609.344)))),
        "Speed(km/h)" => same("speed", "km/h"),
        "Speed(mph)" => ("mph", Some(Known::new("speed", "km/h", How::Times(1.609_344)))),
        DUTY => ("%", Some(Known::new("duty_cycle", "", How::Magnitude(-2)))),
        "Voltage" => same("batt_voltage", "V"),
        "I-Battery" => same("batt_current", "A"),
        "I-Motor" => same("current", "A"),
        "I-FldWeak" => same("foc_d_current", "A"),
        "Requested Amps" => same("balance_current", "A"),
        // The angle that the board balances by; the plain one came later, under another name.
        "Pitch" => same("balance_pitch", "deg"),
        "True Pitch" => same("pitch", "deg"),
        "Roll" => same("roll", "deg"),
        "Setpoint" => same("setpoint", "deg"),
        "SP-ATR" => same("atr.setpoint", "deg"),
        "SP-Carve" => same("turn_tilt.setpoint", "deg"),
        "SP-TrqTlt" => same("torque_tilt.setpoint", "deg"),
        "SP-BrkTlt" => same("brake_tilt.setpoint", "deg"),
        "SP-Remote" => same("remote.setpoint", "deg"),
        "T-Mosfet" => same("mosfet_temp", "degC"),
        "T-Mot" => same("motor_temp", "degC"),
        "ADC1" => same("adc_left", "V"),
        "ADC2" => same("adc_right", "V"),
        "Motor-Fault" => ("", Some(Known::new("fault_code", "", How::Whole))),
        "Ah" => same("amp_hours.used", "Ah"),
        "Ah Charged" => same("amp_hours.charged", "Ah"),
        "Wh" => same("watt_hours.used", "Wh"),
        "Wh Charged" => same("watt_hours.charged", "Wh"),
        "ERPM" => same("erpm", "rpm"),
        "Altitude(m)" => same("gnss.altitude", "m"),
        // A current, as up to 1.2; in 1.3 the board sends a torque.
        "I-Booster" => same("booster.current", "A"),
        "GPS-Lat" => same("gnss.latitude", "deg"),
        "GPS-Long" => same("gnss.longitude", "deg"),
        "GPS-Accuracy" => ("m", None),
        "T-Batt" | "T-BMS" | "T-Battery" => ("degC", None),
        _ => ("", None),
    }
}

const DIALECT: &str = "float-control";
const TIME: &str = "Time(s)";
const DUTY: &str = "Duty%";
