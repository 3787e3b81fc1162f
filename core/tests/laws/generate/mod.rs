//! Small clusters from seeds, in which all features meet.

mod claims;
mod devices;
pub(crate) mod dice;
mod faults;
mod groups;
pub(crate) mod places;
mod pods;
mod workloads;

use dice::Dice;
pub(crate) use faults::FAULTS;
use serde_json::{Value, json};

/// Settings and objects, as a user would give them.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The seed that it is of.
    pub(crate) seed: u64,
    /// Settings of an engine.
    pub(crate) settings: Value,
    /// Objects in the order of the input.
    pub(crate) objects: Vec<Value>,
}

/// A device that may be given out.
#[derive(Clone, Debug)]
struct Offer {
    class: &'static str,
    driver: &'static str,
    pool: String,
    device: String,
    node: String,
}

/// What is being made.
struct Maker {
    dice: Dice,
    version: &'static str,
    gates: Vec<(&'static str, bool)>,
    is_dump: bool,
    objects: Vec<Value>,
    nodes: Vec<String>,
    classes: Vec<&'static str>,
    /// Devices that nobody has.
    free: Vec<Offer>,
    /// Namespace and name of claims without devices.
    claims: Vec<(String, String)>,
    templates: Vec<(String, String)>,
    cluster_templates: Vec<String>,
    /// Namespace, name, and the entries of its claims.
    groups: Vec<(String, String, Vec<Value>)>,
    /// Objects without a name of their own so far.
    count: usize,
}

const NAMESPACES: [&str; 2] = ["ml", "lab"];

/// Time of creation of what a dump holds.
const CREATED: &str = "2026-03-01T10:00:00Z";

/// The cluster of a seed.
pub(crate) fn generate(seed: u64) -> Case {
    let mut dice = Dice(seed.wrapping_mul(0xD134_2543_DE82_EF95) ^ 0x5EED);
    let version = *dice.pick(&["all", "all", "all", "1.34", "1.35", "1.36", "1.36", "1.37", "1.37"]);
    let is_dump = dice.chance(40);
    let mut maker = Maker {
        dice,
        version,
        gates: Vec::new(),
        is_dump,
        objects: Vec::new(),
        nodes: Vec::new(),
        classes: Vec::new(),
        free: Vec::new(),
        claims: Vec::new(),
        templates: Vec::new(),
        cluster_templates: Vec::new(),
        groups: Vec::new(),
        count: 0,
    };
    maker.namespaces();
    maker.make_nodes();
    maker.make_devices();
    maker.make_claims();
    maker.make_groups();
    maker.make_pods();
    maker.make_workloads();
    maker.lose_kinds();
    if maker.dice.chance(35) {
        maker.spoil();
    }
    if maker.dice.chance(30) {
        // A user's files come in any order.
        let Maker { dice, objects, .. } = &mut maker;
        dice.shuffle(objects);
    }
    let settings = maker.settings();
    Case { seed, settings, objects: maker.objects }
}

impl Maker {
    fn chance(&mut self, percent: usize) -> bool {
        self.dice.chance(percent)
    }

    fn namespace(&mut self) -> String {
        (*self.dice.pick(&NAMESPACES[..])).to_owned()
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.count += 1;
        format!("{prefix}-{}", self.count)
    }

