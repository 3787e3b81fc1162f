//! The device taint eviction controller: Pods whose devices got a `NoExecute` taint that they do not tolerate are deleted.
//!
//! Taints come from ResourceSlices (the newest generation of each pool) and from DeviceTaintRules, which match devices by
//! identity, published or not. Tolerations are those in the allocation result. Claims with admin access are not exempt.
//!
//! Source: KEP-5055; `pkg/controller/devicetainteviction`.

mod rules;
mod taints;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use crate::api::claim::ResourceClaim;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::entries::{self, Resolved};
use crate::cluster::{Cluster, Key};
use crate::decision::{Action, Decision, EventRecord, Merging, Patch, Time, Trigger};
use crate::finding::ObjectRef;
use crate::gather::Gather;
use crate::profile::{Mode, Profile, Version};
use taints::Taints;

/// Who evicts, in Events.
const CONTROLLER: &str = "device-taint-eviction-controller";

/// What the controller knows beside the facts. Without it nothing wrong is done: only counts and cancellations are missed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Memory {
    /// Pods that are to be evicted, by key, with their UID.
    pending: BTreeMap<Key, String>,
    /// Pods evicted for a rule, by the rule's UID.
    evicted: BTreeMap<String, u64>,
    /// When the status of a rule of a generation was written last, by the rule's UID.
    written: BTreeMap<String, (i64, Time)>,
}

/// Why and when a Pod is to go.
#[derive(Clone, PartialEq, Debug)]
struct Eviction {
    at: Time,
    /// UIDs of the rules that contribute.
    rules: BTreeSet<String>,
    /// The claims whose devices are tainted.
    claims: BTreeSet<Key>,
}

/// Whether a change can make a difference.
pub fn is_affected(cluster: &Cluster, trigger: &Trigger) -> bool {
    match trigger.latest() {
        Some(Object::ResourceSlice(_) | Object::DeviceTaintRule(_)) => true,
        Some(Object::DeviceClass(_)) => !cluster.taint_rules().is_empty(),
        Some(Object::ResourceClaim(_) | Object::Pod(_)) => {
            !cluster.taint_rules().is_empty() || cluster.evicting_slices().next().is_some()
        }
        _ => false,
    }
}

/// What to do now, and when the next Pod has to go.
pub fn reconcile(cluster: &Cluster, profile: &Profile, memory: &mut Memory, now: Time) -> Decision {
    let mut decision = Decision::none();
    if !profile.features.device_taints {
        return decision;
    }
    let evictions = evictions(cluster, profile, &Taints::of(cluster, profile), now);
    rules::report(cluster, profile, memory, &evictions, now, &mut decision);
    for key in memory.pending.keys().filter(|key| !evictions.contains_key(key)) {
        if let Some(pod) = cluster.pods().get(key).filter(|pod| !pod.metadata.is_deleting()) {
            decision.events.push(event(pod, "Cancelling deletion"));
        }
    }
    memory.pending.clear();
    for (key, eviction) in &evictions {
        let Some(pod) = cluster.pods().get(key) else { continue };
        if eviction.at <= now {
            evict(pod, now, &mut decision);
            for rule in &eviction.rules {
                let count = memory.evicted.entry(rule.clone()).or_default();
                *count = count.saturating_add(1);
            }
        } else {
            decision.wake_at(eviction.at);
            memory.pending.insert(key.clone(), pod.metadata.uid.clone());
        }
    }
    decision
}

/// Whether there are taints that drive Pods out.
pub(crate) fn may_evict(cluster: &Cluster, profile: &Profile) -> bool {
    profile.features.device_taints && !Taints::of(cluster, profile).is_empty()
}

/// Pods that have to go, each with the time and the claims whose devices are tainted; by namespace and name.
pub fn preview(cluster: &Cluster, profile: &Profile, now: Time) -> Vec<(Key, Time, Vec<Key>)> {
    if !profile.features.device_taints {
        return Vec::new();
    }
    let evictions = evictions(cluster, profile, &Taints::of(cluster, profile), now);
    let of_pod = |(key, eviction): (Key, Eviction)| (key, eviction.at, eviction.claims.into_iter().collect());
    evictions.into_iter().map(of_pod).collect()
}

/// Taints because of which Pods have to go by now, in words, by Pod. Those that are being deleted already are left out.
pub(crate) fn causes(cluster: &Cluster, profile: &Profile, now: Time) -> BTreeMap<Key, BTreeSet<String>> {
    let taints = Taints::of(cluster, profile);
    let mut causes: BTreeMap<Key, BTreeSet<String>> = BTreeMap::new();
    for (key, claim) in cluster.claims() {
        let results = claim.status.allocation.iter().flat_map(|allocation| &allocation.devices.results);
        let due = results.flat_map(|result| taints.on(result).map(move |taint| (result, taint)));
        let due = due.filter(|(result, taint)| {
            taints::time(taint.taint, &result.tolerations, profile, now).is_some_and(|at| at <= now)
        });
        let words: BTreeSet<String> = due.map(|(result, taint)| taint.in_words(result)).gather();
        if words.is_empty() {
            continue;
        }
        let users = pods_of(cluster, key, claim).into_values().filter(|pod| uses(cluster, profile, pod, claim));
        for pod in users.filter(|pod| !pod.metadata.is_deleting()) {
            causes.entry(entries::key_of(&pod.metadata)).or_default().extend(words.iter().cloned());
        }
    }
    causes
}

