//! Validation beyond what was recorded: profiles, gates, versions, structure, selectors, objects seen together.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    reason = "tests read files and look at what must be there"
)]

mod cost;
mod names;
mod others;
mod parts;
mod pods;
mod preview;
mod profiles;
mod proposals;
mod requirements;
mod schema;
mod sets;
mod source;
mod structure;
mod unknown_kinds;
mod versions;
mod wire;
mod workloads;

use apportion_core::finding::{Code, Finding};
use apportion_core::profile::{Profile, Version};
use apportion_core::validate::{Operation, Submission, validate};
use serde_json::Value;

/// The findings about the creation of an object under the newest profile with everything on.
fn create(object: Value) -> Vec<Finding> {
    validate(Submission::create(object), &Profile::default())
}

/// The same under a version's defaults.
fn create_in(version: Version, object: Value) -> Vec<Finding> {
    validate(Submission::create(object), &Profile::of(version))
}

/// The findings about an update.
fn update(profile: &Profile, old: Value, object: Value) -> Vec<Finding> {
    validate(Submission { object, old: Some(old), operation: Operation::Update, ..Submission::default() }, profile)
}

/// Codes and paths.
fn brief(findings: &[Finding]) -> Vec<(Code, &str)> {
    findings.iter().map(|finding| (finding.code, finding.path.as_str())).collect()
}
