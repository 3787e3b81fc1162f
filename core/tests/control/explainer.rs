//! Why Pods wait for devices: told once, and again when it is something else.

use apportion_core::controller::{Conclusion, Part, Settings};
use apportion_core::decision::{Action, Decision, Merging, Patch};
use apportion_core::finding::ObjectRef;
use serde_json::{Value, json};

use crate::world::{World, claim, settings};

fn whole_cluster() -> ObjectRef {
    ObjectRef::default()
}

fn device_class() -> Value {
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" }, "spec": {} })
}

fn node() -> Value {
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n" }, "status": { "allocatable": { "cpu": "4", "pods": "10" } } })
}

fn slice(devices: usize) -> Value {
    let devices: Vec<Value> = (0..devices).map(|number| json!({ "name": format!("gpu-{number}") })).collect();
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
        "spec": {
            "driver": "gpu.example.com", "nodeName": "n", "devices": devices,
            "pool": { "name": "n", "generation": 1, "resourceSliceCount": 1 },
        },
    })
}

fn pod(name: &str, claim: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "ml" },
        "spec": { "containers": [{ "name": "c" }], "resourceClaims": [{ "name": "gpu", "resourceClaimName": claim }] },
    })
}

fn pod_ref(name: &str) -> ObjectRef {
    ObjectRef { kind: "Pod".to_owned(), namespace: "ml".to_owned(), name: name.to_owned() }
}

/// A Pod that wants four devices where there are two.
fn world() -> World {
    filled(World::new(Part::Explainer))
}

fn filled(mut world: World) -> World {
    for object in [device_class(), node(), slice(2), claim("four", 4), pod("p", "four")] {
        world.put(object);
    }
    world
}

/// The decision after some seconds.
fn after(world: &mut World, seconds: i64) -> Decision {
    world.now = world.now.plus_seconds(seconds);
    world.controller.due();
    world.controller.reconcile(&whole_cluster(), world.now)
}

#[test]
fn a_pod_is_told_once_why_it_waits() {
    let mut world = world();
    let first = after(&mut world, 0);
    assert!(first.events.is_empty(), "the scheduler may not have seen it: {:?}", first.events);
    assert!(first.wake_up.is_some(), "it is looked at again");
    let told = after(&mut world, 10).events;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].regarding.name.as_str(), told[0].reason.as_str()), ("p", "DevicesUnavailable"));
    assert!(told[0].note.contains("request `gpu` needs 4 devices of class `gpu`"), "{}", told[0].note);
    assert!(told[0].note.ends_with("closest node: `n` (2 of 4)"), "{}", told[0].note);
    assert_eq!(after(&mut world, 100), Decision::none(), "nothing changed");
    world.put(slice(2));
    assert!(after(&mut world, 100).events.is_empty(), "it is for the same reason");
}

#[test]
fn it_is_told_again_when_the_reason_is_another() {
    let mut world = world();
    after(&mut world, 0);
    after(&mut world, 10);
    world.put(slice(3));
    let soon = after(&mut world, 20);
    assert!(soon.events.is_empty() && soon.wake_up.is_some(), "not more than once in a minute: {soon:?}");
    let later = after(&mut world, 60);
    assert_eq!(later.events.len(), 1);
    assert!(later.events[0].note.contains("(3 of 4)"), "{}", later.events[0].note);
}

#[test]
fn what_fits_or_does_not_wait_for_devices_is_not_told() {
    let mut world = world();
    world.put(claim("one", 1));
    world.put(pod("fits", "one"));
    let mut plain = pod("plain", "one");
    plain["spec"].as_object_mut().unwrap().remove("resourceClaims");
    plain["spec"]["containers"][0]["resources"] = json!({ "requests": { "cpu": "64" } });
    world.put(plain);
    let mut gated = pod("gated", "four");
    gated["spec"]["schedulingGates"] = json!([{ "name": "later" }]);
    world.put(gated);
    let told = after(&mut world, 10).events;
    let names: Vec<&str> = told.iter().map(|event| event.regarding.name.as_str()).collect();
    assert_eq!(names, ["p"]);
}

#[test]
fn a_missing_claim_is_told_too() {
    let mut world = world();
    world.put(pod("without", "nowhere"));
    let told = after(&mut world, 10).events;
    let event = told.iter().find(|event| event.regarding.name == "without").unwrap();
    assert_eq!(event.reason, "DevicesBlocked");
    assert!(event.note.contains("nowhere"), "{}", event.note);
}

