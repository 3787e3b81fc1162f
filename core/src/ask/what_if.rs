//! What would be if: the same run on a fork of the cluster with some things changed, and what came out otherwise.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::taint::{self, Eviction, TaintSpec};
use crate::allocate::{DeviceId, Limits};
use crate::api::node::Node;
use crate::api::object::{Object, read_object};
use crate::api::slice::ResourceSlice;
use crate::cluster::Cluster;
use crate::decision::Time;
use crate::finding::{Code, Finding, ObjectRef, Severity};
use crate::simulate::{ClaimReport, PodReport, Report, finish, run};

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
    let mut after = cluster.clone();
    let evictions = suppose(&mut after, supposition)?;
    let other = run(&mut after, limits);
    Ok(Difference { evictions, ..compare((&before, &report), (&after, &other)) })
}

/// Runs two clusters and compares: the one at hand, and one of these objects.
///
/// # Errors
///
/// Findings, when an object cannot be read.
pub fn compare_with(cluster: &Cluster, objects: &[Value], limits: &Limits) -> Result<Difference, Vec<Finding>> {
    let mut before = cluster.clone();
    let report = run(&mut before, limits);
    let mut after = Cluster::new(cluster.profile().clone());
    objects.iter().try_for_each(|object| add(&mut after, object))?;
    let other = run(&mut after, limits);
    Ok(compare((&before, &report), (&after, &other)))
}

/// Makes the changes.
fn suppose(cluster: &mut Cluster, supposition: &Supposition) -> Result<Vec<Eviction>, Vec<Finding>> {
    for object in &supposition.without {
        remove(cluster, object)?;
    }
    for object in &supposition.with {
        add(cluster, object)?;
    }
    taint::taint(cluster, &supposition.taints)?;
    let now = Time::parse(&supposition.now).unwrap_or_default();
    let evictions = if supposition.taints.is_empty() { Vec::new() } else { taint::evictions(cluster, now) };
    for name in &supposition.cordon {
        if !cluster.nodes().contains_key(name) {
            // Nodes may be known from slices only.
            crate::simulate::infer::infer_nodes(cluster, &mut Vec::new());
        }
        let Some(mut node) = cluster.nodes().get(name).map(|node| Node::clone(node)) else {
            return Err(vec![unknown("Node", name)]);
        };
        node.spec.unschedulable = true;
        cluster.apply(Object::Node(Box::new(node)));
    }
    Ok(evictions)
}

pub(crate) fn unknown(kind: &str, name: &str) -> Finding {
    Finding::new(Code::ReadBadSettings, "", format!("there is no {kind} `{name}`"))
}

fn add(cluster: &mut Cluster, value: &Value) -> Result<(), Vec<Finding>> {
    let reading = read_object(value.clone());
    let usable = reading.is_usable();
    match reading.object {
        Some(mut object) if usable => {
            if object.is_namespaced() && object.metadata().namespace.is_empty() {
                "default".clone_into(&mut object.metadata_mut().namespace);
            }
            cluster.apply(object);
            Ok(())
        }
        _ => match reading.findings.iter().any(|finding| finding.severity == Severity::Error) {
            true => Err(reading.findings),
            false => Ok(()),
        },
    }
}

fn remove(cluster: &mut Cluster, object: &ObjectRef) -> Result<(), Vec<Finding>> {
    let object = located(cluster, object);
    match object.kind.as_str() {
        "Node" => {
            let slices = cluster.slices().values();
            let own = slices.filter(|slice| slice.spec.node_name.as_deref() == Some(&object.name));
            let slices: Vec<String> = own.map(|slice| slice.metadata.name.clone()).collect();
            let pods = cluster.pods().values().filter(|pod| pod.spec.node_name == object.name);
            let pods: Vec<ObjectRef> = pods.map(crate::simulate::claims::pod_reference).collect();
            let is_known = !slices.is_empty();
            for name in slices {
                let kind = "ResourceSlice".to_owned();
                cluster.delete(&ObjectRef { kind, namespace: String::new(), name });
            }
            for pod in pods {
                remove(cluster, &pod)?;
            }
            let was_there = cluster.delete(&object);
            (was_there || is_known).then_some(()).ok_or_else(|| vec![unknown("Node", &object.name)])
        }
        "Pod" => {
            let key = (object.namespace.clone(), object.name.clone());
            let Some(mut pod) = cluster.pods().get(&key).cloned() else {
                return Err(vec![unknown("Pod", &object.name)]);
            };
            pod.metadata.uid = crate::derive::uid_of("Pod", &pod.metadata);
            "Succeeded".clone_into(&mut pod.status.phase);
            cluster.apply(Object::Pod(Box::new(pod)));
            finish::release_finished(cluster);
            cluster.delete(&object);
            Ok(())
        }
        kind => match cluster.delete(&object) {
            true => Ok(()),
            false => Err(vec![unknown(kind, &object.name)]),
        },
    }
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
