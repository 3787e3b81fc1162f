//! Which pools and devices a node has access to, in the order of trying.
//!
//! Source: `GatherPools` of the reference; KEP-4381 (generations, completeness), KEP-4815 (counters).

use std::collections::{BTreeMap, BTreeSet};

use super::failure::{Fatal, bad_node_selector};
use super::groups::uses_groups;
use super::taints;
use crate::api::node::{Node, NodeSelector};
use crate::api::slice::{CounterSet, Device, DeviceTaint, ResourceSlice};
use crate::cluster::node_selector::{self, BadNodeSelector};
use crate::cluster::selectors::Selectors;
use crate::cluster::{Cluster, DeviceIdx, PoolIdx, SliceEntry, Usage};
use crate::profile::{Profile, Version};

/// What a node has access to.
pub(super) struct NodeView<'c> {
    /// Pools in the order of trying.
    pub(super) pools: Vec<PoolView<'c>>,
    /// Devices of usable pools in the order of trying.
    pub(super) devices: Vec<NodeDevice<'c>>,
}

/// One pool as one node sees it.
pub(super) struct PoolView<'c> {
    pub(super) driver: &'c str,
    pub(super) name: &'c str,
    pub(super) state: PoolState,
    /// Counter sets of a usable pool.
    pub(super) counter_sets: Vec<&'c CounterSet>,
    /// Slices of a usable pool with devices that may draw from the counter sets, of this node and of others.
    pub(super) counted: Vec<&'c SliceEntry>,
}

/// Whether devices of a pool can be given out.
pub(super) enum PoolState {
    Usable,
    /// Fewer (or more) slices are published than the pool says it has.
    Incomplete,
    /// The slices contradict each other; the text says how.
    Invalid(String),
}

/// One device as one node sees it.
pub(super) struct NodeDevice<'c> {
    /// Position of its pool in the [`NodeView`].
    pub(super) pool: usize,
    pub(super) slice: &'c ResourceSlice,
    pub(super) device: &'c Device,
    /// What is taken of it; absent when nothing is.
    pub(super) usage: Option<&'c Usage>,
    /// Taints that keep requests away unless they tolerate them; of the device and of taint rules.
    pub(super) taints: Vec<&'c DeviceTaint>,
    /// Whether several claims may share it.
    pub(super) is_shared: bool,
    /// Whether the node must be able to do without the driver, and cannot. Such a device is never picked.
    pub(super) is_out_of_reach: bool,
}

impl NodeDevice<'_> {
    /// Driver, pool and name, as the reference prints them.
    pub(super) fn label(&self) -> String {
        format!("{}/{}/{}", self.slice.spec.driver, self.slice.spec.pool.name, self.device.name)
    }

    /// Whether it is taken as a whole.
    pub(super) fn is_taken(&self) -> bool {
        self.usage.is_some_and(|usage| usage.whole > 0)
    }
}

/// What is taken beside what the claims in the cluster take, merged with that.
pub(super) type Overlay = BTreeMap<DeviceIdx, Usage>;

/// The usage of a device with the question's share in it.
pub(super) fn usage_of<'c>(cluster: &'c Cluster, overlay: &'c Overlay, device: DeviceIdx) -> Option<&'c Usage> {
    overlay.get(&device).or_else(|| cluster.inventory().usage(device))
}

/// Finds the pools of a node.
///
/// # Errors
///
/// A slice with a node selector that cannot be read.
pub(super) fn gather<'c>(
    cluster: &'c Cluster,
    overlay: &'c Overlay,
    node: &Node,
    selectors: &mut Selectors,
) -> Result<NodeView<'c>, Fatal> {
    let mut by_pool: BTreeMap<PoolIdx, Vec<&'c SliceEntry>> = BTreeMap::new();
    for entry in candidates(cluster, &node.metadata.name) {
        if is_relevant(cluster, &entry.slice, node)? {
            add_newest(by_pool.entry(entry.pool).or_default(), entry);
        }
    }
    let mut first = Vec::new();
    let mut last = Vec::new();
    for (index, relevant) in by_pool {
        let Some(pool) = view(cluster, index, relevant) else {
            continue;
        };
        // Pools whose devices make Pods wait are a last resort. An empty list of conditions counts as well.
        let waits = pool.1.iter().any(|entry| entry.slice.spec.devices.iter().any(|d| d.binding_conditions.is_some()));
        if waits { &mut last } else { &mut first }.push(pool);
    }
    let mut node_view = NodeView { pools: Vec::new(), devices: Vec::new() };
    for mut group in [first, last] {
        group.sort_by_key(|(pool, _)| (pool.driver, pool.name));
        for (pool, slices) in group {
            for entry in slices {
                node_view.add_devices(cluster, overlay, node, entry, selectors);
            }
            node_view.pools.push(pool);
        }
    }
    Ok(node_view)
}

