//! Nodes and node selectors.

use std::collections::BTreeMap;

use super::meta::ObjectMeta;
use super::quantity::Quantity;
use super::read::{api_enum, api_struct};

api_struct! { open
    /// `v1` Node.
    Node {
        /// Metadata; selectors look at the labels and the name.
        "metadata" metadata: ObjectMeta,
        /// Desired state.
        "spec" spec: NodeSpec,
        /// Observed state.
        "status" status: NodeStatus,
    }
}

api_struct! { open
    /// `NodeSpec`.
    NodeSpec {
        /// Whether new Pods are kept off the node.
        "unschedulable" unschedulable: bool,
        /// Taints of the node.
        "taints" taints: Vec<NodeTaint>,
    }
}

api_struct! { open
    /// A taint of a node.
    NodeTaint {
        /// Key.
        "key" key: String,
        /// Value.
        "value" value: String,
        /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
        "effect" effect: String,
    }
}

api_struct! { open
    /// `NodeStatus`.
    NodeStatus {
        /// What Pods can use, by resource name.
        "allocatable" allocatable: BTreeMap<String, Quantity>,
        /// What the node has, by resource name.
        "capacity" capacity: BTreeMap<String, Quantity>,
    }
}

api_struct! { closed
    /// `v1` NodeSelector: a node matches if any term does.
    NodeSelector {
        /// Alternatives.
        "nodeSelectorTerms" terms: Vec<NodeSelectorTerm>,
    }
}

api_struct! { closed
    /// One alternative of a [`NodeSelector`]: all its requirements must hold; one without any matches nothing.
    NodeSelectorTerm {
        /// Requirements on labels.
        "matchExpressions" match_expressions: Vec<NodeSelectorRequirement>,
        /// Requirements on fields; only `metadata.name` exists.
        "matchFields" match_fields: Vec<NodeSelectorRequirement>,
    }
}

api_struct! { closed
    /// One requirement of a [`NodeSelectorTerm`].
    NodeSelectorRequirement {
        /// Label or field.
        "key" key: String,
        /// How the values are compared.
        "operator" operator: NodeSelectorOperator,
        /// Values; none for `Exists` and `DoesNotExist`, one integer for `Gt` and `Lt`.
        "values" values: Vec<String>,
    }
}

api_enum! {
    /// Operator of a node selector requirement.
    NodeSelectorOperator {
        /// The value is one of those listed.
        In = "In",
        /// The value is absent or none of those listed.
        NotIn = "NotIn",
        /// The key is present.
        Exists = "Exists",
        /// The key is absent.
        DoesNotExist = "DoesNotExist",
        /// The value is an integer greater than the one given.
        Gt = "Gt",
        /// The value is an integer smaller than the one given.
        Lt = "Lt",
    } default In
}
