//! Which `NoExecute` taints an allocated device has, and until when they are tolerated.

use std::collections::{BTreeMap, BTreeSet};

use crate::allocate::{rule_applies, tolerates};
use crate::api::claim::{DeviceRequestAllocationResult, DeviceToleration};
use crate::api::class::{DeviceTaintRule, DeviceTaintSelector};
use crate::api::slice::{DeviceTaint, TaintEffect};
use crate::cluster::Cluster;
use crate::cluster::selectors::Selectors;
use crate::decision::Time;
use crate::gather::Gather;
use crate::profile::{Mode, Profile};

/// Driver, pool and name of a device.
type Id<'t> = (&'t str, &'t str, &'t str);

/// One taint of a device.
pub(super) struct Tainted<'t> {
    pub(super) taint: &'t DeviceTaint,
    /// The rule that it comes from; none for one that the driver published.
    pub(super) rule: Option<&'t DeviceTaintRule>,
}

impl Tainted<'_> {
    /// The taint with where it comes from.
    pub(super) fn in_words(&self, result: &DeviceRequestAllocationResult) -> String {
        let DeviceTaint { key, value, effect, .. } = self.taint;
        let value = if value.is_empty() { String::new() } else { format!("={value}") };
        let of = match self.rule {
            Some(rule) => format!("DeviceTaintRule `{}`", rule.metadata.name),
            None => format!("device `{}/{}/{}`", result.driver, result.pool, result.device),
        };
        format!("taint `{key}{value}:{}` of {of}", effect.text())
    }
}

/// All `NoExecute` taints.
pub(super) struct Taints<'t> {
    cluster: &'t Cluster,
    /// By name.
    rules: BTreeMap<&'t str, Selection<'t>>,
    published: BTreeMap<Id<'t>, Vec<&'t DeviceTaint>>,
}

impl<'t> Taints<'t> {
    pub(super) fn of(cluster: &'t Cluster, profile: &Profile) -> Self {
        let rules = cluster.taint_rules().values().filter(|_| profile.features.device_taint_rules);
        let rules = rules.filter(|rule| rule.spec.taint.effect == TaintEffect::NoExecute);
        let rules = rules.map(|rule| (rule.metadata.name.as_str(), Selection::of(cluster, rule))).gather();
        let mut taints = Self { cluster, rules, published: BTreeMap::new() };
        let newest = cluster.newest();
        for slice in cluster.evicting_slices().filter(|slice| newest.has(slice)) {
            for device in &slice.spec.devices {
                let found = device.taints.iter().filter(|taint| taint.effect == TaintEffect::NoExecute);
                let found: Vec<&DeviceTaint> = found.collect();
                if !found.is_empty() {
                    let id = (&*slice.spec.driver, &*slice.spec.pool.name, &*device.name);
                    taints.published.insert(id, found);
                }
            }
        }
        taints
    }

    /// Those of one rule.
    pub(super) fn of_rule(cluster: &'t Cluster, rule: &'t DeviceTaintRule) -> Self {
        let rules = [(rule.metadata.name.as_str(), Selection::of(cluster, rule))].into_iter().gather();
        Self { cluster, rules, published: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.published.is_empty()
    }

    /// Taints of an allocated device: of rules by name, then those that the driver published.
    pub(super) fn on<'s>(
        &'s self,
        result: &'s DeviceRequestAllocationResult,
    ) -> impl Iterator<Item = Tainted<'t>> + 's {
        let may_have = match self.rules.is_empty() {
            true => Vec::new(),
            false => self.cluster.taint_rules_for(&result.pool, &result.device),
        };
        let of_rules = may_have.into_iter().filter_map(|rule| self.rules.get(rule.metadata.name.as_str()));
        let of_rules = of_rules.filter(|rule| rule.has(&result.driver, &result.pool, &result.device));
        let id = (result.driver.as_str(), result.pool.as_str(), result.device.as_str());
        let published = self.published.get(&id).into_iter().flatten();
        of_rules
            .map(|selection| selection.rule)
            .map(|rule| Tainted { taint: &rule.spec.taint, rule: Some(rule) })
            .chain(published.map(|taint| Tainted { taint, rule: None }))
    }
}

/// The devices that a rule is for.
pub(super) struct Selection<'t> {
    pub(super) rule: &'t DeviceTaintRule,
    /// Devices of the newest generations for which class and expressions hold; absent where the rule states neither and so is for
    /// devices by their names, published or not.
    published: Option<BTreeSet<Id<'t>>>,
}

impl<'t> Selection<'t> {
    /// A selector by class or expression needs attributes, so it matches published devices only.
    pub(super) fn of(cluster: &'t Cluster, rule: &'t DeviceTaintRule) -> Self {
        let selector = rule.spec.device_selector.as_ref();
        let reads =
            |selector: &DeviceTaintSelector| selector.device_class_name.is_some() || !selector.selectors.is_empty();
        let published = selector.is_some_and(reads).then(|| {
            let mut selectors = Selectors::default();
            let devices = cluster.newest_devices();
            let found = devices.filter(|(slice, device)| rule_applies(cluster, &mut selectors, rule, slice, device));
            found.map(|(slice, device)| (&*slice.spec.driver, &*slice.spec.pool.name, &*device.name)).gather()
        });
        Self { rule, published }
    }

    /// Whether it is for a device. A rule without a selector is for none.
    pub(super) fn has(&self, driver: &str, pool: &str, device: &str) -> bool {
        if let Some(published) = &self.published {
            return published.contains(&(driver, pool, device));
        }
        let is_equal = |wanted: &Option<String>, text: &str| wanted.as_deref().is_none_or(|wanted| wanted == text);
        self.rule.spec.device_selector.as_ref().is_some_and(|selector| {
            is_equal(&selector.driver, driver) && is_equal(&selector.pool, pool) && is_equal(&selector.device, device)
        })
    }
}

/// When a taint ends the use of a device; `None` when it is tolerated for ever.
pub(super) fn time(
    taint: &DeviceTaint,
    tolerations: &[DeviceToleration],
    profile: &Profile,
    now: Time,
) -> Option<Time> {
    let added = Time::parse(&taint.time_added).unwrap_or(now);
    // DIFFERENCE: up to 1.37 the reference lets a toleration for every effect count while it allocates, and not here.
    let counts_all = profile.mode == Mode::Sound || profile.version.is_after_1_37();
    let counts = |toleration: &&DeviceToleration| counts_all || !toleration.effect.is_empty();
    let mut shortest: Option<i64> = None;
    for toleration in tolerations.iter().filter(counts).filter(|toleration| tolerates(toleration, taint)) {
        let seconds = toleration.toleration_seconds?.max(0);
        shortest = Some(shortest.map_or(seconds, |other| other.min(seconds)));
    }
    Some(added.plus_seconds(shortest.unwrap_or_default()))
}
