//! Node selectors and node names.
//!
//! Source: `ValidateNodeSelector` of `pkg/apis/core/validation`.

use super::names;
use super::node::Node;
use super::report::{Report, shown};

/// A node selector.
pub(super) fn check(out: &mut Report<'_>, selector: &Node<'_, '_>) {
    let terms = selector.field("nodeSelectorTerms");
    if terms.len() == 0 {
        out.required(terms.at, "at least one term is needed");
        return;
    }
    for item in terms.items() {
        term(out, &item, false);
    }
}

/// One term. Where it is only a wish, values need not be those of labels.
pub(super) fn term(out: &mut Report<'_>, term: &Node<'_, '_>, is_wish: bool) {
    for expression in term.field("matchExpressions").items() {
        requirement(out, &expression, is_wish);
    }
    for field in term.field("matchFields").items() {
        field_requirement(out, &field);
    }
}

fn requirement(out: &mut Report<'_>, requirement: &Node<'_, '_>, is_wish: bool) {
    let (key, values) = (requirement.field("key"), requirement.field("values"));
    match requirement.text_of("operator") {
        "In" | "NotIn" if values.len() == 0 => out.required(values.at, "values are needed with `In` and `NotIn`"),
        "Exists" | "DoesNotExist" if values.len() > 0 => {
            out.forbidden(values.at, "no values are allowed with `Exists` and `DoesNotExist`");
        }
        "Gt" | "Lt" if values.len() != 1 => out.required(values.at, "one value is needed with `Gt` and `Lt`"),
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => {
            let message = format!("`{}` is not a valid selector operator", shown(other));
            out.invalid(requirement.at.field("operator"), message);
            out.hint("one of In, NotIn, Exists, DoesNotExist, Gt, Lt");
        }
    }
    out.text(&key, names::label_key);
    if !is_wish && matches!(requirement.text_of("operator"), "In" | "NotIn") {
        for value in values.items() {
            out.text(&value, names::label_value);
        }
    }
}

fn field_requirement(out: &mut Report<'_>, requirement: &Node<'_, '_>) {
    let (key, values) = (requirement.field("key"), requirement.field("values"));
    match requirement.text_of("operator") {
        "In" | "NotIn" if values.len() != 1 => out.required(values.at, "exactly one value is needed for a field"),
        "In" | "NotIn" => {}
        other => {
            let message = format!("`{}` is not an operator for fields", shown(other));
            out.invalid(requirement.at.field("operator"), message);
        }
    }
    if key.text() == "metadata.name" {
        for value in values.items() {
            out.text(&value, names::subdomain);
        }
    } else {
        out.invalid(key.at, format!("`{}` is not a field that can be selected", shown(key.text())));
    }
}

/// The name of a node.
pub(super) fn name(out: &mut Report<'_>, node: &Node<'_, '_>) {
    out.text(node, names::subdomain);
}
