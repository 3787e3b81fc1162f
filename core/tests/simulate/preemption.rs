//! Pods of higher priority take the places of others. What is expected follows kube-scheduler's DefaultPreemption.

use apportion_core::api::pod::Pod;
use apportion_core::finding::Code;
use apportion_core::profile::{Mode, Profile, Version};

use crate::support::{CLASS, Ran, run, run_with, slice};

/// A node with this much cpu.
fn node(name: &str, cpu: u32) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{ name: {name}, labels: {{ kubernetes.io/hostname: {name} }} }}\nstatus: {{ allocatable: {{ cpu: '{cpu}', memory: 8Gi, pods: 9 }} }}\n---\n"
    )
}

/// A Pod with a priority that asks for so much cpu; further lines of its metadata and spec.
fn pod(name: &str, priority: i64, cpu: u32, metadata: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name}{metadata} }}\nspec:\n  priority: {priority}\n  containers: [{{ name: c, resources: {{ requests: {{ cpu: '{cpu}' }} }} }}]\n{spec}\n---\n"
    )
}

/// The same on a node, where it started at a minute of an hour.
fn placed(name: &str, priority: i64, cpu: u32, node: &str, minute: u32) -> String {
    let status =
        format!("  nodeName: {node}\nstatus: {{ phase: Running, startTime: '2026-01-01T00:{minute:02}:00Z' }}");
    pod(name, priority, cpu, &format!(", labels: {{ app: {name} }}"), &status)
}

/// A budget for the Pods of a name.
fn budget(app: &str, rest: &str) -> String {
    format!(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{ name: {app}, namespace: default }}\nspec: {{ selector: {{ matchLabels: {{ app: {app} }} }}{rest}\n---\n"
    )
}

/// Names of the Pods that had to go, in that order.
fn victims(ran: &Ran) -> Vec<String> {
    let gone = ran.report.findings.iter().filter(|finding| finding.code == Code::RunPreempted);
    gone.filter_map(|finding| Some(finding.object.as_ref()?.name.clone())).collect()
}

fn place<'r>(ran: &'r Ran, name: &str) -> Option<&'r str> {
    ran.pod(name).node.as_deref()
}

fn said(ran: &Ran, name: &str) -> String {
    ran.pod(name).reasons.last().unwrap().message.clone()
}

/// A Pod that was put on its node by hand has the priority of its class as well.
#[test]
fn a_pod_placed_by_hand_has_the_priority_of_its_class() {
    let class = |name: &str, value: i64, rest: &str| {
        format!(
            "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{ name: {name} }}\nvalue: {value}\n{rest}\n---\n"
        )
    };
    let placed = |spec: &str| pod("there", 0, 1, "", &format!("  nodeName: a\n{spec}")).replace("  priority: 0\n", "");
    let named = [class("top", 900, ""), placed("  priorityClassName: top")].concat();
    let default = [class("usual", 900, "globalDefault: true"), placed("")].concat();
    for there in [named, default] {
        let other = pod("other", 0, 1, "", "  priorityClassName: mid").replace("  priority: 0\n", "");
        let ran = run(&[node("a", 1), class("mid", 100, ""), there, other].concat());
        assert_eq!((place(&ran, "there"), place(&ran, "other")), (Some("a"), None));
    }
}

/// Where it would have to go, too, it does not count; on other nodes it still does.
#[test]
fn a_pod_that_keeps_others_away_still_does_so_on_later_nodes() {
    let racked = |name: &str| node(name, 1).replace("labels: { ", "labels: { rack: r, ");
    let away = "requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: rack, labelSelector: { matchLabels: { app: high } } }]";
    let guard = format!("  affinity: {{ podAntiAffinity: {{ {away} }} }}\n  nodeName: a\nstatus: {{ phase: Running }}");
    let pods =
        [pod("guard", 1, 1, "", &guard), placed("low", 0, 1, "b", 0), pod("high", 9, 1, ", labels: { app: high }", "")];
    let ran = run(&[racked("a"), racked("b"), pods.concat()].concat());
    assert_eq!((victims(&ran), place(&ran, "high")), (vec!["guard".to_owned()], Some("a")));
}

