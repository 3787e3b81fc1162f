//! Nodes compared as kube-scheduler compares them.

use apportion_core::allocate::Limits;
use apportion_core::ask::{PodScores, ScoresRequest, scores};
use apportion_core::engine::Engine;
use apportion_core::finding::{Code, ObjectRef};
use apportion_core::profile::{Mode, Profile, Ranking, Version};

use crate::support::{CLASS, Ran, apply, gpu_pod, run_with, slice};

fn scored(yaml: &str) -> Ran {
    scored_by(yaml, Version::V1_36)
}

fn scored_by(yaml: &str, version: Version) -> Ran {
    run_with(yaml, Profile { placement: Ranking::Scores, ..Profile::of(version) })
}

fn node(name: &str, cpu: u64, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{ name: {name}, labels: {{ kubernetes.io/hostname: {name}, topology.kubernetes.io/zone: z-{name} }} }}\nstatus: {{ allocatable: {{ cpu: {cpu}, memory: {cpu}Gi, pods: 99 }} }}\n{more}---\n"
    )
}

fn pod(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name}, namespace: default, labels: {{ app: web }} }}\nspec:\n  containers: [{{ name: c, image: big, resources: {{ requests: {{ cpu: 1, memory: 1Gi }} }} }}]\n{spec}\n---\n"
    )
}

fn nodes_of(ran: &Ran, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| ran.pod(name).node.clone().unwrap_or_default()).collect()
}

#[test]
fn pods_go_where_most_is_left() {
    let pods: String = ["p", "q", "r", "s"].map(|name| pod(name, "")).concat();
    let ran = scored(&format!("{}{}{pods}", node("a", 4, ""), node("b", 8, "")));
    assert_eq!(nodes_of(&ran, &["p", "q", "r", "s"]), ["b", "a", "b", "b"]);
}

#[test]
fn a_preferred_node_a_soft_taint_and_an_image_weigh_more_than_room() {
    let rooms = [node("a", 4, ""), node("b", 8, "")].concat();
    let preferred = "  affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [{ key: kubernetes.io/hostname, operator: In, values: [a] }] } }] } }";
    assert_eq!(nodes_of(&scored(&format!("{rooms}{}", pod("p", preferred))), &["p"]), ["a"]);
    let tainted = [node("a", 4, ""), node("b", 8, "spec: { taints: [{ key: old, effect: PreferNoSchedule }] }\n")];
    assert_eq!(nodes_of(&scored(&format!("{}{}", tainted.concat(), pod("p", ""))), &["p"]), ["a"]);
    let tolerated = pod("p", "  tolerations: [{ key: old, operator: Exists }]");
    assert_eq!(nodes_of(&scored(&format!("{}{tolerated}", tainted.concat())), &["p"]), ["b"]);
    let images = "images: [{ names: ['big:latest'], sizeBytes: 1048576000 }], ";
    let with_image = node("a", 4, "").replace("allocatable:", &format!("{images}allocatable:"));
    assert_eq!(nodes_of(&scored(&format!("{with_image}{}{}", node("b", 8, ""), pod("p", ""))), &["p"]), ["a"]);
}

#[test]
fn preferred_neighbours_and_spread_that_may_be_broken_count() {
    let rooms = [node("a", 4, ""), node("b", 16, "")].concat();
    let friend = pod("friend", "  nodeName: a").replace("app: web", "app: cache");
    let near = "  affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: kubernetes.io/hostname, labelSelector: { matchLabels: { app: cache } } } }] } }";
    assert_eq!(nodes_of(&scored(&format!("{rooms}{friend}{}", pod("p", near))), &["p"]), ["a"]);
    let away = near.replace("podAffinity:", "podAntiAffinity:");
    assert_eq!(nodes_of(&scored(&format!("{rooms}{friend}{}", pod("p", &away))), &["p"]), ["b"]);
    let spread = "  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: { matchLabels: { app: web } } }]";
    let first = pod("first", "  nodeName: b");
    assert_eq!(nodes_of(&scored(&format!("{rooms}{first}{}", pod("p", spread))), &["p"]), ["a"]);
}

#[test]
fn pods_of_a_service_or_a_replica_set_are_spread_by_default() {
    let rooms = [node("a", 4, ""), node("b", 16, "")].concat();
    let first = pod("first", "  nodeName: b");
    let world = format!("{rooms}{first}{}", pod("p", ""));
    assert_eq!(nodes_of(&scored(&world), &["p"]), ["b"]);
    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: default }\nspec: { selector: { app: web }, ports: [{ port: 80 }] }\n---\n";
    assert_eq!(nodes_of(&scored(&format!("{service}{world}")), &["p"]), ["a"]);
}

