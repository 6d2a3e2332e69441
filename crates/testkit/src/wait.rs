use std::time::{Duration, Instant};

/// Waits until something is found. It is asked for every few milliseconds: for what happens in another thread or process
/// that reports it in no other way. After 30 seconds the test fails.
pub fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "not so in {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The same for a condition.
pub fn until_so(what: &str, mut is_so: impl FnMut() -> bool) {
    until(what, || is_so().then_some(()));
}

const PATIENCE: Duration = Duration::from_secs(30);
