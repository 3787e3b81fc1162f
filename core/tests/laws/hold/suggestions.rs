//! A suggestion that is carried out on the input has the effect that it claims.

use std::collections::BTreeMap;

use apportion_core::explain::{Change, Explanation, State, Suggestion};
use apportion_core::finding::{Code, ObjectRef};
use serde_json::{Value, json};

use crate::Contradiction;
use crate::ask::{self, PodReport, Report};
use crate::generate::Case;

/// Most suggestions of one explanation that are carried out.
const MOST: usize = 6;

fn is_named(object: &Value, kind: &str, namespace: &str, name: &str) -> bool {
    let full = |namespace: &str| if namespace.is_empty() { "default".to_owned() } else { namespace.to_owned() };
    object["kind"] == kind
        && full(ask::meta(object, "namespace")) == full(namespace)
        && ask::meta(object, "name") == name
}

/// Deletes a Pod and the claims that were made for it.
fn delete_pod(case: &mut Case, namespace: &str, name: &str) {
    case.objects.retain(|object| {
        let owners = object["metadata"]["ownerReferences"].as_array();
        let is_owned =
            owners.is_some_and(|owners| owners.iter().any(|owner| owner["kind"] == "Pod" && owner["name"] == name));
        !(is_named(object, "Pod", namespace, name) || is_owned && ask::meta(object, "namespace") == namespace)
    });
    for object in case
        .objects
        .iter_mut()
        .filter(|object| object["kind"] == "ResourceClaim" && ask::meta(object, "namespace") == namespace)
    {
        if let Some(reserved) = object["status"].get_mut("reservedFor").and_then(Value::as_array_mut) {
            reserved.retain(|consumer| consumer["name"] != name);
        }
    }
}

/// Puts a changed object into the place of the one of its name, or beside the others. What cannot be changed is deleted and made anew.
fn put(case: &mut Case, manifest: &Value) {
    let (kind, namespace, name) =
        (manifest["kind"].as_str().unwrap(), ask::meta(manifest, "namespace"), ask::meta(manifest, "name"));
    match case.objects.iter_mut().find(|object| is_named(object, kind, namespace, name)) {
        Some(object) => *object = manifest.clone(),
        None => case.objects.push(manifest.clone()),
    }
}

/// Carries out the changes. `None` where the input does not hold what is to be changed.
fn carried_out(case: &Case, suggestion: &Suggestion) -> Option<Case> {
    let Suggestion { changes, manifests, deletes, .. } = suggestion;
    let mut other = case.clone();
    for object in deletes {
        other.objects.retain(|known| !is_named(known, &object.kind, &object.namespace, &object.name));
    }
    for manifest in manifests {
        put(&mut other, manifest);
    }
    for change in changes {
        match change {
            Change::EnableGate { gate } => other.settings["featureGates"][gate.as_str()] = json!(true),
            Change::Uncordon { node } => {
                let node = other.objects.iter_mut().find(|object| is_named(object, "Node", "", node))?;
                node["spec"]["unschedulable"] = json!(false);
            }
            Change::FreeClaim { claim, consumers, .. } => {
                let (namespace, name) = claim.split_once('/')?;
                for consumer in consumers {
                    let (namespace, pod) = consumer.split_once('/')?;
                    if !other.objects.iter().any(|object| is_named(object, "Pod", namespace, pod)) {
                        // A workload makes its Pod anew, which may take the devices again.
                        return None;
                    }
                    delete_pod(&mut other, namespace, pod);
                }
                if let Some(object) =
                    other.objects.iter_mut().find(|object| is_named(object, "ResourceClaim", namespace, name))
                {
                    object.as_object_mut()?.remove("status");
                }
            }
            Change::AddDevices { count, like, node, .. } => {
                let holds = |object: &&Value| {
                    let spec = &object["spec"];
                    let devices = spec["devices"].as_array();
                    spec["driver"] == like.driver.as_str()
                        && spec["pool"]["name"] == like.pool.as_str()
                        && devices
                            .is_some_and(|devices| devices.iter().any(|device| device["name"] == like.device.as_str()))
                };
                let slice = other.objects.iter().find(holds)?;
                let devices = slice["spec"]["devices"].as_array()?;
                let model = devices.iter().find(|device| device["name"] == like.device.as_str())?.clone();
                let made: Vec<Value> = (0..*count)
                    .map(|number| {
                        let mut device = model.clone();
                        device["name"] = json!(format!("new-{number}"));
                        for field in ["taints", "consumesCounters", "nodeName", "nodeSelector", "allNodes"] {
                            device.as_object_mut().unwrap().remove(field);
                        }
                        device
                    })
                    .collect();
                other.objects.push(json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                    "metadata": { "name": "zz-new" }, "spec": { "driver": like.driver, "nodeName": node, "devices": made,
                    "pool": { "name": "zz-new", "generation": 1, "resourceSliceCount": 1 } } }));
            }
            Change::UseNodes { .. } => return None,
            _ if manifests.is_empty() => return None,
            _ => {}
        }
    }
    Some(other)
}

