//! Metadata and other parts that several kinds share.

use super::{Field, Type, field};
use Type::{Any, Flag, Int64, List, Map, Object, Opt, Text, Time};

/// `ObjectMeta`.
pub(in crate::validate) static META: &[Field] = &[
    field("name", Text),
    field("generateName", Text),
    field("namespace", Text),
    field("selfLink", Text),
    field("uid", Text),
    field("resourceVersion", Text),
    field("generation", Int64),
    field("creationTimestamp", Time),
    field("deletionTimestamp", Opt(&Time)),
    field("deletionGracePeriodSeconds", Opt(&Int64)),
    field("labels", Map(&Text)),
    field("annotations", Map(&Text)),
    field("ownerReferences", List(&Object(OWNER))),
    field("finalizers", List(&Text)),
    field("managedFields", List(&Object(MANAGED))),
    field("clusterName", Text),
];

static OWNER: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("name", Text),
    field("uid", Text),
    field("controller", Opt(&Flag)),
    field("blockOwnerDeletion", Opt(&Flag)),
];

static MANAGED: &[Field] = &[
    field("manager", Text),
    field("operation", Text),
    field("apiVersion", Text),
    field("time", Opt(&Time)),
    field("fieldsType", Text),
    field("fieldsV1", Any),
    field("subresource", Text),
];

/// `Condition`.
pub(super) static CONDITION: &[Field] = &[
    field("type", Text),
    field("status", Text),
    field("observedGeneration", Int64),
    field("lastTransitionTime", Time),
    field("reason", Text),
    field("message", Text),
];

/// `NodeSelector`.
pub(super) static NODE_SELECTOR: &[Field] = &[field("nodeSelectorTerms", List(&Object(NODE_SELECTOR_TERM)))];

pub(super) static NODE_SELECTOR_TERM: &[Field] = &[
    field("matchExpressions", List(&Object(NODE_REQUIREMENT))),
    field("matchFields", List(&Object(NODE_REQUIREMENT))),
];

static NODE_REQUIREMENT: &[Field] = &[field("key", Text), field("operator", Text), field("values", List(&Text))];

/// `LabelSelector`.
pub(super) static LABEL_SELECTOR: &[Field] =
    &[field("matchLabels", Map(&Text)), field("matchExpressions", List(&Object(LABEL_REQUIREMENT)))];

static LABEL_REQUIREMENT: &[Field] = &[field("key", Text), field("operator", Text), field("values", List(&Text))];
