use std::io;

use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use logpose_core::Link;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode, header::SEC_WEBSOCKET_PROTOCOL};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Error, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config, client_async_with_config};

use super::Event;
use super::queue::Pending;

pub(super) type Socket = WebSocketStream<TcpStream>;

/// Asks a server for one of the subprotocols, under our name.
pub(super) async fn connect(
    socket: TcpStream,
    host: &str,
    path: &str,
    name: &str,
    protocols: &[&str],
) -> io::Result<Socket> {
    let mut request = format!("ws://{host}{path}{name}").into_client_request().map_err(failed)?;
    let wanted = HeaderValue::from_str(&protocols.join(", ")).map_err(io::Error::other)?;
    request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, wanted);
    let (socket, _) = client_async_with_config(request, socket, Some(config())).await.map_err(failed)?;
    Ok(socket)
}

/// Answers a client that asks for one of the subprotocols.
pub(crate) async fn accept(
    socket: TcpStream,
    protocols: &'static [&'static str],
    also: &'static [&'static str],
) -> io::Result<Box<Socket>> {
    #[expect(clippy::result_large_err, reason = "the type of the callback is the library's")]
    let choose = |request: &Request, mut response: Response| -> Result<Response, ErrorResponse> {
        let asked = request.headers().get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
        let asked: Vec<&str> = asked.flat_map(|value| value.split(',')).map(str::trim).collect();
        let Some(chosen) = protocols.iter().chain(also).find(|protocol| asked.contains(protocol)) else {
            let mut refusal = ErrorResponse::new(Some(format!("supported protocols: {}\n", protocols.join(", "))));
            *refusal.status_mut() = StatusCode::BAD_REQUEST;
            return Err(refusal);
        };
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(chosen));
        Ok(response)
    };
    let socket = accept_hdr_async_with_config(socket, choose, Some(config())).await.map_err(failed)?;
    Ok(Box::new(socket))
}

/// Reads and writes messages: a message is one input.
pub(super) fn start(link: Link, socket: Socket, events: mpsc::Sender<Event>, pending: Pending) -> [JoinHandle<()>; 2] {
    let (sink, stream) = socket.split();
    let closed = events.clone();
    let reading = tokio::spawn(read(link, stream, events));
    let writing = tokio::spawn(async move {
        if let Err(error) = write(sink, pending).await {
            let _ = closed.send(Event::Closed(link, failed(error).to_string())).await;
        }
    });
    [reading, writing]
}

async fn read(link: Link, mut stream: SplitStream<Socket>, events: mpsc::Sender<Event>) {
    let reason = loop {
        let bytes = match stream.next().await {
            Some(Ok(Message::Text(text))) => text.as_bytes().to_vec(),
            Some(Ok(Message::Binary(bytes))) => bytes.to_vec(),
            Some(Ok(Message::Close(_))) | None => break "closed by the other side".to_owned(),
            // Pings are answered by the library as it goes on reading.
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
            Some(Err(error)) => break failed(error).to_string(),
        };
        if events.send(Event::Input(link, bytes)).await.is_err() {
            return;
        }
    };
    let _ = events.send(Event::Closed(link, reason)).await;
}

async fn write(mut sink: SplitSink<Socket, Message>, mut pending: Pending) -> Result<(), Error> {
    let mut pieces = Vec::new();
    while pending.next(&mut pieces).await {
        let mut size = 0;
        for piece in pieces.drain(..) {
            size += piece.bytes.len();
            let text = piece.text.then(|| str::from_utf8(&piece.bytes).ok()).flatten();
            let message = match text {
                Some(text) => Message::Text(Utf8Bytes::from(text)),
                None => Message::Binary(Bytes::from_owner(piece.bytes)),
            };
            sink.feed(message).await?;
        }
        sink.flush().await?;
        pending.sent(size);
    }
    sink.close().await
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST))
}

fn failed(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        Error::Http(response) => {
            let said = response.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            io::Error::other(format!("it answered {} {said}", response.status()).trim_end().to_owned())
        }
        other => io::Error::other(other),
    }
}

/// The largest message that is taken from anyone.
const LARGEST: usize = 64 << 20;
