//! Pods and what makes Pods. Fields that play no part in claims and groups are known by name only.

use super::Type;
use super::meta::{LABEL_SELECTOR, META, NODE_SELECTOR, NODE_SELECTOR_TERM, TOLERATION};
use super::scheduling::CLAIM_STATUS_ENTRY;
use Type::{Any, Flag, Int32, Int64, List, Map, Opt, Quantity, Text};

/// Pod.
pub(in crate::validate) static POD: Type = kind! { spec: POD_SPEC; status: POD_STATUS };

/// `PodTemplateSpec`.
pub(in crate::validate) const POD_TEMPLATE: Type = open! { metadata: META; spec: POD_SPEC };

/// `PodSpec`.
pub(in crate::validate) const POD_SPEC: Type = object! {
    resourceClaims: POD_CLAIMS;
    containers, initContainers: List(&CONTAINER);
    ephemeralContainers: List(&EPHEMERAL_CONTAINER);
    resources: Opt(&REQUIREMENTS);
    schedulingGroup @since(V1_36): SCHEDULING_GROUP;
    workloadRef @only(V1_35): WORKLOAD_REF;
    evictionResponders @since(V1_37): Any;
    nodeName, schedulerName: Text;
    nodeSelector: Map(&Text);
    affinity: Opt(&AFFINITY);
    tolerations: List(&TOLERATION);
    topologySpreadConstraints: List(&SPREAD);
    schedulingGates: List(&GATE);
    priority: Opt(&Int32);
    priorityClassName: Text;
    preemptionPolicy: Opt(&Text);
    overhead: Map(&Quantity);
    restartPolicy, dnsPolicy: Text;
    hostNetwork: Flag;
    hostname, subdomain: Text;
    runtimeClassName: Opt(&Text);
    serviceAccountName: Text;
    activeDeadlineSeconds, terminationGracePeriodSeconds: Opt(&Int64);
    automountServiceAccountToken, dnsConfig, enableServiceLinks, hostAliases, hostIPC, hostPID, hostUsers,
        hostnameOverride, imagePullSecrets, os, readinessGates, securityContext, serviceAccount, setHostnameAsFQDN,
        shareProcessNamespace, volumes: Any;
};

const AFFINITY: Type = object! {
    nodeAffinity: Opt(&NODE_AFFINITY);
    podAffinity, podAntiAffinity: Opt(&POD_AFFINITY);
};

const NODE_AFFINITY: Type = object! {
    requiredDuringSchedulingIgnoredDuringExecution: Opt(&NODE_SELECTOR);
    preferredDuringSchedulingIgnoredDuringExecution: List(&PREFERRED_NODES);
};

const PREFERRED_NODES: Type = object! { weight: Int32; preference: NODE_SELECTOR_TERM };

const POD_AFFINITY: Type = object! {
    requiredDuringSchedulingIgnoredDuringExecution: List(&POD_TERM);
    preferredDuringSchedulingIgnoredDuringExecution: List(&PREFERRED_PODS);
};

const PREFERRED_PODS: Type = object! { weight: Int32; podAffinityTerm: POD_TERM };

const POD_TERM: Type = object! {
    labelSelector: Opt(&LABEL_SELECTOR);
    namespaces: List(&Text);
    topologyKey: Text;
    namespaceSelector: Opt(&LABEL_SELECTOR);
    matchLabelKeys, mismatchLabelKeys: List(&Text);
};

const SPREAD: Type = object! {
    maxSkew: Int32;
    topologyKey, whenUnsatisfiable: Text;
    labelSelector: Opt(&LABEL_SELECTOR);
    minDomains: Opt(&Int32);
    nodeAffinityPolicy, nodeTaintsPolicy: Opt(&Text);
    matchLabelKeys: List(&Text);
};

const GATE: Type = object! { name: Text };

const PORT: Type = object! { name: Text; hostPort, containerPort: Int32; protocol, hostIP: Text };

/// `spec.resourceClaims` of a Pod.
pub(in crate::validate) const POD_CLAIMS: Type = List(&POD_CLAIM);
const POD_CLAIM: Type = object! {
    name: Text;
    resourceClaimName, resourceClaimTemplateName, podGroupResourceClaim @proposed,
        clusterResourceClaimTemplateName @proposed: Opt(&Text);
};

/// `spec.schedulingGroup` of a Pod.
pub(in crate::validate) const SCHEDULING_GROUP: Type = Opt(&SCHEDULING_GROUP_FIELDS);
const SCHEDULING_GROUP_FIELDS: Type = object! { podGroupName: Opt(&Text) };

/// `spec.workloadRef` of a Pod, as shipped with 1.35 and as first proposed in KEP-5729.
pub(in crate::validate) const WORKLOAD_REF: Type = Opt(&WORKLOAD_REF_FIELDS);
const WORKLOAD_REF_FIELDS: Type = object! { name, podGroup, podGroupReplicaKey, podGroupName @proposed: Text };

const CONTAINER: Type = object! {
    name, image: Text;
    resources: REQUIREMENTS;
    ports: List(&PORT);
    restartPolicy: Opt(&Text);
    imagePullPolicy, terminationMessagePolicy: Text;
    args, command, env, envFrom, lifecycle, livenessProbe, readinessProbe, resizePolicy, restartPolicyRules,
        securityContext, startupProbe, stdin, stdinOnce, terminationMessagePath, tty, volumeDevices, volumeMounts,
        workingDir: Any;
};

const EPHEMERAL_CONTAINER: Type = object! {
    name: Text;
    resources: REQUIREMENTS;
    args, command, env, envFrom, image, imagePullPolicy, lifecycle, livenessProbe, ports, readinessProbe,
        resizePolicy, restartPolicy, restartPolicyRules, securityContext, startupProbe, stdin, stdinOnce,
        targetContainerName, terminationMessagePath, terminationMessagePolicy, tty, volumeDevices, volumeMounts,
        workingDir: Any;
};

const REQUIREMENTS: Type = object! { limits, requests: Map(&Quantity); claims: List(&CONTAINER_CLAIM) };

const CONTAINER_CLAIM: Type = object! { name, request: Text };

const POD_STATUS: Type = open! {
    resourceClaimStatuses: List(&CLAIM_STATUS_ENTRY);
    extendedResourceClaimStatus: Opt(&EXTENDED_STATUS);
    nodeAllocatableResourceClaimStatuses @since(V1_36): List(&NODE_STATUS);
};

const EXTENDED_STATUS: Type = object! { requestMappings: List(&REQUEST_MAPPING); resourceClaimName: Text };

const REQUEST_MAPPING: Type = object! { containerName, resourceName, requestName: Text };

const NODE_STATUS: Type = object! {
    resourceClaimName: Text;
    containers: List(&Text);
    resources @until(V1_36): Map(&Quantity);
    mapping @since(V1_37): List(&NODE_MAPPED);
    overhead @since(V1_37): List(&NODE_OVERHEAD);
};

const NODE_MAPPED: Type = object! { name: Text; quantity: Opt(&Quantity) };
const NODE_OVERHEAD: Type = object! { name: Text; perPod, perContainer: Opt(&Quantity) };
