//! Pods, their owners and their budgets.

use serde_json::{Map, Value, json};

use super::nodes::{FEATURES, IMAGES, TAINTS};
use super::{ASKING, Maker, NAMESPACES, Theme, without_nulls};

/// Labels that name domains.
const DOMAINS: [&str; 5] =
    ["topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack", "topology.kubernetes.io/zone", "absent"];

const APPS: [&str; 3] = ["a", "b", "c"];

impl Maker {
    pub(super) fn make_running_pods(&mut self) {
        let most = match self.theme {
            Theme::Neighbours | Theme::Spread | Theme::Alike | Theme::Resources | Theme::Preemption => 4,
            _ => 2,
        };
        for node in self.nodes.clone() {
            for number in 0..self.dice.between(0, most) {
                self.running_pod(&node, number);
            }
        }
        if self.dice.chance(3) {
            self.running_pod("gone", 0);
        }
        for number in 0..2 {
            if self.dwells(Theme::Preemption, 20) {
                self.nominated_pod(number);
            }
        }
    }

    /// A Pod that waits for others to leave a node.
    fn nominated_pod(&mut self, number: u64) {
        let metadata = self.metadata(&format!("nominated-{number}"), ASKING.0);
        let mut spec = self.spec(false);
        spec.insert("priority".into(), json!(self.dice.pick(&[0, 50, 3000]).copied().unwrap_or(0)));
        let nodes = self.nodes.clone();
        let status = json!({ "phase": "Pending", "nominatedNodeName": self.dice.pick(&nodes) });
        self.push("v1", "Pod", json!({ "metadata": metadata, "spec": spec, "status": status }));
    }

    fn running_pod(&mut self, node: &str, number: u64) {
        let name = format!("{node}-{number}");
        let namespace = self.namespace();
        let mut metadata = self.metadata(&name, &namespace);
        if self.dice.chance(4) {
            metadata.insert("deletionTimestamp".into(), json!("2026-01-01T01:00:00Z"));
            metadata.insert("deletionGracePeriodSeconds".into(), json!(30));
            metadata.insert("finalizers".into(), json!(["example.com/wait"]));
        }
        let mut spec = self.spec(false);
        spec.insert("nodeName".into(), json!(node));
        if self.dwells(Theme::Preemption, 70) {
            spec.insert("priority".into(), json!(self.dice.pick(&[-5, 0, 10, 10, 100, 1000]).copied().unwrap_or(0)));
        }
        let phase = if self.dice.chance(3) { self.dice.word(&["Succeeded", "Failed"]) } else { "Running".to_owned() };
        let start = format!("2026-01-01T00:{:02}:00Z", self.dice.below(50));
        let status = json!({ "phase": phase, "startTime": start });
        self.give_devices(node, &name, &namespace, &mut spec);
        self.push("v1", "Pod", json!({ "metadata": metadata, "spec": spec, "status": status }));
    }

    pub(super) fn make_asking_pod(&mut self) {
        let mut metadata = self.metadata(ASKING.1, ASKING.0);
        let mut spec = self.spec(true);
        if self.dwells(Theme::Preemption, 90) {
            spec.insert("priority".into(), json!(self.dice.pick(&[0, 50, 500, 2000, 2000]).copied().unwrap_or(0)));
            if let (true, Some(container)) =
                (self.dice.chance(70), spec.get_mut("containers").and_then(|all| all.get_mut(0)))
                && let Some(container) = container.as_object_mut()
            {
                container.insert("resources".into(), json!({ "requests": { "cpu": self.dice.word(&["1", "1500m"]) } }));
            }
            if self.dice.chance(5) {
                spec.insert("preemptionPolicy".into(), json!("Never"));
            }
        }
        self.ask_for_devices(&mut spec);
        if self.dwells(Theme::Alike, 100) {
            self.make_alike(&mut metadata);
        }
        let status = json!({ "phase": "Pending" });
        self.push("v1", "Pod", json!({ "metadata": metadata, "spec": spec, "status": status }));
    }

