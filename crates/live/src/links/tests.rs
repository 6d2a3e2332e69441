//! Every kind of link, with a session that answers what it hears.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use logpose_core::{Channel, Link, Problem, Sample, Session, Sink, SinkError, Time, Transmit, Transport, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::{Candidate, Wire, accept_websocket};
use crate::driver::Driver;
use crate::stats::LinkStats;
use crate::{Batch, Clock, Host, Source};

/// Says `hello`, then answers every input with the same bytes; what it heard are samples.
#[derive(Default)]
struct Parrot {
    transmit: VecDeque<Transmit>,
    opened: u32,
}

impl Session for Parrot {
    fn handle_open(&mut self, _: Time, link: Link) {
        self.opened += 1;
        self.transmit.push_back(Transmit::text(link, "hello"));
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.transmit.push_back(Transmit::one(link, bytes));
        sink.channel(0, &Channel::new("/heard", "raw"))?;
        sink.samples(&[Sample { channel: 0, time: now, value: Value::Bytes(bytes) }])
    }

    fn handle_close(&mut self, _: Time, _: Link) {}

    fn handle_timeout(&mut self, _: Time) {}

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmit.pop_front()
    }

    fn poll_close(&mut self) -> Option<Link> {
        None
    }
}

struct Bytes(Vec<u8>);

impl Sink for Bytes {
    fn channel(&mut self, _: u32, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        samples.iter().for_each(|sample| sample.value.emit(logpose_core::Layout::Little, &mut self.0));
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("unexpected: {problem}");
    }
}

fn listen(candidate: Candidate) -> (mpsc::Receiver<(usize, Batch)>, watch::Sender<bool>) {
    let source = Source::over(Box::<Parrot>::default(), candidate);
    let (sender, batches) = mpsc::channel(16);
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(source.run(Clock::new(), 0, sender, stopped));
    (batches, stop)
}

fn network(port: u16, transport: Transport) -> Candidate {
    Candidate::Network { host: Host::Ip([127, 0, 0, 1].into()), port, transport, name: "parrot".to_owned() }
}

async fn heard(batches: &mut mpsc::Receiver<(usize, Batch)>, length: usize) -> Vec<u8> {
    let mut bytes = Bytes(Vec::new());
    while bytes.0.len() < length {
        let (_, batch) = timeout(Duration::from_secs(5), batches.recv()).await.unwrap().unwrap();
        batch.play(&mut bytes).unwrap();
    }
    bytes.0
}

#[tokio::test]
async fn a_session_runs_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (mut batches, _stop) = listen(network(port, Transport::Tcp { port }));
    let (mut peer, _) = listener.accept().await.unwrap();
    let mut answer = [0; 5];
    peer.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"hello");
    peer.write_all(b"12345").await.unwrap();
    peer.read_exact(&mut answer).await.unwrap();
    assert_eq!((&answer, &*heard(&mut batches, 5).await), (b"12345", &b"12345"[..]));
}

#[tokio::test]
async fn a_session_runs_over_udp_and_a_datagram_is_one_input() {
    let peer = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = peer.local_addr().unwrap().port();
    let (mut batches, _stop) = listen(network(port, Transport::Udp { port }));
    let mut buffer = [0; 100];
    let (n, from) = peer.recv_from(&mut buffer).await.unwrap();
    assert_eq!(&buffer[..n], b"hello");
    for datagram in [&b"one"[..], b"", b"three"] {
        peer.send_to(datagram, from).await.unwrap();
        let (n, _) = timeout(Duration::from_secs(5), peer.recv_from(&mut buffer)).await.unwrap().unwrap();
        assert_eq!(&buffer[..n], datagram);
    }
    assert_eq!(heard(&mut batches, 8).await, b"onethree");
}

#[cfg(unix)]
#[tokio::test]
async fn a_session_runs_over_a_serial_port() {
    let (ours, mut peer) = tokio_serial::SerialStream::pair().unwrap();
    let (mut session, stats) = (Parrot::default(), LinkStats::default());
    let mut driver = Driver::new(&mut session, Clock::new(), 1 << 20, &stats);
    driver.open(Wire::Serial(ours));
    let mut answer = [0; 5];
    peer.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"hello");
    peer.write_all(b"12345").await.unwrap();
    let mut bytes = Bytes(Vec::new());
    while bytes.0.len() < 5 {
        let event = timeout(Duration::from_secs(5), driver.wait()).await.unwrap();
        driver.handle(event, &mut bytes).unwrap();
    }
    peer.read_exact(&mut answer).await.unwrap();
    assert_eq!((&answer, &*bytes.0), (b"12345", &b"12345"[..]));
}

