//! ResourceClaimTemplates, and the cluster-wide ones of KEP-5978.

use super::claim;
use super::meta::{self, Scope};
use super::node::Node;
use super::report::Report;
use super::schema::{META, TEMPLATE_SPEC, fields, same};
use super::source::annotations;
use crate::api::versions::is_given;

/// A template that is created, or changed: its spec cannot be, and yet all rules are applied again.
pub(super) fn check(out: &mut Report<'_>, template: &Node<'_, '_>, old: Option<&Node<'_, '_>>, scope: Scope) {
    meta::check(out, template, scope);
    let spec = template.field("spec");
    check_spec(out, &spec);
    annotations::check(out, template);
    if scope == Scope::Cluster && !out.features().cluster_resource_claim_templates {
        out.forbidden("", "the feature gate `ClusterResourceClaimTemplates` is off");
    }
    let Some(old) = old else {
        claim::check_amounts(out, &spec.field("spec"));
        if scope == Scope::Namespace {
            claim::admin_access(out, template, &spec.field("spec"));
        }
        return;
    };
    meta::update(out, template, old);
    meta::recheck(out, template);
    if !same(&TEMPLATE_SPEC, spec.value, old.peek("spec")) {
        claim::check_amounts(out, &spec.field("spec"));
        out.immutable(spec.at);
        out.hint("delete the template and create it anew, or give the new one another name");
    }
}

/// What claims are made of.
pub(super) fn check_spec(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let metadata = spec.field("metadata");
    meta::maps(out, &metadata);
    for field in fields(&META) {
        let name = field.name;
        // For the reference an empty list is not left out.
        if !matches!(name, "labels" | "annotations") && is_given(metadata.peek(name)) {
            // The reference lowers the first letter of its own name of the field.
            let shown = if name == "uid" { "uID" } else { name };
            out.forbidden(metadata.at.field(shown), "only labels and annotations can be given for generated claims");
        }
    }
    claim::check_spec(out, &spec.field("spec"));
}
