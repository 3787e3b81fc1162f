//! What `check` finds in a dump.

use serde_json::{Value, json};

use apportion_core::allocate::Limits;
use apportion_core::check::inspect;
use apportion_core::decision::{CLAIM_FINALIZER, Time};
use apportion_core::engine::Engine;
use apportion_core::finding::{Code, Finding, Severity};
use apportion_core::profile::Profile;

fn codes(mut objects: Vec<Value>) -> Vec<(&'static str, String)> {
    if objects.iter().any(|object| object["kind"] == "ResourceSlice") {
        objects.push(counters());
    }
    let mut found = inspect(objects, &Profile::default(), Time::parse("2026-03-01T12:00:00Z"));
    // These dumps hold what their tests are about.
    found.retain(|finding| finding.code != Code::RunNotGiven);
    for finding in &found {
        assert!(finding.hint.as_ref().is_some_and(|hint| !hint.is_empty()), "{finding:?}");
    }
    found.into_iter().map(|finding| (finding.code.text(), finding.object.unwrap().name)).collect()
}

pub(crate) fn claim(name: &str, devices: &[&str], reserved: &[&str]) -> Value {
    let results: Vec<Value> =
        devices.iter().map(|device| json!({ "request": "r", "driver": "d", "pool": "p", "device": device })).collect();
    let reserved: Vec<Value> =
        reserved.iter().map(|pod| json!({ "resource": "pods", "name": pod, "uid": format!("uid-{pod}") })).collect();
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": name, "namespace": "ns", "uid": format!("uid-{name}"), "finalizers": [CLAIM_FINALIZER] },
        "spec": { "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "c" } }] } },
        "status": { "allocation": { "devices": { "results": results } }, "reservedFor": reserved },
    })
}

pub(crate) fn pod(name: &str, claim: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "ns", "uid": format!("uid-{name}") },
        "spec": { "containers": [{ "name": "c", "image": "x" }], "nodeName": "n", "resourceClaims": [{ "name": "e", "resourceClaimName": claim }] },
        "status": { "phase": "Running" },
    })
}

pub(crate) fn slice() -> Value {
    let draws = json!([{ "counterSet": "s", "counters": { "m": { "value": "6" } } }]);
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "devices" },
        "spec": {
            "driver": "d", "nodeName": "n", "pool": { "name": "p", "generation": 1, "resourceSliceCount": 2 },
            "devices": [{ "name": "a", "consumesCounters": draws }, { "name": "b", "consumesCounters": draws }, { "name": "x" }],
        },
    })
}

/// The counters that the devices of [`slice`] draw from.
pub(crate) fn counters() -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "slice" },
        "spec": {
            "driver": "d", "nodeName": "n", "pool": { "name": "p", "generation": 1, "resourceSliceCount": 2 },
            "sharedCounters": [{ "name": "s", "counters": { "m": { "value": "10" } } }],
        },
    })
}

#[test]
fn a_healthy_cluster_gives_nothing() {
    assert_eq!(codes(vec![claim("one", &["a"], &["p"]), pod("p", "one"), slice()]), []);
}

#[test]
fn a_device_held_twice_is_told_with_the_claim_that_nobody_uses() {
    let found = codes(vec![
        claim("one", &["x"], &["p"]),
        claim("two", &["x"], &["q"]),
        pod("p", "one"),
        pod("q", "two"),
        slice(),
    ]);
    assert_eq!(found, [("check/device-held-twice", "two".to_owned())]);
}

#[test]
fn an_overdrawn_counter_is_told_at_its_slice() {
    let found = codes(vec![claim("one", &["a", "b"], &["p"]), pod("p", "one"), slice()]);
    assert_eq!(found, [("check/counter-overdrawn", "slice".to_owned())]);
}

#[test]
fn reservations_of_missing_and_ended_pods_are_told() {
    let mut ended = pod("q", "one");
    ended["status"]["phase"] = json!("Succeeded");
    let found = codes(vec![claim("one", &["a"], &["gone", "p", "q"]), pod("p", "one"), ended, slice()]);
    assert_eq!(found, [("check/consumer-gone", "one".to_owned()), ("check/consumer-ended", "one".to_owned())]);
}

#[test]
fn without_pods_nothing_is_said_about_consumers() {
    assert_eq!(codes(vec![claim("one", &["a"], &["gone"]), slice()]), []);
}

