//! Manifests and dumps into a simulated cluster, and what stands at its end for people.

use serde_json::{Value, json};

use super::{Simulation, Timeline, priority};
use crate::api::node::Node;
use crate::api::object::{Object, parse, read_object};
use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::decision::Time;
use crate::derive;
use crate::finding::{Code, Finding, Severity};
use crate::{
    controllers::workloads,
    simulate::{self, Report, infer},
};

/// When a cluster starts whose objects say nothing about the time.
const FIRST: Time = Time::from_seconds(1_767_225_600);

/// The label of a namespace that permits admin access.
const ADMIN_LABEL: &str = "resource.kubernetes.io/admin-access";

impl Simulation {
    /// When a simulation of these objects may start, so that nothing in them lies in the future: the latest time of creation or
    /// allocation, or 2026-01-01 where they say none.
    pub fn start_of<'v>(objects: impl IntoIterator<Item = &'v Value>) -> Time {
        let times = objects.into_iter().flat_map(|object| {
            ["/metadata/creationTimestamp", "/status/allocation/allocationTimestamp"]
                .map(|path| object.pointer(path).and_then(Value::as_str).and_then(Time::parse))
        });
        times.flatten().max().unwrap_or(FIRST)
    }

    /// Takes objects in as they are, each one JSON text; no rule of the API server is applied. Those with the same key are
    /// replaced. For what is found in each see [`crate::engine::Engine::apply`].
    pub fn apply<'t>(&mut self, objects: impl IntoIterator<Item = &'t str>) -> Vec<Vec<Finding>> {
        objects.into_iter().map(|text| self.apply_one(text)).collect()
    }

    fn apply_one(&mut self, text: &str) -> Vec<Finding> {
        let value = match parse(text) {
            Ok(value) => value,
            Err(finding) => return vec![finding],
        };
        let reading = read_object(value);
        let refused = reading.findings.iter().any(|finding| finding.severity == Severity::Error);
        match reading.object {
            Some(mut object) if !refused => {
                if object.is_namespaced() && object.metadata().namespace.is_empty() {
                    object.metadata_mut().namespace = "default".to_owned();
                }
                if object.metadata().name.is_empty() {
                    self.given = self.given.saturating_add(1);
                    let (kind, count) = (object.kind().to_owned(), self.given.to_string());
                    let metadata = object.metadata_mut();
                    let belongs_to = [kind.as_str(), &metadata.namespace, &metadata.generate_name, &count];
                    metadata.name = derive::generated_name(&metadata.generate_name, &belongs_to);
                }
                self.server.seed(object.write(), self.now);
            }
            _ => {}
        }
        reading.findings
    }

    /// Completes what was taken in, as `run` does: nodes are inferred where none is given, workload controllers make their
    /// Pods. From now on the timeline is kept and Pods with a node run.
    ///
    /// What is worth knowing about it comes back, and again in [`Simulation::report`].
    pub fn begin(&mut self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for value in self.inferred_nodes(&mut findings) {
            self.server.seed(value, self.now);
        }
        self.allow_admin_access();
        self.know_namespaces();
        self.give_priorities(&mut findings);
        self.hear();
        self.play_workloads();
        findings.extend(workloads::notes(self.server.cluster()));
        // What was there before is told to all, and is nothing that happened.
        self.hear();
        self.timeline = Some(Timeline::new(self.now, self.server.events().len()));
        self.run_pods();
        self.findings.clone_from(&findings);
        findings
    }

    /// The nodes that the input speaks of, where it has none.
    fn inferred_nodes(&self, findings: &mut Vec<Finding>) -> Vec<Value> {
        let before = self.server.cluster();
        let mut cluster = before.clone();
        infer::infer_nodes(&mut cluster, findings);
        let nodes = cluster.nodes().values().filter(|node| before.nodes().get(&node.metadata.name) != Some(node));
        nodes.map(|node| Object::Node(Box::new(Node::clone(node))).write()).collect()
    }

    /// Gives the Pods of the input the priorities of their classes, which may have come after them. What the API server would not take
    /// is left out, and said.
    fn give_priorities(&mut self, findings: &mut Vec<Finding>) {
        let cluster = self.server.cluster();
        let are_known = !cluster.priority_classes().is_empty();
        let lacks = |pod: &&Pod| pod.spec.priority.is_none() && pod.spec.node_name.is_empty() && !pod.is_finished();
        let names_class = |pod: &&Pod| are_known || pod.spec.rest.get("priorityClassName").is_some();
        let pods: Vec<_> = cluster
            .pods()
            .values()
            .filter(lacks)
            .filter(names_class)
            .map(|pod| Object::Pod(Box::new(pod.clone())).reference())
            .collect();
        for pod in pods {
            let Some(mut value) = self.server.get(&pod).cloned() else { continue };
            match priority::admit(self.server.cluster(), &mut value) {
                Ok(()) => self.server.seed(value, self.now),
                Err(problem) => {
                    let message = format!("refused: pods \"{}\" is forbidden: {problem}", pod.name);
                    findings.push(Finding::new(Code::RunRefused, "spec.priorityClassName", message).about(pod.clone()));
                    // It is there, so it can be taken away.
                    let _ = self.server.delete(&pod, "", Some(0), self.now);
                }
            }
        }
    }

    /// Adds the namespaces that are not given and whose objects ask for admin access, as namespaces that allow it.
    pub(crate) fn allow_admin_access(&mut self) {
        for namespace in namespaces_with_admin_access(self.server.cluster()) {
            self.server.seed(namespace, self.now);
        }
    }

    /// Nodes, Pods and claims as they stand, and why Pods have no node.
    pub fn report(&self) -> Report {
        let mut cluster = self.server.cluster().clone();
        simulate::explain(&mut cluster, &self.limits, self.findings.clone())
    }
}

/// Namespaces that are not given and whose objects ask for admin access: they are taken to allow it.
fn namespaces_with_admin_access(cluster: &Cluster) -> Vec<Value> {
    let wants = |requests: &[crate::api::claim::DeviceRequest]| {
        requests.iter().filter_map(|request| request.exactly.as_ref()).any(|exact| exact.admin_access == Some(true))
    };
    let claims = cluster.claims().values().filter(|claim| wants(&claim.spec.devices.requests));
    let templates = cluster.templates().values().filter(|template| wants(&template.spec.spec.devices.requests));
    let of_claims = claims.map(|claim| claim.metadata.namespace.clone());
    let mut names: Vec<String> =
        of_claims.chain(templates.map(|template| template.metadata.namespace.clone())).collect();
    names.sort();
    names.dedup();
    names.retain(|name| !cluster.namespaces().contains_key(name));
    let namespace = |name: &String| json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": { ADMIN_LABEL: "true" } } });
    names.iter().map(namespace).collect()
}
