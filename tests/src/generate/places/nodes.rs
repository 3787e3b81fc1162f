//! Nodes.

use serde_json::{Map, Value, json};

use super::{Maker, Theme, without_nulls};

/// Images by name, with their size in MiB.
pub(super) const IMAGES: [(&str, u64); 6] = [
    ("registry.example.com/tiny:latest", 10),
    ("registry.example.com/small:1", 40),
    ("registry.example.com/medium:latest", 300),
    ("registry.example.com/large:2", 900),
    ("registry.example.com:5000/huge:latest", 4000),
    ("model:latest", 2000),
];

/// Keys of taints.
pub(super) const TAINTS: [&str; 3] = ["dedicated", "sick", "node.kubernetes.io/not-ready"];

/// Features that nodes declare.
pub(super) const FEATURES: [&str; 3] =
    ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"];

impl Maker {
    pub(super) fn make_nodes(&mut self) {
        let many = self.dice.chance(20);
        let count = if many { self.dice.between(10, 30) } else { self.dice.between(2, 9) };
        for index in 0..count {
            let name = format!("node-{index:02}");
            let labels = self.node_labels(&name);
            let taints: Vec<Value> = (0..3).filter_map(|_| self.taint()).collect();
            let unschedulable = self.dwells(Theme::Taints, 20);
            let images: Vec<Value> = IMAGES.iter().filter_map(|image| self.image(image)).collect();
            let features: Vec<&str> = FEATURES.into_iter().filter(|_| self.dwells(Theme::Features, 70)).collect();
            let allocatable = self.allocatable();
            let node = json!({
                "metadata": { "name": name, "uid": format!("uid-{name}"), "labels": labels },
                "spec": without_nulls(json!({
                    "taints": if taints.is_empty() { Value::Null } else { json!(taints) },
                    "unschedulable": if unschedulable { json!(true) } else { Value::Null },
                })),
                "status": without_nulls(json!({
                    "capacity": &allocatable,
                    "allocatable": allocatable,
                    "images": if images.is_empty() { Value::Null } else { json!(images) },
                    "declaredFeatures": if features.is_empty() { Value::Null } else { json!(features) },
                })),
            });
            self.push("v1", "Node", node);
            self.nodes.push(name);
        }
    }

    fn node_labels(&mut self, name: &str) -> Map<String, Value> {
        let mut labels = Map::new();
        if self.dice.chance(97) {
            labels.insert("kubernetes.io/hostname".into(), json!(name));
        }
        if self.dice.chance(90) {
            labels.insert("topology.kubernetes.io/zone".into(), json!(self.dice.word(&["za", "zb", "zc"])));
        }
        if self.dice.chance(50) {
            labels.insert("disk".into(), json!(self.dice.word(&["ssd", "hdd"])));
        }
        if self.dice.chance(50) {
            labels.insert("cores".into(), json!(self.dice.word(&["4", "8", "16", "many"])));
        }
        if self.dice.chance(60) {
            labels.insert("rack".into(), json!(self.dice.word(&["r1", "r2", "r3", "r4"])));
        }
        labels
    }

    fn taint(&mut self) -> Option<Value> {
        if !self.dwells(Theme::Taints, 45) {
            return None;
        }
        let key = self.dice.word(&TAINTS);
        let effect = self.dice.word(&["NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"]);
        Some(match self.dice.word(&["", "blue", "green", "5"]).as_str() {
            "" => json!({ "key": key, "effect": effect }),
            value => json!({ "key": key, "value": value, "effect": effect }),
        })
    }

    fn image(&mut self, (name, size): &(&str, u64)) -> Option<Value> {
        if !self.dwells(Theme::Images, 50) {
            return None;
        }
        let mut names = vec![json!(name)];
        if self.dice.chance(30) {
            names.push(json!(format!("{}@sha256:0123", name.rsplit_once(':').map_or(*name, |(image, _)| image))));
        }
        Some(json!({ "names": names, "sizeBytes": size * 1024 * 1024 }))
    }

    fn allocatable(&mut self) -> Map<String, Value> {
        let mut all = Map::new();
        let small = self.theme == Theme::Resources || self.theme == Theme::Preemption;
        let cpu =
            if small { self.dice.word(&["1", "1500m", "2", "2"]) } else { self.dice.word(&["2", "4", "7910m", "16"]) };
        let memory = self.dice.word(&["2Gi", "3Gi", "4000Mi", "8Gi", "6442450944", "5G"]);
        all.insert("cpu".into(), json!(cpu));
        all.insert("memory".into(), json!(memory));
        let few = self.dwells(Theme::Resources, 30);
        let pods = if few { self.dice.word(&["0", "1", "2", "4"]) } else { "110".to_owned() };
        all.insert("pods".into(), json!(pods));
        all.insert("ephemeral-storage".into(), json!(self.dice.word(&["0", "1Gi", "10Gi", "10Gi"])));
        if self.dwells(Theme::Resources, 50) {
            all.insert("example.com/thing".into(), json!(self.dice.word(&["0", "1", "3"])));
        }
        if self.dwells(Theme::Resources, 30) {
            all.insert("hugepages-2Mi".into(), json!(self.dice.word(&["0", "4Mi", "64Mi"])));
        }
        all
    }
}
