//! Objects that tests are about.

use serde_json::{Value, json};

pub(crate) fn namespace(name: &str, labels: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": labels } })
}

/// A source for all namespaces of a team.
pub(crate) fn source(class: &str) -> Value {
    json!({
        "apiVersion": "apportion.dev/v1alpha1", "kind": "ClusterResourceClaimTemplate", "metadata": { "name": "gpu" },
        "spec": {
            "targets": [{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }],
            "template": { "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": class } }] } } },
        },
    })
}

/// The copy of that source in a namespace, without its content.
pub(crate) fn copy(namespace: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": { "name": "gpu", "namespace": namespace },
    })
}

pub(crate) fn class(name: &str, expression: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": name },
        "spec": { "selectors": [{ "cel": { "expression": expression } }] },
    })
}

/// A slice of a node that is the whole of its pool.
pub(crate) fn slice(node: &str, driver: &str, devices: Value) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": format!("{node}-{driver}") },
        "spec": {
            "driver": driver, "nodeName": node, "devices": devices,
            "pool": { "name": node, "generation": 1, "resourceSliceCount": 1 },
        },
    })
}

pub(crate) fn claim(namespace: &str, name: &str, devices: Value) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": name, "namespace": namespace }, "spec": { "devices": devices },
    })
}

/// A Pod with an entry for a claim or a template.
pub(crate) fn pod(namespace: &str, name: &str, entries: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": namespace },
        "spec": {
            "containers": [{ "name": "c", "image": "x" }], "resourceClaims": entries, "terminationGracePeriodSeconds": 0,
        },
    })
}

/// A node without a kubelet, and what it says about itself.
pub(crate) fn node(name: &str) -> (Value, Value) {
    let size = json!({ "cpu": "64", "memory": "64Gi", "pods": "250" });
    let ready = json!({ "type": "Ready", "status": "True", "reason": "Test", "message": "" });
    (
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name } } }),
        json!({ "capacity": size, "allocatable": size, "conditions": [ready] }),
    )
}
