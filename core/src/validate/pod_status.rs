//! The parts of a Pod's status that tell of claims.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::names;
use super::node::Node;
use super::node_allocatable::{native, not_negative, of_node};
use super::pod_group::{claim_names, known_claim};
use super::report::{Report, shown};
use crate::gather::Gather;
use crate::profile::Version;

/// A changed status.
pub(super) fn check(out: &mut Report<'_>, pod: &Node<'_, '_>) {
    let (spec, status) = (pod.field("spec"), pod.field("status"));
    let statuses = status.field("resourceClaimStatuses");
    claim_statuses(out, &spec, &statuses);
    extended(out, &spec, &status.field("extendedResourceClaimStatus"));
    node_allocatable(out, &spec, &status);
}

fn claim_statuses(out: &mut Report<'_>, spec: &Node<'_, '_>, statuses: &Node<'_, '_>) {
    let known = claim_names(spec);
    let mut seen = BTreeSet::new();
    for entry in statuses.items() {
        let (name, claim) = (entry.field("name"), entry.field("resourceClaimName"));
        known_claim(out, &name, &known);
        if !seen.insert(name.text()) {
            out.duplicate(name.at, name.text());
        }
        out.set_text(&claim, names::subdomain);
    }
}

fn extended(out: &mut Report<'_>, spec: &Node<'_, '_>, status: &Node<'_, '_>) {
    if !status.is_set() {
        return;
    }
    let (mappings, claim) = (status.field("requestMappings"), status.field("resourceClaimName"));
    if mappings.len() == 0 {
        out.required(mappings.at, "at least one mapping is needed");
    }
    let containers = containers(spec);
    let mut seen = BTreeSet::new();
    for mapping in mappings.items() {
        let (container, resource, request) =
            (mapping.field("containerName"), mapping.field("resourceName"), mapping.field("requestName"));
        match containers.get(container.text()) {
            None => {
                out.invalid(container.at, format!("the Pod has no container `{}`", shown(container.text())));
            }
            Some(resources) if !resources.contains(resource.text()) => {
                out.invalid(resource.at, "the container does not ask for this resource");
            }
            Some(_) => {}
        }
        // The reference leaves the index out here.
        let problems = names::label(request.text());
        out.invalid_each(status.at.field("requestName"), request.text(), &problems);
        if !seen.insert([container.text(), resource.text(), request.text()]) {
            for part in [container, resource, request] {
                out.duplicate(part.at, part.text());
            }
        }
    }
    out.needed_text(&claim, "the name of the claim is needed", names::subdomain);
}

/// The containers of a Pod with the resources that they ask for.
fn containers<'v>(spec: &Node<'v, '_>) -> BTreeMap<&'v str, BTreeSet<&'v str>> {
    let of = |list: &str| spec.peek(list).as_array().map(Vec::as_slice).unwrap_or_default();
    let resources = |container: &'v Value| {
        let requests = container.pointer("/resources/requests").and_then(Value::as_object);
        requests.into_iter().flat_map(|map| map.keys().map(String::as_str)).gather()
    };
    let name = |container: &'v Value| container.get("name").and_then(Value::as_str).unwrap_or_default();
    of("initContainers")
        .iter()
        .chain(of("containers"))
        .map(|container| (name(container), resources(container)))
        .gather()
}

fn node_allocatable(out: &mut Report<'_>, spec: &Node<'_, '_>, status: &Node<'_, '_>) {
    let (claims, statuses) = (spec.field("resourceClaims"), status.field("resourceClaimStatuses"));
    let entries = status.field("nodeAllocatableResourceClaimStatuses");
    // Since 1.38 also the claim that the scheduler makes for the Pod's extended resources.
    let extended = Some(status.peek("extendedResourceClaimStatus")).filter(|_| out.profile.version.is_after_1_37());
    let known: BTreeSet<&str> = claims
        .list()
        .iter()
        .chain(statuses.list())
        .chain(extended)
        .filter_map(|entry| entry.get("resourceClaimName").and_then(Value::as_str))
        .gather();
    for entry in entries.items() {
        let (claim, containers) = (entry.field("resourceClaimName"), entry.field("containers"));
        if claim.text().is_empty() {
            out.required(claim.at, "the name of the claim is needed");
        }
        if !known.contains(claim.text()) {
            out.invalid(claim.at, "the Pod does not use this claim");
        }
        if containers.len() == 0 && out.profile.version < Version::V1_37 {
            out.required(containers.at, "at least one container is needed");
        }
        if entry.has("mapping") || entry.has("overhead") {
            for list in ["mapping", "overhead"] {
                for part in entry.field(list).items() {
                    of_node(out, part.at.field("name"), part.text_of("name"));
                    if list == "mapping" && !part.has("quantity") {
                        out.required(part.at.field("quantity"), "the amount is needed");
                    }
                    if list == "overhead" && !part.has("perPod") && !part.has("perContainer") {
                        out.invalid(part.at, "`perPod` or `perContainer` is needed");
                    }
                    for amount in ["quantity", "perPod", "perContainer"] {
                        not_negative(out, &part.field(amount));
                    }
                }
            }
            continue;
        }
        let resources = entry.field("resources");
        if resources.len() == 0 {
            out.required(resources.at, "at least one resource is needed");
        }
        for (name, value) in resources.entries() {
            let node = Node { value, at: resources.at.key(name) };
            native(out, &node, name);
            not_negative(out, &node);
        }
    }
}
