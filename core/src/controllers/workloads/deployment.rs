//! Deployments: a ReplicaSet for every template, and the way from one to the next.
//!
//! Source: `pkg/controller/deployment`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::makers::{child, count};
use super::pods::is_made_of;
use super::{Look, children, create, is_active, is_available, is_unknown_below, key, pods_of};
use crate::api::condition::text;
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::api::read::{Json, Rest};
use crate::api::workload::{ReplicaSetSpec, Workload, WorkloadSpec};
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::decision::Action;
use crate::derive;

/// Label with the hash of a ReplicaSet's template.
const HASH: &str = "pod-template-hash";

/// A ReplicaSet of the Deployment.
struct Set<'c> {
    workload: &'c Workload,
    spec: &'c ReplicaSetSpec,
    /// How many Pods it is to have, as far as they are shown.
    size: u64,
    /// How many of its Pods serve.
    available: u64,
}

pub(super) fn deployment(cluster: &Cluster, workload: &Workload, spec: &ReplicaSetSpec, most: u64) -> Look {
    if is_unknown_below(cluster, workload, "ReplicaSet") {
        return Look::default();
    }
    let replica_sets = children(cluster, workload);
    let pods_there = |set: &Workload| pods_of(cluster, &key(set)).filter(|pod| is_active(pod)).count() as u64;
    let shown = replica_sets.iter().map(|set| pods_there(set)).fold(most, u64::max);
    let mut sets: Vec<Set<'_>> = Vec::new();
    for set in replica_sets {
        if let WorkloadSpec::ReplicaSet(own) = &set.spec {
            let available = pods_of(cluster, &key(set)).filter(|pod| is_available(pod)).count() as u64;
            sets.push(Set { workload: set, spec: own, size: count(own.replicas).min(shown), available });
        }
    }
    sets.arrange_by(|a, b| a.workload.metadata.creation_timestamp.cmp(&b.workload.metadata.creation_timestamp));
    let wanted = count(spec.replicas);
    let replicas = wanted.min(shown);
    let full = |size: u64| if size >= replicas { wanted } else { size };
    let current = current(workload, spec, &sets);
    let old: Vec<&Set<'_>> =
        sets.iter().enumerate().filter(|(at, _)| Some(*at) != current).map(|(_, set)| set).collect();
    let old_total = old.iter().fold(0u64, |sum, set| sum.saturating_add(set.size));
    let current = current.and_then(|at| sets.get(at));
    let is_paused = is_paused(spec);
    if current.is_none() && is_paused {
        return Look::default();
    }
    let strategy = Strategy::of(spec, replicas);
    let old_pods = old.iter().any(|set| pods_of(cluster, &key(set.workload)).any(|pod| !pod.is_finished()));
    let size = current.map_or(0, |set| set.size);
    let is_rolling = old_total > 0 || old_pods;
    if is_paused && is_rolling {
        return Look::default();
    }
    if strategy.recreates && is_rolling {
        let actions = old.iter().filter(|set| set.size > 0).map(|set| scaled(set, 0)).collect();
        return Look::of(actions, true);
    }
    // The new ReplicaSet first.
    let room = replicas.saturating_add(strategy.surge).saturating_sub(old_total.saturating_add(size));
    let next = match size.cmp(&replicas) {
        _ if old_total == 0 => replicas,
        std::cmp::Ordering::Less => size.saturating_add(room.min(replicas.saturating_sub(size))),
        std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => replicas,
    };
    match current {
        None => {
            let set = replica_set(workload, spec, full(next));
            return Look::of(vec![create(workload, Object::Workload(Arc::new(set)))], is_rolling);
        }
        Some(set) if next != size || (old_total == 0 && count(set.spec.replicas) != wanted) => {
            return Look::of(vec![scaled(set, full(next))], is_rolling);
        }
        Some(_) => {}
    }
    let available = current.map_or(0, |set| set.available);
    Look::of(shrink(&strategy, replicas, (size, available), &old), is_rolling)
}

/// Whether no ReplicaSet is made for a new template.
pub(super) fn is_paused(spec: &ReplicaSetSpec) -> bool {
    spec.rest.get("paused") == Some(&Value::Bool(true))
}

