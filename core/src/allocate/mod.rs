//! Claims and candidate nodes in, an allocation or the reasons against it out.
//!
//! The answer is the one of kube-scheduler's DRA plugin: on one node, the first solution of a depth-first search in
//! a fixed order (claims, requests, alternatives, devices); among nodes, the first that fits in the order asked.

mod bounds;
pub mod capacity;
mod constraints;
mod counters;
mod differences;
pub mod extended;
mod failure;
pub(crate) mod fits;
mod flow;
mod funnel;
mod grid;
mod groups;
mod guide;
pub(crate) mod inspect;
pub(crate) mod json;
mod judge;
mod known;
mod node;
mod nodes;
mod outlook;
mod pick;
mod plan;
mod pools;
mod precheck;
mod quirks;
mod result;
mod row;
mod search;
mod select;
mod taints;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::api::claim::{AllocationResult, DeviceRequestAllocationResult, ResourceClaim};
use crate::api::quantity::Quantity;
use crate::api::slice::{Device, ResourceSlice};
use crate::cluster::{Cluster, Memory, Usage};
use crate::finding::Finding;
pub use fits::{Fits, FitsOutcome, fits};
use grid::Grid;
use judge::Judge;
pub use known::{ClaimNames, KnownQuestion, allocate_each, allocate_known};
use node::{Asking, Reply, Way};
use plan::Plan;
use pools::Overlay;
use precheck::Stop;
use quirks::Quirks;
use select::Verdicts;
pub use taints::tolerates;
pub(crate) use taints::{applies as rule_applies, blocking as blocking_taints};

/// Identity of a device. A pool is known only together with its driver.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct DeviceId {
    /// Driver.
    pub driver: String,
    /// Pool of the driver.
    pub pool: String,
    /// Device of the pool.
    pub device: String,
}

impl DeviceId {
    /// A device of a slice.
    pub(crate) fn of(slice: &ResourceSlice, device: &Device) -> Self {
        Self { driver: slice.spec.driver.clone(), pool: slice.spec.pool.name.clone(), device: device.name.clone() }
    }

    /// The device of a result.
    pub(crate) fn of_result(result: &DeviceRequestAllocationResult) -> Self {
        Self { driver: result.driver.clone(), pool: result.pool.clone(), device: result.device.clone() }
    }
}

/// Devices that are taken beyond what the claims in the cluster say, for instance by decisions not yet written.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InUse {
    /// Devices taken as a whole.
    pub devices: Vec<DeviceId>,
    /// Shares of shared devices, with the id of the share.
    pub shares: Vec<(DeviceId, String)>,
    /// Capacity taken of shared devices, summed, by capacity name.
    pub consumed: Vec<(DeviceId, BTreeMap<String, Quantity>)>,
}

/// "Allocate these claims together, on one of these nodes."
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Question {
    /// Unallocated claims of one Pod, in its order. They need not be in the cluster, and names may repeat.
    pub claims: Vec<ResourceClaim>,
    /// Names of the candidate nodes in the order of trying; empty for all nodes by name.
    pub nodes: Vec<String>,
    /// What else is taken.
    pub in_use: InUse,
}

impl Question {
    /// The same about other nodes.
    pub(crate) fn on(&self, nodes: Vec<String>) -> Self {
        Self { claims: self.claims.clone(), nodes, in_use: self.in_use.clone() }
    }
}

/// A question whose claims were found.
struct Asked<'q> {
    claims: Vec<&'q ResourceClaim>,
    nodes: &'q [String],
    in_use: &'q InUse,
    /// Devices that nobody has and that are not to be given out all the same; they draw from no counter.
    barred: &'q [DeviceId],
}

/// How much work a question may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Search steps of one question over all nodes: one step is one device tried for one request. A selector whose evaluation
    /// takes long takes steps, too.
    pub max_steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_steps: 10_000_000 }
    }
}

/// The answer to a [`Question`].
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The decision.
    pub outcome: Outcome,
    /// Worth knowing beside the decision, for instance that the stated version would decide otherwise.
    pub findings: Vec<Finding>,
    /// Search steps taken.
    pub steps: u64,
}

