//! Why a Pod stays Pending, from what the nodes and the allocator said.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::allocate::{NodeRefusal, Outcome, RequestFunnel};
use crate::api::claim::ResourceClaim;
use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::finding::{Code, Finding};

use super::claims::Origin;
use super::infer::list;
use super::node_fit::{Lack, NodeState, Refusal};
use super::problems::about_claim;

/// What was asked, for the words of the answer.
pub(crate) struct Asked<'a> {
    /// The facts.
    pub(crate) cluster: &'a Cluster,
    /// Where the Pod's fields stand.
    pub(crate) origin: &'a Origin,
    /// The Pod's claims.
    pub(crate) claims: &'a [&'a ResourceClaim],
    /// All nodes.
    pub(crate) nodes: &'a [NodeState],
    /// Nodes where the Pod would fit if other Pods left.
    pub(crate) curable: usize,
}

/// The first test that leaves too few devices; a later one is nearer to fitting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    Access,
    Matching,
    Tolerated,
    Free,
    Together,
}

/// The reasons, most important first: what the allocator said of the nodes that came nearest, then claims that are
/// allocated elsewhere, then nodes refused for ordinary reasons, at last kube-scheduler's own line.
pub(crate) fn pending(
    asked: &Asked<'_>,
    outcome: Option<Outcome>,
    elsewhere: &BTreeMap<usize, Vec<String>>,
    ordinary: &BTreeMap<Refusal, Vec<String>>,
) -> Vec<Finding> {
    let mut reasons = Vec::new();
    let mut texts: Vec<(usize, String)> = Vec::new();
    match outcome {
        Some(Outcome::Unsatisfied { nodes }) => {
            refused(asked, &nodes, &mut reasons, &mut texts);
        }
        Some(Outcome::Failed { failure, .. }) => {
            // One node with such an error ends the Pod's cycle, whatever the others say.
            reasons.push(of_template(asked, failure.finding));
            let message = format!("running \"DynamicResources\" filter plugin: {}", failure.reference);
            reasons.push(Finding::new(Code::RunSchedulerMessage, "", message));
            return reasons;
        }
        Some(Outcome::GaveUp { node, nodes }) => {
            let message = format!("the search for devices was given up at its step limit, on node `{node}`");
            reasons.push(asked.origin.finding(Code::RunGaveUp, "", message).with_hint("raise the step limit"));
            refused(asked, &nodes, &mut reasons, &mut texts);
        }
        Some(Outcome::Allocated { .. }) | None => {}
    }
    for (index, nodes) in elsewhere {
        if let Some(claim) = asked.claims.get(*index) {
            let subject = subject(nodes, asked.nodes.len(), "has", "have");
            let message = format!("{subject} no access to the devices of claim `{}`", claim.metadata.name);
            reasons.push(about_claim(asked.cluster, claim, Finding::new(Code::RunClaimElsewhere, "", message)));
            texts.push((nodes.len(), "resourceclaim not available on the node".to_owned()));
        }
    }
    let mut plain: Vec<(&Refusal, &Vec<String>)> = ordinary.iter().collect();
    plain.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    for (refusal, nodes) in plain {
        reasons.push(unsuitable(asked, refusal, nodes));
        texts.push((nodes.len(), refusal.to_string()));
    }
    let after = if asked.claims.is_empty() { "no new claims to deallocate" } else { "still not schedulable" };
    reasons.push(scheduler_message(asked.nodes.len(), &counted(texts), after, asked.curable));
    reasons
}

/// kube-scheduler's line about a Pod: what its filters said, what came after, and what preemption would do.
pub(crate) fn scheduler_message(nodes: usize, filters: &str, after: &str, curable: usize) -> Finding {
    let none = format!("0/{nodes} nodes are available");
    let preemption = counted(vec![
        (nodes.saturating_sub(curable), "Preemption is not helpful for scheduling.".to_owned()),
        (curable, "No preemption victims found for incoming pod.".to_owned()),
    ]);
    let message = format!("{none}: {filters}. {after}, preemption: {none}: {preemption}");
    Finding::new(Code::RunSchedulerMessage, "", message)
}

