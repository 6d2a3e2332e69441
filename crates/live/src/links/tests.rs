//! Every kind of link, with a session that answers what it hears.

use std::collections::VecDeque;
use std::time::Duration;

use logpose_core::{Channel, Link, Sample, Session, Sink, SinkError, Time, Transmit, Transport, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
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
    // One who speaks nothing that is spoken here is told so.
    let stranger = Transport::WebSocket { port, path: "/", protocols: &["chat"], also: &[] };
    let refused = tokio::spawn(async move { super::connect(&network(port, stranger)).await });
    let (socket, _) = listener.accept().await.unwrap();
    assert!(accept_websocket(socket, THEIRS, &[]).await.is_err());
    let error = refused.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("400") && error.contains("spoken here: v2, v1"), "{error}");
}

#[tokio::test]
async fn where_nobody_listens_every_try_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let error = super::connect(&network(port, Transport::Tcp { port })).await.unwrap_err().to_string();
    assert!(error.contains(&format!("127.0.0.1:{port}")) && error.contains("refused"), "{error}");
}
