use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use logpose_core::Transport;
use logpose_live::{Address, Join, Live, OutputThread, Place, Source, Speech, serial_ports};
use logpose_viewer::{RequestError, RequestErrorKind, Viewer, api};

use crate::{LiveClock, LiveLog, LiveOptions};

/// Where the data of live sources is kept.
#[derive(Clone, Debug)]
pub struct LiveFiles {
    /// Where the temporary files are.
    pub folder: PathBuf,
    /// Bytes that each of them may have. Beyond, the oldest samples in memory are let go.
    pub limit: u64,
    /// Bytes that must stay free on the disk. Where there are fewer it is the same.
    pub keep_free: u64,
}

impl Default for LiveFiles {
    fn default() -> Self {
        Self { folder: std::env::temp_dir(), limit: 64 << 30, keep_free: 200_000_000 }
    }
}

/// The live sources that were connected to in the page, each on a thread of its own.
pub(crate) struct LiveSources {
    files: LiveFiles,
    ended: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl LiveSources {
    pub(crate) fn new(files: &LiveFiles) -> Self {
        Self { files: files.clone(), ended: Arc::default(), threads: Mutex::default() }
    }

    /// Connects to an address, and goes on trying until the log is closed.
    pub(crate) fn connect(&self, viewer: &Viewer, text: &str) -> Result<api::Added, RequestError> {
        let others = viewer.check_live()?;
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        if threads.len() >= MOST {
            let message = format!("too many live sources (max {MOST})");
            return Err(RequestError::invalid("too-many-sources", message).with_help("close some of them"));
        }
        let address = Address::parse(text).map_err(|error| invalid(&error))?;
        check_place(&address)?;
        let source = Source::new(&address, "logpose").map_err(|error| invalid(&error))?;
        let live = Live::new().map_err(|error| failed(&error))?;
        let LiveFiles { folder, limit, keep_free } = self.files.clone();
        // Beside other logs its times are those of this computer, which can be put on their clock.
        let clock = if others { LiveClock::Common(live.clock().now()) } else { LiveClock::Own };
        let name = address.to_string();
        let log = LiveLog::new(&LiveOptions { name, address, clock, folder, limit, keep_free });
        let log = log.map_err(|error| failed(&error))?;
        let output = OutputThread::start("viewer", log.output(), live.clock()).map_err(|error| failed(&error))?;
        let (ended, fed) = (Arc::clone(&self.ended), log.clone());
        let thread = thread::Builder::new().name("logpose-source".to_owned());
        let thread = thread.spawn(move || {
            live.listen_to_each(vec![source], &[&output], Join::single(), &[], &mut |progress| {
                progress.sources.iter().for_each(|source| fed.set_progress(source));
                let over = fed.log().is_closed() || ended.load(Ordering::Relaxed);
                if over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            // Whether everything was taken in does not matter to a log that nobody looks at.
            let _ = output.finish();
        });
        threads.push(thread.map_err(|error| failed(&error))?);
        viewer.add_live(log.log())
    }

    /// Disconnects from all of them: each says goodbye where its protocol wants that.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        for thread in self.threads.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = thread.join();
        }
    }
}

/// What can be connected to.
pub(crate) fn kinds() -> Vec<api::SourceKind> {
    let ports = serial_ports();
    let kinds = Speech::sources().filter_map(|speech| {
        let Speech::Dialect(dialect, reach) = speech else { return None };
        let ports = match reach.transport {
            Transport::Bluetooth => return None,
            Transport::Serial { .. } => Some(ports.iter().map(|port| port.path.clone()).collect()),
            _ => None,
        };
        Some(api::SourceKind {
            scheme: reach.scheme.to_owned(),
            title: dialect.info().title.to_owned(),
            port: speech.port(),
            ports,
            commanding: matches!(reach.transport, Transport::Paired { .. }),
        })
    });
    kinds.collect()
}

/// Whether requests may name this place. A serial port is a file: only those that the system lists are.
fn check_place(address: &Address) -> Result<(), RequestError> {
    let listed = match &address.place {
        Place::Network { .. } => true,
        Place::Serial(port) => serial_ports().iter().any(|found| found.path == port.path),
        Place::Bluetooth(_) => false,
    };
    if listed {
        return Ok(());
    }
    let message = format!("{address} is not among the ports of this computer");
    Err(RequestError::invalid("invalid-address", message).with_help(format!("run `logpose open {address}`")))
}

fn invalid(error: &dyn std::error::Error) -> RequestError {
    RequestError::invalid("invalid-address", error.to_string())
}

fn failed(error: &std::io::Error) -> RequestError {
    RequestError::new(RequestErrorKind::Storage, "io", format!("cannot start the connection: {error}"))
}

/// LiveSources at once.
const MOST: usize = 16;
