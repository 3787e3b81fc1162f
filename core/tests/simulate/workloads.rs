//! Pods from workloads.

use apportion_core::allocate::Limits;
use apportion_core::control_plane::Simulation;
use apportion_core::control_plane::script::kind_named;
use apportion_core::decision::Patch;
use apportion_core::engine::Engine;
use apportion_core::finding::{Code, Finding, ObjectRef, Severity};
use apportion_core::profile::{Profile, Version};
use serde_json::json;

use crate::support::{Ran, documents, run};

fn run_workload(api_version: &str, kind: &str, spec: &str) -> Ran {
    run(&format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{ namespace: ml, name: work }}\nspec:\n{spec}"))
}

const TEMPLATE: &str = "  template: { metadata: { labels: { app: x } }, spec: { containers: [{ name: c }] } }";

/// Ends in five letters of the alphabet of generated names.
fn is_generated(name: &str, prefix: &str) -> bool {
    let letters = name.strip_prefix(prefix).unwrap_or_default();
    letters.len() == 5 && letters.chars().all(|letter| "bcdfghjklmnpqrstvwxz2456789".contains(letter))
}

#[test]
fn a_deployment_makes_a_replica_set_that_makes_pods() {
    let ran = run_workload("apps/v1", "Deployment", &format!("  replicas: 3\n{TEMPLATE}"));
    assert_eq!(ran.report.pods.len(), 3);
    for pod in &ran.report.pods {
        let owner = pod.owner.as_ref().unwrap();
        assert_eq!((owner.kind.as_str(), owner.name.as_str()), ("Deployment", "work"));
        let object = ran.pod_object(&pod.name);
        let reference = &object.metadata.owner_references[0];
        assert_eq!((reference.kind.as_str(), reference.controller), ("ReplicaSet", Some(true)));
        let hash = &object.metadata.labels["pod-template-hash"];
        assert_eq!(reference.name, format!("work-{hash}"));
        assert!(is_generated(&pod.name, &format!("work-{hash}-")), "{}", pod.name);
        assert_eq!(object.metadata.labels["app"], "x");
        assert_eq!(object.metadata.generate_name, format!("work-{hash}-"));
    }
    let workloads = ran.engine.cluster().workloads();
    let set = workloads.values().find(|workload| workload.kind == "ReplicaSet").unwrap();
    assert_eq!(set.metadata.owner_references[0].kind, "Deployment");
}

#[test]
fn replicas_default_to_one_and_may_be_none() {
    assert_eq!(run_workload("apps/v1", "ReplicaSet", TEMPLATE).report.pods.len(), 1);
    assert_eq!(run_workload("apps/v1", "ReplicaSet", &format!("  replicas: 0\n{TEMPLATE}")).report.pods.len(), 0);
}

/// What makes no Pods says why.
#[test]
fn a_workload_that_makes_no_pods_says_why() {
    let job = format!("  jobTemplate: {{ spec: {{ suspend: true, {} }} }}", TEMPLATE.trim_start());
    for (api_version, kind, spec, why) in [
        ("apps/v1", "Deployment", format!("  paused: true\n{TEMPLATE}"), "paused, makes no Pods"),
        (
            "batch/v1",
            "Job",
            format!("  parallelism: 0\n  completions: 2\n{TEMPLATE}"),
            "`parallelism` is 0, makes no Pods",
        ),
        ("batch/v1", "CronJob", job, "suspended, makes no Pods"),
    ] {
        let ran = run_workload(api_version, kind, &spec);
        let said: Vec<&str> = ran.report.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert!(ran.report.pods.is_empty() && said.contains(&why), "{kind}: {said:?}");
    }
}

