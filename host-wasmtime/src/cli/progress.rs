//! A bar on a terminal, when something takes long.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// How far something is. Nothing is left of it on the terminal when it goes.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    total: usize,
    /// What is counted, in the plural.
    noun: &'static str,
    done: AtomicUsize,
    start: Instant,
}

impl Progress {
    pub(crate) fn new(total: usize, noun: &'static str) -> Self {
        Self { bar: ProgressBar::hidden(), total, noun, done: AtomicUsize::new(0), start: Instant::now() }
    }

    /// One more is done.
    pub(crate) fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if self.start.elapsed() < PATIENCE {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_length(u64::try_from(self.total).unwrap_or(u64::MAX));
            let template = format!("{{bar:40}} {{pos}}/{{len}} {}, {{eta}} left", self.noun);
            if let Ok(style) = ProgressStyle::with_template(&template) {
                self.bar.set_style(style);
            }
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
