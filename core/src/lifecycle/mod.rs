//! The life of claims and groups of Pods: one module per controller, each a pure function of facts and a time.
//!
//! A controller gives a [`Decision`]: the writes that it wants now, and when to ask again. Asked twice about the same
//! facts it gives the same writes; asked about the facts after its writes it gives none. Whoever carries the writes out
//! may stop between any two of them: the next decision goes on where that one was left.

mod action;
pub mod claims;
pub(crate) mod entries;
pub mod eviction;
pub mod jobs;
pub mod kubelet;
pub mod pool_status;
pub mod protection;
pub mod scheduling;
pub mod template_sync;
mod time;

pub use action::{Action, Cause, Change, Decision, EventRecord, Patch, Trigger};
pub use entries::{Binding, Resolved, is_for_pod, is_reserved_for_pod, resolve};
pub(crate) use entries::{ENTRY_ANNOTATION, group_of};
pub use time::Time;

/// Finalizer of a claim that has devices.
pub const CLAIM_FINALIZER: &str = "resource.kubernetes.io/delete-protection";

/// Finalizer of a PodGroup that Pods may still refer to.
pub const GROUP_FINALIZER: &str = "scheduling.k8s.io/podgroup-protection";

/// API group of PodGroups, as in reservations.
pub const SCHEDULING_GROUP: &str = "scheduling.k8s.io";

/// Most reservations of one claim.
pub const MAX_RESERVATIONS: usize = 256;
