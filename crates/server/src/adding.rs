//! Requests that add logs to the session and close them.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use futures::StreamExt;
use logpose_viewer::{RequestError, Upload, api};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::error::Refusal;
use crate::router::{AppState, JsonBody, LogNumber};
use crate::sources;

type JsonAnswer<T> = Result<Json<T>, Refusal>;
type FileDescription = Result<Query<api::FileQuery>, QueryRejection>;

/// `GET /api/start`
pub(crate) async fn start(State(app): State<AppState>) -> JsonAnswer<api::Start> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |_| viewer.start(sources::kinds())).await.map(Json)
}

/// `POST /api/logs/open`
pub(crate) async fn open(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::OpenQuery>,
) -> JsonAnswer<api::Added> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.open(move |_| viewer.open(&query)).await.map(Json)
}

/// `POST /api/logs/connect`
pub(crate) async fn connect(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::ConnectQuery>,
) -> JsonAnswer<api::Added> {
    let (viewer, sources) = (Arc::clone(&app.viewer), Arc::clone(&app.sources));
    app.jobs.quick(move |_| sources.connect(&viewer, &query.address)).await.map(Json)
}

/// `POST /api/logs/{log}/close`
pub(crate) async fn close(State(app): State<AppState>, LogNumber(log): LogNumber) -> JsonAnswer<()> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |_| viewer.close(log)).await.map(Json)
}

/// `POST /api/logs/known`
pub(crate) async fn known(
    State(app): State<AppState>,
    query: FileDescription,
    request: Request,
) -> JsonAnswer<api::Added> {
    let file = described(query, request.headers())?;
    let samples = timeout(SENDING, axum::body::to_bytes(request.into_body(), SAMPLES)).await;
    let samples = samples.map_err(|_| timed_out())?.map_err(|_| Refusal::bad("incomplete-body", "invalid body"))?;
    let viewer = Arc::clone(&app.viewer);
    app.jobs.open(move |_| viewer.open_known(&file, &samples)).await.map(Json)
}

/// `POST /api/logs/upload`
pub(crate) async fn upload(
    State(app): State<AppState>,
    query: FileDescription,
    request: Request,
) -> JsonAnswer<api::Added> {
    let file = described(query, request.headers())?;
    let Ok(_place) = Arc::clone(&app.uploads).try_acquire_owned() else {
        let message = format!("too many uploads at once (max {MOST_UPLOADS})");
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).with_help("try again"));
    };
    let (viewer, size) = (Arc::clone(&app.viewer), file.size);
    let begun = {
        let viewer = Arc::clone(&viewer);
        blocking(move || viewer.begin_upload(&file)).await
    };
    let received = receive(begun, request.into_body(), size).await?;
    app.jobs.open(move |_| viewer.end_upload(received)).await.map(Json)
}

/// Writes a body to its file, piece by piece. A body that cannot be kept is read all the same, because a browser only reads
/// the answer after it has sent everything.
async fn receive(begun: Result<Upload, Refusal>, body: Body, size: u64) -> Result<Upload, Refusal> {
    let mut state = begun;
    let (mut body, mut pieces, mut waiting, mut came) = (body.into_data_stream(), Vec::new(), 0, 0);
    loop {
        let piece = match timeout(SENDING, body.next()).await {
            Err(_) => return Err(timed_out()),
            Ok(Some(Err(_))) => return Err(Refusal::bad("incomplete-upload", "the upload was interrupted")),
            Ok(Some(Ok(piece))) => Some(piece),
            Ok(None) => None,
        };
        let is_over = piece.is_none();
        if let Some(piece) = piece {
            came += piece.len() as u64;
            waiting += piece.len();
            pieces.push(piece);
        }
        if waiting >= PIECE || is_over || came > size {
            let batch: Vec<Bytes> = std::mem::take(&mut pieces);
            waiting = 0;
            if let Ok(mut upload) = state {
                state = blocking(move || {
                    batch.iter().try_for_each(|piece| upload.write(piece))?;
                    Ok(upload)
                })
                .await;
            }
        }
        if is_over || came > size {
            return state;
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RequestError> + Send + 'static,
) -> Result<T, Refusal> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(Refusal::from),
        Err(_) => {
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal-error", "internal error in this request"))
        }
    }
}

/// What the address says of a file. Its content has a type that no form of another page can send.
fn described(query: FileDescription, headers: &HeaderMap) -> Result<api::FileQuery, Refusal> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.eq_ignore_ascii_case("application/octet-stream") {
        let message = "expected Content-Type: application/octet-stream";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", message)
            .with_help("set the header Content-Type: application/octet-stream"));
    }
    query.map(|Query(file)| file).map_err(|error| Refusal::bad("bad-request", error.body_text()))
}

fn timed_out() -> Refusal {
    Refusal::new(StatusCode::REQUEST_TIMEOUT, "request-timeout", "timed out reading the body")
}

/// Uploads at once.
pub(crate) const MOST_UPLOADS: usize = 8;
/// Bytes that are written at a time.
const PIECE: usize = 1 << 20;
/// The most bytes by which a file is recognised.
const SAMPLES: usize = 1 << 20;
/// How long a client may send nothing.
const SENDING: Duration = Duration::from_secs(30);
