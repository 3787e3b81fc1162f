//! Which pools a node has access to, in the order of trying.
//!
//! Found once per node and kept until a slice or node changes that can make a difference; what is taken of the devices is not in
//! it. A changed slice costs the nodes that it is for their next question, and nobody else anything.
//!
//! Source: `GatherPools` of the reference; KEP-4381 (generations, completeness), KEP-4815 (counters).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::counters::{Draws, Ledger};
use super::foreign::{Foreign, counter_slices_with_node};
use super::ingest::is_unreadable;
use super::inventory::{SliceEntry, node_of};
use super::node_selector::{self, BadNodeSelector};
use super::shared_map::SharedMap;
use super::slots::{DeviceIdx, PoolIdx, SliceIdx};
use super::{Cluster, Usage};
use crate::api::node::{Node, NodeSelector};
use crate::api::quantity::Quantity;
use crate::api::slice::{CounterSet, Device, ResourceSlice};
use crate::arrange::Arrange;
use crate::finding::{Code, Finding, plural};
use crate::near::did_you_mean;
use crate::profile::{Profile, Version};

/// Whether devices of a pool can be given out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PoolState {
    Usable,
    /// Fewer (or more) slices are published than the pool says it has.
    Incomplete,
    /// The slices contradict each other; the text says how.
    Invalid(String),
}

/// A contradiction between slices of a pool.
#[derive(Clone, Debug)]
pub(crate) struct Contradiction {
    pub(crate) code: Code,
    /// The slice that is blamed, and its field.
    pub(crate) slice: SliceIdx,
    pub(crate) path: String,
    /// What is wrong.
    pub(crate) text: String,
}

/// One pool as one node sees it.
#[derive(Clone, Debug)]
pub(crate) struct NodePool {
    pub(crate) pool: PoolIdx,
    pub(crate) state: PoolState,
    /// Slices of a usable pool with devices for the node, in the order of trying.
    pub(crate) slices: Vec<SliceIdx>,
    /// Slices of a usable pool with counter sets.
    counter_slices: Vec<SliceIdx>,
    /// Slices of a usable pool with devices that draw from the counter sets, of this node and of others.
    pub(crate) counted: Vec<SliceIdx>,
    /// Counter sets that say more than can be read; mostly none.
    pub(crate) unreadable: Vec<String>,
    /// Where the slices of an invalid pool contradict each other.
    pub(crate) contradiction: Option<Contradiction>,
    /// What the counters have left; absent before it is first asked for, and where no device draws from any.
    ledger: Option<Drawn>,
}

/// A ledger with the devices that drew from it.
#[derive(Clone, Debug)]
struct Drawn {
    ledger: Arc<Ledger>,
    /// The change of the pool's devices in use after which this was found out.
    when: u64,
    /// By counted device: what it drew because of requests; absent where it did not draw at all.
    drawn: Vec<Option<BTreeMap<String, Quantity>>>,
}

/// The pools of one node.
#[derive(Clone, Debug)]
struct Gathered {
    /// In the order of trying.
    pools: Vec<NodePool>,
    /// Pools that were looked at, and the change of their slices after which that was.
    seen: Vec<(PoolIdx, u64)>,
    /// The change of other pools in trouble after which that was.
    foreign: u64,
}

/// The pools of nodes that were asked about.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodePools {
    by_node: SharedMap<String, Arc<Gathered>>,
    foreign: Foreign,
}

/// A node selector that cannot be read.
pub(crate) struct BadSlice {
    /// The slice.
    pub(crate) slice: String,
    /// The device of it, if it is that one's selector.
    pub(crate) device: Option<String>,
    /// What is wrong.
    pub(crate) error: BadNodeSelector,
}

impl NodePools {
    /// Forgets what a slice that comes or goes can change, other than through its pool.
    pub(super) fn forget_slice(&mut self, slice: &ResourceSlice) {
        self.foreign.forget_slice(slice);
        match node_of(slice) {
            Some(node) => drop(self.by_node.remove(node)),
            // It may concern any node.
            None => self.by_node.clear(),
        }
    }

