//! Which nodes are asked, in which order.

use std::borrow::Cow;

use super::Asked;
use super::plan::{Plan, Unit};
use crate::api::claim::AllocationMode;
use crate::api::node::Node;
use crate::cluster::Cluster;

type Names<'c> = Box<dyn Iterator<Item = &'c str> + 'c>;

/// The candidate nodes in the order of trying.
pub(super) fn candidates<'c>(cluster: &'c Cluster, question: &Asked<'c>) -> Names<'c> {
    if !question.nodes.is_empty() {
        Box::new(question.nodes.iter().map(String::as_str))
    } else if cluster.nodes().is_empty() {
        Box::new(cluster.node_names_of_slices().map(String::as_str))
    } else {
        Box::new(cluster.nodes().keys().map(String::as_str))
    }
}

/// Whether there is at most one candidate.
pub(super) fn is_only_one(cluster: &Cluster, question: &Asked<'_>) -> bool {
    if !question.nodes.is_empty() {
        return question.nodes.len() == 1;
    }
    if cluster.nodes().is_empty() {
        cluster.node_names_of_slices().nth(1).is_none()
    } else {
        cluster.nodes().len() == 1
    }
}

/// The node of a name; one without an object has no labels.
pub(super) fn named<'c>(cluster: &'c Cluster, name: &str) -> Cow<'c, Node> {
    cluster.nodes().get(name).map_or_else(
        || {
            let mut node = Node::default();
            node.metadata.name = name.to_owned();
            Cow::Owned(node)
        },
        |node| Cow::Borrowed(node.as_ref()),
    )
}

/// The candidates without those of which it is known that the claims do not fit.
///
/// A node is passed over when all slices say which node they are for, every device of the node's slices is taken as a whole, and every
/// request needs a device that is not. Such a node gives no fit, and no error either: selectors are not evaluated on devices in use,
/// and what can be wrong with the claims themselves shows on the first node, which is always asked.
pub(super) fn worth_asking<'c>(cluster: &'c Cluster, question: &Asked<'c>, plan: &Plan<'_>) -> Names<'c> {
    let needs_a_free_device =
        |unit: &Unit<'_>| *unit.mode == AllocationMode::ExactCount && unit.count > 0 && !unit.has_admin_access();
    let inventory = cluster.inventory();
    let all = candidates(cluster, question);
    if question.nodes.len() == 1 {
        return all;
    }
    let has_network_devices = inventory.slices_without_node().next().is_some();
    if plan.units.is_empty() || !plan.units.iter().all(needs_a_free_device) || has_network_devices {
        return all;
    }
    let open = inventory.open_nodes();
    let mut all = all;
    let Some(first) = all.next() else {
        return Box::new(std::iter::empty());
    };
    let rest: Names<'c> = if question.nodes.is_empty() {
        // Both lists are in the order of names.
        let is_node = move |name: &&str| cluster.nodes().is_empty() || cluster.nodes().contains_key(*name);
        Box::new(open.keys().map(String::as_str).filter(move |name| *name > first).filter(is_node))
    } else {
        Box::new(all.filter(|name| open.contains_key(*name)))
    };
    Box::new(std::iter::once(first).chain(rest))
}