#[test]
fn a_pod_that_asks_for_it_gets_a_condition() {
    let mut world = world();
    let mut asks = pod("p", "four");
    asks["metadata"]["annotations"] = json!({ "apportion.dev/explain": "true" });
    world.put(asks);
    let decision = after(&mut world, 10);
    let [Action::Patch(patch)] = decision.actions.as_slice() else { panic!("{:?}", decision.actions) };
    assert!(patch.status);
    assert_eq!(patch.merging, Merging::Strategic);
    let fields = &patch.fields;
    let condition = &fields["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&json!("apportion.dev/DevicesAvailable"), &json!("False")));
    assert_eq!(condition["message"], decision.events[0].note);
}

/// Who installs the explainer without the right to write statuses gets Events and nothing else.
#[test]
fn without_leave_no_condition_is_written_nor_taken_back() {
    let mut world = filled(World::with(Settings { conditions: false, ..settings(Part::Explainer) }));
    let mut asks = pod("p", "four");
    asks["metadata"]["annotations"] = json!({ "apportion.dev/explain": "true" });
    world.put(asks);
    let told = after(&mut world, 10);
    assert_eq!((told.events.len(), told.actions), (1, Vec::new()));
    // One that was written in another time stays.
    let mut placed = pod("placed", "four");
    placed["spec"]["nodeName"] = json!("n");
    placed["status"]["conditions"] = json!([{ "type": "apportion.dev/DevicesAvailable", "status": "False" }]);
    world.put(placed);
    assert_eq!(after(&mut world, 10), Decision::none());
}

/// Status and message of the conditions that a decision writes, by object.
fn conditions(decision: &Decision) -> Vec<(String, String, String)> {
    let patches = decision.actions.iter().map(|action| match action {
        Action::Patch(Patch { object, merging: Merging::Strategic, fields, status: true, .. }) => {
            let condition = &fields["status"]["conditions"][0];
            let text = |field: &str| condition[field].as_str().unwrap().to_owned();
            (object.to_string(), text("status"), text("message"))
        }
        other => panic!("{other:?}"),
    });
    patches.collect()
}

#[test]
fn a_condition_is_taken_back_once_the_pod_has_its_node() {
    let mut world = world();
    let mut asks = pod("p", "four");
    asks["metadata"]["annotations"] = json!({ "apportion.dev/explain": "true" });
    world.put(asks);
    let told = after(&mut world, 10);
    told.actions.into_iter().for_each(|action| world.carry_out(action).unwrap());
    let key = pod_ref("p");
    assert_eq!(world.objects[&key]["status"]["conditions"][0]["status"], "False");
    assert_eq!(conditions(&after(&mut world, 10)), []);
    world.patch(&key, json!({ "spec": { "nodeName": "n" } }));
    let since = world.now.plus_seconds(10);
    let over = after(&mut world, 10);
    assert_eq!(conditions(&over), [("Pod ml/p".to_owned(), "True".to_owned(), String::new())]);
    assert!(over.events.is_empty());
    over.actions.into_iter().for_each(|action| world.carry_out(action).unwrap());
    assert_eq!(world.objects[&key]["status"]["conditions"][0]["lastTransitionTime"], since.to_string());
    assert_eq!(conditions(&after(&mut world, 10)), [], "it is said once");
}

#[test]
fn a_condition_that_could_not_be_written_is_written_later_and_nothing_is_told_twice() {
    let mut world = world();
    assert_eq!(after(&mut world, 10).events.len(), 1);
    let mut asks = world.objects[&pod_ref("p")].clone();
    asks["metadata"]["annotations"] = json!({ "apportion.dev/explain": "true" });
    world.put(asks);
    let said = |decision: &Decision| (conditions(decision).len(), decision.events.len());
    assert_eq!(said(&after(&mut world, 10)), (1, 0), "it was asked for after the Event");
    assert_eq!(said(&after(&mut world, 10)), (0, 0), "nothing has changed");
    world.controller.conclude(&whole_cluster(), Conclusion::Failed);
    let again = after(&mut world, 10);
    assert_eq!(said(&again), (1, 0));
    again.actions.into_iter().for_each(|action| world.carry_out(action).unwrap());
    world.controller.conclude(&whole_cluster(), Conclusion::Done);
    assert_eq!(said(&after(&mut world, 10)), (0, 0));
}

#[test]
fn a_group_is_told_and_gets_a_condition_too() {
    let mut world = world();
    world.put(json!({
        "apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "PodGroup",
        "metadata": { "name": "g", "namespace": "ml", "annotations": { "apportion.dev/explain": "true" } },
        "spec": {
            "schedulingPolicy": { "gang": { "minCount": 1 } },
            "resourceClaims": [{ "name": "gpu", "resourceClaimName": "four" }],
        },
    }));
    let mut member = pod("member", "four");
    member["spec"]["schedulingGroup"] = json!({ "podGroupName": "g" });
    world.put(member);
    let told = after(&mut world, 10);
    let group = "PodGroup ml/g".to_owned();
    let event = told.events.iter().find(|event| event.regarding.to_string() == group).unwrap();
    assert!(event.note.contains("the most on one are 2"), "{}", event.note);
    let said = conditions(&told);
    assert_eq!((&said[0].0, said[0].1.as_str(), said.len()), (&group, "False", 1));
    told.actions.into_iter().for_each(|action| world.carry_out(action).unwrap());
    // The devices come, and the member gets its place.
    world.put(slice(4));
    world.patch(&pod_ref("member"), json!({ "spec": { "nodeName": "n" } }));
    assert_eq!(conditions(&after(&mut world, 10)), [(group, "True".to_owned(), String::new())]);
}

/// What blocks a member is no lack of devices: the group is told what it is, not how many members it has.
#[test]
fn a_group_is_told_what_blocks_its_first_member() {
    let mut world = world();
    world.put(json!({
        "apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "PodGroup", "metadata": { "name": "g", "namespace": "ml" },
        "spec": {
            "schedulingPolicy": { "gang": { "minCount": 1 } },
            "resourceClaims": [{ "name": "gpu", "resourceClaimName": "nowhere" }],
        },
    }));
    let mut member = pod("member", "nowhere");
    member["spec"]["schedulingGroup"] = json!({ "podGroupName": "g" });
    world.put(member);
    let told = after(&mut world, 10);
    let of = |subject: &str| {
        let found = told.events.iter().find(|event| event.regarding.to_string() == subject);
        found.map(|event| event.note.as_str())
    };
    let expected = Some("there is no claim `nowhere` in namespace `ml`");
    assert_eq!((of("PodGroup ml/g"), of("Pod ml/member")), (expected, expected));
}

/// Many Pods that wait are told of a hundred at a time.
#[test]
fn there_is_no_storm() {
    let mut world = world();
    for number in 0..250 {
        world.put(pod(&format!("p-{number:03}"), "four"));
    }
    let mut numbers = Vec::new();
    for _ in 0..5 {
        numbers.push(after(&mut world, 10).events.len());
    }
    assert_eq!(numbers, [100, 100, 51, 0, 0]);
}

/// So many nodes with a device each, and Pods that want two on one of them.
fn crowd(nodes: usize, pods: usize) -> World {
    let mut world = World::new(Part::Explainer);
    world.put(device_class());
    for number in 0..nodes {
        let (mut node, mut slice) = (node(), slice(1));
        let name = format!("n{number:04}");
        node["metadata"]["name"] = json!(name);
        slice["metadata"]["name"] = json!(name);
        (slice["spec"]["nodeName"], slice["spec"]["pool"]["name"]) = (json!(name), json!(name));
        world.put(node);
        world.put(slice);
    }
    for number in 0..pods {
        let name = format!("p{number:04}");
        world.put(claim(&name, 2));
        world.put(pod(&name, &name));
    }
    world
}

#[test]
fn many_pods_are_looked_at_in_portions_and_told_at_the_end() {
    let mut world = crowd(1000, 70);
    world.now = world.now.plus_seconds(6);
    world.controller.due();
    let goes_on = |world: &mut World| {
        let decision = world.controller.reconcile(&whole_cluster(), world.now);
        (decision.wake_up == Some(world.now)).then_some(decision.events.len()).ok_or(decision)
    };
    for _ in 0..8 {
        assert_eq!(goes_on(&mut world), Ok(0), "it goes on at once");
    }
    // One that goes meanwhile is not told.
    world.remove(&pod_ref("p0003"));
    let decision = std::iter::from_fn(|| Some(goes_on(&mut world))).find_map(Result::err).unwrap();
    assert_eq!(decision.events.len(), 69);
    assert_eq!(decision.wake_up, Some(world.now.plus_seconds(10)), "something changed since it began");
}
