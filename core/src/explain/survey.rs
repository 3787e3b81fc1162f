//! Every device of every node, counted.
//!
//! A device that several nodes reach is counted where it comes nearest. Nodes that are alike for the question are counted as one
//! for whatever is asked of the allocator afterwards.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use super::distinct::{Scarce, Supply};
use super::own::Compared;
use super::shape::{Interned, Mark, Shapes, mark};
use super::{ClosestNode, ReasonKind, RequestExplanation};
use crate::allocate::inspect::{DeviceSeen, NodeSeen, Observer, Obstacle, UnitSeen, inspect, units};
use crate::allocate::{Failure, Question};
use crate::arrange::Arrange;
use crate::cluster::{Cluster, DeviceIdx, PoolState, Slot};

/// What a device is to a unit where it comes nearest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// No node of the question reaches it.
    Unseen,
    /// Nor is it reached, but it is of the unit's class.
    Elsewhere,
    /// Nothing is in its way.
    Usable,
    /// The number of the reason that is hardest to remove, and whether it is the only one.
    Kept { reason: u32, alone: bool },
}

/// What one node offers.
#[derive(Clone, Debug)]
pub(crate) struct NodeTally {
    pub(crate) name: String,
    /// By unit: devices needed, and devices that nothing keeps from it.
    pub(crate) units: Vec<(u64, u64)>,
    /// The same devices by the units that they could serve, where there are several units.
    supply: Supply,
    /// Which nodes are alike.
    pub(crate) shape: u32,
    /// Whether some device is of the class of a unit.
    has_class: bool,
}

/// The latest surveys of one cluster: Pods that ask the same on the same nodes see the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surveys(VecDeque<(Question, Arc<Survey>)>);

/// Most devices that are looked at although no node of the question reaches them.
const MOST_ELSEWHERE: usize = 20_000;

/// How many are kept: workloads whose Pods wait in turn.
const MOST_KEPT: usize = 16;

impl Surveys {
    /// What a question sees.
    pub(crate) fn of(&mut self, cluster: &mut Cluster, question: &Question) -> Arc<Survey> {
        let is_it = |(known, _): &&(Question, Arc<Survey>)| {
            let mut claims = known.claims.iter().zip(&question.claims);
            known.claims.len() == question.claims.len()
                && claims.all(|(one, other)| one.spec == other.spec && one.status == other.status)
                && known.nodes == question.nodes
                && known.in_use == question.in_use
        };
        if let Some((_, survey)) = self.0.iter().find(is_it) {
            return Arc::clone(survey);
        }
        let survey = Arc::new(Survey::of(cluster, question));
        // A failure names the claim.
        if survey.failure().is_none() {
            self.0.truncate(MOST_KEPT.saturating_sub(1));
            self.0.push_front((question.clone(), Arc::clone(&survey)));
        }
        survey
    }
}

/// All that was seen.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) units: Vec<UnitSeen>,
    pub(crate) nodes: Vec<NodeTally>,
    /// By unit and device.
    standings: Vec<Vec<Standing>>,
    /// Reasons by number.
    pub(crate) reasons: Interned<Mark>,
    /// Pools that cannot be used, by driver and name.
    pub(crate) bad_pools: BTreeMap<(String, String), PoolState>,
    failure: Option<Box<Failure>>,
    /// What each unit finds, once that was asked.
    pub(crate) requests: OnceLock<Vec<RequestExplanation>>,
    /// Set once it is known that there is no place.
    pub(crate) is_hopeless: OnceLock<()>,
    /// By unit, what tells devices apart that its selectors refuse.
    compared: Vec<Compared>,
    shapes: Shapes,
    /// By the number of a shape.
    by_shape: Vec<Option<Standing>>,
    /// Of the node at hand: by unit, then by device, what the device is to the unit.
    at_hand: Vec<u32>,
    /// By device of that node, whether it serves several claims at once.
    shared_at_hand: Vec<bool>,
}