    /// Forgets a node whose object changed.
    pub(super) fn forget_node(&mut self, node: &str) {
        self.by_node.remove(node);
    }

    /// The pools of a node in the order of trying, each with its ledger as the claims in the cluster leave it.
    ///
    /// # Errors
    ///
    /// A slice with a node selector that cannot be read.
    pub(crate) fn of_node(&mut self, cluster: &Cluster, node: &Node) -> Result<&[NodePool], BadSlice> {
        let name = &node.metadata.name;
        if sees_all_counters(cluster) {
            self.foreign.renew(cluster);
        }
        let known = self.by_node.get(name).filter(|gathered| gathered.is_current(cluster, &self.foreign));
        let is_known = known.is_some();
        // An entry that is shared with a copy is written to only where devices came or went.
        let is_late = known.is_none_or(|gathered| gathered.pools.iter().any(|pool| pool.is_late(cluster)));
        if !is_known {
            self.by_node.remove(name);
            self.by_node.insert(name.clone(), Arc::new(gather(cluster, node, &self.foreign)?));
        }
        if is_late && let Some(gathered) = self.by_node.get_mut(name) {
            let pools = Arc::make_mut(gathered).pools.iter_mut();
            pools.filter(|pool| pool.is_late(cluster)).for_each(|pool| pool.renew_ledger(cluster));
        }
        Ok(self.by_node.get(name).map_or(&[][..], |gathered| gathered.pools.as_slice()))
    }
}

impl Gathered {
    fn is_current(&self, cluster: &Cluster, foreign: &Foreign) -> bool {
        let published = |pool: PoolIdx| cluster.inventory().pool(pool).map(|entry| entry.published);
        self.foreign == foreign.clock() && self.seen.iter().all(|(pool, when)| published(*pool) == Some(*when))
    }
}

impl NodePool {
    /// The ledger, if devices draw from counters at all.
    pub(crate) fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref().map(|drawn| &drawn.ledger)
    }

    /// The ledger that other devices in use would leave.
    pub(crate) fn ledger_with<'u>(
        &self,
        cluster: &'u Cluster,
        usage: impl Fn(DeviceIdx) -> Option<&'u Usage>,
    ) -> Ledger {
        let mut ledger = self.full_ledger(cluster);
        for (device, index) in counted(cluster, &self.counted) {
            if let Some(usage) = usage(index).filter(|usage| usage.is_allocated()) {
                ledger.draw(device, &Draws { is_first: true, requested: Some(&usage.requested()) }, true);
            }
        }
        ledger
    }

    fn full_ledger(&self, cluster: &Cluster) -> Ledger {
        let sets = self.counter_slices.iter().filter_map(|index| cluster.inventory().slice(*index));
        Ledger::new(sets.flat_map(|entry| &entry.slice.spec.shared_counters).filter(|set| !is_unreadable(set)))
    }

    /// The latest change of what is taken of the pool's devices.
    fn taken(&self, cluster: &Cluster) -> u64 {
        cluster.inventory().pool(self.pool).map_or(0, |pool| pool.taken)
    }

    /// Whether devices that draw from counters were taken or given back since the last time.
    fn is_late(&self, cluster: &Cluster) -> bool {
        let when = self.ledger.as_ref().map(|drawn| drawn.when);
        !self.counted.is_empty() && when != Some(self.taken(cluster))
    }

    /// Draws for devices that were taken since the last time, and puts back for those that were given back.
    fn renew_ledger(&mut self, cluster: &Cluster) {
        let taken = self.taken(cluster);
        let mut drawn = self.ledger.take().unwrap_or_else(|| {
            let count = counted(cluster, &self.counted).count();
            Drawn { ledger: Arc::new(self.full_ledger(cluster)), when: taken, drawn: vec![None; count] }
        });
        drawn.when = taken;
        let ledger = Arc::make_mut(&mut drawn.ledger);
        for ((device, index), before) in counted(cluster, &self.counted).zip(&mut drawn.drawn) {
            let usage = cluster.inventory().usage(index).filter(|usage| usage.is_allocated());
            let by_request = device.capacity_keys().next().is_some();
            if usage.is_some() == before.is_some() && !by_request {
                continue;
            }
            if let Some(requested) = before.take() {
                ledger.draw(device, &Draws { is_first: true, requested: Some(&requested) }, false);
            }
            if let Some(usage) = usage {
                let requested = if by_request { usage.requested().into_owned() } else { BTreeMap::new() };
                ledger.draw(device, &Draws { is_first: true, requested: Some(&requested) }, true);
                *before = Some(requested);
            }
        }
        self.ledger = Some(drawn);
    }
}

