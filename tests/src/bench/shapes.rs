//! Workloads made by our own code, in the schema of the scenario files and by the same rules. Every shape has a size, so
//! that growth can be measured; at the sizes of the scenario files the result equals those files.

use serde_json::{Map, Value, json};

/// How many devices one slice may have.
const SLICE: u64 = 128;

/// The features of Kubernetes 1.36.
fn features() -> Value {
    json!({
        "adminAccess": true, "consumableCapacity": true, "deviceBindingAndStatus": true, "deviceTaints": true,
        "listTypeAttributes": false, "partitionableDevices": true, "prioritizedList": true,
    })
}

fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name } },
    })
}

fn class(name: &str, expression: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": name },
        "spec": { "selectors": [{ "cel": { "expression": expression } }] },
    })
}

fn driver_class(name: &str) -> Value {
    class(name, r#"device.driver == "gpu.example.com""#)
}

fn claim(name: &str, devices: &Value) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": name, "namespace": "default" }, "spec": { "devices": devices },
    })
}

fn exactly(name: &str, class: &str, count: u64, expression: Option<&str>) -> Value {
    let mut exact = json!({ "allocationMode": "ExactCount", "count": count, "deviceClassName": class });
    select(&mut exact, expression);
    json!({ "name": name, "exactly": exact })
}

fn select(request: &mut Value, expression: Option<&str>) {
    if let (Some(map), Some(expression)) = (request.as_object_mut(), expression) {
        map.insert("selectors".to_owned(), json!([{ "cel": { "expression": expression } }]));
    }
}

fn equals(attribute: &str, value: &str) -> String {
    format!("device.attributes[\"gpu.example.com\"].{attribute} == \"{value}\"")
}

fn slice(name: &str, driver: &str, pool: &str, slices: u64, devices: &[Value]) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": name },
        "spec": {
            "driver": driver, "nodeName": pool, "devices": devices,
            "pool": { "name": pool, "generation": 1, "resourceSliceCount": slices },
        },
    })
}

/// Devices of one pool in as many slices as they need.
fn pool(devices: &[Value]) -> Vec<Value> {
    let chunks: Vec<&[Value]> = devices.chunks(SLICE as usize).collect();
    let count = chunks.len() as u64;
    let slices = chunks.into_iter().enumerate();
    slices.map(|(i, chunk)| slice(&format!("slice-{i}"), "gpu.example.com", "node-0", count, chunk)).collect()
}

fn scenario(id: &str, kind: &str, fields: Value) -> Value {
    let mut map = Map::new();
    map.insert("id".to_owned(), json!(id));
    map.insert("kind".to_owned(), json!(kind));
    map.insert("features".to_owned(), features());
    if kind != "nodes" {
        map.insert("node".to_owned(), node("node-0"));
        for name in ["allocatedDevices", "allocatedSharedDevices", "consumedCapacity"] {
            map.insert(name.to_owned(), json!([]));
        }
    }
    if let Value::Object(fields) = fields {
        map.extend(fields);
    }
    Value::Object(map)
}

fn none() -> Value {
    json!({ "status": "none", "allocations": null })
}

/// The outcome of one claim on `node-0`.
fn allocated(results: &[(String, String)]) -> Value {
    let results: Vec<Value> = results
        .iter()
        .map(|(request, device)| {
            json!({ "request": request, "driver": "gpu.example.com", "pool": "node-0", "device": device })
        })
        .collect();
    let names = json!({ "key": "metadata.name", "operator": "In", "values": ["node-0"] });
    json!({ "status": "allocated", "allocations": [{
        "devices": { "results": results },
        "nodeSelector": { "nodeSelectorTerms": [{ "matchFields": [names] }] },
    }] })
}

/// The GPU of most shapes: number `index` of a node.
pub(super) fn gpu(index: u64) -> Value {
    json!({
        "name": format!("gpu-{index}"),
        "attributes": {
            "index": { "int": index },
            "model": { "string": "a100" },
            "numa": { "int": (index / 4) % 2 },
            "resource.kubernetes.io/pcieRoot": { "string": format!("pci0000:{:02x}", index / 2) },
        },
        "capacity": { "memory": { "value": "80Gi" } },
    })
}

fn gpus(count: u64) -> Vec<Value> {
    pool(&(0..count).map(gpu).collect::<Vec<_>>())
}

