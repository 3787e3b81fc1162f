//! Builds that cargo alone cannot do: the component, the npm package and the web page.
//!
//! The library part is also a build dependency of the runner (`host-wasmtime`), whose build script asks
//! [`component::build`] for the module to embed, so that `cargo install --path host-wasmtime` works alone.
//!
//! Every step compares a fingerprint of its inputs with the one of its last success and does nothing when they agree
//! ([`fingerprint`]). Every failure is one sentence with the way out.

pub mod command;
pub mod component;
pub mod debian;
pub mod fingerprint;
pub mod module;
pub mod toolchain;
pub mod wasm;
pub mod workspace;

#[cfg(feature = "cli")]
pub mod alerts;
#[cfg(feature = "cli")]
pub mod bench;
#[cfg(feature = "cli")]
pub mod browser;
#[cfg(feature = "cli")]
pub mod bump;
#[cfg(feature = "cli")]
pub mod check;
#[cfg(feature = "cli")]
pub mod dist;
#[cfg(feature = "cli")]
pub mod docs;
#[cfg(feature = "cli")]
pub mod e2e;
#[cfg(feature = "cli")]
pub mod fuzz;
#[cfg(feature = "cli")]
pub mod jobs;
#[cfg(feature = "cli")]
pub mod node;
#[cfg(feature = "cli")]
pub mod npm;
#[cfg(feature = "cli")]
pub mod python;
#[cfg(feature = "cli")]
pub mod record;
#[cfg(feature = "cli")]
pub mod requirements;
#[cfg(feature = "cli")]
pub mod rooms;
#[cfg(feature = "cli")]
pub mod sbom;
#[cfg(feature = "cli")]
pub mod site;
#[cfg(feature = "cli")]
pub mod size;
#[cfg(feature = "cli")]
pub mod suites;
#[cfg(feature = "cli")]
mod units;
#[cfg(feature = "cli")]
pub mod web;

pub use workspace::Workspace;
