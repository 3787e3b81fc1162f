//! Components of different versions and gates: what KEP-5729 and KEP-5832 say of skew and downgrade.

use apportion_core::control_plane::{Command, Component};
use apportion_core::decision::Time;
use apportion_core::wire::simulation::create;
use serde_json::{Value, json};

use crate::play::{Play, TEMPLATE, group, pod};

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
