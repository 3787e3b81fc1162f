//! Slices, classes and claims.

use serde_json::{Map, Value, json};

use super::{ASKING, Maker, Theme};

const DRIVER: &str = "gpu.example.com";

impl Maker {
    fn is_of_devices(&self) -> bool {
        matches!(self.theme, Theme::Devices | Theme::Alternatives | Theme::Mixed)
    }

    pub(super) fn make_device_supply(&mut self) {
        if !self.is_of_devices() {
            return;
        }
        for (name, model) in [("any", ""), ("large", "large"), ("small", "small")] {
            let mut expression = format!("device.driver == '{DRIVER}'");
            if !model.is_empty() {
                expression = format!("{expression} && device.attributes['{DRIVER}'].model == '{model}'");
            }
            let mut spec = json!({ "selectors": [{ "cel": { "expression": expression } }] });
            if let (true, Some(map)) = (self.dice.chance(30), spec.as_object_mut()) {
                map.insert("extendedResourceName".into(), json!(format!("example.com/{name}")));
            }
            self.push("resource.k8s.io/v1", "DeviceClass", json!({ "metadata": { "name": name }, "spec": spec }));
        }
        for node in self.nodes.clone() {
            if !self.dice.chance(75) {
                continue;
            }
            let devices: Vec<Value> = (0..self.dice.between(1, 4))
                .map(|index| {
                    json!({ "name": format!("d{index}"), "attributes": {
                        "model": { "string": self.dice.word(&["large", "small"]) }, "index": { "int": index } } })
                })
                .collect();
            let pool = json!({ "name": node, "generation": 1, "resourceSliceCount": 1 });
            let spec = json!({ "driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices });
            let name = format!("slice-{node}");
            self.push("resource.k8s.io/v1", "ResourceSlice", json!({ "metadata": { "name": name }, "spec": spec }));
        }
        for index in 0..2 {
            if self.dice.chance(25) {
                self.make_shared_slice(index);
            }
        }
    }

    /// A slice whose devices several nodes reach.
    fn make_shared_slice(&mut self, index: u64) {
        let devices: Vec<Value> = (0..self.dice.between(1, 3))
            .map(|index| {
                let model = json!({ "string": self.dice.word(&["large", "small"]) });
                let mut device =
                    json!({ "name": format!("n{index}"), "attributes": { "model": model, "index": { "int": index } } });
                if let (true, Some(map)) = (self.dice.chance(20), device.as_object_mut()) {
                    map.insert("taints".into(), json!([{ "key": "sick", "value": "yes", "effect": "NoSchedule" }]));
                }
                device
            })
            .collect();
        let name = format!("shared-{index}");
        let pool = json!({ "name": name, "generation": 1, "resourceSliceCount": 1 });
        let mut spec = json!({ "driver": DRIVER, "pool": pool, "devices": devices });
        if let Some(map) = spec.as_object_mut() {
            if self.dice.chance(50) {
                map.insert("allNodes".into(), json!(true));
            } else {
                let zone = self.dice.word(&["za", "zb"]);
                let expression = json!({ "key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone] });
                map.insert(
                    "nodeSelector".into(),
                    json!({ "nodeSelectorTerms": [{ "matchExpressions": [expression] }] }),
                );
            }
        }
        self.push("resource.k8s.io/v1", "ResourceSlice", json!({ "metadata": { "name": name }, "spec": spec }));
    }

    /// Gives a running Pod the first device of its node, or a later one, through a claim; rarely.
    pub(super) fn give_devices(&mut self, node: &str, pod: &str, namespace: &str, spec: &mut Map<String, Value>) {
        if !self.is_of_devices() || !self.dice.chance(40) {
            return;
        }
        let device = format!("d{}", pod.rsplit_once('-').map_or("0", |(_, number)| number));
        let claim = format!("claim-{pod}");
        let request =
            json!({ "name": "r", "exactly": { "deviceClassName": "any", "allocationMode": "ExactCount", "count": 1 } });
        let result = json!({ "request": "r", "driver": DRIVER, "pool": node, "device": device });
        let term = json!({ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [node] }] });
        let object = json!({
            "metadata": { "name": claim, "namespace": namespace, "uid": format!("uid-{claim}"),
                "finalizers": ["resource.kubernetes.io/delete-protection"] },
            "spec": { "devices": { "requests": [request] } },
            "status": {
                "allocation": { "devices": { "results": [result] }, "nodeSelector": { "nodeSelectorTerms": [term] } },
                "reservedFor": [{ "resource": "pods", "name": pod, "uid": format!("uid-{pod}") }],
            },
        });
        self.push("resource.k8s.io/v1", "ResourceClaim", object);
        spec.insert("resourceClaims".into(), json!([{ "name": "devices", "resourceClaimName": claim }]));
    }

    pub(super) fn ask_for_devices(&mut self, spec: &mut Map<String, Value>) {
        if !self.is_of_devices() || (self.theme == Theme::Mixed && self.dice.chance(50)) {
            return;
        }
        if self.dice.chance(15) {
            let resource = format!("example.com/{}", self.dice.word(&["any", "large", "small"]));
            if let Some(container) = spec.get_mut("containers").and_then(|all| all.get_mut(0))
                && let Some(container) = container.as_object_mut()
            {
                let amounts = json!({ resource: "1" });
                container.insert("resources".into(), json!({ "requests": amounts, "limits": amounts }));
            }
            return;
        }
        let mut entries = Vec::new();
        for index in 0..self.dice.between(1, 2) {
            let claim = format!("wanted-{index}");
            let requests: Vec<Value> = (0..self.dice.between(1, 2)).map(|number| self.request(number)).collect();
            let mut object = json!({
                "metadata": { "name": claim, "namespace": ASKING.0, "uid": format!("uid-{claim}") },
                "spec": { "devices": { "requests": requests } },
            });
            if self.dice.chance(12) {
                object = self.allocated(&claim);
            }
            self.push("resource.k8s.io/v1", "ResourceClaim", object);
            entries.push(json!({ "name": claim, "resourceClaimName": claim }));
        }
        spec.insert("resourceClaims".into(), json!(entries));
    }

    /// A claim that has devices of one node or of a zone, and maybe a user.
    fn allocated(&mut self, claim: &str) -> Value {
        let nodes = self.nodes.clone();
        let node = self.dice.pick(&nodes).cloned().unwrap_or_default();
        let term = match self.dice.chance(60) {
            true => json!({ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [node] }] }),
            false => {
                json!({ "matchExpressions": [{ "key": "topology.kubernetes.io/zone", "operator": "In", "values": ["za"] }] })
            }
        };
        let result = json!({ "request": "r0", "driver": DRIVER, "pool": node, "device": "d0" });
        let users = match self.dice.chance(50) {
            true => json!([{ "resource": "pods", "name": "somebody", "uid": "uid-somebody" }]),
            false => json!([]),
        };
        json!({
            "metadata": { "name": claim, "namespace": ASKING.0, "uid": format!("uid-{claim}"),
                "finalizers": ["resource.kubernetes.io/delete-protection"] },
            "spec": { "devices": { "requests": [{ "name": "r0", "exactly": { "deviceClassName": "any",
                "allocationMode": "ExactCount", "count": 1 } }] } },
            "status": {
                "allocation": { "devices": { "results": [result] }, "nodeSelector": { "nodeSelectorTerms": [term] } },
                "reservedFor": users,
            },
        })
    }

    fn request(&mut self, number: u64) -> Value {
        let name = format!("r{number}");
        let likely = if self.theme == Theme::Alternatives { 80 } else { 20 };
        if !self.dice.chance(likely) {
            return json!({ "name": name, "exactly": self.exactly() });
        }
        let list: Vec<Value> = (0..self.dice.between(1, 4))
            .map(|index| {
                let mut request = self.exactly();
                if let Some(map) = request.as_object_mut() {
                    map.insert("name".into(), json!(format!("s{index}")));
                }
                request
            })
            .collect();
        json!({ "name": name, "firstAvailable": list })
    }

    fn exactly(&mut self) -> Value {
        let class = self.dice.word(&["any", "large", "small", "small"]);
        match self.dice.below(8) {
            0 => json!({ "deviceClassName": class, "allocationMode": "All" }),
            1 => json!({ "deviceClassName": class, "allocationMode": "ExactCount", "count": 1, "selectors": [{ "cel": {
                "expression": format!("device.attributes['{DRIVER}'].index < 2") } }] }),
            _ => json!({ "deviceClassName": class, "allocationMode": "ExactCount", "count": self.dice.between(1, 2) }),
        }
    }
}