/// A Deployment of a dump without its ReplicaSets has the Pods of the dump, and the run says what is missing.
/// Pods that admission refuses are a finding about the workload, at the field that they come from, and an Event of their controller.
#[test]
fn pods_that_are_refused_are_named_with_their_workload() {
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: { name: high }\nvalue: 5\n---\n";
    let pods =
        "template: { metadata: { labels: { app: x } }, spec: { priorityClassName: hihg, containers: [{ name: c }] } }";
    for (api_version, kind, spec, path, controller) in [
        ("apps/v1", "Deployment", format!("{{ replicas: 2, {pods} }}"), "spec.template.", "ReplicaSet"),
        ("apps/v1", "StatefulSet", format!("{{ {pods} }}"), "spec.template.", "StatefulSet"),
        ("apps/v1", "DaemonSet", format!("{{ {pods} }}"), "spec.template.", "DaemonSet"),
        ("batch/v1", "Job", format!("{{ {pods} }}"), "spec.template.", "Job"),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            format!("{{ replicatedJobs: [{{ name: a, replicas: 2, template: {{ spec: {{ {pods} }} }} }}] }}"),
            "spec.replicatedJobs[0].template.spec.template.",
            "Job",
        ),
    ] {
        let text = format!(
            "{class}apiVersion: v1\nkind: Node\nmetadata: {{ name: node-1 }}\n---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{ namespace: ml, name: work }}\nspec: {spec}"
        );
        let ran = run(&text);
        let refusals: Vec<_> = ran.report.findings.iter().filter(|one| one.code == Code::RunRefused).collect();
        let [refusal] = refusals.as_slice() else { panic!("{kind}: {refusals:?}") };
        let object = refusal.object.as_ref().unwrap();
        assert_eq!((&*object.kind, &*object.name), (kind, "work"));
        assert_eq!(refusal.path, format!("{path}spec.priorityClassName"));
        let said = "is forbidden: no PriorityClass with name hihg was found";
        assert!(refusal.message.starts_with("its Pods are refused: pods \"work-"), "{refusal:?}");
        assert!(refusal.message.ends_with(said), "{refusal:?}");
        assert_eq!(refusal.hint.as_deref(), Some("did you mean `high`?"));
        assert!(!ran.report.is_satisfied());
        let mut simulation = Simulation::of(ran.engine.cluster(), Limits::default());
        simulation.settle();
        let events = simulation.server().events();
        let (event, _) = events.iter().find(|(event, _)| event.reason == "FailedCreate").unwrap();
        assert_eq!(event.regarding.kind, controller);
        assert!(event.note.starts_with("Error creating: pods ") && event.note.ends_with(said), "{event:?}");
        // With the class there is nothing to say any more.
        let class = json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": { "name": "hihg" }, "value": 1 });
        let now = simulation.now();
        simulation.server_mut().create(class, now).unwrap();
        simulation.run_until(now.plus_seconds(600));
        assert_eq!(simulation.findings().iter().filter(|one| one.code == Code::RunRefused).count(), 0);
        assert!(!simulation.server().cluster().pods().is_empty());
    }
}

#[test]
fn a_deployment_of_a_dump_without_replica_sets_gets_no_pods() {
    let owner = "{ apiVersion: apps/v1, kind: ReplicaSet, name: web-77, uid: u2, controller: true }";
    let ran = run(&format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ namespace: ml, name: web, uid: u1 }}\nspec:\n  replicas: 3\n{TEMPLATE}\n---\napiVersion: v1\nkind: Pod\nmetadata: {{ namespace: ml, name: web-77-a, uid: u3, ownerReferences: [{owner}] }}\nspec: {{ nodeName: a, containers: [{{ name: c }}] }}"
    ));
    assert_eq!(ran.pod_names(), ["web-77-a"]);
    let missing = ran.report.findings.iter().find(|finding| finding.code == Code::RunNotGiven).unwrap();
    assert!(missing.message.contains("ReplicaSet"), "{missing:?}");
}

#[test]
fn a_stateful_set_numbers_its_pods() {
    let ran = run_workload("apps/v1", "StatefulSet", &format!("  replicas: 2\n  ordinals: {{ start: 5 }}\n{TEMPLATE}"));
    assert_eq!(ran.pod_names(), ["work-5", "work-6"]);
    assert_eq!(ran.pod_object("work-6").metadata.labels["apps.kubernetes.io/pod-index"], "6");
}

/// In order, a Pod is made once those before it are running; with `Parallel` all are made at once.
#[test]
fn a_stateful_set_makes_its_pods_in_order() {
    let node = "apiVersion: v1\nkind: Node\nmetadata: { name: node-1 }\nstatus: { allocatable: { cpu: '2', pods: '9' } }\n---\n";
    let template = "template: { metadata: { labels: { app: x } }, spec: { containers: [{ name: c, resources: { requests: { cpu: '1' } } }] } }";
    let set = |policy: &str| {
        let set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: { namespace: ml, name: work }";
        run(&format!("{node}{set}\nspec: {{ replicas: 5, {policy}{template} }}"))
    };
    let ran = set("");
    assert_eq!(ran.pod_names(), ["work-0", "work-1", "work-2"]);
    let waits = ran.finding(Code::RunReplicasCapped);
    assert_eq!(waits.message, "2 more Pods wait until `work-2` is running and ready");
    let ran = set("podManagementPolicy: Parallel, ");
    assert_eq!(ran.pod_names().len(), 5);
    assert!(!ran.has(Code::RunReplicasCapped));
    // All that fit are made, and nothing waits.
    let ran = run_workload("apps/v1", "StatefulSet", &format!("  replicas: 3\n{TEMPLATE}"));
    assert_eq!(ran.pod_names(), ["work-0", "work-1", "work-2"]);
    assert!(!ran.has(Code::RunReplicasCapped));
}

