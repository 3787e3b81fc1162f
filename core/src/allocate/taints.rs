//! Taints against tolerations.

use super::plan::Unit;
use super::pools::NodeDevice;
use crate::api::claim::{DeviceToleration, TolerationOperator};
use crate::api::slice::DeviceTaint;

/// Whether a toleration covers a taint.
///
/// An empty effect or key covers every one. `Equal` compares values even where the key is empty; unknown operators
/// cover nothing.
pub fn tolerates(toleration: &DeviceToleration, taint: &DeviceTaint) -> bool {
    let is_covered = |wanted: &str, text: &str| wanted.is_empty() || wanted == text;
    is_covered(&toleration.effect, taint.effect.text())
        && is_covered(&toleration.key, &taint.key)
        && match &toleration.operator {
            TolerationOperator::Exists => true,
            TolerationOperator::Equal => toleration.value == taint.value,
            // What is left out means `Equal`.
            TolerationOperator::Unknown(text) => text.is_empty() && toleration.value == taint.value,
        }
}

/// Whether a unit tolerates every blocking taint of a device. Admin access makes no difference.
pub(super) fn tolerated(unit: &Unit<'_>, device: &NodeDevice<'_>) -> bool {
    device.taints.iter().all(|taint| unit.tolerations.iter().any(|toleration| tolerates(toleration, taint)))
}
