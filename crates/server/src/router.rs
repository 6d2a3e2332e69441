use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use logpose_live::{Admission, Admitted};
use logpose_viewer::Viewer;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::error::Refusal;
use crate::guard::{self, Guard};
use crate::jobs::Jobs;
use crate::socket::MOST_SOCKETS;
use crate::sources::LiveSources;
use crate::{LiveFiles, Session, adding, handlers, pages, socket};

/// What every request can reach.
#[derive(Clone)]
pub(crate) struct AppState {
    pub viewer: Arc<Viewer>,
    pub jobs: Jobs,
    /// Places for pages that listen.
    pub sockets: Admission,
    /// Places for uploads.
    pub uploads: Arc<Semaphore>,
    /// Live sources that were connected to in the page.
    pub sources: Arc<LiveSources>,
}

impl AppState {
    pub(crate) fn new(session: Session, processors: usize, files: &LiveFiles) -> Self {
        Self {
            viewer: Arc::new(Viewer::new(session)),
            jobs: Jobs::new(processors),
            sockets: Admission::new(MOST_SOCKETS),
            uploads: Arc::new(Semaphore::new(adding::MOST_UPLOADS)),
            sources: Arc::new(LiveSources::new(files)),
        }
    }
}

/// All that is answered, behind the guard.
pub(crate) fn router(app: AppState, guard: Guard) -> Router {
    let api = Router::new()
        .route("/session", get(handlers::session))
        .route("/start", get(adding::start))
        .route("/logs/open", post(adding::open))
        .route("/logs/known", post(adding::known))
        .route("/logs/upload", post(adding::upload))
        .route("/logs/connect", post(adding::connect))
        .route("/logs/{log}/close", post(adding::close))
        .route("/logs/{log}/channels", get(handlers::channels))
        .route("/logs/{log}/events", get(handlers::events))
        .route("/logs/{log}/panes", get(handlers::panes))
        .route("/logs/{log}/carla/actors", get(handlers::actors))
        .route("/logs/{log}/carla/motion", get(handlers::motion))
        .route("/logs/{log}/repaired", post(handlers::repaired))
        .route("/layouts", get(handlers::layouts).post(handlers::keep_layout))
        .route("/pixels", post(handlers::pixels))
        .route("/states", post(handlers::states))
        .route("/values", post(handlers::values))
        .route("/rows", post(handlers::rows))
        .route("/table", post(handlers::table))
        .route("/console", post(handlers::console))
        .route("/stats", post(handlers::stats))
        .route("/sql", post(handlers::sql))
        .route("/export", post(handlers::export))
        .route("/live", get(socket::live))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(BODY));
    Router::new()
        .nest("/api", api)
        .fallback(pages::page)
        .layer(from_fn_with_state(Arc::new(guard), guard::guard))
        .with_state(app)
}

async fn not_found(request: Request) -> Refusal {
    Refusal::missing("not-found", format!("no API at {}", request.uri().path())).with_help("see docs/http-api.md")
}

async fn method_not_allowed(request: Request) -> Refusal {
    let message = format!("{} does not support {}", request.uri().path(), request.method());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", message)
}

/// The number of a log in the path of a request.
pub(crate) struct LogNumber(pub usize);

impl<S: Send + Sync> FromRequestParts<S> for LogNumber {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let found = Path::<String>::from_request_parts(parts, state).await;
        let text = found.map_or_else(|_| String::new(), |Path(text)| text);
        let number =
            text.parse().map_err(|_| Refusal::missing("log-not-found", format!("{text:?} is not a log number")));
        number.map(Self)
    }
}

/// The JSON body of a request.
pub(crate) struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let message = "expected Content-Type: application/json";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", message)
                .with_help("set the header Content-Type: application/json"));
        }
        let place = request.extensions().get::<Arc<Admitted>>().cloned();
        // The client can make the server wait for it.
        place.iter().for_each(|place| place.waits());
        let body = timeout(SENDING, Bytes::from_request(request, state)).await;
        place.iter().for_each(|place| place.works());
        let body = body
            .map_err(|_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "request-timeout", "timed out reading the body"))?;
        let body = body.map_err(|rejection: BytesRejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too-large",
                format!("the body is larger than {BODY} bytes"),
            ),
            status => Refusal::new(status, "incomplete-body", "the body is incomplete"),
        })?;
        serde_json::from_slice(&body).map(Self).map_err(|error| {
            Refusal::bad("bad-request", format!("invalid body: {error}")).with_help("see docs/http-api.md")
        })
    }
}

/// The most bytes of a request's body.
const BODY: usize = 1 << 20;
/// How long a body may take to come.
const SENDING: Duration = Duration::from_secs(30);
