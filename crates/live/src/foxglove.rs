mod relay;

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use foxglove::websocket::{Capability, ChannelView, Client, ServerListener};
use foxglove::{
    ChannelBuilder, ChannelId, Context, FoxgloveError, PartialMetadata, RawChannel, Schema, WebSocketServer,
    WebSocketServerHandle,
};
use logpose::bridges::mcap::{Language, Messages, Role, Topic};
use logpose::model::free_name;
use logpose_core::Time;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use self::relay::{Watch, relay};
use crate::links::keep_alive;
use crate::{Admission, Admitted, Batch, Output, OutputError, ServerError};

/// A server for Foxglove and whatever else speaks its WebSocket protocol.
///
/// Clients see the topics that an MCAP file of the stream would have: every channel with its schema, poses and scenes
/// once more in Foxglove's own messages, `/tf`. Who subscribes gets the last message of a topic at once.
///
/// A client that is too slow loses the oldest of the messages that wait for it, and never makes anyone wait. If so many
/// channels and times wait that it cannot know what it is shown, it is cut off, and comes back.
///
/// Foxglove's library accepts everyone, waits for handshakes for ever, stops to listen when the system has no more open
/// files, and does not say how many messages it drops. So it listens on a port of its own on this machine, those who are
/// admitted are passed on to it, and what it sends waits for them here.
pub struct FoxgloveServer {
    address: SocketAddr,
    options: FoxgloveOptions,
    messages: Messages,
    context: Arc<Context>,
    shared: Arc<Shared>,
    /// The names of the advertised topics.
    names: HashSet<String>,
    clock: ClientClock,
    admitting: Option<JoinHandle<()>>,
    /// Ends when no client is passed on any more.
    passed: Option<mpsc::Receiver<()>>,
    runtime: Option<Runtime>,
}

/// How a server for Foxglove behaves.
#[derive(Clone, Debug)]
pub struct FoxgloveOptions {
    /// What to add to a time to get Unix nanoseconds, if it is known. Else clients see the times as they are.
    pub epoch_ns: Option<i64>,
    /// Whether poses and scenes are repeated in Foxglove's own messages, which its 3D panel shows.
    pub poses: bool,
    /// How values are described: PlotJuggler takes only messages of ROS 2, in which names of fields have small letters.
    pub language: Language,
    /// Whether clients receive the time. Without that, they take a message to be of the moment in which it
    /// arrives, which for a log that is played is not its time.
    pub time: bool,
    /// How many messages may wait for one client before it loses the oldest.
    pub backlog: usize,
    /// How many clients there may be at once, each with three open files; no address can keep the others out, see
    /// [`Admission`].
    pub clients: usize,
}

impl Default for FoxgloveOptions {
    fn default() -> Self {
        Self { epoch_ns: None, poses: true, language: Language::Ros1, time: true, backlog: 1 << 14, clients: 256 }
    }
}

/// What goes on at a server for Foxglove, for whoever wants to look.
#[derive(Clone)]
pub struct FoxgloveStats(Arc<Shared>);

/// [`FoxgloveStats`] at one moment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FoxgloveFigures {
    /// Clients that are connected.
    pub clients: u64,
    /// Clients that were.
    pub connected: u64,
    /// Topics that clients know.
    pub topics: u64,
    /// Subscriptions of all clients.
    pub subscriptions: u64,
    /// Messages that were made.
    pub messages: u64,
    /// Messages that were handed over to be sent, counted for each client.
    pub sent: u64,
    /// Those of them that clients lost, because they read too slowly.
    pub dropped: u64,
    /// Clients that were disconnected, because so much waited for them that they could not do without.
    pub cut_off: u64,
    /// Samples that no client is shown, because they are before 1970.
    pub early: u64,
}

impl FoxgloveStats {
    /// What they are now.
    #[must_use]
    pub fn figures(&self) -> FoxgloveFigures {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counts { clients, connected, topics, subscriptions, messages, sent, relayed: _, dropped, cut_off, early } =
            &self.0.counts;
        FoxgloveFigures {
            clients: count(clients),
            connected: count(connected),
            topics: count(topics),
            subscriptions: count(subscriptions),
            messages: count(messages),
            sent: count(sent),
            dropped: count(dropped),
            cut_off: count(cut_off),
            early: count(early),
        }
    }
}

/// What the server's own thread and the tasks of its clients both need.
#[derive(Default)]
struct Shared {
    counts: Counts,
    topics: Mutex<Topics>,
    server: Mutex<Option<WebSocketServerHandle>>,
    /// The time that clients received last; 0 before the first.
    now: AtomicU64,
}

