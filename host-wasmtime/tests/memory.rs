//! What the controller keeps of a large cluster: 80,000 devices and 50,000 Pods, in an API server of this process.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

mod api_server;
mod running;

use std::time::{Duration, Instant};

use api_server::ApiServer;
use running::Running;
use serde_json::{Value, json};

const NODES: usize = 5_000;
const DEVICES_OF_A_SLICE: usize = 8;
const SLICES_OF_A_NODE: usize = 2;
const PODS: usize = 50_000;
/// So many of the Pods have an allocated claim.
const CLAIMS: usize = 20_000;
/// MiB.
const MOST: u64 = 1_536;

fn node(number: usize) -> Value {
    let labels = json!({ "kubernetes.io/hostname": format!("node-{number}"), "topology.kubernetes.io/zone": format!("zone-{}", number % 3),
        "node.kubernetes.io/instance-type": "gpu-large", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux" });
    let room = json!({ "cpu": "64", "memory": "512Gi", "pods": "110", "ephemeral-storage": "100Gi" });
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": format!("node-{number}"), "labels": labels },
        "spec": { "podCIDR": "10.0.0.0/24", "providerID": format!("cloud:///zone/node-{number}") },
        "status": { "capacity": room, "allocatable": room,
            "conditions": [{ "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status" }],
            "images": (0..20).map(|image| json!({ "names": [format!("registry.example.com/team/image-{image}@sha256:{image:064x}")], "sizeBytes": 123_456_789 })).collect::<Vec<_>>() } })
}

fn slice(node: usize, slice: usize) -> Value {
    let device = |index: usize| {
        let number = slice * DEVICES_OF_A_SLICE + index;
        json!({ "name": format!("gpu-{number}"),
            "attributes": {
                "type": { "string": "gpu" }, "index": { "int": number }, "uuid": { "string": format!("GPU-{node:08x}-{number:04x}-4000-8000-00000000beef") },
                "productName": { "string": "Example Accelerator 80GB" }, "architecture": { "string": "Modern" },
                "driverVersion": { "version": "570.86.15" }, "resource.kubernetes.io/pcieRoot": { "string": format!("pci0000:{:02x}", number / 2) } },
            "capacity": { "memory": { "value": "80Gi" }, "multiprocessors": { "value": "132" } } })
    };
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
        "metadata": { "name": format!("node-{node}-gpu.example.com-{slice}"), "managedFields": managed("kubelet") },
        "spec": { "driver": "gpu.example.com", "nodeName": format!("node-{node}"),
            "pool": { "name": format!("node-{node}"), "generation": 1, "resourceSliceCount": SLICES_OF_A_NODE },
            "devices": (0..DEVICES_OF_A_SLICE).map(device).collect::<Vec<_>>() } })
}

/// What the API server notes about writers; a good part of most objects.
fn managed(manager: &str) -> Value {
    let fields = json!({ "f:metadata": { "f:labels": { ".": {}, "f:app": {}, "f:pod-template-hash": {} }, "f:ownerReferences": { ".": {} } },
        "f:spec": { "f:containers": { "k:{\"name\":\"main\"}": { ".": {}, "f:image": {}, "f:env": { ".": {} }, "f:resources": { ".": {} } } },
            "f:schedulerName": {}, "f:securityContext": {}, "f:terminationGracePeriodSeconds": {} } });
    json!([{ "manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields }])
}

fn pod(number: usize) -> Value {
    let name = format!("work-{number:05}");
    let env =
        |index: usize| json!({ "name": format!("SETTING_{index}"), "value": format!("value of setting {index}") });
    let container = json!({ "name": "main", "image": "registry.example.com/team/train:1.0.0", "command": ["/bin/train", "--config", "/etc/train.yaml"],
        "env": (0..10).map(env).collect::<Vec<_>>(), "resources": { "requests": { "cpu": "2", "memory": "8Gi" }, "limits": { "memory": "8Gi" } },
        "volumeMounts": [{ "name": "kube-api-access", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true }] });
    let mut pod = json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "namespace": format!("team-{}", number % 50), "labels": { "app": "work", "pod-template-hash": "abcdef" },
            "uid": format!("pod-{number}"), "managedFields": managed("kube-controller-manager"),
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "work", "uid": "work", "controller": true }] },
        "spec": { "nodeName": format!("node-{}", number % NODES), "schedulerName": "default-scheduler", "containers": [container],
            "volumes": [{ "name": "kube-api-access", "projected": { "sources": [{ "serviceAccountToken": { "path": "token", "expirationSeconds": 3607 } }] } }],
            "tolerations": [{ "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 }] },
        "status": { "phase": "Running", "podIP": "10.0.0.1", "hostIP": "192.168.0.1", "qosClass": "Burstable",
            "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" }],
            "containerStatuses": [{ "name": "main", "ready": true, "restartCount": 0, "image": "registry.example.com/team/train:1.0.0", "state": { "running": { "startedAt": "2026-01-01T00:00:00Z" } } }] } });
    if number < CLAIMS {
        pod["spec"]["resourceClaims"] = json!([{ "name": "gpu", "resourceClaimName": name }]);
        pod["spec"]["containers"][0]["resources"]["claims"] = json!([{ "name": "gpu" }]);
    }
    pod
}

