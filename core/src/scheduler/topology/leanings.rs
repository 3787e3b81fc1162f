//! What a Pod prefers of where other Pods are: spread that may be broken, preferred affinity, and the preferences of placed Pods about it.
//!
//! Source: `scoring.go` of `interpodaffinity` and `podtopologyspread`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::asks::{Constraint, Pull, constraints, preferred};
use super::selector::Selector;
use super::watch::{NODE, domain};
use super::{Question, Topology};
use crate::api::node::Node;
use crate::api::pod::Pod;
use crate::gather::Gather;

/// The label that names a node.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// How Pods are spread which say nothing of it and are known to be alike.
const BY_DEFAULT: [(&str, i64); 2] = [(HOSTNAME, 3), ("topology.kubernetes.io/zone", 5)];

/// What a Pod prefers, with where the counts are. Holds until [`Topology::wanted`] is asked for the next Pod.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduler) struct Leanings {
    /// Where Pods are that it prefers to be near, by weight; below nothing where it is to be away.
    preferred: Vec<(usize, String, i64)>,
    /// Terms of placed Pods that mean it.
    held: Vec<usize>,
    spread: Vec<(Constraint, usize)>,
    /// Whether only nodes with all labels of the constraints are compared.
    needs_labels: bool,
}

impl Leanings {
    /// Whether spread is nothing to the Pod.
    pub(in crate::scheduler) fn has_spread(&self) -> bool {
        !self.spread.is_empty()
    }

    /// Whether Pods attract or repel it.
    pub(in crate::scheduler) fn has_affinity(&self) -> bool {
        !(self.preferred.is_empty() && self.held.is_empty())
    }
}

impl Topology {
    /// What a Pod prefers. `like` says which Pods its owners or Services take to be like it, `ignores_terms` whether terms of placed Pods
    /// count only for Pods with preferred terms.
    pub(in crate::scheduler) fn leanings(
        &mut self,
        (pod, own): (&Pod, &Pod),
        like: &Selector,
        ignores_terms: bool,
    ) -> Leanings {
        let subject = (pod.metadata.namespace.as_str(), &pod.metadata.labels);
        let mut held = self.held.about(&self.namespaces, subject, |pull| pull != Pull::Away);
        // Constraints that are not looked at keep the usual ones away, too.
        let needs_labels = [pod, own].iter().any(|pod| !pod.spec.topology_spread_constraints.is_empty());
        let spread = if needs_labels {
            constraints((pod, own), true)
        } else if like.is_empty() || *like == Selector::Nothing {
            Vec::new()
        } else {
            BY_DEFAULT.map(|rule| Constraint::by_default(own, rule, like)).into()
        };
        let preferred = preferred(pod);
        if ignores_terms && preferred.is_empty() {
            held.clear();
        }
        let mut leanings = Leanings { held, needs_labels, ..Leanings::default() };
        for (term, weight) in preferred {
            let question = Question { pods: vec![term.pods], keys: vec![term.key.clone()], nodes: None };
            leanings.preferred.push((self.watch(question), term.key, weight));
        }
        for constraint in spread {
            let key = if constraint.key == HOSTNAME { NODE.to_owned() } else { constraint.key.clone() };
            let number = self.watch(Question {
                pods: vec![constraint.pods.clone()],
                keys: vec![key],
                nodes: Some(Arc::clone(&constraint.nodes)),
            });
            leanings.spread.push((constraint, number));
        }
        leanings
    }

    /// By how much Pods attract a Pod to a node; `required` is what a required term of theirs counts.
    pub(in crate::scheduler) fn attraction(&self, leanings: &Leanings, node: &Node, required: i64) -> i64 {
        let labels = &node.metadata.labels;
        let times = |count: u64, weight: i64| i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(weight);
        let own = leanings.preferred.iter().filter_map(|(number, key, weight)| {
            Some(times(self.watches.get(*number)?.pods.first()?.count(labels.get(key)?), *weight))
        });
        let others = leanings.held.iter().filter_map(|number| {
            let (held, domains, _) = self.held.terms.get(number)?;
            let (term, pull) = &**held;
            let weight = match pull {
                Pull::Away => return None,
                Pull::Required => required,
                Pull::By(weight) => *weight,
            };
            Some(times(domains.count(labels.get(&term.key)?), weight))
        });
        own.chain(others).fold(0, i64::saturating_add)
    }

