//! Kinds of which little is looked at: priorities, and what only keeps Pods from places or from going.

use super::meta::ObjectMeta;
use super::read::api_struct;

/// The priorities that every cluster has, by the names of their classes.
pub const SYSTEM_PRIORITIES: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

api_struct! {
    /// `scheduling.k8s.io/v1` PriorityClass.
    open PriorityClass {
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// The priority of Pods that name it.
        "value" value: i64,
        /// Whether it is for Pods that name none.
        "globalDefault" global_default: bool,
        /// `Never` for Pods that take no place from others.
        "preemptionPolicy" preemption_policy: String,
    }

    /// An object that is kept to be named as not looked at.
    open Bystander {
        /// Metadata.
        "metadata" metadata: ObjectMeta,
    }
}
