//! From what is named to what is asked of the allocator: the claims, the nodes, and what stands before them.

use std::sync::{Arc, OnceLock};

use super::Request;
use super::detail::is_meant;
use super::holders::Held;
use super::origin::{Origin, about_claim};
use super::preemption;
use super::reasons::claims_of;
use super::reasons::problems::{self, request_problems};
use super::settled::{Settled, Taking};
use super::trial::freed;
use super::unknown::{unknown, unknown_device};
use super::words::list;
use crate::allocate::{DeviceId, Question, extended};
use crate::api::claim::ResourceClaim;
use crate::api::pod::Pod;
use crate::arrange::Arrange;
use crate::cluster::{Cluster, Key};
use crate::controllers::workloads::{reference, root_of};
use crate::finding::{Code, Finding, ObjectRef};
use crate::scheduler::filter::reaches;
use crate::scheduler::pod_filters::PodFilters;
use crate::scheduler::{NodeCache, special};

/// Kinds that are explained themselves; of others their Pods are.
const EXPLAINED: [&str; 4] = ["Pod", "ResourceClaim", "ResourceClaimTemplate", "PodGroup"];

/// One thing to explain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) subject: ObjectRef,
    /// What is not about devices.
    pub(crate) stage: Vec<Finding>,
    /// Whether that alone keeps it Pending.
    pub(crate) is_blocked: bool,
    /// Set when nothing is missing.
    pub(crate) placed: Option<Placed>,
    /// Claims without devices, and the nodes that could be asked.
    pub(crate) question: Question,
    /// Number of nodes in the cluster.
    pub(crate) all_nodes: usize,
    /// Nodes that take it and were not asked for.
    pub(crate) other_nodes: Vec<String>,
    /// The Pod that waits for nodes, where it is about one; unless more than nodes and devices stands in its way.
    pub(crate) pod: Option<Key>,
    /// The Pod's claims without devices, the one for extended resources left out, as it depends on the node.
    pub(crate) unallocated: Vec<ResourceClaim>,
    /// The Pod's claims that have devices.
    pub(crate) allocated: Vec<ResourceClaim>,
    /// Whether other Pods of its PodGroup were tried before it.
    pub(crate) is_of_group: bool,
    /// The cluster with the places that other Pods of the PodGroup found, where that matters.
    pub(crate) seen: Option<Cluster>,
    /// Why the scheduler broke off its search, which a look at single nodes may not show: a selector that fails on a device.
    pub(crate) failure: Option<Finding>,
    /// The Pods for which the claims are, as `namespace/name`: nothing is taken from them.
    pub(crate) own: Vec<String>,
    /// What the nodes have left, where it is about a Pod.
    pub(crate) book: Arc<NodeCache>,
    /// Who has devices, once somebody asked.
    pub(crate) held: Arc<OnceLock<Held>>,
}

/// Where something is that is not Pending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    pub(crate) node: Option<String>,
    pub(crate) text: String,
}

/// What is to be explained.
///
/// # Errors
///
/// A finding, when there is no such subject.
pub(crate) fn cases(cluster: &Cluster, settled: &Settled, request: &Request) -> Result<Vec<Case>, Vec<Finding>> {
    let mut cases = match &request.subject {
        None => pending(cluster, settled),
        Some(subject) if !EXPLAINED.contains(&subject.kind.as_str()) => pods_of(cluster, settled, subject)?,
        Some(subject) => vec![named(cluster, settled, subject)?],
    };
    if let Some(device) = &request.device
        && !cluster.newest_devices().any(|(slice, known)| is_meant(device, &DeviceId::of(slice, known)))
    {
        return Err(vec![Finding { path: "device".to_owned(), ..unknown_device(cluster, device) }]);
    }
    for case in &mut cases {
        if request.nodes.is_empty() {
            continue;
        }
        if let Some(name) = request.nodes.iter().find(|name| !cluster.nodes().contains_key(*name)) {
            let node = ObjectRef::new("Node", "", &**name);
            return Err(vec![Finding { path: "nodes".to_owned(), ..unknown(cluster, &node) }]);
        }
        let (asked, refused): (Vec<String>, Vec<String>) =
            request.nodes.iter().cloned().partition(|name| case.question.nodes.contains(name));
        if case.placed.is_none() && asked.is_empty() && !refused.is_empty() {
            case.is_blocked = true;
        }
        let others = case.question.nodes.iter().filter(|name| !request.nodes.contains(name));
        case.other_nodes = others.cloned().collect();
        case.question.nodes = asked;
    }
    Ok(cases)
}