#[test]
fn a_pod_of_lower_priority_goes_for_one_that_fits_nowhere() {
    let ran = run(&[node("a", 1), placed("low", 1, 1, "a", 0), pod("high", 9, 1, "", "")].concat());
    assert_eq!(place(&ran, "high"), Some("a"));
    assert_eq!(ran.pod_names(), ["high"]);
    let finding = ran.finding(Code::RunPreempted);
    assert_eq!(
        finding.message,
        "Pod `default/low` (priority 1) is evicted from node `a` to make room for Pod `default/high` (priority 9)"
    );
    assert_eq!(finding.object.as_ref().unwrap().name, "low");
    assert!(!ran.has(Code::RunNotModelled));
    let high: &Pod = ran.pod_object("high");
    assert_eq!(high.status.nominated_node_name, "");
}

#[test]
fn nobody_goes_where_there_is_room_or_for_equals_or_for_pods_that_never_preempt() {
    let low = placed("low", 5, 1, "a", 0);
    let free = run(&[node("a", 1), node("b", 1), low.clone(), pod("high", 9, 1, "", "")].concat());
    assert_eq!((place(&free, "high"), place(&free, "low")), (Some("b"), Some("a")));
    let equal = run(&[node("a", 1), low.clone(), pod("other", 5, 1, "", "")].concat());
    assert_eq!((place(&equal, "other"), victims(&equal)), (None, Vec::new()));
    let never = run(&[node("a", 1), low, pod("high", 9, 1, "", "  preemptionPolicy: Never")].concat());
    assert_eq!((place(&never, "high"), victims(&never)), (None, Vec::new()));
    let expected =
        "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.";
    assert_eq!(said(&never, "high"), expected);
}

#[test]
fn as_few_go_as_needed_and_the_most_important_stay() {
    let pods = [
        placed("old", 1, 2, "a", 0),
        placed("young", 1, 2, "a", 9),
        placed("lowest", 0, 1, "a", 0),
        placed("important", 5, 3, "a", 9),
        pod("high", 9, 2, "", ""),
    ];
    let ran = run(&[node("a", 8), pods.concat()].concat());
    assert_eq!(place(&ran, "high"), Some("a"));
    // `lowest` alone frees too little, and with `young` gone it may stay.
    assert_eq!(victims(&ran), ["young"]);
    let larger = run(&[node("a", 8), pods[..4].concat(), pod("high", 9, 3, "", "")].concat());
    assert_eq!(victims(&larger), ["young", "lowest"]);
}

#[test]
fn the_node_is_the_one_whose_pods_matter_least() {
    let high = || pod("high", 9, 4, "", "");
    let nodes = || [node("a", 4), node("b", 4)].concat();
    // The lower one of the highest priorities.
    let one = [placed("x", 3, 4, "a", 0), placed("v", 1, 2, "b", 0), placed("z", 2, 2, "b", 0)].concat();
    assert_eq!(place(&run(&[nodes(), one, high()].concat()), "high"), Some("b"));
    // Then the smaller sum, which is that of fewer Pods, whatever their priorities are.
    let fewer = [placed("x", 2, 2, "a", 0), placed("v", -9, 2, "a", 0), placed("z", 2, 4, "b", 0)].concat();
    assert_eq!(place(&run(&[nodes(), fewer, high()].concat()), "high"), Some("b"));
    let lower =
        [placed("w", 2, 2, "a", 0), placed("x", 1, 2, "a", 0), placed("v", 2, 2, "b", 0), placed("z", 0, 2, "b", 0)];
    assert_eq!(place(&run(&[nodes(), lower.concat(), high()].concat()), "high"), Some("b"));
    // Then those of the highest priority that have run for the shortest time.
    let younger = [placed("x", 2, 4, "a", 1), placed("v", 2, 4, "b", 2)].concat();
    assert_eq!(place(&run(&[nodes(), younger, high()].concat()), "high"), Some("b"));
    // Then the first by name.
    let equal = [placed("x", 2, 4, "a", 1), placed("v", 2, 4, "b", 1)].concat();
    assert_eq!(place(&run(&[nodes(), equal, high()].concat()), "high"), Some("a"));
}

