//! Where the allocator ran out of devices, from its counts.

use std::collections::BTreeMap;

use crate::allocate::{Inability, NodeRefusal, RequestFunnel, Unable};
use crate::api::claim::ResourceClaim;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::finding::{Code, Finding, list, plural};

use super::nodes::Asked;
use super::problems::{all_refused, attribute_meant};
use super::tolerations;
use crate::explain::origin::about_claim;
use crate::scheduler::node_fit::is_inferred;
use crate::scheduler::refusal::Nodes;
use crate::scheduler::special;

/// The first test that leaves too few devices; a later one is nearer to fitting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    Access,
    Matching,
    Able,
    Tolerated,
    Free,
    Together,
}

const TESTS: [Stage; 5] = [Stage::Access, Stage::Matching, Stage::Able, Stage::Tolerated, Stage::Free];

/// Devices that are left after a test.
fn left(funnel: &RequestFunnel, stage: Stage) -> u64 {
    match stage {
        Stage::Access => funnel.devices,
        Stage::Matching => funnel.matching,
        Stage::Able => funnel.able,
        Stage::Tolerated => funnel.tolerated,
        Stage::Free | Stage::Together => funnel.free,
    }
}

/// A test at which a request of a claim fails first: the test, the claim and the request; without the request, or even the claim, where
/// several of them fail only together.
type Bottleneck = (Stage, String, String);

/// What nodes without enough devices lack, nodes that lack the same together.
pub(crate) fn too_few(asked: &Asked<'_>, nodes: &Nodes, own: &[String]) -> Vec<Finding> {
    let mut groups: Vec<(Bottleneck, Vec<&NodeRefusal>)> = Vec::new();
    for refusal in &nodes.devices {
        let key = bottleneck(&refusal.requests);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, refusals)) => refusals.push(refusal),
            None => groups.push((key, vec![refusal])),
        }
    }
    // Nearest to fitting first, then what holds for most nodes.
    groups.arrange_by(|(left, some), (right, others)| {
        right.0.cmp(&left.0).then(others.len().cmp(&some.len())).then_with(|| left.cmp(right))
    });
    let own_name = |claim: &String| {
        let position = nodes.claims.iter().position(|known| known == claim);
        position.and_then(|position| own.get(position)).unwrap_or(claim).clone()
    };
    let reason = |((stage, claim, request), refusals): (Bottleneck, Vec<&NodeRefusal>)| {
        if claim.is_empty() {
            let message = claims_apart(&refusals, own_name);
            return asked.origin.finding(Code::RunDevicesTogether, "spec.resourceClaims", message).with_hint(TOGETHER);
        }
        let name = &own_name(&claim);
        let of_container = special::in_words(asked.pod, name, &request);
        let what = of_container.unwrap_or_else(|| format!("request `{request}` of claim `{name}`"));
        let finding = describe(asked.cluster, stage, (&claim, name), (&request, &what), &refusals);
        match asked.claims.iter().find(|known| known.metadata.name == *name) {
            Some(known) => {
                let missing = constraint_attributes(known).find(|one| finding.message.contains(one.as_str()));
                let meant = match finding.code {
                    Code::RunDevicesTainted => tolerations::of_devices(asked.cluster, known),
                    _ => missing.and_then(|missing| attribute_meant(asked.cluster, missing)),
                };
                let finding = meant.into_iter().fold(finding, Finding::with_hint);
                about_claim(asked.cluster, known, located(known, &request, finding))
            }
            None => finding.about(asked.origin.object.clone()),
        }
    };
    groups.into_iter().map(reason).collect()
}

