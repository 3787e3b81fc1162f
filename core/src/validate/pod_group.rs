//! PodGroups (KEP-5832), with their claims (KEP-5729).

use std::collections::BTreeSet;

use super::group::{self, Shape, fresh, union};
use super::meta::{self, Scope};
use super::names;
use super::node::Node;
use super::report::{Report, shown};
use super::schema::{TEMPLATE_REF, Type, WORKLOAD_REF};
use crate::gather::Gather;

const MOST_CLAIM_STATUSES: usize = 4;
const PARENT: &str = "parentCompositePodGroupName";

/// A PodGroup that is created, or changed: most of its spec cannot be.
pub(super) fn check(out: &mut Report<'_>, object: &Node<'_, '_>, old: Option<&Node<'_, '_>>, shape: Shape) {
    meta::check_parts(out, object, old, Scope::Namespace);
    let spec = object.field("spec");
    let before = old.map(|old| Node::root(old.peek("spec")));
    origin(out, &spec, before.as_ref(), shape);
    group::check(out, &spec, before.as_ref(), shape);
    if old.is_some() {
        group::refuse_disabled(out, &spec.field("resourceClaims"));
    }
}

/// A CompositePodGroup that is created, or changed: nothing in its spec can be.
pub(super) fn check_composite(out: &mut Report<'_>, object: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    meta::check_parts(out, object, old, Scope::Namespace);
    let spec = object.field("spec");
    let before = old.map(|old| Node::root(old.peek("spec")));
    if let Some(parent) = fresh(out, &spec, before.as_ref(), PARENT, &Type::Opt(&Type::Text)) {
        out.set_text(&parent, names::subdomain);
    }
    if let Some(reference) = fresh(out, &spec, before.as_ref(), "workloadRef", &WORKLOAD_REF) {
        if reference.is_set() {
            template(out, &reference, "templateName");
        } else {
            out.required(reference.at, "the template that the group is made from is needed");
        }
    }
    group::check(out, &spec, before.as_ref(), Shape::Composite);
}

/// The status of a PodGroup.
pub(super) fn check_status(out: &mut Report<'_>, object: &Node<'_, '_>, status: &Node<'_, '_>) {
    meta::conditions(out, &status.field("conditions"));
    let statuses = status.field("resourceClaimStatuses");
    let known = claim_names(&object.field("spec"));
    for entry in statuses.items() {
        known_claim(out, &entry.field("name"), &known);
    }
    out.set(&statuses, MOST_CLAIM_STATUSES, "name", |out, entry| {
        out.set_text(&entry.field("resourceClaimName"), names::subdomain);
    });
}

/// The names of the entries in `resourceClaims`.
pub(super) fn claim_names<'v>(spec: &Node<'v, '_>) -> BTreeSet<&'v str> {
    spec.field("resourceClaims").items().map(|claim| claim.text_of("name")).gather()
}

/// The name in a status of an entry in `resourceClaims`.
pub(super) fn known_claim(out: &mut Report<'_>, name: &Node<'_, '_>, known: &BTreeSet<&str>) {
    if !known.contains(name.text()) {
        let text = shown(name.text());
        out.invalid(name.at, format!("`{text}` is not the name of an entry in `spec.resourceClaims`"));
    }
}

/// Where the group comes from, in the spelling of its version.
fn origin(out: &mut Report<'_>, spec: &Node<'_, '_>, before: Option<&Node<'_, '_>>, shape: Shape) {
    match shape {
        Shape::Alpha1 => {
            for name in ["workloadRef", "podGroupTemplateRef"] {
                if let Some(reference) = fresh(out, spec, before, name, &Type::Opt(&Type::Any)).filter(Node::is_set) {
                    named(out, &reference.field("name"), name == "podGroupTemplateRef");
                }
            }
        }
        Shape::Alpha2 => {
            let reference = fresh(out, spec, before, "podGroupTemplateRef", &TEMPLATE_REF);
            let Some(reference) = reference.filter(Node::is_set) else { return };
            // Flat as in the examples of KEP-5729, or nested as shipped.
            let is_flat = reference.has("workloadName") || reference.has("podGroupTemplateName");
            if is_flat && !reference.has("workload") {
                template(out, &reference, "podGroupTemplateName");
            } else {
                union(out, &reference, &["workload"]);
                let workload = reference.field("workload");
                if workload.is_set() {
                    template(out, &workload, "podGroupTemplateName");
                }
            }
        }
        Shape::Beta1 | Shape::Composite | Shape::CompositeTemplate => {
            if let Some(reference) = fresh(out, spec, before, "workloadRef", &WORKLOAD_REF).filter(Node::is_set) {
                template(out, &reference, "templateName");
            }
            parent(out, spec, before);
        }
    }
}

fn parent(out: &mut Report<'_>, spec: &Node<'_, '_>, before: Option<&Node<'_, '_>>) {
    let parent = fresh(out, spec, before, PARENT, &Type::Opt(&Type::Text));
    let Some(parent) = parent.filter(Node::is_set) else { return };
    if !out.features().composite_pod_group {
        out.forbidden(parent.at, "the feature gate `CompositePodGroup` is off");
        return;
    }
    out.text(&parent, names::subdomain);
    if !spec.has("workloadRef") {
        out.required(spec.at.field("workloadRef"), "is needed with `parentCompositePodGroupName`");
    }
}

fn template(out: &mut Report<'_>, reference: &Node<'_, '_>, template_field: &str) {
    named(out, &reference.field("workloadName"), false);
    named(out, &reference.field(template_field), true);
}

fn named(out: &mut Report<'_>, name: &Node<'_, '_>, is_label: bool) {
    out.needed_text(name, "a name is needed", if is_label { names::label } else { names::subdomain });
}
