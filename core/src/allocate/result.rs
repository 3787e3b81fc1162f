//! From a solution to the allocation of each claim.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::capacity;
use super::failure::{Fatal, node_selector_terms};
use super::pick::Picked;
use super::plan::{ClaimPlan, Plan, RequestPlan, Unit};
use super::pools::{NodeDevice, NodeView};
use super::quirks::Quirks;
use super::search::Solution;
use crate::api::claim::{
    AllocationConfigSource, AllocationResult, DeviceAllocationConfiguration, DeviceClaimConfiguration,
    DeviceRequestAllocationResult, GrantedDevice,
};
use crate::api::node::{NodeSelector, NodeSelectorRequirement, NodeSelectorTerm};
use crate::api::read::Rest;
use crate::derive;
use crate::profile::{Profile, Version};

/// What allocations on one node for equal claims have in common.
#[derive(Default)]
pub(super) struct Common {
    /// The node selector of devices that are bound to the node, once there are some.
    bound: Option<Arc<NodeSelector>>,
    /// By unit and shared device: what was granted.
    granted: BTreeMap<(usize, usize), Arc<GrantedDevice>>,
}

/// Builds the allocations, one per claim in the order of the question.
///
/// # Errors
///
/// A slice whose node selector cannot be carried over.
pub(super) fn build(
    plan: &Plan<'_>,
    view: &NodeView<'_>,
    node: &str,
    profile: &Profile,
    quirks: Quirks,
    solution: &Solution<'_>,
    common: &mut Common,
) -> Result<Vec<Arc<AllocationResult>>, Fatal> {
    let mut allocations = Vec::with_capacity(plan.claims.len());
    for (position, claim) in plan.claims.iter().enumerate() {
        let mut allocation = AllocationResult::default();
        let is_own = |(unit, _): &&(usize, _)| plan.units.get(*unit).is_some_and(|unit| unit.claim == position);
        let count = solution.picks.iter().filter(is_own).count();
        allocation.devices.results.reserve_exact(count);
        let mut devices: SmallVec<[&NodeDevice<'_>; 4]> = SmallVec::new();
        for (unit, picked) in &solution.picks {
            let (Some(unit), Some(device)) = (plan.units.get(*unit), view.devices.get(picked.position)) else {
                continue;
            };
            if unit.claim != position {
                continue;
            }
            let ordinal = allocation.devices.results.len();
            let share_id = picked
                .share
                .is_some()
                .then(|| derive::share_id(&claim.claim.metadata, position, &unit.full_name, ordinal));
            let granted = if share_id.is_some() {
                // What a unit gets of a shared device is the same each time.
                let known = common.granted.entry((unit.index, picked.position));
                Arc::clone(known.or_insert_with(|| Arc::new(granted(unit, device, picked, profile))))
            } else {
                Arc::new(granted(unit, device, picked, profile))
            };
            allocation.devices.results.push(DeviceRequestAllocationResult { share_id, granted });
            devices.push(device);
        }
        allocation.devices.config = config(plan, claim, profile, quirks, solution);
        allocation.node_selector = node_selector(&devices, node, claim, &mut common.bound)?;
        allocations.push(Arc::new(allocation));
    }
    Ok(allocations)
}

fn granted(unit: &Unit<'_>, device: &NodeDevice<'_>, picked: &Picked<'_>, profile: &Profile) -> GrantedDevice {
    let waits = profile.features.device_binding_and_status;
    let conditions = |list: &Option<Vec<String>>| list.clone().filter(|_| waits).unwrap_or_default();
    let consumed = picked.share.as_ref().map(|amounts| capacity::named(amounts, &device.device.capacity));
    let mut consumed_capacity = consumed.unwrap_or_default();
    for (name, amount) in picked.requested().into_iter().flatten() {
        consumed_capacity.insert(name.clone(), amount.clone());
    }
    GrantedDevice {
        request: unit.full_name.to_string(),
        driver: device.slice.spec.driver.clone(),
        pool: device.slice.spec.pool.name.clone(),
        device: device.device.name.clone(),
        admin_access: unit.has_admin_access().then_some(true),
        tolerations: unit.tolerations.to_vec(),
        binding_conditions: conditions(&device.device.binding_conditions),
        binding_failure_conditions: conditions(&device.device.binding_failure_conditions),
        consumed_capacity,
        skip_node_operations: if profile.version >= Version::V1_37 {
            device.slice.spec.skip_node_operations.clone()
        } else {
            Vec::new()
        },
        rest: Rest::default(),
    }
}

/// The units chosen for a claim's requests.
fn chosen<'p, 'q>(plan: &'p Plan<'q>, claim: &ClaimPlan<'q>, solution: &Solution<'_>) -> SmallVec<[&'p Unit<'q>; 4]> {
    let units = solution.chosen.get(claim.requests.clone()).unwrap_or_default();
    units.iter().filter_map(|unit| plan.units.get(*unit)).collect()
}

fn config(
    plan: &Plan<'_>,
    claim: &ClaimPlan<'_>,
    profile: &Profile,
    quirks: Quirks,
    solution: &Solution<'_>,
) -> Vec<DeviceAllocationConfiguration> {
    let units = chosen(plan, claim, solution);
    let mut config: Vec<DeviceAllocationConfiguration> = Vec::new();
    let mut by_class: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
    for unit in units.iter().filter(|unit| unit.class.is_some_and(|class| !class.spec.config.is_empty())) {
        if let Some((_, range)) = by_class.iter().find(|(class, _)| *class == unit.class_number) {
            for entry in config.get_mut(range.clone()).into_iter().flatten() {
                entry.requests.push(unit.full_name.to_string());
            }
            continue;
        }
        let first = config.len();
        for of_class in unit.class.iter().flat_map(|class| &class.spec.config) {
            config.push(entry(AllocationConfigSource::FromClass, vec![unit.full_name.to_string()], of_class));
        }
        by_class.push((unit.class_number, first..config.len()));
    }
    let requests = plan.requests_of(claim);
    for of_claim in &claim.claim.spec.devices.config {
        let names = &of_claim.requests;
        let is_for = |name: &str, unit: &Unit<'_>| {
            names.iter().any(|wanted| wanted == name || (unit.sub.is_some() && *wanted == unit.full_name))
        };
        let covered = requests.iter().zip(&units).filter(|(request, unit)| is_for(&request.request.name, unit)).count();
        let times = match covered {
            0 => usize::from(names.is_empty()),
            _ if quirks.config_once => covered,
            _ => 1,
        };
        for _ in 0..times {
            config.push(entry(AllocationConfigSource::FromClaim, names.clone(), of_claim));
        }
    }
    if profile.version >= Version::V1_37 {
        // From 1.37 on, an entry for every request of the claim is written like one that names none.
        let is_covered = |names: &[String], (request, unit): (&RequestPlan<'_>, &&Unit<'_>)| {
            names.iter().any(|name| *name == request.request.name || *name == unit.full_name)
        };
        for entry in &mut config {
            if requests.iter().zip(&units).all(|pair| is_covered(&entry.requests, pair)) {
                entry.requests.clear();
            }
        }
    }
    config
}