    /// How crowded nodes are by Pods like one; `None` for a node that lacks a label and is worse than all others.
    pub(in crate::scheduler) fn crowds(&self, leanings: &Leanings, nodes: &[&Node]) -> Vec<Option<i64>> {
        let has_labels = |node: &Node| {
            leanings.spread.iter().all(|(constraint, _)| node.metadata.labels.contains_key(&constraint.key))
        };
        let compared: Vec<&Node> =
            nodes.iter().copied().filter(|node| !leanings.needs_labels || has_labels(node)).collect();
        let weights: Vec<f64> = leanings
            .spread
            .iter()
            .map(|(constraint, _)| {
                let is_host = constraint.key == HOSTNAME;
                let domains = || compared.iter().map(|node| value(node, &constraint.key)).gather::<BTreeSet<_>>().len();
                logarithm(if is_host { compared.len() } else { domains() }.saturating_add(2))
            })
            .collect();
        let crowd = |node: &Node| {
            let parts = leanings.spread.iter().zip(&weights).filter_map(|((constraint, number), weight)| {
                node.metadata.labels.get(&constraint.key)?;
                let watch = self.watches.get(*number)?;
                let value = domain(node, watch.question.keys.first()?)?;
                let count = watch.pods.first()?.count(value);
                Some(count as f64 * weight + constraint.max_skew.saturating_sub(1) as f64)
            });
            // The order of the sum is part of the answer.
            parts.fold(0.0, |sum, part| sum + part).round() as i64
        };
        let is_compared = |node: &Node| !leanings.needs_labels || has_labels(node);
        nodes.iter().map(|node| is_compared(node).then(|| crowd(node))).collect()
    }
}

/// The value of a label; nodes without it are a domain of their own.
fn value<'n>(node: &'n Node, key: &str) -> &'n str {
    node.metadata.labels.get(key).map_or("", String::as_str)
}

/// The natural logarithm of a whole number above nothing, as Go's `math.Log` computes it: the same on every host.
fn logarithm(number: usize) -> f64 {
    const HIGH: f64 = 6.931_471_803_691_238e-1;
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    let exponent = usize::BITS.saturating_sub(number.leading_zeros());
    let (mut fraction, mut exponent) =
        (number as f64 / 2f64.powi(i32::try_from(exponent).unwrap_or(0)), f64::from(exponent));
    if fraction < std::f64::consts::FRAC_1_SQRT_2 {
        fraction *= 2.0;
        exponent -= 1.0;
    }
    let f = fraction - 1.0;
    let s = f / (2.0 + f);
    let (s2, s4) = (s * s, s * s * (s * s));
    let odd = s2
        * (6.666_666_666_666_735e-1
            + s4 * (2.857_142_874_366_239e-1 + s4 * (1.818_357_216_161_805e-1 + s4 * 1.479_819_860_511_658_6e-1)));
    let even = s4 * (3.999_999_999_940_942e-1 + s4 * (2.222_219_843_214_978_4e-1 + s4 * 1.531_383_769_920_937_3e-1));
    let half = 0.5 * f * f;
    exponent * HIGH - ((half - (s * (half + (odd + even)) + exponent * LOW)) - f)
}

#[cfg(test)]
mod tests {
    #[test]
    fn logarithms_are_right() {
        for number in 2..10_000usize {
            let right = (number as f64).ln();
            assert!((super::logarithm(number) - right).abs() <= right * 1e-15, "{number}");
        }
        assert_eq!(super::logarithm(2), std::f64::consts::LN_2);
    }
}