impl<'c> NodeView<'c> {
    fn add_devices(
        &mut self,
        cluster: &'c Cluster,
        overlay: &'c Overlay,
        node: &Node,
        entry: &'c SliceEntry,
        selectors: &mut Selectors,
    ) {
        let features = &cluster.profile().features;
        let is_out_of_reach =
            !entry.slice.spec.skip_node_operations.is_empty() && !does_without_driver(cluster.profile(), node);
        for (device, index) in entry.slice.spec.devices.iter().zip(&entry.devices) {
            self.devices.push(NodeDevice {
                pool: self.pools.len(),
                slice: &entry.slice,
                device,
                usage: usage_of(cluster, overlay, *index),
                taints: if features.device_taints {
                    taints::blocking(cluster, selectors, &entry.slice, device)
                } else {
                    Vec::new()
                },
                is_shared: features.consumable_capacity && device.allow_multiple_allocations == Some(true),
                is_out_of_reach,
            });
        }
    }
}

/// Whether a node can use devices for which the driver skips steps on the node. Before 1.37 the field does not exist.
///
/// Without a stated version, a node that does not say what it has is taken to have it.
fn does_without_driver(profile: &Profile, node: &Node) -> bool {
    const FEATURE: &str = "DRAOptionalNodeOperations";
    let declared = match &node.status.declared_features {
        Some(declared) => declared.iter().any(|name| name == FEATURE),
        None => profile.version == Version::All,
    };
    profile.version <= Version::V1_36 || (profile.features.optional_node_operations && declared)
}

/// Slices that may concern a node: its own before those without a node name, each by name.
fn candidates<'c>(cluster: &'c Cluster, node: &str) -> impl Iterator<Item = &'c SliceEntry> {
    let inventory = cluster.inventory();
    let of_all_nodes = sees_all_counters(cluster);
    let is_counter_slice = |entry: &&SliceEntry| !entry.slice.spec.shared_counters.is_empty();
    let has_node = |entry: &&SliceEntry| entry.slice.spec.node_name.as_ref().is_some_and(|name| !name.is_empty());
    let own = inventory.slices_of_node(node).filter(move |entry| !(of_all_nodes && is_counter_slice(entry)));
    let counters = inventory.slices_with_counters().filter(move |entry| of_all_nodes && has_node(entry));
    own.chain(inventory.slices_without_node()).chain(counters)
}

/// Up to 1.36 a slice with counter sets concerns every node, whatever its node fields say.
fn sees_all_counters(cluster: &Cluster) -> bool {
    cluster.profile().version <= Version::V1_36
}

