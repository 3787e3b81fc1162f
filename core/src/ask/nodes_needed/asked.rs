//! The Pods that are asked about: those that are Pending, or copies that come.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{NodesNeededRequest, waiting};
use crate::api::claim::ResourceClaimTemplate;
use crate::api::group::PodGroup;
use crate::api::meta::ObjectMeta;
use crate::api::object::{Object, read_object};
use crate::api::pod::{Container, Pod, PodResourceClaim, PodStatus};
use crate::api::workload::{KUEUE_QUEUE, Workload, WorkloadSpec};
use crate::ask::fit;
use crate::cluster::{Cluster, Key};
use crate::control_plane::Simulation;
use crate::derive::is_foreign;
use crate::explain::relax::to_write;
use crate::explain::unknown::unknown;
use crate::finding::{Code, Finding, ObjectRef};
use crate::gather::Gather;

/// Labels that tell the Pods of one Job from those of another.
const OF_ONE_JOB: [&str; 4] =
    ["controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"];

/// The Pods that are asked about, with those that StatefulSets of manifests make once the others serve. Where they are copies, they come and
/// get the places that there are, and other Pods that are Pending are set aside.
///
/// # Errors
///
/// A finding, when there is nothing to copy.
pub(super) fn add(
    simulation: &mut Simulation,
    request: &NodesNeededRequest,
    copies: u64,
) -> Result<BTreeSet<Key>, Vec<Finding>> {
    let cluster = simulation.server().cluster();
    let before: BTreeSet<Key> = cluster.pods().keys().cloned().gather();
    let pending = waiting(cluster, &before);
    let now = simulation.now();
    if request.device.is_none() && request.subject.name.is_empty() {
        let workloads: Vec<Workload> = cluster.workloads().values().cloned().collect();
        for mut workload in workloads {
            if !is_foreign(&workload.metadata.uid) && at_once(&mut workload) {
                simulation.server_mut().seed_object(Object::Workload(Arc::new(workload)), now);
            }
        }
        simulation.settle();
        let cluster = simulation.server().cluster();
        return Ok(waiting(cluster, &cluster.pods().keys().cloned().gather()));
    }
    let objects = objects(cluster, request, copies)?;
    let aside = pending.iter().filter_map(|key| cluster.pods().get(key)).cloned().collect::<Vec<_>>();
    for mut pod in aside {
        Arc::make_mut(&mut pod).spec.scheduling_gates.push(json!({ "name": "apportion.dev/aside" }));
        simulation.server_mut().seed_object(Object::Pod(pod), now);
    }
    objects.into_iter().for_each(|object| simulation.server_mut().seed_object(object, now));
    simulation.settle();
    let pods = simulation.server().cluster().pods().keys();
    let made: BTreeSet<Key> = pods.filter(|key| !before.contains(*key)).cloned().gather();
    if made.is_empty() {
        let is_why = |finding: &Finding| finding.code == Code::RunRefused;
        if let Some(finding) = simulation.findings().into_iter().find(is_why) {
            return Err(vec![finding]);
        }
        let message = format!("{} `{}` has no Pods", request.subject.kind, request.subject.name);
        let why = match request.subject.kind.as_str() {
            "PodGroup" => "no Pod names it",
            _ => "it has no replicas, or how many it has is not known",
        };
        return Err(refused(message, why));
    }
    Ok(made)
}

fn refused(message: String, hint: impl Into<String>) -> Vec<Finding> {
    vec![Finding::new(Code::ReadBadSettings, "subject", message).with_hint(hint)]
}

/// The copies.
fn objects(cluster: &Cluster, request: &NodesNeededRequest, copies: u64) -> Result<Vec<Object>, Vec<Finding>> {
    let subject = match &request.device {
        Some(_) => ObjectRef::default(),
        None => located(cluster, &request.subject)?,
    };
    let numbers = 1..=copies;
    let name = |number: u64| copy_name(&subject.name, number);
    match (request.device.is_some(), cluster.get(&subject)) {
        (true, _) | (false, Some(Object::ResourceClaimTemplate(_) | Object::ResourceClaim(_))) => {
            let claim = match &request.device {
                Some(device) => fit::asked(cluster, device)?,
                None => fit::claim(cluster, &subject)?,
            };
            let namespace = if claim.metadata.namespace.is_empty() { "default" } else { &claim.metadata.namespace };
            let mut template = ResourceClaimTemplate::default();
            template.metadata.name = format!("{}-for-copies", claim.metadata.name);
            namespace.clone_into(&mut template.metadata.namespace);
            template.spec.spec = Arc::clone(&claim.spec);
            let pods: Vec<Object> = numbers.map(|number| one_claim(&template, &claim.metadata.name, number)).collect();
            Ok(std::iter::once(Object::ResourceClaimTemplate(Arc::new(template))).chain(pods).collect())
        }
        (false, Some(Object::Pod(pod))) => match pod.group_name() {
            Some(group) => {
                let message = format!("Pod `{}` is one of the PodGroup `{group}`", pod.metadata.name);
                Err(refused(message, format!("ask for `podgroup/{group}`: its Pods are placed together")))
            }
            None => Ok(numbers.map(|number| Object::Pod(Arc::new(copy(&pod, name(number))))).collect()),
        },
        (false, Some(Object::PodGroup(group))) => {
            Ok(numbers.flat_map(|number| group_copy(cluster, &group, name(number))).collect())
        }
        (false, Some(Object::Workload(workload))) if matches!(workload.spec, WorkloadSpec::DaemonSet(_)) => {
            let message =
                format!("DaemonSet `{}` has one Pod on each suitable node, and cannot have more", subject.name);
            let hint = "`explain daemonset/{}` says on which nodes its Pods do not fit";
            Err(refused(message, hint.replace("{}", &subject.name)))
        }
        (false, Some(object @ Object::Workload(_))) => {
            Ok(numbers.filter_map(|number| workload_copy(&object, name(number))).collect())
        }
        _ => {
            let message = format!("no Pods are made of a {}", subject.kind);
            Err(refused(message, "name a Pod, a PodGroup, a workload or a ResourceClaimTemplate"))
        }
    }
}

