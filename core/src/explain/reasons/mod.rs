//! Why a Pod has no node, or does not run on it, in words: from what the scheduler and the kubelet say as data.

pub(crate) mod entries;
mod nodes;
pub(crate) mod problems;
mod selection;
mod shortfall;
mod tolerations;

pub(crate) use entries::{Entry, claims_of, entries};

use std::collections::{BTreeMap, BTreeSet};

use crate::api::claim::ResourceClaim;
use crate::api::group::PodGroup;
use crate::api::pod::Pod;
use crate::cluster::{Cluster, Key};
use crate::control_plane::Simulation;
use crate::controllers::kubelet::{Permission, Refusal, may_use};
use crate::decision::{MAX_RESERVATIONS, Time};
use crate::explain::group;
use crate::explain::origin::{Origin, about_claim};
use crate::finding::{Code, Finding, list};
use crate::gather::Gather;
use crate::near::{did_you_mean, nearest};
use crate::scheduler::Examination;
use crate::scheduler::preemption::{Preemption, is_preempted};
use crate::scheduler::refusal::Cause;
use problems::request_problems;

/// What became of one Pod.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Verdict {
    /// Its node.
    pub(crate) node: Option<String>,
    /// Why it has none, or does not run there; most important first.
    pub(crate) reasons: Vec<Finding>,
}

/// What became of a Pod of a control plane at rest. `examine` is asked for how far it comes where nothing else keeps it.
pub(crate) fn verdict(
    simulation: &mut Simulation,
    key: &Key,
    entries: &[Entry],
    examine: impl FnOnce(&mut Simulation) -> Examination,
) -> Verdict {
    let cluster = simulation.server().cluster();
    let Some(pod) = cluster.pods().get(key) else { return Verdict::default() };
    let origin = Origin::of(cluster, pod);
    let node = (!pod.spec.node_name.is_empty()).then(|| pod.spec.node_name.clone());
    if pod.is_finished() {
        let message = format!("the Pod has ended as `{}` and uses nothing", pod.status.phase);
        return Verdict { node, reasons: vec![origin.finding(Code::RunFinished, "", message)] };
    }
    if node.is_some() {
        return Verdict { reasons: not_started(cluster, pod, &origin, entries), node };
    }
    if pod.metadata.is_deleting() {
        let message = "the Pod is being deleted and is not scheduled any more";
        return Verdict { node, reasons: vec![origin.finding(Code::RunFinished, "", message)] };
    }
    let reasons = held(cluster, pod, &origin, entries);
    let reasons = if reasons.is_empty() {
        let examination = examine(simulation);
        unscheduled(simulation.server().cluster(), key, &origin, entries, examination)
    } else {
        reasons
    };
    Verdict { node: None, reasons }
}

