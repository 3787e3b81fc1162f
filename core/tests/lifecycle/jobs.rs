//! Jobs: their Pods, their counts, and the Workload and PodGroup of one that is a gang.

use apportion_core::control_plane::Component;
use apportion_core::finding::Code;
use apportion_core::finding::ObjectRef;
use apportion_core::profile::{Profile, Version};
use serde_json::{Value, json};

use crate::play::{NS, Play, key, profile};

fn job(spec: Value) -> Value {
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "train" },
        "spec": { "template": { "spec": {
            "restartPolicy": "Never",
            "containers": [{ "name": "c", "resources": { "claims": [{ "name": "gpu" }] } }],
            "resourceClaims": [{ "name": "gpu", "resourceClaimTemplateName": "gpu-template" }],
        } } },
    });
    for (field, value) in spec.as_object().unwrap() {
        job["spec"][field] = value.clone();
    }
    job
}

fn gang() -> Value {
    job(json!({ "parallelism": 2, "completions": 2, "completionMode": "Indexed" }))
}

fn status(play: &Play) -> Value {
    play.simulation.server().get(&key("Job", "train")).unwrap()["status"].clone()
}

fn names(play: &Play, kind: &str) -> Vec<String> {
    let objects = play.simulation.server().list(kind);
    objects.map(|object| object["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Names of Pods that have a node and have not ended.
fn running(play: &Play) -> Vec<String> {
    let pods = play.simulation.server().cluster().pods().values();
    let runs = pods.filter(|pod| !pod.spec.node_name.is_empty() && !pod.is_finished());
    runs.map(|pod| pod.metadata.name.clone()).collect()
}

fn end(play: &mut Play, pod: &str, phase: &str) {
    play.patch("Pod", pod, true, json!({ "status": { "phase": phase } }));
}

#[test]
fn a_gang_job_gets_a_workload_and_a_pod_group() {
    let mut play = Play::new();
    play.create(gang()).unwrap();
    play.run(5);
    let (workloads, groups) = (names(&play, "Workload"), names(&play, "PodGroup"));
    assert_eq!((workloads.len(), groups.len()), (1, 1));
    assert!(groups[0].starts_with(&format!("{}-train-pgt-0-", workloads[0])));
    assert_eq!(play.group(&groups[0]).unwrap().min_count(), Some(2));
    let members = running(&play);
    assert_eq!(members.len(), 2);
    assert!(members.iter().all(|name| play.pod(name).group_name() == Some(&groups[0])));
    assert_eq!((&status(&play)["active"], &status(&play)["ready"]), (&json!(2), &json!(0)));
    for name in members {
        end(&mut play, &name, "Succeeded");
    }
    assert_eq!(status(&play)["completedIndexes"], "0,1");
    assert_eq!(status(&play)["conditions"][1]["type"], "Complete");
    assert!(play.simulation.server().cluster().pods().values().all(|pod| pod.metadata.finalizers.is_empty()));
    play.delete("Job", "train");
    play.run(5);
    for kind in ["Pod", "PodGroup", "Workload", "ResourceClaim"] {
        assert_eq!(names(&play, kind), [""; 0], "{kind}");
    }
}

/// A controller that stops before any of its writes makes nothing twice, and counts nothing twice.
#[test]
fn a_controller_that_stops_between_two_writes_goes_on() {
    for lost in 0..20 {
        let mut play = Play::new();
        play.simulation.lose_write_after(lost);
        play.create(gang()).unwrap();
        play.run(1);
        play.restart(Component::Controllers, |_| {});
        play.restart(Component::Scheduler, |_| {});
        play.run(20);
        let made = ["Workload", "PodGroup", "Pod", "ResourceClaim"].map(|kind| names(&play, kind).len());
        assert_eq!(made, [1, 1, 2, 2], "write {lost}");
        play.simulation.lose_write_after(lost % 5);
        for name in running(&play) {
            end(&mut play, &name, "Succeeded");
        }
        play.restart(Component::Controllers, |_| {});
        play.run(5);
        let status = status(&play);
        assert_eq!((&status["succeeded"], &status["active"]), (&json!(2), &Value::Null), "write {lost}");
        assert_eq!(status["conditions"][1]["type"], "Complete", "write {lost}");
    }
}

#[test]
fn a_job_of_another_shape_or_without_the_gate_gets_none() {
    let plain = job(json!({ "parallelism": 2, "completions": 2 }));
    let longer = job(json!({ "parallelism": 2, "completions": 3, "completionMode": "Indexed" }));
    for (object, gate) in [(plain, true), (longer, true), (gang(), false)] {
        let mut profile = profile();
        profile.features.workload_with_job = gate;
        let mut play = Play::with(profile);
        play.create(object).unwrap();
        play.run(5);
        assert_eq!(names(&play, "Workload").len() + names(&play, "PodGroup").len(), 0);
        assert_eq!(running(&play).len(), 2);
    }
}

#[test]
fn pods_are_replaced_until_enough_have_succeeded() {
    let mut play = Play::new();
    play.create(job(json!({ "parallelism": 2, "completions": 3 }))).unwrap();
    play.run(5);
    for (phase, succeeded, failed, active) in
        [("Succeeded", 1, 0, 2), ("Failed", 1, 1, 2), ("Succeeded", 2, 1, 1), ("Succeeded", 3, 1, 0)]
    {
        let next = running(&play).remove(0);
        end(&mut play, &next, phase);
        play.run(5);
        let status = status(&play);
        let number = |name: &str| status[name].as_u64().unwrap_or_default();
        assert_eq!((number("succeeded"), number("failed"), number("active")), (succeeded, failed, active));
    }
    assert_eq!(status(&play)["conditions"][1]["type"], "Complete");
    assert_eq!(play.notes("Completed"), ["Job completed"]);
}

#[test]
fn a_job_fails_with_more_failed_pods_than_it_bears() {
    let mut play = Play::new();
    play.create(job(json!({ "parallelism": 2, "completions": 2, "backoffLimit": 0 }))).unwrap();
    play.run(5);
    let first = running(&play).remove(0);
    end(&mut play, &first, "Failed");
    // The nodes end what is to end.
    let other = ObjectRef { kind: "Pod".to_owned(), namespace: NS.to_owned(), name: running(&play).remove(0) };
    let now = play.simulation.now();
    play.simulation.server_mut().delete(&other, "", Some(0), now).unwrap();
    play.run(5);
    assert_eq!(status(&play)["conditions"][1]["type"], "Failed");
    assert_eq!(status(&play)["failed"], 2, "one that is deleted counts, too");
}

/// The Job goes first, as with `--cascade=orphan` or a lost race: its Pods are not held for it.
#[test]
fn pods_of_a_job_that_is_gone_are_free() {
    let mut play = Play::new();
    play.create(gang()).unwrap();
    play.run(5);
    play.delete("Job", "train");
    play.run(60);
    let held =
        play.simulation.server().cluster().pods().values().filter(|pod| !pod.metadata.finalizers.is_empty()).count();
    assert_eq!(held, 0);
}

/// A Job of the input, with everything that is given at the start.
fn begun(object: Value, change: impl FnOnce(&mut Profile)) -> Play {
    let mut profile = profile();
    change(&mut profile);
    let mut play = Play::with(profile);
    let mut object = object;
    object["metadata"]["namespace"] = json!(NS);
    assert_eq!(play.simulation.apply([object.to_string().as_str()]), [vec![]]);
    let findings = play.simulation.begin();
    assert!(findings.iter().all(|finding| finding.code == Code::RunReplicasCapped), "{findings:?}");
    play.run(5);
    play
}

#[test]
fn a_job_of_the_input_that_is_a_gang_gets_all_its_places_or_none() {
    let six = || job(json!({ "parallelism": 6, "completions": 6, "completionMode": "Indexed" }));
    let play = begun(six(), |_| {});
    assert_eq!((names(&play, "PodGroup").len(), names(&play, "Pod").len(), running(&play).len()), (1, 6, 0));
    let play = begun(six(), |profile| profile.features.workload_with_job = false);
    assert_eq!((names(&play, "PodGroup").len(), names(&play, "Pod").len(), running(&play).len()), (0, 6, 4));
    let play = begun(gang(), |_| {});
    assert_eq!((names(&play, "PodGroup").len(), running(&play).len()), (1, 2));
}

#[test]
fn a_gang_is_shown_as_a_whole() {
    let play = begun(job(json!({ "parallelism": 40, "completions": 40, "completionMode": "Indexed" })), |_| {});
    assert_eq!((names(&play, "Pod").len(), running(&play).len()), (40, 0));
}

/// 1.37: every Job that nobody else manages, one by one unless the Job says otherwise.
#[test]
fn in_1_37_a_job_gets_the_pod_group_that_it_states() {
    let in_1_37 = |profile: &mut Profile| {
        *profile = Profile::of(Version::V1_37);
        profile.features.workload_with_job = true;
        profile.features.generic_workload = true;
    };
    let six = json!({ "parallelism": 6, "completions": 6 });
    let plain = begun(job(six.clone()), in_1_37);
    let groups = names(&plain, "PodGroup");
    assert_eq!((groups.len(), running(&plain).len()), (1, 4));
    assert_eq!(plain.group(&groups[0]).unwrap().min_count(), None);
    assert_eq!(plain.notes("PodGroupCreated").len(), 1);
    let mut stated = six;
    stated["scheduling"] = json!({ "schedulingPolicy": { "gang": {} } });
    let gang = begun(job(stated), in_1_37);
    let groups = names(&gang, "PodGroup");
    assert_eq!((gang.group(&groups[0]).unwrap().min_count(), running(&gang).len()), (Some(6), 0));
    let object = gang.simulation.server().get(&key("PodGroup", &groups[0])).unwrap();
    assert_eq!(object["apiVersion"], "scheduling.k8s.io/v1beta1");
    assert_eq!(object["spec"]["workloadRef"]["templateName"], "train-pgt-0");
}

#[test]
fn a_job_follows_its_parallelism_and_suspension() {
    let mut play = begun(job(json!({ "parallelism": 4, "completions": 8 })), |_| {});
    assert_eq!(running(&play).len(), 4);
    play.patch("Job", "train", false, json!({ "spec": { "parallelism": 2 } }));
    play.run(60);
    assert_eq!(running(&play).len(), 2);
    play.patch("Job", "train", false, json!({ "spec": { "suspend": true } }));
    play.run(60);
    assert_eq!(names(&play, "Pod"), [""; 0]);
    play.patch("Job", "train", false, json!({ "spec": { "suspend": false } }));
    play.run(60);
    assert_eq!(running(&play).len(), 2);
}

#[test]
fn a_job_of_a_job_set_is_played_like_any_other() {
    let mut play = Play::new();
    play.apply("{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: set}, spec: {replicatedJobs: [{name: w, replicas: 2, template: {spec: {parallelism: 1, completions: 1, template: {spec: {containers: [{name: c}]}}}}}]}}");
    play.simulation.begin();
    play.run(5);
    assert_eq!((names(&play, "Job"), running(&play).len()), (vec!["set-w-0".to_owned(), "set-w-1".to_owned()], 2));
    let pod = running(&play).remove(0);
    end(&mut play, &pod, "Succeeded");
    let job = play.simulation.server().get(&key("Job", "set-w-0")).unwrap();
    assert_eq!(job["status"]["succeeded"], 1);
}

/// A Job of Pods that run by themselves, in a script: time passes.
fn with_deadlines(spec: Value, seconds_of_pods: Option<i64>) -> Play {
    let mut play = Play::new();
    let mut job = job(spec);
    if let Some(seconds) = seconds_of_pods {
        job["spec"]["template"]["spec"]["activeDeadlineSeconds"] = json!(seconds);
    }
    play.create(job).unwrap();
    play.simulation.begin();
    play.run(5);
    assert_eq!(running(&play).len(), 1);
    play
}

#[test]
fn a_job_fails_at_its_deadline() {
    let mut play = with_deadlines(json!({ "activeDeadlineSeconds": 60 }), None);
    play.run(50);
    assert_eq!((running(&play).len(), play.claims().len()), (1, 1));
    play.run(60);
    let status = status(&play);
    assert_eq!(status["conditions"][1]["type"], "Failed");
    assert_eq!(status["conditions"][1]["reason"], "DeadlineExceeded");
    assert_eq!((running(&play).len(), play.claims().len()), (0, 0), "{status}");
}

#[test]
fn a_pod_fails_at_its_deadline_and_its_job_makes_another() {
    let mut play = with_deadlines(json!({ "backoffLimit": 1 }), Some(60));
    let first = running(&play).remove(0);
    play.run(50);
    assert_eq!(running(&play), std::slice::from_ref(&first));
    play.run(10);
    assert_eq!(play.pod(&first).status.rest.get("reason"), Some(&json!("DeadlineExceeded")));
    let second = running(&play);
    assert!(second.len() == 1 && second[0] != first, "{second:?}");
    play.run(120);
    assert_eq!(status(&play)["conditions"][1]["reason"], "BackoffLimitExceeded");
    assert_eq!((running(&play).len(), play.claims().len()), (0, 0));
}

#[test]
fn what_settles_without_a_script_meets_no_deadline() {
    let mut play = Play::new();
    let mut job = job(json!({ "activeDeadlineSeconds": 5 }));
    job["spec"]["template"]["spec"]["activeDeadlineSeconds"] = json!(5);
    play.create(job).unwrap();
    play.simulation.run_pods();
    play.run(100);
    assert_eq!(running(&play).len(), 1);
}
