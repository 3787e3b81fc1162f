//! `deploy/batch`, an Indexed Job that answers a fleet. Where no kubelet is, the test does what its Pods say.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, deploy, rendered};
use crate::program::THIS;
use crate::requests::documents;

/// The annotation of a Pod that says which shard it answers.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// The folder of a test, with what stands for the Job's volumes in it.
struct Volumes<'p>(&'p Path);

impl Volumes<'_> {
    fn answers(&self, shard: usize) -> PathBuf {
        self.0.join(format!("answers/answers-{shard}.ndjson"))
    }

    /// The fleet, with no answers yet.
    fn filled(folder: &Path, lines: &[String]) {
        let _ = fs::remove_dir_all(folder.join("answers"));
        fs::create_dir_all(folder.join("answers")).unwrap();
        fs::create_dir_all(folder.join("fleet")).unwrap();
        fs::write(folder.join("fleet/questions.ndjson"), lines.concat()).unwrap();
    }

    /// Does what the first container of a Pod says, with each volume where it is mounted. Gives the exit code.
    fn run(&self, pod: &Value) -> i32 {
        let container = &pod["spec"]["containers"][0];
        let variable = &container["env"][0];
        let path = format!("metadata.annotations['{INDEX}']");
        assert_eq!(variable["valueFrom"]["fieldRef"]["fieldPath"], *path, "{variable}");
        let (name, value) =
            (variable["name"].as_str().unwrap(), pod["metadata"]["annotations"][INDEX].as_str().unwrap());
        let mounts: Vec<(String, String)> = container["volumeMounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|mount| {
                let claims = pod["spec"]["volumes"].as_array().unwrap();
                let volume = claims.iter().find(|volume| volume["name"] == mount["name"]).unwrap();
                let claim = volume["persistentVolumeClaim"]["claimName"].as_str().unwrap();
                (format!("{}/", mount["mountPath"].as_str().unwrap()), format!("{}/", self.0.join(claim).display()))
            })
            .collect();
        let arguments = container["args"].as_array().unwrap().iter().map(|argument| {
            let argument = argument.as_str().unwrap().replace(&format!("$({name})"), value);
            mounts.iter().fold(argument, |argument, (mounted, folder)| argument.replace(mounted, folder))
        });
        let output = Command::new(THIS).args(arguments).env_clear().env(name, value).output().unwrap();
        output.status.code().unwrap()
    }
}

/// A cluster in which every third Pod fits nowhere.
fn cluster(number: usize) -> String {
    let size = if number.is_multiple_of(3) { "9" } else { "1" };
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-a" },
        "status": { "allocatable": { "cpu": "2", "memory": "4Gi", "pods": "110" } },
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "pod" },
        "spec": { "containers": [{ "name": "main", "image": "x", "resources": { "requests": { "cpu": size } } }] },
    });
    format!("{}\n", json!({ "id": format!("cluster-{number}"), "objects": [node, pod] }))
}

fn job() -> Value {
    json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "apportion-batch", "namespace": "apportion-batch" } })
}

fn shard(pod: &Value) -> usize {
    pod["metadata"]["annotations"][INDEX].as_str().unwrap().parse().unwrap()
}

/// Waits for Pods of the Job that nobody has run yet.
fn pods(plane: &ControlPlane, count: usize) -> Vec<Value> {
    plane.until(&format!("{count} Pods of the Job"), 90, |plane| {
        let mut all = plane.requests.list("v1", "Pod");
        all.retain(|pod| pod["status"]["phase"] == "Pending" && pod["metadata"].get("deletionTimestamp").is_none());
        (all.len() == count).then_some(all)
    })
}

/// Says of a Pod how its container ended, as a kubelet does.
fn ended(plane: &ControlPlane, pod: &Value, code: i32, others: &[Value]) {
    let phase = if code == 0 { "Succeeded" } else { "Failed" };
    let container = json!({
        "name": pod["spec"]["containers"][0]["name"], "image": "x", "imageID": "x", "ready": false, "restartCount": 0,
        "state": { "terminated": { "exitCode": code, "reason": if code == 0 { "Completed" } else { "Error" } } },
    });
    plane.requests.set_status(pod, json!({ "phase": phase, "containerStatuses": [container], "conditions": others }));
}

