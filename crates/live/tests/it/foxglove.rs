//! The server for Foxglove, seen by clients that speak its protocol byte by byte.

use std::net::SocketAddr;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use logpose::bridges::mcap::Language;
use logpose::core::{Channel, Sample, Sink, Time, Value};
use logpose_live::{Batch, FoxgloveFigures, FoxgloveOptions, FoxgloveServer, FoxgloveStats, Output};
use serde_json::{Value as Json, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::kit::until;

/// A client that the test controls.
struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

/// What a server sends.
#[derive(Debug, PartialEq)]
enum Heard {
    Json(Json),
    Message { subscription: u32, time: u64, data: Vec<u8> },
    Time(u64),
    Closed,
}

impl Client {
    async fn connect(address: SocketAddr, subprotocol: &'static str) -> Result<Self, Error> {
        let mut request = format!("ws://{address}").into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", subprotocol.parse().unwrap());
        Ok(Self { socket: connect_async(request).await?.0 })
    }

    async fn new(address: SocketAddr) -> Self {
        Self::connect(address, "foxglove.sdk.v1").await.unwrap()
    }

    async fn hear(&mut self) -> Heard {
        let message = timeout(Duration::from_secs(10), self.socket.next()).await.expect("something is sent");
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        match message {
            Some(Ok(Message::Text(text))) => Heard::Json(serde_json::from_str(&text).unwrap()),
            Some(Ok(Message::Binary(bytes))) => match bytes[0] {
                1 => Heard::Message {
                    subscription: u32::from_le_bytes(bytes[1..5].try_into().unwrap()),
                    time: number(&bytes[5..13]),
                    data: bytes[13..].to_vec(),
                },
                2 => Heard::Time(number(&bytes[1..])),
                other => panic!("opcode {other}"),
            },
            Some(Ok(Message::Close(_))) | None => Heard::Closed,
            other => panic!("{other:?}"),
        }
    }

    /// Hears until a message comes; the times on the way do not matter.
    async fn message(&mut self) -> (u32, u64, Vec<u8>) {
        loop {
            match self.hear().await {
                Heard::Message { subscription, time, data } => return (subscription, time, data),
                Heard::Time(_) | Heard::Json(_) => {}
                Heard::Closed => panic!("closed"),
            }
        }
    }

    /// Listens until so many channels were advertised; gives them by topic.
    async fn channels(&mut self, count: usize) -> std::collections::BTreeMap<String, Json> {
        let mut found = std::collections::BTreeMap::new();
        while found.len() < count {
            if let Heard::Json(json) = self.hear().await
                && json["op"] == "advertise"
            {
                for channel in json["channels"].as_array().unwrap() {
                    assert!(found.insert(channel["topic"].as_str().unwrap().to_owned(), channel.clone()).is_none());
                }
            }
        }
        assert_eq!(found.len(), count, "{:?}", found.keys());
        found
    }

    async fn subscribe(&mut self, number: u32, channel: &Json) {
        let subscription = json!({"id": number, "channelId": channel["id"]});
        let text = json!({"op": "subscribe", "subscriptions": [subscription]}).to_string();
        self.socket.send(Message::Text(text.into())).await.unwrap();
    }
}

fn start(options: &FoxgloveOptions) -> (Box<FoxgloveServer>, SocketAddr, FoxgloveStats) {
    let server = FoxgloveServer::start("127.0.0.1:0".parse().unwrap(), options).unwrap();
    let (address, stats) = (server.address(), server.stats());
    (Box::new(server), address, stats)
}

fn double(channel: u32, ms: i64, value: f64) -> Sample<'static> {
    Sample { channel, time: Time::from_millis(ms), value: Value::Double(value) }
}

/// A batch that gives two channels a value, and declares them first.
fn first(ms: i64) -> Batch {
    let mut batch = Batch::new(Time::ZERO);
    let mut speed = Channel::new("/Drive/Speed", "double");
    (speed.unit, speed.metadata) = (Some("m/s".into()), "{\"source\":\"NT\"}".into());
    batch.channel(0, &speed).unwrap();
    batch.channel(1, &Channel::new("/Drive/State", "string")).unwrap();
    let state = Sample { channel: 1, time: Time::from_millis(ms), value: Value::String(b"on") };
    batch.samples(&[double(0, ms, 1.5), state]).unwrap();
    batch
}

