//! A Pod as it is to be written once it has changed, or the workload that makes it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::change::{Change, PlacementRule, node_toleration};
use super::relax::to_write;
use crate::api::object::Object;
use crate::api::pod::{
    Container, Pod, PodAffinity, PodAffinityTerm, PodSpec, PodStatus, ResourceRequirements, TopologySpreadConstraint,
    WeightedPodAffinityTerm,
};
use crate::api::quantity::Quantity;
use crate::api::read::{Json, Path};
use crate::api::workload::Workload;
use crate::cluster::Cluster;
use crate::controllers::workloads::{root_of, template_path};

/// The manifests to write: of what makes the Pod, or of the Pod and the waiting members of its group to which the changes apply. None where
/// what makes the Pod is not here.
pub(crate) fn written(cluster: &Cluster, pod: &Pod, changes: &[Change]) -> Vec<Value> {
    if let Some(root) = root_of(cluster, pod) {
        return template(root, pod, changes).into_iter().collect();
    }
    // Another Pod of its kind would be made as this one was.
    if pod.metadata.controller().is_some() {
        return Vec::new();
    }
    let mut pods = vec![pod];
    if let Some(group) = pod.group_name() {
        let members = cluster.pods_of_group(&(pod.metadata.namespace.clone(), group.to_owned())).map(Arc::as_ref);
        let members = members.filter(|other| other.metadata.name != pod.metadata.name);
        pods.extend(members.filter(|other| other.metadata.controller().is_none() && other.spec.node_name.is_empty()));
    }
    pods.into_iter().filter_map(|pod| single(pod, changes)).collect()
}

/// A Pod that nothing makes.
fn single(pod: &Pod, changes: &[Change]) -> Option<Value> {
    let mut pod = Pod { metadata: to_write(&pod.metadata), status: PodStatus::default(), ..pod.clone() };
    change_spec(&mut pod.spec, changes)?;
    Some(Object::Pod(Arc::new(pod)).write())
}

/// A workload with another template of the Pod.
fn template(root: &Workload, pod: &Pod, changes: &[Change]) -> Option<Value> {
    let mut root = root.clone();
    root.metadata = to_write(&root.metadata);
    root.status = Value::Null;
    // `spec.jobs[0].template.` is `/spec/jobs/0/template/` as a pointer.
    let path = template_path(&root, pod).replace('[', "/").replace(']', "").replace('.', "/");
    let mut object = Object::Workload(Arc::new(root)).write();
    let spec = object.pointer_mut(&format!("/{path}spec"))?;
    let mut changed = PodSpec::read(spec.take(), &Path::ROOT, &mut Vec::new()).ok()?;
    change_spec(&mut changed, changes)?;
    *spec = changed.write()?;
    Some(object)
}

/// Makes a preference of what is required of other Pods in domains of nodes.
fn prefer(spec: &mut PodSpec, rule: PlacementRule, key: &str) -> Option<()> {
    let affinity = match rule {
        PlacementRule::Spread => {
            let constraints = spec.topology_spread_constraints.iter_mut();
            for constraint in constraints.filter(|constraint| constraint.topology_key == key) {
                "ScheduleAnyway".clone_into(&mut constraint.when_unsatisfiable);
            }
            return Some(());
        }
        PlacementRule::PodAffinity => spec.affinity.as_mut()?.pod_affinity.as_mut()?,
        PlacementRule::PodAntiAffinity => spec.affinity.as_mut()?.pod_anti_affinity.as_mut()?,
    };
    let (moved, kept) = std::mem::take(&mut affinity.required).into_iter().partition(|term| term.topology_key == key);
    let moved: Vec<PodAffinityTerm> = moved;
    affinity.required = kept;
    affinity.preferred.extend(moved.into_iter().map(|term| WeightedPodAffinityTerm {
        weight: 100,
        term,
        ..WeightedPodAffinityTerm::default()
    }));
    Some(())
}

