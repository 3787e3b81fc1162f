//! PodDisruptionBudgets, as far as preemption looks at them: how many Pods of each may go.
//!
//! Source: `pkg/controller/disruption`; `filterPodsWithPDBViolation`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::api::condition::{condition, text};
use crate::api::others::Bystander;
use crate::api::pod::Pod;
use crate::api::read::{Json, Path};
use crate::api::source::LabelSelector;
use crate::api::workload::WorkloadSpec;
use crate::cluster::Cluster;
use crate::profile::Version;

/// One PodDisruptionBudget.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Budget {
    namespace: String,
    selector: LabelSelector,
    /// Pods whose going is counted already.
    disrupted: BTreeSet<String>,
    /// How many more may go.
    allowed: i64,
}

/// All budgets by namespace and name, but those that select nothing or everything: preemption ignores them.
pub(super) fn budgets(cluster: &Cluster) -> Vec<Budget> {
    let kind = "PodDisruptionBudget";
    let from = (kind.to_owned(), String::new(), String::new());
    let all = cluster.bystanders().range_from(&from).take_while(|((found, ..), _)| found == kind);
    all.filter_map(|(_, budget)| Budget::of(cluster, budget)).collect()
}

impl Budget {
    fn of(cluster: &Cluster, budget: &Bystander) -> Option<Self> {
        let spec = budget.rest.get("spec")?;
        let selector = LabelSelector::read(spec.get("selector")?.clone(), &Path::ROOT, &mut Vec::new()).ok()?;
        if selector.match_labels.is_empty() && selector.match_expressions.is_empty() {
            return None;
        }
        let namespace = budget.metadata.namespace.clone();
        let status = budget.rest.get("status").unwrap_or(&Value::Null);
        let disrupted = status.get("disruptedPods").and_then(Value::as_object);
        let disrupted = disrupted.into_iter().flat_map(|pods| pods.keys().cloned()).collect();
        let pods = cluster.pods().values().filter(|pod| {
            pod.metadata.namespace == namespace && !pod.is_finished() && selector.matches(&pod.metadata.labels)
        });
        let pods: Vec<&Arc<Pod>> = pods.collect();
        let allowed = allowed(cluster, spec, status, &pods);
        Some(Self { namespace, selector, disrupted, allowed })
    }

    fn selects(&self, pod: &Pod) -> bool {
        self.namespace == pod.metadata.namespace
            && self.selector.matches(&pod.metadata.labels)
            && !self.disrupted.contains(&pod.metadata.name)
    }
}

/// Whether the going of each Pod in turn breaks a budget.
pub(super) fn violations<'p>(
    budgets: &[Budget],
    pods: impl IntoIterator<Item = &'p Pod>,
    version: Version,
) -> Vec<bool> {
    let mut left: Vec<i64> = budgets.iter().map(|budget| budget.allowed).collect();
    let violates = |pod: &Pod| {
        if pod.metadata.labels.is_empty() {
            return false;
        }
        let mut is_broken = false;
        for (_, left) in budgets.iter().zip(&mut left).filter(|(budget, _)| budget.selects(pod)) {
            *left = left.saturating_sub(1);
            is_broken |= *left < 0;
            // From 1.37 on the first budget that has nothing left ends it: those behind it are not charged.
            if is_broken && version >= Version::V1_37 {
                break;
            }
        }
        is_broken
    };
    pods.into_iter().map(violates).collect()
}

/// How many may go: what the status says, less those that went since; without one what the disruption controller would write.
fn allowed(cluster: &Cluster, spec: &Value, status: &Value, pods: &[&Arc<Pod>]) -> i64 {
    let healthy = count(pods.iter().filter(|pod| is_healthy(pod)).count());
    let stated = |name: &str| status.get(name).and_then(Value::as_i64);
    if let Some(allowed) = stated("disruptionsAllowed") {
        let deleting = || count(pods.iter().filter(|pod| pod.metadata.is_deleting()).count());
        let went = stated("currentHealthy").map_or_else(deleting, |were| were.saturating_sub(healthy));
        return allowed.saturating_sub(went.max(0)).max(0);
    }
    let (expected, desired) = match (spec.get("maxUnavailable"), spec.get("minAvailable")) {
        (Some(most), _) => {
            let expected = wanted(cluster, pods);
            (expected, expected.saturating_sub(scaled(most, expected)).max(0))
        }
        (None, Some(least)) if least.is_i64() => (count(pods.len()), scaled(least, 0)),
        (None, Some(least)) => {
            let expected = wanted(cluster, pods);
            (expected, scaled(least, expected))
        }
        (None, None) => (0, 0),
    };
    if expected <= 0 { 0 } else { healthy.saturating_sub(desired).max(0) }
}

/// Whether a Pod counts as there: it has a node, stays, and does not say that it is not ready.
fn is_healthy(pod: &Pod) -> bool {
    let ready = condition(&pod.status.conditions, "Ready");
    !pod.spec.node_name.is_empty()
        && !pod.metadata.is_deleting()
        && ready.is_none_or(|ready| text(ready, "status") == "True")
}

/// How many Pods the controllers of some Pods want; of a controller that is not given, how many there are.
fn wanted(cluster: &Cluster, pods: &[&Arc<Pod>]) -> i64 {
    let mut owners: BTreeMap<(String, String, String), i64> = BTreeMap::new();
    for pod in pods {
        let Some(owner) = pod.metadata.controller() else { continue };
        let key = (owner.kind.clone(), pod.metadata.namespace.clone(), owner.name.clone());
        let known = owners.entry(key).or_default();
        *known = known.saturating_add(1);
    }
    let wanted = owners.into_iter().map(|(key, found)| {
        let replicas = match cluster.workloads().get(&key).map(|workload| &workload.spec) {
            Some(WorkloadSpec::Deployment(spec) | WorkloadSpec::ReplicaSet(spec)) => Some(spec.replicas.unwrap_or(1)),
            Some(WorkloadSpec::StatefulSet(spec)) => Some(spec.replicas.unwrap_or(1)),
            _ => None,
        };
        replicas.unwrap_or(found)
    });
    wanted.fold(0i64, i64::saturating_add)
}

/// A number, or a share of all in percent, rounded up; nothing where it is neither.
fn scaled(amount: &Value, all: i64) -> i64 {
    let percent = || amount.as_str()?.strip_suffix('%')?.parse::<i64>().ok();
    let share = |percent: i64| all.saturating_mul(percent).saturating_add(99).div_euclid(100);
    amount.as_i64().or_else(|| percent().map(share)).unwrap_or_default().max(0)
}

fn count(pods: usize) -> i64 {
    i64::try_from(pods).unwrap_or(i64::MAX)
}
