use std::borrow::Cow;
use std::io;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use logpose_viewer::{RequestError, RequestErrorKind, api};

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}")]
    Bind {
        /// The address.
        address: std::net::SocketAddr,
        /// Why.
        #[source]
        reason: io::Error,
    },
    /// Threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[source] io::Error),
    /// Anybody on the network could read the logs.
    #[error("{0} can be reached from other computers, so a token is required")]
    NoToken(std::net::SocketAddr),
    /// A token goes into an address and a cookie, where other characters mean something.
    #[error("a token needs at least eight letters, digits, - or _")]
    BadToken,
}

/// Why a request is refused, and what would help.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub status: StatusCode,
    pub code: Cow<'static, str>,
    pub message: String,
    pub help: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code: code.into(), message: message.into(), help: None }
    }

    /// The request is invalid.
    pub(crate) fn bad(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// What is asked for is not there.
    pub(crate) fn missing(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    pub(crate) fn into_body(self) -> api::Failure {
        let Self { code, message, help, .. } = self;
        api::Failure { error: api::ErrorBody { code: code.into_owned(), message, help } }
    }
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        let status = match error.kind {
            RequestErrorKind::Invalid => StatusCode::BAD_REQUEST,
            RequestErrorKind::Forbidden => StatusCode::FORBIDDEN,
            RequestErrorKind::NotFound => StatusCode::NOT_FOUND,
            RequestErrorKind::Failed => StatusCode::UNPROCESSABLE_ENTITY,
            RequestErrorKind::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
            RequestErrorKind::Storage => StatusCode::INSUFFICIENT_STORAGE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, code: error.code, message: error.message, help: error.help }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut response = (status, Json(self.into_body())).into_response();
        if status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, POST"));
        }
        response
    }
}
