//! The connections of clients: how many there are, and how long they may take.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use logpose_live::{Admission, Admitted};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};

/// Answers all clients, for ever.
pub(crate) async fn serve(listener: TcpListener, routes: Router, admission: Admission, patience: Duration) {
    loop {
        match listener.accept().await {
            Ok((socket, from)) => {
                if let Some(place) = admission.admit(from.ip()) {
                    tokio::spawn(converse(socket, place, routes.clone(), patience));
                }
            }
            // Mostly too many open files; else it concerns a client that has gone already.
            Err(_) => {
                admission.make_room();
                sleep(SHORTLY).await;
            }
        }
    }
}

/// Answers one client until it has gone, takes too long, or another one gets its place.
async fn converse(socket: TcpStream, place: Admitted, routes: Router, patience: Duration) {
    // Answers go out at once: waiting for more to send would cost a picture some 40 ms.
    let _ = socket.set_nodelay(true);
    let place = Arc::new(place);
    let io = TokioIo::new(Patient { socket, place: Arc::clone(&place), patience, stalled: None });
    let routes = TowerToHyperService::new(routes);
    let (mine, evicted) = (Arc::clone(&place), place.evicted());
    let answer = service_fn(move |mut request: Request<Incoming>| {
        let place = Arc::clone(&mine);
        place.works();
        request.extensions_mut().insert(Arc::clone(&place));
        let answering = routes.call(request);
        async move {
            let response: Result<Response<_>, Infallible> = answering.await;
            // The client has to read it now.
            place.waits();
            response
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(patience);
    tokio::select! {
        // Errors of a connection are its client's.
        _ = http.serve_connection(io, answer).with_upgrades() => {}
        () = evicted => {}
    }
}

/// A socket whose client has to read what is sent to it.
struct Patient {
    socket: TcpStream,
    place: Arc<Admitted>,
    patience: Duration,
    /// Set as long as it reads nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn written<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.stalled = None;
            self.place.moved();
            return done;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        stalled.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, out)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.written(cx, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.written(cx, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// Until there may be room for another connection.
const SHORTLY: Duration = Duration::from_millis(20);
