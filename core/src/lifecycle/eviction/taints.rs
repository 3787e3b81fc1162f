//! Which `NoExecute` taints an allocated device has, and until when they are tolerated.

use std::collections::BTreeMap;

use crate::allocate::tolerates;
use crate::api::claim::{DeviceRequestAllocationResult, DeviceToleration};
use crate::api::class::{DeviceTaintRule, DeviceTaintSelector};
use crate::api::slice::{DeviceTaint, ResourceSlice, TaintEffect};
use crate::cluster::Cluster;
use crate::lifecycle::Time;
use crate::profile::{Mode, Profile};

/// One taint of a device.
pub(super) struct Tainted<'t> {
    pub(super) taint: &'t DeviceTaint,
    /// The rule that it comes from; none for one that the driver published.
    pub(super) rule: Option<&'t DeviceTaintRule>,
}

/// All `NoExecute` taints.
pub(super) struct Taints<'t> {
    rules: Vec<&'t DeviceTaintRule>,
    published: BTreeMap<(&'t str, &'t str, &'t str), Vec<&'t DeviceTaint>>,
}

impl<'t> Taints<'t> {
    pub(super) fn of(cluster: &'t Cluster, profile: &Profile) -> Self {
        let rules = cluster.taint_rules().values().filter(|_| profile.features.device_taint_rules);
        let mut taints = Self {
            rules: rules.filter(|rule| rule.spec.taint.effect == TaintEffect::NoExecute).collect(),
            published: BTreeMap::new(),
        };
        let newest = newest(cluster);
        for slice in cluster.evicting_slices().filter(|slice| is_newest(slice, &newest)) {
            for device in &slice.spec.devices {
                let found: Vec<_> =
                    device.taints.iter().filter(|taint| taint.effect == TaintEffect::NoExecute).collect();
                if !found.is_empty() {
                    let id = (slice.spec.driver.as_str(), slice.spec.pool.name.as_str(), device.name.as_str());
                    taints.published.insert(id, found);
                }
            }
        }
        taints
    }

    /// Those of one rule.
    pub(super) fn of_rule(rule: &'t DeviceTaintRule) -> Self {
        Self { rules: vec![rule], published: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.published.is_empty()
    }

    /// Taints of an allocated device: of rules by name, then those that the driver published.
    pub(super) fn on<'s>(
        &'s self,
        result: &'s DeviceRequestAllocationResult,
    ) -> impl Iterator<Item = Tainted<'t>> + 's {
        let of_rules = self.rules.iter().filter(|rule| {
            let selector = rule.spec.device_selector.as_ref();
            selector.is_some_and(|selector| selects(selector, &result.driver, &result.pool, &result.device))
        });
        let id = (result.driver.as_str(), result.pool.as_str(), result.device.as_str());
        let published = self.published.get(&id).into_iter().flatten();
        of_rules
            .map(|rule| Tainted { taint: &rule.spec.taint, rule: Some(rule) })
            .chain(published.map(|taint| Tainted { taint, rule: None }))
    }
}

/// Newest generation of each pool.
pub(super) fn newest(cluster: &Cluster) -> BTreeMap<(&str, &str), i64> {
    let mut newest: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for slice in cluster.slices().values() {
        let pool = &slice.spec.pool;
        let known = newest.entry((&slice.spec.driver, &pool.name)).or_insert(pool.generation);
        *known = (*known).max(pool.generation);
    }
    newest
}

/// Whether a slice is of its pool's newest generation.
pub(super) fn is_newest(slice: &ResourceSlice, newest: &BTreeMap<(&str, &str), i64>) -> bool {
    let pool = &slice.spec.pool;
    newest.get(&(slice.spec.driver.as_str(), pool.name.as_str())) == Some(&pool.generation)
}

/// Whether some device of a slice has a `NoExecute` taint.
/// Whether a selector matches a device. Selectors by class or expression, which only proposals have, need attributes and
/// match nothing here.
pub(super) fn selects(selector: &DeviceTaintSelector, driver: &str, pool: &str, device: &str) -> bool {
    let is_equal = |wanted: &Option<String>, text: &str| wanted.as_deref().is_none_or(|wanted| wanted == text);
    is_equal(&selector.driver, driver)
        && is_equal(&selector.pool, pool)
        && is_equal(&selector.device, device)
        && selector.device_class_name.is_none()
        && selector.selectors.is_empty()
}

/// When a taint ends the use of a device; `None` when it is tolerated for ever.
pub(super) fn time(taint: &DeviceTaint, tolerations: &[DeviceToleration], mode: Mode, now: Time) -> Option<Time> {
    let added = Time::parse(&taint.time_added).unwrap_or(now);
    // DIFFERENCE: the reference lets a toleration for every effect count while it allocates, and not here.
    let counts = |toleration: &&DeviceToleration| mode == Mode::Sound || !toleration.effect.is_empty();
    let mut shortest: Option<i64> = None;
    for toleration in tolerations.iter().filter(counts).filter(|toleration| tolerates(toleration, taint)) {
        let seconds = toleration.toleration_seconds?.max(0);
        shortest = Some(shortest.map_or(seconds, |other| other.min(seconds)));
    }
    Some(added.plus_seconds(shortest.unwrap_or_default()))
}
