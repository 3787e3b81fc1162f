//! Nodes compared by what is left of their processors and memory.
//!
//! Source: `pkg/scheduler/framework/plugins/noderesources`; the numbers are kube-scheduler's to the unit, which reckons in 64 bits.

use super::MOST;
use super::rules::{Rules, Strategy};
use crate::api::pod::Pod;
use crate::api::quantity::Quantity;
use crate::gather::Gather;
use crate::profile::Version;
use crate::scheduler::node_fit::{NodeState, Resources, requests};
use crate::scheduler::requests::assumed_requests;

/// What Pods take of processors (in thousandths) and memory (in bytes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(in crate::scheduler) struct Load {
    cpu: i64,
    memory: i64,
    /// The same with a little for containers that ask for nothing.
    assumed_cpu: i64,
    assumed_memory: i64,
}

impl Load {
    /// Of a Pod whose requests are known.
    pub(in crate::scheduler) fn of(pod: &Pod, requests: &Resources) -> Self {
        let (cpu, memory) = amounts(requests);
        let assumed = assumed_requests(pod, requests);
        let (assumed_cpu, assumed_memory) = assumed.map_or((cpu, memory), |assumed| amounts(&assumed));
        Self { cpu, memory, assumed_cpu, assumed_memory }
    }

    /// Of a Pod that looks for a node: `NodeResourcesFit` does not count there what it asks for as a whole.
    pub(super) fn of_new(pod: &Pod, requested: &Resources) -> Self {
        let load = Self::of(pod, requested);
        if pod.spec.resources.is_none() {
            return load;
        }
        let mut bare = pod.clone();
        bare.spec.resources = None;
        let Self { assumed_cpu, assumed_memory, .. } = Self::of(&bare, &requests(&bare));
        Self { assumed_cpu, assumed_memory, ..load }
    }

    pub(in crate::scheduler) fn plus(self, other: Self) -> Self {
        self.with(other, i64::saturating_add)
    }

    pub(in crate::scheduler) fn minus(self, other: Self) -> Self {
        self.with(other, i64::saturating_sub)
    }

    fn with(self, other: Self, join: fn(i64, i64) -> i64) -> Self {
        Self {
            cpu: join(self.cpu, other.cpu),
            memory: join(self.memory, other.memory),
            assumed_cpu: join(self.assumed_cpu, other.assumed_cpu),
            assumed_memory: join(self.assumed_memory, other.assumed_memory),
        }
    }
}

/// Processors and memory.
pub(in crate::scheduler) fn amounts(resources: &Resources) -> (i64, i64) {
    let cpu = resources.get("cpu").map_or(0, |cpu| cpu.milli_rounded_up());
    (cpu, resources.get("memory").map_or(0, |memory| memory.value_rounded_up()))
}

/// What a node has of a resource, what is taken of it, and what a Pod asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Amount {
    capacity: i64,
    used: i64,
    asked: i64,
}

impl Amount {
    fn with(self) -> i64 {
        self.used.saturating_add(self.asked)
    }

    /// A part of what the node has, from 0 to [`MOST`].
    fn part(self, of: i64) -> i64 {
        let score = i128::from(of).saturating_mul(i128::from(MOST)).checked_div(i128::from(self.capacity));
        score.and_then(|score| i64::try_from(score).ok()).unwrap_or_default()
    }
}

/// A resource of a node; `None` where it is not compared. `others` is what the Pod asks for beside processors and memory.
fn amount(name: &str, state: &NodeState, pod: Load, others: &Resources, is_assumed: bool) -> Option<Amount> {
    let (used, (cpu, memory)) = (state.load(), state.amounts());
    let found = match (name, is_assumed) {
        ("cpu", true) => Amount { capacity: cpu, used: used.assumed_cpu, asked: pod.assumed_cpu },
        ("cpu", false) => Amount { capacity: cpu, used: used.cpu, asked: pod.cpu },
        ("memory", true) => Amount { capacity: memory, used: used.assumed_memory, asked: pod.assumed_memory },
        ("memory", false) => Amount { capacity: memory, used: used.memory, asked: pod.memory },
        _ => {
            let asked = others.get(name).map_or(0, Quantity::value_rounded_up);
            // What the Pod does not ask for says nothing about the node; the disk is no such resource.
            if asked == 0 && name != "ephemeral-storage" {
                return None;
            }
            let (capacity, used) = state.amount(name);
            Amount { capacity, used, asked }
        }
    };
    (found.capacity != 0).then_some(found)
}

