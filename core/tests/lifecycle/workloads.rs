//! Workloads while time passes: Pods that go are replaced, numbers and templates are followed; priorities; what is not looked at.

use apportion_core::allocate::Limits;
use apportion_core::api::object::read_object;
use apportion_core::cluster::Cluster;
use apportion_core::control_plane::{Command, Component, Simulation, unmodelled};
use apportion_core::profile::{Profile, Ranking};
use serde_json::json;

use crate::play::{NS, Play, documents, key, profile};

/// A workload whose Pods have a claim each.
fn workload(kind: &str, replicas: u64) -> String {
    format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: serve, namespace: default}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: serve}}}}\n  template:\n    metadata: {{labels: {{app: serve}}}}\n    spec:\n      containers: [{{name: c, image: x, resources: {{claims: [{{name: gpu}}]}}}}]\n      resourceClaims: [{{name: gpu, resourceClaimTemplateName: gpu-template}}]\n"
    )
}

fn play(kind: &str, replicas: u64) -> Play {
    let mut play = Play::new();
    play.apply(&workload(kind, replicas));
    assert_eq!(play.simulation.begin(), []);
    play.run(5);
    play
}

/// Names of Pods that are not about to go and have not ended.
fn names(play: &Play) -> Vec<String> {
    let pods = play.simulation.server().cluster().pods().values();
    let lives = pods.filter(|pod| !pod.metadata.is_deleting() && !pod.is_finished());
    lives.map(|pod| pod.metadata.name.clone()).collect()
}

/// Asks for a Pod to be deleted; its node takes some time.
fn ask_to_go(play: &mut Play, name: &str) {
    let now = play.simulation.now();
    play.simulation.server_mut().delete(&key("Pod", name), "", Some(30), now).unwrap();
    play.run(1);
}

#[test]
fn a_deployment_replaces_a_pod_at_once_and_its_claim_with_it() {
    let mut play = play("Deployment", 2);
    let before = names(&play);
    assert_eq!((before.len(), play.claims().len()), (2, 2));
    ask_to_go(&mut play, &before[0]);
    let after = names(&play);
    assert_eq!((after.len(), play.claims().len()), (2, 3), "the Pod that ends still has its claim");
    assert!(after.contains(&before[1]) && !after.contains(&before[0]));
    play.run(60);
    assert_eq!((names(&play), play.claims().len()), (after.clone(), 2));
    assert!(after.iter().all(|name| play.pod(name).spec.node_name == "node-1"));
    // One that fails is replaced, too, and stays to be looked at.
    play.patch("Pod", &after[0], true, json!({ "status": { "phase": "Failed" } }));
    assert_eq!((names(&play).len(), play.simulation.server().cluster().pods().len()), (2, 3));
}

#[test]
fn a_stateful_set_replaces_a_pod_by_one_of_its_name_once_it_is_gone() {
    let mut play = play("StatefulSet", 2);
    assert_eq!(names(&play), ["serve-0", "serve-1"]);
    let uid = play.pod("serve-0").metadata.uid.clone();
    ask_to_go(&mut play, "serve-0");
    assert_eq!(names(&play), ["serve-1"]);
    play.run(60);
    assert_eq!(names(&play), ["serve-0", "serve-1"]);
    assert_ne!(play.pod("serve-0").metadata.uid, uid);
    assert_eq!(play.claims().len(), 2);
}

#[test]
fn pods_of_a_workload_that_goes_are_not_replaced() {
    for kind in ["Deployment", "StatefulSet"] {
        let mut play = play(kind, 3);
        let now = play.simulation.now();
        let mut object = key(kind, "serve");
        object.namespace = NS.to_owned();
        play.simulation.server_mut().delete(&object, "", None, now).unwrap();
        play.run(120);
        assert_eq!(names(&play), [""; 0]);
        assert_eq!(play.claims().len(), 0);
    }
}

#[test]
fn a_workload_that_comes_later_gets_its_pods() {
    let mut play = Play::new();
    play.simulation.begin();
    play.apply(&workload("Deployment", 3));
    play.run(5);
    assert_eq!((names(&play).len(), play.claims().len()), (3, 3));
}

