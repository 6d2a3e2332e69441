//! The formats that logpose knows, in one list, and what is asked of each.

mod writers;

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::path::Path;

use logpose_bridges::{self as bridges, Bridge};
use logpose_core::{Confidence, Dialect, Encode, EncodeOptions, FileDialect, Info, Lookup};

pub use writers::WriteOption;
pub(crate) use writers::{FileWriter, Written};

use crate::{ConvertOptions, Error, Feed, Log, Wrapper};

/// Every format, in the order in which they are asked whether bytes are theirs.
///
/// This is the only list. Detection, the names that commands take, conversion, recovery, recording, the viewer's export,
/// `logpose dialects`, the table in the README and the shared tests are made from it.
pub static FORMATS: &[Format] = &[
    Format::of(&logpose_wpilog::Wpilog),
    Format::of(&logpose_rlog::Rlog),
    Format::of(&logpose_carla::Carla),
    Format::of(&logpose_nt4::Nt4),
    Format::of(&logpose_driverstation::DriverStation),
    Format::of(&logpose_dslog::Dslog),
    Format::of(&logpose_refloat::Refloat),
    Format::PARQUET,
    Format::ARROW,
    Format::MCAP,
    Format::CSV,
    Format::NDJSON,
    Format::bridge(&bridges::PCAP, None),
    Format::bridge(&bridges::REFLOAT_CSV, Some(&writers::REFLOAT_CSV)),
    Format::bridge(&bridges::VESC_CSV, Some(&writers::VESC_CSV)),
    Format::bridge(&bridges::VESC_TOOL, None),
    Format::bridge(&bridges::FLOAT_CONTROL, None),
    Format::bridge(&bridges::FLOATY, None),
];

/// A format: what it is called, how its files are read and written, how it is spoken live.
#[derive(Clone, Copy)]
pub struct Format {
    dialect: &'static dyn Dialect,
    /// What unpacks a file, where `dialect` reads not the file but what comes out of it.
    bridge: Option<&'static Bridge>,
    writer: Option<&'static FileWriter>,
}

impl Format {
    /// Apache Parquet, a row for each sample; also what a folder with a file for each channel has in it.
    pub const PARQUET: Self = Self::bridge(&bridges::PARQUET, Some(&writers::PARQUET));
    /// An Apache Arrow file, a row for each sample.
    pub const ARROW: Self = Self::bridge(&bridges::ARROW, Some(&writers::ARROW));
    /// MCAP, for Foxglove and other viewers.
    pub const MCAP: Self = Self::bridge(&bridges::MCAP, Some(&writers::MCAP));
    /// Rows `time,channel,value`, or a table with [`ConvertOptions::wide`].
    pub const CSV: Self = Self::bridge(&bridges::CSV, Some(&writers::CSV));
    /// A JSON object on each line.
    pub const NDJSON: Self = Self::bridge(&bridges::NDJSON, Some(&writers::NDJSON));

    /// The format of a dialect, which may be your own: [`Formats::with`] makes it known when files are opened.
    #[must_use]
    pub const fn of(dialect: &'static dyn Dialect) -> Self {
        Self { dialect, bridge: None, writer: Some(&writers::DIALECT) }
    }

    const fn bridge(bridge: &'static Bridge, writer: Option<&'static FileWriter>) -> Self {
        Self { dialect: bridge, bridge: Some(bridge), writer }
    }