impl Answer {
    /// The allocations, one per claim in the order of the question; none where the claims have no place.
    pub fn allocations(&self) -> &[Arc<AllocationResult>] {
        match &self.outcome {
            Outcome::Allocated { allocations, .. } => allocations,
            Outcome::Unsatisfied { .. } | Outcome::Failed { .. } | Outcome::GaveUp { .. } => &[],
        }
    }
}

/// The decision on a [`Question`].
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The claims fit.
    Allocated {
        /// The node.
        node: String,
        /// One entry per claim, in the order of the question.
        allocations: Vec<Arc<AllocationResult>>,
    },
    /// The claims fit on none of the nodes.
    Unsatisfied {
        /// One entry per node tried, in the order of trying.
        nodes: Vec<NodeRefusal>,
    },
    /// The input is wrong (a claim, a class, a slice): kube-scheduler gives up the Pod, other nodes are not tried.
    Failed {
        /// The node on which it was noticed.
        node: String,
        /// What is wrong.
        failure: Failure,
    },
    /// The step limit was reached before an answer was found.
    GaveUp {
        /// The node that was being searched.
        node: String,
        /// Nodes that were refused before.
        nodes: Vec<NodeRefusal>,
    },
}

/// Why a node was refused.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeRefusal {
    /// The node.
    pub node: String,
    /// Set where the reference gives a reason of its own (invalid pools); otherwise the claims just do not fit.
    pub failure: Option<Failure>,
    /// What each request found on the node, in the order of the claims and requests.
    pub requests: Vec<RequestFunnel>,
}

/// A refusal with a text of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// In our words.
    pub finding: Finding,
    /// In the reference's words, for comparison.
    pub reference: String,
}

/// How many devices of a node survive each test of one request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct RequestFunnel {
    /// Name of the claim.
    pub claim: String,
    /// `request` or `request/subrequest`.
    pub request: String,
    /// Devices needed.
    pub needed: u64,
    /// Devices that the node has access to, in usable pools.
    pub devices: u64,
    /// Of these, devices that the class and the request's selectors accept.
    pub matching: u64,
    /// Of these, devices that could serve the request if nobody used them: features, constraints' attributes, capacity and counters suffice.
    pub able: u64,
    /// Of these, devices without taints that the request does not tolerate.
    pub tolerated: u64,
    /// Of these, devices that are not in use and have enough capacity and counters left.
    pub free: u64,
    /// Devices that match and cannot serve the request, by reason; those that claims have as a whole are only not `free`. Devices in pools
    /// that cannot be used are not among `devices`.
    pub unable: Vec<Unable>,
}

/// Devices that match and cannot serve a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Unable {
    /// The kind of reason.
    pub why: Inability,
    /// The rest of it, to be read behind the kind: the pool, the gate, the amounts.
    pub detail: String,
    /// Devices with this reason and none that comes before it.
    pub devices: u64,
}

/// Why a device that matches cannot serve a request. The reasons that are hardest to remove come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Inability {
    /// Its pool is being updated, or counts its slices wrongly.
    PoolIncomplete,
    /// Its pool contradicts itself.
    PoolInvalid,
    /// It needs a feature that is off.
    FeatureOff,
    /// Its node must be able to do without the driver.
    NeedsDriver,
    /// It lacks the attribute of a constraint.
    ConstraintMissing,
    /// It does not have the capacity, or could never grant that much.
    CapacityNever,
    /// A shared counter is smaller than what it draws.
    CounterNever,
    /// Partitions in use are of another compatibility group.
    OtherGroup,
    /// Devices in use leave too little of a shared counter.
    CounterShort,
    /// Claims leave too little of its capacity.
    CapacityShort,
}

