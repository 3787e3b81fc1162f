//! What each node has left, kept up to date while Pods come and go, and which nodes refused which Pods since they last changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::NAME;
use super::classes::{Change, ClassIdx, Classes, DeviceAsks, NodeAsks};
use super::disruptions::Budgets;
use super::node_fit::{self, NodeState, Resources, Room, requests};
use super::preemption::{self, Contest};
use super::queue::{is_waiting, waits_for};
use super::scoring::{Images, Load, Utilities};
use super::topology::Topology;
use crate::api::node::{Node, NodeTaint};
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::bits::Bits;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key, Relief, node_of};
use crate::decision::{Time, Trigger};

/// Nodes by name, each with the Pods that run there or are about to; and whose Pods get places.
#[derive(Clone, Debug)]
pub struct NodeCache {
    scheduler: &'static str,
    /// By name. A node's position is that in here.
    pub(super) nodes: Vec<NodeState>,
    /// What is taken of nodes that do not exist.
    absent: BTreeMap<String, (Resources, Load)>,
    /// What each Pod takes, and of which node.
    placed: BTreeMap<Key, Taken>,
    /// How many Pods with a node there are of each priority.
    priorities: BTreeMap<i64, usize>,
    /// Pods that are nominated for a node, with their priority.
    nominated: BTreeMap<Key, i64>,
    /// What came of it for the Pods that asked last whose place they may take.
    pub(super) contest: Option<Contest>,
    /// How many Pods may go, once that was asked for.
    pub(super) budgets: Option<Budgets>,
    /// What ordinary tests said.
    pub(super) by_nodes: Classes<NodeAsks>,
    /// What the allocator said.
    pub(super) by_devices: Classes<DeviceAsks>,
    /// Where placed Pods are, for those that ask.
    pub(super) topology: Topology,
    pub(super) images: Images,
    /// How good nodes are for Pods.
    pub(super) utilities: Utilities,
    /// Whether scores were asked for: only then loads are kept.
    is_scored: bool,
    /// How many nodes have taints that are only to be avoided.
    soft: usize,
    /// Where the next sample begins.
    pub(super) turn: usize,
    /// How many changes of nodes there were.
    changes: u64,
    /// Nodes that have room for some Pods together, while others are left out.
    roomy: Option<Bits>,
    /// How many changes of devices were heard of.
    heard: u64,
    looks: u64,
}

/// What a Pod takes.
#[derive(Clone, Debug)]
struct Taken {
    node: String,
    requests: Resources,
    load: Load,
    priority: i64,
    /// When it started, if that is known.
    start: Option<Time>,
    /// Whether the node is its own, and not only the one that it is nominated for.
    is_bound: bool,
}

impl Default for NodeCache {
    fn default() -> Self {
        Self::of(NAME)
    }
}

impl NodeCache {
    /// The cache of the scheduler of a name, without nodes.
    pub fn of(scheduler: &'static str) -> Self {
        Self {
            scheduler,
            nodes: Vec::new(),
            absent: BTreeMap::new(),
            placed: BTreeMap::new(),
            priorities: BTreeMap::new(),
            nominated: BTreeMap::new(),
            contest: None,
            budgets: None,
            by_nodes: Classes::default(),
            by_devices: Classes::default(),
            topology: Topology::default(),
            images: Images::default(),
            utilities: Utilities::default(),
            is_scored: false,
            soft: 0,
            turn: 0,
            changes: 0,
            roomy: None,
            heard: 0,
            looks: 0,
        }
    }

    /// Whether a Pod waits for a node from this scheduler, or from one in kube-scheduler's configuration.
    pub fn serves(&self, cluster: &Cluster, pod: &Pod) -> bool {
        if self.scheduler == NAME { is_waiting(cluster, pod) } else { waits_for(pod, self.scheduler) }
    }

    /// The nodes and Pods of a cluster.
    pub fn new(cluster: &Cluster) -> Self {
        let mut cache = Self::default();
        cluster.namespaces().values().for_each(|namespace| cache.topology.name_space(namespace, true));
        cluster.nodes().values().for_each(|node| cache.add(Arc::clone(node)));
        cluster.pods().values().for_each(|pod| cache.place(pod));
        cache
    }

