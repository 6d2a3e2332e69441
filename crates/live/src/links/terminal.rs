//! A pseudo-terminal: a serial port that another program opens by its path, while its cable ends here.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use logpose_core::Link;
use rustix::fs::OFlags;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::interval;
use tokio_serial::{SerialPort, SerialStream};

use super::connect::Connection;
use super::queue::Pending;
use super::{Event, Wire, stream};

/// What makes a pseudo-terminal, and another one whenever that was closed: a cable that is pulled and put in again.
#[derive(Clone, Debug)]
pub(crate) struct Terminal {
    place: Arc<Place>,
}

/// Where programs find it.
#[derive(Debug)]
struct Place {
    path: Mutex<String>,
    /// A name of the user's own for it, which is removed at the end.
    link: Option<PathBuf>,
    /// The first one, before it is connected.
    first: Mutex<Option<Master>>,
}

/// Our end, and the other one, which is held so that programs may come and go.
#[derive(Debug)]
pub(crate) struct Master {
    stream: SerialStream,
    other: File,
}

impl Terminal {
    /// Makes one. Has to be called inside of a runtime.
    pub(crate) fn new(link: Option<&Path>) -> io::Result<Self> {
        // One that was left behind by somebody who was killed is replaced, and nothing else.
        if let Some(link) = link
            && fs::read_link(link)
                .is_ok_and(|to| TERMINALS.iter().any(|all| to.as_os_str().as_bytes().starts_with(all)))
        {
            fs::remove_file(link)?;
        }
        let place = Place { path: Mutex::default(), link: link.map(Path::to_owned), first: Mutex::default() };
        let master = place.make()?;
        *lock(&place.first) = Some(master);
        Ok(Self { place: Arc::new(place) })
    }

    /// The path by which it is opened.
    pub(crate) fn path(&self) -> String {
        match &self.place.link {
            Some(link) => link.display().to_string(),
            None => lock(&self.place.path).clone(),
        }
    }

    pub(super) fn connect(&self) -> io::Result<Connection> {
        let first = lock(&self.place.first).take();
        let master = first.map_or_else(|| self.place.make(), Ok)?;
        Ok(Connection { wire: Wire::Terminal(master), beside: None, peer: self.path() })
    }
}

impl Place {
    fn make(&self) -> io::Result<Master> {
        let (stream, other) = SerialStream::pair()?;
        let path = other.name().ok_or(io::ErrorKind::NotFound)?;
        let no_terminal = i32::try_from(OFlags::NOCTTY.bits()).unwrap_or(0);
        let held = OpenOptions::new().read(true).write(true).custom_flags(no_terminal).open(&path)?;
        if let Some(link) = &self.link {
            // One that is put in again may have another number.
            self.remove(link);
            symlink(&path, link)?;
        }
        *lock(&self.path) = path;
        Ok(Master { stream, other: held })
    }

    /// Removes the user's name for it, if it still is one.
    fn remove(&self, link: &Path) {
        if fs::read_link(link).is_ok_and(|to| to.as_os_str() == lock(&self.path).as_str()) {
            let _ = fs::remove_file(link);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            self.remove(link);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn start(
    link: Link,
    Master { stream, other }: Master,
    events: mpsc::Sender<Event>,
    pending: Pending,
) -> Vec<JoinHandle<()>> {
    let (reader, writer) = tokio::io::split(stream);
    // A program that was killed while it had the port for itself leaves it so, as no real port would be left.
    let freeing = tokio::spawn(async move {
        let mut often = interval(FREE);
        loop {
            often.tick().await;
            let _ = rustix::termios::ioctl_tiocnxcl(&other);
        }
    });
    std::iter::once(freeing).chain(stream::start(link, reader, writer, events, pending)).collect()
}

/// How often a port that somebody has for itself is freed.
const FREE: Duration = Duration::from_millis(100);
/// What the paths of pseudo-terminals begin with.
const TERMINALS: [&[u8]; 2] = [b"/dev/pts/", b"/dev/ttys"];