impl Inability {
    /// The reason, to be read behind the number of devices.
    pub fn text(self, devices: u64) -> &'static str {
        let is_one = devices == 1;
        match self {
            Self::PoolIncomplete if is_one => "is in an incomplete pool",
            Self::PoolIncomplete => "are in an incomplete pool",
            Self::PoolInvalid if is_one => "is in a pool that contradicts itself",
            Self::PoolInvalid => "are in a pool that contradicts itself",
            Self::FeatureOff if is_one => "needs a feature gate that is off",
            Self::FeatureOff => "need a feature gate that is off",
            Self::NeedsDriver if is_one => "needs a node that declares the feature `DRAOptionalNodeOperations`",
            Self::NeedsDriver => "need a node that declares the feature `DRAOptionalNodeOperations`",
            Self::ConstraintMissing if is_one => "lacks the attribute of a constraint",
            Self::ConstraintMissing => "lack the attribute of a constraint",
            Self::CapacityNever => "can never grant the capacity asked for",
            Self::CounterNever if is_one => "draws more of a shared counter than there is",
            Self::CounterNever => "draw more of a shared counter than there is",
            Self::OtherGroup if is_one => "is not compatible with partitions in use",
            Self::OtherGroup => "are not compatible with partitions in use",
            Self::CounterShort if is_one => "draws more of a shared counter than devices in use leave",
            Self::CounterShort => "draw more of a shared counter than devices in use leave",
            Self::CapacityShort if is_one => "has too little capacity left",
            Self::CapacityShort => "have too little capacity left",
        }
    }

    /// Whether it goes away when others free what they have.
    pub(crate) fn is_of_use(self) -> bool {
        self >= Self::OtherGroup
    }
}

/// Steps taken, and how many may be.
#[derive(Clone, Copy, Debug)]
struct Budget {
    steps: u64,
    limit: u64,
}

impl Budget {
    fn unlimited() -> Self {
        Self { steps: 0, limit: u64::MAX }
    }

    /// Adds the steps that selectors took.
    fn count(&mut self, verdicts: &mut Verdicts<'_, '_>) {
        self.steps = self.steps.saturating_add(verdicts.uncounted());
    }

    /// Takes one step, and those that selectors took.
    fn step(&mut self, verdicts: &mut Verdicts<'_, '_>) -> Result<(), Stop> {
        self.count(verdicts);
        if self.steps >= self.limit {
            return Err(Stop::Limit);
        }
        self.steps += 1;
        Ok(())
    }
}

/// Answers a question about a cluster.
///
/// Where the question names no nodes, all nodes are candidates, by name; in a cluster without Node objects, those that
/// slices name. A node without an object is one without labels.
///
/// The same cluster, question and limits give the same answer, step count included, on every platform.
pub fn allocate(cluster: &mut Cluster, question: &Question, limits: &Limits) -> Answer {
    allocate_with(cluster, question, limits, node::PATIENCE, &[])
}

/// The same without some devices that nobody has; they draw from no counter.
pub(crate) fn allocate_without(
    cluster: &mut Cluster,
    question: &Question,
    limits: &Limits,
    barred: &[DeviceId],
) -> Answer {
    allocate_with(cluster, question, limits, node::PATIENCE, barred)
}

/// The same with another patience, which must not change the outcome.
fn allocate_with(
    cluster: &mut Cluster,
    question: &Question,
    limits: &Limits,
    patience: u64,
    barred: &[DeviceId],
) -> Answer {
    let claims = question.claims.iter().collect();
    let asked = Asked { claims, nodes: &question.nodes, in_use: &question.in_use, barred };
    let mut memory = cluster.lend_memory();
    let answer = answer(cluster, &mut memory, &asked, limits, patience);
    cluster.return_memory(memory);
    answer
}

fn answer(cluster: &Cluster, memory: &mut Memory, asked: &Asked<'_>, limits: &Limits, patience: u64) -> Answer {
    let mut budget = Budget { steps: 0, limit: limits.max_steps };
    let way = Way { quirks: Quirks::of(cluster.profile()), patience };
    let (outcome, met_defect) = decide(cluster, memory, asked, way, &mut budget);
    let findings = differences::find(cluster, memory, asked, (&outcome, met_defect), limits);
    Answer { outcome, findings, steps: budget.steps }
}

