//! What the volumes of Pods that have places mean for another Pod: a claim that is for one Pod alone may be in use, and a node can have only so
//! many volumes of a CSI driver.
//!
//! Not looked at: volumes of the Pod itself and of plugins that were built in, which a driver took over.
//!
//! Source: `plugins/volumerestrictions`, `plugins/nodevolumelimits`; KEP-2485, KEP-5030.

use std::collections::BTreeSet;

use serde_json::Value;

use super::node_fit::{Refusal, is_inferred};
use super::topology::Topology;
use super::volumes::{claim, claim_name, entries};
use crate::api::node::Node;
use crate::api::pod::Pod;
use crate::cluster::attachments::Attachments;
use crate::cluster::volumes::Ways;
use crate::cluster::{Cluster, Key};
use crate::gather::Gather;
use crate::profile::Version;

/// What of a Pod's volumes concerns Pods that have places.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedVolumes {
    /// Its claims that are for one Pod alone.
    sole: Vec<Key>,
    /// Drivers and handles of its volumes, where nodes may have too many.
    volumes: BTreeSet<Key>,
    known: Option<Attachments>,
    /// Whether nodes must have the drivers that ask for it.
    needs_drivers: bool,
}

impl SharedVolumes {
    /// Those of a Pod.
    pub(super) fn of(cluster: &Cluster, pod: &Pod) -> Self {
        let namespace = &pod.metadata.namespace;
        // A claim that is made for the Pod has no other user.
        let named = |entry: &'_ Value| entry.pointer("/persistentVolumeClaim/claimName")?.as_str().map(str::to_owned);
        let is_sole = |name: &String| {
            let claim = claim(cluster, pod, name);
            claim.is_some_and(|claim| Ways::of(claim).access_modes.iter().any(|mode| mode == "ReadWriteOncePod"))
        };
        let known = cluster.attachments();
        let volume = |entry| known.as_ref()?.volume_of(namespace, &claim_name(pod, entry)?);
        Self {
            sole: entries(pod).filter_map(named).filter(is_sole).map(|name| (namespace.clone(), name)).collect(),
            volumes: entries(pod).filter_map(volume).gather(),
            known,
            needs_drivers: cluster.profile().version >= Version::V1_37,
        }
    }

    /// The same without what the filters that are off look at.
    pub(super) fn seen(mut self, has_restrictions: bool, has_limits: bool) -> Self {
        if !has_restrictions {
            self.sole.clear();
        }
        if !has_limits {
            self.volumes.clear();
        }
        self
    }

    /// Whether other Pods do not matter.
    pub(super) fn is_nothing(&self) -> bool {
        self.sole.is_empty() && self.volumes.is_empty()
    }

    /// What speaks against a node.
    pub(super) fn refusal(&self, topology: &Topology, node: &Node) -> Option<Refusal> {
        if let Some((_, claim)) = self.sole.iter().find(|claim| topology.has_user(claim)) {
            return Some(Refusal::ClaimInUse { claim: claim.clone() });
        }
        let known = self.known.as_ref().filter(|_| !self.volumes.is_empty() && !is_inferred(node))?;
        let (name, mut drivers) = (&node.metadata.name, self.volumes.iter().map(|(driver, _)| driver));
        if let Some(driver) = drivers.clone().find(|driver| self.needs_drivers && known.lacks(name, driver)) {
            return Some(Refusal::NoDriver { driver: driver.clone() });
        }
        if drivers.all(|driver| known.limit(name, driver).is_none()) {
            return None;
        }
        let in_use: BTreeSet<Key> =
            topology.claims_on(name).filter_map(|(namespace, claim)| known.volume_of(namespace, claim)).gather();
        let new: Vec<&Key> = self.volumes.iter().filter(|volume| !in_use.contains(*volume)).collect();
        // One that is attached and not in use yet counts twice where the Pod uses it: once as attached, once as new.
        let attached: BTreeSet<Key> = known.attached_to(name).filter(|volume| !in_use.contains(volume)).gather();
        let is_too_many = |driver: &&String| {
            let own = |volume: &&Key| volume.0 == **driver;
            let count = in_use.iter().chain(&attached).chain(new.iter().copied()).filter(own).count();
            known.limit(name, driver).is_some_and(|limit| count > limit)
        };
        let full = new.iter().map(|(driver, _)| driver).find(is_too_many);
        full.map(|driver| Refusal::TooManyVolumes { driver: driver.clone() })
    }
}
