//! The scheduler: what several decisions take at a time, and what becomes of them when nobody answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use apportion_core::api::object::Object;
use apportion_core::controller::{Conclusion, Part};
use apportion_core::decision::{Action, Decision};
use apportion_core::finding::ObjectRef;
use serde_json::{Value, json};

use crate::world::{World, claim, reference};

fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": name },
        "status": { "allocatable": { "cpu": "4", "pods": "10" } },
    })
}

fn slice(node: &str, devices: usize) -> Value {
    let devices: Vec<Value> = (0..devices).map(|number| json!({ "name": format!("gpu-{number}") })).collect();
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": node },
        "spec": {
            "driver": "gpu.example.com", "nodeName": node, "devices": devices,
            "pool": { "name": node, "generation": 1, "resourceSliceCount": 1 },
        },
    })
}

fn pod(name: &str, claim: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "ml" },
        "spec": {
            "schedulerName": "apportion", "containers": [{ "name": "c" }],
            "resourceClaims": [{ "name": "gpu", "resourceClaimName": claim }],
        },
    })
}

fn member(name: &str, claim: &str, group: &str) -> Value {
    let mut member = pod(name, claim);
    member["spec"]["schedulingGroup"] = json!({ "podGroupName": group });
    member
}

fn group(name: &str, min_count: usize) -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": { "name": name, "namespace": "ml" },
        "spec": { "schedulingPolicy": { "gang": { "minCount": min_count } } },
    })
}

/// A node with so many devices.
fn world(devices: usize) -> World {
    let mut world = World::new(Part::Scheduler);
    let class =
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" }, "spec": {} });
    for object in [class, node("n"), slice("n", devices)] {
        world.put(object);
    }
    world
}

/// So many Pods, each with a claim.
fn with_pods(devices: usize, pods: usize) -> World {
    let mut world = world(devices);
    for number in 1..=pods {
        world.put(claim(&format!("c-{number}"), 1));
        world.put(pod(&format!("p-{number}"), &format!("c-{number}")));
    }
    world
}

fn due(world: &mut World) -> Vec<ObjectRef> {
    world.controller.due().into_iter().map(|task| task.object).collect()
}

fn decide(world: &mut World, subject: &ObjectRef) -> Decision {
    world.controller.reconcile(subject, world.now)
}

fn device(decision: &Decision) -> Option<String> {
    decision.actions.iter().find_map(|action| match action {
        Action::UpdateStatus(object) => {
            Some(object.write().pointer("/status/allocation/devices/results/0/device")?.as_str()?.to_owned())
        }
        _ => None,
    })
}

fn bound(world: &World) -> Vec<String> {
    let binds = world.writes.iter().filter(|write| write.starts_with("bind"));
    binds.cloned().collect()
}

fn is_bind(action: &Action) -> bool {
    matches!(action, Action::Bind { .. })
}

#[test]
fn a_pod_gets_its_devices_and_then_its_node() {
    let mut world = with_pods(1, 1);
    world.settle();
    assert_eq!(
        world.writes,
        ["update ResourceClaim ml/c-1", "status ResourceClaim ml/c-1", "bind Pod ml/p-1 to n"],
        "and nothing else is written"
    );
    let claim = &world.objects[&reference(&claim("c-1", 1))];
    assert_eq!(claim["status"]["reservedFor"][0]["name"], "p-1");
    assert_eq!(world.events.len(), 1);
    assert_eq!(
        (world.events[0].reason.as_str(), world.events[0].controller.as_str()),
        ("Scheduled", "apportion-scheduler")
    );
    assert_eq!(world.settle(), 0);
}

#[test]
fn pods_of_other_schedulers_are_left_alone() {
    let mut world = world(1);
    world.put(claim("c", 1));
    for name in ["", "default-scheduler", "other"] {
        let mut foreign = pod(&format!("p{name}"), "c");
        foreign["spec"]["schedulerName"] = json!(name);
        world.put(foreign);
    }
    assert_eq!(due(&mut world), []);
}