fn entry(
    source: AllocationConfigSource,
    requests: Vec<String>,
    from: &DeviceClaimConfiguration,
) -> DeviceAllocationConfiguration {
    DeviceAllocationConfiguration { source, requests, opaque: from.opaque.clone(), rest: from.rest.clone() }
}

/// Where the devices can be used together: on this node alone as soon as one of them is local to it, else where all
/// their selectors hold.
fn node_selector(
    devices: &[&NodeDevice<'_>],
    node: &str,
    claim: &ClaimPlan<'_>,
    bound: &mut Option<Arc<NodeSelector>>,
) -> Result<Option<Arc<NodeSelector>>, Fatal> {
    let mut term = NodeSelectorTerm::default();
    for device in devices {
        let spec = &device.slice.spec;
        let (name, selector) = if spec.per_device_node_selection == Some(true) {
            (&device.device.node_name, &device.device.node_selector)
        } else {
            (&spec.node_name, &spec.node_selector)
        };
        if name.is_some() || device.device.binds_to_node == Some(true) {
            return Ok(Some(Arc::clone(bound.get_or_insert_with(|| Arc::new(NodeSelector::of_node(node))))));
        }
        match selector.as_ref().map_or(&[] as &[NodeSelectorTerm], |selector| &selector.terms) {
            [] => {}
            [only] => {
                add_new(&only.match_fields, &mut term.match_fields);
                add_new(&only.match_expressions, &mut term.match_expressions);
            }
            terms => return Err(node_selector_terms(claim.claim, &device.slice.metadata.name, terms.len())),
        }
    }
    let is_empty = term.match_fields.is_empty() && term.match_expressions.is_empty();
    Ok((!is_empty).then(|| Arc::new(NodeSelector { terms: vec![term], ..NodeSelector::default() })))
}

fn add_new(from: &[NodeSelectorRequirement], to: &mut Vec<NodeSelectorRequirement>) {
    let contains = |a: &[String], b: &[String]| b.iter().all(|value| a.contains(value));
    for requirement in from {
        let is_known = to.iter().any(|known| {
            known.key == requirement.key
                && known.operator == requirement.operator
                && contains(&known.values, &requirement.values)
                && contains(&requirement.values, &known.values)
        });
        if !is_known {
            to.push(requirement.clone());
        }
    }
}
