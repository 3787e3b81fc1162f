//! Pods, as far as device allocation looks at them.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::Value;

use super::condition::{condition, text};
use super::meta::ObjectMeta;
use super::node::{NodeSelector, NodeSelectorTerm, NodeTaint};
use super::quantity::Quantity;
use super::read::api_struct;
use super::source::LabelSelector;

/// The scheduler of Pods that name none.
pub const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// The scheduler of the controller's part `scheduler`, which decides as kube-scheduler does here.
pub(crate) const OWN_SCHEDULER: &str = "apportion";

api_struct! {
    /// `v1` Pod.
    open Pod {
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// Desired state.
        "spec" spec: PodSpec,
        /// Observed state.
        "status" status: PodStatus,
    }

    /// `v1` PodTemplateSpec.
    open PodTemplateSpec {
        /// Metadata of the Pods.
        "metadata" metadata: ObjectMeta,
        /// Spec of the Pods.
        "spec" spec: PodSpec,
    }

    /// `PodSpec`.
    open PodSpec {
        /// The node it runs on; empty until it is scheduled.
        "nodeName" node_name: String,
        /// Labels that the node must have.
        "nodeSelector" node_selector: BTreeMap<String, String>,
        /// Affinity to nodes and to other Pods.
        "affinity" affinity: Option<Affinity>,
        /// Tolerations of node taints.
        "tolerations" tolerations: Vec<NodeToleration>,
        /// How Pods are spread over domains of nodes.
        "topologySpreadConstraints" topology_spread_constraints: Vec<TopologySpreadConstraint>,
        /// Containers.
        "containers" containers: Vec<Container>,
        /// Init containers; those with `restartPolicy: Always` are sidecars.
        "initContainers" init_containers: Vec<Container>,
        /// Claims that the Pod needs.
        "resourceClaims" resource_claims: Vec<PodResourceClaim>,
        /// The PodGroup that it is part of (KEP-5832).
        "schedulingGroup" scheduling_group: Option<PodSchedulingGroup>,
        /// The same in `v1alpha1`.
        "workloadRef" workload_ref: Option<PodSchedulingGroup>,
        /// Which scheduler is responsible.
        "schedulerName" scheduler_name: String,
        /// What must go away before the Pod may be scheduled.
        "schedulingGates" scheduling_gates: Vec<Value>,
        /// Pods of higher priority are scheduled first; 0 where left out.
        "priority" priority: Option<i64>,
        /// What the Pod takes beyond its containers, by resource name.
        "overhead" overhead: BTreeMap<String, Quantity>,
        /// Resources of the Pod as a whole, which win over those of its containers.
        "resources" resources: Option<ResourceRequirements>,
    }

    /// `Affinity`.
    open Affinity {
        /// Affinity to nodes.
        "nodeAffinity" node_affinity: Option<NodeAffinity>,
        /// Pods that the Pod is to be near.
        "podAffinity" pod_affinity: Option<PodAffinity>,
        /// Pods that the Pod is to be away from.
        "podAntiAffinity" pod_anti_affinity: Option<PodAffinity>,
    }

    /// `NodeAffinity`.
    open NodeAffinity {
        /// Which nodes are allowed.
        "requiredDuringSchedulingIgnoredDuringExecution" required: Option<NodeSelector>,
        /// Which nodes are better than others.
        "preferredDuringSchedulingIgnoredDuringExecution" preferred: Vec<PreferredSchedulingTerm>,
    }

    /// `PreferredSchedulingTerm`: nodes that are better by a weight.
    open PreferredSchedulingTerm {
        /// From 1 to 100.
        "weight" weight: i64,
        /// Which nodes.
        "preference" preference: NodeSelectorTerm,
    }

    /// `PodAffinity` and `PodAntiAffinity`, which have the same fields.
    open PodAffinity {
        /// Terms that must all hold.
        "requiredDuringSchedulingIgnoredDuringExecution" required: Vec<PodAffinityTerm>,
        /// Terms that make a node better or worse.
        "preferredDuringSchedulingIgnoredDuringExecution" preferred: Vec<WeightedPodAffinityTerm>,
    }

    /// `WeightedPodAffinityTerm`.
    open WeightedPodAffinityTerm {
        /// From 1 to 100.
        "weight" weight: i64,
        /// The term.
        "podAffinityTerm" term: PodAffinityTerm,
    }

    /// `PodAffinityTerm`: Pods in the same domain of nodes.
    open PodAffinityTerm {
        /// Their labels; absent for no Pods, empty for all.
        "labelSelector" label_selector: Option<LabelSelector>,
        /// Their namespaces by name; the Pod's own where neither these nor `namespaceSelector` are given.
        "namespaces" namespaces: Vec<String>,
        /// The label of nodes whose value names the domain.
        "topologyKey" topology_key: String,
        /// Their namespaces by label; empty for all.
        "namespaceSelector" namespace_selector: Option<LabelSelector>,
        /// Labels in which they must be like the Pod.
        "matchLabelKeys" match_label_keys: Vec<String>,
        /// Labels in which they must differ from the Pod.
        "mismatchLabelKeys" mismatch_label_keys: Vec<String>,
    }

    /// `TopologySpreadConstraint`.
    open TopologySpreadConstraint {
        /// How many Pods a domain may have more than the one with fewest.
        "maxSkew" max_skew: i64,
        /// The label of nodes whose value names the domain.
        "topologyKey" topology_key: String,
        /// `DoNotSchedule` or `ScheduleAnyway`.
        "whenUnsatisfiable" when_unsatisfiable: String,
        /// Labels of the Pods that are counted; absent for no Pods.
        "labelSelector" label_selector: Option<LabelSelector>,
        /// With fewer domains than this the fewest Pods of one count as none; 1 where left out.
        "minDomains" min_domains: Option<i64>,
        /// Whether nodes count that the Pod's node selector and affinity rule out: `Honor` (default) or `Ignore`.
        "nodeAffinityPolicy" node_affinity_policy: String,
        /// Whether nodes count whose taints the Pod does not tolerate: `Honor` or `Ignore` (default).
        "nodeTaintsPolicy" node_taints_policy: String,
        /// Labels in which Pods must be like the Pod to be counted.
        "matchLabelKeys" match_label_keys: Vec<String>,
    }

    /// A toleration of node taints.
    open NodeToleration {
        /// Key; empty for every key.
        "key" key: String,
        /// `Equal` or `Exists`; empty for `Equal`; `Gt` or `Lt` behind `TaintTolerationComparisonOperators`.
        "operator" operator: String,
        /// Value, for all but `Exists`.
        "value" value: String,
        /// Effect; empty for every effect.
        "effect" effect: String,
    }

    /// `Container`.
    open Container {
        /// Name, unique in the Pod.
        "name" name: String,
        /// Image.
        "image" image: String,
        /// Resources.
        "resources" resources: ResourceRequirements,
        /// `Always` makes an init container a sidecar.
        "restartPolicy" restart_policy: String,
    }

    /// `ResourceRequirements`.
    closed ResourceRequirements {
        /// Upper bounds, by resource name.
        "limits" limits: BTreeMap<String, Quantity>,
        /// What is set aside, by resource name.
        "requests" requests: BTreeMap<String, Quantity>,
        /// Claims of the Pod that the container uses.
        "claims" claims: Vec<ContainerClaim>,
    }

    /// `ResourceClaim` of a container: which claim of the Pod it uses.
    closed ContainerClaim {
        /// Name of the entry in the Pod's `resourceClaims`.
        "name" name: String,
        /// One request of the claim; empty for all.
        "request" request: String,
    }

    /// `PodResourceClaim`: exactly one source is set in a valid entry.
    closed PodResourceClaim {
        /// Name by which containers refer to it.
        "name" name: String,
        /// A claim that exists.
        "resourceClaimName" resource_claim_name: Option<String>,
        /// A template in the Pod's namespace, from which a claim is made for this Pod.
        "resourceClaimTemplateName" resource_claim_template_name: Option<String>,
        /// An entry of the Pod's PodGroup (KEP-5729 as proposed).
        "podGroupResourceClaim" pod_group_resource_claim: Option<String>,
        /// A cluster-wide template (KEP-5978).
        "clusterResourceClaimTemplateName" cluster_resource_claim_template_name: Option<String>,
    }

    /// `PodSchedulingGroup`.
    open PodSchedulingGroup {
        /// Name of the PodGroup, in the Pod's namespace.
        "podGroupName" pod_group_name: String,
    }

    /// `PodStatus`.
    open PodStatus {
        /// `Pending`, `Running`, `Succeeded`, `Failed`; empty for `Pending`.
        "phase" phase: String,
        /// Conditions.
        "conditions" conditions: Vec<Value>,
        /// The node on which the scheduler is about to place the Pod.
        "nominatedNodeName" nominated_node_name: String,
        /// Names of the claims made for the Pod.
        "resourceClaimStatuses" resource_claim_statuses: Vec<PodResourceClaimStatus>,
        /// The claim made for extended resources that devices serve (KEP-5004).
        "extendedResourceClaimStatus" extended_resource_claim_status: Option<PodExtendedResourceClaimStatus>,
        /// What devices of the Pod take of its node's own resources (KEP-5517), by name of the claim.
        "nodeAllocatableResourceClaimStatuses" node_allocatable_resource_claim_statuses: Vec<NodeAllocatableClaimStatus>,
    }

    /// `NodeAllocatableResourceClaimStatus`: what the devices of one claim take of the Pod's node.
    closed NodeAllocatableClaimStatus {
        /// The claim.
        "resourceClaimName" resource_claim_name: String,
        /// Containers that refer to it.
        "containers" containers: Vec<String>,
        /// Amounts by resource name, in the shape of 1.36.
        "resources" resources: BTreeMap<String, Quantity>,
        /// What the devices stand for, by name, in the shape of 1.37.
        "mapping" mapping: Vec<NodeAllocatableMapped>,
        /// What using them costs, by name, in the shape of 1.37.
        "overhead" overhead: Vec<NodeAllocatableCost>,
    }

    /// `NodeAllocatableMappedResources`.
    closed NodeAllocatableMapped {
        /// The resource.
        "name" name: String,
        /// The amount.
        "quantity" quantity: Option<Quantity>,
    }

    /// `NodeAllocatableOverheadResources`.
    closed NodeAllocatableCost {
        /// The resource.
        "name" name: String,
        /// For the Pod.
        "perPod" per_pod: Option<Quantity>,
        /// For each container that refers to the claim.
        "perContainer" per_container: Option<Quantity>,
    }

    /// `PodResourceClaimStatus`.
    closed PodResourceClaimStatus {
        /// Name of the entry in the Pod's `resourceClaims`.
        "name" name: String,
        /// The claim made for it; absent where none is needed.
        "resourceClaimName" resource_claim_name: Option<String>,
    }

    /// `PodExtendedResourceClaimStatus`.
    open PodExtendedResourceClaimStatus {
        /// The claim.
        "resourceClaimName" resource_claim_name: String,
        /// Which request of the claim serves which resource of which container.
        "requestMappings" request_mappings: Vec<Value>,
    }

    /// `v1` Namespace; its labels permit admin access.
    open Namespace {
        /// Metadata.
        "metadata" metadata: ObjectMeta,
    }
}

