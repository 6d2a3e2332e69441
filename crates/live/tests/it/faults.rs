//! Links that do what links should not.

use std::time::Duration;

use logpose_live::ServerOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::kit::{Heard, cycle, listen, serve, until};

fn port(address: &str) -> &str {
    address.split_once("://").unwrap().1
}

/// What a server sends to a newcomer and in the cycles after, byte for byte.
async fn recorded() -> Vec<u8> {
    let (address, output, stats) = serve("rlog", &ServerOptions::default()).await;
    assert!(output.give(cycle(20, 20, true)));
    let mut client = TcpStream::connect(port(&address)).await.unwrap();
    until("it is in", || stats.figures().open == 1).await;
    for n in 2..=10 {
        assert!(output.give(cycle(n * 20, 20, false)));
    }
    tokio::task::spawn_blocking(|| output.finish()).await.unwrap().unwrap();
    let mut bytes = Vec::new();
    client.read_to_end(&mut bytes).await.unwrap();
    bytes
}

/// A robot that sends these bytes to whoever connects, in pieces of that size with pauses between.
async fn robot(bytes: Vec<u8>, piece: usize, pause: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("rlog://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            socket.set_nodelay(true).unwrap();
            for piece in bytes.chunks(piece) {
                if socket.write_all(piece).await.is_err() {
                    break;
                }
                // What is sent apart must not arrive together; no test waits for more than it is given.
                sleep(pause).await;
            }
            // It stays on the line and says no more.
            std::future::pending::<()>().await;
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_one_at_a_time_and_half_frames_are_the_same_to_a_client() {
    let bytes = recorded().await;
    for piece in [1, 7, 500, bytes.len()] {
        let mut listening = listen(&robot(bytes.clone(), piece, Duration::ZERO).await);
        let mut heard = Heard::default();
        listening.hear(&mut heard, 200).await;
        assert_eq!(heard.lines[199], "0.200 /Field19 double Double(200.019)");
        assert!(heard.problems.is_empty(), "{:?}", heard.problems);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_ends_a_connection_and_the_next_one_is_tried() {
    let mut bytes = recorded().await;
    let half = bytes.len() / 2;
    bytes[half..].iter_mut().for_each(|byte| *byte = 0xa5);
    let mut listening = listen(&robot(bytes, 4096, Duration::ZERO).await);
    let mut heard = Heard::default();
    listening.hear(&mut heard, 40).await;
    until("it gives up", || listening.stats.figures().trouble.is_some()).await;
    while let Ok(Some((_, batch))) = timeout(Duration::from_millis(50), listening.batches.recv()).await {
        batch.play(&mut heard).unwrap();
    }
    assert!(!heard.problems.is_empty(), "it says why");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stops_reading_is_cut_off_and_harms_nobody() {
    let options = ServerOptions { queue_bytes: 256 << 10, ..ServerOptions::default() };
    let (address, output, stats) = serve("rlog", &options).await;
    assert!(output.give(cycle(0, 300, true)));
    let stalled = TcpStream::connect(port(&address)).await.unwrap();
    let mut listening = listen(&address);
    let mut heard = Heard::default();
    listening.hear(&mut heard, 300).await;
    until("both are in", || stats.figures().open == 2).await;
    // Some 4.5 kB a cycle: more than the buffers of the system and the queue hold.
    let mut sent = 0;
    while stats.figures().cut_off == 0 {
        for _ in 0..50 {
            sent += 1;
            assert!(output.give(cycle(sent * 20, 300, false)));
        }
        let all = 300 * usize::try_from(sent + 1).unwrap();
        listening.hear(&mut heard, all).await;
        assert!(sent < 20_000, "it is never cut off");
    }
    assert_eq!((stats.figures().cut_off, stats.figures().open), (1, 1));
    assert!(heard.problems.is_empty());
    drop(stalled);
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_connects_leave_the_server_as_it_was() {
    let (address, output, stats) = serve("rlog", &ServerOptions { clients: 50, ..ServerOptions::default() }).await;
    assert!(output.give(cycle(20, 2, true)));
    let mut listening = listen(&address);
    let mut heard = Heard::default();
    listening.hear(&mut heard, 2).await;
    for n in 0..3000 {
        let mut client = TcpStream::connect(port(&address)).await.unwrap();
        if n % 3 == 0 {
            let _ = client.write_all(b"GET / HTTP/1.1\r\n\r\n").await;
        }
    }
    // More at once than there may be: they are turned away.
    let mut crowd = Vec::new();
    for _ in 0..100 {
        crowd.push(TcpStream::connect(port(&address)).await.unwrap());
    }
    until("some are turned away", || stats.figures().turned_away > 0).await;
    assert!(stats.figures().open <= 51);
    drop(crowd);
    until("they are gone", || stats.figures().open == 1).await;
    assert!(output.give(cycle(40, 2, false)));
    listening.hear(&mut heard, 4).await;
    assert_eq!(listening.stats.figures().opened, 1);
}
