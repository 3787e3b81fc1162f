//! `kubescheduler.config.k8s.io/v1` KubeSchedulerConfiguration: which plugins a kube-scheduler runs, and their arguments.
//!
//! Source: `staging/src/k8s.io/kube-scheduler/config/v1`, `pkg/scheduler/apis/config/validation`.

mod check;

use std::collections::BTreeMap;

use serde_json::Value;

pub use check::{PLUGINS, POINTS, arguments};

use super::meta::ObjectMeta;
use super::pod::{NodeAffinity, TopologySpreadConstraint};
use super::read::api_struct;

/// API group of [`SchedulerConfiguration`].
pub const GROUP: &str = "kubescheduler.config.k8s.io";

/// Its kind.
pub const KIND: &str = "KubeSchedulerConfiguration";

/// The name under which it is kept: it has none of its own.
pub const NAME: &str = "kube-scheduler";

api_struct! {
    /// `KubeSchedulerConfiguration`.
    closed SchedulerConfiguration {
        /// Metadata, which the file does not have.
        "metadata" metadata: ObjectMeta,
        /// The schedulers that it runs, by the names that Pods use.
        "profiles" profiles: Vec<SchedulerProfile>,
        /// How many of the nodes that fit are compared, in percent.
        "percentageOfNodesToScore" percentage_of_nodes_to_score: Option<i64>,
        /// How many placements of a group are compared, in percent; since 1.38.
        "percentageOfPlacementsToScore" percentage_of_placements_to_score: Option<i64>,
        /// Programs that are asked beside the plugins.
        "extenders" extenders: Vec<Value>,
        /// How many nodes are looked at at a time.
        "parallelism" parallelism: Option<i64>,
        /// How it reaches the API server.
        "clientConnection" client_connection: Option<Value>,
        /// How one of several is chosen.
        "leaderElection" leader_election: Option<Value>,
        /// Pause after a first failed attempt.
        "podInitialBackoffSeconds" pod_initial_backoff_seconds: Option<i64>,
        /// The longest pause.
        "podMaxBackoffSeconds" pod_max_backoff_seconds: Option<i64>,
        /// Whether caches are filled by the leader only.
        "delayCacheUntilActive" delay_cache_until_active: bool,
        /// Whether it can be profiled.
        "enableProfiling" enable_profiling: Option<bool>,
        /// Whether its locks can be profiled.
        "enableContentionProfiling" enable_contention_profiling: Option<bool>,
    }

    /// `KubeSchedulerProfile`.
    closed SchedulerProfile {
        /// Pods that name this are its own; `default-scheduler` where it is left out.
        "schedulerName" scheduler_name: String,
        /// How many of the nodes that fit are compared, in percent.
        "percentageOfNodesToScore" percentage_of_nodes_to_score: Option<i64>,
        /// How many placements of a group are compared, in percent; since 1.38.
        "percentageOfPlacementsToScore" percentage_of_placements_to_score: Option<i64>,
        /// What differs from the default plugins, by the point of [`POINTS`].
        "plugins" plugins: BTreeMap<String, PluginSet>,
        /// Arguments of plugins.
        "pluginConfig" plugin_config: Vec<PluginConfig>,
    }

    /// `PluginSet`.
    closed PluginSet {
        /// Plugins that run beside the default ones, or in their place.
        "enabled" enabled: Vec<PluginEntry>,
        /// Default plugins that do not run; `*` for all.
        "disabled" disabled: Vec<PluginEntry>,
    }

    /// `Plugin`.
    closed PluginEntry {
        /// Its name.
        "name" name: String,
        /// How much its scores count; 0 for the default.
        "weight" weight: i64,
    }

    /// `PluginConfig`.
    closed PluginConfig {
        /// The plugin's name.
        "name" name: String,
        /// Its arguments, in a form of its own.
        "args" args: Value,
    }

    /// `NodeAffinityArgs`.
    closed NodeAffinityArgs {
        /// Affinity that all Pods have beside their own.
        "addedAffinity" added_affinity: Option<NodeAffinity>,
    }

    /// `NodeResourcesFitArgs`.
    closed NodeResourcesFitArgs {
        /// Extended resources that nodes need not have.
        "ignoredResources" ignored_resources: Vec<String>,
        /// The same by the part of their names before the slash.
        "ignoredResourceGroups" ignored_resource_groups: Vec<String>,
        /// How nodes are compared.
        "scoringStrategy" scoring_strategy: Option<ScoringStrategy>,
    }

    /// `ScoringStrategy`.
    closed ScoringStrategy {
        /// `LeastAllocated`, `MostAllocated` or `RequestedToCapacityRatio`.
        "type" kind: String,
        /// What is compared; processors and memory alike where it is left out.
        "resources" resources: Vec<ResourceSpec>,
        /// For `RequestedToCapacityRatio`.
        "requestedToCapacityRatio" requested_to_capacity_ratio: Option<RequestedToCapacityRatio>,
    }

    /// `ResourceSpec`.
    closed ResourceSpec {
        /// The resource's name.
        "name" name: String,
        /// How much it counts; 1 where it is left out.
        "weight" weight: i64,
    }

    /// `RequestedToCapacityRatioParam`.
    closed RequestedToCapacityRatio {
        /// Scores by utilization, the least one first.
        "shape" shape: Vec<UtilizationShapePoint>,
    }

    /// `UtilizationShapePoint`.
    closed UtilizationShapePoint {
        /// In percent.
        "utilization" utilization: i64,
        /// From 0 to 10.
        "score" score: i64,
    }

    /// `NodeResourcesBalancedAllocationArgs`.
    closed NodeResourcesBalancedAllocationArgs {
        /// What is compared; processors and memory where it is left out.
        "resources" resources: Vec<ResourceSpec>,
    }

    /// `VolumeBindingArgs`.
    closed VolumeBindingArgs {
        /// How long volumes may take, in seconds.
        "bindTimeoutSeconds" bind_timeout_seconds: Option<i64>,
        /// Scores by how full volumes are, in percent, the least one first; the emptier the better where it is left out.
        "shape" shape: Vec<UtilizationShapePoint>,
    }

    /// `PodTopologySpreadArgs`.
    closed PodTopologySpreadArgs {
        /// Constraints of Pods that have none of their own.
        "defaultConstraints" default_constraints: Vec<TopologySpreadConstraint>,
        /// `System` (default) or `List`.
        "defaultingType" defaulting_type: String,
    }

    /// `InterPodAffinityArgs`.
    closed InterPodAffinityArgs {
        /// How much a required term of a placed Pod attracts the Pods that it means, from 0 to 100; 1 where it is left out.
        "hardPodAffinityWeight" hard_pod_affinity_weight: Option<i64>,
        /// Whether preferred terms of placed Pods count only for Pods that have such terms themselves.
        "ignorePreferredTermsOfExistingPods" ignores_preferred_terms: bool,
    }
}
