//! Nodes compared by what is left of their processors and memory.
//!
//! Source: `pkg/scheduler/framework/plugins/noderesources`; the numbers are kube-scheduler's to the unit, which reckons in 64 bits.

use super::MOST;
use crate::api::pod::Pod;
use crate::profile::Version;
use crate::scheduler::node_fit::{Resources, requests};
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

    /// Whether a Pod asks for neither.
    pub(super) fn is_nothing(self) -> bool {
        (self.cpu, self.memory) == (0, 0)
    }
}

/// Processors and memory.
pub(in crate::scheduler) fn amounts(resources: &Resources) -> (i64, i64) {
    let cpu = resources.get("cpu").map_or(0, |cpu| cpu.milli_rounded_up());
    (cpu, resources.get("memory").map_or(0, |memory| memory.value_rounded_up()))
}

/// `NodeResourcesFit` with the strategy `LeastAllocated`: the more is left, the better.
pub(super) fn least_allocated((cpu, memory): (i64, i64), used: Load, pod: Load) -> i64 {
    let asked = used.plus(pod);
    let scores = [(cpu, asked.assumed_cpu), (memory, asked.assumed_memory)]
        .into_iter()
        .filter(|(capacity, _)| *capacity != 0)
        .map(|(capacity, asked)| {
            let left = i128::from(capacity).saturating_sub(i128::from(asked));
            let score = left.saturating_mul(i128::from(MOST)).checked_div(i128::from(capacity));
            if asked > capacity { 0 } else { score.and_then(|score| i64::try_from(score).ok()).unwrap_or_default() }
        });
    let (sum, count) =
        scores.fold((0i64, 0i64), |(sum, count), score| (sum.saturating_add(score), count.saturating_add(1)));
    sum.checked_div(count).unwrap_or_default()
}

/// `NodeResourcesBalancedAllocation`: from 1.36 on how much the Pod improves the balance, before how good it is with the Pod.
pub(super) fn balanced((cpu, memory): (i64, i64), used: Load, pod: Load, version: Version) -> i64 {
    let balance = |load: Load| balance([(cpu, load.cpu), (memory, load.memory)]);
    let with = balance(used.plus(pod));
    if version < Version::V1_36 {
        return with;
    }
    let half = MOST / 2;
    half.saturating_add(half.saturating_add(with).saturating_sub(balance(used)) / 2)
}

fn balance(shares: [(i64, i64); 2]) -> i64 {
    let share = |(capacity, asked): (i64, i64)| (capacity != 0).then(|| (asked as f64 / capacity as f64).min(1.0));
    let deviation = match shares.map(share) {
        [Some(cpu), Some(memory)] => ((cpu - memory) / 2.0).abs(),
        _ => 0.0,
    };
    ((1.0 - deviation) * MOST as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(cpu: i64, memory: i64) -> Load {
        Load { cpu, memory, assumed_cpu: cpu, assumed_memory: memory }
    }

    #[test]
    fn scores_are_those_of_the_upstream_tests() {
        // From `least_allocated_test.go` and `balanced_allocation_test.go` of 1.36.
        assert_eq!(least_allocated((4000, 10000), load(0, 0), load(3000, 5000)), 37);
        assert_eq!(least_allocated((6000, 10000), load(0, 0), load(3000, 5000)), 50);
        assert_eq!(least_allocated((4000, 10000), load(6000, 0), load(0, 0)), 50);
        assert_eq!(balanced((4000, 10000), load(0, 0), load(3000, 5000), Version::V1_35), 87);
        assert_eq!(balanced((4000, 10000), load(0, 0), load(3000, 5000), Version::V1_36), 68);
        assert_eq!(balanced((6000, 10000), load(0, 0), load(3000, 5000), Version::V1_36), 75);
        assert_eq!(balanced((0, 0), load(0, 0), load(1, 1), Version::V1_36), 75);
    }
}
