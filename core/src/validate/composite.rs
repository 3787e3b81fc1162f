//! Templates of CompositePodGroups in a Workload: a tree of groups of groups.
//!
//! Source: `ValidateWorkloadSpec` and the tags in `api/scheduling/v1alpha3/types.go` of 1.37.

use std::collections::BTreeSet;

use serde_json::Value;

use super::group::{self, MOST_TEMPLATES, Shape, is_gang, name, update_beta, update_each};
use super::node::Node;
use super::report::{Report, shown};
use super::schema::{COMPOSITE_TEMPLATES, Type};
use crate::gather::Gather;
use crate::profile::Version;

const COMPOSITE: &str = "compositePodGroupTemplates";
const GROUPS: &str = "podGroupTemplates";

/// How deep templates may nest.
const DEEPEST: usize = 4;

/// The templates of a Workload that is created.
pub(super) fn check(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let list = spec.field(COMPOSITE);
    composites(out, &list, 1);
    whole(out, spec, true);
}

/// The templates of a Workload that is changed.
pub(super) fn update(out: &mut Report<'_>, spec: &Node<'_, '_>, before: &Node<'_, '_>) {
    update_composites(out, &spec.field(COMPOSITE), &before.field(COMPOSITE), 1);
    whole(out, spec, false);
}

/// Each template by itself.
fn composites(out: &mut Report<'_>, list: &Node<'_, '_>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    out.set(list, MOST_TEMPLATES, "name", |out, template| {
        name(out, template);
        group::check(out, template, None, Shape::CompositeTemplate);
        out.set(&template.field(GROUPS), MOST_TEMPLATES, "name", |out, template| {
            name(out, template);
            group::check(out, template, None, Shape::Beta1);
        });
        composites(out, &template.field(COMPOSITE), depth.saturating_add(1));
    });
}

fn update_composites(out: &mut Report<'_>, list: &Node<'_, '_>, before: &Node<'_, '_>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    let of = if let Type::List(of) = &COMPOSITE_TEMPLATES { *of } else { &Type::Any };
    update_each(out, list, before, of, |out, template, old| {
        group::check(out, template, Some(old), Shape::CompositeTemplate);
        update_beta(out, &template.field(GROUPS), &old.field(GROUPS));
        update_composites(out, &template.field(COMPOSITE), &old.field(COMPOSITE), depth.saturating_add(1));
    });
}

/// What holds of all templates together: names of their own, one priority, children, a depth. Stored templates may preempt in different ways.
fn whole(out: &mut Report<'_>, spec: &Node<'_, '_>, is_new: bool) {
    let groups = spec.field(GROUPS);
    let mut known: BTreeSet<String> = groups.items().map(|group| group.text_of("name").to_owned()).gather();
    let list = spec.field(COMPOSITE);
    names(out, &list, &mut known, 1);
    for template in list.items() {
        if is_too_deep(template.value, 1) {
            out.invalid(template.at, format!("templates can nest {DEEPEST} levels deep"));
        }
    }
    if out.profile.version >= Version::V1_37 {
        let mut priorities = Vec::new();
        collect_priorities(spec.value, &mut priorities, 0);
        let differs = |(first, second): (&Priority<'_>, &Priority<'_>)| {
            let compares_all = is_new && out.profile.version.is_after_1_37();
            (first.0, first.1) != (second.0, second.1) || compares_all && first.2 != second.2
        };
        if priorities.iter().zip(priorities.iter().skip(1)).any(differs) {
            out.invalid(
                spec.at,
                "all templates must have the same `priority` and `priorityClassName`, since 1.38 `preemptionPolicy` as well",
            );
        }
    }
    children(out, &list, 1);
}

/// Names differ across the lists of the tree, too; inside one list that was looked at before.
fn names(out: &mut Report<'_>, list: &Node<'_, '_>, known: &mut BTreeSet<String>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    across(out, list, known);
    for template in list.items() {
        across(out, &template.field(GROUPS), known);
        names(out, &template.field(COMPOSITE), known, depth.saturating_add(1));
    }
}

fn across(out: &mut Report<'_>, list: &Node<'_, '_>, known: &mut BTreeSet<String>) {
    for template in list.items() {
        let name = template.field("name");
        if known.contains(name.text()) {
            out.duplicate(name.at, &shown(name.text()));
        }
    }
    known.extend(list.items().map(|template| template.text_of("name").to_owned()));
}

/// Bounded by the depth itself.
fn is_too_deep(template: &Value, depth: usize) -> bool {
    let children = template.get(COMPOSITE).and_then(Value::as_array);
    depth >= DEEPEST && children.is_some_and(|children| !children.is_empty())
        || depth < DEEPEST && children.into_iter().flatten().any(|child| is_too_deep(child, depth.saturating_add(1)))
}

/// The class of a template, its number, and whether it preempts.
type Priority<'v> = (&'v str, Option<i64>, Option<&'v str>);

/// The priorities of all templates below a spec or template.
fn collect_priorities<'v>(of: &'v Value, found: &mut Vec<Priority<'v>>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    for list in [GROUPS, COMPOSITE] {
        for template in of.get(list).and_then(Value::as_array).into_iter().flatten() {
            let class = template.get("priorityClassName").and_then(Value::as_str).unwrap_or_default();
            let policy = template.get("preemptionPolicy").and_then(Value::as_str);
            found.push((class, template.get("priority").and_then(Value::as_i64), policy));
            collect_priorities(template, found, depth.saturating_add(1));
        }
    }
}

/// Each template has some below it. Since 1.38 those of a gang are gangs, and those of a group that is disrupted as a whole are as well.
fn children(out: &mut Report<'_>, list: &Node<'_, '_>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    let is_whole = |template: &Node<'_, '_>| template.field("disruptionMode").has("all");
    for template in list.items() {
        let (composites, groups) = (template.field(COMPOSITE), template.field(GROUPS));
        if composites.len() == 0 && groups.len() == 0 {
            out.invalid(template.at, "at least one template below it is needed");
        }
        for child in composites.items().chain(groups.items()).filter(|_| out.profile.version.is_after_1_37()) {
            if is_gang(&template) && !is_gang(&child) {
                out.invalid(child.at.field("schedulingPolicy"), "needs `gang`, as the template above it has it");
            }
            if is_whole(&template) && !is_whole(&child) {
                out.invalid(child.at.field("disruptionMode"), "needs `all`, as the template above it has it");
            }
        }
        children(out, &composites, depth.saturating_add(1));
    }
}
