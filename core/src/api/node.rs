//! Nodes and node selectors.

use std::collections::BTreeMap;

use super::meta::ObjectMeta;
use super::quantity::Quantity;
use super::read::{api_enum, api_struct};

api_struct! {
    /// `v1` Node.
    open Node {
        /// Metadata; selectors look at the labels and the name.
        "metadata" metadata: ObjectMeta,
        /// Desired state.
        "spec" spec: NodeSpec,
        /// Observed state.
        "status" status: NodeStatus,
    }

    /// `NodeSpec`.
    open NodeSpec {
        /// Whether new Pods are kept off the node.
        "unschedulable" unschedulable: bool,
        /// Taints of the node.
        "taints" taints: Vec<NodeTaint>,
    }

    /// A taint of a node.
    open NodeTaint {
        /// Key.
        "key" key: String,
        /// Value.
        "value" value: String,
        /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
        "effect" effect: String,
    }
}

/// Key of the taint of a node that takes no new Pods.
pub const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

impl NodeSpec {
    /// Lets the node take new Pods again. Kubernetes then removes the taint of a cordoned node.
    pub fn uncordon(&mut self) {
        self.unschedulable = false;
        self.taints.retain(|taint| taint.key != UNSCHEDULABLE);
    }
}

impl NodeTaint {
    /// Whether it keeps Pods away, instead of only being avoided.
    pub fn is_hard(&self) -> bool {
        matches!(self.effect.as_str(), "NoSchedule" | "NoExecute")
    }

    /// Whether it says how the node is, not what it is for: Kubernetes and cloud providers set it and take it away.
    pub fn is_condition(&self) -> bool {
        ["node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"].iter().any(|prefix| self.key.starts_with(prefix))
    }

    /// Whether it is only to be avoided.
    pub fn is_soft(&self) -> bool {
        self.effect == "PreferNoSchedule"
    }
}

api_struct! {
    /// `NodeStatus`.
    open NodeStatus {
        /// What Pods can use, by resource name.
        "allocatable" allocatable: BTreeMap<String, Quantity>,
        /// What the node has, by resource name.
        "capacity" capacity: BTreeMap<String, Quantity>,
        /// Features that the node says it has.
        "declaredFeatures" declared_features: Option<Vec<String>>,
    }

    /// `v1` NodeSelector: a node matches if any term does.
    closed NodeSelector {
        /// Alternatives.
        "nodeSelectorTerms" terms: Vec<NodeSelectorTerm>,
    }
}

impl NodeSelector {
    /// Selects a node by its name.
    #[must_use]
    pub fn of_node(name: &str) -> Self {
        let requirement = NodeSelectorRequirement {
            key: "metadata.name".to_owned(),
            operator: NodeSelectorOperator::In,
            values: vec![name.to_owned()],
            ..NodeSelectorRequirement::default()
        };
        let term = NodeSelectorTerm { match_fields: vec![requirement], ..NodeSelectorTerm::default() };
        Self { terms: vec![term], ..Self::default() }
    }
}

api_struct! {
    /// One alternative of a [`NodeSelector`]: all its requirements must hold; one without any matches nothing.
    closed NodeSelectorTerm {
        /// Requirements on labels.
        "matchExpressions" match_expressions: Vec<NodeSelectorRequirement>,
        /// Requirements on fields; only `metadata.name` exists.
        "matchFields" match_fields: Vec<NodeSelectorRequirement>,
    }

    /// One requirement of a [`NodeSelectorTerm`].
    closed NodeSelectorRequirement {
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

/// The only field that `matchFields` knows.
pub const NAME_FIELD: &str = "metadata.name";

impl NodeSelectorRequirement {
    /// Whether the requirement holds for the value of its key, `None` where the key is absent.
    pub fn holds(&self, value: Option<&String>) -> bool {
        match &self.operator {
            NodeSelectorOperator::In => value.is_some_and(|value| self.values.contains(value)),
            NodeSelectorOperator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            NodeSelectorOperator::Exists => value.is_some(),
            NodeSelectorOperator::DoesNotExist => value.is_none(),
            NodeSelectorOperator::Gt => self.compares(value, |value, bound| value > bound),
            NodeSelectorOperator::Lt => self.compares(value, |value, bound| value < bound),
            NodeSelectorOperator::Unknown(_) => false,
        }
    }

    fn compares(&self, value: Option<&String>, test: fn(i64, i64) -> bool) -> bool {
        let bound = match self.values.as_slice() {
            [bound] => bound.parse::<i64>().ok(),
            _ => None,
        };
        let value = value.and_then(|value| value.parse::<i64>().ok());
        matches!((value, bound), (Some(value), Some(bound)) if test(value, bound))
    }
}
