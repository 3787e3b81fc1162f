//! What must hold of every explanation, on the corpus and on clusters made from seeds.

use std::collections::BTreeSet;

use apportion_core::api::slice::ResourceSliceSpec;
use apportion_core::engine::Engine;
use apportion_core::explain::{
    Change, DeviceDetail, Explanation, PlacementRule, Reason, ReasonKind, RequestDetail, State,
};
use apportion_core::finding::ObjectRef;
use apportion_core::wire;
use serde_json::{Value, json};

use super::cases;
use super::made::made;

/// A cluster after its Pods were placed, and one thing in it that is Pending.
pub(crate) struct Stuck {
    pub(crate) name: String,
    pub(crate) settings: Value,
    pub(crate) engine: Engine,
    pub(crate) explanation: Explanation,
}

/// Everything that lacks devices or a node, of the corpus and of made clusters.
fn stuck() -> Vec<Stuck> {
    let mut all = Vec::new();
    let mut add = |name: String, settings: Value, mut engine: Engine, ask: Value| {
        engine.run();
        let Ok(answer) = engine.inquire(ask) else { return };
        for explanation in serde_json::from_value::<Vec<Explanation>>(answer).unwrap() {
            let plain = explanation.requests.iter().all(|request| !request.claim.starts_with('<'));
            let is_stuck = explanation.state == State::NoDevices || !explanation.suggestions.is_empty();
            if is_stuck && plain && explanation.subject.kind != "PodGroup" {
                let (name, settings, engine) = (name.clone(), settings.clone(), engine.clone());
                all.push(Stuck { name, settings, engine, explanation });
            }
        }
    };
    for case in cases() {
        let mut ask = case.ask.clone();
        ask["kind"] = json!("explain");
        ask["suggestions"] = json!(true);
        let name = case.path.file_stem().unwrap().to_string_lossy().into_owned();
        add(name, case.settings.clone(), case.engine(), ask);
    }
    for seed in 0..120 {
        let (settings, objects) = made(seed);
        let (profile, limits) = wire::settings(settings.clone()).unwrap();
        let mut engine = Engine::new(profile, limits);
        let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        engine.apply(texts.iter().map(String::as_str));
        add(format!("seed {seed}"), settings, engine, json!({ "kind": "explain", "suggestions": true }));
    }
    all
}

fn apply(engine: &mut Engine, object: &Value) {
    let findings = engine.apply([object.to_string().as_str()]);
    let errors = findings.iter().flatten().filter(|one| one.severity == apportion_core::finding::Severity::Error);
    assert_eq!(errors.count(), 0, "{findings:?} {object:#}");
}

fn state_of(engine: &Engine, subject: &ObjectRef, nodes: &[String]) -> State {
    let ask = json!({ "kind": "explain", "subject": subject, "nodes": nodes });
    let answer = engine.inquire(ask).unwrap();
    serde_json::from_value::<Vec<Explanation>>(answer).unwrap()[0].state
}

fn reference(kind: &str, namespace: &str, name: &str) -> ObjectRef {
    ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}

fn claim_ref(namespace: &str, name: &str) -> ObjectRef {
    reference("ResourceClaim", namespace, name)
}

/// The same objects under another Kubernetes, in which a feature gate is on.
fn with_gate(engine: &Engine, settings: &mut Value, gate: &str) -> Engine {
    settings["featureGates"][gate] = json!(true);
    let (profile, limits) = wire::settings(settings.clone()).unwrap();
    let snapshot = engine.inquire(json!({ "kind": "snapshot" })).unwrap();
    let texts: Vec<String> = snapshot["objects"].as_array().unwrap().iter().map(Value::to_string).collect();
    let mut other = Engine::new(profile, limits);
    other.apply(texts.iter().map(String::as_str));
    other
}

/// The request of a name in a claim, or the alternative.
fn request<'v>(claim: &'v mut Value, name: &str) -> &'v mut Value {
    let (main, sub) = name.split_once('/').map_or((name, None), |(main, sub)| (main, Some(sub)));
    let requests = claim.pointer_mut("/spec/devices/requests").unwrap().as_array_mut().unwrap();
    let found = requests.iter_mut().find(|request| request["name"] == main).unwrap();
    match sub {
        None => found.get_mut("exactly").unwrap(),
        Some(sub) => {
            let subs = found["firstAvailable"].as_array_mut().unwrap();
            subs.iter_mut().find(|known| known["name"] == sub).unwrap()
        }
    }
}

