//! Pools, their devices, and what of them is in use.

use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::{DRIVERS, Features, MODELS, Theme};

/// One device that the scenario published: identity, and whether it can be shared.
pub(super) struct Published {
    driver: String,
    pool: String,
    device: String,
    is_shared: bool,
    capacity: Map<String, Value>,
}

/// What all slices of a pool have in common.
struct Pool {
    driver: String,
    name: String,
    generation: u64,
    declared: u64,
    /// Each slice may be for another node.
    is_spread: bool,
}

pub(super) fn make(
    dice: &mut Dice,
    features: &Features,
    number: u64,
    slices: &mut Vec<Value>,
    all: &mut Vec<Published>,
) {
    let driver = dice.word(&DRIVERS);
    let name = if dice.chance(50) { "node-0".to_owned() } else { format!("pool-{number}") };
    if all.iter().any(|device| device.driver == driver && device.pool == name) {
        return;
    }
    let is_odd = features.is(Theme::Pools);
    let has_counters = dice.chance(if features.is(Theme::Counters) { 85 } else { 35 });
    let slice_count = dice.between(1, 3);
    let surplus = u64::from(dice.chance(if is_odd { 12 } else { 2 }));
    let pool = Pool {
        driver,
        name,
        generation: dice.between(1, 3),
        declared: slice_count + u64::from(has_counters) + surplus,
        is_spread: dice.chance(if is_odd { 40 } else { 8 }),
    };
    let mut base = Map::new();
    let mut per_device = placement(dice, &mut base);
    if has_counters {
        let mut spec = base.clone();
        let sets: Vec<Value> = (0..2).map(|set| counter_set(dice, set)).collect();
        spec.insert("sharedCounters".into(), Value::Array(sets));
        push(dice, &pool, spec, pool.generation, slices);
        if is_odd && dice.chance(4) {
            let mut again = base.clone();
            again.insert("sharedCounters".into(), json!([counter_set(dice, 0)]));
            push(dice, &pool, again, pool.generation, slices);
        }
    }
    let most = match features.theme {
        Theme::Large => 40,
        Theme::Limits => 14,
        Theme::Claims => 10,
        _ => 7,
    };
    let mut index = 0;
    for _ in 0..slice_count {
        if pool.is_spread {
            base = Map::new();
            per_device = placement(dice, &mut base);
        }
        let mut list = Vec::new();
        for _ in 0..dice.between(2, most) {
            let mut device = device(dice, features, index, has_counters);
            if per_device {
                placement_of_device(dice, &mut device);
            }
            all.push(Published {
                driver: pool.driver.clone(),
                pool: pool.name.clone(),
                device: format!("dev-{index}"),
                is_shared: device.get("allowMultipleAllocations") == Some(&Value::Bool(true)),
                capacity: device.get("capacity").and_then(Value::as_object).cloned().unwrap_or_default(),
            });
            // Order counts, not names.
            let place = if dice.chance(8) { 0 } else { list.len() };
            list.insert(place, Value::Object(device));
            // Rarely the same name again: an invalid pool.
            if dice.below(if is_odd { 60 } else { 400 }) != 0 {
                index += 1;
            }
        }
        let mut spec = base.clone();
        spec.insert("devices".into(), Value::Array(list));
        if features.is_next() && dice.chance(8) {
            let operations =
                dice.pick(&[json!(["*"]), json!(["NodePrepareResources", "NodeUnprepareResources"])]).cloned();
            spec.insert("skipNodeOperations".into(), operations.unwrap_or_default());
        }
        let old = dice.chance(if is_odd { 15 } else { 2 });
        push(dice, &pool, spec, if old { pool.generation - 1 } else { pool.generation }, slices);
    }
}

fn push(dice: &mut Dice, pool: &Pool, mut spec: Map<String, Value>, generation: u64, slices: &mut Vec<Value>) {
    let name = format!("{}-{}-{}-{}", dice.word(&["s", "t", "q"]), pool.driver, pool.name, slices.len());
    spec.insert("driver".into(), json!(pool.driver));
    let identity = json!({ "name": pool.name, "generation": generation, "resourceSliceCount": pool.declared });
    spec.insert("pool".into(), identity);
    slices.push(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": name }, "spec": spec,
    }));
}

