use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The names of a recording's files: all are made from the one that was asked for.
#[derive(Clone, Debug)]
pub(super) struct Names {
    path: PathBuf,
    stem: OsString,
    extension: OsString,
}

impl Names {
    pub(super) fn new(path: &Path) -> Self {
        let stem = path.file_stem().unwrap_or_default().to_owned();
        Self { path: path.to_owned(), stem, extension: path.extension().unwrap_or_default().to_owned() }
    }

    /// The name that was asked for.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where all files lie.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// A further file: `match.wpilog` and `_002` make `match_002.wpilog`.
    pub(super) fn with(&self, tail: &str) -> PathBuf {
        let mut name = self.stem.clone();
        name.push(tail);
        name.push(".");
        name.push(&self.extension);
        self.path.with_file_name(name)
    }

    /// The hidden name of a file that will replace another one; `attempt` makes it a new one.
    pub(super) fn hidden(&self, attempt: u32) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(self.path.file_name().unwrap_or_default());
        name.push(format!(".{}-{attempt}.part", std::process::id()));
        self.path.with_file_name(name)
    }

    /// The number in the name of a file that was made by [`Names::with`] with `tail` and a number.
    pub(super) fn number(&self, name: &OsStr, tail: &str) -> Option<u32> {
        let rest = name.as_encoded_bytes().strip_prefix(self.stem.as_encoded_bytes())?.strip_prefix(tail.as_bytes())?;
        let digits = rest.strip_suffix(self.extension.as_encoded_bytes())?.strip_suffix(b".")?;
        digits.iter().all(u8::is_ascii_digit).then_some(())?;
        str::from_utf8(digits).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::Names;

    #[test]
    fn further_files_lie_beside_the_first() {
        let names = Names::new(Path::new("logs/match.v2.wpilog"));
        assert_eq!(names.with("_002"), Path::new("logs/match.v2_002.wpilog"));
        assert_eq!(names.folder(), Path::new("logs"));
        assert_eq!(Names::new(Path::new("a.rlog")).folder(), Path::new("."));
        assert_eq!(Names::new(Path::new("a.rlog")).with(".ring-0001"), Path::new("a.ring-0001.rlog"));
    }

    #[test]
    fn numbers_come_back_from_names() {
        let names = Names::new(Path::new("logs/match.wpilog"));
        let cases = [
            ("match.ring-0007.wpilog", Some(7)),
            ("match.ring-12345.wpilog", Some(12345)),
            ("match.ring-.wpilog", None),
            ("match.ring-+7.wpilog", None),
            ("match.ring-0007.rlog", None),
            ("other.ring-0007.wpilog", None),
            ("match.wpilog", None),
            ("match.ring-0007wpilog", None),
        ];
        for (name, number) in cases {
            assert_eq!(names.number(OsStr::new(name), ".ring-"), number, "{name}");
        }
    }
}
