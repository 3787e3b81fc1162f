//! Nodes, given and inferred, and what an ordinary scheduler asks of them.

use apportion_core::explain::Explanation;
use apportion_core::finding::Code;
use apportion_core::profile::{Profile, Version};

use crate::support::{CLASS, Ran, codes, gpu_pod, pod, run, run_first, run_with, slice};

#[test]
fn nodes_are_inferred_from_slices_where_none_is_given() {
    let ran = run(&format!("{}{}{}", slice("b", 2), slice("a", 1), pod("p", "")));
    assert_eq!(ran.node_names(), ["a", "b"]);
    assert!(ran.report.nodes.iter().all(|node| node.inferred));
    assert_eq!(ran.report.nodes[1].local_devices, 2);
    assert_eq!(ran.finding(Code::RunNodesInferred).message, "no Node object is given, 2 nodes are inferred: `a`, `b`");
    assert_eq!(ran.pod("p").node.as_deref(), Some("a"));
}

#[test]
fn a_node_that_nothing_names_is_invented_and_what_brings_the_real_ones_is_named() {
    let ran = run(&format!("{CLASS}{}", gpu_pod("p")));
    let note = ran.finding(Code::RunNodesInferred);
    let is_of = note.object.as_ref().map(|object| (object.kind.as_str(), object.name.as_str()));
    assert_eq!(is_of, Some(("Node", "node-0")));
    let hint = note.hint.as_deref().unwrap();
    assert!(hint.starts_with("`node-0` is invented") && hint.contains("`kubectl get nodes,resourceslices -o yaml`"));
    let reason = ran.reason("p");
    let claim = &ran.report.claims[0].name;
    let wanted = format!("request `gpu` of claim `{claim}` needs 1 device, and the input has no ResourceSlice");
    assert_eq!(reason.message, wanted);
    assert!(reason.hint.as_deref().unwrap().contains("`kubectl get nodes,resourceslices -o yaml`"));
}

#[test]
fn r_315_selectors_and_devices_name_nodes_too() {
    let ran = run("
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: by-hostname }
spec:
  driver: d.example.com
  nodeSelector: { nodeSelectorTerms: [
    { matchExpressions: [{ key: kubernetes.io/hostname, operator: In, values: [h1, h2] }, { key: rack, operator: In, values: [r7] }] } ] }
  pool: { name: p1, generation: 1, resourceSliceCount: 1 }
  devices: [{ name: d }]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: by-field }
spec:
  driver: d.example.com
  nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: metadata.name, operator: In, values: [f1] }] }] }
  pool: { name: p2, generation: 1, resourceSliceCount: 1 }
  devices: [{ name: d }]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: per-device }
spec:
  driver: d.example.com
  perDeviceNodeSelection: true
  pool: { name: p3, generation: 1, resourceSliceCount: 1 }
  devices: [{ name: d, nodeName: d1 }]
");
    assert_eq!(ran.node_names(), ["d1", "f1", "h1", "h2"]);
    assert_eq!(ran.engine.cluster().nodes().get("h2").unwrap().metadata.labels["rack"], "r7");
}

#[test]
fn a_selector_on_other_labels_gets_a_node_that_it_matches() {
    let selector = "
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: s }
spec:
  driver: d.example.com
  nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [
    { key: zone, operator: In, values: [a, b] }, { key: slots, operator: Gt, values: ['3'] },
    { key: fabric, operator: Exists }, { key: old, operator: DoesNotExist } ] }] }
  pool: { name: p, generation: 1, resourceSliceCount: 1 }
  devices: [{ name: d }]
";
    let ran = run(selector);
    assert_eq!(ran.node_names(), ["node-0"]);
    let labels = &ran.engine.cluster().nodes().get("node-0").unwrap().metadata.labels;
    assert_eq!((labels["zone"].as_str(), labels["slots"].as_str()), ("a", "4"));

    let with_other = run(&format!("{}{selector}", slice("node-0", 1)));
    assert_eq!(with_other.node_names(), ["node-0", "node-1"]);
}

#[test]
fn without_any_name_there_is_one_node() {
    let all_nodes = "
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: s }
spec:
  driver: d.example.com
  allNodes: true
  pool: { name: p, generation: 1, resourceSliceCount: 1 }
  devices: [{ name: d }]
