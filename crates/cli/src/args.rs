//! Flags that several commands share.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use logpose::core::Lookup;
use logpose::{Cache, ClockMap, FORMATS, Filter, Format, Log, Moment, OpenOptions, Order, default_cache_folder};

use crate::failure::{self, Complaint, Outcome};
use crate::progress::Bar;
use crate::screen::{Notes, Screen};

/// Flags that every command accepts.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Common {
    /// Print only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print all problems and notes instead of the first ten
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use color: auto, always or never; NO_COLOR is respected
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub color: clap::ColorChoice,
}

/// Output as text for people or as JSON for programs.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputFormat {
    /// Output format
    #[arg(
        long,
        value_name = "FORMAT",
        conflicts_with = "json",
        value_enum,
        default_value = "text",
        hide_default_value = true
    )]
    format: TextOrJson,
    /// Shorthand for --format json
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum TextOrJson {
    Text,
    Json,
}

impl OutputFormat {
    pub(crate) fn json(&self) -> bool {
        self.json || self.format == TextOrJson::Json
    }
}

/// Flags that control how logs are opened and read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Read the input as this dialect instead of detecting it; `rlog:1` also sets the revision
    #[arg(long, value_name = "DIALECT", value_parser = from_parser())]
    pub from: Option<From>,
    /// RLOG: revision to assume if the file does not state it; `convert` also writes this revision
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub rlog_revision: Option<u8>,
    /// Number of threads [default: one per CPU]
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
    /// Memory limit for sorting and SQL, such as `512MB` or `2GiB`; beyond it logpose uses temporary files
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub limit_memory: Option<u64>,
    /// Maximum size of a compressed or piped file when unpacked [default: 1000 times its size, at least 1GiB; 16GiB from a pipe]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub limit_unpacked: Option<u64>,
    /// Neither use nor write index cache files; LOGPOSE_CACHE sets the cache folder
    #[arg(long)]
    pub no_cache: bool,
}

/// How long a query may take.
pub(crate) fn time_limit(text: &str) -> Result<Duration> {
    let nanos = logpose::parse_duration(text)?;
    let nanos = u64::try_from(nanos).ok().filter(|nanos| *nanos > 0);
    let nanos = nanos.ok_or_else(|| Complaint::usage(format!("--limit-time {text}: expected a duration above 0")))?;
    Ok(Duration::from_nanos(nanos))
}

fn parse_size(text: &str) -> Result<u64, String> {
    logpose::parse_bytes(text).map_err(|error| error.help.unwrap_or_default())
}

/// A dialect name with an optional revision, as in `rlog:2`.
#[derive(Clone, Debug)]
pub(crate) struct From {
    name: String,
    revision: Option<u8>,
}

fn from_parser() -> impl TypedValueParser<Value = From> {
    let infos = FORMATS.iter().map(Format::info).filter(|info| info.files.read);
    let names = infos.flat_map(|info| {
        // The parser wants names that last; they are few.
        let revision = |revision: &u8| -> &'static str { format!("{}:{revision}", info.name).leak() };
        std::iter::once(info.name).chain(info.revisions.iter().map(revision))
    });
    PossibleValuesParser::new(names).map(|text| match text.split_once(':') {
        Some((name, revision)) => From { name: name.to_owned(), revision: revision.parse().ok() },
        None => From { name: text, revision: None },
    })
}

impl Reading {
    pub(crate) fn options(&self) -> OpenOptions {
        let from = self.from.as_ref();
        let folder = if self.no_cache { None } else { default_cache_folder() };
        OpenOptions {
            from: from.map(|from| from.name.clone()),
            revision: from.and_then(|from| from.revision).or(self.rlog_revision),
            threads: self.threads,
            memory: self.limit_memory,
            unpacked: self.limit_unpacked,
            cache: folder.map_or(Cache::Off, Cache::Folder),
            ..OpenOptions::default()
        }
    }

    /// Opens one log.
    pub(crate) fn open(&self, path: &Path, notes: &Notes) -> Result<Log> {
        Ok(Log::open_with(path, &self.options(), &Bar::new(notes.quiet))?)
    }

    /// Opens one of several logs. If it cannot be read, the failure is reported and recorded in `worst`, and the
    /// others are still processed. A single log that cannot be read is an error.
    pub(crate) fn open_one_of(
        &self,
        path: &Path,
        of: usize,
        screen: &mut Screen,
        worst: &mut Outcome,
    ) -> Result<Option<Log>> {
        let mut options = self.options();
        if of > MANY {
            // Sample positions are indexed on demand, so that a whole season can be open at once.
            options.light_from = 0;
        }
        let opened = Log::open_with(path, &options, &Bar::new(screen.notes.quiet)).map_err(Into::into);
        one_of(opened, of, screen, worst)
    }

