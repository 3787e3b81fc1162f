//! Workloads (KEP-4671, KEP-5832).

use super::composite;
use super::group::{self, MOST_TEMPLATES, Shape, fresh};
use super::meta::{self, Scope};
use super::names;
use super::node::Node;
use super::report::Report;
use super::schema::{CONTROLLER_REF, GROUP_TEMPLATES, same};

/// A Workload that is created or changed.
pub(super) fn check(out: &mut Report<'_>, workload: &Node<'_, '_>, old: Option<&Node<'_, '_>>, shape: Shape) {
    meta::check_parts(out, workload, old, Scope::Namespace);
    let spec = workload.field("spec");
    let list = templates(&spec, shape);
    if let Some(old) = old {
        let before = old.field("spec");
        fresh(out, &spec, Some(&before), "controllerRef", &CONTROLLER_REF);
        let list_before = templates(&before, shape);
        if shape == Shape::Beta1 {
            group::update_beta(out, &list, &list_before);
            composite::update(out, &spec, &before);
        } else if !same(&GROUP_TEMPLATES, list.value, list_before.value)
            || list.value != list_before.value && shape == Shape::Alpha1
        {
            out.immutable(list.at);
            sized(out, &list, &spec, shape);
        }
        return;
    }
    controller(out, &spec.field("controllerRef"));
    if shape == Shape::Beta1 {
        composite::check(out, &spec);
    }
    if sized(out, &list, &spec, shape) {
        for template in list.items() {
            group::name(out, &template);
            group::check(out, &template, None, shape);
        }
        out.unique_by(&list, "name");
    }
}

/// The list of templates under the name that the version has for it.
fn templates<'v, 's>(spec: &'s Node<'v, '_>, shape: Shape) -> Node<'v, 's> {
    let shipped = shape != Shape::Alpha1 || spec.has("podGroupTemplates");
    spec.field(if shipped { "podGroupTemplates" } else { "podGroups" })
}

fn sized(out: &mut Report<'_>, list: &Node<'_, '_>, spec: &Node<'_, '_>, shape: Shape) -> bool {
    let composite = spec.field("compositePodGroupTemplates");
    if shape == Shape::Beta1 && composite.len() > 0 {
        if list.len() > 0 {
            out.invalid(spec.at, "only one of `podGroupTemplates`, `compositePodGroupTemplates` can be set");
        }
    } else if list.len() == 0 {
        if shape == Shape::Beta1 {
            out.invalid(spec.at, "one of `podGroupTemplates`, `compositePodGroupTemplates` is needed");
        } else {
            out.required(list.at, "at least one template is needed");
        }
        return false;
    }
    out.most(list, MOST_TEMPLATES)
}

fn controller(out: &mut Report<'_>, reference: &Node<'_, '_>) {
    if !reference.is_set() {
        return;
    }
    out.some_text(&reference.field("apiGroup"), names::subdomain);
    for name in ["kind", "name"] {
        out.needed_text(&reference.field(name), format!("`{name}` is needed"), names::path_segment);
    }
}
