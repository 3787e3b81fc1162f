//! Objects that the API server refuses.

use serde_json::{Value, json};

use super::Maker;

/// What is wrong: a kind, and what is done to an object of it. False where it cannot be done.
type Fault = (&'static str, fn(&mut Value) -> bool);

/// Faults of which the API server refuses every one.
pub(crate) const FAULTS: [(&str, Fault); 16] = [
    ("claim without request name", ("ResourceClaim", |claim| request(claim, |request| drop(request.remove("name"))))),
    ("claim with a bad count", ("ResourceClaim", |claim| exactly(claim, |exact| exact["count"] = json!(-3)))),
    (
        "claim with exactly and firstAvailable",
        ("ResourceClaim", |claim| {
            exactly(claim, |_| {})
                && request(claim, |request| {
                    let sub = json!([{ "name": "a", "deviceClassName": "gpu" }]);
                    drop(request.insert("firstAvailable".to_owned(), sub));
                })
        }),
    ),
    (
        "claim with a constraint without domain",
        ("ResourceClaim", |claim| {
            claim["spec"]["devices"]["constraints"] = json!([{ "matchAttribute": "numa" }]);
            true
        }),
    ),
    (
        "claim with a selector that does not compile",
        ("ResourceClaim", |claim| {
            exactly(claim, |exact| exact["selectors"] = json!([{ "cel": { "expression": "device.driver ==" } }]))
        }),
    ),
    (
        "claim with two requests of one name",
        ("ResourceClaim", |claim| {
            let requests = claim["spec"]["devices"]["requests"].as_array_mut().unwrap();
            let first = requests[0].clone();
            requests.push(first);
            true
        }),
    ),
    (
        "claim with a bad name",
        ("ResourceClaim", |claim| {
            claim["metadata"]["name"] = json!("Bad_Name");
            true
        }),
    ),
    (
        "template without class",
        ("ResourceClaimTemplate", |template| {
            let requests = template["spec"]["spec"]["devices"]["requests"].as_array_mut().unwrap();
            match requests[0].get_mut("exactly").and_then(Value::as_object_mut) {
                Some(exact) => exact.remove("deviceClassName").is_some(),
                None => false,
            }
        }),
    ),
    (
        "class with a selector that does not compile",
        ("DeviceClass", |class| {
            class["spec"]["selectors"] = json!([{ "cel": { "expression": "device.nothing" } }]);
            true
        }),
    ),
    (
        "slice with two devices of one name",
        ("ResourceSlice", |slice| {
            let Some(devices) = slice["spec"]["devices"].as_array_mut() else { return false };
            let first = devices[0].clone();
            devices.push(first);
            true
        }),
    ),
    (
        "slice without a place",
        ("ResourceSlice", |slice| {
            for field in ["nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"] {
                slice["spec"].as_object_mut().unwrap().remove(field);
            }
            true
        }),
    ),
    (
        "rule with an unknown effect",
        ("DeviceTaintRule", |rule| {
            rule["spec"]["taint"]["effect"] = json!("Sometimes");
            true
        }),
    ),
    (
        "Pod with an entry of two sources",
        ("Pod", |pod| {
            entry(pod, |entry| {
                entry.insert("resourceClaimName".to_owned(), json!("a"));
                entry.insert("resourceClaimTemplateName".to_owned(), json!("b"));
            })
        }),
    ),
    ("Pod with an entry without source", ("Pod", |pod| entry(pod, |entry| entry.retain(|key, _| key == "name")))),
    (
        "Pod with a container that uses no entry",
        ("Pod", |pod| {
            pod["spec"]["containers"][0]["resources"]["claims"] = json!([{ "name": "nothing" }]);
            true
        }),
    ),
    (
        "group with an empty gang",
        ("PodGroup", |group| {
            for field in ["policy", "schedulingPolicy"] {
                if let Some(gang) = group["spec"].get_mut(field).and_then(|policy| policy.get_mut("gang")) {
                    gang["minCount"] = json!(0);
                    return true;
                }
            }
            false
        }),
    ),
];

fn request(claim: &mut Value, change: impl Fn(&mut serde_json::Map<String, Value>)) -> bool {
    change(claim["spec"]["devices"]["requests"][0].as_object_mut().unwrap());
    true
}

fn exactly(claim: &mut Value, change: impl Fn(&mut Value)) -> bool {
    match claim["spec"]["devices"]["requests"][0].get_mut("exactly") {
        Some(exact) => change(exact),
        None => return false,
    }
    true
}

fn entry(pod: &mut Value, change: impl Fn(&mut serde_json::Map<String, Value>)) -> bool {
    match pod["spec"].get_mut("resourceClaims").and_then(|entries| entries[0].as_object_mut()) {
        Some(entry) => change(entry),
        None => return false,
    }
    true
}

impl Maker {
    /// Makes one or two objects wrong.
    pub(super) fn spoil(&mut self) {
        for _ in 0..1 + self.dice.below(2) {
            let (_, (kind, fault)) = self.dice.pick(&FAULTS);
            let of_kind: Vec<usize> =
                (0..self.objects.len()).filter(|index| self.objects[*index]["kind"] == *kind).collect();
            if !of_kind.is_empty() {
                let index = *self.dice.pick(&of_kind);
                fault(&mut self.objects[index]);
            }
        }
    }
}
