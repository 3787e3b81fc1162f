//! Why a Pod has no node: what the scheduler's last try of it found, as data. kube-scheduler's sentence, the report, the explanations and
//! the Events are all made from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::message;
use super::node_fit::Refusal;
use super::preemption::Preemption;
use crate::allocate::{Failure, NodeRefusal};

/// What stops a Pod.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cause {
    /// Each node has something against it.
    Nodes {
        /// What each one has against it.
        nodes: Arc<Nodes>,
        /// Names of the Pod's claims without devices, each in the place of one of [`Nodes::claims`].
        claims: Vec<String>,
    },
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
    /// Nodes where the Pod may fit if other Pods leave, by name.
    pub(crate) curable: Vec<String>,
    /// Whether others leave for it, where that was looked at.
    pub(crate) preemption: Option<Preemption>,
    /// Nodes that cannot use the devices of a claim that has some, by the name of the first such claim.
    pub(crate) elsewhere: BTreeMap<String, Vec<String>>,
    /// Names of the claims without devices of the Pod that was tried, in the order of asking.
    pub(crate) claims: Vec<String>,
    /// Nodes whose devices do not suffice.
    pub(crate) devices: Vec<NodeRefusal>,
}

impl Nodes {
    /// Notes what ordinary tests have against a node.
    pub(super) fn refuse(&mut self, node: &str, refusals: Vec<Refusal>) {
        if refusals.iter().all(Refusal::is_curable) {
            self.curable.push(node.to_owned());
        }
        for refusal in refusals {
            self.ordinary.entry(refusal).or_default().push(node.to_owned());
        }
    }

    /// What the filters of kube-scheduler say, with the number of nodes for each text.
    pub(super) fn filters(&self) -> String {
        match self.ordinary.keys().next() {
            // It looks at no node then.
            Some(refusal @ Refusal::UnboundClaim { .. }) => refusal.to_string(),
            _ => message::counted(self.texts()),
        }
    }

    /// The same, with the number for each cause.
    pub(super) fn texts(&self) -> impl Iterator<Item = (usize, String)> {
        let ordinary = self.ordinary.iter().map(|(refusal, nodes)| (nodes.len(), refusal.to_string()));
        let elsewhere = self.elsewhere.values().map(|nodes| (nodes.len(), message::ELSEWHERE.to_owned()));
        let devices = self.devices.iter().map(|refusal| {
            let own = refusal.failure.as_ref().map(|failure| failure.reference.clone());
            (1, own.unwrap_or_else(|| message::NO_DEVICES.to_owned()))
        });
        ordinary.chain(elsewhere).chain(devices)
    }
}
