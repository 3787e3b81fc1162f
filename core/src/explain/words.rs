//! Numbers and reasons in words.

use super::case::Case;
use super::shape::Mark;
use super::{Explanation, ReasonCount, ReasonKind, RequestExplanation, SelectorRef, State};
use crate::api::claim::ResourceClaim;
use crate::api::node::Node;
use crate::api::pod::Pod;
use crate::api::quantity::Quantity;
use crate::api::slice::{CapacityRequestPolicy, DeviceTaint};
use crate::arrange::Arrange;
use crate::cluster::Cluster;
pub(crate) use crate::finding::{list, plural};
use crate::scheduler::special;

/// A taint as `key=value:effect`.
pub(crate) fn taint(taint: &DeviceTaint) -> String {
    taint_of(&taint.key, &taint.value, taint.effect.text())
}

/// The same of any object's taint.
pub(crate) fn taint_of(key: &str, value: &str, effect: &str) -> String {
    if value.is_empty() { format!("{key}:{effect}") } else { format!("{key}={value}:{effect}") }
}

/// A selector by its position.
pub(crate) fn selector(selector: &SelectorRef, class: &str) -> String {
    match selector.of_class {
        true => format!("`selectors[{}]` of class `{class}`", selector.index),
        false => format!("`selectors[{}]`", selector.index),
    }
}

/// The attribute of a claim's constraint.
pub(crate) fn constraint_attribute(claim: &ResourceClaim, index: usize) -> String {
    let constraint = claim.spec.devices.constraints.get(index);
    let attribute = constraint.and_then(|one| one.match_attribute.as_ref().or(one.distinct_attribute.as_ref()));
    attribute.cloned().unwrap_or_default()
}

/// A reason to be read behind the number of devices that have it.
pub(crate) fn counted(
    mark: &Mark,
    devices: u64,
    selector: Option<&SelectorRef>,
    claim: &ResourceClaim,
    example: Option<&str>,
) -> String {
    let verb = |one: &'static str, several: &'static str| if devices == 1 { one } else { several };
    let because = example.map(|example| format!(": {example}")).unwrap_or_default();
    let name = &mark.name;
    match mark.kind {
        ReasonKind::NotOfClass => verb("is not of the class", "are not of the class").to_owned(),
        ReasonKind::SelectorFalse | ReasonKind::SelectorFails => {
            let (which, expression) = match selector {
                Some(known) => (format!("`selectors[{}]`", known.index), known.expression.trim().to_owned()),
                None => (String::new(), String::new()),
            };
            let owner = if mark.of_class { " of the class" } else { "" };
            match mark.kind {
                ReasonKind::SelectorFails => {
                    format!("{} {which}{owner} end in an error: `{expression}`", verb("makes", "make"))
                }
                _ => format!("{} {which}{owner}: `{expression}`", verb("fails", "fail")),
            }
        }
        ReasonKind::PoolOutdated => format!("{} of an outdated slice{because}", verb("is", "are")),
        ReasonKind::PoolIncomplete => format!("{} in an incomplete pool{because}", verb("is", "are")),
        ReasonKind::PoolInvalid => format!("{} in a pool that contradicts itself{because}", verb("is", "are")),
        ReasonKind::NoNode => format!("{} for a node that is not there{because}", verb("is", "are")),
        ReasonKind::OtherNode => verb("is on another node", "are on other nodes").to_owned(),
        ReasonKind::FeatureOff if name.is_empty() => {
            format!("{} a feature that is off{because}", verb("needs", "need"))
        }
        ReasonKind::FeatureOff => format!("{} the feature gate `{name}`, which is off", verb("needs", "need")),
        ReasonKind::NeedsDriver => {
            format!("{} a node that declares the feature `DRAOptionalNodeOperations`", verb("needs", "need"))
        }
        ReasonKind::ConstraintMissing => {
            let attribute = constraint_attribute(claim, mark.index);
            format!("{} the attribute `{attribute}` of `constraints[{}]`", verb("lacks", "lack"), mark.index)
        }
        ReasonKind::ConstraintConflict => {
            format!("{} no partner for `constraints[{}]`", verb("finds", "find"), mark.index)
        }
        ReasonKind::CounterNever => {
            format!("{} more of the shared counter `{name}` than there is", verb("draws", "draw"))
        }
        ReasonKind::CapacityNever => format!("can never grant the `{name}` asked for"),
        ReasonKind::Tainted => format!("{} the taint `{name}`, which is not tolerated", verb("has", "have")),
        ReasonKind::OtherGroup => {
            format!("{} not compatible with partitions in use of `{name}`", verb("is", "are"))
        }
        ReasonKind::CounterShort => {
            format!("{} more of the shared counter `{name}` than is left", verb("draws", "draw"))
        }
        ReasonKind::CapacityShort => format!("{} too little `{name}` left", verb("has", "have")),
        ReasonKind::InUse => verb("is in use", "are in use").to_owned(),
    }
}

/// What a request policy lets claims ask for.
pub(crate) fn policy_in_words(policy: &CapacityRequestPolicy) -> String {
    let Some(range) = &policy.valid_range else {
        return match policy.valid_values.as_slice() {
            [] => "no amount but the default".to_owned(),
            values => format!("only {}", list(values.iter().map(ToString::to_string).collect::<Vec<_>>().iter())),
        };
    };
    let step = range.step.as_ref().map(|step| format!(" in steps of {step}")).unwrap_or_default();
    match &range.max {
        Some(max) => format!("{} to {max}{step}", range.min.as_ref().unwrap_or(&Quantity::default())),
        None => format!("{} or more{step}", range.min.as_ref().unwrap_or(&Quantity::default())),
    }
}