/// Whether a Pod has devices that are being prepared for it.
fn waits(pod: &PodReport) -> bool {
    pod.reasons.first().is_some_and(|one| one.code == Code::RunBindingConditions)
}

/// How many Pods like the subject are Pending: itself, or those of its workload, whose names change with the template. Devices that are
/// being prepared are a place, unless the suggestion is about waiting for them.
fn pending(report: &Report, subject: &Explanation, owner: Option<&ObjectRef>, is_waiting_a_place: bool) -> usize {
    let is_meant = |pod: &&PodReport| match owner {
        Some(owner) => pod.owner.as_ref() == Some(owner),
        None => pod.namespace == subject.subject.namespace && pod.name == subject.subject.name,
    };
    let is_stuck = |pod: &&PodReport| match pod.node {
        // A Pod that was put on its node waits there for its claims.
        Some(_) => owner.is_none() && !pod.reasons.is_empty(),
        None => !(is_waiting_a_place && waits(pod)),
    };
    report.pods.iter().filter(is_meant).filter(is_stuck).count()
}

fn kinds(changes: &[Change]) -> String {
    let kind = |change: &Change| serde_json::to_value(change).unwrap()["kind"].as_str().unwrap().to_owned();
    changes.iter().map(kind).collect::<Vec<_>>().join(" and ")
}

/// Who loses a place by a suggestion that does not name them: a Pod of the input, or a workload of which more Pods are Pending.
fn unnamed(
    before: &Report,
    after: &Report,
    other: &Case,
    subject: &Explanation,
    owner: Option<&ObjectRef>,
    suggestion: &Suggestion,
) -> Option<String> {
    // Of many a few are named.
    let text = &suggestion.text;
    if text.contains(" more then have ") || text.contains("tried without the other Pods") {
        return None;
    }
    let has_place = |pod: &PodReport| pod.node.is_some() || waits(pod);
    let freed = |name: &String| {
        suggestion.changes.iter().any(|change| match change {
            Change::FreeClaim { consumers, .. } => consumers.contains(name),
            _ => false,
        })
    };
    let mut lost: BTreeMap<String, i64> = BTreeMap::new();
    for pod in &before.pods {
        let name = format!("{}/{}", pod.namespace, pod.name);
        let then = after.pods.iter().find(|then| (&then.namespace, &then.name) == (&pod.namespace, &pod.name));
        match &pod.owner {
            Some(own) if Some(own) != owner => {
                let pending = i64::from(!has_place(pod)) + i64::from(freed(&name));
                *lost.entry(format!("{} {}/{}", own.kind, own.namespace, own.name)).or_default() -= pending;
            }
            Some(_) => {}
            None => {
                let is_kept = other.objects.iter().any(|object| is_named(object, "Pod", &pod.namespace, &pod.name));
                let is_subject = (&pod.namespace, &pod.name) == (&subject.subject.namespace, &subject.subject.name);
                let is_lost = has_place(pod) && is_kept && then.is_some_and(|then| !has_place(then));
                if is_lost && !is_subject && !freed(&name) {
                    lost.insert(name, 1);
                }
            }
        }
    }
    for pod in &after.pods {
        if let Some(own) = pod.owner.as_ref().filter(|own| Some(*own) != owner)
            && !has_place(pod)
        {
            *lost.entry(format!("{} {}/{}", own.kind, own.namespace, own.name)).or_default() += 1;
        }
    }
    lost.into_iter().find(|(name, count)| *count > 0 && !text.contains(&format!("`{name}`"))).map(|(name, _)| name)
}

