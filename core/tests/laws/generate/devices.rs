//! Classes, slices and taint rules.

use serde_json::{Value, json};

use super::{Maker, Offer};

impl Maker {
    pub(super) fn make_devices(&mut self) {
        let mut kinds = ["gpu", "mig", "share", "fabric"];
        let Self { dice, .. } = self;
        dice.shuffle(&mut kinds);
        let count = 1 + dice.below(3);
        for kind in &kinds[..count] {
            match *kind {
                "gpu" => self.gpus(),
                "mig" => self.partitions(),
                "share" => self.shares(),
                _ => self.fabric(),
            }
        }
        self.taint_rules();
        if self.chance(8) {
            let version = if self.chance(90) { "resource.k8s.io/v1alpha3" } else { "resource.k8s.io/v1" };
            let spec = json!({ "driver": "gpu.example.com" });
            self.add(version, "ResourcePoolStatusRequest", "", "pools", spec);
        }
    }

    fn class(&mut self, name: &'static str, driver: &str, more: Option<&str>) {
        let mut selectors = vec![json!({ "cel": { "expression": format!("device.driver == '{driver}'") } })];
        selectors.extend(more.map(|text| json!({ "cel": { "expression": text } })));
        let mut spec = json!({ "selectors": selectors });
        if name == "gpu" && self.chance(40) {
            spec["extendedResourceName"] = json!("example.com/gpu");
        }
        let version = if self.chance(85) { "resource.k8s.io/v1" } else { "resource.k8s.io/v1beta1" };
        self.add(version, "DeviceClass", "", name, spec);
        self.classes.push(name);
    }

    fn slice(&mut self, name: &str, driver: &str, pool: (&str, usize), place: Value, content: Value) {
        let (pool, count) = pool;
        // A pool of which a slice is still missing.
        let count = if self.chance(6) { count + 1 } else { count };
        let mut spec =
            json!({ "driver": driver, "pool": { "name": pool, "generation": 1, "resourceSliceCount": count } });
        for part in [place, content] {
            for (key, value) in part.as_object().unwrap() {
                spec[key] = value.clone();
            }
        }
        self.add("resource.k8s.io/v1", "ResourceSlice", "", name, spec);
    }

    fn taints(&mut self, device: &mut Value) {
        if self.chance(15) {
            let effect = *self.dice.pick(&["NoSchedule", "NoExecute", "None"]);
            let key = *self.dice.pick(&["example.com/broken", "example.com/old"]);
            device["taints"] =
                json!([{ "key": key, "value": "yes", "effect": effect, "timeAdded": "2026-02-01T00:00:00Z" }]);
        }
    }

    /// Whole devices with attributes, those of a node in one pool.
    fn gpus(&mut self) {
        const DRIVER: &str = "gpu.example.com";
        self.class("gpu", DRIVER, None);
        if self.chance(30) {
            self.class(
                "big",
                DRIVER,
                Some("device.capacity['gpu.example.com'].memory.compareTo(quantity('60Gi')) > 0"),
            );
        }
        for node in self.nodes.clone() {
            if self.chance(12) {
                continue;
            }
            let mut devices = Vec::new();
            for number in 0..1 + self.dice.below(4) {
                let name = format!("gpu-{number}");
                let mut device = json!({ "name": name,
                    "attributes": { "model": { "string": *self.dice.pick(&["a100", "h100"]) }, "numa": { "int": number % 2 },
                        "uuid": { "string": format!("{node}-{number}") } },
                    "capacity": { "memory": { "value": *self.dice.pick(&["40Gi", "80Gi"]) } } });
                if self.chance(15) {
                    device["attributes"].as_object_mut().unwrap().remove("numa");
                }
                if self.chance(8) {
                    device["attributes"]["links"] = json!({ "strings": ["a", "b"] });
                }
                self.taints(&mut device);
                if device.get("taints").is_none() {
                    self.free.push(Offer {
                        class: "gpu",
                        driver: DRIVER,
                        pool: node.clone(),
                        device: name,
                        node: node.clone(),
                    });
                }
                devices.push(device);
            }
            self.slice(
                &format!("{node}-gpu"),
                DRIVER,
                (&node, 1),
                json!({ "nodeName": node }),
                json!({ "devices": devices }),
            );
        }
    }

