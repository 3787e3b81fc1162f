//! How much of the devices is used, free, or stranded: free, but out of reach of every claim that the classes and templates of the
//! input stand for.
//!
//! Where it is not known who has devices, each that is not known to be used may be: it counts as unknown.
//!
//! Partitions are counted once: what draws from one counter set is one device here. Its counters say how much of it is taken.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::taint::{NodesOfTaint, node_taints};
use super::what_if::devices;
use crate::allocate::inspect::{DeviceSeen, NodeSeen, Observer, Obstacle, inspect};
use crate::allocate::{DeviceId, Limits, Question};
use crate::api::claim::{DeviceRequest, DeviceSelector, ExactDeviceRequest, ResourceClaim};
use crate::api::quantity::Quantity;
use crate::api::slice::{AttributeValue, Device, ResourceSlice};
use crate::arrange::Arrange;
use crate::cluster::left::{Left, left_in};
use crate::cluster::selectors::Selectors;
use crate::cluster::{Cluster, PoolState};
use crate::control_plane::infer::infer_nodes;
use crate::control_plane::{is_dump, note_not_given};
use crate::controllers::pool_status;
use crate::explain::ReasonKind;
use crate::explain::settled::settle;
use crate::explain::shape::mark;
use crate::gather::Gather;

/// Devices in numbers: `total` is `used`, `free`, `stranded` and `unknown` together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Devices {
    /// All of them.
    pub total: u64,
    /// Held by a claim, as a whole or in part; not only with admin access.
    pub used: u64,
    /// In nobody's use, and there is a claim that could get them.
    pub free: u64,
    /// In nobody's use, and no claim of a class or template of the input could get them.
    pub stranded: u64,
    /// Of all these, those that claims with admin access have beside.
    pub admin: u64,
    /// Not known to be used, where claims that may have devices are not given or were refused.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub unknown: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Devices {
    /// Counts others as well.
    pub(super) fn add(&mut self, more: &Self) {
        self.total = self.total.saturating_add(more.total);
        self.used = self.used.saturating_add(more.used);
        self.free = self.free.saturating_add(more.free);
        self.stranded = self.stranded.saturating_add(more.stranded);
        self.admin = self.admin.saturating_add(more.admin);
        self.unknown = self.unknown.saturating_add(more.unknown);
    }
}

/// By what devices are told apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum UsageOf {
    /// Device classes; a device may be of several.
    Class,
    /// The attribute `productName`, else `model`, else the driver.
    Model,
    /// Nodes; empty for what several nodes reach.
    Node,
    /// Namespaces of the claims; only what is used.
    Namespace,
}

/// Devices of one class, model, node or namespace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// By what they are told apart.
    pub of: UsageOf,
    /// Its name.
    pub name: String,
    /// The devices.
    pub devices: Devices,
}

/// An amount: `total` is `used`, `free` and `stranded` together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AmountUsage {
    /// Driver.
    pub driver: String,
    /// Pool.
    pub pool: String,
    /// Counter set or device.
    pub source: String,
    /// Counter or capacity.
    pub name: String,
    /// All of it, as the driver publishes it.
    pub total: String,
    /// Taken by claims.
    pub used: String,
    /// What devices within reach of a claim can still draw.
    pub free: String,
    /// The rest.
    pub stranded: String,
}

/// Why devices are stranded.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct StrandedBy {
    /// The reason nearest to being removed.
    pub reason: ReasonKind,
    /// How many.
    pub devices: u64,
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Whether no claim had devices, so that everything that fits was placed first.
    pub is_played: bool,
    /// All devices.
    pub devices: Devices,
    /// By class, model, node and namespace, in this order, then by name.
    pub rows: Vec<UsageRow>,
    /// Why devices are stranded, most first.
    pub stranded: Vec<StrandedBy>,
    /// Counters; like capacities and pools none where it is not known who has devices.
    pub counters: Vec<AmountUsage>,
    /// Capacities of devices that can be shared.
    pub capacities: Vec<AmountUsage>,
    /// Pools as the status of a ResourcePoolStatusRequest has them: every partition counts, and admin access does not.
    #[cfg_attr(feature = "types", ts(type = "Array<Json>"))]
    pub pools: Vec<Value>,
    /// Devices that claims have and no slice of the newest generation publishes; no number counts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub unpublished: Vec<DeviceId>,
    /// Taints of nodes that Pods have to tolerate to get the devices there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub node_taints: Vec<NodesOfTaint>,
}

