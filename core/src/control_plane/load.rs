//! Manifests and dumps into a simulated cluster, and what stands at its end for people.

use serde_json::{Value, json};

use super::{Simulation, Timeline, infer};
use crate::allocate::Limits;
use crate::api::node::Node;
use crate::api::object::{Object, parse, read_object};
use crate::cluster::Cluster;
use crate::controllers::workloads;
use crate::decision::{ADMIN_LABEL, Time};
use crate::derive;
use crate::finding::{Code, Finding, ObjectRef, Severity};

/// When a cluster starts whose objects say nothing about the time.
const FIRST: Time = Time::from_seconds(1_767_225_600);

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

    /// A control plane over the objects of a cluster, completed. Why Pods have no node is not written, but can be asked.
    pub fn of(cluster: &Cluster, limits: Limits) -> Self {
        let objects: Vec<Object> = cluster.objects();
        let times = objects.iter().flat_map(|object| {
            let created = Time::parse(&object.metadata().creation_timestamp);
            let allocated = match object {
                Object::ResourceClaim(claim) => claim.status.allocation.as_ref(),
                _ => None,
            };
            [created, allocated.and_then(|allocation| Time::parse(&allocation.allocation_timestamp))]
        });
        let now = times.flatten().max().unwrap_or(FIRST);
        let mut simulation = Self::new(cluster.profile().clone(), limits, now);
        simulation.records_failures = false;
        for object in objects {
            simulation.server.seed(object.write(), now);
        }
        simulation.complete();
        simulation
    }

    /// Completes what was taken in, as `run` does, and keeps the timeline from now on.
    ///
    /// What is worth knowing about it comes back, and again in the report.
    pub fn begin(&mut self) -> Vec<Finding> {
        self.complete();
        self.timeline = Some(Timeline::new(self.now, self.server.events().len()));
        self.findings.clone()
    }

    /// Completes what was taken in: nodes are inferred where none is given, workload controllers make their Pods. From now on Pods with a
    /// node run.
    fn complete(&mut self) {
        self.leave_jobs_alone();
        let mut findings = Vec::new();
        let before = self.server.cluster();
        let mut cluster = before.clone();
        infer::infer_nodes(&mut cluster, &mut findings);
        workloads::expand(&mut cluster, &mut findings);
        let mut changed = Vec::new();
        let nodes = cluster.nodes().values().filter(|node| before.nodes().get(&node.metadata.name) != Some(node));
        changed.extend(nodes.map(|node| Object::Node(Box::new(Node::clone(node))).write()));
        let new = cluster.workloads().iter().filter(|(key, own)| before.workloads().get(*key) != Some(own));
        changed.extend(new.map(|(_, workload)| Object::Workload(Box::new(workload.clone())).write()));
        let mut pods: Vec<_> =
            cluster.pods().iter().filter(|(key, own)| before.pods().get(*key) != Some(own)).collect();
        pods.sort_by_key(|(key, _)| cluster.arrival("Pod", &key.0, &key.1));
        changed.extend(pods.into_iter().map(|(_, pod)| Object::Pod(Box::new(pod.clone())).write()));
        let gone: Vec<String> =
            before.nodes().keys().filter(|name| !cluster.nodes().contains_key(*name)).cloned().collect();
        for name in gone {
            self.server.forget(&ObjectRef { kind: "Node".to_owned(), name, ..ObjectRef::default() });
        }
        for value in changed {
            self.server.seed(value, self.now);
        }
        self.allow_admin_access(&mut findings);
        self.take_as_given();
        let bound = self.server.cluster().pods().iter().filter(|(_, pod)| !pod.spec.node_name.is_empty());
        self.bound = bound.map(|(key, _)| key.clone()).collect();
        // What was there before is told to all, and is nothing that happened.
        self.hear();
        self.run_pods();
        self.replace_pods();
        self.findings = findings;
    }

    /// Adds the namespaces that are not given and whose objects ask for admin access, as namespaces that allow it.
    fn allow_admin_access(&mut self, findings: &mut Vec<Finding>) {
        for name in namespaces_with_admin_access(self.server.cluster()) {
            let message = format!("admin access in namespace `{name}` is taken as allowed: the Namespace is not given");
            let hint = format!("the namespace needs the label `{ADMIN_LABEL}: \"true\"`");
            findings.push(Finding::new(Code::RunAdminUnchecked, "", message).with_hint(hint));
            let labels = json!({ ADMIN_LABEL: "true" });
            let metadata = json!({ "name": name, "labels": labels });
            let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata });
            self.server.seed(namespace, self.now);
        }
    }

    /// Takes Pods and PodGroups to exist that own or use claims, in namespaces of which no such object is given: a part of a dump says
    /// nothing about the rest.
    fn take_as_given(&mut self) {
        let cluster = self.server.cluster();
        let has_pods = |namespace: &str| cluster.pods().keys().any(|key| key.0 == namespace);
        let has_groups = |namespace: &str| cluster.pod_groups().keys().any(|key| key.0 == namespace);
        let mut unseen = Vec::new();
        for ((namespace, _), claim) in cluster.claims() {
            let owners = claim.metadata.owner_references.iter().map(|owner| (owner.kind.as_str(), &owner.uid));
            let users = claim.status.reserved_for.iter().map(|user| (user.resource.as_str(), &user.uid));
            unseen.extend(owners.chain(users).filter_map(|(kind, uid)| {
                let is_unseen = match kind {
                    "Pod" | "pods" => !has_pods(namespace),
                    "PodGroup" | "podgroups" => !has_groups(namespace),
                    _ => false,
                };
                is_unseen.then(|| uid.clone())
            }));
        }
        self.server.take_as_given(unseen);
    }
}

/// Namespaces that are not given and whose objects ask for admin access: they are taken to allow it.
fn namespaces_with_admin_access(cluster: &Cluster) -> Vec<String> {
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
    names
}
