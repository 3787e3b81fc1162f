//! Kinds whose controllers make Pods.

use serde_json::{Value, json};

use super::Maker;

impl Maker {
    pub(super) fn make_workloads(&mut self) {
        if !self.chance(45) {
            return;
        }
        for _ in 0..1 + self.dice.below(2) {
            let (namespace, name) = (self.namespace(), self.fresh("work"));
            let template = self.template(&namespace, &name, true);
            let forever =
                |template: &Value| json!({ "selector": { "matchLabels": { "app": name } }, "template": template });
            let count = 1 + self.dice.below(3);
            let (version, kind, spec) = match self.dice.below(9) {
                0 => ("apps/v1", "Deployment", with(forever(&template), json!({ "replicas": count }))),
                1 => ("apps/v1", "ReplicaSet", with(forever(&template), json!({ "replicas": count }))),
                2 => {
                    let more = json!({ "replicas": count, "serviceName": name });
                    ("apps/v1", "StatefulSet", with(forever(&template), more))
                }
                3 => ("apps/v1", "DaemonSet", forever(&template)),
                4 | 5 => ("batch/v1", "Job", self.job(&namespace, &name, count)),
                6 => {
                    let job = self.job(&namespace, &name, count);
                    ("batch/v1", "CronJob", json!({ "schedule": "0 0 * * *", "jobTemplate": { "spec": job } }))
                }
                7 => {
                    let job = self.job(&namespace, &name, 1);
                    let jobs = json!([{ "name": "workers", "replicas": count, "template": { "spec": job } }]);
                    ("jobset.x-k8s.io/v1alpha2", "JobSet", json!({ "replicatedJobs": jobs }))
                }
                _ => {
                    let template = json!({ "workerTemplate": template, "size": count });
                    let spec = json!({ "replicas": 1, "leaderWorkerTemplate": template });
                    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)
                }
            };
            let object = self.add(version, kind, &namespace, &name, spec);
            // A name that differs from those of the Pods would only lengthen the output.
            object["metadata"]["labels"] = json!({ "app": name });
        }
    }

    fn template(&mut self, namespace: &str, app: &str, is_forever: bool) -> Value {
        let mut spec = self.pod_spec(namespace);
        if !is_forever {
            spec["restartPolicy"] = json!("Never");
        }
        json!({ "metadata": { "labels": { "app": app } }, "spec": spec })
    }

    fn job(&mut self, namespace: &str, name: &str, count: usize) -> Value {
        let mut job =
            json!({ "parallelism": count, "completions": count, "template": self.template(namespace, name, false) });
        job["completionMode"] = json!(if self.chance(60) { "Indexed" } else { "NonIndexed" });
        if self.chance(8) {
            job["suspend"] = json!(true);
        }
        if self.chance(30) {
            self.gates.extend([("WorkloadWithJob", true), ("GenericWorkload", true)]);
        }
        job
    }
}

fn with(mut spec: Value, more: Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    spec
}
