//! Jobs: their Pods, their counts, and the Workload and PodGroup of one that is a gang.

use apportion_core::control_plane::Component;
use apportion_core::finding::ObjectRef;
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