/// What a Pod requires of where other Pods are, each as the change that makes a preference of it.
pub(crate) fn requirements(spec: &PodSpec) -> Vec<Change> {
    let hard = |constraint: &&TopologySpreadConstraint| constraint.when_unsatisfiable != "ScheduleAnyway";
    let spread = spec.topology_spread_constraints.iter().filter(hard).map(|constraint| &constraint.topology_key);
    let terms = |affinity: Option<&PodAffinity>| -> Vec<String> {
        affinity.into_iter().flat_map(|one| &one.required).map(|term| term.topology_key.clone()).collect()
    };
    let affinity = spec.affinity.as_ref();
    let near = terms(affinity.and_then(|affinity| affinity.pod_affinity.as_ref()));
    let away = terms(affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref()));
    let of = |rule| move |key: String| Change::Prefer { rule, key };
    let all = spread.cloned().map(of(PlacementRule::Spread));
    let all = all.chain(near.into_iter().map(of(PlacementRule::PodAffinity)));
    let mut found: Vec<Change> = Vec::new();
    for change in all.chain(away.into_iter().map(of(PlacementRule::PodAntiAffinity))) {
        if !found.contains(&change) {
            found.push(change);
        }
    }
    found
}

/// `None` where a change is not one of the Pod.
pub(crate) fn change_spec(spec: &mut PodSpec, changes: &[Change]) -> Option<()> {
    for change in changes {
        match change {
            Change::TolerateNode { taint } => spec.tolerations.push(node_toleration(taint)),
            Change::DropNodeSelector { label, .. } => drop(spec.node_selector.remove(label)),
            Change::DropNodeAffinity {} => spec.affinity.as_mut()?.node_affinity.as_mut()?.required = None,
            Change::Prefer { rule, key } => prefer(spec, *rule, key)?,
            Change::OwnClaim { entry, template, .. } => {
                let entry = spec.resource_claims.iter_mut().find(|known| known.name == *entry)?;
                entry.resource_claim_name = None;
                entry.resource_claim_template_name = Some(template.clone());
            }
            Change::LowerResource { resource, from, to } => lower(spec, resource, from, to)?,
            Change::RaisePriority { to, class: None, .. } => spec.priority = Some(*to),
            Change::RaisePriority { class: Some(class), .. } => {
                // The API server's admission takes the rest from the class.
                spec.priority = None;
                spec.rest.remove("preemptionPolicy");
                spec.rest.set("priorityClassName", json!(class));
            }
            _ => return None,
        }
    }
    Some(())
}

/// `None` where it is the user's to say which container is to do with less.
fn lower(spec: &mut PodSpec, resource: &str, from: &str, to: &str) -> Option<()> {
    let (from, to) = (Quantity::parse(from).ok()?, Quantity::parse(to).ok()?);
    let has = |resources: &ResourceRequirements| {
        resources.requests.contains_key(resource) || resources.limits.contains_key(resource)
    };
    let of_pod = spec.resources.as_mut().filter(|resources| has(resources));
    let holder = match of_pod {
        Some(resources) => resources,
        None => {
            let all = spec.init_containers.iter_mut().chain(&mut spec.containers);
            let mut holders = all.map(|Container { resources, .. }| resources).filter(|resources| has(resources));
            let only = holders.next()?;
            if holders.next().is_some() {
                return None;
            }
            only
        }
    };
    let asked = holder.requests.get(resource).or_else(|| holder.limits.get(resource))?;
    // Else something is added to it: overhead, or what devices take.
    if *asked != from {
        return None;
    }
    // Of everything but these a container gets its limit, which must be what it requests.
    if !matches!(resource, "cpu" | "memory" | "ephemeral-storage")
        && let Some(limit) = holder.limits.get_mut(resource)
    {
        *limit = to.clone();
    }
    holder.requests.insert(resource.to_owned(), to);
    Some(())
}