    /// Services and an owner that say which Pods are like the one that asks.
    fn make_alike(&mut self, metadata: &mut Map<String, Value>) {
        let app = metadata.get("labels").and_then(|labels| labels.get("app")).and_then(Value::as_str);
        let app = app.unwrap_or("a").to_owned();
        for index in 0..self.dice.below(3) {
            let selector = match self.dice.below(4) {
                0 => json!({ "app": self.dice.word(&APPS) }),
                1 => json!({ "app": app, "tier": "x" }),
                2 => Value::Null,
                _ => json!({ "app": app }),
            };
            let spec = without_nulls(json!({ "selector": selector }));
            let name = format!("service-{index}");
            self.push("v1", "Service", json!({ "metadata": { "name": name, "namespace": ASKING.0 }, "spec": spec }));
        }
        if self.dice.chance(60) {
            let kind = self.dice.word(&["ReplicaSet", "StatefulSet", "Job"]);
            let (api_version, selector) = match kind.as_str() {
                "Job" => ("batch/v1", json!({ "matchLabels": { "app": app } })),
                _ if self.dice.chance(30) => (
                    "apps/v1",
                    json!({ "matchExpressions": [{ "key": "app", "operator": "In", "values": [app, "b"] }] }),
                ),
                _ => ("apps/v1", json!({ "matchLabels": { "app": app } })),
            };
            let owner = json!({ "metadata": { "name": "owner", "namespace": ASKING.0, "uid": "uid-owner" },
                "spec": { "replicas": 1, "selector": selector, "template": {
                    "metadata": { "labels": { "app": app } }, "spec": { "containers": [] } } } });
            if self.dice.chance(90) && kind != "Job" {
                self.push(api_version, &kind, owner);
            }
            let reference = json!({ "apiVersion": api_version, "kind": kind, "name": "owner", "uid": "uid-owner",
                "controller": true });
            metadata.insert("ownerReferences".into(), json!([reference]));
        }
    }

    pub(super) fn make_budgets(&mut self) {
        for index in 0..3 {
            if !self.dwells(Theme::Preemption, 50) {
                continue;
            }
            let selector = match self.dice.below(8) {
                0 => json!({}),
                1 => json!({ "matchExpressions": [{ "key": "tier", "operator": "Exists" }] }),
                _ => json!({ "matchLabels": { "app": self.dice.word(&APPS) } }),
            };
            let allowed = self.dice.below(3);
            let namespace = self.namespace();
            let name = format!("budget-{index}");
            let budget = json!({
                "metadata": { "name": name, "namespace": namespace, "generation": 1 },
                "spec": { "minAvailable": 1, "selector": selector },
                "status": { "observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 0, "desiredHealthy": 0,
                    "expectedPods": 0 },
            });
            self.push("policy/v1", "PodDisruptionBudget", budget);
        }
    }

    fn namespace(&mut self) -> String {
        let names = NAMESPACES.map(|(name, _)| name);
        if self.dice.chance(75) { names[0].to_owned() } else { self.dice.word(&names) }
    }

    fn metadata(&mut self, name: &str, namespace: &str) -> Map<String, Value> {
        let mut labels = Map::new();
        if self.dice.chance(90) {
            labels.insert("app".into(), json!(self.dice.word(&APPS)));
        }
        if self.dice.chance(40) {
            labels.insert("tier".into(), json!(self.dice.word(&["x", "y"])));
        }
        let created = format!("2026-01-01T00:{:02}:00Z", self.dice.below(60));
        let mut metadata = without_nulls(json!({
            "name": name, "namespace": namespace, "uid": format!("uid-{name}"), "creationTimestamp": created,
        }));
        if !labels.is_empty() {
            metadata.insert("labels".into(), Value::Object(labels));
        }
        metadata
    }

