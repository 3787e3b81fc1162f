//! PersistentVolumes and their claims.
//!
//! They come from dice of their own, so that clusters without them stay as they were.

use serde_json::{Map, Value, json};

use super::{ASKING, Maker, without_nulls};
use crate::generate::dice::Dice;

/// Labels of volumes that say where they are, with values.
const PLACES: [(&str, &[&str]); 4] = [
    ("topology.kubernetes.io/zone", &["za", "zb", "za__zb", "zc__za", "za__"]),
    ("failure-domain.beta.kubernetes.io/zone", &["za", "za__zc"]),
    ("topology.kubernetes.io/region", &["east"]),
    ("topology.kubernetes.io/zone", &["zb", "zc"]),
];

impl Maker {
    /// Gives the Pod that asks volumes in some clusters, and says whether it did.
    pub(super) fn make_volumes(&mut self, seed: u64) -> bool {
        let mut dice = Dice(seed.rotate_left(32) ^ 0x766f_6c75_6d65);
        if !dice.chance(20) {
            return false;
        }
        let zones = json!({ "key": "topology.kubernetes.io/zone", "values": ["za", dice.word(&["zb", "zc"])] });
        let racks = json!({ "key": "rack", "values": ["r1"] });
        let topologies = match dice.below(6) {
            0 => json!([{ "matchLabelExpressions": [zones] }]),
            1 => json!([{ "matchLabelExpressions": [zones, racks] }, { "matchLabelExpressions": [racks] }]),
            _ => Value::Null,
        };
        let is_local = dice.chance(30);
        let class = |name: &str, provisioner: &str, topologies: &Value| {
            without_nulls(
                json!({ "metadata": { "name": name }, "provisioner": provisioner, "allowedTopologies": topologies,
                "volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Delete" }),
            )
        };
        let provisioner = if is_local { "kubernetes.io/no-provisioner" } else { "disk.example.com" };
        self.push("storage.k8s.io/v1", "StorageClass", json!(class("wait", provisioner, &topologies)));
        self.push("storage.k8s.io/v1", "StorageClass", json!(class("other", "disk.example.com", &Value::Null)));
        let free = if is_local { dice.between(1, 4) } else { dice.below(3) };
        for index in 0..free {
            self.free_volume(&mut dice, index);
        }
        let volumes: Vec<Value> = (0..dice.between(1, 3)).map(|index| self.volume(&mut dice, index)).collect();
        self.make_driver(seed, &volumes);
        let is_asking = |object: &&mut Value| {
            object.get("kind") == Some(&json!("Pod")) && object.pointer("/metadata/name") == Some(&json!(ASKING.1))
        };
        let pod = self.objects.iter_mut().find(is_asking);
        if let Some(spec) = pod.and_then(|pod| pod.get_mut("spec")).and_then(Value::as_object_mut)
            && let Some(all) = spec.entry("volumes").or_insert_with(|| json!([])).as_array_mut()
        {
            all.extend(volumes);
        }
        true
    }

