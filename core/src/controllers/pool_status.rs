//! The pool status controller: a ResourcePoolStatusRequest is answered once, from the slices and claims as they are then, and
//! deleted some time later.
//!
//! DIFFERENCE: the reference never answers while a pool is incomplete, counts every result of a claim up to 1.36 (also those with
//! admin access, and each share of a device), sees no taints up to 1.36, and from 1.37 on takes a device that is tainted and in use
//! away twice.
//!
//! Not modelled: the summaries of partitions and of shared capacity that 1.37 adds.
//!
//! Source: KEP-5677; `pkg/controller/resourcepoolstatusrequest`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::allocate::blocking_taints;
use crate::api::condition::{conditions, text};
use crate::api::object::Object;
use crate::api::pool_status::ResourcePoolStatusRequest;
use crate::api::slice::{Device, ResourceSlice};
use crate::cluster::Cluster;
use crate::cluster::selectors::Selectors;
use crate::decision::{Action, Decision, Time, Trigger};
use crate::derive;
use crate::profile::{Mode, Profile, Version};

/// Seconds that drivers get to publish the rest of a pool.
const PATIENCE_SECONDS: i64 = 10;

/// Seconds that an answered request stays, and one that is not.
const ANSWERED_SECONDS: i64 = 3600;
const PENDING_SECONDS: i64 = 24 * 3600;

/// Most pools listed where the request does not say.
const DEFAULT_LIMIT: usize = 100;

/// Longest text about a pool, in bytes.
const MAX_ERROR: usize = 256;

/// What to do about one request, known by its name.
pub fn reconcile(cluster: &Cluster, profile: &Profile, name: &str, now: Time) -> Decision {
    let request = cluster.pool_status_requests().get(name).filter(|request| !request.metadata.is_deleting());
    let Some(request) = request.filter(|_| profile.features.resource_pool_status) else { return Decision::none() };
    let created = Time::parse(&request.metadata.creation_timestamp).unwrap_or(now);
    let ends = match answered_at(request) {
        Some(answered) => answered.unwrap_or(created).plus_seconds(ANSWERED_SECONDS),
        None => created.plus_seconds(PENDING_SECONDS),
    };
    if ends <= now {
        let object = request.metadata.reference("ResourcePoolStatusRequest");
        return Decision::of(vec![Action::delete(object, &request.metadata)]);
    }
    let mut decision = Decision::none();
    decision.wake_at(ends);
    if answered_at(request).is_some() {
        return decision;
    }
    let pools = pools(cluster, request);
    if pools.values().any(|pool| !pool.is_complete(profile)) {
        let patient_until = created.plus_seconds(PATIENCE_SECONDS);
        if profile.mode == Mode::Reference {
            return decision;
        }
        if now < patient_until {
            decision.wake_at(patient_until);
            return decision;
        }
    }
    let mut answered = request.clone();
    answered.status = status(cluster, profile, request, &pools, now);
    decision.actions.push(Action::UpdateStatus(Box::new(Object::ResourcePoolStatusRequest(Arc::new(answered)))));
    decision
}

