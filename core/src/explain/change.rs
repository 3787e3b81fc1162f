//! Changes to claims, classes and the cluster, and the question whether they help.

use serde::{Deserialize, Serialize};

use super::case::Case;
use crate::allocate::{DeviceId, Limits, Place, Question, find_place};
use crate::api::claim::{
    DeviceClaim, DeviceSelector, DeviceSubRequest, DeviceToleration, ExactDeviceRequest, ResourceClaim,
    TolerationOperator,
};
use crate::api::object::Object;
use crate::api::quantity::Quantity;
use crate::api::slice::{Device, ResourceSlice};
use crate::cluster::Cluster;
use crate::finding::ObjectRef;

/// One change. Claims are named without their namespace; requests as `request` or `request/subrequest`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// A selector of a request gets another expression.
    ChangeSelector {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// Position of the selector, from 0.
        index: u64,
        /// The expression so far.
        from: String,
        /// The new expression.
        to: String,
    },
    /// The claim is placed on nodes that were not looked at.
    UseNodes {
        /// Their names.
        nodes: Vec<String>,
    },
    /// A taint is tolerated.
    Tolerate {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// The taint, as `key=value:effect`.
        taint: String,
    },
    /// Less of a capacity is asked for.
    LowerCapacity {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// Name of the capacity.
        name: String,
        /// The quantity so far.
        from: String,
        /// The new quantity.
        to: String,
    },
    /// Fewer devices are asked for.
    LowerCount {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// The count so far.
        from: u64,
        /// The new count.
        to: u64,
    },
    /// A constraint is left out.
    DropConstraint {
        /// Claim.
        claim: String,
        /// Position of the constraint, from 0.
        index: u64,
        /// What it says.
        text: String,
    },
    /// A selector of a request is left out.
    DropSelector {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// Position of the selector, from 0.
        index: u64,
        /// The expression.
        expression: String,
    },
    /// Devices of another class will do, too.
    AddAlternative {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// The other class.
        class: String,
    },
    /// A claim gives its devices back.
    FreeClaim {
        /// The claim, as `namespace/name`.
        claim: String,
        /// Who uses it.
        consumers: Vec<String>,
        /// The highest priority of its Pods.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        priority: Option<i64>,
    },
    /// A selector of a class gets another expression.
    ChangeClass {
        /// Name of the class.
        class: String,
        /// Position of the selector, from 0.
        index: u64,
        /// The expression so far.
        from: String,
        /// The new expression.
        to: String,
    },
    /// More devices are added to a node.
    AddDevices {
        /// How many.
        count: u64,
        /// Their class.
        class: String,
        /// A device that they are like.
        like: DeviceId,
        /// The node.
        node: String,
    },
}

impl Change {
    /// How much is changed, to sort by: smaller is less.
    pub(super) fn effort(&self) -> u32 {
        match self {
            Self::UseNodes { .. } => 1,
            Self::ChangeSelector { .. } => 2,
            Self::Tolerate { .. } => 3,
            Self::LowerCapacity { .. } => 4,
            Self::LowerCount { .. } => 5,
            Self::DropConstraint { .. } => 6,
            Self::DropSelector { .. } => 7,
            Self::AddAlternative { .. } => 8,
            Self::FreeClaim { .. } => 9,
            Self::ChangeClass { .. } => 10,
            Self::AddDevices { .. } => 11,
        }
    }
}

/// The fields that both forms of a request have.
pub(super) struct Parts<'r> {
    pub(super) selectors: &'r mut Vec<DeviceSelector>,
    pub(super) tolerations: &'r mut Vec<DeviceToleration>,
    pub(super) count: &'r mut i64,
    pub(super) capacity: Option<&'r mut std::collections::BTreeMap<String, Quantity>>,
}

