//! Claims and classes.

use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::expressions::{derived, matching};
use super::{DRIVERS, Features, Theme};

pub(super) fn class(dice: &mut Dice, features: &Features, name: &str) -> Value {
    let mut spec = Map::new();
    if name == "picky" {
        let count = dice.between(1, 2);
        spec.insert("selectors".into(), (0..count).map(|_| matching(dice, features)).collect());
    }
    if dice.chance(40) {
        let parameters = json!({ "apiVersion": "x.example.com/v1", "kind": "Config", "class": name });
        let mut config = vec![json!({ "opaque": { "driver": dice.word(&DRIVERS), "parameters": parameters } })];
        if dice.chance(25) {
            config.push(json!({ "opaque": { "driver": "a.example.com", "parameters": { "kind": "Second" } } }));
        }
        spec.insert("config".into(), Value::Array(config));
    }
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": name }, "spec": spec })
}

/// What the policies of pools allow, and the next amounts above and below it.
const MEMORY_BORDERS: [&str; 20] = [
    "0",
    "511Mi",
    "512Mi",
    "513Mi",
    "1073741823",
    "1Gi",
    "1073741825",
    "1500M",
    "1501M",
    "2Gi",
    "2573741824",
    "2573741825",
    "3Gi",
    "3221225473",
    "4Gi",
    "5Gi",
    "6Gi",
    "6145Mi",
    "8Gi",
    "8589934593",
];
const BANDWIDTH_BORDERS: [&str; 20] = [
    "0", "249m", "250m", "499m", "500m", "501m", "750m", "1", "1001m", "1250m", "1999m", "2", "3", "4", "5", "5001m",
    "6", "7", "8", "9",
];

fn request(dice: &mut Dice, features: &Features, is_sub: bool) -> Map<String, Value> {
    let is_large = features.is(Theme::Limits);
    let mut request = Map::new();
    let class = match dice.below(300) {
        0..=2 => "missing".to_owned(),
        3 => String::new(),
        _ => dice.word(&["any", "any", "picky"]),
    };
    request.insert("deviceClassName".into(), json!(class));
    if dice.chance(if is_large { 25 } else { 8 }) {
        request.insert("allocationMode".into(), json!("All"));
    } else {
        request.insert("allocationMode".into(), json!(if dice.below(400) == 0 { "Some" } else { "ExactCount" }));
        let count = match dice.below(10) {
            0..=6 => 1,
            _ if is_large => dice.between(2, 20),
            _ => dice.between(2, 4),
        };
        let count = if dice.below(250) == 0 { 33 } else { count };
        request.insert("count".into(), json!(count));
    }
    if dice.chance(50) {
        let mut selectors: Vec<Value> = (0..dice.between(1, 2)).map(|_| matching(dice, features)).collect();
        if dice.below(300) == 0 {
            selectors.push(json!({}));
        }
        request.insert("selectors".into(), Value::Array(selectors));
    }
    if dice.chance(30) {
        let count = dice.between(1, 2);
        request.insert("tolerations".into(), (0..count).map(|_| toleration(dice)).collect());
    }
    let likely = if features.is_of_shares() { 50 } else { 25 };
    if (features.on("consumableCapacity") && dice.chance(likely)) || dice.below(300) == 0 {
        let mut amounts = Map::new();
        for _ in 0..dice.between(1, 2) {
            let kind = if features.is(Theme::Borders) { dice.between(24, 27) } else { dice.below(24) };
            let (name, amount) = match kind {
                0..=9 => ("memory", format!("{}Gi", dice.between(1, 5))),
                10..=16 => ("bandwidth", dice.between(1, 6).to_string()),
                17 | 18 => ("bandwidth", format!("{}m", dice.between(1, 40) * 125)),
                19 | 20 => {
                    ("memory", dice.word(&["500Mi", "1500M", "7500Mi", "1.5Gi", "0", "2147483648", "8e9", "1500m"]))
                }
                24 | 25 => ("memory", dice.word(&MEMORY_BORDERS)),
                26 | 27 => ("bandwidth", dice.word(&BANDWIDTH_BORDERS)),
                21 => ("bandwidth", dice.word(&["0", "1.5", "2.0", "3e0", "100u", "0.5", "4000m"])),
                _ => ("a.example.com/memory", dice.word(&["1Gi", "2Gi"])),
            };
            amounts.insert(name.to_owned(), json!(amount));
        }
        request.insert("capacity".into(), json!({ "requests": amounts }));
    }
    if !is_sub && features.on("adminAccess") && dice.chance(8) {
        request.insert("adminAccess".into(), json!(dice.chance(90)));
    }
    if features.is_next() && features.is(Theme::Constraints) && dice.chance(40) {
        let list: Vec<Value> = (0..dice.between(1, 2)).map(|index| derived(dice, index)).collect();
        request.insert("derivedAttributes".into(), Value::Array(list));
    }
    request
}

