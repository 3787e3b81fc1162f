//! In which order Pods are scheduled.

use crate::cluster::{Cluster, Key};

use crate::controllers::workloads::root_of;

/// All Pods: higher `spec.priority` first, then in the order in which they, or the workloads that they come from, were
/// given, then as they were made.
pub(crate) fn scheduling_order(cluster: &Cluster) -> Vec<Key> {
    let mut order: Vec<(i64, u64, u64, Key)> = cluster
        .pods()
        .iter()
        .map(|(key, pod)| {
            let own = cluster.arrival("Pod", &key.0, &key.1);
            let root = root_of(cluster, pod).map(|root| {
                let metadata = &root.metadata;
                cluster.arrival(&root.kind, &metadata.namespace, &metadata.name)
            });
            let priority = pod.spec.priority.unwrap_or_default().saturating_neg();
            (priority, root.unwrap_or(own), own, key.clone())
        })
        .collect();
    order.sort();
    order.into_iter().map(|(_, _, _, key)| key).collect()
}