#[test]
fn a_budget_sends_the_pod_elsewhere_but_does_not_stop_it() {
    let nodes = || [node("a", 1), node("b", 1)].concat();
    let pods = || [placed("kept", 1, 1, "a", 0), placed("other", 5, 1, "b", 0), pod("high", 9, 1, "", "")].concat();
    assert_eq!(victims(&run(&[nodes(), pods()].concat())), ["kept"]);
    for rest in [
        ", minAvailable: 1 }",
        ", minAvailable: 0 }\nstatus: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 }",
        ", maxUnavailable: 0 }",
    ] {
        assert_eq!(victims(&run(&[nodes(), pods(), budget("kept", rest)].concat())), ["other"], "{rest}");
    }
    for rest in [", minAvailable: 0 }", ", minAvailable: 1 }\nstatus: { disruptionsAllowed: 1 }"] {
        assert_eq!(victims(&run(&[nodes(), pods(), budget("kept", rest)].concat())), ["kept"], "{rest}");
    }
    let both = [budget("kept", ", minAvailable: 1 }"), budget("other", ", minAvailable: 1 }")].concat();
    assert_eq!(victims(&run(&[nodes(), pods(), both].concat())), ["kept"]);
}

/// Up to 1.36 a Pod counts for all budgets that select it, from 1.37 on for those up to the first that it breaks.
#[test]
fn budgets_behind_a_broken_one_are_charged_up_to_1_36() {
    let of = |name: &str, allowed: u32| {
        format!(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{ name: {name}, namespace: default }}\nspec: {{ selector: {{ matchLabels: {{ {name}: x }} }}, minAvailable: 1 }}\nstatus: {{ disruptionsAllowed: {allowed} }}\n---\n"
        )
    };
    let on = |name: &str, priority: i64, cpu: u32, labels: &str, node: &str| {
        let rest = format!("  nodeName: {node}\nstatus: {{ phase: Running, startTime: '2026-01-01T00:00:00Z' }}");
        pod(name, priority, cpu, &format!(", labels: {{ {labels} }}"), &rest)
    };
    let pods =
        [on("both", 2, 1, "one: x, two: x", "a"), on("second", 1, 1, "two: x", "a"), on("first", 3, 2, "one: x", "b")];
    let wish = pod("high", 9, 2, "", "");
    let all = [node("a", 2), node("b", 2), pods.concat(), of("one", 0), of("two", 1), wish].concat();
    let of_version = |version| victims(&run_with(&all, Profile::of(version)));
    assert_eq!(of_version(Version::V1_36), ["first"]);
    assert_eq!(of_version(Version::V1_37), ["both", "second"]);
}

#[test]
fn a_node_that_takes_no_pods_may_be_freed() {
    let ran = run(&[node("a", 4).replace("pods: 9", "pods: 0"), pod("p", 0, 1, "", "")].concat());
    let message = said(&ran, "p");
    assert!(message.starts_with("0/1 nodes are available: 1 Too many pods. preemption: "), "{message}");
    assert!(!message.contains("not helpful"), "{message}");
    assert_eq!(ran.pod("p").reasons[0].message, "the only node, `a`, has room for no Pods at all");
}

