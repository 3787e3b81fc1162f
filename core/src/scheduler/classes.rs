//! Pods that ask nodes the same are a class. A class keeps which nodes refused it, until they change in a way that may help.
//!
//! What is taken of a node never helps: changes of that kind are not noted, and cost nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::node_fit::Room;
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
}

/// What Pods ask nodes before anybody thinks of devices.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct NodeAsks {
    pub(super) room: Room,
    pub(super) node_selector: BTreeMap<String, String>,
    pub(super) affinity: Option<NodeSelector>,
    pub(super) tolerations: Vec<NodeToleration>,
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
            reach: Vec::new(),
            containers: Vec::new(),
        }
    }
}

impl Asks for NodeAsks {
    fn digest(&self) -> u64 {
        self.room.digest()
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
            let capacity = exact.and_then(|exact| exact.capacity.as_ref());
            let amounts = capacity.into_iter().flat_map(|capacity| capacity.requests.values());
            let amounts = amounts.fold(0u64, |sum, amount| mix(sum, amount.milli_rounded_up().unsigned_abs()));
            let count = exact.map_or(0, |exact| exact.count.unsigned_abs());
            mix(mix(mix(digest, request.name.len() as u64), count), amounts)
        })
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
        Self { classes: Vec::new(), digests: Vec::new(), changes: VecDeque::new(), forgotten: 0, uses: 0 }
    }
}

impl<A: Asks> Classes<A> {
    /// Notes a change of nodes.
    pub(super) fn note(&mut self, change: Change) {
        let moves = matches!(change, Change::Came(_) | Change::Went(_));
        let is_known = !moves && self.changes.back() == Some(&change);
        if self.classes.is_empty() || is_known {
            return;
        }
        if self.changes.len() >= MOST_CHANGES {
            self.changes.pop_front();
            self.forgotten = self.forgotten.saturating_add(1);
        }
        self.changes.push_back(change);
    }

    /// The class that asks this, which has heard of all changes of so many nodes.
    pub(super) fn find(&mut self, asks: A, nodes: usize) -> ClassIdx {
        self.uses = self.uses.saturating_add(1);
        let digest = asks.digest();
        let mut alike = self.digests.iter().enumerate().filter(|(_, known)| **known == digest);
        let known = alike.find(|(index, _)| self.classes.get(*index).is_some_and(|class| *class.asks == asks));
        let now = self.forgotten.saturating_add(self.changes.len() as u64);
        let index = match known {
            Some((index, _)) => index,
            None => self.add(Class { asks: Arc::new(asks), open: Bits::below(nodes), heard: now, used: 0 }, digest),
        };
        if let Some(class) = self.classes.get_mut(index) {
            class.used = self.uses;
            let heard = class.heard.checked_sub(self.forgotten).and_then(|heard| usize::try_from(heard).ok());
            match heard.filter(|heard| *heard <= self.changes.len()) {
                Some(heard) if self.changes.range(heard..).all(|change| *change != Change::HelpsAll) => {
                    self.changes.range(heard..).for_each(|change| class.hear(*change));
                }
                _ => class.open = Bits::below(nodes),
            }
            class.heard = now;
        }
        ClassIdx(index)
    }

    fn add(&mut self, class: Class<A>, digest: u64) -> usize {
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

impl<A> Class<A> {
    fn hear(&mut self, change: Change) {
        match change {
            Change::HelpsAll => {}
            Change::Helps(node) => self.open.insert(node),
            Change::Came(node) => self.open.open(node),
            Change::Went(node) => self.open.close(node),
        }
    }
}