#[test]
fn a_pod_that_runs_without_its_claim_is_told() {
    let found = codes(vec![claim("one", &["a"], &["p"]), pod("p", "one"), pod("q", "one"), slice()]);
    assert_eq!(found, [("check/pod-without-claim", "q".to_owned())]);
}

#[test]
fn generated_claims_without_owner_and_doubles_are_told() {
    let generated = |name: &str, owner: &str| {
        let mut claim = claim(name, &[], &[]);
        claim["status"] = json!({});
        claim["metadata"]["annotations"] = json!({ "resource.kubernetes.io/pod-claim-name": "e" });
        claim["metadata"]["ownerReferences"] = json!([{ "apiVersion": "v1", "kind": "Pod", "name": owner, "uid": format!("uid-{owner}"), "controller": true }]);
        claim
    };
    let mut owner = pod("p", "x");
    owner["spec"]["resourceClaims"] = json!([{ "name": "e", "resourceClaimTemplateName": "t" }]);
    owner["spec"].as_object_mut().unwrap().remove("nodeName");
    owner["status"] = json!({ "resourceClaimStatuses": [{ "name": "e", "resourceClaimName": "g1" }] });
    let found = codes(vec![generated("g1", "p"), generated("g2", "p"), generated("g3", "gone"), owner]);
    assert_eq!(
        found,
        [
            ("check/claim-unrecorded", "g2".to_owned()),
            ("check/owner-gone", "g3".to_owned()),
            ("check/duplicate-claim", "g2".to_owned()),
        ]
    );
}

#[test]
fn finalizers_that_nobody_will_remove_are_told() {
    let mut going = claim("one", &["a"], &[]);
    going["metadata"]["deletionTimestamp"] = json!("2026-03-01T11:00:00Z");
    going["metadata"]["finalizers"] = json!([CLAIM_FINALIZER, "example.com/mine"]);
    let found = codes(vec![going, pod("p", "other"), claim("other", &["x"], &["p"]), slice()]);
    let stuck = ("check/finalizer-stuck", "one".to_owned());
    assert_eq!(found, [("check/idle-devices", "one".to_owned()), stuck.clone(), stuck]);
}

#[test]
fn devices_that_are_gone_are_told() {
    let found = codes(vec![claim("one", &["lost"], &["p"]), pod("p", "one"), slice()]);
    assert_eq!(found, [("check/device-gone", "one".to_owned())]);
}

#[test]
fn pools_that_give_nothing_and_pods_on_nodes_that_are_gone_are_told() {
    let mut part = slice();
    part["spec"]["pool"]["resourceSliceCount"] = json!(3);
    assert_eq!(codes(vec![part]), [("link/pool-incomplete", "devices".to_owned())]);
    let mut twice = slice();
    let first = twice["spec"]["devices"][0].clone();
    let mut second = twice.clone();
    second["metadata"]["name"] = json!("t");
    second["spec"]["devices"] = json!([first]);
    for one in [&mut twice, &mut second] {
        one["spec"]["pool"]["resourceSliceCount"] = json!(3);
    }
    // The later of two is blamed, as `validate` does.
    assert_eq!(codes(vec![twice, second]), [("link/pool-disagrees", "t".to_owned())]);
    let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "other" } });
    let mut lost = pod("p", "x");
    lost["spec"]["resourceClaims"] = json!([]);
    lost["spec"]["containers"][0]["resources"] = json!({});
    assert_eq!(codes(vec![node, lost]), [("check/pod-without-node", "p".to_owned())]);
}

fn node(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } })
}

/// A slice of pool `p` that is the only one of its node.
fn part(name: &str, node: &str) -> Value {
    let mut slice = slice();
    slice["metadata"]["name"] = json!(name);
    slice["spec"]["nodeName"] = json!(node);
    slice["spec"]["pool"]["resourceSliceCount"] = json!(1);
    slice["spec"]["devices"] = json!([{ "name": format!("{node}-gpu") }]);
    slice
}

