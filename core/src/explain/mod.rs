//! Why a claim does not get its devices, and what would help.
//!
//! An explanation is made in layers. First comes whatever is not about devices (a missing template, a full node). Then every
//! device is counted once, under the reason that is hardest to remove; on demand every device of a node is listed with all its
//! reasons. Suggestions are changes of which the allocator itself was asked whether they help.
//!
//! Texts follow the rules for findings: one line, lower case, no full stop, the user's words in backticks.

mod anonymize;
mod case;
mod change;
mod conflict;
mod detail;
mod expression;
mod fit;
mod group;
mod holders;
mod literals;
mod preview;
mod propose;
mod relax;
mod requests;
mod shape;
mod snapshot;
mod statistics;
mod survey;
mod what_if;
mod words;

pub use change::Change;
pub use expression::{ExpressionAnswer, ExpressionRequest, Part, expression};
pub use fit::{Bounds, Fit, FitRequest, FitRow, Per, Remainder, fit};
pub use preview::{Eviction, TaintSpec, preview};
pub use relax::Suggestion;
pub use snapshot::{FORMAT as SNAPSHOT_FORMAT, snapshot};
pub use what_if::{ClaimDifference, Difference, Place, PodDifference, Supposition, compare_with, what_if};

use serde::{Deserialize, Serialize};

use crate::allocate::{DeviceId, Limits, Question};
use crate::cluster::Cluster;
use crate::finding::{Code, Finding, ObjectRef};
use crate::lifecycle::entries;
use crate::simulate::play;
use case::Case;
use survey::Survey;

/// What to explain, and how far.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Request {
    /// A ResourceClaim, ResourceClaimTemplate, Pod or PodGroup; absent for all Pods and claims that are Pending.
    pub subject: Option<ObjectRef>,
    /// Nodes whose devices are listed with all their reasons; the claims are asked for on these nodes only.
    pub nodes: Vec<String>,
    /// Devices of this name only are listed: `device`, `pool/device` or `driver/pool/device`; on the nodes above, else on every
    /// node that has access.
    pub device: Option<String>,
    /// Whether to look for changes that help, and for the smallest contradiction.
    pub suggestions: bool,
}

/// What became of the subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// It has a node, or the claim has its devices.
    Placed,
    /// Nothing is in its way: its devices are there.
    Fits,
    /// Something that is not about devices stands before them.
    Blocked,
    /// Devices are missing.
    NoDevices,
    /// The step limit was reached before it was known.
    GaveUp,
}

/// Why something is Pending.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// What is explained.
    pub subject: ObjectRef,
    /// What became of it.
    pub state: State,
    /// The node that it has, or on which it fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The answer in one line.
    pub headline: String,
    /// What is not about devices, the first thing that blocks first; and what else keeps nodes away.
    pub stage: Vec<Finding>,
    /// Nodes that there are.
    pub nodes: u64,
    /// Nodes on which devices were looked for: the others are refused for reasons of `stage`, or were not asked for.
    pub suitable_nodes: u64,
    /// What each request finds in the cluster, in the order of the claims and requests.
    pub requests: Vec<RequestExplanation>,
    /// The node that comes nearest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<ClosestNode>,
    /// Every device of the nodes asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<NodeDetail>,
    /// What cannot hold together, where it is more than one thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflict: Vec<ConflictPart>,
    /// Changes that help, the smallest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
}

/// What one request, or one alternative, finds in the cluster.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestExplanation {
    /// Name of the claim.
    pub claim: String,
    /// `request` or `request/subrequest`.
    pub request: String,
    /// Class of the devices.
    pub class: String,
    /// Devices needed on one node.
    pub needed: u64,
    /// Whether all devices that match are asked for.
    pub is_all: bool,
    /// Devices of the class, each counted once however many nodes have access.
    pub devices: u64,
    /// Of these, devices that nothing keeps from the request on some node.
    pub usable: u64,
    /// The most usable devices that one node has.
    pub best: u64,
    /// Devices that are not of the class.
    pub other_devices: u64,
    /// The devices that are not usable, each under one reason; the reason that is hardest to remove first.
    pub reasons: Vec<ReasonCount>,
    /// What the selectors that are false read.
    pub reads: Vec<AttributeStatistic>,
}

/// How many devices have one reason.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasonCount {
    /// The kind of reason.
    pub kind: ReasonKind,
    /// Devices that are counted here, because they have no reason that is harder to remove.
    pub devices: u64,
    /// Of these, devices that have no other reason.
    pub alone: u64,
    /// The reason, to be read behind the number of devices.
    pub text: String,
    /// Which selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<SelectorRef>,
}

/// One selector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectorRef {
    /// Whether it is one of the class's, not of the request's.
    pub of_class: bool,
    /// Its position, from 0.
    pub index: u64,
    /// The expression.
    pub expression: String,
}

/// What devices have for one attribute or capacity that a selector reads.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttributeStatistic {
    /// The name as selectors write it: `device.attributes["gpu.example.com"].memory`.
    pub name: String,
    /// Devices of the class that have it.
    pub present: u64,
    /// Devices of the class.
    pub devices: u64,
    /// The most frequent values with their number of devices, at most eight.
    pub values: Vec<(String, u64)>,
    /// What was probably meant, where hardly any device has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
}

