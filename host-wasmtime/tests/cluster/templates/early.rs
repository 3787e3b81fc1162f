//! The policy that warns of Pods which come before their template.

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, deploy};
use crate::deployment::install;
use crate::objects::{copy, namespace, pod, source};
use crate::program::Running;
use crate::requests::documents;

fn user(namespace: &str, template: &str) -> Value {
    pod(namespace, "p", json!([{ "name": "gpu", "resourceClaimTemplateName": template }]))
}

/// What would be warned of, since here the policy refuses.
fn refusal(plane: &ControlPlane, namespace: &str) -> Option<String> {
    let refused = plane.requests.try_create(&user(namespace, "gpu"), "?dryRun=All").err()?;
    assert!(!refused.message.contains("resulted in error"), "{refused}");
    Some(refused.message)
}

/// Targets of every form.
fn selections() -> Vec<Value> {
    let labels = |selector: Value| json!([{ "namespaceSelector": selector }]);
    let expression = |operator: &str, values: Value| {
        labels(json!({ "matchExpressions": [{ "key": "team", "operator": operator, "values": values }] }))
    };
    vec![
        labels(json!({ "matchLabels": { "team": "ml" } })),
        json!([]),
        json!([{ "names": ["*"], "excludeNames": ["plain"] }]),
        json!([{ "names": ["plain", "kube-x"] }]),
        expression("In", json!(["web", "ml"])),
        expression("NotIn", json!(["ml"])),
        expression("Exists", json!([])),
        expression("DoesNotExist", json!([])),
        json!([{ "names": ["plain"] }, { "namespaceSelector": { "matchLabels": { "team": "web" } } }]),
    ]
}

const PLACES: [&str; 4] = ["kube-x", "ml", "plain", "web"];

fn of(targets: &Value) -> Value {
    let mut source = source("h100");
    source["spec"]["targets"] = targets.clone();
    source
}

/// Whether the controller has seen the source as it is, and done what there was to do.
fn is_settled(plane: &ControlPlane) -> Option<()> {
    let source = plane.requests.get(&source(""))?;
    let is_seen = source["status"]["observedGeneration"] == source["metadata"]["generation"];
    (is_seen && source["status"]["current"] == source["status"]["matched"]).then_some(())
}

/// Namespaces in which a Pod that names the template would be warned of.
fn warned(plane: &ControlPlane) -> Vec<&'static str> {
    PLACES.into_iter().filter(|place| refusal(plane, place).is_some()).collect()
}

/// Tells the policy what the controller would write.
fn say(plane: &ControlPlane, failures: Value) {
    let generation = plane.requests.get(&source("")).unwrap()["metadata"]["generation"].clone();
    plane.requests.set_status(&source(""), json!({ "observedGeneration": generation, "failures": failures }));
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn whoever_comes_before_the_template_is_warned() {
    let plane = ControlPlane::start("early");
    install(&plane);
    for (name, labels) in
        PLACES.into_iter().zip([json!({ "team": "ml" }), json!({ "team": "ml" }), json!({}), json!({ "team": "web" })])
    {
        plane.requests.create(&namespace(name, labels));
    }
    // What the controller does with each source.
    let running = Running::start(&plane, "template-sync", &[]);
    let copied = |targets: &Value| -> Vec<&str> {
        plane.requests.apply(&of(targets));
        plane.until("the status", 30, is_settled);
        PLACES.into_iter().filter(|place| plane.requests.get(&copy(place)).is_some()).collect()
    };
    let expected: Vec<Vec<&str>> = selections().iter().map(copied).collect();
    assert_eq!((expected[0].as_slice(), expected[1].len()), (["ml"].as_slice(), 0));
    running.stop();

    let file = std::fs::read_to_string(deploy("kustomize/components/warnings/policy.yaml")).unwrap();
    let mut objects = documents(&file);
    assert_eq!(objects[1]["spec"]["validationActions"], json!(["Warn"]), "nothing is refused");
    // A refusal is in the answer, a warning is not; nor is an expression that fails.
    objects[1]["spec"]["validationActions"] = json!(["Deny"]);
    assert_eq!(objects[0]["spec"]["failurePolicy"], "Ignore");
    objects[0]["spec"]["failurePolicy"] = json!("Fail");
    objects.iter().for_each(|object| drop(plane.requests.apply(object)));
    let checked = plane.until("the check of the policy", 30, |plane| {
        let checked = plane.requests.get(&objects[0])?["status"]["typeChecking"].clone();
        checked.is_object().then_some(checked)
    });
    assert_eq!(checked.get("expressionWarnings"), None, "{checked}");

    // Nobody has seen the source as it is: the policy warns wherever the controller would make a copy.
    for (targets, expected) in selections().iter().zip(expected) {
        plane.requests.apply(&of(targets));
        plane.until(&format!("warnings for {targets}"), 20, |plane| (warned(plane) == expected).then_some(()));
    }
    assert_eq!(plane.requests.try_create(&user("plain", "other"), "?dryRun=All").err().map(|one| one.message), None);

    // It has been seen: only who lacks the copy is warned, and who has just come.
    say(&plane, json!([]));
    plane.until("no warning", 20, |plane| warned(plane).is_empty().then_some(()));
    say(
        &plane,
        json!([{ "namespace": "web", "reason": "QuotaExceeded" }, { "namespace": "plain", "reason": "Conflict" }]),
    );
    plane.until("a warning", 20, |plane| (warned(plane) == ["web"]).then_some(()));
    let told = refusal(&plane, "web").unwrap();
    assert!(told.contains("has no claim template gpu (QuotaExceeded)"), "{told}");
    plane.requests.create(&namespace("young", json!({ "team": "web" })));
    let told = refusal(&plane, "young").unwrap();
    assert!(told.contains("may not have the claim template gpu yet"), "{told}");
    plane.until("it to be no longer young", 20, |plane| refusal(plane, "young").is_none().then_some(()));
}
