//! The PodGroup protection controller: a PodGroup that is being deleted stays while Pods of it have not ended.
//!
//! Source: KEP-5832, "Deletion protection".

use std::sync::Arc;

use crate::api::object::Object;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::decision::{Action, Decision, GROUP_FINALIZER, Trigger};
use crate::profile::{Mode, Profile};

/// What to do about one PodGroup.
///
/// Pods count by the name that they refer to, scheduled or not, terminating or not, until they have run to their end.
///
/// DIFFERENCE: the reference leaves a PodGroup without the finalizer as it is; KEP-5832 wants it added.
pub fn reconcile(cluster: &Cluster, profile: &Profile, key: &Key) -> Decision {
    let Some(group) = cluster.pod_groups().get(key) else { return Decision::none() };
    let mut after = group.clone();
    let finalizers = &mut after.metadata.finalizers;
    let is_in_use = || cluster.pods_of_group(key).any(|pod| !pod.is_finished());
    match (group.metadata.is_deleting(), group.metadata.has_finalizer(GROUP_FINALIZER)) {
        (true, true) if !is_in_use() => finalizers.retain(|finalizer| finalizer != GROUP_FINALIZER),
        (false, false) if profile.mode == Mode::Sound && profile.features.generic_workload => {
            finalizers.push(GROUP_FINALIZER.to_owned());
        }
        _ => return Decision::none(),
    }
    Decision::of(vec![Action::Update(Box::new(Object::PodGroup(Arc::new(after))))])
}

/// PodGroups that a change concerns.
pub fn affected(trigger: &Trigger) -> Option<Key> {
    match trigger.latest()? {
        Object::PodGroup(group) => Some(key_of(&group.metadata)),
        Object::Pod(pod) => Some((pod.metadata.namespace.clone(), pod.group_name()?.to_owned())),
        _ => None,
    }
}
