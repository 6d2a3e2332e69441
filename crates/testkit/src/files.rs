use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the repository.
#[must_use]
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/testkit lies two folders deep").into()
}

/// A file or folder below `fixtures/`.
#[must_use]
pub fn fixture(path: &str) -> PathBuf {
    workspace().join("fixtures").join(path)
}

/// The logs in a folder below `fixtures/` by name, in the order of their names. Dumps and texts about them are no logs.
/// The folder must not be empty.
#[must_use]
pub fn fixtures(folder: &str) -> Vec<(String, Vec<u8>)> {
    logs_in(&fixture(folder), |extension| !matches!(extension, "txt" | "md"))
}

/// A folder of the corpus of real logs, which is not part of the repository. `LOGPOSE_CORPUS` names the corpus; without
/// it that is `shared/corpus` beside the checkout.
///
/// A test that asks for it is marked `#[ignore = "needs the corpus of real logs"]`.
#[must_use]
pub fn corpus(folder: &str) -> PathBuf {
    let root = std::env::var_os("LOGPOSE_CORPUS").map_or_else(|| workspace().join("../shared/corpus"), PathBuf::from);
    let folder = root.join(folder);
    assert!(folder.is_dir(), "no corpus of real logs at {}; LOGPOSE_CORPUS names another folder", folder.display());
    folder
}

/// The files of the corpus with one of these extensions, in the order of their names.
#[must_use]
pub fn corpus_logs(folder: &str, extensions: &[&str]) -> Vec<(String, Vec<u8>)> {
    logs_in(&corpus(folder), |extension| extensions.contains(&extension))
}

/// The paths of the files in a folder of the corpus, in order.
#[must_use]
pub fn corpus_files(folder: &str) -> Vec<PathBuf> {
    files_in(&corpus(folder))
}

/// One file of the corpus.
#[must_use]
pub fn corpus_file(path: &str) -> Vec<u8> {
    let (folder, name) = path.split_once('/').expect("a folder of the corpus and a name");
    fs::read(corpus(folder).join(name)).expect(path)
}

/// The files in a folder, in order. It must not be empty.
#[must_use]
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    assert!(!files.is_empty(), "there is no file in {}", folder.display());
    files
}

fn logs_in(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<(String, Vec<u8>)> {
    let extension = |path: &PathBuf| wanted(path.extension().map_or("", |found| found.to_str().unwrap()));
    let name = |path: &Path| path.file_name().unwrap().to_str().expect("a name in UTF-8").to_owned();
    let files = files_in(folder).into_iter().filter(extension);
    let logs: Vec<_> = files.map(|path| (name(&path), fs::read(&path).unwrap())).collect();
    assert!(!logs.is_empty(), "no logs in {}", folder.display());
    logs
}
