//! What the API server refuses is named and left out, and whoever needs it says so.

use std::collections::BTreeMap;

use apportion_core::check::inspect;
use apportion_core::finding::{Code, Finding};
use serde_json::Value;

use crate::Contradiction;
use crate::ask;
use crate::generate::Case;
use crate::same::{Depth, same};

fn name_of(object: &Value) -> String {
    format!(
        "{} {}/{}",
        object["kind"].as_str().unwrap_or_default(),
        ask::meta(object, "namespace"),
        ask::meta(object, "name")
    )
}

fn kind_of(object: &Value) -> &str {
    object["kind"].as_str().unwrap_or_default()
}

/// Whether a finding about the whole input says that an object is left out: what stands in the way is in another object.
fn is_refusal_of(finding: &Finding, object: &Value) -> bool {
    let namespace = match ask::meta(object, "namespace") {
        "" => "default",
        name => name,
    };
    finding.code == Code::RunAdminNamespace
        && finding.object == Some(ask::reference(kind_of(object), namespace, ask::meta(object, "name")))
}

/// Every command that takes objects in names those that `validate` refuses, and no others.
pub(super) fn named(case: &Case) -> Result<(), Contradiction> {
    let refused = ask::refused(case);
    let (mut engine, of_engine) = ask::engine(case);
    let (simulation, of_simulation) = ask::simulation(case, None);
    let later = engine.run().findings;
    for (command, findings, later) in [("run", of_engine, later), ("run --until", of_simulation, simulation.findings())]
    {
        for (index, object) in case.objects.iter().enumerate() {
            let own = findings[index].iter().chain(later.iter().filter(|one| is_refusal_of(one, object)));
            let errors: Vec<_> = own.filter(|one| ask::is_error(one)).cloned().collect();
            let why = refused.iter().find(|(of, _)| *of == index).map(|(_, why)| why);
            match why {
                Some(why) if errors.is_empty() => {
                    return Err(format!(
                        "{command} does not name a refused {} | {}: {why}",
                        kind_of(object),
                        name_of(object)
                    ));
                }
                None if !errors.is_empty() => {
                    let why = ask::said(&errors);
                    return Err(format!(
                        "{command} refuses a {} that validate takes | {}: {why}",
                        kind_of(object),
                        name_of(object)
                    ));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Most refused objects and dropped fields of one cluster that are looked at.
const MOST: usize = 4;

/// The same words about another thing.
fn about(what: &str, of: &impl std::fmt::Debug, text: &str) -> Contradiction {
    let (kind, more) = text.split_once(" | ").unwrap_or((text, ""));
    format!("{what}: {kind} | {of:?}: {more}")
}

/// What is refused has no effect: the answers are those without it.
pub(super) fn left_out(case: &Case) -> Result<(), Contradiction> {
    let refused = ask::refused(case);
    if refused.is_empty() {
        return Ok(());
    }
    // The time at which a simulation starts is that of what was taken in.
    let now = Some(apportion_core::control_plane::Simulation::start_of(&case.objects));
    let (report, later) = (ask::run(case).1, ask::until(case, now).1);
    for (index, why) in refused.iter().take(MOST) {
        let object = &case.objects[*index];
        let (kind, of) = (kind_of(object), (name_of(object), why));
        let mut other = case.clone();
        other.objects.remove(*index);
        same(&report, &ask::run(&other).1, Depth::Facts)
            .map_err(|text| about(&format!("run with a refused {kind}"), &of, &text))?;
        same(&later, &ask::until(&other, now).1, Depth::Facts)
            .map_err(|text| about(&format!("run --until with a refused {kind}"), &of, &text))?;
    }
    Ok(())
}

/// Names of the things that a Pod needs in the cluster: those that it names itself, and through claims and templates their classes.
fn needs(case: &Case, pod: &Value, object: &Value) -> bool {
    let namespace = |object: &Value| match ask::meta(object, "namespace") {
        "" => "default".to_owned(),
        name => name.to_owned(),
    };
    let name = ask::meta(object, "name");
    let is_near = namespace(pod) == namespace(object);
    let entries = pod["spec"]["resourceClaims"].as_array().cloned().unwrap_or_default();
    let by = |field: &str| entries.iter().any(|entry| entry[field] == name);
    match kind_of(object) {
        "ResourceClaim" => is_near && by("resourceClaimName"),
        "ResourceClaimTemplate" => is_near && by("resourceClaimTemplateName"),
        "PodGroup" => is_near && pod["spec"]["schedulingGroup"]["podGroupName"] == name,
        "DeviceClass" => case.objects.iter().any(|other| {
            let is_claim = ["ResourceClaim", "ResourceClaimTemplate"].contains(&kind_of(other));
            is_claim
                && other.get("status").is_none()
                && other["spec"].to_string().contains(&format!("\"deviceClassName\":\"{name}\""))
                && {
                    // Alternatives need all their classes.
                    needs(case, pod, other)
                }
        }),
        _ => false,
    }
}

/// A Pod that needs what was refused says so.
pub(super) fn told(case: &Case) -> Result<(), Contradiction> {
    let refused = ask::refused(case);
    if refused.is_empty() {
        return Ok(());
    }
    let (_, report) = ask::run(case);
    let validated = ask::validated(case);
    for (position, pod) in case.objects.iter().enumerate().filter(|(_, object)| kind_of(object) == "Pod") {
        let spec = pod["spec"].to_string();
        // What stands in the way before, or beside.
        let elsewhere = [
            "schedulingGates",
            "schedulerName",
            "nowhere",
            "nobody",
            "\"missing\"",
            "nodeName",
            "podGroupResourceClaim",
        ];
        if refused.iter().any(|(index, _)| *index == position) || elsewhere.iter().any(|text| spec.contains(text)) {
            continue;
        }
        let (namespace, name) = (ask::meta(pod, "namespace"), ask::meta(pod, "name"));
        let Some((index, why)) = refused.iter().find(|(index, _)| needs(case, pod, &case.objects[*index])) else {
            continue;
        };
        // An object of the same name that is taken stands for it.
        let object = &case.objects[*index];
        let is_same = |other: &&Value| name_of(other) == name_of(object);
        let is_copied = kind_of(object) == "ResourceClaimTemplate"
            && case.objects.iter().any(|other| {
                kind_of(other) == "ClusterResourceClaimTemplate"
                    && other["spec"]["templateName"] == object["metadata"]["name"]
            });
        if is_copied || case.objects.iter().filter(is_same).count() > 1 {
            continue;
        }
        let is_refused =
            |one: &Finding| one.code == Code::RunRefused && one.object == Some(ask::reference("Pod", namespace, name));
        if report.findings.iter().any(is_refused) {
            continue;
        }
        let Some(found) = report.pods.iter().find(|one| one.namespace == namespace && one.name == name) else {
            return Err(format!("a Pod that needs what was refused is not there | {namespace}/{name}"));
        };
        let kind = kind_of(object);
        let is_dropped = |one: &Finding| one.code == Code::ValidateDroppedField && one.path == "spec.schedulingGroup";
        if kind == "PodGroup" && validated[position].iter().any(is_dropped) {
            continue;
        }
        if found.node.is_some() {
            return Err(format!(
                "a Pod that needs a refused {kind} has a node | {namespace}/{name}: {} ({why})",
                name_of(object)
            ));
        }
        // What the devices are of is looked at when the Pod is tried.
        let before = [
            Code::RunGroupMissing,
            Code::RunGroupShort,
            Code::RunGroupClaim,
            Code::RunNotGiven,
            Code::RunMissingClaim,
            Code::RunMissingTemplate,
            Code::RunAdminNamespace,
        ];
        let is_held = found.reasons.first().is_some_and(|reason| before.contains(&reason.code));
        if kind == "DeviceClass" && is_held {
            continue;
        }
        if !found.reasons.iter().any(|reason| reason.message.contains("refused")) {
            let first = found.reasons.first().map(|reason| &reason.message);
            return Err(format!(
                "a Pod that needs a refused {kind} does not say so | {namespace}/{name}: {first:?}, {} ({why})",
                name_of(object)
            ));
        }
    }
    Ok(())
}

/// `check` names what was refused.
pub(super) fn checked(case: &Case) -> Result<(), Contradiction> {
    let refused = ask::refused(case);
    if refused.is_empty() {
        return Ok(());
    }
    let (profile, _) = ask::settings(case);
    let findings = inspect(case.objects.clone(), &profile, None);
    for (index, why) in &refused {
        let object = &case.objects[*index];
        let (kind, name) = (kind_of(object), ask::meta(object, "name"));
        let is_named = findings
            .iter()
            .filter(|one| ask::is_error(one))
            .any(|one| one.object.as_ref().is_some_and(|of| of.kind.starts_with(kind) && of.name == name));
        if !is_named {
            return Err(format!("check does not name a refused {kind} | {}: {why}", name_of(object)));
        }
    }
    Ok(())
}

/// The steps of a field path: names, keys and positions.
fn steps(path: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    let mut is_inside = false;
    for letter in path.chars() {
        match letter {
            '[' => {
                is_inside = true;
                steps.push(String::new());
            }
            ']' => is_inside = false,
            '.' if !is_inside => steps.push(String::new()),
            _ => steps.last_mut().unwrap().push(letter),
        }
    }
    steps
}

/// Takes away what stands at a field path.
fn remove(object: &mut Value, path: &str) -> bool {
    let steps = steps(path);
    let (last, first) = steps.split_last().unwrap();
    let mut inner = object;
    for step in first {
        let next = match inner {
            Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            other => other.get_mut(step),
        };
        let Some(next) = next else { return false };
        inner = next;
    }
    inner.as_object_mut().is_some_and(|map| map.remove(last).is_some())
}

/// A field that the API server drops has no effect, wherever it stands.
pub(super) fn dropped(case: &Case) -> Result<(), Contradiction> {
    let mut paths: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for (index, findings) in ask::validated(case).into_iter().enumerate() {
        if findings.iter().any(ask::is_error) {
            continue;
        }
        for finding in
            findings.iter().filter(|one| one.code == Code::ValidateDroppedField && !one.path.starts_with("status"))
        {
            let field = finding.path.rsplit('.').next().unwrap_or_default().to_owned();
            paths.entry(field).or_default().push((index, finding.path.clone()));
        }
    }
    if paths.is_empty() {
        return Ok(());
    }
    let (report, later) = (ask::run(case).1, ask::until(case, None).1);
    for (field, places) in paths.iter().take(MOST) {
        let mut other = case.clone();
        for (index, path) in places {
            remove(&mut other.objects[*index], path);
        }
        let of: Vec<String> =
            places.iter().map(|(index, path)| format!("{} {path}", name_of(&case.objects[*index]))).collect();
        same(&report, &ask::run(&other).1, Depth::All)
            .map_err(|text| about(&format!("run: the dropped field `{field}`"), &of, &text))?;
        same(&later, &ask::until(&other, None).1, Depth::All)
            .map_err(|text| about(&format!("run --until: the dropped field `{field}`"), &of, &text))?;
    }
    Ok(())
}
