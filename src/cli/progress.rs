//! Progress on a terminal, after a second, on standard error.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use looptree::explore::Statistics;
use std::time::{Duration, Instant};

/// How long nothing is shown.
const QUIET: Duration = Duration::from_secs(1);

/// A spinner or bar that appears only when the work takes longer than a second.
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    /// Starts the clock.
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        Progress { bar, start: Instant::now() }
    }

    /// Says what is being done.
    pub fn say(&self, message: impl Into<String>) {
        if self.bar.is_hidden() && self.start.elapsed() >= QUIET {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_message(message.into());
        self.bar.tick();
    }

    /// Says how far the search of a region is.
    pub fn of_search(&self, region: &str, s: &Statistics) {
        self.say(format!("{region}: {} variants judged, {} legal", s.judged, s.legal));
    }

    /// Shows that something is going on while variants are measured: rarely, so that it disturbs little.
    pub fn while_measuring<R>(&self, region: &str, shown: usize, measure: impl FnOnce() -> R) -> R {
        self.say(format!("{region}: measuring {shown} variants, in turns"));
        self.bar.enable_steady_tick(QUIET / 2);
        let result = measure();
        self.bar.disable_steady_tick();
        result
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
