//! Who owns what, who may change what, and what stays when features go (KEP-5729, KEP-5832, KEP-5978).

use apportion_core::control_plane::Command;
use apportion_core::controllers::kubelet::{Permission, may_use};
use apportion_core::decision::Time;
use serde_json::{Value, json};

use crate::play::{NS, Play, TEMPLATE, documents, group, key, pod};

fn is_placed(play: &Play, name: &str) -> bool {
    !play.pod(name).spec.node_name.is_empty()
}

fn toggle(play: &mut Play, gate: &str, enabled: bool) {
    play.simulation.perform(Command::Toggle { component: None, gate: gate.to_owned(), enabled }).unwrap();
    play.run(3);
}

const WORKLOAD: &str = "{apiVersion: scheduling.k8s.io/v1alpha2, kind: Workload, metadata: {name: w}, spec: {podGroupTemplates: [{name: t, schedulingPolicy: {gang: {minCount: 2}}}]}}";

/// A PodGroup made from the template of the Workload above.
fn of_workload(name: &str) -> Value {
    let mut group = documents(&group(name, "gang: {minCount: 2}", TEMPLATE)).remove(0);
    group["spec"]["podGroupTemplateRef"] = json!({ "workload": { "workloadName": "w", "podGroupTemplateName": "t" } });
    group
}

/// r_011 r_121 r_125 r_168 r_173: what a replica's owner made goes with it, down to the claim.
#[test]
fn r_173_a_pod_group_goes_with_its_owner() {
    let mut play = Play::new();
    play.apply("{apiVersion: apps/v1, kind: Deployment, metadata: {name: owner}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}}");
    let uid = play.simulation.server().get(&key("Deployment", "owner")).unwrap()["metadata"]["uid"].clone();
    let mut owned = documents(&group("group", "basic: {}", TEMPLATE)).remove(0);
    owned["metadata"]["ownerReferences"] =
        json!([{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "owner", "uid": uid, "controller": true }]);
    play.create(owned).unwrap();
    play.run(1);
    assert_eq!(play.claims().len(), 1);
    play.delete("Deployment", "owner");
    assert!(play.group("group").is_none() && play.claims().is_empty());
}

/// r_030 r_031 r_104: entries of a PodGroup mean objects of its namespace.
#[test]
fn r_030_entries_look_in_the_namespace_of_the_pod_group() {
    let mut play = Play::new();
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: named, namespace: other}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}");
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: away, namespace: other}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}}");
    play.apply(&group("by-name", "basic: {}", "resourceClaimName: named"));
    play.apply(&pod("p-1", "resourceClaimName: named", "by-name"));
    play.apply(&group("by-template", "basic: {}", "resourceClaimTemplateName: away"));
    play.apply(&pod("p-2", "resourceClaimTemplateName: away", "by-template"));
    play.run(3);
    assert!(!is_placed(&play, "p-1") && !is_placed(&play, "p-2"));
    assert_eq!(play.claims().len(), 1, "the one of the other namespace");
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: named}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}");
    play.run(15);
    assert!(is_placed(&play, "p-1"));
    assert_eq!(play.named_claim("named").status.reserved_for[0].resource, "podgroups");
}

/// r_053: with the proposed spelling the kubelet finds the name in the Pod's status, for claims by name, too.
#[test]
fn r_053_the_name_of_a_groups_claim_is_recorded_in_the_pod() {
    let mut play = Play::new();
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: named}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}");
    play.apply(&group("group", "basic: {}", "resourceClaimName: named"));
    play.apply(&pod("p", "podGroupResourceClaim: gpu", "group"));
    play.run(3);
    let recorded = &play.pod("p").status.resource_claim_statuses[0];
    assert_eq!(recorded.resource_claim_name.as_deref(), Some("named"));
    assert!(is_placed(&play, "p"));
}

/// r_073: a name cannot be used again while a Pod still runs, unless somebody takes the finalizer away by hand.
#[test]
fn r_073_a_pod_groups_name_is_kept_by_its_finalizer() {
    let mut play = Play::new();
    let again = || documents(&group("group", "basic: {}", TEMPLATE)).remove(0);
    play.create(again()).unwrap();
    play.run(1);
    play.apply(&pod("m-1", TEMPLATE, "group"));
    play.delete("PodGroup", "group");
    assert!(play.create(again()).unwrap_err().contains("already exists"));
    play.patch("PodGroup", "group", false, json!({ "metadata": { "finalizers": null } }));
    assert!(play.group("group").is_none(), "by hand it goes under a running Pod");
    play.create(again()).unwrap();
}

