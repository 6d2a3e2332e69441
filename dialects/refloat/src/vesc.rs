//! The layer of the controller: frames on a stream of bytes, the commands in them, the firmware's version, and the way
//! to other nodes of the CAN bus.

mod crc;
mod deframer;
mod firmware;

pub use crc::crc16;
pub use deframer::Deframer;
pub use firmware::{FirmwareVersion, HardwareType};

/// The longest payload that a board sends or takes.
pub const MAX_PAYLOAD: usize = 512;
/// The longest payload that VESC Tool takes: the limit on our side of a link.
pub const LARGEST: usize = 10_000;

/// What the first byte of a payload says.
pub mod command {
    /// Asks for the firmware's version.
    pub const FW_VERSION: u8 = 0;
    /// Hands a payload to another node of the CAN bus.
    pub const FORWARD_CAN: u8 = 34;
    /// Data of the package, both ways.
    pub const APP_DATA: u8 = 36;
    /// Asks which nodes are on the CAN bus.
    pub const PING_CAN: u8 = 62;
    /// A text that a package prints.
    pub const PRINT: u8 = 135;
}

/// The last byte of a frame.
const END: u8 = 3;
/// Payloads from here on need the form with two bytes of length.
const LONG: usize = 256;
/// Payloads from here on need the form with three bytes of length.
const LONGER: usize = 65_536;

/// Appends the frame of `payload` in its shortest form. An empty payload, and one that no length can say, have no frame.
pub fn frame(payload: &[u8], out: &mut Vec<u8>) {
    let Ok(length) = u32::try_from(payload.len()) else { return };
    let [top, high, middle, low] = length.to_be_bytes();
    match payload.len() {
        1..LONG => out.extend_from_slice(&[2, low]),
        LONG..LONGER => out.extend_from_slice(&[3, middle, low]),
        LONGER.. if top == 0 => out.extend_from_slice(&[4, high, middle, low]),
        _ => return,
    }
    out.extend_from_slice(payload);
    out.extend_from_slice(&crc16(payload).to_be_bytes());
    out.push(END);
}

/// The frame of `payload`, alone.
#[must_use]
pub fn framed(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 7);
    frame(payload, &mut out);
    out
}

/// Appends the payload that carries data of the package: what `put` appends, behind the command.
pub fn put_app(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    out.push(command::APP_DATA);
    put(out);
}

/// The data of the package in a payload, if it carries any.
#[must_use]
pub fn app_data(payload: &[u8]) -> Option<&[u8]> {
    match payload {
        [command::APP_DATA, app @ ..] => Some(app),
        _ => None,
    }
}

/// The text in a payload, if a package printed one.
#[must_use]
pub fn printed(payload: &[u8]) -> Option<&[u8]> {
    match payload {
        [command::PRINT, text @ ..] => Some(text),
        _ => None,
    }
}

/// Appends `payload` as it is handed to the node `can` of the CAN bus; as it is where there is none to go through.
pub fn forward(can: Option<u8>, payload: &[u8], out: &mut Vec<u8>) {
    if let Some(can) = can {
        out.extend_from_slice(&[command::FORWARD_CAN, can]);
    }
    out.extend_from_slice(payload);
}

/// The node and the payload for it, if `payload` is to be handed on.
#[must_use]
pub fn forwarded(payload: &[u8]) -> Option<(u8, &[u8])> {
    match payload {
        [command::FORWARD_CAN, can, inner @ ..] => Some((*can, inner)),
        _ => None,
    }
}

/// The nodes that answered a ping of the CAN bus, if `payload` is the reply to one.
#[must_use]
pub fn pinged(payload: &[u8]) -> Option<&[u8]> {
    match payload {
        [command::PING_CAN, nodes @ ..] => Some(nodes),
        _ => None,
    }
}