#[test]
fn what_is_being_written_counts_as_taken() {
    let mut world = with_pods(2, 3);
    let subjects = due(&mut world);
    assert_eq!(subjects.len(), 3, "they are carried out beside each other");
    let decisions: Vec<Decision> = subjects.iter().map(|subject| decide(&mut world, subject)).collect();
    let devices: Vec<Option<String>> = decisions.iter().map(device).collect();
    assert_eq!(devices, [Some("gpu-0".to_owned()), Some("gpu-1".to_owned()), None]);
    // What is told of a claim while it is being written changes nothing.
    world.put(claim("c-1", 1));
    world.put(claim("c-4", 1));
    world.put(pod("p-4", "c-4"));
    let late = due(&mut world);
    assert_eq!(device(&decide(&mut world, &late[0])), None, "both devices are taken");
}

#[test]
fn what_was_not_written_is_free_again() {
    let mut world = with_pods(1, 2);
    let subjects = due(&mut world);
    assert_eq!(device(&decide(&mut world, &subjects[0])), Some("gpu-0".to_owned()));
    let other = decide(&mut world, &subjects[1]);
    assert_eq!(other.events[0].reason, "FailedScheduling");
    world.controller.conclude(&subjects[1], Conclusion::Done);
    world.controller.conclude(&subjects[0], Conclusion::Failed);
    assert_eq!(due(&mut world), [subjects[1].clone()], "the device may be for the other one");
    let soon = decide(&mut world, &subjects[1]);
    assert_eq!((soon.actions.len(), soon.wake_up), (0, Some(world.now.plus_seconds(1))), "not at once");
    world.now = world.now.plus_seconds(1);
    assert_eq!(device(&decide(&mut world, &subjects[1])), Some("gpu-0".to_owned()));
}

#[test]
fn what_nobody_answered_is_written_again_and_nothing_else() {
    let mut world = with_pods(1, 2);
    let subjects = due(&mut world);
    let first = decide(&mut world, &subjects[0]);
    world.controller.conclude(&subjects[0], Conclusion::Unanswered);
    let other = decide(&mut world, &subjects[1]);
    assert_eq!(device(&other), None, "the device may be given away by now");
    let again = decide(&mut world, &subjects[0]);
    assert_eq!((device(&again), device(&first)), (Some("gpu-0".to_owned()), Some("gpu-0".to_owned())));
    // The first write arrived after all, and so did the second one, as the news tell.
    let mut writes = first.actions.into_iter();
    world.carry_out_unheard(writes.next().unwrap());
    world.controller.conclude(&subjects[0], Conclusion::Failed);
    world.put(claim("c-3", 1));
    world.put(pod("p-3", "c-3"));
    let third = due(&mut world).pop().unwrap();
    assert_eq!((third.name.as_str(), device(&decide(&mut world, &third))), ("p-3", None), "still nobody else gets it");
    world.tell(&reference(&claim("c-1", 1)));
    let rest = decide(&mut world, &subjects[0]);
    let [Action::UpdateStatus(claim), bind, Action::Record(_)] = rest.actions.as_slice() else { panic!("{rest:?}") };
    let version = &world.objects[&claim.reference()]["metadata"]["resourceVersion"];
    assert_eq!((json!(claim.metadata().resource_version), is_bind(bind)), (version.clone(), true));
    for action in rest.actions {
        world.carry_out(action).unwrap();
    }
    world.controller.conclude(&subjects[0], Conclusion::Done);
    assert_eq!(bound(&world), ["bind Pod ml/p-1 to n"]);
    world.settle();
    assert_eq!(bound(&world).len(), 1, "the others still wait");
}

