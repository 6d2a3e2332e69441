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
    /// Reads what stands behind a scheme: a path or a name, perhaps with `?baud=57600` behind it.
    pub(crate) fn parse(text: &str, baud: u32) -> Result<Self, String> {
        let (path, baud) = match text.split_once("?baud=") {
            None => (text, baud),
            Some((path, given)) => {
                let given = given.parse().ok().filter(|baud| *baud > 0);
                (path, given.ok_or("behind ?baud= stands a number of bits a second, such as 115200")?)
            }
        };
        // Some write an address of a device like one of the network.
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() {
            return Err("a serial port is named behind the colon, as in refloat+serial:/dev/ttyACM0".to_owned());
        }
        Ok(Self { path: path.to_owned(), baud })
    }

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
