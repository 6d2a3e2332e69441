//! Datagrams with a TCP stream beside them: whoever calls hears the answers at a fixed port of its own.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener as StdListener, UdpSocket as StdSocket};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use logpose_core::Link;
use logpose_driverstation::wire::{CONTROL_PORT, STATUS_PORT, TCP_PORT};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket, lookup_host};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{interval, sleep, timeout};

use super::connect::{Connection, PATIENCE, keep_alive};
use super::queue::Pending;
use super::udp::LARGEST;
use super::{Event, Wire};
use crate::Host;
use crate::ds::{DsError, STATION_RUNS};

/// The side that calls.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) host: Host,
    /// Where datagrams go, where their answers come to, and where the stream is.
    pub(crate) ports: Ports,
    pub(crate) hello: Cow<'static, [u8]>,
    /// The address of this machine to use, if not the one that comes by itself.
    pub(crate) bind: Option<IpAddr>,
    /// The socket for the answers, if it is to be kept from one connection to the next.
    pub(crate) socket: Option<Arc<StdSocket>>,
}

/// The ports of datagrams with a stream beside them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ports {
    /// To which datagrams go.
    pub datagrams: u16,
    /// To which they are answered, on the machine that sent them.
    pub answers: u16,
    /// Of the TCP stream.
    pub stream: u16,
}

/// Those of the Driver Station link.
impl Default for Ports {
    fn default() -> Self {
        Self { datagrams: CONTROL_PORT, answers: STATUS_PORT, stream: TCP_PORT }
    }
}

/// The side that is called, with its sockets.
#[derive(Clone, Debug)]
pub(crate) struct Callee {
    pub(crate) socket: Arc<StdSocket>,
    pub(crate) listener: Arc<StdListener>,
    pub(crate) answers: u16,
}

/// A socket for datagrams, and whom it is for.
#[derive(Debug)]
pub(crate) struct Datagrams {
    socket: UdpSocket,
    peer: Peer,
}

#[derive(Clone, Debug)]
enum Peer {
    /// A peer that is called. It may answer from any port.
    Called(SocketAddr),
    /// Whoever called last is answered at this port, one at a time.
    Calling(u16, Arc<Mutex<Turn>>),
}

/// Whose turn it is to be served: a peer that sends keeps it, and loses it by silence.
#[derive(Debug, Default)]
pub(crate) struct Turn(Option<(IpAddr, Instant)>);

impl Turn {
    /// Whether it is the turn of this one, who was just heard.
    pub(crate) fn take(&mut self, who: IpAddr, now: Instant) -> bool {
        let other = self.0.is_some_and(|(had, last)| had != who && now.duration_since(last) < TURN);
        if !other {
            self.0 = Some((who, now));
        }
        !other
    }

    pub(crate) fn who(&self) -> Option<IpAddr> {
        self.0.map(|(who, _)| who)
    }
}

/// What gives the stream beside datagrams, and another one whenever it has closed.
#[derive(Debug)]
pub(crate) enum Beside {
    Call(Calling),
    Answer(Answering),
}

/// Lets streams in, one at a time.
#[derive(Debug)]
pub(crate) struct Answering {
    listener: TcpListener,
    turn: Arc<Mutex<Turn>>,
    /// Who has the stream.
    who: Option<IpAddr>,
}

/// Calls for a stream, again and again until there is one.
pub(crate) struct Calling {
    to: SocketAddr,
    local: IpAddr,
    attempt: Option<Pin<Box<dyn Future<Output = TcpStream> + Send>>>,
    /// When there was one last.
    opened: Option<Instant>,
    pause: Duration,
}

impl Caller {
    /// Takes the port for the answers.
    pub(crate) fn bind(&self) -> io::Result<StdSocket> {
        let socket = StdSocket::bind((self.local(), self.ports.answers))?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    }

    /// The address of this machine to call from. One on loopback is called from its own address, so that several pairs
    /// on one machine do not meet.
    pub(crate) fn local(&self) -> IpAddr {
        self.bind.unwrap_or_else(|| match &self.host {
            Host::Ip(ip) if ip.is_loopback() => *ip,
            Host::Ip(IpAddr::V6(_)) => Ipv6Addr::UNSPECIFIED.into(),
            Host::Unsaid => Ipv4Addr::LOCALHOST.into(),
            Host::Name(name) if name == "localhost" => Ipv4Addr::LOCALHOST.into(),
            Host::Ip(IpAddr::V4(_)) | Host::Name(_) | Host::Team(_) => Ipv4Addr::UNSPECIFIED.into(),
        })
    }

