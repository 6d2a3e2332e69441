//! Flags that several commands share.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use logpose::core::Lookup;
use logpose::{Cache, ClockMap, Filter, Log, Moment, OpenOptions, Order, default_cache_folder};

use crate::failure::{self, Complaint, Outcome};
use crate::progress::Bar;
use crate::screen::{Notes, Screen};

/// Flags of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Common {
    /// Print only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print every problem and note, not only the first ten
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Use colour: auto, always or never; NO_COLOR is respected
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

/// Results for people or for programs.
#[derive(Args, Clone, Debug)]
pub(crate) struct Form {
    /// How to print the result
    #[arg(
        long,
        value_name = "FORMAT",
        conflicts_with = "json",
        value_enum,
        default_value = "text",
        hide_default_value = true
    )]
    format: TextOrJson,
    /// The same as --format json
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum TextOrJson {
    Text,
    Json,
}

impl Form {
    pub(crate) fn json(&self) -> bool {
        self.json || self.format == TextOrJson::Json
    }
}

/// How logs are read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Read as this dialect, whatever the first bytes say; `rlog:1` also names the revision to assume
    #[arg(long, value_name = "DIALECT", value_parser = from_parser())]
    pub from: Option<From>,
    /// RLOG: the revision to assume where the file does not tell it; `convert` also writes this one
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub rlog_revision: Option<u8>,
    /// How many threads to use [default: one per processor]
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
    /// Sort, and answer SQL, with about so much memory, such as `512MB` or `2GiB`, and temporary files beyond
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub limit_memory: Option<u64>,
    /// Neither use nor keep the index of a large log; LOGPOSE_CACHE names the folder for them
    #[arg(long)]
    pub no_cache: bool,
}

fn parse_size(text: &str) -> Result<u64, String> {
    logpose::parse_bytes(text).map_err(|error| error.help.unwrap_or_default())
}

/// A dialect, and perhaps its revision.
#[derive(Clone, Debug)]
pub(crate) struct From {
    name: String,
    revision: Option<u8>,
}

fn from_parser() -> impl TypedValueParser<Value = From> {
    let names: Vec<_> = logpose::readable()
        .flat_map(|name| if name == "rlog" { vec!["rlog", "rlog:1", "rlog:2"] } else { vec![name] })
        .collect();
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
            cache: folder.map_or(Cache::Off, Cache::Folder),
            ..OpenOptions::default()
        }
    }

    /// Opens one log.
    pub(crate) fn open(&self, path: &Path, notes: &Notes) -> Result<Log> {
        Ok(Log::open(path, &self.options(), &Bar::new(notes.quiet))?)
    }

    /// Opens one of several logs. One that cannot be read must not hide the others: it is reported, and the
    /// outcome is failure. One alone is an error.
    pub(crate) fn open_one_of(
        &self,
        path: &Path,
        of: usize,
        screen: &mut Screen,
        worst: &mut Outcome,
    ) -> Result<Option<Log>> {
        let mut options = self.options();
        if of > MANY {
            // The places of samples are found when they are needed, so that a season can be open at once.
            options.light_from = 0;
        }
        let opened = Log::open(path, &options, &Bar::new(screen.notes.quiet)).map_err(Into::into);
        one_of(opened, of, screen, worst)
    }

    /// Opens all, or says which one cannot be opened. What was opened together with another one is not opened again.
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

/// What came of one file of several, see [`Reading::open_one_of`].
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

/// From so many logs on they are indexed as large ones are.
const MANY: usize = 64;

/// In which order samples come.
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

/// Which channels.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Channels {
    /// Only channels that match; `*` matches any text, `re:` starts a regular expression; repeatable
    #[arg(short = 'y', long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// No channels that match; repeatable
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

    /// A filter that lets nothing through is a typing error more often than a wish.
    pub(crate) fn check(&self, filter: &Filter, logs: &[Log]) -> Result<()> {
        let mut names = logs.iter().flat_map(|log| &log.index.channels).map(|c| &c.channel.name);
        if filter.is_empty() || names.clone().next().is_none() || names.any(|name| filter.accepts(name)) {
            return Ok(());
        }
        Err(self.nothing().into())
    }

    /// What is said when nothing matches.
    pub(crate) fn nothing(&self) -> Complaint {
        let asked = self.include.iter().map(|glob| format!("`{glob}`")).collect::<Vec<_>>().join(" or ");
        let message = if asked.is_empty() {
            "every channel is excluded".to_owned()
        } else {
            format!("no channel matches {asked}")
        };
        let word = self.include.first().map_or("", |glob| glob.trim_start_matches("re:").trim_matches(['*', '/']));
        let help = if word.is_empty()
            || self.include.iter().any(|glob| glob.starts_with("re:") || (glob.starts_with('*') && glob.ends_with('*')))
        {
            "`logpose list FILE` shows the names".to_owned()
        } else {
            format!("a pattern must match the whole name: try -y '*{word}*', or see `logpose list FILE`")
        };
        Complaint::failed("no-channel", message).help(help)
    }
}

/// Which channels and which times.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Selection {
    #[command(flatten)]
    pub channels: Channels,
    #[command(flatten)]
    pub moments: Moments,
}

/// Which times.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Moments {
    /// From this time on: `12.5`, `+3s` after the start, `-10s` before the end, `auto`, `teleop+1s`, RFC 3339; or a range such as `10..20`, or `auto..teleop` for both modes whole
    #[arg(short = 'S', long, value_name = "TIME", allow_hyphen_values = true)]
    pub start: Option<String>,
    /// Up to this time
    #[arg(short = 'E', long, value_name = "TIME", allow_hyphen_values = true)]
    pub end: Option<String>,
}

impl Selection {
    /// What is selected of each log.
    pub(crate) fn lookups(&self, logs: &[Log]) -> Result<Vec<Lookup>> {
        let filter = self.channels.filter()?;
        self.channels.check(&filter, logs)?;
        let (start, end) = self.moments.parse()?;
        logs.iter().map(|log| Ok(log.lookup(&filter, start.as_ref(), end.as_ref())?)).collect()
    }

    /// What is selected of logs that are on the clock of the first: times are its times.
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
    /// The first and the last moment that are wanted.
    pub(crate) fn parse(&self) -> Result<(Option<Moment>, Option<Moment>)> {
        let (mut start, mut end) = (None, None);
        if let Some(text) = &self.start {
            if text.contains("..") {
                if self.end.is_some() {
                    return Err(
                        Complaint::usage(format!("-S {text} is a range already, so -E has nothing to say")).into()
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

/// Replaces patterns such as `logs/*.wpilog` by what they match, in the order of names: cmd and PowerShell leave that to
/// the program. A path that exists, or a pattern that matches nothing, stays as it is.
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
    // `logs/*` means the logs; folders are meant where there is nothing else.
    if found.iter().any(|path| path.is_file()) {
        found.retain(|path| path.is_file());
    }
    found.retain(|path| path.exists());
    found.sort();
    if found.is_empty() { vec![path.to_owned()] } else { found }
}

/// Whether a path has wildcards.
pub(crate) fn is_pattern(path: &Path) -> bool {
    path.components().any(has_wildcard)
}

/// The `?` in `\\?\C:` is no wildcard.
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

/// A name as it is compared with others: Windows ignores case.
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
