//! Why a node was refused: how many devices survive each test of each request, and why those that match cannot serve it.

use std::collections::{BTreeMap, BTreeSet};

use super::counters::{Counters, has_counters};
use super::failure::invalid_pools;
use super::groups::Groups;
use super::inspect::{Inspection, Obstacle, covering, is_in_use, lacking};
use super::node::Asking;
use super::plan::Unit;
use super::pools::{NodeDevice, NodeView, PoolView, gather};
use super::precheck::{Need, check};
use super::quirks::Quirks;
use super::select::{Verdict, Verdicts, must_wait};
use super::taints::tolerated;
use super::{Budget, Failure, Inability, NodeRefusal, RequestFunnel, Unable, capacity};
use crate::api::node::Node;
use crate::api::quantity::Quantity;
use crate::api::slice::ResourceSliceSpec;
use crate::cluster::{PoolState, SliceEntry, hides_slices, incomplete, is_for, missing_gate};
use crate::gather::Gather;

/// A refusal without reasons.
pub(super) fn empty(node: &Node) -> NodeRefusal {
    NodeRefusal { node: node.metadata.name.clone(), failure: None, requests: Vec::new() }
}

/// Why the claims do not fit on a node that was refused, and what each request finds on it.
///
/// Every request is looked at alone, as if it came first. Selectors that fail count as refusing.
pub(super) fn refusal(asking: &mut Asking<'_, '_>, node: &Node) -> NodeRefusal {
    let (plan, profile) = (asking.plan, asking.cluster.profile());
    let mut refusal = empty(node);
    let Ok(view) = gather(asking.cluster, asking.pools, asking.overlay, node, asking.judge.selectors()) else {
        return refusal;
    };
    let inspection = Inspection { cluster: asking.cluster, plan, overlay: asking.overlay };
    let mut verdicts = Verdicts::new(plan, &view, node, profile, asking.judge);
    let needs = check(plan, &view, profile, &mut verdicts, &mut Budget::unlimited()).unwrap_or_default();
    fill(&mut refusal, &inspection, &view, &mut verdicts, &needs);
    refusal
}

/// Fills in the reasons.
pub(super) fn fill<'c>(
    refusal: &mut NodeRefusal,
    inspection: &Inspection<'_, 'c>,
    view: &NodeView<'c>,
    verdicts: &mut Verdicts<'_, 'c>,
    needs: &[Need],
) {
    refusal.failure = failure(view);
    let plan = inspection.plan;
    let mut counters = Counters::new(view, Quirks::default());
    // A slice whose devices choose their nodes may have some for other nodes.
    let is_elsewhere = |device: &&NodeDevice<'_>| {
        let chooses = device.slice.spec.per_device_node_selection == Some(true);
        chooses && !is_for(verdicts.node(), device.slice, device.device)
    };
    let elsewhere = view.devices.iter().filter(is_elsewhere).count();
    let mut groups = inspection.cluster.profile().features.device_compatibility_groups.then(Groups::default);
    for unit in &plan.units {
        let covering = covering(plan, unit);
        let claim = plan.claims.get(unit.claim).map(|claim| claim.claim.metadata.name.clone());
        let mut funnel = RequestFunnel {
            claim: claim.unwrap_or_default(),
            request: unit.full_name.to_string(),
            // Mode `All` needs at least one.
            needed: needs.get(unit.index).map_or(unit.count, |need| need.count.max(u64::from(need.all.is_some()))),
            devices: u64::try_from(view.devices.len().saturating_sub(elsewhere)).unwrap_or(u64::MAX),
            matching: 0,
            able: 0,
            tolerated: 0,
            free: 0,
            unable: Vec::new(),
        };
        let mut kept = Vec::new();
        for (position, device) in view.devices.iter().enumerate() {
            match verdicts.verdict(unit, position) {
                Verdict::Accepted
                    if tolerated(unit, device)
                        && lacking(unit, &covering, device).next().is_none()
                        && is_free(inspection, view, &mut counters, unit, device) =>
                {
                    funnel.matching += 1;
                    funnel.free += 1;
                }
                Verdict::Accepted => kept.push(device),
                Verdict::Refused if must_wait(inspection.cluster.profile(), device) => {
                    kept.extend(verdicts.would_accept(unit, device).then_some(device));
                }
                Verdict::Refused | Verdict::Failed | Verdict::Unknown => {}
            }
        }
        funnel.matching += u64::try_from(kept.len()).unwrap_or(u64::MAX);
        let (mut unable, mut tainted) = (Reasons::default(), 0);
        for device in kept {
            let found = inspection.of_itself(unit, &covering, device, view, &mut groups);
            let found = found.into_iter().filter_map(|obstacle| inability(obstacle, &covering, device));
            let hardest = found.min_by_key(|(why, ..)| *why);
            let (is_unable, is_tolerated) =
                (hardest.as_ref().is_some_and(|(why, ..)| !why.is_of_use()), tolerated(unit, device));
            match (is_unable, is_tolerated) {
                (true, _) => {}
                (false, true) => funnel.tolerated += 1,
                (false, false) => tainted += 1,
            }
            if is_unable || is_tolerated && !is_in_use(unit, device) {
                hardest.into_iter().for_each(|reason| unable.add(reason));
            }
        }
        funnel.tolerated += funnel.free;
        funnel.able = funnel.tolerated + tainted;
        if funnel.matching < funnel.needed.max(1) {
            unable.of_slices(inspection, view, unit, verdicts);
        }
        funnel.unable = unable.told();
        refusal.requests.push(funnel);
    }
}

