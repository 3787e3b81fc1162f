//! Kubernetes Dynamic Resource Allocation (DRA), decided by pure functions.
//!
//! The core takes API objects and a time and returns decisions. It has no clock, no randomness, no I/O,
//! no threads and no global state; everything it needs arrives as an argument, and the same input gives
//! the same output on every platform.
//!
//! Dependencies between the modules point one way only:
//!
//! ```text
//! engine    ->  explain, simulate        explain  -> simulate, allocate
//! control   ->  explain, lifecycle, validate
//! inspect   ->  simulate, lifecycle      allocate -> cluster, cel
//! simulate  ->  lifecycle, allocate      cluster  -> api, profile      cel -> api
//! lifecycle ->  allocate, cluster        validate -> cel, api, profile
//! ```

pub mod allocate;
pub mod api;
mod arrange;
pub mod ask;
mod bits;
pub mod cel;
pub mod check;
pub mod cluster;
pub mod control_plane;
pub mod controller;
pub mod controllers;
pub mod decision;
mod derive;
pub mod engine;
pub mod evaluate;
pub mod explain;
pub mod finding;
mod gather;
mod near;
pub mod profile;
pub mod scheduler;
#[cfg(feature = "types")]
pub mod typescript;
pub mod validate;
pub mod wire;