fn push(value: &mut Value, field: &str, item: Value) {
    if value.get(field).is_none_or(Value::is_null) {
        value[field] = json!([]);
    }
    value[field].as_array_mut().unwrap().push(item);
}

fn toleration(taint: &str) -> Value {
    let (rest, effect) = taint.rsplit_once(':').unwrap();
    let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
    json!({ "key": key, "operator": "Equal", "value": value, "effect": effect })
}

/// Makes a preference of what a Pod requires of other Pods.
fn prefer(spec: &mut Value, rule: PlacementRule, key: &str) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let affinity = match rule {
        PlacementRule::Spread => {
            let constraints = spec["topologySpreadConstraints"].as_array_mut().unwrap();
            let constraints = constraints.iter_mut().filter(|one| one["topologyKey"] == key);
            return constraints.for_each(|one| one["whenUnsatisfiable"] = json!("ScheduleAnyway"));
        }
        PlacementRule::PodAffinity => &mut spec["affinity"]["podAffinity"],
        PlacementRule::PodAntiAffinity => &mut spec["affinity"]["podAntiAffinity"],
    };
    let (moved, kept): (Vec<Value>, Vec<Value>) =
        affinity[REQUIRED].as_array().unwrap().iter().cloned().partition(|term| term["topologyKey"] == key);
    assert!(!moved.is_empty());
    affinity[REQUIRED] = json!(kept);
    for term in moved {
        let field = "preferredDuringSchedulingIgnoredDuringExecution";
        push(affinity, field, json!({ "weight": 100, "podAffinityTerm": term }));
    }
}

