//! What a caller's program must handle.

use std::fmt;
use std::time::Duration;

use apportion_core::finding::{Code, Finding};
use wasmtime::Trap;

use crate::guard::{HostLimits, OutOfMemory};

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The component cannot be loaded; the text says why.
    #[error("the component cannot be loaded: {0}")]
    Load(String),
    /// The input of the call cannot be used.
    #[error("{}", .0.first().map_or("the component refused the call", |finding| finding.message.as_str()))]
    Refused(Vec<Finding>),
    /// The component stopped in the middle of the call. The next call finds a fresh instance with the same objects.
    #[error("{0}")]
    Stopped(Stop),
}

/// Why the component stopped in the middle of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It wanted more memory than it may have.
    Memory {
        /// What it may have, in bytes.
        limit: usize,
    },
    /// The call took longer than it may.
    Time {
        /// What it may take.
        limit: Duration,
    },
    /// It trapped, which is a defect of ours. The text is the engine's.
    Trap(String),
}

impl Stop {
    /// Why a call stopped that was made within these limits.
    pub(crate) fn of(error: &wasmtime::Error, limits: HostLimits) -> Self {
        if error.downcast_ref::<OutOfMemory>().is_some() {
            return Self::Memory { limit: limits.memory };
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => Self::Time { limit: limits.time },
            Some(trap) => Self::Trap(trap.to_string()),
            None => Self::Trap(error.to_string()),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { limit } => write!(f, "the component needs more than its {} MiB of memory", limit >> 20),
            Self::Time { limit } => {
                write!(f, "the component needs more than its {} s for one call", limit.as_secs_f64())
            }
            Self::Trap(text) => write!(f, "the component trapped: {text}"),
        }
    }
}

impl Error {
    /// The same as findings, to be shown like all others.
    pub fn findings(&self) -> Vec<Finding> {
        let code = match self {
            Self::Refused(findings) => return findings.clone(),
            Self::Load(_) => Code::Internal,
            Self::Stopped(Stop::Memory { .. }) => Code::LimitMemory,
            Self::Stopped(Stop::Time { .. }) => Code::LimitTime,
            Self::Stopped(Stop::Trap(_)) => Code::InternalTrap,
        };
        vec![Finding::new(code, "", self.to_string())]
    }

    /// Whether the cause is a defect of ours, and not the input or a limit.
    pub fn is_ours(&self) -> bool {
        match self {
            Self::Load(_) | Self::Stopped(Stop::Trap(_)) => true,
            Self::Stopped(Stop::Memory { .. } | Stop::Time { .. }) => false,
            Self::Refused(findings) => {
                findings.iter().any(|finding| matches!(finding.code, Code::Internal | Code::InternalTrap))
            }
        }
    }
}