#[tokio::test]
async fn those_who_connect_are_served_one_after_the_other() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let (_batches, _stop) = listen(Candidate::Accepting(Arc::new(listener)));
    let mut answer = [0; 5];
    let mut first = TcpStream::connect(address).await.unwrap();
    first.read_exact(&mut answer).await.unwrap();
    // Another one is let in by the system, and hears nothing until it is its turn.
    let mut second = TcpStream::connect(address).await.unwrap();
    assert!(timeout(Duration::from_millis(100), second.read_exact(&mut answer)).await.is_err());
    first.write_all(b"first").await.unwrap();
    first.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"first");
    drop(first);
    timeout(Duration::from_secs(5), second.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(&answer, b"hello");
}

#[tokio::test]
async fn the_last_one_who_sent_a_datagram_is_answered() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let address = socket.local_addr().unwrap();
    let (_batches, _stop) = listen(Candidate::Answering(Arc::new(socket)));
    let (one, other) = (UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let mut buffer = [0; 100];
    for (peer, text) in [(&one, "one"), (&other, "other"), (&one, "again")] {
        peer.send_to(text.as_bytes(), address).await.unwrap();
        let (n, _) = timeout(Duration::from_secs(5), peer.recv_from(&mut buffer)).await.unwrap().unwrap();
        assert_eq!(&buffer[..n], text.as_bytes());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn those_who_open_a_pseudo_terminal_come_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("board");
    let terminal = super::Terminal::new(Some(&name)).unwrap();
    assert_eq!(terminal.path(), name.display().to_string());
    let port = super::SerialPort { path: terminal.path(), baud: 115_200 };
    let (batches, stop) = listen(Candidate::Terminal(terminal));
    let mut answer = [0; 5];
    // Every byte comes through as it is.
    for bytes in [[0, 3, 4, 10, 13], [17, 19, 26, 127, 255], *b"third"] {
        let mut peer = port.open().unwrap();
        peer.write_all(&bytes).await.unwrap();
        timeout(Duration::from_secs(5), async {
            while answer != bytes {
                peer.read_exact(&mut answer).await.unwrap();
            }
        })
        .await
        .unwrap();
        let busy = port.open().unwrap_err().to_string();
        assert!(busy.contains("is busy"), "{busy}");
    }
    let _ = stop.send(true);
    drop(batches);
    timeout(Duration::from_secs(5), async {
        while name.symlink_metadata().is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("the name is removed at the end");
}

#[cfg(unix)]
#[tokio::test]
async fn a_name_that_is_taken_stays_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("board");
    std::fs::write(&name, "mine").unwrap();
    assert!(super::Terminal::new(Some(&name)).is_err());
    assert_eq!(std::fs::read(&name).unwrap(), b"mine");
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&name, &link).unwrap();
    assert!(super::Terminal::new(Some(&link)).is_err());
    assert_eq!(std::fs::read_link(&link).unwrap(), name);
    // One that somebody left behind who was killed is replaced.
    let left = dir.path().join("left");
    std::os::unix::fs::symlink("/dev/pts/99999", &left).unwrap();
    let terminal = super::Terminal::new(Some(&left)).unwrap();
    assert_ne!(std::fs::read_link(&left).unwrap().to_str(), Some("/dev/pts/99999"));
    drop(terminal);
    assert!(left.symlink_metadata().is_err());
}

#[tokio::test]
async fn a_session_runs_over_a_websocket_with_the_subprotocol_that_both_know() {
    const THEIRS: &[&str] = &["v2", "v1"];
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let transport = Transport::WebSocket { port, path: "/nt/", protocols: &["v3", "v2"], also: &[] };
    let (mut batches, _stop) = listen(network(port, transport));
    let (socket, _) = listener.accept().await.unwrap();
    let socket = accept_websocket(socket, THEIRS, &[]).await.unwrap();
    let (mut session, stats) = (Parrot::default(), LinkStats::default());
    let mut driver = Driver::new(&mut session, Clock::new(), 1 << 20, &stats);
    driver.open(Wire::WebSocket(socket));
    // Each answers the other's hello for ever: a few rounds will do.
    let mut bytes = Bytes(Vec::new());
    while bytes.0.len() < 25 {
        let event = timeout(Duration::from_secs(5), driver.wait()).await.unwrap();
        driver.handle(event, &mut bytes).unwrap();
    }
    assert_eq!(bytes.0, b"hellohellohellohellohello");
    assert!(heard(&mut batches, 10).await.starts_with(b"hellohello"));
    // A peer without a common protocol gets an error.
    let stranger = Transport::WebSocket { port, path: "/", protocols: &["chat"], also: &[] };
    let refused = tokio::spawn(async move { super::connect(&network(port, stranger)).await });
    let (socket, _) = listener.accept().await.unwrap();
    assert!(accept_websocket(socket, THEIRS, &[]).await.is_err());
    let error = refused.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("400") && error.contains("supported protocols: v2, v1"), "{error}");
}

#[tokio::test]
async fn where_nobody_listens_every_try_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let error = super::connect(&network(port, Transport::Tcp { port })).await.unwrap_err().to_string();
    assert!(error.contains(&format!("127.0.0.1:{port}")) && error.contains("refused"), "{error}");
}