    /// What a Pod asks of its node, devices left aside. The one that asks has more of it.
    fn spec(&mut self, is_asking: bool) -> Map<String, Value> {
        let mut spec = Map::new();
        spec.insert("schedulerName".into(), json!("default-scheduler"));
        spec.insert("restartPolicy".into(), json!("Always"));
        let containers: Vec<Value> =
            (0..self.dice.between(1, 2)).map(|index| self.container(index, is_asking)).collect();
        spec.insert("containers".into(), json!(containers));
        if self.dwells(Theme::Resources, 25) {
            let mut init = self.container(9, is_asking);
            if let (true, Some(map)) = (self.dice.chance(50), init.as_object_mut()) {
                map.insert("restartPolicy".into(), json!("Always"));
            }
            spec.insert("initContainers".into(), json!([init]));
        }
        if self.dwells(Theme::Resources, 15) {
            spec.insert("overhead".into(), json!({ "cpu": "50m", "memory": "32Mi" }));
        }
        if self.dwells(Theme::Resources, 15) {
            let requests =
                json!({ "cpu": self.dice.word(&["500m", "2"]), "memory": self.dice.word(&["512Mi", "3Gi"]) });
            spec.insert("resources".into(), json!({ "requests": requests }));
        }
        let affinity = self.affinity(is_asking);
        if !affinity.is_empty() {
            spec.insert("affinity".into(), Value::Object(affinity));
        }
        if !is_asking {
            return spec;
        }
        if self.dwells(Theme::Affinity, 40) {
            spec.insert("nodeSelector".into(), json!({ "disk": self.dice.word(&["ssd", "hdd"]) }));
        }
        let tolerations: Vec<Value> = (0..3).filter_map(|_| self.toleration()).collect();
        if !tolerations.is_empty() {
            spec.insert("tolerations".into(), json!(tolerations));
        }
        let spread: Vec<Value> = (0..2).filter_map(|_| self.spread()).collect();
        if !spread.is_empty() {
            spec.insert("topologySpreadConstraints".into(), json!(spread));
        }
        if self.dwells(Theme::Features, 50) {
            self.need_features(&mut spec);
        }
        if self.dwells(Theme::Images, 20) {
            let image = self.dice.word(&["model", "registry.example.com/large:2"]);
            spec.insert("volumes".into(), json!([{ "name": "model", "image": { "reference": image } }]));
        }
        spec
    }

    fn need_features(&mut self, spec: &mut Map<String, Value>) {
        match self.dice.word(&FEATURES).as_str() {
            "UserNamespacesHostNetworkSupport" => {
                spec.insert("hostNetwork".into(), json!(true));
                spec.insert("hostUsers".into(), json!(false));
            }
            "RestartAllContainersOnContainerExits" => {
                let rule =
                    json!({ "action": "RestartAllContainers", "exitCodes": { "operator": "In", "values": [3] } });
                if let Some(container) = spec.get_mut("containers").and_then(|all| all.get_mut(0))
                    && let Some(container) = container.as_object_mut()
                {
                    container.insert("restartPolicy".into(), json!("Never"));
                    container.insert("restartPolicyRules".into(), json!([rule]));
                }
            }
            _ => {}
        }
    }

    fn container(&mut self, index: u64, is_asking: bool) -> Value {
        let images = IMAGES.map(|(name, _)| name);
        let image = match self.dice.below(4) {
            0 => "registry.example.com/medium".to_owned(),
            1 => "registry.example.com:5000/huge".to_owned(),
            _ => self.dice.word(&images),
        };
        let mut requests = Map::new();
        let big = self.theme == Theme::Resources || self.theme == Theme::Preemption;
        if self.dice.chance(70) {
            let cpu = if big {
                self.dice.word(&["250m", "500m", "1", "1500m"])
            } else {
                self.dice.word(&["100m", "250m", "1"])
            };
            requests.insert("cpu".into(), json!(cpu));
        }
        if self.dice.chance(60) {
            let memory = if big {
                self.dice.word(&["256Mi", "1Gi", "1500Mi", "2G"])
            } else {
                self.dice.word(&["64Mi", "256Mi", "1G"])
            };
            requests.insert("memory".into(), json!(memory));
        }
        if self.dwells(Theme::Resources, 15) {
            requests.insert("ephemeral-storage".into(), json!(self.dice.word(&["500Mi", "2Gi"])));
        }
        if self.dwells(Theme::Resources, 15) {
            requests.insert("example.com/thing".into(), json!(self.dice.word(&["1", "2"])));
        }
        if self.dwells(Theme::Resources, 10) {
            requests.insert("hugepages-2Mi".into(), json!("4Mi"));
        }
        let mut container = without_nulls(json!({ "name": format!("c{index}"), "image": image }));
        if !requests.is_empty() {
            container.insert("resources".into(), json!({ "requests": requests }));
        }
        let likely = if is_asking { 80 } else { 30 };
        if self.dwells(Theme::Ports, likely) {
            let port = self.dice.between(8080, 8082);
            let mut port = without_nulls(json!({
                "containerPort": port, "hostPort": port, "protocol": self.dice.word(&["TCP", "TCP", "UDP"]),
            }));
            match self.dice.below(4) {
                0 => drop(port.insert("hostIP".into(), json!("127.0.0.1"))),
                1 => drop(port.insert("hostIP".into(), json!("0.0.0.0"))),
                2 => drop(port.insert("hostIP".into(), json!("10.0.0.1"))),
                _ => {}
            }
            container.insert("ports".into(), json!([port]));
        }
        Value::Object(container)
    }