/// The request that fails first on a node, and at which test; alternatives of a request fail only together.
fn bottleneck(funnels: &[RequestFunnel]) -> Bottleneck {
    let mut best: Vec<((&String, &str), Stage)> = Vec::new();
    for funnel in funnels {
        let (key, stage) = ((&funnel.claim, main(&funnel.request)), stage(funnel));
        match best.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = stage.max(*known),
            None => best.push((key, stage)),
        }
    }
    let first = best.iter().find(|(_, stage)| *stage != Stage::Together).or_else(|| best.first());
    let Some(((claim, request), stage)) = first else { return (Stage::Together, String::new(), String::new()) };
    let is_of_all = *stage == Stage::Together && best.len() > 1;
    let is_of_claims = is_of_all && best.iter().any(|((other, _), _)| other != claim);
    let claim = if is_of_claims { String::new() } else { (*claim).clone() };
    (*stage, claim, if is_of_all { String::new() } else { (*request).to_owned() })
}

fn main(request: &str) -> &str {
    request.split_once('/').map_or(request, |(main, _)| main)
}

fn stage(funnel: &RequestFunnel) -> Stage {
    // `All` may need nothing that is counted, but at least one device.
    let needed = funnel.needed.max(1);
    let stage = TESTS.into_iter().find(|stage| left(funnel, *stage) < needed).unwrap_or(Stage::Together);
    // Devices that the node does not reach and that would match come nearer than those that do not match.
    if stage < Stage::Able && hidden(funnel) > 0 { Stage::Able } else { stage }
}

/// Devices that match and that the node does not reach, because of their pools or a feature gate.
fn hidden(funnel: &RequestFunnel) -> u64 {
    let unable = devices_of(&funnel.unable, |why| !why.is_of_use());
    unable.saturating_sub(funnel.matching.saturating_sub(funnel.able))
}

/// Devices with reasons of some kinds.
fn devices_of(unable: &[Unable], counts: fn(Inability) -> bool) -> u64 {
    unable.iter().filter(|one| counts(one.why)).map(|one| one.devices).fold(0u64, u64::saturating_add)
}

/// The claim by the name under which it was asked about, and by its own; the request by its name, and in words.
fn describe(
    cluster: &Cluster,
    stage: Stage,
    (known, claim): (&str, &str),
    (request, what): (&str, &str),
    refusals: &[&NodeRefusal],
) -> Finding {
    let nodes: Vec<String> = refusals.iter().map(|refusal| refusal.node.clone()).collect();
    let place = if nodes.len() == 1 { list(nodes.iter()) } else { format!("{} nodes", nodes.len()) };
    let no_slice = cluster.slices().is_empty().then(|| {
        let why = all_refused(cluster, "ResourceSlice");
        why.unwrap_or_else(|| "the input has no ResourceSlice".to_owned())
    });
    let counts = |funnels: &[&RequestFunnel]| match &no_slice {
        Some(why) => format!("{}, and {why}", needs(funnels)),
        None => counts(funnels, &place),
    };
    if stage == Stage::Together {
        let what = if request.is_empty() {
            "each request finds enough devices by itself, but not all of them together".to_owned()
        } else {
            format!("enough devices match request `{request}`, but no choice of them satisfies the constraints")
        };
        let owner = match claim {
            special::NAME => "what the containers ask for".to_owned(),
            claim => format!("claim `{claim}`"),
        };
        let message = format!("{owner} does not fit on {place}: {what}");
        return Finding::new(Code::RunDevicesTogether, "", message).with_hint(TOGETHER);
    }
    let funnels = refusals.iter().flat_map(|refusal| &refusal.requests);
    let asked = funnels.filter(|funnel| funnel.claim == known && main(&funnel.request) == request);
    let asked: Vec<&RequestFunnel> = asked.collect();
    let mut alternatives: Vec<(&str, Vec<&RequestFunnel>)> = Vec::new();
    for funnel in &asked {
        match alternatives.iter_mut().find(|(name, _)| *name == funnel.request) {
            Some((_, own)) => own.push(funnel),
            None => alternatives.push((&funnel.request, vec![funnel])),
        }
    }
    let message = match alternatives.as_slice() {
        [(_, own)] => format!("{what} {}", counts(own)),
        several => {
            let parts = several.iter().map(|(name, own)| format!("`{name}` {}", counts(own)));
            let parts = parts.collect::<Vec<_>>().join("; ");
            format!("no alternative of {what} fits: {parts}")
        }
    };
    let (code, hint) = match stage {
        Stage::Access if no_slice.is_some() => (Code::RunTooFewDevices, slices_of(cluster)),
        Stage::Access => (
            Code::RunTooFewDevices,
            "devices of other nodes, and of slices that are out of use, do not count: `explain` names them",
        ),
        Stage::Matching => {
            (Code::RunTooFewMatching, "compare class and selectors with the devices' attributes and capacity")
        }
        Stage::Able => match unable(asked.into_iter()).iter().find(|one| !one.why.is_of_use()) {
            Some(first) => (code_of(first.why), hint_of(first.why)),
            None => (Code::RunDevicesUnusable, hint_of(Inability::PoolIncomplete)),
        },
        Stage::Tolerated => (Code::RunDevicesTainted, "add a toleration to the request, or remove the taint"),
        Stage::Free | Stage::Together => (Code::RunDevicesInUse, IN_USE),
    };
    Finding::new(code, "", message).with_hint(hint)
}

