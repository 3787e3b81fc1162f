//! Selectors of Pods, in a form that can be compared, ordered and looked up by a label.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::pod::{Pod, PodAffinityTerm, TopologySpreadConstraint};
use crate::api::source::{LabelOperator, LabelSelector};
use crate::gather::Gather;

/// Labels by name.
pub(super) type Labels = BTreeMap<String, String>;

/// What is asked of one label.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Test {
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Exists,
    Absent,
}

/// A label selector.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::scheduler) enum Selector {
    /// Selects nothing: no selector, or one with an operator that is not known.
    Nothing,
    /// All of these must hold.
    All(Requirements),
}

/// What is asked of labels, each by its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(in crate::scheduler) struct Requirements(BTreeSet<(String, Test)>);

impl Selector {
    /// Of a selector, if there is one.
    pub(in crate::scheduler) fn of(selector: Option<&LabelSelector>) -> Self {
        let Some(selector) = selector else { return Self::Nothing };
        let mut all = Requirements::default();
        for (key, value) in &selector.match_labels {
            all.require(key, Test::In([value.clone()].into()));
        }
        for requirement in &selector.match_expressions {
            let values = || requirement.values.iter().cloned().gather();
            let test = match requirement.operator {
                LabelOperator::In => Test::In(values()),
                LabelOperator::NotIn => Test::NotIn(values()),
                LabelOperator::Exists => Test::Exists,
                LabelOperator::DoesNotExist => Test::Absent,
                LabelOperator::Unknown(_) => return Self::Nothing,
            };
            all.require(&requirement.key, test);
        }
        Self::All(all)
    }

    /// The same with labels in which selected Pods are like a Pod that has them.
    fn like(mut self, keys: &[String], labels: &Labels) -> Self {
        if let Self::All(all) = &mut self {
            for (key, value) in keys.iter().filter_map(|key| labels.get_key_value(key)) {
                all.require(key, Test::In([value.clone()].into()));
            }
        }
        self
    }

    /// The same with labels in which selected Pods differ from a Pod that has them.
    fn unlike(mut self, keys: &[String], labels: &Labels) -> Self {
        if let Self::All(all) = &mut self {
            for (key, value) in keys.iter().filter_map(|key| labels.get_key_value(key)) {
                all.require(key, Test::NotIn([value.clone()].into()));
            }
        }
        self
    }

    /// Whether it selects whatever there is.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::All(all) if all.0.is_empty())
    }

    /// Whether labels satisfy it.
    pub(in crate::scheduler) fn matches(&self, labels: &Labels) -> bool {
        let Self::All(all) = self else { return false };
        all.0.iter().all(|(key, test)| match (labels.get(key), test) {
            (value, Test::In(values)) => value.is_some_and(|value| values.contains(value)),
            (value, Test::NotIn(values)) => value.is_none_or(|value| !values.contains(value)),
            (value, Test::Exists) => value.is_some(),
            (value, Test::Absent) => value.is_none(),
        })
    }

    /// A label with a value that everything selected has, if there is one.
    pub(super) fn certain(&self) -> Option<(&String, &String)> {
        let Self::All(all) = self else { return None };
        all.0.iter().find_map(|(key, test)| match test {
            Test::In(values) if values.len() == 1 => Some((key, values.first()?)),
            _ => None,
        })
    }
}

impl Requirements {
    fn require(&mut self, key: &str, test: Test) {
        self.0.insert((key.to_owned(), test));
    }
}

/// Which Pods a term of a Pod means.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::scheduler) struct PodSelector {
    namespaces: BTreeSet<String>,
    namespaces_with: Selector,
    pub(super) labels: Selector,
}

/// Labels of namespaces by name. One that was not given has its name as a label, as the API server sees to.
#[derive(Clone, Debug, Default)]
pub(super) struct Namespaces(pub(super) BTreeMap<String, Labels>);

impl Namespaces {
    fn select(&self, selector: &Selector, name: &str) -> bool {
        match self.0.get(name) {
            Some(labels) => selector.matches(labels),
            None => selector.matches(&[("kubernetes.io/metadata.name".to_owned(), name.to_owned())].into()),
        }
    }
}

impl PodSelector {
    /// Of a term of a Pod's affinity or anti-affinity.
    pub(super) fn of_term(term: &PodAffinityTerm, pod: &Pod) -> Self {
        let labels = &pod.metadata.labels;
        let own = term.namespaces.is_empty() && term.namespace_selector.is_none();
        Self {
            namespaces: match own {
                true => [pod.metadata.namespace.clone()].into(),
                false => term.namespaces.iter().cloned().gather(),
            },
            namespaces_with: Selector::of(term.namespace_selector.as_ref()),
            labels: Selector::of(term.label_selector.as_ref())
                .like(&term.match_label_keys, labels)
                .unlike(&term.mismatch_label_keys, labels),
        }
    }

    /// Of a spread constraint of a Pod.
    pub(super) fn of_constraint(constraint: &TopologySpreadConstraint, pod: &Pod) -> Self {
        let labels = Selector::of(constraint.label_selector.as_ref());
        Self::in_namespace_of(pod, labels.like(&constraint.match_label_keys, &pod.metadata.labels))
    }

    /// Of Pods in the namespace of one.
    pub(super) fn in_namespace_of(pod: &Pod, labels: Selector) -> Self {
        let namespaces = [pod.metadata.namespace.clone()].into();
        Self { namespaces, namespaces_with: Selector::Nothing, labels }
    }

    /// Whether it means a Pod with these labels in a namespace.
    pub(super) fn matches(&self, namespaces: &Namespaces, namespace: &str, labels: &Labels) -> bool {
        self.labels.matches(labels)
            && (self.namespaces.contains(namespace) || namespaces.select(&self.namespaces_with, namespace))
    }

    /// The same where the labels of the namespace are not known.
    pub(super) fn may_match(&self, namespace: &str, labels: &Labels) -> bool {
        let may_select = self.namespaces_with != Selector::Nothing;
        self.labels.matches(labels) && (may_select || self.namespaces.contains(namespace))
    }
}

/// Numbers by a label that everything has which they are looked up for, where there is such a label.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduler) struct ByLabel {
    certain: BTreeMap<String, BTreeMap<String, BTreeSet<usize>>>,
    others: BTreeSet<usize>,
}

impl ByLabel {
    /// Notes the number of a selector.
    pub(in crate::scheduler) fn insert(&mut self, selector: &Selector, number: usize) {
        match selector.certain() {
            Some((key, value)) => {
                self.certain.entry(key.clone()).or_default().entry(value.clone()).or_default().insert(number);
            }
            None => drop(self.others.insert(number)),
        }
    }

    /// Forgets it.
    pub(super) fn remove(&mut self, selector: &Selector, number: usize) {
        let Some((key, value)) = selector.certain() else {
            self.others.remove(&number);
            return;
        };
        let Some(values) = self.certain.get_mut(key) else { return };
        if let Some(numbers) = values.get_mut(value) {
            numbers.remove(&number);
            if numbers.is_empty() {
                values.remove(value);
            }
        }
        if values.is_empty() {
            self.certain.remove(key);
        }
    }

    /// The numbers of all selectors that may match labels, each once.
    pub(in crate::scheduler) fn candidates<'b>(&'b self, labels: &'b Labels) -> impl Iterator<Item = usize> + 'b {
        let with_labels = labels.iter().filter_map(|(key, value)| self.certain.get(key)?.get(value));
        with_labels.flatten().chain(&self.others).copied()
    }
}