impl TopologySpreadConstraint {
    /// Whether it makes nodes better or worse and rules none out.
    pub fn is_soft(&self) -> bool {
        self.when_unsatisfiable == "ScheduleAnyway"
    }
}

impl NodeToleration {
    /// How the value of a taint compares with its own; `None` unless both are numbers.
    pub(crate) fn compares(&self, taint: &NodeTaint) -> Option<Ordering> {
        Some(Self::number(&taint.value)?.cmp(&Self::number(&self.value)?))
    }

    /// A whole number of 64 bits, written without leading zeros and plus sign.
    pub(crate) fn number(text: &str) -> Option<i64> {
        text.parse::<i64>().ok().filter(|number| number.to_string() == text)
    }
}

impl Pod {
    /// Name of the PodGroup that the Pod says it is part of, whether or not that exists.
    pub fn group_name(&self) -> Option<&str> {
        let group = self.spec.scheduling_group.as_ref().or(self.spec.workload_ref.as_ref())?;
        Some(group.pod_group_name.as_str()).filter(|name| !name.is_empty())
    }

    /// Name of the claim that the scheduler made for the Pod's extended resources (KEP-5004).
    pub fn extended_resource_claim(&self) -> Option<&String> {
        self.status.extended_resource_claim_status.as_ref().map(|status| &status.resource_claim_name)
    }

    /// What the scheduler said when it tried the Pod last, in vain.
    pub(crate) fn last_refusal(&self) -> Option<&str> {
        let condition =
            condition(&self.status.conditions, "PodScheduled").filter(|found| text(found, "status") == "False")?;
        Some(text(condition, "message")).filter(|message| !message.is_empty())
    }

    /// The scheduler that gives it a node.
    pub fn scheduler(&self) -> &str {
        if self.spec.scheduler_name.is_empty() { DEFAULT_SCHEDULER } else { &self.spec.scheduler_name }
    }

    /// Its priority: 0 where it has none.
    pub fn priority(&self) -> i64 {
        self.spec.priority.unwrap_or_default()
    }

    /// Whether the Pod has run to its end.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }
}
