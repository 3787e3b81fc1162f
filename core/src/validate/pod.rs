//! Pods and Pod templates: their claims, their group, and what an update may change.
//!
//! Source: `pkg/apis/core/validation`, the parts about claims; KEP-5832 (`schedulingGroup`), KEP-5004 (extended resources).

use std::collections::BTreeSet;

use serde_json::Value;

use super::defaults;
use super::given::differs;
use super::meta::{self, Scope};
use super::names;
use super::node::Node;
use super::pod_spec;
use super::report::{Report, shown};
use super::schema::{POD_CLAIMS, POD_SPEC, SCHEDULING_GROUP, WORKLOAD_REFERENCE, fields, same};
use crate::finding::{Code, ErrorKind};
use crate::gather::Gather;
use crate::near::did_you_mean;
use crate::profile::Version;

pub(crate) const MIRROR: &str = "kubernetes.io/config.mirror";
const SOURCES: [&str; 2] = ["resourceClaimName", "resourceClaimTemplateName"];
const CLUSTER_SOURCE: &str = "clusterResourceClaimTemplateName";
const GROUP_SOURCE: &str = "podGroupResourceClaim";

/// A Pod that is created, or changed: little of its spec can be.
pub(super) fn check(out: &mut Report<'_>, pod: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    meta::check_whole(out, pod, old, Scope::Namespace);
    let spec = pod.field("spec");
    let is_mirror = pod.field("metadata").peek("annotations").get(MIRROR).is_some();
    if old.is_none() && is_mirror && spec.text_of("nodeName").is_empty() {
        out.invalid(format_args!("metadata.annotations[{MIRROR}]"), "a mirror Pod needs `spec.nodeName`");
    }
    pod_spec::check(out, &spec, true);
    check_claims(out, &spec, is_mirror);
    match old {
        Some(old) => unchanged(out, &spec, &old.field("spec")),
        None if !meta::is_found(pod.value) => first(out, &spec),
        None => {}
    }
}

/// What nobody but the control plane sets in a Pod.
fn first(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let ephemeral = spec.field("ephemeralContainers");
    if ephemeral.len() > 0 {
        out.forbidden(ephemeral.at, "cannot be set when a Pod is created");
    }
    let node = spec.field("nodeName");
    if !node.text().is_empty() && spec.field("schedulingGates").len() > 0 {
        out.forbidden(node.at, "cannot be set until all schedulingGates have been cleared");
    }
}

/// The template of Pods in an object of a kind.
pub(super) fn check_template(out: &mut Report<'_>, template: &Node<'_, '_>, kind: &str) {
    let (metadata, spec) = (template.field("metadata"), template.field("spec"));
    meta::maps(out, &Node { value: metadata.value, at: template.at });
    // Knative names the container itself.
    if kind != "Service" {
        pod_spec::check(out, &spec, false);
    }
    check_claims(out, &spec, false);
    let ephemeral = spec.field("ephemeralContainers");
    if ephemeral.len() > 0 {
        out.forbidden(ephemeral.at, "ephemeral containers not allowed in pod template");
    }
}

fn unchanged(out: &mut Report<'_>, spec: &Node<'_, '_>, before: &Node<'_, '_>) {
    let changed = changed_fields(out, spec, before);
    if !changed.is_empty() {
        let message = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
        out.error(ErrorKind::Forbidden, Code::ValidateImmutable, spec.at, message);
        out.hint(format!("`{}` differs; delete the Pod and create it anew", changed.join("`, `")));
    }
}

