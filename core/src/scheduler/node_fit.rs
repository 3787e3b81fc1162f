//! What an ordinary scheduler asks of a node before anybody thinks of devices.
//!
//! Looked at: `unschedulable`, taints, node selector and required node affinity, host ports, resource requests, number of Pods.
//! Affinity to other Pods and topology spread are in [`super::topology`], volumes in [`super::volumes`].

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::classes;
pub(crate) use super::requests::requests;
use super::requests::{AT, HOST_PORT, ports};
use super::scoring::{Load, amounts};
use crate::api::node::{
    Node, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm, NodeTaint, UNSCHEDULABLE,
};
use crate::api::others::SYSTEM_PRIORITIES;
use crate::api::pod::{NodeToleration, Pod};
use crate::api::quantity::Quantity;
use crate::arrange::Arrange;
use crate::cluster::{Cluster, node_selector};
use crate::validate::is_native_resource;

/// Resources that a node which does not state them is taken to have enough of.
const ORDINARY: [&str; 4] = ["cpu", "memory", "ephemeral-storage", PODS];

/// The resource that counts Pods.
pub(crate) const PODS: &str = "pods";

/// Annotation of a node that is not of the input but was taken from what slices say.
pub(crate) const INFERRED: &str = "apportion/inferred";

/// Whether a node is not of the input.
pub(crate) fn is_inferred(node: &Node) -> bool {
    node.metadata.annotations.contains_key(INFERRED)
}

/// Amounts by resource name.
pub(crate) type Resources = BTreeMap<String, Quantity>;

/// Amounts of the ordinary resources in billionths, in the order of [`ORDINARY`].
type Usual = [i128; ORDINARY.len()];

/// A node and what its Pods take of it.
#[derive(Clone, Debug)]
pub(crate) struct NodeState {
    /// The node.
    pub(crate) node: Arc<Node>,
    used: Resources,
    /// What is left, where that can be counted.
    left: Option<Usual>,
    /// What Pods take, as scores reckon.
    load: Load,
    /// When it changed last, in changes of all nodes.
    changed: u64,
}

/// What a Pod asks of a node's resources, ready to be compared with what is left.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Room {
    /// Where that can be counted.
    usual: Option<Usual>,
    all: Resources,
    /// Those that are not ordinary.
    others: Vec<(String, Quantity)>,
}

impl Room {
    pub(super) fn of(all: Resources) -> Self {
        let is_other = |(name, _): &(&String, &Quantity)| !ORDINARY.contains(&name.as_str());
        let others = all.iter().filter(is_other).map(|(name, amount)| (name.clone(), amount.clone())).collect();
        Self { usual: usual(|name| all.get(name).map_or(Some(0), Quantity::billionths)), all, others }
    }

    /// Whether it is at least as much of everything.
    pub(super) fn includes(&self, other: &Self) -> bool {
        let has_usual = self
            .usual
            .zip(other.usual)
            .is_some_and(|(mine, theirs)| mine.iter().zip(&theirs).all(|(mine, theirs)| mine >= theirs));
        let has = |(name, amount): &(String, Quantity)| self.all.get(name).is_some_and(|mine| mine >= amount);
        has_usual && other.others.iter().all(has)
    }

    /// A number that differs between most different amounts.
    pub(super) fn digest(&self) -> u64 {
        let amounts = self.all.values().map(|amount| amount.milli_rounded_up().unsigned_abs());
        amounts.fold(self.all.len() as u64, classes::mix)
    }
}

/// The amounts of the ordinary resources, unless one is absent.
fn usual(amount: impl Fn(&str) -> Option<i128>) -> Option<Usual> {
    let mut usual = [0; ORDINARY.len()];
    for (place, name) in usual.iter_mut().zip(ORDINARY) {
        *place = amount(name)?;
    }
    Some(usual)
}

