//! Controllers of a real cluster, against an API server of a few lines.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

mod explainer;
mod parts;
mod scale;
mod scheduler;
mod template_sync;
mod usage;
mod world;
