//! One Pod after another gets a node, and its claims get devices.
//!
//! kube-scheduler scores the nodes that fit and breaks ties at random; here the first by name is taken. A Pod that does not
//! fit is not tried again: nothing is given back during a run, and a claim that a later Pod gets allocated only narrows
//! the choice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::allocate::extended::{self, ExtendedResources};
use crate::allocate::{self, Answer, Limits, Outcome, Question, allocate, find_place};
use crate::api::claim::{AllocationResult, ResourceClaim, ResourceClaimConsumerReference};
use crate::api::object::Object;
use crate::api::pod::{NodeAllocatableClaimStatus, Pod};
use crate::cluster::{Cluster, Key};
use crate::finding::{Code, Finding, Severity};

use super::claims::{Entry, Origin, Simulated, is_deleting, is_finished};
use super::problems::request_problems;
use super::{reasons, special, waits};
use crate::derive::uid_of;
use crate::scheduler::message;
use crate::scheduler::node_allocatable::{self, Problem};
use crate::scheduler::node_fit::{NodeState, Refusal, requests, selects, unknown_labels};

/// Finalizer of a claim that has devices.
pub(crate) const FINALIZER: &str = "resource.kubernetes.io/delete-protection";

/// Most consumers of one claim.
const MAX_RESERVATIONS: usize = 256;

/// Schedulers that are kube-scheduler.
const SCHEDULERS: [&str; 2] = ["", "default-scheduler"];

/// What became of one Pod.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Verdict {
    /// Its node.
    pub(crate) node: Option<String>,
    /// Why it has none, or what else to know about it.
    pub(crate) reasons: Vec<Finding>,
}

/// Schedules Pods in the order given; of those whose life was played it is only told why they have no node.
pub(crate) fn schedule(
    cluster: &mut Cluster,
    limits: &Limits,
    order: &[Key],
    simulated: Simulated,
    entries: &BTreeMap<Key, Vec<Entry>>,
    findings: &mut Vec<Finding>,
) -> BTreeMap<Key, Verdict> {
    let nodes = node_states(cluster);
    let mut scheduler = Scheduler { cluster, limits, nodes, simulated, entries, noted: BTreeSet::new(), findings };
    let mut verdicts = BTreeMap::new();
    for key in order {
        let Some(pod) = scheduler.cluster.pods().get(key).cloned() else { continue };
        let verdict = scheduler.judge(key, pod);
        verdicts.insert(key.clone(), verdict);
    }
    // Claims that the scheduler allocated for others may be what these were waiting for.
    for key in order {
        let Some(pod) = scheduler.cluster.pods().get(key).cloned() else { continue };
        if verdicts.get(key).is_some_and(|verdict| verdict.node.is_some()) && !is_finished(&pod) {
            let reasons = scheduler.reserve_placed(key, &pod);
            if let Some(verdict) = verdicts.get_mut(key) {
                verdict.reasons.extend(reasons);
            }
        }
    }
    verdicts
}

/// The nodes by name, with the Pods that run on them.
pub(crate) fn node_states(cluster: &Cluster) -> Vec<NodeState> {
    let mut nodes: Vec<NodeState> = cluster.nodes().values().map(|node| NodeState::new(Arc::clone(node))).collect();
    for pod in cluster.pods().values().filter(|pod| !pod.spec.node_name.is_empty() && !is_finished(pod)) {
        let found = nodes.binary_search_by(|state| state.name().cmp(&pod.spec.node_name));
        if let Some(node) = found.ok().and_then(|position| nodes.get_mut(position)) {
            node.add(pod);
        }
    }
    nodes
}

struct Scheduler<'s> {
    cluster: &'s mut Cluster,
    limits: &'s Limits,
    nodes: Vec<NodeState>,
    simulated: Simulated,
    entries: &'s BTreeMap<Key, Vec<Entry>>,
    /// What was said about the run as a whole, to say it once for each object.
    noted: BTreeSet<(Code, String)>,
    findings: &'s mut Vec<Finding>,
}

/// Where a Pod fits.
struct Place {
    node: String,
    /// The answer for its claims without devices, the one for extended resources last.
    answer: Option<Answer>,
    /// What devices serve there of its resources.
    extended: Option<ExtendedResources>,
    /// What its devices take of the node.
    taken: Vec<NodeAllocatableClaimStatus>,
}

/// A claim of the Pod with the entry that it belongs to.
struct Needed {
    claim: ResourceClaim,
    is_allocated: bool,
}

