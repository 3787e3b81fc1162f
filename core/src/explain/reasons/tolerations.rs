//! What tolerations miss that are nearly the right ones.

use std::collections::BTreeSet;

use crate::api::claim::{DeviceToleration, ResourceClaim, TolerationOperator};
use crate::api::node::NodeTaint;
use crate::api::pod::NodeToleration;
use crate::api::slice::{DeviceTaint, TaintEffect};
use crate::cluster::Cluster;
use crate::gather::Gather;
use crate::near::did_you_mean;

/// A taint, or a toleration, of a node or a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mark<'a> {
    key: &'a str,
    /// `None` for a toleration of every value.
    value: Option<&'a str>,
    /// Empty for a toleration of every effect.
    effect: &'a str,
}

impl<'a> Mark<'a> {
    fn of_device(taint: &'a DeviceTaint) -> Self {
        Self { key: &taint.key, value: Some(&taint.value), effect: taint.effect.text() }
    }
}

/// Why a Pod does not tolerate the taints of nodes with a key and a value, where a toleration of its nearly does.
pub(super) fn of_node(tolerations: &[NodeToleration], taints: &[&NodeTaint]) -> Option<String> {
    let taints = taints.iter().map(|taint| Mark { key: &taint.key, value: Some(&taint.value), effect: &taint.effect });
    let taints: BTreeSet<Mark<'_>> = taints.gather();
    tolerations.iter().find_map(|toleration| {
        let has_value = matches!(toleration.operator.as_str(), "" | "Equal");
        missed(&toleration.key, has_value.then_some(&toleration.value), &toleration.effect, &taints)
    })
}

/// Why a claim does not tolerate taints of devices, where a toleration of its nearly does.
pub(super) fn of_devices(cluster: &Cluster, claim: &ResourceClaim) -> Option<String> {
    let of_slices = cluster.inventory().all_slices().flat_map(|entry| &entry.slice.spec.devices);
    let of_slices = of_slices.flat_map(|device| &device.taints);
    let of_rules = cluster.taint_rules().values().map(|rule| &rule.spec.taint);
    let taints = of_slices.chain(of_rules).filter(|taint| taint.effect != TaintEffect::None);
    let taints: BTreeSet<Mark<'_>> = taints.map(Mark::of_device).gather();
    let missed = |toleration: &DeviceToleration| {
        let has_value = !matches!(toleration.operator, Some(TolerationOperator::Exists));
        missed(&toleration.key, has_value.then_some(&toleration.value), &toleration.effect, &taints)
    };
    claim.spec.devices.requests.iter().find_map(|request| {
        let exact = request.exactly.iter().flat_map(|exact| &exact.tolerations);
        exact.chain(request.first_available.iter().flat_map(|alternative| &alternative.tolerations)).find_map(missed)
    })
}

/// What a toleration misses: `None` where it tolerates a taint, or is about something else.
fn missed(key: &str, value: Option<&String>, effect: &str, taints: &BTreeSet<Mark<'_>>) -> Option<String> {
    let mut same = taints.iter().filter(|taint| taint.key == key).peekable();
    let Some(taint) = same.peek().copied().copied() else {
        let meant = did_you_mean(key, &mut taints.iter().map(|taint| taint.key))?;
        return Some(format!("a toleration has the key `{key}`: {meant}"));
    };
    let has_effect = |taint: &Mark<'_>| effect.is_empty() || effect == taint.effect;
    let has_value = |taint: &Mark<'_>| value.is_none_or(|value| Some(value.as_str()) == taint.value);
    if same.any(|taint| has_effect(taint) && has_value(taint)) {
        return None;
    }
    let of = format!("the toleration of `{key}`");
    if !has_effect(&taint) {
        return Some(format!("{of} is for the effect `{effect}`, the taint has `{}`", taint.effect));
    }
    let said = |value: &str| if value.is_empty() { "no value".to_owned() } else { format!("the value `{value}`") };
    Some(format!("{of} has {}, the taint {}", said(value?), said(taint.value?)))
}
