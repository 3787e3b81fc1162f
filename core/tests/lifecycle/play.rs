//! Manifests and time in, a simulated cluster out.

use apportion_core::allocate::Limits;
use apportion_core::api::claim::ResourceClaim;
use apportion_core::api::group::PodGroup;
use apportion_core::api::pod::Pod;
use apportion_core::control_plane::{Component, Settled, Simulation};
use apportion_core::decision::{Patch, Time};
use apportion_core::finding::ObjectRef;
use apportion_core::profile::{Profile, Version};
use serde_json::{Value, json};

/// The namespace of all objects that name none.
pub(crate) const NS: &str = "default";

/// Kinds without a namespace.
const CLUSTER_WIDE: [&str; 8] = [
    "Node",
    "Namespace",
    "DeviceClass",
    "ResourceSlice",
    "DeviceTaintRule",
    "ClusterResourceClaimTemplate",
    "ResourcePoolStatusRequest",
    "PriorityClass",
];

/// One node with four GPUs and two network cards.
pub(crate) const WORLD: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: node-1, labels: {kubernetes.io/hostname: node-1}}
status: {allocatable: {cpu: "16", memory: 64Gi, pods: "110"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: slice-1}
spec:
  driver: gpu.example.com
  nodeName: node-1
  pool: {name: node-1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-1}, {name: gpu-2}, {name: gpu-3}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu-template, namespace: default, labels: {}}
spec:
  metadata: {labels: {team: ml}, annotations: {note: copied}}
  spec: {devices: {requests: [{name: req, exactly: {deviceClassName: gpu}}]}}
"#;

/// A simulated cluster under test.
pub(crate) struct Play {
    pub(crate) simulation: Simulation,
}

impl Play {
    /// The world above, with everything on, of the newest version.
    pub(crate) fn new() -> Self {
        Self::with(profile())
    }

    /// The world above.
    pub(crate) fn with(profile: Profile) -> Self {
        let simulation = Simulation::new(profile, Limits::default(), Time::from_seconds(1_750_000_000));
        let mut play = Self { simulation };
        play.apply(WORLD);
        play
    }

    /// Creates objects; each must be taken.
    pub(crate) fn apply(&mut self, yaml: &str) {
        for object in documents(yaml) {
            self.create(object).unwrap();
        }
        self.run(0);
    }

    /// Creates one object.
    pub(crate) fn create(&mut self, mut object: Value) -> Result<(), String> {
        let is_namespaced = !CLUSTER_WIDE.contains(&object["kind"].as_str().unwrap());
        if is_namespaced && object["metadata"].get("namespace").is_none() {
            object["metadata"]["namespace"] = json!(NS);
        }
        let now = self.simulation.now();
        self.simulation.server_mut().create(object, now).map(|_| ()).map_err(|refused| refused.message)
    }

    /// Lets seconds pass.
    pub(crate) fn run(&mut self, seconds: i64) {
        let until = self.simulation.now().plus_seconds(seconds);
        assert_eq!(self.simulation.run_until(until), Settled::Quiet);
    }

    /// Deletes an object; its kubelet, if it is a Pod, ends it at once.
    pub(crate) fn delete(&mut self, kind: &str, name: &str) {
        let now = self.simulation.now();
        let grace = (kind == "Pod").then_some(0);
        self.simulation.server_mut().delete(&key(kind, name), "", grace, now).unwrap();
        self.run(3);
    }

    /// Merges fields into an object.
    pub(crate) fn patch(&mut self, kind: &str, name: &str, status: bool, fields: Value) {
        let patch = Patch::merge(key(kind, name), status, fields);
        let now = self.simulation.now();
        self.simulation.server_mut().patch(&patch, now).unwrap();
        self.run(3);
    }

    /// Restarts a component with some features changed.
    pub(crate) fn restart(&mut self, component: Component, change: impl FnOnce(&mut Profile)) {
        let mut profile = profile();
        change(&mut profile);
        self.simulation.restart(component, profile);
        self.run(3);
    }

    pub(crate) fn claims(&self) -> Vec<&ResourceClaim> {
        self.simulation.server().cluster().claims().values().map(|claim| &**claim).collect()
    }

    /// The only claim.
    pub(crate) fn claim(&self) -> &ResourceClaim {
        match self.claims().as_slice() {
            [claim] => claim,
            claims => panic!("{} claims", claims.len()),
        }
    }

    pub(crate) fn named_claim(&self, name: &str) -> &ResourceClaim {
        self.simulation.server().cluster().claims().get(&(NS.to_owned(), name.to_owned())).unwrap()
    }

    pub(crate) fn pod(&self, name: &str) -> &Pod {
        self.simulation.server().cluster().pods().get(&(NS.to_owned(), name.to_owned())).unwrap()
    }

    pub(crate) fn group(&self, name: &str) -> Option<&PodGroup> {
        self.simulation.server().cluster().pod_groups().get(&(NS.to_owned(), name.to_owned()))
    }

    /// Notes of recorded Events with a reason.
    pub(crate) fn notes(&self, reason: &str) -> Vec<String> {
        let events = self.simulation.server().events().iter();
        events.filter(|(event, _)| event.reason == reason).map(|(event, _)| event.note.clone()).collect()
    }

    /// Status and reason of a condition.
    pub(crate) fn condition(&self, conditions: &[Value], kind: &str) -> Option<(String, String)> {
        let found = conditions.iter().find(|condition| condition["type"] == kind)?;
        let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
        Some((text("status"), text("reason")))
    }
}

/// Everything on, without the texts of group preemption.
pub(crate) fn profile() -> Profile {
    let mut profile = Profile::of(Version::All);
    profile.features.workload_aware_preemption = false;
    profile
}

/// Kind and name in the one namespace, or in none.
pub(crate) fn key(kind: &str, name: &str) -> ObjectRef {
    let namespace = if CLUSTER_WIDE.contains(&kind) { "" } else { NS };
    ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}

/// Documents of a YAML text.
pub(crate) fn documents(yaml: &str) -> Vec<Value> {
    let reading = apportion_yaml::read(yaml.as_bytes(), &apportion_yaml::Limits::default());
    assert_eq!(reading.problems, [], "{yaml}");
    reading.documents.into_iter().map(|document| document.value).collect()
}

/// A Pod with one claim entry, in a PodGroup unless that is empty.
pub(crate) fn pod(name: &str, entry: &str, group: &str) -> String {
    let member =
        if group.is_empty() { String::new() } else { format!("\n  schedulingGroup: {{podGroupName: {group}}}") };
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers: [{{name: c, resources: {{claims: [{{name: gpu}}]}}}}]\n  resourceClaims: [{{name: gpu, {entry}}}]{member}\n"
    )
}

/// A PodGroup with one claim entry.
pub(crate) fn group(name: &str, policy: &str, entry: &str) -> String {
    format!(
        "---\napiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {{name: {name}}}\nspec:\n  schedulingPolicy: {{{policy}}}\n  resourceClaims: [{{name: gpu, {entry}}}]\n"
    )
}

/// The entry that most tests use.
pub(crate) const TEMPLATE: &str = "resourceClaimTemplateName: gpu-template";
