//! What would be if: the same run on a fork of the cluster with some things changed, and what came out otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::report::users;
use super::taint::{Eviction, TaintSpec, evictions, moment, taint};
use super::{ClaimReport, PodReport, Report, report_of, run};
use crate::allocate::extended::ANNOTATION;
use crate::allocate::{DeviceId, Limits};
use crate::api::claim::{DeviceRequestAllocationResult, ResourceClaim, ResourceClaimStatus};
use crate::api::condition::text;
use crate::api::meta::OwnerReference;
use crate::api::object::Object;
use crate::api::pod::{Pod, PodStatus};
use crate::cluster::Cluster;
use crate::control_plane::admission::admit_value;
use crate::control_plane::infer::is_invented;
use crate::control_plane::{Command, Simulation, note_not_given};
use crate::controllers::workloads::owner_key;
use crate::derive::is_foreign;
use crate::explain::trial::key_in;
use crate::explain::unknown::unknown;
use crate::finding::{Code, Finding, ObjectRef, Severity};
use crate::gather::Gather;
use crate::validate::in_default_namespace;

/// What is changed, in this order.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Supposition {
    /// Objects that are deleted. What they own goes with them, with a Node its slices and Pods, with a Namespace everything in it; finalizers
    /// keep what is in use. Pods end at once. One that `with` has, too, is replaced.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub without: Vec<ObjectRef>,
    /// Objects that come, or replace those of the same name.
    #[cfg_attr(feature = "types", ts(optional, type = "Array<Json>"))]
    pub with: Vec<Value>,
    /// Taints that devices get.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub taints: Vec<TaintSpec>,
    /// Nodes that take no new Pods.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub cordon: Vec<String>,
    /// The time, as RFC 3339; decides when Pods with a tolerated taint have to go.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub now: String,
    /// Whether Pods that have a place keep it; for `whatIf` alone.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub placing: Placing,
}

/// What a change means for Pods that have a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Placing {
    /// As the input is: `keep` where Pods have a node or claims have devices in it, else `anew`.
    #[default]
    AsGiven,
    /// They stay where they are, unless the change drives them out. What has no place gets one first.
    Keep,
    /// All Pods are placed in the cluster as it is after the change.
    Anew,
}

/// How much there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Devices in the newest generation of their pools.
    pub devices: u64,
    /// Of these, devices that claims have, as a whole or in part.
    pub used: u64,
    /// Pods.
    pub pods: u64,
    /// Of these, Pods without a node that are not finished.
    pub pending: u64,
}

/// A device that is gone after the change, and who has it before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DeviceLost {
    /// The device.
    pub device: DeviceId,
    /// The claim, as `namespace/name`.
    pub claim: String,
    /// The Pods for which the claim is reserved, as `namespace/name`; PodGroups as `podgroups namespace/name`.
    pub users: Vec<String>,
}

/// What came out otherwise.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Nodes that are there only after the change.
    pub nodes_added: Vec<String>,
    /// Nodes that are there only before.
    pub nodes_removed: Vec<String>,
    /// Devices that are published only after the change, in the newest generation of their pools.
    pub devices_added: Vec<DeviceId>,
    /// Devices that are published only before.
    pub devices_removed: Vec<DeviceId>,
    /// Of the devices that are gone those that claims have before, by claim.
    pub devices_lost: Vec<DeviceLost>,
    /// Pods by namespace and name that are there only on one side, or have another node.
    pub pods: Vec<PodDifference>,
    /// Claims by namespace and name that are there only on one side, or have other devices.
    pub claims: Vec<ClaimDifference>,
    /// Pods that a `NoExecute` taint drives out, by time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub evictions: Vec<Eviction>,
    /// What is compared: that Pods keep their places, or that all are placed anew; absent for two clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(optional = nullable))]
    pub placing: Option<Placing>,
    /// Objects that are not compared, because nothing is known of them in one of two clusters; without a name a whole kind. The totals
    /// count only what is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub unknown: Vec<ObjectRef>,
    /// How much there is before.
    pub before: Totals,
    /// How much there is after.
    pub after: Totals,
    /// Why objects of the change were refused and left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub findings: Vec<Finding>,
}

