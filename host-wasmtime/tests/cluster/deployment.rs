//! What the deployment consists of, as the API server sees it.

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, deploy, rendered};
use crate::objects::{namespace, source};
use crate::program::HOME;
use crate::requests::{Answer, documents};

/// The objects of a kustomization.
fn kustomized(folder: &str) -> Vec<Value> {
    documents(&rendered(&["kustomize", &deploy(&format!("kustomize/{folder}"))]))
}

/// Applies objects. A new kind is served a moment after it was made.
fn apply(plane: &ControlPlane, objects: &[Value]) {
    for object in objects {
        plane.requests.apply(object);
    }
}

/// Installs everything, the roles of all parts included.
pub(crate) fn install(plane: &ControlPlane) {
    apply(plane, &kustomized("overlays/all-parts"));
    served(plane);
}

/// Installs what runs by default, without the right to write in every namespace.
pub(crate) fn install_restricted(plane: &ControlPlane) {
    apply(plane, &kustomized("overlays/restricted"));
    served(plane);
}

/// Installs what runs by default.
fn install_base(plane: &ControlPlane) {
    apply(plane, &kustomized("base"));
    served(plane);
}

fn served(plane: &ControlPlane) {
    plane.until("the kind of sources", 30, |plane| plane.requests.try_apply(&source("x"), "&dryRun=All").ok());
}

fn dry(plane: &ControlPlane, object: &Value) -> Answer {
    plane.requests.try_apply(object, "&dryRun=All")
}

/// Every manifest is taken, with no field unknown, and Pods of the Deployment may run in the namespace that it is for.
#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn every_manifest_of_the_deployment_is_taken() {
    let plane = ControlPlane::start("deployment");
    install_base(&plane);
    let mut count = 0;
    for folder in ["base", "overlays/all-parts", "overlays/restricted"] {
        for object in kustomized(folder) {
            dry(&plane, &object).unwrap_or_else(|refused| panic!("{folder}: {refused}: {object}"));
            count += 1;
        }
    }
    plane.requests.create(&namespace("charts", json!({})));
    let all =
        "controllers: [template-sync, explainer, conditions, claims, podgroup-protection, taint-eviction, scheduler]";
    for values in [
        "{}",
        &format!(
            "{{{all}, allowAdminAccess: true, restricted: true, warnings: true, otlpEndpoint: 'http://c:4318', priorityClassName: '', metricsFrom: [{{namespaceSelector: {{}}}}]}}"
        ),
    ] {
        let chart = rendered(&["chart", &deploy("helm/apportion"), "--namespace", "charts", "--values", values]);
        for object in documents(&chart) {
            dry(&plane, &object).unwrap_or_else(|refused| panic!("{values}: {refused}: {object}"));
            count += 1;
            a_pod_of_it_is_taken(&plane, &object, HOME);
        }
    }
    for object in kustomized("base") {
        a_pod_of_it_is_taken(&plane, &object, HOME);
    }
    println!("{count} manifests are taken");
    // The expressions of the policy have the types that they need.
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": { "name": "apportion-copies" },
    });
    let checked = plane.until("the check of the policy", 30, |plane| {
        let checked = plane.requests.get(&policy)?["status"]["typeChecking"].clone();
        checked.is_object().then_some(checked)
    });
    assert_eq!(checked.get("expressionWarnings"), None, "{checked}");
    // Viewers of namespaces see sources, too.
    plane.until("the aggregated role", 30, |plane| {
        let view = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": "view" } });
        plane.requests.get(&view)?.to_string().contains("clusterresourceclaimtemplates").then_some(())
    });
}

/// Kind, namespace and name of what a release of the chart makes, the CustomResourceDefinition apart: Helm gives that to no release.
fn released(namespace: &str, values: &str) -> Vec<String> {
    let chart = rendered(&["chart", &deploy("helm/apportion"), "--namespace", namespace, "--values", values]);
    let text = |object: &Value, field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let all = documents(&chart).into_iter().filter(|object| object["kind"] != "CustomResourceDefinition");
    all.map(|one| format!("{} {}/{}", one["kind"].as_str().unwrap(), text(&one, "namespace"), text(&one, "name")))
        .collect()
}

