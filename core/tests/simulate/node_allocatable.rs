//! Devices that take something of their node's own resources (KEP-5517).

use apportion_core::api::read::Json;
use apportion_core::profile::{Profile, Version};
use serde_json::{Value, json};

use crate::support::{CLASS, Ran, run_with, slice};

fn profile(version: Version) -> Profile {
    let mut profile = Profile::of(version);
    assert!(profile.features.set("DRANodeAllocatableResources", true));
    profile
}

fn node(name: &str, cpu: u32) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{ name: {name} }}\nstatus: {{ allocatable: {{ cpu: {cpu}, memory: 8Gi, pods: 9 }} }}\n---\n"
    )
}

/// A slice of which each device has further fields.
fn devices(node: &str, count: usize, fields: &str) -> String {
    let named = |slice: String, index: usize| {
        slice.replace(&format!("{{ name: gpu-{index} }}"), &format!("{{ name: gpu-{index}, {fields} }}"))
    };
    (0..count).fold(slice(node, count), named)
}

/// A Pod of which so many containers use one device, and the first asks for one CPU.
fn pod(name: &str, containers: usize, entry: &str) -> String {
    let containers: Vec<String> = (0..containers)
        .map(|index| {
            let requests = if index == 0 { ", requests: { cpu: 1 }" } else { "" };
            format!("{{ name: c{index}, resources: {{ claims: [{{ name: gpu }}]{requests} }} }}")
        })
        .collect();
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name} }}\nspec:\n  containers: [{}]\n  resourceClaims: [{{ name: gpu, {entry} }}]\n---\n",
        containers.join(", ")
    )
}

const OWN: &str = "resourceClaimTemplateName: one-gpu";

fn statuses(ran: &Ran, pod: &str) -> Value {
    let statuses = &ran.pod_object(pod).status.node_allocatable_resource_claim_statuses;
    let mut statuses: Vec<Value> = statuses.iter().filter_map(Json::write).collect();
    for status in &mut statuses {
        status.as_object_mut().unwrap().remove("resourceClaimName");
    }
    Value::Array(statuses)
}

#[test]
fn a_mapped_device_counts_as_the_nodes_cpu_up_to_1_36() {
    let fields = "nodeAllocatableResourceMappings: { cpu: { allocationMultiplier: '2' } }";
    let pods = ["a", "b"].map(|name| pod(name, 1, OWN)).concat();
    let objects = [CLASS, &devices("n1", 3, fields), &node("n1", 4), &pods].concat();
    let ran = run_with(&objects, profile(Version::V1_36));
    assert_eq!(ran.pod("a").node.as_deref(), Some("n1"));
    assert_eq!(statuses(&ran, "a"), json!([{ "containers": ["c0"], "resources": { "cpu": "2" } }]));
    // 3 of 4 CPUs are taken, and there are two devices left.
    let message = &ran.pod("b").reasons.last().unwrap().message;
    assert!(message.starts_with("0/1 nodes are available: 1 Insufficient cpu. still not"), "{message}");
    // Without the feature the device is only a device.
    let ran = run_with(&objects, Profile::of(Version::V1_36));
    assert_eq!(ran.pod("b").node.as_deref(), Some("n1"));
    assert_eq!(statuses(&ran, "b"), json!([]));
}

#[test]
fn another_node_is_taken_where_the_first_has_no_room() {
    let fields = "nodeAllocatableResources: { cpu: { mapping: { deviceMultiplier: '2' } } }";
    let slices = [devices("n1", 1, fields), devices("n2", 1, fields)].concat();
    let objects = [CLASS, &slices, &node("n1", 2), &node("n2", 3), &pod("a", 1, OWN)].concat();
    let ran = run_with(&objects, profile(Version::V1_37));
    assert_eq!(ran.pod("a").node.as_deref(), Some("n2"));
    let mapping = json!([{ "name": "cpu", "quantity": "2" }]);
    assert_eq!(statuses(&ran, "a"), json!([{ "containers": ["c0"], "mapping": mapping }]));
}

#[test]
fn overhead_counts_per_pod_and_per_container() {
    let fields = "nodeAllocatableResources: { cpu: { overhead: { perPod: '1', perContainer: 500m } } }";
    let fits = |cpu| {
        let objects = [CLASS, &devices("n1", 1, fields), &node("n1", cpu), &pod("a", 2, OWN)].concat();
        run_with(&objects, profile(Version::V1_37)).pod("a").node.is_some()
    };
    // One CPU of the container, one for the Pod, a half for each container.
    assert!(fits(3) && !fits(2));
}

#[test]
fn what_is_consumed_of_a_capacity_counts() {
    let fields = "allowMultipleAllocations: true, capacity: { cores: { value: '8' } }, \
                  nodeAllocatableResources: { cpu: { mapping: { capacityKey: cores, capacityMultiplier: 500m } } }";
    let template = "
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { namespace: default, name: cores }
spec: { spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu.example.com, capacity: { requests: { cores: '3' } } } }] } } }
---
";
    let pods = ["a", "b"].map(|name| pod(name, 1, "resourceClaimTemplateName: cores")).concat();
    let objects = [CLASS, template, &devices("n1", 1, fields), &node("n1", 4), &pods].concat();
    let ran = run_with(&objects, profile(Version::V1_37));
    // One CPU and a half of three.
    assert_eq!(
        statuses(&ran, "a"),
        json!([{ "containers": ["c0"], "mapping": [{ "name": "cpu", "quantity": "1500m" }] }])
    );
    assert_eq!(ran.pod("b").node, None);
}

#[test]
fn a_mapped_device_is_for_one_pod_and_overhead_for_all() {
    let claim = "
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { namespace: default, name: both }
spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu.example.com } }] } }
---
";
    let second = |fields: &str| {
        let pods = ["a", "b"].map(|name| pod(name, 1, "resourceClaimName: both")).concat();
        let objects = [CLASS, claim, &devices("n1", 1, fields), &node("n1", 8), &pods].concat();
        let ran = run_with(&objects, profile(Version::V1_37));
        assert_eq!(ran.pod("a").node.as_deref(), Some("n1"));
        ran.pod("b").reasons.last().map(|reason| reason.message.clone())
    };
    let message = second("nodeAllocatableResources: { cpu: { mapping: { deviceMultiplier: '1' } } }").unwrap();
    let expected = "0/1 nodes are available: 1 node allocatable resource claim both has a mapped device and cannot be shared across pods.";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(second("nodeAllocatableResources: { cpu: { overhead: { perPod: '1' } } }"), None);
}

#[test]
fn the_pod_as_a_whole_must_ask_for_enough() {
    let fields = "nodeAllocatableResources: { cpu: { mapping: { deviceMultiplier: '2' } } }";
    let pod = |cpu: &str| {
        pod("a", 1, OWN).replace("spec:\n", &format!("spec:\n  resources: {{ requests: {{ cpu: {cpu} }} }}\n"))
    };
    let ran = |cpu| {
        let objects = [CLASS, &devices("n1", 1, fields), &node("n1", 8), &pod(cpu)].concat();
        run_with(&objects, profile(Version::V1_37))
    };
    assert_eq!(ran("3").pod("a").node.as_deref(), Some("n1"));
    let message = ran("2500m").pod("a").reasons.last().unwrap().message.clone();
    assert!(
        message.contains("1 pod level request for cpu is insufficient to cover the aggregated container"),
        "{message}"
    );
}
