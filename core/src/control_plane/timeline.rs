//! What happened in a simulated cluster, in the words of users: one line for each thing that matters.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::api::claim::{ResourceClaim, ResourceClaimConsumerReference};
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::api::slice::ResourceSlice;
use crate::decision::{EventRecord, Time, Trigger};
use crate::finding::ObjectRef;

/// Devices and consumers that are named in one line; of further ones only the number is told.
const MOST_NAMES: usize = 4;

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Happening {
    /// Something was asked for from outside.
    Requested,
    /// The object came into being.
    Created,
    /// Its deletion was asked for.
    Deleting,
    /// It is gone.
    Deleted,
    /// A Pod got its node.
    Placed,
    /// A Pod was tried and fits nowhere.
    Pending,
    /// A Pod started or ended.
    Phase,
    /// The claim of an entry was recorded in a status.
    Recorded,
    /// A claim got devices.
    Allocated,
    /// A claim gave its devices back.
    Deallocated,
    /// A claim was reserved.
    Reserved,
    /// A reservation went.
    Released,
    /// Something must happen from now on before the object may go.
    Protected,
    /// That was taken back.
    Unprotected,
    /// A condition changed.
    Condition,
    /// Taints of devices changed.
    Taints,
    /// Something else of the object changed.
    Changed,
    /// A controller or the scheduler told users something.
    Event,
}

impl Happening {
    /// The word, as in the JSON form.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Created => "created",
            Self::Deleting => "deleting",
            Self::Deleted => "deleted",
            Self::Placed => "placed",
            Self::Pending => "pending",
            Self::Phase => "phase",
            Self::Recorded => "recorded",
            Self::Allocated => "allocated",
            Self::Deallocated => "deallocated",
            Self::Reserved => "reserved",
            Self::Released => "released",
            Self::Protected => "protected",
            Self::Unprotected => "unprotected",
            Self::Condition => "condition",
            Self::Taints => "taints",
            Self::Changed => "changed",
            Self::Event => "event",
        }
    }
}

/// One thing that happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Milliseconds since the start.
    #[cfg_attr(feature = "types", ts(type = "number"))]
    pub at_millis: u64,
    /// What.
    pub happened: Happening,
    /// To which object.
    pub object: ObjectRef,
    /// More about it, for people; may be empty. A node's name for `placed`.
    pub detail: String,
}

/// Everything that happened since it was begun.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    start: Time,
    moments: Vec<Moment>,
    /// Events that are told.
    events: usize,
}

impl Timeline {
    pub(super) fn new(start: Time, events: usize) -> Self {
        Self { start, moments: Vec::new(), events }
    }

    pub(super) fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Notes one thing.
    pub(super) fn tell(&mut self, now: Time, happened: Happening, object: ObjectRef, detail: impl Into<String>) {
        let at_millis = u64::try_from(now.millis().saturating_sub(self.start.millis())).unwrap_or_default();
        self.moments.push(Moment { at_millis, happened, object, detail: detail.into() });
    }

    /// Notes Events that are new among all that were recorded.
    pub(super) fn note_events(&mut self, now: Time, all: &[(EventRecord, u64)]) {
        for (event, _) in all.iter().skip(self.events) {
            let detail = format!("{}: {}", event.reason, event.note);
            self.tell(now, Happening::Event, event.regarding.clone(), detail);
        }
        self.events = all.len();
    }

    /// Notes what a change means.
    pub(super) fn note(&mut self, now: Time, trigger: &Trigger) {
        let Some(object) = trigger.latest().map(Object::reference) else { return };
        let mut tell = |happened: Happening, detail: String| self.tell(now, happened, object.clone(), detail);
        match (trigger.before.as_deref(), trigger.after.as_deref()) {
            (None, Some(after)) => tell(Happening::Created, made_for(after.metadata())),
            (Some(_), None) => tell(Happening::Deleted, String::new()),
            (Some(before), Some(after)) => {
                let lines = changes(before, after);
                let is_silent = lines.is_empty() && same_apart_from_version(before, after);
                for (happened, detail) in &lines {
                    tell(*happened, detail.clone());
                }
                if lines.is_empty() && !is_silent {
                    tell(Happening::Changed, String::new());
                }
            }
            (None, None) => {}
        }
    }
}

/// Who owns a new object.
fn made_for(metadata: &ObjectMeta) -> String {
    let owner = metadata.controller().map(|owner| format!("for {} {}", owner.kind, owner.name));
    owner.unwrap_or_default()
}

fn changes(before: &Object, after: &Object) -> Vec<(Happening, String)> {
    let mut lines = Vec::new();
    let (old, new) = (before.metadata(), after.metadata());
    if !old.is_deleting() && new.is_deleting() {
        let ends = matches!(after, Object::Pod(_)).then(|| format!("ends by {}", new.deletion_timestamp));
        lines.push((Happening::Deleting, ends.unwrap_or_default()));
    }
    let added = new.finalizers.iter().filter(|name| !old.finalizers.contains(name));
    lines.extend(added.map(|name| (Happening::Protected, name.clone())));
    match (before, after) {
        (Object::Pod(before), Object::Pod(after)) => pod(before, after, &mut lines),
        (Object::ResourceClaim(before), Object::ResourceClaim(after)) => claim(before, after, &mut lines),
        (Object::PodGroup(before), Object::PodGroup(after)) => {
            let (before, after) = (&before.status, &after.status);
            recorded(&before.resource_claim_statuses, &after.resource_claim_statuses, &mut lines);
            conditions(&before.conditions, &after.conditions, &mut lines);
        }
        (Object::ResourceSlice(before), Object::ResourceSlice(after)) => taints(before, after, &mut lines),
        _ => {}
    }
    let removed = old.finalizers.iter().filter(|name| !new.finalizers.contains(name));
    lines.extend(removed.map(|name| (Happening::Unprotected, name.clone())));
    lines
}

