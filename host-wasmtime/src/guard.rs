//! What an instance may use up.

use std::error::Error as StdError;
use std::fmt;

use wasmtime::ResourceLimiter;

/// What the host allows one instance, as a last resort behind the engine's own step limit.
///
/// Searches end at the engine's step limit, at the same place on every machine; these limits are for what should not happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostLimits {
    /// Linear memory, in bytes.
    pub memory: usize,
}

impl Default for HostLimits {
    /// 2 GiB.
    fn default() -> Self {
        Self { memory: 2 << 30 }
    }
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
