//! The other questions: what if, how many more, who would be evicted, what an expression comes to, the cluster in one file.

use apportion_core::ask::{Difference, Eviction, ExpressionAnswer, Fit, Place, Usage, UsageOf};
use apportion_core::engine::Engine;
use apportion_core::wire;
use serde_json::{Value, json};

use super::cases;
use super::made::made;

fn engine(yaml: &str) -> Engine {
    let reading = apportion_yaml::read(yaml.as_bytes(), &apportion_yaml::Limits::default());
    assert_eq!(reading.problems, []);
    let mut engine = of(json!({}));
    let texts: Vec<String> = reading.documents.iter().map(|document| document.value.to_string()).collect();
    engine.apply(texts.iter().map(String::as_str));
    engine
}

pub(super) fn of(settings: Value) -> Engine {
    let (profile, limits) = wire::settings(settings).unwrap();
    Engine::new(profile, limits)
}

pub(super) fn ask<T: serde::de::DeserializeOwned>(engine: &Engine, inquiry: Value) -> T {
    serde_json::from_value(engine.inquire(inquiry).unwrap()).unwrap()
}

const CLUSTER: &str = "
apiVersion: v1
kind: Node
metadata: { name: node-a }
---
apiVersion: v1
kind: Node
metadata: { name: node-b }
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: gpu }
spec: { selectors: [{ cel: { expression: device.driver == 'gpu.example.com' } }] }
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: a }
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: { name: node-a, generation: 1, resourceSliceCount: 1 }
  devices:
  - { name: gpu-0, attributes: { model: { string: a100 }, numa: { int: 0 } } }
  - { name: gpu-1, attributes: { model: { string: a100 }, numa: { int: 1 } } }
  - { name: gpu-2, attributes: { model: { string: l4 }, numa: { int: 1 } } }
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { namespace: ml, name: one }
spec: { spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu } }] } } }
---
apiVersion: v1
kind: Pod
metadata: { namespace: ml, name: first }
spec:
  resourceClaims: [{ name: gpu, resourceClaimTemplateName: one }]
  containers: [{ name: main, image: x, env: [{ name: PASSWORD, value: secret }] }]
---
apiVersion: v1
kind: Pod
metadata: { namespace: ml, name: second }
spec:
  resourceClaims: [{ name: gpu, resourceClaimTemplateName: one }]
  containers: [{ name: main, image: x }]
";

#[test]
fn devices_that_share_hardware_are_counted_once() {
    // Each part in use draws from one of two counters, so that one whole device lacks the one and another one the other.
    let device = |name: &str, size: &str, counter: &str, value: &str| {
        let draws = json!([{ "counterSet": "s", "counters": { counter: { "value": value } } }]);
        json!({ "name": name, "attributes": { "size": { "string": size } }, "consumesCounters": draws })
    };
    let slice = |name: &str, field: &str, value: Value| {
        let pool = json!({ "name": "p", "generation": 1, "resourceSliceCount": 2 });
        let mut spec = json!({ "driver": "gpu.example.com", "nodeName": "n", "pool": pool });
        spec[field] = value;
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": name }, "spec": spec })
    };
    let claim = |name: &str, request: Value, status: Value| {
        let spec = json!({ "devices": { "requests": [{ "name": "r", "exactly": request }] } });
        let metadata = json!({ "namespace": "ml", "name": name });
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": spec, "status": status,
        })
    };
    let busy = |name: &str, device: &str| {
        let result = json!({ "request": "r", "driver": "gpu.example.com", "pool": "p", "device": device });
        let status = json!({ "allocation": { "devices": { "results": [result] } } });
        claim(name, json!({ "deviceClassName": "gpu" }), status)
    };
    let counters = json!({ "a": { "value": "2" }, "b": { "value": "2" } });
    let devices = [("part", "1"), ("whole", "2")]
        .into_iter()
        .flat_map(|(size, value)| ["a", "b"].map(|counter| device(&format!("{size}-{counter}"), size, counter, value)));
    let is_whole = "device.attributes['gpu.example.com'].size == 'whole'";
    let wanted = json!({ "deviceClassName": "gpu", "selectors": [{ "cel": { "expression": is_whole } }] });
    let objects = [
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n" } }),
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" }, "spec": {} }),
        slice("counters", "sharedCounters", json!([{ "name": "s", "counters": counters }])),
        slice("devices", "devices", devices.collect()),
        busy("one", "part-a"),
        busy("two", "part-b"),
        claim("wanted", wanted, json!({})),
    ];
    let mut engine = of(json!({}));
    engine.apply(objects.map(|object| object.to_string()).iter().map(String::as_str));
    let subject = json!({ "kind": "ResourceClaim", "namespace": "ml", "name": "wanted" });
    let answers: Value = ask(&engine, json!({ "kind": "explain", "subject": subject }));
    let plain = answers[0]["plain"].as_str().unwrap();
    assert_eq!(plain, "asks for a GPU with `size` \"whole\"; all 2 share hardware with devices in use");
}

