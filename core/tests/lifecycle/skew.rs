//! Components of different versions and gates: what KEP-5729 and KEP-5832 say of skew and downgrade.

use apportion_core::control_plane::{Command, Component};
use apportion_core::decision::Time;
use apportion_core::wire::simulation::create;
use serde_json::{Value, json};

use crate::play::{Play, TEMPLATE, documents, group, pod};

const GATE: &str = "DRAWorkloadResourceClaims";

fn toggle(play: &mut Play, component: Component, enabled: bool) {
    play.simulation.perform(Command::Toggle { component: Some(component), gate: GATE.to_owned(), enabled }).unwrap();
    play.run(3);
}

/// A gang of two whose claim belongs to the group.
fn gang() -> String {
    format!("{}{}{}", group("g", "gang: {minCount: 2}", TEMPLATE), pod("a", TEMPLATE, "g"), pod("b", TEMPLATE, "g"))
}

/// KEP-5729, "kube-scheduler: disabled": claims of the group are nobody's to use, and members wait until the gate returns.
#[test]
fn members_wait_for_a_scheduler_that_does_not_know_claims_of_groups() {
    let mut play = Play::new();
    toggle(&mut play, Component::Scheduler, false);
    play.apply(&gang());
    play.run(30);
    assert_eq!([&play.pod("a").spec.node_name, &play.pod("b").spec.node_name], ["", ""]);
    toggle(&mut play, Component::Scheduler, true);
    assert_eq!([&play.pod("a").spec.node_name, &play.pod("b").spec.node_name], ["node-1", "node-1"]);
}

/// KEP-5729, "kube-controller-manager: disabled": each member gets a claim of its own.
#[test]
fn controllers_that_do_not_know_claims_of_groups_make_one_for_each_member() {
    let mut play = Play::new();
    toggle(&mut play, Component::Controllers, false);
    play.apply(&gang());
    play.run(3);
    let owners: Vec<&str> =
        play.claims().into_iter().filter_map(|claim| Some(claim.metadata.controller()?.kind.as_str())).collect();
    assert_eq!(owners, ["Pod", "Pod"]);
}

/// KEP-5729, "kube-apiserver: disabled": the fields are dropped from new objects.
#[test]
fn an_api_server_that_does_not_know_claims_of_groups_drops_them() {
    let mut play = Play::new();
    toggle(&mut play, Component::Server, false);
    play.apply(&group("g", "basic: {}", TEMPLATE));
    assert_eq!(play.group("g").unwrap().spec.resource_claims, []);
    assert_eq!(play.claims().len(), 0);
}

/// Of a Pod that was stored with claims: who is started without the gate does not know them.
#[test]
fn components_without_the_gate_do_not_know_claims() {
    let off = |component| {
        let mut play = Play::new();
        play.simulation.run_pods();
        restart(&mut play, component, "DynamicResourceAllocation", false);
        play.apply(&pod("p", TEMPLATE, ""));
        play.run(30);
        let pod = play.pod("p");
        let entries = pod.spec.resource_claims.len() + pod.spec.containers[0].resources.claims.len();
        (entries, play.claims().len(), pod.spec.node_name.clone(), pod.status.phase.clone())
    };
    let (node, none) = ("node-1".to_owned(), String::new());
    assert_eq!(off(Component::Server), (0, 0, node.clone(), "Running".to_owned()));
    // Nobody makes the claim, and the scheduler waits for it.
    assert_eq!(off(Component::Controllers), (2, 0, none, "Pending".to_owned()));
    // The scheduler takes any node, and the kubelet waits for devices.
    assert_eq!(off(Component::Scheduler), (2, 1, node.clone(), "Pending".to_owned()));
    assert_eq!(off(Component::Kubelets), (2, 1, node, "Running".to_owned()));
}

/// KEP-5729, "kubelet: disabled": a claim that is reserved for the group alone is not the Pod's to use.
#[test]
fn an_older_kubelet_does_not_start_members_that_share_a_claim() {
    let mut play = Play::new();
    play.simulation.run_pods();
    let gates = [(GATE.to_owned(), false)].into();
    let restart = Command::Restart {
        component: Some(Component::Kubelets),
        node: Some("node-1".to_owned()),
        version: None,
        feature_gates: gates,
    };
    play.simulation.perform(restart).unwrap();
    play.apply(&gang());
    play.run(30);
    assert_eq!([&play.pod("a").status.phase, &play.pod("b").status.phase], ["Pending", "Pending"]);
    toggle(&mut play, Component::Kubelets, true);
    assert_eq!([&play.pod("a").status.phase, &play.pod("b").status.phase], ["Running", "Running"]);
}

