//! Where the Pods of PodGroups land: a simulated cluster is let run until it is quiet, and what it wrote is taken over.

use std::collections::BTreeSet;

use super::order;
use crate::allocate::Limits;
use crate::api::object::Object;
use crate::cluster::{Cluster, Key};
use crate::control_plane::Simulation;
use crate::finding::ObjectRef;

/// Seconds in which everything that retries after a pause has been tried again.
const CALM: i64 = 60;

/// Plays the life of a cluster that has PodGroups or Pods of some; any other is left alone.
pub(crate) fn settle_groups(cluster: &mut Cluster, limits: &Limits) {
    let features = &cluster.profile().features;
    let has_groups = !cluster.pod_groups().is_empty() || cluster.pods().values().any(|pod| pod.group_name().is_some());
    if !features.generic_workload || !has_groups {
        return;
    }
    let objects: Vec<_> = objects(cluster).into_iter().map(|object| object.write()).collect();
    let now = Simulation::start_of(&objects);
    let mut simulation = Simulation::new(cluster.profile().clone(), *limits, now);
    // Their Pods are there already.
    simulation.leave_jobs_alone();
    for object in objects {
        simulation.server_mut().seed(object, now);
    }
    simulation.allow_admin_access();
    // Whether it comes to rest does not matter: what stands then is told.
    simulation.run_until(now.plus_seconds(CALM));
    take_over(cluster, simulation.server().cluster());
}

/// All objects, Pods in the order of scheduling.
fn objects(cluster: &Cluster) -> Vec<Object> {
    fn all<'c, T: Clone + 'c>(
        objects: impl IntoIterator<Item = &'c T> + 'c,
        make: fn(Box<T>) -> Object,
    ) -> impl Iterator<Item = Object> + 'c {
        objects.into_iter().map(move |object| make(Box::new(object.clone())))
    }
    let pods: Vec<_> = order::scheduling_order(cluster).iter().filter_map(|key| cluster.pods().get(key)).collect();
    all(cluster.namespaces().values(), Object::Namespace)
        .chain(all(cluster.nodes().values().map(AsRef::as_ref), Object::Node))
        .chain(all(cluster.classes().values(), Object::DeviceClass))
        .chain(all(cluster.slices().values().map(AsRef::as_ref), Object::ResourceSlice))
        .chain(all(cluster.taint_rules().values(), Object::DeviceTaintRule))
        .chain(all(cluster.cluster_templates().values(), Object::ClusterResourceClaimTemplate))
        .chain(all(cluster.templates().values(), Object::ResourceClaimTemplate))
        .chain(all(cluster.workloads().values(), Object::Workload))
        .chain(all(cluster.pod_groups().values(), Object::PodGroup))
        .chain(all(cluster.claims().values(), Object::ResourceClaim))
        .chain(all(pods, Object::Pod))
        .collect()
}

/// Pods, PodGroups and claims as they are in the other cluster.
fn take_over(cluster: &mut Cluster, other: &Cluster) {
    let gone = |kind: &str, own: Vec<&Key>, others: BTreeSet<&Key>| -> Vec<ObjectRef> {
        let left = own.into_iter().filter(|key| !others.contains(key));
        left.map(|(namespace, name)| ObjectRef {
            kind: kind.to_owned(),
            namespace: namespace.clone(),
            name: name.clone(),
        })
        .collect()
    };
    let mut lost = gone("Pod", cluster.pods().keys().collect(), other.pods().keys().collect());
    lost.extend(gone("PodGroup", cluster.pod_groups().keys().collect(), other.pod_groups().keys().collect()));
    lost.extend(gone("ResourceClaim", cluster.claims().keys().collect(), other.claims().keys().collect()));
    for object in lost {
        cluster.delete(&object);
    }
    for group in other.pod_groups().values() {
        cluster.apply(Object::PodGroup(Box::new(group.clone())));
    }
    for claim in other.claims().values() {
        cluster.apply(Object::ResourceClaim(Box::new(claim.clone())));
    }
    for pod in other.pods().values() {
        cluster.apply(Object::Pod(Box::new(pod.clone())));
    }
}
