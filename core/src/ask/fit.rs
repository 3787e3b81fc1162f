//! How many more of a claim fit.
//!
//! On one node the allocator itself is asked for two, three, .. of them together, so the number is exact. Nodes whose devices are
//! theirs alone add up; nodes that are alike are asked once. Devices that several nodes reach make the sum a bound: then one claim
//! after the other is placed, which gives what surely fits, and the sum over the nodes gives what surely does not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::allocate::{Allowance, DeviceId, InUse, Limits, Place, Question, find_place};
use crate::api::claim::{DeviceRequest, ExactDeviceRequest, ResourceClaim};
use crate::api::object::Object;
use crate::api::quantity::Quantity;
use crate::cluster::{Cluster, Draws, Ledger, SliceEntry};
use crate::explain::case::Case;
use crate::explain::settled::settle;
use crate::explain::survey::{NodeTally, Survey};
use crate::explain::unknown::unknown;
use crate::explain::{Request, explain_case};
use crate::finding::{Finding, ObjectRef};

/// Most claims that are asked for together on one node, or placed one after the other.
const MOST: u64 = 256;

/// Search steps of one question.
const STEPS: u64 = 500_000;

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "FitPer"))]
#[serde(rename_all = "camelCase")]
pub enum Per {
    /// Nodes.
    #[default]
    Node,
    /// Pools: only the devices of one pool at a time.
    Pool,
    /// Device classes: single devices of each, whatever the claim asks for.
    Class,
}

/// The question.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FitRequest {
    /// A ResourceClaimTemplate or an unallocated ResourceClaim.
    pub subject: ObjectRef,
    /// What is counted.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub per: Per,
}

/// Bounds on a number; equal where it is known exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Bounds {
    /// So many surely fit.
    pub at_least: u64,
    /// More surely do not.
    pub at_most: u64,
}

/// How many fit in one place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct FitRow {
    /// Node, `driver/pool` or class.
    pub name: String,
    /// How many fit there, if all go there.
    pub fits: Bounds,
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Fit {
    /// In the whole cluster.
    pub total: Bounds,
    /// By place, those where nothing fits included.
    pub rows: Vec<FitRow>,
    /// What is missing for one more, once so many are placed.
    pub runs_out: String,
    /// The most devices of each class that one claim could still get on one node as the cluster is.
    pub largest: Vec<(String, u64)>,
    /// Devices that match the claim and are free, but left over once no more fit.
    pub stranded: u64,
    /// What counters and shared capacities have left in the pools that were filled: nothing, or what is too little for another claim.
    pub remainders: Vec<Remainder>,
    /// Devices in use by namespace.
    pub namespaces: Vec<(String, u64)>,
}

/// What is left of a counter, or of a capacity of a shared device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Remainder {
    /// Driver.
    pub driver: String,
    /// Pool.
    pub pool: String,
    /// Counter set or device.
    pub of: String,
    /// Counter or capacity.
    pub name: String,
    /// How much is left.
    pub left: String,
    /// How much there is.
    pub total: String,
}

/// How many more of a claim fit. The cluster is played first, and left full.
///
/// # Errors
///
/// A finding, when there is no such claim or template.
pub fn fit(cluster: &mut Cluster, request: &FitRequest, limits: &Limits) -> Result<Fit, Vec<Finding>> {
    settle(cluster, limits);
    let claim = claim(cluster, &request.subject)?;
    let limits = Limits { max_steps: limits.max_steps.min(STEPS) };
    let nodes: Vec<String> = cluster.nodes().keys().cloned().collect();
    let largest = largest(cluster, &nodes, &limits);
    let per_node = per_node(cluster, &claim, &nodes, &limits);
    let rows = match request.per {
        Per::Node => per_node.clone(),
        Per::Pool => per_pool(cluster, &claim, &nodes, &limits),
        Per::Class => per_class(cluster, &nodes, &limits),
    };
    let namespaces = namespaces(cluster);
    let Bounds { at_least: exact, at_most } = sum(&per_node);
    let (placed, pools) = place_all(cluster, &claim, &nodes, &limits);
    let remainders = remainders(cluster, &pools);
    let has_network = cluster.inventory().slices_without_node().next().is_some();
    let total = Bounds { at_least: if has_network { placed } else { exact.max(placed) }, at_most };
    let question = Question { claims: vec![claim.clone()], nodes, ..Question::default() };
    let survey = Survey::of(cluster, &question);
    let stranded = survey.nodes.iter().flat_map(|node| &node.units).fold(0u64, |sum, unit| sum.saturating_add(unit.1));
    let (subject, all_nodes) = (request.subject.clone(), question.nodes.len());
    let case = Case { subject, all_nodes, question, ..Case::default() };
    let after = explain_case(cluster, case, &Request::default(), &limits, &mut Allowance::new(0, 0));
    let runs_out = if placed >= MOST { format!("more than {MOST} fit") } else { after.headline };
    Ok(Fit { total, rows, runs_out, largest, stranded, remainders, namespaces })
}