/// Devices that cannot serve a request, by reason and what it is about, with the most that one of them has where that is too little.
#[derive(Default)]
struct Reasons(BTreeMap<(Inability, String), Amounts>);

/// Number of devices, and two amounts.
type Amounts = (u64, Option<Quantity>, Option<Quantity>);

/// A reason, what it is about, how much is needed of it and how much there is.
type Reason = (Inability, String, Option<Quantity>, Option<Quantity>);

/// Why an obstacle keeps a device that matches from serving; nothing where the selectors, taints and claims say it.
fn inability(obstacle: Obstacle<'_>, covering: &[(usize, &str)], device: &NodeDevice<'_>) -> Option<Reason> {
    Some(match obstacle {
        Obstacle::FeatureOff { gate } => (Inability::FeatureOff, gate.to_owned(), None, None),
        Obstacle::NeedsDriver if device.usage.is_some_and(|usage| usage.is_barred) => return None,
        Obstacle::NeedsDriver => (Inability::NeedsDriver, String::new(), None, None),
        Obstacle::ConstraintMissing { constraint } => {
            let (_, attribute) = covering.iter().find(|(index, _)| *index == constraint)?;
            (Inability::ConstraintMissing, format!("`{attribute}` of `constraints[{constraint}]`"), None, None)
        }
        Obstacle::CapacityNever { name, needs, has } => (Inability::CapacityNever, name, needs, has),
        Obstacle::CounterNever { counter, needs, total, .. } => {
            (Inability::CounterNever, counter, Some(needs), Some(total))
        }
        Obstacle::OtherGroup { set } => (Inability::OtherGroup, set, None, None),
        Obstacle::CounterShort { counter, needs, left, .. } => {
            (Inability::CounterShort, counter, Some(needs), Some(left))
        }
        Obstacle::CapacityShort { name, needs, left } => (Inability::CapacityShort, name, Some(needs), Some(left)),
        Obstacle::SelectorFalse { .. }
        | Obstacle::SelectorFails { .. }
        | Obstacle::OtherNode
        | Obstacle::Taint(_)
        | Obstacle::InUse => return None,
    })
}

impl Reasons {
    fn add(&mut self, (why, what, needs, has): Reason) {
        let entry = self.0.entry((why, what)).or_default();
        entry.0 = entry.0.saturating_add(1);
        entry.1 = entry.1.take().or(needs);
        entry.2 = entry.2.take().max(has);
    }

    fn told(self) -> Vec<Unable> {
        let told = self.0.into_iter().map(|((why, what), (devices, needs, has))| {
            let detail = match (why, needs, has) {
                (Inability::CapacityShort | Inability::CounterShort, Some(needs), Some(has)) if needs > has => {
                    let most = if has.signum() > 0 { has.to_string() } else { "none".to_owned() };
                    format!("{needs} of `{what}`, the most that is left is {most}")
                }
                (Inability::CapacityNever | Inability::CounterNever, Some(needs), Some(has)) if needs > has => {
                    format!("{needs} of `{what}`, the most that one has is {has}")
                }
                (Inability::CapacityNever, Some(needs), Some(_)) => {
                    format!("{needs} of `{what}`, which the request policies do not allow")
                }
                (Inability::CapacityNever, ..) => format!("there is no `{what}`"),
                (
                    Inability::PoolIncomplete
                    | Inability::PoolInvalid
                    | Inability::NeedsDriver
                    | Inability::ConstraintMissing,
                    ..,
                ) => what,
                _ => format!("`{what}`"),
            };
            Unable { why, detail, devices }
        });
        told.collect()
    }

