//! What a Pod asks of the Pods that have places: affinity, anti-affinity, spread.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::selector::{Labels, Namespaces, PodSelector, Selector};
use crate::api::node::{Node, NodeSelector};
use crate::api::pod::{NodeToleration, Pod, PodAffinity, PodAffinityTerm};
use crate::scheduler::node_fit::{is_tolerated, selected};

/// Pods in the same domain of nodes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Term {
    pub(super) pods: PodSelector,
    /// The label of nodes that names the domain.
    pub(super) key: String,
}

/// A spread constraint.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Constraint {
    pub(super) pods: PodSelector,
    pub(super) key: String,
    pub(super) max_skew: i64,
    pub(super) min_domains: i64,
    pub(super) nodes: Arc<Inclusion>,
}

impl Constraint {
    /// A preference that Pods have whose owners or Services say which Pods are like them.
    pub(super) fn by_default(pod: &Pod, (key, max_skew): (&str, i64), like: &Selector) -> Self {
        let required =
            pod.spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref()?.required.clone());
        let affinity = Some((pod.spec.node_selector.clone(), required));
        Self {
            pods: PodSelector::in_namespace_of(pod, like.clone()),
            key: key.to_owned(),
            max_skew,
            min_domains: 1,
            nodes: Arc::new(Inclusion { affinity, ..Inclusion::default() }),
        }
    }
}

/// Nodes whose Pods count for a spread constraint.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Inclusion {
    /// Labels that they have.
    keys: Vec<String>,
    /// Node selector and required node affinity that they match, where that matters.
    affinity: Option<(BTreeMap<String, String>, Option<NodeSelector>)>,
    /// Tolerations of all their taints that keep Pods away, where that matters.
    tolerations: Option<Vec<NodeToleration>>,
}

impl Inclusion {
    /// Whether a node's Pods count.
    pub(super) fn includes(&self, node: &Node) -> bool {
        let mut hard = node.spec.taints.iter().filter(|taint| taint.is_hard());
        self.keys.iter().all(|key| node.metadata.labels.contains_key(key))
            && self.affinity.as_ref().is_none_or(|(labels, required)| selected(labels, required.as_ref(), node))
            && self.tolerations.as_ref().is_none_or(|own| hard.all(|taint| is_tolerated(taint, own)))
    }
}

/// What a Pod asks.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::scheduler) struct Asks {
    /// Terms that one and the same Pod must satisfy.
    pub(super) affinity: Vec<Term>,
    pub(super) anti: Vec<Term>,
    pub(super) spread: Vec<Constraint>,
}

impl Asks {
    /// What a Pod asks as the filters see it. Which nodes count where it is spread follows from the Pod as it is.
    pub(super) fn of(pod: &Pod, own: &Pod) -> Self {
        let affinity = pod.spec.affinity.as_ref();
        let required = |affinity: Option<&PodAffinity>| terms(affinity, pod);
        Self {
            affinity: required(affinity.and_then(|affinity| affinity.pod_affinity.as_ref())),
            anti: required(affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref())),
            spread: constraints((pod, own), false),
        }
    }

    /// Whether it is nothing.
    pub(super) fn is_nothing(&self) -> bool {
        self.affinity.is_empty() && self.anti.is_empty() && self.spread.is_empty()
    }
}

fn terms(affinity: Option<&PodAffinity>, pod: &Pod) -> Vec<Term> {
    affinity.into_iter().flat_map(|affinity| &affinity.required).map(|term| term_of(term, pod)).collect()
}

fn term_of(term: &PodAffinityTerm, pod: &Pod) -> Term {
    Term { pods: PodSelector::of_term(term, pod), key: term.topology_key.clone() }
}

