//! Suggestions, carried out as they are written in the cluster as it was given, whose control plane then settles.
//!
//! What does not help its subject then is left out: another Pod is first, the gang does not fit as a whole, or the API server refuses
//! what is written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change::Change;
use super::relax::to_write;
use super::settled::{Settled, settle};
use super::trial::{ADDED, added, freed, key_in};
use super::words::list;
use super::{Explanation, Known, State, Suggestion, explain_one};
use crate::allocate::Limits;
use crate::api::claim::ResourceClaim;
use crate::api::meta::OwnerReference;
use crate::api::object::Object;
use crate::api::pod::{Pod, PodResourceClaimStatus, PodSpec};
use crate::cluster::{Cluster, Key};
use crate::control_plane::Preempted;
use crate::control_plane::admission::admit_value;
use crate::controllers::workloads::{owner_key, reference, root_of};
use crate::derive;
use crate::explain::origin::template_of;
use crate::finding::{Code, ObjectRef};
use crate::gather::Gather;

/// Most objects that are looked at again for the suggestions of one question, over all trials. A suggestion that is not tried for that
/// says so.
const MOST_OBJECTS: usize = 60_000;

/// As so many objects counts a Pod that each trial places anew.
const PLACING: usize = 10;

/// Name of an added pool that comes after most others.
const LAST: &str = "zz-apportion-added";

/// The cluster as it was given, and what became of it.
pub(crate) struct Trials<'t> {
    pub(crate) given: &'t Cluster,
    pub(crate) cluster: &'t Cluster,
    pub(crate) settled: &'t Settled,
    pub(crate) limits: &'t Limits,
    /// Objects that a trial looks at.
    size: usize,
    /// Objects that may still be looked at.
    left: usize,
}

impl<'t> Trials<'t> {
    /// Trials in a cluster as it was given, which became another one.
    pub(crate) fn of(given: &'t Cluster, cluster: &'t Cluster, settled: &'t Settled, limits: &'t Limits) -> Self {
        let placed = given.pods().values().filter(|pod| !pod.spec.node_name.is_empty()).count();
        let new = cluster.pods().len().saturating_sub(placed).saturating_mul(PLACING);
        let size = [placed, new, given.claims().len(), given.nodes().len(), given.slices().len()].iter().sum();
        Self { given, cluster, settled, limits, size, left: MOST_OBJECTS }
    }

    /// Leaves out suggestions that do not help. Those that cannot be carried out here stay: nobody can say it of them.
    pub(crate) fn keep_what_helps(&mut self, explanation: &mut Explanation) {
        let subject = explanation.subject.clone();
        for suggestion in &mut explanation.suggestions {
            suggestion.deletes = self.deletes(&subject, suggestion);
            if !suggestion.deletes.is_empty() {
                let (pods, others): (Vec<&ObjectRef>, Vec<&ObjectRef>) =
                    suggestion.deletes.iter().partition(|object| object.kind == "Pod");
                let pods: Vec<String> = pods.into_iter().map(|pod| pod.name.clone()).collect();
                let several = if pods.len() == 1 { "" } else { "s" };
                let mut names = Vec::new();
                if !pods.is_empty() {
                    names.push(format!("Pod{several} {}", list(pods.iter())));
                }
                names.extend(others.into_iter().map(|object| format!("{} `{}`", object.kind, object.name)));
                let first = if suggestion.manifests.is_empty() { "" } else { "first " };
                let text = format!("; {first}delete {}, which cannot be changed in place", names.join(", "));
                suggestion.text.push_str(&text);
            }
            if let Some(owner) = self.keeps(&subject, suggestion).filter(|_| !suggestion.deletes.contains(&subject)) {
                let text = format!("; then delete Pod `{}`, which its {} makes again", subject.name, owner.kind);
                suggestion.text.push_str(&text);
                suggestion.deletes.push(subject.clone());
            }
        }
        explanation.suggestions.retain_mut(|suggestion| self.helps(&subject, suggestion));
    }