    /// Partitions that draw from counters.
    fn partitions(&mut self) {
        const DRIVER: &str = "mig.example.com";
        self.class("mig", DRIVER, None);
        for node in self.nodes.clone() {
            if self.chance(25) {
                continue;
            }
            let sets = json!([{ "name": "gpu-0", "counters": { "memory": { "value": "40Gi" } } }]);
            let mut devices = Vec::new();
            for (number, amount) in ["40Gi", "20Gi", "20Gi", "10Gi"].iter().enumerate() {
                if self.chance(25) {
                    continue;
                }
                let name = format!("part-{number}");
                let mut device = json!({ "name": name, "attributes": { "size": { "string": amount } },
                    "consumesCounters": [{ "counterSet": "gpu-0", "counters": { "memory": { "value": amount } } }] });
                self.taints(&mut device);
                devices.push(device);
            }
            let place = json!({ "nodeName": node });
            if devices.is_empty() {
                continue;
            }
            if self.chance(8) {
                // One slice with both, as up to 1.34.
                let content = json!({ "sharedCounters": sets, "devices": devices });
                self.slice(&format!("{node}-mig"), DRIVER, (&node, 1), place, content);
            } else {
                self.slice(
                    &format!("{node}-mig-sets"),
                    DRIVER,
                    (&node, 2),
                    place.clone(),
                    json!({ "sharedCounters": sets }),
                );
                self.slice(&format!("{node}-mig"), DRIVER, (&node, 2), place, json!({ "devices": devices }));
            }
        }
    }

    /// Devices whose capacity several claims share.
    fn shares(&mut self) {
        const DRIVER: &str = "share.example.com";
        self.class("share", DRIVER, None);
        for node in self.nodes.clone() {
            if self.chance(25) {
                continue;
            }
            let mut devices = Vec::new();
            for number in 0..1 + self.dice.below(2) {
                let mut capacity = json!({ "value": "40Gi" });
                if self.chance(50) {
                    capacity["requestPolicy"] =
                        json!({ "default": "10Gi", "validRange": { "min": "10Gi", "max": "30Gi", "step": "10Gi" } });
                }
                let mut device = json!({ "name": format!("dev-{number}"), "allowMultipleAllocations": true,
                    "capacity": { "memory": capacity } });
                self.taints(&mut device);
                devices.push(device);
            }
            self.slice(
                &format!("{node}-share"),
                DRIVER,
                (&node, 1),
                json!({ "nodeName": node }),
                json!({ "devices": devices }),
            );
        }
    }

    /// Devices that several nodes reach, some of which must be prepared before a Pod may start.
    fn fabric(&mut self) {
        const DRIVER: &str = "fabric.example.com";
        self.class("fabric", DRIVER, None);
        let mut devices = Vec::new();
        for number in 0..1 + self.dice.below(4) {
            let mut device = json!({ "name": format!("port-{number}") });
            if self.chance(30) {
                device["bindsToNode"] = json!(true);
                device["bindingConditions"] = json!(["example.com/attached"]);
                device["bindingFailureConditions"] = json!(["example.com/failed"]);
            }
            self.taints(&mut device);
            devices.push(device);
        }
        let mut content = json!({ "devices": devices });
        let place = match self.dice.below(4) {
            0 | 1 => json!({ "allNodes": true }),
            2 => json!({ "nodeSelector": { "nodeSelectorTerms": [{ "matchExpressions":
                [{ "key": "kubernetes.io/hostname", "operator": "In", "values": self.nodes }] }] } }),
            _ => {
                for device in content["devices"].as_array_mut().unwrap() {
                    device["nodeName"] = json!(self.dice.pick(&self.nodes));
                }
                json!({ "perDeviceNodeSelection": true })
            }
        };
        self.slice("fabric", DRIVER, ("fabric", 1), place, content);
    }

    fn taint_rules(&mut self) {
        if !self.chance(25) {
            return;
        }
        let selector = match self.dice.below(6) {
            0 => json!({}),
            1 | 2 => json!({ "driver": "gpu.example.com", "device": "gpu-0" }),
            3 => json!({ "pool": "n0" }),
            4 => json!({ "deviceClassName": "gpu" }),
            _ => Value::Null,
        };
        let effect = *self.dice.pick(&["NoSchedule", "NoExecute", "None"]);
        let mut spec = json!({ "taint": { "key": "example.com/maintenance", "value": "now", "effect": effect,
            "timeAdded": "2026-02-01T00:00:00Z" } });
        if !selector.is_null() {
            spec["deviceSelector"] = selector;
        }
        let version = match (self.version, self.chance(85)) {
            ("1.34" | "1.35", true) => "v1alpha3",
            ("1.36", true) => "v1beta2",
            (_, true) => "v1",
            (_, false) => "v1alpha3",
        };
        if self.version != "all" && self.version != "1.37" && self.chance(70) {
            self.gates.extend([("DRADeviceTaintRules", true), ("DRADeviceTaints", true)]);
        }
        self.add(&format!("resource.k8s.io/{version}"), "DeviceTaintRule", "", "rule", spec);
    }
}
