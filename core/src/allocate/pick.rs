//! Taking one device for a unit, and putting it back.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::Grid;
use super::capacity::{self, Amounts, Rounding};
use super::constraints::{Constraints, Held, Mark};
use super::counters::Counters;
use super::groups::{Before, Groups};
use super::plan::{Plan, Unit};
use super::pools::{NodeDevice, NodeView, Overlay};
use super::quirks::Quirks;
use super::select::Derived;
use super::taints::tolerated;
use crate::api::claim::AllocationMode;
use crate::api::quantity::Quantity;
use crate::bits::Bits;
use crate::cluster::selectors::SelectorProblem;
use crate::cluster::{Cluster, Draws};
use crate::profile::Features;

/// What has been picked on a node so far.
pub(super) struct State<'s, 'c> {
    cluster: &'c Cluster,
    overlay: &'c Overlay,
    view: &'s NodeView<'c>,
    features: &'c Features,
    rounding: Rounding,
    quirks: Quirks,
    /// Devices that are not taken as a whole.
    free: Bits,
    /// All devices, where some unit has admin access.
    all: Bits,
    /// By device: by how many claims it is held as a whole, and the latest of them plus one.
    holders: SmallVec<[(u32, usize); 2]>,
    /// By shared device that was picked: what is consumed.
    consumed: BTreeMap<usize, Amounts>,
    counters: Counters<'c>,
    groups: Option<Groups<'c>>,
    constraints: Constraints<'c>,
    /// By unit and device: whether the device could grant what the unit asks for if nothing were taken.
    grants: Grid<Grant>,
    /// By unit and shared device: what the unit consumes of it.
    amounts: BTreeMap<(usize, usize), Amounts>,
    /// By unit and device of which requests decide what it draws: that; `None` where a counter does not allow it.
    requested: BTreeMap<(usize, usize), Option<Requested>>,
    /// Whether something happened that known defects of the reference would have done otherwise.
    met_defect: bool,
    /// Whether a later alternative is for all devices.
    has_later_all: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Grant {
    #[default]
    Unknown,
    Never,
    /// Of a device that is not shared: as good as granted.
    Always,
    /// What the unit asks for cannot be computed.
    Fails,
    /// Depends on what else is consumed.
    IfLeft,
}

/// What a device draws from counters because of a request, by capacity (KEP-5941).
type Requested = Arc<BTreeMap<String, Quantity>>;

/// What was drawn for a device.
#[derive(Clone, Default)]
struct Drawn {
    /// Whether that holds what the device draws whoever uses it.
    is_first: bool,
    requested: Option<Requested>,
}

impl Drawn {
    fn draws(&self) -> Draws<'_> {
        Draws { is_first: self.is_first, requested: self.requested.as_deref() }
    }
}

/// A device taken for a unit, and how to put it back.
pub(super) struct Picked<'c> {
    /// The device.
    pub(super) position: usize,
    /// What a share consumes; absent for a device taken as a whole.
    pub(super) share: Option<Amounts>,
    /// The holders before.
    holders: (u32, usize),
    /// Of a share: what was consumed before.
    consumed: Option<Amounts>,
    drawn: Option<Drawn>,
    constraints: Mark,
    /// What the pool's groups were before, where the device says with which it is compatible.
    groups: Option<Before<'c>>,
}

impl Picked<'_> {
    /// What the device draws from counters because of the request, by capacity.
    pub(super) fn requested(&self) -> Option<&BTreeMap<String, Quantity>> {
        self.drawn.as_ref()?.requested.as_deref()
    }
}

/// A counter that a device draws from has too little left, or may not grant that amount.
struct Short;

/// Why a device cannot be taken, where that is an error.
pub(super) enum TakeError {
    /// A constraint of the claim refuses a device that mode `All` needs.
    Constraint,
    /// An attribute that the unit computes could not be computed.
    Derived(String, SelectorProblem),
}

fn free(view: &NodeView<'_>) -> Bits {
    let mut free = Bits::below(view.devices.len());
    for (position, _) in view.devices.iter().enumerate().filter(|(_, device)| device.is_taken()) {
        free.remove(position);
    }
    free
}