fn toleration(dice: &mut Dice) -> Value {
    let mut toleration = match dice.below(7) {
        5 => json!({ "key": dice.word(&["", "busy"]), "value": dice.word(&["", "yes"]) }),
        6 => json!({ "operator": "Equal", "value": dice.word(&["", "yes"]), "tolerationSeconds": 30 }),
        0..=2 => json!({ "key": dice.word(&["sick", "busy"]), "operator": "Exists" }),
        3 => json!({ "key": dice.word(&["sick", "busy"]), "operator": "Equal", "value": dice.word(&["", "yes"]) }),
        _ => json!({ "operator": dice.word(&["Exists", "Equal", "Unheard"]) }),
    };
    if let (true, Some(map)) = (dice.chance(30), toleration.as_object_mut()) {
        map.insert("effect".into(), json!(dice.word(&["NoSchedule", "NoSchedule", "NoExecute", "None"])));
    }
    toleration
}

pub(super) fn claim(dice: &mut Dice, features: &Features, index: u64) -> Value {
    let mut requests = Vec::new();
    let mut names = Vec::new();
    let count = if dice.below(150) == 0 { 0 } else { dice.between(1, 3) };
    for number in 0..count {
        let name = format!("r{number}");
        if (features.on("prioritizedList") && dice.chance(30)) || dice.below(200) == 0 {
            let subrequests: Vec<Value> = (0..dice.between(1, 3))
                .map(|alternative| {
                    let mut sub = request(dice, features, true);
                    sub.insert("name".into(), json!(format!("s{alternative}")));
                    Value::Object(sub)
                })
                .collect();
            requests.push(json!({ "name": name, "firstAvailable": subrequests }));
            names.push(format!("{name}/s{}", dice.below(2)));
        } else if dice.below(400) == 0 {
            requests.push(json!({ "name": name }));
        } else {
            requests.push(json!({ "name": name, "exactly": request(dice, features, false) }));
        }
        names.push(name);
    }
    let some_of = |dice: &mut Dice| -> Vec<String> {
        if dice.chance(50) { Vec::new() } else { names.iter().filter(|_| dice.chance(50)).cloned().collect() }
    };
    let mut devices = Map::new();
    devices.insert("requests".into(), Value::Array(requests));
    if dice.chance(if features.is(Theme::Constraints) { 85 } else { 35 }) {
        let constraints: Vec<Value> = (0..dice.between(1, 2))
            .map(|_| {
                let attribute = attribute(dice, features);
                let likely = if features.is(Theme::Constraints) { 40 } else { 25 };
                let is_distinct = features.on("consumableCapacity") && dice.chance(likely);
                match dice.below(200) {
                    0 => json!({ "requests": some_of(dice) }),
                    _ if is_distinct => json!({ "requests": some_of(dice), "distinctAttribute": attribute }),
                    _ => json!({ "requests": some_of(dice), "matchAttribute": attribute }),
                }
            })
            .collect();
        devices.insert("constraints".into(), Value::Array(constraints));
    }
    if dice.chance(30) {
        let count = dice.between(1, 2);
        let mut entry = |number: u64| {
            json!({ "requests": some_of(dice), "opaque": {
                "driver": dice.word(&DRIVERS),
                "parameters": { "apiVersion": "x.example.com/v1", "kind": "Config", "claim": index, "number": number },
            } })
        };
        devices.insert("config".into(), (0..count).map(&mut entry).collect());
    }
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": format!("claim-{index}"), "namespace": "default", "uid": format!("uid-{index}") },
        "spec": { "devices": devices },
    })
}

fn attribute(dice: &mut Dice, features: &Features) -> String {
    if features.is_next() && features.is(Theme::Constraints) && dice.chance(40) {
        return dice.word(&["derived/x0", "derived/x1"]);
    }
    match dice.below(6) {
        0 | 3 => "common.example.com/rack".to_owned(),
        1 | 4 if features.on("listTypeAttributes") => "common.example.com/links".to_owned(),
        2 => format!("{}/numa", dice.word(&DRIVERS)),
        5 if features.on("listTypeAttributes") => format!("{}/api", dice.word(&DRIVERS)),
        _ => format!("{}/{}", dice.word(&DRIVERS), dice.word(&["model", "index", "fast", "driverVersion"])),
    }
}
