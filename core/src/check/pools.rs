//! Pools whose devices are not given out: slices are missing, or contradict each other. A pool can span nodes, and each node sees the
//! slices that are for it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Facts, finding};
use crate::api::node::Node;
use crate::api::slice::ResourceSlice;
use crate::cluster::{NodePool, NodePools, PoolIdx, PoolState, incomplete_pool, whole};
use crate::finding::{Finding, list};

/// One pool as nodes see it.
#[derive(Default)]
struct Seen {
    /// How many nodes see it.
    nodes: usize,
    /// What is wrong with it, and the nodes that see it as such.
    broken: Vec<(NodePool, Vec<String>)>,
}

impl Seen {
    fn add(&mut self, pool: NodePool, node: Option<&str>) {
        self.nodes = self.nodes.saturating_add(1);
        if pool.state == PoolState::Usable {
            return;
        }
        let known = self.broken.iter().position(|(known, _)| known.state == pool.state);
        let known = known.and_then(|known| self.broken.get_mut(known));
        let node = node.map(str::to_owned);
        match known {
            Some((_, nodes)) => nodes.extend(node),
            None => self.broken.push((pool, node.into_iter().collect())),
        }
    }
}

/// Reports pools that give nothing to some node. The slices come back that some node can use.
pub(super) fn inspect<'c>(facts: &'c Facts, findings: &mut Vec<Finding>) -> Vec<&'c ResourceSlice> {
    let cluster = &facts.cluster;
    let inventory = cluster.inventory();
    let (mut seen, mut usable) = (BTreeMap::<PoolIdx, Seen>::new(), BTreeSet::new());
    let mut pools = NodePools::default();
    for node in nodes(facts) {
        // A slice with a selector that cannot be read was refused.
        for pool in pools.of_node(cluster, &node).unwrap_or_default() {
            usable.extend(pool.slices.iter().copied());
            seen.entry(pool.pool).or_default().add(pool.clone(), Some(&node.metadata.name));
        }
    }
    let mut by_name = BTreeMap::new();
    for entry in inventory.all_slices() {
        by_name.insert((&*entry.slice.spec.driver, &*entry.slice.spec.pool.name), entry.pool);
    }
    for ((driver, name), index) in by_name {
        let seen = seen.remove(&index).unwrap_or_else(|| {
            let mut seen = Seen::default();
            whole(cluster, index).into_iter().for_each(|pool| seen.add(pool, None));
            seen
        });
        if facts.cluster.hides_devices(driver, None) {
            continue;
        }
        for (pool, nodes) in &seen.broken {
            let place = match nodes.len() {
                some if some == seen.nodes || some == 0 => String::new(),
                1 => format!(" on node {}", list(nodes.iter())),
                _ => format!(" on nodes {}", list(nodes.iter())),
            };
            let blamed = pool.contradiction.as_ref().and_then(|wrong| Some((inventory.slice(wrong.slice)?, wrong)));
            let Some((entry, wrong)) = blamed else {
                findings.extend(incomplete_pool(cluster, driver, name, &place));
                continue;
            };
            let message = format!("pool `{name}`: {}, so its devices are not given out{place}", wrong.text);
            let hint = "the driver has to publish the pool again without the contradiction";
            let slice = entry.slice.metadata.reference("ResourceSlice");
            findings.push(finding(wrong.code, slice, wrong.path.as_str(), message, hint));
        }
    }
    usable.into_iter().filter_map(|index| inventory.slice(index)).map(|entry| &*entry.slice).collect()
}

/// The nodes of the dump, and those that its slices name.
fn nodes(facts: &Facts) -> Vec<Node> {
    let given = facts.cluster.nodes();
    let named = facts.cluster.inventory().node_names().filter(|name| !given.contains_key(*name));
    let named = named.map(|name| {
        let mut node = Node::default();
        node.metadata.name.clone_from(name);
        node
    });
    given.values().map(|node| Node::clone(node)).chain(named).collect()
}
