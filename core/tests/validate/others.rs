//! Rules of nodes, namespaces, priorities, budgets and volumes.

use apportion_core::finding::{Code, ErrorKind};
use serde_json::{Value, json};

use crate::{brief, create, update};

fn object(api_version: &str, kind: &str, fields: &Value) -> Value {
    let mut object = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": "x" } });
    object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    object
}

fn node(spec: &Value) -> Value {
    object("v1", "Node", &json!({ "spec": spec, "status": { "capacity": { "cpu": "4", "pods": 110 } } }))
}

fn class(fields: &Value) -> Value {
    object("scheduling.k8s.io/v1", "PriorityClass", fields)
}

fn storage_class(fields: &Value) -> Value {
    object("storage.k8s.io/v1", "StorageClass", fields)
}

fn storage(kind: &str, spec: &Value) -> Value {
    object("storage.k8s.io/v1", kind, &json!({ "spec": spec }))
}

fn csi_node(drivers: &Value) -> Value {
    storage("CSINode", &json!({ "drivers": drivers }))
}

fn space(fields: &Value) -> Value {
    let mut object = object("storage.k8s.io/v1", "CSIStorageCapacity", fields);
    object["metadata"]["namespace"] = json!("n");
    object
}

fn attachment(source: &Value) -> Value {
    storage("VolumeAttachment", &json!({ "attacher": "d", "nodeName": "n", "source": source }))
}

/// An object of a namespace with a `spec`, in which some fields are set and those that are `null` left out.
fn with(api_version: &str, kind: &str, spec: &Value, changes: &Value) -> Value {
    let mut object = object(api_version, kind, &json!({ "spec": spec }));
    if kind != "PersistentVolume" {
        object["metadata"]["namespace"] = json!("n");
    }
    for (name, value) in changes.as_object().unwrap() {
        object["spec"][name] = value.clone();
    }
    object
}

fn budget(changes: &Value) -> Value {
    with("policy/v1", "PodDisruptionBudget", &json!({ "selector": { "matchLabels": { "a": "b" } } }), changes)
}

fn volume_claim(changes: &Value) -> Value {
    let spec = json!({ "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } });
    with("v1", "PersistentVolumeClaim", &spec, changes)
}

fn volume(changes: &Value) -> Value {
    let spec = json!({ "accessModes": ["ReadWriteOnce"], "capacity": { "storage": "1Gi" }, "nfs": { "path": "/" } });
    with("v1", "PersistentVolume", &spec, changes)
}

/// Paths of the errors that refuse an object.
fn refused(object: Value) -> Vec<String> {
    create(object).into_iter().filter(|finding| finding.refuses()).map(|finding| finding.path).collect()
}

#[test]
fn what_is_right_is_accepted_without_a_word() {
    let taint = json!({ "key": "k", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z" });
    let topologies = json!([{ "matchLabelExpressions": [{ "key": "zone", "values": ["a"] }] }]);
    let affinity = json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [{ "key": "a", "operator": "Exists" }] }] } });
    for right in [
        node(&json!({ "taints": [taint], "unschedulable": true, "podCIDRs": ["10.0.0.0/24"], "providerID": "p" })),
        object("v1", "Namespace", &json!({ "spec": { "finalizers": ["kubernetes"] } })),
        class(
            &json!({ "value": 1_000_000_000, "globalDefault": true, "description": "d", "preemptionPolicy": "Never" }),
        ),
        json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": { "name": "system-node-critical" }, "value": 2_000_001_000 }),
        budget(&json!({ "minAvailable": "50%" })),
        budget(&json!({ "maxUnavailable": 0, "unhealthyPodEvictionPolicy": "AlwaysAllow" })),
        volume_claim(
            &json!({ "storageClassName": "", "volumeMode": "Block", "dataSource": { "kind": "k", "name": "n" } }),
        ),
        volume(&json!({ "mountOptions": ["hard"], "claimRef": { "name": "c", "namespace": "n" } })),
        volume(&json!({ "nfs": null, "local": { "path": "/d" }, "nodeAffinity": affinity })),
        storage_class(&json!({ "provisioner": "Disk.example.com", "volumeBindingMode": "Immediate",
            "reclaimPolicy": "Retain", "allowedTopologies": topologies, "parameters": { "a": "b" } })),
        csi_node(&json!([{ "name": "d", "nodeID": "i", "topologyKeys": null, "allocatable": { "count": 0 } }])),
        storage("CSIDriver", &json!({ "attachRequired": true, "storageCapacity": false })),
        attachment(&json!({ "persistentVolumeName": "v" })),
        space(&json!({ "storageClassName": "c", "capacity": "1Gi", "nodeTopology": { "matchLabels": { "a": "b" } } })),
    ] {
        assert_eq!(brief(&create(right.clone())), [], "{right}");
    }
}