/// Why an ordinary scheduler refuses a node; ordered as kube-scheduler looks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Refusal {
    /// A claim of the Pod has no volume, and gets none.
    UnboundClaim {
        /// The claim.
        claim: String,
    },
    /// All terms of the required node affinity name nodes, and this is none of them.
    NotNamed,
    /// The node takes no new Pods.
    Unschedulable,
    /// A taint that the Pod does not tolerate.
    Taint {
        /// Key of the taint.
        key: String,
        /// Its value.
        value: String,
    },
    /// Node selector or required node affinity.
    Affinity,
    /// Affinity that the configuration of kube-scheduler gives all Pods.
    AddedAffinity,
    /// A host port is taken.
    HostPort {
        /// Port and protocol.
        port: String,
    },
    /// Too little of a resource is left.
    Insufficient {
        /// The resource.
        resource: String,
        /// How far it falls short.
        lack: Lack,
    },
    /// Another Pod uses a claim of the Pod that is for one Pod alone.
    ClaimInUse {
        /// The claim.
        claim: String,
    },
    /// The node lacks a driver without which a volume of the Pod cannot be used.
    NoDriver {
        /// The driver.
        driver: String,
    },
    /// The node can have no more volumes of a driver.
    TooManyVolumes {
        /// The driver.
        driver: String,
    },
    /// A volume of the Pod belongs to other nodes.
    VolumeNode,
    /// There is no free volume for a claim of the Pod, and none can be made.
    NoVolume,
    /// There is too little space for a volume that is to be made.
    NoSpace,
    /// A claim of the Pod is bound to a volume that does not exist.
    VolumeMissing,
    /// A volume of the Pod is in another zone or region.
    VolumeZone,
    /// The node lacks the label whose value names the domain of a spread constraint.
    NoDomain {
        /// The label.
        key: String,
    },
    /// The node's domain would have more Pods beyond the one with fewest than a spread constraint allows.
    Spread {
        /// The label that names the domain.
        key: String,
    },
    /// No Pod is there that the Pod must be near.
    PodAffinity,
    /// A Pod is there that the Pod must be away from.
    PodAntiAffinity {
        /// The label that names the domain.
        key: String,
    },
    /// A Pod is there that must be away from this one.
    KeptAway {
        /// The label that names the domain.
        key: String,
    },
    /// The node does not declare a feature that the Pod needs.
    Feature {
        /// Name of the feature.
        feature: &'static str,
    },
    /// The Pod cannot have its devices there because of what they take of the node, in kube-scheduler's words.
    Devices(String),
}

/// How far a node falls short of a resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Lack {
    /// It has none at all.
    Absent,
    /// It has less than is asked for.
    TooSmall,
    /// It would have enough, but for the Pods that run there.
    InUse,
}

impl Refusal {
    /// Whether the Pod would fit if other Pods left.
    pub(crate) fn is_curable(&self) -> bool {
        match self {
            // kube-scheduler does not look at how many Pods a node takes at all.
            Self::Insufficient { resource, lack } => *lack == Lack::InUse || resource == PODS,
            Self::HostPort { .. }
            | Self::ClaimInUse { .. }
            | Self::NoDriver { .. }
            | Self::TooManyVolumes { .. }
            | Self::Spread { .. }
            | Self::PodAntiAffinity { .. }
            | Self::KeptAway { .. } => true,
            Self::UnboundClaim { .. }
            | Self::NotNamed
            | Self::Unschedulable
            | Self::Taint { .. }
            | Self::Affinity
            | Self::AddedAffinity
            | Self::VolumeNode
            | Self::NoVolume
            | Self::NoSpace
            | Self::VolumeMissing
            | Self::VolumeZone
            | Self::NoDomain { .. }
            | Self::PodAffinity
            | Self::Feature { .. }
            | Self::Devices(_) => false,
        }
    }
}