/// A controller that stops before any of its writes makes no Pod twice.
#[test]
fn a_controller_that_stops_goes_on_replacing() {
    for lost in 0..6 {
        let mut play = play("Deployment", 3);
        for name in names(&play).into_iter().take(2) {
            play.simulation.lose_write_after(lost);
            play.delete("Pod", &name);
        }
        play.restart(Component::Controllers, |_| {});
        play.restart(Component::Scheduler, |_| {});
        play.run(30);
        assert_eq!((names(&play).len(), play.claims().len()), (3, 3), "write {lost}");
    }
}

/// Pods that an evicted device takes with it come back, and wait for another device.
#[test]
fn an_evicted_pod_is_replaced() {
    let mut play = play("Deployment", 4);
    play.apply("{apiVersion: resource.k8s.io/v1beta2, kind: DeviceTaintRule, metadata: {name: broken}, spec: {deviceSelector: {driver: gpu.example.com, device: gpu-0}, taint: {key: k, effect: NoExecute}}}");
    play.run(60);
    let names = names(&play);
    let placed = names.iter().filter(|name| !play.pod(name).spec.node_name.is_empty()).count();
    assert_eq!((names.len(), placed), (4, 3), "three devices are left");
}

/// Replicas of a ReplicaSet by its name.
fn replica_sets(play: &Play) -> Vec<(String, i64)> {
    let sets = play.simulation.server().list("ReplicaSet");
    sets.map(|set| {
        (set["metadata"]["name"].as_str().unwrap().to_owned(), set["spec"]["replicas"].as_i64().unwrap_or(1))
    })
    .collect()
}

#[test]
fn a_deployment_is_scaled_up_and_down_and_pods_that_wait_go_first() {
    let mut play = play("Deployment", 3);
    let first = names(&play);
    play.patch("Deployment", "serve", false, json!({ "spec": { "replicas": 6 } }));
    play.run(5);
    let all = names(&play);
    let waiting: Vec<&String> = all.iter().filter(|name| play.pod(name).spec.node_name.is_empty()).collect();
    assert_eq!((all.len(), waiting.len()), (6, 2), "four devices");
    play.patch("Deployment", "serve", false, json!({ "spec": { "replicas": 3 } }));
    play.run(60);
    assert_eq!(names(&play), first, "the ones that wait, and the newest");
    play.patch("Deployment", "serve", false, json!({ "spec": { "replicas": 0 } }));
    play.run(60);
    assert_eq!((names(&play).len(), play.claims().len()), (0, 0));
}

#[test]
fn a_stateful_set_is_scaled_down_from_its_last_pod() {
    let mut play = play("StatefulSet", 4);
    play.patch("StatefulSet", "serve", false, json!({ "spec": { "replicas": 2 } }));
    play.run(60);
    assert_eq!(names(&play), ["serve-0", "serve-1"]);
    play.patch("Pod", "serve-0", true, json!({ "status": { "phase": "Failed" } }));
    play.run(5);
    assert_eq!(names(&play), ["serve-0", "serve-1"], "one that failed is made again");
}

fn new_label() -> serde_json::Value {
    json!({ "spec": { "template": { "metadata": { "labels": { "app": "serve", "of": "two" } } } } })
}

