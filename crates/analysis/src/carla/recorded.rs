use std::borrow::Cow;
use std::sync::Arc;

use logpose_carla::{Carla, Found, Frames};
use logpose_core::{EncodeOptions, Encoding, FileDialect, Lookup, Problems, SinkError};

use logpose_files::internal::sink_error;
use logpose_files::{Error, Log, Order};

/// The recording that a log is, or that it was made of.
pub struct Recorded<'a> {
    log: &'a Log,
    bytes: Cow<'a, [u8]>,
}

impl Recorded<'_> {
    /// Its frames and actors, found in one pass.
    pub fn frames(&self) -> Result<Frames<'_>, Error> {
        Frames::scan(&self.bytes).map_err(|error| Error::decode(&self.log.path, error.into()))
    }
}

/// The recording that a log is, or that it was made of, gone over once and kept for many questions.
pub struct Kept {
    log: Arc<Log>,
    /// The recording that was made again; none if the log is one.
    made: Option<Vec<u8>>,
    found: Arc<Found>,
}

impl Kept {
    /// Goes over the recording of a log, if it has one.
    pub fn new(log: Arc<Log>) -> Result<Option<Self>, Error> {
        let Some(recorded) = recorded(&log)? else { return Ok(None) };
        let found = recorded.frames()?.found();
        let made = match recorded.bytes {
            Cow::Owned(bytes) => Some(bytes),
            Cow::Borrowed(_) => None,
        };
        Ok(Some(Self { log, made, found }))
    }

    /// Its frames and actors, without another pass.
    pub fn frames(&self) -> Result<Frames<'_>, Error> {
        let bytes = self.made.as_deref().unwrap_or_else(|| self.log.bytes());
        Frames::of(bytes, Arc::clone(&self.found)).map_err(|error| Error::decode(&self.log.path, error.into()))
    }
}

/// Whether a log is a recording, or was made of one.
#[must_use]
pub fn is_recording(log: &Log) -> bool {
    log.index.channels.iter().any(|found| found.channel.name == "/carla/frame")
}

/// The recording of a log, if it has one: the file itself, or, of one that was converted, the recording made again from
/// its channels, in memory.
pub fn recorded(log: &Log) -> Result<Option<Recorded<'_>>, Error> {
    if log.format().name() == logpose_carla::NAME {
        return Ok(Some(Recorded { log, bytes: Cow::Borrowed(log.bytes()) }));
    }
    if !is_recording(log) {
        return Ok(None);
    }
    let mut out = Vec::new();
    if let Some(mut encoder) = Carla.encoder(&EncodeOptions::default()) {
        encoder.begin(&mut out);
        let ours = |name: &str| name.starts_with("/carla/");
        let channels = log.index.channels.iter().map(|found| ours(&found.channel.name)).collect();
        let lookup = Lookup { channels, ..Lookup::default() };
        match log.rows(
            Order::File,
            &lookup,
            &mut Encoding { encoder: &mut *encoder, out: &mut out, problems: &mut Problems::default() },
        ) {
            Ok(()) | Err(SinkError::Stopped) => {}
            Err(error) => return Err(sink_error(error, None)),
        }
        encoder.finish(&mut out);
    }
    Ok(Some(Recorded { log, bytes: Cow::Owned(out) }))
}