#[test]
fn devices_are_looked_for_from_the_best_node_down() {
    let rooms = [node("a", 4, ""), node("b", 8, ""), node("c", 16, "")].concat();
    let devices = [slice("a", 1), slice("b", 2)].concat();
    let pods = ["p", "q", "r"].map(gpu_pod).concat();
    for version in [Version::V1_34, Version::V1_35, Version::V1_36, Version::V1_37, Version::V1_38, Version::All] {
        let ran = scored_by(&format!("{CLASS}{rooms}{devices}{pods}"), version);
        // With one Pod `b` is as good as `a` without, and `a` is the first by name.
        assert_eq!(nodes_of(&ran, &["p", "q", "r"]), ["b", "a", "b"], "{version:?}");
    }
}

/// The scores of one Pod, without a run before.
fn compared(yaml: &str, pod: &str, version: Version) -> PodScores {
    let mut engine = Engine::new(Profile::of(version), Limits::default());
    apply(&mut engine, yaml);
    let request = ScoresRequest { pods: vec![ObjectRef::new("Pod", "default", pod)], brief: false };
    scores(engine.cluster(), &request, &Limits::default()).unwrap().remove(0)
}

/// What a plugin gives each node, by name.
fn given(scores: &PodScores, plugin: &str) -> Vec<i64> {
    scores.nodes.iter().map(|node| node.plugins[plugin]).collect()
}

#[test]
fn resources_score_as_in_kube_scheduler() {
    let rooms = [node("a", 4, ""), node("b", 8, "")].concat();
    let even = format!("{rooms}{}", pod("p", ""));
    let uneven = even.replace("cpu: 1, memory: 1Gi", "cpu: 1, memory: 2Gi");
    let nothing = even.replace("cpu: 1, memory: 1Gi", "");
    let whole = nothing.replace("  containers:", "  resources: { requests: { cpu: 1, memory: 1Gi } }\n  containers:");
    for (yaml, version, fit, balance) in [
        // (4 - 1) / 4 and (8 - 1) / 8 of both are left.
        (&even, Version::V1_36, [75, 87], [75, 75]),
        (&even, Version::V1_35, [75, 87], [100, 100]),
        // On `a` a quarter and a half are taken, on `b` an eighth and a quarter: deviations of 1/8 and 1/16.
        (&uneven, Version::V1_36, [62, 81], [68, 71]),
        (&uneven, Version::V1_35, [62, 81], [87, 93]),
        // What a Pod asks for as a whole counts for the balance alone.
        (&whole, Version::V1_36, [96, 97], [75, 75]),
        // 100m and 200Mi are assumed for what is left of nodes, nothing for the balance.
        (&nothing, Version::V1_36, [96, 97], [0, 0]),
    ] {
        let scores = compared(yaml, "p", version);
        assert_eq!(given(&scores, "NodeResourcesFit"), fit, "{version:?}");
        assert_eq!(given(&scores, "NodeResourcesBalancedAllocation"), balance, "{version:?}");
    }
    let scores = compared(&even, "p", Version::V1_36);
    // Three times 100 for taints that no node has.
    assert_eq!((scores.chosen.as_deref(), scores.score, scores.ties), (Some("b"), 300 + 87 + 75, 1));
    assert!(!scores.had_node);
}

#[test]
fn every_other_plugin_scores_as_in_kube_scheduler() {
    let rooms = |more: &str| [node("a", 8, ""), node("b", 8, more)].concat();
    let tainted =
        rooms("spec: { taints: [{ key: old, effect: PreferNoSchedule }, { key: slow, effect: PreferNoSchedule }] }\n");
    let half = "  tolerations: [{ key: old, operator: Exists }]";
    let scores = compared(&format!("{tainted}{}", pod("p", half)), "p", Version::V1_36);
    assert_eq!(given(&scores, "TaintToleration"), [100, 0]);

    let term = |weight: u8, name: &str| {
        format!(
            "{{ weight: {weight}, preference: {{ matchExpressions: [{{ key: kubernetes.io/hostname, operator: In, values: [{name}] }}] }} }}"
        )
    };
    let preferred = format!(
        "  affinity: {{ nodeAffinity: {{ preferredDuringSchedulingIgnoredDuringExecution: [{}, {}] }} }}",
        term(3, "a"),
        term(7, "b")
    );
    let scores = compared(&format!("{}{}", rooms(""), pod("p", &preferred)), "p", Version::V1_36);
    assert_eq!(given(&scores, "NodeAffinity"), [42, 100]);

    let images = "images: [{ names: ['big:latest'], sizeBytes: 1048576000 }], ";
    let with_image = node("a", 8, "").replace("allocatable:", &format!("{images}allocatable:"));
    let scores = compared(&format!("{with_image}{}{}", node("b", 8, ""), pod("p", "")), "p", Version::V1_36);
    // Half of 1000 MiB, as one of two nodes has the image: (500 - 23) / (1000 - 23).
    assert_eq!(given(&scores, "ImageLocality"), [48, 0]);
}

