//! Extended resources that devices serve.

use apportion_core::finding::Code;
use apportion_core::profile::{Profile, Version};

use crate::support::{run, run_with, slice};

const CLASS: &str = "
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: gpu }
spec:
  extendedResourceName: example.com/gpu
  selectors: [{ cel: { expression: 'device.driver == \"gpu.example.com\"' } }]
---
";

fn node(name: &str, offered: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{ name: {name} }}\nstatus: {{ allocatable: {{ cpu: 8, memory: 8Gi, pods: 9{offered} }} }}\n---\n"
    )
}

fn pod(name: &str, resource: &str, count: u32) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name} }}\nspec:\n  containers:\n  - name: c\n    resources: {{ limits: {{ {resource}: {count} }} }}\n---\n"
    )
}

#[test]
fn a_claim_that_nobody_wrote_serves_the_pods_resources() {
    let ran = run(&[CLASS, &slice("node-1", 2), &node("node-1", ""), &pod("a", "example.com/gpu", 2)].concat());
    assert_eq!(ran.pod("a").node.as_deref(), Some("node-1"));
    let status = ran.pod_object("a").status.extended_resource_claim_status.clone().unwrap();
    assert!(status.resource_claim_name.starts_with("a-extended-resources-"), "{}", status.resource_claim_name);
    let mapping = status.request_mappings[0].clone();
    assert_eq!(mapping["containerName"], "c");
    assert_eq!(mapping["resourceName"], "example.com/gpu");
    assert_eq!(mapping["requestName"], "container-0-request-0");
    let claim = ran.claim_object("default", &status.resource_claim_name);
    assert_eq!(claim.metadata.annotations["resource.kubernetes.io/extended-resource-claim"], "true");
    assert_eq!(claim.metadata.owner_references[0].name, "a");
    assert_eq!(claim.status.reserved_for[0].name, "a");
    let devices = &claim.status.allocation.as_ref().unwrap().devices.results;
    assert_eq!(devices.iter().map(|device| device.device.as_str()).collect::<Vec<_>>(), ["gpu-0", "gpu-1"]);
    assert_eq!(ran.pod("a").claims[0].claim.as_ref(), Some(&status.resource_claim_name));
}

#[test]
fn a_pod_waits_when_the_devices_are_taken() {
    let pods = [pod("a", "example.com/gpu", 2), pod("b", "example.com/gpu", 1)].concat();
    let ran = run(&[CLASS, &slice("node-1", 2), &node("node-1", ""), &pods].concat());
    assert_eq!(ran.pod("b").node, None);
    let message = ran.pod("b").reasons.last().unwrap();
    assert_eq!(message.code, Code::RunSchedulerMessage);
    let expected = "0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes are available: \
                    1 Preemption is not helpful for scheduling.";
    assert_eq!(message.message, expected);
}

#[test]
fn a_device_plugin_serves_the_resource_on_its_node() {
    let nodes = [node("node-1", ", example.com/gpu: 1"), node("node-2", "")].concat();
    let pods = [pod("a", "example.com/gpu", 1), pod("b", "example.com/gpu", 1)].concat();
    let ran = run(&[CLASS, &slice("node-2", 2), &nodes, &pods].concat());
    assert_eq!(ran.pod("a").node.as_deref(), Some("node-1"));
    assert_eq!(ran.pod("a").claims, []);
    assert_eq!(ran.pod("b").node.as_deref(), Some("node-2"));
    assert_eq!(ran.pod("b").claims.len(), 1);
}

#[test]
fn every_class_serves_a_resource_of_its_own_name() {
    let resource = "deviceclass.resource.kubernetes.io/gpu";
    let ran = run(&[CLASS, &slice("node-1", 1), &node("node-1", ""), &pod("a", resource, 1)].concat());
    assert_eq!(ran.pod("a").node.as_deref(), Some("node-1"));
}

#[test]
fn without_the_feature_a_node_must_offer_the_resource() {
    let objects = [CLASS, &slice("node-1", 2), &node("node-1", ""), &pod("a", "example.com/gpu", 2)].concat();
    let ran = run_with(&objects, Profile::of(Version::V1_35));
    assert_eq!(ran.reason("a").code, Code::RunNodeUnsuitable);
}
