//! Claims whose volume is found, or made, once their Pod has a node.

use apportion_core::finding::Code;

use crate::support::{pod, run};

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