/// What is counted as one device.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Counted {
    driver: String,
    pool: String,
    /// Device or counter set.
    name: String,
    is_set: bool,
}

/// What is known of it.
#[derive(Clone, Debug, Default)]
struct Known {
    is_used: bool,
    is_reachable: bool,
    is_seen_by_admins: bool,
    /// What keeps it from the claim that comes nearest.
    reason: Option<ReasonKind>,
    classes: BTreeSet<String>,
    model: String,
    node: String,
    namespaces: BTreeSet<String>,
}

/// How much is used, free and stranded. Manifests of which no claim has devices are played first; a dump is taken as it is.
pub fn usage(cluster: &mut Cluster, limits: &Limits) -> Usage {
    note_not_given(cluster);
    let knows_users = cluster.knows_users_of_devices();
    // What a dump says is so, even where its claims are missing.
    let is_played =
        knows_users && !is_dump(cluster) && cluster.claims().values().all(|claim| claim.status.allocation.is_none());
    if is_played {
        settle(cluster, limits);
    } else {
        infer_nodes(cluster, &mut Vec::new());
    }
    let seen = reached(cluster);
    let mut memory = cluster.lend_memory();
    let all = counted(cluster, &seen, &mut memory.selectors);
    cluster.return_memory(memory);
    let mut usage = Usage { is_played, ..Usage::default() };
    let mut rows: BTreeMap<(UsageOf, &str), Devices> = BTreeMap::new();
    for known in all.values() {
        known.count_in(&mut usage.devices, knows_users);
        let classes = known.classes.iter().map(|class| (UsageOf::Class, class.as_str()));
        let places = [(UsageOf::Model, known.model.as_str()), (UsageOf::Node, known.node.as_str())];
        let namespaces = known.namespaces.iter().map(|namespace| (UsageOf::Namespace, namespace.as_str()));
        for key in classes.chain(places).chain(namespaces) {
            known.count_in(rows.entry(key).or_default(), knows_users);
        }
        if knows_users && !known.is_used && !known.is_reachable {
            let reason = known.reason.unwrap_or(ReasonKind::NotOfClass);
            match usage.stranded.iter_mut().find(|by| by.reason == reason) {
                Some(by) => by.devices = by.devices.saturating_add(1),
                None => usage.stranded.push(StrandedBy { reason, devices: 1 }),
            }
        }
    }
    usage.rows =
        rows.into_iter().map(|((of, name), devices)| UsageRow { of, name: name.to_owned(), devices }).collect();
    usage.stranded.arrange_by_key(|by| (std::cmp::Reverse(by.devices), by.reason));
    let pools: BTreeSet<(&str, &str)> =
        cluster.newest_slices().map(|slice| (slice.spec.driver.as_str(), slice.spec.pool.name.as_str())).gather();
    for (driver, pool) in pools.iter().filter(|_| knows_users) {
        let reach = Reach::of(cluster, driver, pool, &seen);
        for left in left_in(cluster, driver, pool) {
            let amounts = if left.is_counter { &mut usage.counters } else { &mut usage.capacities };
            amounts.push(amount(driver, pool, left, &reach));
        }
    }
    let drivers: BTreeSet<&str> = pools.iter().map(|(driver, _)| *driver).gather();
    let drivers = drivers.into_iter().filter(|_| knows_users);
    usage.pools = drivers.flat_map(|driver| pool_status::figures(cluster, driver)).collect();
    let held: BTreeSet<DeviceId> = cluster.held().map(|(_, result)| DeviceId::of_result(result)).gather();
    usage.unpublished = held.difference(&devices(cluster)).cloned().collect();
    let nodes = usage.rows.iter().filter(|row| row.of == UsageOf::Node).map(|row| &row.name);
    usage.node_taints = node_taints(cluster, nodes);
    usage
}

impl Known {
    fn count_in(&self, devices: &mut Devices, knows_users: bool) {
        let add = |field: &mut u64, is_one: bool| *field = field.saturating_add(u64::from(is_one));
        add(&mut devices.total, true);
        add(&mut devices.used, self.is_used);
        add(&mut devices.free, knows_users && !self.is_used && self.is_reachable);
        add(&mut devices.stranded, knows_users && !self.is_used && !self.is_reachable);
        add(&mut devices.unknown, !knows_users && !self.is_used);
        add(&mut devices.admin, self.is_seen_by_admins);
    }
}

