use std::fmt;
use std::io;

use logpose_core::SinkError;

/// Why something could not be done with a lake.
#[derive(Debug)]
pub struct Error {
    /// A short word for this kind of failure, the same in every run.
    pub code: &'static str,
    /// What went wrong, and where.
    pub message: String,
    /// What the user can do.
    pub help: Option<String>,
}

impl Error {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// A table or a file of the lake that does not say what it should.
    pub(crate) fn damaged(path: &str, message: impl fmt::Display) -> Self {
        Self::new("damaged-lake", format!("{path}: {message}"))
            .help("run `logpose lake verify LAKE` to see what else is affected")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<logpose::Error> for Error {
    fn from(error: logpose::Error) -> Self {
        Self { code: error.code(), message: error.to_string(), help: error.help }
    }
}

impl From<SinkError> for Error {
    fn from(error: SinkError) -> Self {
        match error {
            SinkError::Io(error) => error.into(),
            SinkError::Source(error) => Self { code: error.code, message: error.to_string(), help: error.help },
            SinkError::Refused(error) => logpose::Error::from(error).into(),
            SinkError::Failed(error) => match error.downcast::<logpose::Error>() {
                Ok(error) => (*error).into(),
                Err(error) => Self::new("io", error.to_string()),
            },
            SinkError::Stopped => Self::new("io", "the output ended before the log did"),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let is_full = matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        );
        let error = Self::new("io", error.to_string());
        if is_full {
            error.help("free some space and run the same command again; what is in the lake stays")
        } else {
            error
        }
    }
}