/// Texts with the number of nodes that they hold for, sorted as texts.
fn counted(texts: Vec<(usize, String)>) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (count, text) in texts {
        let entry = counts.entry(text).or_default();
        *entry = entry.saturating_add(count);
    }
    let mut parts: Vec<String> =
        counts.into_iter().filter(|(_, count)| *count > 0).map(|(text, count)| format!("{count} {text}")).collect();
    parts.sort();
    parts.join(", ")
}

/// Turns a finding about a generated claim to its template.
fn of_template(asked: &Asked<'_>, finding: Finding) -> Finding {
    let Some(object) = finding.object.clone() else { return finding.about(asked.origin.object.clone()) };
    let claim = asked.claims.iter().find(|claim| object.kind == "ResourceClaim" && claim.metadata.name == object.name);
    match claim {
        Some(claim) => about_claim(asked.cluster, claim, finding),
        None => finding,
    }
}

fn unsuitable(asked: &Asked<'_>, refusal: &Refusal, nodes: &[String]) -> Finding {
    let subject = |one: &str, several: &str| subject(nodes, asked.nodes.len(), one, several);
    let has = || subject("has", "have");
    let finding = |path: &str, message: String| asked.origin.finding(Code::RunNodeUnsuitable, path, message);
    match refusal {
        Refusal::Unschedulable => finding("", format!("{} marked as unschedulable", subject("is", "are")))
            .with_hint("`kubectl uncordon` makes a node schedulable again"),
        Refusal::Taint { key, value } => {
            let taint = if value.is_empty() { key.clone() } else { format!("{key}={value}") };
            finding("spec.tolerations", format!("{} the taint `{taint}`, which the Pod does not tolerate", has()))
                .with_hint("add a toleration to the Pod")
        }
        Refusal::Affinity => {
            let does = subject("does", "do");
            finding("spec", format!("{does} not match the Pod's node selector or required node affinity"))
        }
        Refusal::Insufficient { resource, lack } => {
            let message = match lack {
                Lack::Absent => format!("{} no `{resource}`", has()),
                Lack::TooSmall => format!("{} less `{resource}` than the Pod asks for", has()),
                Lack::InUse => format!("{} too little `{resource}` left", has()),
            };
            let class = asked.cluster.classes().values().find(|class| {
                class.spec.extended_resource_name.as_deref() == Some(resource)
                    || resource.strip_prefix("deviceclass.resource.kubernetes.io/") == Some(&class.metadata.name)
            });
            let finding = finding("spec", message);
            match class {
                Some(class) => finding.with_hint(format!(
                    "device class `{}` serves it; such requests are not played by a run yet, so ask for the class in a claim",
                    class.metadata.name
                )),
                None if resource.contains('/') => finding.with_hint("a node offers it in `status.allocatable`"),
                None => finding,
            }
        }
    }
}

/// Groups refused nodes by what stopped them.
fn refused(asked: &Asked<'_>, nodes: &[NodeRefusal], reasons: &mut Vec<Finding>, texts: &mut Vec<(usize, String)>) {
    let mut failed: Vec<(Finding, Vec<String>)> = Vec::new();
    let mut groups: BTreeMap<(Stage, String, String), Vec<&NodeRefusal>> = BTreeMap::new();
    for refusal in nodes {
        if let Some(failure) = &refusal.failure {
            texts.push((1, failure.reference.clone()));
            match failed.iter_mut().find(|(finding, _)| *finding == failure.finding) {
                Some((_, nodes)) => nodes.push(refusal.node.clone()),
                None => failed.push((failure.finding.clone(), vec![refusal.node.clone()])),
            }
            continue;
        }
        texts.push((1, "cannot allocate all claims".to_owned()));
        let (stage, claim, request) = bottleneck(&refusal.requests);
        groups.entry((stage, claim, request)).or_default().push(refusal);
    }
    // Nearest to fitting first, then what holds for most nodes.
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|((left, ..), some), ((right, ..), others)| right.cmp(left).then(others.len().cmp(&some.len())));
    for ((stage, claim, request), refusals) in groups {
        let finding = describe(stage, &claim, &request, &refusals);
        reasons.push(match asked.claims.iter().find(|known| known.metadata.name == claim) {
            Some(known) => about_claim(asked.cluster, known, located(known, &request, finding)),
            None => finding.about(asked.origin.object.clone()),
        });
    }
    for (finding, nodes) in failed {
        let message = format!("{} (on {})", finding.message, list(nodes.iter()));
        reasons.push(of_template(asked, Finding { message, ..finding }));
    }
}