/// Makes changes by hand, without the code under test, in the objects that exist.
fn change(engine: &mut Engine, settings: &Value, subject: &ObjectRef, changes: &[Change]) {
    let namespace = &subject.namespace;
    let mut settings = settings.clone();
    for one in changes {
        if let Change::EnableGate { gate } = one {
            *engine = with_gate(engine, &mut settings, gate);
            continue;
        }
        let mut edit_pod = |edit: &dyn Fn(&mut Value)| {
            let mut object = engine.get(&reference("Pod", namespace, &subject.name)).unwrap();
            edit(&mut object);
            apply(engine, &object);
        };
        match one {
            Change::TolerateNode { taint } => edit_pod(&|pod| push(&mut pod["spec"], "tolerations", toleration(taint))),
            Change::DropNodeSelector { label, value } => edit_pod(&|pod| {
                assert_eq!(pod["spec"]["nodeSelector"].as_object_mut().unwrap().remove(label), Some(json!(value)));
            }),
            Change::DropNodeAffinity {} => edit_pod(&|pod| {
                let affinity = pod["spec"]["affinity"]["nodeAffinity"].as_object_mut().unwrap();
                assert!(affinity.remove("requiredDuringSchedulingIgnoredDuringExecution").is_some());
            }),
            Change::Prefer { rule, key } => edit_pod(&|pod| prefer(&mut pod["spec"], *rule, key)),
            Change::OwnClaim { entry, claim, template } => {
                let spec = engine.get(&claim_ref(namespace, claim)).unwrap()["spec"].clone();
                let metadata = json!({ "namespace": namespace, "name": template });
                let template = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
                    "metadata": metadata, "spec": { "spec": spec } });
                let mut object = engine.get(&reference("Pod", namespace, &subject.name)).unwrap();
                let entries = object["spec"]["resourceClaims"].as_array_mut().unwrap();
                let found = entries.iter_mut().find(|known| known["name"] == entry.as_str()).unwrap();
                *found = json!({ "name": entry, "resourceClaimTemplateName": metadata["name"] });
                apply(engine, &template);
                apply(engine, &object);
            }
            Change::LowerResource { resource, to, .. } => edit_pod(&|pod| {
                pod["spec"]["containers"][0]["resources"]["requests"][resource.as_str()] = json!(to);
            }),
            Change::RaisePriority { to, class, .. } => edit_pod(&|pod| {
                assert_eq!(*class, None, "made clusters have no PriorityClasses");
                pod["spec"]["priority"] = json!(to);
            }),
            Change::Uncordon { node } => {
                let mut object = engine.get(&reference("Node", "", node)).unwrap();
                assert_eq!(object["spec"]["unschedulable"], true);
                object["spec"]["unschedulable"] = json!(false);
                apply(engine, &object);
            }
            _ => {}
        }
        if let Change::RemakeClaim { claim, template } = one {
            let template = engine.get(&reference("ResourceClaimTemplate", namespace, template)).unwrap();
            let mut object = engine.get(&claim_ref(namespace, claim)).unwrap();
            object["spec"] = template["spec"]["spec"].clone();
            apply(engine, &object);
            continue;
        }
        let mut edit = |claim: &str, edit: &dyn Fn(&mut Value)| {
            let mut object = engine.get(&claim_ref(namespace, claim)).unwrap();
            edit(&mut object);
            apply(engine, &object);
        };
        let at = |index: &u64| usize::try_from(*index).unwrap();
        match one {
            Change::ChangeSelector { claim, request: name, index, from, to } => edit(claim, &|object| {
                let expression = &mut request(object, name)["selectors"][at(index)]["cel"]["expression"];
                assert_eq!(expression, from);
                *expression = json!(to);
            }),
            Change::DropSelector { claim, request: name, index, .. } => edit(claim, &|object| {
                drop(request(object, name)["selectors"].as_array_mut().unwrap().remove(at(index)));
            }),
            Change::Tolerate { claim, request: name, taint } => {
                edit(claim, &|object| push(request(object, name), "tolerations", toleration(taint)));
            }
            Change::LowerCapacity { claim, request: name, name: capacity, to, .. } => edit(claim, &|object| {
                request(object, name)["capacity"]["requests"][capacity.as_str()] = json!(to);
            }),
            Change::OtherCapacity { claim, request: name, amount, from, to } => edit(claim, &|object| {
                let requests = request(object, name)["capacity"]["requests"].as_object_mut().unwrap();
                assert_eq!(requests.remove(from), Some(json!(amount)));
                requests.insert(to.clone(), json!(amount));
            }),
            Change::LowerCount { claim, request: name, to, .. } => {
                edit(claim, &|object| request(object, name)["count"] = json!(to));
            }
            Change::DropConstraint { claim, index, .. } => edit(claim, &|object| {
                object["spec"]["devices"]["constraints"].as_array_mut().unwrap().remove(at(index));
            }),
            Change::AddAlternative { claim, request: name, class } => edit(claim, &|object| {
                let exact = request(object, name).clone();
                let mut first = exact.clone();
                first["name"] = json!("first");
                let mut second = exact;
                second["name"] = json!("second");
                second["deviceClassName"] = json!(class);
                second["selectors"] = json!([]);
                let requests = object.pointer_mut("/spec/devices/requests").unwrap().as_array_mut().unwrap();
                let found = requests.iter_mut().find(|request| request["name"] == name.as_str()).unwrap();
                *found = json!({ "name": name, "firstAvailable": [first, second] });
            }),
            Change::FreeClaim { claim, .. } => {
                let (namespace, name) = claim.split_once('/').unwrap();
                let mut object = engine.get(&claim_ref(namespace, name)).unwrap();
                object.as_object_mut().unwrap().remove("status");
                apply(engine, &object);
            }
            Change::ChangeClass { class, index, to, .. } => {
                let object =
                    ObjectRef { kind: "DeviceClass".to_owned(), namespace: String::new(), name: class.clone() };
                let mut object = engine.get(&object).unwrap();
                object["spec"]["selectors"][at(index)]["cel"]["expression"] = json!(to);
                apply(engine, &object);
            }
            Change::AddDevices { count, like, node, .. } => {
                let is_like = |spec: &ResourceSliceSpec| {
                    spec.driver == like.driver
                        && spec.pool.name == like.pool
                        && spec.devices.iter().any(|one| one.name == like.device)
                };
                let slice = engine.cluster().slices().values().find(|slice| is_like(&slice.spec)).unwrap();
                let reference = ObjectRef {
                    kind: "ResourceSlice".to_owned(),
                    namespace: String::new(),
                    name: slice.metadata.name.clone(),
                };
                let old = engine.get(&reference).unwrap();
                let devices = old["spec"]["devices"].as_array().unwrap();
                let model = devices.iter().find(|device| device["name"] == like.device.as_str()).unwrap();
                let devices: Vec<Value> = (0..*count)
                    .map(|number| {
                        let mut device = model.clone();
                        device["name"] = json!(format!("new-{number}"));
                        for field in ["taints", "consumesCounters", "nodeName", "nodeSelector", "allNodes"] {
                            device.as_object_mut().unwrap().remove(field);
                        }
                        device
                    })
                    .collect();
                let slice = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                    "metadata": { "name": "zz-new" }, "spec": { "driver": like.driver, "nodeName": node,
                    "pool": { "name": "zz-new", "generation": 1, "resourceSliceCount": 1 }, "devices": devices } });
                apply(engine, &slice);
            }
            Change::UseNodes { .. }
            | Change::RemakeClaim { .. }
            | Change::OwnClaim { .. }
            | Change::TolerateNode { .. }
            | Change::DropNodeSelector { .. }
            | Change::DropNodeAffinity {}
            | Change::Prefer { .. }
            | Change::LowerResource { .. }
            | Change::Uncordon { .. }
            | Change::RaisePriority { .. }
            | Change::EnableGate { .. } => {}
        }
    }
}