    /// Tells in some clusters what the driver of the volumes can do, and shares a claim with a Pod that runs.
    fn make_driver(&mut self, seed: u64, volumes: &[Value]) {
        let mut dice = Dice(seed.rotate_left(16) ^ 0x6472_6976_6572);
        let driver = "disk.example.com";
        if dice.chance(40) {
            for node in self.nodes.clone() {
                let attached = json!({ "count": dice.below(4) });
                let own = without_nulls(json!({ "name": driver, "nodeID": node, "topologyKeys": [],
                    "allocatable": if dice.chance(80) { attached } else { Value::Null } }));
                let drivers = if dice.chance(85) { json!([own]) } else { json!([]) };
                let metadata = json!({ "name": node, "uid": format!("uid-csi-{node}") });
                self.push(
                    "storage.k8s.io/v1",
                    "CSINode",
                    json!({ "metadata": metadata, "spec": { "drivers": drivers } }),
                );
                if dice.chance(20) {
                    let source = json!({ "persistentVolumeName": format!("volume-{}", dice.below(3)) });
                    let spec = json!({ "attacher": driver, "nodeName": node, "source": source });
                    let attachment = json!({ "metadata": { "name": format!("on-{node}") }, "spec": spec, "status": { "attached": true } });
                    self.push("storage.k8s.io/v1", "VolumeAttachment", attachment);
                }
            }
        }
        if dice.chance(30) {
            let spec = json!({ "storageCapacity": dice.chance(80), "attachRequired": true });
            self.push("storage.k8s.io/v1", "CSIDriver", json!({ "metadata": { "name": driver }, "spec": spec }));
            for node in self.nodes.clone() {
                if dice.chance(70) {
                    let metadata = json!({ "name": format!("space-{node}"), "namespace": ASKING.0 });
                    let topology = json!({ "matchLabels": { "kubernetes.io/hostname": node } });
                    let space = json!({ "metadata": metadata, "storageClassName": "wait", "nodeTopology": topology,
                        "capacity": dice.word(&["1Gi", "1500Mi", "4Gi"]) });
                    self.push("storage.k8s.io/v1", "CSIStorageCapacity", space);
                }
            }
        }
        if dice.chance(30) {
            self.share(&mut dice, volumes);
        }
    }

    /// Lets a Pod that runs use the first volume as well; its claim may be for one Pod alone.
    fn share(&mut self, dice: &mut Dice, volumes: &[Value]) {
        let Some(volume) = volumes.first().filter(|volume| volume.get("persistentVolumeClaim").is_some()) else {
            return;
        };
        let is_alone = dice.chance(60);
        let mut has_shared = false;
        for object in &mut self.objects {
            let is = |path: &str, text: &str| object.pointer(path).and_then(Value::as_str) == Some(text);
            if is("/kind", "PersistentVolumeClaim") && is("/metadata/name", "data-0") && is_alone {
                if let Some(modes) = object.pointer_mut("/spec/accessModes") {
                    *modes = json!(["ReadWriteOncePod"]);
                }
                continue;
            }
            let runs =
                is("/kind", "Pod") && is("/metadata/namespace", ASKING.0) && object.pointer("/spec/nodeName").is_some();
            if runs
                && !has_shared
                && let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
            {
                spec.insert("volumes".to_owned(), json!([volume]));
                has_shared = true;
            }
        }
    }

    /// A volume of the Pod, with its claim.
    fn volume(&mut self, dice: &mut Dice, index: u64) -> Value {
        let is_ephemeral = dice.chance(15);
        let volume = format!("data-{index}");
        let name = if is_ephemeral { format!("{}-{volume}", ASKING.1) } else { volume.clone() };
        let is_bound = dice.chance(50);
        let owner = json!([{ "apiVersion": "v1", "kind": "Pod", "name": ASKING.1, "uid": format!("uid-{}", ASKING.1),
            "controller": true }]);
        let metadata = without_nulls(json!({
            "name": name, "namespace": ASKING.0, "uid": format!("uid-{name}"),
            "ownerReferences": is_ephemeral.then_some(owner),
            "annotations": is_bound.then(|| json!({ "pv.kubernetes.io/bind-completed": "yes" })),
        }));
        let storage = format!("volume-{index}");
        let spec = without_nulls(json!({
            "accessModes": ["ReadWriteOnce"], "storageClassName": "wait", "volumeMode": "Filesystem",
            "resources": { "requests": { "storage": if is_bound { "1Gi".to_owned() } else { dice.word(&["1Gi", "2Gi"]) } } },
            "selector": (!is_bound && dice.chance(15)).then(|| json!({ "matchLabels": { "tier": "fast" } })),
            "volumeName": is_bound.then_some(&storage),
        }));
        let status = json!({ "phase": if is_bound { "Bound" } else { "Pending" } });
        self.push("v1", "PersistentVolumeClaim", json!({ "metadata": metadata, "spec": spec, "status": status }));
        if is_bound {
            self.persistent_volume(dice, &storage, &name);
        }
        if is_ephemeral {
            let template = json!({ "spec": { "accessModes": ["ReadWriteOnce"], "storageClassName": "wait",
                "resources": { "requests": { "storage": "1Gi" } } } });
            return json!({ "name": volume, "ephemeral": { "volumeClaimTemplate": template } });
        }
        json!({ "name": volume, "persistentVolumeClaim": { "claimName": name } })
    }

