//! A StatefulSet makes numbered Pods, each with its own PersistentVolumeClaims: in order, or all at once with `podManagementPolicy:
//! Parallel`.
//!
//! Not modelled: `minReadySeconds`, claims of Pods that have a node, `persistentVolumeClaimRetentionPolicy`.
//!
//! Source: `pkg/controller/statefulset`.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::api::condition::text;
use crate::api::object::{Object, read_object};
use crate::api::pod::{Pod, PodTemplateSpec};
use crate::api::workload::{StatefulSetSpec, Workload};
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::decision::Action;
use crate::finding::{Code, Finding};
use crate::gather::Gather;

use super::makers::{LWS_GROUP, LWS_NAME, LWS_SIZE, LWS_WORKER, count, groups_shown, leads};
use super::pods::is_of_template;
use super::{Look, MAX_PODS, create, delete, is_active, is_available, is_unknown_below, key, pod_of, pods_of};

/// The kind of the claims.
const CLAIM: &str = "PersistentVolumeClaim";

/// A StatefulSet numbers its Pods; one that ended goes before another gets its name.
pub(super) fn stateful_set(cluster: &Cluster, workload: &Workload, spec: &StatefulSetSpec, most: u64) -> Look {
    let own = own(cluster, workload);
    let wanted = count(spec.replicas);
    let shown = wanted.min(most_of_group(spec).unwrap_or(most).max(own.len() as u64));
    let mut actions = Vec::new();
    let (mut outdated, mut is_whole, mut waits) = (Vec::new(), true, false);
    let rolling = spec.rest.get("updateStrategy");
    let partition = rolling.and_then(|strategy| strategy.pointer("/rollingUpdate/partition")).and_then(Value::as_u64);
    let (is_ordered, is_by_hand) =
        (is_ordered(spec), rolling.is_some_and(|strategy| text(strategy, "type") == "OnDelete"));
    for ordinal in 0..shown {
        waits = is_ordered && !is_whole;
        if waits {
            break;
        }
        let number = start(spec).saturating_add(ordinal);
        let (name, template) = (name(workload, number), of_pod(workload, spec, number));
        let taken = || cluster.pods().get(&(workload.metadata.namespace.clone(), name.clone()));
        let found = own.binary_search_by_key(&number, |(of, _)| *of).ok();
        if let Some((_, pod)) = found.and_then(|position| own.get(position)) {
            if pod.is_finished() && !pod.metadata.is_deleting() {
                actions.push(delete(pod));
                is_whole = false;
                continue;
            }
            let is_current = is_of_template(&template, pod);
            // In order, an old Pod that never becomes ready keeps all others from being replaced.
            is_whole &= is_available(pod) || (!is_ordered && !is_current && !pod.metadata.is_deleting());
            if !is_current && ordinal >= partition.unwrap_or_default() && !is_by_hand {
                outdated.push(*pod);
            }
        } else if let Some(other) = taken() {
            is_whole &= is_available(other);
        } else {
            is_whole = false;
            actions.extend(missing_claims(cluster, workload, spec, number));
            actions.push(create(workload, Object::Pod(Arc::new(made(workload, spec, &template, number)))));
        }
    }
    let end = start(spec).saturating_add(wanted);
    let beyond: Vec<&Pod> = own.iter().rev().take_while(|(number, _)| *number >= end).map(|(_, pod)| *pod).collect();
    // In order, one at a time, and only while those that stay serve.
    let most_gone = if is_ordered { usize::from(is_whole) } else { usize::MAX };
    let going = beyond.iter().take(most_gone).filter(|pod| !pod.metadata.is_deleting());
    actions.extend(going.map(|pod| delete(pod)));
    // Replaced are those that stay, from the last one, once no others are left.
    let goes = outdated.last().filter(|pod| is_whole && is_active(pod) && (beyond.is_empty() || !is_ordered));
    actions.extend(goes.map(|pod| delete(pod)));
    Look::of(actions, waits || !beyond.is_empty() || !outdated.is_empty())
}

/// Says how many Pods are not made yet because one before them does not serve.
pub(super) fn waits(cluster: &Cluster, workload: &Workload, spec: &StatefulSetSpec) -> Option<Finding> {
    let (own, start) = (own(cluster, workload), start(spec));
    let end = start.saturating_add(count(spec.replicas));
    let there = || own.iter().filter(|(number, _)| (start..end).contains(number));
    let number = count(spec.replicas).saturating_sub(there().count() as u64);
    let (_, first) = there().find(|(_, pod)| !is_available(pod)).filter(|_| is_ordered(spec))?;
    let waiting = match number {
        0 => return None,
        1 => "1 more Pod waits".to_owned(),
        _ => format!("{number} more Pods wait"),
    };
    let message = format!("{waiting} until `{}` is running and ready", first.metadata.name);
    let hint = "with `podManagementPolicy: Parallel`, all Pods are made at once";
    Some(Finding::new(Code::RunReplicasCapped, "spec.replicas", message).with_hint(hint))
}

/// Whether a Pod is made once those before it serve, and goes before those before it go.
fn is_ordered(spec: &StatefulSetSpec) -> bool {
    spec.rest.get("podManagementPolicy").and_then(Value::as_str) != Some("Parallel")
}

