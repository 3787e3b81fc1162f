//! Changes in words and in order, and whether they help.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::case::Case;
use super::change::{Change, PlacementRule, parts};
use super::conflict::constraint_text;
use super::steps::Step;
use super::survey::Survey;
use super::trial::try_changes;
use super::words;
use crate::allocate::{Allowance, DeviceId};
use crate::api::claim::{AllocationResult, ResourceClaim};
use crate::api::meta::ObjectMeta;
use crate::api::quantity::Quantity;
use crate::api::slice::DeviceTaint;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::finding::ObjectRef;

/// Most suggestions.
const MOST: usize = 12;

/// A change, or several that help only together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// What to do, in one line.
    pub text: String,
    /// The changes; without any one of them the others do not help.
    pub changes: Vec<Change>,
    /// A node on which the claims then fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The changed objects, as they are to be written: claims, claim templates, classes. Empty where nothing is written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, type = "Array<Json>"))]
    pub manifests: Vec<Value>,
    /// Objects of a real cluster to delete before the manifests are applied, as they cannot be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub deletes: Vec<ObjectRef>,
    /// The same as a procedure: what to do, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub steps: Vec<Step>,
}

impl Suggestion {
    /// Whether only selectors are changed; a claim that is made anew gets those of its template.
    pub(crate) fn is_about_selectors(&self) -> bool {
        let is_selector = |change: &Change| {
            matches!(
                change,
                Change::ChangeSelector { .. }
                    | Change::DropSelector { .. }
                    | Change::ChangeClass { .. }
                    | Change::RemakeClaim { .. }
            )
        };
        self.changes.iter().all(is_selector)
    }
}

/// Changes that help together, and the node on which the claims then fit.
pub(crate) type Found = (Vec<Change>, String);

/// What one explanation asks of the allocator.
pub(crate) struct AllocatorTrials<'s> {
    pub(crate) cluster: &'s mut Cluster,
    pub(crate) case: &'s Case,
    pub(crate) survey: &'s Survey,
    pub(crate) nodes: Vec<String>,
    pub(crate) allowance: &'s mut Allowance,
}

impl AllocatorTrials<'_> {
    /// The node on which the claims fit after some changes.
    pub(crate) fn helps(&mut self, changes: &[Change]) -> Option<String> {
        self.helps_with(changes).map(|(node, _)| node)
    }

    /// The same of a single change.
    pub(crate) fn found(&mut self, change: Change) -> Option<Found> {
        self.helps(std::slice::from_ref(&change)).map(|node| (vec![change], node))
    }

    /// The same with what each claim gets, in the order of the claims.
    pub(crate) fn helps_with(&mut self, changes: &[Change]) -> Option<(String, Vec<Arc<AllocationResult>>)> {
        try_changes(self.cluster, self.case, changes, &self.nodes, self.allowance)
    }
}

/// Sorts suggestions by how little they change, each once, and leaves the last ones out where there are many.
pub(crate) fn ranked(all: &mut Vec<Suggestion>) {
    all.arrange_by_key(|suggestion| (suggestion.changes.len(), effort(&suggestion.changes)));
    all.dedup_by(|some, others| some.changes == others.changes);
    all.truncate(MOST);
}

/// How much some changes change together.
pub(crate) fn effort(changes: &[Change]) -> u32 {
    changes.iter().map(Change::effort).sum()
}

/// Leaves out one thing after the other as long as what is left has an answer; with the last answer.
pub(crate) fn fewest<T: Clone, A>(all: Vec<T>, answer: A, mut ask: impl FnMut(&[T]) -> Option<A>) -> (Vec<T>, A) {
    let (mut kept, mut last, mut at) = (all, answer, 0);
    while at < kept.len() {
        let mut rest = kept.clone();
        rest.remove(at);
        match ask(&rest) {
            Some(answer) => (kept, last) = (rest, answer),
            None => at = at.saturating_add(1),
        }
    }
    (kept, last)
}

/// What to do, in one line.
pub(crate) fn all_in_words(case: &Case, changes: &[Change]) -> String {
    changes.iter().map(|change| in_words(case, change)).collect::<Vec<_>>().join(", and ")
}

/// What to know before a suggestion is followed, to be read behind it: a driver marks devices that are not well, and a partition is no
/// device of its own.
pub(crate) fn warning(cluster: &Cluster, changes: &[Change]) -> String {
    let devices = || cluster.slices().values().flat_map(|slice| slice.spec.devices.iter().map(move |one| (slice, one)));
    let text = |change: &Change| match change {
        Change::Tolerate { taint, .. } => {
            let is_it = |known: &DeviceTaint| words::taint(known) == *taint;
            let is_marked = devices().any(|(_, device)| device.taints.iter().any(is_it));
            is_marked.then_some("; the driver set the taint: the device may be broken")
        }
        Change::AddDevices { like, .. } => {
            let found = devices().find(|(slice, device)| DeviceId::of(slice, device) == *like);
            let is_part = found.is_some_and(|(_, device)| !device.consumes_counters.is_empty());
            is_part.then_some("; it is a partition: hardware that has room for it is needed")
        }
        _ => None,
    };
    let mut texts: Vec<&str> = changes.iter().filter_map(text).collect();
    texts.dedup();
    texts.concat()
}

