//! What PodGroups and the templates of PodGroups have in common.
//!
//! The API server checks these kinds with declared rules: of one field, immutability, size and presence are looked at
//! first, and only if all of them hold the rules inside; what an update leaves as it was is not looked at again.
//!
//! Source: the tags in `api/scheduling/*/types.go`; KEP-5832, KEP-5729, KEP-5732, KEP-5710.

use serde_json::Value;

use super::names;
use super::node::Node;
use super::report::Report;
use super::schema::{COMPOSITE_POLICY, CONSTRAINTS, DISRUPTION, GROUP_CLAIMS, POLICY, TEMPLATE_BETA1, Type, same};
use crate::profile::Version;

/// Templates in one list.
pub(super) const MOST_TEMPLATES: usize = 8;
const MOST_CLAIMS: usize = 4;
const MOST_TOPOLOGIES: usize = 1;
const HIGHEST_PRIORITY: i64 = 1_000_000_000;

/// Which shape of the API an object has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `v1alpha1`.
    Alpha1,
    /// `v1alpha2`.
    Alpha2,
    /// `v1alpha3` and `v1beta1`.
    Beta1,
    /// The spec of a CompositePodGroup.
    Composite,
    /// A template of CompositePodGroups.
    CompositeTemplate,
}

impl Shape {
    /// Whether disruption is an object, and nothing about priorities is behind a gate.
    fn is_latest(self) -> bool {
        matches!(self, Self::Beta1 | Self::Composite | Self::CompositeTemplate)
    }

    /// Whether what is grouped are groups.
    fn is_composite(self) -> bool {
        matches!(self, Self::Composite | Self::CompositeTemplate)
    }

    /// The shape of a version.
    pub(super) fn of(version: &str) -> Self {
        match version {
            "v1alpha1" => Self::Alpha1,
            "v1alpha2" => Self::Alpha2,
            _ => Self::Beta1,
        }
    }
}

/// The fields of a PodGroup's spec or of a template. `old` is what they were, where they cannot be changed.
pub(super) fn check(out: &mut Report<'_>, spec: &Node<'_, '_>, old: Option<&Node<'_, '_>>, shape: Shape) {
    policy(out, spec, old, shape);
    let on = out.features().topology_aware_scheduling || shape.is_composite();
    gated(out, spec, old, "schedulingConstraints", &CONSTRAINTS, on, |out, constraints| {
        out.list(&constraints.field("topology"), MOST_TOPOLOGIES, |out, topology| {
            out.needed_text(&topology.field("key"), "the key of a node label is needed", names::label_key);
        });
    });
    if !shape.is_composite()
        && let Some(list) = fresh(out, spec, old, "resourceClaims", &GROUP_CLAIMS)
    {
        claims(out, &list);
    }
    disruption(out, spec, old, shape);
    let on = out.features().workload_aware_preemption || shape.is_latest();
    gated(out, spec, old, "priorityClassName", &Type::Text, on, |out, class| out.some_text(class, names::subdomain));
    gated(out, spec, old, "priority", &Type::Opt(&Type::Int32), on, |out, priority| {
        if priority.int() > HIGHEST_PRIORITY && !out.profile.version.is_after_1_37() {
            out.invalid(priority.at, format!("must be at most {HIGHEST_PRIORITY}"));
        }
    });
    let on = out.features().pod_group_preemption_policy;
    gated(out, spec, old, "preemptionPolicy", &Type::Opt(&Type::Text), on, |out, preemption| {
        out.known(preemption, &["Never", "PreemptLowerPriority"]);
    });
}

/// A field whose rules are to be asked, because there was no object before. One that changed is reported.
pub(super) fn fresh<'v, 's>(
    out: &mut Report<'_>,
    spec: &'s Node<'v, '_>,
    old: Option<&Node<'_, '_>>,
    name: &'s str,
    of: &Type,
) -> Option<Node<'v, 's>> {
    let field = spec.field(name);
    if old.is_some_and(|old| !same(of, field.value, old.peek(name))) {
        out.immutable(field.at);
    }
    old.is_none().then_some(field)
}