/// The node that comes nearest to fitting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClosestNode {
    /// Name.
    pub name: String,
    /// Devices that it has for all requests, at most as many as are needed.
    pub found: u64,
    /// Devices that all requests need.
    pub needed: u64,
    /// How many nodes are exactly like it for this question, itself included.
    pub alike: u64,
}

/// Kinds of reasons, the hardest to remove first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReasonKind {
    /// A selector of the class is false.
    NotOfClass,
    /// A newer generation of the pool makes the slice void.
    PoolOutdated,
    /// Slices of the pool are missing, or there are too many.
    PoolIncomplete,
    /// Slices of the pool contradict each other.
    PoolInvalid,
    /// The device is for no node that there is.
    NoNode,
    /// The device is for other nodes.
    OtherNode,
    /// A selector cannot be evaluated.
    SelectorFails,
    /// A selector is false.
    SelectorFalse,
    /// A feature that the device needs is off.
    FeatureOff,
    /// The node must be able to do without the driver, and cannot.
    NeedsDriver,
    /// The device lacks the attribute of a constraint.
    ConstraintMissing,
    /// The device could never grant the capacity.
    CapacityNever,
    /// The device draws more of a counter than there is.
    CounterNever,
    /// A constraint of the claim leaves no partner for it.
    ConstraintConflict,
    /// A taint that is not tolerated.
    Tainted,
    /// Partitions in use are of another compatibility group.
    OtherGroup,
    /// A counter of the pool has too little left.
    CounterShort,
    /// Too little of the capacity is left.
    CapacityShort,
    /// Claims have the device.
    InUse,
}

/// One node with its devices.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeDetail {
    /// Name.
    pub name: String,
    /// Pools that cannot be used, and why.
    pub pools: Vec<String>,
    /// What each request finds there.
    pub requests: Vec<RequestDetail>,
}

/// The devices of a node for one request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestDetail {
    /// Name of the claim.
    pub claim: String,
    /// `request` or `request/subrequest`.
    pub request: String,
    /// Devices needed.
    pub needed: u64,
    /// Devices without reasons.
    pub usable: u64,
    /// Devices in the order of trying.
    pub devices: Vec<DeviceDetail>,
}

/// One device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceDetail {
    /// The device.
    pub device: DeviceId,
    /// All reasons against it; once all are gone it is a candidate. Empty for a candidate.
    pub reasons: Vec<Reason>,
}

/// One reason against a device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// The kind of reason.
    pub kind: ReasonKind,
    /// In words.
    pub text: String,
    /// Which selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<SelectorRef>,
    /// What the selector read, and what the device has for it; absent where it has nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(String, Option<String>)>,
    /// The capacity or `set/counter` that is short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortage: Option<Shortage>,
    /// The taint, as `key=value:effect`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taint: Option<String>,
    /// Position of the constraint in the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<u64>,
    /// A device with which it cannot be together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<DeviceId>,
    /// Claims that have the device, or what is short of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Holder>,
}

/// Something of which too little is there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shortage {
    /// Capacity, or `set/counter`.
    pub name: String,
    /// What is needed, as a quantity.
    pub needs: String,
    /// What is left; absent where the device has no such capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
}

/// A claim that has something, and the Pods that use it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// The claim, as `namespace/name`.
    pub claim: String,
    /// Its Pods, as `namespace/name`, or other consumers.
    pub consumers: Vec<String>,
    /// The highest priority of its Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
}

/// One part of a contradiction: without it the rest could hold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConflictPart {
    /// What kind of part: `request`, `selector`, `constraint`, `taints` or `allocations`.
    pub kind: String,
    /// In words.
    pub text: String,
}

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
    group::prepare(cluster);
    let is_bound = |pod: &&crate::api::pod::Pod| !pod.spec.node_name.is_empty();
    let bound = cluster.pods().values().filter(is_bound).map(|pod| entries::key_of(&pod.metadata)).collect();
    let mut played = play(cluster, limits);
    played.bound = bound;
    let cases = case::cases(cluster, &played, request)?;
    Ok(cases.into_iter().map(|case| explain_case(cluster, case, request, limits)).collect())
}

fn explain_case(cluster: &mut Cluster, case: Case, request: &Request, limits: &Limits) -> Explanation {
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
    let asked = Question { nodes: survey.order(), ..case.question.clone() };
    let mut is_unguarded = false;
    let outcome = crate::allocate::find_place(cluster, &asked, limits);
    explanation.state = match outcome {
        crate::allocate::Place::On(ref node, _) => {
            explanation.node = Some(node.clone());
            State::Fits
        }
        crate::allocate::Place::Nowhere => State::NoDevices,
        crate::allocate::Place::Failed(failure) => {
            is_unguarded = failure.finding.code == Code::AllocSelectorRuntime;
            explanation.stage.insert(0, case::of_template(cluster, &case.question.claims, failure.finding));
            State::Blocked
        }
        crate::allocate::Place::GaveUp => State::GaveUp,
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