";
    assert_eq!(run(all_nodes).node_names(), ["node-0"]);
    assert_eq!(run(&pod("p", "")).node_names(), ["node-0"]);
}

#[test]
fn given_nodes_are_the_only_ones_and_others_are_said() {
    let node = "apiVersion: v1\nkind: Node\nmetadata: { name: a }\n---\n";
    let ran = run(&format!("{node}{}{}", slice("a", 1), slice("b", 1)));
    assert_eq!(ran.node_names(), ["a"]);
    assert!(!ran.report.nodes[0].inferred && !ran.has(Code::RunNodesInferred));
    assert_eq!(ran.finding(Code::RunUnknownNodes).message, "slices name nodes that are not given: `b`");
}

#[test]
fn nodes_given_after_a_run_replace_inferred_ones() {
    let mut ran = run(&format!("{}{}", slice("a", 1), pod("p", "")));
    crate::support::apply(&mut ran.engine, "apiVersion: v1\nkind: Node\nmetadata: { name: b }");
    let names: Vec<String> = ran.engine.run().nodes.into_iter().map(|node| node.name).collect();
    assert_eq!(names, ["b"]);
}

fn node(name: &str, more: &str) -> String {
    format!("apiVersion: v1\nkind: Node\nmetadata: {{ name: {name}, labels: {{ zone: z-{name} }} }}\n{more}\n---\n")
}

#[test]
fn r_326_a_node_selector_chooses_the_node() {
    let nodes = [node("a", ""), node("b", ""), node("c", "")].concat();
    let by_label = pod("p", "  nodeSelector: { zone: z-b }");
    assert_eq!(run(&format!("{nodes}{by_label}")).pod("p").node.as_deref(), Some("b"));
    let affinity = pod(
        "p",
        "  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [
    { matchExpressions: [{ key: zone, operator: NotIn, values: [z-a, z-b] }] } ] } } }",
    );
    assert_eq!(run(&format!("{nodes}{affinity}")).pod("p").node.as_deref(), Some("c"));
    let nowhere = run(&format!("{nodes}{}", pod("p", "  nodeSelector: { zone: none }")));
    assert_eq!(codes(&nowhere.pod("p").reasons), [Code::RunNodeUnsuitable, Code::RunSchedulerMessage]);
    assert!(
        nowhere.pod("p").reasons[1]
            .message
            .starts_with("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. "),
        "{}",
        nowhere.pod("p").reasons[1].message
    );
}

/// Kubernetes 1.34 to 1.37 do not name the taints, so nodes with different ones are counted together.
#[test]
fn nodes_with_different_taints_are_counted_together() {
    let tainted = |name, key| node(name, &format!("spec: {{ taints: [{{ key: {key}, effect: NoSchedule }}] }}"));
    let ran = run(&[tainted("a", "one"), tainted("b", "other"), pod("p", "")].concat());
    let says = &ran.pod("p").reasons.last().unwrap().message;
    assert!(says.starts_with("0/2 nodes are available: 2 node(s) had untolerated taint(s). "), "{says}");
}

#[test]
fn taints_and_cordons_keep_pods_off() {
    let nodes = [
        node("a", "spec: { taints: [{ key: dedicated, value: x, effect: NoSchedule }] }"),
        node("b", "spec: { unschedulable: true }"),
        node("c", "spec: { taints: [{ key: soft, effect: PreferNoSchedule }] }"),
    ]
    .concat();
    assert_eq!(run(&format!("{nodes}{}", pod("p", ""))).pod("p").node.as_deref(), Some("c"));
    let tolerant = pod("p", "  tolerations: [{ key: dedicated, operator: Equal, value: x }]");
    assert_eq!(run(&format!("{nodes}{tolerant}")).pod("p").node.as_deref(), Some("a"));
}