impl Survey {
    /// Looks at every device of every node of a question.
    pub(crate) fn of(cluster: &mut Cluster, question: &Question) -> Self {
        let units = units(cluster, &question.claims);
        let compared = units.iter().map(|unit| match question.claims.get(unit.claim) {
            Some(claim) => Compared::of(cluster, claim, unit),
            None => Compared::default(),
        });
        let compared = compared.collect();
        let mut survey = Self {
            compared,
            standings: vec![Vec::new(); units.len()],
            units,
            nodes: Vec::new(),
            reasons: Interned::default(),
            bad_pools: BTreeMap::new(),
            failure: None,
            requests: OnceLock::new(),
            is_hopeless: OnceLock::new(),
            shapes: Shapes::default(),
            by_shape: Vec::new(),
            at_hand: Vec::new(),
            shared_at_hand: Vec::new(),
        };
        // No node may be left for a Pod; naming none would ask all.
        if !question.nodes.is_empty() {
            inspect(cluster, question, &mut survey);
        }
        survey.look_elsewhere(cluster);
        survey
    }

    /// Finds the devices of each unit's class that no node of the question reaches.
    fn look_elsewhere(&mut self, cluster: &mut Cluster) {
        let mut left = MOST_ELSEWHERE;
        let mut memory = cluster.lend_memory();
        let facts = &*cluster;
        for unit in 0..self.units.len() {
            let class = self.units.get(unit).and_then(|of_unit| facts.classes().get(&of_unit.class));
            let Some(class) = class else { continue };
            for entry in facts.inventory().all_slices() {
                for (device, index) in entry.slice.spec.devices.iter().zip(entry.devices.iter()) {
                    if left == 0 || self.standing(unit, *index) != Standing::Unseen {
                        continue;
                    }
                    left = left.saturating_sub(1);
                    let mut expressions = class.spec.selectors.iter().filter_map(|selector| selector.cel.as_ref());
                    let is_of_class = expressions.all(|cel| {
                        memory.selectors.matches(facts.profile(), &cel.expression, &entry.slice, device) == Ok(true)
                    });
                    if is_of_class {
                        self.note(unit, *index, Standing::Elsewhere);
                    }
                }
            }
        }
        cluster.return_memory(memory);
    }

