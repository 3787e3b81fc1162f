//! kube-scheduler's sentences.

use std::collections::BTreeMap;

use crate::arrange::Arrange;

/// That no node is right, and why.
pub(super) fn no_node(nodes: usize, texts: &str) -> String {
    let list = if texts.is_empty() { String::new() } else { format!(" {texts}.") };
    format!("0/{nodes} nodes are available:{list}")
}

/// The sentence about a Pod that fits nowhere: what the filters said, and what came after.
pub(super) fn unschedulable(nodes: usize, filters: &str, after: &[String]) -> String {
    if nodes == 0 {
        return "no nodes available to schedule pods".to_owned();
    }
    let none = no_node(nodes, filters);
    if after.is_empty() { none } else { format!("{none} {}", after.join(", ")) }
}

/// Texts with the number of nodes that they hold for, sorted as texts.
pub(crate) fn counted(texts: impl IntoIterator<Item = (usize, String)>) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (count, text) in texts {
        let entry = counts.entry(text).or_default();
        *entry = entry.saturating_add(count);
    }
    let mut parts: Vec<String> =
        counts.into_iter().filter(|(_, count)| *count > 0).map(|(text, count)| format!("{count} {text}")).collect();
    parts.arrange();
    parts.join(", ")
}

/// What the filters say of a node that cannot use the devices of a claim that has some.
pub(super) const ELSEWHERE: &str = "resourceclaim not available on the node";

/// What they say of a node whose devices do not suffice.
pub(super) const NO_DEVICES: &str = "cannot allocate all claims";

/// The sentence about a member that would fit, in a gang that does not.
pub(super) const GANG_WAITS: &str = "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod";

/// The sentence about a PodGroup that does not fit.
pub(super) const GROUP_UNSCHEDULABLE: &str = "pod group is unschedulable";

/// What goes around the errors of a step of binding.
pub(super) fn pre_bind(error: &str) -> String {
    format!("running PreBind plugin \"DynamicResources\": {error}")
}

/// What goes around the errors of the filter.
pub(crate) fn filter(error: &str) -> String {
    format!("running \"DynamicResources\" filter plugin: {error}")
}