    fn toleration(&mut self) -> Option<Value> {
        if !self.dwells(Theme::Taints, 50) {
            return None;
        }
        let mut toleration = match self.dice.below(8) {
            0 => json!({ "operator": "Exists" }),
            1 | 2 => json!({ "key": self.dice.word(&TAINTS), "operator": "Exists" }),
            3 => json!({ "key": "node.kubernetes.io/unschedulable", "operator": "Exists" }),
            4 => json!({ "key": self.dice.word(&TAINTS) }),
            _ => {
                json!({ "key": self.dice.word(&TAINTS), "operator": "Equal", "value": self.dice.word(&["blue", "green"]) })
            }
        };
        if let (true, Some(map)) = (self.dice.chance(50), toleration.as_object_mut()) {
            map.insert("effect".into(), json!(self.dice.word(&["NoSchedule", "PreferNoSchedule", "NoExecute"])));
        }
        Some(toleration)
    }

    fn affinity(&mut self, is_asking: bool) -> Map<String, Value> {
        let mut affinity = Map::new();
        let likely = if is_asking { 60 } else { 0 };
        let mut node = Map::new();
        if self.dwells(Theme::Affinity, likely) {
            let terms: Vec<Value> = (0..self.dice.between(1, 2)).map(|_| self.node_term()).collect();
            node.insert("requiredDuringSchedulingIgnoredDuringExecution".into(), json!({ "nodeSelectorTerms": terms }));
        }
        if self.dwells(Theme::Affinity, likely) {
            let terms: Vec<Value> = (0..self.dice.between(1, 3))
                .map(|_| json!({ "weight": self.dice.between(1, 100), "preference": self.node_term() }))
                .collect();
            node.insert("preferredDuringSchedulingIgnoredDuringExecution".into(), json!(terms));
        }
        if !node.is_empty() {
            affinity.insert("nodeAffinity".into(), Value::Object(node));
        }
        for (name, required, preferred) in [("podAffinity", 35, 40), ("podAntiAffinity", 35, 40)] {
            let (required, preferred) = if is_asking { (required, preferred) } else { (required / 3, preferred / 2) };
            let mut pods = Map::new();
            if self.dwells(Theme::Neighbours, required) {
                let terms: Vec<Value> = (0..self.dice.between(1, 2)).map(|_| self.pod_term()).collect();
                pods.insert("requiredDuringSchedulingIgnoredDuringExecution".into(), json!(terms));
            }
            if self.dwells(Theme::Neighbours, preferred) {
                let terms: Vec<Value> = (0..self.dice.between(1, 2))
                    .map(|_| json!({ "weight": self.dice.between(1, 100), "podAffinityTerm": self.pod_term() }))
                    .collect();
                pods.insert("preferredDuringSchedulingIgnoredDuringExecution".into(), json!(terms));
            }
            if !pods.is_empty() {
                affinity.insert(name.into(), Value::Object(pods));
            }
        }
        affinity
    }

