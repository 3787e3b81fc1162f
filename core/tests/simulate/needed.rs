//! How much fits after a change, and how many nodes that do not exist yet are needed.

use std::collections::BTreeMap;

use apportion_core::allocate::Limits;
use apportion_core::ask::{Difference, Fit, NodesNeeded, Place, Placing, ShapeNeeded, Totals};
use apportion_core::engine::Engine;
use apportion_core::explain::Explanation;
use apportion_core::profile::Profile;
use serde_json::{Value, json};

use super::support::{CLASS, apply};

/// An engine with a class, a template and nodes `node-N` with devices.
fn engine(nodes: &[(&str, usize)], more: &str) -> Engine {
    let mut engine = Engine::new(Profile::default(), Limits::default());
    apply(&mut engine, CLASS);
    let objects: Vec<Value> = nodes.iter().flat_map(|(name, devices)| node(name, *devices)).collect();
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    engine.apply(texts.iter().map(String::as_str));
    if !more.is_empty() {
        apply(&mut engine, more);
    }
    engine
}

fn node(name: &str, devices: usize) -> [Value; 2] {
    let device =
        |index: usize| json!({ "name": format!("gpu-{index}"), "attributes": { "model": { "string": "a100" } } });
    let devices: Vec<Value> = (0..devices).map(device).collect();
    [
        json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name } },
            "status": { "allocatable": { "cpu": "8", "pods": "110" } },
        }),
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": format!("{name}-gpu") },
            "spec": {
                "driver": "gpu.example.com", "nodeName": name, "devices": devices,
                "pool": { "name": name, "generation": 1, "resourceSliceCount": 1 },
            },
        }),
    ]
}

fn pod(name: &str, entries: &str, cpu: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{ name: {name}, namespace: ml }}
spec:
  containers: [{{ name: main, image: example.com/main, resources: {{ requests: {{ cpu: {cpu} }} }} }}]
  resourceClaims: {entries}
"
    )
}

fn template(name: &str, count: usize, selector: &str) -> String {
    let selectors = match selector {
        "" => String::new(),
        text => format!(", selectors: [{{ cel: {{ expression: '{text}' }} }}]"),
    };
    format!(
        "---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{ name: {name}, namespace: ml }}
spec:
  spec:
    devices:
      requests: [{{ name: gpu, exactly: {{ deviceClassName: gpu.example.com, count: {count}{selectors} }} }}]
"
    )
}

fn of(template: &str) -> String {
    format!("[{{ name: gpu, resourceClaimTemplateName: {template} }}]")
}

fn fit(engine: &Engine, mut ask: Value) -> Fit {
    ask["kind"] = json!("fit");
    serde_json::from_value(engine.inquire(ask).unwrap()).unwrap()
}

fn needed(engine: &Engine, mut ask: Value) -> NodesNeeded {
    ask["kind"] = json!("nodesNeeded");
    serde_json::from_value(engine.inquire(ask).unwrap()).unwrap()
}

fn refused(engine: &Engine, kind: &str, mut ask: Value) -> String {
    ask["kind"] = json!(kind);
    let findings = engine.inquire(ask).unwrap_err();
    format!("{}; {}", findings[0].message, findings[0].hint.as_deref().unwrap_or_default())
}

fn bounds(shape: &ShapeNeeded) -> (u64, Option<u64>) {
    (shape.at_least, shape.at_most)
}

const ONE_GPU: &str = "gpu.example.com";

#[test]
fn devices_of_a_node_that_comes_are_counted_and_those_of_one_that_goes_are_not() {
    let engine = engine(&[("node-a", 2), ("node-b", 1)], "");
    let ask = |supposing: Value| fit(&engine, json!({ "device": { "class": ONE_GPU }, "supposing": supposing })).total;
    assert_eq!(ask(json!({})).at_least, 3);
    assert_eq!(ask(json!({ "with": node("node-c", 4) })).at_least, 7);
    let goes = json!({ "without": [{ "kind": "Node", "namespace": "", "name": "node-a" }] });
    assert_eq!((ask(goes.clone()).at_least, ask(goes).at_most), (1, 1));
}