/// One Pod.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PodDifference {
    /// `namespace/name`.
    pub pod: String,
    /// Before.
    pub before: Place,
    /// After.
    pub after: Place,
    /// Why it is Pending after the change, where it was not before; what kept it before; or what is not known of one that goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Where a Pod is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "PlaceOfPod"))]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// Not there at all.
    Absent,
    /// Without a node.
    Pending,
    /// On this node.
    Node(String),
}

/// One claim.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ClaimDifference {
    /// `namespace/name`.
    pub claim: String,
    /// Its devices before, as `driver/pool/device`; absent where there is no such claim.
    pub before: Option<Vec<String>>,
    /// After.
    pub after: Option<Vec<String>>,
}

/// Runs the cluster as it is and with the changes, and compares.
///
/// # Errors
///
/// Findings, when a change names what is not there or an object cannot be read.
pub fn what_if(cluster: &Cluster, supposition: &Supposition, limits: &Limits) -> Result<Difference, Vec<Finding>> {
    let now = moment(&supposition.now)?;
    let (mut given, placing) = placed(cluster, supposition.placing, limits);
    note_not_given(&mut given);
    let mut before = given.clone();
    let report = run(&mut before, limits);
    let evictions = match supposition.taints.as_slice() {
        [] => Vec::new(),
        taints => {
            let mut tainted = before.clone();
            // A taint may be for devices that only come with the change: those that are for none are found there.
            taints.iter().for_each(|one| drop(taint(&mut tainted, std::slice::from_ref(one))));
            evictions(&tainted, &given, now)
        }
    };
    let (mut simulation, findings) = suppose(&given, supposition, limits)?;
    simulation.settle();
    let other = report_of(&mut simulation);
    let placing = Some(placing);
    let mut found = compare((&before, &report), (simulation.server().cluster(), &other));
    for pod in found.pods.iter_mut().filter(|pod| pod.after == Place::Absent && pod.why.is_none()) {
        pod.why = key_in(&pod.pod).and_then(|key| before.pods().get(&key)).and_then(|pod| unknown_heir(&before, pod));
    }
    Ok(Difference { evictions, findings, placing, ..found })
}

/// That nobody makes a Pod anew here because its controller is not among the objects.
fn unknown_heir(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let owner = pod.metadata.controller().filter(|owner| owner.kind != "Node" && !pod.is_finished())?;
    let is_given = owner_key(&pod.metadata).is_some_and(|owner| cluster.workloads().contains_key(&owner));
    let OwnerReference { kind, name, .. } = owner;
    (!is_given).then(|| {
        format!("{kind} `{name}` is not given; whether the Pod that it makes instead has a place is not known")
    })
}

/// The cluster from which a change starts, and whether Pods keep their places in it.
fn placed(cluster: &Cluster, wanted: Placing, limits: &Limits) -> (Cluster, Placing) {
    let has_places = cluster.pods().values().any(|pod| !pod.spec.node_name.is_empty())
        || cluster.claims().values().any(|claim| claim.status.allocation.is_some());
    let mut given = cluster.clone();
    match (wanted, has_places) {
        (Placing::AsGiven, true) => return (given, Placing::Keep),
        (Placing::AsGiven, false) => return (given, Placing::Anew),
        (Placing::Keep, false) => drop(run(&mut given, limits)),
        (Placing::Anew, true) => take_places(&mut given),
        (Placing::Keep, true) | (Placing::Anew, false) => {}
    }
    (given, wanted)
}

/// Takes nodes from Pods and devices from claims.
fn take_places(cluster: &mut Cluster) {
    let claims: Vec<Arc<ResourceClaim>> = cluster.claims().values().cloned().collect();
    for mut claim in claims {
        if claim.metadata.annotations.contains_key(ANNOTATION) {
            // The scheduler makes it anew for the node that it finds.
            cluster.delete(&claim.metadata.reference("ResourceClaim"));
        } else if claim.status != ResourceClaimStatus::default() {
            Arc::make_mut(&mut claim).status = ResourceClaimStatus::default();
            cluster.apply(Object::ResourceClaim(claim));
        }
    }
    let placed = |pod: &&Arc<Pod>| !pod.spec.node_name.is_empty() && !pod.is_finished();
    let pods: Vec<Arc<Pod>> = cluster.pods().values().filter(placed).cloned().collect();
    for mut pod in pods {
        let waiting = Arc::make_mut(&mut pod);
        waiting.spec.node_name.clear();
        let resource_claim_statuses = std::mem::take(&mut waiting.status.resource_claim_statuses);
        waiting.status = PodStatus { resource_claim_statuses, ..PodStatus::default() };
        cluster.apply(Object::Pod(pod));
    }
}