/// As many as may be missing, and as many more as may be there at a time.
#[test]
fn a_deployment_rolls_to_a_new_template() {
    for (strategy, most, least) in [
        (json!({ "type": "Recreate" }), 3, 0),
        (json!({ "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } }), 4, 3),
        (json!({ "rollingUpdate": { "maxSurge": 0, "maxUnavailable": "34%" } }), 3, 2),
    ] {
        let mut play = play("Deployment", 3);
        play.patch("Deployment", "serve", false, json!({ "spec": { "strategy": strategy } }));
        play.patch("Deployment", "serve", false, new_label());
        let (mut seen_most, mut seen_least) = (0, usize::MAX);
        for _ in 0..200 {
            let pods: Vec<_> = play.simulation.server().cluster().pods().values().collect();
            let lives = pods.iter().filter(|pod| !pod.metadata.is_deleting());
            let running = lives.clone().filter(|pod| pod.status.phase == "Running").count();
            seen_most = seen_most.max(lives.count());
            seen_least = seen_least.min(running);
            play.run(1);
        }
        assert!(seen_most <= most && seen_least >= least, "{strategy}: {seen_least} to {seen_most}");
        let names = names(&play);
        assert_eq!(names.len(), 3, "{strategy}");
        assert!(names.iter().all(|name| play.pod(name).metadata.labels["of"] == "two"), "{strategy}");
        let mut sizes: Vec<i64> = replica_sets(&play).into_iter().map(|(_, size)| size).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [0, 3], "{strategy}");
    }
}

#[test]
fn stateful_sets_and_daemon_sets_replace_pods_of_an_earlier_template() {
    for kind in ["StatefulSet", "DaemonSet"] {
        let mut play = play(kind, 3);
        let before = names(&play);
        play.patch(kind, "serve", false, new_label());
        play.run(200);
        let after = names(&play);
        assert_eq!(before.len(), after.len(), "{kind}");
        assert!(after.iter().all(|name| play.pod(name).metadata.labels["of"] == "two"), "{kind}");
    }
}

#[test]
fn a_daemon_set_follows_its_nodes() {
    let mut play = play("DaemonSet", 1);
    assert_eq!(names(&play).len(), 1);
    play.apply("{apiVersion: v1, kind: Node, metadata: {name: node-2}}");
    play.run(5);
    assert_eq!(names(&play).len(), 2);
    play.patch("Node", "node-2", false, json!({ "spec": { "taints": [{ "key": "k", "effect": "NoSchedule" }] } }));
    play.run(60);
    assert_eq!(names(&play).len(), 1);
}

#[test]
fn a_deployment_of_a_script_gets_its_pods_once() {
    let mut play = Play::new();
    play.simulation.begin();
    play.run(10);
    let object = crate::play::documents(&workload("Deployment", 2)).remove(0);
    play.simulation.perform(Command::Create(object)).unwrap();
    play.run(600);
    assert_eq!((names(&play).len(), play.claims().len(), replica_sets(&play).len()), (2, 2, 1));
}

/// A dump of a Deployment with its ReplicaSet, made by somebody else.
#[test]
fn a_deployment_of_a_dump_keeps_its_replica_set_and_pods() {
    let template = "{metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: x}]}}";
    let own = "{metadata: {labels: {app: d, pod-template-hash: '77'}}, spec: {dnsPolicy: ClusterFirst, containers: [{name: c, image: x, terminationMessagePath: /dev/termination-log}]}}";
    let dump = format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: d, namespace: default, uid: u1}}, spec: {{replicas: 2, template: {template}}}}}\n---\n{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: d-77, namespace: default, uid: u2, ownerReferences: [{{apiVersion: apps/v1, kind: Deployment, name: d, uid: u1, controller: true}}]}}, spec: {{replicas: 2, template: {own}}}}}\n---\n{{apiVersion: v1, kind: Pod, metadata: {{name: d-77-aaaaa, namespace: default, uid: u3, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: d-77, uid: u2, controller: true}}]}}, spec: {{nodeName: node-1, containers: [{{name: c, image: x}}]}}, status: {{phase: Running}}}}"
    );
    let mut play = Play::new();
    let texts: Vec<String> = crate::play::documents(&dump).iter().map(ToString::to_string).collect();
    play.simulation.apply(texts.iter().map(String::as_str));
    play.simulation.begin();
    play.run(60);
    let names = names(&play);
    assert!(names.len() == 2 && names[0] == "d-77-aaaaa" && names[1].starts_with("d-77-"), "{names:?}");
    assert_eq!(replica_sets(&play), [("d-77".to_owned(), 2)]);
}

