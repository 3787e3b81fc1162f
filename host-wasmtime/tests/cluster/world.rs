//! Devices of every sort, and claims for them, by chance.

use serde_json::{Value, json};

use crate::objects::{class, slice};

/// Numbers that look like chance and are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Less than `limit`. Source: SplitMix64.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(limit).unwrap()).unwrap()
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }
}

const GPU: &str = "gpu.example.com";
const MIG: &str = "mig.example.com";
const NIC: &str = "nic.example.com";

pub(crate) fn classes() -> Vec<Value> {
    [("gpu", GPU), ("mig", MIG), ("nic", NIC)]
        .map(|(name, driver)| class(name, &format!("device.driver == \"{driver}\"")))
        .into()
}

/// What a node publishes: whole devices, some of them tainted, partitions of two chips, and shared network devices.
pub(crate) fn slices(node: &str, dice: &mut Dice) -> Vec<Value> {
    let gpus: Vec<Value> = (0..8)
        .map(|index| {
            let mut gpu = json!({
                "name": format!("gpu-{index}"),
                "attributes": {
                    "model": { "string": dice.pick(&["a100", "h100", "h200"]) },
                    "numa": { "int": index / 4 },
                    "dra.example.com/root": { "string": format!("root-{}", index / 2) },
                    "driver": { "version": dice.pick(&["1.2.3", "1.10.0", "2.0.0-beta"]) },
                },
                "capacity": { "memory": { "value": dice.pick(&["40Gi", "80Gi", "141Gi"]) } },
            });
            if dice.chance(15) {
                let effect = dice.pick(&["NoSchedule", "NoExecute"]);
                gpu["taints"] = json!([{ "key": "example.com/worn", "value": "yes", "effect": effect }]);
            }
            gpu
        })
        .collect();
    let chip = |number: usize| json!({ "name": format!("chip-{number}"), "counters": { "memory": { "value": "40Gi" }, "slices": { "value": "7" } } });
    let mut counters = slice(node, MIG, Value::Null);
    counters["metadata"]["name"] = json!(format!("{node}-{MIG}-counters"));
    counters["spec"]["sharedCounters"] = json!([chip(0), chip(1)]);
    counters["spec"]["pool"]["resourceSliceCount"] = json!(2);
    counters["spec"].as_object_mut().unwrap().remove("devices");
    let profiles = [
        ("1g", "5Gi", "1"),
        ("1g", "5Gi", "1"),
        ("1g", "5Gi", "1"),
        ("3g", "20Gi", "3"),
        ("3g", "20Gi", "3"),
        ("7g", "40Gi", "7"),
    ];
    let partitions: Vec<Value> = (0..2)
        .flat_map(|chip| {
            profiles.into_iter().enumerate().map(move |(index, (profile, memory, slices))| {
                json!({
                    "name": format!("mig-{chip}-{index}-{profile}"),
                    "attributes": { "profile": { "string": profile }, "numa": { "int": chip } },
                    "consumesCounters": [{
                        "counterSet": format!("chip-{chip}"),
                        "counters": { "memory": { "value": memory }, "slices": { "value": slices } },
                    }],
                })
            })
        })
        .collect();
    let mut partitions = slice(node, MIG, json!(partitions));
    partitions["spec"]["pool"]["resourceSliceCount"] = json!(2);
    let nics: Vec<Value> = (0..2)
        .map(|index| {
            let policy = json!({ "default": "10", "validRange": { "min": "10", "step": "10", "max": "100" } });
            json!({
                "name": format!("nic-{index}"), "allowMultipleAllocations": true,
                "attributes": { "numa": { "int": index }, "dra.example.com/root": { "string": format!("root-{}", index * 2) } },
                "capacity": { "bandwidth": { "value": "100", "requestPolicy": policy } },
            })
        })
        .collect();
    vec![slice(node, GPU, json!(gpus)), counters, partitions, slice(node, NIC, json!(nics))]
}

fn gpu(dice: &mut Dice) -> Value {
    let mut selectors = Vec::new();
    let is = |text: String| json!({ "cel": { "expression": text } });
    if dice.chance(30) {
        selectors
            .push(is(format!("device.attributes[\"{GPU}\"].model == \"{}\"", dice.pick(&["a100", "h100", "h200"]))));
    }
    if dice.chance(20) {
        let least = dice.pick(&["41Gi", "80Gi"]);
        selectors.push(is(format!("device.capacity[\"{GPU}\"].memory.compareTo(quantity(\"{least}\")) >= 0")));
    }
    if dice.chance(10) {
        selectors.push(is(format!("device.attributes[\"{GPU}\"].driver.isGreaterThan(semver(\"1.5.0\"))")));
    }
    let mut request = json!({ "deviceClassName": "gpu", "selectors": selectors });
    match dice.below(10) {
        0 => request["allocationMode"] = json!("All"),
        1..4 => request["count"] = json!(2 + dice.below(3)),
        _ => {}
    }
    if dice.chance(30) {
        request["tolerations"] = json!([{ "key": "example.com/worn", "operator": "Exists" }]);
    }
    request
}

fn mig(dice: &mut Dice) -> Value {
    let profile = dice.pick(&["1g", "1g", "3g", "7g"]);
    json!({
        "deviceClassName": "mig", "count": 1 + dice.below(2),
        "selectors": [{ "cel": { "expression": format!("device.attributes[\"{MIG}\"].profile == \"{profile}\"") } }],
    })
}

fn nic(dice: &mut Dice) -> Value {
    let mut request = json!({ "deviceClassName": "nic" });
    if dice.chance(70) {
        request["capacity"] = json!({ "requests": { "bandwidth": dice.pick(&["5", "20", "35", "60", "100"]) } });
    }
    request
}

fn named(name: &str, mut subrequest: Value) -> Value {
    subrequest["name"] = json!(name);
    subrequest
}

/// What one claim asks for.
pub(crate) fn devices(dice: &mut Dice) -> Value {
    let count = 1 + dice.below(3);
    let requests: Vec<Value> = (0..count)
        .map(|index| {
            let name = format!("r{index}");
            match dice.below(10) {
                0..4 => json!({ "name": name, "exactly": gpu(dice) }),
                4..6 => json!({ "name": name, "exactly": mig(dice) }),
                6..8 => json!({ "name": name, "exactly": nic(dice) }),
                _ => json!({ "name": name, "firstAvailable": [named("a", gpu(dice)), named("b", mig(dice)), named("c", gpu(dice))] }),
            }
        })
        .collect();
    let mut devices = json!({ "requests": requests });
    if dice.chance(30) {
        let constraint = match dice.below(3) {
            0 => json!({ "matchAttribute": "dra.example.com/root" }),
            1 => json!({ "matchAttribute": format!("{GPU}/numa"), "requests": ["r0"] }),
            _ => json!({ "distinctAttribute": format!("{GPU}/model"), "requests": ["r0"] }),
        };
        devices["constraints"] = json!([constraint]);
    }
    if dice.chance(20) {
        let opaque =
            json!({ "driver": dice.pick(&[GPU, NIC]), "parameters": { "mode": dice.pick(&["fast", "safe"]) } });
        devices["config"] = json!([{ "requests": ["r0"], "opaque": opaque }]);
    }
    devices
}
