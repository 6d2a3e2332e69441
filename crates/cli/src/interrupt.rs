//! Ctrl-C leaves no half-written file behind.
//!
//! A command writes its file under a temporary name and removes it when the writer is dropped. So while a file is
//! being written, Ctrl-C only sets a flag; the next check of the flag unwinds the command, which drops the file. At
//! any other time there is nothing to clean up and the process exits at once.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

static RAISED: AtomicBool = AtomicBool::new(false);
static WRITING: AtomicBool = AtomicBool::new(false);
static AWAITED: AtomicBool = AtomicBool::new(false);
static OUTPUT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The exit code after Ctrl-C, by shell convention 128 + SIGINT.
pub(crate) const CODE: u8 = 130;

/// The panic payload that unwinds a command.
struct Interrupted;

/// Has writing beyond a file size limit (`ulimit -f`) fail like writing to a full disk. By default the system ends the
/// process, which would leave its temporary files behind.
#[cfg(unix)]
pub(crate) fn survive_file_size_limit() {
    // A handler is enough, whatever it does. Without it only that limit is met less gracefully.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Installs the Ctrl-C handler and silences the panic hook while unwinding.
pub(crate) fn listen() {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !RAISED.load(Ordering::SeqCst) {
            hook(info);
        }
    }));
    // Without the handler Ctrl-C still ends the process, only without cleanup.
    let _ = ctrlc::set_handler(|| {
        let second = RAISED.swap(true, Ordering::SeqCst);
        if !second && AWAITED.load(Ordering::SeqCst) {
            return;
        }
        if !second && WRITING.load(Ordering::SeqCst) {
            // The command usually exits before this sleep ends, and the process with it.
            thread::sleep(PATIENCE);
        }
        if let Some(output) = OUTPUT.try_lock().ok().and_then(|mut output| output.take()) {
            sweep(&output);
        }
        std::process::exit(CODE.into());
    });
}

/// From now on the first Ctrl-C asks the command to stop cleanly: it polls [`is_raised`]. A second one ends the process.
pub(crate) fn await_it() {
    AWAITED.store(true, Ordering::SeqCst);
}

/// From now on Ctrl-C ends the process again, for example during a yes/no question.
pub(crate) fn await_no_more() {
    AWAITED.store(false, Ordering::SeqCst);
}

/// Ends the command here as interrupted, after it has cleaned up.
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

/// Runs `work`, which writes a file, so that Ctrl-C unwinds it.
pub(crate) fn while_writing<T>(output: &Path, work: impl FnOnce() -> T) -> T {
    let remember = |path| OUTPUT.lock().map(|mut output| *output = path).unwrap_or_default();
    remember(Some(output.to_owned()));
    WRITING.store(true, Ordering::SeqCst);
    let done = work();
    WRITING.store(false, Ordering::SeqCst);
    remember(None);
    if RAISED.load(Ordering::SeqCst) {
        // Too late to stop anything, but the exit code must show it.
        unwind();
    }
    done
}

/// Removes the temporary file `.NAME.XXXXXX.part` of a command that did not check the flag in time.
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

/// How long a command may take to check the flag.
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