/// The decision, and whether known defects of the reference may change it.
fn decide(
    cluster: &Cluster,
    memory: &mut Memory,
    question: &Asked<'_>,
    way: Way,
    budget: &mut Budget,
) -> (Outcome, bool) {
    let plan = &Plan::new(&question.claims, cluster);
    let overlay = &overlay(cluster, question.in_use, question.barred);
    let mut judge = Judge::new(plan, cluster.profile(), std::mem::take(&mut memory.selectors));
    let pools = &mut memory.pools;
    let mut asking = Asking { cluster, overlay, plan, judge: &mut judge, pools, way, met_defect: false };
    let outcome = ask_nodes(&mut asking, question, budget);
    let met_defect = asking.met_defect;
    memory.selectors = judge.into_selectors();
    (outcome, met_defect)
}

fn ask_nodes(asking: &mut Asking<'_, '_>, question: &Asked<'_>, budget: &mut Budget) -> Outcome {
    let (cluster, plan) = (asking.cluster, asking.plan);
    // Mostly some node fits, and nobody asks why others did not. Where there is only one, everything is at hand for it.
    let is_only = nodes::is_only_one(cluster, question);
    let mut stopped = None;
    for name in nodes::worth_asking(cluster, question, plan) {
        match asking.ask(&nodes::named(cluster, name), is_only, budget) {
            Ok(Reply::Fits(allocations)) => return Outcome::Allocated { node: name.to_owned(), allocations },
            Ok(Reply::Refuses(Some(refusal))) => return Outcome::Unsatisfied { nodes: vec![*refusal] },
            Ok(Reply::Refuses(None)) => {}
            Err(Stop::Failed(failure)) => return Outcome::Failed { node: name.to_owned(), failure: *failure },
            Err(Stop::Limit) => {
                stopped = Some(name);
                break;
            }
        }
    }
    let refused = nodes::candidates(cluster, question).take_while(|name| Some(*name) != stopped);
    let nodes = refused.map(|name| funnel::refusal(asking, &nodes::named(cluster, name))).collect();
    match stopped {
        Some(node) => Outcome::GaveUp { node: node.to_owned(), nodes },
        None => Outcome::Unsatisfied { nodes },
    }
}

/// Where the claims of a question fit.
pub(crate) enum Place {
    /// On this node first, with these devices.
    On(String, Vec<Arc<AllocationResult>>),
    /// On none.
    Nowhere,
    /// The input is wrong.
    Failed(Box<Failure>),
    /// The step limit was reached before it was known.
    GaveUp,
}

/// The first node on which the claims of a question fit: the outcome of [`allocate`] without anything about other nodes.
pub(crate) fn find_place(cluster: &mut Cluster, question: &Question, limits: &Limits) -> Place {
    let claims = question.claims.iter().collect();
    place(cluster, &Asked { claims, nodes: &question.nodes, in_use: &question.in_use, barred: &[] }, limits)
}

/// What several questions may take together: the steps of their searches, and some for each unit on each node that is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    left: u64,
    /// Steps of one search at most.
    most: u64,
    is_short: bool,
}

impl Allowance {
    /// Steps that laying out one unit on one node is worth.
    const UNIT: u64 = 8;

    pub(crate) fn new(all: u64, most: u64) -> Self {
        Self { left: all, most, is_short: false }
    }

    /// Does something that may take so many steps of it at most.
    pub(crate) fn lend<T>(&mut self, steps: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let aside = self.set_aside(steps);
        let done = work(self);
        self.put_back(aside);
        done
    }

    /// Leaves so many steps of it at most; what is taken away is to be put back.
    pub(crate) fn set_aside(&mut self, steps: u64) -> u64 {
        let aside = self.left.saturating_sub(steps);
        self.left = self.left.saturating_sub(aside);
        aside
    }

    pub(crate) fn put_back(&mut self, aside: u64) {
        self.left = self.left.saturating_add(aside);
    }

    pub(crate) fn half(&self) -> u64 {
        self.left / 2
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.left == 0
    }

    /// Whether some question was not asked for want of steps, since this was asked last.
    pub(crate) fn was_short(&mut self) -> bool {
        std::mem::take(&mut self.is_short)
    }
}

