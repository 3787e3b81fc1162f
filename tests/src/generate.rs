//! Seeded scenarios in the schema of the allocation vectors: small clusters in which every feature meets every other.

use serde_json::{Map, Value, json};

/// A small deterministic source of choices (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of a hundred cases.
    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'c, T>(&mut self, choices: &'c [T]) -> Option<&'c T> {
        choices.get(usize::try_from(self.below(choices.len() as u64)).unwrap_or(0))
    }

    fn word(&mut self, choices: &[&str]) -> String {
        self.pick(choices).copied().unwrap_or_default().to_owned()
    }
}

const DRIVERS: [&str; 3] = ["a.example.com", "b.example.com", "c.example.com"];
const MODELS: [&str; 3] = ["small", "medium", "large"];

/// The features of one scenario.
struct Features(Map<String, Value>);

impl Features {
    fn on(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }
}

/// Makes the scenario of a seed; the same seed makes the same scenario for ever.
pub fn scenario(seed: u64) -> Value {
    let mut dice = Dice(seed);
    let mut features = Map::new();
    for name in [
        "adminAccess",
        "consumableCapacity",
        "deviceBindingAndStatus",
        "deviceTaints",
        "listTypeAttributes",
        "partitionableDevices",
        "prioritizedList",
    ] {
        let likely = if name == "listTypeAttributes" { 25 } else { 70 };
        features.insert(name.to_owned(), Value::Bool(dice.chance(likely)));
    }
    let features = Features(features);
    let mut slices = Vec::new();
    let mut devices = Vec::new();
    for pool in 0..dice.between(2, 5) {
        make_pool(&mut dice, &features, pool, &mut slices, &mut devices);
    }
    let (in_use, shares, consumed) = usage(&mut dice, &features, &devices);
    let classes: Vec<Value> = ["any", "picky"].iter().map(|name| class(&mut dice, &features, name)).collect();
    let claims: Vec<Value> = (0..dice.between(1, 3)).map(|index| claim(&mut dice, &features, index)).collect();
    json!({
        "id": format!("seed-{seed}"),
        "source": "generated",
        "features": features.0,
        "node": {
            "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": "node-0", "labels": { "zone": "z0", "kubernetes.io/hostname": "node-0" } },
        },
        "classes": classes,
        "claims": claims,
        "slices": slices,
        "allocatedDevices": in_use,
        "allocatedSharedDevices": shares,
        "consumedCapacity": consumed,
    })
}

/// One device that the scenario published: identity, and whether it can be shared.
struct Published {
    driver: String,
    pool: String,
    device: String,
    is_shared: bool,
    capacity: Map<String, Value>,
}

fn make_pool(dice: &mut Dice, features: &Features, number: u64, slices: &mut Vec<Value>, all: &mut Vec<Published>) {
    let driver = dice.word(&DRIVERS);
    let pool = if dice.chance(50) { "node-0".to_owned() } else { format!("pool-{number}") };
    if all.iter().any(|device| device.driver == driver && device.pool == pool) {
        return;
    }
    let has_counters = dice.chance(40);
    let slice_count = dice.between(1, 3);
    let declared = slice_count + u64::from(has_counters) + u64::from(dice.chance(2));
    let generation = dice.between(1, 3);
    let placement = |dice: &mut Dice, spec: &mut Map<String, Value>| -> bool {
        match dice.below(10) {
            0..=4 => spec.insert("nodeName".into(), json!("node-0")),
            5 => spec.insert("nodeName".into(), json!("node-1")),
            6 | 7 => spec.insert("allNodes".into(), json!(true)),
            8 => spec.insert("nodeSelector".into(), zone_selector(dice)),
            _ => {
                spec.insert("perDeviceNodeSelection".into(), json!(true));
                return true;
            }
        };
        false
    };
    let mut base = Map::new();
    let per_device = placement(dice, &mut base);
    let spec = |extra: Map<String, Value>, generation: u64| {
        let mut spec = base.clone();
        spec.insert("driver".into(), json!(driver));
        spec.insert("pool".into(), json!({ "name": pool, "generation": generation, "resourceSliceCount": declared }));
        spec.extend(extra);
        spec
    };
    let mut push = |dice: &mut Dice, spec: Map<String, Value>| {
        let name = format!("{}-{driver}-{pool}-{}", dice.word(&["s", "t", "q"]), slices.len());
        slices.push(json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
            "metadata": { "name": name }, "spec": spec,
        }));
    };
    if has_counters {
        let sets: Vec<Value> = (0..2)
            .map(|set| {
                json!({ "name": format!("set-{set}"), "counters": {
                    "memory": { "value": format!("{}Gi", dice.between(4, 16)) },
                    "slices": { "value": dice.between(2, 7).to_string() },
                } })
            })
            .collect();
        let mut extra = Map::new();
        extra.insert("sharedCounters".into(), Value::Array(sets));
        push(dice, spec(extra, generation));
    }
    let mut index = 0;
    for _ in 0..slice_count {
        let mut list = Vec::new();
        for _ in 0..dice.between(2, 7) {
            let mut device = device(dice, features, index, has_counters);
            if per_device {
                placement_of_device(dice, &mut device);
            }
            all.push(Published {
                driver: driver.clone(),
                pool: pool.clone(),
                device: format!("dev-{index}"),
                is_shared: device.get("allowMultipleAllocations") == Some(&Value::Bool(true)),
                capacity: device.get("capacity").and_then(Value::as_object).cloned().unwrap_or_default(),
            });
            list.push(Value::Object(device));
            // Rarely the same name again: an invalid pool.
            if dice.below(400) != 0 {
                index += 1;
            }
        }
        let mut extra = Map::new();
        extra.insert("devices".into(), Value::Array(list));
        let old = dice.chance(2);
        push(dice, spec(extra, if old { generation - 1 } else { generation }));
    }
}