#[test]
fn without_a_name_the_only_template_is_counted() {
    let one = engine(&[("node-a", 5)], "");
    let names: Vec<String> = one.cluster().templates().keys().map(|key| key.1.clone()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(fit(&one, json!({})).total.at_least > 0);
    let two = engine(&[("node-a", 5)], &template("pair", 2, ""));
    assert!(
        refused(&two, "fit", json!({})).contains("there are several templates: "),
        "{}",
        refused(&two, "fit", json!({}))
    );
}

#[test]
fn the_smallest_number_of_equal_pods_is_proven() {
    let engine = engine(&[("node-a", 4)], &template("three", 3, ""));
    // One fits on node-a, and one on each new node: its fourth device is of no use.
    let subject = json!({ "kind": "ResourceClaimTemplate", "namespace": "ml", "name": "three" });
    let found = needed(&engine, json!({ "subject": subject, "copies": 5, "like": ["node-a"] }));
    assert_eq!((found.pods, found.placed), (5, 1));
    let shape = &found.shapes[0];
    assert_eq!(bounds(shape), (4, Some(4)));
    assert_eq!((shape.placed, shape.left_count), (5, 0));
    assert_eq!(shape.nodes.iter().map(|node| node.pods.len()).collect::<Vec<_>>(), [1, 1, 1, 1]);
    assert_eq!((shape.devices.total, shape.devices.used), (16, 12));
    let names: Vec<&str> = shape.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["node-a-new-1", "node-a-new-2", "node-a-new-3", "node-a-new-4"]);
}

#[test]
fn different_pods_together_need_as_many_nodes_as_their_devices() {
    let mut pods = template("three", 3, "") + &template("one", 1, "");
    for index in 0..3 {
        pods += &pod(&format!("a-{index}"), &of("three"), "1");
        pods += &pod(&format!("b-{index}"), &of("one"), "1");
    }
    let found = needed(&engine(&[("node-a", 4), ("node-b", 0)], &pods), json!({ "like": ["node-a"] }));
    // Four of the twelve devices are on node-a.
    assert_eq!(found.pods, 4);
    assert_eq!(bounds(&found.shapes[0]), (2, Some(2)));
}

#[test]
fn what_fits_on_no_node_is_told_apart_from_what_needs_more_of_them() {
    let pods = template("five", 5, "")
        + &template("two", 2, "")
        + &pod("big", &of("five"), "1")
        + &pod("small", &of("two"), "1");
    let engine = engine(&[("node-a", 0)], &pods);
    let shapes: Vec<Value> = node("type-x", 4).into_iter().chain(node("type-y", 8)).collect();
    let found = needed(&engine, json!({ "templates": shapes }));
    assert_eq!(found.shapes.iter().map(|shape| shape.shape.as_str()).collect::<Vec<_>>(), ["type-x", "type-y"]);
    let [four, eight] = found.shapes.as_slice() else { panic!() };
    assert_eq!((bounds(four), four.left[0].pod.as_str()), ((1, Some(1)), "ml/big"));
    assert!(four.left[0].why.contains('5'), "{}", four.left[0].why);
    assert_eq!((bounds(eight), eight.left_count), ((1, Some(1)), 0));
    assert_eq!(found.together, []);
}

#[test]
fn a_pod_without_a_place_has_the_first_line_of_its_explanation() {
    let tainted = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-a" },
        "spec": { "taints": [{ "key": "team", "effect": "NoSchedule" }] },
        "status": { "allocatable": { "cpu": "8", "pods": "110" } },
    });
    let five = format!("{}{}", template("five", 5, ""), pod("big", &of("five"), "1"));
    let mut engine = engine(&[("node-a", 2), ("node-b", 4)], &five);
    engine.apply([tainted.to_string().as_str()]);
    let found = needed(&engine, json!({ "subject": { "kind": "Pod", "namespace": "ml", "name": "big" } }));
    let [left] = found.left.as_slice() else { panic!("{found:?}") };
    let why =
        "asks for 5 GPUs; there are 6 GPUs, 4 can be had, at most 4 on one node: 2 are on nodes that refuse the Pod";
    assert_eq!(left.why, why);
    let explained = engine.inquire(json!({ "kind": "explain" })).unwrap();
    assert_eq!(explained[0]["plain"], left.why);
    let found = needed(&engine, json!({ "like": ["node-b"] }));
    assert!(found.shapes[0].left[0].why.starts_with("asks for 5 GPUs; there are 10 GPUs"), "{found:?}");
}

