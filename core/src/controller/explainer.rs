//! Why Pods and PodGroups wait for devices, told to their users: once, and again when it is something else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Conclusion;
use crate::allocate::Limits;
use crate::api::condition::{condition, text};
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::cluster::{Cluster, Key};
use crate::decision::{Action, Decision, EventRecord, Merging, Patch, Time, Trigger};
use crate::derive;
use crate::explain::{Explanation, State, Waiting};
use crate::finding::{Code, ObjectRef};
use crate::gather::Gather;

/// Who tells, in Events.
const EXPLAINER: &str = "apportion-explainer";

/// Annotation of a Pod or PodGroup whose status is to say it, too.
const WANTED: &str = "apportion.dev/explain";

/// Type of the condition that says it.
pub(super) const CONDITION: &str = "apportion.dev/DevicesAvailable";

/// Milliseconds between two looks at the cluster.
const PAUSE: i64 = 10_000;

/// Milliseconds after which a new Pod is explained: until then the scheduler may not have seen it.
const GRACE: i64 = 5_000;

/// Milliseconds between two Events about one object.
const REPEAT: i64 = 60_000;

/// Most objects that are told of at once; the others come with the next look.
const MOST_AT_ONCE: usize = 100;

/// Longest note of an Event, in bytes.
const MOST_NOTE: usize = 1000;

/// What may keep a Pod waiting that has nothing to do with its devices, and that others tell of.
const NOT_ABOUT_DEVICES: [Code; 5] =
    [Code::RunFinished, Code::RunSchedulingGated, Code::RunNodeUnsuitable, Code::RunGroupShort, Code::RunGroupMissing];

/// What was told about one object.
#[derive(Clone, Debug)]
struct Told {
    note: String,
    at: Time,
}

/// Nodes that are looked at in one call, for as many Pods as that is: what comes in between must not wait long.
const MOST_NODES: usize = 20_000;

/// What the part knows beside the facts.
#[derive(Clone, Debug, Default)]
pub(super) struct Explainer {
    /// Whether it may write conditions.
    writes_conditions: bool,
    /// Whether something changed since the last look.
    is_stale: bool,
    looked: Option<Time>,
    /// A look that is not at its end.
    look: Option<Box<Waiting>>,
    /// By UID.
    told: BTreeMap<String, Told>,
}

impl Explainer {
    pub(super) fn new(writes_conditions: bool) -> Self {
        Self { writes_conditions, ..Self::default() }
    }

    /// Whether a change can make a difference.
    pub(super) fn is_affected(&mut self, trigger: &Trigger) -> bool {
        let matters = match (trigger.before.as_deref(), trigger.after.as_deref()) {
            // Nothing but the version, or what this part wrote itself.
            (Some(Object::Pod(before)), Some(Object::Pod(after))) => {
                before.spec != after.spec
                    || before.status.resource_claim_statuses != after.status.resource_claim_statuses
                    || before.is_finished() != after.is_finished()
                    || before.metadata.is_deleting() != after.metadata.is_deleting()
                    || before.metadata.annotations != after.metadata.annotations
            }
            (Some(Object::Node(before)), Some(Object::Node(after))) => {
                before.spec != after.spec || before.metadata.labels != after.metadata.labels
            }
            (Some(Object::Namespace(_)), _) | (_, Some(Object::Namespace(_))) => false,
            _ => true,
        };
        self.is_stale |= matters;
        matters
    }

    pub(super) fn reconcile(&mut self, cluster: &Cluster, limits: &Limits, now: Time) -> Decision {
        let mut decision = Decision::none();
        if let Some(look) = self.look.take() {
            return self.go_on(look, cluster, limits, now);
        }
        if !self.is_stale {
            return decision;
        }
        if let Some(next) = self.looked.map(|looked| looked.plus_millis(PAUSE)).filter(|next| *next > now) {
            decision.wake_at(next);
            return decision;
        }
        self.is_stale = false;
        self.looked = Some(now);
        if !cluster.pods().values().any(|pod| pod.spec.node_name.is_empty() && !pod.spec.resource_claims.is_empty()) {
            self.told.clear();
            self.take_back(cluster, &[], now, &mut decision);
            return decision;
        }
        self.go_on(Waiting::of(cluster.clone(), limits), cluster, limits, now)
    }

