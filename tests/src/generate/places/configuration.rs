//! Configurations of kube-scheduler.

use apportion_core::profile::Version;
use serde_json::{Map, Value, json};

use super::{Maker, without_nulls};

/// Plugins with scores.
const SCORING: [&str; 8] = [
    "DynamicResources",
    "ImageLocality",
    "InterPodAffinity",
    "NodeAffinity",
    "NodeResourcesBalancedAllocation",
    "NodeResourcesFit",
    "PodTopologySpread",
    "TaintToleration",
];

/// Plugins that can be kept from filtering. Without InterPodAffinity, terms of Pods that are placed would still be heeded
/// (`docs/reference.md`); NodeAffinity would still choose nodes by name before the filters.
const FILTERING: [&str; 5] =
    ["NodePorts", "NodeResourcesFit", "NodeUnschedulable", "PodTopologySpread", "TaintToleration"];

const RESOURCES: [&str; 5] = ["cpu", "memory", "ephemeral-storage", "example.com/thing", "hugepages-2Mi"];

impl Maker {
    /// A configuration with one profile, which differs from the default in a few ways.
    pub(super) fn configuration(&mut self) -> Value {
        let mut plugins = Map::new();
        if self.dice.chance(50) {
            plugins.insert("score".into(), self.scoring());
        }
        if self.dice.chance(20) {
            plugins.insert("filter".into(), json!({ "disabled": [{ "name": self.dice.word(&FILTERING) }] }));
        }
        if self.dice.chance(10) {
            let name = self.dice.word(&["DefaultPreemption", "*"]);
            plugins.insert("postFilter".into(), json!({ "disabled": [{ "name": name }] }));
        }
        if self.dice.chance(20) {
            // Others cannot score any more without their part before the scores, with which kube-scheduler fails.
            let name = self.dice.word(&["ImageLocality", "NodeResourcesBalancedAllocation", "NodePorts"]);
            plugins.insert("multiPoint".into(), json!({ "disabled": [{ "name": name }] }));
        }
        let mut arguments = Vec::new();
        let mut add = |name: &str, args: Option<Value>| {
            arguments.extend(args.map(|args| json!({ "name": name, "args": args })));
        };
        add("NodeResourcesFit", self.dice.chance(60).then(|| self.resources_fit()));
        add("NodeResourcesBalancedAllocation", self.dice.chance(30).then(|| json!({ "resources": self.balanced() })));
        add("NodeAffinity", self.dice.chance(25).then(|| json!({ "addedAffinity": self.added_affinity() })));
        add("PodTopologySpread", self.dice.chance(30).then(|| self.spread_by_default()));
        add("InterPodAffinity", self.dice.chance(25).then(|| self.neighbours()));
        let profile = json!({ "schedulerName": "default-scheduler", "plugins": plugins, "pluginConfig": arguments });
        json!({
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile],
        })
    }

    /// Which plugins score, and with what weight.
    fn scoring(&mut self) -> Value {
        let mut disabled: Vec<String> =
            SCORING.into_iter().filter(|_| self.dice.chance(25)).map(str::to_owned).collect();
        if self.dice.chance(15) {
            disabled = vec!["*".to_owned()];
        }
        let names = |names: &[String]| -> Vec<Value> { names.iter().map(|name| json!({ "name": name })).collect() };
        let mut weighed: Vec<&str> = SCORING.into_iter().filter(|_| self.dice.chance(30)).collect();
        // With a plugin that does not score kube-scheduler does not start.
        weighed.retain(|name| *name != "DynamicResources" || self.version > Version::V1_34);
        let enabled: Vec<Value> = weighed
            .into_iter()
            .map(|name| {
                without_nulls(
                    json!({ "name": name, "weight": self.dice.pick(&[None, Some(1), Some(3), Some(10), Some(100)]) }),
                )
            })
            .map(Value::Object)
            .collect();
        json!({ "disabled": names(&disabled), "enabled": enabled })
    }

    fn resources_fit(&mut self) -> Value {
        let kind = self.dice.word(&["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]);
        let shape = [0, 30, 70, 100].into_iter().filter(|at| *at == 0 || self.dice.chance(70)).collect::<Vec<u64>>();
        let shape: Vec<Value> =
            shape.into_iter().map(|at| json!({ "utilization": at, "score": self.dice.between(0, 10) })).collect();
        let ratio = (kind == "RequestedToCapacityRatio").then(|| json!({ "shape": shape }));
        let strategy = json!({ "type": kind, "resources": self.weighed(), "requestedToCapacityRatio": ratio });
        let (ignored, groups) = (self.dice.chance(20), self.dice.chance(20));
        Value::Object(without_nulls(json!({
            "ignoredResources": ignored.then(|| json!(["example.com/thing"])),
            "ignoredResourceGroups": groups.then(|| json!(["example.com"])),
            "scoringStrategy": without_nulls(strategy),
        })))
    }

    /// Resources with weights; those that are usual where there are none.
    fn weighed(&mut self) -> Value {
        let names: Vec<&str> = RESOURCES.into_iter().filter(|_| self.dice.chance(40)).collect();
        let specs = names.into_iter().map(|name| json!({ "name": name, "weight": self.dice.pick(&[1, 1, 2, 5, 100]) }));
        Some(specs.collect::<Vec<_>>()).filter(|specs| !specs.is_empty()).into()
    }

    /// Resources that are balanced; their weights are all 1.
    fn balanced(&mut self) -> Vec<Value> {
        let names = RESOURCES.into_iter().enumerate().filter(|(place, _)| *place == 0 || self.dice.chance(50));
        names.map(|(_, name)| json!({ "name": name, "weight": 1 })).collect()
    }

    fn added_affinity(&mut self) -> Value {
        let term = |key: &str, values: &[String]| json!({ "matchExpressions": [{ "key": key, "operator": "In", "values": values }] });
        let zones = [self.dice.word(&["za", "zb", "zc"]), "za".to_owned()];
        let disk = [self.dice.word(&["ssd", "hdd"])];
        let required = self.dice.chance(50);
        let preferred = json!([{ "weight": self.dice.between(1, 100), "preference": term("disk", &disk) }]);
        match required {
            true => json!({ "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [term("topology.kubernetes.io/zone", &zones)],
            } }),
            false => json!({ "preferredDuringSchedulingIgnoredDuringExecution": preferred }),
        }
    }

    fn spread_by_default(&mut self) -> Value {
        if self.dice.chance(20) {
            return json!({ "defaultingType": "System" });
        }
        let keys = ["topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack"];
        let keys: Vec<&str> = keys.into_iter().filter(|_| self.dice.chance(50)).collect();
        let constraints: Vec<Value> = keys
            .into_iter()
            .map(|key| {
                let hard = self.dice.word(&["DoNotSchedule", "ScheduleAnyway", "ScheduleAnyway"]);
                json!({ "topologyKey": key, "maxSkew": self.dice.between(1, 4), "whenUnsatisfiable": hard })
            })
            .collect();
        json!({ "defaultingType": "List", "defaultConstraints": constraints })
    }

    fn neighbours(&mut self) -> Value {
        let weight = self.dice.pick(&[0, 1, 10, 100]).copied();
        json!({ "hardPodAffinityWeight": weight, "ignorePreferredTermsOfExistingPods": self.dice.chance(50) })
    }
}