#[test]
fn a_pool_without_the_counters_that_its_devices_draw_from_is_named_with_the_device() {
    let mut other = counters();
    other["spec"]["sharedCounters"][0]["name"] = json!("t");
    let found = inspect(vec![slice(), other], &Profile::default(), None);
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((only.code, only.object.as_ref().unwrap().name.as_str()), (Code::LinkUnknownCounter, "devices"));
    assert_eq!(only.path, "spec.devices[0].consumesCounters[0].counterSet");
    assert_eq!(only.message, "pool `p`: counter set `s` does not exist, so its devices are not given out");
    let mut fewer = counters();
    fewer["spec"]["sharedCounters"][0]["counters"] = json!({ "n": { "value": "10" } });
    let found = inspect(vec![slice(), fewer], &Profile::default(), None);
    assert_eq!(found[0].path, "spec.devices[0].consumesCounters[0].counters[m]");
}

#[test]
fn a_pool_is_judged_as_each_node_sees_it() {
    let both = [node("a"), node("b"), part("of-a", "a"), part("of-b", "b")];
    assert_eq!(inspect(both.to_vec(), &Profile::default(), None), []);
    // A node without a Node object sees its slices as well.
    assert_eq!(inspect(both[1..].to_vec(), &Profile::default(), None).len(), 1);
    let more = [both.as_slice(), &[part("more-of-b", "b")]].concat();
    let found = inspect(more, &Profile::default(), None);
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(only.code, Code::LinkPoolIncomplete);
    assert!(only.message.ends_with("so its devices are not given out on node `b`"), "{only:?}");
    // Devices of a node whose part of the pool is older are there as long as the node can use them.
    let mut newer = part("of-b", "b");
    newer["spec"]["pool"]["generation"] = json!(2);
    let held = claim("one", &["a-gpu"], &[]);
    let found = inspect(vec![node("a"), node("b"), part("of-a", "a"), newer, held], &Profile::default(), None);
    assert!(found.iter().all(|finding| finding.code != Code::CheckDeviceGone), "{found:?}");
}

#[test]
fn slices_of_nodes_that_are_not_there_are_named() {
    let found = inspect(vec![node("a"), part("of-b", "b")], &Profile::default(), None);
    assert_eq!(found.iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::RunUnknownNodes]);
    let mut selecting = part("anywhere", "b");
    selecting["spec"].as_object_mut().unwrap().remove("nodeName");
    let requirement = json!({ "key": "rack", "operator": "In", "values": ["r3"] });
    selecting["spec"]["nodeSelector"] = json!({ "nodeSelectorTerms": [{ "matchExpressions": [requirement] }] });
    let found = inspect(vec![node("a"), selecting.clone()], &Profile::default(), None);
    assert_eq!(found[0].message, "slices select nodes, and no Node that is given is one: `anywhere`");
    let mut there = node("a");
    there["metadata"]["labels"] = json!({ "rack": "r3" });
    assert_eq!(inspect(vec![there, selecting], &Profile::default(), None), []);
}

/// An object that could not be read still exists. `check` gives no advice that follows from its absence.
#[test]
fn nothing_is_concluded_from_what_could_not_be_read() {
    let broken = |mut object: Value, path: &str, value: Value| {
        *object.pointer_mut(path).unwrap() = value;
        object
    };
    let (held, used) = (claim("one", &["a"], &["p"]), pod("p", "one"));
    let unreadable = broken(held.clone(), "/status/allocation/devices/results/0/device", json!(5));
    let found = codes(vec![unreadable, used.clone(), slice()]);
    assert_eq!(found, [("read/wrong-type", "one".to_owned()), ("check/pod-without-claim", "p".to_owned())]);
    let found = codes(vec![held.clone(), broken(used.clone(), "/spec/nodeName", json!(5)), slice()]);
    assert_eq!(found, [("read/wrong-type", "p".to_owned())]);
    let found = codes(vec![held, used, broken(slice(), "/spec/devices/0/name", json!(5))]);
    assert_eq!(found, [("read/wrong-type", "devices".to_owned())]);
}

#[test]
fn what_a_dump_lacks_is_named() {
    let found = inspect(vec![pod("p", "one")], &Profile::default(), None);
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((only.code, only.severity), (Code::RunNotGiven, Severity::Warning));
    assert!(only.message.contains("`ResourceClaim`"), "{only:?}");
    assert!(
        only.hint.as_ref().unwrap().contains("kubectl get") && only.hint.as_ref().unwrap().contains("resourceclaims")
    );
    // Manifests are all that there is.
    let mut manifest = pod("p", "one");
    manifest["metadata"].as_object_mut().unwrap().remove("uid");
    assert!(inspect(vec![manifest], &Profile::default(), None).iter().all(|one| one.code != Code::RunNotGiven));
}