/// A node that is not well is repaired: nobody is sent there.
#[test]
fn taints_that_say_how_a_node_is_are_not_to_be_tolerated() {
    let suggested = |ran: &Ran| -> Vec<String> {
        let answer = ran.engine.inquire(serde_json::json!({ "kind": "explain", "suggestions": true })).unwrap();
        let explained: Vec<Explanation> = serde_json::from_value(answer).unwrap();
        explained.into_iter().flat_map(|one| one.suggestions).map(|one| one.text).collect()
    };
    // Complete, so that it can be applied again.
    let whole =
        "apiVersion: v1\nkind: Pod\nmetadata: { name: p }\nspec: { containers: [{ name: c, image: x }] }\n---\n";
    let tainted = |key: &str| node("a", &format!("spec: {{ taints: [{{ key: {key}, effect: NoSchedule }}] }}"));
    for (key, hint) in [
        (
            "node.kubernetes.io/unreachable",
            "Kubernetes takes it away once the node is well again: see `kubectl describe node a`",
        ),
        ("dedicated", "add a toleration to the Pod"),
    ] {
        let ran = run(&format!("{}{}", tainted(key), whole));
        assert_eq!(ran.reason("p").hint.as_deref(), Some(hint));
        assert_eq!(suggested(&ran).is_empty(), key.starts_with("node."), "{key}");
    }
    let cordoned =
        "spec: { unschedulable: true, taints: [{ key: node.kubernetes.io/unschedulable, effect: NoSchedule }] }";
    let ran = run(&format!("{}{}", node("a", cordoned), whole));
    assert_eq!(suggested(&ran), ["make node `a` schedulable again"]);
}

/// Pods that a taint would drive out stay, and that is said.
#[test]
fn evictions_by_taints_of_nodes_are_not_looked_at() {
    let node = node("a", "spec: { taints: [{ key: out, effect: NoExecute }] }");
    let on_node = |tolerations: &str| pod("p", &format!("  nodeName: a\n  tolerations: [{tolerations}]"));
    let said = |tolerations: &str| run(&format!("{node}{}", on_node(tolerations))).has(Code::RunNotModelled);
    assert!(said(""));
    assert!(said("{ key: out, operator: Exists, tolerationSeconds: 60 }"));
    assert!(!said("{ key: out, operator: Exists }"));
}

#[test]
fn cpu_memory_and_pod_counts_fill_nodes() {
    let allocatable =
        |cpu: &str, pods: u32| format!("status: {{ allocatable: {{ cpu: '{cpu}', memory: 4Gi, pods: '{pods}' }} }}");
    let nodes = [node("a", &allocatable("1", 10)), node("b", &allocatable("2", 1))].concat();
    let asking = |name: &str, cpu: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name} }}\nspec: {{ containers: [{{ name: c, resources: {{ requests: {{ cpu: '{cpu}' }} }} }}] }}\n---\n"
        )
    };
    let pods = [asking("one", "600m"), asking("two", "600m"), asking("three", "600m")].concat();
    let ran = run_first(&format!("{nodes}{pods}"));
    assert_eq!(ran.pod("one").node.as_deref(), Some("a"));
    assert_eq!(ran.pod("two").node.as_deref(), Some("b"));
    assert!(
        ran.pod("three")
            .reasons
            .last()
            .unwrap()
            .message
            .starts_with("0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods. "),
        "{}",
        ran.pod("three").reasons.last().unwrap().message
    );
}

#[test]
fn init_containers_sidecars_and_overhead_count() {
    let nodes = node("a", "status: { capacity: { cpu: '3' } }");
    let spec = |init: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{ name: p }}\nspec:\n  overhead: {{ cpu: 500m }}\n  containers: [{{ name: c, resources: {{ limits: {{ cpu: '1' }} }} }}]\n  initContainers:\n  - {{ name: side, restartPolicy: Always, resources: {{ requests: {{ cpu: '1' }} }} }}\n  - {{ name: init, resources: {{ requests: {{ cpu: {init} }} }} }}\n"
        )
    };
    // While the init container runs, so does the sidecar: 1 + 1500m + 500m = 3.
    assert!(run(&format!("{nodes}{}", spec("1500m"))).pod("p").node.is_some());
    assert!(run(&format!("{nodes}{}", spec("1501m"))).pod("p").node.is_none());
}

#[test]
fn an_extended_resource_that_no_node_has_is_named() {
    let asking = "
apiVersion: v1
kind: Pod
metadata: { name: p }
spec: { containers: [{ name: c, resources: { limits: { example.com/gpu: 1, cpu: 64 } } }] }
---
";
    let ran = run(&format!("{}{asking}", slice("a", 1)));
    assert_eq!(ran.reason("p").message, "the only node, `a`, has no `example.com/gpu`");

    let class = "
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: gpus }
spec: { extendedResourceName: example.com/gpu }
";
    let objects = format!("{}{asking}{class}", slice("a", 1));
    let ran = run_with(&objects, Profile::of(Version::V1_35));
    assert!(ran.reason("p").hint.as_ref().unwrap().contains("is off; with it device class `gpus` could serve"));
}