/// The names in every command are those that are derived from what the Pods belong to.
#[test]
fn pods_have_the_same_names_whoever_makes_them() {
    let all = ["Deployment", "StatefulSet", "DaemonSet"]
        .map(|kind| workload(kind, 3).replace("name: serve,", &format!("name: {},", kind.to_lowercase())));
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: job, namespace: default}\nspec: {parallelism: 2, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c}]}}}\n";
    let text = format!("{}\n---\n{}\n---\n{job}", crate::play::WORLD, all.join("\n---\n"));
    let objects: Vec<String> = crate::play::documents(&text).iter().map(ToString::to_string).collect();
    let mut cluster = Cluster::new(crate::play::profile());
    for text in &objects {
        cluster.apply(read_object(serde_json::from_str(text).unwrap()).object.unwrap());
    }
    let report = apportion_core::ask::run(&mut cluster, &Limits::default());
    let mut expected: Vec<String> = report.pods.into_iter().map(|pod| pod.name).collect();
    let mut simulation = Simulation::new(crate::play::profile(), Limits::default(), Simulation::start_of([]));
    simulation.apply(objects.iter().map(String::as_str));
    simulation.begin();
    // A StatefulSet makes its Pods one after another.
    simulation.settle();
    let mut names: Vec<String> = simulation.server().cluster().pods().keys().map(|key| key.1.clone()).collect();
    expected.sort();
    names.sort();
    assert_eq!((names.len(), names), (8, expected));
}

#[test]
fn pod_templates_of_kinds_that_are_not_known_are_found_with_their_numbers() {
    let mut play = Play::new();
    let objects = [
        "{apiVersion: train.example.com/v1, kind: FleetJob, metadata: {name: f, namespace: default}, spec: {fleetReplicaSpecs: {Chief: {template: {spec: {containers: [{name: c}]}}}, Worker: {replicas: 2, template: {spec: {containers: [{name: c}]}}}}}}",
        "{apiVersion: serve.example.com/v1, kind: Servers, metadata: {name: s, namespace: default}, spec: {pools: [{name: big, numWorkers: 2, podTemplate: {spec: {containers: [{name: c}]}}}]}}",
        "{apiVersion: x.example.com/v1, kind: Waits, metadata: {name: w, namespace: default}, spec: {suspend: true, replicas: 2, template: {spec: {containers: [{name: c}]}}}}",
        "{apiVersion: x.example.com/v1, kind: Plain, metadata: {name: p, namespace: default}, spec: {replicas: 3}}",
        "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: t, namespace: default}, spec: {runtimeRef: {name: torch}, podTemplateOverrides: [{spec: {containers: [{name: c}]}}]}}",
        "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: w, namespace: default}, spec: {entrypoint: m, templates: [{name: m, container: {image: i}}]}}",
        "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: s, namespace: default}, spec: {executor: {instances: 2, gpu: {name: nvidia.com/gpu, quantity: 1}}}}",
    ];
    let texts: Vec<String> = objects.iter().map(|yaml| crate::play::documents(yaml).remove(0).to_string()).collect();
    play.simulation.apply(texts.iter().map(String::as_str));
    play.simulation.begin();
    play.run(5);
    assert_eq!(names(&play), ["f-chief-0", "f-worker-0", "f-worker-1", "s-big-0", "s-big-1"]);
    let findings = unmodelled(play.simulation.server().cluster(), &|pod| !pod.spec.node_name.is_empty());
    let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "SparkApplication `default/s` is not expanded: only its controller knows its Pods",
            "TrainJob `default/t` is not expanded: its Pods are made from its training runtime",
            "Waits `default/w` is not expanded: it is suspended",
            "Workflow `default/w` is not expanded: how many Pods it makes shows only when it runs",
        ]
    );
    play.delete("Pod", "f-worker-0");
    assert_eq!(names(&play).len(), 5);
}

const CLASSES: &str = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}\n---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: usual}, value: 10, globalDefault: true, preemptionPolicy: Never}\n";

