//! Every question about one cluster has the same facts behind it.

use std::collections::{BTreeMap, BTreeSet};

use crate::ask::{PodReport, Report};
use apportion_core::ask::{Difference, Fit, Place};
use apportion_core::check::inspect;
use apportion_core::explain::{Explanation, State};
use apportion_core::finding::{Code, Finding};
use serde_json::{Value, json};

use crate::Contradiction;
use crate::ask;
use crate::generate::Case;
use crate::generate::places::with_places;
use crate::same::{Depth, same};

/// Whether any object says this somewhere.
pub(super) fn says(case: &Case, text: &str) -> bool {
    case.objects.iter().any(|object| object.to_string().contains(text))
}

/// Whether what happens hangs on how much time passes: Pods that are on their way out, or that wait for a driver.
fn is_timed(case: &Case) -> bool {
    let is_placed = says(case, "\"nodeName\":")
        && case.objects.iter().any(|object| object["kind"] == "Pod" && object["spec"]["nodeName"].is_string());
    (says(case, "NoExecute") && is_placed) || says(case, "deletionTimestamp")
}

/// `run --until 30m` says what `run` says. What waits for a driver is given up after ten minutes, so it is asked after the five in which
/// `run` settles.
pub(super) fn until(case: &Case) -> Result<(), Contradiction> {
    if is_timed(case) {
        return Ok(());
    }
    let (_, report) = ask::run(case);
    let waits = says(case, "bindingConditions");
    let (simulation, later) = if waits { ask::after(case, None, ask::SETTLING) } else { ask::until(case, None) };
    for pod in &later.pods {
        let stored = simulation.server().get(&ask::reference("Pod", &pod.namespace, &pod.name));
        let node = stored.and_then(|pod| pod["spec"]["nodeName"].as_str().map(str::to_owned));
        if node != pod.node {
            return Err(format!(
                "report and stored Pod | {}/{}: {:?}, stored {node:?}",
                pod.namespace, pod.name, pod.node
            ));
        }
    }
    same(&report, &later, Depth::All)
}

/// Reasons that are about devices; their words are those of the funnel.
fn is_about_devices(code: Code) -> bool {
    let text = code.text();
    text.starts_with("alloc/")
        || [
            "run/too-few-devices",
            "run/too-few-matching",
            "run/devices-unusable",
            "run/devices-tainted",
            "run/devices-in-use",
            "run/devices-together",
            "run/gave-up",
        ]
        .contains(&text)
}

fn agrees(pod: &PodReport, explanation: &Explanation) -> Result<(), Contradiction> {
    let of = format!("{}/{}", pod.namespace, pod.name);
    let first = pod.reasons.first();
    let is_placed = explanation.state == State::Placed;
    if is_placed == pod.is_stuck() {
        let why = first.map(|reason| (reason.code, &reason.message));
        return Err(format!(
            "whether a Pod is Pending | {of}: run {:?} {why:?}, explain {:?} {:?}",
            pod.node, explanation.state, explanation.headline
        ));
    }
    if is_placed && explanation.node != pod.node {
        return Err(format!("the node of a Pod | {of}: run {:?}, explain {:?}", pod.node, explanation.node));
    }
    let Some(first) = first else { return Ok(()) };
    let devices = matches!(explanation.state, State::NoDevices | State::GaveUp)
        || explanation.stage.iter().any(|reason| is_about_devices(reason.code));
    if is_about_devices(first.code) {
        if !devices {
            let stage: Vec<_> = explanation.stage.iter().map(|reason| (reason.code, &reason.message)).collect();
            let (code, message) = (first.code, &first.message);
            return Err(format!(
                "the first reason of a Pod ({code}, not devices) | {of}: run {message:?}, explain {:?} {stage:?}",
                explanation.state
            ));
        }
        return Ok(());
    }
    let stage = explanation.stage.first();
    if stage.map(|reason| (reason.code, &reason.message)) != Some((first.code, &first.message)) {
        let of_explain = stage.map(|reason| reason.code.text());
        return Err(format!(
            "the first reason of a Pod ({}, {}) | {of}: run {:?}, explain {:?} {:?}",
            first.code,
            of_explain.unwrap_or("none"),
            first.message,
            explanation.headline,
            stage.map(|reason| &reason.message)
        ));
    }
    Ok(())
}

