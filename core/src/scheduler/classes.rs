//! Pods that ask nodes the same are a class. A class keeps which nodes refused it, until they change in a way that may help.
//!
//! What is taken of a node never helps: changes of that kind are not noted, and cost nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::node_fit::Room;
use super::volumes::Volumes;
use crate::api::claim::{AllocationMode, DeviceRequest, ResourceClaim, ResourceClaimSpec};
use crate::api::node::NodeSelector;
use crate::api::pod::{Container, NodeToleration};
use crate::bits::Bits;
use crate::profile::{Mode, Profile, Version};

/// Most classes that are kept; the one that was not asked about for longest goes first.
const MOST_CLASSES: usize = 1024;

/// Most changes that are kept for classes that have not heard of them.
const MOST_CHANGES: usize = 4096;

/// What a class asks.
pub(super) trait Asks: PartialEq {
    /// A number that differs between most different classes.
    fn digest(&self) -> u64;

    /// Whether every node that refuses the other refuses this as well.
    fn includes(&self, other: &Self) -> bool;
}

/// What Pods ask nodes before anybody thinks of devices.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct NodeAsks {
    pub(super) room: Room,
    pub(super) node_selector: BTreeMap<String, String>,
    pub(super) affinity: Option<NodeSelector>,
    pub(super) tolerations: Vec<NodeToleration>,
    /// What nodes have to declare.
    pub(super) features: Vec<&'static str>,
    /// Where volumes can be used.
    pub(super) volumes: Volumes,
    /// Where devices can be used that their claims have.
    pub(super) reach: Vec<Arc<NodeSelector>>,
    /// Containers, where devices may serve ordinary resources of theirs.
    pub(super) containers: Vec<Container>,
}

impl NodeAsks {
    /// Asks for nothing but room.
    pub(super) fn of_room(room: Room) -> Self {
        Self {
            room,
            node_selector: BTreeMap::new(),
            affinity: None,
            tolerations: Vec::new(),
            features: Vec::new(),
            volumes: Volumes::default(),
            reach: Vec::new(),
            containers: Vec::new(),
        }
    }
}

impl Asks for NodeAsks {
    fn digest(&self) -> u64 {
        self.room.digest()
    }

    fn includes(&self, other: &Self) -> bool {
        let fixed = |asks: &Self| asks.containers.is_empty();
        self.room.includes(&other.room)
            && fixed(self)
            && fixed(other)
            && self.volumes == other.volumes
            && (&self.node_selector, &self.affinity, &self.tolerations, &self.features, &self.reach)
                == (&other.node_selector, &other.affinity, &other.tolerations, &other.features, &other.reach)
    }
}

/// What Pods ask the allocator: claims without devices.
#[derive(Clone, Debug)]
pub(super) struct DeviceAsks(Vec<Arc<ResourceClaimSpec>>);

impl PartialEq for DeviceAsks {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|(mine, theirs)| Arc::ptr_eq(mine, theirs) || mine == theirs)
    }
}

impl Asks for DeviceAsks {
    fn digest(&self) -> u64 {
        let requests = self.0.iter().flat_map(|spec| &spec.devices.requests);
        requests.fold(self.0.len() as u64, |digest, request| {
            let exact = request.exactly.as_ref();
            let class = exact.map_or("", |exact| exact.device_class_name.as_str());
            let selectors = exact.into_iter().flat_map(|exact| &exact.selectors);
            let expressions = selectors.filter_map(|selector| selector.cel.as_ref()).map(|cel| cel.expression.as_str());
            let texts = [class].into_iter().chain(expressions).flat_map(str::bytes);
            let texts = texts.fold(0, |sum, byte| mix(sum, u64::from(byte)));
            let capacity = exact.and_then(|exact| exact.capacity.as_ref());
            let amounts = capacity.into_iter().flat_map(|capacity| capacity.requests.values());
            let amounts = amounts.fold(0u64, |sum, amount| mix(sum, amount.milli_rounded_up().unsigned_abs()));
            let count = exact.map_or(0, |exact| exact.count.unsigned_abs());
            mix(mix(mix(mix(digest, request.name.len() as u64), texts), count), amounts)
        })
    }

    fn includes(&self, _: &Self) -> bool {
        // Equal ones are one class.
        false
    }
}

