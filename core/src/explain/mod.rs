//! Why a claim does not get its devices, and what would help.
//!
//! An explanation is made in layers. First comes whatever is not about devices (a missing template, a full node). Then every
//! device is counted once, under the reason that is hardest to remove; on demand every device of a node is listed with all its
//! reasons. Suggestions are changes of which the allocator itself was asked whether they help.
//!
//! Texts follow the rules for findings: one line, lower case, no full stop, the user's words in backticks.

mod answer;
pub(crate) mod case;
pub(crate) mod change;
mod conflict;
pub(crate) mod detail;
mod gates;
mod group;
pub(crate) mod holders;
mod literals;
mod nodes;
pub(crate) mod pod_manifest;
mod propose;
pub(crate) mod relax;
pub(crate) mod requests;
pub(crate) mod reword;
pub(crate) mod shape;
pub(crate) mod statistics;
pub(crate) mod supply;
pub(crate) mod survey;
pub(crate) mod trial;
pub(crate) mod words;

pub use answer::{
    AttributeStatistic, ClosestNode, ConflictPart, DeviceDetail, Explanation, Holder, NodeDetail, Reason, ReasonCount,
    ReasonKind, Request, RequestDetail, RequestExplanation, SelectorRef, Shortage, State,
};
pub use change::Change;
pub use relax::Suggestion;

use crate::allocate::{Limits, Place as Placement, find_place};
use crate::cluster::Cluster;
use crate::cluster::entries;
use crate::finding::{Code, Finding};
use crate::simulate::{Played, play};
use case::Case;
use gates::OtherGates;
use survey::Survey;

/// Explains what is asked for.
///
/// The cluster is played first: Pods that fit are placed, claims that they need are made, as [`crate::simulate::run`] does. The
/// cluster afterwards is the one that is explained.
///
/// One explanation for a subject that is named; else one for every Pod and claim that is Pending, in the order of scheduling.
///
/// # Errors
///
/// A finding, when there is no such subject.
pub fn explain(cluster: &mut Cluster, request: &Request, limits: &Limits) -> Result<Vec<Explanation>, Vec<Finding>> {
    let mut gates = OtherGates::of(cluster.clone(), limits);
    let played = played(cluster, limits);
    let mut explanations = Vec::new();
    for case in case::cases(cluster, &played, request)? {
        let mut explanation = explain_case(cluster, case, request, limits);
        if request.suggestions {
            gates.suggest(&mut explanation, &request.nodes);
        }
        explanations.push(explanation);
    }
    Ok(explanations)
}

/// One explanation for every Pod and claim that is Pending, in the order of scheduling, then one for each PodGroup with such a Pod.
pub(crate) fn explain_waiting(cluster: &mut Cluster, limits: &Limits) -> Vec<Explanation> {
    let played = played(cluster, limits);
    let mut cases = case::pending(cluster, &played);
    cases.extend(group::waiting(cluster, &played));
    cases.into_iter().map(|case| explain_case(cluster, case, &Request::default(), limits)).collect()
}

/// Plays a cluster as far as each Pod comes by itself, and notes which ones had a node before.
fn played(cluster: &mut Cluster, limits: &Limits) -> Played {
    group::prepare(cluster);
    let is_bound = |pod: &&crate::api::pod::Pod| !pod.spec.node_name.is_empty();
    let bound = cluster.pods().values().filter(is_bound).map(|pod| entries::key_of(&pod.metadata)).collect();
    let mut played = play(cluster, limits);
    played.bound = bound;
    played
}

pub(crate) fn explain_case(cluster: &mut Cluster, case: Case, request: &Request, limits: &Limits) -> Explanation {
    let mut explanation = Explanation {
        subject: case.subject.clone(),
        state: State::Blocked,
        node: None,
        headline: String::new(),
        stage: case.stage.clone(),
        nodes: u64::try_from(case.all_nodes).unwrap_or(u64::MAX),
        suitable_nodes: u64::try_from(case.question.nodes.len()).unwrap_or(u64::MAX),
        requests: Vec::new(),
        closest: None,
        details: Vec::new(),
        conflict: Vec::new(),
        suggestions: Vec::new(),
    };
    if let Some(placed) = &case.placed {
        explanation.state = State::Placed;
        explanation.node.clone_from(&placed.node);
        explanation.headline.clone_from(&placed.text);
        return explanation;
    }
    if !case.is_blocked && !case.question.claims.is_empty() {
        look_at_devices(cluster, &case, request, limits, &mut explanation);
    } else if !case.is_blocked {
        explanation.state = State::Fits;
    } else if request.suggestions {
        explanation.suggestions = relax::of_nodes(cluster, &case, limits);
    }
    explanation.headline = words::headline(&explanation, &case);
    explanation
}

fn look_at_devices(
    cluster: &mut Cluster,
    case: &Case,
    request: &Request,
    limits: &Limits,
    explanation: &mut Explanation,
) {
    let survey = Survey::of(cluster, &case.question);
    if let Some(failure) = survey.failure() {
        explanation.state = State::Blocked;
        explanation.stage.insert(0, case::of_template(cluster, &case.question.claims, failure.finding.clone()));
        return;
    }
    let asked = case.question.on(survey.order());
    let mut is_unguarded = false;
    explanation.state = match find_place(cluster, &asked, limits) {
        Placement::On(node, _) => {
            explanation.node = Some(node);
            State::Fits
        }
        Placement::Nowhere => State::NoDevices,
        Placement::Failed(failure) => {
            is_unguarded = failure.finding.code == Code::AllocSelectorRuntime;
            explanation.stage.insert(0, case::of_template(cluster, &case.question.claims, failure.finding));
            State::Blocked
        }
        Placement::GaveUp => State::GaveUp,
    };
    explanation.requests = requests::requests(cluster, case, &survey);
    explanation.closest = survey.closest();
    if !request.nodes.is_empty() || request.device.is_some() {
        explanation.details = detail::details(cluster, case, request);
    }
    if (explanation.state == State::NoDevices || is_unguarded) && request.suggestions {
        if !is_unguarded {
            explanation.conflict = conflict::smallest(cluster, case, &survey, limits);
        }
        explanation.suggestions = relax::suggestions(cluster, case, &survey, limits);
        if is_unguarded {
            // What else helps only keeps the search from coming to the device with the error.
            explanation.suggestions.retain(Suggestion::is_about_selectors);
        }
    }
}
