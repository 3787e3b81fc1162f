//! The life of claims and groups, played through the simulated cluster.
//!
//! Names of tests carry the ids of the requirements that they show (`r_047`: R-047).

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests read files and look at what must be there"
)]

mod binding;
mod check;
mod cost;
mod devices;
mod extended;
mod groups;
mod history;
mod jobs;
mod objects;
mod play;
mod pool_status;
mod properties;
mod reference;
mod skew;
mod speed;
mod taints;
mod templates;
mod texts;
mod workloads;
