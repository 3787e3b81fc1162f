//! Pods that are to be near others, away from them, or spread.

use apportion_core::finding::Code;
use apportion_core::profile::{Profile, Version};

use crate::support::{Ran, codes, run, run_first, run_with};

fn node(name: &str, zone: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{ name: {name}, labels: {{ kubernetes.io/hostname: {name}, zone: {zone} }} }}\nstatus: {{ allocatable: {{ cpu: 8, memory: 8Gi, pods: 9 }} }}\n---\n"
    )
}

fn pod(name: &str, app: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name}, namespace: default, labels: {{ app: {app} }} }}\nspec:\n  containers: [{{ name: c }}]\n{spec}\n---\n"
    )
}

fn term(app: &str, key: &str) -> String {
    format!(
        "requiredDuringSchedulingIgnoredDuringExecution: [{{ topologyKey: {key}, labelSelector: {{ matchLabels: {{ app: {app} }} }} }}]"
    )
}

fn away(app: &str, key: &str) -> String {
    format!("  affinity: {{ podAntiAffinity: {{ {} }} }}", term(app, key))
}

fn near(app: &str, key: &str) -> String {
    format!("  affinity: {{ podAffinity: {{ {} }} }}", term(app, key))
}

fn spread(app: &str, more: &str) -> String {
    format!(
        "  topologySpreadConstraints: [{{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {{ matchLabels: {{ app: {app} }} }}{more} }}]"
    )
}

fn node_of<'r>(ran: &'r Ran, name: &str) -> Option<&'r str> {
    ran.pod(name).node.as_deref()
}

fn three_nodes() -> String {
    [node("a", "one"), node("b", "one"), node("c", "two")].concat()
}

#[test]
fn pods_that_are_to_be_apart_are_on_nodes_of_their_own() {
    let pods: String = ["p", "q", "r", "s"].map(|name| pod(name, "db", &away("db", "kubernetes.io/hostname"))).concat();
    let ran = run_with(&format!("{}{pods}", three_nodes()), Profile::of(Version::V1_36));
    assert_eq!(["p", "q", "r", "s"].map(|name| node_of(&ran, name)), [Some("a"), Some("b"), Some("c"), None]);
    let reasons = &ran.pod("s").reasons;
    assert_eq!(codes(reasons), [Code::RunNodeUnsuitable, Code::RunSchedulerMessage]);
    assert_eq!(
        reasons[0].message,
        "all 3 nodes have a Pod in the same `kubernetes.io/hostname` that the Pod must be away from"
    );
    assert_eq!(reasons[0].path, "spec.affinity.podAntiAffinity");
    let said = "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. ";
    assert!(reasons[1].message.starts_with(said), "{}", reasons[1].message);
    assert!(reasons[1].message.ends_with("3 No preemption victims found for incoming pod."), "{}", reasons[1].message);
}

#[test]
fn a_placed_pod_keeps_others_away() {
    let first = pod("first", "db", &away("web", "zone"));
    let ran = run(&format!("{}{first}{}", three_nodes(), pod("web", "web", "")));
    assert_eq!([node_of(&ran, "first"), node_of(&ran, "web")], [Some("a"), Some("c")]);
    let alone = run(&format!("{}{first}{}", node("a", "one"), pod("web", "web", "")));
    let reasons = &alone.pod("web").reasons;
    assert_eq!(
        reasons[0].message,
        "the only node, `a`, has a Pod in the same `zone` whose own anti-affinity keeps the Pod away"
    );
    let said = "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules. ";
    assert!(reasons[1].message.starts_with(said), "{}", reasons[1].message);
}

