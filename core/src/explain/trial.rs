//! Whether changes help: the allocator is asked, and afterwards everything is as before.

use std::sync::Arc;

use super::case::Case;
use super::change::{Change, change_spec, position};
use crate::allocate::{Allowance, DeviceId, Place, Question, find_place_within};
use crate::api::claim::{AllocationResult, ResourceClaim};
use crate::api::class::DeviceClass;
use crate::api::object::Object;
use crate::api::slice::{Device, ResourceSlice};
use crate::cluster::{Cluster, Key};
use crate::finding::ObjectRef;

/// What is put back after a trial.
#[derive(Default)]
struct Undo {
    restore: Vec<Object>,
    remove: Vec<ObjectRef>,
    /// Claims whose devices were given back.
    freed: Vec<Arc<ResourceClaim>>,
}

/// Where the claims fit once some changes are made; the cluster afterwards is as before.
pub(crate) fn try_changes(
    cluster: &mut Cluster,
    case: &Case,
    changes: &[Change],
    nodes: &[String],
    allowance: &mut Allowance,
) -> Option<(String, Vec<Arc<AllocationResult>>)> {
    let mut claims = case.question.claims.clone();
    let mut undo = Undo::default();
    let mut nodes = nodes.to_vec();
    for change in changes {
        for claim in &mut claims {
            let name = claim.metadata.name.clone();
            change_spec(claim.devices_mut(), &name, change);
        }
        match change {
            Change::FreeClaim { claim, .. } => free(cluster, claim, &mut undo),
            Change::ChangeClass { class, .. } => {
                let before = cluster.classes().get(class).cloned().map(|class| Object::DeviceClass(Arc::new(class)));
                undo.restore.extend(before);
                let changed = changed_class(cluster, change);
                changed.into_iter().for_each(|class| cluster.apply(Object::DeviceClass(Arc::new(class))));
            }
            Change::AddDevices { count, like, node, .. } => {
                if let Some(slice) = added(cluster, *count, like, node, ADDED) {
                    undo.remove.push(ObjectRef::new("ResourceSlice", "", ADDED));
                    cluster.apply(Object::ResourceSlice(Arc::new(slice)));
                }
            }
            Change::UseNodes { nodes: others } => nodes.clone_from(others),
            _ => {}
        }
    }
    let question = Question { claims, nodes, in_use: case.question.in_use.clone() };
    let place =
        if question.nodes.is_empty() { Place::Nowhere } else { find_place_within(cluster, &question, allowance) };
    for object in undo.restore.into_iter().rev() {
        cluster.apply(object);
    }
    for object in undo.remove {
        cluster.delete(&object);
    }
    for claim in undo.freed {
        cluster.take_devices(&claim);
    }
    if let Place::On(node, allocations) = place { Some((node, allocations)) } else { None }
}

/// Gives the devices of a claim back; the claim itself stays as it is.
fn free(cluster: &mut Cluster, name: &str, undo: &mut Undo) {
    let Some(claim) = key_in(name).and_then(|key| cluster.claims().get(&key).cloned()) else { return };
    cluster.give_back_devices(&claim);
    undo.freed.push(claim);
}

/// The key of `namespace/name`.
pub(crate) fn key_in(text: &str) -> Option<Key> {
    text.split_once('/').map(|(namespace, name)| (namespace.to_owned(), name.to_owned()))
}

/// A claim without its devices.
pub(crate) fn freed(claim: &ResourceClaim) -> ResourceClaim {
    let mut claim = claim.clone();
    claim.status.allocation = None;
    claim.status.reserved_for.clear();
    claim.status.devices.clear();
    claim
}

/// The class that a change changes, as it is then.
pub(crate) fn changed_class(cluster: &Cluster, change: &Change) -> Option<DeviceClass> {
    let Change::ChangeClass { class, index, to, .. } = change else { return None };
    let mut class = cluster.classes().get(class)?.clone();
    if let Some(cel) = class.spec.selectors.get_mut(position(*index)).and_then(|selector| selector.cel.as_mut()) {
        to.clone_into(&mut cel.expression);
    }
    Some(class)
}

/// Name of the slice and pool in which added devices are tried.
pub(crate) const ADDED: &str = "apportion-added";

/// A slice of a name with copies of a device, in a pool of its own.
pub(crate) fn added(cluster: &Cluster, count: u64, like: &DeviceId, node: &str, name: &str) -> Option<ResourceSlice> {
    let of_pool = |slice: &&Arc<ResourceSlice>| slice.spec.driver == like.driver && slice.spec.pool.name == like.pool;
    let mut found = cluster.slices().values().filter(of_pool).flat_map(|slice| &slice.spec.devices);
    let device = found.find(|device| device.name == like.device)?;
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
    name.clone_into(&mut slice.metadata.name);
    slice.spec.driver.clone_from(&like.driver);
    name.clone_into(&mut slice.spec.pool.name);
    slice.spec.pool.generation = 1;
    slice.spec.pool.resource_slice_count = 1;
    slice.spec.node_name = Some(node.to_owned());
    slice.spec.devices = (0..count).map(copy).collect();
    Some(slice)
}
