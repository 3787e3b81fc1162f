//! Pods and Pod templates: their claims and their group.
//!
//! Source: `pkg/apis/core/validation`, the parts about claims; KEP-5832 (`schedulingGroup`), KEP-5004 (extended resources).

use std::collections::BTreeSet;

use serde_json::Value;

use super::meta::{self, Scope};
use super::names;
use super::node::Node;
use super::report::Report;
use super::schema::{POD_CLAIMS, SCHEDULING_GROUP, Type, WORKLOAD_REFERENCE, same};

const MIRROR: &str = "kubernetes.io/config.mirror";
const SOURCES: [&str; 2] = ["resourceClaimName", "resourceClaimTemplateName"];
const CLUSTER_SOURCE: &str = "clusterResourceClaimTemplateName";
const GROUP_SOURCE: &str = "podGroupResourceClaim";

/// A Pod that is created.
pub(super) fn create(out: &mut Report<'_>, pod: &Node<'_, '_>) {
    meta::check(out, pod, Scope::Namespace);
    let spec = pod.field("spec");
    mirror(out, pod, &spec);
    check_spec(out, &spec, is_mirror(pod));
    let ephemeral = spec.field("ephemeralContainers");
    if ephemeral.len() > 0 {
        out.forbidden(ephemeral.at, "cannot be set when a Pod is created");
    }
}

/// A Pod that is changed: its claims and its group cannot be.
pub(super) fn update(out: &mut Report<'_>, pod: &Node<'_, '_>, old: &Node<'_, '_>) {
    meta::check(out, pod, Scope::Namespace);
    meta::update(out, pod, old);
    let (spec, before) = (pod.field("spec"), old.field("spec"));
    check_spec(out, &spec, is_mirror(pod));
    if !same_spec(&spec, &before) {
        out.error(
            crate::finding::ErrorKind::Forbidden,
            crate::finding::Code::ValidateImmutable,
            spec.at,
            "claims and groups of a Pod cannot be changed",
        );
        out.hint("delete the Pod and create it anew");
    }
    let of_node = old.field("status");
    let of_node = of_node.field("nodeAllocatableResourceClaimStatuses");
    if of_node.len() > 0 && !same_resources(&spec, &before) {
        out.forbidden(spec.at, "a Pod whose claims take resources of its node cannot be resized");
        out.hint("delete the Pod and create it anew");
    }
}

/// Whether all containers ask for the same as before.
fn same_resources(spec: &Node<'_, '_>, before: &Node<'_, '_>) -> bool {
    let of = |spec: &Node<'_, '_>| -> Vec<Value> {
        let lists = ["initContainers", "containers"].map(|list| spec.peek(list).as_array());
        let containers = lists.into_iter().flatten().flatten();
        let own = containers.map(|container| container.get("resources").cloned().unwrap_or_default());
        let parts =
            |resources: &Value| ["requests", "limits"].map(|part| resources.get(part).cloned().unwrap_or_default());
        own.chain([spec.peek("resources").clone()]).flat_map(|resources| parts(&resources)).collect()
    };
    of(spec) == of(before)
}

/// The spec of a Pod or of a Pod template.
pub(super) fn check_spec(out: &mut Report<'_>, spec: &Node<'_, '_>, mirror: bool) {
    let claims = spec.field("resourceClaims");
    let names: BTreeSet<&str> =
        claims.items().map(|claim| claim.text_of("name")).filter(|name| !name.is_empty()).collect();
    if mirror && claims.len() > 0 {
        out.forbidden("[]", "static Pods cannot have resource claims");
    } else {
        let mut seen = BTreeSet::new();
        for claim in claims.items() {
            check_claim(out, &claim, &mut seen);
        }
        for list in ["initContainers", "containers"] {
            for container in spec.field(list).items() {
                let resources = container.field("resources");
                container_claims(out, &resources.field("claims"), &names);
            }
        }
    }
    for container in spec.field("ephemeralContainers").items() {
        let resources = container.field("resources");
        if resources.len() > 0 {
            out.forbidden(resources.at, "cannot be set for an ephemeral container");
        }
    }
    let resources = spec.field("resources");
    let own = resources.field("claims");
    if own.len() > 0 {
        out.forbidden(own.at, "claims belong to containers, not to the Pod's own resources");
        for claim in own.items() {
            if !names.contains(claim.text_of("name")) {
                unknown_claim(out, &claim);
            }
        }
    }
    group(out, spec);
}

fn is_mirror(pod: &Node<'_, '_>) -> bool {
    pod.field("metadata").peek("annotations").get(MIRROR).is_some()
}

