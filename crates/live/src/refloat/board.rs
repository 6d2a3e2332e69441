use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;

use logpose_core::{Session, Time};
use logpose_refloat::PORT;

use crate::links::Candidate;
#[cfg(unix)]
use crate::links::Terminal;
use crate::shared::Shared;
use crate::{Clock, Live, Source};

/// Plays a board: any session that answers as one does, such as the emulated board of `logpose-sim`. It serves one client
/// at a time.
pub struct BoardRunner<S> {
    source: Source,
    handle: BoardHandle<S>,
}

/// Where an emulated board is found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BoardPlace {
    /// At a TCP port, as VESC Express has it: others wait until the current client has gone.
    Tcp(SocketAddr),
    /// At a UDP port, as VESC Tool has it: replies go to whoever sent the last datagram.
    Udp(SocketAddr),
    /// At a pseudo-terminal, as if it were on a serial port. Only systems like Linux and macOS have them.
    Terminal {
        /// A name of its own for it, which is removed at the end.
        link: Option<PathBuf>,
    },
}

/// On loopback, at the port of VESC Express.
impl Default for BoardPlace {
    fn default() -> Self {
        Self::Tcp((Ipv4Addr::LOCALHOST, PORT).into())
    }
}

/// Why an emulated board does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// Another program has the port.
    #[error("{what} port {} of {} is in use, perhaps by another board or the bridge of VESC Tool", address.port(), address.ip())]
    Taken {
        /// UDP or TCP.
        what: &'static str,
        /// The address.
        address: SocketAddr,
    },
    /// There is something of this name.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// There are no pseudo-terminals.
    #[error("this system has no pseudo-terminals; use TCP")]
    NoTerminals,
    /// The system refuses.
    #[error("{what}: {error}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        #[source]
        error: io::Error,
    },
}

/// Reaches an emulated board from any thread.
pub struct BoardHandle<S> {
    shared: Shared<S>,
    clock: Clock,
    place: Found,
}

#[derive(Clone)]
enum Found {
    At(String),
    #[cfg(unix)]
    Terminal(Terminal),
}

impl<S: Session + 'static> BoardRunner<S> {
    /// Takes the port. The board runs when its source does, which has to be in the same [`Live`].
    pub fn new(live: &Live, place: BoardPlace, session: S) -> Result<Self, BoardError> {
        let (candidate, place) = match place {
            BoardPlace::Tcp(address) => {
                let bound = TcpListener::bind(address)
                    .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
                    .and_then(|listener| Ok((listener.local_addr()?, listener)));
                let (at, listener) = bound.map_err(BoardError::bind("TCP", address))?;
                (Candidate::Accepting(Arc::new(listener)), Found::At(format!("refloat+tcp://{at}")))
            }
            BoardPlace::Udp(address) => {
                let bound = UdpSocket::bind(address)
                    .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
                    .and_then(|socket| Ok((socket.local_addr()?, socket)));
                let (at, socket) = bound.map_err(BoardError::bind("UDP", address))?;
                (Candidate::Answering(Arc::new(socket)), Found::At(format!("refloat+udp://{at}")))
            }
            BoardPlace::Terminal { link } => terminal(live, link)?,
        };
        let shared = Shared::new(session);
        let source = Source::shared(&shared, candidate);
        Ok(Self { source, handle: BoardHandle { shared, clock: live.clock(), place } })
    }

    /// What reaches the board while its source runs.
    #[must_use]
    pub fn handle(&self) -> BoardHandle<S> {
        self.handle.clone()
    }

    /// What runs it.
    #[must_use]
    pub fn into_source(self) -> Source {
        self.source
    }
}

#[cfg(unix)]
fn terminal(live: &Live, link: Option<PathBuf>) -> Result<(Candidate, Found), BoardError> {
    let made = live.within(|| Terminal::new(link.as_deref()));
    let terminal = made.map_err(|error| match (error.kind(), link) {
        (io::ErrorKind::AlreadyExists, Some(link)) => BoardError::Exists(link),
        (_, Some(link)) => BoardError::Io { what: link.display().to_string(), error },
        (_, None) => BoardError::Io { what: "cannot create a pseudo-terminal".to_owned(), error },
    })?;
    Ok((Candidate::Terminal(terminal.clone()), Found::Terminal(terminal)))
}

#[cfg(not(unix))]
fn terminal(_: &Live, _: Option<PathBuf>) -> Result<(Candidate, Found), BoardError> {
    Err(BoardError::NoTerminals)
}

impl BoardError {
    fn bind(what: &'static str, address: SocketAddr) -> impl FnOnce(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::AddrInUse => Self::Taken { what, address },
            _ => Self::Io { what: format!("cannot bind {what} port {} of {}", address.port(), address.ip()), error },
        }
    }
}

impl<S> BoardHandle<S> {
    /// The address by which it is found. A terminal without a name of its own can get another one when its cable is pulled.
    #[must_use]
    pub fn address(&self) -> String {
        match &self.place {
            Found::At(address) => address.clone(),
            #[cfg(unix)]
            Found::Terminal(terminal) => format!("refloat+serial:{}", terminal.path()),
        }
    }

    /// Does something with the board at the present moment, and has it look at once what it wants now. The board waits
    /// meanwhile.
    pub fn with<T>(&self, act: impl FnOnce(&mut S, Time) -> T) -> T {
        let now = self.clock.micros();
        let done = act(&mut self.shared.lock(), now);
        self.shared.ring();
        done
    }
}

impl<S> Clone for BoardHandle<S> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), clock: self.clock, place: self.place.clone() }
    }
}