#[test]
fn nothing_changed_changes_nothing() {
    for case in cases() {
        let difference: Difference = ask(&case.engine(), json!({ "kind": "whatIf" }));
        let Difference { placing, before, .. } = difference;
        let nothing = Difference { placing, before, after: before, ..Difference::default() };
        assert_eq!(difference, nothing, "{:?}", case.path);
    }
}

#[test]
fn a_cordoned_node_leaves_its_pods_pending_and_a_removed_pod_makes_room() {
    let engine = engine(CLUSTER);
    let difference: Difference = ask(&engine, json!({ "kind": "whatIf", "cordon": ["node-a"] }));
    assert_eq!(difference.pods.len(), 2);
    assert_eq!(difference.pods[0].before, Place::Node("node-a".to_owned()));
    assert_eq!(difference.pods[0].after, Place::Pending);
    assert!(difference.pods[0].why.is_some());
    let without = json!([{ "kind": "Pod", "namespace": "", "name": "first" }]);
    let difference: Difference = ask(&engine, json!({ "kind": "whatIf", "without": without }));
    assert_eq!(difference.pods[0].after, Place::Absent);
    // The second Pod gets what the first one had.
    assert!(difference.claims.iter().any(|claim| {
        claim.after.as_ref().is_some_and(|devices| devices == &["gpu.example.com/node-a/gpu-0".to_owned()])
    }));
    let gone = json!([{ "kind": "Node", "namespace": "", "name": "node-a" }]);
    let difference: Difference = ask(&engine, json!({ "kind": "whatIf", "without": gone }));
    assert_eq!(difference.nodes_removed, ["node-a"]);
    assert_eq!(difference.devices_removed.len(), 3);
    let unknown = json!([{ "kind": "Pod", "namespace": "ml", "name": "nobody" }]);
    assert!(engine.inquire(json!({ "kind": "whatIf", "without": unknown })).is_err());
}

#[test]
fn two_dumps_are_compared() {
    let before = engine(CLUSTER);
    let objects: Vec<Value> = CLUSTER
        .split("---")
        .filter(|text| !text.contains("node-b"))
        .map(|text| {
            let text = text.replace("- { name: gpu-2, attributes: { model: { string: l4 }, numa: { int: 1 } } }", "");
            apportion_yaml::read(text.as_bytes(), &apportion_yaml::Limits::default()).documents[0].value.clone()
        })
        .collect();
    let difference: Difference = ask(&before, json!({ "kind": "compare", "objects": objects }));
    assert_eq!((difference.nodes_removed.len(), difference.devices_removed.len()), (1, 1));
    assert_eq!(difference.pods, []);
}