fn next(ms: i64, value: f64) -> Batch {
    let mut batch = Batch::new(Time::ZERO);
    batch.samples(&[double(0, ms, value)]).unwrap();
    batch
}

const MS: u64 = 1_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn clients_see_channels_and_get_their_values() {
    let (mut server, address, stats) = start(&FoxgloveOptions::default());
    let mut client = Client::new(address).await;
    let Heard::Json(info) = client.hear().await else { panic!() };
    assert_eq!(
        (&info["op"], &info["name"], &info["capabilities"]),
        (&"serverInfo".into(), &"logpose".into(), &json!(["time"]))
    );
    server.take(&first(20)).unwrap();
    let channels = client.channels(2).await;
    let speed = &channels["/Drive/Speed"];
    let about = ["encoding", "schemaName", "schemaEncoding", "schema"].map(|key| speed[key].as_str().unwrap());
    assert_eq!(about, ["ros1", "std_msgs/Float64", "ros1msg", "float64 data\n"]);
    // What was sent before a client asked is sent when it asks.
    client.subscribe(7, speed).await;
    assert_eq!(client.message().await, (7, 20 * MS, 1.5_f64.to_le_bytes().to_vec()));
    client.subscribe(8, &channels["/Drive/State"]).await;
    assert_eq!(client.message().await, (8, 20 * MS, b"\x02\0\0\0on".to_vec()));
    server.take(&next(40, 2.5)).unwrap();
    assert_eq!(client.message().await, (7, 40 * MS, 2.5_f64.to_le_bytes().to_vec()));
    let expected = FoxgloveFigures {
        clients: 1,
        connected: 1,
        topics: 2,
        subscriptions: 2,
        messages: 3,
        sent: 3,
        ..FoxgloveFigures::default()
    };
    assert_eq!(stats.figures(), expected);
    // The end is said, and everything is given back.
    tokio::task::spawn_blocking(move || server.finish()).await.unwrap().unwrap();
    while client.hear().await != Heard::Closed {}
    until("the client has gone", || stats.figures().clients == 0).await;
    let again = FoxgloveServer::start(address, &FoxgloveOptions::default());
    assert_eq!(again.unwrap().address(), address);
}

#[tokio::test(flavor = "multi_thread")]
async fn newcomers_get_the_latest_values() {
    let (mut server, address, _) = start(&FoxgloveOptions { epoch_ns: Some(1_000), ..FoxgloveOptions::default() });
    server.take(&first(20)).unwrap();
    server.take(&next(40, 2.5)).unwrap();
    for _ in 0..2 {
        // Nothing comes any more, as when a log is paused.
        let mut client = Client::new(address).await;
        let mut heard = Vec::new();
        while !heard.iter().any(|heard| matches!(heard, Heard::Time(_))) {
            heard.push(client.hear().await);
        }
        let at = |ns: u64| ns + 1_000;
        assert!(matches!(heard.last(), Some(Heard::Time(now)) if *now >= at(20 * MS)), "{heard:?}");
        let topics = heard.iter().find_map(|heard| match heard {
            Heard::Json(json) => json["channels"].as_array().cloned(),
            _ => None,
        });
        let topics = match topics {
            Some(topics) => topics,
            None => client.channels(2).await.into_values().collect(),
        };
        let speed = topics.iter().find(|channel| channel["topic"] == "/Drive/Speed").unwrap();
        client.subscribe(1, speed).await;
        assert_eq!(client.message().await, (1, at(40 * MS), 2.5_f64.to_le_bytes().to_vec()));
    }
}

/// A pose that stands before its schemas, as in a cycle of AdvantageKit, whose order is that of a hash table.
fn pose() -> Batch {
    let mut batch = Batch::new(Time::ZERO);
    let payload: Vec<u8> = [1.0_f64, 2.0, 0.0].into_iter().flat_map(f64::to_le_bytes).collect();
    batch.channel(0, &Channel::new("/RealOutputs/Odometry/Robot", "struct:Pose2d")).unwrap();
    batch.samples(&[Sample { channel: 0, time: Time::from_millis(20), value: Value::Bytes(&payload) }]).unwrap();
    let schemas = [
        ("Pose2d", "Translation2d translation;Rotation2d rotation"),
        ("Translation2d", "double x;double y"),
        ("Rotation2d", "double value"),
    ];
    for (id, (name, text)) in (1..).zip(schemas) {
        batch.channel(id, &Channel::new(format!("/.schema/struct:{name}"), "structschema")).unwrap();
        let value = Value::String(text.as_bytes());
        batch.samples(&[Sample { channel: id, time: Time::from_millis(20), value }]).unwrap();
    }
    batch
}