    /// What stops the question before any search: the same on every node, or on the first one.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_deref()
    }

    /// What a device is to a unit.
    pub(crate) fn standing(&self, unit: usize, device: DeviceIdx) -> Standing {
        let of_unit = self.standings.get(unit).map(Vec::as_slice).unwrap_or_default();
        of_unit.get(device.position() as usize).copied().unwrap_or(Standing::Unseen)
    }

    /// The first of every kind of nodes that are alike, in the order of the question.
    pub(crate) fn order(&self) -> Vec<String> {
        self.kinds().map(|node| node.name.clone()).collect()
    }

    fn kinds(&self) -> impl Iterator<Item = &NodeTally> {
        let mut seen = BTreeSet::new();
        self.nodes.iter().filter(move |node| seen.insert(node.shape))
    }

    /// The first of every kind of nodes that are alike, nearest first; at most `most` of them.
    pub(crate) fn nearest(&self, most: usize) -> Vec<String> {
        let mut first: Vec<&NodeTally> = self.kinds().collect();
        first.arrange_by_key(|node| std::cmp::Reverse(self.nearness(node)));
        first.into_iter().take(most).map(|node| node.name.clone()).collect()
    }

    /// Devices found, then whether there is a device of a class at all.
    fn nearness(&self, node: &NodeTally) -> (u64, bool) {
        (self.found(node).0, node.has_class)
    }

    /// The node that comes nearest; of equals the first.
    pub(crate) fn closest(&self) -> Option<ClosestNode> {
        let mut best: Option<((u64, bool), &NodeTally)> = None;
        for node in &self.nodes {
            let nearness = self.nearness(node);
            if best.is_none_or(|(most, _)| nearness > most) {
                best = Some((nearness, node));
            }
        }
        let (_, node) = best?;
        let (found, needed) = self.found(node);
        let alike = self.nodes.iter().filter(|other| other.shape == node.shape).count();
        Some(ClosestNode { name: node.name.clone(), found, needed, alike: u64::try_from(alike).unwrap_or(u64::MAX) })
    }

    /// Devices found for all requests, and devices needed; of alternatives the one that comes nearest counts. A device counts for one
    /// request only.
    pub(crate) fn found(&self, node: &NodeTally) -> (u64, u64) {
        let best = self.best(node);
        let needed = best.iter().fold(0u64, |sum, (_, (_, needed))| sum.saturating_add(*needed));
        let lack = match self.scarce(node) {
            Some(scarce) => scarce.lack(),
            None => 0,
        };
        let alone = best.iter().filter(|(unit, _)| self.bit(*unit).is_none());
        let lack = alone.fold(lack, |sum, (_, (found, needed))| sum.saturating_add(needed.saturating_sub(*found)));
        (needed.saturating_sub(lack), needed)
    }

    /// The requests of which a node has too few devices for all of them together.
    pub(crate) fn scarce(&self, node: &NodeTally) -> Option<Scarce> {
        let best = self.best(node).into_iter();
        let needs: Vec<(u64, u64)> =
            best.filter_map(|(unit, (_, needed))| self.bit(unit).map(|bit| (bit, needed))).collect();
        node.supply.scarce(&needs)
    }

    /// By request the unit that comes nearest, with the devices found and needed.
    fn best(&self, node: &NodeTally) -> Vec<(usize, (u64, u64))> {
        let mut best: Vec<(usize, (u64, u64))> = Vec::new();
        let at = |unit: usize| self.units.get(unit).map(|unit| (unit.claim, unit.request));
        let lacks = |(found, needed): (u64, u64)| needed.saturating_sub(found);
        for (unit, (needed, usable)) in node.units.iter().enumerate() {
            let offer = (unit, ((*usable).min(*needed), *needed));
            match best.iter_mut().find(|(known, _)| at(*known) == at(unit)) {
                Some(known) if lacks(offer.1) < lacks(known.1) => *known = offer,
                Some(_) => {}
                None => best.push(offer),
            }
        }
        best
    }

    /// The bit of a unit that competes with others for devices. Of alternatives it is not known which one does; of more units than there are
    /// bits each one is looked at alone.
    pub(crate) fn bit(&self, unit: usize) -> Option<u64> {
        let is_only = |unit: &UnitSeen| !unit.has_admin_access && unit.sub.is_none();
        let is_few = (2..=64).contains(&self.units.len());
        let competes = is_few && self.units.get(unit).is_some_and(is_only);
        u32::try_from(unit).ok().filter(|_| competes).and_then(|at| 1u64.checked_shl(at))
    }

    /// What stands in the way of all devices of a shape.
    fn standing_of(&mut self, shape: u32, obstacles: &[Obstacle<'_>]) -> Standing {
        let position = shape as usize;
        if let Some(Some(known)) = self.by_shape.get(position) {
            return *known;
        }
        let standing = match obstacles.iter().map(mark).min() {
            None => Standing::Usable,
            Some(mark) => Standing::Kept { reason: self.reasons.number(&mark), alone: obstacles.len() == 1 },
        };
        slot(&mut self.by_shape, position, None).into_iter().for_each(|slot| *slot = Some(standing));
        standing
    }

    fn note(&mut self, unit: usize, device: DeviceIdx, standing: Standing) {
        let Some(of_unit) = self.standings.get_mut(unit) else { return };
        let Some(slot) = slot(of_unit, device.position() as usize, Standing::Unseen) else { return };
        let rank = |standing: Standing, reasons: &Interned<Mark>| match standing {
            Standing::Usable => None,
            Standing::Kept { reason, .. } => Some(std::cmp::Reverse(reasons.get(reason).map(|mark| mark.kind))),
            Standing::Unseen | Standing::Elsewhere => Some(std::cmp::Reverse(None)),
        };
        // Nearer is what has a softer reason.
        let is_nearer = match *slot {
            Standing::Unseen | Standing::Elsewhere => true,
            Standing::Usable => false,
            known => rank(standing, &self.reasons) < rank(known, &self.reasons),
        };
        if is_nearer {
            *slot = standing;
        }
    }
}