fn pod(before: &Pod, after: &Pod, lines: &mut Vec<(Happening, String)>) {
    recorded(&before.status.resource_claim_statuses, &after.status.resource_claim_statuses, lines);
    if before.spec.node_name != after.spec.node_name {
        lines.push((Happening::Placed, after.spec.node_name.clone()));
    } else {
        let waits = |pod: &Pod| {
            let is_it = |condition: &&Value| {
                field(condition, "type") == "PodScheduled" && field(condition, "status") == "False"
            };
            pod.status.conditions.iter().find(is_it).map(|condition| field(condition, "message").to_owned())
        };
        if let Some(message) = waits(after).filter(|message| Some(message) != waits(before).as_ref()) {
            lines.push((Happening::Pending, message));
        }
    }
    let others = |pod: &Pod| -> Vec<Value> {
        pod.status.conditions.iter().filter(|condition| field(condition, "type") != "PodScheduled").cloned().collect()
    };
    conditions(&others(before), &others(after), lines);
    if before.status.phase != after.status.phase {
        lines.push((Happening::Phase, after.status.phase.clone()));
    }
}

fn claim(before: &ResourceClaim, after: &ResourceClaim, lines: &mut Vec<(Happening, String)>) {
    let (old, new) = (&before.status, &after.status);
    let devices = |claim: &ResourceClaim| -> Vec<String> {
        let results = claim.status.allocation.iter().flat_map(|allocation| &allocation.devices.results);
        results.map(|result| format!("{}/{}/{}", result.driver, result.pool, result.device)).collect()
    };
    let left = old.reserved_for.iter().filter(|consumer| !holds(&new.reserved_for, consumer));
    let left: Vec<String> = left.map(consumer).collect();
    if !left.is_empty() {
        lines.push((Happening::Released, names(&left)));
    }
    match (&old.allocation, &new.allocation) {
        (None, Some(_)) => lines.push((Happening::Allocated, names(&devices(after)))),
        (Some(_), None) => lines.push((Happening::Deallocated, names(&devices(before)))),
        _ => {}
    }
    let joined = new.reserved_for.iter().filter(|consumer| !holds(&old.reserved_for, consumer));
    let joined: Vec<String> = joined.map(consumer).collect();
    if !joined.is_empty() {
        lines.push((Happening::Reserved, format!("for {}", names(&joined))));
    }
    if old.devices != new.devices && new.allocation.is_some() {
        lines.push((Happening::Condition, "a driver reports on its devices".to_owned()));
    }
}

fn holds(list: &[ResourceClaimConsumerReference], wanted: &ResourceClaimConsumerReference) -> bool {
    list.iter().any(|consumer| consumer.uid == wanted.uid)
}

fn consumer(consumer: &ResourceClaimConsumerReference) -> String {
    match consumer.resource.as_str() {
        "pods" => format!("Pod {}", consumer.name),
        "podgroups" => format!("PodGroup {}", consumer.name),
        other => format!("{other} {}", consumer.name),
    }
}

fn recorded(
    before: &[crate::api::pod::PodResourceClaimStatus],
    after: &[crate::api::pod::PodResourceClaimStatus],
    lines: &mut Vec<(Happening, String)>,
) {
    for status in after.iter().filter(|status| !before.contains(status)) {
        let detail = match &status.resource_claim_name {
            Some(claim) => format!("{}: claim {claim}", status.name),
            None => format!("{}: no claim is needed", status.name),
        };
        lines.push((Happening::Recorded, detail));
    }
}

fn conditions(before: &[Value], after: &[Value], lines: &mut Vec<(Happening, String)>) {
    let key = |condition: &Value| ["type", "status", "reason"].map(|name| field(condition, name).to_owned());
    for condition in after.iter().filter(|condition| !before.iter().any(|known| key(known) == key(condition))) {
        let [kind, status, reason] = key(condition);
        let why = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        lines.push((Happening::Condition, format!("{kind}={status}{why}")));
    }
}

fn taints(before: &ResourceSlice, after: &ResourceSlice, lines: &mut Vec<(Happening, String)>) {
    for device in &after.spec.devices {
        let known = before.spec.devices.iter().find(|known| known.name == device.name);
        if known.is_none_or(|known| known.taints == device.taints) {
            continue;
        }
        let taints: Vec<String> =
            device.taints.iter().map(|taint| format!("{}:{}", taint.key, taint.effect.text())).collect();
        let detail = match taints.is_empty() {
            true => format!("{} has no taints any more", device.name),
            false => format!("{} has {}", device.name, names(&taints)),
        };
        lines.push((Happening::Taints, detail));
    }
}

fn same_apart_from_version(before: &Object, after: &Object) -> bool {
    let mut before = before.clone();
    before.metadata_mut().resource_version.clone_from(&after.metadata().resource_version);
    let nominated = |object: &mut Object| {
        if let Object::Pod(pod) = object {
            let pod = Arc::make_mut(pod);
            pod.status.nominated_node_name.clear();
            pod.status.conditions.clear();
        }
    };
    let mut after = after.clone();
    nominated(&mut before);
    nominated(&mut after);
    before == after
}

fn names(names: &[String]) -> String {
    let shown = names.get(..MOST_NAMES).unwrap_or(names).join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn field<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