fn copy_name(name: &str, number: u64) -> String {
    format!("{name}-copy-{number}")
}

/// What is meant; its namespace may be left out.
fn located(cluster: &Cluster, subject: &ObjectRef) -> Result<ObjectRef, Vec<Finding>> {
    let is_meant = |key: &ObjectRef| {
        key.name == subject.name && (subject.namespace.is_empty() || key.namespace == subject.namespace)
    };
    let found = cluster.keys(&subject.kind).find(is_meant);
    found.ok_or_else(|| vec![Finding { path: "subject".to_owned(), ..unknown(cluster, subject) }])
}

/// A Pod as it was before anybody did anything with it.
fn copy(pod: &Pod, name: String) -> Pod {
    let mut copy = pod.clone();
    copy.metadata = ObjectMeta { name, ..to_write(&pod.metadata) };
    copy.spec.node_name.clear();
    copy.spec.scheduling_gates.clear();
    copy.status = PodStatus::default();
    copy
}

/// A Pod with one claim.
fn one_claim(template: &ResourceClaimTemplate, claim: &str, number: u64) -> Object {
    let mut pod = Pod::default();
    pod.metadata.name = format!("{claim}-{number}");
    pod.metadata.namespace.clone_from(&template.metadata.namespace);
    pod.spec.containers.push(Container { name: "main".to_owned(), ..Container::default() });
    pod.spec.resource_claims.push(PodResourceClaim {
        name: "device".to_owned(),
        resource_claim_template_name: Some(template.metadata.name.clone()),
        ..PodResourceClaim::default()
    });
    Object::Pod(Arc::new(pod))
}

/// A PodGroup with its Pods.
fn group_copy(cluster: &Cluster, group: &PodGroup, name: String) -> Vec<Object> {
    let key = (group.metadata.namespace.clone(), group.metadata.name.clone());
    let members: Vec<Object> = cluster
        .pods_of_group(&key)
        .map(|pod| {
            let mut member = copy(pod, format!("{}-{name}", pod.metadata.name));
            let groups = [&mut member.spec.scheduling_group, &mut member.spec.workload_ref];
            groups.into_iter().flatten().for_each(|group| group.pod_group_name.clone_from(&name));
            Object::Pod(Arc::new(member))
        })
        .collect();
    let mut copy = group.clone();
    copy.metadata = ObjectMeta { name, ..to_write(&group.metadata) };
    copy.status = crate::api::group::PodGroupStatus::default();
    std::iter::once(Object::PodGroup(Arc::new(copy))).chain(members).collect()
}

/// A workload that nobody holds back.
fn workload_copy(workload: &Object, name: String) -> Option<Object> {
    let mut value = workload.write();
    let map = value.as_object_mut()?;
    map.remove("status");
    let labels = map.get("metadata").and_then(|metadata| metadata.get("labels")).cloned().unwrap_or_default();
    let namespace = workload.metadata().namespace.clone();
    map.insert("metadata".to_owned(), json!({ "name": name, "namespace": namespace, "labels": labels }));
    strip(&mut value);
    let mut object = read_object(value).object?;
    if let Object::Workload(workload) = &mut object {
        at_once(Arc::make_mut(workload));
    }
    Some(object)
}

/// Has a StatefulSet make all of its Pods at once; whether the object is one.
fn at_once(workload: &mut Workload) -> bool {
    let WorkloadSpec::StatefulSet(spec) = &mut workload.spec else { return false };
    spec.rest.set("podManagementPolicy", json!("Parallel"));
    true
}

/// Leaves out what ties a workload to what was made for it, and what holds it back: all of its Pods are asked about.
fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::Object(labels)) = map.get_mut("labels") {
                labels.retain(|key, _| key != KUEUE_QUEUE && !OF_ONE_JOB.contains(&key.as_str()));
            }
            if map.contains_key("suspend") {
                map.insert("suspend".to_owned(), Value::Bool(false));
            }
            if map.contains_key("template") {
                map.remove("selector");
            }
            for key in ["startupPolicy", "dependsOn"] {
                map.remove(key);
            }
            for key in ["metadata", "spec", "template", "jobTemplate", "replicatedJobs"] {
                map.get_mut(key).into_iter().for_each(strip);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}