/// The last repetition may be as late as any other write.
#[test]
fn a_device_is_kept_until_no_repetition_can_arrive_any_more() {
    let mut world = with_pods(1, 2);
    let subjects = due(&mut world);
    assert_eq!(device(&decide(&mut world, &subjects[0])), Some("gpu-0".to_owned()));
    let start = world.now;
    for seconds in [5, 30, 59] {
        world.controller.conclude(&subjects[0], Conclusion::Unanswered);
        world.now = start.plus_seconds(seconds);
        assert_eq!(device(&decide(&mut world, &subjects[0])), Some("gpu-0".to_owned()), "written once more");
    }
    world.controller.conclude(&subjects[0], Conclusion::Unanswered);
    world.now = start.plus_seconds(64);
    let end = start.plus_seconds(124);
    for _ in 0..2 {
        let waits = decide(&mut world, &subjects[0]);
        assert_eq!((waits.actions.len(), waits.wake_up), (0, Some(end)));
        assert_eq!(device(&decide(&mut world, &subjects[1])), None, "it is not given to the other one");
        world.now = end.plus_millis(-1);
    }
    world.remove(&reference(&pod("p-1", "c-1")));
    decide(&mut world, &subjects[0]);
    world.now = end;
    decide(&mut world, &subjects[0]);
    world.now = end.plus_seconds(60);
    assert_eq!(device(&decide(&mut world, &subjects[1])), Some("gpu-0".to_owned()));
}

#[test]
fn what_became_something_else_is_waited_for() {
    let mut world = with_pods(1, 1);
    let subjects = due(&mut world);
    let decision = decide(&mut world, &subjects[0]);
    assert!(decision.actions.iter().any(is_bind));
    world.controller.conclude(&subjects[0], Conclusion::Unanswered);
    world.remove(&reference(&claim("c-1", 1)));
    let end = world.now.plus_seconds(60);
    let waits = decide(&mut world, &subjects[0]);
    assert_eq!((waits.actions.len(), waits.wake_up), (0, Some(end)));
    world.put(claim("c-1", 1));
    world.now = end;
    let anew = decide(&mut world, &subjects[0]);
    assert!(anew.actions.iter().any(is_bind), "it is decided anew");
}

/// Nothing is repeated, nor free again, where somebody else did something to what a write is about.
#[test]
fn a_pod_that_another_scheduler_bound_and_a_claim_that_goes_are_waited_for() {
    let bound = ("Pod", json!({ "spec": { "nodeName": "other" } }));
    let going = ("ResourceClaim", json!({ "metadata": { "deletionTimestamp": "2027-01-15T08:00:00Z" } }));
    for (kind, fields) in [bound, going] {
        let mut world = with_pods(1, 1);
        let subjects = due(&mut world);
        decide(&mut world, &subjects[0]);
        world.controller.conclude(&subjects[0], Conclusion::Unanswered);
        let object = if kind == "Pod" { subjects[0].clone() } else { reference(&claim("c-1", 1)) };
        world.patch(&object, fields);
        let waits = decide(&mut world, &subjects[0]);
        assert_eq!((waits.actions.len(), waits.wake_up), (0, Some(world.now.plus_seconds(60))), "{kind}");
    }
}

#[test]
fn a_claim_that_is_being_written_is_not_relied_on() {
    let mut world = with_pods(2, 1);
    world.put(pod("p-2", "c-1"));
    let subjects = due(&mut world);
    let first = decide(&mut world, &subjects[0]);
    assert!(first.actions.iter().any(is_bind));
    assert_eq!(decide(&mut world, &subjects[1]), Decision::none());
    assert_eq!(due(&mut world), [], "it comes when the claim is written");
    world.controller.conclude(&subjects[0], Conclusion::Failed);
    world.is_alike_after_restart = false;
    world.settle();
    assert_eq!(due(&mut world), []);
    assert_eq!(bound(&world), ["bind Pod ml/p-2 to n"], "the first one is asked for again after a pause");
    decide(&mut world, &subjects[0]).actions.into_iter().for_each(|action| world.carry_out(action).unwrap());
    let claim = &world.objects[&reference(&claim("c-1", 1))];
    assert_eq!(claim["status"]["reservedFor"].as_array().unwrap().len(), 2);
}