fn counter_set(dice: &mut Dice, set: u64) -> Value {
    json!({ "name": format!("set-{set}"), "counters": {
        "memory": { "value": format!("{}Gi", dice.between(4, 16)) },
        "slices": { "value": dice.between(2, 7).to_string() },
    } })
}

/// Which nodes have access; true where each device says so.
fn placement(dice: &mut Dice, spec: &mut Map<String, Value>) -> bool {
    if dice.below(120) == 0 {
        // Nothing at all, or a name beside something else.
        if dice.chance(50) {
            spec.insert("nodeName".into(), json!(dice.word(&["node-0", "node-1"])));
            spec.insert("allNodes".into(), json!(dice.chance(50)));
        }
        return false;
    }
    match dice.below(10) {
        0..=4 => spec.insert("nodeName".into(), json!("node-0")),
        5 => spec.insert("nodeName".into(), json!("node-1")),
        6 | 7 => spec.insert("allNodes".into(), json!(true)),
        8 => spec.insert("nodeSelector".into(), node_selector(dice)),
        _ => {
            spec.insert("perDeviceNodeSelection".into(), json!(true));
            return true;
        }
    };
    false
}

fn placement_of_device(dice: &mut Dice, device: &mut Map<String, Value>) {
    if dice.below(60) == 0 {
        return;
    }
    match dice.below(5) {
        0 | 1 => device.insert("nodeName".into(), json!("node-0")),
        2 => device.insert("nodeName".into(), json!("node-1")),
        3 => device.insert("allNodes".into(), json!(true)),
        _ => device.insert("nodeSelector".into(), node_selector(dice)),
    };
}

fn node_selector(dice: &mut Dice) -> Value {
    let requirement = match dice.below(9) {
        0..=3 => json!({ "key": "zone", "operator": "In", "values": [dice.word(&["z0", "z0", "z1"])] }),
        4 => json!({ "key": "zone", "operator": "NotIn", "values": [dice.word(&["z0", "z1", "z2"])] }),
        5 => json!({ "key": dice.word(&["zone", "rack"]), "operator": dice.word(&["Exists", "DoesNotExist"]) }),
        6 => json!({ "key": "cores", "operator": dice.word(&["Gt", "Lt"]), "values": [dice.word(&["4", "16"])] }),
        7 => {
            json!({ "key": "kubernetes.io/hostname", "operator": "In", "values": ["node-0", dice.word(&["node-0", "node-1"])] })
        }
        _ => json!({ "key": "zone", "operator": "In", "values": ["z1", "z0"] }),
    };
    let mut expressions = vec![requirement];
    if dice.chance(20) {
        expressions.push(json!({ "key": "cores", "operator": "In", "values": ["8", "16"] }));
    }
    let mut terms = match dice.below(12) {
        0 => vec![
            json!({ "matchFields": [{ "key": "metadata.name", "operator": dice.word(&["In", "NotIn"]), "values": ["node-0"] }] }),
        ],
        1 => vec![json!({
            "matchExpressions": expressions,
            "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [dice.word(&["node-0", "node-1"])] }],
        })],
        2 if dice.chance(20) => vec![json!({})],
        3 if dice.chance(10) => return json!({ "nodeSelectorTerms": [] }),
        _ => vec![json!({ "matchExpressions": expressions })],
    };
    if dice.chance(15) {
        terms.push(json!({ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["node-0"] }] }));
    }
    json!({ "nodeSelectorTerms": terms })
}

