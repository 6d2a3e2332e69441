//! Address and connection options of a board.

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use logpose::parse_duration;
use logpose_live::refloat::session::{ClientOptions, Failure};
use logpose_live::refloat::{BoardLink, LinkError, LinkOptions};
use logpose_live::{Address, FoundPort, Host, Place, serial_ports};

use crate::failure::Complaint;

/// Address and connection options of a board.
#[derive(Args, Clone, Debug)]
pub(super) struct Reach {
    /// Board address: refloat+tcp://HOST, refloat+serial:PORT or refloat+udp://HOST, or just HOST, HOST:PORT, /dev/ttyACM0 or COM3 [default: the only VESC on a serial port]
    #[arg(value_name = "ADDRESS")]
    pub(super) address: Option<String>,
    /// CAN id of the controller behind a VESC Express [default: detected]
    #[arg(long, value_name = "ID", help_heading = "Link")]
    can: Option<u8>,
    /// Time to wait for an answer before repeating a request
    #[arg(long, value_name = "DURATION", default_value = "1s", hide_default_value = true, help_heading = "Link")]
    timeout: String,
    /// Number of attempts before giving up
    #[arg(long, value_name = "N", default_value_t = 5, hide_default_value = true, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Link")]
    tries: u32,
    /// Time to wait for a board that stopped answering
    #[arg(long, value_name = "DURATION", default_value = "10s", hide_default_value = true, help_heading = "Link")]
    patience: String,
    /// Number of requests in flight [default: detected, 1 over CAN]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64), help_heading = "Link")]
    window: Option<u8>,
}

impl Reach {
    /// The link to the board. Sends nothing yet.
    pub(super) fn link(&self) -> Result<BoardLink> {
        self.link_by(None)
    }

    /// The link to a board whose CAN id is known.
    pub(super) fn link_by(&self, can: Option<u8>) -> Result<BoardLink> {
        let address = match &self.address {
            Some(text) => parse(text)?,
            None => parse(&only(&serial_ports())?)?,
        };
        let patience = span(&self.patience)?;
        let client = ClientOptions {
            can: self.can.or(can),
            window: self.window.map(usize::from),
            timeout: span(&self.timeout)?,
            tries: self.tries,
            patience,
            ..ClientOptions::default()
        };
        let limit = LinkOptions::default().limit.max(patience.saturating_mul(6));
        let options = LinkOptions { client, patience, limit, ..LinkOptions::default() };
        Ok(BoardLink::new(&address, options).map_err(complain)?)
    }
}

/// Parses a duration greater than zero.
pub(super) fn span(text: &str) -> Result<Duration> {
    let nanos = u64::try_from(parse_duration(text)?).unwrap_or(0);
    if nanos == 0 {
        return Err(Complaint::usage(format!("invalid duration {text}, expected more than zero, such as 500ms")).into());
    }
    Ok(Duration::from_nanos(nanos))
}

/// The only serial port with a board.
fn only(ports: &[FoundPort]) -> Result<String, Complaint> {
    let boards: Vec<&FoundPort> = ports.iter().filter(|port| port.board().is_some()).collect();
    let list = |ports: &[&FoundPort]| ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let message = match (boards.as_slice(), ports) {
        ([board], _) => return Ok(board.path.clone()),
        ([], []) => "missing board address: this computer has no serial ports".to_owned(),
        ([], ports) => {
            format!("missing board address: found no VESC among {}", list(&ports.iter().collect::<Vec<_>>()))
        }
        (several, _) => format!("missing board address: found several boards: {}", list(several)),
    };
    Err(Complaint::usage(message).help(LOOKS))
}

/// Converts a connection failure to an error.
pub(super) fn complain(error: LinkError) -> Complaint {
    let code = match &error {
        LinkError::NoBoard(_) => return Complaint::usage(error.to_string()),
        LinkError::Unreachable { .. } | LinkError::Lost { .. } => "unreachable",
        LinkError::Failed(Failure::Nobody { .. } | Failure::Silent { .. }) => "silent",
        LinkError::Failed(Failure::Recording) => "recording",
        LinkError::Failed(Failure::TooOld { .. } | Failure::NoBuffer { .. } | Failure::Unsupported { .. }) => {
            "unsupported"
        }
        LinkError::Failed(_) => "board",
        _ => "link",
    };
    Complaint::failed(code, error.to_string()).help_if(error.help())
}

