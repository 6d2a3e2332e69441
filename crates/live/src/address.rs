use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use logpose::FORMATS;
use logpose_core::{Dialect, Reach, Transport};

use crate::SerialPort;

/// Something live, such as `rlog://10.2.54.2`, `nt4://254`, `foxglove://127.0.0.1:8765`, `refloat+serial:/dev/ttyACM0`.
#[derive(Clone)]
pub struct Address {
    /// What is spoken there.
    pub speech: Speech,
    /// Where.
    pub place: Place,
}

/// Where something live is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// On the network.
    Network {
        /// The host.
        host: Host,
        /// The port.
        port: u16,
    },
    /// At a serial port of this machine.
    Serial(SerialPort),
    /// At a device over Bluetooth, by its name or address; without either at the first that is found.
    Bluetooth(String),
}

/// What is spoken at an address.
#[derive(Clone, Copy)]
pub enum Speech {
    /// A dialect, over one of the ways in which it is reached.
    Dialect(&'static dyn Dialect, &'static Reach),
    /// The WebSocket protocol of Foxglove, which only goes out.
    Foxglove,
}

/// Which machine something live is on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Host {
    /// A team's robot, by the team's number.
    Team(u16),
    /// An address.
    Ip(IpAddr),
    /// A name that the system resolves.
    Name(String),
    /// None was given.
    Unsaid,
}

/// Why a text is no address of something live.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AddressError {
    /// Nothing stands before `://`.
    #[error("{text:?} is not a live address, expected one such as rlog://10.2.54.2 or nt4://254 (a team number)")]
    NoScheme {
        /// What was given.
        text: String,
    },
    /// No dialect has this scheme.
    #[error("unknown live scheme {scheme}, expected one of {known}")]
    UnknownScheme {
        /// What was given.
        scheme: String,
        /// What there is.
        known: String,
    },
    /// The part after the scheme is invalid.
    #[error("{text:?}: {reason}")]
    Bad {
        /// What was given.
        text: String,
        /// What is wrong.
        reason: String,
    },
}