/// `groups` groups of `size` devices by one attribute; four requests for `count` devices each of the kinds `k0` to `k3`,
/// all from one group. Every group but the last lacks devices of kind `k3`; without `is_solvable` the last one does too.
pub fn match_groups(attribute: &str, groups: u64, size: u64, count: u64, is_solvable: bool) -> Value {
    let is_pcie = attribute == "pcie";
    let mut devices = Vec::new();
    let mut chosen = Vec::new();
    for group in 0..groups {
        let has_enough = is_solvable && group + 1 == groups;
        let mut last_kind = 0;
        for j in 0..size {
            let kind = match j % 4 {
                3 => {
                    last_kind += 1;
                    if has_enough || last_kind < count { 3 } else { 2 }
                }
                kind => kind,
            };
            let name = format!("dev-{:02}", group * size + j);
            let value =
                if is_pcie { json!({ "string": format!("pci0000:{group:02x}") }) } else { json!({ "int": group }) };
            let qualified = if is_pcie { "resource.kubernetes.io/pcieRoot" } else { "numa" };
            if has_enough && j < 4 * count {
                chosen.push((kind, name.clone()));
            }
            devices.push(json!({ "name": name, "attributes": {
                "kind": { "string": format!("k{kind}") }, qualified: value,
            } }));
        }
    }
    chosen.sort_by_key(|(kind, _)| *kind);
    let chosen: Vec<(String, String)> = chosen.into_iter().map(|(kind, name)| (format!("req-{kind}"), name)).collect();
    let requests: Vec<Value> =
        (0..4).map(|r| exactly(&format!("req-{r}"), "any", count, Some(&equals("kind", &format!("k{r}"))))).collect();
    let constraint = if is_pcie { "resource.kubernetes.io/pcieRoot" } else { "gpu.example.com/numa" };
    let suffix = if is_pcie { String::new() } else { format!("-count{count}") };
    let prefix = if is_solvable { "" } else { "unsat-" };
    scenario(
        &format!("{prefix}match-{attribute}-{groups}x{size}{suffix}"),
        "single",
        json!({
            "classes": [driver_class("any")],
            "claims": [claim("claim-0", &json!({ "constraints": [{ "matchAttribute": constraint }], "requests": requests }))],
            "slices": pool(&devices),
            "expected": if is_solvable { allocated(&chosen) } else { none() },
        }),
    )
}

/// One request for one device more than there are. More than 32 in one claim are refused before any search.
pub fn unsat_count(devices: u64) -> Value {
    let wanted = devices + 1;
    let expected = if wanted <= 32 { none() } else { json!({ "status": "error", "allocations": null }) };
    scenario(
        &format!("unsat-count-{wanted}-of-{devices}"),
        "single",
        json!({
            "classes": [driver_class("gpu")],
            "claims": [claim("claim-0", &json!({ "requests": [exactly("gpu", "gpu", wanted, None)] }))],
            "slices": gpus(devices),
            "expected": expected,
        }),
    )
}

/// Claims for 32 devices each as long as there are that many, and one for one device more than the rest.
pub fn unsat_claims(devices: u64) -> Value {
    let mut claims = Vec::new();
    let mut left = devices + 1;
    while left > 0 {
        let count = left.min(32);
        let name = format!("claim-{}", claims.len());
        claims.push(claim(&name, &json!({ "requests": [exactly("gpu", "gpu", count, None)] })));
        left -= count;
    }
    scenario(
        &format!("unsat-claims-{}-of-{devices}", devices + 1),
        "single",
        json!({
            "classes": [driver_class("gpu")], "claims": claims, "slices": gpus(devices), "expected": none(),
        }),
    )
}

/// One-device requests over `requests + 2` equal devices, then a request that no device matches; as one claim or as many.
pub fn cliff(requests: u64, is_one_claim: bool) -> Value {
    let mut list: Vec<Value> = (0..requests).map(|r| exactly(&format!("req-{r}"), "gpu", 1, None)).collect();
    list.push(exactly("impossible", "gpu", 1, Some(&equals("model", "none"))));
    let (claims, suffix): (Vec<Value>, _) = if is_one_claim {
        (vec![claim("claim-0", &json!({ "requests": list }))], "one-claim")
    } else {
        let claims = list.iter().enumerate();
        let claims = claims.map(|(i, request)| claim(&format!("claim-{i}"), &json!({ "requests": [request] })));
        (claims.collect(), "many-claims")
    };
    scenario(
        &format!("cliff-{requests}-and-impossible-{suffix}"),
        "single",
        json!({
            "classes": [driver_class("gpu")], "claims": claims, "slices": gpus(requests + 2), "expected": none(),
        }),
    )
}