fn device(dice: &mut Dice, features: &Features, index: u64, has_counters: bool) -> Map<String, Value> {
    let mut device = Map::new();
    device.insert("name".into(), json!(format!("dev-{index}")));
    device.insert("attributes".into(), attributes(dice, features));
    device.insert("capacity".into(), capacity(dice, features));
    if dice.chance(if features.is_of_shares() { 60 } else { 30 }) {
        device.insert("allowMultipleAllocations".into(), json!(true));
        if dice.chance(10) {
            device.remove("capacity");
        }
    }
    if has_counters && dice.chance(85) {
        device.insert("consumesCounters".into(), consumption(dice, features));
    }
    if dice.chance(12) {
        let taints: Vec<Value> = (0..dice.between(1, 2)).map(|_| taint(dice)).collect();
        device.insert("taints".into(), Value::Array(taints));
    }
    if dice.chance(10) {
        let conditions =
            dice.pick(&[json!(["ready.example.com"]), json!(["ready.example.com", "b"]), json!([])]).cloned();
        device.insert("bindingConditions".into(), conditions.unwrap_or_default());
        if dice.chance(80) {
            device.insert("bindingFailureConditions".into(), json!(["failed.example.com"]));
        }
        if dice.chance(50) {
            device.insert("bindsToNode".into(), json!(true));
        }
    }
    device
}

fn taint(dice: &mut Dice) -> Value {
    json!({
        "key": dice.word(&["sick", "busy"]), "value": dice.word(&["", "yes"]),
        "effect": dice.word(&["NoSchedule", "NoExecute", "None", "Unheard"]), "timeAdded": "2026-01-01T00:00:00Z",
    })
}

fn attributes(dice: &mut Dice, features: &Features) -> Value {
    let mut attributes = Map::new();
    attributes.insert("model".into(), json!({ "string": dice.word(&MODELS) }));
    let index = if dice.chance(8) { format!("{}/index", dice.word(&DRIVERS)) } else { "index".to_owned() };
    attributes.insert(index, json!({ "int": dice.below(4) }));
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
        // Rarely of another type: values of different types are never equal.
        let rack = if dice.chance(4) { json!({ "int": 1 }) } else { json!({ "string": dice.word(&["r1", "r2"]) }) };
        attributes.insert("common.example.com/rack".into(), rack);
    }
    if features.on("listTypeAttributes") && dice.chance(if features.is(Theme::Constraints) { 85 } else { 60 }) {
        let links: Vec<u64> = (0..4).filter(|_| dice.chance(45)).collect();
        let links = if links.is_empty() { vec![dice.below(4)] } else { links };
        let links = match dice.below(8) {
            0 => json!({ "int": links.first() }),
            1 => json!({ "strings": links.iter().map(u64::to_string).collect::<Vec<_>>() }),
            _ => json!({ "ints": links }),
        };
        attributes.insert("common.example.com/links".into(), links);
    }
    if features.on("listTypeAttributes") && dice.chance(20) {
        attributes.insert("api".into(), json!({ "versions": ["1.0.0", dice.word(&["1.1.0", "2.0.0"])] }));
    }
    match dice.below(900) {
        0..=2 => attributes.insert("driverVersion".into(), json!({ "version": "1.2" })),
        3 | 4 => attributes.insert("common.example.com/rack".into(), json!({})),
        _ => None,
    };
    Value::Object(attributes)
}

fn capacity(dice: &mut Dice, features: &Features) -> Value {
    let mut capacity = Map::new();
    let mut memory = json!({ "value": format!("{}Gi", dice.between(1, 10)) });
    if features.is_of_shares()
        && dice.chance(35)
        && let Some(map) = memory.as_object_mut()
    {
        map.insert("requestPolicy".into(), memory_policy(dice));
    }
    // One spelling only: which of two the reference takes is up to chance.
    let name = if dice.chance(6) { "a.example.com/memory" } else { "memory" };
    capacity.insert(name.into(), memory);
    if dice.chance(if features.is_of_shares() { 60 } else { 30 }) {
        let mut bandwidth = json!({ "value": dice.between(4, 12).to_string() });
        let policy = match dice.below(6) {
            0 => json!({ "default": "2", "validValues": ["1", "2", "4"] }),
            1 => json!({ "default": "2", "validRange": { "min": "1", "max": "8", "step": "1" } }),
            2 => json!({ "default": "2", "validRange": { "min": "2", "max": "6", "step": "2" } }),
            3 => json!({ "default": "500m", "validRange": { "min": "500m", "max": "5", "step": "250m" } }),
            4 => json!({ "default": "1", "validRange": { "min": "1", "max": "7" } }),
            _ => Value::Null,
        };
        if let (false, Some(map)) = (policy.is_null(), bandwidth.as_object_mut()) {
            map.insert("requestPolicy".into(), policy);
        }
        capacity.insert("bandwidth".into(), bandwidth);
    }
    Value::Object(capacity)
}