    /// The format of that name or extension, if it is one that files are written in.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Formats::default().for_writing(name)
    }

    /// The format and the compression that the name of a file to write asks for: `a.csv`, `a.rlog.gz`, `a.wpilogxz`.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<(Self, Option<Wrapper>)> {
        Formats::default().for_path(path)
    }

    /// The extension that names the format of a file: of `a.wpilog.gz` and `a.wpilogxz` it is `wpilog`.
    #[must_use]
    pub fn extension_of(path: &Path) -> Option<String> {
        split_extension(path).0
    }

    /// What it is called and what can be done with it.
    #[must_use]
    pub fn info(&self) -> &'static Info {
        self.dialect.info()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// What speaks it.
    #[must_use]
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    /// What reads its files, if it has any: of a bridge, what was unpacked from them.
    #[must_use]
    pub fn files(&self) -> Option<&'static dyn FileDialect> {
        self.dialect.files()
    }

    /// What unpacks its files, if it is a format of another field.
    #[must_use]
    pub fn unpacker(&self) -> Option<&'static Bridge> {
        self.bridge
    }

    /// What the names of its files end with, without a dot.
    #[must_use]
    pub fn extension(&self) -> &'static str {
        self.extensions().first().copied().unwrap_or(self.name())
    }

    /// The media type of its files.
    #[must_use]
    pub fn media_type(&self) -> &'static str {
        self.writer.map_or(writers::BYTES, |writer| writer.media_type)
    }

    /// Whether logpose writes whole logs as files of this format, with all channels and their types.
    #[must_use]
    pub fn is_log(&self) -> bool {
        self.info().files.write && !self.is_text()
    }

    /// Whether its files are text.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.writer.is_some_and(|writer| writer.is_text)
    }

    /// Whether an option has an effect on its files.
    #[must_use]
    pub fn takes(&self, option: WriteOption) -> bool {
        self.writer.is_some_and(|writer| writer.options.contains(&option))
    }

    /// The format that suits these logs better where nobody says more than the extension, and a sentence that says so: a
    /// recording of a Refloat board has a table of its own.
    #[must_use]
    pub fn suited<L: Borrow<Log>>(&self, logs: &[L], lookups: &[Lookup]) -> Option<(Self, &'static str)> {
        let ([_], Some(_), None) = (logs, self.writer, self.info().holds_only) else { return None };
        let extension = self.extension();
        let feed = Feed::new(logs, lookups.to_vec());
        let mut others = FORMATS.iter().filter(|other| has_extension(other.info(), extension));
        others.find_map(|other| {
            let suits = other.writer?.suits.as_ref()?;
            (suits.logs)(&feed).then_some((*other, suits.note))
        })
    }

    /// An encoder of samples, or why there is none.
    pub fn encoder(&self, options: &EncodeOptions) -> Result<Box<dyn Encode>, Error> {
        let encoder = self.files().and_then(|files| files.encoder(options));
        encoder.ok_or_else(|| match options.revision {
            Some(revision) if self.info().files.write => {
                Error::usage(format!("{} has no revision {revision}", self.info().title))
            }
            _ => self.not_written(),
        })
    }

    /// An encoder of a file that is whole at every moment while samples still come, or why there can be none. Adding
    /// `epoch_ns` to times gives Unix nanoseconds.
    pub fn recorder(&self, options: &ConvertOptions, epoch_ns: Option<i64>) -> Result<Box<dyn Encode>, Error> {
        (self.writer()?.record)(*self, options, epoch_ns)
    }

    /// Whether a recording begins with the wall-clock time, so that nothing can be written before that is known.
    #[must_use]
    pub fn begins_with_epoch(&self) -> bool {
        self.writer.is_some_and(|writer| writer.begins_with_epoch)
    }

    /// What stands at the end of a recording that is not finished, for readers that look there first: in front, what is
    /// replaced by what comes next, and the very last bytes, with which any file of the format may end.
    #[must_use]
    pub fn unfinished_end(&self) -> (&'static [u8], &'static [u8]) {
        self.writer.map_or((&[], &[]), |writer| writer.unfinished_end)
    }

    pub(crate) fn writer(&self) -> Result<&'static FileWriter, Error> {
        self.writer.ok_or_else(|| self.not_written())
    }

    fn not_written(&self) -> Error {
        Error::usage(format!("writing {} is not supported", self.info().title))
    }

    /// The extensions that ask for it as the format of a new file.
    fn extensions(&self) -> &'static [&'static str] {
        self.writer.and_then(|writer| writer.extensions).unwrap_or(self.info().extensions)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name()).finish()
    }
}

