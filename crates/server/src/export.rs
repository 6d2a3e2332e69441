use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use logpose::{ClockMap, ConvertOptions, Format, Log, Output, Quiet, Wide, convert};
use logpose_core::Lookup;

use crate::api;
use crate::error::Refusal;
use crate::jobs::Stop;
use crate::reference::Series;
use crate::router::{App, Ask};
use crate::session::Session;
use crate::snapshot::snapshot;

/// `POST /api/export`
pub(crate) async fn export(State(app): State<App>, Ask(query): Ask<api::ExportQuery>) -> Result<Response, Refusal> {
    let session = app.session.clone();
    let (file, length, name) = app
        .jobs
        .long(move |stop| {
            let format = FORMATS.iter().find(|(known, ..)| *known == query.format).ok_or_else(|| {
                let known: Vec<&str> = FORMATS.iter().map(|(known, _)| *known).collect();
                Refusal::bad("invalid-format", format!("{:?} is nothing that can be exported", query.format))
                    .with_help(format!("formats are {}", known.join(", ")))
            })?;
            let wanted = Wanted::of(&session, &query, stop)?;
            let (file, length) = wanted.write(format.0, query.wide, stop)?;
            Ok((file, length, format!("{}.{}", wanted.name, format.0)))
        })
        .await?;
    let kind =
        FORMATS.iter().find(|(known, _)| name.ends_with(known)).map_or("application/octet-stream", |(_, kind)| kind);
    let mut response = body(file).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
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
    fn of(session: &Session, query: &api::ExportQuery, stop: &Stop) -> Result<Self, Refusal> {
        if let (Some(start), Some(end)) = (query.start, query.end) {
            crate::pixels::ordered(start, end)?;
        }
        let series = Series::find_all(session, &query.series)?;
        let mut wanted = Self { logs: Vec::new(), lookups: Vec::new(), clocks: Vec::new(), name: String::new() };
        for (number, member) in session.logs().iter().enumerate() {
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
            return Err(Refusal::missing("log-not-found", "no log is open"));
        }
        // The times of one log stay its own.
        if wanted.logs.len() < 2 {
            wanted.clocks.clear();
        }
        Ok(wanted)
    }

    /// Writes it all to a file without a name, which is gone when nobody holds it any more.
    fn write(&self, format: &str, wide: bool, stop: &Stop) -> Result<(File, u64), Refusal> {
        let failed = |error: io::Error| {
            Refusal::new(StatusCode::INSUFFICIENT_STORAGE, "io", format!("cannot write a temporary file: {error}"))
        };
        let format = Format::from_name(format).ok_or_else(|| Refusal::bad("invalid-format", "no such format"))?;
        let wide = wide.then(Wide::default);
        let options = ConvertOptions { wide, clocks: self.clocks.clone(), ..ConvertOptions::default() };
        let mut file = tempfile::tempfile().map_err(failed)?;
        let mut out = BufWriter::with_capacity(1 << 20, Watched { file: &mut file, stop });
        let done = convert(&self.logs, self.lookups.clone(), &format, Output::Stream(&mut out), &options, &Quiet);
        let flushed = out.flush();
        drop(out);
        if stop.is_set() {
            return Err(Refusal::stopped());
        }
        done?;
        flushed.map_err(failed)?;
        let length = file.stream_position().map_err(failed)?;
        file.rewind().map_err(failed)?;
        Ok((file, length))
    }
}

/// Writes until nobody waits any more.
struct Watched<'f> {
    file: &'f mut File,
    stop: &'f Stop,
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.is_set() { Err(io::ErrorKind::BrokenPipe.into()) } else { self.file.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The file piece by piece. Reading it blocks for a moment only: it was just written.
fn body(file: File) -> Body {
    Body::from_stream(stream::unfold(Some(file), |file| async move {
        let mut file = file?;
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; PIECE];
            let count = file.read(&mut piece);
            count.map(|count| {
                piece.truncate(count);
                (piece, file)
            })
        });
        match read.await.map_err(io::Error::other).flatten() {
            Ok((piece, _)) if piece.is_empty() => None,
            Ok((piece, file)) => Some((Ok(Bytes::from(piece)), Some(file))),
            Err(error) => Some((Err(error), None)),
        }
    }))
}

/// A name that is one on every system, whatever the log is called.
pub(crate) fn safe(name: &str) -> String {
    let stem = name.split('.').next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let stem: String = stem.chars().map(plain).take(100).collect();
    if stem.trim_matches('_').is_empty() { "logpose".to_owned() } else { stem }
}

/// What can be exported, by the ending of its files, and what browsers call it.
const FORMATS: [(&str, &str); 7] = [
    ("csv", "text/csv; charset=utf-8"),
    ("ndjson", "application/x-ndjson"),
    ("mcap", "application/octet-stream"),
    ("parquet", "application/vnd.apache.parquet"),
    ("arrow", "application/vnd.apache.arrow.file"),
    ("wpilog", "application/octet-stream"),
    ("rlog", "application/octet-stream"),
];
/// Bytes that are sent at a time.
const PIECE: usize = 256 << 10;

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
