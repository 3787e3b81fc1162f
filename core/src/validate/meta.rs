//! Metadata and conditions.
//!
//! Source: apimachinery `pkg/api/validation/objectmeta.go`, `pkg/apis/meta/v1/validation`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::names;
use super::node::Node;
use super::report::{Problems, Report};
use crate::gather::Gather;

/// All annotations together, in bytes of keys and values.
const MOST_ANNOTATIONS: usize = 256 << 10;
/// Finalizers that need no domain.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// Where objects of a kind live.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// In a namespace.
    Namespace,
    /// In a namespace, which need not be said yet.
    AnyNamespace,
    /// In the cluster.
    Cluster,
}

/// Metadata of an object that is stored as it is. The name must be a DNS subdomain.
pub(super) fn check(out: &mut Report<'_>, object: &Node<'_, '_>, scope: Scope) {
    let meta = object.field("metadata");
    let generate = meta.field("generateName");
    if !generate.text().is_empty() {
        out.invalid_each(generate.at, generate.text(), &names::subdomain(&masked(generate.text())));
    }
    check_without_prefix(out, object, scope);
}

/// Metadata of an object that is created or changed, all of it each time.
pub(super) fn check_whole(out: &mut Report<'_>, object: &Node<'_, '_>, old: Option<&Node<'_, '_>>, scope: Scope) {
    check(out, object, scope);
    if let Some(old) = old {
        update(out, object, old);
    }
}

/// The same for kinds of which an update looks at parts.
pub(super) fn check_parts(out: &mut Report<'_>, object: &Node<'_, '_>, old: Option<&Node<'_, '_>>, scope: Scope) {
    let Some(old) = old else { return check(out, object, scope) };
    update(out, object, old);
    recheck(out, object);
}

/// The same for kinds whose `generateName` is not looked at by itself.
pub(super) fn check_without_prefix(out: &mut Report<'_>, object: &Node<'_, '_>, scope: Scope) {
    check_named(out, object, scope, names::subdomain);
}

/// The same for kinds whose names follow a rule of their own.
pub(super) fn check_named(out: &mut Report<'_>, object: &Node<'_, '_>, scope: Scope, rule: fn(&str) -> Problems) {
    let meta = object.field("metadata");
    let (name, generate, namespace) = (meta.field("name"), meta.field("generateName"), meta.field("namespace"));
    let made;
    let name_text = if name.text().is_empty() && !generate.text().is_empty() {
        made = generated(generate.text());
        made.as_str()
    } else {
        name.text()
    };
    if name_text.is_empty() {
        out.required(name.at, "the object has no name");
        out.hint("set `name`, or `generateName` to have one made");
    } else {
        out.invalid_each(name.at, name_text, &rule(name_text));
    }
    match scope {
        Scope::AnyNamespace if namespace.text().is_empty() => {}
        Scope::Namespace if namespace.text().is_empty() => out.required(namespace.at, "a namespace is needed"),
        Scope::Namespace | Scope::AnyNamespace => out.text(&namespace, names::label),
        Scope::Cluster if !namespace.text().is_empty() => {
            out.forbidden(namespace.at, "objects of this kind live in no namespace");
        }
        Scope::Cluster => {}
    }
    out.not_negative(&meta.field("generation"));
    maps(out, &meta);
    owners(out, &meta.field("ownerReferences"));
    finalizers(out, &meta.field("finalizers"));
    managers(out, &meta.field("managedFields"));
}

/// What an update may do to metadata.
pub(super) fn update(out: &mut Report<'_>, object: &Node<'_, '_>, old: &Node<'_, '_>) {
    let (meta, before) = (object.field("metadata"), old.field("metadata"));
    if meta.text_of("resourceVersion").is_empty() {
        out.invalid(meta.at.field("resourceVersion"), "must be given for an update");
    }
    if !before.text_of("deletionTimestamp").is_empty() {
        let finalizers = |meta: &Node<'_, '_>| -> BTreeSet<String> {
            meta.field("finalizers").list().iter().map(Value::to_string).gather()
        };
        if !finalizers(&meta).is_subset(&finalizers(&before)) {
            out.forbidden(meta.at.field("finalizers"), "no finalizer can be added while the object is being deleted");
        }
    }
    for name in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"] {
        if meta.text_of(name) != before.text_of(name) {
            out.immutable(meta.at.field(name));
        }
    }
    if meta.peek("deletionGracePeriodSeconds") != before.peek("deletionGracePeriodSeconds") {
        out.immutable(meta.at.field("deletionGracePeriodSeconds"));
    }
}

