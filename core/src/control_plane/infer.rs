//! Nodes where nobody wrote any: taken from what slices and Pods say about nodes.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::node::{NAME_FIELD, Node, NodeSelector, NodeSelectorOperator, NodeSelectorTerm};
use crate::api::object::Object;
use crate::api::slice::{Device, ResourceSlice};
use crate::cluster::Cluster;
use crate::cluster::node_selector::{labels, wanted_labels};
use crate::finding::{Code, Finding, ObjectRef, list};
use crate::gather::Gather;
use crate::near::did_you_mean;

use crate::scheduler::node_fit::{INFERRED, is_inferred, selects};

/// The label that carries a node's name.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Adds the nodes that the slices speak of, where the cluster has no Node object of the input.
///
/// Names come from `nodeName` of slices, devices and Pods and from selectors on the name or the hostname label. A selector
/// that names no node and matches none gets a node with the labels of its first term. If all that gives nothing, there is
/// one node, `node-0`.
pub(crate) fn infer_nodes(cluster: &mut Cluster, findings: &mut Vec<Finding>) {
    if cluster.nodes().values().any(|node| !is_inferred(node)) || cluster.names_of_refused("Node").next().is_some() {
        forget_inferred(cluster);
        report_unknown_nodes(cluster, findings);
        return;
    }
    let pods = cluster.pods().values().map(|pod| &pod.spec.node_name).filter(|name| !name.is_empty());
    let named_ones = names_in_slices(cluster).chain(pods);
    let mut nodes: BTreeMap<String, BTreeMap<String, String>> =
        named_ones.map(|name| (name.clone(), BTreeMap::new())).gather();
    let selectors = selectors_in_slices(cluster);
    for selector in &selectors {
        for term in &selector.terms {
            for name in named(term) {
                add_labels(nodes.entry(name).or_default(), term);
            }
        }
    }
    for (name, labels) in &mut nodes {
        labels.insert(HOSTNAME.to_owned(), name.clone());
    }
    let named: BTreeSet<String> = nodes.keys().cloned().gather();
    for selector in &selectors {
        if !nodes.iter().any(|(name, labels)| selects(selector, &node(name, labels, ""))) {
            invent(&mut nodes, selector.terms.first());
        }
    }
    let is_invented = nodes.is_empty();
    if is_invented {
        invent(&mut nodes, None);
    }
    findings.push(inferred(&nodes, is_invented, cluster.slices().is_empty()));
    for (name, labels) in nodes {
        let known = cluster.nodes().get(&name);
        if known.is_some_and(|node| node.metadata.labels == labels) {
            continue;
        }
        let how = if named.contains(&name) { "true" } else { INVENTED };
        cluster.apply(Object::Node(Arc::new(node(&name, &labels, how))));
    }
}

/// How a node is inferred that nothing names.
const INVENTED: &str = "invented";

/// Whether nothing of the input names a node.
pub(crate) fn is_invented(node: &Node) -> bool {
    node.metadata.annotations.get(INFERRED).is_some_and(|how| how == INVENTED)
}

/// An inferred node.
fn node(name: &str, labels: &BTreeMap<String, String>, how: &str) -> Node {
    let mut node = Node::default();
    node.metadata.name = name.to_owned();
    node.metadata.labels = labels.clone();
    node.metadata.annotations.insert(INFERRED.to_owned(), how.to_owned());
    node
}

/// Takes away what an earlier run inferred, now that real nodes are given.
fn forget_inferred(cluster: &mut Cluster) {
    let names: Vec<String> =
        cluster.nodes().values().filter(|node| is_inferred(node)).map(|node| node.metadata.name.clone()).collect();
    for name in names {
        cluster.delete(&ObjectRef { kind: "Node".to_owned(), name, ..ObjectRef::default() });
    }
}

/// The names of nodes that stand in the open in slices.
fn names_in_slices(cluster: &Cluster) -> impl Iterator<Item = &String> {
    let slices = cluster.slices().values();
    let names =
        slices.flat_map(|slice| slice.spec.node_name.iter().chain(own(slice).filter_map(|d| d.node_name.as_ref())));
    names.filter(|name| !name.is_empty())
}

/// The selectors by which slices choose nodes.
fn selectors_in_slices(cluster: &Cluster) -> Vec<NodeSelector> {
    let slices = cluster.slices().values();
    let selectors = slices
        .flat_map(|slice| slice.spec.node_selector.iter().chain(own(slice).filter_map(|d| d.node_selector.as_ref())));
    selectors.cloned().collect()
}

/// The devices of a slice that choose their nodes themselves.
fn own(slice: &ResourceSlice) -> impl Iterator<Item = &Device> {
    let chooses = slice.spec.per_device_node_selection == Some(true);
    if chooses { slice.spec.devices.as_slice() } else { &[] }.iter()
}

/// The nodes that a term names.
fn named(term: &NodeSelectorTerm) -> Vec<String> {
    let by_field = term.match_fields.iter().filter(|requirement| requirement.key == NAME_FIELD);
    let by_label = term.match_expressions.iter().filter(|requirement| requirement.key == HOSTNAME);
    let mut lists = by_field.chain(by_label).filter(|requirement| requirement.operator == NodeSelectorOperator::In);
    let Some(first) = lists.next() else { return Vec::new() };
    let mut names = first.values.clone();
    for other in lists {
        names.retain(|name| other.values.contains(name));
    }
    names
}

