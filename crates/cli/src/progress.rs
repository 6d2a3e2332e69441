//! Progress of long tasks on stderr, if it is a terminal.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use logpose::Progress;

use crate::interrupt;

/// A progress bar that appears only for long tasks.
pub(crate) struct Bar {
    wanted: bool,
    task: Mutex<Option<Task>>,
}

struct Task {
    what: String,
    bytes: u64,
    begun: Instant,
    bar: Option<ProgressBar>,
}

/// Shorter tasks show no bar.
const PATIENCE: Duration = Duration::from_millis(400);

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { wanted: !quiet && io::stderr().is_terminal(), task: Mutex::new(None) }
    }

    fn with(&self, act: impl FnOnce(&mut Option<Task>)) {
        act(&mut self.task.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Progress for Bar {
    fn begin(&self, what: &str, bytes: u64) {
        interrupt::check();
        if self.wanted {
            self.with(|task| *task = Some(Task { what: what.to_owned(), bytes, begun: Instant::now(), bar: None }));
        }
    }

    fn at(&self, bytes: u64) {
        interrupt::check();
        if !self.wanted {
            return;
        }
        self.with(|task| {
            let Some(task) = task else { return };
            if task.bar.is_none() && task.begun.elapsed() > PATIENCE {
                task.bar = Some(drawn(task));
            }
            if let Some(bar) = &task.bar {
                bar.set_position(bytes);
            }
        });
    }

    fn end(&self) {
        self.with(|task| {
            if let Some(bar) = task.take().and_then(|task| task.bar) {
                bar.finish_and_clear();
            }
        });
    }
}

fn drawn(task: &Task) -> ProgressBar {
    let known =
        "{msg} {bar:24} {percent:>3} %  {decimal_bytes} of {decimal_total_bytes}  {decimal_bytes_per_sec}  {eta} left";
    let unknown = "{msg} {spinner} {decimal_bytes}  {decimal_bytes_per_sec}";
    let template = if task.bytes > 0 { known } else { unknown };
    let bar = ProgressBar::with_draw_target(Some(task.bytes), ProgressDrawTarget::stderr_with_hz(10))
        .with_elapsed(task.begun.elapsed());
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(task.what.clone());
    bar
}
