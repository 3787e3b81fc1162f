//! Why a Pod has no node: what the scheduler's last try of it found, as data. kube-scheduler's sentence, the report, the explanations and
//! the Events are all made from it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::message;
use super::node_fit::Refusal;
use crate::allocate::{Failure, NodeRefusal};
use crate::api::pod::Pod;
use crate::profile::Features;

/// What stops a Pod.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cause {
    /// Each node has something against it.
    Nodes(Box<Nodes>),
    /// A request is wrong in itself, in kube-scheduler's words; no node was looked at.
    Request(String),
    /// A claim is wrong in a way that ends the try, whatever the nodes say.
    Claim(Box<Failure>),
    /// The search for devices reached its step limit on a node.
    GaveUp {
        /// The node.
        node: String,
    },
    /// A claim is reserved for as many consumers as it can be.
    NoReservation {
        /// Name of the claim.
        claim: String,
    },
    /// A cause that is neither a node nor a device. The message says which; it is empty where nothing is reported.
    Other,
}

/// What all nodes have against a Pod; each node is in one place only.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Nodes {
    /// Nodes in the cluster.
    pub(crate) count: usize,
    /// Nodes that an ordinary test refuses, by name; a node that lacks several resources is named with each.
    pub(crate) ordinary: BTreeMap<Refusal, Vec<String>>,
    /// Nodes where the Pod would fit if other Pods left.
    pub(crate) curable: usize,
    /// Nodes that cannot use the devices of a claim that has some, by the name of the first such claim.
    pub(crate) elsewhere: BTreeMap<String, Vec<String>>,
    /// Nodes whose devices do not suffice.
    pub(crate) devices: Vec<NodeRefusal>,
}

impl Nodes {
    /// Notes what ordinary tests have against a node.
    pub(super) fn refuse(&mut self, node: &str, refusals: Vec<Refusal>) {
        self.curable = self.curable.saturating_add(usize::from(refusals.iter().all(Refusal::is_curable)));
        for refusal in refusals {
            self.ordinary.entry(refusal).or_default().push(node.to_owned());
        }
    }

    /// What the filters of kube-scheduler say, with the number of nodes for each text.
    pub(super) fn filters(&self) -> String {
        let ordinary = self.ordinary.iter().map(|(refusal, nodes)| (nodes.len(), refusal.to_string()));
        let elsewhere = self.elsewhere.values().map(|nodes| (nodes.len(), message::ELSEWHERE.to_owned()));
        let devices = self.devices.iter().map(|refusal| {
            let own = refusal.failure.as_ref().map(|failure| failure.reference.clone());
            (1, own.unwrap_or_else(|| message::NO_DEVICES.to_owned()))
        });
        message::counted(ordinary.chain(elsewhere).chain(devices))
    }
}

/// kube-scheduler's sentence about a Pod that fits nowhere: what the filters said, what came after, and what preemption would do.
pub(super) fn sentence(
    count: usize,
    filters: &str,
    after: &str,
    curable: usize,
    (features, pod): (&Features, &Pod),
) -> String {
    let policy = pod.spec.rest.get("preemptionPolicy").and_then(Value::as_str).unwrap_or_default();
    let why = match (features.workload_aware_preemption, policy) {
        (true, _) => "workload aware preemption enabled",
        (false, "Never") => "preemptionPolicy=Never.",
        (false, _) => return message::unschedulable(count, filters, after, curable),
    };
    format!("0/{count} nodes are available: {filters}. {after}, preemption: not eligible due to {why}")
}
