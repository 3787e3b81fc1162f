//! PodGroups: what keeps a gang from being placed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::case::{Case, Placed, pod_case};
use super::origin::Origin;
use super::reasons::problems::{instead, missing_template, not_given, was_refused};
use super::settled::Settled;
use super::words::plural;
use crate::api::group::PodGroup;
use crate::api::object::Object;
use crate::api::pod::{Pod, PodResourceClaim};
use crate::cluster::entries;
use crate::cluster::{Cluster, Key};
use crate::finding::{Code, Finding, ObjectRef, list};
use crate::gather::Gather;
use entries::Source;

/// The template that an entry names and that is not there.
fn missing_source(cluster: &Cluster, namespace: &str, entry: &PodResourceClaim) -> Option<Finding> {
    let (is_there, name, kind) = match entries::source(entry)? {
        Source::Template(name) => {
            let key = (namespace.to_owned(), name.to_owned());
            (cluster.templates().contains_key(&key), name, "ResourceClaimTemplate")
        }
        Source::ClusterTemplate(name) => {
            (cluster.cluster_templates().contains_key(name), name, "ClusterResourceClaimTemplate")
        }
        Source::Named(_) => return None,
    };
    (!is_there).then(|| missing_template(cluster, namespace, name, kind))
}

/// Why a Pod waits for its PodGroup before it is tried.
pub(crate) fn holds(cluster: &Cluster, pod: &Pod) -> Option<Finding> {
    let features = &cluster.profile().features;
    let name = pod.group_name().filter(|_| features.generic_workload)?;
    let Some(group) = entries::group_of(cluster, pod) else {
        let message = format!("Pod `{}` waits for PodGroup `{name}`, which does not exist", pod.metadata.name);
        let path = "spec.schedulingGroup.podGroupName";
        if let Some(why) = cluster.refused("PodGroup", &pod.metadata.namespace, name) {
            return Some(Origin::of(cluster, pod).locate(was_refused("PodGroup", name, why), path));
        }
        if cluster.is_not_given("PodGroup") {
            return Some(Origin::of(cluster, pod).locate(not_given("PodGroup", "PodGroup", name), path));
        }
        let finding = Origin::of(cluster, pod).finding(Code::RunGroupMissing, path, message);
        return Some(finding.with_hint(instead(cluster, ("PodGroup", "PodGroup"), &pod.metadata.namespace, name)));
    };
    too_few(cluster, group)
}

/// The Pod and the other members of its group, as `namespace/name`.
pub(crate) fn members(cluster: &Cluster, pod: &Pod) -> Vec<String> {
    let namespace = &pod.metadata.namespace;
    let group = pod.group_name().map(|group| (namespace.clone(), group.to_owned()));
    let others = group.iter().flat_map(|group| cluster.pods_of_group(group)).map(Arc::as_ref);
    [pod].into_iter().chain(others).map(|pod| format!("{namespace}/{}", pod.metadata.name)).collect()
}

/// How many Pods of a group must have a place at once, where it is a gang.
fn least(cluster: &Cluster, group: &PodGroup) -> Option<i64> {
    group.min_count().filter(|_| cluster.profile().features.gang_scheduling)
}

/// A gang of which not enough Pods exist.
fn too_few(cluster: &Cluster, group: &PodGroup) -> Option<Finding> {
    let wanted = least(cluster, group)?;
    let key = entries::key_of(&group.metadata);
    let there = cluster.links().pods_of_group(&key).count();
    if i64::try_from(there).unwrap_or(i64::MAX) >= wanted {
        return None;
    }
    let pods = plural(u64::try_from(there).unwrap_or(u64::MAX), "Pod");
    let message = format!("PodGroup `{}` is scheduled when it has {wanted} Pods, it has {pods}", key.1);
    let finding = Finding::new(Code::RunGroupShort, "spec.schedulingPolicy.gang.minCount", message);
    let refused = refused_members(cluster, &key);
    let hint = match refused.as_slice() {
        [] => "create the missing Pods, or lower `minCount`".to_owned(),
        [only] => format!("correct Pod `{only}`, which was refused"),
        several => format!("correct the Pods {}, which were refused", list(several.iter())),
    };
    Some(finding.about(reference(&key)).with_hint(hint))
}

/// Names of refused Pods that say they are part of a group.
fn refused_members(cluster: &Cluster, (namespace, group): &Key) -> Vec<String> {
    let text = |one: &Value, pointer: &str| one.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_member = |one: &&Value| {
        text(one, "/kind") == "Pod"
            && [namespace.as_str(), ""].contains(&text(one, "/metadata/namespace").as_str())
            && text(one, "/spec/schedulingGroup/podGroupName") == *group
    };
    cluster.all_refused().filter(is_member).map(|one| text(one, "/metadata/name")).collect()
}

