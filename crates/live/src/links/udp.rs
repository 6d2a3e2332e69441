use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use logpose_core::Link;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Event;
use super::paired::is_passing;
use super::queue::Pending;

/// Reads and writes datagrams of a socket that is connected to one peer. A datagram is one input.
pub(super) fn start(
    link: Link,
    socket: Arc<UdpSocket>,
    events: mpsc::Sender<Event>,
    mut pending: Pending,
) -> [JoinHandle<()>; 2] {
    let (reader, closed) = (Arc::clone(&socket), events.clone());
    let reading = tokio::spawn(read(link, reader, events, |_| ()));
    let writing = tokio::spawn(async move {
        let mut pieces = Vec::new();
        while pending.next(&mut pieces).await {
            for piece in pieces.drain(..) {
                let sent = socket.send(&piece.bytes).await;
                pending.sent(piece.bytes.len());
                match sent {
                    Err(error) if !is_passing(&error) => {
                        let _ = closed.send(Event::Closed(link, error.to_string())).await;
                        return;
                    }
                    _ => {}
                }
            }
        }
    });
    [reading, writing]
}

/// Reads datagrams of anybody, and answers the one who sent the last.
pub(super) fn answer(
    link: Link,
    socket: Arc<UdpSocket>,
    events: mpsc::Sender<Event>,
    mut pending: Pending,
) -> [JoinHandle<()>; 2] {
    let last: Arc<Mutex<Option<SocketAddr>>> = Arc::default();
    let (reader, asked) = (Arc::clone(&socket), Arc::clone(&last));
    let heard = move |from| *asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(from);
    let reading = tokio::spawn(read(link, reader, events, heard));
    let writing = tokio::spawn(async move {
        let mut pieces = Vec::new();
        while pending.next(&mut pieces).await {
            for piece in pieces.drain(..) {
                let to = *last.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(to) = to {
                    // What is not sent is lost, as datagrams are.
                    let _ = socket.send_to(&piece.bytes, to).await;
                }
                pending.sent(piece.bytes.len());
            }
        }
    });
    [reading, writing]
}

/// Reads datagrams until the socket or whoever listens is gone. `heard` gets the sender, before it is passed on.
async fn read(link: Link, socket: Arc<UdpSocket>, events: mpsc::Sender<Event>, heard: impl Fn(SocketAddr)) {
    let mut buffer = vec![0; LARGEST];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((n, from)) => {
                heard(from);
                let bytes = buffer.get(..n).unwrap_or_default().to_vec();
                if events.send(Event::Input(link, bytes)).await.is_err() {
                    return;
                }
            }
            // Nobody listens there yet: a datagram that was not wanted says nothing about the next.
            Err(error) if is_passing(&error) => {}
            Err(error) => {
                let _ = events.send(Event::Closed(link, error.to_string())).await;
                return;
            }
        }
    }
}

/// No datagram is larger.
pub(super) const LARGEST: usize = 65_536;
