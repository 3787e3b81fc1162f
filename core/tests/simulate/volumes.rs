//! Claims whose volume is found, or made, once their Pod has a node.

use apportion_core::allocate::Limits;
use apportion_core::control_plane::{Command, Simulation};
use apportion_core::finding::{Code, ObjectRef};
use apportion_core::profile::{Profile, Version};
use serde_json::{Value, json};

use crate::support::{Ran, pod, run, run_with};

const CLASS: &str = "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: local }
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: Node
metadata: { name: a, labels: { disk: nvme } }
---
apiVersion: v1
kind: Node
metadata: { name: b }
---
apiVersion: v1
kind: PersistentVolume
metadata: { name: disk-1 }
spec:
  capacity: { storage: 10Gi }
  accessModes: [ReadWriteOnce]
  storageClassName: local
  local: { path: /disks/1 }
  nodeAffinity:
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: disk, operator: In, values: [nvme] }] }] }
---
";

/// A Pod with a claim of its own, of a class.
fn with_claim(name: &str, class: &str) -> String {
    let claim = format!(
        "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{ namespace: default, name: {name} }}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: {class}
  resources: {{ requests: {{ storage: 5Gi }} }}
---
"
    );
    let volumes = format!("  volumes: [{{ name: data, persistentVolumeClaim: {{ claimName: {name} }} }}]");
    format!("{claim}{}", pod(name, &volumes))
}

#[test]
fn a_free_volume_is_for_one_claim() {
    let ran = run(&format!("{CLASS}{}{}", with_claim("one", "local"), with_claim("two", "local")));
    assert_eq!(ran.pod("one").node.as_deref(), Some("a"));
    assert_eq!(ran.reason("two").code, Code::RunNodeUnsuitable);
    assert!(ran.reason("two").message.contains("no free volume for a claim of the Pod"), "{:?}", ran.reason("two"));
    assert!(!ran.has(Code::RunNotModelled), "{:?}", ran.report.findings);
}

#[test]
fn a_class_that_makes_volumes_makes_them_where_it_may_and_that_is_said() {
    let class = "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: made }
provisioner: disk.example.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies:
- matchLabelExpressions: [{ key: disk, values: [nvme] }]
---
";
    let ran = run(&format!("{CLASS}{class}{}{}", with_claim("one", "made"), with_claim("two", "made")));
    assert_eq!([ran.pod("one"), ran.pod("two")].map(|pod| pod.node.as_deref()), [Some("a"), Some("a")]);
    let said = ran.finding(Code::RunNotModelled);
    assert!(said.message.contains("its class is assumed to make a volume"), "{said:?}");
}

