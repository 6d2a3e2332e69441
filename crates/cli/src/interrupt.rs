//! Ctrl-C: nothing half-written stays behind.
//!
//! A command that writes a file does so under a temporary name which is removed when its owner is dropped. So
//! while a file is being written, Ctrl-C only raises a flag; the next look at it unwinds the command, which
//! drops the file. Elsewhere there is nothing to tidy up and the process ends at once.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

static RAISED: AtomicBool = AtomicBool::new(false);
static WRITING: AtomicBool = AtomicBool::new(false);
static AWAITED: AtomicBool = AtomicBool::new(false);
static OUTPUT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The exit code for it.
pub(crate) const CODE: u8 = 130;

/// What a command is unwound with.
struct Interrupted;

/// Listens from now on.
pub(crate) fn listen() {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !RAISED.load(Ordering::SeqCst) {
            hook(info);
        }
    }));
    // Without the handler Ctrl-C still ends the process, only less tidily.
    let _ = ctrlc::set_handler(|| {
        let second = RAISED.swap(true, Ordering::SeqCst);
        if !second && AWAITED.load(Ordering::SeqCst) {
            return;
        }
        if !second && WRITING.load(Ordering::SeqCst) {
            // The command is usually gone before this time is over, and the process with it.
            thread::sleep(PATIENCE);
        }
        if let Some(output) = OUTPUT.try_lock().ok().and_then(|mut output| output.take()) {
            sweep(&output);
        }
        std::process::exit(CODE.into());
    });
}

/// From now on the first Ctrl-C is how the command is told to end well: it asks [`is_raised`]. A second one ends the process.
pub(crate) fn await_it() {
    AWAITED.store(true, Ordering::SeqCst);
}

/// From now on Ctrl-C ends the process again, as while somebody is asked something.
pub(crate) fn await_no_more() {
    AWAITED.store(false, Ordering::SeqCst);
}

/// Ends the command here, as interrupted: it was told to end, and has tidied up.
pub(crate) fn unwind() -> ! {
    panic::resume_unwind(Box::new(Interrupted))
}

/// Whether Ctrl-C was pressed.
pub(crate) fn is_raised() -> bool {
    RAISED.load(Ordering::SeqCst)
}

/// Ends the command here if Ctrl-C was pressed.
pub(crate) fn check() {
    if RAISED.load(Ordering::Relaxed) && WRITING.load(Ordering::Relaxed) {
        unwind();
    }
}

/// Runs what writes a file, so that Ctrl-C unwinds it.
pub(crate) fn while_writing<T>(output: &Path, work: impl FnOnce() -> T) -> T {
    let remember = |path| OUTPUT.lock().map(|mut output| *output = path).unwrap_or_default();
    remember(Some(output.to_owned()));
    WRITING.store(true, Ordering::SeqCst);
    let done = work();
    WRITING.store(false, Ordering::SeqCst);
    remember(None);
    if RAISED.load(Ordering::SeqCst) {
        // It came too late to stop anything, but it was pressed.
        unwind();
    }
    done
}

/// Removes what a command left that did not look at the flag in time: `.NAME.XXXXXX.part` beside the output.
fn sweep(output: &Path) {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        let between = found.strip_prefix(&format!(".{name}.")).and_then(|rest| rest.strip_suffix(".part"));
        if between.is_some_and(|random| random.len() == 6) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// How long a command may take to notice.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs a command; `None` if it was interrupted.
pub(crate) fn catch<T>(command: impl FnOnce() -> T) -> Option<T> {
    match panic::catch_unwind(AssertUnwindSafe(command)) {
        Ok(done) => Some(done),
        // A thread that is unwound shows up as another panic in the one that waits for it.
        Err(payload) if payload.is::<Interrupted>() || RAISED.load(Ordering::SeqCst) => None,
        Err(payload) => panic::resume_unwind(payload),
    }
}