/// The Pods that a workload has made, itself or through others.
fn pods_of(cluster: &Cluster, settled: &Settled, workload: &ObjectRef) -> Result<Vec<Case>, Vec<Finding>> {
    let key = find(cluster, workload)?;
    let is_own = |pod: &&Key| {
        let pod = cluster.pods().get(*pod);
        let root = pod.and_then(|pod| root_of(cluster, pod)).map(reference);
        root.is_some_and(|root| root.kind == workload.kind && (root.namespace, root.name) == key)
    };
    let cases: Vec<Case> = settled.order.iter().filter(is_own).map(|pod| pod_case(cluster, settled, pod)).collect();
    if cases.is_empty() {
        let message = format!("{} `{}/{}` has no Pods", workload.kind, key.0, key.1);
        let object = ObjectRef::new(&workload.kind, &*key.0, &*key.1);
        let is_refusal = |one: &&Finding| one.code == Code::RunRefused && one.object.as_ref() == Some(&object);
        let refusal = settled.findings.iter().find(is_refusal).map(|refusal| refusal.message.as_str());
        let finding = Finding::new(Code::ReadBadSettings, "subject", message);
        return Err(vec![finding.with_hint(refusal.unwrap_or("there is nothing to explain"))]);
    }
    Ok(cases)
}

/// Every Pod that is Pending, then every claim without devices that no Pod refers to.
pub(crate) fn pending(cluster: &Cluster, settled: &Settled) -> Vec<Case> {
    let mut cases = Vec::new();
    for key in &settled.order {
        let case = pod_case(cluster, settled, key);
        if case.placed.is_none() {
            cases.push(case);
        }
    }
    let is_used = |key: &Key| {
        settled
            .entries
            .iter()
            .any(|(pod, entries)| pod.0 == key.0 && entries.iter().any(|entry| entry.claim.as_ref() == Some(&key.1)))
    };
    for (key, claim) in cluster.claims() {
        if claim.status.allocation.is_none() && !is_used(key) {
            cases.push(claim_case(cluster, settled, key, claim));
        }
    }
    cases
}

fn named(cluster: &Cluster, settled: &Settled, subject: &ObjectRef) -> Result<Case, Vec<Finding>> {
    match subject.kind.as_str() {
        "Pod" => match find(cluster, subject) {
            Ok(key) => Ok(pod_case(cluster, settled, &key)),
            Err(unknown) => gone(cluster, settled, subject).ok_or(unknown),
        },
        "ResourceClaim" => {
            let is_meant =
                |key: &&Key| key.1 == subject.name && (subject.namespace.is_empty() || key.0 == subject.namespace);
            let key = match (find(cluster, subject), settled.going.iter().find(is_meant)) {
                (Ok(key), _) => key,
                (Err(_), Some(key)) => {
                    let subject = ObjectRef::new("ResourceClaim", &*key.0, &*key.1);
                    let problem = problems::gone_claim(&key.1).about(subject.clone());
                    let all_nodes = cluster.nodes().len();
                    return Ok(Case { subject, stage: vec![problem], is_blocked: true, all_nodes, ..Case::default() });
                }
                (Err(unknown), None) => return Err(unknown),
            };
            let claim = cluster.claims().get(&key).cloned().unwrap_or_default();
            Ok(claim_case(cluster, settled, &key, &claim))
        }
        "ResourceClaimTemplate" => {
            let key = find(cluster, subject)?;
            let template = cluster.templates().get(&key).cloned().unwrap_or_default();
            let mut claim = ResourceClaim { spec: template.spec.spec, ..ResourceClaim::default() };
            claim.metadata.namespace.clone_from(&key.0);
            claim.metadata.name.clone_from(&key.1);
            let mut case = claim_case(cluster, settled, &key, &claim);
            "ResourceClaimTemplate".clone_into(&mut case.subject.kind);
            for finding in &mut case.stage {
                finding.object = Some(case.subject.clone());
            }
            Ok(case)
        }
        "PodGroup" => Ok(super::group::case(cluster, settled, &find(cluster, subject)?)),
        _ => Err(vec![unknown(cluster, subject)]),
    }
}