fn pod_of_class(name: &str, fields: &str) -> serde_json::Value {
    crate::play::documents(&format!("{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: default}}, spec: {{{fields} containers: [{{name: c}}]}}}}")).remove(0)
}

#[test]
fn a_pod_has_the_priority_of_its_class() {
    let mut play = Play::new();
    for (name, fields) in [("early", "priorityClassName: high,"), ("bare", "")] {
        play.simulation.apply([pod_of_class(name, fields).to_string().as_str()]);
    }
    let classes: Vec<String> = crate::play::documents(CLASSES).iter().map(ToString::to_string).collect();
    play.simulation.apply(classes.iter().map(String::as_str));
    assert_eq!(play.simulation.begin(), []);
    for (name, fields) in [("late", "priorityClassName: high,"), ("system", "priorityClassName: system-node-critical,")]
    {
        play.create(pod_of_class(name, fields)).unwrap();
    }
    play.run(1);
    let priorities = ["early", "bare", "late", "system"].map(|name| play.pod(name).spec.priority.unwrap());
    assert_eq!(priorities, [1000, 10, 1000, 2_000_001_000]);
    let bare = play.simulation.server().get(&key("Pod", "bare")).unwrap();
    assert_eq!(
        (&bare["spec"]["priorityClassName"], &bare["spec"]["preemptionPolicy"]),
        (&json!("usual"), &json!("Never"))
    );
    let refused = |play: &mut Play, fields: &str| play.create(pod_of_class("late-2", fields)).unwrap_err();
    assert_eq!(
        refused(&mut play, "priorityClassName: hihg,"),
        "pods \"late-2\" is forbidden: no PriorityClass with name hihg was found"
    );
    assert!(refused(&mut play, "priorityClassName: high, priority: 5,").contains("the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 1000"));
}

#[test]
fn a_class_that_is_not_given_is_named_where_no_class_is_given() {
    let mut play = Play::new();
    play.simulation.apply([pod_of_class("p", "priorityClassName: high,").to_string().as_str()]);
    assert_eq!(play.simulation.begin(), []);
    let findings = unmodelled(play.simulation.server().cluster(), &|pod| !pod.spec.node_name.is_empty());
    assert_eq!(findings.len(), 1);
    assert!(findings[0].message.contains("`high`, taken as priority 0"), "{}", findings[0].message);
}

#[test]
fn what_is_not_looked_at_is_named_once_with_an_example() {
    let mut play = Play::with(Profile { placement: Ranking::First, ..profile() });
    let fields = "runtimeClassName: kata, topologySpreadConstraints: [{maxSkew: 1, topologyKey: x, whenUnsatisfiable: ScheduleAnyway}], affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: x}}]}}, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}],";
    for name in ["a", "b"] {
        let pod = pod_of_class(name, fields);
        play.simulation.apply([pod.to_string().as_str()]);
    }
    let findings = unmodelled(play.simulation.server().cluster(), &|pod| !pod.spec.node_name.is_empty());
    let named = |text: &str| findings.iter().filter(|finding| finding.message.contains(text)).count();
    for text in ["preferred `podAntiAffinity`", "`topologySpreadConstraints`", "RuntimeClasses", "volumes that"] {
        assert_eq!(named(text), 1, "{text}: {findings:?}");
    }
    assert_eq!(findings.len(), 4);
    assert!(findings.iter().all(|finding| finding.object.is_some()));
}

/// Pods that go are counted where they belong, and nowhere else: the number of writes grows with the number of workloads.
#[test]
fn many_workloads_are_played_one_by_one() {
    let mut play = Play::new();
    for number in 0..300 {
        let text = format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: d-{number}}}, spec: {{replicas: 10, template: {{metadata: {{labels: {{app: d}}}}, spec: {{containers: [{{name: c}}]}}}}}}}}"
        );
        play.create(crate::play::documents(&text).remove(0)).unwrap();
    }
    play.simulation.begin();
    assert_eq!(names(&play).len(), 3000);
    assert_eq!(play.simulation.writes(), 3300);
}