    /// Objects of a real cluster whose specs cannot be changed, and which therefore have to go before the manifests are applied: Pods are
    /// made again by their controllers or from the manifests, claims from their templates.
    fn deletes(&self, subject: &ObjectRef, suggestion: &mut Suggestion) -> Vec<ObjectRef> {
        let written: Vec<ObjectRef> = suggestion.manifests.iter().map(reference_of).collect();
        let is_immutable = |object: &&ObjectRef| matches!(object.kind.as_str(), "Pod" | "ResourceClaim");
        let stored = written.iter().filter(is_immutable).filter(|object| self.is_stored(object));
        let mut deletes: BTreeSet<ObjectRef> = stored.cloned().gather();
        let is_remade = |claim: &ResourceClaim| {
            let name = &claim.metadata.name;
            let mut changes = suggestion.changes.iter();
            changes.any(|change| matches!(change, Change::RemakeClaim { claim, .. } if claim == name))
        };
        let is_written = |claim: &ResourceClaim| {
            self.is_stored(subject)
                && template_of(self.given, claim).is_some_and(|template| written.contains(&template))
        };
        let mut again = Vec::new();
        for claim in made_for(self.given, subject).filter(|claim| is_remade(claim) || is_written(claim)) {
            deletes.insert(reference_to(claim));
            // Pods keep the name of the claim that they had.
            for pod in users(self.given, claim) {
                let object = pod.metadata.reference("Pod");
                if deletes.insert(object.clone()) && pod.metadata.controller().is_none() && !written.contains(&object) {
                    let again_as = Pod { metadata: to_write(&pod.metadata), spec: pod.spec.clone(), ..Pod::default() };
                    again.push(Object::Pod(Arc::new(again_as)).write());
                }
            }
        }
        suggestion.manifests.extend(again);
        deletes.into_iter().collect()
    }

    /// The workload that a suggestion writes and that keeps the Pod as it is: a ReplicaSet, or a StatefulSet whose Pod is not ready.
    fn keeps(&self, subject: &ObjectRef, suggestion: &Suggestion) -> Option<ObjectRef> {
        let pod =
            self.given.pods().get(&key_of(subject)).filter(|_| subject.kind == "Pod" && self.is_stored(subject))?;
        let (kind, namespace, name) = owner_key(&pod.metadata)?;
        let owner = ObjectRef { kind, namespace, name };
        let is_written = suggestion.manifests.iter().any(|manifest| reference_of(manifest) == owner);
        (is_written && matches!(owner.kind.as_str(), "ReplicaSet" | "StatefulSet")).then_some(owner)
    }

    /// Whether an object of the input is one of a real cluster, which gave it a UID.
    fn is_stored(&self, object: &ObjectRef) -> bool {
        self.given.metadata(object).is_some_and(|metadata| derive::is_foreign(&metadata.uid))
    }

    /// Whether a suggestion has its effect. Adds to its text which Pods it displaces.
    fn helps(&mut self, subject: &ObjectRef, suggestion: &mut Suggestion) -> bool {
        let adds = suggestion.changes.iter().any(|change| matches!(change, Change::AddDevices { .. }));
        // Whether the new pool is looked at first or last is not known.
        let pools: &[&str] = if adds { &[LAST, ADDED] } else { &[ADDED] };
        let mut leaving = Leaving::default();
        for pool in pools {
            if !self.has_budget() {
                Leaving { evicted: victims(suggestion).collect(), ..Leaving::default() }.tell(suggestion);
                suggestion.text.push_str("; tried without the other Pods, of which there are too many");
                return true;
            }
            match self.try_out(subject, suggestion, pool) {
                Some(Ok(others)) => {
                    leaving.without_place.extend(others.without_place);
                    leaving.evicted.extend(others.evicted);
                    leaving.waiting = leaving.waiting.max(others.waiting);
                }
                Some(Err(())) => return false,
                None => return true,
            }
        }
        leaving.tell(suggestion);
        true
    }

