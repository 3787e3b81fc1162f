//! Metadata and other parts that several kinds share.

use super::Type;
use Type::{Any, Flag, Int64, List, Map, Opt, Text, Time};

/// `ObjectMeta`.
pub(in crate::validate) const META: Type = object! {
    name, generateName, namespace, selfLink, uid, resourceVersion: Text;
    generation: Int64;
    creationTimestamp: Time;
    deletionTimestamp: Opt(&Time);
    deletionGracePeriodSeconds: Opt(&Int64);
    labels, annotations: Map(&Text);
    ownerReferences: List(&OWNER);
    finalizers: List(&Text);
    managedFields: List(&MANAGED);
    clusterName @gone: Text;
};

const OWNER: Type = object! { apiVersion, kind, name, uid: Text; controller, blockOwnerDeletion: Opt(&Flag) };

const MANAGED: Type = object! {
    manager, operation, apiVersion: Text;
    time: Opt(&Time);
    fieldsType: Text;
    fieldsV1: Any;
    subresource: Text;
};

/// `Condition`.
pub(super) const CONDITION: Type = object! {
    type, status: Text;
    observedGeneration: Int64;
    lastTransitionTime: Time;
    reason, message: Text;
};

/// `NodeSelector`.
pub(super) const NODE_SELECTOR: Type = object! { nodeSelectorTerms: List(&NODE_SELECTOR_TERM) };

pub(super) const NODE_SELECTOR_TERM: Type = object! { matchExpressions, matchFields: List(&REQUIREMENT) };

/// `LabelSelector`.
pub(super) const LABEL_SELECTOR: Type = object! {
    matchLabels: Map(&Text);
    matchExpressions: List(&REQUIREMENT);
};

/// A requirement of either selector.
const REQUIREMENT: Type = object! { key, operator: Text; values: List(&Text) };

/// A toleration, of nodes' taints and of devices'.
pub(super) const TOLERATION: Type = object! { key, operator, value, effect: Text; tolerationSeconds: Opt(&Int64) };
