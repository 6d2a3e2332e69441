use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use logpose_core::civil;
use logpose_refloat::rfrec::TimeRef;
use logpose_refloat::session::{self, Client, ClientView, Event, Failure, Job};
use logpose_refloat::wire::Header;
use serde_json::{Map, Value};

use super::error::{FetchError, LinkError};
use super::file::{Front, Target};
use super::link::{BoardLink, Watch};
use super::talk::talk;

/// How a recording is fetched into a file.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// Whether a file that is there is replaced. Without it a partial one is gone on with, and others are left alone.
    pub force: bool,
    /// Whether a board that is recording may be stopped.
    pub may_stop: bool,
    /// Whether autostart is switched off meanwhile, and restored afterwards: stepping on the board would erase all.
    pub protect: bool,
    /// What is to be noted in the file.
    pub note: Option<String>,
}

/// Carefully.
impl Default for FetchOptions {
    fn default() -> Self {
        Self { force: false, may_stop: false, protect: true, note: None }
    }
}

/// A recording that was fetched.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The file.
    pub path: PathBuf,
    /// How many samples it has.
    pub samples: u32,
    /// How many of them it had before.
    pub before: u32,
    /// How long it took.
    pub elapsed: Duration,
    /// Whether autostart was switched off and could not be switched on again.
    pub autostart_left_off: bool,
    /// How things were at the end.
    pub view: ClientView,
}

impl BoardLink {
    /// Fetches the recording of the board into a file, which at every instant has what came so far: whatever ends this, the
    /// next one goes on with the same file.
    pub fn fetch(&self, path: &Path, options: &FetchOptions, watch: &mut Watch<'_>) -> Result<Fetched, FetchError> {
        let start = Instant::now();
        let (target, held) = Target::open(path, options.force)?;
        let before = target.held().map_or(0, |(held, _)| held);
        let mut fetch = Fetch { link: self, options, target, info: None, status: None, sample_len: 0, left_off: false };
        fetch.sample_len = held.as_ref().map_or(0, |held| sample_len(&held.header));
        let (may_stop, protect) = (options.may_stop, options.protect);
        let job = Job::Fetch(session::FetchOptions { may_stop, protect, held });
        let done = talk(self, job, &mut |client, event| fetch.heed(client, event), watch);
        let Fetch { target, left_off, .. } = fetch;
        match done {
            Ok(view) => {
                let samples = target.held().map_or(0, |(held, _)| held);
                let path = path.to_owned();
                Ok(Fetched { path, samples, before, elapsed: start.elapsed(), autostart_left_off: left_off, view })
            }
            Err(Ended::Fetch(error)) => {
                target.discard_if_empty();
                Err(error)
            }
            Err(Ended::Link(error)) => {
                target.discard_if_empty();
                let (path, held) = (path.to_owned(), target.held());
                if held.is_some() {
                    target.sync()?;
                }
                Err(match (error, held) {
                    (LinkError::Failed(Failure::Changed(change)), Some((held, size))) => {
                        FetchError::Another { path, change, held, size }
                    }
                    (error, held) => FetchError::Link { error, path, held, autostart_left_off: left_off },
                })
            }
        }
    }
}

/// A fetch that is under way.
struct Fetch<'f> {
    link: &'f BoardLink,
    options: &'f FetchOptions,
    target: Target,
    info: Option<Vec<u8>>,
    status: Option<Vec<u8>>,
    sample_len: usize,
    left_off: bool,
}

/// Why a fetch has ended before its time.
enum Ended {
    Link(LinkError),
    Fetch(FetchError),
}

impl From<LinkError> for Ended {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
}

impl Fetch<'_> {
    fn heed(&mut self, client: &Client, event: Event) -> Result<(), Ended> {
        match event {
            Event::Identified { info } => self.info = Some(info),
            Event::Status { payload: Some(payload), .. } => self.status = Some(payload),
            Event::Header { payload } => {
                self.sample_len = sample_len(&payload);
                let size = Header::parse(&payload).map_or(0, |header| header.size);
                let front = Front {
                    meta: meta(self.link, self.options, &client.view()),
                    info: self.info.as_deref(),
                    status: self.status.as_deref(),
                    header: &payload,
                };
                self.target.begin(&front, size).map_err(Ended::Fetch)?;
            }
            Event::Samples { index, bytes } => {
                let count = bytes.len().checked_div(self.sample_len).and_then(|count| u32::try_from(count).ok());
                self.target.samples(index, &bytes, count.unwrap_or(0)).map_err(Ended::Fetch)?;
            }
            Event::Time(session::TimeRef { tick, host_us, uncertainty_us }) => {
                self.target.timeref(&TimeRef { tick, host_us, uncertainty_us }).map_err(Ended::Fetch)?;
            }
            Event::Complete { .. } => self.target.complete().map_err(Ended::Fetch)?,
            Event::Protected | Event::NotRestored => self.left_off = true,
            Event::Restored => self.left_off = false,
            _ => {}
        }
        Ok(())
    }
}

fn sample_len(header: &[u8]) -> usize {
    Header::parse(header).map_or(0, |header| header.sample_len())
}

/// What is known of where a recording is from.
fn meta(link: &BoardLink, options: &FetchOptions, view: &ClientView) -> Map<String, Value> {
    let scheme = link.address.speech.scheme();
    let firmware = view.firmware.as_ref();
    let named = firmware.map(|firmware| {
        let name = firmware.firmware.as_ref().map_or(String::new(), |name| format!(" {name}"));
        format!("{}.{:02}{name}", firmware.major, firmware.minor)
    });
    let pairs = [
        ("captured_at", Some(now())),
        ("tool", Some(concat!("logpose ", env!("CARGO_PKG_VERSION")).to_owned())),
        ("transport", Some(scheme.split_once('+').map_or(scheme, |(_, transport)| transport).to_owned())),
        ("address", Some(link.address.to_string())),
        ("firmware", named),
        ("hardware", firmware.map(|firmware| firmware.hardware.clone())),
        ("note", options.note.clone()),
    ];
    pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), Value::String(value?)))).collect()
}

/// The time of day, as RFC 3339 has it.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    rfc_3339(since)
}

fn rfc_3339(since: Duration) -> String {
    let seconds = since.as_secs();
    let (year, month, day) = civil(i64::try_from(seconds / DAY).unwrap_or(0));
    let (hour, minute, second) = (seconds % DAY / 3600, seconds % 3600 / 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

const DAY: u64 = 24 * 3600;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::rfc_3339;

    #[test]
    fn the_time_of_day_is_written_as_everybody_reads_it() {
        assert_eq!(rfc_3339(Duration::ZERO), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc_3339(Duration::from_millis(1_784_206_799_042)), "2026-07-16T12:59:59.042Z");
    }
}