fn claim(number: usize) -> Value {
    let node = format!("node-{}", number % NODES);
    let device = json!({ "request": "gpu", "driver": "gpu.example.com", "pool": node, "device": format!("gpu-{}", number / NODES) });
    let selector = json!({ "nodeSelectorTerms": [{ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [node] }] }] });
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": format!("work-{number:05}"), "namespace": format!("team-{}", number % 50), "managedFields": managed("kube-scheduler"),
            "finalizers": ["resource.kubernetes.io/delete-protection"] },
        "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1 } }] } },
        "status": { "allocation": { "devices": { "results": [device] }, "nodeSelector": selector },
            "reservedFor": [{ "resource": "pods", "name": format!("work-{number:05}"), "uid": format!("pod-{number}") }] } })
}

fn large(name: &str) -> ApiServer {
    let server = ApiServer::start(name);
    let class = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" },
        "spec": { "selectors": [{ "cel": { "expression": "device.driver == 'gpu.example.com'" } }] } });
    server.apply(&[class]);
    for number in 0..NODES {
        let slices = (0..SLICES_OF_A_NODE).map(|position| slice(number, position));
        server.apply(&slices.chain([node(number)]).collect::<Vec<_>>());
    }
    server.apply(&(0..50).map(|team| json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": format!("team-{team}") } })).collect::<Vec<_>>());
    for number in 0..PODS {
        server.apply(&[pod(number)]);
    }
    for number in 0..CLAIMS {
        server.apply(&[claim(number)]);
    }
    server.store().changes.clear();
    server
}

/// Starts the controller and waits until it has heard everything and rests; its highest resident memory in MiB, and how long it took until all
/// was listed.
fn resident(server: &ApiServer, controllers: &str) -> (u64, Duration) {
    let start = Instant::now();
    let running = Running::start(server, &["--controllers", controllers, "--leader-elect=false"]);
    server.until("readiness", 300, |_| running.get("/readyz").filter(|answer| answer.0 == 200));
    let ready = start.elapsed();
    let id = running.child.as_ref().unwrap().id();
    let mut last = (0, Instant::now());
    let most = server.until("rest", 120, |_| {
        let now = memory(id);
        if now != last.0 {
            last = (now, Instant::now());
        }
        (last.1.elapsed() > Duration::from_secs(5)).then_some(now)
    });
    running.stop();
    (most, ready)
}

/// The highest resident memory of a process so far, in MiB.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
fn a_large_cluster_is_kept_in_little_memory() {
    let server = large("large");
    let bytes: usize = ["nodes", "resourceslices", "pods", "resourceclaims"]
        .iter()
        .flat_map(|plural| server.list(plural))
        .map(|object| object.to_string().len())
        .sum();
    for controllers in
        ["template-sync,explainer", "template-sync,explainer,claims,podgroup-protection,taint-eviction,scheduler"]
    {
        let (most, ready) = resident(&server, controllers);
        println!(
            "{controllers}: {most} MiB for {} MB of JSON, everything listed after {:.1} s",
            bytes / 1_000_000,
            ready.as_secs_f64()
        );
        assert!(most < MOST, "{controllers}: {most} MiB");
    }
    let writes: Vec<String> = server
        .store()
        .requests
        .iter()
        .filter(|request| request.is_write())
        .map(|request| format!("{} {}", request.method, request.path))
        .take(5)
        .collect();
    assert!(writes.is_empty(), "there is nothing to do: {writes:?}");
}