/// What an update looks at again where metadata is not checked as a whole.
pub(super) fn recheck(out: &mut Report<'_>, object: &Node<'_, '_>) {
    let meta = object.field("metadata");
    maps(out, &meta);
    owners(out, &meta.field("ownerReferences"));
    finalizers(out, &meta.field("finalizers"));
    managers(out, &meta.field("managedFields"));
}

/// A prefix for names: how it ends does not matter, because something follows.
fn masked(prefix: &str) -> String {
    match prefix.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut kept = rest.to_owned();
            kept.pop();
            kept.push('a');
            kept
        }
        _ => prefix.to_owned(),
    }
}

/// A name as the server makes one: the prefix, cut to 58 characters, and five more.
fn generated(prefix: &str) -> String {
    format!("{}abcde", prefix.chars().take(58).collect::<String>())
}

/// Labels and annotations.
pub(super) fn maps(out: &mut Report<'_>, meta: &Node<'_, '_>) {
    labels(out, &meta.field("labels"));
    let annotations = meta.field("annotations");
    let mut size = 0_usize;
    for (key, value) in annotations.entries() {
        out.invalid_each(annotations.at, key, &names::label_key(&key.to_ascii_lowercase()));
        size = size.saturating_add(key.len()).saturating_add(value.as_str().map_or(0, str::len));
    }
    if size > MOST_ANNOTATIONS {
        out.too_long(annotations.at, size, MOST_ANNOTATIONS);
    }
}

/// Keys and values of labels.
pub(super) fn labels(out: &mut Report<'_>, labels: &Node<'_, '_>) {
    for (key, value) in labels.entries() {
        out.invalid_each(labels.at, key, &names::label_key(key));
        let value = value.as_str().unwrap_or_default();
        out.invalid_each(labels.at, value, &names::label_value(value));
    }
}

/// Owners. The reference gives the field without the index.
fn owners(out: &mut Report<'_>, owners: &Node<'_, '_>) {
    let mut controllers = 0_usize;
    // The server keeps one entry for each `uid`.
    let mut seen = BTreeSet::new();
    for owner in owners.items().filter(|owner| seen.insert(owner.text_of("uid"))) {
        let api_version = owner.text_of("apiVersion");
        let version = match api_version.split_once('/') {
            None => api_version,
            Some((_, version)) if version.contains('/') => "",
            Some((_, version)) => version,
        };
        if version.is_empty() {
            out.invalid(owners.at.field("apiVersion"), "an owner needs an API version");
        }
        for name in ["kind", "name", "uid"] {
            if owner.text_of(name).is_empty() {
                out.invalid(owners.at.field(name), format!("an owner needs `{name}`"));
            }
        }
        if (api_version, owner.text_of("kind")) == ("v1", "Event") {
            out.invalid(owners.at, "an Event cannot be an owner");
        }
        if owner.field("controller").is_true() {
            controllers = controllers.saturating_add(1);
        }
    }
    if controllers > 1 {
        out.invalid(owners.at, "only one owner can be the controller");
    }
}

fn finalizers(out: &mut Report<'_>, finalizers: &Node<'_, '_>) {
    let has = |name: &str| finalizers.list().iter().any(|finalizer| finalizer.as_str() == Some(name));
    for finalizer in finalizers.items() {
        out.invalid_each(finalizers.at, finalizer.text(), &names::label_key(finalizer.text()));
    }
    if has("orphan") && has("foregroundDeletion") {
        out.invalid(finalizers.at, "`orphan` and `foregroundDeletion` exclude each other");
    }
    for finalizer in finalizers.items() {
        let name = finalizer.text();
        if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
            out.invalid(finalizer.at, format!("finalizer `{}` needs a domain", super::report::shown(name)));
        }
    }
}

