//! ResourceSlices.
//!
//! Source: `validateResourceSliceSpec`; KEP-4815 (counters), KEP-5075 (capacity), KEP-5491 (lists), KEP-5517.

use serde_json::Value;

use super::device::{LISTS, MOST_ENTRIES, attribute, drawn, published};
use super::meta::{self, Scope};
use super::names;
use super::node::{Node, shown_key};
use super::report::{Report, shown};
use super::schema::{CAPACITIES, DEVICE, TAINTS, Type, same};
use super::{binding, mixins, node_allocatable, node_selector, request_policy, taints};
use crate::finding::{Code, Finding};
use crate::profile::Version;

/// The devices of a slice.
const DEVICES: Type = Type::List(&DEVICE);
const MOST_DEVICES: usize = 128;
/// Devices of a slice with taints, counters or lists.
const MOST_ADVANCED_DEVICES: usize = 64;
const MOST_COUNTER_SETS: usize = 8;
const MOST_COUNTERS: usize = 32;
const MOST_CONSUMPTIONS: usize = 2;
const MOST_GROUPS: usize = 2;
const MOST_TAINTS: usize = 16;
/// Values of all attributes of a device; the items of a list count singly.
const MOST_VALUES: usize = 48;

/// A slice that is created or changed.
pub(super) fn check(out: &mut Report<'_>, slice: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    meta::check_parts(out, slice, old, Scope::Cluster);
    let spec = slice.field("spec");
    let before = old.map_or(&Value::Null, |old| old.peek("spec"));
    let driver = spec.field("driver");
    names::driver(out, &driver);
    if driver.text().bytes().any(|byte| byte.is_ascii_uppercase()) {
        let message = format!("driver names should be in lower case: `{}`", shown(driver.text()));
        out.note(Finding::new(Code::ValidateUppercase, driver.at, message));
    }
    let pool = spec.field("pool");
    names::pool(out, &pool.field("name"));
    let count = pool.field("resourceSliceCount");
    if count.int() <= 0 {
        out.invalid(count.at, "must be greater than zero");
    }
    out.not_negative(&pool.field("generation"));
    if old.is_some() {
        unchanged(out, &spec, before);
    }
    slice_nodes(out, &spec);
    // 1.34 let one slice carry both.
    if spec.has("sharedCounters") && spec.has("devices") && out.profile.version != Version::V1_34 {
        out.invalid(spec.at, "a slice has either `devices` or `sharedCounters`, not both");
        out.hint(
            "put the counter sets into a slice of their own in the same pool, and count it in `resourceSliceCount`",
        );
    }
    let devices = spec.field("devices");
    let most = if devices.list().iter().any(is_advanced) { MOST_ADVANCED_DEVICES } else { MOST_DEVICES };
    let per_device = spec.field("perDeviceNodeSelection").is_true();
    let stored = before.get("devices").unwrap_or(&Value::Null);
    // Since 1.38 the devices are looked at together; as they are stored, not at all, apart from who has access to them.
    let is_whole = out.profile.version.is_after_1_37();
    if is_whole && old.is_some() && same(&DEVICES, devices.value, stored) {
        if per_device != before.get("perDeviceNodeSelection").is_some_and(|flag| flag == &Value::Bool(true)) {
            devices.items().for_each(|one| device_nodes(out, &one, per_device));
        }
    } else {
        let named = |name: &str| {
            let same_name = |device: &&Value| device.get("name").and_then(Value::as_str).unwrap_or_default() == name;
            stored.as_array().filter(|_| !is_whole)?.iter().find(same_name)
        };
        out.set(&devices, most, "name", |out, one| device(out, one, named(one.text_of("name")), per_device));
    }
    out.set(&spec.field("sharedCounters"), MOST_COUNTER_SETS, "name", |out, set| {
        counters(out, set, "name");
        published(out, &set.field("counters"));
    });
    if out.profile.version == Version::V1_34 {
        known_counters(out, &spec);
    }
    mixins::check(out, &spec);
    let partition = spec.field("partitionTypeAttribute");
    if partition.is_set() {
        names::fully_qualified(out, &partition);
        partition_type(out, &spec, partition.text());
    }
    skipped_operations(out, &spec.field("skipNodeOperations"));
}

fn unchanged(out: &mut Report<'_>, spec: &Node<'_, '_>, before: &Value) {
    let before = Node::root(before);
    let (pool, pool_before) = (spec.field("pool"), before.field("pool"));
    if pool.text_of("name") != pool_before.text_of("name") {
        out.immutable(pool.at.field("name"));
    }
    if spec.text_of("driver") != before.text_of("driver") {
        out.immutable(spec.at.field("driver"));
    }
    if spec.peek("nodeName") != before.peek("nodeName") {
        out.immutable(spec.at.field("nodeName"));
    }
}