fn helps(stuck: &Stuck, changes: &[Change]) -> bool {
    let mut engine = stuck.engine.clone();
    let subject = &stuck.explanation.subject;
    let claims: Vec<String> =
        stuck.explanation.requests.iter().map(|request| request.claim.clone()).collect::<Vec<_>>();
    // What Pods take is given back to nobody else: other Pods must not run off with it.
    change(&mut engine, &stuck.settings, subject, changes);
    let own = engine.cluster().pods().get(&(subject.namespace.clone(), subject.name.clone()));
    let group = own.and_then(|pod| pod.group_name()).map(str::to_owned);
    let pending: Vec<ObjectRef> = engine
        .cluster()
        .pods()
        .values()
        .filter(|pod| {
            let is_own = subject.kind == "Pod" && pod.metadata.name == subject.name;
            // A gang comes as a whole.
            let is_member = group.is_some() && pod.group_name() == group.as_deref();
            !is_own && !is_member && pod.spec.node_name.is_empty()
        })
        .map(|pod| ObjectRef {
            kind: "Pod".to_owned(),
            namespace: pod.metadata.namespace.clone(),
            name: pod.metadata.name.clone(),
        })
        .collect();
    if subject.kind == "Pod" || !claims.is_empty() {
        for pod in pending {
            engine.delete(&pod);
        }
    }
    for one in changes {
        if let Change::UseNodes { nodes } = one {
            return nodes.iter().all(|node| helps_on(&engine, stuck, node));
        }
    }
    matches!(state_of(&engine, subject, &[]), State::Fits | State::Placed)
}

/// Whether the claims fit on one node, whatever the Pod thinks of it.
fn helps_on(engine: &Engine, stuck: &Stuck, node: &str) -> bool {
    let mut names: Vec<&str> = stuck.explanation.requests.iter().map(|request| request.claim.as_str()).collect();
    names.dedup();
    let namespace = &stuck.explanation.subject.namespace;
    let claims: Vec<Value> = names.iter().map(|name| engine.get(&claim_ref(namespace, name)).unwrap()).collect();
    let question = wire::question(json!({ "claims": claims, "nodes": [node] })).unwrap();
    engine.clone().allocate(&question).to_json()["status"] == "allocated"
}

fn is_template(stuck: &Stuck) -> bool {
    stuck.explanation.subject.kind == "ResourceClaimTemplate"
}

#[test]
fn every_suggestion_helps_and_no_smaller_one_of_its_kind_does() {
    let mut tried = 0;
    for stuck in stuck().iter().filter(|stuck| !is_template(stuck)) {
        for suggestion in &stuck.explanation.suggestions {
            let what = format!("{}: {}", stuck.name, suggestion.text);
            assert!(helps(stuck, &suggestion.changes), "does not help: {what}");
            tried += 1;
            if suggestion.changes.len() > 1 {
                for left_out in 0..suggestion.changes.len() {
                    let mut fewer = suggestion.changes.clone();
                    fewer.remove(left_out);
                    assert!(!helps(stuck, &fewer), "change {left_out} is not needed: {what}");
                }
            }
            for smaller in suggestion.changes.iter().filter_map(smaller) {
                if suggestion.changes.len() == 1 {
                    assert!(!helps(stuck, std::slice::from_ref(&smaller)), "{smaller:?} is enough: {what}");
                }
            }
        }
    }
    assert!(tried > 120, "only {tried} suggestions");
}

