//! One function per request: it takes the request apart, lets the viewer answer on a thread for jobs, and sends the answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use logpose_viewer::api;

use crate::error::Refusal;
use crate::export::download;
use crate::router::{AppState, JsonBody, LogNumber};

type JsonAnswer<T> = Result<Json<T>, Refusal>;

/// `GET /api/session`
pub(crate) async fn session(State(app): State<AppState>) -> JsonAnswer<api::Session> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |_| Ok(viewer.describe())).await.map(Json)
}

/// `GET /api/layouts`
pub(crate) async fn layouts(State(app): State<AppState>) -> JsonAnswer<api::Layouts> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |_| Ok(viewer.layouts())).await.map(Json)
}

/// `POST /api/layouts`
pub(crate) async fn keep_layout(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::KeepLayout>,
) -> JsonAnswer<api::Layouts> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |_| viewer.keep_layout(&query)).await.map(Json)
}

/// `GET /api/logs/{log}/channels`
pub(crate) async fn channels(State(app): State<AppState>, LogNumber(log): LogNumber) -> JsonAnswer<api::Channels> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |_| viewer.channels(log)).await.map(Json)
}

/// `GET /api/logs/{log}/events`
pub(crate) async fn events(State(app): State<AppState>, LogNumber(log): LogNumber) -> JsonAnswer<api::Events> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.slow(move |_| viewer.events(log)).await.map(Json)
}

/// `GET /api/logs/{log}/panes`
pub(crate) async fn panes(
    State(app): State<AppState>,
    LogNumber(log): LogNumber,
    query: Result<Query<api::PanesQuery>, QueryRejection>,
) -> JsonAnswer<api::Panes> {
    let Query(query) = query.map_err(|error| Refusal::bad("bad-request", error.body_text()))?;
    let viewer = Arc::clone(&app.viewer);
    app.jobs.slow(move |_| viewer.panes(log, &query)).await.map(Json)
}

/// `GET /api/logs/{log}/carla/actors`
pub(crate) async fn actors(State(app): State<AppState>, LogNumber(log): LogNumber) -> JsonAnswer<api::CarlaActors> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |_| viewer.carla_actors(log)).await.map(Json)
}

/// `GET /api/logs/{log}/carla/motion`
pub(crate) async fn motion(
    State(app): State<AppState>,
    LogNumber(log): LogNumber,
    query: Result<Query<api::MotionQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(query) = query.map_err(|error| Refusal::bad("bad-request", error.body_text()))?;
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |stop| viewer.carla_motion(log, &query, stop)).await.map(arrow)
}

/// `POST /api/pixels`
pub(crate) async fn pixels(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::PixelsQuery>,
) -> Result<Response, Refusal> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |stop| viewer.pixels(&query, stop)).await.map(arrow)
}

/// `POST /api/states`
pub(crate) async fn states(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::PixelsQuery>,
) -> JsonAnswer<api::StatesAnswer> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |stop| viewer.states(&query, stop)).await.map(Json)
}

/// `POST /api/values`
pub(crate) async fn values(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::ValuesQuery>,
) -> JsonAnswer<api::Values> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |_| viewer.values(&query)).await.map(Json)
}

/// `POST /api/rows`
pub(crate) async fn rows(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::RowsQuery>,
) -> Result<Response, Refusal> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |stop| viewer.rows(&query, stop)).await.map(arrow)
}

/// `POST /api/table`
pub(crate) async fn table(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::TableQuery>,
) -> JsonAnswer<api::Table> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.quick(move |stop| viewer.table(&query, stop)).await.map(Json)
}

/// `POST /api/console`
pub(crate) async fn console(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::ConsoleQuery>,
) -> JsonAnswer<api::Console> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.slow(move |stop| viewer.console(&query, stop)).await.map(Json)
}

/// `POST /api/stats`
pub(crate) async fn stats(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::StatsQuery>,
) -> JsonAnswer<api::StatsAnswer> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.slow(move |stop| viewer.stats(&query, stop)).await.map(Json)
}

/// `POST /api/sql`
pub(crate) async fn sql(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::SqlQuery>,
) -> Result<Response, Refusal> {
    let viewer = Arc::clone(&app.viewer);
    let answer = app.jobs.long(move |stop| viewer.sql(&query, stop)).await?;
    let mut response = arrow(answer.bytes);
    if answer.more {
        response.headers_mut().insert(HeaderName::from_static("logpose-more"), HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// `POST /api/export`
pub(crate) async fn export(
    State(app): State<AppState>,
    JsonBody(query): JsonBody<api::ExportQuery>,
) -> Result<Response, Refusal> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.export(move |stop| viewer.export(&query, stop)).await.map(download)
}

/// `POST /api/logs/{log}/repaired`
pub(crate) async fn repaired(State(app): State<AppState>, LogNumber(log): LogNumber) -> Result<Response, Refusal> {
    let viewer = Arc::clone(&app.viewer);
    app.jobs.export(move |stop| viewer.repaired(log, stop)).await.map(download)
}

fn arrow(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/vnd.apache.arrow.stream")], bytes).into_response()
}
