//! Binding conditions of devices and of allocation results (KEP-5007).

use std::collections::BTreeSet;

use super::names;
use super::node::Node;
use super::report::Report;
use crate::gather::Gather;

/// Conditions of each of the two kinds.
const MOST: usize = 4;

/// Both lists of an object.
pub(super) fn check(out: &mut Report<'_>, object: &Node<'_, '_>) {
    let (conditions, failures) = (object.field("bindingConditions"), object.field("bindingFailureConditions"));
    for list in [&conditions, &failures] {
        out.list(list, MOST, |out, condition| out.text(condition, names::label_key));
    }
    out.unique_by(&conditions, "");
    let known: BTreeSet<&str> = conditions.list().iter().filter_map(serde_json::Value::as_str).gather();
    let mut seen = BTreeSet::new();
    for failure in failures.items() {
        if !seen.insert(failure.text()) {
            out.duplicate(failure.at, failure.text());
        }
        if known.contains(failure.text()) {
            out.invalid(failure.at, format!("`{}` is a binding condition already", failure.text()));
        }
    }
    match (conditions.len(), failures.len()) {
        (0, 0) => {}
        (0, _) => out.invalid(conditions.at, "must be given together with `bindingFailureConditions`"),
        (_, 0) => out.invalid(failures.at, "must be given together with `bindingConditions`"),
        _ => {}
    }
}
