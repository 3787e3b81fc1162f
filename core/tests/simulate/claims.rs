//! Claims made from templates and found by name.

use apportion_core::allocate::Limits;
use apportion_core::engine::Engine;
use apportion_core::finding::Code;
use apportion_core::profile::{Profile, Version};
use serde_json::json;

use crate::support::{CLASS, apply, codes, gpu_pod, pod, run, run_with, slice};

#[test]
fn r_309_r_317_every_pod_gets_a_claim_of_its_own_from_a_template() {
    let ran = run(&format!("{CLASS}{}{}{}", slice("a", 4), gpu_pod("one"), gpu_pod("two")));
    let (one, two) = (ran.claim_of("one", "gpu"), ran.claim_of("two", "gpu"));
    assert_ne!(one.name, two.name);
    assert!(one.name.starts_with("one-gpu-") && one.name.len() == "one-gpu-".len() + 5);
    assert_eq!(one.template.as_deref(), Some("one-gpu"));

    let claim = ran.claim_object("default", &one.name);
    let owner = &claim.metadata.owner_references[0];
    let pod = ran.pod_object("one");
    assert_eq!((owner.api_version.as_str(), owner.kind.as_str(), owner.name.as_str()), ("v1", "Pod", "one"));
    assert_eq!((owner.controller, owner.block_owner_deletion), (Some(true), None));
    assert_eq!(owner.uid, pod.metadata.uid);
    assert!(!owner.uid.is_empty());
    assert_eq!(claim.metadata.generate_name, "one-gpu-");
    assert_eq!(claim.metadata.annotations["resource.kubernetes.io/pod-claim-name"], "gpu");
    let status = &pod.status.resource_claim_statuses;
    assert_eq!(status.len(), 1);
    assert_eq!(status[0].name, "gpu");
    assert_eq!(status[0].resource_claim_name.as_ref(), Some(&one.name));
}

#[test]
fn labels_annotations_and_the_whole_spec_are_copied() {
    let ran = run(&format!(
        "{CLASS}
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{ namespace: default, name: rich, labels: {{ of: template }} }}
spec:
  metadata: {{ labels: {{ team: x }}, annotations: {{ note: kept }} }}
  spec:
    devices:
      newField: {{ kept: true }}
      requests:
      - {{ name: gpu, exactly: {{ deviceClassName: gpu.example.com, count: 2, futureField: 7 }} }}
      config: [{{ opaque: {{ driver: gpu.example.com, parameters: {{ mode: shared }} }} }}]
---
{}{}",
        slice("a", 4),
        pod("p", "  resourceClaims: [{ name: g, resourceClaimTemplateName: rich }]")
    ));
    let name = &ran.claim_of("p", "g").name;
    let claim = ran.claim_object("default", name);
    assert_eq!(claim.metadata.labels.len(), 1);
    assert_eq!(claim.metadata.labels["team"], "x");
    assert_eq!(claim.metadata.annotations["note"], "kept");
    let template = ran.engine.cluster().templates().get(&("default".to_owned(), "rich".to_owned())).unwrap();
    assert_eq!(claim.spec, template.spec.spec);
    assert!(claim.spec.devices.rest.get("newField").is_some());
}

#[test]
fn a_claim_that_the_pod_has_already_is_used() {
    let given = |status: &str| {
        format!(
            "{CLASS}{}
apiVersion: v1
kind: Pod
metadata: {{ name: p, namespace: default, uid: pod-uid }}
spec: {{ containers: [{{ name: c }}], resourceClaims: [{{ name: gpu, resourceClaimTemplateName: one-gpu }}] }}
{status}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: p-gpu-zzzzz
  namespace: default
  annotations: {{ resource.kubernetes.io/pod-claim-name: gpu }}
  ownerReferences: [{{ apiVersion: v1, kind: Pod, name: p, uid: pod-uid, controller: true }}]
spec: {{ devices: {{ requests: [{{ name: gpu, exactly: {{ deviceClassName: gpu.example.com }} }}] }} }}
",
            slice("a", 1)
        )
    };
    for status in ["status: { resourceClaimStatuses: [{ name: gpu, resourceClaimName: p-gpu-zzzzz }] }", ""] {
        let ran = run(&given(status));
        assert_eq!(ran.claim_of("p", "gpu").name, "p-gpu-zzzzz", "{status}");
        assert_eq!(ran.report.claims.len(), 1);
    }
    // A recorded claim that vanished is made again; one of another owner is replaced.
    let vanished = given("status: { resourceClaimStatuses: [{ name: gpu, resourceClaimName: gone }] }");
    assert_eq!(run(&vanished).claim_of("p", "gpu").name, "p-gpu-zzzzz");
    let foreign = given("").replace("uid: pod-uid, controller", "uid: other, controller");
    assert_ne!(run(&foreign).claim_of("p", "gpu").name, "p-gpu-zzzzz");
}