#[test]
fn every_kind_of_change_is_suggested_somewhere() {
    let kind = |change: &Change| serde_json::to_value(change).unwrap()["kind"].as_str().unwrap().to_owned();
    let all = stuck();
    let suggestions = all.iter().flat_map(|stuck| &stuck.explanation.suggestions);
    let kinds: BTreeSet<String> = suggestions.flat_map(|suggestion| suggestion.changes.iter().map(kind)).collect();
    for wanted in [
        "addAlternative",
        "addDevices",
        "changeClass",
        "changeSelector",
        "dropConstraint",
        "dropNodeAffinity",
        "dropNodeSelector",
        "dropSelector",
        "enableGate",
        "freeClaim",
        "lowerCapacity",
        "lowerCount",
        "lowerResource",
        "otherCapacity",
        "prefer",
        "raisePriority",
        "tolerate",
        "tolerateNode",
        "uncordon",
        "useNodes",
    ] {
        assert!(kinds.contains(wanted), "no suggestion of kind {wanted}");
    }
}

/// The same change, one step smaller.
fn smaller(change: &Change) -> Option<Change> {
    let mut smaller = change.clone();
    match &mut smaller {
        Change::LowerCount { from, to, .. } => {
            *to += 1;
            (*to < *from).then_some(())?;
        }
        Change::AddDevices { count, .. } => {
            *count -= 1;
            (*count > 0).then_some(())?;
        }
        Change::LowerCapacity { from, to, .. } | Change::LowerResource { from, to, .. } => {
            let parse = |text: &str| apportion_core::api::quantity::Quantity::parse(text).unwrap();
            let more = parse(to).saturating_add(&parse("1"));
            (more < parse(from)).then_some(())?;
            *to = more.to_string();
        }
        Change::RaisePriority { from, to, .. } => {
            *to -= 1;
            (*to > *from).then_some(())?;
        }
        _ => return None,
    }
    Some(smaller)
}