/// The key of the subject; its namespace may be left out where the name says enough.
pub(crate) fn find(cluster: &Cluster, subject: &ObjectRef) -> Result<Key, Vec<Finding>> {
    let all: Vec<ObjectRef> = cluster.keys(&subject.kind).collect();
    let is_meant = |key: &&ObjectRef| {
        key.name == subject.name && (subject.namespace.is_empty() || key.namespace == subject.namespace)
    };
    let found: Vec<&ObjectRef> = all.iter().filter(is_meant).collect();
    let shown = |key: &ObjectRef| format!("{}/{}", key.namespace, key.name);
    match found.as_slice() {
        [only] => Ok((only.namespace.clone(), only.name.clone())),
        [] => Err(vec![Finding { path: "subject".to_owned(), ..unknown(cluster, subject) }]),
        several => {
            let names: Vec<String> = several.iter().map(|key| shown(key)).collect();
            let message = format!("`{}` could be {}", subject.name, list(names.iter()));
            let hint = "name one with its namespace";
            Err(vec![Finding::new(Code::ReadBadSettings, "subject", message).with_hint(hint)])
        }
    }
}

/// A Pod that is gone because it had to go for another one.
fn gone(cluster: &Cluster, settled: &Settled, subject: &ObjectRef) -> Option<Case> {
    let is_meant = |pod: &Key| pod.1 == subject.name && (subject.namespace.is_empty() || pod.0 == subject.namespace);
    let key = settled.preempted.iter().map(|one| &one.pod).rfind(|pod| is_meant(pod))?;
    Some(Case {
        subject: ObjectRef::new("Pod", &*key.0, &*key.1),
        stage: preemption::of_pod(&settled.preempted, key).into_iter().collect(),
        is_blocked: true,
        all_nodes: cluster.nodes().len(),
        ..Case::default()
    })
}

/// Codes of reasons that are about devices, which are explained anew.
fn is_about_devices(finding: &Finding) -> bool {
    matches!(
        finding.code,
        Code::RunTooFewDevices
            | Code::RunTooFewMatching
            | Code::RunDevicesUnusable
            | Code::RunDevicesTainted
            | Code::RunDevicesInUse
            | Code::RunDevicesTogether
            | Code::RunGaveUp
            | Code::RunSchedulerMessage
            | Code::AllocSelectorCompile
            | Code::AllocSelectorRuntime
            | Code::AllocInvalidPool
    )
}

pub(crate) fn pod_case(cluster: &Cluster, settled: &Settled, key: &Key) -> Case {
    let seen = cluster.pods().get(key).and_then(|pod| settled.seen_by(cluster, pod));
    let book = seen.as_ref().map_or_else(|| settled.book(cluster), |seen| Arc::new(NodeCache::new(seen)));
    let mut case = pod_case_of(seen.as_ref().unwrap_or(cluster), settled, key, book);
    if seen.is_none() {
        case.held = Arc::clone(&settled.held);
    }
    case.is_of_group = seen.is_some();
    case.seen = seen;
    case
}