#[test]
fn labels_of_inferred_nodes_are_taken_as_they_are_asked_for() {
    let ran = run(&format!("{}{}", slice("a", 1), pod("p", "  nodeSelector: { accelerator: h100 }")));
    assert_eq!(ran.pod("p").node.as_deref(), Some("a"));
    assert_eq!(
        ran.finding(Code::RunLabelsAssumed).message,
        "inferred nodes are taken to have the labels asked for: `accelerator`"
    );
    let ran = run(&format!("{}{}", slice("a", 1), pod("p", "  nodeSelector: { kubernetes.io/hostname: b }")));
    assert_eq!(ran.pod("p").node, None);
}

#[test]
fn what_is_not_modelled_is_said_once_for_each_object() {
    let deployment = "
apiVersion: apps/v1
kind: Deployment
metadata: { name: d }
spec:
  replicas: 3
  template: { spec: { schedulerName: other, topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: ScheduleAnyway }], containers: [{ name: c }] } }
";
    let said = |ran: &Ran| ran.report.findings.iter().filter(|finding| finding.code == Code::RunNotModelled).count();
    assert_eq!(said(&run_first(deployment)), 1);
    assert_eq!(said(&run(deployment)), 0);
}

#[test]
fn ordinary_reasons_keep_their_place_in_the_users_manifest() {
    let deployment = "
apiVersion: apps/v1
kind: Deployment
metadata: { name: d }
spec: { template: { spec: { nodeSelector: { kubernetes.io/hostname: nowhere }, containers: [{ name: c }] } } }
";
    let ran = run(&format!("{CLASS}{}{}{deployment}", slice("a", 1), gpu_pod("p")));
    let pending = ran.report.pods.iter().find(|pod| pod.name.starts_with("d-")).unwrap();
    let reason = &pending.reasons[0];
    assert_eq!(reason.object.as_ref().unwrap().to_string(), "Deployment default/d");
    assert_eq!(reason.path, "spec.template.spec");
}

/// Two nodes, and Pods that ask for host ports.
fn with_ports(ports: &[(&str, &str)]) -> String {
    let node = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{ name: {name} }}\nstatus: {{ allocatable: {{ cpu: 8, memory: 8Gi, pods: 9 }} }}\n---\n"
        )
    };
    let pods = ports
        .iter()
        .map(|(name, ports)| pod(name, "").replace("{ name: c }", &format!("{{ name: c, ports: [{ports}] }}")));
    format!("{}{}{}", node("a"), node("b"), pods.collect::<String>())
}

#[test]
fn a_host_port_is_given_once_on_each_node() {
    let port = "{ containerPort: 80, hostPort: 8080 }";
    let ran = run(&with_ports(&[("first", port), ("second", port), ("third", port)]));
    assert_eq!([ran.pod("first").node.as_deref(), ran.pod("second").node.as_deref()], [Some("a"), Some("b")]);
    let reasons = &ran.pod("third").reasons;
    assert_eq!(codes(reasons), [Code::RunNodeUnsuitable, Code::RunSchedulerMessage]);
    assert_eq!(reasons[0].message, "all 2 nodes have host port `8080/TCP` in use already");
    let said = "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports. ";
    assert!(reasons[1].message.starts_with(said), "{}", reasons[1].message);
}

#[test]
fn host_ports_of_other_protocols_and_addresses_do_not_clash() {
    let of = |address: &str, protocol: &str| {
        format!("{{ containerPort: 53, hostPort: 53, hostIP: {address}, protocol: {protocol} }}")
    };
    let one = of("10.0.0.1", "TCP");
    let ran = run_first(&with_ports(&[
        ("one", &one),
        ("other-address", &of("10.0.0.2", "TCP")),
        ("other-protocol", &of("10.0.0.1", "UDP")),
        ("same", &one),
        ("everywhere", &of("0.0.0.0", "TCP")),
    ]));
    let node = |name: &str| ran.pod(name).node.as_deref();
    assert_eq!([node("one"), node("other-address"), node("other-protocol")], [Some("a"); 3]);
    assert_eq!([node("same"), node("everywhere")], [Some("b"), None]);
}

