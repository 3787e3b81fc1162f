//! What a command is doing, for those who wait and those who interrupt it.

use std::io::{self, IsTerminal, Write};
use std::process;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::text::{self, clean};

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// What the exit code is after an interrupt, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

static STAGE: Mutex<Option<Stage>> = Mutex::new(None);
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What is done at the moment.
struct Stage {
    what: String,
    /// What is known so far.
    known: String,
    kind: Kind,
    start: Instant,
    /// When the command began.
    beginning: Instant,
    bar: ProgressBar,
}

/// What an interrupt comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The end.
    Plain,
    /// The end; others show how far it is.
    Shown,
    /// An answer about a part of the input, the first time.
    InParts,
}

/// From now on an interrupt ends the command with what is known, and a terminal shows what takes long. For commands that end by themselves.
pub(crate) fn listen() {
    let (start, what) = (Instant::now(), "starting".to_owned());
    let stage =
        Stage { what, known: String::new(), kind: Kind::Shown, start, beginning: start, bar: ProgressBar::hidden() };
    if let Ok(mut current) = STAGE.lock() {
        *current = Some(stage);
    }
    // Without a thread an interrupt ends the program as ever.
    drop(thread::Builder::new().name("interrupts".to_owned()).spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map(|runtime| runtime.block_on(hear()))
    }));
}

async fn hear() {
    let mut signal = Box::pin(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            heard = &mut signal => {
                if heard.is_err() {
                    return;
                }
                interrupt();
                signal = Box::pin(tokio::signal::ctrl_c());
            }
            () = tokio::time::sleep(PATIENCE) => tick(),
        }
    }
}

/// Tells that input is read; how far is shown elsewhere.
pub(crate) fn read() {
    enter("reading", String::new(), Kind::Shown);
}

/// Tells that input is read and that a part of it has an answer of its own. The reader stops at [`is_interrupted`].
pub(crate) fn read_in_parts() {
    enter("reading", String::new(), Kind::InParts);
}

/// Tells what is done from now on, and what is known: `deciding about 300 objects`.
pub(crate) fn wait(what: impl Into<String>, known: String) {
    enter(what, known, Kind::Plain);
}

fn enter(what: impl Into<String>, known: String, kind: Kind) {
    if let Ok(mut current) = STAGE.lock()
        && let Some(stage) = current.as_mut()
    {
        stage.bar.finish_and_clear();
        let (what, start, bar) = (what.into(), Instant::now(), ProgressBar::hidden());
        *stage = Stage { what, known, kind, start, bar, beginning: stage.beginning };
    }
}

/// Nothing is waited for any more.
pub(crate) fn end() {
    if let Ok(mut current) = STAGE.lock()
        && let Some(stage) = current.take()
    {
        stage.bar.finish_and_clear();
    }
}

/// Whether somebody interrupted.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// Shows what takes long.
fn tick() {
    if let Ok(mut current) = STAGE.lock()
        && let Some(stage) = current.as_mut()
        && stage.kind == Kind::Plain
        && stage.start.elapsed() >= PATIENCE
    {
        if stage.bar.is_hidden() && io::stderr().is_terminal() {
            stage.bar = ProgressBar::new_spinner().with_message(clean(&stage.what).into_owned());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
                stage.bar.set_style(style);
            }
        }
        stage.bar.tick();
    }
}

/// Ends the program with what is known, or lets an answer end early the first time.
fn interrupt() {
    let was = IS_INTERRUPTED.swap(true, Ordering::Relaxed);
    let mut said = Vec::new();
    if let Ok(current) = STAGE.lock()
        && let Some(Stage { what, known, kind, beginning, bar, .. }) = current.as_ref()
    {
        if *kind == Kind::InParts && !was {
            return;
        }
        bar.finish_and_clear();
        said.push(
            clean(&format!("interrupted after {:.1} s while {what}", beginning.elapsed().as_secs_f64())).into_owned(),
        );
        said.extend(Some(known).filter(|known| !known.is_empty()).map(|known| clean(known).into_owned()));
    }
    // A closed stderr leaves nobody to tell.
    let _ = io::stderr().write_all(text::lines(said).as_bytes());
    process::exit(i32::from(INTERRUPTED));
}
