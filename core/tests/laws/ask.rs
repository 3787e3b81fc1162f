//! The questions, each asked of a cluster from the beginning.

use apportion_core::allocate::Limits;
use apportion_core::ask::report_of;
pub(crate) use apportion_core::ask::{ClaimReport, PodReport, Report};
use apportion_core::control_plane::Simulation;
use apportion_core::decision::Time;
use apportion_core::engine::Engine;
use apportion_core::explain::Explanation;
use apportion_core::finding::{Finding, ObjectRef, Severity};
use apportion_core::profile::Profile;
use apportion_core::validate::{Circumstances, Submission, in_default_namespace, validate};
use apportion_core::wire;
use serde_json::{Value, json};

use crate::generate::Case;

/// Time that passes in a simulation, in milliseconds.
const HALF_AN_HOUR: i64 = 30 * 60 * 1000;

/// The longest time in which `run` settles.
pub(crate) const SETTLING: i64 = apportion_core::control_plane::SETTLING * 1000;

pub(crate) fn settings(case: &Case) -> (Profile, Limits) {
    wire::settings(case.settings.clone()).unwrap()
}

fn texts(objects: &[Value]) -> Vec<String> {
    objects.iter().map(Value::to_string).collect()
}

/// An engine with the objects, and what was found in each.
pub(crate) fn engine(case: &Case) -> (Engine, Vec<Vec<Finding>>) {
    let (profile, limits) = settings(case);
    let mut engine = Engine::new(profile, limits);
    let findings = engine.submit(texts(&case.objects).iter().map(String::as_str));
    (engine, findings)
}

/// `run`, and the engine after it.
pub(crate) fn run(case: &Case) -> (Engine, Report) {
    let (mut engine, _) = engine(case);
    let report = engine.run();
    (engine, report)
}

/// A simulation with the objects that has begun, and what was found in each.
pub(crate) fn simulation(case: &Case, now: Option<Time>) -> (Simulation, Vec<Vec<Finding>>) {
    let (profile, limits) = settings(case);
    let now = now.unwrap_or_else(|| Simulation::start_of(&case.objects));
    let mut simulation = Simulation::new(profile, limits, now);
    let findings = simulation.submit(texts(&case.objects).iter().map(String::as_str));
    simulation.begin();
    (simulation, findings)
}

/// `run --until 30m`.
pub(crate) fn until(case: &Case, now: Option<Time>) -> (Simulation, Report) {
    after(case, now, HALF_AN_HOUR)
}

/// `run --until` some time.
pub(crate) fn after(case: &Case, now: Option<Time>, millis: i64) -> (Simulation, Report) {
    let (mut simulation, _) = simulation(case, now);
    simulation.run_until(Time::from_millis(simulation.now().millis() + millis));
    let report = report_of(&mut simulation);
    (simulation, report)
}

/// `explain`, of everything that is Pending or of one thing.
pub(crate) fn explain(
    engine: &Engine,
    subject: Option<&ObjectRef>,
    suggestions: bool,
) -> Result<Vec<Explanation>, String> {
    let mut ask = json!({ "kind": "explain", "suggestions": suggestions });
    if let Some(subject) = subject {
        ask["subject"] = json!(subject);
    }
    let answer = engine.inquire(ask).map_err(|findings| said(&findings))?;
    Ok(serde_json::from_value(answer).unwrap())
}

/// The first finding in words.
pub(crate) fn said(findings: &[Finding]) -> String {
    findings.first().map(|finding| format!("{}: {}", finding.code, finding.message)).unwrap_or_default()
}

/// What the API server would answer to each object, if all were created.
pub(crate) fn validated(case: &Case) -> Vec<Vec<Finding>> {
    let (profile, _) = settings(case);
    let admin = |namespace: &str| -> Option<bool> {
        let is_it = |object: &&Value| object["kind"] == "Namespace" && object["metadata"]["name"] == namespace;
        let found = case.objects.iter().find(is_it)?;
        Some(found["metadata"]["labels"]["resource.kubernetes.io/admin-access"] == "true")
    };
    let one = |object: &Value| {
        let object = in_default_namespace(object.clone());
        // What is stored already is not asked again.
        let is_stored = object["metadata"]["uid"].is_string() || !object["status"].is_null();
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        let admin_namespace = admin(namespace).filter(|_| !is_stored);
        let circumstances = Circumstances { admin_namespace, ..Circumstances::default() };
        validate(Submission { circumstances, ..Submission::create(object) }, &profile)
    };
    case.objects.iter().map(one).collect()
}

/// Whether a finding is one for which the API server refuses an object.
pub(crate) fn is_error(finding: &Finding) -> bool {
    finding.severity == Severity::Error
}

/// Positions of the objects that the API server refuses, each with the first reason.
pub(crate) fn refused(case: &Case) -> Vec<(usize, String)> {
    let all = validated(case).into_iter().enumerate();
    all.filter_map(|(index, findings)| {
        let errors: Vec<Finding> = findings.into_iter().filter(is_error).collect();
        (!errors.is_empty()).then(|| (index, said(&errors)))
    })
    .collect()
}

pub(crate) fn reference(kind: &str, namespace: &str, name: &str) -> ObjectRef {
    ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}

/// A field of an object's metadata.
pub(crate) fn meta<'v>(object: &'v Value, field: &str) -> &'v str {
    object["metadata"][field].as_str().unwrap_or_default()
}

/// Whether the objects show that they were taken from a cluster: UIDs of version 8 are given by a simulation.
pub(crate) fn is_dump(case: &Case) -> bool {
    let shows = |object: &Value| {
        let uid = object["metadata"]["uid"].as_str();
        (object["kind"] == "Pod" || object["kind"] == "ResourceClaim")
            && uid.is_some_and(|uid| uid.get(14..15) != Some("8"))
    };
    case.objects.iter().any(shows)
}
