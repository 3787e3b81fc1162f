//! `scheduling.k8s.io`: Workloads and PodGroups.

use super::Type;
use super::meta::{CONDITION, META};
use Type::{Int32, List, Object, Opt, Text};

/// Workload of `v1alpha1`: shipped with 1.35, and as first proposed in KEP-5729.
pub(in crate::validate) static WORKLOAD_ALPHA1: Type = kind! { spec: WORKLOAD_ALPHA1_SPEC };
/// Workload of `v1alpha2`.
pub(in crate::validate) static WORKLOAD_ALPHA2: Type = kind! { spec: WORKLOAD_ALPHA2_SPEC };
/// Workload of `v1alpha3` and `v1beta1`.
pub(in crate::validate) static WORKLOAD_BETA1: Type = kind! { spec: WORKLOAD_BETA1_SPEC };
/// PodGroup as first proposed in KEP-5729.
pub(in crate::validate) static POD_GROUP_ALPHA1: Type = kind! { spec: POD_GROUP_ALPHA1_SPEC; status: POD_GROUP_STATUS };
/// PodGroup of `v1alpha2`.
pub(in crate::validate) static POD_GROUP_ALPHA2: Type = kind! { spec: POD_GROUP_ALPHA2_SPEC; status: POD_GROUP_STATUS };
/// PodGroup of `v1alpha3` and `v1beta1`.
pub(in crate::validate) static POD_GROUP_BETA1: Type = kind! { spec: POD_GROUP_BETA1_SPEC; status: POD_GROUP_STATUS };
/// CompositePodGroup of `v1alpha3`.
pub(in crate::validate) static COMPOSITE_POD_GROUP: Type = kind! { spec: COMPOSITE_SPEC; status: COMPOSITE_STATUS };

const WORKLOAD_ALPHA1_SPEC: Type = object! {
    controllerRef: CONTROLLER_REF;
    podGroups, podGroupTemplates @proposed: List(&TEMPLATE_ALPHA1);
};

const WORKLOAD_ALPHA2_SPEC: Type = object! { controllerRef: CONTROLLER_REF; podGroupTemplates: GROUP_TEMPLATES };

const WORKLOAD_BETA1_SPEC: Type = object! {
    controllerRef: CONTROLLER_REF;
    podGroupTemplates: List(&TEMPLATE_BETA1);
    compositePodGroupTemplates: COMPOSITE_TEMPLATES;
};

/// A reference to the object that a Workload belongs to.
pub(in crate::validate) const CONTROLLER_REF: Type = Opt(&CONTROLLER_REF_FIELDS);
const CONTROLLER_REF_FIELDS: Type = object! { apiGroup, kind, name: Text };

/// The templates of a `v1alpha2` Workload.
pub(in crate::validate) const GROUP_TEMPLATES: Type = List(&TEMPLATE_ALPHA2);

const TEMPLATE_ALPHA1: Type = object! {
    name: Text;
    policy, schedulingPolicy @proposed: POLICY;
    resourceClaims @proposed: GROUP_CLAIMS;
};

/// What groups, groups of groups and their templates have in common, behind fields of their own.
macro_rules! group {
    ($policy:ident, $disruption:expr; $($own:tt)*) => {
        object! {
            $($own)*
            schedulingPolicy: $policy;
            schedulingConstraints: CONSTRAINTS;
            disruptionMode: $disruption;
            priorityClassName: Text;
            priority: Opt(&Int32)
        }
    };
}

const TEMPLATE_ALPHA2: Type =
    group! { POLICY, Opt(&Text); name: Text; resourceClaims: GROUP_CLAIMS; policy @proposed: POLICY; };

/// A template of a `v1beta1` Workload.
pub(in crate::validate) const TEMPLATE_BETA1: Type =
    group! { POLICY, DISRUPTION; name: Text; resourceClaims: GROUP_CLAIMS; preemptionPolicy: Opt(&Text); };

macro_rules! composite_template {
    ($children:expr) => {
        group! {
            COMPOSITE_POLICY, DISRUPTION;
            name: Text;
            preemptionPolicy: Opt(&Text);
            podGroupTemplates: List(&TEMPLATE_BETA1);
            compositePodGroupTemplates: $children;
        }
    };
}