/// The formats that are looked for when a file is opened: those of logpose, and dialects of your own.
///
/// ```
/// use logpose_files::{Formats, OpenOptions};
/// # use logpose_wpilog::Wpilog as Toy;
///
/// let formats = Formats::default().with(&Toy);
/// let options = OpenOptions { formats, ..OpenOptions::default() };
/// ```
#[derive(Clone, Debug)]
pub struct Formats(Cow<'static, [Format]>);

impl Default for Formats {
    /// [`FORMATS`].
    fn default() -> Self {
        Self(Cow::Borrowed(FORMATS))
    }
}

impl Formats {
    /// One format alone.
    pub(crate) fn only(format: Format) -> Self {
        Self(Cow::Owned(vec![format]))
    }

    /// The same with a dialect that goes before all others.
    #[must_use]
    pub fn with(mut self, dialect: &'static dyn Dialect) -> Self {
        self.0.to_mut().insert(0, Format::of(dialect));
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Format> + '_ {
        self.0.iter().copied()
    }

    /// The names of those that can be read out of files.
    pub fn readable(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.iter().map(|format| format.info()).filter(|info| info.files.read).map(|info| info.name)
    }

    /// The format of that name, if it is one that files are read from.
    pub fn for_reading(&self, name: &str) -> Result<Format, Error> {
        let found = self.iter().find(|format| format.name().eq_ignore_ascii_case(name));
        match found {
            Some(format) if format.files().is_some() => Ok(format),
            Some(live) => Err(Error::from(live.info().no_files())),
            None => {
                let known: Vec<_> = self.readable().collect();
                let error = Error::usage(format!("unknown dialect {name:?}"));
                Err(error.with_help(format!("expected one of {}", known.join(", "))))
            }
        }
    }

    /// The format of that name or extension, if it is one that files are written in.
    #[must_use]
    pub fn for_writing(&self, name: &str) -> Option<Format> {
        let mut written = self.iter().filter(|format| format.writer.is_some() && format.files().is_some());
        written.find(|format| format.extensions().iter().chain([&format.name()]).any(|n| n.eq_ignore_ascii_case(name)))
    }

    /// The format and the compression that the name of a file to write asks for.
    #[must_use]
    pub fn for_path(&self, path: &Path) -> Option<(Format, Option<Wrapper>)> {
        let (extension, wrapper) = split_extension(path);
        Some((self.for_writing(&extension?)?, wrapper))
    }

    /// The format of bytes from the front of a file. The name of the file only breaks ties.
    #[must_use]
    pub fn detect(&self, head: &[u8], path: &Path) -> Option<Format> {
        let extension = Format::extension_of(path);
        let named = |info: &Info| extension.as_ref().is_some_and(|extension| has_extension(info, extension));
        let asked = self.iter().rev().filter_map(|format| {
            let confidence = format.files()?.sniff(head);
            (confidence > Confidence::No).then(|| (confidence, named(format.info()), format))
        });
        let best = asked.max_by_key(|(confidence, named, _)| (*confidence, *named))?;
        Some(best.2)
    }

    /// The format that is read from files of this name.
    pub(crate) fn by_extension(&self, path: &Path) -> Option<Format> {
        let extension = Format::extension_of(path)?;
        self.iter().find(|format| format.files().is_some() && has_extension(format.info(), &extension))
    }
}

/// The extension that names the format, and the wrapper that the name promises.
pub(crate) fn split_extension(path: &Path) -> (Option<String>, Option<Wrapper>) {
    let text = |path: &Path| path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let Some(last) = text(path) else { return (None, None) };
    if let Some(wrapper) = Wrapper::from_name(&last) {
        return (text(&path.with_extension("")), Some(wrapper));
    }
    let is_dialect =
        |inner: &&str| FORMATS.iter().any(|format| format.bridge.is_none() && has_extension(format.info(), inner));
    match last.strip_suffix("xz").filter(is_dialect) {
        Some(inner) => (Some(inner.to_owned()), Some(Wrapper::Xz)),
        None => (Some(last), None),
    }
}

fn has_extension(info: &Info, extension: &str) -> bool {
    info.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension))
}