    /// Opens all logs or fails on the first that cannot be opened. The companion of a log that is already open is skipped.
    pub(crate) fn open_all(&self, paths: &[PathBuf], notes: &Notes) -> Result<Vec<Log>> {
        let mut logs: Vec<Log> = Vec::with_capacity(paths.len());
        for path in paths {
            if !logs.iter().any(|log| log.companion() == Some(path)) {
                logs.push(self.open(path, notes)?);
            }
        }
        Ok(logs)
    }
}

/// Turns the failure of one file out of several into a report, see [`Reading::open_one_of`].
pub(crate) fn one_of<T>(done: Result<T>, of: usize, screen: &mut Screen, worst: &mut Outcome) -> Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if of > 1 => {
            screen.out.flush()?;
            failure::report(&error, &screen.notes);
            *worst = Outcome::Failed;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// With more logs than this, each is indexed like a large one.
const MANY: usize = 64;

/// Order of samples.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum By {
    Time,
    File,
}

impl By {
    pub(crate) fn order(self) -> Order {
        match self {
            Self::Time => Order::Time,
            Self::File => Order::File,
        }
    }
}

/// Channel selection.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Channels {
    /// Include only matching channels; `*` matches any text, `re:` starts a regular expression; repeatable
    #[arg(short = 'y', long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Exclude matching channels; repeatable
    #[arg(short = 'n', long, value_name = "GLOB")]
    pub exclude: Vec<String>,
}

impl Channels {
    pub(crate) fn filter(&self) -> Result<Filter> {
        for pattern in self.include.iter().chain(&self.exclude).filter_map(|glob| glob.strip_prefix("re:")) {
            regex::Regex::new(pattern).map_err(|error| Complaint::pattern(pattern, &error))?;
        }
        Ok(Filter::new(&self.include, &self.exclude)?)
    }

    /// Fails if the filter matches no channel: that is usually a typo.
    pub(crate) fn check(&self, filter: &Filter, logs: &[Log]) -> Result<()> {
        let mut names = logs.iter().flat_map(|log| &log.index.channels).map(|c| &c.channel.name);
        if filter.is_empty() || names.clone().next().is_none() || names.any(|name| filter.accepts(name)) {
            return Ok(());
        }
        Err(self.nothing().into())
    }

    /// The error for a filter without matches.
    pub(crate) fn nothing(&self) -> Complaint {
        let asked = self.include.iter().map(|glob| format!("`{glob}`")).collect::<Vec<_>>().join(" or ");
        let message = if asked.is_empty() {
            "all channels are excluded".to_owned()
        } else {
            format!("no channel matches {asked}")
        };
        let word = self.include.first().map_or("", |glob| glob.trim_start_matches("re:").trim_matches(['*', '/']));
        let help = if word.is_empty()
            || self.include.iter().any(|glob| glob.starts_with("re:") || (glob.starts_with('*') && glob.ends_with('*')))
        {
            "run `logpose list FILE` to see the channel names".to_owned()
        } else {
            format!("patterns match the full name: try -y '*{word}*', or run `logpose list FILE`")
        };
        Complaint::failed("channel-not-found", message).help(help)
    }
}

/// Channel and time selection.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Selection {
    #[command(flatten)]
    pub channels: Channels,
    #[command(flatten)]
    pub moments: Moments,
}

/// Time selection.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Moments {
    /// Start time: `12.5`, `+3s` after the start, `-10s` before the end, `auto`, `teleop+1s`, RFC 3339; or a range: `10..20`, or `auto..teleop` from the start of one mode to the end of the other
    #[arg(short = 'S', long, value_name = "TIME", allow_hyphen_values = true)]
    pub start: Option<String>,
    /// End time, in the same forms
    #[arg(short = 'E', long, value_name = "TIME", allow_hyphen_values = true)]
    pub end: Option<String>,
}

impl Selection {
    /// The selection for each log.
    pub(crate) fn lookups(&self, logs: &[Log]) -> Result<Vec<Lookup>> {
        let filter = self.channels.filter()?;
        self.channels.check(&filter, logs)?;
        let (start, end) = self.moments.parse()?;
        logs.iter().map(|log| Ok(log.lookup(&filter, start.as_ref(), end.as_ref())?)).collect()
    }

    /// The selection for logs aligned to the clock of the first: times refer to the first log.
    pub(crate) fn lookups_on(&self, logs: &[Log], clocks: &[ClockMap]) -> Result<Vec<Lookup>> {
        let filter = self.channels.filter()?;
        self.channels.check(&filter, logs)?;
        let (start, end) = self.moments.parse()?;
        let start = start.zip(logs.first()).map(|(moment, log)| moment.as_start(log)).transpose()?;
        let end = end.zip(logs.first()).map(|(moment, log)| moment.as_end(log)).transpose()?;
        let one = |(log, clock): (&Log, &ClockMap)| {
            let start = start.map(|time| clock.back(time));
            let end = end.map(|time| clock.back(time.plus(1)).plus(-1));
            Ok(Lookup { start, end, ..log.lookup(&filter, None, None)? })
        };
        logs.iter().zip(clocks).map(one).collect()
    }
}

