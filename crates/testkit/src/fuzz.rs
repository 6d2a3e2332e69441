use std::fs;
use std::path::Path;

use crate::fixture;

/// A fuzz target: its name, and the function that it feeds.
pub type Target = (&'static str, fn(&[u8]));

/// Feeds each function every input that once made its fuzz target fail: `fuzz/run.sh` puts them into
/// `fixtures/fuzz/<target>`. It is enough that nothing panics.
pub fn check_crashes(targets: &[Target]) {
    for (name, check) in targets {
        feed(&fixture("fuzz").join(name), check);
    }
}

/// Gives every file of a folder to `check`; most targets have never failed and have no folder. Returns how many there were.
fn feed(folder: &Path, check: impl Fn(&[u8])) -> usize {
    let files = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let check = |path: std::path::PathBuf| {
        println!("{}", path.display()); // shown if the next line panics
        check(&fs::read(path).unwrap());
    };
    files.map(check).count()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;
    use std::path::Path;

    use crate::{files_in, fixture, workspace};

    #[test]
    fn a_crash_that_is_put_there_is_fed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("crash-0123"), b"one").unwrap();
        fs::write(dir.path().join("crash-4567"), b"two").unwrap();
        let seen = RefCell::new(Vec::new());
        assert_eq!(super::feed(dir.path(), |input| seen.borrow_mut().push(input.to_vec())), 2);
        let mut seen = seen.into_inner();
        seen.sort();
        assert_eq!(seen, [b"one".to_vec(), b"two".to_vec()]);
        assert_eq!(super::feed(&dir.path().join("missing"), |_| panic!("there is nothing")), 0);
    }

    /// Every target is named by a test that feeds its crashes to the same function.
    #[test]
    fn every_fuzz_target_has_a_test_that_reads_its_crashes() {
        let mut tests = String::new();
        for group in ["crates", "dialects"] {
            for entry in fs::read_dir(workspace().join(group)).unwrap() {
                tests += &fs::read_to_string(entry.unwrap().path().join("tests/it/crashes.rs")).unwrap_or_default();
            }
        }
        let targets = files_in(&workspace().join("fuzz/fuzz_targets"));
        let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let targets: Vec<String> = targets.iter().map(|path| stem(path)).collect();
        for target in &targets {
            assert!(tests.contains(&format!("(\"{target}\", ")), "no tests/it/crashes.rs names {target}");
        }
        assert!(targets.len() >= 29, "{targets:?}");
        // A folder of crashes that no target has would be read by nobody.
        for entry in fs::read_dir(fixture("fuzz")).into_iter().flatten() {
            let path = entry.unwrap().path();
            assert!(!path.is_dir() || targets.contains(&stem(&path)), "{} is no target", path.display());
        }
    }
}
