use std::path::Path;
use std::time::Duration;
use std::{fmt, io};

use tokio::time::sleep;
use tokio_serial::{ClearBuffer, Error, ErrorKind, SerialPort as _, SerialPortType, SerialStream};

/// A serial port, such as `/dev/ttyACM0` or `COM3`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SerialPort {
    /// Its path or name.
    pub path: String,
    /// Bits a second. A port over USB takes any.
    pub baud: u32,
}

impl SerialPort {
    /// Reads what stands behind a scheme: a path or a name, perhaps with `?baud=57600` behind it.
    pub(crate) fn parse(text: &str, baud: u32) -> Result<Self, String> {
        let (path, baud) = match text.split_once("?baud=") {
            None => (text, baud),
            Some((path, given)) => {
                let given = given.parse().ok().filter(|baud| *baud > 0);
                (path, given.ok_or("expected a baud rate after ?baud=, such as 115200")?)
            }
        };
        // Some write an address of a device like one of the network.
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() {
            return Err("expected a serial port after the colon, as in refloat+serial:/dev/ttyACM0".to_owned());
        }
        Ok(Self { path: path.to_owned(), baud })
    }

    /// Opens it. One that is busy is waited for a moment: a link that was just closed holds it a little longer.
    pub(super) async fn open_soon(&self) -> io::Result<SerialStream> {
        let mut left = BUSY_TRIES;
        loop {
            match self.open() {
                Err(error) if error.kind() == io::ErrorKind::NotFound && left > 0 && is_there(&self.path) => {
                    left -= 1;
                    sleep(BUSY_PAUSE).await;
                }
                done => return done,
            }
        }
    }

    pub(super) fn open(&self) -> io::Result<SerialStream> {
        let open = SerialStream::open(&tokio_serial::new(&self.path, self.baud));
        let stream = open.map_err(|error| {
            let is_there = is_there(&self.path);
            io::Error::new(io::Error::from(error.clone()).kind(), why(&self.path, &error, is_there, &serial_ports()))
        })?;
        // What was sent to somebody who had it before is not for us.
        let _ = stream.clear(ClearBuffer::Input);
        Ok(stream)
    }
}

impl fmt::Display for SerialPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

/// A serial port that was found on this machine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundPort {
    /// Its path or name.
    pub path: String,
    /// The vendor and the product, for ports over USB.
    pub usb: Option<(u16, u16)>,
    /// What it calls itself.
    pub product: Option<String>,
}

impl FoundPort {
    /// What it is, if it is something that boards have.
    #[must_use]
    pub fn board(&self) -> Option<&'static str> {
        let usb = self.usb?;
        KNOWN.iter().find(|(known, _)| *known == usb).map(|(_, name)| *name)
    }
}

impl fmt::Display for FoundPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        let Some((vendor, product)) = self.usb else { return Ok(()) };
        let name = self.board().or(self.product.as_deref()).unwrap_or("USB");
        write!(f, " ({name}, {vendor:04X}:{product:04X})")
    }
}

/// The serial ports of this machine, those that boards have first.
#[must_use]
pub fn serial_ports() -> Vec<FoundPort> {
    // Where there is none, the search below panics.
    if cfg!(target_os = "linux") && !Path::new("/sys/class/tty").is_dir() {
        return Vec::new();
    }
    let found = tokio_serial::available_ports().unwrap_or_default();
    let mut ports: Vec<FoundPort> = found
        .into_iter()
        .map(|port| match port.port_type {
            SerialPortType::UsbPort(usb) => {
                FoundPort { path: port.port_name, usb: Some((usb.vid, usb.pid)), product: usb.product }
            }
            _ => FoundPort { path: port.port_name, usb: None, product: None },
        })
        .collect();
    ports.sort_by(|a, b| (a.board().is_none(), &a.path).cmp(&(b.board().is_none(), &b.path)));
    ports
}