fn managers(out: &mut Report<'_>, fields: &Node<'_, '_>) {
    for entry in fields.items() {
        if !matches!(entry.text_of("operation"), "Apply" | "Update") {
            out.invalid(entry.at.field("operation"), "must be `Apply` or `Update`");
        }
        if !matches!(entry.text_of("fieldsType"), "" | "FieldsV1") {
            out.invalid(entry.at.field("fieldsType"), "must be `FieldsV1`");
        }
        let manager = entry.field("manager");
        out.longest(&manager, 128);
        if manager.text().chars().any(char::is_control) {
            out.invalid(manager.at, "must be printable");
        }
        out.longest(&entry.field("subresource"), 256);
    }
}

/// `status.conditions` and its like.
pub(super) fn conditions(out: &mut Report<'_>, conditions: &Node<'_, '_>) {
    let mut seen = BTreeSet::new();
    for condition in conditions.items() {
        let kind = condition.field("type");
        if !seen.insert(kind.text()) {
            out.duplicate(kind.at, kind.text());
        }
        out.text(&kind, names::label_key);
        out.known(&condition.field("status"), &["False", "True", "Unknown"]);
        out.not_negative(&condition.field("observedGeneration"));
        let time = condition.field("lastTransitionTime");
        if time.text().is_empty() {
            out.required(time.at, "the time of the latest change is needed");
        }
        let reason = condition.field("reason");
        if reason.text().is_empty() {
            out.required(reason.at, "a reason is needed");
        } else {
            if !is_reason(reason.text()) {
                out.invalid_each(reason.at, reason.text(), &["is not a reason such as `ReasonABC`"]);
            }
            out.longest(&reason, 1024);
        }
        out.longest(&condition.field("message"), 32768);
    }
}

/// A letter; letters, digits, `_`, `,`, `:`; a letter, digit or `_` at the end.
fn is_reason(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b',' | b':'))
}

/// Whether an object was found in a cluster: it has a `uid`, which the API server gives, or a status.
pub(super) fn is_found(object: &Value) -> bool {
    is_identified(object) || object.get("status").and_then(Value::as_object).is_some_and(|status| !status.is_empty())
}

/// Takes out what a new object cannot bring along.
pub(super) fn reset(object: &mut Value, has_status: bool) {
    if is_found(object) {
        return;
    }
    let Some(map) = object.as_object_mut() else { return };
    if has_status {
        map.remove("status");
    }
    if let Some(Value::Object(meta)) = map.get_mut("metadata") {
        for name in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
            meta.remove(name);
        }
    }
}

/// Fills in what an update leaves out and the server knows from the stored object. A manifest, which has no `uid`, and an object of a
/// kind that can be replaced unseen are applied to whatever version is stored.
pub(super) fn complete(object: &mut Value, old: &Value, unseen: bool) {
    let is_unseen = unseen || !is_identified(object);
    let before = old.get("metadata").and_then(Value::as_object);
    let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let always = ["uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"];
    for name in always.into_iter().chain(is_unseen.then_some("resourceVersion")) {
        // The server alone counts generations.
        let is_given = name != "generation" && meta.get(name).is_some_and(|value| !value.is_null() && value != "");
        if let Some(value) = before.and_then(|before| before.get(name)).filter(|_| !is_given) {
            meta.insert(name.to_owned(), value.clone());
        }
    }
}

/// Whether an object says which one it is: a manifest in a file does not.
pub(super) fn is_identified(object: &Value) -> bool {
    object.pointer("/metadata/uid").and_then(Value::as_str).is_some_and(|uid| !uid.is_empty())
}

/// The metadata that the server keeps of the old object when a status is changed.
pub(super) const KEPT_WITH_STATUS: [&str; 6] =
    ["deletionTimestamp", "deletionGracePeriodSeconds", "generation", "labels", "annotations", "finalizers"];

/// Puts back what a change of the status may not touch: some metadata, and the spec.
pub(super) fn keep_for_status(object: &mut Value, old: &Value) {
    let Some(map) = object.as_object_mut() else { return };
    match old.get("spec") {
        Some(spec) => drop(map.insert("spec".to_owned(), spec.clone())),
        None => drop(map.remove("spec")),
    }
    let Some(meta) = map.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    for name in KEPT_WITH_STATUS.into_iter().chain(["ownerReferences", "managedFields"]) {
        match old.get("metadata").and_then(|before| before.get(name)) {
            Some(value) => drop(meta.insert(name.to_owned(), value.clone())),
            None => drop(meta.remove(name)),
        }
    }
}
