//! How many more of a claim fit.
//!
//! On one node the allocator itself is asked for two, three, .. of them together, so the number is exact. Nodes whose devices are
//! theirs alone add up; nodes that are alike are asked once. Devices that several nodes reach make the sum a bound: then one claim
//! after the other is placed, which gives what surely fits, and the sum over the nodes gives what surely does not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::taint::{NodesOfTaint, node_taints};
use super::what_if::{Supposition, suppose};
use crate::allocate::{Allowance, DeviceId, InUse, Limits, Place, Question, find_place};
use crate::api::claim::{DeviceRequest, ExactDeviceRequest, ResourceClaim};
use crate::api::node::Node;
use crate::api::object::Object;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::cluster::left::{Left, left_in};
use crate::control_plane::admission::admit_value;
use crate::explain::case::Case;
use crate::explain::survey::{NodeTally, Survey};
use crate::explain::unknown::unknown;
use crate::explain::{Known, Request, explain_case};
use crate::finding::{Code, Finding, ObjectRef, Severity, list};
use crate::gather::Gather;
use crate::scheduler::NodeCache;
use crate::scheduler::node_fit::NodeState;

/// Most claims that are asked for together on one node, or placed one after the other.
const MOST: u64 = 256;

/// Most devices of a claim.
const MOST_DEVICES: u64 = 32;

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
    /// A ResourceClaimTemplate or an unallocated ResourceClaim; where no name is there, the only template. It counts for nothing where
    /// `device` is there.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub subject: ObjectRef,
    /// A claim in a few words, instead of one that is written.
    #[cfg_attr(feature = "types", ts(optional = nullable))]
    pub device: Option<DeviceAsk>,
    /// What is changed first.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub supposing: Supposition,
    /// What is counted.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub per: Per,
}

/// A claim with one request.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DeviceAsk {
    /// The DeviceClass.
    pub class: String,
    /// How many devices; 1 where it is left out.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub count: u64,
    /// CEL selectors, all of which must hold.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub selectors: Vec<String>,
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
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
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
    pub largest: Vec<Largest>,
    /// Devices that match the claim and are free, but left over once no more fit.
    pub stranded: u64,
    /// What counters and shared capacities have left in the pools that were filled: nothing, or what is too little for another claim.
    pub remainders: Vec<Remainder>,
    /// Devices in use by namespace.
    pub namespaces: Vec<NamespaceDevices>,
    /// Taints of nodes where some fit, for Pods that tolerate them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub node_taints: Vec<NodesOfTaint>,
}

/// The largest claim of a class.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Largest {
    /// The class.
    pub class: String,
    /// Devices of it that one claim can get on one node; a claim can have 32. Equal bounds are proven.
    pub devices: Bounds,
}

/// What a namespace has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NamespaceDevices {
    /// The namespace.
    pub namespace: String,
    /// Devices in use there.
    pub devices: u64,
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

/// How many more of a claim fit. The cluster is played first, and left full. Where it is not known which devices are in use, it is only
/// known what does not fit even if none is.
///
/// # Errors
///
/// A finding, when there is no such claim or template.
pub fn fit(cluster: &mut Cluster, request: &FitRequest, limits: &Limits) -> Result<Fit, Vec<Finding>> {
    let (mut simulation, refused) = suppose(cluster, &request.supposing, limits)?;
    if !refused.is_empty() {
        return Err(refused);
    }
    simulation.settle();
    *cluster = simulation.into_cluster();
    let knows_users = cluster.knows_users_of_devices();
    let claim = match &request.device {
        Some(device) => asked(cluster, device)?,
        None => claim(cluster, &request.subject)?,
    };
    let limits = Limits { max_steps: limits.max_steps.min(STEPS) };
    let cache = NodeCache::new(cluster);
    let is_full = |node: &&NodeState| node.left("pods").is_some_and(|left| left.signum() <= 0);
    let full: BTreeSet<&str> = cache.nodes().filter(is_full).map(NodeState::name).gather();
    let takes = |node: &&Arc<Node>| !node.spec.unschedulable && !full.contains(node.metadata.name.as_str());
    let nodes: Vec<String> = cluster.nodes().values().filter(takes).map(|node| node.metadata.name.clone()).collect();
    let closed = cluster.nodes().keys().filter(|name| !nodes.contains(name));
    let nothing: Vec<FitRow> = closed.map(|name| FitRow { name: name.clone(), fits: Bounds::default() }).collect();
    if nodes.is_empty() {
        // Naming no node would ask all of them.
        let rows = if request.per == Per::Node { nothing } else { Vec::new() };
        let runs_out = match full.is_empty() {
            true => "every node is marked as unschedulable".to_owned(),
            false => "every node is marked as unschedulable or has its number of Pods".to_owned(),
        };
        return Ok(Fit { rows, runs_out, namespaces: namespaces(cluster), ..Fit::default() });
    }
    let largest = largest(cluster, &nodes, &limits);
    let per_node = per_node(cluster, &claim, &nodes, &limits);
    let rows = match request.per {
        Per::Node => {
            let mut rows = [per_node.as_slice(), &nothing].concat();
            rows.arrange_by(|one, other| one.name.cmp(&other.name));
            rows
        }
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
    let (subject, all_nodes) = (request.subject.clone(), cluster.nodes().len());
    let case = Case { subject, all_nodes, question, ..Case::default() };
    let after =
        explain_case(cluster, case, &Request::default(), &limits, &mut Allowance::new(0, 0), &mut Known::default());
    let runs_out = if placed >= MOST { format!("more than {MOST} fit") } else { after.headline };
    let node_taints = node_taints(cluster, per_node.iter().filter(|row| row.fits.at_most > 0).map(|row| &row.name));
    let found = Fit { total, rows, runs_out, largest, stranded, remainders, namespaces, node_taints };
    Ok(if knows_users { found } else { found.at_most() })
}

impl Fit {
    /// What is left of the answer where any device may be in use.
    fn at_most(mut self) -> Self {
        let rows = self.rows.iter_mut().map(|row| &mut row.fits);
        let largest = self.largest.iter_mut().map(|largest| &mut largest.devices);
        for bounds in rows.chain(largest).chain([&mut self.total]) {
            bounds.at_least = 0;
        }
        let runs_out = "which devices are in use is not known: claims of Pods are not given or were refused".to_owned();
        Self { runs_out, stranded: 0, remainders: Vec::new(), ..self }
    }
}

/// A claim of a few words.
pub(super) fn asked(cluster: &Cluster, device: &DeviceAsk) -> Result<ResourceClaim, Vec<Finding>> {
    let DeviceAsk { class, count, selectors } = device;
    let key = ObjectRef::new("DeviceClass", "", &**class);
    if !cluster.classes().contains_key(class) {
        return Err(vec![Finding { path: "device.class".to_owned(), ..unknown(cluster, &key) }]);
    }
    let submitted = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": "asked", "namespace": "default" },
        "spec": { "devices": { "requests": [{ "name": "device", "exactly": {
            "deviceClassName": class, "allocationMode": "ExactCount", "count": count.max(&1),
            "selectors": selectors.iter().map(|text| json!({ "cel": { "expression": text } })).collect::<Vec<_>>(),
        } }] } },
    });
    let (admitted, findings) = admit_value(&submitted, cluster.profile());
    match admitted {
        Some(Object::ResourceClaim(admitted)) => {
            let mut claim = ResourceClaim { spec: admitted.spec.clone(), ..ResourceClaim::default() };
            claim.metadata.name = format!("another-{class}");
            Ok(claim)
        }
        _ => Err(findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect()),
    }
}

