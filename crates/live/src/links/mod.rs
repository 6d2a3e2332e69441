//! What carries bytes: each link has a task that reads and one that writes, and the loop that drives a session sees
//! only events and queues.

#[cfg(feature = "ble")]
mod bluetooth;
mod connect;
pub(crate) mod paired;
mod queue;
mod serial;
mod stream;
#[cfg(unix)]
mod terminal;
#[cfg(test)]
mod tests;
mod udp;
mod websocket;

use std::sync::Arc;
use std::time::Duration;

use logpose_core::Link;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub(crate) use connect::{Candidate, Connection, connect, keep_alive};
pub(crate) use queue::Outgoing;
pub use serial::{FoundPort, SerialPort, serial_ports};
#[cfg(unix)]
pub(crate) use terminal::Terminal;
pub(crate) use websocket::accept as accept_websocket;

/// What happens on links.
#[derive(Debug)]
pub(crate) enum Event {
    /// Bytes arrived.
    Input(Link, Vec<u8>),
    /// No more will.
    Closed(Link, String),
}

/// Something that is open and carries bytes.
#[derive(Debug)]
pub(crate) enum Wire {
    Tcp(tokio::net::TcpStream),
    Udp(tokio::net::UdpSocket),
    /// Datagrams of anybody; the last one is answered.
    Answering(tokio::net::UdpSocket),
    Datagrams(paired::Datagrams),
    Serial(tokio_serial::SerialStream),
    #[cfg(feature = "ble")]
    Bluetooth(bluetooth::Device),
    #[cfg(unix)]
    Terminal(terminal::Master),
    WebSocket(Box<websocket::Socket>),
}

/// A link that is open. Dropping it closes it at once.
#[derive(Debug)]
pub(crate) struct OpenLink {
    pub(crate) queue: queue::Queue,
    tasks: Vec<JoinHandle<()>>,
}

impl OpenLink {
    /// Starts the tasks of a link: what arrives goes to `events`, what is pushed to the queue goes out.
    pub(crate) fn start(link: Link, wire: Wire, events: mpsc::Sender<Event>, queue_bytes: usize) -> Self {
        let (queue, pending) = queue::Queue::new(queue_bytes);
        let tasks = match wire {
            Wire::Tcp(socket) => {
                let (reader, writer) = socket.into_split();
                stream::start(link, reader, writer, events, pending)
            }
            Wire::Serial(port) => {
                let (reader, writer) = tokio::io::split(port);
                stream::start(link, reader, writer, events, pending)
            }
            #[cfg(feature = "ble")]
            Wire::Bluetooth(device) => bluetooth::start(link, device, events, pending),
            #[cfg(unix)]
            Wire::Terminal(master) => return Self { queue, tasks: terminal::start(link, master, events, pending) },
            Wire::Udp(socket) => udp::start(link, Arc::new(socket), events, pending),
            Wire::Answering(socket) => udp::answer(link, Arc::new(socket), events, pending),
            Wire::Datagrams(datagrams) => paired::start(link, datagrams, events, pending),
            Wire::WebSocket(socket) => websocket::start(link, *socket, events, pending),
        };
        Self { queue, tasks: tasks.into() }
    }

    /// Closes it when what is in its queue has gone out, or after a moment.
    pub(crate) async fn finish(mut self) {
        self.queue.close();
        if let Some(mut writing) = self.tasks.pop() {
            let _ = timeout(FAREWELL, &mut writing).await;
            writing.abort();
        }
    }
}

impl Drop for OpenLink {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// How long a link may take to send what is left.
const FAREWELL: Duration = Duration::from_millis(200);
/// Bytes that are read at once.
const READ: usize = 64 << 10;