/// Why the kubelet does not start a Pod that has a node.
fn not_started(cluster: &Cluster, pod: &Pod, origin: &Origin, entries: &[Entry]) -> Vec<Finding> {
    if pod.status.phase == "Running" {
        return Vec::new();
    }
    let mut reasons: Vec<Finding> = entries.iter().filter_map(|entry| entry.problem.clone()).collect();
    let have_problems = !reasons.is_empty();
    let node = &pod.spec.node_name;
    if !cluster.nodes().contains_key(node) {
        let message = format!("node `{node}` does not exist, so nothing starts the Pod");
        let finding = origin.finding(Code::RunNotStarted, "spec.nodeName", message);
        let meant = did_you_mean(node, &mut cluster.nodes().keys().map(String::as_str));
        reasons.push(meant.into_iter().fold(finding, Finding::with_hint));
    }
    if have_problems {
        return reasons;
    }
    let groups = cluster.profile().features.workload_resource_claims;
    for (index, permission) in may_use(cluster, pod, groups).into_iter().enumerate() {
        let Permission::Refused(refusal) = permission else { continue };
        let path = format!("spec.resourceClaims[{index}]");
        let is_allocated = |claim: &str| {
            let found = cluster.claims().get(&(pod.metadata.namespace.clone(), claim.to_owned()));
            found.is_none_or(|claim| claim.status.allocation.is_some())
        };
        let (code, message, hint) = match &refusal {
            Refusal::NotReserved(claim) if is_allocated(claim) => (
                Code::RunNotStarted,
                format!("claim `{claim}` is not reserved for the Pod, so the kubelet does not start it"),
                "let the scheduler place the Pod, or use a claim that the Pod may share",
            ),
            Refusal::NotAllocated(claim) | Refusal::NotReserved(claim) => (
                Code::RunNotAllocated,
                format!("claim `{claim}` has no devices, so the kubelet does not start the Pod"),
                "leave out `nodeName` and select the node with `nodeSelector`, so that the Pod is scheduled",
            ),
            Refusal::Elsewhere { claim, node } => (
                Code::RunNotStarted,
                format!(
                    "node `{node}` has no access to the devices of claim `{claim}`, so the Pod does not start there"
                ),
                "leave out `nodeName`, so that the scheduler chooses a node that has access",
            ),
            Refusal::Foreign(claim) => (
                Code::RunNotStarted,
                format!("claim `{claim}` was made for another Pod, so the kubelet does not start this one"),
                "delete the Pod, so that its controller makes it and its claims again",
            ),
            Refusal::Missing(claim) => (
                Code::RunMissingClaim,
                format!("claim `{claim}` does not exist, so the kubelet does not start the Pod"),
                "create the ResourceClaim",
            ),
            Refusal::NotCreated => (
                Code::RunClaimNotMade,
                "the claim of the Pod was not made yet, so the kubelet does not start the Pod".to_owned(),
                "check that the template exists",
            ),
        };
        reasons.push(origin.finding(code, &path, message).with_hint(hint));
    }
    reasons
}

/// Why a Pod is not tried at all.
fn held(cluster: &Cluster, pod: &Pod, origin: &Origin, entries: &[Entry]) -> Vec<Finding> {
    let mut problems: Vec<Finding> = entries.iter().filter_map(|entry| entry.problem.clone()).collect();
    let first = |finding: Finding| std::iter::once(finding).chain(problems.iter().cloned()).collect();
    if !pod.spec.scheduling_gates.is_empty() {
        let gates: Vec<String> = pod.spec.scheduling_gates.iter().filter_map(nodes::gate_name).collect();
        let message = format!("scheduling waits for {}", list(gates.iter()));
        return first(origin.finding(Code::RunSchedulingGated, "spec.schedulingGates", message));
    }
    if !cluster.has_scheduler_of(pod) {
        let (scheduler, names) = (pod.scheduler(), cluster.schedulers());
        let (message, hint) = if names.is_empty() {
            (
                format!("scheduler `{scheduler}` is responsible for the Pod, and only kube-scheduler is simulated"),
                "write `schedulerName: default-scheduler` to see what kube-scheduler would do".to_owned(),
            )
        } else {
            let hint = match nearest(scheduler, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", list(names.iter().map(ToString::to_string).collect::<Vec<_>>().iter())),
            };
            (format!("the KubeSchedulerConfiguration has no scheduler `{scheduler}`"), hint)
        };
        let finding = origin.finding(Code::RunNotModelled, "spec.schedulerName", message);
        return first(finding.with_hint(hint));
    }
    if let Some(hold) = group::holds(cluster, pod) {
        // What was refused is not mended by Pods to come.
        let is_last = |problem: &Finding| matches!(problem.code, Code::RunRefused | Code::RunAdminNamespace);
        problems.retain(|problem| is_last(problem) && *problem != hold);
        problems.insert(0, hold);
    }
    problems
}