    /// Takes the objects of one more trial from those that may still be looked at. False where they are too many.
    fn has_budget(&mut self) -> bool {
        let left = self.left.checked_sub(self.size);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Who has no place any more once a suggestion is carried out, and who is evicted, or an error where it does not help. `None` where it
    /// cannot be tried.
    fn try_out(&self, subject: &ObjectRef, suggestion: &Suggestion, pool: &str) -> Option<Result<Leaving, ()>> {
        let Ok(mut cluster) = carried_out(self.given, self.cluster, suggestion, pool)? else { return Some(Err(())) };
        let settled = settle(&mut cluster, self.limits);
        let helps = if subject.kind == "Pod" {
            self.are_fewer_pending(subject, &cluster, &settled)
        } else {
            let other = explain_one(&mut cluster, &settled, subject, &[], self.limits, &mut Known::default());
            other.is_some_and(|other| matches!(other.state, State::Placed | State::Fits))
        };
        Some(if helps { Ok(self.leaving(subject, suggestion, &cluster, &settled)) } else { Err(()) })
    }

    /// Who has no place any more, and who is evicted, in a cluster with a suggestion carried out.
    pub(crate) fn leaving(
        &self,
        subject: &ObjectRef,
        suggestion: &Suggestion,
        cluster: &Cluster,
        settled: &Settled,
    ) -> Leaving {
        let is_new = |one: &&Preempted| self.settled.preempted.iter().all(|known| known.pod != one.pod);
        let evicted = settled.preempted.iter().filter(is_new).map(|one| format!("{}/{}", one.pod.0, one.pod.1));
        Leaving {
            without_place: self.displaced(subject, suggestion, cluster, settled),
            evicted: evicted.collect(),
            waiting: self.waiting(subject, cluster, settled),
        }
    }

    /// How many Pods of the subject's workload still wait, of how many, where the suggestion does not help all of them.
    fn waiting(&self, subject: &ObjectRef, cluster: &Cluster, settled: &Settled) -> Option<(usize, usize)> {
        let pod = self.cluster.pods().get(&key_of(subject)).filter(|_| subject.kind == "Pod")?;
        let owner = reference(root_of(self.cluster, pod)?);
        let (after, before) = (pending(cluster, settled, &owner), pending(self.cluster, self.settled, &owner));
        (after > 0).then_some((after, before))
    }

    /// Whether a Pod has a place; of the Pods of a workload, which get other names, whether more have one.
    pub(crate) fn are_fewer_pending(&self, subject: &ObjectRef, cluster: &Cluster, settled: &Settled) -> bool {
        let key = key_of(subject);
        match self.cluster.pods().get(&key).and_then(|pod| root_of(self.cluster, pod)).map(reference) {
            Some(owner) => pending(cluster, settled, &owner) < pending(self.cluster, self.settled, &owner),
            None => has_place(settled, &key),
        }
    }

    /// Pods of the input that had a place and have none after that, as `namespace/name`, and workloads of which more Pods have none than
    /// before, as `Deployment namespace/name`. What is asked to go is left out, and so is what makes the subject.
    fn displaced(
        &self,
        subject: &ObjectRef,
        suggestion: &Suggestion,
        cluster: &Cluster,
        settled: &Settled,
    ) -> BTreeSet<String> {
        let consumers = suggestion.changes.iter().filter_map(|change| match change {
            Change::FreeClaim { consumers, .. } => Some(consumers),
            _ => None,
        });
        let freed: BTreeSet<&String> = consumers.flatten().gather();
        let names = self.given.pods().keys().filter(|key| {
            let is_lost = has_place(self.settled, key) && cluster.pods().contains_key(*key) && !has_place(settled, key);
            is_lost && self.given.pods().get(*key).is_some_and(|pod| root_of(self.given, pod).is_none())
        });
        let names = names.map(|key| format!("{}/{}", key.0, key.1)).filter(|name| !freed.contains(name));
        let own = self.cluster.pods().get(&key_of(subject)).and_then(|pod| root_of(self.cluster, pod)).map(reference);
        let before = all_pending(self.cluster, self.settled);
        let more = all_pending(cluster, settled).into_iter().filter(|(owner, after)| {
            // Those that are deleted are made again, and wait.
            let is_of_owner = |name: &&&String| {
                let root_in = |all: &'t Cluster| root_of(all, all.pods().get(&key_in(name)?)?).map(reference);
                root_in(self.given).or_else(|| root_in(self.cluster)).as_ref() == Some(owner)
            };
            let expected = before.get(owner).copied().unwrap_or_default();
            *after > expected.saturating_add(freed.iter().filter(is_of_owner).count()) && Some(owner) != own.as_ref()
        });
        names.chain(more.map(|(owner, _)| format!("{} {}/{}", owner.kind, owner.namespace, owner.name))).gather()
    }
}

/// Whom a suggestion hurts.
#[derive(Default)]
pub(crate) struct Leaving {
    /// Pods that have no place any more, as `namespace/name`, and workloads of which more have none, as `Deployment namespace/name`.
    without_place: BTreeSet<String>,
    /// Pods that go for one of higher priority, as `namespace/name`.
    evicted: BTreeSet<String>,
    /// How many Pods of the workload still wait, of how many.
    waiting: Option<(usize, usize)>,
}

impl Leaving {
    /// Says it behind the text of a suggestion.
    pub(crate) fn tell(&self, suggestion: &mut Suggestion) {
        if let Some((after, before)) = self.waiting {
            let (helped, has) = match before.saturating_sub(after) {
                1 => (1, "has"),
                several => (several, "have"),
            };
            suggestion.text.push_str(&format!("; then {helped} of {before} waiting Pods {has} a place"));
        }
        let mut say = |names: &BTreeSet<String>, one: &str, many: &str, what: &str| {
            let verb = if names.len() == 1 { one } else { many };
            if !names.is_empty() {
                suggestion.text.push_str(&format!("; {}{verb}{what}", list(names.iter())));
            }
        };
        say(&self.evicted, " is then", " are then", " evicted");
        let (workloads, pods): (BTreeSet<String>, BTreeSet<String>) =
            self.without_place.iter().cloned().partition(|name| name.contains(' '));
        say(&pods, " then has", " then have", " no place");
        say(&workloads, " then has", " then have", " fewer Pods with a place");
    }
}

/// Pods whose place a suggestion is after.
fn victims(suggestion: &Suggestion) -> impl Iterator<Item = String> {
    let victims = suggestion.changes.iter().filter_map(|change| match change {
        Change::RaisePriority { victims, .. } => Some(victims),
        _ => None,
    });
    victims.flatten().cloned()
}

/// The cluster, changed; an error where the API server refuses what is written. `None` where it cannot be carried out on the objects
/// that are given.
fn carried_out(given: &Cluster, settled: &Cluster, suggestion: &Suggestion, pool: &str) -> Option<Result<Cluster, ()>> {
    // A Pod that a workload made here is deleted after that: its controller makes another one, which looks for a place as well.
    let was_made = |consumer: &String| {
        key_in(consumer).is_some_and(|key| !given.pods().contains_key(&key) && settled.pods().contains_key(&key))
    };
    let frees_made = suggestion
        .changes
        .iter()
        .any(|change| matches!(change, Change::FreeClaim { consumers, .. } if consumers.iter().any(was_made)));
    let mut cluster = if frees_made { settled.clone() } else { given.clone() };
    for object in &suggestion.deletes {
        let pod = cluster.pods().get(&key_of(object)).filter(|_| object.kind == "Pod").cloned();
        cluster.delete(object);
        pod.into_iter().for_each(|pod| come_back(&mut cluster, &pod));
    }
    forget_made(&mut cluster, &suggestion.manifests.iter().map(reference_of).collect::<Vec<_>>());
    for manifest in &suggestion.manifests {
        match admit_value(manifest, given.profile()).0 {
            Some(object) => cluster.apply(object),
            None => return Some(Err(())),
        }
    }
    let has_manifests = !suggestion.manifests.is_empty();
    let changes = &mut suggestion.changes.iter();
    let is_made = changes.all(|change| carry_out(&mut cluster, change, pool).unwrap_or(has_manifests));
    is_made.then_some(Ok(cluster))
}

/// Takes away claims without devices that were made here from templates: they are made again from the templates as these are then.
fn forget_made(cluster: &mut Cluster, templates: &[ObjectRef]) {
    let is_stale = |claim: &&Arc<ResourceClaim>| {
        claim.status.allocation.is_none()
            && !derive::is_foreign(&claim.metadata.uid)
            && template_of(cluster, claim).is_some_and(|template| templates.contains(&template))
    };
    let stale: Vec<Arc<ResourceClaim>> = cluster.claims().values().filter(is_stale).cloned().collect();
    for claim in stale {
        cluster.delete(&reference_to(&claim));
        let owner = claim.metadata.controller().filter(|owner| owner.kind == "Pod");
        let key = owner.map(|owner| (claim.metadata.namespace.clone(), owner.name.clone()));
        let Some(mut pod) = key.and_then(|key| cluster.pods().get(&key).cloned()) else { continue };
        let is_other =
            |status: &PodResourceClaimStatus| status.resource_claim_name.as_ref() != Some(&claim.metadata.name);
        Arc::make_mut(&mut pod).status.resource_claim_statuses.retain(is_other);
        cluster.apply(Object::Pod(pod));
    }
}

/// Makes a change of which there is no manifest; whether it was made. `None` where the manifests make it.
fn carry_out(cluster: &mut Cluster, change: &Change, pool: &str) -> Option<bool> {
    match change {
        Change::Uncordon { node } => {
            let Some(mut node) = cluster.nodes().get(node).cloned() else { return Some(false) };
            Arc::make_mut(&mut node).spec.uncordon();
            cluster.apply(Object::Node(node));
            Some(true)
        }
        Change::FreeClaim { claim, consumers, .. } => Some(free(cluster, claim, consumers).is_some()),
        Change::AddDevices { count, like, node, .. } => {
            let slice = added(cluster, *count, like, node, pool);
            let is_made = slice.is_some();
            slice.into_iter().for_each(|slice| cluster.apply(Object::ResourceSlice(Arc::new(slice))));
            Some(is_made)
        }
        // The Pod and the claim are gone by then.
        Change::RemakeClaim { .. } => Some(true),
        Change::EnableGate { .. } | Change::UseNodes { .. } => Some(false),
        _ => None,
    }
}

/// Deletes the Pods that use a claim, with the claims that were made for them. `None` for names that are none.
fn free(cluster: &mut Cluster, claim: &str, consumers: &[String]) -> Option<()> {
    for consumer in consumers {
        let Some(pod) = cluster.pods().get(&key_in(consumer)?).cloned() else { continue };
        let object = pod.metadata.reference("Pod");
        let is_own = |claim: &&Arc<ResourceClaim>| claim.metadata.controller().is_some_and(|owner| owner.kind == "Pod");
        let of_pod: Vec<ObjectRef> = made_for(cluster, &object).filter(is_own).map(reference_to).collect();
        cluster.delete(&object);
        for object in of_pod {
            cluster.delete(&object);
        }
        come_back(cluster, &pod);
    }
    if let Some(claim) = cluster.claims().get(&key_in(claim)?).cloned() {
        cluster.apply(Object::ResourceClaim(Arc::new(freed(&claim))));
    }
    Some(())
}

/// Makes a deleted Pod of a workload that is not given anew, by its name, without a node.
fn come_back(cluster: &mut Cluster, pod: &Pod) {
    if owner_key(&pod.metadata).is_some_and(|owner| !cluster.workloads().contains_key(&owner)) {
        let spec = PodSpec { node_name: String::new(), ..pod.spec.clone() };
        let again = Pod { metadata: to_write(&pod.metadata), spec, ..Pod::default() };
        cluster.apply(Object::Pod(Arc::new(again)));
    }
}

/// Claims that were made for a Pod or its PodGroup, or for a PodGroup.
fn made_for<'c>(cluster: &'c Cluster, object: &ObjectRef) -> impl Iterator<Item = &'c Arc<ResourceClaim>> {
    let key = key_of(object);
    let of_pod = (object.kind == "Pod").then(|| cluster.pods().get(&key)).flatten();
    let group = of_pod.and_then(|pod| pod.group_name()).map(str::to_owned);
    let kind = object.kind.clone();
    cluster.claims().values().filter(move |claim| {
        let is_owner = |owner: &&OwnerReference| {
            (owner.kind == kind && owner.name == key.1)
                || (owner.kind == "PodGroup" && group.as_ref() == Some(&owner.name))
        };
        claim.metadata.namespace == key.0 && claim.metadata.controller().filter(is_owner).is_some()
    })
}