fn is_relevant(cluster: &Cluster, slice: &ResourceSlice, node: &Node) -> Result<bool, Fatal> {
    let spec = &slice.spec;
    let has_counters = !spec.shared_counters.is_empty();
    if !cluster.profile().features.partitionable_devices && (spec.per_device_node_selection.is_some() || has_counters) {
        return Ok(false);
    }
    if is_left_out(cluster.profile(), slice) {
        return Ok(false);
    }
    if has_counters && sees_all_counters(cluster) {
        return Ok(true);
    }
    let name = spec.node_name.as_deref().unwrap_or_default();
    if !name.is_empty() || spec.all_nodes == Some(true) || spec.node_selector.is_some() {
        let selector = spec.node_selector.as_ref();
        return node_matches(node, name, spec.all_nodes, selector)
            .map_err(|error| bad_node_selector(&slice.metadata.name, None, &error));
    }
    if spec.per_device_node_selection == Some(true) {
        for device in &spec.devices {
            let is_match = device_matches(node, device)
                .map_err(|error| bad_node_selector(&slice.metadata.name, Some(&device.name), &error))?;
            if is_match {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// From 1.37 on, slices with compatibility groups are as good as absent without the feature.
fn is_left_out(profile: &Profile, slice: &ResourceSlice) -> bool {
    profile.version >= Version::V1_37
        && !profile.features.device_compatibility_groups
        && slice.spec.devices.iter().any(uses_groups)
}

/// Whether a device that chooses its nodes itself is there for a node.
pub(super) fn device_matches(node: &Node, device: &Device) -> Result<bool, BadNodeSelector> {
    let name = device.node_name.as_deref().unwrap_or_default();
    node_matches(node, name, device.all_nodes, device.node_selector.as_ref())
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
fn add_newest<'c>(slices: &mut Vec<&'c SliceEntry>, entry: &'c SliceEntry) {
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
fn view<'c>(
    cluster: &'c Cluster,
    index: PoolIdx,
    mut relevant: Vec<&'c SliceEntry>,
) -> Option<(PoolView<'c>, Vec<&'c SliceEntry>)> {
    let spec = &relevant.first()?.slice.spec;
    let mut pool = PoolView {
        driver: &spec.driver,
        name: &spec.pool.name,
        state: PoolState::Usable,
        counter_sets: Vec::new(),
        counted: Vec::new(),
    };
    let is_count = |count: usize| i64::try_from(count).is_ok_and(|count| count == spec.pool.resource_slice_count);
    relevant.sort_by(|a, b| a.slice.metadata.name.cmp(&b.slice.metadata.name));
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
        let is_own = |entry: &&SliceEntry| relevant.iter().any(|own| std::ptr::eq(*own, *entry));
        // Slices for this node come first: where devices in use contradict each other, that decides.
        let (own, others): (Vec<_>, Vec<_>) = cluster.inventory().slices_of_pool(index).filter(same).partition(is_own);
        all = [own, others].concat();
        if !is_count(all.len()) {
            pool.state = PoolState::Incomplete;
            return Some((pool, Vec::new()));
        }
    }
    let has_counters = cluster.profile().features.partitionable_devices;
    let is_counter_slice = |entry: &SliceEntry| !entry.slice.spec.shared_counters.is_empty();
    if has_counters {
        relevant.retain(|entry| !is_counter_slice(entry));
    }
    let checked = if has_counters { pool.read_counters(&all) } else { Ok(()) };
    if let Err(problem) = check_names(&relevant).and(checked) {
        pool.state = PoolState::Invalid(problem);
        return Some((pool, Vec::new()));
    }
    Some((pool, relevant))
}

fn check_names(slices: &[&SliceEntry]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for index in slices.iter().flat_map(|entry| entry.slice.spec.devices.iter().zip(&entry.devices)) {
        if !seen.insert(*index.1) {
            return Err(format!("device `{}` is published twice", index.0.name));
        }
    }
    Ok(())
}

impl<'c> PoolView<'c> {
    /// Collects the counter sets and checks that devices draw from counters that exist.
    fn read_counters(&mut self, all: &[&'c SliceEntry]) -> Result<(), String> {
        let mut by_name: BTreeMap<&str, &'c CounterSet> = BTreeMap::new();
        for set in all.iter().flat_map(|entry| &entry.slice.spec.shared_counters) {
            if by_name.insert(&set.name, set).is_some() {
                return Err(format!("counter set `{}` is published twice", set.name));
            }
            self.counter_sets.push(set);
        }
        for entry in all {
            let consumptions = entry.slice.spec.devices.iter().flat_map(|device| &device.consumes_counters);
            let mut draws = false;
            for consumption in consumptions {
                draws = true;
                let name = consumption.counter_set.as_str();
                let Some(set) = by_name.get(name) else {
                    return Err(format!("counter set `{name}` does not exist"));
                };
                if let Some(counter) = consumption.counters.keys().find(|counter| !set.counters.contains_key(*counter))
                {
                    return Err(format!("counter set `{name}` has no counter `{counter}`"));
                }
            }
            // A slice with counter sets gives no devices.
            if draws && entry.slice.spec.shared_counters.is_empty() {
                self.counted.push(entry);
            }
        }
        Ok(())
    }
}
