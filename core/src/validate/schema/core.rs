//! Pods and what makes Pods. Fields that play no part in claims and groups are known by name only.

use super::meta::{LABEL_SELECTOR, META, NODE_SELECTOR, NODE_SELECTOR_TERM};
use super::scheduling::CLAIM_STATUS_ENTRY;
use super::{Field, Type, field, proposed, since, until};
use crate::profile::Version::{V1_35, V1_36, V1_37};
use Type::{Any, Flag, Int32, Int64, List, Map, Object, Open, Opt, Quantity, Text};

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
        since(V1_37, "evictionResponders", Any),
        field("nodeName", Text),
        field("schedulerName", Text),
        field("nodeSelector", Map(&Text)),
        field("affinity", Opt(&Object(AFFINITY))),
        field("tolerations", List(&Object(TOLERATION))),
        field("topologySpreadConstraints", List(&Object(SPREAD))),
        field("schedulingGates", List(&Object(GATE))),
        field("priority", Opt(&Int32)),
        field("priorityClassName", Text),
        field("preemptionPolicy", Opt(&Text)),
        field("overhead", Map(&Quantity)),
        field("restartPolicy", Text),
        field("dnsPolicy", Text),
        field("hostNetwork", Flag),
        field("hostname", Text),
        field("subdomain", Text),
        field("runtimeClassName", Opt(&Text)),
        field("serviceAccountName", Text),
        field("activeDeadlineSeconds", Opt(&Int64)),
        field("terminationGracePeriodSeconds", Opt(&Int64)),
    ]
    "automountServiceAccountToken" "dnsConfig" "enableServiceLinks" "hostAliases" "hostIPC" "hostPID" "hostUsers"
    "hostnameOverride" "imagePullSecrets" "os" "readinessGates" "securityContext" "serviceAccount" "setHostnameAsFQDN"
    "shareProcessNamespace" "volumes"
);

static AFFINITY: &[Field] = &[
    field("nodeAffinity", Opt(&Object(NODE_AFFINITY))),
    field("podAffinity", Opt(&Object(POD_AFFINITY))),
    field("podAntiAffinity", Opt(&Object(POD_AFFINITY))),
];

static NODE_AFFINITY: &[Field] = &[
    field("requiredDuringSchedulingIgnoredDuringExecution", Opt(&Object(NODE_SELECTOR))),
    field("preferredDuringSchedulingIgnoredDuringExecution", List(&Object(PREFERRED_NODES))),
];

static PREFERRED_NODES: &[Field] = &[field("weight", Int32), field("preference", Object(NODE_SELECTOR_TERM))];

static POD_AFFINITY: &[Field] = &[
    field("requiredDuringSchedulingIgnoredDuringExecution", List(&Object(POD_TERM))),
    field("preferredDuringSchedulingIgnoredDuringExecution", List(&Object(PREFERRED_PODS))),
];

static PREFERRED_PODS: &[Field] = &[field("weight", Int32), field("podAffinityTerm", Object(POD_TERM))];

static POD_TERM: &[Field] = &[
    field("labelSelector", Opt(&Object(LABEL_SELECTOR))),
    field("namespaces", List(&Text)),
    field("topologyKey", Text),
    field("namespaceSelector", Opt(&Object(LABEL_SELECTOR))),
    field("matchLabelKeys", List(&Text)),
    field("mismatchLabelKeys", List(&Text)),
];

static TOLERATION: &[Field] = &[
    field("key", Text),
    field("operator", Text),
    field("value", Text),
    field("effect", Text),
    field("tolerationSeconds", Opt(&Int64)),
];

static SPREAD: &[Field] = &[
    field("maxSkew", Int32),
    field("topologyKey", Text),
    field("whenUnsatisfiable", Text),
    field("labelSelector", Opt(&Object(LABEL_SELECTOR))),
    field("minDomains", Opt(&Int32)),
    field("nodeAffinityPolicy", Opt(&Text)),
    field("nodeTaintsPolicy", Opt(&Text)),
    field("matchLabelKeys", List(&Text)),
];

static GATE: &[Field] = &[field("name", Text)];

static PORT: &[Field] = &[
    field("name", Text),
    field("hostPort", Int32),
    field("containerPort", Int32),
    field("protocol", Text),
    field("hostIP", Text),
];

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
    [
        field("name", Text),
        field("image", Text),
        field("resources", Object(REQUIREMENTS)),
        field("ports", List(&Object(PORT))),
        field("restartPolicy", Opt(&Text)),
        field("imagePullPolicy", Text),
        field("terminationMessagePolicy", Text),
    ]
    "args" "command" "env" "envFrom" "lifecycle" "livenessProbe" "readinessProbe" "resizePolicy" "restartPolicyRules"
    "securityContext" "startupProbe" "stdin" "stdinOnce" "terminationMessagePath" "tty" "volumeDevices" "volumeMounts"
    "workingDir"
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
