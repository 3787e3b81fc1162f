//! Manifests and dumps into a simulated cluster, and what stands at its end for people.

use std::sync::Arc;

use serde_json::{Value, json};

use super::admission::admit;
use super::{Simulation, Timeline, infer, priority};
use crate::allocate::Limits;
use crate::api::claim::{DeviceRequest, asks_for_admin_access};
use crate::api::meta::ObjectMeta;
use crate::api::node::Node;
use crate::api::object::{Object, parse, read_text};
use crate::api::pod::Pod;
use crate::api::source::MANAGED_BY;
use crate::arrange::Arrange;
use crate::cluster::entries::{self, Binding, Resolved, Source};
use crate::cluster::{Cluster, Key};
use crate::decision::Time;
use crate::derive;
use crate::finding::{Code, Finding, ObjectRef, list};
use crate::gather::Gather;
use crate::scheduler::node_fit::is_inferred;
use crate::validate::priority::refusal;
use crate::validate::{ADMIN_LABEL, allows_admin_access, no_admin_access, takes_nothing};

/// When a cluster starts whose objects say nothing about the time.
const FIRST: Time = Time::from_seconds(1_767_225_600);

/// The latest time of creation or allocation that objects state.
fn latest_in<'v>(objects: impl IntoIterator<Item = &'v Value>) -> Option<Time> {
    let times = objects.into_iter().flat_map(|object| {
        ["/metadata/creationTimestamp", "/status/allocation/allocationTimestamp"]
            .map(|path| object.pointer(path).and_then(Value::as_str).and_then(Time::parse))
    });
    times.flatten().max()
}

