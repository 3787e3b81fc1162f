//! Why a claim does not get its devices, and what would help.
//!
//! An explanation is made in layers. First comes whatever is not about devices (a missing template, a full node). Then every
//! device is counted once, under the reason that is hardest to remove; on demand every device of a node is listed with all its
//! reasons. Suggestions are changes of which the allocator itself was asked whether they help.
//!
//! Texts follow the rules for findings: one line, lower case, no full stop, the user's words in backticks.

mod alike;
mod answer;
mod carried_out;
pub(crate) mod case;
pub(crate) mod change;
mod claim_manifest;
mod conflict;
mod counters;
pub(crate) mod detail;
mod distinct;
mod gates;
pub(crate) mod group;
pub(crate) mod holders;
mod literals;
mod nodes;
pub(crate) mod origin;
mod own;
mod own_claim;
mod plain;
pub(crate) mod pod_manifest;
pub(crate) mod preemption;
mod propose;
mod raise;
pub(crate) mod reasons;
pub(crate) mod relax;
mod remake;
pub(crate) mod requests;
pub(crate) mod reword;
pub(crate) mod settled;
pub(crate) mod shape;
pub(crate) mod statistics;
mod steps;
mod suggest;
pub(crate) mod supply;
pub(crate) mod survey;
mod together;
pub(crate) mod trial;
pub(crate) mod unknown;
pub(crate) mod words;

pub use answer::{
    AttributeStatistic, ClosestNode, ConflictPart, DeviceDetail, Explanation, Holder, NodeDetail, ReadValue, Reason,
    ReasonCount, ReasonKind, Request, RequestDetail, RequestExplanation, SelectorRef, Served, Shortage, State,
    ValueCount,
};
pub use change::{Change, PlacementRule};
pub use relax::Suggestion;
pub use steps::Step;
pub use words::takes_no_pods;

use std::collections::VecDeque;

use crate::allocate::{Allowance, Limits, Place as Placement, find_place};
use crate::cluster::{Cluster, Key};
use crate::control_plane::{Course, Simulation};
use crate::finding::{Code, Finding, ObjectRef};
use carried_out::Trials;
use case::Case;
use gates::OtherGates;
use nodes::Refusing;
use raise::Raises;
use settled::{Look, Settled, settle};
use survey::{Survey, Surveys};

/// Search steps that trying out changes may take: in one call, for one subject, to find the smallest contradiction, and in one trial.
const CALL: u64 = 8_000_000;
const SUBJECT: u64 = 4_000_000;
const CONFLICT: u64 = SUBJECT / 4;
const TRIAL: u64 = 200_000;

/// What was found out about one cluster: Pods that ask the same get the same answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    surveys: Surveys,
    raises: Raises,
    refusing: Refusing,
}

/// Explains what is asked for.
///
/// The control plane of the cluster settles first, as [`crate::ask::run`] has it. The cluster afterwards is the settled one, and the one that
/// is explained.
///
/// One explanation for a subject that is named; else one for every Pod and claim that is Pending, in the order of scheduling.
///
/// # Errors
///
/// A finding, when there is no such subject.
pub fn explain(cluster: &mut Cluster, request: &Request, limits: &Limits) -> Result<Vec<Explanation>, Vec<Finding>> {
    let given = request.suggestions.then(|| cluster.clone());
    let settled = settle(cluster, limits);
    let mut explanations = Vec::new();
    let mut allowance = Allowance::new(CALL, TRIAL.min(limits.max_steps));
    let mut known = Known::default();
    for case in case::cases(cluster, &settled, request)? {
        explanations.push(explain_case(cluster, case, request, limits, &mut allowance, &mut known));
    }
    if let Some(given) = given {
        let mut trials = Trials::of(&given, cluster, &settled, limits);
        explanations.iter_mut().for_each(|explanation| trials.keep_what_helps(explanation));
        let mut gates = OtherGates::of(&given, &trials, limits);
        explanations.iter_mut().for_each(|explanation| gates.suggest(explanation, &request.nodes));
        let suggestions = explanations.iter_mut().flat_map(|explanation| &mut explanation.suggestions);
        suggestions.for_each(|suggestion| suggestion.steps = steps::steps(suggestion));
    }
    Ok(explanations)
}

/// Explanations of all that wait, made in portions: every Pod in the order of scheduling, then each PodGroup with such a Pod.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    cluster: Cluster,
    stage: Stage,
    explained: Vec<Explanation>,
}