/// A StatefulSet's Pod gets a claim of each template, which stands for a volume of the same name; a claim that there is stays as it is.
#[test]
fn a_stateful_set_makes_claims_of_its_templates() {
    let set = "
apiVersion: apps/v1
kind: StatefulSet
metadata: { namespace: default, name: db }
spec:
  replicas: 2
  selector: { matchLabels: { app: db } }
  volumeClaimTemplates:
  - metadata: { name: data, labels: { tier: fast } }
    spec: { accessModes: [ReadWriteOnce], storageClassName: local, resources: { requests: { storage: 5Gi } } }
  template:
    metadata: { labels: { app: db } }
    spec:
      containers: [{ name: c, image: x }]
      volumes: [{ name: data, emptyDir: {} }, { name: scratch, emptyDir: {} }]
";
    let ran = run(&format!("{CLASS}{set}"));
    // The other Pod has no volume left.
    assert_eq!(ran.pod("db-0").node.as_deref(), Some("a"));
    assert!(ran.reason("db-1").message.contains("no free volume for a claim of the Pod"), "{:?}", ran.reason("db-1"));
    let names = |pod: &str| {
        let volumes = ran.pod_object(pod).spec.rest.get("volumes").and_then(Value::as_array).unwrap();
        volumes.iter().map(|volume| volume["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("db-0"), ["data", "scratch"]);
    let claim = |name: &str| ran.engine.get(&ObjectRef::new("PersistentVolumeClaim", "default", name)).unwrap();
    assert_eq!(claim("data-db-0")["metadata"]["labels"], json!({ "tier": "fast", "app": "db" }));
    assert_eq!(claim("data-db-0")["spec"]["volumeName"], "disk-1");
    assert_eq!(claim("data-db-1")["spec"].get("volumeName"), None);
    // With a claim that has a volume for any node, there is nothing to wait for.
    let given = "
apiVersion: v1
kind: PersistentVolume
metadata: { name: disk-2 }
spec: { capacity: { storage: 9Gi }, accessModes: [ReadWriteOnce], storageClassName: local }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { namespace: default, name: data-db-1 }
spec: { accessModes: [ReadWriteOnce], storageClassName: local, volumeName: disk-2 }
---
";
    let ran = run(&format!("{CLASS}{given}{set}"));
    assert_eq!([ran.pod("db-0"), ran.pod("db-1")].map(|pod| pod.node.is_some()), [true, true]);
}

/// A claim whose volume does not exist keeps its Pod Pending where volumes are known.
#[test]
fn a_claim_of_a_volume_that_does_not_exist_keeps_its_pod_pending() {
    let bound =
        with_claim("one", "local").replace("storageClassName: local", "storageClassName: local\n  volumeName: gone");
    let ran = run(&format!("{CLASS}{bound}"));
    assert!(ran.reason("one").message.contains("its PersistentVolume does not exist"), "{:?}", ran.reason("one"));
    let said = ran.pod("one").reasons.last().unwrap();
    let words = "0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).";
    assert!(said.message.contains(words), "{said:?}");
    // Without any volume it is not known which ones there are.
    let node = "apiVersion: v1\nkind: Node\nmetadata: { name: a }\n---";
    let ran = run(&format!("{node}{bound}"));
    assert_eq!(ran.pod("one").node.as_deref(), Some("a"));
    assert!(
        ran.finding(Code::RunNotModelled).message.contains("PersistentVolume `gone` of"),
        "{:?}",
        ran.report.findings
    );
    let lost = bound.replace("\n---\n", "\nstatus: { phase: Lost }\n---\n");
    assert!(run(&format!("{node}{lost}")).reason("one").message.contains("does not exist"));
}

/// A claim with `ReadWriteOncePod` is for one Pod of the cluster; one of a higher priority takes its place.
#[test]
fn a_claim_for_one_pod_alone_has_one_user() {
    let objects = "
apiVersion: v1
kind: Node
metadata: { name: a }
---
apiVersion: v1
kind: Node
metadata: { name: b }
---
apiVersion: v1
kind: PersistentVolume
metadata: { name: v }
spec: { capacity: { storage: 1Gi }, accessModes: [ReadWriteOncePod], nfs: { server: s, path: / } }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { namespace: default, name: data }
spec: { accessModes: [ReadWriteOncePod], volumeName: v, resources: { requests: { storage: 1Gi } } }
---
";
    let user = |name: &str, rest: &str| {
        let volumes = "  volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }]";
        pod(name, &format!("{volumes}\n{rest}"))
    };
    let first = user("first", "  nodeName: b");
    let ran = run(&format!("{objects}{first}{}", user("second", "")));
    let reason = ran.reason("second");
    assert!(reason.message.contains("another Pod uses PersistentVolumeClaim `data`"), "{reason:?}");
    let words = "2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod.";
    assert!(ran.pod("second").reasons.last().unwrap().message.contains(words), "{:?}", ran.pod("second"));
    let ran = run(&format!("{objects}{first}{}", user("second", "  priority: 9")));
    assert_eq!(ran.finding(Code::RunPreempted).object.as_ref().unwrap().name, "first");
    assert_eq!(ran.pod("second").node.as_deref(), Some("b"));
    let off = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{ plugins: { filter: { disabled: [{ name: VolumeRestrictions }] } } }]
---
";
    let ran = run(&format!("{off}{objects}{first}{}", user("second", "")));
    assert!(ran.pod("second").node.is_some());
}

/// A node, and its CSINode with a driver that can attach a number of volumes.
fn csi_node(name: &str, driver: &str, count: usize) -> String {
    format!(
        "
apiVersion: v1
kind: Node
metadata: {{ name: {name} }}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {{ name: {name} }}
spec: {{ drivers: [{{ name: {driver}, nodeID: id, topologyKeys: [], allocatable: {{ count: {count} }} }}] }}
---
"
    )
}

/// A volume of a driver, and a claim that has it.
fn csi_volume(name: &str) -> String {
    format!(
        "
apiVersion: v1
kind: PersistentVolume
metadata: {{ name: {name} }}
spec: {{ capacity: {{ storage: 1Gi }}, accessModes: [ReadWriteMany], csi: {{ driver: disk.example.com, volumeHandle: {name} }} }}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{ namespace: default, name: {name} }}
spec: {{ accessModes: [ReadWriteMany], volumeName: {name}, resources: {{ requests: {{ storage: 1Gi }} }} }}
---
"
    )
}

fn using(name: &str, claims: &[&str], rest: &str) -> String {
    let volume = |claim: &&str| format!("{{ name: {claim}, persistentVolumeClaim: {{ claimName: {claim} }} }}");
    let volumes = claims.iter().map(volume).collect::<Vec<_>>().join(", ");
    pod(name, &format!("  volumes: [{volumes}]\n{rest}"))
}

/// Whether a Pod got a node, or why it did not.
fn told(ran: &Ran, name: &str) -> String {
    let pod = ran.pod(name);
    pod.node.clone().unwrap_or_else(|| pod.reasons.last().unwrap().message.clone())
}

const TOO_MANY: &str = "node(s) exceed max volume count";

#[test]
fn a_node_attaches_as_many_volumes_as_it_can() {
    let objects = [csi_node("a", "disk.example.com", 2), csi_volume("v1"), csi_volume("v2"), csi_volume("v3")].concat();
    let there = using("there", &["v1", "v2"], "  nodeName: a");
    // A volume that is there already needs no more room.
    let ran = run(&[&objects, &there, &using("same", &["v2"], ""), &using("more", &["v2", "v3"], "")]
        .map(String::as_str)
        .concat());
    assert_eq!(told(&ran, "same"), "a");
    assert!(told(&ran, "more").contains(&format!("0/1 nodes are available: 1 {TOO_MANY}.")), "{}", told(&ran, "more"));
    assert!(ran.reason("more").message.contains("no room for more volumes of CSI driver `disk.example.com`"));
    // A Pod of a higher priority takes the place of one.
    let ran = run(&[&objects, &there, &using("more", &["v3"], "  priority: 9")].map(String::as_str).concat());
    assert_eq!(told(&ran, "more"), "a");
    assert_eq!(ran.finding(Code::RunPreempted).object.as_ref().unwrap().name, "there");
    // The limit is that of a driver and of a node.
    let other = [csi_node("a", "other.example.com", 1), objects.replace("name: a", "name: b")].concat();
    let ran = run(&[&other, &using("more", &["v1", "v2", "v3"], "")].map(String::as_str).concat());
    assert_eq!(told(&ran, "more"), "a");
}

#[test]
fn volumes_that_are_attached_without_a_pod_and_those_that_are_made_count() {
    let attached = "
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: { name: csi-1 }
spec: { attacher: disk.example.com, nodeName: a, source: { persistentVolumeName: v1 } }
---
";
    let class = "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: made }
provisioner: disk.example.com
volumeBindingMode: WaitForFirstConsumer
---
";
    let objects = [&csi_node("a", "disk.example.com", 2), class, &csi_volume("v1")].concat();
    let made = [with_claim("one", "made"), with_claim("two", "made")].concat();
    let ran = run(&[&objects, &made].map(String::as_str).concat());
    assert_eq!([told(&ran, "one"), told(&ran, "two")], ["a", "a"]);
    let ran = run(&[&objects, attached, &made].concat());
    assert_eq!(told(&ran, "one"), "a");
    assert!(told(&ran, "two").contains(TOO_MANY), "{}", told(&ran, "two"));
}

#[test]
fn a_driver_may_have_to_be_on_the_node() {
    let driver = "
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: { name: disk.example.com }
spec: { attachRequired: true, podInfoOnMount: false, storageCapacity: false, preventPodSchedulingIfMissing: true }
---
";
    let objects =
        [&csi_node("a", "other.example.com", 1), driver, &csi_volume("v1"), &using("p", &["v1"], "")].concat();
    let of = |version| run_with(&objects, Profile { version, ..Profile::default() });
    let said = told(&of(Version::V1_37), "p");
    assert!(said.contains("1 disk.example.com CSI driver is not installed on the node."), "{said}");
    assert_eq!(told(&of(Version::V1_36), "p"), "a");
}

/// A claim of a class that does not wait for a Pod gets the smallest volume, and one that gets none keeps its Pod from all nodes.
#[test]
fn a_claim_that_waits_for_no_pod_gets_a_volume_or_keeps_its_pod_pending() {
    let class = CLASS.replace("volumeBindingMode: WaitForFirstConsumer", "volumeBindingMode: Immediate");
    let unknown = CLASS.split_once("---").unwrap().1.replace("storageClassName: local", "storageClassName: ''");
    let (one, two) = (with_claim("one", "local"), with_claim("two", "local"));
    let ran = run(&format!("{class}{one}{two}"));
    assert_eq!(told(&ran, "one"), "a");
    let words = "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
    assert_eq!(told(&ran, "two"), words);
    let reason = ran.reason("two");
    assert!(reason.message.contains("PersistentVolumeClaim `two` has no volume, no free one suits it"), "{reason:?}");
    assert!(!ran.has(Code::RunNotModelled), "{:?}", ran.report.findings);
    // No class at all is one as well.
    let none = with_claim("one", "''");
    assert_eq!(told(&run(&format!("{unknown}{none}")), "one"), "a");
    // A volume that comes later is found.
    let mut simulation = Simulation::of(ran.engine.cluster(), Limits::default());
    let volume = ran.engine.get(&ObjectRef::new("PersistentVolume", "", "disk-1")).unwrap();
    let volume = json!({ "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": "disk-2" },
        "spec": { "capacity": { "storage": "9Gi" }, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
            "local": { "path": "/disks/2" }, "nodeAffinity": volume["spec"]["nodeAffinity"] } });
    simulation.run_until(simulation.now().plus_seconds(60));
    simulation.perform(Command::Create(volume)).unwrap();
    simulation.run_until(simulation.now().plus_seconds(60));
    let pods = simulation.server().cluster().pods();
    assert_eq!(pods.get(&("default".to_owned(), "two".to_owned())).unwrap().spec.node_name, "a");
}

