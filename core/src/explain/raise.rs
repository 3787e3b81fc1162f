//! A higher priority, for a Pod that would fit in the place of others.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::alike::Alike;
use super::case::Case;
use super::change::Change;
use super::pod_manifest::written;
use super::relax::{Suggestion, all_in_words};
use crate::allocate::Limits;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::{Cluster, Key};
use crate::decision::Time;
use crate::gather::Gather;
use crate::scheduler::node_fit::{NodeState, Refusal};
use crate::scheduler::pod_filters::seen;
use crate::scheduler::preemption::{Preemption, Takeover, never_preempts};
use crate::scheduler::refusal::Cause;
use crate::scheduler::{Examination, KnownRefusals, NodeCache, Settings, asks_others, examine};

/// Most priorities that are tried, the lowest first.
const MOST_TRIED: usize = 8;

/// The highest priority that users can give.
const HIGHEST: i64 = 1_000_000_000;

/// Whose place Pods take with other priorities, in one cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Raises {
    /// What the nodes have left.
    book: Option<NodeCache>,
    /// Whether nodes would do but for what is left of them.
    full: Alike<bool>,
    refusals: KnownRefusals,
}

impl Raises {
    /// The lowest priority with which the Pod of a case takes the place of others.
    pub(super) fn suggestion(&mut self, cluster: &mut Cluster, case: &Case, limits: &Limits) -> Option<Suggestion> {
        let key = case.pod.as_ref()?;
        let pod = cluster.pods().get(key).cloned()?;
        if never_preempts(&pod) || !pod.spec.node_name.is_empty() {
            return None;
        }
        let (seen, requests) = seen(cluster, &pod);
        let is_full = |state: &NodeState| {
            let refusals = state.refusals(&seen, &requests);
            !refusals.is_empty() && refusals.iter().all(Refusal::is_curable)
        };
        let is_any_full = || case.book.nodes().any(is_full);
        if !asks_others(&pod) && !*self.full.of(&pod, is_any_full) {
            return None;
        }
        for (to, class) in priorities(cluster, &pod).into_iter().take(MOST_TRIED) {
            let mut raised = Pod::clone(&pod);
            raised.spec.priority = Some(to);
            cluster.apply(Object::Pod(Arc::new(raised)));
            let takeover = self.takeover(cluster, case, key, limits);
            cluster.apply(Object::Pod(Arc::clone(&pod)));
            let Some(Takeover { node, victims, .. }) = takeover else { continue };
            let victims = victims.iter().map(|key| format!("{}/{}", key.0, key.1)).collect();
            let changes = vec![Change::RaisePriority { from: pod.priority(), to, class, victims }];
            let manifests = written(cluster, &pod, &changes);
            if manifests.is_empty() {
                return None;
            }
            let text = all_in_words(case, &changes);
            let (deletes, steps) = (Vec::new(), Vec::new());
            return Some(Suggestion { text, changes, node: Some(node), manifests, deletes, steps });
        }
        None
    }

    /// Whose place the Pod of a case takes, if it does.
    fn takeover(&mut self, cluster: &mut Cluster, case: &Case, pod: &Key, limits: &Limits) -> Option<Takeover> {
        let profile = &cluster.profile().clone();
        let (now, records_failures, records_scores, preempts) = (Time::default(), true, false, true);
        let settings = Settings { profile, limits, now, records_failures, records_scores, preempts };
        let book = self.book.get_or_insert_with(|| NodeCache::clone(&case.book));
        let examined = examine(cluster, book, settings, pod, &mut self.refusals);
        let Examination::Unfit { cause: Cause::Nodes { nodes, .. }, .. } = examined.pods.into_iter().next()?.1 else {
            return None;
        };
        match nodes.preemption.as_ref()? {
            Preemption::Takes(takeover) => Some(takeover.clone()),
            Preemption::NotEligible(_) | Preemption::Nobody(_) => None,
        }
    }
}

/// Priorities above that of a Pod that make a difference, the lowest first: each is that of a PriorityClass where such are given.
fn priorities(cluster: &Cluster, pod: &Pod) -> Vec<(i64, Option<String>)> {
    let placed = cluster.pods().values().filter(|pod| !pod.spec.node_name.is_empty() && !pod.is_finished());
    let others: BTreeSet<i64> = placed.map(|other| other.priority()).filter(|own| *own >= pod.priority()).gather();
    let above = others.into_iter().map(|priority| priority.saturating_add(1)).filter(|priority| *priority <= HIGHEST);
    if cluster.priority_classes().is_empty() {
        return above.map(|priority| (priority, None)).collect();
    }
    let classes = cluster.priority_classes();
    let lowest = |least: i64| {
        let suits = classes.iter().filter(|(_, class)| class.value >= least && class.preemption_policy != "Never");
        let (name, class) = suits.min_by_key(|(_, class)| class.value)?;
        Some((class.value, Some(name.clone())))
    };
    let mut all: Vec<(i64, Option<String>)> = above.filter_map(lowest).collect();
    all.dedup();
    all
}