/// What is done before the rest.
#[derive(Clone, Debug)]
enum Stage {
    /// The control plane settles.
    Settling(Box<Simulation>, Course),
    /// It is looked at.
    Looking(Box<Simulation>, Look),
    /// Those that wait are explained.
    Explaining(Settled, VecDeque<ObjectRef>, Box<Known>),
}

impl Waiting {
    /// Begins with a cluster.
    pub(crate) fn of(cluster: Cluster, limits: &Limits) -> Box<Self> {
        let mut simulation = Simulation::of(&cluster, *limits);
        // Whose scheduler this is cannot be known: what waits there is explained as it waits.
        simulation.stop_preemption();
        let course = simulation.course();
        let stage = Stage::Settling(Box::new(simulation), course);
        Box::new(Self { cluster, stage, explained: Vec::new() })
    }

    /// Takes so many steps, of which each looks at all nodes at most once. Gives the explanations at the end.
    ///
    /// # Errors
    ///
    /// The rest of the work, where it is not at its end.
    pub(crate) fn go_on(mut self: Box<Self>, mut steps: usize, limits: &Limits) -> Result<Vec<Explanation>, Box<Self>> {
        while steps > 0 {
            self.stage = match self.stage {
                Stage::Settling(mut simulation, mut course) => match simulation.go_on(&mut course, &mut steps) {
                    None => Stage::Settling(simulation, course),
                    // A cluster that still changes after the longest time is shown as it is then.
                    Some(_) => {
                        let look = Look::of(&simulation);
                        Stage::Looking(simulation, look)
                    }
                },
                Stage::Looking(mut simulation, mut look) => match look.go_on(&mut simulation, &mut steps) {
                    false => Stage::Looking(simulation, look),
                    true => {
                        self.cluster.take_over(simulation.into_cluster());
                        let (settled, cluster) = (look.end(), &self.cluster);
                        let left = waiting(cluster, &settled);
                        Stage::Explaining(settled, left, Box::default())
                    }
                },
                Stage::Explaining(settled, mut left, mut known) => {
                    let Some(subject) = left.pop_front() else { return Ok(self.explained) };
                    steps = steps.saturating_sub(1);
                    let cluster = &mut self.cluster;
                    self.explained.extend(explain_one(cluster, &settled, &subject, &[], limits, &mut known));
                    Stage::Explaining(settled, left, known)
                }
            };
        }
        Err(self)
    }
}

/// What waits: Pods in the order of scheduling, then PodGroups.
fn waiting(cluster: &Cluster, settled: &Settled) -> VecDeque<ObjectRef> {
    let waits = |key: &&Key| cluster.pods().get(*key).is_some_and(|pod| pod.spec.node_name.is_empty());
    let pods = settled.order.iter().filter(waits).map(|key| ObjectRef::new("Pod", &*key.0, &*key.1));
    pods.chain(group::waiting(cluster)).collect()
}

/// The explanation of one subject on some nodes, or on all; `None` where there is no such subject.
fn explain_one(
    cluster: &mut Cluster,
    settled: &Settled,
    subject: &ObjectRef,
    nodes: &[String],
    limits: &Limits,
    known: &mut Known,
) -> Option<Explanation> {
    let request = Request { subject: Some(subject.clone()), nodes: nodes.to_vec(), ..Request::default() };
    let case = case::cases(cluster, settled, &request).ok()?.into_iter().next()?;
    Some(explain_case(cluster, case, &request, limits, &mut Allowance::new(0, 0), known))
}

/// Why some Pods without a place have none, each in the first line of its explanation.
pub(crate) fn first_lines<'p>(
    cluster: &mut Cluster,
    settled: &Settled,
    pods: impl Iterator<Item = &'p Key>,
    limits: &Limits,
) -> Vec<String> {
    let mut known = Known::default();
    let first_line = |pod: &Key| {
        let subject = ObjectRef::new("Pod", &*pod.0, &*pod.1);
        let explanation = explain_one(cluster, settled, &subject, &[], limits, &mut known);
        explanation.map(|one| one.plain.unwrap_or(one.headline)).unwrap_or_default()
    };
    pods.map(first_line).collect()
}

