//! Nodes, namespaces, priorities, budgets and volumes. Fields that nobody here reads are known by name only.

use super::Type;
use super::meta::{LABEL_SELECTOR, META, NODE_SELECTOR};
use Type::{Any, Flag, Int32, List, Map, Opt, Quantity, Text, Time};

pub(in crate::validate) static NODE: Type = kind! { spec: NODE_SPEC; status: NODE_STATUS };

const NODE_SPEC: Type = object! {
    unschedulable: Flag;
    taints: List(&NODE_TAINT);
    podPreemptionPolicy @since(V1_37): Any;
    configSource, externalID, podCIDR, podCIDRs, providerID: Any;
};

const NODE_TAINT: Type = object! { key, value, effect: Text; timeAdded: Opt(&Time) };

const NODE_STATUS: Type = open! { allocatable, capacity: Map(&Quantity); declaredFeatures @since(V1_35): List(&Text) };

pub(in crate::validate) static NAMESPACE: Type = kind! { spec, status: Any };

pub(in crate::validate) static PRIORITY_CLASS: Type = kind! {
    value: Int32;
    globalDefault: Flag;
    preemptionPolicy: Opt(&Text);
    description: Text;
};

pub(in crate::validate) static BUDGET: Type = kind! { spec: BUDGET_SPEC; status: Any };

const BUDGET_SPEC: Type = object! {
    minAvailable, maxUnavailable: Any;
    selector: Opt(&LABEL_SELECTOR);
    unhealthyPodEvictionPolicy: Opt(&Text);
};

pub(in crate::validate) static VOLUME_CLAIM: Type = kind! { spec: VOLUME_CLAIM_SPEC; status: Any };

const VOLUME_CLAIM_SPEC: Type = object! {
    accessModes: List(&Text);
    selector: Opt(&LABEL_SELECTOR);
    resources: VOLUME_RESOURCES;
    volumeName: Text;
    storageClassName, volumeMode, volumeAttributesClassName: Opt(&Text);
    dataSource, dataSourceRef: Any;
};

const VOLUME_RESOURCES: Type = object! { limits, requests: Map(&Quantity) };

pub(in crate::validate) static VOLUME: Type = kind! { spec: VOLUME_SPEC; status: Any };

const VOLUME_SPEC: Type = object! {
    capacity: Map(&Quantity);
    accessModes: List(&Text);
    claimRef: Opt(&CLAIM_REF);
    persistentVolumeReclaimPolicy, storageClassName: Text;
    volumeMode, volumeAttributesClassName: Opt(&Text);
    nodeAffinity: Opt(&VOLUME_AFFINITY);
    mountOptions, awsElasticBlockStore, azureDisk, azureFile, cephfs, cinder, csi, fc, flexVolume, flocker,
        gcePersistentDisk, glusterfs, hostPath, iscsi, local, nfs, photonPersistentDisk, portworxVolume, quobyte, rbd,
        scaleIO, storageos, vsphereVolume: Any;
};

const CLAIM_REF: Type = object! { kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath: Text };

const VOLUME_AFFINITY: Type = object! { required: Opt(&NODE_SELECTOR) };

pub(in crate::validate) static STORAGE_CLASS: Type = kind! {
    provisioner: Text;
    parameters: Map(&Text);
    reclaimPolicy, volumeBindingMode: Opt(&Text);
    mountOptions: List(&Text);
    allowVolumeExpansion: Opt(&Flag);
    allowedTopologies: List(&TOPOLOGY);
};

const TOPOLOGY: Type = object! { matchLabelExpressions: List(&TOPOLOGY_LABEL) };

const TOPOLOGY_LABEL: Type = object! { key: Text; values: List(&Text) };

pub(in crate::validate) static CSI_NODE: Type = kind! { spec: CSI_NODE_SPEC; status @since(V1_37): Any };

const CSI_NODE_SPEC: Type = object! { drivers: List(&CSI_NODE_DRIVER) };

const CSI_NODE_DRIVER: Type = object! {
    name, nodeID: Text;
    topologyKeys: List(&Text);
    allocatable: Opt(&VOLUME_COUNT);
};

const VOLUME_COUNT: Type = object! { count: Opt(&Int32) };

pub(in crate::validate) static CSI_DRIVER: Type = kind! { spec: CSI_DRIVER_SPEC };

const CSI_DRIVER_SPEC: Type = object! {
    attachRequired, podInfoOnMount, storageCapacity, requiresRepublish, seLinuxMount: Opt(&Flag);
    serviceAccountTokenInSecrets @since(V1_35), preventPodSchedulingIfMissing @since(V1_36): Opt(&Flag);
    fsGroupPolicy, volumeLifecycleModes, tokenRequests, nodeAllocatableUpdatePeriodSeconds: Any;
};

pub(in crate::validate) static VOLUME_ATTACHMENT: Type = kind! { spec: VOLUME_ATTACHMENT_SPEC; status: Any };

const VOLUME_ATTACHMENT_SPEC: Type = object! { attacher, nodeName: Text; source: VOLUME_ATTACHMENT_SOURCE };

const VOLUME_ATTACHMENT_SOURCE: Type = object! { persistentVolumeName: Opt(&Text); inlineVolumeSpec: Any };

pub(in crate::validate) static CSI_STORAGE_CAPACITY: Type = kind! {
    nodeTopology: Opt(&LABEL_SELECTOR);
    storageClassName: Text;
    capacity, maximumVolumeSize: Opt(&Quantity);
};
