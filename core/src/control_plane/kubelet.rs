//! Nodes that run Pods: a Pod starts once it may use its claims, and ends when its time to end is over.

use serde_json::{Value, json};

use super::Simulation;
use super::queue::Queue;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::Key;
use crate::controllers::kubelet::{Permission, may_use};
use crate::decision::{Patch, Time, Trigger};
use crate::finding::ObjectRef;

/// The status of a Pod that ran longer than it may.
//
// Source: `pkg/kubelet/active_deadline.go`.
fn overdue() -> Value {
    let message = "Pod was active on the node longer than the specified deadline";
    json!({ "status": { "phase": "Failed", "reason": "DeadlineExceeded", "message": message } })
}

/// Pods to look at, each with the time.
#[derive(Clone, Debug, Default)]
pub(super) struct Kubelets(Queue<Key>);

impl Kubelets {
    /// When the next Pod is looked at.
    pub(super) fn next(&self) -> Option<Time> {
        self.0.next()
    }

    /// Takes a change into account.
    pub(super) fn note(&mut self, trigger: &Trigger, now: Time) {
        match trigger.after.as_deref() {
            Some(Object::Pod(pod)) if !pod.spec.node_name.is_empty() && !pod.is_finished() => {
                self.0.add((pod.metadata.namespace.clone(), pod.metadata.name.clone()), now);
            }
            Some(Object::ResourceClaim(claim)) => {
                for consumer in claim.status.reserved_for.iter().filter(|consumer| consumer.resource == "pods") {
                    self.0.add((claim.metadata.namespace.clone(), consumer.name.clone()), now);
                }
            }
            _ => {}
        }
    }
}

impl Simulation {
    /// From now on Pods with a node run there. Without this, whoever asks plays the nodes.
    pub fn run_pods(&mut self) {
        let mut kubelets = Kubelets::default();
        for key in self.server.cluster().pods().keys() {
            kubelets.0.add(key.clone(), self.now);
        }
        self.kubelets = Some(kubelets);
    }

    /// Has the kubelets, if there are any, look at every Pod.
    pub(super) fn look_at_pods(&mut self) {
        if self.kubelets.is_some() {
            self.run_pods();
        }
    }

    /// Lets all nodes do what they have to do now: they do not wait for one another. False when there is nothing.
    pub(super) fn run_all(&mut self) -> bool {
        let mut is_any = false;
        while self.run_pod() {
            is_any = true;
        }
        is_any
    }

    /// Lets one node do one thing. False when there is nothing to do now.
    fn run_pod(&mut self) -> bool {
        while let Some(key) = self.kubelets.as_mut().and_then(|kubelets| kubelets.0.take(self.now)) {
            let cluster = self.server.cluster();
            let Some(pod) = cluster.pods().get(&key) else { continue };
            if pod.spec.node_name.is_empty() || pod.is_finished() {
                continue;
            }
            let object = ObjectRef::new("Pod", &*key.0, &*key.1);
            if pod.metadata.is_deleting() {
                let end = Time::parse(&pod.metadata.deletion_timestamp).unwrap_or(self.now);
                if end <= self.now && !pod.metadata.finalizers.is_empty() {
                    // Its containers have ended; who put the finalizers there takes them away, and with them the Pod.
                    let ended = Patch::merge(object, true, json!({ "status": { "phase": "Failed" } }));
                    return self.server.patch(&ended, self.now).is_ok();
                }
                if end <= self.now {
                    return self.server.delete(&object, "", Some(0), self.now).is_ok();
                }
                if let Some(kubelets) = &mut self.kubelets {
                    kubelets.0.add(key, end);
                }
                continue;
            }
            let kubelet = self.kubelets_by_node.get(&pod.spec.node_name).unwrap_or(&self.kubelet);
            let groups = kubelet.features.workload_resource_claims;
            // Nothing starts Pods of a node that does not exist.
            if !cluster.nodes().contains_key(&pod.spec.node_name) && self.knows_nodes {
                continue;
            }
            let is_refused = |permission: &Permission| matches!(permission, Permission::Refused(_));
            if pod.status.phase == "Running" {
                match self.deadline(pod) {
                    Some(end) if end <= self.now => {
                        let failed = Patch::merge(object, true, overdue());
                        return self.server.patch(&failed, self.now).is_ok();
                    }
                    Some(end) => self.kubelets.iter_mut().for_each(|kubelets| kubelets.0.add(key.clone(), end)),
                    None => {}
                }
                continue;
            }
            let looks = kubelet.features.dynamic_resource_allocation;
            if looks && may_use(cluster, pod, groups).iter().any(is_refused) {
                continue;
            }
            let status = match self.limit(pod) {
                Some(_) => json!({ "phase": "Running", "startTime": self.now.to_string() }),
                None => json!({ "phase": "Running" }),
            };
            let running = Patch::merge(object, true, json!({ "status": status }));
            return self.server.patch(&running, self.now).is_ok();
        }
        false
    }

    /// For how many seconds a Pod may run. Only where a script lets time pass: what `run` shows is how Pods start.
    fn limit(&self, pod: &Pod) -> Option<i64> {
        self.timeline.as_ref()?;
        pod.spec.rest.get("activeDeadlineSeconds")?.as_i64()
    }

    /// When a Pod that runs has to end.
    fn deadline(&self, pod: &Pod) -> Option<Time> {
        let started = pod.status.rest.get("startTime").and_then(Value::as_str).and_then(Time::parse);
        Some(started.unwrap_or(self.start).plus_seconds(self.limit(pod)?))
    }
}