#[test]
fn what_is_said_of_a_pod_whose_claim_was_refused_is_no_advice_to_end_it() {
    let mut unreadable = claim("one", &["a"], &["p"]);
    unreadable["status"]["allocation"]["devices"]["results"][0]["device"] = json!(5);
    let found = inspect(vec![unreadable, pod("p", "one")], &Profile::default(), None);
    let of_pod =
        found.iter().find(|finding| finding.object.as_ref().is_some_and(|object| object.kind == "Pod")).unwrap();
    assert_eq!(of_pod.message, "whether the Pod may use claim `one` is not known: the claim was refused");
    assert_eq!(of_pod.severity, Severity::Warning);
    assert!(of_pod.hint.as_ref().unwrap().contains("leave the Pod alone"));
}

/// An object of a kind that is not known is named, and counts as refused where a known kind was probably meant.
#[test]
fn an_object_of_a_mistaken_kind_is_named_and_does_not_count_as_missing() {
    for (field, value, code) in [
        ("apiVersion", "resources.k8s.io/v1", Code::ReadUnknownKind),
        ("kind", "resourceclaim", Code::ValidateNotServed),
    ] {
        let mut mistaken = claim("one", &["a"], &["p"]);
        mistaken[field] = json!(value);
        let found = inspect(vec![mistaken, pod("p", "one"), node("n")], &Profile::default(), None);
        assert_eq!((found[0].code, found[0].object.as_ref().unwrap().name.as_str()), (code, "one"), "{found:?}");
        let of_pod = found.iter().find(|finding| finding.code == Code::CheckPodWithoutClaim).unwrap();
        assert_eq!(of_pod.message, "whether the Pod may use claim `one` is not known: the claim was refused");
    }
    let other = json!({ "apiVersion": "example.com/v1", "kind": "Widget", "metadata": { "name": "w" } });
    assert_eq!(inspect(vec![other], &Profile::default(), None), []);
}

/// One list of missing kinds from every question, and one command that brings them all.
#[test]
fn what_a_dump_lacks_is_the_same_for_every_question() {
    let mut waits = pod("p", "one");
    waits["spec"].as_object_mut().unwrap().remove("nodeName");
    let mut made = claim("one", &[], &["p"]);
    made["status"] = json!({});
    made["metadata"]["ownerReferences"] =
        json!([{ "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": true }]);
    for (dump, kinds, resources) in [
        (
            waits,
            "`Node`, `ResourceSlice`, `DeviceClass`, `ResourceClaim`",
            "nodes,resourceslices,deviceclasses,resourceclaims",
        ),
        (made, "`Node`, `ResourceSlice`, `DeviceClass`, `Pod`", "nodes,resourceslices,deviceclasses,pods"),
    ] {
        let mut engine = Engine::new(Profile::default(), Limits::default());
        engine.apply([dump.to_string().as_str()]);
        let remarks = engine.inquire(json!({ "kind": "unmodelled" })).unwrap();
        let remarks: Vec<Finding> = serde_json::from_value(remarks).unwrap();
        let checked = inspect(vec![dump], &Profile::default(), None);
        for found in [remarks, checked, engine.run().findings, engine.run().findings] {
            let lacks: Vec<_> = found.iter().filter(|finding| finding.code == Code::RunNotGiven).collect();
            let [only] = lacks.as_slice() else { panic!("{found:?}") };
            assert_eq!(only.message, format!("the dump holds no {kinds}, so nothing is known about them"));
            assert_eq!(only.hint, Some(format!("add the output of `kubectl get {resources} -A -o yaml`")));
        }
    }
}

/// A Pod that runs shows that its node is there.
#[test]
fn a_node_that_runs_pods_and_is_not_given_is_missing_from_the_dump() {
    let found = |phase: &str| {
        let mut user = pod("p", "one");
        user["status"]["phase"] = json!(phase);
        let mut found = inspect(
            vec![claim("one", &["a"], &["p"]), user, slice(), counters(), node("other")],
            &Profile::default(),
            None,
        );
        found.retain(|finding| finding.code != Code::RunNotGiven);
        found
    };
    assert_eq!(found("Pending").last().unwrap().code, Code::CheckPodWithoutNode);
    let found = found("Running");
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(only.message, "slices name nodes that are not given: `n`");
}