impl fmt::Display for Refusal {
    /// In kube-scheduler's words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnboundClaim { .. } => f.write_str("pod has unbound immediate PersistentVolumeClaims"),
            Self::NotNamed => f.write_str("node(s) didn't satisfy plugin(s) [NodeAffinity]"),
            Self::Unschedulable => f.write_str("node(s) were unschedulable"),
            Self::Taint { .. } => f.write_str("node(s) had untolerated taint(s)"),
            Self::Affinity => f.write_str("node(s) didn't match Pod's node affinity/selector"),
            Self::AddedAffinity => f.write_str("node(s) didn't match scheduler-enforced node affinity"),
            Self::HostPort { .. } => f.write_str("node(s) didn't have free ports for the requested pod ports"),
            Self::Insufficient { resource, .. } if resource == PODS => f.write_str("Too many pods"),
            Self::Insufficient { resource, .. } => write!(f, "Insufficient {resource}"),
            Self::ClaimInUse { .. } => f.write_str(
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
            ),
            Self::NoDriver { driver } => write!(f, "{driver} CSI driver is not installed on the node"),
            Self::TooManyVolumes { .. } => f.write_str("node(s) exceed max volume count"),
            Self::VolumeNode => f.write_str("node(s) didn't match PersistentVolume's node affinity"),
            Self::NoVolume => f.write_str("node(s) didn't find available persistent volumes to bind"),
            Self::NoSpace => f.write_str("node(s) did not have enough free storage"),
            Self::VolumeMissing => {
                f.write_str("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
            }
            Self::VolumeZone => f.write_str("node(s) had no available volume zone"),
            Self::NoDomain { .. } => {
                f.write_str("node(s) didn't match pod topology spread constraints (missing required label)")
            }
            Self::Spread { .. } => f.write_str("node(s) didn't match pod topology spread constraints"),
            Self::PodAffinity => f.write_str("node(s) didn't match pod affinity rules"),
            Self::PodAntiAffinity { .. } => f.write_str("node(s) didn't match pod anti-affinity rules"),
            Self::KeptAway { .. } => f.write_str("node(s) didn't satisfy existing pods anti-affinity rules"),
            Self::Feature { .. } => f.write_str("node(s) didn't match Pod's required features"),
            Self::Devices(text) => f.write_str(text),
        }
    }
}