/// Parts that are installed apart have an account, roles and a Lease of their own.
#[test]
#[ignore = "needs the control plane's program: cargo xtask e2e"]
fn releases_of_different_parts_have_no_object_in_common() {
    let (usual, apart) = (released("usual", "{}"), released("apart", "controllers: [scheduler]"));
    assert!(usual.iter().all(|object| !apart.contains(object)), "{usual:?}\n{apart:?}");
    assert!(apart.contains(&"ServiceAccount apart/apportion".to_owned()), "{apart:?}");
    assert!(apart.contains(&"ClusterRoleBinding /apportion-scheduler".to_owned()), "{apart:?}");
}

#[test]
#[ignore = "needs the control plane's program: cargo xtask e2e"]
fn a_restricted_release_binds_the_right_to_write_copies_to_nobody() {
    let copies = |values: &str| released("a", values).into_iter().filter(|one| one.ends_with("-sync-copies")).collect();
    let role = "ClusterRole /apportion-template-sync-copies".to_owned();
    let all: Vec<String> = copies("{}");
    assert_eq!(all, [role.clone(), "ClusterRoleBinding /apportion-template-sync-copies".to_owned()]);
    let restricted: Vec<String> = copies("restricted: true");
    assert_eq!(restricted, [role]);
}

/// A Pod as the Deployment would have it made is taken where the strictest rules for Pods hold.
fn a_pod_of_it_is_taken(plane: &ControlPlane, object: &Value, home: &str) {
    if object["kind"] != "Deployment" {
        return;
    }
    let template = &object["spec"]["template"];
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
        "metadata": { "name": "one", "namespace": home, "labels": template["metadata"]["labels"] },
    });
    dry(plane, &pod).unwrap_or_else(|refused| panic!("{refused}: {pod}"));
    // The rules hold indeed.
    let mut root = pod.clone();
    root["spec"]["securityContext"]["runAsNonRoot"] = json!(false);
    let refused = dry(plane, &root).unwrap_err();
    assert!(refused.message.contains("violates PodSecurity"), "{refused}");
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn sources_that_contradict_themselves_are_refused() {
    let plane = ControlPlane::start("refusals");
    install_base(&plane);
    for (pointer, value, says) in [
        ("/spec/source", json!({ "name": "x" }), "`template` and `source` exclude each other"),
        ("/spec/targets", json!([{}]), "a target needs `names`, or a `namespaceSelector` that is not empty"),
        ("/spec/conflictPolicy", json!("Overwrite"), "Unsupported value"),
        ("/spec/templateName", json!("Not A Name"), "spec.templateName"),
        ("/spec/nonsense", json!(1), "nonsense"),
        (
            "/spec/targets",
            json!([{ "namespaceSelector": { "matchExpressions": [{ "key": "a", "operator": "In" }] } }]),
            "`In` and `NotIn` need `values`",
        ),
    ] {
        let mut wrong = source("h100");
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        wrong.pointer_mut(parent).unwrap()[field] = value;
        let refused = dry(&plane, &wrong).unwrap_err();
        assert!(refused.message.contains(says), "{refused}");
    }
    // Columns that people see.
    plane.requests.apply(&source("h100"));
    let table = plane.requests.text("/apis/apportion.dev/v1alpha1/clusterresourceclaimtemplates").unwrap();
    assert!(table.contains("\"gpu\""), "{table}");
}

/// Who keeps a copy from being what it was is told so; a cluster that wants to may refuse it.
#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn copies_can_be_protected_from_everybody_else() {
    let plane = ControlPlane::start("protection");
    install_base(&plane);
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": { "name": "apportion-copies" },
        "spec": { "policyName": "apportion-copies", "validationActions": ["Deny"] },
    });
    plane.requests.apply(&binding);
    plane.requests.create(&namespace("ml", json!({ "team": "ml" })));
    plane.requests.apply(&source("h100"));
    let running = crate::program::Running::start(&plane, "template-sync", &[]);
    let copy = crate::objects::copy("ml");
    plane.until("the copy", 30, |plane| plane.requests.get(&copy));
    plane.until("the refusal", 30, |plane| {
        let refused = plane.requests.try_delete(&copy).err()?;
        refused.message.contains("change the ClusterResourceClaimTemplate").then_some(())
    });
    // The controller may, and so may the garbage collector.
    plane.until("the copy to be there again", 30, |plane| plane.requests.get(&copy));
    plane.requests.apply(&source("h200"));
    plane.until("the new copy", 30, |plane| {
        let found = plane.requests.get(&copy)?;
        found.to_string().contains("h200").then_some(())
    });
    running.stop();
    plane.requests.delete(&source(""));
    plane.until("the copy to go with its source", 60, |plane| plane.requests.get(&copy).is_none().then_some(()));
}
