//! ResourceClaimTemplates, and the cluster-wide ones of KEP-5978.

use super::claim;
use super::meta::{self, Scope};
use super::node::Node;
use super::report::Report;
use super::schema::{META, TEMPLATE_SPEC, fields, same};
use super::source;

/// A template that is created.
pub(super) fn create(out: &mut Report<'_>, template: &Node<'_, '_>, scope: Scope) {
    check(out, template, scope);
    let outer = template.field("spec");
    if scope == Scope::Namespace {
        claim::admin_access(out, template, &outer.field("spec"));
    }
}

/// A template that is changed: its spec cannot be, and yet all rules are applied again.
pub(super) fn update(out: &mut Report<'_>, template: &Node<'_, '_>, old: &Node<'_, '_>, scope: Scope) {
    check(out, template, scope);
    meta::update(out, template, old);
    meta::recheck(out, template);
    let spec = template.field("spec");
    if !same(&TEMPLATE_SPEC, spec.value, old.peek("spec")) {
        out.immutable(spec.at);
        out.hint("delete the template and create it anew, or give the new one another name");
    }
}

fn check(out: &mut Report<'_>, template: &Node<'_, '_>, scope: Scope) {
    meta::check(out, template, scope);
    check_spec(out, &template.field("spec"));
    source::annotations(out, template);
    if scope == Scope::Cluster && !out.features().cluster_resource_claim_templates {
        out.forbidden("", "the feature gate `ClusterResourceClaimTemplates` is off");
    }
}

/// What claims are made of.
pub(super) fn check_spec(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let metadata = spec.field("metadata");
    meta::maps(out, &metadata);
    for field in fields(&META) {
        let name = field.name;
        if !matches!(name, "labels" | "annotations") && !is_empty(metadata.peek(name)) {
            // The reference lowers the first letter of its own name of the field.
            let shown = if name == "uid" { "uID" } else { name };
            out.forbidden(metadata.at.field(shown), "only labels and annotations can be given for generated claims");
        }
    }
    claim::check_spec(out, &spec.field("spec"));
}

/// Whether the reference takes the field as left out: an empty list is not.
fn is_empty(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Null => true,
        serde_json::Value::String(text) => text.is_empty(),
        serde_json::Value::Number(number) => number.as_i64() == Some(0),
        serde_json::Value::Array(_) | serde_json::Value::Object(_) | serde_json::Value::Bool(_) => false,
    }
}