#[test]
fn shapes_of_which_none_is_enough_alone_are_enough_together() {
    let pods = template("four", 4, "")
        + &pod("devices", &of("four"), "1")
        + &pod("cores", "[]", "16")
        + &pod("more-devices", &of("four"), "1");
    let engine = engine(&[("node-a", 0)], &pods);
    let mut large = node("large", 0);
    large[0]["status"]["allocatable"]["cpu"] = json!("32");
    let shapes: Vec<Value> = node("gpus", 4).into_iter().chain(large).collect();
    let found = needed(&engine, json!({ "templates": shapes }));
    let counts: BTreeMap<&str, u64> = found.together.iter().map(|one| (one.shape.as_str(), one.nodes)).collect();
    assert_eq!(counts, BTreeMap::from([("gpus", 2), ("large", 1)]));
}

#[test]
fn a_limit_that_is_too_small_leaves_a_proven_bound() {
    let engine = engine(&[("node-a", 4)], "");
    let device = json!({ "class": ONE_GPU, "count": 4 });
    let found = needed(&engine, json!({ "device": device, "copies": 10, "like": ["node-a"], "upTo": 3 }));
    assert_eq!((found.placed, bounds(&found.shapes[0]), found.shapes[0].placed), (1, (9, None), 4));
}

#[test]
fn a_gang_gets_all_of_its_nodes_or_none() {
    let mut objects = template("four", 4, "");
    objects += "---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: { name: train, namespace: ml }
spec: { schedulingPolicy: { gang: { minCount: 3 } } }
";
    for index in 0..3 {
        objects += &pod(&format!("rank-{index}"), &of("four"), "1")
            .replace("spec:\n", "spec:\n  schedulingGroup: { podGroupName: train }\n");
    }
    let engine = engine(&[("node-a", 4)], &objects);
    let found = needed(&engine, json!({ "like": ["node-a"] }));
    assert_eq!((found.pods, found.placed), (3, 0));
    assert_eq!(bounds(&found.shapes[0]), (2, Some(2)));
    let group = json!({ "kind": "PodGroup", "namespace": "ml", "name": "train" });
    let copies = needed(&engine, json!({ "subject": group, "copies": 2, "like": ["node-a"] }));
    assert_eq!((copies.pods, bounds(&copies.shapes[0])), (6, (5, Some(5))));
    let member = json!({ "kind": "Pod", "namespace": "ml", "name": "rank-0" });
    let text = refused(&engine, "nodesNeeded", json!({ "subject": member, "like": ["node-a"] }));
    assert!(text.contains("podgroup/train"), "{text}");
}

#[test]
fn a_suspended_job_is_a_template_of_its_pods() {
    let job = template("one", 1, "")
        + "---
apiVersion: batch/v1
kind: Job
metadata: { name: sweep, namespace: ml, labels: { kueue.x-k8s.io/queue-name: q } }
spec:
  suspend: true
  parallelism: 6
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: main, image: example.com/main }]
      resourceClaims: [{ name: gpu, resourceClaimTemplateName: one }]
";
    let subject = json!({ "kind": "Job", "namespace": "ml", "name": "sweep" });
    let found = needed(&engine(&[("node-a", 2)], &job), json!({ "subject": subject, "like": ["node-a"] }));
    // The Job itself counts as admitted by Kueue: it has the devices of node-a, and its other Pods are set aside.
    assert_eq!((found.pods, found.placed, bounds(&found.shapes[0])), (6, 0, (3, Some(3))));
}

#[test]
fn all_pods_of_an_ordered_set_are_asked_about() {
    let set = template("one", 1, "")
        + "---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db, namespace: ml }
spec:
  replicas: 5
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      containers: [{ name: main, image: example.com/main }]
      resourceClaims: [{ name: gpu, resourceClaimTemplateName: one }]
";
    let engine = engine(&[("node-a", 1)], &set);
    // `db-0` runs, `db-1` waits, and the others are not made yet.
    let found = needed(&engine, json!({ "like": ["node-a"] }));
    assert_eq!((found.pods, found.placed, bounds(&found.shapes[0])), (4, 0, (4, Some(4))));
    let subject = json!({ "kind": "StatefulSet", "namespace": "ml", "name": "db" });
    let copies = needed(&engine, json!({ "subject": subject, "copies": 2, "like": ["node-a"] }));
    assert_eq!((copies.pods, bounds(&copies.shapes[0])), (10, (10, Some(10))));
}