#[test]
fn a_daemon_set_has_one_pod_on_each_node_that_suits() {
    let nodes = "
apiVersion: v1
kind: Node
metadata: { name: a, labels: { gpu: 'yes' } }
---
apiVersion: v1
kind: Node
metadata: { name: b }
---
apiVersion: v1
kind: Node
metadata: { name: c, labels: { gpu: 'yes' } }
spec: { unschedulable: true, taints: [{ key: node.kubernetes.io/unschedulable, effect: NoSchedule }] }
---
apiVersion: v1
kind: Node
metadata: { name: d, labels: { gpu: 'yes' } }
spec: { taints: [{ key: reserved, effect: NoSchedule }] }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { namespace: ml, name: agent }
spec: { template: { spec: { nodeSelector: { gpu: 'yes' }, containers: [{ name: c }] } } }
";
    let ran = run(nodes);
    let placed: Vec<_> = ran.report.pods.iter().map(|pod| pod.node.as_deref().unwrap()).collect();
    assert_eq!(placed, ["a", "c"]);
    assert!(ran.report.pods.iter().all(|pod| is_generated(&pod.name, "agent-")));
}

#[test]
fn a_job_makes_as_many_pods_as_run_at_a_time() {
    let ran = run_workload("batch/v1", "Job", &format!("  parallelism: 2\n  completions: 5\n{TEMPLATE}"));
    assert_eq!(ran.report.pods.len(), 2);
    assert_eq!(ran.finding(Code::RunReplicasCapped).message, "2 of 5 Pods run at a time; the first are shown");
    let labels = &ran.pod_object(&ran.report.pods[0].name).metadata.labels;
    assert_eq!(labels["batch.kubernetes.io/job-name"], "work");

    let few = run_workload("batch/v1", "Job", &format!("  parallelism: 4\n  completions: 3\n{TEMPLATE}"));
    assert_eq!(few.report.pods.len(), 3);
    assert_eq!(run_workload("batch/v1", "Job", TEMPLATE).report.pods.len(), 1);
}

#[test]
fn an_indexed_job_numbers_its_pods() {
    let spec = format!("  parallelism: 2\n  completions: 2\n  completionMode: Indexed\n{TEMPLATE}");
    let ran = run_workload("batch/v1", "Job", &spec);
    for (index, name) in ran.pod_names().into_iter().enumerate() {
        assert!(is_generated(name, &format!("work-{index}-")), "{name}");
        let annotations = &ran.pod_object(name).metadata.annotations;
        assert_eq!(annotations["batch.kubernetes.io/job-completion-index"], index.to_string());
    }
}

#[test]
fn a_suspended_job_makes_no_pods_unless_kueue_admits_it() {
    let spec = format!("  suspend: true\n{TEMPLATE}");
    let ran = run_workload("batch/v1", "Job", &spec);
    assert!(ran.report.pods.is_empty() && ran.has(Code::RunSuspended));

    let ran = run(&format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{ name: work, labels: {{ kueue.x-k8s.io/queue-name: q }} }}\nspec:\n{spec}"
    ));
    assert!(ran.report.pods.len() == 1 && ran.has(Code::RunSuspended));
}

#[test]
fn pods_of_an_unknown_kind_have_its_scheduler() {
    let tasks = |scheduler: &str| {
        format!(
            "  {scheduler}\n  tasks: [{{ name: w, replicas: 2, template: {{ spec: {{ containers: [{{ name: c }}] }} }} }}]"
        )
    };
    for (api_version, scheduler, waits) in [
        ("batch.volcano.sh/v1alpha1", "schedulerName: volcano", true),
        ("batch.volcano.sh/v1alpha1", "minAvailable: 2", true),
        ("batch.volcano.sh/v1alpha1", "schedulerName: default-scheduler", false),
        ("example.com/v1", "schedulerName: own", true),
        ("example.com/v1", "minAvailable: 2", false),
    ] {
        let ran = run_workload(api_version, "Job", &tasks(scheduler));
        let waiting = ran.report.pods.iter().filter(|pod| pod.node.is_none()).count();
        assert_eq!((ran.report.pods.len(), waiting), (2, if waits { 2 } else { 0 }), "{api_version} {scheduler}");
    }
}

