use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A folder that tests make once and all of them read: below `below`, one for each build of the tests. A folder in a
/// `static` would be left behind by every process that runs a test. `fill` puts into it what it is to hold, if it does
/// not exist yet.
pub fn kept(below: &str, name: &str, fill: impl FnOnce(&Path)) -> PathBuf {
    let built = fs::metadata(std::env::current_exe().unwrap()).unwrap().modified().unwrap();
    let below = Path::new(below);
    let place = below.join(format!("{name}-{}", built.duration_since(UNIX_EPOCH).unwrap().as_nanos()));
    if place.exists() {
        return place;
    }
    fs::create_dir_all(below).unwrap();
    for entry in fs::read_dir(below).unwrap().flatten() {
        // That of an earlier build.
        if entry.file_name().to_string_lossy().starts_with(&format!("{name}-")) && entry.path() != place {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let made = tempfile::tempdir_in(below).unwrap();
    fill(made.path());
    // Another process may have been faster: then this one is let go.
    if fs::rename(made.path(), &place).is_ok() {
        let _ = made.keep();
    }
    place
}