pub(crate) fn explain_case(
    cluster: &mut Cluster,
    mut case: Case,
    request: &Request,
    limits: &Limits,
    allowance: &mut Allowance,
    known: &mut Known,
) -> Explanation {
    let mut seen = case.seen.take();
    let mut own = Known::default();
    let (cluster, known) = seen.as_mut().map_or((cluster, known), |seen| (seen, &mut own));
    let mut explanation = Explanation {
        subject: case.subject.clone(),
        state: State::Blocked,
        node: None,
        plain: None,
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
        let survey = known.surveys.of(cluster, &case.question);
        look_at_devices(cluster, (&case, &survey, &mut known.refusing), request, limits, allowance, &mut explanation);
    } else if !case.is_blocked {
        explanation.state = State::Fits;
    } else if request.suggestions {
        explanation.suggestions =
            allowance.lend(SUBJECT, |part| suggest::of_nodes(cluster, &case, &mut known.refusing, part));
    }
    if request.suggestions && matches!(explanation.state, State::Blocked | State::NoDevices) {
        explanation.suggestions.extend(known.raises.suggestion(cluster, &case, limits));
        explanation.suggestions.extend(allowance.lend(SUBJECT, |part| own_claim::suggestion(cluster, &case, part)));
        relax::ranked(&mut explanation.suggestions);
    }
    if allowance.was_short() {
        let message = "not everything that could help was tried: it takes too many steps";
        explanation.stage.push(Finding::new(Code::ExplainCutOff, "", message).about(case.subject.clone()));
    }
    let pod = case.pod.as_ref().and_then(|key| cluster.pods().get(key));
    explanation.headline = words::headline(&explanation, &case, cluster, pod.map(AsRef::as_ref));
    explanation
}

fn look_at_devices(
    cluster: &mut Cluster,
    (case, survey, refusing): (&Case, &Survey, &mut Refusing),
    request: &Request,
    limits: &Limits,
    allowance: &mut Allowance,
    explanation: &mut Explanation,
) {
    if let Some(failure) = survey.failure() {
        explanation.state = State::Blocked;
        explanation.stage.insert(0, case::of_template(cluster, &case.question.claims, failure.finding.clone()));
        if request.suggestions {
            explanation.suggestions = allowance.lend(SUBJECT, |part| remake::alone(cluster, case, part));
        }
        return;
    }
    let asked = case.question.on(survey.order());
    let mut is_unguarded = false;
    let placement = match survey.is_hopeless.get() {
        Some(()) => Placement::Nowhere,
        None => find_place(cluster, &asked, limits),
    };
    explanation.state = match placement {
        Placement::On(..) if case.failure.is_some() => {
            is_unguarded = true;
            explanation.stage.extend(case.failure.clone());
            State::Blocked
        }
        Placement::On(node, _) => {
            explanation.node = Some(node);
            State::Fits
        }
        Placement::Nowhere => {
            survey.is_hopeless.get_or_init(|| ());
            State::NoDevices
        }
        Placement::Failed(failure) => {
            is_unguarded = failure.finding.code == Code::AllocSelectorRuntime;
            explanation.stage.insert(0, case::of_template(cluster, &case.question.claims, failure.finding));
            State::Blocked
        }
        Placement::GaveUp => State::GaveUp,
    };
    explanation.requests = requests::requests(cluster, case, survey);
    if explanation.state == State::NoDevices {
        explanation.plain = plain::plain(cluster, case, survey, explanation);
        explanation.stage.extend(requests::incomplete_pools(cluster, survey, &explanation.requests));
    }
    // Without any device all nodes are equally far.
    explanation.closest =
        survey.closest().filter(|_| cluster.slices().values().any(|slice| !slice.spec.devices.is_empty()));
    if !request.nodes.is_empty() || request.device.is_some() {
        explanation.details = detail::details(cluster, case, request);
    }
    if (explanation.state == State::NoDevices || is_unguarded) && request.suggestions {
        allowance.lend(SUBJECT, |part| {
            if !is_unguarded {
                explanation.conflict = part.lend(CONFLICT, |part| conflict::smallest(cluster, case, survey, part));
            }
            explanation.suggestions = suggest::suggestions(cluster, case, survey, refusing, part);
        });
        if is_unguarded {
            // What else helps only keeps the search from coming to the device with the error.
            explanation.suggestions.retain(Suggestion::is_about_selectors);
        }
    } else if explanation.state == State::Blocked && request.suggestions {
        explanation.suggestions = allowance.lend(SUBJECT, |part| remake::alone(cluster, case, part));
    }
}