    /// Goes on with a look; at its end all that wait are told.
    fn go_on(&mut self, look: Box<Waiting>, cluster: &Cluster, limits: &Limits, now: Time) -> Decision {
        let steps = MOST_NODES.checked_div(cluster.nodes().len()).unwrap_or(MOST_NODES).max(1);
        match look.go_on(steps, limits) {
            Ok(explained) => self.tell(explained, cluster, now),
            Err(look) => {
                self.look = Some(look);
                Decision { wake_up: Some(now), ..Decision::none() }
            }
        }
    }

    fn tell(&mut self, explained: Vec<Explanation>, cluster: &Cluster, now: Time) -> Decision {
        let mut decision = Decision::none();
        if self.is_stale {
            decision.wake_at(now.plus_millis(PAUSE));
        }
        self.take_back(cluster, &explained, now, &mut decision);
        let mut waiting: BTreeMap<String, Told> = BTreeMap::new();
        let mut count = 0_usize;
        for explanation in explained {
            let Some(waiter) = Waiter::of(cluster, &explanation) else { continue };
            let note = note(&explanation);
            let earlier = self.told.remove(&waiter.metadata.uid);
            let next = match &earlier {
                Some(told) if told.note == note => None,
                Some(told) => Some(told.at.plus_millis(REPEAT)),
                None => Time::parse(&waiter.metadata.creation_timestamp).map(|born| born.plus_millis(GRACE)),
            };
            let is_known = earlier.as_ref().is_some_and(|told| told.note == note);
            if is_known || next.is_some_and(|next| next > now) || count >= MOST_AT_ONCE {
                if is_known {
                    // It says so already, unless writing it failed or it was asked for since.
                    decision.actions.extend(self.condition(&waiter, &explanation, &note, now));
                } else {
                    self.is_stale = true;
                    decision.wake_at(next.unwrap_or(now).max(now.plus_millis(PAUSE)));
                }
                waiting.extend(earlier.map(|told| (waiter.metadata.uid.clone(), told)));
                continue;
            }
            count = count.saturating_add(1);
            decision.events.push(waiter.event(&explanation, &note));
            decision.actions.extend(self.condition(&waiter, &explanation, &note, now));
            waiting.insert(waiter.metadata.uid.clone(), Told { note, at: now });
        }
        self.told = waiting;
        decision
    }

    /// Takes back what statuses say of Pods that have their node by now, and of groups that wait no more.
    fn take_back(&mut self, cluster: &Cluster, explained: &[Explanation], now: Time, decision: &mut Decision) {
        if !self.writes_conditions {
            return;
        }
        let mut over = over(cluster, explained);
        decision.actions.extend(over.by_ref().take(MOST_AT_ONCE).map(|one| one.say("True", "DevicesFound", "", now)));
        if over.next().is_some() {
            self.is_stale = true;
            decision.wake_at(now.plus_millis(PAUSE));
        }
    }

    /// Writes the explanation into the status too, if the object asks for it and the installation allows it.
    fn condition(&self, waiter: &Waiter<'_>, explanation: &Explanation, note: &str, now: Time) -> Option<Action> {
        let is_wanted = waiter.metadata.annotations.get(WANTED).is_some_and(|wanted| wanted == "true");
        let is_said = || own(waiter.conditions).is_some_and(|old| text(old, "message") == note);
        let is_due = self.writes_conditions && is_wanted && !is_said();
        is_due.then(|| waiter.say("False", reason(explanation), note, now))
    }

    /// Hears what became of the latest decision. What is not in the statuses is found out by looking again.
    pub(super) fn conclude(&mut self, conclusion: &Conclusion) {
        self.is_stale |= *conclusion != Conclusion::Done;
    }
}

/// A Pod or PodGroup that waits for devices.
struct Waiter<'c> {
    reference: ObjectRef,
    metadata: &'c ObjectMeta,
    conditions: &'c [Value],
}