/// What claims could do with a device.
#[derive(Clone, Debug, Default)]
struct Reached {
    is_usable: bool,
    reason: Option<ReasonKind>,
}

/// Each device, as the claims that could be made see it: one device of each class, and each request of the templates.
fn reached(cluster: &mut Cluster) -> Seen {
    let nodes: Vec<String> = cluster
        .nodes()
        .values()
        .filter(|node| !node.spec.unschedulable)
        .map(|node| node.metadata.name.clone())
        .collect();
    let of_classes = cluster.classes().keys().map(|class| {
        let exact = ExactDeviceRequest { device_class_name: class.clone(), count: 1, ..ExactDeviceRequest::default() };
        DeviceRequest { name: "device".to_owned(), exactly: Some(exact), ..DeviceRequest::default() }
    });
    let of_templates = cluster.templates().values().flat_map(|template| template.spec.spec.devices.requests.clone());
    let mut requests: Vec<DeviceRequest> = Vec::new();
    for request in of_classes.chain(of_templates) {
        if !requests.contains(&request) {
            requests.push(request);
        }
    }
    let mut seen = Seen::default();
    // Naming no node would ask all of them.
    for request in requests.into_iter().filter(|_| !nodes.is_empty()) {
        let mut claim = ResourceClaim::default();
        claim.metadata.name = "another".to_owned();
        claim.devices_mut().requests.push(request);
        let question = Question { claims: vec![claim], nodes: nodes.clone(), ..Question::default() };
        inspect(cluster, &question, &mut Look { seen: &mut seen });
    }
    seen
}

/// What was seen of all devices, and of pools that cannot be used.
#[derive(Debug, Default)]
struct Seen {
    devices: BTreeMap<DeviceId, Reached>,
    bad_pools: BTreeMap<(String, String), ReasonKind>,
}

impl Seen {
    fn is_usable(&self, id: &DeviceId) -> bool {
        self.devices.get(id).is_some_and(|reached| reached.is_usable)
    }

    /// What keeps a device from the claim that comes nearest.
    fn reason(&self, id: &DeviceId) -> ReasonKind {
        let of_pool = || self.bad_pools.get(&(id.driver.clone(), id.pool.clone())).copied();
        let of_device = self.devices.get(id).and_then(|reached| reached.reason);
        of_device.or_else(of_pool).unwrap_or(ReasonKind::NoNode)
    }
}

/// A look for one request.
struct Look<'s> {
    seen: &'s mut Seen,
}

impl Observer for Look<'_> {
    fn node(&mut self, node: &NodeSeen<'_>) -> bool {
        for pool in &node.pools {
            let reason = match pool.state {
                PoolState::Usable => continue,
                PoolState::Incomplete => ReasonKind::PoolIncomplete,
                PoolState::Invalid(_) => ReasonKind::PoolInvalid,
            };
            self.seen.bad_pools.insert((pool.driver.to_owned(), pool.name.to_owned()), reason);
        }
        true
    }

    fn device(&mut self, _: usize, seen: &DeviceSeen<'_, '_>, obstacles: &[Obstacle<'_>]) {
        let known = self.seen.devices.entry(DeviceId::of(seen.slice, seen.device)).or_default();
        let hardest = obstacles.iter().map(|obstacle| mark(obstacle).kind).min();
        known.is_usable |= hardest.is_none();
        known.reason = known.reason.max(hardest);
    }
}

/// All that is counted, with what is known of it.
fn counted(cluster: &Cluster, seen: &Seen, selectors: &mut Selectors) -> BTreeMap<Counted, Known> {
    let mut holders: BTreeMap<DeviceId, (BTreeSet<&str>, bool)> = BTreeMap::new();
    for claim in cluster.claims().values() {
        for result in claim.results() {
            let (namespaces, has_admins) = holders.entry(DeviceId::of_result(result)).or_default();
            match result.admin_access {
                Some(true) => *has_admins = true,
                _ => drop(namespaces.insert(&claim.metadata.namespace)),
            }
        }
    }
    let mut all: BTreeMap<Counted, Known> = BTreeMap::new();
    for (slice, device) in cluster.newest_devices() {
        let id = DeviceId::of(slice, device);
        for counted in keys(&id, device) {
            let known = all.entry(counted).or_default();
            known.is_reachable |= seen.is_usable(&id);
            known.reason = known.reason.max(Some(seen.reason(&id)));
            known.classes.extend(classes_of(cluster, selectors, slice, device).cloned());
            if let Some((namespaces, has_admins)) = holders.get(&id) {
                known.is_used |= !namespaces.is_empty();
                known.is_seen_by_admins |= has_admins;
                known.namespaces.extend(namespaces.iter().map(|name| (*name).to_owned()));
            }
            if known.model.is_empty() {
                known.model = model(slice, device);
                known.node = device.node_name.clone().or_else(|| slice.spec.node_name.clone()).unwrap_or_default();
            }
        }
    }
    all
}