#[test]
fn pods_that_wait_for_their_driver_have_a_place_on_a_new_node() {
    let engine = engine(&[("node-a", 0)], &(template("one", 1, "") + &pod("wanted", &of("one"), "1")));
    let [node, mut slice] = node("big", 1);
    slice["spec"]["devices"][0]["bindingConditions"] = json!(["attached"]);
    slice["spec"]["devices"][0]["bindingFailureConditions"] = json!(["broken"]);
    let found = needed(&engine, json!({ "templates": [node, slice] }));
    assert_eq!(
        (bounds(&found.shapes[0]), &*found.shapes[0].nodes[0].pods),
        ((1, Some(1)), &["ml/wanted".to_owned()][..])
    );
}

#[test]
fn new_nodes_are_filtered_as_the_profile_of_the_pod_does() {
    let named = |scheduler: &str| {
        let spec = format!("spec:\n  schedulerName: {scheduler}\n");
        pod(&format!("by-{scheduler}"), &of("one"), "1").replace("spec:\n", &spec)
    };
    let objects = template("one", 1, "")
        + "---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{ schedulerName: any, plugins: { filter: { disabled: [{ name: TaintToleration }] } } }]
" + &named("any")
        + &named("other");
    let engine = engine(&[("node-a", 0)], &objects);
    let [mut tainted, slice] = node("big", 1);
    tainted["spec"] = json!({ "taints": [{ "key": "gpu", "effect": "NoSchedule" }] });
    let found = needed(&engine, json!({ "templates": [tainted, slice] }));
    let shape = &found.shapes[0];
    assert_eq!((found.pods, bounds(shape), shape.placed), (2, (1, Some(1)), 1));
    assert_eq!(shape.left[0].pod, "ml/by-other");
}

#[test]
fn a_suggestion_changes_nothing_that_the_profile_of_the_pod_ignores() {
    let spec = "spec:\n  schedulerName: any\n";
    let objects = "---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{ schedulerName: any, plugins: { filter: { disabled: [{ name: TaintToleration }] } } }]
---
apiVersion: v1
kind: Node
metadata: { name: tainted }
spec: { taints: [{ key: gpu, effect: NoSchedule }] }
status: { allocatable: { cpu: '4', pods: '110' } }
"
    .to_owned()
        + &pod("wanted", "[]", "16").replace("spec:\n", spec);
    let answer = engine(&[], &objects).inquire(json!({ "kind": "explain", "suggestions": true })).unwrap();
    let explained: Vec<Explanation> = serde_json::from_value(answer).unwrap();
    let texts: Vec<&str> = explained[0].suggestions.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, ["ask for 4 of `cpu` instead of 16 in the Pod"]);
}

#[test]
fn attributes_that_only_a_driver_knows_make_the_answer_a_set_of_bounds() {
    let selector = r#"device.attributes["gpu.example.com"].model == "a100""#;
    let engine = engine(&[("node-a", 2)], &template("picky", 1, selector));
    let subject = json!({ "kind": "ResourceClaimTemplate", "namespace": "ml", "name": "picky" });
    let ask =
        |open: &[&str]| needed(&engine, json!({ "subject": subject, "copies": 6, "like": ["node-a"], "open": open }));
    let known = ask(&[]);
    assert_eq!((known.placed, bounds(&known.shapes[0]), known.shapes[0].at_best), (2, (2, Some(2)), None));
    let open = ask(&["gpu.example.com/model"]);
    // What is there keeps its values.
    assert_eq!(open.placed, 2);
    assert_eq!((bounds(&open.shapes[0]), open.shapes[0].at_best), ((2, None), Some(2)));
    let other = ask(&["gpu.example.com/serial"]);
    assert_eq!((bounds(&other.shapes[0]), other.shapes[0].at_best), ((2, Some(2)), Some(2)));
    assert!(refused(&engine, "nodesNeeded", json!({ "open": ["model"] })).contains("domain/name"));
}