impl NodeState {
    /// A node without Pods.
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self::with(node, (Resources::new(), Load::default()))
    }

    /// A node of which so much is taken.
    pub(super) fn with(node: Arc<Node>, (used, load): (Resources, Load)) -> Self {
        let mut state = Self { node, used, left: None, load, changed: 0 };
        state.measure();
        state
    }

    /// Another version of the node.
    pub(super) fn replace(&mut self, node: Arc<Node>) {
        self.node = node;
        self.measure();
    }

    /// What is taken.
    pub(super) fn into_used(self) -> (Resources, Load) {
        (self.used, self.load)
    }

    /// The same, as scores reckon.
    pub(super) fn load(&self) -> Load {
        self.load
    }

    /// Counts what a Pod that runs on the node takes as scores reckon.
    pub(super) fn reckon(&mut self, load: Load) {
        self.load = self.load.plus(load);
    }

    /// Processors in thousandths and memory in bytes that Pods can use.
    pub(super) fn amounts(&self) -> (i64, i64) {
        amounts(self.allocatable())
    }

    /// What Pods can use of a resource, and what they take.
    pub(super) fn amount(&self, resource: &str) -> (i64, i64) {
        let value = |amounts: &Resources| amounts.get(resource).map_or(0, Quantity::value_rounded_up);
        (value(self.allocatable()), value(&self.used))
    }

    /// When it changed last.
    pub(super) fn changed(&self) -> u64 {
        self.changed
    }

    /// Notes when it changed last.
    pub(super) fn change(&mut self, number: u64) {
        self.changed = number;
    }

    fn measure(&mut self) {
        let zero = Quantity::default();
        self.left = usual(|name| match self.allocatable().get(name) {
            None => Some(i128::MAX),
            Some(total) => {
                let used = self.used.get(name).unwrap_or(&zero);
                total.billionths()?.checked_sub(used.billionths()?)
            }
        });
    }

    /// Name of the node.
    pub(crate) fn name(&self) -> &str {
        &self.node.metadata.name
    }

    /// Counts [`requests`] of a Pod that runs on the node.
    pub(super) fn take(&mut self, requests: &Resources, load: Load) {
        self.reckon(load);
        add(&mut self.used, requests);
        self.measure();
    }

    /// Undoes [`NodeState::take`].
    pub(super) fn give_back(&mut self, requests: &Resources, load: Load) {
        self.load = self.load.minus(load);
        subtract(&mut self.used, requests);
        self.measure();
    }

    /// Frees the host ports among requests even where a second Pod has them: the reference does not count who has a port.
    pub(super) fn free_ports(&mut self, requests: &Resources) {
        requests.keys().filter(|name| name.starts_with(HOST_PORT)).for_each(|name| drop(self.used.remove(name)));
    }

    /// The reasons against a Pod, of the first of kube-scheduler's tests that fails; none where it fits.
    pub(crate) fn refusals(&self, pod: &Pod, requests: &Resources) -> Vec<Refusal> {
        match self.rules_out(pod) {
            Some(refusal) => vec![refusal],
            None => self.insufficient(requests),
        }
    }

    /// Whether a Pod fits.
    pub(super) fn accepts(&self, pod: &Pod, room: &Room) -> bool {
        self.has_room(room) && self.rules_out(pod).is_none()
    }

    /// Whether enough is left of all resources.
    pub(super) fn has_room(&self, room: &Room) -> bool {
        match (&self.left, &room.usual) {
            (Some(left), Some(asked)) => {
                asked.iter().zip(left).all(|(asked, left)| *asked <= 0 || asked <= left)
                    && room.others.iter().all(|(resource, asked)| self.lack(resource, asked).is_none())
            }
            _ => room.all.iter().all(|(resource, asked)| self.lack(resource, asked).is_none()),
        }
    }

    /// What speaks against a Pod whatever it asks for.
    fn rules_out(&self, pod: &Pod) -> Option<Refusal> {
        if !is_named(pod, self.name()) {
            return Some(Refusal::NotNamed);
        }
        let tolerations = &pod.spec.tolerations;
        if self.node.spec.unschedulable && !is_tolerated(&unschedulable_taint(), tolerations) {
            return Some(Refusal::Unschedulable);
        }
        let hard = |taint: &&NodeTaint| taint.is_hard();
        if let Some(taint) = self.node.spec.taints.iter().filter(hard).find(|taint| !is_tolerated(taint, tolerations)) {
            return Some(Refusal::Taint { key: taint.key.clone(), value: taint.value.clone() });
        }
        (!selected(&pod.spec.node_selector, required(pod), &self.node)).then_some(Refusal::Affinity)
    }

    /// Whether a DaemonSet starts a Pod here: taints and affinity only.
    pub(crate) fn takes_daemon(&self, pod: &Pod) -> bool {
        self.refusals(pod, &Resources::new()).is_empty()
    }

    /// The reason with which the kubelet rejects a Pod that no scheduler placed here. Extended resources that the node does not state are
    /// left to devices, and for a critical Pod others are evicted.
    //
    // Source: `pkg/kubelet/lifecycle/predicate.go`, `pkg/kubelet/preemption/preemption.go`.
    pub(crate) fn rejection(&self, pod: &Pod, requests: &Resources) -> Option<String> {
        let lacks = self.insufficient(&without_ports(requests.clone()));
        let is_known = |name: &str| is_native_resource(name) || self.allocatable().contains_key(name);
        let lacking = lacks.iter().filter_map(|lack| match lack {
            Refusal::Insufficient { resource, .. } if is_known(resource) => Some(resource),
            _ => None,
        });
        let is_critical = pod.priority() >= SYSTEM_PRIORITIES[0].1;
        let place =
            |name: &&String| [PODS, "cpu", "memory"].iter().position(|first| first == name).unwrap_or(ORDINARY.len());
        let out_of = lacking.min_by_key(place).filter(|_| !is_critical).map(|name| format!("OutOf{name}"));
        let drives_out = |taint: &NodeTaint| taint.effect == "NoExecute" && !is_tolerated(taint, &pod.spec.tolerations);
        let (is_selected, taints) =
            (selected(&pod.spec.node_selector, required(pod), &self.node), &self.node.spec.taints);
        let others = [
            ("NodeAffinity", !is_selected),
            ("NodePorts", self.insufficient(requests).iter().any(|lack| matches!(lack, Refusal::HostPort { .. }))),
            ("TaintToleration", taints.iter().any(drives_out)),
        ];
        out_of.or_else(|| others.into_iter().find_map(|(reason, holds)| holds.then(|| reason.to_owned())))
    }

    /// What is left of a resource; nothing of one that the node does not state.
    pub(crate) fn left(&self, resource: &str) -> Option<Quantity> {
        let total = self.allocatable().get(resource)?;
        Some(self.used.get(resource).map_or_else(|| total.clone(), |used| total.saturating_sub(used)))
    }

    fn allocatable(&self) -> &Resources {
        let status = &self.node.status;
        if status.allocatable.is_empty() { &status.capacity } else { &status.allocatable }
    }

    /// The resources of which the node has not enough left; a host port alone where one is taken.
    pub(super) fn insufficient(&self, requests: &Resources) -> Vec<Refusal> {
        let ports = requests.iter().filter(|(name, _)| name.starts_with(HOST_PORT));
        let taken = ports.filter(|(name, asked)| self.lack(name, asked).is_some());
        let port = taken.filter_map(|(name, _)| name.strip_prefix(HOST_PORT)?.split(AT).next()).next();
        if let Some(port) = port {
            return vec![Refusal::HostPort { port: port.to_owned() }];
        }
        let lacks = requests.iter().filter_map(|(resource, asked)| Some((resource, self.lack(resource, asked)?)));
        lacks.map(|(resource, lack)| Refusal::Insufficient { resource: resource.clone(), lack }).collect()
    }

    /// How far the node falls short of a resource, if it does.
    fn lack(&self, resource: &str, asked: &Quantity) -> Option<Lack> {
        if asked.signum() <= 0 {
            return None;
        }
        let ports = resource.starts_with(HOST_PORT).then(|| ports(resource));
        let Some(total) = ports.as_ref().or_else(|| self.allocatable().get(resource)) else {
            return (!ORDINARY.contains(&resource)).then_some(Lack::Absent);
        };
        let is_enough = match self.used.get(resource) {
            Some(used) => total.saturating_sub(used) >= *asked,
            None => total >= asked,
        };
        if is_enough {
            return None;
        }
        Some(match total {
            total if total.signum() <= 0 => Lack::Absent,
            total if total < asked => Lack::TooSmall,
            _ => Lack::InUse,
        })
    }
}

