//! Every file in `fixtures/`, sound or broken, through every command that reads.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{SHARED, code, logpose, stderr};

/// Logs of one kind (`valid` or `corrupt`) of every dialect; none where the crate is tested outside the repository.
pub(crate) fn fixtures(kind: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let Ok(dialects) = fs::read_dir(root) else { return Vec::new() };
    let folders = dialects.map(|entry| entry.unwrap().path().join(kind)).filter(|folder| folder.is_dir());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let is_log = |path: &PathBuf| !path.extension().is_some_and(|extension| extension == "txt" || extension == "md");
    let files: Vec<PathBuf> = files.filter(is_log).collect();
    assert!(!files.is_empty(), "no {kind} fixtures");
    files
}

fn run(args: &[&str], file: &Path) -> (i32, String) {
    let output = logpose(&SHARED).args(args).arg(file).output().unwrap();
    (code(&output), stderr(&output))
}

#[test]
fn every_command_ends_well_on_every_fixture() {
    let commands: [&[&str]; 10] = [
        &["info"],
        &["list"],
        &["list", "--schemas"],
        &["cat"],
        &["cat", "--json"],
        &["dump"],
        &["du"],
        &["grep", "a"],
        &["stats"],
        &["find", "true"],
    ];
    for (kind, fine) in [("valid", &[0, 4][..]), ("corrupt", &[0, 1, 3, 4])] {
        for file in fixtures(kind) {
            for command in commands {
                let (exit, said) = run(command, &file);
                assert!(
                    fine.contains(&exit) && !said.contains("panicked"),
                    "{command:?} {}: exit {exit}\n{said}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn what_reads_without_damage_is_sound_to_the_doctor_and_lost_by_no_recovery() {
    let out = tempfile::tempdir().unwrap();
    let own = ["match.wpilog", "pit.wpilog", "over-wide.wpilog", "unsorted.wpilog"].map(|name| SHARED.join(name));
    for file in fixtures("valid").into_iter().chain(fixtures("corrupt")).chain(own) {
        if run(&["info"], &file).0 != 0 {
            continue;
        }
        assert_eq!(run(&["doctor"], &file).0, 0, "doctor {}", file.display());
        let saved = out.path().join("saved");
        let (exit, said) = run(&["recover", "--force", "-o", saved.to_str().unwrap()], &file);
        assert_eq!(exit, 0, "recover {}: {said}", file.display());
    }
}
