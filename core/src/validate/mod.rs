//! What the API server of a stated version answers when an object is created or changed, and what it would only reveal
//! later.
//!
//! A submission goes through the steps of an API server: its JSON is held against the `schema` of its kind and
//! version, older versions become the internal form, defaults are set, fields of disabled features are dropped, fields
//! that the operation may not touch are reset, and the rules of the kind look at what is left. Each step reports what
//! it sees.
//!
//! Source: `pkg/apis/{resource,scheduling,core}/validation` and the registry strategies of Kubernetes 1.36.

mod binding;
mod claim;
mod claim_status;
mod class;
mod composite;
mod controllers;
mod conversion;
mod cron;
mod defaults;
mod derived;
mod device;
mod features;
mod given;
mod group;
mod kind;
mod label_selector;
mod meta;
mod mixins;
mod names;
mod node;
mod node_allocatable;
mod node_selector;
mod others;
mod pipeline;
mod places;
mod pod;
mod pod_group;
mod pod_spec;
mod pod_status;
mod pod_templates;
mod pool_status;
pub(crate) mod priority;
mod report;
mod request_policy;
mod resources;
mod schema;
mod selectors;
mod set;
mod slice;
mod source;
mod taints;
mod template;
mod workload;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use kind::Kind;
pub(crate) use kind::as_served;
use meta::Scope;
pub(crate) use names::is_native_resource;
pub(crate) use others::OF_EVERY_VOLUME;
pub(crate) use pod::MIRROR;
pub use set::Member;
pub use source::definition as source_definition;
pub(crate) use taints::{flaw as flaw_of_taint, without_effect};

use crate::api::other_workload;
use crate::finding::{Code, Finding, ObjectRef};
use crate::profile::Profile;

/// What is done with an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename_all = "camelCase"))]
pub enum Operation {
    /// It is created.
    #[default]
    Create,
    /// The object itself is changed, not its status.
    Update,
    /// Its status is changed, through the subresource.
    StatusUpdate,
}

/// What the answer depends on beside the object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Circumstances {
    /// Whether the object's namespace has the label that allows admin access; `None` where that is not known.
    pub admin_namespace: Option<bool>,
    /// Whether the user has the extra permissions that some changes of a claim's status need.
    pub authorized: bool,
}

impl Default for Circumstances {
    /// Nothing is known of the namespace, and the user may do everything.
    fn default() -> Self {
        Self { admin_namespace: None, authorized: true }
    }
}

/// One request to the API server.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Submission {
    /// The object as it is sent.
    pub object: Value,
    /// The object as it is stored; for updates.
    pub old: Option<Value>,
    /// What is done with it.
    pub operation: Operation,
    /// What else matters.
    pub circumstances: Circumstances,
}

impl Submission {
    /// The creation of an object.
    pub fn create(object: Value) -> Self {
        Self { object, ..Self::default() }
    }
}

/// A manifest as kubectl submits it: an object of a namespaced kind that names no namespace goes to `default`.
pub fn in_default_namespace(mut object: Value) -> Value {
    if goes_to_default_namespace(&object)
        && let Some(Value::Object(metadata)) = object.get_mut("metadata")
    {
        metadata.insert("namespace".to_owned(), Value::from("default"));
    }
    object
}

/// Whether [`in_default_namespace`] changes an object.
pub fn goes_to_default_namespace(object: &Value) -> bool {
    let Some(Value::Object(metadata)) = object.get("metadata") else { return false };
    let names_none = metadata.get("namespace").is_none_or(|namespace| namespace.is_null() || namespace == "");
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let group = text("apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    names_none
        && Kind::of(group, text("kind"))
            .map_or_else(|| makes_pods(group, object), |kind| kind.scope() == Scope::Namespace)
}

/// Whether Pods are made of an object that is in a namespace, by its kind or by what is in it.
fn makes_pods(group: &str, object: &Value) -> bool {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    pod_templates::of(group, kind).is_some()
        || (!pod_templates::is_cluster_wide(kind)
            && object.get("spec").is_some_and(|spec| !other_workload::found_in(spec).is_empty()))
}

/// An object as it stands in the API server: one that says no `resourceVersion` gets one.
pub fn as_stored(object: Value) -> Value {
    let mut object = in_default_namespace(object);
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.entry("resourceVersion").or_insert_with(|| Value::from("1"));
    }
    object
}