/// The Pods that a generated claim was made for.
fn users<'c>(cluster: &'c Cluster, claim: &ResourceClaim) -> Vec<&'c Arc<Pod>> {
    let owner = claim.metadata.controller();
    let key = owner.map(|owner| (claim.metadata.namespace.clone(), owner.name.clone()));
    match (owner.map(|owner| owner.kind.as_str()), key) {
        (Some("PodGroup"), Some(key)) => cluster.pods_of_group(&key).filter(|pod| !pod.is_finished()).collect(),
        (_, Some(key)) => cluster.pods().get(&key).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn reference_to(claim: &Arc<ResourceClaim>) -> ObjectRef {
    claim.metadata.reference("ResourceClaim")
}

fn key_of(object: &ObjectRef) -> Key {
    (object.namespace.clone(), object.name.clone())
}

fn reference_of(manifest: &serde_json::Value) -> ObjectRef {
    let text = |path: &str| manifest.pointer(path).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    ObjectRef { kind: text("/kind"), namespace: text("/metadata/namespace"), name: text("/metadata/name") }
}

/// Whether a Pod has a node, or one for which its devices are being prepared.
fn has_place(settled: &Settled, pod: &Key) -> bool {
    settled.verdicts.get(pod).is_some_and(|verdict| {
        verdict.node.is_some()
            || verdict.reasons.first().is_some_and(|reason| reason.code == Code::RunBindingConditions)
    })
}

/// Pods of a workload of the input that have no place.
fn pending(cluster: &Cluster, settled: &Settled, owner: &ObjectRef) -> usize {
    all_pending(cluster, settled).get(owner).copied().unwrap_or_default()
}

/// How many Pods of each workload of the input have no place.
fn all_pending(cluster: &Cluster, settled: &Settled) -> BTreeMap<ObjectRef, usize> {
    let mut all: BTreeMap<ObjectRef, usize> = BTreeMap::new();
    for key in settled.order.iter().filter(|key| !has_place(settled, key)) {
        let root = cluster.pods().get(key).and_then(|pod| root_of(cluster, pod));
        if let Some(owner) = root.map(reference) {
            let count = all.entry(owner).or_default();
            *count = count.saturating_add(1);
        }
    }
    all
}