#[derive(Default)]
struct Counts {
    clients: AtomicU64,
    connected: AtomicU64,
    topics: AtomicU64,
    subscriptions: AtomicU64,
    messages: AtomicU64,
    sent: AtomicU64,
    /// Those of them that have left Foxglove's library.
    relayed: AtomicU64,
    dropped: AtomicU64,
    cut_off: AtomicU64,
    early: AtomicU64,
}

impl Watch for Counts {
    fn taken(&self, messages: u64) {
        self.relayed.fetch_add(messages, Ordering::Relaxed);
    }

    fn dropped(&self, messages: u64) {
        self.dropped.fetch_add(messages, Ordering::Relaxed);
    }

    fn cut_off(&self) {
        self.cut_off.fetch_add(1, Ordering::Relaxed);
    }
}

/// The topics that were advertised to clients.
#[derive(Default)]
struct Topics {
    /// By the number of the topic less one.
    advertised: Vec<Option<AdvertisedTopic>>,
    /// Which of them a channel of Foxglove's library is.
    places: HashMap<ChannelId, usize>,
}

/// A topic that clients know.
struct AdvertisedTopic {
    channel: Arc<RawChannel>,
    /// The last message and its time.
    last: Option<(u64, Vec<u8>)>,
    subscriptions: u64,
}

impl FoxgloveServer {
    /// Binds to an address and serves from then on. Who may connect is decided by the address alone.
    pub fn start(address: SocketAddr, options: &FoxgloveOptions) -> Result<Self, ServerError> {
        let failed = |error| ServerError::Bind { address, error };
        let offset = options.epoch_ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
        let messages =
            Messages::new(offset, options.poses, options.language).map_err(|error| failed(io::Error::other(error)))?;
        let (context, shared) = (Context::new(), Arc::<Shared>::default());
        let server = WebSocketServer::new()
            .name("logpose")
            .bind(Ipv4Addr::LOCALHOST.to_string(), 0)
            .context(&context)
            .capabilities(options.time.then_some(Capability::Time))
            .message_backlog_size(INNER_BACKLOG)
            .listener(Arc::new(Listener(Arc::clone(&shared))));
        // Threads of its own: whoever calls may be on a thread of another runtime, or on none.
        let threads =
            Builder::new_multi_thread().worker_threads(2).thread_name("logpose-foxglove").enable_all().build();
        let runtime = threads.map_err(failed)?;
        let listener = std::net::TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (done, started) = channel();
        runtime.spawn(async move { done.send(server.start().await) });
        let gone = |_| failed(io::Error::other("its task failed"));
        let server = started.recv().map_err(gone)?.map_err(|error| match error {
            FoxgloveError::Bind(error) => failed(error),
            other => failed(io::Error::other(other)),
        })?;
        let inner = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()));
        let admission = Admission::new(options.clients);
        let (passing, passed) = mpsc::channel(1);
        let passage = Passage { inner, backlog: options.backlog, shared: Arc::clone(&shared) };
        let admitting = runtime.spawn(async move {
            // It was bound above, so it is a socket like any other.
            if let Ok(listener) = TcpListener::from_std(listener) {
                admit(listener, Arc::new(passage), admission, passing).await;
            }
        });
        *lock(&shared.server) = Some(server);
        let (options, clock) = (options.clone(), ClientClock::default());
        let (names, admitting, passed, runtime) = (HashSet::new(), Some(admitting), Some(passed), Some(runtime));
        Ok(Self { address, options, messages, context, shared, names, clock, admitting, passed, runtime })
    }

    /// Where it listens: the port is known here also if 0 was asked for.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What goes on.
    #[must_use]
    pub fn stats(&self) -> FoxgloveStats {
        FoxgloveStats(Arc::clone(&self.shared))
    }

    /// Tells clients the time if there is a new one, and not too often.
    fn tell_time(&mut self) {
        if let Some(now) = self.clock.next(Instant::now()) {
            self.shared.tell_time(now);
        }
    }

    /// Hands the messages over that were made.
    fn send(&mut self) -> Result<(), OutputError> {
        let mut topics = lock(&self.shared.topics);
        for topic in self.messages.topics().skip(topics.advertised.len()) {
            // A topic for viewers is advertised when it has something, and most topics for what does not fit never
            // have.
            let advertised = match topic.role {
                Role::Values => Some(advertise(&topic, &self.context, &mut self.names)?),
                Role::Rest | Role::Derived | Role::Events => None,
            };
            topics.add(advertised);
        }
        let (counts, mut messages) = (&self.shared.counts, 0);
        for message in self.messages.messages() {
            if counts.in_library() > MOST_IN_LIBRARY {
                // Clients' tasks may wait for the lock.
                drop(topics);
                counts.wait_for_relays();
                topics = lock(&self.shared.topics);
            }
            let place = usize::from(message.topic).saturating_sub(1);
            if matches!(topics.advertised.get(place), Some(None))
                && let Some(topic) = self.messages.topics().nth(place).filter(|topic| topic.role != Role::Events)
            {
                let advertised = advertise(&topic, &self.context, &mut self.names)?;
                topics.set(place, advertised);
            }
            let Some(Some(advertised)) = topics.advertised.get_mut(place) else { continue };
            advertised.channel.log_with_meta(message.data, PartialMetadata::with_log_time(message.time));
            let (time, data) = advertised.last.get_or_insert_default();
            *time = message.time;
            data.clear();
            data.extend_from_slice(message.data);
            messages += 1;
            counts.sent.fetch_add(advertised.subscriptions, Ordering::Relaxed);
        }
        counts.messages.fetch_add(messages, Ordering::Relaxed);
        counts.topics.store(topics.places.len() as u64, Ordering::Relaxed);
        counts.early.store(self.messages.early(), Ordering::Relaxed);
        Ok(())
    }

    /// Closes all connections and waits for it, but not long.
    fn stop(&mut self) {
        let (server, runtime) = (lock(&self.shared.server).take(), self.runtime.take());
        if let (Some(server), Some(runtime)) = (server, runtime) {
            let (stopping, admitting, passed) = (server.stop(), self.admitting.take(), self.passed.take());
            let (done, stopped) = channel();
            runtime.spawn(async move {
                if let Some(admitting) = admitting {
                    admitting.abort();
                    let _ = admitting.await;
                }
                stopping.wait().await;
                // Closing what a client still writes to would reset it, and it would not see the end that was sent.
                if let Some(mut passed) = passed {
                    while passed.recv().await.is_some() {}
                }
                done.send(())
            });
            let _ = stopped.recv_timeout(STOP);
            runtime.shutdown_background();
        }
    }
}