#[tokio::test(flavor = "multi_thread")]
async fn poses_are_shown_and_move_the_robot() {
    let (mut server, address, _) = start(&FoxgloveOptions::default());
    server.take(&pose()).unwrap();
    let mut client = Client::new(address).await;
    let channels = client.channels(6).await;
    let schema = |topic: &str| channels[topic]["schemaName"].as_str().unwrap();
    assert_eq!(schema("/RealOutputs/Odometry/Robot"), "wpilib/Pose2d");
    assert_eq!(schema("/RealOutputs/Odometry/Robot/foxglove"), "foxglove.PoseInFrame");
    assert_eq!(schema("/tf"), "foxglove.FrameTransform");
    assert_eq!(channels["/tf"]["encoding"], "protobuf");
    client.subscribe(1, &channels["/tf"]).await;
    let (_, time, data) = client.message().await;
    assert_eq!(time, 20 * MS);
    // The stamp, the frames, and x = 1 as the first field of the translation.
    let text = |text: &str| data.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(text("field") && text("robot"), "{data:?}");
    assert!(data.windows(9).any(|part| part == [&[9][..], &1.0_f64.to_le_bytes()].concat()), "{data:?}");
    // Without poses there are the channels alone.
    let (mut server, address, _) = start(&FoxgloveOptions { poses: false, time: false, ..FoxgloveOptions::default() });
    server.take(&pose()).unwrap();
    let mut client = Client::new(address).await;
    let Heard::Json(info) = client.hear().await else { panic!() };
    assert_eq!(info["capabilities"], json!([]));
    client.channels(4).await;
}

/// A batch of ten messages of four kilobytes, each with its number in front.
fn heavy(first: u32) -> Batch {
    let mut batch = Batch::new(Time::ZERO);
    for number in first..first + 10 {
        let text = format!("{number:04096}");
        let value = Value::String(text.as_bytes());
        batch.samples(&[Sample { channel: 1, time: Time::from_millis(number.into()), value }]).unwrap();
    }
    batch
}

