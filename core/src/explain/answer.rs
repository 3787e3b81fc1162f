//! What an explanation consists of.

use serde::{Deserialize, Serialize};

use super::Suggestion;
use crate::allocate::DeviceId;
use crate::finding::{Finding, ObjectRef};

/// What to explain, and how far.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields, rename = "ExplainRequest"))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Request {
    /// A ResourceClaim, ResourceClaimTemplate, Pod or PodGroup; absent for all Pods and claims that are Pending.
    pub subject: Option<ObjectRef>,
    /// Nodes whose devices are listed with all their reasons; the claims are asked for on these nodes only.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub nodes: Vec<String>,
    /// Devices of this name only are listed: `device`, `pool/device` or `driver/pool/device`; on the nodes above, else on every
    /// node that has access.
    pub device: Option<String>,
    /// Whether to look for changes that help, and for the smallest contradiction.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub suggestions: bool,
}

/// What became of the subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "ExplanationState"))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// What is explained.
    pub subject: ObjectRef,
    /// What became of it.
    pub state: State,
    /// The node that it has, or on which it fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The answer for somebody who does not know how devices are allocated: what is asked for, what is there, by how much it misses.
    /// Absent where the headline says no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<String>,
    /// The answer in one line.
    pub headline: String,
    /// What is not about single devices, the first thing that blocks first; and what else keeps nodes away.
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
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub details: Vec<NodeDetail>,
    /// What cannot hold together, where it is more than one thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub conflict: Vec<ConflictPart>,
    /// Changes that help, the smallest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub suggestions: Vec<Suggestion>,
}

/// What one request, or one alternative, finds in the cluster.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct RequestExplanation {
    /// Name of the claim.
    pub claim: String,
    /// `request` or `request/subrequest`.
    pub request: String,
    /// For whom the scheduler makes the request, where no user wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(optional))]
    pub serves: Option<Served>,
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

/// A container and the extended resource that it asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Served {
    /// Name of the container.
    pub container: String,
    /// Name of the extended resource, `example.com/gpu`.
    pub resource: String,
}

/// How many devices have one reason.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AttributeStatistic {
    /// The name as selectors write it: `device.attributes["gpu.example.com"].memory`.
    pub name: String,
    /// Devices of the class that have it.
    pub present: u64,
    /// Devices of the class.
    pub devices: u64,
    /// The most frequent values with their number of devices, at most eight.
    pub values: Vec<ValueCount>,
    /// What was probably meant, where hardly any device has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
}

/// A value, and how many devices have it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ValueCount {
    /// The value as selectors write it.
    pub value: String,
    /// Devices that have it.
    pub devices: u64,
}

/// What a selector reads, and what a device has for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReadValue {
    /// The name as selectors write it: `device.attributes["gpu.example.com"].memory`.
    pub name: String,
    /// The value as selectors write it; absent where the device has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The node that comes nearest to fitting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DeviceDetail {
    /// The device.
    pub device: DeviceId,
    /// All reasons against it; once all are gone it is a candidate. Empty for a candidate.
    pub reasons: Vec<Reason>,
}

/// One reason against a device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// The kind of reason.
    pub kind: ReasonKind,
    /// In words.
    pub text: String,
    /// Which selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<SelectorRef>,
    /// What the selector read, and what the device has for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub values: Vec<ReadValue>,
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
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub holders: Vec<Holder>,
}

impl Reason {
    pub(crate) fn new(kind: ReasonKind, text: String) -> Self {
        let (values, holders) = (Vec::new(), Vec::new());
        Self { kind, text, selector: None, values, shortage: None, taint: None, constraint: None, other: None, holders }
    }
}

/// Something of which too little is there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ConflictPart {
    /// What kind of part: `request`, `selector`, `constraint`, `taints` or `allocations`.
    #[cfg_attr(
        feature = "types",
        ts(type = "\"request\" | \"selector\" | \"constraint\" | \"taints\" | \"allocations\"")
    )]
    pub kind: String,
    /// In words.
    pub text: String,
}