impl Address {
    /// Whether a text looks like something live rather than like a file.
    #[must_use]
    pub fn is_live(text: &str) -> bool {
        // One letter is a drive: `C://logs/match.wpilog`.
        let named =
            |scheme: &str| scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
        text.split_once("://").is_some_and(|(scheme, _)| named(scheme)) || serial(text).is_some()
    }

    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if let Some((dialect, reach, baud, rest)) = serial(text) {
            let place = Place::Serial(SerialPort::parse(rest, baud).map_err(|reason| bad(text, &reason))?);
            return Ok(Self { speech: Speech::Dialect(dialect, reach), place });
        }
        let no_scheme = || AddressError::NoScheme { text: text.to_owned() };
        let (scheme, rest) = text.split_once("://").ok_or_else(no_scheme)?;
        let speech = Speech::of(scheme).ok_or_else(|| AddressError::UnknownScheme {
            scheme: scheme.to_owned(),
            known: prefixes().collect::<Vec<_>>().join(", "),
        })?;
        let bad = |reason: &str| bad(text, reason);
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if let Speech::Dialect(_, Reach { transport: Transport::Bluetooth, .. }) = speech {
            return Ok(Self { speech, place: Place::Bluetooth(rest.to_owned()) });
        }
        if rest.contains(['/', '?', '#', '@']) {
            return Err(bad("expected a host and an optional port, as in rlog://10.2.54.2:5800"));
        }
        let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((inner, behind)) => {
                let ip: Ipv6Addr = inner.parse().map_err(|_| bad("expected an IPv6 address in the brackets"))?;
                let port = match behind.strip_prefix(':') {
                    Some(port) => Some(port),
                    None if behind.is_empty() => None,
                    None => return Err(bad("expected a colon before the port")),
                };
                (Host::Ip(ip.into()), port)
            }
            None => {
                let (host, port) = rest.rsplit_once(':').map_or((rest, None), |(host, port)| (host, Some(port)));
                if host.contains(':') {
                    return Err(bad("put an IPv6 address in brackets, as in rlog://[::1]:5800"));
                }
                (Host::parse(host).map_err(|reason| bad(&reason))?, port)
            }
        };
        let port = match port {
            None => speech.port(),
            Some(port) => port.parse().map_err(|_| bad(&format!("invalid port {port:?}, expected 0 to 65535")))?,
        };
        Ok(Self { speech, place: Place::Network { host, port } })
    }

    /// Whether there is a Refloat board.
    #[must_use]
    pub fn is_board(&self) -> bool {
        matches!(self.speech, Speech::Dialect(dialect, _) if dialect.info().name == logpose_refloat::NAME)
    }

    /// Whether listening there means to be the one who commands: then a robot has no other station meanwhile.
    #[must_use]
    pub fn is_commanding(&self) -> bool {
        matches!(self.speech, Speech::Dialect(_, Reach { transport: Transport::Paired { .. }, .. }))
    }

    /// The host and the port, if it is on the network.
    #[must_use]
    pub fn network(&self) -> Option<(&Host, u16)> {
        match &self.place {
            Place::Network { host, port } => Some((host, *port)),
            Place::Serial(_) | Place::Bluetooth(_) => None,
        }
    }

    /// The same on another host; what is no address of the network stays what it is.
    #[must_use]
    pub fn on(mut self, other: Host) -> Self {
        if let Place::Network { host, .. } = &mut self.place {
            *host = other;
        }
        self
    }

    /// Where to bind a server: what was said, and loopback if nothing was. A name or a team is nothing to bind to.
    pub fn bind(&self) -> Result<SocketAddr, AddressError> {
        let Place::Network { host, port } = &self.place else {
            return Err(bad(&self.to_string(), "a server needs a network address"));
        };
        let ip = match host {
            Host::Ip(ip) => *ip,
            Host::Unsaid => Ipv4Addr::LOCALHOST.into(),
            Host::Name(name) if name == "localhost" => Ipv4Addr::LOCALHOST.into(),
            Host::Team(_) | Host::Name(_) => {
                let reason = "a server is bound to an address of this machine: 127.0.0.1 for programs on it, \
                              0.0.0.0 for every network";
                return Err(bad(&self.to_string(), reason));
            }
        };
        Ok(SocketAddr::new(ip, *port))
    }
}

impl Host {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::Unsaid);
        }
        if let Ok(ip) = text.parse() {
            return Ok(Self::Ip(ip));
        }
        if text.bytes().all(|b| b.is_ascii_digit()) {
            let team = text.parse().ok().filter(|team| (1..=MAX_TEAM).contains(team));
            return team.map(Self::Team).ok_or_else(|| format!("invalid team number {text}, expected 1 to {MAX_TEAM}"));
        }
        let fits = |c: char| c.is_alphanumeric() || "-._".contains(c);
        if text.chars().all(fits) {
            Ok(Self::Name(text.to_owned()))
        } else {
            Err(format!("invalid host name {text:?}"))
        }
    }

    /// What to try, in this order of preference: for a team the robot's radio address, its name, and its USB address.
    #[must_use]
    pub fn candidates(&self) -> Vec<String> {
        match self {
            Self::Team(team) => {
                vec![
                    format!("10.{}.{}.2", team / 100, team % 100),
                    format!("roborio-{team}-FRC.local"),
                    "172.22.11.2".to_owned(),
                ]
            }
            Self::Ip(ip) => vec![ip.to_string()],
            Self::Name(name) => vec![name.clone()],
            Self::Unsaid => vec![Ipv4Addr::LOCALHOST.to_string()],
        }
    }
}

impl Speech {
    /// Everything that can be listened to, each over all of its ways.
    pub fn sources() -> impl Iterator<Item = Self> {
        let heard = reached().filter(|(dialect, _)| dialect.live().is_some());
        heard.map(|(dialect, reach)| Self::Dialect(dialect, reach))
    }

