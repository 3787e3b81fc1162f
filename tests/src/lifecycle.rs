//! Histories recorded from a real control plane, played through the simulated cluster.
//!
//! So far the native core alone offers the simulated cluster; the other doors are not asked.

use apportion_core::profile::Mode;
use serde_json::Value;

#[path = "../../core/tests/support/lifecycle_case.rs"]
mod lifecycle_case;

/// Whether a case is a history.
pub fn is_case(content: &Value) -> bool {
    content.get("steps").is_some_and(Value::is_array)
}

/// Plays a history as the reference does, its defects included.
///
/// # Errors
///
/// The differences, one per line.
pub fn check(content: &Value) -> Result<(), String> {
    let differences = lifecycle_case::replay(content, Mode::Reference);
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n")) }
}