#[test]
fn a_pod_waits_for_the_one_that_it_is_to_be_near() {
    let friend = pod("friend", "cache", "  nodeSelector: { zone: two }");
    let ran = run(&format!("{}{}{friend}", three_nodes(), pod("p", "web", &near("cache", "zone"))));
    assert_eq!([node_of(&ran, "friend"), node_of(&ran, "p")], [Some("c"); 2]);
    let alone = pod("p", "web", &near("cache", "zone"));
    let alone = run_with(&format!("{}{alone}", three_nodes()), Profile::of(Version::V1_36));
    let reasons = &alone.pod("p").reasons;
    assert_eq!(reasons[0].message, "all 3 nodes have no Pod nearby that the Pod must be near");
    let said = "0/3 nodes are available: 3 node(s) didn't match pod affinity rules. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
    assert_eq!(reasons[1].message, said);
}

#[test]
fn the_first_of_pods_that_are_to_be_near_each_other_goes_anywhere() {
    let pods: String = ["p", "q"].map(|name| pod(name, "ring", &near("ring", "zone"))).concat();
    let ran = run_first(&format!("{}{pods}", three_nodes()));
    assert_eq!([node_of(&ran, "p"), node_of(&ran, "q")], [Some("a"); 2]);
}

#[test]
fn pods_are_spread_over_zones() {
    let pods: String = ["p", "q", "r", "s"].map(|name| pod(name, "web", &spread("web", ""))).concat();
    let ran = run_first(&format!("{}{pods}", three_nodes()));
    assert_eq!(["p", "q", "r", "s"].map(|name| node_of(&ran, name)), [Some("a"), Some("c"), Some("a"), Some("c")]);
}

#[test]
fn with_too_few_zones_each_has_only_as_many_pods_as_the_skew_allows() {
    let pods: String = ["p", "q", "r"].map(|name| pod(name, "web", &spread("web", ", minDomains: 3"))).concat();
    let ran = run(&format!(
        "{}{}{pods}",
        three_nodes(),
        "apiVersion: v1\nkind: Node\nmetadata: { name: d }\nstatus: { allocatable: { cpu: 8, memory: 8Gi, pods: 9 } }\n---\n"
    ));
    assert_eq!(["p", "q", "r"].map(|name| node_of(&ran, name)), [Some("a"), Some("c"), None]);
    let reasons = &ran.pod("r").reasons;
    assert_eq!(reasons[0].message, "3 nodes (`a`, `b`, `c`) have too many Pods like it already in the same `zone`");
    assert_eq!(reasons[1].message, "node `d` has no label `zone`, over whose values the Pod must be spread");
    assert_eq!(reasons[0].path, "spec.topologySpreadConstraints");
    let said = "0/4 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label), 3 node(s) didn't match pod topology spread constraints. ";
    assert!(reasons[2].message.starts_with(said), "{}", reasons[2].message);
}

#[test]
fn a_full_zone_holds_the_others_back_until_its_nodes_are_gone() {
    // Zone two has no room, so that the second Pod may go nowhere.
    let small = node("c", "two").replace("pods: 9", "pods: 0");
    let pods: String = ["p", "q"].map(|name| pod(name, "web", &spread("web", ""))).concat();
    let ran = run(&format!("{}{small}{pods}", node("a", "one")));
    assert_eq!([node_of(&ran, "p"), node_of(&ran, "q")], [Some("a"), None]);
}

#[test]
fn pods_of_other_namespaces_are_meant_by_the_labels_of_those() {
    let other = pod("other", "db", "  nodeName: a").replace("namespace: default", "namespace: prod");
    let spec = away("db", "kubernetes.io/hostname")
        .replace("topologyKey:", "namespaceSelector: { matchLabels: { stage: live } }, topologyKey:");
    let namespace = |stage: &str| {
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{ name: prod, labels: {{ stage: {stage} }} }}\n---\n")
    };
    for (stage, place) in [("live", "b"), ("test", "a")] {
        let ran = run_first(&format!("{}{}{other}{}", namespace(stage), three_nodes(), pod("p", "web", &spec)));
        assert_eq!(node_of(&ran, "p"), Some(place), "{stage}");
    }
}
