//! Random histories: what is done, step by step, to a cluster of one or two nodes of its own.
//!
//! Every name begins with that of the history, so that many are played side by side on one control plane: objects without a namespace by
//! their names, devices by their driver, Pods by the label of their nodes.

use serde_json::{Value, json};

use super::dice::Dice;

/// Changes whenever a seed gives another history than before.
pub const VERSION: u64 = 1;

/// What one step does, in order: commands of a simulation (`create`, `delete`, `patch`), and two that depend on what the cluster did
/// before: `phase`, what a kubelet says of a Pod that has a node, and `deleteClaimOf`, the deletion of the claim of a Pod's first entry.
pub type Step = Vec<Value>;

/// A history before it is played.
pub struct History {
    /// The namespace of its objects, and what all its other names begin with.
    pub name: String,
    /// What is done.
    pub steps: Vec<Step>,
}

/// The history of a seed, with PodGroups in the version that a minor release serves. `run` becomes the end of the name, so that a history
/// can be played twice at a time.
pub fn history(seed: u64, minor: &str, run: &str) -> History {
    let mut dice = Dice(seed);
    let theme = match dice.below(100) {
        0..55 => Theme::Plain,
        55..70 => Theme::Shares,
        70..80 => Theme::Alternatives,
        80..90 => Theme::Partitions,
        _ => Theme::Extended,
    };
    let groups = if minor == "1.36" { "scheduling.k8s.io/v1alpha2" } else { "scheduling.k8s.io/v1alpha3" };
    let mut making =
        Making { dice, theme, name: format!("h{seed}{run}"), groups, pods: Vec::new(), known: Vec::new(), made: 0 };
    let mut steps = vec![making.cluster()];
    while steps.len() < 10 {
        let Some(step) = making.request() else { continue };
        // What only makes something may come with the next request that does: other requests would race with it.
        let is_making = |step: &Step| step.iter().all(|request| request.get("create").is_some());
        match steps.last_mut() {
            Some(last) if making.dice.chance(30) && is_making(last) && is_making(&step) => last.extend(step),
            _ => steps.push(step),
        }
    }
    History { name: making.name, steps }
}

/// What the devices of a history and the requests for them are like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Theme {
    /// Whole devices.
    Plain,
    /// Devices in shares, with capacity.
    Shares,
    /// Requests with `firstAvailable`.
    Alternatives,
    /// Devices that draw from a counter set.
    Partitions,
    /// A class with an extended resource, which Pods ask for.
    Extended,
}

struct Making {
    dice: Dice,
    theme: Theme,
    name: String,
    groups: &'static str,
    /// Pods that were made and not deleted.
    pods: Vec<String>,
    /// Other objects that are there, by kind and name.
    known: Vec<(&'static str, String)>,
    /// How many Pods were made so far.
    made: u64,
}

/// Kinds whose objects have no namespace.
const CLUSTER_WIDE: [&str; 5] = ["Namespace", "Node", "DeviceClass", "ResourceSlice", "DeviceTaintRule"];

impl Making {
    fn own(&self, name: &str) -> String {
        format!("{}-{name}", self.name)
    }

    fn driver(&self) -> String {
        format!("{}-driver.example.com", self.name)
    }

    fn key(&self, kind: &str, name: &str) -> Value {
        let namespace = if CLUSTER_WIDE.contains(&kind) { "" } else { &self.name };
        json!({ "kind": kind, "namespace": namespace, "name": name })
    }