impl Counts {
    /// Messages that Foxglove's library has and no relay yet, those of clients that have left included.
    fn in_library(&self) -> u64 {
        self.sent.load(Ordering::Relaxed).saturating_sub(self.relayed.load(Ordering::Relaxed))
    }

    /// Waits until the library has few messages, so that it drops none. Relays take them whether clients read or not.
    fn wait_for_relays(&self) {
        let (mut last, mut since) = (self.in_library(), Instant::now());
        while last > MOST_IN_LIBRARY {
            thread::sleep(PAUSE);
            let now = self.in_library();
            if now < last {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > PATIENCE_WITH_RELAYS {
                // What is left was for clients that are gone.
                self.relayed.fetch_add(now, Ordering::Relaxed);
                return;
            }
        }
    }
}

/// The way of clients to Foxglove's library.
struct Passage {
    /// Where it listens.
    inner: SocketAddr,
    /// How many messages may wait for a client.
    backlog: usize,
    shared: Arc<Shared>,
}

/// Passes on those who are admitted, for ever.
async fn admit(listener: TcpListener, passage: Arc<Passage>, admission: Admission, passing: mpsc::Sender<()>) {
    loop {
        match listener.accept().await {
            Ok((client, from)) => {
                if let Some(place) = admission.admit(from.ip()) {
                    let (passage, passing) = (Arc::clone(&passage), passing.clone());
                    tokio::spawn(async move {
                        // Whatever ends it, nobody is left to report it to.
                        let _ = pass_on(client, &passage, place).await;
                        drop(passing);
                    });
                }
            }
            // Mostly too many open files.
            Err(_) => {
                admission.make_room();
                sleep(SHORTLY).await;
            }
        }
    }
}

/// Passes a client on until it goes, does not shake hands, or another one gets its place.
async fn pass_on(mut client: TcpStream, passage: &Passage, place: Admitted) -> io::Result<()> {
    let passed = async {
        client.set_nodelay(true)?;
        // What waits for it shall wait where it can be dropped.
        SockRef::from(&client).set_send_buffer_size(SEND_BUFFER)?;
        keep_alive(&client);
        let mut server = TcpStream::connect(passage.inner).await?;
        server.set_nodelay(true)?;
        SockRef::from(&server).set_recv_buffer_size(SEND_BUFFER)?;
        let Some(begun) = timeout(PATIENCE, shake_hands(&mut client, &mut server)).await?? else {
            return copy_bidirectional(&mut client, &mut server).await.map(|_| ());
        };
        place.works();
        let ((mut asks, answers), (sends, mut hears)) = (client.split(), server.split());
        let up = async {
            copy(&mut asks, &mut hears).await?;
            hears.shutdown().await
        };
        tokio::try_join!(up, relay(sends, answers, begun, passage.backlog, &passage.shared.counts)).map(|_| ())
    };
    tokio::select! {
        done = passed => done,
        () = place.evicted() => Ok(()),
    }
}

/// Passes on what a client asks until it is answered; returns what follows the answer, if it was let in.
async fn shake_hands(client: &mut TcpStream, server: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let (mut asked, mut read, mut answer) = ([0; 4096], [0; 4096], Vec::new());
    loop {
        tokio::select! {
            n = client.read(&mut asked) => match n? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => server.write_all(asked.get(..n).unwrap_or_default()).await?,
            },
            n = server.read(&mut read) => {
                let n = n?;
                answer.extend_from_slice(read.get(..n).unwrap_or_default());
                let end = answer.windows(HEAD_END.len()).position(|bytes| bytes == HEAD_END);
                let (true, Some(end)) = (answer.starts_with(LET_IN), end) else {
                    if n == 0 || end.is_some() || answer.len() > LONGEST_HEAD {
                        client.write_all(&answer).await?;
                        return Ok(None);
                    }
                    continue;
                };
                let frames = answer.split_off(end + HEAD_END.len());
                client.write_all(&answer).await?;
                return Ok(Some(frames));
            }
        }
    }
}