/// The classes that a device is of, whether or not its node or its pool can be used.
fn classes_of<'c>(
    cluster: &'c Cluster,
    selectors: &'c mut Selectors,
    slice: &ResourceSlice,
    device: &Device,
) -> impl Iterator<Item = &'c String> {
    let mut accepts = move |selector: &DeviceSelector| {
        let expression = selector.cel.as_ref().map_or("", |cel| &cel.expression);
        matches!(selectors.matches(cluster.profile(), expression, slice, device), Ok(true))
    };
    let classes = cluster.classes().iter();
    classes.filter(move |(_, class)| class.spec.selectors.iter().all(&mut accepts)).map(|(name, _)| name)
}

/// As what a device counts: as itself, or as the counter sets that it draws from.
fn keys(id: &DeviceId, device: &Device) -> Vec<Counted> {
    let key = |name: &str, is_set| Counted {
        driver: id.driver.clone(),
        pool: id.pool.clone(),
        name: name.to_owned(),
        is_set,
    };
    match device.consumes_counters.as_slice() {
        [] => vec![key(&device.name, false)],
        sets => sets.iter().map(|consumption| key(&consumption.counter_set, true)).collect(),
    }
}

/// What a device is called by those who sell it, as far as its driver says it.
fn model(slice: &ResourceSlice, device: &Device) -> String {
    let text = |wanted: &str| {
        let named = device.attributes.iter().filter(|(name, _)| name.rsplit('/').next() == Some(wanted));
        named.map(|(_, attribute)| &attribute.value).find_map(|value| match value {
            AttributeValue::String(text) => Some(text.clone()),
            _ => None,
        })
    };
    text("productName").or_else(|| text("model")).unwrap_or_else(|| slice.spec.driver.clone())
}

/// How much devices within reach can still draw, by counter set or device, and name; `None` for any amount.
struct Reach(BTreeMap<(String, String), Option<Quantity>>);

impl Reach {
    fn of(cluster: &Cluster, driver: &str, pool: &str, seen: &Seen) -> Self {
        let mut reach: BTreeMap<(String, String), Option<Quantity>> = BTreeMap::new();
        for slice in cluster.newest_of_pool(driver, pool) {
            let usable = slice.spec.devices.iter().filter(|device| seen.is_usable(&DeviceId::of(slice, device)));
            for device in usable {
                for name in device.capacity.keys() {
                    reach.insert((device.name.clone(), name.clone()), None);
                }
                let drawn = device.consumes_counters.iter().flat_map(|consumption| {
                    consumption.counters.iter().map(move |(name, counter)| (&consumption.counter_set, name, counter))
                });
                for (set, name, counter) in drawn {
                    let sum = reach.entry((set.clone(), name.clone())).or_insert_with(|| Some(Quantity::default()));
                    *sum = match (&sum, &counter.value_from) {
                        (Some(sum), None) => Some(sum.saturating_add(&counter.value)),
                        _ => None,
                    };
                }
            }
        }
        Self(reach)
    }
}

fn amount(driver: &str, pool: &str, left: Left, reach: &Reach) -> AmountUsage {
    let Left { of, name, left, total, .. } = left;
    let zero = Quantity::default();
    // More may be drawn than there is, where a driver published less while its devices were in use.
    let left = if left.signum() < 0 { zero.clone() } else { left };
    let free = match reach.0.get(&(of.clone(), name.clone())) {
        None => zero,
        Some(None) => left.clone(),
        Some(Some(most)) => left.clone().min(most.clone()),
    };
    let (used, stranded) = (total.saturating_sub(&left), left.saturating_sub(&free));
    let (driver, pool) = (driver.to_owned(), pool.to_owned());
    let [total, used, free, stranded] = [total, used, free, stranded].map(|amount| amount.to_string());
    AmountUsage { driver, pool, source: of, name, total, used, free, stranded }
}