impl<'s, 'c> State<'s, 'c> {
    pub(super) fn new(
        cluster: &'c Cluster,
        overlay: &'c Overlay,
        plan: &Plan<'c>,
        view: &'s NodeView<'c>,
        quirks: Quirks,
    ) -> Self {
        let features = &cluster.profile().features;
        let devices = view.devices.len();
        Self {
            cluster,
            overlay,
            view,
            features,
            rounding: Rounding::of(cluster.profile()),
            quirks,
            free: free(view),
            all: if plan.units.iter().any(Unit::has_admin_access) { Bits::below(devices) } else { Bits::default() },
            holders: smallvec![(0, 0); devices],
            consumed: BTreeMap::new(),
            counters: Counters::new(view, quirks),
            groups: features.device_compatibility_groups.then(Groups::default),
            constraints: Constraints::new(plan, devices, features.list_type_attributes, quirks),
            grants: Grid::new(if features.consumable_capacity { plan.units.len() } else { 0 }, devices),
            amounts: BTreeMap::new(),
            requested: BTreeMap::new(),
            met_defect: false,
            has_later_all: plan.units.iter().any(|unit| unit.is_later() && *unit.mode == AllocationMode::All),
        }
    }

    /// The state before anything was picked; what was found out about the devices stays known.
    pub(super) fn start_over(&mut self) {
        self.holders.fill((0, 0));
        self.consumed.clear();
        self.counters = Counters::new(self.view, self.quirks);
        self.groups = self.groups.as_ref().map(|_| Groups::default());
        self.constraints.start_over();
    }

    /// Leaves what was picked taken, for another question of one claim whose requests are not for all devices and have no admin access.
    pub(super) fn settle<'p>(&mut self, picks: impl IntoIterator<Item = &'p Picked<'c>>)
    where
        'c: 'p,
    {
        for picked in picks.into_iter().filter(|picked| picked.share.is_none()) {
            self.free.remove(picked.position);
        }
        self.constraints.start_over();
    }

    /// The devices that a unit may have a look at: without admin access, devices that are taken as a whole are none of them. The
    /// reference passes over those too, before it looks at anything else of them.
    pub(super) fn candidates(&self, unit: &Unit<'c>) -> &Bits {
        if unit.has_admin_access() { &self.all } else { &self.free }
    }

    /// The device as the reference prints it.
    pub(super) fn label(&self, position: usize) -> String {
        self.view.devices.get(position).map(NodeDevice::label).unwrap_or_default()
    }

    /// Whether the device is out of reach, whatever the unit's selectors say.
    ///
    /// Admin access passes over what is in use, except that a claim cannot hold one device twice.
    pub(super) fn is_in_use(&self, unit: &Unit<'c>, position: usize) -> bool {
        let (count, latest) = self.holders.get(position).copied().unwrap_or_default();
        if unit.has_admin_access() {
            // INVARIANT: claims pick one after another, so the latest holder is this claim or an earlier one.
            return count > 0 && latest == unit.claim + 1;
        }
        count > 0 || self.view.devices.get(position).is_some_and(NodeDevice::is_taken)
    }

    /// Whether the device can grant the unit's capacity request now.
    pub(super) fn has_capacity(&mut self, unit: &Unit<'c>, position: usize) -> bool {
        match self.grant(unit, position) {
            Grant::Unknown | Grant::Never | Grant::Fails => false,
            Grant::Always => true,
            Grant::IfLeft => self.is_left(unit, position),
        }
    }

    /// Why what the unit asks of the device's capacities cannot be computed, where that is an error.
    pub(super) fn capacity_problem(&mut self, unit: &Unit<'c>, position: usize) -> Option<String> {
        if self.grant(unit, position) != Grant::Fails {
            return None;
        }
        let device = self.view.devices.get(position)?;
        let asked = capacity::spelt(unit.capacity, device, self.rounding);
        capacity::problem(asked.as_deref(), device.device, self.rounding)
    }

    fn grant(&mut self, unit: &Unit<'c>, position: usize) -> Grant {
        if !self.features.consumable_capacity {
            return Grant::Always;
        }
        let known = self.grants.get(unit.index, position);
        if known != Grant::Unknown {
            return known;
        }
        let Some(device) = self.view.devices.get(position) else {
            return Grant::Never;
        };
        let capacities = &device.device.capacity;
        let taken = device.usage.map(|usage| &usage.consumed);
        let asked = capacity::spelt(unit.capacity, device, self.rounding);
        let grant = if capacity::problem(asked.as_deref(), device.device, self.rounding).is_some() {
            Grant::Fails
        } else {
            match capacity::grantable_amounts(asked.as_deref(), device.device, self.rounding) {
                Some(amounts) if !capacity::are_left(&amounts, capacities, taken, None) => Grant::Never,
                None => Grant::Never,
                Some(_) if !device.is_shared => Grant::Always,
                Some(amounts) => {
                    self.amounts.insert((unit.index, position), amounts);
                    Grant::IfLeft
                }
            }
        };
        self.grants.set(unit.index, position, grant);
        grant
    }

