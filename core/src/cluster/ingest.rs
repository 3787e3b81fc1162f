//! What a slice says, without shorthand: mixins are merged into what includes them (KEP-5234).
//!
//! Without its feature, a device that says more than a Kubernetes can read is as good as absent, rather than taken for less than it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::slice::{Counter, CounterMixin, CounterSet, Device, ResourceSlice, ResourceSliceMixins};
use crate::profile::Features;

/// The slice as questions see it; `None` where that is as it is written.
///
/// A counter set that cannot be read keeps its `includes`: see [`is_unreadable`].
pub(super) fn ingest(slice: &ResourceSlice, features: &Features) -> Option<ResourceSlice> {
    let spec = &slice.spec;
    let has_short_devices =
        spec.devices.iter().any(|device| is_short(device) || device.capacity_keys().next().is_some());
    let has_short_sets = spec.shared_counters.iter().any(|set| !set.includes.is_empty());
    if !has_short_devices && !has_short_sets {
        return None;
    }
    let none = ResourceSliceMixins::default();
    let mixins = spec.mixins.as_deref().filter(|_| features.resource_slice_mixins).unwrap_or(&none);
    let mut full = slice.clone();
    let has_amounts = |device: &Device| features.shared_consumable_capacity || device.capacity_keys().next().is_none();
    full.spec.devices.retain_mut(|device| expand_device(device, mixins).is_some() && has_amounts(device));
    for set in &mut full.spec.shared_counters {
        if add_counters(&set.includes, &mixins.counter_set, &mut set.counters).is_some() {
            set.includes.clear();
        }
    }
    Some(full)
}

/// Whether a counter set says more than can be read. Devices that draw from it cannot be given out.
pub(super) fn is_unreadable(set: &CounterSet) -> bool {
    !set.includes.is_empty()
}

fn is_short(device: &Device) -> bool {
    !device.includes.is_empty() || device.consumes_counters.iter().any(|consumption| !consumption.includes.is_empty())
}

/// `None` when a mixin is missing.
fn expand_device(device: &mut Device, mixins: &ResourceSliceMixins) -> Option<()> {
    for name in std::mem::take(&mut device.includes).iter().rev() {
        let mixin = mixins.device.iter().find(|mixin| mixin.name == *name)?;
        add(&mixin.attributes, Arc::make_mut(&mut device.attributes));
        add(&mixin.capacity, Arc::make_mut(&mut device.capacity));
    }
    for consumption in &mut device.consumes_counters {
        let includes = std::mem::take(&mut consumption.includes);
        add_counters(&includes, &mixins.device_counter_consumption, &mut consumption.counters)?;
    }
    Some(())
}

/// `None` when a mixin is missing.
fn add_counters(includes: &[String], mixins: &[CounterMixin], counters: &mut BTreeMap<String, Counter>) -> Option<()> {
    for name in includes.iter().rev() {
        add(&mixins.iter().find(|mixin| mixin.name == *name)?.counters, counters);
    }
    Some(())
}

/// Adds what is not there yet: what is said closest to the device counts, then the last mixin.
fn add<T: Clone>(from: &BTreeMap<String, T>, to: &mut BTreeMap<String, T>) {
    for (name, value) in from {
        if !to.contains_key(name) {
            to.insert(name.clone(), value.clone());
        }
    }
}
