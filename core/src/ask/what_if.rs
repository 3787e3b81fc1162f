//! What would be if: the same run on a fork of the cluster with some things changed, and what came out otherwise.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::taint::{Eviction, TaintSpec, evictions, taint};
use super::{ClaimReport, PodReport, Report, report_of, run};
use crate::allocate::{DeviceId, Limits};
use crate::cluster::Cluster;
use crate::control_plane::admission::admit_value;
use crate::control_plane::{Command, Simulation};
use crate::decision::Time;
use crate::explain::unknown::unknown;
use crate::finding::{Finding, ObjectRef, Severity};

/// What is changed, in this order.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Supposition {
    /// Objects that go. With a Node go its slices and Pods, with a Pod its claims and reservations.
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
    /// Pods by namespace and name that are there only on one side, or have another node.
    pub pods: Vec<PodDifference>,
    /// Claims by namespace and name that are there only on one side, or have other devices.
    pub claims: Vec<ClaimDifference>,
    /// Pods that a `NoExecute` taint drives out, by time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub evictions: Vec<Eviction>,
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
    /// Why it is Pending after the change, where it was not before; or what kept it before.
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
    let mut before = cluster.clone();
    let report = run(&mut before, limits);
    let evictions = match supposition.taints.as_slice() {
        [] => Vec::new(),
        taints => {
            let mut tainted = before.clone();
            taint(&mut tainted, taints)?;
            evictions(&tainted, Time::parse(&supposition.now).unwrap_or_default())
        }
    };
    let (mut simulation, findings) = suppose(cluster, supposition, limits)?;
    simulation.settle();
    let other = report_of(&mut simulation);
    Ok(Difference { evictions, findings, ..compare((&before, &report), (simulation.server().cluster(), &other)) })
}

/// Runs two clusters and compares: the one at hand, and one of these objects.
pub fn compare_with(cluster: &Cluster, objects: &[Value], limits: &Limits) -> Difference {
    let mut before = cluster.clone();
    let report = run(&mut before, limits);
    let mut after = Cluster::new(cluster.profile().clone());
    let findings = objects.iter().flat_map(|object| add(&mut after, object)).collect();
    let other = run(&mut after, limits);
    Difference { findings, ..compare((&before, &report), (&after, &other)) }
}

/// The control plane of the cluster with the changes: what is written differently is so from the start, Pods and nodes go as they do in a
/// cluster.
pub(super) fn suppose(
    cluster: &Cluster,
    supposition: &Supposition,
    limits: &Limits,
) -> Result<(Simulation, Vec<Finding>), Vec<Finding>> {
    let mut changed = cluster.clone();
    let goes = |object: &&ObjectRef| matches!(object.kind.as_str(), "Pod" | "Node");
    for object in supposition.without.iter().filter(|object| !goes(object)) {
        let object = located(&changed, object);
        if !changed.delete(&object) {
            return Err(vec![unknown(&changed, &object)]);
        }
    }
    let findings = supposition.with.iter().flat_map(|object| add(&mut changed, object)).collect();
    taint(&mut changed, &supposition.taints)?;
    let mut simulation = Simulation::of(&changed, *limits);
    for object in supposition.without.iter().filter(goes) {
        let object = located(simulation.server().cluster(), object);
        let command = match object.kind.as_str() {
            "Node" => Command::RemoveNode(object.name.clone()),
            _ => Command::Delete { object: object.clone(), grace_seconds: Some(0) },
        };
        if simulation.perform(command).is_err() {
            return Err(vec![unknown(simulation.server().cluster(), &object)]);
        }
    }
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
    let nodes = |report: &Report| -> BTreeSet<String> { report.nodes.iter().map(|node| node.name.clone()).collect() };
    let (old, new) = (nodes(before.1), nodes(after.1));
    let (old_devices, new_devices) = (devices(before.0), devices(after.0));
    Difference {
        nodes_added: new.difference(&old).cloned().collect(),
        nodes_removed: old.difference(&new).cloned().collect(),
        devices_added: new_devices.difference(&old_devices).cloned().collect(),
        devices_removed: old_devices.difference(&new_devices).cloned().collect(),
        pods: pods(before.1, after.1),
        claims: claims(before.1, after.1),
        ..Difference::default()
    }
}

/// Devices of the newest generation of each pool.
fn devices(cluster: &Cluster) -> BTreeSet<DeviceId> {
    cluster.newest_devices().map(|(slice, device)| DeviceId::of(slice, device)).collect()
}

fn pods<'r>(before: &'r Report, after: &'r Report) -> Vec<PodDifference> {
    let by_name = |pod: &'r PodReport| (format!("{}/{}", pod.namespace, pod.name), pod);
    let place = |pod: Option<&&PodReport>| match pod {
        None => Place::Absent,
        Some(pod) => pod.node.clone().map_or(Place::Pending, Place::Node),
    };
    let reason = |pod: Option<&&PodReport>| Some(pod?.reasons.first()?.message.clone());
    let difference = |pod, old: Option<&&PodReport>, new: Option<&&PodReport>| {
        let (before, after) = (place(old), place(new));
        let why = match (&before, &after) {
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
    let (old, new): (BTreeMap<String, T>, BTreeMap<String, T>) = (before.collect(), after.collect());
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    names.into_iter().filter_map(|name| difference(name.clone(), old.get(name), new.get(name))).collect()
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