/// A driver that says how much space there is has volumes made only where there is enough.
#[test]
fn a_volume_is_made_where_there_is_space() {
    let objects = "
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: { name: disk.example.com }
spec: { attachRequired: false, storageCapacity: true }
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: made }
provisioner: disk.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: Node
metadata: { name: a, labels: { rack: a } }
---
apiVersion: v1
kind: Node
metadata: { name: b, labels: { rack: b } }
---
";
    let space = |name: &str, rest: &str| {
        format!(
            "apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {{ namespace: kube-system, name: {name} }}\nstorageClassName: made\nnodeTopology: {{ matchLabels: {{ rack: {name} }} }}\n{rest}\n---\n"
        )
    };
    let all = |a: &str, b: &str| run(&[objects, &space("a", a), &space("b", b), &with_claim("one", "made")].concat());
    assert_eq!(told(&all("capacity: 4Gi", "capacity: 9Gi"), "one"), "b");
    assert_eq!(told(&all("capacity: 9Gi\nmaximumVolumeSize: 1Gi", "capacity: 5Gi"), "one"), "b");
    let none = all("capacity: 4Gi", "");
    let said = told(&none, "one");
    assert!(said.contains("0/2 nodes are available: 2 node(s) did not have enough free storage."), "{said}");
    assert!(none.reason("one").message.contains("too little space for a volume that is to be made"));
    let off = objects.replace("storageCapacity: true", "storageCapacity: false");
    assert_eq!(told(&run(&[&off, &with_claim("one", "made")].map(String::as_str).concat()), "one"), "a");
}
