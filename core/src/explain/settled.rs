//! A control plane at rest, as explanations and reports see it.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::alike::Alike;
use super::holders::Held;
use super::origin::Origin;
use super::preemption;
use super::reasons::{self, Entry, Verdict, entries, problems};
use crate::allocate::Limits;
use crate::allocate::extended::ExtendedResources;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::control_plane::{Preempted, Simulation, scheduling_order, unmodelled};
use crate::finding::{Code, Finding, Severity, list};
use crate::gather::Gather;
use crate::scheduler::node_fit::{is_inferred, unknown_labels};
use crate::scheduler::{Examination, KnownRefusals, NodeCache};

/// What became of a cluster's Pods.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settled {
    /// All Pods in the order in which they are scheduled.
    pub(crate) order: Vec<Key>,
    /// The claims of each Pod that has some.
    pub(crate) entries: BTreeMap<Key, Vec<Entry>>,
    /// Claims that were being deleted at first.
    pub(crate) going: BTreeSet<Key>,
    /// What was decided about each Pod.
    pub(crate) verdicts: BTreeMap<Key, Verdict>,
    /// Places and devices that a part of a waiting PodGroup finds, by PodGroup.
    pub(crate) assumed: BTreeMap<Key, Vec<Object>>,
    /// What is worth knowing about the whole: inferred nodes, objects that were refused, what is not looked at, who had to go.
    pub(crate) findings: Vec<Finding>,
    /// Pods that had to go for others, the first one first.
    pub(crate) preempted: Vec<Preempted>,
    /// What the nodes have left, once somebody asked.
    book: OnceCell<Arc<NodeCache>>,
    /// The nodes that take Pods.
    pub(crate) taking: RefCell<Alike<Taking>>,
    /// Who has devices, once somebody asked.
    pub(crate) held: Arc<OnceLock<Held>>,
}

/// Nodes that take a Pod, and what devices serve there of its resources.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taking {
    pub(crate) nodes: Vec<String>,
    pub(crate) extended: Option<ExtendedResources>,
}

/// Lets the control plane of a cluster settle. The cluster afterwards is the settled one.
pub(crate) fn settle(cluster: &mut Cluster, limits: &Limits) -> Settled {
    let mut simulation = Simulation::of(cluster, *limits);
    // A cluster that still changes after the longest time is shown as it is then.
    simulation.settle();
    let settled = look(&mut simulation);
    cluster.take_over(simulation.into_cluster());
    settled
}

/// Looks at a control plane as it stands.
pub(crate) fn look(simulation: &mut Simulation) -> Settled {
    let mut look = Look::of(simulation);
    look.go_on(simulation, &mut { usize::MAX });
    look.end()
}

/// A look at a control plane, Pod by Pod.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    settled: Settled,
    /// How many Pods were looked at.
    seen: usize,
    /// What is known of Pods that come later.
    known: BTreeMap<Key, Examination>,
}

impl Look {
    pub(crate) fn of(simulation: &Simulation) -> Self {
        let mut findings = simulation.findings();
        let cluster = simulation.server().cluster();
        let order = scheduling_order(cluster);
        let waiting = |pod: &&Pod| !simulation.had_node(pod) && !pod.is_finished();
        findings.extend(unmodelled(cluster, &|pod| simulation.had_node(pod)));
        findings.extend(remarks(
            cluster,
            order.iter().filter_map(|key| cluster.pods().get(key).map(Arc::as_ref)).filter(waiting),
        ));
        let of_pod = |key: &Key| {
            let pod = cluster.pods().get(key)?;
            let mut entries = entries(cluster, pod);
            let missing =
                |entry: &&mut Entry| entry.problem.as_ref().is_some_and(|one| one.code == Code::RunMissingClaim);
            for entry in entries.iter_mut().filter(missing) {
                let mut sources = pod.spec.resource_claims.iter().filter(|source| source.name == entry.name);
                let named = sources.find_map(|source| source.resource_claim_name.as_ref()).or(entry.claim.as_ref());
                let claim = named.map(|name| (key.0.clone(), name.clone()));
                if let (Some(claim), Some(problem)) = (claim, &mut entry.problem)
                    && simulation.going().contains(&claim)
                {
                    let Finding { code, message, hint, .. } = problems::gone_claim(&claim.1);
                    (problem.code, problem.message, problem.hint) = (code, message, hint);
                }
            }
            Some((key.clone(), entries))
        };
        let with_claims = order.iter().filter_map(of_pod).filter(|(_, entries)| !entries.is_empty());
        let entries: BTreeMap<Key, Vec<Entry>> = with_claims.gather();
        let preempted = simulation.preempted().to_vec();
        findings.extend(preempted.iter().map(preemption::finding));
        let going = simulation.going().clone();
        let settled = Settled { order, entries, findings, preempted, going, ..Settled::default() };
        Self { settled, seen: 0, known: BTreeMap::new() }
    }

