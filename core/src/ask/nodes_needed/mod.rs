//! How many nodes that do not exist yet make Pods fit: the question of cluster autoscalers, Karpenter and Kueue.
//!
//! The cluster settles first; Pods that have a place keep it. Then nodes of one shape come, and the control plane settles again: what it
//! places is surely enough. [`bound`] shows that fewer nodes cannot be. Where both agree the number is proven.

mod asked;
mod bound;
mod open;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fit::DeviceAsk;
use super::usage::{Devices, UsageOf, usage};
use super::what_if::{Supposition, suppose};
use crate::allocate::Limits;
use crate::api::claim::ResourceClaim;
use crate::api::pod::Pod;
use crate::cluster::{Cluster, Key};
use crate::control_plane::Simulation;
use crate::explain::first_lines;
use crate::explain::settled::look;
use crate::finding::{Code, Finding, ObjectRef};
use crate::gather::Gather;
use bound::{Kind, Least, least};
use open::{Open, Outlook};
use shape::Shape;

/// Most new nodes of a shape where the question does not say.
const FEW_NODES: u64 = 20;

/// Most new nodes that can be asked for.
const MOST_NODES: u64 = 1000;

/// Most copies that can be asked for.
const MOST_COPIES: u64 = 10_000;

/// Most Pods without a place that are listed.
const MOST_LEFT: usize = 20;

/// The question.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NodesNeededRequest {
    /// Of what copies are made: a Pod, a PodGroup with its Pods, a workload, or a ResourceClaimTemplate or ResourceClaim of which each Pod has
    /// one. Where it is left out, the Pods that are Pending are asked about, unless `device` is there.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub subject: ObjectRef,
    /// Instead: Pods with a claim of a few words each.
    #[cfg_attr(feature = "types", ts(optional = nullable))]
    pub device: Option<DeviceAsk>,
    /// How many copies; 1 where it is left out, at most 10,000.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub copies: u64,
    /// Nodes of the cluster like which new ones would be.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub like: Vec<String>,
    /// Nodes and ResourceSlices that new nodes would have: each Node, with the slices that name it, is a shape.
    #[cfg_attr(feature = "types", ts(optional, type = "Array<Json>"))]
    pub templates: Vec<Value>,
    /// Attributes of the new devices, as `domain/name`, whose values only a running driver knows.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub open: Vec<String>,
    /// Most new nodes of a shape; 20 where it is left out, at most 1,000.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub up_to: u64,
    /// What is changed first.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub supposing: Supposition,
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NodesNeeded {
    /// Pods that are asked about.
    pub pods: u64,
    /// Of them, those that have a place on the nodes that there are.
    pub placed: u64,
    /// Those that have none there, the first 20.
    pub left: Vec<PodLeft>,
    /// What nodes of each shape alone do for the others: first those like a node, then the templates, as asked.
    pub shapes: Vec<ShapeNeeded>,
    /// Nodes of several shapes that together are enough for all, none of which can be left out; empty where one shape is enough, or no
    /// number is.
    pub together: Vec<ShapeNodes>,
}

/// What nodes of one shape do.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ShapeNeeded {
    /// The node that new ones are like.
    pub shape: String,
    /// Fewer are not enough, whatever the open attributes are. This is proven.
    pub at_least: u64,
    /// So many are enough, whatever the open attributes are; absent where no number up to the limit is known to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u64>,
    /// So many are enough if open attributes get the values that suit best; absent where no number is, or nothing is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_best: Option<u64>,
    /// Pods that get a place, on that many nodes; on as many as there may be where that many is not known.
    pub placed: u64,
    /// Pods that get none, the first 20: where `atMost` is known, on any number of such nodes.
    pub left: Vec<PodLeft>,
    /// How many those are.
    pub left_count: u64,
    /// The new nodes with what they get, where `atMost` is known.
    pub nodes: Vec<NewNode>,
    /// Devices of these nodes together.
    pub devices: Devices,
}

/// A Pod without a place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PodLeft {
    /// `namespace/name`.
    pub pod: String,
    /// Why it has none: the first line of its explanation.
    pub why: String,
}

/// A new node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NewNode {
    /// Its name.
    pub name: String,
    /// The Pods that are asked about and get a place there, as `namespace/name`.
    pub pods: Vec<String>,
    /// Its devices afterwards.
    pub devices: Devices,
}

/// A number of nodes of a shape.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ShapeNodes {
    /// The node that they are like.
    pub shape: String,
    /// How many.
    pub nodes: u64,
}