    /// Whether what was picked leaves the unit its share of a device.
    fn is_left(&self, unit: &Unit<'c>, position: usize) -> bool {
        let (Some(device), Some(picked)) = (self.view.devices.get(position), self.consumed.get(&position)) else {
            return true;
        };
        let amounts =
            self.amounts.get(&(unit.index, position)).map_or(&[] as &[Quantity], |amounts| amounts.as_slice());
        let taken = device.usage.map(|usage| &usage.consumed);
        capacity::are_left(amounts, &device.device.capacity, taken, Some(picked))
    }

    /// Whether the device could be picked for the unit if the unit came first, selectors and constraints left aside.
    pub(super) fn is_usable(&mut self, unit: &Unit<'c>, position: usize) -> bool {
        let Some(device) = self.view.devices.get(position) else {
            return false;
        };
        if device.is_out_of_reach
            || self.is_in_use(unit, position)
            || !tolerated(unit, device)
            || !self.has_capacity(unit, position)
        {
            return false;
        }
        if device.device.consumes_counters.is_empty() {
            return true;
        }
        if !self.features.partitionable_devices {
            return false;
        }
        match self.take_counters(unit, position, device) {
            Err(Short) => false,
            Ok(None) => true,
            Ok(Some((drawn, groups))) => {
                self.counters.give_back(device.pool, device.device, &drawn.draws());
                self.put_groups_back(device, groups);
                true
            }
        }
    }

    /// Whether it is still to be computed what a unit sees of a device.
    pub(super) fn wants(&self, unit: &Unit<'c>, position: usize) -> bool {
        self.constraints.wants(unit, position)
    }

    /// Takes in what a unit computes of a device.
    pub(super) fn learn(&mut self, unit: &Unit<'c>, position: usize, derived: Derived) {
        self.constraints.learn(unit, position, derived);
    }

    /// Positions of the constraints that cover a unit.
    pub(super) fn constraints_of(&self, unit: &Unit<'c>) -> &[usize] {
        self.constraints.covering(unit.index)
    }

    /// Number of constraints of all claims.
    pub(super) fn constraints(&self) -> usize {
        self.constraints.len()
    }

    /// Whether a constraint is `matchAttribute`.
    pub(super) fn is_match(&self, constraint: usize) -> bool {
        self.constraints.is_match(constraint)
    }

