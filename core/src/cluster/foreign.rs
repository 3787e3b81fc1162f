//! Pools that a node sees only because of their counter sets.
//!
//! Up to 1.36 a slice with counter sets concerns every node, whatever its node fields say. A pool of which a node sees nothing else
//! has no devices for it. It makes a difference only while nobody knows all of its devices, or where its slices contradict each
//! other. It then looks the same to every such node, so that is found out once per pool and change, not once per node.

use std::collections::BTreeSet;

use super::Cluster;
use super::inventory::{SliceEntry, node_of};
use super::pools::{NodePool, PoolState, add_newest, is_for_every_node, view};
use super::shared_map::SharedMap;
use super::slots::PoolIdx;
use crate::api::slice::ResourceSlice;

/// Driver and name of a pool.
type PoolName = (String, String);

/// The pools with counter sets that are in trouble.
#[derive(Clone, Debug, Default)]
pub(super) struct Foreign {
    /// By driver and name, as a node without anything else of the pool sees it; absent before it is first asked for.
    troubled: Option<SharedMap<PoolName, (PoolIdx, NodePool)>>,
    /// Pools whose slices changed since.
    changed: BTreeSet<PoolName>,
    /// Number of changes of what is in trouble.
    clock: u64,
}

impl Foreign {
    /// Notes that a slice comes or goes.
    pub(super) fn forget_slice(&mut self, slice: &ResourceSlice) {
        if self.troubled.is_some() {
            self.changed.insert((slice.spec.driver.clone(), slice.spec.pool.name.clone()));
        }
    }

    /// Looks again at what changed.
    pub(super) fn renew(&mut self, cluster: &Cluster) {
        let mut changed = std::mem::take(&mut self.changed);
        let troubled = self.troubled.get_or_insert_with(|| {
            let pools = cluster.inventory().slices_with_counters().map(|entry| entry.pool);
            let names = pools.filter_map(|pool| cluster.inventory().pool(pool));
            changed.extend(names.map(|pool| (pool.driver.to_string(), pool.name.to_string())));
            SharedMap::default()
        });
        for name in changed {
            let was_known = match trouble(cluster, &name) {
                Some(pool) => {
                    troubled.insert(name, pool);
                    true
                }
                None => troubled.remove(&name).is_some(),
            };
            self.clock = self.clock.saturating_add(u64::from(was_known));
        }
    }

    /// The number of the latest change.
    pub(super) fn clock(&self) -> u64 {
        self.clock
    }

    /// The pools in trouble, by driver and name.
    pub(super) fn pools(&self) -> impl Iterator<Item = &(PoolIdx, NodePool)> {
        self.troubled.iter().flat_map(SharedMap::values)
    }
}

/// The pool as its counter slices alone show it, if something is wrong with it.
fn trouble(cluster: &Cluster, (driver, name): &PoolName) -> Option<(PoolIdx, NodePool)> {
    let index = cluster.inventory().pool_index(driver, name)?;
    let mut slices: Vec<&SliceEntry> = Vec::new();
    for entry in counter_slices_with_node(cluster, index) {
        add_newest(&mut slices, entry);
    }
    let (pool, _) = view(cluster, index, slices)?;
    (pool.state != PoolState::Usable).then_some((index, pool))
}

/// Slices of a pool that concern every node, although they have a node name.
pub(super) fn counter_slices_with_node(cluster: &Cluster, pool: PoolIdx) -> impl Iterator<Item = &SliceEntry> {
    let is_one = |entry: &&SliceEntry| is_for_every_node(cluster, &entry.slice) && node_of(&entry.slice).is_some();
    cluster.inventory().slices_of_pool(pool).filter(is_one)
}
