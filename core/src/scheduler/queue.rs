//! Which Pods wait for a node, and what makes another attempt worthwhile.

use super::topology;
use crate::api::node::Node;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::decision::Trigger;

/// Whether a Pod waits for a node from the scheduler of that name. Pods that name none are the usual one's.
pub fn waits_for(pod: &Pod, scheduler: &str) -> bool {
    pod.scheduler() == scheduler && has_no_place(pod)
}

/// The same for the schedulers of a cluster's kube-scheduler.
pub fn is_waiting(cluster: &Cluster, pod: &Pod) -> bool {
    has_no_place(pod) && cluster.has_scheduler_of(pod)
}

fn has_no_place(pod: &Pod) -> bool {
    pod.spec.node_name.is_empty() && !pod.metadata.is_deleting() && !pod.is_finished()
}

/// Which waiting Pods a change may help.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Concern {
    /// None.
    Nobody,
    /// All of them.
    Everybody,
    /// Those that refer to a claim.
    UsersOf(Key),
    /// Those of a PodGroup.
    MembersOf(Key),
    /// Those that ask something of placed Pods, by affinity or spread ([`asks_others`]).
    Neighbours,
}

/// Whether a Pod asks something of placed Pods, so that one that comes may help it.
pub fn asks_others(pod: &Pod) -> bool {
    topology::asks(pod)
}

/// Whether a change after which [`Concern::Neighbours`] are tried may help one of them.
pub fn helps(trigger: &Trigger, pod: &Pod) -> bool {
    match trigger.after.as_deref() {
        Some(Object::Pod(placed)) => topology::is_helped(pod, placed),
        _ => true,
    }
}

/// The node that a Pod takes room on, or is about to.
fn place(pod: &Pod) -> Option<&str> {
    let is_bound = !pod.spec.node_name.is_empty();
    let node = if is_bound { &pod.spec.node_name } else { &pod.status.nominated_node_name };
    Some(node.as_str()).filter(|node| !node.is_empty() && !pod.is_finished())
}

/// Whether a node is to Pods what it was.
fn is_alike(before: &Node, after: &Node) -> bool {
    before.spec == after.spec
        && before.metadata.labels == after.metadata.labels
        && before.status.allocatable == after.status.allocatable
        && before.status.capacity == after.status.capacity
        && before.status.declared_features == after.status.declared_features
}

/// Which waiting Pods a change may help, other than the one that changed.
pub fn concern(trigger: &Trigger) -> Concern {
    let (before, after) = (trigger.before.as_deref(), trigger.after.as_deref());
    match (before, after) {
        // A sign of life.
        (Some(Object::Node(before)), Some(Object::Node(after))) if is_alike(before, after) => Concern::Nobody,
        (Some(Object::ResourceSlice(before)), Some(Object::ResourceSlice(after))) if before.spec == after.spec => {
            Concern::Nobody
        }
        (_, Some(Object::Node(_) | Object::DeviceClass(_) | Object::ResourceSlice(_) | Object::DeviceTaintRule(_)))
        | (Some(Object::DeviceTaintRule(_)), None)
        // Something that volumes can be found or attached with.
        | (None, Some(Object::PersistentVolume(_) | Object::StorageClass(_)))
        | (_, Some(Object::CSINode(_) | Object::CSIStorageCapacity(_)))
        | (Some(Object::VolumeAttachment(_)), None) => Concern::Everybody,
        // A domain that nobody can go to holds no spread back.
        (Some(Object::Node(_)), None) => Concern::Neighbours,
        (Some(Object::Namespace(before)), Some(Object::Namespace(after)))
            if before.metadata.labels == after.metadata.labels =>
        {
            Concern::Nobody
        }
        (_, Some(Object::Namespace(_))) => Concern::Neighbours,
        (Some(Object::PodGroup(before)), Some(Object::PodGroup(after))) if before.spec == after.spec => Concern::Nobody,
        (_, Some(Object::PodGroup(group))) => Concern::MembersOf(key_of(&group.metadata)),
        (before, Some(Object::ResourceClaim(after))) => {
            let had =
                |object: &Object| matches!(object, Object::ResourceClaim(claim) if claim.status.allocation.is_some());
            let same = matches!(before, Some(Object::ResourceClaim(before)) if before.status == after.status);
            match (same, before.is_some_and(had) && after.status.allocation.is_none()) {
                (true, _) => Concern::Nobody,
                (false, true) => Concern::Everybody,
                (false, false) => Concern::UsersOf(key_of(&after.metadata)),
            }
        }
        (Some(Object::ResourceClaim(claim)), None) => match claim.status.allocation {
            Some(_) => Concern::Everybody,
            None => Concern::UsersOf(key_of(&claim.metadata)),
        },
        // Room on a node.
        (Some(Object::Pod(before)), None) if place(before).is_some() => Concern::Everybody,
        (Some(Object::Pod(before)), Some(Object::Pod(after)))
            if place(before).is_some() && place(before) != place(after) =>
        {
            Concern::Everybody
        }
        (Some(Object::Pod(before)), Some(Object::Pod(after)))
            if place(after).is_some() && before.metadata.labels != after.metadata.labels =>
        {
            Concern::Everybody
        }
        (before, Some(Object::Pod(after)))
            if place(after).is_some() && !matches!(before, Some(Object::Pod(before)) if place(before).is_some()) =>
        {
            Concern::Neighbours
        }
        // A new member may complete a gang; without one that goes the others may be too few.
        (None, Some(Object::Pod(pod))) | (Some(Object::Pod(pod)), None) => match pod.group_name() {
            Some(group) => Concern::MembersOf((pod.metadata.namespace.clone(), group.to_owned())),
            None => Concern::Nobody,
        },
        _ => Concern::Nobody,
    }
}
