//! Manifests in, a cluster and its report out.

use apportion_core::allocate::Limits;
use apportion_core::ask::{ClaimReport, PodReport, Report};
use apportion_core::cluster::Cluster;
use apportion_core::engine::Engine;
use apportion_core::finding::{Code, Finding, Severity};
use apportion_core::profile::{Profile, Ranking};
use serde_json::Value;

/// A cluster after a run.
pub(crate) struct Ran {
    /// The engine, to look at objects or to run again.
    pub(crate) engine: Engine,
    /// What the run reported.
    pub(crate) report: Report,
}

/// Runs manifests with the default profile.
pub(crate) fn run(yaml: &str) -> Ran {
    run_with(yaml, Profile::default())
}

/// Runs manifests with the default profile, where of the nodes that fit the first by name is taken.
pub(crate) fn run_first(yaml: &str) -> Ran {
    run_with(yaml, Profile { placement: Ranking::First, ..Profile::default() })
}

/// Runs manifests with a profile, then runs once more: the second run must change nothing.
pub(crate) fn run_with(yaml: &str, profile: Profile) -> Ran {
    let mut engine = Engine::new(profile, Limits::default());
    apply(&mut engine, yaml);
    let report = engine.run();
    let mut again = engine.clone();
    let second = again.run();
    // What was said about decisions is not said again once they are taken.
    let facts = |report: &Report| (report.nodes.clone(), report.pods.clone(), report.claims.clone());
    assert_eq!(facts(&report), facts(&second), "a second run reports something else");
    assert_eq!(state(engine.cluster()), state(again.cluster()), "a second run changes the cluster");
    Ran { engine, report }
}

/// Documents of a YAML text.
pub(crate) fn documents(yaml: &str) -> Vec<Value> {
    let reading = apportion_yaml::read(yaml.as_bytes(), &apportion_yaml::Limits::default());
    assert_eq!(reading.problems, [], "{yaml}");
    reading.documents.into_iter().map(|document| document.value).collect()
}

/// Feeds manifests; none may be refused.
pub(crate) fn apply(engine: &mut Engine, yaml: &str) {
    let texts: Vec<String> = documents(yaml).iter().map(ToString::to_string).collect();
    for findings in engine.apply(texts.iter().map(String::as_str)) {
        let errors: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

fn state(cluster: &Cluster) -> String {
    format!("{:?} {:?} {:?} {:?}", cluster.nodes(), cluster.workloads(), cluster.pods(), cluster.claims())
}

impl Ran {
    /// Names of all Pods in their order of scheduling.
    pub(crate) fn pod_names(&self) -> Vec<&str> {
        self.report.pods.iter().map(|pod| pod.name.as_str()).collect()
    }

    /// The Pod of that name.
    pub(crate) fn pod(&self, name: &str) -> &PodReport {
        self.report.pods.iter().find(|pod| pod.name == name).unwrap_or_else(|| panic!("no Pod {name}"))
    }

    /// The Pod itself.
    pub(crate) fn pod_object(&self, name: &str) -> &apportion_core::api::pod::Pod {
        let mut pods = self.engine.cluster().pods().values();
        pods.find(|pod| pod.metadata.name == name).unwrap_or_else(|| panic!("no Pod {name}"))
    }

    /// The claim of an entry of a Pod.
    pub(crate) fn claim_of(&self, pod: &str, entry: &str) -> &ClaimReport {
        let pod = self.pod(pod);
        let entry = pod.claims.iter().find(|claim| claim.name == entry).unwrap();
        let name = entry.claim.as_ref().unwrap();
        let mut claims = self.report.claims.iter();
        claims.find(|claim| claim.namespace == pod.namespace && claim.name == *name).unwrap()
    }

    /// The claim itself.
    pub(crate) fn claim_object(&self, namespace: &str, name: &str) -> &apportion_core::api::claim::ResourceClaim {
        self.engine.cluster().claims().get(&(namespace.to_owned(), name.to_owned())).unwrap()
    }

    /// Names of nodes.
    pub(crate) fn node_names(&self) -> Vec<&str> {
        self.report.nodes.iter().map(|node| node.name.as_str()).collect()
    }

    /// The finding about the run with this code.
    pub(crate) fn finding(&self, code: Code) -> &Finding {
        let findings = &self.report.findings;
        findings.iter().find(|finding| finding.code == code).unwrap_or_else(|| panic!("no {code} in {findings:?}"))
    }

    /// Whether some finding about the run has this code.
    pub(crate) fn has(&self, code: Code) -> bool {
        self.report.findings.iter().any(|finding| finding.code == code)
    }

    /// The first reason why a Pod is Pending.
    pub(crate) fn reason(&self, pod: &str) -> &Finding {
        let pod = self.pod(pod);
        assert_eq!(pod.node, None, "{} has a node", pod.name);
        &pod.reasons[0]
    }
}

/// Codes of findings in order.
pub(crate) fn codes(findings: &[Finding]) -> Vec<Code> {
    findings.iter().map(|finding| finding.code).collect()
}

/// A class that every device of a driver belongs to, whose selector the allocator knows without CEL.
pub(crate) const CLASS: &str = "
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: gpu.example.com }
spec: { selectors: [{ cel: { expression: 'device.driver == \"gpu.example.com\"' } }] }
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: { namespace: default, name: one-gpu }
spec: { spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu.example.com } }] } } }
---
";

/// A slice with devices `gpu-0`, `gpu-1` .. on one node.
pub(crate) fn slice(node: &str, devices: usize) -> String {
    let devices: Vec<String> = (0..devices).map(|number| format!("{{ name: gpu-{number} }}")).collect();
    format!(
        "
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{ name: {node}-gpu }}
spec:
  driver: gpu.example.com
  nodeName: {node}
  pool: {{ name: {node}, generation: 1, resourceSliceCount: 1 }}
  devices: [{}]
---
",
        devices.join(", ")
    )
}

/// A Pod in `default` with further lines of its spec.
pub(crate) fn pod(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name} }}\nspec:\n  containers: [{{ name: c }}]\n{spec}\n---\n"
    )
}

/// A Pod with one claim from the template `one-gpu`.
pub(crate) fn gpu_pod(name: &str) -> String {
    pod(name, "  resourceClaims: [{ name: gpu, resourceClaimTemplateName: one-gpu }]")
}
