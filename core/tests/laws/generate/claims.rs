//! Claims and templates.

use serde_json::{Value, json};

use super::{Maker, NAMESPACES};

impl Maker {
    pub(super) fn make_claims(&mut self) {
        for _ in 0..self.dice.below(4) {
            let (namespace, name) = (self.namespace(), self.fresh("claim"));
            let (version, spec) = self.versioned_spec();
            self.add(version, "ResourceClaim", &namespace, &name, spec);
            self.claims.push((namespace, name));
        }
        for namespace in NAMESPACES {
            for name in ["one", "two"] {
                if self.chance(80) {
                    let (version, spec) = self.versioned_spec();
                    let mut spec = json!({ "spec": spec });
                    if self.chance(10) {
                        spec["metadata"] = json!({ "labels": { "from": name } });
                    }
                    self.add(version, "ResourceClaimTemplate", namespace, name, spec);
                    self.templates.push((namespace.to_owned(), name.to_owned()));
                }
            }
        }
        let percent = if self.version == "all" { 35 } else { 5 };
        if self.chance(percent) {
            let spec = json!({ "spec": self.spec() });
            self.add("resource.k8s.io/v1", "ClusterResourceClaimTemplate", "", "everywhere", spec);
            self.cluster_templates.push("everywhere".to_owned());
        }
        if self.chance(18) {
            self.source();
        }
    }

    /// A source that template-sync copies to namespaces.
    fn source(&mut self) {
        let mut target = match self.dice.below(3) {
            0 => json!({ "namespaceSelector": { "matchLabels": { "team": "research" } } }),
            1 => json!({ "names": ["ml"] }),
            _ => json!({ "names": ["*"] }),
        };
        if self.chance(10) {
            target["excludeNames"] = json!(["lab"]);
        }
        let mut spec = json!({ "targets": [target], "template": { "spec": self.spec() } });
        let copy = if self.chance(30) { "one" } else { "copied" };
        spec["templateName"] = json!(copy);
        if self.chance(30) {
            spec["conflictPolicy"] = json!(*self.dice.pick(&["Fail", "AdoptIfEqual", "Adopt"]));
        }
        self.add("apportion.dev/v1alpha1", "ClusterResourceClaimTemplate", "", "source", spec);
        for namespace in NAMESPACES {
            self.templates.push((namespace.to_owned(), copy.to_owned()));
        }
    }

    /// The spec of a claim, mostly as of today.
    fn versioned_spec(&mut self) -> (&'static str, Value) {
        let mut spec = self.spec();
        if !self.chance(10) {
            return (if self.chance(90) { "resource.k8s.io/v1" } else { "resource.k8s.io/v1beta2" }, spec);
        }
        for request in spec["devices"]["requests"].as_array_mut().unwrap() {
            let Some(Value::Object(exact)) = request.as_object_mut().unwrap().remove("exactly") else { continue };
            request.as_object_mut().unwrap().extend(exact);
        }
        ("resource.k8s.io/v1beta1", spec)
    }

    /// What a claim asks for.
    pub(super) fn spec(&mut self) -> Value {
        let mut requests = Vec::new();
        for number in 0..if self.chance(80) { 1 } else { 2 } {
            let name = format!("r{number}");
            requests.push(if self.chance(15) {
                let first: Vec<Value> = (0..2)
                    .map(|sub| {
                        let mut exact = self.exact(false);
                        exact["name"] = json!(format!("s{sub}"));
                        exact
                    })
                    .collect();
                json!({ "name": name, "firstAvailable": first })
            } else {
                json!({ "name": name, "exactly": self.exact(true) })
            });
        }
        let mut devices = json!({ "requests": requests });
        if self.chance(15) {
            devices["constraints"] = match self.dice.below(3) {
                0 => json!([{ "distinctAttribute": "gpu.example.com/model" }]),
                1 => json!([{ "matchAttribute": "gpu.example.com/model" }]),
                _ => json!([{ "matchAttribute": "gpu.example.com/numa", "requests": ["r0"] }]),
            };
        }
        if self.chance(6) {
            devices["config"] =
                json!([{ "opaque": { "driver": "gpu.example.com", "parameters": { "kind": "Config" } } }]);
        }
        json!({ "devices": devices })
    }

    fn exact(&mut self, is_whole: bool) -> Value {
        let class = if self.chance(4) { "missing" } else { *self.dice.pick(&self.classes) };
        let mut exact = json!({ "deviceClassName": class });
        match self.dice.below(10) {
            0 => exact["allocationMode"] = json!("All"),
            1 | 2 => exact["count"] = json!(2),
            3 => exact["count"] = json!(3),
            _ => {}
        }
        if class == "gpu" && self.chance(30) {
            let text = match self.dice.below(4) {
                0 => "device.attributes['gpu.example.com'].model == 'h100'",
                1 => "device.attributes['gpu.example.com'].numa == 1",
                2 => "device.capacity['gpu.example.com'].memory.compareTo(quantity('80Gi')) >= 0",
                _ => "device.attributes['gpu.example.com'].model == 'b200'",
            };
            exact["selectors"] = json!([{ "cel": { "expression": text } }]);
        }
        if (class == "share" && self.chance(75)) || self.chance(3) {
            let amount = *self.dice.pick(&["5Gi", "15Gi", "25Gi", "60Gi"]);
            exact["capacity"] = json!({ "requests": { "memory": amount } });
        }
        if self.chance(25) {
            let mut toleration = json!({ "key": *self.dice.pick(&["example.com/broken", "example.com/maintenance"]), "operator": "Exists" });
            if self.chance(30) {
                toleration["effect"] = json!("NoExecute");
                if self.chance(50) {
                    // So long that nothing happens while anybody looks.
                    toleration["tolerationSeconds"] = json!(100_000_000);
                }
            }
            exact["tolerations"] = json!([toleration]);
        }
        if is_whole && self.chance(7) {
            exact["adminAccess"] = json!(true);
        }
        exact
    }
}
