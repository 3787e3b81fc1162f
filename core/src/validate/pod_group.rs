//! PodGroups (KEP-5832), with their claims (KEP-5729).

use std::collections::BTreeSet;

use super::group::{self, Shape, changed, union};
use super::meta::{self, Scope};
use super::names;
use super::node::Node;
use super::report::Report;
use super::schema::{TEMPLATE_REF, Type, WORKLOAD_REF};

const MOST_CLAIM_STATUSES: usize = 4;

/// A PodGroup that is created.
pub(super) fn create(out: &mut Report<'_>, object: &Node<'_, '_>, shape: Shape) {
    meta::check(out, object, Scope::Namespace);
    let spec = object.field("spec");
    origin(out, &spec, None, shape);
    group::check(out, &spec, None, shape);
}

/// A PodGroup that is changed: most of its spec cannot be.
pub(super) fn update(out: &mut Report<'_>, object: &Node<'_, '_>, old: &Node<'_, '_>, shape: Shape) {
    meta::update(out, object, old);
    meta::recheck(out, object);
    let (spec, before) = (object.field("spec"), old.field("spec"));
    origin(out, &spec, Some(&before), shape);
    group::check(out, &spec, Some(&before), shape);
    group::refuse_disabled(out, &spec.field("resourceClaims"));
}

/// A CompositePodGroup that is created.
pub(super) fn create_composite(out: &mut Report<'_>, object: &Node<'_, '_>) {
    meta::check(out, object, Scope::Namespace);
    composite(out, &object.field("spec"), None);
}

/// A CompositePodGroup that is changed: nothing in its spec can be.
pub(super) fn update_composite(out: &mut Report<'_>, object: &Node<'_, '_>, old: &Node<'_, '_>) {
    meta::update(out, object, old);
    meta::recheck(out, object);
    composite(out, &object.field("spec"), Some(&old.field("spec")));
}

fn composite(out: &mut Report<'_>, spec: &Node<'_, '_>, before: Option<&Node<'_, '_>>) {
    let old = |name: &str| before.map(|before| before.peek(name));
    let parent = spec.field("parentCompositePodGroupName");
    if changed(out, &parent, old("parentCompositePodGroupName"), &Type::Opt(&Type::Text)) && parent.is_set() {
        out.text(&parent, names::subdomain);
    }
    let reference = spec.field("workloadRef");
    if changed(out, &reference, old("workloadRef"), &WORKLOAD_REF) {
        if reference.is_set() {
            template(out, &reference, "templateName");
        } else {
            out.required(reference.at, "the template that the group is made from is needed");
        }
    }
    group::check(out, spec, before, Shape::Composite);
}

/// A CompositePodGroup whose status is changed.
pub(super) fn update_composite_status(out: &mut Report<'_>, object: &Node<'_, '_>, old: &Node<'_, '_>) {
    meta::update(out, object, old);
    meta::conditions(out, &object.field("status").field("conditions"));
}

/// A PodGroup whose status is changed.
pub(super) fn update_status(out: &mut Report<'_>, object: &Node<'_, '_>, old: &Node<'_, '_>) {
    meta::update(out, object, old);
    let (status, spec) = (object.field("status"), object.field("spec"));
    meta::conditions(out, &status.field("conditions"));
    let claims = spec.field("resourceClaims");
    let known: BTreeSet<&str> = claims.items().map(|claim| claim.text_of("name")).collect();
    let statuses = status.field("resourceClaimStatuses");
    for entry in statuses.items() {
        let name = entry.field("name");
        if !known.contains(name.text()) {
            let text = super::report::shown(name.text());
            out.invalid(name.at, format!("`{text}` is not the name of an entry in `spec.resourceClaims`"));
        }
    }
    out.set(
        &statuses,
        MOST_CLAIM_STATUSES,
        |entry| entry.text_of("name").to_owned(),
        |out, entry| {
            out.set_text(&entry.field("resourceClaimName"), names::subdomain);
        },
    );
}

/// Where the group comes from, in the spelling of its version.
fn origin(out: &mut Report<'_>, spec: &Node<'_, '_>, before: Option<&Node<'_, '_>>, shape: Shape) {
    let old = |name: &str| before.map(|before| before.peek(name));
    match shape {
        Shape::Alpha1 => {
            for name in ["workloadRef", "podGroupTemplateRef"] {
                let reference = spec.field(name);
                let of = Type::Opt(&Type::Any);
                if changed(out, &reference, old(name), &of) && reference.is_set() {
                    let is_label = name == "podGroupTemplateRef";
                    named(out, &reference.field("name"), is_label);
                }
            }
        }
        Shape::Alpha2 => {
            let reference = spec.field("podGroupTemplateRef");
            if !changed(out, &reference, old("podGroupTemplateRef"), &TEMPLATE_REF) || !reference.is_set() {
                return;
            }
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
            let reference = spec.field("workloadRef");
            if changed(out, &reference, old("workloadRef"), &WORKLOAD_REF) && reference.is_set() {
                template(out, &reference, "templateName");
            }
            parent(out, spec, old("parentCompositePodGroupName"));
        }
    }
}

fn parent(out: &mut Report<'_>, spec: &Node<'_, '_>, before: Option<&serde_json::Value>) {
    let parent = spec.field("parentCompositePodGroupName");
    if !changed(out, &parent, before, &Type::Opt(&Type::Text)) || !parent.is_set() {
        return;
    }
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
    if name.text().is_empty() {
        out.required(name.at, "a name is needed");
    } else {
        let problems = if is_label { names::label(name.text()) } else { names::subdomain(name.text()) };
        out.invalid_each(name.at, name.text(), &problems);
    }
}