impl Moments {
    /// The first and last moment to include.
    pub(crate) fn parse(&self) -> Result<(Option<Moment>, Option<Moment>)> {
        let (mut start, mut end) = (None, None);
        if let Some(text) = &self.start {
            if text.contains("..") {
                if self.end.is_some() {
                    return Err(
                        Complaint::usage(format!("-E cannot be combined with a range in -S (-S {text})")).into()
                    );
                }
                (start, end) = Moment::parse_range(text).context("-S")?;
            } else {
                start = Some(text.parse::<Moment>().context("-S")?);
            }
        }
        if let Some(text) = &self.end {
            end = Some(text.parse::<Moment>().context("-E")?);
        }
        Ok((start, end))
    }
}

/// Expands patterns such as `logs/*.wpilog` to the matching files, sorted by name: cmd and PowerShell leave that to
/// the program. A path that exists and a pattern without matches stay as they are.
pub(crate) fn expand(paths: &mut Vec<PathBuf>) {
    *paths = paths.iter().flat_map(|path| expanded(path)).collect();
}

fn expanded(path: &Path) -> Vec<PathBuf> {
    if !is_pattern(path) || path.exists() {
        return vec![path.to_owned()];
    }
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        if !has_wildcard(part) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let text = file_case(part.as_os_str());
        let Ok(filter) = Filter::new(&[text], &[]) else { return vec![path.to_owned()] };
        found = found.iter().flat_map(|folder| matching(folder, &filter)).collect();
    }
    // `logs/*` means the files; folders count only if there are no files.
    if found.iter().any(|path| path.is_file()) {
        found.retain(|path| path.is_file());
    }
    found.retain(|path| path.exists());
    found.sort();
    if found.is_empty() { vec![path.to_owned()] } else { found }
}

/// Whether a path contains wildcards.
pub(crate) fn is_pattern(path: &Path) -> bool {
    path.components().any(has_wildcard)
}

/// The `?` in `\\?\C:` is not a wildcard.
fn has_wildcard(part: Component<'_>) -> bool {
    matches!(part, Component::Normal(text) if text.to_string_lossy().contains(['*', '?', '[', '{']))
}

fn matching(folder: &Path, filter: &Filter) -> Vec<PathBuf> {
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = std::fs::read_dir(listed) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    let names = names.filter(|name| {
        let name = file_case(name);
        filter.accepts(&name) && !name.starts_with('.')
    });
    names.map(|name| folder.join(name)).collect()
}

/// A file name in the form used for comparison: Windows ignores case.
fn file_case(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    if cfg!(windows) { name.to_lowercase() } else { name.into_owned() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{expanded, is_pattern};

    #[test]
    fn patterns_name_files_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("deep")).unwrap();
        for name in ["b.rlog", "a.rlog", "c.csv", ".hidden.rlog", "deep/d.rlog"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let names = |pattern: &str| -> Vec<String> {
            let found = expanded(&dir.path().join(pattern));
            found.iter().map(|path| path.strip_prefix(dir.path()).unwrap().display().to_string()).collect()
        };
        assert_eq!(names("*.rlog"), ["a.rlog", "b.rlog"]);
        assert_eq!(names("*/*.rlog"), [Path::new("deep").join("d.rlog").display().to_string()]);
        assert_eq!(names("d*p"), ["deep"]);
        assert_eq!(names("*"), ["a.rlog", "b.rlog", "c.csv"]);
        assert_eq!(names("*.RLOG"), if cfg!(windows) { vec!["a.rlog", "b.rlog"] } else { vec!["*.RLOG"] });
        assert_eq!(names("[ac].*"), ["a.rlog", "c.csv"]);
        assert_eq!((names("a.rlog"), names("*.wpilog")), (vec!["a.rlog".to_owned()], vec!["*.wpilog".to_owned()]));
    }

    #[test]
    fn patterns_are_told_from_names() {
        assert!(
            ["*.rlog", "logs/*.rlog", "log[12].rlog", "{a,b}.rlog", "a?.rlog"].iter().all(|p| is_pattern(p.as_ref()))
        );
        assert!(!["a.rlog", "-", "logs/a.rlog"].iter().any(|path| is_pattern(path.as_ref())));
        if cfg!(windows) {
            assert!(is_pattern(r"logs\*.rlog".as_ref()) && is_pattern(r"C:\logs\*.rlog".as_ref()));
            assert!(!is_pattern(r"\\?\C:\a.rlog".as_ref()));
        }
    }
}
