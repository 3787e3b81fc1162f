//! What changes nothing.

use crate::ask::Report;
use apportion_core::ask::{Difference, Place, PodDifference};
use apportion_core::finding::Code;
use serde_json::{Value, json};

use super::agreement::{replayed, says};
use crate::Contradiction;
use crate::ask;
use crate::generate::Case;
use crate::generate::dice::Dice;
use crate::same::{Depth, same};

/// `what-if` without a change, and `diff` with the same objects, say that nothing changes.
pub(super) fn what_if(case: &Case) -> Result<(), Contradiction> {
    let (engine, _) = ask::engine(case);
    for (name, inquiry) in
        [("what-if", json!({ "kind": "whatIf" })), ("diff", json!({ "kind": "compare", "objects": case.objects }))]
    {
        let answer = match engine.inquire(inquiry) {
            Ok(answer) => answer,
            Err(findings) => return Err(format!("{name} of nothing is not answered | {}", ask::said(&findings))),
        };
        let mut difference: Difference = serde_json::from_value(answer).unwrap();
        // The objects that are refused are named again.
        let refused = ask::refused(case);
        difference.findings.retain(|finding| {
            let is_it = |index: usize| {
                ask::meta(&case.objects[index], "name") == finding.object.as_ref().map_or("", |of| &of.name)
            };
            !refused.iter().any(|(index, _)| is_it(*index))
        });
        let Difference { placing, before, .. } = difference;
        if difference != (Difference { placing, before, after: before, ..Difference::default() }) {
            return Err(format!("{name} of nothing | {difference:?}"));
        }
    }
    Ok(())
}

/// Pods of the input that run, unless they are on their way out.
fn who_runs(case: &Case) -> Vec<(String, String, String)> {
    let is_running = |object: &&Value| {
        object["kind"] == "Pod"
            && object["status"]["phase"] == "Running"
            && object["metadata"].get("deletionTimestamp").is_none()
    };
    let refused: Vec<usize> = ask::refused(case).into_iter().map(|(index, _)| index).collect();
    let all = case.objects.iter().enumerate().filter(|(index, object)| is_running(object) && !refused.contains(index));
    all.map(|(_, pod)| {
        let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        (ask::meta(pod, "namespace").to_owned(), ask::meta(pod, "name").to_owned(), node.to_owned())
    })
    .collect()
}

/// Whether Pods may have to go because of a taint.
fn may_be_evicted(case: &Case) -> bool {
    says(case, "NoExecute")
}

/// Whether a Pod had to go for one of higher priority.
fn is_preempted(report: &Report, namespace: &str, name: &str) -> bool {
    report.findings.iter().any(|finding| {
        let object = finding.object.as_ref().filter(|_| finding.code == Code::RunPreempted);
        object.is_some_and(|object| object.namespace == namespace && object.name == name)
    })
}

fn stays(what: &str, pod: &(String, String, String), report: &Report, case: &Case) -> Result<(), Contradiction> {
    let (namespace, name, node) = pod;
    let found = report.pods.iter().find(|pod| pod.namespace == *namespace && pod.name == *name);
    match found {
        None if may_be_evicted(case) || is_preempted(report, namespace, name) => Ok(()),
        None => Err(format!("{what}: a running Pod is gone | {namespace}/{name}")),
        Some(found) if found.node.as_ref() == Some(node) => Ok(()),
        Some(found) => Err(format!(
            "{what}: a running Pod is elsewhere | {namespace}/{name}: {node}, then {:?} {:?}",
            found.node,
            found.reasons.first()
        )),
    }
}

/// A Pod that runs stays where it is, whatever is asked, unless a Pod of higher priority takes its place.
pub(super) fn running(case: &Case) -> Result<(), Contradiction> {
    let pods = who_runs(case);
    if pods.is_empty() {
        return Ok(());
    }
    let (_, report) = ask::run(case);
    let (_, later) = ask::until(case, None);
    for pod in &pods {
        stays("run", pod, &report, case)?;
        stays("run --until", pod, &later, case)?;
    }
    let (engine, _) = ask::engine(case);
    let node = &pods[0].2;
    if let Ok(answer) = engine.inquire(json!({ "kind": "whatIf", "cordon": [node] })) {
        let difference: Difference = serde_json::from_value(answer).unwrap();
        for (namespace, name, _) in &pods {
            // With a node less another Pod may have to go.
            let is_it = |one: &&PodDifference| {
                let goes = one.before == Place::Absent || one.after == Place::Absent;
                one.pod == format!("{namespace}/{name}") && !(goes && says(case, "\"priority"))
            };
            if let Some(moved) = difference.pods.iter().find(is_it) {
                return Err(format!("what-if --cordon: a running Pod moves | {moved:?}"));
            }
        }
    }
    Ok(())
}

/// Whether what is left does not tell what was given. A template that is adopted has the labels of a copy afterwards, and copies say
/// nothing about what a dump holds. And the reference evicts without end what tolerates a taint by an empty effect.
fn is_left_open(case: &Case) -> bool {
    (says(case, "\"Adopt\"") && says(case, "\"uid\""))
        || (case.settings["mode"] == "reference" && says(case, "NoExecute"))
}

