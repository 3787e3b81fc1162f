//! How many nodes are needed at least, whatever a scheduler does: shown by what fits on one new node by itself.
//!
//! Three bounds, each from leaving conditions out: Pods of one kind; one resource of the nodes; single devices of one class. The last two
//! hold only while the nodes that there are take none of the Pods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::allocate::extended;
use crate::allocate::{Limits, Place, Question, find_place};
use crate::api::claim::{
    AllocationMode, DeviceRequest, DeviceToleration, ExactDeviceRequest, ResourceClaim, TolerationOperator,
};
use crate::api::pod::Pod;
use crate::cluster::{Cluster, Key};
use crate::explain::reasons::entries;
use crate::scheduler::NodeCache;
use crate::scheduler::filter::reaches;
use crate::scheduler::node_fit::{NodeState, Resources, add};
use crate::scheduler::pod_filters::seen;
use crate::scheduler::special;

/// Most Pods or devices that are asked for together on one node; beyond that nothing is shown.
const MOST: u64 = 128;

/// Search steps of one question.
const STEPS: u64 = 200_000;

/// Pods that ask for the same.
pub(super) struct Kind {
    /// The first one, as its filters see it.
    pod: Arc<Pod>,
    /// What it asks of the resources of a node.
    requests: Resources,
    /// Claims without devices that each Pod has for itself.
    own: Vec<ResourceClaim>,
    /// Claims without devices that it shares with others.
    shared: Vec<ResourceClaim>,
    /// Claims that have devices.
    allocated: Vec<ResourceClaim>,
    /// Whether it is not tried at all, whatever nodes there are.
    is_held: bool,
    pods: Vec<Key>,
}

impl Kind {
    /// The kinds of some Pods, in the order of their first Pods.
    pub(super) fn all(cluster: &Cluster, pods: &BTreeSet<Key>) -> Vec<Self> {
        let mut kinds: Vec<Self> = Vec::new();
        for pod in pods.iter().filter_map(|key| cluster.pods().get(key)) {
            let kind = Self::of(cluster, pod);
            match kinds.iter_mut().find(|known| known.asks_as(&kind)) {
                Some(known) => known.pods.extend(kind.pods),
                None => kinds.push(kind),
            }
        }
        kinds
    }

    fn of(cluster: &Cluster, pod: &Arc<Pod>) -> Self {
        let key = (pod.metadata.namespace.clone(), pod.metadata.name.clone());
        let entries = entries(cluster, pod);
        let is_held = !pod.spec.scheduling_gates.is_empty()
            || !cluster.has_scheduler_of(pod)
            || entries.iter().any(|entry| entry.problem.is_some());
        let names = entries.into_iter().filter_map(|entry| entry.claim);
        let claims = names.filter_map(|name| cluster.claims().get(&(key.0.clone(), name)));
        let (seen, requests) = seen(cluster, pod);
        let mut kind = Self {
            pod: Arc::new(seen.into_owned()),
            requests,
            own: Vec::new(),
            shared: Vec::new(),
            allocated: Vec::new(),
            is_held,
            pods: vec![key.clone()],
        };
        for claim in claims {
            let is_own = claim.metadata.controller().is_some_and(|owner| owner.uid == pod.metadata.uid);
            let claims = match claim.status.allocation {
                Some(_) => &mut kind.allocated,
                None if is_own => &mut kind.own,
                None => &mut kind.shared,
            };
            claims.push(ResourceClaim::clone(claim));
        }
        kind
    }