fn restart(play: &mut Play, component: Component, gate: &str, enabled: bool) {
    let toggle = Command::Toggle { component: Some(component), gate: gate.to_owned(), enabled };
    play.simulation.perform(toggle).unwrap();
    play.run(3);
}

/// What the API server says to a user who creates an object.
fn refusal(play: &mut Play, yaml: &str) -> String {
    let yaml = yaml.replace("{name: c,", "{name: c, image: x,");
    play.simulation.perform(Command::Create(documents(&yaml).remove(0))).unwrap_err().message
}

/// Who a claim is reserved for, by resource.
fn reserved_for(play: &Play, claim: &str) -> Vec<String> {
    play.named_claim(claim).status.reserved_for.iter().map(|consumer| consumer.resource.clone()).collect()
}

/// A PodGroup whose members each have a claim of their own.
fn without_claims(group: &str) -> String {
    group.replace("\n  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu-template}]", "")
}

const SHARED: &str = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: shared}, spec: {devices: {requests: [{name: req, exactly: {deviceClassName: gpu}}]}}}";
const NAMED: &str = "resourceClaimName: shared";

/// KEP-5729, "Upgrade / Downgrade Strategy", first paragraph: `status.reservedFor` will only have references to Pods.
#[test]
fn after_a_downgrade_of_everything_claims_are_reserved_for_pods_alone() {
    let mut play = Play::new();
    Component::ALL.into_iter().for_each(|component| toggle(&mut play, component, false));
    play.apply(SHARED);
    play.apply(&group("g", "basic: {}", NAMED));
    play.apply(&pod("a", NAMED, "g"));
    play.apply(&pod("b", NAMED, "g"));
    play.run(3);
    assert_eq!(reserved_for(&play, "shared"), ["pods", "pods"]);
}

/// KEP-5729, "Upgrade / Downgrade Strategy", first problem: downgraded controllers do not remove references to PodGroups, and the claim
/// is never deallocated; "Feature Enablement and Rollback" says the same of a gate that is switched off.
#[test]
fn downgraded_controllers_leave_a_claim_to_a_pod_group_that_is_gone() {
    let mut play = Play::new();
    play.apply(SHARED);
    play.apply(&group("g", "basic: {}", NAMED));
    play.apply(&pod("a", NAMED, "g"));
    toggle(&mut play, Component::Controllers, false);
    play.delete("Pod", "a");
    play.delete("PodGroup", "g");
    play.run(60);
    assert_eq!(reserved_for(&play, "shared"), ["podgroups"]);
    assert!(play.named_claim("shared").status.allocation.is_some());
}

/// KEP-5729, "Upgrade / Downgrade Strategy", second problem, and "Version Skew Strategy", second paragraph: a downgraded scheduler lists
/// Pods beside the PodGroup; once nobody consumes the claim, controllers of today remove both.
#[test]
fn references_to_pods_and_their_pod_group_go_together() {
    let mut play = Play::new();
    play.apply(SHARED);
    play.apply(&group("g", "basic: {}", NAMED));
    play.apply(&pod("a", NAMED, "g"));
    toggle(&mut play, Component::Scheduler, false);
    play.apply(&pod("b", NAMED, "g"));
    assert_eq!(reserved_for(&play, "shared"), ["podgroups", "pods"]);
    toggle(&mut play, Component::Scheduler, true);
    play.delete("Pod", "b");
    assert_eq!(reserved_for(&play, "shared"), ["podgroups"], "Pod `a` still uses it");
    play.delete("Pod", "a");
    play.delete("PodGroup", "g");
    assert_eq!(reserved_for(&play, "shared"), [""; 0]);
    assert!(play.named_claim("shared").status.allocation.is_none());
}

/// r_101, KEP-5729, "Feature Enablement and Rollback": what runs goes on with its devices when the kubelet restarts without the feature, and when
/// it restarts with it again.
#[test]
fn members_that_run_outlive_restarts_of_their_kubelet() {
    let mut play = Play::new();
    play.simulation.run_pods();
    play.apply(&gang());
    play.run(3);
    let before = play.claim().clone();
    for enabled in [false, true] {
        toggle(&mut play, Component::Kubelets, enabled);
        assert_eq!([&play.pod("a").status.phase, &play.pod("b").status.phase], ["Running", "Running"]);
        assert_eq!(*play.claim(), before);
    }
}

