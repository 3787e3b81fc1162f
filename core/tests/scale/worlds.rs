//! Large clusters, the same for the same seed.

use serde_json::{Value, json};

pub(crate) const DRIVER: &str = "gpu.example.com";
const UUID: &str = "gpu.example.com/uuid";

/// Numbers that look random, the same for the same seed.
struct Numbers(u64);

impl Numbers {
    /// A number from `low` to `high`, both included.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (self.0 >> 33) % (high - low + 1)
    }

    /// Puts a list into another order.
    fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.between(0, last as u64) as usize);
        }
    }
}

/// A cluster like one of which a trace is published: 1,213 nodes with 6,212 GPUs that can be shared, and 8,152 Pods that arrive in a
/// random order, each with a claim of its own if it needs a GPU at all.
pub(crate) fn trace(seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let mut objects = vec![class()];
    // Number of nodes, CPUs, GiB of memory, GPUs, and their model.
    let kinds = [
        (549, 96, 384, 8, 1),
        (387, 104, 512, 2, 2),
        (107, 16, 120, 2, 3),
        (39, 128, 768, 8, 4),
        (28, 32, 128, 4, 5),
        (29, 64, 256, 8, 6),
        (25, 96, 384, 4, 2),
        (24, 64, 256, 2, 3),
        (19, 8, 32, 1, 5),
        (3, 8, 60, 2, 7),
        (3, 8, 60, 1, 7),
    ];
    let kinds = kinds.iter().flat_map(|(count, cpu, memory, gpus, model)| vec![(*cpu, *memory, *gpus, *model); *count]);
    let mut nodes: Vec<_> = kinds.collect();
    numbers.shuffle(&mut nodes);
    for (index, (cpu, memory, gpus, model)) in nodes.into_iter().enumerate() {
        let name = format!("node-{index:04}");
        let device = |gpu: u64| {
            json!({
                "name": format!("gpu-{gpu}"), "allowMultipleAllocations": true,
                "attributes": { "uuid": { "string": format!("{name}-{gpu}") }, "model": { "string": format!("model-{model}") } },
                "capacity": { "milli": { "value": "1000" } },
            })
        };
        objects.push(node(&name, cpu, memory));
        objects.push(slice(&name, (0..gpus).map(device).collect()));
    }
    // Number of Pods, GPUs of each, and whether it asks for a share.
    let asks = [(1088, 0, false), (3078, 1, true), (3911, 1, false), (16, 2, false), (15, 4, false), (44, 8, false)];
    let mut pods: Vec<_> =
        asks.iter().flat_map(|(count, gpus, shares)| vec![(*gpus, *shares); *count as usize]).collect();
    numbers.shuffle(&mut pods);
    for (index, (gpus, shares)) in pods.into_iter().enumerate() {
        let name = format!("pod-{index:04}");
        // Quartiles are at 4, 11 and 12 CPUs and at 22, 41 and 49 GiB.
        let (cpu, memory) = match numbers.between(0, 3) {
            0 => (numbers.between(4, 16) * 250, numbers.between(2, 22)),
            1 => (numbers.between(16, 44) * 250, numbers.between(22, 41)),
            2 => (numbers.between(44, 48) * 250, numbers.between(41, 49)),
            _ => (numbers.between(48, 64) * 250, numbers.between(49, 64)),
        };
        if gpus > 0 {
            let milli = if shares { numbers.between(23, 81) * 10 } else { 1000 };
            objects.push(claim(&name, gpus, milli));
        }
        let own = (gpus > 0).then(|| json!({ "name": "gpu", "resourceClaimName": name }));
        objects.push(pod(&name, &format!("{cpu}m"), &format!("{memory}Gi"), own.as_ref(), None));
    }
    objects
}

/// Pods that all use one template, on nodes with 16 devices each; they ask for one to eight CPUs.
pub(crate) fn batch(pods: usize, nodes: usize) -> Vec<Value> {
    let (mut numbers, mut objects) = (Numbers(1), vec![class(), template()]);
    for index in 0..nodes {
        let name = format!("node-{index:05}");
        objects.push(node(&name, 64, 512));
        objects.push(slice(&name, (0..16).map(|gpu| json!({ "name": format!("gpu-{gpu}") })).collect()));
    }
    for index in 0..pods {
        let own = json!({ "name": "gpu", "resourceClaimTemplateName": "one" });
        let cpu = numbers.between(1, 8).to_string();
        objects.push(pod(&format!("pod-{index:05}"), &cpu, "1Gi", Some(&own), None));
    }
    objects
}

/// Gangs of ten, each with one claim for all, whose members ask for CPU: six gangs leave too little on a node for a seventh, but
/// enough for some of its members.
pub(crate) fn gangs(gangs: usize, nodes: usize) -> Vec<Value> {
    let mut objects = vec![class(), template()];
    for index in 0..nodes {
        let name = format!("node-{index:05}");
        objects.push(node(&name, 64, 512));
        objects.push(slice(&name, (0..8).map(|gpu| json!({ "name": format!("gpu-{gpu}") })).collect()));
    }
    for index in 0..gangs {
        let name = format!("gang-{index:05}");
        let own = json!({ "name": "gpu", "resourceClaimTemplateName": "one" });
        objects.push(json!({
            "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
            "metadata": { "name": name, "namespace": "ml" },
            "spec": { "schedulingPolicy": { "gang": { "minCount": 10 } }, "resourceClaims": [own] },
        }));
        objects.extend((0..10).map(|member| pod(&format!("{name}-{member}"), "1", "1Gi", Some(&own), Some(&name))));
    }
    objects
}

pub(crate) fn class() -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" },
        "spec": { "selectors": [{ "cel": { "expression": format!("device.driver == '{DRIVER}'") } }] },
    })
}

fn template() -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": { "name": "one", "namespace": "ml" },
        "spec": { "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu" } }] } } },
    })
}

pub(crate) fn node(name: &str, cpu: u64, memory: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": name },
        "status": { "allocatable": { "cpu": cpu.to_string(), "memory": format!("{memory}Gi"), "pods": "110" } },
    })
}

pub(crate) fn slice(node: &str, devices: Vec<Value>) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": format!("{node}-gpu") },
        "spec": {
            "driver": DRIVER, "nodeName": node, "devices": devices,
            "pool": { "name": node, "generation": 1, "resourceSliceCount": 1 },
        },
    })
}

fn claim(name: &str, count: u64, milli: u64) -> Value {
    let constraints = if count > 1 { json!([{ "distinctAttribute": UUID }]) } else { json!([]) };
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": name, "namespace": "ml" },
        "spec": { "devices": { "constraints": constraints, "requests": [{ "name": "gpu", "exactly": {
            "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count,
            "capacity": { "requests": { "milli": milli.to_string() } },
        } }] } },
    })
}

fn pod(name: &str, cpu: &str, memory: &str, claim: Option<&Value>, group: Option<&str>) -> Value {
    let claims: Vec<Value> = claim.iter().map(|_| json!({ "name": "gpu" })).collect();
    let resources = json!({ "claims": claims, "requests": { "cpu": cpu, "memory": memory } });
    // What is null counts as left out.
    let group = group.map(|group| json!({ "podGroupName": group }));
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "ml" },
        "spec": {
            "containers": [{ "name": "main", "image": "registry.example/train:1", "resources": resources }],
            "resourceClaims": claim.into_iter().collect::<Vec<_>>(), "schedulingGroup": group,
        },
    })
}
