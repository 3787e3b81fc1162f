//! PodDisruptionBudgets, as far as preemption looks at them: how many Pods of each may go.
//!
//! Source: `pkg/controller/disruption`; `filterPodsWithPDBViolation`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::topology::{ByLabel, Selector};
use crate::api::condition::{condition, text};
use crate::api::object::Object;
use crate::api::others::Bystander;
use crate::api::pod::Pod;
use crate::api::read::{Json, Path};
use crate::api::source::LabelSelector;
use crate::api::workload::WorkloadSpec;
use crate::cluster::Cluster;
use crate::gather::Gather;
use crate::profile::Version;

/// All PodDisruptionBudgets by namespace and name, but those that select nothing or everything: preemption ignores them.
#[derive(Clone, Debug, Default)]
pub(super) struct Budgets {
    all: Vec<Budget>,
    /// Their positions, by namespace.
    by_label: BTreeMap<String, ByLabel>,
}

/// One PodDisruptionBudget.
#[derive(Clone, Debug)]
struct Budget {
    given: Bystander,
    selector: Selector,
    /// Names of the Pods that it selects and that have not ended.
    pods: BTreeSet<String>,
    /// How many more may go, as of the last look.
    allowed: i64,
    /// Whether something changed since.
    is_old: bool,
}

impl Budgets {
    /// Those of a cluster.
    pub(super) fn of(cluster: &Cluster) -> Self {
        let kind = "PodDisruptionBudget";
        let from = (kind.to_owned(), String::new(), String::new());
        let all = cluster.bystanders().range_from(&from).take_while(|((found, ..), _)| found == kind);
        let mut budgets = Self::default();
        for budget in all.filter_map(|(_, budget)| Budget::new(budget)) {
            let labels = budgets.by_label.entry(budget.given.metadata.namespace.clone()).or_default();
            labels.insert(&budget.selector, budgets.all.len());
            budgets.all.push(budget);
        }
        if !budgets.all.is_empty() {
            cluster.pods().values().for_each(|pod| budgets.add(pod));
        }
        budgets
    }

    /// Takes a change of a Pod into account.
    pub(super) fn note(&mut self, before: Option<&Object>, after: Option<&Object>) {
        if let Some(Object::Pod(pod)) = before {
            for position in self.selecting(pod) {
                self.all.get_mut(position).into_iter().for_each(|budget| budget.remove(pod));
            }
        }
        if let Some(Object::Pod(pod)) = after {
            self.add(pod);
        }
    }

    fn add(&mut self, pod: &Pod) {
        for position in self.selecting(pod).into_iter().filter(|_| !pod.is_finished()) {
            self.all.get_mut(position).into_iter().for_each(|budget| budget.add(pod));
        }
    }

    /// Takes into account that controllers want other numbers of Pods.
    pub(super) fn doubt(&mut self) {
        self.all.iter_mut().for_each(|budget| budget.is_old = true);
    }

    /// Looks at what changed. Gives the nodes on which other Pods may break a budget than before.
    pub(super) fn refresh(&mut self, cluster: &Cluster) -> BTreeSet<String> {
        let old = self.all.iter_mut().filter(|budget| budget.is_old);
        old.flat_map(|budget| budget.refresh(cluster)).gather()
    }

    /// Whether the going of each Pod in turn breaks a budget.
    pub(super) fn violations<'p>(&self, pods: impl IntoIterator<Item = &'p Pod>, version: Version) -> Vec<bool> {
        let mut gone: BTreeMap<usize, i64> = BTreeMap::new();
        let violates = |pod: &Pod| {
            if pod.metadata.labels.is_empty() {
                return false;
            }
            let mut is_broken = false;
            for position in self.selecting(pod) {
                let Some(budget) = self.all.get(position).filter(|budget| !budget.has_counted(pod)) else { continue };
                let gone = gone.entry(position).or_default();
                *gone = gone.saturating_add(1);
                is_broken |= *gone > budget.allowed;
                // From 1.37 on the first budget that has nothing left ends it: those behind it are not charged.
                if is_broken && version >= Version::V1_37 {
                    break;
                }
            }
            is_broken
        };
        pods.into_iter().map(violates).collect()
    }

    /// Positions of the budgets that select a Pod, the first one first.
    fn selecting(&self, pod: &Pod) -> BTreeSet<usize> {
        let labels = &pod.metadata.labels;
        let Some(by_label) = self.by_label.get(&pod.metadata.namespace) else { return BTreeSet::new() };
        let is_selected = |position: &usize| self.all.get(*position).is_some_and(|one| one.selector.matches(labels));
        by_label.candidates(labels).filter(is_selected).gather()
    }
}

impl Budget {
    fn new(given: &Bystander) -> Option<Self> {
        let selector = given.rest.get("spec")?.get("selector")?.clone();
        let selector = LabelSelector::read(selector, &Path::ROOT, &mut Vec::new()).ok()?;
        if selector.match_labels.is_empty() && selector.match_expressions.is_empty() {
            return None;
        }
        let selector = Selector::of(Some(&selector));
        Some(Self { given: given.clone(), selector, pods: BTreeSet::new(), allowed: 0, is_old: true })
    }

    fn add(&mut self, pod: &Pod) {
        self.pods.insert(pod.metadata.name.clone());
        self.is_old = true;
    }

    fn remove(&mut self, pod: &Pod) {
        self.pods.remove(&pod.metadata.name);
        self.is_old = true;
    }

    fn status(&self) -> &Value {
        self.given.rest.get("status").unwrap_or(&Value::Null)
    }

    /// Whether the going of a Pod is counted already.
    fn has_counted(&self, pod: &Pod) -> bool {
        let disrupted = self.status().get("disruptedPods").and_then(Value::as_object);
        disrupted.is_some_and(|pods| pods.contains_key(&pod.metadata.name))
    }

    /// Counts again. Gives the nodes with more of its Pods than could go before, or than can go now.
    fn refresh(&mut self, cluster: &Cluster) -> Vec<String> {
        let namespace = &self.given.metadata.namespace;
        let pods = self.pods.iter().filter_map(|name| cluster.pods().get(&(namespace.clone(), name.clone())));
        let pods: Vec<&Arc<Pod>> = pods.collect();
        let spec = self.given.rest.get("spec").unwrap_or(&Value::Null);
        let allowed = allowed(cluster, spec, self.status(), &pods);
        self.is_old = false;
        let before = std::mem::replace(&mut self.allowed, allowed);
        if before == allowed {
            return Vec::new();
        }
        let mut nodes: BTreeMap<&str, i64> = BTreeMap::new();
        for pod in pods.into_iter().filter(|pod| !pod.spec.node_name.is_empty()) {
            let pods = nodes.entry(&pod.spec.node_name).or_default();
            *pods = pods.saturating_add(1);
        }
        let least = before.min(allowed);
        nodes.into_iter().filter(|(_, pods)| *pods > least).map(|(node, _)| node.to_owned()).collect()
    }
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