/// A field behind a feature gate: with the gate off it may not be there at all.
fn gated(
    out: &mut Report<'_>,
    spec: &Node<'_, '_>,
    old: Option<&Node<'_, '_>>,
    name: &str,
    of: &Type,
    on: bool,
    rule: impl FnOnce(&mut Report<'_>, &Node<'_, '_>),
) {
    let field = spec.field(name);
    if old.is_some_and(|old| same(of, field.value, old.peek(name))) {
        return;
    }
    if !on {
        if !is_zero(field.value) {
            out.forbidden(field.at, "the feature gate of the field is off");
        }
    } else if let Some(field) = fresh(out, spec, old, name, of).filter(Node::is_set) {
        rule(out, &field);
    }
}

fn is_zero(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

fn policy(out: &mut Report<'_>, spec: &Node<'_, '_>, old: Option<&Node<'_, '_>>, shape: Shape) {
    // One of the two spellings; the shipped one where none is written.
    let name = match shape {
        Shape::Alpha1 if !spec.has("schedulingPolicy") => "policy",
        Shape::Alpha2 if spec.has("policy") && !spec.has("schedulingPolicy") => "policy",
        _ => "schedulingPolicy",
    };
    let policy = spec.field(name);
    let mutable_count = match shape {
        Shape::Beta1 => out.profile.version >= Version::V1_37,
        Shape::Composite => out.profile.version.is_after_1_37(),
        Shape::CompositeTemplate => true,
        Shape::Alpha1 | Shape::Alpha2 => false,
    };
    let count = if shape.is_composite() { "minGroupCount" } else { "minCount" };
    let of = if shape.is_composite() { &COMPOSITE_POLICY } else { &POLICY };
    match old {
        Some(old) if mutable_count => {
            let before = old.field(name);
            if before.has("gang") != policy.has("gang") {
                out.invalid(policy.at.field("gang"), "cannot be set or cleared");
            } else if before.has("basic") != policy.has("basic") {
                out.immutable(policy.at.field("basic"));
            } else if policy.value != before.value {
                gang(out, &policy, count);
            }
        }
        Some(_) => drop(fresh(out, spec, old, name, of)),
        None => {
            union(out, &policy, &["basic", "gang"]);
            gang(out, &policy, count);
        }
    }
}

/// `count_field` says how many must run together.
fn gang(out: &mut Report<'_>, policy: &Node<'_, '_>, count_field: &str) {
    let gang = policy.field("gang");
    if !gang.is_set() {
        return;
    }
    let count = gang.field(count_field);
    match count.int() {
        0 if count_field == "minGroupCount" => {
            out.required(count.at, "the number of groups that must run together is needed");
        }
        0 => out.required(count.at, "the number of Pods that must run together is needed"),
        negative if negative < 0 => out.invalid(count.at, "must be at least 1"),
        _ => {}
    }
}

/// Exactly one of the members must be set.
pub(super) fn union(out: &mut Report<'_>, object: &Node<'_, '_>, members: &[&str]) {
    let listed = members.join("`, `");
    match members.iter().filter(|member| object.has(member)).count() {
        1 => {}
        0 => out.invalid(object.at, format!("one of `{listed}` is needed")),
        _ => out.invalid(object.at, format!("only one of `{listed}` can be set")),
    }
}

/// Claims from a cluster-wide template, where the gate is off: such an object cannot be changed at all.
pub(super) fn refuse_disabled(out: &mut Report<'_>, claims: &Node<'_, '_>) {
    if out.features().cluster_resource_claim_templates {
        return;
    }
    for claim in claims.items() {
        let cluster = claim.field("clusterResourceClaimTemplateName");
        if cluster.is_set() {
            out.forbidden(cluster.at, "the feature gate `ClusterResourceClaimTemplates` is off");
            out.hint("with the gate off, the object can only be deleted");
        }
    }
}

fn claims(out: &mut Report<'_>, claims: &Node<'_, '_>) {
    let sources: &[&str] = if out.features().cluster_resource_claim_templates {
        &["resourceClaimName", "resourceClaimTemplateName", "clusterResourceClaimTemplateName"]
    } else {
        &["resourceClaimName", "resourceClaimTemplateName"]
    };
    out.set(claims, MOST_CLAIMS, "name", |out, claim| {
        out.needed_text(&claim.field("name"), "a name is needed", names::label);
        let cluster = claim.field("clusterResourceClaimTemplateName");
        if cluster.is_set() && !out.features().cluster_resource_claim_templates {
            out.forbidden(cluster.at, "the feature gate `ClusterResourceClaimTemplates` is off");
        } else {
            union(out, claim, sources);
        }
        for source in sources {
            out.set_text(&claim.field(source), names::subdomain);
        }
    });
}

fn disruption(out: &mut Report<'_>, spec: &Node<'_, '_>, old: Option<&Node<'_, '_>>, shape: Shape) {
    if shape.is_latest() {
        if let Some(mode) = fresh(out, spec, old, "disruptionMode", &DISRUPTION).filter(Node::is_set) {
            union(out, &mode, &["single", "all"]);
            if mode.has("all") && !is_gang(spec) && out.profile.version.is_after_1_37() {
                out.invalid(mode.at, "`all` needs the scheduling policy `gang`");
            }
        }
        return;
    }
    let on = out.features().workload_aware_preemption;
    gated(out, spec, old, "disruptionMode", &Type::Opt(&Type::Text), on, |out, mode| {
        out.known(mode, &["Pod", "PodGroup"]);
    });
}

/// Whether the members of a group run together or not at all.
pub(super) fn is_gang(spec: &Node<'_, '_>) -> bool {
    spec.field("schedulingPolicy").has("gang")
}

/// The name of a template.
pub(super) fn name(out: &mut Report<'_>, template: &Node<'_, '_>) {
    out.needed_text(&template.field("name"), "a name is needed", names::label);
}

/// Since 1.37 entries cannot be added or removed, and each field is looked at by itself.
pub(super) fn update_beta(out: &mut Report<'_>, list: &Node<'_, '_>, before: &Node<'_, '_>) {
    update_each(out, list, before, &TEMPLATE_BETA1, |out, template, old| {
        check(out, template, Some(old), Shape::Beta1);
    });
}

/// Templates that are changed, each beside the one of its name as it was. Those that stay as they were are not looked at.
pub(super) fn update_each(
    out: &mut Report<'_>,
    list: &Node<'_, '_>,
    before: &Node<'_, '_>,
    of: &Type,
    mut rule: impl FnMut(&mut Report<'_>, &Node<'_, '_>, &Node<'_, '_>),
) {
    if list.len() > MOST_TEMPLATES || before.len() > MOST_TEMPLATES {
        out.too_many(list.at, list.len(), MOST_TEMPLATES);
        return;
    }
    let named = |list: &[Value], name: &str| {
        list.iter().position(|template| template.get("name").and_then(Value::as_str).unwrap_or_default() == name)
    };
    for template in list.items() {
        match named(before.list(), template.text_of("name")).and_then(|index| before.list().get(index)) {
            None => out.forbidden(template.at, "no template can be added"),
            Some(old) if same(of, template.value, old) => {}
            Some(old) => rule(out, &template, &Node::root(old)),
        }
    }
    let gone = |old: &Value| named(list.list(), old.get("name").and_then(Value::as_str).unwrap_or_default()).is_none();
    if before.list().iter().any(gone) {
        out.forbidden(list.at, "no template can be removed");
    }
}
