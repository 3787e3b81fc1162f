//! How nodes are compared: weights of plugins, and their arguments.

use super::resources::between;
use super::{MOST, Plugin};
use crate::api::scheduler_configuration::{
    InterPodAffinityArgs, NodeResourcesBalancedAllocationArgs, ResourceSpec, ScoringStrategy, UtilizationShapePoint,
    VolumeBindingArgs,
};
use crate::gather::Gather;
use crate::profile::Version;

/// The best score of a point in the arguments of `RequestedToCapacityRatio`.
const MOST_IN_SHAPE: i64 = 10;

/// How nodes are compared.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::scheduler) struct Rules {
    pub(super) version: Version,
    /// In the order of [`Plugin::ALL`].
    pub(super) weights: [i64; Plugin::ALL.len()],
    pub(super) strategy: Strategy,
    /// What `NodeResourcesFit` compares, each with how much it counts.
    pub(super) resources: Vec<(String, i64)>,
    /// What `NodeResourcesBalancedAllocation` compares.
    pub(super) balanced: Vec<String>,
    /// What `VolumeBinding` scores, from 0 to 100, by the percent of its volumes that a claim fills.
    pub(super) shape: Vec<(i64, i64)>,
    /// How much a required term of a placed Pod counts.
    pub(super) required: i64,
    /// Whether terms of placed Pods count only for Pods with preferred terms.
    pub(super) ignores_terms: bool,
    /// Whether Pods that say nothing of spread are spread as the system does.
    pub(super) spreads_by_default: bool,
}

/// Which nodes `NodeResourcesFit` takes to be better.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Strategy {
    /// Those of which most is left.
    Least,
    /// Those of which most is taken.
    Most,
    /// Scores from 0 to 100 by utilization in percent.
    Ratio(Vec<(i64, i64)>),
}

impl Rules {
    /// Those of the default profile.
    pub(in crate::scheduler) fn usual(version: Version) -> Self {
        let weights = Plugin::ALL.map(|plugin| plugin.weight(version));
        Self::of(
            version,
            weights,
            None,
            &NodeResourcesBalancedAllocationArgs::default(),
            &InterPodAffinityArgs::default(),
            &VolumeBindingArgs::default(),
        )
    }

    pub(in crate::scheduler) fn of(
        version: Version,
        weights: [i64; Plugin::ALL.len()],
        strategy: Option<ScoringStrategy>,
        balanced: &NodeResourcesBalancedAllocationArgs,
        affinity: &InterPodAffinityArgs,
        volumes: &VolumeBindingArgs,
    ) -> Self {
        let strategy = strategy.unwrap_or_default();
        let shape = strategy.requested_to_capacity_ratio.map(|ratio| ratio.shape).unwrap_or_default();
        let point =
            |point: &UtilizationShapePoint| (point.utilization, point.score.saturating_mul(MOST / MOST_IN_SHAPE));
        let weighted = |resources: &[ResourceSpec]| -> Vec<(String, i64)> {
            let usual = || ["cpu", "memory"].map(|name| (name.to_owned(), 1)).into();
            let given = resources.iter().map(|resource| (resource.name.clone(), resource.weight.max(1)));
            if resources.is_empty() { usual() } else { given.gather() }
        };
        Self {
            version,
            weights,
            strategy: match strategy.kind.as_str() {
                "MostAllocated" => Strategy::Most,
                "RequestedToCapacityRatio" => Strategy::Ratio(shape.iter().map(point).gather()),
                _ => Strategy::Least,
            },
            resources: weighted(&strategy.resources),
            balanced: weighted(&balanced.resources).into_iter().map(|(name, _)| name).gather(),
            shape: match volumes.shape.as_slice() {
                [] => vec![(0, MOST), (100, 0)],
                shape => shape.iter().map(point).gather(),
            },
            required: affinity.hard_pod_affinity_weight.unwrap_or(1),
            ignores_terms: affinity.ignores_preferred_terms,
            spreads_by_default: true,
        }
    }

    /// How much the scores of a plugin count.
    pub(super) fn weight(&self, plugin: Plugin) -> i64 {
        let mut weights = Plugin::ALL.iter().zip(self.weights);
        weights.find_map(|(of, weight)| (*of == plugin).then_some(weight)).unwrap_or_default()
    }

    /// `VolumeBinding`: the mean over classes, each with the bytes that are asked for and those that there are.
    pub(super) fn filled(&self, classes: &[(i64, i64)]) -> i64 {
        let score = |(asked, size): &(i64, i64)| {
            let part = asked.saturating_mul(MOST).checked_div(*size).unwrap_or(MOST);
            between(&self.shape, part.min(MOST))
        };
        let sum = classes.iter().map(score).fold(0, i64::saturating_add);
        (sum as f64 / classes.len().max(1) as f64).round() as i64
    }

    /// The same where constraints are given for Pods that have none.
    pub(in crate::scheduler) fn with_own_spread(self) -> Self {
        Self { spreads_by_default: false, ..self }
    }

    /// Whether a resource other than processors and memory is compared.
    pub(super) fn compares(&self, resource: &str) -> bool {
        let is_usual = matches!(resource, "cpu" | "memory");
        !is_usual
            && (self.resources.iter().any(|(name, _)| name == resource)
                || self.balanced.iter().any(|name| name == resource))
    }
}