/// The parts of a request by name, `request` or `request/subrequest`.
pub(super) fn parts<'r>(spec: &'r mut DeviceClaim, name: &str) -> Option<Parts<'r>> {
    let (main, sub) = name.split_once('/').map_or((name, None), |(main, sub)| (main, Some(sub)));
    let request = spec.requests.iter_mut().find(|request| request.name == main)?;
    match sub {
        None => request.exactly.as_mut().map(|exact| {
            let ExactDeviceRequest { selectors, tolerations, count, capacity, .. } = exact;
            Parts { selectors, tolerations, count, capacity: capacity.as_mut().map(|capacity| &mut capacity.requests) }
        }),
        Some(sub) => {
            let sub = request.first_available.iter_mut().find(|known| known.name == sub)?;
            let DeviceSubRequest { selectors, tolerations, count, capacity, .. } = sub;
            let capacity = capacity.as_mut().map(|capacity| &mut capacity.requests);
            Some(Parts { selectors, tolerations, count, capacity })
        }
    }
}

/// Makes a change in a claim's spec. Changes that are not about this claim leave it as it is.
pub(super) fn change_spec(spec: &mut DeviceClaim, of: &str, change: &Change) {
    match change {
        Change::ChangeSelector { claim, request, index, to, .. } if claim == of => {
            if let Some(parts) = parts(spec, request)
                && let Some(cel) = parts.selectors.get_mut(position(*index)).and_then(|one| one.cel.as_mut())
            {
                cel.expression.clone_from(to);
            }
        }
        Change::DropSelector { claim, request, index, .. } if claim == of => {
            if let Some(parts) = parts(spec, request)
                && position(*index) < parts.selectors.len()
            {
                parts.selectors.remove(position(*index));
            }
        }
        Change::Tolerate { claim, request, taint } if claim == of => {
            if let Some(parts) = parts(spec, request) {
                parts.tolerations.push(toleration(taint));
            }
        }
        Change::LowerCapacity { claim, request, name, to, .. } if claim == of => {
            if let (Some(parts), Ok(amount)) = (parts(spec, request), Quantity::parse(to))
                && let Some(slot) = parts.capacity.and_then(|requests| requests.get_mut(name))
            {
                *slot = amount;
            }
        }
        Change::LowerCount { claim, request, to, .. } if claim == of => {
            if let Some(parts) = parts(spec, request) {
                *parts.count = i64::try_from(*to).unwrap_or(i64::MAX);
            }
        }
        Change::DropConstraint { claim, index, .. } if claim == of && position(*index) < spec.constraints.len() => {
            spec.constraints.remove(position(*index));
        }
        Change::AddAlternative { claim, request, class } if claim == of => add_alternative(spec, request, class),
        _ => {}
    }
}

fn position(index: u64) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// The toleration of one taint and no other.
fn toleration(taint: &str) -> DeviceToleration {
    let (rest, effect) = taint.rsplit_once(':').unwrap_or((taint, ""));
    let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
    let operator = if value.is_empty() { TolerationOperator::Exists } else { TolerationOperator::Equal };
    DeviceToleration {
        key: key.to_owned(),
        operator,
        value: value.to_owned(),
        effect: effect.to_owned(),
        ..DeviceToleration::default()
    }
}

fn add_alternative(spec: &mut DeviceClaim, name: &str, class: &str) {
    let Some(request) = spec.requests.iter_mut().find(|request| request.name == name) else { return };
    let alternative = |name: &str, exact: &ExactDeviceRequest| DeviceSubRequest {
        name: name.to_owned(),
        device_class_name: exact.device_class_name.clone(),
        selectors: exact.selectors.clone(),
        allocation_mode: exact.allocation_mode.clone(),
        count: exact.count,
        tolerations: exact.tolerations.clone(),
        capacity: exact.capacity.clone(),
        derived_attributes: exact.derived_attributes.clone(),
        ..DeviceSubRequest::default()
    };
    let Some(exact) = request.exactly.take() else { return };
    let other = ExactDeviceRequest { device_class_name: class.to_owned(), selectors: Vec::new(), ..exact.clone() };
    request.first_available = vec![alternative("preferred", &exact), alternative("other", &other)];
}

/// What is put back after a trial.
#[derive(Default)]
struct Undo {
    restore: Vec<Object>,
    remove: Vec<ObjectRef>,
}

