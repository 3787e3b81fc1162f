//! What a component of the control plane decides: writes, Events, and when to look again.
//!
//! A component gives a [`Decision`]: the writes that it wants now, and when to ask again. Asked twice about the same
//! facts it gives the same writes; asked about the facts after its writes it gives none. Whoever carries the writes out
//! may stop between any two of them: the next decision goes on where that one was left.

mod action;
mod time;

pub use action::{Action, Cause, Decision, EventRecord, Identified, Merging, Patch, Trigger};
pub use time::{Time, clock};

/// Finalizer of a claim that has devices.
pub const CLAIM_FINALIZER: &str = "resource.kubernetes.io/delete-protection";

/// Finalizer of a PodGroup that Pods may still refer to.
pub const GROUP_FINALIZER: &str = "scheduling.k8s.io/podgroup-protection";

/// Most reservations of one claim.
pub const MAX_RESERVATIONS: usize = 256;