/// What keeps new Pods from a node, whatever they ask for; a claim alone does not say which Pod uses it.
pub fn takes_no_pods(node: &Node) -> Option<String> {
    if node.spec.unschedulable {
        return Some("takes no new Pods: it is marked as unschedulable".to_owned());
    }
    let taints = node.spec.taints.iter().filter(|taint| taint.is_hard());
    let taints: Vec<String> = taints.map(|taint| taint_of(&taint.key, &taint.value, &taint.effect)).collect();
    (!taints.is_empty()).then(|| {
        let word = if taints.len() == 1 { "taint" } else { "taints" };
        format!("takes only Pods that tolerate the {word} {}", list(taints.iter()))
    })
}

/// The answer in one line.
pub(crate) fn headline(explanation: &Explanation, case: &Case, cluster: &Cluster, pod: Option<&Pod>) -> String {
    let subject = &explanation.subject;
    match explanation.state {
        State::Placed => String::new(),
        State::Fits => match &explanation.node {
            Some(node) => {
                // Of a Pod it is known what it tolerates.
                let is_of_pod = matches!(subject.kind.as_str(), "Pod" | "PodGroup");
                let but = cluster.nodes().get(node).filter(|_| !is_of_pod).and_then(|node| takes_no_pods(node));
                let but = but.map(|but| format!(", which {but}")).unwrap_or_default();
                format!("{} `{}` fits on node `{node}`{but}", subject.kind, subject.name)
            }
            None => format!("{} `{}` needs no devices", subject.kind, subject.name),
        },
        State::Blocked => match explanation.stage.first() {
            Some(first) => first.message.clone(),
            None if case.question.nodes.is_empty() => "no node can be asked for devices".to_owned(),
            None => "it is not known what blocks it".to_owned(),
        },
        State::GaveUp => "the step limit was reached before it was known whether the devices suffice".to_owned(),
        State::NoDevices => match bottleneck(explanation) {
            Some(request) => request_line(request, explanation, pod),
            None => match explanation.requests.as_slice() {
                [only] => {
                    let is_constrained =
                        case.question.claims.iter().any(|claim| !claim.spec.devices.constraints.is_empty());
                    let but = match is_constrained {
                        true => "no choice of them satisfies the constraints",
                        false => "no choice of them can be had together",
                    };
                    format!("request `{}` finds enough devices, but {but}", only.request)
                }
                _ => "each request finds enough devices by itself, but not all of them together".to_owned(),
            },
        },
    }
}

/// The first request that no node has enough devices for. Alternatives fail only together; then the first counts.
pub(crate) fn bottleneck(explanation: &Explanation) -> Option<&RequestExplanation> {
    let main = |request: &RequestExplanation| request.request.split('/').next().unwrap_or_default().to_owned();
    let is_short = |request: &&RequestExplanation| {
        let same = |other: &&RequestExplanation| other.claim == request.claim && main(other) == main(request);
        explanation.requests.iter().filter(same).all(|other| other.best < other.needed)
    };
    explanation.requests.iter().find(is_short)
}

/// `request gpu needs 1 device of class c: of 40, 24 are in use, 12 fail selectors[1]`.
fn request_line(request: &RequestExplanation, explanation: &Explanation, pod: Option<&Pod>) -> String {
    let needs = match request.is_all {
        true => "all devices".to_owned(),
        false => plural(request.needed, "device"),
    };
    let of_container = pod.and_then(|pod| special::in_words(pod, &request.claim, &request.request));
    let what = of_container.unwrap_or_else(|| format!("request `{}`", request.request));
    let start = format!("{what} needs {needs} of class `{}`", request.class);
    if request.devices == 0 {
        return match request.other_devices {
            0 if explanation.nodes == 0 => format!("{start}, but there is no node"),
            0 => format!("{start}, but no slice offers any device"),
            other => format!("{start}, but {} of that class", none_of(other)),
        };
    }
    let parts = short_reasons(&request.reasons);
    let place = match request.needed {
        1 => String::new(),
        _ if request.usable > 0 && !request.is_all => format!(" on one node; the most on one are {}", request.best),
        _ => String::new(),
    };
    let usable = match (request.usable, request.reasons.is_empty()) {
        (0, _) => String::new(),
        (usable, true) => format!(", {usable} can be used"),
        (usable, false) => format!(", {usable} can be used, "),
    };
    let separator = if request.usable == 0 { ", " } else { "" };
    format!("{start}{place}: of {}{usable}{separator}{parts}", request.devices)
}

fn none_of(other: u64) -> String {
    if other == 1 { "the only device is not".to_owned() } else { format!("none of the {other} devices is") }
}

/// The reasons, most devices first, without the expressions.
pub(crate) fn short_reasons(reasons: &[ReasonCount]) -> String {
    let mut sorted: Vec<&ReasonCount> = reasons.iter().collect();
    sorted.arrange_by_key(|reason| std::cmp::Reverse(reason.devices));
    let short = |reason: &&ReasonCount| {
        let text = reason.text.split(": ").next().unwrap_or_default();
        format!("{} {text}", reason.devices)
    };
    sorted.iter().map(short).collect::<Vec<_>>().join(", ")
}