/// Leaves out host ports: Pods on different nodes do not share them.
pub(super) fn without_ports(mut requests: Resources) -> Resources {
    requests.retain(|name, _| !name.starts_with(HOST_PORT));
    requests
}

/// Adds amounts to a sum.
pub(crate) fn add(sum: &mut Resources, more: &Resources) {
    for (name, amount) in more {
        let entry = sum.entry(name.clone()).or_default();
        *entry = entry.saturating_add(amount);
    }
}

/// Undoes [`add`].
pub(super) fn subtract(sum: &mut Resources, less: &Resources) {
    for (name, amount) in less {
        if let Some(sum) = sum.get_mut(name) {
            *sum = sum.saturating_sub(amount);
        }
    }
}

fn unschedulable_taint() -> NodeTaint {
    let (key, effect) = (UNSCHEDULABLE.to_owned(), "NoSchedule".to_owned());
    NodeTaint { key, effect, ..NodeTaint::default() }
}

/// Whether a Pod tolerates a taint of a node.
pub(crate) fn is_tolerated(taint: &NodeTaint, tolerations: &[NodeToleration]) -> bool {
    tolerations.iter().any(|toleration| {
        let effect = toleration.effect.is_empty() || toleration.effect == taint.effect;
        let key = toleration.key.is_empty() || toleration.key == taint.key;
        let value = match toleration.operator.as_str() {
            "Exists" => true,
            "" | "Equal" => !toleration.key.is_empty() && toleration.value == taint.value,
            // Only tolerations that the API server takes get here, so the gate is on.
            "Gt" => toleration.compares(taint).is_some_and(Ordering::is_gt),
            "Lt" => toleration.compares(taint).is_some_and(Ordering::is_lt),
            _ => false,
        };
        effect && key && value
    })
}

