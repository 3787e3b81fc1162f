//! What a run makes of manifests: nodes, Pods, claims, places and reasons.
//!
//! Names of tests carry the ids of the requirements that they show (`r_311`: R-311).

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests read files and look at what must be there"
)]

mod claims;
mod commands;
mod configured;
mod extended;
mod kubelets;
mod needed;
mod neighbours;
mod node_allocatable;
mod nodes;
mod places;
mod preemption;
mod real;
mod reasons;
mod scored;
mod support;
mod volumes;
mod workloads;