#[test]
fn pods_with_tainted_devices_are_named_with_the_time_they_have() {
    let mut engine = engine(CLUSTER);
    engine.run();
    let taints = json!([{ "devices": "gpu.example.com/node-a/gpu-0", "taint": "broken=yes:NoExecute" }]);
    let inquiry = json!({ "kind": "evictions", "taints": taints, "now": "2026-01-01T00:00:00Z" });
    let evictions: Vec<Eviction> = ask(&engine, inquiry);
    assert_eq!(evictions.len(), 1);
    assert_eq!((evictions[0].pod.as_str(), evictions[0].in_seconds), ("ml/first", 0));
    assert_eq!(evictions[0].claims.len(), 1);
    let short = json!([{ "devices": "node-a/gpu-0", "taint": "broken=yes:NoExecute" }]);
    let inquiry = json!({ "kind": "evictions", "taints": short, "now": "2026-01-01T00:00:00Z" });
    assert_eq!(ask::<Vec<Eviction>>(&engine, inquiry), evictions, "a device as `explain` names it");
    let bad = json!({ "kind": "evictions", "taints": [{ "devices": "gpu.example.com", "taint": "broken" }] });
    assert!(engine.inquire(bad).is_err());
}

const UNPLAYED: &str = "
apiVersion: v1
kind: Node
metadata: { name: node-a }
status: { allocatable: { cpu: '8', pods: '20' } }
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: gpu }
spec:
  extendedResourceName: example.com/gpu
  selectors: [{ cel: { expression: device.driver == 'gpu.example.com' } }]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: a }
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: { name: node-a, generation: 1, resourceSliceCount: 1 }
  devices: [{ name: gpu-0 }, { name: gpu-1 }, { name: gpu-2 }, { name: gpu-3 }]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { namespace: ml, name: one }
spec: { spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu } }] } } }
---
apiVersion: v1
kind: Pod
metadata: { namespace: ml, name: alone }
spec:
  resourceClaims: [{ name: gpu, resourceClaimTemplateName: one }]
  containers: [{ name: main, image: x }]
---
apiVersion: v1
kind: Pod
metadata: { namespace: ml, name: plain }
spec:
  containers: [{ name: main, image: x, resources: { limits: { example.com/gpu: 1 } } }]
---
apiVersion: v1
kind: Pod
metadata: { namespace: ml, name: without }
spec:
  containers: [{ name: main, image: x }]
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: { namespace: ml, name: gang }
spec:
  schedulingPolicy: { gang: { minCount: 2 } }
  resourceClaims: [{ name: shared, resourceClaimTemplateName: one }]
---
apiVersion: v1
kind: Pod
metadata: { namespace: ml, name: member-0 }
spec:
  schedulingGroup: { podGroupName: gang }
  resourceClaims: [{ name: shared, resourceClaimTemplateName: one }]
  containers: [{ name: main, image: x }]
---
apiVersion: v1
kind: Pod
metadata: { namespace: ml, name: member-1 }
spec:
  schedulingGroup: { podGroupName: gang }
  resourceClaims: [{ name: shared, resourceClaimTemplateName: one }]
  containers: [{ name: main, image: x }]
";

#[test]
fn plain_manifests_are_played_before_anybody_is_evicted() {
    let taints = json!([{ "devices": "gpu.example.com", "taint": "broken:NoExecute" }]);
    let inquiry = json!({ "kind": "evictions", "taints": taints, "now": "2026-01-01T00:00:00Z" });
    let evictions: Vec<Eviction> = ask(&engine(UNPLAYED), inquiry.clone());
    let pods: Vec<&str> = evictions.iter().map(|eviction| eviction.pod.as_str()).collect();
    // A Pod of its own claim, the members of a group that share one, and one whose plain resource a device serves.
    assert_eq!(pods, ["ml/alone", "ml/member-0", "ml/member-1", "ml/plain"]);
    assert!(evictions.iter().all(|eviction| eviction.node == "node-a" && eviction.claims.len() == 1));
    let shared: Vec<&String> =
        evictions.iter().filter(|one| one.pod.contains("member")).map(|one| &one.claims[0]).collect();
    assert_eq!(shared[0], shared[1]);
    // Without a group nobody lets the Pods live first.
    let alone = UNPLAYED.split("---").filter(|text| !text.contains("PodGroup") && !text.contains("member-"));
    let evictions: Vec<Eviction> = ask(&engine(&alone.collect::<Vec<_>>().join("---")), inquiry);
    let pods: Vec<&str> = evictions.iter().map(|eviction| eviction.pod.as_str()).collect();
    assert_eq!(pods, ["ml/alone", "ml/plain"]);
    // Without a taint nobody has to go.
    let inquiry = json!({ "kind": "evictions", "now": "2026-01-01T00:00:00Z" });
    assert_eq!(ask::<Vec<Eviction>>(&engine(UNPLAYED), inquiry), []);
}