/// The constraints of a Pod, as it is seen, that must hold, or those that are preferences. Which nodes count follows from the Pod as it is.
pub(super) fn constraints((pod, own): (&Pod, &Pod), is_soft: bool) -> Vec<Constraint> {
    let spec = &own.spec;
    let all = pod.spec.topology_spread_constraints.iter();
    let meant: Vec<_> = all.filter(|constraint| constraint.is_soft() == is_soft).collect();
    let keys: Vec<String> = meant.iter().map(|constraint| constraint.topology_key.clone()).collect();
    let required = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref()?.required.clone());
    meant
        .into_iter()
        .map(|constraint| {
            let affinity = constraint.node_affinity_policy != "Ignore";
            let taints = constraint.node_taints_policy == "Honor";
            let nodes = Inclusion {
                keys: keys.clone(),
                affinity: affinity.then(|| (spec.node_selector.clone(), required.clone())),
                tolerations: taints.then(|| spec.tolerations.clone()),
            };
            Constraint {
                pods: PodSelector::of_constraint(constraint, pod),
                key: constraint.topology_key.clone(),
                max_skew: constraint.max_skew,
                min_domains: constraint.min_domains.unwrap_or(1),
                nodes: Arc::new(nodes),
            }
        })
        .collect()
}

/// What a term of a placed Pod does to the Pods that it means.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Pull {
    /// Keeps them away.
    Away,
    /// Attracts them, as a required term of its own affinity.
    Required,
    /// Attracts them by a weight; below nothing it repels them.
    By(i64),
}

/// Preferred terms of a Pod, each with its weight; below nothing where it is to be away.
pub(super) fn preferred(pod: &Pod) -> Vec<(Term, i64)> {
    let affinity = pod.spec.affinity.as_ref();
    let near = affinity.and_then(|affinity| affinity.pod_affinity.as_ref()).map(|rules| (rules, 1i64));
    let away = affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref()).map(|rules| (rules, -1i64));
    let weighted = near.into_iter().chain(away).flat_map(|(rules, sign)| {
        rules.preferred.iter().map(move |weighted| (&weighted.term, weighted.weight.saturating_mul(sign)))
    });
    weighted.map(|(term, weight)| (term_of(term, pod), weight)).collect()
}

/// Terms of a placed Pod that concern others, each with what it does to them.
pub(super) fn held_terms(pod: &Pod) -> Vec<(Term, Pull)> {
    let Some(affinity) = &pod.spec.affinity else { return Vec::new() };
    let away = terms(affinity.pod_anti_affinity.as_ref(), pod).into_iter().map(|term| (term, Pull::Away));
    let near = terms(affinity.pod_affinity.as_ref(), pod).into_iter().map(|term| (term, Pull::Required));
    away.chain(near).chain(preferred(pod).into_iter().map(|(term, weight)| (term, Pull::By(weight)))).collect()
}

/// Whether a Pod asks anything of the Pods that have places.
pub(in crate::scheduler) fn asks(pod: &Pod) -> bool {
    let affinity = pod.spec.affinity.as_ref();
    let has_terms = |affinity: &Option<PodAffinity>| affinity.as_ref().is_some_and(|terms| !terms.required.is_empty());
    pod.spec.topology_spread_constraints.iter().any(|constraint| !constraint.is_soft())
        || affinity.is_some_and(|affinity| has_terms(&affinity.pod_affinity) || has_terms(&affinity.pod_anti_affinity))
}

/// Whether a Pod may have a place now that another one has one: it was to be near that Pod, or is counted with it.
pub(in crate::scheduler) fn is_helped(pod: &Pod, placed: &Pod) -> bool {
    let asks = Asks::of(pod, pod);
    let (namespace, labels) = (&placed.metadata.namespace, &placed.metadata.labels);
    let may_mean = |pods: &PodSelector| pods.may_match(namespace, labels);
    (!asks.affinity.is_empty() && asks.affinity.iter().all(|term| may_mean(&term.pods)))
        || asks.spread.iter().any(|constraint| may_mean(&constraint.pods))
}

/// Whether one Pod satisfies all of some terms; none where there are none.
pub(super) fn satisfies<'t>(
    terms: impl IntoIterator<Item = &'t PodSelector>,
    namespaces: &Namespaces,
    (namespace, labels): (&str, &Labels),
) -> bool {
    let mut terms = terms.into_iter().peekable();
    terms.peek().is_some() && terms.all(|term| term.matches(namespaces, namespace, labels))
}
