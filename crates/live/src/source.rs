use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use logpose_core::{Limits, Link, Session, Transport};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep};

use crate::driver::Driver;
use crate::links::paired::{Beside, Caller, FIELD, Ports, is_field};
use crate::links::{Candidate, SerialPort, Wire, connect};
use crate::shared::Shared;
use crate::stats::LinkStats;
use crate::{Address, Batch, Clock, Host, Place, Speech};

/// Something live that is listened to. It connects, and connects again whenever that ends.
pub struct Source {
    session: Box<dyn Session>,
    candidate: Candidate,
    stats: Arc<LinkStats>,
    once: bool,
    /// Rings when the session got a command from outside.
    commanded: Arc<Notify>,
}

/// Why nothing can be heard at an address.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cannot connect to {address}: {reason}")]
pub struct SourceError {
    /// The address.
    pub address: String,
    /// Why.
    pub reason: &'static str,
}

impl Source {
    /// A source at an address. `name` is how we call ourselves, where the dialect wants to know.
    pub fn new(address: &Address, name: &str) -> Result<Self, SourceError> {
        let refuse = |reason| SourceError { address: address.to_string(), reason };
        let Speech::Dialect(dialect, reach) = address.speech else {
            return Err(refuse("Foxglove clients connect to logpose; use it with `play --to`"));
        };
        let session = dialect.live().and_then(|live| live.client(Limits::default()));
        let session = session.ok_or_else(|| refuse("the dialect has no live protocol"))?;
        let (host, port) = match &address.place {
            Place::Network { host, port } => (host.clone(), *port),
            Place::Serial(port) => return Ok(Self::serial(session, port.clone())),
            Place::Bluetooth(name) => return Ok(Self::over(session, Candidate::Bluetooth(name.clone()))),
        };
        let candidate = match reach.transport {
            Transport::Paired { answers, stream, hello, .. } => {
                if matches!(host, Host::Ip(ip) if is_field(ip)) {
                    return Err(refuse(FIELD));
                }
                let ports = Ports { datagrams: port, answers, stream };
                Candidate::Called(Caller { host, ports, hello: hello.into(), bind: None, socket: None })
            }
            transport => Candidate::Network { host, port, transport, name: name.to_owned() },
        };
        Ok(Self::over(session, candidate))
    }

    /// A session over a serial port.
    #[must_use]
    pub fn serial(session: Box<dyn Session>, port: SerialPort) -> Self {
        Self::over(session, Candidate::Serial(port))
    }

    pub(crate) fn over(session: Box<dyn Session>, candidate: Candidate) -> Self {
        Self { session, candidate, stats: Arc::default(), once: false, commanded: Arc::default() }
    }

    /// A session that takes commands while it runs.
    pub(crate) fn shared<S: Session + 'static>(session: &Shared<S>, candidate: Candidate) -> Self {
        Self { commanded: session.commanded(), ..Self::over(Box::new(session.clone()), candidate) }
    }

    /// Ends when the first connection ends, instead of connecting again.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// What goes on on its link.
    #[must_use]
    pub fn stats(&self) -> Arc<LinkStats> {
        Arc::clone(&self.stats)
    }

    /// Listens until stopped; what is heard goes to `batches` with `number` before it. When nobody takes it any more
    /// it ends, too.
    pub async fn run(
        mut self,
        clock: Clock,
        number: usize,
        batches: mpsc::Sender<(usize, Batch)>,
        mut stop: watch::Receiver<bool>,
    ) {
        let stats = Arc::clone(&self.stats);
        let mut driver = Driver::new(&mut *self.session, clock, QUEUE_BYTES, &stats);
        if self.candidate.is_timed() {
            driver.be_precise();
        }
        let mut pauses = Pauses::new(if self.candidate.is_served() { SERVED_PAUSE } else { LONGEST_PAUSE });
        loop {
            let attempt = tokio::select! {
                attempt = connect(&self.candidate) => attempt,
                _ = stop.wait_for(|stop| *stop) => break,
            };
            match attempt {
                Err(error) => stats.trouble(error.to_string()),
                Ok(connection) => {
                    stats.connected_to(connection.peer);
                    let since = Instant::now();
                    let link = driver.open(connection.wire);
                    let heard = Heard { number, batches: &batches, commanded: &self.commanded };
                    let listened = heard.listen(&mut driver, link, connection.beside, &mut stop).await;
                    let Some(worthwhile) = listened else { break };
                    driver.close_all();
                    if self.once {
                        break;
                    }
                    pauses.connected(worthwhile, since.elapsed());
                }
            }
            tokio::select! {
                () = sleep(with_jitter(pauses.next(), clock)) => {}
                _ = stop.wait_for(|stop| *stop) => break,
            }
        }
        let mut batch = Batch::new(clock.micros());
        driver.session.handle_end(batch.received);
        driver.carry();
        if driver.session.poll_samples(&mut batch).is_ok() && !batch.is_empty() {
            let _ = batches.send((number, batch)).await;
        }
        driver.finish().await;
    }
}

