//! Who would be evicted, and when.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::allocate::{DeviceId, Limits};
use crate::api::object::Object;
use crate::api::slice::{DeviceTaint, TaintEffect};
use crate::arrange::Arrange;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::control_plane::{Simulation, note_not_given};
use crate::explain::change::taint_parts;
use crate::explain::detail::is_meant;
use crate::explain::unknown::unknown_device;
use crate::explain::words::taint_of;
use crate::finding::{Code, Finding};
use crate::validate::{flaw_of_taint, without_effect};
use crate::{controllers::taint_eviction as eviction, decision::Time};

/// A taint for devices.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaintSpec {
    /// Devices as `driver`, `driver/pool` or `driver/pool/device`; a part may be `*`.
    pub devices: String,
    /// The taint, as `key=value:effect` or `key:effect`.
    pub taint: String,
}

/// One Pod that has to go.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Eviction {
    /// `namespace/name`.
    pub pod: String,
    /// The node on which it runs.
    pub node: String,
    /// Seconds from now; 0 for at once.
    pub in_seconds: i64,
    /// The claims whose devices are tainted, as `namespace/name`.
    pub claims: Vec<String>,
    /// Whether nothing is known of the claims, so that the Pod may have to go and may stay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub unknown: bool,
}

/// A taint of nodes and the nodes that have it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NodesOfTaint {
    /// The taint, as `key=value:effect`.
    pub taint: String,
    /// The nodes.
    pub nodes: Vec<String>,
}

/// Taints of some nodes that keep Pods away which do not tolerate them, in the order of the nodes.
pub(super) fn node_taints<'n>(cluster: &Cluster, names: impl Iterator<Item = &'n String>) -> Vec<NodesOfTaint> {
    let mut all: Vec<NodesOfTaint> = Vec::new();
    for node in names.filter_map(|name| cluster.nodes().get(name)).filter(|node| !node.spec.unschedulable) {
        for taint in node.spec.taints.iter().filter(|taint| taint.is_hard()) {
            let (taint, node) = (taint_of(&taint.key, &taint.value, &taint.effect), node.metadata.name.clone());
            match all.iter_mut().find(|known| known.taint == taint) {
                Some(known) => known.nodes.push(node),
                None => all.push(NodesOfTaint { taint, nodes: vec![node] }),
            }
        }
    }
    all
}

/// Taints devices in the slices of a cluster.
///
/// # Errors
///
/// A finding, when a taint cannot be read, is for no device, or has no effect because the feature is off.
pub(crate) fn taint(cluster: &mut Cluster, taints: &[TaintSpec]) -> Result<(), Vec<Finding>> {
    if let Some(finding) = without_effect(cluster.profile()).filter(|_| !taints.is_empty()) {
        return Err(vec![finding]);
    }
    for spec in taints {
        let taint = parse(&spec.taint)?;
        let parts: Vec<&str> = spec.devices.splitn(3, '/').collect();
        let is_part = |index: usize, text: &str| {
            parts.get(index).is_none_or(|wanted| wanted.is_empty() || *wanted == "*" || *wanted == text)
        };
        let mut count = 0u64;
        let slices: Vec<_> = cluster.slices().values().map(|slice| slice.as_ref().clone()).collect();
        for mut slice in slices {
            let is_pool = is_part(0, &slice.spec.driver) && is_part(1, &slice.spec.pool.name);
            let before = count;
            let ids: Vec<DeviceId> = slice.spec.devices.iter().map(|device| DeviceId::of(&slice, device)).collect();
            for (device, id) in slice.spec.devices.iter_mut().zip(ids) {
                if is_pool && is_part(2, &id.device) || is_meant(&spec.devices, &id) {
                    device.taints.push(taint.clone());
                    count = count.saturating_add(1);
                }
            }
            if count > before {
                cluster.apply(Object::ResourceSlice(Arc::new(slice)));
            }
        }
        if count == 0 {
            return Err(vec![unknown_device(cluster, &spec.devices)]);
        }
    }
    Ok(())
}

fn parse(text: &str) -> Result<DeviceTaint, Vec<Finding>> {
    let [key, value, effect] = taint_parts(text);
    let flaw = match key.is_empty() || effect.is_empty() {
        true => Some(format!("`{text}` is not a taint")),
        false => flaw_of_taint(&key, &value, &effect),
    };
    if let Some(flaw) = flaw {
        let finding = Finding::new(Code::ReadBadSettings, "taint", flaw);
        return Err(vec![finding.with_hint("write it as `key=value:NoExecute`")]);
    }
    Ok(DeviceTaint { key, value, effect: TaintEffect::of(&effect), ..DeviceTaint::default() })
}

/// Pods that the taints of a cluster drive out, by time and name; those of whose claims nothing is known included.
///
/// Their claims are looked for in the cluster as it was `given`: what is refused has no effect later.
pub(super) fn evictions(cluster: &Cluster, given: &Cluster, now: Time) -> Vec<Eviction> {
    let named = |key: &Key| format!("{}/{}", key.0, key.1);
    let of_pod = |key: &Key, at: Time, claims: &[Key], unknown| Eviction {
        pod: named(key),
        node: cluster.pods().get(key).map(|pod| pod.spec.node_name.clone()).unwrap_or_default(),
        in_seconds: at.millis().saturating_sub(now.millis()).max(0).div_euclid(1000),
        claims: claims.iter().map(named).collect(),
        unknown,
    };
    let known = eviction::preview(cluster, cluster.profile(), now);
    let mut all: BTreeMap<&Key, Eviction> = BTreeMap::new();
    all.extend(known.iter().map(|(key, at, claims)| (key, of_pod(key, *at, claims, false))));
    let may_evict = eviction::may_evict(cluster, cluster.profile());
    let unknown = given.users_of_unknown_claims().filter(|(pod, _)| may_evict && !pod.metadata.is_deleting());
    let unknown: Vec<(Key, Key)> = unknown.map(|(pod, claim)| (key_of(&pod.metadata), claim.clone())).collect();
    for (pod, claim) in &unknown {
        let known = all.entry(pod).or_insert_with(|| of_pod(pod, now, &[], true));
        known.claims.extend(known.unknown.then(|| named(claim)));
    }
    let mut all: Vec<Eviction> = all.into_values().collect();
    all.arrange_by(|a, b| (a.in_seconds, &a.pod).cmp(&(b.in_seconds, &b.pod)));
    all
}

/// Who would have to go if devices were tainted; with no taint, who has to go as things are.
///
/// Pods get their places first; nobody is evicted meanwhile.
///
/// # Errors
///
/// A finding, when a taint cannot be read, is for no device, or has no effect because the feature is off.
pub fn preview(
    cluster: &mut Cluster,
    taints: &[TaintSpec],
    now: &str,
    limits: &Limits,
) -> Result<Vec<Eviction>, Vec<Finding>> {
    note_not_given(cluster);
    let given = cluster.clone();
    let mut simulation = Simulation::of(cluster, *limits);
    simulation.stop_evictions();
    simulation.settle();
    cluster.take_over(simulation.into_cluster());
    taint(cluster, taints)?;
    Ok(evictions(cluster, &given, moment(now)?))
}

/// The time that a request names; 1970 where it names none.
pub(crate) fn moment(text: &str) -> Result<Time, Vec<Finding>> {
    if text.is_empty() {
        return Ok(Time::default());
    }
    Time::parse(text).ok_or_else(|| {
        let finding = Finding::new(Code::ReadBadSettings, "now", format!("`{text}` is not a time"));
        vec![finding.with_hint("write it as `2026-03-01T12:00:00Z`")]
    })
}
