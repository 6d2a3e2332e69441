//! Making a connection.

use std::io;
use std::net::{TcpListener as StdListener, UdpSocket as StdSocket};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use logpose_core::Transport;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream, UdpSocket, lookup_host};
use tokio::time::timeout;

#[cfg(feature = "ble")]
use super::bluetooth;
use super::paired::{Beside, Callee, Caller};
#[cfg(unix)]
use super::terminal::Terminal;
use super::{SerialPort, Wire, websocket};
use crate::Host;

/// Where to connect to.
#[derive(Clone, Debug)]
pub(crate) enum Candidate {
    /// A host on the network.
    Network { host: Host, port: u16, transport: Transport, name: String },
    /// A serial port.
    Serial(SerialPort),
    /// A device over Bluetooth, by its name or address.
    Bluetooth(String),
    /// A peer that is called by datagrams.
    Called(Caller),
    /// Whoever calls.
    Calling(Callee),
    /// Whoever connects, one at a time.
    Accepting(Arc<StdListener>),
    /// Whoever sends a datagram: the last one is answered.
    Answering(Arc<StdSocket>),
    /// Whoever opens the other end of a pseudo-terminal.
    #[cfg(unix)]
    Terminal(Terminal),
}

impl Candidate {
    /// Whether it is the other side that connects.
    pub(crate) fn is_served(&self) -> bool {
        match self {
            Self::Network { .. } | Self::Serial(_) | Self::Bluetooth(_) | Self::Called(_) | Self::Calling(_) => false,
            Self::Accepting(_) | Self::Answering(_) => true,
            #[cfg(unix)]
            Self::Terminal(_) => true,
        }
    }

    /// Whether time-outs are to be met to a fraction of a millisecond.
    pub(crate) fn is_timed(&self) -> bool {
        self.is_served() || matches!(self, Self::Called(_) | Self::Calling(_))
    }
}

/// What a connection is made of.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The link without which there is none.
    pub(crate) wire: Wire,
    /// What gives another link beside it.
    pub(crate) beside: Option<Beside>,
    /// What it is connected to.
    pub(crate) peer: String,
}

/// Connects to whichever candidate answers first.
pub(crate) async fn connect(candidate: &Candidate) -> io::Result<Connection> {
    match candidate {
        Candidate::Serial(port) => {
            Ok(Connection { wire: Wire::Serial(port.open_soon().await?), beside: None, peer: port.to_string() })
        }
        #[cfg(feature = "ble")]
        Candidate::Bluetooth(name) => bluetooth::connect(name).await,
        #[cfg(not(feature = "ble"))]
        Candidate::Bluetooth(name) => {
            let reason = format!("{name}: this logpose was built without Bluetooth (feature `ble`)");
            Err(io::Error::new(io::ErrorKind::Unsupported, reason))
        }
        Candidate::Called(caller) => caller.connect().await,
        Candidate::Calling(callee) => callee.connect(),
        Candidate::Accepting(listener) => {
            let listener = TcpListener::from_std(listener.try_clone()?)?;
            let (socket, peer) = listener.accept().await?;
            socket.set_nodelay(true)?;
            keep_alive(&socket);
            Ok(Connection { wire: Wire::Tcp(socket), beside: None, peer: peer.to_string() })
        }
        Candidate::Answering(socket) => {
            let socket = UdpSocket::from_std(socket.try_clone()?)?;
            let peer = socket.local_addr()?.to_string();
            Ok(Connection { wire: Wire::Answering(socket), beside: None, peer })
        }
        #[cfg(unix)]
        Candidate::Terminal(terminal) => terminal.connect(),
        Candidate::Network { host, port, transport, name } => {
            let hosts = host.candidates();
            let mut tries: FuturesUnordered<_> =
                hosts.iter().map(|host| async move { (host, one(host, *port, *transport, name).await) }).collect();
            let mut failures = Vec::new();
            while let Some((host, result)) = tries.next().await {
                match result {
                    Ok(wire) => return Ok(Connection { wire, beside: None, peer: format!("{host}:{port}") }),
                    Err(error) => failures.push(format!("{host}:{port}: {error}")),
                }
            }
            Err(io::Error::other(failures.join("; ")))
        }
    }
}

async fn one(host: &str, port: u16, transport: Transport, name: &str) -> io::Result<Wire> {
    let open = async {
        match transport {
            Transport::Tcp { .. } => tcp(host, port).await.map(Wire::Tcp),
            Transport::Udp { .. } => {
                let address = lookup_host((host, port)).await?.next();
                let address = address.ok_or(io::ErrorKind::AddrNotAvailable)?;
                let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
                let socket = UdpSocket::bind(any).await?;
                socket.connect(address).await?;
                Ok(Wire::Udp(socket))
            }
            Transport::WebSocket { path, protocols, .. } => {
                let socket = tcp(host, port).await?;
                let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
                let socket = websocket::connect(socket, &format!("{host}:{port}"), path, name, protocols).await?;
                Ok(Wire::WebSocket(Box::new(socket)))
            }
            Transport::Paired { .. } | Transport::Serial { .. } | Transport::Bluetooth => {
                Err(io::ErrorKind::Unsupported.into())
            }
        }
    };
    timeout(PATIENCE, open).await.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut)))
}

async fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let socket = TcpStream::connect((host, port)).await?;
    socket.set_nodelay(true)?;
    keep_alive(&socket);
    Ok(socket)
}

/// Has the system find out when the other side is gone without a word: its power failed, or the cable is out.
pub(crate) fn keep_alive(socket: &TcpStream) {
    let patience = TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5));
    // Without it a dead link only lasts longer.
    let _ = SockRef::from(socket).set_tcp_keepalive(&patience);
}

/// A robot that does not answer in this time is not there, as AdvantageScope has it.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