#[test]
fn a_gang_gets_all_places_or_none() {
    let mut world = world(3);
    world.put(group("g", 2));
    for number in 1..=2 {
        world.put(claim(&format!("c-{number}"), 1));
        world.put(member(&format!("m-{number}"), &format!("c-{number}"), "g"));
    }
    let subjects = due(&mut world);
    assert_eq!(subjects.iter().map(ToString::to_string).collect::<Vec<_>>(), ["PodGroup ml/g"]);
    let decision = decide(&mut world, &subjects[0]);
    let first_bind = decision.actions.iter().position(is_bind).unwrap();
    let last_claim = decision.actions.iter().rposition(|action| matches!(action, Action::UpdateStatus(_))).unwrap();
    assert!(last_claim < first_bind, "first all claims");
    world.controller.conclude(&subjects[0], Conclusion::Failed);
    world.put(slice("n", 1));
    let short = decide(&mut world, &subjects[0]);
    assert!(!short.actions.iter().any(is_bind), "{short:?}");
    world.controller.conclude(&subjects[0], Conclusion::Done);
    world.put(slice("n", 2));
    world.now = world.now.plus_seconds(1);
    world.settle();
    assert_eq!(bound(&world).len(), 2);
}

#[test]
fn a_gang_whose_claims_are_still_being_made_is_not_said_to_fit_nowhere() {
    let mut world = world(3);
    world.put(group("g", 2));
    for number in 1..=2 {
        world.put(member(&format!("m-{number}"), &format!("c-{number}"), "g"));
    }
    world.put(claim("c-1", 1));
    world.settle();
    assert_eq!((world.writes.len(), world.events.len()), (0, 0), "{:?}", world.events);
    world.put(claim("c-2", 1));
    world.settle();
    assert_eq!(bound(&world).len(), 2);
}

#[test]
fn there_is_no_storm() {
    let mut world = with_pods(0, 3);
    world.settle();
    let patches = world.writes.len();
    assert_eq!(patches, 3, "each is told once: {:?}", world.writes);
    let told = world.events.len();
    for number in 0..20 {
        let mut alive = node("n");
        alive["status"]["conditions"] = json!([{ "type": "Ready", "lastHeartbeatTime": number.to_string() }]);
        world.put(alive);
    }
    assert_eq!(due(&mut world), [], "signs of life matter to nobody");
    for _ in 0..20 {
        world.put(node(&format!("other-{}", world.objects.len())));
        for subject in due(&mut world) {
            assert!(decide(&mut world, &subject).wake_up.is_some(), "not more than one attempt in a second");
        }
    }
    assert_eq!((world.writes.len(), world.events.len()), (patches, told));
}

#[test]
fn whoever_starts_anew_goes_on() {
    let mut world = with_pods(1, 1);
    let subjects = due(&mut world);
    let decision = decide(&mut world, &subjects[0]);
    for action in decision.actions.into_iter().take(1) {
        world.carry_out(action).unwrap();
    }
    world.restart();
    world.writes.clear();
    world.settle();
    let all = ["update ResourceClaim ml/c-1", "status ResourceClaim ml/c-1", "bind Pod ml/p-1 to n"];
    assert_eq!(world.writes[1..], all, "after the finalizer was taken away, so that no late write is taken");
    assert_eq!(world.writes[0], all[0]);
    // With the devices written there is nothing to take away.
    let mut world = with_pods(1, 1);
    let subjects = due(&mut world);
    let mut versions = BTreeMap::new();
    for action in decide(&mut world, &subjects[0]).actions.into_iter().take(2) {
        let action = world.with_versions(action, &mut versions);
        world.carry_out(action).unwrap();
    }
    world.restart();
    world.settle();
    assert_eq!(world.writes, all, "no write happens twice");
}

