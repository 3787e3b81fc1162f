//! What users do: what goes with an object that is deleted, the same in a script and in `what-if`; applied objects; drained nodes.

use apportion_core::allocate::Limits;
use apportion_core::ask::Difference;
use apportion_core::control_plane::script::script;
use apportion_core::control_plane::{Command, Simulation};
use apportion_core::engine::Engine;
use apportion_core::finding::ObjectRef;
use apportion_core::profile::Profile;
use serde_json::{Value, json};

use crate::support::{CLASS, apply, slice};

/// A Deployment whose Pod runs with a claim, as a cluster shows it.
const DUMP: &str = "
apiVersion: v1
kind: Node
metadata: { name: n1 }
---
apiVersion: v1
kind: Namespace
metadata: { name: ml }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: ml, uid: d1 }
spec: { replicas: 1, selector: { matchLabels: { app: web } }, template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: c }] } } }
---
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-1
  namespace: ml
  uid: r1
  labels: { app: web, pod-template-hash: '1' }
  ownerReferences: [{ apiVersion: apps/v1, kind: Deployment, name: web, uid: d1, controller: true }]
spec:
  replicas: 1
  selector: { matchLabels: { app: web, pod-template-hash: '1' } }
  template: { metadata: { labels: { app: web, pod-template-hash: '1' } }, spec: { containers: [{ name: c }] } }
---
apiVersion: v1
kind: Pod
metadata:
  name: web-1-a
  namespace: ml
  uid: p1
  labels: { app: web, pod-template-hash: '1' }
  ownerReferences: [{ apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r1, controller: true }]
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 3600
  containers: [{ name: c, resources: { claims: [{ name: g }] } }]
  resourceClaims: [{ name: g, resourceClaimTemplateName: one-gpu }]
status: { phase: Running, resourceClaimStatuses: [{ name: g, resourceClaimName: web-1-a-g }] }
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: web-1-a-g
  namespace: ml
  uid: c1
  annotations: { resource.kubernetes.io/pod-claim-name: g }
  finalizers: [resource.kubernetes.io/delete-protection]
  ownerReferences: [{ apiVersion: v1, kind: Pod, name: web-1-a, uid: p1, controller: true }]
spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu.example.com } }] } }
status:
  allocation: { devices: { results: [{ request: gpu, driver: gpu.example.com, pool: n1, device: gpu-0 }] } }
  reservedFor: [{ resource: pods, name: web-1-a, uid: p1 }]
---
";

fn engine() -> Engine {
    let mut engine = Engine::new(Profile::default(), Limits::default());
    apply(&mut engine, &format!("{CLASS}{}{DUMP}", slice("n1", 2)));
    engine
}

/// How many Pods and claims there are after `what-if`, and after the step `delete` and two hours.
fn left(step: &str) -> [(usize, usize); 2] {
    let engine = engine();
    let steps = script(&json!([{ "delete": step }])).unwrap();
    let object = &steps[0].object;
    let answer = engine.inquire(json!({ "kind": "whatIf", "without": [object] })).unwrap();
    let difference: Difference = serde_json::from_value(answer).unwrap();
    let claims = 1 - difference.claims.iter().filter(|claim| claim.after.is_none()).count();
    let pods = usize::try_from(difference.after.pods).unwrap();
    let mut simulation = Simulation::of(engine.cluster(), Limits::default());
    simulation.perform(steps[0].command.clone()).unwrap();
    simulation.run_until(simulation.now().plus_seconds(7200));
    let cluster = simulation.server().cluster();
    [(pods, claims), (cluster.pods().len(), cluster.claims().len())]
}

#[test]
fn what_is_owned_goes_with_its_owner() {
    assert_eq!(left("deploy/ml/web"), [(0, 0); 2]);
}

#[test]
fn a_claim_in_use_stays() {
    assert_eq!(left("claim/ml/web-1-a-g"), [(1, 1); 2]);
}

#[test]
fn a_namespace_goes_with_all_that_is_in_it() {
    assert_eq!(left("namespace/ml"), [(0, 0); 2]);
}