#[test]
fn what_the_api_server_refuses_is_refused_where_it_stands() {
    for (wrong, paths) in [
        (node(&json!({ "taints": [{ "key": "k", "effect": "NoScedule" }] })), vec!["spec.taints[0].effect"]),
        (node(&json!({ "taints": [{ "key": "k" }] })), vec!["spec.taints[0].effect"]),
        (
            node(&json!({ "taints": [{ "key": "k", "effect": "NoExecute" }, { "key": "k", "effect": "NoExecute" }] })),
            vec!["spec.taints[1]"],
        ),
        (
            object("v1", "Node", &json!({ "status": { "capacity": { "pods": "1500m" } } })),
            vec!["status.capacity[pods]"],
        ),
        (object("v1", "Node", &json!({ "metadata": { "name": "A" } })), vec!["metadata.name"]),
        (object("v1", "Namespace", &json!({ "metadata": { "name": "a.b" } })), vec!["metadata.name"]),
        (class(&json!({ "value": 1_000_000_001 })), vec!["value"]),
        (class(&json!({ "value": "high" })), vec!["value"]),
        (class(&json!({ "value": 1, "preemptionPolicy": "Always" })), vec!["preemptionPolicy"]),
        (class(&json!({ "value": 1, "metadata": { "name": "system-mine" } })), vec!["metadata.name"]),
        (budget(&json!({ "minAvailable": 1, "maxUnavailable": 1 })), vec!["spec"]),
        (budget(&json!({ "minAvailable": "half" })), vec!["spec.minAvailable"]),
        (budget(&json!({ "maxUnavailable": -1 })), vec!["spec.maxUnavailable"]),
        (budget(&json!({ "maxUnavailable": true })), vec!["spec.maxUnavailable"]),
        (budget(&json!({ "maxUnavailable": "101%" })), vec!["spec.maxUnavailable"]),
        (budget(&json!({ "unhealthyPodEvictionPolicy": "x" })), vec!["spec.unhealthyPodEvictionPolicy"]),
        (volume_claim(&json!({ "accessModes": null })), vec!["spec.accessModes"]),
        (volume_claim(&json!({ "accessModes": ["ReadWriteTwice"] })), vec!["spec.accessModes[0]"]),
        (volume_claim(&json!({ "accessModes": ["ReadWriteOncePod", "ReadWriteOnce"] })), vec!["spec.accessModes"]),
        (volume_claim(&json!({ "resources": null })), vec!["spec.resources.requests[storage]"]),
        (
            volume_claim(&json!({ "resources": { "requests": { "storage": "0" } } })),
            vec!["spec.resources.requests[storage]"],
        ),
        (volume_claim(&json!({ "volumeMode": "Disk" })), vec!["spec.volumeMode"]),
        (volume(&json!({ "capacity": null })), vec!["spec.capacity"]),
        (volume(&json!({ "capacity": { "storage": "1Gi", "cpu": 1 } })), vec!["spec.capacity[cpu]"]),
        (volume(&json!({ "nfs": null })), vec!["spec"]),
        (volume(&json!({ "csi": { "driver": "d", "volumeHandle": "h" } })), vec!["spec.nfs"]),
        (volume(&json!({ "nfs": null, "local": { "path": "/d" } })), vec!["spec.nodeAffinity"]),
        (volume(&json!({ "persistentVolumeReclaimPolicy": "Keep" })), vec!["spec.persistentVolumeReclaimPolicy"]),
        (storage_class(&json!({})), vec!["provisioner"]),
        (storage_class(&json!({ "provisioner": "p", "reclaimPolicy": "Recycle" })), vec!["reclaimPolicy"]),
        (storage_class(&json!({ "provisioner": "p", "volumeBindingMode": "Late" })), vec!["volumeBindingMode"]),
        (csi_node(&json!([{ "name": "d" }])), vec!["spec.drivers[0].nodeID"]),
        (
            csi_node(&json!([{ "name": "d", "nodeID": "i" }, { "name": "d", "nodeID": "i" }])),
            vec!["spec.drivers[1].name"],
        ),
        (
            csi_node(&json!([{ "name": "d", "nodeID": "i", "allocatable": { "count": -1 } }])),
            vec!["spec.drivers[0].allocatable.count"],
        ),
        (space(&json!({ "capacity": "1Gi" })), vec!["storageClassName"]),
        (space(&json!({ "storageClassName": "c", "capacity": "-1" })), vec!["capacity"]),
        (attachment(&json!({})), vec!["spec.source"]),
        (attachment(&json!({ "persistentVolumeName": "v", "inlineVolumeSpec": {} })), vec!["spec.source"]),
        (
            object("policy/v1beta1", "PodDisruptionBudget", &json!({ "metadata": { "name": "x", "namespace": "n" } })),
            vec!["apiVersion"],
        ),
    ] {
        assert_eq!(refused(wrong.clone()), paths, "{wrong}");
    }
}