    /// A volume that is nobody's, or made for a claim.
    fn free_volume(&mut self, dice: &mut Dice, index: u64) {
        let name = format!("free-{index}");
        let is_reserved = dice.chance(15);
        let claim = json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": ASKING.0,
            "name": format!("data-{}", dice.below(3)) });
        let labels = if dice.chance(40) { json!({ "tier": dice.word(&["fast", "slow"]) }) } else { json!({}) };
        let spec = without_nulls(json!({
            "capacity": { "storage": dice.word(&["1Gi", "2Gi", "3Gi"]) },
            "accessModes": if dice.chance(80) { json!(["ReadWriteOnce", "ReadOnlyMany"]) } else { json!(["ReadOnlyMany"]) },
            "storageClassName": if dice.chance(80) { "wait" } else { "other" },
            "persistentVolumeReclaimPolicy": "Delete", "volumeMode": if dice.chance(85) { "Filesystem" } else { "Block" },
            "csi": { "driver": "disk.example.com", "volumeHandle": name },
            "claimRef": is_reserved.then_some(claim), "nodeAffinity": self.node_affinity(dice),
        }));
        let metadata = json!({ "name": name, "uid": format!("uid-{name}"), "labels": labels });
        let status = json!({ "phase": if dice.chance(85) { "Available" } else { "Released" } });
        self.push("v1", "PersistentVolume", json!({ "metadata": metadata, "spec": spec, "status": status }));
    }

    fn persistent_volume(&mut self, dice: &mut Dice, name: &str, claim: &str) {
        let mut labels = Map::new();
        for (label, values) in PLACES {
            if dice.chance(15) {
                labels.insert(label.to_owned(), json!(dice.word(values)));
            }
        }
        let spec = without_nulls(json!({
            "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteOnce"], "storageClassName": "wait",
            "persistentVolumeReclaimPolicy": "Delete", "volumeMode": "Filesystem",
            "csi": { "driver": "disk.example.com", "volumeHandle": name },
            "claimRef": { "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": ASKING.0, "name": claim,
                "uid": format!("uid-{claim}") },
            "nodeAffinity": self.node_affinity(dice),
        }));
        let metadata = json!({ "name": name, "uid": format!("uid-{name}"), "labels": labels });
        let status = json!({ "phase": "Bound" });
        self.push("v1", "PersistentVolume", json!({ "metadata": metadata, "spec": spec, "status": status }));
    }

    /// Where a volume can be used; nothing where that is everywhere.
    fn node_affinity(&self, dice: &mut Dice) -> Value {
        let term = |key: &str, values: &[String]| json!({ "matchExpressions": [{ "key": key, "operator": "In", "values": values }] });
        let nodes = &self.nodes;
        let terms = match dice.below(6) {
            0 => json!([term("topology.kubernetes.io/zone", &[dice.word(&["za", "zb"])])]),
            1 => json!([
                term("topology.kubernetes.io/zone", &[dice.word(&["za", "zb"])]),
                term("rack", &["r1".to_owned(), "r2".to_owned()])
            ]),
            2 => {
                json!([term("kubernetes.io/hostname", dice.pick(nodes).map(std::slice::from_ref).unwrap_or_default())])
            }
            3 => json!([{ "matchExpressions": [{ "key": "disk", "operator": "Exists" }] }]),
            _ => Value::Null,
        };
        if terms.is_null() {
            return terms;
        }
        json!({ "required": { "nodeSelectorTerms": terms } })
    }
}