/// How many more nodes of some shapes make Pods fit. The cluster stays as it is.
///
/// # Errors
///
/// Findings, when something is named that is not there, a template cannot be read, or more is asked for than can be.
pub fn nodes_needed(
    cluster: &Cluster,
    request: &NodesNeededRequest,
    limits: &Limits,
) -> Result<NodesNeeded, Vec<Finding>> {
    let up_to = number("upTo", request.up_to, FEW_NODES, MOST_NODES)?;
    let copies = number("copies", request.copies, 1, MOST_COPIES)?;
    let open = Open::parse(&request.open)?;
    let (mut settled, refused) = suppose(cluster, &request.supposing, limits)?;
    if !refused.is_empty() {
        return Err(refused);
    }
    settled.settle();
    let shapes = shape::all(settled.server().cluster(), request)?;
    let asked = asked::add(&mut settled, request, copies)?;
    let worst = World::new(settled, &asked, &open, Outlook::Worst);
    let waiting = worst.waiting();
    let mut answer = NodesNeeded {
        pods: asked.len() as u64,
        placed: (asked.len() as u64).saturating_sub(waiting.len() as u64),
        left: left(worst.with(&[]), &waiting, limits).0,
        ..NodesNeeded::default()
    };
    for shape in &shapes {
        answer.shapes.push(worst.needed(shape, up_to, limits));
    }
    let is_enough = |needed: &ShapeNeeded| needed.at_most.is_some() && needed.left_count == 0;
    if shapes.len() > 1 && !answer.shapes.iter().any(is_enough) {
        answer.together = worst.together(&shapes, up_to);
    }
    Ok(answer)
}

/// A number of the question, with what it is where it is left out and the most that it can be.
fn number(field: &str, given: u64, default: u64, most: u64) -> Result<u64, Vec<Finding>> {
    match given {
        0 => Ok(default),
        given if given <= most => Ok(given),
        given => {
            let finding = Finding::new(Code::ReadBadSettings, field, format!("{given} is more than can be asked for"));
            Err(vec![finding.with_hint(format!("at most {most} can"))])
        }
    }
}

/// A settled cluster to which nodes come.
struct World<'a> {
    settled: Simulation,
    asked: &'a BTreeSet<Key>,
    /// The same if open attributes turn out well; `None` where nothing is open.
    best: Option<Box<World<'a>>>,
    open: &'a Open,
}

impl<'a> World<'a> {
    fn new(settled: Simulation, asked: &'a BTreeSet<Key>, open: &'a Open, outlook: Outlook) -> Self {
        let best = (outlook == Outlook::Worst && !open.is_empty())
            .then(|| Box::new(Self::new(settled.clone(), asked, open, Outlook::Best)));
        let mut settled = settled;
        open.rewrite(&mut settled, outlook);
        Self { settled, asked, best, open }
    }

    /// The Pods that are asked about and have no place.
    fn waiting(&self) -> BTreeSet<Key> {
        waiting(self.settled.server().cluster(), self.asked)
    }

    /// The cluster at rest with so many nodes of some shapes.
    fn with(&self, nodes: &[(&Shape, u64)]) -> Simulation {
        let mut simulation = self.settled.clone();
        let now = simulation.now();
        for (shape, count) in nodes {
            for object in (1..=*count).flat_map(|number| shape.node(number, self.open)) {
                simulation.server_mut().seed_object(object, now);
            }
        }
        simulation.settle();
        simulation
    }

    /// How many of the Pods have a place with so many nodes of some shapes.
    fn placed(&self, nodes: &[(&Shape, u64)]) -> usize {
        self.asked.len().saturating_sub(waiting(self.with(nodes).server().cluster(), self.asked).len())
    }

    fn needed(&self, shape: &Shape, up_to: u64, limits: &Limits) -> ShapeNeeded {
        let own = self.least(shape, limits);
        let best = self.best.as_ref().map(|best| (best, best.least(shape, limits)));
        let hopeful = best.as_ref().map_or(&own, |(_, least)| least);
        let (at_most, end) = self.enough(shape, up_to, &own);
        let mut needed = ShapeNeeded {
            shape: shape.name.clone(),
            at_least: hopeful.nodes,
            // A Pod that depends on an open attribute may turn out to fit nowhere.
            at_most: at_most.filter(|_| own.hopeless == hopeful.hopeless),
            at_best: best.as_ref().and_then(|(best, least)| best.enough(shape, up_to, least).0),
            ..ShapeNeeded::default()
        };
        needed.show(shape, end, self.asked, limits);
        needed
    }

    fn least(&self, shape: &Shape, limits: &Limits) -> Least {
        let mut cluster = self.settled.server().cluster().clone();
        let waiting = waiting(&cluster, self.asked);
        shape.node(1, self.open).into_iter().for_each(|object| cluster.apply(object));
        let kinds = Kind::all(&cluster, &waiting);
        least(&mut cluster, &shape.node_name(1), &kinds, limits)
    }

    /// The smallest number of nodes with which all Pods have a place that can have one, as the scheduler places them, with the cluster then;
    /// with as many nodes as there may be where that is not enough.
    fn enough(&self, shape: &Shape, up_to: u64, least: &Least) -> (Option<u64>, Simulation) {
        let all = |simulation: &Simulation| {
            let waiting = waiting(simulation.server().cluster(), self.asked);
            waiting.iter().all(|pod| least.hopeless.contains(pod))
        };
        // Where no node helps, one shows why. Without any, what is hopeful waits.
        let first = least.nodes.max(1);
        if first <= up_to {
            let end = self.with(&[(shape, first)]);
            if all(&end) {
                let helps_none = self.waiting().iter().all(|pod| least.hopeless.contains(pod));
                return (Some(if helps_none { 0 } else { first }), end);
            }
        }
        let mut end = self.with(&[(shape, up_to)]);
        if !all(&end) {
            return (None, end);
        }
        let (mut too_few, mut enough) = (first, up_to);
        while enough.saturating_sub(too_few) > 1 {
            let middle = too_few.midpoint(enough);
            let tried = self.with(&[(shape, middle)]);
            if all(&tried) {
                (enough, end) = (middle, tried);
            } else {
                too_few = middle;
            }
        }
        (Some(enough), end)
    }

