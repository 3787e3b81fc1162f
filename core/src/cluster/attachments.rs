//! Volumes of CSI drivers that are attached to nodes, and how many of a driver a node can have.

use serde_json::Value;

use super::bystanders::KindKey;
use super::volumes::{self, class_of, field, text};
use super::{Cluster, Key, SharedMap};
use crate::api::others::Bystander;

/// The kind of attachments.
pub(super) const KIND: &str = "VolumeAttachment";

/// Attachments by node, driver and name of the PersistentVolume.
pub(super) type ByNode = SharedMap<KindKey, Bystander>;

/// What is known of attached volumes, by copies that cost nothing.
#[derive(Clone, Debug)]
pub(crate) struct Attachments {
    objects: SharedMap<KindKey, Bystander>,
    by_node: ByNode,
}

impl Cluster {
    /// What is known of attached volumes; nothing where no node says anything of drivers, and no driver of itself.
    pub(crate) fn attachments(&self) -> Option<Attachments> {
        let is_known = self.has_bystanders("CSINode") || self.has_bystanders("CSIDriver");
        is_known.then(|| Attachments { objects: self.bystanders.clone(), by_node: self.attachments.clone() })
    }
}

impl Attachments {
    fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<&Bystander> {
        self.objects.get(&(kind.to_owned(), namespace.to_owned(), name.to_owned()))
    }

    /// Driver and handle of the volume that a claim has, or of the one that its class makes for it.
    pub(crate) fn volume_of(&self, namespace: &str, claim: &str) -> Option<Key> {
        let object = self.get("PersistentVolumeClaim", namespace, claim)?;
        if let Some(volume) = self.get(volumes::KIND, "", text(object, "/volumeName")) {
            return handle(volume).map(|handle| (text(volume, "/csi/driver").to_owned(), handle));
        }
        let class = self.get("StorageClass", "", class_of(object)?)?;
        let driver = class.rest.get("provisioner").and_then(Value::as_str)?;
        Some((driver.to_owned(), format!("{namespace}/{claim}")))
    }

    /// What a node says of a driver.
    fn driver(&self, node: &str, driver: &str) -> Option<&Value> {
        let drivers = field(self.get("CSINode", "", node)?, "/drivers")?.as_array()?;
        drivers.iter().find(|one| one.get("name").is_some_and(|name| name == driver))
    }

    /// How many volumes of a driver a node can have; nothing where it does not say.
    pub(crate) fn limit(&self, node: &str, driver: &str) -> Option<usize> {
        let count = self.driver(node, driver)?.pointer("/allocatable/count")?.as_u64()?;
        usize::try_from(count).ok()
    }

    /// Whether a node lacks a driver without which Pods are not to go there.
    pub(crate) fn lacks(&self, node: &str, driver: &str) -> bool {
        let prevents =
            |object| field(object, "/preventPodSchedulingIfMissing").is_some_and(|prevents| prevents == true);
        self.get("CSIDriver", "", driver).is_some_and(prevents) && self.driver(node, driver).is_none()
    }

    /// Drivers and handles of the volumes that are said to be attached to a node.
    pub(crate) fn attached_to(&self, node: &str) -> impl Iterator<Item = Key> {
        let all = self.by_node.range_from(&(node.to_owned(), String::new(), String::new()));
        let own = all.take_while(move |((of, _, _), _)| of == node);
        own.filter_map(|((_, driver, volume), _)| Some((driver.clone(), handle(self.get(volumes::KIND, "", volume)?)?)))
    }
}

/// The handle of a volume of a CSI driver.
fn handle(volume: &Bystander) -> Option<String> {
    Some(text(volume, "/csi/volumeHandle").to_owned()).filter(|handle| !handle.is_empty())
}

/// Adds an attachment, or takes it out again.
pub(super) fn count(by_node: &mut ByNode, attachment: &Bystander, is_added: bool) {
    let own = |pointer: &str| text(attachment, pointer).to_owned();
    let key = (own("/nodeName"), own("/attacher"), own("/source/persistentVolumeName"));
    if is_added {
        by_node.insert(key, attachment.clone());
    } else {
        by_node.remove(&key);
    }
}