/// A place in a list, which grows to have it.
fn slot<T: Clone>(list: &mut Vec<T>, position: usize, empty: T) -> Option<&mut T> {
    if list.len() <= position {
        list.resize(position.saturating_add(1), empty);
    }
    list.get_mut(position)
}

impl Observer for Survey {
    fn node(&mut self, node: &NodeSeen<'_>) -> bool {
        for pool in node.pools.iter().filter(|pool| *pool.state != PoolState::Usable) {
            let key = (pool.driver.to_owned(), pool.name.to_owned());
            self.bad_pools.entry(key).or_insert_with(|| pool.state.clone());
        }
        if let Some(failure) = &node.failure {
            self.failure.get_or_insert_with(|| failure.clone());
        }
        let needs = self.units.iter().enumerate().map(|(index, unit)| {
            let need = node.needs.get(index).copied().unwrap_or(unit.count);
            (need.max(1), 0)
        });
        let (name, units, supply) = (node.name.to_owned(), needs.collect(), Supply::default());
        self.nodes.push(NodeTally { name, units, supply, shape: 0, has_class: false });
        self.at_hand.clear();
        self.shared_at_hand.clear();
        true
    }

    fn device(&mut self, unit: usize, device: &DeviceSeen<'_, '_>, obstacles: &[Obstacle<'_>]) {
        let shape = self.shapes.of_device(obstacles, device, self.units.get(unit), self.compared.get(unit));
        self.at_hand.push(shape);
        if unit == 0 {
            self.shared_at_hand.push(device.device.allow_multiple_allocations == Some(true));
        }
        let is_other = |obstacle: &Obstacle<'_>| matches!(mark(obstacle).kind, ReasonKind::NotOfClass);
        if let Some(tally) = self.nodes.last_mut().filter(|node| !node.has_class) {
            tally.has_class = !obstacles.iter().any(is_other);
        }
        let standing = self.standing_of(shape, obstacles);
        if standing == Standing::Usable
            && let Some(tally) = self.nodes.last_mut().and_then(|node| node.units.get_mut(unit))
        {
            tally.1 = tally.1.saturating_add(1);
        }
        self.note(unit, device.index, standing);
    }

    fn done(&mut self) {
        // Each unit was told of the same devices in the same order.
        let count = self.at_hand.len().checked_div(self.units.len()).unwrap_or_default();
        let all = &self.at_hand;
        let of_device = |device: usize| all.iter().skip(device).step_by(count.max(1));
        let mut supply = Supply::default();
        for (device, is_shared) in self.shared_at_hand.iter().enumerate().filter(|_| self.units.len() > 1) {
            let is_usable = |shape: &u32| self.by_shape.get(*shape as usize) == Some(&Some(Standing::Usable));
            let serving = of_device(device).enumerate().filter(|(_, shape)| is_usable(shape));
            let units = serving.filter_map(|(unit, _)| self.bit(unit)).fold(0, |all, bit| all | bit);
            supply.add(units, if *is_shared { u64::MAX } else { 1 });
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.arrange_by(|one, other| of_device(*one).cmp(of_device(*other)));
        let devices: Vec<u32> = order.into_iter().flat_map(of_device).copied().collect();
        if let Some(node) = self.nodes.last_mut() {
            node.supply = supply;
            node.shape = self.shapes.of_node(devices, node.units.iter().map(|unit| unit.0).collect());
        }
    }
}
