//! Pods: waiting, placed by hand, running, ended and going.

use serde_json::{Value, json};

use super::{CREATED, Maker, Offer, uid};

const GPU: &str = "example.com/gpu";

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

impl Maker {
    pub(super) fn make_pods(&mut self) {
        let most = if self.groups.is_empty() { 6 } else { 3 };
        for _ in 0..self.dice.below(most) {
            let (namespace, name) = (self.namespace(), self.fresh("pod"));
            let mut spec = self.pod_spec(&namespace);
            if self.chance(12) {
                self.place_by_hand(&mut spec);
            }
            self.add("v1", "Pod", &namespace, &name, spec);
        }
        let running = if self.is_dump { 1 + self.dice.below(3) } else { usize::from(self.chance(10)) };
        for _ in 0..running {
            self.running_pod();
        }
        if self.chance(12) {
            self.held_claim();
        }
    }

    fn place_by_hand(&mut self, spec: &mut Value) {
        spec["nodeName"] =
            json!(if self.chance(75) { self.dice.pick(&self.nodes).clone() } else { "nowhere".to_owned() });
    }

    /// The spec of a Pod without group.
    pub(super) fn pod_spec(&mut self, namespace: &str) -> Value {
        let cpu = *self.dice.pick(&["100m", "500m", "1", "2"]);
        let mut resources = json!({ "requests": { "cpu": cpu } });
        let mut entries = Vec::new();
        for number in 0..[0, 1, 1, 1, 1, 2][self.dice.below(6)] {
            let mut entry = self.entry(namespace);
            entry["name"] = json!(format!("e{number}"));
            entries.push(entry);
        }
        if self.chance(10) {
            resources["requests"][GPU] = json!("1");
            resources["limits"] = json!({ GPU: "1" });
        }
        let names: Vec<Value> = entries.iter().map(|entry| json!({ "name": entry["name"] })).collect();
        if !names.is_empty() {
            resources["claims"] = json!(names);
        }
        let mut spec =
            json!({ "containers": [{ "name": "main", "image": "example.com/main", "resources": resources }] });
        if !entries.is_empty() {
            spec["resourceClaims"] = json!(entries);
        }
        match self.dice.below(12) {
            0 => spec["nodeSelector"] = json!({ "zone": *self.dice.pick(&["z0", "z1", "z9"]) }),
            1 => spec["tolerations"] = json!([{ "key": "example.com/dirty", "operator": "Exists" }]),
            2 => spec["priority"] = json!(self.dice.below(3) * 100),
            3 => spec["priorityClassName"] = json!(*self.dice.pick(&["urgent", "idle"])),
            4 if self.chance(40) => spec["schedulingGates"] = json!([{ "name": "example.com/later" }]),
            5 if self.chance(40) => spec["schedulerName"] = json!("another"),
            6 if self.chance(40) => {
                spec["containers"][0]["ports"] = json!([{ "containerPort": 80, "hostPort": 8080 }]);
            }
            // All Pods of the namespace are meant.
            7 => spec["affinity"] = json!({ "podAntiAffinity": { REQUIRED: [self.neighbours()] } }),
            8 if self.chance(40) => spec["affinity"] = json!({ "podAffinity": { REQUIRED: [self.neighbours()] } }),
            9 => {
                spec["topologySpreadConstraints"] = json!([{ "maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {} }]);
            }
            _ => {}
        }
        spec
    }

    fn neighbours(&mut self) -> Value {
        json!({ "topologyKey": *self.dice.pick(&["kubernetes.io/hostname", "zone"]), "labelSelector": {} })
    }

    /// An entry of `resourceClaims`, without its name.
    fn entry(&mut self, namespace: &str) -> Value {
        let own = |all: &[(String, String)]| -> Vec<String> {
            all.iter().filter(|(place, _)| place == namespace).map(|(_, name)| name.clone()).collect()
        };
        let (claims, templates) = (own(&self.claims), own(&self.templates));
        match self.dice.below(20) {
            0 => json!({ "resourceClaimName": "nowhere" }),
            1 => json!({ "resourceClaimTemplateName": "nowhere" }),
            2 | 3 if !self.cluster_templates.is_empty() => {
                json!({ "clusterResourceClaimTemplateName": self.cluster_templates[0] })
            }
            4..=8 if !claims.is_empty() => json!({ "resourceClaimName": self.dice.pick(&claims) }),
            _ if !templates.is_empty() => json!({ "resourceClaimTemplateName": self.dice.pick(&templates) }),
            _ if !claims.is_empty() => json!({ "resourceClaimName": self.dice.pick(&claims) }),
            _ => json!({ "resourceClaimTemplateName": "one" }),
        }
    }

    fn offer(&mut self) -> Option<Offer> {
        if self.free.is_empty() {
            return None;
        }
        let index = self.dice.below(self.free.len());
        Some(self.free.swap_remove(index))
    }

    /// A claim that has a device; nobody uses it so far.
    fn allocated_claim(&mut self, offer: &Offer, namespace: &str, name: &str) -> &mut Value {
        let spec = json!({ "devices": { "requests": [{ "name": "r0", "exactly":
            { "deviceClassName": offer.class, "allocationMode": "ExactCount", "count": 1 } }] } });
        let claim = self.add("resource.k8s.io/v1", "ResourceClaim", namespace, name, spec);
        claim["metadata"]["uid"] = json!(uid("ResourceClaim", namespace, name));
        claim["metadata"]["finalizers"] = json!(["resource.kubernetes.io/delete-protection"]);
        claim["status"] = json!({ "allocation": { "devices": { "results": [{ "request": "r0", "driver": offer.driver,
            "pool": offer.pool, "device": offer.device }] }, "nodeSelector": { "nodeSelectorTerms": [{ "matchFields":
            [{ "key": "metadata.name", "operator": "In", "values": [offer.node] }] }] } } });
        claim
    }

    fn held_claim(&mut self) {
        let Some(offer) = self.offer() else { return };
        let (namespace, name) = (self.namespace(), self.fresh("held"));
        self.allocated_claim(&offer, &namespace, &name);
        self.claims.push((namespace, name));
    }

    /// A Pod that has its device, or a part of what it takes for that.
    fn running_pod(&mut self) {
        let (namespace, name) = (self.namespace(), self.fresh("run"));
        let Some(offer) = self.offer() else { return };
        let is_generated = self.chance(40) && self.templates.iter().any(|(place, _)| *place == namespace);
        let claim = if is_generated { format!("{name}-e0-abcde") } else { format!("{name}-claim") };
        let reservation = json!([{ "resource": "pods", "name": name, "uid": uid("Pod", &namespace, &name) }]);
        let is_reserved = self.chance(90);
        let object = self.allocated_claim(&offer, &namespace, &claim);
        if is_reserved {
            object["status"]["reservedFor"] = reservation;
        }
        if is_generated {
            object["metadata"]["annotations"] = json!({ "resource.kubernetes.io/pod-claim-name": "e0" });
            object["metadata"]["generateName"] = json!(format!("{name}-e0-"));
            object["metadata"]["ownerReferences"] = json!([{ "apiVersion": "v1", "kind": "Pod", "name": name,
                "uid": uid("Pod", &namespace, &name), "controller": true, "blockOwnerDeletion": true }]);
        }
        let templates: Vec<String> =
            self.templates.iter().filter(|(place, _)| *place == namespace).map(|(_, name)| name.clone()).collect();
        let entry = match is_generated {
            true => json!({ "name": "e0", "resourceClaimTemplateName": self.dice.pick(&templates) }),
            false => json!({ "name": "e0", "resourceClaimName": claim }),
        };
        let spec = json!({ "nodeName": offer.node, "resourceClaims": [entry],
            "containers": [{ "name": "main", "image": "example.com/main",
                "resources": { "requests": { "cpu": "100m" }, "claims": [{ "name": "e0" }] } }] });
        let phase = match self.dice.below(10) {
            0 | 1 => "Succeeded",
            2 => "Failed",
            3 => "",
            _ => "Running",
        };
        let (is_going, is_bare) = (self.chance(6), self.chance(5));
        let pod = self.add("v1", "Pod", &namespace, &name, spec);
        pod["metadata"]["uid"] = json!(uid("Pod", &namespace, &name));
        pod["metadata"]["creationTimestamp"] = json!(CREATED);
        if is_going {
            pod["metadata"]["deletionTimestamp"] = json!("2026-03-01T11:00:00Z");
            pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        }
        if is_bare {
            return;
        }
        pod["status"] = json!({ "conditions": [{ "type": "PodScheduled", "status": "True" }] });
        if !phase.is_empty() {
            pod["status"]["phase"] = json!(phase);
        }
        if is_generated {
            pod["status"]["resourceClaimStatuses"] = json!([{ "name": "e0", "resourceClaimName": claim }]);
        }
    }
}