#[test]
fn a_new_node_is_like_the_other_but_for_what_is_its_own() {
    let mut objects = engine(&[("node-a", 2)], "");
    let mut tired = node("node-b", 2);
    tired[0]["spec"] = json!({
        "unschedulable": true,
        "taints": [{ "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule" }, { "key": "team", "value": "ml", "effect": "NoSchedule" }],
    });
    objects.apply(tired.iter().map(Value::to_string).collect::<Vec<_>>().iter().map(String::as_str));
    let device = json!({ "class": ONE_GPU });
    let found = needed(&objects, json!({ "device": device, "copies": 4, "like": ["node-a", "node-b"] }));
    let [plain, tainted] = found.shapes.as_slice() else { panic!() };
    assert_eq!(bounds(plain), (1, Some(1)));
    // The cordon is a matter of that node, the taint is not.
    assert_eq!((tainted.left_count, tainted.placed), (2, 2));
    assert!(refused(&objects, "nodesNeeded", json!({ "like": ["node-x"] })).contains("there is no Node `node-x`"));
    assert!(refused(&objects, "nodesNeeded", json!({ "upTo": 5000 })).contains("at most 1000"));
}
#[test]
fn a_change_leaves_pods_where_they_are_or_places_all_anew() {
    let mut pods = template("one", 1, "");
    for name in ["a", "b"] {
        pods += &pod(name, &of("one"), "1");
    }
    let mut engine = engine(&[("node-a", 1), ("node-b", 1)], &pods);
    let ask = |engine: &Engine, placing: &str| -> Difference {
        let node = json!({ "kind": "Node", "namespace": "", "name": "node-a" });
        let answer = engine.inquire(json!({ "kind": "whatIf", "without": [node], "placing": placing }));
        serde_json::from_value(answer.unwrap()).unwrap()
    };
    let totals = |devices, used, pods, pending| Totals { devices, used, pods, pending };
    let as_given = ask(&engine, "asGiven");
    assert_eq!(as_given.placing, Some(Placing::Anew));
    assert_eq!((as_given.before, as_given.after), (totals(2, 2, 2, 0), totals(1, 1, 2, 1)));
    let kept = ask(&engine, "keep");
    assert_eq!((kept.before, kept.after), (totals(2, 2, 2, 0), totals(1, 1, 1, 0)));
    assert_eq!((kept.pods.len(), kept.pods[0].pod.as_str(), &kept.pods[0].after), (1, "ml/a", &Place::Absent));
    assert_eq!((kept.devices_lost.len(), &kept.devices_lost[0].users), (1, &vec!["ml/a".to_owned()]));
    engine.run();
    assert_eq!(ask(&engine, "asGiven").placing, Some(Placing::Keep));
    assert_eq!(ask(&engine, "asGiven").after, kept.after);
    assert_eq!(ask(&engine, "anew").after, as_given.after);
}

#[test]
fn what_a_controller_that_is_not_given_makes_instead_is_not_known() {
    let owner = "metadata: { uid: real-p, ownerReferences: [{ apiVersion: apps/v1, kind: StatefulSet, name: db, uid: real-s, controller: true }],";
    let running = pod("p", "[]", "1").replace("metadata: {", owner).replace("spec:\n", "spec:\n  nodeName: node-a\n");
    let engine = engine(&[("node-a", 0), ("node-b", 0)], &running);
    let node = json!({ "kind": "Node", "namespace": "", "name": "node-a" });
    let answer = engine.inquire(json!({ "kind": "whatIf", "without": [node] })).unwrap();
    let found: Difference = serde_json::from_value(answer).unwrap();
    let [gone] = found.pods.as_slice() else { panic!("{:?}", found.pods) };
    let why = "StatefulSet `db` is not given; whether the Pod that it makes instead has a place is not known";
    assert_eq!((&gone.after, gone.why.as_deref()), (&Place::Absent, Some(why)));
}

#[test]
fn a_daemon_set_has_no_pod_for_a_node_that_is_gone() {
    let daemons = template("one", 1, "")
        + "---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent, namespace: ml }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec:
      containers: [{ name: main, image: example.com/main }]
      resourceClaims: [{ name: gpu, resourceClaimTemplateName: one }]
";
    let engine = engine(&[("node-a", 1), ("node-b", 1)], &daemons);
    for placing in ["anew", "keep"] {
        let node = json!({ "kind": "Node", "namespace": "", "name": "node-a" });
        let answer = engine.inquire(json!({ "kind": "whatIf", "without": [node], "placing": placing }));
        let found: Difference = serde_json::from_value(answer.unwrap()).unwrap();
        assert_eq!(found.after, Totals { devices: 1, used: 1, pods: 1, pending: 0 }, "{placing}");
    }
}