impl Output for FoxgloveServer {
    fn take(&mut self, batch: &Batch) -> Result<(), OutputError> {
        batch.play(&mut self.messages)?;
        self.messages.seal()?;
        if self.options.time {
            // First, so that clients know the time when the messages come.
            self.clock.set(self.messages.messages().map(|message| message.time).max());
            self.tell_time();
        }
        self.send()?;
        self.messages.clear();
        Ok(())
    }

    fn tick(&mut self, _: Time) -> Result<(), OutputError> {
        self.tell_time();
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), OutputError> {
        // Stopping throws away what waits for clients, and nothing reports how much that is.
        if self.stats().figures().clients > 0 {
            thread::sleep(LINGER);
        }
        self.stop();
        Ok(())
    }
}

impl Drop for FoxgloveServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Tells clients of a topic.
fn advertise(
    topic: &Topic<'_>,
    context: &Arc<Context>,
    names: &mut HashSet<String>,
) -> Result<AdvertisedTopic, OutputError> {
    // Viewers take no two topics of one name, and a channel may be called like one that is made for viewers.
    let name = free_name(names, topic.name.to_owned());
    let schema = topic.schema.map(|schema| Schema::new(schema.name, schema.encoding, schema.data.to_vec()));
    let channel = ChannelBuilder::new(name)
        .context(context)
        .message_encoding(topic.encoding)
        .schema(schema)
        .metadata(topic.metadata.clone())
        .build_raw()
        .map_err(|error| OutputError::Failed(error.to_string()))?;
    Ok(AdvertisedTopic { channel, last: None, subscriptions: 0 })
}

impl Topics {
    fn add(&mut self, advertised: Option<AdvertisedTopic>) {
        let place = self.advertised.len();
        self.advertised.push(None);
        if let Some(advertised) = advertised {
            self.set(place, advertised);
        }
    }

    fn set(&mut self, place: usize, advertised: AdvertisedTopic) {
        self.places.insert(advertised.channel.id(), place);
        if let Some(slot) = self.advertised.get_mut(place) {
            *slot = Some(advertised);
        }
    }

    fn find(&mut self, channel: ChannelId) -> Option<&mut AdvertisedTopic> {
        self.advertised.get_mut(*self.places.get(&channel)?)?.as_mut()
    }
}

impl Shared {
    fn tell_time(&self, now: u64) {
        self.now.store(now, Ordering::Relaxed);
        if let Some(server) = &*lock(&self.server) {
            server.broadcast_time(now);
        }
    }
}

/// Hears what clients do, on their tasks.
struct Listener(Arc<Shared>);

impl ServerListener for Listener {
    fn on_client_connect(&self) {
        self.0.counts.clients.fetch_add(1, Ordering::Relaxed);
        self.0.counts.connected.fetch_add(1, Ordering::Relaxed);
        // While a log is paused, nothing else would send the time.
        let now = self.0.now.load(Ordering::Relaxed);
        if now > 0 {
            self.0.tell_time(now);
        }
    }

