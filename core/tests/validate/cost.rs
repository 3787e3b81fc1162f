//! What `validate` costs: `cargo test --release -p apportion-core --test validate cost -- --ignored --nocapture`.

use std::time::Instant;

use apportion_core::profile::{Profile, Version};
use apportion_core::validate::admit;
use serde_json::{Map, Value, json};

fn pod() -> Value {
    let resources = json!({ "requests": { "cpu": "4", "memory": "32Gi" }, "limits": { "memory": "32Gi" }, "claims": [{ "name": "gpu" }] });
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "train-0", "namespace": "ml", "labels": { "app": "train" } },
        "spec": {
            "containers": [{ "name": "main", "image": "registry.example.com/train:1.2", "resources": resources }],
            "resourceClaims": [{ "name": "gpu", "resourceClaimTemplateName": "gpu" }],
            "tolerations": [{ "key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule" }],
            "restartPolicy": "Never",
        },
    })
}

fn claim() -> Value {
    let expression = "device.attributes['gpu.example.com'].model == 'H100' && device.capacity['gpu.example.com'].memory.compareTo(quantity('80Gi')) >= 0";
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c", "namespace": "ml" },
        "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": {
            "deviceClassName": "gpu.example.com", "selectors": [{ "cel": { "expression": expression } }],
        } }] } },
    })
}

fn slice() -> Value {
    let device = |index: usize| {
        let mut attributes = Map::new();
        for name in ["model", "brand", "architecture", "uuid", "serial", "resource.example.com/pcieRoot"] {
            attributes.insert(
                name.to_owned(),
                json!({ "string": format!("{name}-{index}").chars().take(60).collect::<String>() }),
            );
        }
        attributes.insert("driverVersion".to_owned(), json!({ "version": "580.95.5" }));
        attributes.insert("index".to_owned(), json!({ "int": index }));
        json!({
            "name": format!("gpu-{index}"), "attributes": attributes,
            "capacity": { "memory": { "value": "81559Mi" }, "cores": { "value": "132" } },
        })
    };
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "n-gpu" },
        "spec": {
            "driver": "gpu.example.com", "nodeName": "n",
            "pool": { "name": "n", "generation": 1, "resourceSliceCount": 1 },
            "devices": (0..128).map(device).collect::<Vec<_>>(),
        },
    })
}

#[test]
#[ignore = "measures time"]
fn cost_of_one_object() {
    let profile = Profile::of(Version::V1_36);
    for (name, object, rounds) in
        [("Pod", pod(), 4000), ("ResourceClaim", claim(), 4000), ("ResourceSlice", slice(), 400)]
    {
        assert!(!admit(&object, &profile, None).is_refused(), "{name}");
        let mut best = u128::MAX;
        for _ in 0..8 {
            let start = Instant::now();
            for _ in 0..rounds {
                std::hint::black_box(admit(std::hint::black_box(&object), &profile, None));
            }
            best = best.min(start.elapsed().as_nanos() / rounds);
        }
        println!("{name}: {best} ns");
    }
}
