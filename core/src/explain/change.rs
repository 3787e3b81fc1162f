//! Changes to claims, classes, Pods, nodes and the cluster.

use serde::{Deserialize, Serialize};

use crate::allocate::DeviceId;
use crate::api::claim::{
    DeviceClaim, DeviceSelector, DeviceSubRequest, DeviceToleration, ExactDeviceRequest, TolerationOperator,
};
use crate::api::pod::NodeToleration;
use crate::api::quantity::Quantity;

/// One change. Claims are named without their namespace; requests as `request` or `request/subrequest`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// A selector of a request gets another expression.
    ChangeSelector {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// Position of the selector, from 0.
        index: u64,
        /// The expression so far.
        from: String,
        /// The new expression.
        to: String,
    },
    /// The claim is made anew with its Pod, from a template that has changed since.
    RemakeClaim {
        /// Claim.
        claim: String,
        /// Name of the template.
        template: String,
    },
    /// The claim is placed on nodes that were not looked at.
    UseNodes {
        /// Their names.
        nodes: Vec<String>,
    },
    /// The Pod tolerates a taint of nodes.
    TolerateNode {
        /// The taint, as `key=value:effect`.
        taint: String,
    },
    /// A label is left out of the Pod's node selector.
    DropNodeSelector {
        /// Key of the label.
        label: String,
        /// Its value.
        value: String,
    },
    /// The Pod's required node affinity is left out.
    DropNodeAffinity {},
    /// What the Pod requires of where other Pods are becomes a preference.
    Prefer {
        /// Where the rule stands.
        rule: PlacementRule,
        /// The label of nodes whose value names the domain.
        key: String,
    },
    /// The Pod gets a claim of its own in the place of one that it shares.
    OwnClaim {
        /// Name of the Pod's entry.
        entry: String,
        /// The claim that it shares.
        claim: String,
        /// The ResourceClaimTemplate from which its own one is made.
        template: String,
    },
    /// The Pod asks for less of a resource of its node.
    LowerResource {
        /// Name of the resource.
        resource: String,
        /// The quantity so far.
        from: String,
        /// The new quantity.
        to: String,
    },
    /// A taint is tolerated.
    Tolerate {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// The taint, as `key=value:effect`.
        taint: String,
    },
    /// Less of a capacity is asked for.
    LowerCapacity {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// Name of the capacity.
        name: String,
        /// The quantity so far.
        from: String,
        /// The new quantity.
        to: String,
    },
    /// The same amount of another capacity is asked for.
    OtherCapacity {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// The quantity.
        amount: String,
        /// Name of the capacity so far.
        from: String,
        /// Name of the new one.
        to: String,
    },
    /// Fewer devices are asked for.
    LowerCount {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// The count so far.
        from: u64,
        /// The new count.
        to: u64,
    },
    /// A constraint is left out.
    DropConstraint {
        /// Claim.
        claim: String,
        /// Position of the constraint, from 0.
        index: u64,
        /// What it says.
        text: String,
    },
    /// A selector of a request is left out.
    DropSelector {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// Position of the selector, from 0.
        index: u64,
        /// The expression.
        expression: String,
    },
    /// Devices of another class will do, too.
    AddAlternative {
        /// Claim.
        claim: String,
        /// Request.
        request: String,
        /// The other class.
        class: String,
    },
    /// A node takes Pods again.
    Uncordon {
        /// The node.
        node: String,
    },
    /// A claim gives its devices back.
    FreeClaim {
        /// The claim, as `namespace/name`.
        claim: String,
        /// Who uses it.
        consumers: Vec<String>,
        /// The highest priority of its Pods.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        priority: Option<i64>,
    },
    /// The Pod gets a higher priority and takes the place of others.
    RaisePriority {
        /// The priority so far.
        from: i64,
        /// The new priority.
        to: i64,
        /// The PriorityClass that has it, where classes are given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<String>,
        /// Pods that are evicted for it, as `namespace/name`, the most important first.
        victims: Vec<String>,
    },
    /// A selector of a class gets another expression.
    ChangeClass {
        /// Name of the class.
        class: String,
        /// Position of the selector, from 0.
        index: u64,
        /// The expression so far.
        from: String,
        /// The new expression.
        to: String,
    },
    /// A feature gate is turned on.
    EnableGate {
        /// Its name.
        gate: String,
    },
    /// More devices are added to a node.
    AddDevices {
        /// How many.
        count: u64,
        /// Their class.
        class: String,
        /// A device that they are like.
        like: DeviceId,
        /// The node.
        node: String,
    },
}

/// A rule of a Pod about where other Pods are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum PlacementRule {
    /// `topologySpreadConstraints`.
    Spread,
    /// Required `podAffinity`.
    PodAffinity,
    /// Required `podAntiAffinity`.
    PodAntiAffinity,
}

impl Change {
    /// How much is changed, to sort by: smaller is less.
    pub(crate) fn effort(&self) -> u32 {
        match self {
            Self::RemakeClaim { .. } => 0,
            Self::UseNodes { .. } => 1,
            Self::TolerateNode { .. } => 2,
            Self::DropNodeSelector { .. } => 3,
            Self::DropNodeAffinity { .. } => 4,
            Self::Prefer { .. } | Self::OwnClaim { .. } => 5,
            Self::LowerResource { .. } => 6,
            Self::ChangeSelector { .. } => 7,
            Self::Tolerate { .. } => 8,
            Self::OtherCapacity { .. } => 9,
            Self::LowerCapacity { .. } => 10,
            Self::LowerCount { .. } => 11,
            Self::DropConstraint { .. } => 12,
            Self::DropSelector { .. } => 13,
            Self::AddAlternative { .. } => 14,
            Self::Uncordon { .. } => 15,
            Self::FreeClaim { .. } => 16,
            Self::RaisePriority { .. } => 17,
            Self::ChangeClass { .. } => 18,
            Self::EnableGate { .. } => 19,
            Self::AddDevices { .. } => 20,
        }
    }
}

