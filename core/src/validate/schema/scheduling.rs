//! `scheduling.k8s.io`: Workloads and PodGroups.

use super::meta::{CONDITION, META};
use super::{Field, Type, field, proposed};
use Type::{Int32, List, Object, Opt, Text};

macro_rules! kind {
    ($spec:expr $(, $more:expr)*) => {
        &[
            field("apiVersion", Text),
            field("kind", Text),
            field("metadata", Object(META)),
            field("spec", Object($spec)),
            $($more,)*
        ]
    };
}

/// Workload of `v1alpha1`: shipped with 1.35, and as first proposed in KEP-5729.
pub(in crate::validate) static WORKLOAD_ALPHA1: &[Field] = kind!(WORKLOAD_ALPHA1_SPEC);
/// Workload of `v1alpha2`.
pub(in crate::validate) static WORKLOAD_ALPHA2: &[Field] = kind!(WORKLOAD_ALPHA2_SPEC);
/// Workload of `v1alpha3` and `v1beta1`.
pub(in crate::validate) static WORKLOAD_BETA1: &[Field] = kind!(WORKLOAD_BETA1_SPEC);
/// PodGroup as first proposed in KEP-5729.
pub(in crate::validate) static POD_GROUP_ALPHA1: &[Field] =
    kind!(POD_GROUP_ALPHA1_SPEC, field("status", Object(POD_GROUP_STATUS)));
/// PodGroup of `v1alpha2`.
pub(in crate::validate) static POD_GROUP_ALPHA2: &[Field] =
    kind!(POD_GROUP_ALPHA2_SPEC, field("status", Object(POD_GROUP_STATUS)));
/// PodGroup of `v1alpha3` and `v1beta1`.
pub(in crate::validate) static POD_GROUP_BETA1: &[Field] =
    kind!(POD_GROUP_BETA1_SPEC, field("status", Object(POD_GROUP_STATUS)));
/// CompositePodGroup of `v1alpha3`.
pub(in crate::validate) static COMPOSITE_POD_GROUP: &[Field] =
    kind!(COMPOSITE_SPEC, field("status", Object(COMPOSITE_STATUS)));

static WORKLOAD_ALPHA1_SPEC: &[Field] = &[
    field("controllerRef", CONTROLLER_REF),
    field("podGroups", List(&Object(TEMPLATE_ALPHA1))),
    proposed("podGroupTemplates", List(&Object(TEMPLATE_ALPHA1))),
];

static WORKLOAD_ALPHA2_SPEC: &[Field] =
    &[field("controllerRef", CONTROLLER_REF), field("podGroupTemplates", GROUP_TEMPLATES)];

static WORKLOAD_BETA1_SPEC: &[Field] = &[
    field("controllerRef", CONTROLLER_REF),
    field("podGroupTemplates", List(&Object(TEMPLATE_BETA1))),
    field("compositePodGroupTemplates", COMPOSITE_TEMPLATES),
];

/// A reference to the object that a Workload belongs to.
pub(in crate::validate) const CONTROLLER_REF: Type = Opt(&Object(CONTROLLER_REF_FIELDS));
static CONTROLLER_REF_FIELDS: &[Field] = &[field("apiGroup", Text), field("kind", Text), field("name", Text)];

/// The templates of a `v1alpha2` Workload.
pub(in crate::validate) const GROUP_TEMPLATES: Type = List(&Object(TEMPLATE_ALPHA2));

static TEMPLATE_ALPHA1: &[Field] = &[
    field("name", Text),
    field("policy", POLICY),
    proposed("schedulingPolicy", POLICY),
    proposed("resourceClaims", GROUP_CLAIMS),
];

static TEMPLATE_ALPHA2: &[Field] = &[
    field("name", Text),
    field("schedulingPolicy", POLICY),
    field("schedulingConstraints", CONSTRAINTS),
    field("resourceClaims", GROUP_CLAIMS),
    field("disruptionMode", Opt(&Text)),
    field("priorityClassName", Text),
    field("priority", Opt(&Int32)),
    proposed("policy", POLICY),
];

/// A template of a `v1beta1` Workload.
pub(in crate::validate) static TEMPLATE_BETA1: &[Field] = &[
    field("name", Text),
    field("schedulingPolicy", POLICY),
    field("schedulingConstraints", CONSTRAINTS),
    field("resourceClaims", GROUP_CLAIMS),
    field("disruptionMode", DISRUPTION),
    field("priorityClassName", Text),
    field("priority", Opt(&Int32)),
    field("preemptionPolicy", Opt(&Text)),
];

macro_rules! composite_template {
    ($children:expr) => {
        &[
            field("name", Text),
            field("schedulingPolicy", COMPOSITE_POLICY),
            field("schedulingConstraints", CONSTRAINTS),
            field("disruptionMode", DISRUPTION),
            field("priorityClassName", Text),
            field("priority", Opt(&Int32)),
            field("preemptionPolicy", Opt(&Text)),
            field("podGroupTemplates", List(&Object(TEMPLATE_BETA1))),
            field("compositePodGroupTemplates", $children),
        ]
    };
}

/// `compositePodGroupTemplates` of a Workload. They nest up to four levels; what is below those is not looked at.
pub(in crate::validate) const COMPOSITE_TEMPLATES: Type = List(&Object(COMPOSITE_TEMPLATE));
static COMPOSITE_TEMPLATE: &[Field] = composite_template!(List(&Object(COMPOSITE_TEMPLATE_2)));
static COMPOSITE_TEMPLATE_2: &[Field] = composite_template!(List(&Object(COMPOSITE_TEMPLATE_3)));
static COMPOSITE_TEMPLATE_3: &[Field] = composite_template!(List(&Object(COMPOSITE_TEMPLATE_4)));
static COMPOSITE_TEMPLATE_4: &[Field] = composite_template!(List(&Type::Any));