fn claim(cluster: &Cluster, subject: &ObjectRef) -> Result<ResourceClaim, Vec<Finding>> {
    let kind = if subject.kind == "ResourceClaim" { "ResourceClaim" } else { "ResourceClaimTemplate" };
    let is_meant = |key: &ObjectRef| {
        key.name == subject.name && (subject.namespace.is_empty() || key.namespace == subject.namespace)
    };
    let found = cluster.keys(kind).find(is_meant);
    let spec = match found.as_ref().and_then(|key| cluster.get(key)) {
        Some(Object::ResourceClaim(claim)) => claim.spec.clone(),
        Some(Object::ResourceClaimTemplate(template)) => template.spec.spec.clone(),
        _ => return Err(vec![Finding { path: "subject".to_owned(), ..unknown(cluster, subject) }]),
    };
    let mut claim = ResourceClaim { spec, ..ResourceClaim::default() };
    claim.metadata.namespace = found.map(|key| key.namespace).unwrap_or_default();
    claim.metadata.name = format!("another-{}", subject.name);
    Ok(claim)
}

/// How many of a claim fit on each node by itself; nodes that are alike are asked once.
fn per_node(cluster: &mut Cluster, claim: &ResourceClaim, nodes: &[String], limits: &Limits) -> Vec<FitRow> {
    let question = Question { claims: vec![claim.clone()], nodes: nodes.to_vec(), ..Question::default() };
    let survey = Survey::of(cluster, &question);
    let mut known: BTreeMap<u32, Bounds> = BTreeMap::new();
    let row = |node: &NodeTally| {
        let fits = known.entry(node.shape);
        let fits =
            *fits.or_insert_with(|| on(cluster, claim, std::slice::from_ref(&node.name), &InUse::default(), limits));
        FitRow { name: node.name.clone(), fits }
    };
    survey.nodes.iter().map(row).collect()
}

/// How many of a claim fit together on one of some nodes: the largest number for which the allocator finds a place.
fn on(cluster: &mut Cluster, claim: &ResourceClaim, nodes: &[String], in_use: &InUse, limits: &Limits) -> Bounds {
    let mut fits = 0;
    loop {
        if fits >= MOST {
            return Bounds { at_least: fits, at_most: u64::MAX };
        }
        let count = usize::try_from(fits.saturating_add(1)).unwrap_or(usize::MAX);
        let claims = vec![claim.clone(); count];
        let question = Question { claims, nodes: nodes.to_vec(), in_use: in_use.clone() };
        match find_place(cluster, &question, limits) {
            Place::On(..) => fits = fits.saturating_add(1),
            Place::Nowhere | Place::Failed(_) => return Bounds { at_least: fits, at_most: fits },
            Place::GaveUp => return Bounds { at_least: fits, at_most: u64::MAX },
        }
    }
}

/// How many fit with the devices of one pool alone.
fn per_pool(cluster: &mut Cluster, claim: &ResourceClaim, nodes: &[String], limits: &Limits) -> Vec<FitRow> {
    let mut by_pool: BTreeMap<Pool, Vec<DeviceId>> = BTreeMap::new();
    for slice in cluster.slices().values() {
        let pool = by_pool.entry((slice.spec.driver.clone(), slice.spec.pool.name.clone())).or_default();
        pool.extend(slice.spec.devices.iter().map(|device| DeviceId::of(slice, device)));
    }
    let row = |key: &Pool| {
        let others = by_pool.iter().filter(|(other, _)| *other != key);
        let in_use = InUse { devices: others.flat_map(|(_, devices)| devices.clone()).collect(), ..InUse::default() };
        FitRow { name: format!("{}/{}", key.0, key.1), fits: on(cluster, claim, nodes, &in_use, limits) }
    };
    by_pool.keys().map(row).collect()
}

/// How many single devices of each class are left, all nodes together.
fn per_class(cluster: &mut Cluster, nodes: &[String], limits: &Limits) -> Vec<FitRow> {
    let classes: Vec<String> = cluster.classes().keys().cloned().collect();
    let row = |class: String| {
        let fits = sum(&per_node(cluster, &single(&class, 1), nodes, limits));
        FitRow { name: class, fits }
    };
    classes.into_iter().map(row).collect()
}