/// The fields that both forms of a request have.
pub(crate) struct Parts<'r> {
    pub(crate) selectors: &'r mut Vec<DeviceSelector>,
    pub(crate) tolerations: &'r mut Vec<DeviceToleration>,
    pub(crate) count: &'r mut i64,
    pub(crate) capacity: Option<&'r mut std::collections::BTreeMap<String, Quantity>>,
}

/// The parts of a request by name, `request` or `request/subrequest`.
pub(crate) fn parts<'r>(spec: &'r mut DeviceClaim, name: &str) -> Option<Parts<'r>> {
    let (main, sub) = name.split_once('/').map_or((name, None), |(main, sub)| (main, Some(sub)));
    let request = spec.requests.iter_mut().find(|request| request.name == main)?;
    match sub {
        None => {
            let ExactDeviceRequest { selectors, tolerations, count, capacity, .. } = request.exactly.as_mut()?;
            Some(Parts { selectors, tolerations, count, capacity: capacity.as_mut().map(|all| &mut all.requests) })
        }
        Some(sub) => {
            let sub = request.first_available.iter_mut().find(|known| known.name == sub)?;
            let DeviceSubRequest { selectors, tolerations, count, capacity, .. } = sub;
            Some(Parts { selectors, tolerations, count, capacity: capacity.as_mut().map(|all| &mut all.requests) })
        }
    }
}

/// Makes a change in a claim's spec. Changes that are not about this claim leave it as it is.
pub(crate) fn change_spec(spec: &mut DeviceClaim, of: &str, change: &Change) {
    match change {
        Change::DropConstraint { claim, index, .. } if claim == of && position(*index) < spec.constraints.len() => {
            spec.constraints.remove(position(*index));
        }
        Change::AddAlternative { claim, request, class } if claim == of => add_alternative(spec, request, class),
        Change::ChangeSelector { claim, request, .. }
        | Change::DropSelector { claim, request, .. }
        | Change::Tolerate { claim, request, .. }
        | Change::LowerCapacity { claim, request, .. }
        | Change::OtherCapacity { claim, request, .. }
        | Change::LowerCount { claim, request, .. }
            if claim == of =>
        {
            parts(spec, request).into_iter().for_each(|parts| change_request(parts, change));
        }
        _ => {}
    }
}

fn change_request(parts: Parts<'_>, change: &Change) {
    match change {
        Change::ChangeSelector { index, to, .. } => {
            let cel = parts.selectors.get_mut(position(*index)).and_then(|one| one.cel.as_mut());
            cel.into_iter().for_each(|cel| cel.expression.clone_from(to));
        }
        Change::DropSelector { index, .. } if position(*index) < parts.selectors.len() => {
            parts.selectors.remove(position(*index));
        }
        Change::Tolerate { taint, .. } => parts.tolerations.push(toleration(taint)),
        Change::LowerCapacity { name, to, .. } => {
            let slot = parts.capacity.and_then(|requests| requests.get_mut(name));
            slot.zip(Quantity::parse(to).ok()).into_iter().for_each(|(slot, amount)| *slot = amount);
        }
        Change::OtherCapacity { from, to, .. } => {
            let requests = parts.capacity;
            requests.into_iter().for_each(|requests| {
                let amount = requests.remove(from);
                requests.extend(amount.map(|amount| (to.clone(), amount)));
            });
        }
        Change::LowerCount { to, .. } => *parts.count = i64::try_from(*to).unwrap_or(i64::MAX),
        _ => {}
    }
}

/// A position in a list.
pub(crate) fn position(index: u64) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// Key, value and effect of a taint as text.
pub(crate) fn taint_parts(taint: &str) -> [String; 3] {
    let (rest, effect) = taint.rsplit_once(':').unwrap_or((taint, ""));
    let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
    [key, value, effect].map(str::to_owned)
}

/// The toleration of one taint of nodes and no other.
pub(crate) fn node_toleration(taint: &str) -> NodeToleration {
    let [key, value, effect] = taint_parts(taint);
    let operator = if value.is_empty() { "Exists" } else { "Equal" }.to_owned();
    NodeToleration { key, operator, value, effect, ..NodeToleration::default() }
}

/// The toleration of one taint and no other.
fn toleration(taint: &str) -> DeviceToleration {
    let [key, value, effect] = taint_parts(taint);
    let operator = Some(if value.is_empty() { TolerationOperator::Exists } else { TolerationOperator::Equal });
    DeviceToleration { key, operator, value, effect, ..DeviceToleration::default() }
}

fn add_alternative(spec: &mut DeviceClaim, name: &str, class: &str) {
    let Some(request) = spec.requests.iter_mut().find(|request| request.name == name) else { return };
    let Some(exact) = request.exactly.take() else { return };
    let preferred = DeviceSubRequest {
        name: "preferred".to_owned(),
        device_class_name: exact.device_class_name,
        selectors: exact.selectors,
        allocation_mode: exact.allocation_mode,
        count: exact.count,
        tolerations: exact.tolerations,
        capacity: exact.capacity,
        derived_attributes: exact.derived_attributes,
        ..DeviceSubRequest::default()
    };
    let (name, device_class_name) = ("other".to_owned(), class.to_owned());
    let other = DeviceSubRequest { name, device_class_name, selectors: Vec::new(), ..preferred.clone() };
    request.first_available = vec![preferred, other];
}
