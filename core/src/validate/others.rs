//! Nodes, namespaces, priorities, budgets and volumes.
//!
//! Source: `pkg/apis/{core,policy,scheduling,storage}/validation`.

use serde_json::Value;

use super::controllers::{at_most_all, number_or_percent};
use super::given::differs;
use super::kind::Kind;
use super::node::{Node, quantity};
use super::report::{Problems, Report};
use super::taints::EFFECTS_OF_NODES;
use super::{label_selector, meta, names, node_selector, resources};
use crate::api::others::SYSTEM_PRIORITIES;

/// The highest priority that users can give.
const HIGHEST_PRIORITY: i64 = 1_000_000_000;
const SYSTEM_PREFIX: &str = "system-";
/// The access mode that excludes all others.
const ALONE: &str = "ReadWriteOncePod";
const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", ALONE];

/// Fields of a volume that are no source of one.
pub(crate) const OF_EVERY_VOLUME: [&str; 9] = [
    "capacity",
    "accessModes",
    "claimRef",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeMode",
    "volumeAttributesClassName",
    "nodeAffinity",
    "mountOptions",
];

/// An object that is created, or changed where there is an `old` one.
pub(super) fn check(out: &mut Report<'_>, kind: Kind, object: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    let rule = match kind {
        Kind::Namespace => names::label,
        // The API server leaves the name of a budget to its path.
        Kind::PodDisruptionBudget => names::path_segment,
        _ => names::subdomain,
    };
    meta::check_named(out, object, kind.scope(), rule);
    let spec = object.field("spec");
    match kind {
        Kind::Node => {
            taints(out, &spec.field("taints"));
            node_status(out, &object.field("status"));
        }
        Kind::PriorityClass => priority_class(out, object),
        Kind::PodDisruptionBudget => budget(out, &spec),
        Kind::PersistentVolumeClaim => volume_claim(out, &spec),
        Kind::PersistentVolume => volume(out, &spec, meta::is_found(object.value)),
        Kind::StorageClass => storage_class(out, object),
        Kind::CSINode => node_drivers(out, &spec.field("drivers")),
        Kind::CSIStorageCapacity => space(out, object),
        Kind::VolumeAttachment => attachment(out, &spec),
        _ => {}
    }
    if let Some(old) = old {
        meta::update(out, object, old);
        unchanged(out, kind, object, old);
    }
}

/// Taints of a node.
//
// DIFFERENCE: the API server looks for them under `metadata`, where nobody finds them.
fn taints(out: &mut Report<'_>, taints: &Node<'_, '_>) {
    for taint in taints.items() {
        out.text(&taint.field("key"), names::label_key);
        out.text(&taint.field("value"), names::label_value);
        let effect = taint.field("effect");
        if effect.text().is_empty() {
            out.required(effect.at, "the effect of the taint is needed");
            out.hint(format!("one of {}", EFFECTS_OF_NODES.join(", ")));
        }
        out.one_of(&effect, &EFFECTS_OF_NODES);
    }
    out.unique(taints, |taint| format!("{}:{}", taint.text_of("key"), taint.text_of("effect")));
}

/// What a node has.
pub(super) fn node_status(out: &mut Report<'_>, status: &Node<'_, '_>) {
    for list in [status.field("capacity"), status.field("allocatable")] {
        for (name, value) in list.entries() {
            if let Some(amount) = quantity(value) {
                resources::check_quantity(out, name, &amount, &list.at.key(name));
            }
        }
    }
}

fn priority_class(out: &mut Report<'_>, class: &Node<'_, '_>) {
    let (meta, value) = (class.field("metadata"), class.field("value"));
    let name = meta.field("name");
    if name.text().starts_with(SYSTEM_PREFIX) {
        let is_known = SYSTEM_PRIORITIES.contains(&(name.text(), value.int()));
        if !is_known || class.field("globalDefault").is_true() {
            let message = "priority class names with 'system-' prefix are reserved for system use only";
            out.forbidden(name.at, message);
        }
    } else if value.int() > HIGHEST_PRIORITY {
        let message = format!("maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}");
        out.forbidden(value.at, message);
    }
    let policy = class.field("preemptionPolicy");
    if policy.is_set() {
        out.known(&policy, &["Never", "PreemptLowerPriority"]);
    }
}

fn budget(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let (least, most) = (spec.field("minAvailable"), spec.field("maxUnavailable"));
    if least.is_set() && most.is_set() {
        out.invalid(spec.at, "minAvailable and maxUnavailable cannot be both set");
        out.hint("leave one of them out");
    }
    for field in [least, most] {
        number_or_percent(out, &field);
        at_most_all(out, &field);
    }
    label_selector::check(out, &spec.field("selector"));
    out.one_of(&spec.field("unhealthyPodEvictionPolicy"), &["AlwaysAllow", "IfHealthyBudget"]);
}