/// Every suggestion helps its subject once it is carried out, and names whom it hurts.
pub(super) fn help(case: &Case) -> Result<(), Contradiction> {
    let (engine, _) = ask::engine(case);
    let all = ask::explain(&engine, None, true).map_err(|text| format!("explain is not answered | {text}"))?;
    let (_, report) = ask::run(case);
    let refused = ask::refused(case);
    let was_refused = |object: &Value| {
        let (kind, namespace, name) =
            (object["kind"].as_str(), ask::meta(object, "namespace"), ask::meta(object, "name"));
        let is_it = |known: &Value| is_named(known, kind.unwrap_or_default(), namespace, name);
        refused.iter().any(|(index, _)| is_it(&case.objects[*index]))
    };
    for explanation in &all {
        let subject = &explanation.subject;
        let found = report.pods.iter().find(|pod| pod.namespace == subject.namespace && pod.name == subject.name);
        let owner = found.and_then(|pod| pod.owner.clone());
        for suggestion in explanation.suggestions.iter().take(MOST) {
            let Some(other) = carried_out(case, suggestion) else { continue };
            let what = format!("a suggestion to {} does not help a {}", kinds(&suggestion.changes), subject.kind);
            let particulars = format!("{subject}: {}", suggestion.text);
            // What a gate admits is another object's, and may be wrong in other ways.
            let is_own = |object: &Value| {
                suggestion.manifests.contains(object)
                    || is_named(object, &subject.kind, &subject.namespace, &subject.name)
            };
            let new = ask::refused(&other)
                .into_iter()
                .find(|(index, _)| is_own(&other.objects[*index]) && !was_refused(&other.objects[*index]));
            if let Some((_, why)) = new {
                return Err(format!(
                    "a suggestion to {} is refused | {particulars}: {why}",
                    kinds(&suggestion.changes)
                ));
            }
            let (_, then) = ask::run(&other);
            if subject.kind == "Pod" {
                let is_place = !found.is_some_and(waits);
                let count = |report: &Report| pending(report, explanation, owner.as_ref(), is_place);
                let (before, after) = (count(&report), count(&then));
                if after >= before {
                    let is_it = |pod: &&PodReport| pod.namespace == subject.namespace && pod.name == subject.name;
                    let why =
                        then.pods.iter().find(is_it).and_then(|pod| pod.reasons.first()).map(|reason| &reason.message);
                    return Err(format!("{what} | {particulars}: still {why:?}"));
                }
                if let Some(hurt) = unnamed(&report, &then, &other, explanation, owner.as_ref(), suggestion) {
                    let kinds = kinds(&suggestion.changes);
                    return Err(format!("a suggestion to {kinds} hurts somebody unnamed | {particulars}: {hurt}"));
                }
                continue;
            }
            let (engine, _) = ask::engine(&other);
            let now = ask::explain(&engine, Some(subject), false)
                .map_err(|text| format!("{what} | {particulars}: {text}"))?;
            if !matches!(now[0].state, State::Fits | State::Placed) {
                return Err(format!("{what} | {particulars}: still {:?}", now[0].headline));
            }
        }
    }
    Ok(())
}

/// How many suggestions of a cluster can be carried out.
pub(crate) fn count(case: &Case) -> usize {
    let (engine, _) = ask::engine(case);
    let all = ask::explain(&engine, None, true).unwrap_or_default();
    all.iter().flat_map(|one| &one.suggestions).filter(|one| carried_out(case, one).is_some()).count()
}