fn pod_case_of(cluster: &Cluster, settled: &Settled, key: &Key, book: Arc<NodeCache>) -> Case {
    let subject = ObjectRef { kind: "Pod".to_owned(), namespace: key.0.clone(), name: key.1.clone() };
    let mut case = Case { subject, all_nodes: cluster.nodes().len(), book, ..Case::default() };
    let Some(pod) = cluster.pods().get(key) else { return case };
    let verdict = settled.verdicts.get(key).cloned().unwrap_or_default();
    case.own = super::group::members(cluster, pod);
    let is_finished = verdict.reasons.iter().any(|finding| finding.code == Code::RunFinished);
    if let Some(node) = verdict.node.clone().filter(|_| verdict.reasons.is_empty()) {
        let others = preemption::went_for(&settled.preempted, key);
        let text = format!("Pod `{}` has a place on node `{node}`{others}", key.1);
        case.placed = Some(Placed { node: Some(node), text });
        case.stage.extend(preemption::of_pod(&settled.preempted, key));
        return case;
    }
    if is_finished {
        let text = verdict.reasons.first().map(|finding| finding.message.clone()).unwrap_or_default();
        case.placed = Some(Placed { node: verdict.node, text });
        case.stage = verdict.reasons;
        return case;
    }
    case.failure = verdict.reasons.iter().find(|finding| finding.code == Code::AllocSelectorRuntime).cloned();
    case.stage = verdict.reasons.into_iter().filter(|finding| !is_about_devices(finding)).collect();
    // The controller of a StatefulSet gives another Pod the name of the one that had to go.
    case.stage.extend(preemption::of_pod(&settled.preempted, key));
    case.stage.extend(super::group::near_misses(cluster, pod));
    let entries = settled.entries.get(key).map(Vec::as_slice).unwrap_or_default();
    let claims = claims_of(cluster, &key.0, entries);
    nodes_of_pod(cluster, settled, pod, &claims, &mut case);
    let node_reasons = [Code::RunNodeUnsuitable, Code::RunClaimElsewhere, Code::LinkNearGroupClaim, Code::RunPreempted];
    let is_slice = |finding: &Finding| finding.object.as_ref().is_some_and(|object| object.kind == "ResourceSlice");
    let is_hard = |finding: &Finding| !node_reasons.contains(&finding.code) && !is_slice(finding);
    let is_stuck = case.stage.iter().any(is_hard);
    let is_nowhere = case.question.nodes.is_empty();
    case.is_blocked = is_stuck || is_nowhere;
    case.pod = (!is_stuck).then(|| key.clone());
    if is_nowhere {
        // Devices are looked at on a node before it is refused for the sake of an allocated claim.
        case.stage.extend(case.failure.clone());
    }
    case.stage.arrange_by_key(|finding| !is_hard(finding));
    case
}

/// The nodes that take the Pod, and the claims that are to be allocated there.
fn nodes_of_pod(cluster: &Cluster, settled: &Settled, pod: &Arc<Pod>, claims: &[&ResourceClaim], case: &mut Case) {
    let is_allocated = |claim: &&ResourceClaim| claim.status.allocation.is_some();
    let (allocated, unallocated): (Vec<&ResourceClaim>, Vec<&ResourceClaim>) =
        claims.iter().copied().partition(is_allocated);
    // Where its claims have devices is a Pod's own, and what the Pods before it in its group take.
    let taking = match allocated.is_empty() && settled.has_book(&case.book) {
        true => settled.taking.borrow_mut().of(pod, || taking(cluster, pod, &[], case)),
        false => Arc::new(taking(cluster, pod, &allocated, case)),
    };
    case.question.nodes.clone_from(&taking.nodes);
    case.unallocated = unallocated.into_iter().cloned().collect();
    case.allocated = allocated.into_iter().cloned().collect();
    case.question.claims.clone_from(&case.unallocated);
    case.question.claims.extend(taking.extended.as_ref().map(|extended| special::claim(pod, extended)));
}