    /// Takes a change into account.
    pub fn note(&mut self, trigger: &Trigger) {
        self.note_disruption(trigger);
        match (trigger.latest(), &trigger.after) {
            (Some(Object::Pod(pod)), Some(_)) => self.place(pod),
            (Some(Object::Pod(pod)), None) => self.forget(&key_of(&pod.metadata)),
            (Some(Object::Node(node)), Some(_)) => self.add(node.clone()),
            (Some(Object::Node(node)), None) => self.remove(&node.metadata.name),
            (Some(Object::Namespace(namespace)), after) => self.topology.name_space(namespace, after.is_some()),
            _ => {}
        }
    }

    fn note_disruption(&mut self, trigger: &Trigger) {
        match (trigger.latest(), &mut self.budgets) {
            (Some(Object::Pod(_)), Some(budgets)) => budgets.note(trigger.before.as_deref(), trigger.after.as_deref()),
            (Some(Object::Workload(_)), Some(budgets)) => budgets.doubt(),
            (Some(Object::PodDisruptionBudget(_)), _) => (self.budgets, self.contest) = (None, None),
            _ => {}
        }
    }

    fn add(&mut self, node: Arc<Node>) {
        self.topology.settle(&node.metadata.name, Some(Arc::clone(&node)));
        self.compare(&node.metadata.name, Some(&node));
        let number = self.next_change();
        match self.find(&node.metadata.name) {
            Ok(position) => {
                if let Some(state) = self.nodes.get_mut(position) {
                    state.replace(node);
                    state.change(number);
                }
                self.say(Change::Helps(position));
            }
            Err(position) => {
                let used = self.absent.remove(&node.metadata.name).unwrap_or_default();
                let mut state = NodeState::with(node, used);
                state.change(number);
                self.nodes.insert(position, state);
                self.say(Change::Came(position));
            }
        }
    }

    fn remove(&mut self, name: &str) {
        let Ok(position) = self.find(name) else { return };
        self.compare(name, None);
        let state = self.nodes.remove(position);
        self.topology.settle(name, None);
        self.absent.insert(name.to_owned(), state.into_used());
        self.say(Change::Went(position));
    }

    /// Takes a node into account, as it will be, for comparisons.
    fn compare(&mut self, name: &str, after: Option<&Node>) {
        let before = self.node(name).map(|state| Arc::clone(&state.node));
        let is_soft = |node: &Node| usize::from(node.spec.taints.iter().any(NodeTaint::is_soft));
        self.soft = self.soft.saturating_sub(before.as_deref().map_or(0, is_soft));
        self.soft = self.soft.saturating_add(after.map_or(0, is_soft));
        let has_other_images = self.images.note(before.as_deref(), after);
        if has_other_images || before.is_some() != after.is_some() {
            self.utilities.clear();
        }
    }

    /// Keeps from now on what placed Pods take as scores reckon.
    pub(super) fn reckon(&mut self, cluster: &Cluster) {
        if std::mem::replace(&mut self.is_scored, true) {
            return;
        }
        for (key, Taken { node, requests, load, .. }) in &mut self.placed {
            let Some(pod) = cluster.pods().get(key) else { continue };
            *load = Load::of(pod, requests);
            let position = self.nodes.binary_search_by(|state| state.name().cmp(node));
            match position.ok().and_then(|position| self.nodes.get_mut(position)) {
                Some(state) => state.reckon(*load),
                None => {
                    if let Some((_, all)) = self.absent.get_mut(node) {
                        *all = all.plus(*load);
                    }
                }
            }
        }
    }

    /// The number of a change of a node.
    fn next_change(&mut self) -> u64 {
        self.changes = self.changes.saturating_add(1);
        self.changes
    }

    /// Whether nodes have taints that are only to be avoided.
    pub(super) fn has_soft_taints(&self) -> bool {
        self.soft > 0
    }

    /// Where a node is, or would be.
    fn find(&self, name: &str) -> Result<usize, usize> {
        self.nodes.binary_search_by(|state| state.name().cmp(name))
    }

    /// Tells all classes of a change.
    fn say(&mut self, change: Change) {
        self.by_nodes.note(change);
        self.by_devices.note(change);
    }