#[test]
fn an_expression_is_taken_apart() {
    let engine = engine(CLUSTER);
    let expression = "device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].model == 'a100' && device.attributes['gpu.example.com'].numa > 0";
    let inquiry = json!({ "kind": "expression", "expression": expression, "device": "gpu-0" });
    let answers: Vec<ExpressionAnswer> = ask(&engine, inquiry);
    let parts: Vec<(&str, bool)> = answers[0].parts.iter().map(|part| (part.value.as_str(), part.is_cause)).collect();
    assert_eq!(
        parts,
        [
            ("false", true),
            ("true", false),
            ("\"gpu.example.com\"", false),
            ("true", false),
            ("\"a100\"", false),
            ("false", true),
            ("0", false)
        ]
    );
    assert!(answers[0].cost.is_some() && answers[0].reads.len() == 3);
    let inquiry = json!({ "kind": "expression", "expression": "device.capacity", "device": "" });
    assert_eq!(ask::<Vec<ExpressionAnswer>>(&engine, inquiry).len(), 3);
    assert!(engine.inquire(json!({ "kind": "expression", "expression": "device.x" })).is_err());
}

#[test]
fn an_expression_is_cut_where_brackets_and_quotes_allow_it() {
    let engine = engine(CLUSTER);
    let expression =
        "(device.driver == 'x && y' && (true || device.allowMultipleAllocations)) && device.driver > \"a || b\"";
    let inquiry = json!({ "kind": "expression", "expression": expression, "device": "gpu-0" });
    let answers: Vec<ExpressionAnswer> = ask(&engine, inquiry);
    let texts: Vec<(u64, &str)> = answers[0].parts.iter().map(|part| (part.depth, part.text.as_str())).collect();
    assert_eq!(
        texts[1..],
        [
            (1, "(device.driver == 'x && y' && (true || device.allowMultipleAllocations))"),
            (2, "device.driver == 'x && y'"),
            (3, "device.driver"),
            (2, "(true || device.allowMultipleAllocations)"),
            (3, "device.allowMultipleAllocations"),
            (1, "device.driver > \"a || b\""),
            (2, "device.driver"),
        ]
    );
}

#[test]
fn the_number_that_fits_is_the_one_that_the_allocator_places() {
    for seed in 0..60 {
        let (settings, objects) = made(seed);
        let mut engine = of(settings);
        let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        engine.apply(texts.iter().map(String::as_str));
        let subject = json!({ "kind": "ResourceClaim", "namespace": "ml", "name": "wanted" });
        let fit: Fit = ask(&engine, json!({ "kind": "fit", "subject": subject }));
        assert!(fit.total.at_least <= fit.total.at_most, "seed {seed}");
        let claim = objects.iter().find(|object| object["metadata"]["name"] == "wanted").unwrap();
        let mut sum = 0;
        for row in &fit.rows {
            assert_eq!(row.fits.at_least, row.fits.at_most, "seed {seed}");
            for (count, fits) in [(row.fits.at_least, true), (row.fits.at_least + 1, false)] {
                let claims: Vec<&Value> = (0..count).map(|_| claim).collect();
                let question = wire::question(json!({ "claims": claims, "nodes": [row.name] })).unwrap();
                let status = engine.allocate(&question).to_json()["status"] == "allocated";
                assert_eq!(status, fits, "seed {seed}: {count} on {}", row.name);
            }
            sum += row.fits.at_least;
        }
        assert_eq!((fit.total.at_least, fit.total.at_most), (sum, sum), "seed {seed}");
    }
}