/// Parses a board address, including the short forms.
fn parse(text: &str) -> Result<Address, Complaint> {
    let parsed = if Address::is_live(text) {
        Address::parse(text)
    } else if is_serial(text) {
        Address::parse(&format!("refloat+serial:{text}"))
    } else {
        Address::parse(&format!("refloat+tcp://{text}"))
    };
    let address = parsed.map_err(|error| Complaint::usage(error.to_string()).help(LOOKS))?;
    if !address.is_board() {
        let scheme = address.speech.scheme();
        return Err(Complaint::usage(format!("{text}: {scheme} is not a board address")).help(LOOKS));
    }
    if let Place::Network { host: Host::Team(number), .. } = &address.place {
        return Err(Complaint::usage(format!("expected a board address, found the number {number}")).help(LOOKS));
    }
    Ok(address)
}

const LOOKS: &str =
    "use an address such as refloat+tcp://192.168.4.1, refloat+serial:/dev/ttyACM0 or refloat+udp://127.0.0.1";

fn is_serial(text: &str) -> bool {
    let com = text.get(..3).is_some_and(|head| head.eq_ignore_ascii_case("com"));
    let numbered = text.get(3..).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
    ["/", "./", "../", r"\\.\"].iter().any(|start| text.starts_with(start)) || com && numbered
}

#[cfg(test)]
mod tests {
    use logpose_live::FoundPort;

    use super::{only, parse};

    #[test]
    fn without_an_address_the_only_board_is_meant() {
        let port = |path: &str, usb| FoundPort { path: path.to_owned(), usb, product: None };
        let (board, other) = (port("/dev/ttyACM0", Some((0x0483, 0x5740))), port("/dev/ttyS0", None));
        assert_eq!(only(&[board.clone(), other.clone()]).ok().as_deref(), Some("/dev/ttyACM0"));
        let said = |ports: &[FoundPort]| only(ports).err().map(|complaint| complaint.message).unwrap_or_default();
        assert!(said(&[]).contains("no serial port"));
        assert!(said(std::slice::from_ref(&other)).contains("found no VESC among /dev/ttyS0"));
        let another = port("/dev/ttyACM1", board.usb);
        assert!(said(&[board, another]).contains("found several boards: /dev/ttyACM0 (VESC controller"));
    }

    #[test]
    fn addresses_have_short_spellings() {
        let cases = [
            ("refloat+tcp://192.168.4.1", "refloat+tcp://192.168.4.1:65102"),
            ("192.168.4.1", "refloat+tcp://192.168.4.1:65102"),
            ("127.0.0.1:7000", "refloat+tcp://127.0.0.1:7000"),
            ("board.local", "refloat+tcp://board.local:65102"),
            ("[::1]:7000", "refloat+tcp://[::1]:7000"),
            ("/dev/ttyACM0", "refloat+serial:/dev/ttyACM0"),
            ("./board", "refloat+serial:./board"),
            ("COM3", "refloat+serial:COM3"),
            ("com12", "refloat+serial:com12"),
            ("refloat+serial:COM3", "refloat+serial:COM3"),
            ("refloat+udp://127.0.0.1", "refloat+udp://127.0.0.1:65102"),
            ("company", "refloat+tcp://company:65102"),
        ];
        cases.iter().for_each(|(text, full)| assert_eq!(parse(text).unwrap().to_string(), *full));
    }

    #[test]
    fn what_is_no_board_is_refused() {
        for text in
            ["rlog://10.2.54.2", "foxglove://", "254", "a b", "127.0.0.1:port", "refloat+serial:", "ride.rfrec/x"]
        {
            let complaint = parse(text).err().unwrap_or_else(|| panic!("{text} was taken"));
            assert_eq!(complaint.code, "usage", "{text}");
        }
    }
}
