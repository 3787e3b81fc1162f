//! ClusterResourceClaimTemplates of `apportion.dev`: the rules that we make, from one table.
//!
//! The CustomResourceDefinition is generated from the same table, so that an API server refuses what is refused here. What no
//! definition can say, such as whether an expression compiles, is said here alone; template-sync asks before it makes copies.

pub(super) mod annotations;
mod definition;
mod rows;

pub use definition::definition;

use super::kind::Kind;
use super::meta::{self, Scope};
use super::node::Node;
use super::report::{Report, shown};
use super::schema::{Type, fields};
use super::template;
use crate::finding::{Code, ErrorKind, Finding};
use rows::{Bound, row};

/// The only version there is.
const VERSION: &str = "v1alpha1";

/// A source that is created or changed. The controller follows every change, so nothing in it is immutable.
pub(super) fn check(out: &mut Report<'_>, source: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    meta::check(out, source, Scope::Cluster);
    rules(out, source, Kind::TemplateSource.schema(VERSION), "");
    let spec = source.field("spec");
    let inner = spec.field("template");
    if inner.is_set() {
        template::check_spec(out, &inner);
    }
    idle(out, &spec);
    if let Some(old) = old {
        meta::update(out, source, old);
    }
}

/// A value held against the table. The rules of claims, and those of metadata and status, are elsewhere.
///
/// Bounded: as deep as the schema.
fn rules(out: &mut Report<'_>, node: &Node<'_, '_>, of: &'static Type, path: &str) {
    let bounds = row(path).map(|row| row.bounds).unwrap_or_default();
    if !node.is_set() {
        if bounds.iter().any(|bound| matches!(bound, Bound::Required)) {
            let name = path.rsplit('.').next().unwrap_or_default();
            out.required(node.at, format!("`{name}` is needed"));
        }
        return;
    }
    if !bounds.iter().all(|bound| holds(out, node, bound)) {
        return;
    }
    for field in fields(of) {
        let inner = if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
        if !matches!(inner.as_str(), "metadata" | "status" | "spec.template.metadata" | "spec.template.spec")
            || inner == "spec.template.spec" && !node.has("spec")
        {
            rules(out, &node.field(field.name), &field.holds, &inner);
        }
    }
    let Some((element, step)) = element(of) else { return };
    let inner = format!("{path}{step}");
    let mut one = |entry: Node<'_, '_>| match entry.is_set() {
        true => rules(out, &entry, element, &inner),
        false => out.error(ErrorKind::TypeInvalid, Code::ReadWrongType, entry.at, "there is no value"),
    };
    node.items().for_each(&mut one);
    for (key, value) in node.entries().filter(|_| step == "{}") {
        one(Node { value, at: node.at.key(key) });
    }
}

/// What a list or map holds, and how its place is written.
fn element(of: &'static Type) -> Option<(&'static Type, &'static str)> {
    match of {
        Type::List(inner) => Some((inner, "[]")),
        Type::Map(inner) => Some((inner, "{}")),
        Type::Opt(inner) => element(inner),
        _ => None,
    }
}

/// Reports what breaks a bound; false where what is inside is not to be looked at.
fn holds(out: &mut Report<'_>, node: &Node<'_, '_>, bound: &Bound) -> bool {
    match bound {
        Bound::OneOf(known) => out.known(node, known),
        Bound::Between(least, most) => {
            if node.int() < *least {
                out.invalid(node.at, format!("must be at least {least}, is {}", node.int()));
            } else if node.int() > *most {
                out.invalid(node.at, format!("must be at most {most}, is {}", node.int()));
            }
        }
        Bound::Most(most) => return out.most(node, *most),
        Bound::Is(format) => out.invalid_each(node.at, node.text(), &format.problems(node.text())),
        Bound::Keys(format) => {
            for (key, _) in node.entries() {
                out.invalid_each(node.at, key, &format.problems(key));
            }
        }
        Bound::Set => out.unique_by(node, ""),
        Bound::Rule(rule) if !(rule.holds)(node) => {
            let (kind, code) = rule.kind.of();
            match rule.at {
                "" => out.error(kind, code, node.at, rule.message),
                field => out.error(kind, code, node.at.field(field), rule.message),
            }
            out.hint(rule.hint);
        }
        Bound::Required
        | Bound::Default(_)
        | Bound::Rule(_)
        | Bound::MapBy(_)
        | Bound::OneValue
        | Bound::Object
        | Bound::Only(_)
        | Bound::Claim(..) => {}
    }
    true
}

/// Targets that can select nothing.
fn idle(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let targets = spec.field("targets");
    if spec.is_set() && targets.len() == 0 {
        let finding = Finding::new(Code::LinkNoNamespace, targets.at, "without targets no namespace gets a copy");
        out.note(finding.with_hint("add a target with `namespaceSelector` or `names`; `names: [\"*\"]` is for all"));
    }
    for target in targets.items() {
        let names = target.field("names");
        for excluded in target.field("excludeNames").items() {
            if names.list().contains(excluded.value) {
                let name = shown(excluded.text());
                let message = format!("`{name}` is in `names` and in `excludeNames`: it gets no copy by this target");
                let finding = Finding::new(Code::LinkNoNamespace, excluded.at, message);
                out.note(finding.with_hint("take it out of one of them"));
            }
        }
    }
}