/// Ranges with and without step and default, lists of values, defaults alone.
fn memory_policy(dice: &mut Dice) -> Value {
    let mut policy = match dice.below(6) {
        0 => json!({ "validRange": { "min": "1Gi", "max": "8Gi", "step": "2Gi" } }),
        1 => json!({ "validRange": { "min": "512Mi", "max": "6Gi" } }),
        2 => json!({ "validRange": { "min": "1Gi" } }),
        3 => json!({ "validValues": ["1Gi", "2Gi", "4Gi"] }),
        4 => json!({ "validRange": { "min": "1Gi", "step": "1500M" } }),
        _ => json!({}),
    };
    if let (true, Some(map)) = (dice.chance(70), policy.as_object_mut()) {
        map.insert("default".into(), json!(dice.word(&["1Gi", "1024Mi", "1Gi", "1073741824", "3Gi"])));
    }
    policy
}

fn consumption(dice: &mut Dice, features: &Features) -> Value {
    let set = if dice.below(if features.is(Theme::Pools) { 120 } else { 800 }) == 0 { 9 } else { dice.below(2) };
    let mut entries = vec![json!({ "counterSet": format!("set-{set}"), "counters": {
        "memory": { "value": format!("{}Gi", dice.between(1, 6)) },
        "slices": { "value": dice.between(1, 3).to_string() },
    } })];
    if let (true, Some(counters)) =
        (dice.chance(15), entries.first_mut().and_then(|entry| entry.get_mut("counters")?.as_object_mut()))
    {
        counters.remove(&dice.word(&["memory", "slices"]));
        if dice.below(if features.is(Theme::Pools) { 30 } else { 200 }) == 0 {
            counters.insert("unheard".into(), json!({ "value": "1" }));
        }
    }
    if dice.chance(10) && set < 2 {
        entries.push(json!({ "counterSet": format!("set-{}", 1 - set), "counters": { "slices": { "value": "1" } } }));
    }
    if features.is_next() && features.is(Theme::Counters) {
        for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
            let groups = match dice.below(5) {
                0 => json!([]),
                1 => json!(["left"]),
                2 => json!(["right"]),
                _ => json!(["left", "right"]),
            };
            entry.insert("compatibilityGroups".into(), groups);
        }
    }
    Value::Array(entries)
}

/// What other claims hold: whole devices, shares, and the capacity of the shares.
pub(super) fn usage(
    dice: &mut Dice,
    features: &Features,
    devices: &[Published],
) -> (Vec<Value>, Vec<Value>, Vec<Value>) {
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
        // Rarely the other way round: a shared device held as a whole, an exclusive one with shares.
        if device.is_shared != dice.chance(4) && features.on("consumableCapacity") {
            let amounts: Map<String, Value> = device
                .capacity
                .iter()
                .map(|(name, _)| (name.clone(), json!(if name == "memory" { "1Gi" } else { "2" })))
                .collect();
            shares.push(id(&[("shareID", json!(format!("00000000-0000-4000-8000-{index:012}")))]));
            if !amounts.is_empty() && !dice.chance(5) {
                consumed.push(id(&[("capacity", Value::Object(amounts))]));
            }
        } else {
            in_use.push(id(&[]));
        }
    }
    if dice.chance(5) {
        // No longer published.
        in_use.push(json!({ "driver": dice.word(&DRIVERS), "pool": "node-0", "device": "gone" }));
    }
    (in_use, shares, consumed)
}