#[test]
fn unknown_fields_are_named_with_the_one_that_was_meant() {
    for (object, path, meant) in [
        (node(&json!({ "unscheduleable": true })), "spec.unscheduleable", "unschedulable"),
        (class(&json!({ "value": 1, "preemptionPolcy": "Never" })), "preemptionPolcy", "preemptionPolicy"),
        (budget(&json!({ "maxUnavailible": 1 })), "spec.maxUnavailible", "maxUnavailable"),
        (volume_claim(&json!({ "storageClass": "fast" })), "spec.storageClass", "storageClassName"),
        (storage_class(&json!({ "provisioner": "p", "bindingMode": "x" })), "bindingMode", ""),
    ] {
        let found = create(object);
        assert_eq!(brief(&found), [(Code::ReadUnknownField, path)]);
        assert!(found[0].hint.as_deref().unwrap_or_default().contains(meant), "{found:?}");
    }
}

#[test]
fn the_value_of_a_priority_stays() {
    let stored = class(&json!({ "value": 1 }));
    let found = update(&Default::default(), apportion_core::validate::as_stored(stored), class(&json!({ "value": 2 })));
    assert_eq!(
        found.iter().map(|finding| (finding.kind, &*finding.path)).collect::<Vec<_>>(),
        [(Some(ErrorKind::Invalid), "value")]
    );
}

/// What makes an object of a spec, what is stored, what is sent, and the paths that are refused.
type Update = (fn(&Value) -> Value, Value, Value, &'static [&'static str]);

fn pending_claim(spec: &Value) -> Value {
    let mut claim = volume_claim(spec);
    claim["status"] = json!({ "phase": "Pending" });
    claim
}