    /// Hears what changed of devices.
    pub(super) fn listen(&mut self, cluster: &Cluster) {
        let inventory = cluster.inventory();
        let heard = std::mem::replace(&mut self.heard, inventory.reliefs());
        let Some(reliefs) = inventory.reliefs_after(heard) else {
            self.say(Change::HelpsAll);
            return;
        };
        for relief in reliefs {
            match relief {
                Relief::Rules => self.say(Change::HelpsAll),
                Relief::Everywhere => self.by_devices.note(Change::HelpsAll),
                Relief::Node(name) => self.relieve(Some(name)),
                Relief::Pool(pool) => {
                    inventory.slices_of_pool(*pool).for_each(|entry| self.relieve(node_of(&entry.slice)));
                }
            }
        }
    }

    /// Notes that devices may serve a node again, or any.
    fn relieve(&mut self, node: Option<&str>) {
        match node.map(|node| self.find(node)) {
            Some(Ok(position)) => self.by_devices.note(Change::Helps(position)),
            Some(Err(_)) => {}
            None => self.by_devices.note(Change::HelpsAll),
        }
    }

    /// The first node from a position on that refused neither class.
    pub(super) fn next(&self, by_nodes: ClassIdx, by_devices: Option<ClassIdx>, from: usize) -> Option<usize> {
        let open = self.by_nodes.open(by_nodes)?;
        let others = by_devices.and_then(|class| self.by_devices.open(class)).unwrap_or(open);
        open.next_common_of(others, self.roomy.as_ref().unwrap_or(open), from)
    }

    /// From now on nodes without so much room are left out. False where that is no node, or all of them; then none is left out.
    pub(super) fn leave_out_crowded(&mut self, room: &Room) -> bool {
        let class = self.by_nodes.find(NodeAsks::of_room(room.clone()), self.nodes.len());
        let mut roomy = self.by_nodes.open(class).cloned().unwrap_or_default();
        for position in self.by_nodes.open(class).into_iter().flat_map(Bits::iter) {
            self.looks = self.looks.saturating_add(1);
            if self.nodes.get(position).is_none_or(|state| !state.has_room(room)) {
                roomy.remove(position);
            }
        }
        let count = usize::try_from(roomy.count()).unwrap_or(usize::MAX);
        self.by_nodes.keep(class, &roomy);
        let makes_a_difference = count > 0 && count < self.nodes.len();
        self.roomy = makes_a_difference.then_some(roomy);
        makes_a_difference
    }

    /// From now on no node is left out for lack of room.
    pub(super) fn leave_out_none(&mut self) {
        self.roomy = None;
    }

    /// Whether a node is left out for lack of room.
    pub(super) fn is_crowded(&self, node: &str) -> bool {
        let is_roomy = |roomy: &Bits| self.position(node).is_none_or(|position| roomy.contains(position));
        self.roomy.as_ref().is_some_and(|roomy| !is_roomy(roomy))
    }

    /// Where placed Pods are, for who asks without deciding.
    pub(crate) fn topology(&self) -> Topology {
        self.topology.clone()
    }

    /// Whether a node's devices may serve a class.
    pub(super) fn may_serve(&self, class: Option<ClassIdx>, node: &str) -> bool {
        let open = class.and_then(|class| self.by_devices.open(class));
        open.is_none_or(|open| self.position(node).is_some_and(|position| open.contains(position)))
    }

    /// Notes that a node's devices cannot serve a class.
    pub(super) fn cannot_serve(&mut self, class: ClassIdx, node: &str) {
        if let Some(position) = self.position(node) {
            self.by_devices.refuse(class, position);
        }
    }

    /// Forgets which nodes refused which Pods, and scores. Every answer stays the same.
    #[cfg(test)]
    pub(crate) fn forget_refusals(&mut self) {
        self.by_nodes.clear();
        self.by_devices.clear();
        self.utilities.clear();
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
        self.nodes.iter()
    }

    /// The node at a position.
    pub(super) fn at(&self, position: usize) -> Option<&NodeState> {
        self.nodes.get(position)
    }

