use std::fmt;

/// A serial port, such as `/dev/ttyACM0` or `COM3`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SerialPort {
    /// Its path or name.
    pub path: String,
    /// Bits a second. A port over USB takes any.
    pub baud: u32,
}

impl SerialPort {
    pub(super) fn open(&self) -> std::io::Result<tokio_serial::SerialStream> {
        let builder = tokio_serial::new(&self.path, self.baud);
        Ok(tokio_serial::SerialStream::open(&builder)?)
    }
}

impl fmt::Display for SerialPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}
