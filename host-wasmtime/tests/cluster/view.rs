//! What matters of claims and of whatever uses them, in a form in which two control planes can be compared.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::placing::GROUPS;

/// Gives all objects of a kind, by its API version and name.
pub(crate) type Lists<'l> = dyn Fn(&str, &str) -> Vec<Value> + 'l;

/// The version of questions about pools.
pub(crate) const QUESTIONS: &str = "resource.k8s.io/v1alpha3";

/// Names of objects that are drawn at random or made of a hash, each with what it is called instead.
type Names = BTreeMap<String, String>;

fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn is_deleting(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

fn called(names: &Names, name: &str) -> String {
    names.get(name).map_or(name, String::as_str).to_owned()
}

fn names(list: &Value, names: &Names) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    let mut all: Vec<String> = items.map(|one| called(names, text(one, "/name"))).collect();
    all.sort();
    all
}

/// Pods of Jobs by the start of their names, groups of Jobs by the template in their Workload.
fn drawn(pods: &[Value], groups: &[Value]) -> Names {
    let of_jobs = |one: &&Value| text(one, "/metadata/ownerReferences/0/kind") == "Job";
    let name = |one: &Value, pointer: &str| (text(one, "/metadata/name").to_owned(), text(one, pointer).to_owned());
    let pods = pods.iter().filter(of_jobs).map(|one| name(one, "/metadata/generateName"));
    let template = "/spec/podGroupTemplateRef/workload/podGroupTemplateName";
    pods.chain(groups.iter().filter(of_jobs).map(|one| name(one, template))).collect()
}

/// Entries of a Pod or group, each with the claim that is recorded for it, by its owner where its name was drawn.
fn entries(object: &Value, claims: &[Value], drawn: &Names) -> Vec<Value> {
    let claim_of = |name: &str| {
        let Some(claim) = claims.iter().find(|one| text(one, "/metadata/name") == name) else {
            return "is gone".to_owned();
        };
        let entry = text(claim, "/metadata/annotations/resource.kubernetes.io~1pod-claim-name");
        match claim["metadata"]["ownerReferences"].is_array() {
            true => format!("{entry} of {}", names(&claim["metadata"]["ownerReferences"], drawn).join(", ")),
            false => name.to_owned(),
        }
    };
    let items = object["status"]["resourceClaimStatuses"].as_array().into_iter().flatten();
    let entry = |one: &Value| json!({ "name": one["name"], "claim": one["resourceClaimName"].as_str().map(claim_of) });
    sorted(items.map(entry).collect())
}

fn sorted(mut rows: Vec<Value>) -> Vec<Value> {
    rows.sort_by_key(Value::to_string);
    rows
}

fn claim(one: &Value, drawn: &Names) -> Value {
    let metadata = &one["metadata"];
    let is_generated = metadata["ownerReferences"].is_array();
    json!({
        "name": if is_generated { Value::Null } else { metadata["name"].clone() },
        "entry": metadata["annotations"]["resource.kubernetes.io/pod-claim-name"],
        "owners": names(&metadata["ownerReferences"], drawn), "labels": metadata["labels"],
        "finalizers": metadata["finalizers"], "deleting": is_deleting(one),
        "allocated": one["status"]["allocation"].is_object(), "reserved": names(&one["status"]["reservedFor"], drawn),
    })
}

fn pod(one: &Value, claims: &[Value], drawn: &Names) -> Value {
    let conditions = one["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let disrupted = conditions.iter().find(|condition| condition["type"] == "DisruptionTarget");
    json!({
        "name": called(drawn, text(one, "/metadata/name")), "phase": one["status"]["phase"],
        "placed": one["spec"]["nodeName"].is_string(), "entries": entries(one, claims, drawn),
        "deleting": is_deleting(one), "disrupted": disrupted.map(|condition| condition["reason"].clone()),
    })
}

fn group(one: &Value, claims: &[Value], drawn: &Names) -> Value {
    json!({
        "name": called(drawn, text(one, "/metadata/name")), "finalizers": one["metadata"]["finalizers"],
        "deleting": is_deleting(one), "entries": entries(one, claims, drawn),
    })
}

fn conditions(one: &Value) -> Vec<Value> {
    let conditions = one["status"]["conditions"].as_array().into_iter().flatten();
    let said = |one: &Value| json!({ "type": one["type"], "status": one["status"], "reason": one["reason"] });
    conditions.map(said).collect()
}

fn rule(one: &Value) -> Value {
    json!({ "name": one["metadata"]["name"], "conditions": conditions(one) })
}

fn question(one: &Value) -> Value {
    json!({ "name": one["metadata"]["name"], "conditions": conditions(one), "pools": one["status"]["pools"] })
}

/// All that matters of the objects in question; names that are drawn at random, times and versions do not.
pub(crate) fn view(list: &Lists<'_>) -> Value {
    let (pods, groups) = (list("v1", "Pod"), list(GROUPS, "PodGroup"));
    let claims = list("resource.k8s.io/v1", "ResourceClaim");
    let rules = list("resource.k8s.io/v1beta2", "DeviceTaintRule");
    let drawn = drawn(&pods, &groups);
    json!({
        "claims": sorted(claims.iter().map(|one| claim(one, &drawn)).collect()),
        "pods": sorted(pods.iter().map(|one| pod(one, &claims, &drawn)).collect()),
        "groups": sorted(groups.iter().map(|one| group(one, &claims, &drawn)).collect()),
        "rules": sorted(rules.iter().map(rule).collect()),
        "questions": sorted(list(QUESTIONS, "ResourcePoolStatusRequest").iter().map(question).collect()),
    })
}

/// The same view with other rows: each takes the place of what it says otherwise about its object, or is added.
pub(crate) fn with_rows(view: &Value, rows: &Value) -> Value {
    let key = |row: &Value| [row["name"].clone(), row["owners"].clone(), row["entry"].clone()];
    let mut made = view.clone();
    for (list, rows) in rows.as_object().unwrap() {
        let mut all = made[list].as_array().cloned().unwrap();
        for row in rows.as_array().unwrap() {
            match all.iter_mut().find(|known| key(known) == key(row)) {
                Some(known) => known.as_object_mut().unwrap().extend(row.as_object().unwrap().clone()),
                None => all.push(row.clone()),
            }
        }
        made[list] = json!(sorted(all));
    }
    made
}
