use std::path::Path;

use logpose::{ConvertOptions, Format};
use logpose_core::{Encode, SinkError};

use super::RecordError;

/// The format of all files of a recording.
pub(super) struct SegmentFormat {
    format: Format,
    options: ConvertOptions,
}

impl SegmentFormat {
    /// The format that the extension names, if it can be recorded.
    pub(super) fn of(path: &Path, options: ConvertOptions) -> Result<Self, RecordError> {
        let no = |reason: String| RecordError::Format { path: path.to_owned(), reason };
        let Some((format, wrapper)) = Format::from_path(path) else {
            return Err(no("unknown output format".to_owned()));
        };
        if let Some(wrapper) = wrapper {
            return Err(no(format!(
                "a compressed file ({wrapper}) is incomplete until it is closed, so it cannot be recorded"
            )));
        }
        format.recorder(&options, None).map_err(|error| no(error.to_string()))?;
        Ok(Self { format, options })
    }

    /// An encoder for one more file. Adding `epoch_ns` to its times gives Unix nanoseconds.
    pub(super) fn make(&self, epoch_ns: Option<i64>) -> Result<Box<dyn Encode>, SinkError> {
        self.format.recorder(&self.options, epoch_ns).map_err(|error| SinkError::Io(std::io::Error::other(error)))
    }

    /// What stands at the end of a file that is not finished; see [`Format::unfinished_end`].
    pub(super) fn end(&self) -> (&'static [u8], &'static [u8]) {
        self.format.unfinished_end()
    }

    /// Whether a channel carries the wall-clock time, as DataLogManager does it.
    pub(super) fn has_system_time(&self) -> bool {
        self.format.info().system_time
    }

    /// Whether the epoch stands in front of everything else.
    pub(super) fn begins_with_epoch(&self) -> bool {
        self.format.begins_with_epoch()
    }
}