impl Simulation {
    /// When a simulation of these objects may start, so that nothing in them lies in the future: the latest time of creation or
    /// allocation, or 2026-01-01 where they say none.
    pub fn start_of<'v>(objects: impl IntoIterator<Item = &'v Value>) -> Time {
        latest_in(objects).unwrap_or(FIRST)
    }

    /// Takes objects in as they are, each one JSON text; no rule of the API server is applied. Those with the same key are
    /// replaced. For what is found in each see [`crate::engine::Engine::apply`].
    pub fn apply<'t>(&mut self, objects: impl IntoIterator<Item = &'t str>) -> Vec<Vec<Finding>> {
        objects.into_iter().map(|text| self.apply_one(text)).collect()
    }

    fn apply_one(&mut self, text: &str) -> Vec<Finding> {
        let reading = read_text(text);
        let is_usable = reading.is_usable();
        if let Some(object) = reading.object.filter(|_| is_usable) {
            self.take_in(object);
        }
        reading.findings
    }

    /// Has the API server admit objects, each one JSON text; see [`crate::engine::Engine::submit`].
    pub fn submit<'t>(&mut self, objects: impl IntoIterator<Item = &'t str>) -> Vec<Vec<Finding>> {
        objects.into_iter().map(|text| self.submit_one(text)).collect()
    }

    fn submit_one(&mut self, text: &str) -> Vec<Finding> {
        let (object, findings) = admit(text, self.server.cluster().profile());
        match object {
            Some(object) => self.take_in(object),
            None => self.server.cluster_mut().note_refused(parse(text).unwrap_or_default(), &findings),
        }
        findings
    }

    fn take_in(&mut self, mut object: Object) {
        if object.is_namespaced() && object.metadata().namespace.is_empty() {
            object.metadata_mut().namespace = "default".to_owned();
        }
        if object.metadata().name.is_empty() {
            self.given = self.given.saturating_add(1);
            derive::give_name(&mut object, self.given);
        }
        self.server.seed_object(object, self.now);
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
        let now = times.flatten().chain(latest_in(cluster.all_refused())).max().unwrap_or(FIRST);
        let mut simulation = Self::new(cluster.profile().clone(), limits, now);
        simulation.records_failures = false;
        simulation.server.cluster_mut().share_refused(cluster);
        for object in objects {
            simulation.server.seed_object(object, now);
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
        // No Pod serves yet: what waits for one is said in the report.
        self.lasting()
    }

    /// Completes what was taken in: nodes are inferred where none is given, Pods get their priorities, workload controllers make their Pods.
    /// From now on Pods with a node run.
    fn complete(&mut self) {
        let mut findings = Vec::new();
        self.infer_nodes(&mut findings);
        findings.extend(note_not_given(self.server.cluster_mut()));
        self.leave_out(&mut findings);
        self.allow_admin_access(&mut findings);
        self.know_namespaces();
        self.give_priorities(&mut findings);
        self.take_as_given();
        let pods = || self.server.cluster().pods().iter();
        let bound = pods().filter(|(_, pod)| !pod.spec.node_name.is_empty());
        let waited = pods().filter(|(_, pod)| derive::is_foreign(&pod.metadata.uid) && pod.last_refusal().is_some());
        self.waited = waited.map(|(key, _)| key.clone()).gather();
        self.bound = bound.map(|(key, _)| key.clone()).gather();
        let claims = self.server.cluster().claims().iter().filter(|(_, claim)| claim.metadata.is_deleting());
        self.going = claims.map(|(key, _)| key.clone()).gather();
        self.knows_nodes = true;
        self.hear();
        self.play_workloads();
        // The controllers hear of the objects that were given; such objects do not count as changes.
        self.hear();
        self.run_pods();
        self.findings = findings;
        self.start = self.now;
    }

    /// Takes the nodes that the input speaks of for given, where it has none.
    fn infer_nodes(&mut self, findings: &mut Vec<Finding>) {
        let before = self.server.cluster();
        let mut cluster = before.clone();
        infer::infer_nodes(&mut cluster, findings);
        let gone: Vec<String> =
            before.nodes().keys().filter(|name| !cluster.nodes().contains_key(*name)).cloned().collect();
        let new = cluster.nodes().values().filter(|node| before.nodes().get(&node.metadata.name) != Some(node));
        let new: Vec<Object> = new.map(|node| Object::Node(Arc::new(Node::clone(node)))).collect();
        for name in gone {
            self.server.forget(&ObjectRef { kind: "Node".to_owned(), name, ..ObjectRef::default() });
        }
        for node in new {
            self.server.seed_object(node, self.now);
        }
    }

    /// Gives the Pods of the input the priorities of their classes, which may have come after them. What the API server would not take
    /// is left out, and said.
    fn give_priorities(&mut self, findings: &mut Vec<Finding>) {
        let cluster = self.server.cluster();
        let are_known = !cluster.priority_classes().is_empty();
        // What a real API server took and has a node stays as it is, whatever classes there are now.
        let was_taken = |pod: &Pod| !pod.spec.node_name.is_empty() && derive::is_foreign(&pod.metadata.uid);
        let lacks = |pod: &&Arc<Pod>| pod.spec.priority.is_none() && !was_taken(pod) && !pod.is_finished();
        let names_class = |pod: &&Arc<Pod>| are_known || pod.spec.rest.get("priorityClassName").is_some();
        let pods: Vec<Arc<Pod>> = cluster.pods().values().filter(lacks).filter(names_class).cloned().collect();
        for mut pod in pods {
            let object = Object::Pod(Arc::clone(&pod)).reference();
            match priority::admit(self.server.cluster(), Arc::make_mut(&mut pod)) {
                Ok(()) => self.server.seed_object(Object::Pod(pod), self.now),
                Err(problem) => {
                    let finding = refusal(&object.name, &problem).about(object.clone());
                    let finding = priority::with_near_class(self.server.cluster(), &pod, finding);
                    self.server.forget(&object);
                    let written = Object::Pod(pod).write();
                    self.server.cluster_mut().note_refused(written, std::slice::from_ref(&finding));
                    findings.push(finding);
                }
            }
        }
    }

    /// Leaves out what the API server does not take into its namespace.
    fn leave_out(&mut self, findings: &mut Vec<Finding>) {
        for (object, finding) in refused_by_namespace(self.server.cluster()) {
            let key = object.reference();
            self.server.forget(&key);
            self.server.cluster_mut().note_refused(object.write(), std::slice::from_ref(&finding));
            findings.push(finding);
        }
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

    /// That Pods have nodes which wait in the cluster that the objects come from. What a script did is not compared with it.
    pub(super) fn contradicted(&self) -> Option<Finding> {
        let pods = self.server.cluster().pods();
        let is_placed = |key: &&Key| pods.get(*key).is_some_and(|pod| !pod.spec.node_name.is_empty());
        let placed: Vec<String> =
            self.waited.iter().filter(is_placed).map(|(namespace, name)| format!("{namespace}/{name}")).collect();
        let message = format!(
            "the scheduler of the cluster found no node for {}; by what is given there is one",
            list(placed.iter())
        );
        let hint = "the cluster has changed since, or what keeps the Pod from the node is not given";
        (!placed.is_empty() && self.timeline.is_none())
            .then(|| Finding::new(Code::RunNotModelled, "", message).with_hint(hint))
    }

    /// Takes Pods and PodGroups to exist that own or use claims and are not given: a part of a dump says nothing about the rest.
    fn take_as_given(&mut self) {
        let cluster = self.server.cluster();
        let mut unseen = Vec::new();
        for ((namespace, _), claim) in cluster.claims() {
            let owners =
                claim.metadata.owner_references.iter().map(|owner| (owner.kind.as_str(), &owner.name, &owner.uid));
            let users = claim.status.reserved_for.iter().map(|user| (user.resource.as_str(), &user.name, &user.uid));
            unseen.extend(owners.chain(users).filter_map(|(kind, name, uid)| {
                let key = (namespace.clone(), name.clone());
                let is_unseen = match kind {
                    "Pod" | "pods" => !cluster.pods().contains_key(&key),
                    "PodGroup" | "podgroups" => !cluster.pod_groups().contains_key(&key),
                    _ => false,
                };
                is_unseen.then(|| uid.clone())
            }));
        }
        self.server.take_as_given(unseen);
    }
}

/// Remembers of which kinds a dump holds nothing, and says so of those that its objects need.
pub(crate) fn note_not_given(cluster: &mut Cluster) -> Option<Finding> {
    let missing = not_given(cluster);
    let mut needed: Vec<&str> = missing.iter().filter(|(_, is_needed)| *is_needed).map(|(kind, _)| *kind).collect();
    if cluster.has_devices_alone() {
        let lacks_nodes = cluster.nodes().values().all(|node| is_inferred(node));
        needed = ["Node", "Pod", "ResourceClaim"].into_iter().skip(usize::from(!lacks_nodes)).collect();
    }
    cluster.note_not_given(missing.into_iter().map(|(kind, _)| kind));
    let names: Vec<String> = needed.iter().map(|kind| (*kind).to_owned()).collect();
    let message = match only_namespace(cluster) {
        _ if !needed.is_empty() => format!("the dump holds no {}, so nothing is known about them", list(names.iter())),
        Some(namespace) => {
            needed = vec!["Pod", "ResourceClaim"];
            format!("the dump holds Pods of namespace `{namespace}` alone; devices that others hold look free")
        }
        None => return None,
    };
    let resources: Vec<String> = needed.iter().map(|kind| resource_of(kind)).collect();
    let hint = format!("add the output of `kubectl get {} -A -o yaml`", resources.join(","));
    Some(Finding::new(Code::RunNotGiven, "", message).with_hint(hint))
}

/// The namespace that a dump was asked for: all of its Pods and claims are there, beside devices of the whole cluster. A whole cluster has
/// Pods of its own in `kube-system`.
fn only_namespace(cluster: &Cluster) -> Option<&str> {
    let mut claims = cluster.claims().values().map(|claim| &claim.metadata);
    let pods = cluster.pods().values().map(|pod| &pod.metadata);
    let mut given = pods.filter(|pod| derive::is_foreign(&pod.uid)).map(|pod| pod.namespace.as_str());
    let only = given.next().filter(|only| *only != "kube-system")?;
    let are_others = given.any(|other| other != only) || claims.any(|claim| claim.namespace != only);
    let has_devices = cluster.slices().values().any(|slice| derive::is_foreign(&slice.metadata.uid));
    (has_devices && !are_others).then_some(only)
}

/// Whether objects come from a real cluster: a Pod or a claim has a UID that it gave.
pub(crate) fn is_dump(cluster: &Cluster) -> bool {
    let mut claims = cluster.claims().values();
    cluster.pods().values().any(|pod| derive::is_foreign(&pod.metadata.uid))
        || claims.any(|claim| derive::is_foreign(&claim.metadata.uid))
}

/// Kinds of which a dump holds nothing, each with whether its objects need some: what is not given is not known, other than in manifests.
fn not_given(cluster: &Cluster) -> Vec<(&'static str, bool)> {
    if !is_dump(cluster) {
        return Vec::new();
    }
    let pods = || cluster.pods().values();
    let has_pods = pods().next().is_some() || !cluster.workloads().is_empty();
    let have_claims = pods().any(|pod| !pod.spec.resource_claims.is_empty());
    // What controllers made here says nothing about what there is in the cluster.
    let made = |of: &ObjectMeta| of.controller().is_some() && !derive::is_foreign(&of.uid);
    let copied = |of: &ObjectMeta| of.labels.contains_key(MANAGED_BY) && !derive::is_foreign(&of.uid);
    let is_lost = |above: &str, below: &str| {
        let is_given = |kind: &str| {
            let mut workloads = cluster.workloads().values();
            workloads.any(|one| one.kind == kind && derive::is_foreign(&one.metadata.uid))
        };
        let is_below = |of: &ObjectMeta| of.controller().is_some_and(|owner| owner.kind == below);
        let mut metadata = pods().map(|pod| &pod.metadata);
        is_given(above) && !is_given(below) && metadata.any(|of| derive::is_foreign(&of.uid) && is_below(of))
    };
    // Whether a claim was made for an object of a kind, or is reserved for one.
    let names = |kind: &str, resource: &str| {
        cluster.claims().values().any(|claim| {
            claim.metadata.owner_references.iter().any(|owner| owner.kind == kind)
                || claim.status.reserved_for.iter().any(|user| user.resource == resource)
        })
    };
    let (lacks_sets, lacks_jobs) = (is_lost("Deployment", "ReplicaSet"), is_lost("CronJob", "Job"));
    let have_requests = have_claims || !(cluster.claims().is_empty() && cluster.templates().is_empty());
    let kinds = [
        ("Node", cluster.nodes().values().all(|node| is_inferred(node)), has_pods || have_requests),
        ("ResourceSlice", cluster.slices().is_empty(), have_requests),
        ("DeviceClass", cluster.classes().is_empty(), have_requests),
        ("Pod", pods().all(|pod| made(&pod.metadata)), names("Pod", "pods")),
        ("ResourceClaim", cluster.claims().values().all(|claim| made(&claim.metadata)), have_claims),
        (
            "ResourceClaimTemplate",
            cluster.templates().values().all(|template| copied(&template.metadata)),
            pods().any(|pod| waits_for_template(cluster, pod)),
        ),
        (
            "ClusterResourceClaimTemplate",
            cluster.cluster_templates().is_empty(),
            pods().any(|pod| needs_cluster_wide(pod)),
        ),
        (
            "PodGroup",
            cluster.pod_groups().values().all(|group| made(&group.metadata)),
            names("PodGroup", "podgroups") || pods().any(|pod| pod.group_name().is_some()),
        ),
        ("PersistentVolumeClaim", !cluster.has_bystanders("PersistentVolumeClaim"), false),
        ("ReplicaSet", lacks_sets, true),
        ("Job", lacks_jobs, true),
    ];
    let features = &cluster.profile().features;
    let is_served = |kind: &str| match kind {
        "PodGroup" => features.generic_workload,
        "ClusterResourceClaimTemplate" => features.cluster_resource_claim_templates,
        _ => true,
    };
    let is_given = |kind: &str| cluster.is_listed(kind) || cluster.names_of_refused(kind).next().is_some();
    let missing = kinds.into_iter().filter(|(kind, lacks, _)| *lacks && is_served(kind) && !is_given(kind));
    missing.map(|(kind, _, is_needed)| (kind, is_needed)).collect()
}

/// Whether a Pod names a template of which its claim is still to be made.
fn waits_for_template(cluster: &Cluster, pod: &Pod) -> bool {
    let group = entries::group_of(cluster, pod);
    pod.spec.resource_claims.iter().any(|entry| {
        let named = entries::group_entry(entry, group).unwrap_or(entry);
        let claim = || match group.filter(|_| entries::binding(entry, group) == Binding::Group) {
            Some(group) => entries::resolve_for_group(group, named),
            None => entries::resolve(pod, entry, group),
        };
        matches!(entries::source(named), Some(Source::Template(_))) && claim() == Resolved::NotCreated
    })
}

/// Whether an entry of a Pod names a cluster-wide template.
fn needs_cluster_wide(pod: &Pod) -> bool {
    pod.spec.resource_claims.iter().any(|entry| entry.cluster_resource_claim_template_name.is_some())
}

/// New objects that the API server does not take into their namespace, each with the error: it is being deleted, or does not allow admin access.
pub(crate) fn refused_by_namespace(cluster: &Cluster) -> Vec<(Object, Finding)> {
    let is_new = |metadata: &ObjectMeta| !derive::is_foreign(&metadata.uid);
    let goes = |name: &str| cluster.namespaces().get(name).is_some_and(|namespace| namespace.metadata.is_deleting());
    let objects = if cluster.namespaces().keys().any(|name| goes(name)) { cluster.objects() } else { Vec::new() };
    let late = objects.into_iter().filter(|object| is_new(object.metadata()) && goes(&object.metadata().namespace));
    let with_error = |object: Object| {
        let finding = takes_nothing(&object.metadata().namespace).about(object.reference());
        (object, finding)
    };
    let mut refused: Vec<(Object, Finding)> = late.map(with_error).collect();
    if !cluster.profile().features.admin_access {
        return refused;
    }
    let is_refused = |metadata: &ObjectMeta, requests: &[DeviceRequest]| {
        is_new(metadata)
            && asks_for_admin_access(requests)
            && match cluster.namespaces().get(&metadata.namespace) {
                Some(namespace) => {
                    !allows_admin_access(&namespace.metadata.labels) && !namespace.metadata.is_deleting()
                }
                None => cluster.refused("Namespace", "", &metadata.namespace).is_some(),
            }
    };
    let claims = cluster
        .claims()
        .values()
        .filter(|claim| claim.status.allocation.is_none() && is_refused(&claim.metadata, &claim.spec.devices.requests));
    let templates = cluster
        .templates()
        .values()
        .filter(|template| is_refused(&template.metadata, &template.spec.spec.devices.requests));
    let claims = claims.cloned().map(Object::ResourceClaim);
    let templates = templates.map(|template| Object::ResourceClaimTemplate(Arc::new(template.clone())));
    let with_error = |object: Object| {
        let key = object.reference();
        let (kind, name, namespace) = (&key.kind, &key.name, &key.namespace);
        (object, no_admin_access(&format!("{kind} `{name}`"), namespace).about(key.clone()))
    };
    refused.extend(claims.chain(templates).map(with_error));
    refused
}

/// Namespaces that are not given and whose objects ask for admin access: they are taken to allow it.
fn namespaces_with_admin_access(cluster: &Cluster) -> Vec<String> {
    let wants = asks_for_admin_access;
    let claims = cluster.claims().values().filter(|claim| wants(&claim.spec.devices.requests));
    let templates = cluster.templates().values().filter(|template| wants(&template.spec.spec.devices.requests));
    let of_claims = claims.map(|claim| claim.metadata.namespace.clone());
    let mut names: Vec<String> =
        of_claims.chain(templates.map(|template| template.metadata.namespace.clone())).collect();
    names.arrange();
    names.dedup();
    names.retain(|name| !cluster.namespaces().contains_key(name) && cluster.refused("Namespace", "", name).is_none());
    names
}

/// The name of a kind's resource for kubectl.
pub(crate) fn resource_of(kind: &str) -> String {
    let kind = kind.to_lowercase();
    if kind.ends_with('s') { format!("{kind}es") } else { format!("{kind}s") }
}