#[test]
fn a_cron_job_is_shown_with_one_run() {
    let ran = run_workload(
        "batch/v1",
        "CronJob",
        "  schedule: '@daily'\n  jobTemplate: { spec: { parallelism: 2, template: { spec: { containers: [{ name: c }] } } } }",
    );
    assert_eq!(ran.report.pods.len(), 2);
    assert_eq!(ran.report.pods[0].owner.as_ref().unwrap().kind, "CronJob");
}

#[test]
fn every_workload_can_be_named_as_kubectl_does() {
    for kind in ["CronJob", "DaemonSet", "Deployment", "Job", "JobSet", "LeaderWorkerSet", "ReplicaSet", "StatefulSet"]
    {
        assert_eq!(kind_named(kind), Some(kind));
        assert_eq!(kind_named(&format!("{kind}s")), Some(kind));
    }
    assert_eq!(
        ["cj", "lws", "no", "ns"].map(kind_named),
        ["CronJob", "LeaderWorkerSet", "Node", "Namespace"].map(Some)
    );
}

#[test]
fn a_job_set_makes_jobs_for_each_group() {
    let ran = run_workload(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "  replicatedJobs:
  - name: leader
    template: { spec: { template: { spec: { containers: [{ name: c }] } } } }
  - name: workers
    replicas: 2
    template: { spec: { parallelism: 2, completions: 2, template: { spec: { containers: [{ name: c }] } } } }",
    );
    let prefixes =
        ["work-leader-0-0-", "work-workers-0-0-", "work-workers-0-1-", "work-workers-1-0-", "work-workers-1-1-"];
    let names = ran.pod_names();
    assert_eq!(names.len(), prefixes.len());
    for (name, prefix) in names.iter().zip(prefixes) {
        assert!(is_generated(name, prefix), "{name} {prefix}");
        let labels = &ran.pod_object(name).metadata.labels;
        assert_eq!(labels["jobset.sigs.k8s.io/jobset-name"], "work");
    }
    assert_eq!(ran.pod(names[0]).owner.as_ref().unwrap().kind, "JobSet");
    assert_eq!(ran.engine.cluster().workloads().len(), 4);
}

/// Jobs that depend on others are made once those are ready, or complete; what waits is named.
#[test]
fn jobs_of_a_job_set_wait_for_those_that_they_depend_on() {
    let job = "template: { spec: { template: { spec: { containers: [{ name: c }] } } }";
    let set = |depends: &str, more: &str| {
        let groups = format!("[{{ name: prep, {job} }} }}, {{ name: work, replicas: 2, {depends}{job} }} }}]");
        run_workload("jobset.x-k8s.io/v1alpha2", "JobSet", &format!("  replicatedJobs: {groups}{more}"))
    };
    let ran = set("dependsOn: [{ name: prep, status: Ready }], ", "");
    assert_eq!(ran.pod_names().len(), 3, "{:?}", ran.pod_names());
    assert!(!ran.has(Code::RunReplicasCapped));
    let ran = set("", "\n  startupPolicy: { startupPolicyOrder: InOrder }");
    assert_eq!(ran.pod_names().len(), 3, "{:?}", ran.pod_names());
    let ran = set("dependsOn: [{ name: prep, status: Complete }], ", "");
    assert_eq!(ran.pod_names().len(), 1, "{:?}", ran.pod_names());
    let waits = ran.finding(Code::RunReplicasCapped);
    assert_eq!(waits.message, "2 Jobs of `work` are not made before those of `prep` complete");
    assert_eq!(waits.path, "spec.replicatedJobs[1].dependsOn");
    // Once the Pod has succeeded, the others follow.
    let mut simulation = Simulation::of(ran.engine.cluster(), Limits::default());
    simulation.settle();
    let now = simulation.now();
    let pod = ObjectRef::new("Pod", "ml", ran.pod_names()[0]);
    let ended = Patch::merge(pod, true, json!({ "status": { "phase": "Succeeded" } }));
    simulation.server_mut().patch(&ended, now).unwrap();
    simulation.settle();
    assert_eq!(simulation.server().cluster().pods().len(), 3);
    assert!(simulation.findings().iter().all(|one| one.code != Code::RunReplicasCapped));
}