/// Receives what is heard.
struct Heard<'h> {
    number: usize,
    batches: &'h mpsc::Sender<(usize, Batch)>,
    commanded: &'h Notify,
}

impl Heard<'_> {
    /// Listens until the connection ends, which is when its link does, and says whether anything was heard on it. `None` if
    /// there is nothing more to listen for.
    async fn listen(
        &self,
        driver: &mut Driver<'_, dyn Session>,
        link: Link,
        mut beside: Option<Beside>,
        stop: &mut watch::Receiver<bool>,
    ) -> Option<bool> {
        let mut worthwhile = false;
        while driver.is_open(link) {
            let is_busy = driver.links() > 1;
            let event = tokio::select! {
                event = driver.wait() => event,
                () = self.commanded.notified() => None,
                stream = another(&mut beside, is_busy) => {
                    driver.open(Wire::Tcp(stream));
                    continue;
                }
                _ = stop.wait_for(|stop| *stop) => return None,
            };
            let mut batch = Batch::new(driver.clock.now());
            driver.handle(event, &mut batch).ok()?;
            batch.clock_offset = driver.session.clock_offset();
            worthwhile |= batch.sample_count() > 0 || batch.channels().next().is_some();
            if !batch.is_empty() {
                self.batches.send((self.number, batch)).await.ok()?;
            }
        }
        Some(worthwhile)
    }
}

/// How long to wait before connecting again: longer each time, until something was heard.
#[derive(Debug)]
struct Pauses {
    next: Duration,
    longest: Duration,
}

impl Pauses {
    fn new(longest: Duration) -> Self {
        Self { next: FIRST_PAUSE.min(longest), longest }
    }

    fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    /// A connection has ended that lasted so long. One on which something was heard was a good one, however short; one that
    /// was only opened and closed was not.
    fn connected(&mut self, worthwhile: bool, lasted: Duration) {
        if worthwhile || lasted >= HEALTHY {
            self.next = FIRST_PAUSE.min(self.longest);
        }
    }
}

/// The next link beside the first, where there can be any.
async fn another(beside: &mut Option<Beside>, is_busy: bool) -> TcpStream {
    match beside {
        Some(beside) => beside.next(is_busy).await,
        None => pending().await,
    }
}

/// Somewhat less than the pause, so that many clients of a robot that comes back do not all come at once.
fn with_jitter(pause: Duration, clock: Clock) -> Duration {
    let part = u32::try_from(clock.now().nanos().unsigned_abs() % 256).unwrap_or(0);
    pause - pause * part / 1024
}

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Where others connect, the next one is not kept waiting.
const SERVED_PAUSE: Duration = Duration::from_millis(10);
/// A connection that lasted so long was a good one, even if nothing was heard.
const HEALTHY: Duration = Duration::from_secs(3);
/// What may wait to be sent to a robot.
const QUEUE_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{FIRST_PAUSE, LONGEST_PAUSE, Pauses};

    #[test]
    fn a_source_that_was_heard_is_soon_called_again() {
        let mut pauses = Pauses::new(LONGEST_PAUSE);
        let mut refused = || (0..8).map(|_| pauses.next()).max();
        assert_eq!(refused(), Some(LONGEST_PAUSE));
        let (short, long) = (Duration::from_millis(900), Duration::from_secs(4));
        for (worthwhile, lasted, soon) in [(true, short, true), (false, long, true), (false, short, false)] {
            let mut pauses = Pauses { next: LONGEST_PAUSE, longest: LONGEST_PAUSE };
            pauses.connected(worthwhile, lasted);
            assert_eq!(pauses.next() == FIRST_PAUSE, soon, "{worthwhile} {lasted:?}");
        }
    }
}