    /// Calls all candidates until one of them answers.
    pub(super) async fn connect(&self) -> io::Result<Connection> {
        let socket = match &self.socket {
            Some(socket) => socket.try_clone()?,
            None => {
                let address = SocketAddr::new(self.local(), self.ports.answers);
                self.bind().map_err(|error| io::Error::other(DsError::bind("UDP", address, STATION_RUNS)(error)))?
            }
        };
        let socket = UdpSocket::from_std(socket)?;
        let mut buffer = vec![0; LARGEST];
        // What came before was not an answer.
        while socket.try_recv(&mut buffer).is_ok() {}
        let (port, local) = (self.ports.datagrams, self.local());
        let hosts = self.host.candidates();
        let mut lookups: FuturesUnordered<_> =
            hosts.iter().map(|host| async move { (host, lookup_host((&**host, port)).await) }).collect();
        let mut tries: Vec<Try<'_>> = Vec::new();
        let mut failures = Vec::new();
        let mut ask = interval(HELLO);
        let over = sleep(PATIENCE);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => break,
                Some((host, found)) = lookups.next() => {
                    let found = found.map(|mut all| all.find(|to| to.is_ipv4() == local.is_ipv4()));
                    match found {
                        Ok(Some(to)) if is_field(to.ip()) => failures.push(format!("{host}: {FIELD}")),
                        Ok(Some(to)) => tries.push(Try { host, to, error: None }),
                        Ok(None) => failures.push(format!("{host}: no address is reachable from {local}")),
                        Err(error) => failures.push(format!("{host}:{port}: {error}")),
                    }
                    if lookups.is_empty() && tries.is_empty() {
                        break;
                    }
                }
                _ = ask.tick() => for one in &mut tries {
                    one.error = socket.send_to(&self.hello, one.to).await.err();
                },
                heard = socket.recv_from(&mut buffer) => {
                    let from = match heard {
                        Ok((_, from)) => from,
                        Err(error) if is_passing(&error) => continue,
                        Err(error) => return Err(error),
                    };
                    let Some(one) = tries.iter().find(|one| one.to.ip() == from.ip()) else { continue };
                    let (to, peer) = (one.to, format!("{}:{port}", one.host));
                    let calling = Calling {
                        to: SocketAddr::new(to.ip(), self.ports.stream),
                        local,
                        attempt: None,
                        opened: None,
                        pause: FIRST_PAUSE,
                    };
                    let wire = Wire::Datagrams(Datagrams { socket, peer: Peer::Called(to) });
                    return Ok(Connection { wire, beside: Some(Beside::Call(calling)), peer });
                }
            }
        }
        failures.extend(tries.iter().map(|one| match &one.error {
            Some(error) => format!("{}:{port}: {error}", one.host),
            None => format!("{}:{port}: no answer", one.host),
        }));
        Err(io::Error::other(failures.join("; ")))
    }
}

/// A candidate with an address.
struct Try<'h> {
    host: &'h str,
    to: SocketAddr,
    error: Option<io::Error>,
}

impl Callee {
    pub(super) fn connect(&self) -> io::Result<Connection> {
        let socket = UdpSocket::from_std(self.socket.try_clone()?)?;
        let peer = socket.local_addr()?.to_string();
        let listener = TcpListener::from_std(self.listener.try_clone()?)?;
        let turn = Arc::default();
        let answering = Answering { listener, turn: Arc::clone(&turn), who: None };
        let wire = Wire::Datagrams(Datagrams { socket, peer: Peer::Calling(self.answers, turn) });
        Ok(Connection { wire, beside: Some(Beside::Answer(answering)), peer })
    }
}

impl fmt::Debug for Calling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calling").field("to", &self.to).finish_non_exhaustive()
    }
}

impl Beside {
    /// The next stream. While there is one, further ones are turned away. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self, is_busy: bool) -> TcpStream {
        match self {
            Self::Call(_) if is_busy => std::future::pending().await,
            Self::Call(calling) => calling.next().await,
            Self::Answer(answering) => answering.next(is_busy).await,
        }
    }
}

impl Answering {
    async fn next(&mut self, is_busy: bool) -> TcpStream {
        loop {
            match self.listener.accept().await {
                // One whose turn it is now takes the place of one whose turn it was.
                Ok((stream, from)) if !is_busy || self.who != Some(from.ip()) && is_turn(&self.turn, from.ip()) => {
                    self.who = Some(from.ip());
                    prepare(&stream);
                    return stream;
                }
                // Others are closed at once.
                Ok(_) => {}
                Err(_) => sleep(Duration::from_millis(20)).await,
            }
        }
    }
}

fn is_turn(turn: &Mutex<Turn>, who: IpAddr) -> bool {
    turn.lock().unwrap_or_else(PoisonError::into_inner).who() == Some(who)
}

