use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::StatusCode;
use axum::response::Response;
use logpose_live::Admitted;
use logpose_viewer::{LiveUpdates, api};
use tokio::time::{Instant, sleep_until, timeout};

use crate::error::Refusal;
use crate::router::AppState;

/// `GET /api/live`
pub(crate) async fn live(
    State(app): State<AppState>,
    Extension(connection): Extension<Arc<Admitted>>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Refusal> {
    let Some(place) = app.sockets.admit(connection.from()) else {
        let message = format!("too many connections (max {MOST_SOCKETS})");
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too-many-connections", message)
            .with_help("close some of them"));
    };
    let upgrade = upgrade.max_message_size(MESSAGE).max_frame_size(MESSAGE).write_buffer_size(0);
    // Quiet pages are in order: they answer pings.
    place.works();
    Ok(upgrade.on_upgrade(move |socket| Talk::new(app, socket, place, connection).run()))
}

/// One page that listens. What is new is only looked for when the last answer is on its way, so a slow page gets fewer
/// answers and nothing waits for it.
struct Talk {
    app: AppState,
    socket: WebSocket,
    /// Between two answers.
    pause: Duration,
    updates: Arc<Mutex<LiveUpdates>>,
    /// When the page was last heard.
    heard: Instant,
    pinged: Instant,
    place: Admitted,
    /// The place among all connections, which it keeps.
    connection: Arc<Admitted>,
}

impl Talk {
    fn new(app: AppState, socket: WebSocket, place: Admitted, connection: Arc<Admitted>) -> Self {
        let (now, updates) = (Instant::now(), app.viewer.updates());
        let updates = Arc::new(Mutex::new(updates));
        Self { app, socket, pause: pause(RATE), updates, heard: now, pinged: now, place, connection }
    }

    async fn run(mut self) {
        // Whatever ends it, there is nobody left to inform.
        if let Err(Over(Some(reason))) = self.talk().await {
            let _ = timeout(SENDING, self.socket.send(Message::Close(Some(reason)))).await;
        }
    }

    async fn talk(&mut self) -> Result<(), Over> {
        let mut next = Instant::now();
        self.connection.works();
        loop {
            tokio::select! {
                () = self.place.evicted() => return Err(over(close_code::POLICY, "too many connections from this address")),
                () = self.connection.evicted() => return Err(Over(None)),
                message = self.socket.recv() => self.hear(message.ok_or(Over(None))?.map_err(|_| Over(None))?).await?,
                () = sleep_until(next) => {
                    self.update().await?;
                    // From now, not from when it was due: a page that is behind does not get two at once.
                    next = Instant::now() + self.pause;
                }
            }
        }
    }

    async fn hear(&mut self, message: Message) -> Result<(), Over> {
        self.heard = Instant::now();
        let text = match &message {
            Message::Text(text) => text.as_str(),
            Message::Close(_) => return Err(Over(None)),
            Message::Binary(_) => return Err(over(close_code::UNSUPPORTED, "expected a JSON text message")),
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
        };
        let subscription = serde_json::from_str::<api::Subscription>(text)
            .map_err(|error| Refusal::bad("bad-request", format!("invalid message: {error}")));
        let done = subscription.and_then(|subscription| {
            let mut updates = self.updates.lock().unwrap_or_else(PoisonError::into_inner);
            let subscribed = updates.subscribe(subscription.subscribe);
            subscribed.map(|()| subscription.rate).map_err(Refusal::from)
        });
        match done {
            Ok(rate) => {
                self.pause = pause(rate.unwrap_or(RATE));
                Ok(())
            }
            Err(refusal) => {
                let text = serde_json::to_string(&refusal.into_body()).unwrap_or_default();
                self.send(Message::text(text)).await
            }
        }
    }

    /// Sends what is new, and how the logs are.
    async fn update(&mut self) -> Result<(), Over> {
        if self.heard.elapsed() > SILENCE {
            return Err(over(close_code::POLICY, "timed out"));
        }
        if self.pinged.elapsed() > PING {
            self.pinged = Instant::now();
            self.send(Message::Ping(axum::body::Bytes::new())).await?;
        }
        let updates = Arc::clone(&self.updates);
        let found = self.app.jobs.quick(move |_| {
            let mut updates = updates.lock().unwrap_or_else(PoisonError::into_inner);
            Ok((updates.frame(), updates.tick()))
        });
        // Where too much is asked at once it is looked for the next time.
        let Ok((frame, tick)) = found.await else { return Ok(()) };
        // Samples first: when the end of a log moves on, its samples are known.
        if let Ok(Some(frame)) = frame {
            self.send(Message::binary(frame)).await?;
        }
        if let Some(tick) = tick {
            let text = serde_json::to_string(&api::Ticking { tick }).unwrap_or_default();
            self.send(Message::text(text)).await?;
        }
        Ok(())
    }

    async fn send(&mut self, message: Message) -> Result<(), Over> {
        match timeout(SENDING, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Over(None)),
            Err(_) => Err(over(close_code::POLICY, "the client reads too slowly")),
        }
    }
}

/// The talk is over; the page may learn why.
struct Over(Option<CloseFrame>);

fn over(code: u16, reason: &'static str) -> Over {
    Over(Some(CloseFrame { code, reason: reason.into() }))
}

fn pause(rate: f64) -> Duration {
    let rate = if rate.is_finite() { rate } else { RATE };
    Duration::from_secs_f64(1.0 / rate.clamp(0.1, MOST_RATE))
}

/// Pages that may listen at once.
pub(crate) const MOST_SOCKETS: usize = 64;
/// Answers a second, if nothing else is wished, and at most.
const RATE: f64 = 10.0;
const MOST_RATE: f64 = 60.0;
/// Bytes of a message from a page.
const MESSAGE: usize = 256 << 10;
/// A page that takes nothing for so long is cut off.
const SENDING: Duration = Duration::from_secs(20);
/// It is asked so often whether it is there, and must have said so within this time.
const PING: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_secs(60);
