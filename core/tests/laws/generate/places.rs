//! What else decides about nodes: volumes, the host's network, images, and how nodes are compared.

use serde_json::{Value, json};

use super::Case;
use super::dice::Dice;

const ZONE: &str = "topology.kubernetes.io/zone";

/// A case in which more decides about nodes.
pub(crate) fn with_places(case: &Case) -> Case {
    let mut dice = Dice(case.seed ^ 0x0091_ACE5);
    let mut more = case.clone();
    let mut claims = Vec::new();
    for object in &mut more.objects {
        if object["kind"] == "Node" && object["metadata"]["labels"].is_object() {
            object["metadata"]["labels"][ZONE] = object["metadata"]["labels"]["zone"].clone();
            let image = *dice.pick(&["registry.example.com/main", "example.com/main", "example.com/main:latest"]);
            if object["status"].is_object() && dice.chance(60) {
                object["status"]["images"] = json!([{ "names": [image], "sizeBytes": 900_000_000 }]);
            }
        }
        if object["kind"] == "Pod" && object["spec"].is_object() {
            claims.extend(change_pod(object, &mut dice));
        }
    }
    more.objects.splice(0..0, classes_and_volumes(&mut dice).into_iter().chain(claims));
    if dice.chance(50) {
        more.settings["placement"] = json!("scores");
    }
    if dice.chance(20) {
        let strategy = json!({ "type": "MostAllocated", "resources": [{ "name": "cpu", "weight": 1 }] });
        more.objects.push(json!({ "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "profiles": [{ "pluginConfig": [{ "name": "NodeResourcesFit", "args": { "scoringStrategy": strategy } }] }] }));
    }
    more
}

fn classes_and_volumes(dice: &mut Dice) -> Vec<Value> {
    let class = |name: &str, provisioner: &str| {
        json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": name },
            "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer", "parameters": { "key": "secret" } })
    };
    let mut made = class("made", "disk.example.com");
    let (key, value) = *dice.pick(&[("zone", "z0"), ("kubernetes.io/hostname", "n0"), ("zone", "z1")]);
    made["allowedTopologies"] = json!([{ "matchLabelExpressions": [{ "key": key, "values": [value] }] }]);
    let mut all = vec![class("local", "kubernetes.io/no-provisioner"), made];
    for number in 0..dice.below(5) {
        let (key, value) =
            *dice.pick(&[("kubernetes.io/hostname", "n0"), ("kubernetes.io/hostname", "n1"), ("zone", "z1")]);
        let labels = json!({ "tier": dice.pick(&["fast", "slow"]), ZONE: dice.pick(&["z0", "z1"]) });
        let mut spec = json!({ "capacity": { "storage": dice.pick(&["1Gi", "5Gi"]) }, "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local", "csi": { "driver": "d", "volumeHandle": format!("secret-{number}") } });
        if dice.chance(70) {
            let is_in = json!({ "key": key, "operator": "In", "values": [value] });
            spec["nodeAffinity"] = json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [is_in] }] } });
        }
        all.push(json!({ "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": { "name": format!("pv-{number}"), "labels": labels }, "spec": spec }));
    }
    if dice.chance(50) {
        all.extend(drivers(dice));
    }
    all
}

/// How many volumes nodes can attach, and one that is attached.
fn drivers(dice: &mut Dice) -> Vec<Value> {
    let object = |kind: &str, name: &str, spec: Value| json!({ "apiVersion": "storage.k8s.io/v1", "kind": kind, "metadata": { "name": name }, "spec": spec });
    let source = json!({ "persistentVolumeName": "pv-0" });
    let mut all = vec![
        object("CSIDriver", "d", json!({ "attachRequired": true, "preventPodSchedulingIfMissing": dice.chance(50) })),
        object("VolumeAttachment", "a", json!({ "attacher": "d", "nodeName": "n1", "source": source })),
    ];
    if dice.chance(50) {
        all.push(object("CSIDriver", "disk.example.com", json!({ "attachRequired": true, "storageCapacity": true })));
        let topology = json!({ "matchLabels": { "zone": dice.pick(&["z0", "z1"]) } });
        all.push(json!({ "apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
            "metadata": { "name": "c", "namespace": "default" }, "storageClassName": "made", "nodeTopology": topology,
            "capacity": dice.pick(&["500Mi", "2Gi"]) }));
    }
    for node in ["n0", "n1", "n2"] {
        let driver = |name: &str, count: usize| json!({ "name": name, "nodeID": "secret", "topologyKeys": ["secret"], "allocatable": { "count": count } });
        let drivers = json!([driver("d", dice.below(3)), driver("disk.example.com", dice.below(3))]);
        all.push(object("CSINode", node, json!({ "drivers": drivers })));
    }
    all
}

/// Gives a Pod a volume and more, and returns the claim for it.
fn change_pod(pod: &mut Value, dice: &mut Dice) -> Option<Value> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text(&pod["metadata"]["namespace"]), text(&pod["metadata"]["name"]));
    let spec = &mut pod["spec"];
    if dice.chance(15) {
        spec["hostNetwork"] = json!(true);
        if let Some(ports) = spec.pointer_mut("/containers/0/ports") {
            *ports = json!([{ "containerPort": 8080, "hostPort": 8080 }]);
        }
    }
    if !dice.chance(50) {
        return None;
    }
    let secret = json!({ "name": "other", "secret": { "secretName": "secret" } });
    let claim = format!("{name}-data");
    let volume = match dice.chance(30) {
        true => json!({ "name": "data", "ephemeral": { "volumeClaimTemplate": { "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } } } } }),
        false => json!({ "name": "data", "persistentVolumeClaim": { "claimName": claim } }),
    };
    spec["volumes"] = json!([secret, volume]);
    let mut claim = json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "namespace": namespace, "name": claim, "annotations": { "note": "secret" } },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } } });
    let class = *dice.pick(&["local", "made"]);
    match dice.below(4) {
        0 => claim["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"] = json!(class),
        1 => claim["spec"]["volumeName"] = json!(format!("pv-{}", dice.below(3))),
        2 => {
            claim["spec"]["storageClassName"] = json!(class);
            claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = json!("n0");
        }
        _ => {
            claim["spec"]["storageClassName"] = json!(class);
            if dice.chance(40) {
                claim["spec"]["selector"] = json!({ "matchLabels": { "tier": "fast" } });
            }
        }
    }
    Some(claim)
}
