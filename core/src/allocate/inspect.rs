//! Everything that keeps each device from each request, for explanations.
//!
//! Every request is looked at alone, as if it came first. A device without obstacles is one that the search could pick then;
//! obstacles are all listed, so that a device is a candidate once all of them are gone. The search knows nothing of this.

use std::collections::BTreeMap;

use super::capacity::{self, Rounding};
use super::groups::Groups;
use super::judge::Judge;
use super::plan::{Plan, Unit};
use super::pools::{NodeDevice, NodeView, Overlay, gather};
use super::precheck::{Need, Needs, Stop, check};
use super::select::{Verdicts, must_wait};
use super::taints::blocks;
use super::{Budget, Failure, Question, constraints, nodes};
use crate::api::claim::{AllocationMode, ResourceClaim};
use crate::api::quantity::Quantity;
use crate::api::slice::{AttributeValue, Device, DeviceTaint, ResourceSlice};
use crate::cluster::selectors::SelectorProblem;
use crate::cluster::{Cluster, DeviceIdx, PoolState, device_matches};
use crate::profile::Profile;

/// One thing that keeps a device from a request.
#[derive(Clone, Debug)]
pub(crate) enum Obstacle<'c> {
    /// A selector of the class or of the request is false.
    SelectorFalse { of_class: bool, index: usize },
    /// A selector gives no answer.
    SelectorFails { of_class: bool, index: usize, problem: SelectorProblem },
    /// The device is for other nodes.
    OtherNode,
    /// A feature that the device needs is off.
    FeatureOff { gate: &'static str },
    /// The node must be able to do without the driver, and cannot.
    NeedsDriver,
    /// The device does not have the attribute of a constraint.
    ConstraintMissing { constraint: usize },
    /// The device does not have the capacity, or could never grant that much.
    CapacityNever { name: String, needs: Option<Quantity>, has: Option<Quantity> },
    /// A taint without a toleration.
    Taint(&'c DeviceTaint),
    /// Claims have the device as a whole.
    InUse,
    /// Claims have too much of the capacity.
    CapacityShort { name: String, needs: Quantity, left: Quantity },
    /// A counter of the pool has too little left.
    CounterShort { set: String, counter: String, needs: Quantity, left: Quantity },
    /// A counter of the pool could never bear the device.
    CounterNever { set: String, counter: String, needs: Quantity, total: Quantity },
    /// Partitions in use are of another compatibility group.
    OtherGroup { set: String },
}

/// What devices are picked for: an exact request or one alternative.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct UnitSeen {
    /// Position of the claim in the question.
    pub(crate) claim: usize,
    /// Position of the request in the claim.
    pub(crate) request: usize,
    /// Position of the alternative in the request.
    pub(crate) sub: Option<usize>,
    /// `request` or `request/subrequest`.
    pub(crate) name: String,
    /// Name of the class.
    pub(crate) class: String,
    /// Devices asked for; of no meaning in mode `All`.
    pub(crate) count: u64,
    /// Whether all devices that match are asked for.
    pub(crate) is_all: bool,
    /// Whether it is for administration, which takes devices from nobody.
    pub(crate) has_admin_access: bool,
    /// Constraints that cover it, by position in the claim, with the attribute of each.
    pub(crate) constraints: Vec<(usize, String)>,
}

/// One node as the question sees it.
#[derive(Debug)]
pub(crate) struct NodeSeen<'v> {
    /// Name.
    pub(crate) name: &'v str,
    /// What stops the question before any search.
    pub(crate) failure: Option<Box<Failure>>,
    /// Devices that each unit needs; empty with a failure.
    pub(crate) needs: Vec<u64>,
    /// Pools that the node has access to, in the order of trying.
    pub(crate) pools: Vec<PoolSeen<'v>>,
}

/// One pool of a node.
#[derive(Debug)]
pub(crate) struct PoolSeen<'v> {
    /// Driver.
    pub(crate) driver: &'v str,
    /// Name.
    pub(crate) name: &'v str,
    /// Whether its devices can be given out.
    pub(crate) state: &'v PoolState,
}