/// What the API server answers: findings with a [`kind`](Finding::kind) are its errors, the others are ours.
///
/// Paths are those of the version that was submitted.
pub fn validate(submission: Submission, profile: &Profile) -> Vec<Finding> {
    pipeline::run(submission, profile).findings
}

/// The same answer with the object as it would be stored.
pub fn submit(submission: Submission, profile: &Profile) -> Admission {
    pipeline::run(submission, profile)
}

/// What became of an object that was to be created.
#[derive(Clone, PartialEq, Debug)]
pub struct Admission {
    /// The object as the API server stores it: defaults are set, and fields that are unknown, of no use or of a disabled
    /// feature are gone. Older versions of `resource.k8s.io` became `v1`. Of a refused object only as far as it was looked
    /// at.
    pub object: Value,
    /// What [`validate`] finds.
    pub findings: Vec<Finding>,
}

impl Admission {
    /// Whether the API server refuses the object.
    pub fn is_refused(&self) -> bool {
        self.findings.iter().any(Finding::refuses)
    }
}

/// One object on its way into the API server: what [`validate`] says of its creation, and the object as it is stored.
///
/// `namespace` are the labels of the object's namespace, where they are known. An object with a `uid` or a status was
/// found in a cluster: it keeps its status and what the server filled in, and what holds for new objects alone is not asked of it.
/// Objects of kinds without rules here come back as they are.
pub fn admit(object: &Value, profile: &Profile, namespace: Option<&BTreeMap<String, String>>) -> Admission {
    let circumstances = Circumstances { admin_namespace: namespace.map(allows_admin_access), authorized: true };
    pipeline::run(Submission { circumstances, ..Submission::create(object.clone()) }, profile)
}

/// Whether a text is the name of an object, as most kinds have it: a DNS subdomain (RFC 1123).
pub(crate) fn is_subdomain(text: &str) -> bool {
    names::subdomain(text).is_empty()
}

/// Whether a namespace with these labels allows admin access. The spelling of 1.33 does not count since 1.34.
pub fn allows_admin_access(labels: &BTreeMap<String, String>) -> bool {
    labels.get(ADMIN_LABEL).is_some_and(|value| value == "true")
}

/// The label that allows admin access in a namespace, with the value `true`.
pub const ADMIN_LABEL: &str = "resource.kubernetes.io/admin-access";

/// That something asks for admin access in a namespace that does not allow it.
pub(crate) fn no_admin_access(what: &str, namespace: &str) -> Finding {
    let message = format!("{what} asks for admin access, which namespace `{namespace}` does not allow");
    let hint = format!("label the namespace `{ADMIN_LABEL}: \"true\"`");
    Finding::new(Code::RunAdminNamespace, "", message).with_hint(hint)
}

/// That a namespace that is being deleted takes no new object.
pub(crate) fn takes_nothing(namespace: &str) -> Finding {
    let message = format!("refused: namespace `{namespace}` is being deleted and takes nothing new");
    let hint = "wait until it is gone and create it again, or use another namespace";
    Finding::new(Code::RunRefused, "metadata.namespace", message).with_hint(hint)
}

/// What is said about an object that no request to the API server can carry, from its JSON text; `None` if one can. The
/// answer is that of [`validate`], without the room that the object takes when it is read.
pub fn too_large(text: &str) -> Option<Finding> {
    let finding = pipeline::too_large(text.len())?;
    let Identity { api_version, kind, metadata } = serde_json::from_str(text).ok()?;
    if api_version.is_empty() || kind.is_empty() {
        return None;
    }
    let name = if metadata.name.is_empty() { metadata.generate_name } else { metadata.name };
    Some(finding.about(ObjectRef { kind, namespace: metadata.namespace, name }))
}

/// What tells an object from others.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Identity {
    api_version: String,
    kind: String,
    metadata: IdentityMeta,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct IdentityMeta {
    name: String,
    generate_name: String,
    namespace: String,
}

/// What only shows when objects are seen together: references to what is not there, contradictions, who gains what.
///
/// The objects are values, or JSON texts that are read only while they are looked at. Findings come per object, in the
/// order given.
pub fn validate_set(objects: &[impl Member], profile: &Profile) -> Vec<Vec<Finding>> {
    set::validate(objects, profile)
}

/// The same object in another version of its API group, for instance `v1`.
///
/// # Errors
///
/// The findings, when there is no way to that version.
pub fn convert(object: Value, version: &str) -> Result<Value, Vec<Finding>> {
    conversion::convert(object, version)
}