/// r_096: where nothing knows PodGroups any more, entries of Pods in the place of theirs let the Pods go on.
#[test]
fn r_096_reservations_can_be_rewritten_by_hand() {
    let mut play = Play::new();
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: named}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}");
    play.apply(&group("group", "basic: {}", "resourceClaimName: named"));
    play.apply(&pod("m-1", "resourceClaimName: named", "group"));
    let granted = |play: &Play| {
        let permissions = may_use(play.simulation.server().cluster(), play.pod("m-1"), false);
        matches!(permissions[0], Permission::Granted { .. })
    };
    assert!(!granted(&play), "an old kubelet knows no PodGroups");
    toggle(&mut play, "DRAWorkloadResourceClaims", false);
    let uid = play.pod("m-1").metadata.uid.clone();
    let reserved = json!({ "status": { "reservedFor": [{ "resource": "pods", "name": "m-1", "uid": uid }] } });
    play.patch("ResourceClaim", "named", true, reserved);
    assert!(granted(&play) && play.named_claim("named").status.allocation.is_some());
    play.delete("Pod", "m-1");
    assert!(play.named_claim("named").status.allocation.is_none(), "and it is given back as ever");
}

/// r_120 r_122 r_123 r_130 r_131 r_155 r_163: a PodGroup has its own policy and status; its Workload may change or go.
#[test]
fn r_123_pod_groups_live_without_their_workload() {
    let mut play = Play::new();
    play.apply(WORKLOAD);
    play.create(of_workload("one")).unwrap();
    play.create(of_workload("two")).unwrap();
    play.run(1);
    let workload = play.simulation.server().get(&key("Workload", "w")).unwrap().clone();
    play.apply(&pod("a-1", TEMPLATE, "one"));
    play.apply(&pod("a-2", TEMPLATE, "one"));
    let scheduled = |play: &Play, name: &str| {
        let conditions = &play.group(name).unwrap().status.conditions;
        conditions.iter().any(|condition| condition["status"] == "True" && condition["reason"] == "Scheduled")
    };
    assert!(scheduled(&play, "one") && !scheduled(&play, "two"));
    assert_eq!(play.simulation.server().get(&key("Workload", "w")), Some(workload), "its status is not the Workload's");
    play.delete("Workload", "w");
    play.apply("{apiVersion: scheduling.k8s.io/v1alpha2, kind: Workload, metadata: {name: w}, spec: {podGroupTemplates: [{name: t, schedulingPolicy: {gang: {minCount: 9}}}]}}");
    assert_eq!(play.group("two").unwrap().min_count(), Some(2));
    play.apply(&pod("b-1", TEMPLATE, "two"));
    play.apply(&pod("b-2", TEMPLATE, "two"));
    assert!(
        is_placed(&play, "b-1") && is_placed(&play, "b-2") && scheduled(&play, "two"),
        "though the Workload says 9"
    );
    play.delete("Workload", "w");
    assert!(play.group("two").is_some() && is_placed(&play, "b-1"));
}

/// r_126: nobody here makes Pods for a PodGroup.
#[test]
fn r_126_pods_are_made_by_others() {
    let mut play = Play::new();
    play.apply(&group("group", "gang: {minCount: 3}", TEMPLATE));
    play.run(60);
    assert!(play.simulation.server().cluster().pods().is_empty());
}

/// r_128: Pods of different kinds are one unit.
#[test]
fn r_128_a_leader_and_its_workers_are_one_group() {
    let mut play = Play::new();
    play.apply(&group("group", "gang: {minCount: 3}", TEMPLATE));
    let mut leader = documents(&pod("leader", TEMPLATE, "group")).remove(0);
    leader["spec"]["resourceClaims"] = json!([]);
    leader["spec"]["containers"] = json!([{ "name": "c" }]);
    play.create(leader).unwrap();
    play.apply(&pod("worker-1", TEMPLATE, "group"));
    assert!(!is_placed(&play, "leader") && !is_placed(&play, "worker-1"));
    play.apply(&pod("worker-2", TEMPLATE, "group"));
    play.run(15);
    assert!(["leader", "worker-1", "worker-2"].iter().all(|name| is_placed(&play, name)));
}