/// What brings the slices, with the nodes where these are not given.
fn slices_of(cluster: &Cluster) -> &'static str {
    match cluster.nodes().values().all(|node| is_inferred(node)) {
        true => "add the output of `kubectl get nodes,resourceslices -o yaml`; without slices there are no devices",
        false => "add the output of `kubectl get resourceslices -o yaml`; without slices there are no devices",
    }
}

/// That nodes have enough devices for each claim of a Pod, but not for all.
fn claims_apart(refusals: &[&NodeRefusal], own_name: impl Fn(&String) -> String) -> String {
    let mut claims: Vec<String> = Vec::new();
    for funnel in refusals.first().into_iter().flat_map(|refusal| &refusal.requests) {
        let name = own_name(&funnel.claim);
        if !claims.contains(&name) {
            claims.push(name);
        }
    }
    let place = match refusals {
        [only] => format!("`{}`", only.node),
        several => format!("each of {} nodes", several.len()),
    };
    let all = if claims.len() == 2 { "both" } else { "all of them" };
    let (count, names) = (claims.len(), list(claims.iter()));
    format!("each of {count} claims ({names}) finds enough devices on {place} by itself, but not {all} together")
}

const TOGETHER: &str = "requests compete for the same devices, or a constraint leaves no choice";

const IN_USE: &str = "ask for less, let Pods share a claim, or add devices";

const fn code_of(why: Inability) -> Code {
    match why {
        Inability::PoolInvalid => Code::AllocInvalidPool,
        _ => Code::RunDevicesUnusable,
    }
}

const fn hint_of(why: Inability) -> &'static str {
    match why {
        Inability::PoolIncomplete => "the driver has to publish the other slices, or to correct `resourceSliceCount`",
        Inability::PoolInvalid => "the driver has to publish the pool again without the contradiction",
        Inability::FeatureOff => "turn the feature gate on",
        Inability::NeedsDriver => "use a node that declares the feature",
        Inability::ConstraintMissing => "name an attribute in the constraint that the devices have",
        Inability::CapacityNever => "ask for less, or for a capacity that the devices have",
        Inability::CounterNever => "the driver has to publish devices that its counters can bear",
        Inability::OtherGroup | Inability::CounterShort | Inability::CapacityShort => IN_USE,
    }
}

/// Why devices cannot serve a request, most devices first; of details that differ the one of most devices.
fn unable<'f>(funnels: impl Iterator<Item = &'f RequestFunnel>) -> Vec<Unable> {
    let mut all: BTreeMap<(Inability, &String), u64> = BTreeMap::new();
    for Unable { why, detail, devices } in funnels.flat_map(|funnel| &funnel.unable) {
        let count = all.entry((*why, detail)).or_default();
        *count = count.saturating_add(*devices);
    }
    let mut sorted: Vec<_> = all.into_iter().collect();
    sorted.arrange_by_key(|(_, devices)| std::cmp::Reverse(*devices));
    let mut told: Vec<Unable> = Vec::new();
    for ((why, detail), devices) in sorted {
        match told.iter_mut().find(|known| known.why == why) {
            Some(known) => known.devices = known.devices.saturating_add(devices),
            None => told.push(Unable { why, detail: detail.clone(), devices }),
        }
    }
    told
}

