use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::sync::Arc;

use logpose::{ClockMap, ConvertOptions, FORMATS, Format, Log, OpenOptions, Output, Quiet, Wide, convert, recover};
use logpose_core::Lookup;

use crate::Viewer;
use crate::api;
use crate::cancel::CancelToken;
use crate::error::{RequestError, RequestErrorKind};
use crate::reference::Series;
use crate::session::Session;
use crate::snapshot::snapshot;

/// An exported file.
#[derive(Debug)]
pub struct Export {
    /// The file, at its start. It has no name, and is gone when it is closed.
    pub file: File,
    /// Its length in bytes.
    pub length: u64,
    /// What to call it.
    pub name: String,
    /// Its media type.
    pub content_type: &'static str,
}

impl Viewer {
    /// Logs, or some channels of them, as a file of another format.
    pub fn export(&self, query: &api::ExportQuery, stop: &CancelToken) -> Result<Export, RequestError> {
        let format = offered().find(|format| format.name() == query.format).ok_or_else(|| {
            let known: Vec<&str> = offered().map(Format::name).collect();
            RequestError::invalid("invalid-format", format!("unknown export format {:?}", query.format))
                .with_help(format!("expected one of {}", known.join(", ")))
        })?;
        let wanted = Wanted::of(&self.session(), query, stop)?;
        let (file, length) = wanted.write(format, query.wide, stop)?;
        let name = format!("{}.{}", wanted.name, format.extension());
        Ok(Export { file, length, name, content_type: format.media_type() })
    }
}

impl Viewer {
    /// A repaired copy of a log, as `logpose recover` writes it.
    pub fn repaired(&self, log: usize, stop: &CancelToken) -> Result<Export, RequestError> {
        let session = self.session();
        let member = session.log(log)?;
        let found = member.store.log().filter(|found| found.path.as_os_str() != "-").ok_or_else(|| {
            RequestError::invalid("not-a-file", "only a log that was opened from a file can be repaired")
        })?;
        let read = found.how();
        let options = OpenOptions {
            from: Some(found.dialect().info().name.to_owned()),
            revision: read.revision,
            threads: read.threads,
            limits: read.limits,
            ..OpenOptions::default()
        };
        let mut done = None;
        let (file, length) = temporary(stop, |out| {
            done = Some(recover(&found.path, Output::Stream(out), &options, &Quiet)?);
            Ok(())
        })?;
        let extension = done.map_or("log", |done| done.extension);
        let name = format!("{}.recovered.{extension}", safe(&member.store.about().name));
        Ok(Export { file, length, name, content_type: "application/octet-stream" })
    }
}

/// A file without a name, which is gone when nobody holds it any more, and what was written to it.
fn temporary(
    stop: &CancelToken,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), RequestError>,
) -> Result<(File, u64), RequestError> {
    let failed = |error: io::Error| {
        RequestError::new(RequestErrorKind::Storage, "io", format!("cannot write a temporary file: {error}"))
    };
    let mut file = tempfile::tempfile().map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, Watched { file: &mut file, stop });
    let done = write(&mut out);
    let flushed = out.flush();
    drop(out);
    if stop.is_cancelled() {
        return Err(RequestError::cancelled());
    }
    done?;
    flushed.map_err(failed)?;
    let length = file.stream_position().map_err(failed)?;
    file.rewind().map_err(failed)?;
    Ok((file, length))
}

/// The logs that are exported, which parts of them, and on which clocks.
struct Wanted {
    logs: Vec<Arc<Log>>,
    lookups: Vec<Lookup>,
    clocks: Vec<ClockMap>,
    /// What a file of it is called, without what says its format.
    name: String,
}

impl Wanted {
    fn of(session: &Session, query: &api::ExportQuery, stop: &CancelToken) -> Result<Self, RequestError> {
        if let (Some(start), Some(end)) = (query.start, query.end) {
            crate::pixels::ordered(start, end)?;
        }
        let series = Series::find_all(session, &query.series)?;
        let mut wanted = Self { logs: Vec::new(), lookups: Vec::new(), clocks: Vec::new(), name: String::new() };
        for (number, member) in session.open() {
            let own: Vec<u32> = series.iter().filter(|one| one.log == number).map(|one| one.channel).collect();
            if own.is_empty() && !series.is_empty() {
                continue;
            }
            let clock = session.clock(member);
            let (start, end) = (query.start.map(|t| clock.time(t)), query.end.map(|t| clock.time(t)));
            let count = member.store.catalog().channels.len();
            let channels = match own.is_empty() {
                true => Vec::new(),
                false => (0..).take(count).map(|id| own.contains(&id)).collect(),
            };
            let mut lookup = Lookup { channels, start, end, ..Lookup::default() };
            let log = match member.store.log() {
                Some(log) => Arc::clone(log),
                None => {
                    let (log, channels) = snapshot(member, &lookup, stop)?;
                    lookup.channels = channels;
                    Arc::new(log)
                }
            };
            if wanted.name.is_empty() {
                wanted.name = safe(&member.store.about().name);
            }
            wanted.logs.push(log);
            wanted.lookups.push(lookup);
            wanted.clocks.push(member.map);
        }
        if wanted.logs.is_empty() {
            return Err(RequestError::not_found("log-not-found", "no log is open"));
        }
        // The times of one log stay its own.
        if wanted.logs.len() < 2 {
            wanted.clocks.clear();
        }
        Ok(wanted)
    }

    /// Writes it all to a file without a name, which is gone when nobody holds it any more.
    fn write(&self, format: &Format, wide: bool, stop: &CancelToken) -> Result<(File, u64), RequestError> {
        let wide = wide.then(Wide::default);
        let options = ConvertOptions { wide, clocks: self.clocks.clone(), ..ConvertOptions::default() };
        temporary(stop, |out| {
            convert(&self.logs, self.lookups.clone(), format, Output::Stream(out), &options, &Quiet)?;
            Ok(())
        })
    }
}

/// Writes until nobody waits any more.
struct Watched<'f> {
    file: &'f mut File,
    stop: &'f CancelToken,
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.is_cancelled() { Err(io::ErrorKind::BrokenPipe.into()) } else { self.file.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A name that is one on every system, whatever the log is called.
pub(crate) fn safe(name: &str) -> String {
    let stem = name.split('.').next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let stem: String = stem.chars().map(plain).take(100).collect();
    if stem.trim_matches('_').is_empty() { "logpose".to_owned() } else { stem }
}

/// What can be exported: the formats that hold any channel.
fn offered() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.info().files.write && format.info().holds_only.is_none())
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn names_are_safe() {
        for (name, expected) in [
            ("FRC_20260321_142233_DEMO_Q12.wpilog", "FRC_20260321_142233_DEMO_Q12"),
            ("../../etc/passwd", "logpose"),
            ("a\"; filename=\"b.exe", "a___filename__b"),
            ("nt4://10.2.54.2", "nt4___10"),
            ("", "logpose"),
            ("männer.wpilog", "m_nner"),
        ] {
            assert_eq!(safe(name), expected);
        }
    }
}