fn taking(cluster: &Cluster, pod: &Pod, allocated: &[&ResourceClaim], case: &Case) -> Taking {
    let mut topology = case.book.topology();
    let filters = PodFilters::of(cluster, &mut topology, pod);
    let mut nodes = Vec::new();
    let mut extended_here = None;
    for state in case.book.nodes() {
        let extended = extended::on_node(cluster, pod, &state.node);
        if filters.refuse(&topology, state, extended.as_ref()) || !allocated.iter().all(|claim| reaches(claim, state)) {
            continue;
        }
        // Nodes that need another claim for extended resources are asked on their own; the first kind is explained.
        if *extended_here.get_or_insert_with(|| extended.clone()) == extended {
            nodes.push(state.name().to_owned());
        }
    }
    Taking { nodes, extended: extended_here.flatten() }
}

/// What the Pod of a case asks for with copies of some of its allocated claims in the place of these.
pub(crate) fn with_own_claims(cluster: &Cluster, case: &Case, pod: &Pod, shared: &[&ResourceClaim]) -> Question {
    let kept: Vec<&ResourceClaim> = case.allocated.iter().filter(|claim| !shared.contains(claim)).collect();
    let taking = taking(cluster, pod, &kept, case);
    let own = shared.iter().map(|claim| freed(claim));
    let special = taking.extended.as_ref().map(|extended| special::claim(pod, extended));
    let claims = case.unallocated.iter().cloned().chain(own).chain(special).collect();
    Question { claims, nodes: taking.nodes, ..Question::default() }
}

fn claim_case(cluster: &Cluster, settled: &Settled, key: &Key, claim: &ResourceClaim) -> Case {
    let subject = claim.metadata.reference("ResourceClaim");
    let nodes: Vec<String> = cluster.nodes().keys().cloned().collect();
    let held = Arc::clone(&settled.held);
    let mut case = Case { subject, all_nodes: nodes.len(), held, ..Case::default() };
    if let Some(allocation) = &claim.status.allocation {
        let results = &allocation.devices.results;
        let devices: Vec<String> = results.iter().map(|result| format!("{}/{}", result.pool, result.device)).collect();
        let what = if results.len() == 1 { "device" } else { "devices" };
        let text = format!("claim `{}` has the {what} {}", key.1, list(devices.iter()));
        case.placed = Some(Placed { node: None, text });
        return case;
    }
    if !claim.metadata.deletion_timestamp.is_empty() {
        let problem = problems::deleted_claim(&key.1, &claim.metadata.finalizers);
        case.stage.push(problem.about(case.subject.clone()));
    }
    case.stage.extend(request_problems(cluster, claim));
    case.is_blocked = !case.stage.is_empty();
    for (pod, entries) in settled.entries.iter().filter(|(pod, _)| pod.0 == key.0) {
        let is_user = entries.iter().any(|entry| entry.claim.as_ref() == Some(&key.1));
        let is_pending = settled.verdicts.get(pod).is_some_and(|verdict| verdict.node.is_none());
        if let (true, true, Some(found)) = (is_user, is_pending, cluster.pods().get(pod)) {
            let message = format!("Pod `{}` that uses the claim is Pending; it may need more than this claim", pod.1);
            let finding = Origin::of(cluster, found).finding(Code::RunNotAllocated, "", message);
            case.stage.push(finding.with_hint("explain the Pod to see all that it needs at once"));
            break;
        }
    }
    case.question = Question { claims: vec![claim.clone()], nodes, ..Question::default() };
    case
}

/// Turns a finding about a claim to what the user wrote.
pub(crate) fn of_template(cluster: &Cluster, claims: &[ResourceClaim], finding: Finding) -> Finding {
    let Some(object) = finding.object.clone().filter(|object| object.kind == "ResourceClaim") else { return finding };
    match claims.iter().find(|claim| claim.metadata.name == object.name) {
        Some(claim) => about_claim(cluster, claim, finding),
        None => finding,
    }
}
