//! In which order Pods are scheduled.

use crate::api::pod::Pod;
use crate::arrange::Arrange;
use crate::cluster::{Cluster, Key};
use crate::controllers::workloads::root_of;

/// Where a Pod stands in the order of scheduling, the lowest first.
pub(super) type Rank = (i64, u64, u64);

/// Higher `spec.priority` first, then in the order in which Pods, or the workloads that they come from, were given, then as they were made.
pub(super) fn rank(cluster: &Cluster, pod: &Pod) -> Rank {
    let own = cluster.arrival("Pod", &pod.metadata.namespace, &pod.metadata.name);
    let root = root_of(cluster, pod).map(|root| {
        let metadata = &root.metadata;
        cluster.arrival(&root.kind, &metadata.namespace, &metadata.name)
    });
    (pod.spec.priority.unwrap_or_default().saturating_neg(), root.unwrap_or(own), own)
}

/// All Pods in the order of scheduling.
pub(crate) fn scheduling_order(cluster: &Cluster) -> Vec<Key> {
    let mut order: Vec<(Rank, &Key)> = cluster.pods().iter().map(|(key, pod)| (rank(cluster, pod), key)).collect();
    order.arrange();
    order.into_iter().map(|(_, key)| key.clone()).collect()
}
