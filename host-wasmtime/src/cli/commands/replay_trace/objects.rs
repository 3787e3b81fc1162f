//! The objects of a trace, as a cluster has them.

use serde_json::{Value, json};

use super::trace::{Node, Pod, Shape};

const DRIVER: &str = "gpu.trace.example";

/// The namespace of Pods and claims.
pub(super) const NAMESPACE: &str = "trace";

/// The model of a GPU for which the trace names none.
const NO_MODEL: &str = "unknown";

/// What is there before the first Pod.
pub(super) fn cluster(nodes: &[Node]) -> Vec<String> {
    let class = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" },
        "spec": { "selectors": [{ "cel": { "expression": format!("device.driver == '{DRIVER}'") } }] },
    });
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
    let mut objects = vec![namespace.to_string(), class.to_string()];
    for node in nodes {
        objects.push(self::node(node).to_string());
        if node.gpus > 0 {
            objects.push(slice(node).to_string());
        }
    }
    objects
}

fn node(node: &Node) -> Value {
    let resources = json!({
        "cpu": format!("{}m", node.cpu_milli), "memory": format!("{}Mi", node.memory_mib), "pods": "110",
    });
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": node.name },
        "status": { "allocatable": resources, "capacity": resources },
    })
}

/// Each GPU has a thousand thousandths, which several Pods may share.
fn slice(node: &Node) -> Value {
    let model = if node.model.is_empty() { NO_MODEL } else { &node.model };
    let device = |gpu: u64| {
        json!({
            "name": format!("gpu-{gpu}"), "allowMultipleAllocations": true,
            "attributes": { "uuid": { "string": format!("{}-{gpu}", node.name) }, "model": { "string": model } },
            "capacity": { "milli": { "value": "1000" } },
        })
    };
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": format!("{}-gpu", node.name) },
        "spec": {
            "driver": DRIVER, "nodeName": node.name, "devices": (0..node.gpus).map(device).collect::<Vec<Value>>(),
            "pool": { "name": node.name, "generation": 1, "resourceSliceCount": 1 },
        },
    })
}

/// The claim of a Pod that asks for GPUs, and the Pod.
pub(super) fn of_pod(pod: &Pod) -> Vec<Value> {
    let Shape { cpu_milli, memory_mib, gpus, .. } = &pod.shape;
    let metadata = json!({ "name": pod.name, "namespace": NAMESPACE });
    let requests = json!({ "cpu": format!("{cpu_milli}m"), "memory": format!("{memory_mib}Mi") });
    let (claims, used) = match gpus {
        0 => (json!([]), json!([])),
        _ => (json!([{ "name": "gpu", "resourceClaimName": pod.name }]), json!([{ "name": "gpu" }])),
    };
    let pod_object = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {
            "containers": [{
                "name": "main", "image": "registry.example/trace:1", "resources": { "claims": used, "requests": requests },
            }],
            "resourceClaims": claims, "restartPolicy": "Never",
        },
    });
    if *gpus == 0 {
        return vec![pod_object];
    }
    let claim = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata,
        "spec": { "devices": devices(&pod.shape) },
    });
    vec![claim, pod_object]
}

fn devices(shape: &Shape) -> Value {
    // Shares of one GPU are no two GPUs.
    let constraints =
        if shape.gpus > 1 { json!([{ "distinctAttribute": format!("{DRIVER}/uuid") }]) } else { json!([]) };
    let models = json!(shape.models);
    let selectors = match shape.models.is_empty() {
        true => json!([]),
        false => json!([{ "cel": { "expression": format!("device.attributes['{DRIVER}'].model in {models}") } }]),
    };
    json!({
        "constraints": constraints,
        "requests": [{ "name": "gpu", "exactly": {
            "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": shape.gpus, "selectors": selectors,
            "capacity": { "requests": { "milli": shape.gpu_milli.to_string() } },
        } }],
    })
}