#[test]
fn higher_priority_goes_first() {
    let mut world = with_pods(1, 40);
    let mut urgent = pod("urgent", "c-1");
    urgent["spec"]["priority"] = json!(7);
    world.put(urgent);
    let first = due(&mut world);
    assert_eq!(first[0].name, "urgent");
    assert!(first.len() < 40, "the rest waits where it can be overtaken: {}", first.len());
}

/// A decision of which the finalizer is written and the devices are under way, when another controller follows and the Pod that it
/// was about is gone.
fn with_late_write() -> (World, Action) {
    let mut world = with_pods(1, 1);
    let subject = due(&mut world).remove(0);
    let mut actions = decide(&mut world, &subject).actions.into_iter();
    let (finalizer, late) = (actions.next().unwrap(), actions.next().unwrap());
    world.carry_out(finalizer).unwrap();
    let Action::UpdateStatus(mut object) = late else { panic!("{late:?}") };
    if let Object::ResourceClaim(claim) = &mut *object {
        Arc::make_mut(claim).metadata.resource_version = version(&world, "c-1");
    }
    world.remove(&subject);
    world.put(claim("c-2", 1));
    world.put(pod("p-2", "c-2"));
    world.restart();
    world.writes.clear();
    (world, Action::UpdateStatus(object))
}

