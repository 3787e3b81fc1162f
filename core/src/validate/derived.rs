//! Derived attributes of requests (KEP-6080).

use std::collections::BTreeSet;

use serde_json::Value;

use super::node::Node;
use super::report::{Report, shown};
use super::{names, selectors};
use crate::cel::{Environment, MOST_BYTES, compile_derived};

/// Which attributes the constraints of a claim compare, by the requests that they cover.
pub(super) struct Compared<'v>(Vec<(BTreeSet<&'v str>, &'v str)>);

impl<'v> Compared<'v> {
    /// Of a claim's `spec.devices`.
    pub(super) fn of(devices: &Node<'v, '_>) -> Self {
        let text = |value: &'v Value, name: &str| value.get(name).and_then(Value::as_str);
        let constraints = devices.peek("constraints").as_array().map(Vec::as_slice).unwrap_or_default();
        let compared = constraints.iter().filter_map(|constraint| {
            let attribute = text(constraint, "matchAttribute").or_else(|| text(constraint, "distinctAttribute"))?;
            let requests = constraint.get("requests").and_then(Value::as_array);
            Some((requests.into_iter().flatten().filter_map(Value::as_str).collect(), attribute))
        });
        Self(compared.collect())
    }

    fn has(&self, request: &str, attribute: &str) -> bool {
        let main = request.split_once('/').map_or(request, |(main, _)| main);
        self.0.iter().any(|(requests, compared)| {
            *compared == attribute && (requests.is_empty() || requests.contains(request) || requests.contains(main))
        })
    }
}

/// The derived attributes of a request, whose reference is `request` or `request/subrequest`.
pub(super) fn check(out: &mut Report<'_>, attributes: &Node<'_, '_>, reference: &str, compared: &Compared<'_>) {
    for attribute in attributes.items() {
        let (name, expression) = (attribute.field("name"), attribute.field("expression"));
        if name.text().is_empty() {
            out.required(name.at, "a name is needed");
        } else {
            names::fully_qualified(out, &name);
            if !compared.has(reference, name.text()) {
                out.invalid(name.at, format!("no constraint compares `{}` for this request", shown(name.text())));
            }
        }
        check_expression(out, &expression);
    }
    out.unique_by(attributes, "name");
}

fn check_expression(out: &mut Report<'_>, expression: &Node<'_, '_>) {
    let text = expression.text();
    if text.is_empty() {
        return out.required(expression.at, "an expression is needed");
    }
    if text.len() > MOST_BYTES {
        return out.too_long(expression.at, text.len(), MOST_BYTES);
    }
    match compile_derived(text, &Environment::new_expressions(out.profile.version, out.features())) {
        Ok(program) => drop(selectors::limit(out, expression, program.max_cost())),
        Err(error) => selectors::refuse(out, expression, error),
    }
}
