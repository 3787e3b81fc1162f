//! Nodes that could come: like one that is there, or as a template says.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::NodesNeededRequest;
use super::open::Open;
use crate::api::meta::ObjectMeta;
use crate::api::node::Node;
use crate::api::object::Object;
use crate::api::slice::ResourceSlice;
use crate::cluster::Cluster;
use crate::control_plane::admission::admit_value;
use crate::explain::unknown::unknown;
use crate::finding::{Code, Finding, ObjectRef, Severity};

/// The label with a node's name.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// A node that could come any number of times.
pub(super) struct Shape {
    /// The node that it is like.
    pub(super) name: String,
    node: Node,
    /// Slices of the newest generation whose devices the node alone reaches, with the counter sets of their pools.
    slices: Vec<ResourceSlice>,
    /// In front of the numbers of its nodes.
    prefix: String,
}

impl Shape {
    fn new(cluster: &Cluster, node: &Node, slices: Vec<ResourceSlice>) -> Self {
        let name = node.metadata.name.clone();
        let mut prefix = format!("{name}-new");
        while cluster.nodes().keys().any(|known| known.starts_with(&prefix)) {
            prefix.push('x');
        }
        let mut node = node.clone();
        node.metadata = fresh(&node.metadata);
        node.spec.unschedulable = false;
        node.spec.taints.retain(|taint| !taint.is_condition());
        Self { name, node, slices, prefix }
    }

    /// The name of the node of a number.
    pub(super) fn node_name(&self, number: u64) -> String {
        format!("{}-{number}", self.prefix)
    }

    /// The node of a number with its slices.
    pub(super) fn node(&self, number: u64, open: &Open) -> Vec<Object> {
        let name = self.node_name(number);
        let mut node = self.node.clone();
        node.metadata.name.clone_from(&name);
        if let Some(label) = node.metadata.labels.get_mut(HOSTNAME) {
            label.clone_from(&name);
        }
        let mut pools: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        for slice in &self.slices {
            let slices = pools.entry((&slice.spec.driver, &slice.spec.pool.name)).or_default();
            *slices = slices.saturating_add(1);
        }
        let slices = self.slices.iter().enumerate().map(|(index, slice)| {
            let mut copy = slice.clone();
            copy.metadata = ObjectMeta { name: format!("{name}-{index}"), ..ObjectMeta::default() };
            copy.spec.node_name = slice.spec.node_name.as_ref().map(|_| name.clone());
            for device in &mut copy.spec.devices {
                device.node_name = device.node_name.as_ref().map(|_| name.clone());
                open.mark(&slice.spec.driver, device);
            }
            let pool = &mut copy.spec.pool;
            pool.name = if pool.name == self.name { name.clone() } else { format!("{}-{name}", pool.name) };
            pool.generation = 1;
            pool.resource_slice_count =
                pools.get(&(slice.spec.driver.as_str(), slice.spec.pool.name.as_str())).copied().unwrap_or(1);
            Object::ResourceSlice(Arc::new(copy))
        });
        std::iter::once(Object::Node(Arc::new(node))).chain(slices).collect()
    }
}

/// What a new node has of the metadata of another one.
fn fresh(metadata: &ObjectMeta) -> ObjectMeta {
    let (labels, annotations) = (metadata.labels.clone(), metadata.annotations.clone());
    ObjectMeta { labels, annotations, ..ObjectMeta::default() }
}

/// The shapes of a question.
///
/// # Errors
///
/// A finding, when there is no such node, or a template is none.
pub(super) fn all(cluster: &Cluster, request: &NodesNeededRequest) -> Result<Vec<Shape>, Vec<Finding>> {
    let mut shapes = Vec::new();
    for name in &request.like {
        let Some(node) = cluster.nodes().get(name) else {
            let finding = unknown(cluster, &ObjectRef::new("Node", "", &**name));
            return Err(vec![Finding { path: "like".to_owned(), ..finding }]);
        };
        shapes.push(Shape::new(cluster, node, of_node(cluster, name)));
    }
    let mut given = Cluster::new(cluster.profile().clone());
    for template in &request.templates {
        let (object, findings) = admit_value(template, cluster.profile());
        match object {
            Some(object @ (Object::Node(_) | Object::ResourceSlice(_))) => given.apply(object),
            Some(object) => {
                let message = format!("a {} is no part of a node", object.reference().kind);
                let finding = Finding::new(Code::ReadBadSettings, "templates", message).about(object.reference());
                return Err(vec![finding.with_hint("a template has Nodes and the ResourceSlices that name them")]);
            }
            None => return Err(findings.into_iter().filter(|one| one.severity == Severity::Error).collect()),
        }
    }
    let unnamed = given.node_names_of_slices().filter(|name| !given.nodes().contains_key(*name));
    let bare: Vec<Node> = unnamed.map(|name| bare(name)).collect();
    for node in given.nodes().values().map(AsRef::as_ref).chain(&bare) {
        shapes.push(Shape::new(cluster, node, of_node(&given, &node.metadata.name)));
    }
    if shapes.is_empty() && !request.templates.is_empty() {
        let finding = Finding::new(Code::ReadBadSettings, "templates", "the templates have no node");
        return Err(vec![finding.with_hint("add a Node, or a ResourceSlice with `nodeName`")]);
    }
    Ok(shapes)
}

/// A node of which no more is known than its name.
fn bare(name: &str) -> Node {
    let mut node = Node::default();
    name.clone_into(&mut node.metadata.name);
    node.metadata.labels.insert(HOSTNAME.to_owned(), name.to_owned());
    node
}

/// The slices that make the devices of one node.
fn of_node(cluster: &Cluster, name: &str) -> Vec<ResourceSlice> {
    let mut slices: Vec<ResourceSlice> = Vec::new();
    for slice in cluster.newest_slices() {
        let mut slice = slice.clone();
        // What is included is part of the devices by now.
        slice.spec.mixins = None;
        slice.spec.devices.iter_mut().for_each(|device| device.includes.clear());
        if slice.spec.node_name.as_deref() != Some(name) {
            slice.spec.devices.retain(|device| device.node_name.as_deref() == Some(name));
            if slice.spec.devices.is_empty() && slice.spec.shared_counters.is_empty() {
                continue;
            }
        }
        slices.push(slice);
    }
    let has_devices = |of: &ResourceSlice| {
        slices.iter().any(|slice| {
            let is_same = slice.spec.driver == of.spec.driver && slice.spec.pool.name == of.spec.pool.name;
            is_same && (slice.spec.node_name.is_some() || !slice.spec.devices.is_empty())
        })
    };
    let kept = slices.iter().filter(|slice| has_devices(slice));
    kept.cloned().collect()
}
