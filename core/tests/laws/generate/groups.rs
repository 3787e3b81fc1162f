//! Workloads and PodGroups, in the spellings that shipped and those that were proposed.

use serde_json::{Value, json};

use super::Maker;

impl Maker {
    pub(super) fn make_groups(&mut self) {
        if !self.chance(35) {
            return;
        }
        if self.version != "all" && self.chance(85) {
            self.gates.extend([("GenericWorkload", true), ("GangScheduling", true)]);
            if self.chance(80) {
                self.gates.push(("DRAWorkloadResourceClaims", true));
            }
        }
        for _ in 0..1 + self.dice.below(2) {
            self.group();
        }
    }

    fn group(&mut self) {
        let (namespace, name) = (self.namespace(), self.fresh("group"));
        let version = match (self.version, self.chance(92)) {
            ("1.36", true) => "v1alpha2",
            ("1.37", true) => "v1beta1",
            _ => *self.dice.pick(&["v1alpha1", "v1alpha2", "v1beta1"]),
        };
        let policy = if self.chance(75) {
            json!({ "gang": { "minCount": 2 + self.dice.below(2) } })
        } else {
            json!({ "basic": {} })
        };
        let mut entries = Vec::new();
        if self.chance(60) {
            let mut entry = json!({ "name": "shared" });
            let own: Vec<String> =
                self.templates.iter().filter(|(place, _)| *place == namespace).map(|(_, name)| name.clone()).collect();
            if !own.is_empty() && self.chance(85) {
                entry["resourceClaimTemplateName"] = json!(self.dice.pick(&own));
            } else if !self.cluster_templates.is_empty() {
                entry["clusterResourceClaimTemplateName"] = json!(self.cluster_templates[0]);
            } else {
                entry["resourceClaimTemplateName"] = json!("one");
            }
            entries.push(entry);
        }
        let mut spec = match version {
            "v1alpha1" => json!({ "policy": policy }),
            _ => json!({ "schedulingPolicy": policy }),
        };
        if !entries.is_empty() {
            spec["resourceClaims"] = json!(entries);
        }
        if version != "v1alpha1" && self.chance(15) {
            spec["priority"] = json!(self.dice.below(3) * 100);
        }
        let workload = format!("{name}-plan");
        if self.chance(35) {
            let plan = match version {
                "v1alpha1" => json!({ "podGroups": [{ "name": "workers", "policy": policy }] }),
                _ => {
                    json!({ "podGroupTemplates": [{ "name": "workers", "schedulingPolicy": policy, "resourceClaims": entries }] })
                }
            };
            self.add(&format!("scheduling.k8s.io/{version}"), "Workload", &namespace, &workload, plan);
            match version {
                "v1alpha2" if self.chance(30) => {
                    spec["podGroupTemplateRef"] =
                        json!({ "workloadName": workload, "podGroupTemplateName": "workers" });
                }
                "v1alpha2" => {
                    spec["podGroupTemplateRef"] =
                        json!({ "workload": { "workloadName": workload, "podGroupTemplateName": "workers" } });
                }
                "v1beta1" => spec["workloadRef"] = json!({ "workloadName": workload, "templateName": "workers" }),
                _ => {}
            }
        }
        self.add(&format!("scheduling.k8s.io/{version}"), "PodGroup", &namespace, &name, spec);
        self.groups.push((namespace.clone(), name.clone(), entries.clone()));
        for _ in 0..1 + self.dice.below(4) {
            let pod = self.fresh("member");
            let entry = entries.first().cloned().unwrap_or(Value::Null);
            let mut spec = self.pod_spec(&namespace);
            if !entry.is_null() && self.chance(85) {
                // The same entry is the group's; the proposal names it.
                let entry = if self.chance(80) {
                    entry
                } else {
                    json!({ "name": "shared", "podGroupResourceClaim": "shared" })
                };
                spec["resourceClaims"] = json!([entry]);
                spec["containers"][0]["resources"]["claims"] = json!([{ "name": "shared" }]);
            }
            if version == "v1alpha1" && self.chance(80) {
                spec["workloadRef"] = json!({ "name": workload, "podGroup": "workers", "podGroupName": name });
            } else {
                spec["schedulingGroup"] = json!({ "podGroupName": name });
            }
            self.add("v1", "Pod", &namespace, &pod, spec);
        }
        if self.chance(8) {
            let pod = self.fresh("stray");
            let mut spec = self.pod_spec(&namespace);
            spec["schedulingGroup"] = json!({ "podGroupName": "nobody" });
            self.add("v1", "Pod", &namespace, &pod, spec);
        }
    }
}
