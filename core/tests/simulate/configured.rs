//! kube-scheduler with a configuration of its own.

use apportion_core::allocate::Limits;
use apportion_core::engine::Engine;
use apportion_core::finding::{Code, Severity};
use apportion_core::profile::{Profile, Ranking, Version};

use crate::support::{Ran, run_with};

/// One profile with these fields.
fn profile(fields: &str) -> String {
    format!(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- {{ {fields} }}\n---\n"
    )
}

fn node(name: &str, cpu: u64, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{ name: {name}, labels: {{ kubernetes.io/hostname: {name}, pool: of-{name} }} }}\nspec: {{ {more} }}\nstatus: {{ allocatable: {{ cpu: {cpu}, memory: {cpu}Gi, pods: 99, example.com/gpu: 8 }} }}\n---\n"
    )
}

fn pod(name: &str, spec: &str) -> String {
    let requests = "{ cpu: 1, memory: 1Gi }";
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name}, namespace: default, labels: {{ app: web }} }}\nspec: {{ containers: [{{ name: c, image: x, resources: {{ requests: {requests} }} }}], {spec} }}\n---\n"
    )
}

fn placed(yaml: &str, name: &str) -> (Ran, String) {
    let ran = run_with(yaml, Profile { placement: Ranking::Scores, ..Profile::of(Version::V1_36) });
    let node = ran.pod(name).node.clone().unwrap_or_default();
    (ran, node)
}

#[test]
fn strategies_and_weights_decide_about_nodes() {
    let rooms = [node("a", 4, ""), node("b", 8, "")].concat();
    let most = "pluginConfig: [{ name: NodeResourcesFit, args: { scoringStrategy: { type: MostAllocated, resources: [{ name: cpu, weight: 1 }] } } }]";
    let ratio = "pluginConfig: [{ name: NodeResourcesFit, args: { scoringStrategy: { type: RequestedToCapacityRatio, requestedToCapacityRatio: { shape: [{ utilization: 0, score: 0 }, { utilization: 100, score: 10 }] } } } }]";
    let off = "plugins: { score: { disabled: [{ name: NodeResourcesFit }] } }";
    for (fields, expected) in [("", "b"), (most, "a"), (ratio, "a"), (off, "a")] {
        let (_, node) = placed(&format!("{}{rooms}{}", profile(fields), pod("p", "")), "p");
        assert_eq!(node, expected, "{fields}");
    }
    let prefers = "affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [{ key: pool, operator: In, values: [of-a] }] } }] } }";
    let none = "plugins: { multiPoint: { disabled: [{ name: NodeAffinity }] } }";
    let heavy = "plugins: { score: { enabled: [{ name: NodeResourcesFit, weight: 100 }] } }";
    for (fields, expected) in [("", "a"), (none, "b"), (heavy, "b")] {
        let (_, node) = placed(&format!("{}{rooms}{}", profile(fields), pod("p", prefers)), "p");
        assert_eq!(node, expected, "{fields}");
    }
}

#[test]
fn affinity_for_all_pods_rules_nodes_out_and_is_named() {
    let rooms = [node("a", 4, ""), node("b", 8, "")].concat();
    let added = |pool: &str| {
        format!(
            "pluginConfig: [{{ name: NodeAffinity, args: {{ addedAffinity: {{ requiredDuringSchedulingIgnoredDuringExecution: {{ nodeSelectorTerms: [{{ matchExpressions: [{{ key: pool, operator: In, values: [{pool}] }}] }}] }} }} }} }}]"
        )
    };
    assert_eq!(placed(&format!("{}{rooms}{}", profile(&added("of-a")), pod("p", "")), "p").1, "a");
    let (ran, node) = placed(&format!("{}{rooms}{}", profile(&added("of-c")), pod("p", "")), "p");
    assert_eq!(node, "");
    let reasons = &ran.pod("p").reasons;
    assert!(
        reasons.iter().any(|reason| reason.message.contains("that the scheduler gives all its Pods")),
        "{reasons:?}"
    );
    // Both must hold: the Pod's own and that of all.
    let own = "affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: pool, operator: In, values: [of-b] }] }] } } }";
    assert_eq!(placed(&format!("{}{rooms}{}", profile(&added("of-a")), pod("p", own)), "p").1, "");
}

#[test]
fn filters_that_are_off_and_resources_that_are_ignored_rule_nothing_out() {
    let tainted = node("a", 4, "unschedulable: true, taints: [{ key: old, effect: NoSchedule }]");
    let off = |plugins: &[&str]| {
        let names: Vec<String> = plugins.iter().map(|name| format!("{{ name: '{name}' }}")).collect();
        profile(&format!("plugins: {{ filter: {{ disabled: [{}] }} }}", names.join(", ")))
    };
    for (plugins, expected) in [
        (["TaintToleration"].as_slice(), ""),
        (&["NodeUnschedulable"], ""),
        (&["TaintToleration", "NodeUnschedulable"], "a"),
        (&["*"], "a"),
    ] {
        assert_eq!(placed(&format!("{}{tainted}{}", off(plugins), pod("p", "")), "p").1, expected, "{plugins:?}");
    }
    let wants = "overhead: { other.example/thing: 1 }";
    let ignored = "pluginConfig: [{ name: NodeResourcesFit, args: { ignoredResourceGroups: [other.example] } }]";
    for (fields, expected) in [("", ""), (ignored, "a")] {
        assert_eq!(placed(&format!("{}{}{}", profile(fields), node("a", 4, ""), pod("p", wants)), "p").1, expected);
    }
}

