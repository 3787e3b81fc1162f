//! What the volumes of Pods that have places mean for another Pod: a claim that is for one Pod alone may be in use.
//!
//! Source: `plugins/volumerestrictions`; KEP-2485.

use serde_json::Value;

use super::node_fit::Refusal;
use super::topology::Topology;
use super::volumes::{claim, entries};
use crate::api::pod::Pod;
use crate::cluster::volumes::Ways;
use crate::cluster::{Cluster, Key};

/// What of a Pod's volumes concerns Pods that have places.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedVolumes {
    /// Its claims that are for one Pod alone.
    sole: Vec<Key>,
}

impl SharedVolumes {
    /// Those of a Pod.
    pub(super) fn of(cluster: &Cluster, pod: &Pod) -> Self {
        // A claim that is made for the Pod has no other user.
        let named = |entry: &'_ Value| entry.pointer("/persistentVolumeClaim/claimName")?.as_str().map(str::to_owned);
        let is_sole = |name: &String| {
            let claim = claim(cluster, pod, name);
            claim.is_some_and(|claim| Ways::of(claim).access_modes.iter().any(|mode| mode == "ReadWriteOncePod"))
        };
        let sole = entries(pod).filter_map(named).filter(is_sole);
        Self { sole: sole.map(|name| (pod.metadata.namespace.clone(), name)).collect() }
    }

    /// The same without what a filter that is off looks at.
    pub(super) fn seen(mut self, has_restrictions: bool) -> Self {
        if !has_restrictions {
            self.sole.clear();
        }
        self
    }

    /// Whether other Pods do not matter.
    pub(super) fn is_nothing(&self) -> bool {
        self.sole.is_empty()
    }

    /// What speaks against any node.
    pub(super) fn refusal(&self, topology: &Topology) -> Option<Refusal> {
        let used = self.sole.iter().find(|claim| topology.has_user(claim))?;
        Some(Refusal::ClaimInUse { claim: used.1.clone() })
    }
}