/// The claim of a ResourceClaim or a template; where none is named, of the only template.
pub(super) fn claim(cluster: &Cluster, subject: &ObjectRef) -> Result<ResourceClaim, Vec<Finding>> {
    let only: Vec<ObjectRef> = cluster.keys("ResourceClaimTemplate").take(2).collect();
    let subject = match only.as_slice() {
        [only] if subject.name.is_empty() => only,
        _ if subject.name.is_empty() => {
            let finding = Finding::new(Code::ReadBadSettings, "subject", "no claim is named");
            let names: Vec<String> = cluster.templates().keys().map(|key| format!("{}/{}", key.0, key.1)).collect();
            let hint = match names.is_empty() {
                true => "no ResourceClaimTemplate is given; name a claim or a class".to_owned(),
                false => format!("there are several templates: {}", list(names.iter())),
            };
            return Err(vec![finding.with_hint(hint)]);
        }
        _ => subject,
    };
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
fn largest(cluster: &mut Cluster, nodes: &[String], limits: &Limits) -> Vec<Largest> {
    let classes: Vec<String> = cluster.classes().keys().cloned().collect();
    let mut fits = |class: &str, count: u64| {
        let claim = single(class, i64::try_from(count).unwrap_or(i64::MAX));
        let question = Question { claims: vec![claim], nodes: nodes.to_vec(), ..Question::default() };
        find_place(cluster, &question, limits)
    };
    // What does not fit shows that no more do; where the search gave up, more may.
    let mut most = |class: &str| {
        let mut devices = Bounds { at_least: 0, at_most: MOST_DEVICES };
        for count in 1..=MOST_DEVICES {
            match fits(class, count) {
                Place::On(..) => devices.at_least = count,
                Place::GaveUp => {}
                Place::Nowhere | Place::Failed(_) => {
                    devices.at_most = count.saturating_sub(1);
                    break;
                }
            }
        }
        devices
    };
    classes.into_iter().map(|class| Largest { devices: most(&class), class }).collect()
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
    let of_pool = |(driver, pool): &Pool| {
        let left = left_in(cluster, driver, pool).into_iter().filter(|left| left.is_counter || left.is_shared);
        let (driver, pool) = (driver.clone(), pool.clone());
        let row = move |Left { of, name, left, total, .. }| {
            let (driver, pool) = (driver.clone(), pool.clone());
            Remainder { driver, pool, of, name, left: left.to_string(), total: total.to_string() }
        };
        left.map(row).collect::<Vec<_>>()
    };
    pools.iter().flat_map(of_pool).collect()
}

/// Devices in use by namespace, each counted once for each claim that has it.
fn namespaces(cluster: &Cluster) -> Vec<NamespaceDevices> {
    let mut used: BTreeMap<&String, BTreeSet<_>> = BTreeMap::new();
    for (claim, result) in cluster.held() {
        let id = (&result.driver, &result.pool, &result.device);
        used.entry(&claim.metadata.namespace).or_default().insert(id);
    }
    let row = |(namespace, devices): (&String, BTreeSet<_>)| NamespaceDevices {
        namespace: namespace.clone(),
        devices: devices.len() as u64,
    };
    used.into_iter().map(row).collect()
}