/// The number of the first Pod.
fn start(spec: &StatefulSetSpec) -> u64 {
    spec.ordinals.as_ref().map_or(0, |ordinals| count(Some(ordinals.start)))
}

fn name(workload: &Workload, number: u64) -> String {
    format!("{}-{number}", workload.metadata.name)
}

/// The Pods that there are, by number.
fn own<'c>(cluster: &'c Cluster, workload: &Workload) -> Vec<(u64, &'c Pod)> {
    let prefix = format!("{}-", workload.metadata.name);
    let number = |pod: &Pod| pod.metadata.name.strip_prefix(&prefix)?.parse::<u64>().ok();
    let mut own: Vec<_> = pods_of(cluster, &key(workload)).filter_map(|pod| Some((number(pod)?, pod))).collect();
    own.arrange_by_key(|(number, _)| *number);
    own
}

/// A Pod of a number.
fn made(workload: &Workload, spec: &StatefulSetSpec, template: &PodTemplateSpec, number: u64) -> Pod {
    let mut pod = pod_of(workload, template);
    let labels = &mut pod.metadata.labels;
    if labels.contains_key(LWS_NAME) {
        // Leaders are numbered by group, workers within their group from 1.
        let label = if start(spec) == 0 { LWS_GROUP } else { LWS_WORKER };
        labels.insert(label.to_owned(), number.to_string());
    }
    pod.metadata.name = name(workload, number);
    labels.insert("statefulset.kubernetes.io/pod-name".to_owned(), pod.metadata.name.clone());
    labels.insert("apps.kubernetes.io/pod-index".to_owned(), number.to_string());
    pod
}

/// Templates of claims, by the name of the volume.
fn claim_templates(spec: &StatefulSetSpec) -> Vec<(&str, &Map<String, Value>)> {
    let templates = spec.rest.get("volumeClaimTemplates").and_then(Value::as_array).into_iter().flatten();
    let named = templates.filter_map(|template| Some((template.pointer("/metadata/name")?.as_str()?, template)));
    named.filter_map(|(name, template)| Some((name, template.as_object()?))).collect()
}

fn claim_name(workload: &Workload, volume: &str, number: u64) -> String {
    format!("{volume}-{}", name(workload, number))
}

/// The template of the Pod of a number: its claims take the place of volumes of the same name.
fn of_pod<'s>(workload: &Workload, spec: &'s StatefulSetSpec, number: u64) -> Cow<'s, PodTemplateSpec> {
    let claims = claim_templates(spec);
    if claims.is_empty() {
        return Cow::Borrowed(&spec.template);
    }
    let volume = |(name, _): &(&str, _)| json!({ "name": name, "persistentVolumeClaim": { "claimName": claim_name(workload, name, number) } });
    let mut template = spec.template.clone();
    let others = template.spec.rest.get("volumes").and_then(Value::as_array).into_iter().flatten();
    let others = others.filter(|other| claims.iter().all(|(name, _)| text(other, "name") != *name));
    let volumes: Vec<Value> = claims.iter().map(volume).chain(others.cloned()).collect();
    template.spec.rest.set("volumes", Value::Array(volumes));
    Cow::Owned(template)
}

/// The claims that the Pod of a number lacks. Those of a dump that holds none are not known.
fn missing_claims(cluster: &Cluster, workload: &Workload, spec: &StatefulSetSpec, number: u64) -> Vec<Action> {
    if is_unknown_below(cluster, workload, CLAIM) {
        return Vec::new();
    }
    let mut actions = Vec::new();
    let selected = spec.rest.get("selector").and_then(|selector| selector.get("matchLabels")?.as_object());
    for (volume, template) in claim_templates(spec) {
        let (namespace, name) = (workload.metadata.namespace.clone(), claim_name(workload, volume, number));
        if cluster.bystanders().get(&(CLAIM.to_owned(), namespace.clone(), name.clone())).is_some() {
            continue;
        }
        let labels = template.get("metadata").and_then(|metadata| metadata.get("labels")?.as_object());
        let labels: Map<String, Value> =
            labels.into_iter().chain(selected).flatten().map(|(name, value)| (name.clone(), value.clone())).gather();
        let mut metadata = template.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
        let own = [("name", json!(name)), ("namespace", json!(namespace)), ("labels", json!(labels))];
        metadata.extend(own.map(|(name, value)| (name.to_owned(), value)));
        let claim = json!({ "apiVersion": "v1", "kind": CLAIM, "metadata": metadata, "spec": template.get("spec") });
        actions.extend(read_object(claim).object.map(|claim| create(workload, claim)));
    }
    actions
}

/// How many Pods of a StatefulSet of a LeaderWorkerSet are shown: whole groups, or the first Pods of the first one.
fn most_of_group(spec: &StatefulSetSpec) -> Option<u64> {
    let metadata = &spec.template.metadata;
    let size: u64 = metadata.annotations.get(LWS_SIZE)?.parse().ok()?;
    Some(if leads(metadata) { groups_shown(size) } else { MAX_PODS.saturating_sub(1) })
}