#[test]
fn an_entry_that_needs_no_claim_is_left_alone() {
    let ran = run(&format!(
        "{CLASS}{}
apiVersion: v1
kind: Pod
metadata: {{ name: p, namespace: default }}
spec: {{ containers: [{{ name: c }}], resourceClaims: [{{ name: gpu, resourceClaimTemplateName: one-gpu }}] }}
status: {{ resourceClaimStatuses: [{{ name: gpu }}] }}
",
        slice("a", 1)
    ));
    assert_eq!(ran.pod("p").node.as_deref(), Some("a"));
    assert!(ran.report.claims.is_empty());
}

#[test]
fn r_311_a_claim_named_by_a_pod_must_exist_in_its_namespace() {
    let ran = run(&format!(
        "{CLASS}
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ namespace: other, name: team }}
spec: {{ devices: {{ requests: [] }} }}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ namespace: default, name: trainer }}
spec: {{ devices: {{ requests: [] }} }}
---
{}{}{}",
        pod("elsewhere", "  resourceClaims: [{ name: gpu, resourceClaimName: team }]"),
        pod("typo", "  resourceClaims: [{ name: gpu, resourceClaimName: trianer }]"),
        pod("template", "  resourceClaims: [{ name: gpu, resourceClaimName: one-gpu }]"),
    ));
    let reason = ran.reason("elsewhere");
    assert_eq!(reason.code, Code::RunMissingClaim);
    assert_eq!(reason.message, "there is no claim `team` in namespace `default`");
    assert!(reason.hint.as_ref().unwrap().contains("namespace `other`"));
    assert_eq!(reason.path, "spec.resourceClaims[0].resourceClaimName");
    assert_eq!(ran.reason("typo").hint.as_deref(), Some("did you mean `trainer`?"));
    assert_eq!(
        ran.reason("template").hint.as_deref(),
        Some("`one-gpu` is a template: use `resourceClaimTemplateName`")
    );
}

#[test]
fn a_missing_template_is_named_with_the_nearest_one() {
    let deployment = "
apiVersion: apps/v1
kind: Deployment
metadata: { name: d }
spec:
  template: { spec: { containers: [{ name: c }], resourceClaims: [{ name: gpu, resourceClaimTemplateName: one-gpus }] } }
";
    let ran = run(&format!("{CLASS}{deployment}"));
    let reason = &ran.report.pods[0].reasons[0];
    assert_eq!(reason.code, Code::RunMissingTemplate);
    assert_eq!(reason.message, "there is no claim template `one-gpus` in namespace `default`");
    assert_eq!(reason.hint.as_deref(), Some("did you mean `one-gpu`?"));
    assert_eq!(reason.object.as_ref().unwrap().to_string(), "Deployment default/d");
    assert_eq!(reason.path, "spec.template.spec.resourceClaims[0].resourceClaimTemplateName");
    assert_eq!(ran.report.pods[0].claims[0].claim, None);
}

#[test]
fn one_failing_entry_does_not_hide_the_others() {
    let spec = "  resourceClaims:
  - { name: a, resourceClaimTemplateName: none-at-all }
  - { name: b, resourceClaimTemplateName: one-gpu }
  - { name: c, resourceClaimName: missing-claim }";
    let ran = run(&format!("{CLASS}{}{}", slice("a", 1), pod("p", spec)));
    assert_eq!(codes(&ran.pod("p").reasons), [Code::RunMissingTemplate, Code::RunMissingClaim]);
    assert!(ran.pod("p").claims[1].claim.is_some());
}

#[test]
fn the_removed_field_source_is_explained() {
    let ran = run(&pod("p", "  resourceClaims: [{ name: gpu, source: { resourceClaimTemplateName: one-gpu } }]"));
    let reason = ran.reason("p");
    assert_eq!(reason.code, Code::RunOldClaimSource);
    assert_eq!(reason.hint.as_deref(), Some("write `resourceClaimTemplateName: one-gpu` directly into the entry"));
    let ran = run(&pod("p", "  resourceClaims: [{ name: gpu }]"));
    assert_eq!(ran.reason("p").code, Code::RunNoClaimSource);
}

