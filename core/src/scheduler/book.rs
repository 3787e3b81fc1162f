//! What each node has left, kept up to date while Pods come and go.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::NAME;
use super::node_fit::{NodeState, Resources, requests};
use super::queue::waits_for;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::decision::Trigger;

/// Nodes by name, each with the Pods that run there or are about to; and whose Pods get places.
#[derive(Clone, Debug)]
pub struct Book {
    scheduler: &'static str,
    nodes: BTreeMap<String, NodeState>,
    /// What each Pod takes, and of which node.
    placed: BTreeMap<Key, (String, Resources)>,
    looks: u64,
}

impl Default for Book {
    fn default() -> Self {
        Self::of(NAME)
    }
}

impl Book {
    /// The book of the scheduler of a name, without nodes.
    pub fn of(scheduler: &'static str) -> Self {
        Self { scheduler, nodes: BTreeMap::new(), placed: BTreeMap::new(), looks: 0 }
    }

    /// Whether a Pod waits for a node from this scheduler.
    pub fn serves(&self, pod: &Pod) -> bool {
        waits_for(pod, self.scheduler)
    }

    /// The nodes and Pods of a cluster.
    pub fn new(cluster: &Cluster) -> Self {
        let mut book = Self::default();
        for node in cluster.nodes().values() {
            book.nodes.insert(node.metadata.name.clone(), NodeState::new(Arc::clone(node)));
        }
        for pod in cluster.pods().values() {
            book.place(pod);
        }
        book
    }

    /// Takes a change into account.
    pub fn note(&mut self, trigger: &Trigger) {
        match (trigger.latest(), &trigger.after) {
            (Some(Object::Pod(pod)), Some(_)) => self.place(pod),
            (Some(Object::Pod(pod)), None) => self.forget(&key_of(&pod.metadata)),
            (Some(Object::Node(node)), Some(_)) => {
                let mut state = NodeState::new(Arc::from(node.clone()));
                let name = &node.metadata.name;
                for (_, taken) in self.placed.values().filter(|(on, _)| on == name) {
                    state.take(taken);
                }
                self.nodes.insert(name.clone(), state);
            }
            (Some(Object::Node(node)), None) => drop(self.nodes.remove(&node.metadata.name)),
            _ => {}
        }
    }

    /// How often a node was held against a Pod so far: what looking for places costs, whatever the machine.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// Counts looks at nodes.
    pub(super) fn looked_at(&mut self, nodes: usize) {
        self.looks = self.looks.saturating_add(nodes as u64);
    }

    /// The nodes by name.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &NodeState> {
        self.nodes.values()
    }

    /// The nodes behind a name, by name; all of them where there is none.
    pub(super) fn nodes_after(&self, name: Option<&str>) -> impl Iterator<Item = &NodeState> {
        let start = name.map_or(Bound::Unbounded, Bound::Excluded);
        self.nodes.range::<str, _>((start, Bound::Unbounded)).map(|(_, state)| state)
    }

    /// The node of a name.
    pub(super) fn node(&self, name: &str) -> Option<&NodeState> {
        self.nodes.get(name)
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Counts a Pod on its node, or on the one that it is nominated for.
    pub(crate) fn place(&mut self, pod: &Pod) {
        let key = key_of(&pod.metadata);
        self.forget(&key);
        let is_bound = !pod.spec.node_name.is_empty();
        let node = if is_bound { &pod.spec.node_name } else { &pod.status.nominated_node_name };
        if node.is_empty() || pod.is_finished() {
            return;
        }
        let taken = requests(pod);
        if let Some(state) = self.nodes.get_mut(node) {
            state.take(&taken);
        }
        self.placed.insert(key, (node.clone(), taken));
    }

    /// Counts a Pod nowhere.
    pub(super) fn forget(&mut self, key: &Key) {
        if let Some((node, taken)) = self.placed.remove(key)
            && let Some(state) = self.nodes.get_mut(&node)
        {
            state.give_back(&taken);
        }
    }
}