#[test]
fn a_pod_may_ask_for_a_port_on_all_addresses_and_on_one() {
    let everywhere = "{ containerPort: 80, hostPort: 80 }";
    let local = "{ containerPort: 81, hostPort: 80, hostIP: 127.0.0.1 }";
    let both = [format!("{everywhere}, {local}"), format!("{local}, {everywhere}")];
    let ran = run(&with_ports(&[("first", &both[0]), ("second", &both[1]), ("third", local)]));
    assert_eq!(["first", "second", "third"].map(|name| ran.pod(name).node.as_deref()), [Some("a"), Some("b"), None]);
}

#[test]
fn a_pod_on_the_network_of_its_host_takes_the_ports_of_its_containers() {
    let on_host =
        pod("on-host", "  hostNetwork: true").replace("{ name: c }", "{ name: c, ports: [{ containerPort: 9100 }] }");
    let manifests = with_ports(&[("with-port", "{ containerPort: 1, hostPort: 9100 }")]);
    let ran = run(&format!("{manifests}{on_host}"));
    assert_eq!([ran.pod("with-port").node.as_deref(), ran.pod("on-host").node.as_deref()], [Some("a"), Some("b")]);
}

/// Whether a Pod that asks for 2 of the 4 processors of a node fits beside another one.
fn has_room_beside(other: &str) -> bool {
    let node = "apiVersion: v1\nkind: Node\nmetadata: { name: a }\nstatus: { allocatable: { cpu: 4, memory: 8Gi, pods: 9 } }\n---\n";
    let pod = pod("p", "").replace("{ name: c }", "{ name: c, resources: { requests: { cpu: 2 } } }");
    run(&format!("{node}{other}{pod}")).pod("p").node.is_some()
}

#[test]
fn a_pod_that_is_resized_takes_the_most_of_what_it_asks_for_and_what_it_has() {
    let resized = |asked: u32, has: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{ name: other, namespace: default, uid: u }}\nspec:\n  nodeName: a\n  containers: [{{ name: c, resources: {{ requests: {{ cpu: {asked} }} }} }}]\nstatus: {{ phase: Running, {more} containerStatuses: [{{ name: c, {has} }}] }}\n---\n"
        )
    };
    let has = |cpu: u32| format!("allocatedResources: {{ cpu: {cpu} }}, resources: {{ requests: {{ cpu: {cpu} }} }}");
    let of_pod =
        |cpu: u32| format!("allocatedResources: {{ cpu: {cpu} }}, resources: {{ requests: {{ cpu: {cpu} }} }},");
    let infeasible = "conditions: [{ type: PodResizePending, status: 'True', reason: Infeasible }],";
    let deferred = infeasible.replace("Infeasible", "Deferred");
    for (asked, has, more, fits) in [
        (1, has(4), "", false),
        (1, "resources: { requests: { cpu: 4 } }".to_owned(), "", false),
        (3, has(1), "", false),
        (100, has(1), infeasible, true),
        (100, has(1), deferred.as_str(), false),
        (1, "ready: true".to_owned(), "", true),
        (1, has(1), of_pod(4).as_str(), false),
    ] {
        assert_eq!(has_room_beside(&resized(asked, &has, more)), fits, "{asked} {has} {more}");
    }
}

#[test]
fn nodes_that_a_pod_does_not_name_are_not_looked_at() {
    let nodes = ["a", "b"].map(|name| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{ name: {name} }}\nspec: {{ taints: [{{ key: k, effect: NoSchedule }}] }}\n---\n"
        )
    });
    let named = "  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [{ key: metadata.name, operator: In, values: [a] }] }] } } }";
    let ran = run(&format!("{}{}", nodes.concat(), pod("p", named)));
    let said = &ran.pod("p").reasons.last().unwrap().message;
    let filters = "1 node(s) didn't satisfy plugin(s) [NodeAffinity], 1 node(s) had untolerated taint(s).";
    assert!(said.contains(filters), "{said}");
}