fn zone_selector(dice: &mut Dice) -> Value {
    let zone = dice.word(&["z0", "z0", "z1"]);
    let mut terms = vec![json!({ "matchExpressions": [{ "key": "zone", "operator": "In", "values": [zone] }] })];
    if dice.chance(20) {
        terms.push(json!({ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["node-0"] }] }));
    }
    json!({ "nodeSelectorTerms": terms })
}

fn placement_of_device(dice: &mut Dice, device: &mut Map<String, Value>) {
    match dice.below(5) {
        0 | 1 => device.insert("nodeName".into(), json!("node-0")),
        2 => device.insert("nodeName".into(), json!("node-1")),
        3 => device.insert("allNodes".into(), json!(true)),
        _ => device.insert("nodeSelector".into(), zone_selector(dice)),
    };
}

fn device(dice: &mut Dice, features: &Features, index: u64, has_counters: bool) -> Map<String, Value> {
    let mut device = Map::new();
    device.insert("name".into(), json!(format!("dev-{index}")));
    let mut attributes = Map::new();
    attributes.insert("model".into(), json!({ "string": dice.word(&MODELS) }));
    attributes.insert("index".into(), json!({ "int": dice.below(4) }));
    if dice.chance(80) {
        attributes.insert("numa".into(), json!({ "int": dice.below(2) }));
    }
    if dice.chance(40) {
        attributes.insert("fast".into(), json!({ "bool": dice.chance(50) }));
    }
    if dice.chance(40) {
        attributes.insert("driverVersion".into(), json!({ "version": dice.word(&["1.2.3", "1.10.0", "2.0.0-rc.1"]) }));
    }
    if dice.chance(85) {
        attributes.insert("common.example.com/rack".into(), json!({ "string": dice.word(&["r1", "r2"]) }));
    }
    if features.on("listTypeAttributes") && dice.chance(60) {
        let links: Vec<u64> = (0..3).filter(|_| dice.chance(60)).collect();
        let links = if links.is_empty() { vec![0] } else { links };
        attributes.insert("common.example.com/links".into(), json!({ "ints": links }));
    }
    device.insert("attributes".into(), Value::Object(attributes));
    let mut capacity = Map::new();
    capacity.insert("memory".into(), json!({ "value": format!("{}Gi", dice.between(1, 10)) }));
    if dice.chance(30) {
        let mut bandwidth = json!({ "value": dice.between(4, 12).to_string() });
        let policy = match dice.below(4) {
            0 => json!({ "default": "2", "validValues": ["1", "2", "4"] }),
            1 => json!({ "default": "2", "validRange": { "min": "1", "max": "8", "step": "1" } }),
            2 => json!({ "default": "2", "validRange": { "min": "2", "max": "6", "step": "2" } }),
            _ => Value::Null,
        };
        if let (false, Some(map)) = (policy.is_null(), bandwidth.as_object_mut()) {
            map.insert("requestPolicy".into(), policy);
        }
        capacity.insert("bandwidth".into(), bandwidth);
    }
    device.insert("capacity".into(), Value::Object(capacity));
    if dice.chance(30) {
        device.insert("allowMultipleAllocations".into(), json!(true));
    }
    if has_counters && dice.chance(85) {
        let set = dice.below(2);
        let set = if dice.below(800) == 0 { 9 } else { set };
        let mut consumption = vec![json!({ "counterSet": format!("set-{set}"), "counters": {
            "memory": { "value": format!("{}Gi", dice.between(1, 6)) },
            "slices": { "value": dice.between(1, 3).to_string() },
        } })];
        if dice.chance(10) && set < 2 {
            consumption
                .push(json!({ "counterSet": format!("set-{}", 1 - set), "counters": { "slices": { "value": "1" } } }));
        }
        device.insert("consumesCounters".into(), Value::Array(consumption));
    }
    if dice.chance(12) {
        device.insert(
            "taints".into(),
            json!([{
                "key": dice.word(&["sick", "busy"]), "value": dice.word(&["", "yes"]),
                "effect": dice.word(&["NoSchedule", "NoExecute", "None"]), "timeAdded": "2026-01-01T00:00:00Z",
            }]),
        );
    }
    if dice.chance(10) {
        device.insert("bindingConditions".into(), json!(["ready.example.com"]));
        device.insert("bindingFailureConditions".into(), json!(["failed.example.com"]));
        if dice.chance(50) {
            device.insert("bindsToNode".into(), json!(true));
        }
    }
    device
}