#[test]
fn volumes_that_are_filled_score_from_1_37_on() {
    let class = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: { name: local }\nprovisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n---\n";
    let volume = |name: &str, size: u8, node: &str| {
        format!(
            "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{ name: {name} }}\nspec: {{ storageClassName: local, capacity: {{ storage: {size}Gi }}, accessModes: [ReadWriteOnce], nodeAffinity: {{ required: {{ nodeSelectorTerms: [{{ matchExpressions: [{{ key: kubernetes.io/hostname, operator: In, values: [{node}] }}] }}] }} }} }}\n---\n"
        )
    };
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: data, namespace: default }\nspec: { storageClassName: local, accessModes: [ReadWriteOnce], resources: { requests: { storage: 3Gi } } }\n---\n";
    let own = "  volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }]";
    let volumes = [volume("v1", 10, "a"), volume("v2", 4, "b")].concat();
    let rooms = [node("a", 8, ""), node("b", 16, "")].concat();
    let world = format!("{class}{rooms}{volumes}{claim}{}", pod("p", own));
    let scores = compared(&world, "p", Version::V1_37);
    // 3 of 10 and 3 of 4 GiB are filled.
    assert_eq!(given(&scores, "VolumeBinding"), [70, 25]);
    assert_eq!(scores.chosen.as_deref(), Some("a"));
    let before = compared(&world, "p", Version::V1_36);
    assert_eq!((given(&before, "VolumeBinding"), before.chosen.as_deref()), (vec![0, 0], Some("b")));
    let arguments =
        "{ name: VolumeBinding, args: { shape: [{ utilization: 0, score: 0 }, { utilization: 100, score: 10 }] } }";
    let configuration = format!(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{{ pluginConfig: [{arguments}] }}]\n---\n"
    );
    let scores = compared(&format!("{configuration}{world}"), "p", Version::V1_37);
    assert_eq!(given(&scores, "VolumeBinding"), [30, 75]);
    // Where nobody wants to see scores, the same node is taken.
    assert_eq!(nodes_of(&scored_by(&world, Version::V1_37), &["p"]), ["a"]);
}

#[test]
fn placed_pods_score_as_in_kube_scheduler() {
    let rooms = [node("a", 16, ""), node("b", 16, ""), node("c", 16, "")].concat();
    let on = |name: &str, node: &str, spec: &str| pod(name, &format!("  nodeName: {node}\n{spec}"));
    let zones = [on("a1", "a", ""), on("a2", "a", ""), on("a3", "a", ""), on("b1", "b", "")].concat();
    let spread = "  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: { matchLabels: { app: web } } }]";
    let scores = compared(&format!("{rooms}{zones}{}", pod("p", spread)), "p", Version::V1_36);
    // Three zones: 3, 1 and 0 Pods times ln 5 are 5, 2 and 0.
    assert_eq!(given(&scores, "PodTopologySpread"), [0, 60, 100]);

    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: default }\nspec: { selector: { app: web } }\n---\n";
    let scores = compared(&format!("{service}{rooms}{zones}{}", pod("p", "")), "p", Version::V1_36);
    // By hosts and by zones, which are alike here: 2 times ln 5 for each Pod, and 2 and 4 of tolerated skew: 16, 9 and 6.
    assert_eq!(given(&scores, "PodTopologySpread"), [37, 81, 100]);

    let rule = |kind: &str, weight: u8| {
        format!(
            "  affinity: {{ {kind}: {{ preferredDuringSchedulingIgnoredDuringExecution: [{{ weight: {weight}, podAffinityTerm: {{ topologyKey: kubernetes.io/hostname, labelSelector: {{ matchLabels: {{ app: web }} }} }} }}] }} }}"
        )
    };
    let required = "  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: kubernetes.io/hostname, labelSelector: { matchLabels: { app: web } } }] } }";
    let held = [on("x", "a", &rule("podAffinity", 50)), on("w", "b", &rule("podAffinity", 28)), on("z", "b", required)];
    let scores = compared(&format!("{rooms}{}{}", held.concat(), pod("p", "")), "p", Version::V1_36);
    // 50, 28 + 1 for a requirement, 0; 29/50 is a little less than 0.58.
    assert_eq!(given(&scores, "InterPodAffinity"), [100, 57, 0]);
    let away = [on("x", "a", ""), on("w", "b", &rule("podAntiAffinity", 5))].concat();
    let scores = compared(&format!("{rooms}{away}{}", pod("p", &rule("podAntiAffinity", 10))), "p", Version::V1_36);
    assert_eq!(given(&scores, "InterPodAffinity"), [33, 0, 100]);
}

