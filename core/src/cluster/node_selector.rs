//! Node selectors against nodes, malformed ones told apart.
//!
//! Source: `component-helpers/scheduling/corev1/nodeaffinity` and the label rules of apimachinery.

use crate::api::node::{
    NAME_FIELD, Node, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm,
};
use crate::api::slice::ResourceSlice;

/// A selector that no node can be compared with; says where it is wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct BadNodeSelector {
    /// Field path inside the selector.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

/// Whether a node matches a selector.
///
/// A term without requirements matches nothing, and so does a selector without terms.
///
/// # Errors
///
/// [`BadNodeSelector`] when any term is malformed, even if another one matches.
pub fn matches(selector: &NodeSelector, node: &Node) -> Result<bool, BadNodeSelector> {
    let mut is_match = false;
    for (index, term) in selector.terms.iter().enumerate() {
        // Every term is checked before the answer counts.
        let term_matches = term_matches(term, node).map_err(|mut error| {
            error.path = format!("nodeSelectorTerms[{index}].{}", error.path);
            error
        })?;
        is_match |= term_matches;
    }
    Ok(is_match)
}

/// The labels of a node, each as `key=value`, and its name as `=name`.
pub(crate) fn labels(node: &Node) -> impl Iterator<Item = String> {
    let labels = node.metadata.labels.iter().map(|(key, value)| label(key, value));
    labels.chain([label("", &node.metadata.name)])
}

/// One of these. No label has an empty key.
fn label(key: &str, value: &str) -> String {
    format!("{key}={value}")
}

/// Labels of which every node that matches has one, as [`labels`] gives them; `None` where others may match, or the selector is malformed.
pub(crate) fn wanted_labels(selector: &NodeSelector) -> Option<Vec<String>> {
    // Whether it is malformed does not depend on the node.
    matches(selector, &Node::default()).ok()?;
    let mut wanted = Vec::new();
    for term in &selector.terms {
        // A term without requirements matches nothing.
        if term.match_expressions.is_empty() && term.match_fields.is_empty() {
            continue;
        }
        let mut fields = term.match_fields.iter().filter(|field| field.key == NAME_FIELD);
        let name = fields.find(|field| field.operator == NodeSelectorOperator::In).map(|field| ("", field));
        let mut keys = term.match_expressions.iter().map(|requirement| (requirement.key.as_str(), requirement));
        let by_label = || keys.find(|(_, requirement)| requirement.operator == NodeSelectorOperator::In);
        let (key, requirement) = name.or_else(by_label)?;
        wanted.extend(requirement.values.iter().map(|value| label(key, value)));
    }
    Some(wanted)
}

/// Labels of which a node must have one so that a slice without a node name can be for it; `None` where it may be for any.
pub(super) fn labels_for(slice: &ResourceSlice) -> Option<Vec<String>> {
    let spec = &slice.spec;
    // Up to 1.36 counter sets are for every node.
    if spec.all_nodes == Some(true) || !spec.shared_counters.is_empty() {
        return None;
    }
    match (&spec.node_selector, spec.per_device_node_selection) {
        (Some(selector), None | Some(false)) => wanted_labels(selector),
        (None, Some(true)) => {
            let wanted = spec.devices.iter().map(|device| match (device.node_name.as_deref(), &device.node_selector) {
                (Some(name), _) if !name.is_empty() => Some(vec![label("", name)]),
                _ if device.all_nodes == Some(true) => None,
                (_, Some(selector)) => wanted_labels(selector),
                (_, None) => Some(Vec::new()),
            });
            Some(wanted.collect::<Option<Vec<_>>>()?.concat())
        }
        _ => None,
    }
}

fn term_matches(term: &NodeSelectorTerm, node: &Node) -> Result<bool, BadNodeSelector> {
    let mut is_match = !(term.match_expressions.is_empty() && term.match_fields.is_empty());
    for (index, requirement) in term.match_expressions.iter().enumerate() {
        let at = |error| place(error, "matchExpressions", index);
        is_match &= label_matches(requirement, node).map_err(at)?;
    }
    for (index, requirement) in term.match_fields.iter().enumerate() {
        let at = |error| place(error, "matchFields", index);
        is_match &= field_matches(requirement, node).map_err(at)?;
    }
    Ok(is_match)
}

fn place((field, problem): (&str, String), list: &str, index: usize) -> BadNodeSelector {
    BadNodeSelector { path: format!("{list}[{index}].{field}"), problem }
}

type Problem = (&'static str, String);

fn label_matches(requirement: &NodeSelectorRequirement, node: &Node) -> Result<bool, Problem> {
    let values = &requirement.values;
    if !is_label_key(&requirement.key) {
        return Err(("key", format!("`{}` is not a label key", requirement.key)));
    }
    match requirement.operator {
        NodeSelectorOperator::In | NodeSelectorOperator::NotIn if values.is_empty() => {
            return Err(("values", "`In` and `NotIn` need values".to_owned()));
        }
        NodeSelectorOperator::Exists | NodeSelectorOperator::DoesNotExist if !values.is_empty() => {
            return Err(("values", "`Exists` and `DoesNotExist` take no values".to_owned()));
        }
        NodeSelectorOperator::Gt | NodeSelectorOperator::Lt if values.len() != 1 => {
            return Err(("values", "`Gt` and `Lt` need exactly one value".to_owned()));
        }
        _ => {}
    }
    if let Some(bad) = values.iter().find(|value| !is_label_value(value)) {
        return Err(("values", format!("`{bad}` is not a label value")));
    }
    match &requirement.operator {
        NodeSelectorOperator::Gt | NodeSelectorOperator::Lt if !values.iter().all(|value| is_integer(value)) => {
            Err(("values", "`Gt` and `Lt` need an integer".to_owned()))
        }
        NodeSelectorOperator::Unknown(text) => Err(("operator", format!("`{text}` is not a known operator"))),
        _ => Ok(requirement.holds(node.metadata.labels.get(&requirement.key))),
    }
}

fn is_integer(text: &str) -> bool {
    text.parse::<i64>().is_ok()
}

fn field_matches(requirement: &NodeSelectorRequirement, node: &Node) -> Result<bool, Problem> {
    let wanted_equal = match &requirement.operator {
        NodeSelectorOperator::In => true,
        NodeSelectorOperator::NotIn => false,
        NodeSelectorOperator::Exists
        | NodeSelectorOperator::DoesNotExist
        | NodeSelectorOperator::Gt
        | NodeSelectorOperator::Lt
        | NodeSelectorOperator::Unknown(_) => {
            return Err(("operator", "fields are compared with `In` or `NotIn`".to_owned()));
        }
    };
    let [value] = requirement.values.as_slice() else {
        return Err(("values", "fields are compared with exactly one value".to_owned()));
    };
    // Only one field is known; any other is empty.
    let field = if requirement.key == "metadata.name" { node.metadata.name.as_str() } else { "" };
    Ok((field == value) == wanted_equal)
}

fn is_label_key(key: &str) -> bool {
    match key.split_once('/') {
        None => is_name_part(key),
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_name_part(name),
    }
}

fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_name_part(value)
}

fn is_name_part(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= 63 && bytes.iter().all(|byte| is_inner(*byte)) && is_edge(bytes.first()) && is_edge(bytes.last())
}

fn is_dns_subdomain(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        let is_edge = |byte: Option<&u8>| byte.is_some_and(|byte| *byte != b'-');
        bytes.iter().all(|byte| is_inner(*byte)) && is_edge(bytes.first()) && is_edge(bytes.last())
    };
    text.len() <= 253 && text.split('.').all(is_label)
}