/// The devices of slices of which some draw from counters.
fn counted<'c>(cluster: &'c Cluster, slices: &[SliceIdx]) -> impl Iterator<Item = (&'c Device, DeviceIdx)> {
    let entries = slices.iter().filter_map(|index| cluster.inventory().slice(*index));
    entries.flat_map(|entry| entry.slice.spec.devices.iter().zip(entry.devices.iter().copied()))
}

fn gather(cluster: &Cluster, node: &Node, foreign: &Foreign) -> Result<Gathered, BadSlice> {
    let mut by_pool: BTreeMap<PoolIdx, Vec<&SliceEntry>> = BTreeMap::new();
    for entry in candidates(cluster, node) {
        if is_relevant(cluster, &entry.slice, node)? {
            add_newest(by_pool.entry(entry.pool).or_default(), entry);
        }
    }
    for (pool, slices) in &mut by_pool {
        for entry in counter_slices_with_node(cluster, *pool) {
            add_newest(slices, entry);
        }
    }
    let others: Vec<_> = foreign.pools().filter(|(pool, _)| !by_pool.contains_key(pool)).collect();
    let published = |pool: PoolIdx| cluster.inventory().pool(pool).map_or(0, |entry| entry.published);
    let seen = by_pool.keys().map(|pool| (*pool, published(*pool))).collect();
    let mut first: Vec<NodePool> = others.into_iter().map(|(_, pool)| pool.clone()).collect();
    let mut last = Vec::new();
    for (index, relevant) in by_pool {
        let Some((pool, slices)) = view(cluster, index, relevant) else {
            continue;
        };
        // Pools whose devices make Pods wait are a last resort. An empty list of conditions counts as well.
        let waits = slices.iter().any(|entry| entry.slice.spec.devices.iter().any(|d| d.binding_conditions.is_some()));
        if waits { &mut last } else { &mut first }.push(pool);
    }
    let name = |pool: &NodePool| cluster.inventory().pool(pool.pool).map(|entry| (&*entry.driver, &*entry.name));
    first.arrange_by_key(name);
    last.arrange_by_key(name);
    first.append(&mut last);
    Ok(Gathered { pools: first, seen, foreign: foreign.clock() })
}

/// Slices that may concern a node: its own before those without a node name, each by name. Own slices that concern every node
/// are left out.
fn candidates<'c>(cluster: &'c Cluster, node: &Node) -> impl Iterator<Item = &'c SliceEntry> {
    let inventory = cluster.inventory();
    let own = inventory.slices_of_node(&node.metadata.name).filter(|entry| !is_for_every_node(cluster, &entry.slice));
    own.chain(inventory.slices_without_node_for(node))
}

/// Whether a slice concerns every node because of its counter sets.
pub(super) fn is_for_every_node(cluster: &Cluster, slice: &ResourceSlice) -> bool {
    sees_all_counters(cluster)
        && cluster.profile().features.partitionable_devices
        && is_for_counters(cluster.profile(), slice)
}

/// Whether a slice is there for its counter sets and gives no devices. In 1.34 it may have both.
fn is_for_counters(profile: &Profile, slice: &ResourceSlice) -> bool {
    let has_both = profile.version == Version::V1_34 && !slice.spec.devices.is_empty();
    !slice.spec.shared_counters.is_empty() && !has_both
}