#[test]
fn a_device_is_a_candidate_once_all_its_reasons_are_gone() {
    let mut tried = 0;
    for stuck in stuck().iter().filter(|stuck| !is_template(stuck)) {
        let nodes: Vec<&String> = stuck.engine.cluster().nodes().keys().collect();
        for node in nodes {
            let ask = json!({ "kind": "explain", "subject": stuck.explanation.subject, "nodes": [node] });
            let answer = stuck.engine.inquire(ask).unwrap();
            let answer: Vec<Explanation> = serde_json::from_value(answer).unwrap();
            for request in answer[0].details.iter().flat_map(|node| &node.requests) {
                for device in &request.devices {
                    if let Some(Err(instead)) = without_reasons(stuck, node, request, device) {
                        let reasons: Vec<&str> = device.reasons.iter().map(|reason| reason.text.as_str()).collect();
                        let id = &device.device;
                        panic!("{} on {node}: {} {id:?}\n{reasons:#?}\n{instead}", stuck.name, request.request);
                    }
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 500, "only {tried} devices");
}

/// What the allocator does instead of giving a device to a request once all its reasons are removed and no other device is
/// free. `None` where a reason cannot be removed here.
fn without_reasons(
    stuck: &Stuck,
    node: &str,
    request: &RequestDetail,
    device: &DeviceDetail,
) -> Option<Result<(), String>> {
    let mut engine = stuck.engine.clone();
    let namespace = &stuck.explanation.subject.namespace;
    let mut claim = engine.get(&claim_ref(namespace, &request.claim))?;
    let only = super::laws::request(&mut claim, &request.request).clone();
    let constraints = claim.pointer("/spec/devices/constraints").cloned().unwrap_or(json!([]));
    let (main, _) = request.request.split_once('/').unwrap_or((&request.request, ""));
    let mut only = only;
    only["count"] = json!(1);
    only["allocationMode"] = json!("ExactCount");
    let mut constraints: Vec<Value> = constraints.as_array().unwrap().clone();
    let mut gone: Vec<usize> = Vec::new();
    let mut selectors: Vec<Value> = only["selectors"].as_array().cloned().unwrap_or_default();
    let mut dropped: Vec<usize> = Vec::new();
    for reason in &device.reasons {
        remove(reason, &mut engine, &mut only, &mut gone, &mut dropped)?;
    }
    // A constraint covers the request by the names it had.
    let mut index = 0;
    constraints.retain(|constraint| {
        index += 1;
        let names = constraint["requests"].as_array().cloned().unwrap_or_default();
        let covers = names.is_empty() || names.iter().any(|name| name == main || *name == request.request.as_str());
        covers && !gone.contains(&(index - 1))
    });
    for constraint in &mut constraints {
        constraint.as_object_mut().unwrap().remove("requests");
    }
    let mut index = 0;
    selectors.retain(|_| {
        index += 1;
        !dropped.contains(&(index - 1))
    });
    only["selectors"] = json!(selectors);
    let fields = only.as_object_mut().unwrap();
    fields.remove("name");
    claim["spec"]["devices"]["requests"] = json!([{ "name": "only", "exactly": only }]);
    claim["spec"]["devices"]["constraints"] = json!(constraints);
    leave_only(&mut engine, device);
    let question = wire::question(json!({ "claims": [claim], "nodes": [node] })).unwrap();
    let answer = engine.allocate(&question).to_json();
    let result = &answer["allocations"][0]["devices"]["results"][0];
    let is_given = answer["status"] == "allocated" && result["device"] == device.device.device.as_str();
    Some(if is_given { Ok(()) } else { Err(format!("{claim}\n{answer}")) })
}

/// Removes one reason; selectors and constraints are only noted.
fn remove(
    reason: &Reason,
    engine: &mut Engine,
    request: &mut Value,
    constraints: &mut Vec<usize>,
    selectors: &mut Vec<usize>,
) -> Option<()> {
    match reason.kind {
        ReasonKind::SelectorFalse | ReasonKind::SelectorFails | ReasonKind::NotOfClass => {
            let selector = reason.selector.as_ref().unwrap();
            let index = usize::try_from(selector.index).unwrap();
            if selector.of_class {
                let name = request["deviceClassName"].as_str().unwrap().to_owned();
                let class = ObjectRef { kind: "DeviceClass".to_owned(), namespace: String::new(), name };
                let mut class = engine.get(&class).unwrap();
                class["spec"]["selectors"][index]["cel"]["expression"] = json!("true");
                apply(engine, &class);
            } else {
                selectors.push(index);
            }
        }
        ReasonKind::Tainted => push(request, "tolerations", toleration(reason.taint.as_ref().unwrap())),
        ReasonKind::ConstraintMissing | ReasonKind::ConstraintConflict => {
            constraints.push(usize::try_from(reason.constraint.unwrap()).unwrap());
        }
        ReasonKind::InUse | ReasonKind::CapacityShort | ReasonKind::CounterShort | ReasonKind::OtherGroup => {
            // A counter that could never bear the device is not short because of others.
            if reason.holders.is_empty() {
                return None;
            }
            for holder in &reason.holders {
                let (namespace, name) = holder.claim.split_once('/').unwrap();
                let mut object = engine.get(&claim_ref(namespace, name)).unwrap();
                object.as_object_mut().unwrap().remove("status");
                apply(engine, &object);
            }
        }
        ReasonKind::CapacityNever => {
            let name = &reason.shortage.as_ref().unwrap().name;
            request["capacity"]["requests"].as_object_mut()?.remove(name);
        }
        ReasonKind::OtherNode
        | ReasonKind::FeatureOff
        | ReasonKind::CounterNever
        | ReasonKind::NeedsDriver
        | ReasonKind::PoolOutdated
        | ReasonKind::PoolIncomplete
        | ReasonKind::PoolInvalid
        | ReasonKind::NoNode => return None,
    }
    Some(())
}

/// Takes every device away that is neither the one nor in use; those in use are tainted, as they may have shares left.
fn leave_only(engine: &mut Engine, device: &DeviceDetail) {
    let in_use: Vec<(String, String, String)> = engine
        .cluster()
        .claims()
        .values()
        .flat_map(|claim| claim.status.allocation.iter().flat_map(|allocation| &allocation.devices.results))
        .filter(|result| result.admin_access != Some(true))
        .map(|result| (result.driver.clone(), result.pool.clone(), result.device.clone()))
        .collect();
    let names: Vec<String> = engine.cluster().slices().keys().cloned().collect();
    for name in names {
        let mut slice =
            engine.get(&ObjectRef { kind: "ResourceSlice".to_owned(), namespace: String::new(), name }).unwrap();
        let spec = &mut slice["spec"];
        let (driver, pool) = (spec["driver"].clone(), spec["pool"]["name"].clone());
        let Some(devices) = spec["devices"].as_array_mut() else { continue };
        let id = &device.device;
        devices.retain(|other| {
            let is_it = other["name"] == id.device.as_str() && driver == id.driver.as_str() && pool == id.pool.as_str();
            let is_used = in_use
                .iter()
                .any(|used| driver == used.0.as_str() && pool == used.1.as_str() && other["name"] == used.2.as_str());
            is_it || is_used
        });
        for other in devices.iter_mut().filter(|other| other["name"] != id.device.as_str()) {
            push(other, "taints", json!({ "key": "not-this-one", "effect": "NoSchedule" }));
        }
        apply(engine, &slice);
    }
}