fn volume_claim(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    volume_ways(out, spec);
    label_selector::check(out, &spec.field("selector"));
    let resources = spec.field("resources");
    let requests = resources.field("requests");
    if requests.has("storage") {
        positive(out, &requests, "storage");
    } else {
        // DIFFERENCE: the API server leaves `requests` out of the path.
        out.required(requests.at.key("storage"), "the size of the volume is needed");
    }
}

fn volume(out: &mut Report<'_>, spec: &Node<'_, '_>, is_found: bool) {
    volume_ways(out, spec);
    let capacity = spec.field("capacity");
    if capacity.len() == 0 {
        out.required(capacity.at, "the size of the volume is needed");
        out.hint("write it as `storage`");
    }
    for (name, _) in capacity.entries() {
        positive(out, &capacity, name);
        if name != "storage" {
            out.not_supported(capacity.at.key(name), name, &["storage"]);
        }
    }
    out.one_of(&spec.field("persistentVolumeReclaimPolicy"), &["Delete", "Recycle", "Retain"]);
    let affinity = spec.field("nodeAffinity");
    let required = affinity.field("required");
    if required.is_set() {
        node_selector::check(out, &required);
    } else if affinity.is_set() {
        out.required(required.at, "must specify required node constraints");
    } else if spec.has("local") {
        out.required(affinity.at, "Local volume requires node affinity");
    }
    let mut sources = spec.entries().map(|(name, _)| name).filter(|name| !OF_EVERY_VOLUME.contains(name));
    // Older snapshots leave it out.
    if sources.next().is_none() && !is_found {
        out.required(spec.at, "must specify a volume type");
        out.hint("say where the volume is, for instance with `csi`, `nfs` or `local`");
    }
    for other in sources {
        out.forbidden(spec.field(other).at, "may not specify more than 1 volume type");
    }
    if !spec.text_of("volumeAttributesClassName").is_empty() && !spec.has("csi") && !is_found {
        out.required(spec.field("csi").at, "has to be specified when using volumeAttributesClassName");
    }
}

/// What a claim and a volume both say about the ways in which the volume is used.
fn volume_ways(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let modes = spec.field("accessModes");
    if modes.len() == 0 {
        out.required(modes.at, "at least 1 access mode is required");
        out.hint(format!("one of {}", ACCESS_MODES.join(", ")));
    }
    modes.items().for_each(|mode| out.known(&mode, &ACCESS_MODES));
    let has = |wanted: &dyn Fn(&str) -> bool| modes.list().iter().filter_map(Value::as_str).any(wanted);
    if has(&|mode| mode == ALONE) && has(&|mode| mode != ALONE && ACCESS_MODES.contains(&mode)) {
        out.forbidden(modes.at, format!("may not use {ALONE} with other access modes"));
    }
    let mode = spec.field("volumeMode");
    if mode.is_set() {
        out.known(&mode, &["Block", "Filesystem"]);
    }
    for name in ["storageClassName", "volumeAttributesClassName"] {
        out.some_text(&spec.field(name), names::subdomain);
    }
}

fn positive(out: &mut Report<'_>, of: &Node<'_, '_>, name: &str) {
    if quantity(of.peek(name)).is_some_and(|amount| amount.signum() <= 0) {
        out.invalid(of.at.key(name), "must be greater than zero");
    }
}

fn storage_class(out: &mut Report<'_>, class: &Node<'_, '_>) {
    let provisioner: fn(&str) -> Problems = |text| names::label_key(&text.to_ascii_lowercase());
    out.needed_text(&class.field("provisioner"), "the name of who makes the volumes is needed", provisioner);
    out.one_of(&class.field("reclaimPolicy"), &["Delete", "Retain"]);
    let mode = class.field("volumeBindingMode");
    if mode.is_set() {
        out.known(&mode, &["Immediate", "WaitForFirstConsumer"]);
    }
    for term in class.field("allowedTopologies").items() {
        let expressions = term.field("matchLabelExpressions");
        for expression in expressions.items() {
            let values = expression.field("values");
            if values.len() == 0 {
                out.required(values.at, "at least one value is needed");
            }
            out.unique_by(&values, "");
            out.text(&expression.field("key"), names::label_key);
        }
        out.unique_by(&expressions, "key");
    }
}

fn node_drivers(out: &mut Report<'_>, drivers: &Node<'_, '_>) {
    let mut known: Vec<String> = Vec::new();
    for driver in drivers.items() {
        let name = driver.field("name");
        names::driver(out, &name);
        if known.iter().any(|other| other == name.text()) {
            out.duplicate(name.at, name.text());
        }
        known.push(name.text().to_owned());
        let id = driver.field("nodeID");
        if id.text().is_empty() {
            out.required(id.at, "what the driver calls the node is needed");
        }
        out.not_negative(&driver.field("allocatable").field("count"));
    }
}

fn space(out: &mut Report<'_>, object: &Node<'_, '_>) {
    label_selector::check(out, &object.field("nodeTopology"));
    out.needed_text(&object.field("storageClassName"), "the class of the volumes is needed", names::subdomain);
    if quantity(object.peek("capacity")).is_some_and(|amount| amount.signum() < 0) {
        out.invalid("capacity", "must be greater than or equal to 0");
    }
}