/// GPUs that can be cut into partitions, as counter sets; claims for one partition each, the profiles in turn.
pub fn mig(gpus: u64, profiles: &[&str], name: &str, expected_claims: u64) -> Value {
    const PARTITIONS: [(&str, u64, u64, u64); 5] =
        [("1g", 7, 1, 1), ("2g", 3, 2, 2), ("3g", 2, 3, 4), ("4g", 1, 4, 4), ("7g", 1, 7, 8)];
    let amounts = |slices: u64, memory: u64| json!({ "slices": { "value": slices.to_string() }, "memory": { "value": memory.to_string() } });
    // Eight counter sets fit into a slice.
    let counter_slices = gpus.div_ceil(8);
    let total = gpus + counter_slices;
    let mut slices = Vec::new();
    for part in 0..counter_slices {
        let sets: Vec<Value> = (part * 8..gpus.min(part * 8 + 8))
            .map(|gpu| json!({ "name": format!("gpu-{gpu}"), "counters": amounts(7, 8) }))
            .collect();
        let suffix = if part == 0 { String::new() } else { format!("-{part}") };
        let mut object = slice(&format!("node-0-counters{suffix}"), "gpu.example.com", "node-0", total, &[]);
        if let Some(spec) = object.pointer_mut("/spec").and_then(Value::as_object_mut) {
            spec.remove("devices");
            spec.insert("sharedCounters".to_owned(), json!(sets));
        }
        slices.push(object);
    }
    for gpu in 0..gpus {
        let mut devices = Vec::new();
        for (profile, count, part, memory) in PARTITIONS {
            devices.extend((0..count).map(|i| {
                json!({
                    "name": format!("gpu-{gpu}-{profile}-{i}"),
                    "attributes": { "gpu": { "int": gpu }, "profile": { "string": profile } },
                    "consumesCounters": [{ "counterSet": format!("gpu-{gpu}"), "counters": amounts(part, memory) }],
                })
            }));
        }
        slices.push(slice(&format!("node-0-gpu-{gpu}"), "gpu.example.com", "node-0", total, &devices));
    }
    let cycle: Vec<Value> = profiles
        .iter()
        .map(|profile| {
            let request = exactly("part", "mig", 1, Some(&equals("profile", profile)));
            claim("claim", &json!({ "requests": [request] }))
        })
        .collect();
    scenario(
        name,
        "sequence",
        json!({
            "classes": [driver_class("mig")], "claimCycle": cycle, "slices": slices,
            "expectedAllocatedClaims": expected_claims,
        }),
    )
}

fn alternatives(id: &str, devices: u64, in_use: u64, subs: &[(u64, String)], chosen: u64) -> Value {
    let subs: Vec<Value> = subs
        .iter()
        .enumerate()
        .map(|(i, (count, model))| {
            let name = format!("alt-{i}");
            let mut sub =
                json!({ "name": name, "allocationMode": "ExactCount", "count": count, "deviceClassName": "gpu" });
            select(&mut sub, Some(&equals("model", model)));
            sub
        })
        .collect();
    let used: Vec<Value> = (0..in_use)
        .map(|i| json!({ "driver": "gpu.example.com", "pool": "node-0", "device": format!("gpu-{i}") }))
        .collect();
    scenario(
        id,
        "single",
        json!({
            "classes": [driver_class("gpu")],
            "claims": [claim("claim-0", &json!({ "requests": [{ "name": "gpu", "firstAvailable": subs }] }))],
            "slices": gpus(devices),
            "allocatedDevices": used,
            "expected": allocated(&[("gpu/alt-7".to_owned(), format!("gpu-{chosen}"))]),
        }),
    )
}

/// Free devices and one request with eight alternatives by model, of which only the last exists.
pub fn first_available_models(devices: u64) -> Value {
    let subs: Vec<(u64, String)> =
        (0..8).map(|i| (1, if i < 7 { format!("x{i}") } else { "a100".to_owned() })).collect();
    let suffix = if devices == 64 { String::new() } else { format!("-{devices}") };
    alternatives(&format!("first-available-models{suffix}"), devices, 0, &subs, 0)
}

/// One free device and one request with alternatives for 8, 7, .. 1 devices.
pub fn first_available_counts(devices: u64) -> Value {
    let subs: Vec<(u64, String)> = (0..8).map(|i| (8 - i, "a100".to_owned())).collect();
    let suffix = if devices == 64 { String::new() } else { format!("-{devices}") };
    alternatives(&format!("first-available-counts{suffix}"), devices, devices - 1, &subs, devices - 1)
}