fn sum(rows: &[FitRow]) -> Bounds {
    rows.iter().fold(Bounds::default(), |sum, row| Bounds {
        at_least: sum.at_least.saturating_add(row.fits.at_least),
        at_most: sum.at_most.saturating_add(row.fits.at_most),
    })
}

fn single(class: &str, count: i64) -> ResourceClaim {
    let mut claim = ResourceClaim::default();
    claim.metadata.name = format!("another-{class}");
    let exact = ExactDeviceRequest { device_class_name: class.to_owned(), count, ..ExactDeviceRequest::default() };
    let request = DeviceRequest { name: "device".to_owned(), exactly: Some(exact), ..DeviceRequest::default() };
    claim.devices_mut().requests.push(request);
    claim
}

/// The most devices of each class that one claim could get on one node; a claim can have 32.
fn largest(cluster: &mut Cluster, nodes: &[String], limits: &Limits) -> Vec<(String, u64)> {
    let classes: Vec<String> = cluster.classes().keys().cloned().collect();
    let mut fits = |class: &str, count: i64| {
        let question = Question { claims: vec![single(class, count)], nodes: nodes.to_vec(), ..Question::default() };
        matches!(find_place(cluster, &question, limits), Place::On(..))
    };
    let most = |class: String| {
        let most = (1..=32).take_while(|count| fits(&class, *count)).count() as u64;
        (class, most)
    };
    classes.into_iter().map(most).collect()
}

/// Driver and name.
type Pool = (String, String);

/// Places one claim after the other, each where it fits first; how many found a place, and in which pools.
fn place_all(cluster: &mut Cluster, claim: &ResourceClaim, nodes: &[String], limits: &Limits) -> (u64, BTreeSet<Pool>) {
    let mut placed = 0;
    let mut pools = BTreeSet::new();
    while placed < MOST {
        let mut next = claim.clone();
        next.metadata.name = format!("{}-{placed}", claim.metadata.name);
        let question = Question { claims: vec![next.clone()], nodes: nodes.to_vec(), ..Question::default() };
        let Place::On(_, allocations) = find_place(cluster, &question, limits) else { break };
        next.status.allocation = allocations.into_iter().next();
        pools.extend(next.results().map(|result| (result.driver.clone(), result.pool.clone())));
        cluster.apply(Object::ResourceClaim(Arc::new(next)));
        placed = placed.saturating_add(1);
    }
    (placed, pools)
}

/// What counters and shared capacities of some pools have left.
fn remainders(cluster: &Cluster, pools: &BTreeSet<Pool>) -> Vec<Remainder> {
    let inventory = cluster.inventory();
    let mut all = Vec::new();
    for (driver, pool) in pools {
        let Some(index) = inventory.pool_index(driver, pool) else { continue };
        let generation = inventory.slices_of_pool(index).map(|entry| entry.slice.spec.pool.generation).max();
        let is_newest = |entry: &&SliceEntry| Some(entry.slice.spec.pool.generation) == generation;
        let slices = || inventory.slices_of_pool(index).filter(is_newest);
        let mut tell = |of: &str, name: &str, left: &Quantity, total: &Quantity| {
            let (driver, pool, of, name) = (driver.clone(), pool.clone(), of.to_owned(), name.to_owned());
            all.push(Remainder { driver, pool, of, name, left: left.to_string(), total: total.to_string() });
        };
        let mut ledger = Ledger::new(slices().flat_map(|entry| &entry.slice.spec.shared_counters));
        for (device, position) in slices().flat_map(|entry| entry.slice.spec.devices.iter().zip(&entry.devices)) {
            let Some(usage) = inventory.usage(*position) else { continue };
            ledger.draw(device, &Draws { is_first: true, requested: Some(&usage.requested()) }, true);
            for (name, capacity) in device.capacity.iter().filter(|_| usage.shares > 0) {
                let consumed = usage.consumed.get(name).cloned().unwrap_or_default();
                tell(&device.name, name, &capacity.value.saturating_sub(&consumed), &capacity.value);
            }
        }
        for (set, name, left) in ledger.each() {
            if let Some(counter) = ledger.counter(set, name) {
                tell(set, name, left, &counter.value);
            }
        }
    }
    all
}

/// Devices in use by namespace, each counted once for each claim that has it.
fn namespaces(cluster: &Cluster) -> Vec<(String, u64)> {
    let mut used: BTreeMap<&String, BTreeSet<_>> = BTreeMap::new();
    for (claim, result) in cluster.held() {
        let id = (&result.driver, &result.pool, &result.device);
        used.entry(&claim.metadata.namespace).or_default().insert(id);
    }
    used.into_iter().map(|(namespace, devices)| (namespace.clone(), devices.len() as u64)).collect()
}