/// The request that fails first on a node, and at which test; alternatives of a request fail only together.
fn bottleneck(funnels: &[RequestFunnel]) -> (Stage, String, String) {
    let mut best: BTreeMap<(usize, String, String), Stage> = BTreeMap::new();
    let mut order: Vec<(String, String)> = Vec::new();
    for funnel in funnels {
        let key = (funnel.claim.clone(), main(&funnel.request).to_owned());
        let position = order.iter().position(|known| *known == key).unwrap_or_else(|| {
            order.push(key.clone());
            order.len().saturating_sub(1)
        });
        let stage = stage(funnel);
        let entry = best.entry((position, key.0, key.1)).or_insert(stage);
        *entry = (*entry).max(stage);
    }
    let first = best.iter().find(|(_, stage)| **stage != Stage::Together);
    match first.or_else(|| best.iter().next()) {
        Some(((_, claim, request), Stage::Together)) => {
            let (claim, request) =
                if order.len() > 1 { (claim.clone(), String::new()) } else { (claim.clone(), request.clone()) };
            (Stage::Together, claim, request)
        }
        Some(((_, claim, request), stage)) => (*stage, claim.clone(), request.clone()),
        None => (Stage::Together, String::new(), String::new()),
    }
}

fn main(request: &str) -> &str {
    request.split_once('/').map_or(request, |(main, _)| main)
}

fn stage(funnel: &RequestFunnel) -> Stage {
    let counts = [
        (funnel.devices, Stage::Access),
        (funnel.matching, Stage::Matching),
        (funnel.tolerated, Stage::Tolerated),
        (funnel.free, Stage::Free),
    ];
    // `All` may need nothing that is counted, but at least one device.
    let needed = funnel.needed.max(1);
    counts.into_iter().find(|(count, _)| *count < needed).map_or(Stage::Together, |(_, stage)| stage)
}

fn describe(stage: Stage, claim: &str, request: &str, refusals: &[&NodeRefusal]) -> Finding {
    let nodes: Vec<String> = refusals.iter().map(|refusal| refusal.node.clone()).collect();
    let place = if nodes.len() == 1 { list(nodes.iter()) } else { format!("{} nodes", nodes.len()) };
    if stage == Stage::Together {
        let what = if request.is_empty() {
            "each request finds enough devices by itself, but not all of them together".to_owned()
        } else {
            format!("enough devices match request `{request}`, but no choice of them satisfies the constraints")
        };
        let message = format!("claim `{claim}` does not fit on {place}: {what}");
        return Finding::new(Code::RunDevicesTogether, "", message)
            .with_hint("requests compete for the same devices, or a constraint leaves no choice");
    }
    let mut alternatives: Vec<&str> = Vec::new();
    for funnel in refusals.iter().flat_map(|refusal| &refusal.requests) {
        let is_asked = funnel.claim == claim && main(&funnel.request) == request;
        if is_asked && !alternatives.contains(&funnel.request.as_str()) {
            alternatives.push(&funnel.request);
        }
    }
    let clauses: Vec<String> = alternatives
        .iter()
        .map(|name| {
            let funnels: Vec<&RequestFunnel> = refusals
                .iter()
                .flat_map(|refusal| &refusal.requests)
                .filter(|funnel| funnel.claim == claim && funnel.request == **name)
                .collect();
            counts(&funnels, &place)
        })
        .collect();
    let message = match (alternatives.as_slice(), clauses.as_slice()) {
        ([_], [clause]) => format!("request `{request}` of claim `{claim}` {clause}"),
        _ => {
            let parts: Vec<String> =
                alternatives.iter().zip(&clauses).map(|(name, clause)| format!("`{name}` {clause}")).collect();
            format!("no alternative of request `{request}` of claim `{claim}` fits: {}", parts.join("; "))
        }
    };
    let (code, hint) = match stage {
        Stage::Access => {
            (Code::RunTooFewDevices, "check that slices of the driver are given and their pools are complete")
        }
        Stage::Matching => {
            (Code::RunTooFewMatching, "compare class and selectors with the devices' attributes and capacity")
        }
        Stage::Tolerated => (Code::RunDevicesTainted, "add a toleration to the request, or remove the taint"),
        Stage::Free | Stage::Together => {
            (Code::RunDevicesInUse, "ask for less, let Pods share a claim, or add devices")
        }
    };
    Finding::new(code, "", message).with_hint(hint)
}