    fn node_term(&mut self) -> Value {
        if self.dice.chance(10) {
            let names = self.nodes.clone();
            let mut name = || self.dice.pick(&names).cloned().unwrap_or_default();
            let (one, other) = (name(), name());
            let operator = self.dice.word(&["In", "In", "NotIn"]);
            let mut term =
                json!({ "matchFields": [{ "key": "metadata.name", "operator": operator, "values": [one] }] });
            if let (true, Some(map)) = (self.dice.chance(30), term.as_object_mut()) {
                map.insert(
                    "matchExpressions".into(),
                    json!([{ "key": "kubernetes.io/hostname", "operator": "NotIn",
                    "values": [other] }]),
                );
            }
            return term;
        }
        let expressions: Vec<Value> = (0..self.dice.between(1, 2))
            .map(|_| match self.dice.below(6) {
                0 => json!({ "key": "cores", "operator": self.dice.word(&["Gt", "Lt"]), "values": [self.dice.word(&["4", "8"])] }),
                1 => json!({ "key": self.dice.word(&["disk", "rack", "absent"]), "operator": self.dice.word(&["Exists", "DoesNotExist"]) }),
                2 => json!({ "key": "disk", "operator": "NotIn", "values": ["hdd"] }),
                3 => json!({ "key": "rack", "operator": "In", "values": ["r1", "r2"] }),
                _ => json!({ "key": "topology.kubernetes.io/zone", "operator": self.dice.word(&["In", "In", "NotIn"]),
                    "values": [self.dice.word(&["za", "zb", "zc"]), "za"] }),
            })
            .collect();
        json!({ "matchExpressions": expressions })
    }

    fn pod_term(&mut self) -> Value {
        let mut term = Map::new();
        term.insert("topologyKey".into(), json!(self.dice.word(&DOMAINS)));
        if self.dice.chance(95) {
            term.insert("labelSelector".into(), self.pod_selector());
        }
        match self.dice.below(10) {
            0 => drop(term.insert("namespaces".into(), json!([self.dice.word(&["other", "default", "third"])]))),
            1 => drop(term.insert("namespaceSelector".into(), json!({}))),
            2 => drop(term.insert(
                "namespaceSelector".into(),
                json!({ "matchLabels": { "team": self.dice.word(&["red", "blue"]) } }),
            )),
            3 => {
                term.insert("namespaces".into(), json!(["default"]));
                term.insert("namespaceSelector".into(), json!({ "matchLabels": { "team": "blue" } }));
            }
            _ => {}
        }
        Value::Object(term)
    }

    fn pod_selector(&mut self) -> Value {
        match self.dice.below(8) {
            0 => json!({}),
            1 => {
                json!({ "matchExpressions": [{ "key": "app", "operator": "NotIn", "values": [self.dice.word(&APPS)] }] })
            }
            2 => {
                json!({ "matchExpressions": [{ "key": "tier", "operator": self.dice.word(&["Exists", "DoesNotExist"]) }] })
            }
            3 => json!({ "matchLabels": { "app": self.dice.word(&APPS) },
                "matchExpressions": [{ "key": "app", "operator": "In", "values": ["a", "b"] }] }),
            _ => json!({ "matchLabels": { "app": self.dice.word(&APPS) } }),
        }
    }

    fn spread(&mut self) -> Option<Value> {
        if !self.dwells(Theme::Spread, 70) {
            return None;
        }
        let mut constraint = without_nulls(json!({
            "maxSkew": self.dice.between(1, 3),
            "topologyKey": self.dice.word(&DOMAINS),
            "whenUnsatisfiable": self.dice.word(&["DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": self.pod_selector(),
        }));
        if self.dice.chance(20) && constraint.get("whenUnsatisfiable") == Some(&json!("DoNotSchedule")) {
            constraint.insert("minDomains".into(), json!(self.dice.between(1, 5)));
        }
        if self.dice.chance(20) {
            constraint.insert("nodeAffinityPolicy".into(), json!(self.dice.word(&["Honor", "Ignore"])));
        }
        if self.dice.chance(20) {
            constraint.insert("nodeTaintsPolicy".into(), json!(self.dice.word(&["Honor", "Ignore"])));
        }
        Some(Value::Object(constraint))
    }
}