    fn of(scheme: &str) -> Option<Self> {
        if scheme.eq_ignore_ascii_case(FOXGLOVE) {
            return Some(Self::Foxglove);
        }
        let found = reached().find(|(_, reach)| reach.scheme.eq_ignore_ascii_case(scheme));
        found.map(|(dialect, reach)| Self::Dialect(dialect, reach))
    }

    /// The word before `://`.
    #[must_use]
    pub fn scheme(self) -> &'static str {
        match self {
            Self::Dialect(_, reach) => reach.scheme,
            Self::Foxglove => FOXGLOVE,
        }
    }

    /// The usual port; 0 where there is none.
    #[must_use]
    pub fn port(self) -> u16 {
        match self {
            Self::Dialect(_, reach) => match reach.transport {
                Transport::Tcp { port }
                | Transport::Udp { port }
                | Transport::WebSocket { port, .. }
                | Transport::Paired { port, .. } => port,
                Transport::Serial { .. } | Transport::Bluetooth => 0,
            },
            Self::Foxglove => FOXGLOVE_PORT,
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Team(team) => write!(f, "{team}"),
            Self::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]"),
            Self::Ip(ip) => write!(f, "{ip}"),
            Self::Name(name) => f.write_str(name),
            Self::Unsaid => f.write_str("127.0.0.1"),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.speech.scheme();
        match &self.place {
            Place::Network { host, port } => write!(f, "{scheme}://{host}:{port}"),
            Place::Serial(port) => write!(f, "{scheme}:{port}"),
            Place::Bluetooth(name) => write!(f, "{scheme}://{name}"),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// All ways in which dialects are reached.
fn reached() -> impl Iterator<Item = (&'static dyn Dialect, &'static Reach)> {
    FORMATS.iter().flat_map(|format| format.info().reached.iter().map(|reach| (format.dialect(), reach)))
}

/// What stands in front of the addresses of everything live.
fn prefixes() -> impl Iterator<Item = String> {
    reached().map(|(_, reach)| reach.prefix()).chain([format!("{FOXGLOVE}://")])
}

/// The serial way that a text begins with, its usual speed and what follows: `refloat+serial:/dev/ttyACM0`.
fn serial(text: &str) -> Option<(&'static dyn Dialect, &'static Reach, u32, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    reached().find_map(|(dialect, reach)| match reach.transport {
        Transport::Serial { baud } if reach.scheme.eq_ignore_ascii_case(scheme) => Some((dialect, reach, baud, rest)),
        _ => None,
    })
}

fn bad(text: &str, reason: &str) -> AddressError {
    AddressError::Bad { text: text.to_owned(), reason: reason.to_owned() }
}

const FOXGLOVE: &str = "foxglove";
const FOXGLOVE_PORT: u16 = 8765;
/// 10.TE.AM.2 has room for no more: `TE` is at most 255.
const MAX_TEAM: u16 = 25_599;

#[cfg(test)]
mod tests {
    use super::{Address, Host, Place};

    #[test]
    fn every_form_of_an_address_is_read() {
        let cases = [
            ("rlog://10.2.54.2", "rlog://10.2.54.2:5800"),
            ("rlog://10.2.54.2:1735/", "rlog://10.2.54.2:1735"),
            ("RLOG://localhost", "rlog://localhost:5800"),
            ("rlog://[::1]:99", "rlog://[::1]:99"),
            ("rlog://", "rlog://127.0.0.1:5800"),
            ("rlog://:0", "rlog://127.0.0.1:0"),
            ("rlog://254", "rlog://254:5800"),
            ("foxglove://0.0.0.0", "foxglove://0.0.0.0:8765"),
            ("refloat+tcp://192.168.4.1", "refloat+tcp://192.168.4.1:65102"),
            ("refloat+udp://localhost:99", "refloat+udp://localhost:99"),
            ("refloat+serial:/dev/ttyACM0", "refloat+serial:/dev/ttyACM0"),
            ("refloat+serial:///dev/ttyACM0?baud=57600", "refloat+serial:/dev/ttyACM0"),
            ("Refloat+Serial:COM3", "refloat+serial:COM3"),
        ];
        for (text, meant) in cases {
            assert_eq!(Address::parse(text).unwrap().to_string(), meant);
        }
    }

    #[test]
    fn what_is_no_address_says_why() {
        let cases = [
            ("match.wpilog", "is not a live address"),
            ("ftp://a", "unknown live scheme ftp, expected one of rlog://"),
            ("rlog://a:70000", "invalid port \"70000\""),
            ("rlog://30000", "invalid team number 30000"),
            ("rlog://0", "invalid team number 0"),
            ("rlog://::1", "put an IPv6 address in brackets"),
            ("rlog://[zz]", "expected an IPv6 address in the brackets"),
            ("rlog://a/b", "a host and an optional port"),
            ("rlog://a b", "invalid host name"),
            ("refloat+serial:", "expected a serial port after the colon"),
            ("refloat+serial:/dev/ttyS0?baud=fast", "expected a baud rate"),
            ("refloat+serial:/dev/ttyS0?baud=0", "expected a baud rate"),
            ("refloat+tcp:192.168.4.1", "is not a live address"),
            ("refloat://192.168.4.1", "refloat+serial:"),
        ];
        for (text, reason) in cases {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn a_serial_port_is_a_place_of_its_own() {
        let address = Address::parse("refloat+serial:/dev/ttyACM0?baud=57600").unwrap();
        let Place::Serial(port) = &address.place else { panic!("{address:?}") };
        assert_eq!((&*port.path, port.baud), ("/dev/ttyACM0", 57_600));
        assert!(address.network().is_none() && !address.is_commanding());
        assert!(address.bind().unwrap_err().to_string().contains("a server needs a network address"));
        assert_eq!(address.clone().on(Host::Team(254)).to_string(), address.to_string());
        let usual = Address::parse("refloat+serial:COM3").unwrap();
        assert!(usual.is_board());
        assert!(matches!(usual.place, Place::Serial(port) if port.baud == 115_200));
    }

    #[cfg(feature = "ble")]
    #[test]
    fn a_device_over_bluetooth_has_a_name_or_an_address() {
        for name in ["VESC BLE UART", "AA:BB:CC:DD:EE:FF", ""] {
            let address = Address::parse(&format!("refloat+ble://{name}")).unwrap();
            assert_eq!(address.place, Place::Bluetooth(name.to_owned()));
            assert_eq!(address.to_string(), format!("refloat+ble://{name}"));
        }
    }

    #[test]
    fn what_is_live_is_told_from_files() {
        let live = ["refloat+serial:/dev/ttyACM0", "refloat+serial:COM3", "refloat+tcp://a", "nt4://254"];
        let files = [
            "match.wpilog",
            "C:\\logs\\a.rfrec",
            "C:a.rlog",
            "C:/logs/a.rlog",
            "C://logs/a.rlog",
            "/dev/ttyACM0",
            "refloat:a",
            "a:b",
        ];
        assert!(live.iter().all(|text| Address::is_live(text)));
        assert!(!files.iter().any(|text| Address::is_live(text)));
    }

    #[test]
    fn a_team_is_sought_where_its_robot_can_be() {
        let candidates = |team| Host::Team(team).candidates();
        assert_eq!(candidates(254), ["10.2.54.2", "roborio-254-FRC.local", "172.22.11.2"]);
        assert_eq!(candidates(9)[0], "10.0.9.2");
        assert_eq!(candidates(25_599)[0], "10.255.99.2");
        assert_eq!(candidates(10_107)[0], "10.101.7.2");
    }

    #[test]
    fn a_server_is_on_loopback_unless_told_otherwise() {
        let bind = |text| Address::parse(text).unwrap().bind();
        assert_eq!(bind("rlog://").unwrap().to_string(), "127.0.0.1:5800");
        assert_eq!(bind("rlog://localhost:7").unwrap().to_string(), "127.0.0.1:7");
        assert_eq!(bind("rlog://0.0.0.0").unwrap().to_string(), "0.0.0.0:5800");
        assert!(bind("rlog://254").unwrap_err().to_string().contains("address of this machine"));
    }
}
