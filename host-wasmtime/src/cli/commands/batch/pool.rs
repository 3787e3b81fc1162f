//! Threads with a component each. Answers come out in the order of the lines, and no more lines are in memory than a window holds.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use anyhow::{Result, anyhow};
use apportion::Batch;
use apportion_core::wire;

use super::lines::Line;

/// Who answers a line.
pub(super) enum Answerer {
    Component(Box<Batch>),
    /// The same code outside of the component, with the defaults of the batch.
    Native(String),
}

impl Answerer {
    pub(super) fn answer(&mut self, index: u64, line: Line) -> String {
        match (line.text(), self) {
            (Ok(text), Self::Component(batch)) => batch.answer(&text, index),
            (Ok(text), Self::Native(defaults)) => wire::batch::answer(&text, index, defaults).to_string(),
            (Err((id, finding)), _) => wire::batch::failed(index, id, &[finding]).to_string(),
        }
    }

    fn stops(&self) -> u64 {
        match self {
            Self::Component(batch) => batch.stops(),
            Self::Native(_) => 0,
        }
    }
}

/// What may be in memory at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Threads.
    pub(super) jobs: usize,
    /// Lines that are read and not written yet.
    pub(super) lines: usize,
    /// Their bytes; one line may be as large as it is.
    pub(super) bytes: usize,
}

/// How much of the window is taken.
#[derive(Default)]
struct Taken {
    lines: usize,
    bytes: usize,
    /// Whether nobody takes answers any more.
    is_over: bool,
}

/// Keeps the reader from running ahead.
struct Gate {
    window: Window,
    taken: Mutex<Taken>,
    changed: Condvar,
}

impl Gate {
    /// Waits until there is room for a line; false when nobody wants it any more.
    fn enter(&self, bytes: usize) -> bool {
        let is_full = |taken: &mut Taken| {
            let is_too_much = taken.bytes.saturating_add(bytes) > self.window.bytes || taken.lines >= self.window.lines;
            !taken.is_over && taken.lines > 0 && is_too_much
        };
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = self.changed.wait_while(taken, is_full).unwrap_or_else(PoisonError::into_inner);
        taken.lines = taken.lines.saturating_add(1);
        taken.bytes = taken.bytes.saturating_add(bytes);
        !taken.is_over
    }

    fn change(&self, change: impl FnOnce(&mut Taken)) {
        change(&mut self.taken.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

/// A line on its way: its place among those of this run, its index in the batch, and what it takes of the window.
struct Task {
    place: u64,
    index: u64,
    bytes: usize,
    line: Line,
}

/// What comes back.
enum Done {
    Answer {
        place: u64,
        bytes: usize,
        answer: String,
    },
    /// The lines cannot be read any further.
    Broken(anyhow::Error),
    /// A thread has no more to do; how often its component stopped.
    Over(u64),
}

/// Answers lines and gives the answers to `write` in order. Returns how often a component stopped.
///
/// # Errors
///
/// When the lines cannot be read any further, once all answers before are written; and what `write` says, at once.
pub(super) fn answer(
    lines: impl Iterator<Item = Result<(u64, Line)>> + Send + 'static,
    window: Window,
    make: impl Fn() -> Answerer + Send + Sync + 'static,
    write: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<u64> {
    let gate = Arc::new(Gate { window, taken: Mutex::default(), changed: Condvar::new() });
    let (give, tasks) = mpsc::sync_channel::<Task>(window.lines);
    let (done, answers) = mpsc::channel::<Done>();
    let (tasks, make) = (Arc::new(Mutex::new(tasks)), Arc::new(make));
    // Nobody waits for the threads: one may hang on standard input after the last answer was wanted.
    for _ in 0..window.jobs {
        let (tasks, make, done) = (Arc::clone(&tasks), Arc::clone(&make), done.clone());
        thread::Builder::new().spawn(move || work(&tasks, make(), &done))?;
    }
    let reader = Arc::clone(&gate);
    thread::Builder::new().spawn(move || read(lines, &reader, &give, &done))?;

    let written = in_order(&answers, &gate, write);
    gate.change(|taken| taken.is_over = true);
    written
}

fn read(lines: impl Iterator<Item = Result<(u64, Line)>>, gate: &Gate, give: &SyncSender<Task>, done: &Sender<Done>) {
    for (place, line) in (0..).zip(lines) {
        match line {
            Ok((index, line)) => {
                let bytes = line.bytes();
                if !gate.enter(bytes) || give.send(Task { place, index, bytes, line }).is_err() {
                    return;
                }
            }
            Err(error) => return drop(done.send(Done::Broken(error))),
        }
    }
}

/// Says that a thread ended before its work was done.
struct Alarm<'d>(&'d Sender<Done>);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            drop(self.0.send(Done::Broken(anyhow!("a thread ended before its work was done"))));
        }
    }
}

fn work(tasks: &Mutex<Receiver<Task>>, mut answerer: Answerer, done: &Sender<Done>) {
    let _alarm = Alarm(done);
    let next = || tasks.lock().ok()?.recv().ok();
    while let Some(Task { place, index, bytes, line }) = next() {
        let answer = answerer.answer(index, line);
        if done.send(Done::Answer { place, bytes, answer }).is_err() {
            return;
        }
    }
    drop(done.send(Done::Over(answerer.stops())));
}

fn in_order(answers: &Receiver<Done>, gate: &Gate, write: &mut dyn FnMut(&str) -> Result<()>) -> Result<u64> {
    let mut waiting: BTreeMap<u64, (usize, String)> = BTreeMap::new();
    let (mut next, mut stops, mut broken) = (0_u64, 0_u64, None);
    // Ends with the last thread.
    for done in answers {
        match done {
            Done::Answer { place, bytes, answer } => drop(waiting.insert(place, (bytes, answer))),
            Done::Broken(error) => {
                gate.change(|taken| taken.is_over = true);
                broken.get_or_insert(error);
            }
            Done::Over(times) => stops = stops.saturating_add(times),
        }
        while let Some((bytes, answer)) = waiting.remove(&next) {
            write(&answer)?;
            next = next.saturating_add(1);
            gate.change(|taken| {
                taken.lines = taken.lines.saturating_sub(1);
                taken.bytes = taken.bytes.saturating_sub(bytes);
            });
        }
    }
    broken.map_or(Ok(stops), Err)
}
