//! Label selectors.
//!
//! Source: apimachinery `pkg/apis/meta/v1/validation`, `pkg/labels`.

use serde_json::Value;

use super::node::Node;
use super::report::{Report, shown};
use super::{meta, names};

/// A label selector. False where it selects by no rule that can be understood.
pub(super) fn check(out: &mut Report<'_>, selector: &Node<'_, '_>) -> bool {
    let before = out.findings.len();
    meta::labels(out, &selector.field("matchLabels"));
    for expression in selector.field("matchExpressions").items() {
        let (key, values) = (expression.field("key"), expression.field("values"));
        match expression.text_of("operator") {
            "In" | "NotIn" if values.len() == 0 => {
                out.required(values.at, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if values.len() > 0 => {
                out.forbidden(values.at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                out.invalid(
                    expression.at.field("operator"),
                    format!("`{}` is not a valid selector operator", shown(other)),
                );
                out.hint("one of In, NotIn, Exists, DoesNotExist");
            }
        }
        out.text(&key, names::label_key);
        for value in values.items() {
            out.text(&value, names::label_value);
        }
    }
    out.findings.len() == before
}

/// Whether a selector selects nothing by name: neither labels nor expressions.
pub(super) fn is_empty(selector: &Node<'_, '_>) -> bool {
    selector.field("matchLabels").len() == 0 && selector.field("matchExpressions").len() == 0
}

/// Whether a selector selects these labels.
pub(super) fn matches(selector: &Node<'_, '_>, labels: &Value) -> bool {
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let by_label =
        selector.field("matchLabels").entries().all(|(key, value)| label(key) == Some(value.as_str().unwrap_or("")));
    let by_expression = selector.field("matchExpressions").items().all(|expression| {
        let found = label(expression.text_of("key"));
        let listed = || found.is_some_and(|found| expression.field("values").list().iter().any(|value| value == found));
        match expression.text_of("operator") {
            "In" => listed(),
            "NotIn" => !listed(),
            "Exists" => found.is_some(),
            _ => found.is_none(),
        }
    });
    by_label && by_expression
}