/// Why the scheduler has no place for a Pod.
fn unscheduled(
    cluster: &Cluster,
    key: &Key,
    origin: &Origin,
    entries: &[Entry],
    examination: Examination,
) -> Vec<Finding> {
    let Some(pod) = cluster.pods().get(key) else { return Vec::new() };
    let claims = claims_of(cluster, &key.0, entries);
    let asked = nodes::Asked { cluster, origin, claims: &claims, pod };
    let said = |message: String| Finding::new(Code::RunSchedulerMessage, "", message);
    match examination {
        Examination::Held => vec![waits(cluster, pod, origin)],
        Examination::Fits { node, waits: drivers } => {
            // Of a gang that does not fit no claim has devices.
            let waiting = |(name, deadline): (String, Option<Time>)| {
                let claim = claims.iter().find(|claim| claim.metadata.name == name);
                let claim = claim.filter(|claim| claim.status.allocation.is_some())?;
                Some(waits_for_drivers(cluster, claim, &node, deadline.map(|time| time.to_string())))
            };
            let mut reasons: Vec<Finding> = drivers.into_iter().filter_map(waiting).collect();
            if reasons.is_empty() {
                reasons.push(waits(cluster, pod, origin));
                reasons.extend(pod.last_refusal().map(|text| said(text.to_owned())));
            }
            reasons
        }
        Examination::Unfit { message, cause } => {
            let mut reasons = match cause {
                Cause::Nodes { nodes, claims } => {
                    let waits = waits_for_others(cluster, pod, nodes.preemption.as_ref());
                    let waits = waits.map(|message| origin.finding(Code::RunWaits, "spec.priority", message));
                    waits.into_iter().chain(nodes::of_nodes(&asked, &nodes, &claims)).collect()
                }
                Cause::Request(_) => {
                    let open = claims.iter().filter(|claim| claim.status.allocation.is_none());
                    open.flat_map(|claim| request_problems(cluster, claim)).collect()
                }
                Cause::Claim(failure) => vec![nodes::of_template(&asked, failure.finding)],
                Cause::GaveUp { node } => {
                    let message = format!("the search for devices was given up at its step limit, on node `{node}`");
                    vec![origin.finding(Code::RunGaveUp, "", message).with_hint("raise the step limit")]
                }
                Cause::NoReservation { claim } => {
                    let message = format!("claim `{claim}` is reserved for {MAX_RESERVATIONS} consumers already");
                    let finding = Finding::new(Code::RunReservationsFull, "", message).with_hint(
                        "give other Pods a claim of their own, or list the claim in a PodGroup, which takes one reservation for all \
                         of its Pods (feature gate `DRAWorkloadResourceClaims`, from Kubernetes 1.36)",
                    );
                    let found = claims.iter().find(|known| known.metadata.name == claim);
                    vec![found.map_or(finding.clone(), |known| about_claim(cluster, known, finding))]
                }
                Cause::Other => Vec::new(),
            };
            if reasons.is_empty() {
                reasons.push(waits(cluster, pod, origin));
            }
            reasons.push(said(message));
            reasons
        }
    }
}

/// That others are going to make room for a Pod, where they are.
fn waits_for_others(cluster: &Cluster, pod: &Pod, preemption: Option<&Preemption>) -> Option<String> {
    let (node, victims) = match preemption? {
        Preemption::Takes(takeover) => (takeover.node.clone(), takeover.victims.clone()),
        Preemption::NotEligible(_) if !pod.status.nominated_node_name.is_empty() => {
            let node = pod.status.nominated_node_name.clone();
            let going = cluster.pods().iter().filter(|(_, other)| {
                other.spec.node_name == node && other.priority() < pod.priority() && is_preempted(other)
            });
            let victims = going.map(|(key, _)| key.clone()).collect();
            (node, victims)
        }
        Preemption::NotEligible(_) | Preemption::Nobody(_) => return None,
    };
    let names: Vec<String> = victims.iter().map(|key| format!("{}/{}", key.0, key.1)).collect();
    let has = if names.len() == 1 { "has" } else { "have" };
    Some(format!("the Pod waits for node `{node}`, which {} {has} to leave to make room for it", list(names.iter())))
}