/// `explain` of everything and of each thing by name says what `run` says.
pub(super) fn explain(case: &Case) -> Result<(), Contradiction> {
    let (_, report) = ask::run(case);
    let (engine, _) = ask::engine(case);
    let all = ask::explain(&engine, None, false).map_err(|text| format!("explain is not answered | {text}"))?;
    let explained: BTreeSet<(&str, &str)> = all
        .iter()
        .filter(|one| one.subject.kind == "Pod")
        .map(|one| (one.subject.namespace.as_str(), one.subject.name.as_str()))
        .collect();
    let pending: BTreeSet<(&str, &str)> = report
        .pods
        .iter()
        .filter(|pod| pod.is_stuck())
        .map(|pod| (pod.namespace.as_str(), pod.name.as_str()))
        .collect();
    if !explained.is_superset(&pending) {
        let missing: Vec<_> = pending.difference(&explained).collect();
        return Err(format!("which Pods are Pending (explain leaves some out) | {missing:?}"));
    }
    if let Some(more) = explained.difference(&pending).next() {
        let headline = all.iter().find(|one| (one.subject.namespace.as_str(), one.subject.name.as_str()) == *more);
        let pod = report.pods.iter().find(|pod| (pod.namespace.as_str(), pod.name.as_str()) == *more);
        let is_kept = pod.is_some_and(|pod| !pod.reasons.is_empty());
        if !is_kept {
            let headline = headline.map(|one| &one.headline);
            return Err(format!("which Pods are Pending (explain has more) | {more:?}: {headline:?}"));
        }
    }
    for pod in &report.pods {
        let subject = ask::reference("Pod", &pod.namespace, &pod.name);
        let one = ask::explain(&engine, Some(&subject), false)
            .map_err(|text| format!("a Pod of the report cannot be explained | {subject}: {text}"))?;
        agrees(pod, &one[0])?;
        if let Some(of_all) = all.iter().find(|one| one.subject == subject)
            && *of_all != one[0]
        {
            return Err(format!(
                "explain of all and of one | {subject}: {:?}, then {:?}",
                of_all.headline, one[0].headline
            ));
        }
    }
    for claim in &report.claims {
        let subject = ask::reference("ResourceClaim", &claim.namespace, &claim.name);
        let one = ask::explain(&engine, Some(&subject), false)
            .map_err(|text| format!("a claim of the report cannot be explained | {subject}: {text}"))?;
        if (one[0].state == State::Placed) != claim.allocated {
            return Err(format!(
                "whether a claim has devices | {subject}: run {}, explain {:?}",
                claim.allocated, one[0].headline
            ));
        }
    }
    Ok(())
}

/// Devices in use by namespace, without those taken with admin access.
fn in_use(report: &Report) -> BTreeMap<String, u64> {
    let mut by_namespace: BTreeMap<String, BTreeSet<(&str, &str, &str)>> = BTreeMap::new();
    for claim in &report.claims {
        for device in claim.devices.iter().filter(|device| !device.admin_access) {
            let id = (device.driver.as_str(), device.pool.as_str(), device.device.as_str());
            by_namespace.entry(claim.namespace.clone()).or_default().insert(id);
        }
    }
    by_namespace.into_iter().map(|(namespace, devices)| (namespace, devices.len() as u64)).collect()
}

/// `fit` begins with the devices that `run` leaves in use.
pub(super) fn fit(case: &Case) -> Result<(), Contradiction> {
    let (mut after, report) = ask::run(case);
    let (engine, _) = ask::engine(case);
    let Some(key) = after.cluster().templates().keys().next().cloned() else { return Ok(()) };
    let request = json!({ "kind": "fit", "subject": ask::reference("ResourceClaimTemplate", &key.0, &key.1) });
    let answer = match engine.inquire(request.clone()) {
        Ok(answer) => answer,
        Err(findings) => return Err(format!("fit of a template that is there | {}", ask::said(&findings))),
    };
    let fit: Fit = serde_json::from_value(answer).unwrap();
    let counted: BTreeMap<String, u64> =
        fit.namespaces.iter().map(|one| (one.namespace.clone(), one.devices)).collect();
    let used = in_use(&report);
    if counted != used {
        return Err(format!("devices in use | run {used:?}, fit {counted:?}"));
    }
    after.run();
    let again: Fit = serde_json::from_value(after.inquire(request).unwrap()).unwrap();
    if again != fit {
        return Err(format!("fit before and after run | {fit:?}, then {again:?}"));
    }
    Ok(())
}

/// `what-if` compares with what `run` says.
pub(super) fn what_if(case: &Case) -> Result<(), Contradiction> {
    let (_, report) = ask::run(case);
    let (engine, _) = ask::engine(case);
    let given = |pod: &&PodReport| {
        let is_it = |object: &&Value| object["kind"] == "Pod" && ask::meta(object, "name") == pod.name;
        case.objects.iter().any(|object| is_it(&object)) && pod.owner.is_none()
    };
    for pod in report.pods.iter().filter(given).take(3) {
        let subject = ask::reference("Pod", &pod.namespace, &pod.name);
        let answer = engine
            .inquire(json!({ "kind": "whatIf", "without": [subject] }))
            .map_err(|findings| format!("what-if without a Pod that is there | {}", ask::said(&findings)))?;
        let difference: Difference = serde_json::from_value(answer).unwrap();
        let name = format!("{}/{}", pod.namespace, pod.name);
        let Some(found) = difference.pods.iter().find(|one| one.pod == name) else {
            return Err(format!("what-if without a Pod does not tell of it | {name}"));
        };
        let place = pod.node.clone().map_or(Place::Pending, Place::Node);
        if found.before != place || found.after != Place::Absent {
            return Err(format!(
                "where a Pod is | {name}: run {place:?}, what-if {:?}, then {:?}",
                found.before, found.after
            ));
        }
    }
    Ok(())
}