    /// The expression by which a unit computes what a constraint looks at; `None` where the device's own attribute counts.
    pub(super) fn expression(&self, constraint: usize, unit: &Unit<'c>) -> Option<&'c str> {
        self.constraints.expression(constraint, unit)
    }

    /// What a constraint sees of a device that a unit picks; `None` where that could not be computed.
    pub(super) fn held(&mut self, unit: &Unit<'c>, constraint: usize, position: usize) -> Option<Held> {
        match self.view.devices.get(position) {
            Some(device) => self.constraints.held_by(constraint, unit, position, device).ok(),
            None => Some(Held::Missing),
        }
    }

    /// The numbers of the values in a set.
    pub(super) fn items(&self, held: Held) -> &[u32] {
        self.constraints.items(held)
    }

    /// How many different values constraints saw.
    pub(super) fn values(&self) -> usize {
        self.constraints.values()
    }

    /// What a pool's counters of one name have left, all sets together.
    pub(super) fn counters_left(&mut self, pool_position: usize, counter: &str) -> Quantity {
        match self.view.pools.get(pool_position) {
            Some(pool) => self.counters.left(pool, pool_position, counter),
            None => Quantity::default(),
        }
    }

    /// All that counters of some pools have left, as text.
    pub(super) fn counters_text(&self, is_seen: impl Fn(usize) -> bool) -> String {
        let mut text = self.counters.describe(&is_seen);
        if let Some(groups) = &self.groups {
            groups.describe(&is_seen, &mut text);
        }
        text
    }

    /// Appends what a constraint remembers.
    pub(super) fn describe_constraint(&self, constraint: usize, key: &mut Vec<u32>) {
        self.constraints.describe(constraint, key);
    }

    /// What is consumed of a shared device that was picked.
    pub(super) fn share_text(&self, position: usize) -> Option<String> {
        self.consumed.get(&position).map(|amounts| format!("{amounts:?}"))
    }

    /// Who holds a device that is not shared: nobody (0), earlier claims (1), or this one (2).
    pub(super) fn holder(&self, position: usize, claim: usize) -> u32 {
        match self.holders.get(position) {
            None | Some((0, _)) => 0,
            Some((_, latest)) if *latest == claim + 1 => 2,
            Some(_) => 1,
        }
    }

    /// Whether two devices of one class are in the same state, so that one can stand for the other.
    pub(super) fn is_same_state(&self, a: usize, b: usize, claim: usize) -> bool {
        self.holder(a, claim) == self.holder(b, claim) && self.consumed.get(&a) == self.consumed.get(&b)
    }

    /// Whether a defect of the reference that is reproduced can show on this node. Then nothing may be skipped.
    pub(super) fn has_defects(&self) -> bool {
        let draws = |device: &NodeDevice<'_>| device.is_shared || !device.device.consumes_counters.is_empty();
        let has_leaks = self.quirks.counter_rollback || self.quirks.empty_share || self.quirks.counters_by_pool_id;
        self.constraints.has_defects()
            || (has_leaks && self.view.devices.iter().any(draws))
            || (self.quirks.all_alternative && self.has_later_all)
    }

    /// Whether the first alternative goes on after a device of a later one for all devices.
    pub(super) fn forgets_alternative(&mut self) -> bool {
        self.met_defect = true;
        self.quirks.all_alternative
    }

    /// Whether something happened so far that known defects of the reference would have done otherwise. Until then a plain search
    /// with those defects makes the very same steps.
    pub(super) fn met_defect(&self) -> bool {
        self.met_defect || self.constraints.met_defect()
    }

    /// Takes a device that the unit's selectors accept and that has the capacity. `None` when it cannot be taken.
    ///
    /// A device that mode `All` needs is fixed: it was found to have the capacity before anything was picked.
    ///
    /// # Errors
    ///
    /// When only a constraint of the claim is in the way of a fixed device.
    pub(super) fn take(
        &mut self,
        unit: &Unit<'c>,
        position: usize,
        is_fixed: bool,
    ) -> Result<Option<Picked<'c>>, TakeError> {
        let Some(device) = self.view.devices.get(position) else {
            return Ok(None);
        };
        if self.is_in_use(unit, position) || device.is_out_of_reach {
            return Ok(None);
        }
        let draws = !device.device.consumes_counters.is_empty();
        if draws && !self.features.partitionable_devices {
            return Ok(None);
        }
        let taken = if draws { self.take_counters(unit, position, device) } else { Ok(None) };
        let Ok(taken) = taken else {
            return Ok(None);
        };
        if !tolerated(unit, device) {
            self.reject(device, taken);
            return Ok(None);
        }
        let constraints = self.constraints.mark();
        match self.constraints.add(unit, position, device) {
            Ok(true) => {}
            Ok(false) => {
                self.reject(device, taken);
                return if is_fixed { Err(TakeError::Constraint) } else { Ok(None) };
            }
            Err((attribute, problem)) => return Err(TakeError::Derived(attribute, problem)),
        }
        if is_fixed && !self.has_capacity(unit, position) {
            self.reject(device, taken);
            self.met_defect = true;
            if self.quirks.counter_rollback {
                self.constraints.leak(constraints);
            } else {
                self.constraints.undo(constraints);
            }
            return Ok(None);
        }
        Ok(Some(self.record(unit, position, device, taken, constraints)))
    }

    fn record(
        &mut self,
        unit: &Unit<'c>,
        position: usize,
        device: &NodeDevice<'c>,
        taken: Option<(Drawn, Before<'c>)>,
        constraints: Mark,
    ) -> Picked<'c> {
        let holders = self.holders.get(position).copied().unwrap_or_default();
        let (drawn, groups) = taken.unzip();
        let mut picked = Picked { position, share: None, holders, consumed: None, drawn, constraints, groups };
        if device.is_shared {
            let amounts = self.amounts.get(&(unit.index, position)).cloned().unwrap_or_default();
            picked.consumed = match self.consumed.get_mut(&position) {
                Some(before) => {
                    let sums = before.iter().zip(&amounts).map(|(sum, amount)| sum.saturating_add(amount)).collect();
                    Some(std::mem::replace(before, sums))
                }
                None => {
                    self.consumed.insert(position, amounts.clone());
                    None
                }
            };
            picked.share = Some(amounts);
        } else if let Some(slot) = self.holders.get_mut(position) {
            *slot = (holders.0.saturating_add(1), unit.claim + 1);
        }
        picked
    }