fn required(pod: &Pod) -> Option<&NodeSelector> {
    pod.spec.affinity.as_ref()?.node_affinity.as_ref()?.required.as_ref()
}

/// Whether a node is one of those that the required node affinity names; all are where a term names none.
fn is_named(pod: &Pod, node: &str) -> bool {
    let names = |requirement: &&NodeSelectorRequirement| {
        requirement.key == "metadata.name" && requirement.operator == NodeSelectorOperator::In
    };
    let mut terms = required(pod).map(|selector| selector.terms.as_slice()).unwrap_or_default().iter();
    let is_restricted = terms.len() > 0 && terms.clone().all(|term| term.match_fields.iter().any(|one| names(&one)));
    let mut of_term = |term: &NodeSelectorTerm| {
        term.match_fields.iter().filter(names).all(|requirement| requirement.values.iter().any(|name| name == node))
    };
    !is_restricted || terms.any(&mut of_term)
}

/// Whether a Pod's node selector and required node affinity select a node.
///
/// Of an inferred node only few labels are known: a requirement on any other is taken to hold.
pub(super) fn selected(node_selector: &BTreeMap<String, String>, required: Option<&NodeSelector>, node: &Node) -> bool {
    let labels = &node.metadata.labels;
    let lenient = is_inferred(node);
    let selected = node_selector.iter().all(|(key, value)| match labels.get(key) {
        Some(label) => label == value,
        None => lenient,
    });
    selected
        && required.is_none_or(|selector| {
            if lenient { selector.terms.iter().any(|term| matches_known(term, node)) } else { selects(selector, node) }
        })
}

fn matches_known(term: &NodeSelectorTerm, node: &Node) -> bool {
    let labels = &node.metadata.labels;
    let mut known = term.clone();
    known.match_expressions.retain(|requirement| labels.contains_key(&requirement.key));
    if known.match_expressions.is_empty() && known.match_fields.is_empty() {
        return !term.match_expressions.is_empty();
    }
    selects(&NodeSelector { terms: vec![known], ..NodeSelector::default() }, node)
}

/// Whether a selector selects a node; a malformed one selects none.
pub(crate) fn selects(selector: &NodeSelector, node: &Node) -> bool {
    node_selector::matches(selector, node).unwrap_or_default()
}

/// Labels that a Pod's node selector or affinity asks for and that no node has.
pub(crate) fn unknown_labels(cluster: &Cluster, pod: &Pod) -> Vec<String> {
    let terms = required(pod).map(|selector| selector.terms.as_slice()).unwrap_or_default();
    let expressions = terms.iter().flat_map(|term| &term.match_expressions).map(|requirement| &requirement.key);
    let mut keys: Vec<String> = pod.spec.node_selector.keys().chain(expressions).cloned().collect();
    keys.arrange();
    keys.dedup();
    keys.retain(|key| cluster.nodes().values().all(|node| !node.metadata.labels.contains_key(key)));
    keys
}
