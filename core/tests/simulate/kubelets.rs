//! Pods that come with a node, which the kubelet there may reject.

use apportion_core::finding::Code;

use crate::support::run;

const NODE: &str = "
apiVersion: v1
kind: Node
metadata: { name: n1, labels: { zone: a } }
spec: { taints: [{ key: bad, effect: NoExecute }, { key: full, effect: NoSchedule }] }
status: { allocatable: { cpu: '4', memory: 8Gi, pods: '110' } }
";

/// What is said about the Pods `a` and `b` on the node: the reason and the Pod that is the example.
fn rejections(a: &str, b: &str) -> Vec<(String, String)> {
    let pod = |name: &str, spec: &str| {
        let containers = if spec.contains("containers:") { "" } else { ", containers: [{ name: c }]" };
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{ name: {name} }}\nspec: {{ nodeName: n1, {spec}{containers} }}\n"
        )
    };
    let ran = run(&format!("{NODE}{}{}", pod("a", a), pod("b", b)));
    assert!(ran.report.pods.iter().all(|pod| pod.node.as_deref() == Some("n1")));
    let found =
        ran.report.findings.into_iter().filter(|one| one.code == Code::RunNotModelled && one.path == "spec.nodeName");
    let reason = |message: &str| message.split('`').nth(1).unwrap().to_owned();
    found.map(|one| (reason(&one.message), one.object.unwrap().name)).collect()
}

#[test]
fn a_pod_that_the_kubelet_rejects_is_named_with_the_reason() {
    let any = "tolerations: [{ operator: Exists }]";
    let asks = |what: &str| format!("{any}, containers: [{{ name: c, {what} }}]");
    let cpu = |amount: &str| asks(&format!("resources: {{ requests: {{ cpu: '{amount}' }} }}"));
    let of = |reason: &str, pod: &str| vec![(reason.to_owned(), pod.to_owned())];
    assert_eq!(rejections(any, any), []);
    assert_eq!(rejections(any, &format!("{any}, nodeSelector: {{ zone: b }}")), of("NodeAffinity", "b"));
    let term = "matchExpressions: [{ key: zone, operator: In, values: [b] }]";
    let required = format!("requiredDuringSchedulingIgnoredDuringExecution: {{ nodeSelectorTerms: [{{ {term} }}] }}");
    assert_eq!(
        rejections(&format!("{any}, affinity: {{ nodeAffinity: {{ {required} }} }}"), any),
        of("NodeAffinity", "a")
    );
    // The first takes what the second lacks.
    assert_eq!(rejections(&cpu("3"), &cpu("2")), of("OutOfcpu", "b"));
    assert_eq!(rejections(&cpu("5"), &cpu("2")), of("OutOfcpu", "a"));
    let port = asks("ports: [{ containerPort: 80, hostPort: 80 }]");
    assert_eq!(rejections(&port, &port), of("NodePorts", "b"));
    // Resources come before ports, Pods before `cpu` and `memory` before other resources.
    let both = asks("resources: { requests: { cpu: '3' } }, ports: [{ containerPort: 80, hostPort: 80 }]");
    assert_eq!(rejections(&both, &both), of("OutOfcpu", "b"));
    let more = asks("resources: { requests: { ephemeral-storage: 1Gi, memory: 9Gi, hugepages-2Mi: 2Mi } }");
    assert_eq!(rejections(&more, any), of("OutOfmemory", "a"));
    assert_eq!(
        rejections(&asks("resources: { requests: { hugepages-2Mi: 2Mi } }"), any),
        of("OutOfhugepages-2Mi", "a")
    );
    // For a critical Pod the kubelet evicts others.
    assert_eq!(rejections(&format!("priority: 2000001000, {}", cpu("5")), any), []);
    // `NoSchedule` is the scheduler's alone, and what no node states is left to devices.
    let well = "tolerations: [{ key: bad, operator: Exists }]";
    assert_eq!(rejections(well, "nodeSelector: { zone: a }"), of("TaintToleration", "b"));
    assert_eq!(rejections(&asks("resources: { requests: { example.com/gpu: '1' } }"), any), []);
    // A Pod of a real cluster was taken there.
    let node = NODE.replace("spec:", "# ");
    let stored = "---\napiVersion: v1\nkind: Pod\nmetadata: { name: a, uid: u }\nspec: { nodeName: n1, nodeSelector: { zone: b }, containers: [{ name: c }] }\n";
    let ran = run(&format!("{node}{stored}"));
    assert!(ran.report.findings.iter().all(|one| one.path != "spec.nodeName"), "{:?}", ran.report.findings);
}