/// Runs two clusters and compares: the one at hand, and one of these objects.
pub fn compare_with(cluster: &Cluster, objects: &[Value], limits: &Limits) -> Difference {
    let mut before = cluster.clone();
    let report = run(&mut before, limits);
    let mut after = Cluster::new(cluster.profile().clone());
    let findings = objects.iter().flat_map(|object| add(&mut after, object)).collect();
    let other = run(&mut after, limits);
    let mut found = Difference { findings, ..compare((&before, &report), (&after, &other)) };
    found.leave_out_unknown(&before, &after);
    found
}

/// Kinds of the things that are compared.
const COMPARED: [&str; 4] = ["Node", "ResourceSlice", "Pod", "ResourceClaim"];

impl Difference {
    /// Leaves out and names what is not given or was refused in one of two clusters: it is not gone.
    fn leave_out_unknown(&mut self, before: &Cluster, after: &Cluster) {
        let is_lacking = |kind: &str| before.is_not_given(kind) != after.is_not_given(kind);
        let lacking = COMPARED.into_iter().filter(|kind| is_lacking(kind)).map(|kind| ObjectRef::new(kind, "", ""));
        self.unknown = lacking.collect();
        for (one, other) in [(before, after), (after, before)] {
            let is_known = |object: &&ObjectRef| other.refused(&object.kind, &object.namespace, &object.name).is_none();
            let refused = one.keys_of_refused().filter(|object| COMPARED.contains(&&*object.kind)).filter(is_known);
            self.unknown.extend(refused.filter(|object| !is_lacking(&object.kind)).cloned());
        }
        let is_known = |kind: &str, name: &str| {
            let is_it = |object: &ObjectRef| object.name.is_empty() || object.full_name() == name;
            !self.unknown.iter().any(|object| object.kind == kind && is_it(object))
        };
        self.nodes_added.retain(|name| is_known("Node", name));
        self.nodes_removed.retain(|name| is_known("Node", name));
        self.pods.retain(|pod| is_known("Pod", &pod.pod));
        let stands_in = |claim: &str| stands_in(before, claim) || stands_in(after, claim);
        self.claims.retain(|claim| is_known("ResourceClaim", &claim.claim) && !stands_in(&claim.claim));
        let is_published = |cluster: &Cluster, device: &DeviceId| {
            !is_lacking("ResourceSlice") && !cluster.hides_devices(&device.driver, Some(&device.pool))
        };
        self.devices_added.retain(|device| is_published(before, device));
        self.devices_removed.retain(|device| is_published(after, device));
        self.devices_lost.retain(|lost| is_published(after, &lost.device));
    }
}

/// Whether a claim was made here for a Pod of a real cluster, where claims were refused: its own may be one of these.
fn stands_in(cluster: &Cluster, claim: &str) -> bool {
    let key = claim.split_once('/').map(|(namespace, name)| (namespace.to_owned(), name.to_owned()));
    let claim = key.and_then(|key| cluster.claims().get(&key)).filter(|claim| !is_foreign(&claim.metadata.uid));
    claim.and_then(|claim| claim.metadata.controller()).is_some_and(|owner| is_foreign(&owner.uid))
        && cluster.names_of_refused("ResourceClaim").next().is_some()
}