/// Up to 1.36 a slice with counter sets concerns every node, whatever its node fields say.
fn sees_all_counters(cluster: &Cluster) -> bool {
    cluster.profile().version <= Version::V1_36
}

fn is_relevant(cluster: &Cluster, slice: &ResourceSlice, node: &Node) -> Result<bool, BadSlice> {
    let spec = &slice.spec;
    let bad = |device: Option<&Device>, error| BadSlice {
        slice: slice.metadata.name.clone(),
        device: device.map(|device| device.name.clone()),
        error,
    };
    if missing_gate(cluster.profile(), slice).is_some() {
        return Ok(false);
    }
    if is_for_every_node(cluster, slice) {
        return Ok(true);
    }
    let name = spec.node_name.as_deref().unwrap_or_default();
    if !name.is_empty() || spec.all_nodes == Some(true) || spec.node_selector.is_some() {
        let selector = spec.node_selector.as_ref();
        return node_matches(node, name, spec.all_nodes, selector).map_err(|error| bad(None, error));
    }
    if spec.per_device_node_selection == Some(true) {
        for device in &spec.devices {
            if device_matches(node, device).map_err(|error| bad(Some(device), error))? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// How many slices of a pool's newest generation are there and how many should be.
pub(crate) fn incomplete(cluster: &Cluster, pool: PoolIdx) -> String {
    let slices = || cluster.inventory().slices_of_pool(pool).map(|entry| &entry.slice.spec.pool);
    let newest = slices().map(|pool| pool.generation).max().unwrap_or_default();
    let current = || slices().filter(|pool| pool.generation == newest);
    let Some(last) = current().last() else { return String::new() };
    let (name, wanted, there) = (&last.name, last.resource_slice_count, current().count());
    let wanted = plural(u64::try_from(wanted).unwrap_or_default(), "slice");
    let are = if there == 1 { "is" } else { "are" };
    format!("pool `{name}` says it has {wanted}, {there} of generation {newest} {are} there")
}

/// That a pool is incomplete, about its first slice, and what the driver has to do. `place` says where.
pub(crate) fn incomplete_pool(cluster: &Cluster, driver: &str, name: &str, place: &str) -> Option<Finding> {
    let first = cluster.newest_of_pool(driver, name).into_iter().next()?;
    let what = cluster.inventory().pool_index(driver, name).map(|pool| incomplete(cluster, pool))?;
    let message = format!("{what}, so its devices are not given out{place}");
    let finding = Finding::new(Code::LinkPoolIncomplete, "spec.pool.resourceSliceCount", message);
    Some(finding.about(first.metadata.reference("ResourceSlice")).with_hint(format!(
        "the driver has to publish the other slices, or to correct `resourceSliceCount`; `kubectl get resourceslices \
         --field-selector spec.driver={driver}` shows those that are there"
    )))
}

/// The feature gate without which a slice is as good as absent, where it is off.
pub(crate) fn missing_gate(profile: &Profile, slice: &ResourceSlice) -> Option<&'static str> {
    let spec = &slice.spec;
    let is_partitioned = spec.per_device_node_selection.is_some() || !spec.shared_counters.is_empty();
    match is_partitioned && !profile.features.partitionable_devices {
        true => Some("DRAPartitionableDevices"),
        false => is_left_out(profile, slice).then_some("DRADeviceCompatibilityGroups"),
    }
}

/// Whether a Kubernetes may leave slices out because of its gates.
pub(crate) fn hides_slices(profile: &Profile) -> bool {
    let features = &profile.features;
    !features.partitionable_devices || (profile.version >= Version::V1_37 && !features.device_compatibility_groups)
}

/// From 1.37 on, slices with compatibility groups are as good as absent without the feature.
fn is_left_out(profile: &Profile, slice: &ResourceSlice) -> bool {
    let uses_groups = |device: &Device| device.consumes_counters.iter().any(|own| !own.compatibility_groups.is_empty());
    profile.version >= Version::V1_37
        && !profile.features.device_compatibility_groups
        && slice.spec.devices.iter().any(uses_groups)
}

/// Whether a device that chooses its nodes itself is there for a node.
pub(crate) fn device_matches(node: &Node, device: &Device) -> Result<bool, BadNodeSelector> {
    let name = device.node_name.as_deref().unwrap_or_default();
    node_matches(node, name, device.all_nodes, device.node_selector.as_ref())
}

/// Whether a device of a slice is there for a node.
pub(crate) fn is_for(node: &Node, slice: &ResourceSlice, device: &Device) -> bool {
    let spec = &slice.spec;
    let name = spec.node_name.as_deref().unwrap_or_default();
    let matches = match spec.per_device_node_selection {
        Some(true) => device_matches(node, device),
        _ => node_matches(node, name, spec.all_nodes, spec.node_selector.as_ref()),
    };
    matches.unwrap_or_default()
}

fn node_matches(
    node: &Node,
    name: &str,
    all_nodes: Option<bool>,
    selector: Option<&NodeSelector>,
) -> Result<bool, BadNodeSelector> {
    match selector {
        _ if !name.is_empty() => Ok(node.metadata.name == name),
        _ if all_nodes == Some(true) => Ok(true),
        Some(selector) => node_selector::matches(selector, node),
        None => Ok(false),
    }
}

/// Keeps the slices of the newest generation seen.
pub(super) fn add_newest<'c>(slices: &mut Vec<&'c SliceEntry>, entry: &'c SliceEntry) {
    let generation = |entry: &SliceEntry| entry.slice.spec.pool.generation;
    if let Some(known) = slices.first() {
        if generation(entry) < generation(known) {
            return;
        }
        if generation(entry) > generation(known) {
            slices.clear();
        }
    }
    slices.push(entry);
}

/// The pool with its slices that hold devices for the node; `None` when a newer generation makes it unusable here.
pub(super) fn view<'c>(
    cluster: &'c Cluster,
    index: PoolIdx,
    mut relevant: Vec<&'c SliceEntry>,
) -> Option<(NodePool, Vec<&'c SliceEntry>)> {
    let spec = &relevant.first()?.slice.spec;
    let mut pool = NodePool {
        pool: index,
        state: PoolState::Usable,
        slices: Vec::new(),
        counter_slices: Vec::new(),
        counted: Vec::new(),
        unreadable: Vec::new(),
        contradiction: None,
        ledger: None,
    };
    let is_count = |count: usize| i64::try_from(count).is_ok_and(|count| count == spec.pool.resource_slice_count);
    relevant.arrange_by(|a, b| a.slice.metadata.name.cmp(&b.slice.metadata.name));
    let mut all = relevant.clone();
    if !is_count(relevant.len()) {
        // Slices for other nodes may complete the pool, or show that it is out of date.
        let generation = spec.pool.generation;
        if cluster.inventory().slices_of_pool(index).any(|entry| entry.slice.spec.pool.generation > generation) {
            return None;
        }
        let same = |entry: &&SliceEntry| {
            entry.slice.spec.pool.generation == generation && !is_left_out(cluster.profile(), &entry.slice)
        };
        let is_own = |entry: &&SliceEntry| relevant.iter().any(|own| own.index == entry.index);
        // Slices for this node come first: where devices in use contradict each other, that decides.
        let (own, others): (Vec<_>, Vec<_>) = cluster.inventory().slices_of_pool(index).filter(same).partition(is_own);
        all = [own, others].concat();
        if !is_count(all.len()) {
            pool.state = PoolState::Incomplete;
            return Some((pool, Vec::new()));
        }
    }
    let has_counters = cluster.profile().features.partitionable_devices;
    let profile = cluster.profile();
    if has_counters {
        relevant.retain(|entry| !is_for_counters(profile, &entry.slice));
    }
    let checked = if has_counters { pool.read_counters(profile, &all) } else { Ok(()) };
    if let Err(problem) = check_names(&relevant).and(checked) {
        pool.state = PoolState::Invalid(problem.text.clone());
        pool.contradiction = Some(problem);
        pool.counted.clear();
        return Some((pool, Vec::new()));
    }
    pool.slices = relevant.iter().map(|entry| entry.index).collect();
    Some((pool, relevant))
}