/// `needs 2 devices`.
fn needs(funnels: &[&RequestFunnel]) -> String {
    let needed = funnels.first().map_or(1, |first| first.needed.max(1));
    match funnels.iter().all(|funnel| funnel.needed.max(1) == needed) {
        true => format!("needs {}", plural(needed, "device")),
        false => "needs all devices that match".to_owned(),
    }
}

/// `needs 2 devices; each of 3 nodes offers 2, 2 match class and selectors, 1 is free`.
///
/// Nodes that differ are summed up, so that a device that several of them reach counts several times.
fn counts(funnels: &[&RequestFunnel], place: &str) -> String {
    let Some(first) = funnels.first() else { return String::new() };
    let numbers = |funnel: &RequestFunnel| (funnel.needed.max(1), TESTS.map(|stage| left(funnel, stage)));
    let alike = funnels.iter().all(|one| numbers(one) == numbers(first) && one.unable == first.unable);
    let told = if alike { funnels.get(..1).unwrap_or_default() } else { funnels };
    let sum = |stage| told.iter().map(|funnel| left(funnel, stage)).fold(0u64, u64::saturating_add);
    let [devices, matching, able, tolerated, free] = TESTS.map(sum);
    let worst = funnels.iter().map(|funnel| stage(funnel)).max().unwrap_or(Stage::Access);
    let needed = first.needed.max(1);
    let mut text = needs(funnels);
    text.push_str(&match (funnels.len(), alike) {
        (1, _) => format!("; {place} offers {devices}"),
        (_, true) => format!("; each of {place} offers {devices}"),
        (_, false) if needed > 1 => format!(" on one node; {place} offer {devices}"),
        (_, false) => format!("; {place} offer {devices}"),
    });
    if worst >= Stage::Matching {
        text.push_str(&format!(", {matching} match{} class and selectors", if matching == 1 { "es" } else { "" }));
    }
    let reasons = unable(told.iter().copied());
    let mut because = |is_of_use: bool, of_these: &str| {
        for Unable { why, detail, devices } in reasons.iter().filter(|one| one.why.is_of_use() == is_of_use) {
            let because = if detail.is_empty() { String::new() } else { format!(": {detail}") };
            text.push_str(&format!(", {devices}{of_these} {}{because}", why.text(*devices)));
        }
    };
    if worst >= Stage::Able {
        because(false, if able < matching { " of these" } else { "" });
    }
    if worst >= Stage::Free {
        because(true, " of these");
    }
    if worst >= Stage::Tolerated && tolerated < able {
        text.push_str(&format!(", {tolerated} of these without untolerated taints"));
    }
    let short = devices_of(&reasons, Inability::is_of_use);
    // Where other reasons say it all, nobody has to be pointed to what is in use.
    if worst >= Stage::Free && (free > 0 || short < tolerated) {
        text.push_str(&format!(", {free} {} free", if free == 1 { "is" } else { "are" }));
    }
    let most = funnels.iter().map(|funnel| left(funnel, worst)).max().unwrap_or_default();
    if !alike && needed > 1 && most > 0 {
        text.push_str(&format!(", at most {most} on one node"));
    }
    text
}

/// The attributes of a claim's constraints.
fn constraint_attributes(claim: &ResourceClaim) -> impl Iterator<Item = &String> {
    let constraints = claim.spec.devices.constraints.iter();
    constraints.filter_map(|one| one.match_attribute.as_ref().or(one.distinct_attribute.as_ref()))
}

/// The path of a request in its claim.
fn located(claim: &ResourceClaim, request: &str, finding: Finding) -> Finding {
    let requests = &claim.spec.devices.requests;
    match requests.iter().position(|known| known.name == request) {
        Some(index) => Finding { path: format!("spec.devices.requests[{index}]"), ..finding },
        None => finding,
    }
}
