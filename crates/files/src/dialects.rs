use std::path::Path;

use logpose_bridges::{BRIDGES, Bridge};
use logpose_core::{Confidence, Dialect, FileDialect};

use crate::{Error, Wrapper};

/// Every dialect, in the order in which they are asked whether bytes are theirs. This is the only list.
pub static DIALECTS: &[&dyn Dialect] = &[
    &logpose_wpilog::Wpilog,
    &logpose_rlog::Rlog,
    &logpose_carla::Carla,
    &logpose_nt4::Nt4,
    &logpose_driverstation::DriverStation,
    &logpose_dslog::Dslog,
    &logpose_refloat::Refloat,
];

/// The dialect of that name.
#[must_use]
pub fn dialect(name: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.info().name.eq_ignore_ascii_case(name))
}

/// The dialect of that name, if it has files.
#[must_use]
pub fn file_dialect(name: &str) -> Option<&'static dyn FileDialect> {
    dialect(name)?.files()
}

/// What reads a file.
#[derive(Clone, Copy)]
pub enum Reader {
    /// A dialect, from the bytes of the file.
    Dialect(&'static dyn FileDialect),
    /// A bridge, from what it unpacks.
    Bridge(&'static Bridge),
}

impl Reader {
    /// The dialect, or the bridge as one.
    pub fn dialect(self) -> &'static dyn FileDialect {
        match self {
            Self::Dialect(dialect) => dialect,
            Self::Bridge(bridge) => bridge,
        }
    }

    pub(crate) fn is_bridge(self) -> bool {
        matches!(self, Self::Bridge(_))
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        readers().find(|reader| reader.dialect().info().name.eq_ignore_ascii_case(name))
    }

    pub(crate) fn by_extension(extension: &str) -> Option<Self> {
        readers().find(|reader| has_extension(reader.dialect(), extension))
    }

    /// What reads these bytes. The name of the file only breaks ties.
    pub fn detect(head: &[u8], extension: Option<&str>) -> Option<Self> {
        let named = |dialect: &dyn FileDialect| extension.is_some_and(|extension| has_extension(dialect, extension));
        let asked = readers().rev().map(|reader| {
            let dialect = reader.dialect();
            (dialect.sniff(head), named(dialect), reader)
        });
        let best = asked.max_by_key(|(confidence, named, _)| (*confidence, *named))?;
        (best.0 > Confidence::No).then_some(best.2)
    }
}

/// What reads the format of that name.
pub(crate) fn named(name: &str) -> Result<Reader, Error> {
    Reader::named(name).ok_or_else(|| {
        if let Some(live) = dialect(name) {
            return Error::unreadable(live.info().no_files());
        }
        let known: Vec<_> = readable().collect();
        Error::usage(format!("unknown dialect {name:?}")).with_help(format!("expected one of {}", known.join(", ")))
    })
}

/// The names of all that can be read out of files.
pub fn readable() -> impl Iterator<Item = &'static str> {
    readers().map(|reader| reader.dialect().info()).filter(|info| info.files.read).map(|info| info.name)
}

fn readers() -> impl DoubleEndedIterator<Item = Reader> {
    let dialects = DIALECTS.iter().filter_map(|dialect| dialect.files()).map(Reader::Dialect);
    dialects.chain(BRIDGES.iter().map(|bridge| Reader::Bridge(bridge)))
}

/// The dialect that writes files with this extension (without the dot).
pub(crate) fn by_extension(extension: &str) -> Option<&'static dyn FileDialect> {
    DIALECTS.iter().filter_map(|dialect| dialect.files()).find(|dialect| has_extension(*dialect, extension))
}

/// The extension that names the format: of `a.wpilog.gz` and `a.wpilogxz` it is `wpilog`.
pub fn extension(path: &Path) -> Option<String> {
    split_extension(path).0
}

/// The extension that names the format, and the wrapper that the name promises.
pub(crate) fn split_extension(path: &Path) -> (Option<String>, Option<Wrapper>) {
    let text = |path: &Path| path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let Some(last) = text(path) else { return (None, None) };
    if let Some(wrapper) = Wrapper::from_name(&last) {
        return (text(&path.with_extension("")), Some(wrapper));
    }
    match last.strip_suffix("xz").filter(|inner| by_extension(inner).is_some()) {
        Some(inner) => (Some(inner.to_owned()), Some(Wrapper::Xz)),
        None => (Some(last), None),
    }
}

fn has_extension(dialect: &dyn FileDialect, extension: &str) -> bool {
    dialect.info().extensions.iter().any(|known| known.eq_ignore_ascii_case(extension))
}