fn mirror(out: &mut Report<'_>, pod: &Node<'_, '_>, spec: &Node<'_, '_>) {
    if is_mirror(pod) && spec.text_of("nodeName").is_empty() {
        out.invalid(format_args!("metadata.annotations[{MIRROR}]"), "a mirror Pod needs `spec.nodeName`");
    }
}

fn check_claim<'v>(out: &mut Report<'_>, claim: &Node<'v, '_>, seen: &mut BTreeSet<&'v str>) {
    let name = claim.field("name");
    if name.text().is_empty() {
        out.required(name.at, "a name is needed");
    } else if !seen.insert(name.text()) {
        out.duplicate(name.at, name.text());
    } else {
        out.invalid_each(name.at, name.text(), &names::label(name.text()));
    }
    let (cluster, group) = (claim.field(CLUSTER_SOURCE), claim.field(GROUP_SOURCE));
    if cluster.is_set() && !out.features().cluster_resource_claim_templates {
        out.forbidden(cluster.at, "the feature gate `ClusterResourceClaimTemplates` is off");
    }
    let set = SOURCES.iter().chain([&CLUSTER_SOURCE, &GROUP_SOURCE]).filter(|source| claim.has(source)).count();
    match set {
        1 => {}
        0 => {
            out.invalid(claim.at, "one of `resourceClaimName`, `resourceClaimTemplateName` is needed");
        }
        _ => out.invalid(claim.at, "an entry has only one source"),
    }
    for source in SOURCES.into_iter().chain([CLUSTER_SOURCE]) {
        let source = claim.field(source);
        if source.is_set() {
            out.invalid_each(source.at, source.text(), &names::subdomain(source.text()));
        }
    }
    if group.is_set() {
        out.invalid_each(group.at, group.text(), &names::label(group.text()));
    }
}

/// `resources.claims` of a container: each claim is used as a whole, or by different requests.
fn container_claims(out: &mut Report<'_>, claims: &Node<'_, '_>, known: &BTreeSet<&str>) {
    let mut used: BTreeSet<String> = BTreeSet::new();
    for claim in claims.items() {
        let (name, request) = (claim.text_of("name"), claim.field("request"));
        if name.is_empty() {
            out.required(claim.at, "the name of a claim of the Pod is needed");
            continue;
        }
        if used.contains(name) {
            out.duplicate(claim.at, name);
        } else {
            let mut key = name.to_owned();
            if !request.text().is_empty() {
                out.invalid_each(request.at, request.text(), &names::label(request.text()));
                key = format!("{name}/{}", request.text());
            }
            if used.contains(&key) {
                out.duplicate(claim.at, &key);
            } else if request.text().is_empty() {
                let part = format!("{name}/");
                for _ in used.range(part.clone()..).take_while(|other| other.starts_with(&part)) {
                    out.duplicate(claim.at, name);
                }
            }
            used.insert(key);
        }
        if !known.contains(name) {
            unknown_claim(out, &claim);
        }
    }
}

fn unknown_claim(out: &mut Report<'_>, claim: &Node<'_, '_>) {
    let name = super::report::shown(claim.text_of("name"));
    out.not_found(claim.at, format!("the Pod has no claim `{name}` in `spec.resourceClaims`"));
}

fn group(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let group = spec.field("schedulingGroup");
    if !group.is_set() {
        return;
    }
    if spec.field("evictionResponders").len() > 0 {
        out.forbidden(group.at, "cannot be set together with `evictionResponders`");
    }
    let name = group.field("podGroupName");
    if name.is_set() {
        out.invalid_each(name.at, name.text(), &names::subdomain(name.text()));
    } else {
        out.invalid(name.at, "the name of a PodGroup is needed");
    }
}

/// Whether all that claims and groups look at is as before.
fn same_spec(spec: &Node<'_, '_>, before: &Node<'_, '_>) -> bool {
    let part = |name: &str, of: &Type| same(of, spec.peek(name), before.peek(name));
    let resources = |list: &str| {
        let of = |spec: &Node<'_, '_>| -> Vec<Value> {
            let containers = spec.field(list);
            containers.items().map(|container| normal(container.peek("resources"))).collect()
        };
        of(spec) == of(before)
    };
    part("resourceClaims", &POD_CLAIMS)
        && part("schedulingGroup", &SCHEDULING_GROUP)
        && part("workloadRef", &WORKLOAD_REFERENCE)
        && normal(spec.peek("resources")) == normal(before.peek("resources"))
        && resources("containers")
        && resources("initContainers")
}

/// The claims of a container's resources; no list for an empty one.
fn normal(resources: &Value) -> Value {
    match resources.get("claims") {
        Some(Value::Array(claims)) if claims.is_empty() => Value::Null,
        Some(claims) => claims.clone(),
        None => Value::Null,
    }
}