#[test]
fn a_pod_that_a_budget_keeps_stays_before_more_important_ones() {
    let pods = [placed("kept", 1, 1, "a", 0), placed("other", 5, 1, "a", 0), pod("high", 9, 1, "", "")].concat();
    assert_eq!(victims(&run(&[node("a", 2), pods.clone()].concat())), ["kept"]);
    assert_eq!(victims(&run(&[node("a", 2), pods, budget("kept", ", minAvailable: 100% }")].concat())), ["other"]);
    let one = |name: &str| placed(name, 1, 1, "a", 0).replace(&format!("app: {name}"), "app: both");
    let pods = [one("first"), one("second"), placed("other", 5, 1, "a", 0), pod("high", 9, 2, "", "")].concat();
    // One of two may go: which one is taken first does not break the budget.
    assert_eq!(
        victims(&run(&[node("a", 3), pods, budget("both", ", minAvailable: 1 }")].concat())),
        ["other", "first"]
    );
}

#[test]
fn who_lacks_devices_finds_nobody_to_take_the_place_of() {
    let claims = "  resourceClaims: [{ name: gpu, resourceClaimTemplateName: one-gpu }]";
    let objects = [node("a", 4), CLASS.to_owned(), slice("a", 1)].concat();
    let low = pod("low", 1, 1, "", claims);
    let ran = run(&[objects.clone(), low].concat());
    let mut engine = ran.engine;
    crate::support::apply(&mut engine, &pod("high", 9, 1, "", claims));
    let report = engine.run();
    let high = report.pods.iter().find(|pod| pod.name == "high").unwrap();
    assert_eq!(high.node, None);
    assert!(report.findings.iter().all(|finding| finding.code != Code::RunPreempted));
    let expected = "0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
    assert_eq!(high.reasons.last().unwrap().message, expected);
    // Nor does room help that Pods with lower priority would give: the devices are looked at then.
    let both = [
        objects,
        placed("full", 1, 4, "a", 0),
        pod("high", 9, 1, "", "  resourceClaims: [{ name: gpu, resourceClaimTemplateName: none }]"),
    ]
    .concat();
    assert_eq!(place(&run(&both), "full"), Some("a"));
}

#[test]
fn each_node_says_why_nobody_goes_there() {
    let nodes = [node("a", 1), node("b", 2), node("c", 4), node("d", 2)].concat();
    let pods = [
        placed("equal", 9, 2, "b", 0),
        placed("low", 1, 1, "c", 0),
        placed("same", 9, 2, "c", 0),
        placed("lower", 1, 1, "d", 0),
        placed("high", 9, 1, "d", 0),
    ];
    let wish = pod("wish", 9, 2, "", "");
    let ran =
        run_with(&[nodes, pods.concat(), placed("more", 9, 1, "c", 0), wish].concat(), Profile::of(Version::V1_36));
    assert_eq!(
        said(&ran, "wish"),
        "0/4 nodes are available: 4 Insufficient cpu. no new claims to deallocate, preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling, 2 Insufficient cpu."
    );
}

#[test]
fn a_neighbour_that_keeps_the_pod_away_goes() {
    let anti = "  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: kubernetes.io/hostname, labelSelector: { matchLabels: { app: low } } }] } }";
    let pods = [placed("low", 1, 1, "a", 0), placed("other", 1, 1, "a", 0), pod("high", 9, 1, "", anti)].concat();
    let ran = run(&[node("a", 9), pods].concat());
    assert_eq!((place(&ran, "high"), victims(&ran)), (Some("a"), vec!["low".to_owned()]));
}

#[test]
fn a_workload_makes_another_pod_that_waits_behind_the_one_that_took_the_place() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web, namespace: default }\nspec:\n  replicas: 2\n  selector: { matchLabels: { app: web } }\n  template:\n    metadata: { labels: { app: web } }\n    spec: { priority: 1, containers: [{ name: c, resources: { requests: { cpu: 1 } } }] }\n---\n";
    let ran = run(&[node("a", 2), deployment.to_owned()].concat());
    let mut engine = ran.engine;
    crate::support::apply(&mut engine, &pod("high", 9, 1, "", ""));
    let report = engine.run();
    let on_a = report.nodes[0].pods.len();
    let waiting = report.pods.iter().filter(|pod| pod.node.is_none()).count();
    assert_eq!((report.pods.len(), on_a, waiting), (3, 2, 1));
    assert_eq!(report.findings.iter().filter(|finding| finding.code == Code::RunPreempted).count(), 1);
    assert_eq!(report.pods[0].node.as_deref(), Some("a"));
}

