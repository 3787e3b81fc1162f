//! What the API server would refuse is said by every command, and is never taken for what was not given.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::io::Write;
use std::process::{Command, Stdio};

const CLUSTER: &str = "\
{apiVersion: v1, kind: Node, metadata: {name: node-a}, status: {allocatable: {cpu: '8', memory: 32Gi, pods: '110'}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: node-a}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {name: node-a, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: ml}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml}
spec:
  containers: [{name: main, image: registry.example/main:1}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
";

/// Both outputs and the exit code of a command that reads manifests from standard input.
fn said(manifests: &str, arguments: &[&str]) -> (String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apportion"));
    command.args(arguments).args(["--native", "-f", "-"]).env_clear();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(manifests.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8(text).unwrap().split_whitespace().collect::<Vec<_>>().join(" "), output.status.code().unwrap())
}

#[test]
fn a_pod_with_an_unknown_priority_class_is_an_error_everywhere() {
    let manifests = CLUSTER.replace("  containers:", "  priorityClassName: hihg\n  containers:");
    for command in ["run", "explain", "usage"] {
        let (text, code) = said(&manifests, &[command]);
        assert_eq!(code, 1, "{command}: {text}");
        assert!(text.contains("no PriorityClass with name hihg was found"), "{command}: {text}");
        assert!(text.contains("did you mean `high`?"), "{command}: {text}");
    }
}

#[test]
fn a_refused_slice_is_named_where_devices_are_missing() {
    let manifests = CLUSTER.replace("gpu-0", "GPU_0");
    let (text, code) = said(&manifests, &["run"]);
    assert!(code == 1 && text.contains("ResourceSlice `node-a` was refused"), "{text}");
    let (text, _) = said(&manifests, &["explain"]);
    assert!(text.contains("asks for a GPU, and the only ResourceSlice, `node-a`, was refused"), "{text}");
}

#[test]
fn a_refused_node_is_not_inferred() {
    let (text, code) =
        said(&CLUSTER.replace("name: node-a}, status", "name: node-a, labels: {gpu: true}}, status"), &["run"]);
    assert!(code == 1 && !text.contains("inferred"), "{text}");
    assert!(text.contains("1 Pod: it is Pending"), "{text}");
}

#[test]
fn a_namespace_without_pods_is_not_an_empty_cluster() {
    let (text, _) = said(CLUSTER, &["run", "-n", "other"]);
    assert!(text.starts_with("No Pod is in namespace `other`"), "{text}");
    assert!(said(CLUSTER, &["run", "-n", "ml"]).0.starts_with("1 Pod: it has a node"));
}

#[test]
fn pods_that_were_evicted_are_not_pods_that_were_not_given() {
    let rule = "---
apiVersion: resource.k8s.io/v1beta2
kind: DeviceTaintRule
metadata: {name: maintenance}
spec: {deviceSelector: {driver: gpu.example.com}, taint: {key: maintenance, effect: NoExecute}}
";
    let tolerating = "deviceClassName: gpu, tolerations: [{key: maintenance, operator: Exists, tolerationSeconds: 60}]";
    let manifests = [&CLUSTER.replace("deviceClassName: gpu", tolerating), rule].concat();
    let (text, _) = said(&manifests, &["run"]);
    assert!(text.starts_with("No Pod is left"), "{text}");
}