fn usage(dice: &mut Dice, features: &Features, devices: &[Published]) -> (Vec<Value>, Vec<Value>, Vec<Value>) {
    let (mut in_use, mut shares, mut consumed) = (Vec::new(), Vec::new(), Vec::new());
    let share = dice.below(35);
    for (index, device) in devices.iter().enumerate() {
        if !dice.chance(share) {
            continue;
        }
        let id = |extra: &[(&str, Value)]| {
            let mut id = json!({ "driver": device.driver, "pool": device.pool, "device": device.device });
            if let Some(map) = id.as_object_mut() {
                map.extend(extra.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
            }
            id
        };
        if device.is_shared && features.on("consumableCapacity") {
            let amounts: Map<String, Value> = device
                .capacity
                .iter()
                .map(|(name, _)| (name.clone(), json!(if name == "memory" { "1Gi" } else { "2" })))
                .collect();
            shares.push(id(&[("shareID", json!(format!("00000000-0000-4000-8000-{index:012}")))]));
            consumed.push(id(&[("capacity", Value::Object(amounts))]));
        } else {
            in_use.push(id(&[]));
        }
    }
    (in_use, shares, consumed)
}

fn selector(dice: &mut Dice, features: &Features) -> Value {
    let driver = dice.word(&DRIVERS);
    let expression = match dice.below(14) {
        0 | 1 => format!("device.driver == \"{driver}\""),
        2 => format!(
            "device.driver == \"{driver}\" && device.attributes[\"{driver}\"].model == \"{}\"",
            dice.word(&MODELS)
        ),
        3 | 4 => format!("device.attributes[device.driver].model != \"{}\"", dice.word(&MODELS)),
        5 => format!("device.attributes[device.driver].index < {}", dice.between(1, 4)),
        6 => "device.attributes[device.driver].?numa.orValue(9) == 1".to_owned(),
        7 => "has(device.attributes[device.driver].fast) && device.attributes[device.driver].fast".to_owned(),
        8 => format!("device.capacity[device.driver].memory.compareTo(quantity(\"{}Gi\")) >= 0", dice.between(1, 8)),
        9 => "cel.bind(a, device.attributes[device.driver], a.model in [\"small\", \"large\"])".to_owned(),
        10 => "!has(device.attributes[device.driver].driverVersion) || \
               device.attributes[device.driver].driverVersion.isLessThan(semver(\"1.9.0\"))"
            .to_owned(),
        11 if features.on("consumableCapacity") => "!device.allowMultipleAllocations".to_owned(),
        12 if dice.chance(10) => "device.attributes[device.driver].fast".to_owned(),
        13 if dice.chance(8) => "device.attributes[device.driver].nothing == 1".to_owned(),
        _ => "true".to_owned(),
    };
    json!({ "cel": { "expression": expression } })
}

fn class(dice: &mut Dice, features: &Features, name: &str) -> Value {
    let mut spec = Map::new();
    if name == "picky" {
        spec.insert("selectors".into(), json!([selector(dice, features)]));
    }
    if dice.chance(40) {
        let parameters = json!({ "apiVersion": "x.example.com/v1", "kind": "Config", "class": name });
        spec.insert(
            "config".into(),
            json!([{ "opaque": { "driver": dice.word(&DRIVERS), "parameters": parameters } }]),
        );
    }
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": name }, "spec": spec })
}

fn exact(dice: &mut Dice, features: &Features, sub: bool) -> Map<String, Value> {
    let mut request = Map::new();
    let class = if dice.chance(1) { "missing".to_owned() } else { dice.word(&["any", "any", "picky"]) };
    request.insert("deviceClassName".into(), json!(class));
    if dice.chance(8) {
        request.insert("allocationMode".into(), json!("All"));
    } else {
        request.insert("allocationMode".into(), json!("ExactCount"));
        let count = if dice.chance(70) { 1 } else { dice.between(2, 4) };
        request.insert("count".into(), json!(count));
    }
    if dice.chance(50) {
        let selectors: Vec<Value> = (0..dice.between(1, 2)).map(|_| selector(dice, features)).collect();
        request.insert("selectors".into(), Value::Array(selectors));
    }
    if dice.chance(30) {
        let mut toleration = json!({ "key": dice.word(&["sick", "busy"]), "operator": "Exists" });
        if let (true, Some(map)) = (dice.chance(30), toleration.as_object_mut()) {
            map.insert("effect".into(), json!("NoSchedule"));
        }
        request.insert("tolerations".into(), json!([toleration]));
    }
    if features.on("consumableCapacity") && dice.chance(25) {
        let (name, amount) = if dice.chance(60) {
            ("memory", format!("{}Gi", dice.between(1, 5)))
        } else {
            ("bandwidth", dice.between(1, 6).to_string())
        };
        request.insert("capacity".into(), json!({ "requests": { name: amount } }));
    }
    if !sub && features.on("adminAccess") && dice.chance(8) {
        request.insert("adminAccess".into(), json!(true));
    }
    request
}

fn claim(dice: &mut Dice, features: &Features, index: u64) -> Value {
    let mut requests = Vec::new();
    let mut names = Vec::new();
    for number in 0..dice.between(1, 3) {
        let name = format!("r{number}");
        if features.on("prioritizedList") && dice.chance(30) {
            let subrequests: Vec<Value> = (0..dice.between(1, 3))
                .map(|alternative| {
                    let mut sub = exact(dice, features, true);
                    sub.insert("name".into(), json!(format!("s{alternative}")));
                    Value::Object(sub)
                })
                .collect();
            requests.push(json!({ "name": name, "firstAvailable": subrequests }));
            names.push(format!("{name}/s0"));
        } else {
            requests.push(json!({ "name": name, "exactly": exact(dice, features, false) }));
        }
        names.push(name);
    }
    let some_of = |dice: &mut Dice| -> Vec<String> {
        if dice.chance(50) { Vec::new() } else { names.iter().filter(|_| dice.chance(50)).cloned().collect() }
    };
    let mut devices = json!({ "requests": requests });
    if dice.chance(35) {
        let constraints: Vec<Value> = (0..dice.between(1, 2))
            .map(|_| {
                let attribute = match dice.below(4) {
                    0 | 3 => "common.example.com/rack".to_owned(),
                    1 if features.on("listTypeAttributes") => "common.example.com/links".to_owned(),
                    2 => format!("{}/numa", dice.word(&DRIVERS)),
                    _ => format!("{}/model", dice.word(&DRIVERS)),
                };
                let kind = if features.on("consumableCapacity") && dice.chance(25) {
                    "distinctAttribute"
                } else {
                    "matchAttribute"
                };
                json!({ "requests": some_of(dice), kind: attribute })
            })
            .collect();
        if let Some(map) = devices.as_object_mut() {
            map.insert("constraints".into(), Value::Array(constraints));
        }
    }
    if dice.chance(30) {
        let config = json!([{ "requests": some_of(dice), "opaque": {
            "driver": dice.word(&DRIVERS),
            "parameters": { "apiVersion": "x.example.com/v1", "kind": "Config", "claim": index },
        } }]);
        if let Some(map) = devices.as_object_mut() {
            map.insert("config".into(), config);
        }
    }
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": format!("claim-{index}"), "namespace": "default", "uid": format!("uid-{index}") },
        "spec": { "devices": devices },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_scenario_every_time() {
        assert_eq!(scenario(7), scenario(7));
        assert_ne!(scenario(7), scenario(8));
    }
}