fn version(world: &World, name: &str) -> String {
    world.objects[&reference(&claim(name, 1))]["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

#[test]
fn a_late_write_of_whoever_decided_before_is_refused() {
    let (mut world, late) = with_late_write();
    world.settle();
    let first = ["update ResourceClaim ml/c-1", "update ResourceClaim ml/c-2", "status ResourceClaim ml/c-2"];
    assert_eq!(world.writes[..3], first, "before any device is given away");
    assert_eq!(bound(&world), ["bind Pod ml/p-2 to n"]);
    let Action::UpdateStatus(late) = late else { unreachable!() };
    assert_ne!(late.metadata().resource_version, version(&world, "c-1"), "the API server has another version");
    assert_eq!(world.settle(), 0);
}

/// The same version told once more, by a watch that begins again, does not put it out of reach.
#[test]
fn a_claim_that_is_as_it_was_may_still_get_late_devices() {
    let (mut world, _) = with_late_write();
    let subjects = due(&mut world);
    decide(&mut world, &subjects[0]);
    world.tell(&reference(&claim("c-1", 1)));
    assert_eq!(decide(&mut world, &subjects[0]), Decision::none());
}

#[test]
fn a_late_write_that_arrives_first_counts() {
    let (mut world, late) = with_late_write();
    let subjects = due(&mut world);
    assert_eq!(decide(&mut world, &subjects[0]), Decision::none(), "nothing is given away yet");
    world.carry_out(late).unwrap();
    world.settle();
    assert_eq!(bound(&world), [""; 0], "the only device is taken");
    assert!(!world.writes.contains(&"status ResourceClaim ml/c-2".to_owned()));
}

#[test]
fn claims_of_other_schedulers_are_left_to_them() {
    let (mut world, _) = with_late_write();
    let mut foreign = pod("p-3", "c-1");
    foreign["spec"]["schedulerName"] = json!("default-scheduler");
    world.put(foreign);
    world.restart();
    world.settle();
    assert!(!world.writes.contains(&"update ResourceClaim ml/c-1".to_owned()), "{:?}", world.writes);
    assert_eq!(bound(&world), ["bind Pod ml/p-2 to n"]);
}

#[test]
fn a_claim_that_cannot_be_written_holds_nobody_up_for_ever() {
    let (mut world, _) = with_late_write();
    let subject = due(&mut world).remove(0);
    decide(&mut world, &subject);
    let (kind, claim) = ("ResourceClaim".to_owned(), due(&mut world).remove(0));
    assert_eq!((&claim.kind, claim.name.as_str()), (&kind, "c-1"));
    let decision = decide(&mut world, &claim);
    assert_eq!(decision.wake_up, Some(world.now.plus_millis(60_000)));
    let refused = Conclusion::Refused { status: 403, message: "no".to_owned() };
    world.controller.conclude(&claim, refused);
    assert_eq!(due(&mut world), []);
    world.now = world.now.plus_millis(60_000);
    assert_eq!(decide(&mut world, &claim), Decision::none());
    world.settle();
    assert_eq!(bound(&world), ["bind Pod ml/p-2 to n"]);
}

/// A device was given away twice. No Pod is bound to it, and an Event says so.
#[test]
fn a_pod_with_a_device_that_another_claim_has_is_not_bound() {
    let allocation = |share: Option<&str>, admin: bool| {
        let mut result = json!({ "request": "gpu", "driver": "gpu.example.com", "pool": "n", "device": "gpu-0" });
        if let Some(share) = share {
            result["shareID"] = json!(share);
        }
        if admin {
            result["adminAccess"] = json!(true);
        }
        json!({ "devices": { "results": [result] } })
    };
    let (one, other) = (Some("7c0b5b4e-6a3c-4b3f-9a53-000000000001"), Some("7c0b5b4e-6a3c-4b3f-9a53-000000000002"));
    for (first, second, is_bound) in [
        (allocation(None, false), allocation(None, false), false),
        (allocation(one, false), allocation(one, false), false),
        (allocation(one, false), allocation(None, false), false),
        (allocation(one, false), allocation(other, false), true),
        (allocation(None, false), allocation(None, true), true),
    ] {
        let mut world = world(2);
        for (name, allocation) in [("a", first), ("b", second)] {
            let mut claim = claim(name, 1);
            claim["metadata"]["finalizers"] = json!(["resource.kubernetes.io/delete-protection"]);
            claim["status"] = json!({ "allocation": allocation });
            world.put(claim);
        }
        world.put(pod("p", "a"));
        world.settle();
        assert_eq!(world.writes.iter().any(|write| write.starts_with("bind")), is_bound, "{:?}", world.writes);
        let told = world.events.iter().find(|event| event.reason == "DeviceGivenTwice");
        assert_eq!(told.is_none(), is_bound);
        if let Some(event) = told {
            assert!(
                event.note.contains("claims ml/a and ml/b both have device gpu.example.com/n/gpu-0"),
                "{}",
                event.note
            );
            world.patch(&reference(&claim("b", 1)), json!({ "status": { "allocation": null } }));
            world.now = world.now.plus_millis(20_000);
            let again = world.controller.reconcile(&reference(&pod("p", "a")), world.now);
            assert!(again.actions.iter().any(|action| matches!(action, Action::Bind { .. })), "{again:?}");
        }
    }
}

/// It was allocated by somebody who understands more of it.
#[test]
fn a_claim_that_cannot_be_read_keeps_its_devices() {
    let mut world = world(1);
    let mut odd = claim("c-1", 1);
    odd["spec"]["devices"]["requests"] = json!("none");
    let result = json!({ "request": "gpu", "driver": "gpu.example.com", "pool": "n", "device": "gpu-0" });
    odd["status"] = json!({ "allocation": { "devices": { "results": [result] } } });
    world.offer(odd);
    world.put(claim("c-2", 1));
    for name in ["c-1", "c-2"] {
        world.put(pod(&name.replace('c', "p"), name));
    }
    world.settle();
    assert_eq!(bound(&world), [""; 0]);
    let touches = |write: &String| write.contains("ResourceClaim ml/c-1");
    assert!(!world.writes.iter().any(touches), "{:?}", world.writes);
    assert!(world.events.iter().any(|event| event.regarding.name == "p-1" && event.note.contains("cannot be read")));
    // The pause after the attempt is over.
    world.now = world.now.plus_millis(20_000);
    world.remove(&reference(&claim("c-1", 1)));
    world.settle();
    assert_eq!(bound(&world), ["bind Pod ml/p-2 to n"]);
}

/// kube-scheduler would find a volume for it; here its Pod waits, and a bound volume decides about the node.
#[test]
fn a_pod_goes_where_its_volumes_are_once_they_are_bound() {
    let mut world = world(1);
    let mut other = node("other");
    other["metadata"]["labels"] = json!({ "disk": "fast" });
    let mut wanting = pod("p", "c");
    wanting["spec"]["volumes"] = json!([{ "name": "data", "persistentVolumeClaim": { "claimName": "data" } }]);
    for object in [other, slice("other", 1), claim("c", 1), wanting] {
        world.put(object);
    }
    world.settle();
    assert_eq!(bound(&world), [""; 0]);
    let told = |name: &str| world.events.iter().any(|event| event.note.starts_with(name));
    assert!(told("PersistentVolumeClaim data has no volume"), "{:?}", world.events);

    let fast = json!([{ "matchExpressions": [{ "key": "disk", "operator": "In", "values": ["fast"] }] }]);
    world.put(json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": "v" },
        "spec": { "nodeAffinity": { "required": { "nodeSelectorTerms": fast } } },
    }));
    world.put(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "data", "namespace": "ml" },
        "spec": { "volumeName": "v" },
    }));
    world.settle();
    assert_eq!(bound(&world), [""; 0], "not more than one attempt in ten seconds");
    world.now = world.now.plus_millis(20_000);
    let again = decide(&mut world, &reference(&pod("p", "c")));
    assert!(
        again.actions.iter().any(|action| matches!(action, Action::Bind { node, .. } if node == "other")),
        "{again:?}"
    );
}