/// A cluster from its snapshot.
pub(super) fn replayed(snapshot: &Value, seed: u64) -> Case {
    let objects = snapshot["objects"].as_array().unwrap().clone();
    Case { seed, settings: snapshot["settings"].clone(), objects }
}

/// A snapshot answers as the cluster that it is of. Other names than those of Pods of workloads do not hang on what it leaves out.
pub(super) fn snapshot(case: &Case) -> Result<(), Contradiction> {
    for case in [case, &with_places(case)] {
        let snapshot = snapshot_of(case, false)?;
        let (_, report) = ask::run(case);
        let (_, other) = ask::run(&replayed(&snapshot, case.seed));
        same(&report, &other, Depth::All)?;
    }
    Ok(())
}

/// An anonymous snapshot places Pods as the cluster that it is of. Names of Pods that are made hang on those of their workloads.
pub(super) fn anonymous(case: &Case) -> Result<(), Contradiction> {
    let case = with_places(case);
    let snapshot = snapshot_of(&case, true)?;
    let (engine, report) = ask::run(&case);
    if !engine.cluster().workloads().is_empty() || !ask::refused(&case).is_empty() {
        return Ok(());
    }
    let (_, other) = ask::run(&replayed(&snapshot, case.seed));
    let position = |report: &Report, node: &str| report.nodes.iter().position(|known| known.name == node);
    let places = |report: &Report| -> Vec<Option<Option<usize>>> {
        report.pods.iter().map(|pod| pod.node.as_ref().map(|node| position(report, node))).collect()
    };
    let (was, is) = (places(&report), places(&other));
    if was == is { Ok(()) } else { Err(format!("the nodes of Pods under other names | {was:?}, then {is:?}")) }
}

fn snapshot_of(case: &Case, is_anonymous: bool) -> Result<Value, Contradiction> {
    let (engine, _) = ask::engine(case);
    let snapshot = engine.inquire(json!({ "kind": "snapshot", "anonymize": is_anonymous }));
    let snapshot = snapshot.map_err(|findings| format!("no snapshot | {}", ask::said(&findings)))?;
    if snapshot.to_string().contains("secret") { Err("a secret | in the snapshot".to_owned()) } else { Ok(snapshot) }
}

/// `check` of a settled cluster and `run` agree on which Pods on a node may not use their claims.
pub(super) fn check(case: &Case) -> Result<(), Contradiction> {
    let (engine, report) = ask::run(case);
    let snapshot = snapshot_of(case, false)?;
    let left = replayed(&snapshot, case.seed);
    let is_refused = |position: usize| ask::refused(&left).iter().any(|(index, _)| *index == position);
    let is_made = |object: &Value| object["metadata"]["ownerReferences"].is_array();
    let is_claim = |object: &Value| object["kind"] == "ResourceClaim" && !is_made(object);
    let mut objects = left.objects.iter().enumerate();
    let knows_claims = objects.any(|(position, object)| is_claim(object) && !is_refused(position));
    let (profile, _) = ask::settings(case);
    let findings = inspect(snapshot["objects"].as_array().unwrap().clone(), &profile, None);
    // Of Pods that run `check` says what may happen to them; `run` says nothing.
    let runs = |pod: &PodReport| {
        let subject = ask::reference("Pod", &pod.namespace, &pod.name);
        engine.get(&subject).is_some_and(|object| object["status"]["phase"] == "Running")
    };
    for pod in report.pods.iter().filter(|pod| pod.node.is_some() && !runs(pod)) {
        let subject = ask::reference("Pod", &pod.namespace, &pod.name);
        let is_it = |one: &&Finding| {
            [Code::CheckPodWithoutClaim, Code::CheckPodElsewhere].contains(&one.code)
                && one.object.as_ref() == Some(&subject)
        };
        let checked = findings.iter().find(is_it);
        let kept = pod.reasons.iter().find(|reason| reason.path.contains("resourceClaims["));
        // What a dump does not hold is not known, nor is a kind of which nothing is left.
        if kept.is_some_and(|reason| reason.code == Code::RunNotGiven) || (!knows_claims && checked.is_none()) {
            continue;
        }
        if checked.is_some() != kept.is_some() {
            let (checked, kept) = (checked.map(|one| &one.message), kept.map(|one| &one.message));
            return Err(format!(
                "whether a Pod on a node may use its claims | {subject}: run {kept:?}, check {checked:?}"
            ));
        }
    }
    Ok(())
}