/// A Pod whose devices wait for their drivers.
fn waits_for_drivers(cluster: &Cluster, claim: &ResourceClaim, node: &str, deadline: Option<String>) -> Finding {
    let conditions: BTreeSet<&String> = claim.results().flat_map(|result| &result.binding_conditions).gather();
    let until = deadline.map(|time| format!(", until {time}")).unwrap_or_default();
    let message = format!(
        "claim `{}` has devices on node `{node}` and waits for their driver to report {}{until}",
        claim.metadata.name,
        list(conditions.into_iter())
    );
    about_claim(cluster, claim, Finding::new(Code::RunBindingConditions, "", message))
        .with_hint("the Pod is bound once the driver reports the conditions; look at the driver's log if it does not")
}

/// Why a Pod that would find a place by itself has none.
fn waits(cluster: &Cluster, pod: &Pod, origin: &Origin) -> Finding {
    let features = &cluster.profile().features;
    let Some(name) = pod.group_name().filter(|_| features.generic_workload) else {
        return origin.finding(Code::RunWaits, "", "the Pod fits now and is waiting to be tried again");
    };
    let key = (pod.metadata.namespace.clone(), name.to_owned());
    let min_count = cluster.pod_groups().get(&key).and_then(|group| group.min_count());
    let message = match min_count {
        Some(min_count) => format!(
            "the Pod fits on its own, but the {min_count} Pods that the gang of PodGroup `{name}` needs do not fit together"
        ),
        None => format!("the Pod fits on its own and waits for PodGroup `{name}` to be tried again"),
    };
    origin.finding(Code::RunGroupWaits, "spec.schedulingGroup.podGroupName", message)
}

/// Names the members for which a gang waits because the scheduler does not try them, in the reasons of all others.
pub(crate) fn name_those_waited_for(cluster: &Cluster, verdicts: &mut BTreeMap<Key, Verdict>) {
    let first = |verdict: &Verdict| verdict.reasons.first().map(|reason| reason.code);
    let gangs: BTreeSet<Key> = verdicts
        .iter()
        .filter(|(_, verdict)| first(verdict) == Some(Code::RunGroupWaits))
        .filter_map(|(key, _)| Some((key.0.clone(), cluster.pods().get(key)?.group_name()?.to_owned())))
        .gather();
    for gang in gangs {
        let Some(least) = cluster.pod_groups().get(&gang).and_then(PodGroup::min_count) else { continue };
        let members: Vec<&Pod> = cluster.pods_of_group(&gang).map(AsRef::as_ref).collect();
        let is_held = |pod: &&&Pod| {
            let held = || held(cluster, pod, &Origin::of(cluster, pod), &entries(cluster, pod));
            pod.spec.node_name.is_empty() && !pod.is_finished() && !held().is_empty()
        };
        let waited: Vec<&String> = members.iter().filter(is_held).map(|pod| &pod.metadata.name).collect();
        let rest = i64::try_from(members.len().saturating_sub(waited.len())).unwrap_or(i64::MAX);
        if waited.is_empty() || rest >= least {
            continue;
        }
        let pods = if waited.len() == 1 { "Pod" } else { "Pods" };
        let message = format!(
            "the Pod fits on its own; the gang of PodGroup `{}` needs {least} Pods at once and waits for {pods} {}",
            gang.1,
            list(waited.into_iter())
        );
        for key in members.iter().map(|pod| (gang.0.clone(), pod.metadata.name.clone())) {
            let reason = verdicts.get_mut(&key).and_then(|verdict| verdict.reasons.first_mut());
            if let Some(reason) = reason.filter(|reason| reason.code == Code::RunGroupWaits) {
                reason.message.clone_from(&message);
            }
        }
    }
}