/// Who has access to the slice.
fn slice_nodes(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let set = nodes(out, spec, true);
    match set.as_slice() {
        [] => {
            out.required(spec.at, "one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is needed")
        }
        [_] => {}
        several => out.invalid(spec.at, format!("only one of `{}` can be set", several.join("`, `"))),
    }
}

/// The fields of a slice or device that say which nodes have access, those that are set.
fn nodes(out: &mut Report<'_>, of: &Node<'_, '_>, is_slice: bool) -> Vec<&'static str> {
    let mut set = Vec::new();
    let (name, selector) = (of.field("nodeName"), of.field("nodeSelector"));
    if name.is_set() {
        if name.text().is_empty() {
            out.invalid(name.at, "must not be empty");
            if is_slice {
                out.hint("leave it out, or name a node");
            }
        } else {
            set.push("nodeName");
            node_selector::name(out, &name);
        }
    }
    if selector.is_set() {
        set.push("nodeSelector");
        node_selector::check(out, &selector);
        let terms = selector.field("nodeSelectorTerms");
        if (is_slice || out.profile.version.is_after_1_37()) && terms.len() != 1 {
            out.invalid(terms.at, "must have exactly one term");
        }
    }
    for flag in ["allNodes", "perDeviceNodeSelection"].into_iter().take(if is_slice { 2 } else { 1 }) {
        let node = of.field(flag);
        if node.is_true() {
            set.push(flag);
        } else if node.is_set() {
            out.invalid(node.at, "must be true or left out");
        }
    }
    set
}

fn is_advanced(device: &Value) -> bool {
    let has = |name: &str| device.get(name).and_then(Value::as_array).is_some_and(|items| !items.is_empty());
    let attributes = device.get("attributes").and_then(Value::as_object);
    let has_list = |attribute: &Value| LISTS.iter().any(|name| attribute.get(name).is_some());
    has("taints") || has("consumesCounters") || attributes.into_iter().flat_map(|map| map.values()).any(has_list)
}

fn device(out: &mut Report<'_>, device: &Node<'_, '_>, old: Option<&Value>, per_device: bool) {
    let name = device.field("name");
    out.text(&name, names::label);
    let (attributes, capacity) = (device.field("attributes"), device.field("capacity"));
    let entries = attributes.len().saturating_add(capacity.len());
    if entries > MOST_ENTRIES {
        let message = format!("{entries} attributes and capacities, at most {MOST_ENTRIES} are allowed together");
        out.invalid(device.at, message);
    }
    let values: usize = attributes.entries().map(|(_, attribute)| values(attribute)).sum();
    if values > MOST_VALUES {
        out.invalid(device.at, format!("{values} attribute values, at most {MOST_VALUES} are allowed"));
    }
    for (key, value) in attributes.entries() {
        names::qualified(out, key, &attributes.at);
        let key = shown_key(key, names::LONGEST_QUALIFIED);
        attribute(out, &Node { value, at: attributes.at.key(&key) });
    }
    let before = |name: &str| old.and_then(|old| old.get(name)).unwrap_or(&Value::Null);
    let ratchets = out.profile.version >= Version::V1_37;
    if !(ratchets && old.is_some() && same(&CAPACITIES, capacity.value, before("capacity"))) {
        let shared = device.field("allowMultipleAllocations").is_true();
        for (key, value) in capacity.entries() {
            names::qualified(out, key, &capacity.at);
            let key = shown_key(key, names::LONGEST_QUALIFIED);
            let node = Node { value, at: capacity.at.key(&key) };
            let policy = node.field("requestPolicy");
            if policy.is_set() && shared {
                request_policy::check(out, &policy, &node.field("value").quantity().unwrap_or_default());
            } else if policy.is_set() {
                out.forbidden(policy.at, "needs `allowMultipleAllocations: true`");
            }
        }
    }
    let tainted = device.field("taints");
    if !(old.is_some() && same(&TAINTS, tainted.value, before("taints"))) {
        out.list(&tainted, MOST_TAINTS, |out, taint| taints::taint(out, taint, None));
    }
    out.set(&device.field("consumesCounters"), MOST_CONSUMPTIONS, "counterSet", |out, consumption| {
        counters(out, consumption, "counterSet");
        drawn(out, &consumption.field("counters"));
        out.set(&consumption.field("compatibilityGroups"), MOST_GROUPS, "", |out, group| out.text(group, names::label));
    });
    device_nodes(out, device, per_device);
    binding::check(out, device);
    node_allocatable::check(out, device);
}

fn values(attribute: &Value) -> usize {
    let length = |name: &&str| attribute.get(name).and_then(Value::as_array).map_or(0, Vec::len);
    LISTS.iter().map(length).sum::<usize>().max(1)
}

/// A named map of counters.
fn counters(out: &mut Report<'_>, set: &Node<'_, '_>, name_field: &str) {
    let (name, counters) = (set.field(name_field), set.field("counters"));
    out.needed_text(&name, "the name of the counter set is needed", names::label);
    if counters.len() == 0 && set.field("includes").len() == 0 {
        out.required(counters.at, "at least one counter is needed");
    } else if out.most(&counters, MOST_COUNTERS) {
        for (key, _) in counters.entries() {
            out.invalid_each(counters.at, key, &names::label(key));
        }
    }
}

/// 1.34 looks for the counters that devices draw from in the slice itself.
fn known_counters(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let sets = spec.field("sharedCounters");
    for device in spec.field("devices").items() {
        for consumption in device.field("consumesCounters").items() {
            let (name, counters) = (consumption.field("counterSet"), consumption.field("counters"));
            let Some(set) = sets.list().iter().find(|set| set.get("name") == Some(name.value)) else {
                out.invalid(name.at, "must be a counter set in `sharedCounters` of the slice");
                continue;
            };
            for (key, _) in counters.entries() {
                if set.get("counters").and_then(|known| known.get(key)).is_none() {
                    out.invalid(counters.at, format!("`{}` is no counter of the counter set", shown(key)));
                }
            }
        }
    }
}

/// Who has access to a device.
fn device_nodes(out: &mut Report<'_>, device: &Node<'_, '_>, per_device: bool) {
    if !per_device {
        if ["nodeName", "nodeSelector", "allNodes"].iter().any(|name| device.has(name)) {
            let message = "`nodeName`, `nodeSelector` and `allNodes` of a device need `perDeviceNodeSelection: true` in the slice";
            out.invalid(device.at, message);
        }
        return;
    }
    match nodes(out, device, false).len() {
        0 => out.required(
            device.at,
            "one of `nodeName`, `nodeSelector`, `allNodes` is needed with `perDeviceNodeSelection`",
        ),
        1 => {}
        _ => out.invalid(device.at, "only one of `nodeName`, `nodeSelector`, `allNodes` can be set"),
    }
}

/// Devices that draw from counters are partitions: each says as a text of what kind it is.
fn partition_type(out: &mut Report<'_>, spec: &Node<'_, '_>, name: &str) {
    let (devices, driver) = (spec.field("devices"), spec.field("driver"));
    let draws = |device: &Node<'_, '_>| device.field("consumesCounters").len() > 0;
    if !devices.items().any(|device| draws(&device)) {
        let at = spec.at.field("partitionTypeAttribute");
        return out.invalid(at, "needs devices that consume counters");
    }
    let Some((domain, id)) = name.split_once('/').filter(|(domain, id)| !domain.is_empty() && !id.is_empty()) else {
        return;
    };
    for device in devices.items().filter(draws) {
        let attributes = device.field("attributes");
        let own = if domain == driver.text() { attributes.peek(id) } else { &Value::Null };
        let attribute = if attributes.has(name) { attributes.peek(name) } else { own };
        let at = attributes.at.key(name);
        if attribute.is_null() {
            out.required(at, "`partitionTypeAttribute` names this attribute, and the device consumes counters");
        } else if attribute.get("string").is_none_or(Value::is_null) {
            out.invalid(at, "must be a string, because `partitionTypeAttribute` names this attribute");
        }
    }
}

/// Steps on the node that a driver does not need.
pub(super) fn skipped_operations(out: &mut Report<'_>, operations: &Node<'_, '_>) {
    const KNOWN: [&str; 3] = ["*", "NodePrepareResources", "NodeUnprepareResources"];
    operations.items().for_each(|operation| out.known(&operation, &KNOWN));
    out.unique_by(operations, "");
    let has = |name: &str| operations.list().iter().any(|operation| operation.as_str() == Some(name));
    if has("NodePrepareResources") && !has("NodeUnprepareResources") && !has("*") {
        out.invalid(operations.at, "`NodePrepareResources` can only be skipped together with `NodeUnprepareResources`");
    }
}
