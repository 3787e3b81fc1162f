//! What a device takes of its node's ordinary resources (KEP-5517), in the shapes of 1.36 and 1.37.

use std::fmt::Display;

use super::names;
use super::node::Node;
use super::report::{Report, shown};

/// Both shapes of a device.
pub(super) fn check(out: &mut Report<'_>, device: &Node<'_, '_>) {
    let mappings = device.field("nodeAllocatableResourceMappings");
    for (key, value) in mappings.entries() {
        let mapping = Node { value, at: mappings.at.key(key) };
        native(out, &mapping, key);
        positive(out, &mapping.field("allocationMultiplier"));
        capacity_key(out, device, &mapping.field("capacityKey"));
    }
    let resources = device.field("nodeAllocatableResources");
    for (key, value) in resources.entries() {
        let node = Node { value, at: resources.at.key(key) };
        of_node(out, node.at, key);
        let (mapping, overhead) = (node.field("mapping"), node.field("overhead"));
        if !mapping.is_set() && !overhead.is_set() {
            out.required(node.at, "at least one of `mapping` and `overhead` is needed");
        }
        if mapping.is_set() {
            check_mapping(out, device, &mapping);
        }
        if overhead.is_set() {
            check_overhead(out, &overhead);
        }
    }
}

/// The name of a resource of nodes.
pub(super) fn native(out: &mut Report<'_>, node: &Node<'_, '_>, name: &str) {
    if !names::is_native_resource(name) {
        out.invalid(node.at, format!("`{}` is not a resource that Kubernetes itself knows", shown(name)));
    }
}

/// The name of a resource that the kubelet can take from a node.
pub(super) fn of_node(out: &mut Report<'_>, at: impl Display, name: &str) {
    if !matches!(name, "cpu" | "memory") && !name.starts_with("hugepages-") {
        out.invalid(at, format!("`{}` is not `cpu`, `memory` or a size of huge pages", shown(name)));
    }
}

/// An amount that is not negative.
pub(super) fn not_negative(out: &mut Report<'_>, amount: &Node<'_, '_>) {
    if amount.quantity().is_some_and(|amount| amount.signum() < 0) {
        out.invalid(amount.at, "must not be negative");
    }
}

fn positive(out: &mut Report<'_>, amount: &Node<'_, '_>) {
    if amount.quantity().is_some_and(|amount| amount.signum() <= 0) {
        out.invalid(amount.at, "must be greater than zero");
    }
}

fn capacity_key(out: &mut Report<'_>, device: &Node<'_, '_>, key: &Node<'_, '_>) {
    if !key.is_set() {
        return;
    }
    if key.text().is_empty() {
        out.invalid(key.at, "must not be empty");
    } else if !device.field("capacity").has(key.text()) {
        out.not_found(key.at, format!("the device has no capacity `{}`", shown(key.text())));
    }
}

fn check_mapping(out: &mut Report<'_>, device: &Node<'_, '_>, mapping: &Node<'_, '_>) {
    let (key, capacity, per_device) =
        (mapping.field("capacityKey"), mapping.field("capacityMultiplier"), mapping.field("deviceMultiplier"));
    match (key.is_set(), per_device.is_set()) {
        (false, false) if !capacity.is_set() => {
            out.invalid(mapping.at, "`capacityKey` or `deviceMultiplier` is needed")
        }
        (true, true) => out.invalid(mapping.at, "only one of `capacityKey` and `deviceMultiplier` can be set"),
        _ => {}
    }
    capacity_key(out, device, &key);
    if key.is_set() && !capacity.is_set() {
        out.required(capacity.at, "is needed with `capacityKey`");
    }
    if capacity.is_set() && !key.is_set() {
        out.required(key.at, "is needed with `capacityMultiplier`");
    }
    if key.is_set() {
        positive(out, &capacity);
    }
    positive(out, &per_device);
}

fn check_overhead(out: &mut Report<'_>, overhead: &Node<'_, '_>) {
    let parts = [overhead.field("perPod"), overhead.field("perContainer")];
    if parts.iter().all(|part| !part.is_set()) {
        out.invalid(overhead.at, "at least one of `perPod` and `perContainer` is needed");
    }
    parts.iter().for_each(|part| not_negative(out, part));
}
