//! The controller and the command line with a real control plane. `cargo xtask e2e` builds that and runs these tests, one after
//! the other.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests"
)]

mod batch;
mod control_plane;
mod deployment;
mod deviations;
mod explainer;
mod faults;
mod histories;
mod objects;
mod placing;
mod play;
mod program;
mod proxy;
mod questions;
mod recordings;
mod requests;
mod scheduler;
mod soak;
mod stuck;
mod templates;
mod throughput;
mod twins;
mod view;
mod world;