/// The node with the first name would have room for all of them.
#[test]
fn pods_are_spread_over_nodes_as_kube_scheduler_spreads_them() {
    let mut world = world(4);
    for object in [node("z"), slice("z", 4)] {
        world.put(object);
    }
    for number in 0..4 {
        let name = format!("c-{number}");
        world.put(claim(&name, 1));
        let mut one = pod(&name.replace('c', "p"), &name);
        one["spec"]["containers"][0]["resources"] = json!({ "requests": { "cpu": "500m" } });
        world.put(one);
    }
    world.settle();
    let on = |node: &str| bound(&world).iter().filter(|write| write.ends_with(&format!("to {node}"))).count();
    assert_eq!((on("n"), on("z")), (2, 2), "{:?}", bound(&world));
}

/// Of a Pod with a node the controller keeps only what counts.
#[test]
fn pods_with_a_node_keep_others_away() {
    let near = json!({ "labelSelector": { "matchLabels": { "app": "x" } }, "topologyKey": "kubernetes.io/hostname" });
    let away = json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [near] } });
    let port = |field: &str| json!([{ "name": "c", "ports": [{ (field): 80, "containerPort": 80 }] }]);
    for (there, comes) in [
        (json!({ "containers": port("hostPort") }), json!({ "containers": port("hostPort") })),
        (json!({ "containers": port("x"), "hostNetwork": true }), json!({ "containers": port("hostPort") })),
        (json!({}), json!({ "affinity": away })),
        (json!({ "affinity": away }), json!({})),
    ] {
        let mut world = world(2);
        let mut node = node("n");
        node["metadata"]["labels"] = json!({ "kubernetes.io/hostname": "n" });
        world.put(node);
        for (number, fields) in [(1, &there), (2, &comes)] {
            world.put(claim(&format!("c-{number}"), 1));
            let mut pod = pod(&format!("p-{number}"), &format!("c-{number}"));
            pod["metadata"]["labels"] = json!({ "app": "x" });
            if number == 1 {
                pod["spec"]["nodeName"] = json!("n");
            }
            for (field, value) in fields.as_object().unwrap() {
                pod["spec"][field] = value.clone();
            }
            world.offer(pod);
        }
        world.settle();
        assert_eq!(bound(&world), [""; 0], "{there}, {comes}");
    }
}