/// The fields of the spec that differ and cannot be changed. Changes with a rule of their own are reported.
fn changed_fields(out: &mut Report<'_>, spec: &Node<'_, '_>, before: &Node<'_, '_>) -> Vec<&'static str> {
    let is_manifest = out.is_manifest;
    for list in ["containers", "initContainers"] {
        let (own, old) = (spec.field(list), before.field(list));
        if own.len() != old.len() {
            out.forbidden(own.at, "pod updates may not add or remove containers");
            return Vec::new();
        }
        for container in own.items() {
            let image = container.field("image");
            if image.text().trim() != image.text() {
                out.invalid(image.at, "must not have leading or trailing whitespace");
            }
        }
    }
    let (deadline, old) = (spec.field("activeDeadlineSeconds"), before.field("activeDeadlineSeconds"));
    if deadline.is_set() && old.is_set() && deadline.int() > old.int() {
        out.invalid(deadline.at, "must be less than or equal to previous value");
    } else if !deadline.is_set() && old.is_set() && !is_manifest {
        out.invalid(deadline.at, "must not update from a positive integer to nil value");
    }
    only_added_tolerations(out, spec, before, is_manifest);
    let gates = before.field("schedulingGates");
    for gate in spec.field("schedulingGates").items() {
        let name = gate.field("name");
        if !gates.items().any(|gate| gate.text_of("name") == name.text()) {
            out.forbidden(name.at, "only deletion is allowed, but this is a new scheduling gate");
        }
    }
    let prepared = |spec: &Node<'_, '_>| {
        let mut spec = spec.value.clone();
        defaults::pod_spec(&mut spec);
        spec
    };
    let (now, then) = (prepared(spec), prepared(before));
    let is_gated = gates.len() > 0;
    let differing = fields(&POD_SPEC).iter().map(|field| field.name).filter(|name| match *name {
        "activeDeadlineSeconds" | "tolerations" | "schedulingGates" => false,
        "nodeSelector" if is_gated => differs(before.peek(name), spec.peek(name)),
        "affinity" if is_gated => false,
        "resourceClaims" => !same(&POD_CLAIMS, spec.peek(name), before.peek(name)),
        "schedulingGroup" => !same(&SCHEDULING_GROUP, spec.peek(name), before.peek(name)),
        "workloadRef" => !same(&WORKLOAD_REFERENCE, spec.peek(name), before.peek(name)),
        "containers" | "initContainers" => {
            containers_differ(&now, &then, name, is_manifest) || !same_claims(spec, before, name)
        }
        "terminationGracePeriodSeconds" => {
            let (now, then) = (spec.field(name).int(), before.field(name).int());
            spec.has(name) && now != then && !(now == 1 && then < 0) && !(before.peek(name).is_null() && now == 30)
        }
        _ => {
            let part = |of: &'_ Value| of.get(*name).cloned().unwrap_or_default();
            let (now, then) = (part(&now), part(&then));
            differs(&now, &then) || !is_manifest && differs(&then, &now)
        }
    });
    differing.collect()
}

/// Whether containers differ in more than their images.
fn containers_differ(now: &Value, then: &Value, list: &str, is_manifest: bool) -> bool {
    let of = |spec: &Value| -> Vec<Value> {
        let mut containers = spec.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
        for container in containers.iter_mut().filter_map(Value::as_object_mut) {
            // The default of one follows from the other.
            container.remove("image");
            container.remove("imagePullPolicy");
        }
        containers
    };
    let (now, then) = (of(now), of(then));
    now.iter().zip(&then).any(|(now, then)| differs(now, then) || !is_manifest && differs(then, now))
}

/// Whether the containers of a list use the same claims as before.
fn same_claims(spec: &Node<'_, '_>, before: &Node<'_, '_>, list: &str) -> bool {
    let of = |spec: &Node<'_, '_>| -> Vec<Value> {
        spec.field(list).items().map(|container| normal(container.peek("resources"))).collect()
    };
    of(spec) == of(before)
}

/// Tolerations can be added, and their seconds changed. Admission adds some to every Pod that a manifest does not have.
fn only_added_tolerations(out: &mut Report<'_>, spec: &Node<'_, '_>, before: &Node<'_, '_>, is_manifest: bool) {
    const ADDED: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
    let tolerations = spec.field("tolerations");
    if is_manifest && !tolerations.is_set() {
        return;
    }
    let is_same = |left: &Value, right: &Value| {
        let part = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        ["key", "operator", "value", "effect"].iter().all(|name| part(left, name) == part(right, name))
    };
    let is_kept = before.field("tolerations").items().all(|old| {
        is_manifest && ADDED.contains(&old.text_of("key"))
            || tolerations.list().iter().any(|toleration| is_same(toleration, old.value))
    });
    if !is_kept {
        out.forbidden(tolerations.at, "existing toleration can not be modified except its tolerationSeconds");
    }
}

/// The claims and the group of a spec.
pub(super) fn check_claims(out: &mut Report<'_>, spec: &Node<'_, '_>, is_mirror: bool) {
    let claims = spec.field("resourceClaims");
    let names: BTreeSet<&str> =
        claims.items().map(|claim| claim.text_of("name")).filter(|name| !name.is_empty()).gather();
    if is_mirror && claims.len() > 0 {
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
                unknown_claim(out, &claim, &names);
            }
        }
    }
    group(out, spec);
}

