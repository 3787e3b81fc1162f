//! What an instance may use up.

use std::error::Error as StdError;
use std::time::Duration;
use std::{fmt, io, thread};

use wasmtime::{Engine, ResourceLimiter, Store};

/// What the host allows one instance, as a last resort behind the engine's own step limit.
///
/// Searches end at the engine's step limit, at the same place on every machine; these limits are for what should not happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostLimits {
    /// Linear memory, in bytes.
    pub memory: usize,
    /// What one call may take, to about a tenth of a second. Kept by [`Runner::timed`](crate::Runner::timed) only.
    pub time: Duration,
}

impl Default for HostLimits {
    /// 2 GiB and 20 s.
    fn default() -> Self {
        Self { memory: 2 << 30, time: Duration::from_secs(20) }
    }
}

/// How often code that can be ended learns that time has passed.
const TICK: Duration = Duration::from_millis(100);

/// Tells an engine's code of passing time, in a thread that ends with the engine.
pub(crate) fn tick(engine: &Engine) -> io::Result<()> {
    let engine = engine.weak();
    let work = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("tick".to_owned()).spawn(work).map(drop)
}

/// A call begins: it may take as long as the limits say.
pub(crate) fn start(store: &mut Store<Guard>) {
    let ticks = store.data().limits.time.as_millis().div_ceil(TICK.as_millis());
    store.set_epoch_deadline(u64::try_from(ticks).unwrap_or(u64::MAX).saturating_add(1));
}

/// Elements that the component's tables may have together; it has some hundred functions to point to.
const TABLE_LIMIT: usize = 1 << 16;

/// Watches over one store.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) limits: HostLimits,
}

/// Raised through the component when it asks for too much memory.
#[derive(Debug)]
pub(crate) struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of memory")
    }
}

impl StdError for OutOfMemory {}

impl ResourceLimiter for Guard {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.limits.memory { Err(wasmtime::Error::new(OutOfMemory)) } else { Ok(true) }
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_LIMIT)
    }
}