#[test]
fn an_update_changes_what_the_api_server_lets_it_change() {
    let refused = |stored: Value, object: Value| -> Vec<String> {
        let found = update(&Default::default(), apportion_core::validate::as_stored(stored), object);
        found.into_iter().filter(|finding| finding.refuses()).map(|finding| finding.path).collect()
    };
    let csi = |more: Value| {
        let mut csi = json!({ "driver": "d.io", "volumeHandle": "v" });
        csi.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        csi
    };
    let to = |zone: &str| {
        let expression = json!({ "key": "zone", "operator": "In", "values": [zone] });
        json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [expression] }] } })
    };
    let cases: &[Update] = &[
        (node, json!({}), json!({ "providerID": "a", "podCIDR": "10.0.0.0/24", "unschedulable": true }), &[]),
        (node, json!({ "providerID": "a" }), json!({ "providerID": "b" }), &["spec.providerID"]),
        (node, json!({ "podCIDRs": ["10.0.0.0/24"] }), json!({ "podCIDRs": ["10.1.0.0/24"] }), &["spec.podCIDRs"]),
        (node, json!({}), json!({ "externalID": "x" }), &["spec.externalID"]),
        (
            volume,
            json!({}),
            json!({ "persistentVolumeReclaimPolicy": "Retain", "capacity": { "storage": "2Gi" } }),
            &[],
        ),
        (volume, json!({}), json!({ "nfs": { "path": "/other" } }), &["spec.nfs"]),
        (volume, json!({ "volumeMode": "Block" }), json!({ "volumeMode": "Filesystem" }), &["spec.volumeMode"]),
        (volume, json!({}), json!({ "nodeAffinity": to("a") }), &[]),
        (volume, json!({ "nodeAffinity": to("a") }), json!({ "nodeAffinity": to("b") }), &["spec.nodeAffinity"]),
        (
            volume_claim,
            json!({}),
            json!({ "volumeName": "v", "storageClassName": "s", "volumeMode": "Filesystem" }),
            &[],
        ),
        (volume_claim, json!({ "volumeName": "v" }), json!({ "volumeName": "w" }), &["spec.volumeName"]),
        (
            volume_claim,
            json!({ "storageClassName": "s" }),
            json!({ "storageClassName": "t" }),
            &["spec.storageClassName"],
        ),
        (volume_claim, json!({}), json!({ "accessModes": ["ReadWriteMany"] }), &["spec.accessModes"]),
        (
            volume_claim,
            json!({}),
            json!({ "dataSource": { "kind": "PersistentVolumeClaim", "name": "c" } }),
            &["spec.dataSource"],
        ),
        (volume_claim, json!({}), json!({ "resources": { "requests": { "storage": "1024Mi" } } }), &[]),
        (
            pending_claim,
            json!({}),
            json!({ "resources": { "requests": { "storage": "2Gi" } } }),
            &["spec.resources.requests[storage]"],
        ),
        (pending_claim, json!({}), json!({ "volumeAttributesClassName": "gold" }), &["spec.volumeAttributesClassName"]),
        // A manifest does not say whether the claim is bound.
        (volume_claim, json!({}), json!({ "resources": { "requests": { "storage": "2Gi" } } }), &[]),
    ];
    for (of, stored, object, paths) in cases {
        assert_eq!(refused(of(stored), of(object)), *paths, "{stored} {object}");
    }
    let volume = |source: Value| {
        let spec = json!({ "accessModes": ["ReadWriteOnce"], "capacity": { "storage": "1Gi" }, "csi": source });
        with("v1", "PersistentVolume", &spec, &json!({}))
    };
    let secret = json!({ "controllerExpandSecretRef": { "name": "s", "namespace": "n" } });
    assert_eq!(refused(volume(csi(json!({}))), volume(csi(secret.clone()))), [""; 0]);
    let other = json!({ "controllerExpandSecretRef": { "name": "t", "namespace": "n" } });
    assert_eq!(refused(volume(csi(secret)), volume(csi(other))), ["spec.csi"]);
    // A claim that has its volume grows, and shrinks to what is more than the volume has.
    let sized = |size: &str| volume_claim(&json!({ "resources": { "requests": { "storage": size } } }));
    let mut bound = sized("4Gi");
    bound["status"] = json!({ "phase": "Bound", "capacity": { "storage": "2Gi" } });
    for (size, paths) in [
        ("8Gi", &[][..]),
        ("3Gi", &[]),
        ("2Gi", &["spec.resources.requests[storage]"]),
        ("1Gi", &["spec.resources.requests[storage]"]),
    ] {
        assert_eq!(refused(bound.clone(), sized(size)), paths, "{size}");
    }
}