    /// Whether Pods of both ask nodes and devices for the same.
    fn asks_as(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.pod.spec, &other.pod.spec);
        let equal = |mine: &[ResourceClaim], theirs: &[ResourceClaim]| {
            mine.len() == theirs.len() && mine.iter().zip(theirs).all(|(mine, theirs)| mine.spec == theirs.spec)
        };
        let same = |mine: &[ResourceClaim], theirs: &[ResourceClaim]| {
            mine.iter().map(|claim| &claim.metadata.name).eq(theirs.iter().map(|claim| &claim.metadata.name))
        };
        self.is_held == other.is_held
            && self.pod.metadata.namespace == other.pod.metadata.namespace
            && mine.node_selector == theirs.node_selector
            && mine.affinity == theirs.affinity
            && mine.tolerations == theirs.tolerations
            && mine.containers == theirs.containers
            && mine.init_containers == theirs.init_containers
            && self.requests == other.requests
            && equal(&self.own, &other.own)
            && same(&self.shared, &other.shared)
            && same(&self.allocated, &other.allocated)
    }

    fn number(&self) -> u64 {
        self.pods.len() as u64
    }

    /// What a Pod of it takes of a node, and the claims that are to be allocated there.
    fn on(&self, cluster: &Cluster, state: &NodeState) -> (Resources, Vec<ResourceClaim>) {
        let mut taken = self.requests.clone();
        let mut claims = self.own.clone();
        if let Some(extended) = extended::on_node(cluster, &self.pod, &state.node) {
            taken.retain(|name, _| !extended.resources.contains(name));
            claims.push(special::claim(&self.pod, &extended));
        }
        (taken, claims)
    }

    /// Most Pods of it, up to a number, that fit on a node as it is; never too few.
    fn most_on(&self, cluster: &mut Cluster, state: &NodeState, number: u64, limits: &Limits) -> u64 {
        let (taken, own) = self.on(cluster, state);
        if self.is_held || !self.allocated.iter().all(|claim| reaches(claim, state)) {
            return 0;
        }
        let (mut sum, mut claims) = (taken.clone(), self.shared.clone());
        for fits in 0..number.min(MOST) {
            if !state.refusals(&self.pod, &sum).is_empty() {
                return fits;
            }
            claims.extend(own.iter().cloned());
            add(&mut sum, &taken);
            let question =
                Question { claims: claims.clone(), nodes: vec![state.name().to_owned()], ..Question::default() };
            let place = if claims.is_empty() { None } else { Some(find_place(cluster, &question, limits)) };
            match place {
                None | Some(Place::On(..)) => {}
                Some(Place::Nowhere | Place::Failed(_)) => return fits,
                Some(Place::GaveUp) => return number,
            }
        }
        number
    }

    /// Most Pods of it that fit on some nodes as they are; never too few.
    fn most_elsewhere(&self, cluster: &mut Cluster, nodes: &[NodeState], limits: &Limits) -> u64 {
        let mut sum = 0u64;
        let mut takes: Vec<&NodeState> = Vec::new();
        for state in nodes {
            if state.refusals(&self.pod, &self.on(cluster, state).0).is_empty() {
                takes.push(state);
            }
        }
        let claims = [self.own.as_slice(), &self.shared].concat();
        if !claims.is_empty() && !takes.is_empty() {
            let names = takes.iter().map(|state| state.name().to_owned()).collect();
            let question = Question { claims, nodes: names, ..Question::default() };
            if matches!(find_place(cluster, &question, limits), Place::Nowhere) {
                return 0;
            }
        }
        for state in takes {
            let rest = self.number().saturating_sub(sum);
            sum = sum.saturating_add(if rest == 0 { 0 } else { self.most_on(cluster, state, rest, limits) });
        }
        sum
    }
}

/// How many nodes are needed at least.
#[derive(Clone, Debug, Default)]
pub(super) struct Least {
    pub(super) nodes: u64,
    /// Pods that fit on no such node, and on none that there is.
    pub(super) hopeless: BTreeSet<Key>,
}