impl<'c> Waiter<'c> {
    /// `None` for what does not wait, or not for devices.
    fn of(cluster: &'c Cluster, explanation: &Explanation) -> Option<Self> {
        let first = explanation.stage.first().filter(|_| explanation.state == State::Blocked);
        let is_about_others = first.is_some_and(|first| NOT_ABOUT_DEVICES.contains(&first.code));
        if matches!(explanation.state, State::Placed | State::Fits) || is_about_others {
            return None;
        }
        let subject = &explanation.subject;
        let key = (subject.namespace.clone(), subject.name.clone());
        let (metadata, conditions) = match subject.kind.as_str() {
            "Pod" => {
                let pod = cluster.pods().get(&key)?;
                let waits = pod.spec.node_name.is_empty() && !pod.spec.resource_claims.is_empty();
                (waits.then_some(&pod.metadata)?, &pod.status.conditions)
            }
            "PodGroup" => {
                let group = cluster.pod_groups().get(&key)?;
                let has_claims = !group.spec.resource_claims.is_empty() || !explanation.requests.is_empty();
                (has_claims.then_some(&group.metadata)?, &group.status.conditions)
            }
            _ => return None,
        };
        (!metadata.is_deleting()).then(|| Self { reference: subject.clone(), metadata, conditions })
    }

    fn event(&self, explanation: &Explanation, note: &str) -> EventRecord {
        let (reference, reason) = (self.reference.clone(), reason(explanation));
        let warning = EventRecord::warning(EXPLAINER, reference, self.metadata, reason, note.to_owned());
        EventRecord { action: "Explain".to_owned(), ..warning }
    }

    fn say(&self, status: &str, reason: &str, message: &str, now: Time) -> Action {
        let old = own(self.conditions).filter(|old| text(old, "status") == status);
        let since = old.and_then(|old| old.get("lastTransitionTime")).cloned();
        let own = json!({
            "type": CONDITION, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": since.unwrap_or_else(|| json!(now.to_string())),
        });
        let fields = json!({ "status": { "conditions": [own] } });
        let patch = Patch::of(self.reference.clone(), self.metadata, true, Merging::Strategic, fields);
        Action::Patch(Patch { resource_version: String::new(), ..patch })
    }
}

/// The condition that this part wrote.
fn own(conditions: &[Value]) -> Option<&Value> {
    condition(conditions, CONDITION)
}

/// Pods that have their node by now, and groups that wait no more, whose status says otherwise.
fn over<'c>(cluster: &'c Cluster, explained: &[Explanation]) -> impl Iterator<Item = Waiter<'c>> {
    let is_open = |waiter: &Waiter<'_>| {
        own(waiter.conditions).is_some_and(|own| text(own, "status") == "False") && !waiter.metadata.is_deleting()
    };
    let waiter = |kind: &str, key: &Key, metadata, conditions| Waiter {
        reference: ObjectRef::new(kind, &*key.0, &*key.1),
        metadata,
        conditions,
    };
    let placed = cluster.pods().iter().filter(|(_, pod)| !pod.spec.node_name.is_empty() && !pod.is_finished());
    let pods = placed.map(move |(key, pod)| waiter("Pod", key, &pod.metadata, &pod.status.conditions[..]));
    let groups = cluster.pod_groups().iter();
    let groups = groups.map(move |(key, group)| waiter("PodGroup", key, &group.metadata, &group.status.conditions[..]));
    let waits = |one: &&Explanation| !matches!(one.state, State::Placed | State::Fits);
    let waiting: BTreeSet<ObjectRef> = explained.iter().filter(waits).map(|one| one.subject.clone()).gather();
    let groups = groups.filter(move |group| !waiting.contains(&group.reference));
    pods.chain(groups).filter(is_open)
}

fn reason(explanation: &Explanation) -> &'static str {
    match explanation.state {
        State::Blocked => "DevicesBlocked",
        State::NoDevices | State::GaveUp | State::Placed | State::Fits => "DevicesUnavailable",
    }
}

/// The explanation in one line.
fn note(explanation: &Explanation) -> String {
    let mut note = explanation.headline.clone();
    if let Some(closest) = &explanation.closest
        && explanation.state == State::NoDevices
    {
        note.push_str(&format!("; closest node: `{}` ({} of {})", closest.name, closest.found, closest.needed));
    }
    derive::cut(&note, MOST_NOTE).to_owned()
}
