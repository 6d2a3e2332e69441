use std::borrow::Cow;
use std::io;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::api;

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
        reason: io::Error,
    },
    /// Threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
    /// Anybody on the network could read the logs.
    #[error("{0} can be reached from other machines, and there is no token")]
    NoToken(std::net::SocketAddr),
    /// A token goes into an address and a cookie, where other characters mean something.
    #[error("a token has only letters, digits, - and _, and at least eight of them")]
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

    /// The request makes no sense.
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

    /// Nobody waits for the answer any more, or it took too long.
    pub(crate) fn stopped() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "cancelled", "this was given up before it was done")
    }
}

impl From<logpose::Error> for Refusal {
    fn from(error: logpose::Error) -> Self {
        // The path is that of an opened log, which the page shows anyway.
        let message = error.kind.to_string();
        Self { help: error.help, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "unreadable-log", message) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = api::ErrorBody { code: &self.code, message: &self.message, help: self.help.as_deref() };
        let mut response = (self.status, Json(api::Failure { error })).into_response();
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, POST"));
        }
        response
    }
}