    /// Counts the devices of slices for the node that give it none: of pools that cannot be used, and what a feature gate keeps away.
    fn of_slices<'c>(
        &mut self,
        inspection: &Inspection<'_, 'c>,
        view: &NodeView<'c>,
        unit: &Unit<'c>,
        verdicts: &mut Verdicts<'_, 'c>,
    ) {
        let (cluster, node) = (inspection.cluster, verdicts.node());
        let inventory = cluster.inventory();
        let is_usual =
            view.pools.iter().all(|pool| pool.state == PoolState::Usable) && !hides_slices(cluster.profile());
        let of_all = if is_usual { Vec::new() } else { inventory.slices_without_node_for(node) };
        for entry in inventory.slices_of_node(&node.metadata.name).chain(of_all) {
            let Some((why, detail)) = of_slice(inspection, view, entry) else { continue };
            let ResourceSliceSpec { driver, pool, .. } = &entry.slice.spec;
            let newest = cluster.newest_of_pool(driver, &pool.name).into_iter();
            // What a newer slice publishes is counted there.
            let newer = newest.filter(|slice| slice.spec.pool.generation > pool.generation);
            let newer: BTreeSet<&str> = newer.flat_map(|slice| &slice.spec.devices).map(|one| &*one.name).gather();
            for position in 0..entry.devices.len() {
                let Some(device) = NodeDevice::unused(entry, position) else { continue };
                let is_current = !newer.contains(device.device.name.as_str());
                if is_current && is_for(node, &entry.slice, device.device) && verdicts.would_accept(unit, &device) {
                    self.add((why, detail.clone(), None, None));
                }
            }
        }
    }
}

/// Why a slice gives a node no devices; nothing where its pool can be used.
fn of_slice(inspection: &Inspection<'_, '_>, view: &NodeView<'_>, entry: &SliceEntry) -> Option<(Inability, String)> {
    if let Some(gate) = missing_gate(inspection.cluster.profile(), &entry.slice) {
        return Some((Inability::FeatureOff, gate.to_owned()));
    }
    let (spec, pool) = (&entry.slice.spec, &entry.slice.spec.pool);
    let seen = view.pools.iter().find(|seen| seen.name == pool.name && seen.driver == spec.driver);
    let name = &pool.name;
    match seen.map(|seen| &seen.state) {
        Some(PoolState::Usable) => return None,
        Some(PoolState::Invalid(reason)) => return Some((Inability::PoolInvalid, format!("pool `{name}`: {reason}"))),
        Some(PoolState::Incomplete) | None => {}
    }
    let slices = inspection.cluster.inventory().slices_of_pool(entry.pool);
    let newest = slices.map(|entry| entry.slice.spec.pool.generation).max().unwrap_or(pool.generation);
    let detail = match newest == pool.generation || seen.is_some() {
        false => format!("pool `{name}` is at generation {newest}, its slice for the node at {}", pool.generation),
        true => incomplete(inspection.cluster, entry.pool),
    };
    Some((Inability::PoolIncomplete, detail))
}

/// The reference names invalid pools, of whatever driver, when nothing fits.
fn failure(view: &NodeView<'_>) -> Option<Failure> {
    let describe = |pool: &PoolView<'_>| match &pool.state {
        PoolState::Invalid(reason) => Some(format!("`{}` of `{}`: {reason}", pool.name, pool.driver)),
        PoolState::Usable | PoolState::Incomplete => None,
    };
    let invalid: Vec<String> = view.pools.iter().filter_map(describe).collect();
    (!invalid.is_empty()).then(|| invalid_pools(&invalid))
}

/// Whether nothing that claims in the cluster hold keeps the device from the unit.
fn is_free<'c>(
    inspection: &Inspection<'_, 'c>,
    view: &NodeView<'c>,
    counters: &mut Counters<'c>,
    unit: &Unit<'c>,
    device: &NodeDevice<'c>,
) -> bool {
    let profile = inspection.cluster.profile();
    let features = &profile.features;
    let is_reachable = !device.is_out_of_reach && (unit.has_admin_access() || !device.is_taken());
    let capacities = &device.device.capacity;
    let has_capacity = || {
        let rounding = capacity::Rounding::of(profile);
        let asked = capacity::spelt(unit.capacity, device, rounding);
        let amounts = capacity::grantable_amounts(asked.as_deref(), device.device, rounding);
        let taken = device.usage.map(|usage| &usage.consumed);
        amounts.is_some_and(|amounts| capacity::are_left(&amounts, capacities, taken, None))
    };
    is_reachable
        && (!features.consumable_capacity || has_capacity())
        && has_counters(profile, view, counters, unit, device)
}
