//! What one node offers to one question.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::failure::{Fatal, bad_node_selector};
use super::taints;
use crate::api::node::Node;
use crate::api::slice::{Device, DeviceTaint, ResourceSlice};
use crate::arrange::Arrange;
use crate::cluster::selectors::Selectors;
use crate::cluster::{Cluster, DeviceIdx, Ledger, NodePools, PoolState, SliceEntry, Usage};
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
    /// What the counters have left before anything is picked; absent where no device draws from any.
    pub(super) ledger: Option<Arc<Ledger>>,
    /// Slices with devices that may draw from the counter sets, of this node and of others; left out where compatibility groups do not
    /// matter.
    pub(super) counted: Vec<&'c SliceEntry>,
}

/// One device as one node sees it.
pub(super) struct NodeDevice<'c> {
    /// Position of its pool in the [`NodeView`].
    pub(super) pool: usize,
    /// The slice in the cluster's indexes.
    pub(super) entry: &'c SliceEntry,
    /// Position of the device in the slice.
    pub(super) position: usize,
    pub(super) slice: &'c ResourceSlice,
    pub(super) device: &'c Device,
    /// What is taken of it; absent when nothing is.
    pub(super) usage: Option<&'c Usage>,
    /// Taints that keep requests away unless they tolerate them; of the device and of taint rules.
    pub(super) taints: Vec<&'c DeviceTaint>,
    /// Whether several claims may share it.
    pub(super) is_shared: bool,
    /// Whether the node must be able to do without the driver, and cannot, or it is not known what the device draws. Such a device is
    /// never picked.
    pub(super) is_out_of_reach: bool,
}

impl NodeDevice<'_> {
    /// A device that no node was asked about: nothing is known of it but what it is.
    pub(super) fn unused(entry: &SliceEntry, position: usize) -> Option<NodeDevice<'_>> {
        let device = entry.slice.spec.devices.get(position)?;
        let slice = &entry.slice;
        let (taints, usage, is_shared, is_out_of_reach) = (Vec::new(), None, false, false);
        Some(NodeDevice { pool: usize::MAX, entry, position, slice, device, usage, taints, is_shared, is_out_of_reach })
    }

    /// Driver, pool and name, as the reference prints them.
    pub(super) fn label(&self) -> String {
        format!("{}/{}/{}", self.slice.spec.driver, self.slice.spec.pool.name, self.device.name)
    }

    /// Whether it is taken as a whole.
    pub(super) fn is_taken(&self) -> bool {
        self.usage.is_some_and(Usage::is_taken)
    }
}

/// What is taken beside what the claims in the cluster take, merged with that.
pub(super) type Overlay = BTreeMap<DeviceIdx, Usage>;

/// The usage of a device with the question's share in it.
pub(super) fn usage_of<'c>(cluster: &'c Cluster, overlay: &'c Overlay, device: DeviceIdx) -> Option<&'c Usage> {
    if overlay.is_empty() {
        return cluster.inventory().usage(device);
    }
    overlay.get(&device).or_else(|| cluster.inventory().usage(device))
}

/// Finds the pools of a node and what they offer.
///
/// # Errors
///
/// A slice with a node selector that cannot be read.
pub(super) fn gather<'c>(
    cluster: &'c Cluster,
    pools: &mut NodePools,
    overlay: &'c Overlay,
    node: &Node,
    selectors: &mut Selectors,
) -> Result<NodeView<'c>, Fatal> {
    let pools =
        pools.of_node(cluster, node).map_err(|bad| bad_node_selector(&bad.slice, bad.device.as_deref(), &bad.error))?;
    let inventory = cluster.inventory();
    let slices = || pools.iter().flat_map(|pool| &pool.slices).filter_map(|index| inventory.slice(*index));
    let devices = slices().map(|entry| entry.devices.len()).sum();
    let mut view = NodeView { pools: Vec::with_capacity(pools.len()), devices: Vec::with_capacity(devices) };
    for pool in pools {
        let Some(entry) = inventory.pool(pool.pool) else {
            continue;
        };
        for slice in pool.slices.iter().filter_map(|index| inventory.slice(*index)) {
            view.add_devices(cluster, overlay, node, slice, &pool.unreadable, selectors);
        }
        let ledger = pool.ledger().map(|ledger| {
            if overlay.is_empty() {
                Arc::clone(ledger)
            } else {
                Arc::new(pool.ledger_with(cluster, |device| usage_of(cluster, overlay, device)))
            }
        });
        let has_groups = cluster.profile().features.device_compatibility_groups;
        let counted = pool.counted.iter().filter(|_| has_groups).filter_map(|index| inventory.slice(*index)).collect();
        let state = pool.state.clone();
        view.pools.push(PoolView { driver: &entry.driver, name: &entry.name, state, ledger, counted });
    }
    Ok(view)
}

impl<'c> NodeView<'c> {
    /// Whether pools of several drivers have the same name and counters, which the reference used to mix up.
    pub(super) fn mixes_counters(&self) -> bool {
        let counted = self.pools.iter().filter(|pool| pool.ledger.is_some());
        let mut names: Vec<&str> = counted.map(|pool| pool.name).collect();
        names.arrange();
        names.windows(2).any(|pair| matches!(pair, [a, b] if a == b))
    }

    fn add_devices(
        &mut self,
        cluster: &'c Cluster,
        overlay: &'c Overlay,
        node: &Node,
        entry: &'c SliceEntry,
        unreadable: &[String],
        selectors: &mut Selectors,
    ) {
        let features = &cluster.profile().features;
        let draws_from = |device: &Device, set: &String| {
            device.consumes_counters.iter().any(|consumption| consumption.counter_set == *set)
        };
        let is_out_of_reach =
            !entry.slice.spec.skip_node_operations.is_empty() && !does_without_driver(cluster.profile(), node);
        let has_rules = features.device_taint_rules && !cluster.taint_rules().is_empty();
        let devices = entry.slice.spec.devices.iter().zip(entry.devices.iter());
        self.devices.extend(devices.enumerate().map(|(position, (device, index))| NodeDevice {
            pool: self.pools.len(),
            entry,
            position,
            slice: &entry.slice,
            device,
            usage: usage_of(cluster, overlay, *index),
            taints: if features.device_taints && (has_rules || !device.taints.is_empty()) {
                taints::blocking(cluster, selectors, &entry.slice, device)
            } else {
                Vec::new()
            },
            is_shared: features.consumable_capacity && device.allow_multiple_allocations == Some(true),
            is_out_of_reach: is_out_of_reach
                || usage_of(cluster, overlay, *index).is_some_and(|usage| usage.is_barred)
                || unreadable.iter().any(|set| draws_from(device, set)),
        }));
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