impl Scheduler<'_> {
    fn judge(&mut self, key: &Key, pod: Pod) -> Verdict {
        let origin = Origin::of(self.cluster, &pod);
        let placed = (!pod.spec.node_name.is_empty()).then(|| pod.spec.node_name.clone());
        if is_finished(&pod) {
            let message = format!("the Pod has ended as `{}` and uses nothing", pod.status.phase);
            return Verdict { node: placed, reasons: vec![origin.finding(Code::RunFinished, "", message)] };
        }
        if placed.is_some() {
            return Verdict { node: placed, reasons: Vec::new() };
        }
        if is_deleting(&pod) {
            let finding =
                origin.finding(Code::RunFinished, "", "the Pod is being deleted and is not scheduled any more");
            return Verdict { node: None, reasons: vec![finding] };
        }
        match self.place(key, &pod, &origin) {
            Ok(node) => Verdict { node: Some(node), reasons: Vec::new() },
            Err(reasons) => Verdict { node: None, reasons },
        }
    }

    fn place(&mut self, key: &Key, pod: &Pod, origin: &Origin) -> Result<String, Vec<Finding>> {
        if !pod.spec.scheduling_gates.is_empty() {
            let gates: Vec<String> = pod.spec.scheduling_gates.iter().filter_map(reasons::gate_name).collect();
            let message = format!("scheduling waits for {}", super::infer::list(gates.iter()));
            return Err(vec![origin.finding(Code::RunSchedulingGated, "spec.schedulingGates", message)]);
        }
        self.note_unmodelled(pod, origin);
        let needed = self.needed(key)?;
        self.check_requests(&needed)?;
        if self.simulated.covers(self.cluster, pod) {
            return match self.try_nodes(pod, origin, &needed) {
                Ok(_) => Err(waits::reasons(self.cluster, pod, origin)),
                Err(reasons) => Err(reasons),
            };
        }
        let mut needed = needed;
        // Each round but the last gives up one allocation that stands in the way.
        for _ in 0..=needed.len() {
            match self.try_nodes(pod, origin, &needed) {
                Ok(place) => {
                    let node = place.node.clone();
                    self.bind(pod, &needed, place)?;
                    return Ok(node);
                }
                Err(reasons) => match self.release_one(pod, &mut needed) {
                    true => {}
                    false => return Err(reasons),
                },
            }
        }
        Err(vec![Finding::new(Code::Internal, "", "a claim was released again and again")])
    }

    /// The Pod's claims in its order, each once; or all that keeps them from being used.
    fn needed(&self, key: &Key) -> Result<Vec<Needed>, Vec<Finding>> {
        let mut needed: Vec<Needed> = Vec::new();
        let mut problems = Vec::new();
        for entry in self.entries.get(key).map(Vec::as_slice).unwrap_or_default() {
            problems.extend(entry.problem.clone());
            let Some(name) = &entry.claim else { continue };
            let Some(claim) = self.cluster.claims().get(&(key.0.clone(), name.clone())) else { continue };
            if needed.iter().all(|other| other.claim.metadata.name != *name) {
                let is_allocated = claim.status.allocation.is_some();
                needed.push(Needed { claim: claim.clone(), is_allocated });
            }
        }
        if problems.is_empty() { Ok(needed) } else { Err(problems) }
    }

    fn check_requests(&self, needed: &[Needed]) -> Result<(), Vec<Finding>> {
        let unallocated = needed.iter().filter(|needed| !needed.is_allocated);
        let problems: Vec<_> = unallocated.flat_map(|needed| request_problems(self.cluster, &needed.claim)).collect();
        let Some((_, first)) = problems.first() else { return Ok(()) };
        let reference = reasons::scheduler_message(self.nodes.len(), first, "no new claims to deallocate", 0);
        Err(problems.into_iter().map(|(finding, _)| finding).chain([reference]).collect())
    }

    /// The first node that fits, with the answer for the claims without devices.
    fn try_nodes(&mut self, pod: &Pod, origin: &Origin, needed: &[Needed]) -> Result<Place, Vec<Finding>> {
        let requests = requests(pod);
        let mut ordinary: BTreeMap<Refusal, Vec<String>> = BTreeMap::new();
        let mut elsewhere: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut candidates = Vec::new();
        let mut curable = 0usize;
        let uid = uid_of("Pod", &pod.metadata);
        let is_reserved = |claim: &ResourceClaim| claim.status.reserved_for.iter().any(|consumer| consumer.uid == uid);
        let shared = needed.iter().find_map(|needed| {
            node_allocatable::sharing_problem(self.cluster, &needed.claim, is_reserved(&needed.claim))
        });
        for state in &self.nodes {
            let extended = extended::on_node(self.cluster, pod, &state.node);
            let mut requests = requests.clone();
            requests.retain(|name, _| extended.as_ref().is_none_or(|extended| !extended.resources.contains(name)));
            let mut refusals = state.refusals(pod, &requests);
            if let Some(text) = shared.as_ref().filter(|_| refusals.is_empty()) {
                refusals.push(Refusal::Devices(text.clone()));
            }
            let unreachable = needed.iter().position(|needed| !reaches(&needed.claim, state));
            if let Some(index) = unreachable.filter(|_| refusals.is_empty()) {
                elsewhere.entry(index).or_default().push(state.name().to_owned());
            } else if refusals.is_empty() {
                candidates.push((state.name().to_owned(), extended));
            }
            curable += usize::from(!refusals.is_empty() && refusals.iter().all(Refusal::is_curable));
            for refusal in refusals {
                ordinary.entry(refusal).or_default().push(state.name().to_owned());
            }
        }
        let unallocated: Vec<ResourceClaim> =
            needed.iter().filter(|needed| !needed.is_allocated).map(|needed| needed.claim.clone()).collect();
        let mut refused = None;
        // Nodes that need the same claims are asked together.
        for nodes in candidates.chunk_by(|(_, one), (_, other)| one == other) {
            let Some((_, extended)) = nodes.first().cloned() else { continue };
            let special = extended.as_ref().map(|extended| special::claim(pod, extended));
            let claims: Vec<ResourceClaim> = unallocated.iter().cloned().chain(special).collect();
            let mut nodes: Vec<String> = nodes.iter().map(|(name, _)| name.clone()).collect();
            while !nodes.is_empty() {
                let (node, answer) = if claims.is_empty() {
                    (nodes.first().cloned().unwrap_or_default(), None)
                } else {
                    let question = Question { claims: claims.clone(), nodes: nodes.clone(), ..Question::default() };
                    let answer = self.ask(&question);
                    match answer.outcome {
                        Outcome::Allocated { ref node, .. } => (node.clone(), Some(answer)),
                        other => {
                            refused = Some(special::together(refused, other));
                            break;
                        }
                    }
                };
                match self.room(pod, needed, &claims, &node, answer.as_ref()) {
                    Ok(taken) => return Ok(Place { node, answer, extended, taken }),
                    Err(Problem::Error(error)) => {
                        return Err(vec![Finding::new(Code::RunSchedulerMessage, "", message::filter(&error))]);
                    }
                    Err(Problem::Node(refusals)) => {
                        // The nodes before it had no devices; which ones those are is asked for the reasons.
                        let before: Vec<String> = nodes.iter().take_while(|name| **name != node).cloned().collect();
                        nodes.drain(..=before.len());
                        if !before.is_empty() && self.simulated != Simulated::Nobody {
                            let question = Question { claims: claims.clone(), nodes: before, ..Question::default() };
                            let other = allocate(self.cluster, &question, self.limits).outcome;
                            refused = Some(special::together(refused, other));
                        }
                        curable += usize::from(refusals.iter().all(Refusal::is_curable));
                        for refusal in refusals {
                            ordinary.entry(refusal).or_default().push(node.clone());
                        }
                    }
                }
            }
            if !matches!(refused, None | Some(Outcome::Unsatisfied { .. })) {
                break;
            }
        }
        let claims: Vec<&ResourceClaim> = needed.iter().map(|needed| &needed.claim).collect();
        let has_special = candidates.iter().any(|(_, extended)| extended.is_some());
        let asked =
            reasons::Asked { cluster: self.cluster, origin, claims: &claims, has_special, nodes: &self.nodes, curable };
        Err(reasons::pending(&asked, refused, &elsewhere, &ordinary))
    }

    /// Where claims fit. Why devices are refused is found out only where somebody wants to hear it.
    fn ask(&mut self, question: &Question) -> Answer {
        if self.simulated != Simulated::Nobody {
            return allocate(self.cluster, question, self.limits);
        }
        let (node, nodes) = (String::new(), Vec::new());
        let outcome = match find_place(self.cluster, question, self.limits) {
            allocate::Place::On(node, allocations) => Outcome::Allocated { node, allocations },
            allocate::Place::Nowhere => Outcome::Unsatisfied { nodes },
            allocate::Place::Failed(failure) => Outcome::Failed { node, failure: *failure },
            allocate::Place::GaveUp => Outcome::GaveUp { node, nodes },
        };
        Answer { outcome, findings: Vec::new(), steps: 0 }
    }

    /// What the devices that a Pod has or would get take of a node, where there is room for it.
    fn room(
        &self,
        pod: &Pod,
        needed: &[Needed],
        claims: &[ResourceClaim],
        node: &str,
        answer: Option<&Answer>,
    ) -> Result<Vec<NodeAllocatableClaimStatus>, Problem> {
        let Some(state) = self.nodes.iter().find(|state| state.name() == node) else { return Ok(Vec::new()) };
        let held = needed.iter().map(|needed| &needed.claim);
        let held = held.filter_map(|claim| Some((claim, claim.status.allocation.as_deref()?)));
        let new: &[Arc<AllocationResult>] = match answer.map(|answer| &answer.outcome) {
            Some(Outcome::Allocated { allocations, .. }) => allocations,
            _ => &[],
        };
        let all: Vec<_> = held.chain(claims.iter().zip(new.iter().map(Arc::as_ref))).collect();
        node_allocatable::check(self.cluster, pod, state, &all)
    }

    /// Frees an allocation that keeps the Pod from its nodes and that nobody else uses. False when there is none.
    fn release_one(&mut self, pod: &Pod, needed: &mut [Needed]) -> bool {
        let uid = uid_of("Pod", &pod.metadata);
        let nodes = &self.nodes;
        let in_the_way = |needed: &&mut Needed| {
            let reserved = &needed.claim.status.reserved_for;
            needed.is_allocated
                && reserved.iter().all(|consumer| consumer.uid == uid)
                && nodes.iter().any(|state| !reaches(&needed.claim, state))
        };
        let Some(needed) = needed.iter_mut().find(in_the_way) else { return false };
        needed.claim.status.allocation = None;
        needed.claim.status.reserved_for.clear();
        needed.claim.status.devices.clear();
        needed.is_allocated = false;
        self.cluster.apply(Object::ResourceClaim(Box::new(needed.claim.clone())));
        true
    }

    /// Writes allocations and reservations into the claims and the node into the Pod.
    fn bind(&mut self, pod: &Pod, needed: &[Needed], place: Place) -> Result<(), Vec<Finding>> {
        let Place { node, answer, extended, taken } = place;
        let mut findings = Vec::new();
        let mut allocations = Vec::new();
        if let Some(Answer { outcome: Outcome::Allocated { allocations: found, .. }, findings: said, .. }) = answer {
            (allocations, findings) = (found, said);
        }
        let consumer = consumer(pod);
        let is_full = |needed: &&Needed| {
            let reserved = &needed.claim.status.reserved_for;
            reserved.len() >= MAX_RESERVATIONS && reserved.iter().all(|other| other.uid != consumer.uid)
        };
        if let Some(full) = needed.iter().find(is_full) {
            let name = &full.claim.metadata.name;
            let message = format!("claim `{name}` is reserved for {MAX_RESERVATIONS} consumers already");
            return Err(vec![Finding::new(Code::RunReservationsFull, "", message)]);
        }
        let mut allocations = allocations.into_iter();
        for needed in needed {
            let mut claim = needed.claim.clone();
            if !needed.is_allocated {
                claim.status.allocation = allocations.next();
                if !claim.metadata.finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
                    claim.metadata.finalizers.push(FINALIZER.to_owned());
                }
                self.note_conditions(&claim);
            }
            reserve(&mut claim, &consumer);
            self.cluster.apply(Object::ResourceClaim(Box::new(claim)));
        }
        for finding in findings {
            self.note(finding);
        }
        let mut bound = pod.clone();
        // By this the reservations name it.
        bound.metadata.uid.clone_from(&consumer.uid);
        bound.status.node_allocatable_resource_claim_statuses = taken;
        if let Some(extended) = extended {
            let mut claim = special::named(self.cluster, pod, special::claim(pod, &extended));
            claim.status.allocation = allocations.next();
            claim.metadata.finalizers.push(FINALIZER.to_owned());
            reserve(&mut claim, &consumer);
            for status in &mut bound.status.node_allocatable_resource_claim_statuses {
                if status.resource_claim_name == special::NAME {
                    status.resource_claim_name.clone_from(&claim.metadata.name);
                }
            }
            bound.status.extended_resource_claim_status = Some(special::status(&claim, &extended));
            self.cluster.apply(Object::ResourceClaim(Box::new(claim)));
        }
        bound.spec.node_name.clone_from(&node);
        if let Some(state) = self.nodes.iter_mut().find(|state| state.name() == node) {
            state.add(&bound);
        }
        self.cluster.apply(Object::Pod(Box::new(bound)));
        Ok(())
    }

    /// Reserves allocated claims for a Pod that has a node, and says which are not allocated.
    fn reserve_placed(&mut self, key: &Key, pod: &Pod) -> Vec<Finding> {
        let mut findings = Vec::new();
        let consumer = consumer(pod);
        let origin = Origin::of(self.cluster, pod);
        for (index, entry) in self.entries.get(key).map(Vec::as_slice).unwrap_or_default().iter().enumerate() {
            findings.extend(entry.problem.clone());
            let Some(name) = entry.claim.as_ref().filter(|_| entry.problem.is_none()) else { continue };
            let Some(mut claim) = self.cluster.claims().get(&(key.0.clone(), name.clone())).cloned() else { continue };
            if claim.status.allocation.is_none() {
                let message = format!("claim `{name}` has no devices, so the kubelet does not start the Pod");
                let path = format!("spec.resourceClaims[{index}]");
                findings.push(origin.finding(Code::RunNotAllocated, &path, message).with_hint(
                    "leave out `nodeName` and select the node with `nodeSelector`, so that the Pod is scheduled",
                ));
            } else if !self.simulated.covers(self.cluster, pod) && reserve(&mut claim, &consumer) {
                self.cluster.apply(Object::ResourceClaim(Box::new(claim)));
            }
        }
        findings
    }

    fn note_unmodelled(&mut self, pod: &Pod, origin: &Origin) {
        if let Some(message) = reasons::unmodelled(pod) {
            self.note(origin.finding(Code::RunNotModelled, "spec", message));
        }
        let has_groups = self.cluster.profile().features.generic_workload;
        if let Some(name) = pod.group_name().filter(|_| !has_groups) {
            let message = format!("PodGroup `{name}` is without effect: the feature gate `GenericWorkload` is off");
            let finding = origin.finding(Code::RunNotModelled, "spec.schedulingGroup", message);
            self.note(Finding { severity: Severity::Warning, ..finding });
        }
        let scheduler = &pod.spec.scheduler_name;
        if !SCHEDULERS.contains(&scheduler.as_str()) {
            let message = format!("scheduler `{scheduler}` is responsible; kube-scheduler's rules are applied");
            self.note(origin.finding(Code::RunNotModelled, "spec.schedulerName", message));
        }
        let unknown = unknown_labels(pod, &self.nodes);
        let inferred = self.nodes.iter().any(|state| crate::scheduler::node_fit::is_inferred(&state.node));
        if inferred && !unknown.is_empty() {
            let message = format!(
                "inferred nodes are taken to have the labels asked for: {}",
                super::infer::list(unknown.iter())
            );
            self.note(origin.finding(Code::RunLabelsAssumed, "spec", message));
        }
    }

    fn note_conditions(&mut self, claim: &ResourceClaim) {
        let results = claim.status.allocation.iter().flat_map(|allocation| &allocation.devices.results);
        let conditions: BTreeSet<String> =
            results.flat_map(|result| result.binding_conditions.iter().cloned()).collect();
        if !conditions.is_empty() {
            let name = &claim.metadata.name;
            let message = format!("claim `{name}` waits for {}, taken as met", super::infer::list(conditions.iter()));
            let finding = Finding::new(Code::RunBindingConditions, "", message);
            self.note(super::problems::about_claim(self.cluster, claim, finding));
        }
    }

    /// Says something about the run as a whole, once for each object.
    fn note(&mut self, finding: Finding) {
        let object = finding.object.as_ref().map(ToString::to_string).unwrap_or_default();
        if self.noted.insert((finding.code, format!("{object} {}", finding.message))) {
            self.findings.push(finding);
        }
    }
}

/// Whether the devices of an allocated claim can be used on a node.
pub(crate) fn reaches(claim: &ResourceClaim, state: &NodeState) -> bool {
    let selector = claim.status.allocation.as_ref().and_then(|allocation| allocation.node_selector.as_ref());
    selector.is_none_or(|selector| selects(selector, &state.node))
}

fn consumer(pod: &Pod) -> ResourceClaimConsumerReference {
    ResourceClaimConsumerReference {
        resource: "pods".to_owned(),
        name: pod.metadata.name.clone(),
        uid: uid_of("Pod", &pod.metadata),
        ..ResourceClaimConsumerReference::default()
    }
}

/// Adds a consumer; false where it is there already.
fn reserve(claim: &mut ResourceClaim, consumer: &ResourceClaimConsumerReference) -> bool {
    let reserved = &mut claim.status.reserved_for;
    if reserved.iter().any(|other| other.uid == consumer.uid) {
        return false;
    }
    reserved.push(consumer.clone());
    true
}
