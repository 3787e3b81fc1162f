//! Label selectors.
//!
//! Source: apimachinery `pkg/apis/meta/v1/validation`, `pkg/labels`.

use serde_json::Value;

use super::node::Node;
use super::report::{Report, shown};
use super::{meta, names};
use crate::api::read::{Json, Path};
use crate::api::source::LabelSelector;
use crate::gather::Gather;

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
                let message = format!("`{}` is not a valid selector operator", shown(other));
                out.invalid(expression.at.field("operator"), message);
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
    let labels = labels.as_object().into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).gather();
    LabelSelector::read(selector.value.clone(), &Path::ROOT, &mut Vec::new()).is_ok_and(|read| read.matches(&labels))
}