/// The same within what is left of an allowance; [`Place::GaveUp`] where nothing is.
pub(crate) fn find_place_within(cluster: &mut Cluster, question: &Question, allowance: &mut Allowance) -> Place {
    if allowance.is_used_up() {
        allowance.is_short = true;
        return Place::GaveUp;
    }
    let (claims, nodes) = (question.claims.iter().collect(), &question.nodes);
    let asked = Asked { claims, nodes, in_use: &question.in_use, barred: &[] };
    let mut budget = Budget { steps: 0, limit: allowance.most.min(allowance.left) };
    let mut memory = cluster.lend_memory();
    let (place, looked) = place_with(cluster, &mut memory, &asked, &mut budget);
    cluster.return_memory(memory);
    let taken = budget.steps.saturating_add(looked.saturating_mul(Allowance::UNIT));
    allowance.left = allowance.left.saturating_sub(taken);
    place
}

/// The same for some claims and nodes, without some devices that nobody has, as [`allocate_without`].
pub(crate) fn find_place_without(
    cluster: &mut Cluster,
    claims: &[ResourceClaim],
    nodes: &[String],
    limits: &Limits,
    barred: &[DeviceId],
) -> Place {
    let in_use = InUse::default();
    place(cluster, &Asked { claims: claims.iter().collect(), nodes, in_use: &in_use, barred }, limits)
}

fn place(cluster: &mut Cluster, asked: &Asked<'_>, limits: &Limits) -> Place {
    let mut memory = cluster.lend_memory();
    let mut budget = Budget { steps: 0, limit: limits.max_steps };
    let (place, _) = place_with(cluster, &mut memory, asked, &mut budget);
    cluster.return_memory(memory);
    place
}

/// The place, and how many units were laid out, counted for each node again.
fn place_with(cluster: &Cluster, memory: &mut Memory, asked: &Asked<'_>, budget: &mut Budget) -> (Place, u64) {
    let plan = &Plan::new(&asked.claims, cluster);
    let overlay = &overlay(cluster, asked.in_use, asked.barred);
    let mut judge = Judge::new(plan, cluster.profile(), std::mem::take(&mut memory.selectors));
    let pools = &mut memory.pools;
    let way = Way { quirks: Quirks::of(cluster.profile()), patience: node::PATIENCE };
    let mut asking = Asking { cluster, overlay, plan, judge: &mut judge, pools, way, met_defect: false };
    let mut place = Place::Nowhere;
    let units = u64::try_from(plan.units.len()).unwrap_or(u64::MAX);
    let mut looked = units;
    for name in nodes::worth_asking(cluster, asked, plan) {
        looked = looked.saturating_add(units);
        place = match asking.ask(&nodes::named(cluster, name), false, budget) {
            Ok(Reply::Fits(allocations)) => Place::On(name.to_owned(), allocations),
            Ok(Reply::Refuses(_)) => continue,
            Err(Stop::Failed(failure)) => Place::Failed(failure),
            Err(Stop::Limit) => Place::GaveUp,
        };
        break;
    }
    memory.selectors = judge.into_selectors();
    (place, looked)
}

/// What the question says is taken, on top of what the cluster knows. Devices that nobody publishes do not matter.
fn overlay(cluster: &Cluster, in_use: &InUse, barred: &[DeviceId]) -> Overlay {
    let mut overlay = Overlay::new();
    let mut change = |id: &DeviceId, taken: &dyn Fn(&mut Usage)| {
        if let Some(device) = cluster.inventory().device(&id.driver, &id.pool, &id.device) {
            let known = || cluster.inventory().usage(device).cloned().unwrap_or_default();
            taken(overlay.entry(device).or_insert_with(known));
        }
    };
    for id in &in_use.devices {
        change(id, &|usage| usage.whole = usage.whole.saturating_add(1));
    }
    for (id, _) in &in_use.shares {
        change(id, &|usage| usage.shares = usage.shares.saturating_add(1));
    }
    for (id, amounts) in &in_use.consumed {
        change(id, &|usage| usage.consume(amounts));
    }
    for id in barred {
        change(id, &|usage| usage.is_barred = true);
    }
    overlay
}