/// `NodeResourcesFit`.
pub(super) fn fit(rules: &Rules, state: &NodeState, pod: Load, others: &Resources) -> i64 {
    let (mut sum, mut weights) = (0i64, 0i64);
    for (name, weight) in &rules.resources {
        let Some(amount) = amount(name, state, pod, others, true) else { continue };
        let score = rules.strategy.score(amount);
        if score > 0 || !matches!(rules.strategy, Strategy::Ratio(_)) {
            sum = sum.saturating_add(score.saturating_mul(*weight));
            weights = weights.saturating_add(*weight);
        }
    }
    match (&rules.strategy, weights) {
        (_, 0) => 0,
        (Strategy::Ratio(_), _) => (sum as f64 / weights as f64).round() as i64,
        _ => sum.checked_div(weights).unwrap_or_default(),
    }
}

impl Strategy {
    fn score(&self, amount: Amount) -> i64 {
        let is_too_much = amount.with() > amount.capacity;
        match self {
            Self::Least if is_too_much => 0,
            Self::Least => amount.part(amount.capacity.saturating_sub(amount.with())),
            Self::Most => amount.part(amount.with().min(amount.capacity)),
            Self::Ratio(shape) => between(shape, if is_too_much { MOST } else { amount.part(amount.with()) }),
        }
    }
}

/// The score of a utilization, on a line through the points.
pub(super) fn between(shape: &[(i64, i64)], utilization: i64) -> i64 {
    let mut before: Option<(i64, i64)> = None;
    for (at, score) in shape.iter().copied() {
        if utilization <= at {
            let Some((from, low)) = before else { return score };
            let rise = score.saturating_sub(low).saturating_mul(utilization.saturating_sub(from));
            return low.saturating_add(rise.checked_div(at.saturating_sub(from)).unwrap_or_default());
        }
        before = Some((at, score));
    }
    before.map_or(0, |(_, score)| score)
}

/// `NodeResourcesBalancedAllocation`: from 1.36 on how much the Pod improves the balance, before how good it is with the Pod. Nothing for a
/// Pod that asks for nothing of it.
pub(super) fn balanced(rules: &Rules, state: &NodeState, pod: Load, others: &Resources) -> i64 {
    let asks = |name: &String| match name.as_str() {
        "cpu" => pod.cpu != 0,
        "memory" => pod.memory != 0,
        name => others.get(name).is_some_and(|amount| amount.signum() != 0),
    };
    if !rules.balanced.iter().any(asks) {
        return 0;
    }
    let amounts = || rules.balanced.iter().filter_map(|name| amount(name, state, pod, others, false));
    let with = balance(amounts().map(|amount| (amount.capacity, amount.with())));
    if rules.version < Version::V1_36 {
        return with;
    }
    let half = MOST / 2;
    let without = balance(amounts().map(|amount| (amount.capacity, amount.used)));
    half.saturating_add(half.saturating_add(with).saturating_sub(without) / 2)
}

