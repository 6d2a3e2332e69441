use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use logpose_live::Admission;
use logpose_viewer::Viewer;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::guard::Guard;
use crate::router::{AppState, router};
use crate::sources::LiveSources;
use crate::{Error, LiveFiles, Session, connections};

/// Where a server listens, and whom it answers.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address; port 0 for any that is free.
    pub bind: SocketAddr,
    /// What a client must know: at least eight letters, digits, `-` and `_`. Needed where other machines can reach the
    /// server.
    pub token: Option<String>,
    /// Names besides the address by which the server may be called, with a port if a proxy has another one.
    pub hosts: Vec<String>,
    /// How many connections there may be at once. Most systems give a program 1024 open files.
    pub connections: usize,
    /// How long a client may take to send the head of a request, to read something of an answer, and between requests.
    pub patience: Duration,
    /// Where the data of live sources is kept that are connected to in the page.
    pub live: LiveFiles,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: None,
            hosts: Vec::new(),
            connections: 768,
            patience: Duration::from_secs(30),
            live: LiveFiles::default(),
        }
    }
}

/// A server that runs until it is stopped or dropped.
pub struct Server {
    address: SocketAddr,
    token: Option<String>,
    runtime: Option<Runtime>,
    task: Option<JoinHandle<()>>,
    end: Arc<Notify>,
    viewer: Arc<Viewer>,
    sources: Arc<LiveSources>,
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// If the address is taken, or can be reached from other machines and there is no token.
    pub fn start(session: Session, options: &Options) -> Result<Self, Error> {
        if !options.bind.ip().to_canonical().is_loopback() && options.token.as_deref().is_none_or(str::is_empty) {
            return Err(Error::NoToken(options.bind));
        }
        let plain = |token: &str| token.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if options.token.as_deref().is_some_and(|token| token.len() < 8 || !plain(token)) {
            return Err(Error::BadToken);
        }
        let processors = available_parallelism().map_or(1, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(processors.clamp(2, 8))
            .max_blocking_threads(BLOCKING)
            .thread_name("logpose-server")
            .enable_all()
            .build()
            .map_err(Error::Threads)?;
        let failed = |reason| Error::Bind { address: options.bind, reason };
        let listener = runtime.block_on(TcpListener::bind(options.bind)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let guard = Guard::new(address, options);
        let app = AppState::new(session, processors, &options.live);
        let (viewer, sources) = (Arc::clone(&app.viewer), Arc::clone(&app.sources));
        let warm = Arc::clone(&app.viewer);
        runtime.spawn_blocking(move || warm.prepare());
        let routes = router(app, guard);
        let end = Arc::new(Notify::new());
        let ended = Arc::clone(&end);
        let (admission, patience) = (Admission::new(options.connections), options.patience);
        let task = runtime.spawn(async move {
            tokio::select! {
                () = connections::serve(listener, routes, admission, patience) => {}
                () = ended.notified() => {}
            }
        });
        Ok(Self {
            address,
            token: options.token.clone(),
            runtime: Some(runtime),
            task: Some(task),
            end,
            viewer,
            sources,
        })
    }

    /// The address that it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser on this machine; with the token, if there is one.
    #[must_use]
    pub fn url(&self) -> String {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        let address = SocketAddr::new(ip, self.address.port());
        match &self.token {
            Some(token) => format!("http://{address}/?token={token}"),
            None => format!("http://{address}/"),
        }
    }

    /// Waits until it is stopped from another thread, which is forever if nobody does.
    pub fn wait(&mut self) {
        if let (Some(runtime), Some(task)) = (&self.runtime, self.task.take()) {
            let _ = runtime.block_on(task);
        }
    }

    /// Stops listening and closes open connections.
    pub fn stop(mut self) {
        self.shut();
    }

    fn shut(&mut self) {
        self.end.notify_one();
        if let Some(runtime) = self.runtime.take() {
            // Jobs notice soon that nobody waits for them; the process must not wait for the slowest.
            runtime.shutdown_background();
        }
        self.sources.end();
        self.viewer.discard_uploads();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shut();
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Threads for jobs: more than run at once, so that those that are being given up do not block others.
const BLOCKING: usize = 32;
