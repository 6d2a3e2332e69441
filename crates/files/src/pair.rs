//! The two files of a Driver Station's log, opened as one.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use logpose_core::{DecodeError, Problem, Problems, Severity};
use logpose_dslog::{Envelope, HEADER, Half, Header};

use crate::source::{Source, Spool};
use crate::{Error, Format, Progress, Wrapper};

/// Puts a file and its companion beside it in the place of the file; returns which file that was. A companion that is
/// not of the same log is a problem.
pub(crate) fn join(
    path: &Path,
    source: &mut Source,
    limit: Option<u64>,
    problems: &mut Problems,
    progress: &dyn Progress,
) -> Result<Option<PathBuf>, Error> {
    let (Ok(header), Some((half, other))) = (Header::of(&source.bytes), companion(path, &source.bytes)) else {
        return Ok(None);
    };
    let name = other.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut refuse = |why: String| {
        let message = format!("{name} is not opened with it: {why}");
        problems.push(Problem::general(Severity::Warning, "companion", message));
        Ok(None)
    };
    let mut found = match Source::open(&other, limit, progress) {
        Ok(found) => found,
        Err(error) => return refuse(error.to_string()),
    };
    match Header::of(&found.bytes) {
        Err(error) => return refuse(DecodeError::from(error).message),
        Ok(_) if half_of(&found.bytes, half.other()) != half.other() => {
            return refuse(format!("its contents are those of a .{} file", half.extension()));
        }
        Ok(theirs) => {
            if !are_one(&header, &theirs) {
                return refuse(format!("it starts at {}, this log at {}", theirs.start, header.start));
            }
        }
    }
    if let Some(problem) = found.problem.take() {
        problems.push(Problem { message: format!("{name}: {}", problem.message), ..problem });
    }
    let envelope = |bytes: &Source| -> io::Result<Spool> {
        let (log, events) = match half {
            Half::Log => (&bytes.bytes, &found.bytes),
            Half::Events => (&found.bytes, &bytes.bytes),
        };
        let mut front = Vec::new();
        Envelope { named: half, companion: name.as_bytes(), log, events }.emit_front(&mut front);
        let mut spool = Spool::default();
        [&front, &***log, &***events].into_iter().try_for_each(|part| spool.write_all(part))?;
        Ok(spool)
    };
    let joined = envelope(source).and_then(Spool::finish).map_err(|error| Error::reading(path, error))?;
    source.bytes = Arc::new(joined);
    source.file_len += found.file_len;
    source.stamp = None;
    Ok(Some(other))
}

/// Which half bytes are; a file without records is what its name says.
fn half_of(bytes: &[u8], named: Half) -> Half {
    if bytes.len() == HEADER { named } else { Half::of(bytes) }
}

/// Which half a file is, and its companion.
fn companion(path: &Path, bytes: &[u8]) -> Option<(Half, PathBuf)> {
    let (_, named) = split(path.file_name()?.to_str()?)?;
    let half = half_of(bytes, named);
    Some((half, beside(path, half.other())?))
}

/// The file beside another one that has its name and the extension of a half, perhaps wrapped.
pub fn beside(path: &Path, half: Half) -> Option<PathBuf> {
    let (stem, _) = split(path.file_name()?.to_str()?)?;
    let extension = half.extension();
    let usual = [extension.to_owned(), extension.to_ascii_uppercase()].into_iter().flat_map(|extension| {
        let wrapped = Wrapper::ALL.map(|wrapper| format!("{stem}.{extension}.{wrapper}"));
        [format!("{stem}.{extension}")].into_iter().chain(wrapped)
    });
    let mut usual = usual.map(|name| path.with_file_name(name)).filter(|other| other != path);
    usual.find(|other| other.is_file()).or_else(|| {
        // Any other case of the extension: only a listing of the folder shows it.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let names = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let fits = |name: &String| split(name).is_some_and(|(other, of)| other == stem && of == half);
        names.filter(fits).min().map(|name| path.with_file_name(name)).filter(|other| other != path)
    })
}

/// A name without the extension of one of the two files, and which it is.
pub fn split(name: &str) -> Option<(&str, Half)> {
    let inner = name.rsplit_once('.').filter(|(_, last)| Wrapper::from_name(last).is_some()).map(|(inner, _)| inner);
    let (stem, extension) = inner.unwrap_or(name).rsplit_once('.')?;
    let half = [Half::Log, Half::Events].into_iter().find(|half| half.extension().eq_ignore_ascii_case(extension))?;
    Some((stem, half))
}

/// Whether logs of a format can come in pairs.
pub(crate) fn has_pairs(format: Format) -> bool {
    format.name() == logpose_dslog::NAME
}

/// Whether two files are of one log: they begin at the same time.
pub fn are_one(a: &Header, b: &Header) -> bool {
    a.start.unix_ns().saturating_sub(b.start.unix_ns()).unsigned_abs() <= APART_NS
}

/// How far the starts of a pair may be apart.
const APART_NS: u64 = 2_000_000_000;