/// The pool as a node sees it that all slices of its newest generation are for.
pub(crate) fn whole(cluster: &Cluster, pool: PoolIdx) -> Option<NodePool> {
    let mut newest = Vec::new();
    let all = cluster.inventory().slices_of_pool(pool);
    for entry in all.filter(|entry| missing_gate(cluster.profile(), &entry.slice).is_none()) {
        add_newest(&mut newest, entry);
    }
    view(cluster, pool, newest).map(|(pool, _)| pool)
}

fn check_names(slices: &[&SliceEntry]) -> Result<(), Contradiction> {
    let mut seen = BTreeSet::new();
    for entry in slices {
        for (number, (device, index)) in entry.slice.spec.devices.iter().zip(entry.devices.iter()).enumerate() {
            if !seen.insert(*index) {
                let text = format!("device `{}` is published twice", device.name);
                let path = format!("spec.devices[{number}].name");
                return Err(Contradiction { code: Code::LinkPoolDisagrees, slice: entry.index, path, text });
            }
        }
    }
    Ok(())
}

impl NodePool {
    /// Collects the counter sets and checks that devices draw from counters that exist.
    fn read_counters(&mut self, profile: &Profile, all: &[&SliceEntry]) -> Result<(), Contradiction> {
        let mut by_name: BTreeMap<&str, &CounterSet> = BTreeMap::new();
        for entry in all {
            for (number, set) in entry.slice.spec.shared_counters.iter().enumerate() {
                if by_name.insert(&set.name, set).is_some() {
                    let text = format!("counter set `{}` is published twice", set.name);
                    let path = format!("spec.sharedCounters[{number}].name");
                    return Err(Contradiction { code: Code::LinkPoolDisagrees, slice: entry.index, path, text });
                }
                if is_unreadable(set) {
                    self.unreadable.push(set.name.clone());
                }
            }
            if !entry.slice.spec.shared_counters.is_empty() {
                self.counter_slices.push(entry.index);
            }
        }
        for entry in all {
            let mut draws = false;
            for (number, device) in entry.slice.spec.devices.iter().enumerate() {
                draws |= !device.consumes_counters.is_empty();
                if let Some((inside, text)) = unknown_counter(device, &by_name) {
                    let path = format!("spec.devices[{number}].{inside}");
                    return Err(Contradiction { code: Code::LinkUnknownCounter, slice: entry.index, path, text });
                }
            }
            if draws && !is_for_counters(profile, &entry.slice) {
                self.counted.push(entry.index);
            }
        }
        Ok(())
    }
}

/// The first counter of a device that none of the sets has: the field of the device, and what is wrong.
fn unknown_counter(device: &Device, sets: &BTreeMap<&str, &CounterSet>) -> Option<(String, String)> {
    device.consumes_counters.iter().enumerate().find_map(|(number, consumption)| {
        let name = consumption.counter_set.as_str();
        let Some(set) = sets.get(name) else {
            let path = format!("consumesCounters[{number}].counterSet");
            let meant = did_you_mean(name, &mut sets.keys().copied()).map(|meant| format!(" ({meant})"));
            return Some((path, format!("counter set `{name}` does not exist{}", meant.unwrap_or_default())));
        };
        let is_missing = |counter: &&String| !is_unreadable(set) && !set.counters.contains_key(*counter);
        let counter = consumption.counters.keys().find(is_missing)?;
        let path = format!("consumesCounters[{number}].counters[{counter}]");
        let meant = did_you_mean(counter, &mut set.counters.keys().map(String::as_str));
        let meant = meant.map(|meant| format!(" ({meant})")).unwrap_or_default();
        Some((path, format!("counter set `{name}` has no counter `{counter}`{meant}")))
    })
}