/// A Pod of a dump that has no node goes at once, with its claim, and its controller makes another one.
#[test]
fn a_waiting_pod_of_a_dump_can_be_deleted() {
    let owner = "{apiVersion: apps/v1, kind: ReplicaSet, name: d, uid: u2, controller: true}";
    let template = "{metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: x}], resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu-template}]}}";
    let dump = format!(
        "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: d, namespace: default, uid: u2}}, spec: {{replicas: 1, template: {template}}}}}\n---\n{{apiVersion: v1, kind: Pod, metadata: {{name: d-aaaaa, namespace: default, uid: u3, ownerReferences: [{owner}]}}, spec: {{nodeSelector: {{none: such}}, containers: [{{name: c, image: x}}], resourceClaims: [{{name: gpu, resourceClaimTemplateName: gpu-template}}]}}, status: {{phase: Pending}}}}\n---\n{{apiVersion: v1, kind: Pod, metadata: {{name: bare, namespace: default, uid: u4}}, spec: {{nodeSelector: {{none: such}}, terminationGracePeriodSeconds: 600, containers: [{{name: c, image: x}}]}}, status: {{phase: Pending}}}}"
    );
    let mut play = Play::new();
    let texts: Vec<String> = crate::play::documents(&dump).iter().map(ToString::to_string).collect();
    play.simulation.apply(texts.iter().map(String::as_str));
    play.simulation.begin();
    play.run(5);
    for name in ["d-aaaaa", "bare"] {
        let delete = Command::Delete { object: key("Pod", name), grace_seconds: None };
        play.simulation.perform(delete).unwrap();
    }
    play.run(5);
    let names = names(&play);
    assert!(names.len() == 1 && names[0] != "d-aaaaa" && play.pod(&names[0]).spec.node_name == "node-1", "{names:?}");
    assert_eq!((play.simulation.server().cluster().pods().len(), play.claims().len()), (1, 1));
}

#[test]
fn the_schedule_of_a_cron_job_is_named_once() {
    let spec = |suspend: bool| {
        format!(
            "{{schedule: '@daily', suspend: {suspend}, jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c}}]}}}}}}}}}}"
        )
    };
    let mut play = Play::new();
    for (name, suspend) in [("a", false), ("b", false), ("c", true)] {
        play.apply(&format!(
            "{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: {name}}}, spec: {}}}",
            spec(suspend)
        ));
    }
    let said = unmodelled(play.simulation.server().cluster(), &|_| true);
    let messages: Vec<&str> = said.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        messages,
        ["not looked at: schedules of CronJobs: 2 objects, CronJob `default/a` is one (it runs once, at the start)"]
    );
}

/// A CronJob runs once, whether it was given, came later, or is no longer suspended.
#[test]
fn a_cron_job_of_a_script_runs_once_as_one_of_the_input() {
    let cron = |name: &str, suspend: bool| {
        let pod = "{spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}";
        let job = format!("{{spec: {{parallelism: 2, completions: 2, template: {pod}}}}}");
        format!(
            "{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: {name}, namespace: default}}, spec: \
             {{schedule: '@daily', suspend: {suspend}, jobTemplate: {job}}}}}"
        )
    };
    let mut play = Play::new();
    let texts: Vec<String> =
        ["given", "later"].map(|name| documents(&cron(name, name == "later")).remove(0).to_string()).into();
    play.simulation.submit(texts.iter().map(String::as_str));
    play.simulation.begin();
    let perform = |play: &mut Play, command: Command| {
        play.simulation.perform(command).unwrap();
        play.run(3600);
    };
    perform(&mut play, Command::Create(documents(&cron("new", false)).remove(0)));
    perform(&mut play, Command::Apply(documents(&cron("later", false)).remove(0)));
    for name in ["given", "later", "new"] {
        let pods = play.simulation.server().cluster().pods().values();
        let own =
            pods.filter(|pod| pod.metadata.name.starts_with(&format!("{name}-")) && !pod.spec.node_name.is_empty());
        assert_eq!(own.count(), 2, "{name}");
    }
}