fn attachment(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    names::driver(out, &spec.field("attacher"));
    let (node, source) = (spec.field("nodeName"), spec.field("source"));
    if node.text().is_empty() {
        out.required(node.at, "the node is needed");
    }
    match (source.has("persistentVolumeName"), source.has("inlineVolumeSpec")) {
        (false, false) => {
            out.required(source.at, "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
        }
        (true, true) => {
            out.forbidden(source.at, "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
        }
        _ => {}
    }
}

/// What an update cannot change. What is left out keeps its value.
fn unchanged(out: &mut Report<'_>, kind: Kind, object: &Node<'_, '_>, old: &Node<'_, '_>) {
    // Fields that stay once they have a value, and those that cannot be given one either; of the spec where there is one.
    let (once, always): (&[&str], &[&str]) = match kind {
        Kind::PriorityClass => (&["value", "preemptionPolicy"], &[]),
        Kind::StorageClass => (&["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"], &[]),
        Kind::CSIStorageCapacity => (&[], &["nodeTopology", "storageClassName"]),
        Kind::Node => (&["podCIDR", "podCIDRs", "providerID"], &["externalID"]),
        Kind::CSIDriver => (&["attachRequired", "volumeLifecycleModes"], &[]),
        Kind::VolumeAttachment => (&[], &["attacher", "nodeName", "source"]),
        Kind::PersistentVolumeClaim => {
            (&["storageClassName", "volumeMode", "volumeName"], &["accessModes", "selector"])
        }
        // DIFFERENCE: labels of zones in `nodeAffinity` may lose their old prefixes.
        Kind::PersistentVolume => (&["nodeAffinity", "volumeMode"], &[]),
        _ => (&[], &[]),
    };
    let (spec, before) = (object.field("spec"), old.field("spec"));
    let (of, stored) = if spec.is_set() { (&spec, &before) } else { (object, old) };
    for name in once.iter().filter(|name| stored.has(name)).chain(always) {
        let field = of.field(name);
        if differs(field.value, stored.peek(name)) {
            out.immutable(field.at);
        }
    }
    match kind {
        Kind::PersistentVolumeClaim => resized(out, &spec, old),
        Kind::PersistentVolume => {
            for (name, value) in spec.entries().filter(|(name, _)| !OF_EVERY_VOLUME.contains(name)) {
                let (mut value, stored) = (value.clone(), before.peek(name));
                // It may be added.
                if let Some(source) = value.as_object_mut().filter(|_| stored.get(ADDED_LATER).is_none()) {
                    source.remove(ADDED_LATER);
                }
                if differs(&value, stored) {
                    out.immutable(spec.field(name).at);
                }
            }
        }
        _ => {}
    }
}

/// What a claim asks for can be changed once it has a volume, and the size not to what the volume has.
fn resized(out: &mut Report<'_>, spec: &Node<'_, '_>, old: &Node<'_, '_>) {
    let (before, status) = (old.field("spec"), old.field("status"));
    let sources = ["dataSourceRef", "dataSource"];
    let source = |of: &Node<'_, '_>| sources.iter().map(|name| of.peek(name)).find(|value| !value.is_null()).cloned();
    if source(spec).is_some_and(|given| differs(&given, &source(&before).unwrap_or_default())) {
        out.immutable(spec.field(if spec.has("dataSourceRef") { "dataSourceRef" } else { "dataSource" }).at);
    }
    let (resources, stored) = (spec.field("resources"), before.field("resources"));
    let limits = resources.field("limits");
    if differs(limits.value, stored.peek("limits")) {
        out.immutable(limits.at);
    }
    let (requests, class) = (resources.field("requests"), spec.field("volumeAttributesClassName"));
    let size = Node { value: requests.peek("storage"), at: requests.at.key("storage") };
    if status.text_of("phase") == "Bound" {
        let amount = |of: Node<'_, '_>| quantity(of.peek("storage")).unwrap_or_default();
        let (new, has) = (amount(requests), amount(status.field("capacity")));
        if new < amount(stored.field("requests")) && new <= has {
            out.forbidden(size.at, format!("must be more than the {has} that the volume has: a volume cannot shrink"));
        }
        return;
    }
    // A manifest does not say whether the claim is bound.
    if !status.is_set() {
        return;
    }
    for (given, stored) in [(&size, stored.field("requests").peek("storage")), (&class, before.peek(VOLUME_CLASS))] {
        let amounts = quantity(given.value).zip(quantity(stored));
        if amounts.map_or_else(|| differs(given.value, stored), |(given, stored)| given != stored) {
            out.forbidden(given.at, "cannot be changed before the claim is bound");
        }
    }
}

/// A secret of a CSI volume that may be named later.
const ADDED_LATER: &str = "controllerExpandSecretRef";
const VOLUME_CLASS: &str = "volumeAttributesClassName";