/// The number of a message, which stands behind the length of its text.
fn number((_, _, data): (u32, u64, Vec<u8>)) -> u32 {
    str::from_utf8(&data[4..]).unwrap().parse().unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_client_does_not_slow_the_others() {
    const LAST: u32 = 10_000;
    // Without times, which are not dropped but cut a client off when too many wait.
    let options = FoxgloveOptions { backlog: 200, time: false, ..FoxgloveOptions::default() };
    let (mut server, address, stats) = start(&options);
    server.take(&first(0)).unwrap();
    let (mut slow, mut quick) = (Client::new(address).await, Client::new(address).await);
    for client in [&mut slow, &mut quick] {
        let channels = client.channels(2).await;
        client.subscribe(1, &channels["/Drive/State"]).await;
        client.message().await;
    }
    let reading = tokio::spawn(async move {
        let mut arrived = 1;
        while number(quick.message().await) < LAST {
            arrived += 1;
        }
        (quick, arrived)
    });
    // The slow one reads nothing: what the system keeps for it and the backlog fill up, then the oldest messages go.
    let feeding = tokio::task::spawn_blocking(move || {
        (1..LAST).step_by(10).for_each(|first| server.take(&heavy(first)).unwrap());
        server
    });
    let mut server = timeout(Duration::from_secs(20), feeding).await.expect("nobody waits").unwrap();
    let (_quick, arrived) = timeout(Duration::from_secs(10), reading).await.unwrap().unwrap();
    assert_eq!(stats.figures().messages, 2 + u64::from(LAST));
    assert_eq!((stats.figures().clients, stats.figures().cut_off), (2, 0), "nobody is cut off");
    // The system and the backlog keep some for the slow one; the rest is known to be lost while it still reads nothing.
    until("lost messages are counted", || stats.figures().dropped > u64::from(LAST) / 2).await;
    // When the slow one reads again, old messages are missing and the newest are there.
    server.take(&heavy(LAST + 1)).unwrap();
    let mut numbers = vec![0];
    while numbers.last() != Some(&(LAST + 10)) {
        numbers.push(number(slow.message().await));
    }
    assert!(numbers.is_sorted() && numbers.len() < LAST as usize, "{}", numbers.len());
    // On a busy machine the quick one is not always quick enough.
    let arrived = arrived + numbers.len() as u64 - 1;
    assert_eq!(arrived + stats.figures().dropped, 2 * u64::from(LAST) + 10, "each arrived or is counted");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_clients_of_the_new_name_of_the_protocol_get_in() {
    let (_server, address, stats) = start(&FoxgloveOptions::default());
    for (name, gets_in) in [
        ("foxglove.websocket.v1", false),
        ("foxglove.websocket.v1, foxglove.sdk.v1", true),
        ("foxglove.sdk.v1.1", true),
        ("nt4.example", false),
    ] {
        match Client::connect(address, name).await {
            Ok(mut client) => {
                assert!(gets_in, "{name}");
                assert!(matches!(client.hear().await, Heard::Json(_)));
            }
            Err(Error::Http(answer)) => assert_eq!((gets_in, answer.status().as_u16()), (false, 400), "{name}"),
            Err(other) => panic!("{name}: {other}"),
        }
    }
    until("two came and went", || (stats.figures().connected, stats.figures().clients) == (2, 0)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn values_can_be_messages_of_ros_2() {
    let (mut server, address, _) = start(&FoxgloveOptions { language: Language::Ros2, ..FoxgloveOptions::default() });
    server.take(&first(20)).unwrap();
    let mut client = Client::new(address).await;
    let channels = client.channels(2).await;
    let speed = &channels["/Drive/Speed"];
    let about = ["encoding", "schemaName", "schemaEncoding"].map(|key| speed[key].as_str().unwrap());
    assert_eq!(about, ["cdr", "std_msgs/msg/Float64", "ros2msg"]);
    client.subscribe(1, speed).await;
    assert_eq!(client.message().await.2, [&[0, 1, 0, 0][..], &1.5_f64.to_le_bytes()].concat());
}

#[test]
fn a_port_that_is_taken_is_an_error_with_its_address() {
    let (_server, address, _) = start(&FoxgloveOptions::default());
    let error = FoxgloveServer::start(address, &FoxgloveOptions::default()).err().unwrap().to_string();
    assert!(error.starts_with(&format!("cannot bind {address}: ")), "{error}");
}

#[test]
fn what_no_client_can_be_shown_is_counted() {
    let (mut server, _, stats) = start(&FoxgloveOptions::default());
    server.take(&first(-20)).unwrap();
    server.take(&next(20, 1.0)).unwrap();
    assert_eq!((stats.figures().early, stats.figures().messages), (2, 1));
    server.tick(Time::ZERO).unwrap();
    server.finish().unwrap();
}

#[test]
fn a_channel_named_like_one_for_viewers_is_advertised_too() {
    let (mut server, _, stats) = start(&FoxgloveOptions::default());
    server.take(&pose()).unwrap();
    let mut batch = Batch::new(Time::ZERO);
    batch.channel(4, &Channel::new("/tf", "double")).unwrap();
    batch.channel(5, &Channel::new("/tf", "string")).unwrap();
    server.take(&batch).unwrap();
    assert_eq!(stats.figures().topics, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn half_handshakes_keep_nobody_out() {
    let options = FoxgloveOptions { clients: 5, ..FoxgloveOptions::default() };
    let (_server, address, stats) = start(&options);
    let mut held = Vec::new();
    for n in 0..40 {
        let mut half = TcpStream::connect(address).await.unwrap();
        if n % 2 == 0 {
            half.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").await.unwrap();
        }
        held.push(half);
    }
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = Client::new(address).await;
        assert!(matches!(client.hear().await, Heard::Json(_)));
        clients.push(client);
    }
    assert_eq!(stats.figures().clients, 3);
}