/// The control plane of the cluster with the changes: what is written differently is so from the start, and what is deleted goes as it does
/// in a cluster.
pub(super) fn suppose(
    cluster: &Cluster,
    supposition: &Supposition,
    limits: &Limits,
) -> Result<(Simulation, Vec<Finding>), Vec<Finding>> {
    let mut changed = cluster.clone();
    let come: Vec<ObjectRef> = supposition.with.iter().map(named).collect();
    let (replaced, goes): (Vec<ObjectRef>, Vec<ObjectRef>) =
        supposition.without.iter().map(|object| located(cluster, object)).partition(|object| come.contains(object));
    for object in &replaced {
        if !changed.delete(object) {
            return Err(vec![unknown(&changed, object)]);
        }
    }
    let findings = supposition.with.iter().flat_map(|object| add(&mut changed, object)).collect();
    taint(&mut changed, &supposition.taints)?;
    let mut simulation = Simulation::of(&changed, *limits);
    // Workloads have made their Pods by now.
    let goes: Vec<ObjectRef> = goes.iter().map(|object| located(simulation.server().cluster(), object)).collect();
    if let Some(object) = goes.iter().find(|object| simulation.server().metadata(object).is_none()) {
        return Err(vec![unknown(simulation.server().cluster(), object)]);
    }
    simulation.delete_at_once(goes);
    for name in &supposition.cordon {
        let node = ObjectRef::new("Node", "", &**name);
        let fields = json!({ "spec": { "unschedulable": true } });
        let command = Command::Patch { object: node.clone(), fields, status: false };
        if simulation.perform(command).is_err() {
            return Err(vec![unknown(simulation.server().cluster(), &node)]);
        }
    }
    Ok((simulation, findings))
}

/// What an object is called.
fn named(object: &Value) -> ObjectRef {
    let object = in_default_namespace(object.clone());
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    ObjectRef::new(text(&object, "kind"), text(metadata, "namespace"), text(metadata, "name"))
}

/// Adds an object as the API server admits it; what that refuses is remembered.
fn add(cluster: &mut Cluster, value: &Value) -> Vec<Finding> {
    let (object, mut findings) = admit_value(value, cluster.profile());
    findings.retain(|finding| finding.severity == Severity::Error);
    match object {
        Some(mut object) => {
            if object.is_namespaced() && object.metadata().namespace.is_empty() {
                "default".clone_into(&mut object.metadata_mut().namespace);
            }
            cluster.apply(object);
        }
        None => cluster.note_refused(value.clone(), &findings),
    }
    findings
}

/// The object with its namespace, where the name alone says which one is meant.
fn located(cluster: &Cluster, object: &ObjectRef) -> ObjectRef {
    if !object.namespace.is_empty() {
        return object.clone();
    }
    let found: Vec<ObjectRef> = cluster.keys(&object.kind).filter(|key| key.name == object.name).collect();
    match found.as_slice() {
        [only] => only.clone(),
        _ => object.clone(),
    }
}

/// What two clusters after a run have not in common.
fn compare(before: (&Cluster, &Report), after: (&Cluster, &Report)) -> Difference {
    let nodes = |cluster: &Cluster| -> BTreeSet<String> {
        cluster.nodes().iter().filter(|(_, node)| !is_invented(node)).map(|(name, _)| name.clone()).gather()
    };
    let (old, new) = (nodes(before.0), nodes(after.0));
    let (old_devices, new_devices) = (devices(before.0), devices(after.0));
    Difference {
        nodes_added: new.difference(&old).cloned().collect(),
        nodes_removed: old.difference(&new).cloned().collect(),
        devices_added: new_devices.difference(&old_devices).cloned().collect(),
        devices_removed: old_devices.difference(&new_devices).cloned().collect(),
        devices_lost: lost(before.0, &old_devices, &new_devices),
        before: totals(before.1, before.0, &old_devices),
        after: totals(after.1, after.0, &new_devices),
        pods: pods(before.1, after.1),
        claims: claims(before.1, after.1),
        ..Difference::default()
    }
}

/// What claims have of devices that were there and are not there any more.
fn lost(before: &Cluster, were: &BTreeSet<DeviceId>, are: &BTreeSet<DeviceId>) -> Vec<DeviceLost> {
    let lost = |(claim, result): (&Arc<ResourceClaim>, &DeviceRequestAllocationResult)| {
        let device = DeviceId::of_result(result);
        (were.contains(&device) && !are.contains(&device)).then(|| DeviceLost {
            device,
            claim: format!("{}/{}", claim.metadata.namespace, claim.metadata.name),
            users: users(claim),
        })
    };
    before.held().filter_map(lost).collect()
}