/// One device of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceSeen<'s, 'c> {
    /// Its position in the cluster.
    pub(crate) index: DeviceIdx,
    /// Its slice.
    pub(crate) slice: &'c ResourceSlice,
    /// The device.
    pub(crate) device: &'c Device,
    /// What it has for the constraints that cover the unit, in their order.
    pub(crate) held: &'s [Option<&'c AttributeValue>],
}

/// Who is told what was found: a node, then its devices for each unit.
pub(crate) trait Observer {
    /// A node; false to leave its devices out.
    fn node(&mut self, _: &NodeSeen<'_>) -> bool {
        true
    }
    /// A device of that node with all that keeps it from a unit.
    fn device(&mut self, unit: usize, device: &DeviceSeen<'_, '_>, obstacles: &[Obstacle<'_>]);
    /// All devices of that node were told.
    fn done(&mut self) {}
}

impl<F: FnMut(usize, &DeviceSeen<'_, '_>, &[Obstacle<'_>])> Observer for F {
    fn device(&mut self, unit: usize, device: &DeviceSeen<'_, '_>, obstacles: &[Obstacle<'_>]) {
        self(unit, device, obstacles);
    }
}

/// The units of a question.
pub(crate) fn units(cluster: &Cluster, claims: &[ResourceClaim]) -> Vec<UnitSeen> {
    let claims: Vec<&ResourceClaim> = claims.iter().collect();
    let plan = Plan::new(&claims, cluster);
    let seen = |unit: &Unit<'_>| UnitSeen {
        claim: unit.claim,
        request: unit.request_in_claim,
        sub: unit.sub,
        name: unit.full_name.to_string(),
        class: unit.class_name.to_owned(),
        count: unit.count,
        is_all: *unit.mode == AllocationMode::All,
        has_admin_access: unit.has_admin_access(),
        constraints: covering(&plan, unit).into_iter().map(|(index, name)| (index, name.to_owned())).collect(),
    };
    plan.units.iter().map(seen).collect()
}

/// Looks at every device of every node of a question.
pub(crate) fn inspect(cluster: &mut Cluster, question: &Question, observer: &mut dyn Observer) {
    let mut memory = cluster.lend_memory();
    let claims: Vec<&ResourceClaim> = question.claims.iter().collect();
    let plan = Plan::new(&claims, cluster);
    let overlay = super::overlay(cluster, &question.in_use, &[]);
    let mut judge = Judge::new(&plan, cluster.profile(), std::mem::take(&mut memory.selectors));
    let asked = super::Asked { claims, nodes: &question.nodes, in_use: &question.in_use, barred: &[] };
    let inspection = Inspection { cluster, plan: &plan, overlay: &overlay };
    for name in nodes::candidates(cluster, &asked) {
        let node = nodes::named(cluster, name);
        match gather(cluster, &mut memory.pools, &overlay, &node, judge.selectors()) {
            Ok(view) => inspection.node(&node, &view, &mut judge, observer),
            Err(failure) => {
                let failure = Some(failure);
                observer.node(&NodeSeen { name, failure, needs: Vec::new(), pools: Vec::new() });
            }
        }
    }
    memory.selectors = judge.into_selectors();
    cluster.return_memory(memory);
}

/// A question's facts.
pub(super) struct Inspection<'s, 'c> {
    pub(super) cluster: &'c Cluster,
    pub(super) plan: &'s Plan<'c>,
    pub(super) overlay: &'c Overlay,
}

impl<'c> Inspection<'_, 'c> {
    fn node(
        &self,
        node: &crate::api::node::Node,
        view: &NodeView<'c>,
        judge: &mut Judge<'c>,
        observer: &mut dyn Observer,
    ) {
        let profile = self.cluster.profile();
        let checked = {
            let mut verdicts = Verdicts::new(self.plan, view, node, profile, judge);
            check(self.plan, view, profile, &mut verdicts, &mut Budget::unlimited())
        };
        let (needs, failure) = match checked {
            Ok(needs) => (needs, None),
            Err(Stop::Failed(failure)) => (Needs::new(), Some(failure)),
            Err(Stop::Limit) => (Needs::new(), None),
        };
        let need = |need: &Need| need.count.max(u64::from(need.all.is_some()));
        let pool = |pool: &'_ super::pools::PoolView<'c>| (pool.driver, pool.name);
        let pools = view.pools.iter().map(|view| {
            let (driver, name) = pool(view);
            PoolSeen { driver, name, state: &view.state }
        });
        let seen = NodeSeen {
            name: &node.metadata.name,
            failure,
            needs: needs.iter().map(need).collect(),
            pools: pools.collect(),
        };
        if !observer.node(&seen) {
            return;
        }
        let mut groups = profile.features.device_compatibility_groups.then(Groups::default);
        let (mut found, mut held) = (Vec::new(), Vec::new());
        for unit in &self.plan.units {
            let covering = covering(self.plan, unit);
            let mut last = None;
            for device in &view.devices {
                if !last.replace(device).is_some_and(|last| is_twin(last, device)) {
                    found.clear();
                    held.clear();
                    let value = |name: &str| constraints::lookup(device, name).map(|attribute| &attribute.value);
                    held.extend(covering.iter().map(|(_, name)| value(name)));
                    self.device(unit, (&covering, &held), device, node, view, judge, &mut groups, &mut found);
                }
                let Some(index) = device.entry.devices.get(device.position).copied() else { continue };
                let seen = DeviceSeen { index, slice: device.slice, device: device.device, held: &held };
                observer.device(unit.index, &seen, &found);
            }
        }
        observer.done();
    }

    #[expect(clippy::too_many_arguments, reason = "one step of the walk, with all that it walks over")]
    fn device(
        &self,
        unit: &Unit<'c>,
        (covering, held): (&[(usize, &str)], &[Option<&'c AttributeValue>]),
        device: &NodeDevice<'c>,
        node: &crate::api::node::Node,
        view: &NodeView<'c>,
        judge: &mut Judge<'c>,
        groups: &mut Option<Groups<'c>>,
        found: &mut Vec<Obstacle<'c>>,
    ) {
        judge.ask_each((unit.class_number, unit.selection), device, |of_class, index, answer| match answer {
            Ok(true) => {}
            Ok(false) => found.push(Obstacle::SelectorFalse { of_class, index }),
            Err(problem) => found.push(Obstacle::SelectorFails { of_class, index, problem }),
        });
        let is_elsewhere = || !device_matches(node, device.device).unwrap_or_default();
        if device.slice.spec.per_device_node_selection == Some(true) && is_elsewhere() {
            found.push(Obstacle::OtherNode);
        }
        self.features(device, found);
        for ((constraint, attribute), held) in covering.iter().zip(held) {
            if is_missing(unit, attribute, *held) {
                found.push(Obstacle::ConstraintMissing { constraint: *constraint });
            }
        }
        capacities(self.cluster.profile(), unit, device, found);
        found.extend(blocks(unit, device).map(Obstacle::Taint));
        if is_in_use(unit, device) {
            found.push(Obstacle::InUse);
        }
        self.counters(unit, device, view, groups, found);
    }

    /// What keeps the device from the unit beside selectors, taints and claims that have it as a whole.
    pub(super) fn of_itself(
        &self,
        unit: &Unit<'c>,
        covering: &[(usize, &str)],
        device: &NodeDevice<'c>,
        view: &NodeView<'c>,
        groups: &mut Option<Groups<'c>>,
    ) -> Vec<Obstacle<'c>> {
        let mut found = Vec::new();
        self.features(device, &mut found);
        let lacking = lacking(unit, covering, device);
        found.extend(lacking.map(|(constraint, _)| Obstacle::ConstraintMissing { constraint: *constraint }));
        capacities(self.cluster.profile(), unit, device, &mut found);
        self.counters(unit, device, view, groups, &mut found);
        found
    }

    fn features(&self, device: &NodeDevice<'c>, found: &mut Vec<Obstacle<'c>>) {
        if must_wait(self.cluster.profile(), device) {
            found.push(Obstacle::FeatureOff { gate: "DRADeviceBindingConditions" });
        }
        if device.is_out_of_reach {
            found.push(Obstacle::NeedsDriver);
        }
    }

    fn counters(
        &self,
        unit: &Unit<'c>,
        device: &NodeDevice<'c>,
        view: &NodeView<'c>,
        groups: &mut Option<Groups<'c>>,
        found: &mut Vec<Obstacle<'c>>,
    ) {
        let consumes = &device.device.consumes_counters;
        if consumes.is_empty() {
            return;
        }
        if !self.cluster.profile().features.partitionable_devices {
            found.push(Obstacle::FeatureOff { gate: "DRAPartitionableDevices" });
            return;
        }
        let is_first = !(device.is_shared && device.usage.is_some_and(|usage| usage.shares > 0));
        let by_request = device.device.capacity_keys().next().is_some();
        let Some(pool) = view.pools.get(device.pool).filter(|_| is_first || by_request) else { return };
        let counter = |set: &str, counter: &str| pool.ledger.as_ref().and_then(|ledger| ledger.counter(set, counter));
        let rounding = Rounding::of(self.cluster.profile());
        let requested = match capacity::requested(unit.capacity, device.device, rounding, counter) {
            Some(requested) => requested,
            None => {
                let name = device.device.capacity_keys().next().unwrap_or_default().to_owned();
                let needs = unit.capacity.and_then(|capacity| capacity.requests.get(&name)).cloned();
                found.push(Obstacle::CapacityNever { name, needs, has: None });
                return;
            }
        };
        let mut draws: BTreeMap<(&str, &str), Quantity> = BTreeMap::new();
        for consumption in consumes {
            for (name, counter) in &consumption.counters {
                let amount = match &counter.value_from {
                    None => Some(&counter.value).filter(|_| is_first),
                    Some(from) => requested.get(&from.capacity_key),
                };
                let sum = draws.entry((&consumption.counter_set, name)).or_default();
                amount.into_iter().for_each(|amount| *sum = sum.saturating_add(amount));
            }
        }
        for (set, counter, left) in pool.ledger.iter().flat_map(|ledger| ledger.each()) {
            let needs = draws.get(&(set, counter)).cloned().unwrap_or_default();
            if left.saturating_sub(&needs).signum() < 0 {
                let total = self.total(device, set, counter);
                let (set, counter, left) = (set.to_owned(), counter.to_owned(), left.clone());
                match total < needs {
                    true => found.push(Obstacle::CounterNever { set, counter, needs, total }),
                    // What a device that is in use draws itself comes back with it, and suffices unless others draw more than there is.
                    false if is_in_use(unit, device) && left.signum() >= 0 => {}
                    false => found.push(Obstacle::CounterShort { set, counter, needs, left }),
                }
            }
        }
        if let Some(groups) = groups.as_mut().filter(|_| is_first) {
            match groups.take(self.cluster, self.overlay, pool, device) {
                Some(before) => groups.put_back(device.pool, before),
                None => {
                    let set = consumes.first().map(|consumption| consumption.counter_set.clone()).unwrap_or_default();
                    found.push(Obstacle::OtherGroup { set });
                }
            }
        }
    }
}

/// Whether whatever is found of one device is found of the other, because they are of one slice, and have and lack the same.
fn is_twin(one: &NodeDevice<'_>, other: &NodeDevice<'_>) -> bool {
    let is_plain = |device: &NodeDevice<'_>| {
        !device.is_shared
            && device.taints.is_empty()
            && device.device.consumes_counters.is_empty()
            && device.device.binding_conditions.is_none()
            && device.slice.spec.per_device_node_selection.is_none()
            && device.usage.is_none_or(|usage| usage.consumed.is_empty())
    };
    std::ptr::eq(one.entry, other.entry)
        && one.device.is_like(other.device)
        && one.is_taken() == other.is_taken()
        && one.is_out_of_reach == other.is_out_of_reach
        && is_plain(one)
        && is_plain(other)
}

impl Inspection<'_, '_> {
    /// How much a counter has when nothing is in use.
    fn total(&self, device: &NodeDevice<'_>, set: &str, counter: &str) -> Quantity {
        let slices = self.cluster.inventory().slices_of_pool(device.entry.pool);
        let generation = device.slice.spec.pool.generation;
        let current = slices.filter(|entry| entry.slice.spec.pool.generation == generation);
        let mut sets = current.flat_map(|entry| &entry.slice.spec.shared_counters);
        let known = sets.find(|known| known.name == set).and_then(|known| known.counters.get(counter));
        known.map(|counter| counter.value.clone()).unwrap_or_default()
    }
}

/// Whether claims have the device as a whole, and keep it from the unit.
pub(super) fn is_in_use(unit: &Unit<'_>, device: &NodeDevice<'_>) -> bool {
    !unit.has_admin_access() && device.is_taken()
}

/// Whether a device lacks the attribute of a constraint. What the unit derives of devices is not theirs to have.
fn is_missing(unit: &Unit<'_>, attribute: &str, held: Option<&AttributeValue>) -> bool {
    held.is_none() && !unit.derived.iter().any(|derived| derived.name == *attribute)
}

/// Of the constraints that cover a unit those whose attribute a device lacks.
pub(super) fn lacking<'n, 's>(
    unit: &Unit<'_>,
    covering: &'n [(usize, &'s str)],
    device: &NodeDevice<'_>,
) -> impl Iterator<Item = &'n (usize, &'s str)> {
    let value = |name: &str| constraints::lookup(device, name).map(|attribute| &attribute.value);
    covering.iter().filter(move |(_, attribute)| is_missing(unit, attribute, value(attribute)))
}

