use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use logpose_core::{Confidence, FileDialect, Severity};

use crate::{check_dump_from_anywhere, dump, fixture, fixtures, index};

/// Whether the files that tests compare with are to be rewritten: `LOGPOSE_BLESS=1`, which `make bless` sets. It has
/// this one meaning everywhere: fixtures, dumps, transcripts, answers of the API, the table in the README.
#[must_use]
pub fn bless() -> bool {
    std::env::var_os("LOGPOSE_BLESS").is_some_and(|value| value == "1")
}

/// Asserts that a file holds these bytes, or writes them if that is asked for.
pub fn golden(path: &Path, found: impl AsRef<[u8]>) {
    if let Some(difference) = differs(path, found) {
        panic!("{difference}");
    }
}

/// The same without a panic: what is different, for tests that list all differences.
#[must_use]
pub fn differs(path: &Path, found: impl AsRef<[u8]>) -> Option<String> {
    let found = found.as_ref();
    let expected = fs::read(path);
    if expected.as_deref().is_ok_and(|expected| expected == found) {
        return None;
    }
    if bless() {
        fs::create_dir_all(path.parent().expect("it is in a folder")).unwrap();
        fs::write(path, found).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return None;
    }
    let expected = expected.unwrap_or_default();
    let (found, expected) = (String::from_utf8_lossy(found), String::from_utf8_lossy(&expected));
    let same = found.lines().zip(expected.lines()).take_while(|(found, expected)| found == expected).count();
    let line = |text: &str| text.lines().nth(same).map_or_else(|| "(ends)".to_owned(), |line| format!("{line:?}"));
    Some(format!(
        "{}, line {}:\n  found    {}\n  expected {}\n`make bless` accepts what was found",
        path.display(),
        same + 1,
        line(&found),
        line(&expected)
    ))
}

/// The fixtures of one dialect, made by code.
#[derive(Clone, Copy)]
pub struct Fixtures {
    /// The folder below `fixtures/`.
    pub folder: &'static str,
    /// Makes every file: its path below the folder, and its bytes.
    pub make: fn() -> Vec<(String, Vec<u8>)>,
}

impl Fixtures {
    /// Asserts that the files are what the code makes, and that they are small.
    pub fn check(&self) {
        let made = (self.make)();
        made.iter().for_each(|(name, bytes)| golden(&fixture(self.folder).join(name), bytes));
        let total: usize = made.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(total < 128 << 10, "fixtures are small, those of {} have {total} bytes", self.folder);
    }

    /// The logs in `valid` or `corrupt`, those of the fuzzer among them. Where they are to be rewritten, that happens
    /// before any is read.
    #[must_use]
    pub fn logs(&self, kind: &str) -> Vec<(String, Vec<u8>)> {
        static WRITTEN: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
        if bless() && WRITTEN.lock().unwrap().insert(self.folder) {
            self.check();
        }
        fixtures(&format!("{}/{kind}", self.folder))
    }

    /// One of the logs.
    #[must_use]
    pub fn log(&self, kind: &str, name: &str) -> Vec<u8> {
        self.logs(kind).into_iter().find(|(found, _)| found == name).expect(name).1
    }

    /// Asserts that the README beside the fixtures names each of them, itself or by a pattern such as `cut-*.log`.
    pub fn check_readme(&self) {
        let path = fixture(self.folder).join("README.md");
        let readme = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let names: Vec<&str> = readme.split('`').skip(1).step_by(2).collect();
        for (name, _) in ["valid", "corrupt"].into_iter().flat_map(|kind| self.logs(kind)) {
            let is_meant = |pattern: &&str| match pattern.split_once('*') {
                Some((front, back)) => name.starts_with(front) && name.ends_with(back),
                None => **pattern == name,
            };
            assert!(names.iter().any(is_meant) || is_crash(&name), "{} does not name {name}", path.display());
        }
    }

    /// Asserts that the dialect recognises every valid log and finds no damage in it, and that its records are those of
    /// the dump beside it.
    pub fn check_valid(&self, dialect: &dyn FileDialect) {
        for (name, log) in self.logs("valid") {
            golden(&fixture(self.folder).join("valid").join(format!("{name}.txt")), dump(dialect, &log));
            assert_eq!(dialect.sniff(&log), Confidence::Yes, "{name}");
            let (_, problems) = index(dialect, &log);
            assert_ne!(problems.worst(), Some(Severity::Damage), "{name}: {problems:?}");
        }
    }

    /// Asserts that dumps of every valid log can begin at any record.
    pub fn check_dumps_from_anywhere(&self, dialect: &dyn FileDialect) {
        for (name, log) in self.logs("valid") {
            println!("{name}"); // shown if the next line panics
            check_dump_from_anywhere(dialect, &log);
        }
    }
}

/// Whether a file among the fixtures is an input that once made a fuzz target fail.
#[must_use]
pub fn is_crash(name: &str) -> bool {
    name.starts_with("crash-")
}