/// r_139: Pods follow the PodGroup that is there when they are tried.
#[test]
fn r_139_a_recreated_pod_group_has_its_new_policy() {
    let mut play = Play::new();
    play.apply(&group("group", "gang: {minCount: 3}", TEMPLATE));
    play.apply(&pod("m-1", TEMPLATE, "group"));
    play.run(5);
    assert!(!is_placed(&play, "m-1"));
    play.delete("PodGroup", "group");
    play.patch("PodGroup", "group", false, json!({ "metadata": { "finalizers": null } }));
    play.apply(&group("group", "basic: {}", TEMPLATE));
    play.run(30);
    assert!(is_placed(&play, "m-1"));
}

/// r_170: a controller may leave the end of the name to the server.
#[test]
fn r_170_a_pod_groups_name_is_its_creators() {
    let mut play = Play::new();
    let mut generated = documents(&group("x", "basic: {}", TEMPLATE)).remove(0);
    generated["metadata"] = json!({ "generateName": "replica-", "namespace": NS });
    play.create(generated).unwrap();
    play.run(1);
    let groups = play.simulation.server().cluster().pod_groups();
    assert!(groups.keys().all(|(_, name)| name.starts_with("replica-")) && groups.len() == 1);
}

/// r_178 r_181: what is stored stays and means nothing while the gate is off; with the gate on again it counts.
#[test]
fn r_178_pod_groups_are_ignored_without_the_gate() {
    let mut play = Play::new();
    play.apply(&group("group", "gang: {minCount: 3}", TEMPLATE));
    let own = pod("m-1", "resourceClaimTemplateName: gpu-template", "group")
        .replace("name: gpu,", "name: own,")
        .replace("claims: [{name: gpu}]", "claims: [{name: own}]");
    play.apply(&own);
    play.run(5);
    assert!(!is_placed(&play, "m-1"));
    toggle(&mut play, "GenericWorkload", false);
    play.run(30);
    assert!(is_placed(&play, "m-1") && play.group("group").is_some());
    toggle(&mut play, "GenericWorkload", true);
    assert_eq!(play.group("group").unwrap().min_count(), Some(3));
    play.apply(&own.replace("{name: m-1}", "{name: m-2}"));
    play.run(30);
    assert!(!is_placed(&play, "m-2"), "the gang has two of three members");
}

/// r_238: with the gate on again what waits is resolved.
#[test]
fn r_238_resolution_resumes_with_the_gate() {
    let mut play = Play::new();
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ClusterResourceClaimTemplate, metadata: {name: wide}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}}");
    toggle(&mut play, "ClusterResourceClaimTemplates", false);
    play.apply(&pod("p", "clusterResourceClaimTemplateName: wide", ""));
    play.run(5);
    assert!(!is_placed(&play, "p"));
    toggle(&mut play, "ClusterResourceClaimTemplates", true);
    play.run(30);
    assert!(is_placed(&play, "p"));
}

/// r_240 r_241: a claim from a cluster-wide template looks like any other to the kubelet and to whoever watches.
#[test]
fn r_240_the_kubelet_needs_nothing_for_cluster_wide_templates() {
    let mut play = Play::new();
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ClusterResourceClaimTemplate, metadata: {name: wide}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}}");
    play.apply(&pod("p", "clusterResourceClaimTemplateName: wide", ""));
    let claim = play.claim();
    let permissions = may_use(play.simulation.server().cluster(), play.pod("p"), false);
    assert!(matches!(permissions[0], Permission::Granted { through_group: false, .. }));
    let recorded = &play.pod("p").status.resource_claim_statuses[0];
    assert_eq!(recorded.resource_claim_name.as_ref(), Some(&claim.metadata.name));
    assert!(claim.status.allocation.is_some() && claim.metadata.controller().unwrap().kind == "Pod");
}

#[test]
fn times_are_written_as_api_objects_carry_them() {
    let time = Time::parse("2026-02-28T23:59:58Z").unwrap();
    assert_eq!(time.plus_seconds(2).to_string(), "2026-03-01T00:00:00Z");
    assert_eq!(time.plus_millis(999).to_string(), "2026-02-28T23:59:58Z");
    assert_eq!(Time::parse("yesterday"), None);
}