/// One number out of two.
pub(super) fn mix(sum: u64, value: u64) -> u64 {
    (sum ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

impl DeviceAsks {
    /// The class of some claims; `None` where taking devices may help them, or there are none.
    ///
    /// Up to 1.36 mode `All` leaves out devices that lack the capacity asked for because others take it; known defects of the reference
    /// may do anything.
    pub(super) fn of(claims: &[ResourceClaim], profile: &Profile) -> Option<Self> {
        let is_all = |mode: &AllocationMode| *mode != AllocationMode::ExactCount;
        let has_all = |request: &DeviceRequest| {
            request.exactly.iter().any(|exact| is_all(&exact.allocation_mode))
                || request.first_available.iter().any(|sub| is_all(&sub.allocation_mode))
        };
        let counts_usage = profile.version <= Version::V1_36;
        let mut requests = claims.iter().flat_map(|claim| &claim.spec.devices.requests);
        let is_known = !claims.is_empty() && profile.mode == Mode::Sound && !(counts_usage && requests.any(has_all));
        is_known.then(|| Self(claims.iter().map(|claim| Arc::clone(&claim.spec)).collect()))
    }
}

/// A change of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// The node at this position may suit more classes than before.
    Helps(usize),
    /// All nodes may.
    HelpsAll,
    /// A node came, and has this position now.
    Came(usize),
    /// The node at this position went.
    Went(usize),
}

/// Which class is meant, until the next one is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ClassIdx(usize);

/// The classes that were asked about, and which nodes did not refuse them.
#[derive(Clone, Debug)]
pub(super) struct Classes<A> {
    classes: Vec<Class<A>>,
    digests: Vec<u64>,
    /// The latest changes, and how many there were before.
    changes: VecDeque<Change>,
    forgotten: u64,
    /// Whether a class has heard of the latest one.
    is_heard: bool,
    /// How often classes were looked for.
    uses: u64,
}

#[derive(Clone, Debug)]
struct Class<A> {
    asks: Arc<A>,
    /// Positions of nodes that did not refuse it.
    open: Bits,
    /// Of how many changes it has heard.
    heard: u64,
    /// When it was looked for last.
    used: u64,
}

impl<A> Default for Classes<A> {
    fn default() -> Self {
        Self {
            classes: Vec::new(),
            digests: Vec::new(),
            changes: VecDeque::new(),
            forgotten: 0,
            is_heard: false,
            uses: 0,
        }
    }
}

impl<A: Asks> Classes<A> {
    /// Notes a change of nodes.
    pub(super) fn note(&mut self, change: Change) {
        let moves = matches!(change, Change::Came(_) | Change::Went(_));
        let is_known = !moves && !self.is_heard && self.changes.back() == Some(&change);
        if self.classes.is_empty() || is_known {
            return;
        }
        if self.changes.len() >= MOST_CHANGES {
            self.changes.pop_front();
            self.forgotten = self.forgotten.saturating_add(1);
        }
        self.changes.push_back(change);
        self.is_heard = false;
    }

    /// The class that asks this, which has heard of all changes of so many nodes.
    pub(super) fn find(&mut self, asks: A, nodes: usize) -> ClassIdx {
        self.uses = self.uses.saturating_add(1);
        self.is_heard = true;
        let digest = asks.digest();
        let mut alike = self.digests.iter().enumerate().filter(|(_, known)| **known == digest);
        let known = alike.find(|(index, _)| self.classes.get(*index).is_some_and(|class| *class.asks == asks));
        let index = match known {
            Some((index, _)) => index,
            None => self.add(asks, digest, nodes),
        };
        let (uses, changes) = (self.uses, (&self.changes, self.forgotten));
        if let Some(class) = self.classes.get_mut(index) {
            class.used = uses;
            class.hear(changes, nodes);
        }
        ClassIdx(index)
    }

    /// A new class knows what classes know that ask for less.
    fn add(&mut self, asks: A, digest: u64, nodes: usize) -> usize {
        let changes = (&self.changes, self.forgotten);
        let mut open = Bits::below(nodes);
        for class in self.classes.iter_mut().filter(|class| asks.includes(&class.asks)) {
            class.hear(changes, nodes);
            open.keep_common(&class.open);
        }
        let class = Class { asks: Arc::new(asks), open, heard: number_of(changes), used: 0 };
        if self.classes.len() >= MOST_CLASSES {
            let oldest = self.classes.iter().enumerate().min_by_key(|(_, class)| class.used).map(|(index, _)| index);
            let slots =
                oldest.and_then(|index| Some((index, self.classes.get_mut(index)?, self.digests.get_mut(index)?)));
            if let Some((index, old, number)) = slots {
                (*old, *number) = (class, digest);
                return index;
            }
        }
        self.classes.push(class);
        self.digests.push(digest);
        self.classes.len().saturating_sub(1)
    }

    /// The nodes that did not refuse a class.
    pub(super) fn open(&self, class: ClassIdx) -> Option<&Bits> {
        self.classes.get(class.0).map(|class| &class.open)
    }

    /// What a class asks.
    pub(super) fn asks(&self, class: ClassIdx) -> Option<Arc<A>> {
        self.classes.get(class.0).map(|class| Arc::clone(&class.asks))
    }

    /// Notes that a node refused a class.
    pub(super) fn refuse(&mut self, class: ClassIdx, node: usize) {
        if let Some(class) = self.classes.get_mut(class.0) {
            class.open.remove(node);
        }
    }

    /// Notes that all nodes but these refused a class.
    pub(super) fn keep(&mut self, class: ClassIdx, open: &Bits) {
        if let Some(class) = self.classes.get_mut(class.0) {
            class.open.clone_from(open);
        }
    }

    /// Forgets everything.
    #[cfg(test)]
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The latest changes, and how many there were before.
type Changes<'c> = (&'c VecDeque<Change>, u64);

fn number_of((changes, forgotten): Changes<'_>) -> u64 {
    forgotten.saturating_add(changes.len() as u64)
}

impl<A> Class<A> {
    /// Takes in the changes since it was looked for last.
    fn hear(&mut self, (changes, forgotten): Changes<'_>, nodes: usize) {
        let heard = self.heard.checked_sub(forgotten).and_then(|heard| usize::try_from(heard).ok());
        self.heard = number_of((changes, forgotten));
        let Some(heard) = heard.filter(|heard| *heard <= changes.len()) else {
            self.open = Bits::below(nodes);
            return;
        };
        if changes.range(heard..).any(|change| *change == Change::HelpsAll) {
            self.open = Bits::below(nodes);
            return;
        }
        for change in changes.range(heard..) {
            match change {
                Change::HelpsAll => {}
                Change::Helps(node) => self.open.insert(*node),
                Change::Came(node) => self.open.open(*node),
                Change::Went(node) => self.open.close(*node),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(PartialEq)]
    struct AtLeast(u64);

    impl Asks for AtLeast {
        fn digest(&self) -> u64 {
            0
        }

        fn includes(&self, other: &Self) -> bool {
            self.0 >= other.0
        }
    }

    fn open(classes: &mut Classes<AtLeast>, least: u64, nodes: usize) -> Vec<usize> {
        let class = classes.find(AtLeast(least), nodes);
        classes.open(class).unwrap().iter().collect()
    }

    fn refuse(classes: &mut Classes<AtLeast>, least: u64, node: usize) {
        let class = classes.find(AtLeast(least), 3);
        classes.refuse(class, node);
    }

    #[test]
    fn a_node_that_refused_a_class_is_open_to_it_after_each_change() {
        let mut classes = Classes::default();
        for _ in 0..3 {
            refuse(&mut classes, 5, 1);
            assert_eq!(open(&mut classes, 5, 3), [0, 2]);
            classes.note(Change::Helps(1));
            classes.note(Change::Helps(1));
            assert_eq!(open(&mut classes, 5, 3), [0, 1, 2]);
        }
        assert!(classes.changes.len() <= 3);
    }

    #[test]
    fn a_class_that_asks_for_more_begins_with_what_is_known() {
        let mut classes = Classes::default();
        refuse(&mut classes, 5, 0);
        refuse(&mut classes, 5, 2);
        classes.note(Change::Helps(2));
        assert_eq!(open(&mut classes, 6, 3), [1, 2]);
        assert_eq!(open(&mut classes, 4, 3), [0, 1, 2]);
    }

    #[test]
    fn nodes_that_come_and_go_move_the_others() {
        let mut classes = Classes::default();
        refuse(&mut classes, 5, 1);
        classes.note(Change::Came(0));
        assert_eq!(open(&mut classes, 5, 4), [0, 1, 3]);
        classes.note(Change::Went(2));
        assert_eq!(open(&mut classes, 5, 3), [0, 1, 2]);
    }

    #[test]
    fn a_class_that_missed_changes_starts_anew_and_the_oldest_goes() {
        let mut classes = Classes::default();
        refuse(&mut classes, 0, 1);
        for _ in 0..MOST_CHANGES {
            classes.note(Change::Helps(0));
            classes.note(Change::Helps(2));
        }
        assert_eq!(open(&mut classes, 0, 3), [0, 1, 2]);
        for least in (0..2 * MOST_CLASSES as u64).rev() {
            refuse(&mut classes, least, 1);
        }
        assert_eq!(classes.classes.len(), MOST_CLASSES);
        assert_eq!(open(&mut classes, 0, 3), [0, 2]);
    }

    #[test]
    fn claims_for_other_classes_or_with_other_selectors_have_other_digests() {
        let digest = |class: &str, expression: &str| {
            let spec = serde_json::json!({ "devices": { "requests": [{ "name": "gpu", "exactly": {
                "deviceClassName": class, "selectors": [{ "cel": { "expression": expression } }] } }] } });
            let value = serde_json::json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": { "name": "c" }, "spec": spec });
            let claim = crate::engine::read_claim_value(value).unwrap();
            DeviceAsks(vec![claim.spec]).digest()
        };
        let numbers: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let by_class = numbers.iter().map(|number| digest(&format!("class-{number}"), "true"));
        let by_selector = numbers.iter().map(|number| digest("gpu", &format!("true || {number} > 0")));
        let all: std::collections::BTreeSet<u64> = by_class.chain(by_selector).collect();
        assert_eq!(all.len(), 200);
        assert_eq!(digest("gpu", "true"), digest("gpu", "true"));
    }
}