/// One shared device; claims for one unit of its capacity each.
pub fn consumable(capacity: u64) -> Value {
    let text = if capacity.is_multiple_of(1000) { format!("{}k", capacity / 1000) } else { capacity.to_string() };
    let device = json!({
        "name": "nic-0", "allowMultipleAllocations": true,
        "capacity": { "bandwidth": {
            "value": text, "requestPolicy": { "default": "1", "validRange": { "min": "1", "step": "1" } },
        } },
    });
    let mut request = exactly("nic", "nic", 1, None);
    if let Some(exact) = request.pointer_mut("/exactly").and_then(Value::as_object_mut) {
        exact.insert("capacity".to_owned(), json!({ "requests": { "bandwidth": "1" } }));
    }
    let expression = r#"device.driver == "nic.example.com" && device.allowMultipleAllocations == true"#;
    scenario(
        &format!("consumable-nic-{capacity}"),
        "sequence",
        json!({
            "classes": [class("nic", expression)],
            "claimCycle": [claim("claim", &json!({ "requests": [request] }))],
            "slices": [slice("node-0-nic", "nic.example.com", "node-0", 1, &[device])],
            "expectedAllocatedClaims": capacity,
        }),
    )
}

/// How many claims for `3g`, `2g` and `1g` in turn fit on so many GPUs, each taken from the first one that has room.
pub fn mixed_claims(gpus: u64) -> u64 {
    let mut left: Vec<(u64, u64)> = (0..gpus).map(|_| (7, 8)).collect();
    let in_turn = [(3, 4), (2, 2), (1, 1)];
    let mut claims = 0;
    for (slices, memory) in in_turn.into_iter().cycle() {
        let Some(gpu) = left.iter_mut().find(|gpu| gpu.0 >= slices && gpu.1 >= memory) else { break };
        *gpu = (gpu.0 - slices, gpu.1 - memory);
        claims += 1;
    }
    claims
}

/// Nodes with eight GPUs each, the first of them full; one claim for one device. A parameter set per (nodes, percent).
pub fn nodes(sets: &[(u64, u64)]) -> Value {
    let gpus: Vec<Value> = (0..8).map(gpu).collect();
    let request = exactly("gpu", "gpu", 1, Some(&equals("model", "a100")));
    let sets: Vec<Value> = sets
        .iter()
        .map(|(nodes, percent)| {
            let used = 8 * nodes * percent / 100;
            json!({
                "id": format!("nodes-{nodes}-used-{percent}"), "nodes": nodes, "usedPercent": percent,
                "expectedNodeIndex": used / 8, "expectedDevice": format!("gpu-{}", used % 8),
            })
        })
        .collect();
    scenario(
        "nodes",
        "nodes",
        json!({
            "classes": [driver_class("gpu")],
            "claims": [claim("claim-0", &json!({ "requests": [request] }))],
            "nodeTemplate": node("${node}"),
            "sliceTemplate": slice("${node}-gpu", "gpu.example.com", "${node}", 1, &gpus),
            "devicesPerNode": 8,
            "parameterSets": sets,
        }),
    )
}

/// Every workload that has a target, in the order of the report.
pub fn all() -> Vec<Value> {
    vec![
        nodes(&[(100, 0), (100, 50), (100, 99), (1000, 0), (1000, 50), (1000, 99), (5000, 0), (5000, 50), (5000, 99)]),
        match_groups("pcie", 16, 4, 1, true),
        match_groups("pcie", 16, 4, 1, false),
        match_groups("numa", 2, 32, 1, true),
        match_groups("numa", 2, 32, 2, true),
        match_groups("numa", 2, 16, 2, false),
        match_groups("numa", 2, 24, 2, false),
        match_groups("numa", 2, 32, 2, false),
        match_groups("numa", 2, 32, 4, false),
        unsat_count(6),
        unsat_count(8),
        unsat_count(10),
        unsat_count(16),
        unsat_count(20),
        unsat_count(31),
        unsat_count(128),
        unsat_claims(128),
        mig(8, &["1g"], "mig-8x7-1g", 56),
        mig(8, &["3g", "2g", "1g"], "mig-8x7-mixed", mixed_claims(8)),
        first_available_models(64),
        first_available_counts(64),
        consumable(1000),
        cliff(8, true),
        cliff(8, false),
    ]
}
