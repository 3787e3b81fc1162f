//! How long a cluster takes to settle. Run with `cargo test --release -p apportion-core --test lifecycle speed -- --ignored --nocapture`.

use std::time::Instant;

use apportion_core::allocate::Limits;
use apportion_core::control_plane::{Settled, Simulation};
use apportion_core::decision::Time;
use apportion_core::profile::{Profile, Version};
use serde_json::{Value, json};

/// Pods with one claim each from one template, on nodes with 16 devices, of which a tenth stays free.
fn cluster(pods: usize) -> Vec<Value> {
    let nodes = pods.div_ceil(14);
    let class = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" },
        "spec": { "selectors": [{ "cel": { "expression": "device.driver == \"gpu.example.com\"" } }] } });
    let template = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": { "name": "gpu", "namespace": "default" },
        "spec": { "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu" } }] } } } });
    let mut objects = vec![class, template];
    for index in 0..nodes {
        let name = format!("node-{index:05}");
        let devices: Vec<Value> = (0..16).map(|device| json!({ "name": format!("gpu-{device}") })).collect();
        objects.push(json!({ "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name } },
            "status": { "allocatable": { "cpu": "64", "memory": "256Gi", "pods": "110" } } }));
        objects.push(
            json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": name },
            "spec": { "driver": "gpu.example.com", "nodeName": name, "devices": devices,
                "pool": { "name": name, "generation": 1, "resourceSliceCount": 1 } } }),
        );
    }
    objects.extend((0..pods).map(|index| {
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": format!("pod-{index:05}"), "namespace": "default" },
            "spec": { "containers": [{ "name": "main", "image": "example.com/main", "resources": {
                    "requests": { "cpu": format!("{}", 1 + index % 4) }, "claims": [{ "name": "gpu" }] } }],
                "resourceClaims": [{ "name": "gpu", "resourceClaimTemplateName": "gpu" }] } })
    }));
    objects
}

#[test]
#[ignore = "measures time"]
fn settling_takes_as_long_per_pod_however_many_there_are() {
    for pods in [1000, 4000, 16_000] {
        let texts: Vec<String> = cluster(pods).iter().map(Value::to_string).collect();
        let mut simulation =
            Simulation::new(Profile::of(Version::V1_36), Limits::default(), Time::from_seconds(1_750_000_000));
        let start = Instant::now();
        simulation.apply(texts.iter().map(String::as_str));
        simulation.run_pods();
        let read = start.elapsed();
        assert_eq!(simulation.run(), Settled::Quiet);
        let took = start.elapsed() - read;
        let running = simulation.server().cluster().pods().values().filter(|pod| pod.status.phase == "Running").count();
        let micros = took.as_micros() / pods as u128;
        println!(
            "{pods} Pods: read in {read:?}, settled in {took:?}, {micros} us and {} writes each; {} looks, {running} run",
            simulation.writes() / pods as u64,
            simulation.looks_at_nodes()
        );
        assert_eq!(running, pods);
    }
}