    /// An object, with what an API server adds where it is one of a dump.
    fn add(&mut self, api_version: &str, kind: &str, namespace: &str, name: &str, spec: Value) -> &mut Value {
        let mut object = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name }, "spec": spec });
        if !namespace.is_empty() {
            object["metadata"]["namespace"] = json!(namespace);
        }
        if self.is_dump {
            object["metadata"]["uid"] = json!(uid(kind, namespace, name));
            object["metadata"]["resourceVersion"] = json!((self.objects.len() + 100).to_string());
            object["metadata"]["creationTimestamp"] = json!(CREATED);
        }
        self.objects.push(object);
        self.objects.last_mut().unwrap()
    }

    fn settings(&mut self) -> Value {
        const OFTEN: [&str; 14] = [
            "DRAAdminAccess",
            "DRAPrioritizedList",
            "DRAPartitionableDevices",
            "DRADeviceTaints",
            "DRADeviceTaintRules",
            "DRADeviceBindingConditions",
            "DRAConsumableCapacity",
            "DRAListTypeAttributes",
            "DRAExtendedResource",
            "DRAWorkloadResourceClaims",
            "GenericWorkload",
            "GangScheduling",
            "WorkloadWithJob",
            "DRAResourceClaimDeviceStatus",
        ];
        let mut gates = serde_json::Map::new();
        for (gate, on) in &self.gates {
            gates.insert((*gate).to_owned(), json!(on));
        }
        if self.chance(50) {
            for _ in 0..1 + self.dice.below(3) {
                let gate = *self.dice.pick(&OFTEN);
                // Of everything something is off; of a version mostly something more is on.
                let on = self.version != "all" && self.chance(65);
                gates.insert(gate.to_owned(), json!(on));
            }
        }
        let mut settings = json!({ "version": self.version, "featureGates": gates });
        if self.chance(10) {
            settings["mode"] = json!("reference");
        }
        settings
    }

    fn namespaces(&mut self) {
        for name in NAMESPACES {
            if !self.chance(75) {
                continue;
            }
            let mut labels = json!({});
            if self.chance(45) {
                labels["team"] = json!("research");
            }
            if self.chance(35) {
                labels["resource.kubernetes.io/admin-access"] = json!("true");
            } else if self.chance(20) {
                labels["resource.k8s.io/admin-access"] = json!("true");
            }
            self.add("v1", "Namespace", "", name, json!({}))["metadata"]["labels"] = labels;
        }
        for (name, value) in [("urgent", 1000), ("idle", -10)] {
            if self.chance(25) {
                let class = self.add("scheduling.k8s.io/v1", "PriorityClass", "", name, Value::Null);
                class.as_object_mut().unwrap().remove("spec");
                class["value"] = json!(value);
            }
        }
    }

    fn make_nodes(&mut self) {
        let most = if self.chance(80) { 3 } else { 6 };
        let count = 1 + self.dice.below(most);
        // Nodes that nobody gives are inferred from slices.
        let is_inferred = !self.is_dump && self.chance(15);
        for number in 0..count {
            let name = format!("n{number}");
            self.nodes.push(name.clone());
            if is_inferred {
                continue;
            }
            let cpu = *self.dice.pick(&["1", "2", "4", "16"]);
            let mut spec = json!({});
            if self.chance(8) {
                spec["unschedulable"] = json!(true);
            }
            if self.chance(10) {
                let effect = *self.dice.pick(&["NoSchedule", "NoExecute"]);
                spec["taints"] = json!([{ "key": "example.com/dirty", "value": "yes", "effect": effect }]);
            }
            let mut resources =
                json!({ "cpu": cpu, "memory": "16Gi", "pods": if self.chance(10) { "2" } else { "110" } });
            if self.chance(8) {
                resources["example.com/gpu"] = json!("1");
            }
            let zone = format!("z{}", number % 2);
            let node = self.add("v1", "Node", "", &name, spec);
            node["metadata"]["labels"] = json!({ "kubernetes.io/hostname": name, "zone": zone });
            node["status"] = json!({ "allocatable": resources, "capacity": resources,
                "conditions": [{ "type": "Ready", "status": "True" }] });
        }
    }

    /// Leaves out kinds, as a dump does that somebody took with too few arguments.
    fn lose_kinds(&mut self) {
        if !self.chance(10) {
            return;
        }
        let lost: &[&str] = match self.dice.below(7) {
            0 => &["Node"],
            1 => &["ResourceSlice"],
            2 => &["DeviceClass"],
            3 => &["ResourceClaim"],
            4 => &["ResourceClaimTemplate", "ClusterResourceClaimTemplate"],
            5 => &["PodGroup", "Workload", "Namespace"],
            _ => {
                self.objects.retain(|object| object["kind"] == "Pod");
                return;
            }
        };
        self.objects.retain(|object| !lost.iter().any(|kind| object["kind"] == *kind));
    }
}

/// The id that an object of a dump has.
fn uid(kind: &str, namespace: &str, name: &str) -> String {
    let mut dice = Dice(0);
    for byte in format!("{kind}/{namespace}/{name}").bytes() {
        dice.0 = dice.0.wrapping_mul(131).wrapping_add(u64::from(byte));
    }
    let (high, low) = (dice.next(), dice.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff
    )
}
