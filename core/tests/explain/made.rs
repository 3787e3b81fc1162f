//! Clusters made from seeds, small and full of obstacles.

use serde_json::{Value, json};

/// Numbers that look like chance and are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    fn is_hit(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

const DRIVER: &str = "gpu.example.com";

/// Settings and objects of one seed.
pub(crate) fn made(seed: u64) -> (Value, Vec<Value>) {
    let mut dice = Dice(seed.wrapping_mul(7919).wrapping_add(12345));
    for _ in 0..4 {
        dice.below(2);
    }
    let mut objects = vec![
        class("gpu", &[json!({ "cel": { "expression": format!("device.driver == '{DRIVER}'") } })]),
        class(
            "big",
            &[
                json!({ "cel": { "expression": format!("device.capacity['{DRIVER}'].mem.compareTo(quantity('60Gi')) > 0") } }),
            ],
        ),
    ];
    let nodes = 1 + dice.below(3);
    let mut devices_of: Vec<(String, Vec<Value>)> = Vec::new();
    for node in 0..nodes {
        let name = format!("n{node}");
        objects.push(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } }));
        let has_counters = dice.is_hit(30);
        let devices: Vec<Value> =
            (0..2 + dice.below(3)).map(|number| device(&mut dice, number, has_counters)).collect();
        let pool = |count: u64| json!({ "name": name, "generation": 1, "resourceSliceCount": count });
        let count = if has_counters { 2 } else { 1 };
        if has_counters {
            objects.push(slice(
                &format!("{name}-counters"),
                json!({ "driver": DRIVER, "nodeName": name, "pool": pool(count), "sharedCounters":
                    [{ "name": "set", "counters": { "mem": { "value": format!("{}Gi", 20 + 20 * dice.below(4)) } } }] }),
            ));
        }
        objects.push(slice(
            &format!("{name}-devices"),
            json!({ "driver": DRIVER, "nodeName": name, "pool": pool(count), "devices": devices }),
        ));
        devices_of.push((name, devices));
    }
    let mut number = 0;
    for (node, devices) in &devices_of {
        for device in devices {
            let is_shared = device["allowMultipleAllocations"] == true;
            if !dice.is_hit(if is_shared { 60 } else { 35 }) {
                continue;
            }
            number += 1;
            let mut result = json!({ "request": "r", "driver": DRIVER, "pool": node, "device": device["name"] });
            if is_shared {
                result["shareID"] = json!(format!("00000000-0000-4000-8000-{number:012}"));
                result["consumedCapacity"] = json!({ "mem": format!("{}Gi", 10 * (1 + dice.below(3))) });
            }
            objects.push(json!({
                "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": { "namespace": "ml", "name": format!("held-{number}"), "uid": format!("u{number}") },
                "spec": { "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "gpu" } }] } },
                "status": { "allocation": { "devices": { "results": [result] } } },
            }));
        }
    }
    objects.push(wanted(&mut dice));
    (json!({}), objects)
}

fn class(name: &str, selectors: &[Value]) -> Value {
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": name },
        "spec": { "selectors": selectors } })
}

fn slice(name: &str, spec: Value) -> Value {
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": name }, "spec": spec })
}

fn device(dice: &mut Dice, number: u64, has_counters: bool) -> Value {
    let mut device = json!({ "name": format!("gpu-{number}"),
        "attributes": { "model": { "string": format!("m{}", dice.below(3)) } },
        "capacity": { "mem": { "value": format!("{}Gi", 40 * (1 + dice.below(2))) } } });
    if dice.is_hit(80) {
        device["attributes"]["numa"] = json!({ "int": dice.below(2) });
    }
    if dice.is_hit(25) {
        let effect = if dice.is_hit(50) { "NoSchedule" } else { "NoExecute" };
        device["taints"] = json!([{ "key": format!("k{}", dice.below(2)), "value": "v", "effect": effect }]);
    }
    if has_counters {
        let amount = format!("{}Gi", 20 + 20 * dice.below(2));
        device["consumesCounters"] = json!([{ "counterSet": "set", "counters": { "mem": { "value": amount } } }]);
    } else if dice.is_hit(30) {
        device["allowMultipleAllocations"] = json!(true);
        if dice.is_hit(40) {
            device["capacity"]["mem"]["requestPolicy"] =
                json!({ "default": "10Gi", "validRange": { "min": "10Gi", "step": "10Gi" } });
        }
    }
    device
}

fn wanted(dice: &mut Dice) -> Value {
    let mut requests = Vec::new();
    for number in 0..1 + dice.below(2) {
        let mut exact =
            json!({ "deviceClassName": if dice.is_hit(80) { "gpu" } else { "big" }, "count": 1 + dice.below(3) });
        let mut selectors = Vec::new();
        if dice.is_hit(50) {
            selectors.push(format!("device.attributes['{DRIVER}'].model == 'm{}'", dice.below(4)));
        }
        if dice.is_hit(30) {
            selectors.push(format!(
                "device.capacity['{DRIVER}'].mem.compareTo(quantity('{}Gi')) >= 0",
                40 * (1 + dice.below(3))
            ));
        }
        let selectors: Vec<Value> =
            selectors.into_iter().map(|text| json!({ "cel": { "expression": text } })).collect();
        exact["selectors"] = json!(selectors);
        if dice.is_hit(30) {
            let name = if dice.is_hit(15) { "memory" } else { "mem" };
            exact["capacity"] = json!({ "requests": { name: format!("{}Gi", 15 + 20 * dice.below(4)) } });
        }
        if dice.is_hit(30) {
            exact["tolerations"] = json!([{ "key": "k0", "operator": "Exists" }]);
        }
        requests.push(json!({ "name": format!("r{number}"), "exactly": exact }));
    }
    let mut devices = json!({ "requests": requests });
    if dice.is_hit(50) {
        let constraint = if dice.is_hit(70) { "matchAttribute" } else { "distinctAttribute" };
        devices["constraints"] = json!([{ constraint: format!("{DRIVER}/numa") }]);
    }
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "namespace": "ml", "name": "wanted" },
        "spec": { "devices": devices } })
}