fn totals(report: &Report, cluster: &Cluster, devices: &BTreeSet<DeviceId>) -> Totals {
    let held: BTreeSet<DeviceId> = cluster.held().map(|(_, result)| DeviceId::of_result(result)).gather();
    let is_pending = |pod: &&PodReport| pod.node.is_none() && pod.is_stuck();
    Totals {
        devices: devices.len() as u64,
        used: devices.intersection(&held).count() as u64,
        pods: report.pods.len() as u64,
        pending: report.pods.iter().filter(is_pending).count() as u64,
    }
}

/// Devices of the newest generation of each pool.
pub(super) fn devices(cluster: &Cluster) -> BTreeSet<DeviceId> {
    cluster.newest_devices().map(|(slice, device)| DeviceId::of(slice, device)).gather()
}

fn pods<'r>(before: &'r Report, after: &'r Report) -> Vec<PodDifference> {
    let by_name = |pod: &'r PodReport| (format!("{}/{}", pod.namespace, pod.name), pod);
    let place = |pod: Option<&&PodReport>| match pod {
        None => Place::Absent,
        Some(pod) => pod.node.clone().map_or(Place::Pending, Place::Node),
    };
    let reason = |pod: Option<&&PodReport>| Some(pod?.reasons.first()?.message.clone());
    let evicted = |pod: &String| {
        let is_it = |finding: &&Finding| {
            let is_gone = matches!(finding.code, Code::RunPreempted | Code::RunEvicted);
            let object = finding.object.as_ref().filter(|_| is_gone);
            object.is_some_and(|object| format!("{}/{}", object.namespace, object.name) == *pod)
        };
        after.findings.iter().rfind(is_it).map(|finding| finding.message.clone())
    };
    let difference = |pod, old: Option<&&PodReport>, new: Option<&&PodReport>| {
        let (before, after) = (place(old), place(new));
        let why = match (&before, &after) {
            (Place::Node(_), Place::Absent) => evicted(&pod),
            (_, Place::Pending) => reason(new),
            (Place::Pending, _) => reason(old),
            _ => None,
        };
        (before != after).then_some(PodDifference { pod, before, after, why })
    };
    both(before.pods.iter().map(by_name), after.pods.iter().map(by_name), difference)
}

/// What differs between two sets of things by name, of each that one of them has.
fn both<T, D>(
    before: impl Iterator<Item = (String, T)>,
    after: impl Iterator<Item = (String, T)>,
    difference: impl Fn(String, Option<&T>, Option<&T>) -> Option<D>,
) -> Vec<D> {
    let (old, new): (Vec<_>, Vec<_>) = (before.collect(), after.collect());
    let places = |all: &[(String, T)]| -> BTreeMap<String, usize> {
        all.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)).gather()
    };
    let (in_old, in_new) = (places(&old), places(&new));
    let names: BTreeSet<&String> = in_old.keys().chain(in_new.keys()).gather();
    let differs = |name: &String| {
        let before = in_old.get(name).and_then(|place| old.get(*place));
        let after = in_new.get(name).and_then(|place| new.get(*place));
        difference(name.clone(), before.map(|(_, one)| one), after.map(|(_, one)| one))
    };
    names.into_iter().filter_map(differs).collect()
}

fn claims(before: &Report, after: &Report) -> Vec<ClaimDifference> {
    let by_name = |claim: &ClaimReport| -> (String, Vec<String>) {
        let devices = claim.devices.iter().map(|one| format!("{}/{}/{}", one.driver, one.pool, one.device));
        (format!("{}/{}", claim.namespace, claim.name), devices.collect())
    };
    let difference = |claim, old: Option<&Vec<String>>, new: Option<&Vec<String>>| {
        (old != new).then(|| ClaimDifference { claim, before: old.cloned(), after: new.cloned() })
    };
    both(before.claims.iter().map(by_name), after.claims.iter().map(by_name), difference)
}
