//! What DeviceTaintRules report about evictions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::taints::{Selection, Taints};
use super::{Eviction, Memory, users};
use crate::api::class::DeviceTaintRule;
use crate::api::condition::{condition, conditions, text};
use crate::api::slice::TaintEffect;
use crate::cluster::{Cluster, Key};
use crate::decision::{Action, Decision, Merging, Patch, Time};
use crate::finding::ObjectRef;
use crate::gather::Gather;
use crate::profile::Profile;

/// Seconds between two writes of the status of one rule.
const PAUSE_SECONDS: i64 = 10;

/// Writes the condition of every rule whose condition is out of date.
pub(super) fn report(
    cluster: &Cluster,
    profile: &Profile,
    memory: &mut Memory,
    evictions: &BTreeMap<Key, Eviction>,
    now: Time,
    decision: &mut Decision,
) {
    if !profile.features.device_taint_rules {
        return;
    }
    let mut pending: BTreeMap<&str, Vec<&Key>> = BTreeMap::new();
    for (pod, eviction) in evictions {
        eviction.rules.iter().for_each(|uid| pending.entry(uid).or_default().push(pod));
    }
    for rule in cluster.taint_rules().values().filter(|rule| !rule.metadata.is_deleting()) {
        let uid = &rule.metadata.uid;
        let generation = rule.metadata.rest.get("generation").and_then(Value::as_i64).unwrap_or_default();
        let pending = pending.get(uid.as_str()).map_or(&[][..], Vec::as_slice);
        let Some(wanted) = wanted(cluster, profile, memory, rule, pending, generation) else { continue };
        if is_said(rule, &wanted, generation) {
            continue;
        }
        let last = memory.written.get(uid).filter(|(written, _)| *written == generation);
        let next = last.map(|(_, time)| time.plus_seconds(PAUSE_SECONDS)).filter(|next| *next > now);
        if let Some(next) = next {
            decision.wake_at(next);
            continue;
        }
        memory.written.insert(uid.clone(), (generation, now));
        let object = ObjectRef::new("DeviceTaintRule", "", &*rule.metadata.name);
        let fields = json!({ "status": { "conditions": [{
            "type": "EvictionInProgress",
            "status": wanted.status,
            "observedGeneration": generation,
            "lastTransitionTime": now.to_string(),
            "reason": wanted.reason,
            "message": wanted.message,
        }] } });
        decision.actions.push(Action::Patch(Patch::of(object, &rule.metadata, true, Merging::Strategic, fields)));
    }
}

/// What a rule's condition is to say.
struct Wanted {
    status: &'static str,
    reason: &'static str,
    message: String,
}

fn wanted(
    cluster: &Cluster,
    profile: &Profile,
    memory: &Memory,
    rule: &DeviceTaintRule,
    pending: &[&Key],
    generation: i64,
) -> Option<Wanted> {
    let evicted = memory.evicted.get(&rule.metadata.uid).copied().unwrap_or_default();
    let done = match evicted {
        0 => String::new(),
        1 => "1 pod evicted since starting the controller.".to_owned(),
        more => format!("{more} pods evicted since starting the controller."),
    };
    let with_done = |text: &str| {
        if text.is_empty() || done.is_empty() { format!("{text}{done}") } else { format!("{text} {done}") }
    };
    Some(match rule.spec.taint.effect {
        TaintEffect::NoExecute => {
            let namespaces: BTreeSet<&String> = pending.iter().map(|key| &key.0).gather();
            if !pending.is_empty() {
                let message = format!("{} in {}.", needs(pending.len()), count_namespaces(namespaces.len()));
                Wanted { status: "True", reason: "PodsPendingEviction", message: with_done(&message) }
            } else if evicted > 0 {
                Wanted { status: "False", reason: "Completed", message: done }
            } else {
                Wanted { status: "False", reason: "NotStarted", message: String::new() }
            }
        }
        TaintEffect::None => {
            // The preview is written once: it would be wrong soon, and right again only by being asked for.
            if own(rule, generation).is_some_and(|condition| text(condition, "reason") == "NoEffect") {
                return None;
            }
            Wanted { status: "False", reason: "NoEffect", message: with_done(&preview(cluster, profile, rule)) }
        }
        _ => {
            let message = with_done("Eviction only happens for the NoExecute effect.");
            Wanted { status: "False", reason: "OtherEffect", message }
        }
    })
}

/// What the rule would do with the effect `NoExecute`.
fn preview(cluster: &Cluster, profile: &Profile, rule: &DeviceTaintRule) -> String {
    let selection = Selection::of(cluster, rule);
    let published = cluster
        .newest_devices()
        .filter(|(slice, device)| selection.has(&slice.spec.driver, &slice.spec.pool.name, &device.name))
        .count();
    let results = cluster.claims().values().flat_map(|claim| claim.results());
    let allocated: BTreeSet<_> = results
        .filter(|result| selection.has(&result.driver, &result.pool, &result.device))
        .map(|result| (&result.driver, &result.pool, &result.device))
        .gather();
    let mut executing = rule.clone();
    executing.spec.taint.effect = TaintEffect::NoExecute;
    let taints = Taints::of_rule(cluster, &executing);
    let users = users(cluster, profile, &taints, Time::default());
    let pods: BTreeSet<(&String, &String)> =
        users.map(|(pod, _)| (&pod.metadata.namespace, &pod.metadata.name)).gather();
    let namespaces: BTreeSet<&String> = pods.iter().map(|key| key.0).gather();
    counts(published, allocated.len(), pods.len(), namespaces.len())
}

fn counts(published: usize, allocated: usize, pods: usize, namespaces: usize) -> String {
    let devices = |count: usize, what: &str| match count {
        1 => format!("1 {what} device selected."),
        count => format!("{count} {what} devices selected."),
    };
    let pods = if pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") };
    format!(
        "{} {} {pods} would be evicted in {} if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.",
        devices(published, "published"),
        devices(allocated, "allocated"),
        count_namespaces(namespaces),
    )
}

fn needs(pods: usize) -> String {
    if pods == 1 { "1 pod needs to be evicted".to_owned() } else { format!("{pods} pods need to be evicted") }
}

fn count_namespaces(namespaces: usize) -> String {
    if namespaces == 1 { "1 namespace".to_owned() } else { format!("{namespaces} different namespaces") }
}

/// The condition that was written for a generation of a rule.
fn own(rule: &DeviceTaintRule, generation: i64) -> Option<&Value> {
    let own = condition(conditions(&rule.status), "EvictionInProgress")?;
    (own.get("observedGeneration").and_then(Value::as_i64) == Some(generation)).then_some(own)
}

fn is_said(rule: &DeviceTaintRule, wanted: &Wanted, generation: i64) -> bool {
    own(rule, generation).is_some_and(|own| {
        (text(own, "status"), text(own, "reason"), text(own, "message"))
            == (wanted.status, wanted.reason, &*wanted.message)
    })
}