    /// Numbers of nodes of several shapes that are enough for all, each as small as it can be beside the others.
    fn together(&self, shapes: &[Shape], up_to: u64) -> Vec<ShapeNodes> {
        let mut counts: Vec<(&Shape, u64)> = shapes.iter().map(|shape| (shape, up_to)).collect();
        if self.placed(&counts) < self.asked.len() {
            return Vec::new();
        }
        for at in 0..counts.len() {
            // `enough` is what is known to be, `low` the least that may be.
            let (mut low, mut enough) = (0, up_to);
            while low < enough {
                let middle = low.midpoint(enough);
                let mut tried = counts.clone();
                tried.iter_mut().skip(at).take(1).for_each(|count| count.1 = middle);
                if self.placed(&tried) == self.asked.len() {
                    enough = middle;
                } else {
                    low = middle.saturating_add(1);
                }
            }
            counts.iter_mut().skip(at).take(1).for_each(|count| count.1 = enough);
        }
        let used = counts.into_iter().filter(|(_, nodes)| *nodes > 0);
        used.map(|(shape, nodes)| ShapeNodes { shape: shape.name.clone(), nodes }).collect()
    }
}

impl ShapeNeeded {
    /// Takes what there is at the end.
    fn show(&mut self, shape: &Shape, end: Simulation, asked: &BTreeSet<Key>, limits: &Limits) {
        let waiting = waiting(end.server().cluster(), asked);
        self.placed = (asked.len() as u64).saturating_sub(waiting.len() as u64);
        self.left_count = waiting.len() as u64;
        let (left, mut cluster) = left(end, &waiting, limits);
        self.left = left;
        let Some(count) = self.at_most.filter(|count| *count > 0) else { return };
        let mut pods: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (key, pod) in asked.iter().filter_map(|key| Some((key, cluster.pods().get(key)?))) {
            // Who waits for the driver of its devices is nominated for their node.
            let node = match pod.spec.node_name.as_str() {
                "" => &pod.status.nominated_node_name,
                _ => &pod.spec.node_name,
            };
            pods.entry(node.clone()).or_default().push(format!("{}/{}", key.0, key.1));
        }
        let used = usage(&mut cluster, &Limits::default());
        for name in (1..=count).map(|number| shape.node_name(number)) {
            let row = used.rows.iter().find(|row| row.of == UsageOf::Node && row.name == name);
            let devices = row.map(|row| row.devices).unwrap_or_default();
            self.devices.add(&devices);
            self.nodes.push(NewNode { pods: pods.remove(&name).unwrap_or_default(), devices, name });
        }
    }
}

/// The first of the Pods without a place, and why they have none; with the cluster.
fn left(mut end: Simulation, waiting: &BTreeSet<Key>, limits: &Limits) -> (Vec<PodLeft>, Cluster) {
    if waiting.is_empty() {
        return (Vec::new(), end.into_cluster());
    }
    let settled = look(&mut end);
    let mut cluster = end.into_cluster();
    let first = || waiting.iter().take(MOST_LEFT);
    let why = first_lines(&mut cluster, &settled, first(), limits);
    let left = first().zip(why).map(|(pod, why)| PodLeft { pod: format!("{}/{}", pod.0, pod.1), why });
    (left.collect(), cluster)
}

/// Of some Pods those without a place. Who waits for the driver of its devices has one.
fn waiting(cluster: &Cluster, asked: &BTreeSet<Key>) -> BTreeSet<Key> {
    let has_place = |pod: &Pod| !pod.spec.node_name.is_empty() || pod.is_finished() || holds_devices(cluster, pod);
    let waits = |key: &&Key| cluster.pods().get(*key).is_some_and(|pod| !has_place(pod));
    asked.iter().filter(waits).cloned().gather()
}

/// Whether a Pod may use devices, which the scheduler allows only together with a place.
fn holds_devices(cluster: &Cluster, pod: &Pod) -> bool {
    let named = pod.spec.resource_claims.iter().filter_map(|entry| entry.resource_claim_name.as_ref());
    let made = pod.status.resource_claim_statuses.iter().filter_map(|status| status.resource_claim_name.as_ref());
    named.chain(made).chain(pod.extended_resource_claim()).any(|name| {
        let claim = cluster.claims().get(&(pod.metadata.namespace.clone(), name.clone()));
        let uses = |claim: &ResourceClaim| claim.status.reserved_for.iter().any(|user| user.uid == pod.metadata.uid);
        claim.is_some_and(|claim| uses(claim))
    })
}