#[test]
fn a_leader_worker_set_makes_leaders_and_their_workers() {
    let ran = run_workload(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        "  replicas: 2
  leaderWorkerTemplate:
    size: 3
    leaderTemplate: { spec: { containers: [{ name: leader }] } }
    workerTemplate: { spec: { containers: [{ name: worker }] } }",
    );
    assert_eq!(ran.pod_names(), ["work-0", "work-1", "work-0-1", "work-0-2", "work-1-1", "work-1-2"]);
    assert_eq!(ran.pod_object("work-1").spec.containers[0].name, "leader");
    let worker = ran.pod_object("work-1-2");
    assert_eq!(worker.spec.containers[0].name, "worker");
    assert_eq!(worker.metadata.labels["leaderworkerset.sigs.k8s.io/group-index"], "1");
    assert_eq!(worker.metadata.labels["leaderworkerset.sigs.k8s.io/worker-index"], "2");
    assert!(ran.report.pods.iter().all(|pod| pod.owner.as_ref().unwrap().kind == "LeaderWorkerSet"));
}

#[test]
fn large_numbers_are_cut_and_said() {
    let ran = run_workload("apps/v1", "Deployment", &format!("  replicas: 5000000000\n{TEMPLATE}"));
    assert_eq!(ran.report.pods.len(), 1000);
    assert_eq!(ran.finding(Code::RunReplicasCapped).message, "1000 of 5000000000 Pods are made");

    let ran = run_workload(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "  replicatedJobs:
  - name: w
    replicas: 1000
    template: { spec: { parallelism: 600, completions: 600, template: { spec: { containers: [{ name: c }] } } } }",
    );
    // The second Job is shown as a whole.
    assert_eq!(ran.report.pods.len(), 1200);
    assert_eq!(ran.finding(Code::RunReplicasCapped).message, "1200 of 600000 Pods are made");

    let ran = run_workload(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        "  replicas: 400
  leaderWorkerTemplate: { size: 4, workerTemplate: { spec: { containers: [{ name: c }] } } }",
    );
    assert_eq!(ran.report.pods.len(), 1000);
    assert_eq!(ran.finding(Code::RunReplicasCapped).message, "1000 of 1600 Pods are made");
}

#[test]
fn what_a_dump_holds_already_is_not_made_again() {
    let deployment = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ namespace: ml, name: d, uid: u1 }}\nspec:\n  replicas: 3\n{TEMPLATE}"
    );
    let owned = |kind: &str, name: &str| {
        format!("ownerReferences: [{{ apiVersion: apps/v1, kind: {kind}, name: {name}, uid: u, controller: true }}]")
    };
    let set = format!(
        "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{ namespace: ml, name: d-77, uid: u2, {} }}\nspec:\n  replicas: 3\n{TEMPLATE}",
        owned("Deployment", "d")
    );
    let old = format!(
        "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{ namespace: ml, name: d-66, uid: u3, {} }}\nspec:\n  replicas: 0\n{TEMPLATE}",
        owned("Deployment", "d")
    );
    let pod = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ namespace: ml, name: d-77-aaaaa, uid: u4, {} }}\nspec: {{ nodeName: n1, containers: [{{ name: c }}] }}",
        owned("ReplicaSet", "d-77")
    );
    let ran = run(&[deployment, set, old, pod].join("\n---\n"));
    assert_eq!(ran.report.pods.len(), 3);
    assert_eq!(ran.pod("d-77-aaaaa").node.as_deref(), Some("n1"));
    assert!(ran.report.pods.iter().all(|pod| pod.name.starts_with("d-77-")));
}

#[test]
fn pods_are_scheduled_in_the_order_of_the_input_and_by_priority() {
    let ran = run("
apiVersion: v1
kind: Pod
metadata: { name: z }
spec: { containers: [{ name: c }] }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: m }
spec: { replicas: 2, template: { spec: { containers: [{ name: c }] } } }
---
apiVersion: v1
kind: Pod
metadata: { name: a }
spec: { containers: [{ name: c }] }
---
apiVersion: v1
kind: Pod
metadata: { name: urgent }
spec: { priority: 1000, containers: [{ name: c }] }
");
    assert_eq!(ran.pod_names(), ["urgent", "z", "m-0", "m-1", "a"]);
}