/// What `run` warns of or refuses is wrong here as well.
#[test]
fn names_that_nothing_has_and_objects_that_are_refused_are_reported() {
    let class =
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" }, "spec": {} });
    let waiting = |entry: Value| {
        let mut pod = pod("p", "x");
        pod["spec"].as_object_mut().unwrap().remove("nodeName");
        pod["spec"]["resourceClaims"] = json!([entry]);
        pod["status"] = json!({});
        pod
    };
    let requests =
        |class: &str| json!({ "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": class } }] } });
    let mut wanted = claim("one", &[], &[]);
    wanted["status"] = json!({});
    wanted["spec"] = requests("gqu");
    let template = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": { "name": "t", "namespace": "ns" },
        "spec": { "spec": requests("gqu") },
    });
    let priority = json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": "high" }, "value": 1 });
    let mut refused = waiting(json!({ "name": "e", "resourceClaimTemplateName": "t" }));
    refused["spec"]["priorityClassName"] = json!("hihg");
    let mut old = slice();
    old["spec"]["devices"][2]["basic"] = json!({});
    let mut other = claim("one", &["x"], &["p"]);
    other["status"]["allocation"]["devices"]["results"][0]["request"] = json!("s");
    for (objects, code, name, hint) in [
        (
            vec![waiting(json!({ "name": "e", "resourceClaimName": "oen" })), claim("one", &[], &[])],
            "run/missing-claim",
            "p",
            "did you mean `one`?",
        ),
        (
            vec![waiting(json!({ "name": "e", "resourceClaimTemplateName": "u" })), template.clone()],
            "run/missing-template",
            "p",
            "did you mean `t`?",
        ),
        (vec![wanted], "alloc/unknown-class", "one", "did you mean `gpu`?"),
        (vec![template], "alloc/unknown-class", "t", "did you mean `gpu`?"),
        (vec![priority, refused], "run/refused", "p", "did you mean `high`?"),
        (vec![old], "read/unknown-field", "devices", "`basic` is of"),
        (vec![other, pod("p", "one"), slice()], "link/unknown-request", "one", "did you mean `r`?"),
    ] {
        let found = inspect([objects, vec![class.clone(), node("n")]].concat(), &Profile::default(), None);
        let is_it = |finding: &&Finding| {
            finding.code.text() == code && finding.object.as_ref().is_some_and(|object| object.name == name)
        };
        let it = found.iter().find(is_it).unwrap_or_else(|| panic!("{code}: {found:?}"));
        assert!(it.hint.as_ref().is_some_and(|text| text.contains(hint)), "{it:?}");
    }
}

#[test]
fn a_template_that_is_copied_into_the_namespace_is_there() {
    let template = json!({ "apiVersion": "apportion.dev/v1alpha1", "kind": "ClusterResourceClaimTemplate",
        "metadata": { "name": "t" }, "spec": { "targets": [{ "names": ["ns"] }], "template": { "spec": {
            "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "c" } }] } } } } });
    let mut waiting = pod("p", "x");
    waiting["spec"]["resourceClaims"] = json!([{ "name": "e", "resourceClaimTemplateName": "t" }]);
    for (part, field) in [("spec", "nodeName"), ("metadata", "uid"), ("status", "phase")] {
        waiting[part].as_object_mut().unwrap().remove(field);
    }
    let found = |objects: Vec<Value>| codes(objects).into_iter().any(|(code, _)| code == "run/missing-template");
    assert!(found(vec![waiting.clone()]));
    assert!(!found(vec![template, waiting]));
}

#[test]
fn what_is_wrong_with_an_object_without_a_name_is_said_as_on_creation() {
    for object in [
        json!([1]),
        json!("x"),
        json!({}),
        json!({ "a": 1 }),
        json!({ "kind": "Pod" }),
        json!({ "apiVersion": "v1", "kind": "Pod" }),
    ] {
        let said = inspect(vec![object.clone()], &Profile::default(), None);
        let text = object.to_string();
        let found = Engine::new(Profile::default(), Limits::default()).submit([text.as_str()]).remove(0);
        let words =
            |finding: &Finding| (finding.code, finding.object.clone(), finding.path.clone(), finding.message.clone());
        let found: Vec<_> = found.iter().map(words).collect();
        assert!(
            !said.is_empty()
                && said.iter().filter(|one| one.code != Code::RunNotGiven).all(|one| found.contains(&words(one))),
            "{said:#?}\n{found:#?}"
        );
    }
}