/// Where the claims fit once some changes are made; the cluster afterwards is as before.
pub(super) fn try_changes(
    cluster: &mut Cluster,
    case: &Case,
    changes: &[Change],
    nodes: &[String],
    limits: &Limits,
) -> Option<(String, Vec<crate::api::claim::AllocationResult>)> {
    let mut claims = case.question.claims.clone();
    let mut undo = Undo::default();
    let mut nodes = nodes.to_vec();
    for change in changes {
        for claim in &mut claims {
            let name = claim.metadata.name.clone();
            change_spec(&mut claim.spec.devices, &name, change);
        }
        match change {
            Change::FreeClaim { claim, .. } => free(cluster, claim, &mut undo),
            Change::ChangeClass { class, index, to, .. } => change_class(cluster, class, *index, to, &mut undo),
            Change::AddDevices { count, like, node, .. } => add_devices(cluster, *count, like, node, &mut undo),
            Change::UseNodes { nodes: others } => nodes.clone_from(others),
            _ => {}
        }
    }
    let question = Question { claims, nodes, ..case.question.clone() };
    let place = if question.nodes.is_empty() { Place::Nowhere } else { find_place(cluster, &question, limits) };
    for object in undo.restore.into_iter().rev() {
        cluster.apply(object);
    }
    for object in undo.remove {
        cluster.delete(&object);
    }
    match place {
        Place::On(node, allocations) => Some((node, allocations)),
        Place::Nowhere | Place::Failed(_) | Place::GaveUp => None,
    }
}

/// Takes the allocation of a claim away.
fn free(cluster: &mut Cluster, name: &str, undo: &mut Undo) {
    let Some((namespace, name)) = name.split_once('/') else { return };
    let Some(claim) = cluster.claims().get(&(namespace.to_owned(), name.to_owned())).cloned() else { return };
    undo.restore.push(Object::ResourceClaim(Box::new(claim.clone())));
    cluster.apply(Object::ResourceClaim(Box::new(freed(claim))));
}

/// A claim without its devices.
pub(super) fn freed(mut claim: ResourceClaim) -> ResourceClaim {
    claim.status.allocation = None;
    claim.status.reserved_for.clear();
    claim.status.devices.clear();
    claim
}

fn change_class(cluster: &mut Cluster, name: &str, index: u64, to: &str, undo: &mut Undo) {
    let Some(class) = cluster.classes().get(name).cloned() else { return };
    undo.restore.push(Object::DeviceClass(Box::new(class.clone())));
    let mut class = class;
    if let Some(cel) = class.spec.selectors.get_mut(position(index)).and_then(|selector| selector.cel.as_mut()) {
        to.clone_into(&mut cel.expression);
    }
    cluster.apply(Object::DeviceClass(Box::new(class)));
}

/// Name of the slice and pool in which added devices are tried.
const ADDED: &str = "apportion-added";

/// Adds copies of a device in a pool of their own.
fn add_devices(cluster: &mut Cluster, count: u64, like: &DeviceId, node: &str, undo: &mut Undo) {
    let of_pool =
        |slice: &&std::sync::Arc<ResourceSlice>| slice.spec.driver == like.driver && slice.spec.pool.name == like.pool;
    let mut found = cluster.slices().values().filter(of_pool).flat_map(|slice| &slice.spec.devices);
    let Some(device) = found.find(|device| device.name == like.device) else { return };
    let copy = |number: u64| Device {
        name: format!("{}-{number}", device.name),
        consumes_counters: Vec::new(),
        node_name: None,
        node_selector: None,
        all_nodes: None,
        taints: Vec::new(),
        ..device.clone()
    };
    let mut slice = ResourceSlice::default();
    ADDED.clone_into(&mut slice.metadata.name);
    slice.spec.driver.clone_from(&like.driver);
    ADDED.clone_into(&mut slice.spec.pool.name);
    slice.spec.pool.generation = 1;
    slice.spec.pool.resource_slice_count = 1;
    slice.spec.node_name = Some(node.to_owned());
    slice.spec.devices = (0..count).map(copy).collect();
    undo.remove.push(ObjectRef { kind: "ResourceSlice".to_owned(), name: ADDED.to_owned(), ..ObjectRef::default() });
    cluster.apply(Object::ResourceSlice(Box::new(slice)));
}