const PARTITIONS: &str = "
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: part }
spec:
  selectors:
  - cel: { expression: \"device.attributes['gpu.example.com'].size == 3\" }
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: counters }
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: { name: node-a, generation: 1, resourceSliceCount: 2 }
  sharedCounters: [{ name: board, counters: { slices: { value: '7' }, memory: { value: 8Gi } } }]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: { name: devices }
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: { name: node-a, generation: 1, resourceSliceCount: 2 }
  devices:
  - { name: p0, attributes: { size: { int: 3 } }, consumesCounters: [{ counterSet: board, counters: { slices: { value: '3' }, memory: { value: 4Gi } } }] }
  - { name: p1, attributes: { size: { int: 3 } }, consumesCounters: [{ counterSet: board, counters: { slices: { value: '3' }, memory: { value: 4Gi } } }] }
  - { name: p2, attributes: { size: { int: 3 } }, consumesCounters: [{ counterSet: board, counters: { slices: { value: '3' }, memory: { value: 4Gi } } }] }
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { namespace: ml, name: part }
spec: { spec: { devices: { requests: [{ name: part, exactly: { deviceClassName: part } }] } } }
";

#[test]
fn counters_that_no_further_claim_can_use_are_told() {
    let subject = json!({ "kind": "ResourceClaimTemplate", "name": "part" });
    let fit: Fit = ask(&engine(PARTITIONS), json!({ "kind": "fit", "subject": subject }));
    assert_eq!((fit.total.at_least, fit.total.at_most), (2, 2));
    let left: Vec<(&str, &str, &str)> =
        fit.remainders.iter().map(|rest| (&*rest.name, &*rest.left, &*rest.total)).collect();
    assert_eq!(left, [("memory", "0", "8Gi"), ("slices", "1", "7")]);
    assert!(fit.remainders.iter().all(|rest| rest.pool == "node-a" && rest.of == "board"));
}

/// A node that is cordoned keeps its devices in the totals of their class, and one without room for a Pod takes no claim.
#[test]
fn devices_of_nodes_that_take_no_pod_are_of_their_class_and_do_not_fit() {
    let node = "metadata: { name: node-a }";
    let usage: Usage = ask(
        &engine(&CLUSTER.replacen(node, &format!("{node}\nspec: {{ unschedulable: true }}"), 1)),
        json!({ "kind": "usage" }),
    );
    let gpu = usage.rows.iter().find(|row| row.of == UsageOf::Class).map(|row| row.devices);
    assert_eq!(gpu.map(|devices| (devices.total, devices.stranded)), Some((3, 3)), "{usage:#?}");
    let full = CLUSTER.replacen(node, &format!("{node}\nstatus: {{ allocatable: {{ pods: '0' }} }}"), 1);
    let fit: Fit =
        ask(&engine(&full), json!({ "kind": "fit", "subject": { "kind": "", "namespace": "", "name": "" } }));
    assert_eq!((fit.total.at_least, fit.total.at_most), (0, 0), "{fit:#?}");
}

/// A Pod of higher priority that its workload makes again takes the device again, whether or not the workload is given.
#[test]
fn freeing_the_claim_of_a_pod_that_comes_back_first_is_no_suggestion() {
    let base = CLUSTER.split("---\napiVersion: v1\nkind: Pod").next().unwrap();
    let one = base.replace("  - { name: gpu-1, attributes: { model: { string: a100 }, numa: { int: 1 } } }\n", "");
    let one = one.replace("  - { name: gpu-2, attributes: { model: { string: l4 }, numa: { int: 1 } } }\n", "");
    let spec =
        "resourceClaims: [{ name: gpu, resourceClaimTemplateName: one }], containers: [{ name: main, image: x }]";
    let late =
        format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{ namespace: ml, name: late }}\nspec: {{ {spec} }}\n");
    let workload = format!(
        "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{ namespace: ml, name: web }}\nspec: {{ template: {{ metadata: {{ labels: {{ app: web }} }}, spec: {{ priority: 9, {spec} }} }} }}\n"
    );
    let owned = format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{ namespace: ml, name: web-1, uid: u1, ownerReferences: [{{ apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u2, controller: true }}] }}\nspec: {{ priority: 9, {spec} }}\n"
    );
    let bare = owned.replace(
        ", ownerReferences: [{ apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u2, controller: true }]",
        "",
    );
    for (other, is_offered) in [(workload, false), (owned, false), (bare, true)] {
        let engine = engine(&[one.as_str(), &other, &late].concat());
        let subject = json!({ "kind": "Pod", "namespace": "ml", "name": "late" });
        let found: Value = ask(&engine, json!({ "kind": "explain", "subject": subject, "suggestions": true }));
        let suggestions = found[0]["suggestions"].as_array().unwrap();
        let frees = suggestions.iter().any(|one| one["text"].as_str().unwrap().starts_with("free claim"));
        assert_eq!(frees, is_offered, "{other} {suggestions:#?}");
    }
}