#[test]
fn a_pod_with_a_generated_name_gets_one() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: { generateName: try- }\nspec: { containers: [{ name: c }] }";
    let ran = run(&[pod, pod].join("\n---\n"));
    let names = ran.pod_names();
    assert!(names.len() == 2 && names.iter().all(|name| is_generated(name, "try-")), "{names:?}");
}

/// Without the gate nothing has claims, however its Pods come to be.
#[test]
fn no_pod_of_any_workload_has_claims_where_the_gate_is_off() {
    let spec = "{ restartPolicy: Never, resourceClaims: [{ name: a, resourceClaimTemplateName: t }], \
                containers: [{ name: c, image: i, resources: { claims: [{ name: a }] } }] }";
    let template = format!("template: {{ metadata: {{ labels: {{ a: b }} }}, spec: {spec} }}");
    let of = |api: &str, kind: &str, name: &str, spec: &str| {
        format!("apiVersion: {api}\nkind: {kind}\nmetadata: {{ name: {name} }}\nspec: {spec}")
    };
    let forever = template.replace("restartPolicy: Never, ", "");
    let selected = format!("{{ selector: {{ matchLabels: {{ a: b }} }}, {forever} }}");
    let job = format!("{{ {template} }}");
    let yaml = [
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: { name: t }\n\
         spec: { spec: { devices: { requests: [{ name: r, exactly: { deviceClassName: gpu } }] } } }"
            .to_owned(),
        of("v1", "Pod", "bare", spec),
        of("apps/v1", "Deployment", "deployment", &selected),
        of("apps/v1", "StatefulSet", "set", &selected),
        of("batch/v1", "Job", "job", &job),
        of("batch/v1", "CronJob", "cron", &format!("{{ schedule: '@daily', jobTemplate: {{ spec: {job} }} }}")),
        of(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            "jobs",
            &format!("{{ replicatedJobs: [{{ name: w, template: {{ spec: {job} }} }}] }}"),
        ),
        of("example.com/v1", "Thing", "thing", &format!("{{ replicas: 1, {forever} }}")),
    ]
    .join("\n---\n");
    let mut profile = Profile::of(Version::V1_34);
    let texts: Vec<String> = documents(&yaml).iter().map(ToString::to_string).collect();
    let facts = |profile: &Profile| {
        let mut engine = Engine::new(profile.clone(), Limits::default());
        let is_refused = |found: &Vec<Finding>| found.iter().any(|finding| finding.severity == Severity::Error);
        assert!(!engine.submit(texts.iter().map(String::as_str)).iter().any(is_refused));
        let report = engine.run();
        let pods: Vec<_> = report.pods.iter().map(|pod| (pod.claims.len(), pod.node.is_some())).collect();
        (pods, report.claims.len())
    };
    assert_eq!(facts(&profile), (vec![(1, false); 7], 7));
    assert!(profile.features.set("DynamicResourceAllocation", false));
    assert_eq!(facts(&profile), (vec![(0, true); 7], 0));
}

/// A workload that is there keeps being there, and gets nothing more.
#[test]
fn a_workload_whose_namespace_goes_gets_no_pods_and_says_so() {
    let going = "apiVersion: v1\nkind: Namespace\nmetadata: { name: ml, uid: u, deletionTimestamp: '2026-01-01T00:00:00Z' }\n---\n";
    let job = format!("{{ {} }}", TEMPLATE.trim_start());
    let cron = format!("{{ schedule: '@daily', jobTemplate: {{ spec: {job} }} }}");
    for (api_version, kind, spec, made) in [
        ("apps/v1", "Deployment", &job, "ReplicaSets"),
        ("apps/v1", "DaemonSet", &job, "Pods"),
        ("batch/v1", "Job", &job, "Pods"),
        ("batch/v1", "CronJob", &cron, "Jobs"),
    ] {
        let metadata = "metadata: { namespace: ml, name: work, uid: w }";
        let node = "apiVersion: v1\nkind: Node\nmetadata: { name: node-1 }\n---\n";
        let ran = run(&format!("{going}{node}apiVersion: {api_version}\nkind: {kind}\n{metadata}\nspec: {spec}"));
        assert_eq!(ran.report.pods, [], "{kind}");
        let refusal = ran.report.findings.iter().find(|one| one.code == Code::RunRefused).unwrap();
        assert_eq!(refusal.path, "metadata.namespace");
        assert!(refusal.message.starts_with(&format!("its {made} are refused: ")), "{refusal:?}");
        assert!(refusal.message.ends_with("in namespace ml because it is being terminated"), "{refusal:?}");
    }
}
