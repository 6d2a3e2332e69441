use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use logpose_core::{Channel, ChannelId, EncodeOptions, Link, Problem, Sample, Serve, Sink, SinkError, Time, Transport};
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::driver::Driver;
use crate::links::{Wire, accept_websocket, keep_alive};
use crate::stats::LinkStats;
use crate::{Address, Admission, Admitted, Batch, Clock, Output, OutputError, Speech};

/// A dialect's server: everyone who connects gets what goes into this output.
///
/// It never waits for a client: what one has not taken yet waits in a queue of its own, and when that is full the
/// client is cut off.
pub struct Server {
    address: SocketAddr,
    batches: mpsc::Sender<Batch>,
    task: JoinHandle<()>,
    stats: Arc<LinkStats>,
    runtime: Handle,
}

/// How a server behaves.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The settings of the dialect.
    pub encode: EncodeOptions,
    /// How many bytes may wait for one client before it is cut off.
    pub queue_bytes: usize,
    /// How many clients there may be at once; no address can keep the others out, see [`Admission`].
    pub clients: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self { encode: EncodeOptions::default(), queue_bytes: 4 << 20, clients: 512 }
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is none to bind to.
    #[error(transparent)]
    Address(#[from] crate::AddressError),
    /// Nothing can be served there.
    #[error("cannot serve {address}: {reason}")]
    NoServer {
        /// The address.
        address: String,
        /// Why.
        reason: &'static str,
    },
    /// The system refuses.
    #[error("cannot bind {address}: {error}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        #[source]
        error: io::Error,
    },
}

impl Server {
    /// Binds to an address and serves from then on.
    pub async fn start(address: &Address, clock: Clock, options: &ServerOptions) -> Result<Self, ServerError> {
        let none = |reason| ServerError::NoServer { address: address.to_string(), reason };
        let Speech::Dialect(dialect, reach) = address.speech else {
            return Err(none("unknown dialect"));
        };
        let session = dialect
            .live()
            .and_then(|live| live.server(&options.encode))
            .ok_or_else(|| none("the dialect has no server, or none with this revision"))?;
        let bind = address.bind()?;
        let listener = TcpListener::bind(bind).await.map_err(|error| ServerError::Bind { address: bind, error })?;
        let address = listener.local_addr().map_err(|error| ServerError::Bind { address: bind, error })?;
        let (batches, waiting) = mpsc::channel(BATCHES);
        let stats: Arc<LinkStats> = Arc::default();
        let serving = Serving { session, listener, transport: reach.transport, clock, options: options.clone() };
        let task = tokio::spawn(serving.run(waiting, Arc::clone(&stats)));
        Ok(Self { address, batches, task, stats, runtime: Handle::current() })
    }

    /// Where it listens: the port is known here also if 0 was asked for.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What goes on on its links.
    #[must_use]
    pub fn stats(&self) -> Arc<LinkStats> {
        Arc::clone(&self.stats)
    }
}

impl Output for Server {
    fn take(&mut self, batch: &Batch) -> Result<(), OutputError> {
        let gone = |_| OutputError::Failed(format!("the server at {} stopped", self.address));
        self.batches.blocking_send(batch.clone()).map_err(gone)
    }

    fn tick(&mut self, _: Time) -> Result<(), OutputError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), OutputError> {
        let Self { batches, task, runtime, .. } = *self;
        drop(batches);
        runtime.block_on(task).map_err(|error| OutputError::Failed(error.to_string()))
    }
}

/// What the task of a server owns.
struct Serving {
    session: Box<dyn Serve>,
    listener: TcpListener,
    transport: Transport,
    clock: Clock,
    options: ServerOptions,
}

