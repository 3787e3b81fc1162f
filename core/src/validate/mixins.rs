//! Mixins of ResourceSlices: parts that devices, counter sets and draws include by name.
//!
//! Source: KEP-5234. No release has them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::device::{MOST_ENTRIES, attribute, drawn, published};
use super::names;
use super::node::{Node, shown_key};
use super::report::{Report, shown};

/// References in one `includes`.
const MOST_INCLUDES: usize = 8;
/// Attributes and capacities of all devices and device mixins of a slice.
const MOST_ENTRIES_OF_SLICE: usize = 4096;
/// Counters of all counter sets and their mixins.
const MOST_COUNTERS: usize = 256;
/// Counters that all devices and consumption mixins of a slice draw from.
const MOST_DRAWN: usize = 2048;

/// The mixins of a slice, and who includes them. Nothing is checked of a slice that has none of both.
pub(super) fn check(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let mixins = spec.field("mixins");
    let (devices, sets) = (spec.field("devices"), spec.field("sharedCounters"));
    each(out, &mixins, "device", entries);
    each(out, &mixins, "counterSet", |out, mixin| counters(out, mixin, published));
    each(out, &mixins, "deviceCounterConsumption", |out, mixin| counters(out, mixin, drawn));
    for set in sets.items() {
        includes(out, &set, &mixins, "counterSet");
    }
    for device in devices.items() {
        includes(out, &device, &mixins, "device");
        flattened(out, &device, &mixins);
        for consumption in device.field("consumesCounters").items() {
            includes(out, &consumption, &mixins, "deviceCounterConsumption");
        }
    }
    if mixins.is_set() {
        totals(out, spec, &mixins);
    }
}

/// The mixins of a kind: their names, and what they hold.
fn each(
    out: &mut Report<'_>,
    mixins: &Node<'_, '_>,
    kind: &str,
    mut check: impl FnMut(&mut Report<'_>, &Node<'_, '_>),
) {
    let list = mixins.field(kind);
    for mixin in list.items() {
        let name = mixin.field("name");
        out.text(&name, names::label);
        check(out, &mixin);
    }
    out.unique_by(&list, "name");
}

fn entries(out: &mut Report<'_>, mixin: &Node<'_, '_>) {
    let (attributes, capacity) = (mixin.field("attributes"), mixin.field("capacity"));
    for (key, value) in attributes.entries() {
        names::qualified(out, key, &attributes.at);
        attribute(out, &Node { value, at: attributes.at.key(&shown_key(key, names::LONGEST_QUALIFIED)) });
    }
    for (key, _) in capacity.entries() {
        names::qualified(out, key, &capacity.at);
    }
}

/// The counters of a mixin; there has to be one.
fn counters(out: &mut Report<'_>, mixin: &Node<'_, '_>, check: fn(&mut Report<'_>, &Node<'_, '_>)) {
    let counters = mixin.field("counters");
    if counters.len() == 0 {
        out.required(counters.at, "at least one counter is needed");
    }
    for (key, _) in counters.entries() {
        out.invalid_each(counters.at, key, &names::label(key));
    }
    check(out, &counters);
}

fn includes(out: &mut Report<'_>, from: &Node<'_, '_>, mixins: &Node<'_, '_>, kind: &str) {
    let list = from.field("includes");
    out.most(&list, MOST_INCLUDES);
    for include in list.items() {
        if named(mixins, kind, include.text()).is_none() {
            let message = format!("`{}` is not in `mixins.{kind}` of this slice", shown(include.text()));
            out.invalid(include.at, message);
        }
    }
}

fn named<'v>(mixins: &Node<'v, '_>, kind: &str, name: &str) -> Option<&'v Value> {
    let of_name = |mixin: &&Value| mixin.get("name").and_then(Value::as_str) == Some(name);
    mixins.value.get(kind)?.as_array()?.iter().find(of_name)
}

/// A device with its mixins has no more attributes and capacities than one without.
fn flattened(out: &mut Report<'_>, device: &Node<'_, '_>, mixins: &Node<'_, '_>) {
    let included = device.field("includes");
    if included.len() == 0 {
        return;
    }
    let mut entries: BTreeSet<(&str, &str)> = BTreeSet::new();
    let parts = included.list().iter().filter_map(|name| named(mixins, "device", name.as_str()?));
    for part in parts.chain([device.value]) {
        for field in ["attributes", "capacity"] {
            let keys = part.get(field).and_then(Value::as_object).into_iter().flat_map(|map| map.keys());
            entries.extend(keys.map(|key| (field, key.as_str())));
        }
    }
    if entries.len() > MOST_ENTRIES {
        let message = format!(
            "{} attributes and capacities with its mixins, at most {MOST_ENTRIES} are allowed together",
            entries.len()
        );
        out.invalid(device.at, message);
    }
}

/// What a slice may have of everything together.
fn totals(out: &mut Report<'_>, spec: &Node<'_, '_>, mixins: &Node<'_, '_>) {
    let size = |value: &Value, field: &str| value.get(field).and_then(Value::as_object).map_or(0, serde_json::Map::len);
    let entries = |value: &Value| size(value, "attributes").saturating_add(size(value, "capacity"));
    let counters = |value: &Value| size(value, "counters");
    let list = |of: &Node<'_, '_>, field: &str, count: &dyn Fn(&Value) -> usize| -> usize {
        of.field(field).list().iter().map(count).sum()
    };
    let drawn = |device: &Value| {
        let consumptions = device.get("consumesCounters").and_then(Value::as_array);
        consumptions.into_iter().flatten().map(counters).sum()
    };
    let totals = [
        (
            "attributes and capacities",
            list(spec, "devices", &entries),
            list(mixins, "device", &entries),
            MOST_ENTRIES_OF_SLICE,
        ),
        ("counters", list(spec, "sharedCounters", &counters), list(mixins, "counterSet", &counters), MOST_COUNTERS),
        (
            "drawn counters",
            list(spec, "devices", &drawn),
            list(mixins, "deviceCounterConsumption", &counters),
            MOST_DRAWN,
        ),
    ];
    for (what, own, shared, most) in totals {
        let sum = own.saturating_add(shared);
        if sum > most {
            out.invalid(spec.at, format!("{sum} {what} in the slice and its mixins, at most {most} are allowed"));
        }
    }
}
