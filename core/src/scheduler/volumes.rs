//! Where the volumes of a Pod can be used: a PersistentVolume that a claim is bound to may belong to some nodes, or to a zone.
//!
//! Claims without a volume, and what is not among the objects, keep a Pod from no node. Not looked at: how many volumes a node can attach,
//! and volumes that one Pod has for itself.
//!
//! Source: `plugins/volumebinding`, `plugins/volumezone`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::node_fit::{Refusal, is_inferred, selects};
use crate::api::node::{Node, NodeSelector};
use crate::api::others::Bystander;
use crate::api::pod::Pod;
use crate::api::read::{Json, Path};
use crate::cluster::Cluster;
use crate::gather::Gather;

/// Labels of volumes that name zones and regions, and the label that a node without the same one has.
const ZONES: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// What stands between the zones of a volume that has several.
const SEPARATOR: &str = "__";

/// Where the volumes of a Pod can be used; nothing where that is everywhere.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Volumes {
    /// What selects their nodes; all must.
    nodes: Vec<NodeSelector>,
    /// Positions of labels, and their values on nodes.
    zones: BTreeSet<(usize, BTreeSet<String>)>,
}

impl Volumes {
    /// Those of a Pod.
    pub(crate) fn of(cluster: &Cluster, pod: &Pod) -> Self {
        let mut all = Self::default();
        for entry in entries(pod) {
            let Some(volume) = claim_name(pod, entry).and_then(|name| bound(cluster, pod, &name)) else { continue };
            let required = volume.rest.get("spec").and_then(|spec| spec.pointer("/nodeAffinity/required")).cloned();
            all.nodes.extend(required.and_then(|value| Json::read(value, &Path::ROOT, &mut Vec::new()).ok()));
            // Volumes that are made for the Pod are not looked at for this.
            if entry.get("ephemeral").is_some() {
                continue;
            }
            for (position, (label, _)) in ZONES.iter().enumerate() {
                let names = volume.metadata.labels.get(*label).map(|names| names.split(SEPARATOR).map(str::trim));
                let names: BTreeSet<String> = names.into_iter().flatten().map(str::to_owned).gather();
                // A label that cannot be read says nothing.
                if !names.is_empty() && !names.contains("") {
                    all.zones.insert((position, names));
                }
            }
        }
        all
    }

    /// The same without what the filters that are off look at.
    pub(super) fn seen(mut self, has_binding: bool, has_zones: bool) -> Self {
        if !has_binding {
            self.nodes.clear();
        }
        if !has_zones {
            self.zones.clear();
        }
        self
    }

    /// What speaks against a node. Of an inferred node too few labels are known.
    pub(crate) fn refusal(&self, node: &Node) -> Option<Refusal> {
        if is_inferred(node) {
            return None;
        }
        if !self.nodes.iter().all(|nodes| selects(nodes, node)) {
            return Some(Refusal::VolumeNode);
        }
        let labels = &node.metadata.labels;
        let has_zone = ZONES.iter().any(|(label, _)| labels.contains_key(*label));
        let is_in = |(position, names): &(usize, BTreeSet<String>)| {
            let value =
                ZONES.get(*position).and_then(|(label, newer)| labels.get(*label).or_else(|| labels.get(*newer)));
            value.is_some_and(|value| names.contains(value))
        };
        (has_zone && !self.zones.iter().all(is_in)).then_some(Refusal::VolumeZone)
    }
}

/// The volumes that a Pod lists.
pub(crate) fn entries(pod: &Pod) -> impl Iterator<Item = &Value> {
    pod.spec.rest.get("volumes").and_then(Value::as_array).into_iter().flatten()
}

/// The PersistentVolumeClaim of a volume that a Pod lists, if it has one.
pub(crate) fn claim_name(pod: &Pod, entry: &Value) -> Option<String> {
    match entry.pointer("/persistentVolumeClaim/claimName").and_then(Value::as_str) {
        Some(name) => Some(name.to_owned()),
        None => {
            entry.get("ephemeral")?;
            Some(format!("{}-{}", pod.metadata.name, entry.get("name")?.as_str()?))
        }
    }
}

