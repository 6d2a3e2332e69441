use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use logpose_live::{Progress, SourceProgress};

use super::Sources;
use crate::render::live::Named;
use crate::screen::{Notes, Screen};

/// Live status: one updating line on a terminal, JSON lines for programs, and events as notes.
pub(in crate::commands) struct Ticker {
    bar: Option<ProgressBar>,
    notes: Notes,
    pub(in crate::commands) json: bool,
    next: Cell<Instant>,
}

impl Ticker {
    pub(in crate::commands) fn new(screen: &Screen, json: bool) -> Self {
        let wanted = !json && !screen.notes.quiet && io::stderr().is_terminal();
        let bar = wanted.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        Self { bar, notes: screen.notes, json, next: Cell::new(Instant::now()) }
    }

    /// Whether the status is due.
    pub(in crate::commands) fn is_due(&self) -> bool {
        let every = if self.json { Duration::from_secs(1) } else { Duration::from_millis(100) };
        let due = (self.json || self.bar.is_some()) && Instant::now() >= self.next.get();
        if due {
            self.next.set(Instant::now() + every);
        }
        due
    }

    /// Updates the status line.
    pub(in crate::commands) fn show(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text);
            bar.tick();
        }
    }

    /// Prints an event that stays on the screen.
    pub(in crate::commands) fn event(&self, word: &str, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| self.notes.note(word, text)),
            None => self.notes.note(word, text),
        }
    }

    /// Clears the status line.
    pub(in crate::commands) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Whether the status line is visible on a terminal.
    pub(in crate::commands) fn is_drawn(&self) -> bool {
        self.bar.is_some()
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Tracks the state of all sources.
pub(in crate::commands) struct SourcesTicker {
    names: Vec<String>,
    pub(in crate::commands) addresses: Vec<String>,
    tickers: Vec<SourceTicker>,
}

impl SourcesTicker {
    pub(in crate::commands) fn new(sources: &Sources) -> Self {
        let addresses: Vec<String> = sources.addresses.iter().map(ToString::to_string).collect();
        let tickers = addresses.iter().map(|_| SourceTicker::default()).collect();
        Self { names: sources.names.clone(), addresses, tickers }
    }

    /// Reports changes.
    pub(in crate::commands) fn take(&mut self, progress: &Progress, ticker: &Ticker) {
        for ((address, source), one) in self.addresses.iter().zip(&progress.sources).zip(&mut self.tickers) {
            one.take(address, source, ticker);
        }
        for problem in &progress.problems {
            ticker.event(problem.severity.name(), &problem.to_string());
        }
    }

    /// The sources' names, addresses and rates.
    pub(in crate::commands) fn named(&self) -> Vec<Named<'_>> {
        let named = self.names.iter().zip(&self.addresses).zip(&self.tickers);
        named.map(|((name, address), one)| (&**name, &**address, one.rate)).collect()
    }

    /// Samples per second of all sources.
    pub(in crate::commands) fn rate(&self) -> f64 {
        self.tickers.iter().map(|one| one.rate).sum()
    }
}

/// Reports once each time a source connects, disconnects or cannot be reached.
#[derive(Default)]
struct SourceTicker {
    connected: bool,
    trouble: Option<String>,
    samples: u64,
    since: Option<Instant>,
    /// Samples per second.
    rate: f64,
}

impl SourceTicker {
    fn take(&mut self, address: &str, source: &SourceProgress, ticker: &Ticker) {
        let connected = source.link.open > 0;
        if connected != self.connected || (!connected && source.link.trouble != self.trouble) {
            match (&source.link.peer, &source.link.trouble) {
                (Some(peer), _) if connected => ticker.event("connected", &format!("{address} at {peer}")),
                (_, Some(trouble)) if source.ended => ticker.event("ended", &format!("{address}: {trouble}")),
                (_, Some(trouble)) => ticker.event("waiting", &format!("{address}: {trouble}; retrying")),
                _ => {}
            }
            self.connected = connected;
            self.trouble.clone_from(&source.link.trouble);
        }
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        let seconds = now.duration_since(since).as_secs_f64();
        if seconds >= 1.0 {
            #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
            let samples = (source.samples - self.samples) as f64;
            (self.rate, self.samples, self.since) = (samples / seconds, source.samples, Some(now));
        }
    }
}
