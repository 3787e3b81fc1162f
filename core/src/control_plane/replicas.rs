//! Workload controllers while time passes: what a workload lacks of its Pods is made, whether Pods were deleted or failed, a workload came
//! or grew, or a node came for a DaemonSet.
//!
//! Not modelled: Pods that are too many, new templates for Pods that run, Jobs and what makes them.

use super::Simulation;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::controllers::workloads::{self, controller};
use crate::decision::{Action, Decision, Trigger};

/// Controllers that replace Pods.
const REPLACING: [&str; 3] = ["ReplicaSet", "StatefulSet", "DaemonSet"];

/// Whether a change may leave a workload with too few Pods.
pub(super) fn is_affected(trigger: &Trigger) -> bool {
    match (trigger.before.as_deref(), trigger.after.as_deref()) {
        (_, Some(Object::Workload(_))) | (None, Some(Object::Node(_))) => true,
        (Some(Object::Pod(before)), after) => {
            let counts_now =
                matches!(after, Some(Object::Pod(after)) if counts(after) && !after.metadata.is_deleting());
            replacing(before).is_some() && !counts_now
        }
        _ => false,
    }
}

/// Makes the Pods that workloads lack, and the ReplicaSets of new Deployments.
fn reconcile(cluster: &Cluster) -> Decision {
    let mut wanted = cluster.clone();
    // A ReplicaSet does not wait for a Pod to end, a StatefulSet and a DaemonSet do.
    let is_ending = |pod: &&Pod| pod.metadata.is_deleting() && replacing(pod) == Some("ReplicaSet");
    for pod in cluster.pods().values().filter(is_ending) {
        let mut ended = pod.clone();
        ended.status.phase = "Failed".to_owned();
        wanted.apply(Object::Pod(Box::new(ended)));
    }
    workloads::expand(&mut wanted, &mut Vec::new());
    let workloads = wanted.workloads().iter().filter(|(key, _)| !cluster.workloads().contains_key(*key));
    let workloads = workloads.filter(|(_, workload)| workload.kind == "ReplicaSet");
    let mut new: Vec<Object> = workloads.map(|(_, workload)| Object::Workload(Box::new(workload.clone()))).collect();
    let mut pods: Vec<&Pod> =
        wanted.pods().iter().filter(|(key, _)| !cluster.pods().contains_key(*key)).map(|(_, pod)| pod).collect();
    pods.retain(|pod| replacing(pod).is_some() && !is_owner_going(cluster, pod));
    pods.sort_by_key(|pod| wanted.arrival("Pod", &pod.metadata.namespace, &pod.metadata.name));
    new.extend(pods.into_iter().map(|pod| Object::Pod(Box::new(pod.clone()))));
    Decision::of(new.into_iter().map(|object| Action::Create { object: Box::new(object), refused: None }).collect())
}

/// Kind of the workload that replaces a Pod, if one does.
fn replacing(pod: &Pod) -> Option<&str> {
    let owner = controller(&pod.metadata)?;
    REPLACING.contains(&owner.kind.as_str()).then_some(owner.kind.as_str())
}

/// Whether a Pod is one of those that its workload wants.
fn counts(pod: &Pod) -> bool {
    pod.status.phase != "Failed"
}

fn is_owner_going(cluster: &Cluster, pod: &Pod) -> bool {
    let Some(owner) = controller(&pod.metadata) else { return true };
    let key = (owner.kind.clone(), pod.metadata.namespace.clone(), owner.name.clone());
    cluster.workloads().get(&key).is_some_and(|workload| workload.metadata.is_deleting())
}

impl Simulation {
    /// From now on workloads get the Pods that they lack.
    pub(super) fn replace_pods(&mut self) {
        self.controllers.replaces_pods = true;
    }

    /// Lets workload controllers look at everything once. False when nothing is due.
    pub(super) fn fill_workloads(&mut self) -> bool {
        if self.controllers.workloads.take(self.now).is_none() {
            return false;
        }
        let decision = reconcile(self.seen());
        let is_done = self.carry_out(decision);
        self.controllers.workloads.conclude((), is_done, None, self.now);
        true
    }
}
