//! What the firmware says of itself.

use std::fmt;

use logpose_core::Cursor;

use super::command;

/// What kind of module answers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum HardwareType {
    /// A motor controller: Refloat runs here.
    Controller,
    /// A battery management system.
    Bms,
    /// Another module, such as VESC Express: Refloat is behind it on the CAN bus.
    Other,
    /// A kind that is not known.
    Unknown(u8),
}

impl From<u8> for HardwareType {
    fn from(code: u8) -> Self {
        match code {
            0 => Self::Controller,
            1 => Self::Bms,
            2 => Self::Other,
            n => Self::Unknown(n),
        }
    }
}

impl From<HardwareType> for u8 {
    fn from(kind: HardwareType) -> Self {
        match kind {
            HardwareType::Controller => 0,
            HardwareType::Bms => 1,
            HardwareType::Other => 2,
            HardwareType::Unknown(n) => n,
        }
    }
}

impl fmt::Display for HardwareType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Controller => f.write_str("motor controller"),
            Self::Bms => f.write_str("BMS"),
            Self::Other => f.write_str("other module"),
            Self::Unknown(n) => write!(f, "hardware type {n}"),
        }
    }
}

/// The reply to FW_VERSION. Older firmwares end earlier: what they do not say is `None`, and so is all behind it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FirmwareVersion {
    /// 6 of 6.05.
    pub major: u8,
    /// 5 of 6.05.
    pub minor: u8,
    /// The controller's name.
    pub hardware: String,
    /// The number of this very chip.
    pub unique_id: Option<[u8; 12]>,
    /// Whether it is paired with an app.
    pub paired: Option<bool>,
    /// The number of a test version; 0 for a release.
    pub test_version: Option<u8>,
    /// The kind of module.
    pub hardware_type: Option<HardwareType>,
    /// How many custom configurations it has.
    pub custom_configs: Option<u8>,
    /// Whether it has phase filters.
    pub phase_filters: Option<bool>,
    /// Whether and how the hardware brings a page of its own.
    pub qml_hardware: Option<u8>,
    /// Whether and how the package brings a page of its own.
    pub qml_app: Option<u8>,
    /// Bits of the radio module.
    pub nrf_flags: Option<u8>,
    /// The firmware's name; `rflt-xtras-` and a version is the one that can record.
    pub firmware: Option<String>,
    /// Sum of the page and the configuration.
    pub checksum: Option<u32>,
}

impl FirmwareVersion {
    /// Reads a payload, field by field while bytes remain. `None` if it is no such reply.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut cur = Cursor::new(payload, 0);
        let (kind, major, minor) = (cur.u8("command").ok()?, cur.u8("major").ok()?, cur.u8("minor").ok()?);
        if kind != command::FW_VERSION {
            return None;
        }
        let mut version = Self { major, minor, hardware: text(&mut cur).unwrap_or_default(), ..Self::default() };
        version.parse_rest(&mut cur);
        Some(version)
    }

    /// The fields that not every firmware has; stops at the first that is missing.
    fn parse_rest(&mut self, cur: &mut Cursor<'_>) -> Option<()> {
        self.unique_id = Some(*cur.array("unique id").ok()?);
        self.paired = Some(cur.u8("pairing done").ok()? != 0);
        self.test_version = Some(cur.u8("test version").ok()?);
        self.hardware_type = Some(cur.u8("hardware type").ok()?.into());
        self.custom_configs = Some(cur.u8("custom configurations").ok()?);
        self.phase_filters = Some(cur.u8("phase filters").ok()? != 0);
        self.qml_hardware = Some(cur.u8("hardware page").ok()?);
        self.qml_app = Some(cur.u8("package page").ok()?);
        self.nrf_flags = Some(cur.u8("radio flags").ok()?);
        self.firmware = Some(text(cur)?);
        self.checksum = Some(cur.u32_be("checksum").ok()?);
        Some(())
    }

    /// Appends the payload, up to the first absent field.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[command::FW_VERSION, self.major, self.minor]);
        put_text(&self.hardware, out);
        self.emit_rest(out);
    }

    fn emit_rest(&self, out: &mut Vec<u8>) -> Option<()> {
        out.extend_from_slice(&self.unique_id?);
        out.push(self.paired?.into());
        out.push(self.test_version?);
        out.push(self.hardware_type?.into());
        out.push(self.custom_configs?);
        out.push(self.phase_filters?.into());
        out.push(self.qml_hardware?);
        out.push(self.qml_app?);
        out.push(self.nrf_flags?);
        put_text(self.firmware.as_ref()?, out);
        out.extend_from_slice(&self.checksum?.to_be_bytes());
        Some(())
    }

    /// Whether the firmware calls itself the one that can record.
    #[must_use]
    pub fn is_recorder(&self) -> bool {
        self.firmware.as_ref().is_some_and(|name| name.starts_with("rflt-xtras-"))
    }
}

/// `VESC 6.05 on 60_MK6, rflt-xtras-6.05`.
impl fmt::Display for FirmwareVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VESC {}.{:02}", self.major, self.minor)?;
        if self.test_version.is_some_and(|n| n > 0) {
            write!(f, " test {}", self.test_version.unwrap_or_default())?;
        }
        if !self.hardware.is_empty() {
            write!(f, " on {}", self.hardware.escape_debug())?;
        }
        match &self.firmware {
            Some(name) if !name.is_empty() => write!(f, ", {}", name.escape_debug()),
            _ => Ok(()),
        }
    }
}

/// A text up to its zero, or up to the end where there is none.
fn text(cur: &mut Cursor<'_>) -> Option<String> {
    let rest = cur.rest();
    if rest.is_empty() {
        return None;
    }
    let length = rest.iter().position(|byte| *byte == 0);
    let bytes = cur.take(length.unwrap_or(rest.len()) as u64, "text").ok()?;
    if length.is_some() {
        cur.u8("zero").ok()?;
    }
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// A text and its zero; one inside of it would end it, so it is left out.
fn put_text(text: &str, out: &mut Vec<u8>) {
    out.extend(text.bytes().filter(|byte| *byte != 0));
    out.push(0);
}