/// Waits until the Job has ended, and gives its status.
fn status(plane: &ControlPlane, condition: &str) -> Value {
    plane.until(&format!("the Job to be {condition}"), 90, |plane| {
        let status = plane.requests.get(&job())?["status"].clone();
        let conditions = status["conditions"].as_array()?;
        conditions.iter().any(|one| one["type"] == condition && one["status"] == "True").then_some(status)
    })
}

/// The bytes that a call of `apportion batch` gives.
fn batch(arguments: &[String]) -> String {
    let output = Command::new(THIS).arg("batch").args(arguments).env_clear().output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The outputs of all shards, merged, have the bytes of one run.
fn is_whole(volumes: &Volumes) {
    let questions = volumes.0.join("fleet/questions.ndjson").display().to_string();
    let outputs = (0..16).map(|shard| volumes.answers(shard).display().to_string());
    let merged = batch(&[vec!["--merge".to_owned()], outputs.collect()].concat());
    let whole = batch(&[questions, "--ask=explain".to_owned()]);
    assert_eq!(whole.lines().count(), 40, "{whole}");
    assert!(merged == whole, "the shards give other bytes than one run");
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn pods_of_the_indexed_job_answer_a_fleet() {
    let plane = ControlPlane::with("batch", &["job-controller"]);
    let volumes = Volumes(&plane.folder);
    let manifests = documents(&rendered(&["kustomize", &deploy("batch")]));
    Volumes::filled(&plane.folder, &(0..40).map(cluster).collect::<Vec<_>>());
    for object in &manifests {
        plane.requests.apply(object);
    }
    let first = pods(&plane, 16);
    let shards: BTreeSet<usize> = first.iter().map(shard).collect();
    assert_eq!(shards, (0..16).collect());
    for pod in &first {
        assert_eq!(volumes.run(pod), 0, "{pod}");
        match shard(pod) {
            // It was killed in the middle of a line.
            3 => {
                let whole = fs::read(volumes.answers(3)).unwrap();
                fs::write(volumes.answers(3), &whole[..whole.len() - 20]).unwrap();
                ended(&plane, pod, 137, &[]);
            }
            // Its node went before it wrote anything.
            5 => {
                fs::remove_file(volumes.answers(5)).unwrap();
                let target =
                    json!({ "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager" });
                ended(&plane, pod, 143, &[target]);
            }
            _ => ended(&plane, pod, 0, &[]),
        }
    }
    let again = pods(&plane, 2);
    assert_eq!(again.iter().map(shard).collect::<BTreeSet<_>>(), [3, 5].into());
    for pod in &again {
        assert_eq!(volumes.run(pod), 0, "{pod}");
        ended(&plane, pod, 0, &[]);
    }
    let complete = status(&plane, "Complete");
    assert_eq!((&complete["completedIndexes"], &complete["failed"]), (&json!("0-15"), &json!(1)), "{complete}");
    is_whole(&volumes);

    // A line that is no cluster: its shard fails and is not tried again, and all others are answered.
    plane.requests.delete(&job());
    plane.until("the Pods to go with their Job", 60, |plane| plane.requests.list("v1", "Pod").is_empty().then_some(()));
    let mut lines: Vec<String> = (0..40).map(cluster).collect();
    "{\"objects\": 7}\n".clone_into(&mut lines[23]);
    Volumes::filled(&plane.folder, &lines);
    plane.requests.apply(manifests.iter().find(|object| object["kind"] == "Job").unwrap());
    for pod in pods(&plane, 16) {
        let code = volumes.run(&pod);
        assert_eq!(code, i32::from(shard(&pod) == 7), "{pod}");
        ended(&plane, &pod, code, &[]);
    }
    let failed = status(&plane, "Failed");
    assert_eq!((&failed["completedIndexes"], &failed["failedIndexes"]), (&json!("0-6,8-15"), &json!("7")), "{failed}");
    is_whole(&volumes);
}