#[test]
fn a_missing_class_is_named_with_the_nearest_one() {
    let ran = run(&format!(
        "{CLASS}
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{ namespace: default, name: typo }}
spec: {{ spec: {{ devices: {{ requests: [
  {{ name: x, exactly: {{ deviceClassName: gpu.exampel.com }} }},
  {{ name: z, firstAvailable: [{{ name: s, deviceClassName: nic.example.org }}] }} ] }} }} }}
---
{}",
        pod("p", "  resourceClaims: [{ name: gpu, resourceClaimTemplateName: typo }]")
    ));
    let reasons = &ran.pod("p").reasons;
    assert_eq!(codes(reasons), [Code::AllocUnknownClass, Code::AllocUnknownClass, Code::RunSchedulerMessage]);
    assert_eq!(reasons[0].hint.as_deref(), Some("did you mean `gpu.example.com`?"));
    assert_eq!(reasons[0].object.as_ref().unwrap().to_string(), "ResourceClaimTemplate default/typo");
    assert_eq!(reasons[0].path, "spec.spec.devices.requests[0].exactly.deviceClassName");
    assert_eq!(reasons[1].path, "spec.spec.devices.requests[1].firstAvailable[0].deviceClassName");
    assert!(
        reasons[2]
            .message
            .starts_with("0/1 nodes are available: request x: device class gpu.exampel.com does not exist. "),
        "{}",
        reasons[2].message
    );
}

#[test]
fn a_claim_being_deleted_is_not_used() {
    let ran = run(&format!(
        "apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ name: c, namespace: default, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [x] }}
spec: {{ devices: {{ requests: [] }} }}
---
{}",
        pod("p", "  resourceClaims: [{ name: gpu, resourceClaimName: c }]")
    ));
    let reason = ran.reason("p");
    assert_eq!(reason.code, Code::RunClaimDeleting);
    assert_eq!(reason.message, "claim `c` is being deleted, held by the finalizer `x`");
    assert_eq!(reason.hint.as_deref(), Some("create it anew once it is gone"));
}

#[test]
fn a_running_pod_keeps_a_claim_that_is_being_deleted() {
    let ran = run(&format!(
        "{CLASS}{}apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{ name: c, namespace: default, uid: u, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [x] }}
spec: {{ devices: {{ requests: [{{ name: g, exactly: {{ deviceClassName: gpu.example.com }} }}] }} }}
status:
  allocation: {{ devices: {{ results: [{{ request: g, driver: gpu.example.com, pool: n1, device: gpu-0 }}] }} }}
  reservedFor: [{{ resource: pods, name: p, uid: p }}]
---
apiVersion: v1
kind: Pod
metadata: {{ name: p, namespace: default, uid: p }}
spec:
  nodeName: n1
  containers: [{{ name: c, image: x, resources: {{ claims: [{{ name: gpu }}] }} }}]
  resourceClaims: [{{ name: gpu, resourceClaimName: c }}]
status: {{ phase: Running }}
",
        slice("n1", 1)
    ));
    assert_eq!(ran.pod("p").claims[0].claim.as_deref(), Some("c"));
    assert_eq!(ran.pod("p").reasons, []);
}

#[test]
fn a_pod_that_is_over_without_a_node_is_not_pending() {
    let over = "status: { phase: Succeeded }";
    let ran =
        run(&format!("{}\n{over}\n", pod("p", "  nodeSelector: { zone: nowhere }").trim_end().trim_end_matches("---")));
    assert!(!ran.pod("p").is_stuck() && ran.report.is_satisfied(), "{:?}", ran.report.pods);
}

const CLUSTER_TEMPLATE: &str = "
apiVersion: resource.k8s.io/v1
kind: ClusterResourceClaimTemplate
metadata: { name: everywhere }
spec: { spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu.example.com } }] } } }
---
";

#[test]
fn a_cluster_wide_template_makes_claims_where_the_gate_is_on() {
    let manifests = format!(
        "{CLASS}{CLUSTER_TEMPLATE}{}{}",
        slice("a", 1),
        pod("p", "  resourceClaims: [{ name: gpu, clusterResourceClaimTemplateName: everywhere }]")
    );
    let ran = run(&manifests);
    let claim = ran.claim_of("p", "gpu");
    assert_eq!((claim.namespace.as_str(), claim.template.as_deref()), ("default", Some("everywhere")));
    let off = run_with(&manifests, Profile::of(Version::V1_36));
    assert_eq!(off.reason("p").code, Code::AllocFeatureOff);
}

fn monitoring(namespace: &str) -> String {
    format!(
        "{CLASS}{}{namespace}
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{ namespace: default, name: watch }}
spec: {{ spec: {{ devices: {{ requests: [{{ name: gpus, exactly: {{ deviceClassName: gpu.example.com, adminAccess: true, allocationMode: All }} }}] }} }} }}
---
{}",
        slice("a", 2),
        pod("p", "  resourceClaims: [{ name: gpus, resourceClaimTemplateName: watch }]")
    )
}