    fn create(&mut self, api_version: &str, kind: &'static str, name: &str, spec: Value) -> Value {
        self.known.push((kind, name.to_owned()));
        let mut metadata = json!({ "name": name });
        if !CLUSTER_WIDE.contains(&kind) {
            insert(&mut metadata, "namespace", json!(self.name));
        }
        json!({ "create": { "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec } })
    }

    fn delete(&mut self, kind: &str, name: &str) -> Value {
        self.known.retain(|(other, known)| (*other, known.as_str()) != (kind, name));
        let mut delete = json!({ "object": self.key(kind, name) });
        if kind == "Pod" && self.dice.chance(80) {
            insert(&mut delete, "graceSeconds", json!(0));
        }
        json!({ "delete": delete })
    }

    fn is_known(&self, kind: &str, name: &str) -> bool {
        self.known.iter().any(|(other, known)| (*other, known.as_str()) == (kind, name))
    }

    /// Namespace, class, nodes with their devices, one template, and in half of the histories a claim.
    fn cluster(&mut self) -> Step {
        let (namespace, driver) = (self.name.clone(), self.driver());
        let mut step = vec![json!({ "create": {
            "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace },
        } })];
        let class = self.own("class");
        let mut spec = json!({ "selectors": [{ "cel": { "expression": format!("device.driver == '{driver}'") } }] });
        if self.theme == Theme::Extended {
            insert(&mut spec, "extendedResourceName", json!(self.resource()));
        }
        step.push(self.create("resource.k8s.io/v1", "DeviceClass", &class, spec));
        for node in ["a", "b"].into_iter().take(if self.dice.chance(60) { 1 } else { 2 }) {
            let (name, size) = (self.own(node), json!({ "cpu": "16", "memory": "64Gi", "pods": "110" }));
            let labels = json!({ "kubernetes.io/hostname": name, "history": namespace });
            self.known.push(("Node", name.clone()));
            step.push(json!({ "create": {
                "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": labels }, "spec": {},
            } }));
            let ready = json!([{ "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "" }]);
            let status = json!({ "capacity": size, "allocatable": size, "conditions": ready });
            let patch = json!({ "object": self.key("Node", &name), "fields": { "status": status }, "status": true });
            step.push(json!({ "patch": patch }));
            step.extend(self.slices(&name));
        }
        step.push(self.template("t"));
        if self.dice.chance(50) {
            step.push(self.claim("c"));
        }
        step
    }

    /// The slices of a node: its devices, and before them what partitions draw from.
    fn slices(&mut self, node: &str) -> Step {
        let (driver, mut step) = (self.driver(), Vec::new());
        let count = if self.theme == Theme::Partitions { 2 } else { 1 };
        let pool = json!({ "name": node, "generation": 1, "resourceSliceCount": count });
        if self.theme == Theme::Partitions {
            let counters = json!([{ "name": "whole", "counters": { "memory": { "value": "4Gi" } } }]);
            let spec = json!({ "driver": driver, "nodeName": node, "pool": pool, "sharedCounters": counters });
            step.push(self.create("resource.k8s.io/v1", "ResourceSlice", &format!("{node}-counters"), spec));
        }
        let count = self.dice.between(1, 3);
        let devices = self.some_devices(count);
        let spec = json!({ "driver": driver, "nodeName": node, "devices": devices, "pool": pool });
        step.push(self.create("resource.k8s.io/v1", "ResourceSlice", node, spec));
        step
    }

    fn some_devices(&mut self, count: u64) -> Vec<Value> {
        (0..count).map(|index| self.device(index)).collect()
    }

    fn device(&mut self, index: u64) -> Value {
        let model = self.dice.word(&["x", "y"]);
        let mut device = json!({ "name": format!("d{index}"), "attributes": { "model": { "string": model } } });
        match self.theme {
            Theme::Shares => {
                insert(&mut device, "allowMultipleAllocations", json!(self.dice.chance(80)));
                insert(&mut device, "capacity", json!({ "memory": { "value": "10Gi" } }));
            }
            Theme::Partitions => {
                let memory = self.dice.word(&["1Gi", "2Gi", "4Gi"]);
                let draws = json!([{ "counterSet": "whole", "counters": { "memory": { "value": memory } } }]);
                insert(&mut device, "consumesCounters", draws);
            }
            Theme::Plain | Theme::Alternatives | Theme::Extended => {}
        }
        if self.dice.chance(8) {
            let effect = self.dice.word(&["NoSchedule", "NoExecute"]);
            insert(&mut device, "taints", json!([{ "key": "worn", "effect": effect }]));
        }
        device
    }

    fn selectors(&self, model: &str) -> Value {
        let expression = format!("device.attributes['{}'].model == '{model}'", self.driver());
        json!([{ "cel": { "expression": expression } }])
    }

    /// What a claim asks for: mostly one device.
    fn devices(&mut self) -> Value {
        let class = self.own("class");
        if self.theme == Theme::Alternatives && self.dice.chance(70) {
            let count = self.dice.between(1, 2);
            let first =
                json!({ "name": "x", "deviceClassName": class, "selectors": self.selectors("x"), "count": count });
            let second = json!({ "name": "any", "deviceClassName": class });
            return json!({ "devices": { "requests": [{ "name": "r", "firstAvailable": [first, second] }] } });
        }
        let mut exactly = json!({ "deviceClassName": class });
        let mut devices = json!({});
        match self.dice.below(10) {
            0 => {
                insert(&mut exactly, "count", json!(2));
                if self.dice.chance(50) {
                    let attribute = format!("{}/model", self.driver());
                    let constraints = json!([{ "requests": ["r"], "matchAttribute": attribute }]);
                    insert(&mut devices, "constraints", constraints);
                }
            }
            1 => insert(&mut exactly, "allocationMode", json!("All")),
            2 => insert(&mut exactly, "selectors", self.selectors("x")),
            3 => insert(&mut exactly, "tolerations", json!([{ "operator": "Exists" }])),
            _ => {}
        }
        if self.theme == Theme::Shares && self.dice.chance(70) {
            let memory = self.dice.word(&["3Gi", "6Gi"]);
            insert(&mut exactly, "capacity", json!({ "requests": { "memory": memory } }));
        }
        insert(&mut devices, "requests", json!([{ "name": "r", "exactly": exactly }]));
        json!({ "devices": devices })
    }

    fn template(&mut self, name: &str) -> Value {
        let devices = self.devices();
        let spec = json!({ "metadata": { "labels": { "from": name } }, "spec": devices });
        self.create("resource.k8s.io/v1", "ResourceClaimTemplate", name, spec)
    }

    fn claim(&mut self, name: &str) -> Value {
        let devices = self.devices();
        self.create("resource.k8s.io/v1", "ResourceClaim", name, devices)
    }

    fn resource(&self) -> String {
        format!("{}.example.com/device", self.name)
    }

    fn pod(&mut self, entries: Value, group: Option<&str>) -> Value {
        let name = format!("p{}", self.made);
        self.made += 1;
        self.pods.push(name.clone());
        self.pod_named(&name, entries, group)
    }

    fn pod_named(&mut self, name: &str, entries: Value, group: Option<&str>) -> Value {
        let mut container = json!({ "name": "main", "image": "pause" });
        if self.theme == Theme::Extended && group.is_none() && self.dice.chance(60) {
            let resource = self.resource();
            insert(&mut container, "resources", json!({ "limits": { resource: self.dice.word(&["1", "1", "2"]) } }));
        }
        let mut selector = json!({ "history": self.name });
        if self.dice.chance(85) {
            let node = self.dice.word(&["a", "b"]);
            let node = if self.is_known("Node", &self.own(&node)) { node } else { "a".to_owned() };
            insert(&mut selector, "kubernetes.io/hostname", json!(self.own(&node)));
        }
        let grace = if self.dice.chance(80) { 0 } else { 30 };
        let mut spec = json!({
            "containers": [container], "resourceClaims": entries, "terminationGracePeriodSeconds": grace,
            "nodeSelector": selector,
        });
        if let Some(group) = group {
            insert(&mut spec, "schedulingGroup", json!({ "podGroupName": group }));
        }
        self.create("v1", "Pod", name, spec)
    }

    /// A template's or a claim's name; one in five is of one that comes later or never.
    fn entry(&mut self, name: &str) -> Value {
        match self.dice.below(10) {
            0..6 => json!({ "name": name, "resourceClaimTemplateName": "t" }),
            6 => json!({ "name": name, "resourceClaimTemplateName": "late" }),
            7..9 => json!({ "name": name, "resourceClaimName": "c" }),
            _ => json!({ "name": name, "resourceClaimName": "late" }),
        }
    }

    fn group(&mut self) -> Value {
        let name = self.dice.word(&["g", "k"]);
        let policy = if self.dice.chance(50) { json!({ "basic": {} }) } else { json!({ "gang": { "minCount": 2 } }) };
        let mut spec = json!({ "schedulingPolicy": policy });
        if self.dice.chance(80) {
            let entry = self.group_entry(&name);
            insert(&mut spec, "resourceClaims", json!([entry]));
        }
        self.create(self.groups, "PodGroup", &name, spec)
    }

    /// The entry of a group, which its Pods repeat.
    fn group_entry(&self, group: &str) -> Value {
        match group {
            "g" => json!({ "name": "shared", "resourceClaimTemplateName": "t" }),
            _ => json!({ "name": "shared", "resourceClaimName": "c" }),
        }
    }

    /// What is done next; nothing where it makes no sense.
    fn request(&mut self) -> Option<Step> {
        let one = match self.dice.below(100) {
            0..22 => {
                let first = self.entry("one");
                let mut entries = vec![first];
                if self.dice.chance(20) {
                    entries.push(self.entry("two"));
                }
                self.pod(json!(entries), None)
            }
            22..26 => self.pod(json!([]), None),
            26..36 => self.group(),
            36..48 => {
                let group = self.dice.word(&["g", "k"]);
                let entries = if self.dice.chance(85) { json!([self.group_entry(&group)]) } else { json!([]) };
                let count = self.dice.between(1, 2);
                return Some((0..count).map(|_| self.pod(entries.clone(), Some(&group))).collect());
            }
            48..53 if !self.is_known("ResourceClaimTemplate", "late") => self.template("late"),
            53..58 if !self.is_known("ResourceClaim", "late") => self.claim("late"),
            58..62 if !self.is_known("ResourceClaim", "c") => self.claim("c"),
            62..71 => return self.pod_goes(),
            71..80 => {
                let pod = self.dice.pick(&self.pods)?.clone();
                let phase = self.dice.word(&["Running", "Succeeded", "Succeeded", "Failed"]);
                json!({ "phase": { "pod": self.key("Pod", &pod), "phase": phase } })
            }
            80..84 => {
                let group = self.dice.word(&["g", "k"]);
                self.is_known("PodGroup", &group).then(|| self.delete("PodGroup", &group))?
            }
            84..86 => self.is_known("ResourceClaimTemplate", "t").then(|| self.delete("ResourceClaimTemplate", "t"))?,
            86..89 => self.is_known("ResourceClaim", "c").then(|| self.delete("ResourceClaim", "c"))?,
            89..92 => {
                let pod = self.dice.pick(&self.pods)?.clone();
                json!({ "deleteClaimOf": self.key("Pod", &pod) })
            }
            92..95 => self.rule(),
            95..98 => self.slice_changes()?,
            98.. => return self.node_goes(),
            _ => return None,
        };
        Some(vec![one])
    }

    /// A Pod is deleted, and one in four is made again under its name.
    fn pod_goes(&mut self) -> Option<Step> {
        let pod = self.dice.pick(&self.pods)?.clone();
        self.pods.retain(|known| *known != pod);
        let mut step = vec![self.delete("Pod", &pod)];
        if self.dice.chance(25) {
            let entry = self.entry("one");
            self.pods.push(pod.clone());
            step.push(self.pod_named(&pod, json!([entry]), None));
        }
        Some(step)
    }

    /// The rule is made, or removed where it is there.
    fn rule(&mut self) -> Value {
        let rule = self.own("rule");
        if self.is_known("DeviceTaintRule", &rule) {
            return self.delete("DeviceTaintRule", &rule);
        }
        let mut selector = json!({ "driver": self.driver() });
        if self.dice.chance(40) {
            insert(&mut selector, "device", json!("d0"));
        }
        let taint = json!({ "key": "broken", "effect": self.dice.word(&["NoSchedule", "NoExecute", "None"]) });
        self.create(
            "resource.k8s.io/v1beta2",
            "DeviceTaintRule",
            &rule,
            json!({ "deviceSelector": selector, "taint": taint }),
        )
    }

    /// A driver publishes other devices, in a newer generation where the pool is one slice.
    fn slice_changes(&mut self) -> Option<Value> {
        let name = self.own("a");
        if !self.is_known("ResourceSlice", &name) {
            return None;
        }
        let count = self.dice.between(0, 4);
        let mut spec = json!({ "devices": self.some_devices(count) });
        if self.theme != Theme::Partitions {
            let generation = self.dice.between(2, 9);
            insert(&mut spec, "pool", json!({ "name": name, "generation": generation, "resourceSliceCount": 1 }));
        }
        Some(
            json!({ "patch": { "object": self.key("ResourceSlice", &name), "fields": { "spec": spec }, "status": false } }),
        )
    }

    /// A node is removed, and half of the time its slice, too.
    fn node_goes(&mut self) -> Option<Step> {
        let letter = self.dice.word(&["a", "b", "b"]);
        let node = self.own(&letter);
        if !self.is_known("Node", &node) {
            return None;
        }
        let mut step = vec![self.delete("Node", &node)];
        if self.dice.chance(50) {
            step.push(self.delete("ResourceSlice", &node));
        }
        Some(step)
    }
}

fn insert(object: &mut Value, field: &str, value: Value) {
    if let Some(map) = object.as_object_mut() {
        map.insert(field.to_owned(), value);
    }
}