#[test]
fn alternatives_score_from_1_35_on() {
    let template = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: { namespace: default, name: some }\nspec: { spec: { devices: { requests: [{ name: gpu, firstAvailable: [{ name: two, deviceClassName: gpu.example.com, count: 2 }, { name: one, deviceClassName: gpu.example.com }] }] } } }\n---\n";
    let rooms = [node("a", 8, ""), node("b", 8, ""), slice("a", 1), slice("b", 2)].concat();
    let wish = pod("p", "  resourceClaims: [{ name: gpu, resourceClaimTemplateName: some }]");
    let yaml = format!("{CLASS}{template}{rooms}{wish}");
    let scores = compared(&yaml, "p", Version::V1_35);
    assert_eq!(given(&scores, "DynamicResources"), [87, 100]);
    assert_eq!((scores.chosen.as_deref(), scores.ties), (Some("b"), 1));
    let scores = compared(&yaml, "p", Version::V1_34);
    assert_eq!(given(&scores, "DynamicResources"), [0, 0]);
    assert_eq!((scores.chosen.as_deref(), scores.ties), (Some("a"), 2));
}

#[test]
fn scores_are_given_for_pods_that_had_a_node_and_in_brief_for_all() {
    let rooms = [node("a", 8, ""), node("b", 8, "")].concat();
    let yaml = format!(
        "{rooms}{}{}{}",
        pod("old", "  nodeName: b"),
        pod("p", ""),
        pod("q", "  schedulingGates: [{ name: x }]")
    );
    let old = compared(&yaml, "old", Version::V1_36);
    // `p` is on `a` at the end.
    assert_eq!((old.chosen.as_deref(), old.ties, old.had_node), (Some("b"), 1, true));
    assert_eq!(given(&old, "NodeResourcesFit"), [75, 87]);
    let held = compared(&yaml, "q", Version::V1_36);
    assert_eq!((held.chosen, held.ties, held.nodes.len()), (None, 0, 0));

    let mut engine = Engine::new(Profile::of(Version::V1_36), Limits::default());
    apply(&mut engine, &yaml);
    let all = ScoresRequest { brief: true, ..ScoresRequest::default() };
    let all = scores(engine.cluster(), &all, &Limits::default()).unwrap();
    let shown: Vec<_> = all.iter().map(|one| (one.pod.name.as_str(), one.chosen.as_deref(), one.nodes.len())).collect();
    assert_eq!(shown, [("p", Some("a"), 1)]);

    let request = ScoresRequest { pods: vec![ObjectRef::new("Node", "", "a")], ..ScoresRequest::default() };
    let findings = scores(engine.cluster(), &request, &Limits::default()).unwrap_err();
    assert_eq!(findings[0].code, Code::ReadBadSettings);
}

/// kube-scheduler stops at 100 nodes that fit, and begins the next time where it stopped; `sound` mode compares all.
#[test]
fn reference_mode_compares_a_sample_of_a_large_cluster() {
    let names = ["p", "q", "r", "s"];
    // The large node is the last one of 150.
    let cpu = |number: u64| if number == 149 { 64 } else { 8 };
    let rooms: String = (0..150).map(|number| node(&format!("n{number:03}"), cpu(number), "")).collect();
    let world = format!("{rooms}{}", names.map(|name| pod(name, "")).concat());
    let placed = |mode, part: &str| {
        let configuration = format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{part}profiles: [{{ schedulerName: default-scheduler }}]\n---\n"
        );
        let profile = Profile { mode, placement: Ranking::Scores, ..Profile::of(Version::V1_36) };
        let ran = run_with(&format!("{configuration}{world}"), profile);
        (nodes_of(&ran, &names).join(" "), ran.has(Code::RunNotModelled))
    };
    let part = "percentageOfNodesToScore: 40\n";
    let all = "n149 n149 n149 n149".to_owned();
    assert_eq!(placed(Mode::Sound, ""), (all.clone(), false));
    assert_eq!(placed(Mode::Sound, part), (all.clone(), true));
    assert_eq!(placed(Mode::Reference, part), ("n000 n149 n149 n001".to_owned(), false));
    assert_eq!(placed(Mode::Reference, "percentageOfNodesToScore: 100\n"), (all, false));
}
