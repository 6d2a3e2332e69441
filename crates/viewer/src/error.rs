use std::borrow::Cow;

/// Why a request has no answer, and what would help.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct RequestError {
    /// What went wrong, as far as a program needs to know: an HTTP server makes a status of it.
    pub kind: RequestErrorKind,
    /// A word for this error, such as `channel-not-found`. docs/http-api.md has the words.
    pub code: Cow<'static, str>,
    /// A sentence for people.
    pub message: String,
    /// What would help.
    pub help: Option<String>,
}

/// Who has to do something about an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RequestErrorKind {
    /// The request is not valid: another one would be answered.
    Invalid,
    /// The request names a log, a channel or a feature that is not there.
    NotFound,
    /// What is asked for is not allowed here.
    Forbidden,
    /// The request is valid, and the log or the query engine cannot answer it.
    Failed,
    /// A [`CancelToken`](crate::CancelToken) ended the work.
    Cancelled,
    /// A temporary file could not be written.
    Storage,
    /// A defect of logpose.
    Internal,
}

impl RequestError {
    /// An error with a word and a sentence.
    pub fn new(kind: RequestErrorKind, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { kind, code: code.into(), message: message.into(), help: None }
    }

    /// The error of a request that is not valid.
    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(RequestErrorKind::Invalid, code, message)
    }

    pub(crate) fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(RequestErrorKind::NotFound, code, message)
    }

    pub(crate) fn forbidden(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(RequestErrorKind::Forbidden, code, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(RequestErrorKind::Internal, "internal-error", message)
    }

    /// The same, and what would help.
    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The error of work that was cancelled.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(RequestErrorKind::Cancelled, "cancelled", "the request was cancelled")
    }
}

impl From<logpose::Error> for RequestError {
    fn from(error: logpose::Error) -> Self {
        // The path is that of an opened log, which the page shows anyway.
        let message = error.kind.to_string();
        Self { help: error.help, ..Self::new(RequestErrorKind::Failed, "unreadable-log", message) }
    }
}