    /// Looks at as many Pods at most. True at the end.
    pub(crate) fn go_on(&mut self, simulation: &mut Simulation, pods: &mut usize) -> bool {
        let Self { settled, seen, known } = self;
        let Settled { order, entries, verdicts, assumed, .. } = settled;
        let end = seen.saturating_add(*pods).min(order.len());
        let refusals = &mut KnownRefusals::default();
        for key in order.iter().take(end).skip(*seen) {
            let entries = entries.get(key).map(Vec::as_slice).unwrap_or_default();
            let verdict = reasons::verdict(simulation, key, entries, |simulation| {
                if !known.contains_key(key) {
                    let examined = simulation.examine(key, refusals);
                    let group = simulation.server().cluster().pods().get(key).and_then(|pod| pod.group_name());
                    if let Some(group) = group.filter(|_| !examined.assumed.is_empty()) {
                        assumed.insert((key.0.clone(), group.to_owned()), examined.assumed);
                    }
                    known.extend(examined.pods);
                }
                known.remove(key).unwrap_or(Examination::Held)
            });
            verdicts.insert(key.clone(), verdict);
        }
        *pods = pods.saturating_sub(end.saturating_sub(*seen));
        *seen = end;
        let is_end = end == order.len();
        if is_end {
            reasons::name_those_waited_for(simulation.server().cluster(), verdicts);
        }
        is_end
    }

    /// What was seen.
    pub(crate) fn end(self) -> Settled {
        self.settled
    }
}

impl Settled {
    /// What the nodes of the settled cluster have left.
    pub(crate) fn book(&self, cluster: &Cluster) -> Arc<NodeCache> {
        Arc::clone(self.book.get_or_init(|| Arc::new(NodeCache::new(cluster))))
    }

    /// Whether that is it.
    pub(crate) fn has_book(&self, book: &Arc<NodeCache>) -> bool {
        self.book.get().is_some_and(|own| Arc::ptr_eq(own, book))
    }

    /// The cluster as a Pod without a place sees it that is tried after other Pods of its PodGroup; `None` where it sees it as it is.
    pub(crate) fn seen_by(&self, cluster: &Cluster, pod: &Pod) -> Option<Cluster> {
        let assumed = self.assumed.get(&(pod.metadata.namespace.clone(), pod.group_name()?.to_owned()))?;
        let rank = |pod: &Pod| self.order.iter().position(|key| *key == key_of(&pod.metadata));
        let own = rank(pod);
        // The claims of a Pod come before it.
        let is_earlier = |object: &Object| matches!(object, Object::Pod(other) if rank(other) < own);
        let earlier = assumed.iter().rposition(is_earlier).filter(|_| pod.spec.node_name.is_empty())?;
        let mut seen = cluster.clone();
        assumed.iter().take(earlier.saturating_add(1)).for_each(|object| seen.apply(object.clone()));
        Some(seen)
    }
}

/// What is not looked at, and what is assumed; each once for each object.
fn remarks<'c>(cluster: &Cluster, pods: impl Iterator<Item = &'c Pod>) -> Vec<Finding> {
    let has_groups = cluster.profile().features.generic_workload;
    let has_inferred = cluster.nodes().values().any(|node| is_inferred(node));
    let mut said = BTreeSet::new();
    let mut all = Vec::new();
    for pod in pods {
        let origin = Origin::of(cluster, pod);
        if let Some(name) = pod.group_name().filter(|_| !has_groups) {
            let message = format!("PodGroup `{name}` is without effect: the feature gate `GenericWorkload` is off");
            let finding = origin.finding(Code::RunNotModelled, "spec.schedulingGroup", message);
            all.push(Finding { severity: Severity::Warning, ..finding });
        }
        let unknown = if has_inferred { unknown_labels(cluster, pod) } else { Vec::new() };
        if !unknown.is_empty() {
            let message = format!("inferred nodes are taken to have the labels asked for: {}", list(unknown.iter()));
            all.push(origin.finding(Code::RunLabelsAssumed, "spec", message));
        }
    }
    all.retain(|finding: &Finding| {
        // A PodGroup without effect is reported once, at its first Pod.
        let object = finding.object.clone().filter(|_| finding.code != Code::RunNotModelled);
        said.insert((finding.code, object, finding.message.clone()))
    });
    all
}