    /// The position of a node.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.find(name).ok()
    }

    /// The node of a name.
    pub(crate) fn node(&self, name: &str) -> Option<&NodeState> {
        self.at(self.position(name)?)
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Counts a Pod on its node, or on the one that it is nominated for.
    pub(crate) fn place(&mut self, pod: &Pod) {
        let key = key_of(&pod.metadata);
        let is_bound = !pod.spec.node_name.is_empty();
        let node = if is_bound { &pod.spec.node_name } else { &pod.status.nominated_node_name };
        if node.is_empty() || pod.is_finished() {
            self.forget(&key);
            return;
        }
        let taken = requests(pod);
        let (priority, start) = (pod.priority(), preemption::start(pod));
        let known = self.placed.get(&key).filter(|known| known.node == *node && known.requests == taken);
        if let Some(known) = known.filter(|_| self.topology.knows(node, &key, pod)).cloned() {
            if (known.priority, known.start, known.is_bound) != (priority, start, is_bound) {
                self.rank(&key, &known, false);
                let taken = Taken { priority, start, is_bound, ..known };
                self.rank(&key, &taken, true);
                self.placed.insert(key, taken);
                self.next_change();
                self.contest.iter_mut().for_each(|contest| contest.forget(node));
            }
            return;
        }
        self.forget(&key);
        self.topology.place(node, pod);
        let load = if self.is_scored { Load::of(pod, &taken) } else { Load::default() };
        let number = self.next_change();
        match self.find(node) {
            Ok(position) => {
                if let Some(state) = self.nodes.get_mut(position) {
                    state.take(&taken, load);
                    state.change(number);
                }
                // Nobody can ask for less than nothing, but one can say so.
                if taken.values().any(|amount| amount.signum() < 0) {
                    self.by_nodes.note(Change::Helps(position));
                }
            }
            Err(_) => {
                let (used, all) = self.absent.entry(node.clone()).or_default();
                node_fit::add(used, &taken);
                *all = all.plus(load);
            }
        }
        let taken = Taken { node: node.clone(), requests: taken, load, priority, start, is_bound };
        self.rank(&key, &taken, true);
        self.placed.insert(key, taken);
    }

    /// Counts a Pod nowhere.
    pub(super) fn forget(&mut self, key: &Key) {
        let Some(known) = self.placed.remove(key) else { return };
        self.rank(key, &known, false);
        let Taken { node, requests: taken, load, .. } = known;
        let number = self.next_change();
        self.topology.forget(&node, key);
        match self.find(&node) {
            Ok(position) => {
                if let Some(state) = self.nodes.get_mut(position) {
                    state.give_back(&taken, load);
                    state.change(number);
                }
                self.by_nodes.note(Change::Helps(position));
            }
            Err(_) => {
                if let Some((used, all)) = self.absent.get_mut(&node) {
                    node_fit::subtract(used, &taken);
                    *all = all.minus(load);
                }
            }
        }
    }

    /// Counts a Pod among those of its priority, or no longer.
    fn rank(&mut self, key: &Key, taken: &Taken, is_more: bool) {
        match (taken.is_bound, is_more) {
            (true, true) => {
                let pods = self.priorities.entry(taken.priority).or_default();
                *pods = pods.saturating_add(1);
            }
            (true, false) => {
                let pods = self.priorities.entry(taken.priority).or_default();
                *pods = pods.saturating_sub(1);
                if *pods == 0 {
                    self.priorities.remove(&taken.priority);
                }
            }
            (false, true) => drop(self.nominated.insert(key.clone(), taken.priority)),
            (false, false) => drop(self.nominated.remove(key)),
        }
    }

    /// Whether Pods of a lower priority have nodes.
    pub(super) fn has_lower(&self, priority: i64) -> bool {
        self.priorities.first_key_value().is_some_and(|(lowest, _)| *lowest < priority)
    }

    /// How many changes of nodes there were.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Pods of a lower priority that are nominated for a node.
    pub(super) fn nominated_below(&self, priority: i64) -> Vec<Key> {
        let below = self.nominated.iter().filter(|(_, own)| **own < priority);
        below.map(|(key, _)| key.clone()).collect()
    }

    /// Pods of a lower priority that have a node, each with what it takes, and when it started if that is known; by namespace and name.
    pub(super) fn lower_on<'c>(
        &'c self,
        node: &'c str,
        priority: i64,
    ) -> impl Iterator<Item = (&'c Key, &'c Resources, Option<Time>)> {
        let taken = |key| Some((key, self.placed.get(key)?));
        let lower = move |(_, taken): &(&Key, &Taken)| taken.is_bound && taken.priority < priority;
        self.topology
            .pods_on(node)
            .filter_map(taken)
            .filter(lower)
            .map(|(key, taken)| (key, &taken.requests, taken.start))
    }
}