/// A PersistentVolumeClaim of a Pod's namespace.
pub(crate) fn claim<'c>(cluster: &'c Cluster, pod: &Pod, name: &str) -> Option<&'c Bystander> {
    cluster.bystanders().get(&("PersistentVolumeClaim".to_owned(), pod.metadata.namespace.clone(), name.to_owned()))
}

/// The PersistentVolume that a claim names; empty where it names none.
pub(crate) fn volume_name(claim: &Bystander) -> &str {
    let spec = claim.rest.get("spec").and_then(|spec| spec.get("volumeName"));
    spec.and_then(Value::as_str).unwrap_or_default()
}

/// The PersistentVolume that a claim is bound to.
fn bound<'c>(cluster: &'c Cluster, pod: &Pod, name: &str) -> Option<&'c Bystander> {
    let volume = volume_name(claim(cluster, pod, name)?).to_owned();
    cluster.bystanders().get(&("PersistentVolume".to_owned(), String::new(), volume))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::api::object::{Object, read_object};
    use crate::profile::Profile;

    fn read(object: Value) -> Object {
        read_object(object).object.unwrap()
    }

    fn pod(volumes: &Value) -> Arc<Pod> {
        let pod = read(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "d" },
            "spec": { "containers": [{ "name": "c" }], "volumes": volumes } }));
        let Object::Pod(pod) = pod else { panic!("{pod:?}") };
        pod
    }

    /// What a node with these labels has against a Pod whose claim `c` is bound to such a volume.
    fn refusal(labels: &Value, volume: &Value, volumes: &Value) -> Option<Refusal> {
        let mut cluster = Cluster::new(Profile::default());
        let claim = |name: &str, volume: &str| {
            json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": name, "namespace": "d" },
                "spec": { "volumeName": volume } })
        };
        let node = read(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n", "labels": labels } }));
        let Object::Node(node) = node else { panic!("{node:?}") };
        for object in
            [claim("c", "v"), claim("p-scratch", "v"), claim("free", ""), claim("lost", "gone"), volume.clone()]
        {
            cluster.apply(read(object));
        }
        Volumes::of(&cluster, &pod(volumes)).refusal(&node)
    }

    fn of_claim(name: &str) -> Value {
        json!([{ "name": "data", "persistentVolumeClaim": { "claimName": name } }])
    }

    #[test]
    fn a_volume_keeps_its_pod_on_its_nodes() {
        let term = json!({ "matchExpressions": [{ "key": "rack", "operator": "In", "values": ["r1"] }] });
        let volume = json!({ "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": "v" },
            "spec": { "nodeAffinity": { "required": { "nodeSelectorTerms": [term] } } } });
        let (here, there) = (json!({ "rack": "r1" }), json!({ "rack": "r2" }));
        let scratch = json!([{ "name": "scratch", "ephemeral": {} }]);
        for volumes in [of_claim("c"), scratch] {
            assert_eq!(refusal(&here, &volume, &volumes), None);
            assert_eq!(refusal(&there, &volume, &volumes), Some(Refusal::VolumeNode));
        }
        for volumes in
            [of_claim("free"), of_claim("lost"), of_claim("unknown"), json!([{ "name": "e", "emptyDir": {} }])]
        {
            assert_eq!(refusal(&there, &volume, &volumes), None);
        }
    }

    #[test]
    fn a_volume_keeps_its_pod_in_its_zones() {
        let (newer, older) = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone");
        let refused = Some(Refusal::VolumeZone);
        for (label, value, node, expected) in [
            (newer, "za", json!({ newer: "za" }), None),
            (newer, "za", json!({ newer: "zb" }), refused.clone()),
            (newer, "za__zb", json!({ newer: "zb" }), None),
            (older, "za", json!({ newer: "zb" }), refused.clone()),
            (older, "za", json!({ newer: "za" }), None),
            // The node says nothing about zones, or only about its region.
            (newer, "za", json!({ "rack": "r1" }), None),
            (newer, "za", json!({ "topology.kubernetes.io/region": "east" }), refused),
            // Not a list of zones.
            (newer, "za__", json!({ newer: "zb" }), None),
        ] {
            let volume = json!({ "apiVersion": "v1", "kind": "PersistentVolume",
                "metadata": { "name": "v", "labels": { label: value } }, "spec": {} });
            assert_eq!(refusal(&node, &volume, &of_claim("c")), expected, "{label}={value} {node}");
        }
    }
}