    /// Undoes [`State::take`]. Picks are put back in the reverse order of taking.
    pub(super) fn put_back(&mut self, picked: Picked<'c>) {
        let Some(device) = self.view.devices.get(picked.position) else {
            return;
        };
        self.constraints.undo(picked.constraints);
        if let Some(before) = picked.groups {
            self.put_groups_back(device, before);
        }
        self.met_defect |= device.is_shared;
        let leaks = device.is_shared && self.quirks.counter_rollback;
        if let Some(drawn) = picked.drawn
            && !leaks
        {
            self.counters.give_back(device.pool, device.device, &drawn.draws());
        }
        if let Some(slot) = self.holders.get_mut(picked.position) {
            *slot = picked.holders;
        }
        if let Some(amounts) = &picked.share {
            match picked.consumed {
                Some(before) => drop(self.consumed.insert(picked.position, before)),
                // The defect: without any amount the device stays marked as one with shares.
                None if leaks && amounts.is_empty() => {}
                None => drop(self.consumed.remove(&picked.position)),
            }
        }
    }

    /// Whether a share of the device holds its counters already.
    fn has_shares(&mut self, device: &NodeDevice<'c>, position: usize) -> bool {
        self.met_defect |= device.usage.is_some_and(|usage| usage.consumed.is_empty() && usage.shares > 0);
        let is_known = |usage: &crate::cluster::Usage| {
            // The defect: a share of a device without capacities is overlooked.
            !usage.consumed.is_empty() || (usage.shares > 0 && !self.quirks.empty_share)
        };
        self.consumed.contains_key(&position) || device.usage.is_some_and(is_known)
    }

    /// Draws what the unit's device draws, and joins the groups of its counter sets. `None` where there is nothing to draw.
    ///
    /// The first share of a device draws for all of them, and each what its request asks for.
    fn take_counters(
        &mut self,
        unit: &Unit<'c>,
        position: usize,
        device: &NodeDevice<'c>,
    ) -> Result<Option<(Drawn, Before<'c>)>, Short> {
        let is_first = !(device.is_shared && self.has_shares(device, position));
        let requested = self.requested(unit, position, device)?;
        if !is_first && requested.is_none() {
            return Ok(None);
        }
        let pool = self.view.pools.get(device.pool).ok_or(Short)?;
        let groups = if is_first { self.take_groups(device).ok_or(Short)? } else { Before::default() };
        let drawn = Drawn { is_first, requested };
        if !self.counters.take(pool, device.pool, device.device, &drawn.draws()) {
            self.put_groups_back(device, groups);
            return Err(Short);
        }
        Ok(Some((drawn, groups)))
    }

    /// What the device draws because of the unit's request; `None` where requests do not matter.
    fn requested(
        &mut self,
        unit: &Unit<'c>,
        position: usize,
        device: &NodeDevice<'c>,
    ) -> Result<Option<Requested>, Short> {
        if device.device.capacity_keys().next().is_none() {
            return Ok(None);
        }
        let key = (unit.index, position);
        if let Some(known) = self.requested.get(&key) {
            return known.clone().map(Some).ok_or(Short);
        }
        let pool = self.view.pools.get(device.pool).ok_or(Short)?;
        let found = self.counters.requested(pool, device.pool, unit, device.device, self.rounding).map(Arc::new);
        self.requested.insert(key, found.clone());
        found.map(Some).ok_or(Short)
    }

    /// Joins the groups of a device's counter sets; `None` where it is not compatible with what is there.
    fn take_groups(&mut self, device: &NodeDevice<'c>) -> Option<Before<'c>> {
        let pool = self.view.pools.get(device.pool)?;
        match &mut self.groups {
            Some(groups) => groups.take(self.cluster, self.overlay, pool, device),
            None => Some(Before::default()),
        }
    }

    fn put_groups_back(&mut self, device: &NodeDevice<'c>, before: Before<'c>) {
        if let Some(groups) = &mut self.groups {
            groups.put_back(device.pool, before);
        }
    }

    /// Gives the counters of a rejected candidate back, and leaves their groups.
    fn reject(&mut self, device: &NodeDevice<'c>, taken: Option<(Drawn, Before<'c>)>) {
        let Some((drawn, before)) = taken else {
            return;
        };
        self.met_defect = true;
        if !self.quirks.counter_rollback {
            self.counters.give_back(device.pool, device.device, &drawn.draws());
        }
        self.put_groups_back(device, before);
    }
}
