//! Workloads (KEP-4671, KEP-5832).

use serde_json::Value;

use super::composite;
use super::group::{self, Shape, fresh};
use super::meta::{self, Scope};
use super::names;
use super::node::Node;
use super::report::Report;
use super::schema::{CONTROLLER_REF, GROUP_TEMPLATES, TEMPLATE_BETA1, Type, same};

pub(super) const MOST_TEMPLATES: usize = 8;

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
            update_beta(out, &list, &list_before);
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
            name(out, &template);
            group::check(out, &template, None, shape);
        }
        out.unique_by(&list, "name");
    }
}

/// Since 1.37 entries cannot be added or removed, and each field is looked at by itself.
pub(super) fn update_beta(out: &mut Report<'_>, list: &Node<'_, '_>, before: &Node<'_, '_>) {
    update_each(out, list, before, &TEMPLATE_BETA1, |out, template, old| {
        group::check(out, template, Some(old), Shape::Beta1);
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

/// The name of a template.
pub(super) fn name(out: &mut Report<'_>, template: &Node<'_, '_>) {
    out.needed_text(&template.field("name"), "a name is needed", names::label);
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
