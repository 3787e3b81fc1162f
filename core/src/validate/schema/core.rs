//! Pods and what makes Pods. Fields that play no part in claims and groups are known by name only.

use super::meta::META;
use super::scheduling::CLAIM_STATUS_ENTRY;
use super::{Field, Type, field, proposed, since, until};
use crate::profile::Version::{V1_35, V1_36, V1_37};
use Type::{Any, List, Map, Object, Open, Opt, Quantity, Text};

/// Pod.
pub(in crate::validate) static POD: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Object(POD_SPEC)),
    field("status", Open(POD_STATUS)),
];

/// `PodTemplateSpec`.
pub(in crate::validate) static POD_TEMPLATE: &[Field] =
    &[field("metadata", Object(META)), field("spec", Object(POD_SPEC))];

macro_rules! by_name {
    ([$($known:expr,)*] $($name:literal)*) => { &[$($known,)* $(field($name, Any),)*] };
}

/// `PodSpec`.
pub(in crate::validate) static POD_SPEC: &[Field] = by_name!(
    [
        field("resourceClaims", POD_CLAIMS),
        field("containers", List(&Object(CONTAINER))),
        field("initContainers", List(&Object(CONTAINER))),
        field("ephemeralContainers", List(&Object(EPHEMERAL_CONTAINER))),
        field("resources", Opt(&Object(REQUIREMENTS))),
        since(V1_36, "schedulingGroup", SCHEDULING_GROUP),
        until(V1_35, "workloadRef", WORKLOAD_REF),
        field("nodeName", Text),
        field("schedulerName", Text),
        since(V1_37, "evictionResponders", Any),
    ]
    "activeDeadlineSeconds" "affinity" "automountServiceAccountToken" "dnsConfig" "dnsPolicy" "enableServiceLinks"
    "hostAliases" "hostIPC" "hostNetwork" "hostPID" "hostUsers" "hostname" "hostnameOverride" "imagePullSecrets"
    "nodeSelector" "os" "overhead" "preemptionPolicy" "priority" "priorityClassName" "readinessGates" "restartPolicy"
    "runtimeClassName" "schedulingGates" "securityContext" "serviceAccount" "serviceAccountName" "setHostnameAsFQDN"
    "shareProcessNamespace" "subdomain" "terminationGracePeriodSeconds" "tolerations" "topologySpreadConstraints" "volumes"
);

/// `spec.resourceClaims` of a Pod.
pub(in crate::validate) const POD_CLAIMS: Type = List(&Object(POD_CLAIM));
static POD_CLAIM: &[Field] = &[
    field("name", Text),
    field("resourceClaimName", Opt(&Text)),
    field("resourceClaimTemplateName", Opt(&Text)),
    proposed("podGroupResourceClaim", Opt(&Text)),
    proposed("clusterResourceClaimTemplateName", Opt(&Text)),
];

/// `spec.schedulingGroup` of a Pod.
pub(in crate::validate) const SCHEDULING_GROUP: Type = Opt(&Object(SCHEDULING_GROUP_FIELDS));
static SCHEDULING_GROUP_FIELDS: &[Field] = &[field("podGroupName", Opt(&Text))];

/// `spec.workloadRef` of a Pod, as shipped with 1.35 and as first proposed in KEP-5729.
pub(in crate::validate) const WORKLOAD_REF: Type = Opt(&Object(WORKLOAD_REF_FIELDS));
static WORKLOAD_REF_FIELDS: &[Field] =
    &[field("name", Text), field("podGroup", Text), field("podGroupReplicaKey", Text), proposed("podGroupName", Text)];

static CONTAINER: &[Field] = by_name!(
    [field("name", Text), field("resources", Object(REQUIREMENTS)),]
    "args" "command" "env" "envFrom" "image" "imagePullPolicy" "lifecycle" "livenessProbe" "ports" "readinessProbe"
    "resizePolicy" "restartPolicy" "restartPolicyRules" "securityContext" "startupProbe" "stdin" "stdinOnce"
    "terminationMessagePath" "terminationMessagePolicy" "tty" "volumeDevices" "volumeMounts" "workingDir"
);

static EPHEMERAL_CONTAINER: &[Field] = by_name!(
    [field("name", Text), field("resources", Object(REQUIREMENTS)),]
    "args" "command" "env" "envFrom" "image" "imagePullPolicy" "lifecycle" "livenessProbe" "ports" "readinessProbe"
    "resizePolicy" "restartPolicy" "restartPolicyRules" "securityContext" "startupProbe" "stdin" "stdinOnce"
    "targetContainerName" "terminationMessagePath" "terminationMessagePolicy" "tty" "volumeDevices" "volumeMounts"
    "workingDir"
);

static REQUIREMENTS: &[Field] = &[
    field("limits", Map(&Quantity)),
    field("requests", Map(&Quantity)),
    field("claims", List(&Object(CONTAINER_CLAIM))),
];

static CONTAINER_CLAIM: &[Field] = &[field("name", Text), field("request", Text)];

static POD_STATUS: &[Field] = &[
    field("resourceClaimStatuses", List(&Object(CLAIM_STATUS_ENTRY))),
    field("extendedResourceClaimStatus", Opt(&Object(EXTENDED_STATUS))),
    field("nodeAllocatableResourceClaimStatuses", List(&Object(NODE_STATUS))),
];

static EXTENDED_STATUS: &[Field] =
    &[field("requestMappings", List(&Object(REQUEST_MAPPING))), field("resourceClaimName", Text)];

static REQUEST_MAPPING: &[Field] =
    &[field("containerName", Text), field("resourceName", Text), field("requestName", Text)];

static NODE_STATUS: &[Field] = &[
    field("resourceClaimName", Text),
    field("containers", List(&Text)),
    until(V1_36, "resources", Map(&Quantity)),
    since(V1_37, "mapping", List(&Object(NODE_MAPPED))),
    since(V1_37, "overhead", List(&Object(NODE_OVERHEAD))),
];

static NODE_MAPPED: &[Field] = &[field("name", Text), field("quantity", Opt(&Quantity))];
static NODE_OVERHEAD: &[Field] =
    &[field("name", Text), field("perPod", Opt(&Quantity)), field("perContainer", Opt(&Quantity))];