#[test]
fn r_329_admin_access_needs_the_namespace_label() {
    let namespace = |label: &str| {
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{ name: default, labels: {{ {label} }} }}\n---\n")
    };
    let ran = run(&monitoring(&namespace("resource.kubernetes.io/admin-access: 'true'")));
    assert!(ran.pod("p").claims[0].claim.is_some() && !ran.has(Code::RunAdminUnchecked));
    let old = "resource.k8s.io/admin-access: 'true'";
    for refused in ["resource.kubernetes.io/admin-access: 'True'", old, "other: 'true'"] {
        let ran = run(&monitoring(&namespace(refused)));
        assert_eq!(ran.reason("p").code, Code::RunAdminNamespace, "{refused}");
    }
    let unknown = run(&monitoring(""));
    assert!(unknown.pod("p").claims[0].claim.is_some() && unknown.has(Code::RunAdminUnchecked));
}

#[test]
fn long_names_are_cut_as_kubernetes_cuts_them() {
    let long = "a".repeat(60);
    let ran = run(&format!("{CLASS}{}{}", slice("a", 1), gpu_pod(&long)));
    let name = &ran.claim_of(&long, "gpu").name;
    // 60*57/65 = 52 and 3*57/65 = 2 letters, a hyphen between them and none behind.
    assert!(name.len() == 60 && name.starts_with(&format!("{}-gp", "a".repeat(52))), "{name}");
}

/// A claim that has the only device of node `a`, and a Pod with a node that names it.
fn on_node(node: &str) -> crate::support::Ran {
    let node_of = |name: &str| format!("apiVersion: v1\nkind: Node\nmetadata: {{ name: {name} }}\n---\n");
    let claim = "apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { namespace: default, name: held, uid: u }
spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu.example.com } }] } }
status:
  allocation:
    devices: { results: [{ request: gpu, driver: gpu.example.com, pool: a, device: gpu-0 }] }
    nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: metadata.name, operator: In, values: [a] }] }] }
---
";
    let placed = pod("p", &format!("  nodeName: {node}\n  resourceClaims: [{{ name: gpu, resourceClaimName: held }}]"));
    run(&format!("{CLASS}{}{}{}{claim}{placed}", node_of("a"), node_of("b"), slice("a", 1)))
}

#[test]
fn a_pod_that_was_given_a_node_runs_only_where_its_devices_are() {
    assert_eq!(on_node("a").pod("p").reasons, []);
    let away = on_node("b");
    let reasons = &away.pod("p").reasons;
    assert_eq!(reasons[0].code, Code::RunNotStarted);
    assert_eq!(
        reasons[0].message,
        "node `b` has no access to the devices of claim `held`, so the Pod does not start there"
    );
    assert!(away.pod("p").is_stuck());
}

/// A claim alone knows no Pod: that its node takes none, or only some, is said.
#[test]
fn a_claim_that_fits_on_a_node_without_new_pods_says_so() {
    let claim = "
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { name: k }
spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu.example.com } }] } }
---
";
    for (spec, but) in [
        ("{}", ""),
        ("{ unschedulable: true }", ", which takes no new Pods: it is marked as unschedulable"),
        (
            "{ taints: [{ key: a, effect: NoSchedule }] }",
            ", which takes only Pods that tolerate the taint `a:NoSchedule`",
        ),
        ("{ taints: [{ key: a, effect: PreferNoSchedule }] }", ""),
    ] {
        let node = format!("apiVersion: v1\nkind: Node\nmetadata: {{ name: a }}\nspec: {spec}\n---\n");
        let mut engine = Engine::new(Profile::default(), Limits::default());
        apply(&mut engine, &format!("{CLASS}{}{node}{claim}", slice("a", 1)));
        for (kind, name) in [("ResourceClaim", "k"), ("ResourceClaimTemplate", "one-gpu")] {
            let subject = json!({ "kind": kind, "namespace": "default", "name": name });
            let answer = engine.inquire(json!({ "kind": "explain", "subject": subject })).unwrap();
            assert_eq!(answer[0]["headline"], format!("{kind} `{name}` fits on node `a`{but}"));
        }
    }
}

#[test]
fn what_is_admitted_is_met_with_the_way_out_of_validation() {
    let claim = r#"{ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c" },
        "spec": { "devices": { "requests": [{ "name": "r", "deviceClassName": "gpu" }] } } }"#;
    let mut engine = Engine::new(Profile::default(), Limits::default());
    let findings = engine.submit([claim]).remove(0);
    let unknown = findings.iter().find(|finding| finding.code == Code::ReadUnknownField).unwrap();
    assert_eq!(unknown.message, "unknown field `deviceClassName`: the API server drops it, kubectl refuses it");
    for finding in &findings {
        assert_eq!(
            finding.hint.as_deref(),
            Some("`deviceClassName` belongs into `exactly` since `resource.k8s.io/v1beta2`")
        );
    }
}
