//! RLOG over TCP: our server and our client, and bytes as the specification has them.

use std::time::Duration;

use logpose::core::EncodeOptions;
use logpose_live::ServerOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::kit::{Heard, cycle, listen, serve, until};

fn port(address: &str) -> &str {
    address.split_once("://").unwrap().1
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_hears_every_cycle_of_both_revisions() {
    for revision in [1, 2] {
        let encode = EncodeOptions { revision: Some(revision), ..EncodeOptions::default() };
        let (address, output, stats) = serve("rlog", &ServerOptions { encode, ..ServerOptions::default() }).await;
        assert!(output.give(cycle(20, 3, true)));
        let mut listening = listen(&address);
        let mut heard = Heard::default();
        listening.hear(&mut heard, 3).await;
        for n in 2..=100 {
            assert!(output.give(cycle(n * 20, 3, false)));
        }
        listening.hear(&mut heard, 300).await;
        assert_eq!(heard.channels, ["/Field0 double", "/Field1 double", "/Field2 double"]);
        assert_eq!(heard.lines[0], "0.020 /Field0 double Double(20.0)");
        assert_eq!(heard.lines[299], "2.000 /Field2 double Double(2000.002)");
        assert!(heard.problems.is_empty(), "{:?}", heard.problems);
        assert_eq!((stats.figures().open, listening.stats.figures().opened), (1, 1));
        // Heartbeats keep it open beyond the three seconds after which a silent client is closed. The sessions are tested
        // in simulated time; that the driver keeps to it on a real socket shows only in real time.
        if revision == 2 {
            tokio::time::sleep(Duration::from_millis(3300)).await;
            assert_eq!((stats.figures().open, stats.figures().opened), (1, 1));
        }
        listening.stop.send(true).unwrap();
        until("the client has gone", || stats.figures().open == 0).await;
        tokio::task::spawn_blocking(|| output.finish()).await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bytes_of_a_server_are_those_of_the_specification() {
    let (address, output, _) = serve("rlog", &ServerOptions::default()).await;
    let mut early = TcpStream::connect(port(&address)).await.unwrap();
    let mut frame = [0; 14];
    early.read_exact(&mut frame).await.unwrap();
    assert_eq!(&frame, b"\0\0\0\x0a\x02\0\0\0\0\0\0\0\0\0", "before any cycle");
    // An idle server shows every 20 ms that it is there, and closes peers that are silent for 3 s.
    let mut keep_alives = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(5), early.read_to_end(&mut keep_alives)).await;
    closed.expect("it is closed").unwrap();
    assert!(keep_alives.iter().all(|byte| *byte == 0) && keep_alives.len() % 4 == 0);
    assert!((100..=160).contains(&(keep_alives.len() / 4)), "{} in 3 s", keep_alives.len() / 4);
    drop(output);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_goes_and_comes_back_is_heard_again() {
    let (address, output, stats) = serve("rlog", &ServerOptions::default()).await;
    assert!(output.give(cycle(20, 2, true)));
    let mut listening = listen(&address);
    let mut heard = Heard::default();
    listening.hear(&mut heard, 2).await;
    tokio::task::spawn_blocking(|| output.finish()).await.unwrap().unwrap();
    until("it knows", || listening.stats.figures().open == 0).await;
    until("it tries again and says why it fails", || {
        listening.stats.figures().trouble.is_some_and(|why| why.contains("refused"))
    })
    .await;
    assert_eq!(stats.figures().open, 0);
    let again = logpose_live::Address::parse(&address).unwrap();
    let clock = logpose_live::Clock::new();
    let server = logpose_live::Server::start(&again, clock, &ServerOptions::default()).await.unwrap();
    let output = logpose_live::OutputThread::start("server", Box::new(server), clock).unwrap();
    assert!(output.give(cycle(40, 2, true)));
    listening.hear(&mut heard, 4).await;
    assert_eq!(heard.channels.len(), 2, "channels keep their numbers");
    assert_eq!(heard.lines[3], "0.040 /Field1 double Double(40.001)");
    assert_eq!(listening.stats.figures().opened, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_taken_is_an_error_that_names_it() {
    let (address, _output, _) = serve("rlog", &ServerOptions::default()).await;
    let taken = logpose_live::Address::parse(&address).unwrap();
    let second = logpose_live::Server::start(&taken, logpose_live::Clock::new(), &ServerOptions::default()).await;
    let error = second.err().unwrap().to_string();
    assert!(error.contains(port(&address)) && error.contains("in use"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_writes_nonsense_is_a_client_all_the_same() {
    let (address, output, stats) = serve("rlog", &ServerOptions::default()).await;
    assert!(output.give(cycle(20, 2, true)));
    let mut client = TcpStream::connect(port(&address)).await.unwrap();
    client.write_all(&[0xff; 10_000]).await.unwrap();
    let mut first = [0; 5];
    client.read_exact(&mut first).await.unwrap();
    assert_eq!(first[4], 2, "the revision");
    assert_eq!(stats.figures().open, 1);
}
