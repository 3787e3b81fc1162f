//! Rules of CronJobs, Jobs and Deployments, and what changes of a suspended Job may do.

use apportion_core::finding::ErrorKind::{Invalid, NotSupported};
use apportion_core::finding::{ErrorKind, Finding};
use apportion_core::profile::{Profile, Version};
use apportion_core::validate::as_stored;
use serde_json::{Value, json};

use crate::{create, update};

fn errors(findings: &[Finding]) -> Vec<(ErrorKind, &str)> {
    findings.iter().filter_map(|finding| Some((finding.kind?, finding.path.as_str()))).collect()
}

fn job_spec(more: &Value) -> Value {
    let container = json!({ "name": "c", "image": "i", "resources": { "requests": { "cpu": "1" } } });
    let template = json!({ "metadata": { "labels": { "a": "b" } }, "spec": { "restartPolicy": "Never", "containers": [container] } });
    let mut spec = json!({ "template": template });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    spec
}

fn object(api_version: &str, kind: &str, name: &str, spec: Value) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name, "namespace": "n" }, "spec": spec })
}

fn cron(name: &str, schedule: &str, zone: Value) -> Vec<Finding> {
    let spec = json!({ "schedule": schedule, "timeZone": zone, "jobTemplate": { "spec": job_spec(&json!({})) } });
    create(object("batch/v1", "CronJob", name, spec))
}

#[test]
fn a_schedule_has_five_fields_or_is_a_word() {
    for schedule in ["0 3 * * *", "*/5 0-6,20-23/2 1 jan-MAR ?", "@daily", "@every 1h30m", "0 0 * * sun"] {
        assert_eq!(errors(&cron("w", schedule, Value::Null)), [], "{schedule}");
    }
    for schedule in [
        "every minute",
        "* * * *",
        "60 * * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 7",
        "5-1 * * * *",
        "*/0 * * * *",
        "@noon",
        "@every day",
        "TZ=UTC 0 3 * * *",
    ] {
        assert_eq!(errors(&cron("w", schedule, Value::Null)), [(Invalid, "spec.schedule")], "{schedule}");
    }
    for zone in ["Europe/Berlin", "Etc/GMT+1", "UTC", "America/Argentina/Ushuaia"] {
        assert_eq!(errors(&cron("w", "@daily", json!(zone))), [], "{zone}");
    }
    for zone in ["", "Mars/Olympus", "local", "europe/berlin"] {
        assert_eq!(errors(&cron("w", "@daily", json!(zone))), [(Invalid, "spec.timeZone")], "{zone}");
    }
    assert_eq!(errors(&cron(&"a".repeat(52), "@daily", Value::Null)), []);
    assert_eq!(errors(&cron(&"a".repeat(53), "@daily", Value::Null)), [(Invalid, "metadata.name")]);
}

#[test]
fn policies_of_jobs_have_known_values() {
    let explode = json!({ "rules": [{ "action": "Explode", "onExitCodes": { "operator": "In", "values": [1] } }] });
    for (more, expected) in [
        (json!({ "podReplacementPolicy": "Failed", "managedBy": "example.com/controller" }), vec![]),
        (json!({ "podReplacementPolicy": "bogus" }), vec![(NotSupported, "spec.podReplacementPolicy")]),
        (json!({ "managedBy": "nope" }), vec![(Invalid, "spec.managedBy")]),
        (json!({ "podFailurePolicy": explode }), vec![(NotSupported, "spec.podFailurePolicy.rules[0].action")]),
    ] {
        let findings = create(object("batch/v1", "Job", "w", job_spec(&more)));
        assert_eq!(errors(&findings), expected, "{more}");
    }
}

#[test]
fn a_deployment_can_replace_its_pods() {
    let missing = "spec.strategy.rollingUpdate.maxUnavailable";
    for (rolling, expected) in [
        (json!({ "maxSurge": 1, "maxUnavailable": 0 }), vec![]),
        (json!({ "maxUnavailable": 0 }), vec![]),
        (json!({ "maxSurge": 0, "maxUnavailable": "0%" }), vec![(Invalid, missing)]),
        (json!({ "maxUnavailable": "150%" }), vec![(Invalid, missing)]),
        (json!({ "maxUnavailable": "150%x" }), vec![(Invalid, missing)]),
        (json!({ "maxSurge": -1 }), vec![(Invalid, "spec.strategy.rollingUpdate.maxSurge")]),
    ] {
        let spec = json!({
            "selector": { "matchLabels": { "a": "b" } }, "strategy": { "rollingUpdate": rolling },
            "template": { "metadata": { "labels": { "a": "b" } }, "spec": { "containers": [{ "name": "c", "image": "i" }] } },
        });
        assert_eq!(errors(&create(object("apps/v1", "Deployment", "w", spec))), expected, "{rolling}");
    }
    let old = object("apps/v1beta1", "Deployment", "w", json!({}));
    assert!(create(old)[0].hint.as_deref().unwrap().contains("`apps/v1`"));
}

#[test]
fn a_suspended_job_can_be_given_other_nodes_and_no_other_image() {
    let job = |change: &dyn Fn(&mut Value)| {
        let mut job = object("batch/v1", "Job", "w", job_spec(&json!({ "suspend": true })));
        change(&mut job["spec"]["template"]);
        job
    };
    let old = as_stored(job(&|_| {}));
    let changed = |version: Version, change: &dyn Fn(&mut Value)| {
        errors(&update(&Profile::of(version), old.clone(), job(change)))
            .into_iter()
            .map(|(kind, _)| kind)
            .collect::<Vec<_>>()
    };
    let nodes = |template: &mut Value| {
        template["spec"]["nodeSelector"] = json!({ "a": "b" });
        template["metadata"]["labels"]["c"] = json!("d");
    };
    assert_eq!(changed(Version::V1_34, &nodes), []);
    let resources = |template: &mut Value| {
        template["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("2");
    };
    assert_eq!(changed(Version::V1_34, &resources), [Invalid]);
    assert_eq!(changed(Version::V1_36, &resources), []);
    let image = |template: &mut Value| template["spec"]["containers"][0]["image"] = json!("other");
    assert_eq!(changed(Version::V1_37, &image), [Invalid]);
}