/// `needs 2 devices; 3 nodes offer 6 devices, 4 match class and selectors, 1 is free`.
fn counts(funnels: &[&RequestFunnel], place: &str) -> String {
    let sum =
        |field: fn(&RequestFunnel) -> u64| funnels.iter().map(|funnel| field(funnel)).fold(0u64, u64::saturating_add);
    let needed = funnels.first().map_or(1, |funnel| funnel.needed.max(1));
    let (devices, matching) = (sum(|funnel| funnel.devices), sum(|funnel| funnel.matching));
    let (tolerated, free) = (sum(|funnel| funnel.tolerated), sum(|funnel| funnel.free));
    let several = funnels.len() > 1;
    let mut text = format!(
        "needs {needed} device{}{}; {place} offer{} {devices}",
        if needed == 1 { "" } else { "s" },
        if several && needed > 1 { " on one node" } else { "" },
        if several { "" } else { "s" },
    );
    let worst = funnels.iter().map(|funnel| stage(funnel)).max().unwrap_or(Stage::Access);
    if worst >= Stage::Matching {
        text.push_str(&format!(", {matching} match{} class and selectors", if matching == 1 { "es" } else { "" }));
    }
    if worst >= Stage::Tolerated && tolerated < matching {
        text.push_str(&format!(", {tolerated} of these without untolerated taints"));
    }
    if worst >= Stage::Free {
        text.push_str(&format!(", {free} {} free", if free == 1 { "is" } else { "are" }));
    }
    let most = funnels.iter().map(|funnel| funnel.free).max().unwrap_or_default();
    if several && needed > 1 && most > 0 {
        text.push_str(&format!(", at most {most} on one node"));
    }
    text
}

/// The path of a request in its claim.
fn located(claim: &ResourceClaim, request: &str, finding: Finding) -> Finding {
    let requests = &claim.spec.devices.requests;
    match requests.iter().position(|known| known.name == request) {
        Some(index) => Finding { path: format!("spec.devices.requests[{index}]"), ..finding },
        None => finding,
    }
}

/// Nodes by name as the subject of a sentence, with the verb that fits their number.
fn subject(nodes: &[String], all: usize, one: &str, several: &str) -> String {
    match nodes.len() {
        1 if all == 1 => format!("the only node, {}, {one}", list(nodes.iter())),
        1 => format!("node {} {one}", list(nodes.iter())),
        count if count == all => format!("all {count} nodes {several}"),
        count => format!("{count} nodes ({}) {several}", list(nodes.iter())),
    }
}

/// Name of a scheduling gate.
pub(crate) fn gate_name(gate: &Value) -> Option<String> {
    gate.get("name").and_then(Value::as_str).map(str::to_owned)
}

/// What of a Pod kube-scheduler looks at and a run does not.
pub(crate) fn unmodelled(pod: &Pod) -> Option<String> {
    let spec = &pod.spec;
    let affinity = spec.affinity.as_ref().map(|affinity| &affinity.rest);
    let has = |name: &str| affinity.is_some_and(|rest| rest.get(name).is_some());
    let parts: Vec<&str> = [
        (has("podAffinity"), "`podAffinity`"),
        (has("podAntiAffinity"), "`podAntiAffinity`"),
        (spec.rest.get("topologySpreadConstraints").is_some(), "`topologySpreadConstraints`"),
        (spec.scheduling_group.is_some(), "`schedulingGroup`"),
    ]
    .into_iter()
    .filter_map(|(present, name)| present.then_some(name))
    .collect();
    (!parts.is_empty()).then(|| format!("not taken into account: {}", parts.join(", ")))
}