#[test]
fn a_suggestion_is_a_procedure() {
    let pods = template("big", 3, "") + &pod("wanted", &of("big"), "1");
    let engine = engine(&[("node-a", 2)], &pods);
    let answer = engine.inquire(json!({ "kind": "explain", "suggestions": true })).unwrap();
    let explained: Vec<Explanation> = serde_json::from_value(answer).unwrap();
    let lower = explained[0].suggestions.iter().find(|one| !one.manifests.is_empty()).unwrap();
    let step = &lower.steps[0];
    assert_eq!(step.text, "replace ResourceClaimTemplate `ml/big`");
    assert_eq!(step.command.as_deref(), Some("kubectl replace --force -f -"));
    assert_eq!(step.manifest.as_ref(), lower.manifests.first());
}

#[test]
fn a_workload_without_a_number_of_pods_is_refused() {
    let spec = |kind: &str, more: &str| {
        format!(
            "---
apiVersion: apps/v1
kind: {kind}
metadata: {{ name: {}, namespace: ml }}
spec:
  selector: {{ matchLabels: {{ app: agent }} }}
  {more}
  template:
    metadata: {{ labels: {{ app: agent }} }}
    spec:
      containers: [{{ name: main, image: example.com/main }}]
      resourceClaims: [{{ name: gpu, resourceClaimTemplateName: one }}]
",
            kind.to_lowercase()
        )
    };
    let workloads = template("one", 1, "") + &spec("DaemonSet", "") + &spec("Deployment", "replicas: 0");
    let engine = engine(&[("node-a", 2), ("node-b", 0)], &workloads);
    let ask = |kind: &str| {
        let subject = json!({ "kind": kind, "namespace": "ml", "name": kind.to_lowercase() });
        refused(&engine, "nodesNeeded", json!({ "subject": subject, "like": ["node-a"] }))
    };
    assert_eq!(
        ask("DaemonSet"),
        "DaemonSet `daemonset` has one Pod on each suitable node, and cannot have more; `explain daemonset/daemonset` says on which nodes its Pods do not fit"
    );
    assert_eq!(
        ask("Deployment"),
        "Deployment `deployment` has no Pods; it has no replicas, or how many it has is not known"
    );
}

#[test]
fn a_node_that_nothing_names_does_not_come_or_go() {
    let claim = template("one", 1, "") + &pod("a", &of("one"), "1");
    let engine = engine(&[("node-a", 1)], &claim);
    let empty: Vec<Value> = Vec::new();
    let after = json!([{ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "ml" } }]);
    for objects in [json!(empty), after] {
        let answer = engine.inquire(json!({ "kind": "compare", "objects": objects })).unwrap();
        let found: Difference = serde_json::from_value(answer).unwrap();
        assert_eq!((found.nodes_added, found.nodes_removed), (vec![], vec!["node-a".to_owned()]));
    }
}

#[test]
fn a_taint_that_no_api_server_takes_is_refused() {
    let engine = engine(&[("node-a", 1)], "");
    let ask = |taint: &str| {
        let taints = json!([{ "devices": "gpu.example.com", "taint": taint }]);
        refused(&engine, "evictions", json!({ "taints": taints, "now": "2026-03-01T12:00:00Z" }))
    };
    for (taint, says) in [
        ("broken", "`broken` is not a taint"),
        (":NoExecute", "`:NoExecute` is not a taint"),
        ("a b:NoExecute", "the key `a b` of the taint "),
        ("a=b c:NoExecute", "the value `b c` of the taint "),
        ("a:Noexecute", "`Noexecute` is no effect of a taint: use one of NoExecute, NoSchedule, None"),
    ] {
        assert!(ask(taint).starts_with(says), "{}", ask(taint));
    }
    let taints = json!([{ "devices": "gpu.example.com", "taint": "example.com/a=b:None" }]);
    assert!(engine.inquire(json!({ "kind": "evictions", "taints": taints, "now": "2026-03-01T12:00:00Z" })).is_ok());
}