/// Takes Pods from ReplicaSets of earlier templates: those that do not serve first, then as many as may be missing.
fn shrink(strategy: &Strategy, replicas: u64, (size, available): (u64, u64), old: &[&Set<'_>]) -> Vec<Action> {
    let least = replicas.saturating_sub(strategy.unavailable);
    let all = old.iter().fold(size, |sum, set| sum.saturating_add(set.size));
    let mut left = all.saturating_sub(least).saturating_sub(size.saturating_sub(available));
    if left == 0 {
        return Vec::new();
    }
    let mut sizes: Vec<u64> = old.iter().map(|set| set.size).collect();
    for (set, size) in old.iter().zip(&mut sizes) {
        let gone = size.saturating_sub(set.available).min(left);
        *size = size.saturating_sub(gone);
        left = left.saturating_sub(gone);
    }
    let serving = old.iter().fold(available, |sum, set| sum.saturating_add(set.available.min(set.size)));
    let mut left = serving.saturating_sub(least);
    for size in &mut sizes {
        let gone = left.min(*size);
        *size = size.saturating_sub(gone);
        left = left.saturating_sub(gone);
    }
    old.iter().zip(sizes).filter(|(set, size)| set.size != *size).map(|(set, size)| scaled(set, size)).collect()
}

/// How a Deployment goes from one template to the next.
struct Strategy {
    recreates: bool,
    /// Pods beyond the number.
    surge: u64,
    /// Pods that may be missing.
    unavailable: u64,
}

impl Strategy {
    fn of(spec: &ReplicaSetSpec, replicas: u64) -> Self {
        let strategy = spec.rest.get("strategy");
        let recreates = strategy.is_some_and(|strategy| text(strategy, "type") == "Recreate");
        let field = |name: &str| strategy.and_then(|strategy| strategy.get("rollingUpdate")?.get(name));
        let surge = part(field("maxSurge"), replicas, true);
        let unavailable = part(field("maxUnavailable"), replicas, false);
        let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
        Self { recreates, surge, unavailable }
    }
}

/// A number, or a share of all in percent, of which 25 where it is left out.
pub(super) fn part(value: Option<&Value>, all: u64, rounds_up: bool) -> u64 {
    let share = |percent: u64| {
        let product = all.saturating_mul(percent);
        if rounds_up { product.div_ceil(100) } else { product / 100 }
    };
    match value {
        Some(Value::Number(number)) => number.as_u64().unwrap_or_default(),
        Some(Value::String(text)) => text.strip_suffix('%').and_then(|text| text.parse().ok()).map_or(0, share),
        _ => share(25),
    }
}

/// The ReplicaSet of the Deployment's template: the one that is made for it, or that was made elsewhere of nothing else.
fn current(workload: &Workload, spec: &ReplicaSetSpec, sets: &[Set<'_>]) -> Option<usize> {
    let own = name(workload, spec);
    let by_name = sets.iter().position(|set| set.workload.metadata.name == own);
    let is_foreign = |set: &Set<'_>| {
        let template = &set.spec.template;
        let mut bare = set.spec.clone();
        bare.template.metadata.labels.remove(HASH);
        template.metadata.labels.get(HASH) != Some(&hash(&bare))
    };
    let fits = |set: &Set<'_>| {
        let (metadata, own) = (&set.spec.template.metadata, &spec.template.metadata);
        is_foreign(set)
            && is_made_of(&own.labels, &own.annotations, &spec.template.spec, metadata, &set.spec.template.spec)
    };
    by_name.or_else(|| {
        let fitting = || sets.iter().enumerate().filter(|(_, set)| fits(set));
        fitting().find(|(_, set)| set.size > 0).or_else(|| fitting().next()).map(|(at, _)| at)
    })
}

fn hash(spec: &ReplicaSetSpec) -> String {
    derive::letters(10, &[HASH, &spec.template.write().unwrap_or_default().to_string()])
}

fn name(deployment: &Workload, spec: &ReplicaSetSpec) -> String {
    format!("{}-{}", deployment.metadata.name, hash(spec))
}

fn replica_set(deployment: &Workload, spec: &ReplicaSetSpec, replicas: u64) -> Workload {
    let hash = hash(spec);
    let name = name(deployment, spec);
    let mut spec = spec.clone();
    if count(spec.replicas) != replicas {
        spec.replicas = Some(i64::try_from(replicas).unwrap_or(i64::MAX));
    }
    let mut selector = spec.rest.get("selector").cloned().unwrap_or_else(|| json!({}));
    if let Some(labels) = selector.get_mut("matchLabels").and_then(Value::as_object_mut) {
        labels.insert(HASH.to_owned(), Value::String(hash.clone()));
    }
    spec.rest = Rest::new([("selector".to_owned(), selector)].into_iter().collect());
    spec.template.metadata.labels.insert(HASH.to_owned(), hash);
    let metadata = ObjectMeta { labels: spec.template.metadata.labels.clone(), ..ObjectMeta::default() };
    child(deployment, "apps/v1", "ReplicaSet", name, metadata, WorkloadSpec::ReplicaSet(Box::new(spec)))
}

/// The ReplicaSet with another number of Pods.
fn scaled(set: &Set<'_>, size: u64) -> Action {
    let mut workload = set.workload.clone();
    let replicas = Some(i64::try_from(size).unwrap_or(i64::MAX));
    workload.spec = WorkloadSpec::ReplicaSet(Box::new(ReplicaSetSpec { replicas, ..set.spec.clone() }));
    Action::Update(Box::new(Object::Workload(Arc::new(workload))))
}
