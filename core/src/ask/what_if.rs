//! What would be if: the same run on a fork of the cluster with some things changed, and what came out otherwise.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::taint::{Eviction, TaintSpec, evictions, taint};
use super::{ClaimReport, PodReport, Report, report_of, run};
use crate::allocate::{DeviceId, Limits};
use crate::api::slice::ResourceSlice;
use crate::cluster::Cluster;
use crate::control_plane::admission::admit_value;
use crate::control_plane::{Command, Simulation};
use crate::decision::Time;
use crate::finding::{Code, Finding, ObjectRef, Severity};

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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", ts(optional_fields))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", ts(rename = "PlaceOfPod"))]
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
fn suppose(
    cluster: &Cluster,
    supposition: &Supposition,
    limits: &Limits,
) -> Result<(Simulation, Vec<Finding>), Vec<Finding>> {
    let mut changed = cluster.clone();
    let goes = |object: &&ObjectRef| matches!(object.kind.as_str(), "Pod" | "Node");
    for object in supposition.without.iter().filter(|object| !goes(object)) {
        let object = located(&changed, object);
        if !changed.delete(&object) {
            return Err(vec![unknown(&object.kind, &object.name)]);
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
        simulation.perform(command).map_err(|_| vec![unknown(&object.kind, &object.name)])?;
    }
    for name in &supposition.cordon {
        let node = ObjectRef { kind: "Node".to_owned(), name: name.clone(), ..ObjectRef::default() };
        let fields = json!({ "spec": { "unschedulable": true } });
        let command = Command::Patch { object: node, fields, status: false };
        simulation.perform(command).map_err(|_| vec![unknown("Node", name)])?;
    }
    Ok((simulation, findings))
}

pub(crate) fn unknown(kind: &str, name: &str) -> Finding {
    Finding::new(Code::ReadBadSettings, "", format!("there is no {kind} `{name}`"))
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
    let by_name = |keys: &mut dyn Iterator<Item = &(String, String)>| -> Option<String> {
        let found: Vec<&(String, String)> = keys.filter(|key| key.1 == object.name).collect();
        match found.as_slice() {
            [only] => Some(only.0.clone()),
            _ => None,
        }
    };
    let namespace = match object.kind.as_str() {
        "Pod" => by_name(&mut cluster.pods().keys()),
        "ResourceClaim" => by_name(&mut cluster.claims().keys()),
        "ResourceClaimTemplate" => by_name(&mut cluster.templates().keys()),
        "PodGroup" => by_name(&mut cluster.pod_groups().keys()),
        kind => {
            let keys: Vec<(String, String)> = cluster
                .workloads()
                .keys()
                .filter(|key| key.0 == kind)
                .map(|key| (key.1.clone(), key.2.clone()))
                .collect();
            by_name(&mut keys.iter())
        }
    };
    ObjectRef { namespace: namespace.unwrap_or_default(), ..object.clone() }
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
        evictions: Vec::new(),
        findings: Vec::new(),
    }
}

/// Devices of the newest generation of each pool.
fn devices(cluster: &Cluster) -> BTreeSet<DeviceId> {
    let mut newest: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    let key = |slice: &'_ ResourceSlice| (slice.spec.driver.clone(), slice.spec.pool.name.clone());
    for slice in cluster.slices().values() {
        let pool = &slice.spec.pool;
        let known = newest.entry((&slice.spec.driver, &pool.name)).or_insert(pool.generation);
        *known = (*known).max(pool.generation);
    }
    let mut devices = BTreeSet::new();
    for slice in cluster.slices().values() {
        let (driver, pool) = key(slice);
        if newest.get(&(driver.as_str(), pool.as_str())) == Some(&slice.spec.pool.generation) {
            devices.extend(slice.spec.devices.iter().map(|device| DeviceId {
                driver: driver.clone(),
                pool: pool.clone(),
                device: device.name.clone(),
            }));
        }
    }
    devices
}

fn pods(before: &Report, after: &Report) -> Vec<PodDifference> {
    type Pods<'r> = BTreeMap<String, &'r PodReport>;
    fn by_name(report: &Report) -> Pods<'_> {
        report.pods.iter().map(|pod| (format!("{}/{}", pod.namespace, pod.name), pod)).collect()
    }
    let (old, new) = (by_name(before), by_name(after));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let place = |pods: &Pods<'_>, name: &String| match pods.get(name) {
        None => Place::Absent,
        Some(pod) => pod.node.clone().map_or(Place::Pending, Place::Node),
    };
    let reason = |pods: &Pods<'_>, name: &String| {
        pods.get(name).and_then(|pod| pod.reasons.first()).map(|finding| finding.message.clone())
    };
    let mut differences = Vec::new();
    for name in names {
        let (was, is) = (place(&old, name), place(&new, name));
        if was == is {
            continue;
        }
        let why = match (&was, &is) {
            (_, Place::Pending) => reason(&new, name),
            (Place::Pending, _) => reason(&old, name),
            _ => None,
        };
        differences.push(PodDifference { pod: name.clone(), before: was, after: is, why });
    }
    differences
}

fn claims(before: &Report, after: &Report) -> Vec<ClaimDifference> {
    type Devices = BTreeMap<String, Vec<String>>;
    fn by_name(report: &Report) -> Devices {
        let name = |claim: &ClaimReport| format!("{}/{}", claim.namespace, claim.name);
        let devices = |claim: &ClaimReport| {
            let all = claim.devices.iter();
            all.map(|device| format!("{}/{}/{}", device.driver, device.pool, device.device)).collect()
        };
        report.claims.iter().map(|claim| (name(claim), devices(claim))).collect()
    }
    let (old, new) = (by_name(before), by_name(after));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differs = |name: &&String| old.get(*name) != new.get(*name);
    names
        .into_iter()
        .filter(differs)
        .map(|name| ClaimDifference {
            claim: name.clone(),
            before: old.get(name).cloned(),
            after: new.get(name).cloned(),
        })
        .collect()
}