/// `compositePodGroupTemplates` of a Workload. They nest up to four levels; what is below those is not looked at.
pub(in crate::validate) const COMPOSITE_TEMPLATES: Type = List(&COMPOSITE_TEMPLATE);
const COMPOSITE_TEMPLATE: Type = composite_template!(List(&COMPOSITE_TEMPLATE_2));
const COMPOSITE_TEMPLATE_2: Type = composite_template!(List(&COMPOSITE_TEMPLATE_3));
const COMPOSITE_TEMPLATE_3: Type = composite_template!(List(&COMPOSITE_TEMPLATE_4));
const COMPOSITE_TEMPLATE_4: Type = composite_template!(List(&Type::Any));

const COMPOSITE_SPEC: Type = group! {
    COMPOSITE_POLICY, DISRUPTION;
    workloadRef: WORKLOAD_REF;
    parentCompositePodGroupName, preemptionPolicy: Opt(&Text);
};

const COMPOSITE_STATUS: Type = object! { conditions: List(&CONDITION) };

/// `CompositePodGroupSchedulingPolicy`.
pub(in crate::validate) const COMPOSITE_POLICY: Type = object! { basic: Opt(&Object(&[])); gang: Opt(&COMPOSITE_GANG) };
const COMPOSITE_GANG: Type = object! { minGroupCount: Int32 };

/// `PodGroupSchedulingPolicy`.
pub(in crate::validate) const POLICY: Type = object! { basic: Opt(&Object(&[])); gang: Opt(&GANG) };
const GANG: Type = object! { minCount: Int32 };

/// `PodGroupSchedulingConstraints`.
pub(in crate::validate) const CONSTRAINTS: Type = Opt(&CONSTRAINTS_FIELDS);
const CONSTRAINTS_FIELDS: Type = object! { topology: List(&TOPOLOGY) };
const TOPOLOGY: Type = object! { key: Text };

/// `spec.resourceClaims` of a PodGroup.
pub(in crate::validate) const GROUP_CLAIMS: Type = List(&GROUP_CLAIM);
const GROUP_CLAIM: Type = object! {
    name: Text;
    resourceClaimName, resourceClaimTemplateName, clusterResourceClaimTemplateName @proposed: Opt(&Text);
};

/// The disruption mode of `v1beta1`.
pub(in crate::validate) const DISRUPTION: Type = Opt(&DISRUPTION_FIELDS);
const DISRUPTION_FIELDS: Type = object! { single, all: Opt(&Object(&[])) };

const POD_GROUP_ALPHA1_SPEC: Type = object! {
    workloadRef @proposed, podGroupTemplateRef @proposed: Opt(&NAME_ONLY);
    policy @proposed, schedulingPolicy @proposed: POLICY;
    resourceClaims @proposed: GROUP_CLAIMS;
};

const NAME_ONLY: Type = object! { name: Text };

const POD_GROUP_ALPHA2_SPEC: Type =
    group! { POLICY, Opt(&Text); podGroupTemplateRef: TEMPLATE_REF; resourceClaims: GROUP_CLAIMS; };

/// `PodGroupTemplateReference`, nested as shipped or flat as proposed.
pub(in crate::validate) const TEMPLATE_REF: Type = Opt(&TEMPLATE_REF_FIELDS);
const TEMPLATE_REF_FIELDS: Type = object! {
    workload: Opt(&WORKLOAD_TEMPLATE);
    workloadName @proposed, podGroupTemplateName @proposed: Text;
};
const WORKLOAD_TEMPLATE: Type = object! { workloadName, podGroupTemplateName: Text };

const POD_GROUP_BETA1_SPEC: Type = group! {
    POLICY, DISRUPTION;
    workloadRef: WORKLOAD_REF;
    resourceClaims: GROUP_CLAIMS;
    parentCompositePodGroupName, preemptionPolicy: Opt(&Text);
};

/// `WorkloadReference`.
pub(in crate::validate) const WORKLOAD_REF: Type = Opt(&WORKLOAD_REF_FIELDS);
const WORKLOAD_REF_FIELDS: Type = object! { workloadName, templateName: Text };

const POD_GROUP_STATUS: Type = object! {
    conditions: List(&CONDITION);
    resourceClaimStatuses: List(&CLAIM_STATUS_ENTRY);
};

/// The claim made for an entry of `spec.resourceClaims`.
pub(super) const CLAIM_STATUS_ENTRY: Type = object! { name: Text; resourceClaimName: Opt(&Text) };