#[test]
fn a_pod_goes_where_what_it_needs_is_declared() {
    let nodes = [("a", ""), ("b", "RestartAllContainersOnContainerExits")].map(|(name, features)| {
        format!("apiVersion: v1\nkind: Node\nmetadata: {{ name: {name} }}\nstatus: {{ declaredFeatures: [{features}] }}\n---\n")
    });
    let restarts = "{ name: c, restartPolicy: Never, restartPolicyRules: [{ action: RestartAllContainers, exitCodes: { operator: In, values: [42] } }] }";
    let pod = pod("p", "  restartPolicy: Never").replace("{ name: c }", restarts);
    for (version, node) in [(Version::V1_35, "a"), (Version::V1_36, "b")] {
        let ran = run_with(&format!("{}{pod}", nodes.concat()), Profile::of(version));
        assert_eq!(ran.pod("p").node.as_deref(), Some(node), "{version}");
    }
    let ran = run_with(&format!("{}{pod}", nodes[0]), Profile::of(Version::V1_37));
    let said = &ran.pod("p").reasons.last().unwrap().message;
    assert!(said.contains("1 node(s) didn't match Pod's required features."), "{said}");
}

#[test]
fn devices_are_missed_before_declared_features() {
    let restarts = "{ name: c, restartPolicy: Never, restartPolicyRules: [{ action: RestartAllContainers, exitCodes: { operator: In, values: [42] } }] }";
    let pod = gpu_pod("p").replace("{ name: c }", restarts);
    let ran = run_with(&format!("{CLASS}{}{pod}", node("a", "")), Profile::of(Version::V1_37));
    let said = &ran.pod("p").reasons.last().unwrap().message;
    assert!(said.contains("1 cannot allocate all claims."), "{said}");
}

#[test]
fn devices_are_missed_before_a_claim_whose_devices_are_elsewhere() {
    let claim = |name: &str, status: &str| {
        let spec = "{ devices: { requests: [{ name: r, exactly: { deviceClassName: gpu.example.com } }] } }";
        format!(
            "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{ namespace: default, name: {name} }}\nspec: {spec}\n{status}\n---\n"
        )
    };
    let term = "{ matchFields: [{ key: metadata.name, operator: In, values: [b] }] }";
    let result = "{ request: r, driver: gpu.example.com, pool: b, device: gpu-0 }";
    let status = format!(
        "status: {{ allocation: {{ nodeSelector: {{ nodeSelectorTerms: [{term}] }}, devices: {{ results: [{result}] }} }} }}"
    );
    let claims = [claim("new", ""), claim("there", &status)].concat();
    let pod = pod(
        "p",
        "  resourceClaims: [{ name: one, resourceClaimName: new }, { name: other, resourceClaimName: there }]",
    );
    let ran = run_with(&format!("{CLASS}{}{claims}{pod}", node("a", "")), Profile::of(Version::V1_37));
    let said = &ran.pod("p").reasons.last().unwrap().message;
    assert!(said.contains("1 cannot allocate all claims."), "{said}");
    // Nothing is given up for it: that would not help.
    assert!(ran.claim_object("default", "there").status.allocation.is_some());
}

#[test]
fn limits_of_a_pod_as_a_whole_count_where_no_container_asks() {
    let whole = |resources: &str, containers: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{ name: other }}\nspec:\n  nodeName: a\n  resources: {{ {resources} }}\n  containers: [{containers}]\n---\n"
        )
    };
    let asks = "{ name: a, resources: { requests: { cpu: 1 } } }, { name: b, resources: { requests: { cpu: 1 } } }";
    assert!(has_room_beside(&whole("limits: { cpu: 4 }", asks)));
    assert!(!has_room_beside(&whole("limits: { cpu: 4 }", "{ name: a }")));
    assert!(!has_room_beside(&whole("limits: { cpu: 4 }, requests: { cpu: 3 }", asks)));
}

#[test]
fn a_taint_is_compared_as_a_number_where_that_is_on() {
    let manifests = |operator: &str, own: &str, taint: &str| {
        let node = format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{ name: a }}\nspec: {{ taints: [{{ key: sla, value: '{taint}', effect: NoSchedule }}] }}\n---\n"
        );
        format!("{node}{}", pod("p", &format!("  tolerations: [{{ key: sla, operator: {operator}, value: '{own}' }}]")))
    };
    for (operator, own, taint, is_tolerated) in [
        ("Gt", "900", "950", true),
        ("Gt", "950", "950", false),
        ("Lt", "950", "-7", true),
        ("Lt", "900", "950", false),
        ("Gt", "900", "0950", false),
        ("Gt", "900", "high", false),
    ] {
        let ran = run(&manifests(operator, own, taint));
        assert_eq!(ran.pod("p").node.is_some(), is_tolerated, "{operator} {own} {taint}");
    }
}
