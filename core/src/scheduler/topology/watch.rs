//! Counts of placed Pods by domain, kept while Pods come and go.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::asks::Inclusion;
use super::selector::PodSelector;
use crate::api::node::Node;

/// Stands for the label whose value is a node's name; no label can have this name.
pub(super) const NODE: &str = " node";

/// The domain of a node.
pub(super) fn domain<'n>(node: &'n Node, key: &str) -> Option<&'n String> {
    if key == NODE { Some(&node.metadata.name) } else { node.metadata.labels.get(key) }
}

/// Which Pods are counted, and where.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Question {
    /// The Pods that match all of these.
    pub(super) pods: Vec<PodSelector>,
    /// The labels of nodes that name the domains.
    pub(super) keys: Vec<String>,
    /// For spread: the nodes that count; Pods that are being deleted do not.
    pub(super) nodes: Option<Arc<Inclusion>>,
}

/// The domains of one label, with how many of something each has; none has none.
#[derive(Clone, Debug, Default)]
pub(super) struct Domains {
    counts: BTreeMap<String, u64>,
    /// How many domains have so many.
    levels: BTreeMap<i64, usize>,
}

impl Domains {
    /// How many a domain has.
    pub(super) fn count(&self, domain: &str) -> u64 {
        self.counts.get(domain).copied().unwrap_or_default()
    }

    /// How many domains have some.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The fewest that a domain has which has some.
    fn fewest(&self) -> u64 {
        self.levels.first_key_value().map_or(0, |(count, _)| count.unsigned_abs())
    }

    /// The fewest that one of so many domains has.
    pub(super) fn fewest_of(&self, domains: usize) -> u64 {
        if self.len() < domains { 0 } else { self.fewest() }
    }

    pub(super) fn add(&mut self, domain: &str, more: u64) {
        self.change(domain, |count| count.saturating_add(more));
    }

    pub(super) fn take(&mut self, domain: &str, less: u64) {
        self.change(domain, |count| count.saturating_sub(less));
    }

    fn change(&mut self, domain: &str, to: impl Fn(u64) -> u64) {
        let before = self.count(domain);
        let after = to(before);
        if before == after {
            return;
        }
        if let Some(domains) = self.levels.get_mut(&level(before)) {
            *domains = domains.saturating_sub(1);
            if *domains == 0 {
                self.levels.remove(&level(before));
            }
        }
        if after == 0 {
            self.counts.remove(domain);
            return;
        }
        let domains = self.levels.entry(level(after)).or_default();
        *domains = domains.saturating_add(1);
        match self.counts.get_mut(domain) {
            Some(count) => *count = after,
            None => drop(self.counts.insert(domain.to_owned(), after)),
        }
    }
}

/// A count as a key.
fn level(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A question with its answer.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    pub(super) question: Question,
    /// Pods by domain, for each label.
    pub(super) pods: Vec<Domains>,
    /// Nodes that count by domain, for each label; for spread only.
    pub(super) nodes: Vec<Domains>,
    /// When it was asked last.
    pub(super) used: u64,
}

impl Watch {
    pub(super) fn new(question: Question) -> Self {
        let none = vec![Domains::default(); question.keys.len()];
        Self { question, pods: none.clone(), nodes: none, used: 0 }
    }

    /// Whether Pods of a node count.
    pub(super) fn includes(&self, node: &Node) -> bool {
        self.question.nodes.as_ref().is_none_or(|nodes| nodes.includes(node))
    }

    /// Counts matching Pods of a node that is included, or no longer.
    pub(super) fn count(&mut self, node: &Node, pods: u64, is_more: bool) {
        count(&mut self.pods, &self.question.keys, node, pods, is_more);
    }

    /// Counts a node, or no longer.
    pub(super) fn count_node(&mut self, node: &Node, is_more: bool) {
        if self.question.nodes.is_some() && self.includes(node) {
            count(&mut self.nodes, &self.question.keys, node, 1, is_more);
        }
    }
}

fn count(all: &mut [Domains], keys: &[String], node: &Node, number: u64, is_more: bool) {
    for (domains, key) in all.iter_mut().zip(keys) {
        match domain(node, key) {
            Some(domain) if is_more => domains.add(domain, number),
            Some(domain) => domains.take(domain, number),
            None => {}
        }
    }
}
