//! Controllers of a real cluster, against an API server of a few lines.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

mod adoption;
mod classes;
mod explainer;
mod kept;
mod parts;
mod scale;
mod scheduler;
mod standings;
mod template_sync;
mod upkeep;
mod usage;
mod world;