impl Calling {
    async fn next(&mut self) -> TcpStream {
        if self.attempt.is_none() {
            let wait = match self.opened {
                None => Duration::ZERO,
                Some(opened) if opened.elapsed() >= HEALTHY => {
                    self.pause = FIRST_PAUSE;
                    Duration::ZERO
                }
                Some(_) => {
                    let pause = self.pause;
                    self.pause = (pause * 2).min(LONGEST_PAUSE);
                    pause
                }
            };
            self.attempt = Some(Box::pin(call(self.to, self.local, wait)));
        }
        let stream = match &mut self.attempt {
            Some(attempt) => attempt.await,
            None => std::future::pending().await,
        };
        (self.attempt, self.opened) = (None, Some(Instant::now()));
        stream
    }
}

/// Calls until somebody answers, after waiting for so long.
async fn call(to: SocketAddr, local: IpAddr, wait: Duration) -> TcpStream {
    sleep(wait).await;
    let mut pause = FIRST_PAUSE;
    loop {
        if let Ok(Ok(stream)) = timeout(PATIENCE, stream(to, local)).await {
            return stream;
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn stream(to: SocketAddr, local: IpAddr) -> io::Result<TcpStream> {
    let socket = if to.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    if !local.is_unspecified() {
        socket.bind(SocketAddr::new(local, 0))?;
    }
    let stream = socket.connect(to).await?;
    prepare(&stream);
    Ok(stream)
}

fn prepare(stream: &TcpStream) {
    // Without it a message waits for the answer to the one before.
    let _ = stream.set_nodelay(true);
    keep_alive(stream);
}

/// Reads and writes datagrams. A datagram is one input.
pub(super) fn start(
    link: Link,
    Datagrams { socket, peer }: Datagrams,
    events: mpsc::Sender<Event>,
    mut pending: Pending,
) -> [JoinHandle<()>; 2] {
    let socket = Arc::new(socket);
    let (reader, theirs) = (Arc::clone(&socket), peer.clone());
    let reading = tokio::spawn(async move {
        let reason = read(link, &reader, &theirs, &events).await;
        let _ = events.send(Event::Closed(link, reason)).await;
    });
    let writing = tokio::spawn(async move {
        let mut pieces = Vec::new();
        while pending.next(&mut pieces).await {
            for piece in pieces.drain(..) {
                // What is not sent is lost, as datagrams are: when no answers come, the link ends by that.
                if let Some(to) = peer.address() {
                    let _ = socket.send_to(&piece.bytes, to).await;
                }
                pending.sent(piece.bytes.len());
            }
        }
    });
    [reading, writing]
}

async fn read(link: Link, socket: &UdpSocket, peer: &Peer, events: &mpsc::Sender<Event>) -> String {
    let mut buffer = vec![0; LARGEST];
    let mut last = Instant::now();
    loop {
        let heard = match timeout(SILENCE.saturating_sub(last.elapsed()), socket.recv_from(&mut buffer)).await {
            Err(_) if matches!(peer, Peer::Called(_)) => {
                return format!("no answer for {} s", SILENCE.as_secs());
            }
            Err(_) => {
                last = Instant::now();
                continue;
            }
            Ok(heard) => heard,
        };
        match heard {
            Ok((n, from)) if peer.hears(from.ip()) => {
                last = Instant::now();
                let bytes = buffer.get(..n).unwrap_or_default().to_vec();
                if events.send(Event::Input(link, bytes)).await.is_err() {
                    return String::new();
                }
            }
            Ok(_) => {}
            Err(error) if is_passing(&error) => {}
            Err(error) => return error.to_string(),
        }
    }
}

impl Peer {
    /// Whether a datagram from there is for this link.
    fn hears(&self, from: IpAddr) -> bool {
        match self {
            Self::Called(to) => to.ip() == from,
            Self::Calling(_, turn) => turn.lock().unwrap_or_else(PoisonError::into_inner).take(from, Instant::now()),
        }
    }

    /// Where datagrams go.
    fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Called(to) => Some(*to),
            Self::Calling(port, turn) => {
                let who = turn.lock().unwrap_or_else(PoisonError::into_inner).who()?;
                Some(SocketAddr::new(who, *port))
            }
        }
    }
}

/// Nobody listens there yet: a datagram that was not wanted says nothing about the next.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset)
}

/// Whether an address is in the network of a field system. Nothing here ever talks to one.
pub(crate) fn is_field(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(ip) if matches!(ip.octets(), [10, 0, 100, _]))
}

pub(crate) const FIELD: &str = "10.0.100.x is the field network, and logpose never connects to it";
/// How often somebody is asked whether it is there.
const HELLO: Duration = Duration::from_millis(20);
/// One who does not answer for so long is sought again.
const SILENCE: Duration = Duration::from_secs(5);
/// A peer that is silent for this long makes room for another.
const TURN: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A stream that lasted so long was a good one.
const HEALTHY: Duration = Duration::from_secs(3);