fn check_claim<'v>(out: &mut Report<'_>, claim: &Node<'v, '_>, seen: &mut BTreeSet<&'v str>) {
    let name = claim.field("name");
    if name.text().is_empty() {
        out.required(name.at, "a name is needed");
    } else if !seen.insert(name.text()) {
        out.duplicate(name.at, name.text());
    } else {
        out.text(&name, names::label);
    }
    let (cluster, group) = (claim.field(CLUSTER_SOURCE), claim.field(GROUP_SOURCE));
    if cluster.is_set() && !out.features().cluster_resource_claim_templates {
        out.forbidden(cluster.at, "the feature gate `ClusterResourceClaimTemplates` is off");
    }
    let set = SOURCES.iter().chain([&CLUSTER_SOURCE, &GROUP_SOURCE]).filter(|source| claim.has(source)).count();
    match set {
        1 => {}
        0 => out.invalid(claim.at, "one of `resourceClaimName`, `resourceClaimTemplateName` is needed"),
        _ => out.invalid(claim.at, "an entry has only one source"),
    }
    for source in SOURCES.into_iter().chain([CLUSTER_SOURCE]) {
        out.set_text(&claim.field(source), names::subdomain);
    }
    out.set_text(&group, names::label);
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
                out.text(&request, names::label);
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
            unknown_claim(out, &claim, known);
        }
    }
}

fn unknown_claim(out: &mut Report<'_>, claim: &Node<'_, '_>, known: &BTreeSet<&str>) {
    let name = claim.text_of("name");
    out.not_found(claim.at, format!("the Pod has no claim `{}` in `spec.resourceClaims`", shown(name)));
    did_you_mean(name, &mut known.iter().copied()).into_iter().for_each(|meant| out.hint(meant));
}

fn group(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let workload = spec.field("workloadRef");
    if workload.is_set() && out.profile.version == Version::V1_35 {
        out.text(&workload.field("name"), names::subdomain);
        out.text(&workload.field("podGroup"), names::label);
        out.some_text(&workload.field("podGroupReplicaKey"), names::label);
    }
    let group = spec.field("schedulingGroup");
    if !group.is_set() {
        return;
    }
    if spec.field("evictionResponders").len() > 0 {
        out.forbidden(group.at, "cannot be set together with `evictionResponders`");
    }
    let name = group.field("podGroupName");
    if name.is_set() {
        out.text(&name, names::subdomain);
    } else {
        out.invalid(name.at, "the name of a PodGroup is needed");
    }
}

/// The claims of a container's resources; no list for an empty one.
fn normal(resources: &Value) -> Value {
    match resources.get("claims") {
        Some(Value::Array(claims)) if claims.is_empty() => Value::Null,
        Some(claims) => claims.clone(),
        None => Value::Null,
    }
}