#[test]
fn nothing_is_created_in_a_namespace_that_was_deleted_or_is_going() {
    let pod = json!([{ "create": { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "late", "namespace": "ml" },
        "spec": { "containers": [{ "name": "c", "image": "x" }] } } }]);
    let create = |simulation: &mut Simulation| simulation.perform(script(&pod).unwrap().remove(0).command);
    let mut simulation = after(&json!([{ "delete": "namespace/ml" }]));
    assert_eq!(create(&mut simulation).unwrap_err().to_string(), "namespaces \"ml\" not found");
    let space = json!([{ "create": { "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "ml" } } }]);
    simulation.perform(script(&space).unwrap().remove(0).command).unwrap();
    create(&mut simulation).unwrap();

    let going = "apiVersion: v1\nkind: Namespace\nmetadata: { name: ml, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [a.b/c] }";
    let mut engine = engine();
    apply(&mut engine, going);
    let mut simulation = Simulation::of(engine.cluster(), Limits::default());
    let refused = create(&mut simulation).unwrap_err().to_string();
    assert!(refused.ends_with("in namespace ml because it is being terminated"), "{refused}");
}

#[test]
fn pods_go_with_their_node_and_are_made_again() {
    let [(pods, _), (others, _)] = left("node/n1");
    assert_eq!((pods, others), (1, 1));
    let engine = engine();
    let mut simulation = Simulation::of(engine.cluster(), Limits::default());
    let object = ObjectRef::new("Node", "", "n1");
    simulation.perform(Command::Delete { object, grace_seconds: None }).unwrap();
    assert!(simulation.server().cluster().pods().is_empty());
}

#[test]
fn what_goes_and_comes_is_replaced() {
    let class = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu.example.com" }, "spec": {} });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "ml", "name": "web-1-a" },
        "spec": { "nodeName": "n1", "containers": [{ "name": "c", "image": "x" }] } });
    let without = [
        ObjectRef::new("DeviceClass", "", "gpu.example.com"),
        ObjectRef::new("Pod", "ml", "web-1-a"),
        ObjectRef::new("Pod", "ml", "nobody"),
    ];
    let ask = |without: &[ObjectRef]| -> Result<Value, _> {
        engine().inquire(json!({ "kind": "whatIf", "without": without, "with": [class, pod] }))
    };
    let difference: Difference = serde_json::from_value(ask(&without[..2]).unwrap()).unwrap();
    assert!(difference.pods.iter().all(|pod| pod.pod != "ml/web-1-a"), "{:?}", difference.pods);
    assert!(ask(&without).is_err());
}

/// The cluster after a script and a while.
fn after(steps: &Value) -> Simulation {
    let mut simulation = Simulation::of(engine().cluster(), Limits::default());
    for step in script(steps).unwrap() {
        simulation.perform(step.command).unwrap();
        simulation.run_until(simulation.now().plus_seconds(60));
    }
    simulation
}

#[test]
fn what_is_left_out_of_an_applied_object_goes() {
    let deployment = |spec: Value| {
        json!({ "apply": { "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "api", "namespace": "ml" },
            "spec": { "selector": { "matchLabels": { "app": "api" } },
                "template": { "metadata": { "labels": { "app": "api" } }, "spec": spec } } } })
    };
    let node = |spec: Value| json!({ "apply": { "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n1" }, "spec": spec } });
    let mut simulation = after(&json!([
        deployment(
            json!({ "nodeSelector": { "zone": "nowhere" }, "containers": [{ "name": "c", "image": "x" }, { "name": "side", "image": "s" }] })
        ),
        node(json!({ "taints": [{ "key": "a", "effect": "NoSchedule" }] })),
    ]));
    let pod = |simulation: &Simulation| {
        let mut pods = simulation.server().list("Pod");
        pods.find(|pod| pod["metadata"]["labels"]["app"] == "api").unwrap()["spec"].clone()
    };
    assert_eq!(pod(&simulation)["nodeName"], Value::Null);
    let second = json!([deployment(json!({ "containers": [{ "name": "c", "image": "x" }] })), node(json!({}))]);
    for step in script(&second).unwrap() {
        simulation.perform(step.command).unwrap();
    }
    simulation.run_until(simulation.now().plus_seconds(600));
    assert_eq!(pod(&simulation)["nodeName"], "n1");
    assert_eq!(pod(&simulation)["containers"].as_array().unwrap().len(), 1);
}

#[test]
fn a_mirror_pod_stays_on_a_drained_node() {
    let pod = |name: &str, annotations: Value| {
        json!({ "create": { "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "ml", "name": name, "annotations": annotations },
            "spec": { "nodeName": "n1", "containers": [{ "name": "c", "image": "x" }] } } })
    };
    let mirror = json!({ "kubernetes.io/config.mirror": "hash" });
    let simulation = after(&json!([pod("kube-proxy", mirror), pod("plain", json!({})), { "drain": "n1" }]));
    let names: Vec<String> = simulation.server().cluster().pods().keys().map(|(_, name)| name.clone()).collect();
    assert!(names.contains(&"kube-proxy".to_owned()) && !names.contains(&"plain".to_owned()), "{names:?}");
}

#[test]
fn a_restart_says_which_kubelet_and_as_what() {
    let steps = script(&json!([
        { "restart": "kubelet", "node": "node-a", "version": "1.36", "gates": { "DRADeviceTaints": false } },
        { "restart": "kube-scheduler", "version": 1.36 },
        { "restart": "kubelet" },
    ]));
    let says: Vec<String> = steps.unwrap().into_iter().map(|step| step.says).collect();
    let wanted = [
        "restart kubelet of node node-a as version 1.36, DRADeviceTaints=false",
        "restart kube-scheduler as version 1.36",
        "restart kubelet",
    ];
    assert_eq!(says, wanted);
}