/// What a dump does not hold is named beside every answer, and no claim of it is placed to see how much is used.
#[test]
fn what_a_dump_does_not_hold_is_told_beside_the_answers() {
    let dump = CLUSTER.replacen("name: first }", "name: first, uid: u1 }", 1);
    let engine = engine(&dump);
    let remarks: Value = ask(&engine, json!({ "kind": "unmodelled" }));
    assert!(
        remarks[0]["message"].as_str().unwrap_or_default().starts_with("the dump holds no `ResourceClaim`"),
        "{remarks:#}"
    );
    let usage: Usage = ask(&engine, json!({ "kind": "usage" }));
    assert!(!usage.is_played && usage.devices.used == 0, "{usage:#?}");
}

#[test]
fn a_snapshot_gives_the_same_answers_and_holds_no_secret() {
    for case in cases() {
        let mut first = case.engine();
        let snapshot = first.inquire(json!({ "kind": "snapshot" })).unwrap();
        let mut second = of(snapshot["settings"].clone());
        let texts: Vec<String> = snapshot["objects"].as_array().unwrap().iter().map(Value::to_string).collect();
        second.apply(texts.iter().map(String::as_str));
        assert_eq!(second.inquire(json!({ "kind": "snapshot" })).unwrap(), snapshot, "{:?}", case.path);
        let explain = json!({ "kind": "explain" });
        assert_eq!(first.inquire(explain.clone()), second.inquire(explain), "{:?}", case.path);
        // Names of a Deployment's Pods hang on its whole Pod template, of which a snapshot leaves out what may be secret.
        if first.cluster().workloads().keys().any(|(kind, ..)| kind == "Deployment") {
            continue;
        }
        let report = |engine: &mut Engine| serde_json::to_string_pretty(&engine.run()).unwrap();
        let (first, second) = (report(&mut first), report(&mut second));
        let difference = first.lines().zip(second.lines()).find(|(one, other)| one != other);
        assert_eq!(difference, None, "{:?}", case.path);
    }
    let snapshot = engine(CLUSTER).inquire(json!({ "kind": "snapshot" })).unwrap().to_string();
    assert!(!snapshot.contains("secret") && snapshot.contains("gpu-2"));
}

/// Objects with `secret` in every place where drivers, containers and tools leave their own.
const SECRETS: &str = "
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { namespace: ml, name: one, annotations: { a: secret }, managedFields: [{ manager: secret }] }
spec:
  devices:
    requests: [{ name: gpu, exactly: { deviceClassName: gpu } }]
    config: [{ opaque: { driver: gpu.example.com, parameters: { key: secret } } }]
status:
  allocation: { devices: { results: [{ request: gpu, driver: gpu.example.com, pool: node-a, device: gpu-0 }] } }
  devices:
  - driver: gpu.example.com
    pool: node-a
    device: gpu-0
    data: { key: secret }
    networkData: { interfaceName: secret, hardwareAddress: secret }
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { namespace: ml, name: made }
spec:
  metadata: { annotations: { a: secret } }
  spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu } }] } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { namespace: ml, name: work, annotations: { a: secret } }
spec:
  selector: { matchLabels: { app: work } }
  template:
    metadata: { labels: { app: work }, annotations: { a: secret } }
    spec:
      initContainers: [{ name: first, image: x, args: [secret], envFrom: [{ secretRef: { name: secret } }] }]
      containers: [{ name: main, image: x, command: [secret], env: [{ name: A, value: secret }] }]
      imagePullSecrets: [{ name: secret }]
      volumes: [{ name: a, secret: { secretName: secret } }]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { namespace: ml, name: kept }