/// Entries that look like one of the group's and are not.
pub(crate) fn near_misses(cluster: &Cluster, pod: &Pod) -> Vec<Finding> {
    let mut notes = Vec::new();
    let knows_groups = cluster.profile().features.generic_workload;
    let Some(group) = entries::group_of(cluster, pod).filter(|_| knows_groups) else { return notes };
    let origin = Origin::of(cluster, pod);
    let is_own = |(_, entry): &(usize, &PodResourceClaim)| entry.pod_group_resource_claim.is_none();
    for (index, entry) in pod.spec.resource_claims.iter().enumerate().filter(is_own) {
        let path = format!("spec.resourceClaims[{index}]");
        let own = entries::source(entry);
        let claim = entry.resource_claim_name.as_ref();
        let claim = claim.and_then(|name| cluster.claims().get(&(pod.metadata.namespace.clone(), name.clone())));
        let owner = claim.and_then(|claim| claim.metadata.controller());
        if owner.is_some_and(|owner| owner.kind == "PodGroup" && owner.name == group.metadata.name) {
            continue;
        }
        let why = group.spec.resource_claims.iter().find_map(|other| {
            match (other.name == entry.name, own.is_some() && entries::source(other) == own) {
                (true, false) => Some(format!("the PodGroup has a claim `{}` from another source", other.name)),
                (false, true) => Some(format!("the PodGroup has the same claim under the name `{}`", other.name)),
                (true, true) | (false, false) => None,
            }
        });
        if let Some(why) = why {
            let message = format!("entry `{}` gets a claim for this Pod alone: {why}", entry.name);
            let hint = "give both the same name and the same source to share the claim of the PodGroup";
            notes.push(origin.finding(Code::LinkNearGroupClaim, &path, message).with_hint(hint));
        }
    }
    notes
}

fn reference(key: &Key) -> ObjectRef {
    ObjectRef::new("PodGroup", &*key.0, &*key.1)
}

/// A case for each group that has a Pod without a node.
pub(crate) fn waiting(cluster: &Cluster) -> impl Iterator<Item = ObjectRef> {
    let is_waiting =
        move |key: &&Key| cluster.pods_of_group(key).any(|pod| pod.spec.node_name.is_empty() && !pod.is_finished());
    cluster.pod_groups().keys().filter(is_waiting).map(reference)
}

/// What keeps a group from being placed: templates, missing Pods, or the first member without a place.
pub(crate) fn case(cluster: &Cluster, settled: &Settled, key: &Key) -> Case {
    let mut case = Case { subject: reference(key), all_nodes: cluster.nodes().len(), ..Case::default() };
    let Some(group) = cluster.pod_groups().get(key) else { return case };
    for (index, entry) in group.spec.resource_claims.iter().enumerate() {
        if let Some(problem) = missing_source(cluster, &key.0, entry) {
            let path = format!("spec.resourceClaims[{index}]");
            case.stage.push(Finding { path, ..problem }.about(reference(key)));
        }
    }
    case.stage.extend(too_few(cluster, group));
    let names: BTreeSet<&String> = cluster.links().pods_of_group(key).gather();
    let members: Vec<&Key> = settled.order.iter().filter(|pod| pod.0 == key.0 && names.contains(&pod.1)).collect();
    let assumed = settled.assumed.get(key).map(Vec::as_slice).unwrap_or_default();
    let found: BTreeSet<&String> = assumed.iter().filter_map(place_of).gather();
    let is_bound = |pod: &&&Key| settled.verdicts.get(**pod).is_some_and(|verdict| verdict.node.is_some());
    let has_place = |pod: &&&Key| found.contains(&pod.1) || is_bound(pod);
    let placed = members.iter().filter(has_place).count();
    if !members.is_empty() && members.iter().all(|pod| is_bound(&pod)) {
        let text = format!("{placed} of {} have a place", plural(members.len() as u64, "Pod"));
        case.placed = Some(Placed { node: None, text });
        return case;
    }
    if !case.stage.is_empty() {
        case.is_blocked = true;
        return case;
    }
    let first = members.iter().find(|pod| !has_place(pod)).or_else(|| members.iter().find(|pod| !is_bound(pod)));
    let Some(first) = first else {
        let message = format!("PodGroup `{}` has no Pods", key.1);
        case.stage.push(Finding::new(Code::RunGroupShort, "", message).about(reference(key)));
        case.is_blocked = true;
        return case;
    };
    let member = pod_case(cluster, settled, first);
    let all = plural(members.len() as u64, "Pod");
    let name = &first.1;
    let message = if has_place(&first) {
        format!("{placed} of {all} have a place; Pod `{name}` is the first that is not bound to it yet")
    } else {
        let least = least(cluster, group).map(|least| format!(", {least} are needed at once"));
        let least = least.unwrap_or_default();
        format!("{placed} of {all} find a place{least}; Pod `{name}` is the first without one")
    };
    let note = Finding::new(Code::RunGroupShort, "", message).about(reference(key));
    let mut stage = member.stage;
    // What blocks a member says more than that it is blocked.
    stage.insert(if member.is_blocked { stage.len() } else { 0 }, note);
    Case { subject: reference(key), stage, ..member }
}

/// Name of a Pod that is taken to have a place.
fn place_of(object: &Object) -> Option<&String> {
    match object {
        Object::Pod(pod) => Some(&pod.metadata.name),
        _ => None,
    }
}