/// Adds what a term wants to see, without touching labels that are there.
fn add_labels(labels: &mut BTreeMap<String, String>, term: &NodeSelectorTerm) {
    for requirement in &term.match_expressions {
        let first = requirement.values.first().cloned().unwrap_or_default();
        let shifted =
            |by: i64| first.parse::<i64>().ok().and_then(|bound| bound.checked_add(by)).map(|v| v.to_string());
        let value = match requirement.operator {
            NodeSelectorOperator::In => requirement.values.first().cloned(),
            NodeSelectorOperator::Exists => Some(String::new()),
            NodeSelectorOperator::Gt => shifted(1),
            NodeSelectorOperator::Lt => shifted(-1),
            NodeSelectorOperator::NotIn | NodeSelectorOperator::DoesNotExist | NodeSelectorOperator::Unknown(_) => None,
        };
        if let Some(value) = value.filter(|_| requirement.key != HOSTNAME) {
            labels.entry(requirement.key.clone()).or_insert(value);
        }
    }
}

/// Adds a node with the first free name `node-0`, `node-1` ..
fn invent(nodes: &mut BTreeMap<String, BTreeMap<String, String>>, term: Option<&NodeSelectorTerm>) {
    let free = (0..=nodes.len()).map(|number| format!("node-{number}")).find(|name| !nodes.contains_key(name));
    let Some(name) = free else { return };
    let mut labels: BTreeMap<String, String> = [(HOSTNAME.to_owned(), name.clone())].into_iter().gather();
    if let Some(term) = term {
        add_labels(&mut labels, term);
    }
    nodes.insert(name, labels);
}

/// The note about inferred nodes. Where one is invented that nothing names, it is about that one, and says what it is for.
fn inferred(nodes: &BTreeMap<String, BTreeMap<String, String>>, is_invented: bool, lacks_slices: bool) -> Finding {
    let number = nodes.len();
    let what = if number == 1 { "1 node is" } else { &format!("{number} nodes are") };
    let message = format!("no Node object is given, {what} inferred: {}", list(nodes.keys()));
    let finding = Finding::new(Code::RunNodesInferred, "", message);
    let Some(invented) = nodes.keys().next().filter(|_| is_invented) else {
        return finding.with_hint(
            "inferred nodes have no taints and any amount of CPU and memory; give Node objects to have these checked",
        );
    };
    let slices = if lacks_slices { ",resourceslices" } else { "" };
    finding.about(ObjectRef::new("Node", "", &**invented)).with_hint(format!(
        "`{invented}` is invented and stands for any node, without taints and with any amount of CPU and memory; `kubectl get \
         nodes{slices} -o yaml` prints those of a cluster"
    ))
}

/// Nodes that slices name or select but nobody wrote: their devices are out of reach.
pub(crate) fn report_unknown_nodes(cluster: &Cluster, findings: &mut Vec<Finding>) {
    let nodes = cluster.nodes();
    // Both are in the order of names: slices mostly name nodes that are there.
    let mut known = nodes.keys().peekable();
    let of_slices = cluster.inventory().node_names().filter(|name| {
        while known.next_if(|known| known < name).is_some() {}
        known.peek() != Some(name)
    });
    let of_devices = cluster.inventory().slices_without_node().flat_map(|entry| own(&entry.slice));
    let of_devices =
        of_devices.filter_map(|device| device.node_name.as_ref()).filter(|name| !nodes.contains_key(*name));
    let is_refused = |name: &str| cluster.refused("Node", "", name).is_some();
    let is_unknown = |name: &&String| !name.is_empty() && !is_refused(name);
    let unknown: BTreeSet<&String> = of_slices.chain(of_devices).filter(is_unknown).gather();
    if !unknown.is_empty() {
        let meant = unknown.iter().find_map(|name| did_you_mean(name, &mut nodes.keys().map(String::as_str)));
        let message = format!("slices name nodes that are not given: {}", list(unknown.into_iter()));
        let otherwise = || "give these Node objects, too, or none at all to have every node inferred".to_owned();
        findings.push(Finding::new(Code::RunUnknownNodes, "", message).with_hint(meant.unwrap_or_else(otherwise)));
    }
    let by_label = LazyCell::new(|| {
        let mut by_label: BTreeMap<String, Vec<&Node>> = BTreeMap::new();
        for node in nodes.values() {
            labels(node).for_each(|label| by_label.entry(label).or_default().push(node));
        }
        by_label
    });
    let selects_none = |selector: &NodeSelector| match wanted_labels(selector) {
        Some(labels) => {
            let mut having = labels.iter().filter_map(|label| by_label.get(label)).flatten();
            !having.any(|node| selects(selector, node))
        }
        None => !nodes.values().any(|node| selects(selector, node)),
    };
    let without_name = cluster.inventory().slices_without_node().map(|entry| &entry.slice);
    let selecting = without_name.filter(|slice| {
        let of_devices = own(slice).filter_map(|device| device.node_selector.as_ref());
        slice.spec.node_selector.iter().chain(of_devices).any(selects_none)
    });
    let selecting: Vec<&String> = selecting.map(|slice| &slice.metadata.name).collect();
    if !selecting.is_empty() && cluster.names_of_refused("Node").next().is_none() {
        let message = format!("slices select nodes, and no Node that is given is one: {}", list(selecting.into_iter()));
        let hint = "correct the node selector or the labels of the Nodes, or give the other Node objects, too";
        findings.push(Finding::new(Code::RunUnknownNodes, "", message).with_hint(hint));
    }
}