/// How far the answers about a cluster and about what is left of it are compared. A dump that holds nothing of a kind any more that was
/// given does not know that kind, and gives that as the reason; where nothing of the dump is left, nothing says that it is one.
fn as_far_as(given: &Case, left: &Case) -> Depth {
    let names = |case: &Case| -> Vec<(Value, String)> {
        let refused: Vec<usize> = ask::refused(case).into_iter().map(|(index, _)| index).collect();
        let taken = case.objects.iter().enumerate().filter(|(index, _)| !refused.contains(index));
        taken.map(|(_, object)| (object["kind"].clone(), ask::meta(object, "name").to_owned())).collect()
    };
    if ask::is_dump(given) != ask::is_dump(left) {
        return Depth::Facts;
    }
    let (given, left) = (names(given), names(left));
    let is_kept = |kind: &Value| given.iter().any(|name| name.0 == *kind && left.contains(name));
    if given.iter().all(|(kind, _)| is_kept(kind)) { Depth::All } else { Depth::Facts }
}

/// What `run` leaves, read in as a dump, settles to the same report.
pub(super) fn settled(case: &Case) -> Result<(), Contradiction> {
    if is_left_open(case) {
        return Ok(());
    }
    let (engine, report) = ask::run(case);
    let snapshot = engine
        .inquire(json!({ "kind": "snapshot" }))
        .map_err(|findings| format!("no snapshot | {}", ask::said(&findings)))?;
    let left = replayed(&snapshot, case.seed);
    let (_, again) = ask::run(&left);
    same(&report, &again, as_far_as(case, &left))
}

const KINDS: [&str; 22] = [
    "Namespace",
    "Node",
    "DeviceClass",
    "ResourceSlice",
    "DeviceTaintRule",
    "ResourcePoolStatusRequest",
    "ResourceClaimTemplate",
    "ClusterResourceClaimTemplate",
    "ClusterResourceClaimTemplate.apportion.dev",
    "ResourceClaim",
    "Workload",
    "PodGroup",
    "PriorityClass",
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "JobSet",
    "LeaderWorkerSet",
    "Pod",
];

/// What a simulated cluster stores after half an hour, taken out as a dump, settles to the same report.
pub(super) fn simulated(case: &Case) -> Result<(), Contradiction> {
    if says(case, "bindingConditions") || says(case, "deletionTimestamp") || is_left_open(case) {
        return Ok(());
    }
    // A cluster does not hold what its API server refused.
    let mut case = case.clone();
    for (index, _) in ask::refused(&case).into_iter().rev() {
        case.objects.remove(index);
    }
    let (simulation, report) = ask::until(&case, None);
    let mut objects: Vec<Value> = KINDS.iter().flat_map(|kind| simulation.server().list(kind)).collect();
    // Pods of one second are scheduled in the order of the dump.
    let turn = |object: &Value| {
        let is_it = |pod: &ask::PodReport| {
            object["kind"] == "Pod"
                && pod.name == ask::meta(object, "name")
                && pod.namespace == ask::meta(object, "namespace")
        };
        report.pods.iter().position(is_it)
    };
    objects.sort_by_key(turn);
    let dump = Case { seed: case.seed, settings: case.settings.clone(), objects };
    let (_, again) = ask::until(&dump, Some(simulation.now()));
    same(&report, &again, as_far_as(&case, &dump))
}

/// Kinds that make Pods, and Pods: in which order they are given decides who is scheduled first.
fn makes_pods(object: &Value) -> bool {
    let kind = object["kind"].as_str().unwrap_or_default();
    ["Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "JobSet", "LeaderWorkerSet"]
        .contains(&kind)
}

/// The same objects with the kinds in another order give the same answer.
pub(super) fn order(case: &Case) -> Result<(), Contradiction> {
    let mut kinds: Vec<&str> = Vec::new();
    let group = |object: &'_ Value| {
        if makes_pods(object) { "Pod".to_owned() } else { object["kind"].as_str().unwrap_or_default().to_owned() }
    };
    let groups: Vec<String> = case.objects.iter().map(group).collect();
    for kind in &groups {
        if !kinds.contains(&kind.as_str()) {
            kinds.push(kind);
        }
    }
    Dice(case.seed).shuffle(&mut kinds);
    let rank = |group: &String| kinds.iter().position(|kind| kind == group);
    let mut ordered: Vec<_> = case.objects.iter().zip(&groups).collect();
    ordered.sort_by_key(|(_, group)| rank(group));
    let objects = ordered.into_iter().map(|(object, _)| object.clone()).collect();
    let other = Case { objects, ..case.clone() };
    let (_, report) = ask::run(case);
    let (_, again) = ask::run(&other);
    same(&report, &again, Depth::All)
}

/// The same input twice gives the same bytes.
pub(super) fn bytes(case: &Case) -> Result<(), Contradiction> {
    let answers = || -> Vec<String> {
        let (engine, findings) = ask::engine(case);
        let inquiries = [
            json!({ "kind": "explain", "suggestions": case.seed.is_multiple_of(8) }),
            json!({ "kind": "snapshot" }),
            json!({ "kind": "whatIf" }),
        ];
        let mut texts: Vec<String> = inquiries.into_iter().map(|ask| format!("{:?}", engine.inquire(ask))).collect();
        texts.push(json!(findings).to_string());
        texts.push(json!(ask::run(case).1).to_string());
        let (simulation, report) = ask::until(case, None);
        texts.push(json!([json!(report), json!(simulation.timeline())]).to_string());
        texts
    };
    let (one, other) = (answers(), answers());
    match one.iter().zip(&other).position(|(one, other)| one != other) {
        Some(index) => Err(format!("bytes of answer {index} | {} {}", one[index], other[index])),
        None => Ok(()),
    }
}
