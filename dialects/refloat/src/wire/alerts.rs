//! What went wrong, and when.

use std::fmt;

use logpose_core::Cursor;

use super::strings::{put_string, string};
use super::{PACKAGE, WireError, id, show};

/// The reply with alerts, since 1.2.
///
/// ```text
/// 65 23 | active | 0 | fault | name of the fault | count | records
///   2   |   4    | 4 |   1   |  string, if not 0 |   1   |   ..
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Alerts<'a> {
    /// A bit for each alert that is active now; bit 0 is the id 1.
    pub active: u32,
    /// Always 0 so far.
    pub active2: u32,
    /// The firmware's fault code now; 0 is none.
    pub fault: u8,
    /// Its name, if there is a fault.
    pub fault_name: Option<&'a str>,
    /// What happened, oldest first.
    pub records: AlertRecords<'a>,
}

impl<'a> Alerts<'a> {
    /// Reads a message, which ends with the last record.
    pub fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = show::expect(message, id::ALERTS)?;
        let (active, active2) = (cur.u32_be("active alerts")?, cur.u32_be("second mask of alerts")?);
        let fault = cur.u8("fault code")?;
        let fault_name = named(fault, &mut cur)?;
        let records = AlertRecords::parse(&mut cur)?;
        show::ends(&cur, "alerts")?;
        Ok(Self { active, active2, fault, fault_name, records })
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put_head(self.active, self.active2, self.fault, self.fault_name, out);
        out.push(self.records.count);
        out.extend_from_slice(self.records.bytes);
    }

    /// Appends the message with these records, of which there may be 255.
    pub fn put<'r>(
        active: u32,
        fault: u8,
        fault_name: Option<&str>,
        records: impl IntoIterator<Item = AlertRecord<'r>>,
        out: &mut Vec<u8>,
    ) {
        put_head(active, 0, fault, fault_name, out);
        let place = out.len();
        out.push(0);
        let mut count = 0;
        for record in records.into_iter().take(u8::MAX.into()) {
            record.emit(out);
            count += 1;
        }
        if let Some(field) = out.get_mut(place) {
            *field = count;
        }
    }
}

fn put_head(active: u32, active2: u32, fault: u8, name: Option<&str>, out: &mut Vec<u8>) {
    out.extend_from_slice(&[PACKAGE, id::ALERTS]);
    out.extend([active, active2].into_iter().flat_map(u32::to_be_bytes));
    out.push(fault);
    put_named(fault, name, out);
}

/// The name behind a code that is not 0.
fn named<'a>(code: u8, cur: &mut Cursor<'a>) -> Result<Option<&'a str>, WireError> {
    if code == 0 { Ok(None) } else { string(cur, "fault name").map(Some) }
}

fn put_named(code: u8, name: Option<&str>, out: &mut Vec<u8>) {
    if code != 0 {
        put_string(name.unwrap_or_default(), out);
    }
}

/// `alerts: none active; tick 100000: 1 begins, OVER_TEMP_FET (5); tick 100500: 1 ends`.
impl fmt::Display for Alerts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.active {
            0 => f.write_str("alerts: none active")?,
            bits => write!(f, "alerts: active {bits:#x}")?,
        }
        if self.fault != 0 {
            write!(f, ", fault {} ({})", self.fault_name.unwrap_or_default().escape_debug(), self.fault)?;
        }
        self.records.iter().try_for_each(|record| write!(f, "; {record}"))
    }
}

/// Records whose texts were all checked. They borrow the bytes of the message.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct AlertRecords<'a> {
    count: u8,
    bytes: &'a [u8],
}

impl<'a> AlertRecords<'a> {
    fn parse(cur: &mut Cursor<'a>) -> Result<Self, WireError> {
        let count = cur.u8("number of alerts")?;
        let begin = cur.rest();
        for _ in 0..count {
            AlertRecord::parse(cur)?;
        }
        let length = begin.len() - cur.rest().len();
        Ok(Self { count, bytes: begin.get(..length).unwrap_or_default() })
    }

    /// The records, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = AlertRecord<'a>> + use<'a> {
        let mut cur = Cursor::new(self.bytes, 0);
        (0..self.count).map_while(move |_| AlertRecord::parse(&mut cur).ok())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count.into()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Something began or ended.
///
/// ```text
/// time | id | active | code | name
///  4   | 1  |   1    |  1   | string, if the code is not 0
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AlertRecord<'a> {
    /// Ticks since the controller booted; wraps.
    pub tick: u32,
    /// What; 1 is a fault of the firmware, and there is no other so far.
    pub id: u8,
    /// Whether it began.
    pub active: bool,
    /// The fault's code.
    pub code: u8,
    /// The fault's name, if it has a code.
    pub name: Option<&'a str>,
}

impl<'a> AlertRecord<'a> {
    /// The id of a fault of the firmware.
    pub const FIRMWARE_FAULT: u8 = 1;

    fn parse(cur: &mut Cursor<'a>) -> Result<Self, WireError> {
        let (tick, id) = (cur.u32_be("time of an alert")?, cur.u8("id of an alert")?);
        let (active, code) = (cur.u8("whether an alert is active")? != 0, cur.u8("code of an alert")?);
        Ok(Self { tick, id, active, code, name: named(code, cur)? })
    }

    /// Appends the record.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tick.to_be_bytes());
        out.extend_from_slice(&[self.id, self.active.into(), self.code]);
        put_named(self.code, self.name, out);
    }
}

/// `tick 100000: 1 begins, OVER_TEMP_FET (5)`.
impl fmt::Display for AlertRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}: {} {}", self.tick, self.id, if self.active { "begins" } else { "ends" })?;
        match self.name {
            Some(name) => write!(f, ", {} ({})", name.escape_debug(), self.code),
            None => Ok(()),
        }
    }
}