    fn on_client_disconnect(&self) {
        self.0.counts.clients.fetch_sub(1, Ordering::Relaxed);
    }

    fn on_subscribe(&self, client: Client, channel: ChannelView<'_>) {
        self.0.counts.subscriptions.fetch_add(1, Ordering::Relaxed);
        // Nobody sends as long as this is held, so that what is sent here is the newest there is.
        let mut topics = lock(&self.0.topics);
        let Some(advertised) = topics.find(channel.id()) else { return };
        advertised.subscriptions += 1;
        if let Some((time, data)) = &advertised.last {
            advertised.channel.log_with_meta_to_sink(data, PartialMetadata::with_log_time(*time), client.sink_id());
            self.0.counts.sent.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn on_unsubscribe(&self, _: Client, channel: ChannelView<'_>) {
        self.0.counts.subscriptions.fetch_sub(1, Ordering::Relaxed);
        if let Some(advertised) = lock(&self.0.topics).find(channel.id()) {
            advertised.subscriptions = advertised.subscriptions.saturating_sub(1);
        }
    }
}

/// The time that is sent to clients.
///
/// To a client, a step back means that someone jumped, and it forgets what it has drawn. So small ones, which come from
/// sources whose clocks are set anew, are left out.
#[derive(Default)]
struct ClientClock {
    /// The current time, and the last one that clients received.
    now: Option<u64>,
    sent: Option<u64>,
    sent_at: Option<Instant>,
}

impl ClientClock {
    fn set(&mut self, time: Option<u64>) {
        let Some(time) = time else { return };
        let back = self.now.and_then(|now| now.checked_sub(time)).map_or(Duration::ZERO, Duration::from_nanos);
        if back == Duration::ZERO || back > JUMP {
            self.now = Some(time);
        }
    }

    /// The time to send at this moment, if any.
    fn next(&mut self, at: Instant) -> Option<u64> {
        let now = self.now.filter(|now| self.sent != Some(*now))?;
        if self.sent_at.is_some_and(|sent| at.saturating_duration_since(sent) < EVERY) {
            return None;
        }
        (self.sent, self.sent_at) = (Some(now), Some(at));
        Some(now)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far back a jump goes at least.
const JUMP: Duration = Duration::from_millis(500);
/// How often clients receive the time at most: it waits in the queue whose overflow cuts a client off.
const EVERY: Duration = Duration::from_millis(8);
/// How long clients may take for what waits for them at the end.
const LINGER: Duration = Duration::from_millis(200);
/// How long a handshake may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// Until there may be room for another client.
const SHORTLY: Duration = Duration::from_millis(20);
/// How the answer to a client begins that is let in, and how its head ends.
const LET_IN: &[u8] = b"HTTP/1.1 101";
const HEAD_END: &[u8] = b"\r\n\r\n";
/// Bytes of a head, far more than any has.
const LONGEST_HEAD: usize = 16 << 10;
/// Messages that Foxglove's library may hold for a client; when there are more it drops some.
const INNER_BACKLOG: usize = 1 << 16;
/// Messages that it holds for all clients, when those who send wait for the relays.
const MOST_IN_LIBRARY: u64 = 1 << 15;
/// How long a relay may take for one message, on a busy machine.
const PATIENCE_WITH_RELAYS: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_micros(200);
/// Bytes that the system may hold for a client.
const SEND_BUFFER: usize = 256 << 10;
/// How long closing may take.
const STOP: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::{ClientClock, EVERY};
    use std::time::{Duration, Instant};

    #[test]
    fn clients_are_told_of_time_that_goes_on_and_of_jumps() {
        let (mut clock, start) = (ClientClock::default(), Instant::now());
        let mut due = |ms: u64, after: Duration| {
            clock.set(Some(ms * 1_000_000));
            clock.next(start + after).map(|ns| ns / 1_000_000)
        };
        assert_eq!(due(100, EVERY), Some(100));
        assert_eq!(due(100, EVERY * 2), None, "nothing new");
        assert_eq!(due(120, EVERY * 3), Some(120));
        assert_eq!(due(119, EVERY * 4), None, "a clock that was set");
        assert_eq!(due(140, EVERY * 4 - Duration::from_nanos(1)), None, "too soon");
        assert_eq!(due(140, EVERY * 5), Some(140), "but it is not forgotten");
        assert_eq!(due(1_000, EVERY * 6), Some(1_000));
        assert_eq!(due(20, EVERY * 7), Some(20), "a jump back");
        assert_eq!(ClientClock::default().next(start), None);
    }
}