impl Serving {
    async fn run(mut self, mut batches: mpsc::Receiver<Batch>, stats: Arc<LinkStats>) {
        let mut driver = Driver::new(&mut *self.session, self.clock, self.options.queue_bytes, &stats);
        let admission = Admission::new(self.options.clients);
        // Each newcomer has a place, so all of them fit.
        let (ready, mut newcomers) = mpsc::channel(self.options.clients.max(1));
        let mut places: HashMap<Link, Admitted> = HashMap::new();
        loop {
            tokio::select! {
                batch = batches.recv() => {
                    let Some(batch) = batch else { break };
                    publish(&batch, &mut driver, &stats);
                    // What came meanwhile goes out with it, but links are looked at from time to time.
                    for _ in 0..AT_ONCE {
                        let Ok(batch) = batches.try_recv() else { break };
                        publish(&batch, &mut driver, &stats);
                    }
                }
                accepted = self.listener.accept() => match accepted {
                    Ok((socket, from)) => {
                        match admission.admit(from.ip()) {
                            Some(place) => greet(socket, self.transport, &ready, place),
                            None => stats.turned_away(),
                        }
                        let evicted: Vec<Link> =
                            places.iter().filter(|(_, place)| place.is_evicted()).map(|(link, _)| *link).collect();
                        for link in evicted {
                            driver.closed(link, "its address has too many connections".to_owned());
                        }
                    }
                    // Mostly too many open files.
                    Err(_) => {
                        admission.make_room();
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                },
                Some(newcomer) = newcomers.recv() => match newcomer {
                    Some((wire, place)) => {
                        place.works();
                        places.insert(driver.open(wire), place);
                    }
                    None => stats.turned_away(),
                },
                event = driver.wait() => {
                    // What clients have to say is between them and the session; what went wrong is counted.
                    let _ = driver.handle(event, &mut FromClients(&stats));
                }
            }
            if places.len() != driver.links() {
                places.retain(|link, _| driver.is_open(*link));
            }
        }
        driver.finish().await;
    }
}

/// Gives a batch to the session. What the dialect cannot say is left out by it, and counted.
fn publish(batch: &Batch, driver: &mut Driver<'_, dyn Serve>, stats: &LinkStats) {
    let now = driver.clock.now();
    let _ = batch.play(&mut Forgiving { sink: driver.session.sink(now), stats });
    driver.carry();
}

/// A client that was let in, and its place. `None` is one who does not speak what is spoken here.
type Newcomer = Option<(Wire, Admitted)>;

/// Lets a client in, without anyone waiting for it.
fn greet(socket: TcpStream, transport: Transport, ready: &mpsc::Sender<Newcomer>, place: Admitted) {
    let ready = ready.clone();
    if !matches!(transport, Transport::WebSocket { .. }) {
        // There is nothing that it has to send.
        place.works();
    }
    tokio::spawn(async move {
        // Without it a cycle waits for the answer to the one before.
        let _ = socket.set_nodelay(true);
        // What waits shall wait in our queue, where it is shared with other clients and counted.
        let _ = SockRef::from(&socket).set_send_buffer_size(SEND_BUFFER);
        keep_alive(&socket);
        let wire = match transport {
            Transport::WebSocket { protocols, also, .. } => tokio::select! {
                accepted = timeout(PATIENCE, accept_websocket(socket, protocols, also)) => {
                    accepted.ok().and_then(Result::ok).map(Wire::WebSocket)
                }
                () = place.evicted() => None,
            },
            _ => Some(Wire::Tcp(socket)),
        };
        // If the server has ended, so has the client.
        let _ = ready.send(wire.map(|wire| (wire, place))).await;
    });
}

/// Goes on with the rest when the dialect refuses something.
struct Forgiving<'s> {
    sink: &'s mut dyn Sink,
    stats: &'s LinkStats,
}

impl Forgiving<'_> {
    fn forgive(&self, result: Result<(), SinkError>) -> Result<(), SinkError> {
        match result {
            Err(SinkError::Refused(error)) => {
                self.stats.refused(&error);
                Ok(())
            }
            other => other,
        }
    }
}

impl Sink for Forgiving<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let done = self.sink.channel(id, channel);
        self.forgive(done)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let done = self.sink.samples(samples);
        self.forgive(done)
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        let done = self.sink.metadata(id, time, metadata);
        self.forgive(done)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        let done = self.sink.end(id, time);
        self.forgive(done)
    }

    fn problem(&mut self, problem: Problem) {
        self.sink.problem(problem);
    }
}

/// What clients send: the session keeps their values, and only problems are taken here.
struct FromClients<'s>(&'s LinkStats);

impl Sink for FromClients<'_> {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, _: &[Sample<'_>]) -> Result<(), SinkError> {
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.0.problem(&problem);
    }
}

/// Batches that may wait for a server.
const BATCHES: usize = 256;
/// Batches that are published before links are looked at.
const AT_ONCE: usize = 32;
/// Bytes that the system may hold for a client.
const SEND_BUFFER: usize = 256 << 10;
/// How long a handshake may take.
const PATIENCE: Duration = Duration::from_secs(3);
