//! A controller inside the component: decisions cross the border, and a stop costs one call.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

use std::time::Duration;

use apportion::{Controller, Error, HostLimits, Runner, Stop};
use apportion_core::allocate::Limits;
use apportion_core::controller::{Conclusion, Part, Settings};
use apportion_core::decision::{Action, Time};
use apportion_core::finding::{Code, ObjectRef};
use apportion_core::profile::Profile;
use serde_json::{Value, json};

fn controller(limits: HostLimits) -> Controller {
    with(&Runner::new().unwrap(), limits)
}

fn with(runner: &Runner, limits: HostLimits) -> Controller {
    let settings = Settings {
        part: Part::TemplateSync,
        home: "apportion-system".to_owned(),
        allow_admin_access: false,
        conditions: false,
    };
    runner.controller(&Profile::default(), Limits::default(), limits, settings).unwrap()
}

fn namespace(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "uid": name } })
}

fn source() -> Value {
    json!({
        "apiVersion": "apportion.dev/v1alpha1", "kind": "ClusterResourceClaimTemplate",
        "metadata": { "name": "gpu", "uid": "u", "resourceVersion": "7", "generation": 1 },
        "spec": { "targets": [{ "names": ["*"] }], "template": { "spec": { "devices": { "requests": [] } } } },
    })
}

fn copy() -> ObjectRef {
    ObjectRef { kind: "ResourceClaimTemplate".to_owned(), namespace: "a".to_owned(), name: "gpu".to_owned() }
}

fn names(controller: &mut Controller) -> Vec<String> {
    controller.due().unwrap().into_iter().map(|task| task.object.to_string()).collect()
}

const ALL: [&str; 2] = ["ClusterResourceClaimTemplate.apportion.dev gpu", "ResourceClaimTemplate a/gpu"];

#[test]
fn a_decision_crosses_the_border() {
    let mut controller = controller(HostLimits::default());
    controller.apply(&[namespace("a").to_string(), source().to_string()]).unwrap();
    assert_eq!(names(&mut controller), ALL);
    assert_eq!(names(&mut controller), [""; 0], "what is due is told once");
    let plan = controller.reconcile(&copy(), Time::from_seconds(0)).unwrap();
    let [Action::Create { object, refused: Some(event) }] = plan.actions.as_slice() else { panic!("{plan:?}") };
    assert_eq!((&object["kind"], &object["metadata"]["namespace"]), (&json!("ResourceClaimTemplate"), &json!("a")));
    assert_eq!(event.reason, "CopyRefused");
    let refused = Conclusion::Refused { status: 403, message: "exceeded quota".to_owned() };
    controller.conclude(&copy(), refused).unwrap();
    assert_eq!(names(&mut controller), [ALL[0]], "a refusal is told in the status");
    let of_source = ObjectRef { kind: "ClusterResourceClaimTemplate.apportion.dev".to_owned(), ..ObjectRef::default() };
    let plan = controller.reconcile(&ObjectRef { name: "gpu".to_owned(), ..of_source }, Time::from_seconds(0)).unwrap();
    let [Action::UpdateStatus(object)] = plan.actions.as_slice() else { panic!("{plan:?}") };
    assert_eq!(object["status"]["failures"][0]["reason"], "QuotaExceeded");
    assert_eq!(object["metadata"]["resourceVersion"], "7", "it fails when somebody was faster");
}

#[test]
fn a_stop_costs_the_call_and_everything_is_due_again() {
    let limits = HostLimits { memory: 16 << 20, ..HostLimits::default() };
    let mut controller = controller(limits);
    controller.apply(&[namespace("a").to_string(), source().to_string()]).unwrap();
    assert_eq!(names(&mut controller), ALL);
    let mut large = namespace("b");
    large["metadata"]["annotations"] = (0..200_000).map(|number| (number.to_string(), json!("x"))).collect();
    let error = controller.apply(&[large.to_string()]).unwrap_err();
    assert!(matches!(error, Error::Stopped(Stop::Memory { .. })), "{error}");
    assert_eq!(controller.stops(), 1);
    assert_eq!(names(&mut controller), ALL, "the fresh instance knows what was applied before");
    assert_eq!(controller.reconcile(&copy(), Time::from_seconds(0)).unwrap().actions.len(), 1);
    assert_eq!(controller.stops(), 1);
    assert!(
        controller
            .delete(&ObjectRef { kind: "Namespace".to_owned(), namespace: String::new(), name: "a".to_owned() })
            .unwrap()
    );
    assert!(controller.reconcile(&copy(), Time::from_seconds(0)).unwrap().actions.is_empty());
}

#[test]
fn a_call_that_takes_too_long_is_ended() {
    let limits = HostLimits { time: Duration::from_millis(500), ..HostLimits::default() };
    let mut controller = with(&Runner::timed().unwrap(), limits);
    controller.apply(&[namespace("a").to_string(), source().to_string()]).unwrap();
    let mut large = namespace("b");
    large["metadata"]["annotations"] = (0..4_000_000).map(|number| (number.to_string(), json!("x"))).collect();
    let error = controller.apply(&[large.to_string()]).unwrap_err();
    assert!(matches!(error, Error::Stopped(Stop::Time { limit }) if limit == limits.time), "{error}");
    assert_eq!(error.findings()[0].code, Code::LimitTime);
    assert!(!error.is_ours());
    assert_eq!(names(&mut controller), ALL, "the fresh instance knows what was applied before");
}

#[test]
fn the_end_of_an_object_is_not_that_of_another_one_of_its_name() {
    let mut controller = controller(HostLimits::default());
    controller.apply(&[namespace("a").to_string(), source().to_string()]).unwrap();
    let object = |kind: &str, name: &str| ObjectRef::new(kind, "", name);
    assert!(!controller.delete_one(&object("Namespace", "a"), "an earlier one").unwrap());
    assert_eq!(controller.reconcile(&copy(), Time::from_seconds(0)).unwrap().actions.len(), 1);
    assert!(controller.delete_one(&object("Namespace", "a"), "a").unwrap());
    assert_eq!(controller.reconcile(&copy(), Time::from_seconds(0)).unwrap().actions.len(), 0);
}

#[test]
fn an_object_that_cannot_be_read_does_not_come_back_after_a_stop() {
    let limits = HostLimits { memory: 16 << 20, ..HostLimits::default() };
    let mut controller = controller(limits);
    controller.apply(&[namespace("a").to_string(), source().to_string()]).unwrap();
    let mut broken = namespace("a");
    broken["metadata"]["labels"] = json!("none");
    let findings = controller.apply(&[broken.to_string()]).unwrap();
    assert_eq!(findings[0][0].path, "metadata.labels");
    let mut large = namespace("b");
    large["metadata"]["annotations"] = (0..200_000).map(|number| (number.to_string(), json!("x"))).collect();
    controller.apply(&[large.to_string()]).unwrap_err();
    controller.due().unwrap();
    assert!(
        controller.reconcile(&copy(), Time::from_seconds(0)).unwrap().actions.is_empty(),
        "its namespace is not known"
    );
}