#[test]
fn a_pod_that_a_finalizer_holds_gives_its_place_up() {
    let held =
        placed("held", 1, 1, "a", 0).replace(", labels", ", finalizers: [batch.kubernetes.io/job-tracking], labels");
    let ran = run(&[node("a", 1), held, pod("high", 9, 1, "", "")].concat());
    assert_eq!((place(&ran, "high"), victims(&ran)), (Some("a"), vec!["held".to_owned()]));
    assert_eq!(ran.pod_object("held").status.phase, "Failed");
}

#[test]
fn who_waits_for_others_to_end_says_so_and_keeps_the_place() {
    let slow = placed("slow", 1, 1, "a", 0).replace("  priority", "  terminationGracePeriodSeconds: 900\n  priority");
    let ran = run_with(
        &[node("a", 1), slow, pod("high", 9, 1, "", ""), pod("later", 5, 1, "", "")].concat(),
        Profile::of(Version::V1_36),
    );
    assert_eq!((place(&ran, "high"), place(&ran, "later")), (None, None));
    assert_eq!(ran.pod_object("high").status.nominated_node_name, "a");
    let expected = "the Pod waits for node `a`, which `default/slow` has to leave to make room for it";
    assert_eq!(ran.reason("high").message, expected);
    assert!(said(&ran, "high").ends_with("preemption: not eligible due to a terminating pod on the nominated node."));
    let condition =
        ran.pod_object("slow").status.conditions.iter().find(|one| one["type"] == "DisruptionTarget").unwrap();
    assert_eq!(condition["reason"], "PreemptionByScheduler");
    assert_eq!(condition["message"], "default-scheduler: preempting to accommodate a higher priority pod");
    assert_eq!(victims(&ran), ["slow"]);
}

/// Two Pods that were put on one node by hand have the same host port. When one of them goes, kube-scheduler takes the port for free.
#[test]
fn only_the_reference_takes_a_port_for_free_that_a_second_pod_has() {
    let port = "ports: [{ containerPort: 80, hostPort: 80 }], resources";
    let with_port = |pod: String| pod.replace("resources", port);
    let there = [placed("keeps", 500, 2, "a", 1), placed("goes", 0, 1, "a", 2)].map(with_port).concat();
    let text = [node("a", 3), there, with_port(pod("asks", 100, 2, "", ""))].concat();
    let said_in = |mode: Mode| {
        let ran = run_with(&text, Profile { mode, ..Profile::of(Version::V1_37) });
        said(&ran, "asks").split_once("preemption: ").unwrap().1.to_owned()
    };
    assert_eq!(said_in(Mode::Reference), "0/1 nodes are available: 1 Insufficient cpu.");
    assert_eq!(
        said_in(Mode::Sound),
        "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
    );
}

/// What one Pod learned of a node holds for the next one only as long as budgets let as many Pods go.
#[test]
fn a_budget_that_is_used_up_counts_for_the_next_pod() {
    let of_shop = |name: &str, node: &str| {
        placed(name, 1, 2, node, 1).replace("{ app: a1 }", "{ app: shop }").replace("{ app: a2 }", "{ app: shop }")
    };
    let cluster = [
        node("n1", 2),
        node("n2", 2),
        node("n3", 2),
        of_shop("a1", "n1"),
        of_shop("a2", "n2"),
        placed("b", 5, 2, "n3", 1),
        budget("shop", ", minAvailable: 1 }"),
        pod("high-1", 100, 2, "", ""),
        pod("high-2", 100, 2, "", ""),
    ]
    .concat();
    assert_eq!(victims(&run(&cluster)), ["a1", "b"]);
    // Where both may go, they do: they are the least important ones.
    assert_eq!(victims(&run(&cluster.replace("minAvailable: 1", "minAvailable: 0"))), ["a1", "a2"]);
}