/// How alike the parts are that are taken of some resources.
fn balance(resources: impl Iterator<Item = (i64, i64)>) -> i64 {
    let part = |(capacity, asked): (i64, i64)| (asked as f64 / capacity as f64).min(1.0);
    let parts: Vec<f64> = resources.map(part).gather();
    let deviation = match parts.as_slice() {
        [] | [_] => 0.0,
        [one, other] => ((one - other) / 2.0).abs(),
        many => {
            let count = many.len() as f64;
            let mean = many.iter().fold(0.0, |sum, part| sum + part) / count;
            (many.iter().fold(0.0, |sum, part| sum + (part - mean) * (part - mean)) / count).sqrt()
        }
    };
    ((1.0 - deviation) * MOST as f64) as i64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::node::Node;
    use crate::api::quantity::Format;

    fn node(cpu: i64, memory: i64, gpus: i64) -> NodeState {
        let amounts = [("cpu", cpu, true), ("memory", memory, false), ("example.com/gpu", gpus, false)];
        let mut node = Node::default();
        for (name, amount, is_milli) in amounts {
            let amount = if is_milli {
                Quantity::from_milli(amount, Format::DecimalSi)
            } else {
                Quantity::from_i64(amount, Format::DecimalSi)
            };
            node.status.allocatable.insert(name.to_owned(), amount);
        }
        NodeState::new(Arc::new(node))
    }

    fn load(cpu: i64, memory: i64) -> Load {
        Load { cpu, memory, assumed_cpu: cpu, assumed_memory: memory }
    }

    fn rules(version: Version, strategy: &str, resources: &[(&str, i64)], shape: &[(i64, i64)]) -> Rules {
        let resources: Vec<(String, i64)> =
            resources.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
        Rules {
            strategy: match strategy {
                "MostAllocated" => Strategy::Most,
                "RequestedToCapacityRatio" => Strategy::Ratio(shape.to_vec()),
                _ => Strategy::Least,
            },
            balanced: resources.iter().map(|(name, _)| name.clone()).collect(),
            resources,
            ..Rules::usual(version)
        }
    }

    #[test]
    fn scores_are_those_of_the_upstream_tests() {
        // From `least_allocated_test.go` and `balanced_allocation_test.go` of 1.36.
        let usual = Rules::usual(Version::V1_36);
        let fit = |node: &NodeState, pod: Load| fit(&usual, node, pod, &Resources::new());
        assert_eq!(fit(&node(4000, 10000, 0), load(3000, 5000)), 37);
        assert_eq!(fit(&node(6000, 10000, 0), load(3000, 5000)), 50);
        let mut busy = node(4000, 10000, 0);
        busy.reckon(load(6000, 0));
        assert_eq!(fit(&busy, load(0, 0)), 50);
        let balanced = |version, node: &NodeState, pod| balanced(&Rules::usual(version), node, pod, &Resources::new());
        assert_eq!(balanced(Version::V1_35, &node(4000, 10000, 0), load(3000, 5000)), 87);
        assert_eq!(balanced(Version::V1_36, &node(4000, 10000, 0), load(3000, 5000)), 68);
        assert_eq!(balanced(Version::V1_36, &node(6000, 10000, 0), load(3000, 5000)), 75);
        assert_eq!(balanced(Version::V1_36, &node(0, 0, 0), load(1, 1)), 75);
    }

    #[test]
    fn strategies_score_as_their_formulas_say() {
        let none = Resources::new();
        let most = rules(Version::V1_37, "MostAllocated", &[("cpu", 1), ("memory", 3)], &[]);
        // (75 + 3 * 50) / 4
        assert_eq!(fit(&most, &node(4000, 10000, 0), load(3000, 5000), &none), 56);
        assert_eq!(fit(&most, &node(4000, 10000, 0), load(9000, 10000), &none), 100);
        let shape = [(0, 0), (50, 100), (100, 20)];
        let ratio = rules(Version::V1_37, "RequestedToCapacityRatio", &[("cpu", 1)], &shape);
        for (cpu, score) in [(0, 0), (1000, 50), (2000, 100), (3000, 60), (4000, 20), (5000, 20)] {
            assert_eq!(fit(&ratio, &node(4000, 10000, 0), load(cpu, 0), &none), score, "{cpu}");
        }
    }

    #[test]
    fn an_extended_resource_counts_for_pods_that_ask_for_it() {
        let gpu = Resources::from([("example.com/gpu".to_owned(), Quantity::from_i64(2, Format::DecimalSi))]);
        let most = rules(Version::V1_37, "MostAllocated", &[("cpu", 1), ("example.com/gpu", 5)], &[]);
        let node = node(4000, 10000, 8);
        // (50 + 5 * 25) / 6
        assert_eq!(fit(&most, &node, load(2000, 0), &gpu), 29);
        assert_eq!(fit(&most, &node, load(2000, 0), &Resources::new()), 50);
    }

    #[test]
    fn the_balance_of_three_resources_is_their_deviation() {
        let parts = [(4, 1), (4, 2), (4, 3)];
        // The deviation of 0.25, 0.5 and 0.75 is 0.204.
        assert_eq!(balance(parts.into_iter()), 79);
    }
}