/// KEP-5832, "Upgrade / Downgrade Strategy": the scheduler goes first and ignores PodGroups, which stay in etcd; then the API server
/// serves none; switched on again, the feature works again.
#[test]
fn a_downgraded_scheduler_ignores_the_pod_groups_that_are_stored() {
    const WORKLOADS: &str = "GenericWorkload";
    let gang_of_three = |name: &str| without_claims(&group(name, "gang: {minCount: 3}", TEMPLATE));
    let alone = |name: &str, group: &str| pod(name, TEMPLATE, group);
    let mut play = Play::new();
    play.apply(&gang_of_three("g"));
    play.apply(&alone("a", "g"));
    play.run(3);
    assert_eq!(play.pod("a").spec.node_name, "", "two Pods are missing");
    restart(&mut play, Component::Scheduler, WORKLOADS, false);
    play.run(60);
    assert_eq!(play.pod("a").spec.node_name, "node-1");
    restart(&mut play, Component::Server, WORKLOADS, false);
    assert!(play.group("g").is_some(), "what is stored stays");
    assert_eq!(refusal(&mut play, &gang_of_three("h")), "the server could not find the requested resource");
    play.apply(&alone("b", "g"));
    assert_eq!(play.pod("b").group_name(), None, "the field is dropped");
    restart(&mut play, Component::Server, WORKLOADS, true);
    restart(&mut play, Component::Scheduler, WORKLOADS, true);
    play.apply(&gang_of_three("i"));
    play.apply(&alone("c", "i"));
    play.run(3);
    assert_eq!(play.pod("c").spec.node_name, "");
}

/// KEP-5832, "Version Skew Strategy": kubelets do not matter, and an API server that is older than the scheduler has no PodGroup for it.
#[test]
fn only_api_server_and_scheduler_have_to_know_pod_groups() {
    const WORKLOADS: &str = "GenericWorkload";
    let mut play = Play::new();
    play.simulation.run_pods();
    restart(&mut play, Component::Kubelets, WORKLOADS, false);
    play.apply(&without_claims(&group("g", "gang: {minCount: 2}", TEMPLATE)));
    play.apply(&(pod("a", TEMPLATE, "g") + &pod("b", TEMPLATE, "g")));
    play.run(30);
    assert_eq!([&play.pod("a").status.phase, &play.pod("b").status.phase], ["Running", "Running"]);
    restart(&mut play, Component::Server, WORKLOADS, false);
    play.apply(&pod("c", TEMPLATE, "none"));
    play.run(3);
    assert_eq!(play.pod("c").spec.node_name, "node-1");
}

/// KEP-5978, "Downgrade" and "Kubelet skew": without the gate the API server takes no new template and drops references to one; claims
/// that were made go on, with kubelets of any version. (`r_237` has the skew of the controllers.)
#[test]
fn claims_of_cluster_wide_templates_outlive_the_gate() {
    const GATE: &str = "ClusterResourceClaimTemplates";
    let template = "{apiVersion: resource.k8s.io/v1, kind: ClusterResourceClaimTemplate, metadata: {name: h100}, spec: {spec: {devices: {requests: [{name: req, exactly: {deviceClassName: gpu}}]}}}}";
    let entry = "clusterResourceClaimTemplateName: h100";
    let mut play = Play::new();
    play.simulation.run_pods();
    restart(&mut play, Component::Kubelets, GATE, false);
    play.apply(template);
    play.apply(&pod("a", entry, ""));
    play.run(3);
    assert_eq!(play.pod("a").status.phase, "Running");
    let before = play.claim().clone();
    restart(&mut play, Component::Server, GATE, false);
    assert_eq!(*play.claim(), before);
    let refused = refusal(&mut play, &template.replace("h100", "h200"));
    assert!(refused.contains("the feature gate `ClusterResourceClaimTemplates` is off"), "{refused}");
    let refused = refusal(&mut play, &pod("b", entry, ""));
    assert!(refused.contains("spec.resourceClaims[0]"), "{refused}");
    restart(&mut play, Component::Server, GATE, true);
    play.apply(&pod("c", entry, ""));
    play.run(3);
    assert_eq!(play.pod("c").status.phase, "Running");
}

#[test]
fn settings_give_components_versions_and_gates() {
    let settings = json!({ "version": "1.37", "components": {
        "kube-scheduler": { "version": "1.36", "featureGates": { "GenericWorkload": true } }, "kubelet": { "version": "1.35" },
    } });
    let simulation = create(settings, Time::default()).unwrap();
    let versions = Component::ALL.map(|component| simulation.profile(component).version.to_string());
    assert_eq!(versions, ["1.37", "1.37", "1.36", "1.35"]);
    assert!(simulation.profile(Component::Scheduler).features.generic_workload);
    let bad: Value =
        json!({ "components": { "kubelets": {}, "kube-scheduler": { "featureGates": { "GenericWorkloud": true } } } });
    let messages: Vec<String> =
        create(bad, Time::default()).unwrap_err().into_iter().map(|finding| finding.message).collect();
    let wanted = [
        "there is no feature gate `GenericWorkloud`: did you mean `GenericWorkload`?",
        "there is no component `kubelets`: did you mean `kubelet`?",
    ];
    assert_eq!(messages, wanted);
}