/// Whether there is such a port, be it free or not. On Windows ports are not files; only the list of ports shows them.
fn is_there(path: &str) -> bool {
    let listed = |port: &FoundPort| port.path.eq_ignore_ascii_case(path.trim_start_matches(r"\\.\"));
    if cfg!(windows) { serial_ports().iter().any(listed) } else { Path::new(path).exists() }
}

/// Why a port cannot be opened, and what helps.
fn why(path: &str, error: &Error, is_there: bool, ports: &[FoundPort]) -> String {
    match error.kind {
        ErrorKind::Io(io::ErrorKind::PermissionDenied) if cfg!(target_os = "linux") => format!(
            "no permission to open {path}; add your user to its group, usually dialout: \
             `sudo usermod -aG dialout $USER`, then log in again"
        ),
        ErrorKind::Io(io::ErrorKind::PermissionDenied) => format!("no permission to open {path}"),
        ErrorKind::NoDevice if is_there => format!("{path} is busy: another program has it open"),
        ErrorKind::NoDevice | ErrorKind::Io(io::ErrorKind::NotFound) => {
            let found: Vec<String> = ports.iter().map(ToString::to_string).collect();
            match found.is_empty() {
                true => format!(
                    "{path} does not exist, and there are no other serial ports; check the cable and that the board is on"
                ),
                false => format!("{path} does not exist; found {}", found.join(", ")),
            }
        }
        _ if error.description.contains("ioctl") || error.description.contains("typewriter") => {
            format!("{path} is not a serial port")
        }
        _ => format!("cannot open {path}: {}", error.description),
    }
}

/// How often and how long a busy port is waited for.
const BUSY_TRIES: u32 = 10;
const BUSY_PAUSE: Duration = Duration::from_millis(30);
/// What boards have, by vendor and product.
const KNOWN: [((u16, u16), &str); 2] =
    [((0x0483, 0x5740), "VESC controller"), ((0x303A, 0x1001), "VESC Express or another ESP32")];

#[cfg(test)]
mod tests {
    use std::io;

    use tokio_serial::{Error, ErrorKind};

    use super::{FoundPort, SerialPort, serial_ports, why};

    fn port(path: &str, usb: Option<(u16, u16)>) -> FoundPort {
        FoundPort { path: path.to_owned(), usb, product: Some("CP2102 USB to UART".to_owned()) }
    }

    #[test]
    fn a_port_that_cannot_be_opened_says_what_helps() {
        let ports = [
            port("/dev/ttyACM0", Some((0x0483, 0x5740))),
            port("/dev/ttyACM1", Some((0x303A, 0x1001))),
            port("/dev/ttyUSB0", Some((0x10C4, 0xEA60))),
            port("/dev/ttyS0", None),
        ];
        let said = |kind, is_there, ports: &[FoundPort]| why("/dev/ttyACM9", &Error::new(kind, "x"), is_there, ports);
        let absent = ErrorKind::Io(io::ErrorKind::NotFound);
        assert_eq!(
            said(absent, false, &ports),
            "/dev/ttyACM9 does not exist; found /dev/ttyACM0 (VESC controller, 0483:5740), \
             /dev/ttyACM1 (VESC Express or another ESP32, 303A:1001), \
             /dev/ttyUSB0 (CP2102 USB to UART, 10C4:EA60), /dev/ttyS0"
        );
        assert!(said(absent, false, &[]).contains("there are no other serial ports"));
        assert!(said(ErrorKind::NoDevice, true, &[]).contains("busy: another program"));
        assert!(said(ErrorKind::NoDevice, false, &[]).contains("does not exist"));
        let refused = said(ErrorKind::Io(io::ErrorKind::PermissionDenied), true, &[]);
        assert!(refused.contains("no permission") && (cfg!(not(target_os = "linux")) || refused.contains("dialout")));
    }

    #[tokio::test]
    async fn what_is_not_there_or_no_port_is_told() {
        let open = |path: &str| SerialPort { path: path.to_owned(), baud: 115_200 }.open().unwrap_err();
        let error = open("/nowhere/ttyACM0");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/nowhere/ttyACM0 does not exist"), "{error}");
        if cfg!(unix) {
            assert_eq!(open("/dev/null").to_string(), "/dev/null is not a serial port");
        }
        // Whatever there is, looking for it does no harm.
        let _ = serial_ports();
    }
}
