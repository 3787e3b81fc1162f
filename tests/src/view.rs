//! What matters of claims and of what uses them, as one line per object: in this form two control planes are compared.

use std::collections::BTreeMap;

use serde_json::Value;

/// The kinds that a state shows.
pub const KINDS: [&str; 4] = ["DeviceTaintRule", "Pod", "PodGroup", "ResourceClaim"];

/// Objects by kind.
pub type Objects = BTreeMap<&'static str, Vec<Value>>;

/// The state of a history of this name, a line per object, in order. Names that are drawn at random, times, versions, UIDs and messages
/// are left out, and of other names the prefix that all of a history have.
pub fn state(objects: &Objects, history: &str) -> Vec<String> {
    let prefix = format!("{history}-");
    let mut rows = Vec::new();
    for (kind, row) in [
        ("DeviceTaintRule", rule as fn(&Value, &Objects) -> String),
        ("Pod", pod),
        ("PodGroup", group),
        ("ResourceClaim", claim),
    ] {
        rows.extend(of(objects, kind).iter().map(|object| row(object, objects).replace(&prefix, "")));
    }
    rows.sort();
    rows
}

fn of<'o>(objects: &'o Objects, kind: &str) -> &'o [Value] {
    objects.get(kind).map_or(&[], Vec::as_slice)
}

fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn items<'v>(object: &'v Value, pointer: &str) -> &'v [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

/// `kind name: parts`, without those that are empty.
fn line(kind: &str, name: &str, parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{kind} {name}: {}", parts.join(", "))
}

fn sorted(mut words: Vec<String>) -> String {
    words.sort();
    words.join(" ")
}

/// A word and what it introduces; nothing without that.
fn labelled(word: &str, content: &str) -> String {
    if content.is_empty() { String::new() } else { format!("{word} {content}") }
}

fn deleting(object: &Value) -> String {
    let is_deleting = object.pointer("/metadata/deletionTimestamp").is_some_and(Value::is_string);
    if is_deleting { "deleting".to_owned() } else { String::new() }
}

/// Finalizers, without what stands before the slash.
fn held(object: &Value) -> String {
    let finalizers = items(object, "/metadata/finalizers").iter().filter_map(Value::as_str);
    labelled("held by", &sorted(finalizers.map(|one| one.rsplit('/').next().unwrap_or(one).to_owned()).collect()))
}

fn conditions(object: &Value) -> String {
    let conditions = items(object, "/status/conditions").iter();
    sorted(conditions.map(|one| format!("{}={}", text(one, "/type"), text(one, "/reason"))).collect())
}

/// What a claim is called: by its entry and owner where its name was drawn.
fn called(claim: &Value) -> String {
    let owners = items(claim, "/metadata/ownerReferences");
    if owners.is_empty() {
        return name(claim).to_owned();
    }
    let annotation = |name: &str| text(claim, &format!("/metadata/annotations/resource.kubernetes.io~1{name}"));
    let entry = match annotation("pod-claim-name") {
        "" if annotation("extended-resource-claim") == "true" => "extended resources",
        entry => entry,
    };
    let owners = owners.iter().map(|owner| text(owner, "/name").to_owned()).collect();
    format!("({entry} of {})", sorted(owners))
}

/// What the claim of a recorded name is called.
fn recorded(claim: &str, objects: &Objects) -> String {
    if claim.is_empty() {
        return "none".to_owned();
    }
    let found = of(objects, "ResourceClaim").iter().find(|one| name(one) == claim);
    found.map_or_else(|| "gone".to_owned(), called)
}

/// Entries of a Pod or group, each with the claim that is recorded for it.
fn entries(object: &Value, objects: &Objects) -> String {
    let entries = items(object, "/status/resourceClaimStatuses").iter();
    let entry = |one: &Value| format!("{}={}", text(one, "/name"), recorded(text(one, "/resourceClaimName"), objects));
    sorted(entries.map(entry).collect())
}

fn pod(pod: &Value, objects: &Objects) -> String {
    let reason = |kind: &str| {
        let found = items(pod, "/status/conditions").iter().find(|one| text(one, "/type") == kind);
        found.map(|one| text(one, "/reason")).unwrap_or_default()
    };
    let node = text(pod, "/spec/nodeName");
    // kube-scheduler 1.37 may write that an attempt failed after the next one has given the Pod its node.
    let scheduled = if node.is_empty() { reason("PodScheduled") } else { "" };
    let extended = match text(pod, "/status/extendedResourceClaimStatus/resourceClaimName") {
        "" => String::new(),
        claim => format!("extended={}", recorded(claim, objects)),
    };
    line(
        "Pod",
        name(pod),
        [
            text(pod, "/status/phase").to_owned(),
            labelled("on", node),
            scheduled.to_owned(),
            labelled("disrupted", reason("DisruptionTarget")),
            entries(pod, objects),
            extended,
            deleting(pod),
        ],
    )
}

fn group(group: &Value, objects: &Objects) -> String {
    line("PodGroup", name(group), [entries(group, objects), conditions(group), held(group), deleting(group)])
}

fn rule(rule: &Value, _: &Objects) -> String {
    line("DeviceTaintRule", name(rule), [conditions(rule), deleting(rule)])
}

/// A device of an allocation: request, pool and device; with the capacity of a share, whose id is drawn.
fn device(result: &Value) -> String {
    let mut device = format!("{}={}/{}", text(result, "/request"), text(result, "/pool"), text(result, "/device"));
    if result.get("shareID").is_some() {
        device.push_str(" share");
    }
    let consumed = result.get("consumedCapacity").and_then(Value::as_object).into_iter().flatten();
    for (capacity, amount) in consumed {
        device.push_str(&format!(" {capacity}:{}", amount.as_str().unwrap_or_default()));
    }
    device
}

/// A consumer; one whose UID no object of that name has any more is marked.
fn consumer(reserved: &Value, objects: &Objects) -> String {
    let (kind, name_of) = match text(reserved, "/resource") {
        "pods" => ("Pod", text(reserved, "/name").to_owned()),
        other => ("PodGroup", format!("{} {}", other.trim_end_matches('s'), text(reserved, "/name"))),
    };
    let uid = text(reserved, "/uid");
    let is_there = of(objects, kind).iter().any(|one| text(one, "/metadata/uid") == uid);
    if is_there { name_of } else { format!("{name_of} (gone)") }
}

fn claim(claim: &Value, objects: &Objects) -> String {
    let results = items(claim, "/status/allocation/devices/results").iter().map(device).collect();
    let reserved = items(claim, "/status/reservedFor").iter().map(|one| consumer(one, objects)).collect();
    let allocated = claim.pointer("/status/allocation").is_some_and(Value::is_object);
    line(
        "ResourceClaim",
        &called(claim),
        [
            if allocated { "allocated".to_owned() } else { String::new() },
            sorted(results),
            labelled("for", &sorted(reserved)),
            held(claim),
            deleting(claim),
        ],
    )
}
