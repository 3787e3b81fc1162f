//! Which label a Pod's node selector or required node affinity wants that nodes do not have.

use std::collections::BTreeSet;

use super::nodes::Asked;
use crate::api::node::{Node, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm};
use crate::api::pod::Pod;
use crate::finding::list;
use crate::gather::Gather;
use crate::near::{did_you_mean, nearest};
use crate::scheduler::node_fit::{is_inferred, selects};

/// What is wanted and what the nodes have instead, where one requirement is what none of them meets.
pub(super) fn hint(asked: &Asked<'_>, names: &[String]) -> Option<String> {
    let nodes: Vec<&Node> =
        names.iter().filter_map(|name| asked.cluster.nodes().get(name).map(AsRef::as_ref)).collect();
    // Of inferred nodes the labels are not known.
    if nodes.is_empty() || nodes.iter().any(|node| is_inferred(node)) {
        return None;
    }
    let requirement = wanted(asked.pod).into_iter().find(|one| nodes.iter().all(|node| !meets(one, node)))?;
    let key = &requirement.key;
    let values: BTreeSet<&String> = nodes.iter().filter_map(|node| node.metadata.labels.get(key)).gather();
    let (they, have) = if nodes.len() == 1 { ("the node", "has") } else { ("the nodes", "have") };
    let there = match values.is_empty() {
        true => {
            let keys: BTreeSet<&String> = nodes.iter().flat_map(|node| node.metadata.labels.keys()).gather();
            let near = nearest(key, keys.into_iter().map(String::as_str));
            format!("{they} {have} no such label{}", meant(near))
        }
        false => {
            // A value that some node has was meant as it is.
            let all = || asked.cluster.nodes().values().filter_map(|node| node.metadata.labels.get(key));
            let near = requirement.values.iter().find_map(|value| did_you_mean(value, &mut all().map(String::as_str)));
            let near = near.map(|near| format!(": {near}")).unwrap_or_default();
            format!("{they} {have} {}{near}", list(values.iter().copied()))
        }
    };
    Some(format!("the Pod wants {}; {there}", in_words(&requirement)))
}

fn meant(near: Option<&str>) -> String {
    near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default()
}

/// What the Pod wants of labels: all of it must hold. Of several terms of the affinity it is not known which one is meant.
fn wanted(pod: &Pod) -> Vec<NodeSelectorRequirement> {
    let selector = pod.spec.node_selector.iter().map(|(key, value)| NodeSelectorRequirement {
        key: key.clone(),
        operator: NodeSelectorOperator::In,
        values: vec![value.clone()],
        ..NodeSelectorRequirement::default()
    });
    let affinity = pod.spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let terms = affinity.and_then(|affinity| affinity.required.as_ref()).map(|required| required.terms.as_slice());
    let only = match terms {
        Some([only]) => only.match_expressions.as_slice(),
        _ => &[],
    };
    selector.chain(only.iter().cloned()).collect()
}

fn meets(requirement: &NodeSelectorRequirement, node: &Node) -> bool {
    let term = NodeSelectorTerm { match_expressions: vec![requirement.clone()], ..NodeSelectorTerm::default() };
    selects(&NodeSelector { terms: vec![term], ..NodeSelector::default() }, node)
}

fn in_words(requirement: &NodeSelectorRequirement) -> String {
    let (key, values) = (&requirement.key, list(requirement.values.iter()));
    match requirement.operator {
        NodeSelectorOperator::In => format!("the label `{key}` with the value {values}"),
        NodeSelectorOperator::NotIn => format!("no value {values} of the label `{key}`"),
        NodeSelectorOperator::Exists => format!("a label `{key}`"),
        NodeSelectorOperator::DoesNotExist => format!("no label `{key}`"),
        NodeSelectorOperator::Gt => format!("a label `{key}` above {values}"),
        NodeSelectorOperator::Lt => format!("a label `{key}` below {values}"),
        _ => format!("the label `{key}` as a rule says that is not known"),
    }
}