/// How many nodes like one of a cluster, on which nothing runs, some Pods need at least. The node is not one of those that there are.
pub(super) fn least(cluster: &mut Cluster, new: &str, kinds: &[Kind], limits: &Limits) -> Least {
    let limits = Limits { max_steps: limits.max_steps.min(STEPS) };
    let (new, others): (Vec<NodeState>, Vec<NodeState>) =
        NodeCache::new(cluster).nodes().cloned().partition(|state| state.name() == new);
    let mut least = Least::default();
    let Some(new) = new.first() else { return least };
    let mut hopeful: Vec<&Kind> = Vec::new();
    let mut takes_some = false;
    for kind in kinds {
        let number = kind.number();
        let elsewhere = kind.most_elsewhere(cluster, &others, &limits);
        takes_some |= elsewhere > 0;
        let most = kind.most_on(cluster, new, number, &limits);
        match number.saturating_sub(elsewhere) {
            rest if most > 0 => least.nodes = least.nodes.max(rest.div_ceil(most)),
            _ if elsewhere == 0 => {
                least.hopeless.extend(kind.pods.iter().cloned());
                continue;
            }
            _ => {}
        }
        hopeful.push(kind);
    }
    if !takes_some {
        least.nodes =
            least.nodes.max(by_resource(cluster, new, &hopeful)).max(by_class(cluster, new, &hopeful, &limits));
    }
    least
}

/// Nodes that Pods need for one resource of them.
fn by_resource(cluster: &Cluster, new: &NodeState, kinds: &[&Kind]) -> u64 {
    let mut asked: BTreeMap<String, i128> = BTreeMap::new();
    for kind in kinds {
        for (name, amount) in kind.on(cluster, new).0 {
            let amount = amount.billionths().unwrap_or_default().max(0);
            let sum = asked.entry(name).or_default();
            *sum = sum.saturating_add(amount.saturating_mul(i128::from(kind.number())));
        }
    }
    let nodes = |(name, sum): (&String, &i128)| {
        let each = new.left(name)?.billionths().filter(|each| *each > 0)?;
        let nodes = sum.saturating_add(each).saturating_sub(1).checked_div(each)?;
        u64::try_from(nodes).ok()
    };
    asked.iter().filter_map(nodes).max().unwrap_or_default()
}

/// Nodes that Pods need for single devices of one class, whatever else they ask of them.
fn by_class(cluster: &mut Cluster, new: &NodeState, kinds: &[&Kind], limits: &Limits) -> u64 {
    let mut asked: BTreeMap<String, u64> = BTreeMap::new();
    for kind in kinds {
        let claims = kind.on(cluster, new).1;
        let exact = claims.iter().flat_map(|claim| &claim.spec.devices.requests).filter_map(|one| one.exactly.as_ref());
        for exact in exact.filter(|exact| exact.admin_access != Some(true)) {
            let count = match exact.allocation_mode {
                AllocationMode::ExactCount => u64::try_from(exact.count).unwrap_or(1).max(1),
                AllocationMode::All | AllocationMode::Unknown(_) => 1,
            };
            let sum = asked.entry(exact.device_class_name.clone()).or_default();
            *sum = sum.saturating_add(count.saturating_mul(kind.number()));
        }
    }
    let mut nodes = 0;
    for (class, sum) in asked {
        let claim = one_of(&class);
        let mut most = None;
        for number in 1..=MOST.min(sum) {
            let claims = vec![claim.clone(); usize::try_from(number).unwrap_or(usize::MAX)];
            let question = Question { claims, nodes: vec![new.name().to_owned()], ..Question::default() };
            match find_place(cluster, &question, limits) {
                Place::On(..) => {}
                Place::GaveUp => break,
                Place::Nowhere | Place::Failed(_) => {
                    most = Some(number.saturating_sub(1));
                    break;
                }
            }
        }
        nodes = most.filter(|most| *most > 0).map_or(nodes, |most| nodes.max(sum.div_ceil(most)));
    }
    nodes
}

/// A claim for one device of a class, whatever its taints.
fn one_of(class: &str) -> ResourceClaim {
    let tolerations =
        vec![DeviceToleration { operator: Some(TolerationOperator::Exists), ..DeviceToleration::default() }];
    let exact = ExactDeviceRequest {
        device_class_name: class.to_owned(),
        count: 1,
        tolerations,
        ..ExactDeviceRequest::default()
    };
    let mut claim = ResourceClaim::default();
    claim.metadata.name = format!("one-{class}");
    let request = DeviceRequest { name: "device".to_owned(), exactly: Some(exact), ..DeviceRequest::default() };
    claim.devices_mut().requests.push(request);
    claim
}