#[test]
fn constraints_for_pods_that_have_none_hold_for_pods_of_a_service() {
    let rooms = [node("a", 4, ""), node("b", 64, "")].concat();
    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: default }\nspec: { selector: { app: web }, ports: [{ port: 80 }] }\n---\n";
    let listed = "pluginConfig: [{ name: PodTopologySpread, args: { defaultingType: List, defaultConstraints: [{ maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule }] } }]";
    let world = format!("{rooms}{}{}", pod("first", "nodeName: b"), pod("p", ""));
    assert_eq!(placed(&format!("{}{service}{world}", profile(listed)), "p").1, "a");
    assert_eq!(placed(&format!("{}{world}", profile(listed)), "p").1, "b");
}

#[test]
fn a_scheduler_that_is_listed_has_pods_of_its_own() {
    let rooms = [node("a", 4, ""), node("b", 8, "")].concat();
    let most = "schedulerName: packer, pluginConfig: [{ name: NodeResourcesFit, args: { scoringStrategy: { type: MostAllocated } } }]";
    let both = profile("").replace("profiles:\n", &format!("profiles:\n- {{ {most} }}\n"));
    let pods = [pod("p", "schedulerName: packer"), pod("q", "")].concat();
    let (ran, node) = placed(&format!("{both}{rooms}{pods}"), "p");
    assert_eq!((node.as_str(), ran.pod("q").node.as_deref()), ("a", Some("b")));
    // Only the schedulers that are listed run.
    let (ran, node) = placed(&format!("{}{rooms}{}", profile(most), pod("q", "")), "q");
    assert_eq!(node, "");
    assert_eq!(ran.pod("q").reasons[0].code, Code::RunNotModelled);
    assert!(ran.pod("q").reasons[0].message.contains("no scheduler `default-scheduler`"));
}

/// The controller's part `scheduler` decides by the same rules.
#[test]
fn pods_of_our_own_scheduler_are_placed() {
    let rooms = node("a", 4, "");
    for configuration in [String::new(), profile("")] {
        let own = placed(&format!("{configuration}{rooms}{}", pod("p", "schedulerName: apportion")), "p").1;
        let other = placed(&format!("{configuration}{rooms}{}", pod("p", "schedulerName: another")), "p").1;
        assert_eq!((own.as_str(), other.as_str()), ("a", ""));
    }
}

#[test]
fn without_default_preemption_nobody_goes() {
    let low = pod("low", "nodeName: a, priority: 0").replace("cpu: 1,", "cpu: 4,");
    let high = pod("high", "priority: 9");
    let off = "plugins: { postFilter: { disabled: [{ name: DefaultPreemption }] } }";
    for (fields, expected) in [("", "a"), (off, "")] {
        let (_, node) = placed(&format!("{}{}{low}{high}", profile(fields), node("a", 4, "")), "high");
        assert_eq!(node, expected, "{fields}");
    }
}

#[test]
fn what_kube_scheduler_would_not_start_with_is_found_with_its_place() {
    for (fields, path, message, severity) in [
        (
            "pluginConfig: [{ name: NodeResourcesFit, args: { scoringStrategy: { type: MostAlocated } } }]",
            "profiles[0].pluginConfig[0].args.scoringStrategy.type",
            "there is no strategy",
            Severity::Error,
        ),
        (
            "pluginConfig: [{ name: NodeResourcesFit, args: { strategy: {} } }]",
            "profiles[0].pluginConfig[0].args.strategy",
            "unknown field",
            Severity::Error,
        ),
        (
            "pluginConfig: [{ name: InterPodAffinity, args: { hardPodAffinityWeight: 101 } }]",
            "profiles[0].pluginConfig[0].args.hardPodAffinityWeight",
            "from 0 to 100",
            Severity::Error,
        ),
        (
            "pluginConfig: [{ name: NodeAffinity, args: { kind: NodeResourcesFitArgs } }]",
            "profiles[0].pluginConfig[0].args.kind",
            "no arguments of plugin",
            Severity::Error,
        ),
        (
            "plugins: { score: { enabled: [{ name: NodeResourceFit }] } }",
            "profiles[0].plugins.score.enabled[0].name",
            "no plugin `NodeResourceFit`",
            Severity::Warning,
        ),
        ("plugins: { scores: {} }", "profiles[0].plugins.scores", "unknown field", Severity::Error),
        ("percentageOfNodesToScore: 200", "profiles[0].percentageOfNodesToScore", "from 0 to 100", Severity::Error),
    ] {
        let reading = apportion_yaml::read(profile(fields).as_bytes(), &apportion_yaml::Limits::default());
        let text = reading.documents[0].value.to_string();
        let findings = Engine::new(Profile::default(), Limits::default()).apply([text.as_str()]).remove(0);
        let found = findings.iter().find(|finding| finding.path == path);
        let found = found.unwrap_or_else(|| panic!("{path}: {findings:?}"));
        assert!(found.message.contains(message) && found.severity == severity, "{found:?}");
    }
}