fn in_words(case: &Case, change: &Change) -> String {
    let of = |claim: &str| match case.question.claims.len() {
        0 | 1 => String::new(),
        _ => format!(" of claim `{claim}`"),
    };
    match change {
        Change::ChangeSelector { claim, request, index, to, .. } => {
            format!("change `selectors[{index}]` of request `{request}`{} to `{}`", of(claim), to.trim())
        }
        Change::RemakeClaim { claim, template } => {
            format!("make claim `{claim}` anew (it was made from an earlier version of template `{template}`)")
        }
        Change::UseNodes { nodes } => {
            let what = if nodes.len() == 1 { "node" } else { "one of the nodes" };
            format!("use {what} {}, which was not asked for", words::list(nodes.iter()))
        }
        Change::TolerateNode { taint } => format!("tolerate the node taint `{taint}` in the Pod"),
        Change::DropNodeSelector { label, value } => {
            format!("leave `{label}: {value}` out of the Pod's node selector")
        }
        Change::DropNodeAffinity {} => "leave out the Pod's required node affinity".to_owned(),
        Change::Prefer { rule: PlacementRule::Spread, key } => {
            format!("only prefer that Pods are spread over `{key}` (`whenUnsatisfiable: ScheduleAnyway`)")
        }
        Change::Prefer { rule: PlacementRule::PodAffinity, key } => {
            format!("prefer the `{key}` of other Pods, in place of requiring it (`podAffinity`)")
        }
        Change::Prefer { rule: PlacementRule::PodAntiAffinity, key } => {
            format!("prefer another `{key}` than other Pods have, in place of requiring it (`podAntiAffinity`)")
        }
        Change::OwnClaim { claim, template, .. } => format!(
            "give the Pod a claim of its own: `resourceClaimTemplateName: {template}` in the place of \
             `resourceClaimName: {claim}`"
        ),
        Change::LowerResource { resource, from, to } => {
            format!("ask for {to} of `{resource}` instead of {from} in the Pod")
        }
        Change::Uncordon { node } => format!("make node `{node}` schedulable again"),
        Change::EnableGate { gate } => format!("turn the feature gate `{gate}` on, for the whole cluster"),
        Change::Tolerate { claim, request, taint } => {
            format!("tolerate the taint `{taint}` in request `{request}`{}", of(claim))
        }
        Change::LowerCapacity { claim, request, name, from, to } => {
            format!("ask for {to} of `{name}` instead of {from} in request `{request}`{}", of(claim))
        }
        Change::OtherCapacity { claim, request, amount, from, to } => {
            format!("ask for {amount} of `{to}` instead of `{from}` in request `{request}`{}", of(claim))
        }
        Change::LowerCount { claim, request, from, to } => {
            format!("ask for {} instead of {from} in request `{request}`{}", words::plural(*to, "device"), of(claim))
        }
        Change::DropConstraint { claim, index, text } => {
            format!("leave out `constraints[{index}]`{}: {text}", of(claim))
        }
        Change::DropSelector { claim, request, index, expression } => {
            format!("leave out `selectors[{index}]` of request `{request}`{}: `{}`", of(claim), expression.trim())
        }
        Change::AddAlternative { claim, request, class } => {
            format!("accept devices of class `{class}` as an alternative in request `{request}`{}", of(claim))
        }
        Change::FreeClaim { claim, consumers, priority } => {
            let who = match consumers.as_slice() {
                [] => ", which no Pod uses".to_owned(),
                names => format!(" of {}", words::list(names.iter())),
            };
            let priority = priority.map(|priority| format!(" (priority {priority})")).unwrap_or_default();
            format!("free claim `{claim}`{who}{priority}")
        }
        Change::RaisePriority { from, to, class, .. } => {
            let class = class.as_ref().map(|class| format!(", that of PriorityClass `{class}`")).unwrap_or_default();
            format!("raise the Pod's priority from {from} to {to}{class}")
        }
        Change::ChangeClass { class, index, to, .. } => {
            format!("change `selectors[{index}]` of device class `{class}`, for all of its claims, to `{}`", to.trim())
        }
        Change::AddDevices { count, class, like, node } => {
            let what = words::plural(*count, "device");
            format!("add {what} of class `{class}` like `{}/{}` to node `{node}`", like.pool, like.device)
        }
    }
}

/// What of the metadata a user writes.
pub(crate) fn to_write(metadata: &ObjectMeta) -> ObjectMeta {
    let mut annotations = metadata.annotations.clone();
    annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    ObjectMeta {
        name: metadata.name.clone(),
        namespace: metadata.namespace.clone(),
        labels: metadata.labels.clone(),
        annotations,
        ..ObjectMeta::default()
    }
}

/// What each request asks for of each capacity.
pub(crate) fn asked(claim: &ResourceClaim, request: &str) -> BTreeMap<String, Quantity> {
    let mut copy = claim.clone();
    let amounts = parts(copy.devices_mut(), request).and_then(|parts| parts.capacity.map(|amounts| amounts.clone()));
    amounts.unwrap_or_default()
}

/// The change that leaves a constraint out.
pub(crate) fn drop_constraint(claim: &ResourceClaim, index: usize) -> Change {
    Change::DropConstraint {
        claim: claim.metadata.name.clone(),
        index: u64::try_from(index).unwrap_or(u64::MAX),
        text: constraint_text(claim, index),
    }
}