/// What the status says of each pool of a driver, by name.
pub(crate) fn figures(cluster: &Cluster, driver: &str) -> Vec<Value> {
    let mut request = ResourcePoolStatusRequest::default();
    driver.clone_into(&mut request.spec.driver);
    let mut selectors = Selectors::default();
    let of_pool =
        |(name, pool): (&&str, &Pool<'_>)| of_pool(cluster, cluster.profile(), &mut selectors, driver, name, pool);
    pools(cluster, &request).iter().map(of_pool).collect()
}

/// Names of requests that a change concerns.
pub fn affected(cluster: &Cluster, trigger: &Trigger) -> Vec<String> {
    match trigger.latest() {
        Some(Object::ResourcePoolStatusRequest(request)) => vec![request.metadata.name.clone()],
        Some(Object::ResourceSlice(slice)) => {
            let waits = |request: &&ResourcePoolStatusRequest| {
                request.spec.driver == slice.spec.driver && answered_at(request).is_none()
            };
            let waiting = cluster.pool_status_requests().values().filter(waits);
            waiting.map(|request| request.metadata.name.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// When a request was answered, if that can be read; `None` while it is not.
fn answered_at(request: &ResourcePoolStatusRequest) -> Option<Option<Time>> {
    request.status.as_object()?;
    let mut ended = conditions(&request.status).iter();
    let ended = ended.find(|condition| matches!(text(condition, "type"), "Complete" | "Failed"));
    Some(ended.and_then(|condition| Time::parse(text(condition, "lastTransitionTime"))))
}

/// What is known of one pool: its slices of the newest generation, and what claims have of it.
#[derive(Default)]
struct Pool<'c> {
    generation: i64,
    slices: Vec<&'c ResourceSlice>,
    /// Names of devices that claims use, other than with admin access.
    used: BTreeSet<&'c String>,
    /// Results of all claims.
    results: usize,
}

impl Pool<'_> {
    fn wanted(&self) -> i64 {
        self.slices.first().map_or(0, |slice| slice.spec.pool.resource_slice_count)
    }

    fn published(&self) -> i64 {
        i64::try_from(self.slices.len()).unwrap_or(i64::MAX)
    }

    fn is_complete(&self, profile: &Profile) -> bool {
        match profile.mode {
            Mode::Sound => self.published() == self.wanted(),
            Mode::Reference => self.published() >= self.wanted(),
        }
    }

    /// The node of all slices, if it is one.
    fn node(&self) -> Option<&String> {
        let node = |slice: &&ResourceSlice| slice.spec.node_name.clone().unwrap_or_default();
        let first = self.slices.first()?;
        self.slices.iter().all(|slice| node(slice) == node(first)).then_some(first.spec.node_name.as_ref()?)
    }
}

/// The pools that a request is about, by name.
fn pools<'c>(cluster: &'c Cluster, request: &ResourcePoolStatusRequest) -> BTreeMap<&'c str, Pool<'c>> {
    let mut pools: BTreeMap<&str, Pool<'_>> = BTreeMap::new();
    let is_asked = |slice: &&ResourceSlice| {
        let name = request.spec.pool_name.as_ref();
        slice.spec.driver == request.spec.driver && name.is_none_or(|name| *name == slice.spec.pool.name)
    };
    for slice in cluster.slices().values().map(AsRef::as_ref).filter(is_asked) {
        let generation = slice.spec.pool.generation;
        let pool = pools.entry(&slice.spec.pool.name).or_insert_with(|| Pool { generation, ..Pool::default() });
        if generation > pool.generation {
            *pool = Pool { generation, ..Pool::default() };
        }
        if generation == pool.generation {
            pool.slices.push(slice);
        }
    }
    let results = cluster.claims().values().flat_map(|claim| claim.results());
    for result in results.filter(|result| result.driver == request.spec.driver) {
        let Some(pool) = pools.get_mut(result.pool.as_str()) else { continue };
        pool.results = pool.results.saturating_add(1);
        if result.admin_access != Some(true) {
            pool.used.insert(&result.device);
        }
    }
    pools
}

/// The answer.
fn status(
    cluster: &Cluster,
    profile: &Profile,
    request: &ResourcePoolStatusRequest,
    pools: &BTreeMap<&str, Pool<'_>>,
    now: Time,
) -> Value {
    let limit = request.spec.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(DEFAULT_LIMIT);
    let mut selectors = Selectors::default();
    let listed: Vec<Value> = pools
        .iter()
        .take(limit)
        .map(|(name, pool)| of_pool(cluster, profile, &mut selectors, &request.spec.driver, name, pool))
        .collect();
    let incomplete = listed.iter().filter(|pool| pool.get("validationError").is_some()).count();
    let mut message = format!("Calculated status for {} pools", listed.len());
    if incomplete > 0 {
        message.push_str(&format!(" ({incomplete} incomplete)"));
    }
    let mut status = json!({
        "poolCount": pools.len(),
        "conditions": [{
            "type": "Complete",
            "status": "True",
            "lastTransitionTime": now.to_string(),
            "reason": "CalculationComplete",
            "message": message,
        }],
    });
    if let Some(fields) = status.as_object_mut().filter(|_| !listed.is_empty()) {
        fields.insert("pools".to_owned(), Value::Array(listed));
    }
    status
}

fn of_pool(
    cluster: &Cluster,
    profile: &Profile,
    selectors: &mut Selectors,
    driver: &str,
    name: &str,
    pool: &Pool<'_>,
) -> Value {
    let mut fields = json!({ "driver": driver, "poolName": name, "generation": pool.generation });
    let Some(map) = fields.as_object_mut() else { return fields };
    if let Some(node) = pool.node() {
        map.insert("nodeName".to_owned(), json!(node));
    }
    if !pool.is_complete(profile) {
        let prefix = if profile.version >= Version::V1_37 { "PoolIncomplete: " } else { "" };
        let (published, wanted, generation) = (pool.published(), pool.wanted(), pool.generation);
        let text = format!(
            "{prefix}pool {driver}/{name} is incomplete: observed {published}/{wanted} slices at generation {generation}"
        );
        map.insert("validationError".to_owned(), json!(derive::cut(&text, MAX_ERROR)));
        return fields;
    }
    let devices: Vec<(&ResourceSlice, &Device)> =
        pool.slices.iter().flat_map(|slice| slice.spec.devices.iter().map(|device| (*slice, device))).collect();
    let of_release = (profile.mode == Mode::Reference).then_some(profile.version);
    let mut is_tainted =
        |slice: &ResourceSlice, device: &Device| !blocking_taints(cluster, selectors, slice, device).is_empty();
    let allocated = match of_release {
        Some(version) if version <= Version::V1_36 => pool.results,
        _ => pool.used.len(),
    };
    let unavailable = devices
        .iter()
        .filter(|(slice, device)| match of_release {
            Some(version) if version <= Version::V1_36 => false,
            Some(_) => is_tainted(slice, device),
            None => !pool.used.contains(&device.name) && is_tainted(slice, device),
        })
        .count();
    let available = devices.len().saturating_sub(allocated).saturating_sub(unavailable);
    for (field, count) in [
        ("resourceSliceCount", pool.slices.len()),
        ("totalDevices", devices.len()),
        ("allocatedDevices", allocated),
        ("availableDevices", available),
        ("unavailableDevices", unavailable),
    ] {
        map.insert(field.to_owned(), json!(count));
    }
    fields
}