/// The constraints that cover a unit, by position in its claim, with the attribute of each.
pub(super) fn covering<'c>(plan: &Plan<'c>, unit: &Unit<'c>) -> Vec<(usize, &'c str)> {
    let Some(claim) = plan.claims.get(unit.claim) else { return Vec::new() };
    let request = plan.requests.get(unit.request).map_or("", |request| request.request.name.as_str());
    let all = claim.claim.spec.devices.constraints.iter().enumerate();
    let covering = all.filter(|(_, constraint)| constraints::covers(constraint, request, unit));
    covering
        .filter_map(|(index, constraint)| {
            let attribute = constraint.match_attribute.as_ref().or(constraint.distinct_attribute.as_ref())?;
            Some((index, attribute.as_str()))
        })
        .collect()
}

/// What the device cannot grant, never or not now.
fn capacities(profile: &Profile, unit: &Unit<'_>, device: &NodeDevice<'_>, found: &mut Vec<Obstacle<'_>>) {
    let capacities = &device.device.capacity;
    if !profile.features.consumable_capacity {
        return;
    }
    let rounding = Rounding::of(profile);
    let request = capacity::spelt(unit.capacity, device, rounding);
    let asked = request.as_deref().map(|capacity| &capacity.requests);
    let is_missing = |name: &&String| {
        !capacities.contains_key(*name) && !device.device.capacity_keys().any(|key| key == name.as_str())
    };
    for name in asked.into_iter().flat_map(|asked| asked.keys()).filter(is_missing) {
        let needs = asked.and_then(|asked| asked.get(name)).cloned();
        found.push(Obstacle::CapacityNever { name: name.clone(), needs, has: None });
    }
    // Without policies, requests and shares the whole capacity is granted.
    let is_plain = unit.capacity.is_none() && !device.is_shared;
    if is_plain && capacities.values().all(|capacity| capacity.request_policy.is_none()) {
        return;
    }
    let amounts = capacity::amounts(request.as_deref(), capacities, rounding);
    for ((name, capacity), needs) in capacities.iter().zip(amounts.iter()) {
        let is_allowed =
            capacity.request_policy.as_ref().is_none_or(|policy| capacity::is_allowed(needs, policy, rounding));
        if !is_allowed || *needs > capacity.value {
            let (needs, has) = (Some(needs.clone()), Some(capacity.value.clone()));
            found.push(Obstacle::CapacityNever { name: name.clone(), needs, has });
        }
        // What others have stands in the way even of less.
        let consumed = device.usage.and_then(|usage| usage.consumed.get(name)).filter(|consumed| !consumed.is_zero());
        let left = consumed.map_or_else(|| capacity.value.clone(), |consumed| capacity.value.saturating_sub(consumed));
        if consumed.is_some() && *needs > left {
            found.push(Obstacle::CapacityShort { name: name.clone(), needs: needs.clone(), left });
        }
    }
}