static COMPOSITE_SPEC: &[Field] = &[
    field("parentCompositePodGroupName", Opt(&Text)),
    field("workloadRef", WORKLOAD_REF),
    field("schedulingPolicy", COMPOSITE_POLICY),
    field("schedulingConstraints", CONSTRAINTS),
    field("disruptionMode", DISRUPTION),
    field("priorityClassName", Text),
    field("priority", Opt(&Int32)),
    field("preemptionPolicy", Opt(&Text)),
];

static COMPOSITE_STATUS: &[Field] = &[field("conditions", List(&Object(CONDITION)))];

/// `CompositePodGroupSchedulingPolicy`.
pub(in crate::validate) const COMPOSITE_POLICY: Type = Object(COMPOSITE_POLICY_FIELDS);
static COMPOSITE_POLICY_FIELDS: &[Field] =
    &[field("basic", Opt(&Object(&[]))), field("gang", Opt(&Object(COMPOSITE_GANG)))];
static COMPOSITE_GANG: &[Field] = &[field("minGroupCount", Int32)];

/// `PodGroupSchedulingPolicy`.
pub(in crate::validate) const POLICY: Type = Object(POLICY_FIELDS);
static POLICY_FIELDS: &[Field] = &[field("basic", Opt(&Object(&[]))), field("gang", Opt(&Object(GANG)))];
static GANG: &[Field] = &[field("minCount", Int32)];

/// `PodGroupSchedulingConstraints`.
pub(in crate::validate) const CONSTRAINTS: Type = Opt(&Object(CONSTRAINTS_FIELDS));
static CONSTRAINTS_FIELDS: &[Field] = &[field("topology", List(&Object(TOPOLOGY)))];
static TOPOLOGY: &[Field] = &[field("key", Text)];

/// `spec.resourceClaims` of a PodGroup.
pub(in crate::validate) const GROUP_CLAIMS: Type = List(&Object(GROUP_CLAIM));
static GROUP_CLAIM: &[Field] = &[
    field("name", Text),
    field("resourceClaimName", Opt(&Text)),
    field("resourceClaimTemplateName", Opt(&Text)),
    proposed("clusterResourceClaimTemplateName", Opt(&Text)),
];

/// The disruption mode of `v1beta1`.
pub(in crate::validate) const DISRUPTION: Type = Opt(&Object(DISRUPTION_FIELDS));
static DISRUPTION_FIELDS: &[Field] = &[field("single", Opt(&Object(&[]))), field("all", Opt(&Object(&[])))];

static POD_GROUP_ALPHA1_SPEC: &[Field] = &[
    proposed("workloadRef", Opt(&Object(NAME_ONLY))),
    proposed("podGroupTemplateRef", Opt(&Object(NAME_ONLY))),
    proposed("policy", POLICY),
    proposed("schedulingPolicy", POLICY),
    proposed("resourceClaims", GROUP_CLAIMS),
];

static NAME_ONLY: &[Field] = &[field("name", Text)];

static POD_GROUP_ALPHA2_SPEC: &[Field] = &[
    field("podGroupTemplateRef", TEMPLATE_REF),
    field("schedulingPolicy", POLICY),
    field("schedulingConstraints", CONSTRAINTS),
    field("resourceClaims", GROUP_CLAIMS),
    field("disruptionMode", Opt(&Text)),
    field("priorityClassName", Text),
    field("priority", Opt(&Int32)),
];

/// `PodGroupTemplateReference`, nested as shipped or flat as proposed.
pub(in crate::validate) const TEMPLATE_REF: Type = Opt(&Object(TEMPLATE_REF_FIELDS));
static TEMPLATE_REF_FIELDS: &[Field] = &[
    field("workload", Opt(&Object(WORKLOAD_TEMPLATE))),
    proposed("workloadName", Text),
    proposed("podGroupTemplateName", Text),
];
static WORKLOAD_TEMPLATE: &[Field] = &[field("workloadName", Text), field("podGroupTemplateName", Text)];

static POD_GROUP_BETA1_SPEC: &[Field] = &[
    field("workloadRef", WORKLOAD_REF),
    field("parentCompositePodGroupName", Opt(&Text)),
    field("schedulingPolicy", POLICY),
    field("schedulingConstraints", CONSTRAINTS),
    field("resourceClaims", GROUP_CLAIMS),
    field("disruptionMode", DISRUPTION),
    field("priorityClassName", Text),
    field("priority", Opt(&Int32)),
    field("preemptionPolicy", Opt(&Text)),
];

/// `WorkloadReference`.
pub(in crate::validate) const WORKLOAD_REF: Type = Opt(&Object(WORKLOAD_REF_FIELDS));
static WORKLOAD_REF_FIELDS: &[Field] = &[field("workloadName", Text), field("templateName", Text)];

static POD_GROUP_STATUS: &[Field] =
    &[field("conditions", List(&Object(CONDITION))), field("resourceClaimStatuses", List(&Object(CLAIM_STATUS_ENTRY)))];

/// The claim made for an entry of `spec.resourceClaims`.
pub(super) static CLAIM_STATUS_ENTRY: &[Field] = &[field("name", Text), field("resourceClaimName", Opt(&Text))];