spec:
  selector: { matchLabels: { app: kept } }
  template:
    metadata: { labels: { app: kept } }
    spec: { containers: [{ name: main, image: x, lifecycle: { preStop: { exec: { command: [secret] } } } }] }
  volumeClaimTemplates: [{ metadata: { name: a, annotations: { a: secret } }, spec: {} }]
";

#[test]
fn a_snapshot_leaves_secrets_out_wherever_they_stand() {
    let engine = engine(&format!("{CLUSTER}---{SECRETS}"));
    for anonymize in [false, true] {
        let snapshot: Value = ask(&engine, json!({ "kind": "snapshot", "anonymize": anonymize }));
        assert_eq!(snapshot["objects"].as_array().unwrap().len(), 11, "{snapshot:#}");
        assert!(!snapshot.to_string().contains("secret"), "{snapshot:#}");
    }
}

#[test]
fn an_anonymous_snapshot_gives_the_same_answers_under_other_names() {
    let mut renamed = 0;
    for case in cases() {
        let mut first = case.engine();
        let snapshot = first.inquire(json!({ "kind": "snapshot", "anonymize": true })).unwrap();
        let mut second = of(snapshot["settings"].clone());
        let texts: Vec<String> = snapshot["objects"].as_array().unwrap().iter().map(Value::to_string).collect();
        let findings = second.apply(texts.iter().map(String::as_str));
        assert_eq!(findings.iter().flatten().next(), None, "{:?}", case.path);
        // Names of Pods that are made for a workload hang on its name.
        if !first.cluster().workloads().is_empty() {
            continue;
        }
        let placed = |engine: &mut Engine| -> Vec<(bool, Vec<String>)> {
            let report = engine.run();
            let devices = |pod: &apportion_core::ask::PodReport| {
                let claims = pod.claims.iter().filter_map(|claim| claim.claim.clone());
                let of_claim = |name: String| {
                    let all = report.claims.iter();
                    let own = all.filter(move |claim| claim.namespace == pod.namespace && claim.name == name);
                    own.flat_map(|claim| {
                        claim.devices.iter().map(|device| format!("{}/{}", device.driver, device.device))
                    })
                };
                claims.flat_map(of_claim).collect()
            };
            report.pods.iter().map(|pod| (pod.node.is_some(), devices(pod))).collect()
        };
        assert_eq!(placed(&mut first), placed(&mut second), "{:?}", case.path);
        let text = snapshot["objects"].to_string();
        for (namespace, name) in first.cluster().pods().keys() {
            assert!(
                !text.contains(&format!("\"{name}\"")) && !text.contains(&format!("\"{namespace}\"")),
                "{:?}",
                case.path
            );
            renamed += 1;
        }
    }
    assert!(renamed > 40, "{renamed}");
}

/// What is said of an object of a case, beside the devices.
fn stage(yaml: &str, subject: Value) -> Vec<Value> {
    let found: Value = ask(&engine(yaml), json!({ "kind": "explain", "subject": subject }));
    found[0]["stage"].as_array().unwrap().clone()
}

#[test]
fn a_claim_that_is_being_deleted_is_not_missing() {
    let yaml = include_str!("cases/claim-deleting.yaml");
    let stage = stage(yaml, json!({ "kind": "ResourceClaim", "namespace": "ml", "name": "wanted" }));
    assert_eq!(
        stage[0]["message"],
        "claim `wanted` is being deleted, held by the finalizer `resource.kubernetes.io/delete-protection`"
    );
}

#[test]
fn an_entry_that_names_a_claim_of_its_group_gets_none_of_its_own() {
    let own = "{ name: gpu, resourceClaimTemplateName: other }";
    let yaml = include_str!("cases/gang-claim-mismatch.yaml");
    let subject = json!({ "kind": "Pod", "namespace": "ml", "name": "w0" });
    let codes = |yaml: &str| -> Vec<Value> {
        stage(yaml, subject.clone()).iter().map(|finding| finding["code"].clone()).collect()
    };
    assert_eq!(codes(yaml), ["link/near-group-claim"]);
    assert_eq!(codes(&yaml.replace(own, "{ name: gpu, podGroupResourceClaim: wrong }")), ["run/group-claim"]);
}