/// Pods that have to go, each with the time. Those that are being deleted already are left out.
fn evictions(cluster: &Cluster, profile: &Profile, taints: &Taints<'_>, now: Time) -> BTreeMap<Key, Eviction> {
    let mut evictions: BTreeMap<Key, Eviction> = BTreeMap::new();
    if taints.is_empty() {
        return evictions;
    }
    for (pod, eviction) in users(cluster, profile, taints, now).filter(|(pod, _)| !pod.metadata.is_deleting()) {
        let known = evictions.entry(entries::key_of(&pod.metadata)).or_insert_with(|| eviction.clone());
        known.at = known.at.min(eviction.at);
        known.rules.extend(eviction.rules);
        known.claims.extend(eviction.claims);
    }
    evictions
}

/// Pods that use claims with tainted devices, once for each such claim.
fn users<'c>(
    cluster: &'c Cluster,
    profile: &'c Profile,
    taints: &'c Taints<'_>,
    now: Time,
) -> impl Iterator<Item = (&'c Arc<Pod>, Eviction)> {
    cluster.claims().iter().flat_map(move |(key, claim)| {
        let eviction = of_claim(key, claim, taints, profile, now);
        let pods = eviction.as_ref().map(|_| pods_of(cluster, key, claim)).unwrap_or_default();
        let users = pods.into_values().filter(|pod| uses(cluster, profile, pod, claim));
        users.filter_map(move |pod| Some((pod, eviction.clone()?)))
    })
}

/// Pods that may use a claim: those that refer to it and members of PodGroups that it is reserved for.
fn pods_of<'c>(cluster: &'c Cluster, key: &Key, claim: &ResourceClaim) -> BTreeMap<&'c String, &'c Arc<Pod>> {
    let groups = claim.status.reserved_for.iter().filter(|consumer| entries::is_group_reference(consumer));
    let members = groups.flat_map(|group| cluster.pods_of_group(&(key.0.clone(), group.name.clone())));
    cluster.pods_of_claim(key).chain(members).map(|pod| (&pod.metadata.name, pod)).gather()
}

/// Whether a Pod with a node uses the claim.
fn uses(cluster: &Cluster, profile: &Profile, pod: &Pod, claim: &ResourceClaim) -> bool {
    let groups = profile.features.workload_resource_claims;
    // DIFFERENCE: the reference deletes members of a PodGroup that have run to their end, too.
    let has_ended = pod.is_finished() && profile.mode == Mode::Sound;
    if pod.spec.node_name.is_empty() || has_ended || !entries::is_reserved_for_pod(pod, claim, groups) {
        return false;
    }
    let group = entries::group_of(cluster, pod).filter(|_| groups);
    let own = pod.spec.resource_claims.iter().any(|entry| match entries::resolve(pod, entry, group) {
        Resolved::Claim { name, is_generated } => {
            name == claim.metadata.name && (!is_generated || entries::is_for_pod(pod, claim, groups))
        }
        Resolved::NotNeeded | Resolved::NotCreated | Resolved::NoSource => false,
    });
    // DIFFERENCE: the reference up to 1.36 passes over claims for extended resources.
    let knows_extended = profile.mode == Mode::Sound || profile.version >= Version::V1_37;
    own || (knows_extended && pod.extended_resource_claim() == Some(&claim.metadata.name))
}

/// When the users of a claim have to go; `None` while they may stay.
fn of_claim(key: &Key, claim: &ResourceClaim, taints: &Taints<'_>, profile: &Profile, now: Time) -> Option<Eviction> {
    let results = &claim.status.allocation.as_ref()?.devices.results;
    let mut found: Option<Eviction> = None;
    for result in results {
        for taint in taints.on(result) {
            let Some(at) = taints::time(taint.taint, &result.tolerations, profile, now) else { continue };
            let eviction =
                found.get_or_insert_with(|| Eviction { at, rules: BTreeSet::new(), claims: [key.clone()].into() });
            eviction.at = eviction.at.min(at);
            eviction.rules.extend(taint.rule.map(|rule| rule.metadata.uid.clone()));
        }
    }
    found
}

fn evict(pod: &Pod, now: Time, decision: &mut Decision) {
    decision.actions.push(Action::Record(event(pod, "Marking for deletion")));
    let condition = json!({
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": now.to_string(),
        "reason": "DeletionByDeviceTaintManager",
        "message": "Device Taint manager: deleting due to NoExecute taint",
    });
    let fields = json!({ "status": { "conditions": [condition] } });
    decision.actions.push(Action::Patch(Patch::of(reference(pod), &pod.metadata, true, Merging::Strategic, fields)));
    decision.actions.push(Action::delete(reference(pod), &pod.metadata));
}

fn event(pod: &Pod, note: &str) -> EventRecord {
    let (reason, note) = ("DeviceTaintManagerEviction", note.to_owned());
    EventRecord { is_warning: false, ..EventRecord::warning(CONTROLLER, reference(pod), &pod.metadata, reason, note) }
}

fn reference(pod: &Pod) -> ObjectRef {
    pod.metadata.reference("Pod")
}
